//! Namespaces that are being deleted: their content goes first, pods before everything else, and
//! then the finalizer.
//!
//! # Flow
//! What there is of each kind is listed, [`content::decide`] says what to do about it, that is done, and so on until
//! nothing can be done or is left. What remains is watched: as soon as some of it goes, the namespace is looked at
//! again.

mod conditions;
mod content;

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
    time::Duration,
};

use client::{Controller, Informer, Next, ObjectKey, Runtime, Sources, queue::Queue, runtime, slim::Pod};
use futures::{FutureExt as _, StreamExt as _, future, stream};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Namespace;
use kube::{
    Api, ResourceExt as _,
    api::{DeleteParams, DynamicObject, ListParams, PostParams, WatchEvent, WatchParams},
};
use parking_lot::Mutex;
use tokio::task::AbortHandle;

use self::content::{Content, Found, Step};
use crate::{
    Context,
    owners::is_deleting,
    resources::{Served, discover},
};

const FINALIZER: &str = "kubernetes";
/// Kinds looked at in parallel.
const PARALLEL: usize = 8;
/// Rounds of deleting: pods, the rest, and what came meanwhile.
const ROUNDS: usize = 3;
/// Before what failed is tried again.
const PATIENCE: Duration = Duration::from_secs(5);
/// From the first object that goes to the next look: others go at the same time.
const SETTLE: Duration = Duration::from_millis(100);

pub struct NamespaceController {
    client: kube::Client,
    namespaces: Informer<Namespace>,
    pods: Informer<Pod>,
    runtime: Runtime,
    queue: OnceLock<Arc<Queue<ObjectKey>>>,
    /// Who waits for something to go from a namespace.
    waiting: Arc<Mutex<HashMap<String, AbortHandle>>>,
}

