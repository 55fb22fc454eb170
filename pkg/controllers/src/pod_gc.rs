//! Pods that nobody else removes: of nodes that are gone, and finished ones beyond a number.

use std::{collections::HashMap, sync::Arc, time::Duration};

use client::{Controller, Informer, Next, ObjectKey, SharedClock, Sources, runtime::ignore_not_found, slim::Pod};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Node;
use kube::{
    Api, ResourceExt as _,
    api::{DeleteParams, Patch, PatchParams, Preconditions},
};
use parking_lot::Mutex;
use serde_json::json;

use crate::{Context, owners::is_deleting, pods};

/// Finished pods that are kept.
const FINISHED_LIMIT: usize = 12_500;
/// A node may be late to register: so long its pods are left alone.
const QUARANTINE: Duration = Duration::from_secs(40);

pub struct PodGcController {
    client: kube::Client,
    clock: SharedClock,
    pods: Informer<Pod>,
    nodes: Informer<Node>,
    /// Since when nodes are missing.
    missing: Mutex<HashMap<String, Timestamp>>,
}

pub struct Input {
    pub pod: Arc<Pod>,
    /// Since when its node is missing; `None` if it is there, or none is set.
    pub node_missing: Option<Timestamp>,
    /// Whether it is among the oldest finished ones beyond the limit.
    pub surplus: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    Nothing,
    /// Its node may yet come.
    Wait(Duration),
    /// Delete at once: nobody is there to end it.
    Delete {
        mark_failed: bool,
    },
}

impl PodGcController {
    pub fn new(context: &Context) -> Self {
        let informers = &context.config.informers;
        PodGcController {
            client: informers.client().clone(),
            clock: context.config.clock.clone(),
            pods: informers.get(),
            nodes: informers.get(),
            missing: Mutex::default(),
        }
    }

    fn is_surplus(&self, pod: &Pod) -> bool {
        if !pods::is_finished(pod) {
            return false;
        }
        let age = |pod: &Pod| (pod.metadata.creation_timestamp.as_ref().map(|t| t.0), pod.name_any());
        let finished = self.pods.select(pods::is_finished);
        let newer = finished.iter().filter(|other| age(other) > age(pod)).count();
        newer >= FINISHED_LIMIT
    }
}

impl Controller for PodGcController {
    type Input = Input;
    type Plan = Plan;
    const NAME: &'static str = "pod-garbage-collector";
    const WORKERS: usize = 1;

    fn sources(&self, sources: &mut Sources) {
        let on_node = self.pods.clone();
        sources
            .map_if(
                &self.pods,
                |old, new| {
                    let view = |pod: &Pod| (pods::node_name(pod).to_owned(), pods::is_finished(pod), is_deleting(pod));
                    view(old) != view(new)
                },
                |pod| vec![ObjectKey::of(pod)],
            )
            .map_if(
                &self.nodes,
                |_, _| false,
                move |node| {
                    let pods = on_node.select(|pod| pods::node_name(pod) == node.name_any());
                    pods.iter().map(|pod| ObjectKey::of(&**pod)).collect()
                },
            );
    }

    fn gather(&self, key: &ObjectKey) -> Option<Input> {
        let pod = self.pods.get(key)?;
        let name = pods::node_name(&pod);
        let mut missing = self.missing.lock();
        let node_missing = if name.is_empty() {
            None
        } else if self.nodes.get(&ObjectKey::new("", name)).is_some() {
            missing.remove(name);
            None
        } else {
            Some(*missing.entry(name.to_owned()).or_insert_with(|| self.clock.now()))
        };
        let surplus = self.is_surplus(&pod);
        Some(Input { pod, node_missing, surplus })
    }

    fn decide(&self, input: &Input, now: Timestamp) -> Plan {
        decide(input, now)
    }

    async fn apply(&self, key: &ObjectKey, input: Input, plan: Plan) -> Result<Next, kube::Error> {
        let mark_failed = match plan {
            Plan::Nothing => return Ok(Next::Done),
            Plan::Wait(time) => return Ok(Next::After(time)),
            Plan::Delete { mark_failed } => mark_failed,
        };
        let api: Api<Pod> = Api::namespaced(self.client.clone(), &key.namespace);
        if mark_failed {
            let patch = json!({
                "metadata": { "uid": input.pod.uid() },
                "status": {
                    "phase": "Failed",
                    "conditions": [{
                        "type": "DisruptionTarget",
                        "status": "True",
                        "reason": "DeletionByPodGC",
                        "message": "PodGC: node no longer exists",
                        "lastTransitionTime": self.clock.now(),
                    }],
                },
            });
            ignore_not_found(api.patch_status(&key.name, &PatchParams::default(), &Patch::Strategic(patch)).await)?;
        }
        let same = Preconditions { uid: input.pod.uid(), resource_version: None };
        let params = DeleteParams::default().grace_period(0).preconditions(same);
        ignore_not_found(api.delete(&key.name, &params).await)?;
        tracing::info!(pod = %key, "pod collected");
        Ok(Next::Done)
    }
}

fn decide(input: &Input, now: Timestamp) -> Plan {
    let pod = &*input.pod;
    if let Some(since) = input.node_missing {
        let waited = Duration::try_from(now.duration_since(since)).unwrap_or_default();
        return match QUARANTINE.checked_sub(waited) {
            Some(left) if !left.is_zero() => Plan::Wait(left),
            _ => Plan::Delete { mark_failed: !pods::is_finished(pod) },
        };
    }
    let unscheduled = pods::node_name(pod).is_empty();
    if unscheduled && is_deleting(pod) {
        return Plan::Delete { mark_failed: false };
    }
    if input.surplus && !is_deleting(pod) { Plan::Delete { mark_failed: false } } else { Plan::Nothing }
}

#[cfg(test)]
mod tests {
    use client::slim::{PodSpec, PodStatus};
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};

    use super::*;

    #[test]
    fn what_nobody_else_removes_is_removed() {
        let at = |seconds| Timestamp::from_second(seconds).expect("in range");
        let pod = |node: &str, phase: &str, deleting: bool| {
            Arc::new(Pod {
                metadata: ObjectMeta { deletion_timestamp: deleting.then_some(Time(at(0))), ..ObjectMeta::default() },
                spec: Some(PodSpec { node_name: Some(node.to_owned()), ..PodSpec::default() }),
                status: Some(PodStatus { phase: Some(phase.to_owned()), ..PodStatus::default() }),
            })
        };
        for (what, pod, missing, surplus, expected) in [
            ("healthy", pod("n", "Running", false), None, false, Plan::Nothing),
            ("node just gone", pod("n", "Running", false), Some(90), false, Plan::Wait(Duration::from_secs(30))),
            ("node gone for long", pod("n", "Running", false), Some(60), false, Plan::Delete { mark_failed: true }),
            (
                "finished on a gone node",
                pod("n", "Failed", false),
                Some(60),
                false,
                Plan::Delete { mark_failed: false },
            ),
            (
                "deleted before it had a node",
                pod("", "Pending", true),
                None,
                false,
                Plan::Delete { mark_failed: false },
            ),
            ("deleted, its kubelet ends it", pod("n", "Running", true), None, false, Plan::Nothing),
            ("one too many", pod("n", "Succeeded", false), None, true, Plan::Delete { mark_failed: false }),
        ] {
            let input = Input { pod, node_missing: missing.map(at), surplus };
            assert_eq!(decide(&input, at(100)), expected, "{what}");
        }
    }
}
