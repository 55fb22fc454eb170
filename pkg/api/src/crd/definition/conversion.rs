//! Conversion between versions: none, or a webhook, which is stored but not called yet.

use serde_json::Value;

use crate::{
    tree,
    validation::{FieldErrors, admission},
};

const PATH: &str = "spec.conversion";
const CONFIG: &str = "spec.conversion.webhookClientConfig";
const VERSIONS: &str = "spec.conversion.conversionReviewVersions";

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
        (Some(address), None) => admission::web_address(errors, &format!("{CONFIG}.url"), address),
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

fn service(errors: &mut FieldErrors, service: &Value) {
    let path = format!("{CONFIG}.service");
    // Upstream takes one for the other, and clients see what it says.
    for (field, reported) in [("namespace", "name"), ("name", "namespace")] {
        if tree::text(service, field).is_empty() {
            errors.required(format!("{path}.{reported}"), "");
        }
    }
    admission::service_place(errors, &path, service);
}

fn review_versions(errors: &mut FieldErrors, versions: &[&str]) {
    if versions.is_empty() {
        errors.required(VERSIONS, "");
        return;
    }
    admission::each_version(errors, VERSIONS, versions, true);
}
