//! Types of package `coordination_v1`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static OF_COORDINATION_V1_LEASE: Shape = obj(COORDINATION_V1_LEASE);

pub(super) const LEASE: Type = ty("io.k8s.api.coordination.v1.Lease", &LEASE_FIELDS, 0);
static LEASE_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(COORDINATION_V1_LEASE_SPEC), OMIT_EMPTY),
];

pub(super) const LEASE_LIST: Type = ty("io.k8s.api.coordination.v1.LeaseList", &LEASE_LIST_FIELDS, 0);
static LEASE_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_COORDINATION_V1_LEASE), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const LEASE_SPEC: Type = ty("io.k8s.api.coordination.v1.LeaseSpec", &LEASE_SPEC_FIELDS, 0);
static LEASE_SPEC_FIELDS: [Field; 7] = [
    f("acquireTime", 3, MICRO_TIME, POINTER | OMIT_EMPTY),
    f("holderIdentity", 1, STRING, POINTER | OMIT_EMPTY),
    f("leaseDurationSeconds", 2, INT32, POINTER | OMIT_EMPTY),
    f("leaseTransitions", 5, INT32, POINTER | OMIT_EMPTY),
    f("preferredHolder", 7, STRING, POINTER | OMIT_EMPTY),
    f("renewTime", 4, MICRO_TIME, POINTER | OMIT_EMPTY),
    f("strategy", 6, STRING, POINTER | OMIT_EMPTY),
];
