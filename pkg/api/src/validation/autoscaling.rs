//! Checks of HorizontalPodAutoscalers, in the form of `autoscaling/v2`.
//!
//! Source: `pkg/apis/autoscaling/validation`. Scaling to zero is on, as v1.37 ships it.

use serde_json::Value;

use super::{
    FieldErrors, names,
    resources::{NEGATIVE, container_resource, is_negative, not_negative},
};
use crate::{quantity::Quantity, tree};

const LONGEST_PERIOD: i64 = 1800;
const LONGEST_WINDOW: i64 = 3600;
/// Type of a metric, and its field.
const SOURCES: [(&str, &str); 5] = [
    ("ContainerResource", "containerResource"),
    ("External", "external"),
    ("Object", "object"),
    ("Pods", "pods"),
    ("Resource", "resource"),
];

/// Checks `spec`; `old` is the one before, if any.
pub fn autoscaler(errors: &mut FieldErrors, hpa: &Value, old: Option<&Value>) {
    let spec = tree::at(hpa, "spec");
    let (least, most) = (tree::at(spec, "minReplicas").as_i64(), tree::int(spec, "maxReplicas"));
    if least.is_some_and(|least| most < least) {
        errors.invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`");
    }
    let target = tree::at(spec, "scaleTargetRef");
    let before = old.map(|old| tree::at(old, "spec.scaleTargetRef"));
    let kept = before.is_some_and(|b| ["apiVersion", "kind"].iter().all(|f| tree::text(b, f) == tree::text(target, f)));
    let version = match target["kind"].as_str() {
        _ if kept => Version::Any,
        Some("ReplicationController") => Version::Valid,
        _ => Version::OfGroup,
    };
    reference(errors, "spec.scaleTargetRef", target, version);
    let broken = |metric: &Value| version_fault(tree::text(metric, "object.describedObject.apiVersion")).is_some();
    let was_broken = old.is_some_and(|old| tree::items(old, "spec.metrics").iter().any(broken));
    let described = if was_broken { Version::Any } else { Version::Valid };
    for (index, metric) in tree::items(spec, "metrics").iter().enumerate() {
        self::metric(errors, &format!("spec.metrics[{index}]"), metric, described);
    }
    let outside = |metric: &Value| matches!(tree::text(metric, "type"), "Object" | "External");
    if least == Some(0) && !tree::items(spec, "metrics").iter().any(outside) {
        let detail = "must specify at least one Object or External metric to support scaling to zero replicas";
        errors.forbidden("spec.metrics", detail);
    }
    for field in ["scaleUp", "scaleDown"] {
        let rules = tree::at(spec, &format!("behavior.{field}"));
        if !rules.is_null() {
            scaling_rules(errors, &format!("spec.behavior.{field}"), rules);
        }
    }
    if let Some(least) = least.filter(|least| *least < 0) {
        errors.invalid("spec.minReplicas", least, NEGATIVE);
    }
    match most {
        0 => errors.required("spec.maxReplicas", ""),
        most if most < 0 => errors.invalid("spec.maxReplicas", most, "must be greater than or equal to 1"),
        _ => {}
    }
}

/// Checks a status that a controller writes.
pub fn autoscaler_status(errors: &mut FieldErrors, hpa: &Value) {
    let status = tree::at(hpa, "status");
    for (index, condition) in tree::items(status, "conditions").iter().enumerate() {
        not_negative(errors, condition, &format!("status.conditions[{index}]"), "observedGeneration");
    }
    not_negative(errors, status, "status", "currentReplicas");
    not_negative(errors, status, "status", "desiredReplicas");
}

/// What an `apiVersion` of a reference may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    /// Not looked at.
    Any,
    /// Well formed.
    Valid,
    /// Not of the core group either.
    OfGroup,
}

fn version_fault(api_version: &str) -> Option<String> {
    (api_version.matches('/').count() > 1).then(|| format!("unexpected GroupVersion string: {api_version}"))
}

fn reference(errors: &mut FieldErrors, path: &str, reference: &Value, version: Version) {
    for field in ["kind", "name"] {
        let path = format!("{path}.{field}");
        match tree::text(reference, field) {
            "" => errors.required(path, ""),
            text => errors.each(path, text, names::path_segment(text, false)),
        }
    }
    let api_version = tree::text(reference, "apiVersion");
    let of_core = !api_version.contains('/') || api_version.starts_with('/');
    let fault = match version {
        Version::Any => None,
        _ => version_fault(api_version).or_else(|| {
            (version == Version::OfGroup && of_core).then(|| "apiVersion must specify API group".to_owned())
        }),
    };
    if let Some(fault) = fault {
        errors.invalid(format!("{path}.apiVersion"), api_version, fault);
    }
}

fn metric(errors: &mut FieldErrors, path: &str, metric: &Value, described: Version) {
    let kind = tree::text(metric, "type");
    let kinds = SOURCES.map(|(kind, _)| kind);
    if kind.is_empty() {
        errors.required(format!("{path}.type"), "must specify a metric source type");
    }
    let expected = SOURCES.iter().find(|(known, _)| *known == kind).map(|(_, field)| *field);
    if expected.is_none() {
        errors.not_supported(format!("{path}.type"), kind, &kinds);
    }
    let present: Vec<_> = ["object", "external", "pods", "resource", "containerResource"]
        .into_iter()
        .filter(|field| tree::has(metric, field))
        .collect();
    if let Some(first) = present.first() {
        source(errors, &format!("{path}.{first}"), first, tree::at(metric, first), described);
    }
    if let Some(expected) = expected.filter(|expected| !present.contains(expected)) {
        errors.required(format!("{path}.{expected}"), "must populate information for the given metric source");
    }
    if present.len() != 1 {
        for field in present.iter().filter(|field| Some(**field) != expected) {
            errors.forbidden(format!("{path}.{field}"), "must populate the given metric source only");
        }
    }
}

fn source(errors: &mut FieldErrors, path: &str, kind: &str, source: &Value, described: Version) {
    let name = tree::text(source, "name");
    match kind {
        "object" | "external" | "pods" => {
            if kind == "object" {
                let path = format!("{path}.describedObject");
                reference(errors, &path, tree::at(source, "describedObject"), described);
            }
            let path = format!("{path}.metric.name");
            match tree::text(source, "metric.name") {
                "" => errors.required(path, "must specify a metric name"),
                name => errors.each(path, name, names::path_segment(name, false)),
            }
        }
        _ if name.is_empty() => errors.required(format!("{path}.name"), "must specify a resource name"),
        "containerResource" => container_resource(errors, &format!("{path}.name"), name),
        _ => {}
    }
    if kind == "containerResource" {
        let path = format!("{path}.container");
        match tree::text(source, "container") {
            "" => errors.required(path, "must specify a container"),
            name => errors.each(path, name, names::label(name)),
        }
    }
    let (target, path) = (tree::at(source, "target"), format!("{path}.target"));
    self::target(errors, &path, target);
    let [value, average, percent] = ["value", "averageValue", "averageUtilization"].map(|f| tree::has(target, f));
    let (missing, field, detail) = match kind {
        "object" => (!value && !average, "averageValue", "must set either a target value or averageValue"),
        "external" => {
            let detail = "must set either a target value for metric or a per-pod target";
            (!value && !average, "averageValue", detail)
        }
        "pods" => (!average, "averageValue", "must specify a positive target averageValue"),
        _ => (!percent && !average, "averageUtilization", "must set either a target raw value or a target utilization"),
    };
    if missing {
        errors.required(format!("{path}.{field}"), detail);
    }
    match kind {
        "external" if value && average => {
            let detail = "may not set both a target value for metric and a per-pod target";
            errors.forbidden(format!("{path}.value"), detail);
        }
        "resource" | "containerResource" if percent && average => {
            let detail = "may not set both a target raw value and a target utilization";
            errors.forbidden(format!("{path}.averageValue"), detail);
        }
        _ => {}
    }
}

fn target(errors: &mut FieldErrors, path: &str, target: &Value) {
    let kind = tree::text(target, "type");
    if kind.is_empty() {
        errors.required(format!("{path}.type"), "must specify a metric target type");
    }
    if !matches!(kind, "Utilization" | "Value" | "AverageValue") {
        errors.invalid(format!("{path}.type"), kind, "must be either Utilization, Value, or AverageValue");
    }
    for field in ["value", "averageValue"] {
        let value = tree::at(target, field);
        if !value.is_null() && Quantity::from_value(value).is_ok_and(|quantity| quantity.signum() != 1) {
            errors.invalid(format!("{path}.{field}"), value.clone(), "must be positive");
        }
    }
    if let Some(percent) = tree::at(target, "averageUtilization").as_i64().filter(|percent| *percent < 1) {
        errors.invalid(format!("{path}.averageUtilization"), percent, "must be greater than 0");
    }
}

fn scaling_rules(errors: &mut FieldErrors, path: &str, rules: &Value) {
    let at = format!("{path}.stabilizationWindowSeconds");
    match tree::at(rules, "stabilizationWindowSeconds").as_i64() {
        Some(window) if window < 0 => errors.invalid(at, window, "must be greater than or equal to zero"),
        Some(window) if window > LONGEST_WINDOW => {
            errors.invalid(at, window, format!("must be less than or equal to {LONGEST_WINDOW}"));
        }
        _ => {}
    }
    if let Some(policy) = tree::at(rules, "selectPolicy").as_str()
        && !matches!(policy, "Max" | "Min" | "Disabled")
    {
        errors.not_supported(format!("{path}.selectPolicy"), policy, &["Disabled", "Max", "Min"]);
    }
    let policies = tree::items(rules, "policies");
    if policies.is_empty() {
        errors.required(format!("{path}.policies"), "must specify at least one Policy");
    }
    for (index, policy) in policies.iter().enumerate() {
        let path = format!("{path}.policies[{index}]");
        let kind = tree::text(policy, "type");
        if !matches!(kind, "Pods" | "Percent") {
            errors.not_supported(format!("{path}.type"), kind, &["Percent", "Pods"]);
        }
        for field in ["value", "periodSeconds"] {
            let number = tree::int(policy, field);
            if number <= 0 {
                errors.invalid(format!("{path}.{field}"), number, "must be greater than zero");
            }
        }
        let period = tree::int(policy, "periodSeconds");
        if period > LONGEST_PERIOD {
            let detail = format!("must be less than or equal to {LONGEST_PERIOD}");
            errors.invalid(format!("{path}.periodSeconds"), period, detail);
        }
    }
    let tolerance = tree::at(rules, "tolerance");
    if is_negative(tolerance) {
        errors.invalid(format!("{path}.tolerance"), tolerance.clone(), NEGATIVE);
    }
}
