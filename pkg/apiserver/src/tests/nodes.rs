//! What nodes may do, and what evictions and priority levels do to requests.

use api::UserInfo;
use serde_json::{Value, json};

use super::Fixture;

const PODS: &str = "/api/v1/namespaces/default/pods";
const SECRETS: &str = "/api/v1/namespaces/default/secrets";

fn pod(name: &str, node: &str, secret: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {"nodeName": node, "containers": [{"name": "c", "image": "x"}],
        "volumes": [{"name": "v", "secret": {"secretName": secret}}]}})
}

/// Two nodes with a pod each, and secrets.
async fn cluster() -> Fixture {
    let fixture = Fixture::new().await;
    let role = json!({"metadata": {"name": "system:node"}, "rules": [{"verbs": ["get", "list", "watch"], "apiGroups": [""], "resources": ["services"]}]});
    fixture.post("/apis/rbac.authorization.k8s.io/v1/clusterroles", &role).await.expect(201);
    fixture.post("/api/v1/namespaces", &json!({"metadata": {"name": "kube-node-lease"}})).await.expect(201);
    for secret in ["s-a", "s-b"] {
        fixture.post(SECRETS, &json!({"metadata": {"name": secret}})).await.expect(201);
    }
    for node in ["a", "b"] {
        fixture.post(PODS, &pod(&format!("p-{node}"), node, &format!("s-{node}"))).await.expect(201);
    }
    fixture
}

async fn as_node(name: &str) -> Fixture {
    let mut fixture = cluster().await;
    fixture.user = UserInfo::node(name);
    fixture
}

#[tokio::test]
async fn a_node_reads_what_its_pods_use() {
    let mut fixture = as_node("a").await;
    fixture.get(&format!("{SECRETS}/s-a")).await.expect(200);
    fixture.get(&format!("{SECRETS}?fieldSelector=metadata.name%3Ds-a")).await.expect(200);
    let message = fixture.get(&format!("{SECRETS}/s-b")).await.refused(403, "Forbidden");
    assert!(message.contains("User \"system:node:a\" cannot get resource \"secrets\""), "{message}");
    fixture.get(SECRETS).await.refused(403, "Forbidden");
    fixture.get("/api/v1/pods?fieldSelector=spec.nodeName%3Da").await.expect(200);
    fixture.get("/api/v1/pods?fieldSelector=spec.nodeName%3Db").await.refused(403, "Forbidden");
    fixture.get("/api/v1/pods").await.refused(403, "Forbidden");
    fixture.get(&format!("{PODS}/p-a")).await.expect(200);
    fixture.get(&format!("{PODS}/p-b")).await.refused(403, "Forbidden");
    fixture.get("/api/v1/services").await.expect(200);
    fixture.get("/apis/apps/v1/deployments").await.refused(403, "Forbidden");
    // What the pod used goes with it.
    fixture.delete(&format!("{PODS}/p-a?gracePeriodSeconds=0"), Value::Null).await.expect(200);
    // Rights follow the watch cache: a consistent read waits for it.
    fixture.get("/api/v1/pods?fieldSelector=spec.nodeName%3Da").await.expect(200);
    fixture.get(&format!("{SECRETS}/s-a")).await.refused(403, "Forbidden");
    fixture.user = UserInfo::authenticated("system:node:b", &[]);
    fixture.get(&format!("{SECRETS}/s-b")).await.refused(403, "Forbidden");
}

