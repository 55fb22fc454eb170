//! Slices: which devices a driver offers.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{FieldErrors, binding, each, keys, label, names, pool_name, qualified, taint, tree, unique, volume};
use crate::{quantity::Quantity, validation::pod};

const DEVICES: usize = 128;
/// Where devices have taints or consume counters.
const DEVICES_ADVANCED: usize = 64;
const COUNTER_SETS: usize = 8;
const COUNTERS: usize = 32;
const CONSUMPTIONS: usize = 2;
const ENTRIES: usize = 32;
const VALUES: usize = 48;
const TAINTS: usize = 16;
const VALUE: usize = 64;
const OPTIONS: usize = 10;

/// Checks a slice; `old` is the one before, null at creation.
pub fn slice(errors: &mut FieldErrors, slice: &Value, old: &Value) {
    let spec = tree::at(slice, "spec");
    volume::driver_name(errors, "spec.driver", tree::text(spec, "driver"));
    pool_name(errors, "spec.pool.name", tree::text(spec, "pool.name"));
    let (count, generation) = (tree::int(spec, "pool.resourceSliceCount"), tree::int(spec, "pool.generation"));
    if count <= 0 {
        errors.invalid("spec.pool.resourceSliceCount", count, "must be greater than zero");
    }
    if generation < 0 {
        errors.invalid("spec.pool.generation", generation, "must be greater than or equal to zero");
    }
    if !old.is_null() {
        for field in ["spec.pool.name", "spec.driver", "spec.nodeName"] {
            errors.immutable(field, slice, old);
        }
    }
    where_from(errors, spec);
    let (devices, counters) = (tree::items(spec, "devices"), tree::items(spec, "sharedCounters"));
    if tree::has(spec, "devices") && tree::has(spec, "sharedCounters") {
        errors.invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed");
    }
    let advanced = |device: &Value| ["taints", "consumesCounters"].iter().any(|f| !tree::items(device, f).is_empty());
    let limit = if devices.iter().any(advanced) { DEVICES_ADVANCED } else { DEVICES };
    let each_selects = tree::flag(spec, "perDeviceNodeSelection");
    each(errors, "spec.devices", devices, limit, &mut |errors, path, one| {
        let same = |other: &&Value| tree::at(other, "name") == tree::at(one, "name");
        let before = tree::items(old, "spec.devices").iter().find(same).unwrap_or(&Value::Null);
        device(errors, path, one, before, each_selects);
    });
    unique(errors, "spec.devices", &keys(devices, "name"));
    each(errors, "spec.sharedCounters", counters, COUNTER_SETS, &mut |errors, path, set| {
        self::counters(errors, path, set, "name");
    });
    unique(errors, "spec.sharedCounters", &keys(counters, "name"));
}

/// The field `flag` must be true where it is set; answers whether it is.
fn only_true(errors: &mut FieldErrors, path: &str, object: &Value, flag: &str) -> bool {
    let value = tree::at(object, flag);
    if value == false {
        errors.invalid(format!("{path}.{flag}"), false, "must be either unset or set to true");
    }
    value == true
}

fn node_name(errors: &mut FieldErrors, path: &str, object: &Value, empty: &str) -> bool {
    let at = format!("{path}.nodeName");
    match tree::at(object, "nodeName").as_str() {
        None => false,
        Some("") => {
            errors.invalid(at, "", empty);
            false
        }
        Some(name) => {
            errors.each(at, name, names::subdomain(name));
            true
        }
    }
}

/// Which nodes have the devices.
fn where_from(errors: &mut FieldErrors, spec: &Value) {
    const RULE: &str = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
    let mut set = Vec::new();
    if node_name(errors, "spec", spec, "must be either unset or set to a non-empty string") {
        set.push("`nodeName`");
    }
    if tree::has(spec, "nodeSelector") {
        set.push("`nodeSelector`");
        pod::node_selector(errors, "spec.nodeSelector", tree::at(spec, "nodeSelector"));
        let terms = tree::items(spec, "nodeSelector.nodeSelectorTerms");
        if terms.len() != 1 {
            let detail = "must have exactly one node selector term";
            errors.invalid("spec.nodeSelector.nodeSelectorTerms", terms.to_vec(), detail);
        }
    }
    for (flag, shown) in [("allNodes", "`allNodes`"), ("perDeviceNodeSelection", "`perDeviceNodeSelection`")] {
        if only_true(errors, "spec", spec, flag) {
            set.push(shown);
        }
    }
    match set.len() {
        0 => errors.required("spec", RULE),
        1 => {}
        _ => {
            let detail = format!("{RULE}, but multiple fields are set");
            errors.invalid("spec", format!("{{{}}}", set.join(", ")), detail);
        }
    }
}

