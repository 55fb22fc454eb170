//! Signing requests, trust bundles and certificate requests of pods.
//!
//! Source: upstream's `pkg/apis/certificates/validation`.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use super::{FieldErrors, names, repeated, x509};
use crate::tree;

/// Conditions that can only be true.
const FINAL: [&str; 3] = ["Approved", "Denied", "Failed"];
/// The old name of no signer in particular.
const LEGACY: &str = "kubernetes.io/legacy-unknown";
const BUNDLE_LIMIT: usize = 1024 * 1024;

const USAGES: [&str; 23] = [
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];

/// What a change of a signing request may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Neither of the below.
    Plain,
    /// `/approval`: conditions Approved and Denied.
    Approval,
    /// `/status`: the certificate.
    Status,
}

/// `example.com/signer-name`.
pub fn signer_name(errors: &mut FieldErrors, path: &str, name: &str) {
    if name.is_empty() {
        return errors.required(path, "");
    }
    let Some((domain, rest)) = name.split_once('/').filter(|(_, rest)| !rest.contains('/')) else {
        return errors.invalid(
            path,
            name,
            "must be a fully qualified domain and path of the form 'example.com/signer-name'",
        );
    };
    if domain.len() > 253 {
        errors.too_long(path, 253);
    }
    let mut labels = |part: &str, rule: fn(&str) -> Vec<String>| {
        let bad = part.split('.').map(|label| (label, rule(label))).find(|(_, faults)| !faults.is_empty());
        let (label, faults) = bad.unwrap_or_default();
        let faults = faults.iter().map(|fault| format!("validating label {label:?}: {fault}")).collect();
        errors.each(path, part, faults);
    };
    labels(domain, names::label);
    labels(rest, names::subdomain);
    if !domain.contains('.') {
        errors.invalid(path, domain, "should be a domain with at least two segments separated by dots");
    }
    if name.len() > 571 {
        errors.too_long(path, 571);
    }
}

fn has_twice<'a>(texts: impl Iterator<Item = &'a str>) -> bool {
    repeated(texts).contains(&true)
}

/// Checks a signing request. What was wrong in `old` already is let be.
pub fn signing_request(errors: &mut FieldErrors, request: &Value, old: Option<&Value>) {
    let spec = tree::at(request, "spec");
    let before = |wrong: &dyn Fn(&Value) -> bool| old.is_some_and(wrong);
    let pem = tree::text(spec, "request");
    if let Err(fault) = x509::check_request(&x509::bytes(pem).unwrap_or_default()) {
        errors.invalid("spec.request", pem, fault);
    }
    let usages: Vec<&str> = tree::texts(spec, "usages").collect();
    if usages.is_empty() {
        errors.required("spec.usages", "");
    }
    let unknown = |request: &Value| tree::texts(request, "spec.usages").any(|usage| !USAGES.contains(&usage));
    let doubled = |request: &Value| has_twice(tree::texts(request, "spec.usages"));
    let (was_unknown, was_doubled) = (before(&unknown), before(&doubled));
    let again = repeated(&usages);
    for (index, usage) in usages.iter().enumerate() {
        let path = format!("spec.usages[{index}]");
        if !USAGES.contains(usage) && !was_unknown {
            errors.not_supported(path.clone(), *usage, &USAGES);
        }
        if again[index] && !was_doubled {
            errors.duplicate(path, *usage);
        }
    }
    let signer = tree::text(spec, "signerName");
    if signer == LEGACY && !before(&|old| tree::text(old, "spec.signerName") == LEGACY) {
        errors.invalid("spec.signerName", signer, "the legacy signerName is not allowed via this API version");
    } else {
        signer_name(errors, "spec.signerName", signer);
    }
    if let Some(seconds) = tree::at(spec, "expirationSeconds").as_i64().filter(|seconds| *seconds < 600) {
        let detail = "may not specify a duration less than 600 seconds (10 minutes)";
        errors.invalid("spec.expirationSeconds", seconds, detail);
    }
    conditions(errors, request, old);
    let certificate = tree::text(request, "status.certificate");
    let same = old.is_some_and(|old| tree::text(old, "status.certificate") == certificate);
    let was_bad = before(&|old| issued(tree::text(old, "status.certificate")).is_err());
    if !same
        && !was_bad
        && let Err(fault) = issued(certificate)
    {
        errors.invalid("status.certificate", "<certificate data>", fault);
    }
}

fn conditions(errors: &mut FieldErrors, request: &Value, old: Option<&Value>) {
    const PATH: &str = "status.conditions";
    let before = old.map_or(&[][..], |old| tree::items(old, PATH)).iter();
    let before: Vec<&str> = before.map(|condition| tree::text(condition, "type")).collect();
    let both = |types: &HashSet<&str>| ["Approved", "Denied"].iter().all(|kind| types.contains(kind));
    let was_doubled = has_twice(before.iter().copied());
    let before: HashSet<&str> = before.into_iter().collect();
    let mut seen = HashSet::new();
    for (index, condition) in tree::items(request, PATH).iter().enumerate() {
        let (path, kind) = (format!("{PATH}[{index}]"), tree::text(condition, "type"));
        if kind.is_empty() && !before.contains("") {
            errors.required(format!("{path}.type"), "");
        }
        let allowed: &[&str] = if FINAL.contains(&kind) { &["True"] } else { &["False", "True", "Unknown"] };
        match tree::text(condition, "status") {
            "" => errors.required(format!("{path}.status"), ""),
            status if !allowed.contains(&status) => errors.not_supported(format!("{path}.status"), status, allowed),
            _ => {}
        }
        let was_both = both(&seen);
        let doubled = !seen.insert(kind);
        if both(&seen) && !was_both && !both(&before) {
            errors.invalid(PATH, kind, "Approved and Denied conditions are mutually exclusive");
        }
        if doubled && !was_doubled {
            errors.duplicate(format!("{path}.type"), kind);
        }
    }
}

