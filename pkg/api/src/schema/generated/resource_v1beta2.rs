//! Types of package `resource_v1beta2`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static KEYS_META_V1_CONDITION_TYPE: [Key; 1] = [key("type", Some("\"\""))];
static KEYS_RESOURCE_V1BETA2_ALLOCATED_DEVICE_STATUS_DRIVER_DEVICE_POOL_SHARE_ID: [Key; 4] = [key("driver", Some("\"\"")), key("device", Some("\"\"")), key("pool", Some("\"\"")), key("shareID", None)];
static KEYS_RESOURCE_V1BETA2_RESOURCE_CLAIM_CONSUMER_REFERENCE_UID: [Key; 1] = [key("uid", Some("\"\""))];
static OF_BOOL: Shape = BOOL;
static OF_INT64: Shape = INT64;
static OF_META_V1_CONDITION: Shape = obj(META_V1_CONDITION);
static OF_QUANTITY: Shape = QUANTITY;
static OF_RESOURCE_V1BETA2_ALLOCATED_DEVICE_STATUS: Shape = obj(RESOURCE_V1BETA2_ALLOCATED_DEVICE_STATUS);
static OF_RESOURCE_V1BETA2_COUNTER: Shape = obj(RESOURCE_V1BETA2_COUNTER);
static OF_RESOURCE_V1BETA2_COUNTER_SET: Shape = obj(RESOURCE_V1BETA2_COUNTER_SET);
static OF_RESOURCE_V1BETA2_DEVICE: Shape = obj(RESOURCE_V1BETA2_DEVICE);
static OF_RESOURCE_V1BETA2_DEVICE_ALLOCATION_CONFIGURATION: Shape = obj(RESOURCE_V1BETA2_DEVICE_ALLOCATION_CONFIGURATION);
static OF_RESOURCE_V1BETA2_DEVICE_ATTRIBUTE: Shape = obj(RESOURCE_V1BETA2_DEVICE_ATTRIBUTE);
static OF_RESOURCE_V1BETA2_DEVICE_CAPACITY: Shape = obj(RESOURCE_V1BETA2_DEVICE_CAPACITY);
static OF_RESOURCE_V1BETA2_DEVICE_CLAIM_CONFIGURATION: Shape = obj(RESOURCE_V1BETA2_DEVICE_CLAIM_CONFIGURATION);
static OF_RESOURCE_V1BETA2_DEVICE_CLASS: Shape = obj(RESOURCE_V1BETA2_DEVICE_CLASS);
static OF_RESOURCE_V1BETA2_DEVICE_CLASS_CONFIGURATION: Shape = obj(RESOURCE_V1BETA2_DEVICE_CLASS_CONFIGURATION);
static OF_RESOURCE_V1BETA2_DEVICE_CONSTRAINT: Shape = obj(RESOURCE_V1BETA2_DEVICE_CONSTRAINT);
static OF_RESOURCE_V1BETA2_DEVICE_COUNTER_CONSUMPTION: Shape = obj(RESOURCE_V1BETA2_DEVICE_COUNTER_CONSUMPTION);
static OF_RESOURCE_V1BETA2_DEVICE_DERIVED_ATTRIBUTE: Shape = obj(RESOURCE_V1BETA2_DEVICE_DERIVED_ATTRIBUTE);
static OF_RESOURCE_V1BETA2_DEVICE_REQUEST: Shape = obj(RESOURCE_V1BETA2_DEVICE_REQUEST);
static OF_RESOURCE_V1BETA2_DEVICE_REQUEST_ALLOCATION_RESULT: Shape = obj(RESOURCE_V1BETA2_DEVICE_REQUEST_ALLOCATION_RESULT);
static OF_RESOURCE_V1BETA2_DEVICE_SELECTOR: Shape = obj(RESOURCE_V1BETA2_DEVICE_SELECTOR);
static OF_RESOURCE_V1BETA2_DEVICE_SUB_REQUEST: Shape = obj(RESOURCE_V1BETA2_DEVICE_SUB_REQUEST);
static OF_RESOURCE_V1BETA2_DEVICE_TAINT: Shape = obj(RESOURCE_V1BETA2_DEVICE_TAINT);
static OF_RESOURCE_V1BETA2_DEVICE_TAINT_RULE: Shape = obj(RESOURCE_V1BETA2_DEVICE_TAINT_RULE);
static OF_RESOURCE_V1BETA2_DEVICE_TOLERATION: Shape = obj(RESOURCE_V1BETA2_DEVICE_TOLERATION);
static OF_RESOURCE_V1BETA2_NODE_ALLOCATABLE_RESOURCE: Shape = obj(RESOURCE_V1BETA2_NODE_ALLOCATABLE_RESOURCE);
static OF_RESOURCE_V1BETA2_RESOURCE_CLAIM: Shape = obj(RESOURCE_V1BETA2_RESOURCE_CLAIM);
static OF_RESOURCE_V1BETA2_RESOURCE_CLAIM_CONSUMER_REFERENCE: Shape = obj(RESOURCE_V1BETA2_RESOURCE_CLAIM_CONSUMER_REFERENCE);
static OF_RESOURCE_V1BETA2_RESOURCE_CLAIM_TEMPLATE: Shape = obj(RESOURCE_V1BETA2_RESOURCE_CLAIM_TEMPLATE);
static OF_RESOURCE_V1BETA2_RESOURCE_SLICE: Shape = obj(RESOURCE_V1BETA2_RESOURCE_SLICE);
static OF_STRING: Shape = STRING;

