//! Types of package `admissionregistration_v1`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static KEYS_ADMISSIONREGISTRATION_V1_MATCH_CONDITION_NAME: [Key; 1] = [key("name", Some("\"\""))];
static KEYS_ADMISSIONREGISTRATION_V1_MUTATING_WEBHOOK_NAME: [Key; 1] = [key("name", Some("\"\""))];
static KEYS_ADMISSIONREGISTRATION_V1_VALIDATING_WEBHOOK_NAME: [Key; 1] = [key("name", Some("\"\""))];
static KEYS_ADMISSIONREGISTRATION_V1_VARIABLE_NAME: [Key; 1] = [key("name", Some("\"\""))];
static KEYS_META_V1_CONDITION_TYPE: [Key; 1] = [key("type", Some("\"\""))];
static OF_ADMISSIONREGISTRATION_V1_AUDIT_ANNOTATION: Shape = obj(ADMISSIONREGISTRATION_V1_AUDIT_ANNOTATION);
static OF_ADMISSIONREGISTRATION_V1_EXPRESSION_WARNING: Shape = obj(ADMISSIONREGISTRATION_V1_EXPRESSION_WARNING);
static OF_ADMISSIONREGISTRATION_V1_MATCH_CONDITION: Shape = obj(ADMISSIONREGISTRATION_V1_MATCH_CONDITION);
static OF_ADMISSIONREGISTRATION_V1_MUTATING_ADMISSION_POLICY: Shape = obj(ADMISSIONREGISTRATION_V1_MUTATING_ADMISSION_POLICY);
static OF_ADMISSIONREGISTRATION_V1_MUTATING_ADMISSION_POLICY_BINDING: Shape = obj(ADMISSIONREGISTRATION_V1_MUTATING_ADMISSION_POLICY_BINDING);
static OF_ADMISSIONREGISTRATION_V1_MUTATING_WEBHOOK: Shape = obj(ADMISSIONREGISTRATION_V1_MUTATING_WEBHOOK);
static OF_ADMISSIONREGISTRATION_V1_MUTATING_WEBHOOK_CONFIGURATION: Shape = obj(ADMISSIONREGISTRATION_V1_MUTATING_WEBHOOK_CONFIGURATION);
static OF_ADMISSIONREGISTRATION_V1_MUTATION: Shape = obj(ADMISSIONREGISTRATION_V1_MUTATION);
static OF_ADMISSIONREGISTRATION_V1_NAMED_RULE_WITH_OPERATIONS: Shape = obj(ADMISSIONREGISTRATION_V1_NAMED_RULE_WITH_OPERATIONS);
static OF_ADMISSIONREGISTRATION_V1_RULE_WITH_OPERATIONS: Shape = obj(ADMISSIONREGISTRATION_V1_RULE_WITH_OPERATIONS);
static OF_ADMISSIONREGISTRATION_V1_VALIDATING_ADMISSION_POLICY: Shape = obj(ADMISSIONREGISTRATION_V1_VALIDATING_ADMISSION_POLICY);
static OF_ADMISSIONREGISTRATION_V1_VALIDATING_ADMISSION_POLICY_BINDING: Shape = obj(ADMISSIONREGISTRATION_V1_VALIDATING_ADMISSION_POLICY_BINDING);
static OF_ADMISSIONREGISTRATION_V1_VALIDATING_WEBHOOK: Shape = obj(ADMISSIONREGISTRATION_V1_VALIDATING_WEBHOOK);
static OF_ADMISSIONREGISTRATION_V1_VALIDATING_WEBHOOK_CONFIGURATION: Shape = obj(ADMISSIONREGISTRATION_V1_VALIDATING_WEBHOOK_CONFIGURATION);
static OF_ADMISSIONREGISTRATION_V1_VALIDATION: Shape = obj(ADMISSIONREGISTRATION_V1_VALIDATION);
static OF_ADMISSIONREGISTRATION_V1_VARIABLE: Shape = obj(ADMISSIONREGISTRATION_V1_VARIABLE);
static OF_META_V1_CONDITION: Shape = obj(META_V1_CONDITION);
static OF_STRING: Shape = STRING;

