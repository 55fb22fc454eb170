//! Writes as clients see them: options, patches, apply, who owns what, limits.

use api::UserInfo;
use serde_json::{Value, json};

use super::{CONFIG_MAPS, Fixture, config_map};

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";

fn deployment(name: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {
        "replicas": 1, "paused": false, "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}})
}

/// `fieldsV1` of a manager's entry.
fn owned<'a>(object: &'a Value, manager: &str, subresource: &str) -> &'a Value {
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    let found = entries
        .iter()
        .find(|e| e["manager"] == manager && e["subresource"].as_str().unwrap_or_default() == subresource);
    found.map_or(&Value::Null, |entry| &entry["fieldsV1"])
}

#[tokio::test]
async fn options_are_refused_by_the_name_of_the_verb() {
    let fixture = Fixture::new().await;
    let map = config_map("a", json!({}));
    let one = format!("{CONFIG_MAPS}/a");
    let message = fixture.post(&format!("{CONFIG_MAPS}?dryRun=x"), &map).await.refused(422, "Invalid");
    assert_eq!(
        message,
        "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"x\"]: supported values: \"All\""
    );
    let message = fixture.put(&format!("{one}?fieldValidation=Maybe"), &map).await.refused(422, "Invalid");
    assert_eq!(
        message,
        "UpdateOptions.meta.k8s.io \"\" is invalid: fieldValidation: Unsupported value: \"Maybe\": supported values: \
         \"\", \"Ignore\", \"Strict\", \"Warn\""
    );
    let message = fixture.patch("merge", &format!("{one}?force=true"), &json!({})).await.refused(422, "Invalid");
    assert_eq!(
        message,
        "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for non-apply patch"
    );
    let message = fixture.patch("apply", &one, &map).await.refused(422, "Invalid");
    assert_eq!(
        message,
        "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch"
    );
    let message = fixture.delete(&format!("{one}?dryRun=x"), Value::Null).await.refused(422, "Invalid");
    assert!(message.starts_with("DeleteOptions.meta.k8s.io \"\" is invalid: dryRun: "), "{message}");
}

#[tokio::test]
async fn apply_refuses_what_it_does_not_know() {
    let fixture = Fixture::new().await;
    let one = format!("{CONFIG_MAPS}/a?fieldManager=m");
    for (applied, want) in [
        (json!({"apiVersion": "v1", "kind": "Secret"}), "invalid object type: /v1, Kind=Secret"),
        (json!({"apiVersion": "apps/v2", "kind": "ConfigMap"}), "invalid object type: apps/v2, Kind=ConfigMap"),
        (json!({}), "invalid object type: /, Kind="),
        (
            json!({"apiVersion": "v1", "kind": "ConfigMap", "nonsense": 1}),
            "failed to create typed patch object (default/a; /v1, Kind=ConfigMap): .nonsense: field not declared in schema",
        ),
        (
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"managedFields": []}}),
            "metadata.managedFields must be nil",
        ),
        (
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}),
            "the name of the object (b) does not match the name on the URL (a)",
        ),
    ] {
        assert_eq!(fixture.patch("apply", &one, &applied).await.refused(400, "BadRequest"), want);
    }
    let uid = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"uid": "1"}});
    fixture.patch("apply", &one, &uid).await.refused(409, "Conflict");
}

#[tokio::test]
async fn zero_values_are_owned_and_applying_again_writes_nothing() {
    let fixture = Fixture::new().await;
    let uri = format!("{DEPLOYMENTS}/d?fieldManager=m");
    let first = fixture.patch("apply", &uri, &deployment("d")).await.expect(201);
    assert_eq!(owned(&first, "m", "")["f:spec"]["f:paused"], json!({}));
    assert!(first["spec"]["paused"].is_null(), "what upstream omits is omitted");
    let again = fixture.patch("apply", &uri, &deployment("d")).await.expect(200);
    assert_eq!(again, first);
}

