//! Structural schemas: every value has a type, and alternatives say nothing about types.
//!
//! Source: apiextensions-apiserver `pkg/apiserver/schema/{validation,complete,convert}.go`.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::{
    crd::pattern,
    decode::Path,
    tree,
    validation::{FieldErrors, Reason},
};

/// Why a schema cannot be structural at all; `None` if it can.
pub(super) fn unsupported(schema: &Value) -> Option<String> {
    const WORDS: [(&str, &str); 7] = [
        ("id", "id"),
        ("$schema", "schema"),
        ("$ref", "$ref"),
        ("patternProperties", "patternProperties"),
        ("dependencies", "dependencies"),
        ("additionalItems", "additionalItems"),
        ("definitions", "definitions"),
    ];
    if let Some((_, name)) = WORDS.iter().find(|(word, _)| tree::has(schema, word)) {
        return Some(format!("OpenAPIV3Schema '{name}' is not supported"));
    }
    if schema["items"].is_array() {
        return Some("OpenAPIV3Schema 'items' must be a schema, but is an array".to_owned());
    }
    if schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
        return Some("internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined".to_owned());
    }
    parts(schema).into_iter().find_map(unsupported)
}

/// All schemas that a schema holds.
fn parts(schema: &Value) -> Vec<&Value> {
    let mut out: Vec<_> = tree::entries(schema, "properties").map(|(_, part)| part).collect();
    for word in ["items", "additionalProperties", "not"] {
        out.extend(schema.get(word).filter(|part| part.is_object()));
    }
    for word in ["allOf", "anyOf", "oneOf"] {
        out.extend(tree::items(schema, word));
    }
    out
}

/// Checks that a schema is structural.
pub(super) fn validate<'s>(schema: &'s Value, path: &Path, patterns: &mut Patterns<'s>) -> FieldErrors {
    let mut check = Check { errors: FieldErrors::default(), patterns };
    check.structure(schema, Level::Root, path);
    complete(schema, schema, path, path, &mut check.errors);
    let mut errors = check.errors;
    errors.0.sort_by_cached_key(ToString::to_string);
    errors
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// Memory that the compiled expressions of a definition may take together.
const PATTERNS: usize = 64 << 20;

/// The regular expressions of a definition.
#[derive(Default)]
pub(super) struct Patterns<'s> {
    /// Those in order.
    known: HashSet<&'s str>,
    /// What these take when compiled.
    size: usize,
}

struct Check<'c, 's> {
    errors: FieldErrors,
    patterns: &'c mut Patterns<'s>,
}

fn at(path: &Path, word: &str) -> String {
    Path::Field(path, word).to_string()
}

fn either(schema: &Value) -> bool {
    schema["anyOf"] == json!([{"type": "integer"}, {"type": "string"}])
}

