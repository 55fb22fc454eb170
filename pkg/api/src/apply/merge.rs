//! Merge of an applied configuration into the live object, and the checks that a configuration
//! must pass first.
//!
//! Nothing is removed by a merge. An associative list comes out in the order of the applied
//! items; live items that are not applied keep their place relative to the items around them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{
    set::Element,
    walk::{Place, View, item_element},
};
use crate::schema::Shape;

/// The first thing that is wrong with a configuration: path and text.
pub fn check(place: Place<'_>, value: &Value, path: &mut String) -> Result<(), String> {
    let length = path.len();
    let fault = |path: &str, text: String| Err(if path.is_empty() { text } else { format!("{path}: {text}") });
    match (place.view(Some(value)), value) {
        (_, Value::Null) => {}
        (View::Struct(of), Value::Object(fields)) => {
            for (name, value) in fields {
                path.push('.');
                path.push_str(name);
                if of.field(name).is_none() && !of.preserve_unknown {
                    return fault(path, "field not declared in schema".to_owned());
                }
                check(place.field(name), value, path)?;
                path.truncate(length);
            }
        }
        (View::Map, Value::Object(fields)) => {
            for (name, value) in fields {
                path.push('.');
                path.push_str(name);
                check(place.field(name), value, path)?;
                path.truncate(length);
            }
        }
        (View::Struct(_) | View::Map, other) => return fault(path, format!("expected map, got {}", shown(other))),
        (view @ (View::Set | View::Keyed(_)), Value::Array(items)) => {
            let mut seen = BTreeSet::new();
            for (at, item) in items.iter().enumerate() {
                let element = match item_element(view, item) {
                    Ok(element) => element,
                    Err(text) => return fault(path, format!("element {at}: {text}")),
                };
                if seen.contains(&element) {
                    return fault(path, format!("duplicate entries for key {element}"));
                }
                path.push_str(&element.to_string());
                check(place.item(), item, path)?;
                path.truncate(length);
                seen.insert(element);
            }
        }
        (View::Set | View::Keyed(_), other) => return fault(path, format!("expected list, got {}", shown(other))),
        (View::Leaf, value) => return check_leaf(place, value).or_else(|text| fault(path, text)),
    }
    Ok(())
}

fn check_leaf(place: Place<'_>, value: &Value) -> Result<(), String> {
    let (fits, expected) = match place.shape {
        Some(Shape::Bool) => (value.is_boolean(), "boolean"),
        Some(Shape::Int32 | Shape::Int64 | Shape::Float) => (value.is_number(), "numeric (int or float)"),
        Some(Shape::String | Shape::Bytes | Shape::Time | Shape::MicroTime | Shape::Duration) => {
            (value.is_string(), "string")
        }
        Some(Shape::Quantity | Shape::IntOrString) => (value.is_string() || value.is_number(), "any scalar"),
        Some(Shape::Object(_) | Shape::Map { .. }) => (value.is_object(), "map"),
        Some(Shape::List { .. }) => (value.is_array(), "list"),
        Some(Shape::Any | Shape::OrBool(_) | Shape::OrList(_) | Shape::OrStrings(_)) | None => (true, ""),
    };
    if fits { Ok(()) } else { Err(format!("expected {expected}, got {}", shown(value))) }
}

fn shown(value: &Value) -> String {
    let mut text = value.to_string();
    if text.len() > 100 {
        let end = (0..=100).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Merges a configuration that passed [`check`] into the live value.
pub fn merge(place: Place<'_>, live: Option<&Value>, applied: &Value) -> Value {
    let Some(live) = live else { return applied.clone() };
    match (place.view(Some(applied)), live, applied) {
        (View::Struct(_) | View::Map, Value::Object(live), Value::Object(applied)) => {
            let mut out: Map<String, Value> = live.clone();
            for (name, value) in applied {
                let merged = merge(place.field(name), live.get(name), value);
                out.insert(name.clone(), merged);
            }
            Value::Object(out)
        }
        (view @ (View::Set | View::Keyed(_)), Value::Array(live), Value::Array(applied)) => {
            Value::Array(merge_lists(place, view, live, applied))
        }
        // Null does not clear what is granular.
        (View::Struct(_) | View::Map, Value::Object(map), Value::Null) if !map.is_empty() => live.clone(),
        (View::Set | View::Keyed(_), Value::Array(items), Value::Null) if !items.is_empty() => live.clone(),
        _ => applied.clone(),
    }
}

/// Live items with their names; what cannot be named, or is there twice, is never merged into.
fn merge_lists(place: Place<'_>, view: View<'_>, live: &[Value], applied: &[Value]) -> Vec<Value> {
    let name = |items: &[Value]| -> Vec<Option<Element>> { items.iter().map(|i| item_element(view, i).ok()).collect() };
    let (live_names, applied_names) = (name(live), name(applied));
    let applied_set: BTreeSet<_> = applied_names.iter().flatten().collect();
    let mut live_items: BTreeMap<&Element, Vec<&Value>> = BTreeMap::new();
    for (name, item) in live_names.iter().zip(live) {
        if let Some(name) = name {
            live_items.entry(name).or_default().push(item);
        }
    }
    let is_applied = |name: &Option<Element>| name.as_ref().is_some_and(|name| applied_set.contains(name));
    let is_live = |name: &Option<Element>| name.as_ref().is_some_and(|name| live_items.contains_key(name));
    let merged = |at: usize| match applied_names[at].as_ref().and_then(|name| live_items.get(name)).map(Vec::as_slice) {
        Some([live]) => merge(place.item(), Some(live), &applied[at]),
        _ => applied[at].clone(),
    };
    let mut shared = applied_names.iter().filter(|name| is_live(name));
    let mut next_shared = shared.next();
    let mut done = BTreeSet::new();
    let mut out = Vec::with_capacity(live.len().max(applied.len()));
    let (mut l, mut a) = (0, 0);
    while l < live.len() || a < applied.len() {
        if l < live.len() && a < applied.len() {
            let name = &live_names[l];
            if *name == applied_names[a] {
                done.insert(name);
                out.push(merged(a));
                (l, a) = (l + 1, a + 1);
                next_shared = shared.next();
                continue;
            }
            // A shared item, but not the one whose turn it is: it comes with the applied ones.
            if is_applied(name) && next_shared.is_some_and(|next| next != name) {
                l += 1;
                continue;
            }
        }
        if l < live.len() {
            let name = &live_names[l];
            if !is_applied(name) {
                out.push(live[l].clone());
                l += 1;
                continue;
            } else if done.contains(&name) {
                l += 1;
            }
        }
        if a < applied.len() {
            let name = &applied_names[a];
            done.insert(name);
            out.push(merged(a));
            a += 1;
            if next_shared == Some(name) {
                next_shared = shared.next();
            }
        }
    }
    out
}
