//! Types of package `authorization_v1`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static OF_AUTHORIZATION_V1_NON_RESOURCE_RULE: Shape = obj(AUTHORIZATION_V1_NON_RESOURCE_RULE);
static OF_AUTHORIZATION_V1_RESOURCE_RULE: Shape = obj(AUTHORIZATION_V1_RESOURCE_RULE);
static OF_LIST_STRING: Shape = list(&OF_STRING);
static OF_META_V1_FIELD_SELECTOR_REQUIREMENT: Shape = obj(META_V1_FIELD_SELECTOR_REQUIREMENT);
static OF_META_V1_LABEL_SELECTOR_REQUIREMENT: Shape = obj(META_V1_LABEL_SELECTOR_REQUIREMENT);
static OF_STRING: Shape = STRING;

pub(super) const FIELD_SELECTOR_ATTRIBUTES: Type = ty("io.k8s.api.authorization.v1.FieldSelectorAttributes", &FIELD_SELECTOR_ATTRIBUTES_FIELDS, 0);
static FIELD_SELECTOR_ATTRIBUTES_FIELDS: [Field; 2] = [
    f("rawSelector", 1, STRING, OMIT_EMPTY),
    f("requirements", 2, list(&OF_META_V1_FIELD_SELECTOR_REQUIREMENT), OMIT_EMPTY),
];

pub(super) const LABEL_SELECTOR_ATTRIBUTES: Type = ty("io.k8s.api.authorization.v1.LabelSelectorAttributes", &LABEL_SELECTOR_ATTRIBUTES_FIELDS, 0);
static LABEL_SELECTOR_ATTRIBUTES_FIELDS: [Field; 2] = [
    f("rawSelector", 1, STRING, OMIT_EMPTY),
    f("requirements", 2, list(&OF_META_V1_LABEL_SELECTOR_REQUIREMENT), OMIT_EMPTY),
];

pub(super) const LOCAL_SUBJECT_ACCESS_REVIEW: Type = ty("io.k8s.api.authorization.v1.LocalSubjectAccessReview", &LOCAL_SUBJECT_ACCESS_REVIEW_FIELDS, 0);
static LOCAL_SUBJECT_ACCESS_REVIEW_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(AUTHORIZATION_V1_SUBJECT_ACCESS_REVIEW_SPEC), REQUIRED),
    f("status", 3, obj(AUTHORIZATION_V1_SUBJECT_ACCESS_REVIEW_STATUS), OMIT_EMPTY),
];

pub(super) const NON_RESOURCE_ATTRIBUTES: Type = ty("io.k8s.api.authorization.v1.NonResourceAttributes", &NON_RESOURCE_ATTRIBUTES_FIELDS, 0);
static NON_RESOURCE_ATTRIBUTES_FIELDS: [Field; 2] = [
    f("path", 1, STRING, OMIT_EMPTY),
    f("verb", 2, STRING, OMIT_EMPTY),
];

pub(super) const NON_RESOURCE_RULE: Type = ty("io.k8s.api.authorization.v1.NonResourceRule", &NON_RESOURCE_RULE_FIELDS, 0);
static NON_RESOURCE_RULE_FIELDS: [Field; 2] = [
    f("nonResourceURLs", 2, list(&OF_STRING), OMIT_EMPTY),
    f("verbs", 1, list(&OF_STRING), REQUIRED),
];

pub(super) const RESOURCE_ATTRIBUTES: Type = ty("io.k8s.api.authorization.v1.ResourceAttributes", &RESOURCE_ATTRIBUTES_FIELDS, 0);
static RESOURCE_ATTRIBUTES_FIELDS: [Field; 9] = [
    f("fieldSelector", 8, obj(AUTHORIZATION_V1_FIELD_SELECTOR_ATTRIBUTES), POINTER | OMIT_EMPTY),
    f("group", 3, STRING, OMIT_EMPTY),
    f("labelSelector", 9, obj(AUTHORIZATION_V1_LABEL_SELECTOR_ATTRIBUTES), POINTER | OMIT_EMPTY),
    f("name", 7, STRING, OMIT_EMPTY),
    f("namespace", 1, STRING, OMIT_EMPTY),
    f("resource", 5, STRING, OMIT_EMPTY),
    f("subresource", 6, STRING, OMIT_EMPTY),
    f("verb", 2, STRING, OMIT_EMPTY),
    f("version", 4, STRING, OMIT_EMPTY),
];

pub(super) const RESOURCE_RULE: Type = ty("io.k8s.api.authorization.v1.ResourceRule", &RESOURCE_RULE_FIELDS, 0);
static RESOURCE_RULE_FIELDS: [Field; 4] = [
    f("apiGroups", 2, list(&OF_STRING), OMIT_EMPTY),
    f("resourceNames", 4, list(&OF_STRING), OMIT_EMPTY),
    f("resources", 3, list(&OF_STRING), OMIT_EMPTY),
    f("verbs", 1, list(&OF_STRING), REQUIRED),
];

