//! What is served, as objects: APIServices; and component statuses, which are not stored.

use std::time::Duration;

use serde_json::{Value, json};

use super::Fixture;

const SERVICES: &str = "/apis/apiregistration.k8s.io/v1/apiservices";

#[tokio::test]
async fn api_services_are_checked() {
    let fixture = Fixture::new().await;
    let service = json!({
        "metadata": {"name": "v1.example.com"},
        "spec": {"group": "example.com", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 10},
    });
    let made = fixture.post(SERVICES, &service).await.expect(201);
    assert_eq!(made["status"]["conditions"][0]["reason"], "Local");
    let mut other = service.clone();
    other["metadata"]["name"] = "other".into();
    let message = fixture.post(SERVICES, &other).await.refused(422, "Invalid");
    assert!(message.ends_with("must be `spec.version+\".\"+spec.group`: \"v1.example.com\""), "{message}");
    let message = fixture.put(&format!("{SERVICES}/v1.example.com"), &service).await.refused(422, "Invalid");
    assert!(
        message.ends_with("metadata.resourceVersion: Invalid value: 0: must be specified for an update"),
        "{message}"
    );
    let remote = json!({"spec": {"service": {"namespace": "a", "name": "b"}}});
    let patched = fixture.patch("merge", &format!("{SERVICES}/v1.example.com"), &remote).await.expect(200);
    assert_eq!(patched["spec"]["service"]["port"], 443);
}

#[tokio::test]
async fn component_statuses_are_read_only() {
    let fixture = Fixture::new().await;
    let uri = "/api/v1/componentstatuses";
    let list = fixture.get(uri).await.expect(200);
    let names: Vec<_> = list["items"].as_array().unwrap().iter().map(|c| c["metadata"]["name"].clone()).collect();
    assert_eq!(names, ["controller-manager", "etcd-0", "scheduler"]);
    let one = fixture.get(&format!("{uri}/etcd-0")).await.expect(200);
    assert_eq!(one["conditions"], json!([{"type": "Healthy", "status": "True", "message": "ok"}]));
    assert_eq!(one["metadata"].get("resourceVersion"), None);
    let by_name = fixture.get(&format!("{uri}?fieldSelector=metadata.name%3Dscheduler")).await.expect(200);
    assert_eq!(by_name["items"].as_array().unwrap().len(), 1);
    let accept = [("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")];
    let table = fixture.send("GET", uri, &accept, "").await.expect(200);
    assert_eq!(table["rows"][0]["cells"], json!(["controller-manager", "Healthy", "ok", ""]));
    fixture.get(&format!("{uri}/none")).await.refused(404, "NotFound");
    fixture.post(uri, &json!({"metadata": {"name": "x"}})).await.refused(405, "MethodNotAllowed");
    fixture.get(&format!("{uri}?watch=1")).await.refused(405, "MethodNotAllowed");
}

#[tokio::test]
async fn what_is_served_has_an_api_service() {
    let fixture = Fixture::new().await;
    let list = fixture.get(SERVICES).await.expect(200);
    let names: Vec<&str> =
        list["items"].as_array().unwrap().iter().map(|s| s["metadata"]["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"v1.") && names.contains(&"v1.apps") && names.contains(&"v2.autoscaling"), "{names:?}");
    let accept = [("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")];
    let table = fixture.send("GET", &format!("{SERVICES}/v1.apps"), &accept, "").await.expect(200);
    assert_eq!(table["rows"][0]["cells"].as_array().unwrap()[..3], [json!("v1.apps"), json!("Local"), json!("True")]);

    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com", "scope": "Cluster", "names": {"plural": "things", "kind": "Thing"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            }],
        },
    });
    fixture.post(definitions, &definition).await.expect(201);
    let custom = format!("{SERVICES}/v1.example.com");
    let made = until(&fixture, &custom, 200).await;
    assert_eq!(
        made["spec"],
        json!({"group": "example.com", "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 100})
    );
    // It is kept for as long as it is served.
    fixture.delete(&custom, Value::Null).await.expect(200);
    until(&fixture, &custom, 200).await;
    fixture.delete(&format!("{definitions}/things.example.com"), Value::Null).await.expect(200);
    until(&fixture, &custom, 404).await;
}

/// Asks until the answer has this code; for ten seconds at most.
async fn until(fixture: &Fixture, uri: &str, code: u16) -> Value {
    for _ in 0..200 {
        let answer = fixture.get(uri).await;
        if answer.code == code {
            return answer.body;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{uri} does not come to {code}");
}