fn counters(errors: &mut FieldErrors, path: &str, set: &Value, name: &str) {
    match tree::text(set, name) {
        "" => errors.required(format!("{path}.{name}"), ""),
        text => label(errors, &format!("{path}.{name}"), text),
    }
    let (at, count) = (format!("{path}.counters"), tree::entries(set, "counters").count());
    match count {
        0 => errors.required(at, ""),
        count if count > COUNTERS => errors.too_many(at, count, COUNTERS),
        _ => tree::entries(set, "counters").for_each(|(key, _)| label(errors, &at, key)),
    }
}

fn device(errors: &mut FieldErrors, path: &str, device: &Value, old: &Value, selects: bool) {
    label(errors, &format!("{path}.name"), tree::text(device, "name"));
    let attributes = tree::entries(device, "attributes");
    let total = attributes.count() + tree::entries(device, "capacity").count();
    if total > ENTRIES {
        let detail = format!("the total number of attributes and capacities must not exceed {ENTRIES}");
        errors.invalid(path, total, detail);
    }
    let values: usize = tree::entries(device, "attributes").map(|(_, attribute)| lists(attribute).max(1)).sum();
    if values > VALUES {
        errors.invalid(path, values, format!("the total number of attribute values must not exceed {VALUES}"));
    }
    for (key, value) in tree::entries(device, "attributes") {
        qualified(errors, &format!("{path}.attributes"), key);
        attribute(errors, &format!("{path}.attributes[{key}]"), value);
    }
    if old.is_null() || !tree::equal(tree::at(old, "capacity"), tree::at(device, "capacity")) {
        let several = tree::flag(device, "allowMultipleAllocations");
        for (key, value) in tree::entries(device, "capacity") {
            qualified(errors, &format!("{path}.capacity"), key);
            let path = format!("{path}.capacity[{key}].requestPolicy");
            let policy = tree::at(value, "requestPolicy");
            if !policy.is_null() && !several {
                errors.forbidden(path, "allowMultipleAllocations must be true");
            } else if !policy.is_null() {
                request_policy(errors, &path, policy, tree::at(value, "value"));
            }
        }
    }
    if old.is_null() || !tree::equal(tree::at(old, "taints"), tree::at(device, "taints")) {
        let list = tree::items(device, "taints");
        each(errors, &format!("{path}.taints"), list, TAINTS, &mut |errors, path, one| {
            taint(errors, path, one, &Value::Null);
        });
    }
    let consumed = tree::items(device, "consumesCounters");
    let at = format!("{path}.consumesCounters");
    each(errors, &at, consumed, CONSUMPTIONS, &mut |errors, path, set| counters(errors, path, set, "counterSet"));
    unique(errors, &at, &keys(consumed, "counterSet"));
    device_nodes(errors, path, device, selects);
    binding(errors, path, device);
}

