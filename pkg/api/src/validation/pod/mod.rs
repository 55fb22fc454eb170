//! Checks of a pod specification, alone or in a template, in upstream's order.
//!
//! Source: `pkg/apis/core/validation/validation.go`. Defaults are applied before, so that a field
//! which has one is required here.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::Value;

use super::{FieldErrors, ip, labels, names, resources as amounts};
use crate::tree;

mod annotations;
mod containers;
mod env;
mod probes;
mod projected;
mod resources;
mod scheduling;
mod security;
mod subresource;
mod system;
mod update;
mod volumes;

pub(super) use probes::port as target_port;
pub use resources::default_resources;
pub use scheduling::{node_selector, taint_effect, tolerations};
pub use subresource::{ephemeral_update, resize, status};
pub use update::pod_update;

/// What a specification is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// A pod itself, with its name.
    Pod(&'a str),
    /// The template of a workload.
    Template,
}

/// What the checks of containers need to know of the whole specification.
struct Context<'a> {
    spec: &'a Value,
    /// Names of volumes that are without fault.
    volumes: HashSet<&'a str>,
    claims: BTreeSet<&'a str>,
    grace: Option<i64>,
}

/// Checks the specification at `path`.
pub fn pod_spec(errors: &mut FieldErrors, path: &str, spec: &Value, part: Part<'_>) {
    let grace = tree::at(spec, "terminationGracePeriodSeconds").as_i64();
    if grace.is_none() {
        errors.required(format!("{path}.terminationGracePeriodSeconds"), "");
    }
    let name = if let Part::Pod(name) = part { Some(name) } else { None };
    let volumes = volumes::volumes(errors, &format!("{path}.volumes"), spec, name);
    let claims = tree::items(spec, "resourceClaims").iter().map(|claim| tree::text(claim, "name")).collect();
    resources::claims(errors, path, spec);
    let context = Context { spec, volumes, claims, grace };
    containers::all(errors, path, &context);
    resources::of_pod(errors, path, spec);
    host_network(errors, path, spec, part);
    one_of(errors, path, spec, "restartPolicy", &["Always", "OnFailure", "Never"]);
    one_of(errors, path, spec, "dnsPolicy", &["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"]);
    labels::labels(errors, &format!("{path}.nodeSelector"), tree::at(spec, "nodeSelector"));
    security::of_pod(errors, path, spec);
    scheduling::affinity(errors, &format!("{path}.affinity"), tree::at(spec, "affinity"));
    dns(errors, &format!("{path}.dnsConfig"), spec);
    gates(errors, path, spec);
    scheduling::spread(errors, &format!("{path}.topologySpreadConstraints"), spec);
    system::host_processes(errors, path, spec);
    names_within(errors, path, spec);
    tolerations(errors, &format!("{path}.tolerations"), tree::items(spec, "tolerations"));
    host_aliases(errors, &format!("{path}.hostAliases"), spec);
    references(errors, path, spec);
    let overhead = serde_json::json!({"limits": tree::at(spec, "overhead")});
    amounts::requirements(errors, &format!("{path}.overhead"), &overhead, &BTreeSet::new());
    system::system(errors, path, spec);
    file_volumes(errors, path, spec);
    if name.is_some() {
        only_in_pods(errors, path, spec);
    } else if !tree::items(spec, "ephemeralContainers").is_empty() {
        errors.forbidden(format!("{path}.ephemeralContainers"), "ephemeral containers not allowed in pod template");
    }
}

/// A required field with a closed set of texts.
fn one_of(errors: &mut FieldErrors, path: &str, object: &Value, field: &str, allowed: &[&str]) {
    let path = format!("{path}.{field}");
    match tree::text(object, field) {
        "" => errors.required(path, ""),
        text => one_of_given(errors, &path, text, allowed),
    }
}

/// A closed set of texts, where one is given.
fn one_of_given(errors: &mut FieldErrors, path: &str, text: &str, allowed: &[&str]) {
    if !text.is_empty() && !allowed.contains(&text) {
        errors.not_supported(path, text, allowed);
    }
}

