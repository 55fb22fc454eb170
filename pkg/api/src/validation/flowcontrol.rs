//! Flow schemas and priority levels.
//!
//! Source: upstream's `pkg/apis/flowcontrol/validation`.

use serde_json::{Value, json};

use super::{FieldErrors, names};
use crate::tree;

const VERBS: [&str; 9] = ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];
/// Highest matching precedence: the lowest rank.
const LAST_PRECEDENCE: i64 = 10_000;
const QUEUES: i64 = 10_000_000;
/// Bits of a request's hash that choose its hand of queues.
const HASH_BITS: f64 = 60.0;

/// Checks a flow schema, status apart.
pub fn flow_schema(errors: &mut FieldErrors, schema: &Value) {
    let (name, spec) = (tree::text(schema, "metadata.name"), tree::at(schema, "spec"));
    let precedence = tree::int(spec, "matchingPrecedence");
    const PRECEDENCE: &str = "spec.matchingPrecedence";
    if precedence <= 0 {
        errors.invalid(PRECEDENCE, precedence, "must be a positive value");
    }
    if precedence > LAST_PRECEDENCE {
        errors.invalid(PRECEDENCE, precedence, format!("must not be greater than {LAST_PRECEDENCE}"));
    }
    if precedence == 1 && name != "exempt" {
        let detail = "only the schema named 'exempt' may have matchingPrecedence 1";
        errors.invalid(PRECEDENCE, precedence, detail);
    }
    let method = tree::at(spec, "distinguisherMethod");
    if !method.is_null() && !matches!(tree::text(method, "type"), "ByNamespace" | "ByUser") {
        errors.not_supported("spec.distinguisherMethod.type", method.clone(), &["ByNamespace", "ByUser"]);
    }
    const LEVEL: &str = "spec.priorityLevelConfiguration.name";
    match tree::text(spec, "priorityLevelConfiguration.name") {
        "" => errors.required(LEVEL, "must reference a priority level"),
        level => errors.each(LEVEL, level, names::subdomain(level)),
    }
    for (index, rule) in tree::items(spec, "rules").iter().enumerate() {
        rule_with_subjects(errors, &format!("spec.rules[{index}]"), rule);
    }
    let fixed = match name {
        "exempt" => Some(json!({
            "priorityLevelConfiguration": {"name": "exempt"}, "matchingPrecedence": 1,
            "rules": [all_of(&["system:masters"])],
        })),
        "catch-all" => Some(json!({
            "priorityLevelConfiguration": {"name": "catch-all"}, "matchingPrecedence": LAST_PRECEDENCE,
            "distinguisherMethod": {"type": "ByUser"},
            "rules": [all_of(&["system:unauthenticated", "system:authenticated"])],
        })),
        _ => None,
    };
    if fixed.is_some_and(|fixed| !tree::equal(&fixed, spec)) {
        errors.invalid("spec", spec.clone(), format!("spec of '{name}' must equal the fixed value"));
    }
}