fn device_nodes(errors: &mut FieldErrors, path: &str, device: &Value, selects: bool) {
    if !selects {
        if ["nodeName", "nodeSelector", "allNodes"].iter().any(|field| tree::has(device, field)) {
            let detail = "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set \
                          to true in the ResourceSlice spec";
            errors.invalid(path, Value::Null, detail);
        }
        return;
    }
    let mut set = Vec::new();
    if node_name(errors, path, device, "must not be empty") {
        set.push("`nodeName`");
    }
    if tree::has(device, "nodeSelector") {
        set.push("`nodeSelector`");
        pod::node_selector(errors, &format!("{path}.nodeSelector"), tree::at(device, "nodeSelector"));
    }
    if only_true(errors, path, device, "allNodes") {
        set.push("`allNodes`");
    }
    const RULE: &str = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when \
                        `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
    match set.len() {
        0 => errors.required(path, RULE),
        1 => {}
        _ => errors.invalid(path, format!("{{{}}}", set.join(", ")), RULE),
    }
}

/// How many values the lists of an attribute have.
fn lists(attribute: &Value) -> usize {
    ["bools", "ints", "strings", "versions"].iter().map(|field| tree::items(attribute, field).len()).sum()
}

fn attribute(errors: &mut FieldErrors, path: &str, attribute: &Value) {
    let mut set = 0;
    for field in ["bool", "int", "string", "version", "bools", "ints", "strings", "versions"] {
        let (value, path) = (tree::at(attribute, field), format!("{path}.{field}"));
        if value.is_null() {
            continue;
        }
        set += 1;
        if value.as_array().is_some_and(Vec::is_empty) {
            errors.invalid(path, value.clone(), "must not be empty if specified");
            continue;
        }
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    attribute_text(errors, &format!("{path}[{index}]"), item, field == "versions");
                }
            }
            value => attribute_text(errors, &path, value, field == "version"),
        }
    }
    match set {
        0 => errors.invalid(path, "", "exactly one value must be specified"),
        1 => {}
        _ => errors.invalid(path, attribute.clone(), "exactly one value must be specified"),
    }
}

fn attribute_text(errors: &mut FieldErrors, path: &str, value: &Value, version: bool) {
    let Some(text) = value.as_str() else { return };
    if version && !is_version(text) {
        errors.invalid(path, text, "must be a string compatible with semver.org spec 2.0.0");
    }
    if text.len() > VALUE {
        errors.too_long(path, VALUE);
    }
}

/// `1.2.3-alpha.1+build.5`.
fn is_version(text: &str) -> bool {
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|c| c == b'-' || c.is_ascii_alphanumeric());
    let number = |part: &str| {
        !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit()) && (part == "0" || !part.starts_with('0'))
    };
    let (text, build) = text.split_once('+').map_or((text, None), |(text, build)| (text, Some(build)));
    let (core, release) = text.split_once('-').map_or((text, None), |(text, release)| (text, Some(release)));
    let numeric = |part: &str| part.bytes().all(|c| c.is_ascii_digit());
    core.split('.').count() == 3
        && core.split('.').all(number)
        && release.is_none_or(|r| r.split('.').all(|part| plain(part) && (!numeric(part) || number(part))))
        && build.is_none_or(|build| build.split('.').all(plain))
}

fn amount(value: &Value) -> Option<Quantity> {
    Quantity::from_value(value).ok()
}

/// How much of a capacity one request may take.
fn request_policy(errors: &mut FieldErrors, path: &str, policy: &Value, capacity: &Value) {
    let (values, range) = (tree::items(policy, "validValues"), tree::at(policy, "validRange"));
    let (default, Some(whole)) = (tree::at(policy, "default"), amount(capacity)) else { return };
    match (values.is_empty(), range.is_null()) {
        (false, false) => errors.forbidden(
            path,
            "exactly one policy can be specified, cannot specify \"validValues\" and \"validRange\" at the same time",
        ),
        (true, true) => {}
        (false, true) if default.is_null() => {
            errors.required(format!("{path}.default"), "required when validValues is defined");
        }
        (true, false) if default.is_null() => {
            errors.required(format!("{path}.default"), "required when validRange is defined");
        }
        (false, true) => valid_values(errors, &format!("{path}.validValues"), values, default, whole),
        (true, false) => valid_range(errors, &format!("{path}.validRange"), range, default, whole),
    }
}

fn valid_values(errors: &mut FieldErrors, path: &str, values: &[Value], default: &Value, whole: Quantity) {
    let amounts: Vec<Option<Quantity>> = values.iter().map(amount).collect();
    for index in (1..values.len()).filter(|index| amounts[index - 1] > amounts[*index]) {
        errors.invalid(format!("{path}[{index}]"), values[index].clone(), "values must be sorted in ascending order");
    }
    each(errors, path, values, OPTIONS, &mut |errors, path, value| {
        if amount(value).is_some_and(|value| value > whole) {
            errors.invalid(path, value.clone(), format!("option is larger than capacity value: {whole}"));
        }
    });
    let mut seen = BTreeSet::new();
    for index in (0..values.len()).filter(|index| !seen.insert(amounts[*index])) {
        errors.duplicate(format!("{path}[{index}]"), values[index].clone());
    }
    if !amounts.contains(&amount(default)) {
        errors.invalid(path, default.clone(), "default value is not valid according to the requestPolicy");
    }
}

fn valid_range(errors: &mut FieldErrors, path: &str, range: &Value, default: &Value, whole: Quantity) {
    let [min, max, step] = ["min", "max", "step"].map(|field| amount(tree::at(range, field)));
    let (Some(min), Some(wanted)) = (min, amount(default)) else {
        return errors.required(format!("{path}.min"), "required when validRange is defined");
    };
    let mut check = |wrong: bool, field: &str, value: Quantity, detail: String| {
        if wrong {
            errors.invalid(format!("{path}.{field}"), value.to_string(), detail);
        }
    };
    check(min > whole, "min", min, format!("min is larger than capacity value: {whole}"));
    check(wanted < min, "default", wanted, format!("default is less than min: {min}"));
    if let Some(max) = max {
        check(min > max, "max", min, format!("min is larger than max: {max}"));
        check(max > whole, "max", max, format!("max is larger than capacity value: {whole}"));
        check(wanted > max, "default", wanted, format!("default is more than max: {max}"));
    }
    let Some(step) = step else { return };
    if step.milli() <= 0 {
        return check(true, "step", step, "must be greater than zero".to_owned());
    }
    for value in [Some(wanted), max].into_iter().flatten() {
        let off = value.milli().wrapping_sub(min.milli()).checked_rem(step.milli()).is_some_and(|rest| rest != 0);
        let detail = format!("value is not a multiple of a given step ({step}) from ({min})");
        check(off, "step", value, detail);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        for (text, fits) in [
            ("1.2.3", true),
            ("1.2.3-alpha.1+b.05", true),
            ("1.2", false),
            ("01.2.3", false),
            ("1.2.3-01", false),
            ("1.2.3-", false),
        ] {
            assert_eq!(is_version(text), fits, "{text}");
        }
    }
}
