//! Defaults must be valid, and have nothing that would be pruned.
//!
//! Source: apiextensions-apiserver `pkg/apiserver/schema/defaulting/validation.go`.

use serde_json::Value;

use crate::{
    crd::{
        coerce, embedded, lists,
        structure::{Builder, NodeId, Structure},
        values,
    },
    validation::FieldErrors,
};

/// Checks all defaults of a structural schema.
pub(super) fn validate(schema: &Value, path: &str) -> FieldErrors {
    let mut builder = Builder::default();
    let root = builder.add(schema);
    let structure = builder.finish();
    let mut errors = FieldErrors::default();
    walk(&structure, root, path.to_owned(), false, true, &mut errors);
    errors
}

fn walk(structure: &Structure, id: NodeId, path: String, metadata: bool, resource: bool, errors: &mut FieldErrors) {
    let node = structure.node(id);
    if !node.below.defaults {
        return;
    }
    let metadata = metadata && !node.embedded;
    let resource = resource || node.embedded;
    if let Some(default) = &node.default {
        let here = format!("{path}.default");
        check(structure, id, default, &here, metadata, errors);
    }
    if let Some(items) = node.items {
        walk(structure, items, format!("{path}.items"), metadata, false, errors);
    }
    for (name, part) in &node.properties {
        let own = resource && ["metadata", "apiVersion", "kind"].contains(&&**name);
        walk(structure, *part, format!("{path}.properties[{name}]"), metadata || own, false, errors);
    }
}

fn check(structure: &Structure, id: NodeId, default: &Value, here: &str, metadata: bool, errors: &mut FieldErrors) {
    let node = structure.node(id);
    let mut coerced = default.clone();
    if !metadata {
        let mut pruned = default.clone();
        coerce::prune(structure, id, &mut pruned, node.embedded);
        if pruned != *default {
            errors.invalid(here, default.clone(), "must not have unknown fields");
        }
        if let Err(fault) = coerce::embedded(structure, id, &mut coerced) {
            errors.add(under(here, fault));
            return;
        }
        let found = embedded::validate(structure, id, &coerced);
        if !found.is_empty() {
            found.0.into_iter().for_each(|fault| errors.add(under(here, fault)));
            return;
        }
    }
    errors.extend(values::validate(structure, id, &coerced, None, here));
    let found = lists::validate(structure, id, &coerced);
    found.0.into_iter().for_each(|fault| errors.add(under(here, fault)));
}

/// The fault with its path below another.
fn under(path: &str, mut fault: crate::validation::FieldError) -> crate::validation::FieldError {
    fault.path = match fault.path.as_str() {
        "" => path.to_owned(),
        below if below.starts_with('[') => format!("{path}{below}"),
        below => format!("{path}.{below}"),
    };
    fault
}
