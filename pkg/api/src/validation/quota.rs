//! Checks of LimitRanges and ResourceQuotas.
//!
//! Source: `pkg/apis/core/validation/validation.go`, `pkg/apis/core/helper`.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde_json::Value;

use super::{FieldErrors, Reason, names, resources};
use crate::{quantity::Quantity, tree};

const SCOPES: [&str; 7] = [
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "VolumeAttributesClass",
    "CrossNamespacePodAffinity",
];
const COMPUTE: [&str; 6] = ["cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"];
const PAIRS: [[&str; 2]; 2] = [["BestEffort", "NotBestEffort"], ["Terminating", "NotTerminating"]];

/// Checks a LimitRange.
pub fn limit_range(errors: &mut FieldErrors, range: &Value) {
    let mut seen = HashSet::new();
    for (index, limit) in tree::items(range, "spec.limits").iter().enumerate() {
        let path = format!("spec.limits[{index}]");
        let kind = tree::text(limit, "type");
        let at = format!("{path}.type");
        let faults = names::qualified(kind);
        if faults.is_empty() && !kind.contains('/') && !matches!(kind, "Pod" | "Container" | "PersistentVolumeClaim") {
            errors.invalid(at.clone(), kind, "must be a standard limit type or fully qualified");
        }
        errors.each(at.clone(), kind, faults);
        if !seen.insert(kind) {
            errors.duplicate(at, kind);
        }
        limit_item(errors, &path, kind, limit);
    }
}

type Amounts<'a> = BTreeMap<&'a str, Quantity>;

fn limit_item(errors: &mut FieldErrors, path: &str, kind: &str, limit: &Value) {
    let mut keys = BTreeSet::new();
    let mut read = |errors: &mut FieldErrors, field: &str| -> Amounts {
        let mut amounts = Amounts::new();
        for (name, value) in tree::entries(limit, field) {
            let path = format!("{path}.{field}[{name}]");
            match kind {
                "Pod" | "Container" => resources::container_resource(errors, &path, name),
                _ => resources::resource_name(errors, &path, name),
            }
            keys.insert(name);
            amounts.insert(name, Quantity::from_value(value).unwrap_or_default());
        }
        amounts
    };
    let most = read(errors, "max");
    let least = read(errors, "min");
    let (mut limits, mut requests) = (Amounts::new(), Amounts::new());
    if kind == "Pod" {
        for field in ["default", "defaultRequest"] {
            if tree::entries(limit, field).next().is_some() {
                errors.forbidden(format!("{path}.{field}"), "may not be specified when `type` is 'Pod'");
            }
        }
    } else {
        limits = read(errors, "default");
        requests = read(errors, "defaultRequest");
    }
    if kind == "PersistentVolumeClaim" && !least.contains_key("storage") && !most.contains_key("storage") {
        let detail = "either minimum or maximum storage value is required, but neither was provided";
        errors.required(format!("{path}.limits"), detail);
    }
    let ratios = read(errors, "maxLimitRequestRatio");
    for key in keys {
        let of = |amounts: &Amounts| amounts.get(key).copied();
        let (most, least, limit, request) = (of(&most), of(&least), of(&limits), of(&requests));
        // Which is not above which; where it is told, and whose value is shown.
        let order = [
            (least, most, "min", least, "min value", "max value"),
            (least, request, "defaultRequest", request, "min value", "default request value"),
            (request, most, "defaultRequest", request, "default request value", "max value"),
            (request, limit, "defaultRequest", request, "default request value", "default limit value"),
            (least, limit, "default", least, "min value", "default value"),
            (limit, most, "default", most, "default value", "max value"),
        ];
        for (low, high, field, shown, low_name, high_name) in order {
            if let (Some(low), Some(high), Some(shown)) = (low, high, shown)
                && low > high
            {
                let detail = format!("{low_name} {low} is greater than {high_name} {high}");
                errors.invalid(format!("{path}.{field}[{key}]"), shown.to_string(), detail);
            }
        }
        if let Some(ratio) = of(&ratios) {
            self::ratio(errors, &format!("{path}.maxLimitRequestRatio[{key}]"), ratio, least, most);
        }
        if let (Some(limit), Some(request)) = (limit, request)
            && !resources::overcommits(key)
            && limit != request
        {
            let detail = format!("default value {limit} must equal to defaultRequest value {request} in {key}");
            errors.invalid(format!("{path}.defaultRequest[{key}]"), request.to_string(), detail);
        }
    }
}

