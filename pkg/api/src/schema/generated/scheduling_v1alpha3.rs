//! Types of package `scheduling_v1alpha3`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static KEYS_META_V1_CONDITION_TYPE: [Key; 1] = [key("type", Some("\"\""))];
static KEYS_SCHEDULING_V1ALPHA3_COMPOSITE_POD_GROUP_TEMPLATE_NAME: [Key; 1] = [key("name", Some("\"\""))];
static KEYS_SCHEDULING_V1ALPHA3_POD_GROUP_RESOURCE_CLAIM_NAME: [Key; 1] = [key("name", Some("\"\""))];
static KEYS_SCHEDULING_V1ALPHA3_POD_GROUP_RESOURCE_CLAIM_STATUS_NAME: [Key; 1] = [key("name", Some("\"\""))];
static KEYS_SCHEDULING_V1ALPHA3_POD_GROUP_TEMPLATE_NAME: [Key; 1] = [key("name", Some("\"\""))];
static OF_META_V1_CONDITION: Shape = obj(META_V1_CONDITION);
static OF_SCHEDULING_V1ALPHA3_COMPOSITE_POD_GROUP: Shape = obj(SCHEDULING_V1ALPHA3_COMPOSITE_POD_GROUP);
static OF_SCHEDULING_V1ALPHA3_COMPOSITE_POD_GROUP_TEMPLATE: Shape = obj(SCHEDULING_V1ALPHA3_COMPOSITE_POD_GROUP_TEMPLATE);
static OF_SCHEDULING_V1ALPHA3_POD_GROUP: Shape = obj(SCHEDULING_V1ALPHA3_POD_GROUP);
static OF_SCHEDULING_V1ALPHA3_POD_GROUP_RESOURCE_CLAIM: Shape = obj(SCHEDULING_V1ALPHA3_POD_GROUP_RESOURCE_CLAIM);
static OF_SCHEDULING_V1ALPHA3_POD_GROUP_RESOURCE_CLAIM_STATUS: Shape = obj(SCHEDULING_V1ALPHA3_POD_GROUP_RESOURCE_CLAIM_STATUS);
static OF_SCHEDULING_V1ALPHA3_POD_GROUP_TEMPLATE: Shape = obj(SCHEDULING_V1ALPHA3_POD_GROUP_TEMPLATE);
static OF_SCHEDULING_V1ALPHA3_TOPOLOGY_CONSTRAINT: Shape = obj(SCHEDULING_V1ALPHA3_TOPOLOGY_CONSTRAINT);
static OF_SCHEDULING_V1ALPHA3_WORKLOAD: Shape = obj(SCHEDULING_V1ALPHA3_WORKLOAD);

pub(super) const ALL_COMPOSITE_DISRUPTION_MODE: Type = ty("io.k8s.api.scheduling.v1alpha3.AllCompositeDisruptionMode", &ALL_COMPOSITE_DISRUPTION_MODE_FIELDS, 0);
static ALL_COMPOSITE_DISRUPTION_MODE_FIELDS: [Field; 0] = [
];

pub(super) const ALL_DISRUPTION_MODE: Type = ty("io.k8s.api.scheduling.v1alpha3.AllDisruptionMode", &ALL_DISRUPTION_MODE_FIELDS, 0);
static ALL_DISRUPTION_MODE_FIELDS: [Field; 0] = [
];

pub(super) const BASIC_SCHEDULING_POLICY: Type = ty("io.k8s.api.scheduling.v1alpha3.BasicSchedulingPolicy", &BASIC_SCHEDULING_POLICY_FIELDS, 0);
static BASIC_SCHEDULING_POLICY_FIELDS: [Field; 0] = [
];

pub(super) const COMPOSITE_BASIC_SCHEDULING_POLICY: Type = ty("io.k8s.api.scheduling.v1alpha3.CompositeBasicSchedulingPolicy", &COMPOSITE_BASIC_SCHEDULING_POLICY_FIELDS, 0);
static COMPOSITE_BASIC_SCHEDULING_POLICY_FIELDS: [Field; 0] = [
];

