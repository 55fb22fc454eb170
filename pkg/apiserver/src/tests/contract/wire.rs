//! Every kind in every encoding and shape.

use api::{Kind, Value, openapi, protobuf};
use http_body_util::{BodyExt as _, Full};
use serde_json::json;

use super::samples::{Sample, each, stored};
use crate::tests::Fixture;

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
const PARTIAL: &str = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json";
const PARTIAL_LIST: &str = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json";

/// Sends bytes as `media` and accepts the same; answers with code, media type and bytes.
async fn send(fixture: &Fixture, method: &str, uri: &str, media: &str, body: Vec<u8>) -> (u16, String, Vec<u8>) {
    let request =
        http::Request::builder().method(method).uri(uri).header("accept", media).header("content-type", media);
    let response = fixture.raw(request.body(Full::from(body)).unwrap()).await;
    let (parts, body) = response.into_parts();
    let media = parts.headers["content-type"].to_str().unwrap().to_owned();
    (parts.status.as_u16(), media, body.collect().await.unwrap().to_bytes().to_vec())
}

/// What says as little as nothing: absent in one encoding and empty in the other.
fn without_empties(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(without_empties);
            fields.retain(|_, value| {
                let empty = match value {
                    Value::Null => true,
                    Value::Object(fields) => fields.is_empty(),
                    Value::Array(items) => items.is_empty(),
                    Value::String(text) => text.is_empty(),
                    _ => false,
                };
                !empty
            });
        }
        Value::Array(items) => items.iter_mut().for_each(without_empties),
        _ => {}
    }
}

#[tokio::test]
async fn protobuf_says_the_same_as_json() {
    let fixture = Fixture::with_custom().await;
    let spoken = |kind: &Kind| stored(kind) && !kind.is_custom();
    each(&fixture, spoken, async |fixture: &Fixture, sample: &Sample| {
        sample.prepare(fixture).await;
        let (uri, one) = (sample.collection(), sample.uri());
        let sent = protobuf::encode_object(&sample.object).expect("built-in kinds have a form in protobuf");
        let read = protobuf::decode_object(&sent).unwrap();
        let (mut left, mut right) = (read, sample.object.clone());
        without_empties(&mut left);
        without_empties(&mut right);
        assert_eq!(left, right, "what is encoded is decoded");
        let (code, media, bytes) = send(fixture, "POST", &uri, PROTOBUF, sent).await;
        assert_eq!((code, media.as_str()), (201, PROTOBUF), "{}", String::from_utf8_lossy(&bytes));
        // Upstream's structs and counts are not on the wire where they are zero, but in JSON.
        let whole = |tree: &mut Value| api::decode::check(&sample.kind.schema, sample.kind.root, tree).unwrap();
        let mut made = protobuf::decode_object(&bytes).unwrap();
        whole(&mut made);
        let mut plain = fixture.get(&one).await.expect(200);
        if sample.settles() {
            plain = sample.settled(fixture, plain).await;
            made = plain.clone();
        }
        let served = plain.clone();
        without_empties(&mut plain);
        without_empties(&mut made);
        assert_eq!(made, plain);
        let (code, _, bytes) = send(fixture, "GET", &one, PROTOBUF, Vec::new()).await;
        let mut got = protobuf::decode_object(&bytes).unwrap();
        whole(&mut got);
        without_empties(&mut got);
        assert_eq!((code, &got), (200, &plain));
        // What was read may be sent back, and changes nothing.
        let (code, _, bytes) = send(fixture, "PUT", &one, PROTOBUF, bytes).await;
        assert_eq!(code, 200, "{}", String::from_utf8_lossy(&bytes));
        assert_eq!(fixture.get(&one).await.expect(200), served, "an update from protobuf changes nothing");
        let mine = format!("{uri}?fieldSelector=metadata.name%3D{}", sample.name());
        let (code, _, bytes) = send(fixture, "GET", &mine, PROTOBUF, Vec::new()).await;
        let list = protobuf::decode_object(&bytes).unwrap();
        assert_eq!((code, &list["kind"]), (200, &json!(format!("{}List", &*sample.kind.kind))));
        let mut item = list["items"][0].clone();
        item["kind"] = served["kind"].clone();
        item["apiVersion"] = served["apiVersion"].clone();
        whole(&mut item);
        without_empties(&mut item);
        assert_eq!(item, plain);
        let (code, _, bytes) = send(fixture, "GET", &format!("{uri}/nothing"), PROTOBUF, Vec::new()).await;
        assert_eq!((code, &protobuf::decode_object(&bytes).unwrap()["reason"]), (404, &json!("NotFound")));
        sample.remove(fixture).await;
    })
    .await;
}

