//! Volumes and their mounts.

use std::collections::HashSet;

use serde_json::Value;

use super::{
    Context, one_of_given,
    projected::{downward_file, keys_to_paths, projected},
};
use crate::{
    tree,
    validation::{
        FieldErrors, claims, names,
        resources::is_negative,
        volume::{self, descending},
    },
};

const FILE_MODE: &str = "must be a number between 0 and 0777 (octal), both inclusive";

/// Checks all volumes; answers with the names of those without fault.
pub(super) fn volumes<'a>(
    errors: &mut FieldErrors,
    path: &str,
    spec: &'a Value,
    pod: Option<&str>,
) -> HashSet<&'a str> {
    let mut sound = HashSet::new();
    for (index, volume) in tree::items(spec, "volumes").iter().enumerate() {
        let path = format!("{path}[{index}]");
        let before = errors.0.len();
        source(errors, &path, volume, pod);
        let name = tree::text(volume, "name");
        if name.is_empty() {
            errors.required(format!("{path}.name"), "");
        } else {
            errors.each(format!("{path}.name"), name, names::label(name));
        }
        if sound.contains(name) {
            errors.duplicate(format!("{path}.name"), name);
        }
        if errors.0.len() == before {
            sound.insert(name);
        }
    }
    sound
}

/// Sources of a volume of a pod, in the order in which they are looked at.
const SOURCES: [&str; 30] = [
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
];

fn source(errors: &mut FieldErrors, path: &str, volume: &Value, pod: Option<&str>) {
    let name = tree::text(volume, "name");
    volume::one_source(errors, path, volume, &SOURCES, |errors, at, kind, source| {
        of_kind(errors, at, kind, source, name);
        if let Some(pod) = pod.filter(|pod| kind == "ephemeral" && !pod.is_empty() && !name.is_empty()) {
            let claim = format!("{pod}-{name}");
            for fault in names::subdomain(&claim) {
                errors.invalid(format!("{path}.name"), name, format!("PVC name {claim:?}: {fault}"));
            }
        }
    });
}

fn of_kind(errors: &mut FieldErrors, path: &str, kind: &str, source: &Value, volume: &str) {
    match kind {
        "emptyDir" => {
            let limit = tree::at(source, "sizeLimit");
            if is_negative(limit) {
                errors.forbidden(format!("{path}.sizeLimit"), "SizeLimit field must be a valid resource quantity");
            }
        }
        "secret" => {
            required(errors, path, source, "secretName");
            mode(errors, path, source, "defaultMode");
            keys_to_paths(errors, path, source);
        }
        "configMap" => {
            required(errors, path, source, "name");
            mode(errors, path, source, "defaultMode");
            keys_to_paths(errors, path, source);
        }
        "persistentVolumeClaim" => required(errors, path, source, "claimName"),
        "downwardAPI" => {
            mode(errors, path, source, "defaultMode");
            for file in tree::items(source, "items") {
                downward_file(errors, path, file);
            }
        }
        "projected" => projected(errors, path, source),
        "csi" => csi(errors, path, source),
        "ephemeral" => match tree::at(source, "volumeClaimTemplate") {
            Value::Null => errors.required(format!("{path}.volumeClaimTemplate"), ""),
            template => claims::claim_template(errors, &format!("{path}.volumeClaimTemplate"), template),
        },
        "image" => {
            required(errors, path, source, "reference");
            let policy = tree::text(source, "pullPolicy");
            one_of_given(errors, &format!("{path}.pullPolicy"), policy, &["Always", "IfNotPresent", "Never"]);
        }
        _ => volume::source(errors, path, kind, source, volume, false),
    }
}

fn csi(errors: &mut FieldErrors, path: &str, source: &Value) {
    volume::driver_name(errors, &format!("{path}.driver"), tree::text(source, "driver"));
    if tree::has(source, "nodePublishSecretRef") {
        match tree::text(source, "nodePublishSecretRef.name") {
            "" => errors.required(format!("{path}.nodePublishSecretRef.name"), ""),
            name => errors.each(format!("{path}.name"), name, names::subdomain(name)),
        }
    }
}

pub(super) fn required(errors: &mut FieldErrors, path: &str, source: &Value, field: &str) {
    if tree::text(source, field).is_empty() {
        errors.required(format!("{path}.{field}"), "");
    }
}

pub(super) fn mode(errors: &mut FieldErrors, path: &str, source: &Value, field: &str) {
    if let Some(mode) = tree::at(source, field).as_i64().filter(|mode| !(0..=0o777).contains(mode)) {
        errors.invalid(format!("{path}.{field}"), mode, FILE_MODE);
    }
}

