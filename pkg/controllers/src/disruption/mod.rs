//! PodDisruptionBudgets: how many pods may be evicted now.
//!
//! # Flow
//! A budget, the pods it selects and the scale of what controls them → [`decide`] → its status.
//! Scales of ReplicaSets and Deployments are read from snapshots; whatever else has a scale
//! (StatefulSets, ReplicationControllers, custom resources) is asked for it through `/scale`, all
//! kinds in the same way.
//!
//! # Guarantees
//! - The status is bound to the state that was seen: an eviction that spends the budget meanwhile
//!   makes the write fail, and it is counted again.
//! - Where the scale cannot be told nothing may be evicted, and the condition says why.
//!
//! # Assumptions
//! The API server notes a pod in `disruptedPods` before it deletes it.
//!
//! # Caveats
//! Upstream counts a pod that several budgets select for one of them; here it counts for each.
//! Neither evicts it.

use std::collections::HashMap;

use client::{
    Controller, Expectations, Informer, Next, ObjectKey, Recorder, Sources, labels, reference,
    runtime::{controller_of, message},
    slim::Pod,
};
use jiff::Timestamp;
use k8s_openapi::{
    api::{
        apps::v1::{Deployment, ReplicaSet},
        policy::v1::PodDisruptionBudget,
    },
    apimachinery::pkg::apis::meta::v1::OwnerReference,
};
use kube::{Api, api::PostParams};

use crate::{Context, pods};

mod decide;
mod scale;
#[cfg(test)]
mod tests;

use decide::{About, Input, Plan, Settled, decide, settle};
use scale::Scale;

pub struct DisruptionController {
    client: kube::Client,
    recorder: Recorder,
    budgets: Informer<PodDisruptionBudget>,
    pods: Informer<Pod>,
    sets: Informer<ReplicaSet>,
    deployments: Informer<Deployment>,
    /// Of the budgets' own status.
    written: Expectations,
}

impl DisruptionController {
    pub fn new(context: &Context) -> Self {
        let informers = &context.config.informers;
        DisruptionController {
            client: informers.client().clone(),
            recorder: context.recorder.clone(),
            budgets: informers.get(),
            pods: informers.get(),
            sets: informers.get(),
            deployments: informers.get(),
            written: Expectations::default(),
        }
    }

    /// The scale of a pod's controller, if the snapshots know it: that of the Deployment, or of a
    /// ReplicaSet without one.
    fn known(&self, namespace: &str, owner: &OwnerReference) -> Option<Scale> {
        if owner.kind != "ReplicaSet" || !owner.api_version.starts_with("apps/") {
            return None;
        }
        let set = self.sets.get(&ObjectKey::new(namespace, &owner.name))?;
        let found = match controller_of(&*set).filter(|above| above.kind == "Deployment") {
            None => (set.metadata.uid.clone(), &owner.uid, set.spec.replicas),
            Some(above) => {
                let same_set = set.metadata.uid.as_ref() == Some(&owner.uid);
                let deployment = self.deployments.get(&ObjectKey::new(namespace, &above.name)).filter(|_| same_set)?;
                (deployment.metadata.uid.clone(), &above.uid, deployment.spec.replicas)
            }
        };
        let (uid, wanted, replicas) = found;
        uid.filter(|uid| uid == wanted).map(|uid| Scale::Of { uid, replicas: replicas.unwrap_or(1) })
    }

    /// Asks the API for the scales that the snapshots do not know. The error is one that may pass.
    async fn ask(&self, namespace: &str, input: &mut Input, owners: Vec<OwnerReference>) -> Result<(), kube::Error> {
        let mut asked = Ok(());
        for owner in owners {
            let found = scale::ask(&self.client, namespace, &owner).await.unwrap_or_else(|error| {
                let why = message(&error);
                asked = Err(error);
                Scale::Failed(why)
            });
            input.scales.insert(owner.uid, found);
        }
        asked
    }

    fn tell(&self, input: &Input, settled: &Settled) {
        for note in &settled.notes {
            let about = match &note.about {
                About::Budget => reference(&*input.budget),
                About::Pod(pod) => reference(&**pod),
            };
            self.recorder.event(about, note.type_, note.reason, &note.message);
        }
    }
}

