//! Types of package `lifecycle_v1alpha1`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static KEYS_LIFECYCLE_V1ALPHA1_REQUESTER_NAME: [Key; 1] = [key("name", Some("\"\""))];
static KEYS_LIFECYCLE_V1ALPHA1_RESPONDER_STATUS_NAME: [Key; 1] = [key("name", Some("\"\""))];
static KEYS_LIFECYCLE_V1ALPHA1_TARGET_RESPONDER_NAME: [Key; 1] = [key("name", Some("\"\""))];
static KEYS_META_V1_CONDITION_TYPE: [Key; 1] = [key("type", Some("\"\""))];
static OF_LIFECYCLE_V1ALPHA1_EVICTION: Shape = obj(LIFECYCLE_V1ALPHA1_EVICTION);
static OF_LIFECYCLE_V1ALPHA1_EVICTION_REQUEST: Shape = obj(LIFECYCLE_V1ALPHA1_EVICTION_REQUEST);
static OF_LIFECYCLE_V1ALPHA1_REQUESTER: Shape = obj(LIFECYCLE_V1ALPHA1_REQUESTER);
static OF_LIFECYCLE_V1ALPHA1_RESPONDER_STATUS: Shape = obj(LIFECYCLE_V1ALPHA1_RESPONDER_STATUS);
static OF_LIFECYCLE_V1ALPHA1_TARGET_RESPONDER: Shape = obj(LIFECYCLE_V1ALPHA1_TARGET_RESPONDER);
static OF_META_V1_CONDITION: Shape = obj(META_V1_CONDITION);

pub(super) const EVICTION: Type = ty("io.k8s.api.lifecycle.v1alpha1.Eviction", &EVICTION_FIELDS, 0);
static EVICTION_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(LIFECYCLE_V1ALPHA1_EVICTION_SPEC), REQUIRED),
    f("status", 3, obj(LIFECYCLE_V1ALPHA1_EVICTION_STATUS), OMIT_EMPTY),
];

pub(super) const EVICTION_LIST: Type = ty("io.k8s.api.lifecycle.v1alpha1.EvictionList", &EVICTION_LIST_FIELDS, 0);
static EVICTION_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_LIFECYCLE_V1ALPHA1_EVICTION), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const EVICTION_POD_REFERENCE: Type = ty("io.k8s.api.lifecycle.v1alpha1.EvictionPodReference", &EVICTION_POD_REFERENCE_FIELDS, 0);
static EVICTION_POD_REFERENCE_FIELDS: [Field; 2] = [
    f("name", 1, STRING, REQUIRED),
    f("uid", 2, STRING, REQUIRED),
];

pub(super) const EVICTION_REQUEST: Type = ty("io.k8s.api.lifecycle.v1alpha1.EvictionRequest", &EVICTION_REQUEST_FIELDS, 0);
static EVICTION_REQUEST_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(LIFECYCLE_V1ALPHA1_EVICTION_REQUEST_SPEC), REQUIRED),
    f("status", 3, obj(LIFECYCLE_V1ALPHA1_EVICTION_REQUEST_STATUS), OMIT_EMPTY),
];

pub(super) const EVICTION_REQUEST_LIST: Type = ty("io.k8s.api.lifecycle.v1alpha1.EvictionRequestList", &EVICTION_REQUEST_LIST_FIELDS, 0);
static EVICTION_REQUEST_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_LIFECYCLE_V1ALPHA1_EVICTION_REQUEST), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const EVICTION_REQUEST_POD_REFERENCE: Type = ty("io.k8s.api.lifecycle.v1alpha1.EvictionRequestPodReference", &EVICTION_REQUEST_POD_REFERENCE_FIELDS, 0);
static EVICTION_REQUEST_POD_REFERENCE_FIELDS: [Field; 2] = [
    f("name", 1, STRING, REQUIRED),
    f("uid", 2, STRING, REQUIRED),
];

pub(super) const EVICTION_REQUEST_SPEC: Type = ty("io.k8s.api.lifecycle.v1alpha1.EvictionRequestSpec", &EVICTION_REQUEST_SPEC_FIELDS, 0);
static EVICTION_REQUEST_SPEC_FIELDS: [Field; 3] = [
    full(&[], "intent", 3, STRING, REQUIRED, None, &["Eviction", "Withdrawn"], NO_PATCH),
    f("requester", 2, STRING, REQUIRED),
    f("target", 1, obj(LIFECYCLE_V1ALPHA1_EVICTION_REQUEST_TARGET), REQUIRED),
];

