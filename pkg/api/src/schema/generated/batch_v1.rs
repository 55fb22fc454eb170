//! Types of package `batch_v1`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static KEYS_SCHEDULING_V1ALPHA3_WORKLOAD_POD_GROUP_RESOURCE_CLAIM_NAME: [Key; 1] = [key("name", Some("\"\""))];
static OF_BATCH_V1_CRON_JOB: Shape = obj(BATCH_V1_CRON_JOB);
static OF_BATCH_V1_JOB: Shape = obj(BATCH_V1_JOB);
static OF_BATCH_V1_JOB_CONDITION: Shape = obj(BATCH_V1_JOB_CONDITION);
static OF_BATCH_V1_POD_FAILURE_POLICY_ON_POD_CONDITIONS_PATTERN: Shape = obj(BATCH_V1_POD_FAILURE_POLICY_ON_POD_CONDITIONS_PATTERN);
static OF_BATCH_V1_POD_FAILURE_POLICY_RULE: Shape = obj(BATCH_V1_POD_FAILURE_POLICY_RULE);
static OF_BATCH_V1_SUCCESS_POLICY_RULE: Shape = obj(BATCH_V1_SUCCESS_POLICY_RULE);
static OF_CORE_V1_OBJECT_REFERENCE: Shape = obj(CORE_V1_OBJECT_REFERENCE);
static OF_INT32: Shape = INT32;
static OF_SCHEDULING_V1ALPHA3_WORKLOAD_POD_GROUP_RESOURCE_CLAIM: Shape = obj(SCHEDULING_V1ALPHA3_WORKLOAD_POD_GROUP_RESOURCE_CLAIM);
static OF_STRING: Shape = STRING;

pub(super) const CRON_JOB: Type = ty("io.k8s.api.batch.v1.CronJob", &CRON_JOB_FIELDS, 0);
static CRON_JOB_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(BATCH_V1_CRON_JOB_SPEC), REQUIRED | OMIT_EMPTY),
    f("status", 3, obj(BATCH_V1_CRON_JOB_STATUS), OMIT_EMPTY),
];

pub(super) const CRON_JOB_LIST: Type = ty("io.k8s.api.batch.v1.CronJobList", &CRON_JOB_LIST_FIELDS, 0);
static CRON_JOB_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_BATCH_V1_CRON_JOB), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const CRON_JOB_SPEC: Type = ty("io.k8s.api.batch.v1.CronJobSpec", &CRON_JOB_SPEC_FIELDS, 0);
static CRON_JOB_SPEC_FIELDS: [Field; 8] = [
    full(&[], "concurrencyPolicy", 3, STRING, OMIT_EMPTY, None, &["Allow", "Forbid", "Replace"], NO_PATCH),
    f("failedJobsHistoryLimit", 7, INT32, POINTER | OMIT_EMPTY),
    f("jobTemplate", 5, obj(BATCH_V1_JOB_TEMPLATE_SPEC), REQUIRED),
    f("schedule", 1, STRING, REQUIRED),
    f("startingDeadlineSeconds", 2, INT64, POINTER | OMIT_EMPTY),
    f("successfulJobsHistoryLimit", 6, INT32, POINTER | OMIT_EMPTY),
    f("suspend", 4, BOOL, POINTER | OMIT_EMPTY),
    f("timeZone", 8, STRING, POINTER | OMIT_EMPTY),
];

pub(super) const CRON_JOB_STATUS: Type = ty("io.k8s.api.batch.v1.CronJobStatus", &CRON_JOB_STATUS_FIELDS, 0);
static CRON_JOB_STATUS_FIELDS: [Field; 3] = [
    f("active", 1, list(&OF_CORE_V1_OBJECT_REFERENCE), OMIT_EMPTY),
    f("lastScheduleTime", 4, TIME, POINTER | OMIT_EMPTY),
    f("lastSuccessfulTime", 5, TIME, POINTER | OMIT_EMPTY),
];

pub(super) const JOB: Type = ty("io.k8s.api.batch.v1.Job", &JOB_FIELDS, 0);
static JOB_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(BATCH_V1_JOB_SPEC), OMIT_EMPTY),
    f("status", 3, obj(BATCH_V1_JOB_STATUS), OMIT_EMPTY),
];

pub(super) const JOB_CONDITION: Type = ty("io.k8s.api.batch.v1.JobCondition", &JOB_CONDITION_FIELDS, 0);
static JOB_CONDITION_FIELDS: [Field; 6] = [
    f("lastProbeTime", 3, TIME, OMIT_EMPTY),
    f("lastTransitionTime", 4, TIME, OMIT_EMPTY),
    f("message", 6, STRING, OMIT_EMPTY),
    f("reason", 5, STRING, OMIT_EMPTY),
    f("status", 2, STRING, REQUIRED),
    f("type", 1, STRING, REQUIRED),
];

