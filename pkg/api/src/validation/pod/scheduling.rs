//! Where a pod may run: tolerations, affinity, spread.

use serde_json::Value;

use super::one_of_given;
use crate::{
    tree,
    validation::{FieldErrors, labels, names},
};

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// Checks tolerations.
pub fn tolerations(errors: &mut FieldErrors, path: &str, tolerations: &[Value]) {
    for (index, toleration) in tolerations.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let field = |field: &str| tree::text(toleration, field).to_owned();
        let (key, operator, value, effect) = (field("key"), field("operator"), field("value"), field("effect"));
        if !key.is_empty() {
            errors.each(format!("{path}.key"), key.as_str(), names::qualified(&key));
        } else if operator != "Exists" {
            let detail = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            errors.invalid(format!("{path}.operator"), operator.as_str(), detail);
        }
        if tree::has(toleration, "tolerationSeconds") && effect != "NoExecute" {
            let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            errors.invalid(format!("{path}.effect"), effect.as_str(), detail);
        }
        match operator.as_str() {
            "" | "Equal" => {
                let faults = names::label_value(&value);
                if !faults.is_empty() {
                    errors.invalid(format!("{path}.operator"), value, faults.join(";"));
                }
            }
            "Exists" if value.is_empty() => {}
            "Exists" => {
                let detail = "value must be empty when `operator` is 'Exists'";
                errors.invalid(format!("{path}.operator"), value, detail);
            }
            _ => errors.not_supported(format!("{path}.operator"), operator, &["Equal", "Exists"]),
        }
        one_of_given(errors, &format!("{path}.effect"), &effect, &EFFECTS);
    }
}

/// Checks the effect of a taint.
pub fn taint_effect(errors: &mut FieldErrors, path: &str, effect: &str) {
    if effect.is_empty() {
        errors.required(path, "");
    }
    one_of_given(errors, path, effect, &EFFECTS);
}

pub(super) fn affinity(errors: &mut FieldErrors, path: &str, affinity: &Value) {
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
    let node = tree::at(affinity, "nodeAffinity");
    let required = tree::at(node, REQUIRED);
    if !required.is_null() {
        node_selector(errors, &format!("{path}.nodeAffinity.{REQUIRED}"), required);
    }
    for (index, term) in tree::items(node, PREFERRED).iter().enumerate() {
        let path = format!("{path}.nodeAffinity.{PREFERRED}[{index}]");
        weight(errors, &path, term);
        node_term(errors, &format!("{path}.preference"), tree::at(term, "preference"), false);
    }
    for field in ["podAffinity", "podAntiAffinity"] {
        let pods = tree::at(affinity, field);
        for (index, term) in tree::items(pods, REQUIRED).iter().enumerate() {
            pod_term(errors, &format!("{path}.{field}.{REQUIRED}[{index}]"), term);
        }
        for (index, term) in tree::items(pods, PREFERRED).iter().enumerate() {
            let path = format!("{path}.{field}.{PREFERRED}[{index}]");
            weight(errors, &path, term);
            pod_term(errors, &format!("{path}.podAffinityTerm"), tree::at(term, "podAffinityTerm"));
        }
    }
}

/// Checks a `NodeSelector`.
pub fn node_selector(errors: &mut FieldErrors, path: &str, selector: &Value) {
    let path = format!("{path}.nodeSelectorTerms");
    let terms = tree::items(selector, "nodeSelectorTerms");
    if terms.is_empty() {
        errors.required(path.clone(), "must have at least one node selector term");
    }
    for (index, term) in terms.iter().enumerate() {
        node_term(errors, &format!("{path}[{index}]"), term, true);
    }
}

fn weight(errors: &mut FieldErrors, path: &str, term: &Value) {
    let weight = tree::int(term, "weight");
    if !(1..=100).contains(&weight) {
        errors.invalid(format!("{path}.weight"), weight, "must be in the range 1-100");
    }
}

/// Checks a term; `strict`: its values must be such as labels can have.
fn node_term(errors: &mut FieldErrors, path: &str, term: &Value, strict: bool) {
    for (index, requirement) in tree::items(term, "matchExpressions").iter().enumerate() {
        let path = format!("{path}.matchExpressions[{index}]");
        let values = tree::items(requirement, "values");
        match (tree::text(requirement, "operator"), values.len()) {
            ("In" | "NotIn", 0) => {
                errors.required(format!("{path}.values"), "must be specified when `operator` is 'In' or 'NotIn'");
            }
            ("Gt" | "Lt", count) if count != 1 => {
                let detail = "must be specified single value when `operator` is 'Lt' or 'Gt'";
                errors.required(format!("{path}.values"), detail);
            }
            ("Exists" | "DoesNotExist", count) if count > 0 => {
                let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                errors.forbidden(format!("{path}.values"), detail);
            }
            ("In" | "NotIn" | "Gt" | "Lt" | "Exists" | "DoesNotExist", _) => {}
            (other, _) => errors.invalid(format!("{path}.operator"), other, "not a valid selector operator"),
        }
        let key = tree::text(requirement, "key");
        errors.each(format!("{path}.key"), key, names::qualified(key));
        for (index, value) in values.iter().filter_map(Value::as_str).enumerate().filter(|_| strict) {
            errors.each(format!("{path}.values[{index}]"), value, names::label_value(value));
        }
    }
    for (index, requirement) in tree::items(term, "matchFields").iter().enumerate() {
        let path = format!("{path}.matchFields[{index}]");
        match tree::text(requirement, "operator") {
            "In" | "NotIn" if tree::items(requirement, "values").len() == 1 => {}
            "In" | "NotIn" => {
                let detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
                errors.required(format!("{path}.values"), detail);
            }
            other => errors.invalid(format!("{path}.operator"), other, "not a valid selector operator"),
        }
        let key = tree::text(requirement, "key");
        if key != "metadata.name" {
            errors.invalid(format!("{path}.key"), key, "not a valid field selector key");
            continue;
        }
        for (index, value) in tree::texts(requirement, "values").enumerate() {
            errors.each(format!("{path}.values[{index}]"), value, names::subdomain(value));
        }
    }
}

