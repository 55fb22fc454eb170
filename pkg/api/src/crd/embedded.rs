//! Resources within resources: each says what it is, and its metadata is as that of an object.
//!
//! Source: apiextensions-apiserver `pkg/apiserver/schema/objectmeta/validation.go`.

use serde_json::{Map, Value};

use super::structure::{NodeId, Structure};
use crate::{
    decode::Path,
    tree,
    validation::{self, FieldErrors, NameRule, labels, names},
};

/// Checks all resources within an object; the object itself is checked by the pipeline.
pub(super) fn validate(structure: &Structure, root: NodeId, object: &Value) -> FieldErrors {
    let mut errors = FieldErrors::default();
    walk(structure, root, object, &Path::Root, &mut errors);
    errors
}

fn walk(structure: &Structure, id: NodeId, value: &Value, path: &Path, errors: &mut FieldErrors) {
    let node = structure.node(id);
    if !node.below.embedded {
        return;
    }
    if let Value::Object(map) = value
        && node.embedded
    {
        resource(map, path, errors);
    }
    structure.children(node, value, path, |id, value, path| walk(structure, id, value, path, errors));
}

fn resource(map: &Map<String, Value>, path: &Path, errors: &mut FieldErrors) {
    for field in ["apiVersion", "kind"] {
        let here = || Path::Field(path, field).to_string();
        match map.get(field) {
            None => errors.required(here(), ""),
            Some(Value::String(text)) if text.is_empty() => errors.invalid(here(), "", "must not be empty"),
            Some(Value::String(text)) if field == "kind" => {
                let faults = names::label_1035(&text.to_lowercase());
                if !faults.is_empty() {
                    let detail = format!("may have mixed case, but should otherwise match: {}", faults.join(","));
                    errors.invalid(here(), text.as_str(), detail);
                }
            }
            Some(Value::String(text)) if text.matches('/').count() > 1 => {
                errors.invalid(here(), text.as_str(), format!("unexpected GroupVersion string: {text}"));
            }
            Some(Value::String(_)) => {}
            Some(value) => errors.invalid(here(), value.clone(), "must be a string"),
        }
    }
    if let Some(metadata) = map.get("metadata") {
        let here = Path::Field(path, "metadata").to_string();
        let rule = NameRule::PathSegment;
        let (name, prefix) = (tree::text(metadata, "name"), tree::text(metadata, "generateName"));
        errors.each(format!("{here}.generateName"), prefix, rule.prefix_faults(prefix));
        errors.each(format!("{here}.name"), name, rule.faults(name));
        let namespace = tree::text(metadata, "namespace");
        if !namespace.is_empty() {
            errors.each(format!("{here}.namespace"), namespace, names::label(namespace));
        }
        labels::labels(errors, &format!("{here}.labels"), tree::at(metadata, "labels"));
        validation::annotations(errors, &format!("{here}.annotations"), tree::at(metadata, "annotations"));
        for finalizer in tree::texts(metadata, "finalizers") {
            errors.each(format!("{here}.finalizers"), finalizer, names::qualified(finalizer));
        }
    }
}
