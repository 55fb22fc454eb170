//! Reading and writing `metadata` of an object tree.

use serde_json::Value;

/// `metadata.NAME` as text; empty where absent.
pub fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object["metadata"][field].as_str().unwrap_or_default()
}

/// `metadata.name`.
pub fn name(object: &Value) -> &str {
    text(object, "name")
}

/// `metadata.namespace`; empty for cluster-scoped objects.
pub fn namespace(object: &Value) -> &str {
    text(object, "namespace")
}
