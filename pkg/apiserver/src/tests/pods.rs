//! What admission and subresources do to pods.

use serde_json::{Value, json};

use super::Fixture;

const PODS: &str = "/api/v1/namespaces/default/pods";

fn pod(name: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "x"}]}})
}

#[tokio::test]
async fn pods_are_completed() {
    let fixture = Fixture::new().await;
    let made = fixture.post(PODS, &pod("a")).await.expect(201);
    let spec = &made["spec"];
    assert_eq!(spec["serviceAccountName"], "default");
    assert_eq!(spec["containers"][0]["volumeMounts"][0]["mountPath"], "/var/run/secrets/kubernetes.io/serviceaccount");
    assert_eq!(spec["volumes"][0]["projected"]["sources"].as_array().unwrap().len(), 3);
    assert_eq!(spec["tolerations"].as_array().unwrap().len(), 2);
    assert_eq!((&spec["priority"], &spec["preemptionPolicy"]), (&json!(0), &json!("PreemptLowerPriority")));
    assert_eq!((&made["status"]["phase"], &made["status"]["qosClass"]), (&json!("Pending"), &json!("BestEffort")));
    let mut critical = pod("critical");
    critical["spec"]["priorityClassName"] = "system-node-critical".into();
    assert_eq!(fixture.post(PODS, &critical).await.expect(201)["spec"]["priority"], 2_000_001_000);
    critical["spec"]["priorityClassName"] = "nonsense".into();
    let message = fixture.post(PODS, &critical).await.refused(403, "Forbidden");
    assert_eq!(message, "pods \"critical\" is forbidden: no PriorityClass with name nonsense was found");
    let mut other = pod("other");
    other["spec"]["serviceAccountName"] = "missing".into();
    let message = fixture.post(PODS, &other).await.refused(403, "Forbidden");
    assert!(
        message.ends_with("error looking up service account default/missing: serviceaccount \"missing\" not found"),
        "{message}"
    );
}

#[tokio::test]
async fn a_pod_is_bound_once() {
    let fixture = Fixture::new().await;
    fixture.post(PODS, &pod("a")).await.expect(201);
    let binding = json!({"metadata": {"name": "a"}, "target": {"kind": "Node", "name": "n1"}});
    let done = fixture.post(&format!("{PODS}/a/binding"), &binding).await.expect(201);
    assert_eq!(done["status"], "Success");
    let bound = fixture.get(&format!("{PODS}/a")).await.expect(200);
    assert_eq!(bound["spec"]["nodeName"], "n1");
    assert_eq!(bound["status"]["conditions"][0]["type"], "PodScheduled");
    let message = fixture.post(&format!("{PODS}/a/binding"), &binding).await.refused(409, "Conflict");
    assert_eq!(
        message,
        "Operation cannot be fulfilled on pods/binding \"a\": pod a is already assigned to node \"n1\""
    );
    let by_node = format!("{PODS}?fieldSelector=spec.nodeName%3Dn1");
    assert_eq!(fixture.get(&by_node).await.expect(200)["items"].as_array().unwrap().len(), 1);
    assert_eq!(fixture.get(&format!("{PODS}?fieldSelector=spec.nodeName%3D")).await.expect(200)["items"], json!([]));
}

#[tokio::test]
async fn a_binding_names_its_pod_and_a_node() {
    let fixture = Fixture::new().await;
    let uid = fixture.post(PODS, &pod("a")).await.expect(201)["metadata"]["uid"].clone();
    let to = |metadata: Value, target: Value| json!({"metadata": metadata, "target": target});
    let binding = format!("{PODS}/a/binding");
    let node = || json!({"kind": "Node", "name": "n1"});
    for metadata in [json!({}), json!({"name": "b"})] {
        let message = fixture.post(&binding, &to(metadata, node())).await.refused(400, "BadRequest");
        assert_eq!(message, "name in URL does not match name in Binding object");
    }
    let elsewhere = to(json!({"name": "a", "namespace": "other"}), node());
    let message = fixture.post(&binding, &elsewhere).await.refused(400, "BadRequest");
    assert_eq!(message, "the namespace of the provided object does not match the namespace sent on the request");
    let wrong = to(json!({"name": "a"}), json!({"kind": "Pod", "name": "n1"}));
    let message = fixture.post(&binding, &wrong).await.refused(422, "Invalid");
    let text = "target.kind: Unsupported value: \"Pod\": supported values: \"Node\", \"<empty>\"";
    assert_eq!(message, format!("Binding \"a\" is invalid: {text}"));
    let other = to(json!({"name": "a", "uid": "x"}), node());
    let message = fixture.post(&binding, &other).await.refused(409, "Conflict");
    assert!(message.contains("Precondition failed: UID in precondition: x"), "{message}");
    // The old place of bindings.
    let old = "/api/v1/namespaces/default/bindings";
    assert_eq!(fixture.post(old, &to(json!({"name": "a", "uid": uid}), node())).await.expect(201)["status"], "Success");
    let bound = fixture.get(&format!("{PODS}/a")).await.expect(200);
    let owns = |entry: &Value| entry["fieldsV1"]["f:spec"].get("f:nodeName").is_some();
    assert!(!bound["metadata"]["managedFields"].as_array().unwrap().iter().any(owns), "a binding owns nothing");
}

