//! What the subresources of a pod may change: ephemeral containers, resources, status.

use std::collections::HashSet;

use serde_json::Value;

use super::annotations::{annotations_update, is_mirror};
use crate::{
    tree,
    validation::{FieldErrors, IMMUTABLE, ip, names},
};

/// Ephemeral containers are added, and stay as they are.
pub fn ephemeral_update(errors: &mut FieldErrors, new: &Value, old: &Value) {
    const PATH: &str = "spec.ephemeralContainers";
    if is_mirror(old) {
        return errors.forbidden("", "static pods do not support ephemeral containers");
    }
    for before in tree::items(old, PATH) {
        let name = tree::text(before, "name");
        match tree::items(new, PATH).iter().find(|container| container["name"] == name) {
            None => errors.forbidden(PATH, format!("existing ephemeral containers {name:?} may not be removed\n")),
            Some(now) => {
                if let Some(at) = tree::difference(before, now, "") {
                    let detail = format!("existing ephemeral containers {name:?} may not be changed\n{at} differs");
                    errors.forbidden(PATH, detail);
                }
            }
        }
    }
}

/// A resize keeps the class of quality, and every amount that was given. `class` is how to find
/// that class.
pub fn resize(errors: &mut FieldErrors, new: &Value, old: &Value, class: fn(&Value) -> &'static str) {
    if is_mirror(old) {
        return errors.forbidden("", "static pods cannot be resized");
    }
    if tree::text(old, "spec.os.name") == "windows" {
        return errors.forbidden("", "windows pods cannot be resized");
    }
    let had = match tree::text(old, "status.qosClass") {
        "" => class(old),
        told => told,
    };
    if had != class(new) {
        let shown = tree::at(new, "status.qosClass").clone();
        errors.invalid("spec", shown, "Pod QOS Class may not change as a result of resizing");
    }
    let running = tree::items(old, "status.containerStatuses").iter().find(|s| tree::has(s, "state.running"));
    if running.is_some_and(|status| !tree::has(status, "resources")) {
        errors.forbidden("spec", "Pod running on node without support for resize");
    }
    let removed = |now: &Value, before: &Value, part: &str| {
        tree::entries(before, part).any(|(name, _)| tree::at(now, part).get(name).is_none())
    };
    let (now, before) = (tree::at(new, "spec.resources"), tree::at(old, "spec.resources"));
    if now.is_null() && !before.is_null() {
        return errors.forbidden("spec.resources", "pod-level resources cannot be removed");
    }
    for part in ["requests", "limits"] {
        if removed(now, before, part) {
            errors.forbidden(format!("spec.resources.{part}"), format!("pod-level resource {part} cannot be removed"));
        }
    }
    let holder = |resources: &Value| without_compute(&serde_json::json!({"resources": resources}));
    if !tree::equal(&holder(now), &holder(before)) {
        errors.forbidden("spec", "only cpu and memory resources are mutable at pod-level");
    }
    for list in ["initContainers", "containers"] {
        let path = format!("spec.{list}");
        let pairs = tree::items(new, &path).iter().zip(tree::items(old, &path));
        for (index, (now, before)) in pairs.enumerate() {
            let path = format!("{path}[{index}]");
            for part in ["requests", "limits"] {
                if removed(tree::at(now, "resources"), tree::at(before, "resources"), part) {
                    errors.forbidden(format!("{path}.resources.{part}"), format!("resource {part} cannot be removed"));
                }
            }
            only_compute(errors, list, &path, now, before);
        }
    }
}

fn without_compute(container: &Value) -> Value {
    let mut container = container.clone();
    for part in ["requests", "limits"] {
        for name in ["cpu", "memory"] {
            tree::remove(&mut container, &format!("resources.{part}.{name}"));
        }
    }
    container
}

/// Nothing but CPU and memory.
fn only_compute(errors: &mut FieldErrors, list: &str, path: &str, now: &Value, before: &Value) {
    let init = list == "initContainers";
    if !tree::equal(&without_compute(now), &without_compute(before)) {
        if init {
            let detail = "only cpu and memory resources for init or sidecar containers are mutable";
            errors.forbidden(path, detail);
        } else {
            errors.forbidden("spec", "only cpu and memory resources are mutable");
        }
    }
    let restarts = tree::items(now, "resizePolicy").iter().any(|policy| policy["restartPolicy"] == "RestartContainer");
    if init && now["restartPolicy"] != "Always" && restarts && !tree::equal(now, before) {
        let detail = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized";
        errors.forbidden(path, detail);
    }
}

