//! Flow schemas and priority levels.

use serde_json::Value;

use super::{Strategy, tracked::keep_metadata};
use crate::validation::{FieldErrors, flowcontrol};

pub(crate) struct FlowSchemas;

impl Strategy for FlowSchemas {
    fn prepare_for_subresource(&self, _subresource: &str, new: &mut Value, old: &Value) {
        keep_metadata(new, old);
    }

    fn has_generation(&self) -> bool {
        true
    }

    fn validate(&self, schema: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        flowcontrol::flow_schema(&mut errors, schema);
        errors
    }

    fn validate_subresource(&self, _subresource: &str, new: &Value, _old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        flowcontrol::conditions(&mut errors, new);
        errors
    }
}

pub(crate) struct PriorityLevels;

impl Strategy for PriorityLevels {
    fn prepare_for_subresource(&self, _subresource: &str, new: &mut Value, old: &Value) {
        keep_metadata(new, old);
    }

    fn has_generation(&self) -> bool {
        true
    }

    fn validate(&self, level: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        flowcontrol::priority_level(&mut errors, level);
        errors
    }

    fn validate_subresource(&self, _subresource: &str, new: &Value, _old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        flowcontrol::conditions(&mut errors, new);
        errors
    }
}
