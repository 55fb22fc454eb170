//! Access reviews.
//!
//! Source: upstream's `pkg/apis/authorization/validation`.

use serde_json::Value;

use super::{FieldErrors, labels, names};
use crate::tree;

/// Which of the reviews.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Review {
    /// Of anybody, in one namespace.
    Local,
    /// Of whoever asks.
    Own,
    /// Of anybody.
    Subject,
}

/// Checks a review.
pub fn review(errors: &mut FieldErrors, review: &Value, sort: Review) {
    let spec = tree::at(review, "spec");
    let (resource, other) = (tree::at(spec, "resourceAttributes"), tree::at(spec, "nonResourceAttributes"));
    if resource.is_null() == other.is_null() {
        let detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
        errors.invalid("spec", other.clone(), detail);
    }
    if sort != Review::Own && tree::text(spec, "user").is_empty() && tree::items(spec, "groups").is_empty() {
        errors.invalid("spec.user", "", "at least one of user or group must be specified");
    }
    for (field, label) in [("fieldSelector", false), ("labelSelector", true)] {
        selector(errors, &format!("spec.resourceAttributes.{field}"), tree::at(resource, field), label);
    }
    let local = sort == Review::Local;
    let mut metadata = tree::at(review, "metadata").clone();
    for field in ["managedFields", if local { "namespace" } else { "managedFields" }] {
        tree::remove(&mut metadata, field);
    }
    if !tree::equal(&metadata, &Value::Null) {
        let detail = if local { "must be empty except for namespace" } else { "must be empty" };
        errors.invalid("metadata", metadata, detail);
    }
    if local && !resource.is_null() {
        let namespace = tree::text(resource, "namespace");
        if namespace != tree::text(review, "metadata.namespace") {
            errors.invalid("spec.resourceAttributes.namespace", namespace, "must match metadata.namespace");
        }
    }
    if local && !other.is_null() {
        errors.invalid("spec.nonResourceAttributes", other.clone(), "disallowed on this kind of request");
    }
}

/// Operators that are not known are let be: newer clients may know them.
fn selector(errors: &mut FieldErrors, path: &str, selector: &Value, label: bool) {
    if selector.is_null() {
        return;
    }
    let (raw, requirements) = (tree::text(selector, "rawSelector"), tree::items(selector, "requirements"));
    if !raw.is_empty() && !requirements.is_empty() {
        errors.invalid(format!("{path}.rawSelector"), raw, "may not specified at the same time as requirements");
    }
    if raw.is_empty() && requirements.is_empty() {
        let detail = format!("when {path} is specified, requirements or rawSelector is required");
        errors.required(format!("{path}.requirements"), detail);
    }
    for (index, requirement) in requirements.iter().enumerate() {
        let path = format!("{path}.requirements[{index}]");
        let key = tree::text(requirement, "key");
        if key.is_empty() && !label {
            errors.required(format!("{path}.key"), "must be specified");
        }
        labels::operator_values(errors, &path, requirement);
        if label {
            errors.each(format!("{path}.key"), key, names::qualified(key));
            for (index, value) in tree::texts(requirement, "values").enumerate() {
                errors.each(format!("{path}.values[{index}]"), value, names::label_value(value));
            }
        }
    }
}
