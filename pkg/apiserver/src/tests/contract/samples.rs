//! The samples of the contract test, joined with the rows of the table.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use api::{Kind, Kinds, Value};
use futures::FutureExt as _;
use serde_json::json;

use crate::tests::Fixture;

/// A check of one row takes a few milliseconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// A row with an object for it.
pub struct Sample {
    pub kind: Arc<Kind>,
    /// Valid and new; it has a name and, where the kind has, a namespace.
    pub object: Value,
    /// What must be there first.
    pub before: Vec<Value>,
    /// A merge patch of the main resource.
    pub change: Value,
    /// Whether `change` is more than of labels.
    pub changes_content: bool,
    /// A status for `/status`.
    pub status: Option<Value>,
}

impl Sample {
    fn new(kind: &Arc<Kind>, entry: &Value) -> Self {
        let mut object = entry["object"].clone();
        if object["metadata"]["name"].is_null() {
            object["metadata"]["name"] = "thing".into();
        }
        object["metadata"]["labels"] = json!({"test": "yes"});
        if kind.namespaced {
            object["metadata"]["namespace"] = "default".into();
        }
        let change = match &entry["spec"] {
            Value::Null => json!({"metadata": {"labels": {"changed": "yes"}}}),
            change => change.clone(),
        };
        Sample {
            kind: kind.clone(),
            object,
            before: entry["before"].as_array().cloned().unwrap_or_default(),
            change,
            changes_content: !entry["spec"].is_null(),
            status: Some(&entry["status"]).filter(|status| !status.is_null()).cloned(),
        }
    }

    pub fn name(&self) -> &str {
        api::meta::name(&self.object)
    }

    /// Where the kind's objects of namespace `default`, or of the cluster, are.
    pub fn collection(&self) -> String {
        collection(&self.kind)
    }

    pub fn uri(&self) -> String {
        format!("{}/{}", self.collection(), self.name())
    }

    pub fn is_custom(&self) -> bool {
        self.kind.is_custom()
    }

    /// Whether the server itself writes the object after it was made.
    pub fn settles(&self) -> bool {
        &*self.kind.kind == "CustomResourceDefinition"
    }

    /// What becomes of an object that was just made, when the server is done with it.
    pub async fn settled(&self, fixture: &Fixture, made: Value) -> Value {
        let mut now = made;
        while self.settles() && !now["status"]["conditions"].to_string().contains("\"Established\"") {
            tokio::time::sleep(Duration::from_millis(5)).await;
            now = fixture.get(&self.uri()).await.expect(200);
        }
        now
    }

    /// Makes the object, and what must be there first.
    pub async fn make(&self, fixture: &Fixture) -> Value {
        self.prepare(fixture).await;
        let made = fixture.post(&self.collection(), &self.object).await.expect(201);
        self.settled(fixture, made).await
    }

    /// Makes what must be there first.
    pub async fn prepare(&self, fixture: &Fixture) {
        for object in &self.before {
            let (group, version) = split(object);
            let kinds = fixture.server.server.kinds();
            let kind = kinds.by_kind(group, version, object["kind"].as_str().unwrap_or_default()).expect("a row");
            let made = fixture.post(&collection(kind), object).await;
            assert!(matches!(made.code, 201 | 409), "{}", made.body);
        }
    }

    /// Takes the object away, whatever holds it.
    pub async fn remove(&self, fixture: &Fixture) {
        let uri = self.uri();
        for _ in 0..100 {
            let now = json!({"gracePeriodSeconds": 0, "propagationPolicy": "Background"});
            if fixture.delete(&uri, now).await.code == 404 {
                return;
            }
            let free = json!({"metadata": {"finalizers": null}});
            if fixture.patch("merge", &uri, &free).await.code == 404 {
                return;
            }
            if self.kind.subresource("finalize").is_some() {
                let mut object = fixture.get(&uri).await.body;
                object["spec"]["finalizers"] = json!([]);
                fixture.put(&format!("{uri}/finalize"), &object).await;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{uri} does not go away: {}", fixture.get(&uri).await.body);
    }
}

fn collection(kind: &Kind) -> String {
    let root = if kind.group.is_empty() { "/api" } else { "/apis" };
    let place = if kind.namespaced { "/namespaces/default" } else { "" };
    format!("{root}/{}{place}/{}", kind.api_version(), &*kind.plural)
}

fn split(object: &Value) -> (&str, &str) {
    let version = object["apiVersion"].as_str().unwrap_or_default();
    version.split_once('/').unwrap_or(("", version))
}

/// A sample for each row. Rows without one are a failure.
pub fn samples(kinds: &Kinds) -> Vec<Sample> {
    let entries: Vec<Value> = serde_saphyr::from_str(include_str!("samples.yaml")).expect("the samples are YAML");
    let of = |kind: &Arc<Kind>| {
        let entry = entries.iter().find(|entry| {
            split(&entry["object"]) == (&*kind.group, &*kind.version) && entry["object"]["kind"] == *kind.kind
        });
        entry.map(|entry| Sample::new(kind, entry)).ok_or_else(|| format!("{} {}", kind.api_version(), &*kind.kind))
    };
    let (found, missing): (Vec<_>, Vec<_>) = kinds.rows().iter().map(of).partition(Result::is_ok);
    let missing: Vec<String> = missing.into_iter().filter_map(Result::err).collect();
    assert!(missing.is_empty(), "kinds without a sample in samples.yaml: {}", missing.join(", "));
    found.into_iter().filter_map(Result::ok).collect()
}

/// Runs a check for every row that `wanted` names, and fails with all that failed.
pub async fn each(fixture: &Fixture, wanted: fn(&Kind) -> bool, check: impl AsyncFn(&Fixture, &Sample)) {
    let (mut failed, mut count) = (Vec::new(), 0);
    for sample in samples(&fixture.server.server.kinds()).iter().filter(|sample| wanted(&sample.kind)) {
        count += 1;
        let checked = tokio::time::timeout(PATIENCE, check(fixture, sample));
        let checked = AssertUnwindSafe(checked).catch_unwind().await;
        if let Err(panic) = checked.and_then(|done| done.map_err(|_| Box::new("it takes too long") as Box<_>)) {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("panicked");
            failed.push(format!("{} {}: {text}", sample.kind.api_version(), &*sample.kind.kind));
            // A check that failed leaves its object; what stays then fails the next check of the row.
            if stored(&sample.kind) {
                let _ = AssertUnwindSafe(sample.remove(fixture)).catch_unwind().await;
            }
        }
    }
    assert!(count > 0, "no row was checked");
    assert!(failed.is_empty(), "{} of {count} rows fail:\n{}", failed.len(), failed.join("\n"));
}

/// Kinds whose objects are stored by clients.
pub fn stored(kind: &Kind) -> bool {
    kind.verbs.allows("delete")
}
