//! Volumes, claims, and the kinds of `storage.k8s.io`.

use serde_json::{Value, json};

use super::Strategy;
use crate::{
    tree,
    validation::{FieldErrors, claims, storage},
};

/// Runs a check and answers with what it found.
fn found(check: impl FnOnce(&mut FieldErrors)) -> FieldErrors {
    let mut errors = FieldErrors::default();
    check(&mut errors);
    errors
}

/// Metadata of the object before, but for its managed fields.
fn keep_metadata(new: &mut Value, old: &Value) {
    let managed = new["metadata"]["managedFields"].take();
    new["metadata"] = old["metadata"].clone();
    if managed.is_null() {
        tree::remove(new, "metadata.managedFields");
    } else {
        new["metadata"]["managedFields"] = managed;
    }
}

pub(crate) struct Volumes;

impl Strategy for Volumes {
    fn prepare_for_create(&self, volume: &mut Value) {
        let mut status = json!({"phase": "Pending"});
        if let Some(now) = tree::at(volume, "metadata.creationTimestamp").as_str() {
            status["lastPhaseTransitionTime"] = now.into();
        }
        tree::set(volume, "status", status);
    }

    /// When a phase began is what the writer says; it is kept while the phase is.
    fn prepare_for_subresource(&self, _subresource: &str, new: &mut Value, old: &Value) {
        const TIME: &str = "status.lastPhaseTransitionTime";
        let same = tree::at(new, "status.phase") == tree::at(old, "status.phase");
        if same && !tree::has(new, TIME) && tree::has(old, TIME) {
            tree::set(new, TIME, tree::at(old, TIME).clone());
        }
    }

    fn validate(&self, volume: &Value) -> FieldErrors {
        let name = tree::text(volume, "metadata.name");
        found(|errors| claims::volume(errors, "spec", tree::at(volume, "spec"), name, false))
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        found(|errors| claims::volume_update(errors, new, old))
    }
}

pub(crate) struct Claims;

impl Strategy for Claims {
    fn prepare_for_create(&self, claim: &mut Value) {
        drop_unknown_source(claim);
        link_sources(claim);
        tree::set(claim, "status", json!({"phase": "Pending"}));
    }

    fn prepare_for_update(&self, new: &mut Value, old: &Value) {
        if !tree::has(old, "spec.dataSource") && !tree::has(old, "spec.dataSourceRef") {
            drop_unknown_source(new);
        }
        link_sources(new);
    }

    fn validate_create(&self, claim: &Value) -> FieldErrors {
        found(|errors| claims::claim(errors, "spec", tree::at(claim, "spec"), None))
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        found(|errors| {
            claims::claim(errors, "spec", tree::at(new, "spec"), Some(tree::at(old, "spec")));
            claims::claim_update(errors, new, old);
        })
    }

    fn validate_subresource(&self, _subresource: &str, new: &Value, _old: &Value) -> FieldErrors {
        found(|errors| claims::claim_status(errors, new))
    }
}

/// `dataSource` takes claims and snapshots; anything else is not looked at.
fn drop_unknown_source(claim: &mut Value) {
    let source = tree::at(claim, "spec.dataSource");
    let known = matches!(
        (tree::text(source, "apiGroup"), tree::text(source, "kind")),
        ("", "PersistentVolumeClaim") | ("snapshot.storage.k8s.io", "VolumeSnapshot")
    );
    // Sources of other namespaces are behind a gate that is off.
    if !tree::text(claim, "spec.dataSourceRef.namespace").is_empty() {
        tree::remove(claim, "spec.dataSourceRef");
    }
    if !known && !tree::has(claim, "spec.dataSourceRef") {
        tree::remove(claim, "spec.dataSource");
    }
}

/// `dataSource` and `dataSourceRef` say the same; a client may write either.
fn link_sources(claim: &mut Value) {
    let (source, reference) = (tree::at(claim, "spec.dataSource"), tree::at(claim, "spec.dataSourceRef"));
    match (source.is_null(), reference.is_null()) {
        (false, true) => {
            let source = source.clone();
            tree::set(claim, "spec.dataSourceRef", source);
        }
        (true, false) if tree::text(reference, "namespace").is_empty() => {
            let mut source = reference.clone();
            tree::remove(&mut source, "namespace");
            tree::set(claim, "spec.dataSource", source);
        }
        _ => {}
    }
}

pub(crate) struct StorageClasses;

impl Strategy for StorageClasses {
    fn validate(&self, class: &Value) -> FieldErrors {
        found(|errors| storage::class(errors, class))
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        found(|errors| storage::class_update(errors, new, old))
    }
}

pub(crate) struct AttributesClasses;

impl Strategy for AttributesClasses {
    fn validate(&self, class: &Value) -> FieldErrors {
        found(|errors| storage::attributes_class(errors, class))
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        found(|errors| storage::attributes_class_update(errors, new, old))
    }
}

pub(crate) struct Attachments;

impl Strategy for Attachments {
    fn prepare_for_subresource(&self, _subresource: &str, new: &mut Value, old: &Value) {
        keep_metadata(new, old);
    }

    fn validate(&self, attachment: &Value) -> FieldErrors {
        found(|errors| storage::attachment(errors, attachment))
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        found(|errors| storage::attachment_update(errors, new, old))
    }

    fn validate_subresource(&self, _subresource: &str, new: &Value, _old: &Value) -> FieldErrors {
        found(|errors| storage::attachment_status(errors, new))
    }
}

pub(crate) struct CsiNodes;

impl Strategy for CsiNodes {
    fn prepare_for_subresource(&self, _subresource: &str, new: &mut Value, old: &Value) {
        keep_metadata(new, old);
    }

    fn validate(&self, node: &Value) -> FieldErrors {
        found(|errors| storage::csi_node(errors, node))
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        found(|errors| storage::csi_node_update(errors, new, old))
    }
}

pub(crate) struct CsiDrivers;

impl Strategy for CsiDrivers {
    fn validate(&self, driver: &Value) -> FieldErrors {
        found(|errors| storage::csi_driver(errors, driver))
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        found(|errors| storage::csi_driver_update(errors, new, old))
    }

    fn has_generation(&self) -> bool {
        true
    }
}

pub(crate) struct Capacities;

impl Strategy for Capacities {
    fn validate(&self, capacity: &Value) -> FieldErrors {
        found(|errors| storage::capacity(errors, capacity))
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        found(|errors| storage::capacity_update(errors, new, old))
    }
}