pub(super) const COMPOSITE_DISRUPTION_MODE: Type = ty("io.k8s.api.scheduling.v1alpha3.CompositeDisruptionMode", &COMPOSITE_DISRUPTION_MODE_FIELDS, 0);
static COMPOSITE_DISRUPTION_MODE_FIELDS: [Field; 2] = [
    f("all", 2, obj(SCHEDULING_V1ALPHA3_ALL_COMPOSITE_DISRUPTION_MODE), POINTER | OMIT_EMPTY),
    f("single", 1, obj(SCHEDULING_V1ALPHA3_SINGLE_COMPOSITE_DISRUPTION_MODE), POINTER | OMIT_EMPTY),
];

pub(super) const COMPOSITE_GANG_SCHEDULING_POLICY: Type = ty("io.k8s.api.scheduling.v1alpha3.CompositeGangSchedulingPolicy", &COMPOSITE_GANG_SCHEDULING_POLICY_FIELDS, 0);
static COMPOSITE_GANG_SCHEDULING_POLICY_FIELDS: [Field; 1] = [
    f("minGroupCount", 1, INT32, REQUIRED),
];

pub(super) const COMPOSITE_POD_GROUP: Type = ty("io.k8s.api.scheduling.v1alpha3.CompositePodGroup", &COMPOSITE_POD_GROUP_FIELDS, 0);
static COMPOSITE_POD_GROUP_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(SCHEDULING_V1ALPHA3_COMPOSITE_POD_GROUP_SPEC), REQUIRED),
    f("status", 3, obj(SCHEDULING_V1ALPHA3_COMPOSITE_POD_GROUP_STATUS), OMIT_EMPTY),
];

pub(super) const COMPOSITE_POD_GROUP_LIST: Type = ty("io.k8s.api.scheduling.v1alpha3.CompositePodGroupList", &COMPOSITE_POD_GROUP_LIST_FIELDS, 0);
static COMPOSITE_POD_GROUP_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_SCHEDULING_V1ALPHA3_COMPOSITE_POD_GROUP), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const COMPOSITE_POD_GROUP_SCHEDULING_CONSTRAINTS: Type = ty("io.k8s.api.scheduling.v1alpha3.CompositePodGroupSchedulingConstraints", &COMPOSITE_POD_GROUP_SCHEDULING_CONSTRAINTS_FIELDS, 0);
static COMPOSITE_POD_GROUP_SCHEDULING_CONSTRAINTS_FIELDS: [Field; 1] = [
    f("topology", 1, list(&OF_SCHEDULING_V1ALPHA3_TOPOLOGY_CONSTRAINT), OMIT_EMPTY),
];

pub(super) const COMPOSITE_POD_GROUP_SCHEDULING_POLICY: Type = ty("io.k8s.api.scheduling.v1alpha3.CompositePodGroupSchedulingPolicy", &COMPOSITE_POD_GROUP_SCHEDULING_POLICY_FIELDS, 0);
static COMPOSITE_POD_GROUP_SCHEDULING_POLICY_FIELDS: [Field; 2] = [
    f("basic", 1, obj(SCHEDULING_V1ALPHA3_COMPOSITE_BASIC_SCHEDULING_POLICY), POINTER | OMIT_EMPTY),
    f("gang", 2, obj(SCHEDULING_V1ALPHA3_COMPOSITE_GANG_SCHEDULING_POLICY), POINTER | OMIT_EMPTY),
];

