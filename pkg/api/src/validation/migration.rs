//! Storage version migrations.
//!
//! Source: upstream's `pkg/apis/storagemigration/validation`.

use serde_json::Value;

use super::{FieldErrors, IMMUTABLE, conditions, names};
use crate::tree;

/// Checks what is to be migrated.
pub fn spec(errors: &mut FieldErrors, object: &Value) {
    let (group, resource) = (tree::text(object, "spec.resource.group"), tree::text(object, "spec.resource.resource"));
    let mut joined = |path: &str, text: &str, faults: Vec<String>| {
        if !faults.is_empty() {
            errors.invalid(path, text, faults.join(","));
        }
    };
    if !resource.is_empty() {
        joined("spec.resource.resource", resource, names::label_1035(resource));
    }
    if !group.is_empty() {
        joined("spec.resource.group", group, names::subdomain(group));
    }
    if resource.is_empty() {
        errors.required("spec.resource.resource", "resource is required to be set");
    }
}

/// Checks how the status changes: a migration ends once.
pub fn status(errors: &mut FieldErrors, new: &Value, old: &Value) {
    const VERSION: &str = "status.resourceVersion";
    const CONDITIONS: &str = "status.conditions";
    let (now, before) = (tree::text(new, VERSION), tree::text(old, VERSION));
    if now.starts_with('0') || !now.bytes().all(|c| c.is_ascii_digit()) {
        errors.invalid(VERSION, now, format!("resource version is not well formed: {now}"));
    }
    let list = tree::items(new, CONDITIONS);
    conditions::conditions(errors, CONDITIONS, list);
    if !before.is_empty() && before != now {
        errors.invalid(VERSION, now, IMMUTABLE);
    }
    let holds = |object: &Value, kind: &str| {
        tree::items(object, CONDITIONS).iter().any(|c| c["type"] == kind && c["status"] == "True")
    };
    let mut refuse = |wrong: bool, detail: &str| {
        if wrong {
            errors.invalid(CONDITIONS, list.to_vec(), detail);
        }
    };
    let (done, failed) = (holds(new, "Succeeded"), holds(new, "Failed"));
    refuse(done && failed, "Both success and failed conditions cannot be true at the same time");
    refuse(holds(old, "Succeeded") && !done, "Success condition cannot be set to false once it is true");
    refuse(holds(old, "Failed") && !failed, "Failed condition cannot be set to false once it is true");
}
