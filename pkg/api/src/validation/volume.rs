//! Checks of volume sources that pods and PersistentVolumes have in common, most of them of storage
//! systems of former times.
//!
//! Source: `pkg/apis/core/validation/validation.go`.

use serde_json::Value;

use super::{FieldErrors, names};
use crate::tree;

const SEVERAL: &str = "may not specify more than 1 volume type";
const PORTAL: &str = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if \
                      iscsi.initiatorName is specified.";

/// Fields that a source must have, of any type.
const REQUIRED: [(&str, &[&str]); 15] = [
    ("gcePersistentDisk", &["pdName"]),
    ("awsElasticBlockStore", &["volumeID"]),
    ("nfs", &["server", "path"]),
    ("glusterfs", &["endpoints", "path"]),
    ("rbd", &["monitors", "image"]),
    ("cinder", &["volumeID"]),
    ("cephfs", &["monitors"]),
    ("flexVolume", &["driver"]),
    ("azureFile", &["secretName", "shareName"]),
    ("azureDisk", &["diskName", "diskURI"]),
    ("vsphereVolume", &["volumePath"]),
    ("photonPersistentDisk", &["pdID"]),
    ("portworxVolume", &["volumeID"]),
    ("scaleIO", &["gateway", "system", "volumeName"]),
    ("gitRepo", &["repository"]),
];

/// Checks the sources among `kinds` that `holder` has, of which it may have one. `each` checks one
/// at its path. Answers with the one.
pub fn one_source<'a>(
    errors: &mut FieldErrors,
    path: &str,
    holder: &Value,
    kinds: &[&'a str],
    mut each: impl FnMut(&mut FieldErrors, &str, &str, &Value),
) -> Option<&'a str> {
    let mut first = None;
    for kind in kinds.iter().filter(|kind| tree::has(holder, kind)) {
        if first.is_some() {
            let shown = if *kind == "cephfs" { "cephFS" } else { kind };
            errors.forbidden(format!("{path}.{shown}"), SEVERAL);
            continue;
        }
        first = Some(*kind);
        let shown = if *kind == "gcePersistentDisk" { "persistentDisk" } else { kind };
        each(errors, &format!("{path}.{shown}"), kind, tree::at(holder, kind));
    }
    if first.is_none() {
        errors.required(path, "must specify a volume type");
    }
    first
}

/// Checks a source. `volume` is the name of the volume; `persistent` if it is that of a
/// PersistentVolume.
pub fn source(errors: &mut FieldErrors, path: &str, kind: &str, source: &Value, volume: &str, persistent: bool) {
    for field in REQUIRED.iter().filter(|(known, _)| *known == kind).flat_map(|(_, fields)| *fields) {
        required(errors, path, source, field);
    }
    match kind {
        "hostPath" => host_path(errors, path, source),
        "local" => match tree::text(source, "path") {
            "" => errors.required(format!("{path}.path"), ""),
            local => no_backsteps(errors, format!("{path}.path"), local),
        },
        "nfs" => {
            let export = tree::text(source, "path");
            if !export.starts_with('/') {
                errors.invalid(format!("{path}.path"), export, "must be an absolute path");
            }
        }
        "gitRepo" => descending(errors, &format!("{path}.directory"), tree::text(source, "directory")),
        "gcePersistentDisk" | "awsElasticBlockStore" => {
            let partition = tree::int(source, "partition");
            if !(0..=255).contains(&partition) {
                errors.each(format!("{path}.partition"), partition, names::in_range(partition, 1, 255));
            }
        }
        "iscsi" => iscsi(errors, path, source, volume, persistent),
        "fc" => fibre_channel(errors, path, source),
        "quobyte" => quobyte(errors, path, source),
        "flocker" => flocker(errors, path, source),
        "flexVolume" => flex(errors, path, source),
        "azureDisk" => azure_disk(errors, path, source),
        "azureFile" if persistent && source["secretNamespace"] == "" => {
            errors.required(format!("{path}.secretNamespace"), "");
        }
        "glusterfs" if persistent => {
            let at = format!("{path}.endpointsNamespace");
            match source["endpointsNamespace"].as_str() {
                None => {}
                Some("") => {
                    let detail = "if the endpointnamespace is set, it must be a valid namespace name";
                    errors.invalid(at, "", detail);
                }
                Some(namespace) => errors.each(at, namespace, names::label(namespace)),
            }
        }
        "cinder" => secret(errors, path, source, persistent),
        "storageos" => storageos(errors, path, source, persistent),
        _ => {}
    }
}

