//! Types of package `apps_v1`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static KEYS_APPS_V1_DAEMON_SET_CONDITION_TYPE: [Key; 1] = [key("type", Some("\"\""))];
static KEYS_APPS_V1_DEPLOYMENT_CONDITION_TYPE: [Key; 1] = [key("type", Some("\"\""))];
static KEYS_APPS_V1_REPLICA_SET_CONDITION_TYPE: [Key; 1] = [key("type", Some("\"\""))];
static KEYS_APPS_V1_STATEFUL_SET_CONDITION_TYPE: [Key; 1] = [key("type", Some("\"\""))];
static OF_APPS_V1_CONTROLLER_REVISION: Shape = obj(APPS_V1_CONTROLLER_REVISION);
static OF_APPS_V1_DAEMON_SET: Shape = obj(APPS_V1_DAEMON_SET);
static OF_APPS_V1_DAEMON_SET_CONDITION: Shape = obj(APPS_V1_DAEMON_SET_CONDITION);
static OF_APPS_V1_DEPLOYMENT: Shape = obj(APPS_V1_DEPLOYMENT);
static OF_APPS_V1_DEPLOYMENT_CONDITION: Shape = obj(APPS_V1_DEPLOYMENT_CONDITION);
static OF_APPS_V1_REPLICA_SET: Shape = obj(APPS_V1_REPLICA_SET);
static OF_APPS_V1_REPLICA_SET_CONDITION: Shape = obj(APPS_V1_REPLICA_SET_CONDITION);
static OF_APPS_V1_STATEFUL_SET: Shape = obj(APPS_V1_STATEFUL_SET);
static OF_APPS_V1_STATEFUL_SET_CONDITION: Shape = obj(APPS_V1_STATEFUL_SET_CONDITION);
static OF_CORE_V1_PERSISTENT_VOLUME_CLAIM: Shape = obj(CORE_V1_PERSISTENT_VOLUME_CLAIM);

pub(super) const CONTROLLER_REVISION: Type = ty("io.k8s.api.apps.v1.ControllerRevision", &CONTROLLER_REVISION_FIELDS, 0);
static CONTROLLER_REVISION_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("data", 2, ANY, REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("revision", 3, INT64, 0),
];

pub(super) const CONTROLLER_REVISION_LIST: Type = ty("io.k8s.api.apps.v1.ControllerRevisionList", &CONTROLLER_REVISION_LIST_FIELDS, 0);
static CONTROLLER_REVISION_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_APPS_V1_CONTROLLER_REVISION), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const DAEMON_SET: Type = ty("io.k8s.api.apps.v1.DaemonSet", &DAEMON_SET_FIELDS, 0);
static DAEMON_SET_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(APPS_V1_DAEMON_SET_SPEC), REQUIRED | OMIT_EMPTY),
    f("status", 3, obj(APPS_V1_DAEMON_SET_STATUS), OMIT_EMPTY),
];

pub(super) const DAEMON_SET_CONDITION: Type = ty("io.k8s.api.apps.v1.DaemonSetCondition", &DAEMON_SET_CONDITION_FIELDS, 0);
static DAEMON_SET_CONDITION_FIELDS: [Field; 5] = [
    f("lastTransitionTime", 3, TIME, OMIT_EMPTY),
    f("message", 5, STRING, OMIT_EMPTY),
    f("reason", 4, STRING, OMIT_EMPTY),
    f("status", 2, STRING, 0),
    f("type", 1, STRING, 0),
];

pub(super) const DAEMON_SET_LIST: Type = ty("io.k8s.api.apps.v1.DaemonSetList", &DAEMON_SET_LIST_FIELDS, 0);
static DAEMON_SET_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_APPS_V1_DAEMON_SET), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const DAEMON_SET_SPEC: Type = ty("io.k8s.api.apps.v1.DaemonSetSpec", &DAEMON_SET_SPEC_FIELDS, 0);
static DAEMON_SET_SPEC_FIELDS: [Field; 5] = [
    f("minReadySeconds", 4, INT32, OMIT_EMPTY),
    f("revisionHistoryLimit", 6, INT32, POINTER | OMIT_EMPTY),
    f("selector", 1, obj(META_V1_LABEL_SELECTOR), REQUIRED | POINTER),
    f("template", 2, obj(CORE_V1_POD_TEMPLATE_SPEC), REQUIRED),
    f("updateStrategy", 3, obj(APPS_V1_DAEMON_SET_UPDATE_STRATEGY), OMIT_EMPTY),
];

