//! Types of package `admissionregistration_v1beta1`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static KEYS_ADMISSIONREGISTRATION_V1BETA1_MATCH_CONDITION_NAME: [Key; 1] = [key("name", Some("\"\""))];
static OF_ADMISSIONREGISTRATION_V1BETA1_MATCH_CONDITION: Shape = obj(ADMISSIONREGISTRATION_V1BETA1_MATCH_CONDITION);
static OF_ADMISSIONREGISTRATION_V1BETA1_MUTATING_ADMISSION_POLICY: Shape = obj(ADMISSIONREGISTRATION_V1BETA1_MUTATING_ADMISSION_POLICY);
static OF_ADMISSIONREGISTRATION_V1BETA1_MUTATING_ADMISSION_POLICY_BINDING: Shape = obj(ADMISSIONREGISTRATION_V1BETA1_MUTATING_ADMISSION_POLICY_BINDING);
static OF_ADMISSIONREGISTRATION_V1BETA1_MUTATION: Shape = obj(ADMISSIONREGISTRATION_V1BETA1_MUTATION);
static OF_ADMISSIONREGISTRATION_V1BETA1_NAMED_RULE_WITH_OPERATIONS: Shape = obj(ADMISSIONREGISTRATION_V1BETA1_NAMED_RULE_WITH_OPERATIONS);
static OF_ADMISSIONREGISTRATION_V1BETA1_VARIABLE: Shape = obj(ADMISSIONREGISTRATION_V1BETA1_VARIABLE);
static OF_STRING: Shape = STRING;

pub(super) const APPLY_CONFIGURATION: Type = ty("io.k8s.api.admissionregistration.v1beta1.ApplyConfiguration", &APPLY_CONFIGURATION_FIELDS, 0);
static APPLY_CONFIGURATION_FIELDS: [Field; 1] = [
    f("expression", 1, STRING, OMIT_EMPTY),
];

pub(super) const JSON_PATCH: Type = ty("io.k8s.api.admissionregistration.v1beta1.JSONPatch", &JSON_PATCH_FIELDS, 0);
static JSON_PATCH_FIELDS: [Field; 1] = [
    f("expression", 1, STRING, OMIT_EMPTY),
];

pub(super) const MATCH_CONDITION: Type = ty("io.k8s.api.admissionregistration.v1beta1.MatchCondition", &MATCH_CONDITION_FIELDS, 0);
static MATCH_CONDITION_FIELDS: [Field; 2] = [
    f("expression", 2, STRING, REQUIRED),
    f("name", 1, STRING, REQUIRED),
];

pub(super) const MATCH_RESOURCES: Type = ty("io.k8s.api.admissionregistration.v1beta1.MatchResources", &MATCH_RESOURCES_FIELDS, ATOMIC);
static MATCH_RESOURCES_FIELDS: [Field; 5] = [
    f("excludeResourceRules", 4, list(&OF_ADMISSIONREGISTRATION_V1BETA1_NAMED_RULE_WITH_OPERATIONS), OMIT_EMPTY),
    f("matchPolicy", 7, STRING, POINTER | OMIT_EMPTY),
    f("namespaceSelector", 1, obj(META_V1_LABEL_SELECTOR), POINTER | OMIT_EMPTY),
    f("objectSelector", 2, obj(META_V1_LABEL_SELECTOR), POINTER | OMIT_EMPTY),
    f("resourceRules", 3, list(&OF_ADMISSIONREGISTRATION_V1BETA1_NAMED_RULE_WITH_OPERATIONS), OMIT_EMPTY),
];

pub(super) const MUTATING_ADMISSION_POLICY: Type = ty("io.k8s.api.admissionregistration.v1beta1.MutatingAdmissionPolicy", &MUTATING_ADMISSION_POLICY_FIELDS, 0);
static MUTATING_ADMISSION_POLICY_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(ADMISSIONREGISTRATION_V1BETA1_MUTATING_ADMISSION_POLICY_SPEC), OMIT_EMPTY),
];

pub(super) const MUTATING_ADMISSION_POLICY_BINDING: Type = ty("io.k8s.api.admissionregistration.v1beta1.MutatingAdmissionPolicyBinding", &MUTATING_ADMISSION_POLICY_BINDING_FIELDS, 0);
static MUTATING_ADMISSION_POLICY_BINDING_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(ADMISSIONREGISTRATION_V1BETA1_MUTATING_ADMISSION_POLICY_BINDING_SPEC), OMIT_EMPTY),
];

pub(super) const MUTATING_ADMISSION_POLICY_BINDING_LIST: Type = ty("io.k8s.api.admissionregistration.v1beta1.MutatingAdmissionPolicyBindingList", &MUTATING_ADMISSION_POLICY_BINDING_LIST_FIELDS, 0);
static MUTATING_ADMISSION_POLICY_BINDING_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_ADMISSIONREGISTRATION_V1BETA1_MUTATING_ADMISSION_POLICY_BINDING), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const MUTATING_ADMISSION_POLICY_BINDING_SPEC: Type = ty("io.k8s.api.admissionregistration.v1beta1.MutatingAdmissionPolicyBindingSpec", &MUTATING_ADMISSION_POLICY_BINDING_SPEC_FIELDS, 0);
static MUTATING_ADMISSION_POLICY_BINDING_SPEC_FIELDS: [Field; 3] = [
    f("matchResources", 3, obj(ADMISSIONREGISTRATION_V1BETA1_MATCH_RESOURCES), POINTER | OMIT_EMPTY),
    f("paramRef", 2, obj(ADMISSIONREGISTRATION_V1BETA1_PARAM_REF), POINTER | OMIT_EMPTY),
    f("policyName", 1, STRING, OMIT_EMPTY),
];

