//! What an update of a pod may change.

use serde_json::Value;

use super::annotations::annotations_update;
use crate::{
    tree,
    validation::{FieldErrors, names},
};

const UPDATABLE: &str = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,\
                         `spec.tolerations` (only additions to existing tolerations),\
                         `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/// Checks the change of a pod by an update of the main resource.
pub fn pod_update(errors: &mut FieldErrors, new: &Value, old: &Value) {
    let notes = |pod: &Value| tree::at(pod, "metadata.annotations").clone();
    annotations_update(errors, "metadata.annotations", &notes(new), &notes(old));
    for field in ["containers", "initContainers"] {
        let path = format!("spec.{field}");
        let (now, before) = (tree::items(new, &path), tree::items(old, &path));
        if now.len() != before.len() {
            return errors.forbidden(path, "pod updates may not add or remove containers");
        }
    }
    if !deadline(errors, new, old) {
        return;
    }
    only_added_tolerations(errors, new, old);
    only_removed_gates(errors, new, old);
    let (mut spec, before) = (tree::at(new, "spec").clone(), tree::at(old, "spec"));
    restore_updatable(&mut spec, before);
    if !tree::items(old, "spec.schedulingGates").is_empty() {
        gated(errors, &mut spec, before);
    }
    if let Some(at) = tree::difference(before, &spec, "spec") {
        let detail = format!("pod updates may not change fields other than {UPDATABLE}\n{at} differs");
        errors.forbidden("spec", detail);
    }
}

/// `false` if nothing more is worth saying.
fn deadline(errors: &mut FieldErrors, new: &Value, old: &Value) -> bool {
    const PATH: &str = "spec.activeDeadlineSeconds";
    match (tree::at(new, PATH).as_i64(), tree::at(old, PATH).as_i64()) {
        (Some(now), _) if !(0..=i64::from(i32::MAX)).contains(&now) => {
            errors.each(PATH, now, names::in_range(now, 0, i64::from(i32::MAX)));
            false
        }
        (Some(now), Some(before)) if before < now => {
            errors.invalid(PATH, now, "must be less than or equal to previous value");
            false
        }
        (None, Some(_)) => {
            errors.invalid(PATH, Value::Null, "must not update from a positive integer to nil value");
            true
        }
        _ => true,
    }
}

fn only_added_tolerations(errors: &mut FieldErrors, new: &Value, old: &Value) {
    const PATH: &str = "spec.tolerations";
    let without_seconds = |toleration: &Value| {
        let mut toleration = toleration.clone();
        tree::remove(&mut toleration, "tolerationSeconds");
        toleration
    };
    let now: Vec<_> = tree::items(new, PATH).iter().map(without_seconds).collect();
    let lost = |toleration: &Value| !now.iter().any(|t| tree::equal(t, &without_seconds(toleration)));
    if tree::items(old, PATH).iter().any(lost) {
        errors.forbidden(PATH, "existing toleration can not be modified except its tolerationSeconds");
    }
}

fn only_removed_gates(errors: &mut FieldErrors, new: &Value, old: &Value) {
    const PATH: &str = "spec.schedulingGates";
    let had: Vec<_> = tree::items(old, PATH).iter().map(|gate| tree::text(gate, "name")).collect();
    for (index, gate) in tree::items(new, PATH).iter().enumerate() {
        let name = tree::text(gate, "name");
        if !had.contains(&name) {
            let detail = format!("only deletion is allowed, but found new scheduling gate '{name}'");
            errors.forbidden(format!("{PATH}[{index}].name"), detail);
        }
    }
}

/// Puts back what may change, so that only forbidden changes are left.
fn restore_updatable(spec: &mut Value, before: &Value) {
    for field in ["containers", "initContainers"] {
        let images: Vec<_> = tree::items(before, field).iter().map(|c| c["image"].clone()).collect();
        let containers = spec.get_mut(field).and_then(Value::as_array_mut).into_iter().flatten();
        for (container, image) in containers.zip(images) {
            tree::set(container, "image", image);
        }
    }
    for field in ["activeDeadlineSeconds", "schedulingGates", "tolerations"] {
        tree::set(spec, field, tree::at(before, field).clone());
    }
    let grace = "terminationGracePeriodSeconds";
    if tree::int(before, grace) < 0 && tree::int(spec, grace) == 1 {
        tree::set(spec, grace, tree::at(before, grace).clone());
    }
}

/// A pod that still waits may narrow where it runs.
fn gated(errors: &mut FieldErrors, spec: &mut Value, before: &Value) {
    let now = tree::at(spec, "nodeSelector");
    if tree::entries(before, "nodeSelector").any(|(key, value)| now.get(key) != Some(value)) {
        errors.invalid(
            "spec.nodeSelector",
            now.clone(),
            "only additions to spec.nodeSelector are allowed (no mutations or deletions)",
        );
    }
    tree::set(spec, "nodeSelector", tree::at(before, "nodeSelector").clone());
    narrower(errors, spec, before);
    tree::set(spec, "affinity.nodeAffinity", tree::at(before, "affinity.nodeAffinity").clone());
}

/// Required terms of the node affinity may get further requirements.
fn narrower(errors: &mut FieldErrors, spec: &Value, before: &Value) {
    const PATH: &str = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
    let (now, had) = (tree::items(spec, PATH), tree::items(before, PATH));
    if had.is_empty() {
        return;
    }
    if now.len() != had.len() {
        let detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
        return errors.invalid(format!("spec.{PATH}"), now.to_vec(), detail);
    }
    let fields = ["matchExpressions", "matchFields"];
    for (index, (now, had)) in now.iter().zip(had).enumerate() {
        let kept = |field: &&str| tree::items(now, field).starts_with(tree::items(had, field));
        let empty = |term: &Value| fields.iter().all(|field| tree::items(term, field).is_empty());
        if !fields.iter().all(kept) || empty(had) && !empty(now) {
            let detail = "only additions are allowed (no mutations or deletions)";
            errors.invalid(format!("spec.{PATH}[{index}]"), now.clone(), detail);
        }
    }
}
