//! Metadata, validation, finalizers, managed fields.

use serde_json::{Value, json};

use super::{CONFIG_MAPS, Fixture, as_item, config_map};

#[tokio::test]
async fn names_are_generated_and_identity_is_ours() {
    let fixture = Fixture::new().await;
    let object = json!({"metadata": {"generateName": "x-", "uid": "mine", "creationTimestamp": "2000-01-01T00:00:00Z",
        "generation": 7, "deletionTimestamp": "2000-01-01T00:00:00Z"}});
    let made = fixture.post(CONFIG_MAPS, &object).await.expect(201);
    let name = made["metadata"]["name"].as_str().unwrap();
    assert!(name.starts_with("x-") && name.len() == 7, "{name}");
    assert_ne!(made["metadata"]["uid"], "mine");
    assert_ne!(made["metadata"]["creationTimestamp"], "2000-01-01T00:00:00Z");
    assert!(made["metadata"]["deletionTimestamp"].is_null());
    assert_eq!(made["apiVersion"], "v1");
    assert_eq!(made["metadata"]["managedFields"][0]["manager"], "tester");
    fixture.post(CONFIG_MAPS, &json!({"metadata": {}})).await.refused(422, "Invalid");
    fixture.post(CONFIG_MAPS, &json!({"metadata": {"name": "Not Valid"}})).await.refused(422, "Invalid");
    let other = json!({"metadata": {"name": "a", "namespace": "other"}});
    let message = fixture.post(CONFIG_MAPS, &other).await.refused(400, "BadRequest");
    assert_eq!(message, "the namespace of the provided object does not match the namespace sent on the request");
    fixture.post(CONFIG_MAPS, &json!({"kind": "Pod", "metadata": {"name": "a"}})).await.refused(400, "BadRequest");
    fixture.put(&format!("{CONFIG_MAPS}/b"), &config_map("a", json!({}))).await.refused(400, "BadRequest");
    let nowhere = "/api/v1/namespaces/nowhere/configmaps";
    let message = fixture.post(nowhere, &config_map("a", json!({}))).await.refused(404, "NotFound");
    assert_eq!(message, "namespaces \"nowhere\" not found");
}