#[tokio::test]
async fn custom_resources_have_no_protobuf() {
    let fixture = Fixture::with_custom().await;
    each(&fixture, Kind::is_custom, async |fixture: &Fixture, sample: &Sample| {
        sample.make(fixture).await;
        let accept = format!("{PROTOBUF},application/json");
        let answer = fixture.send("GET", &sample.uri(), &[("accept", &accept)], "").await;
        assert_eq!(answer.headers["content-type"], "application/json");
        let (code, media, bytes) = send(fixture, "GET", &sample.uri(), PROTOBUF, Vec::new()).await;
        assert_eq!((code, media.as_str()), (406, PROTOBUF));
        assert_eq!(protobuf::decode_object(&bytes).unwrap()["reason"], "NotAcceptable");
        // Metadata alone has one.
        let accept = format!("{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
        let (code, media, bytes) = send(fixture, "GET", &sample.uri(), &accept, Vec::new()).await;
        assert_eq!((code, media.as_str()), (200, PROTOBUF));
        assert_eq!(protobuf::open(&bytes).unwrap().kind, "PartialObjectMetadata");
        sample.remove(fixture).await;
    })
    .await;
}

#[tokio::test]
async fn yaml_in_and_out() {
    let fixture = Fixture::with_custom().await;
    each(&fixture, stored, async |fixture: &Fixture, sample: &Sample| {
        sample.prepare(fixture).await;
        let text = serde_saphyr::to_string(&sample.object).unwrap();
        let (code, media, bytes) =
            send(fixture, "POST", &sample.collection(), "application/yaml", text.into_bytes()).await;
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!((code, media.as_str()), (201, "application/yaml"), "{text}");
        let made: Value = serde_saphyr::from_str(&text).unwrap();
        let read = fixture.get(&sample.uri()).await.expect(200);
        if sample.settles() {
            assert_eq!(made["spec"], read["spec"]);
        } else {
            assert_eq!(made, read);
        }
        sample.remove(fixture).await;
    })
    .await;
}

#[tokio::test]
async fn tables_and_metadata() {
    let fixture = Fixture::with_custom().await;
    each(&fixture, stored, async |fixture: &Fixture, sample: &Sample| {
        let (uri, one) = (sample.collection(), sample.uri());
        let made = sample.make(fixture).await;
        let mine = format!("{uri}?fieldSelector=metadata.name%3D{}", sample.name());
        for uri in [&one, &mine] {
            let table = fixture.send("GET", uri, &[("accept", TABLE)], "").await.expect(200);
            assert_eq!((&table["kind"], &table["apiVersion"]), (&json!("Table"), &json!("meta.k8s.io/v1")));
            let columns = table["columnDefinitions"].as_array().unwrap();
            let rows = table["rows"].as_array().unwrap();
            assert_eq!(rows.len(), 1);
            assert_eq!(rows[0]["cells"].as_array().unwrap().len(), columns.len(), "{table}");
            for column in sample.kind.columns.iter() {
                assert!(columns.iter().any(|c| c["name"] == *column.name), "column {}", &*column.name);
            }
            assert!(rows[0]["cells"].to_string().contains(sample.name()), "{table}");
            assert_eq!(rows[0]["object"]["kind"], "PartialObjectMetadata");
            assert_eq!(rows[0]["object"]["metadata"]["uid"], made["metadata"]["uid"]);
        }
        let partial = fixture.send("GET", &one, &[("accept", PARTIAL)], "").await.expect(200);
        assert_eq!(partial["kind"], "PartialObjectMetadata");
        assert_eq!(partial["metadata"], made["metadata"]);
        assert_eq!(partial.as_object().unwrap().len(), 3, "{partial}");
        let list = fixture.send("GET", &mine, &[("accept", PARTIAL_LIST)], "").await.expect(200);
        assert_eq!(list["kind"], "PartialObjectMetadataList");
        assert_eq!(list["items"][0]["metadata"], made["metadata"]);
        fixture.send("GET", &one, &[("accept", "text/html")], "").await.refused(406, "NotAcceptable");
        sample.remove(fixture).await;
    })
    .await;
}

#[tokio::test]
async fn every_row_is_in_discovery_and_openapi() {
    let fixture = Fixture::with_custom().await;
    let definitions = openapi::v2(&fixture.server.server.kinds())["definitions"].clone();
    each(
        &fixture,
        |_| true,
        async |fixture: &Fixture, sample: &Sample| {
            let kind = &sample.kind;
            let root = if kind.group.is_empty() { "api" } else { "apis" };
            let resources = fixture.get(&format!("/{root}/{}", kind.api_version())).await.expect(200);
            let listed = |name: &str| resources["resources"].as_array().unwrap().iter().any(|r| r["name"] == name);
            assert!(listed(&kind.plural), "{resources}");
            for sub in kind.subresources.iter() {
                assert!(listed(&format!("{}/{}", &*kind.plural, sub.name)), "{}", sub.name);
            }
            let document = openapi::v3(&fixture.server.server.kinds(), &kind.group, &kind.version).expect("a document");
            let place = if kind.namespaced { "/namespaces/{namespace}" } else { "" };
            let path = format!("/{root}/{}{place}/{}", kind.api_version(), &*kind.plural);
            let methods = document["paths"][&path].as_object().expect("a path");
            assert_eq!(methods.contains_key("post"), kind.verbs.allows("create"));
            assert_eq!(methods.contains_key("get"), kind.verbs.allows("list"));
            let named = |schema: &Value| {
                schema["x-kubernetes-group-version-kind"].as_array().is_some_and(|all| {
                    all.iter().any(|gvk| {
                        gvk["kind"] == *kind.kind && gvk["group"] == *kind.group && gvk["version"] == *kind.version
                    })
                })
            };
            let schemas = document["components"]["schemas"].as_object().expect("schemas");
            assert!(schemas.values().any(named), "no schema in v3");
            assert!(definitions.as_object().expect("definitions").values().any(named), "no definition in v2");
        },
    )
    .await;
}
