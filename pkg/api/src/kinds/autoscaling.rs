//! `autoscaling/v1`, which shows what `autoscaling/v2` stores: the target for CPU as a field of its
//! own, and what v1 has no field for as JSON in annotations.
//!
//! Source: `pkg/apis/autoscaling/v1/conversion.go`.

use serde_json::{Map, Value, json};

use super::{
    Conversion, Resource,
    row::{Group, Row, STATUS},
};
use crate::{
    decode,
    schema::{self, Shared, ids::AUTOSCALING_V2_HORIZONTAL_POD_AUTOSCALER},
    strategy, table, tree,
};

pub(super) static GROUP: Group = Group { group: "autoscaling", version: "v1", package: "io.k8s.api.autoscaling" };

pub(super) const ROWS: &[Row] = &[Row::namespaced("HorizontalPodAutoscaler", "horizontalpodautoscalers")
    .strategy(&strategy::Autoscalers::V1)
    .columns(&table::workloads::AUTOSCALER)
    .short(&["hpa"])
    .categories(&["all"])
    .subs(STATUS)
    .stored_as(&STORED, Conversion::Code { to_storage, from_storage })];

static STORED: Resource = Resource {
    group: Shared::Static("autoscaling"),
    version: Shared::Static("v2"),
    plural: Shared::Static("horizontalpodautoscalers"),
};

/// Annotations that hold parts of the specification.
pub(crate) const OF_SPEC: [&str; 2] = [METRICS, BEHAVIOR];
/// Annotations that hold parts of the status.
pub(crate) const OF_STATUS: [&str; 2] = [CURRENT, CONDITIONS];

const REPLICAS: &str = "status.currentReplicas";
const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";
const CURRENT: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
const ALL: [&str; 6] = [
    METRICS,
    BEHAVIOR,
    CURRENT,
    CONDITIONS,
    "autoscaling.alpha.kubernetes.io/scale-down-tolerance",
    "autoscaling.alpha.kubernetes.io/scale-up-tolerance",
];

/// A field in v1, its path in v2, and whether v1 always has it, as a quantity.
type Pair = (&'static str, &'static str, bool);

const SOURCES: [(&str, &[Pair]); 5] = [
    (
        "resource",
        &[
            ("name", "name", false),
            ("targetAverageUtilization", "target.averageUtilization", false),
            ("targetAverageValue", "target.averageValue", false),
        ],
    ),
    (
        "containerResource",
        &[
            ("name", "name", false),
            ("container", "container", false),
            ("targetAverageUtilization", "target.averageUtilization", false),
            ("targetAverageValue", "target.averageValue", false),
        ],
    ),
    (
        "pods",
        &[
            ("metricName", "metric.name", false),
            ("selector", "metric.selector", false),
            ("targetAverageValue", "target.averageValue", true),
        ],
    ),
    (
        "object",
        &[
            ("target", "describedObject", false),
            ("metricName", "metric.name", false),
            ("selector", "metric.selector", false),
            ("targetValue", "target.value", true),
            ("averageValue", "target.averageValue", false),
        ],
    ),
    (
        "external",
        &[
            ("metricName", "metric.name", false),
            ("metricSelector", "metric.selector", false),
            ("targetValue", "target.value", false),
            ("targetAverageValue", "target.averageValue", false),
        ],
    ),
];

const STATUSES: [(&str, &[Pair]); 5] = [
    (
        "resource",
        &[
            ("name", "name", false),
            ("currentAverageUtilization", "current.averageUtilization", false),
            ("currentAverageValue", "current.averageValue", true),
        ],
    ),
    (
        "containerResource",
        &[
            ("name", "name", false),
            ("container", "container", false),
            ("currentAverageUtilization", "current.averageUtilization", false),
            ("currentAverageValue", "current.averageValue", true),
        ],
    ),
    (
        "pods",
        &[
            ("metricName", "metric.name", false),
            ("selector", "metric.selector", false),
            ("currentAverageValue", "current.averageValue", true),
        ],
    ),
    (
        "object",
        &[
            ("target", "describedObject", false),
            ("metricName", "metric.name", false),
            ("selector", "metric.selector", false),
            ("currentValue", "current.value", true),
            ("averageValue", "current.averageValue", false),
        ],
    ),
    (
        "external",
        &[
            ("metricName", "metric.name", false),
            ("metricSelector", "metric.selector", false),
            ("currentValue", "current.value", true),
            ("currentAverageValue", "current.averageValue", false),
        ],
    ),
];

