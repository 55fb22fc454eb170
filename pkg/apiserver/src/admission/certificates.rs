//! Certificates: who asks is written down, and nobody approves, signs or attests for a signer that
//! they may not speak for.
//!
//! Upstream has CertificateApproval, CertificateSigning, CertificateSubjectRestriction and
//! ClusterTrustBundleAttest for this, and what its strategies take from request and clock.

use api::{Status, Value, meta, tree, validation::FieldErrors, validation::x509};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::{Attributes, Operation, Plugin, same_metadata};
use crate::auth::{Question, rbac::MASTERS};

const GROUP: &str = "certificates.k8s.io";
/// Signs certificates that the API server takes for identities.
const CLIENT_SIGNER: &str = "kubernetes.io/kube-apiserver-client";
/// How far an issued certificate's beginning may be from now.
const SKEW: SignedDuration = SignedDuration::from_mins(5);

/// See the module.
pub struct Certificates;

#[async_trait::async_trait]
impl Plugin for Certificates {
    fn name(&self) -> &'static str {
        "CertificateApproval"
    }

    async fn mutate(&self, attributes: &Attributes<'_>, object: &mut Value) -> Result<(), Status> {
        let kind = &attributes.call.kind;
        if &*kind.group != GROUP || &*kind.plural != "certificatesigningrequests" {
            return Ok(());
        }
        match (attributes.operation, attributes.old) {
            (Operation::Create, _) => requester(attributes, object),
            (Operation::Update, Some(old)) if !attributes.subresource.is_empty() => {
                stamp(object, old, &attributes.call.timestamp());
            }
            _ => {}
        }
        Ok(())
    }

    async fn validate(&self, attributes: &Attributes<'_>, object: &Value) -> Result<(), Status> {
        let kind = &attributes.call.kind;
        if &*kind.group != GROUP || attributes.operation == Operation::Delete {
            return Ok(());
        }
        match (&*kind.plural, attributes.subresource, attributes.old) {
            ("certificatesigningrequests", "", None) => subject(attributes, object),
            ("certificatesigningrequests", "approval", Some(old)) => {
                speaks(attributes, "approve", old, "approve requests with").await
            }
            ("certificatesigningrequests", "status", Some(old)) if !tree::equal(&old["status"], &object["status"]) => {
                speaks(attributes, "sign", old, "sign requests with").await
            }
            ("podcertificaterequests", "status", Some(old)) if !tree::equal(&old["status"], &object["status"]) => {
                issued(attributes, old, object).await
            }
            ("clustertrustbundles", "", old) if !tree::text(object, "spec.signerName").is_empty() => {
                let same =
                    old.is_some_and(|old| tree::equal(&old["spec"], &object["spec"]) && same_metadata(old, object));
                if same { Ok(()) } else { speaks(attributes, "attest", object, "attest for").await }
            }
            _ => Ok(()),
        }
    }
}

/// Writes down who asks.
fn requester(attributes: &Attributes<'_>, object: &mut Value) {
    let user = &attributes.call.user;
    let Some(spec) = tree::object_mut(object, "spec") else { return };
    for field in ["username", "uid", "groups", "extra"] {
        spec.remove(field);
    }
    let filled = [
        ("username", json!(user.name), user.name.is_empty()),
        ("uid", json!(user.uid), user.uid.is_empty()),
        ("groups", json!(user.groups), user.groups.is_empty()),
        ("extra", json!(user.extra), user.extra.is_empty()),
    ];
    for (field, value, _) in filled.into_iter().filter(|(.., empty)| !empty) {
        spec.insert(field.to_owned(), value);
    }
}

/// Gives conditions their times, where the client gave none.
fn stamp(object: &mut Value, old: &Value, now: &str) {
    let conditions = object.pointer_mut("/status/conditions").and_then(Value::as_array_mut);
    for condition in conditions.into_iter().flatten() {
        if condition["lastUpdateTime"].is_null() {
            condition["lastUpdateTime"] = now.into();
        }
        if condition["lastTransitionTime"].is_null() {
            let same = |c: &&Value| c["type"] == condition["type"] && c["status"] == condition["status"];
            let before = tree::items(old, "status.conditions").iter().find(same);
            let before = before.map(|c| c["lastTransitionTime"].clone()).filter(|time| !time.is_null());
            condition["lastTransitionTime"] = before.unwrap_or_else(|| now.into());
        }
    }
}

/// Nobody gets a certificate of the group that passes every check.
fn subject(attributes: &Attributes<'_>, object: &Value) -> Result<(), Status> {
    if tree::text(object, "spec.signerName") != CLIENT_SIGNER {
        return Ok(());
    }
    let pem = x509::bytes(tree::text(object, "spec.request")).unwrap_or_default();
    match x509::organizations(&pem) {
        Err(fault) => Err(attributes.forbidden(object, &format!("failed to parse CSR: {fault}"))),
        Ok(groups) if groups.iter().any(|group| group == MASTERS) => {
            let why = format!("use of {CLIENT_SIGNER} signer with {MASTERS} group is not allowed");
            Err(attributes.forbidden(object, &why))
        }
        Ok(_) => Ok(()),
    }
}

/// Whether the user has a verb for the signer of `object`, by its name or by its domain.
async fn may(attributes: &Attributes<'_>, verb: &str, object: &Value) -> Result<bool, Status> {
    let call = attributes.call;
    let signer = tree::text(object, "spec.signerName");
    let domain = signer.split('/').next().unwrap_or_default();
    for name in [signer.to_owned(), format!("{domain}/*")] {
        let question = Question {
            verb: verb.to_owned(),
            group: GROUP.to_owned(),
            resource: "signers".to_owned(),
            name,
            ..Question::default()
        };
        if call.server.authorizer.allows(&call.kinds, &call.user, &question).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn speaks(attributes: &Attributes<'_>, verb: &str, object: &Value, doing: &str) -> Result<(), Status> {
    if may(attributes, verb, object).await? {
        return Ok(());
    }
    let signer = tree::text(object, "spec.signerName");
    Err(attributes.forbidden(object, &format!("user not permitted to {doing} signerName {signer:?}")))
}

/// Checks an answer to a pod's request: by whom, and that its certificate begins about now.
async fn issued(attributes: &Attributes<'_>, old: &Value, object: &Value) -> Result<(), Status> {
    let call = attributes.call;
    let mut errors = FieldErrors::default();
    let begins = tree::text(object, "status.notBefore");
    if let Ok(time) = begins.parse::<Timestamp>()
        && time.duration_since(call.now).abs() >= SKEW
    {
        let detail = "must be set to within 5 minutes of kube-apiserver's current time";
        errors.invalid("status.notBefore", begins, detail);
    } else if !may(attributes, "sign", old).await? {
        let signer = tree::text(old, "spec.signerName");
        let detail = format!("User {:?} is not permitted to \"sign\" for signer {signer:?}", call.user.name);
        errors.forbidden("spec.signerName", detail);
    }
    errors.refuse(&call.kind.group, &call.kind.kind, meta::name(old))
}
