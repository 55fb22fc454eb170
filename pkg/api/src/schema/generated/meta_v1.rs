//! Types of package `meta_v1`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static KEYS_META_V1_OWNER_REFERENCE_UID: [Key; 1] = [key("uid", Some("\"\""))];
static OF_META_V1_API_GROUP: Shape = obj(META_V1_API_GROUP);
static OF_META_V1_API_RESOURCE: Shape = obj(META_V1_API_RESOURCE);
static OF_META_V1_GROUP_VERSION_FOR_DISCOVERY: Shape = obj(META_V1_GROUP_VERSION_FOR_DISCOVERY);
static OF_META_V1_LABEL_SELECTOR_REQUIREMENT: Shape = obj(META_V1_LABEL_SELECTOR_REQUIREMENT);
static OF_META_V1_MANAGED_FIELDS_ENTRY: Shape = obj(META_V1_MANAGED_FIELDS_ENTRY);
static OF_META_V1_OWNER_REFERENCE: Shape = obj(META_V1_OWNER_REFERENCE);
static OF_META_V1_SERVER_ADDRESS_BY_CLIENT_CIDR: Shape = obj(META_V1_SERVER_ADDRESS_BY_CLIENT_CIDR);
static OF_META_V1_STATUS_CAUSE: Shape = obj(META_V1_STATUS_CAUSE);
static OF_STRING: Shape = STRING;

pub(super) const API_GROUP: Type = ty("io.k8s.apimachinery.pkg.apis.meta.v1.APIGroup", &API_GROUP_FIELDS, 0);
static API_GROUP_FIELDS: [Field; 6] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("name", 1, STRING, REQUIRED),
    f("preferredVersion", 3, obj(META_V1_GROUP_VERSION_FOR_DISCOVERY), OMIT_EMPTY),
    f("serverAddressByClientCIDRs", 4, list(&OF_META_V1_SERVER_ADDRESS_BY_CLIENT_CIDR), OMIT_EMPTY),
    f("versions", 2, list(&OF_META_V1_GROUP_VERSION_FOR_DISCOVERY), REQUIRED),
];

pub(super) const API_GROUP_LIST: Type = ty("io.k8s.apimachinery.pkg.apis.meta.v1.APIGroupList", &API_GROUP_LIST_FIELDS, 0);
static API_GROUP_LIST_FIELDS: [Field; 3] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("groups", 1, list(&OF_META_V1_API_GROUP), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
];

pub(super) const API_RESOURCE: Type = ty("io.k8s.apimachinery.pkg.apis.meta.v1.APIResource", &API_RESOURCE_FIELDS, 0);
static API_RESOURCE_FIELDS: [Field; 10] = [
    f("categories", 7, list(&OF_STRING), OMIT_EMPTY),
    f("group", 8, STRING, OMIT_EMPTY),
    f("kind", 3, STRING, REQUIRED),
    f("name", 1, STRING, REQUIRED),
    f("namespaced", 2, BOOL, REQUIRED),
    f("shortNames", 5, list(&OF_STRING), OMIT_EMPTY),
    f("singularName", 6, STRING, REQUIRED),
    f("storageVersionHash", 10, STRING, OMIT_EMPTY),
    f("verbs", 4, list(&OF_STRING), REQUIRED),
    f("version", 9, STRING, OMIT_EMPTY),
];

pub(super) const API_RESOURCE_LIST: Type = ty("io.k8s.apimachinery.pkg.apis.meta.v1.APIResourceList", &API_RESOURCE_LIST_FIELDS, 0);
static API_RESOURCE_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("groupVersion", 1, STRING, REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("resources", 2, list(&OF_META_V1_API_RESOURCE), REQUIRED),
];

pub(super) const API_VERSIONS: Type = ty("io.k8s.apimachinery.pkg.apis.meta.v1.APIVersions", &API_VERSIONS_FIELDS, 0);
static API_VERSIONS_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("serverAddressByClientCIDRs", 2, list(&OF_META_V1_SERVER_ADDRESS_BY_CLIENT_CIDR), REQUIRED),
    f("versions", 1, list(&OF_STRING), REQUIRED),
];

pub(super) const CONDITION: Type = ty("io.k8s.apimachinery.pkg.apis.meta.v1.Condition", &CONDITION_FIELDS, 0);
static CONDITION_FIELDS: [Field; 6] = [
    f("lastTransitionTime", 4, TIME, REQUIRED),
    f("message", 6, STRING, REQUIRED),
    f("observedGeneration", 3, INT64, OMIT_EMPTY),
    f("reason", 5, STRING, REQUIRED),
    f("status", 2, STRING, REQUIRED),
    f("type", 1, STRING, REQUIRED),
];