#[tokio::test]
async fn what_admission_adds_is_nobodys() {
    let fixture = Fixture::new().await;
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let pod = fixture.post("/api/v1/namespaces/default/pods", &pod).await.expect(201);
    assert_eq!(pod["spec"]["serviceAccountName"], "default");
    let spec = &owned(&pod, "tester", "")["f:spec"];
    assert_eq!(spec["f:restartPolicy"], json!({}), "defaults are owned");
    for field in ["f:serviceAccountName", "f:tolerations", "f:volumes"] {
        assert!(spec[field].is_null(), "{field}");
    }
}

#[tokio::test]
async fn a_scale_is_applied_to_its_object() {
    let fixture = Fixture::new().await;
    fixture.patch("apply", &format!("{DEPLOYMENTS}/d?fieldManager=m"), &deployment("d")).await.expect(201);
    let scale = |n: i64| json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": {"replicas": n}});
    let uri = format!("{DEPLOYMENTS}/d/scale?fieldManager=hpa");
    let refused = fixture.patch("apply", &uri, &scale(3)).await;
    assert_eq!(refused.body["details"]["causes"][0]["field"], ".spec.replicas");
    refused.refused(409, "Conflict");
    let scaled = fixture.patch("apply", &format!("{uri}&force=true"), &scale(3)).await.expect(200);
    assert_eq!((&scaled["kind"], &scaled["spec"]["replicas"]), (&json!("Scale"), &json!(3)));
    let object = fixture.get(&format!("{DEPLOYMENTS}/d")).await.expect(200);
    assert_eq!(*owned(&object, "hpa", "scale"), json!({"f:spec": {"f:replicas": {}}}));
    assert!(owned(&object, "m", "")["f:spec"]["f:replicas"].is_null());
    fixture.patch("apply", &uri, &deployment("d")).await.refused(400, "BadRequest");
}

#[tokio::test]
async fn some_kinds_are_made_by_an_update() {
    let fixture = Fixture::new().await;
    let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"},
        "spec": {"holderIdentity": "me"}});
    let uri = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l";
    let made = fixture.put(uri, &lease).await.expect(201);
    assert_eq!(fixture.put(uri, &made).await.expect(200), made);
    fixture.put(&format!("{CONFIG_MAPS}/none"), &config_map("none", json!({}))).await.refused(404, "NotFound");
}

#[tokio::test]
async fn making_by_apply_or_update_needs_the_right_to_create() {
    let mut fixture = Fixture::new().await;
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    let role = json!({"metadata": {"name": "r"}, "rules": [
        {"apiGroups": ["", "coordination.k8s.io"], "resources": ["configmaps", "leases"], "verbs": ["patch", "update"]}]});
    fixture.post(&format!("{rbac}/clusterroles"), &role).await.expect(201);
    let binding = json!({"metadata": {"name": "b"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "u"}]});
    fixture.post(&format!("{rbac}/clusterrolebindings"), &binding).await.expect(201);
    fixture.post(CONFIG_MAPS, &config_map("there", json!({}))).await.expect(201);
    fixture.user = UserInfo::authenticated("u", &[]);
    let apply = |name: &str| (format!("{CONFIG_MAPS}/{name}?fieldManager=m"), config_map(name, json!({"k": "v"})));
    let (uri, map) = apply("new");
    let message = fixture.patch("apply", &uri, &map).await.refused(403, "Forbidden");
    assert!(message.contains("cannot create resource \"configmaps\""), "{message}");
    let (uri, map) = apply("there");
    fixture.patch("apply", &uri, &map).await.expect(200);
    let lease = json!({"metadata": {"name": "l"}});
    let uri = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l";
    fixture.put(uri, &lease).await.refused(403, "Forbidden");
}

