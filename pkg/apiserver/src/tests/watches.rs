//! Watches: order, selectors, initial events, windows.

use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};

use super::{CONFIG_MAPS, Fixture, config_map};
use crate::Body;

/// Reads events from a running watch.
pub struct Events {
    body: Body,
    rest: String,
}

impl Events {
    pub async fn open(fixture: &Fixture, uri: &str, accept: &str) -> Self {
        let request = http::Request::get(uri).header("accept", accept).body(Full::default()).unwrap();
        let response = fixture.raw(request).await;
        assert_eq!(response.status(), 200);
        Events { body: response.into_body(), rest: String::new() }
    }

    pub async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((line, rest)) = self.rest.split_once('\n') {
                let event = serde_json::from_str(line).unwrap();
                self.rest = rest.to_owned();
                return Some(event);
            }
            let frame = tokio::time::timeout(std::time::Duration::from_secs(5), self.body.frame()).await;
            let data = frame.expect("an event comes in time")?.unwrap().into_data().unwrap();
            self.rest.push_str(std::str::from_utf8(&data).unwrap());
        }
    }

    /// Type and name of the next event.
    pub async fn short(&mut self) -> String {
        let event = self.next().await.expect("the watch goes on");
        format!("{} {}", event["type"].as_str().unwrap(), event["object"]["metadata"]["name"].as_str().unwrap_or("-"))
    }
}

async fn watch(fixture: &Fixture, query: &str) -> Events {
    Events::open(fixture, &format!("{CONFIG_MAPS}?watch=true&{query}"), "application/json").await
}

#[tokio::test]
async fn events_come_in_order_with_their_versions() {
    let fixture = Fixture::new().await;
    let first = fixture.post(CONFIG_MAPS, &config_map("a", json!({}))).await.expect(201);
    let version = first["metadata"]["resourceVersion"].as_str().unwrap();
    fixture.patch("merge", &format!("{CONFIG_MAPS}/a"), &json!({"data": {"k": "v"}})).await.expect(200);
    let mut events = watch(&fixture, &format!("resourceVersion={version}")).await;
    let event = events.next().await.unwrap();
    assert_eq!((&event["type"], &event["object"]["data"]["k"]), (&json!("MODIFIED"), &json!("v")));
    fixture.post("/api/v1/namespaces/kube-system/configmaps", &config_map("elsewhere", json!({}))).await.expect(201);
    fixture.post(CONFIG_MAPS, &config_map("b", json!({}))).await.expect(201);
    assert_eq!(events.short().await, "ADDED b");
    fixture.delete(&format!("{CONFIG_MAPS}/a"), Value::Null).await.expect(200);
    let gone = events.next().await.unwrap();
    let head = fixture.server.server.store.revision().await.unwrap();
    assert_eq!((&gone["type"], &gone["object"]["data"]["k"]), (&json!("DELETED"), &json!("v")));
    assert_eq!(gone["object"]["metadata"]["resourceVersion"], head.to_string());
}

#[tokio::test]
async fn selectors_turn_changes_into_additions_and_deletions() {
    let fixture = Fixture::new().await;
    let one = format!("{CONFIG_MAPS}/a");
    let mut events = watch(&fixture, "labelSelector=on").await;
    fixture.post(CONFIG_MAPS, &config_map("a", json!({}))).await.expect(201);
    for (labels, want) in [
        (json!({"on": "1"}), "ADDED a"),
        (json!({"on": "2"}), "MODIFIED a"),
        (json!({"on": null}), "DELETED a"),
        (json!({"on": "3"}), "ADDED a"),
    ] {
        fixture.patch("merge", &one, &json!({"metadata": {"labels": labels}})).await.expect(200);
        assert_eq!(events.short().await, want);
    }
    fixture.delete(&one, Value::Null).await.expect(200);
    assert_eq!(events.short().await, "DELETED a");
}

#[tokio::test]
async fn initial_events_end_with_a_bookmark() {
    let fixture = Fixture::new().await;
    for name in ["a", "b"] {
        fixture.post(CONFIG_MAPS, &config_map(name, json!({}))).await.expect(201);
    }
    let query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let mut events = watch(&fixture, query).await;
    assert_eq!([events.short().await, events.short().await], ["ADDED a", "ADDED b"]);
    let mark = events.next().await.unwrap();
    assert_eq!(mark["type"], "BOOKMARK");
    assert_eq!(mark["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"], "true");
    let head = fixture.server.server.store.revision().await.unwrap();
    assert_eq!(mark["object"]["metadata"]["resourceVersion"], head.to_string());
    fixture.post(CONFIG_MAPS, &config_map("c", json!({}))).await.expect(201);
    assert_eq!(events.short().await, "ADDED c");
    // Without the parameter, the current objects come too, but no bookmark.
    let mut plain = watch(&fixture, "timeoutSeconds=1").await;
    assert_eq!([plain.short().await, plain.short().await, plain.short().await], ["ADDED a", "ADDED b", "ADDED c"]);
    assert_eq!(plain.next().await, None, "the watch ends after its timeout");
}

