//! What a schema may say at all: no references, no patterns of properties, list and map types that
//! fit. Rules in CEL are looked at, not compiled.
//!
//! Source: apiextensions-apiserver `pkg/apis/apiextensions/validation/validation.go`.

use std::collections::HashSet;

use serde_json::Value;

use super::paths::follow;
use crate::{
    decode::Path,
    tree,
    validation::{FieldErrors, repeated},
};

/// Checks a whole schema.
pub(super) fn validate(schema: &Value, path: &Path) -> FieldErrors {
    let mut errors = FieldErrors::default();
    Place { root: true, metadata: false, no_defaults: None }.check(schema, path, &mut errors);
    errors
}

/// Where a schema stands.
#[derive(Clone, Copy)]
struct Place<'a> {
    root: bool,
    /// In the schema of a resource's own fields.
    metadata: bool,
    /// Why there may be no defaults.
    no_defaults: Option<&'a str>,
}

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
const UNSUPPORTED: [&str; 7] =
    ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref", "items"];

impl Place<'_> {
    fn check(self, schema: &Value, path: &Path, errors: &mut FieldErrors) {
        if !schema.is_object() {
            return;
        }
        self.standard(schema, path, errors);
        if tree::flag(schema, "uniqueItems") {
            let detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
            errors.forbidden(at(path, "uniqueItems"), detail);
        }
        self.parts(schema, path, errors);
        if schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
            errors.invalid(at(path, "x-kubernetes-preserve-unknown-fields"), false, "must be true or undefined");
        }
        map_type(schema, path, errors);
        list_type(schema, path, errors);
        if tree::text(schema, "x-kubernetes-list-type") == "map" {
            list_map(schema, path, errors);
        }
        nullable_keys(schema, path, errors);
        rules(schema, path, errors);
    }

    fn standard(self, schema: &Value, path: &Path, errors: &mut FieldErrors) {
        let kind = tree::text(schema, "type");
        if !kind.is_empty() && !TYPES.contains(&kind) {
            errors.not_supported(at(path, "type"), kind, &TYPES);
        }
        if let Some(why) = self.no_defaults.filter(|_| tree::has(schema, "default")) {
            errors.forbidden(at(path, "default"), format!("must not be set {why}"));
        }
        for word in UNSUPPORTED {
            match schema.get(word) {
                None | Some(Value::Null) => {}
                Some(Value::Array(_)) if word == "items" => {
                    errors.forbidden(at(path, word), "items must be a schema object and not an array");
                }
                Some(_) if word == "items" => {}
                Some(_) => errors.forbidden(at(path, word), format!("{word} is not supported")),
            }
        }
        if kind == "null" {
            errors.forbidden(at(path, "type"), "type cannot be set to null, use nullable as an alternative");
        }
        if self.metadata && tree::flag(schema, "x-kubernetes-embedded-resource") {
            errors.forbidden(at(path, "x-kubernetes-embedded-resource"), "must not be used inside of resource meta");
        }
    }

    fn parts(self, schema: &Value, path: &Path, errors: &mut FieldErrors) {
        let within = Place { root: false, ..self };
        let properties = tree::at(schema, "properties").as_object();
        let additional = tree::at(schema, "additionalProperties");
        if properties.is_some_and(|p| !p.is_empty()) && !additional.is_null() && *additional != Value::Bool(true) {
            let detail = "additionalProperties and properties are mutual exclusive";
            errors.forbidden(at(path, "additionalProperties"), detail);
        }
        let why = "inside additionalProperties applying to object metadata";
        let of_map = if self.metadata { Place { no_defaults: Some(why), ..within } } else { within };
        of_map.check(additional, &Path::Field(path, "additionalProperties"), errors);
        for (name, part) in properties.into_iter().flatten() {
            let resource = self.root || tree::flag(schema, "x-kubernetes-embedded-resource");
            let own = resource && ["metadata", "kind", "apiVersion"].contains(&name.as_str());
            let why = format!("in top-level {name}");
            let mut place = within;
            place.metadata |= own;
            if own && self.root {
                place.no_defaults = Some(&why);
            }
            place.check(part, &Path::Key(&Path::Field(path, "properties"), name), errors);
        }
        within.check(tree::at(schema, "not"), &Path::Field(path, "not"), errors);
        for word in ["allOf", "oneOf", "anyOf"] {
            for (index, part) in tree::items(schema, word).iter().enumerate() {
                within.check(part, &Path::Item(&Path::Field(path, word), index), errors);
            }
        }
        within.check(tree::at(schema, "items"), &Path::Field(path, "items"), errors);
    }
}

