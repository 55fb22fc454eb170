//! What controllers read from pods: whether they are active, ready, available, and which of them
//! go first when there are too many.

use std::{cmp::Ordering, collections::HashMap, sync::Arc, time::Duration};

use client::slim::Pod;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::PodCondition;

/// Neither finished nor being deleted.
pub fn is_active(pod: &Pod) -> bool {
    !is_finished(pod) && pod.metadata.deletion_timestamp.is_none()
}

/// Whether all containers ended for good.
pub fn is_finished(pod: &Pod) -> bool {
    matches!(phase(pod), "Succeeded" | "Failed")
}

/// `status.phase`.
pub fn phase(pod: &Pod) -> &str {
    pod.status.as_ref().and_then(|s| s.phase.as_deref()).unwrap_or_default()
}

/// `spec.nodeName`; empty if not assigned.
pub fn node_name(pod: &Pod) -> &str {
    pod.spec.as_ref().and_then(|s| s.node_name.as_deref()).unwrap_or_default()
}

/// A condition by its type.
pub fn condition<'a>(pod: &'a Pod, type_: &str) -> Option<&'a PodCondition> {
    pod.status.as_ref()?.conditions.as_ref()?.iter().find(|c| c.type_ == type_)
}

/// Whether the Ready condition is true.
pub fn is_ready(pod: &Pod) -> bool {
    condition(pod, "Ready").is_some_and(|c| c.status == "True")
}

/// Since when it is ready.
pub fn ready_since(pod: &Pod) -> Option<Timestamp> {
    let ready = condition(pod, "Ready").filter(|c| c.status == "True")?;
    Some(ready.last_transition_time.as_ref().map_or(Timestamp::UNIX_EPOCH, |t| t.0))
}

/// When the pod counts (or will count) as available, ready for `min_ready_seconds`.
pub fn available_at(pod: &Pod, min_ready_seconds: i32) -> Option<Timestamp> {
    let ready = ready_since(pod)?;
    let wait = Duration::from_secs(u64::try_from(min_ready_seconds).unwrap_or(0));
    Some(ready.saturating_add(wait).unwrap_or(Timestamp::MAX))
}

/// Whether it is ready for `min_ready_seconds`.
pub fn is_available(pod: &Pod, min_ready_seconds: i32, now: Timestamp) -> bool {
    available_at(pod, min_ready_seconds).is_some_and(|at| min_ready_seconds == 0 || at <= now)
}

fn restarts(pod: &Pod) -> i32 {
    let statuses = pod.status.iter().flat_map(|s| s.container_statuses.iter().flatten());
    statuses.map(|c| c.restart_count).max().unwrap_or(0)
}

fn deletion_cost(pod: &Pod) -> i32 {
    let annotations = pod.metadata.annotations.as_ref();
    annotations
        .and_then(|a| a.get("controller.kubernetes.io/pod-deletion-cost"))
        .and_then(|cost| cost.parse().ok())
        .unwrap_or(0)
}

/// Ages are compared by their order of magnitude, so that the choice among pods of about the same
/// age is spread.
fn magnitude(since: Option<Timestamp>, now: Timestamp) -> Option<u32> {
    let seconds = now.duration_since(since?).as_secs().max(0);
    Some(64 - u64::try_from(seconds).unwrap_or(0).leading_zeros())
}

/// Pods in the order in which a controller with too many of them deletes: those first whose loss
/// matters least. `on_node`: how many related pods there are on each node.
pub fn deletion_order(pods: &[Arc<Pod>], on_node: &HashMap<String, usize>, now: Timestamp) -> Vec<Arc<Pod>> {
    let mut pods = pods.to_vec();
    pods.sort_by(|a, b| compare_for_deletion(a, b, on_node, now));
    pods
}

fn compare_for_deletion(a: &Pod, b: &Pod, on_node: &HashMap<String, usize>, now: Timestamp) -> Ordering {
    let phase_rank = |pod: &Pod| match phase(pod) {
        "Pending" => 0,
        "Unknown" => 1,
        _ => 2,
    };
    let rank = |pod: &Pod| on_node.get(node_name(pod)).copied().unwrap_or(0);
    // Younger first; what has no time counts as youngest.
    let younger = |a: Option<Timestamp>, b: Option<Timestamp>| match (magnitude(a, now), magnitude(b, now)) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => Ordering::Less,
        (Some(_), None) => Ordering::Greater,
        (Some(a), Some(b)) => a.cmp(&b),
    };
    let created = |pod: &Pod| pod.metadata.creation_timestamp.as_ref().map(|t| t.0);
    (!node_name(a).is_empty())
        .cmp(&!node_name(b).is_empty())
        .then_with(|| phase_rank(a).cmp(&phase_rank(b)))
        .then_with(|| is_ready(a).cmp(&is_ready(b)))
        .then_with(|| deletion_cost(a).cmp(&deletion_cost(b)))
        .then_with(|| rank(b).cmp(&rank(a)))
        .then_with(|| younger(ready_since(a), ready_since(b)))
        .then_with(|| restarts(b).cmp(&restarts(a)))
        .then_with(|| younger(created(a), created(b)))
        .then_with(|| a.metadata.uid.cmp(&b.metadata.uid))
}
