//! Every kind through every verb, in JSON.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    samples::{Sample, each, stored},
    version,
};
use crate::tests::{Answer, Fixture, as_item};

/// Upstream gives a generation to these once and for all.
const RESTING: &[&str] = &["PriorityClass"];
/// Upstream counts changes of annotations of these.
const ANNOTATED: &[&str] = &["Deployment"];

fn generation(object: &Value) -> i64 {
    object["metadata"]["generation"].as_i64().unwrap_or(0)
}

#[tokio::test]
async fn create_refuses_what_is_wrong_and_what_is_there() {
    let fixture = Fixture::with_custom().await;
    each(&fixture, stored, async |fixture: &Fixture, sample: &Sample| {
        let (uri, one) = (sample.collection(), sample.uri());
        let mut unknown = sample.object.clone();
        unknown["nonsense"] = 1.into();
        let strict = fixture.post(&format!("{uri}?dryRun=All&fieldValidation=Strict"), &unknown).await;
        let warned = fixture.post(&format!("{uri}?dryRun=All"), &unknown).await;
        // Kinds that are deprecated say that first.
        let warning = warned.headers.get_all("warning").iter().next_back().map(|w| w.to_str().unwrap().to_owned());
        let open = sample.is_custom() && &*sample.kind.kind == "Gadget";
        if open {
            assert_eq!((strict.code, warning), (201, None), "what is preserved is known");
        } else {
            let message = strict.refused(400, "BadRequest");
            assert!(message.contains("strict decoding error: unknown field \"nonsense\""), "{message}");
            assert_eq!(warning.as_deref(), Some("299 - \"unknown field \\\"nonsense\\\"\""));
            assert!(warned.body["nonsense"].is_null(), "what is unknown is dropped");
        }
        let mut other = sample.object.clone();
        other["kind"] = "Other".into();
        fixture.post(&uri, &other).await.refused(400, "BadRequest");
        other = sample.object.clone();
        other["metadata"]["resourceVersion"] = "5".into();
        let answer = fixture.post(&uri, &other).await;
        assert!(answer.code >= 400, "a resourceVersion at creation: {}", answer.body);
        other = sample.object.clone();
        other["metadata"]["name"] = "Not/A Name".into();
        fixture.post(&uri, &other).await.refused(422, "Invalid");
        other["metadata"].as_object_mut().unwrap().remove("name");
        fixture.post(&uri, &other).await.refused(422, "Invalid");
        // dry run
        let tried = fixture.post(&format!("{uri}?dryRun=All"), &sample.object).await.expect(201);
        assert!(!tried["metadata"]["uid"].is_null());
        fixture.get(&one).await.refused(404, "NotFound");
        // for real, and once more
        let made = fixture.post(&uri, &sample.object).await.expect(201);
        for field in ["uid", "creationTimestamp", "resourceVersion", "managedFields"] {
            assert!(!made["metadata"][field].is_null(), "{field}: {made}");
        }
        assert_eq!(made["kind"], *sample.kind.kind);
        assert_eq!(made["apiVersion"], sample.kind.api_version());
        let message = fixture.post(&uri, &sample.object).await.refused(409, "AlreadyExists");
        assert_eq!(message, format!("{} \"{}\" already exists", sample.kind.qualified(), sample.name()));
        fixture.post(&format!("{uri}?dryRun=All"), &sample.object).await.refused(409, "AlreadyExists");
        sample.remove(fixture).await;
    })
    .await;
}

#[tokio::test]
async fn reads_find_what_is_there() {
    let fixture = Fixture::with_custom().await;
    each(&fixture, stored, async |fixture: &Fixture, sample: &Sample| {
        let (uri, one) = (sample.collection(), sample.uri());
        let made = sample.make(fixture).await;
        assert_eq!(fixture.get(&one).await.expect(200), made);
        let message = fixture.get(&format!("{uri}/nothing")).await.refused(404, "NotFound");
        assert_eq!(message, format!("{} \"nothing\" not found", sample.kind.qualified()));
        let list = fixture.get(&format!("{uri}?labelSelector=test%3Dyes")).await.expect(200);
        assert_eq!(list["kind"], format!("{}List", &*sample.kind.kind));
        assert_eq!(list["apiVersion"], sample.kind.api_version());
        // Items of built-in kinds do not say what they are.
        let item = if sample.is_custom() { made.clone() } else { as_item(made.clone()) };
        assert_eq!(list["items"], json!([item]));
        assert_eq!(fixture.get(&format!("{uri}?labelSelector=test%3Dno")).await.expect(200)["items"], json!([]));
        let by_name = format!("{uri}?fieldSelector=metadata.name%3D{}", sample.name());
        assert_eq!(fixture.get(&by_name).await.expect(200)["items"].as_array().unwrap().len(), 1);
        for field in sample.kind.selectable.iter() {
            let selected = fixture.get(&format!("{uri}?fieldSelector={}%3Dnonsense", &**field)).await.expect(200);
            assert_eq!(selected["items"], json!([]), "{}", &**field);
        }
        fixture.get(&format!("{uri}?fieldSelector=no.such%3Dx")).await.refused(400, "BadRequest");
        sample.remove(fixture).await;
    })
    .await;
}

