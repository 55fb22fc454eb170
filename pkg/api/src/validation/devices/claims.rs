//! Claims: what is asked for, and what was given.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    CONFIGURATIONS, FieldErrors, binding, conditions, configuration, each, fully_qualified, keys, label, names,
    pool_name, raw_object, selectors, tolerations, tree, unique, volume,
};
use crate::validation::{IMMUTABLE, ip, pod};

/// Requests, results and names in a list.
const REQUESTS: usize = 32;
const CONSTRAINTS: usize = 32;
const ALTERNATIVES: usize = 8;
const CONSUMERS: usize = 256;

/// Names of requests, each with those of its alternatives.
type Names<'a> = BTreeMap<&'a str, Vec<&'a str>>;

fn request_names(spec: &Value) -> Names<'_> {
    let alternatives = |request| tree::items(request, "firstAvailable").iter().map(|sub| tree::text(sub, "name"));
    let requests = tree::items(spec, "devices.requests").iter();
    requests.map(|request| (tree::text(request, "name"), alternatives(request).collect())).collect()
}

/// Checks the spec of a claim, at `path`.
pub fn claim_spec(errors: &mut FieldErrors, path: &str, spec: &Value) {
    let names = request_names(spec);
    let path = format!("{path}.devices");
    let devices = tree::at(spec, "devices");
    let requests = tree::items(devices, "requests");
    let at = format!("{path}.requests");
    each(errors, &at, requests, REQUESTS, &mut request);
    unique(errors, &at, &keys(requests, "name"));
    let list = tree::items(devices, "constraints");
    each(errors, &format!("{path}.constraints"), list, CONSTRAINTS, &mut |errors, path, constraint| {
        references(errors, path, constraint, &names);
        match ["matchAttribute", "distinctAttribute"].map(|field| tree::at(constraint, field).as_str()) {
            [Some(name), _] => fully_qualified(errors, &format!("{path}.matchAttribute"), name),
            [None, Some(name)] => fully_qualified(errors, &format!("{path}.distinctAttribute"), name),
            [None, None] => errors.required(
                path,
                "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, but multiple fields are set",
            ),
        }
    });
    let list = tree::items(devices, "config");
    each(errors, &format!("{path}.config"), list, CONFIGURATIONS, &mut |errors, path, config| {
        references(errors, path, config, &names);
        configuration(errors, path, config, false);
    });
}

fn request(errors: &mut FieldErrors, path: &str, request: &Value) {
    label(errors, &format!("{path}.name"), tree::text(request, "name"));
    let (alternatives, exact) = (tree::items(request, "firstAvailable"), tree::at(request, "exactly"));
    match (alternatives.is_empty(), exact.is_null()) {
        (true, true) => errors.required(path, "exactly one of `exactly` or `firstAvailable` is required"),
        (false, false) => {
            let detail = "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set";
            errors.invalid(path, Value::Null, detail);
        }
        (false, true) => {
            let path = format!("{path}.firstAvailable");
            each(errors, &path, alternatives, ALTERNATIVES, &mut |errors, path, sub| {
                label(errors, &format!("{path}.name"), tree::text(sub, "name"));
                wanted(errors, path, sub);
            });
            unique(errors, &path, &keys(alternatives, "name"));
        }
        (true, false) => wanted(errors, &format!("{path}.exactly"), exact),
    }
}

fn wanted(errors: &mut FieldErrors, path: &str, request: &Value) {
    match tree::text(request, "deviceClassName") {
        "" => errors.required(format!("{path}.deviceClassName"), ""),
        class => errors.each(format!("{path}.deviceClassName"), class, names::subdomain(class)),
    }
    selectors(errors, &format!("{path}.selectors"), request);
    let count = tree::int(request, "count");
    match tree::text(request, "allocationMode") {
        "All" if count != 0 => {
            let detail = "must not be specified when allocationMode is 'All'";
            errors.invalid(format!("{path}.count"), count, detail);
        }
        "ExactCount" if count <= 0 => errors.invalid(format!("{path}.count"), count, "must be greater than zero"),
        "All" | "ExactCount" => {}
        other => errors.not_supported(format!("{path}.allocationMode"), other, &["All", "ExactCount"]),
    }
    tolerations(errors, path, request);
}

/// The requests that something is about.
fn references(errors: &mut FieldErrors, path: &str, object: &Value, known: &Names<'_>) {
    let (path, list) = (format!("{path}.requests"), tree::items(object, "requests"));
    each(errors, &path, list, REQUESTS, &mut |errors, path, name| {
        reference(errors, path, name.as_str().unwrap_or_default(), known);
    });
    unique(errors, &path, list);
}

fn reference(errors: &mut FieldErrors, path: &str, name: &str, known: &Names<'_>) {
    let parts: Vec<&str> = name.split('/').collect();
    let found = match parts[..] {
        [request] => known.contains_key(request),
        [request, sub] => known.get(request).is_some_and(|subs| subs.contains(&sub)),
        _ => false,
    };
    if parts.len() <= 2 {
        parts.iter().for_each(|part| label(errors, path, part));
    }
    if !found {
        let detail = "must be the name of a request in the claim or the name of a request and a subrequest separated \
                      by '/'";
        errors.invalid(path, name, detail);
    }
}

/// What names one device within a claim.
fn device_id(device: &Value) -> Value {
    json!(["driver", "pool", "device", "shareID"].map(|field| tree::at(device, field).clone()))
}

