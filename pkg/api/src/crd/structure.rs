//! What a CustomResourceDefinition's schema says, in the form that coercion, defaulting and
//! validation walk.
//!
//! Nodes live in one arena for all versions of a definition, and a part that occurs again (a pod
//! template stands in the large bundles dozens of times) is the same node. Texts for people are not
//! kept: OpenAPI renders them from the text of the schema.

use std::{
    collections::{HashMap, HashSet},
    fmt::Write as _,
    sync::{Arc, OnceLock},
};

use serde_json::Value;

use super::{formats::Format, pattern};
use crate::{decode::Path, tree};

/// Index of a node within its [`Structure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NodeId(u32);

/// `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// None given.
    Any,
    Array,
    Boolean,
    Integer,
    Number,
    Object,
    String,
}

/// `x-kubernetes-list-type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListType {
    Atomic,
    Set,
    Map,
}

/// `additionalProperties`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Additional {
    /// Not given.
    Absent,
    /// `true`.
    Open,
    /// `false`.
    Closed,
    /// A schema.
    Node(NodeId),
}

/// A schema, or a part of one.
#[derive(Debug)]
pub(crate) struct Node {
    pub kind: Kind,
    pub list: ListType,
    pub nullable: bool,
    /// `x-kubernetes-preserve-unknown-fields`.
    pub preserve: bool,
    /// `x-kubernetes-embedded-resource`.
    pub embedded: bool,
    pub int_or_string: bool,
    /// `x-kubernetes-map-type: atomic`.
    pub atomic: bool,
    /// Whether a default, a list type or an embedded resource is here or below, in this order: where
    /// not, the walks for these stop.
    pub below: Below,
    /// Sorted by name.
    pub properties: Box<[(Arc<str>, NodeId)]>,
    pub additional: Additional,
    pub items: Option<NodeId>,
    pub default: Option<Arc<Value>>,
    pub rules: Option<Box<Rules>>,
}

/// What stands at a node or below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Below {
    pub defaults: bool,
    pub lists: bool,
    pub embedded: bool,
}

/// Rules for values.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    pub maximum: Option<f64>,
    pub exclusive_maximum: bool,
    pub minimum: Option<f64>,
    pub exclusive_minimum: bool,
    pub multiple_of: Option<f64>,
    pub max_length: Option<i64>,
    pub min_length: Option<i64>,
    pub max_items: Option<i64>,
    pub min_items: Option<i64>,
    pub max_properties: Option<i64>,
    pub min_properties: Option<i64>,
    pub pattern: Option<Arc<Pattern>>,
    pub format: Option<Format>,
    pub values: Box<[Value]>,
    pub required: Box<[Arc<str>]>,
    pub all_of: Box<[NodeId]>,
    pub any_of: Box<[NodeId]>,
    pub one_of: Box<[NodeId]>,
    pub not: Option<NodeId>,
    /// `x-kubernetes-list-map-keys`.
    pub keys: Box<[Arc<str>]>,
}

/// A regular expression, compiled when it is first needed: many never are, and compiled ones are large.
pub(crate) struct Pattern {
    pub text: Box<str>,
    compiled: OnceLock<Option<regex::Regex>>,
}

impl std::fmt::Debug for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.text)
    }
}

impl Pattern {
    /// Whether the text matches; an expression that cannot be compiled matches nothing.
    pub fn matches(&self, text: &str) -> bool {
        self.compiled.get_or_init(|| pattern::compile(&self.text).ok()).as_ref().is_some_and(|r| r.is_match(text))
    }
}

/// An arena of nodes.
#[derive(Debug)]
pub(crate) struct Structure {
    nodes: Box<[Node]>,
}

impl Structure {
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// How many nodes there are.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
}

impl Node {
    /// The schema of a property that is listed.
    pub fn property(&self, name: &str) -> Option<NodeId> {
        self.properties.binary_search_by(|(n, _)| (**n).cmp(name)).ok().map(|at| self.properties[at].1)
    }

