//! Deployments: rollouts, rollbacks and scaling of ReplicaSets.
//!
//! # Flow
//! Each look plans one step from what the ReplicaSets' status says; their changes lead to the next.
//!
//! # Guarantees
//! - At no time more pods than `replicas + maxSurge`, nor fewer available than
//!   `replicas - maxUnavailable` by this controller's doing.
//! - A template that was rolled out before gets its old ReplicaSet back, with a new revision.
//! - Revisions are noted in the Deployment's metadata along with its status, and make no generation.

use client::{
    Controller, EventType, Expectations, Informer, Next, ObjectKey, Recorder, Sources, labels, reference,
    runtime::{controller_of, ignore_not_found, is_terminating},
    slim::Pod,
};
use jiff::Timestamp;
use k8s_openapi::api::apps::v1::{Deployment, DeploymentStatus, ReplicaSet};
use kube::{
    Api, ResourceExt as _,
    api::{DeleteParams, PostParams, Preconditions},
};

use crate::{
    Context,
    owners::{carry_out, is_controlled_by},
};

mod decide;
mod sets;
mod status;
#[cfg(test)]
mod tests;

use decide::{Action, Input, Plan, decide};
pub use sets::resolve;

pub struct DeploymentController {
    client: kube::Client,
    recorder: Recorder,
    deployments: Informer<Deployment>,
    sets: Informer<ReplicaSet>,
    pods: Informer<Pod>,
    expectations: Expectations,
    /// Of the Deployments themselves.
    written: Expectations,
}

impl DeploymentController {
    pub fn new(context: &Context) -> Self {
        let informers = &context.config.informers;
        DeploymentController {
            client: informers.client().clone(),
            recorder: context.recorder.clone(),
            deployments: informers.get(),
            sets: informers.get(),
            pods: informers.get(),
            expectations: Expectations::default(),
            written: Expectations::default(),
        }
    }

    fn concerned(deployments: &Informer<Deployment>, set: &ReplicaSet) -> Vec<ObjectKey> {
        let namespace = set.namespace().unwrap_or_default();
        match controller_of(set) {
            Some(owner) if owner.kind == "Deployment" => vec![ObjectKey::new(namespace, &owner.name)],
            Some(_) => Vec::new(),
            None => deployments
                .select(|d| {
                    d.metadata.namespace == set.metadata.namespace
                        && labels::matches(&d.spec.selector, set.metadata.labels.as_ref())
                })
                .iter()
                .map(|d| ObjectKey::of(&**d))
                .collect(),
        }
    }
}

impl Controller for DeploymentController {
    type Input = Input;
    type Plan = Plan;
    const NAME: &'static str = "deployment";

    fn sources(&self, sources: &mut Sources) {
        let (deployments, sets) = (self.deployments.clone(), self.sets.clone());
        sources
            .own(&self.deployments)
            .map(&self.sets, move |set| Self::concerned(&deployments, set))
            // Replacing all at once waits for the last old pod to be gone; other changes of pods
            // arrive through the status of their sets.
            .map_if(
                &self.pods,
                |_, new| crate::pods::is_finished(new),
                move |pod| {
                    let owner = controller_of(pod).filter(|owner| owner.kind == "ReplicaSet");
                    let set =
                        owner.and_then(|o| sets.get(&ObjectKey::new(pod.namespace().unwrap_or_default(), &o.name)));
                    let deployment = set.as_deref().and_then(controller_of).filter(|o| o.kind == "Deployment");
                    deployment
                        .map(|d| ObjectKey::new(pod.namespace().unwrap_or_default(), &d.name))
                        .into_iter()
                        .collect()
                },
            );
    }

    fn gather(&self, key: &ObjectKey) -> Option<Input> {
        let Some(deployment) = self.deployments.get(key) else {
            self.expectations.forget(key);
            self.written.forget(key);
            return None;
        };
        // What was written comes back as a change, and with it the next look.
        if !self.expectations.met(key, &self.sets) || !self.written.met(key, &self.deployments) {
            return None;
        }
        let sets = self.sets.select(|set| {
            set.metadata.namespace == deployment.metadata.namespace
                && controller_of(set).is_none_or(|owner| Some(&owner.uid) == deployment.metadata.uid.as_ref())
        });
        let pods = match sets::is_rolling(&deployment) {
            true => Vec::new(),
            false => self.pods.select(|pod| sets.iter().any(|set| is_controlled_by(pod, &**set))),
        };
        Some(Input { deployment, sets, pods })
    }

