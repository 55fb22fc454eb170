//! Strategic merge patch: a merge patch that knows from the schema which lists to merge, and by
//! which key.
//!
//! A list whose field has the patch strategy `merge` is merged: objects by the field's merge key,
//! scalars as a set. All other lists are replaced. Directives in the patch:
//!
//! | directive | where | effect |
//! |---|---|---|
//! | `$patch: replace` | object | the rest of the patch object stands in for the live one |
//! | `$patch: delete` | object | the live object is emptied |
//! | `$patch: delete` | list item | items with its merge key go |
//! | `$patch: replace` | list item | the other items of the patch stand in for the live list |
//! | `$retainKeys: [a]` | object | live fields but these go; the patch may hold no others |
//! | `$deleteFromPrimitiveList/x: [v]` | object | scalars leave the list `x` |
//! | `$setElementOrder/x: […]` | object | the order of `x` after the merge |
//!
//! Example: live `containers: [{name: a, image: x}, {name: b}]` and patch
//! `containers: [{name: a, image: y}, {name: b, $patch: delete}, {name: c}]` give
//! `containers: [{name: a, image: y}, {name: c}]`.
//!
//! Source: apimachinery `pkg/util/strategicpatch`, and the design note "preserve order in strategic
//! merge patch".

use serde_json::{Map, Value};

use crate::{
    Status,
    schema::{Patch, Schema, Shape, TypeId},
};

const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList";
const ELEMENT_ORDER: &str = "$setElementOrder";

/// Applies a strategic merge patch to an object of type `root`.
///
/// # Errors
/// 400 for a malformed patch, 422 for lists of lists.
pub fn strategic(schema: &Schema, root: TypeId, live: &Value, patch: &Value) -> Result<Value, Status> {
    let (Some(live), Some(patch)) = (live.as_object(), patch.as_object()) else {
        return Err(Status::bad_request("invalid JSON document"));
    };
    let walk = Walk { schema, shape: Some(&Shape::Object(root)) };
    walk.object(live.clone(), patch).map(Value::Object)
}

/// Where the walk is: the shape of the object at hand; `None` where the schema says nothing.
#[derive(Clone, Copy)]
struct Walk<'a> {
    schema: &'a Schema,
    shape: Option<&'a Shape>,
}

/// A list field of the object at hand.
struct ListField<'a> {
    item: Walk<'a>,
    patch: Patch,
}

impl<'a> Walk<'a> {
    fn field(&self, name: &str) -> (Walk<'a>, Patch) {
        let (shape, patch) = match self.shape {
            Some(Shape::Object(id)) => match self.schema.get(*id).field(name) {
                Some(field) => (Some(&field.shape), field.patch.clone()),
                None => (None, Patch::default()),
            },
            Some(Shape::Map { value, .. }) => (Some(&**value), Patch::default()),
            _ => (None, Patch::default()),
        };
        (Walk { schema: self.schema, shape }, patch)
    }