#[tokio::test]
async fn a_node_writes_its_own_things() {
    let fixture = as_node("a").await;
    let node = |name: &str, labels: Value| json!({"metadata": {"name": name, "labels": labels}});
    let nodes = "/api/v1/nodes";
    let message = fixture.post(nodes, &node("b", json!({}))).await.refused(403, "Forbidden");
    assert_eq!(message, "nodes \"b\" is forbidden: node \"a\" is not allowed to modify node \"b\"");
    let role = json!({"node-role.kubernetes.io/control-plane": ""});
    let message = fixture.post(nodes, &node("a", role.clone())).await.refused(403, "Forbidden");
    assert!(message.ends_with("not allowed to set the following labels: node-role.kubernetes.io/control-plane"));
    fixture.post(nodes, &node("a", json!({"kubernetes.io/hostname": "a"}))).await.expect(201);
    let taint = json!({"spec": {"taints": [{"key": "x", "effect": "NoSchedule"}]}});
    fixture.patch("merge", &format!("{nodes}/a"), &taint).await.refused(403, "Forbidden");
    fixture.delete(&format!("{nodes}/a"), Value::Null).await.refused(403, "Forbidden");
    let lease = |name: &str| json!({"metadata": {"name": name}, "spec": {"holderIdentity": "a"}});
    let leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    fixture.post(leases, &lease("a")).await.expect(201);
    fixture.post(leases, &lease("b")).await.refused(403, "Forbidden");
    let status = json!({"status": {"phase": "Running"}});
    fixture.patch("merge", &format!("{PODS}/p-a/status"), &status).await.expect(200);
    fixture.patch("merge", &format!("{PODS}/p-b/status"), &status).await.refused(403, "Forbidden");
    fixture.delete(&format!("{PODS}/p-b"), Value::Null).await.refused(403, "Forbidden");
    fixture.post(PODS, &pod("more", "a", "s-b")).await.refused(403, "Forbidden");
    let eviction = |name: &str| json!({"metadata": {"name": name}});
    fixture.post(&format!("{PODS}/p-b/eviction"), &eviction("p-b")).await.refused(403, "Forbidden");
    fixture.post(&format!("{PODS}/p-a/eviction"), &eviction("p-a")).await.expect(201);
}

#[tokio::test]
async fn the_servers_own_node_may_be_a_control_plane() {
    let fixture = as_node("own").await;
    let labels = json!({"node-role.kubernetes.io/control-plane": "true"});
    fixture.post("/api/v1/nodes", &json!({"metadata": {"name": "own", "labels": labels}})).await.expect(201);
}

#[tokio::test]
async fn a_node_gets_tokens_for_its_pods() {
    let mut fixture = cluster().await;
    let uid = |pod: Value| pod["metadata"]["uid"].clone();
    let (a, b) = (
        uid(fixture.get(&format!("{PODS}/p-a")).await.expect(200)),
        uid(fixture.get(&format!("{PODS}/p-b")).await.expect(200)),
    );
    fixture.user = UserInfo::node("a");
    let path = "/api/v1/namespaces/default/serviceaccounts/default/token";
    let ask = |name: &str, uid: &Value, audiences: Value| {
        let bound = json!({"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid});
        json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"boundObjectRef": bound, "audiences": audiences}})
    };
    fixture.post(path, &ask("p-a", &a, json!([]))).await.expect(201);
    for (name, uid, audiences, why) in [
        ("p-b", &b, json!([]), "different node"),
        ("p-a", &b, json!([]), "does not match the UID"),
        ("p-a", &a, json!(["vault"]), "is not authorized to request tokens for audience \"vault\""),
        ("p-a", &a, json!(["x", "y"]), "0 or 1 audiences"),
    ] {
        let message = fixture.post(path, &ask(name, uid, audiences)).await.refused(403, "Forbidden");
        assert!(message.contains(why), "{message}");
    }
    let free = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let message = fixture.post(path, &free).await.refused(403, "Forbidden");
    assert!(message.ends_with("node requested token not bound to a pod"), "{message}");
}

