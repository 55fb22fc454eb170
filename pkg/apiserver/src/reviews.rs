//! Kinds that are only created and never stored: questions to the authenticator and authorizer.

use api::{Status, UserInfo, Value, meta, selector::Fields, tree};
use serde_json::json;

use crate::{
    auth::{Question, authn},
    call::Call,
    reply::Reply,
    verbs::{create::place, subresource},
};

/// Answers a create of a review.
pub async fn create(call: &Call) -> Result<Reply, Status> {
    let mut review = call.object(call.write_options(false)?.validation)?;
    if &*call.kind.kind == "Binding" {
        // The old place of bindings: the name is in the body.
        return subresource_bind(call, meta::name(&review)).await;
    }
    if call.kind.namespaced {
        place(call, &mut review)?;
    }
    call.kind.strategy.validate(&review).refuse(&call.kind.group, &call.kind.kind, "")?;
    // There is a metadata, even if it is empty.
    let mut metadata = review["metadata"].take();
    metadata.as_object_mut().map(|fields| fields.remove("creationTimestamp"));
    review["metadata"] = if metadata.is_null() { json!({}) } else { metadata };
    match &*call.kind.kind {
        "SelfSubjectReview" => {
            review["metadata"]["creationTimestamp"] = call.timestamp().into();
            review["status"] = json!({"userInfo": user_info(&call.user)});
        }
        "TokenReview" => review["status"] = token_review(call, &review).await?,
        "SelfSubjectAccessReview" => {
            review["status"] = access(call, &call.user, &review["spec"]).await?;
        }
        "SubjectAccessReview" => {
            let user = subject(&review["spec"]);
            review["status"] = access(call, &user, &review["spec"]).await?;
        }
        "LocalSubjectAccessReview" => {
            let user = subject(&review["spec"]);
            review["status"] = access(call, &user, &review["spec"]).await?;
        }
        "SelfSubjectRulesReview" => {
            let namespace = tree::text(&review, "spec.namespace");
            if namespace.is_empty() {
                return Err(Status::bad_request("no namespace on request"));
            }
            review["status"] = call.server.authorizer.rules(&call.kinds, &call.user, namespace).await?;
        }
        _ => return Err(Status::method_not_allowed()),
    }
    Ok(Reply::Tree(201, review))
}

async fn subresource_bind(call: &Call, name: &str) -> Result<Reply, Status> {
    let pods = call.kinds.by_resource("", "v1", "pods").ok_or_else(Status::no_such_path)?.clone();
    let mut info = call.info.clone();
    info.name = name.to_owned();
    info.resource = "pods".to_owned();
    info.subresource = "binding".to_owned();
    let call = Call {
        server: call.server.clone(),
        kinds: call.kinds.clone(),
        kind: pods,
        info,
        query: call.query.clone(),
        uri: call.uri.clone(),
        user: call.user.clone(),
        headers: call.headers.clone(),
        body: call.body.clone(),
        accepted: call.accepted,
        table: call.table,
        now: call.now,
        warnings: parking_lot::Mutex::default(),
    };
    subresource::bind(&call, name).await
}

/// `authentication.k8s.io/v1 UserInfo`.
fn user_info(user: &UserInfo) -> Value {
    let mut info = json!({"username": user.name, "groups": user.groups});
    if !user.uid.is_empty() {
        info["uid"] = user.uid.as_str().into();
    }
    if !user.extra.is_empty() {
        info["extra"] = json!(user.extra);
    }
    info
}

fn subject(spec: &Value) -> UserInfo {
    UserInfo {
        name: tree::text(spec, "user").to_owned(),
        uid: tree::text(spec, "uid").to_owned(),
        groups: tree::texts(spec, "groups").map(str::to_owned).collect(),
        ..UserInfo::default()
    }
}

/// The `fieldSelector` of resource attributes: what it says of single values.
fn selection(selector: &Value) -> Fields {
    let escaped = |value: &str| value.replace('\\', "\\\\").replace(',', "\\,").replace('=', "\\=");
    let terms: Vec<String> = tree::items(selector, "requirements")
        .iter()
        .filter_map(|term| {
            let operator = match tree::text(term, "operator") {
                "In" => "=",
                "NotIn" => "!=",
                _ => return None,
            };
            let [value] = tree::items(term, "values") else { return None };
            Some(format!("{}{operator}{}", tree::text(term, "key"), escaped(value.as_str()?)))
        })
        .collect();
    let text = if terms.is_empty() { tree::text(selector, "rawSelector").to_owned() } else { terms.join(",") };
    // What cannot be read selects nothing.
    Fields::parse(&text).unwrap_or_default()
}

async fn access(call: &Call, user: &UserInfo, spec: &Value) -> Result<Value, Status> {
    let resource = &spec["resourceAttributes"];
    let other = &spec["nonResourceAttributes"];
    let text = |value: &Value, field: &str| tree::text(value, field).to_owned();
    let question = if resource.is_object() {
        Question {
            verb: text(resource, "verb"),
            group: text(resource, "group"),
            resource: text(resource, "resource"),
            subresource: text(resource, "subresource"),
            namespace: text(resource, "namespace"),
            name: text(resource, "name"),
            fields: selection(&resource["fieldSelector"]),
            path: None,
        }
    } else {
        Question { verb: text(other, "verb"), path: Some(text(other, "path")), ..Question::default() }
    };
    let allowed = call.server.authorizer.allows(&call.kinds, user, &question).await?;
    let mut status = json!({"allowed": allowed});
    if allowed {
        let reason = call.server.authorizer.reason(&call.kinds, user, &question).await?;
        if !reason.is_empty() {
            status["reason"] = reason.into();
        }
    }
    Ok(status)
}

async fn token_review(call: &Call, review: &Value) -> Result<Value, Status> {
    let token = tree::text(review, "spec.token");
    if token.is_empty() {
        return Err(Status::bad_request("token is required for TokenReview in authentication"));
    }
    let mut wanted: Vec<String> = tree::texts(review, "spec.audiences").map(str::to_owned).collect();
    if wanted.is_empty() {
        wanted = call.server.audiences();
    }
    Ok(match authn::review(&call.server, token).await? {
        Ok((user, claims)) if authn::has_audience(&claims, &wanted) => {
            let audiences: Vec<&String> =
                wanted.iter().filter(|a| authn::has_audience(&claims, std::slice::from_ref(a))).collect();
            json!({"authenticated": true, "user": user_info(&user), "audiences": audiences})
        }
        Ok(_) => json!({"user": {}, "error": "token audiences do not match"}),
        Err(why) => json!({"user": {}, "error": format!("[invalid bearer token, {why}]")}),
    })
}
