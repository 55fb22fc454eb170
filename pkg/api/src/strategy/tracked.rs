//! Kinds that are usual but for their generation.

use serde_json::Value;

use crate::tree;

/// Metadata that writes of the status do not touch, for kinds that want it so.
pub(super) fn keep_metadata(new: &mut Value, old: &Value) {
    let Some(metadata) = new.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    for field in ["labels", "annotations", "finalizers", "ownerReferences"] {
        match tree::at(old, "metadata").get(field) {
            Some(value) => drop(metadata.insert(field.to_owned(), value.clone())),
            None => drop(metadata.remove(field)),
        }
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
