//! Endpoints and EndpointSlices.

use serde_json::Value;

use super::{Strategy, tracked::content_differs};
use crate::{
    tree,
    validation::{FieldErrors, ip, labels, names},
};

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];

pub(crate) struct Endpoints;

impl Strategy for Endpoints {
    fn validate(&self, endpoints: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        for (index, subset) in tree::items(endpoints, "subsets").iter().enumerate() {
            let path = format!("subsets[{index}]");
            let parts = ["addresses", "notReadyAddresses"];
            if parts.iter().all(|part| tree::items(subset, part).is_empty()) {
                errors.required(path.clone(), "must specify `addresses` or `notReadyAddresses`");
            }
            for part in parts {
                for (index, address) in tree::items(subset, part).iter().enumerate() {
                    let path = format!("{path}.{part}[{index}]");
                    named(&mut errors, &path, address);
                    ip::endpoint(&mut errors, &format!("{path}.ip"), tree::text(address, "ip"));
                }
            }
            let ports = tree::items(subset, "ports");
            for (index, port) in ports.iter().enumerate() {
                let path = format!("{path}.ports[{index}]");
                if ports.len() > 1 && tree::text(port, "name").is_empty() {
                    errors.required(format!("{path}.name"), "");
                }
                let number = tree::int(port, "port");
                errors.each(format!("{path}.port"), number, names::port_number(number));
                self::port(&mut errors, &path, port);
            }
        }
        errors
    }
}

/// `hostname` and `nodeName` of an address.
fn named(errors: &mut FieldErrors, path: &str, address: &Value) {
    let (host, node) = (tree::text(address, "hostname"), tree::text(address, "nodeName"));
    if !host.is_empty() {
        errors.each(format!("{path}.hostname"), host, names::label(host));
    }
    if !node.is_empty() {
        errors.each(format!("{path}.nodeName"), node, names::subdomain(node));
    }
}

fn port(errors: &mut FieldErrors, path: &str, port: &Value) {
    let name = tree::text(port, "name");
    if !name.is_empty() {
        errors.each(format!("{path}.name"), name, names::label(name));
    }
    match tree::text(port, "protocol") {
        "" => errors.required(format!("{path}.protocol"), ""),
        protocol if !PROTOCOLS.contains(&protocol) => {
            errors.not_supported(format!("{path}.protocol"), protocol, &PROTOCOLS);
        }
        _ => {}
    }
    if let Some(protocol) = tree::at(port, "appProtocol").as_str() {
        errors.each(format!("{path}.appProtocol"), protocol, names::qualified(protocol));
    }
}

pub(crate) struct EndpointSlices;

impl Strategy for EndpointSlices {
    fn validate(&self, slice: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        let family = tree::text(slice, "addressType");
        match family {
            "" => errors.required("addressType", ""),
            "IPv4" | "IPv6" | "FQDN" => {}
            other => errors.not_supported("addressType", other, &["FQDN", "IPv4", "IPv6"]),
        }
        slice_ports(&mut errors, tree::items(slice, "ports"));
        errors
    }

    fn validate_create(&self, slice: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        endpoints(&mut errors, slice);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        if !tree::equal(tree::at(new, "endpoints"), tree::at(old, "endpoints")) {
            endpoints(&mut errors, new);
        }
        if tree::text(new, "addressType") != tree::text(old, "addressType") {
            errors.invalid("addressType", Value::Null, crate::validation::IMMUTABLE);
        }
        errors
    }

    fn has_generation(&self) -> bool {
        true
    }

    fn generation_moves(&self, new: &Value, old: &Value) -> bool {
        let labels = |slice: &Value| tree::at(slice, "metadata.labels").clone();
        content_differs(new, old) || !tree::equal(&labels(new), &labels(old))
    }
}

fn slice_ports(errors: &mut FieldErrors, ports: &[Value]) {
    if ports.len() > 20_000 {
        return errors.too_many("ports", ports.len(), 20_000);
    }
    let mut seen = Vec::new();
    for (index, port) in ports.iter().enumerate() {
        let path = format!("ports[{index}]");
        self::port(errors, &path, port);
        let name = tree::text(port, "name");
        if seen.contains(&name) {
            errors.duplicate(format!("{path}.name"), name);
        }
        seen.push(name);
    }
}

fn endpoints(errors: &mut FieldErrors, slice: &Value) {
    let endpoints = tree::items(slice, "endpoints");
    if endpoints.len() > 1000 {
        return errors.too_many("endpoints", endpoints.len(), 1000);
    }
    let family = tree::text(slice, "addressType");
    for (index, endpoint) in endpoints.iter().enumerate() {
        self::endpoint(errors, &format!("endpoints[{index}]"), endpoint, family);
    }
}

/// A name with at least two segments.
fn domain_name(errors: &mut FieldErrors, path: &str, name: &str) {
    if name.is_empty() {
        return errors.required(path, "");
    }
    let name = name.strip_suffix('.').unwrap_or(name);
    let faults = names::subdomain(name);
    if !faults.is_empty() {
        return errors.invalid(path, name, faults.join(","));
    }
    if !name.contains('.') {
        return errors.invalid(path, name, "should be a domain with at least two segments separated by dots");
    }
    if let Some((label, faults)) = name.split('.').map(|l| (l, names::label(l))).find(|(_, faults)| !faults.is_empty())
    {
        errors.invalid(path, label, faults.join(","));
    }
}

/// Zones and nodes that should use an endpoint.
fn hints(errors: &mut FieldErrors, path: &str, hints: &Value) {
    const LIMIT: usize = 8;
    let lists: [(&str, fn(&str) -> Vec<String>); 2] =
        [("forZones", names::label_value), ("forNodes", names::subdomain)];
    for (field, rule) in lists {
        let path = format!("{path}.{field}");
        let items = tree::items(hints, field);
        if items.len() > LIMIT {
            return errors.too_many(path, items.len(), LIMIT);
        }
        for (index, item) in items.iter().enumerate() {
            let (path, name) = (format!("{path}[{index}].name"), tree::text(item, "name"));
            if items[..index].iter().any(|other| tree::text(other, "name") == name) {
                errors.duplicate(path.clone(), name);
            }
            errors.each(path, name, rule(name));
        }
    }
}

fn endpoint(errors: &mut FieldErrors, path: &str, endpoint: &Value, family: &str) {
    let addresses = tree::items(endpoint, "addresses");
    let at = format!("{path}.addresses");
    if addresses.is_empty() {
        errors.required(at.clone(), "");
    } else if addresses.len() > 100 {
        errors.too_many(at.clone(), addresses.len(), 100);
    }
    for (index, address) in addresses.iter().filter_map(Value::as_str).enumerate() {
        let one = format!("{at}[{index}]");
        match family {
            "IPv4" | "IPv6" => {
                let parsed = address.parse::<std::net::IpAddr>();
                if parsed.is_ok_and(|address| address.is_ipv4() != (family == "IPv4")) {
                    errors.invalid(at.clone(), address, format!("must be an {family} address"));
                }
                ip::endpoint(errors, &one, address);
            }
            "FQDN" => domain_name(errors, &one, address),
            _ => {}
        }
    }
    named(errors, path, endpoint);
    let topology = tree::at(endpoint, "deprecatedTopology");
    let count = topology.as_object().map_or(0, serde_json::Map::len);
    if count > 16 {
        errors.too_many(format!("{path}.deprecatedTopology"), count, 16);
    }
    labels::labels(errors, &format!("{path}.deprecatedTopology"), topology);
    hints(errors, &format!("{path}.hints"), tree::at(endpoint, "hints"));
}
