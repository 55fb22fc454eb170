//! Jobs and CronJobs.

use serde_json::Value;

use super::{Strategy, gates::drop_disabled};
use crate::{
    tree,
    validation::{FieldErrors, batch},
};

pub(crate) struct Jobs;

impl Strategy for Jobs {
    fn prepare_for_create(&self, job: &mut Value) {
        tree::remove(job, "spec.scheduling");
        drop_disabled(job, "spec.template.spec");
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
                for key in [key.to_owned(), format!("batch.kubernetes.io/{key}")] {
                    labels.entry(key).or_insert_with(|| value.as_str().into());
                }
            }
        }
        if let Some(wanted) = tree::object_mut(job, "spec.selector.matchLabels") {
            wanted.entry("batch.kubernetes.io/controller-uid").or_insert(uid.into());
        }
    }

    fn prepare_for_update(&self, new: &mut Value, _old: &Value) {
        tree::remove(new, "spec.scheduling");
        drop_disabled(new, "spec.template.spec");
    }

    fn validate_create(&self, job: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        batch::job(&mut errors, job, None);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        batch::job(&mut errors, new, Some(old));
        errors
    }

    fn validate_subresource(&self, _subresource: &str, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        batch::job_status(&mut errors, new, old);
        errors
    }

    fn has_generation(&self) -> bool {
        true
    }
}

pub(crate) struct CronJobs;

impl Strategy for CronJobs {
    fn prepare_for_create(&self, job: &mut Value) {
        tree::remove(job, "spec.jobTemplate.spec.scheduling");
        drop_disabled(job, "spec.jobTemplate.spec.template.spec");
    }

    fn prepare_for_update(&self, new: &mut Value, _old: &Value) {
        tree::remove(new, "spec.jobTemplate.spec.scheduling");
        drop_disabled(new, "spec.jobTemplate.spec.template.spec");
    }

    fn validate_create(&self, job: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        batch::cron_job(&mut errors, job, None);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        batch::cron_job(&mut errors, new, Some(old));
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
