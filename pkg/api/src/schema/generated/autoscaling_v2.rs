//! Types of package `autoscaling_v2`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static KEYS_AUTOSCALING_V2_HORIZONTAL_POD_AUTOSCALER_CONDITION_TYPE: [Key; 1] = [key("type", Some("\"\""))];
static OF_AUTOSCALING_V2_HORIZONTAL_POD_AUTOSCALER: Shape = obj(AUTOSCALING_V2_HORIZONTAL_POD_AUTOSCALER);
static OF_AUTOSCALING_V2_HORIZONTAL_POD_AUTOSCALER_CONDITION: Shape = obj(AUTOSCALING_V2_HORIZONTAL_POD_AUTOSCALER_CONDITION);
static OF_AUTOSCALING_V2_HPA_SCALING_POLICY: Shape = obj(AUTOSCALING_V2_HPA_SCALING_POLICY);
static OF_AUTOSCALING_V2_METRIC_SPEC: Shape = obj(AUTOSCALING_V2_METRIC_SPEC);
static OF_AUTOSCALING_V2_METRIC_STATUS: Shape = obj(AUTOSCALING_V2_METRIC_STATUS);

pub(super) const CONTAINER_RESOURCE_METRIC_SOURCE: Type = ty("io.k8s.api.autoscaling.v2.ContainerResourceMetricSource", &CONTAINER_RESOURCE_METRIC_SOURCE_FIELDS, 0);
static CONTAINER_RESOURCE_METRIC_SOURCE_FIELDS: [Field; 3] = [
    f("container", 3, STRING, REQUIRED),
    f("name", 1, STRING, REQUIRED),
    f("target", 2, obj(AUTOSCALING_V2_METRIC_TARGET), REQUIRED),
];

pub(super) const CONTAINER_RESOURCE_METRIC_STATUS: Type = ty("io.k8s.api.autoscaling.v2.ContainerResourceMetricStatus", &CONTAINER_RESOURCE_METRIC_STATUS_FIELDS, 0);
static CONTAINER_RESOURCE_METRIC_STATUS_FIELDS: [Field; 3] = [
    f("container", 3, STRING, REQUIRED),
    f("current", 2, obj(AUTOSCALING_V2_METRIC_VALUE_STATUS), REQUIRED),
    f("name", 1, STRING, REQUIRED),
];

pub(super) const CROSS_VERSION_OBJECT_REFERENCE: Type = ty("io.k8s.api.autoscaling.v2.CrossVersionObjectReference", &CROSS_VERSION_OBJECT_REFERENCE_FIELDS, 0);
static CROSS_VERSION_OBJECT_REFERENCE_FIELDS: [Field; 3] = [
    f("apiVersion", 3, STRING, OMIT_EMPTY),
    f("kind", 1, STRING, REQUIRED),
    f("name", 2, STRING, REQUIRED),
];

pub(super) const EXTERNAL_METRIC_SOURCE: Type = ty("io.k8s.api.autoscaling.v2.ExternalMetricSource", &EXTERNAL_METRIC_SOURCE_FIELDS, 0);
static EXTERNAL_METRIC_SOURCE_FIELDS: [Field; 2] = [
    f("metric", 1, obj(AUTOSCALING_V2_METRIC_IDENTIFIER), REQUIRED),
    f("target", 2, obj(AUTOSCALING_V2_METRIC_TARGET), REQUIRED),
];

pub(super) const EXTERNAL_METRIC_STATUS: Type = ty("io.k8s.api.autoscaling.v2.ExternalMetricStatus", &EXTERNAL_METRIC_STATUS_FIELDS, 0);
static EXTERNAL_METRIC_STATUS_FIELDS: [Field; 2] = [
    f("current", 2, obj(AUTOSCALING_V2_METRIC_VALUE_STATUS), REQUIRED),
    f("metric", 1, obj(AUTOSCALING_V2_METRIC_IDENTIFIER), REQUIRED),
];

