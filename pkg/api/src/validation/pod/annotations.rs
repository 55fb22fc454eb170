//! Annotations of pods that mean something to the system.

use serde_json::Value;

use super::{all_containers, tolerations};
use crate::{
    tree,
    validation::{FieldErrors, volume::descending},
};

const MIRROR: &str = "kubernetes.io/config.mirror";
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";
const TOLERATIONS: &str = "scheduler.alpha.kubernetes.io/tolerations";
const SECCOMP: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";

/// Whether a pod stands for one that a node runs of its own.
pub(super) fn is_mirror(pod: &Value) -> bool {
    pod["metadata"]["annotations"].get(MIRROR).is_some()
}

/// Checks annotations at `path`, which go with a specification.
pub(super) fn annotations(errors: &mut FieldErrors, path: &str, annotations: &Value, spec: &Value) {
    for (key, value) in annotations.as_object().into_iter().flatten() {
        let (at, value) = (format!("{path}[{key}]"), value.as_str().unwrap_or_default());
        if key == MIRROR && tree::text(spec, "nodeName").is_empty() {
            errors.invalid(at, value, "must set spec.nodeName if mirror pod annotation is set");
        } else if key == DELETION_COST {
            let plain = value == "0" || value.starts_with(|c: char| c == '-' || ('1'..='9').contains(&c));
            if value.parse::<i32>().is_err() || !plain {
                errors.invalid(at, value, "must be a 32bit integer");
            }
        } else if key == TOLERATIONS && !value.is_empty() {
            match serde_json::from_str::<Vec<Value>>(value) {
                Ok(items) => tolerations(errors, &format!("{path}.{TOLERATIONS}"), &items),
                Err(error) => errors.invalid(path, TOLERATIONS, error.to_string()),
            }
        } else if key == SECCOMP || key.starts_with(SECCOMP_CONTAINER) {
            seccomp(errors, &format!("{path}.{key}"), value);
        } else if let Some(container) = key.strip_prefix(APP_ARMOR) {
            if !all_containers("", spec).any(|(_, c)| tree::text(c, "name") == container) {
                errors.invalid(at.clone(), container, "container not found");
            }
            let known = matches!(value, "" | "runtime/default" | "unconfined") || value.starts_with("localhost/");
            if !known {
                errors.invalid(at, value, format!("invalid AppArmor profile name: {value:?}"));
            }
        }
    }
}

fn seccomp(errors: &mut FieldErrors, path: &str, profile: &str) {
    match profile {
        "runtime/default" | "docker/default" | "unconfined" => {}
        _ => match profile.strip_prefix("localhost/") {
            Some(file) => descending(errors, path, file),
            None => errors.invalid(path, profile, "must be a valid seccomp profile"),
        },
    }
}

/// Refuses changes of those that cannot change.
pub(super) fn annotations_update(errors: &mut FieldErrors, path: &str, new: &Value, old: &Value) {
    let protected = |key: &str| match key {
        MIRROR => Some("mirror pod annotation"),
        key if key.starts_with(APP_ARMOR) => Some("AppArmor annotations"),
        _ => None,
    };
    for (key, value) in old.as_object().into_iter().flatten() {
        if new.get(key) != Some(value)
            && let Some(what) = protected(key)
        {
            errors.forbidden(format!("{path}[{key}]"), format!("may not remove or update {what}"));
        }
    }
    for (key, _) in new.as_object().into_iter().flatten() {
        if old.get(key).is_none()
            && let Some(what) = protected(key)
        {
            errors.forbidden(format!("{path}[{key}]"), format!("may not add {what}"));
        }
    }
}
