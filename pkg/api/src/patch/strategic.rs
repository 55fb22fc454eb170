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
//! Nulls and directives mean something only where something is live. A value that is new as a whole
//! comes without nulls and without the objects that have a `$patch`; an item that is new in a merged
//! list, the rest of a `$patch: replace`, and a replaced list are taken as they are. Whatever other
//! directive is left over is an unknown field to the decoder.
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
/// 400 for a malformed patch, 422 for lists of lists. The texts are upstream's, which answers 500 where
/// merge keys, order or types are wrong; to a client that is the patch's fault, too.
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

    /// Refuses a name that the type at hand does not have.
    fn known(&self, name: &str) -> Result<(), Status> {
        let Some(Shape::Object(id)) = self.shape else { return Ok(()) };
        let of = self.schema.get(*id);
        if of.preserve_unknown || of.field(name).is_some() {
            return Ok(());
        }
        let of = of.name.rsplit('.').next().unwrap_or_default();
        Err(Status::bad_request(format!("unable to find api field in struct {of} for the json field {name:?}")))
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
                let rest = patch.iter().filter(|(name, _)| *name != DIRECTIVE);
                return Ok(rest.map(|(name, value)| (name.clone(), value.clone())).collect());
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
        for (name, gone) in patch.iter().filter(|(name, _)| name.starts_with(DELETE_FROM_LIST)) {
            let list = directive_field(name).ok_or_else(|| bad_format("primitive list"))?;
            match (live.get_mut(list), gone) {
                (_, Value::Null) => drop(live.remove(list)),
                (Some(Value::Array(items)), Value::Array(gone)) => {
                    let old = std::mem::take(items);
                    *items = self.list_field(list).merge(old, gone, true)?;
                }
                // No list, here or there: nothing to delete from.
                _ => {}
            }
        }
        Ok(live)
    }

    /// One field that is no directive and not null.
    fn value(&self, live: &mut Map<String, Value>, name: &str, patch: &Value) -> Result<(), Status> {
        let merged = match (live.remove(name), patch) {
            (Some(Value::Object(old)), Value::Object(fields)) => match self.field(name) {
                (_, of) if of.replace => Some(patch.clone()),
                (field, _) => Some(Value::Object(field.object(old, fields)?)),
            },
            (Some(Value::Array(old)), Value::Array(patch)) => {
                let field = self.list_field(name);
                Some(Value::Array(if field.patch.merge { field.merge(old, patch, false)? } else { patch.clone() }))
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
            let order = list_of(order)?;
            let name = directive_field(directive).ok_or_else(|| bad_format("setElementOrder list"))?;
            let old = live.get(name).map(list_of).transpose()?.cloned();
            let new = patch.get(name).map(list_of).transpose()?;
            self.known(name)?;
            let field = self.list_field(name);
            let key = field.patch.merge_key;
            if let Some(new) = new {
                check_order(new, order, key)?;
            }
            let merged = match (&old, new) {
                (Some(old), None) => old.clone(),
                (None, Some(new)) => new.iter().filter_map(without_directives).collect(),
                (Some(old), Some(new)) if field.patch.merge => field.merge(old.clone(), new, false)?,
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
    /// The live list merged with that of the patch; `delete`: without the scalars of the patch.
    fn merge(&self, old: Vec<Value>, patch: &[Value], delete: bool) -> Result<Vec<Value>, Status> {
        let mut kinds = old.iter().chain(patch).map(std::mem::discriminant);
        if old.iter().chain(patch).any(Value::is_array) {
            return Err(Status::unprocessable("lists of lists are not supported"));
        }
        let first = kinds.next();
        if kinds.any(|kind| Some(kind) != first) {
            let lists = format!("[{} {}]", go_text(&Value::from(old)), go_text(&Value::from(patch)));
            return Err(Status::bad_request(format!("list element types are not identical: {lists}")));
        }
        if !old.iter().chain(patch).any(Value::is_object) {
            if delete {
                return Ok(old.into_iter().filter(|item| !patch.contains(item)).collect());
            }
            let mut merged = Vec::with_capacity(old.len() + patch.len());
            for item in old.iter().chain(patch) {
                if !merged.contains(item) {
                    merged.push(item.clone());
                }
            }
            return sort(merged, patch, &old, self.patch.merge_key);
        }
        let Some(key) = self.patch.merge_key else {
            return Err(Status::bad_request("cannot merge lists without merge key for struct"));
        };
        let (mut merged, patch) = special_items(old, patch, key)?;
        let old = merged.clone();
        for item in &patch {
            let object = item.as_object().ok_or_else(|| no_key(item, key))?;
            let id = object.get(key).ok_or_else(|| no_key(item, key))?;
            match merged.iter_mut().find(|m| m.get(key) == Some(id)) {
                Some(Value::Object(found)) => *found = self.item.object(std::mem::take(found), object)?,
                _ => merged.push(item.clone()),
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
    if replace { Ok((rest, Vec::new())) } else { Ok((old, rest)) }
}

/// Orders a merged list: what is in `order` goes by it, the rest by the live list `old`; the two
/// are interleaved so that the live order holds as far as it can.
fn sort(items: Vec<Value>, order: &[Value], old: &[Value], key: Option<&str>) -> Result<Vec<Value>, Status> {
    let id = |item: &Value| id(item, key);
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
    if patch.is_empty() || order.is_empty() {
        return Ok(());
    }
    let stays = |item: &&Value| key.is_none() || item.get(DIRECTIVE).is_none_or(|directive| directive != "delete");
    let mut items = patch.iter().filter(stays).peekable();
    let mut places = order.iter();
    while let (Some(item), false) = (items.peek(), places.as_slice().is_empty()) {
        if item.get(DIRECTIVE).is_some()
            || places.next().map(|place| id(place, key)).transpose()? == Some(id(item, key)?)
        {
            items.next();
        }
    }
    if items.peek().is_none() {
        return Ok(());
    }
    let (patch, order) = (go_text(&Value::from(patch)), go_text(&Value::from(order)));
    let text = format!("The order in patch list:\n{patch}\n doesn't match {ELEMENT_ORDER} list:\n{order}\n");
    Err(Status::bad_request(text))
}

/// What an item is told by: its merge key, or itself.
fn id(item: &Value, key: Option<&str>) -> Result<Value, Status> {
    match (key, item) {
        // Such a list has no order that could be asked for.
        (None, Value::Object(_)) => Err(no_key(item, "")),
        (None, item) => Ok(item.clone()),
        (Some(key), Value::Object(fields)) => fields.get(key).cloned().ok_or_else(|| no_key(item, key)),
        (Some(_), other) => Err(bad_type("map[string]interface {}", other)),
    }
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

/// A patch value where nothing is live: without nulls, and without the objects that have a `$patch`.
fn plain(patch: &Value) -> Option<Value> {
    without_directives(&without_nulls(patch))
}

fn without_nulls(patch: &Value) -> Value {
    match patch {
        Value::Object(map) => {
            let fields = map.iter().filter(|(_, value)| !value.is_null());
            Value::Object(fields.map(|(name, value)| (name.clone(), without_nulls(value))).collect())
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}

fn without_directives(patch: &Value) -> Option<Value> {
    match patch {
        Value::Object(map) if map.contains_key(DIRECTIVE) => None,
        Value::Object(map) => {
            let fields = map.iter().filter_map(|(name, value)| Some((name.clone(), without_directives(value)?)));
            Some(Value::Object(fields.collect()))
        }
        Value::Array(items) => Some(items.iter().filter_map(without_directives).collect()),
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

fn list_of(value: &Value) -> Result<&Vec<Value>, Status> {
    value.as_array().ok_or_else(|| bad_type("[]interface {}", value))
}

fn bad_type(wanted: &str, got: &Value) -> Status {
    let got = match got {
        Value::Null => "%!s(<nil>)",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    };
    Status::bad_request(format!("expected a {wanted}, but received a {got}"))
}

fn no_key(item: &Value, key: &str) -> Status {
    Status::bad_request(format!("map: {} does not contain declared merge key: {key}", go_text(item)))
}

fn unknown_directive(directive: &Value, patch: &Map<String, Value>) -> Status {
    let patch = go_text(&Value::Object(patch.clone()));
    Status::bad_request(format!("unknown patch type: {} in map: {patch}", go_text(directive)))
}

/// A value as Go prints it with `%v`, which is what upstream's messages show of a patch.
pub fn go_text(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(go_text).collect::<Vec<_>>().join(" ")),
        Value::Object(map) => {
            let mut fields: Vec<_> = map.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            let fields: Vec<_> = fields.into_iter().map(|(name, value)| format!("{name}:{}", go_text(value))).collect();
            format!("map[{}]", fields.join(" "))
        }
        scalar => scalar.to_string(),
    }
}

#[cfg(test)]
mod tests;