/// `volumeMounts` and `volumeDevices` of a container.
pub(super) fn mounts(errors: &mut FieldErrors, container_path: &str, container: &Value, context: &Context) {
    let devices = tree::items(container, "volumeDevices");
    let path = format!("{container_path}.volumeMounts");
    let mut taken = HashSet::new();
    let of_devices = |field: &str| -> HashSet<&str> { devices.iter().filter_map(|d| d[field].as_str()).collect() };
    let (names, paths) = (of_devices("name"), of_devices("devicePath"));
    for (index, mount) in tree::items(container, "volumeMounts").iter().enumerate() {
        let at = format!("{path}[{index}]");
        let (name, target) = (tree::text(mount, "name"), tree::text(mount, "mountPath"));
        if name.is_empty() {
            errors.required(format!("{at}.name"), "");
        }
        if !context.volumes.contains(name) {
            errors.not_found(format!("{at}.name"), name);
        }
        if target.is_empty() {
            errors.required(format!("{at}.mountPath"), "");
        }
        if !taken.insert(target) {
            errors.invalid(format!("{at}.mountPath"), target, "must be unique");
        }
        if names.contains(name) {
            errors.invalid(format!("{at}.name"), name, "must not already exist in volumeDevices");
        }
        if paths.contains(target) {
            let detail = "must not already exist as a path in volumeDevices";
            errors.invalid(format!("{at}.mountPath"), target, detail);
        }
        for field in ["subPath", "subPathExpr"] {
            let sub = tree::text(mount, field);
            if !sub.is_empty() {
                descending(errors, &format!("{path}.{field}"), sub);
            }
        }
        let expression = tree::text(mount, "subPathExpr");
        if !expression.is_empty() && !tree::text(mount, "subPath").is_empty() {
            let detail = "subPathExpr and subPath are mutually exclusive";
            errors.invalid(format!("{at}.subPathExpr"), expression, detail);
        }
        propagation(errors, &path, mount, container);
    }
    block_devices(errors, container_path, container, context);
}

fn block_devices(errors: &mut FieldErrors, path: &str, container: &Value, context: &Context) {
    let mounts = tree::items(container, "volumeMounts");
    let of_mounts = |field: &str| -> HashSet<&str> { mounts.iter().filter_map(|m| m[field].as_str()).collect() };
    let (mounted, targets) = (of_mounts("name"), of_mounts("mountPath"));
    let block = |volume: &&Value| tree::has(volume, "persistentVolumeClaim") || tree::has(volume, "ephemeral");
    let blocks = tree::items(context.spec, "volumes").iter().filter(block);
    let blocks: HashSet<_> = blocks.filter_map(|volume| volume["name"].as_str()).collect();
    let (mut names, mut paths) = (HashSet::new(), HashSet::new());
    for (index, device) in tree::items(container, "volumeDevices").iter().enumerate() {
        let at = format!("{path}.volumeDevices[{index}]");
        let (name, target) = (tree::text(device, "name"), tree::text(device, "devicePath"));
        if name.is_empty() {
            errors.required(format!("{at}.name"), "");
        }
        if names.contains(name) {
            errors.invalid(format!("{at}.name"), name, "must be unique");
        }
        if context.volumes.contains(name) {
            if !blocks.contains(name) {
                let detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
                errors.invalid(format!("{at}.name"), name, detail);
            }
        } else {
            errors.not_found(format!("{at}.name"), name);
        }
        if target.is_empty() {
            errors.required(format!("{at}.devicePath"), "");
        }
        if paths.contains(target) {
            errors.invalid(format!("{at}.devicePath"), target, "must be unique");
        }
        if target.split('/').any(|part| part == "..") {
            errors.invalid(format!("{at}.devicePath"), target, "can not contain backsteps ('..')");
        } else {
            paths.insert(target);
        }
        if mounted.contains(name) {
            errors.invalid(format!("{at}.name"), name, "must not already exist in volumeMounts");
        }
        if targets.contains(target) {
            let detail = "must not already exist as a path in volumeMounts";
            errors.invalid(format!("{at}.devicePath"), target, detail);
        }
        if !name.is_empty() {
            names.insert(name);
        }
    }
}

fn propagation(errors: &mut FieldErrors, path: &str, mount: &Value, container: &Value) {
    let mode = tree::text(mount, "mountPropagation");
    let at = format!("{path}.mountPropagation");
    one_of_given(errors, &at, mode, &["Bidirectional", "HostToContainer", "None"]);
    if mode == "Bidirectional" && !tree::flag(container, "securityContext.privileged") {
        errors.forbidden(at, "Bidirectional mount propagation is available only to privileged containers");
    }
    let recursive = tree::text(mount, "recursiveReadOnly");
    let at = format!("{path}.recursiveReadOnly");
    one_of_given(errors, &at, recursive, &["Disabled", "Enabled", "IfPossible"]);
    if matches!(recursive, "Enabled" | "IfPossible") && !tree::flag(mount, "readOnly") {
        errors.forbidden(at, "may only be specified when readOnly is true");
    }
}