pub(super) const APPLY_CONFIGURATION: Type = ty("io.k8s.api.admissionregistration.v1.ApplyConfiguration", &APPLY_CONFIGURATION_FIELDS, 0);
static APPLY_CONFIGURATION_FIELDS: [Field; 1] = [
    f("expression", 1, STRING, OMIT_EMPTY),
];

pub(super) const AUDIT_ANNOTATION: Type = ty("io.k8s.api.admissionregistration.v1.AuditAnnotation", &AUDIT_ANNOTATION_FIELDS, 0);
static AUDIT_ANNOTATION_FIELDS: [Field; 2] = [
    f("key", 1, STRING, REQUIRED),
    f("valueExpression", 2, STRING, REQUIRED),
];

pub(super) const EXPRESSION_WARNING: Type = ty("io.k8s.api.admissionregistration.v1.ExpressionWarning", &EXPRESSION_WARNING_FIELDS, 0);
static EXPRESSION_WARNING_FIELDS: [Field; 2] = [
    f("fieldRef", 2, STRING, REQUIRED),
    f("warning", 3, STRING, REQUIRED),
];

pub(super) const JSON_PATCH: Type = ty("io.k8s.api.admissionregistration.v1.JSONPatch", &JSON_PATCH_FIELDS, 0);
static JSON_PATCH_FIELDS: [Field; 1] = [
    f("expression", 1, STRING, OMIT_EMPTY),
];

pub(super) const MATCH_CONDITION: Type = ty("io.k8s.api.admissionregistration.v1.MatchCondition", &MATCH_CONDITION_FIELDS, 0);
static MATCH_CONDITION_FIELDS: [Field; 2] = [
    f("expression", 2, STRING, REQUIRED),
    f("name", 1, STRING, REQUIRED),
];

pub(super) const MATCH_RESOURCES: Type = ty("io.k8s.api.admissionregistration.v1.MatchResources", &MATCH_RESOURCES_FIELDS, ATOMIC);
static MATCH_RESOURCES_FIELDS: [Field; 5] = [
    f("excludeResourceRules", 4, list(&OF_ADMISSIONREGISTRATION_V1_NAMED_RULE_WITH_OPERATIONS), OMIT_EMPTY),
    full(&[], "matchPolicy", 7, STRING, POINTER | OMIT_EMPTY, None, &["Equivalent", "Exact"], NO_PATCH),
    f("namespaceSelector", 1, obj(META_V1_LABEL_SELECTOR), POINTER | OMIT_EMPTY),
    f("objectSelector", 2, obj(META_V1_LABEL_SELECTOR), POINTER | OMIT_EMPTY),
    f("resourceRules", 3, list(&OF_ADMISSIONREGISTRATION_V1_NAMED_RULE_WITH_OPERATIONS), OMIT_EMPTY),
];

pub(super) const MUTATING_ADMISSION_POLICY: Type = ty("io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicy", &MUTATING_ADMISSION_POLICY_FIELDS, 0);
static MUTATING_ADMISSION_POLICY_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(ADMISSIONREGISTRATION_V1_MUTATING_ADMISSION_POLICY_SPEC), OMIT_EMPTY),
];

pub(super) const MUTATING_ADMISSION_POLICY_BINDING: Type = ty("io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicyBinding", &MUTATING_ADMISSION_POLICY_BINDING_FIELDS, 0);
static MUTATING_ADMISSION_POLICY_BINDING_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(ADMISSIONREGISTRATION_V1_MUTATING_ADMISSION_POLICY_BINDING_SPEC), OMIT_EMPTY),
];

