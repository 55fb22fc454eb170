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
        let endpoints = tree::items(slice, "endpoints");
        if endpoints.len() > 1000 {
            errors.too_many("endpoints", endpoints.len(), 1000);
            return errors;
        }
        for (index, endpoint) in endpoints.iter().enumerate() {
            self::endpoint(&mut errors, &format!("endpoints[{index}]"), endpoint, family);
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        errors.immutable("addressType", new, old);
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

fn endpoint(errors: &mut FieldErrors, path: &str, endpoint: &Value, family: &str) {
    let addresses = tree::items(endpoint, "addresses");
    let at = format!("{path}.addresses");
    if addresses.is_empty() {
        errors.required(at.clone(), "must contain at least 1 address");
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
            "FQDN" => errors.each(one, address, names::subdomain(address.strip_suffix('.').unwrap_or(address))),
            _ => {}
        }
    }
    named(errors, path, endpoint);
    labels::labels(errors, &format!("{path}.deprecatedTopology"), tree::at(endpoint, "deprecatedTopology"));
}
