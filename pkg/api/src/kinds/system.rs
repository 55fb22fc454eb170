//! Rows that belong to the cluster's own running: admission, scheduling, coordination, runtime
//! classes, devices and flow control.

use super::row::{Group, Row, STATUS};

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
    Row::cluster("MutatingAdmissionPolicy", "mutatingadmissionpolicies").categories(EXTENSIONS),
    Row::cluster("MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings").categories(EXTENSIONS),
    Row::cluster("MutatingWebhookConfiguration", "mutatingwebhookconfigurations").categories(EXTENSIONS),
    Row::cluster("ValidatingAdmissionPolicy", "validatingadmissionpolicies").categories(EXTENSIONS).subs(STATUS),
    Row::cluster("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings").categories(EXTENSIONS),
    Row::cluster("ValidatingWebhookConfiguration", "validatingwebhookconfigurations").categories(EXTENSIONS),
];

pub(super) const SCHEDULING_ROWS: &[Row] = &[Row::cluster("PriorityClass", "priorityclasses").short(&["pc"])];

pub(super) const COORDINATION_ROWS: &[Row] = &[Row::namespaced("Lease", "leases").relaxed()];

pub(super) const NODE_ROWS: &[Row] = &[Row::cluster("RuntimeClass", "runtimeclasses")];

pub(super) const RESOURCE_ROWS: &[Row] = &[
    Row::cluster("DeviceClass", "deviceclasses"),
    Row::cluster("DeviceTaintRule", "devicetaintrules").subs(STATUS),
    Row::namespaced("ResourceClaim", "resourceclaims").subs(STATUS),
    Row::namespaced("ResourceClaimTemplate", "resourceclaimtemplates"),
    Row::cluster("ResourceSlice", "resourceslices").selectable(&["spec.nodeName", "spec.driver"]),
];

pub(super) const FLOWCONTROL_ROWS: &[Row] = &[
    Row::cluster("FlowSchema", "flowschemas").subs(STATUS),
    Row::cluster("PriorityLevelConfiguration", "prioritylevelconfigurations").subs(STATUS),
];