pub(super) const DAEMON_SET_STATUS: Type = ty("io.k8s.api.apps.v1.DaemonSetStatus", &DAEMON_SET_STATUS_FIELDS, 0);
static DAEMON_SET_STATUS_FIELDS: [Field; 10] = [
    f("collisionCount", 9, INT32, POINTER | OMIT_EMPTY),
    full(&[], "conditions", 10, assoc(&OF_APPS_V1_DAEMON_SET_CONDITION, &KEYS_APPS_V1_DAEMON_SET_CONDITION_TYPE), OMIT_EMPTY, None, &[], merge_by("type")),
    f("currentNumberScheduled", 1, INT32, REQUIRED),
    f("desiredNumberScheduled", 3, INT32, REQUIRED),
    f("numberAvailable", 7, INT32, OMIT_EMPTY),
    f("numberMisscheduled", 2, INT32, REQUIRED),
    f("numberReady", 4, INT32, REQUIRED),
    f("numberUnavailable", 8, INT32, OMIT_EMPTY),
    f("observedGeneration", 5, INT64, OMIT_EMPTY),
    f("updatedNumberScheduled", 6, INT32, OMIT_EMPTY),
];

pub(super) const DAEMON_SET_UPDATE_STRATEGY: Type = ty("io.k8s.api.apps.v1.DaemonSetUpdateStrategy", &DAEMON_SET_UPDATE_STRATEGY_FIELDS, 0);
static DAEMON_SET_UPDATE_STRATEGY_FIELDS: [Field; 2] = [
    f("rollingUpdate", 2, obj(APPS_V1_ROLLING_UPDATE_DAEMON_SET), POINTER | OMIT_EMPTY),
    full(&[], "type", 1, STRING, OMIT_EMPTY, None, &["OnDelete", "RollingUpdate"], NO_PATCH),
];

pub(super) const DEPLOYMENT: Type = ty("io.k8s.api.apps.v1.Deployment", &DEPLOYMENT_FIELDS, 0);
static DEPLOYMENT_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(APPS_V1_DEPLOYMENT_SPEC), REQUIRED | OMIT_EMPTY),
    f("status", 3, obj(APPS_V1_DEPLOYMENT_STATUS), OMIT_EMPTY),
];

pub(super) const DEPLOYMENT_CONDITION: Type = ty("io.k8s.api.apps.v1.DeploymentCondition", &DEPLOYMENT_CONDITION_FIELDS, 0);
static DEPLOYMENT_CONDITION_FIELDS: [Field; 6] = [
    f("lastTransitionTime", 7, TIME, OMIT_EMPTY),
    f("lastUpdateTime", 6, TIME, OMIT_EMPTY),
    f("message", 5, STRING, OMIT_EMPTY),
    f("reason", 4, STRING, OMIT_EMPTY),
    f("status", 2, STRING, 0),
    f("type", 1, STRING, 0),
];

pub(super) const DEPLOYMENT_LIST: Type = ty("io.k8s.api.apps.v1.DeploymentList", &DEPLOYMENT_LIST_FIELDS, 0);
static DEPLOYMENT_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_APPS_V1_DEPLOYMENT), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const DEPLOYMENT_SPEC: Type = ty("io.k8s.api.apps.v1.DeploymentSpec", &DEPLOYMENT_SPEC_FIELDS, 0);
static DEPLOYMENT_SPEC_FIELDS: [Field; 8] = [
    f("minReadySeconds", 5, INT32, OMIT_EMPTY),
    f("paused", 7, BOOL, OMIT_EMPTY),
    f("progressDeadlineSeconds", 9, INT32, POINTER | OMIT_EMPTY),
    f("replicas", 1, INT32, POINTER | OMIT_EMPTY),
    f("revisionHistoryLimit", 6, INT32, POINTER | OMIT_EMPTY),
    f("selector", 2, obj(META_V1_LABEL_SELECTOR), REQUIRED | POINTER),
    full(&[], "strategy", 4, obj(APPS_V1_DEPLOYMENT_STRATEGY), OMIT_EMPTY, None, &[], RETAIN_KEYS),
    f("template", 3, obj(CORE_V1_POD_TEMPLATE_SPEC), REQUIRED),
];

