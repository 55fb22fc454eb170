//! Types of package `flowcontrol_v1`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static KEYS_FLOWCONTROL_V1_FLOW_SCHEMA_CONDITION_TYPE: [Key; 1] = [key("type", None)];
static KEYS_FLOWCONTROL_V1_PRIORITY_LEVEL_CONFIGURATION_CONDITION_TYPE: [Key; 1] = [key("type", None)];
static OF_FLOWCONTROL_V1_FLOW_SCHEMA: Shape = obj(FLOWCONTROL_V1_FLOW_SCHEMA);
static OF_FLOWCONTROL_V1_FLOW_SCHEMA_CONDITION: Shape = obj(FLOWCONTROL_V1_FLOW_SCHEMA_CONDITION);
static OF_FLOWCONTROL_V1_NON_RESOURCE_POLICY_RULE: Shape = obj(FLOWCONTROL_V1_NON_RESOURCE_POLICY_RULE);
static OF_FLOWCONTROL_V1_POLICY_RULES_WITH_SUBJECTS: Shape = obj(FLOWCONTROL_V1_POLICY_RULES_WITH_SUBJECTS);
static OF_FLOWCONTROL_V1_PRIORITY_LEVEL_CONFIGURATION: Shape = obj(FLOWCONTROL_V1_PRIORITY_LEVEL_CONFIGURATION);
static OF_FLOWCONTROL_V1_PRIORITY_LEVEL_CONFIGURATION_CONDITION: Shape = obj(FLOWCONTROL_V1_PRIORITY_LEVEL_CONFIGURATION_CONDITION);
static OF_FLOWCONTROL_V1_RESOURCE_POLICY_RULE: Shape = obj(FLOWCONTROL_V1_RESOURCE_POLICY_RULE);
static OF_FLOWCONTROL_V1_SUBJECT: Shape = obj(FLOWCONTROL_V1_SUBJECT);
static OF_STRING: Shape = STRING;

pub(super) const EXEMPT_PRIORITY_LEVEL_CONFIGURATION: Type = ty("io.k8s.api.flowcontrol.v1.ExemptPriorityLevelConfiguration", &EXEMPT_PRIORITY_LEVEL_CONFIGURATION_FIELDS, 0);
static EXEMPT_PRIORITY_LEVEL_CONFIGURATION_FIELDS: [Field; 2] = [
    f("lendablePercent", 2, INT32, POINTER | OMIT_EMPTY),
    f("nominalConcurrencyShares", 1, INT32, POINTER | OMIT_EMPTY),
];

pub(super) const FLOW_DISTINGUISHER_METHOD: Type = ty("io.k8s.api.flowcontrol.v1.FlowDistinguisherMethod", &FLOW_DISTINGUISHER_METHOD_FIELDS, 0);
static FLOW_DISTINGUISHER_METHOD_FIELDS: [Field; 1] = [
    f("type", 1, STRING, REQUIRED),
];

pub(super) const FLOW_SCHEMA: Type = ty("io.k8s.api.flowcontrol.v1.FlowSchema", &FLOW_SCHEMA_FIELDS, 0);
static FLOW_SCHEMA_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(FLOWCONTROL_V1_FLOW_SCHEMA_SPEC), REQUIRED | OMIT_EMPTY),
    f("status", 3, obj(FLOWCONTROL_V1_FLOW_SCHEMA_STATUS), OMIT_EMPTY),
];

pub(super) const FLOW_SCHEMA_CONDITION: Type = ty("io.k8s.api.flowcontrol.v1.FlowSchemaCondition", &FLOW_SCHEMA_CONDITION_FIELDS, 0);
static FLOW_SCHEMA_CONDITION_FIELDS: [Field; 5] = [
    f("lastTransitionTime", 3, TIME, OMIT_EMPTY),
    f("message", 5, STRING, OMIT_EMPTY),
    f("reason", 4, STRING, OMIT_EMPTY),
    f("status", 2, STRING, OMIT_EMPTY),
    f("type", 1, STRING, REQUIRED | OMIT_EMPTY),
];

pub(super) const FLOW_SCHEMA_LIST: Type = ty("io.k8s.api.flowcontrol.v1.FlowSchemaList", &FLOW_SCHEMA_LIST_FIELDS, 0);
static FLOW_SCHEMA_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_FLOWCONTROL_V1_FLOW_SCHEMA), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const FLOW_SCHEMA_SPEC: Type = ty("io.k8s.api.flowcontrol.v1.FlowSchemaSpec", &FLOW_SCHEMA_SPEC_FIELDS, 0);
static FLOW_SCHEMA_SPEC_FIELDS: [Field; 4] = [
    f("distinguisherMethod", 3, obj(FLOWCONTROL_V1_FLOW_DISTINGUISHER_METHOD), POINTER | OMIT_EMPTY),
    f("matchingPrecedence", 2, INT32, 0),
    f("priorityLevelConfiguration", 1, obj(FLOWCONTROL_V1_PRIORITY_LEVEL_CONFIGURATION_REFERENCE), REQUIRED),
    f("rules", 4, list(&OF_FLOWCONTROL_V1_POLICY_RULES_WITH_SUBJECTS), OMIT_EMPTY),
];

