//! What is in a namespace that goes, and what is done about it next.

use std::collections::BTreeMap;

use crate::resources::Served;

/// What is in a namespace.
#[derive(Clone, Debug, Default)]
pub struct Content {
    /// Kinds of which there is something.
    pub kinds: Vec<Found>,
    /// Why discovery failed.
    pub discovery: Option<String>,
    /// Kinds that could not be looked at or deleted, and why.
    pub failures: Vec<(Served, String)>,
}

/// The objects of one kind.
#[derive(Clone, Debug)]
pub struct Found {
    /// Their kind.
    pub kind: Served,
    /// How many there are.
    pub objects: usize,
    /// How many of them nobody has deleted yet.
    pub untouched: usize,
    /// Objects that a finalizer holds, by finalizer.
    pub finalizers: BTreeMap<String, usize>,
    /// The version of the list.
    pub version: String,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Delete all objects of these kinds, by their place in [`Content::kinds`].
    Delete(Vec<usize>),
    /// Nothing is left: the finalizer goes.
    Finalize,
    /// Others have to do something first.
    Wait,
}

impl Content {
    /// Objects that are there, by resource.
    pub fn remaining(&self) -> BTreeMap<String, usize> {
        self.kinds.iter().map(|found| (found.kind.name(), found.objects)).collect()
    }

    /// Objects that a finalizer holds, by finalizer.
    pub fn finalizers(&self) -> BTreeMap<String, usize> {
        let mut all = BTreeMap::new();
        for (finalizer, count) in self.kinds.iter().flat_map(|found| &found.finalizers) {
            *all.entry(finalizer.clone()).or_default() += count;
        }
        all
    }

    /// Whether it is known to the last kind.
    pub fn is_certain(&self) -> bool {
        self.discovery.is_none() && self.failures.is_empty()
    }
}

/// Pods go first, since they may use the rest.
fn is_pod(kind: &Served) -> bool {
    kind.resource.group.is_empty() && kind.resource.kind == "Pod"
}

/// What is next. Pure.
pub fn decide(content: &Content) -> Step {
    let failed = content.failures.iter().map(|(kind, _)| kind);
    let pods = content.kinds.iter().map(|found| &found.kind).chain(failed).any(is_pod);
    let due = |found: &Found| found.untouched > 0 && (!pods || is_pod(&found.kind));
    let due: Vec<usize> = (0..content.kinds.len()).filter(|at| due(&content.kinds[*at])).collect();
    match due.is_empty() {
        false => Step::Delete(due),
        true if content.kinds.is_empty() && content.is_certain() => Step::Finalize,
        true => Step::Wait,
    }
}

#[cfg(test)]
pub mod tests {
    use kube::api::{ApiResource, GroupVersionKind};

    use super::*;

    /// One object of a kind, which nobody has deleted.
    pub fn found(group: &str, kind: &str) -> Found {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, "v1", kind));
        let kind = Served { resource, namespaced: true, watch: true, delete: true, delete_collection: true };
        Found { kind, objects: 1, untouched: 1, finalizers: BTreeMap::new(), version: String::new() }
    }

    #[test]
    fn pods_go_before_everything_else_and_deciding_again_waits() {
        let with = |kinds: &[&Found]| Content { kinds: kinds.iter().copied().cloned().collect(), ..Content::default() };
        let (pod, map) = (found("", "Pod"), found("", "ConfigMap"));
        assert_eq!(decide(&with(&[&map, &pod])), Step::Delete(vec![1]));
        let going = Found { untouched: 0, ..pod };
        assert_eq!(decide(&with(&[&map, &going])), Step::Wait);
        assert_eq!(decide(&with(&[&map])), Step::Delete(vec![0]));
        assert_eq!(decide(&with(&[&Found { untouched: 0, ..map.clone() }])), Step::Wait);
        assert_eq!(decide(&with(&[])), Step::Finalize);
    }

    #[test]
    fn what_could_not_be_looked_at_holds_the_namespace() {
        let (pod, map) = (found("", "Pod"), found("", "ConfigMap"));
        let failed = |kind: &Found, kinds: Vec<Found>| {
            let failures = vec![(kind.kind.clone(), "away".to_owned())];
            decide(&Content { kinds, failures, ..Content::default() })
        };
        assert_eq!(failed(&found("metrics", "PodMetrics"), vec![]), Step::Wait);
        assert_eq!(failed(&found("metrics", "PodMetrics"), vec![map.clone()]), Step::Delete(vec![0]));
        // There may be pods.
        assert_eq!(failed(&pod, vec![map]), Step::Wait);
        assert_eq!(decide(&Content { discovery: Some("away".to_owned()), ..Content::default() }), Step::Wait);
    }
}