#[tokio::test]
async fn what_a_patch_breaks_is_the_patchs_fault() {
    let fixture = Fixture::new().await;
    fixture.post(DEPLOYMENTS, &deployment("d")).await.expect(201);
    let one = format!("{DEPLOYMENTS}/d");
    // What came of a merge patch is shown as JSON; of a strategic one the patch, as Go prints it.
    for (kind, shown) in [("merge", "{"), ("strategic", "map[spec:map[replicas:many]]\"")] {
        let patch = json!({"spec": {"replicas": "many"}});
        let message = fixture.patch(kind, &one, &patch).await.refused(422, "Invalid");
        let start = format!(" \"\" is invalid: patch: Invalid value: \"{shown}");
        assert!(message.starts_with(&start), "{message}");
        assert!(
            message.ends_with(
                ": json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32"
            ),
            "{message}"
        );
        let strict = format!("{one}?fieldValidation=Strict");
        let message = fixture.patch(kind, &strict, &json!({"spec": {"nonsense": 1}})).await.refused(422, "Invalid");
        assert!(message.ends_with("strict decoding error: unknown field \"spec.nonsense\""), "{message}");
    }
    let json_patch = [("content-type", "application/json-patch+json")];
    let body = r#"[{"op":"replace","path":"/spec/replicas","path":"/spec/replicas","foo":1,"value":2}]"#;
    let strict = fixture.send("PATCH", &format!("{one}?fieldValidation=Strict"), &json_patch, body).await;
    let message = strict.refused(422, "Invalid");
    let want = r#"strict decoding error: json patch duplicate field "[0].path", json patch unknown field "[0].foo""#;
    assert!(message.ends_with(want), "{message}");
    let warned = fixture.send("PATCH", &one, &json_patch, body).await;
    assert_eq!(warned.headers.get_all("warning").iter().count(), 2);
    assert_eq!(warned.expect(200)["spec"]["replicas"], 2);
    let broken = fixture.send("PATCH", &one, &json_patch, "[{").await.refused(400, "BadRequest");
    assert!(broken.starts_with("error decoding patch: "), "{broken}");
}

#[tokio::test]
async fn doubled_owners_are_left_out_with_a_warning() {
    let fixture = Fixture::new().await;
    let owner = json!({"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"});
    let mut map = config_map("a", json!({}));
    map["metadata"]["ownerReferences"] = json!([owner, owner]);
    let made = fixture.post(CONFIG_MAPS, &map).await;
    let warning = made.headers["warning"].to_str().unwrap().to_owned();
    assert!(warning.ends_with("duplicate UID(s) observed: u\""), "{warning}");
    assert_eq!(made.expect(201)["metadata"]["ownerReferences"], json!([owner]));
}

