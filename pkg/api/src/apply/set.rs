//! Sets of field paths: their algebra, and the `FieldsV1` form in which they are stored.
//!
//! A set is a tree. A node says whether its path is itself in the set, and holds longer paths.
//! `{.metadata.labels, .metadata.labels.app, .spec.ports[containerPort=80,protocol="TCP"]}` is
//!
//! ```json
//! {
//!   "f:metadata": {"f:labels": {".": {}, "f:app": {}}},
//!   "f:spec": {"f:ports": {"k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {}}}
//! }
//! ```
//!
//! What holds: a node that is no member has children.

use std::{cmp::Ordering, collections::BTreeMap, fmt};

use serde_json::{Map, Value};

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Element {
    /// `f:`: a field of an object, or a key of a map.
    Field(String),
    /// `k:`: an item of an associative list, by its key fields, sorted by name.
    Key(Vec<(String, Literal)>),
    /// `v:`: an item of a set.
    Value(Literal),
    /// `i:`: an item of a list, by its place.
    Index(i64),
}

/// A JSON value that can be ordered; integers and floats by their value.
#[derive(Clone, Debug)]
pub struct Literal(pub Value);

/// A set of paths; see the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set(BTreeMap<Element, Node>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Node {
    member: bool,
    children: Set,
}

impl Set {
    /// Adds a path; the empty path is no path.
    pub fn insert(&mut self, path: &[Element]) {
        let Some((last, parents)) = path.split_last() else { return };
        let parent = parents.iter().fold(self, |set, e| &mut set.0.entry(e.clone()).or_default().children);
        parent.0.entry(last.clone()).or_default().member = true;
    }

    /// Adds what lies below an element.
    pub(super) fn graft(&mut self, element: Element, member: bool, children: Set) {
        if member || !children.is_empty() {
            let node = self.0.entry(element).or_default();
            node.member |= member;
            node.children = node.children.union(&children);
        }
    }

    /// Whether nothing is in the set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this path is in the set.
    pub fn contains(&self, path: &[Element]) -> bool {
        match path {
            [] => false,
            [last] => self.has(last),
            [first, rest @ ..] => self.below(first).is_some_and(|set| set.contains(rest)),
        }
    }

    pub(super) fn has(&self, element: &Element) -> bool {
        self.0.get(element).is_some_and(|node| node.member)
    }

    /// What lies below an element; `None` for nothing.
    pub(super) fn below(&self, element: &Element) -> Option<&Set> {
        self.0.get(element).map(|node| &node.children).filter(|set| !set.is_empty())
    }

    /// Elements with whether they are members, and what lies below.
    pub(super) fn nodes(&self) -> impl Iterator<Item = (&Element, bool, &Set)> {
        self.0.iter().map(|(element, node)| (element, node.member, &node.children))
    }

    /// Paths in either.
    #[must_use]
    pub fn union(&self, other: &Set) -> Set {
        let mut out = self.clone();
        for (element, member, children) in other.nodes() {
            out.graft(element.clone(), member, children.clone());
        }
        out
    }

    /// Paths in both.
    #[must_use]
    pub fn intersection(&self, other: &Set) -> Set {
        let mut out = Set::default();
        for (element, member, children) in self.nodes() {
            if let Some(node) = other.0.get(element) {
                out.graft(element.clone(), member && node.member, children.intersection(&node.children));
            }
        }
        out
    }

    /// Paths in this and not in the other. A path does not stand for what lies below it.
    #[must_use]
    pub fn difference(&self, other: &Set) -> Set {
        let mut out = Set::default();
        for (element, member, children) in self.nodes() {
            match other.0.get(element) {
                Some(node) => out.graft(element.clone(), member && !node.member, children.difference(&node.children)),
                None => out.graft(element.clone(), member, children.clone()),
            }
        }
        out
    }

    /// All paths, short ones first.
    pub fn paths(&self) -> Vec<Vec<Element>> {
        let mut out = Vec::new();
        self.collect(&mut Vec::new(), &mut out);
        out
    }

    fn collect(&self, prefix: &mut Vec<Element>, out: &mut Vec<Vec<Element>>) {
        for (element, ..) in self.nodes().filter(|(_, member, _)| *member) {
            out.push(prefix.iter().chain([element]).cloned().collect());
        }
        for (element, _, children) in self.nodes() {
            prefix.push(element.clone());
            children.collect(prefix, out);
            prefix.pop();
        }
    }

    /// The `FieldsV1` form.
    pub fn to_fields_v1(&self) -> Value {
        let node = |(element, member, children): (&Element, bool, &Set)| {
            let mut below = children.to_fields_v1();
            if let (true, false, Some(map)) = (member, children.is_empty(), below.as_object_mut()) {
                map.insert(".".to_owned(), Value::Object(Map::new()));
            }
            (element.serialized(), below)
        };
        Value::Object(self.nodes().map(node).collect())
    }

    /// Reads the `FieldsV1` form. Kinds of elements that are not known are left out.
    pub fn from_fields_v1(fields: &Value) -> Result<Set, String> {
        let mut out = Set::default();
        for (text, below) in fields.as_object().into_iter().flatten() {
            if text == "." {
                continue;
            }
            if let Some(element) = Element::parse(text)? {
                let children = Set::from_fields_v1(below)?;
                let member = children.is_empty() || below.get(".").is_some();
                out.graft(element, member, children);
            }
        }
        Ok(out)
    }
}

impl Element {
    /// A field.
    pub fn field(name: &str) -> Self {
        Element::Field(name.to_owned())
    }