pub(super) const MUTATING_ADMISSION_POLICY_BINDING_LIST: Type = ty("io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicyBindingList", &MUTATING_ADMISSION_POLICY_BINDING_LIST_FIELDS, 0);
static MUTATING_ADMISSION_POLICY_BINDING_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_ADMISSIONREGISTRATION_V1_MUTATING_ADMISSION_POLICY_BINDING), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const MUTATING_ADMISSION_POLICY_BINDING_SPEC: Type = ty("io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicyBindingSpec", &MUTATING_ADMISSION_POLICY_BINDING_SPEC_FIELDS, 0);
static MUTATING_ADMISSION_POLICY_BINDING_SPEC_FIELDS: [Field; 3] = [
    f("matchResources", 3, obj(ADMISSIONREGISTRATION_V1_MATCH_RESOURCES), POINTER | OMIT_EMPTY),
    f("paramRef", 2, obj(ADMISSIONREGISTRATION_V1_PARAM_REF), POINTER | OMIT_EMPTY),
    f("policyName", 1, STRING, OMIT_EMPTY),
];

pub(super) const MUTATING_ADMISSION_POLICY_LIST: Type = ty("io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicyList", &MUTATING_ADMISSION_POLICY_LIST_FIELDS, 0);
static MUTATING_ADMISSION_POLICY_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_ADMISSIONREGISTRATION_V1_MUTATING_ADMISSION_POLICY), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const MUTATING_ADMISSION_POLICY_SPEC: Type = ty("io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicySpec", &MUTATING_ADMISSION_POLICY_SPEC_FIELDS, 0);
static MUTATING_ADMISSION_POLICY_SPEC_FIELDS: [Field; 7] = [
    full(&[], "failurePolicy", 5, STRING, POINTER | OMIT_EMPTY, None, &["Fail", "Ignore"], NO_PATCH),
    full(&[], "matchConditions", 6, assoc(&OF_ADMISSIONREGISTRATION_V1_MATCH_CONDITION, &KEYS_ADMISSIONREGISTRATION_V1_MATCH_CONDITION_NAME), OMIT_EMPTY, None, &[], merge_by("name")),
    f("matchConstraints", 2, obj(ADMISSIONREGISTRATION_V1_MATCH_RESOURCES), POINTER | OMIT_EMPTY),
    f("mutations", 4, list(&OF_ADMISSIONREGISTRATION_V1_MUTATION), OMIT_EMPTY),
    f("paramKind", 1, obj(ADMISSIONREGISTRATION_V1_PARAM_KIND), POINTER | OMIT_EMPTY),
    full(&[], "reinvocationPolicy", 7, STRING, OMIT_EMPTY, None, &["IfNeeded", "Never"], NO_PATCH),
    f("variables", 3, list(&OF_ADMISSIONREGISTRATION_V1_VARIABLE), OMIT_EMPTY),
];

pub(super) const MUTATING_WEBHOOK: Type = ty("io.k8s.api.admissionregistration.v1.MutatingWebhook", &MUTATING_WEBHOOK_FIELDS, 0);
static MUTATING_WEBHOOK_FIELDS: [Field; 12] = [
    f("admissionReviewVersions", 8, list(&OF_STRING), REQUIRED),
    f("clientConfig", 2, obj(ADMISSIONREGISTRATION_V1_WEBHOOK_CLIENT_CONFIG), REQUIRED),
    full(&[], "failurePolicy", 4, STRING, POINTER | OMIT_EMPTY, None, &["Fail", "Ignore"], NO_PATCH),
    full(&[], "matchConditions", 12, assoc(&OF_ADMISSIONREGISTRATION_V1_MATCH_CONDITION, &KEYS_ADMISSIONREGISTRATION_V1_MATCH_CONDITION_NAME), OMIT_EMPTY, None, &[], merge_by("name")),
    full(&[], "matchPolicy", 9, STRING, POINTER | OMIT_EMPTY, None, &["Equivalent", "Exact"], NO_PATCH),
    f("name", 1, STRING, REQUIRED),
    f("namespaceSelector", 5, obj(META_V1_LABEL_SELECTOR), POINTER | OMIT_EMPTY),
    f("objectSelector", 11, obj(META_V1_LABEL_SELECTOR), POINTER | OMIT_EMPTY),
    full(&[], "reinvocationPolicy", 10, STRING, POINTER | OMIT_EMPTY, None, &["IfNeeded", "Never"], NO_PATCH),
    f("rules", 3, list(&OF_ADMISSIONREGISTRATION_V1_RULE_WITH_OPERATIONS), OMIT_EMPTY),
    full(&[], "sideEffects", 6, STRING, REQUIRED | POINTER, None, &["None", "NoneOnDryRun", "Some", "Unknown"], NO_PATCH),
    f("timeoutSeconds", 7, INT32, POINTER | OMIT_EMPTY),
];

