//! Checks of Services.
//!
//! Source: `pkg/apis/core/validation/validation.go`. Defaults are applied before.

use std::{collections::HashSet, net::IpAddr};

use serde_json::Value;

use super::{FieldErrors, ip, labels, names, pod, repeated};
use crate::tree;

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];
const TYPES: [&str; 4] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const FAMILIES: [&str; 2] = ["IPv4", "IPv6"];

/// Checks a whole Service.
pub fn service(errors: &mut FieldErrors, service: &Value) {
    let spec = tree::at(service, "spec");
    let kind = tree::text(spec, "type");
    let headless = is_headless(spec);
    let ports = tree::items(spec, "ports");
    if ports.is_empty() && !headless && kind != "ExternalName" {
        errors.required("spec.ports", "");
    }
    match kind {
        "LoadBalancer" | "NodePort" if headless => {
            let detail = format!("may not be set to 'None' for {kind} services");
            errors.invalid("spec.clusterIPs[0]", "None", detail);
        }
        "ExternalName" => external_name(errors, spec),
        _ => {}
    }
    let mut seen = HashSet::new();
    for (index, port) in ports.iter().enumerate() {
        self::port(errors, &format!("spec.ports[{index}]"), port, ports.len() > 1, &mut seen);
    }
    labels::labels(errors, "spec.selector", tree::at(spec, "selector"));
    affinity(errors, spec);
    if kind != "ExternalName" {
        cluster_ips(errors, spec);
    }
    for (index, address) in tree::texts(spec, "externalIPs").enumerate() {
        ip::endpoint(errors, &format!("spec.externalIPs[{index}]"), address);
    }
    match kind {
        "" => errors.required("spec.type", ""),
        kind if !TYPES.contains(&kind) => errors.not_supported("spec.type", kind, &TYPES),
        _ => {}
    }
    port_numbers(errors, ports, kind);
    load_balancer(errors, spec, kind);
    annotations(errors, tree::at(service, "metadata.annotations"), spec, kind);
    traffic(errors, spec, kind);
}

/// Checks the status of a Service.
pub fn service_status(errors: &mut FieldErrors, service: &Value) {
    const MODES: [&str; 2] = ["Proxy", "VIP"];
    const PATH: &str = "status.loadBalancer.ingress";
    let ingresses = tree::items(service, PATH);
    if tree::text(service, "spec.type") != "LoadBalancer" {
        if !ingresses.is_empty() {
            errors.forbidden(PATH, "may only be used when `spec.type` is 'LoadBalancer'");
        }
        return;
    }
    for (index, ingress) in ingresses.iter().enumerate() {
        let path = format!("{PATH}[{index}]");
        let address = tree::text(ingress, "ip");
        if !address.is_empty() {
            ip::address(errors, format!("{path}.ip"), address);
        }
        match tree::at(ingress, "ipMode").as_str() {
            None if address.is_empty() => {}
            None => errors.required(format!("{path}.ipMode"), "must be specified when `ip` is set"),
            Some(_) if address.is_empty() => {
                errors.forbidden(format!("{path}.ipMode"), "may not be specified when `ip` is not set");
            }
            Some(mode) if !MODES.contains(&mode) => errors.not_supported(format!("{path}.ipMode"), mode, &MODES),
            Some(_) => {}
        }
        let host = tree::text(ingress, "hostname");
        if !host.is_empty() {
            errors.each(format!("{path}.hostname"), host, names::subdomain(host));
            if ip::parse_sloppy(host).is_some() {
                errors.invalid(format!("{path}.hostname"), host, "must be a DNS name, not an IP address");
            }
        }
    }
}

