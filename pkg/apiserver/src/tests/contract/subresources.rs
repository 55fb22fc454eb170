//! `/status` and `/scale` of every kind that has them: what each may change, and what not.

use api::{Kind, Value, kinds::Action};
use serde_json::json;

use super::samples::{Sample, each, stored};
use crate::tests::Fixture;

fn has_status(kind: &Kind) -> bool {
    stored(kind) && kind.subresource("status").is_some()
}

fn has_scale(kind: &Kind) -> bool {
    kind.subresources.iter().any(|sub| matches!(sub.action, Action::Scale(_)))
}

/// Whether `object` says everything that `wanted` says.
fn says(object: &Value, wanted: &Value) -> bool {
    match (object, wanted) {
        (Value::Object(object), Value::Object(wanted)) => {
            wanted.iter().all(|(field, value)| object.get(field).is_some_and(|own| says(own, value)))
        }
        // The server adds conditions of its own to some.
        (Value::Array(object), Value::Array(wanted)) => {
            wanted.iter().all(|value| object.iter().any(|own| says(own, value)))
        }
        _ => object == wanted,
    }
}

#[tokio::test]
async fn status_is_written_through_its_subresource_alone() {
    let fixture = Fixture::with_custom().await;
    each(&fixture, has_status, async |fixture: &Fixture, sample: &Sample| {
        let (one, below) = (sample.uri(), format!("{}/status", sample.uri()));
        let status = sample.status.clone().expect("a kind with a status has one in its sample");
        let made = sample.make(fixture).await;
        let shown = fixture.get(&below).await.expect(200);
        assert_eq!(shown, made, "the whole object is shown");
        // In vain through the main resource.
        let mut sneaked = made.clone();
        sneaked["status"] = status.clone();
        let kept = fixture.put(&one, &sneaked).await.expect(200);
        assert_eq!(kept["status"], made["status"], "the main resource ignores the status");
        // And the other way about.
        let patch = json!({"metadata": {"annotations": {"by": "status"}}, "status": status});
        let tried = fixture.patch("merge", &format!("{below}?dryRun=All"), &patch).await.expect(200);
        assert!(says(&tried["status"], &status), "{tried}");
        assert_eq!(fixture.get(&one).await.expect(200)["status"], made["status"], "a dry run writes nothing");
        let told = fixture.patch("merge", &below, &patch).await.expect(200);
        assert!(says(&told["status"], &status), "{told}");
        assert_eq!(told["metadata"]["generation"], made["metadata"]["generation"], "a status does not count");
        let entries = told["metadata"]["managedFields"].as_array().unwrap();
        assert!(entries.iter().any(|entry| entry["subresource"] == "status"), "{told}");
        let mut both = told.clone();
        let mut spec = sample.change.clone();
        spec.as_object_mut().unwrap().remove("metadata");
        merge(&mut both, &spec);
        let written = loop {
            both["metadata"]["resourceVersion"] =
                fixture.get(&one).await.expect(200)["metadata"]["resourceVersion"].take();
            let answer = fixture.put(&below, &both).await;
            if answer.code != 409 || !sample.settles() {
                break answer.expect(200);
            }
        };
        for (field, value) in told.as_object().unwrap() {
            if field != "metadata" && field != "status" {
                assert_eq!(&written[field], value, "{field} is not written through /status");
            }
        }
        // A change of the main resource leaves the status.
        let labelled = fixture.patch("merge", &one, &json!({"metadata": {"labels": {"l": "m"}}})).await.expect(200);
        assert!(says(&labelled["status"], &status), "{labelled}");
        // apply
        let applied = json!({
            "apiVersion": sample.object["apiVersion"], "kind": sample.object["kind"],
            "metadata": {"name": sample.name()}, "status": status,
        });
        let owned = fixture.patch("apply", &format!("{below}?fieldManager=s&force=true"), &applied).await.expect(200);
        assert!(says(&owned["status"], &status), "{owned}");
        fixture.put(&format!("{}/nothing/status", sample.collection()), &renamed(&told)).await.refused(404, "NotFound");
        fixture.post(&below, &told).await.refused(405, "MethodNotAllowed");
        fixture.delete(&below, Value::Null).await.refused(405, "MethodNotAllowed");
        sample.remove(fixture).await;
    })
    .await;
}

fn renamed(object: &Value) -> Value {
    let mut object = object.clone();
    object["metadata"]["name"] = "nothing".into();
    object["metadata"].as_object_mut().unwrap().remove("uid");
    object
}

fn merge(object: &mut Value, patch: &Value) {
    match patch {
        Value::Object(fields) if object.is_object() => {
            for (field, value) in fields {
                merge(&mut object[field], value);
            }
        }
        value => *object = value.clone(),
    }
}

#[tokio::test]
async fn scale_shows_and_sets_the_wanted_count() {
    let fixture = Fixture::with_custom().await;
    each(&fixture, has_scale, async |fixture: &Fixture, sample: &Sample| {
        let (one, below) = (sample.uri(), format!("{}/scale", sample.uri()));
        let made = sample.make(fixture).await;
        let scale = fixture.get(&below).await.expect(200);
        assert_eq!((&scale["kind"], &scale["apiVersion"]), (&json!("Scale"), &json!("autoscaling/v1")));
        assert_eq!(scale["spec"]["replicas"], 1, "{scale}");
        assert_eq!(scale["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"]);
        let mut wanted = scale.clone();
        wanted["spec"]["replicas"] = 3.into();
        fixture.put(&format!("{below}?dryRun=All"), &wanted).await.expect(200);
        assert_eq!(fixture.get(&below).await.expect(200), scale, "a dry run writes nothing");
        let set = fixture.put(&below, &wanted).await.expect(200);
        assert_eq!(set["spec"]["replicas"], 3);
        let object = fixture.get(&one).await.expect(200);
        assert_eq!(object["spec"]["replicas"], 3);
        if !made["metadata"]["generation"].is_null() {
            assert_eq!(object["metadata"]["generation"], 2);
        }
        let entries = object["metadata"]["managedFields"].as_array().unwrap();
        assert!(entries.iter().any(|entry| entry["subresource"] == "scale"), "{object}");
        fixture.put(&below, &wanted).await.refused(409, "Conflict");
        let patched = fixture.patch("merge", &below, &json!({"spec": {"replicas": 2}})).await.expect(200);
        assert_eq!(patched["spec"]["replicas"], 2);
        fixture.patch("merge", &below, &json!({"spec": {"replicas": -1}})).await.refused(422, "Invalid");
        fixture.get(&format!("{}/nothing/scale", sample.collection())).await.refused(404, "NotFound");
        sample.remove(fixture).await;
    })
    .await;
}
