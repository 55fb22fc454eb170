//! Signing requests, trust bundles and certificate requests of pods.
//!
//! What needs the requester or a clock (`spec.username`, times of conditions) is filled in by the
//! API server's admission.

use serde_json::{Value, json};

use super::{Strategy, tracked::keep_metadata};
use crate::{
    tree,
    validation::{
        FieldErrors, IMMUTABLE, NameRule,
        certificates::{self, Change},
        pod_certificates,
    },
};

/// Never changed after creation, but for what the subresources are about.
pub(crate) struct SigningRequests;

impl Strategy for SigningRequests {
    fn prepare_for_create(&self, request: &mut Value) {
        tree::set(request, "status", json!({}));
    }

    fn prepare_for_update(&self, new: &mut Value, old: &Value) {
        for field in ["spec", "status"] {
            new[field] = old[field].clone();
        }
    }

    fn validate_create(&self, request: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        certificates::signing_request(&mut errors, request, None);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        certificates::signing_request_update(&mut errors, new, old, Change::Plain);
        errors
    }

    /// `/status` leaves conditions Approved and Denied as they are, where there are as many as before.
    fn prepare_for_subresource(&self, subresource: &str, new: &mut Value, old: &Value) {
        if subresource != "status" {
            return;
        }
        for kind in ["Approved", "Denied"] {
            let had: Vec<Value> =
                tree::items(old, "status.conditions").iter().filter(|c| c["type"] == kind).cloned().collect();
            let conditions = new.pointer_mut("/status/conditions").and_then(Value::as_array_mut);
            let mut has: Vec<&mut Value> = conditions.into_iter().flatten().filter(|c| c["type"] == kind).collect();
            if has.len() == had.len() {
                has.iter_mut().zip(had).for_each(|(now, before)| **now = before);
            }
        }
    }

    fn validate_subresource(&self, subresource: &str, new: &Value, old: &Value) -> FieldErrors {
        let change = if subresource == "approval" { Change::Approval } else { Change::Status };
        let mut errors = FieldErrors::default();
        certificates::signing_request_update(&mut errors, new, old, change);
        errors
    }

    fn name_rule(&self) -> NameRule {
        NameRule::PathSegment
    }
}

/// Trust anchors, of a signer or of nobody in particular.
pub(crate) struct TrustBundles;

impl Strategy for TrustBundles {
    fn validate(&self, bundle: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        let signer = tree::text(bundle, "spec.signerName");
        certificates::trust_bundle_name(&mut errors, tree::text(bundle, "metadata.name"), signer);
        if !signer.is_empty() {
            certificates::signer_name(&mut errors, "spec.signerName", signer);
        }
        errors
    }

    fn validate_create(&self, bundle: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        certificates::trust_bundle(&mut errors, "spec.trustBundle", tree::text(bundle, "spec.trustBundle"));
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        if tree::at(new, "spec.trustBundle") != tree::at(old, "spec.trustBundle") {
            errors.extend(self.validate_create(new));
        }
        let signer = |bundle| tree::text(bundle, "spec.signerName").to_owned();
        if signer(new) != signer(old) {
            errors.invalid("spec.signerName", signer(new), IMMUTABLE);
        }
        errors
    }

    fn name_rule(&self) -> NameRule {
        NameRule::PathSegment
    }
}

/// What kubelets ask for in the name of a pod.
pub(crate) struct PodRequests;

impl Strategy for PodRequests {
    fn validate_create(&self, request: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        pod_certificates::request(&mut errors, request);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        errors.fixed("spec", new, old);
        errors
    }

    fn prepare_for_subresource(&self, _subresource: &str, new: &mut Value, old: &Value) {
        keep_metadata(new, old);
    }

    fn validate_subresource(&self, _subresource: &str, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        pod_certificates::status(&mut errors, new, old);
        errors
    }
}
