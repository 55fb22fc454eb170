//! ReplicaSets: as many pods as asked for.
//!
//! Pods are counted only when the snapshot shows all that was made and deleted before
//! ([`Expectations`]), so an old snapshot never leads to too many. Making begins with one pod and
//! doubles, so that a namespace without quota is not asked a thousand times in vain.

use std::{collections::HashMap, sync::Arc};

use client::{
    Controller, EventType, Expectations, Informer, Next, ObjectKey, Recorder, Sources, labels, reference,
    runtime::{controller_of, is_terminating, message},
    slim::Pod,
};
use futures::future::join_all;
use jiff::Timestamp;
use k8s_openapi::{
    api::{
        apps::v1::{ReplicaSet, ReplicaSetCondition, ReplicaSetStatus},
        core::v1 as full,
    },
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time},
};
use kube::{
    Api, ResourceExt as _,
    api::{DeleteParams, PostParams, Preconditions},
};

use crate::{
    Context,
    owners::{Claim, carry_out, claim, controller_reference, is_deleting},
    pods,
};

#[cfg(test)]
mod tests;

/// Pods made or deleted in one go.
const BURST: usize = 500;

pub struct ReplicaSetController {
    client: kube::Client,
    recorder: Recorder,
    sets: Informer<ReplicaSet>,
    pods: Informer<Pod>,
    expectations: Expectations,
    /// Of the sets' own status.
    written: Expectations,
}

pub struct Input {
    pub set: Arc<ReplicaSet>,
    /// Of the namespace, controlled by the set or by nobody.
    pub pods: Vec<Arc<Pod>>,
    /// Active pods on each node that belong to this set or to its siblings.
    pub related: HashMap<String, usize>,
    /// Whether the snapshot shows all that was done before.
    pub settled: bool,
}

pub struct Plan {
    pub claim: Claim<Pod>,
    pub create: usize,
    pub delete: Vec<Arc<Pod>>,
    /// Conditions as they were.
    pub status: ReplicaSetStatus,
    pub next: Next,
    /// When it was decided.
    pub now: Timestamp,
}

impl ReplicaSetController {
    pub fn new(context: &Context) -> Self {
        let informers = &context.config.informers;
        ReplicaSetController {
            client: informers.client().clone(),
            recorder: context.recorder.clone(),
            sets: informers.get(),
            pods: informers.get(),
            expectations: Expectations::default(),
            written: Expectations::default(),
        }
    }

    fn related(&self, set: &ReplicaSet) -> HashMap<String, usize> {
        let parent = controller_of(set).map(|p| &p.uid);
        let siblings: Vec<_> = self
            .sets
            .select(|other| {
                other.metadata.namespace == set.metadata.namespace
                    && (other.metadata.uid == set.metadata.uid
                        || parent.is_some() && controller_of(other).map(|p| &p.uid) == parent)
            })
            .iter()
            .filter_map(|s| s.uid())
            .collect();
        let mut on_node = HashMap::new();
        let owned = |pod: &Pod| controller_of(pod).is_some_and(|owner| siblings.contains(&owner.uid));
        for pod in self.pods.select(|pod| pods::is_active(pod) && owned(pod)) {
            *on_node.entry(pods::node_name(&pod).to_owned()).or_default() += 1;
        }
        on_node
    }

    /// The sets that might want a pod: its controller, or all that select an orphan.
    fn concerned(sets: &Informer<ReplicaSet>, pod: &Pod) -> Vec<ObjectKey> {
        match controller_of(pod) {
            Some(owner) if owner.kind == "ReplicaSet" => {
                vec![ObjectKey::new(pod.namespace().unwrap_or_default(), &owner.name)]
            }
            Some(_) => Vec::new(),
            None => sets
                .select(|set| set.metadata.namespace == pod.metadata.namespace && selects(set, pod))
                .iter()
                .map(|set| ObjectKey::of(&**set))
                .collect(),
        }
    }
}

impl Controller for ReplicaSetController {
    type Input = Input;
    type Plan = Plan;
    const NAME: &'static str = "replicaset";

    fn sources(&self, sources: &mut Sources) {
        let sets = self.sets.clone();
        sources.own(&self.sets).map(&self.pods, move |pod| Self::concerned(&sets, pod));
    }