pub(super) const COMPOSITE_POD_GROUP_SPEC: Type = ty("io.k8s.api.scheduling.v1alpha3.CompositePodGroupSpec", &COMPOSITE_POD_GROUP_SPEC_FIELDS, 0);
static COMPOSITE_POD_GROUP_SPEC_FIELDS: [Field; 8] = [
    full(&[], "disruptionMode", 5, obj(SCHEDULING_V1ALPHA3_COMPOSITE_DISRUPTION_MODE), POINTER | OMIT_EMPTY, Some("{\"single\":{}}"), &[], NO_PATCH),
    f("parentCompositePodGroupName", 1, STRING, POINTER | OMIT_EMPTY),
    full(&[], "preemptionPolicy", 8, STRING, POINTER | OMIT_EMPTY, None, &["Never", "PreemptLowerPriority"], NO_PATCH),
    f("priority", 7, INT32, POINTER | OMIT_EMPTY),
    f("priorityClassName", 6, STRING, OMIT_EMPTY),
    f("schedulingConstraints", 4, obj(SCHEDULING_V1ALPHA3_COMPOSITE_POD_GROUP_SCHEDULING_CONSTRAINTS), POINTER | OMIT_EMPTY),
    f("schedulingPolicy", 3, obj(SCHEDULING_V1ALPHA3_COMPOSITE_POD_GROUP_SCHEDULING_POLICY), REQUIRED),
    f("workloadRef", 2, obj(SCHEDULING_V1ALPHA3_WORKLOAD_REFERENCE), REQUIRED | POINTER),
];

pub(super) const COMPOSITE_POD_GROUP_STATUS: Type = ty("io.k8s.api.scheduling.v1alpha3.CompositePodGroupStatus", &COMPOSITE_POD_GROUP_STATUS_FIELDS, 0);
static COMPOSITE_POD_GROUP_STATUS_FIELDS: [Field; 1] = [
    full(&[], "conditions", 1, assoc(&OF_META_V1_CONDITION, &KEYS_META_V1_CONDITION_TYPE), OMIT_EMPTY, None, &[], merge_by("type")),
];

pub(super) const COMPOSITE_POD_GROUP_TEMPLATE: Type = ty("io.k8s.api.scheduling.v1alpha3.CompositePodGroupTemplate", &COMPOSITE_POD_GROUP_TEMPLATE_FIELDS, 0);
static COMPOSITE_POD_GROUP_TEMPLATE_FIELDS: [Field; 9] = [
    f("compositePodGroupTemplates", 9, assoc(&OF_SCHEDULING_V1ALPHA3_COMPOSITE_POD_GROUP_TEMPLATE, &KEYS_SCHEDULING_V1ALPHA3_COMPOSITE_POD_GROUP_TEMPLATE_NAME), OMIT_EMPTY),
    f("disruptionMode", 4, obj(SCHEDULING_V1ALPHA3_COMPOSITE_DISRUPTION_MODE), POINTER | OMIT_EMPTY),
    f("name", 1, STRING, REQUIRED),
    f("podGroupTemplates", 8, assoc(&OF_SCHEDULING_V1ALPHA3_POD_GROUP_TEMPLATE, &KEYS_SCHEDULING_V1ALPHA3_POD_GROUP_TEMPLATE_NAME), OMIT_EMPTY),
    full(&[], "preemptionPolicy", 7, STRING, POINTER | OMIT_EMPTY, None, &["Never", "PreemptLowerPriority"], NO_PATCH),
    f("priority", 6, INT32, POINTER | OMIT_EMPTY),
    f("priorityClassName", 5, STRING, OMIT_EMPTY),
    f("schedulingConstraints", 3, obj(SCHEDULING_V1ALPHA3_COMPOSITE_POD_GROUP_SCHEDULING_CONSTRAINTS), POINTER | OMIT_EMPTY),
    f("schedulingPolicy", 2, obj(SCHEDULING_V1ALPHA3_COMPOSITE_POD_GROUP_SCHEDULING_POLICY), REQUIRED),
];

