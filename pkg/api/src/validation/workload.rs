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
    labels::labels(errors, &format!("{path}.metadata.labels"), tree::at(template, "metadata.labels"));
    annotations(errors, &format!("{path}.metadata.annotations"), tree::at(template, "metadata.annotations"));
    pod::pod_spec(errors, &format!("{path}.spec"), tree::at(template, "spec"), Part::Template);
}

/// Checks `spec.selector` and `spec.template` of a workload whose pods run for ever. `noun` stands
/// in messages about the selector, `kind` in those about the template.
pub fn selector_and_template(errors: &mut FieldErrors, object: &Value, noun: &str, kind: &str) {
    let selector = tree::at(object, "spec.selector");
    if selector.is_null() {
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
    template(errors, "spec.template", tree::at(object, "spec.template"));
    let policy = tree::text(object, "spec.template.spec.restartPolicy");
    if policy != "Always" {
        errors.not_supported("spec.template.spec.restartPolicy", policy, &["Always"]);
    }
    if tree::has(object, "spec.template.spec.activeDeadlineSeconds") {
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