pub(super) const DEPLOYMENT_STATUS: Type = ty("io.k8s.api.apps.v1.DeploymentStatus", &DEPLOYMENT_STATUS_FIELDS, 0);
static DEPLOYMENT_STATUS_FIELDS: [Field; 9] = [
    f("availableReplicas", 4, INT32, OMIT_EMPTY),
    f("collisionCount", 8, INT32, POINTER | OMIT_EMPTY),
    full(&[], "conditions", 6, assoc(&OF_APPS_V1_DEPLOYMENT_CONDITION, &KEYS_APPS_V1_DEPLOYMENT_CONDITION_TYPE), OMIT_EMPTY, None, &[], merge_by("type")),
    f("observedGeneration", 1, INT64, OMIT_EMPTY),
    f("readyReplicas", 7, INT32, OMIT_EMPTY),
    f("replicas", 2, INT32, OMIT_EMPTY),
    f("terminatingReplicas", 9, INT32, POINTER | OMIT_EMPTY),
    f("unavailableReplicas", 5, INT32, OMIT_EMPTY),
    f("updatedReplicas", 3, INT32, OMIT_EMPTY),
];

pub(super) const DEPLOYMENT_STRATEGY: Type = ty("io.k8s.api.apps.v1.DeploymentStrategy", &DEPLOYMENT_STRATEGY_FIELDS, 0);
static DEPLOYMENT_STRATEGY_FIELDS: [Field; 2] = [
    f("rollingUpdate", 2, obj(APPS_V1_ROLLING_UPDATE_DEPLOYMENT), POINTER | OMIT_EMPTY),
    full(&[], "type", 1, STRING, OMIT_EMPTY, None, &["Recreate", "RollingUpdate"], NO_PATCH),
];

pub(super) const REPLICA_SET: Type = ty("io.k8s.api.apps.v1.ReplicaSet", &REPLICA_SET_FIELDS, 0);
static REPLICA_SET_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(APPS_V1_REPLICA_SET_SPEC), REQUIRED | OMIT_EMPTY),
    f("status", 3, obj(APPS_V1_REPLICA_SET_STATUS), OMIT_EMPTY),
];

pub(super) const REPLICA_SET_CONDITION: Type = ty("io.k8s.api.apps.v1.ReplicaSetCondition", &REPLICA_SET_CONDITION_FIELDS, 0);
static REPLICA_SET_CONDITION_FIELDS: [Field; 5] = [
    f("lastTransitionTime", 3, TIME, OMIT_EMPTY),
    f("message", 5, STRING, OMIT_EMPTY),
    f("reason", 4, STRING, OMIT_EMPTY),
    f("status", 2, STRING, 0),
    f("type", 1, STRING, 0),
];

pub(super) const REPLICA_SET_LIST: Type = ty("io.k8s.api.apps.v1.ReplicaSetList", &REPLICA_SET_LIST_FIELDS, 0);
static REPLICA_SET_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_APPS_V1_REPLICA_SET), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const REPLICA_SET_SPEC: Type = ty("io.k8s.api.apps.v1.ReplicaSetSpec", &REPLICA_SET_SPEC_FIELDS, 0);
static REPLICA_SET_SPEC_FIELDS: [Field; 4] = [
    f("minReadySeconds", 4, INT32, OMIT_EMPTY),
    f("replicas", 1, INT32, POINTER | OMIT_EMPTY),
    f("selector", 2, obj(META_V1_LABEL_SELECTOR), REQUIRED | POINTER),
    f("template", 3, obj(CORE_V1_POD_TEMPLATE_SPEC), OMIT_EMPTY),
];

