//! Types of package `apiextensions_v1`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static KEYS_APIEXTENSIONS_V1_CUSTOM_RESOURCE_DEFINITION_CONDITION_TYPE: [Key; 1] = [key("type", Some("\"\""))];
static KEYS_APIEXTENSIONS_V1_VALIDATION_RULE_RULE: [Key; 1] = [key("rule", Some("\"\""))];
static OF_ANY: Shape = ANY;
static OF_APIEXTENSIONS_V1_CUSTOM_RESOURCE_COLUMN_DEFINITION: Shape = obj(APIEXTENSIONS_V1_CUSTOM_RESOURCE_COLUMN_DEFINITION);
static OF_APIEXTENSIONS_V1_CUSTOM_RESOURCE_DEFINITION: Shape = obj(APIEXTENSIONS_V1_CUSTOM_RESOURCE_DEFINITION);
static OF_APIEXTENSIONS_V1_CUSTOM_RESOURCE_DEFINITION_CONDITION: Shape = obj(APIEXTENSIONS_V1_CUSTOM_RESOURCE_DEFINITION_CONDITION);
static OF_APIEXTENSIONS_V1_CUSTOM_RESOURCE_DEFINITION_VERSION: Shape = obj(APIEXTENSIONS_V1_CUSTOM_RESOURCE_DEFINITION_VERSION);
static OF_APIEXTENSIONS_V1_JSON_SCHEMA_PROPS: Shape = obj(APIEXTENSIONS_V1_JSON_SCHEMA_PROPS);
static OF_APIEXTENSIONS_V1_SELECTABLE_FIELD: Shape = obj(APIEXTENSIONS_V1_SELECTABLE_FIELD);
static OF_APIEXTENSIONS_V1_VALIDATION_RULE: Shape = obj(APIEXTENSIONS_V1_VALIDATION_RULE);
static OF_OR_STRINGS_APIEXTENSIONS_V1_JSON_SCHEMA_PROPS: Shape = or_strings(APIEXTENSIONS_V1_JSON_SCHEMA_PROPS);
static OF_STRING: Shape = STRING;

pub(super) const CUSTOM_RESOURCE_COLUMN_DEFINITION: Type = ty("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceColumnDefinition", &CUSTOM_RESOURCE_COLUMN_DEFINITION_FIELDS, 0);
static CUSTOM_RESOURCE_COLUMN_DEFINITION_FIELDS: [Field; 6] = [
    f("description", 4, STRING, OMIT_EMPTY),
    f("format", 3, STRING, OMIT_EMPTY),
    f("jsonPath", 6, STRING, REQUIRED),
    f("name", 1, STRING, REQUIRED),
    f("priority", 5, INT32, OMIT_EMPTY),
    f("type", 2, STRING, REQUIRED),
];

pub(super) const CUSTOM_RESOURCE_CONVERSION: Type = ty("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceConversion", &CUSTOM_RESOURCE_CONVERSION_FIELDS, 0);
static CUSTOM_RESOURCE_CONVERSION_FIELDS: [Field; 2] = [
    f("strategy", 1, STRING, REQUIRED),
    f("webhook", 2, obj(APIEXTENSIONS_V1_WEBHOOK_CONVERSION), POINTER | OMIT_EMPTY),
];

pub(super) const CUSTOM_RESOURCE_DEFINITION: Type = ty("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition", &CUSTOM_RESOURCE_DEFINITION_FIELDS, 0);
static CUSTOM_RESOURCE_DEFINITION_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(APIEXTENSIONS_V1_CUSTOM_RESOURCE_DEFINITION_SPEC), REQUIRED),
    f("status", 3, obj(APIEXTENSIONS_V1_CUSTOM_RESOURCE_DEFINITION_STATUS), OMIT_EMPTY),
];

pub(super) const CUSTOM_RESOURCE_DEFINITION_CONDITION: Type = ty("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionCondition", &CUSTOM_RESOURCE_DEFINITION_CONDITION_FIELDS, 0);
static CUSTOM_RESOURCE_DEFINITION_CONDITION_FIELDS: [Field; 6] = [
    f("lastTransitionTime", 3, TIME, OMIT_EMPTY),
    f("message", 5, STRING, OMIT_EMPTY),
    f("observedGeneration", 6, INT64, OMIT_EMPTY),
    f("reason", 4, STRING, OMIT_EMPTY),
    f("status", 2, STRING, REQUIRED),
    f("type", 1, STRING, REQUIRED),
];

