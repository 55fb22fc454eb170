//! Limits of a namespace: LimitRanges and ResourceQuotas.

use serde_json::Value;

use super::Strategy;
use crate::validation::{FieldErrors, quota};

pub(crate) struct LimitRanges;

impl Strategy for LimitRanges {
    fn validate(&self, range: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        quota::limit_range(&mut errors, range);
        errors
    }
}

pub(crate) struct ResourceQuotas;

impl Strategy for ResourceQuotas {
    fn validate(&self, quota: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        quota::quota(&mut errors, quota);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        quota::quota_update(&mut errors, new, old);
        errors
    }

    fn validate_subresource(&self, _subresource: &str, new: &Value, _old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        quota::quota_status(&mut errors, new);
        errors
    }
}
