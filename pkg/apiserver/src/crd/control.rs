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
        let mut settled = HashMap::new();
        loop {
            changes.mark_unchanged();
            settle(&server, &mut settled).await;
            start_purges(&server, &purging);
            if changes.changed().await.is_err() {
                return;
            }
        }
    })
    .await;
}

/// Decides until there is nothing left to be decided. `settled` keeps what a write of its decision did not change,
/// by name with the revision, lest it be written for ever.
async fn settle(server: &Arc<Server>, settled: &mut HashMap<String, i64>) {
    let mut pause = RETRY_MIN;
    loop {
        let all = server.definitions.all();
        settled.retain(|name, revision| all.iter().any(|d| d.name == *name && d.revision == *revision));
        let now = rfc3339(server.now());
        let undecided = all.iter().filter(|d| !settled.contains_key(&d.name));
        let decision = undecided.into_iter().find_map(|definition| {
            let taken = Taken::by_others(definition, all.iter().map(|d| &**d));
            Some((definition, status::decide(definition, &taken, &now)?))
        });
        let Some((definition, status)) = decision else { return };
        let change = json!({"metadata": {"resourceVersion": definition.revision.to_string()}, "status": status});
        match write(server, definition, &change).await {
            Ok(written) => {
                pause = RETRY_MIN;
                if meta::text(&written, "resourceVersion") == definition.revision.to_string() {
                    settled.insert(definition.name.clone(), definition.revision);
                }
            }
            // Someone was faster; what they wrote is looked at.
            Err(failure) if matches!(failure.code, 404 | 409) => {
                if let Err(error) = server.definitions.newest(server).await {
                    tracing::debug!(%error, "definitions cannot be read");
                    tokio::time::sleep(pause).await;
                }
            }
            Err(failure) => {
                tracing::info!(definition = definition.name, failure = failure.message, "status cannot be written");
                if (400..500).contains(&failure.code) {
                    // Of no use to try again before it changes.
                    settled.insert(definition.name.clone(), definition.revision);
                } else {
                    tokio::time::sleep(pause).await;
                    pause = RETRY_MAX.min(pause * 2);
                }
            }
        }
    }
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
