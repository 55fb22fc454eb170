//! What becomes of a node and of its pods.

use client::tolerations::{self, tolerates};

use super::*;

/// What is to be written; empty where all is as it should be.
#[derive(Debug, Default, PartialEq)]
pub struct Plan {
    /// All conditions of the node.
    pub conditions: Option<Vec<NodeCondition>>,
    /// All taints of the node.
    pub taints: Option<Vec<Taint>>,
    /// Pods that nobody says are ready any more.
    pub not_ready: Vec<Arc<Pod>>,
    /// Pods that have to leave.
    pub evict: Vec<Arc<Pod>>,
    pub next: Next,
}

const NOT_READY: &str = "node.kubernetes.io/not-ready";
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
/// Conditions whose being true taints with NoSchedule.
const PRESSURE: &[(&str, &str)] = &[
    ("MemoryPressure", "node.kubernetes.io/memory-pressure"),
    ("DiskPressure", "node.kubernetes.io/disk-pressure"),
    ("PIDPressure", "node.kubernetes.io/pid-pressure"),
    ("NetworkUnavailable", "node.kubernetes.io/network-unavailable"),
];
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";
/// Conditions that a silent kubelet answers for no more.
const KUBELETS: &[&str] = &["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];

pub fn condition<'a>(node: &'a Node, type_: &str) -> Option<&'a NodeCondition> {
    node.status.as_ref()?.conditions.as_ref()?.iter().find(|c| c.type_ == type_)
}

pub fn is_ready(node: &Node) -> bool {
    condition(node, "Ready").is_some_and(|c| c.status == "True")
}

pub fn taints(node: &Node) -> &[Taint] {
    node.spec.as_ref().and_then(|s| s.taints.as_deref()).unwrap_or_default()
}

/// Whether the pods of the node matter for the decision.
pub fn needs_pods(node: &Node) -> bool {
    !is_ready(node) || taints(node).iter().any(|t| t.effect == "NoExecute")
}

/// See the module above.
pub fn decide(input: &Input, now: Timestamp) -> Plan {
    let node = &*input.node;
    if node.metadata.deletion_timestamp.is_some() {
        return Plan::default();
    }
    let mut plan = Plan::default();
    let silent_at = input.alive.saturating_add(GRACE).unwrap_or(Timestamp::MAX);
    let mut looked_at = node.clone();
    if now >= silent_at {
        let before = node.status.as_ref().and_then(|s| s.conditions.clone()).unwrap_or_default();
        let conditions = silence(&before, now);
        if conditions != before {
            looked_at.status.get_or_insert_default().conditions = Some(conditions.clone());
            plan.conditions = Some(conditions);
        }
    }
    let unknown = condition(&looked_at, "Ready").is_some_and(|c| c.status == "Unknown");
    if unknown {
        plan.not_ready = input.pods.iter().filter(|pod| pods::is_ready(pod)).cloned().collect();
    }
    let wanted = wanted_taints(&looked_at, input.others_ready, now);
    if wanted != taints(node) {
        plan.taints = Some(wanted.clone());
    }
    let mut at = (now < silent_at).then_some(silent_at);
    for pod in input.pods.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none()) {
        match leaves_at(pod, &wanted) {
            Some(when) if when <= now => plan.evict.push(pod.clone()),
            Some(when) => at = Some(at.map_or(when, |at| at.min(when))),
            None => {}
        }
    }
    plan.next = Next::at(at, now);
    plan
}

/// The conditions of a node that is silent.
fn silence(before: &[NodeCondition], now: Timestamp) -> Vec<NodeCondition> {
    let mut conditions = before.to_vec();
    for type_ in KUBELETS {
        let unknown = |reason: &str, message: &str| NodeCondition {
            type_: (*type_).to_owned(),
            status: "Unknown".to_owned(),
            reason: Some(reason.to_owned()),
            message: Some(message.to_owned()),
            last_heartbeat_time: Some(Time(now)),
            last_transition_time: Some(Time(now)),
        };
        match conditions.iter_mut().find(|c| c.type_ == *type_) {
            Some(condition) if condition.status != "Unknown" => {
                let heartbeat = condition.last_heartbeat_time.take();
                *condition = unknown("NodeStatusUnknown", "Kubelet stopped posting node status.");
                condition.last_heartbeat_time = heartbeat;
            }
            Some(_) => {}
            None => conditions.push(unknown("NodeStatusNeverUpdated", "Kubelet never posted node status.")),
        }
    }
    conditions
}

/// All taints that the node should have: those of others, and those that follow its conditions.
fn wanted_taints(node: &Node, others_ready: bool, now: Timestamp) -> Vec<Taint> {
    let ready = condition(node, "Ready").map(|c| c.status.as_str());
    let spec = node.spec.clone().unwrap_or_default();
    let is_true = |type_| condition(node, type_).is_some_and(|c| c.status == "True");
    let mut wanted = Vec::new();
    let health = match ready {
        Some("True") => None,
        // One that never said anything is not lost yet.
        Some("False") | None => Some(NOT_READY),
        Some(_) => Some(UNREACHABLE),
    };
    if let Some(key) = health {
        wanted.push((key, "NoSchedule"));
        if others_ready && ready.is_some() {
            wanted.push((key, "NoExecute"));
        }
    }
    wanted.extend(PRESSURE.iter().filter(|(type_, _)| is_true(type_)).map(|(_, key)| (*key, "NoSchedule")));
    if spec.unschedulable == Some(true) {
        wanted.push((UNSCHEDULABLE, "NoSchedule"));
    }
    let ours = |taint: &Taint| {
        let key = taint.key.as_str();
        let pressure = PRESSURE.iter().any(|(_, k)| *k == key) || key == UNSCHEDULABLE;
        (key == NOT_READY || key == UNREACHABLE) && taint.effect != "PreferNoSchedule"
            || pressure && taint.effect == "NoSchedule"
    };
    let is_wanted = |taint: &Taint| wanted.iter().any(|(key, effect)| taint.key == *key && taint.effect == *effect);
    let mut taints = spec.taints.unwrap_or_default();
    taints.retain(|taint| !ours(taint) || is_wanted(taint));
    for (key, effect) in &wanted {
        if !taints.iter().any(|t| t.key == *key && t.effect == *effect) {
            taints.push(Taint {
                key: (*key).to_owned(),
                effect: (*effect).to_owned(),
                value: None,
                time_added: Some(Time(now)),
            });
        }
    }
    taints
}

/// When the pod has to leave; `None`: it may stay.
fn leaves_at(pod: &Pod, taints: &[Taint]) -> Option<Timestamp> {
    let mut leaves: Option<Timestamp> = None;
    for taint in taints.iter().filter(|t| t.effect == "NoExecute") {
        let since = taint.time_added.as_ref().map_or(Timestamp::UNIX_EPOCH, |t| t.0);
        let tolerating: Vec<_> = tolerations::of(pod).iter().filter(|t| tolerates(t, taint)).collect();
        let at = if tolerating.is_empty() {
            Some(since)
        } else {
            // The shortest that is limited counts; unlimited ones alone let it stay.
            let shortest = tolerating.iter().filter_map(|t| t.toleration_seconds).min();
            shortest.map(|seconds| {
                let wait = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
                since.saturating_add(wait).unwrap_or(Timestamp::MAX)
            })
        };
        if let Some(at) = at {
            leaves = Some(leaves.map_or(at, |l| l.min(at)));
        }
    }
    leaves
}
