//! Types of package `storage_v1`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static KEYS_STORAGE_V1_CSI_NODE_DRIVER_NAME: [Key; 1] = [key("name", Some("\"\""))];
static KEYS_STORAGE_V1_STORAGE_HEALTH_NAME: [Key; 1] = [key("name", Some("\"\""))];
static OF_CORE_V1_TOPOLOGY_SELECTOR_TERM: Shape = obj(CORE_V1_TOPOLOGY_SELECTOR_TERM);
static OF_STORAGE_V1_CSI_DRIVER: Shape = obj(STORAGE_V1_CSI_DRIVER);
static OF_STORAGE_V1_CSI_NODE: Shape = obj(STORAGE_V1_CSI_NODE);
static OF_STORAGE_V1_CSI_NODE_DRIVER: Shape = obj(STORAGE_V1_CSI_NODE_DRIVER);
static OF_STORAGE_V1_CSI_STORAGE_CAPACITY: Shape = obj(STORAGE_V1_CSI_STORAGE_CAPACITY);
static OF_STORAGE_V1_STORAGE_CLASS: Shape = obj(STORAGE_V1_STORAGE_CLASS);
static OF_STORAGE_V1_STORAGE_HEALTH: Shape = obj(STORAGE_V1_STORAGE_HEALTH);
static OF_STORAGE_V1_STORAGE_HEALTH_CONDITION: Shape = obj(STORAGE_V1_STORAGE_HEALTH_CONDITION);
static OF_STORAGE_V1_TOKEN_REQUEST: Shape = obj(STORAGE_V1_TOKEN_REQUEST);
static OF_STORAGE_V1_VOLUME_ATTACHMENT: Shape = obj(STORAGE_V1_VOLUME_ATTACHMENT);
static OF_STORAGE_V1_VOLUME_ATTRIBUTES_CLASS: Shape = obj(STORAGE_V1_VOLUME_ATTRIBUTES_CLASS);
static OF_STRING: Shape = STRING;

pub(super) const CSI_DRIVER: Type = ty("io.k8s.api.storage.v1.CSIDriver", &CSI_DRIVER_FIELDS, 0);
static CSI_DRIVER_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(STORAGE_V1_CSI_DRIVER_SPEC), REQUIRED),
];

pub(super) const CSI_DRIVER_LIST: Type = ty("io.k8s.api.storage.v1.CSIDriverList", &CSI_DRIVER_LIST_FIELDS, 0);
static CSI_DRIVER_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_STORAGE_V1_CSI_DRIVER), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const CSI_DRIVER_SPEC: Type = ty("io.k8s.api.storage.v1.CSIDriverSpec", &CSI_DRIVER_SPEC_FIELDS, 0);
static CSI_DRIVER_SPEC_FIELDS: [Field; 11] = [
    f("attachRequired", 1, BOOL, POINTER | OMIT_EMPTY),
    f("fsGroupPolicy", 5, STRING, POINTER | OMIT_EMPTY),
    f("nodeAllocatableUpdatePeriodSeconds", 9, INT64, POINTER | OMIT_EMPTY),
    f("podInfoOnMount", 2, BOOL, POINTER | OMIT_EMPTY),
    f("preventPodSchedulingIfMissing", 11, BOOL, POINTER | OMIT_EMPTY),
    f("requiresRepublish", 7, BOOL, POINTER | OMIT_EMPTY),
    f("seLinuxMount", 8, BOOL, POINTER | OMIT_EMPTY),
    f("serviceAccountTokenInSecrets", 10, BOOL, POINTER | OMIT_EMPTY),
    f("storageCapacity", 4, BOOL, POINTER | OMIT_EMPTY),
    f("tokenRequests", 6, list(&OF_STORAGE_V1_TOKEN_REQUEST), OMIT_EMPTY),
    f("volumeLifecycleModes", 3, set(&OF_STRING), OMIT_EMPTY),
];

pub(super) const CSI_NODE: Type = ty("io.k8s.api.storage.v1.CSINode", &CSI_NODE_FIELDS, 0);
static CSI_NODE_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(STORAGE_V1_CSI_NODE_SPEC), REQUIRED),
    f("status", 3, obj(STORAGE_V1_CSI_NODE_STATUS), OMIT_EMPTY),
];

pub(super) const CSI_NODE_DRIVER: Type = ty("io.k8s.api.storage.v1.CSINodeDriver", &CSI_NODE_DRIVER_FIELDS, 0);
static CSI_NODE_DRIVER_FIELDS: [Field; 4] = [
    f("allocatable", 4, obj(STORAGE_V1_VOLUME_NODE_RESOURCES), POINTER | OMIT_EMPTY),
    f("name", 1, STRING, REQUIRED),
    f("nodeID", 2, STRING, REQUIRED),
    f("topologyKeys", 3, list(&OF_STRING), 0),
];