pub(super) const FLOW_SCHEMA_STATUS: Type = ty("io.k8s.api.flowcontrol.v1.FlowSchemaStatus", &FLOW_SCHEMA_STATUS_FIELDS, 0);
static FLOW_SCHEMA_STATUS_FIELDS: [Field; 1] = [
    full(&[], "conditions", 1, assoc(&OF_FLOWCONTROL_V1_FLOW_SCHEMA_CONDITION, &KEYS_FLOWCONTROL_V1_FLOW_SCHEMA_CONDITION_TYPE), OMIT_EMPTY, None, &[], merge_by("type")),
];

pub(super) const GROUP_SUBJECT: Type = ty("io.k8s.api.flowcontrol.v1.GroupSubject", &GROUP_SUBJECT_FIELDS, 0);
static GROUP_SUBJECT_FIELDS: [Field; 1] = [
    f("name", 1, STRING, REQUIRED),
];

pub(super) const LIMIT_RESPONSE: Type = ty("io.k8s.api.flowcontrol.v1.LimitResponse", &LIMIT_RESPONSE_FIELDS, 0);
static LIMIT_RESPONSE_FIELDS: [Field; 2] = [
    f("queuing", 2, obj(FLOWCONTROL_V1_QUEUING_CONFIGURATION), POINTER | OMIT_EMPTY),
    f("type", 1, STRING, REQUIRED),
];

pub(super) const LIMITED_PRIORITY_LEVEL_CONFIGURATION: Type = ty("io.k8s.api.flowcontrol.v1.LimitedPriorityLevelConfiguration", &LIMITED_PRIORITY_LEVEL_CONFIGURATION_FIELDS, 0);
static LIMITED_PRIORITY_LEVEL_CONFIGURATION_FIELDS: [Field; 4] = [
    f("borrowingLimitPercent", 4, INT32, POINTER | OMIT_EMPTY),
    f("lendablePercent", 3, INT32, POINTER | OMIT_EMPTY),
    f("limitResponse", 2, obj(FLOWCONTROL_V1_LIMIT_RESPONSE), REQUIRED | OMIT_EMPTY),
    f("nominalConcurrencyShares", 1, INT32, POINTER),
];

pub(super) const NON_RESOURCE_POLICY_RULE: Type = ty("io.k8s.api.flowcontrol.v1.NonResourcePolicyRule", &NON_RESOURCE_POLICY_RULE_FIELDS, 0);
static NON_RESOURCE_POLICY_RULE_FIELDS: [Field; 2] = [
    f("nonResourceURLs", 6, set(&OF_STRING), REQUIRED),
    f("verbs", 1, set(&OF_STRING), REQUIRED),
];

pub(super) const POLICY_RULES_WITH_SUBJECTS: Type = ty("io.k8s.api.flowcontrol.v1.PolicyRulesWithSubjects", &POLICY_RULES_WITH_SUBJECTS_FIELDS, 0);
static POLICY_RULES_WITH_SUBJECTS_FIELDS: [Field; 3] = [
    f("nonResourceRules", 3, list(&OF_FLOWCONTROL_V1_NON_RESOURCE_POLICY_RULE), OMIT_EMPTY),
    f("resourceRules", 2, list(&OF_FLOWCONTROL_V1_RESOURCE_POLICY_RULE), OMIT_EMPTY),
    f("subjects", 1, list(&OF_FLOWCONTROL_V1_SUBJECT), REQUIRED),
];

pub(super) const PRIORITY_LEVEL_CONFIGURATION: Type = ty("io.k8s.api.flowcontrol.v1.PriorityLevelConfiguration", &PRIORITY_LEVEL_CONFIGURATION_FIELDS, 0);
static PRIORITY_LEVEL_CONFIGURATION_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(FLOWCONTROL_V1_PRIORITY_LEVEL_CONFIGURATION_SPEC), REQUIRED | OMIT_EMPTY),
    f("status", 3, obj(FLOWCONTROL_V1_PRIORITY_LEVEL_CONFIGURATION_STATUS), OMIT_EMPTY),
];

pub(super) const PRIORITY_LEVEL_CONFIGURATION_CONDITION: Type = ty("io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationCondition", &PRIORITY_LEVEL_CONFIGURATION_CONDITION_FIELDS, 0);
static PRIORITY_LEVEL_CONFIGURATION_CONDITION_FIELDS: [Field; 5] = [
    f("lastTransitionTime", 3, TIME, OMIT_EMPTY),
    f("message", 5, STRING, OMIT_EMPTY),
    f("reason", 4, STRING, OMIT_EMPTY),
    f("status", 2, STRING, OMIT_EMPTY),
    f("type", 1, STRING, REQUIRED | OMIT_EMPTY),
];

