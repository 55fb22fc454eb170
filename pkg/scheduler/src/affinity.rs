//! Affinity and anti-affinity between pods.

use std::collections::{HashMap, HashSet};

use client::{labels, slim::Pod};
use k8s_openapi::{
    api::core::v1::{PodAffinityTerm, WeightedPodAffinityTerm},
    apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement},
};

use crate::cluster::{Cluster, NodeState};

/// A topology key and one of its values.
type Domain = (String, String);

/// What the pods that are there mean for one that is to come.
#[derive(Debug, Default)]
pub struct Affinity {
    /// For each required term: its key, and where a pod is that it wants to be with.
    wanted: Vec<(String, HashSet<String>)>,
    /// Nobody fits any wanted term yet, but the pod itself does: it may be the first.
    may_be_first: bool,
    /// Where pods are that it must not be with.
    shunned: HashSet<Domain>,
    /// Where pods are that must not be with it.
    unwelcome: HashSet<Domain>,
    /// Preferences, of the pod and of those that are there.
    pub preferred: HashMap<Domain, i64>,
}

fn namespace(pod: &Pod) -> &str {
    pod.metadata.namespace.as_deref().unwrap_or_default()
}

/// The term with the label keys that it takes over from the pod that has it.
fn selector(term: &PodAffinityTerm, owner: &Pod) -> LabelSelector {
    let mut selector = term.label_selector.clone().unwrap_or_default();
    let own = owner.metadata.labels.as_ref();
    for (keys, operator) in [(&term.match_label_keys, "In"), (&term.mismatch_label_keys, "NotIn")] {
        for key in keys.iter().flatten() {
            if let Some(value) = own.and_then(|l| l.get(key)) {
                selector.match_expressions.get_or_insert_default().push(LabelSelectorRequirement {
                    key: key.clone(),
                    operator: operator.to_owned(),
                    values: Some(vec![value.clone()]),
                });
            }
        }
    }
    selector
}

/// Whether a term of `owner` means `other`.
fn means(term: &PodAffinityTerm, owner: &Pod, other: &Pod, cluster: &Cluster) -> bool {
    // Without a selector it means nobody.
    if term.label_selector.is_none() {
        return false;
    }
    let named = term.namespaces.as_deref().unwrap_or_default();
    let in_namespace = match &term.namespace_selector {
        None if named.is_empty() => namespace(owner) == namespace(other),
        None => named.iter().any(|n| n == namespace(other)),
        Some(selector) => {
            named.iter().any(|n| n == namespace(other))
                || labels::matches(selector, cluster.namespaces.get(namespace(other)))
        }
    };
    in_namespace && labels::matches(&selector(term, owner), other.metadata.labels.as_ref())
}

struct Terms {
    required: Vec<PodAffinityTerm>,
    required_anti: Vec<PodAffinityTerm>,
    preferred: Vec<WeightedPodAffinityTerm>,
    preferred_anti: Vec<WeightedPodAffinityTerm>,
}

fn terms(pod: &Pod) -> Option<Terms> {
    let affinity = pod.spec.as_ref()?.affinity.as_ref()?;
    let (with, anti) = (affinity.pod_affinity.as_ref(), affinity.pod_anti_affinity.as_ref());
    if with.is_none() && anti.is_none() {
        return None;
    }
    Some(Terms {
        required: with.and_then(|a| a.required_during_scheduling_ignored_during_execution.clone()).unwrap_or_default(),
        required_anti: anti
            .and_then(|a| a.required_during_scheduling_ignored_during_execution.clone())
            .unwrap_or_default(),
        preferred: with
            .and_then(|a| a.preferred_during_scheduling_ignored_during_execution.clone())
            .unwrap_or_default(),
        preferred_anti: anti
            .and_then(|a| a.preferred_during_scheduling_ignored_during_execution.clone())
            .unwrap_or_default(),
    })
}

/// Upstream's `hardPodAffinityWeight`: a required term of a pod that is there, as a preference.
const HARD_WEIGHT: i64 = 1;

