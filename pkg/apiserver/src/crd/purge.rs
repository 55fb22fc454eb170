//! The end of a definition: its objects are deleted, waited for, and then it is let go.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use api::{
    Kind, Status, Value,
    crd::{CLEANUP, set_condition},
};
use serde_json::json;
use store::{KeyRange, Op, Txn};

use super::{
    control::{ask, write},
    definition::Definition,
};
use crate::{cache::Wanted, call::rfc3339, keys, server::Server};

/// So long finalizers may hold objects before the definition says so.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between tries when deletions fail.
const RETRY_MIN: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(60);

/// Resources whose objects lie where those of a definition of their name would.
const OVERLAPPING: [(&str, &str); 2] =
    [("apiregistration.k8s.io", "apiservices"), ("apiextensions.k8s.io", "customresourcedefinitions")];

/// Why objects are not gone: reason and message of the condition.
struct Held(&'static str, String);

/// Deletes the objects of a definition, and lets it go. Ends early if it is gone or let go by someone else.
pub async fn run(server: &Arc<Server>, definition: &Definition) {
    let mut pause = RETRY_MIN;
    loop {
        let done = match () {
            () if OVERLAPPING.contains(&(definition.group.as_str(), definition.plural())) => {
                Ok(("OverlappingBuiltInResource", "instances overlap with built-in resources in storage"))
            }
            () if !definition.is_served() => Ok(("NeverEstablished", "resource was never established")),
            () => delete_objects(server, definition)
                .await
                .map(|()| ("InstanceDeletionCompleted", "removed all instances")),
        };
        let told = match &done {
            Ok((reason, message)) => tell(server, definition, ["False", reason, message], true).await,
            Err(Held(reason, message)) => tell(server, definition, ["True", reason, message], false).await,
        };
        match (told, done) {
            (Ok(()), Ok(_)) => return,
            // It is waited for on and on.
            (Ok(()), Err(Held("InstanceDeletionCheck", _))) => pause = RETRY_MIN,
            (Err(failure), _) if failure.code == 404 => return,
            (Err(failure), _) if failure.code == 409 => {}
            (told, _) => {
                if let Err(failure) = told {
                    tracing::info!(definition = definition.name, failure = failure.message, "cannot be let go");
                }
                pause = RETRY_MAX.min(pause * 2);
            }
        }
        tokio::time::sleep(pause).await;
    }
}

/// Sets the condition, and takes the finalizer away if it is all over.
async fn tell(
    server: &Arc<Server>,
    definition: &Definition,
    [state, reason, message]: [&str; 3],
    over: bool,
) -> Result<(), Status> {
    server.definitions.newest(server).await?;
    let now = server.definitions.get(&definition.name).filter(|now| now.uid == definition.uid && now.is_ending());
    let Some(now) = now else { return Err(Status::not_found("", "", "")) };
    let mut changed = now.status.clone();
    set_condition(&mut changed, ["Terminating", state, reason, message], &rfc3339(server.now()));
    let mut change = json!({"metadata": {"resourceVersion": now.revision.to_string()}, "status": changed});
    if over {
        let left: Vec<&String> = now.finalizers.iter().filter(|finalizer| *finalizer != CLEANUP).collect();
        change["metadata"]["finalizers"] = json!(left);
    }
    write(server, &now, &change).await.map(|_| ())
}

/// Deletes all objects and waits until they are gone.
async fn delete_objects(server: &Arc<Server>, definition: &Definition) -> Result<(), Held> {
    let failed =
        |status: Status| Held("InstanceDeletionFailed", format!("could not list instances: {}", status.message));
    let kinds = server.definitions.newest(server).await.map_err(failed)?;
    // A definition may bear the name of a built-in resource, whose objects are not its own.
    let of = |kind: &&Arc<Kind>| {
        kind.is_custom() && *kind.group == *definition.group && &*kind.plural == definition.plural()
    };
    let Some(row) = kinds.rows().iter().find(of) else {
        return delete_unserved(server, definition).await.map_err(failed);
    };
    let cache = server.caches.of(kinds.stored(row)).await.map_err(failed)?;
    let mut changes = cache.subscribe();
    let everything = KeyRange::prefix(cache.prefix().to_owned());
    let mut namespaces = BTreeSet::new();
    let page = cache.list(&everything, |object| {
        namespaces.insert(if row.namespaced { object.namespace().to_owned() } else { String::new() });
        Wanted::No
    });
    drop(page);
    let mut failures = Vec::new();
    for namespace in &namespaces {
        let place = if namespace.is_empty() { String::new() } else { format!("namespaces/{namespace}/") };
        let path = format!("/apis/{}/{place}{}", row.api_version(), &*row.plural);
        if let Err(failure) = ask(server, "DELETE", &path, &Value::Null).await {
            failures.push(failure.message);
        }
    }
    match failures.as_slice() {
        [] => {}
        [one] => return Err(Held("InstanceDeletionFailed", format!("could not issue all deletes: {one}"))),
        many => {
            let many = many.join(", ");
            return Err(Held("InstanceDeletionFailed", format!("could not issue all deletes: [{many}]")));
        }
    }
    let gone = async {
        loop {
            changes.mark_unchanged();
            server.caches.at_head().await?;
            let mut left = 0_usize;
            cache.list(&everything, |_| {
                left += 1;
                Wanted::No
            });
            if left == 0 || changes.changed().await.is_err() {
                return Ok::<_, Status>(());
            }
        }
    };
    let why = match tokio::time::timeout(PATIENCE, gone).await {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(status)) => status.message,
        Err(_) => "timed out waiting for the condition".to_owned(),
    };
    Err(Held("InstanceDeletionCheck", format!("could not confirm zero CustomResources remaining: {why}")))
}

/// Objects of a definition that serves no version: nobody can reach them, nor their finalizers.
async fn delete_unserved(server: &Server, definition: &Definition) -> Result<(), Status> {
    let keys = KeyRange::prefix(keys::custom(&definition.group, definition.plural()));
    let txn = Txn { then: vec![Op::Delete(keys)], ..Txn::default() };
    server.store.txn(txn).await.map(|_| ()).map_err(keys::store_error)
}
