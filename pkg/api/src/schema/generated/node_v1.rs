//! Types of package `node_v1`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static OF_CORE_V1_TOLERATION: Shape = obj(CORE_V1_TOLERATION);
static OF_NODE_V1_RUNTIME_CLASS: Shape = obj(NODE_V1_RUNTIME_CLASS);
static OF_QUANTITY: Shape = QUANTITY;
static OF_STRING: Shape = STRING;

pub(super) const OVERHEAD: Type = ty("io.k8s.api.node.v1.Overhead", &OVERHEAD_FIELDS, 0);
static OVERHEAD_FIELDS: [Field; 1] = [
    f("podFixed", 1, map(&OF_QUANTITY), OMIT_EMPTY),
];

pub(super) const RUNTIME_CLASS: Type = ty("io.k8s.api.node.v1.RuntimeClass", &RUNTIME_CLASS_FIELDS, 0);
static RUNTIME_CLASS_FIELDS: [Field; 6] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("handler", 2, STRING, REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("overhead", 3, obj(NODE_V1_OVERHEAD), POINTER | OMIT_EMPTY),
    f("scheduling", 4, obj(NODE_V1_SCHEDULING), POINTER | OMIT_EMPTY),
];

pub(super) const RUNTIME_CLASS_LIST: Type = ty("io.k8s.api.node.v1.RuntimeClassList", &RUNTIME_CLASS_LIST_FIELDS, 0);
static RUNTIME_CLASS_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_NODE_V1_RUNTIME_CLASS), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const SCHEDULING: Type = ty("io.k8s.api.node.v1.Scheduling", &SCHEDULING_FIELDS, 0);
static SCHEDULING_FIELDS: [Field; 2] = [
    f("nodeSelector", 1, atomic_map(&OF_STRING), OMIT_EMPTY),
    f("tolerations", 2, list(&OF_CORE_V1_TOLERATION), OMIT_EMPTY),
];