impl NamespaceController {
    pub fn new(context: &Context) -> Self {
        let informers = &context.config.informers;
        NamespaceController {
            client: informers.client().clone(),
            namespaces: informers.get(),
            pods: informers.get(),
            runtime: context.runtime.clone(),
            queue: OnceLock::new(),
            waiting: Arc::default(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    Nothing,
    /// Delete the content, then the finalizer.
    Purge(Timestamp),
}

impl Controller for NamespaceController {
    type Input = Arc<Namespace>;
    type Plan = Plan;
    const NAME: &'static str = "namespace";

    fn sources(&self, sources: &mut Sources) {
        // The queue is set once, here.
        let _ = self.queue.set(sources.queue());
        let namespaces = self.namespaces.clone();
        sources.own(&self.namespaces).map_if(
            &self.pods,
            |_, _| false,
            move |pod| {
                let key = ObjectKey::new("", pod.namespace().unwrap_or_default());
                namespaces.get(&key).filter(|ns| is_deleting(&**ns)).map(|_| key).into_iter().collect()
            },
        );
    }

    fn gather(&self, key: &ObjectKey) -> Option<Arc<Namespace>> {
        self.namespaces.get(key)
    }

    fn decide(&self, namespace: &Arc<Namespace>, now: Timestamp) -> Plan {
        let finalizers = namespace.spec.iter().flat_map(|s| s.finalizers.iter().flatten());
        let held = finalizers.into_iter().any(|f| f == FINALIZER);
        if is_deleting(&**namespace) && held { Plan::Purge(now) } else { Plan::Nothing }
    }

    async fn apply(&self, key: &ObjectKey, namespace: Arc<Namespace>, plan: Plan) -> Result<Next, kube::Error> {
        let Plan::Purge(now) = plan else { return Ok(Next::Done) };
        if let Some(before) = self.waiting.lock().remove(&key.name) {
            before.abort();
        }
        let content = self.purge(&key.name).await;
        let api: Api<Namespace> = Api::all(self.client.clone());
        let mut changed = (*namespace).clone();
        if content::decide(&content) == Step::Finalize {
            if let Some(finalizers) = changed.spec.as_mut().and_then(|s| s.finalizers.as_mut()) {
                finalizers.retain(|f| f != FINALIZER);
            }
            let done = api.replace_subresource("finalize", &key.name, &PostParams::default(), &changed).await;
            runtime::ignore_not_found(done)?;
            return Ok(Next::Done);
        }
        tracing::debug!(namespace = key.name, ?content, "content remains");
        let status = changed.status.get_or_insert_default();
        if conditions::set_conditions(status.conditions.get_or_insert_default(), &content, now) {
            runtime::ignore_not_found(api.replace_status(&key.name, &PostParams::default(), &changed).await)?;
        }
        Ok(self.wait(key, &content))
    }
}

impl NamespaceController {
    /// Deletes what can be deleted; what is there then.
    async fn purge(&self, namespace: &str) -> Content {
        let served = match discover(&self.client).await {
            Ok(served) => served,
            Err(error) => return Content { discovery: Some(runtime::message(&error)), ..Content::default() },
        };
        let kinds: Vec<Served> =
            served.into_iter().filter(|s| s.namespaced && (s.delete || s.delete_collection)).collect();
        let mut content = self.content(&kinds, namespace).await;
        for _ in 0..ROUNDS {
            let Step::Delete(due) = content::decide(&content) else { break };
            let due: Vec<Served> = due.into_iter().map(|at| content.kinds[at].kind.clone()).collect();
            let deleted = stream::iter(due).map(|kind| self.delete(kind, namespace)).buffer_unordered(PARALLEL);
            let failures: Vec<_> = deleted.filter_map(future::ready).collect().await;
            content = self.content(&kinds, namespace).await;
            if !failures.is_empty() {
                content.failures.extend(failures);
                break;
            }
        }
        content
    }

    /// What there is of these kinds.
    async fn content(&self, kinds: &[Served], namespace: &str) -> Content {
        let mut content = Content::default();
        let mut found = stream::iter(kinds.to_vec()).map(|kind| self.find(kind, namespace)).buffer_unordered(PARALLEL);
        while let Some(found) = found.next().await {
            match found {
                Ok(found) => content.kinds.extend(found),
                Err(failure) => content.failures.push(failure),
            }
        }
        content
    }

    async fn find(&self, kind: Served, namespace: &str) -> Result<Option<Found>, (Served, String)> {
        let there = match kind.api(&self.client, Some(namespace)).list_metadata(&ListParams::default()).await {
            Ok(there) if there.items.is_empty() => return Ok(None),
            Ok(there) => there,
            Err(error) => return Err((kind, runtime::message(&error))),
        };
        let mut found = Found {
            kind,
            objects: there.items.len(),
            untouched: there.items.iter().filter(|object| !is_deleting(*object)).count(),
            finalizers: Default::default(),
            version: there.metadata.resource_version.unwrap_or_default(),
        };
        for finalizer in there.items.iter().flat_map(|object| object.finalizers()) {
            *found.finalizers.entry(finalizer.clone()).or_default() += 1;
        }
        Ok(Some(found))
    }

    /// Deletes all objects of a kind; why that failed.
    async fn delete(&self, kind: Served, namespace: &str) -> Option<(Served, String)> {
        let api = kind.api(&self.client, Some(namespace));
        let done = async {
            let (params, all) = (DeleteParams::background(), ListParams::default());
            if kind.delete_collection {
                return api.delete_collection(&params, &all).await.map(drop);
            }
            for object in api.list_metadata(&all).await?.items.iter().filter(|object| !is_deleting(*object)) {
                runtime::ignore_not_found(api.delete(&object.name_any(), &params).await)?;
            }
            Ok(())
        };
        let failure = done.await.err();
        failure.map(|error| (kind, runtime::message(&error)))
    }

    /// Has the namespace looked at again as soon as some of its content goes.
    fn wait(&self, key: &ObjectKey, content: &Content) -> Next {
        let (Some(queue), Step::Wait) = (self.queue.get(), content::decide(content)) else {
            return Next::After(PATIENCE);
        };
        if !content.is_certain() || !content.kinds.iter().all(|found| found.kind.watch) {
            return Next::After(PATIENCE);
        }
        let goes = |found: &Found| goes(found.kind.api(&self.client, Some(&key.name)), found.version.clone()).boxed();
        let first = future::select_all(content.kinds.iter().map(goes));
        let (queue, waiting, key, stop) = (queue.clone(), self.waiting.clone(), key.clone(), self.runtime.stop.clone());
        let name = key.name.clone();
        let task = async move {
            first.await;
            tokio::time::sleep(SETTLE).await;
            waiting.lock().remove(&key.name);
            queue.add(key);
        };
        let task = self.runtime.tasks.spawn(async move { stop.run_until_cancelled(task).await });
        self.waiting.lock().insert(name, task.abort_handle());
        Next::Done
    }
}

/// Ends when an object goes that was there at a version, or when the server ends the watch.
async fn goes(api: Api<DynamicObject>, version: String) {
    let watched = async {
        let mut events = std::pin::pin!(api.watch_metadata(&WatchParams::default(), &version).await?);
        while let Some(event) = events.next().await {
            match event? {
                WatchEvent::Deleted(_) => break,
                WatchEvent::Error(status) => return Err(kube::Error::Api(status)),
                _ => {}
            }
        }
        Ok::<(), kube::Error>(())
    };
    if watched.await.is_err() {
        tokio::time::sleep(PATIENCE).await;
    }
}