/// Checks the change of a Service.
pub fn service_update(errors: &mut FieldErrors, new: &Value, old: &Value) {
    let (now, before) = (tree::at(new, "spec"), tree::at(old, "spec"));
    let (kind, old_kind) = (tree::text(now, "type"), tree::text(before, "type"));
    if kind != "ExternalName" && old_kind != "ExternalName" {
        let (headless, was_headless) = (is_headless(now), is_headless(before));
        if !(headless && was_headless) {
            kept(errors, now, before, "clusterIPs", "clusterIP");
        }
        if !headless && !was_headless {
            kept(errors, now, before, "ipFamilies", "ipFamily");
        }
    }
    let class = tree::at(now, "loadBalancerClass");
    if kind == "LoadBalancer" && old_kind == "LoadBalancer" && class != tree::at(before, "loadBalancerClass") {
        errors.invalid("spec.loadBalancerClass", class.clone(), "may not change once set");
    }
    let port = |spec: &Value| tree::int(spec, "healthCheckNodePort");
    if needs_health_check(now) && needs_health_check(before) && port(now) != port(before) {
        errors.forbidden("spec.healthCheckNodePort", "field is immutable");
    }
}

fn needs_health_check(spec: &Value) -> bool {
    tree::text(spec, "type") == "LoadBalancer" && tree::text(spec, "externalTrafficPolicy") == "Local"
}

/// What is still said in annotations.
fn annotations(errors: &mut FieldErrors, annotations: &Value, spec: &Value, kind: &str) {
    const MODE: &str = "service.kubernetes.io/topology-mode";
    const HINTS: &str = "service.kubernetes.io/topology-aware-hints";
    const RANGES: &str = "service.beta.kubernetes.io/load-balancer-source-ranges";
    let text = |key: &str| annotations.get(key).and_then(Value::as_str);
    let path = |key: &str| format!("metadata.annotations[{key}]");
    if let (Some(mode), Some(hints)) = (text(MODE), text(HINTS))
        && mode != hints
    {
        errors.invalid(path(MODE), mode, format!("must match annotations[{HINTS}] when both are specified"));
    }
    let Some(ranges) = text(RANGES) else { return };
    if !tree::items(spec, "loadBalancerSourceRanges").is_empty() {
        return;
    }
    if kind != "LoadBalancer" {
        errors.forbidden(path(RANGES), "may only be used when `type` is 'LoadBalancer'");
    }
    if !ranges.trim().is_empty() {
        for range in ranges.split(',') {
            ip::network(errors, path(RANGES), range.trim());
        }
    }
}

/// The first of a list of one or two may not change; the second may come and go.
fn kept(errors: &mut FieldErrors, now: &Value, before: &Value, field: &str, one: &str) {
    let (new, old): (Vec<_>, Vec<_>) = (tree::texts(now, field).collect(), tree::texts(before, field).collect());
    let all = || tree::items(now, field).to_vec();
    if new.len() == old.len() {
        for index in (0..new.len()).filter(|index| new[*index] != old[*index]) {
            errors.invalid(format!("spec.{field}[{index}]"), all(), "may not change once set");
        }
        return;
    }
    let Some(first) = old.first() else { return };
    match new.first() {
        None => errors.invalid(format!("spec.{field}[0]"), all(), format!("primary {one} can not be unset")),
        Some(now) if now != first => errors.invalid(format!("spec.{field}[0]"), all(), "may not change once set"),
        Some(_) => {}
    }
    if new.len() == 1 && tree::text(now, "ipFamilyPolicy") != "SingleStack" {
        let detail = format!("must be set to 'SingleStack' when releasing the secondary {one}");
        errors.invalid("spec.ipFamilyPolicy", tree::at(now, "ipFamilyPolicy").clone(), detail);
    }
}

fn is_headless(spec: &Value) -> bool {
    matches!(tree::items(spec, "clusterIPs"), [only] if only == "None")
}

fn external_name(errors: &mut FieldErrors, spec: &Value) {
    for field in ["clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
        if !tree::equal(tree::at(spec, field), &Value::Null) {
            errors.forbidden(format!("spec.{field}"), "may not be set for ExternalName services");
        }
    }
    let name = tree::text(spec, "externalName");
    match name.strip_suffix('.').unwrap_or(name) {
        "" => errors.required("spec.externalName", ""),
        name => errors.each("spec.externalName", name, names::subdomain(name)),
    }
}

