//! Pods: their first status, their quality of service, what may change, how they end.

use serde_json::{Value, json};

use super::Strategy;
use crate::{
    quantity::Quantity,
    tree,
    validation::{
        FieldErrors,
        pod::{Part, pod_spec, pod_update},
    },
};

pub(crate) struct Pods;

impl Strategy for Pods {
    fn prepare_for_create(&self, pod: &mut Value) {
        let mut status = json!({"phase": "Pending", "qosClass": qos_class(pod)});
        if !tree::items(pod, "spec.schedulingGates").is_empty() {
            status["conditions"] = json!([{
                "type": "PodScheduled",
                "status": "False",
                "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates",
            }]);
        }
        tree::set(pod, "status", status);
    }

    fn validate(&self, pod: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        let name = tree::text(pod, "metadata.name");
        pod_spec(&mut errors, "spec", tree::at(pod, "spec"), Part::Pod(name));
        errors
    }

    fn validate_create(&self, pod: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        if !tree::items(pod, "spec.ephemeralContainers").is_empty() {
            errors.forbidden("spec.ephemeralContainers", "cannot be set on create");
        }
        let gated = !tree::items(pod, "spec.schedulingGates").is_empty();
        if gated && !tree::text(pod, "spec.nodeName").is_empty() {
            errors.forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared");
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        pod_update(&mut errors, new, old);
        errors
    }

    fn has_generation(&self) -> bool {
        true
    }

    fn grace_seconds(&self, pod: &Value, requested: Option<i64>) -> Option<i64> {
        let ended = matches!(tree::text(pod, "status.phase"), "Failed" | "Succeeded");
        if ended || tree::text(pod, "spec.nodeName").is_empty() {
            return Some(0);
        }
        let own = || tree::int(pod, "spec.terminationGracePeriodSeconds");
        match requested.unwrap_or_else(own) {
            seconds if seconds < 0 => Some(1),
            seconds => Some(seconds),
        }
    }
}

/// `Guaranteed`, `Burstable` or `BestEffort`, from the requests and limits of CPU and memory.
pub fn qos_class(pod: &Value) -> &'static str {
    let whole = tree::at(pod, "spec.resources");
    if ["requests", "limits"].iter().any(|part| tree::entries(whole, part).next().is_some()) {
        return class_of(whole);
    }
    let containers = || ["spec.initContainers", "spec.containers"].into_iter().flat_map(|p| tree::items(pod, p));
    let mut classes = containers().map(|container| class_of(tree::at(container, "resources")));
    let Some(first) = classes.next() else { return "BestEffort" };
    if classes.all(|class| class == first) { first } else { "Burstable" }
}

fn class_of(resources: &Value) -> &'static str {
    let amount = |part: &str, resource: &str| {
        let value = tree::at(resources, part).get(resource).unwrap_or(&Value::Null);
        Quantity::from_value(value).unwrap_or_default()
    };
    if ["requests", "limits"].iter().all(|part| tree::entries(resources, part).next().is_none()) {
        return "BestEffort";
    }
    let class = |resource: &str| match (amount("requests", resource), amount("limits", resource)) {
        (request, limit) if request != limit => "Burstable",
        (request, _) if request.is_zero() => "BestEffort",
        _ => "Guaranteed",
    };
    match (class("cpu"), class("memory")) {
        (cpu, memory) if cpu == memory => cpu,
        _ => "Burstable",
    }
}
