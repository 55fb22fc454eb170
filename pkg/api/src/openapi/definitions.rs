//! Types as OpenAPI definitions: those that are asked for, and all that these refer to.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Map, Value, json};

use super::{Dialect, custom};
use crate::{
    kinds::{Kind, Kinds},
    schema::{Field, ListKind, Schema, Shape, Type, TypeId, builtin},
};

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";
const EXTENSIONS: &str = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1";
const INT_OR_STRING: &str = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";
const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";
const RAW: &str = "io.k8s.apimachinery.pkg.runtime.RawExtension";

/// What `kubectl explain` is expected to say of every object.
const CREATED: &str = "CreationTimestamp is a timestamp of the server: when it made the object.";

/// Fields that may hold anything, by what upstream declares them as; all others are `RawExtension`.
const ANYTHING: &[(&str, &str, &str)] = &[
    (META, "fieldsV1", "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1"),
    (EXTENSIONS, "default", "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON"),
    (EXTENSIONS, "enum", "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON"),
    (EXTENSIONS, "example", "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON"),
];

/// Kinds of bodies and answers that are no row of their own: definition, group, kind.
const OTHER_KINDS: &[(&str, &str, &str)] = &[
    ("io.k8s.api.autoscaling.v1.Scale", "autoscaling", "Scale"),
    ("io.k8s.api.policy.v1.Eviction", "policy", "Eviction"),
    ("io.k8s.api.authentication.v1.TokenRequest", "authentication.k8s.io", "TokenRequest"),
    ("io.k8s.apimachinery.pkg.apis.meta.v1.Status", "", "Status"),
];

/// Definitions of a document in the making.
pub(super) struct Definitions {
    pub(super) dialect: Dialect,
    builtin: Schema,
    /// Group, version and kind by definition name.
    kinds: HashMap<String, Value>,
    done: BTreeMap<String, Value>,
    /// Built-in types that are referred to.
    seen: BTreeSet<TypeId>,
    waiting: Vec<TypeId>,
}

impl Definitions {
    pub(super) fn new(dialect: Dialect, kinds: &Kinds) -> Self {
        let mut names = HashMap::new();
        for kind in kinds.rows() {
            let name = definition_name(kind);
            names.insert(list_name(kind), gvk(&kind.group, &kind.version, &kind.list_kind()));
            names.insert(name, gvk(&kind.group, &kind.version, &kind.kind));
        }
        names.extend(OTHER_KINDS.iter().map(|(name, group, kind)| ((*name).to_owned(), gvk(group, "v1", kind))));
        Definitions {
            dialect,
            builtin: builtin(),
            kinds: names,
            done: BTreeMap::new(),
            seen: BTreeSet::new(),
            waiting: Vec::new(),
        }
    }

    /// All that was asked for.
    pub(super) fn finish(mut self) -> Map<String, Value> {
        let schema = self.builtin.clone();
        while let Some(id) = self.waiting.pop() {
            let ty = schema.get(id);
            let definition = self.object(ty);
            self.put(&ty.name, definition);
        }
        self.done.into_iter().collect()
    }

    /// A reference to the definition of a kind.
    pub(super) fn kind(&mut self, kind: &Kind) -> Value {
        if !kind.is_custom() {
            return self.builtin(kind.root);
        }
        let name = definition_name(kind);
        if !self.done.contains_key(&name) {
            let metadata = self.named(&format!("{META}.ObjectMeta"));
            let definition = custom::definition(self.dialect, kind, &metadata);
            self.put(&name, definition);
        }
        self.dialect.reference(&name)
    }

    /// A reference to the definition of a list of a kind.
    pub(super) fn list(&mut self, kind: &Kind) -> Value {
        let name = list_name(kind);
        if !kind.is_custom()
            && let Some(id) = self.builtin.find(&name)
        {
            return self.builtin(id);
        }
        let item = self.kind(kind);
        let metadata = self.named(&format!("{META}.ListMeta"));
        let list = custom::list(self.dialect, kind, &item, &metadata);
        self.put(&name, list);
        self.dialect.reference(&name)
    }

