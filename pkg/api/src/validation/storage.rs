//! Checks of the kinds of `storage.k8s.io`.
//!
//! Source: `pkg/apis/storage/validation`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use super::{
    FieldErrors, claims, labels, names, repeated,
    resources::{NEGATIVE, is_negative, not_negative},
    volume::driver_name,
};
use crate::tree;

const PARAMETERS: usize = 512;
const PARAMETERS_SIZE: usize = 256 * 1024;
const ERROR_SIZE: usize = 1024;

/// Checks a StorageClass.
pub fn class(errors: &mut FieldErrors, class: &Value) {
    provisioner(errors, class, "provisioner");
    parameters(errors, class, true);
    let reclaim = tree::text(class, "reclaimPolicy");
    if !matches!(reclaim, "" | "Delete" | "Retain") {
        errors.not_supported("reclaimPolicy", reclaim, &["Delete", "Retain"]);
    }
    match tree::at(class, "volumeBindingMode").as_str() {
        None => errors.required("volumeBindingMode", ""),
        Some("Immediate" | "WaitForFirstConsumer") => {}
        Some(other) => errors.not_supported("volumeBindingMode", other, &["Immediate", "WaitForFirstConsumer"]),
    }
    let topologies = tree::items(class, "allowedTopologies");
    let again = repeated(topologies.iter().map(terms));
    for (index, term) in topologies.iter().enumerate() {
        let path = format!("allowedTopologies[{index}].matchLabelExpressions");
        topology(errors, &path, term);
        if again[index] {
            errors.duplicate(path, "");
        }
    }
}

/// What a StorageClass was made with stays.
pub fn class_update(errors: &mut FieldErrors, new: &Value, old: &Value) {
    for field in ["provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"] {
        fixed(errors, field, new, old);
    }
}

/// Refuses a change, without showing the value.
fn fixed(errors: &mut FieldErrors, path: &str, new: &Value, old: &Value) {
    if !tree::equal(tree::at(new, path), tree::at(old, path)) {
        errors.invalid(path, Value::Null, super::IMMUTABLE);
    }
}

/// The driver that is named at `field`.
fn provisioner(errors: &mut FieldErrors, class: &Value, field: &str) {
    match tree::text(class, field) {
        "" => errors.required(field, ""),
        name => {
            let name = name.to_lowercase();
            errors.each(field, name.as_str(), names::qualified(&name));
        }
    }
}

fn parameters(errors: &mut FieldErrors, class: &Value, may_be_empty: bool) {
    const PATH: &str = "parameters";
    let count = tree::entries(class, PATH).count();
    if count > PARAMETERS {
        return errors.too_long(PATH, PARAMETERS);
    }
    if tree::entries(class, PATH).any(|(key, _)| key.is_empty()) {
        errors.invalid(PATH, "", "field can not be empty.");
    }
    if size(tree::at(class, PATH)) > PARAMETERS_SIZE {
        errors.too_long(PATH, PARAMETERS_SIZE);
    }
    if !may_be_empty && count == 0 {
        errors.required(PATH, "must contain at least one key/value pair");
    }
}

/// Keys and values of a map of texts together, in bytes.
fn size(map: &Value) -> usize {
    map.as_object().into_iter().flatten().map(|(key, value)| key.len() + value.as_str().map_or(0, str::len)).sum()
}

fn topology(errors: &mut FieldErrors, path: &str, term: &Value) {
    let requirements = tree::items(term, "matchLabelExpressions");
    let again = repeated(requirements.iter().map(|requirement| tree::text(requirement, "key")));
    for (index, requirement) in requirements.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let (key, values) = (tree::text(requirement, "key"), tree::items(requirement, "values"));
        if values.is_empty() {
            errors.required(format!("{path}.values"), "");
        }
        for (at, _) in repeated(values).into_iter().enumerate().filter(|(_, again)| *again) {
            errors.duplicate(format!("{path}.values[{at}]"), values[at].clone());
        }
        errors.each(format!("{path}.key"), key, names::qualified(key));
        if again[index] {
            errors.duplicate(format!("{path}.key"), key);
        }
    }
}

/// What a term says, whatever the order.
fn terms(term: &Value) -> BTreeMap<&str, BTreeSet<&str>> {
    let requirements = tree::items(term, "matchLabelExpressions").iter();
    requirements.map(|r| (tree::text(r, "key"), tree::texts(r, "values").collect())).collect()
}