pub(super) const MUTATING_WEBHOOK_CONFIGURATION: Type = ty("io.k8s.api.admissionregistration.v1.MutatingWebhookConfiguration", &MUTATING_WEBHOOK_CONFIGURATION_FIELDS, 0);
static MUTATING_WEBHOOK_CONFIGURATION_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    full(&[], "webhooks", 2, assoc(&OF_ADMISSIONREGISTRATION_V1_MUTATING_WEBHOOK, &KEYS_ADMISSIONREGISTRATION_V1_MUTATING_WEBHOOK_NAME), OMIT_EMPTY, None, &[], merge_by("name")),
];

pub(super) const MUTATING_WEBHOOK_CONFIGURATION_LIST: Type = ty("io.k8s.api.admissionregistration.v1.MutatingWebhookConfigurationList", &MUTATING_WEBHOOK_CONFIGURATION_LIST_FIELDS, 0);
static MUTATING_WEBHOOK_CONFIGURATION_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_ADMISSIONREGISTRATION_V1_MUTATING_WEBHOOK_CONFIGURATION), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const MUTATION: Type = ty("io.k8s.api.admissionregistration.v1.Mutation", &MUTATION_FIELDS, 0);
static MUTATION_FIELDS: [Field; 3] = [
    f("applyConfiguration", 3, obj(ADMISSIONREGISTRATION_V1_APPLY_CONFIGURATION), POINTER | OMIT_EMPTY),
    f("jsonPatch", 4, obj(ADMISSIONREGISTRATION_V1_JSON_PATCH), POINTER | OMIT_EMPTY),
    full(&[], "patchType", 2, STRING, REQUIRED, None, &["ApplyConfiguration", "JSONPatch"], NO_PATCH),
];

pub(super) const NAMED_RULE_WITH_OPERATIONS: Type = ty("io.k8s.api.admissionregistration.v1.NamedRuleWithOperations", &NAMED_RULE_WITH_OPERATIONS_FIELDS, ATOMIC);
static NAMED_RULE_WITH_OPERATIONS_FIELDS: [Field; 6] = [
    inlined(&[2, 2], "apiGroups", 1, list(&OF_STRING), OMIT_EMPTY),
    inlined(&[2, 2], "apiVersions", 2, list(&OF_STRING), OMIT_EMPTY),
    full(&[2], "operations", 1, list(&OF_STRING), OMIT_EMPTY, None, &["*", "CONNECT", "CREATE", "DELETE", "UPDATE"], NO_PATCH),
    f("resourceNames", 1, list(&OF_STRING), OMIT_EMPTY),
    inlined(&[2, 2], "resources", 3, list(&OF_STRING), OMIT_EMPTY),
    full(&[2, 2], "scope", 4, STRING, POINTER | OMIT_EMPTY, None, &["*", "Cluster", "Namespaced"], NO_PATCH),
];

pub(super) const PARAM_KIND: Type = ty("io.k8s.api.admissionregistration.v1.ParamKind", &PARAM_KIND_FIELDS, ATOMIC);
static PARAM_KIND_FIELDS: [Field; 2] = [
    f("apiVersion", 1, STRING, OMIT_EMPTY),
    f("kind", 2, STRING, OMIT_EMPTY),
];

