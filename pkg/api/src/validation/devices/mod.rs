//! Devices: classes, claims, slices and taint rules.
//!
//! Source: upstream's `pkg/apis/resource/validation`. Expressions are looked at as far as their
//! length; compiling them comes with their evaluation.

mod claims;
mod slices;

pub use claims::{claim_spec, claim_status};
use serde_json::Value;
pub use slices::slice;

use super::{FieldErrors, conditions, labels, names, repeated, volume};
use crate::tree;

const SELECTORS: usize = 32;
const CONFIGURATIONS: usize = 32;
const EXPRESSION: usize = 10 * 1024;
const PARAMETERS: usize = 10 * 1024;
const EFFECTS: [&str; 3] = ["NoExecute", "NoSchedule", "None"];

/// Checks the items of a list, unless there are too many.
fn each(
    errors: &mut FieldErrors,
    path: &str,
    items: &[Value],
    limit: usize,
    check: &mut dyn FnMut(&mut FieldErrors, &str, &Value),
) {
    if items.len() > limit {
        return errors.too_many(path, items.len(), limit);
    }
    for (index, item) in items.iter().enumerate() {
        check(errors, &format!("{path}[{index}]"), item);
    }
}

/// Refuses the second of two items with one key.
fn unique(errors: &mut FieldErrors, path: &str, keys: &[Value]) {
    for (index, _) in repeated(keys).into_iter().enumerate().filter(|(_, again)| *again) {
        errors.duplicate(format!("{path}[{index}]"), keys[index].clone());
    }
}

/// A field of each item.
fn keys(items: &[Value], field: &str) -> Vec<Value> {
    items.iter().map(|item| tree::at(item, field).clone()).collect()
}

fn pool_name(errors: &mut FieldErrors, path: &str, name: &str) {
    if name.is_empty() {
        return errors.required(path, "");
    }
    if name.len() > 253 {
        errors.too_long(path, 253);
    }
    for part in name.split('/') {
        errors.each(path, part, names::subdomain(part));
    }
}

fn label(errors: &mut FieldErrors, path: &str, name: &str) {
    errors.each(path, name, names::label(name));
}

/// `name` or `domain/name`.
fn qualified(errors: &mut FieldErrors, path: &str, name: &str) {
    match name.split('/').collect::<Vec<_>>()[..] {
        [name] => identifier(errors, path, name),
        [domain, name] => {
            match domain {
                "" => errors.invalid(path, "", "the domain must not be empty"),
                domain => volume::driver_name(errors, path, domain),
            }
            match name {
                "" => errors.invalid(path, "", "the name must not be empty"),
                name => identifier(errors, path, name),
            }
        }
        _ => {}
    }
}

/// `domain/name`.
fn fully_qualified(errors: &mut FieldErrors, path: &str, name: &str) {
    qualified(errors, path, name);
    if !name.contains('/') {
        let detail = "a fully qualified name must be a domain and a name separated by a slash";
        errors.invalid(path, name, detail);
    }
}

fn identifier(errors: &mut FieldErrors, path: &str, name: &str) {
    const LIMIT: usize = 32;
    if name.len() > LIMIT {
        errors.too_long(path, LIMIT);
    }
    let fits = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|c| c == b'_' || c.is_ascii_alphanumeric());
    if !fits {
        let detail = "a valid C identifier must start with alphabetic character or '_', followed by a string of \
                      alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for \
                      validation is '[A-Za-z_][A-Za-z0-9_]*')";
        errors.invalid(path, name, detail);
    }
}

fn selectors(errors: &mut FieldErrors, path: &str, object: &Value) {
    each(errors, path, tree::items(object, "selectors"), SELECTORS, &mut |errors, path, selector| {
        if !tree::has(selector, "cel") {
            errors.required(format!("{path}.cel"), "");
        } else if tree::text(selector, "cel.expression").len() > EXPRESSION {
            errors.too_long(format!("{path}.cel.expression"), EXPRESSION);
        }
    });
}

fn configuration(errors: &mut FieldErrors, path: &str, configuration: &Value, stored: bool) {
    let opaque = tree::at(configuration, "opaque");
    let path = format!("{path}.opaque");
    if opaque.is_null() {
        return errors.required(path, "");
    }
    volume::driver_name(errors, &format!("{path}.driver"), tree::text(opaque, "driver"));
    let limit = if stored { usize::MAX } else { PARAMETERS };
    raw_object(errors, &format!("{path}.parameters"), tree::at(opaque, "parameters"), limit);
}

/// Free content must be an object.
fn raw_object(errors: &mut FieldErrors, path: &str, content: &Value, limit: usize) {
    if content.is_null() {
        errors.required(path, "");
    } else if content.to_string().len() > limit {
        errors.too_long(path, limit);
    } else if !content.is_object() {
        errors.invalid(path, "<value omitted>", "must be a valid JSON object");
    }
}

fn taint(errors: &mut FieldErrors, path: &str, taint: &Value, old: &Value) {
    let (key, value, effect) = (tree::text(taint, "key"), tree::text(taint, "value"), tree::text(taint, "effect"));
    errors.each(format!("{path}.key"), key, names::qualified(key));
    errors.each(format!("{path}.value"), value, names::label_value(value));
    if old.is_null() || tree::text(old, "effect") != effect {
        match effect {
            "" => errors.required(format!("{path}.effect"), ""),
            effect if !EFFECTS.contains(&effect) => errors.not_supported(format!("{path}.effect"), effect, &EFFECTS),
            _ => {}
        }
    }
}

