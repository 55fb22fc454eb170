//! Brings an object into the form that a schema leaves: unknown fields are gone, nulls that mean
//! nothing too, metadata (of the object and of those embedded in it) is well-formed.
//!
//! Source: apiextensions-apiserver `pkg/apiserver/schema/{pruning,objectmeta,defaulting}`.

use serde_json::{Map, Value};

use super::structure::{Additional, NodeId, Structure};
use crate::{
    decode::{self, Path, Paths},
    validation::{FieldError, Reason},
};

/// What to do with metadata that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Malformed {
    /// The object is refused.
    Refuse,
    /// What cannot be read is dropped: the object is in the store already.
    Drop,
}

/// What was done.
#[derive(Debug, Default)]
pub(super) struct Coerced {
    /// Paths of fields that the schema does not know.
    pub unknown: Paths,
    /// Whether anything else is different now.
    pub changed: bool,
}

const META: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Coerces a whole object; the text of the fault otherwise.
pub(super) fn coerce(
    structure: &Structure,
    root: NodeId,
    object: &mut Value,
    malformed: Malformed,
) -> Result<Coerced, String> {
    let mut out = Coerced::default();
    if let Some(metadata) = object.get_mut("metadata") {
        let path = Path::Field(&Path::Root, "metadata");
        out.unknown = read_metadata(metadata, &path, malformed, &mut out.changed)?;
    }
    let mut walk = Prune { structure, out: Coerced::default() };
    walk.value(object, Some(root), true, false, &Path::Root);
    out.unknown.extend(walk.out.unknown.sorted());
    out.changed |= walk.out.changed;
    let mut walk = Embedded { structure, malformed, out: Coerced::default() };
    walk.value(object, root, &Path::Root).map_err(|e| e.to_string())?;
    out.unknown.extend(walk.out.unknown.sorted());
    out.changed |= walk.out.changed;
    Ok(out)
}

/// Prunes a value by the node that describes it, as the default of a field has to be.
pub(super) fn prune(structure: &Structure, node: NodeId, value: &mut Value, resource: bool) {
    let mut walk = Prune { structure, out: Coerced::default() };
    walk.value(value, Some(node), resource, false, &Path::Root);
}

/// Coerces the resources within a value.
pub(super) fn embedded(structure: &Structure, node: NodeId, value: &mut Value) -> Result<(), FieldError> {
    Embedded { structure, malformed: Malformed::Refuse, out: Coerced::default() }.value(value, node, &Path::Root)
}

/// Checks metadata by its type; the paths of unknown fields.
fn read_metadata(metadata: &mut Value, path: &Path, malformed: Malformed, changed: &mut bool) -> Result<Paths, String> {
    if metadata.is_null() {
        *metadata = Value::Object(Map::new());
        *changed = true;
    }
    if malformed == Malformed::Refuse {
        return decode::metadata(metadata, path);
    }
    let before = metadata.clone();
    if decode::metadata(metadata, path).is_ok() {
        *changed |= *metadata != before;
        return Ok(Paths::default());
    }
    let Value::Object(fields) = metadata else { return Ok(Paths::default()) };
    fields.retain(|name, value| {
        let mut alone = Value::Object(Map::from_iter([(name.clone(), value.take())]));
        let kept = decode::metadata(&mut alone, path).is_ok();
        match alone.get_mut(name) {
            Some(read) if kept => *value = read.take(),
            _ => return false,
        }
        true
    });
    *changed |= *metadata != before;
    Ok(Paths::default())
}

struct Prune<'s> {
    structure: &'s Structure,
    out: Coerced,
}

impl Prune<'_> {
    /// `resource`: the fields that every object has are left alone. `keep`: the enclosing list
    /// preserves what it does not know.
    fn value(&mut self, value: &mut Value, node: Option<NodeId>, resource: bool, keep: bool, path: &Path) {
        let structure = self.structure;
        let node = node.map(|id| structure.node(id));
        let keep = keep || node.is_some_and(|node| node.preserve);
        match value {
            Value::Object(map) => map.retain(|key, value| {
                let here = Path::Field(path, key);
                let Some(node) = node else { return self.unknown(key, &here, matches!(path, Path::Root)) };
                if (resource || node.embedded) && META.contains(&key.as_str()) {
                    return true;
                }
                let child = node.field(key);
                if child.is_none() && node.additional == Additional::Absent {
                    return keep || self.unknown(key, &here, matches!(path, Path::Root));
                }
                let described = child.map(|id| structure.node(id));
                if value.is_null() && described.is_some_and(|n| !n.nullable && n.default.is_none()) {
                    self.out.changed = true;
                    return false;
                }
                self.value(value, child, false, false, &here);
                true
            }),
            Value::Array(items) => {
                let item = node.and_then(|node| node.items);
                if keep && item.is_none() {
                    return;
                }
                for (at, value) in items.iter_mut().enumerate() {
                    self.value(value, item, false, keep, &Path::Item(path, at));
                }
            }
            _ => {}
        }
    }

    /// Notes a field that goes.
    fn unknown(&mut self, key: &str, path: &Path, root: bool) -> bool {
        self.out.changed = true;
        if !root || !META.contains(&key) {
            self.out.unknown.note(path);
        }
        false
    }
}

struct Embedded<'s> {
    structure: &'s Structure,
    malformed: Malformed,
    out: Coerced,
}

impl Embedded<'_> {
    fn value(&mut self, value: &mut Value, node: NodeId, path: &Path) -> Result<(), FieldError> {
        let node = self.structure.node(node);
        if !node.below.embedded {
            return Ok(());
        }
        match value {
            Value::Object(map) => {
                if node.embedded {
                    self.resource(map, path)?;
                }
                for (key, value) in map {
                    if let Some((id, here)) = node.child(path, key) {
                        self.value(value, id, &here)?;
                    }
                }
            }
            Value::Array(items) => {
                let Some(id) = node.items else { return Ok(()) };
                for (at, value) in items.iter_mut().enumerate() {
                    self.value(value, id, &Path::Item(path, at))?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn resource(&mut self, map: &mut Map<String, Value>, path: &Path) -> Result<(), FieldError> {
        for field in ["apiVersion", "kind"] {
            let wrong = map.get(field).is_some_and(|value| !value.is_string());
            if wrong && self.malformed == Malformed::Drop {
                map.remove(field);
                self.out.changed = true;
            } else if wrong {
                return Err(invalid(&Path::Field(path, field), &map[field], "must be a string".to_owned()));
            }
        }
        let Some(metadata) = map.get_mut("metadata") else { return Ok(()) };
        let here = Path::Field(path, "metadata");
        let before = metadata.clone();
        match read_metadata(metadata, &here, self.malformed, &mut self.out.changed) {
            Ok(unknown) => self.out.unknown.extend(Vec::from(unknown)),
            Err(why) => return Err(invalid(&here, &before, why)),
        }
        self.out.changed |= *metadata != before;
        Ok(())
    }
}

fn invalid(path: &Path, value: &Value, detail: String) -> FieldError {
    FieldError { path: path.to_string(), reason: Reason::Invalid, value: value.clone(), detail }
}
