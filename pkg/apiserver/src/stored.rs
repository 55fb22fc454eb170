//! The committed form of an object: JSON made once, at the commit, and spliced ever after.
//!
//! The bytes begin `{"kind":…,"apiVersion":…,"metadata":{` and lack `resourceVersion`, since the
//! revision is only known once the store has written. Readers insert it behind `"metadata":{`.
//!
//! Where a row serves another form than the stored one, that form is made once, when it is first asked
//! for, and kept beside the committed bytes for all who read the same cached object.

use std::sync::{Arc, OnceLock, Weak};

use api::{Kind, Value};
use bytes::Bytes;
use parking_lot::Mutex;

/// Opens the metadata of committed bytes; the resource version belongs right behind it.
const METADATA: &[u8] = b"\"metadata\":{";

/// Committed bytes and the revision that wrote them. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Stored {
    value: Bytes,
    splice: usize,
    kept: Arc<Kept>,
    /// Revision of the write: the object's resource version. 0: not written, and shown without one.
    pub revision: i64,
}

/// What was made of committed bytes, shared by all clones.
#[derive(Debug, Default)]
struct Kept {
    /// The object's protobuf message, resource version included.
    message: OnceLock<Bytes>,
    /// The form that a row serves; `None` where it is the stored one. Rows that are gone keep nothing
    /// alive, and their forms go when the next one is made.
    forms: Mutex<Vec<(Weak<Kind>, Option<Stored>)>>,
}

/// Bytes in the store that are not an object of ours.
#[derive(Debug, thiserror::Error)]
#[error("the store holds something that is not an object: {0}")]
pub struct Corrupt(String);

/// Encodes an object for the store. It must have a `metadata.name`.
pub fn encode(object: &Value) -> Bytes {
    let mut out = Vec::with_capacity(1024);
    let text = |out: &mut Vec<u8>, value: &Value| {
        serde_json::to_writer(out, value).expect("writing a tree to memory cannot fail");
    };
    out.extend_from_slice(b"{\"kind\":");
    text(&mut out, &object["kind"]);
    out.extend_from_slice(b",\"apiVersion\":");
    text(&mut out, &object["apiVersion"]);
    out.extend_from_slice(b",\"metadata\":{");
    let members = |value: &Value, skip: &[&str], out: &mut Vec<u8>, mut comma: bool| {
        for (key, value) in value.as_object().into_iter().flatten().filter(|(key, _)| !skip.contains(&key.as_str())) {
            if std::mem::replace(&mut comma, true) {
                out.push(b',');
            }
            serde_json::to_writer(&mut *out, key).expect("writing text to memory cannot fail");
            out.push(b':');
            text(out, value);
        }
    };
    members(&object["metadata"], &["resourceVersion"], &mut out, false);
    out.push(b'}');
    members(object, &["kind", "apiVersion", "metadata"], &mut out, true);
    out.push(b'}');
    // It is kept as long as the object is.
    out.shrink_to_fit();
    out.into()
}

/// Largest object, as etcd has it.
pub const LIMIT: usize = 1536 * 1024;

/// As [`encode`]; 413 for an object that is too large.
pub fn encode_bounded(object: &Value) -> Result<Bytes, api::Status> {
    match encode(object) {
        value if value.len() <= LIMIT => Ok(value),
        value => {
            let size = value.len();
            let text = format!("request is too large: the object has {size} bytes, the limit is {LIMIT}");
            Err(api::Status::too_large(text))
        }
    }
}

impl Stored {
    /// The same bytes as of another revision.
    pub fn at(&self, revision: i64) -> Self {
        Stored { value: self.value.clone(), splice: self.splice, kept: Arc::default(), revision }
    }

    /// What the store holds, written at `revision`.
    pub fn new(value: Bytes, revision: i64) -> Result<Self, Corrupt> {
        let head = &value[..value.len().min(512)];
        // It is the object's own if nothing was opened before but the object.
        let opened = |before: &[u8]| before.iter().filter(|byte| matches!(byte, b'{' | b'[')).count();
        match head.windows(METADATA.len()).position(|w| w == METADATA).filter(|at| opened(&head[..*at]) == 1) {
            Some(at) => Ok(Stored { splice: at + METADATA.len(), kept: Arc::default(), value, revision }),
            // Not written by us, or by hand: bring it into our form.
            None => {
                let tree: Value = serde_json::from_slice(&value).map_err(|error| Corrupt(error.to_string()))?;
                if !tree["metadata"].is_object() {
                    return Err(Corrupt("metadata is missing".to_owned()));
                }
                let value = encode(&tree);
                let at = value.windows(METADATA.len()).position(|w| w == METADATA).unwrap_or(0);
                Ok(Stored { splice: at + METADATA.len(), kept: Arc::default(), value, revision })
            }
        }
    }

