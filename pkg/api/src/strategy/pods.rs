//! Pods: their first status, their quality of service, what may change, how they end.

use serde_json::{Value, json};

use super::{Strategy, gates::drop_disabled};
use crate::{
    quantity::Quantity,
    tree,
    validation::{
        FieldErrors,
        pod::{self, Part, pod_spec, pod_update},
    },
};

pub(crate) struct Pods;

impl Strategy for Pods {
    fn prepare_for_create(&self, pod: &mut Value) {
        drop_disabled(pod, "spec");
        select_by_own_labels(pod);
        if let Some(spec) = pod.get_mut("spec") {
            pod::default_resources(spec);
        }
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

    fn prepare_for_update(&self, new: &mut Value, old: &Value) {
        drop_disabled(new, "spec");
        if !tree::has(new, "spec.resources") && tree::has(old, "spec.resources") {
            tree::set(new, "spec.resources", tree::at(old, "spec.resources").clone());
        }
    }

    /// What a node leaves out of the status stays.
    fn prepare_for_subresource(&self, subresource: &str, new: &mut Value, old: &Value) {
        drop_disabled(new, "spec");
        if subresource != "status" {
            return;
        }
        let kept = ["qosClass", "resourceClaimStatuses", "extendedResourceClaimStatus", "observedGeneration"];
        for path in kept.map(|field| format!("status.{field}")) {
            let (now, before) = (tree::at(new, &path), tree::at(old, &path));
            if (now.is_null() || now == "" || now == 0) && !before.is_null() {
                tree::set(new, &path, before.clone());
            }
        }
        let mut before: Vec<_> = tree::items(old, "status.conditions").iter().collect();
        let conditions = new.pointer_mut("/status/conditions").and_then(Value::as_array_mut);
        for condition in conditions.into_iter().flatten() {
            let Some(at) = before.iter().position(|old| old["type"] == condition["type"]) else { continue };
            let generation = tree::int(before.remove(at), "observedGeneration");
            if tree::int(condition, "observedGeneration") == 0 && generation != 0 {
                tree::set(condition, "observedGeneration", generation);
            }
        }
    }

    fn validate_subresource(&self, subresource: &str, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        match subresource {
            "status" => pod::status(&mut errors, new, old),
            "ephemeralcontainers" => pod::ephemeral_update(&mut errors, new, old),
            "resize" => pod::resize(&mut errors, new, old, qos_class),
            _ => {}
        }
        errors
    }

    fn validate(&self, pod: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        const NOTES: &str = "metadata.annotations";
        pod::known_annotations(&mut errors, NOTES, tree::at(pod, NOTES), tree::at(pod, "spec"));
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

/// `matchLabelKeys` and `mismatchLabelKeys` become requirements, with the pod's own labels.
fn select_by_own_labels(pod: &mut Value) {
    let labels = tree::at(pod, "metadata.labels").clone();
    let extend = |of: &mut Value| {
        if of.get("labelSelector").is_none_or(Value::is_null) {
            return;
        }
        let mut added = Vec::new();
        for (field, operator) in [("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")] {
            for key in tree::texts(of, field) {
                if let Some(value) = labels.get(key) {
                    added.push(json!({"key": key, "operator": operator, "values": [value]}));
                }
            }
        }
        if !added.is_empty() {
            let mut requirements = tree::items(of, "labelSelector.matchExpressions").to_vec();
            requirements.extend(added);
            tree::set(of, "labelSelector.matchExpressions", requirements);
        }
    };
    let list = |pod: &mut Value, pointer: &str, each: &dyn Fn(&mut Value)| {
        pod.pointer_mut(pointer).and_then(Value::as_array_mut).into_iter().flatten().for_each(each);
    };
    for kind in ["podAffinity", "podAntiAffinity"] {
        let of = format!("/spec/affinity/{kind}");
        list(pod, &format!("{of}/requiredDuringSchedulingIgnoredDuringExecution"), &extend);
        list(pod, &format!("{of}/preferredDuringSchedulingIgnoredDuringExecution"), &|term| {
            term.get_mut("podAffinityTerm").into_iter().for_each(extend);
        });
    }
    list(pod, "/spec/topologySpreadConstraints", &extend);
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
