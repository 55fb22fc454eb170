//! Checks of `metav1.Condition`.
//!
//! Source: apimachinery `pkg/apis/meta/v1/validation`.

use serde_json::Value;

use super::{FieldErrors, names, repeated};
use crate::tree;

const REASON_LIMIT: usize = 1024;
const MESSAGE_LIMIT: usize = 32 * 1024;
const STATUSES: [&str; 3] = ["False", "True", "Unknown"];

/// Checks a list of conditions, one to each type.
pub fn conditions(errors: &mut FieldErrors, path: &str, conditions: &[Value]) {
    let again = repeated(conditions.iter().map(|condition| tree::text(condition, "type")));
    for (index, condition) in conditions.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let kind = tree::text(condition, "type");
        if again[index] {
            errors.duplicate(path.clone(), kind);
        }
        match kind {
            "" => errors.required(format!("{path}.type"), "is required"),
            kind => errors.each(format!("{path}.type"), kind, names::qualified(kind)),
        }
        match tree::text(condition, "status") {
            "" => errors.required(format!("{path}.status"), ""),
            status if !STATUSES.contains(&status) => {
                errors.not_supported(format!("{path}.status"), status, &STATUSES);
            }
            _ => {}
        }
        let generation = tree::int(condition, "observedGeneration");
        if generation < 0 {
            let detail = "must be greater than or equal to zero";
            errors.invalid(format!("{path}.observedGeneration"), generation, detail);
        }
        if !tree::has(condition, "lastTransitionTime") {
            errors.required(format!("{path}.lastTransitionTime"), "");
        }
        match tree::text(condition, "reason") {
            "" => errors.required(format!("{path}.reason"), ""),
            reason => {
                errors.each(format!("{path}.reason"), reason, names::condition_reason(reason));
                if reason.len() > REASON_LIMIT {
                    errors.too_long(format!("{path}.reason"), REASON_LIMIT);
                }
            }
        }
        if tree::text(condition, "message").len() > MESSAGE_LIMIT {
            errors.too_long(format!("{path}.message"), MESSAGE_LIMIT);
        }
    }
}
