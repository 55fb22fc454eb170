//! Columns of admission policies, devices and flow control.

use serde_json::Value;

use super::{age, code, column, count, int, name, since, text};
use crate::{
    kinds::{Cell, Column},
    tree,
};

fn param_kind(policy: &Value, _: i64) -> Value {
    match tree::at(policy, "spec.paramKind") {
        Value::Null => "<unset>".into(),
        kind => format!("{}/{}", tree::text(kind, "apiVersion"), tree::text(kind, "kind")).into(),
    }
}

pub(crate) static VALIDATING_POLICY: [Column; 4] =
    [name("Name"), count("Validations", "spec.validations"), code("ParamKind", param_kind), age()];

pub(crate) static MUTATING_POLICY: [Column; 4] =
    [name("Name"), count("Mutations", "spec.mutations"), code("ParamKind", param_kind), age()];

pub(crate) static POLICY_BINDING: [Column; 4] = [
    name("Name"),
    text("PolicyName", "spec.policyName", ""),
    code("ParamRef", |binding, _| {
        let param = tree::at(binding, "spec.paramRef");
        match (tree::text(param, "namespace"), tree::text(param, "name")) {
            (_, "") if tree::has(param, "selector") => super::selector_text(tree::at(param, "selector")).into(),
            (_, "") => "<unset>".into(),
            ("", name) => format!("*/{name}").into(),
            (namespace, name) => format!("{namespace}/{name}").into(),
        }
    }),
    age(),
];

pub(crate) static NAME_AND_AGE: [Column; 2] = [name("Name"), age()];

pub(crate) static RESOURCE_CLAIM: [Column; 3] = [
    name("Name"),
    code("State", |claim, _| {
        let deleted = tree::has(claim, "metadata.deletionTimestamp");
        let allocated = tree::has(claim, "status.allocation");
        let reserved = !tree::items(claim, "status.reservedFor").is_empty();
        let states = [
            (deleted, "deleted"),
            (!allocated && !deleted, "pending"),
            (allocated, "allocated"),
            (allocated && reserved, "reserved"),
        ];
        states.iter().filter(|(holds, _)| *holds).map(|(_, state)| *state).collect::<Vec<_>>().join(",").into()
    }),
    age(),
];

pub(crate) static RESOURCE_SLICE: [Column; 5] = [
    name("Name"),
    code("Node", |slice, _| match (tree::text(slice, "spec.nodeName"), tree::flag(slice, "spec.allNodes")) {
        ("", true) => "<all>".into(),
        ("", false) if tree::has(slice, "spec.nodeSelector") => "<selector>".into(),
        ("", false) => "<unset>".into(),
        (node, _) => node.into(),
    }),
    text("Driver", "spec.driver", ""),
    text("Pool", "spec.pool.name", ""),
    age(),
];

pub(crate) static DEVICE_TAINT: [Column; 6] = [
    name("Name"),
    text("Key", "spec.taint.key", ""),
    text("Value", "spec.taint.value", ""),
    text("Effect", "spec.taint.effect", ""),
    code("TimeAdded", |rule, now| match tree::text(rule, "spec.taint.timeAdded") {
        "" => "".into(),
        time => since(time, now).into(),
    }),
    age(),
];

pub(crate) static FLOW_SCHEMA: [Column; 6] = [
    name("Name"),
    text("PriorityLevel", "spec.priorityLevelConfiguration.name", ""),
    int("MatchingPrecedence", "spec.matchingPrecedence"),
    text("DistinguisherMethod", "spec.distinguisherMethod.type", "<none>"),
    age(),
    code("MissingPL", |schema, _| {
        let mut conditions = tree::items(schema, "status.conditions").iter();
        conditions.find(|c| c["type"] == "Dangling").map_or("?", |c| tree::text(c, "status")).into()
    }),
];

/// A number within the limits of a priority level, or `<none>`.
fn limited(level: &Value, path: &str) -> Value {
    match tree::at(level, path).as_i64() {
        Some(number) => number.into(),
        None => "<none>".into(),
    }
}

pub(crate) static PRIORITY_LEVEL: [Column; 7] = [
    name("Name"),
    text("Type", "spec.type", ""),
    column(
        "NominalConcurrencyShares",
        "string",
        Cell::Code(|l, _| limited(l, "spec.limited.nominalConcurrencyShares")),
    ),
    code("Queues", |l, _| limited(l, "spec.limited.limitResponse.queuing.queues")),
    code("HandSize", |l, _| limited(l, "spec.limited.limitResponse.queuing.handSize")),
    code("QueueLengthLimit", |l, _| limited(l, "spec.limited.limitResponse.queuing.queueLengthLimit")),
    age(),
];
