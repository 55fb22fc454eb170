//! Types of package `rbac_v1`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static OF_META_V1_LABEL_SELECTOR: Shape = obj(META_V1_LABEL_SELECTOR);
static OF_RBAC_V1_CLUSTER_ROLE: Shape = obj(RBAC_V1_CLUSTER_ROLE);
static OF_RBAC_V1_CLUSTER_ROLE_BINDING: Shape = obj(RBAC_V1_CLUSTER_ROLE_BINDING);
static OF_RBAC_V1_POLICY_RULE: Shape = obj(RBAC_V1_POLICY_RULE);
static OF_RBAC_V1_ROLE: Shape = obj(RBAC_V1_ROLE);
static OF_RBAC_V1_ROLE_BINDING: Shape = obj(RBAC_V1_ROLE_BINDING);
static OF_RBAC_V1_SUBJECT: Shape = obj(RBAC_V1_SUBJECT);
static OF_STRING: Shape = STRING;

pub(super) const AGGREGATION_RULE: Type = ty("io.k8s.api.rbac.v1.AggregationRule", &AGGREGATION_RULE_FIELDS, 0);
static AGGREGATION_RULE_FIELDS: [Field; 1] = [
    f("clusterRoleSelectors", 1, list(&OF_META_V1_LABEL_SELECTOR), OMIT_EMPTY),
];

pub(super) const CLUSTER_ROLE: Type = ty("io.k8s.api.rbac.v1.ClusterRole", &CLUSTER_ROLE_FIELDS, 0);
static CLUSTER_ROLE_FIELDS: [Field; 5] = [
    f("aggregationRule", 3, obj(RBAC_V1_AGGREGATION_RULE), POINTER | OMIT_EMPTY),
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("rules", 2, list(&OF_RBAC_V1_POLICY_RULE), 0),
];

pub(super) const CLUSTER_ROLE_BINDING: Type = ty("io.k8s.api.rbac.v1.ClusterRoleBinding", &CLUSTER_ROLE_BINDING_FIELDS, 0);
static CLUSTER_ROLE_BINDING_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("roleRef", 3, obj(RBAC_V1_ROLE_REF), REQUIRED),
    f("subjects", 2, list(&OF_RBAC_V1_SUBJECT), OMIT_EMPTY),
];

pub(super) const CLUSTER_ROLE_BINDING_LIST: Type = ty("io.k8s.api.rbac.v1.ClusterRoleBindingList", &CLUSTER_ROLE_BINDING_LIST_FIELDS, 0);
static CLUSTER_ROLE_BINDING_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_RBAC_V1_CLUSTER_ROLE_BINDING), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const CLUSTER_ROLE_LIST: Type = ty("io.k8s.api.rbac.v1.ClusterRoleList", &CLUSTER_ROLE_LIST_FIELDS, 0);
static CLUSTER_ROLE_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_RBAC_V1_CLUSTER_ROLE), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const POLICY_RULE: Type = ty("io.k8s.api.rbac.v1.PolicyRule", &POLICY_RULE_FIELDS, 0);
static POLICY_RULE_FIELDS: [Field; 5] = [
    f("apiGroups", 2, list(&OF_STRING), OMIT_EMPTY),
    f("nonResourceURLs", 5, list(&OF_STRING), OMIT_EMPTY),
    f("resourceNames", 4, list(&OF_STRING), OMIT_EMPTY),
    f("resources", 3, list(&OF_STRING), OMIT_EMPTY),
    f("verbs", 1, list(&OF_STRING), REQUIRED),
];

pub(super) const ROLE: Type = ty("io.k8s.api.rbac.v1.Role", &ROLE_FIELDS, 0);
static ROLE_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("rules", 2, list(&OF_RBAC_V1_POLICY_RULE), 0),
];

pub(super) const ROLE_BINDING: Type = ty("io.k8s.api.rbac.v1.RoleBinding", &ROLE_BINDING_FIELDS, 0);
static ROLE_BINDING_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("roleRef", 3, obj(RBAC_V1_ROLE_REF), REQUIRED),
    f("subjects", 2, list(&OF_RBAC_V1_SUBJECT), OMIT_EMPTY),
];

pub(super) const ROLE_BINDING_LIST: Type = ty("io.k8s.api.rbac.v1.RoleBindingList", &ROLE_BINDING_LIST_FIELDS, 0);
static ROLE_BINDING_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_RBAC_V1_ROLE_BINDING), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const ROLE_LIST: Type = ty("io.k8s.api.rbac.v1.RoleList", &ROLE_LIST_FIELDS, 0);
static ROLE_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_RBAC_V1_ROLE), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const ROLE_REF: Type = ty("io.k8s.api.rbac.v1.RoleRef", &ROLE_REF_FIELDS, ATOMIC);
static ROLE_REF_FIELDS: [Field; 3] = [
    f("apiGroup", 1, STRING, 0),
    f("kind", 2, STRING, REQUIRED),
    f("name", 3, STRING, REQUIRED),
];

pub(super) const SUBJECT: Type = ty("io.k8s.api.rbac.v1.Subject", &SUBJECT_FIELDS, ATOMIC);
static SUBJECT_FIELDS: [Field; 4] = [
    f("apiGroup", 2, STRING, OMIT_EMPTY),
    f("kind", 1, STRING, REQUIRED),
    f("name", 3, STRING, REQUIRED),
    f("namespace", 4, STRING, OMIT_EMPTY),
];