    /// A reference to a built-in definition.
    pub(super) fn named(&mut self, name: &str) -> Value {
        match self.builtin.find(name) {
            Some(id) => self.builtin(id),
            None => self.special(name),
        }
    }

    fn builtin(&mut self, id: TypeId) -> Value {
        if self.seen.insert(id) {
            self.waiting.push(id);
        }
        self.dialect.reference(&self.builtin.get(id).name)
    }

    fn put(&mut self, name: &str, mut definition: Value) {
        if let Some(gvk) = self.kinds.get(name) {
            definition["x-kubernetes-group-version-kind"] = json!([gvk]);
        }
        self.done.insert(name.to_owned(), definition);
    }

    /// A reference to a type that is no object of the table.
    fn special(&mut self, name: &str) -> Value {
        if !self.done.contains_key(name) {
            let v3 = self.dialect == Dialect::V3;
            let definition = match name {
                QUANTITY if v3 => json!({"oneOf": [{"type": "string"}, {"type": "number"}]}),
                QUANTITY => json!({"type": "string"}),
                INT_OR_STRING if v3 => json!({
                    "format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}],
                }),
                INT_OR_STRING => json!({"type": "string", "format": "int-or-string"}),
                _ if name.ends_with("Time") => json!({"type": "string", "format": "date-time"}),
                _ if name.starts_with(EXTENSIONS) => json!({}),
                _ => json!({"type": "object"}),
            };
            self.put(name, definition);
        }
        self.dialect.reference(name)
    }

    fn object(&mut self, ty: &Type) -> Value {
        let mut out = json!({"type": "object"});
        let properties: Map<_, _> = ty.fields.iter().map(|f| (f.name.to_string(), self.property(ty, f))).collect();
        if !properties.is_empty() {
            out["properties"] = properties.into();
        }
        let required: Vec<_> = ty.fields.iter().filter(|f| f.required).map(|f| &*f.name).collect();
        if !required.is_empty() {
            out["required"] = required.into();
        }
        if ty.atomic {
            out["x-kubernetes-map-type"] = "atomic".into();
        }
        out
    }

    fn property(&mut self, ty: &Type, field: &Field) -> Value {
        let mut out = self.shape(&field.shape, Some((ty, field)));
        let values = || field.values.iter().copied().collect::<Vec<_>>();
        if !field.values.is_empty() {
            match field.shape {
                Shape::List { .. } => out["items"]["enum"] = values().into(),
                _ => out["enum"] = values().into(),
            }
        }
        let mut extensions = Map::new();
        if self.dialect == Dialect::V3
            && let Some(default) = default(field)
        {
            extensions.insert("default".to_owned(), default);
        }
        if &*field.name == "creationTimestamp" && ty.name.ends_with(".ObjectMeta") {
            extensions.insert("description".to_owned(), CREATED.into());
        }
        if field.granular {
            extensions.insert("x-kubernetes-map-type".to_owned(), "granular".into());
        }
        let patch = &field.patch;
        let strategies: Vec<_> =
            [(patch.merge, "merge"), (patch.retain_keys, "retainKeys"), (patch.replace, "replace")]
                .into_iter()
                .filter_map(|(set, name)| set.then_some(name))
                .collect();
        if !strategies.is_empty() {
            extensions.insert("x-kubernetes-patch-strategy".to_owned(), strategies.join(",").into());
        }
        if let Some(key) = patch.merge_key {
            extensions.insert("x-kubernetes-patch-merge-key".to_owned(), key.into());
        }
        if extensions.is_empty() {
            return out;
        }
        // In v3 nothing may stand beside a reference.
        if self.dialect == Dialect::V3 && out.get("$ref").is_some() {
            out = json!({"allOf": [out]});
        }
        for (name, value) in extensions {
            out[name] = value;
        }
        out
    }