pub(super) const EVICTION_REQUEST_STATUS: Type = ty("io.k8s.api.lifecycle.v1alpha1.EvictionRequestStatus", &EVICTION_REQUEST_STATUS_FIELDS, 0);
static EVICTION_REQUEST_STATUS_FIELDS: [Field; 2] = [
    full(&[], "conditions", 1, assoc(&OF_META_V1_CONDITION, &KEYS_META_V1_CONDITION_TYPE), OMIT_EMPTY, None, &[], merge_by("type")),
    f("observedGeneration", 2, INT64, POINTER | OMIT_EMPTY),
];

pub(super) const EVICTION_REQUEST_TARGET: Type = ty("io.k8s.api.lifecycle.v1alpha1.EvictionRequestTarget", &EVICTION_REQUEST_TARGET_FIELDS, 0);
static EVICTION_REQUEST_TARGET_FIELDS: [Field; 1] = [
    f("pod", 1, obj(LIFECYCLE_V1ALPHA1_EVICTION_REQUEST_POD_REFERENCE), POINTER | OMIT_EMPTY),
];

pub(super) const EVICTION_SPEC: Type = ty("io.k8s.api.lifecycle.v1alpha1.EvictionSpec", &EVICTION_SPEC_FIELDS, 0);
static EVICTION_SPEC_FIELDS: [Field; 1] = [
    f("target", 1, obj(LIFECYCLE_V1ALPHA1_EVICTION_TARGET), REQUIRED),
];

pub(super) const EVICTION_STATUS: Type = ty("io.k8s.api.lifecycle.v1alpha1.EvictionStatus", &EVICTION_STATUS_FIELDS, 0);
static EVICTION_STATUS_FIELDS: [Field; 5] = [
    full(&[], "conditions", 1, assoc(&OF_META_V1_CONDITION, &KEYS_META_V1_CONDITION_TYPE), OMIT_EMPTY, None, &[], merge_by("type")),
    f("observedGeneration", 2, INT64, POINTER | OMIT_EMPTY),
    full(&[], "requesters", 3, assoc(&OF_LIFECYCLE_V1ALPHA1_REQUESTER, &KEYS_LIFECYCLE_V1ALPHA1_REQUESTER_NAME), OMIT_EMPTY, None, &[], merge_by("name")),
    full(&[], "responders", 5, assoc(&OF_LIFECYCLE_V1ALPHA1_RESPONDER_STATUS, &KEYS_LIFECYCLE_V1ALPHA1_RESPONDER_STATUS_NAME), OMIT_EMPTY, None, &[], merge_by("name")),
    full(&[], "targetResponders", 4, assoc(&OF_LIFECYCLE_V1ALPHA1_TARGET_RESPONDER, &KEYS_LIFECYCLE_V1ALPHA1_TARGET_RESPONDER_NAME), OMIT_EMPTY, None, &[], merge_by("name")),
];

pub(super) const EVICTION_TARGET: Type = ty("io.k8s.api.lifecycle.v1alpha1.EvictionTarget", &EVICTION_TARGET_FIELDS, 0);
static EVICTION_TARGET_FIELDS: [Field; 1] = [
    f("pod", 1, obj(LIFECYCLE_V1ALPHA1_EVICTION_POD_REFERENCE), POINTER | OMIT_EMPTY),
];

pub(super) const REQUESTER: Type = ty("io.k8s.api.lifecycle.v1alpha1.Requester", &REQUESTER_FIELDS, ATOMIC);
static REQUESTER_FIELDS: [Field; 2] = [
    full(&[], "intent", 2, STRING, REQUIRED, None, &["Eviction", "Withdrawn"], NO_PATCH),
    f("name", 1, STRING, REQUIRED),
];

pub(super) const RESPONDER_STATUS: Type = ty("io.k8s.api.lifecycle.v1alpha1.ResponderStatus", &RESPONDER_STATUS_FIELDS, 0);
static RESPONDER_STATUS_FIELDS: [Field; 6] = [
    f("completionTime", 5, TIME, POINTER | OMIT_EMPTY),
    f("expectedCompletionTime", 4, TIME, POINTER | OMIT_EMPTY),
    f("heartbeatTime", 3, TIME, POINTER | OMIT_EMPTY),
    f("message", 6, STRING, POINTER | OMIT_EMPTY),
    f("name", 1, STRING, REQUIRED),
    f("startTime", 2, TIME, POINTER | OMIT_EMPTY),
];

pub(super) const TARGET_RESPONDER: Type = ty("io.k8s.api.lifecycle.v1alpha1.TargetResponder", &TARGET_RESPONDER_FIELDS, ATOMIC);
static TARGET_RESPONDER_FIELDS: [Field; 3] = [
    f("name", 1, STRING, REQUIRED),
    f("priority", 2, INT32, REQUIRED | POINTER),
    full(&[], "state", 3, STRING, REQUIRED, None, &["Active", "Canceled", "Completed", "Inactive", "Interrupted"], NO_PATCH),
];