fn pod_term(errors: &mut FieldErrors, path: &str, term: &Value) {
    for field in ["labelSelector", "namespaceSelector"] {
        labels::selector(errors, &format!("{path}.{field}"), tree::at(term, field));
    }
    for name in tree::texts(term, "namespaces") {
        errors.each(format!("{path}.namespace"), name, names::label(name));
    }
    label_keys(errors, path, term);
    let key = tree::text(term, "topologyKey");
    if key.is_empty() {
        errors.required(format!("{path}.topologyKey"), "can not be empty");
    }
    errors.each(format!("{path}.topologyKey"), key, names::qualified(key));
}

/// `matchLabelKeys` and `mismatchLabelKeys` beside a selector.
fn label_keys(errors: &mut FieldErrors, path: &str, of: &Value) {
    let selector = tree::at(of, "labelSelector");
    let (wanted, unwanted) = ("matchLabelKeys", "mismatchLabelKeys");
    for field in [wanted, unwanted] {
        let keys: Vec<_> = tree::texts(of, field).collect();
        if selector.is_null() && !keys.is_empty() {
            errors.forbidden(format!("{path}.{field}"), "must not be specified when labelSelector is not set");
            continue;
        }
        for (index, key) in keys.iter().enumerate() {
            errors.each(format!("{path}.{field}[{index}]"), *key, names::qualified(key));
        }
    }
    let keys: Vec<_> = tree::texts(of, wanted).collect();
    let mut selected: Vec<&str> = tree::entries(selector, "matchLabels").map(|(key, _)| key).collect();
    for requirement in tree::items(selector, "matchExpressions") {
        let key = tree::text(requirement, "key");
        if let Some(index) = keys.iter().rposition(|k| *k == key).filter(|_| selected.contains(&key)) {
            errors.invalid(format!("{path}[{index}]"), key, "exists in both matchLabelKeys and labelSelector");
        }
        selected.push(key);
    }
    for (index, key) in keys.iter().enumerate() {
        if tree::texts(of, unwanted).any(|other| other == *key) {
            let detail = "exists in both matchLabelKeys and mismatchLabelKeys";
            errors.invalid(format!("{path}.{wanted}[{index}]"), *key, detail);
        }
    }
}

pub(super) fn spread(errors: &mut FieldErrors, path: &str, spec: &Value) {
    let constraints = tree::items(spec, "topologySpreadConstraints");
    for (index, constraint) in constraints.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let skew = tree::int(constraint, "maxSkew");
        if skew <= 0 {
            errors.invalid(format!("{path}.maxSkew"), skew, "must be greater than zero");
        }
        let key = tree::text(constraint, "topologyKey");
        if key.is_empty() {
            errors.required(format!("{path}.topologyKey"), "can not be empty");
        }
        let action = tree::text(constraint, "whenUnsatisfiable");
        if !matches!(action, "DoNotSchedule" | "ScheduleAnyway") {
            let supported = ["DoNotSchedule", "ScheduleAnyway"];
            errors.not_supported(format!("{path}.whenUnsatisfiable"), action, &supported);
        }
        let same = |other: &Value| other["topologyKey"] == key && other["whenUnsatisfiable"] == action;
        if constraints[index + 1..].iter().any(same) {
            errors.duplicate(format!("{path}.{{topologyKey, whenUnsatisfiable}}"), format!("{{{key}, {action}}}"));
        }
        if let Some(domains) = tree::at(constraint, "minDomains").as_i64() {
            let at = format!("{path}.minDomains");
            if domains <= 0 {
                errors.invalid(at.clone(), domains, "must be greater than zero");
            }
            if action != "DoNotSchedule" {
                let detail = format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}");
                errors.invalid(at, domains, detail);
            }
        }
        for field in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            one_of_given(errors, &format!("{path}.{field}"), tree::text(constraint, field), &["Honor", "Ignore"]);
        }
        label_keys(errors, &path, constraint);
        labels::selector(errors, &format!("{path}.labelSelector"), tree::at(constraint, "labelSelector"));
    }
}
