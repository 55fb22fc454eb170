//! Types of package `metrics_v1beta1`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static OF_METRICS_V1BETA1_CONTAINER_METRICS: Shape = obj(METRICS_V1BETA1_CONTAINER_METRICS);
static OF_METRICS_V1BETA1_NODE_METRICS: Shape = obj(METRICS_V1BETA1_NODE_METRICS);
static OF_METRICS_V1BETA1_POD_METRICS: Shape = obj(METRICS_V1BETA1_POD_METRICS);
static OF_QUANTITY: Shape = QUANTITY;

pub(super) const CONTAINER_METRICS: Type = ty("io.k8s.metrics.pkg.apis.metrics.v1beta1.ContainerMetrics", &CONTAINER_METRICS_FIELDS, 0);
static CONTAINER_METRICS_FIELDS: [Field; 2] = [
    f("name", 1, STRING, REQUIRED),
    f("usage", 2, map(&OF_QUANTITY), REQUIRED),
];

pub(super) const NODE_METRICS: Type = ty("io.k8s.metrics.pkg.apis.metrics.v1beta1.NodeMetrics", &NODE_METRICS_FIELDS, 0);
static NODE_METRICS_FIELDS: [Field; 6] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("timestamp", 2, TIME, REQUIRED),
    f("usage", 4, map(&OF_QUANTITY), REQUIRED),
    f("window", 3, DURATION, REQUIRED),
];

pub(super) const NODE_METRICS_LIST: Type = ty("io.k8s.metrics.pkg.apis.metrics.v1beta1.NodeMetricsList", &NODE_METRICS_LIST_FIELDS, 0);
static NODE_METRICS_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_METRICS_V1BETA1_NODE_METRICS), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const POD_METRICS: Type = ty("io.k8s.metrics.pkg.apis.metrics.v1beta1.PodMetrics", &POD_METRICS_FIELDS, 0);
static POD_METRICS_FIELDS: [Field; 6] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("containers", 4, list(&OF_METRICS_V1BETA1_CONTAINER_METRICS), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("timestamp", 2, TIME, REQUIRED),
    f("window", 3, DURATION, REQUIRED),
];

pub(super) const POD_METRICS_LIST: Type = ty("io.k8s.metrics.pkg.apis.metrics.v1beta1.PodMetricsList", &POD_METRICS_LIST_FIELDS, 0);
static POD_METRICS_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_METRICS_V1BETA1_POD_METRICS), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];
