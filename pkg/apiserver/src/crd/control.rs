//! Writes what is decided over definitions, one after the other, and lets those go that are deleted.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use api::{Status, UserInfo, Value, meta};
use http::{Request, header};
use http_body_util::{BodyExt as _, Full};
use parking_lot::Mutex;
use serde_json::json;

use super::{
    definition::Definition,
    purge,
    status::{self, Taken},
};
use crate::{auth::rbac::MASTERS, call::rfc3339, pipeline, server::Server};

/// Between tries when a write fails: the store may be away.
const RETRY_MIN: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(30);

/// Decides over every definition as it changes, until the server stops.
pub async fn run(server: Arc<Server>) {
    let stop = server.stop.clone();
    stop.run_until_cancelled(async move {
        let mut changes = server.definitions.subscribe();
        let purging = Arc::new(Mutex::new(HashSet::new()));
        let mut settled = Settled::default();
        let mut pause = RETRY_MIN;
        loop {
            changes.mark_unchanged();
            let done = settle(&server, &mut settled).await;
            start_purges(&server, &purging);
            let changed = if done {
                pause = RETRY_MIN;
                changes.changed().await
            } else {
                let changed = tokio::time::timeout(pause, changes.changed()).await;
                pause = RETRY_MAX.min(pause * 2);
                changed.unwrap_or(Ok(()))
            };
            if changed.is_err() {
                return;
            }
        }
    })
    .await;
}

/// Decisions whose write changed nothing or was refused for good, by name of the definition, with what they were
/// made from: the same again is not written for ever.
#[derive(Debug, Default)]
struct Settled(HashMap<String, (i64, Taken)>);

impl Settled {
    fn add(&mut self, definition: &Definition, taken: Taken) {
        self.0.insert(definition.name.clone(), (definition.revision, taken));
    }

    /// What is to be written next, and what it was made from; without `failed`, which have their turn later.
    fn next(
        &mut self,
        all: &[Arc<Definition>],
        failed: &HashSet<String>,
        now: &str,
    ) -> Option<(Arc<Definition>, Taken, Value)> {
        self.0.retain(|name, (revision, _)| all.iter().any(|d| d.name == *name && d.revision == *revision));
        all.iter().filter(|definition| !failed.contains(&definition.name)).find_map(|definition| {
            let taken = Taken::by_others(definition, all.iter().map(|d| &**d));
            if self.0.get(&definition.name).is_some_and(|(_, had)| *had == taken) {
                return None;
            }
            let status = status::decide(definition, &taken, now)?;
            Some((definition.clone(), taken, status))
        })
    }
}

/// Whether a refusal stays one until the definition changes.
fn is_final(code: u16) -> bool {
    (400..500).contains(&code) && !matches!(code, 408 | 429)
}

/// Decides until there is nothing left to be decided; false if some could not be written and are to be tried again.
async fn settle(server: &Arc<Server>, settled: &mut Settled) -> bool {
    let mut failed = HashSet::new();
    loop {
        let now = rfc3339(server.now());
        let Some((definition, taken, status)) = settled.next(&server.definitions.all(), &failed, &now) else {
            return failed.is_empty();
        };
        let change = change(&definition, status);
        match write(server, &definition, &change).await {
            Ok(written) => {
                if meta::text(&written, "resourceVersion") == definition.revision.to_string() {
                    settled.add(&definition, taken);
                }
            }
            // Someone was faster; what they wrote is looked at.
            Err(failure) if matches!(failure.code, 404 | 409) => {
                if let Err(error) = server.definitions.newest(server).await {
                    tracing::debug!(%error, "definitions cannot be read");
                    return false;
                }
            }
            Err(failure) => {
                tracing::info!(definition = definition.name, failure = failure.message, "status cannot be written");
                if is_final(failure.code) {
                    settled.add(&definition, taken);
                } else {
                    failed.insert(definition.name.clone());
                }
            }
        }
    }
}

/// The merge patch that brings a definition to this status: accepted names that are none any more are taken out.
fn change(definition: &Definition, mut status: Value) -> Value {
    let had = definition.status["acceptedNames"].as_object();
    if let Some(names) = status["acceptedNames"].as_object_mut() {
        for field in had.into_iter().flat_map(|had| had.keys()) {
            names.entry(field.clone()).or_insert(Value::Null);
        }
    }
    json!({"metadata": {"resourceVersion": definition.revision.to_string()}, "status": status})
}