fn tolerations(errors: &mut FieldErrors, path: &str, object: &Value) {
    const LIMIT: usize = 16;
    let path = format!("{path}.tolerations");
    each(errors, &path, tree::items(object, "tolerations"), LIMIT, &mut |errors, path, toleration| {
        let text = |field: &str| tree::text(toleration, field);
        let (key, value, effect) = (text("key"), text("value"), text("effect"));
        if !key.is_empty() {
            errors.each(format!("{path}.key"), key, names::qualified(key));
        }
        match text("operator") {
            "Exists" if !value.is_empty() => {
                errors.invalid(format!("{path}.value"), value, "must be empty for operator `Exists`");
            }
            "Exists" => {}
            "Equal" => errors.each(format!("{path}.value"), value, names::label_value(value)),
            "" => errors.required(format!("{path}.operator"), ""),
            other => errors.not_supported(format!("{path}.operator"), other, &["Equal", "Exists"]),
        }
        if !effect.is_empty() && !EFFECTS.contains(&effect) {
            errors.not_supported(format!("{path}.effect"), effect, &EFFECTS);
        }
    });
}

/// Conditions that bind or fail an allocation: both or none, each once.
fn binding(errors: &mut FieldErrors, path: &str, object: &Value) {
    const LIMIT: usize = 4;
    const FIELDS: [&str; 2] = ["bindingConditions", "bindingFailureConditions"];
    let [good, bad] = FIELDS.map(|field| tree::items(object, field));
    for (field, items) in FIELDS.iter().zip([good, bad]) {
        let path = format!("{path}.{field}");
        each(errors, &path, items, LIMIT, &mut |errors, path, item| {
            let name = item.as_str().unwrap_or_default();
            errors.each(path, name, names::qualified(name));
        });
        unique(errors, &path, items);
    }
    for (index, condition) in bad.iter().enumerate().filter(|(_, condition)| good.contains(condition)) {
        let detail = "bindingFailureConditions must not overlap with bindingConditions";
        errors.invalid(format!("{path}.{}[{index}]", FIELDS[1]), condition.clone(), detail);
    }
    for (empty, other, at) in [(good, bad, 0), (bad, good, 1)] {
        if empty.is_empty() && !other.is_empty() {
            let detail = format!("{} are required to use {}", FIELDS[at], FIELDS[1 - at]);
            errors.invalid(format!("{path}.{}", FIELDS[at]), Value::Null, detail);
        }
    }
}

/// Checks a class of devices.
pub fn class(errors: &mut FieldErrors, class: &Value, old: &Value) {
    let (spec, before) = (tree::at(class, "spec"), tree::at(old, "spec"));
    selectors(errors, "spec.selectors", spec);
    let stored = !old.is_null() && tree::equal(tree::at(spec, "config"), tree::at(before, "config"));
    each(errors, "spec.config", tree::items(spec, "config"), CONFIGURATIONS, &mut |errors, path, config| {
        configuration(errors, path, config, stored);
    });
    if let Some(name) = tree::at(spec, "extendedResourceName").as_str().filter(|name| !is_extended(name)) {
        errors.invalid("spec.extendedResourceName", name, "must be a valid extended resource name");
    }
}

/// Whether a resource is one that nodes advertise beyond the native ones.
fn is_extended(name: &str) -> bool {
    const QUOTA: &str = "requests.";
    let native = !name.contains('/') || name.contains("kubernetes.io/");
    !native && !name.starts_with(QUOTA) && names::qualified(&format!("{QUOTA}{name}")).is_empty()
}

/// Checks a rule that taints devices.
pub fn taint_rule(errors: &mut FieldErrors, rule: &Value, old: &Value) {
    let selector = tree::at(rule, "spec.deviceSelector");
    const SELECTOR: &str = "spec.deviceSelector";
    if let Some(driver) = tree::at(selector, "driver").as_str() {
        volume::driver_name(errors, &format!("{SELECTOR}.driver"), driver);
    }
    if let Some(pool) = tree::at(selector, "pool").as_str() {
        pool_name(errors, &format!("{SELECTOR}.pool"), pool);
    }
    if let Some(device) = tree::at(selector, "device").as_str() {
        label(errors, &format!("{SELECTOR}.device"), device);
    }
    taint(errors, "spec.taint", tree::at(rule, "spec.taint"), tree::at(old, "spec.taint"));
}

/// Checks the status of a rule that taints devices.
pub fn taint_rule_status(errors: &mut FieldErrors, rule: &Value) {
    const LIMIT: usize = 8;
    const PATH: &str = "status.conditions";
    let all = tree::items(rule, PATH);
    conditions::conditions(errors, PATH, all);
    if all.len() > LIMIT {
        errors.too_many(PATH, all.len(), LIMIT);
    }
}

/// Checks a template of claims.
pub fn claim_template(errors: &mut FieldErrors, template: &Value) {
    let metadata = tree::at(template, "spec.metadata");
    labels::labels(errors, "spec.metadata.labels", tree::at(metadata, "labels"));
    super::annotations(errors, "spec.metadata.annotations", tree::at(metadata, "annotations"));
    claim_spec(errors, "spec.spec", tree::at(template, "spec.spec"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extended_resources() {
        for (name, extended) in
            [("example.com/gpu", true), ("cpu", false), ("x.kubernetes.io/y", false), ("requests.a/b", false)]
        {
            assert_eq!(is_extended(name), extended, "{name}");
        }
    }
}
