//! Stand-ins.
use api::{Status, Value, schema::{Schema, TypeId}};
pub mod decode {
    use super::*;
    pub struct Decoded { pub value: Value, pub duplicates: Vec<String> }
    pub fn json(b: &[u8]) -> Result<Decoded, Status> {
        serde_json::from_slice(b).map(|value| Decoded { value, duplicates: vec![] }).map_err(|e| Status::bad_request(e.to_string()))
    }
    pub fn yaml(b: &[u8]) -> Result<Decoded, Status> { json(b) }
    pub fn check(_: &Schema, _: TypeId, _: &mut Value) -> Result<Vec<String>, Status> { Ok(vec![]) }
}
pub mod defaults {
    use super::*;
    pub fn apply(_: &Schema, _: TypeId, _: &mut Value) {}
}
pub mod patch {
    use super::*;
    pub fn json_patch(_: &Value, _: &[u8]) -> Result<Value, Status> { Err(Status::internal("no")) }
    pub fn merge_patch(v: &Value, p: &Value) -> Result<Value, Status> {
        fn go(t: &mut Value, p: &Value) {
            let Some(p) = p.as_object() else { *t = p.clone(); return };
            if !t.is_object() { *t = serde_json::json!({}) }
            for (k, v) in p {
                if v.is_null() { t.as_object_mut().unwrap().remove(k); } else { go(&mut t[k], v) }
            }
        }
        let mut t = v.clone(); go(&mut t, p); Ok(t)
    }
    pub fn strategic(_: &Schema, _: TypeId, v: &Value, p: &Value) -> Result<Value, Status> { merge_patch(v, p) }
}
pub mod apply {
    use super::*;
    pub struct Apply<'a> { pub schema: &'a Schema, pub root: TypeId, pub live: Option<&'a Value>, pub applied: &'a Value, pub manager: &'a str, pub api_version: &'a str, pub subresource: &'a str, pub force: bool, pub now: &'a str }
    pub struct Track<'a> { pub schema: &'a Schema, pub root: TypeId, pub old: Option<&'a Value>, pub manager: &'a str, pub api_version: &'a str, pub subresource: &'a str, pub now: &'a str }
    pub fn apply(a: Apply<'_>) -> Result<Value, Status> { match a.live { None => Ok(a.applied.clone()), Some(l) => patch::merge_patch(l, a.applied) } }
    pub fn track_update(_: Track<'_>, _: &mut Value) {}
}