/// Checks a VolumeAttributesClass.
pub fn attributes_class(errors: &mut FieldErrors, class: &Value) {
    provisioner(errors, class, "driverName");
    parameters(errors, class, false);
}

/// Nothing but metadata of a VolumeAttributesClass may change.
pub fn attributes_class_update(errors: &mut FieldErrors, new: &Value, old: &Value) {
    for field in ["driverName", "parameters"] {
        if !tree::equal(tree::at(new, field), tree::at(old, field)) {
            errors.forbidden(field, format!("updates to {field} are forbidden."));
        }
    }
}

/// Checks a VolumeAttachment.
pub fn attachment(errors: &mut FieldErrors, attachment: &Value) {
    let spec = tree::at(attachment, "spec");
    const SOURCE: &str = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    let (inline, name) = (tree::at(spec, "source.inlineVolumeSpec"), tree::at(spec, "source.persistentVolumeName"));
    match (inline.is_null(), name.as_str()) {
        (true, None) => errors.required("spec.source", SOURCE),
        (false, Some(_)) => errors.forbidden("spec.source", SOURCE),
        (true, Some("")) => {
            errors.required("spec.source.persistentVolumeName", "must specify non empty persistentVolumeName");
        }
        (true, Some(_)) => {}
        (false, None) => claims::volume(errors, "spec.source.inlineVolumeSpec", inline, "", true),
    }
    let node = tree::text(spec, "nodeName");
    errors.each("spec.nodeName", node, names::subdomain(node));
    attachment_status(errors, attachment);
    if let Some(name) = name.as_str() {
        errors.each("spec.source.persistentVolumeName", name, names::subdomain(name));
    }
    driver_name(errors, "spec.attacher", tree::text(spec, "attacher"));
}

/// Checks what an attacher reports.
pub fn attachment_status(errors: &mut FieldErrors, attachment: &Value) {
    let status = tree::at(attachment, "status");
    if size(tree::at(status, "attachmentMetadata")) > PARAMETERS_SIZE {
        errors.too_long("status.attachmentMetadata", PARAMETERS_SIZE);
    }
    for field in ["attachError", "detachError"] {
        let fault = tree::at(status, field);
        if tree::text(fault, "message").len() > ERROR_SIZE {
            errors.too_long(format!("status.{field}.message"), ERROR_SIZE);
        }
        let code = tree::int(fault, "errorCode");
        if code < 0 {
            errors.each(format!("status.{field}.errorCode"), code, names::id(code));
        }
    }
}

/// The specification of a VolumeAttachment may not change.
pub fn attachment_update(errors: &mut FieldErrors, new: &Value, old: &Value) {
    fixed(errors, "spec", new, old);
}

/// Checks a CSINode.
pub fn csi_node(errors: &mut FieldErrors, node: &Value) {
    let drivers = tree::items(node, "spec.drivers");
    let again = repeated(drivers.iter().map(|driver| tree::text(driver, "name")));
    for (index, driver) in drivers.iter().enumerate() {
        let path = format!("spec.drivers[{index}]");
        let (name, id) = (tree::text(driver, "name"), tree::text(driver, "nodeID"));
        driver_name(errors, &format!("{path}.name"), name);
        if id.is_empty() {
            errors.required(format!("{path}.nodeID"), "");
        }
        if id.len() > 256 {
            errors.invalid(format!("{path}.nodeID"), id, "must be 256 characters or less");
        }
        not_negative(errors, tree::at(driver, "allocatable"), &format!("{path}.allocatable"), "count");
        if again[index] {
            errors.duplicate(format!("{path}.name"), name);
        }
        let keys: Vec<_> = tree::texts(driver, "topologyKeys").collect();
        let doubled = repeated(&keys);
        for (at, key) in keys.iter().enumerate() {
            if key.is_empty() {
                errors.required(path.clone(), "");
            }
            if doubled[at] {
                errors.duplicate(path.clone(), *key);
            }
            errors.each(path.clone(), *key, names::qualified(key));
        }
    }
}