    fn shape(&mut self, shape: &Shape, at: Option<(&Type, &Field)>) -> Value {
        match shape {
            Shape::Bool => json!({"type": "boolean"}),
            Shape::Int32 => json!({"type": "integer", "format": "int32"}),
            Shape::Int64 => json!({"type": "integer", "format": "int64"}),
            Shape::Float => json!({"type": "number", "format": "double"}),
            Shape::String | Shape::Duration => json!({"type": "string"}),
            Shape::Bytes => json!({"type": "string", "format": "byte"}),
            Shape::Time => self.special(&format!("{META}.Time")),
            Shape::MicroTime => self.special(&format!("{META}.MicroTime")),
            Shape::Quantity => self.special(QUANTITY),
            Shape::IntOrString => self.special(INT_OR_STRING),
            Shape::OrBool(_) => self.special(&format!("{EXTENSIONS}.JSONSchemaPropsOrBool")),
            Shape::OrList(_) => self.special(&format!("{EXTENSIONS}.JSONSchemaPropsOrArray")),
            Shape::OrStrings(_) => self.special(&format!("{EXTENSIONS}.JSONSchemaPropsOrStringArray")),
            Shape::Any => self.special(anything(at)),
            Shape::Object(id) => self.builtin(*id),
            Shape::List { item, kind } => {
                let mut out = json!({"type": "array", "items": self.shape(item, at)});
                match kind {
                    ListKind::Atomic => out["x-kubernetes-list-type"] = "atomic".into(),
                    ListKind::Set => out["x-kubernetes-list-type"] = "set".into(),
                    ListKind::Map(keys) => {
                        out["x-kubernetes-list-type"] = "map".into();
                        out["x-kubernetes-list-map-keys"] = keys.iter().map(|key| &*key.name).collect();
                    }
                }
                out
            }
            Shape::Map { value, atomic } => {
                let mut out = json!({"type": "object", "additionalProperties": self.shape(value, at)});
                if *atomic {
                    out["x-kubernetes-map-type"] = "atomic".into();
                }
                out
            }
        }
    }
}

/// `io.k8s.api.apps.v1.Deployment`; for custom resources the group backwards, version and kind.
fn definition_name(kind: &Kind) -> String {
    if !kind.is_custom() {
        return kind.schema.get(kind.root).name.to_string();
    }
    let mut parts: Vec<_> = kind.group.split('.').rev().collect();
    parts.extend([&*kind.version, &*kind.kind]);
    parts.join(".")
}

pub(super) fn gvk(group: &str, version: &str, kind: &str) -> Value {
    json!({"group": group, "version": version, "kind": kind})
}

/// The definition of lists of a kind.
fn list_name(kind: &Kind) -> String {
    let name = definition_name(kind);
    match name.strip_suffix(&*kind.kind) {
        Some(package) if kind.is_custom() => format!("{package}{}", kind.list_kind()),
        _ => format!("{name}List"),
    }
}

fn anything(at: Option<(&Type, &Field)>) -> &'static str {
    let Some((ty, field)) = at else { return RAW };
    let found = ANYTHING.iter().find(|(package, name, _)| ty.name.starts_with(package) && *name == &*field.name);
    found.map_or(RAW, |(_, _, definition)| definition)
}

/// The default that upstream shows: the API's, or the zero value of what is always encoded.
fn default(field: &Field) -> Option<Value> {
    if let Some(default) = &field.default {
        return serde_json::from_str(default).ok();
    }
    if field.form.pointer {
        return None;
    }
    match field.shape {
        Shape::Object(_) => Some(json!({})),
        _ if field.form.omit_empty => None,
        Shape::String => Some("".into()),
        Shape::Int32 | Shape::Int64 | Shape::Float => Some(0.into()),
        Shape::Bool => Some(false.into()),
        _ => None,
    }
}
