//! Types of package `resource_v1alpha3`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static KEYS_META_V1_CONDITION_TYPE: [Key; 1] = [key("type", Some("\"\""))];
static OF_META_V1_CONDITION: Shape = obj(META_V1_CONDITION);
static OF_RESOURCE_V1ALPHA3_DEVICE_TAINT_RULE: Shape = obj(RESOURCE_V1ALPHA3_DEVICE_TAINT_RULE);
static OF_RESOURCE_V1ALPHA3_PARTITION_TYPE_STATUS: Shape = obj(RESOURCE_V1ALPHA3_PARTITION_TYPE_STATUS);
static OF_RESOURCE_V1ALPHA3_POOL_STATUS: Shape = obj(RESOURCE_V1ALPHA3_POOL_STATUS);
static OF_RESOURCE_V1ALPHA3_RESOURCE_POOL_STATUS_REQUEST: Shape = obj(RESOURCE_V1ALPHA3_RESOURCE_POOL_STATUS_REQUEST);
static OF_RESOURCE_V1ALPHA3_SHAREABLE_CAPACITY_STATUS: Shape = obj(RESOURCE_V1ALPHA3_SHAREABLE_CAPACITY_STATUS);

pub(super) const DEVICE_TAINT: Type = ty("io.k8s.api.resource.v1alpha3.DeviceTaint", &DEVICE_TAINT_FIELDS, 0);
static DEVICE_TAINT_FIELDS: [Field; 4] = [
    full(&[], "effect", 3, STRING, REQUIRED, None, &["NoExecute", "NoSchedule", "None"], NO_PATCH),
    f("key", 1, STRING, REQUIRED),
    f("timeAdded", 4, TIME, POINTER | OMIT_EMPTY),
    f("value", 2, STRING, OMIT_EMPTY),
];

pub(super) const DEVICE_TAINT_RULE: Type = ty("io.k8s.api.resource.v1alpha3.DeviceTaintRule", &DEVICE_TAINT_RULE_FIELDS, 0);
static DEVICE_TAINT_RULE_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(RESOURCE_V1ALPHA3_DEVICE_TAINT_RULE_SPEC), REQUIRED),
    f("status", 3, obj(RESOURCE_V1ALPHA3_DEVICE_TAINT_RULE_STATUS), OMIT_EMPTY),
];

pub(super) const DEVICE_TAINT_RULE_LIST: Type = ty("io.k8s.api.resource.v1alpha3.DeviceTaintRuleList", &DEVICE_TAINT_RULE_LIST_FIELDS, 0);
static DEVICE_TAINT_RULE_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_RESOURCE_V1ALPHA3_DEVICE_TAINT_RULE), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const DEVICE_TAINT_RULE_SPEC: Type = ty("io.k8s.api.resource.v1alpha3.DeviceTaintRuleSpec", &DEVICE_TAINT_RULE_SPEC_FIELDS, 0);
static DEVICE_TAINT_RULE_SPEC_FIELDS: [Field; 2] = [
    f("deviceSelector", 1, obj(RESOURCE_V1ALPHA3_DEVICE_TAINT_SELECTOR), POINTER | OMIT_EMPTY),
    f("taint", 2, obj(RESOURCE_V1ALPHA3_DEVICE_TAINT), REQUIRED | OMIT_EMPTY),
];

pub(super) const DEVICE_TAINT_RULE_STATUS: Type = ty("io.k8s.api.resource.v1alpha3.DeviceTaintRuleStatus", &DEVICE_TAINT_RULE_STATUS_FIELDS, 0);
static DEVICE_TAINT_RULE_STATUS_FIELDS: [Field; 1] = [
    full(&[], "conditions", 1, assoc(&OF_META_V1_CONDITION, &KEYS_META_V1_CONDITION_TYPE), OMIT_EMPTY, None, &[], merge_by("type")),
];

pub(super) const DEVICE_TAINT_SELECTOR: Type = ty("io.k8s.api.resource.v1alpha3.DeviceTaintSelector", &DEVICE_TAINT_SELECTOR_FIELDS, 0);
static DEVICE_TAINT_SELECTOR_FIELDS: [Field; 3] = [
    f("device", 4, STRING, POINTER | OMIT_EMPTY),
    f("driver", 2, STRING, POINTER | OMIT_EMPTY),
    f("pool", 3, STRING, POINTER | OMIT_EMPTY),
];

pub(super) const PARTITION_TYPE_STATUS: Type = ty("io.k8s.api.resource.v1alpha3.PartitionTypeStatus", &PARTITION_TYPE_STATUS_FIELDS, 0);
static PARTITION_TYPE_STATUS_FIELDS: [Field; 4] = [
    f("allocatable", 3, INT32, REQUIRED | POINTER | OMIT_EMPTY),
    f("attribute", 4, STRING, REQUIRED | OMIT_EMPTY),
    f("total", 2, INT32, REQUIRED | POINTER | OMIT_EMPTY),
    f("type", 1, STRING, REQUIRED | OMIT_EMPTY),
];

