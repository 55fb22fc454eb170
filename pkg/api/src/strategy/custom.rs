//! CustomResourceDefinitions, and the kinds that they define.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Strategy;
use crate::{
    crd::{Custom, begin_to_end, definition},
    kinds::ScalePaths,
    tree,
    validation::FieldErrors,
};

pub(crate) struct CustomResourceDefinitions;

impl Strategy for CustomResourceDefinitions {
    fn default(&self, crd: &mut Value) {
        definition::default(crd);
    }

    fn prepare_for_create(&self, crd: &mut Value) {
        let storage = definition::storage_version(crd).map(str::to_owned);
        crd["status"] = json!({
            "acceptedNames": {"kind": "", "plural": ""},
            "conditions": [],
            "storedVersions": Vec::from_iter(storage),
        });
    }

    fn prepare_for_update(&self, new: &mut Value, old: &Value) {
        let Some(storage) = definition::storage_version(new).map(str::to_owned) else { return };
        if definition::storage_version(old) == Some(&storage) {
            return;
        }
        let mut versions: Vec<_> = tree::items(new, "status.storedVersions").to_vec();
        if !versions.iter().any(|version| *version == storage) {
            versions.push(storage.into());
            tree::set(new, "status.storedVersions", versions);
        }
    }

    fn prepare_for_deletion(&self, crd: &mut Value, now: &str) {
        begin_to_end(crd, now);
    }

    fn validate_create(&self, crd: &Value) -> FieldErrors {
        definition::validate(crd)
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        definition::validate_update(new, old)
    }

    fn validate_subresource(&self, _subresource: &str, new: &Value, _old: &Value) -> FieldErrors {
        definition::validate_status(new)
    }

    fn has_generation(&self) -> bool {
        true
    }
}

/// A version of a kind that a CustomResourceDefinition defines.
pub(crate) struct CustomResources {
    pub custom: Option<Arc<Custom>>,
    pub scale: Option<ScalePaths>,
}

impl Strategy for CustomResources {
    fn validate_create(&self, object: &Value) -> FieldErrors {
        let mut errors = self.custom.as_ref().map(|custom| custom.validate(object)).unwrap_or_default();
        self.scale_spec(&mut errors, object);
        self.scale_status(&mut errors, object);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = self.custom.as_ref().map(|custom| custom.validate_update(new, old)).unwrap_or_default();
        self.scale_spec(&mut errors, new);
        self.scale_status(&mut errors, new);
        errors
    }

    fn validate_subresource(&self, _subresource: &str, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = self.custom.as_ref().map(|custom| custom.validate_status(new, old)).unwrap_or_default();
        self.scale_status(&mut errors, new);
        errors
    }

    fn has_generation(&self) -> bool {
        true
    }

    /// The status counts where it is no subresource: where it is, the main resource cannot change it.
    fn generation_moves(&self, new: &Value, old: &Value) -> bool {
        content(new).ne(content(old))
    }
}

impl CustomResources {
    fn scale_spec(&self, errors: &mut FieldErrors, object: &Value) {
        if let Some(scale) = &self.scale {
            count(errors, object, &scale.spec);
        }
    }

    fn scale_status(&self, errors: &mut FieldErrors, object: &Value) {
        let Some(scale) = &self.scale else { return };
        count(errors, object, &scale.status);
        let selector = tree::at(object, &scale.selector);
        if !scale.selector.is_empty() && !selector.is_null() && !selector.is_string() {
            let detail = accessor_fault(&scale.selector, selector, "string");
            errors.invalid(format!(".{}", &*scale.selector), "", detail);
        }
    }
}

/// All fields but metadata.
fn content(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
    object.as_object().into_iter().flatten().filter(|(key, _)| *key != "metadata")
}

/// Checks a number of replicas.
fn count(errors: &mut FieldErrors, object: &Value, path: &str) {
    let value = tree::at(object, path);
    let shown = format!(".{path}");
    match value.as_i64() {
        None if value.is_null() => {}
        None => errors.invalid(shown, 0, accessor_fault(path, value, "int64")),
        Some(count) if count < 0 => errors.invalid(shown, count, "should be a non-negative integer"),
        Some(count) if count > i64::from(i32::MAX) => {
            errors.invalid(shown, count, format!("should be less than or equal to {}", i32::MAX));
        }
        Some(_) => {}
    }
}

/// What upstream says of a field of the wrong type.
fn accessor_fault(path: &str, value: &Value, wanted: &str) -> String {
    let (found, shown) = match value {
        Value::String(text) => ("string", text.clone()),
        Value::Bool(_) => ("bool", value.to_string()),
        Value::Number(_) => ("float64", value.to_string()),
        Value::Array(_) => ("[]interface {}", value.to_string()),
        _ => ("map[string]interface {}", value.to_string()),
    };
    format!(".{path} accessor error: {shown} is of the type {found}, expected {wanted}")
}
