//! Checks of quantities and resource requirements.

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;

use super::{FieldErrors, names};
use crate::{quantity::Quantity, tree};

/// `must be greater than or equal to 0`.
pub const NEGATIVE: &str = "must be greater than or equal to 0";

const CONTAINER_RESOURCES: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];

const STANDARD_RESOURCES: [&str; 20] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "storage",
    "requests.storage",
    "services.nodeports",
    "services.loadbalancers",
];

/// Standard resources that are counted.
const COUNTED: [&str; 9] = [
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];

pub(crate) fn is_huge_page(name: &str) -> bool {
    name.starts_with("hugepages-")
}

/// A resource of Kubernetes itself, as opposed to one of a device plugin.
pub fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

fn is_extended(name: &str) -> bool {
    !is_native(name) && !name.starts_with("requests.") && names::qualified(&format!("requests.{name}")).is_empty()
}

/// Checks the amount of a resource.
pub fn amount(errors: &mut FieldErrors, path: &str, resource: &str, value: &Value) {
    let Ok(quantity) = Quantity::from_value(value) else {
        errors.invalid(path, value.clone(), "must be a valid resource quantity");
        return;
    };
    if quantity.signum() < 0 {
        errors.invalid(path, value.clone(), NEGATIVE);
    }
    if (COUNTED.contains(&resource) || is_extended(resource)) && quantity.milli() % 1000 != 0 {
        errors.invalid(path, value.clone(), "must be an integer");
    }
}

/// Whether more of the resource may be promised than there is.
pub fn overcommits(name: &str) -> bool {
    is_native(name) && !is_huge_page(name)
}

fn is_quota_huge_page(name: &str) -> bool {
    is_huge_page(name.strip_prefix("requests.").unwrap_or(name))
}

/// Whether quotas know the resource by its plain name.
pub fn is_quota_resource(name: &str) -> bool {
    name != "storage" && STANDARD_RESOURCES.contains(&name) || is_quota_huge_page(name)
}

/// Checks the name of a resource of whatever kind.
pub fn resource_name(errors: &mut FieldErrors, path: &str, name: &str) {
    let faults = names::qualified(name);
    let plain = faults.is_empty() && !name.contains('/');
    errors.each(path, name, faults);
    if plain && !STANDARD_RESOURCES.contains(&name) && !is_quota_huge_page(name) {
        errors.invalid(path, name, "must be a standard resource type or fully qualified");
    }
}

/// Checks the name of a resource that a quota limits.
pub fn quota_resource(errors: &mut FieldErrors, path: &str, name: &str) {
    resource_name(errors, path, name);
    if !name.contains('/') && !is_quota_resource(name) {
        errors.invalid(path, name, "must be a standard resource for quota");
    }
}

/// Checks the name of a resource of containers.
pub fn container_resource(errors: &mut FieldErrors, path: &str, name: &str) {
    resource_name(errors, path, name);
    if !name.contains('/') {
        if !CONTAINER_RESOURCES.contains(&name) && !is_huge_page(name) {
            errors.invalid(path, name, "must be a standard resource for containers");
        }
    } else if !is_native(name) && !is_extended(name) {
        errors.invalid(path, name, "doesn't follow extended resource name standard");
    }
}

/// Checks `resources` of a container; `claims` are the names of the pod's resource claims.
pub fn requirements(errors: &mut FieldErrors, path: &str, resources: &Value, claims: &BTreeSet<&str>) {
    requirements_of(errors, path, resources, claims, container_resource);
}

/// An amount of huge pages is a whole number of them.
fn huge_pages(errors: &mut FieldErrors, path: &str, name: &str, value: &Value) {
    let Some(page) = name.strip_prefix("hugepages-") else { return };
    let Ok(amount) = Quantity::from_value(value) else { return };
    let size = page.parse::<Quantity>().ok().filter(|size| size.signum() > 0 && size.milli() % 1000 == 0);
    if size.is_none_or(|size| amount.value() % size.value() != 0) {
        let detail = format!("{amount} is not positive integer multiple of {name}");
        errors.invalid(path, amount.to_string(), detail);
    }
}

