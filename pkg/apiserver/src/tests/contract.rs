//! What holds for every kind and verb.

use serde_json::{Value, json};

use super::{Fixture, as_item};

/// Collections with an object to put into them and a change to it.
fn cases() -> Vec<(&'static str, Value, Value)> {
    let pod_spec = json!({"containers": [{"name": "a", "image": "x"}]});
    let template = json!({"metadata": {"labels": {"app": "w"}}, "spec": pod_spec});
    let selector = json!({"matchLabels": {"app": "w"}});
    let label = json!({"metadata": {"labels": {"changed": "yes"}}});
    let mut cases = vec![
        ("/api/v1/namespaces/default/configmaps", "v1", "ConfigMap", json!({"data": {"a": "1"}})),
        ("/api/v1/namespaces/default/secrets", "v1", "Secret", json!({"data": {"a": "MQ=="}})),
        ("/api/v1/namespaces/default/pods", "v1", "Pod", json!({"spec": pod_spec})),
        ("/api/v1/namespaces/default/services", "v1", "Service", json!({"spec": {"ports": [{"port": 80}]}})),
        ("/api/v1/namespaces/default/serviceaccounts", "v1", "ServiceAccount", json!({})),
        ("/api/v1/nodes", "v1", "Node", json!({})),
        (
            "/apis/apps/v1/namespaces/default/deployments",
            "apps/v1",
            "Deployment",
            json!({"spec": {"selector": selector, "template": template}}),
        ),
        (
            "/apis/apps/v1/namespaces/default/replicasets",
            "apps/v1",
            "ReplicaSet",
            json!({"spec": {"selector": selector, "template": template}}),
        ),
        (
            "/apis/coordination.k8s.io/v1/namespaces/default/leases",
            "coordination.k8s.io/v1",
            "Lease",
            json!({"spec": {"holderIdentity": "me"}}),
        ),
        (
            "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
            "discovery.k8s.io/v1",
            "EndpointSlice",
            json!({"addressType": "IPv4", "endpoints": []}),
        ),
        (
            "/apis/rbac.authorization.k8s.io/v1/clusterroles",
            "rbac.authorization.k8s.io/v1",
            "ClusterRole",
            json!({"rules": []}),
        ),
        (
            "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
            "rbac.authorization.k8s.io/v1",
            "Role",
            json!({"rules": []}),
        ),
    ];
    cases
        .drain(..)
        .map(|(uri, version, kind, mut object)| {
            object["apiVersion"] = version.into();
            object["kind"] = kind.into();
            object["metadata"] = json!({"name": "thing", "labels": {"test": "yes"}});
            (uri, object, label.clone())
        })
        .collect()
}

#[tokio::test]
async fn every_kind_walks_through_every_verb() {
    let fixture = Fixture::new().await;
    for (uri, object, label) in cases() {
        let one = format!("{uri}/thing");
        let kind = object["kind"].as_str().unwrap();
        // create
        let made = fixture.post(uri, &object).await.expect(201);
        for field in ["uid", "creationTimestamp", "resourceVersion", "managedFields"] {
            assert!(!made["metadata"][field].is_null(), "{kind} {field}: {made}");
        }
        assert_eq!(made["kind"], kind);
        fixture.post(uri, &object).await.refused(409, "AlreadyExists");
        // get
        assert_eq!(fixture.get(&one).await.expect(200), made, "{kind}");
        fixture.get(&format!("{uri}/nothing")).await.refused(404, "NotFound");
        // list
        let list = fixture.get(&format!("{uri}?labelSelector=test%3Dyes")).await.expect(200);
        assert_eq!(list["kind"], format!("{kind}List"));
        assert_eq!(list["items"], json!([as_item(made.clone())]), "{kind}");
        assert_eq!(fixture.get(&format!("{uri}?labelSelector=test%3Dno")).await.expect(200)["items"], json!([]));
        let by_name = format!("{uri}?fieldSelector=metadata.name%3Dthing");
        assert_eq!(fixture.get(&by_name).await.expect(200)["items"].as_array().unwrap().len(), 1);
        // update: unchanged, changed, stale
        let same = fixture.put(&one, &made).await.expect(200);
        assert_eq!(same, made, "{kind}: an update that changes nothing writes nothing");
        let mut changed = made.clone();
        changed["metadata"]["annotations"] = json!({"a": "b"});
        let changed = fixture.put(&one, &changed).await.expect(200);
        assert_ne!(changed["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"]);
        assert_eq!(changed["metadata"]["uid"], made["metadata"]["uid"]);
        let mut stale = made.clone();
        stale["metadata"]["annotations"] = json!({"a": "c"});
        let message = fixture.put(&one, &stale).await.refused(409, "Conflict");
        assert!(message.ends_with("please apply your changes to the latest version and try again"), "{message}");
        // patch in three forms
        for form in ["merge", "strategic"] {
            let patched = fixture.patch(form, &one, &label).await.expect(200);
            assert_eq!(patched["metadata"]["labels"]["changed"], "yes", "{kind} {form}");
        }
        let operations = json!([{"op": "add", "path": "/metadata/labels/json", "value": "yes"}]);
        let patched = fixture.patch("json", &one, &operations).await.expect(200);
        assert_eq!(patched["metadata"]["labels"]["json"], "yes");
        // apply, twice
        let mut applied = object.clone();
        applied["metadata"] = json!({"name": "thing", "labels": {"applied": "yes"}});
        let once = fixture.patch("apply", &format!("{one}?fieldManager=m&force=true"), &applied).await.expect(200);
        assert_eq!(once["metadata"]["labels"]["applied"], "yes", "{kind}");
        let twice = fixture.patch("apply", &format!("{one}?fieldManager=m&force=true"), &applied).await.expect(200);
        assert_eq!(twice, once, "{kind}: applying again changes nothing");
        // dry run
        fixture.delete(&format!("{one}?dryRun=All"), Value::Null).await.expect(200);
        // delete
        let gone = fixture.delete(&format!("{one}?gracePeriodSeconds=0"), Value::Null).await.expect(200);
        assert_eq!((&gone["kind"], &gone["status"]), (&json!("Status"), &json!("Success")), "{kind}");
        fixture.get(&one).await.refused(404, "NotFound");
        // apply makes it, deletecollection takes it
        fixture.patch("apply", &format!("{one}?fieldManager=m"), &applied).await.expect(201);
        let taken =
            fixture.delete(&format!("{uri}?labelSelector=applied&gracePeriodSeconds=0"), Value::Null).await.expect(200);
        assert_eq!(taken["items"].as_array().unwrap().len(), 1, "{kind}");
        fixture.get(&one).await.refused(404, "NotFound");
    }
}