/// All containers with their paths: those for initialisation, main ones, ephemeral ones.
fn all_containers<'a>(path: &str, spec: &'a Value) -> impl Iterator<Item = (String, &'a Value)> {
    let lists = ["initContainers", "containers", "ephemeralContainers"];
    lists.into_iter().flat_map(move |list| {
        let items = tree::items(spec, list).iter().enumerate();
        items.map(move |(index, container)| (format!("{path}.{list}[{index}]"), container)).collect::<Vec<_>>()
    })
}

/// Variables from files come from volumes that the pod itself has and fills.
fn file_volumes(errors: &mut FieldErrors, path: &str, spec: &Value) {
    let mut volumes = HashMap::new();
    for volume in tree::items(spec, "volumes") {
        volumes.entry(tree::text(volume, "name")).or_insert(volume);
    }
    for (path, container) in all_containers(path, spec) {
        for (index, variable) in tree::items(container, "env").iter().enumerate() {
            let reference = tree::at(variable, "valueFrom.fileKeyRef");
            if reference.is_null() {
                continue;
            }
            let (at, name) =
                (format!("{path}.env[{index}].valueFrom.fileKeyRef.volumeName"), tree::text(reference, "volumeName"));
            match volumes.get(name) {
                None => errors.not_found(at, name),
                Some(volume) if !tree::has(volume, "emptyDir") => {
                    errors.invalid(at, name, "referenced volume must be of type emptyDir");
                }
                Some(_) => {}
            }
        }
    }
}

/// Checks annotations at `path` that mean something for the specification.
pub fn known_annotations(errors: &mut FieldErrors, path: &str, of: &Value, spec: &Value) {
    annotations::annotations(errors, path, of, spec);
}

fn host_network(errors: &mut FieldErrors, path: &str, spec: &Value, part: Part<'_>) {
    if !tree::flag(spec, "hostNetwork") {
        return;
    }
    for (index, container) in tree::items(spec, "containers").iter().enumerate() {
        for (port_index, port) in tree::items(container, "ports").iter().enumerate() {
            let host = tree::int(port, "hostPort");
            if (part != Part::Template || host != 0) && host != tree::int(port, "containerPort") {
                let path = format!("{path}.containers[{index}].ports[{port_index}].hostPort");
                errors.invalid(path, host, "must match `containerPort` when `hostNetwork` is true");
            }
        }
    }
}

fn dns(errors: &mut FieldErrors, path: &str, spec: &Value) {
    let config = tree::at(spec, "dnsConfig");
    let servers = tree::items(config, "nameservers");
    if tree::text(spec, "dnsPolicy") == "None" {
        if config.is_null() {
            return errors.required(path, "must provide `dnsConfig` when `dnsPolicy` is None");
        }
        if servers.is_empty() {
            let detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            return errors.required(format!("{path}.nameservers"), detail);
        }
    }
    if servers.len() > 3 {
        errors.invalid(format!("{path}.nameservers"), servers.to_vec(), "must not have more than 3 nameservers");
    }
    for (index, server) in tree::texts(config, "nameservers").enumerate() {
        ip::address(errors, format!("{path}.nameservers[{index}]"), server);
    }
    let searches: Vec<_> = tree::texts(config, "searches").collect();
    let all = || tree::items(config, "searches").to_vec();
    if searches.len() > 32 {
        errors.invalid(format!("{path}.searches"), all(), "must not have more than 32 search paths");
    }
    if searches.join(" ").len() > 2048 {
        let detail = "must not have more than 2048 characters (including spaces) in the search list";
        errors.invalid(format!("{path}.searches"), all(), detail);
    }
    for (index, search) in searches.iter().enumerate().filter(|(_, search)| **search != ".") {
        let search = search.strip_suffix('.').unwrap_or(search);
        errors.each(format!("{path}.searches[{index}]"), search, names::subdomain(&search.replace('_', "x")));
    }
    for (index, option) in tree::items(config, "options").iter().enumerate() {
        if tree::text(option, "name").is_empty() {
            errors.required(format!("{path}.options[{index}]"), "must not be empty");
        }
    }
}