pub(super) const PARAM_REF: Type = ty("io.k8s.api.admissionregistration.v1.ParamRef", &PARAM_REF_FIELDS, ATOMIC);
static PARAM_REF_FIELDS: [Field; 4] = [
    f("name", 1, STRING, OMIT_EMPTY),
    f("namespace", 2, STRING, OMIT_EMPTY),
    f("parameterNotFoundAction", 4, STRING, POINTER | OMIT_EMPTY),
    f("selector", 3, obj(META_V1_LABEL_SELECTOR), POINTER | OMIT_EMPTY),
];

pub(super) const RULE_WITH_OPERATIONS: Type = ty("io.k8s.api.admissionregistration.v1.RuleWithOperations", &RULE_WITH_OPERATIONS_FIELDS, 0);
static RULE_WITH_OPERATIONS_FIELDS: [Field; 5] = [
    inlined(&[2], "apiGroups", 1, list(&OF_STRING), OMIT_EMPTY),
    inlined(&[2], "apiVersions", 2, list(&OF_STRING), OMIT_EMPTY),
    full(&[], "operations", 1, list(&OF_STRING), OMIT_EMPTY, None, &["*", "CONNECT", "CREATE", "DELETE", "UPDATE"], NO_PATCH),
    inlined(&[2], "resources", 3, list(&OF_STRING), OMIT_EMPTY),
    full(&[2], "scope", 4, STRING, POINTER | OMIT_EMPTY, None, &["*", "Cluster", "Namespaced"], NO_PATCH),
];

pub(super) const SERVICE_REFERENCE: Type = ty("io.k8s.api.admissionregistration.v1.ServiceReference", &SERVICE_REFERENCE_FIELDS, 0);
static SERVICE_REFERENCE_FIELDS: [Field; 4] = [
    f("name", 2, STRING, REQUIRED),
    f("namespace", 1, STRING, REQUIRED),
    f("path", 3, STRING, POINTER | OMIT_EMPTY),
    f("port", 4, INT32, POINTER | OMIT_EMPTY),
];

pub(super) const TYPE_CHECKING: Type = ty("io.k8s.api.admissionregistration.v1.TypeChecking", &TYPE_CHECKING_FIELDS, 0);
static TYPE_CHECKING_FIELDS: [Field; 1] = [
    f("expressionWarnings", 1, list(&OF_ADMISSIONREGISTRATION_V1_EXPRESSION_WARNING), OMIT_EMPTY),
];

pub(super) const VALIDATING_ADMISSION_POLICY: Type = ty("io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicy", &VALIDATING_ADMISSION_POLICY_FIELDS, 0);
static VALIDATING_ADMISSION_POLICY_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(ADMISSIONREGISTRATION_V1_VALIDATING_ADMISSION_POLICY_SPEC), OMIT_EMPTY),
    f("status", 3, obj(ADMISSIONREGISTRATION_V1_VALIDATING_ADMISSION_POLICY_STATUS), OMIT_EMPTY),
];

pub(super) const VALIDATING_ADMISSION_POLICY_BINDING: Type = ty("io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBinding", &VALIDATING_ADMISSION_POLICY_BINDING_FIELDS, 0);
static VALIDATING_ADMISSION_POLICY_BINDING_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(ADMISSIONREGISTRATION_V1_VALIDATING_ADMISSION_POLICY_BINDING_SPEC), REQUIRED | OMIT_EMPTY),
];

