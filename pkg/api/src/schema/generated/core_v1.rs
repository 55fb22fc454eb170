//! Types of package `core_v1`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static KEYS_CORE_V1_COMPONENT_CONDITION_TYPE: [Key; 1] = [key("type", Some("\"\""))];
static KEYS_CORE_V1_CONTAINER_NAME: [Key; 1] = [key("name", Some("\"\""))];
static KEYS_CORE_V1_CONTAINER_PORT_CONTAINER_PORT_PROTOCOL: [Key; 2] = [key("containerPort", Some("0")), key("protocol", Some("\"TCP\""))];
static KEYS_CORE_V1_ENV_VAR_NAME: [Key; 1] = [key("name", Some("\"\""))];
static KEYS_CORE_V1_EPHEMERAL_CONTAINER_NAME: [Key; 1] = [key("name", Some("\"\""))];
static KEYS_CORE_V1_EVICTION_RESPONDER_NAME: [Key; 1] = [key("name", Some("\"\""))];
static KEYS_CORE_V1_HOST_ALIAS_IP: [Key; 1] = [key("ip", Some("\"\""))];
static KEYS_CORE_V1_LOCAL_OBJECT_REFERENCE_NAME: [Key; 1] = [key("name", Some("\"\""))];
static KEYS_CORE_V1_NAMESPACE_CONDITION_TYPE: [Key; 1] = [key("type", Some("\"\""))];
static KEYS_CORE_V1_NODE_ADDRESS_TYPE: [Key; 1] = [key("type", Some("\"\""))];
static KEYS_CORE_V1_NODE_ALLOCATABLE_MAPPED_RESOURCES_NAME: [Key; 1] = [key("name", Some("\"\""))];
static KEYS_CORE_V1_NODE_ALLOCATABLE_OVERHEAD_RESOURCES_NAME: [Key; 1] = [key("name", Some("\"\""))];
static KEYS_CORE_V1_NODE_ALLOCATABLE_RESOURCE_CLAIM_STATUS_RESOURCE_CLAIM_NAME: [Key; 1] = [key("resourceClaimName", Some("\"\""))];
static KEYS_CORE_V1_NODE_CONDITION_TYPE: [Key; 1] = [key("type", Some("\"\""))];
static KEYS_CORE_V1_OBJECT_REFERENCE_NAME: [Key; 1] = [key("name", None)];
static KEYS_CORE_V1_PERSISTENT_VOLUME_CLAIM_CONDITION_TYPE: [Key; 1] = [key("type", Some("\"\""))];
static KEYS_CORE_V1_POD_CONDITION_TYPE: [Key; 1] = [key("type", Some("\"\""))];
static KEYS_CORE_V1_POD_IP_IP: [Key; 1] = [key("ip", Some("\"\""))];
static KEYS_CORE_V1_POD_RESOURCE_CLAIM_NAME: [Key; 1] = [key("name", Some("\"\""))];
static KEYS_CORE_V1_POD_RESOURCE_CLAIM_STATUS_NAME: [Key; 1] = [key("name", Some("\"\""))];
static KEYS_CORE_V1_POD_SCHEDULING_GATE_NAME: [Key; 1] = [key("name", Some("\"\""))];
static KEYS_CORE_V1_POD_VOLUME_HEALTH_NAME: [Key; 1] = [key("name", Some("\"\""))];
static KEYS_CORE_V1_REPLICATION_CONTROLLER_CONDITION_TYPE: [Key; 1] = [key("type", Some("\"\""))];
static KEYS_CORE_V1_RESOURCE_CLAIM_NAME: [Key; 1] = [key("name", Some("\"\""))];
static KEYS_CORE_V1_RESOURCE_HEALTH_RESOURCE_ID: [Key; 1] = [key("resourceID", Some("\"\""))];
static KEYS_CORE_V1_RESOURCE_STATUS_NAME: [Key; 1] = [key("name", Some("\"\""))];
static KEYS_CORE_V1_SERVICE_PORT_PORT_PROTOCOL: [Key; 2] = [key("port", Some("0")), key("protocol", Some("\"TCP\""))];
static KEYS_CORE_V1_TOPOLOGY_SPREAD_CONSTRAINT_TOPOLOGY_KEY_WHEN_UNSATISFIABLE: [Key; 2] = [key("topologyKey", Some("\"\"")), key("whenUnsatisfiable", Some("\"\""))];
static KEYS_CORE_V1_VOLUME_DEVICE_DEVICE_PATH: [Key; 1] = [key("devicePath", Some("\"\""))];
static KEYS_CORE_V1_VOLUME_HEALTH_CONDITION_STATUS_REASON: [Key; 2] = [key("status", Some("\"\"")), key("reason", Some("\"\""))];
static KEYS_CORE_V1_VOLUME_MOUNT_MOUNT_PATH: [Key; 1] = [key("mountPath", Some("\"\""))];
static KEYS_CORE_V1_VOLUME_MOUNT_STATUS_MOUNT_PATH: [Key; 1] = [key("mountPath", Some("\"\""))];
static KEYS_CORE_V1_VOLUME_NAME: [Key; 1] = [key("name", Some("\"\""))];
static KEYS_META_V1_CONDITION_TYPE: [Key; 1] = [key("type", Some("\"\""))];
static OF_BYTES: Shape = BYTES;
static OF_CORE_V1_ATTACHED_VOLUME: Shape = obj(CORE_V1_ATTACHED_VOLUME);
static OF_CORE_V1_COMPONENT_CONDITION: Shape = obj(CORE_V1_COMPONENT_CONDITION);
static OF_CORE_V1_COMPONENT_STATUS: Shape = obj(CORE_V1_COMPONENT_STATUS);
static OF_CORE_V1_CONFIG_MAP: Shape = obj(CORE_V1_CONFIG_MAP);
static OF_CORE_V1_CONTAINER: Shape = obj(CORE_V1_CONTAINER);
static OF_CORE_V1_CONTAINER_EXTENDED_RESOURCE_REQUEST: Shape = obj(CORE_V1_CONTAINER_EXTENDED_RESOURCE_REQUEST);
static OF_CORE_V1_CONTAINER_IMAGE: Shape = obj(CORE_V1_CONTAINER_IMAGE);
static OF_CORE_V1_CONTAINER_PORT: Shape = obj(CORE_V1_CONTAINER_PORT);
static OF_CORE_V1_CONTAINER_RESIZE_POLICY: Shape = obj(CORE_V1_CONTAINER_RESIZE_POLICY);
static OF_CORE_V1_CONTAINER_RESTART_RULE: Shape = obj(CORE_V1_CONTAINER_RESTART_RULE);
static OF_CORE_V1_CONTAINER_STATUS: Shape = obj(CORE_V1_CONTAINER_STATUS);
static OF_CORE_V1_DOWNWARD_API_VOLUME_FILE: Shape = obj(CORE_V1_DOWNWARD_API_VOLUME_FILE);
static OF_CORE_V1_ENDPOINTS: Shape = obj(CORE_V1_ENDPOINTS);
static OF_CORE_V1_ENDPOINT_ADDRESS: Shape = obj(CORE_V1_ENDPOINT_ADDRESS);
static OF_CORE_V1_ENDPOINT_PORT: Shape = obj(CORE_V1_ENDPOINT_PORT);
static OF_CORE_V1_ENDPOINT_SUBSET: Shape = obj(CORE_V1_ENDPOINT_SUBSET);
static OF_CORE_V1_ENV_FROM_SOURCE: Shape = obj(CORE_V1_ENV_FROM_SOURCE);
static OF_CORE_V1_ENV_VAR: Shape = obj(CORE_V1_ENV_VAR);
static OF_CORE_V1_EPHEMERAL_CONTAINER: Shape = obj(CORE_V1_EPHEMERAL_CONTAINER);
static OF_CORE_V1_EVENT: Shape = obj(CORE_V1_EVENT);
static OF_CORE_V1_EVICTION_RESPONDER: Shape = obj(CORE_V1_EVICTION_RESPONDER);
static OF_CORE_V1_HOST_ALIAS: Shape = obj(CORE_V1_HOST_ALIAS);
static OF_CORE_V1_HOST_IP: Shape = obj(CORE_V1_HOST_IP);
static OF_CORE_V1_HTTP_HEADER: Shape = obj(CORE_V1_HTTP_HEADER);
static OF_CORE_V1_KEY_TO_PATH: Shape = obj(CORE_V1_KEY_TO_PATH);
static OF_CORE_V1_LIMIT_RANGE: Shape = obj(CORE_V1_LIMIT_RANGE);
static OF_CORE_V1_LIMIT_RANGE_ITEM: Shape = obj(CORE_V1_LIMIT_RANGE_ITEM);
static OF_CORE_V1_LOAD_BALANCER_INGRESS: Shape = obj(CORE_V1_LOAD_BALANCER_INGRESS);
static OF_CORE_V1_LOCAL_OBJECT_REFERENCE: Shape = obj(CORE_V1_LOCAL_OBJECT_REFERENCE);
static OF_CORE_V1_NAMESPACE: Shape = obj(CORE_V1_NAMESPACE);
static OF_CORE_V1_NAMESPACE_CONDITION: Shape = obj(CORE_V1_NAMESPACE_CONDITION);
static OF_CORE_V1_NODE: Shape = obj(CORE_V1_NODE);
static OF_CORE_V1_NODE_ADDRESS: Shape = obj(CORE_V1_NODE_ADDRESS);
static OF_CORE_V1_NODE_ALLOCATABLE_MAPPED_RESOURCES: Shape = obj(CORE_V1_NODE_ALLOCATABLE_MAPPED_RESOURCES);
static OF_CORE_V1_NODE_ALLOCATABLE_OVERHEAD_RESOURCES: Shape = obj(CORE_V1_NODE_ALLOCATABLE_OVERHEAD_RESOURCES);
static OF_CORE_V1_NODE_ALLOCATABLE_RESOURCE_CLAIM_STATUS: Shape = obj(CORE_V1_NODE_ALLOCATABLE_RESOURCE_CLAIM_STATUS);
static OF_CORE_V1_NODE_CONDITION: Shape = obj(CORE_V1_NODE_CONDITION);
static OF_CORE_V1_NODE_RUNTIME_HANDLER: Shape = obj(CORE_V1_NODE_RUNTIME_HANDLER);
static OF_CORE_V1_NODE_SELECTOR_REQUIREMENT: Shape = obj(CORE_V1_NODE_SELECTOR_REQUIREMENT);
static OF_CORE_V1_NODE_SELECTOR_TERM: Shape = obj(CORE_V1_NODE_SELECTOR_TERM);
static OF_CORE_V1_OBJECT_REFERENCE: Shape = obj(CORE_V1_OBJECT_REFERENCE);
static OF_CORE_V1_PERSISTENT_VOLUME: Shape = obj(CORE_V1_PERSISTENT_VOLUME);
static OF_CORE_V1_PERSISTENT_VOLUME_CLAIM: Shape = obj(CORE_V1_PERSISTENT_VOLUME_CLAIM);
static OF_CORE_V1_PERSISTENT_VOLUME_CLAIM_CONDITION: Shape = obj(CORE_V1_PERSISTENT_VOLUME_CLAIM_CONDITION);
static OF_CORE_V1_POD: Shape = obj(CORE_V1_POD);
static OF_CORE_V1_POD_AFFINITY_TERM: Shape = obj(CORE_V1_POD_AFFINITY_TERM);
static OF_CORE_V1_POD_CONDITION: Shape = obj(CORE_V1_POD_CONDITION);
static OF_CORE_V1_POD_DNS_CONFIG_OPTION: Shape = obj(CORE_V1_POD_DNS_CONFIG_OPTION);
static OF_CORE_V1_POD_IP: Shape = obj(CORE_V1_POD_IP);
static OF_CORE_V1_POD_READINESS_GATE: Shape = obj(CORE_V1_POD_READINESS_GATE);
static OF_CORE_V1_POD_RESOURCE_CLAIM: Shape = obj(CORE_V1_POD_RESOURCE_CLAIM);
static OF_CORE_V1_POD_RESOURCE_CLAIM_STATUS: Shape = obj(CORE_V1_POD_RESOURCE_CLAIM_STATUS);
static OF_CORE_V1_POD_SCHEDULING_GATE: Shape = obj(CORE_V1_POD_SCHEDULING_GATE);
static OF_CORE_V1_POD_TEMPLATE: Shape = obj(CORE_V1_POD_TEMPLATE);
static OF_CORE_V1_POD_VOLUME_HEALTH: Shape = obj(CORE_V1_POD_VOLUME_HEALTH);
static OF_CORE_V1_PORT_STATUS: Shape = obj(CORE_V1_PORT_STATUS);
static OF_CORE_V1_PREFERRED_SCHEDULING_TERM: Shape = obj(CORE_V1_PREFERRED_SCHEDULING_TERM);
static OF_CORE_V1_REPLICATION_CONTROLLER: Shape = obj(CORE_V1_REPLICATION_CONTROLLER);
static OF_CORE_V1_REPLICATION_CONTROLLER_CONDITION: Shape = obj(CORE_V1_REPLICATION_CONTROLLER_CONDITION);
static OF_CORE_V1_RESOURCE_CLAIM: Shape = obj(CORE_V1_RESOURCE_CLAIM);
static OF_CORE_V1_RESOURCE_HEALTH: Shape = obj(CORE_V1_RESOURCE_HEALTH);
static OF_CORE_V1_RESOURCE_QUOTA: Shape = obj(CORE_V1_RESOURCE_QUOTA);
static OF_CORE_V1_RESOURCE_STATUS: Shape = obj(CORE_V1_RESOURCE_STATUS);
static OF_CORE_V1_SCOPED_RESOURCE_SELECTOR_REQUIREMENT: Shape = obj(CORE_V1_SCOPED_RESOURCE_SELECTOR_REQUIREMENT);
static OF_CORE_V1_SECRET: Shape = obj(CORE_V1_SECRET);
static OF_CORE_V1_SERVICE: Shape = obj(CORE_V1_SERVICE);
static OF_CORE_V1_SERVICE_ACCOUNT: Shape = obj(CORE_V1_SERVICE_ACCOUNT);
static OF_CORE_V1_SERVICE_PORT: Shape = obj(CORE_V1_SERVICE_PORT);
static OF_CORE_V1_SYSCTL: Shape = obj(CORE_V1_SYSCTL);
static OF_CORE_V1_TAINT: Shape = obj(CORE_V1_TAINT);
static OF_CORE_V1_TOLERATION: Shape = obj(CORE_V1_TOLERATION);
static OF_CORE_V1_TOPOLOGY_SELECTOR_LABEL_REQUIREMENT: Shape = obj(CORE_V1_TOPOLOGY_SELECTOR_LABEL_REQUIREMENT);
static OF_CORE_V1_TOPOLOGY_SPREAD_CONSTRAINT: Shape = obj(CORE_V1_TOPOLOGY_SPREAD_CONSTRAINT);
static OF_CORE_V1_VOLUME: Shape = obj(CORE_V1_VOLUME);
static OF_CORE_V1_VOLUME_DEVICE: Shape = obj(CORE_V1_VOLUME_DEVICE);
static OF_CORE_V1_VOLUME_HEALTH_CONDITION: Shape = obj(CORE_V1_VOLUME_HEALTH_CONDITION);
static OF_CORE_V1_VOLUME_MOUNT: Shape = obj(CORE_V1_VOLUME_MOUNT);
static OF_CORE_V1_VOLUME_MOUNT_STATUS: Shape = obj(CORE_V1_VOLUME_MOUNT_STATUS);
static OF_CORE_V1_VOLUME_PROJECTION: Shape = obj(CORE_V1_VOLUME_PROJECTION);
static OF_CORE_V1_WEIGHTED_POD_AFFINITY_TERM: Shape = obj(CORE_V1_WEIGHTED_POD_AFFINITY_TERM);
static OF_INT32: Shape = INT32;
static OF_INT64: Shape = INT64;
static OF_META_V1_CONDITION: Shape = obj(META_V1_CONDITION);
static OF_QUANTITY: Shape = QUANTITY;
static OF_STRING: Shape = STRING;

pub(super) const AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.AWSElasticBlockStoreVolumeSource", &AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE_FIELDS, 0);
static AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE_FIELDS: [Field; 4] = [
    f("fsType", 2, STRING, OMIT_EMPTY),
    f("partition", 3, INT32, OMIT_EMPTY),
    f("readOnly", 4, BOOL, OMIT_EMPTY),
    f("volumeID", 1, STRING, REQUIRED),
];

pub(super) const AFFINITY: Type = ty("io.k8s.api.core.v1.Affinity", &AFFINITY_FIELDS, 0);
static AFFINITY_FIELDS: [Field; 3] = [
    f("nodeAffinity", 1, obj(CORE_V1_NODE_AFFINITY), POINTER | OMIT_EMPTY),
    f("podAffinity", 2, obj(CORE_V1_POD_AFFINITY), POINTER | OMIT_EMPTY),
    f("podAntiAffinity", 3, obj(CORE_V1_POD_ANTI_AFFINITY), POINTER | OMIT_EMPTY),
];

pub(super) const APP_ARMOR_PROFILE: Type = ty("io.k8s.api.core.v1.AppArmorProfile", &APP_ARMOR_PROFILE_FIELDS, 0);
static APP_ARMOR_PROFILE_FIELDS: [Field; 2] = [
    f("localhostProfile", 2, STRING, POINTER | OMIT_EMPTY),
    full(&[], "type", 1, STRING, REQUIRED, None, &["Localhost", "RuntimeDefault", "Unconfined"], NO_PATCH),
];

pub(super) const ATTACHED_VOLUME: Type = ty("io.k8s.api.core.v1.AttachedVolume", &ATTACHED_VOLUME_FIELDS, 0);
static ATTACHED_VOLUME_FIELDS: [Field; 2] = [
    f("devicePath", 2, STRING, REQUIRED),
    f("name", 1, STRING, REQUIRED),
];

pub(super) const AZURE_DISK_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.AzureDiskVolumeSource", &AZURE_DISK_VOLUME_SOURCE_FIELDS, 0);
static AZURE_DISK_VOLUME_SOURCE_FIELDS: [Field; 6] = [
    full(&[], "cachingMode", 3, STRING, POINTER | OMIT_EMPTY, Some("\"ReadWrite\""), &["None", "ReadOnly", "ReadWrite"], NO_PATCH),
    f("diskName", 1, STRING, REQUIRED),
    f("diskURI", 2, STRING, REQUIRED),
    full(&[], "fsType", 4, STRING, POINTER | OMIT_EMPTY, Some("\"ext4\""), &[], NO_PATCH),
    full(&[], "kind", 6, STRING, POINTER | OMIT_EMPTY, Some("\"Shared\""), &["Dedicated", "Managed", "Shared"], NO_PATCH),
    full(&[], "readOnly", 5, BOOL, POINTER | OMIT_EMPTY, Some("false"), &[], NO_PATCH),
];

pub(super) const AZURE_FILE_PERSISTENT_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.AzureFilePersistentVolumeSource", &AZURE_FILE_PERSISTENT_VOLUME_SOURCE_FIELDS, 0);
static AZURE_FILE_PERSISTENT_VOLUME_SOURCE_FIELDS: [Field; 4] = [
    f("readOnly", 3, BOOL, OMIT_EMPTY),
    f("secretName", 1, STRING, REQUIRED),
    f("secretNamespace", 4, STRING, POINTER),
    f("shareName", 2, STRING, REQUIRED),
];

pub(super) const AZURE_FILE_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.AzureFileVolumeSource", &AZURE_FILE_VOLUME_SOURCE_FIELDS, 0);
static AZURE_FILE_VOLUME_SOURCE_FIELDS: [Field; 3] = [
    f("readOnly", 3, BOOL, OMIT_EMPTY),
    f("secretName", 1, STRING, REQUIRED),
    f("shareName", 2, STRING, REQUIRED),
];

pub(super) const BINDING: Type = ty("io.k8s.api.core.v1.Binding", &BINDING_FIELDS, 0);
static BINDING_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("target", 2, obj(CORE_V1_OBJECT_REFERENCE), REQUIRED),
];

pub(super) const CSI_PERSISTENT_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.CSIPersistentVolumeSource", &CSI_PERSISTENT_VOLUME_SOURCE_FIELDS, 0);
static CSI_PERSISTENT_VOLUME_SOURCE_FIELDS: [Field; 10] = [
    f("controllerExpandSecretRef", 9, obj(CORE_V1_SECRET_REFERENCE), POINTER | OMIT_EMPTY),
    f("controllerPublishSecretRef", 6, obj(CORE_V1_SECRET_REFERENCE), POINTER | OMIT_EMPTY),
    f("driver", 1, STRING, REQUIRED),
    f("fsType", 4, STRING, OMIT_EMPTY),
    f("nodeExpandSecretRef", 10, obj(CORE_V1_SECRET_REFERENCE), POINTER | OMIT_EMPTY),
    f("nodePublishSecretRef", 8, obj(CORE_V1_SECRET_REFERENCE), POINTER | OMIT_EMPTY),
    f("nodeStageSecretRef", 7, obj(CORE_V1_SECRET_REFERENCE), POINTER | OMIT_EMPTY),
    f("readOnly", 3, BOOL, OMIT_EMPTY),
    f("volumeAttributes", 5, map(&OF_STRING), OMIT_EMPTY),
    f("volumeHandle", 2, STRING, REQUIRED),
];

