//! Workloads.

use serde_json::Value;

use super::{Strategy, gates::drop_disabled};
use crate::{
    tree,
    validation::{FieldErrors, NameRule, claims, labels, names, resources::not_negative, workload},
};

pub(crate) struct Deployments;

impl Strategy for Deployments {
    fn prepare_for_create(&self, object: &mut Value) {
        drop_disabled(object, "spec.template.spec");
    }

    fn prepare_for_update(&self, new: &mut Value, _old: &Value) {
        drop_disabled(new, "spec.template.spec");
    }

    fn validate(&self, deployment: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        workload::deployment(&mut errors, deployment);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        immutable(new, old, &["spec.selector"])
    }

    fn validate_subresource(&self, _subresource: &str, new: &Value, old: &Value) -> FieldErrors {
        status(new, old, "readyReplicas")
    }

    fn has_generation(&self) -> bool {
        true
    }

    /// Annotations count too, since they are copied to the replica sets.
    fn generation_moves(&self, new: &Value, old: &Value) -> bool {
        let differs = |path: &str| !tree::equal(tree::at(new, path), tree::at(old, path));
        differs("spec") || differs("metadata.annotations")
    }
}

pub(crate) struct ReplicaSets;

impl Strategy for ReplicaSets {
    fn prepare_for_create(&self, object: &mut Value) {
        drop_disabled(object, "spec.template.spec");
    }

    fn prepare_for_update(&self, new: &mut Value, _old: &Value) {
        drop_disabled(new, "spec.template.spec");
    }

    fn validate(&self, replica_set: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        workload::replica_set(&mut errors, replica_set);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        immutable(new, old, &["spec.selector"])
    }

    fn validate_subresource(&self, _subresource: &str, new: &Value, old: &Value) -> FieldErrors {
        status(new, old, "readyReplicas")
    }

    fn has_generation(&self) -> bool {
        true
    }
}

pub(crate) struct StatefulSets;

impl Strategy for StatefulSets {
    fn prepare_for_create(&self, object: &mut Value) {
        drop_disabled(object, "spec.template.spec");
    }

    fn prepare_for_update(&self, new: &mut Value, _old: &Value) {
        drop_disabled(new, "spec.template.spec");
    }

    fn validate(&self, set: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        let spec = tree::at(set, "spec");
        match tree::text(spec, "podManagementPolicy") {
            "" => errors.required("spec.podManagementPolicy", ""),
            "OrderedReady" | "Parallel" => {}
            other => errors.invalid("spec.podManagementPolicy", other, "must be 'OrderedReady' or 'Parallel'"),
        }
        let rolling = tree::at(spec, "updateStrategy.rollingUpdate");
        match tree::text(spec, "updateStrategy.type") {
            "" => errors.required("spec.updateStrategy", ""),
            "RollingUpdate" => {
                not_negative(&mut errors, rolling, "spec.updateStrategy.rollingUpdate", "partition");
                let path = "spec.updateStrategy.rollingUpdate.maxUnavailable";
                let unavailable = tree::at(rolling, "maxUnavailable");
                workload::count_or_percent(&mut errors, path, unavailable);
                if !unavailable.is_null() && workload::is_zero(unavailable) {
                    errors.invalid(path, unavailable.clone(), "cannot be 0");
                }
                workload::at_most_all(&mut errors, path, unavailable);
            }
            "OnDelete" if !rolling.is_null() => {
                let detail = "only allowed for updateStrategy 'RollingUpdate'";
                errors.invalid("spec.updateStrategy.rollingUpdate", rolling.clone(), detail);
            }
            "OnDelete" => {}
            _ => {
                let strategy = tree::at(spec, "updateStrategy").clone();
                errors.invalid("spec.updateStrategy", strategy, "must be 'RollingUpdate' or 'OnDelete'");
            }
        }
        for field in ["whenDeleted", "whenScaled"] {
            let path = format!("spec.persistentVolumeClaimRetentionPolicy.{field}");
            let policy = tree::text(set, &path);
            if tree::has(spec, "persistentVolumeClaimRetentionPolicy") && !matches!(policy, "Retain" | "Delete") {
                errors.not_supported(path, policy, &["Retain", "Delete"]);
            }
        }
        not_negative(&mut errors, spec, "spec", "replicas");
        not_negative(&mut errors, spec, "spec", "minReadySeconds");
        not_negative(&mut errors, tree::at(spec, "ordinals"), "spec.ordinals", "start");
        workload::selector_and_template(&mut errors, &with_claims(set), "statefulset", "StatefulSet");
        errors
    }

