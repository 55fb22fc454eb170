//! Environment variables and what they are taken from.

use serde_json::Value;

use crate::{
    tree,
    validation::{FieldErrors, names, volume},
};

const ENV_FIELDS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];
pub(super) const VOLUME_FIELDS: [&str; 5] =
    ["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];
const RESOURCE_FIELDS: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];
const SOURCES: [&str; 5] = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];

pub(super) fn env(errors: &mut FieldErrors, path: &str, container: &Value) {
    for (index, variable) in tree::items(container, "env").iter().enumerate() {
        let path = format!("{path}[{index}]");
        match tree::text(variable, "name") {
            "" => errors.required(format!("{path}.name"), ""),
            name => errors.each(format!("{path}.name"), name, names::environment(name)),
        }
        let from = tree::at(variable, "valueFrom");
        if !from.is_null() {
            value_from(errors, &format!("{path}.valueFrom"), from, !tree::text(variable, "value").is_empty());
        }
    }
}

fn value_from(errors: &mut FieldErrors, path: &str, from: &Value, has_value: bool) {
    let given: Vec<_> = SOURCES.into_iter().filter(|source| tree::has(from, source)).collect();
    for source in &given {
        let (path, reference) = (format!("{path}.{source}"), tree::at(from, source));
        match *source {
            "fieldRef" => field_reference(errors, &path, reference, &ENV_FIELDS),
            "resourceFieldRef" => resource_reference(errors, &path, reference, false),
            "fileKeyRef" => file_reference(errors, &path, reference),
            _ => key_reference(errors, &path, reference),
        }
    }
    match given.len() {
        0 => errors.invalid(
            path,
            "",
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
        ),
        _ if has_value => errors.invalid(path, "", "may not be specified when `value` is not empty"),
        1 => {}
        _ => errors.invalid(path, "", "may not have more than one field specified at a time"),
    }
}

/// A field of the pod, for variables or files.
pub(super) fn field_reference(errors: &mut FieldErrors, path: &str, reference: &Value, allowed: &[&str]) {
    if tree::text(reference, "apiVersion").is_empty() {
        return errors.required(format!("{path}.apiVersion"), "");
    }
    let field = tree::text(reference, "fieldPath");
    if field.is_empty() {
        return errors.required(format!("{path}.fieldPath"), "");
    }
    let subscript = field.strip_suffix("']").and_then(|field| field.split_once("['"));
    match subscript {
        Some(("metadata.annotations", key)) => errors.each(path, key, names::qualified(&key.to_lowercase())),
        Some(("metadata.labels", key)) => errors.each(path, key, names::qualified(key)),
        Some((field, _)) => errors.invalid(path, field, "does not support subscript"),
        None if allowed.contains(&field) => {}
        None if ENV_FIELDS.contains(&field) || VOLUME_FIELDS.contains(&field) => {
            errors.not_supported(format!("{path}.fieldPath"), field, allowed);
        }
        None => {
            let detail = format!("error converting fieldPath: field label not supported: {field}");
            errors.invalid(format!("{path}.fieldPath"), field, detail);
        }
    }
}

/// A resource of a container; files must name the container.
pub(super) fn resource_reference(errors: &mut FieldErrors, path: &str, reference: &Value, file: bool) {
    let resource = tree::text(reference, "resource");
    let huge_pages = resource.starts_with("limits.hugepages-") || resource.starts_with("requests.hugepages-");
    if file && tree::text(reference, "containerName").is_empty() {
        errors.required(format!("{path}.containerName"), "");
    } else if resource.is_empty() {
        errors.required(format!("{path}.resource"), "");
    } else if !RESOURCE_FIELDS.contains(&resource) && !huge_pages {
        errors.not_supported(format!("{path}.resource"), resource, &RESOURCE_FIELDS);
    }
    let divisor = match tree::at(reference, "divisor") {
        Value::String(text) => text.clone(),
        Value::Null => return,
        other => other.to_string(),
    };
    const SIZES: [&str; 13] = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];
    let (allowed, what): (&[&str], _) = match resource {
        "limits.cpu" | "requests.cpu" => (&["1m", "1"], "cpu"),
        "limits.memory" | "requests.memory" => (&SIZES, "memory"),
        "limits.ephemeral-storage" | "requests.ephemeral-storage" => (&SIZES, "local ephemeral storage"),
        _ if huge_pages => (&SIZES, "hugepages"),
        _ => return,
    };
    if divisor != "0" && !allowed.contains(&&*divisor) {
        let values = if what == "cpu" { "1m and 1".to_owned() } else { allowed.join(", ") };
        let detail = format!("only divisor's values {values} are supported with the {what} resource");
        errors.invalid(format!("{path}.divisor"), resource, detail);
    }
}

fn key_reference(errors: &mut FieldErrors, path: &str, reference: &Value) {
    let name = tree::text(reference, "name");
    errors.each(format!("{path}.name"), name, names::subdomain(name));
    match tree::text(reference, "key") {
        "" => errors.required(format!("{path}.key"), ""),
        key => errors.each(format!("{path}.key"), key, names::config_key(key)),
    }
}

fn file_reference(errors: &mut FieldErrors, path: &str, reference: &Value) {
    match tree::text(reference, "key") {
        "" => errors.required(format!("{path}.key"), ""),
        key => errors.each(format!("{path}.key"), key, names::environment(key)),
    }
    match tree::text(reference, "volumeName") {
        "" => errors.required(format!("{path}.volumeName"), ""),
        name => errors.each(format!("{path}.volumeName"), name, names::label(name)),
    }
    match tree::text(reference, "path") {
        "" => errors.required(format!("{path}.path"), ""),
        file => volume::no_backsteps(errors, format!("{path}.path"), file),
    }
}

pub(super) fn env_from(errors: &mut FieldErrors, path: &str, container: &Value) {
    for (index, source) in tree::items(container, "envFrom").iter().enumerate() {
        let at = format!("{path}[{index}]");
        let prefix = tree::text(source, "prefix");
        if !prefix.is_empty() {
            errors.each(format!("{at}.prefix"), prefix, names::environment(prefix));
        }
        let mut given = 0;
        for field in ["configMapRef", "secretRef"].into_iter().filter(|field| tree::has(source, field)) {
            given += 1;
            let path = format!("{at}.{field}.name");
            match tree::text(tree::at(source, field), "name") {
                "" => errors.required(path, ""),
                name => errors.each(path, name, names::NAME.prefix_faults(name)),
            }
        }
        match given {
            0 => errors.invalid(path, "", "must specify one of: `configMapRef` or `secretRef`"),
            1 => {}
            _ => errors.invalid(path, "", "may not have more than one field specified at a time"),
        }
    }
}