impl Affinity {
    /// Looks at all pods once.
    pub fn new(pod: &Pod, cluster: &Cluster) -> Self {
        let own = terms(pod);
        let mut affinity = Affinity::default();
        if let Some(own) = &own {
            affinity.wanted = own.required.iter().map(|t| (t.topology_key.clone(), HashSet::new())).collect();
        }
        for (_, node) in cluster.nodes() {
            for placed in node.pods.values() {
                let other = &*placed.pod;
                if let Some(own) = &own {
                    affinity.note_own(own, pod, other, node, cluster);
                }
                if let Some(theirs) = terms(other) {
                    affinity.note_theirs(&theirs, pod, other, node, cluster);
                }
            }
        }
        if let Some(own) = &own {
            affinity.may_be_first = affinity.wanted.iter().all(|(_, domains)| domains.is_empty())
                && own.required.iter().all(|term| means(term, pod, pod, cluster));
        }
        affinity
    }

    fn note_own(&mut self, own: &Terms, pod: &Pod, other: &Pod, node: &NodeState, cluster: &Cluster) {
        let matches_all = own.required.iter().all(|term| means(term, pod, other, cluster));
        if matches_all {
            for (key, domains) in &mut self.wanted {
                domains.extend(node.topology(key).map(str::to_owned));
            }
        }
        for term in own.required_anti.iter().filter(|t| means(t, pod, other, cluster)) {
            self.shunned.extend(domain(term, node));
        }
        for (terms, sign) in [(&own.preferred, 1), (&own.preferred_anti, -1)] {
            for term in terms.iter().filter(|t| means(&t.pod_affinity_term, pod, other, cluster)) {
                self.prefer(&term.pod_affinity_term, node, sign * i64::from(term.weight));
            }
        }
    }

    fn note_theirs(&mut self, theirs: &Terms, pod: &Pod, other: &Pod, node: &NodeState, cluster: &Cluster) {
        for term in theirs.required_anti.iter().filter(|t| means(t, other, pod, cluster)) {
            self.unwelcome.extend(domain(term, node));
        }
        for term in theirs.required.iter().filter(|t| means(t, other, pod, cluster)) {
            self.prefer(term, node, HARD_WEIGHT);
        }
        for (terms, sign) in [(&theirs.preferred, 1), (&theirs.preferred_anti, -1)] {
            for term in terms.iter().filter(|t| means(&t.pod_affinity_term, other, pod, cluster)) {
                self.prefer(&term.pod_affinity_term, node, sign * i64::from(term.weight));
            }
        }
    }

    fn prefer(&mut self, term: &PodAffinityTerm, node: &NodeState, weight: i64) {
        if let Some(domain) = domain(term, node) {
            *self.preferred.entry(domain).or_default() += weight;
        }
    }

    /// Why the node is refused; empty if it is not.
    pub fn refuses(&self, node: &NodeState) -> Vec<String> {
        let within =
            |domains: &HashSet<Domain>| domains.iter().any(|(key, value)| node.topology(key) == Some(value.as_str()));
        let fits = |(key, domains): &(String, HashSet<String>)| {
            node.topology(key).is_some_and(|value| self.may_be_first || domains.contains(value))
        };
        let reason = if !self.wanted.iter().all(fits) {
            "node(s) didn't match pod affinity rules"
        } else if within(&self.shunned) {
            "node(s) didn't match pod anti-affinity rules"
        } else if within(&self.unwelcome) {
            "node(s) didn't satisfy existing pods anti-affinity rules"
        } else {
            return Vec::new();
        };
        vec![reason.to_owned()]
    }

    /// How much the node is preferred; not normalized.
    pub fn score(&self, node: &NodeState) -> i64 {
        let here = self.preferred.iter().filter(|((key, value), _)| node.topology(key) == Some(value.as_str()));
        here.map(|(_, weight)| weight).sum()
    }
}

fn domain(term: &PodAffinityTerm, node: &NodeState) -> Option<Domain> {
    node.topology(&term.topology_key).map(|value| (term.topology_key.clone(), value.to_owned()))
}
