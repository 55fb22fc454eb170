//! Network policies, Ingresses and their classes, addresses and ranges of Services.

use serde_json::Value;

use super::{Strategy, tracked::keep_metadata};
use crate::validation::{FieldErrors, NameRule, ip, networking};

pub(crate) struct NetworkPolicies;

impl Strategy for NetworkPolicies {
    fn has_generation(&self) -> bool {
        true
    }

    fn validate_create(&self, policy: &Value) -> FieldErrors {
        self.validate_update(policy, &Value::Null)
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        networking::network_policy(&mut errors, new, old);
        errors
    }
}

pub(crate) struct Ingresses;

impl Strategy for Ingresses {
    fn has_generation(&self) -> bool {
        true
    }

    fn validate_create(&self, ingress: &Value) -> FieldErrors {
        self.validate_update(ingress, &Value::Null)
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        networking::ingress(&mut errors, new, old);
        errors
    }

    fn validate_subresource(&self, _subresource: &str, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        networking::ingress_status(&mut errors, new, old);
        errors
    }
}

pub(crate) struct IngressClasses;

impl Strategy for IngressClasses {
    fn has_generation(&self) -> bool {
        true
    }

    fn validate(&self, class: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        networking::ingress_class(&mut errors, class);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        errors.immutable("spec.controller", new, old);
        errors
    }
}

/// An address in use; it is the name.
pub(crate) struct IpAddresses;

impl Strategy for IpAddresses {
    fn validate(&self, address: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        networking::ip_address(&mut errors, address);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        errors.immutable("spec.parentRef", new, old);
        errors
    }

    fn validate_name(&self, name: &str) -> FieldErrors {
        let mut errors = FieldErrors::default();
        ip::canonical_address(&mut errors, "metadata.name", name);
        errors
    }

    fn name_rule(&self) -> NameRule {
        NameRule::PathSegment
    }
}

/// Ranges that addresses of Services are taken from.
pub(crate) struct ServiceCidrs;

impl Strategy for ServiceCidrs {
    fn prepare_for_subresource(&self, _subresource: &str, new: &mut Value, old: &Value) {
        keep_metadata(new, old);
    }

    fn validate_create(&self, object: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        networking::service_cidr(&mut errors, object);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        networking::service_cidr_update(&mut errors, new, old);
        errors
    }
}
