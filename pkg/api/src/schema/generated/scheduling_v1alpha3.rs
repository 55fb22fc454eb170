//! Types of package `scheduling_v1alpha3`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static OF_SCHEDULING_V1ALPHA3_TOPOLOGY_CONSTRAINT: Shape = obj(SCHEDULING_V1ALPHA3_TOPOLOGY_CONSTRAINT);

pub(super) const TOPOLOGY_CONSTRAINT: Type = ty("io.k8s.api.scheduling.v1alpha3.TopologyConstraint", &TOPOLOGY_CONSTRAINT_FIELDS, 0);
static TOPOLOGY_CONSTRAINT_FIELDS: [Field; 1] = [
    f("key", 1, STRING, REQUIRED),
];

pub(super) const WORKLOAD_POD_GROUP_ALL_DISRUPTION_MODE: Type = ty("io.k8s.api.scheduling.v1alpha3.WorkloadPodGroupAllDisruptionMode", &WORKLOAD_POD_GROUP_ALL_DISRUPTION_MODE_FIELDS, 0);
static WORKLOAD_POD_GROUP_ALL_DISRUPTION_MODE_FIELDS: [Field; 0] = [
];

pub(super) const WORKLOAD_POD_GROUP_BASIC_SCHEDULING_POLICY: Type = ty("io.k8s.api.scheduling.v1alpha3.WorkloadPodGroupBasicSchedulingPolicy", &WORKLOAD_POD_GROUP_BASIC_SCHEDULING_POLICY_FIELDS, 0);
static WORKLOAD_POD_GROUP_BASIC_SCHEDULING_POLICY_FIELDS: [Field; 0] = [
];

pub(super) const WORKLOAD_POD_GROUP_DISRUPTION_MODE: Type = ty("io.k8s.api.scheduling.v1alpha3.WorkloadPodGroupDisruptionMode", &WORKLOAD_POD_GROUP_DISRUPTION_MODE_FIELDS, 0);
static WORKLOAD_POD_GROUP_DISRUPTION_MODE_FIELDS: [Field; 2] = [
    f("all", 2, obj(SCHEDULING_V1ALPHA3_WORKLOAD_POD_GROUP_ALL_DISRUPTION_MODE), POINTER | OMIT_EMPTY),
    f("single", 1, obj(SCHEDULING_V1ALPHA3_WORKLOAD_POD_GROUP_SINGLE_DISRUPTION_MODE), POINTER | OMIT_EMPTY),
];

pub(super) const WORKLOAD_POD_GROUP_GANG_SCHEDULING_POLICY: Type = ty("io.k8s.api.scheduling.v1alpha3.WorkloadPodGroupGangSchedulingPolicy", &WORKLOAD_POD_GROUP_GANG_SCHEDULING_POLICY_FIELDS, 0);
static WORKLOAD_POD_GROUP_GANG_SCHEDULING_POLICY_FIELDS: [Field; 1] = [
    f("minCount", 1, INT32, POINTER | OMIT_EMPTY),
];

pub(super) const WORKLOAD_POD_GROUP_RESOURCE_CLAIM: Type = ty("io.k8s.api.scheduling.v1alpha3.WorkloadPodGroupResourceClaim", &WORKLOAD_POD_GROUP_RESOURCE_CLAIM_FIELDS, 0);
static WORKLOAD_POD_GROUP_RESOURCE_CLAIM_FIELDS: [Field; 3] = [
    f("name", 1, STRING, REQUIRED),
    f("resourceClaimName", 2, STRING, POINTER | OMIT_EMPTY),
    f("resourceClaimTemplateName", 3, STRING, POINTER | OMIT_EMPTY),
];

pub(super) const WORKLOAD_POD_GROUP_SCHEDULING_CONSTRAINTS: Type = ty("io.k8s.api.scheduling.v1alpha3.WorkloadPodGroupSchedulingConstraints", &WORKLOAD_POD_GROUP_SCHEDULING_CONSTRAINTS_FIELDS, 0);
static WORKLOAD_POD_GROUP_SCHEDULING_CONSTRAINTS_FIELDS: [Field; 1] = [
    f("topology", 1, list(&OF_SCHEDULING_V1ALPHA3_TOPOLOGY_CONSTRAINT), OMIT_EMPTY),
];

pub(super) const WORKLOAD_POD_GROUP_SCHEDULING_POLICY: Type = ty("io.k8s.api.scheduling.v1alpha3.WorkloadPodGroupSchedulingPolicy", &WORKLOAD_POD_GROUP_SCHEDULING_POLICY_FIELDS, 0);
static WORKLOAD_POD_GROUP_SCHEDULING_POLICY_FIELDS: [Field; 2] = [
    f("basic", 1, obj(SCHEDULING_V1ALPHA3_WORKLOAD_POD_GROUP_BASIC_SCHEDULING_POLICY), POINTER | OMIT_EMPTY),
    f("gang", 2, obj(SCHEDULING_V1ALPHA3_WORKLOAD_POD_GROUP_GANG_SCHEDULING_POLICY), POINTER | OMIT_EMPTY),
];

pub(super) const WORKLOAD_POD_GROUP_SINGLE_DISRUPTION_MODE: Type = ty("io.k8s.api.scheduling.v1alpha3.WorkloadPodGroupSingleDisruptionMode", &WORKLOAD_POD_GROUP_SINGLE_DISRUPTION_MODE_FIELDS, 0);
static WORKLOAD_POD_GROUP_SINGLE_DISRUPTION_MODE_FIELDS: [Field; 0] = [
];
