//! Network policies, Ingresses and their classes, addresses and ranges of Services.
//!
//! Source: upstream's `pkg/apis/networking/validation`. What was wrong in an object already does not
//! keep it from being changed elsewhere: `old` is the object before, null at creation.

use std::collections::HashSet;

use serde_json::Value;

use super::{FieldErrors, IMMUTABLE, ip, labels, names};
use crate::tree;

/// Checks a network policy.
pub fn network_policy(errors: &mut FieldErrors, policy: &Value, old: &Value) {
    let spec = tree::at(policy, "spec");
    labels::selector(errors, "spec.podSelector", tree::at(spec, "podSelector"));
    let known = networks(old);
    for (list, peers) in [("ingress", "from"), ("egress", "to")] {
        for (index, rule) in tree::items(spec, list).iter().enumerate() {
            let path = format!("spec.{list}[{index}]");
            for (index, port) in tree::items(rule, "ports").iter().enumerate() {
                policy_port(errors, &format!("{path}.ports[{index}]"), port);
            }
            for (index, one) in tree::items(rule, peers).iter().enumerate() {
                peer(errors, &format!("{path}.{peers}[{index}]"), one, &known);
            }
        }
    }
    let types = tree::items(spec, "policyTypes");
    if types.len() > 2 {
        return errors.invalid("spec.policyTypes", types.to_vec(), "may not specify more than two policyTypes");
    }
    for (index, kind) in types.iter().enumerate() {
        if kind != "Ingress" && kind != "Egress" {
            errors.not_supported(format!("spec.policyTypes[{index}]"), kind.clone(), &["Ingress", "Egress"]);
        }
    }
}

/// All networks that a policy names.
fn networks(policy: &Value) -> HashSet<&str> {
    let lists = [("spec.ingress", "from"), ("spec.egress", "to")];
    let rules = lists.iter().flat_map(|(list, peers)| tree::items(policy, list).iter().map(move |rule| (rule, peers)));
    let blocks = rules.flat_map(|(rule, peers)| tree::items(rule, peers)).map(|peer| tree::at(peer, "ipBlock"));
    blocks.flat_map(|block| tree::texts(block, "except").chain([tree::text(block, "cidr")])).collect()
}

fn policy_port(errors: &mut FieldErrors, path: &str, port: &Value) {
    let protocol = tree::text(port, "protocol");
    if !protocol.is_empty() && !matches!(protocol, "TCP" | "UDP" | "SCTP") {
        errors.not_supported(format!("{path}.protocol"), protocol, &["TCP", "UDP", "SCTP"]);
    }
    let (at, end_at) = (format!("{path}.port"), format!("{path}.endPort"));
    let end = tree::at(port, "endPort").as_i64();
    match (tree::at(port, "port"), end) {
        (Value::Number(number), _) => {
            let number = number.as_i64().unwrap_or_default();
            errors.each(at, number, names::port_number(number));
            if let Some(end) = end {
                if end < number {
                    errors.invalid(end_at.clone(), end, "must be greater than or equal to `port`");
                }
                errors.each(end_at, end, names::port_number(end));
            }
        }
        (Value::String(name), _) => {
            if let Some(end) = end {
                errors.invalid(end_at, end, "may not be specified when `port` is non-numeric");
            }
            errors.each(at, name.as_str(), names::port_name(name));
        }
        (_, Some(end)) => errors.invalid(end_at, end, "may not be specified when `port` is not specified"),
        _ => {}
    }
}

fn peer(errors: &mut FieldErrors, path: &str, peer: &Value, known: &HashSet<&str>) {
    let selectors = ["podSelector", "namespaceSelector"].into_iter().filter(|field| tree::has(peer, field));
    let mut count = 0;
    for field in selectors {
        count += 1;
        labels::selector(errors, &format!("{path}.{field}"), tree::at(peer, field));
    }
    let block = tree::at(peer, "ipBlock");
    if !block.is_null() {
        ip_block(errors, &format!("{path}.ipBlock"), block, known);
        if count > 0 {
            errors.forbidden(path, "may not specify both ipBlock and another peer");
        }
    } else if count == 0 {
        errors.required(path, "must specify a peer");
    }
}