/// A driver's entry stays as it is, but for the count of volumes.
pub fn csi_node_update(errors: &mut FieldErrors, new: &Value, old: &Value) {
    let without_count = |driver: &Value| {
        let mut driver = driver.clone();
        tree::remove(&mut driver, "allocatable");
        driver
    };
    let mut drivers: HashMap<&str, Vec<&Value>> = HashMap::new();
    for driver in tree::items(new, "spec.drivers") {
        drivers.entry(tree::text(driver, "name")).or_default().push(driver);
    }
    for before in tree::items(old, "spec.drivers") {
        let now = drivers.remove(tree::text(before, "name")).unwrap_or_default().into_iter();
        for now in now.map(without_count).filter(|now| !tree::equal(now, &without_count(before))) {
            errors.invalid("spec.drivers", now, super::IMMUTABLE);
        }
    }
}

/// Checks a CSIDriver.
pub fn csi_driver(errors: &mut FieldErrors, driver: &Value) {
    let spec = tree::at(driver, "spec");
    let flags = [
        ("attachRequired", "attachedRequired"),
        ("podInfoOnMount", "podInfoOnMount"),
        ("storageCapacity", "storageCapacity"),
    ];
    for (field, shown) in flags {
        if !tree::has(spec, field) {
            errors.required(format!("spec.{shown}"), "");
        }
    }
    let policies = ["File", "None", "ReadWriteOnceWithFSType"];
    if let Some(policy) = tree::at(spec, "fsGroupPolicy").as_str().filter(|policy| !policies.contains(policy)) {
        errors.not_supported("spec.fsGroupPolicy", policy, &policies);
    }
    let tokens = tree::items(spec, "tokenRequests");
    let again = repeated(tokens.iter().map(|token| tree::text(token, "audience")));
    for (index, token) in tokens.iter().enumerate() {
        let path = format!("spec.tokenRequests[{index}]");
        let audience = tree::text(token, "audience");
        if again[index] {
            errors.duplicate(format!("{path}.audience"), audience);
            continue;
        }
        token_lifetime(errors, &format!("{path}.expirationSeconds"), tree::at(token, "expirationSeconds").as_i64());
    }
    for mode in tree::texts(spec, "volumeLifecycleModes").filter(|mode| !matches!(*mode, "Persistent" | "Ephemeral")) {
        errors.not_supported("spec.volumeLifecycleModes", mode, &["Persistent", "Ephemeral"]);
    }
    if let Some(period) = tree::at(spec, "nodeAllocatableUpdatePeriodSeconds").as_i64().filter(|period| *period < 10) {
        let detail = "must be greater than or equal to 10 seconds";
        errors.invalid("spec.nodeAllocatableUpdatePeriodSeconds", period, detail);
    }
    let in_secrets = tree::at(spec, "serviceAccountTokenInSecrets");
    if !in_secrets.is_null() && tokens.is_empty() {
        let detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
        errors.invalid("spec.serviceAccountTokenInSecrets", in_secrets.clone(), detail);
    }
}

/// How long a token may live.
pub fn token_lifetime(errors: &mut FieldErrors, path: &str, seconds: Option<i64>) {
    match seconds {
        Some(seconds) if seconds < 600 => {
            errors.invalid(path, seconds, "may not specify a duration less than 10 minutes");
        }
        Some(seconds) if seconds > 1 << 32 => {
            errors.invalid(path, seconds, "may not specify a duration larger than 2^32 seconds");
        }
        _ => {}
    }
}

/// How a CSIDriver attaches and what it mounts stays.
pub fn csi_driver_update(errors: &mut FieldErrors, new: &Value, old: &Value) {
    for (field, shown) in [("attachRequired", "attachedRequired"), ("volumeLifecycleModes", "volumeLifecycleModes")] {
        let field = format!("spec.{field}");
        let now = tree::at(new, &field);
        if !tree::equal(now, tree::at(old, &field)) {
            errors.invalid(format!("spec.{shown}"), now.clone(), super::IMMUTABLE);
        }
    }
}

/// Checks a CSIStorageCapacity.
pub fn capacity(errors: &mut FieldErrors, capacity: &Value) {
    labels::selector(errors, "nodeTopology", tree::at(capacity, "nodeTopology"));
    let class = tree::text(capacity, "storageClassName");
    errors.each("storageClassName", class, names::subdomain(class));
    let amount = tree::at(capacity, "capacity");
    if is_negative(amount) {
        errors.invalid("capacity", amount.clone(), NEGATIVE);
    }
}

/// What a capacity is of may not change.
pub fn capacity_update(errors: &mut FieldErrors, new: &Value, old: &Value) {
    for field in ["nodeTopology", "storageClassName"] {
        errors.fixed(field, new, old);
    }
}