    fn gather(&self, key: &ObjectKey) -> Option<Input> {
        let Some(set) = self.sets.get(key) else {
            self.expectations.forget(key);
            self.written.forget(key);
            return None;
        };
        // The last status is not back yet; its event leads here again.
        if !self.written.met(key, &self.sets) {
            return None;
        }
        let settled = self.expectations.met(key, &self.pods);
        let pods = self.pods.select(|pod| {
            pod.metadata.namespace == set.metadata.namespace
                && controller_of(pod).is_none_or(|owner| Some(&owner.uid) == set.metadata.uid.as_ref())
        });
        let related = self.related(&set);
        Some(Input { set, pods, related, settled })
    }

    fn decide(&self, input: &Input, now: Timestamp) -> Plan {
        decide(input, now)
    }

    async fn apply(&self, key: &ObjectKey, input: Input, plan: Plan) -> Result<Next, kube::Error> {
        let api: Api<Pod> = Api::namespaced(self.client.clone(), &key.namespace);
        let set = &*input.set;
        let sets: Api<ReplicaSet> = Api::namespaced(self.client.clone(), &key.namespace);
        carry_out(&api, &sets, set, &plan.claim).await?;
        let scaled = async {
            self.create(key, set, plan.create).await?;
            self.delete(&api, key, set, &plan.delete).await
        };
        let scaled = scaled.await;
        let mut status = plan.status;
        let difference = i64::try_from(plan.delete.len()).unwrap_or(0) - i64::try_from(plan.create).unwrap_or(0);
        set_failure(&mut status, &scaled, difference, plan.now);
        if set.status.as_ref() != Some(&status) {
            let changed = ReplicaSet { status: Some(status), ..set.clone() };
            let written = sets.replace_status(&key.name, &PostParams::default(), &changed).await?;
            self.written.wrote(key, &written);
        }
        match scaled {
            Err(error) if !is_terminating(&error) => Err(error),
            _ => Ok(plan.next),
        }
    }
}

impl ReplicaSetController {
    /// In batches of 1, 2, 4 …; a batch with a failure is the last.
    async fn create(&self, key: &ObjectKey, set: &ReplicaSet, count: usize) -> Result<(), kube::Error> {
        let api = Api::namespaced(self.client.clone(), &key.namespace);
        let pod = new_pod(set);
        let (mut left, mut batch) = (count, 1);
        while left > 0 {
            let size = batch.min(left);
            let made = join_all((0..size).map(|_| self.create_one(&api, key, set, &pod))).await;
            made.into_iter().collect::<Result<Vec<()>, _>>()?;
            left -= size;
            batch *= 2;
        }
        Ok(())
    }

    async fn create_one(
        &self,
        api: &Api<full::Pod>,
        key: &ObjectKey,
        set: &ReplicaSet,
        pod: &full::Pod,
    ) -> Result<(), kube::Error> {
        match api.create(&PostParams::default(), pod).await {
            Ok(made) => {
                self.expectations.wrote(key, &made);
                let message = format!("Created pod: {}", made.name_any());
                self.recorder.event(reference(set), EventType::Normal, "SuccessfulCreate", message);
                Ok(())
            }
            Err(error) => {
                if !is_terminating(&error) {
                    let text = format!("Error creating: {}", message(&error));
                    self.recorder.event(reference(set), EventType::Warning, "FailedCreate", text);
                }
                Err(error)
            }
        }
    }

    async fn delete(
        &self,
        api: &Api<Pod>,
        key: &ObjectKey,
        set: &ReplicaSet,
        pods: &[Arc<Pod>],
    ) -> Result<(), kube::Error> {
        // All are noted before the first is deleted: its event must not find the rest unnoted.
        pods.iter().for_each(|pod| self.expectations.deletes(key, &**pod));
        let deleted = join_all(pods.iter().map(|pod| self.delete_one(api, key, set, pod))).await;
        deleted.into_iter().collect()
    }

    async fn delete_one(
        &self,
        api: &Api<Pod>,
        key: &ObjectKey,
        set: &ReplicaSet,
        pod: &Pod,
    ) -> Result<(), kube::Error> {
        let same = Preconditions { uid: pod.uid(), resource_version: None };
        match api.delete(&pod.name_any(), &DeleteParams::default().preconditions(same)).await {
            Ok(_) => {
                let message = format!("Deleted pod: {}", pod.name_any());
                self.recorder.event(reference(set), EventType::Normal, "SuccessfulDelete", message);
                Ok(())
            }
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            Err(error) => {
                self.expectations.undelete(key, pod);
                let text = format!("Error deleting: {}", message(&error));
                self.recorder.event(reference(set), EventType::Warning, "FailedDelete", text);
                Err(error)
            }
        }
    }
}