    /// The schema of a property and its place: one that is not listed is a key of a map.
    pub fn child<'a>(&self, path: &'a Path<'a>, key: &'a str) -> Option<(NodeId, Path<'a>)> {
        match self.property(key) {
            Some(id) => Some((id, Path::Field(path, key))),
            None => self.field(key).map(|id| (id, Path::Key(path, key))),
        }
    }

    /// The schema of a property, listed or not.
    pub fn field(&self, name: &str) -> Option<NodeId> {
        self.property(name).or(match self.additional {
            Additional::Node(id) => Some(id),
            _ => None,
        })
    }
}

impl Structure {
    /// Visits what a value of the node holds and the schema describes, with its schema and its place.
    pub fn children(&self, node: &Node, value: &Value, path: &Path, mut visit: impl FnMut(NodeId, &Value, &Path)) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    if let Some((id, here)) = node.child(path, key) {
                        visit(id, value, &here);
                    }
                }
            }
            Value::Array(items) => {
                let Some(id) = node.items else { return };
                for (at, value) in items.iter().enumerate() {
                    visit(id, value, &Path::Item(path, at));
                }
            }
            _ => {}
        }
    }
}

/// Makes a [`Structure`].
#[derive(Default)]
pub(crate) struct Builder {
    nodes: Vec<Node>,
    /// What a node consists of, its parts by number.
    known: HashMap<String, NodeId>,
    names: HashSet<Arc<str>>,
    patterns: HashMap<String, Arc<Pattern>>,
}

/// Keywords whose values are part of a node as they are.
const PLAIN: [&str; 27] = [
    "type",
    "format",
    "nullable",
    "default",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "multipleOf",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "maxProperties",
    "minProperties",
    "enum",
    "required",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
    // Parts, where they are no schemas.
    "additionalProperties",
    "items",
    "not",
];

impl Builder {
    /// The arena, when all roots are in.
    pub fn finish(self) -> Structure {
        Structure { nodes: self.nodes.into() }
    }

    /// The nodes so far.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// One text for each name.
    pub fn name(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        let new: Arc<str> = name.into();
        self.names.insert(new.clone());
        new
    }

    fn pattern(&mut self, text: &str) -> Arc<Pattern> {
        let make = || Arc::new(Pattern { text: text.into(), compiled: OnceLock::new() });
        self.patterns.entry(text.to_owned()).or_insert_with(make).clone()
    }

    /// Adds a schema (`JSONSchemaProps`, valid as a CustomResourceDefinition has it).
    pub fn add(&mut self, schema: &Value) -> NodeId {
        let properties: Vec<_> = tree::entries(schema, "properties")
            .map(|(name, part)| {
                let id = self.add(part);
                (self.name(name), id)
            })
            .collect();
        let additional = match &schema["additionalProperties"] {
            Value::Bool(true) => Additional::Open,
            Value::Bool(false) => Additional::Closed,
            part @ Value::Object(_) => Additional::Node(self.add(part)),
            _ => Additional::Absent,
        };
        let items = schema["items"].is_object().then(|| self.add(&schema["items"]));
        let not = schema["not"].is_object().then(|| self.add(&schema["not"]));
        let mut all = |word: &str| -> Box<[NodeId]> { tree::items(schema, word).iter().map(|s| self.add(s)).collect() };
        let (all_of, any_of, one_of) = (all("allOf"), all("anyOf"), all("oneOf"));

        let mut key = String::new();
        // Writing to a text cannot fail.
        let _ = write!(key, "{additional:?}{items:?}{not:?}{all_of:?}{any_of:?}{one_of:?}");
        for word in PLAIN {
            match schema.get(word) {
                None => {}
                Some(Value::Object(_)) if word != "default" => {}
                Some(value) => {
                    let _ = write!(key, ",{word}{value}");
                }
            }
        }
        for (name, id) in &properties {
            let _ = write!(key, ",{name:?}{}", id.0);
        }
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let rules = self.rules(schema, [all_of, any_of, one_of], not);
        let node = self.make(schema, properties, additional, items, rules);
        // Each node stands for a part of a text of at most a few megabytes.
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(node);
        self.known.insert(key, id);
        id
    }