/// The budgets of a namespace that select these labels.
fn selecting(
    budgets: &Informer<PodDisruptionBudget>,
    namespace: Option<&String>,
    labels: Option<&labels::Labels>,
) -> Vec<ObjectKey> {
    let found = budgets.select(|b| b.metadata.namespace.as_ref() == namespace && selects(b, labels));
    found.iter().map(|budget| ObjectKey::of(&**budget)).collect()
}

/// An empty selector selects all, none at all selects nothing.
fn selects(budget: &PodDisruptionBudget, labels: Option<&labels::Labels>) -> bool {
    let selector = budget.spec.as_ref().and_then(|spec| spec.selector.as_ref());
    selector.is_some_and(|selector| labels::matches(selector, labels))
}

/// Whether a change of a pod can change a budget's status.
fn matters(old: &Pod, new: &Pod) -> bool {
    fn view(pod: &Pod) -> (Option<&labels::Labels>, Option<&OwnerReference>, Option<&String>, bool, bool) {
        let meta = &pod.metadata;
        let going = meta.deletion_timestamp.is_some();
        (meta.labels.as_ref(), controller_of(pod), meta.uid.as_ref(), going, pods::is_ready(pod))
    }
    view(old) != view(new)
}

impl Controller for DisruptionController {
    type Input = Input;
    type Plan = Plan;
    const NAME: &'static str = "disruption";

    fn sources(&self, sources: &mut Sources) {
        sources.own(&self.budgets);
        let budgets = self.budgets.clone();
        sources.map_if(&self.pods, matters, move |pod| {
            selecting(&budgets, pod.metadata.namespace.as_ref(), pod.metadata.labels.as_ref())
        });
        let budgets = self.budgets.clone();
        let rescaled = |old: &ReplicaSet, new: &ReplicaSet| {
            old.spec.replicas != new.spec.replicas || controller_of(old) != controller_of(new)
        };
        sources.map_if(&self.sets, rescaled, move |set| {
            let template = set.spec.template.as_ref().and_then(|t| t.metadata.as_ref());
            selecting(&budgets, set.metadata.namespace.as_ref(), template.and_then(|m| m.labels.as_ref()))
        });
        let budgets = self.budgets.clone();
        let rescaled = |old: &Deployment, new: &Deployment| old.spec.replicas != new.spec.replicas;
        sources.map_if(&self.deployments, rescaled, move |deployment| {
            let template = deployment.spec.template.metadata.as_ref();
            selecting(&budgets, deployment.metadata.namespace.as_ref(), template.and_then(|m| m.labels.as_ref()))
        });
    }

    fn gather(&self, key: &ObjectKey) -> Option<Input> {
        let Some(budget) = self.budgets.get(key) else {
            self.written.forget(key);
            return None;
        };
        // The last status is not back yet; its event leads here again.
        if !self.written.met(key, &self.budgets) {
            return None;
        }
        let mut pods = self.pods.select(|pod| {
            pod.metadata.namespace == budget.metadata.namespace && selects(&budget, pod.metadata.labels.as_ref())
        });
        // What is told about the first of them stays the same.
        pods.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
        let mut scales = HashMap::new();
        for owner in pods.iter().filter_map(|pod| controller_of(&**pod)) {
            if !scales.contains_key(&owner.uid)
                && let Some(scale) = self.known(&key.namespace, owner)
            {
                scales.insert(owner.uid.clone(), scale);
            }
        }
        Some(Input { budget, pods, scales })
    }

    fn decide(&self, input: &Input, now: Timestamp) -> Plan {
        decide(input, now)
    }

    async fn apply(&self, key: &ObjectKey, mut input: Input, plan: Plan) -> Result<Next, kube::Error> {
        let (settled, asked) = match plan {
            Plan::Settled(settled) => (settled, Ok(())),
            Plan::Ask { owners, now } => {
                let asked = self.ask(&key.namespace, &mut input, owners).await;
                (settle(&input, now), asked)
            }
        };
        if let Some(status) = &settled.status {
            let budgets: Api<PodDisruptionBudget> = Api::namespaced(self.client.clone(), &key.namespace);
            let changed = PodDisruptionBudget { status: Some(status.clone()), ..(*input.budget).clone() };
            let written = budgets.replace_status(&key.name, &PostParams::default(), &changed).await?;
            self.written.wrote(key, &written);
            self.tell(&input, &settled);
        }
        asked.map(|()| settled.next)
    }
}
