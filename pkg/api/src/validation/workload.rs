//! Checks that workloads share: selector, template, counts.
//!
//! Source: `pkg/apis/apps/validation`, `pkg/apis/batch/validation`.

use serde_json::Value;

use super::{
    FieldErrors, annotations, labels, names,
    pod::{self, Part},
    resources::{NEGATIVE, not_negative},
};
use crate::tree;

/// Checks the pod template at `path`.
pub fn template(errors: &mut FieldErrors, path: &str, template: &Value) {
    // Upstream reports them without `metadata`.
    labels::labels(errors, &format!("{path}.labels"), tree::at(template, "metadata.labels"));
    annotations(errors, &format!("{path}.annotations"), tree::at(template, "metadata.annotations"));
    let spec = tree::at(template, "spec");
    pod::known_annotations(errors, &format!("{path}.annotations"), tree::at(template, "metadata.annotations"), spec);
    pod::pod_spec(errors, &format!("{path}.spec"), tree::at(template, "spec"), Part::Template);
}

/// Checks `spec.selector` and `spec.template` of a workload whose pods run for ever. `noun` stands
/// in messages about the selector, `kind` in those about the template.
pub fn selector_and_template(errors: &mut FieldErrors, object: &Value, noun: &str, kind: &str) {
    let selector = tree::at(object, "spec.selector");
    if selector.is_null() && noun == "daemonset" {
        let shown = tree::at(object, "spec.template.metadata.labels").clone();
        errors.invalid("spec.template.metadata.labels", shown, "`selector` does not match template `labels`");
    } else if selector.is_null() {
        errors.required("spec.selector", "");
    } else {
        labels::selector(errors, "spec.selector", selector);
        if labels::is_empty(selector) {
            let detail = format!("empty selector is invalid for {noun}");
            errors.invalid("spec.selector", selector.clone(), detail);
        }
    }
    let template_labels = tree::at(object, "spec.template.metadata.labels");
    if !labels::is_empty(selector) && !labels::selects(selector, template_labels) {
        let detail = "`selector` does not match template `labels`";
        errors.invalid("spec.template.metadata.labels", template_labels.clone(), detail);
    }
    endless_template(errors, tree::at(object, "spec.template"), kind);
}

/// Checks `spec.template` of a workload whose pods run for ever.
pub fn endless_template(errors: &mut FieldErrors, of: &Value, kind: &str) {
    template(errors, "spec.template", of);
    let policy = tree::text(of, "spec.restartPolicy");
    if policy != "Always" {
        errors.not_supported("spec.template.spec.restartPolicy", policy, &["Always"]);
    }
    if tree::has(of, "spec.activeDeadlineSeconds") {
        let detail = format!("activeDeadlineSeconds in {kind} is not Supported");
        errors.forbidden("spec.template.spec.activeDeadlineSeconds", detail);
    }
}

/// Checks a Deployment.
pub fn deployment(errors: &mut FieldErrors, deployment: &Value) {
    let spec = tree::at(deployment, "spec");
    not_negative(errors, spec, "spec", "replicas");
    selector_and_template(errors, deployment, "deployment", "ReplicaSet");
    let rolling = tree::at(spec, "strategy.rollingUpdate");
    match tree::text(spec, "strategy.type") {
        "Recreate" if !rolling.is_null() => {
            let detail = "may not be specified when strategy `type` is 'Recreate'";
            errors.forbidden("spec.strategy.rollingUpdate", detail);
        }
        "Recreate" => {}
        "RollingUpdate" if rolling.is_null() => {
            errors.required("spec.strategy.rollingUpdate", "this should be defaulted and never be nil");
        }
        "RollingUpdate" => rolling_update(errors, "spec.strategy.rollingUpdate", rolling),
        _ => {
            let strategy = tree::at(spec, "strategy").clone();
            errors.not_supported("spec.strategy", strategy, &["Recreate", "RollingUpdate"]);
        }
    }
    for field in ["minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"] {
        not_negative(errors, spec, "spec", field);
    }
    let deadline = tree::at(spec, "progressDeadlineSeconds").as_i64();
    if let Some(deadline) = deadline.filter(|deadline| *deadline <= tree::int(spec, "minReadySeconds")) {
        errors.invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds");
    }
}

/// Checks a ReplicaSet.
pub fn replica_set(errors: &mut FieldErrors, replica_set: &Value) {
    let spec = tree::at(replica_set, "spec");
    not_negative(errors, spec, "spec", "replicas");
    not_negative(errors, spec, "spec", "minReadySeconds");
    selector_and_template(errors, replica_set, "deployment", "ReplicaSet");
}

