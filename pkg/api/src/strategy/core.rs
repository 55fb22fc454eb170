//! The smaller kinds of the core group: namespaces, configuration, accounts, nodes.

use base64::Engine as _;
use serde_json::{Value, json};

use super::Strategy;
use crate::{
    tree,
    validation::{FieldErrors, NameRule, ip, names, pod::taint_effect, resources},
};

/// All values of a ConfigMap or Secret together, in bytes.
const DATA_LIMIT: usize = 1024 * 1024;
const FROZEN: &str = "field is immutable when `immutable` is set";

pub(crate) struct Namespaces;

impl Strategy for Namespaces {
    fn prepare_for_create(&self, namespace: &mut Value) {
        let mut finalizers: Vec<Value> = tree::items(namespace, "spec.finalizers").to_vec();
        if !finalizers.iter().any(|finalizer| finalizer == "kubernetes") {
            finalizers.push("kubernetes".into());
        }
        tree::set(namespace, "spec.finalizers", finalizers);
        tree::set(namespace, "status", json!({"phase": "Active"}));
    }

    fn prepare_for_update(&self, new: &mut Value, old: &Value) {
        match tree::at(old, "spec.finalizers") {
            Value::Null => {
                tree::remove(new, "spec.finalizers");
            }
            finalizers => tree::set(new, "spec.finalizers", finalizers.clone()),
        }
    }

    fn validate(&self, namespace: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        for finalizer in tree::texts(namespace, "spec.finalizers") {
            finalizer_name(&mut errors, "spec.finalizers", finalizer);
        }
        errors
    }

    fn validate_subresource(&self, subresource: &str, new: &Value, _old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        if subresource == "finalize" {
            for (index, finalizer) in tree::texts(new, "spec.finalizers").enumerate() {
                finalizer_name(&mut errors, &format!("spec.finalizers[{index}]"), finalizer);
            }
            return errors;
        }
        let (wanted, when) = match tree::has(new, "metadata.deletionTimestamp") {
            false => ("Active", "`deletionTimestamp` is empty"),
            true => ("Terminating", "`deletionTimestamp` is not empty"),
        };
        let phase = tree::text(new, "status.phase");
        if phase != wanted {
            errors.invalid("status.Phase", phase, format!("may only be '{wanted}' if {when}"));
        }
        errors
    }

    fn name_rule(&self) -> NameRule {
        NameRule::Label
    }
}

fn finalizer_name(errors: &mut FieldErrors, path: &str, finalizer: &str) {
    errors.each(path, finalizer, names::qualified(finalizer));
    let standard = matches!(finalizer, "kubernetes" | "orphan" | "foregroundDeletion");
    if !finalizer.contains('/') && !standard {
        let detail = "name is neither a standard finalizer name nor is it fully qualified";
        errors.invalid(path, finalizer, detail);
    }
}

pub(crate) struct ConfigMaps;

impl Strategy for ConfigMaps {
    fn validate(&self, map: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        let binary = tree::at(map, "binaryData");
        let mut size = 0;
        for (key, value) in tree::entries(map, "data") {
            let path = format!("data[{key}]");
            errors.each(path.clone(), key, names::config_key(key));
            if binary.get(key).is_some() {
                errors.invalid(path, key, "duplicate of key present in binaryData");
            }
            size += value.as_str().map_or(0, str::len);
        }
        for (key, value) in tree::entries(map, "binaryData") {
            errors.each(format!("binaryData[{key}]"), key, names::config_key(key));
            size += decoded(value).map_or(0, |bytes| bytes.len());
        }
        if size > DATA_LIMIT {
            errors.too_long("", DATA_LIMIT);
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        frozen(new, old, &["data", "binaryData"])
    }
}

pub(crate) struct Secrets;

impl Strategy for Secrets {
    fn default(&self, secret: &mut Value) {
        take_text(secret);
        if tree::text(secret, "type").is_empty() {
            tree::set(secret, "type", "Opaque");
        }
    }

