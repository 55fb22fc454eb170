//! Types of package `coordination_v1alpha2`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static OF_COORDINATION_V1ALPHA2_LEASE_CANDIDATE: Shape = obj(COORDINATION_V1ALPHA2_LEASE_CANDIDATE);

pub(super) const LEASE_CANDIDATE: Type = ty("io.k8s.api.coordination.v1alpha2.LeaseCandidate", &LEASE_CANDIDATE_FIELDS, 0);
static LEASE_CANDIDATE_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(COORDINATION_V1ALPHA2_LEASE_CANDIDATE_SPEC), REQUIRED | OMIT_EMPTY),
];

pub(super) const LEASE_CANDIDATE_LIST: Type = ty("io.k8s.api.coordination.v1alpha2.LeaseCandidateList", &LEASE_CANDIDATE_LIST_FIELDS, 0);
static LEASE_CANDIDATE_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_COORDINATION_V1ALPHA2_LEASE_CANDIDATE), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const LEASE_CANDIDATE_SPEC: Type = ty("io.k8s.api.coordination.v1alpha2.LeaseCandidateSpec", &LEASE_CANDIDATE_SPEC_FIELDS, 0);
static LEASE_CANDIDATE_SPEC_FIELDS: [Field; 6] = [
    f("binaryVersion", 4, STRING, REQUIRED),
    f("emulationVersion", 5, STRING, OMIT_EMPTY),
    f("leaseName", 1, STRING, REQUIRED),
    f("pingTime", 2, MICRO_TIME, POINTER | OMIT_EMPTY),
    f("renewTime", 3, MICRO_TIME, POINTER | OMIT_EMPTY),
    f("strategy", 6, STRING, REQUIRED | OMIT_EMPTY),
];