/// From v1 to v2.
pub(crate) fn to_storage(object: &mut Value) {
    object["apiVersion"] = json!("autoscaling/v2");
    let held = |object: &Value, name: &str| -> Option<Value> {
        serde_json::from_str(object["metadata"]["annotations"][name].as_str()?).ok()
    };
    let target = tree::remove(object, "spec.targetCPUUtilizationPercentage").filter(|value| !value.is_null());
    let mut metrics = held(object, METRICS)
        .and_then(|held| many(&held, source_to_v2))
        .and_then(|metrics| sound("spec", "metrics", metrics))
        .map_or_else(Vec::new, |metrics| metrics.as_array().cloned().unwrap_or_default());
    metrics.extend(target.map(cpu));
    if metrics.is_empty() {
        metrics.push(cpu(json!(80)));
    }
    if tree::has(object, "spec") {
        tree::set(object, "spec.metrics", metrics);
    }
    let behavior = held(object, BEHAVIOR).map(|behavior| recased(&behavior, str::to_ascii_lowercase));
    if let Some(behavior) = behavior.and_then(|behavior| sound("spec", "behavior", behavior))
        && behavior.as_object().is_some_and(|rules| !rules.is_empty())
    {
        tree::set(object, "spec.behavior", behavior);
    }
    // v2 leaves out a count of none.
    if tree::int(object, REPLICAS) == 0 {
        tree::remove(object, REPLICAS);
    }
    let used = tree::remove(object, "status.currentCPUUtilizationPercentage").filter(|value| !value.is_null());
    let used = used.map(|percent| {
        json!([{"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": percent}}}])
    });
    let current = held(object, CURRENT)
        .and_then(|held| many(&held, |metric| to_v2(metric, &STATUSES)))
        .and_then(|metrics| sound("status", "currentMetrics", metrics));
    if let Some(current) = current.or(used) {
        tree::set(object, "status.currentMetrics", current);
    }
    if let Some(conditions) = held(object, CONDITIONS).and_then(|held| sound("status", "conditions", held)) {
        tree::set(object, "status.conditions", conditions);
    }
    drop_annotations(object);
}

/// From v2 to v1.
pub(crate) fn from_storage(object: &mut Value) {
    object["apiVersion"] = json!("autoscaling/v1");
    drop_annotations(object);
    let mut notes: Vec<(&str, Value)> = Vec::new();
    let list = |value: Option<Value>| value.and_then(|v| v.as_array().cloned()).unwrap_or_default();
    let metrics = list(tree::remove(object, "spec.metrics"));
    let utilization = |metric: &Value, part: &str| -> Option<Value> {
        let percent = tree::at(metric, &format!("resource.{part}.averageUtilization"));
        let is_cpu = metric["type"] == "Resource" && tree::text(metric, "resource.name") == "cpu";
        (is_cpu && !percent.is_null()).then(|| percent.clone())
    };
    if let Some(percent) = metrics.iter().find_map(|metric| utilization(metric, "target")) {
        tree::set(object, "spec.targetCPUUtilizationPercentage", percent);
    }
    let others: Vec<_> = metrics.iter().filter(|metric| utilization(metric, "target").is_none()).collect();
    if !others.is_empty() {
        notes.push((METRICS, others.into_iter().map(|metric| to_v1(metric, &SOURCES)).collect()));
    }
    if let Some(behavior) = tree::remove(object, "spec.behavior").filter(|behavior| !behavior.is_null()) {
        notes.push((BEHAVIOR, recased(&behavior, str::to_ascii_uppercase)));
    }
    if tree::has(object, "status") && !tree::has(object, REPLICAS) {
        tree::set(object, REPLICAS, 0);
    }
    let current = list(tree::remove(object, "status.currentMetrics"));
    if let Some(percent) = current.iter().rev().find_map(|metric| utilization(metric, "current")) {
        tree::set(object, "status.currentCPUUtilizationPercentage", percent);
    }
    if !current.is_empty() {
        notes.push((CURRENT, current.iter().map(|metric| to_v1(metric, &STATUSES)).collect()));
    }
    let conditions = list(tree::remove(object, "status.conditions"));
    if !conditions.is_empty() {
        notes.push((CONDITIONS, conditions.into()));
    }
    if notes.is_empty() {
        return;
    }
    if let Some(annotations) = tree::object_mut(object, "metadata.annotations") {
        annotations.extend(notes.into_iter().map(|(name, value)| (name.to_owned(), value.to_string().into())));
    }
}

fn drop_annotations(object: &mut Value) {
    let Some(annotations) = object["metadata"].get_mut("annotations").and_then(Value::as_object_mut) else { return };
    annotations.retain(|name, _| !ALL.contains(&name.as_str()));
    if annotations.is_empty() {
        tree::remove(object, "metadata.annotations");
    }
}

fn cpu(percent: Value) -> Value {
    let target = json!({"type": "Utilization", "averageUtilization": percent});
    json!({"type": "Resource", "resource": {"name": "cpu", "target": target}})
}

/// Each item of a list that an annotation holds; `None` where it is none.
fn many(held: &Value, each: impl Fn(&Value) -> Value) -> Option<Value> {
    Some(held.as_array()?.iter().map(each).collect())
}

/// What was read from an annotation, if it has the type of the field; unknown fields are dropped.
fn sound(part: &str, field: &str, value: Value) -> Option<Value> {
    let mut object = json!({part: {field: value}});
    decode::check(&schema::builtin(), AUTOSCALING_V2_HORIZONTAL_POD_AUTOSCALER, &mut object).ok()?;
    object[part].as_object_mut()?.remove(field)
}