pub(super) const HPA_SCALING_POLICY: Type = ty("io.k8s.api.autoscaling.v2.HPAScalingPolicy", &HPA_SCALING_POLICY_FIELDS, 0);
static HPA_SCALING_POLICY_FIELDS: [Field; 3] = [
    f("periodSeconds", 3, INT32, REQUIRED),
    f("type", 1, STRING, REQUIRED),
    f("value", 2, INT32, REQUIRED),
];

pub(super) const HPA_SCALING_RULES: Type = ty("io.k8s.api.autoscaling.v2.HPAScalingRules", &HPA_SCALING_RULES_FIELDS, 0);
static HPA_SCALING_RULES_FIELDS: [Field; 4] = [
    f("policies", 2, list(&OF_AUTOSCALING_V2_HPA_SCALING_POLICY), OMIT_EMPTY),
    f("selectPolicy", 1, STRING, POINTER | OMIT_EMPTY),
    f("stabilizationWindowSeconds", 3, INT32, POINTER | OMIT_EMPTY),
    f("tolerance", 4, QUANTITY, POINTER | OMIT_EMPTY),
];

pub(super) const HORIZONTAL_POD_AUTOSCALER: Type = ty("io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler", &HORIZONTAL_POD_AUTOSCALER_FIELDS, 0);
static HORIZONTAL_POD_AUTOSCALER_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(AUTOSCALING_V2_HORIZONTAL_POD_AUTOSCALER_SPEC), REQUIRED | OMIT_EMPTY),
    f("status", 3, obj(AUTOSCALING_V2_HORIZONTAL_POD_AUTOSCALER_STATUS), OMIT_EMPTY),
];

pub(super) const HORIZONTAL_POD_AUTOSCALER_BEHAVIOR: Type = ty("io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerBehavior", &HORIZONTAL_POD_AUTOSCALER_BEHAVIOR_FIELDS, 0);
static HORIZONTAL_POD_AUTOSCALER_BEHAVIOR_FIELDS: [Field; 2] = [
    f("scaleDown", 2, obj(AUTOSCALING_V2_HPA_SCALING_RULES), POINTER | OMIT_EMPTY),
    f("scaleUp", 1, obj(AUTOSCALING_V2_HPA_SCALING_RULES), POINTER | OMIT_EMPTY),
];

pub(super) const HORIZONTAL_POD_AUTOSCALER_CONDITION: Type = ty("io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerCondition", &HORIZONTAL_POD_AUTOSCALER_CONDITION_FIELDS, 0);
static HORIZONTAL_POD_AUTOSCALER_CONDITION_FIELDS: [Field; 6] = [
    f("lastTransitionTime", 3, TIME, OMIT_EMPTY),
    f("message", 5, STRING, OMIT_EMPTY),
    f("observedGeneration", 6, INT64, POINTER | OMIT_EMPTY),
    f("reason", 4, STRING, OMIT_EMPTY),
    f("status", 2, STRING, REQUIRED),
    f("type", 1, STRING, REQUIRED),
];

pub(super) const HORIZONTAL_POD_AUTOSCALER_LIST: Type = ty("io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerList", &HORIZONTAL_POD_AUTOSCALER_LIST_FIELDS, 0);
static HORIZONTAL_POD_AUTOSCALER_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_AUTOSCALING_V2_HORIZONTAL_POD_AUTOSCALER), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const HORIZONTAL_POD_AUTOSCALER_SPEC: Type = ty("io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerSpec", &HORIZONTAL_POD_AUTOSCALER_SPEC_FIELDS, 0);
static HORIZONTAL_POD_AUTOSCALER_SPEC_FIELDS: [Field; 5] = [
    f("behavior", 5, obj(AUTOSCALING_V2_HORIZONTAL_POD_AUTOSCALER_BEHAVIOR), POINTER | OMIT_EMPTY),
    f("maxReplicas", 3, INT32, REQUIRED),
    f("metrics", 4, list(&OF_AUTOSCALING_V2_METRIC_SPEC), OMIT_EMPTY),
    f("minReplicas", 2, INT32, POINTER | OMIT_EMPTY),
    f("scaleTargetRef", 1, obj(AUTOSCALING_V2_CROSS_VERSION_OBJECT_REFERENCE), REQUIRED),
];