fn port<'a>(errors: &mut FieldErrors, path: &str, port: &'a Value, named: bool, seen: &mut HashSet<&'a str>) {
    let name = tree::text(port, "name");
    if !name.is_empty() {
        errors.each(format!("{path}.name"), name, names::label(name));
        if !seen.insert(name) {
            errors.duplicate(format!("{path}.name"), name);
        }
    } else if named {
        errors.required(format!("{path}.name"), "");
    }
    let number = tree::int(port, "port");
    errors.each(format!("{path}.port"), number, names::port_number(number));
    match tree::text(port, "protocol") {
        "" => errors.required(format!("{path}.protocol"), ""),
        protocol if !PROTOCOLS.contains(&protocol) => {
            errors.not_supported(format!("{path}.protocol"), protocol, &PROTOCOLS);
        }
        _ => {}
    }
    if tree::has(port, "targetPort") {
        pod::target_port(errors, format!("{path}.targetPort"), tree::at(port, "targetPort"));
    }
    if let Some(protocol) = tree::at(port, "appProtocol").as_str() {
        errors.each(format!("{path}.appProtocol"), protocol, names::qualified(protocol));
    }
}

fn affinity(errors: &mut FieldErrors, spec: &Value) {
    const LONGEST: i64 = 86_400;
    let (kind, config) = (tree::text(spec, "sessionAffinity"), tree::at(spec, "sessionAffinityConfig"));
    match kind {
        "" => errors.required("spec.sessionAffinity", ""),
        "None" if !config.is_null() => {
            errors.forbidden("spec.sessionAffinityConfig", "must not be set when session affinity is None");
        }
        "None" => {}
        "ClientIP" => {
            let path = "spec.sessionAffinityConfig";
            let detail = "when session affinity type is ClientIP";
            match tree::at(config, "clientIP.timeoutSeconds").as_i64() {
                _ if config.is_null() => errors.required(path, detail),
                _ if !tree::has(config, "clientIP") => errors.required(format!("{path}.clientIP"), detail),
                None => errors.required(format!("{path}.clientIP.timeoutSeconds"), detail),
                Some(seconds) if seconds <= 0 || seconds > LONGEST => errors.invalid(
                    format!("{path}.clientIP.timeoutSeconds"),
                    seconds,
                    format!("must be greater than 0 and less than {LONGEST}"),
                ),
                Some(_) => {}
            }
        }
        other => errors.not_supported("spec.sessionAffinity", other, &["ClientIP", "None"]),
    }
}

fn cluster_ips(errors: &mut FieldErrors, spec: &Value) {
    const PATH: &str = "spec.clusterIPs";
    let one = tree::text(spec, "clusterIP");
    let all: Vec<_> = tree::texts(spec, "clusterIPs").collect();
    let value = || tree::items(spec, "clusterIPs").to_vec();
    match (one, all.first()) {
        ("", Some(_)) => errors.invalid(PATH, value(), "must be empty when `clusterIP` is not specified"),
        ("", None) => {}
        (_, None) => errors.required(PATH, ""),
        (one, Some(first)) if one != *first => errors.invalid(PATH, value(), "first value must match `clusterIP`"),
        _ => {}
    }
    let families: Vec<_> = tree::texts(spec, "ipFamilies").collect();
    let again = repeated(&families);
    for (index, family) in families.iter().enumerate() {
        let path = format!("spec.ipFamilies[{index}]");
        if !FAMILIES.contains(family) {
            errors.not_supported(path.clone(), *family, &FAMILIES);
        }
        if again[index] {
            errors.duplicate(path, *family);
        }
    }
    let policy = tree::text(spec, "ipFamilyPolicy");
    let policies = ["PreferDualStack", "RequireDualStack", "SingleStack"];
    if !policy.is_empty() && !policies.contains(&policy) {
        errors.not_supported("spec.ipFamilyPolicy", policy, &policies);
    }
    let mut addresses = Vec::new();
    for (index, text) in all.iter().enumerate() {
        if index == 0 && *text == "None" {
            if all.len() > 1 {
                return errors.invalid(PATH, value(), "'None' must be the first and only value");
            }
            return;
        }
        match ip::address(errors, format!("{PATH}[{index}]"), text) {
            Some(address) => addresses.push(address),
            None => return,
        }
    }
    if all.len() > 2 {
        errors.invalid(PATH, value(), "may only hold up to 2 values");
    }
    if addresses.len() > 1 && addresses.iter().all(IpAddr::is_ipv4) == addresses.iter().any(IpAddr::is_ipv4) {
        errors.invalid(PATH, value(), "may specify no more than one IP for each IP family");
    }
    for (index, (address, family)) in addresses.iter().zip(&families).enumerate() {
        if address.is_ipv4() != (*family == "IPv4") {
            let detail = format!("expected an {family} value as indicated by `ipFamilies[{index}]`");
            errors.invalid(format!("{PATH}[{index}]"), all[index], detail);
        }
    }
}