    fn make(
        &self,
        schema: &Value,
        properties: Vec<(Arc<str>, NodeId)>,
        additional: Additional,
        items: Option<NodeId>,
        rules: Option<Box<Rules>>,
    ) -> Node {
        let list = match tree::text(schema, "x-kubernetes-list-type") {
            "set" => ListType::Set,
            "map" => ListType::Map,
            _ => ListType::Atomic,
        };
        let default = Some(&schema["default"]).filter(|d| !d.is_null()).cloned().map(Arc::new);
        let embedded = tree::flag(schema, "x-kubernetes-embedded-resource");
        let mut below = Below { defaults: default.is_some(), lists: list != ListType::Atomic, embedded };
        let mut parts: Vec<NodeId> = properties.iter().map(|(_, id)| *id).chain(items).collect();
        if let Additional::Node(id) = additional {
            parts.push(id);
        }
        for id in parts {
            let part = self.node(id).below;
            below.defaults |= part.defaults;
            below.lists |= part.lists;
            below.embedded |= part.embedded;
        }
        Node {
            kind: match tree::text(schema, "type") {
                "array" => Kind::Array,
                "boolean" => Kind::Boolean,
                "integer" => Kind::Integer,
                "number" => Kind::Number,
                "object" => Kind::Object,
                "string" => Kind::String,
                _ => Kind::Any,
            },
            list,
            nullable: tree::flag(schema, "nullable"),
            preserve: tree::flag(schema, "x-kubernetes-preserve-unknown-fields"),
            embedded,
            int_or_string: tree::flag(schema, "x-kubernetes-int-or-string"),
            atomic: tree::text(schema, "x-kubernetes-map-type") == "atomic",
            below,
            properties: properties.into(),
            additional,
            items,
            default,
            rules,
        }
    }

    fn rules(&mut self, schema: &Value, junctors: [Box<[NodeId]>; 3], not: Option<NodeId>) -> Option<Box<Rules>> {
        const WORDS: [&str; 15] = [
            "maximum",
            "minimum",
            "multipleOf",
            "maxLength",
            "minLength",
            "maxItems",
            "minItems",
            "maxProperties",
            "minProperties",
            "pattern",
            "format",
            "enum",
            "required",
            "not",
            "x-kubernetes-list-map-keys",
        ];
        let [all_of, any_of, one_of] = junctors;
        let any = [&all_of, &any_of, &one_of].iter().any(|list| !list.is_empty());
        if !any && !WORDS.iter().any(|word| tree::has(schema, word)) {
            return None;
        }
        let float = |word: &str| schema[word].as_f64();
        let int = |word: &str| schema[word].as_i64();
        let mut texts =
            |word: &str| -> Box<[Arc<str>]> { tree::texts(schema, word).map(|text| self.name(text)).collect() };
        let (required, keys) = (texts("required"), texts("x-kubernetes-list-map-keys"));
        let pattern = tree::text(schema, "pattern");
        let typed = match tree::flag(schema, "x-kubernetes-int-or-string") {
            true => "",
            false => tree::text(schema, "type"),
        };
        Some(Box::new(Rules {
            maximum: float("maximum"),
            exclusive_maximum: tree::flag(schema, "exclusiveMaximum"),
            minimum: float("minimum"),
            exclusive_minimum: tree::flag(schema, "exclusiveMinimum"),
            multiple_of: float("multipleOf"),
            max_length: int("maxLength"),
            min_length: int("minLength"),
            max_items: int("maxItems"),
            min_items: int("minItems"),
            max_properties: int("maxProperties"),
            min_properties: int("minProperties"),
            pattern: (!pattern.is_empty()).then(|| self.pattern(pattern)),
            format: Format::find(tree::text(schema, "format"), typed),
            values: tree::items(schema, "enum").into(),
            required,
            all_of,
            any_of,
            one_of,
            not,
            keys,
        }))
    }
}