pub(super) const SELF_SUBJECT_ACCESS_REVIEW: Type = ty("io.k8s.api.authorization.v1.SelfSubjectAccessReview", &SELF_SUBJECT_ACCESS_REVIEW_FIELDS, 0);
static SELF_SUBJECT_ACCESS_REVIEW_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(AUTHORIZATION_V1_SELF_SUBJECT_ACCESS_REVIEW_SPEC), REQUIRED),
    f("status", 3, obj(AUTHORIZATION_V1_SUBJECT_ACCESS_REVIEW_STATUS), OMIT_EMPTY),
];

pub(super) const SELF_SUBJECT_ACCESS_REVIEW_SPEC: Type = ty("io.k8s.api.authorization.v1.SelfSubjectAccessReviewSpec", &SELF_SUBJECT_ACCESS_REVIEW_SPEC_FIELDS, 0);
static SELF_SUBJECT_ACCESS_REVIEW_SPEC_FIELDS: [Field; 2] = [
    f("nonResourceAttributes", 2, obj(AUTHORIZATION_V1_NON_RESOURCE_ATTRIBUTES), POINTER | OMIT_EMPTY),
    f("resourceAttributes", 1, obj(AUTHORIZATION_V1_RESOURCE_ATTRIBUTES), POINTER | OMIT_EMPTY),
];

pub(super) const SELF_SUBJECT_RULES_REVIEW: Type = ty("io.k8s.api.authorization.v1.SelfSubjectRulesReview", &SELF_SUBJECT_RULES_REVIEW_FIELDS, 0);
static SELF_SUBJECT_RULES_REVIEW_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(AUTHORIZATION_V1_SELF_SUBJECT_RULES_REVIEW_SPEC), REQUIRED),
    f("status", 3, obj(AUTHORIZATION_V1_SUBJECT_RULES_REVIEW_STATUS), OMIT_EMPTY),
];

pub(super) const SELF_SUBJECT_RULES_REVIEW_SPEC: Type = ty("io.k8s.api.authorization.v1.SelfSubjectRulesReviewSpec", &SELF_SUBJECT_RULES_REVIEW_SPEC_FIELDS, 0);
static SELF_SUBJECT_RULES_REVIEW_SPEC_FIELDS: [Field; 1] = [
    f("namespace", 1, STRING, OMIT_EMPTY),
];

pub(super) const SUBJECT_ACCESS_REVIEW: Type = ty("io.k8s.api.authorization.v1.SubjectAccessReview", &SUBJECT_ACCESS_REVIEW_FIELDS, 0);
static SUBJECT_ACCESS_REVIEW_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(AUTHORIZATION_V1_SUBJECT_ACCESS_REVIEW_SPEC), REQUIRED),
    f("status", 3, obj(AUTHORIZATION_V1_SUBJECT_ACCESS_REVIEW_STATUS), OMIT_EMPTY),
];

pub(super) const SUBJECT_ACCESS_REVIEW_SPEC: Type = ty("io.k8s.api.authorization.v1.SubjectAccessReviewSpec", &SUBJECT_ACCESS_REVIEW_SPEC_FIELDS, 0);
static SUBJECT_ACCESS_REVIEW_SPEC_FIELDS: [Field; 6] = [
    f("extra", 5, map(&OF_LIST_STRING), OMIT_EMPTY),
    f("groups", 4, list(&OF_STRING), OMIT_EMPTY),
    f("nonResourceAttributes", 2, obj(AUTHORIZATION_V1_NON_RESOURCE_ATTRIBUTES), POINTER | OMIT_EMPTY),
    f("resourceAttributes", 1, obj(AUTHORIZATION_V1_RESOURCE_ATTRIBUTES), POINTER | OMIT_EMPTY),
    f("uid", 6, STRING, OMIT_EMPTY),
    f("user", 3, STRING, OMIT_EMPTY),
];

pub(super) const SUBJECT_ACCESS_REVIEW_STATUS: Type = ty("io.k8s.api.authorization.v1.SubjectAccessReviewStatus", &SUBJECT_ACCESS_REVIEW_STATUS_FIELDS, 0);
static SUBJECT_ACCESS_REVIEW_STATUS_FIELDS: [Field; 4] = [
    f("allowed", 1, BOOL, REQUIRED),
    f("denied", 4, BOOL, OMIT_EMPTY),
    f("evaluationError", 3, STRING, OMIT_EMPTY),
    f("reason", 2, STRING, OMIT_EMPTY),
];

pub(super) const SUBJECT_RULES_REVIEW_STATUS: Type = ty("io.k8s.api.authorization.v1.SubjectRulesReviewStatus", &SUBJECT_RULES_REVIEW_STATUS_FIELDS, 0);
static SUBJECT_RULES_REVIEW_STATUS_FIELDS: [Field; 4] = [
    f("evaluationError", 4, STRING, OMIT_EMPTY),
    f("incomplete", 3, BOOL, REQUIRED),
    f("nonResourceRules", 2, list(&OF_AUTHORIZATION_V1_NON_RESOURCE_RULE), REQUIRED),
    f("resourceRules", 1, list(&OF_AUTHORIZATION_V1_RESOURCE_RULE), REQUIRED),
];