pub(super) const POOL_STATUS: Type = ty("io.k8s.api.resource.v1alpha3.PoolStatus", &POOL_STATUS_FIELDS, 0);
static POOL_STATUS_FIELDS: [Field; 12] = [
    f("allocatedDevices", 5, INT32, POINTER | OMIT_EMPTY),
    f("availableDevices", 6, INT32, POINTER | OMIT_EMPTY),
    f("driver", 1, STRING, REQUIRED | OMIT_EMPTY),
    f("generation", 9, INT64, REQUIRED),
    f("nodeName", 3, STRING, POINTER | OMIT_EMPTY),
    f("partitionSummary", 11, list(&OF_RESOURCE_V1ALPHA3_PARTITION_TYPE_STATUS), OMIT_EMPTY),
    f("poolName", 2, STRING, REQUIRED | OMIT_EMPTY),
    f("resourceSliceCount", 8, INT32, POINTER | OMIT_EMPTY),
    f("shareableSummary", 13, obj(RESOURCE_V1ALPHA3_SHAREABLE_SUMMARY_STATUS), POINTER | OMIT_EMPTY),
    f("totalDevices", 4, INT32, POINTER | OMIT_EMPTY),
    f("unavailableDevices", 7, INT32, POINTER | OMIT_EMPTY),
    f("validationError", 10, STRING, POINTER | OMIT_EMPTY),
];

pub(super) const RESOURCE_POOL_STATUS_REQUEST: Type = ty("io.k8s.api.resource.v1alpha3.ResourcePoolStatusRequest", &RESOURCE_POOL_STATUS_REQUEST_FIELDS, 0);
static RESOURCE_POOL_STATUS_REQUEST_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), REQUIRED | OMIT_EMPTY),
    f("spec", 2, obj(RESOURCE_V1ALPHA3_RESOURCE_POOL_STATUS_REQUEST_SPEC), REQUIRED),
    f("status", 3, obj(RESOURCE_V1ALPHA3_RESOURCE_POOL_STATUS_REQUEST_STATUS), POINTER | OMIT_EMPTY),
];

pub(super) const RESOURCE_POOL_STATUS_REQUEST_LIST: Type = ty("io.k8s.api.resource.v1alpha3.ResourcePoolStatusRequestList", &RESOURCE_POOL_STATUS_REQUEST_LIST_FIELDS, 0);
static RESOURCE_POOL_STATUS_REQUEST_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_RESOURCE_V1ALPHA3_RESOURCE_POOL_STATUS_REQUEST), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const RESOURCE_POOL_STATUS_REQUEST_SPEC: Type = ty("io.k8s.api.resource.v1alpha3.ResourcePoolStatusRequestSpec", &RESOURCE_POOL_STATUS_REQUEST_SPEC_FIELDS, 0);
static RESOURCE_POOL_STATUS_REQUEST_SPEC_FIELDS: [Field; 4] = [
    f("defaultPartitionTypeAttribute", 4, STRING, POINTER | OMIT_EMPTY),
    f("driver", 1, STRING, REQUIRED),
    full(&[], "limit", 3, INT32, POINTER | OMIT_EMPTY, Some("100"), &[], NO_PATCH),
    f("poolName", 2, STRING, POINTER | OMIT_EMPTY),
];

pub(super) const RESOURCE_POOL_STATUS_REQUEST_STATUS: Type = ty("io.k8s.api.resource.v1alpha3.ResourcePoolStatusRequestStatus", &RESOURCE_POOL_STATUS_REQUEST_STATUS_FIELDS, 0);
static RESOURCE_POOL_STATUS_REQUEST_STATUS_FIELDS: [Field; 3] = [
    full(&[], "conditions", 3, assoc(&OF_META_V1_CONDITION, &KEYS_META_V1_CONDITION_TYPE), OMIT_EMPTY, None, &[], merge_by("type")),
    f("poolCount", 6, INT32, REQUIRED | POINTER | OMIT_EMPTY),
    f("pools", 2, list(&OF_RESOURCE_V1ALPHA3_POOL_STATUS), OMIT_EMPTY),
];

pub(super) const SHAREABLE_CAPACITY_STATUS: Type = ty("io.k8s.api.resource.v1alpha3.ShareableCapacityStatus", &SHAREABLE_CAPACITY_STATUS_FIELDS, 0);
static SHAREABLE_CAPACITY_STATUS_FIELDS: [Field; 4] = [
    f("available", 4, QUANTITY, REQUIRED | POINTER | OMIT_EMPTY),
    f("consumed", 3, QUANTITY, REQUIRED | POINTER | OMIT_EMPTY),
    f("name", 1, STRING, REQUIRED | OMIT_EMPTY),
    f("total", 2, QUANTITY, REQUIRED | POINTER | OMIT_EMPTY),
];

pub(super) const SHAREABLE_SUMMARY_STATUS: Type = ty("io.k8s.api.resource.v1alpha3.ShareableSummaryStatus", &SHAREABLE_SUMMARY_STATUS_FIELDS, 0);
static SHAREABLE_SUMMARY_STATUS_FIELDS: [Field; 3] = [
    f("capacity", 3, list(&OF_RESOURCE_V1ALPHA3_SHAREABLE_CAPACITY_STATUS), OMIT_EMPTY),
    f("fullyAvailableDevices", 1, INT32, REQUIRED | POINTER | OMIT_EMPTY),
    f("partiallyAvailableDevices", 2, INT32, REQUIRED | POINTER | OMIT_EMPTY),
];
