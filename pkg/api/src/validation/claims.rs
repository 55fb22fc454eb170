//! Checks of PersistentVolumes and PersistentVolumeClaims.
//!
//! Source: `pkg/apis/core/validation/validation.go`.

use serde_json::{Value, json};

use super::{
    FieldErrors, annotations, labels, names,
    pod::node_selector,
    resources::{self, amount, basic, positive},
    volume,
};
use crate::{quantity::Quantity, tree};

const ACCESS_MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const VOLUME_MODES: [&str; 2] = ["Block", "Filesystem"];
const BETA_CLASS: &str = "volume.beta.kubernetes.io/storage-class";
/// Sources of a PersistentVolume, in the order in which they are looked at.
const SOURCES: [&str; 22] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "flocker",
    "nfs",
    "rbd",
    "quobyte",
    "cephfs",
    "iscsi",
    "cinder",
    "fc",
    "flexVolume",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "scaleIO",
    "local",
    "storageos",
    "csi",
];
const RESIZES: [&str; 5] = [
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
];

/// Checks the specification of a PersistentVolume at `path`; `inline` if it is part of a
/// VolumeAttachment. `name` is that of the volume.
pub fn volume(errors: &mut FieldErrors, path: &str, spec: &Value, name: &str, inline: bool) {
    const INLINE: &str = "may not be specified in the context of inline volumes";
    let forbid = |errors: &mut FieldErrors, field: &str| {
        let value = tree::at(spec, field);
        if inline && !tree::equal(value, &Value::Null) && value != "" {
            errors.forbidden(format!("{path}.{field}"), INLINE);
        }
    };
    forbid(errors, "claimRef");
    forbid(errors, "capacity");
    if inline && !tree::has(spec, "csi") {
        errors.required(format!("{path}.csi"), "has to be specified in the context of inline volumes");
    }
    if tree::items(spec, "accessModes").is_empty() {
        errors.required(format!("{path}.accessModes"), "");
    }
    access_modes(errors, path, spec);
    let reclaim = tree::text(spec, "persistentVolumeReclaimPolicy");
    let at = format!("{path}.persistentVolumeReclaimPolicy");
    if inline && !matches!(reclaim, "" | "Retain") {
        errors.forbidden(at.clone(), "may only be Retain in the context of inline volumes");
    }
    if !inline {
        capacity(errors, &format!("{path}.capacity"), tree::at(spec, "capacity"));
        one_of(errors, &at, reclaim, &["Delete", "Recycle", "Retain"]);
    }
    forbid(errors, "nodeAffinity");
    let affinity = tree::at(spec, "nodeAffinity");
    if !inline && !affinity.is_null() {
        let at = format!("{path}.nodeAffinity.required");
        match tree::at(affinity, "required") {
            Value::Null => errors.required(at, "must specify required node constraints"),
            required => node_selector(errors, &at, required),
        }
    }
    let found = volume::one_source(errors, path, spec, &SOURCES, |errors, path, kind, source| match kind {
        "csi" => csi(errors, path, source),
        _ => volume::source(errors, path, kind, source, name, true),
    });
    if found == Some("local") && (inline || affinity.is_null()) {
        errors.required(format!("{path}.nodeAffinity"), "Local volume requires node affinity");
    }
    if reclaim == "Recycle" && is_root(tree::text(spec, "hostPath.path")) {
        errors.forbidden(at, "may not be 'recycle' for a hostPath mount of '/'");
    }
    forbid(errors, "storageClassName");
    let mode = tree::text(spec, "volumeMode");
    if inline {
        if !matches!(mode, "" | "Filesystem") {
            let detail = "may not specify volumeMode other than Filesystem in the context of inline volumes";
            errors.forbidden(format!("{path}.volumeMode"), detail);
        }
    } else {
        class_name(errors, path, spec, "storageClassName");
        one_of(errors, &format!("{path}.volumeMode"), mode, &VOLUME_MODES);
    }
    if let Some(class) = spec["volumeAttributesClassName"].as_str() {
        if class.is_empty() {
            errors.required(format!("{path}.volumeAttributesClassName"), "an empty string is disallowed");
        }
        class_name(errors, path, spec, "volumeAttributesClassName");
        if !tree::has(spec, "csi") {
            let detail = "has to be specified when using volumeAttributesClassName";
            errors.required(format!("{path}.csi"), detail);
        }
    }
}

/// `/` in whatever way it is written.
fn is_root(path: &str) -> bool {
    path.starts_with('/') && path.split('/').all(|part| matches!(part, "" | "." | ".."))
}