    fn list_field(&self, name: &str) -> ListField<'a> {
        let (list, patch) = self.field(name);
        let shape = match list.shape {
            Some(Shape::List { item, .. }) => Some(&**item),
            _ => None,
        };
        ListField { item: Walk { schema: self.schema, shape }, patch }
    }

    fn object(&self, mut live: Map<String, Value>, patch: &Map<String, Value>) -> Result<Map<String, Value>, Status> {
        match patch.get(DIRECTIVE).map(|d| (d, d.as_str())) {
            None => {}
            Some((_, Some("replace"))) => {
                let rest = patch.iter().filter(|(name, value)| *name != DIRECTIVE && !value.is_null());
                return Ok(rest.filter_map(|(name, value)| Some((name.clone(), plain(value)?))).collect());
            }
            Some((_, Some("delete"))) => return Ok(Map::new()),
            Some((other, _)) => return Err(unknown_directive(other, patch)),
        }
        if let Some(keys) = patch.get(RETAIN_KEYS) {
            retain_keys(&mut live, patch, keys)?;
        }
        let ordered = self.ordered_lists(&mut live, patch)?;
        for (name, value) in patch.iter().filter(|(name, _)| !is_directive(name) && !ordered.contains(&name.as_str())) {
            if value.is_null() {
                live.remove(name);
            } else {
                self.value(&mut live, name, value)?;
            }
        }
        for (name, value) in patch.iter().filter(|(name, _)| name.starts_with(DELETE_FROM_LIST)) {
            let list = directive_field(name).ok_or_else(|| bad_format("primitive list"))?;
            if value.is_null() {
                live.remove(list);
                continue;
            }
            let gone = value.as_array().ok_or_else(|| bad_format("primitive list"))?;
            if let Some(Value::Array(items)) = live.get_mut(list) {
                items.retain(|item| !gone.contains(item));
            }
        }
        Ok(live)
    }

    /// One field that is no directive and not null.
    fn value(&self, live: &mut Map<String, Value>, name: &str, patch: &Value) -> Result<(), Status> {
        let merged = match (live.remove(name), patch) {
            (Some(Value::Object(old)), Value::Object(fields)) => match self.field(name) {
                (_, of) if of.replace => plain(patch),
                (field, _) => Some(Value::Object(field.object(old, fields)?)),
            },
            (Some(Value::Array(old)), Value::Array(patch)) => {
                let field = self.list_field(name);
                Some(Value::Array(if field.patch.merge { field.merge(old, patch, name)? } else { patch.clone() }))
            }
            (_, patch) => plain(patch),
        };
        if let Some(merged) = merged {
            live.insert(name.to_owned(), merged);
        }
        Ok(())
    }

    /// Handles the lists that have an order in the patch, and tells which those are.
    fn ordered_lists<'p>(
        &self,
        live: &mut Map<String, Value>,
        patch: &'p Map<String, Value>,
    ) -> Result<Vec<&'p str>, Status> {
        let mut done = Vec::new();
        for (directive, order) in patch.iter().filter(|(name, _)| name.starts_with(ELEMENT_ORDER)) {
            let malformed = || bad_format("setElementOrder list");
            let name = directive_field(directive).ok_or_else(malformed)?;
            let order = order.as_array().ok_or_else(malformed)?;
            let old = match live.get(name) {
                None => None,
                Some(list) => Some(list.as_array().ok_or_else(malformed)?.clone()),
            };
            let new = match patch.get(name) {
                None => None,
                // The deletion is done by the caller.
                Some(Value::Null) => continue,
                Some(list) => Some(list.as_array().ok_or_else(malformed)?),
            };
            let field = self.list_field(name);
            let key = field.patch.merge_key;
            if let Some(new) = new {
                check_order(new, order, key)?;
            }
            let merged = match (&old, new) {
                (Some(old), None) => old.clone(),
                (None, Some(new)) => new.iter().filter_map(plain).collect(),
                (Some(old), Some(new)) if field.patch.merge => field.merge(old.clone(), new, name)?,
                (Some(_), Some(new)) => new.clone(),
                (None, None) => continue,
            };
            live.insert(name.to_owned(), Value::Array(sort(merged, order, &old.unwrap_or_default(), key)?));
            done.push(name);
        }
        Ok(done)
    }
}

impl ListField<'_> {
    fn merge(&self, old: Vec<Value>, patch: &[Value], name: &str) -> Result<Vec<Value>, Status> {
        let mut kinds = old.iter().chain(patch).map(std::mem::discriminant);
        if old.iter().chain(patch).any(Value::is_array) {
            return Err(Status::unprocessable("lists of lists are not supported"));
        }
        let first = kinds.next();
        if kinds.any(|kind| Some(kind) != first) {
            return Err(Status::bad_request(format!("list element types are not identical: {name}")));
        }
        if !old.iter().chain(patch).any(Value::is_object) {
            let mut merged = Vec::with_capacity(old.len() + patch.len());
            for item in old.iter().chain(patch) {
                if !merged.contains(item) {
                    merged.push(item.clone());
                }
            }
            return sort(merged, patch, &old, None);
        }
        let Some(key) = self.patch.merge_key else {
            return Err(Status::bad_request(format!("cannot merge lists without merge key for {name}")));
        };
        let (mut merged, patch) = special_items(old, patch, key)?;
        let old = merged.clone();
        for item in &patch {
            let object = item.as_object().ok_or_else(|| no_key(item, key))?;
            let id = object.get(key).ok_or_else(|| no_key(item, key))?;
            match merged.iter_mut().find(|m| m.get(key) == Some(id)) {
                Some(Value::Object(found)) => *found = self.item.object(std::mem::take(found), object)?,
                _ => merged.extend(plain(item)),
            }
        }
        sort(merged, &patch, &old, Some(key))
    }
}

/// Carries out the `$patch` items of a list. Gives the live items that stay, and the patch items
/// that are no directives.
fn special_items(mut old: Vec<Value>, patch: &[Value], key: &str) -> Result<(Vec<Value>, Vec<Value>), Status> {
    let (mut rest, mut replace) = (Vec::new(), false);
    for item in patch {
        match item.get(DIRECTIVE).map(|d| (d, d.as_str())) {
            None => rest.push(item.clone()),
            Some((_, Some("delete"))) => {
                let id = item.get(key).ok_or_else(|| no_key(item, key))?;
                old.retain(|o| o.get(key) != Some(id));
            }
            Some((_, Some("replace"))) => replace = true,
            Some((_, Some("merge"))) => {
                return Err(Status::bad_request("merging lists cannot yet be specified in the patch"));
            }
            Some((other, _)) => return Err(unknown_directive(other, &item.as_object().cloned().unwrap_or_default())),
        }
    }
    if replace { Ok((rest.iter().filter_map(plain).collect(), Vec::new())) } else { Ok((old, rest)) }
}