pub(super) const REPLICA_SET_STATUS: Type = ty("io.k8s.api.apps.v1.ReplicaSetStatus", &REPLICA_SET_STATUS_FIELDS, 0);
static REPLICA_SET_STATUS_FIELDS: [Field; 7] = [
    f("availableReplicas", 5, INT32, OMIT_EMPTY),
    full(&[], "conditions", 6, assoc(&OF_APPS_V1_REPLICA_SET_CONDITION, &KEYS_APPS_V1_REPLICA_SET_CONDITION_TYPE), OMIT_EMPTY, None, &[], merge_by("type")),
    f("fullyLabeledReplicas", 2, INT32, OMIT_EMPTY),
    f("observedGeneration", 3, INT64, OMIT_EMPTY),
    f("readyReplicas", 4, INT32, OMIT_EMPTY),
    f("replicas", 1, INT32, REQUIRED),
    f("terminatingReplicas", 7, INT32, POINTER | OMIT_EMPTY),
];

pub(super) const ROLLING_UPDATE_DAEMON_SET: Type = ty("io.k8s.api.apps.v1.RollingUpdateDaemonSet", &ROLLING_UPDATE_DAEMON_SET_FIELDS, 0);
static ROLLING_UPDATE_DAEMON_SET_FIELDS: [Field; 2] = [
    f("maxSurge", 2, INT_OR_STRING, POINTER | OMIT_EMPTY),
    f("maxUnavailable", 1, INT_OR_STRING, POINTER | OMIT_EMPTY),
];

pub(super) const ROLLING_UPDATE_DEPLOYMENT: Type = ty("io.k8s.api.apps.v1.RollingUpdateDeployment", &ROLLING_UPDATE_DEPLOYMENT_FIELDS, 0);
static ROLLING_UPDATE_DEPLOYMENT_FIELDS: [Field; 2] = [
    f("maxSurge", 2, INT_OR_STRING, POINTER | OMIT_EMPTY),
    f("maxUnavailable", 1, INT_OR_STRING, POINTER | OMIT_EMPTY),
];

pub(super) const ROLLING_UPDATE_STATEFUL_SET_STRATEGY: Type = ty("io.k8s.api.apps.v1.RollingUpdateStatefulSetStrategy", &ROLLING_UPDATE_STATEFUL_SET_STRATEGY_FIELDS, 0);
static ROLLING_UPDATE_STATEFUL_SET_STRATEGY_FIELDS: [Field; 2] = [
    f("maxUnavailable", 2, INT_OR_STRING, POINTER | OMIT_EMPTY),
    f("partition", 1, INT32, POINTER | OMIT_EMPTY),
];

pub(super) const STATEFUL_SET: Type = ty("io.k8s.api.apps.v1.StatefulSet", &STATEFUL_SET_FIELDS, 0);
static STATEFUL_SET_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(APPS_V1_STATEFUL_SET_SPEC), REQUIRED | OMIT_EMPTY),
    f("status", 3, obj(APPS_V1_STATEFUL_SET_STATUS), OMIT_EMPTY),
];

pub(super) const STATEFUL_SET_CONDITION: Type = ty("io.k8s.api.apps.v1.StatefulSetCondition", &STATEFUL_SET_CONDITION_FIELDS, 0);
static STATEFUL_SET_CONDITION_FIELDS: [Field; 5] = [
    f("lastTransitionTime", 3, TIME, OMIT_EMPTY),
    f("message", 5, STRING, OMIT_EMPTY),
    f("reason", 4, STRING, OMIT_EMPTY),
    f("status", 2, STRING, 0),
    f("type", 1, STRING, 0),
];

pub(super) const STATEFUL_SET_LIST: Type = ty("io.k8s.api.apps.v1.StatefulSetList", &STATEFUL_SET_LIST_FIELDS, 0);
static STATEFUL_SET_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_APPS_V1_STATEFUL_SET), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const STATEFUL_SET_ORDINALS: Type = ty("io.k8s.api.apps.v1.StatefulSetOrdinals", &STATEFUL_SET_ORDINALS_FIELDS, 0);
static STATEFUL_SET_ORDINALS_FIELDS: [Field; 1] = [
    f("start", 1, INT32, 0),
];

