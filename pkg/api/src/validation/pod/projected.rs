//! Projected volumes, and the files that they and others are made of.

use std::collections::HashSet;

use serde_json::Value;

use super::{
    env,
    volumes::{mode, required},
};
use crate::{
    tree,
    validation::{FieldErrors, annotations, certificates, labels, names, storage::token_lifetime, volume::descending},
};

const KEY_TYPES: [&str; 6] = ["RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"];
/// Longest life of a certificate: 91 days, or one for signers of Kubernetes itself.
const LONGEST: i64 = 91 * 24 * 3600;
const LONGEST_OF_SYSTEM: i64 = 24 * 3600;

/// `items` of a ConfigMap or Secret; answers with the paths.
pub(super) fn keys_to_paths<'a>(errors: &mut FieldErrors, path: &str, source: &'a Value) -> Vec<&'a str> {
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

/// A file of the downward API.
pub(super) fn downward_file(errors: &mut FieldErrors, path: &str, file: &Value) {
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

/// Checks a projected volume.
pub(super) fn projected(errors: &mut FieldErrors, path: &str, source: &Value) {
    mode(errors, path, source, "defaultMode");
    let mut taken: HashSet<&str> = HashSet::new();
    for (index, part) in tree::items(source, "sources").iter().enumerate() {
        let part_path = format!("{path}.sources[{index}]");
        let mut count = 0;
        for kind in
            ["secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate"]
        {
            let value = tree::at(part, kind);
            if value.is_null() {
                continue;
            }
            count += 1;
            let name = tree::text(value, "name");
            for file in files(errors, path, &format!("{part_path}.{kind}"), kind, value) {
                if !taken.insert(file) {
                    let shown = if matches!(kind, "secret" | "configMap") { name } else { file };
                    errors.invalid(path, shown, "conflicting duplicate paths");
                }
            }
        }
        if count > 1 {
            errors.forbidden(part_path, "may not specify more than 1 volume type per source");
        }
    }
}

/// Checks one source at `at`; answers with the files that it makes.
fn files<'a>(errors: &mut FieldErrors, volume: &str, at: &str, kind: &str, value: &'a Value) -> Vec<&'a str> {
    let given = |paths: Vec<&'a str>| paths.into_iter().filter(|path| !path.is_empty()).collect();
    match kind {
        "secret" | "configMap" => {
            required(errors, at, value, "name");
            given(keys_to_paths(errors, at, value))
        }
        "downwardAPI" => {
            let items = tree::items(value, "items");
            items.iter().for_each(|file| downward_file(errors, at, file));
            given(items.iter().map(|file| tree::text(file, "path")).collect())
        }
        "serviceAccountToken" => {
            let lifetime = format!("{at}.expirationSeconds");
            match tree::at(value, "expirationSeconds").as_i64() {
                None => errors.required(lifetime, ""),
                seconds => token_lifetime(errors, &lifetime, seconds),
            }
            // Upstream reports it for the whole volume.
            required(errors, volume, value, "path");
            not_reserved(errors, &format!("{volume}.path"), tree::text(value, "path"));
            Vec::new()
        }
        "clusterTrustBundle" => {
            trust_bundle(errors, at, value);
            required(errors, at, value, "path");
            let file = tree::text(value, "path");
            not_reserved(errors, &format!("{at}.path"), file);
            vec![file]
        }
        _ => certificate(errors, at, value),
    }
}

fn trust_bundle(errors: &mut FieldErrors, path: &str, source: &Value) {
    let (name, signer) = (source["name"].as_str(), source["signerName"].as_str());
    match (name, signer) {
        (Some(_), Some(_)) => errors.invalid(path, source.clone(), "only one of name and signerName may be used"),
        (None, None) => errors.required(path, "either name or signerName must be specified"),
        (Some(name), None) => {
            let at = format!("{path}.name");
            if name.is_empty() {
                errors.required(at.clone(), "must be a valid object name");
            }
            let rest = name.rsplit_once(':').map_or(name, |(_, rest)| rest);
            for fault in names::subdomain(rest) {
                errors.invalid(at.clone(), name, format!("not a valid clustertrustbundlename: {fault}"));
            }
            if let Some(selector) = source.get("labelSelector").filter(|selector| !selector.is_null()) {
                let detail = "labelSelector must be unset if name is specified";
                errors.invalid(format!("{path}.labelSelector"), selector.clone(), detail);
            }
        }
        (None, Some(signer)) => {
            if signer.is_empty() {
                errors.required(format!("{path}.signerName"), "must be a valid signer name");
            }
            certificates::signer_name(errors, &format!("{path}.signerName"), signer);
            labels::selector(errors, &format!("{path}.labelSelector"), tree::at(source, "labelSelector"));
        }
    }
}

fn certificate<'a>(errors: &mut FieldErrors, path: &str, source: &'a Value) -> Vec<&'a str> {
    let signer = tree::text(source, "signerName");
    certificates::signer_name(errors, &format!("{path}.signerName"), signer);
    annotations(errors, &format!("{path}.userAnnotations"), tree::at(source, "userAnnotations"));
    let kind = tree::text(source, "keyType");
    if !KEY_TYPES.contains(&kind) {
        errors.not_supported(format!("{path}.keyType"), kind, &KEY_TYPES);
    }
    if let Some(seconds) = tree::at(source, "maxExpirationSeconds").as_i64() {
        let at = format!("{path}.maxExpirationSeconds");
        let of_system = signer
            .split_once('/')
            .is_some_and(|(domain, _)| domain == "kubernetes.io" || domain.ends_with(".kubernetes.io"));
        let longest = if of_system { LONGEST_OF_SYSTEM } else { LONGEST };
        if seconds < 3600 {
            errors.invalid(at, seconds, "if provided, maxExpirationSeconds must be >= 3600");
        } else if seconds > longest {
            errors.invalid(at, seconds, format!("if provided, maxExpirationSeconds must be <= {longest}"));
        }
    }
    let mut files = Vec::new();
    for field in ["credentialBundlePath", "keyPath", "certificateChainPath"] {
        let file = tree::text(source, field);
        if !file.is_empty() {
            not_reserved(errors, &format!("{path}.{field}"), file);
            files.push(file);
        }
    }
    if files.is_empty() {
        let detail = "specify at least one of credentialBundlePath, keyPath, and certificateChainPath";
        errors.required(path, detail);
    }
    files
}

/// As [`descending`], and not one of the names that volumes use for themselves.
fn not_reserved(errors: &mut FieldErrors, path: &str, target: &str) {
    descending(errors, path, target);
    if target.starts_with("..") && !target.starts_with("../") {
        errors.invalid(path, target, "must not start with '..'");
    }
}