fn port_numbers(errors: &mut FieldErrors, ports: &[Value], kind: &str) {
    let key = |index: usize, field: &str| (tree::text(&ports[index], "protocol"), tree::int(&ports[index], field));
    let again = |field: &str| repeated((0..ports.len()).map(|index| key(index, field)));
    let (again_node, again_own) = (again("nodePort"), again("port"));
    for index in 0..ports.len() {
        let path = format!("spec.ports[{index}]");
        let (node_port, number) = (key(index, "nodePort"), key(index, "port"));
        if node_port.1 != 0 {
            if kind == "ClusterIP" {
                errors.forbidden(format!("{path}.nodePort"), "may not be used when `type` is 'ClusterIP'");
            }
            if again_node[index] {
                errors.duplicate(format!("{path}.nodePort"), node_port.1);
            }
        }
        if again_own[index] {
            let value = serde_json::json!({"port": number.1, "protocol": number.0});
            errors.duplicate(path, value);
        }
    }
}

fn load_balancer(errors: &mut FieldErrors, spec: &Value, kind: &str) {
    const ONLY: &str = "may only be used when `type` is 'LoadBalancer'";
    let ranges: Vec<_> = tree::texts(spec, "loadBalancerSourceRanges").collect();
    if !ranges.is_empty() && kind != "LoadBalancer" {
        errors.forbidden("spec.LoadBalancerSourceRanges", ONLY);
    }
    for (index, range) in ranges.iter().enumerate() {
        ip::network(errors, format!("spec.LoadBalancerSourceRanges[{index}]"), range.trim());
    }
    let class = tree::at(spec, "loadBalancerClass").as_str();
    if kind == "LoadBalancer" {
        if let Some(class) = class {
            errors.each("spec.loadBalancerClass", class, names::qualified(class));
        }
        return;
    }
    for field in ["allocateLoadBalancerNodePorts", "loadBalancerClass"] {
        if tree::has(spec, field) {
            errors.forbidden(format!("spec.{field}"), ONLY);
        }
    }
}

fn traffic(errors: &mut FieldErrors, spec: &Value, kind: &str) {
    const POLICIES: [&str; 2] = ["Cluster", "Local"];
    let external = tree::text(spec, "externalTrafficPolicy");
    let reachable = matches!(kind, "LoadBalancer" | "NodePort")
        || kind == "ClusterIP" && !tree::items(spec, "externalIPs").is_empty();
    match external {
        "" if reachable => errors.required("spec.externalTrafficPolicy", ""),
        "" => {}
        policy if !reachable => {
            errors.invalid("spec.externalTrafficPolicy", policy, "may only be set for externally-accessible services");
        }
        policy if !POLICIES.contains(&policy) => {
            errors.not_supported("spec.externalTrafficPolicy", policy, &POLICIES);
        }
        _ => {}
    }
    let health = tree::int(spec, "healthCheckNodePort");
    if health != 0 {
        if needs_health_check(spec) {
            errors.each("spec.healthCheckNodePort", health, names::port_number(health));
        } else {
            let detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
            errors.invalid("spec.healthCheckNodePort", health, detail);
        }
    }
    match tree::text(spec, "internalTrafficPolicy") {
        "" if matches!(kind, "NodePort" | "LoadBalancer" | "ClusterIP") => {
            errors.required("spec.internalTrafficPolicy", "");
        }
        "" => {}
        policy if !POLICIES.contains(&policy) => {
            errors.not_supported("spec.internalTrafficPolicy", policy, &POLICIES);
        }
        _ => {}
    }
    let distribution = tree::text(spec, "trafficDistribution");
    let known = ["PreferClose", "PreferSameZone", "PreferSameNode"];
    if !distribution.is_empty() && !known.contains(&distribution) {
        errors.not_supported("spec.trafficDistribution", distribution, &known);
    }
}
