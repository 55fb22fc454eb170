//! Types of package `policy_v1`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static KEYS_META_V1_CONDITION_TYPE: [Key; 1] = [key("type", Some("\"\""))];
static OF_META_V1_CONDITION: Shape = obj(META_V1_CONDITION);
static OF_POLICY_V1_POD_DISRUPTION_BUDGET: Shape = obj(POLICY_V1_POD_DISRUPTION_BUDGET);
static OF_TIME: Shape = TIME;

pub(super) const EVICTION: Type = ty("io.k8s.api.policy.v1.Eviction", &EVICTION_FIELDS, 0);
static EVICTION_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("deleteOptions", 2, obj(META_V1_DELETE_OPTIONS), POINTER | OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
];

pub(super) const POD_DISRUPTION_BUDGET: Type = ty("io.k8s.api.policy.v1.PodDisruptionBudget", &POD_DISRUPTION_BUDGET_FIELDS, 0);
static POD_DISRUPTION_BUDGET_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(POLICY_V1_POD_DISRUPTION_BUDGET_SPEC), OMIT_EMPTY),
    f("status", 3, obj(POLICY_V1_POD_DISRUPTION_BUDGET_STATUS), OMIT_EMPTY),
];

pub(super) const POD_DISRUPTION_BUDGET_LIST: Type = ty("io.k8s.api.policy.v1.PodDisruptionBudgetList", &POD_DISRUPTION_BUDGET_LIST_FIELDS, 0);
static POD_DISRUPTION_BUDGET_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_POLICY_V1_POD_DISRUPTION_BUDGET), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const POD_DISRUPTION_BUDGET_SPEC: Type = ty("io.k8s.api.policy.v1.PodDisruptionBudgetSpec", &POD_DISRUPTION_BUDGET_SPEC_FIELDS, 0);
static POD_DISRUPTION_BUDGET_SPEC_FIELDS: [Field; 4] = [
    f("maxUnavailable", 3, INT_OR_STRING, POINTER | OMIT_EMPTY),
    f("minAvailable", 1, INT_OR_STRING, POINTER | OMIT_EMPTY),
    full(&[], "selector", 2, obj(META_V1_LABEL_SELECTOR), POINTER | OMIT_EMPTY, None, &[], REPLACE),
    full(&[], "unhealthyPodEvictionPolicy", 4, STRING, POINTER | OMIT_EMPTY, None, &["AlwaysAllow", "IfHealthyBudget"], NO_PATCH),
];

pub(super) const POD_DISRUPTION_BUDGET_STATUS: Type = ty("io.k8s.api.policy.v1.PodDisruptionBudgetStatus", &POD_DISRUPTION_BUDGET_STATUS_FIELDS, 0);
static POD_DISRUPTION_BUDGET_STATUS_FIELDS: [Field; 7] = [
    full(&[], "conditions", 7, assoc(&OF_META_V1_CONDITION, &KEYS_META_V1_CONDITION_TYPE), OMIT_EMPTY, None, &[], merge_by("type")),
    f("currentHealthy", 4, INT32, 0),
    f("desiredHealthy", 5, INT32, 0),
    f("disruptedPods", 2, map(&OF_TIME), OMIT_EMPTY),
    f("disruptionsAllowed", 3, INT32, 0),
    f("expectedPods", 6, INT32, 0),
    f("observedGeneration", 1, INT64, OMIT_EMPTY),
];
