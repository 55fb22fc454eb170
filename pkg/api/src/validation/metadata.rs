//! Checks of `metadata`, at creation and at update.
//!
//! Source: apimachinery `pkg/api/validation/objectmeta.go`.

use std::collections::HashSet;

use serde_json::Value;

use super::{FieldErrors, Reason, labels, names};
use crate::{kinds::Kind, tree};

/// All keys and values of annotations together.
const ANNOTATIONS_LIMIT: usize = 256 * 1024;

/// Checks `metadata` of a new object, its name made already.
pub fn metadata(kind: &Kind, object: &Value) -> FieldErrors {
    let mut errors = FieldErrors::default();
    let rule = kind.strategy.name_rule();
    let (name, prefix) = (tree::text(object, "metadata.name"), tree::text(object, "metadata.generateName"));
    if !prefix.is_empty() {
        errors.each("metadata.generateName", prefix, rule.prefix_faults(prefix));
    }
    if name.is_empty() {
        errors.required("metadata.name", "name or generateName is required");
    } else {
        errors.each("metadata.name", name, rule.faults(name));
        errors.extend(kind.strategy.validate_name(name));
    }
    let namespace = tree::text(object, "metadata.namespace");
    match (kind.namespaced, namespace) {
        (true, "") => errors.required("metadata.namespace", ""),
        (true, namespace) => errors.each("metadata.namespace", namespace, names::label(namespace)),
        (false, "") => {}
        (false, _) => errors.forbidden("metadata.namespace", "not allowed on this type"),
    }
    common(&mut errors, object);
    finalizers(&mut errors, kind, object);
    errors
}

/// Checks how `metadata` changes. What the pipeline restores from `old` by itself (UID, creation
/// and deletion time) is not looked at.
pub fn metadata_update(kind: &Kind, new: &Value, old: &Value) -> FieldErrors {
    let mut errors = FieldErrors::default();
    if tree::has(old, "metadata.deletionTimestamp") {
        let had: HashSet<_> = tree::texts(old, "metadata.finalizers").collect();
        let mut extra: Vec<_> = tree::texts(new, "metadata.finalizers").filter(|f| !had.contains(f)).collect();
        extra.sort_unstable();
        extra.dedup();
        if !extra.is_empty() {
            let extra: Vec<_> = extra.iter().map(|f| format!("{f:?}")).collect();
            errors.forbidden(
                "metadata.finalizers",
                format!(
                    "no new finalizers can be added if the object is being deleted, found new finalizers \
                     []string{{{}}}",
                    extra.join(", ")
                ),
            );
        }
    }
    for field in ["metadata.name", "metadata.namespace"] {
        if tree::text(new, field) != tree::text(old, field) {
            errors.push(field, Reason::Invalid, tree::text(new, field), super::IMMUTABLE);
        }
    }
    common(&mut errors, new);
    if tree::at(new, "metadata.finalizers") != tree::at(old, "metadata.finalizers") {
        finalizers(&mut errors, kind, new);
    }
    errors
}

fn common(errors: &mut FieldErrors, object: &Value) {
    labels::labels(errors, "metadata.labels", tree::at(object, "metadata.labels"));
    annotations(errors, "metadata.annotations", tree::at(object, "metadata.annotations"));
    owner_references(errors, tree::items(object, "metadata.ownerReferences"));
}

/// Checks annotations: keys regardless of case, and the size of all.
pub fn annotations(errors: &mut FieldErrors, path: &str, annotations: &Value) {
    let mut size = 0;
    for (key, value) in annotations.as_object().into_iter().flatten() {
        errors.each(path, key.as_str(), names::qualified(&key.to_lowercase()));
        size += key.len() + value.as_str().map_or(0, str::len);
    }
    if size > ANNOTATIONS_LIMIT {
        errors.too_long(path, ANNOTATIONS_LIMIT);
    }
}

fn owner_references(errors: &mut FieldErrors, references: &[Value]) {
    const PATH: &str = "metadata.ownerReferences";
    let mut controller: Option<String> = None;
    for (index, reference) in references.iter().enumerate() {
        let path = format!("{PATH}[{index}]");
        let api_version = tree::text(reference, "apiVersion");
        if api_version.is_empty() {
            errors.required(format!("{path}.apiVersion"), "must not be empty");
        } else if api_version.matches('/').count() > 1 || api_version.ends_with('/') {
            errors.invalid(format!("{path}.apiVersion"), api_version, "must be <group>/<version> or <version>");
        }
        for field in ["kind", "name", "uid"] {
            if tree::text(reference, field).is_empty() {
                errors.required(format!("{path}.{field}"), "must not be empty");
            }
        }
        let kind = tree::text(reference, "kind");
        if (api_version, kind) == ("v1", "Event") {
            errors.invalid(path, reference.clone(), "/v1, Kind=Event is disallowed from being an owner");
        }
        if tree::flag(reference, "controller") {
            let this = format!("{kind}/{}", tree::text(reference, "name"));
            match &controller {
                Some(first) => errors.invalid(
                    PATH,
                    references.to_vec(),
                    format!(
                        "Only one reference can have Controller set to true. Found \"true\" in references for {first} \
                         and {this}"
                    ),
                ),
                None => controller = Some(this),
            }
        }
    }
}

fn finalizers(errors: &mut FieldErrors, kind: &Kind, object: &Value) {
    const PATH: &str = "metadata.finalizers";
    const STANDARD: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];
    let all: Vec<_> = tree::texts(object, PATH).collect();
    for (index, finalizer) in all.iter().enumerate() {
        errors.each(PATH, *finalizer, names::qualified(finalizer));
        if !kind.traits.bare_finalizers && !finalizer.contains('/') && !STANDARD.contains(finalizer) {
            let detail = "name is neither a standard finalizer name nor is it fully qualified";
            errors.invalid(format!("{PATH}[{index}]"), *finalizer, detail);
        }
    }
    if all.contains(&"orphan") && all.contains(&"foregroundDeletion") {
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        errors.invalid(PATH, all, detail);
    }
}
