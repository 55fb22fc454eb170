//! Who may do what: RBAC, tokens, reviews, impersonation.

use api::UserInfo;
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::{CONFIG_MAPS, Fixture};

async fn grant(fixture: &Fixture) {
    let role = json!({"metadata": {"name": "reader"}, "rules": [{"verbs": ["get", "list"], "apiGroups": [""], "resources": ["configmaps"]}]});
    let roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
    fixture.post(&format!("{roles}/roles"), &role).await.expect(201);
    let binding = json!({"metadata": {"name": "readers"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
        "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "joe"}, {"kind": "ServiceAccount", "name": "default", "namespace": "default"}]});
    fixture.post(&format!("{roles}/rolebindings"), &binding).await.expect(201);
}

/// Sends a request without the identity of the fixture.
async fn anonymous(fixture: &Fixture, uri: &str, token: Option<&str>) -> (u16, Value) {
    let mut request = http::Request::get(uri);
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let response =
        fixture.server.clone().oneshot(request.body(Full::<bytes::Bytes>::default()).unwrap()).await.unwrap();
    let code = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (code, serde_json::from_slice(&bytes).unwrap_or_default())
}

#[tokio::test]
async fn roles_decide_at_once() {
    let mut fixture = Fixture::new().await;
    let masters = fixture.user.clone();
    fixture.user = UserInfo::authenticated("joe", &[]);
    let message = fixture.get(&format!("{CONFIG_MAPS}/x")).await.refused(403, "Forbidden");
    assert_eq!(
        message,
        "configmaps \"x\" is forbidden: User \"joe\" cannot get resource \"configmaps\" in API group \"\" in the namespace \"default\""
    );
    let message = fixture.get("/apis/apps/v1/deployments").await.refused(403, "Forbidden");
    assert_eq!(
        message,
        "deployments.apps is forbidden: User \"joe\" cannot list resource \"deployments\" in API group \"apps\" at the cluster scope"
    );
    let message = fixture.get("/metrics").await.refused(403, "Forbidden");
    assert_eq!(message, "forbidden: User \"joe\" cannot get path \"/metrics\"");
    let joe = std::mem::replace(&mut fixture.user, masters);
    grant(&fixture).await;
    fixture.user = joe;
    fixture.get(CONFIG_MAPS).await.expect(200);
    fixture.post(CONFIG_MAPS, &json!({"metadata": {"name": "a"}})).await.refused(403, "Forbidden");
    fixture.get("/api/v1/namespaces/kube-system/configmaps").await.refused(403, "Forbidden");
}

#[tokio::test]
async fn nobody_sees_only_health_and_what_the_roles_say() {
    let fixture = Fixture::new().await;
    for path in ["/healthz", "/livez", "/readyz"] {
        assert_eq!(anonymous(&fixture, path, None).await.0, 200, "{path}");
    }
    // Open to those without a name, but nobody has said that they may.
    for path in ["/version", "/livez/ping"] {
        assert_eq!(anonymous(&fixture, path, None).await.0, 403, "{path}");
    }
    let group = "/apis/rbac.authorization.k8s.io/v1";
    let role = json!({"metadata": {"name": "public"}, "rules": [{"verbs": ["get"], "nonResourceURLs": ["/version", "/api", "/livez/*"]}]});
    fixture.post(&format!("{group}/clusterroles"), &role).await.expect(201);
    let binding = json!({"metadata": {"name": "public"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "public"},
        "subjects": [{"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "system:unauthenticated"}]});
    fixture.post(&format!("{group}/clusterrolebindings"), &binding).await.expect(201);
    for path in ["/version", "/livez/ping"] {
        assert_eq!(anonymous(&fixture, path, None).await.0, 200, "{path}");
    }
    for path in ["/api", "/apis", "/metrics", CONFIG_MAPS, "/healthzz", "/"] {
        let (code, body) = anonymous(&fixture, path, None).await;
        assert_eq!((code, &body["reason"]), (401, &json!("Unauthorized")), "{path}");
    }
    assert_eq!(anonymous(&fixture, "/api", Some("nonsense")).await.0, 401);
}

#[tokio::test]
async fn tokens_are_given_and_understood() {
    let fixture = Fixture::new().await;
    grant(&fixture).await;
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "x"}]}});
    let pod = fixture.post("/api/v1/namespaces/default/pods", &pod).await.expect(201);
    let account = "/api/v1/namespaces/default/serviceaccounts/default";
    let bound = json!({"kind": "Pod", "apiVersion": "v1", "name": "p", "uid": pod["metadata"]["uid"]});
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600, "boundObjectRef": bound}});
    let made = fixture.post(&format!("{account}/token"), &request).await.expect(201);
    let token = made["status"]["token"].as_str().unwrap().to_owned();
    assert_eq!(anonymous(&fixture, CONFIG_MAPS, Some(&token)).await.0, 200);
    assert_eq!(anonymous(&fixture, "/api/v1/nodes", Some(&token)).await.0, 403);
    let review = json!({"spec": {"token": token}});
    let review = fixture.post("/apis/authentication.k8s.io/v1/tokenreviews", &review).await.expect(201);
    assert_eq!(review["status"]["authenticated"], true, "{review}");
    assert_eq!(review["status"]["user"]["username"], "system:serviceaccount:default:default");
    assert_eq!(review["status"]["user"]["extra"]["authentication.kubernetes.io/pod-name"], json!(["p"]));
    let short = json!({"spec": {"expirationSeconds": 5}});
    fixture.post(&format!("{account}/token"), &short).await.refused(422, "Invalid");
    let stranger = json!({"metadata": {"name": "other"}, "spec": {}});
    let message = fixture.post(&format!("{account}/token"), &stranger).await.refused(422, "Invalid");
    assert!(message.ends_with("must match the service account name if specified"), "{message}");
    let former = json!({"metadata": {"uid": "1"}, "spec": {}});
    fixture.post(&format!("{account}/token"), &former).await.refused(409, "Conflict");
    // The pod is gone, and with it the token.
    fixture.delete("/api/v1/namespaces/default/pods/p?gracePeriodSeconds=0", Value::Null).await.expect(200);
    assert_eq!(anonymous(&fixture, CONFIG_MAPS, Some(&token)).await.0, 401);
    // For someone else.
    let other = json!({"spec": {"audiences": ["vault"]}});
    let other = fixture.post(&format!("{account}/token"), &other).await.expect(201);
    assert_eq!(anonymous(&fixture, CONFIG_MAPS, other["status"]["token"].as_str()).await.0, 401);
}

