//! Walks over objects with their schema: which fields an object has, how two objects differ,
//! what is left of an object without certain fields.
//!
//! A value is a leaf if it is a scalar or its schema calls it atomic; a leaf is owned as a whole.
//! What the schema does not describe (`Shape::Any`, unknown fields that are kept) is granular
//! where it is an object, and a leaf where it is a list.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::set::{Element, Literal, Set, same};
use crate::{
    decode,
    quantity::Quantity,
    schema::{Key, ListKind, Schema, Shape, Type},
};

/// A place in the schema.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The arena.
    pub schema: &'a Schema,
    /// `None` where the schema does not describe the value.
    pub shape: Option<&'a Shape>,
    /// The field asks to look into its type although that is atomic.
    pub granular: bool,
}

/// How a value is walked.
#[derive(Clone, Copy)]
pub enum View<'a> {
    /// As a whole.
    Leaf,
    /// By its fields.
    Struct(&'a Type),
    /// By its keys.
    Map,
    /// By its items' values.
    Set,
    /// By its items' key fields.
    Keyed(&'a [Key]),
}

impl<'a> Place<'a> {
    /// A whole object.
    pub fn root(schema: &'a Schema, shape: &'a Shape) -> Self {
        Place { schema, shape: Some(shape), granular: false }
    }

    /// How the value is walked. `value` decides only where the schema does not.
    pub fn view(&self, value: Option<&Value>) -> View<'a> {
        match self.shape {
            Some(Shape::Object(id)) => match self.schema.get(*id) {
                t if t.atomic && !self.granular => View::Leaf,
                t => View::Struct(t),
            },
            Some(Shape::Map { atomic: false, .. }) => View::Map,
            Some(Shape::List { kind: ListKind::Set, .. }) => View::Set,
            Some(Shape::List { kind: ListKind::Map(keys), .. }) => View::Keyed(keys),
            None | Some(Shape::Any | Shape::OrBool(_) | Shape::OrList(_) | Shape::OrStrings(_))
                if value.is_some_and(Value::is_object) =>
            {
                View::Map
            }
            _ => View::Leaf,
        }
    }

    /// Whether the schema calls the value atomic.
    pub fn is_atomic(&self) -> bool {
        match self.shape {
            Some(Shape::Object(id)) => self.schema.get(*id).atomic && !self.granular,
            Some(Shape::Map { atomic, .. }) => *atomic,
            Some(Shape::List { kind, .. }) => *kind == ListKind::Atomic,
            _ => false,
        }
    }

    /// The place of a field, or of a key of a map.
    pub fn field(&self, name: &str) -> Place<'a> {
        let (shape, granular) = match self.shape {
            Some(Shape::Object(id)) => {
                self.schema.get(*id).field(name).map_or((None, false), |f| (Some(&f.shape), f.granular))
            }
            Some(Shape::Map { value, .. }) => (Some(&**value), false),
            _ => (None, false),
        };
        Place { schema: self.schema, shape, granular }
    }

    /// The place of a list's items.
    pub fn item(&self) -> Place<'a> {
        let shape = match self.shape {
            Some(Shape::List { item, .. }) => Some(&**item),
            _ => None,
        };
        Place { schema: self.schema, shape, granular: false }
    }

    /// The place one step further.
    pub fn child(&self, element: &Element) -> Place<'a> {
        match element {
            Element::Field(name) => self.field(name),
            _ => self.item(),
        }
    }

    /// Whether the schema names this field.
    pub fn names(&self, element: &Element) -> bool {
        match (self.shape, element) {
            (Some(Shape::Object(id)), Element::Field(name)) => self.schema.get(*id).field(name).is_some(),
            _ => false,
        }
    }

    /// What upstream's types hold where JSON has nothing: for a struct that is never left out, and a
    /// list or map that is null rather than absent. Nobody owns these as such.
    fn zero(&self, name: &str) -> Option<Value> {
        let Some(Shape::Object(id)) = self.shape else { return None };
        let of = self.schema.get(*id);
        let field = of.field(name).filter(|f| of.name.starts_with("io.k8s.") && !f.form.pointer)?;
        match field.shape {
            Shape::Object(id) if decode::plain(field).is_some() => Some(decode::zero(self.schema, id)),
            Shape::List { .. } | Shape::Map { .. } if !field.form.omit_empty => Some(Value::Null),
            _ => None,
        }
    }
}