fn gates(errors: &mut FieldErrors, path: &str, spec: &Value) {
    for (index, gate) in tree::items(spec, "readinessGates").iter().enumerate() {
        let kind = tree::text(gate, "conditionType");
        errors.each(format!("{path}.readinessGates[{index}].conditionType"), kind, names::qualified(kind));
    }
    let mut seen = HashSet::new();
    for (index, gate) in tree::items(spec, "schedulingGates").iter().enumerate() {
        let (path, name) = (format!("{path}.schedulingGates[{index}]"), tree::text(gate, "name"));
        errors.each(path.clone(), name, names::qualified(name));
        if !seen.insert(name) {
            errors.duplicate(path, name);
        }
    }
}

/// Names of other objects, of the host and of the node.
fn names_within(errors: &mut FieldErrors, path: &str, spec: &Value) {
    let account = tree::text(spec, "serviceAccountName");
    if !account.is_empty() {
        errors.each(format!("{path}.serviceAccountName"), account, names::subdomain(account));
    }
    let node = tree::text(spec, "nodeName");
    if !node.is_empty() {
        errors.each(format!("{path}.nodeName"), node, names::subdomain(node));
    }
    if let Some(deadline) = tree::at(spec, "activeDeadlineSeconds").as_i64() {
        let faults = names::in_range(deadline, 1, i64::from(i32::MAX));
        errors.each(format!("{path}.activeDeadlineSeconds"), deadline, faults);
    }
    for field in ["hostname", "subdomain"] {
        let name = tree::text(spec, field);
        if !name.is_empty() {
            errors.each(format!("{path}.{field}"), name, names::label(name));
        }
    }
    let override_path = format!("{path}.hostnameOverride");
    if let Some(name) = tree::at(spec, "hostnameOverride").as_str() {
        for (field, set) in ["setHostnameAsFQDN", "hostNetwork"].map(|field| (field, tree::flag(spec, field))) {
            if set {
                errors.forbidden(override_path.clone(), format!("may not be specified when {field} is true"));
            }
        }
        if name.len() > 64 {
            errors.too_long(override_path.clone(), 64);
        }
        errors.each(override_path, name, names::subdomain(name));
    }
}

fn references(errors: &mut FieldErrors, path: &str, spec: &Value) {
    for field in ["priorityClassName", "runtimeClassName"] {
        let name = tree::text(spec, field);
        if !name.is_empty() {
            errors.each(format!("{path}.{field}"), name, names::subdomain(name));
        }
    }
    let policy = tree::text(spec, "preemptionPolicy");
    one_of_given(errors, &format!("{path}.preemptionPolicy"), policy, &["PreemptLowerPriority", "Never"]);
}

fn host_aliases(errors: &mut FieldErrors, path: &str, spec: &Value) {
    for (index, alias) in tree::items(spec, "hostAliases").iter().enumerate() {
        ip::address(errors, format!("{path}[{index}].ip"), tree::text(alias, "ip"));
        for (name_index, name) in tree::texts(alias, "hostnames").enumerate() {
            errors.each(format!("{path}[{index}].hostnames[{name_index}]"), name, names::subdomain(name));
        }
    }
}

/// What templates may hold but pods may not.
fn only_in_pods(errors: &mut FieldErrors, path: &str, spec: &Value) {
    if tree::text(spec, "serviceAccountName").is_empty() {
        for (index, volume) in tree::items(spec, "volumes").iter().enumerate() {
            for (source_index, source) in tree::items(volume, "projected.sources").iter().enumerate() {
                if tree::has(source, "serviceAccountToken") {
                    let path = format!("{path}.volumes[{index}].projected.sources[{source_index}].serviceAccountToken");
                    errors.forbidden(path, "must not be specified when serviceAccountName is not set");
                }
            }
        }
    }
    amounts::not_negative(errors, spec, path, "terminationGracePeriodSeconds");
    for field in ["containers", "initContainers", "ephemeralContainers"] {
        for (index, container) in tree::items(spec, field).iter().enumerate() {
            let image = tree::text(container, "image");
            if image != image.trim() {
                let path = format!("{path}.{field}[{index}].image");
                errors.invalid(path, image, "must not have leading or trailing whitespace");
            }
        }
    }
}