pub(super) const CUSTOM_RESOURCE_DEFINITION_LIST: Type = ty("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionList", &CUSTOM_RESOURCE_DEFINITION_LIST_FIELDS, 0);
static CUSTOM_RESOURCE_DEFINITION_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_APIEXTENSIONS_V1_CUSTOM_RESOURCE_DEFINITION), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const CUSTOM_RESOURCE_DEFINITION_NAMES: Type = ty("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionNames", &CUSTOM_RESOURCE_DEFINITION_NAMES_FIELDS, 0);
static CUSTOM_RESOURCE_DEFINITION_NAMES_FIELDS: [Field; 6] = [
    f("categories", 6, list(&OF_STRING), OMIT_EMPTY),
    f("kind", 4, STRING, REQUIRED),
    f("listKind", 5, STRING, OMIT_EMPTY),
    f("plural", 1, STRING, REQUIRED),
    f("shortNames", 3, list(&OF_STRING), OMIT_EMPTY),
    f("singular", 2, STRING, OMIT_EMPTY),
];

pub(super) const CUSTOM_RESOURCE_DEFINITION_SPEC: Type = ty("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionSpec", &CUSTOM_RESOURCE_DEFINITION_SPEC_FIELDS, 0);
static CUSTOM_RESOURCE_DEFINITION_SPEC_FIELDS: [Field; 6] = [
    f("conversion", 9, obj(APIEXTENSIONS_V1_CUSTOM_RESOURCE_CONVERSION), POINTER | OMIT_EMPTY),
    f("group", 1, STRING, REQUIRED),
    f("names", 3, obj(APIEXTENSIONS_V1_CUSTOM_RESOURCE_DEFINITION_NAMES), REQUIRED),
    f("preserveUnknownFields", 10, BOOL, OMIT_EMPTY),
    f("scope", 4, STRING, REQUIRED),
    f("versions", 7, list(&OF_APIEXTENSIONS_V1_CUSTOM_RESOURCE_DEFINITION_VERSION), REQUIRED),
];

pub(super) const CUSTOM_RESOURCE_DEFINITION_STATUS: Type = ty("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionStatus", &CUSTOM_RESOURCE_DEFINITION_STATUS_FIELDS, 0);
static CUSTOM_RESOURCE_DEFINITION_STATUS_FIELDS: [Field; 4] = [
    f("acceptedNames", 2, obj(APIEXTENSIONS_V1_CUSTOM_RESOURCE_DEFINITION_NAMES), 0),
    f("conditions", 1, assoc(&OF_APIEXTENSIONS_V1_CUSTOM_RESOURCE_DEFINITION_CONDITION, &KEYS_APIEXTENSIONS_V1_CUSTOM_RESOURCE_DEFINITION_CONDITION_TYPE), 0),
    f("observedGeneration", 4, INT64, OMIT_EMPTY),
    f("storedVersions", 3, list(&OF_STRING), 0),
];

pub(super) const CUSTOM_RESOURCE_DEFINITION_VERSION: Type = ty("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionVersion", &CUSTOM_RESOURCE_DEFINITION_VERSION_FIELDS, 0);
static CUSTOM_RESOURCE_DEFINITION_VERSION_FIELDS: [Field; 9] = [
    f("additionalPrinterColumns", 6, list(&OF_APIEXTENSIONS_V1_CUSTOM_RESOURCE_COLUMN_DEFINITION), OMIT_EMPTY),
    f("deprecated", 7, BOOL, OMIT_EMPTY),
    f("deprecationWarning", 8, STRING, POINTER | OMIT_EMPTY),
    f("name", 1, STRING, REQUIRED),
    f("schema", 4, obj(APIEXTENSIONS_V1_CUSTOM_RESOURCE_VALIDATION), POINTER | OMIT_EMPTY),
    f("selectableFields", 9, list(&OF_APIEXTENSIONS_V1_SELECTABLE_FIELD), OMIT_EMPTY),
    f("served", 2, BOOL, REQUIRED),
    f("storage", 3, BOOL, REQUIRED),
    f("subresources", 5, obj(APIEXTENSIONS_V1_CUSTOM_RESOURCE_SUBRESOURCES), POINTER | OMIT_EMPTY),
];

pub(super) const CUSTOM_RESOURCE_SUBRESOURCE_SCALE: Type = ty("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresourceScale", &CUSTOM_RESOURCE_SUBRESOURCE_SCALE_FIELDS, 0);
static CUSTOM_RESOURCE_SUBRESOURCE_SCALE_FIELDS: [Field; 3] = [
    f("labelSelectorPath", 3, STRING, POINTER | OMIT_EMPTY),
    f("specReplicasPath", 1, STRING, REQUIRED),
    f("statusReplicasPath", 2, STRING, REQUIRED),
];