pub(super) const MUTATING_ADMISSION_POLICY_LIST: Type = ty("io.k8s.api.admissionregistration.v1beta1.MutatingAdmissionPolicyList", &MUTATING_ADMISSION_POLICY_LIST_FIELDS, 0);
static MUTATING_ADMISSION_POLICY_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_ADMISSIONREGISTRATION_V1BETA1_MUTATING_ADMISSION_POLICY), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const MUTATING_ADMISSION_POLICY_SPEC: Type = ty("io.k8s.api.admissionregistration.v1beta1.MutatingAdmissionPolicySpec", &MUTATING_ADMISSION_POLICY_SPEC_FIELDS, 0);
static MUTATING_ADMISSION_POLICY_SPEC_FIELDS: [Field; 7] = [
    f("failurePolicy", 5, STRING, POINTER | OMIT_EMPTY),
    full(&[], "matchConditions", 6, assoc(&OF_ADMISSIONREGISTRATION_V1BETA1_MATCH_CONDITION, &KEYS_ADMISSIONREGISTRATION_V1BETA1_MATCH_CONDITION_NAME), OMIT_EMPTY, None, &[], merge_by("name")),
    f("matchConstraints", 2, obj(ADMISSIONREGISTRATION_V1BETA1_MATCH_RESOURCES), POINTER | OMIT_EMPTY),
    f("mutations", 4, list(&OF_ADMISSIONREGISTRATION_V1BETA1_MUTATION), OMIT_EMPTY),
    f("paramKind", 1, obj(ADMISSIONREGISTRATION_V1BETA1_PARAM_KIND), POINTER | OMIT_EMPTY),
    full(&[], "reinvocationPolicy", 7, STRING, OMIT_EMPTY, None, &["IfNeeded", "Never"], NO_PATCH),
    f("variables", 3, list(&OF_ADMISSIONREGISTRATION_V1BETA1_VARIABLE), OMIT_EMPTY),
];

pub(super) const MUTATION: Type = ty("io.k8s.api.admissionregistration.v1beta1.Mutation", &MUTATION_FIELDS, 0);
static MUTATION_FIELDS: [Field; 3] = [
    f("applyConfiguration", 3, obj(ADMISSIONREGISTRATION_V1BETA1_APPLY_CONFIGURATION), POINTER | OMIT_EMPTY),
    f("jsonPatch", 4, obj(ADMISSIONREGISTRATION_V1BETA1_JSON_PATCH), POINTER | OMIT_EMPTY),
    full(&[], "patchType", 2, STRING, REQUIRED, None, &["ApplyConfiguration", "JSONPatch"], NO_PATCH),
];

pub(super) const NAMED_RULE_WITH_OPERATIONS: Type = ty("io.k8s.api.admissionregistration.v1beta1.NamedRuleWithOperations", &NAMED_RULE_WITH_OPERATIONS_FIELDS, ATOMIC);
static NAMED_RULE_WITH_OPERATIONS_FIELDS: [Field; 6] = [
    inlined(&[2, 2], "apiGroups", 1, list(&OF_STRING), OMIT_EMPTY),
    inlined(&[2, 2], "apiVersions", 2, list(&OF_STRING), OMIT_EMPTY),
    full(&[2], "operations", 1, list(&OF_STRING), OMIT_EMPTY, None, &["*", "CONNECT", "CREATE", "DELETE", "UPDATE"], NO_PATCH),
    f("resourceNames", 1, list(&OF_STRING), OMIT_EMPTY),
    inlined(&[2, 2], "resources", 3, list(&OF_STRING), OMIT_EMPTY),
    full(&[2, 2], "scope", 4, STRING, POINTER | OMIT_EMPTY, None, &["*", "Cluster", "Namespaced"], NO_PATCH),
];

pub(super) const PARAM_KIND: Type = ty("io.k8s.api.admissionregistration.v1beta1.ParamKind", &PARAM_KIND_FIELDS, ATOMIC);
static PARAM_KIND_FIELDS: [Field; 2] = [
    f("apiVersion", 1, STRING, OMIT_EMPTY),
    f("kind", 2, STRING, OMIT_EMPTY),
];

pub(super) const PARAM_REF: Type = ty("io.k8s.api.admissionregistration.v1beta1.ParamRef", &PARAM_REF_FIELDS, ATOMIC);
static PARAM_REF_FIELDS: [Field; 4] = [
    f("name", 1, STRING, OMIT_EMPTY),
    f("namespace", 2, STRING, OMIT_EMPTY),
    f("parameterNotFoundAction", 4, STRING, POINTER | OMIT_EMPTY),
    f("selector", 3, obj(META_V1_LABEL_SELECTOR), POINTER | OMIT_EMPTY),
];

pub(super) const VARIABLE: Type = ty("io.k8s.api.admissionregistration.v1beta1.Variable", &VARIABLE_FIELDS, ATOMIC);
static VARIABLE_FIELDS: [Field; 2] = [
    f("expression", 2, STRING, REQUIRED),
    f("name", 1, STRING, REQUIRED),
];