pub(super) const ALLOCATED_DEVICE_STATUS: Type = ty("io.k8s.api.resource.v1beta2.AllocatedDeviceStatus", &ALLOCATED_DEVICE_STATUS_FIELDS, 0);
static ALLOCATED_DEVICE_STATUS_FIELDS: [Field; 7] = [
    f("conditions", 4, assoc(&OF_META_V1_CONDITION, &KEYS_META_V1_CONDITION_TYPE), 0),
    f("data", 5, ANY, POINTER | OMIT_EMPTY),
    f("device", 3, STRING, REQUIRED),
    f("driver", 1, STRING, REQUIRED),
    f("networkData", 6, obj(RESOURCE_V1BETA2_NETWORK_DEVICE_DATA), POINTER | OMIT_EMPTY),
    f("pool", 2, STRING, REQUIRED),
    f("shareID", 7, STRING, POINTER | OMIT_EMPTY),
];

pub(super) const ALLOCATION_RESULT: Type = ty("io.k8s.api.resource.v1beta2.AllocationResult", &ALLOCATION_RESULT_FIELDS, 0);
static ALLOCATION_RESULT_FIELDS: [Field; 3] = [
    f("allocationTimestamp", 5, TIME, POINTER | OMIT_EMPTY),
    f("devices", 1, obj(RESOURCE_V1BETA2_DEVICE_ALLOCATION_RESULT), OMIT_EMPTY),
    f("nodeSelector", 3, obj(CORE_V1_NODE_SELECTOR), POINTER | OMIT_EMPTY),
];

pub(super) const CEL_DEVICE_SELECTOR: Type = ty("io.k8s.api.resource.v1beta2.CELDeviceSelector", &CEL_DEVICE_SELECTOR_FIELDS, 0);
static CEL_DEVICE_SELECTOR_FIELDS: [Field; 1] = [
    f("expression", 1, STRING, REQUIRED),
];

pub(super) const CAPACITY_REQUEST_POLICY: Type = ty("io.k8s.api.resource.v1beta2.CapacityRequestPolicy", &CAPACITY_REQUEST_POLICY_FIELDS, 0);
static CAPACITY_REQUEST_POLICY_FIELDS: [Field; 3] = [
    f("default", 1, QUANTITY, POINTER),
    f("validRange", 4, obj(RESOURCE_V1BETA2_CAPACITY_REQUEST_POLICY_RANGE), POINTER | OMIT_EMPTY),
    f("validValues", 3, list(&OF_QUANTITY), OMIT_EMPTY),
];

pub(super) const CAPACITY_REQUEST_POLICY_RANGE: Type = ty("io.k8s.api.resource.v1beta2.CapacityRequestPolicyRange", &CAPACITY_REQUEST_POLICY_RANGE_FIELDS, 0);
static CAPACITY_REQUEST_POLICY_RANGE_FIELDS: [Field; 3] = [
    f("max", 2, QUANTITY, POINTER | OMIT_EMPTY),
    f("min", 1, QUANTITY, REQUIRED | POINTER | OMIT_EMPTY),
    f("step", 3, QUANTITY, POINTER | OMIT_EMPTY),
];

pub(super) const CAPACITY_REQUIREMENTS: Type = ty("io.k8s.api.resource.v1beta2.CapacityRequirements", &CAPACITY_REQUIREMENTS_FIELDS, 0);
static CAPACITY_REQUIREMENTS_FIELDS: [Field; 1] = [
    f("requests", 1, map(&OF_QUANTITY), OMIT_EMPTY),
];

pub(super) const COUNTER: Type = ty("io.k8s.api.resource.v1beta2.Counter", &COUNTER_FIELDS, 0);
static COUNTER_FIELDS: [Field; 1] = [
    f("value", 1, QUANTITY, REQUIRED),
];