pub(super) const CUSTOM_RESOURCE_SUBRESOURCE_STATUS: Type = ty("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresourceStatus", &CUSTOM_RESOURCE_SUBRESOURCE_STATUS_FIELDS, 0);
static CUSTOM_RESOURCE_SUBRESOURCE_STATUS_FIELDS: [Field; 0] = [
];

pub(super) const CUSTOM_RESOURCE_SUBRESOURCES: Type = ty("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresources", &CUSTOM_RESOURCE_SUBRESOURCES_FIELDS, 0);
static CUSTOM_RESOURCE_SUBRESOURCES_FIELDS: [Field; 2] = [
    f("scale", 2, obj(APIEXTENSIONS_V1_CUSTOM_RESOURCE_SUBRESOURCE_SCALE), POINTER | OMIT_EMPTY),
    f("status", 1, obj(APIEXTENSIONS_V1_CUSTOM_RESOURCE_SUBRESOURCE_STATUS), POINTER | OMIT_EMPTY),
];

pub(super) const CUSTOM_RESOURCE_VALIDATION: Type = ty("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceValidation", &CUSTOM_RESOURCE_VALIDATION_FIELDS, 0);
static CUSTOM_RESOURCE_VALIDATION_FIELDS: [Field; 1] = [
    f("openAPIV3Schema", 1, obj(APIEXTENSIONS_V1_JSON_SCHEMA_PROPS), POINTER | OMIT_EMPTY),
];

pub(super) const EXTERNAL_DOCUMENTATION: Type = ty("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ExternalDocumentation", &EXTERNAL_DOCUMENTATION_FIELDS, 0);
static EXTERNAL_DOCUMENTATION_FIELDS: [Field; 2] = [
    f("description", 1, STRING, OMIT_EMPTY),
    f("url", 2, STRING, OMIT_EMPTY),
];

pub(super) const JSON_SCHEMA_PROPS: Type = ty("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps", &JSON_SCHEMA_PROPS_FIELDS, 0);
static JSON_SCHEMA_PROPS_FIELDS: [Field; 44] = [
    f("$ref", 3, STRING, POINTER | OMIT_EMPTY),
    f("$schema", 2, STRING, OMIT_EMPTY),
    f("additionalItems", 33, or_bool(APIEXTENSIONS_V1_JSON_SCHEMA_PROPS), POINTER | OMIT_EMPTY),
    f("additionalProperties", 30, or_bool(APIEXTENSIONS_V1_JSON_SCHEMA_PROPS), POINTER | OMIT_EMPTY),
    f("allOf", 25, list(&OF_APIEXTENSIONS_V1_JSON_SCHEMA_PROPS), OMIT_EMPTY),
    f("anyOf", 27, list(&OF_APIEXTENSIONS_V1_JSON_SCHEMA_PROPS), OMIT_EMPTY),
    f("default", 8, ANY, POINTER | OMIT_EMPTY),
    f("definitions", 34, map(&OF_APIEXTENSIONS_V1_JSON_SCHEMA_PROPS), OMIT_EMPTY),
    f("dependencies", 32, map(&OF_OR_STRINGS_APIEXTENSIONS_V1_JSON_SCHEMA_PROPS), OMIT_EMPTY),
    f("description", 4, STRING, OMIT_EMPTY),
    f("enum", 20, list(&OF_ANY), OMIT_EMPTY),
    f("example", 36, ANY, POINTER | OMIT_EMPTY),
    f("exclusiveMaximum", 10, BOOL, OMIT_EMPTY),
    f("exclusiveMinimum", 12, BOOL, OMIT_EMPTY),
    f("externalDocs", 35, obj(APIEXTENSIONS_V1_EXTERNAL_DOCUMENTATION), POINTER | OMIT_EMPTY),
    f("format", 6, STRING, OMIT_EMPTY),
    f("id", 1, STRING, OMIT_EMPTY),
    f("items", 24, or_list(APIEXTENSIONS_V1_JSON_SCHEMA_PROPS), POINTER | OMIT_EMPTY),
    f("maxItems", 16, INT64, POINTER | OMIT_EMPTY),
    f("maxLength", 13, INT64, POINTER | OMIT_EMPTY),
    f("maxProperties", 21, INT64, POINTER | OMIT_EMPTY),
    f("maximum", 9, FLOAT, POINTER | OMIT_EMPTY),
    f("minItems", 17, INT64, POINTER | OMIT_EMPTY),
    f("minLength", 14, INT64, POINTER | OMIT_EMPTY),
    f("minProperties", 22, INT64, POINTER | OMIT_EMPTY),
    f("minimum", 11, FLOAT, POINTER | OMIT_EMPTY),
    f("multipleOf", 19, FLOAT, POINTER | OMIT_EMPTY),
    f("not", 28, obj(APIEXTENSIONS_V1_JSON_SCHEMA_PROPS), POINTER | OMIT_EMPTY),
    f("nullable", 37, BOOL, OMIT_EMPTY),
    f("oneOf", 26, list(&OF_APIEXTENSIONS_V1_JSON_SCHEMA_PROPS), OMIT_EMPTY),
    f("pattern", 15, STRING, OMIT_EMPTY),
    f("patternProperties", 31, map(&OF_APIEXTENSIONS_V1_JSON_SCHEMA_PROPS), OMIT_EMPTY),
    f("properties", 29, map(&OF_APIEXTENSIONS_V1_JSON_SCHEMA_PROPS), OMIT_EMPTY),
    f("required", 23, list(&OF_STRING), OMIT_EMPTY),
    f("title", 7, STRING, OMIT_EMPTY),
    f("type", 5, STRING, OMIT_EMPTY),
    f("uniqueItems", 18, BOOL, OMIT_EMPTY),
    f("x-kubernetes-embedded-resource", 39, BOOL, OMIT_EMPTY),
    f("x-kubernetes-int-or-string", 40, BOOL, OMIT_EMPTY),
    f("x-kubernetes-list-map-keys", 41, list(&OF_STRING), OMIT_EMPTY),
    f("x-kubernetes-list-type", 42, STRING, POINTER | OMIT_EMPTY),
    f("x-kubernetes-map-type", 43, STRING, POINTER | OMIT_EMPTY),
    f("x-kubernetes-preserve-unknown-fields", 38, BOOL, POINTER | OMIT_EMPTY),
    full(&[], "x-kubernetes-validations", 44, assoc(&OF_APIEXTENSIONS_V1_VALIDATION_RULE, &KEYS_APIEXTENSIONS_V1_VALIDATION_RULE_RULE), OMIT_EMPTY, None, &[], merge_by("rule")),
];