#[tokio::test]
async fn pods_carry_the_zone_of_their_node() {
    let fixture = Fixture::new().await;
    let place = json!({"topology.kubernetes.io/zone": "z", "topology.kubernetes.io/region": "r"});
    let mut labels = place.clone();
    labels["other"] = "x".into();
    let node = json!({"metadata": {"name": "n1", "labels": labels}});
    fixture.post("/api/v1/nodes", &node).await.expect(201);
    fixture.post(PODS, &pod("a")).await.expect(201);
    let binding = json!({"metadata": {"name": "a"}, "target": {"kind": "Node", "name": "n1"}});
    fixture.post(&format!("{PODS}/a/binding"), &binding).await.expect(201);
    assert_eq!(fixture.get(&format!("{PODS}/a")).await.expect(200)["metadata"]["labels"], place);
    let mut made = pod("b");
    made["spec"]["nodeName"] = "n1".into();
    assert_eq!(fixture.post(PODS, &made).await.expect(201)["metadata"]["labels"], place);
    made["metadata"]["name"] = "c".into();
    made["spec"]["nodeName"] = "unknown".into();
    assert!(fixture.post(PODS, &made).await.expect(201)["metadata"]["labels"].is_null());
}

#[tokio::test]
async fn a_bound_pod_is_nominated_no_more_and_a_stale_binding_binds_nothing() {
    let fixture = Fixture::new().await;
    let made = fixture.post(PODS, &pod("a")).await.expect(201);
    let one = format!("{PODS}/a");
    let nominated = json!({"status": {"nominatedNodeName": "n2"}});
    fixture.patch("merge", &format!("{one}/status"), &nominated).await.expect(200);
    let mut binding = json!({"metadata": {"name": "a"}, "target": {"kind": "Node", "name": "n1"}});
    binding["metadata"]["resourceVersion"] = made["metadata"]["resourceVersion"].clone();
    let message = fixture.post(&format!("{one}/binding"), &binding).await.refused(409, "Conflict");
    assert!(message.contains("ResourceVersion in precondition"), "{message}");
    let before = fixture.get(&one).await.expect(200);
    assert_eq!((&before["spec"]["nodeName"], &before["status"]["nominatedNodeName"]), (&Value::Null, &json!("n2")));
    binding["metadata"]["resourceVersion"] = before["metadata"]["resourceVersion"].clone();
    fixture.post(&format!("{one}/binding"), &binding).await.expect(201);
    let bound = fixture.get(&one).await.expect(200);
    assert_eq!((&bound["spec"]["nodeName"], &bound["status"]["nominatedNodeName"]), (&json!("n1"), &Value::Null));
}

#[tokio::test]
async fn pods_on_a_node_end_gracefully() {
    let fixture = Fixture::new().await;
    let one = format!("{PODS}/a");
    // Not on a node yet: gone at once.
    fixture.post(PODS, &pod("a")).await.expect(201);
    fixture.delete(&one, Value::Null).await.expect(200);
    fixture.get(&one).await.refused(404, "NotFound");
    // On a node: marked, and the grace may only shorten.
    let mut assigned = pod("a");
    assigned["spec"]["nodeName"] = "n1".into();
    fixture.post(PODS, &assigned).await.expect(201);
    let going = fixture.delete(&one, Value::Null).await.expect(200);
    assert_eq!(going["metadata"]["deletionGracePeriodSeconds"], 30);
    let longer = fixture.delete(&one, json!({"gracePeriodSeconds": 60})).await.expect(200);
    assert_eq!(longer["metadata"], going["metadata"]);
    let shorter = fixture.delete(&one, json!({"gracePeriodSeconds": 5})).await.expect(200);
    assert_eq!(shorter["metadata"]["deletionGracePeriodSeconds"], 5);
    let time = |o: &Value| o["metadata"]["deletionTimestamp"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert_eq!(time(&going).duration_since(time(&shorter)).as_secs(), 25);
    fixture.delete(&one, json!({"gracePeriodSeconds": 0})).await.expect(200);
    fixture.get(&one).await.refused(404, "NotFound");
}

#[tokio::test]
async fn evictions_delete() {
    let fixture = Fixture::new().await;
    fixture.post(PODS, &pod("a")).await.expect(201);
    let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "a"}});
    assert_eq!(fixture.post(&format!("{PODS}/a/eviction"), &eviction).await.expect(201)["status"], "Success");
    fixture.get(&format!("{PODS}/a")).await.refused(404, "NotFound");
    // Older clients send this version.
    fixture.post(PODS, &pod("b")).await.expect(201);
    let mut eviction = json!({"apiVersion": "policy/v2", "kind": "Eviction", "metadata": {"name": "b"}});
    fixture.post(&format!("{PODS}/b/eviction"), &eviction).await.refused(400, "BadRequest");
    eviction["apiVersion"] = "policy/v1beta1".into();
    assert_eq!(fixture.post(&format!("{PODS}/b/eviction"), &eviction).await.expect(201)["status"], "Success");
    fixture.get(&format!("{PODS}/b")).await.refused(404, "NotFound");
}