/// What an item of an associative list or a set is called.
pub fn item_element(view: View<'_>, item: &Value) -> Result<Element, String> {
    let View::Keyed(keys) = view else {
        return match item {
            Value::Object(_) => Err("associative list without keys has an element that's a map type".to_owned()),
            Value::Array(_) => Err("not supported: associative list with lists as elements".to_owned()),
            Value::Null => Err("associative list without keys has an element that's an explicit null".to_owned()),
            scalar => Ok(Element::Value(Literal(scalar.clone()))),
        };
    };
    let fields = match item {
        Value::Object(fields) => fields,
        Value::Null => return Err("associative list with keys may not have a null element".to_owned()),
        _ => return Err("associative list with keys may not have non-map elements".to_owned()),
    };
    let given = |key: &Key| {
        let default = || serde_json::from_str(key.default.as_deref()?).ok();
        let value = fields.get(&*key.name).cloned().or_else(default)?;
        Some((key.name.to_string(), Literal(value)))
    };
    let mut given: Vec<_> = keys.iter().filter_map(given).collect();
    if given.is_empty() {
        let names: Vec<_> = keys.iter().map(|k| format!("{:?}", &*k.name)).collect();
        return Err(format!(
            "associative list with keys has an element that omits all key fields [{}] (and doesn't have default values \
             for any key fields)",
            names.join(" ")
        ));
    }
    given.sort();
    Ok(Element::Key(given))
}

/// Items with what they are called; items that cannot be named are left out.
fn named_items<'v>(view: View<'_>, list: Option<&'v Value>) -> Vec<(Element, &'v Value)> {
    let items = list.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(|item| Some((item_element(view, item).ok()?, item))).collect()
}

/// All fields of a value. What is empty is owned as such, lists too (where upstream forgets them,
/// so that applying again would bring back what the first time has pruned).
pub fn field_set(place: Place<'_>, value: &Value) -> Set {
    let mut set = Set::default();
    match place.view(Some(value)) {
        View::Leaf => {}
        View::Struct(_) | View::Map => {
            for (name, value) in value.as_object().into_iter().flatten() {
                let child = place.field(name);
                let element = Element::field(name);
                let member =
                    is_void(Some(value)) || !place.names(&element) || matches!(child.view(Some(value)), View::Leaf);
                set.graft(element, member, field_set(child, value));
            }
        }
        view @ (View::Set | View::Keyed(_)) => {
            let mut named: BTreeMap<Element, Vec<&Value>> = BTreeMap::new();
            for (element, item) in named_items(view, Some(value)) {
                named.entry(element).or_default().push(item);
            }
            for (element, items) in named {
                // What an item that is there twice consists of is nobody's.
                let below = if let [item] = items.as_slice() { field_set(place.item(), item) } else { Set::default() };
                set.graft(element, true, below);
            }
        }
    }
    set
}

/// How one object differs from another.
#[derive(Debug, Default)]
pub struct Comparison {
    /// Fields that are only in the first.
    pub removed: Set,
    /// Fields that are in both, with other values.
    pub modified: Set,
    /// Fields that are only in the second.
    pub added: Set,
}

/// How `new` differs from `old`.
pub fn compare(place: Place<'_>, old: &Value, new: &Value) -> Comparison {
    let mut walk = CompareWalk { path: Vec::new(), out: Comparison::default() };
    walk.value(place, Some(old), Some(new));
    walk.out
}

struct CompareWalk {
    path: Vec<Element>,
    out: Comparison,
}

fn is_void(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::Object(map)) => map.is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        Some(_) => false,
    }
}

impl CompareWalk {
    fn below(&mut self, element: Element, place: Place<'_>, old: Option<&Value>, new: Option<&Value>) {
        self.path.push(element);
        self.value(place, old, new);
        self.path.pop();
    }

    fn value(&mut self, place: Place<'_>, old: Option<&Value>, new: Option<&Value>) {
        let view = place.view(new.or(old));
        if new.is_some() && matches!(place.view(old), View::Map) && !matches!(view, View::Map) {
            self.children(place, old, None);
        }
        match view {
            View::Leaf => return self.leaf(place, old, new),
            View::Struct(_) | View::Map | View::Set | View::Keyed(_) if is_void(old) && is_void(new) => {
                return self.leaf(place, old, new);
            }
            View::Map if old.is_some_and(|v| !v.is_object() && !v.is_null()) => {
                self.children(place, None, new);
                return self.leaf(place, old, new);
            }
            View::Struct(_) | View::Map => self.children(place, old, new),
            View::Set | View::Keyed(_) => self.items(place, view, old, new),
        }
        match (old, new) {
            (None, Some(_)) => self.out.added.insert(&self.path),
            (Some(_), None) => self.out.removed.insert(&self.path),
            _ => {}
        }
    }

    fn leaf(&mut self, place: Place<'_>, old: Option<&Value>, new: Option<&Value>) {
        match (old, new) {
            (None, Some(_)) => self.out.added.insert(&self.path),
            (Some(_), None) => self.out.removed.insert(&self.path),
            (Some(old), Some(new)) if !same_leaf(place, old, new) => self.out.modified.insert(&self.path),
            _ => {}
        }
    }