pub(super) const SELECTABLE_FIELD: Type = ty("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.SelectableField", &SELECTABLE_FIELD_FIELDS, 0);
static SELECTABLE_FIELD_FIELDS: [Field; 1] = [
    f("jsonPath", 1, STRING, REQUIRED),
];

pub(super) const SERVICE_REFERENCE: Type = ty("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ServiceReference", &SERVICE_REFERENCE_FIELDS, 0);
static SERVICE_REFERENCE_FIELDS: [Field; 4] = [
    f("name", 2, STRING, REQUIRED),
    f("namespace", 1, STRING, REQUIRED),
    f("path", 3, STRING, POINTER | OMIT_EMPTY),
    f("port", 4, INT32, POINTER | OMIT_EMPTY),
];

pub(super) const VALIDATION_RULE: Type = ty("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ValidationRule", &VALIDATION_RULE_FIELDS, 0);
static VALIDATION_RULE_FIELDS: [Field; 6] = [
    f("fieldPath", 5, STRING, OMIT_EMPTY),
    f("message", 2, STRING, OMIT_EMPTY),
    f("messageExpression", 3, STRING, OMIT_EMPTY),
    f("optionalOldSelf", 6, BOOL, POINTER | OMIT_EMPTY),
    full(&[], "reason", 4, STRING, POINTER | OMIT_EMPTY, None, &["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"], NO_PATCH),
    f("rule", 1, STRING, REQUIRED),
];

pub(super) const WEBHOOK_CLIENT_CONFIG: Type = ty("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.WebhookClientConfig", &WEBHOOK_CLIENT_CONFIG_FIELDS, 0);
static WEBHOOK_CLIENT_CONFIG_FIELDS: [Field; 3] = [
    f("caBundle", 2, BYTES, OMIT_EMPTY),
    f("service", 1, obj(APIEXTENSIONS_V1_SERVICE_REFERENCE), POINTER | OMIT_EMPTY),
    f("url", 3, STRING, POINTER | OMIT_EMPTY),
];

pub(super) const WEBHOOK_CONVERSION: Type = ty("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.WebhookConversion", &WEBHOOK_CONVERSION_FIELDS, 0);
static WEBHOOK_CONVERSION_FIELDS: [Field; 2] = [
    f("clientConfig", 2, obj(APIEXTENSIONS_V1_WEBHOOK_CLIENT_CONFIG), POINTER | OMIT_EMPTY),
    f("conversionReviewVersions", 3, list(&OF_STRING), REQUIRED),
];