pub(super) const CSI_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.CSIVolumeSource", &CSI_VOLUME_SOURCE_FIELDS, 0);
static CSI_VOLUME_SOURCE_FIELDS: [Field; 5] = [
    f("driver", 1, STRING, REQUIRED),
    f("fsType", 3, STRING, POINTER | OMIT_EMPTY),
    f("nodePublishSecretRef", 5, obj(CORE_V1_LOCAL_OBJECT_REFERENCE), POINTER | OMIT_EMPTY),
    f("readOnly", 2, BOOL, POINTER | OMIT_EMPTY),
    f("volumeAttributes", 4, map(&OF_STRING), OMIT_EMPTY),
];

pub(super) const CAPABILITIES: Type = ty("io.k8s.api.core.v1.Capabilities", &CAPABILITIES_FIELDS, 0);
static CAPABILITIES_FIELDS: [Field; 2] = [
    f("add", 1, list(&OF_STRING), OMIT_EMPTY),
    f("drop", 2, list(&OF_STRING), OMIT_EMPTY),
];

pub(super) const CEPH_FS_PERSISTENT_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.CephFSPersistentVolumeSource", &CEPH_FS_PERSISTENT_VOLUME_SOURCE_FIELDS, 0);
static CEPH_FS_PERSISTENT_VOLUME_SOURCE_FIELDS: [Field; 6] = [
    f("monitors", 1, list(&OF_STRING), REQUIRED),
    f("path", 2, STRING, OMIT_EMPTY),
    f("readOnly", 6, BOOL, OMIT_EMPTY),
    f("secretFile", 4, STRING, OMIT_EMPTY),
    f("secretRef", 5, obj(CORE_V1_SECRET_REFERENCE), POINTER | OMIT_EMPTY),
    f("user", 3, STRING, OMIT_EMPTY),
];

pub(super) const CEPH_FS_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.CephFSVolumeSource", &CEPH_FS_VOLUME_SOURCE_FIELDS, 0);
static CEPH_FS_VOLUME_SOURCE_FIELDS: [Field; 6] = [
    f("monitors", 1, list(&OF_STRING), REQUIRED),
    f("path", 2, STRING, OMIT_EMPTY),
    f("readOnly", 6, BOOL, OMIT_EMPTY),
    f("secretFile", 4, STRING, OMIT_EMPTY),
    f("secretRef", 5, obj(CORE_V1_LOCAL_OBJECT_REFERENCE), POINTER | OMIT_EMPTY),
    f("user", 3, STRING, OMIT_EMPTY),
];

pub(super) const CINDER_PERSISTENT_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.CinderPersistentVolumeSource", &CINDER_PERSISTENT_VOLUME_SOURCE_FIELDS, 0);
static CINDER_PERSISTENT_VOLUME_SOURCE_FIELDS: [Field; 4] = [
    f("fsType", 2, STRING, OMIT_EMPTY),
    f("readOnly", 3, BOOL, OMIT_EMPTY),
    f("secretRef", 4, obj(CORE_V1_SECRET_REFERENCE), POINTER | OMIT_EMPTY),
    f("volumeID", 1, STRING, REQUIRED),
];

pub(super) const CINDER_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.CinderVolumeSource", &CINDER_VOLUME_SOURCE_FIELDS, 0);
static CINDER_VOLUME_SOURCE_FIELDS: [Field; 4] = [
    f("fsType", 2, STRING, OMIT_EMPTY),
    f("readOnly", 3, BOOL, OMIT_EMPTY),
    f("secretRef", 4, obj(CORE_V1_LOCAL_OBJECT_REFERENCE), POINTER | OMIT_EMPTY),
    f("volumeID", 1, STRING, REQUIRED),
];

pub(super) const CLIENT_IP_CONFIG: Type = ty("io.k8s.api.core.v1.ClientIPConfig", &CLIENT_IP_CONFIG_FIELDS, 0);
static CLIENT_IP_CONFIG_FIELDS: [Field; 1] = [
    f("timeoutSeconds", 1, INT32, POINTER | OMIT_EMPTY),
];

pub(super) const CLUSTER_TRUST_BUNDLE_PROJECTION: Type = ty("io.k8s.api.core.v1.ClusterTrustBundleProjection", &CLUSTER_TRUST_BUNDLE_PROJECTION_FIELDS, 0);
static CLUSTER_TRUST_BUNDLE_PROJECTION_FIELDS: [Field; 6] = [
    f("labelSelector", 3, obj(META_V1_LABEL_SELECTOR), POINTER | OMIT_EMPTY),
    f("name", 1, STRING, POINTER | OMIT_EMPTY),
    f("optional", 5, BOOL, POINTER | OMIT_EMPTY),
    f("path", 4, STRING, REQUIRED),
    f("signerName", 2, STRING, POINTER | OMIT_EMPTY),
    f("user", 6, INT64, POINTER | OMIT_EMPTY),
];

pub(super) const COMPONENT_CONDITION: Type = ty("io.k8s.api.core.v1.ComponentCondition", &COMPONENT_CONDITION_FIELDS, 0);
static COMPONENT_CONDITION_FIELDS: [Field; 4] = [
    f("error", 4, STRING, OMIT_EMPTY),
    f("message", 3, STRING, OMIT_EMPTY),
    f("status", 2, STRING, REQUIRED),
    f("type", 1, STRING, REQUIRED),
];

pub(super) const COMPONENT_STATUS: Type = ty("io.k8s.api.core.v1.ComponentStatus", &COMPONENT_STATUS_FIELDS, 0);
static COMPONENT_STATUS_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    full(&[], "conditions", 2, assoc(&OF_CORE_V1_COMPONENT_CONDITION, &KEYS_CORE_V1_COMPONENT_CONDITION_TYPE), OMIT_EMPTY, None, &[], merge_by("type")),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
];

pub(super) const COMPONENT_STATUS_LIST: Type = ty("io.k8s.api.core.v1.ComponentStatusList", &COMPONENT_STATUS_LIST_FIELDS, 0);
static COMPONENT_STATUS_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_CORE_V1_COMPONENT_STATUS), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const CONFIG_MAP: Type = ty("io.k8s.api.core.v1.ConfigMap", &CONFIG_MAP_FIELDS, 0);
static CONFIG_MAP_FIELDS: [Field; 6] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("binaryData", 3, map(&OF_BYTES), OMIT_EMPTY),
    f("data", 2, map(&OF_STRING), OMIT_EMPTY),
    f("immutable", 4, BOOL, POINTER | OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
];

pub(super) const CONFIG_MAP_ENV_SOURCE: Type = ty("io.k8s.api.core.v1.ConfigMapEnvSource", &CONFIG_MAP_ENV_SOURCE_FIELDS, 0);
static CONFIG_MAP_ENV_SOURCE_FIELDS: [Field; 2] = [
    full(&[1], "name", 1, STRING, OMIT_EMPTY, Some("\"\""), &[], NO_PATCH),
    f("optional", 2, BOOL, POINTER | OMIT_EMPTY),
];

pub(super) const CONFIG_MAP_KEY_SELECTOR: Type = ty("io.k8s.api.core.v1.ConfigMapKeySelector", &CONFIG_MAP_KEY_SELECTOR_FIELDS, ATOMIC);
static CONFIG_MAP_KEY_SELECTOR_FIELDS: [Field; 3] = [
    f("key", 2, STRING, REQUIRED),
    full(&[1], "name", 1, STRING, OMIT_EMPTY, Some("\"\""), &[], NO_PATCH),
    f("optional", 3, BOOL, POINTER | OMIT_EMPTY),
];

pub(super) const CONFIG_MAP_LIST: Type = ty("io.k8s.api.core.v1.ConfigMapList", &CONFIG_MAP_LIST_FIELDS, 0);
static CONFIG_MAP_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_CORE_V1_CONFIG_MAP), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const CONFIG_MAP_NODE_CONFIG_SOURCE: Type = ty("io.k8s.api.core.v1.ConfigMapNodeConfigSource", &CONFIG_MAP_NODE_CONFIG_SOURCE_FIELDS, 0);
static CONFIG_MAP_NODE_CONFIG_SOURCE_FIELDS: [Field; 5] = [
    f("kubeletConfigKey", 5, STRING, REQUIRED),
    f("name", 2, STRING, REQUIRED),
    f("namespace", 1, STRING, REQUIRED),
    f("resourceVersion", 4, STRING, OMIT_EMPTY),
    f("uid", 3, STRING, OMIT_EMPTY),
];

pub(super) const CONFIG_MAP_PROJECTION: Type = ty("io.k8s.api.core.v1.ConfigMapProjection", &CONFIG_MAP_PROJECTION_FIELDS, 0);
static CONFIG_MAP_PROJECTION_FIELDS: [Field; 3] = [
    f("items", 2, list(&OF_CORE_V1_KEY_TO_PATH), OMIT_EMPTY),
    full(&[1], "name", 1, STRING, OMIT_EMPTY, Some("\"\""), &[], NO_PATCH),
    f("optional", 4, BOOL, POINTER | OMIT_EMPTY),
];

pub(super) const CONFIG_MAP_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.ConfigMapVolumeSource", &CONFIG_MAP_VOLUME_SOURCE_FIELDS, 0);
static CONFIG_MAP_VOLUME_SOURCE_FIELDS: [Field; 5] = [
    f("defaultMode", 3, INT32, POINTER | OMIT_EMPTY),
    f("defaultUser", 5, INT64, POINTER | OMIT_EMPTY),
    f("items", 2, list(&OF_CORE_V1_KEY_TO_PATH), OMIT_EMPTY),
    full(&[1], "name", 1, STRING, OMIT_EMPTY, Some("\"\""), &[], NO_PATCH),
    f("optional", 4, BOOL, POINTER | OMIT_EMPTY),
];

pub(super) const CONTAINER: Type = ty("io.k8s.api.core.v1.Container", &CONTAINER_FIELDS, 0);
static CONTAINER_FIELDS: [Field; 25] = [
    f("args", 4, list(&OF_STRING), OMIT_EMPTY),
    f("command", 3, list(&OF_STRING), OMIT_EMPTY),
    full(&[], "env", 7, assoc(&OF_CORE_V1_ENV_VAR, &KEYS_CORE_V1_ENV_VAR_NAME), OMIT_EMPTY, None, &[], merge_by("name")),
    f("envFrom", 19, list(&OF_CORE_V1_ENV_FROM_SOURCE), OMIT_EMPTY),
    f("image", 2, STRING, OMIT_EMPTY),
    full(&[], "imagePullPolicy", 14, STRING, OMIT_EMPTY, None, &["Always", "IfNotPresent", "Never"], NO_PATCH),
    f("lifecycle", 12, obj(CORE_V1_LIFECYCLE), POINTER | OMIT_EMPTY),
    f("livenessProbe", 10, obj(CORE_V1_PROBE), POINTER | OMIT_EMPTY),
    f("name", 1, STRING, REQUIRED),
    full(&[], "ports", 6, assoc(&OF_CORE_V1_CONTAINER_PORT, &KEYS_CORE_V1_CONTAINER_PORT_CONTAINER_PORT_PROTOCOL), OMIT_EMPTY, None, &[], merge_by("containerPort")),
    f("readinessProbe", 11, obj(CORE_V1_PROBE), POINTER | OMIT_EMPTY),
    f("resizePolicy", 23, list(&OF_CORE_V1_CONTAINER_RESIZE_POLICY), OMIT_EMPTY),
    f("resources", 8, obj(CORE_V1_RESOURCE_REQUIREMENTS), OMIT_EMPTY),
    f("restartPolicy", 24, STRING, POINTER | OMIT_EMPTY),
    f("restartPolicyRules", 25, list(&OF_CORE_V1_CONTAINER_RESTART_RULE), OMIT_EMPTY),
    f("securityContext", 15, obj(CORE_V1_SECURITY_CONTEXT), POINTER | OMIT_EMPTY),
    f("startupProbe", 22, obj(CORE_V1_PROBE), POINTER | OMIT_EMPTY),
    f("stdin", 16, BOOL, OMIT_EMPTY),
    f("stdinOnce", 17, BOOL, OMIT_EMPTY),
    f("terminationMessagePath", 13, STRING, OMIT_EMPTY),
    full(&[], "terminationMessagePolicy", 20, STRING, OMIT_EMPTY, None, &["FallbackToLogsOnError", "File"], NO_PATCH),
    f("tty", 18, BOOL, OMIT_EMPTY),
    full(&[], "volumeDevices", 21, assoc(&OF_CORE_V1_VOLUME_DEVICE, &KEYS_CORE_V1_VOLUME_DEVICE_DEVICE_PATH), OMIT_EMPTY, None, &[], merge_by("devicePath")),
    full(&[], "volumeMounts", 9, assoc(&OF_CORE_V1_VOLUME_MOUNT, &KEYS_CORE_V1_VOLUME_MOUNT_MOUNT_PATH), OMIT_EMPTY, None, &[], merge_by("mountPath")),
    f("workingDir", 5, STRING, OMIT_EMPTY),
];

pub(super) const CONTAINER_EXTENDED_RESOURCE_REQUEST: Type = ty("io.k8s.api.core.v1.ContainerExtendedResourceRequest", &CONTAINER_EXTENDED_RESOURCE_REQUEST_FIELDS, 0);
static CONTAINER_EXTENDED_RESOURCE_REQUEST_FIELDS: [Field; 3] = [
    f("containerName", 1, STRING, REQUIRED),
    f("requestName", 3, STRING, REQUIRED),
    f("resourceName", 2, STRING, REQUIRED),
];

pub(super) const CONTAINER_IMAGE: Type = ty("io.k8s.api.core.v1.ContainerImage", &CONTAINER_IMAGE_FIELDS, 0);
static CONTAINER_IMAGE_FIELDS: [Field; 2] = [
    f("names", 1, list(&OF_STRING), 0),
    f("sizeBytes", 2, INT64, OMIT_EMPTY),
];

pub(super) const CONTAINER_PORT: Type = ty("io.k8s.api.core.v1.ContainerPort", &CONTAINER_PORT_FIELDS, 0);
static CONTAINER_PORT_FIELDS: [Field; 5] = [
    f("containerPort", 3, INT32, REQUIRED),
    f("hostIP", 5, STRING, OMIT_EMPTY),
    f("hostPort", 2, INT32, OMIT_EMPTY),
    f("name", 1, STRING, OMIT_EMPTY),
    full(&[], "protocol", 4, STRING, OMIT_EMPTY, Some("\"TCP\""), &["SCTP", "TCP", "UDP"], NO_PATCH),
];

pub(super) const CONTAINER_RESIZE_POLICY: Type = ty("io.k8s.api.core.v1.ContainerResizePolicy", &CONTAINER_RESIZE_POLICY_FIELDS, 0);
static CONTAINER_RESIZE_POLICY_FIELDS: [Field; 2] = [
    f("resourceName", 1, STRING, REQUIRED),
    f("restartPolicy", 2, STRING, REQUIRED),
];

pub(super) const CONTAINER_RESTART_RULE: Type = ty("io.k8s.api.core.v1.ContainerRestartRule", &CONTAINER_RESTART_RULE_FIELDS, 0);
static CONTAINER_RESTART_RULE_FIELDS: [Field; 2] = [
    f("action", 1, STRING, REQUIRED | OMIT_EMPTY),
    f("exitCodes", 2, obj(CORE_V1_CONTAINER_RESTART_RULE_ON_EXIT_CODES), POINTER | OMIT_EMPTY),
];

pub(super) const CONTAINER_RESTART_RULE_ON_EXIT_CODES: Type = ty("io.k8s.api.core.v1.ContainerRestartRuleOnExitCodes", &CONTAINER_RESTART_RULE_ON_EXIT_CODES_FIELDS, 0);
static CONTAINER_RESTART_RULE_ON_EXIT_CODES_FIELDS: [Field; 2] = [
    f("operator", 1, STRING, REQUIRED | OMIT_EMPTY),
    f("values", 2, set(&OF_INT32), OMIT_EMPTY),
];

pub(super) const CONTAINER_STATE: Type = ty("io.k8s.api.core.v1.ContainerState", &CONTAINER_STATE_FIELDS, 0);
static CONTAINER_STATE_FIELDS: [Field; 3] = [
    f("running", 2, obj(CORE_V1_CONTAINER_STATE_RUNNING), POINTER | OMIT_EMPTY),
    f("terminated", 3, obj(CORE_V1_CONTAINER_STATE_TERMINATED), POINTER | OMIT_EMPTY),
    f("waiting", 1, obj(CORE_V1_CONTAINER_STATE_WAITING), POINTER | OMIT_EMPTY),
];

pub(super) const CONTAINER_STATE_RUNNING: Type = ty("io.k8s.api.core.v1.ContainerStateRunning", &CONTAINER_STATE_RUNNING_FIELDS, 0);
static CONTAINER_STATE_RUNNING_FIELDS: [Field; 1] = [
    f("startedAt", 1, TIME, OMIT_EMPTY),
];

pub(super) const CONTAINER_STATE_TERMINATED: Type = ty("io.k8s.api.core.v1.ContainerStateTerminated", &CONTAINER_STATE_TERMINATED_FIELDS, 0);
static CONTAINER_STATE_TERMINATED_FIELDS: [Field; 7] = [
    f("containerID", 7, STRING, OMIT_EMPTY),
    f("exitCode", 1, INT32, REQUIRED),
    f("finishedAt", 6, TIME, OMIT_EMPTY),
    f("message", 4, STRING, OMIT_EMPTY),
    f("reason", 3, STRING, OMIT_EMPTY),
    f("signal", 2, INT32, OMIT_EMPTY),
    f("startedAt", 5, TIME, OMIT_EMPTY),
];

pub(super) const CONTAINER_STATE_WAITING: Type = ty("io.k8s.api.core.v1.ContainerStateWaiting", &CONTAINER_STATE_WAITING_FIELDS, 0);
static CONTAINER_STATE_WAITING_FIELDS: [Field; 2] = [
    f("message", 2, STRING, OMIT_EMPTY),
    f("reason", 1, STRING, OMIT_EMPTY),
];

pub(super) const CONTAINER_STATUS: Type = ty("io.k8s.api.core.v1.ContainerStatus", &CONTAINER_STATUS_FIELDS, 0);
static CONTAINER_STATUS_FIELDS: [Field; 15] = [
    f("allocatedResources", 10, map(&OF_QUANTITY), OMIT_EMPTY),
    full(&[], "allocatedResourcesStatus", 14, assoc(&OF_CORE_V1_RESOURCE_STATUS, &KEYS_CORE_V1_RESOURCE_STATUS_NAME), OMIT_EMPTY, None, &[], merge_by("name")),
    f("containerID", 8, STRING, OMIT_EMPTY),
    f("image", 6, STRING, REQUIRED),
    f("imageID", 7, STRING, REQUIRED),
    f("lastState", 3, obj(CORE_V1_CONTAINER_STATE), OMIT_EMPTY),
    f("name", 1, STRING, REQUIRED),
    f("ready", 4, BOOL, REQUIRED),
    f("resources", 11, obj(CORE_V1_RESOURCE_REQUIREMENTS), POINTER | OMIT_EMPTY),
    f("restartCount", 5, INT32, REQUIRED),
    f("started", 9, BOOL, POINTER | OMIT_EMPTY),
    f("state", 2, obj(CORE_V1_CONTAINER_STATE), OMIT_EMPTY),
    full(&[], "stopSignal", 15, STRING, POINTER | OMIT_EMPTY, None, &["SIGABRT", "SIGALRM", "SIGBUS", "SIGCHLD", "SIGCLD", "SIGCONT", "SIGFPE", "SIGHUP", "SIGILL", "SIGINT", "SIGIO", "SIGIOT", "SIGKILL", "SIGPIPE", "SIGPOLL", "SIGPROF", "SIGPWR", "SIGQUIT", "SIGRTMAX", "SIGRTMAX-1", "SIGRTMAX-10", "SIGRTMAX-11", "SIGRTMAX-12", "SIGRTMAX-13", "SIGRTMAX-14", "SIGRTMAX-2", "SIGRTMAX-3", "SIGRTMAX-4", "SIGRTMAX-5", "SIGRTMAX-6", "SIGRTMAX-7", "SIGRTMAX-8", "SIGRTMAX-9", "SIGRTMIN", "SIGRTMIN+1", "SIGRTMIN+10", "SIGRTMIN+11", "SIGRTMIN+12", "SIGRTMIN+13", "SIGRTMIN+14", "SIGRTMIN+15", "SIGRTMIN+2", "SIGRTMIN+3", "SIGRTMIN+4", "SIGRTMIN+5", "SIGRTMIN+6", "SIGRTMIN+7", "SIGRTMIN+8", "SIGRTMIN+9", "SIGSEGV", "SIGSTKFLT", "SIGSTOP", "SIGSYS", "SIGTERM", "SIGTRAP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG", "SIGUSR1", "SIGUSR2", "SIGVTALRM", "SIGWINCH", "SIGXCPU", "SIGXFSZ"], NO_PATCH),
    f("user", 13, obj(CORE_V1_CONTAINER_USER), POINTER | OMIT_EMPTY),
    full(&[], "volumeMounts", 12, assoc(&OF_CORE_V1_VOLUME_MOUNT_STATUS, &KEYS_CORE_V1_VOLUME_MOUNT_STATUS_MOUNT_PATH), OMIT_EMPTY, None, &[], merge_by("mountPath")),
];