fn ip_block(errors: &mut FieldErrors, path: &str, block: &Value, known: &HashSet<&str>) {
    let network = tree::text(block, "cidr");
    if network.is_empty() {
        return errors.required(format!("{path}.cidr"), "");
    }
    if !known.contains(network) {
        ip::network(errors, format!("{path}.cidr"), network);
    }
    let Some((outer, outer_length)) = ip::network_sloppy(network) else { return };
    for (index, text) in tree::texts(block, "except").enumerate() {
        let path = format!("{path}.except[{index}]");
        if !known.contains(text) {
            ip::network(errors, path.clone(), text);
        }
        let Some((inner, inner_length)) = ip::network_sloppy(text) else { continue };
        let inner = ip::masked(inner, inner_length);
        let within =
            inner.is_ipv4() == outer.is_ipv4() && ip::masked(inner, outer_length) == ip::masked(outer, outer_length);
        if !within || outer_length >= inner_length {
            errors.invalid(path, text, "must be a strict subset of `cidr`");
        }
    }
}

/// Checks an Ingress.
pub fn ingress(errors: &mut FieldErrors, ingress: &Value, old: &Value) {
    const CLASS: &str = "kubernetes.io/ingress.class";
    let spec = tree::at(ingress, "spec");
    let backend = tree::at(spec, "defaultBackend");
    let rules = tree::items(spec, "rules");
    if rules.is_empty() && backend.is_null() {
        errors.invalid("spec", Value::Null, "either `defaultBackend` or `rules` must be specified");
    }
    if !backend.is_null() {
        self::backend(errors, "spec.defaultBackend", backend);
    }
    let wild = |rule: &&Value| tree::text(rule, "host").contains('*');
    let was_bad = tree::items(old, "spec.rules").iter().filter(wild).any(|rule| {
        let mut errors = FieldErrors::default();
        rule_paths(&mut errors, "", rule);
        !errors.is_empty()
    });
    for (index, rule) in rules.iter().enumerate() {
        let path = format!("spec.rules[{index}]");
        host(errors, &format!("{path}.host"), tree::text(rule, "host"));
        if !(wild(&rule) && was_bad) {
            rule_paths(errors, &path, rule);
        }
    }
    let secret = |tls: &Value| Some(tree::text(tls, "secretName").to_owned()).filter(|name| !name.is_empty());
    let bad_secret = |tls: &Value| secret(tls).is_some_and(|name| !names::subdomain(&name).is_empty());
    let had_bad_secret = tree::items(old, "spec.tls").iter().any(bad_secret);
    for (index, tls) in tree::items(spec, "tls").iter().enumerate() {
        for (at, host) in tree::texts(tls, "hosts").enumerate() {
            errors.each(format!("spec.tls[{index}].hosts[{at}]"), host, host_faults(host));
        }
        if let Some(name) = secret(tls).filter(|_| !had_bad_secret) {
            errors.each(format!("spec.tls[{index}].secretName"), name.as_str(), names::subdomain(&name));
        }
    }
    let class = tree::at(spec, "ingressClassName").as_str();
    if let Some(class) = class {
        errors.each("spec.ingressClassName", class, names::subdomain(class));
    }
    let noted = ingress["metadata"]["annotations"][CLASS].as_str();
    if let (Some(class), Some(noted), true) = (class, noted, old.is_null())
        && class != noted
    {
        let path = format!("annotations.{CLASS}");
        errors.invalid(path, noted, "must match `ingressClassName` when both are specified");
    }
}

fn host_faults(host: &str) -> Vec<String> {
    if host.contains('*') { names::wildcard(host) } else { names::subdomain(host) }
}

fn host(errors: &mut FieldErrors, path: &str, host: &str) {
    if host.is_empty() {
        return;
    }
    if ip::parse_sloppy(host).is_some() {
        errors.invalid(path, host, "must be a DNS name, not an IP address");
    }
    errors.each(path, host, host_faults(host));
}