pub(super) const JOB_LIST: Type = ty("io.k8s.api.batch.v1.JobList", &JOB_LIST_FIELDS, 0);
static JOB_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_BATCH_V1_JOB), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const JOB_SCHEDULING_CONFIGURATION: Type = ty("io.k8s.api.batch.v1.JobSchedulingConfiguration", &JOB_SCHEDULING_CONFIGURATION_FIELDS, 0);
static JOB_SCHEDULING_CONFIGURATION_FIELDS: [Field; 4] = [
    f("disruptionMode", 3, obj(SCHEDULING_V1ALPHA3_WORKLOAD_POD_GROUP_DISRUPTION_MODE), POINTER | OMIT_EMPTY),
    full(&[], "resourceClaims", 4, assoc(&OF_SCHEDULING_V1ALPHA3_WORKLOAD_POD_GROUP_RESOURCE_CLAIM, &KEYS_SCHEDULING_V1ALPHA3_WORKLOAD_POD_GROUP_RESOURCE_CLAIM_NAME), OMIT_EMPTY, None, &[], merge_by("name")),
    f("schedulingConstraints", 2, obj(SCHEDULING_V1ALPHA3_WORKLOAD_POD_GROUP_SCHEDULING_CONSTRAINTS), POINTER | OMIT_EMPTY),
    f("schedulingPolicy", 1, obj(SCHEDULING_V1ALPHA3_WORKLOAD_POD_GROUP_SCHEDULING_POLICY), POINTER | OMIT_EMPTY),
];

pub(super) const JOB_SPEC: Type = ty("io.k8s.api.batch.v1.JobSpec", &JOB_SPEC_FIELDS, 0);
static JOB_SPEC_FIELDS: [Field; 17] = [
    f("activeDeadlineSeconds", 3, INT64, POINTER | OMIT_EMPTY),
    f("backoffLimit", 7, INT32, POINTER | OMIT_EMPTY),
    f("backoffLimitPerIndex", 12, INT32, POINTER | OMIT_EMPTY),
    full(&[], "completionMode", 9, STRING, POINTER | OMIT_EMPTY, None, &["Indexed", "NonIndexed"], NO_PATCH),
    f("completions", 2, INT32, POINTER | OMIT_EMPTY),
    f("managedBy", 15, STRING, POINTER | OMIT_EMPTY),
    f("manualSelector", 5, BOOL, POINTER | OMIT_EMPTY),
    f("maxFailedIndexes", 13, INT32, POINTER | OMIT_EMPTY),
    f("parallelism", 1, INT32, POINTER | OMIT_EMPTY),
    f("podFailurePolicy", 11, obj(BATCH_V1_POD_FAILURE_POLICY), POINTER | OMIT_EMPTY),
    full(&[], "podReplacementPolicy", 14, STRING, POINTER | OMIT_EMPTY, None, &["Failed", "TerminatingOrFailed"], NO_PATCH),
    f("scheduling", 17, obj(BATCH_V1_JOB_SCHEDULING_CONFIGURATION), POINTER | OMIT_EMPTY),
    f("selector", 4, obj(META_V1_LABEL_SELECTOR), POINTER | OMIT_EMPTY),
    f("successPolicy", 16, obj(BATCH_V1_SUCCESS_POLICY), POINTER | OMIT_EMPTY),
    f("suspend", 10, BOOL, POINTER | OMIT_EMPTY),
    f("template", 6, obj(CORE_V1_POD_TEMPLATE_SPEC), REQUIRED),
    f("ttlSecondsAfterFinished", 8, INT32, POINTER | OMIT_EMPTY),
];

pub(super) const JOB_STATUS: Type = ty("io.k8s.api.batch.v1.JobStatus", &JOB_STATUS_FIELDS, 0);
static JOB_STATUS_FIELDS: [Field; 11] = [
    f("active", 4, INT32, OMIT_EMPTY),
    f("completedIndexes", 7, STRING, OMIT_EMPTY),
    f("completionTime", 3, TIME, POINTER | OMIT_EMPTY),
    full(&[], "conditions", 1, list(&OF_BATCH_V1_JOB_CONDITION), OMIT_EMPTY, None, &[], merge_by("type")),
    f("failed", 6, INT32, OMIT_EMPTY),
    f("failedIndexes", 10, STRING, POINTER | OMIT_EMPTY),
    f("ready", 9, INT32, POINTER | OMIT_EMPTY),
    f("startTime", 2, TIME, POINTER | OMIT_EMPTY),
    f("succeeded", 5, INT32, OMIT_EMPTY),
    f("terminating", 11, INT32, POINTER | OMIT_EMPTY),
    f("uncountedTerminatedPods", 8, obj(BATCH_V1_UNCOUNTED_TERMINATED_PODS), POINTER | OMIT_EMPTY),
];