fn ratio(errors: &mut FieldErrors, path: &str, ratio: Quantity, least: Option<Quantity>, most: Option<Quantity>) {
    if ratio.milli() < 1000 {
        errors.invalid(path, ratio.to_string(), format!("ratio {ratio} is less than 1"));
    }
    if let (Some(least), Some(most)) = (least, most) {
        let limit = most.as_f64() / least.as_f64();
        if ratio.as_f64() > limit {
            let detail = format!("ratio {ratio} is greater than max/min = {limit:.6}");
            errors.invalid(path, ratio.to_string(), detail);
        }
    }
}

/// Checks the specification of a ResourceQuota.
pub fn quota(errors: &mut FieldErrors, quota: &Value) {
    amounts(errors, "spec.hard", quota);
    let all = tree::at(quota, "spec.scopes");
    let scopes: Vec<_> = tree::texts(quota, "spec.scopes").collect();
    for scope in &scopes {
        // Each fault shows all of them.
        if errors.is_full() {
            break;
        }
        if !SCOPES.contains(scope) {
            errors.invalid("spec.scopes", all.clone(), "unsupported scope");
        }
        unfit(errors, "spec.scopes", scope, quota, all);
    }
    conflicts(errors, "spec.scopes", &scopes, all);
    if tree::has(quota, "spec.scopeSelector") {
        selector(errors, quota);
    }
}

/// Checks `status` of a ResourceQuota.
pub fn quota_status(errors: &mut FieldErrors, quota: &Value) {
    amounts(errors, "status.hard", quota);
    amounts(errors, "status.used", quota);
}

/// Scopes may not change.
pub fn quota_update(errors: &mut FieldErrors, new: &Value, old: &Value) {
    let set = |quota| tree::texts(quota, "spec.scopes").collect::<BTreeSet<_>>();
    if set(new) != set(old) {
        errors.push("spec.scopes", Reason::Invalid, tree::at(new, "spec.scopes").clone(), super::IMMUTABLE);
    }
}

fn amounts(errors: &mut FieldErrors, path: &str, quota: &Value) {
    for (name, value) in tree::entries(quota, path) {
        let path = format!("{path}[{name}]");
        resources::quota_resource(errors, &path, name);
        resources::amount(errors, &path, name, value);
    }
}

fn fits(scope: &str, resource: &str) -> bool {
    match scope {
        "BestEffort" => resource == "pods",
        "VolumeAttributesClass" => matches!(resource, "persistentvolumeclaims" | "requests.storage"),
        scope if SCOPES.contains(&scope) => resource == "pods" || COMPUTE.contains(&resource),
        _ => true,
    }
}

fn unfit(errors: &mut FieldErrors, path: &str, scope: &str, quota: &Value, shown: &Value) {
    for (resource, _) in tree::entries(quota, "spec.hard") {
        if errors.is_full() {
            break;
        }
        if resources::is_quota_resource(resource) && !fits(scope, resource) {
            errors.invalid(path, shown.clone(), "unsupported scope applied to resource");
        }
    }
}

fn conflicts(errors: &mut FieldErrors, path: &str, scopes: &[&str], shown: &Value) {
    for pair in PAIRS {
        if pair.iter().all(|scope| scopes.contains(scope)) {
            errors.invalid(path, shown.clone(), "conflicting scopes");
        }
    }
}

fn selector(errors: &mut FieldErrors, quota: &Value) {
    const PATH: &str = "spec.scopeSelector.matchExpressions";
    let mut scopes = Vec::new();
    for requirement in tree::items(quota, PATH) {
        let (scope, operator) = (tree::text(requirement, "scopeName"), tree::text(requirement, "operator"));
        if !SCOPES.contains(&scope) {
            errors.invalid(format!("{PATH}.scopeName"), scope, "unsupported scope");
        }
        unfit(errors, PATH, scope, quota, tree::at(quota, "spec.scopeSelector"));
        if SCOPES.contains(&scope)
            && !matches!(scope, "PriorityClass" | "VolumeAttributesClass")
            && operator != "Exists"
        {
            let detail = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, \
                          ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, \
                          ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
            errors.invalid(format!("{PATH}.operator"), operator, detail);
        }
        let values = tree::items(requirement, "values");
        match operator {
            "In" | "NotIn" if values.is_empty() => {
                let detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
                errors.required(format!("{PATH}.values"), detail);
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                let detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
                errors.invalid(format!("{PATH}.values"), values.to_vec(), detail);
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            other => errors.invalid(format!("{PATH}.operator"), other, "not a valid selector operator"),
        }
        scopes.push(scope);
    }
    conflicts(errors, PATH, &scopes, tree::at(quota, "spec.scopes"));
}