    fn validate(&self, secret: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        let mut size = 0;
        for (key, value) in tree::entries(secret, "data") {
            errors.each(format!("data[{key}]"), key, names::config_key(key));
            size += decoded(value).map_or(0, |bytes| bytes.len());
        }
        if size > DATA_LIMIT {
            errors.too_long("data", DATA_LIMIT);
        }
        typed_secret(&mut errors, secret);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        errors.immutable("type", new, old);
        errors.extend(frozen(new, old, &["data"]));
        errors
    }
}

/// `stringData` goes to `data`, over what is there.
fn take_text(secret: &mut Value) {
    let Some(Value::Object(texts)) = tree::remove(secret, "stringData") else { return };
    let Some(data) = tree::object_mut(secret, "data") else { return };
    for (key, value) in texts {
        let text = value.as_str().unwrap_or_default();
        data.insert(key, base64::engine::general_purpose::STANDARD.encode(text).into());
    }
}

fn typed_secret(errors: &mut FieldErrors, secret: &Value) {
    let data = tree::at(secret, "data");
    let require = |errors: &mut FieldErrors, key: &str| {
        if data.get(key).is_none() {
            errors.required(format!("data[{key}]"), "");
        }
    };
    match tree::text(secret, "type") {
        "kubernetes.io/service-account-token" => {
            const KEY: &str = "kubernetes.io/service-account.name";
            if secret["metadata"]["annotations"][KEY].as_str().unwrap_or_default().is_empty() {
                errors.required(format!("metadata.annotations[{KEY}]"), "");
            }
        }
        "kubernetes.io/dockercfg" => json_entry(errors, data, ".dockercfg"),
        "kubernetes.io/dockerconfigjson" => json_entry(errors, data, ".dockerconfigjson"),
        "kubernetes.io/basic-auth" if data.get("username").is_none() && data.get("password").is_none() => {
            require(errors, "username");
            require(errors, "password");
        }
        "kubernetes.io/ssh-auth" if data["ssh-privatekey"].as_str().unwrap_or_default().is_empty() => {
            errors.required("data[ssh-privatekey]", "");
        }
        "kubernetes.io/tls" => {
            require(errors, "tls.crt");
            require(errors, "tls.key");
        }
        _ => {}
    }
}

fn json_entry(errors: &mut FieldErrors, data: &Value, key: &str) {
    let path = format!("data[{key}]");
    let Some(value) = data.get(key) else { return errors.required(path, "") };
    let bytes = decoded(value).unwrap_or_default();
    if let Err(error) = serde_json::from_slice::<serde_json::Map<String, Value>>(&bytes) {
        errors.invalid(path, "<secret contents redacted>", error.to_string());
    }
}

fn decoded(value: &Value) -> Option<Vec<u8>> {
    base64::engine::general_purpose::STANDARD.decode(value.as_str()?).ok()
}

fn frozen(new: &Value, old: &Value, fields: &[&str]) -> FieldErrors {
    let mut errors = FieldErrors::default();
    if !tree::flag(old, "immutable") {
        return errors;
    }
    if !tree::flag(new, "immutable") {
        errors.forbidden("immutable", FROZEN);
    }
    for field in fields {
        if !tree::equal(tree::at(new, field), tree::at(old, field)) {
            errors.forbidden(*field, FROZEN);
        }
    }
    errors
}

pub(crate) struct ServiceAccounts;

impl Strategy for ServiceAccounts {
    fn prepare_for_create(&self, account: &mut Value) {
        only_names(account);
    }

    fn prepare_for_update(&self, new: &mut Value, _old: &Value) {
        only_names(new);
    }
}

/// References to secrets keep nothing but the name.
fn only_names(account: &mut Value) {
    for secret in account.get_mut("secrets").and_then(Value::as_array_mut).into_iter().flatten() {
        *secret = json!({"name": tree::text(secret, "name")});
    }
}

pub(crate) struct Nodes;

impl Strategy for Nodes {
    /// `podCIDR` is the first of `podCIDRs`, and wins where they differ.
    fn default(&self, node: &mut Value) {
        let one = tree::text(node, "spec.podCIDR").to_owned();
        let first = tree::texts(node, "spec.podCIDRs").next().unwrap_or_default().to_owned();
        match (one.as_str(), first.as_str()) {
            ("", "") => {}
            ("", _) => tree::set(node, "spec.podCIDR", first),
            (one, first) if one != first => tree::set(node, "spec.podCIDRs", vec![one]),
            _ => {}
        }
    }

    fn prepare_for_create(&self, node: &mut Value) {
        for field in ["spec.configSource", "status.config", "spec.podPreemptionPolicy"] {
            tree::remove(node, field);
        }
    }