#[tokio::test]
async fn updates_are_compared_and_swapped() {
    let fixture = Fixture::with_custom().await;
    each(&fixture, stored, async |fixture: &Fixture, sample: &Sample| {
        let one = sample.uri();
        let made = sample.make(fixture).await;
        let same = fixture.put(&one, &made).await.expect(200);
        assert_eq!(same, made, "an update that changes nothing writes nothing");
        let mut changed = made.clone();
        changed["metadata"]["annotations"] = json!({"a": "b"});
        let tried = fixture.put(&format!("{one}?dryRun=All"), &changed).await.expect(200);
        assert_eq!(tried["metadata"]["annotations"]["a"], "b");
        assert_eq!(fixture.get(&one).await.expect(200), made, "a dry run writes nothing");
        let changed = fixture.put(&one, &changed).await.expect(200);
        assert_ne!(changed["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"]);
        assert_eq!(changed["metadata"]["uid"], made["metadata"]["uid"]);
        let noted = i64::from(ANNOTATED.contains(&&*sample.kind.kind));
        assert_eq!(generation(&changed), generation(&made) + noted, "metadata does not count");
        let mut stale = made.clone();
        stale["metadata"]["annotations"] = json!({"a": "c"});
        let message = fixture.put(&one, &stale).await.refused(409, "Conflict");
        assert_eq!(
            message,
            format!(
                "Operation cannot be fulfilled on {} \"{}\": the object has been modified; please apply your changes to the latest version and try again",
                sample.kind.qualified(),
                sample.name()
            )
        );
        let mut other = changed.clone();
        other["metadata"]["uid"] = "11111111-2222-3333-4444-555555555555".into();
        fixture.put(&one, &other).await.refused(409, "Conflict");
        other = changed.clone();
        other["metadata"]["name"] = "other".into();
        fixture.put(&one, &other).await.refused(400, "BadRequest");
        if sample.changes_content {
            let counted = generation(&made) > 0 && !RESTING.contains(&&*sample.kind.kind);
            let moved = fixture.patch("merge", &one, &sample.change).await.expect(200);
            assert_ne!(moved["metadata"]["resourceVersion"], changed["metadata"]["resourceVersion"]);
            assert_eq!(generation(&moved), generation(&changed) + i64::from(counted), "{moved}");
        }
        sample.remove(fixture).await;
    })
    .await;
}

/// An answer to a patch in a form that custom resources do not take.
fn strategic(answer: Answer, sample: &Sample) {
    if sample.is_custom() {
        let message = answer.refused(415, "UnsupportedMediaType");
        assert_eq!(
            message,
            "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
        );
    } else {
        assert_eq!(answer.expect(200)["metadata"]["labels"]["changed"], "strategic");
    }
}

#[tokio::test]
async fn patches_of_every_form() {
    let fixture = Fixture::with_custom().await;
    each(&fixture, stored, async |fixture: &Fixture, sample: &Sample| {
        let one = sample.uri();
        let label = |value: &str| json!({"metadata": {"labels": {"changed": value}}});
        fixture.patch("merge", &one, &label("merge")).await.refused(404, "NotFound");
        let made = sample.make(fixture).await;
        fixture.patch("merge", &format!("{one}?dryRun=All"), &label("merge")).await.expect(200);
        assert_eq!(fixture.get(&one).await.expect(200), made, "a dry run writes nothing");
        let merged = fixture.patch("merge", &one, &label("merge")).await.expect(200);
        assert_eq!(merged["metadata"]["labels"]["changed"], "merge");
        let again = fixture.patch("merge", &one, &label("merge")).await.expect(200);
        assert_eq!(again, merged, "a patch that changes nothing writes nothing");
        strategic(fixture.patch("strategic", &one, &label("strategic")).await, sample);
        let operations = json!([
            {"op": "test", "path": "/metadata/labels/test", "value": "yes"},
            {"op": "add", "path": "/metadata/labels/json", "value": "yes"},
        ]);
        let patched = fixture.patch("json", &one, &operations).await.expect(200);
        assert_eq!(patched["metadata"]["labels"]["json"], "yes");
        let fails = json!([{"op": "test", "path": "/metadata/labels/test", "value": "no"}]);
        fixture.patch("json", &one, &fails).await.refused(422, "Invalid");
        let mut stale = label("stale");
        stale["metadata"]["resourceVersion"] = made["metadata"]["resourceVersion"].clone();
        fixture.patch("merge", &one, &stale).await.refused(409, "Conflict");
        let text = fixture.send("PATCH", &one, &[("content-type", "text/plain")], "x").await;
        text.refused(415, "UnsupportedMediaType");
        sample.remove(fixture).await;
    })
    .await;
}