    /// Of what cannot change later: what is wrong with it in an old object is borne.
    fn validate_create(&self, set: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        for (index, claim) in tree::items(set, "spec.volumeClaimTemplates").iter().enumerate() {
            let path = format!("spec.volumeClaimTemplates[{index}].spec");
            claims::claim(&mut errors, &path, tree::at(claim, "spec"), None);
        }
        let service = tree::text(set, "spec.serviceName");
        if !service.is_empty() {
            errors.each("spec.serviceName", service, names::label(service));
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        const FIXED: [&str; 4] =
            ["spec.selector", "spec.volumeClaimTemplates", "spec.serviceName", "spec.podManagementPolicy"];
        immutable(new, old, &FIXED)
    }

    fn name_rule(&self) -> NameRule {
        NameRule::Label
    }

    fn validate_subresource(&self, _subresource: &str, new: &Value, old: &Value) -> FieldErrors {
        status(new, old, "status.readyReplicas")
    }

    fn has_generation(&self) -> bool {
        true
    }
}

/// The set with the volumes that its claim templates will add to each pod, and without the names
/// that it will give to each pod.
fn with_claims(set: &Value) -> Value {
    let mut set = set.clone();
    for field in ["subdomain", "hostname"] {
        tree::remove(&mut set, &format!("spec.template.spec.{field}"));
    }
    let claims = tree::items(&set, "spec.volumeClaimTemplates").to_vec();
    if claims.is_empty() {
        return set;
    }
    let name = |claim: &Value| tree::text(claim, "metadata.name").to_owned();
    let added = claims
        .iter()
        .map(|claim| serde_json::json!({"name": name(claim), "persistentVolumeClaim": {"claimName": name(claim)}}));
    let own = tree::items(&set, "spec.template.spec.volumes").iter();
    let own = own.filter(|volume| !claims.iter().any(|claim| volume["name"] == name(claim).as_str())).cloned();
    let volumes: Vec<_> = added.chain(own).collect();
    tree::set(&mut set, "spec.template.spec.volumes", volumes);
    set
}

pub(crate) struct DaemonSets;

impl Strategy for DaemonSets {
    fn prepare_for_create(&self, object: &mut Value) {
        drop_disabled(object, "spec.template.spec");
    }

    fn prepare_for_update(&self, new: &mut Value, _old: &Value) {
        drop_disabled(new, "spec.template.spec");
    }

    fn validate(&self, set: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        let spec = tree::at(set, "spec");
        workload::selector_and_template(&mut errors, set, "daemonset", "DaemonSet");
        not_negative(&mut errors, spec, "spec", "minReadySeconds");
        not_negative(&mut errors, spec, "spec", "revisionHistoryLimit");
        match tree::text(spec, "updateStrategy.type") {
            "OnDelete" => {}
            "RollingUpdate" => {
                let path = "spec.updateStrategy.rollingUpdate";
                workload::daemon_set_update(&mut errors, path, tree::at(set, path));
            }
            _ => {
                let strategy = tree::at(spec, "updateStrategy").clone();
                errors.not_supported("spec.updateStrategy", strategy, &["RollingUpdate", "OnDelete"]);
            }
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        immutable(new, old, &["spec.selector"])
    }

    fn validate_subresource(&self, _subresource: &str, new: &Value, old: &Value) -> FieldErrors {
        status(new, old, "readyReplicas")
    }

    fn has_generation(&self) -> bool {
        true
    }
}

pub(crate) struct ReplicationControllers;

impl Strategy for ReplicationControllers {
    fn prepare_for_create(&self, object: &mut Value) {
        drop_disabled(object, "spec.template.spec");
    }

    fn prepare_for_update(&self, new: &mut Value, _old: &Value) {
        drop_disabled(new, "spec.template.spec");
    }

    fn validate(&self, controller: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        let spec = tree::at(controller, "spec");
        not_negative(&mut errors, spec, "spec", "minReadySeconds");
        let selector = tree::at(spec, "selector");
        if tree::equal(selector, &Value::Null) {
            errors.required("spec.selector", "");
        }
        not_negative(&mut errors, spec, "spec", "replicas");
        let template = tree::at(spec, "template");
        if template.is_null() {
            errors.required("spec.template", "");
            return errors;
        }
        let template_labels = tree::at(template, "metadata.labels");
        let chosen = serde_json::json!({"matchLabels": selector});
        if !labels::is_empty(&chosen) && !labels::selects(&chosen, template_labels) {
            let detail = "`selector` does not match template `labels`";
            errors.invalid("spec.template.metadata.labels", template_labels.clone(), detail);
        }
        workload::endless_template(&mut errors, template, "ReplicationController");
        errors
    }

    fn validate_subresource(&self, _subresource: &str, new: &Value, old: &Value) -> FieldErrors {
        status(new, old, "readyReplicas")
    }

    fn has_generation(&self) -> bool {
        true
    }
}

fn status(new: &Value, old: &Value, ready: &str) -> FieldErrors {
    let mut errors = FieldErrors::default();
    workload::status(&mut errors, new, old, ready);
    errors
}

pub(crate) struct PodTemplates;

impl Strategy for PodTemplates {
    fn prepare_for_create(&self, object: &mut Value) {
        drop_disabled(object, "template.spec");
    }

    fn prepare_for_update(&self, new: &mut Value, _old: &Value) {
        drop_disabled(new, "template.spec");
    }

    fn validate(&self, template: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        workload::template(&mut errors, "template", tree::at(template, "template"));
        errors
    }

    fn has_generation(&self) -> bool {
        true
    }

    fn generation_moves(&self, new: &Value, old: &Value) -> bool {
        !tree::equal(tree::at(new, "template"), tree::at(old, "template"))
    }
}

/// Snapshots of templates.
pub(crate) struct ControllerRevisions;

impl Strategy for ControllerRevisions {
    fn validate(&self, revision: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        let number = tree::int(revision, "revision");
        if number < 0 {
            errors.invalid("revision", number, crate::validation::resources::NEGATIVE);
        }
        errors
    }

    fn validate_create(&self, revision: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        match tree::at(revision, "data") {
            Value::Null => errors.required("data", "data is mandatory"),
            Value::Object(_) => {}
            _ => errors.required("data", "data must be a valid JSON object"),
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        errors.immutable("data", new, old);
        errors
    }
}

fn immutable(new: &Value, old: &Value, fields: &[&str]) -> FieldErrors {
    let mut errors = FieldErrors::default();
    workload::immutable(&mut errors, new, old, fields);
    errors
}