fn selects(set: &ReplicaSet, pod: &Pod) -> bool {
    let spec = &set.spec;
    !labels::is_empty(&spec.selector) && labels::matches(&spec.selector, pod.metadata.labels.as_ref())
}

/// See the module.
fn decide(input: &Input, now: Timestamp) -> Plan {
    let set = &*input.set;
    let claim =
        claim(set, &input.pods, |pod| selects(set, pod) && (pods::is_active(pod) || controller_of(pod).is_some()));
    let mine: Vec<_> = claim.owned.iter().chain(&claim.adopt).cloned().collect();
    let active: Vec<_> = mine.iter().filter(|pod| pods::is_active(pod)).cloned().collect();
    let wanted = usize::try_from(set.spec.replicas.unwrap_or(1)).unwrap_or(0);
    let (mut create, mut delete) = (0, Vec::new());
    if input.settled && !is_deleting(set) {
        create = wanted.saturating_sub(active.len()).min(BURST);
        let excess = active.len().saturating_sub(wanted).min(BURST);
        if excess > 0 {
            delete = pods::deletion_order(&active, &input.related, now);
            delete.truncate(excess);
        }
    }
    let (status, next) = status(set, &mine, &active, now);
    Plan { claim, create, delete, status, next, now }
}

fn status(set: &ReplicaSet, mine: &[Arc<Pod>], active: &[Arc<Pod>], now: Timestamp) -> (ReplicaSetStatus, Next) {
    let spec = set.spec.clone();
    let min_ready = spec.min_ready_seconds.unwrap_or(0);
    let template_labels = spec.template.and_then(|t| t.metadata).and_then(|m| m.labels).unwrap_or_default();
    let count = |wanted: &dyn Fn(&Pod) -> bool| {
        i32::try_from(active.iter().filter(|pod| wanted(pod)).count()).unwrap_or(i32::MAX)
    };
    let some = |n: i32| (n != 0).then_some(n);
    let terminating = mine.iter().filter(|pod| is_deleting(&***pod) && !pods::is_finished(pod)).count();
    let status = ReplicaSetStatus {
        replicas: count(&|_| true),
        fully_labeled_replicas: some(count(&|pod| labels::contains(pod.metadata.labels.as_ref(), &template_labels))),
        ready_replicas: some(count(&pods::is_ready)),
        available_replicas: some(count(&|pod| pods::is_available(pod, min_ready, now))),
        terminating_replicas: Some(i32::try_from(terminating).unwrap_or(i32::MAX)),
        observed_generation: set.metadata.generation,
        conditions: set.status.as_ref().and_then(|s| s.conditions.clone()),
    };
    let pending = active.iter().filter(|pod| !pods::is_available(pod, min_ready, now));
    let next = pending.filter_map(|pod| pods::available_at(pod, min_ready)).min();
    (status, Next::at(next, now))
}

/// The ReplicaFailure condition tells whether pods could be made and deleted.
fn set_failure(status: &mut ReplicaSetStatus, scaled: &Result<(), kube::Error>, difference: i64, now: Timestamp) {
    let conditions = status.conditions.get_or_insert_default();
    match scaled {
        Ok(()) => conditions.retain(|c| c.type_.as_deref() != Some("ReplicaFailure")),
        Err(_) if conditions.iter().any(|c| c.type_.as_deref() == Some("ReplicaFailure")) => {}
        Err(error) => conditions.push(ReplicaSetCondition {
            type_: Some("ReplicaFailure".to_owned()),
            status: Some("True".to_owned()),
            reason: Some(if difference < 0 { "FailedCreate" } else { "FailedDelete" }.to_owned()),
            message: Some(message(error)),
            last_transition_time: Some(Time(now)),
        }),
    }
    if conditions.is_empty() {
        status.conditions = None;
    }
}

/// A pod from the set's template. The API server adds to its name what makes it unique.
pub fn new_pod(set: &ReplicaSet) -> full::Pod {
    let template = set.spec.clone().template.unwrap_or_default();
    let meta = template.metadata.unwrap_or_default();
    full::Pod {
        metadata: ObjectMeta {
            generate_name: Some(format!("{}-", set.name_any())),
            namespace: set.metadata.namespace.clone(),
            labels: meta.labels,
            annotations: meta.annotations,
            finalizers: meta.finalizers,
            owner_references: Some(vec![controller_reference(set)]),
            ..ObjectMeta::default()
        },
        spec: template.spec,
        status: None,
    }
}