pub(super) const JOB_TEMPLATE_SPEC: Type = ty("io.k8s.api.batch.v1.JobTemplateSpec", &JOB_TEMPLATE_SPEC_FIELDS, 0);
static JOB_TEMPLATE_SPEC_FIELDS: [Field; 2] = [
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(BATCH_V1_JOB_SPEC), OMIT_EMPTY),
];

pub(super) const POD_FAILURE_POLICY: Type = ty("io.k8s.api.batch.v1.PodFailurePolicy", &POD_FAILURE_POLICY_FIELDS, 0);
static POD_FAILURE_POLICY_FIELDS: [Field; 1] = [
    f("rules", 1, list(&OF_BATCH_V1_POD_FAILURE_POLICY_RULE), REQUIRED),
];

pub(super) const POD_FAILURE_POLICY_ON_EXIT_CODES_REQUIREMENT: Type = ty("io.k8s.api.batch.v1.PodFailurePolicyOnExitCodesRequirement", &POD_FAILURE_POLICY_ON_EXIT_CODES_REQUIREMENT_FIELDS, 0);
static POD_FAILURE_POLICY_ON_EXIT_CODES_REQUIREMENT_FIELDS: [Field; 3] = [
    f("containerName", 1, STRING, POINTER | OMIT_EMPTY),
    full(&[], "operator", 2, STRING, REQUIRED, None, &["In", "NotIn"], NO_PATCH),
    f("values", 3, set(&OF_INT32), REQUIRED),
];

pub(super) const POD_FAILURE_POLICY_ON_POD_CONDITIONS_PATTERN: Type = ty("io.k8s.api.batch.v1.PodFailurePolicyOnPodConditionsPattern", &POD_FAILURE_POLICY_ON_POD_CONDITIONS_PATTERN_FIELDS, 0);
static POD_FAILURE_POLICY_ON_POD_CONDITIONS_PATTERN_FIELDS: [Field; 2] = [
    f("status", 2, STRING, 0),
    f("type", 1, STRING, REQUIRED),
];

pub(super) const POD_FAILURE_POLICY_RULE: Type = ty("io.k8s.api.batch.v1.PodFailurePolicyRule", &POD_FAILURE_POLICY_RULE_FIELDS, 0);
static POD_FAILURE_POLICY_RULE_FIELDS: [Field; 3] = [
    full(&[], "action", 1, STRING, REQUIRED, None, &["Count", "FailIndex", "FailJob", "Ignore"], NO_PATCH),
    f("onExitCodes", 2, obj(BATCH_V1_POD_FAILURE_POLICY_ON_EXIT_CODES_REQUIREMENT), POINTER | OMIT_EMPTY),
    f("onPodConditions", 3, list(&OF_BATCH_V1_POD_FAILURE_POLICY_ON_POD_CONDITIONS_PATTERN), OMIT_EMPTY),
];

pub(super) const SUCCESS_POLICY: Type = ty("io.k8s.api.batch.v1.SuccessPolicy", &SUCCESS_POLICY_FIELDS, 0);
static SUCCESS_POLICY_FIELDS: [Field; 1] = [
    f("rules", 1, list(&OF_BATCH_V1_SUCCESS_POLICY_RULE), REQUIRED),
];

pub(super) const SUCCESS_POLICY_RULE: Type = ty("io.k8s.api.batch.v1.SuccessPolicyRule", &SUCCESS_POLICY_RULE_FIELDS, 0);
static SUCCESS_POLICY_RULE_FIELDS: [Field; 2] = [
    f("succeededCount", 2, INT32, POINTER | OMIT_EMPTY),
    f("succeededIndexes", 1, STRING, POINTER | OMIT_EMPTY),
];

pub(super) const UNCOUNTED_TERMINATED_PODS: Type = ty("io.k8s.api.batch.v1.UncountedTerminatedPods", &UNCOUNTED_TERMINATED_PODS_FIELDS, 0);
static UNCOUNTED_TERMINATED_PODS_FIELDS: [Field; 2] = [
    f("failed", 2, set(&OF_STRING), OMIT_EMPTY),
    f("succeeded", 1, set(&OF_STRING), OMIT_EMPTY),
];
