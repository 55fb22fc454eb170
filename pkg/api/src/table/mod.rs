//! Server-side tables (`meta.k8s.io Table`): what `kubectl get` prints.
//!
//! The columns of built-in kinds stand in one file to each family; their contents are upstream's
//! (`pkg/printers/internalversion`). All columns are always sent; the client hides those with a
//! priority unless asked for wide output.

use serde_json::{Value, json};

use crate::{
    kinds::{Cell, Column, Kind},
    schema::Shared,
    tree,
};

pub(crate) mod access;
mod age;
pub(crate) mod cluster;
pub mod jsonpath;
pub(crate) mod networking;
pub(crate) mod pods;
pub(crate) mod storage;
pub(crate) mod system;
#[cfg(test)]
mod tests;
pub(crate) mod workloads;

pub use age::{human_duration, since};

/// What rows carry beside their cells (`includeObject`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Include {
    /// Nothing.
    None,
    /// `PartialObjectMetadata`.
    #[default]
    Metadata,
    /// The whole object.
    Object,
}

impl Include {
    /// From the query parameter; `None` if it is not one of the allowed texts.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "None" => Some(Include::None),
            "" | "Metadata" => Some(Include::Metadata),
            "Object" => Some(Include::Object),
            _ => None,
        }
    }
}

/// How a table is made.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Seconds since the epoch, for ages.
    pub now: i64,
    /// What rows carry.
    pub include: Include,
    /// Whether to define the columns: always, but for all events of a watch after the first.
    pub columns: bool,
    /// `meta.k8s.io/v1` or `meta.k8s.io/v1beta1`.
    pub api_version: &'static str,
}

/// A table of `objects`. `list_meta` is the `metadata` of the list (resource version, continue
/// token, remaining count); for a single object or a watch event, that of the object: only what
/// belongs to lists is taken.
pub fn table<'a>(
    kind: &Kind,
    objects: impl IntoIterator<Item = &'a Value>,
    list_meta: &Value,
    options: Options,
) -> Value {
    let columns = columns(kind);
    let rows = objects.into_iter().map(|object| {
        let mut row = row(&columns, object, options);
        if &*kind.kind == "Pod" && kind.group.is_empty() {
            let conditions = pods::row_conditions(object);
            if !conditions.is_null() {
                row["conditions"] = conditions;
            }
        }
        row
    });
    assembled(&columns, rows.collect(), list_meta, options)
}

/// A table of an `autoscaling/v1 Scale`, whatever it is the scale of.
pub fn of_scale(scale: &Value, options: Options) -> Value {
    let columns: Vec<&Column> = workloads::SCALE.iter().collect();
    assembled(&columns, vec![row(&columns, scale, options)], &scale["metadata"], options)
}

fn assembled(columns: &[&Column], rows: Vec<Value>, list_meta: &Value, options: Options) -> Value {
    let mut metadata = json!({});
    for field in ["resourceVersion", "continue", "remainingItemCount"] {
        if let Some(value) = list_meta.get(field) {
            metadata[field] = value.clone();
        }
    }
    let definitions = if options.columns { columns.iter().map(definition).collect() } else { Vec::new() };
    json!({
        "kind": "Table",
        "apiVersion": options.api_version,
        "metadata": metadata,
        "columnDefinitions": definitions,
        "rows": rows,
    })
}

/// The object reduced to type and metadata (`PartialObjectMetadata`).
fn partial_metadata(object: &Value, api_version: &str) -> Value {
    json!({"kind": "PartialObjectMetadata", "apiVersion": api_version, "metadata": object["metadata"]})
}

static NAME: Column = name("Name");
static DEFAULTS: [Column; 2] =
    [name("Name"), column("Created At", "date", Cell::Text("metadata.creationTimestamp", ""))];

fn columns(kind: &Kind) -> Vec<&Column> {
    if kind.columns.is_empty() {
        return DEFAULTS.iter().collect();
    }
    let named = kind.columns.iter().any(|c| &*c.format == "name");
    (!named).then_some(&NAME).into_iter().chain(kind.columns.iter()).collect()
}

fn definition(column: &&Column) -> Value {
    json!({
        "name": &*column.name,
        "type": &*column.kind,
        "format": &*column.format,
        "description": &*column.description,
        "priority": column.priority,
    })
}

fn row(columns: &[&Column], object: &Value, options: Options) -> Value {
    let cells: Vec<_> = columns.iter().map(|column| cell(column, object, options.now)).collect();
    let carried = match options.include {
        Include::None => Value::Null,
        Include::Metadata => partial_metadata(object, options.api_version),
        Include::Object => object.clone(),
    };
    json!({"cells": cells, "object": carried})
}

fn cell(column: &Column, object: &Value, now: i64) -> Value {
    match &column.cell {
        Cell::Path(path) => path.first(object).map_or(Value::Null, |value| typed(&column.kind, value, now)),
        Cell::Text(path, otherwise) => match tree::text(object, path) {
            "" => (*otherwise).into(),
            text => text.into(),
        },
        Cell::Int(path) => tree::int(object, path).into(),
        Cell::Flag(path, otherwise) => tree::at(object, path).as_bool().unwrap_or(*otherwise).into(),
        Cell::Count(path) => match tree::at(object, path) {
            Value::Array(items) => items.len().into(),
            Value::Object(entries) => entries.len().into(),
            _ => 0.into(),
        },
        Cell::Age(path) => since(tree::text(object, path), now).into(),
        Cell::Code(code) => code(object, now),
    }
}