fn to_v1(metric: &Value, fields: &[(&str, &[Pair])]) -> Value {
    let mut old = json!({"type": metric["type"]});
    for (kind, pairs) in fields {
        let source = &metric[*kind];
        if source.is_null() {
            continue;
        }
        let mut into = Map::new();
        for (field, path, always) in *pairs {
            match tree::at(source, path) {
                Value::Null if *always => into.insert((*field).to_owned(), json!("0")),
                Value::Null => None,
                value => into.insert((*field).to_owned(), value.clone()),
            };
        }
        old[*kind] = into.into();
    }
    old
}

fn to_v2(metric: &Value, fields: &[(&str, &[Pair])]) -> Value {
    let mut new = json!({"type": metric["type"]});
    for (kind, pairs) in fields {
        let source = &metric[*kind];
        if source.is_null() {
            continue;
        }
        let mut into = json!({});
        for (field, path, always) in *pairs {
            match &source[*field] {
                Value::Null if *always => tree::set(&mut into, path, "0"),
                Value::Null => {}
                value => tree::set(&mut into, path, value.clone()),
            }
        }
        new[*kind] = into;
    }
    new
}

/// As [`to_v2`], with the type of the target, which v1 does not have.
fn source_to_v2(metric: &Value) -> Value {
    let mut metric = to_v2(metric, &SOURCES);
    for (kind, _) in SOURCES {
        let Some(source) = metric.get_mut(kind) else { continue };
        let has = |field: &str| tree::has(source, &format!("target.{field}"));
        let target = match kind {
            "resource" | "containerResource" if has("averageUtilization") => "Utilization",
            "external" if has("value") => "Value",
            "object" if !has("averageValue") => "Value",
            _ => "AverageValue",
        };
        if kind == "object" && target == "AverageValue" && tree::text(source, "target.value") == "0" {
            tree::remove(source, "target.value");
        }
        tree::set(source, "target.type", target);
    }
    metric
}

/// The same with other first letters of keys: this annotation has Go's field names.
fn recased(value: &Value, case: fn(&str) -> String) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| {
                let end = key.chars().next().map_or(0, char::len_utf8);
                (format!("{}{}", case(&key[..end]), &key[end..]), recased(value, case))
            })
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(items) => items.iter().map(|item| recased(item, case)).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// v2 → v1 → v2 keeps everything.
    #[test]
    fn there_and_back() {
        let stored = json!({
            "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "a", "annotations": {"b": "c"}},
            "spec": {
                "maxReplicas": 3,
                "metrics": [
                    {"type": "Pods", "pods": {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "1k"}}},
                    {"type": "Object", "object": {
                        "describedObject": {"kind": "Service", "name": "s"}, "metric": {"name": "m"},
                        "target": {"type": "AverageValue", "averageValue": "2"}}},
                    {"type": "External", "external": {"metric": {"name": "e"}, "target": {"type": "Value", "value": "5"}}},
                    {"type": "Resource", "resource": {"name": "memory", "target": {"type": "Utilization", "averageUtilization": 60}}},
                    {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}},
                ],
                "behavior": {"scaleUp": {"selectPolicy": "Max", "policies": [{"type": "Pods", "value": 4, "periodSeconds": 15}]}},
            },
            "status": {
                "currentReplicas": 1, "desiredReplicas": 2,
                "currentMetrics": [{"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 7, "averageValue": "3m"}}}],
                "conditions": [{"type": "AbleToScale", "status": "True"}],
            },
        });
        let mut object = stored.clone();
        from_storage(&mut object);
        assert_eq!(object["apiVersion"], "autoscaling/v1");
        assert_eq!(object["spec"], json!({"maxReplicas": 3, "targetCPUUtilizationPercentage": 50}));
        assert_eq!(object["status"]["currentCPUUtilizationPercentage"], 7);
        assert_eq!(
            object["metadata"]["annotations"][BEHAVIOR],
            r#"{"ScaleUp":{"Policies":[{"PeriodSeconds":15,"Type":"Pods","Value":4}],"SelectPolicy":"Max"}}"#
        );
        to_storage(&mut object);
        assert_eq!(object, stored);
    }

    #[test]
    fn a_count_of_none_is_there_in_v1_only() {
        let stored = json!({"apiVersion": "autoscaling/v2", "metadata": {}, "spec": {"maxReplicas": 1,
            "metrics": [cpu(json!(80))]}, "status": {"desiredReplicas": 0}});
        let mut object = stored.clone();
        from_storage(&mut object);
        assert_eq!(object["status"], json!({"currentReplicas": 0, "desiredReplicas": 0}));
        to_storage(&mut object);
        assert_eq!(object, stored);
    }

    #[test]
    fn implied_target_and_broken_annotations() {
        let mut object = json!({
            "metadata": {"annotations": {METRICS: "[{\"type\": 5}]", CONDITIONS: "{", BEHAVIOR: "{}"}},
            "spec": {"maxReplicas": 1},
        });
        to_storage(&mut object);
        assert_eq!(
            object,
            json!({"apiVersion": "autoscaling/v2", "metadata": {}, "spec": {"maxReplicas": 1, "metrics": [cpu(json!(80))]}})
        );
    }
}
