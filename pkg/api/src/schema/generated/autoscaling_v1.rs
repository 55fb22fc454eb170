//! Types of package `autoscaling_v1`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static OF_AUTOSCALING_V1_HORIZONTAL_POD_AUTOSCALER: Shape = obj(AUTOSCALING_V1_HORIZONTAL_POD_AUTOSCALER);

pub(super) const CROSS_VERSION_OBJECT_REFERENCE: Type = ty("io.k8s.api.autoscaling.v1.CrossVersionObjectReference", &CROSS_VERSION_OBJECT_REFERENCE_FIELDS, ATOMIC);
static CROSS_VERSION_OBJECT_REFERENCE_FIELDS: [Field; 3] = [
    f("apiVersion", 3, STRING, OMIT_EMPTY),
    f("kind", 1, STRING, REQUIRED),
    f("name", 2, STRING, REQUIRED),
];

pub(super) const HORIZONTAL_POD_AUTOSCALER: Type = ty("io.k8s.api.autoscaling.v1.HorizontalPodAutoscaler", &HORIZONTAL_POD_AUTOSCALER_FIELDS, 0);
static HORIZONTAL_POD_AUTOSCALER_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(AUTOSCALING_V1_HORIZONTAL_POD_AUTOSCALER_SPEC), REQUIRED | OMIT_EMPTY),
    f("status", 3, obj(AUTOSCALING_V1_HORIZONTAL_POD_AUTOSCALER_STATUS), OMIT_EMPTY),
];

pub(super) const HORIZONTAL_POD_AUTOSCALER_LIST: Type = ty("io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerList", &HORIZONTAL_POD_AUTOSCALER_LIST_FIELDS, 0);
static HORIZONTAL_POD_AUTOSCALER_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_AUTOSCALING_V1_HORIZONTAL_POD_AUTOSCALER), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const HORIZONTAL_POD_AUTOSCALER_SPEC: Type = ty("io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerSpec", &HORIZONTAL_POD_AUTOSCALER_SPEC_FIELDS, 0);
static HORIZONTAL_POD_AUTOSCALER_SPEC_FIELDS: [Field; 4] = [
    f("maxReplicas", 3, INT32, REQUIRED),
    f("minReplicas", 2, INT32, POINTER | OMIT_EMPTY),
    f("scaleTargetRef", 1, obj(AUTOSCALING_V1_CROSS_VERSION_OBJECT_REFERENCE), REQUIRED),
    f("targetCPUUtilizationPercentage", 4, INT32, POINTER | OMIT_EMPTY),
];

pub(super) const HORIZONTAL_POD_AUTOSCALER_STATUS: Type = ty("io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerStatus", &HORIZONTAL_POD_AUTOSCALER_STATUS_FIELDS, 0);
static HORIZONTAL_POD_AUTOSCALER_STATUS_FIELDS: [Field; 5] = [
    f("currentCPUUtilizationPercentage", 5, INT32, POINTER | OMIT_EMPTY),
    f("currentReplicas", 3, INT32, REQUIRED),
    f("desiredReplicas", 4, INT32, REQUIRED),
    f("lastScaleTime", 2, TIME, POINTER | OMIT_EMPTY),
    f("observedGeneration", 1, INT64, POINTER | OMIT_EMPTY),
];

pub(super) const SCALE: Type = ty("io.k8s.api.autoscaling.v1.Scale", &SCALE_FIELDS, 0);
static SCALE_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(AUTOSCALING_V1_SCALE_SPEC), OMIT_EMPTY),
    f("status", 3, obj(AUTOSCALING_V1_SCALE_STATUS), OMIT_EMPTY),
];

pub(super) const SCALE_SPEC: Type = ty("io.k8s.api.autoscaling.v1.ScaleSpec", &SCALE_SPEC_FIELDS, 0);
static SCALE_SPEC_FIELDS: [Field; 1] = [
    full(&[], "replicas", 1, INT32, OMIT_EMPTY, Some("0"), &[], NO_PATCH),
];

pub(super) const SCALE_STATUS: Type = ty("io.k8s.api.autoscaling.v1.ScaleStatus", &SCALE_STATUS_FIELDS, 0);
static SCALE_STATUS_FIELDS: [Field; 2] = [
    f("replicas", 1, INT32, REQUIRED),
    f("selector", 2, STRING, OMIT_EMPTY),
];
