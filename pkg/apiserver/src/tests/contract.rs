//! What holds for every kind and verb: each check runs over all rows of the table, those of custom resources included,
//! with an object from `contract/samples.yaml`.

mod custom;
mod samples;
mod subresources;
mod verbs;
mod watching;
mod wire;

use serde_json::{Value, json};

use super::{CONFIG_MAPS, Fixture, config_map};

#[tokio::test]
async fn what_is_not_served_says_so() {
    let fixture = Fixture::new().await;
    fixture.get("/api/v1/nonsense").await.refused(404, "NotFound");
    fixture.get("/nonsense").await.refused(404, "NotFound");
    fixture.get("/api/v1/namespaces/default/nodes/x").await.refused(404, "NotFound");
    fixture.get("/api/v1/namespaces/default/configmaps/a/scale").await.refused(404, "NotFound");
    fixture.post("/api/v1/configmaps", &json!({})).await.refused(405, "MethodNotAllowed");
    fixture.get("/apis/authorization.k8s.io/v1/subjectaccessreviews").await.refused(405, "MethodNotAllowed");
    // An object is made in its collection, and changed by its name.
    fixture.post(&format!("{CONFIG_MAPS}/a"), &config_map("a", json!({}))).await.refused(405, "MethodNotAllowed");
    fixture.put(CONFIG_MAPS, &config_map("a", json!({}))).await.refused(405, "MethodNotAllowed");
    for how in ["json", "merge", "strategic", "apply"] {
        fixture.patch(how, CONFIG_MAPS, &config_map("a", json!({}))).await.refused(405, "MethodNotAllowed");
    }
    fixture.send("POST", CONFIG_MAPS, &[("content-type", "text/html")], "x").await.refused(415, "UnsupportedMediaType");
    fixture.send("GET", CONFIG_MAPS, &[("accept", "text/html")], "").await.refused(406, "NotAcceptable");
    let message = fixture
        .send("POST", CONFIG_MAPS, &[], &"x".repeat(4 * 1024 * 1024))
        .await
        .refused(413, "RequestEntityTooLarge");
    assert_eq!(message, "Request entity too large: limit is 3145728");
    fixture.send("POST", CONFIG_MAPS, &[], "{").await.refused(400, "BadRequest");
    for (path, text) in [
        (CONFIG_MAPS, "\"a.b\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""),
        ("/api/v1/nodes", "field label not supported: a.b"),
    ] {
        let message = fixture.get(&format!("{path}?fieldSelector=a.b%3Dy")).await.refused(400, "BadRequest");
        assert_eq!(message, text);
    }
    fixture.get(&format!("{CONFIG_MAPS}?labelSelector=%21%21")).await.refused(400, "BadRequest");
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
    assert!(metrics.body.as_str().unwrap().contains("apiserver_request_total{code=\"200\""));
    fixture.get("/apis/nothing").await.refused(404, "NotFound");
}

fn version(object: &Value) -> &str {
    object["metadata"]["resourceVersion"].as_str().unwrap()
}