/// As [`requirements`], with another rule for the names of resources.
pub fn requirements_of(
    errors: &mut FieldErrors,
    path: &str,
    resources: &Value,
    claims: &BTreeSet<&str>,
    rule: fn(&mut FieldErrors, &str, &str),
) {
    let limits = tree::at(resources, "limits");
    for (name, value) in tree::entries(resources, "limits") {
        let path = format!("{path}.limits[{name}]");
        rule(errors, &path, name);
        amount(errors, &path, name, value);
        huge_pages(errors, &path, name, value);
    }
    for (name, value) in tree::entries(resources, "requests") {
        let at = format!("{path}.requests[{name}]");
        rule(errors, &at, name);
        amount(errors, &at, name, value);
        let overcommit = overcommits(name);
        let pair = limits.get(name).map(|limit| (Quantity::from_value(value), Quantity::from_value(limit)));
        match pair {
            Some((Ok(request), Ok(limit))) => {
                let detail = |what: &str| format!("must be {what} {name} limit of {limit}");
                if !overcommit && request != limit {
                    errors.invalid(format!("{path}.requests"), request.to_string(), detail("equal to"));
                } else if request > limit {
                    errors.invalid(format!("{path}.requests"), request.to_string(), detail("less than or equal to"));
                }
            }
            Some(_) => {}
            None if !overcommit => {
                errors.required(format!("{path}.limits"), "Limit must be set for non overcommitable resources");
            }
            None => {}
        }
        huge_pages(errors, &at, name, value);
    }
    let mentions = |wanted: fn(&str) -> bool| {
        ["limits", "requests"].iter().any(|part| tree::entries(resources, part).any(|(name, _)| wanted(name)))
    };
    if mentions(is_huge_page) && !mentions(|name| matches!(name, "cpu" | "memory")) {
        errors.forbidden(path, "HugePages require cpu or memory");
    }
    claim_names(errors, path, resources, claims);
}

/// Claims of a container: whole, or single requests of them, each once.
fn claim_names(errors: &mut FieldErrors, path: &str, resources: &Value, claims: &BTreeSet<&str>) {
    let (mut whole, mut parts, mut names) = (HashSet::new(), HashSet::new(), HashSet::new());
    for (index, claim) in tree::items(resources, "claims").iter().enumerate() {
        let (path, name) = (format!("{path}.claims[{index}]"), tree::text(claim, "name"));
        let request = tree::text(claim, "request");
        if name.is_empty() {
            errors.required(path, "");
            continue;
        }
        if !request.is_empty() {
            errors.each(format!("{path}.request"), request, names::label(request));
        }
        // All of a claim, or parts of it, each once.
        if whole.contains(name) || (request.is_empty() && names.contains(name)) {
            errors.duplicate(path.clone(), name);
        } else if parts.contains(&(name, request)) {
            errors.duplicate(path.clone(), format!("{name}/{request}"));
        }
        if request.is_empty() {
            whole.insert(name);
        } else {
            parts.insert((name, request));
            names.insert(name);
        }
        if !claims.contains(name) {
            if errors.is_full() {
                return;
            }
            let known = if claims.is_empty() {
                " which is empty".to_owned()
            } else {
                format!(": {}", Vec::from_iter(claims.iter().copied()).join(", "))
            };
            let detail = format!("must be one of the names in pod.spec.resourceClaims{known}");
            errors.push(path, super::Reason::NotFound, name, detail);
        }
    }
}

/// Refuses an amount below zero, whole numbers shown.
pub fn basic(errors: &mut FieldErrors, path: &str, value: &Value) {
    if let Some(quantity) = Quantity::from_value(value).ok().filter(|quantity| quantity.signum() < 0) {
        errors.invalid(path, quantity.value(), "must be a valid resource quantity");
    }
}

/// Refuses an amount that is not above zero.
pub fn positive(errors: &mut FieldErrors, path: &str, value: &Value) {
    if let Some(quantity) = Quantity::from_value(value).ok().filter(|quantity| quantity.signum() <= 0) {
        errors.invalid(path, quantity.to_string(), "must be greater than zero");
    }
}

/// Whether a quantity is below zero.
pub fn is_negative(value: &Value) -> bool {
    Quantity::from_value(value).is_ok_and(|quantity| quantity.signum() < 0)
}

/// Refuses a negative number at `field` below `path`.
pub fn not_negative(errors: &mut FieldErrors, object: &Value, path: &str, field: &str) {
    let value = tree::int(object, field);
    if value < 0 {
        errors.invalid(format!("{path}.{field}"), value, NEGATIVE);
    }
}
