//! Schemas of custom resources as documents show them: those of the definition, texts included, with
//! the fields that every object has.
//!
//! Source: apiextensions-apiserver `pkg/controller/openapi`.

use serde_json::{Map, Value, json};

use super::Dialect;
use crate::{kinds::Kind, tree};

/// Texts that clients show for fields of all kinds.
const API_VERSION: &str = "APIVersion defines which version of the API the object is written in.";
const KIND: &str = "Kind names what the object is: the REST resource, in CamelCase.";
const METADATA: &str = "Standard object's metadata: name, labels, annotations and what the server keeps.";

/// The definition of a kind. `metadata` refers to that of `ObjectMeta`.
pub(super) fn definition(dialect: Dialect, kind: &Kind, metadata: &Value) -> Value {
    let text = kind.schema.custom.as_ref().map_or("null", |custom| custom.text());
    // The text was made from a tree.
    let mut schema: Value = serde_json::from_str(text).unwrap_or_default();
    let free = tree::flag(&schema, "x-kubernetes-preserve-unknown-fields");
    if !schema.is_object() || (dialect == Dialect::V2 && free) {
        // Clients take listed properties for all that there may be.
        schema = json!({"type": "object"});
    } else {
        let render = Render { dialect, metadata };
        render.structure(&mut schema);
        if let Some(fields) = schema.as_object_mut() {
            render.resource(fields);
        }
    }
    if dialect == Dialect::V3 && !kind.selectable.is_empty() {
        let fields = kind.selectable.iter().map(|path| json!({"fieldPath": &**path}));
        schema["x-kubernetes-selectable-fields"] = fields.collect();
    }
    schema
}

/// The definition of a list of a kind.
pub(super) fn list(dialect: Dialect, kind: &Kind, item: &Value, metadata: &Value) -> Value {
    let mut out = json!({
        "type": "object",
        "description": format!("{} is a list of {}", kind.list_kind(), &*kind.kind),
        "required": ["items"],
        "properties": {
            "items": {"type": "array", "items": item, "description": format!("List of {}.", &*kind.plural)},
        },
    });
    if let Some(fields) = out.as_object_mut() {
        Render { dialect, metadata }.resource(fields);
    }
    out
}

struct Render<'a> {
    dialect: Dialect,
    metadata: &'a Value,
}

impl Render<'_> {
    /// Adds the fields of every object.
    fn resource(&self, fields: &mut Map<String, Value>) {
        let properties = fields.entry("properties").or_insert_with(|| json!({}));
        properties["apiVersion"] = json!({"type": "string", "description": API_VERSION});
        properties["kind"] = json!({"type": "string", "description": KIND});
        properties["metadata"] = match self.dialect {
            Dialect::V2 => json!({"description": METADATA, "$ref": self.metadata["$ref"]}),
            Dialect::V3 => json!({"description": METADATA, "allOf": [self.metadata]}),
        };
    }

    fn structure(&self, schema: &mut Value) {
        let embedded = tree::flag(schema, "x-kubernetes-embedded-resource");
        let free = tree::flag(schema, "x-kubernetes-preserve-unknown-fields");
        let either = tree::flag(schema, "x-kubernetes-int-or-string");
        let Some(fields) = schema.as_object_mut() else { return };
        for word in ["id", "$schema"] {
            fields.remove(word);
        }
        if either {
            unfold(fields);
        }
        if self.dialect == Dialect::V2 {
            reduce(fields, free);
        }
        for word in ["items", "additionalProperties"] {
            if let Some(part) = fields.get_mut(word) {
                self.structure(part);
            }
        }
        if let Some(properties) = fields.get_mut("properties").and_then(Value::as_object_mut) {
            properties.values_mut().for_each(|part| self.structure(part));
        }
        if embedded && !(free && self.dialect == Dialect::V2) {
            self.resource(fields);
            let required = fields.entry("required").or_insert_with(|| json!([]));
            for name in ["kind", "apiVersion"] {
                if let Some(list) = required.as_array_mut().filter(|list| !list.iter().any(|known| known == name)) {
                    list.push(name.into());
                }
            }
        }
    }
}

/// Says in the vocabulary of alternatives that a value is a number or a text.
fn unfold(fields: &mut Map<String, Value>) {
    let either = json!([{"type": "integer"}, {"type": "string"}]);
    let first = fields.get("allOf").and_then(|all| all.get(0)).and_then(|part| part.get("anyOf"));
    if fields.get("anyOf") == Some(&either) || first == Some(&either) {
        return;
    }
    if !fields.contains_key("anyOf") {
        fields.insert("anyOf".to_owned(), either);
    } else if let Some(list) = fields.entry("allOf").or_insert_with(|| json!([])).as_array_mut() {
        list.insert(0, json!({"anyOf": either}));
    }
}

/// Takes out what the second version of OpenAPI, or its clients, do not know.
fn reduce(fields: &mut Map<String, Value>, free: bool) {
    let flag = |value: Option<&Value>| value.and_then(Value::as_bool).unwrap_or_default();
    for word in ["allOf", "anyOf", "oneOf", "not"] {
        fields.remove(word);
    }
    let nullable = flag(fields.get("nullable"));
    if nullable {
        fields.remove("nullable");
        fields.remove("type");
    }
    if nullable || free {
        fields.remove("items");
        fields.remove("properties");
    }
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default();
    if (kind == "array" && !fields.contains_key("items")) || (free && kind == "object") {
        fields.remove("type");
    }
    if fields.get("additionalProperties").is_some_and(|values| flag(values.get("nullable"))) {
        fields.remove("required");
    }
    let properties = fields.get("properties").and_then(Value::as_object);
    let may_be_null: Vec<String> = properties
        .into_iter()
        .flatten()
        .filter(|(_, part)| flag(part.get("nullable")))
        .map(|(name, _)| name.clone())
        .collect();
    if let Some(required) = fields.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| !may_be_null.iter().any(|null| name == null));
        if required.is_empty() {
            fields.remove("required");
        }
    }
}