fn at(path: &Path, word: &str) -> String {
    Path::Field(path, word).to_string()
}

fn map_type(schema: &Value, path: &Path, errors: &mut FieldErrors) {
    let Some(map) = schema.get("x-kubernetes-map-type").and_then(Value::as_str) else { return };
    fits(schema, "object", "must be object if x-kubernetes-map-type is specified", path, errors);
    if !["atomic", "granular"].contains(&map) {
        errors.not_supported(at(path, "x-kubernetes-map-type"), map, &["atomic", "granular"]);
    }
}

/// Checks that the type is the one that goes with a list or map type.
fn fits(schema: &Value, wanted: &str, detail: &str, path: &Path, errors: &mut FieldErrors) -> bool {
    let kind = tree::text(schema, "type");
    if kind.is_empty() {
        errors.required(at(path, "type"), detail);
    } else if kind != wanted {
        errors.invalid(at(path, "type"), kind, detail);
    }
    kind == wanted
}

fn list_type(schema: &Value, path: &Path, errors: &mut FieldErrors) {
    const WORD: &str = "x-kubernetes-list-type";
    let list = schema.get(WORD).and_then(Value::as_str);
    if let Some(list) = list {
        let array = fits(schema, "array", "must be array if x-kubernetes-list-type is specified", path, errors);
        let item = tree::at(schema, "items");
        if array && list == "set" && item.is_object() {
            let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
            let of = |word: &str| item.get(word).and_then(Value::as_str);
            let here = Path::Field(path, "items");
            match tree::text(item, "type") {
                "array" if of(WORD).is_some_and(|kind| kind != "atomic") => {
                    errors.invalid(at(&here, WORD), tree::text(item, WORD), detail);
                }
                "object" if of("x-kubernetes-map-type") != Some("atomic") => {
                    errors.invalid(at(&here, "x-kubernetes-map-type"), "null", detail);
                }
                _ => {}
            }
        }
        if !["atomic", "set", "map"].contains(&list) {
            errors.not_supported(at(path, WORD), list, &["atomic", "set", "map"]);
        }
    }
    if !tree::items(schema, "x-kubernetes-list-map-keys").is_empty() && list != Some("map") {
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        match list {
            None => errors.required(at(path, WORD), detail),
            Some(list) => errors.invalid(at(path, WORD), list, detail),
        }
    }
}

