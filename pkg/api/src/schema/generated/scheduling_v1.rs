//! Types of package `scheduling_v1`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static OF_SCHEDULING_V1_PRIORITY_CLASS: Shape = obj(SCHEDULING_V1_PRIORITY_CLASS);

pub(super) const PRIORITY_CLASS: Type = ty("io.k8s.api.scheduling.v1.PriorityClass", &PRIORITY_CLASS_FIELDS, 0);
static PRIORITY_CLASS_FIELDS: [Field; 7] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("description", 4, STRING, OMIT_EMPTY),
    f("globalDefault", 3, BOOL, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    full(&[], "preemptionPolicy", 5, STRING, POINTER | OMIT_EMPTY, None, &["Never", "PreemptLowerPriority"], NO_PATCH),
    f("value", 2, INT32, 0),
];

pub(super) const PRIORITY_CLASS_LIST: Type = ty("io.k8s.api.scheduling.v1.PriorityClassList", &PRIORITY_CLASS_LIST_FIELDS, 0);
static PRIORITY_CLASS_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_SCHEDULING_V1_PRIORITY_CLASS), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];
