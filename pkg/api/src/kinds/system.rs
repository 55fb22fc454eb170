//! Rows that belong to the cluster's own running: admission, scheduling, coordination, runtime
//! classes, devices and flow control.

use super::row::{Group, Row, STATUS};
use crate::{strategy, table, validation::admission::Sort};

const EXTENSIONS: &[&str] = &["api-extensions"];

pub(super) static ADMISSION: Group =
    Group { group: "admissionregistration.k8s.io", version: "v1", package: "io.k8s.api.admissionregistration" };
pub(super) static SCHEDULING: Group =
    Group { group: "scheduling.k8s.io", version: "v1", package: "io.k8s.api.scheduling" };
pub(super) static COORDINATION: Group =
    Group { group: "coordination.k8s.io", version: "v1", package: "io.k8s.api.coordination" };
pub(super) static NODE: Group = Group { group: "node.k8s.io", version: "v1", package: "io.k8s.api.node" };
pub(super) static RESOURCE: Group = Group { group: "resource.k8s.io", version: "v1", package: "io.k8s.api.resource" };
pub(super) static FLOWCONTROL: Group =
    Group { group: "flowcontrol.apiserver.k8s.io", version: "v1", package: "io.k8s.api.flowcontrol" };

pub(super) const ADMISSION_ROWS: &[Row] = &[
    Row::cluster("MutatingAdmissionPolicy", "mutatingadmissionpolicies")
        .based()
        .bare_finalizers()
        .strategy(&strategy::Policies(Sort::Mutating))
        .columns(&table::system::MUTATING_POLICY)
        .categories(EXTENSIONS),
    Row::cluster("MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings")
        .based()
        .bare_finalizers()
        .strategy(&strategy::PolicyBindings(Sort::Mutating))
        .columns(&table::system::POLICY_BINDING)
        .categories(EXTENSIONS),
    Row::cluster("MutatingWebhookConfiguration", "mutatingwebhookconfigurations")
        .based()
        .bare_finalizers()
        .strategy(&strategy::Webhooks)
        .columns(&table::cluster::WEBHOOKS)
        .categories(EXTENSIONS),
    Row::cluster("ValidatingAdmissionPolicy", "validatingadmissionpolicies")
        .based()
        .bare_finalizers()
        .strategy(&strategy::Policies(Sort::Validating))
        .columns(&table::system::VALIDATING_POLICY)
        .categories(EXTENSIONS)
        .subs(STATUS),
    Row::cluster("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings")
        .based()
        .bare_finalizers()
        .strategy(&strategy::PolicyBindings(Sort::Validating))
        .columns(&table::system::POLICY_BINDING)
        .categories(EXTENSIONS),
    Row::cluster("ValidatingWebhookConfiguration", "validatingwebhookconfigurations")
        .based()
        .bare_finalizers()
        .strategy(&strategy::Webhooks)
        .columns(&table::cluster::WEBHOOKS)
        .categories(EXTENSIONS),
];

pub(super) const SCHEDULING_ROWS: &[Row] = &[Row::cluster("PriorityClass", "priorityclasses")
    .strategy(&strategy::PriorityClasses)
    .columns(&table::cluster::PRIORITY_CLASS)
    .short(&["pc"])];

pub(super) const COORDINATION_ROWS: &[Row] = &[Row::namespaced("Lease", "leases")
    .based()
    .made_by_update()
    .bare_finalizers()
    .strategy(&strategy::Leases)
    .columns(&table::cluster::LEASE)
    .relaxed()];

pub(super) const NODE_ROWS: &[Row] = &[Row::cluster("RuntimeClass", "runtimeclasses")
    .based()
    .made_by_update()
    .strategy(&strategy::RuntimeClasses)
    .columns(&table::cluster::RUNTIME_CLASS)];

pub(super) const RESOURCE_ROWS: &[Row] = &[
    Row::cluster("DeviceClass", "deviceclasses")
        .returns_deleted()
        .strategy(&strategy::DeviceClasses)
        .columns(&table::system::NAME_AND_AGE),
    Row::cluster("DeviceTaintRule", "devicetaintrules")
        .based()
        .strategy(&strategy::TaintRules)
        .columns(&table::system::DEVICE_TAINT)
        .subs(STATUS),
    Row::namespaced("ResourceClaim", "resourceclaims")
        .returns_deleted()
        .strategy(&strategy::DeviceClaims)
        .columns(&table::system::RESOURCE_CLAIM)
        .subs(STATUS),
    Row::namespaced("ResourceClaimTemplate", "resourceclaimtemplates")
        .returns_deleted()
        .strategy(&strategy::ClaimTemplates)
        .columns(&table::system::NAME_AND_AGE),
    Row::cluster("ResourceSlice", "resourceslices")
        .returns_deleted()
        .strategy(&strategy::Slices)
        .columns(&table::system::RESOURCE_SLICE)
        .selectable(&["spec.nodeName", "spec.driver"]),
];

pub(super) const FLOWCONTROL_ROWS: &[Row] = &[
    Row::cluster("FlowSchema", "flowschemas")
        .strategy(&strategy::FlowSchemas)
        .columns(&table::system::FLOW_SCHEMA)
        .subs(STATUS),
    Row::cluster("PriorityLevelConfiguration", "prioritylevelconfigurations")
        .strategy(&strategy::PriorityLevels)
        .columns(&table::system::PRIORITY_LEVEL)
        .subs(STATUS),
];
