//! Types of package `certificates_v1beta1`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};

static KEYS_META_V1_CONDITION_TYPE: [Key; 1] = [key("type", Some("\"\""))];
static OF_CERTIFICATES_V1BETA1_CLUSTER_TRUST_BUNDLE: Shape = obj(CERTIFICATES_V1BETA1_CLUSTER_TRUST_BUNDLE);
static OF_CERTIFICATES_V1BETA1_POD_CERTIFICATE_REQUEST: Shape = obj(CERTIFICATES_V1BETA1_POD_CERTIFICATE_REQUEST);
static OF_META_V1_CONDITION: Shape = obj(META_V1_CONDITION);
static OF_STRING: Shape = STRING;

pub(super) const CLUSTER_TRUST_BUNDLE: Type = ty("io.k8s.api.certificates.v1beta1.ClusterTrustBundle", &CLUSTER_TRUST_BUNDLE_FIELDS, 0);
static CLUSTER_TRUST_BUNDLE_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(CERTIFICATES_V1BETA1_CLUSTER_TRUST_BUNDLE_SPEC), REQUIRED),
];

pub(super) const CLUSTER_TRUST_BUNDLE_LIST: Type = ty("io.k8s.api.certificates.v1beta1.ClusterTrustBundleList", &CLUSTER_TRUST_BUNDLE_LIST_FIELDS, 0);
static CLUSTER_TRUST_BUNDLE_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_CERTIFICATES_V1BETA1_CLUSTER_TRUST_BUNDLE), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const CLUSTER_TRUST_BUNDLE_SPEC: Type = ty("io.k8s.api.certificates.v1beta1.ClusterTrustBundleSpec", &CLUSTER_TRUST_BUNDLE_SPEC_FIELDS, 0);
static CLUSTER_TRUST_BUNDLE_SPEC_FIELDS: [Field; 2] = [
    f("signerName", 1, STRING, OMIT_EMPTY),
    f("trustBundle", 2, STRING, REQUIRED),
];

pub(super) const POD_CERTIFICATE_REQUEST: Type = ty("io.k8s.api.certificates.v1beta1.PodCertificateRequest", &POD_CERTIFICATE_REQUEST_FIELDS, 0);
static POD_CERTIFICATE_REQUEST_FIELDS: [Field; 5] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_OBJECT_META), OMIT_EMPTY),
    f("spec", 2, obj(CERTIFICATES_V1BETA1_POD_CERTIFICATE_REQUEST_SPEC), REQUIRED),
    f("status", 3, obj(CERTIFICATES_V1BETA1_POD_CERTIFICATE_REQUEST_STATUS), OMIT_EMPTY),
];

pub(super) const POD_CERTIFICATE_REQUEST_LIST: Type = ty("io.k8s.api.certificates.v1beta1.PodCertificateRequestList", &POD_CERTIFICATE_REQUEST_LIST_FIELDS, 0);
static POD_CERTIFICATE_REQUEST_LIST_FIELDS: [Field; 4] = [
    f("apiVersion", 0, STRING, OMIT_EMPTY),
    f("items", 2, list(&OF_CERTIFICATES_V1BETA1_POD_CERTIFICATE_REQUEST), REQUIRED),
    f("kind", 0, STRING, OMIT_EMPTY),
    f("metadata", 1, obj(META_V1_LIST_META), OMIT_EMPTY),
];

pub(super) const POD_CERTIFICATE_REQUEST_SPEC: Type = ty("io.k8s.api.certificates.v1beta1.PodCertificateRequestSpec", &POD_CERTIFICATE_REQUEST_SPEC_FIELDS, 0);
static POD_CERTIFICATE_REQUEST_SPEC_FIELDS: [Field; 12] = [
    full(&[], "maxExpirationSeconds", 8, INT32, POINTER | OMIT_EMPTY, Some("86400"), &[], NO_PATCH),
    f("nodeName", 6, STRING, REQUIRED),
    f("nodeUID", 7, STRING, REQUIRED),
    f("pkixPublicKey", 9, BYTES, 0),
    f("podName", 2, STRING, REQUIRED),
    f("podUID", 3, STRING, REQUIRED),
    f("proofOfPossession", 10, BYTES, 0),
    f("serviceAccountName", 4, STRING, REQUIRED),
    f("serviceAccountUID", 5, STRING, REQUIRED),
    f("signerName", 1, STRING, REQUIRED),
    f("stubPKCS10Request", 12, BYTES, REQUIRED),
    f("unverifiedUserAnnotations", 11, map(&OF_STRING), OMIT_EMPTY),
];

pub(super) const POD_CERTIFICATE_REQUEST_STATUS: Type = ty("io.k8s.api.certificates.v1beta1.PodCertificateRequestStatus", &POD_CERTIFICATE_REQUEST_STATUS_FIELDS, 0);
static POD_CERTIFICATE_REQUEST_STATUS_FIELDS: [Field; 5] = [
    f("beginRefreshAt", 5, TIME, POINTER | OMIT_EMPTY),
    f("certificateChain", 2, STRING, OMIT_EMPTY),
    full(&[], "conditions", 1, assoc(&OF_META_V1_CONDITION, &KEYS_META_V1_CONDITION_TYPE), OMIT_EMPTY, None, &[], merge_by("type")),
    f("notAfter", 6, TIME, POINTER | OMIT_EMPTY),
    f("notBefore", 4, TIME, POINTER | OMIT_EMPTY),
];