fn one_of(errors: &mut FieldErrors, path: &str, text: &str, allowed: &[&str]) {
    if !text.is_empty() && !allowed.contains(&text) {
        errors.not_supported(path, text, allowed);
    }
}

fn class_name(errors: &mut FieldErrors, path: &str, spec: &Value, field: &str) {
    let class = tree::text(spec, field);
    if !class.is_empty() {
        errors.each(format!("{path}.{field}"), class, names::subdomain(class));
    }
}

fn access_modes(errors: &mut FieldErrors, path: &str, spec: &Value) {
    let path = format!("{path}.accessModes");
    let modes: Vec<_> = tree::texts(spec, "accessModes").collect();
    for mode in &modes {
        one_of(errors, &path, mode, &ACCESS_MODES);
    }
    let others = modes.iter().any(|mode| *mode != "ReadWriteOncePod" && ACCESS_MODES.contains(mode));
    if others && modes.contains(&"ReadWriteOncePod") {
        errors.forbidden(path, "may not use ReadWriteOncePod with other access modes");
    }
}

fn capacity(errors: &mut FieldErrors, path: &str, capacity: &Value) {
    let count = capacity.as_object().map_or(0, serde_json::Map::len);
    if count == 0 {
        errors.required(path, "");
    }
    if capacity.get("storage").is_none() || count > 1 {
        errors.not_supported(path, capacity.clone(), &["storage"]);
    }
    for (resource, value) in capacity.as_object().into_iter().flatten() {
        let path = format!("{path}[{resource}]");
        basic(errors, &path, value);
        positive(errors, &path, value);
    }
}

fn csi(errors: &mut FieldErrors, path: &str, source: &Value) {
    volume::driver_name(errors, &format!("{path}.driver"), tree::text(source, "driver"));
    if tree::text(source, "volumeHandle").is_empty() {
        errors.required(format!("{path}.volumeHandle"), "");
    }
    let secrets =
        ["controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef"];
    for field in secrets.into_iter().filter(|field| tree::has(source, field)) {
        let (path, secret) = (format!("{path}.{field}"), tree::at(source, field));
        match tree::text(secret, "name") {
            "" => errors.required(format!("{path}.name"), ""),
            name => errors.each(format!("{path}.name"), name, names::subdomain(name)),
        }
        match tree::text(secret, "namespace") {
            "" => errors.required(format!("{path}.namespace"), ""),
            name => errors.each(format!("{path}.namespace"), name, names::label(name)),
        }
    }
}

/// Checks how a PersistentVolume changes: its source stays.
pub fn volume_update(errors: &mut FieldErrors, new: &Value, old: &Value) {
    const EXPAND: &str = "csi.controllerExpandSecretRef";
    let sources = |volume: &Value| -> Value {
        let spec = tree::at(volume, "spec");
        SOURCES
            .iter()
            .filter(|kind| tree::has(spec, kind))
            .map(|kind| ((*kind).to_owned(), spec[*kind].clone()))
            .collect()
    };
    let (mut now, before) = (sources(new), sources(old));
    if !tree::has(&before, EXPAND) && tree::has(&before, "csi") {
        tree::remove(&mut now, EXPAND);
    }
    if let Some(at) = tree::difference(&before, &now, "spec") {
        let detail = format!("spec.persistentvolumesource is immutable after creation\n{at} differs");
        errors.forbidden("spec.persistentvolumesource", detail);
    }
    fixed_mode(errors, new, old);
    if tree::has(old, "spec.nodeAffinity") {
        affinity_update(errors, new, old);
    }
    if tree::has(old, "spec.volumeAttributesClassName") && !tree::has(new, "spec.volumeAttributesClassName") {
        errors.forbidden("spec.volumeAttributesClassName", "update from non-nil value to nil is forbidden");
    }
}

/// Upstream reports it without `spec`.
fn fixed_mode(errors: &mut FieldErrors, new: &Value, old: &Value) {
    let (now, before) = (tree::at(new, "spec.volumeMode"), tree::at(old, "spec.volumeMode"));
    if now != before {
        errors.invalid("volumeMode", now.clone(), super::IMMUTABLE);
    }
}

/// Labels of nodes that have a newer name.
const RENAMED: [(&str, &str); 5] = [
    ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
    ("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"),
    ("beta.kubernetes.io/os", "kubernetes.io/os"),
    ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
];

