//! Namespaces that are being deleted: their content goes first, pods before everything else, and
//! then the finalizer.
//!
//! # Caveats
//! What has finalizers of its own is waited for with a growing delay, as nothing here follows all
//! kinds; pods are followed.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use client::{Controller, Informer, Next, ObjectKey, Sources, runtime, slim::Pod};
use futures::{StreamExt as _, stream};
use jiff::Timestamp;
use k8s_openapi::{
    api::core::v1::{Namespace, NamespaceCondition},
    apimachinery::pkg::apis::meta::v1::Time,
};
use kube::{
    Api, ResourceExt as _,
    api::{DeleteParams, ListParams, PostParams},
};

use crate::{
    Context,
    owners::is_deleting,
    resources::{Served, discover},
};

const FINALIZER: &str = "kubernetes";
/// Kinds looked at in parallel.
const PARALLEL: usize = 8;
/// Between two looks at what does not go.
const PATIENCE: Duration = Duration::from_secs(5);

pub struct NamespaceController {
    client: kube::Client,
    namespaces: Informer<Namespace>,
    pods: Informer<Pod>,
}

impl NamespaceController {
    pub fn new(context: &Context) -> Self {
        let informers = &context.config.informers;
        NamespaceController { client: informers.client().clone(), namespaces: informers.get(), pods: informers.get() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    Nothing,
    /// Delete the content, then the finalizer.
    Purge(Timestamp),
}

impl Controller for NamespaceController {
    type Input = Arc<Namespace>;
    type Plan = Plan;
    const NAME: &'static str = "namespace";

    fn sources(&self, sources: &mut Sources) {
        let namespaces = self.namespaces.clone();
        sources.own(&self.namespaces).map_if(
            &self.pods,
            |_, _| false,
            move |pod| {
                let key = ObjectKey::new("", pod.namespace().unwrap_or_default());
                namespaces.get(&key).filter(|ns| is_deleting(&**ns)).map(|_| key).into_iter().collect()
            },
        );
    }

    fn gather(&self, key: &ObjectKey) -> Option<Arc<Namespace>> {
        self.namespaces.get(key)
    }

    fn decide(&self, namespace: &Arc<Namespace>, now: Timestamp) -> Plan {
        let finalizers = namespace.spec.iter().flat_map(|s| s.finalizers.iter().flatten());
        let held = finalizers.into_iter().any(|f| f == FINALIZER);
        if is_deleting(&**namespace) && held { Plan::Purge(now) } else { Plan::Nothing }
    }

    async fn apply(&self, key: &ObjectKey, namespace: Arc<Namespace>, plan: Plan) -> Result<Next, kube::Error> {
        let Plan::Purge(now) = plan else { return Ok(Next::Done) };
        let outcome = self.purge(&key.name).await;
        let api: Api<Namespace> = Api::all(self.client.clone());
        if outcome.is_empty() {
            let mut finalized = (*namespace).clone();
            if let Some(finalizers) = finalized.spec.as_mut().and_then(|s| s.finalizers.as_mut()) {
                finalizers.retain(|f| f != FINALIZER);
            }
            let done = api.replace_subresource("finalize", &key.name, &PostParams::default(), &finalized).await;
            runtime::ignore_not_found(done)?;
            return Ok(Next::Done);
        }
        tracing::debug!(namespace = key.name, ?outcome, "content remains");
        let mut changed = (*namespace).clone();
        let status = changed.status.get_or_insert_default();
        if set_conditions(status.conditions.get_or_insert_default(), &outcome, now) {
            runtime::ignore_not_found(api.replace_status(&key.name, &PostParams::default(), &changed).await)?;
        }
        Ok(Next::After(PATIENCE))
    }
}

/// What became of the content of a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Objects that are still there, by resource.
    pub remaining: BTreeMap<String, usize>,
    /// Objects that a finalizer holds, by finalizer.
    pub finalizers: BTreeMap<String, usize>,
    /// Why discovery failed.
    pub discovery: Option<String>,
    /// Why content could not be deleted.
    pub failures: Vec<String>,
}

impl Outcome {
    fn is_empty(&self) -> bool {
        *self == Outcome::default()
    }

    fn merge(&mut self, other: Outcome) {
        self.remaining.extend(other.remaining);
        for (finalizer, count) in other.finalizers {
            *self.finalizers.entry(finalizer).or_default() += count;
        }
        self.failures.extend(other.failures);
    }
}

impl NamespaceController {
    async fn purge(&self, namespace: &str) -> Outcome {
        let mut outcome = Outcome::default();
        let served = match discover(&self.client).await {
            Ok(served) => served,
            Err(error) => {
                outcome.discovery = Some(runtime::message(&error));
                return outcome;
            }
        };
        let (pods, others): (Vec<_>, Vec<_>) = served
            .into_iter()
            .filter(|s| s.namespaced && (s.delete || s.delete_collection))
            .partition(|s| s.resource.group.is_empty() && s.resource.kind == "Pod");
        for kinds in [pods, others] {
            let purged = stream::iter(kinds).map(|kind| self.purge_kind(kind, namespace)).buffer_unordered(PARALLEL);
            let purged: Vec<Outcome> = purged.collect().await;
            purged.into_iter().for_each(|one| outcome.merge(one));
            if !outcome.is_empty() {
                // Pods may still use the rest.
                break;
            }
        }
        outcome
    }

    async fn purge_kind(&self, kind: Served, namespace: &str) -> Outcome {
        let mut outcome = Outcome::default();
        if let Err(error) = self.try_purge_kind(&kind, namespace, &mut outcome).await {
            outcome.failures.push(format!("{}: {}", kind.name(), runtime::message(&error)));
        }
        outcome
    }