/// A rule for everything that members of groups do.
fn all_of(groups: &[&str]) -> Value {
    let subjects: Vec<_> = groups.iter().map(|name| json!({"kind": "Group", "group": {"name": name}})).collect();
    json!({
        "subjects": subjects,
        "resourceRules": [
            {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": true},
        ],
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
    })
}

fn rule_with_subjects(errors: &mut FieldErrors, path: &str, rule: &Value) {
    let subjects = tree::items(rule, "subjects");
    if subjects.is_empty() {
        errors.required(format!("{path}.subjects"), "subjects must contain at least one value");
    }
    for (index, one) in subjects.iter().enumerate() {
        subject(errors, &format!("{path}.subjects[{index}]"), one);
    }
    let (resources, others) = (tree::items(rule, "resourceRules"), tree::items(rule, "nonResourceRules"));
    if resources.is_empty() && others.is_empty() {
        errors.required(path, "at least one of resourceRules and nonResourceRules has to be non-empty");
    }
    for (index, rule) in resources.iter().enumerate() {
        resource_rule(errors, &format!("{path}.resourceRules[{index}]"), rule);
    }
    for (index, rule) in others.iter().enumerate() {
        let path = format!("{path}.nonResourceRules[{index}]");
        verbs(errors, &path, rule);
        let urls: Vec<&str> = tree::texts(rule, "nonResourceURLs").collect();
        let path = format!("{path}.nonResourceURLs");
        if urls.is_empty() {
            errors.required(path, "nonResourceURLs must contain at least one value");
        } else if urls.contains(&"*") {
            alone(errors, &path, &urls, "non-resource URLs");
        } else {
            for (index, url) in urls.iter().enumerate() {
                if let Some(fault) = url_fault(url) {
                    errors.invalid(format!("{path}[{index}]"), *url, fault);
                }
            }
        }
    }
}

/// Kinds of subjects, with their fields.
const SUBJECTS: [(&str, &str); 3] = [("ServiceAccount", "serviceAccount"), ("User", "user"), ("Group", "group")];

fn subject(errors: &mut FieldErrors, path: &str, subject: &Value) {
    let kind = tree::text(subject, "kind");
    let Some((_, own)) = SUBJECTS.iter().find(|(known, _)| *known == kind) else {
        return errors.not_supported(format!("{path}.kind"), kind, &["Group", "ServiceAccount", "User"]);
    };
    let who = tree::at(subject, own);
    let (at, name) = (format!("{path}.{own}"), tree::text(who, "name"));
    if who.is_null() {
        errors.required(at, format!("{own} is required when subject kind is '{kind}'"));
    } else {
        if name.is_empty() {
            errors.required(format!("{at}.name"), "");
        }
        if kind == "ServiceAccount" {
            if !name.is_empty() && name != "*" {
                errors.each(format!("{at}.name"), name, names::subdomain(name));
            }
            match tree::text(who, "namespace") {
                "" => errors.required(format!("{at}.namespace"), "must specify namespace for service account"),
                namespace => errors.each(format!("{at}.namespace"), namespace, names::label(namespace)),
            }
        }
    }
    for (other, field) in SUBJECTS.iter().filter(|(other, field)| *other != kind && tree::has(subject, field)) {
        let detail = format!("{field} is forbidden when subject kind is not '{other}'");
        errors.forbidden(format!("{path}.{field}"), detail);
    }
}

/// A wildcard stands alone.
fn alone(errors: &mut FieldErrors, path: &str, texts: &[&str], what: &str) {
    if texts.len() > 1 {
        errors.invalid(path, json!(texts), format!("if '*' is present, must not specify other {what}"));
    }
}

fn verbs(errors: &mut FieldErrors, path: &str, rule: &Value) {
    let (path, verbs) = (format!("{path}.verbs"), tree::texts(rule, "verbs").collect::<Vec<_>>());
    if verbs.is_empty() {
        errors.required(path, "verbs must contain at least one value");
    } else if verbs.contains(&"*") {
        alone(errors, &path, &verbs, "verbs");
    } else if !verbs.iter().all(|verb| VERBS.contains(verb)) {
        errors.not_supported(path, json!(verbs), &VERBS);
    }
}

fn resource_rule(errors: &mut FieldErrors, path: &str, rule: &Value) {
    verbs(errors, path, rule);
    for (field, one, many) in [("apiGroups", "api group", "api groups"), ("resources", "resource", "resources")] {
        let texts: Vec<&str> = tree::texts(rule, field).collect();
        let path = format!("{path}.{field}");
        if texts.is_empty() {
            errors.required(path, format!("resource rules must supply at least one {one}"));
        } else if texts.contains(&"*") {
            alone(errors, &path, &texts, many);
        }
    }
    let namespaces: Vec<&str> = tree::texts(rule, "namespaces").collect();
    let path = format!("{path}.namespaces");
    if namespaces.is_empty() && !tree::flag(rule, "clusterScope") {
        let detail = "resource rules that are not cluster scoped must supply at least one namespace";
        return errors.required(path, detail);
    }
    if namespaces.contains(&"*") {
        return alone(errors, &path, &namespaces, "namespaces");
    }
    for (index, namespace) in namespaces.iter().enumerate() {
        let intro = |fault: &String| format!("each member of this list must be '*' or a DNS-1123 label; {fault}");
        let faults = names::label(namespace).iter().map(intro).collect();
        errors.each(format!("{path}[{index}]"), *namespace, faults);
    }
}

/// What is wrong with a path of no resource; a `*` may end it.
pub fn url_fault(url: &str) -> Option<&'static str> {
    match url {
        "" => Some("must not be empty"),
        "/" => None,
        _ if !url.starts_with('/') => Some("must start with slash"),
        _ if url.contains(' ') => Some("must not contain white-space"),
        _ if url.contains("//") => Some("must not contain double slash"),
        _ if url.matches('*').count() > 1 || url.contains('*') && !url.ends_with("/*") => {
            Some("wildcard can only do suffix matching")
        }
        _ => None,
    }
}

/// Checks a priority level, status apart.
pub fn priority_level(errors: &mut FieldErrors, level: &Value) {
    const ROUND_TRIP: &str = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";
    if level["metadata"]["annotations"].get(ROUND_TRIP).is_some() {
        errors.forbidden("metadata.annotations", format!("annotation '{ROUND_TRIP}' is forbidden"));
    }
    let (name, spec) = (tree::text(level, "metadata.name"), tree::at(level, "spec"));
    let kind = tree::text(spec, "type");
    if (name == "exempt") != (kind == "Exempt") {
        errors.invalid("spec.type", kind, "must be 'Exempt' if and only if `name` is 'exempt'");
    }
    match kind {
        "Exempt" => {
            if tree::has(spec, "limited") {
                errors.forbidden("spec.limited", "must be nil if the type is not Limited");
            }
            shares(errors, "spec.exempt", tree::at(spec, "exempt"));
        }
        "Limited" => {
            if tree::has(spec, "exempt") {
                errors.forbidden("spec.exempt", "must be nil if the type is Limited");
            }
            match tree::at(spec, "limited") {
                Value::Null => errors.required("spec.limited", "must not be empty when type is Limited"),
                limited => self::limited(errors, limited),
            }
        }
        "" => errors.required("spec.type", ""),
        other => errors.not_supported("spec.type", other, &["Exempt", "Limited"]),
    }
    if name == "catch-all" {
        let fixed = json!({"type": "Limited", "limited": {
            "nominalConcurrencyShares": 5, "lendablePercent": 0, "limitResponse": {"type": "Reject"},
        }});
        if !tree::equal(&fixed, spec) {
            errors.invalid("spec", spec.clone(), "spec of 'catch-all' must equal the fixed value");
        }
    }
}

