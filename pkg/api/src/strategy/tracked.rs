//! Kinds that are usual but for their generation.

use serde_json::Value;

use super::Strategy;
use crate::tree;

/// The generation follows `spec`.
pub(crate) struct Spec;

impl Strategy for Spec {
    fn has_generation(&self) -> bool {
        true
    }
}

/// Whether anything but metadata and status differs.
pub(super) fn content_differs(new: &Value, old: &Value) -> bool {
    let fields = |object: &Value| -> serde_json::Map<String, Value> {
        let content = object.as_object().into_iter().flatten();
        content
            .filter(|(key, _)| !matches!(key.as_str(), "metadata" | "status"))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect()
    };
    !tree::equal(&fields(new).into(), &fields(old).into())
}