pub(super) const DISRUPTION_MODE: Type = ty("io.k8s.api.scheduling.v1alpha3.DisruptionMode", &DISRUPTION_MODE_FIELDS, 0);
static DISRUPTION_MODE_FIELDS: [Field; 2] = [
    f("all", 2, obj(SCHEDULING_V1ALPHA3_ALL_DISRUPTION_MODE), POINTER | OMIT_EMPTY),
    f("single", 1, obj(SCHEDULING_V1ALPHA3_SINGLE_DISRUPTION_MODE), POINTER | OMIT_EMPTY),
];

pub(super) const GANG_SCHEDULING_POLICY: Type = ty("io.k8s.api.scheduling.v1alpha3.GangSchedulingPolicy", &GANG_SCHEDULING_POLICY_FIELDS, 0);
static GANG_SCHEDULING_POLICY_FIELDS: [Field; 1] = [
    f("minCount", 1, INT32, REQUIRED),
];

pub(super) const POD_GROUP: Type = ty("io.k8s.api.scheduling.v1alpha3.PodGroup", &POD_GROUP_FIELDS, 0);
static POD_GROUP_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(SCHEDULING_V1ALPHA3_POD_GROUP_SPEC), REQUIRED),
    f("status", 3, obj(SCHEDULING_V1ALPHA3_POD_GROUP_STATUS), OMIT_EMPTY),
];

pub(super) const POD_GROUP_LIST: Type = ty("io.k8s.api.scheduling.v1alpha3.PodGroupList", &POD_GROUP_LIST_FIELDS, 0);
static POD_GROUP_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_SCHEDULING_V1ALPHA3_POD_GROUP), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const POD_GROUP_RESOURCE_CLAIM: Type = ty("io.k8s.api.scheduling.v1alpha3.PodGroupResourceClaim", &POD_GROUP_RESOURCE_CLAIM_FIELDS, 0);
static POD_GROUP_RESOURCE_CLAIM_FIELDS: [Field; 3] = [
    f("name", 1, STRING, REQUIRED),
    f("resourceClaimName", 2, STRING, POINTER | OMIT_EMPTY),
    f("resourceClaimTemplateName", 3, STRING, POINTER | OMIT_EMPTY),
];

pub(super) const POD_GROUP_RESOURCE_CLAIM_STATUS: Type = ty("io.k8s.api.scheduling.v1alpha3.PodGroupResourceClaimStatus", &POD_GROUP_RESOURCE_CLAIM_STATUS_FIELDS, 0);
static POD_GROUP_RESOURCE_CLAIM_STATUS_FIELDS: [Field; 2] = [
    f("name", 1, STRING, REQUIRED),
    f("resourceClaimName", 2, STRING, POINTER | OMIT_EMPTY),
];

pub(super) const POD_GROUP_SCHEDULING_CONSTRAINTS: Type = ty("io.k8s.api.scheduling.v1alpha3.PodGroupSchedulingConstraints", &POD_GROUP_SCHEDULING_CONSTRAINTS_FIELDS, 0);
static POD_GROUP_SCHEDULING_CONSTRAINTS_FIELDS: [Field; 1] = [
    f("topology", 1, list(&OF_SCHEDULING_V1ALPHA3_TOPOLOGY_CONSTRAINT), OMIT_EMPTY),
];

pub(super) const POD_GROUP_SCHEDULING_POLICY: Type = ty("io.k8s.api.scheduling.v1alpha3.PodGroupSchedulingPolicy", &POD_GROUP_SCHEDULING_POLICY_FIELDS, 0);
static POD_GROUP_SCHEDULING_POLICY_FIELDS: [Field; 2] = [
    f("basic", 1, obj(SCHEDULING_V1ALPHA3_BASIC_SCHEDULING_POLICY), POINTER | OMIT_EMPTY),
    f("gang", 2, obj(SCHEDULING_V1ALPHA3_GANG_SCHEDULING_POLICY), POINTER | OMIT_EMPTY),
];

