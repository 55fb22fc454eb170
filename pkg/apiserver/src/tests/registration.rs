//! What is served, as objects: APIServices; and component statuses, which are not stored.

use serde_json::json;

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
        message.ends_with("metadata.resourceVersion: Invalid value: 0x0: must be specified for an update"),
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