fn shares(errors: &mut FieldErrors, path: &str, level: &Value) {
    let shares = tree::int(level, "nominalConcurrencyShares");
    if shares < 0 {
        errors.invalid(format!("{path}.nominalConcurrencyShares"), shares, "must be a non-negative integer");
    }
    let lendable = tree::int(level, "lendablePercent");
    errors.each(format!("{path}.lendablePercent"), lendable, names::in_range(lendable, 0, 100));
}

fn limited(errors: &mut FieldErrors, limited: &Value) {
    shares(errors, "spec.limited", limited);
    let response = tree::at(limited, "limitResponse");
    const RESPONSE: &str = "spec.limited.limitResponse";
    let queuing = tree::at(response, "queuing");
    match tree::text(response, "type") {
        "Reject" if !queuing.is_null() => {
            let detail = "must be nil if limited.limitResponse.type is not Limited";
            errors.forbidden(format!("{RESPONSE}.queuing"), detail);
        }
        "Reject" => {}
        "Queue" if queuing.is_null() => {
            let detail = "must not be empty if limited.limitResponse.type is Limited";
            errors.required(format!("{RESPONSE}.queuing"), detail);
        }
        "Queue" => self::queuing(errors, &format!("{RESPONSE}.queuing"), queuing),
        "" => errors.required(format!("{RESPONSE}.type"), ""),
        other => errors.not_supported(format!("{RESPONSE}.type"), other, &["Queue", "Reject"]),
    }
    let borrowing = tree::int(limited, "borrowingLimitPercent");
    if borrowing < 0 {
        let detail = "if specified, must be a non-negative integer";
        errors.invalid("spec.limited.borrowingLimitPercent", borrowing, detail);
    }
}

fn queuing(errors: &mut FieldErrors, path: &str, queuing: &Value) {
    let [length, queues, hand] = ["queueLengthLimit", "queues", "handSize"].map(|field| tree::int(queuing, field));
    if length <= 0 {
        errors.invalid(format!("{path}.queueLengthLimit"), length, "must be positive");
    }
    if queues <= 0 {
        errors.invalid(format!("{path}.queues"), queues, "must be positive");
    } else if queues > QUEUES {
        errors.invalid(format!("{path}.queues"), queues, format!("must not be greater than {QUEUES}"));
    }
    let path = format!("{path}.handSize");
    if hand <= 0 {
        errors.invalid(path, hand, "must be positive");
    } else if hand > queues {
        errors.invalid(path, hand, format!("should not be greater than queues ({queues})"));
    } else if entropy(queues, hand) > HASH_BITS {
        let detail = format!(
            "required entropy bits of deckSize {queues} and handSize {hand} should not be greater than {HASH_BITS}"
        );
        errors.invalid(path, hand, detail);
    }
}

/// Bits that choose a hand of queues.
#[expect(clippy::cast_precision_loss, reason = "at most ten millions")]
fn entropy(queues: i64, hand: i64) -> f64 {
    ((queues as f64).log2() * hand as f64).ceil()
}

/// Checks conditions in a status: each with a type, once.
pub fn conditions(errors: &mut FieldErrors, object: &Value) {
    let mut seen = std::collections::HashSet::new();
    for (index, condition) in tree::items(object, "status.conditions").iter().enumerate() {
        let (path, kind) = (format!("status.conditions[{index}].type"), tree::text(condition, "type"));
        if !seen.insert(kind) {
            errors.duplicate(path.clone(), kind);
        }
        if kind.is_empty() {
            errors.required(path, "");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hands_fit_the_hash() {
        for (queues, hand, bits) in [(64, 6, 36.0), (128, 6, 42.0), (64, 8, 48.0), (1, 1, 0.0), (100, 9, 60.0)] {
            assert!((entropy(queues, hand) - bits).abs() < 0.1, "{queues} {hand}");
        }
    }

    #[test]
    fn paths() {
        for (url, fault) in [
            ("/", None),
            ("/a/*", None),
            ("a", Some("must start with slash")),
            ("/a*", Some("wildcard can only do suffix matching")),
        ] {
            assert_eq!(url_fault(url), fault, "{url}");
        }
    }
}
