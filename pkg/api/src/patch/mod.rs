//! The three patches: JSON Patch (RFC 6902), JSON Merge Patch (RFC 7386) and strategic merge
//! patch. All are pure: they take the live object and the patch, and give the new object, which
//! the caller then decodes, defaults and validates like any other.
//!
//! ```
//! use serde_json::json;
//! let live = json!({"spec": {"replicas": 1}, "metadata": {"labels": {"a": "b"}}});
//! let patched = api::patch::merge_patch(&live, &json!({"spec": {"replicas": 2}, "metadata": {"labels": null}})).unwrap();
//! assert_eq!(patched, json!({"spec": {"replicas": 2}, "metadata": {}}));
//!
//! let patched = api::patch::json_patch(&live, br#"[{"op": "replace", "path": "/spec/replicas", "value": 3}]"#).unwrap();
//! assert_eq!(patched["spec"]["replicas"], 3);
//! ```

mod strategic;

use json_patch::{Patch, PatchOperation};
use serde_json::{Value, json};

pub use strategic::{go_text, strategic};

use crate::Status;

/// Most operations in a JSON Patch.
const MAX_OPERATIONS: usize = 10_000;
/// Most bytes that the `copy` operations of a JSON Patch may add together.
const MAX_COPIED: usize = 30 << 20;

/// Applies a JSON Patch, given as its text.
///
/// # Errors
/// 400 where the text is no JSON Patch, 413 for too many operations, 422 where an operation cannot
/// be done or a `test` fails.
pub fn json_patch(live: &Value, patch: &[u8]) -> Result<Value, Status> {
    let operations: Vec<Value> =
        serde_json::from_slice(patch).map_err(|e| Status::bad_request(format!("error decoding patch: {e}")))?;
    if operations.len() > MAX_OPERATIONS {
        let got = operations.len();
        return Err(Status::too_large(format!(
            "The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {got}"
        )));
    }
    let patch: Patch = serde_json::from_value(Value::Array(operations))
        .map_err(|e| Status::bad_request(format!("error decoding patch: {e}")))?;
    let mut object = live.clone();
    let mut copied = 0;
    for operation in patch.0 {
        match &operation {
            // A test for null also holds where nothing is there.
            PatchOperation::Test(test)
                if test.value.is_null() && object.pointer(test.path.as_str()).is_none_or(Value::is_null) =>
            {
                continue;
            }
            PatchOperation::Copy(copy) => {
                copied += object.pointer(copy.from.as_str()).map_or(0, |v| v.to_string().len());
                if copied > MAX_COPIED {
                    let text = "Unable to complete the copy, the accumulated size increase of copy is";
                    return Err(refused(&format!("{text} {copied}, exceeding the limit {MAX_COPIED}")));
                }
            }
            _ => {}
        }
        json_patch::patch(&mut object, std::slice::from_ref(&operation)).map_err(|e| refused(&e.to_string()))?;
    }
    Ok(object)
}

/// 422 for an operation that cannot be done.
fn refused(why: &str) -> Status {
    let mut status = Status::unprocessable("the server rejected our request due to an error in our request");
    status.details = json!({"causes": [{"reason": "UnexpectedServerResponse", "message": why}]});
    status
}

/// Applies a JSON Merge Patch.
///
/// # Errors
/// 400 where the patch is not an object.
pub fn merge_patch(live: &Value, patch: &Value) -> Result<Value, Status> {
    if !patch.is_object() {
        return Err(Status::bad_request("Invalid JSON Patch"));
    }
    let mut object = live.clone();
    json_patch::merge(&mut object, patch);
    Ok(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_patches() {
        let live = json!({"a": {"b": [1, 2]}, "c/d": "x", "m~n": 1});
        let table = [
            (json!([]), Ok(live.clone())),
            (
                json!([{"op": "add", "path": "/a/b/1", "value": 9}]),
                Ok(json!({"a": {"b": [1, 9, 2]}, "c/d": "x", "m~n": 1})),
            ),
            (
                json!([{"op": "add", "path": "/a/b/-", "value": 9}]),
                Ok(json!({"a": {"b": [1, 2, 9]}, "c/d": "x", "m~n": 1})),
            ),
            (
                json!([{"op": "remove", "path": "/c~1d"}, {"op": "remove", "path": "/m~0n"}]),
                Ok(json!({"a": {"b": [1, 2]}})),
            ),
            (json!([{"op": "test", "path": "/none", "value": null}]), Ok(live.clone())),
            (json!([{"op": "test", "path": "/a/none", "value": null}]), Ok(live.clone())),
            (json!([{"op": "test", "path": "/a", "value": null}]), Err(422)),
            (json!([{"op": "test", "path": "/a/b/0", "value": 2}]), Err(422)),
            (json!([{"op": "remove", "path": "/none"}]), Err(422)),
            (json!([{"op": "replace", "path": "/none", "value": 1}]), Err(422)),
            (json!([{"op": "add", "path": "/none/x", "value": 1}]), Err(422)),
            (json!([{"op": "rename", "path": "/a"}]), Err(400)),
            (json!([{"op": "add", "path": "a", "value": 1}]), Err(400)),
            (json!({"a": 1}), Err(400)),
            (json!([1]), Err(400)),
            (json!(vec![json!({"op": "test", "path": "/a/b/0", "value": 1}); 10_001]), Err(413)),
        ];
        for (patch, expected) in table {
            let got = json_patch(&live, patch.to_string().as_bytes()).map_err(|s| s.code);
            assert_eq!(got, expected, "{}", &patch.to_string()[..60.min(patch.to_string().len())]);
        }
        assert_eq!(json_patch(&live, b"[{").unwrap_err().code, 400);
    }

    #[test]
    fn copies_that_double_are_stopped() {
        let live = json!({"a": ["x".repeat(1000)]});
        let patch = json!(vec![json!({"op": "copy", "from": "/a", "path": "/a/-"}); 40]);
        assert_eq!(json_patch(&live, patch.to_string().as_bytes()).unwrap_err().code, 422);
    }

    #[test]
    fn merge_patches() {
        let live = json!({"a": {"b": 1, "c": [1, 2]}, "d": 1});
        let table = [
            (json!({}), live.clone()),
            (json!({"a": {"b": null}}), json!({"a": {"c": [1, 2]}, "d": 1})),
            (json!({"a": {"c": [3]}}), json!({"a": {"b": 1, "c": [3]}, "d": 1})),
            (json!({"d": {"x": {"y": null, "z": 1}}}), json!({"a": {"b": 1, "c": [1, 2]}, "d": {"x": {"z": 1}}})),
            (json!({"none": null}), live.clone()),
        ];
        for (patch, expected) in table {
            assert_eq!(merge_patch(&live, &patch).unwrap(), expected, "{patch}");
        }
        assert_eq!(merge_patch(&live, &json!([1])).unwrap_err().code, 400);
    }
}