pub(super) const POD_GROUP_SPEC: Type = ty("io.k8s.api.scheduling.v1alpha3.PodGroupSpec", &POD_GROUP_SPEC_FIELDS, 0);
static POD_GROUP_SPEC_FIELDS: [Field; 9] = [
    full(&[], "disruptionMode", 6, obj(SCHEDULING_V1ALPHA3_DISRUPTION_MODE), POINTER | OMIT_EMPTY, Some("{\"single\":{}}"), &[], NO_PATCH),
    f("parentCompositePodGroupName", 1, STRING, POINTER | OMIT_EMPTY),
    full(&[], "preemptionPolicy", 9, STRING, POINTER | OMIT_EMPTY, None, &["Never", "PreemptLowerPriority"], NO_PATCH),
    f("priority", 8, INT32, POINTER | OMIT_EMPTY),
    f("priorityClassName", 7, STRING, OMIT_EMPTY),
    full(&[], "resourceClaims", 5, assoc(&OF_SCHEDULING_V1ALPHA3_POD_GROUP_RESOURCE_CLAIM, &KEYS_SCHEDULING_V1ALPHA3_POD_GROUP_RESOURCE_CLAIM_NAME), OMIT_EMPTY, None, &[], merge_retain_by("name")),
    f("schedulingConstraints", 4, obj(SCHEDULING_V1ALPHA3_POD_GROUP_SCHEDULING_CONSTRAINTS), POINTER | OMIT_EMPTY),
    f("schedulingPolicy", 3, obj(SCHEDULING_V1ALPHA3_POD_GROUP_SCHEDULING_POLICY), REQUIRED),
    f("workloadRef", 2, obj(SCHEDULING_V1ALPHA3_WORKLOAD_REFERENCE), POINTER | OMIT_EMPTY),
];

pub(super) const POD_GROUP_STATUS: Type = ty("io.k8s.api.scheduling.v1alpha3.PodGroupStatus", &POD_GROUP_STATUS_FIELDS, 0);
static POD_GROUP_STATUS_FIELDS: [Field; 2] = [
    full(&[], "conditions", 1, assoc(&OF_META_V1_CONDITION, &KEYS_META_V1_CONDITION_TYPE), OMIT_EMPTY, None, &[], merge_by("type")),
    full(&[], "resourceClaimStatuses", 2, assoc(&OF_SCHEDULING_V1ALPHA3_POD_GROUP_RESOURCE_CLAIM_STATUS, &KEYS_SCHEDULING_V1ALPHA3_POD_GROUP_RESOURCE_CLAIM_STATUS_NAME), OMIT_EMPTY, None, &[], merge_retain_by("name")),
];

pub(super) const POD_GROUP_TEMPLATE: Type = ty("io.k8s.api.scheduling.v1alpha3.PodGroupTemplate", &POD_GROUP_TEMPLATE_FIELDS, 0);
static POD_GROUP_TEMPLATE_FIELDS: [Field; 8] = [
    f("disruptionMode", 5, obj(SCHEDULING_V1ALPHA3_DISRUPTION_MODE), POINTER | OMIT_EMPTY),
    f("name", 1, STRING, REQUIRED),
    full(&[], "preemptionPolicy", 8, STRING, POINTER | OMIT_EMPTY, None, &["Never", "PreemptLowerPriority"], NO_PATCH),
    f("priority", 7, INT32, POINTER | OMIT_EMPTY),
    f("priorityClassName", 6, STRING, OMIT_EMPTY),
    full(&[], "resourceClaims", 4, assoc(&OF_SCHEDULING_V1ALPHA3_POD_GROUP_RESOURCE_CLAIM, &KEYS_SCHEDULING_V1ALPHA3_POD_GROUP_RESOURCE_CLAIM_NAME), OMIT_EMPTY, None, &[], merge_retain_by("name")),
    f("schedulingConstraints", 3, obj(SCHEDULING_V1ALPHA3_POD_GROUP_SCHEDULING_CONSTRAINTS), POINTER),
    f("schedulingPolicy", 2, obj(SCHEDULING_V1ALPHA3_POD_GROUP_SCHEDULING_POLICY), REQUIRED),
];