/// Checks how the status of a claim changes.
pub fn claim_status(errors: &mut FieldErrors, new: &Value, old: &Value) {
    let known = request_names(tree::at(new, "spec"));
    let (status, before) = (tree::at(new, "status"), tree::at(old, "status"));
    let consumers = tree::items(status, "reservedFor");
    const CONSUMED: &str = "status.reservedFor";
    each(errors, CONSUMED, consumers, CONSUMERS, &mut |errors, path, consumer| {
        for field in ["resource", "name", "uid"] {
            if tree::text(consumer, field).is_empty() {
                errors.required(format!("{path}.{field}"), "");
            }
        }
    });
    unique(errors, CONSUMED, &keys(consumers, "uid"));
    let allocation = tree::at(status, "allocation");
    let given: Vec<Value> = tree::items(allocation, "devices.results").iter().map(device_id).collect();
    let devices = tree::items(status, "devices");
    each(errors, "status.devices", devices, usize::MAX, &mut |errors, path, device| {
        device_status(errors, path, device, &given);
    });
    unique(errors, "status.devices", &devices.iter().map(device_id).collect::<Vec<_>>());
    if !consumers.is_empty() && allocation.is_null() {
        errors.forbidden(CONSUMED, "may not be specified when `allocated` is not set");
    } else if tree::has(new, "metadata.deletionTimestamp") {
        let had = tree::items(before, "reservedFor");
        if consumers.iter().any(|consumer| !had.contains(consumer)) {
            let detail = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set";
            errors.forbidden(CONSUMED, detail);
        }
    }
    let had = tree::at(before, "allocation");
    if !had.is_null() && !allocation.is_null() {
        if !tree::equal(had, allocation) {
            errors.invalid("status.allocation", allocation.clone(), IMMUTABLE);
        }
    } else if !allocation.is_null() {
        allocated(errors, allocation, &known);
    }
}

fn allocated(errors: &mut FieldErrors, allocation: &Value, known: &Names<'_>) {
    const PATH: &str = "status.allocation";
    let results = tree::items(allocation, "devices.results");
    each(errors, &format!("{PATH}.devices.results"), results, REQUESTS, &mut |errors, path, result| {
        reference(errors, &format!("{path}.request"), tree::text(result, "request"), known);
        place(errors, path, result);
        binding(errors, path, result);
        tolerations(errors, path, result);
    });
    let list = tree::items(allocation, "devices.config");
    each(errors, &format!("{PATH}.devices.config"), list, 2 * CONFIGURATIONS, &mut |errors, path, config| {
        match tree::text(config, "source") {
            "" => errors.required(format!("{path}.source"), ""),
            "FromClaim" | "FromClass" => {}
            other => errors.not_supported(format!("{path}.source"), other, &["FromClaim", "FromClass"]),
        }
        references(errors, path, config, known);
        configuration(errors, path, config, false);
    });
    if tree::has(allocation, "nodeSelector") {
        pod::node_selector(errors, &format!("{PATH}.nodeSelector"), tree::at(allocation, "nodeSelector"));
    }
}

/// Driver, pool and device, and which share of it.
fn place(errors: &mut FieldErrors, path: &str, device: &Value) {
    volume::driver_name(errors, &format!("{path}.driver"), tree::text(device, "driver"));
    pool_name(errors, &format!("{path}.pool"), tree::text(device, "pool"));
    label(errors, &format!("{path}.device"), tree::text(device, "device"));
    if let Some(share) = tree::at(device, "shareID").as_str().filter(|share| !is_uuid(share)) {
        let detail = "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase \
                      hexadecimal characters";
        errors.invalid(format!("{path}.shareID"), share, detail);
    }
}

fn is_uuid(text: &str) -> bool {
    let hex = |part: &str| part.bytes().all(|c| c.is_ascii_digit() || (b'a'..=b'f').contains(&c));
    let parts: Vec<&str> = text.split('-').collect();
    parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12]) && parts.into_iter().all(hex)
}

fn device_status(errors: &mut FieldErrors, path: &str, device: &Value, given: &[Value]) {
    const LIMIT: usize = 8;
    const DATA: usize = 10 * 1024;
    place(errors, path, device);
    let id = device_id(device);
    if !given.contains(&id) {
        let texts: Vec<&str> = id.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        errors.invalid(path, texts.join("/"), "must be an allocated device in the claim");
    }
    let (at, list) = (format!("{path}.conditions"), tree::items(device, "conditions"));
    if list.len() > LIMIT {
        errors.too_many(at.clone(), list.len(), LIMIT);
    }
    conditions::conditions(errors, &at, list);
    if tree::has(device, "data") {
        raw_object(errors, &format!("{path}.data"), tree::at(device, "data"), DATA);
    }
    let network = tree::at(device, "networkData");
    for (field, limit) in [("interfaceName", 256), ("hardwareAddress", 128)] {
        if tree::text(network, field).len() > limit {
            errors.too_long(format!("{path}.networkData.{field}"), limit);
        }
    }
    let (at, addresses) = (format!("{path}.networkData.ips"), tree::items(network, "ips"));
    each(errors, &at, addresses, 16, &mut |errors, path, address| {
        ip::interface_address(errors, path, address.as_str().unwrap_or_default());
    });
    unique(errors, &at, addresses);
}