fn list_map(schema: &Value, path: &Path, errors: &mut FieldErrors) {
    const KEYS: &str = "x-kubernetes-list-map-keys";
    let keys: Vec<_> = tree::texts(schema, KEYS).collect();
    if keys.is_empty() {
        errors.required(at(path, KEYS), "must not be empty if x-kubernetes-list-type is map");
    }
    let item = tree::at(schema, "items");
    let here = Path::Field(path, "items");
    match item {
        Value::Null => errors.required(at(path, "items"), "must have a schema if x-kubernetes-list-type is map"),
        Value::Object(_) => {}
        _ => {
            let detail = "must only have a single schema if x-kubernetes-list-type is map";
            errors.invalid(at(path, "items"), item.clone(), detail);
        }
    }
    if !item.is_object() {
        return;
    }
    let kind = tree::text(item, "type");
    if kind != "object" {
        errors.invalid(at(&here, "type"), kind, "must be object if parent array's x-kubernetes-list-type is map");
        return;
    }
    let again = repeated(&keys);
    for (index, key) in keys.iter().enumerate() {
        // Each fault shows all of them.
        if errors.is_full() {
            break;
        }
        match tree::at(item, "properties").get(*key) {
            Some(of) if ["array", "object"].contains(&tree::text(of, "type")) => {
                let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                errors.invalid(at(&Path::Key(&Path::Field(&here, "properties"), key), "type"), kind, detail);
            }
            Some(_) => {}
            None => errors.invalid(at(path, KEYS), keys.clone(), "entries must all be names of item properties"),
        }
        if again[index] {
            errors.invalid(at(path, KEYS), keys.clone(), "must not contain duplicate entries");
        }
    }
}

fn nullable_keys(schema: &Value, path: &Path, errors: &mut FieldErrors) {
    let list = tree::text(schema, "x-kubernetes-list-type");
    let item = tree::at(schema, "items");
    if !item.is_object() || !["set", "map"].contains(&list) {
        return;
    }
    let here = Path::Field(path, "items");
    if tree::flag(item, "nullable") {
        errors.forbidden(at(&here, "nullable"), format!("cannot be nullable when x-kubernetes-list-type is {list}"));
    }
    if list != "map" {
        return;
    }
    let properties = Path::Field(&here, "properties");
    let required: HashSet<_> = tree::texts(item, "required").collect();
    for key in tree::texts(schema, "x-kubernetes-list-map-keys") {
        let Some(of) = tree::at(item, "properties").get(key) else { continue };
        let here = Path::Key(&properties, key);
        if !required.contains(key) && !tree::has(of, "default") {
            let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required \
                          property";
            errors.required(at(&here, "default"), detail);
        }
        if tree::flag(of, "nullable") {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            errors.forbidden(at(&here, "nullable"), detail);
        }
    }
}

/// `x-kubernetes-validations`, but for the expressions.
fn rules(schema: &Value, path: &Path, errors: &mut FieldErrors) {
    const REASONS: [&str; 4] =
        ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
    let list = Path::Field(path, "x-kubernetes-validations");
    for (index, rule) in tree::items(schema, "x-kubernetes-validations").iter().enumerate() {
        let here = Path::Item(&list, index);
        let text = |field: &str| tree::text(rule, field);
        let (expression, message) = (text("rule").trim(), text("message"));
        let broken = |text: &str| text.contains(['\n', '\r']);
        if expression.is_empty() {
            errors.required(at(&here, "rule"), "rule is not specified");
        } else if !message.is_empty() && message.trim().is_empty() {
            errors.invalid(at(&here, "message"), message, "must be non-empty if specified");
        } else if broken(message.trim()) {
            errors.invalid(at(&here, "message"), message, "must not contain line breaks");
        } else if broken(expression) && message.is_empty() {
            errors.required(at(&here, "message"), "message must be specified if rule contains line breaks");
        }
        if !text("messageExpression").is_empty() && text("messageExpression").trim().is_empty() {
            let detail = "messageExpression must be non-empty if specified";
            errors.required(at(&here, "messageExpression"), detail);
        }
        if !text("reason").is_empty() && !REASONS.contains(&text("reason")) {
            errors.not_supported(at(&here, "reason"), text("reason"), &REASONS);
        }
        let field = text("fieldPath");
        if field.is_empty() {
            continue;
        }
        if field.trim().is_empty() {
            errors.invalid(at(&here, "fieldPath"), field, "must be non-empty if specified");
        }
        if broken(field) {
            errors.invalid(at(&here, "fieldPath"), field, "must not contain line breaks");
        }
        if follow(field, schema, true).is_err() {
            errors.invalid(at(&here, "fieldPath"), field, "must be a valid path");
        }
    }
}