pub(super) const CONTAINER_USER: Type = ty("io.k8s.api.core.v1.ContainerUser", &CONTAINER_USER_FIELDS, 0);
static CONTAINER_USER_FIELDS: [Field; 1] = [
    f("linux", 1, obj(CORE_V1_LINUX_CONTAINER_USER), POINTER | OMIT_EMPTY),
];

pub(super) const DAEMON_ENDPOINT: Type = ty("io.k8s.api.core.v1.DaemonEndpoint", &DAEMON_ENDPOINT_FIELDS, 0);
static DAEMON_ENDPOINT_FIELDS: [Field; 1] = [
    f("Port", 1, INT32, REQUIRED),
];

pub(super) const DOWNWARD_API_PROJECTION: Type = ty("io.k8s.api.core.v1.DownwardAPIProjection", &DOWNWARD_API_PROJECTION_FIELDS, 0);
static DOWNWARD_API_PROJECTION_FIELDS: [Field; 1] = [
    f("items", 1, list(&OF_CORE_V1_DOWNWARD_API_VOLUME_FILE), OMIT_EMPTY),
];

pub(super) const DOWNWARD_API_VOLUME_FILE: Type = ty("io.k8s.api.core.v1.DownwardAPIVolumeFile", &DOWNWARD_API_VOLUME_FILE_FIELDS, 0);
static DOWNWARD_API_VOLUME_FILE_FIELDS: [Field; 5] = [
    f("fieldRef", 2, obj(CORE_V1_OBJECT_FIELD_SELECTOR), POINTER | OMIT_EMPTY),
    f("mode", 4, INT32, POINTER | OMIT_EMPTY),
    f("path", 1, STRING, REQUIRED),
    f("resourceFieldRef", 3, obj(CORE_V1_RESOURCE_FIELD_SELECTOR), POINTER | OMIT_EMPTY),
    f("user", 5, INT64, POINTER | OMIT_EMPTY),
];

pub(super) const DOWNWARD_API_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.DownwardAPIVolumeSource", &DOWNWARD_API_VOLUME_SOURCE_FIELDS, 0);
static DOWNWARD_API_VOLUME_SOURCE_FIELDS: [Field; 3] = [
    f("defaultMode", 2, INT32, POINTER | OMIT_EMPTY),
    f("defaultUser", 3, INT64, POINTER | OMIT_EMPTY),
    f("items", 1, list(&OF_CORE_V1_DOWNWARD_API_VOLUME_FILE), OMIT_EMPTY),
];

pub(super) const EMPTY_DIR_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.EmptyDirVolumeSource", &EMPTY_DIR_VOLUME_SOURCE_FIELDS, 0);
static EMPTY_DIR_VOLUME_SOURCE_FIELDS: [Field; 3] = [
    f("medium", 1, STRING, OMIT_EMPTY),
    f("mode", 3, INT32, POINTER | OMIT_EMPTY),
    f("sizeLimit", 2, QUANTITY, POINTER | OMIT_EMPTY),
];

pub(super) const ENDPOINT_ADDRESS: Type = ty("io.k8s.api.core.v1.EndpointAddress", &ENDPOINT_ADDRESS_FIELDS, ATOMIC);
static ENDPOINT_ADDRESS_FIELDS: [Field; 4] = [
    f("hostname", 3, STRING, OMIT_EMPTY),
    f("ip", 1, STRING, REQUIRED),
    f("nodeName", 4, STRING, POINTER | OMIT_EMPTY),
    f("targetRef", 2, obj(CORE_V1_OBJECT_REFERENCE), POINTER | OMIT_EMPTY),
];

pub(super) const ENDPOINT_PORT: Type = ty("io.k8s.api.core.v1.EndpointPort", &ENDPOINT_PORT_FIELDS, ATOMIC);
static ENDPOINT_PORT_FIELDS: [Field; 4] = [
    f("appProtocol", 4, STRING, POINTER | OMIT_EMPTY),
    f("name", 1, STRING, OMIT_EMPTY),
    f("port", 2, INT32, REQUIRED),
    full(&[], "protocol", 3, STRING, OMIT_EMPTY, None, &["SCTP", "TCP", "UDP"], NO_PATCH),
];

pub(super) const ENDPOINT_SUBSET: Type = ty("io.k8s.api.core.v1.EndpointSubset", &ENDPOINT_SUBSET_FIELDS, 0);
static ENDPOINT_SUBSET_FIELDS: [Field; 3] = [
    f("addresses", 1, list(&OF_CORE_V1_ENDPOINT_ADDRESS), OMIT_EMPTY),
    f("notReadyAddresses", 2, list(&OF_CORE_V1_ENDPOINT_ADDRESS), OMIT_EMPTY),
    f("ports", 3, list(&OF_CORE_V1_ENDPOINT_PORT), OMIT_EMPTY),
];

pub(super) const ENDPOINTS: Type = ty("io.k8s.api.core.v1.Endpoints", &ENDPOINTS_FIELDS, 0);
static ENDPOINTS_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("subsets", 2, list(&OF_CORE_V1_ENDPOINT_SUBSET), OMIT_EMPTY),
];

pub(super) const ENDPOINTS_LIST: Type = ty("io.k8s.api.core.v1.EndpointsList", &ENDPOINTS_LIST_FIELDS, 0);
static ENDPOINTS_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_CORE_V1_ENDPOINTS), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const ENV_FROM_SOURCE: Type = ty("io.k8s.api.core.v1.EnvFromSource", &ENV_FROM_SOURCE_FIELDS, 0);
static ENV_FROM_SOURCE_FIELDS: [Field; 3] = [
    f("configMapRef", 2, obj(CORE_V1_CONFIG_MAP_ENV_SOURCE), POINTER | OMIT_EMPTY),
    f("prefix", 1, STRING, OMIT_EMPTY),
    f("secretRef", 3, obj(CORE_V1_SECRET_ENV_SOURCE), POINTER | OMIT_EMPTY),
];

pub(super) const ENV_VAR: Type = ty("io.k8s.api.core.v1.EnvVar", &ENV_VAR_FIELDS, 0);
static ENV_VAR_FIELDS: [Field; 3] = [
    f("name", 1, STRING, REQUIRED),
    f("value", 2, STRING, OMIT_EMPTY),
    f("valueFrom", 3, obj(CORE_V1_ENV_VAR_SOURCE), POINTER | OMIT_EMPTY),
];

pub(super) const ENV_VAR_SOURCE: Type = ty("io.k8s.api.core.v1.EnvVarSource", &ENV_VAR_SOURCE_FIELDS, 0);
static ENV_VAR_SOURCE_FIELDS: [Field; 5] = [
    f("configMapKeyRef", 3, obj(CORE_V1_CONFIG_MAP_KEY_SELECTOR), POINTER | OMIT_EMPTY),
    f("fieldRef", 1, obj(CORE_V1_OBJECT_FIELD_SELECTOR), POINTER | OMIT_EMPTY),
    f("fileKeyRef", 5, obj(CORE_V1_FILE_KEY_SELECTOR), POINTER | OMIT_EMPTY),
    f("resourceFieldRef", 2, obj(CORE_V1_RESOURCE_FIELD_SELECTOR), POINTER | OMIT_EMPTY),
    f("secretKeyRef", 4, obj(CORE_V1_SECRET_KEY_SELECTOR), POINTER | OMIT_EMPTY),
];

pub(super) const EPHEMERAL_CONTAINER: Type = ty("io.k8s.api.core.v1.EphemeralContainer", &EPHEMERAL_CONTAINER_FIELDS, 0);
static EPHEMERAL_CONTAINER_FIELDS: [Field; 26] = [
    inlined(&[1], "args", 4, list(&OF_STRING), OMIT_EMPTY),
    inlined(&[1], "command", 3, list(&OF_STRING), OMIT_EMPTY),
    full(&[1], "env", 7, assoc(&OF_CORE_V1_ENV_VAR, &KEYS_CORE_V1_ENV_VAR_NAME), OMIT_EMPTY, None, &[], merge_by("name")),
    inlined(&[1], "envFrom", 19, list(&OF_CORE_V1_ENV_FROM_SOURCE), OMIT_EMPTY),
    inlined(&[1], "image", 2, STRING, OMIT_EMPTY),
    full(&[1], "imagePullPolicy", 14, STRING, OMIT_EMPTY, None, &["Always", "IfNotPresent", "Never"], NO_PATCH),
    inlined(&[1], "lifecycle", 12, obj(CORE_V1_LIFECYCLE), POINTER | OMIT_EMPTY),
    inlined(&[1], "livenessProbe", 10, obj(CORE_V1_PROBE), POINTER | OMIT_EMPTY),
    inlined(&[1], "name", 1, STRING, REQUIRED),
    full(&[1], "ports", 6, assoc(&OF_CORE_V1_CONTAINER_PORT, &KEYS_CORE_V1_CONTAINER_PORT_CONTAINER_PORT_PROTOCOL), OMIT_EMPTY, None, &[], merge_by("containerPort")),
    inlined(&[1], "readinessProbe", 11, obj(CORE_V1_PROBE), POINTER | OMIT_EMPTY),
    inlined(&[1], "resizePolicy", 23, list(&OF_CORE_V1_CONTAINER_RESIZE_POLICY), OMIT_EMPTY),
    inlined(&[1], "resources", 8, obj(CORE_V1_RESOURCE_REQUIREMENTS), OMIT_EMPTY),
    inlined(&[1], "restartPolicy", 24, STRING, POINTER | OMIT_EMPTY),
    inlined(&[1], "restartPolicyRules", 25, list(&OF_CORE_V1_CONTAINER_RESTART_RULE), OMIT_EMPTY),
    inlined(&[1], "securityContext", 15, obj(CORE_V1_SECURITY_CONTEXT), POINTER | OMIT_EMPTY),
    inlined(&[1], "startupProbe", 22, obj(CORE_V1_PROBE), POINTER | OMIT_EMPTY),
    inlined(&[1], "stdin", 16, BOOL, OMIT_EMPTY),
    inlined(&[1], "stdinOnce", 17, BOOL, OMIT_EMPTY),
    f("targetContainerName", 2, STRING, OMIT_EMPTY),
    inlined(&[1], "terminationMessagePath", 13, STRING, OMIT_EMPTY),
    full(&[1], "terminationMessagePolicy", 20, STRING, OMIT_EMPTY, None, &["FallbackToLogsOnError", "File"], NO_PATCH),
    inlined(&[1], "tty", 18, BOOL, OMIT_EMPTY),
    full(&[1], "volumeDevices", 21, assoc(&OF_CORE_V1_VOLUME_DEVICE, &KEYS_CORE_V1_VOLUME_DEVICE_DEVICE_PATH), OMIT_EMPTY, None, &[], merge_by("devicePath")),
    full(&[1], "volumeMounts", 9, assoc(&OF_CORE_V1_VOLUME_MOUNT, &KEYS_CORE_V1_VOLUME_MOUNT_MOUNT_PATH), OMIT_EMPTY, None, &[], merge_by("mountPath")),
    inlined(&[1], "workingDir", 5, STRING, OMIT_EMPTY),
];

pub(super) const EPHEMERAL_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.EphemeralVolumeSource", &EPHEMERAL_VOLUME_SOURCE_FIELDS, 0);
static EPHEMERAL_VOLUME_SOURCE_FIELDS: [Field; 1] = [
    f("volumeClaimTemplate", 1, obj(CORE_V1_PERSISTENT_VOLUME_CLAIM_TEMPLATE), POINTER | OMIT_EMPTY),
];

pub(super) const EVENT: Type = ty("io.k8s.api.core.v1.Event", &EVENT_FIELDS, 0);
static EVENT_FIELDS: [Field; 17] = [
    f("action", 12, STRING, OMIT_EMPTY),
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("count", 8, INT32, OMIT_EMPTY),
    f("eventTime", 10, MICRO_TIME, OMIT_EMPTY),
    f("firstTimestamp", 6, TIME, OMIT_EMPTY),
    f("involvedObject", 2, obj(CORE_V1_OBJECT_REFERENCE), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("lastTimestamp", 7, TIME, OMIT_EMPTY),
    f("message", 4, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), REQUIRED),
    f("reason", 3, STRING, OMIT_EMPTY),
    f("related", 13, obj(CORE_V1_OBJECT_REFERENCE), POINTER | OMIT_EMPTY),
    f("reportingComponent", 14, STRING, 0),
    f("reportingInstance", 15, STRING, 0),
    f("series", 11, obj(CORE_V1_EVENT_SERIES), POINTER | OMIT_EMPTY),
    f("source", 5, obj(CORE_V1_EVENT_SOURCE), OMIT_EMPTY),
    f("type", 9, STRING, OMIT_EMPTY),
];

pub(super) const EVENT_LIST: Type = ty("io.k8s.api.core.v1.EventList", &EVENT_LIST_FIELDS, 0);
static EVENT_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_CORE_V1_EVENT), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const EVENT_SERIES: Type = ty("io.k8s.api.core.v1.EventSeries", &EVENT_SERIES_FIELDS, 0);
static EVENT_SERIES_FIELDS: [Field; 2] = [
    f("count", 1, INT32, OMIT_EMPTY),
    f("lastObservedTime", 2, MICRO_TIME, OMIT_EMPTY),
];

pub(super) const EVENT_SOURCE: Type = ty("io.k8s.api.core.v1.EventSource", &EVENT_SOURCE_FIELDS, 0);
static EVENT_SOURCE_FIELDS: [Field; 2] = [
    f("component", 1, STRING, OMIT_EMPTY),
    f("host", 2, STRING, OMIT_EMPTY),
];

pub(super) const EVICTION_RESPONDER: Type = ty("io.k8s.api.core.v1.EvictionResponder", &EVICTION_RESPONDER_FIELDS, ATOMIC);
static EVICTION_RESPONDER_FIELDS: [Field; 2] = [
    f("name", 1, STRING, REQUIRED),
    f("priority", 2, INT32, REQUIRED | POINTER),
];

pub(super) const EXEC_ACTION: Type = ty("io.k8s.api.core.v1.ExecAction", &EXEC_ACTION_FIELDS, 0);
static EXEC_ACTION_FIELDS: [Field; 1] = [
    f("command", 1, list(&OF_STRING), OMIT_EMPTY),
];

pub(super) const FC_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.FCVolumeSource", &FC_VOLUME_SOURCE_FIELDS, 0);
static FC_VOLUME_SOURCE_FIELDS: [Field; 5] = [
    f("fsType", 3, STRING, OMIT_EMPTY),
    f("lun", 2, INT32, POINTER | OMIT_EMPTY),
    f("readOnly", 4, BOOL, OMIT_EMPTY),
    f("targetWWNs", 1, list(&OF_STRING), OMIT_EMPTY),
    f("wwids", 5, list(&OF_STRING), OMIT_EMPTY),
];

pub(super) const FILE_KEY_SELECTOR: Type = ty("io.k8s.api.core.v1.FileKeySelector", &FILE_KEY_SELECTOR_FIELDS, ATOMIC);
static FILE_KEY_SELECTOR_FIELDS: [Field; 4] = [
    f("key", 3, STRING, REQUIRED),
    full(&[], "optional", 4, BOOL, POINTER | OMIT_EMPTY, Some("false"), &[], NO_PATCH),
    f("path", 2, STRING, REQUIRED),
    f("volumeName", 1, STRING, REQUIRED),
];

pub(super) const FLEX_PERSISTENT_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.FlexPersistentVolumeSource", &FLEX_PERSISTENT_VOLUME_SOURCE_FIELDS, 0);
static FLEX_PERSISTENT_VOLUME_SOURCE_FIELDS: [Field; 5] = [
    f("driver", 1, STRING, REQUIRED),
    f("fsType", 2, STRING, OMIT_EMPTY),
    f("options", 5, map(&OF_STRING), OMIT_EMPTY),
    f("readOnly", 4, BOOL, OMIT_EMPTY),
    f("secretRef", 3, obj(CORE_V1_SECRET_REFERENCE), POINTER | OMIT_EMPTY),
];

pub(super) const FLEX_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.FlexVolumeSource", &FLEX_VOLUME_SOURCE_FIELDS, 0);
static FLEX_VOLUME_SOURCE_FIELDS: [Field; 5] = [
    f("driver", 1, STRING, REQUIRED),
    f("fsType", 2, STRING, OMIT_EMPTY),
    f("options", 5, map(&OF_STRING), OMIT_EMPTY),
    f("readOnly", 4, BOOL, OMIT_EMPTY),
    f("secretRef", 3, obj(CORE_V1_LOCAL_OBJECT_REFERENCE), POINTER | OMIT_EMPTY),
];

pub(super) const FLOCKER_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.FlockerVolumeSource", &FLOCKER_VOLUME_SOURCE_FIELDS, 0);
static FLOCKER_VOLUME_SOURCE_FIELDS: [Field; 2] = [
    f("datasetName", 1, STRING, OMIT_EMPTY),
    f("datasetUUID", 2, STRING, OMIT_EMPTY),
];

pub(super) const GCE_PERSISTENT_DISK_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.GCEPersistentDiskVolumeSource", &GCE_PERSISTENT_DISK_VOLUME_SOURCE_FIELDS, 0);
static GCE_PERSISTENT_DISK_VOLUME_SOURCE_FIELDS: [Field; 4] = [
    f("fsType", 2, STRING, OMIT_EMPTY),
    f("partition", 3, INT32, OMIT_EMPTY),
    f("pdName", 1, STRING, REQUIRED),
    f("readOnly", 4, BOOL, OMIT_EMPTY),
];

pub(super) const GRPC_ACTION: Type = ty("io.k8s.api.core.v1.GRPCAction", &GRPC_ACTION_FIELDS, 0);
static GRPC_ACTION_FIELDS: [Field; 3] = [
    full(&[], "mode", 3, STRING, POINTER | OMIT_EMPTY, None, &["Plaintext", "TLS"], NO_PATCH),
    f("port", 1, INT32, REQUIRED),
    full(&[], "service", 2, STRING, POINTER, Some("\"\""), &[], NO_PATCH),
];

pub(super) const GIT_REPO_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.GitRepoVolumeSource", &GIT_REPO_VOLUME_SOURCE_FIELDS, 0);
static GIT_REPO_VOLUME_SOURCE_FIELDS: [Field; 3] = [
    f("directory", 3, STRING, OMIT_EMPTY),
    f("repository", 1, STRING, REQUIRED),
    f("revision", 2, STRING, OMIT_EMPTY),
];

pub(super) const GLUSTERFS_PERSISTENT_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.GlusterfsPersistentVolumeSource", &GLUSTERFS_PERSISTENT_VOLUME_SOURCE_FIELDS, 0);
static GLUSTERFS_PERSISTENT_VOLUME_SOURCE_FIELDS: [Field; 4] = [
    f("endpoints", 1, STRING, REQUIRED),
    f("endpointsNamespace", 4, STRING, POINTER | OMIT_EMPTY),
    f("path", 2, STRING, REQUIRED),
    f("readOnly", 3, BOOL, OMIT_EMPTY),
];

pub(super) const GLUSTERFS_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.GlusterfsVolumeSource", &GLUSTERFS_VOLUME_SOURCE_FIELDS, 0);
static GLUSTERFS_VOLUME_SOURCE_FIELDS: [Field; 3] = [
    f("endpoints", 1, STRING, REQUIRED),
    f("path", 2, STRING, REQUIRED),
    f("readOnly", 3, BOOL, OMIT_EMPTY),
];

pub(super) const HTTP_GET_ACTION: Type = ty("io.k8s.api.core.v1.HTTPGetAction", &HTTP_GET_ACTION_FIELDS, 0);
static HTTP_GET_ACTION_FIELDS: [Field; 6] = [
    f("host", 3, STRING, OMIT_EMPTY),
    f("httpHeaders", 5, list(&OF_CORE_V1_HTTP_HEADER), OMIT_EMPTY),
    f("path", 1, STRING, OMIT_EMPTY),
    f("port", 2, INT_OR_STRING, REQUIRED),
    full(&[], "protocol", 6, STRING, POINTER | OMIT_EMPTY, None, &["HTTP1", "HTTP2"], NO_PATCH),
    full(&[], "scheme", 4, STRING, OMIT_EMPTY, None, &["HTTP", "HTTPS"], NO_PATCH),
];