pub(super) const COUNTER_SET: Type = ty("io.k8s.api.resource.v1beta2.CounterSet", &COUNTER_SET_FIELDS, 0);
static COUNTER_SET_FIELDS: [Field; 2] = [
    f("counters", 2, map(&OF_RESOURCE_V1BETA2_COUNTER), REQUIRED | OMIT_EMPTY),
    f("name", 1, STRING, REQUIRED),
];

pub(super) const DEVICE: Type = ty("io.k8s.api.resource.v1beta2.Device", &DEVICE_FIELDS, 0);
static DEVICE_FIELDS: [Field; 13] = [
    f("allNodes", 7, BOOL, POINTER | OMIT_EMPTY),
    f("allowMultipleAllocations", 12, BOOL, POINTER | OMIT_EMPTY),
    f("attributes", 2, map(&OF_RESOURCE_V1BETA2_DEVICE_ATTRIBUTE), OMIT_EMPTY),
    f("bindingConditions", 10, list(&OF_STRING), OMIT_EMPTY),
    f("bindingFailureConditions", 11, list(&OF_STRING), OMIT_EMPTY),
    f("bindsToNode", 9, BOOL, POINTER | OMIT_EMPTY),
    f("capacity", 3, map(&OF_RESOURCE_V1BETA2_DEVICE_CAPACITY), OMIT_EMPTY),
    f("consumesCounters", 4, list(&OF_RESOURCE_V1BETA2_DEVICE_COUNTER_CONSUMPTION), OMIT_EMPTY),
    f("name", 1, STRING, REQUIRED),
    f("nodeAllocatableResources", 14, map(&OF_RESOURCE_V1BETA2_NODE_ALLOCATABLE_RESOURCE), OMIT_EMPTY),
    f("nodeName", 5, STRING, POINTER | OMIT_EMPTY),
    f("nodeSelector", 6, obj(CORE_V1_NODE_SELECTOR), POINTER | OMIT_EMPTY),
    f("taints", 8, list(&OF_RESOURCE_V1BETA2_DEVICE_TAINT), OMIT_EMPTY),
];

pub(super) const DEVICE_ALLOCATION_CONFIGURATION: Type = ty("io.k8s.api.resource.v1beta2.DeviceAllocationConfiguration", &DEVICE_ALLOCATION_CONFIGURATION_FIELDS, 0);
static DEVICE_ALLOCATION_CONFIGURATION_FIELDS: [Field; 3] = [
    inlined(&[3], "opaque", 1, obj(RESOURCE_V1BETA2_OPAQUE_DEVICE_CONFIGURATION), POINTER | OMIT_EMPTY),
    f("requests", 2, list(&OF_STRING), OMIT_EMPTY),
    full(&[], "source", 1, STRING, REQUIRED, None, &["FromClaim", "FromClass"], NO_PATCH),
];

pub(super) const DEVICE_ALLOCATION_RESULT: Type = ty("io.k8s.api.resource.v1beta2.DeviceAllocationResult", &DEVICE_ALLOCATION_RESULT_FIELDS, 0);
static DEVICE_ALLOCATION_RESULT_FIELDS: [Field; 2] = [
    f("config", 2, list(&OF_RESOURCE_V1BETA2_DEVICE_ALLOCATION_CONFIGURATION), OMIT_EMPTY),
    f("results", 1, list(&OF_RESOURCE_V1BETA2_DEVICE_REQUEST_ALLOCATION_RESULT), OMIT_EMPTY),
];

pub(super) const DEVICE_ATTRIBUTE: Type = ty("io.k8s.api.resource.v1beta2.DeviceAttribute", &DEVICE_ATTRIBUTE_FIELDS, 0);
static DEVICE_ATTRIBUTE_FIELDS: [Field; 8] = [
    f("bool", 3, BOOL, POINTER | OMIT_EMPTY),
    f("bools", 7, list(&OF_BOOL), OMIT_EMPTY),
    f("int", 2, INT64, POINTER | OMIT_EMPTY),
    f("ints", 6, list(&OF_INT64), OMIT_EMPTY),
    f("string", 4, STRING, POINTER | OMIT_EMPTY),
    f("strings", 8, list(&OF_STRING), OMIT_EMPTY),
    f("version", 5, STRING, POINTER | OMIT_EMPTY),
    f("versions", 9, list(&OF_STRING), OMIT_EMPTY),
];