#[tokio::test]
async fn streams_need_a_node() {
    let fixture = Fixture::new().await;
    fixture.post(PODS, &pod("a")).await.expect(201);
    assert_eq!(fixture.get(&format!("{PODS}/a/log")).await.code, 200);
    let message = fixture.get(&format!("{PODS}/a/exec?command=ls")).await.refused(400, "BadRequest");
    assert_eq!(message, "pod a does not have a host assigned");
    let message = fixture.get(&format!("{PODS}/a/log?container=z")).await.refused(400, "BadRequest");
    assert_eq!(message, "container z is not valid for pod a");
    let mut assigned = pod("b");
    assigned["spec"]["nodeName"] = "n1".into();
    fixture.post(PODS, &assigned).await.expect(201);
    fixture.get(&format!("{PODS}/b/log")).await.refused(404, "NotFound");
    // Nothing listens there.
    let node = json!({"metadata": {"name": "n1"}, "status": {"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 1}}}});
    fixture.post("/api/v1/nodes", &json!({"metadata": {"name": "n1"}})).await.expect(201);
    fixture.patch("merge", "/api/v1/nodes/n1/status", &node).await.expect(200);
    let message = fixture.get(&format!("{PODS}/b/log")).await.refused(500, "InternalError");
    assert!(message.starts_with("error dialing backend: 127.0.0.1:1: "), "{message}");
    // The kubelet is not asked.
    for stream in ["exec?command=ls&stdout=true", "attach?stdout=true", "portforward"] {
        let message = fixture.get(&format!("{PODS}/b/{stream}")).await.refused(400, "BadRequest");
        assert_eq!(message, "Upgrade request required", "{stream}");
    }
}

#[tokio::test]
async fn ephemeral_containers_have_a_door_of_their_own() {
    let fixture = Fixture::new().await;
    fixture.post(PODS, &pod("a")).await.expect(201);
    let patch = json!({"spec": {"ephemeralContainers": [{"name": "e", "image": "y"}]}, "metadata": {"labels": {"not": "here"}}});
    let done = fixture.patch("strategic", &format!("{PODS}/a/ephemeralcontainers"), &patch).await.expect(200);
    assert_eq!(done["spec"]["ephemeralContainers"][0]["name"], "e");
    assert!(done["metadata"]["labels"].is_null());
}

#[tokio::test]
async fn a_mirror_annotation_let_pods_name_any_account_and_secret() {
    let fixture = Fixture::new().await;
    let mirror = |more: Value| {
        let mut pod = pod("m");
        pod["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": "x"});
        pod["spec"]["nodeName"] = "n".into();
        pod["spec"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        pod
    };
    let container = |more: Value| {
        let mut container = json!({"name": "c", "image": "x"});
        container.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"containers": [container]})
    };
    let token = json!([{"serviceAccountToken": {"path": "token"}}]);
    for (spec, want) in [
        (json!({"serviceAccountName": "default"}), "a mirror pod may not reference service accounts"),
        (json!({"serviceAccountName": "missing"}), "a mirror pod may not reference service accounts"),
        (json!({"volumes": [{"name": "v", "secret": {"secretName": "s"}}]}), "a mirror pod may not reference secrets"),
        (json!({"imagePullSecrets": [{"name": "s"}]}), "a mirror pod may not reference secrets"),
        (container(json!({"envFrom": [{"secretRef": {"name": "s"}}]})), "a mirror pod may not reference secrets"),
        (
            json!({"volumes": [{"name": "v", "projected": {"sources": token}}]}),
            "a mirror pod may not use ServiceAccountToken volume projections",
        ),
    ] {
        let message = fixture.post(PODS, &mirror(spec)).await.refused(403, "Forbidden");
        assert_eq!(message, format!("pods \"m\" is forbidden: {want}"));
    }
    let made = fixture.post(PODS, &mirror(json!({}))).await.expect(201);
    assert!(made["spec"]["volumes"].is_null(), "{made}");
}
