//! What a kind may do differently on the one path. Every hook has a no-op default, so that an
//! ordinary kind is a row and nothing else.
//!
//! All hooks are pure. The pipeline calls them in this order, create: `default` →
//! `prepare_for_create` → `validate` → `validate_create`; update (also by patch): `default` → `prepare_for_update` →
//! `validate` → `validate_update`; subresource: `prepare_for_subresource` → `validate_subresource`.
//! The pipeline itself owns metadata (names, UIDs, timestamps,
//! generation, managed fields) and the split of spec and status between main resource and
//! `/status`.

mod admission;
mod apps;
mod autoscaling;
mod batch;
mod certificates;
mod cluster;
mod core;
mod custom;
mod devices;
mod endpoints;
mod flowcontrol;
mod gates;
mod migration;
mod networking;
mod pods;
mod quota;
mod rbac;
mod registration;
mod reviews;
mod services;
mod storage;
#[cfg(test)]
mod tests;
mod tracked;

pub use pods::qos_class;
use serde_json::Value;

pub(crate) use self::{
    admission::{Policies, PolicyBindings, Webhooks},
    apps::{
        ControllerRevisions, DaemonSets, Deployments, PodTemplates, ReplicaSets, ReplicationControllers, StatefulSets,
    },
    autoscaling::{Autoscalers, DisruptionBudgets},
    batch::{CronJobs, Jobs},
    certificates::{PodRequests, SigningRequests, TrustBundles},
    cluster::{Events, Leases, PriorityClasses, RuntimeClasses},
    core::{ConfigMaps, Namespaces, Nodes, Secrets, ServiceAccounts},
    custom::{CustomResourceDefinitions, CustomResources},
    devices::{ClaimTemplates, Claims as DeviceClaims, DeviceClasses, Slices, TaintRules},
    endpoints::{EndpointSlices, Endpoints},
    flowcontrol::{FlowSchemas, PriorityLevels},
    migration::Migrations,
    networking::{IngressClasses, Ingresses, IpAddresses, NetworkPolicies, ServiceCidrs},
    pods::Pods,
    quota::{LimitRanges, ResourceQuotas},
    rbac::{Bindings, Roles},
    registration::ApiServices,
    reviews::AccessReviews,
    services::Services,
    storage::{Attachments, AttributesClasses, Capacities, Claims, CsiDrivers, CsiNodes, StorageClasses, Volumes},
};
use crate::validation::FieldErrors;

/// Behaviour of a kind; see the module.
pub trait Strategy: Send + Sync {
    /// Fills what a client may leave out, beyond the defaults table.
    fn default(&self, _object: &mut Value) {}

    /// Clears what clients may not set at creation (the pipeline has removed `status` already,
    /// where the kind has a status subresource), and sets what starts with a fixed value.
    fn prepare_for_create(&self, _object: &mut Value) {}

    /// Restores from `old` what an update of the main resource may not change silently.
    fn prepare_for_update(&self, _new: &mut Value, _old: &Value) {}

    /// Checks a whole object. Metadata is checked by the pipeline, but for the name.
    fn validate(&self, _object: &Value) -> FieldErrors {
        FieldErrors::default()
    }

    /// Checks a new object further, after [`Strategy::validate`].
    fn validate_create(&self, _object: &Value) -> FieldErrors {
        FieldErrors::default()
    }

    /// Whether clients may give a status at creation, though there is a status subresource.
    fn keeps_status_on_create(&self) -> bool {
        false
    }

    /// Checks a change, after [`Strategy::validate`].
    fn validate_update(&self, _new: &Value, _old: &Value) -> FieldErrors {
        FieldErrors::default()
    }

    /// Sets or restores what a write to a subresource (`status`, `resize`, …) takes with it. The
    /// pipeline has cut the change down to what the subresource names.
    fn prepare_for_subresource(&self, _subresource: &str, _new: &mut Value, _old: &Value) {}

    /// Checks a write to a subresource that shows the whole object.
    fn validate_subresource(&self, _subresource: &str, _new: &Value, _old: &Value) -> FieldErrors {
        FieldErrors::default()
    }

    /// The rule for `metadata.name`.
    fn name_rule(&self) -> crate::validation::NameRule {
        crate::validation::NameRule::Subdomain
    }

    /// Further rules for a whole `metadata.name`, beyond [`Strategy::name_rule`].
    fn validate_name(&self, _name: &str) -> FieldErrors {
        FieldErrors::default()
    }

    /// Whether `metadata.generation` is kept for the kind, and what moves it: by default a change
    /// outside metadata and status.
    fn generation_moves(&self, new: &Value, old: &Value) -> bool {
        new.get("spec") != old.get("spec")
    }

    /// Whether the kind has a generation at all (those with a spec that a controller follows).
    fn has_generation(&self) -> bool {
        false
    }

    /// Seconds between the deletion request and the removal by the owner of the object, for kinds
    /// that end gracefully (pods); `requested` comes from DeleteOptions. `None`: removed at once.
    fn grace_seconds(&self, _object: &Value, _requested: Option<i64>) -> Option<i64> {
        None
    }

    /// Marks an object whose deletion is asked for, at the first time; `now` in RFC 3339. A finalizer keeps it.
    fn prepare_for_deletion(&self, _object: &mut Value, _now: &str) {}

    /// Finalizers that every new object starts with.
    fn initial_finalizers(&self) -> &'static [&'static str] {
        &[]
    }
}

/// The strategy of a kind that is usual in every way.
pub struct Usual;
impl Strategy for Usual {}