pub(super) const VALIDATING_ADMISSION_POLICY_BINDING_LIST: Type = ty("io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBindingList", &VALIDATING_ADMISSION_POLICY_BINDING_LIST_FIELDS, 0);
static VALIDATING_ADMISSION_POLICY_BINDING_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_ADMISSIONREGISTRATION_V1_VALIDATING_ADMISSION_POLICY_BINDING), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const VALIDATING_ADMISSION_POLICY_BINDING_SPEC: Type = ty("io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec", &VALIDATING_ADMISSION_POLICY_BINDING_SPEC_FIELDS, 0);
static VALIDATING_ADMISSION_POLICY_BINDING_SPEC_FIELDS: [Field; 4] = [
    f("matchResources", 3, obj(ADMISSIONREGISTRATION_V1_MATCH_RESOURCES), POINTER | OMIT_EMPTY),
    f("paramRef", 2, obj(ADMISSIONREGISTRATION_V1_PARAM_REF), POINTER | OMIT_EMPTY),
    f("policyName", 1, STRING, REQUIRED | OMIT_EMPTY),
    full(&[], "validationActions", 4, set(&OF_STRING), REQUIRED | OMIT_EMPTY, None, &["Audit", "Deny", "Warn"], NO_PATCH),
];

pub(super) const VALIDATING_ADMISSION_POLICY_LIST: Type = ty("io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyList", &VALIDATING_ADMISSION_POLICY_LIST_FIELDS, 0);
static VALIDATING_ADMISSION_POLICY_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_ADMISSIONREGISTRATION_V1_VALIDATING_ADMISSION_POLICY), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const VALIDATING_ADMISSION_POLICY_SPEC: Type = ty("io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicySpec", &VALIDATING_ADMISSION_POLICY_SPEC_FIELDS, 0);
static VALIDATING_ADMISSION_POLICY_SPEC_FIELDS: [Field; 7] = [
    f("auditAnnotations", 5, list(&OF_ADMISSIONREGISTRATION_V1_AUDIT_ANNOTATION), OMIT_EMPTY),
    full(&[], "failurePolicy", 4, STRING, POINTER | OMIT_EMPTY, None, &["Fail", "Ignore"], NO_PATCH),
    full(&[], "matchConditions", 6, assoc(&OF_ADMISSIONREGISTRATION_V1_MATCH_CONDITION, &KEYS_ADMISSIONREGISTRATION_V1_MATCH_CONDITION_NAME), OMIT_EMPTY, None, &[], merge_by("name")),
    f("matchConstraints", 2, obj(ADMISSIONREGISTRATION_V1_MATCH_RESOURCES), POINTER | OMIT_EMPTY),
    f("paramKind", 1, obj(ADMISSIONREGISTRATION_V1_PARAM_KIND), POINTER | OMIT_EMPTY),
    f("validations", 3, list(&OF_ADMISSIONREGISTRATION_V1_VALIDATION), OMIT_EMPTY),
    full(&[], "variables", 7, assoc(&OF_ADMISSIONREGISTRATION_V1_VARIABLE, &KEYS_ADMISSIONREGISTRATION_V1_VARIABLE_NAME), OMIT_EMPTY, None, &[], merge_by("name")),
];

pub(super) const VALIDATING_ADMISSION_POLICY_STATUS: Type = ty("io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyStatus", &VALIDATING_ADMISSION_POLICY_STATUS_FIELDS, 0);
static VALIDATING_ADMISSION_POLICY_STATUS_FIELDS: [Field; 3] = [
    f("conditions", 3, assoc(&OF_META_V1_CONDITION, &KEYS_META_V1_CONDITION_TYPE), OMIT_EMPTY),
    f("observedGeneration", 1, INT64, OMIT_EMPTY),
    f("typeChecking", 2, obj(ADMISSIONREGISTRATION_V1_TYPE_CHECKING), POINTER | OMIT_EMPTY),
];