pub(super) const STATEFUL_SET_PERSISTENT_VOLUME_CLAIM_RETENTION_POLICY: Type = ty("io.k8s.api.apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy", &STATEFUL_SET_PERSISTENT_VOLUME_CLAIM_RETENTION_POLICY_FIELDS, 0);
static STATEFUL_SET_PERSISTENT_VOLUME_CLAIM_RETENTION_POLICY_FIELDS: [Field; 2] = [
    f("whenDeleted", 1, STRING, OMIT_EMPTY),
    f("whenScaled", 2, STRING, OMIT_EMPTY),
];

pub(super) const STATEFUL_SET_SPEC: Type = ty("io.k8s.api.apps.v1.StatefulSetSpec", &STATEFUL_SET_SPEC_FIELDS, 0);
static STATEFUL_SET_SPEC_FIELDS: [Field; 11] = [
    f("minReadySeconds", 9, INT32, OMIT_EMPTY),
    f("ordinals", 11, obj(APPS_V1_STATEFUL_SET_ORDINALS), POINTER | OMIT_EMPTY),
    f("persistentVolumeClaimRetentionPolicy", 10, obj(APPS_V1_STATEFUL_SET_PERSISTENT_VOLUME_CLAIM_RETENTION_POLICY), POINTER | OMIT_EMPTY),
    full(&[], "podManagementPolicy", 6, STRING, OMIT_EMPTY, None, &["OrderedReady", "Parallel"], NO_PATCH),
    f("replicas", 1, INT32, POINTER | OMIT_EMPTY),
    f("revisionHistoryLimit", 8, INT32, POINTER | OMIT_EMPTY),
    f("selector", 2, obj(META_V1_LABEL_SELECTOR), REQUIRED | POINTER),
    f("serviceName", 5, STRING, 0),
    f("template", 3, obj(CORE_V1_POD_TEMPLATE_SPEC), REQUIRED),
    f("updateStrategy", 7, obj(APPS_V1_STATEFUL_SET_UPDATE_STRATEGY), OMIT_EMPTY),
    f("volumeClaimTemplates", 4, list(&OF_CORE_V1_PERSISTENT_VOLUME_CLAIM), OMIT_EMPTY),
];

pub(super) const STATEFUL_SET_STATUS: Type = ty("io.k8s.api.apps.v1.StatefulSetStatus", &STATEFUL_SET_STATUS_FIELDS, 0);
static STATEFUL_SET_STATUS_FIELDS: [Field; 10] = [
    f("availableReplicas", 11, INT32, 0),
    f("collisionCount", 9, INT32, POINTER | OMIT_EMPTY),
    full(&[], "conditions", 10, assoc(&OF_APPS_V1_STATEFUL_SET_CONDITION, &KEYS_APPS_V1_STATEFUL_SET_CONDITION_TYPE), OMIT_EMPTY, None, &[], merge_by("type")),
    f("currentReplicas", 4, INT32, OMIT_EMPTY),
    f("currentRevision", 6, STRING, OMIT_EMPTY),
    f("observedGeneration", 1, INT64, OMIT_EMPTY),
    f("readyReplicas", 3, INT32, OMIT_EMPTY),
    f("replicas", 2, INT32, REQUIRED),
    f("updateRevision", 7, STRING, OMIT_EMPTY),
    f("updatedReplicas", 5, INT32, OMIT_EMPTY),
];

pub(super) const STATEFUL_SET_UPDATE_STRATEGY: Type = ty("io.k8s.api.apps.v1.StatefulSetUpdateStrategy", &STATEFUL_SET_UPDATE_STRATEGY_FIELDS, 0);
static STATEFUL_SET_UPDATE_STRATEGY_FIELDS: [Field; 2] = [
    f("rollingUpdate", 2, obj(APPS_V1_ROLLING_UPDATE_STATEFUL_SET_STRATEGY), POINTER | OMIT_EMPTY),
    full(&[], "type", 1, STRING, OMIT_EMPTY, None, &["OnDelete", "Recreate", "RollingUpdate"], NO_PATCH),
];