fn rule_paths(errors: &mut FieldErrors, path: &str, rule: &Value) {
    let Value::Object(_) = tree::at(rule, "http") else { return };
    let paths = tree::items(rule, "http.paths");
    if paths.is_empty() {
        errors.required(format!("{path}.http.paths"), "");
    }
    for (index, one) in paths.iter().enumerate() {
        http_path(errors, &format!("{path}.http.paths[{index}]"), one);
    }
}

/// Sequences and ends that no path may have.
const SEQUENCES: [&str; 5] = ["//", "/./", "/../", "%2f", "%2F"];
const ENDS: [&str; 2] = ["/..", "/."];

fn http_path(errors: &mut FieldErrors, path: &str, one: &Value) {
    let (text, at) = (tree::text(one, "path"), format!("{path}.path"));
    match tree::at(one, "pathType").as_str() {
        None => return errors.required(format!("{path}.pathType"), "pathType must be specified"),
        Some("Exact" | "Prefix") => {
            if !text.starts_with('/') {
                errors.invalid(at.clone(), text, "must be an absolute path");
            }
            for sequence in SEQUENCES.iter().filter(|sequence| text.contains(**sequence)) {
                errors.invalid(at.clone(), text, format!("must not contain '{sequence}'"));
            }
            for end in ENDS.iter().filter(|end| text.ends_with(**end)) {
                errors.invalid(at.clone(), text, format!("cannot end with '{end}'"));
            }
        }
        Some("ImplementationSpecific") => {
            if !text.is_empty() && !text.starts_with('/') {
                errors.invalid(at, text, "must be an absolute path");
            }
        }
        Some(other) => {
            let known = ["Exact", "ImplementationSpecific", "Prefix"];
            errors.not_supported(format!("{path}.pathType"), other, &known);
        }
    }
    backend(errors, &format!("{path}.backend"), tree::at(one, "backend"));
}

fn backend(errors: &mut FieldErrors, path: &str, backend: &Value) {
    let (resource, service) = (tree::at(backend, "resource"), tree::at(backend, "service"));
    match (resource.is_null(), service.is_null()) {
        (false, false) => errors.invalid(path, "", "cannot set both resource and service backends"),
        (false, true) => reference(errors, &format!("{path}.resource"), resource),
        (true, true) => errors.invalid(path, "", "resource or service backend is required"),
        (true, false) => {
            match tree::text(service, "name") {
                "" => errors.required(format!("{path}.service.name"), ""),
                name => errors.each(format!("{path}.service.name"), name, names::label(name)),
            }
            let (name, number) = (tree::text(service, "port.name"), tree::int(service, "port.number"));
            match (name, number) {
                ("", 0) => errors.required(path, "port name or number is required"),
                ("", number) => {
                    errors.each(format!("{path}.service.port.number"), number, names::port_number(number));
                }
                (name, 0) => errors.each(format!("{path}.service.port.name"), name, names::port_name(name)),
                _ => errors.invalid(path, "", "cannot set both port name & port number"),
            }
        }
    }
}

/// A reference by group, kind and name.
fn reference(errors: &mut FieldErrors, path: &str, reference: &Value) {
    if let Some(group) = tree::at(reference, "apiGroup").as_str() {
        errors.each(format!("{path}.apiGroup"), group, names::subdomain(group));
    }
    for field in ["kind", "name"] {
        segment(errors, &format!("{path}.{field}"), tree::text(reference, field));
    }
}

/// Something that must be there and fit in a URL.
fn segment(errors: &mut FieldErrors, path: &str, text: &str) {
    if text.is_empty() {
        errors.required(path, "");
    } else {
        errors.each(path, text, names::path_segment(text, false));
    }
}

/// Checks where an Ingress is reached.
pub fn ingress_status(errors: &mut FieldErrors, new: &Value, old: &Value) {
    const LIST: &str = "status.loadBalancer.ingress";
    let known: HashSet<&str> = tree::items(old, LIST).iter().map(|entry| tree::text(entry, "ip")).collect();
    for (index, entry) in tree::items(new, LIST).iter().enumerate() {
        let (address, name) = (tree::text(entry, "ip"), tree::text(entry, "hostname"));
        if !address.is_empty() && !known.contains(address) {
            ip::address(errors, format!("{LIST}[{index}].ip"), address);
        }
        if !name.is_empty() {
            let path = format!("{LIST}[{index}].hostname");
            errors.each(path.clone(), name, names::subdomain(name));
            if ip::parse_sloppy(name).is_some() {
                errors.invalid(path, name, "must be a DNS name, not an IP address");
            }
        }
    }
}

