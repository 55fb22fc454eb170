//! Columns of namespaces, nodes, configuration, accounts and events.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{age, code, column, count, name, since, text, wide, wide_column};
use crate::{
    kinds::{Cell, Column},
    schema::Shared,
    tree,
};

pub(crate) static NAMESPACE: [Column; 3] = [name("Name"), text("Status", "status.phase", ""), age()];

/// The condition of a type, or null.
fn condition<'a>(object: &'a Value, list: &str, kind: &str) -> &'a Value {
    tree::items(object, list).iter().find(|c| c["type"] == kind).unwrap_or(&Value::Null)
}

pub(crate) static COMPONENT_STATUS: [Column; 4] = [
    name("Name"),
    code("Status", |component, _| match tree::text(condition(component, "conditions", "Healthy"), "status") {
        "" => "Unknown".into(),
        "True" => "Healthy".into(),
        _ => "Unhealthy".into(),
    }),
    code("Message", |component, _| tree::text(condition(component, "conditions", "Healthy"), "message").into()),
    code("Error", |component, _| tree::text(condition(component, "conditions", "Healthy"), "error").into()),
];

pub(crate) static API_SERVICE: [Column; 4] = [
    name("Name"),
    code("Service", |service, _| match tree::at(service, "spec.service") {
        Value::Null => "Local".into(),
        reference => format!("{}/{}", tree::text(reference, "namespace"), tree::text(reference, "name")).into(),
    }),
    code("Available", |service, _| {
        let available = condition(service, "status.conditions", "Available");
        match (tree::text(available, "status"), tree::text(available, "reason")) {
            _ if available.is_null() => "Unknown".into(),
            ("True", _) => "True".into(),
            (status, "") => status.into(),
            (status, reason) => format!("{status} ({reason})").into(),
        }
    }),
    age(),
];

pub(crate) static CONFIG_MAP: [Column; 3] = [
    name("Name"),
    code("Data", |map, _| (tree::entries(map, "data").count() + tree::entries(map, "binaryData").count()).into()),
    age(),
];

pub(crate) static SECRET: [Column; 4] =
    [name("Name"), text("Type", "type", ""), column("Data", "string", Cell::Count("data")), age()];

pub(crate) static SERVICE_ACCOUNT: [Column; 2] = [name("Name"), age()];

pub(crate) static RESOURCE_QUOTA: [Column; 4] = [
    name("Name"),
    code("Request", |quota, _| quota_text(quota, false).into()),
    code("Limit", |quota, _| quota_text(quota, true).into()),
    age(),
];

fn quota_text(quota: &Value, limits: bool) -> String {
    let used = tree::at(quota, "status.used");
    let one = |(resource, hard): (&str, &Value)| {
        let text = |value: &Value| value.as_str().unwrap_or("0").to_owned();
        format!("{resource}: {}/{}", text(used.get(resource).unwrap_or(&Value::Null)), text(hard))
    };
    let hard = tree::entries(quota, "status.hard").filter(|(resource, _)| resource.starts_with("limits.") == limits);
    hard.map(one).collect::<Vec<_>>().join(", ")
}

pub(crate) static NODE: [Column; 10] = [
    name("Name"),
    code("Status", |node, _| node_status(node).into()),
    code("Roles", |node, _| node_roles(node).into()),
    age(),
    text("Version", "status.nodeInfo.kubeletVersion", ""),
    wide("Internal-IP", |node, _| node_address(node, "InternalIP")),
    wide("External-IP", |node, _| node_address(node, "ExternalIP")),
    wide_column("OS-Image", Cell::Text("status.nodeInfo.osImage", "<unknown>")),
    wide("Kernel-Version", |node, _| {
        let kernel = match tree::text(node, "status.nodeInfo.kernelVersion") {
            "" => "<unknown>",
            kernel => kernel,
        };
        match tree::text(node, "status.nodeInfo.architecture") {
            "" => kernel.into(),
            architecture => format!("{kernel} ({architecture})").into(),
        }
    }),
    wide_column("Container-Runtime", Cell::Text("status.nodeInfo.containerRuntimeVersion", "<unknown>")),
];