#[tokio::test]
async fn objects_have_a_limit() {
    let fixture = Fixture::new().await;
    // Secrets and ConfigMaps have a smaller one of their own.
    let mut big = deployment("big");
    big["spec"]["template"]["spec"]["containers"][0]["args"] = json!(["x".repeat(1_600_000)]);
    let message = fixture.post(DEPLOYMENTS, &big).await.refused(413, "RequestEntityTooLarge");
    assert!(message.contains("request is too large"), "{message}");
    let huge = "x".repeat(3 * 1024 * 1024 + 1);
    let message = fixture.send("POST", DEPLOYMENTS, &[], &huge).await.refused(413, "RequestEntityTooLarge");
    assert_eq!(message, "Request entity too large: limit is 3145728");
    // A patch that lets a small object grow.
    fixture.post(DEPLOYMENTS, &deployment("d")).await.expect(201);
    let args =
        json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "args": ["x".repeat(1_600_000)]}]}}}});
    fixture.patch("strategic", &format!("{DEPLOYMENTS}/d"), &args).await.refused(413, "RequestEntityTooLarge");
    let deep = format!("{{\"metadata\":{{\"name\":\"a\"}},\"data\":{}{}}}", "[".repeat(20_000), "]".repeat(20_000));
    fixture.send("POST", CONFIG_MAPS, &[], &deep).await.refused(400, "BadRequest");
    let yaml = [("content-type", "application/yaml")];
    let deep = format!("metadata: {}{}", "[".repeat(20_000), "]".repeat(20_000));
    fixture.send("POST", CONFIG_MAPS, &yaml, &deep).await.refused(400, "BadRequest");
    let many = format!("[{}]", vec![r#"{"op":"test","path":"/kind","value":"Deployment"}"#; 10_001].join(","));
    let json_patch = [("content-type", "application/json-patch+json")];
    let refused = fixture.send("PATCH", &format!("{DEPLOYMENTS}/d"), &json_patch, &many).await;
    let message = refused.refused(413, "RequestEntityTooLarge");
    assert!(message.ends_with("The allowed maximum operations in a JSON patch is 10000, got 10001"), "{message}");
    let selector: Vec<String> = (0..4_000).map(|n| format!("k{n}!=v")).collect();
    fixture.get(&format!("{CONFIG_MAPS}?labelSelector={}", selector.join(","))).await.expect(200);
}

#[tokio::test]
async fn options_of_a_deletion_that_cannot_be_read_were_passed_over() {
    let fixture = Fixture::new().await;
    fixture.post(CONFIG_MAPS, &config_map("a", json!({}))).await.expect(201);
    let one = format!("{CONFIG_MAPS}/a");
    for (options, code, reason) in [
        (json!({"preconditions": {"uid": 5}}), 400, "BadRequest"),
        (json!({"preconditions": "x"}), 400, "BadRequest"),
        (json!({"dryRun": "All"}), 400, "BadRequest"),
        (json!({"dryRun": ["Some"]}), 422, "Invalid"),
        (json!({"gracePeriodSeconds": "soon"}), 400, "BadRequest"),
        (json!({"propagationPolicy": 1}), 400, "BadRequest"),
        (json!({"kind": "Pod", "apiVersion": "v1"}), 400, "BadRequest"),
    ] {
        fixture.delete(&one, options.clone()).await.refused(code, reason);
        assert_eq!(fixture.get(&one).await.code, 200, "{options}");
    }
    let known = json!({"kind": "DeleteOptions", "apiVersion": "apps/v1", "gracePeriodSeconds": 0, "dryRun": ["All"]});
    fixture.delete(&one, known).await.expect(200);
    fixture.get(&one).await.expect(200);
    fixture.delete(&one, json!({"kind": "DeleteOptions", "apiVersion": "v1"})).await.expect(200);
}

#[tokio::test]
async fn a_patched_scale_that_is_no_number_scaled_to_zero() {
    let fixture = Fixture::new().await;
    fixture.post(DEPLOYMENTS, &deployment("d")).await.expect(201);
    let uri = format!("{DEPLOYMENTS}/d/scale");
    for replicas in [json!("3"), json!(5_000_000_000_i64), json!([]), json!(1.5)] {
        let patch = json!({"spec": {"replicas": replicas}});
        fixture.patch("merge", &uri, &patch).await.refused(422, "Invalid");
        let operations = json!([{"op": "replace", "path": "/spec/replicas", "value": replicas}]);
        fixture.patch("json", &uri, &operations).await.refused(422, "Invalid");
    }
    assert_eq!(fixture.get(&uri).await.expect(200)["spec"]["replicas"], 1);
    fixture.patch("merge", &uri, &json!({"spec": {"replicas": 3}})).await.expect(200);
    assert_eq!(fixture.get(&uri).await.expect(200)["spec"]["replicas"], 3);
}

#[tokio::test]
async fn a_patch_that_names_another_object_was_taken_for_this_one() {
    let fixture = Fixture::new().await;
    fixture.post(CONFIG_MAPS, &config_map("a", json!({}))).await.expect(201);
    let one = format!("{CONFIG_MAPS}/a");
    for (metadata, want) in [
        (json!({"name": "b"}), "the name of the object (b) does not match the name on the URL (a)"),
        (json!({"name": null}), "the name of the object (a based on URL) was undeterminable: name must be provided"),
        (
            json!({"namespace": "kube-system"}),
            "the namespace of the object (kube-system) does not match the namespace on the request (default)",
        ),
    ] {
        for kind in ["merge", "strategic"] {
            let patch = json!({"metadata": metadata, "data": {"k": "v"}});
            assert_eq!(fixture.patch(kind, &one, &patch).await.refused(400, "BadRequest"), want);
        }
    }
    assert!(fixture.get(&one).await.expect(200)["data"].is_null());
    fixture.patch("merge", &one, &json!({"metadata": {"name": "a", "namespace": "default"}})).await.expect(200);
}

#[tokio::test]
async fn managed_fields_can_be_reset() {
    let fixture = Fixture::new().await;
    let one = format!("{CONFIG_MAPS}/a");
    let reset = json!({"metadata": {"managedFields": [{}]}});
    let made = fixture.post(CONFIG_MAPS, &config_map("a", json!({"k": "v"}))).await.expect(201);
    assert!(owned(&made, "tester", "").is_object());
    let kept = fixture.patch("merge", &one, &json!({"metadata": {"managedFields": null}})).await.expect(200);
    assert_eq!(kept["metadata"]["managedFields"], made["metadata"]["managedFields"], "left out is kept");
    let bare = fixture.patch("merge", &one, &reset).await.expect(200);
    assert!(bare["metadata"]["managedFields"].is_null(), "{bare}");
    let still = fixture.patch("merge", &one, &json!({"data": {"k": "w"}})).await.expect(200);
    assert!(still["metadata"]["managedFields"].is_null(), "{still}");
    let with_manager = format!("{one}?fieldManager=tester");
    let applied = fixture.patch("apply", &with_manager, &config_map("a", json!({"k": "w"}))).await.expect(200);
    assert!(applied["metadata"]["managedFields"].is_array(), "{applied}");
    let mut new = applied;
    new["metadata"]["managedFields"] = json!([{}]);
    let bare = fixture.put(&one, &new).await.expect(200);
    assert!(bare["metadata"]["managedFields"].is_null(), "{bare}");
}

#[tokio::test]
async fn what_the_system_sets_is_nobodys() {
    let fixture = Fixture::new().await;
    let mut map = config_map("a", json!({"k": "v"}));
    map["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
    let made = fixture.post(CONFIG_MAPS, &map).await.expect(201);
    assert!(made["metadata"]["deletionTimestamp"].is_null());
    assert!(!made["metadata"]["managedFields"].to_string().contains("deletionTimestamp"), "{made}");
    map["metadata"] = json!({"name": "b", "finalizers": ["short"]});
    let message = fixture.post(CONFIG_MAPS, &map).await.refused(422, "Invalid");
    assert!(message.contains("metadata.finalizers[0]: Invalid value: \"short\": name is neither"), "{message}");
}

#[tokio::test]
async fn delete_options_are_checked() {
    let fixture = Fixture::new().await;
    fixture.post(CONFIG_MAPS, &config_map("a", json!({}))).await.expect(201);
    let one = format!("{CONFIG_MAPS}/a");
    let both = json!({"propagationPolicy": "Sideways", "orphanDependents": true});
    let answer = fixture.delete(&one, both).await;
    assert_eq!(answer.code, 422);
    let causes = answer.body["details"]["causes"].as_array().unwrap().clone();
    assert_eq!(
        causes.iter().map(|c| c["reason"].as_str().unwrap()).collect::<Vec<_>>(),
        ["FieldValueInvalid", "FieldValueNotSupported"]
    );
    fixture.get(&one).await.expect(200);
}

#[tokio::test]
async fn unknown_fields_of_a_scale_were_not_asked_after() {
    let fixture = Fixture::new().await;
    fixture.post(DEPLOYMENTS, &deployment("a")).await.expect(201);
    let scale = format!("{DEPLOYMENTS}/a/scale");
    let sent = r#"{"metadata": {"name": "a"}, "spec": {"replicas": 1, "replicas": 2, "more": 3}}"#;
    let json = [("content-type", "application/json")];
    let strict = fixture.send("PUT", &format!("{scale}?fieldValidation=Strict"), &json, sent).await;
    assert_eq!(
        strict.refused(400, "BadRequest"),
        "Scale in version \"v1\" cannot be handled as a Scale: strict decoding error: \
         duplicate field \"spec.replicas\", unknown field \"spec.more\""
    );
    let warned = fixture.send("PUT", &scale, &json, sent).await;
    let warnings: Vec<_> = warned.headers.get_all("warning").iter().map(|text| text.to_str().unwrap()).collect();
    assert_eq!(warnings, [r#"299 - "duplicate field \"spec.replicas\"""#, r#"299 - "unknown field \"spec.more\"""#]);
    let ignored = fixture.send("PUT", &format!("{scale}?fieldValidation=Ignore"), &json, sent).await;
    assert!(ignored.headers.get("warning").is_none(), "{ignored:?}");
    let merge = [("content-type", "application/merge-patch+json")];
    let strict = fixture.send("PATCH", &format!("{scale}?fieldValidation=Strict"), &merge, sent).await;
    let message = strict.refused(422, "Invalid");
    let why = "strict decoding error: duplicate field \"spec.replicas\", unknown field \"spec.more\"";
    assert!(message.ends_with(why), "{message}");
    let applied = r#"{"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": {"replicas": 1, "replicas": 2}}"#;
    let apply = [("content-type", "application/apply-patch+yaml")];
    let uri = format!("{scale}?fieldValidation=Strict&fieldManager=m&force=true");
    let message = fixture.send("PATCH", &uri, &apply, applied).await.refused(400, "BadRequest");
    assert!(message.starts_with("error strict decoding patch: "), "{message}");
}

#[tokio::test]
async fn an_empty_list_of_managed_fields_forgot_nothing() {
    let fixture = Fixture::new().await;
    let one = format!("{CONFIG_MAPS}/a");
    for (number, forget) in [json!([]), json!([{}])].into_iter().enumerate() {
        let mut map = config_map("a", json!({"k": number.to_string()}));
        fixture.post(CONFIG_MAPS, &map).await.expect(201);
        map["metadata"]["managedFields"] = forget.clone();
        let put = fixture.put(&one, &map).await.expect(200);
        assert!(put["metadata"]["managedFields"].is_null(), "{put}");
        fixture.delete(&one, Value::Null).await.expect(200);
        map["metadata"].as_object_mut().unwrap().remove("managedFields");
        fixture.post(CONFIG_MAPS, &map).await.expect(201);
        let patch = json!({"metadata": {"managedFields": forget}});
        let patched = fixture.patch("merge", &one, &patch).await.expect(200);
        assert!(patched["metadata"]["managedFields"].is_null(), "{patched}");
        fixture.delete(&one, Value::Null).await.expect(200);
    }
}

#[tokio::test]
async fn a_doubled_field_vanished_where_its_keys_differ_in_yaml() {
    let fixture = Fixture::new().await;
    let applied = "apiVersion: v1\nkind: ConfigMap\ndata:\n  1: a\n  \"1\": b\n";
    let uri = format!("{CONFIG_MAPS}/a?fieldManager=m&fieldValidation=Strict");
    let apply = [("content-type", "application/apply-patch+yaml")];
    let message = fixture.send("PATCH", &uri, &apply, applied).await.refused(400, "BadRequest");
    assert_eq!(message, "error strict decoding patch: duplicate field \"data.1\"");
}

#[tokio::test]
async fn bare_names_of_finalizers_are_refused_where_upstream_refuses_them() {
    let fixture = Fixture::new().await;
    let leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    let with = |name: &str| json!({"metadata": {"name": name, "finalizers": ["bare"]}});
    fixture.post(leases, &with("a")).await.expect(201);
    let message = fixture.post(CONFIG_MAPS, &with("a")).await.refused(422, "Invalid");
    assert!(message.contains("name is neither a standard finalizer name nor is it fully qualified"), "{message}");
}
