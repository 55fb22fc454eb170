//! Devices: classes, claims and their templates, slices, taint rules.

use serde_json::{Value, json};

use super::{Strategy, tracked::keep_metadata};
use crate::{
    tree,
    validation::{FieldErrors, devices},
};

pub(crate) struct DeviceClasses;

impl Strategy for DeviceClasses {
    fn has_generation(&self) -> bool {
        true
    }

    fn validate_create(&self, class: &Value) -> FieldErrors {
        self.validate_update(class, &Value::Null)
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        devices::class(&mut errors, new, old);
        errors
    }
}

/// What pods ask for.
pub(crate) struct Claims;

impl Strategy for Claims {
    fn validate_create(&self, claim: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        devices::claim_spec(&mut errors, "spec", tree::at(claim, "spec"));
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        fixed_spec(new, old)
    }

    /// What is no longer allocated has no status.
    fn prepare_for_subresource(&self, _subresource: &str, new: &mut Value, old: &Value) {
        keep_metadata(new, old);
        let id = |device: &Value| json!(["driver", "pool", "device", "shareID"].map(|f| tree::at(device, f).clone()));
        let given = |claim: &Value| -> Vec<Value> {
            tree::items(claim, "status.allocation.devices.results").iter().map(id).collect()
        };
        let (had, has) = (given(old), given(new));
        if let Some(list) = new.pointer_mut("/status/devices").and_then(Value::as_array_mut) {
            list.retain(|device| !had.contains(&id(device)) || has.contains(&id(device)));
        }
    }

    fn validate_subresource(&self, _subresource: &str, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        devices::claim_status(&mut errors, new, old);
        errors
    }
}

fn fixed_spec(new: &Value, old: &Value) -> FieldErrors {
    let mut errors = FieldErrors::default();
    errors.fixed("spec", new, old);
    errors
}

pub(crate) struct ClaimTemplates;

impl Strategy for ClaimTemplates {
    fn validate_create(&self, template: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        devices::claim_template(&mut errors, template);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        fixed_spec(new, old)
    }
}

/// What drivers offer.
pub(crate) struct Slices;

impl Strategy for Slices {
    fn has_generation(&self) -> bool {
        true
    }

    fn validate_create(&self, slice: &Value) -> FieldErrors {
        self.validate_update(slice, &Value::Null)
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        devices::slice(&mut errors, new, old);
        errors
    }
}

pub(crate) struct TaintRules;

impl Strategy for TaintRules {
    fn has_generation(&self) -> bool {
        true
    }

    fn validate_create(&self, rule: &Value) -> FieldErrors {
        self.validate_update(rule, &Value::Null)
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        devices::taint_rule(&mut errors, new, old);
        errors
    }

    fn prepare_for_subresource(&self, _subresource: &str, new: &mut Value, old: &Value) {
        keep_metadata(new, old);
    }

    fn validate_subresource(&self, _subresource: &str, new: &Value, _old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        devices::taint_rule_status(&mut errors, new);
        errors
    }
}