#[tokio::test]
async fn unknown_fields_are_dropped_warned_of_or_refused() {
    let fixture = Fixture::new().await;
    let body = r#"{"metadata":{"name":"a"},"data":{"k":"1","k":"2"},"nonsense":1,"fuss":1}"#;
    let strict = fixture.send("POST", &format!("{CONFIG_MAPS}?fieldValidation=Strict"), &[], body).await;
    let message = strict.refused(400, "BadRequest");
    assert!(
        message.contains(
            "strict decoding error: duplicate field \"data.k\", unknown field \"nonsense\", unknown field \"fuss\""
        ),
        "{message}"
    );
    let warned = fixture.send("POST", CONFIG_MAPS, &[], body).await;
    let warnings: Vec<&str> = warned.headers.get_all("warning").iter().map(|w| w.to_str().unwrap()).collect();
    let unknown = [r#"299 - "unknown field \"nonsense\"""#, r#"299 - "unknown field \"fuss\"""#];
    assert_eq!(warnings, [&[r#"299 - "duplicate field \"data.k\"""#], &unknown[..]].concat());
    assert!(warned.expect(201)["nonsense"].is_null());
    let ignored = fixture.send("PUT", &format!("{CONFIG_MAPS}/a?fieldValidation=Ignore"), &[], body).await;
    assert!(ignored.headers.get("warning").is_none());
    let old = fixture.get("/api/v1/namespaces/default/endpoints").await;
    let text = r#"299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice""#;
    assert_eq!(old.headers["warning"], text);
    ignored.expect(200);
}

#[tokio::test]
async fn yaml_goes_in_and_out() {
    let fixture = Fixture::new().await;
    let yaml = [("content-type", "application/yaml"), ("accept", "application/yaml")];
    let made = fixture.send("POST", CONFIG_MAPS, &yaml, "metadata:\n  name: a\ndata:\n  k: v\n").await;
    assert_eq!(made.headers["content-type"], "application/yaml");
    assert!(made.expect(201).as_str().unwrap().contains("k: v"));
}

#[tokio::test]
async fn finalizers_hold_an_object_until_they_are_gone() {
    let fixture = Fixture::new().await;
    let mut object = config_map("a", json!({}));
    object["metadata"]["finalizers"] = json!(["test.io/hold"]);
    fixture.post(CONFIG_MAPS, &object).await.expect(201);
    let one = format!("{CONFIG_MAPS}/a");
    let going = fixture.delete(&one, Value::Null).await.expect(200);
    assert_eq!(going["kind"], "ConfigMap");
    assert!(!going["metadata"]["deletionTimestamp"].is_null());
    assert_eq!(going["metadata"]["deletionGracePeriodSeconds"], 0);
    let more = json!({"metadata": {"finalizers": ["test.io/hold", "test.io/more"]}});
    fixture.patch("merge", &one, &more).await.refused(422, "Invalid");
    fixture.patch("merge", &one, &json!({"metadata": {"finalizers": null}})).await.expect(200);
    fixture.get(&one).await.refused(404, "NotFound");
}

#[tokio::test]
async fn propagation_becomes_finalizers() {
    let fixture = Fixture::new().await;
    for (policy, finalizer) in [("Foreground", "foregroundDeletion"), ("Orphan", "orphan")] {
        fixture.post(CONFIG_MAPS, &config_map(&policy.to_lowercase(), json!({}))).await.expect(201);
        let uri = format!("{CONFIG_MAPS}/{}", policy.to_lowercase());
        let going = fixture.delete(&uri, json!({"propagationPolicy": policy})).await.expect(200);
        assert_eq!(going["metadata"]["finalizers"], json!([finalizer]));
        fixture.patch("merge", &uri, &json!({"metadata": {"finalizers": []}})).await.expect(200);
        fixture.get(&uri).await.refused(404, "NotFound");
    }
}

#[tokio::test]
async fn preconditions_are_kept() {
    let fixture = Fixture::new().await;
    let made = fixture.post(CONFIG_MAPS, &config_map("a", json!({}))).await.expect(201);
    let one = format!("{CONFIG_MAPS}/a");
    fixture.delete(&one, json!({"preconditions": {"uid": "other"}})).await.refused(409, "Conflict");
    fixture.delete(&one, json!({"preconditions": {"resourceVersion": "1"}})).await.refused(409, "Conflict");
    fixture.delete(&one, json!({"propagationPolicy": "Nonsense"})).await.refused(422, "Invalid");
    fixture.delete(&one, json!({"preconditions": {"uid": made["metadata"]["uid"]}})).await.expect(200);
    fixture.delete(&one, Value::Null).await.refused(404, "NotFound");
}

#[tokio::test]
async fn appliers_conflict_over_fields() {
    let fixture = Fixture::new().await;
    let one = |manager: &str| format!("{CONFIG_MAPS}/a?fieldManager={manager}");
    fixture.patch("apply", &one("a"), &config_map("a", json!({"k": "1"}))).await.expect(201);
    let message = fixture.patch("apply", &one("b"), &config_map("a", json!({"k": "2"}))).await.refused(409, "Conflict");
    assert!(message.starts_with("Apply failed with 1 conflict: conflict with \"a\": .data.k"), "{message}");
    let forced = fixture.patch("apply", &format!("{}&force=true", one("b")), &config_map("a", json!({"k": "2"}))).await;
    assert_eq!(forced.expect(200)["data"]["k"], "2");
    let none = format!("{CONFIG_MAPS}/a");
    fixture.patch("apply", &none, &config_map("a", json!({}))).await.refused(422, "Invalid");
    fixture
        .patch("other", &none, &json!([{"op": "test", "path": "/data/k", "value": "9"}]))
        .await
        .refused(422, "Invalid");
}

#[tokio::test]
async fn concurrent_patches_all_land() {
    let fixture = Fixture::new().await;
    fixture.post(CONFIG_MAPS, &config_map("a", json!({}))).await.expect(201);
    let one = format!("{CONFIG_MAPS}/a");
    let patches = (0..20).map(|n| {
        let (fixture, one) = (&fixture, &one);
        async move { fixture.patch("merge", one, &json!({"data": {format!("k{n}"): "v"}})).await.expect(200) }
    });
    futures::future::join_all(patches).await;
    assert_eq!(fixture.get(&one).await.expect(200)["data"].as_object().unwrap().len(), 20);
}

#[tokio::test]
async fn generations_follow_the_spec_and_status_is_apart() {
    let fixture = Fixture::new().await;
    let uri = "/apis/apps/v1/namespaces/default/deployments";
    let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}});
    let deployment = json!({"metadata": {"name": "d"}, "status": {"replicas": 9},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": template}});
    let made = fixture.post(uri, &deployment).await.expect(201);
    assert_eq!((&made["metadata"]["generation"], &made["status"]["replicas"]), (&json!(1), &Value::Null));
    let one = format!("{uri}/d");
    let labelled = fixture.patch("merge", &one, &json!({"metadata": {"labels": {"x": "y"}}})).await.expect(200);
    assert_eq!(labelled["metadata"]["generation"], 1);
    let both = json!({"spec": {"replicas": 2}, "status": {"replicas": 5}});
    let main = fixture.patch("merge", &one, &both).await.expect(200);
    assert_eq!((&main["metadata"]["generation"], &main["spec"]["replicas"]), (&json!(2), &json!(2)));
    assert!(main["status"]["replicas"].is_null());
    let status = fixture
        .patch("merge", &format!("{one}/status"), &json!({"spec": {"replicas": 7}, "status": {"replicas": 5}}))
        .await
        .expect(200);
    assert_eq!((&status["spec"]["replicas"], &status["status"]["replicas"]), (&json!(2), &json!(5)));
    assert_eq!(status["metadata"]["generation"], 2);
    // scale
    let scale = fixture.get(&format!("{one}/scale")).await.expect(200);
    assert_eq!(
        (&scale["kind"], &scale["spec"]["replicas"], &scale["status"]["selector"]),
        (&json!("Scale"), &json!(2), &json!("a=b"))
    );
    let table = [("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")];
    let table = fixture.send("GET", &format!("{one}/scale"), &table, "").await.expect(200);
    assert_eq!((&table["kind"], &table["rows"][0]["cells"][1]), (&json!("Table"), &json!(2)));
    let scaled = fixture.patch("merge", &format!("{one}/scale"), &json!({"spec": {"replicas": 4}})).await.expect(200);
    assert_eq!(scaled["spec"]["replicas"], 4);
    let mut put = scaled.clone();
    put["spec"]["replicas"] = 6.into();
    fixture.put(&format!("{one}/scale"), &put).await.expect(200);
    fixture.put(&format!("{one}/scale"), &put).await.refused(409, "Conflict");
    let now = fixture.get(&one).await.expect(200);
    assert_eq!((&now["spec"]["replicas"], &now["metadata"]["generation"]), (&json!(6), &json!(4)));
}

#[tokio::test]
async fn namespaces_end_when_they_are_finalized() {
    let fixture = Fixture::new().await;
    let made = fixture.post("/api/v1/namespaces", &json!({"metadata": {"name": "x"}})).await.expect(201);
    assert_eq!(made["metadata"]["labels"]["kubernetes.io/metadata.name"], "x");
    assert_eq!(made["spec"]["finalizers"], json!(["kubernetes"]), "{made}");
    assert_eq!(made["status"]["phase"], "Active", "{made}");
    let going = fixture.delete("/api/v1/namespaces/x", Value::Null).await.expect(200);
    assert_eq!(going["status"]["phase"], "Terminating");
    for (metadata, named) in [
        (json!({"name": "late"}), "late"),
        (json!({"generateName": "late-"}), "late-"),
        (json!({"name": "late", "generateName": "later-"}), "late"),
        (json!({}), "Unknown"),
    ] {
        let answer = fixture.post("/api/v1/namespaces/x/configmaps", &json!({"metadata": metadata})).await;
        assert_eq!(answer.body["details"]["name"], named);
        let why = "unable to create new content in namespace x because it is being terminated";
        assert_eq!(answer.refused(403, "Forbidden"), format!("configmaps \"{named}\" is forbidden: {why}"));
    }
    let mut done = going.clone();
    done["spec"]["finalizers"] = json!([]);
    fixture.put("/api/v1/namespaces/x/finalize", &done).await.expect(200);
    fixture.get("/api/v1/namespaces/x").await.refused(404, "NotFound");
    fixture.delete("/api/v1/namespaces/default", Value::Null).await.refused(403, "Forbidden");
}

#[tokio::test]
async fn events_of_both_groups_are_the_same() {
    let fixture = Fixture::new().await;
    let event = json!({"metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "namespace": "default", "name": "p"}, "reason": "R", "message": "text", "type": "Normal"});
    fixture.post("/api/v1/namespaces/default/events", &event).await.expect(201);
    let uri = "/apis/events.k8s.io/v1/namespaces/default/events";
    let seen = fixture.get(&format!("{uri}/e")).await.expect(200);
    assert_eq!(
        (&seen["apiVersion"], &seen["note"], &seen["regarding"]["name"]),
        (&json!("events.k8s.io/v1"), &json!("text"), &json!("p"))
    );
    let list = fixture.get(&format!("{uri}?fieldSelector=regarding.name%3Dp")).await.expect(200);
    assert_eq!(list["items"], json!([as_item(seen)]));
}

#[tokio::test]
async fn protobuf_bodies_are_read() {
    use http_body_util::Full;
    let fixture = Fixture::new().await;
    // ConfigMap{metadata{name: "a"}, data{"k": "v"}} in its envelope, as typed Go clients send it.
    let raw = b"\x0a\x03\x0a\x01a\x12\x06\x0a\x01k\x12\x01v";
    let mut body = b"k8s\0\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x12\x0d".to_vec();
    body.extend_from_slice(raw);
    let request = http::Request::post(CONFIG_MAPS).header("content-type", "application/vnd.kubernetes.protobuf");
    let response = fixture.raw(request.body(Full::from(body)).unwrap()).await;
    assert_eq!(response.status(), 201);
    assert_eq!(fixture.get(&format!("{CONFIG_MAPS}/a")).await.expect(200)["data"]["k"], "v");
}
