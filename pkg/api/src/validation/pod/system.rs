//! What a pod may say for its operating system, and Windows' own options.

use serde_json::Value;

use super::all_containers;
use crate::{
    tree,
    validation::{FieldErrors, names},
};

const FOREIGN: &str = "cannot be set for a windows pod";
/// Fields that a Windows pod may not set.
const NOT_WINDOWS: [&str; 15] = [
    "securityContext.appArmorProfile",
    "securityContext.seLinuxOptions",
    "securityContext.seccompProfile",
    "securityContext.fsGroup",
    "securityContext.fsGroupChangePolicy",
    "securityContext.sysctls",
    "securityContext.runAsUser",
    "securityContext.runAsGroup",
    "securityContext.supplementalGroups",
    "securityContext.supplementalGroupsPolicy",
    "securityContext.seLinuxChangePolicy",
    "hostUsers",
    "hostPID",
    "hostIPC",
    "shareProcessNamespace",
];
/// Fields of the security context that its containers may not set.
const NOT_WINDOWS_CONTAINER: [&str; 10] = [
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
];

/// Checks `os`, and what it excludes.
pub(super) fn system(errors: &mut FieldErrors, path: &str, spec: &Value) {
    if !tree::has(spec, "os") {
        return;
    }
    match tree::text(spec, "os.name") {
        "" => errors.required(format!("{path}.os.name"), ""),
        "linux" => {
            let detail = "windows options cannot be set for a linux pod";
            if tree::has(spec, "securityContext.windowsOptions") {
                errors.forbidden(format!("{path}.securityContext.windowsOptions"), detail);
            }
            for (path, container) in all_containers(path, spec) {
                if tree::has(container, "securityContext.windowsOptions") {
                    errors.forbidden(format!("{path}.securityContext.windowsOptions"), detail);
                }
            }
        }
        "windows" => {
            let set = |value: &Value| !matches!(value, Value::Null | Value::Bool(false));
            for field in NOT_WINDOWS {
                let value = tree::at(spec, field);
                let given =
                    if field.starts_with("host") && field != "hostUsers" { set(value) } else { !value.is_null() };
                if given {
                    errors.forbidden(format!("{path}.{field}"), FOREIGN);
                }
            }
            for (path, container) in all_containers(path, spec) {
                for field in NOT_WINDOWS_CONTAINER {
                    if tree::has(container, &format!("securityContext.{field}")) {
                        errors.forbidden(format!("{path}.securityContext.{field}"), FOREIGN);
                    }
                }
            }
        }
        other => errors.not_supported(format!("{path}.os"), other, &["linux", "windows"]),
    }
}

/// Checks `windowsOptions` of a security context.
pub(super) fn windows_options(errors: &mut FieldErrors, path: &str, options: &Value) {
    if let Some(name) = options["gmsaCredentialSpecName"].as_str() {
        errors.each(format!("{path}.gmsaCredentialSpecName"), name, names::subdomain(name));
    }
    if let Some(spec) = options["gmsaCredentialSpec"].as_str() {
        let fault = match spec.len() {
            0 => Some("gmsaCredentialSpec cannot be an empty string"),
            length if length > 64 * 1024 => Some("gmsaCredentialSpec size must be under 64 KiB"),
            _ => None,
        };
        if let Some(fault) = fault {
            errors.invalid(format!("{path}.gmsaCredentialSpec"), spec, fault);
        }
    }
    if let Some(name) = options["runAsUserName"].as_str() {
        for fault in user_faults(name) {
            errors.invalid(format!("{path}.runAsUserName"), name, format!("runAsUserName{fault}"));
        }
    }
}

/// `DOMAIN\user`
fn user_faults(name: &str) -> Vec<&'static str> {
    let parts: Vec<_> = name.split('\\').collect();
    if name.is_empty() {
        return vec![" cannot be an empty string"];
    }
    if name.chars().any(|c| c.is_ascii_control()) {
        return vec![" cannot contain control characters"];
    }
    let (domain, user) = match parts[..] {
        [user] => (None, user),
        [domain, user] => (Some(domain), user),
        _ => return vec![" cannot contain more than one backslash"],
    };
    let mut faults = Vec::new();
    if domain.is_some_and(|domain| domain.len() >= 256) {
        faults.push("'s Domain length must be under 256 characters");
    }
    let net_bios = |domain: &str| {
        let odd = |c: char| "\\/:*?\"<>|".contains(c);
        (1..=15).contains(&domain.chars().count()) && !domain.starts_with('.') && !domain.contains(odd)
    };
    let dns = |domain: &str| names::subdomain(&domain.to_lowercase()).is_empty();
    if domain.is_some_and(|domain| !net_bios(domain) && !dns(domain)) {
        faults.push("'s Domain doesn't match the NetBios nor the DNS format");
    }
    match user.len() {
        0 => faults.push("'s User cannot be empty"),
        length if length > 104 => faults.push("'s User length must not be longer than 104 characters"),
        _ => {}
    }
    if !user.is_empty() && user.chars().all(|c| c == '.' || c == ' ') {
        faults.push("'s User cannot contain only periods or spaces");
    }
    if user.contains(|c: char| "\"/\\:;|=,+*?<>@[]".contains(c)) {
        faults.push("'s User cannot contain the following characters: \"/\\:;|=,+*?<>@[]");
    }
    faults
}

/// Checks host processes: all containers of a pod, or none.
pub(super) fn host_processes(errors: &mut FieldErrors, path: &str, spec: &Value) {
    const FIELD: &str = "securityContext.windowsOptions.hostProcess";
    let of_pod = tree::at(spec, FIELD).as_bool();
    let (mut all, mut host) = (0, 0);
    for (path, container) in all_containers(path, spec) {
        all += 1;
        let own = tree::at(container, FIELD).as_bool();
        if let (Some(of_pod), Some(own)) = (of_pod, own)
            && of_pod != own
        {
            let detail = format!("pod hostProcess value must be identical if both are specified, was {of_pod}");
            errors.invalid(format!("{path}.{FIELD}"), own, detail);
        }
        host += usize::from(own.or(of_pod) == Some(true));
    }
    if host == 0 {
        return;
    }
    if host != all {
        let detail = "If pod contains any hostProcess containers then all containers must be HostProcess containers";
        errors.invalid(path, "", detail);
    }
    if !tree::flag(spec, "hostNetwork") {
        let detail = "hostNetwork must be true if pod contains any hostProcess containers";
        errors.invalid(format!("{path}.hostNetwork"), false, detail);
    }
}