pub(super) const DELETE_OPTIONS: Type = ty("io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions", &DELETE_OPTIONS_FIELDS, 0);
static DELETE_OPTIONS_FIELDS: [Field; 8] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("dryRun", 5, list(&OF_STRING), OMIT_EMPTY),
    f("gracePeriodSeconds", 1, INT64, POINTER | OMIT_EMPTY),
    f("ignoreStoreReadErrorWithClusterBreakingPotential", 6, BOOL, POINTER | OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("orphanDependents", 3, BOOL, POINTER | OMIT_EMPTY),
    f("preconditions", 2, obj(META_V1_PRECONDITIONS), POINTER | OMIT_EMPTY),
    f("propagationPolicy", 4, STRING, POINTER | OMIT_EMPTY),
];

pub(super) const FIELD_SELECTOR_REQUIREMENT: Type = ty("io.k8s.apimachinery.pkg.apis.meta.v1.FieldSelectorRequirement", &FIELD_SELECTOR_REQUIREMENT_FIELDS, 0);
static FIELD_SELECTOR_REQUIREMENT_FIELDS: [Field; 3] = [
    f("key", 1, STRING, REQUIRED),
    f("operator", 2, STRING, REQUIRED),
    f("values", 3, list(&OF_STRING), OMIT_EMPTY),
];

pub(super) const GROUP_RESOURCE: Type = ty("io.k8s.apimachinery.pkg.apis.meta.v1.GroupResource", &GROUP_RESOURCE_FIELDS, 0);
static GROUP_RESOURCE_FIELDS: [Field; 2] = [
    f("group", 1, STRING, REQUIRED),
    f("resource", 2, STRING, REQUIRED),
];

pub(super) const GROUP_VERSION_FOR_DISCOVERY: Type = ty("io.k8s.apimachinery.pkg.apis.meta.v1.GroupVersionForDiscovery", &GROUP_VERSION_FOR_DISCOVERY_FIELDS, 0);
static GROUP_VERSION_FOR_DISCOVERY_FIELDS: [Field; 2] = [
    f("groupVersion", 1, STRING, REQUIRED),
    f("version", 2, STRING, REQUIRED),
];

pub(super) const LABEL_SELECTOR: Type = ty("io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector", &LABEL_SELECTOR_FIELDS, ATOMIC);
static LABEL_SELECTOR_FIELDS: [Field; 2] = [
    f("matchExpressions", 2, list(&OF_META_V1_LABEL_SELECTOR_REQUIREMENT), OMIT_EMPTY),
    f("matchLabels", 1, map(&OF_STRING), OMIT_EMPTY),
];

pub(super) const LABEL_SELECTOR_REQUIREMENT: Type = ty("io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement", &LABEL_SELECTOR_REQUIREMENT_FIELDS, 0);
static LABEL_SELECTOR_REQUIREMENT_FIELDS: [Field; 3] = [
    f("key", 1, STRING, REQUIRED),
    f("operator", 2, STRING, REQUIRED),
    f("values", 3, list(&OF_STRING), OMIT_EMPTY),
];

pub(super) const LIST_META: Type = ty("io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta", &LIST_META_FIELDS, 0);
static LIST_META_FIELDS: [Field; 5] = [
    f("continue", 3, STRING, OMIT_EMPTY),
    f("remainingItemCount", 4, INT64, POINTER | OMIT_EMPTY),
    f("resourceVersion", 2, STRING, OMIT_EMPTY),
    f("selfLink", 1, STRING, OMIT_EMPTY),
    f("shardInfo", 5, obj(META_V1_SHARD_INFO), POINTER | OMIT_EMPTY),
];

pub(super) const MANAGED_FIELDS_ENTRY: Type = ty("io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry", &MANAGED_FIELDS_ENTRY_FIELDS, 0);
static MANAGED_FIELDS_ENTRY_FIELDS: [Field; 7] = [
    f("apiVersion", 3, STRING, OMIT_EMPTY),
    f("fieldsType", 6, STRING, OMIT_EMPTY),
    f("fieldsV1", 7, ANY, POINTER | OMIT_EMPTY),
    f("manager", 1, STRING, OMIT_EMPTY),
    f("operation", 2, STRING, OMIT_EMPTY),
    f("subresource", 8, STRING, OMIT_EMPTY),
    f("time", 4, TIME, POINTER | OMIT_EMPTY),
];

