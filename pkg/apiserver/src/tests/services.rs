//! Services get addresses and ports, and give them back.

use serde_json::{Value, json};

use super::Fixture;

const SERVICES: &str = "/api/v1/namespaces/default/services";

fn service(name: &str, spec: Value) -> Value {
    json!({"metadata": {"name": name}, "spec": spec})
}

#[tokio::test]
async fn addresses_are_allocated_and_released() {
    let fixture = Fixture::new().await;
    let made = fixture.post(SERVICES, &service("a", json!({"ports": [{"port": 80}]}))).await.expect(201);
    let ip = made["spec"]["clusterIP"].as_str().unwrap().to_owned();
    assert!(ip.starts_with("10.43."), "{ip}");
    assert_eq!(made["spec"]["clusterIPs"], json!([ip]));
    assert_eq!(
        (&made["spec"]["ipFamilies"], &made["spec"]["ipFamilyPolicy"]),
        (&json!(["IPv4"]), &json!("SingleStack"))
    );
    let same = service("b", json!({"clusterIP": ip, "ports": [{"port": 80}]}));
    let message = fixture.post(SERVICES, &same).await.refused(422, "Invalid");
    assert!(message.ends_with(&format!("failed to allocate IP {ip}: provided IP is already allocated")), "{message}");
    fixture.delete(&format!("{SERVICES}/a"), Value::Null).await.expect(200);
    assert_eq!(fixture.post(SERVICES, &same).await.expect(201)["spec"]["clusterIP"], ip.as_str());
    // Selected without decoding.
    let list = fixture.get(&format!("{SERVICES}?fieldSelector=spec.clusterIP%3D{ip}")).await.expect(200);
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn many_at_once_all_differ() {
    let fixture = Fixture::new().await;
    let fixture = &fixture;
    let made = futures::future::join_all((0..40).map(|n| async move {
        let spec = json!({"type": "NodePort", "ports": [{"port": 80}]});
        fixture.post(SERVICES, &service(&format!("s{n}"), spec)).await.expect(201)
    }))
    .await;
    for path in ["/spec/clusterIP", "/spec/ports/0/nodePort"] {
        let all: std::collections::HashSet<String> =
            made.iter().map(|s| s.pointer(path).unwrap().to_string()).collect();
        assert_eq!(all.len(), 40, "{path}");
    }
}

#[tokio::test]
async fn types_change() {
    let fixture = Fixture::new().await;
    let one = format!("{SERVICES}/a");
    let made = fixture.post(SERVICES, &service("a", json!({"ports": [{"port": 80}]}))).await.expect(201);
    let node_port = fixture.patch("merge", &one, &json!({"spec": {"type": "NodePort"}})).await.expect(200);
    assert_eq!(node_port["spec"]["clusterIP"], made["spec"]["clusterIP"]);
    let port = node_port["spec"]["ports"][0]["nodePort"].as_u64().unwrap();
    assert!((30000..=32767).contains(&port));
    let applied = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}});
    let again = fixture.patch("apply", &format!("{one}?fieldManager=m"), &applied).await.expect(200);
    assert_eq!(again["spec"]["ports"][0]["nodePort"], port);
    let cluster = fixture.patch("merge", &one, &json!({"spec": {"type": "ClusterIP"}})).await.expect(200);
    assert!(cluster["spec"]["ports"][0]["nodePort"].is_null());
    let external = fixture
        .patch("merge", &one, &json!({"spec": {"type": "ExternalName", "externalName": "x.example"}}))
        .await
        .expect(200);
    assert!(external["spec"]["clusterIP"].is_null(), "{external}");
}

#[tokio::test]
async fn addresses_have_objects_of_their_own() {
    let fixture = Fixture::new().await;
    let (addresses, ranges) = ("/apis/networking.k8s.io/v1/ipaddresses", "/apis/networking.k8s.io/v1/servicecidrs");
    let made = fixture.post(SERVICES, &service("a", json!({"ports": [{"port": 80}]}))).await.expect(201);
    let ip = made["spec"]["clusterIP"].as_str().unwrap().to_owned();
    let object = fixture.get(&format!("{addresses}/{ip}")).await.expect(200);
    assert_eq!(
        object["spec"]["parentRef"],
        json!({"group": "", "resource": "services", "namespace": "default", "name": "a"})
    );
    assert_eq!(object["metadata"]["labels"]["ipaddress.kubernetes.io/managed-by"], "ipallocator.k8s.io");
    // An address that somebody holds otherwise is not given.
    let held = json!({"metadata": {"name": "10.43.0.77"}, "spec": {"parentRef": {"resource": "services", "namespace": "x", "name": "y"}}});
    fixture.post(addresses, &held).await.expect(201);
    let wanted = service("b", json!({"clusterIP": "10.43.0.77", "ports": [{"port": 80}]}));
    let message = fixture.post(SERVICES, &wanted).await.refused(422, "Invalid");
    assert!(message.ends_with("provided IP is already allocated"), "{message}");
    // A further range.
    let far = service("c", json!({"clusterIP": "10.99.0.7", "ports": [{"port": 80}]}));
    let message = fixture.post(SERVICES, &far).await.refused(422, "Invalid");
    assert!(message.ends_with("the provided network does not match the current range"), "{message}");
    let range = json!({"metadata": {"name": "more"}, "spec": {"cidrs": ["10.99.0.0/24"]}});
    fixture.post(ranges, &range).await.expect(201);
    fixture.post(SERVICES, &far).await.expect(201);
    fixture.get(&format!("{addresses}/10.99.0.7")).await.expect(200);
    // They go with the Service, or when it needs none.
    let external = json!({"spec": {"type": "ExternalName", "externalName": "x.example"}});
    fixture.patch("merge", &format!("{SERVICES}/c"), &external).await.expect(200);
    fixture.get(&format!("{addresses}/10.99.0.7")).await.refused(404, "NotFound");
    fixture.delete(&format!("{SERVICES}/a"), Value::Null).await.expect(200);
    fixture.get(&format!("{addresses}/{ip}")).await.refused(404, "NotFound");
    fixture.get(&format!("{addresses}/10.43.0.77")).await.expect(200);
}
