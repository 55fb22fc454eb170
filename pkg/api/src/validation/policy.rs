//! Checks of PodDisruptionBudgets.
//!
//! Source: `pkg/apis/policy/validation`.

use serde_json::Value;

use super::{FieldErrors, conditions::conditions, labels, resources::not_negative, workload};
use crate::tree;

/// Checks `spec`.
pub fn budget(errors: &mut FieldErrors, budget: &Value) {
    let spec = tree::at(budget, "spec");
    let fields = ["minAvailable", "maxUnavailable"];
    if fields.iter().all(|field| tree::has(spec, field)) {
        errors.invalid("spec", spec.clone(), "minAvailable and maxUnavailable cannot be both set");
    }
    for field in fields {
        let (path, value) = (format!("spec.{field}"), tree::at(spec, field));
        workload::count_or_percent(errors, &path, value);
        workload::at_most_all(errors, &path, value);
    }
    labels::selector(errors, "spec.selector", tree::at(spec, "selector"));
    if let Some(policy) = tree::at(spec, "unhealthyPodEvictionPolicy").as_str()
        && !matches!(policy, "AlwaysAllow" | "IfHealthyBudget")
    {
        errors.not_supported("spec.unhealthyPodEvictionPolicy", policy, &["AlwaysAllow", "IfHealthyBudget"]);
    }
}

/// Checks `status`.
pub fn budget_status(errors: &mut FieldErrors, budget: &Value) {
    let status = tree::at(budget, "status");
    conditions(errors, "status.conditions", tree::items(status, "conditions"));
    for field in ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"] {
        not_negative(errors, status, "status", field);
    }
}
