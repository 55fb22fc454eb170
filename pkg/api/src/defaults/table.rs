//! Fixed defaults: type, field, value. A row applies where the field is unset.
//!
//! Source: the `SetDefaults_…` functions of each API package; feature gates as v1.37 ships them.

use serde_json::{Map, Value};

use crate::schema::{TypeId, ids::*};

/// A default.
#[derive(Clone, Copy)]
pub(super) enum Literal {
    /// Text.
    T(&'static str),
    /// Number.
    N(i64),
    /// Truth.
    B(bool),
    /// An empty object, whose own defaults follow.
    O,
    /// A list of one text.
    L(&'static str),
}
use Literal::{B, L, N, O, T};

impl Literal {
    pub(super) fn value(self) -> Value {
        match self {
            T(text) => text.into(),
            N(number) => number.into(),
            B(flag) => flag.into(),
            O => Value::Object(Map::new()),
            L(item) => vec![item].into(),
        }
    }
}

type Row = (TypeId, &'static [(&'static str, Literal)]);

/// Permissions of files in volumes: 0644.
const FILE_MODE: Literal = N(0o644);
const RBAC: Literal = T("rbac.authorization.k8s.io");

pub(super) static FIELDS: &[Row] = &[
    // Core: pods.
    (
        CORE_V1_POD_SPEC,
        &[
            ("dnsPolicy", T("ClusterFirst")),
            ("restartPolicy", T("Always")),
            ("securityContext", O),
            ("terminationGracePeriodSeconds", N(30)),
            ("schedulerName", T("default-scheduler")),
        ],
    ),
    (CORE_V1_CONTAINER, CONTAINER),
    (CORE_V1_EPHEMERAL_CONTAINER, CONTAINER),
    (
        CORE_V1_PROBE,
        &[("timeoutSeconds", N(1)), ("periodSeconds", N(10)), ("successThreshold", N(1)), ("failureThreshold", N(3))],
    ),
    (CORE_V1_HTTP_GET_ACTION, &[("path", T("/")), ("scheme", T("HTTP"))]),
    (CORE_V1_GRPC_ACTION, &[("service", T(""))]),
    (CORE_V1_OBJECT_FIELD_SELECTOR, &[("apiVersion", T("v1"))]),
    (CORE_V1_SECRET_VOLUME_SOURCE, &[("defaultMode", FILE_MODE)]),
    (CORE_V1_CONFIG_MAP_VOLUME_SOURCE, &[("defaultMode", FILE_MODE)]),
    (CORE_V1_DOWNWARD_API_VOLUME_SOURCE, &[("defaultMode", FILE_MODE)]),
    (CORE_V1_PROJECTED_VOLUME_SOURCE, &[("defaultMode", FILE_MODE)]),
    (CORE_V1_SERVICE_ACCOUNT_TOKEN_PROJECTION, &[("expirationSeconds", N(3600))]),
    (CORE_V1_HOST_PATH_VOLUME_SOURCE, &[("type", T(""))]),
    // Core: the rest.
    (CORE_V1_SECRET, &[("type", T("Opaque"))]),
    (CORE_V1_SERVICE_SPEC, &[("sessionAffinity", T("None")), ("type", T("ClusterIP"))]),
    (CORE_V1_ENDPOINT_PORT, &[("protocol", T("TCP"))]),
    (CORE_V1_NAMESPACE_STATUS, &[("phase", T("Active"))]),
    (CORE_V1_PERSISTENT_VOLUME_STATUS, &[("phase", T("Pending"))]),
    (
        CORE_V1_PERSISTENT_VOLUME_SPEC,
        &[("persistentVolumeReclaimPolicy", T("Retain")), ("volumeMode", T("Filesystem"))],
    ),
    (CORE_V1_PERSISTENT_VOLUME_CLAIM_STATUS, &[("phase", T("Pending"))]),
    (CORE_V1_PERSISTENT_VOLUME_CLAIM_SPEC, &[("volumeMode", T("Filesystem"))]),
    // Workloads.
    (
        APPS_V1_DEPLOYMENT_SPEC,
        &[("replicas", N(1)), ("revisionHistoryLimit", N(10)), ("progressDeadlineSeconds", N(600))],
    ),
    (APPS_V1_DEPLOYMENT_STRATEGY, &[("type", T("RollingUpdate"))]),
    (APPS_V1_ROLLING_UPDATE_DEPLOYMENT, &[("maxUnavailable", T("25%")), ("maxSurge", T("25%"))]),
    (APPS_V1_REPLICA_SET_SPEC, &[("replicas", N(1))]),
    (APPS_V1_DAEMON_SET_SPEC, &[("revisionHistoryLimit", N(10))]),
    (APPS_V1_DAEMON_SET_UPDATE_STRATEGY, &[("type", T("RollingUpdate"))]),
    (APPS_V1_ROLLING_UPDATE_DAEMON_SET, &[("maxUnavailable", N(1)), ("maxSurge", N(0))]),
    (
        APPS_V1_STATEFUL_SET_SPEC,
        &[
            ("podManagementPolicy", T("OrderedReady")),
            ("persistentVolumeClaimRetentionPolicy", O),
            ("replicas", N(1)),
            ("revisionHistoryLimit", N(10)),
        ],
    ),
    (APPS_V1_ROLLING_UPDATE_STATEFUL_SET_STRATEGY, &[("partition", N(0)), ("maxUnavailable", N(1))]),
    (
        APPS_V1_STATEFUL_SET_PERSISTENT_VOLUME_CLAIM_RETENTION_POLICY,
        &[("whenDeleted", T("Retain")), ("whenScaled", T("Retain"))],
    ),
    (
        BATCH_V1_CRON_JOB_SPEC,
        &[
            ("concurrencyPolicy", T("Allow")),
            ("suspend", B(false)),
            ("successfulJobsHistoryLimit", N(3)),
            ("failedJobsHistoryLimit", N(1)),
        ],
    ),
    (BATCH_V1_POD_FAILURE_POLICY_ON_POD_CONDITIONS_PATTERN, &[("status", T("True"))]),
    (AUTOSCALING_V1_HORIZONTAL_POD_AUTOSCALER_SPEC, &[("minReplicas", N(1))]),
    (AUTOSCALING_V2_HORIZONTAL_POD_AUTOSCALER_SPEC, &[("minReplicas", N(1))]),
    (AUTOSCALING_V2_HORIZONTAL_POD_AUTOSCALER_BEHAVIOR, &[("scaleUp", O), ("scaleDown", O)]),
    // Network.
    (DISCOVERY_V1_ENDPOINT_PORT, &[("name", T("")), ("protocol", T("TCP"))]),
    (NETWORKING_V1_NETWORK_POLICY_PORT, &[("protocol", T("TCP"))]),
    (NETWORKING_V1_INGRESS_CLASS_PARAMETERS_REFERENCE, &[("scope", T("Cluster"))]),
    // Access.
    (RBAC_V1_ROLE_REF, &[("apiGroup", RBAC)]),
    (AUTHENTICATION_V1_TOKEN_REQUEST_SPEC, &[("expirationSeconds", N(3600))]),
    // Storage, scheduling.
    (STORAGE_V1_STORAGE_CLASS, &[("reclaimPolicy", T("Delete")), ("volumeBindingMode", T("Immediate"))]),
    (
        STORAGE_V1_CSI_DRIVER_SPEC,
        &[
            ("attachRequired", B(true)),
            ("podInfoOnMount", B(false)),
            ("storageCapacity", B(false)),
            ("fsGroupPolicy", T("ReadWriteOnceWithFSType")),
            ("volumeLifecycleModes", L("Persistent")),
            ("requiresRepublish", B(false)),
            ("seLinuxMount", B(false)),
            ("preventPodSchedulingIfMissing", B(false)),
        ],
    ),
    (SCHEDULING_V1_PRIORITY_CLASS, &[("preemptionPolicy", T("PreemptLowerPriority"))]),
    // Extension of the API.
    (ADMISSIONREGISTRATION_V1_VALIDATING_WEBHOOK, WEBHOOK),
    (ADMISSIONREGISTRATION_V1_MUTATING_WEBHOOK, MUTATING_WEBHOOK),
    (ADMISSIONREGISTRATION_V1_RULE_WITH_OPERATIONS, &[("scope", T("*"))]),
    (ADMISSIONREGISTRATION_V1_NAMED_RULE_WITH_OPERATIONS, &[("scope", T("*"))]),
    (ADMISSIONREGISTRATION_V1_SERVICE_REFERENCE, &[("port", N(443))]),
    (ADMISSIONREGISTRATION_V1_VALIDATING_ADMISSION_POLICY_SPEC, &[("failurePolicy", T("Fail"))]),
    (ADMISSIONREGISTRATION_V1_MUTATING_ADMISSION_POLICY_SPEC, &[("failurePolicy", T("Fail"))]),
    (ADMISSIONREGISTRATION_V1_MATCH_RESOURCES, MATCH_RESOURCES),
    (APIEXTENSIONS_V1_SERVICE_REFERENCE, &[("port", N(443))]),
    (APIREGISTRATION_V1_SERVICE_REFERENCE, &[("port", N(443))]),
    (FLOWCONTROL_V1_FLOW_SCHEMA_SPEC, &[("matchingPrecedence", N(1000))]),
    (
        FLOWCONTROL_V1_EXEMPT_PRIORITY_LEVEL_CONFIGURATION,
        &[("nominalConcurrencyShares", N(0)), ("lendablePercent", N(0))],
    ),
    (
        FLOWCONTROL_V1_LIMITED_PRIORITY_LEVEL_CONFIGURATION,
        &[("nominalConcurrencyShares", N(30)), ("lendablePercent", N(0))],
    ),
    (FLOWCONTROL_V1_QUEUING_CONFIGURATION, &[("handSize", N(8)), ("queues", N(64)), ("queueLengthLimit", N(50))]),
    // Devices.
    (RESOURCE_V1_EXACT_DEVICE_REQUEST, &[("allocationMode", T("ExactCount"))]),
    (RESOURCE_V1_DEVICE_SUB_REQUEST, &[("allocationMode", T("ExactCount"))]),
];

const CONTAINER: &[(&str, Literal)] =
    &[("terminationMessagePath", T("/dev/termination-log")), ("terminationMessagePolicy", T("File"))];

const MATCH_RESOURCES: &[(&str, Literal)] =
    &[("matchPolicy", T("Equivalent")), ("namespaceSelector", O), ("objectSelector", O)];

const WEBHOOK: &[(&str, Literal)] = &[
    ("failurePolicy", T("Fail")),
    ("matchPolicy", T("Equivalent")),
    ("namespaceSelector", O),
    ("objectSelector", O),
    ("timeoutSeconds", N(10)),
];

const MUTATING_WEBHOOK: &[(&str, Literal)] = &[
    ("failurePolicy", T("Fail")),
    ("matchPolicy", T("Equivalent")),
    ("namespaceSelector", O),
    ("objectSelector", O),
    ("timeoutSeconds", N(10)),
    ("reinvocationPolicy", T("Never")),
];