/// Orders a merged list: what is in `order` goes by it, the rest by the live list `old`; the two
/// are interleaved so that the live order holds as far as it can.
fn sort(items: Vec<Value>, order: &[Value], old: &[Value], key: Option<&str>) -> Result<Vec<Value>, Status> {
    let id = |item: &Value| match key {
        None => Ok(item.clone()),
        Some(key) => item.get(key).cloned().ok_or_else(|| no_key(item, key)),
    };
    let order = order.iter().map(id).collect::<Result<Vec<_>, _>>()?;
    let old = old.iter().map(id).collect::<Result<Vec<_>, _>>()?;
    let place = |list: &[Value], id: &Value| list.iter().position(|other| other == id);
    let (mut named, mut rest) = (Vec::new(), Vec::new());
    for item in items {
        let id = id(&item)?;
        match place(&order, &id) {
            Some(at) => named.push((at, place(&old, &id), item)),
            None => rest.push((place(&old, &id), item)),
        }
    }
    named.sort_by_key(|(at, ..)| *at);
    rest.sort_by_key(|(at, _)| at.unwrap_or(usize::MAX));
    let mut sorted = Vec::with_capacity(named.len() + rest.len());
    let (mut named, mut rest) = (named.into_iter().peekable(), rest.into_iter().peekable());
    while let Some((_, right, _)) = named.peek() {
        let left_first = |(left, _): &(Option<usize>, Value)| left.zip(*right).is_some_and(|(l, r)| l < r);
        match rest.next_if(left_first) {
            Some((_, item)) => sorted.push(item),
            None => sorted.extend(named.next().map(|(_, _, item)| item)),
        }
    }
    sorted.extend(rest.map(|(_, item)| item));
    Ok(sorted)
}

/// The items of the patch list that are no deletions must come in the order that is asked for.
fn check_order(patch: &[Value], order: &[Value], key: Option<&str>) -> Result<(), Status> {
    if order.is_empty() {
        return Ok(());
    }
    let id = |item: &Value| match key {
        None => Ok(item.clone()),
        Some(key) => item.get(key).cloned().ok_or_else(|| no_key(item, key)),
    };
    let mut places = order.iter();
    for item in patch.iter().filter(|item| item.get(DIRECTIVE).is_none()) {
        let wanted = id(item)?;
        let found = loop {
            match places.next() {
                None => break false,
                Some(place) if id(place)? == wanted => break true,
                Some(_) => {}
            }
        };
        if !found {
            let (patch, order) = (Value::from(patch), Value::from(order));
            let text = format!("The order in patch list:\n{patch}\n doesn't match {ELEMENT_ORDER} list:\n{order}\n");
            return Err(Status::bad_request(text));
        }
    }
    Ok(())
}

fn retain_keys(live: &mut Map<String, Value>, patch: &Map<String, Value>, keys: &Value) -> Result<(), Status> {
    let keys = keys.as_array().ok_or_else(|| bad_format("retainKeys"))?;
    let kept = |name: &String| keys.iter().any(|k| k.as_str() == Some(name));
    let stray = |(name, value): (&String, &Value)| !value.is_null() && !is_directive(name) && !kept(name);
    if patch.iter().any(stray) {
        return Err(bad_format("retainKeys"));
    }
    live.retain(|name, _| kept(name));
    Ok(())
}

/// A patch value where nothing is live: without nulls, directives, and what has a `$patch`.
fn plain(patch: &Value) -> Option<Value> {
    match patch {
        Value::Object(map) if map.contains_key(DIRECTIVE) => None,
        Value::Object(map) => {
            let fields = map.iter().filter(|(name, value)| !value.is_null() && !is_directive(name));
            Some(Value::Object(fields.filter_map(|(n, v)| Some((n.clone(), plain(v)?))).collect()))
        }
        Value::Array(items) => Some(items.iter().filter_map(plain).collect()),
        other => Some(other.clone()),
    }
}

fn is_directive(name: &str) -> bool {
    name == DIRECTIVE || name == RETAIN_KEYS || name.starts_with(DELETE_FROM_LIST) || name.starts_with(ELEMENT_ORDER)
}

/// `x` of `$directive/x`.
fn directive_field(name: &str) -> Option<&str> {
    let (directive, field) = name.split_once('/')?;
    [DELETE_FROM_LIST, ELEMENT_ORDER].contains(&directive).then_some(field)
}

fn bad_format(of: &str) -> Status {
    Status::bad_request(format!("invalid patch format of {of}"))
}

fn no_key(item: &Value, key: &str) -> Status {
    Status::bad_request(format!("map: {item} does not contain declared merge key: {key}"))
}

fn unknown_directive(directive: &Value, patch: &Map<String, Value>) -> Status {
    let name = directive.as_str().map_or_else(|| directive.to_string(), str::to_owned);
    Status::bad_request(format!("unknown patch type: {name} in map: {}", Value::Object(patch.clone())))
}

#[cfg(test)]
mod tests;