#[tokio::test]
async fn a_disruption_budget_stops_evictions() {
    let fixture = Fixture::new().await;
    let ready = json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
    for name in ["p1", "p2"] {
        let mut pod = pod(name, "a", "s");
        pod["metadata"]["labels"] = json!({"app": "web"});
        fixture.post(PODS, &pod).await.expect(201);
        fixture.patch("merge", &format!("{PODS}/{name}/status"), &ready).await.expect(200);
    }
    let budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    let budget =
        json!({"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}});
    fixture.post(budgets, &budget).await.expect(201);
    let evict = |name: &'static str| {
        let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}});
        let fixture = &fixture;
        async move { fixture.post(&format!("{PODS}/{name}/eviction"), &eviction).await }
    };
    // Nobody has counted yet.
    let early = evict("p1").await;
    assert_eq!(early.headers["retry-after"], "10");
    early.refused(429, "TooManyRequests");
    let status = json!({"status": {"observedGeneration": 1, "disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2}});
    fixture.patch("merge", &format!("{budgets}/b/status"), &status).await.expect(200);
    let dry = json!({"metadata": {"name": "p1"}, "deleteOptions": {"dryRun": ["All"]}});
    fixture.post(&format!("{PODS}/p1/eviction"), &dry).await.expect(201);
    assert_eq!(fixture.get(&format!("{budgets}/b")).await.expect(200)["status"]["disruptionsAllowed"], 1);
    evict("p1").await.expect(201);
    let spent = fixture.get(&format!("{budgets}/b")).await.expect(200);
    assert_eq!(spent["status"]["disruptionsAllowed"], 0);
    assert!(spent["status"]["disruptedPods"]["p1"].is_string(), "{spent}");
    let going = fixture.get(&format!("{PODS}/p1")).await.expect(200);
    assert!(!going["metadata"]["deletionTimestamp"].is_null());
    assert!(going["status"]["conditions"].as_array().unwrap().iter().any(|c| c["type"] == "DisruptionTarget"));
    let second = evict("p2").await;
    assert_eq!(second.body["message"], "Cannot evict pod as it would violate the pod's disruption budget.");
    assert_eq!(second.body["details"]["causes"][0]["reason"], "DisruptionBudget");
    second.refused(429, "TooManyRequests");
    let named = json!({"metadata": {"name": "other"}});
    fixture.post(&format!("{PODS}/p2/eviction"), &named).await.refused(400, "BadRequest");
}

#[tokio::test]
async fn requests_are_told_their_priority_level() {
    let mut fixture = Fixture::new().await;
    let group = "/apis/flowcontrol.apiserver.k8s.io/v1";
    let level = json!({"metadata": {"name": "slow"}, "spec": {"type": "Limited", "limited": {
        "nominalConcurrencyShares": 1, "lendablePercent": 0, "limitResponse": {"type": "Reject"}}}});
    let level = fixture.post(&format!("{group}/prioritylevelconfigurations"), &level).await.expect(201);
    let schema = json!({"metadata": {"name": "eve"}, "spec": {"matchingPrecedence": 100, "priorityLevelConfiguration": {"name": "slow"},
        "distinguisherMethod": {"type": "ByUser"},
        "rules": [{"subjects": [{"kind": "User", "user": {"name": "eve"}}], "resourceRules": [
            {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": true}]}]}});
    let schema = fixture.post(&format!("{group}/flowschemas"), &schema).await.expect(201);
    for resource in ["flowschemas", "prioritylevelconfigurations"] {
        fixture.get(&format!("{group}/{resource}")).await.expect(200);
    }
    fixture.user = UserInfo::authenticated("eve", &[]);
    let answer = fixture.get("/api/v1/nodes").await;
    assert_eq!(answer.code, 403);
    let header = |name: &str| answer.headers[name].to_str().unwrap().to_owned();
    assert_eq!(header("x-kubernetes-pf-flowschema-uid"), schema["metadata"]["uid"].as_str().unwrap());
    assert_eq!(header("x-kubernetes-pf-prioritylevel-uid"), level["metadata"]["uid"].as_str().unwrap());
    let answer = fixture.get("/api/v1/nodes?timeout=nonsense").await;
    assert!(answer.code == 400 || answer.code == 403);
}

#[tokio::test]
async fn those_who_waited_at_a_level_without_seats_were_not_let_in_when_it_got_some() {
    use tower::ServiceExt as _;
    let fixture = Fixture::new().await;
    let group = "/apis/flowcontrol.apiserver.k8s.io/v1";
    let level = json!({"metadata": {"name": "none"}, "spec": {"type": "Limited", "limited": {
        "nominalConcurrencyShares": 0, "borrowingLimitPercent": 0,
        "limitResponse": {"type": "Queue", "queuing": {"queues": 1, "handSize": 1, "queueLengthLimit": 10}}}}});
    fixture.post(&format!("{group}/prioritylevelconfigurations"), &level).await.expect(201);
    let schema = json!({"metadata": {"name": "eve"}, "spec": {"matchingPrecedence": 100, "priorityLevelConfiguration": {"name": "none"},
        "rules": [{"subjects": [{"kind": "User", "user": {"name": "eve"}}], "resourceRules": [
            {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": true}]}]}});
    fixture.post(&format!("{group}/flowschemas"), &schema).await.expect(201);
    // What is listed is in the cache.
    for resource in ["flowschemas", "prioritylevelconfigurations"] {
        fixture.get(&format!("{group}/{resource}")).await.expect(200);
    }
    let mut request =
        http::Request::get("/api/v1/nodes").body(http_body_util::Full::<bytes::Bytes>::default()).unwrap();
    request.extensions_mut().insert(UserInfo::authenticated("eve", &[]));
    let waits = tokio::spawn(fixture.server.clone().oneshot(request));
    let waiting = || {
        let figures = fixture.server.server.flow.figures();
        figures.iter().any(|(name, [_, _, waiting, _])| &**name == "none" && *waiting == 1)
    };
    while !waiting() {
        tokio::task::yield_now().await;
    }
    let more = json!({"spec": {"limited": {"nominalConcurrencyShares": 100}}});
    fixture.patch("merge", &format!("{group}/prioritylevelconfigurations/none"), &more).await.expect(200);
    fixture.get(&format!("{group}/prioritylevelconfigurations")).await.expect(200);
    fixture.get("/api/v1/nodes").await.expect(200);
    assert_eq!(waits.await.unwrap().unwrap().status(), 403, "it is let in, and may not");
}

#[tokio::test]
async fn health_says_what_is_checked() {
    let fixture = Fixture::new().await;
    for (path, want) in [
        ("/healthz", "ok"),
        ("/livez?verbose", "[+]ping ok\n[+]log ok\n[+]etcd ok\nlivez check passed\n"),
        (
            "/readyz?verbose&exclude=etcd&exclude=nothing",
            "[+]ping ok\n[+]log ok\n[+]etcd excluded: ok\n[+]etcd-readiness ok\n[+]informer-sync ok\n[+]shutdown ok\nwarn: some health checks cannot be excluded: no matches for \"nothing\"\nreadyz check passed\n",
        ),
        ("/readyz/shutdown", "ok"),
    ] {
        assert_eq!(fixture.get(path).await.expect(200), want, "{path}");
    }
    fixture.get("/livez/shutdown").await.refused(404, "NotFound");
    let metrics = fixture.get("/metrics").await.expect(200);
    for line in [
        "apiserver_resource_objects{group=\"\",resource=\"namespaces\"} ",
        "apiserver_flowcontrol_nominal_limit_seats{priority_level=\"catch-all\"} 600",
    ] {
        assert!(metrics.as_str().unwrap().contains(line), "{line}");
    }
}

async fn boom() -> String {
    panic!("on purpose")
}

#[tokio::test]
async fn a_panic_is_contained_to_its_request() {
    let mut config = super::config(std::sync::Arc::new(store::MemoryStore::default()));
    let router = axum::Router::new().route("/boom", axum::routing::get(boom));
    config.extra.push(crate::Extra { prefix: "/boom", router });
    let (stop, tasks) = (tokio_util::sync::CancellationToken::new(), tokio_util::task::TaskTracker::new());
    let server = crate::ApiServer::start(config, stop.clone(), &tasks).await.unwrap();
    let fixture = Fixture { server, stop, tasks, user: UserInfo::authenticated("admin", &["system:masters"]) };
    fixture.get("/boom").await.refused(500, "InternalError");
    fixture.get("/version").await.expect(200);
}

#[tokio::test]
async fn old_kinds_leave_their_dependents_unless_told_otherwise() {
    let fixture = Fixture::new().await;
    let rcs = "/api/v1/namespaces/default/replicationcontrollers";
    let rc = |name: &str| {
        json!({"metadata": {"name": name}, "spec": {"selector": {"a": "b"}, "template": {"metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "c", "image": "x"}]}}}})
    };
    for (name, options, left) in [
        ("default", Value::Null, json!(["orphan"])),
        ("foreground", json!({"propagationPolicy": "Foreground"}), json!(["foregroundDeletion"])),
        ("background", json!({"propagationPolicy": "Background"}), Value::Null),
    ] {
        fixture.post(rcs, &rc(name)).await.expect(201);
        fixture.delete(&format!("{rcs}/{name}"), options).await.expect(200);
        let now = fixture.get(&format!("{rcs}/{name}")).await;
        assert_eq!(now.body["metadata"]["finalizers"], left, "{name}");
    }
}

#[tokio::test]
async fn a_kubelet_could_set_a_label_of_the_project_that_is_not_its_own() {
    let fixture = as_node("a").await;
    let node = |label: &str| json!({"metadata": {"name": "a", "labels": {label: "x"}}});
    let message = fixture.post("/api/v1/nodes", &node("topology.k8s.io/zone")).await.refused(403, "Forbidden");
    assert!(message.ends_with("not allowed to set the following labels: topology.k8s.io/zone"), "{message}");
    fixture.post("/api/v1/nodes", &node("topology.kubernetes.io/zone")).await.expect(201);
}