#[tokio::test]
async fn a_watch_from_before_the_window_is_expired() {
    let fixture = Fixture::new().await;
    fixture.get(CONFIG_MAPS).await.expect(200);
    let mut events = watch(&fixture, "resourceVersion=1").await;
    let status = events.next().await.unwrap();
    assert_eq!((&status["type"], &status["object"]["reason"]), (&json!("ERROR"), &json!("Expired")));
    assert!(status["object"]["message"].as_str().unwrap().starts_with("too old resource version: 1 ("), "{status}");
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn a_watcher_that_is_too_slow_is_told_so() {
    let fixture = Fixture::new().await;
    let mut events = watch(&fixture, "resourceVersion=0").await;
    for n in 0..1200 {
        fixture.post(CONFIG_MAPS, &config_map(&format!("c{n}"), json!({"k": "x".repeat(5000)}))).await.expect(201);
    }
    fixture.get(CONFIG_MAPS).await.expect(200);
    let event = events.next().await.unwrap();
    assert_eq!((&event["type"], &event["object"]["code"]), (&json!("ERROR"), &json!(410)));
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn a_watch_as_table_sends_columns_once() {
    let fixture = Fixture::new().await;
    fixture.post(CONFIG_MAPS, &config_map("a", json!({}))).await.expect(201);
    fixture.post(CONFIG_MAPS, &config_map("b", json!({}))).await.expect(201);
    let accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let mut events = Events::open(&fixture, &format!("{CONFIG_MAPS}?watch=true"), accept).await;
    let (first, second) = (events.next().await.unwrap(), events.next().await.unwrap());
    assert_eq!(first["object"]["kind"], "Table");
    assert!(!first["object"]["columnDefinitions"].as_array().unwrap().is_empty());
    assert!(second["object"]["columnDefinitions"].as_array().is_none_or(Vec::is_empty));
    assert_eq!(second["object"]["rows"][0]["cells"][0], "b");
}

#[tokio::test]
async fn watches_end_when_the_server_stops() {
    let fixture = Fixture::new().await;
    let mut events = watch(&fixture, "resourceVersion=0").await;
    fixture.stop.cancel();
    assert_eq!(events.next().await, None);
    fixture.tasks.close();
    tokio::time::timeout(std::time::Duration::from_secs(5), fixture.tasks.wait()).await.expect("all tasks end");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_watcher_sees_every_write_in_order_over_the_real_store() {
    let dir = tempfile::tempdir().unwrap();
    let store = store::SqliteStore::open(&dir.path().join("state.db")).unwrap();
    let fixture = Fixture::over(std::sync::Arc::new(store)).await;
    let fixture = &fixture;
    let mut watchers = Vec::new();
    for _ in 0..10 {
        watchers.push(watch(fixture, "resourceVersion=0").await);
    }
    let writes = (0..200).map(|n| async move {
        fixture.post(CONFIG_MAPS, &config_map(&format!("c{n}"), json!({}))).await.expect(201);
        fixture.patch("merge", &format!("{CONFIG_MAPS}/c{n}"), &json!({"data": {"k": "v"}})).await.expect(200);
        // A read after the own write sees it.
        let list = fixture.get(&format!("{CONFIG_MAPS}?fieldSelector=metadata.name%3Dc{n}")).await.expect(200);
        assert_eq!(list["items"][0]["data"]["k"], "v");
    });
    futures::future::join_all(writes).await;
    for watcher in &mut watchers {
        let mut last = 0;
        for _ in 0..400 {
            let event = watcher.next().await.unwrap();
            let version: i64 = event["object"]["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap();
            assert!(version > last, "{version} after {last}");
            last = version;
        }
    }
    // Pages of a moment, with the store's history.
    let first = fixture.get(&format!("{CONFIG_MAPS}?limit=50")).await.expect(200);
    fixture.delete(&format!("{CONFIG_MAPS}/c99"), Value::Null).await.expect(200);
    let mut count = 50;
    let mut token = first["metadata"]["continue"].as_str().map(str::to_owned);
    while let Some(next) = token {
        let page = fixture.get(&format!("{CONFIG_MAPS}?limit=50&continue={next}")).await.expect(200);
        count += page["items"].as_array().unwrap().len();
        token = page["metadata"]["continue"].as_str().map(str::to_owned);
    }
    assert_eq!(count, 200);
}

#[tokio::test]
async fn a_watch_for_ever_was_a_panic() {
    let fixture = Fixture::new().await;
    for seconds in [i64::MAX, 1 << 33] {
        let uri = format!("{CONFIG_MAPS}?watch=true&timeoutSeconds={seconds}");
        let request = http::Request::get(uri).body(Full::default()).unwrap();
        assert_eq!(fixture.raw(request).await.status(), 200);
    }
}