/// Has the objects of definitions deleted that wait for that.
fn start_purges(server: &Arc<Server>, purging: &Arc<Mutex<HashSet<String>>>) {
    for definition in server.definitions.all() {
        if definition.is_ending() && definition.is("Terminating") && purging.lock().insert(definition.uid.clone()) {
            let (server, purging) = (server.clone(), purging.clone());
            server.clone().tasks.spawn(async move {
                let stop = server.stop.clone();
                stop.run_until_cancelled(purge::run(&server, &definition)).await;
                purging.lock().remove(&definition.uid);
            });
        }
    }
}

/// Writes a merge patch to the status (and the finalizers) of a definition.
pub async fn write(server: &Arc<Server>, definition: &Definition, change: &Value) -> Result<Value, Status> {
    let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{}/status", definition.name);
    ask(server, "PATCH", &path, change).await
}

/// Asks this server, as its own user.
pub async fn ask(server: &Arc<Server>, method: &str, path: &str, body: &Value) -> Result<Value, Status> {
    let media = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::CONTENT_TYPE, media)
        .header(header::USER_AGENT, "kube-apiserver")
        .extension(UserInfo::authenticated("system:apiserver", &[MASTERS]))
        .body(Full::from(if body.is_null() { String::new() } else { body.to_string() }))
        .map_err(Status::internal)?;
    // Boxed, for the pipeline may lead here again.
    let response = Box::pin(pipeline::handle(server.clone(), request)).await;
    let code = response.status().as_u16();
    let bytes = response.into_body().collect().await.map_err(Status::internal)?.to_bytes();
    let answer: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    match code {
        200..300 => Ok(answer),
        code => {
            let message = answer["message"].as_str().unwrap_or_default().to_owned();
            Err(Status { code, reason: "", message, details: Value::Null })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-01-01T00:00:00Z";

    fn definition(plural: &str, kind: &str, accepted: bool) -> Arc<Definition> {
        let names = json!({"plural": plural, "singular": plural, "kind": kind, "listKind": format!("{kind}List")});
        let object = json!({
            "metadata": {"name": format!("{plural}.example.com"), "uid": plural},
            "spec": {"group": "example.com", "scope": "Namespaced", "names": names,
                "versions": [{"name": "v1", "served": true, "storage": true}]},
            "status": if accepted { json!({"acceptedNames": names}) } else { Value::Null },
        });
        Arc::new(Definition::new(&object, 1))
    }

    #[test]
    fn a_definition_that_cannot_be_written_held_up_all_others() {
        let all = [definition("a", "A", false), definition("b", "B", false)];
        let mut settled = Settled::default();
        let next = |settled: &mut Settled, failed: &[&str]| {
            let failed = failed.iter().map(|name| format!("{name}.example.com")).collect();
            settled.next(&all, &failed, NOW).map(|(definition, ..)| definition.name.clone())
        };
        assert_eq!(next(&mut settled, &[]).as_deref(), Some("a.example.com"));
        assert_eq!(next(&mut settled, &["a"]).as_deref(), Some("b.example.com"));
        assert_eq!(next(&mut settled, &["a", "b"]), None);
    }

    #[test]
    fn what_was_settled_stayed_so_when_its_names_became_free() {
        let (holder, waits) = (definition("a", "Same", true), definition("b", "Same", false));
        let both = [holder, waits.clone()];
        let failed = HashSet::from(["a.example.com".to_owned()]);
        let mut settled = Settled::default();
        let (found, taken, _) = settled.next(&both, &failed, NOW).expect("a decision");
        settled.add(&found, taken);
        assert!(settled.next(&both, &failed, NOW).is_none(), "the same is not written again");
        let (_, _, status) = settled.next(&[waits], &failed, NOW).expect("the name is free");
        assert_eq!(status["acceptedNames"]["kind"], "Same");
    }

    #[test]
    fn a_definition_refused_for_want_of_a_place_was_never_tried_again() {
        for (code, last) in
            [(400, true), (403, true), (422, true), (408, false), (429, false), (500, false), (504, false)]
        {
            assert_eq!(is_final(code), last, "{code}");
        }
    }
}
