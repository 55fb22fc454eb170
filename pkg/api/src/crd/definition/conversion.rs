//! Conversion between versions: none, or a webhook, which is stored but not called yet.

use serde_json::Value;

use crate::{
    tree,
    validation::{FieldErrors, names, repeated},
};

const PATH: &str = "spec.conversion";
const CONFIG: &str = "spec.conversion.webhookClientConfig";
const VERSIONS: &str = "spec.conversion.conversionReviewVersions";
const FORM: &str = "; desired format: https://host[/path]";

pub(super) fn conversion(errors: &mut FieldErrors, conversion: &Value, preserving: bool, checked: bool) {
    if conversion.is_null() {
        return;
    }
    let strategy = tree::text(conversion, "strategy");
    if strategy != "None" && preserving {
        let detail = "must be None if spec.preserveUnknownFields is true";
        errors.invalid(format!("{PATH}.strategy"), strategy, detail);
    }
    match strategy {
        "" => errors.required(format!("{PATH}.strategy"), ""),
        "None" | "Webhook" => {}
        other => errors.not_supported(format!("{PATH}.strategy"), other, &["None", "Webhook"]),
    }
    let config = tree::at(conversion, "webhook.clientConfig");
    let versions: Vec<_> = tree::texts(conversion, "webhook.conversionReviewVersions").collect();
    if strategy != "Webhook" {
        let detail = "should not be set when strategy is not set to Webhook";
        if !config.is_null() {
            errors.forbidden(CONFIG, detail);
        }
        if !versions.is_empty() {
            errors.forbidden(VERSIONS, detail);
        }
        return;
    }
    client(errors, config, checked);
    review_versions(errors, &versions);
}

fn client(errors: &mut FieldErrors, config: &Value, checked: bool) {
    if config.is_null() {
        errors.required(CONFIG, "required when strategy is set to Webhook");
        return;
    }
    match (config.get("url").and_then(Value::as_str), config.get("service").filter(|s| !s.is_null())) {
        (Some(address), None) => url(errors, address),
        (None, Some(service)) => self::service(errors, service),
        _ => errors.required(CONFIG, "exactly one of url or service is required"),
    }
    let bundle = tree::text(config, "caBundle");
    if checked && is_bad(bundle) {
        let detail = "unable to load root certificates: unable to parse bytes as PEM block";
        errors.invalid(format!("{CONFIG}.caBundle"), bundle, detail);
    }
}

/// Whether the webhook has certificates that are none.
pub(super) fn has_bad_bundle(conversion: &Value) -> bool {
    is_bad(tree::text(conversion, "webhook.clientConfig.caBundle"))
}

fn is_bad(encoded: &str) -> bool {
    use base64::Engine as _;
    let decoded = base64::engine::general_purpose::STANDARD.decode(encoded).unwrap_or_default();
    !encoded.is_empty() && !String::from_utf8_lossy(&decoded).contains("-----BEGIN CERTIFICATE-----")
}

fn url(errors: &mut FieldErrors, url: &str) {
    let path = format!("{CONFIG}.url");
    let (rest, fragment) = url.split_once('#').unwrap_or((url, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (scheme, rest) = rest.split_once("://").unwrap_or(("", rest));
    let authority = if scheme.is_empty() { "" } else { rest.split('/').next().unwrap_or_default() };
    let (user, host) = authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
    if scheme != "https" {
        errors.invalid(&*path, scheme, format!("'https' is the only allowed URL scheme{FORM}"));
    }
    if host.is_empty() {
        errors.invalid(&*path, host, format!("host must be specified{FORM}"));
    }
    if let Some(user) = user {
        errors.invalid(&*path, user, "user information is not permitted in the URL");
    }
    if !fragment.is_empty() {
        errors.invalid(&*path, fragment, "fragments are not permitted in the URL");
    }
    if !query.is_empty() {
        errors.invalid(&*path, query, "query parameters are not permitted in the URL");
    }
}

fn service(errors: &mut FieldErrors, service: &Value) {
    let path = format!("{CONFIG}.service");
    // Upstream takes one for the other, and clients see what it says.
    for (field, reported) in [("namespace", "name"), ("name", "namespace")] {
        if tree::text(service, field).is_empty() {
            errors.required(format!("{path}.{reported}"), "");
        }
    }
    let port = tree::int(service, "port");
    let faults = names::port_number(port);
    if !faults.is_empty() {
        errors.invalid(format!("{path}.port"), port, format!("port is not valid: {}", faults.join(", ")));
    }
    let text = tree::text(service, "path");
    let path = format!("{path}.path");
    match text {
        "" | "/" => return,
        "//" => return errors.invalid(path, text, "segment[0] may not be empty"),
        _ => {}
    }
    if !text.starts_with('/') {
        errors.invalid(&*path, text, "must start with a '/'");
    }
    let mut steps = text.chars();
    steps.next();
    let steps = steps.as_str();
    for (at, step) in steps.strip_suffix('/').unwrap_or(steps).split('/').enumerate() {
        if step.is_empty() {
            errors.invalid(&*path, text, format!("segment[{at}] may not be empty"));
            continue;
        }
        for fault in names::subdomain(step) {
            errors.invalid(&*path, text, format!("segment[{at}]: {fault}"));
        }
    }
}

fn review_versions(errors: &mut FieldErrors, versions: &[&str]) {
    if versions.is_empty() {
        errors.required(VERSIONS, "");
        return;
    }
    let again = repeated(versions);
    for (at, version) in versions.iter().enumerate() {
        let path = format!("{VERSIONS}[{at}]");
        if again[at] {
            errors.invalid(path, *version, "duplicate version");
        } else {
            errors.each(path, *version, names::label_1035(version));
        }
    }
    if !versions.iter().any(|version| ["v1", "v1beta1"].contains(version)) {
        errors.invalid(VERSIONS, versions.to_vec(), "must include at least one of v1, v1beta1");
    }
}