pub(super) const DEVICE_CAPACITY: Type = ty("io.k8s.api.resource.v1beta2.DeviceCapacity", &DEVICE_CAPACITY_FIELDS, 0);
static DEVICE_CAPACITY_FIELDS: [Field; 2] = [
    f("requestPolicy", 2, obj(RESOURCE_V1BETA2_CAPACITY_REQUEST_POLICY), POINTER | OMIT_EMPTY),
    f("value", 1, QUANTITY, REQUIRED),
];

pub(super) const DEVICE_CLAIM: Type = ty("io.k8s.api.resource.v1beta2.DeviceClaim", &DEVICE_CLAIM_FIELDS, 0);
static DEVICE_CLAIM_FIELDS: [Field; 3] = [
    f("config", 3, list(&OF_RESOURCE_V1BETA2_DEVICE_CLAIM_CONFIGURATION), OMIT_EMPTY),
    f("constraints", 2, list(&OF_RESOURCE_V1BETA2_DEVICE_CONSTRAINT), OMIT_EMPTY),
    f("requests", 1, list(&OF_RESOURCE_V1BETA2_DEVICE_REQUEST), 0),
];

pub(super) const DEVICE_CLAIM_CONFIGURATION: Type = ty("io.k8s.api.resource.v1beta2.DeviceClaimConfiguration", &DEVICE_CLAIM_CONFIGURATION_FIELDS, 0);
static DEVICE_CLAIM_CONFIGURATION_FIELDS: [Field; 2] = [
    inlined(&[2], "opaque", 1, obj(RESOURCE_V1BETA2_OPAQUE_DEVICE_CONFIGURATION), POINTER | OMIT_EMPTY),
    f("requests", 1, list(&OF_STRING), OMIT_EMPTY),
];

pub(super) const DEVICE_CLASS: Type = ty("io.k8s.api.resource.v1beta2.DeviceClass", &DEVICE_CLASS_FIELDS, 0);
static DEVICE_CLASS_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(RESOURCE_V1BETA2_DEVICE_CLASS_SPEC), 0),
];

pub(super) const DEVICE_CLASS_CONFIGURATION: Type = ty("io.k8s.api.resource.v1beta2.DeviceClassConfiguration", &DEVICE_CLASS_CONFIGURATION_FIELDS, 0);
static DEVICE_CLASS_CONFIGURATION_FIELDS: [Field; 1] = [
    inlined(&[1], "opaque", 1, obj(RESOURCE_V1BETA2_OPAQUE_DEVICE_CONFIGURATION), POINTER | OMIT_EMPTY),
];

pub(super) const DEVICE_CLASS_LIST: Type = ty("io.k8s.api.resource.v1beta2.DeviceClassList", &DEVICE_CLASS_LIST_FIELDS, 0);
static DEVICE_CLASS_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_RESOURCE_V1BETA2_DEVICE_CLASS), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const DEVICE_CLASS_SPEC: Type = ty("io.k8s.api.resource.v1beta2.DeviceClassSpec", &DEVICE_CLASS_SPEC_FIELDS, 0);
static DEVICE_CLASS_SPEC_FIELDS: [Field; 3] = [
    f("config", 2, list(&OF_RESOURCE_V1BETA2_DEVICE_CLASS_CONFIGURATION), OMIT_EMPTY),
    f("extendedResourceName", 4, STRING, POINTER | OMIT_EMPTY),
    f("selectors", 1, list(&OF_RESOURCE_V1BETA2_DEVICE_SELECTOR), OMIT_EMPTY),
];

pub(super) const DEVICE_CONSTRAINT: Type = ty("io.k8s.api.resource.v1beta2.DeviceConstraint", &DEVICE_CONSTRAINT_FIELDS, 0);
static DEVICE_CONSTRAINT_FIELDS: [Field; 3] = [
    f("distinctAttribute", 3, STRING, POINTER | OMIT_EMPTY),
    f("matchAttribute", 2, STRING, POINTER | OMIT_EMPTY),
    f("requests", 1, list(&OF_STRING), OMIT_EMPTY),
];

pub(super) const DEVICE_COUNTER_CONSUMPTION: Type = ty("io.k8s.api.resource.v1beta2.DeviceCounterConsumption", &DEVICE_COUNTER_CONSUMPTION_FIELDS, 0);
static DEVICE_COUNTER_CONSUMPTION_FIELDS: [Field; 3] = [
    f("compatibilityGroups", 3, list(&OF_STRING), OMIT_EMPTY),
    f("counterSet", 1, STRING, REQUIRED),
    f("counters", 2, map(&OF_RESOURCE_V1BETA2_COUNTER), REQUIRED | OMIT_EMPTY),
];