#[tokio::test]
async fn reviews_answer_without_being_stored() {
    let mut fixture = Fixture::new().await;
    grant(&fixture).await;
    let ask = |verb: &str| json!({"spec": {"user": "joe", "resourceAttributes": {"verb": verb, "resource": "configmaps", "namespace": "default"}}});
    let uri = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    for (verb, allowed) in [("get", true), ("delete", false)] {
        let answer = fixture.post(uri, &ask(verb)).await.expect(201);
        assert_eq!((&answer["status"]["allowed"], &answer["metadata"]), (&json!(allowed), &json!({})));
    }
    let table = [("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")];
    fixture.send("POST", uri, &table, &ask("get").to_string()).await.refused(406, "NotAcceptable");
    let own = json!({"spec": {"resourceAttributes": {"verb": "*", "resource": "*"}}});
    let uri = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    assert_eq!(fixture.post(uri, &own).await.expect(201)["status"]["allowed"], true);
    let who = fixture.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", &json!({})).await.expect(201);
    assert_eq!(who["status"]["userInfo"]["username"], "admin");
    // Impersonation takes a right.
    let as_joe = [("impersonate-user", "joe")];
    fixture.send("GET", CONFIG_MAPS, &as_joe, "").await.expect(200);
    fixture.send("GET", "/api/v1/nodes", &as_joe, "").await.refused(403, "Forbidden");
    fixture.user = UserInfo::authenticated("eve", &[]);
    let message = fixture.send("GET", CONFIG_MAPS, &as_joe, "").await.refused(403, "Forbidden");
    assert!(
        message.starts_with("users \"joe\" is forbidden: User \"eve\" cannot impersonate resource \"users\""),
        "{message}"
    );
}