impl<'s> Check<'_, 's> {
    fn structure(&mut self, schema: &'s Value, level: Level, path: &Path) {
        let kind = tree::text(schema, "type");
        let flag = |word: &str| tree::flag(schema, word);
        let embedded = flag("x-kubernetes-embedded-resource");
        let (preserve, either_type) =
            (flag("x-kubernetes-preserve-unknown-fields"), flag("x-kubernetes-int-or-string"));
        let items = &schema["items"];
        if kind == "array" && items.is_null() {
            self.errors.required(at(path, "items"), "must be specified");
        }
        if items.is_object() {
            self.structure(items, Level::Item, &Path::Field(path, "items"));
        }
        let properties = Path::Field(path, "properties");
        for (name, part) in tree::entries(schema, "properties") {
            self.structure(part, Level::Field, &Path::Key(&properties, name));
        }
        let additional = &schema["additionalProperties"];
        if !additional.is_null() && level == Level::Root {
            self.errors.forbidden(at(path, "additionalProperties"), "must not be used at the root");
        }
        if additional.is_object() {
            self.structure(additional, Level::Field, &Path::Field(path, "additionalProperties"));
        }
        for word in ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] {
            if either_type && flag(word) {
                self.errors.invalid(at(path, word), true, "must be false if x-kubernetes-int-or-string is true");
            }
        }
        self.junctors(schema, either(schema), schema["allOf"].get(0).is_some_and(either), level, path);
        if embedded && kind != "object" {
            let detail = "must be object if x-kubernetes-embedded-resource is true";
            match kind {
                "" => self.errors.required(at(path, "type"), detail),
                kind => self.errors.invalid(at(path, "type"), kind, detail),
            }
        } else if kind.is_empty() && !either_type && !preserve {
            let place = match level {
                Level::Root => "must not be empty at the root",
                Level::Item => "must not be empty for specified array items",
                Level::Field => "must not be empty for specified object fields",
            };
            self.errors.required(at(path, "type"), place);
        }
        if embedded && !additional.is_null() {
            let detail = "must not be used if x-kubernetes-embedded-resource is set";
            self.errors.forbidden(at(path, "additionalProperties"), detail);
        }
        if level == Level::Root && !kind.is_empty() && kind != "object" {
            self.errors.invalid(at(path, "type"), kind, "must be object at the root");
        }
        self.metadata(schema, level, level == Level::Root || embedded, path);
        if embedded && !preserve && tree::entries(schema, "properties").next().is_none() {
            let detail = "must not be empty if x-kubernetes-embedded-resource is true without \
                          x-kubernetes-preserve-unknown-fields";
            self.errors.required(at(path, "properties"), detail);
        }
    }

    /// The fields that every resource has.
    fn metadata(&mut self, schema: &Value, level: Level, resource: bool, path: &Path) {
        let properties = Path::Field(path, "properties");
        let fields = &schema["properties"];
        for (name, wanted) in [("kind", "string"), ("apiVersion", "string"), ("metadata", "object")] {
            let Some(part) = fields.get(name).filter(|_| resource) else { continue };
            if tree::text(part, "type") != wanted {
                let path = at(&Path::Key(&properties, name), "type");
                self.errors.push(path, Reason::Invalid, tree::text(part, "type"), format!("must be {wanted}"));
            }
        }
        let Some(metadata) = fields.get("metadata").filter(|_| level == Level::Root) else { return };
        let names: Vec<_> = tree::entries(metadata, "properties").map(|(name, _)| name).collect();
        let only_names = names.iter().all(|name| ["name", "generateName"].contains(name));
        let silent = |(word, value): (&String, &Value)| match word.as_str() {
            "type" | "default" => true,
            "properties" => only_names,
            _ => value.is_null() || *value == Value::Bool(false),
        };
        if !metadata.as_object().into_iter().flatten().all(silent) {
            let detail = "must not specify anything other than name and generateName, but metadata is implicitly \
                          specified";
            self.errors.forbidden(Path::Key(&properties, "metadata").to_string(), detail);
        }
    }

    /// Rules for values, and the alternatives that hold more of them.
    fn junctors(&mut self, schema: &'s Value, skip_any: bool, skip_first: bool, level: Level, path: &Path) {
        for word in ["anyOf", "allOf", "oneOf"] {
            if word == "anyOf" && skip_any {
                continue;
            }
            let list = Path::Field(path, word);
            for (index, part) in tree::items(schema, word).iter().enumerate() {
                let skip = word == "allOf" && skip_first && index == 0;
                self.nested(part, skip, level, &Path::Item(&list, index));
            }
        }
        if schema["not"].is_object() {
            self.nested(&schema["not"], false, level, &Path::Field(path, "not"));
        }
        let text = tree::text(schema, "pattern");
        if text.is_empty() || self.patterns.known.contains(text) {
            return;
        }
        // Once they are too many no more are looked at: finding out what one takes has its price too.
        if self.patterns.size > PATTERNS {
            return;
        }
        let cost = pattern::cost(text);
        self.patterns.size += match &cost {
            Ok(size) => *size,
            Err(_) => pattern::LIMIT,
        };
        match cost {
            Ok(_) if self.patterns.size > PATTERNS => {
                let detail = format!(
                    "the patterns of a definition may take {} MiB together when compiled: bound repetitions by \
                     maxLength instead",
                    PATTERNS >> 20
                );
                self.errors.invalid(at(path, "pattern"), text, detail);
            }
            Ok(_) => {
                self.patterns.known.insert(text);
            }
            Err(why) => {
                let detail = format!(
                    "must be a valid regular expression, but isn't: error parsing regexp: {}",
                    last_line(&why.to_string())
                );
                self.errors.invalid(at(path, "pattern"), text, detail);
            }
        }
    }

    fn nested(&mut self, schema: &'s Value, skip_any: bool, level: Level, path: &Path) {
        const EMPTY: [(&str, &str); 11] = [
            ("type", "must be empty to be structural"),
            ("additionalProperties", "must be undefined to be structural"),
            ("default", "must be undefined to be structural"),
            ("title", "must be empty to be structural"),
            ("description", "must be empty to be structural"),
            ("nullable", "must be false to be structural"),
            ("x-kubernetes-preserve-unknown-fields", "must be false to be structural"),
            ("x-kubernetes-embedded-resource", "must be false to be structural"),
            ("x-kubernetes-int-or-string", "must be false to be structural"),
            ("x-kubernetes-list-type", "must be undefined to be structural"),
            ("x-kubernetes-map-type", "must be undefined to be structural"),
        ];
        self.junctors(schema, skip_any, false, level, path);
        if schema["items"].is_object() {
            self.nested(&schema["items"], false, level, &Path::Field(path, "items"));
        }
        let properties = Path::Field(path, "properties");
        for (name, part) in tree::entries(schema, "properties") {
            self.nested(part, false, Level::Field, &Path::Key(&properties, name));
        }
        for (word, detail) in EMPTY {
            let silent = |value: &Value| match value {
                Value::Null | Value::Bool(false) => true,
                Value::String(text) => text.is_empty() && word != "default",
                _ => false,
            };
            if schema.get(word).is_some_and(|value| !silent(value)) {
                self.errors.forbidden(at(path, word), detail);
            }
        }
        for word in ["x-kubernetes-list-map-keys", "x-kubernetes-validations"] {
            if !tree::items(schema, word).is_empty() {
                self.errors.forbidden(at(path, word), "must be empty to be structural");
            }
        }
        if schema["properties"].get("metadata").is_some() {
            let path = Path::Key(&properties, "metadata").to_string();
            self.errors.forbidden(path, "must not be specified in a nested context");
        }
    }
}