    fn serialized(&self) -> String {
        match self {
            Element::Field(name) => format!("f:{name}"),
            Element::Key(fields) => {
                let fields = fields.iter().map(|(name, value)| (name.clone(), value.0.clone()));
                format!("k:{}", Value::Object(fields.collect()))
            }
            Element::Value(value) => format!("v:{}", value.0),
            Element::Index(at) => format!("i:{at}"),
        }
    }

    fn parse(text: &str) -> Result<Option<Self>, String> {
        let Some((kind, rest)) = text.split_once(':') else {
            return Err(format!("missing colon: {text}"));
        };
        let json = |text: &str| serde_json::from_str::<Value>(text).map_err(|e| format!("parsing key {text}: {e}"));
        Ok(Some(match kind {
            "f" => Element::field(rest),
            "v" => Element::Value(Literal(json(rest)?)),
            "i" => Element::Index(rest.parse().map_err(|_| format!("parsing index {rest}"))?),
            "k" => match json(rest)? {
                Value::Object(fields) => Element::Key(fields.into_iter().map(|(n, v)| (n, Literal(v))).collect()),
                _ => return Err(format!("parsing key {rest}: not an object")),
            },
            _ => return Ok(None),
        }))
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Element::Field(name) => write!(f, ".{name}"),
            Element::Key(fields) => {
                let fields: Vec<_> = fields.iter().map(|(name, value)| format!("{name}={}", value.0)).collect();
                write!(f, "[{}]", fields.join(","))
            }
            Element::Value(value) => write!(f, "[={}]", value.0),
            Element::Index(at) => write!(f, "[{at}]"),
        }
    }
}

/// A path as in messages: `.spec.containers[name="a"].image`.
pub fn path_text(path: &[Element]) -> String {
    path.iter().map(ToString::to_string).collect()
}

/// Whether two values are equal, with numbers by value.
pub fn same(a: &Value, b: &Value) -> bool {
    compare(a, b) == Ordering::Equal
}

fn compare(a: &Value, b: &Value) -> Ordering {
    let rank = |v: &Value| match v {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    };
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => match (x.as_i128(), y.as_i128()) {
            (Some(x), Some(y)) => x.cmp(&y),
            _ => x.as_f64().unwrap_or_default().total_cmp(&y.as_f64().unwrap_or_default()),
        },
        (Value::String(x), Value::String(y)) => x.cmp(y),
        (Value::Bool(x), Value::Bool(y)) => x.cmp(y),
        (Value::Array(x), Value::Array(y)) => {
            let pairs = x.iter().zip(y).map(|(x, y)| compare(x, y));
            pairs.fold(Ordering::Equal, Ordering::then).then(x.len().cmp(&y.len()))
        }
        (Value::Object(x), Value::Object(y)) => {
            let pairs = x.iter().zip(y).map(|((n, x), (m, y))| n.cmp(m).then_with(|| compare(x, y)));
            pairs.fold(Ordering::Equal, Ordering::then).then(x.len().cmp(&y.len()))
        }
        _ => rank(a).cmp(&rank(b)),
    }
}

impl PartialEq for Literal {
    fn eq(&self, other: &Self) -> bool {
        same(&self.0, &other.0)
    }
}
impl Eq for Literal {}
impl PartialOrd for Literal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Literal {
    fn cmp(&self, other: &Self) -> Ordering {
        compare(&self.0, &other.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_v1() {
        let fields = json!({
            "f:metadata": {"f:labels": {".": {}, "f:app": {}}},
            "f:spec": {"f:ports": {"k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}}, "i:3": {}, "v:\"x\"": {}}},
        });
        let set = Set::from_fields_v1(&fields).unwrap();
        assert_eq!(set.to_fields_v1(), fields);
        let texts: Vec<_> = set.paths().iter().map(|p| path_text(p)).collect();
        assert_eq!(
            texts,
            [
                ".metadata.labels",
                ".metadata.labels.app",
                ".spec.ports[containerPort=80,protocol=\"TCP\"]",
                ".spec.ports[=\"x\"]",
                ".spec.ports[3]",
                ".spec.ports[containerPort=80,protocol=\"TCP\"].name",
            ]
        );
        assert!(Set::from_fields_v1(&json!({"x:unknown": {}})).unwrap().is_empty());
        assert!(Set::from_fields_v1(&json!({"nocolon": {}})).is_err());
        assert!(Set::from_fields_v1(&json!({"k:[]": {}})).is_err());
        assert!(Set::from_fields_v1(&json!({"v:{": {}})).is_err());
    }

    fn set() -> impl Strategy<Value = Set> {
        let path = proptest::collection::vec("[a-c]", 1..4);
        proptest::collection::vec(path, 0..8).prop_map(|paths| {
            let mut set = Set::default();
            for path in paths {
                set.insert(&path.iter().map(|n| Element::field(n)).collect::<Vec<_>>());
            }
            set
        })
    }

    proptest! {
        #[test]
        fn algebra(a in set(), b in set()) {
            let (union, both, only) = (a.union(&b), a.intersection(&b), a.difference(&b));
            for path in union.paths() {
                let (in_a, in_b) = (a.contains(&path), b.contains(&path));
                prop_assert!(in_a || in_b);
                prop_assert_eq!(both.contains(&path), in_a && in_b);
                prop_assert_eq!(only.contains(&path), in_a && !in_b);
            }
            prop_assert_eq!(both.union(&only), a.clone());
            prop_assert_eq!(a.union(&b), b.union(&a));
            prop_assert!(a.difference(&a).is_empty());
            prop_assert_eq!(Set::from_fields_v1(&a.to_fields_v1()).unwrap(), a);
        }
    }
}