pub(super) const HORIZONTAL_POD_AUTOSCALER_STATUS: Type = ty("io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerStatus", &HORIZONTAL_POD_AUTOSCALER_STATUS_FIELDS, 0);
static HORIZONTAL_POD_AUTOSCALER_STATUS_FIELDS: [Field; 6] = [
    full(&[], "conditions", 6, assoc(&OF_AUTOSCALING_V2_HORIZONTAL_POD_AUTOSCALER_CONDITION, &KEYS_AUTOSCALING_V2_HORIZONTAL_POD_AUTOSCALER_CONDITION_TYPE), OMIT_EMPTY, None, &[], merge_by("type")),
    f("currentMetrics", 5, list(&OF_AUTOSCALING_V2_METRIC_STATUS), 0),
    f("currentReplicas", 3, INT32, OMIT_EMPTY),
    f("desiredReplicas", 4, INT32, REQUIRED),
    f("lastScaleTime", 2, TIME, POINTER | OMIT_EMPTY),
    f("observedGeneration", 1, INT64, POINTER | OMIT_EMPTY),
];

pub(super) const METRIC_IDENTIFIER: Type = ty("io.k8s.api.autoscaling.v2.MetricIdentifier", &METRIC_IDENTIFIER_FIELDS, 0);
static METRIC_IDENTIFIER_FIELDS: [Field; 2] = [
    f("name", 1, STRING, REQUIRED),
    f("selector", 2, obj(META_V1_LABEL_SELECTOR), POINTER | OMIT_EMPTY),
];

pub(super) const METRIC_SPEC: Type = ty("io.k8s.api.autoscaling.v2.MetricSpec", &METRIC_SPEC_FIELDS, 0);
static METRIC_SPEC_FIELDS: [Field; 6] = [
    f("containerResource", 7, obj(AUTOSCALING_V2_CONTAINER_RESOURCE_METRIC_SOURCE), POINTER | OMIT_EMPTY),
    f("external", 5, obj(AUTOSCALING_V2_EXTERNAL_METRIC_SOURCE), POINTER | OMIT_EMPTY),
    f("object", 2, obj(AUTOSCALING_V2_OBJECT_METRIC_SOURCE), POINTER | OMIT_EMPTY),
    f("pods", 3, obj(AUTOSCALING_V2_PODS_METRIC_SOURCE), POINTER | OMIT_EMPTY),
    f("resource", 4, obj(AUTOSCALING_V2_RESOURCE_METRIC_SOURCE), POINTER | OMIT_EMPTY),
    f("type", 1, STRING, REQUIRED),
];

pub(super) const METRIC_STATUS: Type = ty("io.k8s.api.autoscaling.v2.MetricStatus", &METRIC_STATUS_FIELDS, 0);
static METRIC_STATUS_FIELDS: [Field; 6] = [
    f("containerResource", 7, obj(AUTOSCALING_V2_CONTAINER_RESOURCE_METRIC_STATUS), POINTER | OMIT_EMPTY),
    f("external", 5, obj(AUTOSCALING_V2_EXTERNAL_METRIC_STATUS), POINTER | OMIT_EMPTY),
    f("object", 2, obj(AUTOSCALING_V2_OBJECT_METRIC_STATUS), POINTER | OMIT_EMPTY),
    f("pods", 3, obj(AUTOSCALING_V2_PODS_METRIC_STATUS), POINTER | OMIT_EMPTY),
    f("resource", 4, obj(AUTOSCALING_V2_RESOURCE_METRIC_STATUS), POINTER | OMIT_EMPTY),
    f("type", 1, STRING, REQUIRED),
];

pub(super) const METRIC_TARGET: Type = ty("io.k8s.api.autoscaling.v2.MetricTarget", &METRIC_TARGET_FIELDS, 0);
static METRIC_TARGET_FIELDS: [Field; 4] = [
    f("averageUtilization", 4, INT32, POINTER | OMIT_EMPTY),
    f("averageValue", 3, QUANTITY, POINTER | OMIT_EMPTY),
    f("type", 1, STRING, REQUIRED),
    f("value", 2, QUANTITY, POINTER | OMIT_EMPTY),
];

