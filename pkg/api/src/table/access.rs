//! Columns of RBAC bindings and certificates.

use serde_json::Value;

use super::{age, code, human_duration, name, text, wide};
use crate::{kinds::Column, tree};

pub(crate) static BINDING: [Column; 6] = [
    name("Name"),
    code("Role", |binding, _| {
        let role = tree::at(binding, "roleRef");
        format!("{}/{}", tree::text(role, "kind"), tree::text(role, "name")).into()
    }),
    age(),
    wide("Users", |binding, _| subjects(binding, "User")),
    wide("Groups", |binding, _| subjects(binding, "Group")),
    wide("ServiceAccounts", |binding, _| subjects(binding, "ServiceAccount")),
];

fn subjects(binding: &Value, kind: &str) -> Value {
    let name = |subject: &Value| match kind {
        "ServiceAccount" => format!("{}/{}", tree::text(subject, "namespace"), tree::text(subject, "name")),
        _ => tree::text(subject, "name").to_owned(),
    };
    let all: Vec<_> = tree::items(binding, "subjects").iter().filter(|s| s["kind"] == kind).map(name).collect();
    all.join(", ").into()
}

pub(crate) static SIGNING_REQUEST: [Column; 6] = [
    name("Name"),
    age(),
    text("SignerName", "spec.signerName", "<none>"),
    text("Requestor", "spec.username", ""),
    code("RequestedDuration", |request, _| match tree::at(request, "spec.expirationSeconds").as_i64() {
        Some(seconds) => human_duration(seconds).into(),
        None => "<none>".into(),
    }),
    code("Condition", |request, _| {
        let has = |kind: &str| tree::items(request, "status.conditions").iter().any(|c| c["type"] == kind);
        let verdict = if has("Denied") {
            "Denied"
        } else if has("Approved") {
            "Approved"
        } else {
            "Pending"
        };
        let failed = if has("Failed") { ",Failed" } else { "" };
        let issued = if tree::text(request, "status.certificate").is_empty() { "" } else { ",Issued" };
        format!("{verdict}{failed}{issued}").into()
    }),
];

pub(crate) static TRUST_BUNDLE: [Column; 2] = [name("Name"), text("SignerName", "spec.signerName", "<none>")];

pub(crate) static POD_CERTIFICATE: [Column; 7] = [
    name("Name"),
    text("PodName", "spec.podName", ""),
    text("ServiceAccountName", "spec.serviceAccountName", ""),
    text("NodeName", "spec.nodeName", ""),
    text("SignerName", "spec.signerName", ""),
    code("State", |request, _| {
        let mut conditions = tree::items(request, "status.conditions").iter().map(|c| tree::text(c, "type"));
        conditions.rfind(|kind| matches!(*kind, "Issued" | "Denied" | "Failed")).unwrap_or("Pending").into()
    }),
    code("UnverifiedUserAnnotations", |request, _| {
        super::format_labels(tree::at(request, "spec.unverifiedUserAnnotations")).into()
    }),
];
