//! Checks of labels and label selectors.
//!
//! Source: apimachinery `pkg/apis/meta/v1/validation`.

use serde_json::Value;

use super::{FieldErrors, names};
use crate::tree;

/// Checks a map of labels.
pub fn labels(errors: &mut FieldErrors, path: &str, labels: &Value) {
    for (key, value) in labels.as_object().into_iter().flatten() {
        errors.each(path, key.as_str(), names::qualified(key));
        let value = value.as_str().unwrap_or_default();
        errors.each(path, value, names::label_value(value));
    }
}

/// Checks that a requirement has values where its operator wants some, and else none.
pub fn operator_values(errors: &mut FieldErrors, path: &str, requirement: &Value) {
    let none = tree::items(requirement, "values").is_empty();
    match tree::text(requirement, "operator") {
        "In" | "NotIn" if none => {
            errors.required(format!("{path}.values"), "must be specified when `operator` is 'In' or 'NotIn'");
        }
        "Exists" | "DoesNotExist" if !none => {
            let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            errors.forbidden(format!("{path}.values"), detail);
        }
        _ => {}
    }
}

/// Checks a `LabelSelector`; null is fine.
pub fn selector(errors: &mut FieldErrors, path: &str, selector: &Value) {
    labels(errors, &format!("{path}.matchLabels"), tree::at(selector, "matchLabels"));
    for (index, requirement) in tree::items(selector, "matchExpressions").iter().enumerate() {
        let path = format!("{path}.matchExpressions[{index}]");
        let values = tree::items(requirement, "values");
        operator_values(errors, &path, requirement);
        match tree::text(requirement, "operator") {
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            other => errors.invalid(format!("{path}.operator"), other, "not a valid selector operator"),
        }
        let key = tree::text(requirement, "key");
        errors.each(format!("{path}.key"), key, names::qualified(key));
        for (index, value) in values.iter().enumerate() {
            let value = value.as_str().unwrap_or_default();
            errors.each(format!("{path}.values[{index}]"), value, names::label_value(value));
        }
    }
}

/// Whether a `LabelSelector` selects an object with these labels; null selects nothing.
pub fn selects(selector: &Value, labels: &Value) -> bool {
    let label = |key: &str| labels.get(key).and_then(Value::as_str);
    !selector.is_null()
        && tree::entries(selector, "matchLabels").all(|(key, value)| label(key) == value.as_str())
        && tree::items(selector, "matchExpressions").iter().all(|requirement| {
            let found = label(tree::text(requirement, "key"));
            let listed = || tree::texts(requirement, "values").any(|value| Some(value) == found);
            match tree::text(requirement, "operator") {
                "In" => listed(),
                "NotIn" => !listed(),
                "Exists" => found.is_some(),
                "DoesNotExist" => found.is_none(),
                _ => false,
            }
        })
}

/// Whether a `LabelSelector` has no requirement at all (null included).
pub fn is_empty(selector: &Value) -> bool {
    tree::items(selector, "matchExpressions").is_empty() && tree::entries(selector, "matchLabels").next().is_none()
}