pub(super) const METRIC_VALUE_STATUS: Type = ty("io.k8s.api.autoscaling.v2.MetricValueStatus", &METRIC_VALUE_STATUS_FIELDS, 0);
static METRIC_VALUE_STATUS_FIELDS: [Field; 3] = [
    f("averageUtilization", 3, INT32, POINTER | OMIT_EMPTY),
    f("averageValue", 2, QUANTITY, POINTER | OMIT_EMPTY),
    f("value", 1, QUANTITY, POINTER | OMIT_EMPTY),
];

pub(super) const OBJECT_METRIC_SOURCE: Type = ty("io.k8s.api.autoscaling.v2.ObjectMetricSource", &OBJECT_METRIC_SOURCE_FIELDS, 0);
static OBJECT_METRIC_SOURCE_FIELDS: [Field; 3] = [
    f("describedObject", 1, obj(AUTOSCALING_V2_CROSS_VERSION_OBJECT_REFERENCE), REQUIRED),
    f("metric", 3, obj(AUTOSCALING_V2_METRIC_IDENTIFIER), REQUIRED),
    f("target", 2, obj(AUTOSCALING_V2_METRIC_TARGET), REQUIRED),
];

pub(super) const OBJECT_METRIC_STATUS: Type = ty("io.k8s.api.autoscaling.v2.ObjectMetricStatus", &OBJECT_METRIC_STATUS_FIELDS, 0);
static OBJECT_METRIC_STATUS_FIELDS: [Field; 3] = [
    f("current", 2, obj(AUTOSCALING_V2_METRIC_VALUE_STATUS), REQUIRED),
    f("describedObject", 3, obj(AUTOSCALING_V2_CROSS_VERSION_OBJECT_REFERENCE), REQUIRED),
    f("metric", 1, obj(AUTOSCALING_V2_METRIC_IDENTIFIER), REQUIRED),
];

pub(super) const PODS_METRIC_SOURCE: Type = ty("io.k8s.api.autoscaling.v2.PodsMetricSource", &PODS_METRIC_SOURCE_FIELDS, 0);
static PODS_METRIC_SOURCE_FIELDS: [Field; 2] = [
    f("metric", 1, obj(AUTOSCALING_V2_METRIC_IDENTIFIER), REQUIRED),
    f("target", 2, obj(AUTOSCALING_V2_METRIC_TARGET), REQUIRED),
];

pub(super) const PODS_METRIC_STATUS: Type = ty("io.k8s.api.autoscaling.v2.PodsMetricStatus", &PODS_METRIC_STATUS_FIELDS, 0);
static PODS_METRIC_STATUS_FIELDS: [Field; 2] = [
    f("current", 2, obj(AUTOSCALING_V2_METRIC_VALUE_STATUS), REQUIRED),
    f("metric", 1, obj(AUTOSCALING_V2_METRIC_IDENTIFIER), REQUIRED),
];

pub(super) const RESOURCE_METRIC_SOURCE: Type = ty("io.k8s.api.autoscaling.v2.ResourceMetricSource", &RESOURCE_METRIC_SOURCE_FIELDS, 0);
static RESOURCE_METRIC_SOURCE_FIELDS: [Field; 2] = [
    f("name", 1, STRING, REQUIRED),
    f("target", 2, obj(AUTOSCALING_V2_METRIC_TARGET), REQUIRED),
];

pub(super) const RESOURCE_METRIC_STATUS: Type = ty("io.k8s.api.autoscaling.v2.ResourceMetricStatus", &RESOURCE_METRIC_STATUS_FIELDS, 0);
static RESOURCE_METRIC_STATUS_FIELDS: [Field; 2] = [
    f("current", 2, obj(AUTOSCALING_V2_METRIC_VALUE_STATUS), REQUIRED),
    f("name", 1, STRING, REQUIRED),
];