pub(super) const HTTP_HEADER: Type = ty("io.k8s.api.core.v1.HTTPHeader", &HTTP_HEADER_FIELDS, 0);
static HTTP_HEADER_FIELDS: [Field; 2] = [
    f("name", 1, STRING, REQUIRED),
    f("value", 2, STRING, REQUIRED),
];

pub(super) const HOST_ALIAS: Type = ty("io.k8s.api.core.v1.HostAlias", &HOST_ALIAS_FIELDS, 0);
static HOST_ALIAS_FIELDS: [Field; 2] = [
    f("hostnames", 2, list(&OF_STRING), OMIT_EMPTY),
    f("ip", 1, STRING, REQUIRED),
];

pub(super) const HOST_IP: Type = ty("io.k8s.api.core.v1.HostIP", &HOST_IP_FIELDS, 0);
static HOST_IP_FIELDS: [Field; 1] = [
    f("ip", 1, STRING, REQUIRED),
];

pub(super) const HOST_PATH_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.HostPathVolumeSource", &HOST_PATH_VOLUME_SOURCE_FIELDS, 0);
static HOST_PATH_VOLUME_SOURCE_FIELDS: [Field; 2] = [
    f("path", 1, STRING, REQUIRED),
    full(&[], "type", 2, STRING, POINTER | OMIT_EMPTY, None, &["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"], NO_PATCH),
];

pub(super) const ISCSI_PERSISTENT_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.ISCSIPersistentVolumeSource", &ISCSI_PERSISTENT_VOLUME_SOURCE_FIELDS, 0);
static ISCSI_PERSISTENT_VOLUME_SOURCE_FIELDS: [Field; 11] = [
    f("chapAuthDiscovery", 8, BOOL, OMIT_EMPTY),
    f("chapAuthSession", 11, BOOL, OMIT_EMPTY),
    f("fsType", 5, STRING, OMIT_EMPTY),
    f("initiatorName", 12, STRING, POINTER | OMIT_EMPTY),
    f("iqn", 2, STRING, REQUIRED),
    full(&[], "iscsiInterface", 4, STRING, OMIT_EMPTY, Some("\"default\""), &[], NO_PATCH),
    f("lun", 3, INT32, REQUIRED),
    f("portals", 7, list(&OF_STRING), OMIT_EMPTY),
    f("readOnly", 6, BOOL, OMIT_EMPTY),
    f("secretRef", 10, obj(CORE_V1_SECRET_REFERENCE), POINTER | OMIT_EMPTY),
    f("targetPortal", 1, STRING, REQUIRED),
];

pub(super) const ISCSI_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.ISCSIVolumeSource", &ISCSI_VOLUME_SOURCE_FIELDS, 0);
static ISCSI_VOLUME_SOURCE_FIELDS: [Field; 11] = [
    f("chapAuthDiscovery", 8, BOOL, OMIT_EMPTY),
    f("chapAuthSession", 11, BOOL, OMIT_EMPTY),
    f("fsType", 5, STRING, OMIT_EMPTY),
    f("initiatorName", 12, STRING, POINTER | OMIT_EMPTY),
    f("iqn", 2, STRING, REQUIRED),
    full(&[], "iscsiInterface", 4, STRING, OMIT_EMPTY, Some("\"default\""), &[], NO_PATCH),
    f("lun", 3, INT32, REQUIRED),
    f("portals", 7, list(&OF_STRING), OMIT_EMPTY),
    f("readOnly", 6, BOOL, OMIT_EMPTY),
    f("secretRef", 10, obj(CORE_V1_LOCAL_OBJECT_REFERENCE), POINTER | OMIT_EMPTY),
    f("targetPortal", 1, STRING, REQUIRED),
];

pub(super) const IMAGE_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.ImageVolumeSource", &IMAGE_VOLUME_SOURCE_FIELDS, 0);
static IMAGE_VOLUME_SOURCE_FIELDS: [Field; 2] = [
    full(&[], "pullPolicy", 2, STRING, OMIT_EMPTY, None, &["Always", "IfNotPresent", "Never"], NO_PATCH),
    f("reference", 1, STRING, OMIT_EMPTY),
];

pub(super) const IMAGE_VOLUME_STATUS: Type = ty("io.k8s.api.core.v1.ImageVolumeStatus", &IMAGE_VOLUME_STATUS_FIELDS, 0);
static IMAGE_VOLUME_STATUS_FIELDS: [Field; 1] = [
    f("imageRef", 1, STRING, REQUIRED | OMIT_EMPTY),
];

pub(super) const KEY_TO_PATH: Type = ty("io.k8s.api.core.v1.KeyToPath", &KEY_TO_PATH_FIELDS, 0);
static KEY_TO_PATH_FIELDS: [Field; 4] = [
    f("key", 1, STRING, REQUIRED),
    f("mode", 3, INT32, POINTER | OMIT_EMPTY),
    f("path", 2, STRING, REQUIRED),
    f("user", 4, INT64, POINTER | OMIT_EMPTY),
];

pub(super) const LIFECYCLE: Type = ty("io.k8s.api.core.v1.Lifecycle", &LIFECYCLE_FIELDS, 0);
static LIFECYCLE_FIELDS: [Field; 3] = [
    f("postStart", 1, obj(CORE_V1_LIFECYCLE_HANDLER), POINTER | OMIT_EMPTY),
    f("preStop", 2, obj(CORE_V1_LIFECYCLE_HANDLER), POINTER | OMIT_EMPTY),
    full(&[], "stopSignal", 3, STRING, POINTER | OMIT_EMPTY, None, &["SIGABRT", "SIGALRM", "SIGBUS", "SIGCHLD", "SIGCLD", "SIGCONT", "SIGFPE", "SIGHUP", "SIGILL", "SIGINT", "SIGIO", "SIGIOT", "SIGKILL", "SIGPIPE", "SIGPOLL", "SIGPROF", "SIGPWR", "SIGQUIT", "SIGRTMAX", "SIGRTMAX-1", "SIGRTMAX-10", "SIGRTMAX-11", "SIGRTMAX-12", "SIGRTMAX-13", "SIGRTMAX-14", "SIGRTMAX-2", "SIGRTMAX-3", "SIGRTMAX-4", "SIGRTMAX-5", "SIGRTMAX-6", "SIGRTMAX-7", "SIGRTMAX-8", "SIGRTMAX-9", "SIGRTMIN", "SIGRTMIN+1", "SIGRTMIN+10", "SIGRTMIN+11", "SIGRTMIN+12", "SIGRTMIN+13", "SIGRTMIN+14", "SIGRTMIN+15", "SIGRTMIN+2", "SIGRTMIN+3", "SIGRTMIN+4", "SIGRTMIN+5", "SIGRTMIN+6", "SIGRTMIN+7", "SIGRTMIN+8", "SIGRTMIN+9", "SIGSEGV", "SIGSTKFLT", "SIGSTOP", "SIGSYS", "SIGTERM", "SIGTRAP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG", "SIGUSR1", "SIGUSR2", "SIGVTALRM", "SIGWINCH", "SIGXCPU", "SIGXFSZ"], NO_PATCH),
];

pub(super) const LIFECYCLE_HANDLER: Type = ty("io.k8s.api.core.v1.LifecycleHandler", &LIFECYCLE_HANDLER_FIELDS, 0);
static LIFECYCLE_HANDLER_FIELDS: [Field; 4] = [
    f("exec", 1, obj(CORE_V1_EXEC_ACTION), POINTER | OMIT_EMPTY),
    f("httpGet", 2, obj(CORE_V1_HTTP_GET_ACTION), POINTER | OMIT_EMPTY),
    f("sleep", 4, obj(CORE_V1_SLEEP_ACTION), POINTER | OMIT_EMPTY),
    f("tcpSocket", 3, obj(CORE_V1_TCP_SOCKET_ACTION), POINTER | OMIT_EMPTY),
];

pub(super) const LIMIT_RANGE: Type = ty("io.k8s.api.core.v1.LimitRange", &LIMIT_RANGE_FIELDS, 0);
static LIMIT_RANGE_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(CORE_V1_LIMIT_RANGE_SPEC), OMIT_EMPTY),
];

pub(super) const LIMIT_RANGE_ITEM: Type = ty("io.k8s.api.core.v1.LimitRangeItem", &LIMIT_RANGE_ITEM_FIELDS, 0);
static LIMIT_RANGE_ITEM_FIELDS: [Field; 6] = [
    f("default", 4, map(&OF_QUANTITY), OMIT_EMPTY),
    f("defaultRequest", 5, map(&OF_QUANTITY), OMIT_EMPTY),
    f("max", 2, map(&OF_QUANTITY), OMIT_EMPTY),
    f("maxLimitRequestRatio", 6, map(&OF_QUANTITY), OMIT_EMPTY),
    f("min", 3, map(&OF_QUANTITY), OMIT_EMPTY),
    f("type", 1, STRING, REQUIRED),
];

pub(super) const LIMIT_RANGE_LIST: Type = ty("io.k8s.api.core.v1.LimitRangeList", &LIMIT_RANGE_LIST_FIELDS, 0);
static LIMIT_RANGE_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_CORE_V1_LIMIT_RANGE), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const LIMIT_RANGE_SPEC: Type = ty("io.k8s.api.core.v1.LimitRangeSpec", &LIMIT_RANGE_SPEC_FIELDS, 0);
static LIMIT_RANGE_SPEC_FIELDS: [Field; 1] = [
    f("limits", 1, list(&OF_CORE_V1_LIMIT_RANGE_ITEM), REQUIRED),
];

pub(super) const LINUX_CONTAINER_USER: Type = ty("io.k8s.api.core.v1.LinuxContainerUser", &LINUX_CONTAINER_USER_FIELDS, 0);
static LINUX_CONTAINER_USER_FIELDS: [Field; 3] = [
    f("gid", 2, INT64, REQUIRED),
    f("supplementalGroups", 3, list(&OF_INT64), OMIT_EMPTY),
    f("uid", 1, INT64, REQUIRED),
];

pub(super) const LOAD_BALANCER_INGRESS: Type = ty("io.k8s.api.core.v1.LoadBalancerIngress", &LOAD_BALANCER_INGRESS_FIELDS, 0);
static LOAD_BALANCER_INGRESS_FIELDS: [Field; 4] = [
    f("hostname", 2, STRING, OMIT_EMPTY),
    f("ip", 1, STRING, OMIT_EMPTY),
    f("ipMode", 3, STRING, POINTER | OMIT_EMPTY),
    f("ports", 4, list(&OF_CORE_V1_PORT_STATUS), OMIT_EMPTY),
];

pub(super) const LOAD_BALANCER_STATUS: Type = ty("io.k8s.api.core.v1.LoadBalancerStatus", &LOAD_BALANCER_STATUS_FIELDS, 0);
static LOAD_BALANCER_STATUS_FIELDS: [Field; 1] = [
    f("ingress", 1, list(&OF_CORE_V1_LOAD_BALANCER_INGRESS), OMIT_EMPTY),
];

pub(super) const LOCAL_OBJECT_REFERENCE: Type = ty("io.k8s.api.core.v1.LocalObjectReference", &LOCAL_OBJECT_REFERENCE_FIELDS, ATOMIC);
static LOCAL_OBJECT_REFERENCE_FIELDS: [Field; 1] = [
    full(&[], "name", 1, STRING, OMIT_EMPTY, Some("\"\""), &[], NO_PATCH),
];

pub(super) const LOCAL_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.LocalVolumeSource", &LOCAL_VOLUME_SOURCE_FIELDS, 0);
static LOCAL_VOLUME_SOURCE_FIELDS: [Field; 2] = [
    f("fsType", 2, STRING, POINTER | OMIT_EMPTY),
    f("path", 1, STRING, REQUIRED),
];

pub(super) const MODIFY_VOLUME_STATUS: Type = ty("io.k8s.api.core.v1.ModifyVolumeStatus", &MODIFY_VOLUME_STATUS_FIELDS, 0);
static MODIFY_VOLUME_STATUS_FIELDS: [Field; 2] = [
    full(&[], "status", 2, STRING, REQUIRED, None, &["InProgress", "Infeasible", "Pending"], NO_PATCH),
    f("targetVolumeAttributesClassName", 1, STRING, OMIT_EMPTY),
];

pub(super) const NFS_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.NFSVolumeSource", &NFS_VOLUME_SOURCE_FIELDS, 0);
static NFS_VOLUME_SOURCE_FIELDS: [Field; 3] = [
    f("path", 2, STRING, REQUIRED),
    f("readOnly", 3, BOOL, OMIT_EMPTY),
    f("server", 1, STRING, REQUIRED),
];

pub(super) const NAMESPACE: Type = ty("io.k8s.api.core.v1.Namespace", &NAMESPACE_FIELDS, 0);
static NAMESPACE_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(CORE_V1_NAMESPACE_SPEC), OMIT_EMPTY),
    f("status", 3, obj(CORE_V1_NAMESPACE_STATUS), OMIT_EMPTY),
];

pub(super) const NAMESPACE_CONDITION: Type = ty("io.k8s.api.core.v1.NamespaceCondition", &NAMESPACE_CONDITION_FIELDS, 0);
static NAMESPACE_CONDITION_FIELDS: [Field; 5] = [
    f("lastTransitionTime", 4, TIME, OMIT_EMPTY),
    f("message", 6, STRING, OMIT_EMPTY),
    f("reason", 5, STRING, OMIT_EMPTY),
    f("status", 2, STRING, REQUIRED),
    f("type", 1, STRING, REQUIRED),
];

pub(super) const NAMESPACE_LIST: Type = ty("io.k8s.api.core.v1.NamespaceList", &NAMESPACE_LIST_FIELDS, 0);
static NAMESPACE_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_CORE_V1_NAMESPACE), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const NAMESPACE_SPEC: Type = ty("io.k8s.api.core.v1.NamespaceSpec", &NAMESPACE_SPEC_FIELDS, 0);
static NAMESPACE_SPEC_FIELDS: [Field; 1] = [
    f("finalizers", 1, list(&OF_STRING), OMIT_EMPTY),
];

pub(super) const NAMESPACE_STATUS: Type = ty("io.k8s.api.core.v1.NamespaceStatus", &NAMESPACE_STATUS_FIELDS, 0);
static NAMESPACE_STATUS_FIELDS: [Field; 2] = [
    full(&[], "conditions", 2, assoc(&OF_CORE_V1_NAMESPACE_CONDITION, &KEYS_CORE_V1_NAMESPACE_CONDITION_TYPE), OMIT_EMPTY, None, &[], merge_by("type")),
    full(&[], "phase", 1, STRING, OMIT_EMPTY, None, &["Active", "Terminating"], NO_PATCH),
];

pub(super) const NODE: Type = ty("io.k8s.api.core.v1.Node", &NODE_FIELDS, 0);
static NODE_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(CORE_V1_NODE_SPEC), OMIT_EMPTY),
    f("status", 3, obj(CORE_V1_NODE_STATUS), OMIT_EMPTY),
];

pub(super) const NODE_ADDRESS: Type = ty("io.k8s.api.core.v1.NodeAddress", &NODE_ADDRESS_FIELDS, 0);
static NODE_ADDRESS_FIELDS: [Field; 2] = [
    f("address", 2, STRING, REQUIRED),
    f("type", 1, STRING, REQUIRED),
];

pub(super) const NODE_AFFINITY: Type = ty("io.k8s.api.core.v1.NodeAffinity", &NODE_AFFINITY_FIELDS, 0);
static NODE_AFFINITY_FIELDS: [Field; 2] = [
    f("preferredDuringSchedulingIgnoredDuringExecution", 2, list(&OF_CORE_V1_PREFERRED_SCHEDULING_TERM), OMIT_EMPTY),
    f("requiredDuringSchedulingIgnoredDuringExecution", 1, obj(CORE_V1_NODE_SELECTOR), POINTER | OMIT_EMPTY),
];

pub(super) const NODE_ALLOCATABLE_MAPPED_RESOURCES: Type = ty("io.k8s.api.core.v1.NodeAllocatableMappedResources", &NODE_ALLOCATABLE_MAPPED_RESOURCES_FIELDS, 0);
static NODE_ALLOCATABLE_MAPPED_RESOURCES_FIELDS: [Field; 2] = [
    f("name", 1, STRING, REQUIRED),
    f("quantity", 2, QUANTITY, REQUIRED | POINTER),
];

pub(super) const NODE_ALLOCATABLE_OVERHEAD_RESOURCES: Type = ty("io.k8s.api.core.v1.NodeAllocatableOverheadResources", &NODE_ALLOCATABLE_OVERHEAD_RESOURCES_FIELDS, 0);
static NODE_ALLOCATABLE_OVERHEAD_RESOURCES_FIELDS: [Field; 3] = [
    f("name", 1, STRING, REQUIRED),
    f("perContainer", 3, QUANTITY, POINTER | OMIT_EMPTY),
    f("perPod", 2, QUANTITY, POINTER | OMIT_EMPTY),
];

pub(super) const NODE_ALLOCATABLE_RESOURCE_CLAIM_STATUS: Type = ty("io.k8s.api.core.v1.NodeAllocatableResourceClaimStatus", &NODE_ALLOCATABLE_RESOURCE_CLAIM_STATUS_FIELDS, 0);
static NODE_ALLOCATABLE_RESOURCE_CLAIM_STATUS_FIELDS: [Field; 4] = [
    f("containers", 2, set(&OF_STRING), OMIT_EMPTY),
    full(&[], "mapping", 4, assoc(&OF_CORE_V1_NODE_ALLOCATABLE_MAPPED_RESOURCES, &KEYS_CORE_V1_NODE_ALLOCATABLE_MAPPED_RESOURCES_NAME), OMIT_EMPTY, None, &[], merge_by("name")),
    full(&[], "overhead", 5, assoc(&OF_CORE_V1_NODE_ALLOCATABLE_OVERHEAD_RESOURCES, &KEYS_CORE_V1_NODE_ALLOCATABLE_OVERHEAD_RESOURCES_NAME), OMIT_EMPTY, None, &[], merge_by("name")),
    f("resourceClaimName", 1, STRING, REQUIRED),
];

pub(super) const NODE_CONDITION: Type = ty("io.k8s.api.core.v1.NodeCondition", &NODE_CONDITION_FIELDS, 0);
static NODE_CONDITION_FIELDS: [Field; 6] = [
    f("lastHeartbeatTime", 3, TIME, OMIT_EMPTY),
    f("lastTransitionTime", 4, TIME, OMIT_EMPTY),
    f("message", 6, STRING, OMIT_EMPTY),
    f("reason", 5, STRING, OMIT_EMPTY),
    f("status", 2, STRING, REQUIRED),
    f("type", 1, STRING, REQUIRED),
];

pub(super) const NODE_CONFIG_SOURCE: Type = ty("io.k8s.api.core.v1.NodeConfigSource", &NODE_CONFIG_SOURCE_FIELDS, 0);
static NODE_CONFIG_SOURCE_FIELDS: [Field; 1] = [
    f("configMap", 2, obj(CORE_V1_CONFIG_MAP_NODE_CONFIG_SOURCE), POINTER | OMIT_EMPTY),
];

pub(super) const NODE_CONFIG_STATUS: Type = ty("io.k8s.api.core.v1.NodeConfigStatus", &NODE_CONFIG_STATUS_FIELDS, 0);
static NODE_CONFIG_STATUS_FIELDS: [Field; 4] = [
    f("active", 2, obj(CORE_V1_NODE_CONFIG_SOURCE), POINTER | OMIT_EMPTY),
    f("assigned", 1, obj(CORE_V1_NODE_CONFIG_SOURCE), POINTER | OMIT_EMPTY),
    f("error", 4, STRING, OMIT_EMPTY),
    f("lastKnownGood", 3, obj(CORE_V1_NODE_CONFIG_SOURCE), POINTER | OMIT_EMPTY),
];

pub(super) const NODE_DAEMON_ENDPOINTS: Type = ty("io.k8s.api.core.v1.NodeDaemonEndpoints", &NODE_DAEMON_ENDPOINTS_FIELDS, 0);
static NODE_DAEMON_ENDPOINTS_FIELDS: [Field; 1] = [
    f("kubeletEndpoint", 1, obj(CORE_V1_DAEMON_ENDPOINT), OMIT_EMPTY),
];

pub(super) const NODE_FEATURES: Type = ty("io.k8s.api.core.v1.NodeFeatures", &NODE_FEATURES_FIELDS, 0);
static NODE_FEATURES_FIELDS: [Field; 1] = [
    f("supplementalGroupsPolicy", 1, BOOL, POINTER | OMIT_EMPTY),
];

pub(super) const NODE_LIST: Type = ty("io.k8s.api.core.v1.NodeList", &NODE_LIST_FIELDS, 0);
static NODE_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_CORE_V1_NODE), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const NODE_POD_PREEMPTION_POLICY: Type = ty("io.k8s.api.core.v1.NodePodPreemptionPolicy", &NODE_POD_PREEMPTION_POLICY_FIELDS, 0);
static NODE_POD_PREEMPTION_POLICY_FIELDS: [Field; 1] = [
    f("disableResizePreemption", 1, set(&OF_STRING), OMIT_EMPTY),
];

