//! The row of `events.k8s.io`, which shows the Events of the core group under other field names.

use serde_json::{Value, json};

use super::{
    Conversion, Resource,
    row::{Group, Row},
};
use crate::{schema::Shared, strategy, table};

pub(super) static GROUP: Group = Group { group: "events.k8s.io", version: "v1", package: "io.k8s.api.events" };

const FIELDS: &[&str] = &[
    "regarding.kind",
    "regarding.namespace",
    "regarding.name",
    "regarding.uid",
    "regarding.apiVersion",
    "regarding.resourceVersion",
    "regarding.fieldPath",
    "reason",
    "reportingController",
    "source",
    "type",
];

pub(super) const ROWS: &[Row] = &[Row::namespaced("Event", "events")
    .made_by_update()
    .strategy(&strategy::Events::NEW)
    .columns(&table::cluster::EVENT)
    .short(&["ev"])
    .selectable(FIELDS)
    .relaxed()
    .stored_as(&STORED, Conversion::Code { to_storage, from_storage })];

static STORED: Resource =
    Resource { group: Shared::Static(""), version: Shared::Static("v1"), plural: Shared::Static("events") };

/// Field names in `events.k8s.io` and in the core group.
const RENAMED: [(&str, &str); 7] = [
    ("regarding", "involvedObject"),
    ("note", "message"),
    ("deprecatedSource", "source"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedCount", "count"),
    ("reportingController", "reportingComponent"),
];

fn to_storage(object: &mut Value) {
    rename(object, "v1", |(served, stored)| (served, stored));
}

fn from_storage(object: &mut Value) {
    rename(object, "events.k8s.io/v1", |(served, stored)| (stored, served));
}

fn rename(
    object: &mut Value,
    api_version: &str,
    way: fn((&'static str, &'static str)) -> (&'static str, &'static str),
) {
    let Some(fields) = object.as_object_mut() else { return };
    for pair in RENAMED {
        let (from, to) = way(pair);
        if let Some(value) = fields.remove(from) {
            fields.insert(to.to_owned(), value);
        }
    }
    fields.insert("apiVersion".to_owned(), json!(api_version));
}