    async fn try_purge_kind(&self, kind: &Served, namespace: &str, outcome: &mut Outcome) -> Result<(), kube::Error> {
        let api = kind.api(&self.client, Some(namespace));
        let there = api.list_metadata(&ListParams::default()).await?;
        if there.items.is_empty() {
            return Ok(());
        }
        let params = DeleteParams::background();
        if kind.delete_collection {
            api.delete_collection(&params, &ListParams::default()).await?;
        } else {
            for object in there.items.iter().filter(|o| !is_deleting(*o)) {
                runtime::ignore_not_found(api.delete(&object.name_any(), &params).await)?;
            }
        }
        let left = api.list_metadata(&ListParams::default()).await?.items;
        if !left.is_empty() {
            outcome.remaining.insert(kind.name(), left.len());
        }
        for finalizer in left.iter().flat_map(|o| o.finalizers()) {
            *outcome.finalizers.entry(finalizer.clone()).or_default() += 1;
        }
        Ok(())
    }
}

/// Sets the conditions that tell how far the deletion is. Whether that changed anything.
fn set_conditions(conditions: &mut Vec<NamespaceCondition>, outcome: &Outcome, now: Timestamp) -> bool {
    let instances = |counts: &BTreeMap<String, usize>, word: &str| {
        let parts: Vec<_> = counts.iter().map(|(what, n)| format!("{what} {word} {n} resource instances")).collect();
        parts.join(", ")
    };
    let rows = [
        (
            "NamespaceDeletionDiscoveryFailure",
            outcome.discovery.is_some(),
            ["ResourcesDiscovered", "DiscoveryFailed"],
            "All resources successfully discovered",
            format!(
                "Discovery failed for some groups, 1 failing: {}",
                outcome.discovery.as_deref().unwrap_or_default()
            ),
        ),
        (
            "NamespaceDeletionGroupVersionParsingFailure",
            false,
            ["ParsedGroupVersions", "GroupVersionParsingFailed"],
            "All legacy kube types successfully parsed",
            String::new(),
        ),
        (
            "NamespaceDeletionContentFailure",
            !outcome.failures.is_empty(),
            ["ContentDeleted", "ContentDeletionFailed"],
            "All content successfully deleted, may be waiting on finalization",
            format!(
                "Failed to delete all resource types, {} remaining: {}",
                outcome.failures.len(),
                outcome.failures.join(", ")
            ),
        ),
        (
            "NamespaceContentRemaining",
            !outcome.remaining.is_empty(),
            ["ContentRemoved", "SomeResourcesRemain"],
            "All content successfully removed",
            format!("Some resources are remaining: {}", instances(&outcome.remaining, "has")),
        ),
        (
            "NamespaceFinalizersRemaining",
            !outcome.finalizers.is_empty(),
            ["ContentHasNoFinalizers", "SomeFinalizersRemain"],
            "All content-preserving finalizers finished",
            format!("Some content in the namespace has finalizers remaining: {}", instances(&outcome.finalizers, "in")),
        ),
    ];
    let mut changed = false;
    for (type_, bad, [good_reason, bad_reason], good_message, bad_message) in rows {
        let (status, reason, message) = match bad {
            true => ("True", bad_reason, bad_message),
            false => ("False", good_reason, good_message.to_owned()),
        };
        changed |= set_condition(conditions, type_, status, reason, &message, now);
    }
    changed
}

fn set_condition(
    conditions: &mut Vec<NamespaceCondition>,
    type_: &str,
    status: &str,
    reason: &str,
    message: &str,
    now: Timestamp,
) -> bool {
    let at = conditions.iter().position(|c| c.type_ == type_);
    let before = at.map(|at| conditions[at].clone());
    if before.as_ref().is_some_and(|c| {
        c.status == status && c.reason.as_deref() == Some(reason) && c.message.as_deref() == Some(message)
    }) {
        return false;
    }
    let since = before.filter(|c| c.status == status).and_then(|c| c.last_transition_time);
    let condition = NamespaceCondition {
        type_: type_.to_owned(),
        status: status.to_owned(),
        reason: Some(reason.to_owned()),
        message: Some(message.to_owned()),
        last_transition_time: since.or(Some(Time(now))),
    };
    match at {
        Some(at) => conditions[at] = condition,
        None => conditions.push(condition),
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_tell_what_remains_and_are_written_once() {
        let now = Timestamp::UNIX_EPOCH;
        let outcome = Outcome {
            remaining: [("pods.".to_owned(), 2)].into(),
            finalizers: [("example.com/hold".to_owned(), 1)].into(),
            ..Outcome::default()
        };
        let mut conditions = Vec::new();
        assert!(set_conditions(&mut conditions, &outcome, now));
        assert!(!set_conditions(&mut conditions, &outcome, now), "the same again changes nothing");
        let message = |type_: &str| {
            let condition = conditions.iter().find(|c| c.type_ == type_).expect("set");
            (condition.status.clone(), condition.message.clone().unwrap_or_default())
        };
        for (type_, status, text) in [
            ("NamespaceDeletionDiscoveryFailure", "False", "All resources successfully discovered"),
            ("NamespaceContentRemaining", "True", "Some resources are remaining: pods. has 2 resource instances"),
            (
                "NamespaceFinalizersRemaining",
                "True",
                "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
            ),
        ] {
            assert_eq!(message(type_), (status.to_owned(), text.to_owned()));
        }
    }
}