/// Checks an issued certificate: PEM in base64.
fn issued(certificate: &str) -> Result<(), String> {
    if certificate.is_empty() {
        return Ok(());
    }
    let pem = x509::bytes(certificate).unwrap_or_default();
    let blocks = x509::blocks(&String::from_utf8_lossy(&pem));
    for block in &blocks {
        if block.kind != "CERTIFICATE" {
            return Err(format!("only CERTIFICATE PEM blocks are allowed, found {:?}", block.kind));
        }
        if block.headers {
            return Err("no PEM block headers are permitted".to_owned());
        }
        x509::certificate(&block.der).ok_or("x509: malformed certificate")?;
    }
    if blocks.is_empty() { Err("must contain at least one CERTIFICATE PEM block".to_owned()) } else { Ok(()) }
}

/// Checks how a signing request changes.
pub fn signing_request_update(errors: &mut FieldErrors, new: &Value, old: &Value, change: Change) {
    signing_request(errors, new, Some(old));
    let of = |request: &Value, kind: &str| -> Vec<Value> {
        tree::items(request, "status.conditions").iter().filter(|c| c["type"] == kind).cloned().collect()
    };
    for kind in FINAL {
        if of(new, kind).len() < of(old, kind).len() {
            let detail = format!("updates may not remove a condition of type {kind:?}");
            errors.forbidden("status.conditions", detail);
        }
    }
    if change != Change::Approval {
        for kind in ["Approved", "Denied"] {
            let (had, has) = (of(old, kind), of(new, kind));
            if has.len() > had.len() {
                errors.forbidden("status.conditions", format!("updates may not add a condition of type {kind:?}"));
            } else if has.len() == had.len() && has != had {
                errors.forbidden("status.conditions", format!("updates may not modify a condition of type {kind:?}"));
            }
        }
    }
    let (had, has) = (tree::text(old, "status.certificate"), tree::text(new, "status.certificate"));
    if had != has && change != Change::Status {
        errors.forbidden("status.certificate", "updates may not set certificate content");
    } else if had != has && !had.is_empty() {
        errors.forbidden("status.certificate", "updates may not modify existing certificate content");
    }
}

/// The rule for the name of a trust bundle, which begins with its signer's.
pub fn trust_bundle_name(errors: &mut FieldErrors, name: &str, signer: &str) {
    const PATH: &str = "metadata.name";
    if signer.is_empty() {
        if name.contains(':') {
            let detail = "ClusterTrustBundle without signer name must not have \":\" in its name";
            return errors.invalid(PATH, name, detail);
        }
        return errors.each(PATH, name, names::subdomain(name));
    }
    let prefix = format!("{}:", signer.replace('/', ":"));
    match name.strip_prefix(&prefix) {
        Some(rest) => errors.each(PATH, name, names::subdomain(rest)),
        None => {
            let detail = format!("ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}");
            errors.invalid(PATH, name, detail);
        }
    }
}

/// Checks the anchors of a trust bundle: certificates of CAs, each once.
pub fn trust_bundle(errors: &mut FieldErrors, path: &str, text: &str) {
    const OMITTED: &str = "<value omitted>";
    if text.len() > BUNDLE_LIMIT {
        return errors.too_long(path, BUNDLE_LIMIT);
    }
    let mut anchors: BTreeMap<Vec<u8>, Vec<String>> = BTreeMap::new();
    let before = errors.0.len();
    for (index, block) in x509::blocks(text).into_iter().enumerate() {
        let fault = if block.kind != "CERTIFICATE" {
            format!("has bad block type: {}", block.kind)
        } else if block.headers {
            "has PEM block headers".to_owned()
        } else {
            match x509::certificate(&block.der).map(|certificate| certificate.is_ca()) {
                None => "does not parse as X.509".to_owned(),
                Some(false) => "does not have the CA bit set".to_owned(),
                Some(true) => {
                    anchors.entry(block.der).or_default().push(index.to_string());
                    continue;
                }
            }
        };
        errors.invalid(path, OMITTED, format!("entry {index} {fault}"));
    }
    if errors.0.len() > before {
        return;
    }
    if anchors.is_empty() {
        errors.invalid(path, OMITTED, "at least one trust anchor must be provided");
    }
    for indices in anchors.values().filter(|indices| indices.len() > 1) {
        errors.invalid(path, OMITTED, format!("duplicate trust anchor (indices [{}])", indices.join(" ")));
    }
}