pub(super) const DEVICE_DERIVED_ATTRIBUTE: Type = ty("io.k8s.api.resource.v1beta2.DeviceDerivedAttribute", &DEVICE_DERIVED_ATTRIBUTE_FIELDS, 0);
static DEVICE_DERIVED_ATTRIBUTE_FIELDS: [Field; 2] = [
    f("expression", 2, STRING, REQUIRED),
    f("name", 1, STRING, REQUIRED),
];

pub(super) const DEVICE_REQUEST: Type = ty("io.k8s.api.resource.v1beta2.DeviceRequest", &DEVICE_REQUEST_FIELDS, 0);
static DEVICE_REQUEST_FIELDS: [Field; 3] = [
    f("exactly", 2, obj(RESOURCE_V1BETA2_EXACT_DEVICE_REQUEST), POINTER | OMIT_EMPTY),
    f("firstAvailable", 3, list(&OF_RESOURCE_V1BETA2_DEVICE_SUB_REQUEST), OMIT_EMPTY),
    f("name", 1, STRING, REQUIRED),
];

pub(super) const DEVICE_REQUEST_ALLOCATION_RESULT: Type = ty("io.k8s.api.resource.v1beta2.DeviceRequestAllocationResult", &DEVICE_REQUEST_ALLOCATION_RESULT_FIELDS, 0);
static DEVICE_REQUEST_ALLOCATION_RESULT_FIELDS: [Field; 11] = [
    f("adminAccess", 5, BOOL, POINTER | OMIT_EMPTY),
    f("bindingConditions", 7, list(&OF_STRING), OMIT_EMPTY),
    f("bindingFailureConditions", 8, list(&OF_STRING), OMIT_EMPTY),
    f("consumedCapacity", 10, map(&OF_QUANTITY), OMIT_EMPTY),
    f("device", 4, STRING, REQUIRED),
    f("driver", 2, STRING, REQUIRED),
    f("pool", 3, STRING, REQUIRED),
    f("request", 1, STRING, REQUIRED),
    f("shareID", 9, STRING, POINTER | OMIT_EMPTY),
    full(&[], "skipNodeOperations", 11, set(&OF_STRING), OMIT_EMPTY, None, &["*", "NodePrepareResources", "NodeUnprepareResources"], NO_PATCH),
    f("tolerations", 6, list(&OF_RESOURCE_V1BETA2_DEVICE_TOLERATION), OMIT_EMPTY),
];

pub(super) const DEVICE_SELECTOR: Type = ty("io.k8s.api.resource.v1beta2.DeviceSelector", &DEVICE_SELECTOR_FIELDS, 0);
static DEVICE_SELECTOR_FIELDS: [Field; 1] = [
    f("cel", 1, obj(RESOURCE_V1BETA2_CEL_DEVICE_SELECTOR), POINTER | OMIT_EMPTY),
];

pub(super) const DEVICE_SUB_REQUEST: Type = ty("io.k8s.api.resource.v1beta2.DeviceSubRequest", &DEVICE_SUB_REQUEST_FIELDS, 0);
static DEVICE_SUB_REQUEST_FIELDS: [Field; 8] = [
    f("allocationMode", 4, STRING, OMIT_EMPTY),
    f("capacity", 7, obj(RESOURCE_V1BETA2_CAPACITY_REQUIREMENTS), POINTER | OMIT_EMPTY),
    f("count", 5, INT64, OMIT_EMPTY),
    f("derivedAttributes", 8, list(&OF_RESOURCE_V1BETA2_DEVICE_DERIVED_ATTRIBUTE), OMIT_EMPTY),
    f("deviceClassName", 2, STRING, REQUIRED),
    f("name", 1, STRING, REQUIRED),
    f("selectors", 3, list(&OF_RESOURCE_V1BETA2_DEVICE_SELECTOR), OMIT_EMPTY),
    f("tolerations", 6, list(&OF_RESOURCE_V1BETA2_DEVICE_TOLERATION), OMIT_EMPTY),
];

pub(super) const DEVICE_TAINT: Type = ty("io.k8s.api.resource.v1beta2.DeviceTaint", &DEVICE_TAINT_FIELDS, 0);
static DEVICE_TAINT_FIELDS: [Field; 4] = [
    full(&[], "effect", 3, STRING, REQUIRED, None, &["NoExecute", "NoSchedule", "None"], NO_PATCH),
    f("key", 1, STRING, REQUIRED),
    f("timeAdded", 4, TIME, POINTER | OMIT_EMPTY),
    f("value", 2, STRING, OMIT_EMPTY),
];

