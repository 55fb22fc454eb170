//! Lists that are sets or maps hold each value, or each key, once.
//!
//! Source: apiextensions-apiserver `pkg/apiserver/schema/listtype`.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::structure::{ListType, Node, NodeId, Structure};
use crate::{decode::Path, validation::FieldErrors};

/// Checks all lists of an object.
pub(super) fn validate(structure: &Structure, root: NodeId, object: &Value) -> FieldErrors {
    let mut errors = FieldErrors::default();
    walk(structure, root, object, &Path::Root, &mut errors);
    errors
}

fn walk(structure: &Structure, id: NodeId, value: &Value, path: &Path, errors: &mut FieldErrors) {
    let node = structure.node(id);
    if !node.below.lists {
        return;
    }
    match (value, node.list) {
        (Value::Array(items), ListType::Set) => {
            for at in repeated(items.iter().map(Value::to_string)) {
                errors.duplicate(Path::Item(path, at).to_string(), items[at].clone());
            }
        }
        (Value::Array(items), ListType::Map) => keyed(node, items, path, errors),
        _ => {}
    }
    structure.children(node, value, path, |id, value, path| walk(structure, id, value, path, errors));
}

fn keyed(node: &Node, items: &[Value], path: &Path, errors: &mut FieldErrors) {
    if let Some(at) = items.iter().position(|item| !item.is_object() && !item.is_null()) {
        let detail = "must be an object for an array of list-type map";
        errors.invalid(Path::Item(path, at).to_string(), items[at].clone(), detail);
        return;
    }
    let names = || node.rules.iter().flat_map(|rules| rules.keys.iter());
    let key = |item: &Value| -> Map<String, Value> {
        names().filter_map(|name| Some((name.to_string(), item.get(&**name)?.clone()))).collect()
    };
    for at in repeated(items.iter().map(|item| Value::Object(key(item)).to_string())) {
        errors.duplicate(Path::Item(path, at).to_string(), Value::Object(key(&items[at])));
    }
}

/// Where each text that was there before is for the second time.
fn repeated(texts: impl Iterator<Item = String>) -> Vec<usize> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut found = Vec::new();
    for (at, text) in texts.enumerate() {
        let times = seen.entry(text).or_default();
        *times += 1;
        if *times == 2 {
            found.push(at);
        }
    }
    found
}