pub(super) const NODE_RUNTIME_HANDLER: Type = ty("io.k8s.api.core.v1.NodeRuntimeHandler", &NODE_RUNTIME_HANDLER_FIELDS, 0);
static NODE_RUNTIME_HANDLER_FIELDS: [Field; 2] = [
    f("features", 2, obj(CORE_V1_NODE_RUNTIME_HANDLER_FEATURES), POINTER | OMIT_EMPTY),
    f("name", 1, STRING, 0),
];

pub(super) const NODE_RUNTIME_HANDLER_FEATURES: Type = ty("io.k8s.api.core.v1.NodeRuntimeHandlerFeatures", &NODE_RUNTIME_HANDLER_FEATURES_FIELDS, 0);
static NODE_RUNTIME_HANDLER_FEATURES_FIELDS: [Field; 2] = [
    f("recursiveReadOnlyMounts", 1, BOOL, POINTER | OMIT_EMPTY),
    f("userNamespaces", 2, BOOL, POINTER | OMIT_EMPTY),
];

pub(super) const NODE_SELECTOR: Type = ty("io.k8s.api.core.v1.NodeSelector", &NODE_SELECTOR_FIELDS, ATOMIC);
static NODE_SELECTOR_FIELDS: [Field; 1] = [
    f("nodeSelectorTerms", 1, list(&OF_CORE_V1_NODE_SELECTOR_TERM), REQUIRED),
];

pub(super) const NODE_SELECTOR_REQUIREMENT: Type = ty("io.k8s.api.core.v1.NodeSelectorRequirement", &NODE_SELECTOR_REQUIREMENT_FIELDS, 0);
static NODE_SELECTOR_REQUIREMENT_FIELDS: [Field; 3] = [
    f("key", 1, STRING, REQUIRED),
    full(&[], "operator", 2, STRING, REQUIRED, None, &["DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn"], NO_PATCH),
    f("values", 3, list(&OF_STRING), OMIT_EMPTY),
];

pub(super) const NODE_SELECTOR_TERM: Type = ty("io.k8s.api.core.v1.NodeSelectorTerm", &NODE_SELECTOR_TERM_FIELDS, ATOMIC);
static NODE_SELECTOR_TERM_FIELDS: [Field; 2] = [
    f("matchExpressions", 1, list(&OF_CORE_V1_NODE_SELECTOR_REQUIREMENT), OMIT_EMPTY),
    f("matchFields", 2, list(&OF_CORE_V1_NODE_SELECTOR_REQUIREMENT), OMIT_EMPTY),
];

pub(super) const NODE_SPEC: Type = ty("io.k8s.api.core.v1.NodeSpec", &NODE_SPEC_FIELDS, 0);
static NODE_SPEC_FIELDS: [Field; 8] = [
    f("configSource", 6, obj(CORE_V1_NODE_CONFIG_SOURCE), POINTER | OMIT_EMPTY),
    f("externalID", 2, STRING, OMIT_EMPTY),
    f("podCIDR", 1, STRING, OMIT_EMPTY),
    full(&[], "podCIDRs", 7, set(&OF_STRING), OMIT_EMPTY, None, &[], MERGE),
    f("podPreemptionPolicy", 8, obj(CORE_V1_NODE_POD_PREEMPTION_POLICY), POINTER | OMIT_EMPTY),
    f("providerID", 3, STRING, OMIT_EMPTY),
    f("taints", 5, list(&OF_CORE_V1_TAINT), OMIT_EMPTY),
    f("unschedulable", 4, BOOL, OMIT_EMPTY),
];

pub(super) const NODE_STATUS: Type = ty("io.k8s.api.core.v1.NodeStatus", &NODE_STATUS_FIELDS, 0);
static NODE_STATUS_FIELDS: [Field; 14] = [
    full(&[], "addresses", 5, assoc(&OF_CORE_V1_NODE_ADDRESS, &KEYS_CORE_V1_NODE_ADDRESS_TYPE), OMIT_EMPTY, None, &[], merge_by("type")),
    f("allocatable", 2, map(&OF_QUANTITY), OMIT_EMPTY),
    f("capacity", 1, map(&OF_QUANTITY), OMIT_EMPTY),
    full(&[], "conditions", 4, assoc(&OF_CORE_V1_NODE_CONDITION, &KEYS_CORE_V1_NODE_CONDITION_TYPE), OMIT_EMPTY, None, &[], merge_by("type")),
    f("config", 11, obj(CORE_V1_NODE_CONFIG_STATUS), POINTER | OMIT_EMPTY),
    f("daemonEndpoints", 6, obj(CORE_V1_NODE_DAEMON_ENDPOINTS), OMIT_EMPTY),
    f("declaredFeatures", 14, list(&OF_STRING), OMIT_EMPTY),
    f("features", 13, obj(CORE_V1_NODE_FEATURES), POINTER | OMIT_EMPTY),
    f("images", 8, list(&OF_CORE_V1_CONTAINER_IMAGE), OMIT_EMPTY),
    f("nodeInfo", 7, obj(CORE_V1_NODE_SYSTEM_INFO), OMIT_EMPTY),
    full(&[], "phase", 3, STRING, OMIT_EMPTY, None, &["Pending", "Running", "Terminated"], NO_PATCH),
    f("runtimeHandlers", 12, list(&OF_CORE_V1_NODE_RUNTIME_HANDLER), OMIT_EMPTY),
    f("volumesAttached", 10, list(&OF_CORE_V1_ATTACHED_VOLUME), OMIT_EMPTY),
    f("volumesInUse", 9, list(&OF_STRING), OMIT_EMPTY),
];

pub(super) const NODE_SWAP_STATUS: Type = ty("io.k8s.api.core.v1.NodeSwapStatus", &NODE_SWAP_STATUS_FIELDS, 0);
static NODE_SWAP_STATUS_FIELDS: [Field; 1] = [
    f("capacity", 1, INT64, POINTER | OMIT_EMPTY),
];

pub(super) const NODE_SYSTEM_INFO: Type = ty("io.k8s.api.core.v1.NodeSystemInfo", &NODE_SYSTEM_INFO_FIELDS, 0);
static NODE_SYSTEM_INFO_FIELDS: [Field; 12] = [
    f("architecture", 10, STRING, REQUIRED),
    f("bootID", 3, STRING, REQUIRED),
    f("containerRuntimeVersion", 6, STRING, REQUIRED),
    f("kernelVersion", 4, STRING, REQUIRED),
    f("kubeProxyVersion", 8, STRING, REQUIRED),
    f("kubeletVersion", 7, STRING, REQUIRED),
    f("machineID", 1, STRING, REQUIRED),
    f("operatingSystem", 9, STRING, REQUIRED),
    f("osImage", 5, STRING, REQUIRED),
    f("runningInUserNamespace", 12, BOOL, POINTER | OMIT_EMPTY),
    f("swap", 11, obj(CORE_V1_NODE_SWAP_STATUS), POINTER | OMIT_EMPTY),
    f("systemUUID", 2, STRING, REQUIRED),
];

pub(super) const OBJECT_FIELD_SELECTOR: Type = ty("io.k8s.api.core.v1.ObjectFieldSelector", &OBJECT_FIELD_SELECTOR_FIELDS, ATOMIC);
static OBJECT_FIELD_SELECTOR_FIELDS: [Field; 2] = [
    f("apiVersion", 1, STRING, OMIT_EMPTY),
    f("fieldPath", 2, STRING, REQUIRED),
];

pub(super) const OBJECT_REFERENCE: Type = ty("io.k8s.api.core.v1.ObjectReference", &OBJECT_REFERENCE_FIELDS, ATOMIC);
static OBJECT_REFERENCE_FIELDS: [Field; 7] = [
    f("apiVersion", 5, STRING, OMIT_EMPTY),
    f("fieldPath", 7, STRING, OMIT_EMPTY),
    f("kind", 1, STRING, OMIT_EMPTY),
    f("name", 3, STRING, OMIT_EMPTY),
    f("namespace", 2, STRING, OMIT_EMPTY),
    f("resourceVersion", 6, STRING, OMIT_EMPTY),
    f("uid", 4, STRING, OMIT_EMPTY),
];

pub(super) const PERSISTENT_VOLUME: Type = ty("io.k8s.api.core.v1.PersistentVolume", &PERSISTENT_VOLUME_FIELDS, 0);
static PERSISTENT_VOLUME_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(CORE_V1_PERSISTENT_VOLUME_SPEC), OMIT_EMPTY),
    f("status", 3, obj(CORE_V1_PERSISTENT_VOLUME_STATUS), OMIT_EMPTY),
];

pub(super) const PERSISTENT_VOLUME_CLAIM: Type = ty("io.k8s.api.core.v1.PersistentVolumeClaim", &PERSISTENT_VOLUME_CLAIM_FIELDS, 0);
static PERSISTENT_VOLUME_CLAIM_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(CORE_V1_PERSISTENT_VOLUME_CLAIM_SPEC), OMIT_EMPTY),
    f("status", 3, obj(CORE_V1_PERSISTENT_VOLUME_CLAIM_STATUS), OMIT_EMPTY),
];

pub(super) const PERSISTENT_VOLUME_CLAIM_CONDITION: Type = ty("io.k8s.api.core.v1.PersistentVolumeClaimCondition", &PERSISTENT_VOLUME_CLAIM_CONDITION_FIELDS, 0);
static PERSISTENT_VOLUME_CLAIM_CONDITION_FIELDS: [Field; 6] = [
    f("lastProbeTime", 3, TIME, OMIT_EMPTY),
    f("lastTransitionTime", 4, TIME, OMIT_EMPTY),
    f("message", 6, STRING, OMIT_EMPTY),
    f("reason", 5, STRING, OMIT_EMPTY),
    f("status", 2, STRING, REQUIRED),
    f("type", 1, STRING, REQUIRED),
];

pub(super) const PERSISTENT_VOLUME_CLAIM_LIST: Type = ty("io.k8s.api.core.v1.PersistentVolumeClaimList", &PERSISTENT_VOLUME_CLAIM_LIST_FIELDS, 0);
static PERSISTENT_VOLUME_CLAIM_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_CORE_V1_PERSISTENT_VOLUME_CLAIM), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const PERSISTENT_VOLUME_CLAIM_SPEC: Type = ty("io.k8s.api.core.v1.PersistentVolumeClaimSpec", &PERSISTENT_VOLUME_CLAIM_SPEC_FIELDS, 0);
static PERSISTENT_VOLUME_CLAIM_SPEC_FIELDS: [Field; 9] = [
    full(&[], "accessModes", 1, list(&OF_STRING), OMIT_EMPTY, None, &["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"], NO_PATCH),
    f("dataSource", 7, obj(CORE_V1_TYPED_LOCAL_OBJECT_REFERENCE), POINTER | OMIT_EMPTY),
    f("dataSourceRef", 8, obj(CORE_V1_TYPED_OBJECT_REFERENCE), POINTER | OMIT_EMPTY),
    f("resources", 2, obj(CORE_V1_VOLUME_RESOURCE_REQUIREMENTS), OMIT_EMPTY),
    f("selector", 4, obj(META_V1_LABEL_SELECTOR), POINTER | OMIT_EMPTY),
    f("storageClassName", 5, STRING, POINTER | OMIT_EMPTY),
    f("volumeAttributesClassName", 9, STRING, POINTER | OMIT_EMPTY),
    full(&[], "volumeMode", 6, STRING, POINTER | OMIT_EMPTY, None, &["Block", "Filesystem"], NO_PATCH),
    f("volumeName", 3, STRING, OMIT_EMPTY),
];

pub(super) const PERSISTENT_VOLUME_CLAIM_STATUS: Type = ty("io.k8s.api.core.v1.PersistentVolumeClaimStatus", &PERSISTENT_VOLUME_CLAIM_STATUS_FIELDS, 0);
static PERSISTENT_VOLUME_CLAIM_STATUS_FIELDS: [Field; 9] = [
    full(&[], "accessModes", 2, list(&OF_STRING), OMIT_EMPTY, None, &["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"], NO_PATCH),
    full(&[], "allocatedResourceStatuses", 7, map(&OF_STRING), OMIT_EMPTY | GRANULAR, None, &["ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending"], NO_PATCH),
    f("allocatedResources", 5, map(&OF_QUANTITY), OMIT_EMPTY),
    f("capacity", 3, map(&OF_QUANTITY), OMIT_EMPTY),
    full(&[], "conditions", 4, assoc(&OF_CORE_V1_PERSISTENT_VOLUME_CLAIM_CONDITION, &KEYS_CORE_V1_PERSISTENT_VOLUME_CLAIM_CONDITION_TYPE), OMIT_EMPTY, None, &[], merge_by("type")),
    f("currentVolumeAttributesClassName", 8, STRING, POINTER | OMIT_EMPTY),
    f("healthStatus", 10, obj(CORE_V1_VOLUME_HEALTH_STATUS), POINTER | OMIT_EMPTY),
    f("modifyVolumeStatus", 9, obj(CORE_V1_MODIFY_VOLUME_STATUS), POINTER | OMIT_EMPTY),
    full(&[], "phase", 1, STRING, OMIT_EMPTY, None, &["Bound", "Lost", "Pending"], NO_PATCH),
];

pub(super) const PERSISTENT_VOLUME_CLAIM_TEMPLATE: Type = ty("io.k8s.api.core.v1.PersistentVolumeClaimTemplate", &PERSISTENT_VOLUME_CLAIM_TEMPLATE_FIELDS, 0);
static PERSISTENT_VOLUME_CLAIM_TEMPLATE_FIELDS: [Field; 2] = [
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(CORE_V1_PERSISTENT_VOLUME_CLAIM_SPEC), REQUIRED),
];

pub(super) const PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.PersistentVolumeClaimVolumeSource", &PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE_FIELDS, 0);
static PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE_FIELDS: [Field; 2] = [
    f("claimName", 1, STRING, REQUIRED),
    f("readOnly", 2, BOOL, OMIT_EMPTY),
];