pub(super) const DEVICE_TAINT_RULE: Type = ty("io.k8s.api.resource.v1beta2.DeviceTaintRule", &DEVICE_TAINT_RULE_FIELDS, 0);
static DEVICE_TAINT_RULE_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(RESOURCE_V1BETA2_DEVICE_TAINT_RULE_SPEC), REQUIRED),
    f("status", 3, obj(RESOURCE_V1BETA2_DEVICE_TAINT_RULE_STATUS), OMIT_EMPTY),
];

pub(super) const DEVICE_TAINT_RULE_LIST: Type = ty("io.k8s.api.resource.v1beta2.DeviceTaintRuleList", &DEVICE_TAINT_RULE_LIST_FIELDS, 0);
static DEVICE_TAINT_RULE_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_RESOURCE_V1BETA2_DEVICE_TAINT_RULE), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const DEVICE_TAINT_RULE_SPEC: Type = ty("io.k8s.api.resource.v1beta2.DeviceTaintRuleSpec", &DEVICE_TAINT_RULE_SPEC_FIELDS, 0);
static DEVICE_TAINT_RULE_SPEC_FIELDS: [Field; 2] = [
    f("deviceSelector", 1, obj(RESOURCE_V1BETA2_DEVICE_TAINT_SELECTOR), POINTER | OMIT_EMPTY),
    f("taint", 2, obj(RESOURCE_V1BETA2_DEVICE_TAINT), REQUIRED | OMIT_EMPTY),
];

pub(super) const DEVICE_TAINT_RULE_STATUS: Type = ty("io.k8s.api.resource.v1beta2.DeviceTaintRuleStatus", &DEVICE_TAINT_RULE_STATUS_FIELDS, 0);
static DEVICE_TAINT_RULE_STATUS_FIELDS: [Field; 1] = [
    full(&[], "conditions", 1, assoc(&OF_META_V1_CONDITION, &KEYS_META_V1_CONDITION_TYPE), OMIT_EMPTY, None, &[], merge_by("type")),
];

pub(super) const DEVICE_TAINT_SELECTOR: Type = ty("io.k8s.api.resource.v1beta2.DeviceTaintSelector", &DEVICE_TAINT_SELECTOR_FIELDS, 0);
static DEVICE_TAINT_SELECTOR_FIELDS: [Field; 3] = [
    f("device", 4, STRING, POINTER | OMIT_EMPTY),
    f("driver", 2, STRING, POINTER | OMIT_EMPTY),
    f("pool", 3, STRING, POINTER | OMIT_EMPTY),
];

pub(super) const DEVICE_TOLERATION: Type = ty("io.k8s.api.resource.v1beta2.DeviceToleration", &DEVICE_TOLERATION_FIELDS, 0);
static DEVICE_TOLERATION_FIELDS: [Field; 5] = [
    full(&[], "effect", 4, STRING, OMIT_EMPTY, None, &["NoExecute", "NoSchedule", "None"], NO_PATCH),
    f("key", 1, STRING, OMIT_EMPTY),
    full(&[], "operator", 2, STRING, OMIT_EMPTY, Some("\"Equal\""), &["Equal", "Exists"], NO_PATCH),
    f("tolerationSeconds", 5, INT64, POINTER | OMIT_EMPTY),
    f("value", 3, STRING, OMIT_EMPTY),
];

pub(super) const EXACT_DEVICE_REQUEST: Type = ty("io.k8s.api.resource.v1beta2.ExactDeviceRequest", &EXACT_DEVICE_REQUEST_FIELDS, 0);
static EXACT_DEVICE_REQUEST_FIELDS: [Field; 8] = [
    f("adminAccess", 5, BOOL, POINTER | OMIT_EMPTY),
    f("allocationMode", 3, STRING, OMIT_EMPTY),
    f("capacity", 7, obj(RESOURCE_V1BETA2_CAPACITY_REQUIREMENTS), POINTER | OMIT_EMPTY),
    f("count", 4, INT64, OMIT_EMPTY),
    f("derivedAttributes", 8, list(&OF_RESOURCE_V1BETA2_DEVICE_DERIVED_ATTRIBUTE), OMIT_EMPTY),
    f("deviceClassName", 1, STRING, REQUIRED),
    f("selectors", 2, list(&OF_RESOURCE_V1BETA2_DEVICE_SELECTOR), OMIT_EMPTY),
    f("tolerations", 6, list(&OF_RESOURCE_V1BETA2_DEVICE_TOLERATION), OMIT_EMPTY),
];

