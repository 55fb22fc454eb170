//! Types of package `apiregistration_v1`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static KEYS_APIREGISTRATION_V1_API_SERVICE_CONDITION_TYPE: [Key; 1] = [key("type", Some("\"\""))];
static OF_APIREGISTRATION_V1_API_SERVICE: Shape = obj(APIREGISTRATION_V1_API_SERVICE);
static OF_APIREGISTRATION_V1_API_SERVICE_CONDITION: Shape = obj(APIREGISTRATION_V1_API_SERVICE_CONDITION);

pub(super) const API_SERVICE: Type = ty("io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService", &API_SERVICE_FIELDS, 0);
static API_SERVICE_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(APIREGISTRATION_V1_API_SERVICE_SPEC), OMIT_EMPTY),
    f("status", 3, obj(APIREGISTRATION_V1_API_SERVICE_STATUS), OMIT_EMPTY),
];

pub(super) const API_SERVICE_CONDITION: Type = ty("io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceCondition", &API_SERVICE_CONDITION_FIELDS, 0);
static API_SERVICE_CONDITION_FIELDS: [Field; 5] = [
    f("lastTransitionTime", 3, TIME, OMIT_EMPTY),
    f("message", 5, STRING, OMIT_EMPTY),
    f("reason", 4, STRING, OMIT_EMPTY),
    f("status", 2, STRING, REQUIRED),
    f("type", 1, STRING, REQUIRED),
];

pub(super) const API_SERVICE_LIST: Type = ty("io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceList", &API_SERVICE_LIST_FIELDS, 0);
static API_SERVICE_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_APIREGISTRATION_V1_API_SERVICE), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const API_SERVICE_SPEC: Type = ty("io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceSpec", &API_SERVICE_SPEC_FIELDS, 0);
static API_SERVICE_SPEC_FIELDS: [Field; 7] = [
    f("caBundle", 5, BYTES, OMIT_EMPTY),
    f("group", 2, STRING, OMIT_EMPTY),
    f("groupPriorityMinimum", 7, INT32, REQUIRED),
    f("insecureSkipTLSVerify", 4, BOOL, OMIT_EMPTY),
    f("service", 1, obj(APIREGISTRATION_V1_SERVICE_REFERENCE), POINTER | OMIT_EMPTY),
    f("version", 3, STRING, OMIT_EMPTY),
    f("versionPriority", 8, INT32, REQUIRED),
];

pub(super) const API_SERVICE_STATUS: Type = ty("io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceStatus", &API_SERVICE_STATUS_FIELDS, 0);
static API_SERVICE_STATUS_FIELDS: [Field; 1] = [
    full(&[], "conditions", 1, assoc(&OF_APIREGISTRATION_V1_API_SERVICE_CONDITION, &KEYS_APIREGISTRATION_V1_API_SERVICE_CONDITION_TYPE), OMIT_EMPTY, None, &[], merge_by("type")),
];

pub(super) const SERVICE_REFERENCE: Type = ty("io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.ServiceReference", &SERVICE_REFERENCE_FIELDS, 0);
static SERVICE_REFERENCE_FIELDS: [Field; 3] = [
    f("name", 2, STRING, OMIT_EMPTY),
    f("namespace", 1, STRING, OMIT_EMPTY),
    f("port", 3, INT32, POINTER | OMIT_EMPTY),
];
