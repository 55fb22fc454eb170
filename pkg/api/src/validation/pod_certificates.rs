//! Certificate requests of pods, and the certificates that answer them.
//!
//! Source: upstream's `pkg/apis/certificates/validation`. Whether a certificate begins about now is
//! looked at where there is a clock. Keys on P-521 are not known to the checker of signatures, so
//! that requests with them are refused.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::{
    FieldErrors,
    certificates::signer_name,
    conditions, names,
    x509::{self, Key},
};
use crate::tree;

const STUB: &str = "spec.stubPKCS10Request";
const STUB_LIMIT: usize = 10 * 1024;
const CHAIN: &str = "status.certificateChain";
const CHAIN_LIMIT: usize = 100 * 1024;
const UID_LIMIT: usize = 128;
const HOUR: i64 = 60 * 60;
const DAY: i64 = 24 * HOUR;
/// Between the beginning of a certificate and its refresh, and from there to its end.
const MARGIN: SignedDuration = SignedDuration::from_mins(10);
/// Conditions that end a request.
const FINAL: [&str; 3] = ["Issued", "Denied", "Failed"];

/// Checks a new request.
pub fn request(errors: &mut FieldErrors, request: &Value) {
    let spec = tree::at(request, "spec");
    let signer = tree::text(spec, "signerName");
    signer_name(errors, "spec.signerName", signer);
    user_annotations(errors, tree::at(spec, "unverifiedUserAnnotations"));
    for (field, uid) in [("podName", "podUID"), ("serviceAccountName", "serviceAccountUID"), ("nodeName", "nodeUID")] {
        let (name, id) = (tree::text(spec, field), tree::text(spec, uid));
        errors.each(format!("spec.{field}"), name, names::subdomain(name));
        if id.is_empty() {
            errors.invalid(format!("spec.{uid}"), id, "must not be empty");
        }
        if id.len() > UID_LIMIT {
            errors.too_long(format!("spec.{uid}"), UID_LIMIT);
        }
    }
    const LIFETIME: &str = "spec.maxExpirationSeconds";
    let Some(seconds) = tree::at(spec, "maxExpirationSeconds").as_i64() else {
        return errors.required(LIFETIME, "must be set");
    };
    let host = signer.split('/').next().unwrap_or_default();
    let own = host == "kubernetes.io" || host.ends_with(".kubernetes.io");
    let longest = if own { DAY } else { 91 * DAY };
    if !(HOUR..=longest).contains(&seconds) {
        errors.invalid(LIFETIME, seconds, format!("must be in the range [{HOUR}, {longest}]"));
    }
    match tree::text(spec, "stubPKCS10Request") {
        "" => {
            errors.unfit("spec", "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set")
        }
        stub => stub_request(errors, &x509::bytes(stub).unwrap_or_default()),
    }
}

fn user_annotations(errors: &mut FieldErrors, annotations: &Value) {
    const PATH: &str = "spec.unverifiedUserAnnotations";
    for (key, _) in annotations.as_object().into_iter().flatten() {
        names::prefixed_key(errors, PATH, &key.to_lowercase());
    }
    super::annotations(errors, PATH, &sizes(annotations));
}

/// The same sizes under a key that is right: only the size of all is left to be checked.
fn sizes(annotations: &Value) -> Value {
    let entries = annotations.as_object().into_iter().flatten();
    let all: usize = entries.map(|(key, value)| key.len() + value.as_str().map_or(0, str::len)).sum();
    serde_json::json!({"a": " ".repeat(all.saturating_sub(1))})
}

fn stub_request(errors: &mut FieldErrors, der: &[u8]) {
    if der.len() > STUB_LIMIT {
        return errors.too_long(STUB, STUB_LIMIT);
    }
    let Some(request) = x509::request(der) else { return errors.unfit(STUB, "must be a valid PKCS#10 CSR") };
    match x509::key(&request.certification_request_info.subject_pki) {
        Key::Ed25519 | Key::Curve("P-256" | "P-384" | "P-521") | Key::Rsa(3072 | 4096) => {}
        Key::Curve(name) => {
            let detail = "elliptic public keys must use curve P256, P384, or P521";
            return errors.invalid(STUB, format!("curve {name}"), detail);
        }
        Key::Rsa(bits) => {
            let detail = "RSA keys must have modulus size 3072 or 4096";
            return errors.invalid(STUB, format!("{bits}-bit modulus"), detail);
        }
        Key::Other => {
            return errors.unfit(STUB, "unknown public key type; supported types are Ed25519, ECDSA, and RSA");
        }
    }
    if request.verify_signature().is_err() {
        errors.unfit(STUB, "invalid signature");
    }
}

fn holds(request: &Value, kind: &str) -> bool {
    tree::items(request, "status.conditions").iter().any(|c| c["type"] == kind && c["status"] == "True")
}

