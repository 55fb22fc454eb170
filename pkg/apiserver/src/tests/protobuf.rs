//! Protobuf in and out: what typed Go clients send and prefer to read.

use api::protobuf;
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};

use super::{CONFIG_MAPS, Fixture, config_map};

const MEDIA: &str = "application/vnd.kubernetes.protobuf";
const METADATA: &str = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/// Sends and accepts protobuf; answers with code, media type and bytes.
async fn send(fixture: &Fixture, method: &str, uri: &str, accept: &str, body: &Value) -> (u16, String, Vec<u8>) {
    let body = if body.is_null() { Vec::new() } else { protobuf::encode_object(body).unwrap() };
    let request =
        http::Request::builder().method(method).uri(uri).header("accept", accept).header("content-type", MEDIA);
    let response = fixture.raw(request.body(Full::from(body)).unwrap()).await;
    let (parts, body) = response.into_parts();
    let media = parts.headers["content-type"].to_str().unwrap().to_owned();
    (parts.status.as_u16(), media, body.collect().await.unwrap().to_bytes().to_vec())
}

async fn tree(fixture: &Fixture, method: &str, uri: &str, body: &Value) -> (u16, Value) {
    let (code, media, bytes) = send(fixture, method, uri, MEDIA, body).await;
    assert_eq!(media, MEDIA);
    (code, protobuf::decode_object(&bytes).unwrap())
}

#[tokio::test]
async fn objects_lists_and_errors_are_the_same_as_in_json() {
    let fixture = Fixture::new().await;
    let (code, made) = tree(&fixture, "POST", CONFIG_MAPS, &config_map("a", json!({"k": "v"}))).await;
    assert_eq!((code, &made["data"]["k"]), (201, &json!("v")));
    fixture.post(CONFIG_MAPS, &config_map("b", json!({"x": "y".repeat(100_000)}))).await.expect(201);
    for uri in [format!("{CONFIG_MAPS}/a"), CONFIG_MAPS.to_owned(), format!("{CONFIG_MAPS}?limit=1")] {
        // Twice: the second time the messages are there already.
        for _ in 0..2 {
            let read = tree(&fixture, "GET", &uri, &Value::Null).await;
            let mut plain = fixture.get(&uri).await.expect(200);
            // Items of a list in protobuf do not say what they are.
            for item in plain.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten() {
                item.as_object_mut().unwrap().retain(|field, _| field != "apiVersion" && field != "kind");
            }
            assert_eq!(read, (200, plain), "{uri}");
        }
    }
    let (code, missing) = tree(&fixture, "GET", &format!("{CONFIG_MAPS}/c"), &Value::Null).await;
    assert_eq!((code, &missing["reason"], &missing["details"]["name"]), (404, &json!("NotFound"), &json!("c")));
    let (_, _, bytes) = send(&fixture, "GET", CONFIG_MAPS, METADATA, &Value::Null).await;
    let envelope = protobuf::open(&bytes).unwrap();
    assert_eq!((envelope.api_version, envelope.kind), ("meta.k8s.io/v1", "PartialObjectMetadataList"));
    let options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": "other"}});
    assert_eq!(tree(&fixture, "DELETE", &format!("{CONFIG_MAPS}/a"), &options).await.0, 409);
    let (code, gone) = tree(&fixture, "DELETE", &format!("{CONFIG_MAPS}/a"), &Value::Null).await;
    assert_eq!((code, &gone["status"]), (200, &json!("Success")));
}

#[tokio::test]
async fn reviews_and_subresources_speak_it() {
    let fixture = Fixture::new().await;
    let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {"verb": "list", "resource": "pods"}}});
    let uri = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let (code, review) = tree(&fixture, "POST", uri, &review).await;
    assert_eq!((code, &review["status"]["allowed"]), (201, &json!(true)));
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
        "spec": {"audiences": [], "expirationSeconds": 3600}});
    let uri = "/api/v1/namespaces/default/serviceaccounts/default/token";
    let (code, token) = tree(&fixture, "POST", uri, &request).await;
    assert_eq!(code, 201);
    assert!(token["status"]["token"].as_str().unwrap().len() > 100);
}

#[tokio::test]
async fn watches_are_framed() {
    let fixture = Fixture::new().await;
    fixture.post(CONFIG_MAPS, &config_map("a", json!({}))).await.expect(201);
    let uri = format!(
        "{CONFIG_MAPS}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    );
    let request = http::Request::get(uri).header("accept", format!("{MEDIA};stream=watch"));
    let response = fixture.raw(request.body(Full::default()).unwrap()).await;
    assert_eq!(response.headers()["content-type"], "application/vnd.kubernetes.protobuf;stream=watch");
    let mut body = response.into_body();
    let (mut bytes, mut seen) = (Vec::new(), Vec::new());
    while seen.len() < 4 {
        let frame = tokio::time::timeout(std::time::Duration::from_secs(5), body.frame()).await;
        bytes.extend(frame.expect("an event comes in time").unwrap().unwrap().into_data().unwrap());
        while let Some(length) = bytes.first_chunk::<4>().map(|length| u32::from_be_bytes(*length) as usize) {
            let Some(event) = bytes.get(4..4 + length) else { break };
            let event =
                protobuf::decode(&api::schema::builtin(), api::schema::ids::META_V1_WATCH_EVENT, event).unwrap();
            bytes.drain(..4 + length);
            let name = event["object"]["metadata"]["name"].as_str().unwrap_or("-");
            seen.push(format!("{} {name}", event["type"].as_str().unwrap()));
        }
        if seen.len() == 2 {
            fixture.patch("merge", &format!("{CONFIG_MAPS}/a"), &json!({"data": {"k": "v"}})).await.expect(200);
            fixture.delete(&format!("{CONFIG_MAPS}/a"), Value::Null).await.expect(200);
        }
    }
    assert_eq!(seen, ["ADDED a", "BOOKMARK -", "MODIFIED a", "DELETED a"]);
}