    /// The form that a row serves, made from what is stored. Cheap from the second time on.
    pub fn served(&self, kind: &Arc<Kind>) -> Result<Stored, Corrupt> {
        if kind.conversion.is_none() {
            return Ok(self.clone());
        }
        let known = self.kept.forms.lock().iter().find(|(row, _)| row.as_ptr() == Arc::as_ptr(kind)).cloned();
        if let Some((_, form)) = known {
            return Ok(form.unwrap_or_else(|| self.clone()));
        }
        let mut tree: Value = serde_json::from_slice(&self.value).map_err(|error| Corrupt(error.to_string()))?;
        let form = match kind.from_storage(&mut tree) {
            true => Some(Stored::new(encode(&tree), self.revision)?),
            false => None,
        };
        let mut forms = self.kept.forms.lock();
        forms.retain(|(row, _)| row.strong_count() > 0);
        forms.push((Arc::downgrade(kind), form.clone()));
        Ok(form.unwrap_or_else(|| self.clone()))
    }

    /// The object's protobuf message, resource version included: made when first asked for.
    pub(crate) fn message(&self) -> &OnceLock<Bytes> {
        &self.kept.message
    }

    /// Bytes without the resource version.
    pub fn raw(&self) -> &Bytes {
        &self.value
    }

    /// Length of the encoded object, about.
    pub fn size(&self) -> usize {
        self.value.len() + 32
    }

    /// Appends the object as JSON with its resource version.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.write_at(self.revision, out);
    }

    /// Appends the object as JSON, as of another resource version (that of its deletion).
    pub fn write_at(&self, revision: i64, out: &mut Vec<u8>) {
        use std::io::Write as _;
        out.extend_from_slice(&self.value[..self.splice]);
        if revision != 0 {
            write!(out, "\"resourceVersion\":\"{revision}\"").expect("writing to memory cannot fail");
            if self.value.get(self.splice) != Some(&b'}') {
                out.push(b',');
            }
        }
        out.extend_from_slice(&self.value[self.splice..]);
    }

    /// Appends the object as an item of a list of its kind, which says what its items are: without
    /// `kind` and `apiVersion`.
    pub fn write_item(&self, out: &mut Vec<u8>) {
        let from = out.len();
        self.write(out);
        // What was not written by us may have them elsewhere: there they stay.
        if self.value.starts_with(b"{\"kind\":") {
            out.drain(from + 1..from + self.splice - METADATA.len());
        }
    }

    /// The object as JSON.
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.size());
        self.write(&mut out);
        out
    }

    /// The object as a tree, with its resource version.
    pub fn tree(&self) -> Result<Value, Corrupt> {
        let mut tree: Value = serde_json::from_slice(&self.value).map_err(|error| Corrupt(error.to_string()))?;
        if self.revision != 0 {
            tree["metadata"]["resourceVersion"] = self.revision.to_string().into();
        }
        Ok(tree)
    }
}

impl From<Corrupt> for api::Status {
    fn from(error: Corrupt) -> Self {
        api::Status::internal(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_resource_version_is_spliced() {
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "\"metadata\":{"},
            "metadata": {"name": "x", "resourceVersion": "1"}});
        let stored = Stored::new(encode(&object), 7).unwrap();
        let mut want = object.clone();
        want["metadata"]["resourceVersion"] = "7".into();
        assert_eq!(serde_json::from_slice::<Value>(&stored.to_json()).unwrap(), want);
        assert_eq!(stored.tree().unwrap(), want);
        let mut item = b"before".to_vec();
        stored.write_item(&mut item);
        want.as_object_mut().unwrap().retain(|name, _| name != "kind" && name != "apiVersion");
        assert_eq!(serde_json::from_slice::<Value>(&item[6..]).unwrap(), want);
    }

    #[test]
    fn foreign_order_is_brought_into_form() {
        let long = "x".repeat(600);
        let foreign = format!(r#"{{"data":{{"a":"{long}"}},"kind":"K","apiVersion":"v1","metadata":{{"name":"n"}}}}"#);
        let stored = Stored::new(foreign.into(), 3).unwrap();
        assert_eq!(stored.tree().unwrap()["metadata"]["resourceVersion"], "3");
        assert!(Stored::new(Bytes::from_static(b"k8s\0"), 1).is_err());
    }

    #[test]
    fn metadata_within_an_object_is_not_taken_for_its_own() {
        let foreign = r#"{"apiVersion":"v1","data":{"metadata":{"a":"b"}},"kind":"K","metadata":{"name":"n"}}"#;
        let stored = Stored::new(Bytes::from_static(foreign.as_bytes()), 3).unwrap();
        let mut want: Value = serde_json::from_str(foreign).unwrap();
        want["metadata"]["resourceVersion"] = "3".into();
        assert_eq!(serde_json::from_slice::<Value>(&stored.to_json()).unwrap(), want);
    }
}
