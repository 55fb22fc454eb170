//! Who makes a request: the connection's identity, a bearer token, or nobody.

use api::{Status, UserInfo, Value, meta};
use http::{HeaderMap, header::AUTHORIZATION};

use super::rbac::Question;
use crate::server::Server;

/// Paths for which nobody need say who they are. What they get there is for the roles to say.
const PUBLIC: [&str; 4] = ["/healthz", "/livez", "/readyz", "/version"];

/// Whether the authorizer is not asked: probes come before there are roles.
pub fn is_always_allowed(path: &str) -> bool {
    matches!(path, "/healthz" | "/livez" | "/readyz")
}

/// Whether a path is open to those who do not say who they are.
pub fn is_public(path: &str) -> bool {
    let path = path.trim_end_matches('/');
    PUBLIC.iter().any(|public| path.strip_prefix(public).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

/// The user of a request, after impersonation. `peer` is what the connection (or the component of
/// this process) is known to be.
pub async fn authenticate(
    server: &Server,
    peer: Option<UserInfo>,
    headers: &HeaderMap,
    path: &str,
) -> Result<UserInfo, Status> {
    let token = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).and_then(bearer);
    let user = match (peer, token) {
        (Some(peer), _) => peer,
        (None, Some(token)) => match review(server, token).await? {
            Ok((user, claims)) if has_audience(&claims, &server.audiences()) => user,
            Ok(_) => return Err(Status::unauthorized()),
            Err(why) => {
                tracing::debug!(why, "bearer token refused");
                return Err(Status::unauthorized());
            }
        },
        (None, None) if is_public(path) => UserInfo::anonymous(),
        (None, None) => return Err(Status::unauthorized()),
    };
    // One that is empty is none.
    if headers.get("impersonate-user").is_some_and(|name| !name.is_empty()) {
        return impersonate(server, user, headers).await;
    }
    if headers.keys().any(|name| name.as_str().starts_with("impersonate-") && name != "impersonate-user") {
        return Err(Status::bad_request("requested groups, uid or extra without impersonating a user"));
    }
    Ok(user)
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Whether a token is meant for one of `audiences`.
pub fn has_audience(claims: &Value, audiences: &[String]) -> bool {
    let of = |value: &Value| value.as_str().is_some_and(|a| audiences.iter().any(|wanted| wanted == a));
    match &claims["aud"] {
        Value::Array(all) => all.iter().any(of),
        one => of(one),
    }
}

/// Looks a service account token up; the inner error says why it does not hold.
pub async fn review(server: &Server, token: &str) -> Result<Result<(UserInfo, Value), &'static str>, Status> {
    let claims = match server.signer.verify(token, server.now().as_second()) {
        Ok(claims) => claims,
        Err(why) => return Ok(Err(why)),
    };
    let bound = &claims["kubernetes.io"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (namespace, account) = (text(&bound["namespace"]), &bound["serviceaccount"]);
    let name = text(&account["name"]);
    if !server.exists("serviceaccounts", &namespace, &name, &text(&account["uid"])).await? {
        return Ok(Err("its service account is gone"));
    }
    let mut extra = std::collections::BTreeMap::new();
    for (resource, field, kind) in [("pods", "pod", true), ("secrets", "secret", false), ("nodes", "node", false)] {
        let reference = &bound[field];
        let Some(bound_name) = reference["name"].as_str() else { continue };
        let place = if resource == "nodes" { "" } else { namespace.as_str() };
        let own = kind || bound["pod"].is_null();
        if own && !server.exists(resource, place, bound_name, &text(&reference["uid"])).await? {
            return Ok(Err("the object it is bound to is gone"));
        }
        extra.insert(format!("authentication.kubernetes.io/{field}-name"), vec![bound_name.to_owned()]);
        extra.insert(format!("authentication.kubernetes.io/{field}-uid"), vec![text(&reference["uid"])]);
    }
    if let Some(id) = claims["jti"].as_str() {
        extra.insert("authentication.kubernetes.io/credential-id".to_owned(), vec![format!("JTI={id}")]);
    }
    let groups = ["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")];
    let groups: Vec<&str> = groups.iter().map(String::as_str).collect();
    let mut user = UserInfo::authenticated(format!("system:serviceaccount:{namespace}:{name}"), &groups);
    user.uid = text(&account["uid"]);
    user.extra = extra;
    Ok(Ok((user, claims)))
}

impl Server {
    /// Whether an object with this UID is there, one that is being deleted included; any UID for an empty one.
    async fn exists(&self, resource: &str, namespace: &str, name: &str, uid: &str) -> Result<bool, Status> {
        let kinds = self.kinds();
        let Some(kind) = kinds.by_resource("", "v1", resource) else { return Ok(false) };
        let found = self.read(kind, namespace, name).await?;
        Ok(match found {
            Some(stored) => uid.is_empty() || meta::text(&stored.tree()?, "uid") == uid,
            None => false,
        })
    }
}

/// `Impersonate-*` headers: the user must be allowed to impersonate each part.
async fn impersonate(server: &Server, user: UserInfo, headers: &HeaderMap) -> Result<UserInfo, Status> {
    let text = |name: &str| headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or_default().to_owned();
    let kinds = server.kinds();
    let name = text("impersonate-user");
    if name.is_empty() {
        return Err(Status::bad_request("the name of the user to impersonate cannot be read"));
    }
    let mut target = UserInfo { name: name.clone(), uid: text("impersonate-uid"), ..UserInfo::default() };
    let mut questions = Vec::new();
    let ask = |resource: &str, name: &str| Question {
        verb: "impersonate".to_owned(),
        resource: resource.to_owned(),
        name: name.to_owned(),
        ..Question::default()
    };
    let account = name.strip_prefix("system:serviceaccount:").and_then(|rest| rest.split_once(':'));
    match account {
        Some((namespace, account)) => {
            questions.push(Question { namespace: namespace.to_owned(), ..ask("serviceaccounts", account) });
        }
        None => questions.push(ask("users", &name)),
    }
    for group in headers.get_all("impersonate-group").iter().filter_map(|v| v.to_str().ok()) {
        questions.push(ask("groups", group));
        target.groups.push(group.to_owned());
    }
    const AUTHENTICATION: &str = "authentication.k8s.io";
    if !target.uid.is_empty() {
        questions.push(Question { group: AUTHENTICATION.to_owned(), ..ask("uids", &target.uid) });
    }
    for (header, value) in headers {
        let Some(key) = header.as_str().strip_prefix("impersonate-extra-") else { continue };
        let key = crate::query::percent_decode(key, false);
        let value = value.to_str().unwrap_or_default().to_owned();
        questions.push(Question {
            group: AUTHENTICATION.to_owned(),
            subresource: key.clone(),
            ..ask("userextras", &value)
        });
        target.extra.entry(key).or_default().push(value);
    }
    for question in &questions {
        server.authorizer.check(&kinds, &user, question).await?;
    }
    if let Some((namespace, _)) = account
        && target.groups.is_empty()
    {
        target.groups = vec!["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")];
    }
    let everybody = match name.as_str() {
        "system:anonymous" => "system:unauthenticated",
        _ => UserInfo::AUTHENTICATED,
    };
    if !target.in_group(UserInfo::AUTHENTICATED) && !target.in_group("system:unauthenticated") {
        target.groups.push(everybody.to_owned());
    }
    Ok(target)
}
