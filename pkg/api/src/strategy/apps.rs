//! Workloads.

use serde_json::Value;

use super::Strategy;
use crate::{
    tree,
    validation::{FieldErrors, NameRule, labels, resources::not_negative, workload},
};

pub(crate) struct Deployments;

impl Strategy for Deployments {
    fn validate(&self, deployment: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        workload::deployment(&mut errors, deployment);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        immutable(new, old, &["spec.selector"])
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
    fn validate(&self, replica_set: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        workload::replica_set(&mut errors, replica_set);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        immutable(new, old, &["spec.selector"])
    }

    fn has_generation(&self) -> bool {
        true
    }
}

pub(crate) struct StatefulSets;

impl Strategy for StatefulSets {
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
        not_negative(&mut errors, spec, "spec", "replicas");
        not_negative(&mut errors, spec, "spec", "minReadySeconds");
        workload::selector_and_template(&mut errors, &with_claims(set), "statefulset", "StatefulSet");
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

    fn has_generation(&self) -> bool {
        true
    }
}

/// The set with the volumes that its claim templates will add to each pod.
fn with_claims(set: &Value) -> Value {
    let mut set = set.clone();
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
                workload::rolling_update(&mut errors, path, tree::at(set, path));
            }
            other => errors.not_supported("spec.updateStrategy", other, &["RollingUpdate", "OnDelete"]),
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        immutable(new, old, &["spec.selector"])
    }

    fn has_generation(&self) -> bool {
        true
    }
}

pub(crate) struct ReplicationControllers;

impl Strategy for ReplicationControllers {
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
        if !labels::selects(&serde_json::json!({"matchLabels": selector}), template_labels) {
            let detail = "`selector` does not match template `labels`";
            errors.invalid("spec.template.metadata.labels", template_labels.clone(), detail);
        }
        workload::template(&mut errors, "spec.template", template);
        errors
    }

    fn has_generation(&self) -> bool {
        true
    }
}

pub(crate) struct Jobs;

impl Strategy for Jobs {
    fn prepare_for_create(&self, job: &mut Value) {
        if tree::flag(job, "spec.manualSelector") {
            return;
        }
        let uid = tree::text(job, "metadata.uid").to_owned();
        if uid.is_empty() {
            return;
        }
        let name = tree::text(job, "metadata.name").to_owned();
        if let Some(labels) = tree::object_mut(job, "spec.template.metadata.labels") {
            for (key, value) in [("controller-uid", &uid), ("job-name", &name)] {
                labels.insert(key.to_owned(), value.as_str().into());
                labels.insert(format!("batch.kubernetes.io/{key}"), value.as_str().into());
            }
        }
        if let Some(wanted) = tree::object_mut(job, "spec.selector.matchLabels") {
            wanted.insert("batch.kubernetes.io/controller-uid".to_owned(), uid.into());
        }
    }

    fn validate(&self, job: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        let spec = tree::at(job, "spec");
        for field in ["parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"]
        {
            not_negative(&mut errors, spec, "spec", field);
        }
        labels::selector(&mut errors, "spec.selector", tree::at(spec, "selector"));
        job_template(&mut errors, "spec.template", tree::at(spec, "template"));
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        immutable(new, old, &["spec.selector", "spec.completionMode", "spec.podFailurePolicy"])
    }

    fn has_generation(&self) -> bool {
        true
    }
}

/// Pods of a Job end.
fn job_template(errors: &mut FieldErrors, path: &str, template: &Value) {
    workload::template(errors, path, template);
    let policy = tree::text(template, "spec.restartPolicy");
    if !matches!(policy, "OnFailure" | "Never") {
        let path = format!("{path}.spec.restartPolicy");
        let detail = "valid values: \"OnFailure\", \"Never\"";
        errors.push(path, crate::validation::Reason::Required, "", detail);
    }
}

pub(crate) struct CronJobs;

impl Strategy for CronJobs {
    fn validate(&self, job: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        let spec = tree::at(job, "spec");
        if tree::text(spec, "schedule").is_empty() {
            errors.required("spec.schedule", "");
        }
        for field in ["startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"] {
            not_negative(&mut errors, spec, "spec", field);
        }
        match tree::text(spec, "concurrencyPolicy") {
            "Allow" | "Forbid" | "Replace" => {}
            "" => errors.required("spec.concurrencyPolicy", ""),
            other => errors.not_supported("spec.concurrencyPolicy", other, &["Allow", "Forbid", "Replace"]),
        }
        job_template(&mut errors, "spec.jobTemplate.spec.template", tree::at(spec, "jobTemplate.spec.template"));
        errors
    }

    /// Names of the Jobs are made from it.
    fn validate_name(&self, name: &str) -> FieldErrors {
        let mut errors = FieldErrors::default();
        if name.len() > 52 {
            errors.invalid("metadata.name", name, "must be no more than 52 characters");
        }
        errors
    }

    fn has_generation(&self) -> bool {
        true
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
    for field in fields {
        if !tree::equal(tree::at(new, field), tree::at(old, field)) {
            errors.invalid(*field, tree::at(new, field).clone(), crate::validation::IMMUTABLE);
        }
    }
    errors
}
