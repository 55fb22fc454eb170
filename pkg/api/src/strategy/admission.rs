//! Webhooks, admission policies and their bindings.

use serde_json::Value;

use super::{
    Strategy,
    tracked::{content_differs, keep_metadata},
};
use crate::validation::{
    FieldErrors,
    admission::{self, Sort},
};

/// Configurations of webhooks, of either sort.
pub(crate) struct Webhooks;

impl Strategy for Webhooks {
    fn has_generation(&self) -> bool {
        true
    }

    fn generation_moves(&self, new: &Value, old: &Value) -> bool {
        content_differs(new, old)
    }

    fn validate_create(&self, configuration: &Value) -> FieldErrors {
        self.validate_update(configuration, &Value::Null)
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        admission::webhooks(&mut errors, new, old);
        errors
    }
}

/// Admission policies.
pub(crate) struct Policies(pub Sort);

impl Strategy for Policies {
    fn prepare_for_subresource(&self, _subresource: &str, new: &mut Value, old: &Value) {
        keep_metadata(new, old);
    }

    fn has_generation(&self) -> bool {
        true
    }

    fn validate(&self, policy: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        admission::policy(&mut errors, policy, self.0);
        errors
    }

    fn validate_subresource(&self, _subresource: &str, new: &Value, _old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        admission::policy_status(&mut errors, new);
        errors
    }
}

/// Bindings of admission policies.
pub(crate) struct PolicyBindings(pub Sort);

impl Strategy for PolicyBindings {
    fn has_generation(&self) -> bool {
        true
    }

    fn validate(&self, binding: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        admission::binding(&mut errors, binding, self.0);
        errors
    }
}
