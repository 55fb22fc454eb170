//! APIServices: a group and version, and who serves it.

use serde_json::{Value, json};

use super::{Strategy, tracked::keep_metadata};
use crate::{
    tree,
    validation::{FieldErrors, NameRule, names, x509},
};

/// Ends of the ranges of priorities.
const GROUP_PRIORITY: i64 = 20_000;
const VERSION_PRIORITY: i64 = 1_000;

pub(crate) struct ApiServices;

impl Strategy for ApiServices {
    fn prepare_for_subresource(&self, _subresource: &str, new: &mut Value, old: &Value) {
        keep_metadata(new, old);
    }

    /// What this server serves itself is there from the start.
    fn prepare_for_create(&self, service: &mut Value) {
        if !tree::has(service, "spec.service") {
            let condition = json!({
                "type": "Available", "status": "True", "reason": "Local",
                "message": "Local APIServices are always available",
                "lastTransitionTime": tree::at(service, "metadata.creationTimestamp"),
            });
            tree::set(service, "status", json!({"conditions": [condition]}));
        }
    }

    fn validate(&self, service: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        let spec = tree::at(service, "spec");
        let (group, version) = (tree::text(spec, "group"), tree::text(spec, "version"));
        let (name, wanted) = (tree::text(service, "metadata.name"), format!("{version}.{group}"));
        if name != wanted && names::path_segment(name, false).is_empty() {
            let detail = format!("must be `spec.version+\".\"+spec.group`: {wanted:?}");
            errors.invalid("metadata.name", name, detail);
        }
        if group.is_empty() && version != "v1" {
            errors.required("spec.group", "only v1 may have an empty group and it better be legacy kube");
        }
        if !group.is_empty() {
            errors.each("spec.group", group, names::subdomain(group));
        }
        errors.each("spec.version", version, names::label_1035(version));
        for (field, limit) in [("groupPriorityMinimum", GROUP_PRIORITY), ("versionPriority", VERSION_PRIORITY)] {
            let value = tree::int(spec, field);
            if value <= 0 || value > limit {
                errors.invalid(format!("spec.{field}"), value, format!("must be positive and less than {limit}"));
            }
        }
        reached(&mut errors, spec);
        errors
    }

    fn validate_subresource(&self, _subresource: &str, new: &Value, _old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        for (index, condition) in tree::items(new, "status.conditions").iter().enumerate() {
            let status = tree::text(condition, "status");
            if !matches!(status, "True" | "False" | "Unknown") {
                let path = format!("status.conditions[{index}].status");
                errors.not_supported(path, status, &["False", "True", "Unknown"]);
            }
        }
        errors
    }

    fn name_rule(&self) -> NameRule {
        NameRule::PathSegment
    }
}

/// Checks how the server of a group is reached.
fn reached(errors: &mut FieldErrors, spec: &Value) {
    let (bundle, skips) = (tree::text(spec, "caBundle"), tree::flag(spec, "insecureSkipTLSVerify"));
    if !tree::has(spec, "service") {
        if !bundle.is_empty() {
            let size = x509::bytes(bundle).map_or(0, |bytes| bytes.len());
            errors.invalid("spec.caBundle", format!("{size} bytes"), "local APIServices may not have a caBundle");
        }
        if skips {
            let detail = "local APIServices may not have insecureSkipTLSVerify";
            errors.invalid("spec.insecureSkipTLSVerify", true, detail);
        }
        return;
    }
    for field in ["namespace", "name"] {
        if tree::text(tree::at(spec, "service"), field).is_empty() {
            errors.required(format!("spec.service.{field}"), "");
        }
    }
    if skips && !bundle.is_empty() {
        errors.invalid("spec.insecureSkipTLSVerify", true, "may not be true if caBundle is present");
    }
}
