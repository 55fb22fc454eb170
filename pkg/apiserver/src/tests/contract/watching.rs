//! Watches of every kind: order, resumption, initial events, bookmarks, and what is too old.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use super::{
    samples::{Sample, each},
    version,
};
use crate::tests::{Fixture, watches::Events};

#[tokio::test]
async fn watches_tell_what_happened_and_may_be_resumed() {
    let (fixture, expired) = (Fixture::with_custom().await, AtomicUsize::new(0));
    each(
        &fixture,
        |kind| kind.verbs.allows("watch"),
        async |fixture: &Fixture, sample: &Sample| {
            sample.prepare(fixture).await;
            let (uri, one) = (sample.collection(), sample.uri());
            let before = fixture.get(&uri).await.expect(200);
            let mine = "fieldSelector=metadata.name%3D";
            let watch = format!("{uri}?watch=true&{mine}{}&resourceVersion={}", sample.name(), version(&before));
            let mut events = Events::open(fixture, &watch, "application/json").await;
            let made = fixture.post(&uri, &sample.object).await.expect(201);
            let added = events.next().await.expect("the watch goes on");
            assert_eq!((&added["type"], &added["object"]), (&json!("ADDED"), &made), "the event is what was answered");
            let made = sample.settled(fixture, made).await;
            let label = json!({"metadata": {"labels": {"changed": "yes"}}});
            let changed = fixture.patch("merge", &one, &label).await.expect(200);
            let mut modified = events.next().await.expect("the watch goes on");
            while sample.settles() && modified["object"] != changed {
                modified = events.next().await.expect("the watch goes on");
            }
            assert_eq!((&modified["type"], &modified["object"]), (&json!("MODIFIED"), &changed));
            // From between the two, on any other connection.
            let resumed = format!("{uri}?watch=true&{mine}{}&resourceVersion={}", sample.name(), version(&made));
            let mut resumed = Events::open(fixture, &resumed, "application/json").await;
            assert_eq!(resumed.next().await.expect("the watch goes on"), modified);
            // From the start, with a bookmark.
            let initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
            let mut informer = Events::open(
                fixture,
                &format!("{uri}?watch=true&{mine}{}&{initial}", sample.name()),
                "application/json",
            )
            .await;
            let first = informer.next().await.expect("the watch goes on");
            assert_eq!((&first["type"], &first["object"]), (&json!("ADDED"), &changed));
            let mark = informer.next().await.expect("the watch goes on");
            assert_eq!(mark["type"], "BOOKMARK");
            assert_eq!(mark["object"]["kind"], *sample.kind.kind);
            assert_eq!(mark["object"]["apiVersion"], sample.kind.api_version());
            assert_eq!(mark["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"], "true");
            // An end.
            sample.remove(fixture).await;
            for events in [&mut events, &mut resumed, &mut informer] {
                let mut last = events.next().await.expect("the watch goes on");
                while last["type"] == "MODIFIED" {
                    last = events.next().await.expect("the watch goes on");
                }
                assert_eq!(
                    (&last["type"], &last["object"]["metadata"]["name"]),
                    (&json!("DELETED"), &json!(sample.name()))
                );
                assert_eq!(last["object"]["metadata"]["uid"], made["metadata"]["uid"]);
                assert_eq!(last["object"]["kind"], made["kind"]);
                let (last, first): (i64, i64) =
                    (version(&last["object"]).parse().unwrap(), version(&changed).parse().unwrap());
                assert!(last > first, "the version is that of the deletion");
            }
            // What the window reaches back to is served: the server reads some kinds from its start on.
            let old = format!("{uri}?watch=true&resourceVersion=1&timeoutSeconds=1");
            let first = Events::open(fixture, &old, "application/json").await.next().await;
            if let Some(status) = first.filter(|event| event["type"] == "ERROR") {
                assert_eq!((&status["object"]["code"], &status["object"]["reason"]), (&json!(410), &json!("Expired")));
                expired.fetch_add(1, Ordering::Relaxed);
            }
        },
    )
    .await;
    assert!(expired.into_inner() > 40, "most kinds are read when they are asked for");
}

#[tokio::test]
async fn lists_of_the_past_expire() {
    let fixture = Fixture::with_custom().await;
    each(
        &fixture,
        |kind| kind.verbs.allows("watch"),
        async |fixture: &Fixture, sample: &Sample| {
            let uri = sample.collection();
            let made = sample.make(fixture).await;
            let label = json!({"metadata": {"labels": {"changed": "yes"}}});
            fixture.patch("merge", &sample.uri(), &label).await.expect(200);
            let mine = format!("fieldSelector=metadata.name%3D{}", sample.name());
            let then = format!("{uri}?{mine}&resourceVersion={}&resourceVersionMatch=Exact", version(&made));
            let past = fixture.get(&then).await.expect(200);
            assert_eq!(past["items"][0]["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"]);
            assert!(past["items"][0]["metadata"]["labels"]["changed"].is_null());
            let store = &fixture.server.server.store;
            store.compact(store.revision().await.unwrap()).await.unwrap();
            fixture.get(&then).await.refused(410, "Expired");
            sample.remove(fixture).await;
        },
    )
    .await;
}
