//! Lists: pages, resource versions, tables.

use serde_json::{Value, json};

use super::{CONFIG_MAPS, Fixture, config_map};

async fn fill(fixture: &Fixture, count: usize) {
    for n in 0..count {
        fixture.post(CONFIG_MAPS, &config_map(&format!("c{n:03}"), json!({"n": n.to_string()}))).await.expect(201);
    }
}

fn names(list: &Value) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|i| i["metadata"]["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn pages_show_one_moment() {
    let fixture = Fixture::new().await;
    fill(&fixture, 10).await;
    let first = fixture.get(&format!("{CONFIG_MAPS}?limit=4")).await.expect(200);
    assert_eq!(names(&first), ["c000", "c001", "c002", "c003"]);
    assert_eq!(first["metadata"]["remainingItemCount"], 6);
    let token = first["metadata"]["continue"].as_str().unwrap().to_owned();
    // What happens between the pages is not seen.
    fixture.delete(&format!("{CONFIG_MAPS}/c005"), Value::Null).await.expect(200);
    fixture.post(CONFIG_MAPS, &config_map("c004a", json!({}))).await.expect(201);
    let second = fixture.get(&format!("{CONFIG_MAPS}?limit=4&continue={token}")).await.expect(200);
    assert_eq!(names(&second), ["c004", "c005", "c006", "c007"]);
    assert_eq!(second["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);
    let token = second["metadata"]["continue"].as_str().unwrap().to_owned();
    let third = fixture.get(&format!("{CONFIG_MAPS}?limit=4&continue={token}")).await.expect(200);
    assert_eq!(names(&third), ["c008", "c009"]);
    assert!(third["metadata"]["continue"].is_null());
    // With a selector the rest is not counted.
    let some = fixture.get(&format!("{CONFIG_MAPS}?limit=1&fieldSelector=metadata.name!%3Dc000")).await.expect(200);
    assert_eq!(names(&some), ["c001"]);
    assert!(some["metadata"]["remainingItemCount"].is_null() && !some["metadata"]["continue"].is_null());
}

#[tokio::test]
async fn an_expired_token_comes_with_a_fresh_one() {
    let fixture = Fixture::new().await;
    fill(&fixture, 5).await;
    let first = fixture.get(&format!("{CONFIG_MAPS}?limit=2")).await.expect(200);
    let token = first["metadata"]["continue"].as_str().unwrap().to_owned();
    fixture.post(CONFIG_MAPS, &config_map("new", json!({}))).await.expect(201);
    let server = &fixture.server.server;
    let head = server.store.revision().await.unwrap();
    server.store.compact(head).await.unwrap();
    let expired = fixture.get(&format!("{CONFIG_MAPS}?limit=2&continue={token}")).await;
    assert_eq!(expired.code, 410);
    let fresh = expired.body["metadata"]["continue"].as_str().unwrap().to_owned();
    expired.refused(410, "Expired");
    let rest = fixture.get(&format!("{CONFIG_MAPS}?continue={fresh}")).await.expect(200);
    assert_eq!(names(&rest), ["c002", "c003", "c004", "new"]);
    let old = format!("{CONFIG_MAPS}?resourceVersion=2&resourceVersionMatch=Exact");
    fixture.get(&old).await.refused(410, "Expired");
}

#[tokio::test]
async fn resource_versions_choose_the_moment() {
    let fixture = Fixture::new().await;
    let before = fixture.post(CONFIG_MAPS, &config_map("a", json!({}))).await.expect(201);
    fixture.post(CONFIG_MAPS, &config_map("b", json!({}))).await.expect(201);
    let at = before["metadata"]["resourceVersion"].as_str().unwrap();
    let exact =
        fixture.get(&format!("{CONFIG_MAPS}?resourceVersion={at}&resourceVersionMatch=Exact")).await.expect(200);
    assert_eq!((names(&exact), &exact["metadata"]["resourceVersion"]), (vec!["a"], &json!(at)));
    let newer = fixture.get(&format!("{CONFIG_MAPS}?resourceVersion={at}")).await.expect(200);
    assert_eq!(names(&newer), ["a", "b"]);
    let future = fixture.get(&format!("{CONFIG_MAPS}?resourceVersion=99999")).await;
    assert!(future.refused(504, "Timeout").starts_with("Too large resource version: 99999, current: "));
    // All namespaces, and one that has nothing.
    assert_eq!(names(&fixture.get("/api/v1/configmaps").await.expect(200)), ["a", "b"]);
    assert_eq!(fixture.get("/api/v1/namespaces/kube-system/configmaps").await.expect(200)["items"], json!([]));
}

#[tokio::test]
async fn tables_and_metadata_are_made_on_demand() {
    let fixture = Fixture::new().await;
    fill(&fixture, 2).await;
    let table = [("accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json")];
    let list = fixture.send("GET", CONFIG_MAPS, &table, "").await.expect(200);
    assert_eq!((&list["kind"], &list["columnDefinitions"][0]["name"]), (&json!("Table"), &json!("Name")));
    assert_eq!(list["rows"][1]["cells"][0], "c001");
    assert_eq!(list["rows"][0]["object"]["kind"], "PartialObjectMetadata");
    let one = fixture.send("GET", &format!("{CONFIG_MAPS}/c000?includeObject=Object"), &table, "").await.expect(200);
    assert_eq!(one["rows"][0]["object"]["data"], json!({"n": "0"}));
    let partial = [("accept", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io")];
    let list = fixture.send("GET", CONFIG_MAPS, &partial, "").await.expect(200);
    assert_eq!(list["kind"], "PartialObjectMetadataList");
    assert!(list["items"][0]["data"].is_null());
    // Clients from before 1.15 ask for this version.
    for (shape, version) in
        [("Table", "/rows/0/object/apiVersion"), ("PartialObjectMetadataList", "/items/0/apiVersion")]
    {
        let old = format!("application/json;as={shape};v=v1beta1;g=meta.k8s.io");
        let list = fixture.send("GET", CONFIG_MAPS, &[("accept", &old)], "").await.expect(200);
        assert_eq!((&list["kind"], &list["apiVersion"]), (&json!(shape), &json!("meta.k8s.io/v1beta1")));
        assert_eq!(list.pointer(version), Some(&json!("meta.k8s.io/v1beta1")), "{list}");
    }
    // Errors are never turned into tables.
    fixture.send("GET", &format!("{CONFIG_MAPS}/none"), &table, "").await.refused(404, "NotFound");
}

#[tokio::test]
async fn large_lists_are_compressed_for_those_who_take_it() {
    use std::io::Read as _;

    use http_body_util::BodyExt as _;
    let fixture = Fixture::new().await;
    for n in 0..4 {
        fixture.post(CONFIG_MAPS, &config_map(&format!("c{n}"), json!({"k": "x".repeat(50_000)}))).await.expect(201);
    }
    let request =
        http::Request::get(CONFIG_MAPS).header("accept-encoding", "gzip").body(http_body_util::Full::default());
    let response = fixture.raw(request.unwrap()).await;
    assert_eq!(response.headers()["content-encoding"], "gzip");
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    let mut text = String::new();
    flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    let list: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(names(&list), ["c0", "c1", "c2", "c3"]);
    assert_eq!(fixture.get(CONFIG_MAPS).await.expect(200), list);
    let big = config_map("big", json!({"k": "x".repeat(200_000)}));
    fixture.post(CONFIG_MAPS, &big).await.expect(201);
    for (name, compressed) in [("big", true), ("c0", false)] {
        let request = http::Request::get(format!("{CONFIG_MAPS}/{name}")).header("accept-encoding", "gzip");
        let response = fixture.raw(request.body(http_body_util::Full::default()).unwrap()).await;
        assert_eq!(response.headers().contains_key("content-encoding"), compressed, "{name}");
    }
}

#[tokio::test]
async fn items_of_built_in_kinds_do_not_say_what_they_are() {
    let fixture = Fixture::new().await;
    fill(&fixture, 1).await;
    let event = json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e", "namespace": "default"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "p"}, "reason": "R", "type": "Normal"});
    fixture.post("/api/v1/namespaces/default/events", &event).await.expect(201);
    let yaml = [("accept", "application/yaml")];
    for (uri, headers) in [
        (CONFIG_MAPS, &[][..]),
        ("/apis/events.k8s.io/v1/namespaces/default/events", &[]),
        ("/api/v1/namespaces/default/events", &yaml),
    ] {
        let mut list = fixture.send("GET", uri, headers, "").await.expect(200);
        if let Some(text) = list.as_str() {
            list = serde_saphyr::from_str(text).unwrap();
        }
        assert!(list["kind"].as_str().unwrap().ends_with("List"), "{uri}");
        let item = list["items"][0].as_object().unwrap();
        assert!(item.contains_key("metadata"), "{uri}");
        assert!(!item.contains_key("kind") && !item.contains_key("apiVersion"), "{uri}");
    }
}

#[tokio::test]
async fn a_get_passed_over_the_revision_that_it_asked_for() {
    let fixture = Fixture::new().await;
    let made = fixture.post(CONFIG_MAPS, &config_map("a", json!({}))).await.expect(201);
    let get = |version: &str| format!("{CONFIG_MAPS}/a?resourceVersion={version}");
    for version in ["", "0", "1", made["metadata"]["resourceVersion"].as_str().unwrap()] {
        assert_eq!(fixture.get(&get(version)).await.expect(200), made);
    }
    let future = fixture.get(&get("99999")).await.refused(504, "Timeout");
    assert!(future.starts_with("Too large resource version: 99999, current: "), "{future}");
    fixture.get(&get("x")).await.refused(400, "BadRequest");
}