    fn decide(&self, input: &Input, now: Timestamp) -> Plan {
        decide(input, now)
    }

    async fn apply(&self, key: &ObjectKey, input: Input, plan: Plan) -> Result<Next, kube::Error> {
        let sets: Api<ReplicaSet> = Api::namespaced(self.client.clone(), &key.namespace);
        let deployments: Api<Deployment> = Api::namespaced(self.client.clone(), &key.namespace);
        carry_out(&sets, &deployments, &*input.deployment, &plan.claim).await?;
        let mut status = plan.status;
        for action in &plan.actions {
            if let Err(error) = self.write(&sets, key, &input.deployment, action).await {
                if is_terminating(&error) {
                    return Ok(Next::Done);
                }
                if !self.note_failure(&sets, &input.deployment, action, &error, &mut status).await? {
                    return Err(error);
                }
                self.write_status(&deployments, key, &input.deployment, None, status).await?;
                return Err(error);
            }
        }
        self.write_status(&deployments, key, &input.deployment, plan.revision.as_ref(), status).await?;
        Ok(plan.next)
    }
}

impl DeploymentController {
    /// Writes the status, and the revision if it is another one: as part of the status, it makes no new generation.
    async fn write_status(
        &self,
        api: &Api<Deployment>,
        key: &ObjectKey,
        deployment: &Deployment,
        revision: Option<&String>,
        status: DeploymentStatus,
    ) -> Result<(), kube::Error> {
        if revision.is_none() && deployment.status.as_ref() == Some(&status) {
            return Ok(());
        }
        let mut changed = Deployment { status: Some(status), ..deployment.clone() };
        if let Some(revision) = revision {
            changed.annotations_mut().insert(sets::REVISION.to_owned(), revision.clone());
        }
        let written = api.replace_status(&key.name, &PostParams::default(), &changed).await?;
        self.written.wrote(key, &written);
        Ok(())
    }

    async fn write(
        &self,
        api: &Api<ReplicaSet>,
        key: &ObjectKey,
        deployment: &Deployment,
        action: &Action,
    ) -> Result<(), kube::Error> {
        let (written, from) = match action {
            Action::Create(set) => (api.create(&PostParams::default(), set).await?, 0),
            Action::Update { set, from } => (api.replace(&set.name_any(), &PostParams::default(), set).await?, *from),
            Action::Delete(set) => {
                let same = Preconditions { uid: set.uid(), resource_version: set.resource_version() };
                let params = DeleteParams::background().preconditions(same);
                return ignore_not_found(api.delete(&set.name_any(), &params).await).map(|_| ());
            }
        };
        self.expectations.wrote(key, &written);
        let to = sets::size(&written);
        if from != to {
            let direction = if to > from { "up" } else { "down" };
            let message = format!("Scaled {direction} replica set {} from {from} to {to}", written.name_any());
            self.recorder.event(reference(deployment), EventType::Normal, "ScalingReplicaSet", message);
        }
        Ok(())
    }

    /// What a failed creation means for the status. `false`: nothing that the status should tell.
    async fn note_failure(
        &self,
        api: &Api<ReplicaSet>,
        deployment: &Deployment,
        action: &Action,
        error: &kube::Error,
        status: &mut DeploymentStatus,
    ) -> Result<bool, kube::Error> {
        let (Action::Create(set), kube::Error::Api(answer)) = (action, error) else { return Ok(false) };
        if answer.reason == "AlreadyExists" {
            let there = api.get_opt(&set.name_any()).await?;
            let ours = |s: &ReplicaSet| is_controlled_by(s, deployment) && sets::is_current(s, deployment);
            if there.as_ref().is_none_or(ours) {
                return Ok(false);
            }
            // Another set has that name: the next one gets another hash.
            status.collision_count = Some(status.collision_count.unwrap_or(0).saturating_add(1));
            return Ok(true);
        }
        let message = format!("Failed to create new replica set {:?}: {}", set.name_any(), answer.message);
        if status::deadline(deployment).is_some() {
            status::set(status, status::PROGRESSING, "False", "ReplicaSetCreateError", &message, Timestamp::now());
        }
        self.recorder.event(reference(deployment), EventType::Warning, "ReplicaSetCreateError", message);
        Ok(true)
    }
}