/// Checks how a request is answered: once, and for good.
pub fn status(errors: &mut FieldErrors, new: &Value, old: &Value) {
    const PATH: &str = "status.conditions";
    let list = tree::items(new, PATH);
    let mut known = 0;
    for (index, condition) in list.iter().enumerate() {
        let (kind, status) = (tree::text(condition, "type"), tree::text(condition, "status"));
        if !FINAL.contains(&kind) {
            errors.not_supported(format!("{PATH}.[{index}].type"), kind, &FINAL);
            continue;
        }
        known += 1;
        if known > 1 {
            let detail = "There may be at most one condition with type \"Issued\", \"Denied\", or \"Failed\"";
            errors.invalid(format!("{PATH}.[{index}].type"), kind, detail);
        }
        if status != "True" {
            errors.not_supported(format!("{PATH}.[{index}].status"), status, &["True"]);
        }
    }
    conditions::conditions(errors, PATH, list);
    if !errors.is_empty() {
        return;
    }
    let (now, before) = (tree::at(new, "status"), tree::at(old, "status"));
    let others = ["certificateChain", "notBefore", "notAfter", "beginRefreshAt"];
    if FINAL.iter().any(|kind| holds(old, kind)) {
        if !tree::equal(now, before) {
            errors.unfit("status", "immutable after PodCertificateRequest is issued, denied, or failed");
        }
    } else if holds(new, "Denied") || holds(new, "Failed") {
        if others.iter().any(|field| !tree::equal(tree::at(now, field), &Value::Null)) {
            let detail = "non-condition status fields must be empty when denying or failing the PodCertificateRequest";
            errors.unfit("status", detail);
        }
    } else if holds(new, "Issued") {
        issued(errors, new, old);
    } else if !tree::equal(now, before) {
        errors.unfit("status", "status is immutable unless transitioning to \"Issued\", \"Denied\", or \"Failed\"");
    }
}

fn issued(errors: &mut FieldErrors, new: &Value, old: &Value) {
    let chain = tree::text(new, CHAIN);
    if chain.len() > CHAIN_LIMIT {
        return errors.too_long(CHAIN, CHAIN_LIMIT);
    }
    let blocks = x509::blocks(chain);
    let refuse = |errors: &mut FieldErrors, detail: &str| errors.invalid(CHAIN, chain, detail);
    let Some((leaf, rest)) = blocks.split_first() else {
        return refuse(errors, "issued certificate chain must contain at least one certificate");
    };
    if leaf.kind != "CERTIFICATE" {
        return refuse(errors, "issued certificate chain must consist entirely of CERTIFICATE PEM blocks");
    }
    let Some(certificate) = x509::certificate(&leaf.der) else {
        return refuse(errors, "leaf certificate does not parse as valid X.509");
    };
    let stub = x509::bytes(tree::text(old, STUB)).unwrap_or_default();
    let Some(request) = x509::request(&stub) else { return errors.unfit(STUB, "must be a valid PKCS#10 CSR") };
    if certificate.public_key().raw != request.certification_request_info.subject_pki.raw {
        return refuse(errors, "leaf certificate was not issued to the requested public key");
    }
    let validity = certificate.validity();
    let (begin, end) = (validity.not_before.timestamp(), validity.not_after.timestamp());
    if !times(errors, new, begin, end) {
        return;
    }
    let lifetime = end - begin;
    let longest = tree::int(new, "spec.maxExpirationSeconds");
    if lifetime < HOUR {
        return errors.invalid(CHAIN, lifetime, "leaf certificate lifetime must be >= 1 hour");
    }
    if lifetime > longest {
        let detail = format!("leaf certificate lifetime must be <= spec.maxExpirationSeconds ({longest})");
        return errors.invalid(CHAIN, lifetime, detail);
    }
    for block in rest {
        if block.kind != "CERTIFICATE" {
            return refuse(errors, "issued certificate chain must consist entirely of CERTFICATE PEM blocks");
        }
        if x509::certificate(&block.der).is_none() {
            return refuse(errors, "intermediate certificate does not parse as valid X.509");
        }
    }
}

/// Checks the times in the status against those of the certificate; answers whether all are right.
fn times(errors: &mut FieldErrors, new: &Value, begin: i64, end: i64) -> bool {
    let before = errors.0.len();
    let read = |field: &str| tree::text(new, &format!("status.{field}")).parse::<Timestamp>().ok();
    let [not_before, not_after, refresh] = ["notBefore", "notAfter", "beginRefreshAt"].map(read);
    for (field, value) in [("notBefore", not_before), ("notAfter", not_after)] {
        if value.is_none() {
            errors.required(format!("status.{field}"), "must be present and consistent with the issued certificate");
        }
    }
    if refresh.is_none() {
        let detail = "must be present and in the range [notbefore+10min, notafter-10min]";
        errors.required("status.beginRefreshAt", detail);
    }
    let (Some(not_before), Some(not_after), Some(refresh)) = (not_before, not_after, refresh) else { return false };
    let mut refuse = |wrong: bool, field: &str, value: Timestamp, detail: &str| {
        if wrong {
            errors.invalid(format!("status.{field}"), value.to_string(), detail);
        }
    };
    let detail = "must be set to the NotBefore time encoded in the leaf certificate";
    refuse(not_before.as_second() != begin, "notBefore", not_before, detail);
    let detail = "must be set to the NotAfter time encoded in the leaf certificate";
    refuse(not_after.as_second() != end, "notAfter", not_after, detail);
    let early = refresh.duration_since(not_before) < MARGIN;
    refuse(early, "beginRefreshAt", refresh, "must be at least 10 minutes after status.notBefore");
    let late = not_after.duration_since(refresh) < MARGIN;
    refuse(!early && late, "beginRefreshAt", refresh, "must be at least 10 minutes before status.notAfter");
    errors.0.len() == before
}