#[tokio::test]
async fn what_is_not_served_says_so() {
    let fixture = Fixture::new().await;
    fixture.get("/api/v1/nonsense").await.refused(404, "NotFound");
    fixture.get("/nonsense").await.refused(404, "NotFound");
    fixture.get("/api/v1/namespaces/default/nodes/x").await.refused(404, "NotFound");
    fixture.get("/api/v1/namespaces/default/configmaps/a/scale").await.refused(404, "NotFound");
    fixture.post("/api/v1/configmaps", &json!({})).await.refused(405, "MethodNotAllowed");
    fixture.get("/apis/authorization.k8s.io/v1/subjectaccessreviews").await.refused(405, "MethodNotAllowed");
    let uri = "/api/v1/namespaces/default/configmaps";
    fixture.send("POST", uri, &[("content-type", "text/html")], "x").await.refused(415, "UnsupportedMediaType");
    fixture.send("GET", uri, &[("accept", "text/html")], "").await.refused(406, "NotAcceptable");
    let message =
        fixture.send("POST", uri, &[], &"x".repeat(4 * 1024 * 1024)).await.refused(413, "RequestEntityTooLarge");
    assert_eq!(message, "Request entity too large: limit is 3145728");
    fixture.send("POST", uri, &[], "{").await.refused(400, "BadRequest");
    fixture.get(&format!("{uri}?fieldSelector=data.x%3Dy")).await.refused(400, "BadRequest");
    fixture.get(&format!("{uri}?labelSelector=%21%21")).await.refused(400, "BadRequest");
}

#[tokio::test]
async fn discovery_and_health_are_served() {
    let fixture = Fixture::new().await;
    assert_eq!(fixture.get("/version").await.expect(200)["gitVersion"], "v1.37.2+kinglet1");
    for path in ["/healthz", "/livez", "/readyz", "/readyz/ping", "/livez?verbose"] {
        assert_eq!(fixture.get(path).await.code, 200, "{path}");
    }
    assert_eq!(fixture.get("/api").await.expect(200)["versions"], json!(["v1"]));
    assert_eq!(fixture.get("/apis").await.expect(200)["kind"], "APIGroupList");
    assert_eq!(fixture.get("/apis/apps/v1").await.expect(200)["groupVersion"], "apps/v1");
    let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
    let aggregated = fixture.send("GET", "/apis", &[("accept", accept)], "").await;
    assert_eq!(
        aggregated.headers["content-type"],
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    );
    let tag = aggregated.headers["etag"].to_str().unwrap().to_owned();
    aggregated.expect(200);
    let again = fixture.send("GET", "/apis", &[("accept", accept), ("if-none-match", &tag)], "").await;
    assert_eq!(again.code, 304);
    let index = fixture.get("/openapi/v3").await.expect(200);
    let url = index["paths"]["apis/apps/v1"]["serverRelativeURL"].as_str().unwrap();
    assert_eq!(fixture.get(url).await.expect(200)["openapi"], "3.0.0");
    assert_eq!(fixture.get("/openid/v1/jwks").await.expect(200)["keys"][0]["kty"], "EC");
    let metrics = fixture.get("/metrics").await;
    assert!(metrics.body.as_str().unwrap().contains("apiserver_request_total{verb=\"GET\",code=\"200\"}"));
    fixture.get("/apis/nothing").await.refused(404, "NotFound");
}