pub(super) const VALIDATING_WEBHOOK: Type = ty("io.k8s.api.admissionregistration.v1.ValidatingWebhook", &VALIDATING_WEBHOOK_FIELDS, 0);
static VALIDATING_WEBHOOK_FIELDS: [Field; 11] = [
    f("admissionReviewVersions", 8, list(&OF_STRING), REQUIRED),
    f("clientConfig", 2, obj(ADMISSIONREGISTRATION_V1_WEBHOOK_CLIENT_CONFIG), REQUIRED),
    full(&[], "failurePolicy", 4, STRING, POINTER | OMIT_EMPTY, None, &["Fail", "Ignore"], NO_PATCH),
    full(&[], "matchConditions", 11, assoc(&OF_ADMISSIONREGISTRATION_V1_MATCH_CONDITION, &KEYS_ADMISSIONREGISTRATION_V1_MATCH_CONDITION_NAME), OMIT_EMPTY, None, &[], merge_by("name")),
    full(&[], "matchPolicy", 9, STRING, POINTER | OMIT_EMPTY, None, &["Equivalent", "Exact"], NO_PATCH),
    f("name", 1, STRING, REQUIRED),
    f("namespaceSelector", 5, obj(META_V1_LABEL_SELECTOR), POINTER | OMIT_EMPTY),
    f("objectSelector", 10, obj(META_V1_LABEL_SELECTOR), POINTER | OMIT_EMPTY),
    f("rules", 3, list(&OF_ADMISSIONREGISTRATION_V1_RULE_WITH_OPERATIONS), OMIT_EMPTY),
    full(&[], "sideEffects", 6, STRING, REQUIRED | POINTER, None, &["None", "NoneOnDryRun", "Some", "Unknown"], NO_PATCH),
    f("timeoutSeconds", 7, INT32, POINTER | OMIT_EMPTY),
];

pub(super) const VALIDATING_WEBHOOK_CONFIGURATION: Type = ty("io.k8s.api.admissionregistration.v1.ValidatingWebhookConfiguration", &VALIDATING_WEBHOOK_CONFIGURATION_FIELDS, 0);
static VALIDATING_WEBHOOK_CONFIGURATION_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    full(&[], "webhooks", 2, assoc(&OF_ADMISSIONREGISTRATION_V1_VALIDATING_WEBHOOK, &KEYS_ADMISSIONREGISTRATION_V1_VALIDATING_WEBHOOK_NAME), OMIT_EMPTY, None, &[], merge_by("name")),
];

pub(super) const VALIDATING_WEBHOOK_CONFIGURATION_LIST: Type = ty("io.k8s.api.admissionregistration.v1.ValidatingWebhookConfigurationList", &VALIDATING_WEBHOOK_CONFIGURATION_LIST_FIELDS, 0);
static VALIDATING_WEBHOOK_CONFIGURATION_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_ADMISSIONREGISTRATION_V1_VALIDATING_WEBHOOK_CONFIGURATION), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const VALIDATION: Type = ty("io.k8s.api.admissionregistration.v1.Validation", &VALIDATION_FIELDS, 0);
static VALIDATION_FIELDS: [Field; 4] = [
    f("expression", 1, STRING, REQUIRED),
    f("message", 2, STRING, OMIT_EMPTY),
    f("messageExpression", 4, STRING, OMIT_EMPTY),
    f("reason", 3, STRING, POINTER | OMIT_EMPTY),
];

pub(super) const VARIABLE: Type = ty("io.k8s.api.admissionregistration.v1.Variable", &VARIABLE_FIELDS, ATOMIC);
static VARIABLE_FIELDS: [Field; 2] = [
    f("expression", 2, STRING, REQUIRED),
    f("name", 1, STRING, REQUIRED),
];

pub(super) const WEBHOOK_CLIENT_CONFIG: Type = ty("io.k8s.api.admissionregistration.v1.WebhookClientConfig", &WEBHOOK_CLIENT_CONFIG_FIELDS, 0);
static WEBHOOK_CLIENT_CONFIG_FIELDS: [Field; 3] = [
    f("caBundle", 2, BYTES, OMIT_EMPTY),
    f("service", 1, obj(ADMISSIONREGISTRATION_V1_SERVICE_REFERENCE), POINTER | OMIT_EMPTY),
    f("url", 3, STRING, POINTER | OMIT_EMPTY),
];
