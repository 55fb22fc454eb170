//! Types of package `apiserverinternal_v1alpha1`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static KEYS_APISERVERINTERNAL_V1ALPHA1_SERVER_STORAGE_VERSION_API_SERVER_ID: [Key; 1] = [key("apiServerID", None)];
static KEYS_APISERVERINTERNAL_V1ALPHA1_STORAGE_VERSION_CONDITION_TYPE: [Key; 1] = [key("type", Some("\"\""))];
static OF_APISERVERINTERNAL_V1ALPHA1_SERVER_STORAGE_VERSION: Shape = obj(APISERVERINTERNAL_V1ALPHA1_SERVER_STORAGE_VERSION);
static OF_APISERVERINTERNAL_V1ALPHA1_STORAGE_VERSION: Shape = obj(APISERVERINTERNAL_V1ALPHA1_STORAGE_VERSION);
static OF_APISERVERINTERNAL_V1ALPHA1_STORAGE_VERSION_CONDITION: Shape = obj(APISERVERINTERNAL_V1ALPHA1_STORAGE_VERSION_CONDITION);
static OF_STRING: Shape = STRING;

pub(super) const SERVER_STORAGE_VERSION: Type = ty("io.k8s.api.apiserverinternal.v1alpha1.ServerStorageVersion", &SERVER_STORAGE_VERSION_FIELDS, 0);
static SERVER_STORAGE_VERSION_FIELDS: [Field; 4] = [
    f("apiServerID", 1, STRING, REQUIRED | OMIT_EMPTY),
    f("decodableVersions", 3, set(&OF_STRING), REQUIRED | OMIT_EMPTY),
    f("encodingVersion", 2, STRING, REQUIRED | OMIT_EMPTY),
    f("servedVersions", 4, set(&OF_STRING), OMIT_EMPTY),
];

pub(super) const STORAGE_VERSION: Type = ty("io.k8s.api.apiserverinternal.v1alpha1.StorageVersion", &STORAGE_VERSION_FIELDS, 0);
static STORAGE_VERSION_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), REQUIRED | OMIT_EMPTY),
    f("spec", 2, obj(APISERVERINTERNAL_V1ALPHA1_STORAGE_VERSION_SPEC), 0),
    f("status", 3, obj(APISERVERINTERNAL_V1ALPHA1_STORAGE_VERSION_STATUS), 0),
];

pub(super) const STORAGE_VERSION_CONDITION: Type = ty("io.k8s.api.apiserverinternal.v1alpha1.StorageVersionCondition", &STORAGE_VERSION_CONDITION_FIELDS, 0);
static STORAGE_VERSION_CONDITION_FIELDS: [Field; 6] = [
    f("lastTransitionTime", 4, TIME, OMIT_EMPTY),
    f("message", 6, STRING, REQUIRED | OMIT_EMPTY),
    f("observedGeneration", 3, INT64, OMIT_EMPTY),
    f("reason", 5, STRING, REQUIRED),
    f("status", 2, STRING, REQUIRED),
    f("type", 1, STRING, REQUIRED),
];

pub(super) const STORAGE_VERSION_LIST: Type = ty("io.k8s.api.apiserverinternal.v1alpha1.StorageVersionList", &STORAGE_VERSION_LIST_FIELDS, 0);
static STORAGE_VERSION_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_APISERVERINTERNAL_V1ALPHA1_STORAGE_VERSION), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const STORAGE_VERSION_SPEC: Type = ty("io.k8s.api.apiserverinternal.v1alpha1.StorageVersionSpec", &STORAGE_VERSION_SPEC_FIELDS, 0);
static STORAGE_VERSION_SPEC_FIELDS: [Field; 0] = [
];

pub(super) const STORAGE_VERSION_STATUS: Type = ty("io.k8s.api.apiserverinternal.v1alpha1.StorageVersionStatus", &STORAGE_VERSION_STATUS_FIELDS, 0);
static STORAGE_VERSION_STATUS_FIELDS: [Field; 3] = [
    f("commonEncodingVersion", 2, STRING, POINTER | OMIT_EMPTY),
    f("conditions", 3, assoc(&OF_APISERVERINTERNAL_V1ALPHA1_STORAGE_VERSION_CONDITION, &KEYS_APISERVERINTERNAL_V1ALPHA1_STORAGE_VERSION_CONDITION_TYPE), OMIT_EMPTY),
    f("storageVersions", 1, assoc(&OF_APISERVERINTERNAL_V1ALPHA1_SERVER_STORAGE_VERSION, &KEYS_APISERVERINTERNAL_V1ALPHA1_SERVER_STORAGE_VERSION_API_SERVER_ID), OMIT_EMPTY),
];