    fn children(&mut self, place: Place<'_>, old: Option<&Value>, new: Option<&Value>) {
        let (in_old, in_new) = (old.and_then(Value::as_object), new.and_then(Value::as_object));
        let known = |name: &&String| in_old.is_some_and(|map| map.contains_key(*name));
        let only_new = in_new.into_iter().flat_map(Map::keys).filter(|name| !known(name));
        for name in in_old.into_iter().flat_map(Map::keys).chain(only_new) {
            let (mut old, mut new) = (in_old.and_then(|map| map.get(name)), in_new.and_then(|map| map.get(name)));
            let zero = if old.is_none() || new.is_none() { place.zero(name) } else { None };
            old = old.or(zero.as_ref().filter(|_| in_old.is_some()));
            new = new.or(zero.as_ref().filter(|_| in_new.is_some()));
            self.below(Element::field(name), place.field(name), old, new);
        }
    }

    fn items(&mut self, place: Place<'_>, view: View<'_>, old: Option<&Value>, new: Option<&Value>) {
        let mut named: BTreeMap<Element, (Vec<&Value>, Vec<&Value>)> = BTreeMap::new();
        for (element, item) in named_items(view, old) {
            named.entry(element).or_default().0.push(item);
        }
        for (element, item) in named_items(view, new) {
            named.entry(element).or_default().1.push(item);
        }
        let item = place.item();
        for (element, (old, new)) in named {
            match (old.as_slice(), new.as_slice()) {
                // An item that is there more than once is one value.
                ([_, _, ..], [_, _, ..]) => {
                    let equal = old.len() == new.len() && old.iter().zip(&new).all(|(o, n)| same(o, n));
                    if !equal {
                        self.mark(element, |out| &mut out.modified);
                    }
                }
                ([_, _, ..], rest) => {
                    if let Some(one) = rest.first() {
                        self.below(element.clone(), item, None, Some(one));
                    }
                    self.mark(element, |out| &mut out.removed);
                }
                (rest, [_, _, ..]) => {
                    if let Some(one) = rest.first() {
                        self.below(element.clone(), item, Some(one), None);
                    }
                    self.mark(element, |out| &mut out.added);
                }
                (old, new) => self.below(element, item, old.first().copied(), new.first().copied()),
            }
        }
    }

    fn mark(&mut self, element: Element, set: impl Fn(&mut Comparison) -> &mut Set) {
        self.path.push(element);
        set(&mut self.out).insert(&self.path);
        self.path.pop();
    }
}

/// Quantities are compared by value, so that `1000m` is `1`.
fn same_leaf(place: Place<'_>, old: &Value, new: &Value) -> bool {
    let quantity = |value: &Value| Quantity::from_value(value).ok().filter(|_| !value.is_null());
    match (place.shape, quantity(old), quantity(new)) {
        (Some(Shape::Quantity), Some(old), Some(new)) => old == new,
        _ => same(old, new),
    }
}

/// A value without the fields of a set. What is emptied by that goes too, unless it is `owned` as
/// such.
pub fn remove(place: Place<'_>, value: &Value, gone: &Set, owned: Option<&Set>) -> Value {
    let view = place.view(Some(value));
    let keep = |element: &Element, place: Place<'_>, value: &Value| {
        if gone.has(element) {
            return None;
        }
        let Some(below) = gone.below(element) else { return Some(value.clone()) };
        let left = remove(place, value, below, owned.and_then(|set| set.below(element)));
        let emptied = is_void(Some(&left)) && !is_void(Some(value));
        (!emptied || owned.is_some_and(|set| set.has(element))).then_some(left)
    };
    match (view, value) {
        (View::Struct(_) | View::Map, Value::Object(map)) => {
            let kept = |(name, value): (&String, &Value)| {
                Some((name.clone(), keep(&Element::field(name), place.field(name), value)?))
            };
            Value::Object(map.iter().filter_map(kept).collect())
        }
        (View::Set | View::Keyed(_), Value::Array(items)) => {
            let kept = |item: &Value| match item_element(view, item) {
                Ok(element) => keep(&element, place.item(), item),
                Err(_) => Some(item.clone()),
            };
            Value::Array(items.iter().filter_map(kept).collect())
        }
        _ => value.clone(),
    }
}

/// The set, with the named fields that lead to its members.
pub fn with_named_fields(place: Place<'_>, set: &Set) -> Set {
    let mut out = Set::default();
    for (element, member, children) in set.nodes() {
        let named = !children.is_empty() && place.names(element);
        out.graft(element.clone(), member || named, with_named_fields(place.child(element), children));
    }
    out
}

/// A set that was written when fields were granular that are atomic now.
pub fn reconcile(place: Place<'_>, set: &Set) -> Set {
    let mut out = Set::default();
    for (element, member, children) in set.nodes() {
        let child = place.child(element);
        if child.is_atomic() {
            out.graft(element.clone(), true, Set::default());
        } else {
            out.graft(element.clone(), member, reconcile(child, children));
        }
    }
    out
}