pub(super) const NETWORK_DEVICE_DATA: Type = ty("io.k8s.api.resource.v1beta2.NetworkDeviceData", &NETWORK_DEVICE_DATA_FIELDS, 0);
static NETWORK_DEVICE_DATA_FIELDS: [Field; 3] = [
    f("hardwareAddress", 3, STRING, OMIT_EMPTY),
    f("interfaceName", 1, STRING, OMIT_EMPTY),
    f("ips", 2, list(&OF_STRING), OMIT_EMPTY),
];

pub(super) const NODE_ALLOCATABLE_MAPPING: Type = ty("io.k8s.api.resource.v1beta2.NodeAllocatableMapping", &NODE_ALLOCATABLE_MAPPING_FIELDS, 0);
static NODE_ALLOCATABLE_MAPPING_FIELDS: [Field; 3] = [
    f("capacityKey", 1, STRING, POINTER | OMIT_EMPTY),
    f("capacityMultiplier", 2, QUANTITY, POINTER | OMIT_EMPTY),
    f("deviceMultiplier", 3, QUANTITY, POINTER | OMIT_EMPTY),
];

pub(super) const NODE_ALLOCATABLE_OVERHEAD: Type = ty("io.k8s.api.resource.v1beta2.NodeAllocatableOverhead", &NODE_ALLOCATABLE_OVERHEAD_FIELDS, 0);
static NODE_ALLOCATABLE_OVERHEAD_FIELDS: [Field; 2] = [
    f("perContainer", 2, QUANTITY, POINTER | OMIT_EMPTY),
    f("perPod", 1, QUANTITY, POINTER | OMIT_EMPTY),
];

pub(super) const NODE_ALLOCATABLE_RESOURCE: Type = ty("io.k8s.api.resource.v1beta2.NodeAllocatableResource", &NODE_ALLOCATABLE_RESOURCE_FIELDS, 0);
static NODE_ALLOCATABLE_RESOURCE_FIELDS: [Field; 2] = [
    f("mapping", 3, obj(RESOURCE_V1BETA2_NODE_ALLOCATABLE_MAPPING), POINTER | OMIT_EMPTY),
    f("overhead", 4, obj(RESOURCE_V1BETA2_NODE_ALLOCATABLE_OVERHEAD), POINTER | OMIT_EMPTY),
];

pub(super) const OPAQUE_DEVICE_CONFIGURATION: Type = ty("io.k8s.api.resource.v1beta2.OpaqueDeviceConfiguration", &OPAQUE_DEVICE_CONFIGURATION_FIELDS, 0);
static OPAQUE_DEVICE_CONFIGURATION_FIELDS: [Field; 2] = [
    f("driver", 1, STRING, REQUIRED),
    f("parameters", 2, ANY, REQUIRED),
];

pub(super) const RESOURCE_CLAIM: Type = ty("io.k8s.api.resource.v1beta2.ResourceClaim", &RESOURCE_CLAIM_FIELDS, 0);
static RESOURCE_CLAIM_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(RESOURCE_V1BETA2_RESOURCE_CLAIM_SPEC), 0),
    f("status", 3, obj(RESOURCE_V1BETA2_RESOURCE_CLAIM_STATUS), OMIT_EMPTY),
];

pub(super) const RESOURCE_CLAIM_CONSUMER_REFERENCE: Type = ty("io.k8s.api.resource.v1beta2.ResourceClaimConsumerReference", &RESOURCE_CLAIM_CONSUMER_REFERENCE_FIELDS, 0);
static RESOURCE_CLAIM_CONSUMER_REFERENCE_FIELDS: [Field; 4] = [
    f("apiGroup", 1, STRING, OMIT_EMPTY),
    f("name", 4, STRING, REQUIRED),
    f("resource", 3, STRING, REQUIRED),
    f("uid", 5, STRING, REQUIRED),
];

pub(super) const RESOURCE_CLAIM_LIST: Type = ty("io.k8s.api.resource.v1beta2.ResourceClaimList", &RESOURCE_CLAIM_LIST_FIELDS, 0);
static RESOURCE_CLAIM_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_RESOURCE_V1BETA2_RESOURCE_CLAIM), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const RESOURCE_CLAIM_SPEC: Type = ty("io.k8s.api.resource.v1beta2.ResourceClaimSpec", &RESOURCE_CLAIM_SPEC_FIELDS, 0);
static RESOURCE_CLAIM_SPEC_FIELDS: [Field; 1] = [
    f("devices", 1, obj(RESOURCE_V1BETA2_DEVICE_CLAIM), 0),
];