pub(super) const OBJECT_META: Type = ty("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", &OBJECT_META_FIELDS, 0);
static OBJECT_META_FIELDS: [Field; 15] = [
    f("annotations", 12, map(&OF_STRING), OMIT_EMPTY),
    f("creationTimestamp", 8, TIME, OMIT_EMPTY | OMIT_ZERO),
    f("deletionGracePeriodSeconds", 10, INT64, POINTER | OMIT_EMPTY),
    f("deletionTimestamp", 9, TIME, POINTER | OMIT_EMPTY),
    full(&[], "finalizers", 14, set(&OF_STRING), OMIT_EMPTY, None, &[], MERGE),
    f("generateName", 2, STRING, OMIT_EMPTY),
    f("generation", 7, INT64, OMIT_EMPTY),
    f("labels", 11, map(&OF_STRING), OMIT_EMPTY),
    f("managedFields", 17, list(&OF_META_V1_MANAGED_FIELDS_ENTRY), OMIT_EMPTY),
    f("name", 1, STRING, OMIT_EMPTY),
    f("namespace", 3, STRING, OMIT_EMPTY),
    full(&[], "ownerReferences", 13, assoc(&OF_META_V1_OWNER_REFERENCE, &KEYS_META_V1_OWNER_REFERENCE_UID), OMIT_EMPTY, None, &[], merge_by("uid")),
    f("resourceVersion", 6, STRING, OMIT_EMPTY),
    f("selfLink", 4, STRING, OMIT_EMPTY),
    f("uid", 5, STRING, OMIT_EMPTY),
];

pub(super) const OWNER_REFERENCE: Type = ty("io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference", &OWNER_REFERENCE_FIELDS, ATOMIC);
static OWNER_REFERENCE_FIELDS: [Field; 6] = [
    f("apiVersion", 5, STRING, REQUIRED),
    f("blockOwnerDeletion", 7, BOOL, POINTER | OMIT_EMPTY),
    f("controller", 6, BOOL, POINTER | OMIT_EMPTY),
    f("kind", 1, STRING, REQUIRED),
    f("name", 3, STRING, REQUIRED),
    f("uid", 4, STRING, REQUIRED),
];

pub(super) const PRECONDITIONS: Type = ty("io.k8s.apimachinery.pkg.apis.meta.v1.Preconditions", &PRECONDITIONS_FIELDS, 0);
static PRECONDITIONS_FIELDS: [Field; 2] = [
    f("resourceVersion", 2, STRING, POINTER | OMIT_EMPTY),
    f("uid", 1, STRING, POINTER | OMIT_EMPTY),
];

pub(super) const SERVER_ADDRESS_BY_CLIENT_CIDR: Type = ty("io.k8s.apimachinery.pkg.apis.meta.v1.ServerAddressByClientCIDR", &SERVER_ADDRESS_BY_CLIENT_CIDR_FIELDS, 0);
static SERVER_ADDRESS_BY_CLIENT_CIDR_FIELDS: [Field; 2] = [
    f("clientCIDR", 1, STRING, REQUIRED),
    f("serverAddress", 2, STRING, REQUIRED),
];

pub(super) const SHARD_INFO: Type = ty("io.k8s.apimachinery.pkg.apis.meta.v1.ShardInfo", &SHARD_INFO_FIELDS, 0);
static SHARD_INFO_FIELDS: [Field; 1] = [
    f("selector", 1, STRING, REQUIRED),
];

pub(super) const STATUS: Type = ty("io.k8s.apimachinery.pkg.apis.meta.v1.Status", &STATUS_FIELDS, 0);
static STATUS_FIELDS: [Field; 8] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("code", 6, INT32, OMIT_EMPTY),
    f("details", 5, obj(META_V1_STATUS_DETAILS), POINTER | OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("message", 3, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
    f("reason", 4, STRING, OMIT_EMPTY),
    f("status", 2, STRING, OMIT_EMPTY),
];

pub(super) const STATUS_CAUSE: Type = ty("io.k8s.apimachinery.pkg.apis.meta.v1.StatusCause", &STATUS_CAUSE_FIELDS, 0);
static STATUS_CAUSE_FIELDS: [Field; 3] = [
    f("field", 3, STRING, OMIT_EMPTY),
    f("message", 2, STRING, OMIT_EMPTY),
    f("reason", 1, STRING, OMIT_EMPTY),
];

pub(super) const STATUS_DETAILS: Type = ty("io.k8s.apimachinery.pkg.apis.meta.v1.StatusDetails", &STATUS_DETAILS_FIELDS, 0);
static STATUS_DETAILS_FIELDS: [Field; 6] = [
    f("causes", 4, list(&OF_META_V1_STATUS_CAUSE), OMIT_EMPTY),
    f("group", 2, STRING, OMIT_EMPTY),
    f("kind", 3, STRING, OMIT_EMPTY),
    f("name", 1, STRING, OMIT_EMPTY),
    f("retryAfterSeconds", 5, INT32, OMIT_EMPTY),
    f("uid", 6, STRING, OMIT_EMPTY),
];

pub(super) const WATCH_EVENT: Type = ty("io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent", &WATCH_EVENT_FIELDS, 0);
static WATCH_EVENT_FIELDS: [Field; 2] = [
    f("object", 2, ANY, REQUIRED),
    f("type", 1, STRING, REQUIRED),
];