/// Checks a status that a node or the scheduler writes.
pub fn status(errors: &mut FieldErrors, new: &Value, old: &Value) {
    let notes = |pod: &Value| tree::at(pod, "metadata.annotations").clone();
    annotations_update(errors, "metadata.annotations", &notes(new), &notes(old));
    for (index, condition) in tree::items(new, "status.conditions").iter().enumerate() {
        let path = format!("status.conditions[{index}]");
        let generation = tree::int(condition, "observedGeneration");
        if generation < 0 {
            errors.invalid(format!("{path}.observedGeneration"), generation, "must be a non-negative integer");
        }
        let kind = tree::text(condition, "type");
        if !matches!(kind, "PodScheduled" | "Ready" | "Initialized") {
            errors.each(format!("{path}.Type"), kind, names::qualified(kind));
        }
    }
    let nominated = tree::text(new, "status.nominatedNodeName");
    if !nominated.is_empty() && nominated != tree::text(old, "status.nominatedNodeName") {
        errors.each("status.nominatedNodeName", nominated, names::subdomain(nominated));
        if !tree::text(old, "spec.nodeName").is_empty() {
            let detail = "may not be set on pods that are already bound to a node";
            errors.forbidden("status.nominatedNodeName", detail);
        }
    }
    let generation = tree::int(new, "status.observedGeneration");
    if generation < 0 {
        errors.invalid("status.observedGeneration", generation, "must be a non-negative integer");
    }
    let class = tree::at(new, "status.qosClass");
    if class != tree::at(old, "status.qosClass") {
        errors.invalid("status.qosClass", class.clone(), IMMUTABLE);
    }
    let spec = tree::at(old, "spec");
    for (statuses, containers) in [
        ("containerStatuses", "containers"),
        ("initContainerStatuses", "initContainers"),
        ("ephemeralContainerStatuses", ""),
    ] {
        transitions(errors, new, old, statuses, tree::items(spec, containers), spec);
    }
    claim_statuses(errors, new);
    addresses(errors, tree::at(new, "status"), tree::at(old, "status"));
}

/// The addresses of the pod and of its node: one of each family, the first also in the older field.
fn addresses(errors: &mut FieldErrors, new: &Value, old: &Value) {
    for (all, one) in [("podIPs", "podIP"), ("hostIPs", "hostIP")] {
        let path = format!("status.{all}");
        let known = |address: &str| tree::items(old, all).iter().any(|ip| tree::text(ip, "ip") == address);
        let (list, first) = (tree::items(new, all), tree::text(new, one));
        let texts: Vec<_> = list.iter().map(|ip| tree::text(ip, "ip")).collect();
        for (index, text) in texts.iter().enumerate().filter(|(_, text)| !known(text)) {
            ip::address(errors, format!("{path}[{index}]"), text);
        }
        let families = texts.iter().filter_map(|text| Some(ip::parse_sloppy(text)?.is_ipv4()));
        if texts.len() > 2 || families.collect::<Vec<_>>().windows(2).any(|pair| pair[0] == pair[1]) {
            errors.invalid(path.clone(), list.to_vec(), "may specify no more than one IP for each IP family");
        }
        match texts.first() {
            None if all == "podIPs" && !first.is_empty() => {
                let detail = "podIP and podIPs must either both be set or both be unset";
                errors.invalid(path, list.to_vec(), detail);
            }
            Some(text) if *text != first => {
                errors.invalid(format!("{path}[0].ip"), *text, format!("must be equal to `{one}`"));
            }
            _ => {}
        }
    }
}

/// A container that ended for good does not come back.
fn transitions(errors: &mut FieldErrors, new: &Value, old: &Value, list: &str, containers: &[Value], spec: &Value) {
    let path = format!("status.{list}");
    let restart_all =
        ["containers", "initContainers"].iter().flat_map(|list| tree::items(spec, list)).any(|container| {
            tree::items(container, "restartPolicyRules").iter().any(|rule| rule["action"] == "RestartAllContainers")
        });
    if restart_all && !containers.is_empty() {
        return;
    }
    for (index, before) in tree::items(old, &path).iter().enumerate() {
        let ended = tree::at(before, "state.terminated");
        let now = tree::items(new, &path).iter().find(|status| status["name"] == before["name"]);
        if ended.is_null() || now.is_none_or(|now| tree::has(now, "state.terminated")) {
            continue;
        }
        let container = containers.iter().find(|container| container["name"] == before["name"]);
        if !container.is_some_and(|container| restarts(container, spec, tree::int(ended, "exitCode"))) {
            errors.forbidden(format!("{path}[{index}].state"), "may not be transitioned to non-terminated state");
        }
    }
}

/// Whether a container that ended with this code starts again.
fn restarts(container: &Value, spec: &Value, code: i64) -> bool {
    let rule = tree::items(container, "restartPolicyRules").iter().find(|rule| {
        let listed = tree::items(rule, "exitCodes.values").iter().any(|value| value == code);
        match tree::text(rule, "exitCodes.operator") {
            "In" => listed,
            "NotIn" => !listed,
            _ => false,
        }
    });
    if rule.is_some_and(|rule| matches!(tree::text(rule, "action"), "Restart" | "RestartAllContainers")) {
        return true;
    }
    match container["restartPolicy"].as_str().unwrap_or_else(|| tree::text(spec, "restartPolicy")) {
        "Always" => true,
        "OnFailure" => code != 0,
        _ => false,
    }
}

fn claim_statuses(errors: &mut FieldErrors, pod: &Value) {
    let mut seen = HashSet::new();
    let known: HashSet<_> =
        tree::items(pod, "spec.resourceClaims").iter().map(|claim| tree::text(claim, "name")).collect();
    for (index, status) in tree::items(pod, "status.resourceClaimStatuses").iter().enumerate() {
        let path = format!("status.resourceClaimStatuses[{index}]");
        let name = tree::text(status, "name");
        if !known.contains(name) {
            let detail = "must match the name of an entry in `spec.resourceClaims`";
            errors.invalid(format!("{path}.name"), name, detail);
        }
        if !seen.insert(name) {
            errors.duplicate(format!("{path}.name"), name);
        }
        if let Some(claim) = status["resourceClaimName"].as_str() {
            errors.each(format!("{path}.resourceClaimName"), claim, names::subdomain(claim));
        }
    }
}