/// Numbers in the status of a workload, of which none may be negative.
const COUNTS: [&str; 17] = [
    "observedGeneration",
    "replicas",
    "fullyLabeledReplicas",
    "currentReplicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
    "terminatingReplicas",
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
    "collisionCount",
];

/// Checks the status of a workload. `ready` is the name that messages have for the ready replicas.
pub fn status(errors: &mut FieldErrors, new: &Value, old: &Value, ready: &str) {
    let status = tree::at(new, "status");
    for field in COUNTS {
        not_negative(errors, status, "status", field);
    }
    let of = |field: &str| tree::int(status, field);
    let parts = ["fullyLabeledReplicas", "currentReplicas", "updatedReplicas", "readyReplicas", "availableReplicas"];
    for field in parts.into_iter().filter(|field| tree::has(status, field) && of(field) > of("replicas")) {
        errors.invalid(format!("status.{field}"), of(field), "cannot be greater than status.replicas");
    }
    if of("availableReplicas") > of("readyReplicas") {
        let detail = format!("cannot be greater than {ready}");
        errors.invalid("status.availableReplicas", of("availableReplicas"), detail);
    }
    let collisions = of("collisionCount");
    if collisions < tree::int(old, "status.collisionCount") {
        errors.invalid("status.collisionCount", collisions, "cannot be decremented");
    }
}

/// Checks `rollingUpdate` of a DaemonSet: one of the two numbers is zero, the other is not.
pub fn daemon_set_update(errors: &mut FieldErrors, path: &str, rolling: &Value) {
    if rolling.is_null() {
        return errors.required(path, "");
    }
    let fields = ["maxUnavailable", "maxSurge"];
    for check in [count_or_percent, at_most_all] {
        for field in fields {
            check(errors, &format!("{path}.{field}"), tree::at(rolling, field));
        }
    }
    match fields.map(|field| is_zero(tree::at(rolling, field))) {
        [false, false] => {
            let detail = "may not be set when maxUnavailable is non-zero";
            errors.invalid(format!("{path}.maxSurge"), tree::at(rolling, "maxSurge").clone(), detail);
        }
        [true, true] => errors.required(format!("{path}.maxUnavailable"), "cannot be 0 when maxSurge is 0"),
        _ => {}
    }
}

/// Refuses changes of these fields.
pub fn immutable<S: AsRef<str>>(errors: &mut FieldErrors, new: &Value, old: &Value, fields: &[S]) {
    for field in fields {
        errors.fixed(field.as_ref(), new, old);
    }
}

/// `maxUnavailable` and `maxSurge`, of which at least one lets the update go on.
pub fn rolling_update(errors: &mut FieldErrors, path: &str, rolling: &Value) {
    let (unavailable, surge) = (tree::at(rolling, "maxUnavailable"), tree::at(rolling, "maxSurge"));
    count_or_percent(errors, &format!("{path}.maxUnavailable"), unavailable);
    count_or_percent(errors, &format!("{path}.maxSurge"), surge);
    let path = format!("{path}.maxUnavailable");
    if is_zero(unavailable) && is_zero(surge) {
        errors.invalid(path.clone(), unavailable.clone(), "may not be 0 when `maxSurge` is 0");
    }
    at_most_all(errors, &path, unavailable);
}

/// A count or a percentage; null is fine.
pub fn count_or_percent(errors: &mut FieldErrors, path: &str, value: &Value) {
    match value {
        Value::String(text) => errors.each(path, text.as_str(), names::percent(text)),
        Value::Number(number) if number.as_i64().is_some_and(|number| number < 0) => {
            errors.invalid(path, value.clone(), NEGATIVE);
        }
        _ => {}
    }
}

/// Refuses more than 100 %.
pub fn at_most_all(errors: &mut FieldErrors, path: &str, value: &Value) {
    if percent(value).is_some_and(|percent| percent > 100) {
        errors.invalid(path, value.clone(), "must not be greater than 100%");
    }
}

fn percent(value: &Value) -> Option<i64> {
    value.as_str()?.strip_suffix('%')?.parse().ok()
}

/// Whether a count or a percentage is zero, or absent.
pub fn is_zero(value: &Value) -> bool {
    match value {
        Value::String(_) => percent(value).unwrap_or(0) == 0,
        other => other.as_i64().unwrap_or(0) == 0,
    }
}