pub(super) const PRIORITY_LEVEL_CONFIGURATION_LIST: Type = ty("io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationList", &PRIORITY_LEVEL_CONFIGURATION_LIST_FIELDS, 0);
static PRIORITY_LEVEL_CONFIGURATION_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_FLOWCONTROL_V1_PRIORITY_LEVEL_CONFIGURATION), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const PRIORITY_LEVEL_CONFIGURATION_REFERENCE: Type = ty("io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationReference", &PRIORITY_LEVEL_CONFIGURATION_REFERENCE_FIELDS, 0);
static PRIORITY_LEVEL_CONFIGURATION_REFERENCE_FIELDS: [Field; 1] = [
    f("name", 1, STRING, REQUIRED),
];

pub(super) const PRIORITY_LEVEL_CONFIGURATION_SPEC: Type = ty("io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationSpec", &PRIORITY_LEVEL_CONFIGURATION_SPEC_FIELDS, 0);
static PRIORITY_LEVEL_CONFIGURATION_SPEC_FIELDS: [Field; 3] = [
    f("exempt", 3, obj(FLOWCONTROL_V1_EXEMPT_PRIORITY_LEVEL_CONFIGURATION), POINTER | OMIT_EMPTY),
    f("limited", 2, obj(FLOWCONTROL_V1_LIMITED_PRIORITY_LEVEL_CONFIGURATION), POINTER | OMIT_EMPTY),
    f("type", 1, STRING, REQUIRED),
];

pub(super) const PRIORITY_LEVEL_CONFIGURATION_STATUS: Type = ty("io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationStatus", &PRIORITY_LEVEL_CONFIGURATION_STATUS_FIELDS, 0);
static PRIORITY_LEVEL_CONFIGURATION_STATUS_FIELDS: [Field; 1] = [
    full(&[], "conditions", 1, assoc(&OF_FLOWCONTROL_V1_PRIORITY_LEVEL_CONFIGURATION_CONDITION, &KEYS_FLOWCONTROL_V1_PRIORITY_LEVEL_CONFIGURATION_CONDITION_TYPE), OMIT_EMPTY, None, &[], merge_by("type")),
];

pub(super) const QUEUING_CONFIGURATION: Type = ty("io.k8s.api.flowcontrol.v1.QueuingConfiguration", &QUEUING_CONFIGURATION_FIELDS, 0);
static QUEUING_CONFIGURATION_FIELDS: [Field; 3] = [
    f("handSize", 2, INT32, 0),
    f("queueLengthLimit", 3, INT32, 0),
    f("queues", 1, INT32, 0),
];

pub(super) const RESOURCE_POLICY_RULE: Type = ty("io.k8s.api.flowcontrol.v1.ResourcePolicyRule", &RESOURCE_POLICY_RULE_FIELDS, 0);
static RESOURCE_POLICY_RULE_FIELDS: [Field; 5] = [
    f("apiGroups", 2, set(&OF_STRING), REQUIRED),
    f("clusterScope", 4, BOOL, OMIT_EMPTY),
    f("namespaces", 5, set(&OF_STRING), 0),
    f("resources", 3, set(&OF_STRING), REQUIRED),
    f("verbs", 1, set(&OF_STRING), REQUIRED),
];

pub(super) const SERVICE_ACCOUNT_SUBJECT: Type = ty("io.k8s.api.flowcontrol.v1.ServiceAccountSubject", &SERVICE_ACCOUNT_SUBJECT_FIELDS, 0);
static SERVICE_ACCOUNT_SUBJECT_FIELDS: [Field; 2] = [
    f("name", 2, STRING, REQUIRED),
    f("namespace", 1, STRING, REQUIRED),
];

pub(super) const SUBJECT: Type = ty("io.k8s.api.flowcontrol.v1.Subject", &SUBJECT_FIELDS, 0);
static SUBJECT_FIELDS: [Field; 4] = [
    f("group", 3, obj(FLOWCONTROL_V1_GROUP_SUBJECT), POINTER | OMIT_EMPTY),
    f("kind", 1, STRING, REQUIRED),
    f("serviceAccount", 4, obj(FLOWCONTROL_V1_SERVICE_ACCOUNT_SUBJECT), POINTER | OMIT_EMPTY),
    f("user", 2, obj(FLOWCONTROL_V1_USER_SUBJECT), POINTER | OMIT_EMPTY),
];

pub(super) const USER_SUBJECT: Type = ty("io.k8s.api.flowcontrol.v1.UserSubject", &USER_SUBJECT_FIELDS, 0);
static USER_SUBJECT_FIELDS: [Field; 1] = [
    f("name", 1, STRING, REQUIRED),
];
