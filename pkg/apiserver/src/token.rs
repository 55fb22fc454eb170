//! TokenRequest: tokens for service accounts, bound to the pod (or other object) that uses them.

use api::{Status, Value, meta, tree, validation::FieldErrors};
use serde_json::json;

use crate::{
    admission,
    call::{Call, rfc3339},
    reply::{Reply, served},
    verbs::read,
};

const GROUP: &str = "authentication.k8s.io";
/// Shortest life of a token, in seconds.
const MIN_SECONDS: i64 = 600;
/// Longest life of a token, in seconds.
const MAX_SECONDS: i64 = 1 << 32;
/// What the API assumes.
const DEFAULT_SECONDS: i64 = 3600;

/// Answers a create of `serviceaccounts/token`.
pub async fn request(call: &Call) -> Result<Reply, Status> {
    if call.info.verb != "create" {
        return Err(Status::method_not_allowed());
    }
    let validation = call.write_options(false)?.validation;
    let mut request = call.object_of(GROUP, &["v1"], "TokenRequest", validation)?;
    check_names(call, &request)?;
    let account = served(&call.kind, &read::current(call).await?)?;
    let (uid, wanted) = (meta::text(&account, "uid"), meta::text(&request, "uid"));
    if !wanted.is_empty() && wanted != uid {
        let why =
            format!("the UID in the token request ({wanted}) does not match the UID of the service account ({uid})");
        return Err(Status::conflict(GROUP, "TokenRequest", &call.info.name, &why));
    }
    admission::created(call, "token", &mut request).await?;
    let seconds = request["spec"]["expirationSeconds"].as_i64().unwrap_or(DEFAULT_SECONDS);
    check_seconds(seconds, &call.info.name)?;
    let server = &call.server;
    let mut audiences: Vec<String> = tree::texts(&request, "spec.audiences").map(str::to_owned).collect();
    if audiences.is_empty() {
        audiences = server.audiences();
    }
    let now = call.now.as_second();
    let namespace = call.namespace();
    let mut bound = json!({
        "namespace": namespace,
        "serviceaccount": {"name": call.info.name, "uid": uid},
    });
    bind(call, &request["spec"]["boundObjectRef"], &mut bound).await?;
    let claims = json!({
        "aud": audiences,
        "exp": now + seconds,
        "iat": now,
        "iss": server.signer.issuer,
        "jti": uuid::Uuid::new_v4().to_string(),
        "kubernetes.io": bound,
        "nbf": now,
        "sub": format!("system:serviceaccount:{namespace}:{}", call.info.name),
    });
    let token = server.signer.sign(&claims).map_err(|_| Status::internal("the token could not be signed"))?;
    let expires = jiff::Timestamp::from_second(now + seconds).map_err(Status::internal)?;
    request["metadata"]["name"] = call.info.name.as_str().into();
    request["metadata"]["namespace"] = namespace.into();
    request["metadata"]["uid"] = uid.into();
    request["metadata"]["creationTimestamp"] = call.timestamp().into();
    request["spec"]["audiences"] = audiences.into();
    request["spec"]["expirationSeconds"] = seconds.into();
    request["status"] = json!({"token": token, "expirationTimestamp": rfc3339(expires)});
    Ok(Reply::Tree(201, request))
}

/// The body may leave out whose token it asks for, which the path says.
fn check_names(call: &Call, request: &Value) -> Result<(), Status> {
    let mut errors = FieldErrors::default();
    for (field, own) in [("name", &*call.info.name), ("namespace", call.namespace())] {
        let told = meta::text(request, field);
        if !told.is_empty() && told != own {
            let detail = format!("must match the service account {field} if specified");
            errors.invalid(format!("metadata.{field}"), told, detail);
            break;
        }
    }
    errors.refuse(GROUP, "TokenRequest", &call.info.name)
}

fn check_seconds(seconds: i64, name: &str) -> Result<(), Status> {
    let why = match seconds {
        short if short < MIN_SECONDS => "may not specify a duration less than 10 minutes",
        long if long > MAX_SECONDS => "may not specify a duration larger than 2^32 seconds",
        _ => return Ok(()),
    };
    let mut errors = FieldErrors::default();
    errors.invalid("spec.expirationSeconds", seconds, why);
    errors.refuse(GROUP, "TokenRequest", name)
}

/// Checks the object that the token is bound to, and notes it in the claims.
async fn bind(call: &Call, reference: &Value, claims: &mut Value) -> Result<(), Status> {
    if reference.is_null() {
        return Ok(());
    }
    let (resource, field) = match tree::text(reference, "kind") {
        "Pod" => ("pods", "pod"),
        "Secret" => ("secrets", "secret"),
        "Node" => ("nodes", "node"),
        other => return Err(Status::bad_request(format!("cannot bind token to object of type {other}"))),
    };
    let (name, uid) = (tree::text(reference, "name"), tree::text(reference, "uid"));
    let kind = call.kinds.by_resource("", "v1", resource).ok_or_else(Status::no_such_path)?;
    let found = call.server.read(kind, call.namespace(), name).await?;
    let object = found.ok_or_else(|| Status::not_found("", resource, name))?.tree()?;
    let actual = meta::text(&object, "uid");
    if !uid.is_empty() && uid != actual {
        let why = format!(
            "the UID in the bound object reference ({uid}) does not match the UID in record. The object might have been deleted and then recreated"
        );
        return Err(Status::conflict("", resource, name, &why));
    }
    if field == "pod" {
        let account = tree::text(&object, "spec.serviceAccountName");
        if account != call.info.name {
            return Err(Status::bad_request(format!(
                "cannot bind token for serviceaccount \"{}\" to pod running with different serviceaccount name.",
                call.info.name
            )));
        }
        let node = tree::text(&object, "spec.nodeName");
        if !node.is_empty()
            && let Some(kind) = call.kinds.by_resource("", "v1", "nodes")
            && let Some(found) = call.server.read(kind, "", node).await?
        {
            claims["node"] = json!({"name": node, "uid": meta::text(&found.tree()?, "uid")});
        }
    }
    claims[field] = json!({"name": name, "uid": actual});
    Ok(())
}