#[tokio::test]
async fn nobody_grants_what_they_do_not_hold() {
    let mut fixture = Fixture::new().await;
    grant(&fixture).await;
    let writer = json!({"metadata": {"name": "writer"}, "rules": [{"verbs": ["create", "update"], "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles", "rolebindings"]}]});
    let group = "/apis/rbac.authorization.k8s.io/v1";
    fixture.post(&format!("{group}/clusterroles"), &writer).await.expect(201);
    let binding = json!({"metadata": {"name": "writers"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "writer"},
        "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "joe"}]});
    fixture.post(&format!("{group}/clusterrolebindings"), &binding).await.expect(201);
    fixture.user = UserInfo::authenticated("joe", &[]);
    let roles = format!("{group}/namespaces/default/roles");
    let role = |name: &str, verb: &str| json!({"metadata": {"name": name}, "rules": [{"verbs": [verb], "apiGroups": [""], "resources": ["configmaps"]}]});
    fixture.post(&roles, &role("held", "get")).await.expect(201);
    let message = fixture.post(&roles, &role("more", "delete")).await.refused(403, "Forbidden");
    assert!(message.contains("is attempting to grant RBAC permissions not currently held"), "{message}");
    let bind = |kind: &str, role: &str| {
        json!({"metadata": {"generateName": "b-"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
        "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "eve"}]})
    };
    let bindings = format!("{group}/namespaces/default/rolebindings");
    fixture.post(&bindings, &bind("Role", "held")).await.expect(201);
    fixture.post(&bindings, &bind("Role", "missing")).await.refused(404, "NotFound");
    fixture.user = UserInfo::authenticated("admin", &["system:masters"]);
    fixture.post(&roles, &role("strong", "delete")).await.expect(201);
    fixture.user = UserInfo::authenticated("joe", &[]);
    fixture.post(&bindings, &bind("Role", "strong")).await.refused(403, "Forbidden");
}

/// Gives a user these rules everywhere.
async fn allow(fixture: &Fixture, user: &str, rules: Value) {
    let group = "/apis/rbac.authorization.k8s.io/v1";
    let role = json!({"metadata": {"name": format!("of-{user}")}, "rules": rules});
    fixture.post(&format!("{group}/clusterroles"), &role).await.expect(201);
    let binding = json!({"metadata": {"name": format!("of-{user}")}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": format!("of-{user}")},
        "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": user}]});
    fixture.post(&format!("{group}/clusterrolebindings"), &binding).await.expect(201);
}

#[tokio::test]
async fn streams_were_open_to_watchers_through_the_old_watch_path() {
    let mut fixture = Fixture::new().await;
    let pods = "/api/v1/namespaces/default/pods";
    let pod = json!({"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "x"}]}});
    fixture.post(pods, &pod).await.expect(201);
    let all = json!(["pods", "pods/exec", "pods/attach", "pods/portforward", "pods/proxy", "pods/log", "pods/status"]);
    allow(&fixture, "joe", json!([{"verbs": ["watch", "list"], "apiGroups": [""], "resources": all}])).await;
    let masters = std::mem::replace(&mut fixture.user, UserInfo::authenticated("joe", &[]));
    for sub in ["exec", "attach", "portforward", "proxy", "log", "status"] {
        for method in ["GET", "POST", "PUT", "DELETE"] {
            let uri = format!("/api/v1/watch/namespaces/default/pods/a/{sub}");
            fixture.send(method, &uri, &[], "").await.refused(403, "Forbidden");
        }
    }
    fixture.user = masters;
    for (method, uri, want) in [
        ("POST", "/api/v1/watch/namespaces/default/pods/a/exec", 404),
        ("GET", "/api/v1/watch/namespaces/default/pods/a/log", 404),
        ("DELETE", "/api/v1/namespaces/default/pods/a/exec", 405),
        ("PUT", "/api/v1/namespaces/default/pods/a/portforward", 405),
        ("POST", "/api/v1/namespaces/default/pods/a/log", 405),
    ] {
        assert_eq!(fixture.send(method, uri, &[], "").await.code, want, "{method} {uri}");
    }
}

#[tokio::test]
async fn get_was_enough_to_run_commands_in_pods() {
    let mut fixture = Fixture::new().await;
    let pods = "/api/v1/namespaces/default/pods";
    let pod = json!({"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "x"}]}});
    fixture.post(pods, &pod).await.expect(201);
    let streams = json!(["pods/exec", "pods/attach", "pods/portforward"]);
    let rule = |verbs: Value| json!([{"verbs": verbs, "apiGroups": [""], "resources": streams}]);
    allow(&fixture, "reader", rule(json!(["get"]))).await;
    allow(&fixture, "runner", rule(json!(["get", "create"]))).await;
    for sub in ["exec", "attach", "portforward"] {
        let uri = format!("{pods}/a/{sub}?command=ls");
        fixture.user = UserInfo::authenticated("reader", &[]);
        let message = fixture.get(&uri).await.refused(403, "Forbidden");
        assert!(message.contains(&format!("cannot create resource \"pods/{sub}\"")), "{message}");
        // Whether the pod is there is nothing for them.
        fixture.get(&format!("{pods}/none/{sub}")).await.refused(403, "Forbidden");
        fixture.user = UserInfo::authenticated("runner", &[]);
        let message = fixture.get(&uri).await.refused(400, "BadRequest");
        assert_eq!(message, "pod a does not have a host assigned");
    }
}

#[tokio::test]
async fn a_label_on_a_strong_role_gave_its_rules_to_others() {
    let mut fixture = Fixture::new().await;
    let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    let all = json!([{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]);
    fixture.post(roles, &json!({"metadata": {"name": "strong"}, "rules": all})).await.expect(201);
    let selectors = json!({"clusterRoleSelectors": [{"matchLabels": {"to": "sum"}}]});
    fixture.post(roles, &json!({"metadata": {"name": "sum"}, "aggregationRule": selectors})).await.expect(201);
    let own =
        json!([{"verbs": ["get", "patch"], "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"]}]);
    allow(&fixture, "joe", own.clone()).await;
    fixture.user = UserInfo::authenticated("joe", &[]);
    let patch = |name: &str, patch: Value| {
        let uri = format!("{roles}/{name}");
        let fixture = &fixture;
        async move { fixture.patch("merge", &uri, &patch).await }
    };
    let label = json!({"metadata": {"labels": {"to": "sum"}}});
    let message = patch("strong", label.clone()).await.refused(403, "Forbidden");
    assert!(message.contains("attempting to grant RBAC permissions not currently held"), "{message}");
    // What garbage collection does is nobody's grant; what one holds oneself may be labelled.
    patch("strong", json!({"metadata": {"finalizers": ["example.com/a"]}})).await.expect(200);
    patch("of-joe", label).await.expect(200);
    // A role that was a sum of others holds what nobody knows.
    patch("sum", json!({"aggregationRule": null, "rules": own})).await.refused(403, "Forbidden");
}

#[tokio::test]
async fn an_empty_name_to_impersonate_was_taken_for_a_user() {
    let fixture = Fixture::new().await;
    let review = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let send = async |headers: &[(&str, &str)]| {
        let headers = [&[("content-type", "application/json")], headers].concat();
        fixture.send("POST", review, &headers, "{}").await
    };
    let who = send(&[("impersonate-user", "")]).await.expect(201);
    assert_eq!(who["status"]["userInfo"]["username"], "admin");
    for header in ["impersonate-group", "impersonate-uid", "impersonate-extra-scopes"] {
        send(&[("impersonate-user", ""), (header, "x")]).await.refused(400, "BadRequest");
        send(&[(header, "x")]).await.refused(400, "BadRequest");
    }
    // What cannot be read is not nobody.
    send(&[("impersonate-user", "\u{e9}")]).await.refused(400, "BadRequest");
}

#[tokio::test]
async fn every_answer_names_its_request() {
    let fixture = Fixture::new().await;
    for (uri, code) in [("/api/v1/nodes", 200), ("/api/v1/nodes/none", 404), ("/healthz", 200), ("/nowhere", 404)] {
        let answer = fixture.get(uri).await;
        assert_eq!((answer.code, answer.headers["audit-id"].len()), (code, 36), "{uri}");
        let answer = fixture.send("GET", uri, &[("audit-id", "mine")], "").await;
        assert_eq!(answer.headers["audit-id"], "mine", "{uri}");
    }
}