fn required(errors: &mut FieldErrors, path: &str, source: &Value, field: &str) {
    let value = tree::at(source, field);
    if value.is_null() || value == "" || value.as_array().is_some_and(Vec::is_empty) {
        errors.required(format!("{path}.{field}"), "");
    }
}

fn secret(errors: &mut FieldErrors, path: &str, source: &Value, persistent: bool) {
    let secret = tree::at(source, "secretRef");
    if secret.is_null() {
        return;
    }
    let fields: &[&str] = if persistent { &["name", "namespace"] } else { &["name"] };
    for field in fields {
        required(errors, &format!("{path}.secretRef"), secret, field);
    }
}

fn host_path(errors: &mut FieldErrors, path: &str, source: &Value) {
    const KINDS: [&str; 8] =
        ["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];
    let host = tree::text(source, "path");
    if host.is_empty() {
        return errors.required(format!("{path}.path"), "");
    }
    no_backsteps(errors, format!("{path}.path"), host);
    let kind = tree::text(source, "type");
    if !KINDS.contains(&kind) {
        errors.not_supported(format!("{path}.type"), kind, &KINDS);
    }
}

/// `iqn.YYYY-MM.NAME:MORE`, `eui.` with 16 or `naa.` with 32 characters.
fn initiator_fault(name: &str) -> bool {
    let alphanumeric =
        |text: &str, length: usize| text.len() == length && text.bytes().all(|c| c.is_ascii_alphanumeric());
    let rest = |name: &str| name.get(4..).unwrap_or_default().to_owned();
    match name.get(..3) {
        Some("eui") => !alphanumeric(&rest(name), 16),
        Some("naa") => !alphanumeric(&rest(name), 32),
        _ => {
            let Some((authority, unique)) = name.strip_prefix("iqn.").and_then(|rest| rest.split_once(':')) else {
                return true;
            };
            let mut parts = authority.splitn(2, '.');
            let date = parts.next().unwrap_or_default().as_bytes();
            let dated = date.len() == 7
                && date.iter().enumerate().all(|(at, c)| if at == 4 { *c == b'-' } else { c.is_ascii_digit() });
            let domain = parts.next().unwrap_or_default();
            let named = !domain.is_empty() && domain.bytes().all(|c| c.is_ascii_alphanumeric() || b"-.".contains(&c));
            let clean = !unique.is_empty() && !unique.contains(|c: char| ",;*&$|".contains(c) || c.is_whitespace());
            !(dated && named && clean)
        }
    }
}

fn iscsi(errors: &mut FieldErrors, path: &str, source: &Value, volume: &str, persistent: bool) {
    let known = |name: &str| ["iqn", "eui", "naa"].iter().any(|prefix| name.starts_with(prefix));
    let foreign =
        if persistent { "must be valid format" } else { "must be valid format starting with iqn, eui, or naa" };
    required(errors, path, source, "targetPortal");
    let portal = tree::text(source, "targetPortal");
    let initiator = source["initiatorName"].as_str();
    let long = initiator.is_some() && volume.len() + 1 + portal.len() > 64;
    if long && persistent {
        errors.invalid(format!("{path}.targetportal"), portal, PORTAL);
    }
    match tree::text(source, "iqn") {
        "" => errors.required(format!("{path}.iqn"), ""),
        iqn if !known(iqn) => errors.invalid(format!("{path}.iqn"), iqn, foreign),
        iqn if initiator_fault(iqn) => errors.invalid(format!("{path}.iqn"), iqn, "must be valid format"),
        _ => {}
    }
    lun(errors, path, tree::int(source, "lun"));
    let authenticates = ["chapAuthDiscovery", "chapAuthSession"].iter().any(|field| tree::flag(source, field));
    if authenticates && !tree::has(source, "secretRef") {
        errors.required(format!("{path}.secretRef"), "");
    }
    if persistent && tree::has(source, "secretRef") {
        required(errors, &format!("{path}.secretRef"), tree::at(source, "secretRef"), "name");
    }
    if let Some(name) = initiator {
        let at = format!("{path}.initiatorname");
        if !known(name) {
            errors.invalid(at, name, foreign);
        } else if initiator_fault(name) {
            errors.invalid(at, name, "must be valid format");
        }
    }
    if long && !persistent {
        let holder = path.strip_suffix(".iscsi").unwrap_or(path);
        errors.invalid(format!("{holder}.name"), volume, PORTAL);
    }
}

fn lun(errors: &mut FieldErrors, path: &str, lun: i64) {
    errors.each(format!("{path}.lun"), lun, names::in_range(lun, 0, 255));
}

fn fibre_channel(errors: &mut FieldErrors, path: &str, source: &Value) {
    let at = format!("{path}.targetWWNs");
    let (targets, ids) = (tree::items(source, "targetWWNs"), tree::items(source, "wwids"));
    if targets.is_empty() && ids.is_empty() {
        errors.required(at.clone(), "must specify either targetWWNs or wwids, but not both");
    }
    if targets.is_empty() {
        return;
    }
    if !ids.is_empty() {
        errors.invalid(at, targets.to_vec(), "targetWWNs and wwids can not be specified simultaneously");
    }
    match source["lun"].as_i64() {
        None => errors.required(format!("{path}.lun"), "lun is required if targetWWNs is specified"),
        Some(number) => lun(errors, path, number),
    }
}

fn quobyte(errors: &mut FieldErrors, path: &str, source: &Value) {
    const REGISTRY: &str = "must be a host:port pair or multiple pairs separated by commas";
    let registry = tree::text(source, "registry");
    if registry.is_empty() {
        errors.required(format!("{path}.registry"), REGISTRY);
    } else if tree::text(source, "tenant").len() >= 65 {
        errors.required(format!("{path}.tenant"), "must be a UUID and may not exceed a length of 64 characters");
    } else {
        for _ in registry.split(',').filter(|pair| !pair.contains(':')) {
            errors.invalid(format!("{path}.registry"), registry, REGISTRY);
        }
    }
    required(errors, path, source, "volume");
}

fn flocker(errors: &mut FieldErrors, path: &str, source: &Value) {
    let (name, id) = (tree::text(source, "datasetName"), tree::text(source, "datasetUUID"));
    match (name.is_empty(), id.is_empty()) {
        (true, true) => errors.required(path, "one of datasetName and datasetUUID is required"),
        (false, false) => {
            errors.invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously");
        }
        _ => {}
    }
    if name.contains('/') {
        errors.invalid(format!("{path}.datasetName"), name, "must not contain '/'");
    }
}

fn flex(errors: &mut FieldErrors, path: &str, source: &Value) {
    for (key, _) in tree::entries(source, "options") {
        let namespace = format!(".{}", key.split_once('/').map_or(key, |(namespace, _)| namespace).to_lowercase());
        if namespace.ends_with(".kubernetes.io") || namespace.ends_with(".k8s.io") {
            let detail = "kubernetes.io and k8s.io namespaces are reserved";
            errors.invalid(format!("{path}.options[{key}]"), key, detail);
        }
    }
}

fn azure_disk(errors: &mut FieldErrors, path: &str, source: &Value) {
    const MANAGED: &str =
        "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
    const BLOB: &str = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";
    let sets: [(&str, &[&str]); 2] =
        [("cachingMode", &["None", "ReadOnly", "ReadWrite"]), ("kind", &["Dedicated", "Managed", "Shared"])];
    for (field, allowed) in sets {
        if let Some(text) = source[field].as_str().filter(|text| !allowed.contains(text)) {
            errors.not_supported(format!("{path}.{field}"), text, allowed);
        }
    }
    let uri = tree::text(source, "diskURI");
    match source["kind"].as_str() {
        Some("Managed") if !uri.starts_with("/subscriptions/") => {
            errors.not_supported(format!("{path}.diskURI"), uri, &[MANAGED]);
        }
        Some(kind) if kind != "Managed" && !uri.starts_with("https://") => {
            errors.not_supported(format!("{path}.diskURI"), uri, &[BLOB]);
        }
        _ => {}
    }
}

fn storageos(errors: &mut FieldErrors, path: &str, source: &Value, persistent: bool) {
    required(errors, path, source, "volumeName");
    for field in ["volumeName", "volumeNamespace"] {
        let name = tree::text(source, field);
        if !name.is_empty() {
            errors.each(format!("{path}.{field}"), name, names::label(name));
        }
    }
    secret(errors, path, source, persistent);
}

/// The name of a driver.
pub fn driver_name(errors: &mut FieldErrors, path: &str, name: &str) {
    if name.is_empty() {
        return errors.required(path, "");
    }
    if name.len() > 63 {
        errors.too_long(path, 63);
    }
    errors.each(path, name, names::subdomain(&name.to_lowercase()));
}

/// A relative path that does not lead upwards.
pub fn descending(errors: &mut FieldErrors, path: &str, target: &str) {
    if target.starts_with('/') {
        errors.invalid(path, target, "must be a relative path");
    }
    no_backsteps(errors, path, target);
}

/// A path that does not lead upwards.
pub fn no_backsteps(errors: &mut FieldErrors, path: impl Into<String>, target: &str) {
    if target.split('/').any(|part| part == "..") {
        errors.invalid(path, target, "must not contain '..'");
    }
}
