//! Defaults of custom resources: what the schema says where an object says nothing, or null where
//! null is not allowed.
//!
//! Source: apiextensions-apiserver `pkg/apiserver/schema/defaulting/algorithm.go`.

use serde_json::Value;

use super::structure::{Additional, Node, NodeId, Structure};

/// Fills in defaults at and below a value; whether there were any.
pub(super) fn apply(structure: &Structure, id: NodeId, value: &mut Value) -> bool {
    let node = structure.node(id);
    if !node.below.defaults {
        return false;
    }
    let mut changed = false;
    match value {
        Value::Object(map) => {
            for (name, id) in &node.properties {
                let part = structure.node(*id);
                let Some(default) = &part.default else { continue };
                if map.get(&**name).is_none_or(|value| empty(value, part)) {
                    map.insert(name.to_string(), (**default).clone());
                    changed = true;
                }
            }
            for (name, value) in map {
                match (node.property(name), node.additional) {
                    (Some(id), _) => changed |= apply(structure, id, value),
                    (None, Additional::Node(id)) => changed |= element(structure, id, value),
                    _ => {}
                }
            }
        }
        Value::Array(items) => {
            let Some(id) = node.items else { return false };
            for value in items {
                changed |= element(structure, id, value);
            }
        }
        _ => {}
    }
    changed
}

/// An item of a list, or a value of a map.
fn element(structure: &Structure, id: NodeId, value: &mut Value) -> bool {
    let node = structure.node(id);
    let mut changed = false;
    if let Some(default) = &node.default
        && empty(value, node)
    {
        *value = (**default).clone();
        changed = true;
    }
    apply(structure, id, value) || changed
}

/// A null that stands for nothing.
fn empty(value: &Value, node: &Node) -> bool {
    value.is_null() && !node.nullable
}