/// The last line of a message that shows its text above.
fn last_line(message: &str) -> &str {
    message.trim().lines().last().unwrap_or_default().trim_start_matches("error: ")
}

/// Checks that what alternatives speak of is specified outside of them.
fn complete(rules: &Value, structure: &Value, place: &Path, path: &Path, errors: &mut FieldErrors) {
    for word in ["not", "allOf", "anyOf", "oneOf"] {
        let list = Path::Field(path, word);
        match &rules[word] {
            part @ Value::Object(_) => nested_complete(part, structure, place, &list, errors),
            Value::Array(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    nested_complete(part, structure, place, &Path::Item(&list, index), errors);
                }
            }
            _ => {}
        }
    }
}

fn nested_complete(rules: &Value, structure: &Value, place: &Path, path: &Path, errors: &mut FieldErrors) {
    complete(rules, structure, place, path, errors);
    if rules["items"].is_object() {
        let (place, path) = (Path::Field(place, "items"), Path::Field(path, "items"));
        match &structure["items"] {
            items @ Value::Object(_) => nested_complete(&rules["items"], items, &place, &path, errors),
            _ => errors.required(place.to_string(), format!("because it is defined in {path}")),
        }
    }
    let (places, paths) = (Path::Field(place, "properties"), Path::Field(path, "properties"));
    for (name, part) in tree::entries(rules, "properties") {
        let (place, path) = (Path::Key(&places, name), Path::Key(&paths, name));
        match structure["properties"].get(name) {
            Some(of) => nested_complete(part, of, &place, &path, errors),
            None => errors.required(place.to_string(), format!("because it is defined in {path}")),
        }
    }
}
