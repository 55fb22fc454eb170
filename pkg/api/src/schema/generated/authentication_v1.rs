//! Types of package `authentication_v1`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static OF_LIST_STRING: Shape = list(&OF_STRING);
static OF_STRING: Shape = STRING;

pub(super) const BOUND_OBJECT_REFERENCE: Type = ty("io.k8s.api.authentication.v1.BoundObjectReference", &BOUND_OBJECT_REFERENCE_FIELDS, 0);
static BOUND_OBJECT_REFERENCE_FIELDS: [Field; 4] = [
    f("apiVersion", 2, STRING, OMIT_EMPTY),
    f("kind", 1, STRING, OMIT_EMPTY),
    f("name", 3, STRING, OMIT_EMPTY),
    f("uid", 4, STRING, OMIT_EMPTY),
];

pub(super) const SELF_SUBJECT_REVIEW: Type = ty("io.k8s.api.authentication.v1.SelfSubjectReview", &SELF_SUBJECT_REVIEW_FIELDS, 0);
static SELF_SUBJECT_REVIEW_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("status", 2, obj(AUTHENTICATION_V1_SELF_SUBJECT_REVIEW_STATUS), OMIT_EMPTY),
];

pub(super) const SELF_SUBJECT_REVIEW_STATUS: Type = ty("io.k8s.api.authentication.v1.SelfSubjectReviewStatus", &SELF_SUBJECT_REVIEW_STATUS_FIELDS, 0);
static SELF_SUBJECT_REVIEW_STATUS_FIELDS: [Field; 1] = [
    f("userInfo", 1, obj(AUTHENTICATION_V1_USER_INFO), OMIT_EMPTY),
];

pub(super) const TOKEN_REQUEST: Type = ty("io.k8s.api.authentication.v1.TokenRequest", &TOKEN_REQUEST_FIELDS, 0);
static TOKEN_REQUEST_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(AUTHENTICATION_V1_TOKEN_REQUEST_SPEC), 0),
    f("status", 3, obj(AUTHENTICATION_V1_TOKEN_REQUEST_STATUS), OMIT_EMPTY),
];

pub(super) const TOKEN_REQUEST_SPEC: Type = ty("io.k8s.api.authentication.v1.TokenRequestSpec", &TOKEN_REQUEST_SPEC_FIELDS, 0);
static TOKEN_REQUEST_SPEC_FIELDS: [Field; 4] = [
    f("attestations", 5, map(&OF_LIST_STRING), OMIT_EMPTY),
    f("audiences", 1, list(&OF_STRING), 0),
    f("boundObjectRef", 3, obj(AUTHENTICATION_V1_BOUND_OBJECT_REFERENCE), POINTER),
    f("expirationSeconds", 4, INT64, POINTER),
];

pub(super) const TOKEN_REQUEST_STATUS: Type = ty("io.k8s.api.authentication.v1.TokenRequestStatus", &TOKEN_REQUEST_STATUS_FIELDS, 0);
static TOKEN_REQUEST_STATUS_FIELDS: [Field; 2] = [
    f("expirationTimestamp", 2, TIME, 0),
    f("token", 1, STRING, 0),
];

pub(super) const TOKEN_REVIEW: Type = ty("io.k8s.api.authentication.v1.TokenReview", &TOKEN_REVIEW_FIELDS, 0);
static TOKEN_REVIEW_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(AUTHENTICATION_V1_TOKEN_REVIEW_SPEC), REQUIRED),
    f("status", 3, obj(AUTHENTICATION_V1_TOKEN_REVIEW_STATUS), OMIT_EMPTY),
];

pub(super) const TOKEN_REVIEW_SPEC: Type = ty("io.k8s.api.authentication.v1.TokenReviewSpec", &TOKEN_REVIEW_SPEC_FIELDS, 0);
static TOKEN_REVIEW_SPEC_FIELDS: [Field; 2] = [
    f("audiences", 2, list(&OF_STRING), OMIT_EMPTY),
    f("token", 1, STRING, REQUIRED | OMIT_EMPTY),
];

pub(super) const TOKEN_REVIEW_STATUS: Type = ty("io.k8s.api.authentication.v1.TokenReviewStatus", &TOKEN_REVIEW_STATUS_FIELDS, 0);
static TOKEN_REVIEW_STATUS_FIELDS: [Field; 4] = [
    f("audiences", 4, list(&OF_STRING), OMIT_EMPTY),
    f("authenticated", 1, BOOL, OMIT_EMPTY),
    f("error", 3, STRING, OMIT_EMPTY),
    f("user", 2, obj(AUTHENTICATION_V1_USER_INFO), OMIT_EMPTY),
];

pub(super) const USER_INFO: Type = ty("io.k8s.api.authentication.v1.UserInfo", &USER_INFO_FIELDS, 0);
static USER_INFO_FIELDS: [Field; 4] = [
    f("extra", 4, map(&OF_LIST_STRING), OMIT_EMPTY),
    f("groups", 3, list(&OF_STRING), OMIT_EMPTY),
    f("uid", 2, STRING, OMIT_EMPTY),
    f("username", 1, STRING, OMIT_EMPTY),
];