pub(super) const SINGLE_COMPOSITE_DISRUPTION_MODE: Type = ty("io.k8s.api.scheduling.v1alpha3.SingleCompositeDisruptionMode", &SINGLE_COMPOSITE_DISRUPTION_MODE_FIELDS, 0);
static SINGLE_COMPOSITE_DISRUPTION_MODE_FIELDS: [Field; 0] = [
];

pub(super) const SINGLE_DISRUPTION_MODE: Type = ty("io.k8s.api.scheduling.v1alpha3.SingleDisruptionMode", &SINGLE_DISRUPTION_MODE_FIELDS, 0);
static SINGLE_DISRUPTION_MODE_FIELDS: [Field; 0] = [
];

pub(super) const TOPOLOGY_CONSTRAINT: Type = ty("io.k8s.api.scheduling.v1alpha3.TopologyConstraint", &TOPOLOGY_CONSTRAINT_FIELDS, 0);
static TOPOLOGY_CONSTRAINT_FIELDS: [Field; 1] = [
    f("key", 1, STRING, REQUIRED),
];

pub(super) const TYPED_LOCAL_OBJECT_REFERENCE: Type = ty("io.k8s.api.scheduling.v1alpha3.TypedLocalObjectReference", &TYPED_LOCAL_OBJECT_REFERENCE_FIELDS, 0);
static TYPED_LOCAL_OBJECT_REFERENCE_FIELDS: [Field; 3] = [
    f("apiGroup", 1, STRING, OMIT_EMPTY),
    f("kind", 2, STRING, REQUIRED),
    f("name", 3, STRING, REQUIRED),
];

pub(super) const WORKLOAD: Type = ty("io.k8s.api.scheduling.v1alpha3.Workload", &WORKLOAD_FIELDS, 0);
static WORKLOAD_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(SCHEDULING_V1ALPHA3_WORKLOAD_SPEC), REQUIRED),
];

pub(super) const WORKLOAD_LIST: Type = ty("io.k8s.api.scheduling.v1alpha3.WorkloadList", &WORKLOAD_LIST_FIELDS, 0);
static WORKLOAD_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_SCHEDULING_V1ALPHA3_WORKLOAD), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
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

pub(super) const WORKLOAD_REFERENCE: Type = ty("io.k8s.api.scheduling.v1alpha3.WorkloadReference", &WORKLOAD_REFERENCE_FIELDS, 0);
static WORKLOAD_REFERENCE_FIELDS: [Field; 2] = [
    f("templateName", 2, STRING, REQUIRED),
    f("workloadName", 1, STRING, REQUIRED),
];

pub(super) const WORKLOAD_SPEC: Type = ty("io.k8s.api.scheduling.v1alpha3.WorkloadSpec", &WORKLOAD_SPEC_FIELDS, 0);
static WORKLOAD_SPEC_FIELDS: [Field; 3] = [
    f("compositePodGroupTemplates", 3, assoc(&OF_SCHEDULING_V1ALPHA3_COMPOSITE_POD_GROUP_TEMPLATE, &KEYS_SCHEDULING_V1ALPHA3_COMPOSITE_POD_GROUP_TEMPLATE_NAME), OMIT_EMPTY),
    f("controllerRef", 1, obj(SCHEDULING_V1ALPHA3_TYPED_LOCAL_OBJECT_REFERENCE), POINTER | OMIT_EMPTY),
    f("podGroupTemplates", 2, assoc(&OF_SCHEDULING_V1ALPHA3_POD_GROUP_TEMPLATE, &KEYS_SCHEDULING_V1ALPHA3_POD_GROUP_TEMPLATE_NAME), 0),
];