pub(super) const CSI_NODE_LIST: Type = ty("io.k8s.api.storage.v1.CSINodeList", &CSI_NODE_LIST_FIELDS, 0);
static CSI_NODE_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_STORAGE_V1_CSI_NODE), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const CSI_NODE_SPEC: Type = ty("io.k8s.api.storage.v1.CSINodeSpec", &CSI_NODE_SPEC_FIELDS, 0);
static CSI_NODE_SPEC_FIELDS: [Field; 1] = [
    full(&[], "drivers", 1, assoc(&OF_STORAGE_V1_CSI_NODE_DRIVER, &KEYS_STORAGE_V1_CSI_NODE_DRIVER_NAME), REQUIRED, None, &[], merge_by("name")),
];

pub(super) const CSI_NODE_STATUS: Type = ty("io.k8s.api.storage.v1.CSINodeStatus", &CSI_NODE_STATUS_FIELDS, 0);
static CSI_NODE_STATUS_FIELDS: [Field; 1] = [
    full(&[], "storageHealth", 1, assoc(&OF_STORAGE_V1_STORAGE_HEALTH, &KEYS_STORAGE_V1_STORAGE_HEALTH_NAME), OMIT_EMPTY, None, &[], merge_by("name")),
];

pub(super) const CSI_STORAGE_CAPACITY: Type = ty("io.k8s.api.storage.v1.CSIStorageCapacity", &CSI_STORAGE_CAPACITY_FIELDS, 0);
static CSI_STORAGE_CAPACITY_FIELDS: [Field; 7] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("capacity", 4, QUANTITY, POINTER | OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("maximumVolumeSize", 5, QUANTITY, POINTER | OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("nodeTopology", 2, obj(META_V1_LABEL_SELECTOR), POINTER | OMIT_EMPTY),
    f("storageClassName", 3, STRING, REQUIRED),
];

pub(super) const CSI_STORAGE_CAPACITY_LIST: Type = ty("io.k8s.api.storage.v1.CSIStorageCapacityList", &CSI_STORAGE_CAPACITY_LIST_FIELDS, 0);
static CSI_STORAGE_CAPACITY_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_STORAGE_V1_CSI_STORAGE_CAPACITY), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const STORAGE_CLASS: Type = ty("io.k8s.api.storage.v1.StorageClass", &STORAGE_CLASS_FIELDS, 0);
static STORAGE_CLASS_FIELDS: [Field; 10] = [
    f("allowVolumeExpansion", 6, BOOL, POINTER | OMIT_EMPTY),
    f("allowedTopologies", 8, list(&OF_CORE_V1_TOPOLOGY_SELECTOR_TERM), OMIT_EMPTY),
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("mountOptions", 5, list(&OF_STRING), OMIT_EMPTY),
    f("parameters", 3, map(&OF_STRING), OMIT_EMPTY),
    f("provisioner", 2, STRING, REQUIRED),
    full(&[], "reclaimPolicy", 4, STRING, POINTER | OMIT_EMPTY, None, &["Delete", "Recycle", "Retain"], NO_PATCH),
    full(&[], "volumeBindingMode", 7, STRING, POINTER | OMIT_EMPTY, None, &["Immediate", "WaitForFirstConsumer"], NO_PATCH),
];

pub(super) const STORAGE_CLASS_LIST: Type = ty("io.k8s.api.storage.v1.StorageClassList", &STORAGE_CLASS_LIST_FIELDS, 0);
static STORAGE_CLASS_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_STORAGE_V1_STORAGE_CLASS), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const STORAGE_HEALTH: Type = ty("io.k8s.api.storage.v1.StorageHealth", &STORAGE_HEALTH_FIELDS, 0);
static STORAGE_HEALTH_FIELDS: [Field; 2] = [
    f("healthConditions", 2, list(&OF_STORAGE_V1_STORAGE_HEALTH_CONDITION), OMIT_EMPTY),
    f("name", 1, STRING, REQUIRED),
];

pub(super) const STORAGE_HEALTH_CONDITION: Type = ty("io.k8s.api.storage.v1.StorageHealthCondition", &STORAGE_HEALTH_CONDITION_FIELDS, 0);
static STORAGE_HEALTH_CONDITION_FIELDS: [Field; 6] = [
    full(&[], "accessMode", 4, STRING, POINTER | OMIT_EMPTY, None, &["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"], NO_PATCH),
    f("lastTransitionTime", 6, TIME, OMIT_EMPTY),
    f("message", 3, STRING, OMIT_EMPTY),
    f("reason", 2, STRING, REQUIRED),
    full(&[], "status", 1, STRING, REQUIRED, None, &["StorageDegraded", "StorageUnreachable"], NO_PATCH),
    full(&[], "volumeMode", 5, STRING, POINTER | OMIT_EMPTY, None, &["Block", "Filesystem"], NO_PATCH),
];