    fn prepare_for_update(&self, new: &mut Value, old: &Value) {
        for field in ["spec.configSource", "spec.podPreemptionPolicy"] {
            if !tree::has(old, field) {
                tree::remove(new, field);
            }
        }
    }

    fn validate_subresource(&self, _subresource: &str, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        amounts(&mut errors, new);
        errors.extend(self.validate_update(new, old));
        errors
    }

    fn keeps_status_on_create(&self) -> bool {
        true
    }

    fn validate(&self, node: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        taints(&mut errors, tree::items(node, "spec.taints"));
        amounts(&mut errors, node);
        let networks: Vec<_> = tree::texts(node, "spec.podCIDRs").collect();
        for (index, network) in networks.iter().enumerate() {
            ip::network(&mut errors, format!("spec.podCIDRs[{index}]"), network);
        }
        let sixes = networks.iter().filter(|network| network.contains(':')).count();
        if networks.len() > 1 && (networks.len() > 2 || sixes != 1) {
            let detail = "may specify no more than one CIDR for each IP family";
            errors.invalid("spec.podCIDRs", networks, detail);
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        let networks = tree::items(old, "spec.podCIDRs");
        if !networks.is_empty() && networks != tree::items(new, "spec.podCIDRs") {
            errors.forbidden("spec.podCIDRs", "node updates may not change podCIDR except from \"\" to valid");
        }
        match (tree::text(old, "spec.providerID"), tree::text(new, "spec.providerID")) {
            ("", _) => {}
            (_, "") => errors.invalid("spec.providerID", Value::Null, "field cannot be cleared once set"),
            (before, now) if before != now => {
                errors.invalid("spec.providerID", Value::Null, "field cannot be modified once set");
            }
            _ => {}
        }
        let addresses = tree::items(new, "status.addresses");
        for (index, address) in addresses.iter().enumerate() {
            if addresses[..index].contains(address) {
                errors.duplicate(format!("status.addresses[{index}]"), address.clone());
            }
        }
        errors
    }
}

/// Checks what a node says that it has.
fn amounts(errors: &mut FieldErrors, node: &Value) {
    for part in ["capacity", "allocatable"] {
        for (resource, value) in tree::entries(node, &format!("status.{part}")) {
            resources::amount(errors, &format!("status.{part}.{resource}"), resource, value);
        }
    }
    let features: Vec<_> = tree::texts(node, "status.declaredFeatures").collect();
    for (index, feature) in features.iter().enumerate() {
        let path = format!("status.declaredFeatures[{index}]");
        let segment = |part: &str| {
            part.starts_with(|c: char| c.is_ascii_alphabetic()) && part.bytes().all(|c| c.is_ascii_alphanumeric())
        };
        let upper = feature.starts_with(|c: char| c.is_ascii_uppercase());
        if feature.len() > 253 {
            let detail = format!("invalid feature name {feature:?}: must be no more than 253 characters");
            errors.invalid(path.clone(), *feature, detail);
        } else if !upper || !feature.split('/').all(segment) {
            let detail = format!(
                "invalid feature name {feature:?}: must start with an UpperCamelCase segment, with subsequent segments \
                 separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters \
                 and slashes"
            );
            errors.invalid(path.clone(), *feature, detail);
        }
        match index.checked_sub(1).map(|before| features[before]) {
            Some(before) if before == *feature => errors.duplicate(path, *feature),
            Some(before) if before > *feature => {
                errors.invalid(path, *feature, "list must be sorted alphabetically");
            }
            _ => {}
        }
    }
}

fn taints(errors: &mut FieldErrors, taints: &[Value]) {
    for (index, taint) in taints.iter().enumerate() {
        // Upstream reports them below metadata.
        let path = format!("metadata.taints[{index}]");
        let (key, value) = (tree::text(taint, "key"), tree::text(taint, "value"));
        errors.each(format!("{path}.key"), key, names::qualified(key));
        let faults = names::label_value(value);
        if !faults.is_empty() {
            errors.invalid(format!("{path}.value"), value, faults.join(";"));
        }
        taint_effect(errors, &format!("{path}.effect"), tree::text(taint, "effect"));
        if taints[..index].iter().any(|other| other["key"] == taint["key"] && other["effect"] == taint["effect"]) {
            let detail = "taints must be unique by key and effect pair";
            errors.push(path, crate::validation::Reason::Duplicate, taint.clone(), detail);
        }
    }
}