pub(super) const RESOURCE_CLAIM_STATUS: Type = ty("io.k8s.api.resource.v1beta2.ResourceClaimStatus", &RESOURCE_CLAIM_STATUS_FIELDS, 0);
static RESOURCE_CLAIM_STATUS_FIELDS: [Field; 3] = [
    f("allocation", 1, obj(RESOURCE_V1BETA2_ALLOCATION_RESULT), POINTER | OMIT_EMPTY),
    f("devices", 4, assoc(&OF_RESOURCE_V1BETA2_ALLOCATED_DEVICE_STATUS, &KEYS_RESOURCE_V1BETA2_ALLOCATED_DEVICE_STATUS_DRIVER_DEVICE_POOL_SHARE_ID), OMIT_EMPTY),
    full(&[], "reservedFor", 2, assoc(&OF_RESOURCE_V1BETA2_RESOURCE_CLAIM_CONSUMER_REFERENCE, &KEYS_RESOURCE_V1BETA2_RESOURCE_CLAIM_CONSUMER_REFERENCE_UID), OMIT_EMPTY, None, &[], merge_by("uid")),
];

pub(super) const RESOURCE_CLAIM_TEMPLATE: Type = ty("io.k8s.api.resource.v1beta2.ResourceClaimTemplate", &RESOURCE_CLAIM_TEMPLATE_FIELDS, 0);
static RESOURCE_CLAIM_TEMPLATE_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(RESOURCE_V1BETA2_RESOURCE_CLAIM_TEMPLATE_SPEC), 0),
];

pub(super) const RESOURCE_CLAIM_TEMPLATE_LIST: Type = ty("io.k8s.api.resource.v1beta2.ResourceClaimTemplateList", &RESOURCE_CLAIM_TEMPLATE_LIST_FIELDS, 0);
static RESOURCE_CLAIM_TEMPLATE_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_RESOURCE_V1BETA2_RESOURCE_CLAIM_TEMPLATE), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const RESOURCE_CLAIM_TEMPLATE_SPEC: Type = ty("io.k8s.api.resource.v1beta2.ResourceClaimTemplateSpec", &RESOURCE_CLAIM_TEMPLATE_SPEC_FIELDS, 0);
static RESOURCE_CLAIM_TEMPLATE_SPEC_FIELDS: [Field; 2] = [
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(RESOURCE_V1BETA2_RESOURCE_CLAIM_SPEC), 0),
];

pub(super) const RESOURCE_POOL: Type = ty("io.k8s.api.resource.v1beta2.ResourcePool", &RESOURCE_POOL_FIELDS, 0);
static RESOURCE_POOL_FIELDS: [Field; 3] = [
    f("generation", 2, INT64, REQUIRED),
    f("name", 1, STRING, REQUIRED),
    f("resourceSliceCount", 3, INT64, REQUIRED),
];

pub(super) const RESOURCE_SLICE: Type = ty("io.k8s.api.resource.v1beta2.ResourceSlice", &RESOURCE_SLICE_FIELDS, 0);
static RESOURCE_SLICE_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(RESOURCE_V1BETA2_RESOURCE_SLICE_SPEC), REQUIRED),
];

pub(super) const RESOURCE_SLICE_LIST: Type = ty("io.k8s.api.resource.v1beta2.ResourceSliceList", &RESOURCE_SLICE_LIST_FIELDS, 0);
static RESOURCE_SLICE_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_RESOURCE_V1BETA2_RESOURCE_SLICE), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const RESOURCE_SLICE_SPEC: Type = ty("io.k8s.api.resource.v1beta2.ResourceSliceSpec", &RESOURCE_SLICE_SPEC_FIELDS, 0);
static RESOURCE_SLICE_SPEC_FIELDS: [Field; 10] = [
    f("allNodes", 5, BOOL, POINTER | OMIT_EMPTY),
    f("devices", 6, list(&OF_RESOURCE_V1BETA2_DEVICE), OMIT_EMPTY),
    f("driver", 1, STRING, REQUIRED),
    f("nodeName", 3, STRING, POINTER | OMIT_EMPTY),
    f("nodeSelector", 4, obj(CORE_V1_NODE_SELECTOR), POINTER | OMIT_EMPTY),
    f("partitionTypeAttribute", 9, STRING, POINTER | OMIT_EMPTY),
    f("perDeviceNodeSelection", 7, BOOL, POINTER | OMIT_EMPTY),
    f("pool", 2, obj(RESOURCE_V1BETA2_RESOURCE_POOL), REQUIRED),
    f("sharedCounters", 8, list(&OF_RESOURCE_V1BETA2_COUNTER_SET), OMIT_EMPTY),
    full(&[], "skipNodeOperations", 10, set(&OF_STRING), OMIT_EMPTY, None, &["*", "NodePrepareResources", "NodeUnprepareResources"], NO_PATCH),
];