fn node_status(node: &Value) -> String {
    let ready = tree::items(node, "status.conditions").iter().rfind(|c| c["type"] == "Ready");
    let status = match ready {
        Some(condition) if condition["status"] == "True" => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    };
    let cordoned = if tree::flag(node, "spec.unschedulable") { ",SchedulingDisabled" } else { "" };
    format!("{status}{cordoned}")
}

fn node_roles(node: &Value) -> String {
    let role = |(key, value): (&'_ str, &Value)| match key {
        "kubernetes.io/role" => value.as_str().unwrap_or_default().to_owned(),
        key => key.strip_prefix("node-role.kubernetes.io/").unwrap_or_default().to_owned(),
    };
    let mut roles: BTreeSet<String> = tree::entries(node, "metadata.labels").map(role).collect();
    roles.remove("");
    if roles.is_empty() { "<none>".to_owned() } else { roles.into_iter().collect::<Vec<_>>().join(",") }
}

fn node_address(node: &Value, kind: &str) -> Value {
    let mut addresses = tree::items(node, "status.addresses").iter();
    addresses.find(|a| a["type"] == kind).map_or("<none>", |a| tree::text(a, "address")).into()
}

/// Events, in the fields of either group.
pub(crate) static EVENT: [Column; 10] = [
    code("Last Seen", |event, now| last_seen(event, now).into()),
    text("Type", "type", ""),
    text("Reason", "reason", ""),
    code("Object", |event, _| {
        let target = either(event, "involvedObject", "regarding");
        let kind = tree::text(target, "kind").to_lowercase();
        match tree::text(target, "name") {
            "" => kind.into(),
            name => format!("{kind}/{name}").into(),
        }
    }),
    wide("Subobject", |event, _| tree::text(either(event, "involvedObject", "regarding"), "fieldPath").into()),
    wide("Source", |event, _| {
        let source = either(event, "source", "deprecatedSource");
        let reporter = either(event, "reportingComponent", "reportingController").as_str().unwrap_or_default();
        let first = |a: &'_ str, b: &'_ str| if a.is_empty() { b.to_owned() } else { a.to_owned() };
        let component = first(tree::text(source, "component"), reporter);
        match first(tree::text(source, "host"), tree::text(event, "reportingInstance")) {
            instance if instance.is_empty() => component,
            instance => format!("{component}, {instance}"),
        }
        .into()
    }),
    code("Message", |event, _| either(event, "message", "note").as_str().unwrap_or_default().trim().into()),
    wide("First Seen", |event, now| first_seen(event, now).into()),
    wide("Count", |event, _| {
        match (tree::at(event, "series.count").as_i64(), either(event, "count", "deprecatedCount").as_i64()) {
            (Some(count), _) => count,
            (None, Some(count)) if count != 0 => count,
            _ => 1,
        }
        .into()
    }),
    Column {
        name: Shared::Static("Name"),
        kind: Shared::Static("string"),
        format: Shared::Static("name"),
        description: Shared::Static(""),
        priority: 1,
        cell: Cell::Text("metadata.name", ""),
    },
];

fn either<'a>(event: &'a Value, core: &str, other: &str) -> &'a Value {
    match tree::at(event, core) {
        Value::Null => tree::at(event, other),
        value => value,
    }
}

fn first_seen(event: &Value, now: i64) -> String {
    match either(event, "firstTimestamp", "deprecatedFirstTimestamp").as_str() {
        Some(time) => since(time, now),
        None => since(tree::text(event, "eventTime"), now),
    }
}

fn last_seen(event: &Value, now: i64) -> String {
    if tree::has(event, "series") {
        return since(tree::text(event, "series.lastObservedTime"), now);
    }
    match either(event, "lastTimestamp", "deprecatedLastTimestamp").as_str() {
        Some(time) => since(time, now),
        None => first_seen(event, now),
    }
}

pub(crate) static LEASE: [Column; 3] = [name("Name"), text("Holder", "spec.holderIdentity", ""), age()];

pub(crate) static PRIORITY_CLASS: [Column; 5] = [
    name("Name"),
    super::int("Value", "value"),
    super::flag("Global-Default", "globalDefault", false),
    age(),
    text("PreemptionPolicy", "preemptionPolicy", ""),
];

pub(crate) static RUNTIME_CLASS: [Column; 3] = [name("Name"), text("Handler", "handler", ""), age()];

pub(crate) static WEBHOOKS: [Column; 3] = [name("Name"), count("Webhooks", "webhooks"), age()];
