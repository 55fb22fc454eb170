//! Storage version migrations.

use serde_json::Value;

use super::{Strategy, tracked::keep_metadata};
use crate::validation::{FieldErrors, migration};

pub(crate) struct Migrations;

impl Strategy for Migrations {
    fn validate(&self, object: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        migration::spec(&mut errors, object);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        errors.fixed("spec", new, old);
        errors
    }

    fn prepare_for_subresource(&self, _subresource: &str, new: &mut Value, old: &Value) {
        keep_metadata(new, old);
    }

    fn validate_subresource(&self, _subresource: &str, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        migration::status(&mut errors, new, old);
        errors
    }
}