fn affinity_update(errors: &mut FieldErrors, new: &Value, old: &Value) {
    let mut before = tree::at(old, "spec.nodeAffinity").clone();
    let mut now = tree::at(new, "spec.nodeAffinity").clone();
    rename(&mut before);
    rename(&mut now);
    if !tree::equal(&before, &now) {
        let shown = tree::at(new, "spec.nodeAffinity").clone();
        let detail = format!("{}, except for updating from beta label to GA", super::IMMUTABLE);
        errors.invalid("nodeAffinity", shown, detail);
    }
}

fn rename(affinity: &mut Value) {
    let terms = affinity.pointer_mut("/required/nodeSelectorTerms").and_then(Value::as_array_mut);
    for term in terms.into_iter().flatten() {
        for requirement in term.get_mut("matchExpressions").and_then(Value::as_array_mut).into_iter().flatten() {
            let key = tree::text(requirement, "key");
            if let Some((_, new)) = RENAMED.iter().find(|(old, _)| *old == key) {
                requirement["key"] = json!(new);
            }
        }
    }
}

/// Checks the specification of a claim at `path`; `old` is the one before, if any.
pub fn claim(errors: &mut FieldErrors, path: &str, spec: &Value, old: Option<&Value>) {
    if tree::items(spec, "accessModes").is_empty() {
        errors.required(format!("{path}.accessModes"), "at least 1 access mode is required");
    }
    labels::selector(errors, &format!("{path}.selector"), tree::at(spec, "selector"));
    access_modes(errors, path, spec);
    let at = format!("{path}.resources[storage]");
    match tree::at(spec, "resources.requests").get("storage") {
        None => errors.required(at, ""),
        Some(wanted) => positive(errors, &at, wanted),
    }
    class_name(errors, path, spec, "storageClassName");
    one_of(errors, &format!("{path}.volumeMode"), tree::text(spec, "volumeMode"), &VOLUME_MODES);
    let lenient = old
        .is_some_and(|old| ["dataSource.apiGroup", "dataSourceRef.apiGroup"].iter().any(|field| tree::has(old, field)));
    let [source, reference] = ["dataSource", "dataSourceRef"].map(|field| tree::at(spec, field));
    data_source(errors, &format!("{path}.dataSource"), source, lenient);
    data_source(errors, &format!("{path}.dataSourceRef"), reference, lenient);
    let namespace = tree::text(reference, "namespace");
    if !namespace.is_empty() {
        errors.each(format!("{path}.dataSourceRef.namespace"), namespace, names::label(namespace));
    }
    if !source.is_null() && !reference.is_null() {
        let same = |field: &&str| tree::at(source, field) == tree::at(reference, field);
        if !namespace.is_empty() {
            let detail = "may not be specified when dataSourceRef.namespace is specified";
            errors.invalid(path, format!("{path}.dataSource"), detail);
        } else if !["apiGroup", "kind", "name"].iter().all(same) {
            errors.invalid(path, format!("{path}.dataSource"), "must match dataSourceRef");
        }
    }
    class_name(errors, path, spec, "volumeAttributesClassName");
}

fn data_source(errors: &mut FieldErrors, path: &str, source: &Value, lenient: bool) {
    if source.is_null() {
        return;
    }
    for field in ["name", "kind"] {
        if tree::text(source, field).is_empty() {
            errors.required(format!("{path}.{field}"), "");
        }
    }
    let (group, kind) = (tree::text(source, "apiGroup"), tree::text(source, "kind"));
    if group.is_empty() && kind != "PersistentVolumeClaim" {
        errors.invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
    }
    if !group.is_empty() && !lenient {
        errors.each(format!("{path}.apiGroup"), group, names::subdomain(group));
    }
}

/// Checks the claim that a pod's volume is made by.
pub fn claim_template(errors: &mut FieldErrors, path: &str, template: &Value) {
    let metadata = tree::at(template, "metadata");
    annotations(errors, &format!("{path}.metadata.annotations"), tree::at(metadata, "annotations"));
    labels::labels(errors, &format!("{path}.metadata.labels"), tree::at(metadata, "labels"));
    for (field, value) in metadata.as_object().into_iter().flatten() {
        if !matches!(field.as_str(), "annotations" | "labels") && !tree::equal(value, &Value::Null) && value != "" {
            errors.forbidden(format!("{path}.metadata.{field}"), "cannot be set");
        }
    }
    claim(errors, &format!("{path}.spec"), tree::at(template, "spec"), None);
}