#[tokio::test]
async fn apply_makes_owns_and_conflicts() {
    let fixture = Fixture::with_custom().await;
    each(&fixture, stored, async |fixture: &Fixture, sample: &Sample| {
        let one = sample.uri();
        sample.prepare(fixture).await;
        let mut applied = sample.object.clone();
        applied["metadata"]["labels"] = json!({"applied": "a"});
        let message = fixture.patch("apply", &one, &applied).await.refused(422, "Invalid");
        assert!(message.ends_with("fieldManager: Required value: is required for apply patch"), "{message}");
        fixture.patch("apply", &format!("{one}?fieldManager=a&dryRun=All"), &applied).await.expect(201);
        fixture.get(&one).await.refused(404, "NotFound");
        let made = fixture.patch("apply", &format!("{one}?fieldManager=a"), &applied).await.expect(201);
        assert_eq!(made["metadata"]["managedFields"][0]["operation"], "Apply");
        let made = sample.settled(fixture, made).await;
        let again = fixture.patch("apply", &format!("{one}?fieldManager=a"), &applied).await.expect(200);
        assert_eq!(again, made, "applying again changes nothing");
        let other = json!({
            "apiVersion": applied["apiVersion"], "kind": applied["kind"],
            "metadata": {"name": sample.name(), "labels": {"applied": "b"}},
        });
        let conflict = fixture.patch("apply", &format!("{one}?fieldManager=b"), &other).await;
        assert_eq!(conflict.body["details"]["causes"][0]["reason"], "FieldManagerConflict", "{}", conflict.body);
        let message = conflict.refused(409, "Conflict");
        assert!(message.starts_with("Apply failed with 1 conflict: conflict with \"a\""), "{message}");
        assert!(message.ends_with(": .metadata.labels.applied"), "{message}");
        let forced = fixture.patch("apply", &format!("{one}?fieldManager=b&force=true"), &other).await.expect(200);
        assert_eq!(forced["metadata"]["labels"]["applied"], "b");
        // What nobody sets any more goes.
        let mut without = other.clone();
        without["metadata"].as_object_mut().unwrap().remove("labels");
        let gone = fixture.patch("apply", &format!("{one}?fieldManager=b"), &without).await.expect(200);
        assert!(gone["metadata"]["labels"]["applied"].is_null(), "{gone}");
        sample.remove(fixture).await;
    })
    .await;
}

#[tokio::test]
async fn deletes_wait_for_finalizers() {
    let fixture = Fixture::with_custom().await;
    each(&fixture, stored, async |fixture: &Fixture, sample: &Sample| {
        let (uri, one) = (sample.collection(), sample.uri());
        fixture.delete(&one, Value::Null).await.refused(404, "NotFound");
        sample.prepare(fixture).await;
        let mut held = sample.object.clone();
        held["metadata"]["finalizers"] = json!(["example.com/hold"]);
        let made = fixture.post(&uri, &held).await.expect(201);
        let made = sample.settled(fixture, made).await;
        let wrong = json!({"preconditions": {"uid": "11111111-2222-3333-4444-555555555555"}});
        fixture.delete(&one, wrong).await.refused(409, "Conflict");
        fixture.delete(&one, json!({"preconditions": {"resourceVersion": "1"}})).await.refused(409, "Conflict");
        fixture.delete(&format!("{one}?dryRun=All&gracePeriodSeconds=0"), Value::Null).await.expect(200);
        assert_eq!(fixture.get(&one).await.expect(200), made, "a dry run writes nothing");
        let going = fixture.delete(&one, json!({"gracePeriodSeconds": 0})).await.expect(200);
        assert_eq!(going["kind"], *sample.kind.kind, "{going}");
        assert!(!going["metadata"]["deletionTimestamp"].is_null(), "{going}");
        fixture.post(&uri, &sample.object).await.refused(409, "AlreadyExists");
        // The server lets go by itself.
        let mut going = going;
        while sample.settles() && going["metadata"]["finalizers"] != json!(["example.com/hold"]) {
            tokio::time::sleep(Duration::from_millis(5)).await;
            going = fixture.get(&one).await.expect(200);
        }
        // Nothing more may hold it.
        let mut finalizers = going["metadata"]["finalizers"].as_array().unwrap().clone();
        finalizers.push("example.com/late".into());
        let late = json!({"metadata": {"finalizers": finalizers}});
        fixture.patch("merge", &one, &late).await.refused(422, "Invalid");
        finalizers.retain(|f| f != "example.com/late" && f != "example.com/hold");
        fixture.patch("merge", &one, &json!({"metadata": {"finalizers": finalizers}})).await.expect(200);
        if finalizers.is_empty() && !sample.settles() && sample.kind.subresource("finalize").is_none() {
            fixture.get(&one).await.refused(404, "NotFound");
        }
        sample.remove(fixture).await;
    })
    .await;
}

