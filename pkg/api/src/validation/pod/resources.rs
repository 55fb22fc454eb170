//! Resources of a whole pod, and its claims of devices.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde_json::Value;

use crate::{
    quantity::Quantity,
    tree,
    validation::{FieldErrors, names, resources},
};

type Amounts<'a> = BTreeMap<&'a str, Quantity>;

fn amounts<'a>(of: &'a Value, part: &str) -> Amounts<'a> {
    tree::entries(of, part).filter_map(|(name, value)| Some((name, Quantity::from_value(value).ok()?))).collect()
}

fn add<'a>(sum: &mut Amounts<'a>, more: &Amounts<'a>) {
    for (name, amount) in more {
        *sum.entry(name).or_default() += *amount;
    }
}

fn raise<'a>(sum: &mut Amounts<'a>, other: &Amounts<'a>) {
    for (name, amount) in other {
        let entry = sum.entry(name).or_default();
        *entry = (*entry).max(*amount);
    }
}

/// What all containers together need at their peak.
fn aggregate<'a>(spec: &'a Value, part: &str) -> Amounts<'a> {
    let part = format!("resources.{part}");
    let (mut sum, mut sidecars, mut peak) = (Amounts::new(), Amounts::new(), Amounts::new());
    for container in tree::items(spec, "containers") {
        add(&mut sum, &amounts(container, &part));
    }
    for container in tree::items(spec, "initContainers") {
        let mut own = amounts(container, &part);
        if container["restartPolicy"] == "Always" {
            add(&mut sum, &own);
            add(&mut sidecars, &own);
            own = sidecars.clone();
        } else {
            add(&mut own, &sidecars);
        }
        raise(&mut peak, &own);
    }
    raise(&mut sum, &peak);
    sum
}

/// Fills in what a pod with resources of its own leaves to be told by its containers.
pub fn default_resources(spec: &mut Value) {
    let own = tree::at(spec, "resources");
    let (mut requests, mut limits) = (amounts(own, "requests"), amounts(own, "limits"));
    if requests.is_empty() && limits.is_empty() {
        return;
    }
    let known = |name: &str| matches!(name, "cpu" | "memory") || resources::is_huge_page(name);
    let of_containers = aggregate(spec, "limits");
    for (name, limit) in of_containers.iter().filter(|(name, _)| resources::is_huge_page(name)) {
        if !requests.contains_key(name) {
            limits.entry(name).or_insert(*limit);
        }
    }
    for (name, request) in aggregate(spec, "requests") {
        if matches!(name, "cpu" | "memory") {
            requests.entry(name).or_insert(request);
        }
    }
    for (name, limit) in limits.iter().filter(|(name, _)| known(name)) {
        requests.entry(name).or_insert(*limit);
    }
    let lists = ["containers", "initContainers"];
    for (name, request) in requests.iter().filter(|(name, _)| known(name)) {
        let mut all = lists.iter().flat_map(|list| tree::items(spec, list));
        if all.all(|container| tree::at(container, "resources.limits").get(*name).is_some())
            && let Some(limit) = of_containers.get(name)
        {
            limits.entry(name).or_insert(*limit.max(request));
        }
    }
    let text = |amounts: Amounts| -> Value {
        amounts.into_iter().map(|(name, amount)| (name.to_owned(), Value::from(amount.to_string()))).collect()
    };
    for (part, amounts) in [("requests", text(requests)), ("limits", text(limits))] {
        if amounts.as_object().is_some_and(|amounts| !amounts.is_empty()) {
            tree::set(spec, &format!("resources.{part}"), amounts);
        }
    }
}

/// Checks `resources` of the pod.
pub(super) fn of_pod(errors: &mut FieldErrors, path: &str, spec: &Value) {
    let own = tree::at(spec, "resources");
    if own.is_null() {
        return;
    }
    let path = format!("{path}.resources");
    if tree::text(spec, "os.name") == "windows" {
        return errors.forbidden(path, "may not be set for a windows pod");
    }
    if !tree::items(own, "claims").is_empty() {
        errors.forbidden(format!("{path}.claims"), "claims may not be set for Resources at pod-level");
    }
    resources::requirements_of(errors, &path, own, &BTreeSet::new(), |errors, path, name| {
        let before = errors.0.len();
        resources::resource_name(errors, path, name);
        if errors.0.len() == before && !matches!(name, "cpu" | "memory") && !resources::is_huge_page(name) {
            errors.not_supported(path, name, &["cpu", "hugepages-", "memory"]);
        }
    });
    let (requests, limits) = (amounts(own, "requests"), amounts(own, "limits"));
    for (name, sum) in aggregate(spec, "requests") {
        if let Some(own) = requests.get(name).filter(|own| sum > **own) {
            let detail = format!("must be greater than or equal to aggregate container requests of {sum}");
            errors.invalid(format!("{path}.requests[{name}]"), own.to_string(), detail);
        }
    }
    for (name, sum) in aggregate(spec, "limits").into_iter().filter(|(name, _)| resources::is_huge_page(name)) {
        if let Some(own) = limits.get(name).filter(|own| sum > **own) {
            let detail = format!("must be greater than or equal to aggregate container limits of {sum}");
            errors.invalid(format!("{path}.limits[{name}]"), own.to_string(), detail);
        }
    }
    for (index, container) in tree::items(spec, "containers").iter().enumerate() {
        for (name, limit) in amounts(container, "resources.limits") {
            if let Some(own) = limits.get(name).filter(|own| limit > **own) {
                let detail = format!("must be less than or equal to pod limits of {own}");
                errors.invalid(format!("{path}.containers[{index}][{name}].limits"), limit.to_string(), detail);
            }
        }
    }
}

/// Checks `resourceClaims` of the pod.
pub(super) fn claims(errors: &mut FieldErrors, path: &str, spec: &Value) {
    let mut seen = HashSet::new();
    for (index, claim) in tree::items(spec, "resourceClaims").iter().enumerate() {
        let path = format!("{path}.resourceClaims[{index}]");
        match tree::text(claim, "name") {
            "" => errors.required(format!("{path}.name"), ""),
            name if seen.contains(name) => errors.duplicate(format!("{path}.name"), name),
            name => {
                errors.each(format!("{path}.name"), name, names::label(name));
                seen.insert(name);
            }
        }
        let given = ["resourceClaimName", "resourceClaimTemplateName"].map(|field| (field, claim[field].as_str()));
        match given.map(|(_, name)| name.is_some()) {
            [true, true] => {
                let detail = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified";
                errors.invalid(path.clone(), claim.clone(), detail);
            }
            [false, false] => {
                let detail = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`";
                errors.invalid(path.clone(), claim.clone(), detail);
            }
            _ => {}
        }
        for (field, name) in given {
            if let Some(name) = name {
                errors.each(format!("{path}.{field}"), name, names::subdomain(name));
            }
        }
    }
}