/// Checks how a claim changes: hardly, but for its size once it is bound.
pub fn claim_update(errors: &mut FieldErrors, new: &Value, old: &Value) {
    const CLASS: &str = "spec.storageClassName";
    const ATTRIBUTES: &str = "spec.volumeAttributesClassName";
    let (mut now, mut before) = (tree::at(new, "spec").clone(), tree::at(old, "spec").clone());
    if tree::text(old, "spec.volumeName").is_empty() {
        put(&mut before, "volumeName", &now["volumeName"]);
    }
    let annotation = |claim: &Value| claim["metadata"]["annotations"][BETA_CLASS].clone();
    let (noted, was_noted) = (annotation(new), annotation(old));
    let (class, had) = (tree::at(new, CLASS), tree::at(old, CLASS));
    let upgrades =
        !was_noted.is_null() && had.is_null() && *class == was_noted && (noted.is_null() || noted == was_noted);
    if upgrades {
        put(&mut now, "storageClassName", &Value::Null);
    } else {
        if noted.as_str().unwrap_or_default() != was_noted.as_str().unwrap_or_default() {
            let path = format!("metadata.annotations[{BETA_CLASS}]");
            errors.invalid(path, noted.as_str().unwrap_or_default(), super::IMMUTABLE);
        }
        if !class.is_null() && had.is_null() && (was_noted.is_null() || *class == was_noted) {
            put(&mut now, "storageClassName", &Value::Null);
        }
    }
    if tree::text(new, "status.phase") == "Bound" {
        if let Some(requests) = now.pointer_mut("/resources/requests").filter(|requests| requests.is_object()) {
            put(requests, "storage", &old["spec"]["resources"]["requests"]["storage"]);
        }
        put(&mut now, "volumeAttributesClassName", &old["spec"]["volumeAttributesClassName"]);
    }
    if let Some(at) = tree::difference(&before, &now, "spec") {
        let detail = format!(
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound \
             claims\n{at} differs"
        );
        errors.forbidden("spec", detail);
    }
    let size = |claim: &Value, part: &str| {
        Quantity::from_value(tree::at(claim, &format!("{part}.storage"))).unwrap_or_default()
    };
    let (wanted, before) = (size(new, "spec.resources.requests"), size(old, "spec.resources.requests"));
    if wanted < before && wanted <= size(old, "status.capacity") {
        errors.forbidden("spec.resources.requests.storage", "field can not be less than status.capacity");
    }
    fixed_mode(errors, new, old);
    if tree::has(old, "status.currentVolumeAttributesClassName")
        && tree::at(new, ATTRIBUTES) != tree::at(old, ATTRIBUTES)
    {
        let what = match tree::at(new, ATTRIBUTES).as_str() {
            None => "nil",
            Some("") => "empty string",
            Some(_) => return,
        };
        let detail = format!("update to {what} is forbidden when status.currentVolumeAttributesClassName is not nil");
        errors.forbidden(ATTRIBUTES, detail);
    }
}

fn put(object: &mut Value, field: &str, value: &Value) {
    let Some(fields) = object.as_object_mut() else { return };
    match value {
        Value::Null => fields.remove(field),
        value => fields.insert(field.to_owned(), value.clone()),
    };
}

/// Checks a status that a controller writes.
pub fn claim_status(errors: &mut FieldErrors, claim: &Value) {
    for (resource, value) in tree::entries(claim, "status.capacity") {
        basic(errors, &format!("status.capacity[{resource}]"), value);
    }
    for (resource, state) in tree::entries(claim, "status.allocatedResourceStatuses") {
        const PATH: &str = "status.allocatedResourceStatuses";
        claim_resource(errors, PATH, resource);
        if !state.as_str().is_some_and(|state| RESIZES.contains(&state)) {
            errors.not_supported(PATH, resource, &RESIZES);
        }
    }
    for (resource, value) in tree::entries(claim, "status.allocatedResources") {
        const PATH: &str = "status.allocatedResources";
        if claim_resource(errors, PATH, resource) {
            amount(errors, &format!("{PATH}[{resource}]"), "storage", value);
        }
    }
}

fn claim_resource(errors: &mut FieldErrors, path: &str, resource: &str) -> bool {
    let before = errors.0.len();
    errors.each(path, resource, names::qualified(resource));
    if errors.0.len() == before && resources::is_native(resource) && resource != "storage" {
        errors.not_supported(path, resource, &["storage"]);
    }
    errors.0.len() == before
}
