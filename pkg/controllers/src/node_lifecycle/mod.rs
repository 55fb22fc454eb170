//! Nodes that fall silent, and taints that drive pods away.
//!
//! # Guarantees
//! - A node whose Lease was not renewed for 40 s is Unknown; time is measured from when the renewal
//!   was seen here, so clocks need not agree.
//! - Taints follow the conditions. Pods that do not tolerate a NoExecute taint (for long enough)
//!   are deleted.
//! - While no node of the cluster is Ready, none gets a NoExecute taint: then it is more likely
//!   this side that is cut off, and evicting everything helps nobody.

use std::{collections::HashMap, sync::Arc, time::Duration};

use client::{
    Controller, EventType, Informer, Next, ObjectKey, Recorder, SharedClock, Sources, reference,
    runtime::ignore_not_found, slim::Pod, tolerations,
};
use jiff::Timestamp;
use k8s_openapi::{
    api::{
        coordination::v1::Lease,
        core::v1::{Node, NodeCondition, Taint},
    },
    apimachinery::pkg::apis::meta::v1::Time,
};
use kube::{
    Api, ResourceExt as _,
    api::{DeleteParams, Patch, PatchParams, PostParams, Preconditions},
};
use parking_lot::Mutex;
use serde_json::json;

use crate::{Context, pods};

mod decide;
#[cfg(test)]
mod tests;

use decide::{Plan, decide};

const LEASES: &str = "kube-node-lease";

pub struct NodeLifecycleController {
    client: kube::Client,
    recorder: Recorder,
    clock: SharedClock,
    nodes: Informer<Node>,
    leases: Informer<Lease>,
    pods: Informer<Pod>,
    /// By node: the last sign of life, and when it was seen.
    seen: Mutex<HashMap<String, (SignOfLife, Timestamp)>>,
}

/// What changes when a node lives.
type SignOfLife = (Option<Timestamp>, Option<Timestamp>);

pub struct Input {
    pub node: Arc<Node>,
    /// When it last gave a sign of life, by the clock here.
    pub alive: Timestamp,
    /// Those on it that are not finished.
    pub pods: Vec<Arc<Pod>>,
    /// Whether another node is Ready.
    pub others_ready: bool,
}

impl NodeLifecycleController {
    pub fn new(context: &Context) -> Self {
        let informers = &context.config.informers;
        NodeLifecycleController {
            client: informers.client().clone(),
            recorder: context.recorder.clone(),
            clock: context.config.clock.clone(),
            nodes: informers.get(),
            leases: informers.get(),
            pods: informers.get(),
            seen: Mutex::default(),
        }
    }

    fn alive(&self, node: &Node) -> Timestamp {
        let name = node.name_any();
        let lease = self.leases.get(&ObjectKey::new(LEASES, &name));
        let renewed = lease.and_then(|l| l.spec.as_ref()?.renew_time.as_ref().map(|t| t.0));
        let posted = decide::condition(node, "Ready").and_then(|c| c.last_heartbeat_time.as_ref()).map(|t| t.0);
        let now = self.clock.now();
        let mut seen = self.seen.lock();
        let entry = seen.entry(name).or_insert(((renewed, posted), now));
        if entry.0 != (renewed, posted) {
            *entry = ((renewed, posted), now);
        }
        entry.1
    }
}

impl Controller for NodeLifecycleController {
    type Input = Input;
    type Plan = Plan;
    const NAME: &'static str = "node-lifecycle";

    fn sources(&self, sources: &mut Sources) {
        sources
            .own(&self.nodes)
            .map(&self.leases, |lease| {
                let ours = lease.namespace().is_some_and(|n| n == LEASES);
                ours.then(|| ObjectKey::new("", lease.name_any())).into_iter().collect()
            })
            .map_if(
                &self.pods,
                |old, new| pods::node_name(old) != pods::node_name(new) || tolerations::of(old) != tolerations::of(new),
                |pod| {
                    Some(pods::node_name(pod))
                        .filter(|n| !n.is_empty())
                        .map(|n| ObjectKey::new("", n))
                        .into_iter()
                        .collect()
                },
            );
    }

