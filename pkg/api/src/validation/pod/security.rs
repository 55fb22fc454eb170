//! Security contexts of pods and containers.

use std::collections::HashSet;

use serde_json::Value;

use super::{all_containers, one_of_given, system::windows_options};
use crate::{
    tree,
    validation::{FieldErrors, names, volume},
};

/// Prefixes of sysctls that belong to the IPC namespace.
const IPC: [&str; 4] = ["kernel.shm", "kernel.msg", "kernel.sem", "fs.mqueue."];
const SYSCTL_PATTERN: &str = "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";

pub(super) fn of_pod(errors: &mut FieldErrors, spec_path: &str, spec: &Value) {
    let context = tree::at(spec, "securityContext");
    let path = format!("{spec_path}.securityContext");
    ids(errors, &path, context, &["fsGroup", "runAsUser", "runAsGroup"]);
    for (index, group) in tree::items(context, "supplementalGroups").iter().filter_map(Value::as_i64).enumerate() {
        errors.each(format!("{path}.supplementalGroups[{index}]"), group, names::id(group));
    }
    let mut seen = HashSet::new();
    for (index, sysctl) in tree::items(context, "sysctls").iter().enumerate() {
        let (at, name) = (format!("{path}.sysctls[{index}].name"), tree::text(sysctl, "name"));
        if name.is_empty() {
            errors.required(at, "");
        } else if !names::sysctl(name) {
            let detail = format!("must have at most 253 characters and match regex {SYSCTL_PATTERN}");
            errors.invalid(at, name, detail);
        } else if seen.contains(name) {
            errors.duplicate(at, name);
        }
        let dotted = name.replace('/', ".");
        if tree::flag(spec, "hostNetwork") && dotted.starts_with("net.") {
            let path = format!("{path}.sysctls[{index}].name");
            errors.invalid(path, name, "may not be specified when 'hostNetwork' is true");
        } else if tree::flag(spec, "hostIPC") && IPC.iter().any(|prefix| dotted.starts_with(prefix)) {
            errors.invalid(
                format!("{path}.sysctls[{index}].name"),
                name,
                "may not be specified when 'hostIPC' is true",
            );
        }
        seen.insert(name);
    }
    let policies: [(&str, &[&str]); 3] = [
        ("fsGroupChangePolicy", &["Always", "OnRootMismatch"]),
        ("supplementalGroupsPolicy", &["Merge", "Strict"]),
        ("seLinuxChangePolicy", &["MountOption", "Recursive"]),
    ];
    for (field, allowed) in policies {
        one_of_given(errors, &format!("{path}.{field}"), tree::text(context, field), allowed);
    }
    profile(errors, &format!("{path}.seccompProfile"), tree::at(context, "seccompProfile"));
    windows_options(errors, &format!("{path}.windowsOptions"), tree::at(context, "windowsOptions"));
    app_armor(errors, &format!("{path}.appArmorProfile"), tree::at(context, "appArmorProfile"));
    if tree::flag(spec, "shareProcessNamespace") && tree::flag(spec, "hostPID") {
        let detail = "ShareProcessNamespace and HostPID cannot both be enabled";
        errors.invalid(format!("{spec_path}.shareProcessNamespace"), true, detail);
    }
    if tree::at(spec, "hostUsers").as_bool() == Some(false) {
        for (field, reported) in [("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")] {
            if tree::flag(spec, field) {
                errors.forbidden(format!("{spec_path}.{reported}"), "when `hostUsers` is false");
            }
        }
        for (path, container) in all_containers(spec_path, spec) {
            if !tree::items(container, "volumeDevices").is_empty() {
                errors.forbidden(format!("{path}.volumeDevices"), "when `hostUsers` is false");
            }
        }
    }
}

pub(super) fn of_container(errors: &mut FieldErrors, path: &str, context: &Value, host_users: bool) {
    if context.is_null() {
        return;
    }
    ids(errors, path, context, &["runAsUser", "runAsGroup"]);
    let mount = tree::text(context, "procMount");
    one_of_given(errors, &format!("{path}.procMount"), mount, &["Default", "Unmasked"]);
    if host_users && mount == "Unmasked" {
        errors.invalid(format!("{path}.procMount"), mount, "`hostUsers` must be false to use `Unmasked`");
    }
    profile(errors, &format!("{path}.seccompProfile"), tree::at(context, "seccompProfile"));
    if tree::at(context, "allowPrivilegeEscalation").as_bool() == Some(false) {
        if tree::flag(context, "privileged") {
            let detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
            errors.invalid(path, context.clone(), detail);
        }
        if tree::texts(context, "capabilities.add").any(|capability| capability == "CAP_SYS_ADMIN") {
            let detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
            errors.invalid(path, context.clone(), detail);
        }
    }
    windows_options(errors, &format!("{path}.windowsOptions"), tree::at(context, "windowsOptions"));
    app_armor(errors, &format!("{path}.appArmorProfile"), tree::at(context, "appArmorProfile"));
}

fn app_armor(errors: &mut FieldErrors, path: &str, profile: &Value) {
    const UNSET: &str = "must be set when AppArmor type is Localhost";
    if profile.is_null() {
        return;
    }
    let (at, file) = (format!("{path}.localhostProfile"), profile["localhostProfile"].as_str());
    match (tree::text(profile, "type"), file) {
        ("Localhost", None) => errors.required(at, UNSET),
        ("Localhost", Some(file)) => {
            if file != file.trim() {
                errors.invalid(at.clone(), file, "must not be padded with whitespace");
            } else if file.is_empty() {
                errors.required(at.clone(), UNSET);
            }
            if file.len() > 4095 {
                errors.too_long(at, 4095);
            }
        }
        ("RuntimeDefault" | "Unconfined", Some(file)) => {
            errors.invalid(at, file, "can only be set when AppArmor type is Localhost");
        }
        ("RuntimeDefault" | "Unconfined", None) => {}
        ("", _) => errors.required(format!("{path}.type"), "type is required when appArmorProfile is set"),
        (other, _) => {
            errors.not_supported(format!("{path}.type"), other, &["Localhost", "RuntimeDefault", "Unconfined"]);
        }
    }
}

fn ids(errors: &mut FieldErrors, path: &str, context: &Value, fields: &[&str]) {
    for field in fields {
        if let Some(id) = tree::at(context, field).as_i64() {
            errors.each(format!("{path}.{field}"), id, names::id(id));
        }
    }
}

fn profile(errors: &mut FieldErrors, path: &str, profile: &Value) {
    if profile.is_null() {
        return;
    }
    let kind = tree::text(profile, "type");
    if kind.is_empty() {
        errors.required(format!("{path}.type"), "type is required when seccompProfile is set");
    }
    one_of_given(errors, &format!("{path}.type"), kind, &["Localhost", "RuntimeDefault", "Unconfined"]);
    let (path, file) = (format!("{path}.localhostProfile"), tree::at(profile, "localhostProfile"));
    match (kind, file.as_str()) {
        ("Localhost", None) => errors.required(path, "must be set when seccomp type is Localhost"),
        ("Localhost", Some(file)) => volume::descending(errors, &path, file),
        (_, Some(_)) => errors.invalid(path, profile.clone(), "can only be set when seccomp type is Localhost"),
        (_, None) => {}
    }
}
