//! All pods of the node: each gets a worker, which is told what concerns it.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use client::{Change, Informer, ObjectKey};
use futures::{FutureExt as _, StreamExt as _};
use k8s_openapi::api::core::v1::Pod;
use parking_lot::Mutex;
use serde_json::json;

use crate::config::Context;
use crate::pod::inbox::{Inbox, News};
use crate::pod::worker::Worker;
use crate::spec::labels;

/// A worker that panicked is started anew after this time, and twice as long each further time up to the maximum.
const RESTART_FIRST: Duration = Duration::from_secs(1);
const RESTART_MAX: Duration = Duration::from_secs(300);

/// The workers, by uid. Cheap to clone.
#[derive(Clone, Default)]
pub struct Pods {
    workers: Arc<Mutex<HashMap<String, Handle>>>,
}

struct Handle {
    inbox: Arc<Inbox>,
}

fn uid(pod: &Pod) -> String {
    pod.metadata.uid.clone().unwrap_or_default()
}

impl Pods {
    /// Tells one worker.
    pub fn tell(&self, uid: &str, change: impl FnOnce(&mut News)) {
        let inbox = self.workers.lock().get(uid).map(|h| h.inbox.clone());
        if let Some(inbox) = inbox {
            inbox.tell(change);
        }
    }

    /// Tells all workers to look at the runtime again.
    pub fn look_at_runtime(&self) {
        for handle in self.workers.lock().values() {
            handle.inbox.tell(|news| news.runtime = true);
        }
    }

    /// Tells all workers that sandboxes can be made now.
    pub fn network_is_ready(&self) {
        for handle in self.workers.lock().values() {
            handle.inbox.tell(|news| news.network = true);
        }
    }

    /// The uids that have a worker.
    pub fn uids(&self) -> Vec<String> {
        self.workers.lock().keys().cloned().collect()
    }

    /// Gives a pod to its worker, making one if there is none.
    fn apply(&self, ctx: &Arc<Context>, informer: &Informer<Pod>, pod: Arc<Pod>, gone: bool) {
        let uid = uid(&pod);
        let mut workers = self.workers.lock();
        if let Some(handle) = workers.get(&uid) {
            handle.inbox.tell(|news| {
                news.pod = Some(pod);
                news.gone |= gone;
            });
            return;
        }
        let inbox = Arc::new(Inbox::default());
        workers.insert(uid.clone(), Handle { inbox: inbox.clone() });
        let (pods, ctx, informer) = (self.clone(), ctx.clone(), informer.clone());
        let tasks = ctx.tasks.clone();
        tasks.spawn(async move {
            ctx.stop.run_until_cancelled(work(&ctx, &informer, pod, gone, inbox)).await;
            pods.workers.lock().remove(&uid);
        });
    }

    /// Follows the informer until the end. Returns when what was there at the start has workers.
    pub async fn start(&self, ctx: &Arc<Context>, informer: Informer<Pod>) {
        let mut changes = informer.changes();
        informer.synced().await;
        self.resync(ctx, &informer);
        self.adopt_orphans(ctx, &informer).await;
        let (pods, ctx) = (self.clone(), ctx.clone());
        let tasks = ctx.tasks.clone();
        tasks.spawn(async move {
            loop {
                let change = tokio::select! {
                    () = ctx.stop.cancelled() => return,
                    change = changes.next() => change,
                };
                match change {
                    Some(Change::Applied { old, new }) => {
                        // The same name may stand for another pod by now.
                        if let Some(old) = old.filter(|o| o.metadata.uid != new.metadata.uid) {
                            pods.tell(&uid(&old), |news| news.gone = true);
                        }
                        pods.apply(&ctx, &informer, new, false);
                    }
                    Some(Change::Deleted(pod)) => pods.tell(&uid(&pod), |news| news.gone = true),
                    Some(Change::Resync) => pods.resync(&ctx, &informer),
                    None => return,
                }
            }
        });
    }

    fn resync(&self, ctx: &Arc<Context>, informer: &Informer<Pod>) {
        let known = informer.list();
        for uid in self.uids() {
            if !known.iter().any(|p| p.metadata.uid.as_deref() == Some(&*uid)) {
                self.tell(&uid, |news| news.gone = true);
            }
        }
        for pod in known {
            self.apply(ctx, informer, pod, false);
        }
    }

    /// What the runtime or the disk has of pods that the API knows no more is cleaned up by workers of their own.
    async fn adopt_orphans(&self, ctx: &Arc<Context>, informer: &Informer<Pod>) {
        let known: Vec<String> = informer.list().iter().map(|p| uid(p)).collect();
        match ctx.runtime.sandboxes(None).await {
            Ok(sandboxes) => {
                for sandbox in sandboxes {
                    let label = |key: &str| sandbox.labels.get(key).cloned().unwrap_or_default();
                    let id = label(labels::POD_UID);
                    if !known.contains(&id) {
                        self.orphan(ctx, informer, &label(labels::POD_NAMESPACE), &label(labels::POD_NAME), &id);
                    }
                }
            }
            Err(error) => {
                tracing::info!(%error, "pods that were deleted while this process was down are not looked for");
                return;
            }
        }
        for id in directories(&ctx.config.root_dir.join("pods")) {
            if !known.contains(&id) {
                self.orphan(ctx, informer, "", "", &id);
            }
        }
    }

    fn orphan(&self, ctx: &Arc<Context>, informer: &Informer<Pod>, namespace: &str, name: &str, uid: &str) {
        let pod = json!({
            "metadata": {"namespace": namespace, "name": name, "uid": uid}, "spec": {"containers": []},
        });
        if let Ok(pod) = serde_json::from_value::<Pod>(pod)
            && !self.workers.lock().contains_key(uid)
        {
            tracing::info!(uid, name, namespace, "cleaning up after a pod that is gone");
            self.apply(ctx, informer, Arc::new(pod), true);
        }
    }
}

/// Works until nothing of the pod is left. A worker that panics is replaced by one that knows nothing but the pod as it
/// is now: the rest it finds in the runtime.
async fn work(ctx: &Arc<Context>, informer: &Informer<Pod>, mut pod: Arc<Pod>, mut gone: bool, inbox: Arc<Inbox>) {
    let mut delay = RESTART_FIRST;
    loop {
        let worker = Worker::new(ctx.clone(), pod.clone(), gone, inbox.clone());
        if AssertUnwindSafe(worker.run()).catch_unwind().await.is_ok() {
            return;
        }
        let key = ObjectKey::of(&*pod);
        tracing::error!(pod = %key, uid = uid(&pod), "the worker of a pod panicked, starting another");
        // What the first one had taken out of the inbox is in the snapshot; the rest is still there.
        match informer.get(&key).filter(|now| now.metadata.uid == pod.metadata.uid) {
            Some(now) => pod = now,
            None => gone = true,
        }
        tokio::time::sleep(delay).await;
        delay = (delay * 2).min(RESTART_MAX);
    }
}

fn directories(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    entries.filter_map(|e| e.file_name().into_string().ok()).collect()
}
