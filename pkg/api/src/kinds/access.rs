//! Rows of authentication, authorization, RBAC and certificates.

use super::{
    Action, Subresource, Verbs,
    row::{Group, Row, STATUS, sub},
};
use crate::{strategy, table, validation::reviews::Review};

pub(super) static AUTHENTICATION: Group =
    Group { group: "authentication.k8s.io", version: "v1", package: "io.k8s.api.authentication" };
pub(super) static AUTHORIZATION: Group =
    Group { group: "authorization.k8s.io", version: "v1", package: "io.k8s.api.authorization" };
pub(super) static CERTIFICATES: Group =
    Group { group: "certificates.k8s.io", version: "v1", package: "io.k8s.api.certificates" };
pub(super) static RBAC: Group = Group { group: "rbac.authorization.k8s.io", version: "v1", package: "io.k8s.api.rbac" };

const SIGNING_SUBS: &[Subresource] = &[sub("approval", Action::Approval), sub("status", Action::Status)];

pub(super) const AUTHENTICATION_ROWS: &[Row] = &[
    Row::cluster("SelfSubjectReview", "selfsubjectreviews").verbs(Verbs::CreateOnly),
    Row::cluster("TokenReview", "tokenreviews").verbs(Verbs::CreateOnly),
];

pub(super) const AUTHORIZATION_ROWS: &[Row] = &[
    Row::namespaced("LocalSubjectAccessReview", "localsubjectaccessreviews")
        .strategy(&strategy::AccessReviews(Review::Local))
        .verbs(Verbs::CreateOnly),
    Row::cluster("SelfSubjectAccessReview", "selfsubjectaccessreviews")
        .strategy(&strategy::AccessReviews(Review::Own))
        .verbs(Verbs::CreateOnly),
    Row::cluster("SelfSubjectRulesReview", "selfsubjectrulesreviews").verbs(Verbs::CreateOnly),
    Row::cluster("SubjectAccessReview", "subjectaccessreviews")
        .strategy(&strategy::AccessReviews(Review::Subject))
        .verbs(Verbs::CreateOnly),
];

pub(super) const CERTIFICATES_ROWS: &[Row] = &[
    Row::cluster("CertificateSigningRequest", "certificatesigningrequests")
        .strategy(&strategy::SigningRequests)
        .columns(&table::access::SIGNING_REQUEST)
        .short(&["csr"])
        .subs(SIGNING_SUBS)
        .selectable(&["spec.signerName"]),
    Row::cluster("ClusterTrustBundle", "clustertrustbundles")
        .based()
        .strategy(&strategy::TrustBundles)
        .columns(&table::access::TRUST_BUNDLE)
        .selectable(&["spec.signerName"]),
    Row::namespaced("PodCertificateRequest", "podcertificaterequests")
        .based()
        .strategy(&strategy::PodRequests)
        .columns(&table::access::POD_CERTIFICATE)
        .subs(STATUS)
        .selectable(&["spec.signerName", "spec.podName", "spec.nodeName"]),
];

pub(super) const RBAC_ROWS: &[Row] = &[
    Row::cluster("ClusterRoleBinding", "clusterrolebindings")
        .made_by_update()
        .strategy(&strategy::Bindings { namespaced: false })
        .columns(&table::access::BINDING),
    Row::cluster("ClusterRole", "clusterroles").made_by_update().strategy(&strategy::Roles { namespaced: false }),
    Row::namespaced("RoleBinding", "rolebindings")
        .made_by_update()
        .strategy(&strategy::Bindings { namespaced: true })
        .columns(&table::access::BINDING),
    Row::namespaced("Role", "roles").made_by_update().strategy(&strategy::Roles { namespaced: true }),
];