#[tokio::test]
async fn deletes_take_one_or_many() {
    let fixture = Fixture::with_custom().await;
    each(&fixture, stored, async |fixture: &Fixture, sample: &Sample| {
        let (uri, one) = (sample.collection(), sample.uri());
        let made = sample.make(fixture).await;
        let finalize = sample.kind.subresource("finalize").is_some();
        let held = finalize || sample.settles() || !made["metadata"]["finalizers"].is_null();
        if !held {
            // Jobs and ReplicationControllers would leave their pods behind, and wait for that.
            let options = "gracePeriodSeconds=0&propagationPolicy=Background";
            let gone = fixture.delete(&format!("{one}?{options}"), Value::Null).await.expect(200);
            if sample.kind.traits.returns_deleted {
                assert_eq!((&gone["kind"], &gone["metadata"]["uid"]), (&made["kind"], &made["metadata"]["uid"]));
                assert_ne!(version(&gone), version(&made), "the version is that of the deletion");
            } else {
                assert_eq!((&gone["kind"], &gone["status"]), (&json!("Status"), &json!("Success")));
                assert_eq!(gone["details"]["uid"], made["metadata"]["uid"]);
            }
            fixture.get(&one).await.refused(404, "NotFound");
            sample.make(fixture).await;
        }
        if sample.kind.verbs.allows("deletecollection") {
            let none = fixture.delete(&format!("{uri}?labelSelector=test%3Dno"), Value::Null).await.expect(200);
            assert_eq!(none["items"], json!([]));
            fixture.get(&one).await.expect(200);
            let options = format!("{uri}?labelSelector=test%3Dyes&gracePeriodSeconds=0&propagationPolicy=Background");
            fixture.delete(&format!("{options}&dryRun=All"), Value::Null).await.expect(200);
            fixture.get(&one).await.expect(200);
            let taken = fixture.delete(&options, Value::Null).await.expect(200);
            assert_eq!(taken["items"].as_array().map(Vec::len), Some(1), "{taken}");
            if !held {
                fixture.get(&one).await.refused(404, "NotFound");
            }
        } else {
            fixture.delete(&uri, Value::Null).await.refused(405, "MethodNotAllowed");
        }
        sample.remove(fixture).await;
    })
    .await;
}

#[tokio::test]
async fn what_is_only_created_or_only_read() {
    let fixture = Fixture::with_custom().await;
    each(
        &fixture,
        |kind| !stored(kind),
        async |fixture: &Fixture, sample: &Sample| {
            let uri = sample.collection();
            sample.prepare(fixture).await;
            if sample.kind.verbs.allows("create") {
                let mut object = sample.object.clone();
                // Access reviews have no metadata.
                if *sample.kind.group == *"authorization.k8s.io" {
                    for field in ["metadata.name", "metadata.labels"] {
                        api::tree::remove(&mut object, field);
                    }
                }
                let made = fixture.post(&uri, &object).await.expect(201);
                assert!(!made["status"].is_null(), "{made}");
                fixture.get(&uri).await.refused(405, "MethodNotAllowed");
            } else {
                let list = fixture.get(&uri).await.expect(200);
                assert!(!list["items"].as_array().unwrap().is_empty(), "{list}");
                assert_eq!(fixture.get(&sample.uri()).await.expect(200)["kind"], *sample.kind.kind);
                fixture.post(&uri, &sample.object).await.refused(405, "MethodNotAllowed");
            }
            fixture.post(&sample.uri(), &sample.object).await.refused(405, "MethodNotAllowed");
            fixture.put(&sample.uri(), &sample.object).await.refused(405, "MethodNotAllowed");
            fixture.delete(&sample.uri(), Value::Null).await.refused(405, "MethodNotAllowed");
        },
    )
    .await;
}
