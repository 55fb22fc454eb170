//! Volumes and their mounts.

use serde_json::Value;

use super::{Context, env, one_of_given};
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
pub(super) fn volumes<'a>(errors: &mut FieldErrors, path: &str, spec: &'a Value, pod: Option<&str>) -> Vec<&'a str> {
    let mut sound = Vec::new();
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
        if sound.contains(&name) {
            errors.duplicate(format!("{path}.name"), name);
        }
        if errors.0.len() == before {
            sound.push(name);
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

fn required(errors: &mut FieldErrors, path: &str, source: &Value, field: &str) {
    if tree::text(source, field).is_empty() {
        errors.required(format!("{path}.{field}"), "");
    }
}

fn mode(errors: &mut FieldErrors, path: &str, source: &Value, field: &str) {
    if let Some(mode) = tree::at(source, field).as_i64().filter(|mode| !(0..=0o777).contains(mode)) {
        errors.invalid(format!("{path}.{field}"), mode, FILE_MODE);
    }
}

/// `items` of a ConfigMap or Secret; answers with the paths.
fn keys_to_paths<'a>(errors: &mut FieldErrors, path: &str, source: &'a Value) -> Vec<&'a str> {
    let mut paths = Vec::new();
    for (index, item) in tree::items(source, "items").iter().enumerate() {
        let path = format!("{path}.items[{index}]");
        required(errors, &path, item, "key");
        required(errors, &path, item, "path");
        let file = tree::text(item, "path");
        not_reserved(errors, &format!("{path}.path"), file);
        mode(errors, &path, item, "mode");
        paths.push(file);
    }
    paths
}

fn downward_file(errors: &mut FieldErrors, path: &str, file: &Value) {
    required(errors, path, file, "path");
    not_reserved(errors, &format!("{path}.path"), tree::text(file, "path"));
    let (field, resource) = (tree::at(file, "fieldRef"), tree::at(file, "resourceFieldRef"));
    if !field.is_null() {
        env::field_reference(errors, &format!("{path}.fieldRef"), field, &env::VOLUME_FIELDS);
        if !resource.is_null() {
            errors.invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously");
        }
    } else if !resource.is_null() {
        env::resource_reference(errors, &format!("{path}.resourceFieldRef"), resource, true);
    } else {
        errors.required(path, "one of fieldRef and resourceFieldRef is required");
    }
    mode(errors, path, file, "mode");
}

fn projected(errors: &mut FieldErrors, path: &str, source: &Value) {
    mode(errors, path, source, "defaultMode");
    let mut taken: Vec<&str> = Vec::new();
    for (index, part) in tree::items(source, "sources").iter().enumerate() {
        let part_path = format!("{path}.sources[{index}]");
        let mut kinds = part.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
        let Some((kind, value)) = kinds.next() else { continue };
        if let Some((second, _)) = kinds.next() {
            errors.forbidden(format!("{part_path}.{second}"), "may not specify more than 1 volume type");
        }
        let at = format!("{part_path}.{kind}");
        let files: Vec<&str> = match kind.as_str() {
            "secret" | "configMap" => {
                required(errors, &at, value, "name");
                keys_to_paths(errors, &at, value)
            }
            "downwardAPI" => {
                let items = tree::items(value, "items");
                items.iter().for_each(|file| downward_file(errors, &at, file));
                items.iter().map(|file| tree::text(file, "path")).collect()
            }
            "serviceAccountToken" => {
                account_token(errors, &at, value);
                vec![tree::text(value, "path")]
            }
            _ => Vec::new(),
        };
        for file in files.into_iter().filter(|file| !file.is_empty()) {
            if taken.contains(&file) {
                let named = Some(tree::text(value, "name")).filter(|name| !name.is_empty()).unwrap_or(file);
                errors.invalid(path, named, "conflicting duplicate paths");
            }
            taken.push(file);
        }
    }
}

fn account_token(errors: &mut FieldErrors, path: &str, token: &Value) {
    let expiry = format!("{path}.expirationSeconds");
    match tree::at(token, "expirationSeconds").as_i64() {
        None => errors.required(expiry, ""),
        Some(seconds) if seconds < 600 => {
            errors.invalid(expiry, seconds, "may not specify a duration less than 10 minutes");
        }
        Some(seconds) if seconds > 1 << 32 => {
            errors.invalid(expiry, seconds, "may not specify a duration larger than 2^32 seconds");
        }
        Some(_) => {}
    }
    match tree::text(token, "path") {
        "" => errors.required(format!("{path}.path"), ""),
        file => not_reserved(errors, &format!("{path}.path"), file),
    }
}

/// `volumeMounts` and `volumeDevices` of a container.
pub(super) fn mounts(errors: &mut FieldErrors, container_path: &str, container: &Value, context: &Context) {
    let devices = tree::items(container, "volumeDevices");
    let path = format!("{container_path}.volumeMounts");
    let mut taken = Vec::new();
    for (index, mount) in tree::items(container, "volumeMounts").iter().enumerate() {
        let at = format!("{path}[{index}]");
        let (name, target) = (tree::text(mount, "name"), tree::text(mount, "mountPath"));
        if name.is_empty() {
            errors.required(format!("{at}.name"), "");
        }
        if !context.volumes.contains(&name) {
            errors.not_found(format!("{at}.name"), name);
        }
        if target.is_empty() {
            errors.required(format!("{at}.mountPath"), "");
        }
        if taken.contains(&target) {
            errors.invalid(format!("{at}.mountPath"), target, "must be unique");
        }
        taken.push(target);
        if devices.iter().any(|device| device["name"] == name) {
            errors.invalid(format!("{at}.name"), name, "must not already exist in volumeDevices");
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
    for (index, device) in devices.iter().enumerate() {
        let at = format!("{container_path}.volumeDevices[{index}]");
        let name = tree::text(device, "name");
        if !context.volumes.contains(&name) {
            errors.not_found(format!("{at}.name"), name);
        }
        if tree::text(device, "devicePath").is_empty() {
            errors.required(format!("{at}.devicePath"), "");
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

/// As [`descending`], and not one of the names that volumes use for themselves.
fn not_reserved(errors: &mut FieldErrors, path: &str, target: &str) {
    descending(errors, path, target);
    if target.starts_with("..") && !target.starts_with("../") {
        errors.invalid(path, target, "must not start with '..'");
    }
}