pub(super) const TOKEN_REQUEST: Type = ty("io.k8s.api.storage.v1.TokenRequest", &TOKEN_REQUEST_FIELDS, 0);
static TOKEN_REQUEST_FIELDS: [Field; 2] = [
    f("audience", 1, STRING, REQUIRED),
    f("expirationSeconds", 2, INT64, POINTER | OMIT_EMPTY),
];

pub(super) const VOLUME_ATTACHMENT: Type = ty("io.k8s.api.storage.v1.VolumeAttachment", &VOLUME_ATTACHMENT_FIELDS, 0);
static VOLUME_ATTACHMENT_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(STORAGE_V1_VOLUME_ATTACHMENT_SPEC), REQUIRED),
    f("status", 3, obj(STORAGE_V1_VOLUME_ATTACHMENT_STATUS), OMIT_EMPTY),
];

pub(super) const VOLUME_ATTACHMENT_LIST: Type = ty("io.k8s.api.storage.v1.VolumeAttachmentList", &VOLUME_ATTACHMENT_LIST_FIELDS, 0);
static VOLUME_ATTACHMENT_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_STORAGE_V1_VOLUME_ATTACHMENT), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const VOLUME_ATTACHMENT_SOURCE: Type = ty("io.k8s.api.storage.v1.VolumeAttachmentSource", &VOLUME_ATTACHMENT_SOURCE_FIELDS, 0);
static VOLUME_ATTACHMENT_SOURCE_FIELDS: [Field; 2] = [
    f("inlineVolumeSpec", 2, obj(CORE_V1_PERSISTENT_VOLUME_SPEC), POINTER | OMIT_EMPTY),
    f("persistentVolumeName", 1, STRING, POINTER | OMIT_EMPTY),
];

pub(super) const VOLUME_ATTACHMENT_SPEC: Type = ty("io.k8s.api.storage.v1.VolumeAttachmentSpec", &VOLUME_ATTACHMENT_SPEC_FIELDS, 0);
static VOLUME_ATTACHMENT_SPEC_FIELDS: [Field; 3] = [
    f("attacher", 1, STRING, REQUIRED),
    f("nodeName", 3, STRING, REQUIRED),
    f("source", 2, obj(STORAGE_V1_VOLUME_ATTACHMENT_SOURCE), REQUIRED),
];

pub(super) const VOLUME_ATTACHMENT_STATUS: Type = ty("io.k8s.api.storage.v1.VolumeAttachmentStatus", &VOLUME_ATTACHMENT_STATUS_FIELDS, 0);
static VOLUME_ATTACHMENT_STATUS_FIELDS: [Field; 4] = [
    f("attachError", 3, obj(STORAGE_V1_VOLUME_ERROR), POINTER | OMIT_EMPTY),
    f("attached", 1, BOOL, REQUIRED),
    f("attachmentMetadata", 2, map(&OF_STRING), OMIT_EMPTY),
    f("detachError", 4, obj(STORAGE_V1_VOLUME_ERROR), POINTER | OMIT_EMPTY),
];

pub(super) const VOLUME_ATTRIBUTES_CLASS: Type = ty("io.k8s.api.storage.v1.VolumeAttributesClass", &VOLUME_ATTRIBUTES_CLASS_FIELDS, 0);
static VOLUME_ATTRIBUTES_CLASS_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("driverName", 2, STRING, REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("parameters", 3, map(&OF_STRING), OMIT_EMPTY),
];

pub(super) const VOLUME_ATTRIBUTES_CLASS_LIST: Type = ty("io.k8s.api.storage.v1.VolumeAttributesClassList", &VOLUME_ATTRIBUTES_CLASS_LIST_FIELDS, 0);
static VOLUME_ATTRIBUTES_CLASS_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_STORAGE_V1_VOLUME_ATTRIBUTES_CLASS), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const VOLUME_ERROR: Type = ty("io.k8s.api.storage.v1.VolumeError", &VOLUME_ERROR_FIELDS, 0);
static VOLUME_ERROR_FIELDS: [Field; 3] = [
    f("errorCode", 3, INT32, POINTER | OMIT_EMPTY),
    f("message", 2, STRING, OMIT_EMPTY),
    f("time", 1, TIME, OMIT_EMPTY),
];

pub(super) const VOLUME_NODE_RESOURCES: Type = ty("io.k8s.api.storage.v1.VolumeNodeResources", &VOLUME_NODE_RESOURCES_FIELDS, 0);
static VOLUME_NODE_RESOURCES_FIELDS: [Field; 1] = [
    f("count", 1, INT32, POINTER | OMIT_EMPTY),
];
