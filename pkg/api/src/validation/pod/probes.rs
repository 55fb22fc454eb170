//! Probes and lifecycle handlers.

use serde_json::Value;

use super::{one_of, one_of_given};
use crate::{
    tree,
    validation::{FieldErrors, names, resources},
};

const PROBE_HANDLERS: [&str; 4] = ["exec", "httpGet", "tcpSocket", "grpc"];
const LIFECYCLE_HANDLERS: [&str; 4] = ["exec", "httpGet", "tcpSocket", "sleep"];

pub(super) fn probes(errors: &mut FieldErrors, path: &str, container: &Value, grace: Option<i64>) {
    for field in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let (probe, path) = (tree::at(container, field), format!("{path}.{field}"));
        if probe.is_null() {
            continue;
        }
        handler(errors, &path, probe, &PROBE_HANDLERS, grace);
        for number in ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"]
        {
            resources::not_negative(errors, probe, &path, number);
        }
        let own_grace = tree::at(probe, "terminationGracePeriodSeconds").as_i64();
        if let Some(seconds) = own_grace.filter(|seconds| *seconds <= 0) {
            errors.invalid(format!("{path}.terminationGracePeriodSeconds"), seconds, "must be greater than 0");
        }
        let successes = tree::int(probe, "successThreshold");
        if field == "readinessProbe" {
            if let Some(seconds) = own_grace {
                let detail = "must not be set for readinessProbes";
                errors.invalid(format!("{path}.terminationGracePeriodSeconds"), seconds, detail);
            }
        } else if successes != 1 {
            errors.invalid(format!("{path}.successThreshold"), successes, "must be 1");
        }
    }
}

pub(super) fn lifecycle(errors: &mut FieldErrors, path: &str, container: &Value, grace: Option<i64>) {
    for field in ["postStart", "preStop"] {
        let hook = tree::at(tree::at(container, "lifecycle"), field);
        if !hook.is_null() {
            handler(errors, &format!("{path}.lifecycle.{field}"), hook, &LIFECYCLE_HANDLERS, grace);
        }
    }
}

fn handler(errors: &mut FieldErrors, path: &str, of: &Value, kinds: &[&str], grace: Option<i64>) {
    let mut given = kinds.iter().filter(|kind| tree::has(of, kind));
    let Some(first) = given.next() else { return errors.required(path, "must specify a handler type") };
    action(errors, &format!("{path}.{first}"), first, tree::at(of, first), grace);
    for other in given {
        errors.forbidden(format!("{path}.{other}"), "may not specify more than 1 handler type");
    }
}

fn action(errors: &mut FieldErrors, path: &str, kind: &str, action: &Value, grace: Option<i64>) {
    match kind {
        "exec" if tree::items(action, "command").is_empty() => errors.required(format!("{path}.command"), ""),
        "httpGet" => http(errors, path, action),
        "tcpSocket" | "grpc" => port(errors, format!("{path}.port"), tree::at(action, "port")),
        "sleep" => {
            let seconds = tree::int(action, "seconds");
            if let Some(grace) = grace.filter(|grace| seconds < 0 || seconds > *grace) {
                let detail = format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
                errors.invalid(path, seconds, detail);
            }
        }
        _ => {}
    }
}

fn http(errors: &mut FieldErrors, path: &str, action: &Value) {
    if tree::text(action, "path").is_empty() {
        errors.required(format!("{path}.path"), "");
    }
    port(errors, format!("{path}.port"), tree::at(action, "port"));
    match tree::text(action, "scheme") {
        "" => errors.not_supported(format!("{path}.scheme"), "", &["HTTP", "HTTPS"]),
        _ => one_of(errors, path, action, "scheme", &["HTTP", "HTTPS"]),
    }
    for header in tree::items(action, "httpHeaders") {
        let name = tree::text(header, "name");
        errors.each(format!("{path}.httpHeaders"), name, names::http_header(name));
    }
    one_of_given(errors, &format!("{path}.protocol"), tree::text(action, "protocol"), &["HTTP1", "HTTP2"]);
}

/// A port by number or by name.
pub(in crate::validation) fn port(errors: &mut FieldErrors, path: impl Into<String>, port: &Value) {
    match port {
        Value::String(name) => errors.each(path, name.as_str(), names::port_name(name)),
        number => {
            let number = number.as_i64().unwrap_or_default();
            errors.each(path, number, names::port_number(number));
        }
    }
}