/// A value in the form of a column's type; null where it cannot have that form.
fn typed(kind: &str, value: &Value, now: i64) -> Value {
    match (kind, value) {
        (_, Value::Null) => Value::Null,
        ("string", Value::String(_)) | ("number", Value::Number(_)) | ("boolean", Value::Bool(_)) => value.clone(),
        ("string", value) => value.to_string().into(),
        ("integer", Value::Number(number)) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => whole.into(),
            (None, Some(float)) => (float as i64).into(),
            (None, None) => Value::Null,
        },
        ("date", Value::String(time)) => since(time, now).into(),
        _ => Value::Null,
    }
}

/// A column of any type.
pub(crate) const fn column(name: &'static str, kind: &'static str, cell: Cell) -> Column {
    Column {
        name: Shared::Static(name),
        kind: Shared::Static(kind),
        format: Shared::Static(""),
        description: Shared::Static(""),
        priority: 0,
        cell,
    }
}

/// The column of names.
pub(crate) const fn name(heading: &'static str) -> Column {
    Column {
        name: Shared::Static(heading),
        kind: Shared::Static("string"),
        format: Shared::Static("name"),
        description: Shared::Static(""),
        priority: 0,
        cell: Cell::Text("metadata.name", ""),
    }
}

/// The column of ages.
pub(crate) const fn age() -> Column {
    column("Age", "string", Cell::Age("metadata.creationTimestamp"))
}

/// Text that code makes.
pub(crate) const fn code(name: &'static str, make: fn(&Value, i64) -> Value) -> Column {
    column(name, "string", Cell::Code(make))
}

/// Text at a path.
pub(crate) const fn text(name: &'static str, path: &'static str, otherwise: &'static str) -> Column {
    column(name, "string", Cell::Text(path, otherwise))
}

/// A number at a path.
pub(crate) const fn int(name: &'static str, path: &'static str) -> Column {
    column(name, "integer", Cell::Int(path))
}

/// How many there are at a path.
pub(crate) const fn count(name: &'static str, path: &'static str) -> Column {
    column(name, "integer", Cell::Count(path))
}

/// Truth at a path.
pub(crate) const fn flag(name: &'static str, path: &'static str, otherwise: bool) -> Column {
    column(name, "boolean", Cell::Flag(path, otherwise))
}

/// Text that code makes, for wide output only.
pub(crate) const fn wide(name: &'static str, make: fn(&Value, i64) -> Value) -> Column {
    wide_column(name, Cell::Code(make))
}

/// Text for wide output only.
pub(crate) const fn wide_column(name: &'static str, cell: Cell) -> Column {
    Column {
        name: Shared::Static(name),
        kind: Shared::Static("string"),
        format: Shared::Static(""),
        description: Shared::Static(""),
        priority: 1,
        cell,
    }
}

/// `a=b,c=d`, or `<none>`.
pub(crate) fn format_labels(labels: &Value) -> String {
    let pairs: Vec<_> = labels
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect();
    if pairs.is_empty() { "<none>".to_owned() } else { pairs.join(",") }
}

/// A `LabelSelector` as text, requirements by key; empty if there are none.
pub(crate) fn selector_text(selector: &Value) -> String {
    let mut parts: Vec<(&str, String)> = tree::entries(selector, "matchLabels")
        .map(|(key, value)| (key, format!("{key}={}", value.as_str().unwrap_or_default())))
        .collect();
    for requirement in tree::items(selector, "matchExpressions") {
        let key = tree::text(requirement, "key");
        let values = || {
            let mut values: Vec<_> = tree::texts(requirement, "values").collect();
            values.sort_unstable();
            values.join(",")
        };
        let part = match tree::text(requirement, "operator") {
            "In" => format!("{key} in ({})", values()),
            "NotIn" => format!("{key} notin ({})", values()),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_owned(),
        };
        parts.push((key, part));
    }
    parts.sort();
    parts.into_iter().map(|(_, part)| part).collect::<Vec<_>>().join(",")
}

/// As [`selector_text`], or `<none>`.
pub(crate) fn format_selector(selector: &Value) -> String {
    let text = selector_text(selector);
    if text.is_empty() { "<none>".to_owned() } else { text }
}

/// At most three of `list`, and how many more there are; `<unset>` for none.
pub(crate) fn some_of(list: &[String]) -> String {
    const SHOWN: usize = 3;
    match list {
        [] => "<unset>".to_owned(),
        few if few.len() <= SHOWN => few.join(","),
        many => format!("{} + {} more...", many[..SHOWN].join(","), many.len() - SHOWN),
    }
}

/// A column of names that code makes.
pub(crate) const fn column_named(make: fn(&Value, i64) -> Value) -> Column {
    Column {
        name: Shared::Static("Name"),
        kind: Shared::Static("string"),
        format: Shared::Static("name"),
        description: Shared::Static(""),
        priority: 0,
        cell: Cell::Code(make),
    }
}

/// The name of a class, marked where it is the default one.
pub(crate) fn default_mark(class: &Value, default: bool) -> Value {
    let name = tree::text(class, "metadata.name");
    if default { format!("{name} (default)").into() } else { name.into() }
}