/// Checks a class of Ingresses.
pub fn ingress_class(errors: &mut FieldErrors, class: &Value) {
    const LIMIT: usize = 250;
    let controller = tree::text(class, "spec.controller");
    if controller.len() > LIMIT {
        errors.too_long("spec.controller", LIMIT);
    }
    names::prefixed_path(errors, "spec.controller", controller);
    let parameters = tree::at(class, "spec.parameters");
    if parameters.is_null() {
        return;
    }
    const PATH: &str = "spec.parameters";
    reference(errors, PATH, parameters);
    let namespace = tree::at(parameters, "namespace").as_str();
    match (tree::text(parameters, "scope"), namespace) {
        ("", _) => errors.required(format!("{PATH}.scope"), ""),
        ("Namespace", None) => {
            errors.required(format!("{PATH}.namespace"), "`parameters.scope` is set to 'Namespace'");
        }
        ("Namespace", Some(namespace)) => {
            errors.each(format!("{PATH}.namespace"), namespace, names::label(namespace));
        }
        ("Cluster", Some(_)) => {
            errors.forbidden(format!("{PATH}.namespace"), "`parameters.scope` is set to 'Cluster'");
        }
        ("Cluster", None) => {}
        (other, _) => errors.not_supported(format!("{PATH}.scope"), other, &["Cluster", "Namespace"]),
    }
}

/// Checks who has an address.
pub fn ip_address(errors: &mut FieldErrors, address: &Value) {
    const PATH: &str = "spec.parentRef";
    let parent = tree::at(address, PATH);
    if parent.is_null() {
        return errors.required(PATH, "");
    }
    let (group, namespace) = (tree::text(parent, "group"), tree::text(parent, "namespace"));
    if !group.is_empty() {
        errors.each(format!("{PATH}.group"), group, names::subdomain(group));
    }
    for field in ["resource", "name"] {
        segment(errors, &format!("{PATH}.{field}"), tree::text(parent, field));
    }
    if !namespace.is_empty() {
        errors.each(format!("{PATH}.namespace"), namespace, names::path_segment(namespace, false));
    }
}

/// Checks ranges of addresses: one, or one of each family.
pub fn service_cidr(errors: &mut FieldErrors, object: &Value) {
    const PATH: &str = "spec.cidrs";
    let networks: Vec<&str> = tree::texts(object, PATH).collect();
    match networks.len() {
        0 => return errors.required(PATH, "at least one CIDR required"),
        1 | 2 => {}
        _ => return errors.invalid(PATH, tree::at(object, "spec").clone(), "may only hold up to 2 values"),
    }
    for (index, network) in networks.iter().enumerate() {
        ip::canonical_network(errors, &format!("{PATH}[{index}]"), network);
    }
    let families: Vec<_> = networks.iter().filter_map(|network| ip::network_sloppy(network)).collect();
    if let [(a, _), (b, _)] = families[..]
        && a.is_ipv4() == b.is_ipv4()
    {
        let detail = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
        errors.invalid(PATH, tree::at(object, PATH).clone(), detail);
    }
}

/// Checks how ranges change: a second may be added.
pub fn service_cidr_update(errors: &mut FieldErrors, new: &Value, old: &Value) {
    const PATH: &str = "spec.cidrs";
    let (now, before) = (tree::items(new, PATH), tree::items(old, PATH));
    if now.len() != before.len() && (before.len(), now.len()) != (1, 2) {
        return errors.invalid(PATH, now.to_vec(), IMMUTABLE);
    }
    for (index, (now, before)) in now.iter().zip(before).enumerate() {
        if now != before {
            errors.invalid(format!("{PATH}[{index}]"), now.clone(), IMMUTABLE);
        }
    }
    if now.len() > before.len() {
        service_cidr(errors, new);
    }
}