    fn gather(&self, key: &ObjectKey) -> Option<Input> {
        let Some(node) = self.nodes.get(key) else {
            self.seen.lock().remove(&key.name);
            return None;
        };
        let alive = self.alive(&node);
        let pods = match decide::needs_pods(&node) {
            true => self.pods.select(|pod| pods::node_name(pod) == key.name && !pods::is_finished(pod)),
            false => Vec::new(),
        };
        let others = self.nodes.select(|other| other.metadata.name != node.metadata.name && decide::is_ready(other));
        Some(Input { node, alive, pods, others_ready: !others.is_empty() })
    }

    fn decide(&self, input: &Input, now: Timestamp) -> Plan {
        decide(input, now)
    }

    async fn apply(&self, key: &ObjectKey, input: Input, plan: Plan) -> Result<Next, kube::Error> {
        let api: Api<Node> = Api::all(self.client.clone());
        let mut node = input.node;
        if let Some(conditions) = plan.conditions {
            self.recorder.event(
                reference(&*node),
                EventType::Normal,
                "NodeNotReady",
                format!("Node {} status is now: NodeNotReady", key.name),
            );
            let mut changed = (*node).clone();
            changed.status.get_or_insert_default().conditions = Some(conditions);
            node = Arc::new(api.replace_status(&key.name, &PostParams::default(), &changed).await?);
        }
        if let Some(taints) = plan.taints {
            let patch = json!({
                "metadata": { "uid": node.uid(), "resourceVersion": node.resource_version() },
                "spec": { "taints": taints },
            });
            api.patch(&key.name, &PatchParams::default(), &Patch::Merge(patch)).await?;
        }
        for pod in &plan.not_ready {
            self.mark_not_ready(pod).await?;
        }
        for pod in &plan.evict {
            self.evict(pod).await?;
        }
        Ok(plan.next)
    }
}

impl NodeLifecycleController {
    async fn mark_not_ready(&self, pod: &Pod) -> Result<(), kube::Error> {
        self.set_condition(pod, "Ready", "False", "NodeNotReady", "").await
    }

    async fn set_condition(
        &self,
        pod: &Pod,
        type_: &str,
        status: &str,
        reason: &str,
        message: &str,
    ) -> Result<(), kube::Error> {
        let api: Api<Pod> = Api::namespaced(self.client.clone(), &pod.namespace().unwrap_or_default());
        let patch = json!({
            "metadata": { "uid": pod.uid() },
            "status": { "conditions": [{
                "type": type_,
                "status": status,
                "reason": reason,
                "message": message,
                "lastTransitionTime": Time(self.clock.now()),
            }]},
        });
        let patched = api.patch_status(&pod.name_any(), &PatchParams::default(), &Patch::Strategic(patch)).await;
        ignore_not_found(patched).map(|_| ())
    }

    async fn evict(&self, pod: &Pod) -> Result<(), kube::Error> {
        let message = "Taint manager: deleting due to NoExecute taint";
        self.set_condition(pod, "DisruptionTarget", "True", "DeletionByTaintManager", message).await?;
        let api: Api<Pod> = Api::namespaced(self.client.clone(), &pod.namespace().unwrap_or_default());
        let same = Preconditions { uid: pod.uid(), resource_version: None };
        let deleted = api.delete(&pod.name_any(), &DeleteParams::default().preconditions(same)).await;
        if ignore_not_found(deleted)?.is_some() {
            let message = format!("Marking for deletion Pod {}", ObjectKey::of(pod));
            self.recorder.event(reference(pod), EventType::Normal, "TaintManagerEviction", message);
        }
        Ok(())
    }
}

/// How long a node may be silent.
const GRACE: Duration = Duration::from_secs(40);