pub(super) const PERSISTENT_VOLUME_LIST: Type = ty("io.k8s.api.core.v1.PersistentVolumeList", &PERSISTENT_VOLUME_LIST_FIELDS, 0);
static PERSISTENT_VOLUME_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_CORE_V1_PERSISTENT_VOLUME), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const PERSISTENT_VOLUME_SPEC: Type = ty("io.k8s.api.core.v1.PersistentVolumeSpec", &PERSISTENT_VOLUME_SPEC_FIELDS, 0);
static PERSISTENT_VOLUME_SPEC_FIELDS: [Field; 31] = [
    full(&[], "accessModes", 3, list(&OF_STRING), OMIT_EMPTY, None, &["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"], NO_PATCH),
    inlined(&[2], "awsElasticBlockStore", 2, obj(CORE_V1_AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "azureDisk", 16, obj(CORE_V1_AZURE_DISK_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "azureFile", 13, obj(CORE_V1_AZURE_FILE_PERSISTENT_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    f("capacity", 1, map(&OF_QUANTITY), OMIT_EMPTY),
    inlined(&[2], "cephfs", 9, obj(CORE_V1_CEPH_FS_PERSISTENT_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "cinder", 8, obj(CORE_V1_CINDER_PERSISTENT_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    f("claimRef", 4, obj(CORE_V1_OBJECT_REFERENCE), POINTER | OMIT_EMPTY | GRANULAR),
    inlined(&[2], "csi", 22, obj(CORE_V1_CSI_PERSISTENT_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "fc", 10, obj(CORE_V1_FC_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "flexVolume", 12, obj(CORE_V1_FLEX_PERSISTENT_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "flocker", 11, obj(CORE_V1_FLOCKER_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "gcePersistentDisk", 1, obj(CORE_V1_GCE_PERSISTENT_DISK_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "glusterfs", 4, obj(CORE_V1_GLUSTERFS_PERSISTENT_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "hostPath", 3, obj(CORE_V1_HOST_PATH_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "iscsi", 7, obj(CORE_V1_ISCSI_PERSISTENT_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "local", 20, obj(CORE_V1_LOCAL_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    f("mountOptions", 7, list(&OF_STRING), OMIT_EMPTY),
    inlined(&[2], "nfs", 5, obj(CORE_V1_NFS_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    f("nodeAffinity", 9, obj(CORE_V1_VOLUME_NODE_AFFINITY), POINTER | OMIT_EMPTY),
    full(&[], "persistentVolumeReclaimPolicy", 5, STRING, OMIT_EMPTY, None, &["Delete", "Recycle", "Retain"], NO_PATCH),
    inlined(&[2], "photonPersistentDisk", 17, obj(CORE_V1_PHOTON_PERSISTENT_DISK_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "portworxVolume", 18, obj(CORE_V1_PORTWORX_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "quobyte", 15, obj(CORE_V1_QUOBYTE_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "rbd", 6, obj(CORE_V1_RBD_PERSISTENT_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "scaleIO", 19, obj(CORE_V1_SCALE_IO_PERSISTENT_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    f("storageClassName", 6, STRING, OMIT_EMPTY),
    inlined(&[2], "storageos", 21, obj(CORE_V1_STORAGE_OS_PERSISTENT_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    f("volumeAttributesClassName", 10, STRING, POINTER | OMIT_EMPTY),
    full(&[], "volumeMode", 8, STRING, POINTER | OMIT_EMPTY, None, &["Block", "Filesystem"], NO_PATCH),
    inlined(&[2], "vsphereVolume", 14, obj(CORE_V1_VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
];

pub(super) const PERSISTENT_VOLUME_STATUS: Type = ty("io.k8s.api.core.v1.PersistentVolumeStatus", &PERSISTENT_VOLUME_STATUS_FIELDS, 0);
static PERSISTENT_VOLUME_STATUS_FIELDS: [Field; 4] = [
    f("lastPhaseTransitionTime", 4, TIME, POINTER | OMIT_EMPTY),
    f("message", 2, STRING, OMIT_EMPTY),
    full(&[], "phase", 1, STRING, OMIT_EMPTY, None, &["Available", "Bound", "Failed", "Pending", "Released"], NO_PATCH),
    f("reason", 3, STRING, OMIT_EMPTY),
];

pub(super) const PHOTON_PERSISTENT_DISK_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.PhotonPersistentDiskVolumeSource", &PHOTON_PERSISTENT_DISK_VOLUME_SOURCE_FIELDS, 0);
static PHOTON_PERSISTENT_DISK_VOLUME_SOURCE_FIELDS: [Field; 2] = [
    f("fsType", 2, STRING, OMIT_EMPTY),
    f("pdID", 1, STRING, REQUIRED),
];

pub(super) const POD: Type = ty("io.k8s.api.core.v1.Pod", &POD_FIELDS, 0);
static POD_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(CORE_V1_POD_SPEC), OMIT_EMPTY),
    f("status", 3, obj(CORE_V1_POD_STATUS), OMIT_EMPTY),
];

pub(super) const POD_AFFINITY: Type = ty("io.k8s.api.core.v1.PodAffinity", &POD_AFFINITY_FIELDS, 0);
static POD_AFFINITY_FIELDS: [Field; 2] = [
    f("preferredDuringSchedulingIgnoredDuringExecution", 2, list(&OF_CORE_V1_WEIGHTED_POD_AFFINITY_TERM), OMIT_EMPTY),
    f("requiredDuringSchedulingIgnoredDuringExecution", 1, list(&OF_CORE_V1_POD_AFFINITY_TERM), OMIT_EMPTY),
];

pub(super) const POD_AFFINITY_TERM: Type = ty("io.k8s.api.core.v1.PodAffinityTerm", &POD_AFFINITY_TERM_FIELDS, 0);
static POD_AFFINITY_TERM_FIELDS: [Field; 6] = [
    f("labelSelector", 1, obj(META_V1_LABEL_SELECTOR), POINTER | OMIT_EMPTY),
    f("matchLabelKeys", 5, list(&OF_STRING), OMIT_EMPTY),
    f("mismatchLabelKeys", 6, list(&OF_STRING), OMIT_EMPTY),
    f("namespaceSelector", 4, obj(META_V1_LABEL_SELECTOR), POINTER | OMIT_EMPTY),
    f("namespaces", 2, list(&OF_STRING), OMIT_EMPTY),
    f("topologyKey", 3, STRING, REQUIRED),
];

pub(super) const POD_ANTI_AFFINITY: Type = ty("io.k8s.api.core.v1.PodAntiAffinity", &POD_ANTI_AFFINITY_FIELDS, 0);
static POD_ANTI_AFFINITY_FIELDS: [Field; 2] = [
    f("preferredDuringSchedulingIgnoredDuringExecution", 2, list(&OF_CORE_V1_WEIGHTED_POD_AFFINITY_TERM), OMIT_EMPTY),
    f("requiredDuringSchedulingIgnoredDuringExecution", 1, list(&OF_CORE_V1_POD_AFFINITY_TERM), OMIT_EMPTY),
];

pub(super) const POD_CERTIFICATE_PROJECTION: Type = ty("io.k8s.api.core.v1.PodCertificateProjection", &POD_CERTIFICATE_PROJECTION_FIELDS, 0);
static POD_CERTIFICATE_PROJECTION_FIELDS: [Field; 8] = [
    f("certificateChainPath", 6, STRING, OMIT_EMPTY),
    f("credentialBundlePath", 4, STRING, OMIT_EMPTY),
    f("keyPath", 5, STRING, OMIT_EMPTY),
    f("keyType", 2, STRING, REQUIRED | OMIT_EMPTY),
    f("maxExpirationSeconds", 3, INT32, POINTER | OMIT_EMPTY),
    f("signerName", 1, STRING, REQUIRED | OMIT_EMPTY),
    f("user", 8, INT64, POINTER | OMIT_EMPTY),
    f("userAnnotations", 7, map(&OF_STRING), OMIT_EMPTY),
];

pub(super) const POD_CONDITION: Type = ty("io.k8s.api.core.v1.PodCondition", &POD_CONDITION_FIELDS, 0);
static POD_CONDITION_FIELDS: [Field; 7] = [
    f("lastProbeTime", 3, TIME, OMIT_EMPTY),
    f("lastTransitionTime", 4, TIME, OMIT_EMPTY),
    f("message", 6, STRING, OMIT_EMPTY),
    f("observedGeneration", 7, INT64, OMIT_EMPTY),
    f("reason", 5, STRING, OMIT_EMPTY),
    f("status", 2, STRING, REQUIRED),
    f("type", 1, STRING, REQUIRED),
];

pub(super) const POD_DNS_CONFIG: Type = ty("io.k8s.api.core.v1.PodDNSConfig", &POD_DNS_CONFIG_FIELDS, 0);
static POD_DNS_CONFIG_FIELDS: [Field; 3] = [
    f("nameservers", 1, list(&OF_STRING), OMIT_EMPTY),
    f("options", 3, list(&OF_CORE_V1_POD_DNS_CONFIG_OPTION), OMIT_EMPTY),
    f("searches", 2, list(&OF_STRING), OMIT_EMPTY),
];

pub(super) const POD_DNS_CONFIG_OPTION: Type = ty("io.k8s.api.core.v1.PodDNSConfigOption", &POD_DNS_CONFIG_OPTION_FIELDS, 0);
static POD_DNS_CONFIG_OPTION_FIELDS: [Field; 2] = [
    f("name", 1, STRING, OMIT_EMPTY),
    f("value", 2, STRING, POINTER | OMIT_EMPTY),
];

pub(super) const POD_EXTENDED_RESOURCE_CLAIM_STATUS: Type = ty("io.k8s.api.core.v1.PodExtendedResourceClaimStatus", &POD_EXTENDED_RESOURCE_CLAIM_STATUS_FIELDS, 0);
static POD_EXTENDED_RESOURCE_CLAIM_STATUS_FIELDS: [Field; 2] = [
    f("requestMappings", 1, list(&OF_CORE_V1_CONTAINER_EXTENDED_RESOURCE_REQUEST), REQUIRED),
    f("resourceClaimName", 2, STRING, REQUIRED),
];

pub(super) const POD_IP: Type = ty("io.k8s.api.core.v1.PodIP", &POD_IP_FIELDS, 0);
static POD_IP_FIELDS: [Field; 1] = [
    f("ip", 1, STRING, REQUIRED),
];

pub(super) const POD_LIST: Type = ty("io.k8s.api.core.v1.PodList", &POD_LIST_FIELDS, 0);
static POD_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_CORE_V1_POD), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const POD_OS: Type = ty("io.k8s.api.core.v1.PodOS", &POD_OS_FIELDS, 0);
static POD_OS_FIELDS: [Field; 1] = [
    f("name", 1, STRING, REQUIRED),
];

pub(super) const POD_READINESS_GATE: Type = ty("io.k8s.api.core.v1.PodReadinessGate", &POD_READINESS_GATE_FIELDS, 0);
static POD_READINESS_GATE_FIELDS: [Field; 1] = [
    f("conditionType", 1, STRING, REQUIRED),
];

pub(super) const POD_RESOURCE_CLAIM: Type = ty("io.k8s.api.core.v1.PodResourceClaim", &POD_RESOURCE_CLAIM_FIELDS, 0);
static POD_RESOURCE_CLAIM_FIELDS: [Field; 3] = [
    f("name", 1, STRING, REQUIRED),
    f("resourceClaimName", 3, STRING, POINTER | OMIT_EMPTY),
    f("resourceClaimTemplateName", 4, STRING, POINTER | OMIT_EMPTY),
];

pub(super) const POD_RESOURCE_CLAIM_STATUS: Type = ty("io.k8s.api.core.v1.PodResourceClaimStatus", &POD_RESOURCE_CLAIM_STATUS_FIELDS, 0);
static POD_RESOURCE_CLAIM_STATUS_FIELDS: [Field; 2] = [
    f("name", 1, STRING, REQUIRED),
    f("resourceClaimName", 2, STRING, POINTER | OMIT_EMPTY),
];

pub(super) const POD_SCHEDULING_GATE: Type = ty("io.k8s.api.core.v1.PodSchedulingGate", &POD_SCHEDULING_GATE_FIELDS, 0);
static POD_SCHEDULING_GATE_FIELDS: [Field; 1] = [
    f("name", 1, STRING, REQUIRED),
];

pub(super) const POD_SCHEDULING_GROUP: Type = ty("io.k8s.api.core.v1.PodSchedulingGroup", &POD_SCHEDULING_GROUP_FIELDS, 0);
static POD_SCHEDULING_GROUP_FIELDS: [Field; 1] = [
    f("podGroupName", 1, STRING, POINTER | OMIT_EMPTY),
];

pub(super) const POD_SECURITY_CONTEXT: Type = ty("io.k8s.api.core.v1.PodSecurityContext", &POD_SECURITY_CONTEXT_FIELDS, 0);
static POD_SECURITY_CONTEXT_FIELDS: [Field; 13] = [
    f("appArmorProfile", 11, obj(CORE_V1_APP_ARMOR_PROFILE), POINTER | OMIT_EMPTY),
    f("fsGroup", 5, INT64, POINTER | OMIT_EMPTY),
    full(&[], "fsGroupChangePolicy", 9, STRING, POINTER | OMIT_EMPTY, None, &["Always", "OnRootMismatch"], NO_PATCH),
    f("runAsGroup", 6, INT64, POINTER | OMIT_EMPTY),
    f("runAsNonRoot", 3, BOOL, POINTER | OMIT_EMPTY),
    f("runAsUser", 2, INT64, POINTER | OMIT_EMPTY),
    f("seLinuxChangePolicy", 13, STRING, POINTER | OMIT_EMPTY),
    f("seLinuxOptions", 1, obj(CORE_V1_SE_LINUX_OPTIONS), POINTER | OMIT_EMPTY),
    f("seccompProfile", 10, obj(CORE_V1_SECCOMP_PROFILE), POINTER | OMIT_EMPTY),
    f("supplementalGroups", 4, list(&OF_INT64), OMIT_EMPTY),
    full(&[], "supplementalGroupsPolicy", 12, STRING, POINTER | OMIT_EMPTY, None, &["Merge", "Strict"], NO_PATCH),
    f("sysctls", 7, list(&OF_CORE_V1_SYSCTL), OMIT_EMPTY),
    f("windowsOptions", 8, obj(CORE_V1_WINDOWS_SECURITY_CONTEXT_OPTIONS), POINTER | OMIT_EMPTY),
];

pub(super) const POD_SPEC: Type = ty("io.k8s.api.core.v1.PodSpec", &POD_SPEC_FIELDS, 0);
static POD_SPEC_FIELDS: [Field; 43] = [
    f("activeDeadlineSeconds", 5, INT64, POINTER | OMIT_EMPTY),
    f("affinity", 18, obj(CORE_V1_AFFINITY), POINTER | OMIT_EMPTY),
    f("automountServiceAccountToken", 21, BOOL, POINTER | OMIT_EMPTY),
    full(&[], "containers", 2, assoc(&OF_CORE_V1_CONTAINER, &KEYS_CORE_V1_CONTAINER_NAME), REQUIRED, None, &[], merge_by("name")),
    f("dnsConfig", 26, obj(CORE_V1_POD_DNS_CONFIG), POINTER | OMIT_EMPTY),
    full(&[], "dnsPolicy", 6, STRING, OMIT_EMPTY, None, &["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"], NO_PATCH),
    f("enableServiceLinks", 30, BOOL, POINTER | OMIT_EMPTY),
    full(&[], "ephemeralContainers", 34, assoc(&OF_CORE_V1_EPHEMERAL_CONTAINER, &KEYS_CORE_V1_EPHEMERAL_CONTAINER_NAME), OMIT_EMPTY, None, &[], merge_by("name")),
    full(&[], "evictionResponders", 44, assoc(&OF_CORE_V1_EVICTION_RESPONDER, &KEYS_CORE_V1_EVICTION_RESPONDER_NAME), OMIT_EMPTY, None, &[], merge_by("name")),
    full(&[], "hostAliases", 23, assoc(&OF_CORE_V1_HOST_ALIAS, &KEYS_CORE_V1_HOST_ALIAS_IP), OMIT_EMPTY, None, &[], merge_by("ip")),
    f("hostIPC", 13, BOOL, OMIT_EMPTY),
    f("hostNetwork", 11, BOOL, OMIT_EMPTY),
    f("hostPID", 12, BOOL, OMIT_EMPTY),
    f("hostUsers", 37, BOOL, POINTER | OMIT_EMPTY),
    f("hostname", 16, STRING, OMIT_EMPTY),
    f("hostnameOverride", 41, STRING, POINTER | OMIT_EMPTY),
    full(&[], "imagePullSecrets", 15, assoc(&OF_CORE_V1_LOCAL_OBJECT_REFERENCE, &KEYS_CORE_V1_LOCAL_OBJECT_REFERENCE_NAME), OMIT_EMPTY, None, &[], merge_by("name")),
    full(&[], "initContainers", 20, assoc(&OF_CORE_V1_CONTAINER, &KEYS_CORE_V1_CONTAINER_NAME), OMIT_EMPTY, None, &[], merge_by("name")),
    f("nodeName", 10, STRING, OMIT_EMPTY),
    f("nodeSelector", 7, atomic_map(&OF_STRING), OMIT_EMPTY),
    f("os", 36, obj(CORE_V1_POD_OS), POINTER | OMIT_EMPTY),
    f("overhead", 32, map(&OF_QUANTITY), OMIT_EMPTY),
    full(&[], "preemptionPolicy", 31, STRING, POINTER | OMIT_EMPTY, None, &["Never", "PreemptLowerPriority"], NO_PATCH),
    f("priority", 25, INT32, POINTER | OMIT_EMPTY),
    f("priorityClassName", 24, STRING, OMIT_EMPTY),
    f("readinessGates", 28, list(&OF_CORE_V1_POD_READINESS_GATE), OMIT_EMPTY),
    full(&[], "resourceClaims", 39, assoc(&OF_CORE_V1_POD_RESOURCE_CLAIM, &KEYS_CORE_V1_POD_RESOURCE_CLAIM_NAME), OMIT_EMPTY, None, &[], merge_retain_by("name")),
    f("resources", 40, obj(CORE_V1_RESOURCE_REQUIREMENTS), POINTER | OMIT_EMPTY),
    full(&[], "restartPolicy", 3, STRING, OMIT_EMPTY, None, &["Always", "Never", "OnFailure"], NO_PATCH),
    f("runtimeClassName", 29, STRING, POINTER | OMIT_EMPTY),
    f("schedulerName", 19, STRING, OMIT_EMPTY),
    full(&[], "schedulingGates", 38, assoc(&OF_CORE_V1_POD_SCHEDULING_GATE, &KEYS_CORE_V1_POD_SCHEDULING_GATE_NAME), OMIT_EMPTY, None, &[], merge_by("name")),
    f("schedulingGroup", 43, obj(CORE_V1_POD_SCHEDULING_GROUP), POINTER | OMIT_EMPTY),
    f("securityContext", 14, obj(CORE_V1_POD_SECURITY_CONTEXT), POINTER | OMIT_EMPTY),
    f("serviceAccount", 9, STRING, OMIT_EMPTY),
    f("serviceAccountName", 8, STRING, OMIT_EMPTY),
    f("setHostnameAsFQDN", 35, BOOL, POINTER | OMIT_EMPTY),
    f("shareProcessNamespace", 27, BOOL, POINTER | OMIT_EMPTY),
    f("subdomain", 17, STRING, OMIT_EMPTY),
    f("terminationGracePeriodSeconds", 4, INT64, POINTER | OMIT_EMPTY),
    f("tolerations", 22, list(&OF_CORE_V1_TOLERATION), OMIT_EMPTY),
    full(&[], "topologySpreadConstraints", 33, assoc(&OF_CORE_V1_TOPOLOGY_SPREAD_CONSTRAINT, &KEYS_CORE_V1_TOPOLOGY_SPREAD_CONSTRAINT_TOPOLOGY_KEY_WHEN_UNSATISFIABLE), OMIT_EMPTY, None, &[], merge_by("topologyKey")),
    full(&[], "volumes", 1, assoc(&OF_CORE_V1_VOLUME, &KEYS_CORE_V1_VOLUME_NAME), OMIT_EMPTY, None, &[], merge_retain_by("name")),
];

pub(super) const POD_STATUS: Type = ty("io.k8s.api.core.v1.PodStatus", &POD_STATUS_FIELDS, 0);
static POD_STATUS_FIELDS: [Field; 22] = [
    f("allocatedResources", 19, map(&OF_QUANTITY), OMIT_EMPTY),
    full(&[], "conditions", 2, assoc(&OF_CORE_V1_POD_CONDITION, &KEYS_CORE_V1_POD_CONDITION_TYPE), OMIT_EMPTY, None, &[], merge_by("type")),
    f("containerStatuses", 8, list(&OF_CORE_V1_CONTAINER_STATUS), OMIT_EMPTY),
    f("ephemeralContainerStatuses", 13, list(&OF_CORE_V1_CONTAINER_STATUS), OMIT_EMPTY),
    f("extendedResourceClaimStatus", 18, obj(CORE_V1_POD_EXTENDED_RESOURCE_CLAIM_STATUS), POINTER | OMIT_EMPTY),
    f("hostIP", 5, STRING, OMIT_EMPTY),
    full(&[], "hostIPs", 16, list(&OF_CORE_V1_HOST_IP), OMIT_EMPTY, None, &[], merge_by("ip")),
    f("initContainerStatuses", 10, list(&OF_CORE_V1_CONTAINER_STATUS), OMIT_EMPTY),
    f("message", 3, STRING, OMIT_EMPTY),
    full(&[], "nodeAllocatableResourceClaimStatuses", 21, assoc(&OF_CORE_V1_NODE_ALLOCATABLE_RESOURCE_CLAIM_STATUS, &KEYS_CORE_V1_NODE_ALLOCATABLE_RESOURCE_CLAIM_STATUS_RESOURCE_CLAIM_NAME), OMIT_EMPTY, None, &[], merge_by("resourceClaimName")),
    f("nominatedNodeName", 11, STRING, OMIT_EMPTY),
    f("observedGeneration", 17, INT64, OMIT_EMPTY),
    full(&[], "phase", 1, STRING, OMIT_EMPTY, None, &["Failed", "Pending", "Running", "Succeeded", "Unknown"], NO_PATCH),
    f("podIP", 6, STRING, OMIT_EMPTY),
    full(&[], "podIPs", 12, assoc(&OF_CORE_V1_POD_IP, &KEYS_CORE_V1_POD_IP_IP), OMIT_EMPTY, None, &[], merge_by("ip")),
    full(&[], "qosClass", 9, STRING, OMIT_EMPTY, None, &["BestEffort", "Burstable", "Guaranteed"], NO_PATCH),
    f("reason", 4, STRING, OMIT_EMPTY),
    f("resize", 14, STRING, OMIT_EMPTY),
    full(&[], "resourceClaimStatuses", 15, assoc(&OF_CORE_V1_POD_RESOURCE_CLAIM_STATUS, &KEYS_CORE_V1_POD_RESOURCE_CLAIM_STATUS_NAME), OMIT_EMPTY, None, &[], merge_retain_by("name")),
    f("resources", 20, obj(CORE_V1_RESOURCE_REQUIREMENTS), POINTER | OMIT_EMPTY),
    f("startTime", 7, TIME, POINTER | OMIT_EMPTY),
    f("volumeHealth", 22, assoc(&OF_CORE_V1_POD_VOLUME_HEALTH, &KEYS_CORE_V1_POD_VOLUME_HEALTH_NAME), OMIT_EMPTY),
];

pub(super) const POD_TEMPLATE: Type = ty("io.k8s.api.core.v1.PodTemplate", &POD_TEMPLATE_FIELDS, 0);
static POD_TEMPLATE_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("template", 2, obj(CORE_V1_POD_TEMPLATE_SPEC), OMIT_EMPTY),
];

pub(super) const POD_TEMPLATE_LIST: Type = ty("io.k8s.api.core.v1.PodTemplateList", &POD_TEMPLATE_LIST_FIELDS, 0);
static POD_TEMPLATE_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_CORE_V1_POD_TEMPLATE), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const POD_TEMPLATE_SPEC: Type = ty("io.k8s.api.core.v1.PodTemplateSpec", &POD_TEMPLATE_SPEC_FIELDS, 0);
static POD_TEMPLATE_SPEC_FIELDS: [Field; 2] = [
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(CORE_V1_POD_SPEC), OMIT_EMPTY),
];

pub(super) const POD_VOLUME_HEALTH: Type = ty("io.k8s.api.core.v1.PodVolumeHealth", &POD_VOLUME_HEALTH_FIELDS, 0);
static POD_VOLUME_HEALTH_FIELDS: [Field; 3] = [
    full(&[], "healthConditions", 2, assoc(&OF_CORE_V1_VOLUME_HEALTH_CONDITION, &KEYS_CORE_V1_VOLUME_HEALTH_CONDITION_STATUS_REASON), OMIT_EMPTY, None, &[], merge_by("status")),
    f("lastTransitionTime", 3, TIME, OMIT_EMPTY),
    f("name", 1, STRING, REQUIRED),
];

pub(super) const PORT_STATUS: Type = ty("io.k8s.api.core.v1.PortStatus", &PORT_STATUS_FIELDS, 0);
static PORT_STATUS_FIELDS: [Field; 3] = [
    f("error", 3, STRING, POINTER | OMIT_EMPTY),
    f("port", 1, INT32, REQUIRED),
    full(&[], "protocol", 2, STRING, REQUIRED, None, &["SCTP", "TCP", "UDP"], NO_PATCH),
];

pub(super) const PORTWORX_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.PortworxVolumeSource", &PORTWORX_VOLUME_SOURCE_FIELDS, 0);
static PORTWORX_VOLUME_SOURCE_FIELDS: [Field; 3] = [
    f("fsType", 2, STRING, OMIT_EMPTY),
    f("readOnly", 3, BOOL, OMIT_EMPTY),
    f("volumeID", 1, STRING, REQUIRED),
];

pub(super) const PREFERRED_SCHEDULING_TERM: Type = ty("io.k8s.api.core.v1.PreferredSchedulingTerm", &PREFERRED_SCHEDULING_TERM_FIELDS, 0);
static PREFERRED_SCHEDULING_TERM_FIELDS: [Field; 2] = [
    f("preference", 2, obj(CORE_V1_NODE_SELECTOR_TERM), REQUIRED),
    f("weight", 1, INT32, REQUIRED),
];

pub(super) const PROBE: Type = ty("io.k8s.api.core.v1.Probe", &PROBE_FIELDS, 0);
static PROBE_FIELDS: [Field; 10] = [
    inlined(&[1], "exec", 1, obj(CORE_V1_EXEC_ACTION), POINTER | OMIT_EMPTY),
    f("failureThreshold", 6, INT32, OMIT_EMPTY),
    inlined(&[1], "grpc", 4, obj(CORE_V1_GRPC_ACTION), POINTER | OMIT_EMPTY),
    inlined(&[1], "httpGet", 2, obj(CORE_V1_HTTP_GET_ACTION), POINTER | OMIT_EMPTY),
    f("initialDelaySeconds", 2, INT32, OMIT_EMPTY),
    f("periodSeconds", 4, INT32, OMIT_EMPTY),
    f("successThreshold", 5, INT32, OMIT_EMPTY),
    inlined(&[1], "tcpSocket", 3, obj(CORE_V1_TCP_SOCKET_ACTION), POINTER | OMIT_EMPTY),
    f("terminationGracePeriodSeconds", 7, INT64, POINTER | OMIT_EMPTY),
    f("timeoutSeconds", 3, INT32, OMIT_EMPTY),
];

pub(super) const PROJECTED_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.ProjectedVolumeSource", &PROJECTED_VOLUME_SOURCE_FIELDS, 0);
static PROJECTED_VOLUME_SOURCE_FIELDS: [Field; 3] = [
    f("defaultMode", 2, INT32, POINTER | OMIT_EMPTY),
    f("defaultUser", 3, INT64, POINTER | OMIT_EMPTY),
    f("sources", 1, list(&OF_CORE_V1_VOLUME_PROJECTION), 0),
];

pub(super) const QUOBYTE_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.QuobyteVolumeSource", &QUOBYTE_VOLUME_SOURCE_FIELDS, 0);
static QUOBYTE_VOLUME_SOURCE_FIELDS: [Field; 6] = [
    f("group", 5, STRING, OMIT_EMPTY),
    f("readOnly", 3, BOOL, OMIT_EMPTY),
    f("registry", 1, STRING, REQUIRED),
    f("tenant", 6, STRING, OMIT_EMPTY),
    f("user", 4, STRING, OMIT_EMPTY),
    f("volume", 2, STRING, REQUIRED),
];

pub(super) const RBD_PERSISTENT_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.RBDPersistentVolumeSource", &RBD_PERSISTENT_VOLUME_SOURCE_FIELDS, 0);
static RBD_PERSISTENT_VOLUME_SOURCE_FIELDS: [Field; 8] = [
    f("fsType", 3, STRING, OMIT_EMPTY),
    f("image", 2, STRING, REQUIRED),
    full(&[], "keyring", 6, STRING, OMIT_EMPTY, Some("\"/etc/ceph/keyring\""), &[], NO_PATCH),
    f("monitors", 1, list(&OF_STRING), REQUIRED),
    full(&[], "pool", 4, STRING, OMIT_EMPTY, Some("\"rbd\""), &[], NO_PATCH),
    f("readOnly", 8, BOOL, OMIT_EMPTY),
    f("secretRef", 7, obj(CORE_V1_SECRET_REFERENCE), POINTER | OMIT_EMPTY),
    full(&[], "user", 5, STRING, OMIT_EMPTY, Some("\"admin\""), &[], NO_PATCH),
];

pub(super) const RBD_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.RBDVolumeSource", &RBD_VOLUME_SOURCE_FIELDS, 0);
static RBD_VOLUME_SOURCE_FIELDS: [Field; 8] = [
    f("fsType", 3, STRING, OMIT_EMPTY),
    f("image", 2, STRING, REQUIRED),
    full(&[], "keyring", 6, STRING, OMIT_EMPTY, Some("\"/etc/ceph/keyring\""), &[], NO_PATCH),
    f("monitors", 1, list(&OF_STRING), REQUIRED),
    full(&[], "pool", 4, STRING, OMIT_EMPTY, Some("\"rbd\""), &[], NO_PATCH),
    f("readOnly", 8, BOOL, OMIT_EMPTY),
    f("secretRef", 7, obj(CORE_V1_LOCAL_OBJECT_REFERENCE), POINTER | OMIT_EMPTY),
    full(&[], "user", 5, STRING, OMIT_EMPTY, Some("\"admin\""), &[], NO_PATCH),
];

pub(super) const REPLICATION_CONTROLLER: Type = ty("io.k8s.api.core.v1.ReplicationController", &REPLICATION_CONTROLLER_FIELDS, 0);
static REPLICATION_CONTROLLER_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(CORE_V1_REPLICATION_CONTROLLER_SPEC), OMIT_EMPTY),
    f("status", 3, obj(CORE_V1_REPLICATION_CONTROLLER_STATUS), OMIT_EMPTY),
];

pub(super) const REPLICATION_CONTROLLER_CONDITION: Type = ty("io.k8s.api.core.v1.ReplicationControllerCondition", &REPLICATION_CONTROLLER_CONDITION_FIELDS, 0);
static REPLICATION_CONTROLLER_CONDITION_FIELDS: [Field; 5] = [
    f("lastTransitionTime", 3, TIME, OMIT_EMPTY),
    f("message", 5, STRING, OMIT_EMPTY),
    f("reason", 4, STRING, OMIT_EMPTY),
    f("status", 2, STRING, REQUIRED),
    f("type", 1, STRING, REQUIRED),
];

pub(super) const REPLICATION_CONTROLLER_LIST: Type = ty("io.k8s.api.core.v1.ReplicationControllerList", &REPLICATION_CONTROLLER_LIST_FIELDS, 0);
static REPLICATION_CONTROLLER_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_CORE_V1_REPLICATION_CONTROLLER), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const REPLICATION_CONTROLLER_SPEC: Type = ty("io.k8s.api.core.v1.ReplicationControllerSpec", &REPLICATION_CONTROLLER_SPEC_FIELDS, 0);
static REPLICATION_CONTROLLER_SPEC_FIELDS: [Field; 4] = [
    full(&[], "minReadySeconds", 4, INT32, OMIT_EMPTY, Some("0"), &[], NO_PATCH),
    full(&[], "replicas", 1, INT32, POINTER | OMIT_EMPTY, Some("1"), &[], NO_PATCH),
    f("selector", 2, atomic_map(&OF_STRING), OMIT_EMPTY),
    f("template", 3, obj(CORE_V1_POD_TEMPLATE_SPEC), POINTER | OMIT_EMPTY),
];

pub(super) const REPLICATION_CONTROLLER_STATUS: Type = ty("io.k8s.api.core.v1.ReplicationControllerStatus", &REPLICATION_CONTROLLER_STATUS_FIELDS, 0);
static REPLICATION_CONTROLLER_STATUS_FIELDS: [Field; 6] = [
    f("availableReplicas", 5, INT32, OMIT_EMPTY),
    full(&[], "conditions", 6, assoc(&OF_CORE_V1_REPLICATION_CONTROLLER_CONDITION, &KEYS_CORE_V1_REPLICATION_CONTROLLER_CONDITION_TYPE), OMIT_EMPTY, None, &[], merge_by("type")),
    f("fullyLabeledReplicas", 2, INT32, OMIT_EMPTY),
    f("observedGeneration", 3, INT64, OMIT_EMPTY),
    f("readyReplicas", 4, INT32, OMIT_EMPTY),
    f("replicas", 1, INT32, REQUIRED),
];

pub(super) const RESOURCE_CLAIM: Type = ty("io.k8s.api.core.v1.ResourceClaim", &RESOURCE_CLAIM_FIELDS, 0);
static RESOURCE_CLAIM_FIELDS: [Field; 2] = [
    f("name", 1, STRING, REQUIRED),
    f("request", 2, STRING, OMIT_EMPTY),
];

pub(super) const RESOURCE_FIELD_SELECTOR: Type = ty("io.k8s.api.core.v1.ResourceFieldSelector", &RESOURCE_FIELD_SELECTOR_FIELDS, ATOMIC);
static RESOURCE_FIELD_SELECTOR_FIELDS: [Field; 3] = [
    f("containerName", 1, STRING, OMIT_EMPTY),
    f("divisor", 3, QUANTITY, OMIT_EMPTY),
    f("resource", 2, STRING, REQUIRED),
];

pub(super) const RESOURCE_HEALTH: Type = ty("io.k8s.api.core.v1.ResourceHealth", &RESOURCE_HEALTH_FIELDS, 0);
static RESOURCE_HEALTH_FIELDS: [Field; 3] = [
    f("health", 2, STRING, OMIT_EMPTY),
    f("message", 6, STRING, POINTER | OMIT_EMPTY),
    f("resourceID", 1, STRING, REQUIRED),
];

pub(super) const RESOURCE_QUOTA: Type = ty("io.k8s.api.core.v1.ResourceQuota", &RESOURCE_QUOTA_FIELDS, 0);
static RESOURCE_QUOTA_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(CORE_V1_RESOURCE_QUOTA_SPEC), OMIT_EMPTY),
    f("status", 3, obj(CORE_V1_RESOURCE_QUOTA_STATUS), OMIT_EMPTY),
];

pub(super) const RESOURCE_QUOTA_LIST: Type = ty("io.k8s.api.core.v1.ResourceQuotaList", &RESOURCE_QUOTA_LIST_FIELDS, 0);
static RESOURCE_QUOTA_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_CORE_V1_RESOURCE_QUOTA), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const RESOURCE_QUOTA_SPEC: Type = ty("io.k8s.api.core.v1.ResourceQuotaSpec", &RESOURCE_QUOTA_SPEC_FIELDS, 0);
static RESOURCE_QUOTA_SPEC_FIELDS: [Field; 3] = [
    f("hard", 1, map(&OF_QUANTITY), OMIT_EMPTY),
    f("scopeSelector", 3, obj(CORE_V1_SCOPE_SELECTOR), POINTER | OMIT_EMPTY),
    full(&[], "scopes", 2, list(&OF_STRING), OMIT_EMPTY, None, &["BestEffort", "CrossNamespacePodAffinity", "NotBestEffort", "NotTerminating", "PriorityClass", "Terminating", "VolumeAttributesClass"], NO_PATCH),
];

pub(super) const RESOURCE_QUOTA_STATUS: Type = ty("io.k8s.api.core.v1.ResourceQuotaStatus", &RESOURCE_QUOTA_STATUS_FIELDS, 0);
static RESOURCE_QUOTA_STATUS_FIELDS: [Field; 2] = [
    f("hard", 1, map(&OF_QUANTITY), OMIT_EMPTY),
    f("used", 2, map(&OF_QUANTITY), OMIT_EMPTY),
];

pub(super) const RESOURCE_REQUIREMENTS: Type = ty("io.k8s.api.core.v1.ResourceRequirements", &RESOURCE_REQUIREMENTS_FIELDS, 0);
static RESOURCE_REQUIREMENTS_FIELDS: [Field; 3] = [
    f("claims", 3, assoc(&OF_CORE_V1_RESOURCE_CLAIM, &KEYS_CORE_V1_RESOURCE_CLAIM_NAME), OMIT_EMPTY),
    f("limits", 1, map(&OF_QUANTITY), OMIT_EMPTY),
    f("requests", 2, map(&OF_QUANTITY), OMIT_EMPTY),
];

pub(super) const RESOURCE_STATUS: Type = ty("io.k8s.api.core.v1.ResourceStatus", &RESOURCE_STATUS_FIELDS, 0);
static RESOURCE_STATUS_FIELDS: [Field; 2] = [
    f("name", 1, STRING, REQUIRED),
    f("resources", 2, assoc(&OF_CORE_V1_RESOURCE_HEALTH, &KEYS_CORE_V1_RESOURCE_HEALTH_RESOURCE_ID), OMIT_EMPTY),
];

pub(super) const SE_LINUX_OPTIONS: Type = ty("io.k8s.api.core.v1.SELinuxOptions", &SE_LINUX_OPTIONS_FIELDS, 0);
static SE_LINUX_OPTIONS_FIELDS: [Field; 4] = [
    f("level", 4, STRING, OMIT_EMPTY),
    f("role", 2, STRING, OMIT_EMPTY),
    f("type", 3, STRING, OMIT_EMPTY),
    f("user", 1, STRING, OMIT_EMPTY),
];

pub(super) const SCALE_IO_PERSISTENT_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.ScaleIOPersistentVolumeSource", &SCALE_IO_PERSISTENT_VOLUME_SOURCE_FIELDS, 0);
static SCALE_IO_PERSISTENT_VOLUME_SOURCE_FIELDS: [Field; 10] = [
    full(&[], "fsType", 9, STRING, OMIT_EMPTY, Some("\"xfs\""), &[], NO_PATCH),
    f("gateway", 1, STRING, REQUIRED),
    f("protectionDomain", 5, STRING, OMIT_EMPTY),
    f("readOnly", 10, BOOL, OMIT_EMPTY),
    f("secretRef", 3, obj(CORE_V1_SECRET_REFERENCE), REQUIRED | POINTER),
    f("sslEnabled", 4, BOOL, OMIT_EMPTY),
    full(&[], "storageMode", 7, STRING, OMIT_EMPTY, Some("\"ThinProvisioned\""), &[], NO_PATCH),
    f("storagePool", 6, STRING, OMIT_EMPTY),
    f("system", 2, STRING, REQUIRED),
    f("volumeName", 8, STRING, OMIT_EMPTY),
];

pub(super) const SCALE_IO_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.ScaleIOVolumeSource", &SCALE_IO_VOLUME_SOURCE_FIELDS, 0);
static SCALE_IO_VOLUME_SOURCE_FIELDS: [Field; 10] = [
    full(&[], "fsType", 9, STRING, OMIT_EMPTY, Some("\"xfs\""), &[], NO_PATCH),
    f("gateway", 1, STRING, REQUIRED),
    f("protectionDomain", 5, STRING, OMIT_EMPTY),
    f("readOnly", 10, BOOL, OMIT_EMPTY),
    f("secretRef", 3, obj(CORE_V1_LOCAL_OBJECT_REFERENCE), REQUIRED | POINTER),
    f("sslEnabled", 4, BOOL, OMIT_EMPTY),
    full(&[], "storageMode", 7, STRING, OMIT_EMPTY, Some("\"ThinProvisioned\""), &[], NO_PATCH),
    f("storagePool", 6, STRING, OMIT_EMPTY),
    f("system", 2, STRING, REQUIRED),
    f("volumeName", 8, STRING, OMIT_EMPTY),
];

pub(super) const SCOPE_SELECTOR: Type = ty("io.k8s.api.core.v1.ScopeSelector", &SCOPE_SELECTOR_FIELDS, ATOMIC);
static SCOPE_SELECTOR_FIELDS: [Field; 1] = [
    f("matchExpressions", 1, list(&OF_CORE_V1_SCOPED_RESOURCE_SELECTOR_REQUIREMENT), OMIT_EMPTY),
];

pub(super) const SCOPED_RESOURCE_SELECTOR_REQUIREMENT: Type = ty("io.k8s.api.core.v1.ScopedResourceSelectorRequirement", &SCOPED_RESOURCE_SELECTOR_REQUIREMENT_FIELDS, 0);
static SCOPED_RESOURCE_SELECTOR_REQUIREMENT_FIELDS: [Field; 3] = [
    full(&[], "operator", 2, STRING, REQUIRED, None, &["DoesNotExist", "Exists", "In", "NotIn"], NO_PATCH),
    full(&[], "scopeName", 1, STRING, REQUIRED, None, &["BestEffort", "CrossNamespacePodAffinity", "NotBestEffort", "NotTerminating", "PriorityClass", "Terminating", "VolumeAttributesClass"], NO_PATCH),
    f("values", 3, list(&OF_STRING), OMIT_EMPTY),
];

pub(super) const SECCOMP_PROFILE: Type = ty("io.k8s.api.core.v1.SeccompProfile", &SECCOMP_PROFILE_FIELDS, 0);
static SECCOMP_PROFILE_FIELDS: [Field; 2] = [
    f("localhostProfile", 2, STRING, POINTER | OMIT_EMPTY),
    full(&[], "type", 1, STRING, REQUIRED, None, &["Localhost", "RuntimeDefault", "Unconfined"], NO_PATCH),
];

pub(super) const SECRET: Type = ty("io.k8s.api.core.v1.Secret", &SECRET_FIELDS, 0);
static SECRET_FIELDS: [Field; 7] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("data", 2, map(&OF_BYTES), OMIT_EMPTY),
    f("immutable", 5, BOOL, POINTER | OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("stringData", 4, map(&OF_STRING), OMIT_EMPTY),
    f("type", 3, STRING, OMIT_EMPTY),
];

pub(super) const SECRET_ENV_SOURCE: Type = ty("io.k8s.api.core.v1.SecretEnvSource", &SECRET_ENV_SOURCE_FIELDS, 0);
static SECRET_ENV_SOURCE_FIELDS: [Field; 2] = [
    full(&[1], "name", 1, STRING, OMIT_EMPTY, Some("\"\""), &[], NO_PATCH),
    f("optional", 2, BOOL, POINTER | OMIT_EMPTY),
];

pub(super) const SECRET_KEY_SELECTOR: Type = ty("io.k8s.api.core.v1.SecretKeySelector", &SECRET_KEY_SELECTOR_FIELDS, ATOMIC);
static SECRET_KEY_SELECTOR_FIELDS: [Field; 3] = [
    f("key", 2, STRING, REQUIRED),
    full(&[1], "name", 1, STRING, OMIT_EMPTY, Some("\"\""), &[], NO_PATCH),
    f("optional", 3, BOOL, POINTER | OMIT_EMPTY),
];

pub(super) const SECRET_LIST: Type = ty("io.k8s.api.core.v1.SecretList", &SECRET_LIST_FIELDS, 0);
static SECRET_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_CORE_V1_SECRET), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const SECRET_PROJECTION: Type = ty("io.k8s.api.core.v1.SecretProjection", &SECRET_PROJECTION_FIELDS, 0);
static SECRET_PROJECTION_FIELDS: [Field; 3] = [
    f("items", 2, list(&OF_CORE_V1_KEY_TO_PATH), OMIT_EMPTY),
    full(&[1], "name", 1, STRING, OMIT_EMPTY, Some("\"\""), &[], NO_PATCH),
    f("optional", 4, BOOL, POINTER | OMIT_EMPTY),
];

pub(super) const SECRET_REFERENCE: Type = ty("io.k8s.api.core.v1.SecretReference", &SECRET_REFERENCE_FIELDS, ATOMIC);
static SECRET_REFERENCE_FIELDS: [Field; 2] = [
    f("name", 1, STRING, OMIT_EMPTY),
    f("namespace", 2, STRING, OMIT_EMPTY),
];

pub(super) const SECRET_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.SecretVolumeSource", &SECRET_VOLUME_SOURCE_FIELDS, 0);
static SECRET_VOLUME_SOURCE_FIELDS: [Field; 5] = [
    f("defaultMode", 3, INT32, POINTER | OMIT_EMPTY),
    f("defaultUser", 5, INT64, POINTER | OMIT_EMPTY),
    f("items", 2, list(&OF_CORE_V1_KEY_TO_PATH), OMIT_EMPTY),
    f("optional", 4, BOOL, POINTER | OMIT_EMPTY),
    f("secretName", 1, STRING, OMIT_EMPTY),
];

pub(super) const SECURITY_CONTEXT: Type = ty("io.k8s.api.core.v1.SecurityContext", &SECURITY_CONTEXT_FIELDS, 0);
static SECURITY_CONTEXT_FIELDS: [Field; 12] = [
    f("allowPrivilegeEscalation", 7, BOOL, POINTER | OMIT_EMPTY),
    f("appArmorProfile", 12, obj(CORE_V1_APP_ARMOR_PROFILE), POINTER | OMIT_EMPTY),
    f("capabilities", 1, obj(CORE_V1_CAPABILITIES), POINTER | OMIT_EMPTY),
    f("privileged", 2, BOOL, POINTER | OMIT_EMPTY),
    full(&[], "procMount", 9, STRING, POINTER | OMIT_EMPTY, None, &["Default", "Unmasked"], NO_PATCH),
    f("readOnlyRootFilesystem", 6, BOOL, POINTER | OMIT_EMPTY),
    f("runAsGroup", 8, INT64, POINTER | OMIT_EMPTY),
    f("runAsNonRoot", 5, BOOL, POINTER | OMIT_EMPTY),
    f("runAsUser", 4, INT64, POINTER | OMIT_EMPTY),
    f("seLinuxOptions", 3, obj(CORE_V1_SE_LINUX_OPTIONS), POINTER | OMIT_EMPTY),
    f("seccompProfile", 11, obj(CORE_V1_SECCOMP_PROFILE), POINTER | OMIT_EMPTY),
    f("windowsOptions", 10, obj(CORE_V1_WINDOWS_SECURITY_CONTEXT_OPTIONS), POINTER | OMIT_EMPTY),
];

pub(super) const SERVICE: Type = ty("io.k8s.api.core.v1.Service", &SERVICE_FIELDS, 0);
static SERVICE_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(CORE_V1_SERVICE_SPEC), OMIT_EMPTY),
    f("status", 3, obj(CORE_V1_SERVICE_STATUS), OMIT_EMPTY),
];

pub(super) const SERVICE_ACCOUNT: Type = ty("io.k8s.api.core.v1.ServiceAccount", &SERVICE_ACCOUNT_FIELDS, 0);
static SERVICE_ACCOUNT_FIELDS: [Field; 6] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("automountServiceAccountToken", 4, BOOL, POINTER | OMIT_EMPTY),
    f("imagePullSecrets", 3, list(&OF_CORE_V1_LOCAL_OBJECT_REFERENCE), OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    full(&[], "secrets", 2, assoc(&OF_CORE_V1_OBJECT_REFERENCE, &KEYS_CORE_V1_OBJECT_REFERENCE_NAME), OMIT_EMPTY, None, &[], merge_by("name")),
];

pub(super) const SERVICE_ACCOUNT_LIST: Type = ty("io.k8s.api.core.v1.ServiceAccountList", &SERVICE_ACCOUNT_LIST_FIELDS, 0);
static SERVICE_ACCOUNT_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_CORE_V1_SERVICE_ACCOUNT), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const SERVICE_ACCOUNT_TOKEN_PROJECTION: Type = ty("io.k8s.api.core.v1.ServiceAccountTokenProjection", &SERVICE_ACCOUNT_TOKEN_PROJECTION_FIELDS, 0);
static SERVICE_ACCOUNT_TOKEN_PROJECTION_FIELDS: [Field; 4] = [
    f("audience", 1, STRING, OMIT_EMPTY),
    f("expirationSeconds", 2, INT64, POINTER | OMIT_EMPTY),
    f("path", 3, STRING, REQUIRED),
    f("user", 4, INT64, POINTER | OMIT_EMPTY),
];

pub(super) const SERVICE_LIST: Type = ty("io.k8s.api.core.v1.ServiceList", &SERVICE_LIST_FIELDS, 0);
static SERVICE_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_CORE_V1_SERVICE), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const SERVICE_PORT: Type = ty("io.k8s.api.core.v1.ServicePort", &SERVICE_PORT_FIELDS, 0);
static SERVICE_PORT_FIELDS: [Field; 6] = [
    f("appProtocol", 6, STRING, POINTER | OMIT_EMPTY),
    f("name", 1, STRING, OMIT_EMPTY),
    f("nodePort", 5, INT32, OMIT_EMPTY),
    f("port", 3, INT32, REQUIRED),
    full(&[], "protocol", 2, STRING, OMIT_EMPTY, Some("\"TCP\""), &["SCTP", "TCP", "UDP"], NO_PATCH),
    f("targetPort", 4, INT_OR_STRING, OMIT_EMPTY),
];

pub(super) const SERVICE_SPEC: Type = ty("io.k8s.api.core.v1.ServiceSpec", &SERVICE_SPEC_FIELDS, 0);
static SERVICE_SPEC_FIELDS: [Field; 20] = [
    f("allocateLoadBalancerNodePorts", 20, BOOL, POINTER | OMIT_EMPTY),
    f("clusterIP", 3, STRING, OMIT_EMPTY),
    f("clusterIPs", 18, list(&OF_STRING), OMIT_EMPTY),
    f("externalIPs", 5, list(&OF_STRING), OMIT_EMPTY),
    f("externalName", 10, STRING, OMIT_EMPTY),
    full(&[], "externalTrafficPolicy", 11, STRING, OMIT_EMPTY, None, &["Cluster", "Local"], NO_PATCH),
    f("healthCheckNodePort", 12, INT32, OMIT_EMPTY),
    full(&[], "internalTrafficPolicy", 22, STRING, POINTER | OMIT_EMPTY, None, &["Cluster", "Local"], NO_PATCH),
    full(&[], "ipFamilies", 19, list(&OF_STRING), OMIT_EMPTY, None, &["", "IPv4", "IPv6"], NO_PATCH),
    full(&[], "ipFamilyPolicy", 17, STRING, POINTER | OMIT_EMPTY, None, &["PreferDualStack", "RequireDualStack", "SingleStack"], NO_PATCH),
    f("loadBalancerClass", 21, STRING, POINTER | OMIT_EMPTY),
    f("loadBalancerIP", 8, STRING, OMIT_EMPTY),
    f("loadBalancerSourceRanges", 9, list(&OF_STRING), OMIT_EMPTY),
    full(&[], "ports", 1, assoc(&OF_CORE_V1_SERVICE_PORT, &KEYS_CORE_V1_SERVICE_PORT_PORT_PROTOCOL), OMIT_EMPTY, None, &[], merge_by("port")),
    f("publishNotReadyAddresses", 13, BOOL, OMIT_EMPTY),
    f("selector", 2, atomic_map(&OF_STRING), OMIT_EMPTY),
    full(&[], "sessionAffinity", 7, STRING, OMIT_EMPTY, None, &["ClientIP", "None"], NO_PATCH),
    f("sessionAffinityConfig", 14, obj(CORE_V1_SESSION_AFFINITY_CONFIG), POINTER | OMIT_EMPTY),
    f("trafficDistribution", 23, STRING, POINTER | OMIT_EMPTY),
    full(&[], "type", 4, STRING, OMIT_EMPTY, None, &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"], NO_PATCH),
];

pub(super) const SERVICE_STATUS: Type = ty("io.k8s.api.core.v1.ServiceStatus", &SERVICE_STATUS_FIELDS, 0);
static SERVICE_STATUS_FIELDS: [Field; 2] = [
    full(&[], "conditions", 2, assoc(&OF_META_V1_CONDITION, &KEYS_META_V1_CONDITION_TYPE), OMIT_EMPTY, None, &[], merge_by("type")),
    f("loadBalancer", 1, obj(CORE_V1_LOAD_BALANCER_STATUS), OMIT_EMPTY),
];

pub(super) const SESSION_AFFINITY_CONFIG: Type = ty("io.k8s.api.core.v1.SessionAffinityConfig", &SESSION_AFFINITY_CONFIG_FIELDS, 0);
static SESSION_AFFINITY_CONFIG_FIELDS: [Field; 1] = [
    f("clientIP", 1, obj(CORE_V1_CLIENT_IP_CONFIG), POINTER | OMIT_EMPTY),
];

pub(super) const SLEEP_ACTION: Type = ty("io.k8s.api.core.v1.SleepAction", &SLEEP_ACTION_FIELDS, 0);
static SLEEP_ACTION_FIELDS: [Field; 1] = [
    f("seconds", 1, INT64, REQUIRED),
];

pub(super) const STORAGE_OS_PERSISTENT_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.StorageOSPersistentVolumeSource", &STORAGE_OS_PERSISTENT_VOLUME_SOURCE_FIELDS, 0);
static STORAGE_OS_PERSISTENT_VOLUME_SOURCE_FIELDS: [Field; 5] = [
    f("fsType", 3, STRING, OMIT_EMPTY),
    f("readOnly", 4, BOOL, OMIT_EMPTY),
    f("secretRef", 5, obj(CORE_V1_OBJECT_REFERENCE), POINTER | OMIT_EMPTY),
    f("volumeName", 1, STRING, OMIT_EMPTY),
    f("volumeNamespace", 2, STRING, OMIT_EMPTY),
];

pub(super) const STORAGE_OS_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.StorageOSVolumeSource", &STORAGE_OS_VOLUME_SOURCE_FIELDS, 0);
static STORAGE_OS_VOLUME_SOURCE_FIELDS: [Field; 5] = [
    f("fsType", 3, STRING, OMIT_EMPTY),
    f("readOnly", 4, BOOL, OMIT_EMPTY),
    f("secretRef", 5, obj(CORE_V1_LOCAL_OBJECT_REFERENCE), POINTER | OMIT_EMPTY),
    f("volumeName", 1, STRING, OMIT_EMPTY),
    f("volumeNamespace", 2, STRING, OMIT_EMPTY),
];

pub(super) const SYSCTL: Type = ty("io.k8s.api.core.v1.Sysctl", &SYSCTL_FIELDS, 0);
static SYSCTL_FIELDS: [Field; 2] = [
    f("name", 1, STRING, REQUIRED),
    f("value", 2, STRING, REQUIRED),
];

pub(super) const TCP_SOCKET_ACTION: Type = ty("io.k8s.api.core.v1.TCPSocketAction", &TCP_SOCKET_ACTION_FIELDS, 0);
static TCP_SOCKET_ACTION_FIELDS: [Field; 2] = [
    f("host", 2, STRING, OMIT_EMPTY),
    f("port", 1, INT_OR_STRING, REQUIRED),
];

pub(super) const TAINT: Type = ty("io.k8s.api.core.v1.Taint", &TAINT_FIELDS, 0);
static TAINT_FIELDS: [Field; 4] = [
    full(&[], "effect", 3, STRING, REQUIRED, None, &["NoExecute", "NoSchedule", "PreferNoSchedule"], NO_PATCH),
    f("key", 1, STRING, REQUIRED),
    f("timeAdded", 4, TIME, POINTER | OMIT_EMPTY),
    f("value", 2, STRING, OMIT_EMPTY),
];

pub(super) const TOLERATION: Type = ty("io.k8s.api.core.v1.Toleration", &TOLERATION_FIELDS, 0);
static TOLERATION_FIELDS: [Field; 5] = [
    full(&[], "effect", 4, STRING, OMIT_EMPTY, None, &["NoExecute", "NoSchedule", "PreferNoSchedule"], NO_PATCH),
    f("key", 1, STRING, OMIT_EMPTY),
    full(&[], "operator", 2, STRING, OMIT_EMPTY, None, &["Equal", "Exists", "Gt", "Lt"], NO_PATCH),
    f("tolerationSeconds", 5, INT64, POINTER | OMIT_EMPTY),
    f("value", 3, STRING, OMIT_EMPTY),
];

pub(super) const TOPOLOGY_SELECTOR_LABEL_REQUIREMENT: Type = ty("io.k8s.api.core.v1.TopologySelectorLabelRequirement", &TOPOLOGY_SELECTOR_LABEL_REQUIREMENT_FIELDS, 0);
static TOPOLOGY_SELECTOR_LABEL_REQUIREMENT_FIELDS: [Field; 2] = [
    f("key", 1, STRING, REQUIRED),
    f("values", 2, list(&OF_STRING), REQUIRED),
];

pub(super) const TOPOLOGY_SELECTOR_TERM: Type = ty("io.k8s.api.core.v1.TopologySelectorTerm", &TOPOLOGY_SELECTOR_TERM_FIELDS, ATOMIC);
static TOPOLOGY_SELECTOR_TERM_FIELDS: [Field; 1] = [
    f("matchLabelExpressions", 1, list(&OF_CORE_V1_TOPOLOGY_SELECTOR_LABEL_REQUIREMENT), OMIT_EMPTY),
];

pub(super) const TOPOLOGY_SPREAD_CONSTRAINT: Type = ty("io.k8s.api.core.v1.TopologySpreadConstraint", &TOPOLOGY_SPREAD_CONSTRAINT_FIELDS, 0);
static TOPOLOGY_SPREAD_CONSTRAINT_FIELDS: [Field; 8] = [
    f("labelSelector", 4, obj(META_V1_LABEL_SELECTOR), POINTER | OMIT_EMPTY),
    f("matchLabelKeys", 8, list(&OF_STRING), OMIT_EMPTY),
    f("maxSkew", 1, INT32, REQUIRED),
    f("minDomains", 5, INT32, POINTER | OMIT_EMPTY),
    full(&[], "nodeAffinityPolicy", 6, STRING, POINTER | OMIT_EMPTY, None, &["Honor", "Ignore"], NO_PATCH),
    full(&[], "nodeTaintsPolicy", 7, STRING, POINTER | OMIT_EMPTY, None, &["Honor", "Ignore"], NO_PATCH),
    f("topologyKey", 2, STRING, REQUIRED),
    full(&[], "whenUnsatisfiable", 3, STRING, REQUIRED, None, &["DoNotSchedule", "ScheduleAnyway"], NO_PATCH),
];

pub(super) const TYPED_LOCAL_OBJECT_REFERENCE: Type = ty("io.k8s.api.core.v1.TypedLocalObjectReference", &TYPED_LOCAL_OBJECT_REFERENCE_FIELDS, ATOMIC);
static TYPED_LOCAL_OBJECT_REFERENCE_FIELDS: [Field; 3] = [
    f("apiGroup", 1, STRING, POINTER),
    f("kind", 2, STRING, REQUIRED),
    f("name", 3, STRING, REQUIRED),
];

pub(super) const TYPED_OBJECT_REFERENCE: Type = ty("io.k8s.api.core.v1.TypedObjectReference", &TYPED_OBJECT_REFERENCE_FIELDS, 0);
static TYPED_OBJECT_REFERENCE_FIELDS: [Field; 4] = [
    f("apiGroup", 1, STRING, POINTER),
    f("kind", 2, STRING, REQUIRED),
    f("name", 3, STRING, REQUIRED),
    f("namespace", 4, STRING, POINTER | OMIT_EMPTY),
];

pub(super) const VOLUME: Type = ty("io.k8s.api.core.v1.Volume", &VOLUME_FIELDS, 0);
static VOLUME_FIELDS: [Field; 31] = [
    inlined(&[2], "awsElasticBlockStore", 4, obj(CORE_V1_AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "azureDisk", 22, obj(CORE_V1_AZURE_DISK_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "azureFile", 18, obj(CORE_V1_AZURE_FILE_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "cephfs", 14, obj(CORE_V1_CEPH_FS_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "cinder", 13, obj(CORE_V1_CINDER_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "configMap", 19, obj(CORE_V1_CONFIG_MAP_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "csi", 28, obj(CORE_V1_CSI_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "downwardAPI", 16, obj(CORE_V1_DOWNWARD_API_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "emptyDir", 2, obj(CORE_V1_EMPTY_DIR_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "ephemeral", 29, obj(CORE_V1_EPHEMERAL_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "fc", 17, obj(CORE_V1_FC_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "flexVolume", 12, obj(CORE_V1_FLEX_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "flocker", 15, obj(CORE_V1_FLOCKER_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "gcePersistentDisk", 3, obj(CORE_V1_GCE_PERSISTENT_DISK_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "gitRepo", 5, obj(CORE_V1_GIT_REPO_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "glusterfs", 9, obj(CORE_V1_GLUSTERFS_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "hostPath", 1, obj(CORE_V1_HOST_PATH_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "image", 30, obj(CORE_V1_IMAGE_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "iscsi", 8, obj(CORE_V1_ISCSI_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    f("name", 1, STRING, REQUIRED),
    inlined(&[2], "nfs", 7, obj(CORE_V1_NFS_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "persistentVolumeClaim", 10, obj(CORE_V1_PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "photonPersistentDisk", 23, obj(CORE_V1_PHOTON_PERSISTENT_DISK_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "portworxVolume", 24, obj(CORE_V1_PORTWORX_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "projected", 26, obj(CORE_V1_PROJECTED_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "quobyte", 21, obj(CORE_V1_QUOBYTE_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "rbd", 11, obj(CORE_V1_RBD_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "scaleIO", 25, obj(CORE_V1_SCALE_IO_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "secret", 6, obj(CORE_V1_SECRET_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "storageos", 27, obj(CORE_V1_STORAGE_OS_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
    inlined(&[2], "vsphereVolume", 20, obj(CORE_V1_VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE), POINTER | OMIT_EMPTY),
];

pub(super) const VOLUME_DEVICE: Type = ty("io.k8s.api.core.v1.VolumeDevice", &VOLUME_DEVICE_FIELDS, 0);
static VOLUME_DEVICE_FIELDS: [Field; 2] = [
    f("devicePath", 2, STRING, REQUIRED),
    f("name", 1, STRING, REQUIRED),
];

pub(super) const VOLUME_HEALTH_CONDITION: Type = ty("io.k8s.api.core.v1.VolumeHealthCondition", &VOLUME_HEALTH_CONDITION_FIELDS, 0);
static VOLUME_HEALTH_CONDITION_FIELDS: [Field; 3] = [
    f("message", 3, STRING, OMIT_EMPTY),
    f("reason", 2, STRING, REQUIRED),
    full(&[], "status", 1, STRING, REQUIRED, None, &["DataLoss", "Degraded", "Inaccessible"], NO_PATCH),
];

pub(super) const VOLUME_HEALTH_STATUS: Type = ty("io.k8s.api.core.v1.VolumeHealthStatus", &VOLUME_HEALTH_STATUS_FIELDS, 0);
static VOLUME_HEALTH_STATUS_FIELDS: [Field; 2] = [
    full(&[], "healthConditions", 1, assoc(&OF_CORE_V1_VOLUME_HEALTH_CONDITION, &KEYS_CORE_V1_VOLUME_HEALTH_CONDITION_STATUS_REASON), OMIT_EMPTY, None, &[], merge_by("status")),
    f("lastTransitionTime", 2, TIME, OMIT_EMPTY),
];

pub(super) const VOLUME_MOUNT: Type = ty("io.k8s.api.core.v1.VolumeMount", &VOLUME_MOUNT_FIELDS, 0);
static VOLUME_MOUNT_FIELDS: [Field; 8] = [
    f("bindMountOptions", 8, set(&OF_STRING), OMIT_EMPTY),
    f("mountPath", 3, STRING, REQUIRED),
    full(&[], "mountPropagation", 5, STRING, POINTER | OMIT_EMPTY, None, &["Bidirectional", "HostToContainer", "None"], NO_PATCH),
    f("name", 1, STRING, REQUIRED),
    f("readOnly", 2, BOOL, OMIT_EMPTY),
    f("recursiveReadOnly", 7, STRING, POINTER | OMIT_EMPTY),
    f("subPath", 4, STRING, OMIT_EMPTY),
    f("subPathExpr", 6, STRING, OMIT_EMPTY),
];

pub(super) const VOLUME_MOUNT_STATUS: Type = ty("io.k8s.api.core.v1.VolumeMountStatus", &VOLUME_MOUNT_STATUS_FIELDS, 0);
static VOLUME_MOUNT_STATUS_FIELDS: [Field; 5] = [
    f("mountPath", 2, STRING, REQUIRED),
    f("name", 1, STRING, REQUIRED),
    f("readOnly", 3, BOOL, OMIT_EMPTY),
    f("recursiveReadOnly", 4, STRING, POINTER | OMIT_EMPTY),
    f("volumeStatus", 5, obj(CORE_V1_VOLUME_STATUS), POINTER | OMIT_EMPTY),
];

pub(super) const VOLUME_NODE_AFFINITY: Type = ty("io.k8s.api.core.v1.VolumeNodeAffinity", &VOLUME_NODE_AFFINITY_FIELDS, 0);
static VOLUME_NODE_AFFINITY_FIELDS: [Field; 1] = [
    f("required", 1, obj(CORE_V1_NODE_SELECTOR), POINTER | OMIT_EMPTY),
];

pub(super) const VOLUME_PROJECTION: Type = ty("io.k8s.api.core.v1.VolumeProjection", &VOLUME_PROJECTION_FIELDS, 0);
static VOLUME_PROJECTION_FIELDS: [Field; 6] = [
    f("clusterTrustBundle", 5, obj(CORE_V1_CLUSTER_TRUST_BUNDLE_PROJECTION), POINTER | OMIT_EMPTY),
    f("configMap", 3, obj(CORE_V1_CONFIG_MAP_PROJECTION), POINTER | OMIT_EMPTY),
    f("downwardAPI", 2, obj(CORE_V1_DOWNWARD_API_PROJECTION), POINTER | OMIT_EMPTY),
    f("podCertificate", 6, obj(CORE_V1_POD_CERTIFICATE_PROJECTION), POINTER | OMIT_EMPTY),
    f("secret", 1, obj(CORE_V1_SECRET_PROJECTION), POINTER | OMIT_EMPTY),
    f("serviceAccountToken", 4, obj(CORE_V1_SERVICE_ACCOUNT_TOKEN_PROJECTION), POINTER | OMIT_EMPTY),
];

pub(super) const VOLUME_RESOURCE_REQUIREMENTS: Type = ty("io.k8s.api.core.v1.VolumeResourceRequirements", &VOLUME_RESOURCE_REQUIREMENTS_FIELDS, 0);
static VOLUME_RESOURCE_REQUIREMENTS_FIELDS: [Field; 2] = [
    f("limits", 1, map(&OF_QUANTITY), OMIT_EMPTY),
    f("requests", 2, map(&OF_QUANTITY), OMIT_EMPTY),
];

pub(super) const VOLUME_STATUS: Type = ty("io.k8s.api.core.v1.VolumeStatus", &VOLUME_STATUS_FIELDS, 0);
static VOLUME_STATUS_FIELDS: [Field; 1] = [
    f("image", 1, obj(CORE_V1_IMAGE_VOLUME_STATUS), POINTER | OMIT_EMPTY),
];

pub(super) const VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE: Type = ty("io.k8s.api.core.v1.VsphereVirtualDiskVolumeSource", &VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE_FIELDS, 0);
static VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE_FIELDS: [Field; 4] = [
    f("fsType", 2, STRING, OMIT_EMPTY),
    f("storagePolicyID", 4, STRING, OMIT_EMPTY),
    f("storagePolicyName", 3, STRING, OMIT_EMPTY),
    f("volumePath", 1, STRING, REQUIRED),
];

pub(super) const WEIGHTED_POD_AFFINITY_TERM: Type = ty("io.k8s.api.core.v1.WeightedPodAffinityTerm", &WEIGHTED_POD_AFFINITY_TERM_FIELDS, 0);
static WEIGHTED_POD_AFFINITY_TERM_FIELDS: [Field; 2] = [
    f("podAffinityTerm", 2, obj(CORE_V1_POD_AFFINITY_TERM), REQUIRED),
    f("weight", 1, INT32, REQUIRED),
];

pub(super) const WINDOWS_SECURITY_CONTEXT_OPTIONS: Type = ty("io.k8s.api.core.v1.WindowsSecurityContextOptions", &WINDOWS_SECURITY_CONTEXT_OPTIONS_FIELDS, 0);
static WINDOWS_SECURITY_CONTEXT_OPTIONS_FIELDS: [Field; 4] = [
    f("gmsaCredentialSpec", 2, STRING, POINTER | OMIT_EMPTY),
    f("gmsaCredentialSpecName", 1, STRING, POINTER | OMIT_EMPTY),
    f("hostProcess", 4, BOOL, POINTER | OMIT_EMPTY),
    f("runAsUserName", 3, STRING, POINTER | OMIT_EMPTY),
];
