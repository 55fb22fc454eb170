//! The runtime that all controllers share.
//!
//! # Flow
//! Informers announce changes → [`Sources`] map each to the keys it concerns → the [`Queue`] keeps
//! each key once → a worker calls [`Controller::gather`] (reads snapshots), then
//! [`Controller::decide`] (pure), then [`Controller::apply`] (writes through the API) → the
//! outcome says when to look again.
//!
//! # Guarantees
//! - No reconcile begins before every source has its first complete snapshot; then every key that
//!   the snapshots name is looked at once.
//! - Never two reconciles of one key at a time. A change that arrives during one leads to another
//!   afterwards.
//! - When changes were missed (a slow receiver), all keys are looked at, those included whose
//!   objects are gone meanwhile.
//! - Failures are retried with growing delays. A conflict, or an object that is gone, is quiet: a
//!   snapshot was old, and news of it are on their way. Any other failure is logged once, here.
//! - A reconcile that panics is logged as an error and tried again like any that failed.
//!
//! # Assumptions
//! `gather` is quick and does not block; `apply` ends by itself. Snapshots may be older than the
//! last write of this very controller: where that matters (making and deleting in numbers), use
//! [`Expectations`].
//!
//! # Caveats
//! Nothing is looked at again without a reason: no resync timer. What depends on time must ask for
//! it with [`Next::After`].

use std::{
    collections::{HashMap, HashSet},
    fmt,
    future::Future,
    panic::AssertUnwindSafe,
    sync::Arc,
    time::Duration,
};

use futures::{FutureExt as _, StreamExt as _, future::BoxFuture};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::{Resource, ResourceExt as _};
use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use tokio::time::Instant;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::Instrument as _;

use crate::{Change, Informer, ObjectKey, SharedClock, queue::Queue};

/// What a kind must be to have an informer.
pub trait Watched: Resource + Clone + fmt::Debug + DeserializeOwned + Send + Sync + 'static {}
impl<K: Resource + Clone + fmt::Debug + DeserializeOwned + Send + Sync + 'static> Watched for K {}

/// When to look at a key again, besides when something changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Next {
    /// No need.
    #[default]
    Done,
    /// After this time.
    After(Duration),
}

impl Next {
    /// At `at`, or never for `None`; a moment that has passed means at once.
    pub fn at(at: Option<Timestamp>, now: Timestamp) -> Self {
        match at {
            None => Next::Done,
            Some(at) => Next::After(Duration::try_from(at.duration_since(now)).unwrap_or(Duration::from_millis(1))),
        }
    }
}

/// A controller: one file that says what to watch and the three steps.
pub trait Controller: Send + Sync + 'static {
    /// What `decide` needs to know, from snapshots.
    type Input: Send + Sync;
    /// What is to be done, as plain data.
    type Plan: Send;

    /// As in logs.
    const NAME: &'static str;
    /// Keys worked on at the same time.
    const WORKERS: usize = 4;

    /// Names the informers and the keys that their objects concern.
    fn sources(&self, sources: &mut Sources);

    /// Reads snapshots. `None`: nothing to be done for this key.
    fn gather(&self, key: &ObjectKey) -> Option<Self::Input>;

    /// Decides, without I/O or clock.
    fn decide(&self, input: &Self::Input, now: Timestamp) -> Self::Plan;

    /// Carries the plan out.
    fn apply(
        &self,
        key: &ObjectKey,
        input: Self::Input,
        plan: Self::Plan,
    ) -> impl Future<Output = Result<Next, kube::Error>> + Send;
}

type Pump = BoxFuture<'static, ()>;
type Enqueue = Box<dyn Fn() + Send + Sync>;
/// The keys that each object of a source concerns, as last seen: after missed changes they tell
/// whom the objects concerned that are gone.
type Known = HashMap<ObjectKey, Vec<ObjectKey>>;

fn note<K: Watched>(known: &mut Known, object: &K, keys: Vec<ObjectKey>) {
    match keys.is_empty() {
        true => known.remove(&ObjectKey::of(object)),
        false => known.insert(ObjectKey::of(object), keys),
    };
}

/// The informers of a controller and how their objects map to keys.
pub struct Sources {
    queue: Arc<Queue<ObjectKey>>,
    synced: Vec<BoxFuture<'static, ()>>,
    pumps: Vec<Pump>,
    everything: Arc<Mutex<Vec<Enqueue>>>,
}

impl Sources {
    fn new(queue: Arc<Queue<ObjectKey>>) -> Self {
        Sources { queue, synced: Vec::new(), pumps: Vec::new(), everything: Arc::default() }
    }

    /// Objects that are keys themselves.
    pub fn own<K: Watched>(&mut self, informer: &Informer<K>) -> &mut Self {
        self.map(informer, |object| vec![ObjectKey::of(object)])
    }

    /// Objects whose controlling owner, of the given kind and in the same namespace, is the key.
    pub fn owned<K: Watched>(&mut self, informer: &Informer<K>, owner_kind: &'static str) -> &mut Self {
        self.map(informer, move |object| {
            let owner = controller_of(object).filter(|owner| owner.kind == owner_kind);
            owner.map(|o| ObjectKey::new(object.namespace().unwrap_or_default(), &o.name)).into_iter().collect()
        })
    }

    /// Objects with any other relation to keys; asked of the state before a change and after it.
    pub fn map<K: Watched>(
        &mut self,
        informer: &Informer<K>,
        keys: impl Fn(&K) -> Vec<ObjectKey> + Send + Sync + 'static,
    ) -> &mut Self {
        self.map_if(informer, |_, _| true, keys)
    }

    /// As [`Sources::map`], but changes for which `relevant(old, new)` is false are passed over.
    pub fn map_if<K: Watched>(
        &mut self,
        informer: &Informer<K>,
        relevant: impl Fn(&K, &K) -> bool + Send + Sync + 'static,
        keys: impl Fn(&K) -> Vec<ObjectKey> + Send + Sync + 'static,
    ) -> &mut Self {
        let keys = Arc::new(keys);
        let mut changes = informer.changes();
        let (queue, everything, map) = (self.queue.clone(), self.everything.clone(), keys.clone());
        let known = Arc::new(Mutex::new(Known::default()));
        let pumped = known.clone();
        let pump = async move {
            while let Some(change) = changes.next().await {
                match change {
                    Change::Applied { old: Some(old), new } => {
                        if relevant(&old, &new) {
                            let keys = map(&new);
                            let concerned: HashSet<_> = map(&old).into_iter().chain(keys.clone()).collect();
                            note(&mut pumped.lock(), &*new, keys);
                            concerned.into_iter().for_each(|key| queue.add(key));
                        }
                    }
                    Change::Applied { old: None, new } => {
                        let keys = map(&new);
                        note(&mut pumped.lock(), &*new, keys.clone());
                        keys.into_iter().for_each(|key| queue.add(key));
                    }
                    Change::Deleted(gone) => {
                        pumped.lock().remove(&ObjectKey::of(&*gone));
                        map(&gone).into_iter().for_each(|key| queue.add(key));
                    }
                    Change::Resync => everything.lock().iter().for_each(|enqueue| enqueue()),
                }
            }
        };
        self.pumps.push(pump.boxed());
        let (queue, snapshot) = (self.queue.clone(), informer.clone());
        let all = move || {
            let mut now = Known::default();
            snapshot.list().iter().for_each(|object| note(&mut now, &**object, keys(object)));
            let mut known = known.lock();
            let before = std::mem::replace(&mut *known, now);
            before.values().chain(known.values()).flatten().for_each(|key| queue.add(key.clone()));
        };
        self.everything.lock().push(Box::new(all));
        let waited_for = informer.clone();
        self.synced.push(async move { waited_for.synced().await }.boxed());
        self
    }

    /// An informer that is only read: waited for at the start.
    pub fn read<K: Watched>(&mut self, informer: &Informer<K>) -> &mut Self {
        let informer = informer.clone();
        self.synced.push(async move { informer.synced().await }.boxed());
        self
    }

    /// Something else that has to be there before the first look.
    pub fn wait_for(&mut self, ready: impl Future<Output = ()> + Send + 'static) -> &mut Self {
        self.synced.push(ready.boxed());
        self
    }

    /// A key that is looked at once at the start, whatever the snapshots hold.
    pub fn once(&mut self, key: ObjectKey) -> &mut Self {
        self.queue.add(key);
        self
    }

    /// A handle by which the controller itself, or somebody else, asks for a look at a key.
    pub fn queue(&self) -> Arc<Queue<ObjectKey>> {
        self.queue.clone()
    }
}

/// The controlling owner of an object.
pub fn controller_of<K: Resource>(object: &K) -> Option<&OwnerReference> {
    object.meta().owner_references.iter().flatten().find(|owner| owner.controller == Some(true))
}

/// Runs controllers.
#[derive(Clone)]
pub struct Runtime {
    /// Tells `decide` the time.
    pub clock: SharedClock,
    /// Ends all workers.
    pub stop: CancellationToken,
    /// Where workers are spawned.
    pub tasks: TaskTracker,
}

impl Runtime {
    /// Spawns a controller; it begins when its informers are complete.
    pub fn run<C: Controller>(&self, controller: C) -> Arc<C> {
        let controller = Arc::new(controller);
        let queue = Arc::new(Queue::new());
        let mut sources = Sources::new(queue.clone());
        controller.sources(&mut sources);
        for pump in sources.pumps.drain(..) {
            let stop = self.stop.clone();
            self.tasks.spawn(async move { stop.run_until_cancelled(pump).await });
        }
        let (runtime, spawned) = (self.clone(), controller.clone());
        self.tasks.spawn(async move {
            let synced = futures::future::join_all(std::mem::take(&mut sources.synced));
            if runtime.stop.run_until_cancelled(synced).await.is_none() {
                return;
            }
            tracing::debug!(controller = C::NAME, "controller starts");
            sources.everything.lock().iter().for_each(|enqueue| enqueue());
            for _ in 0..C::WORKERS.max(1) {
                runtime.tasks.spawn(work(spawned.clone(), queue.clone(), runtime.clone()));
            }
            runtime.stop.cancelled().await;
            queue.close();
        });
        controller
    }
}

async fn work<C: Controller>(controller: Arc<C>, queue: Arc<Queue<ObjectKey>>, runtime: Runtime) {
    while let Some(key) = queue.next().await {
        let span = tracing::debug_span!("reconcile", controller = C::NAME, %key);
        let done = AssertUnwindSafe(reconcile(&*controller, &key, &runtime)).catch_unwind().instrument(span);
        // Stopping drops the reconcile between two writes: each is whole by itself.
        let Some(outcome) = runtime.stop.run_until_cancelled(done).await else { return };
        match outcome {
            Ok(outcome) => settle(C::NAME, &queue, &key, outcome),
            Err(_) => {
                tracing::error!(controller = C::NAME, %key, "reconcile panicked, trying again");
                queue.retry(key.clone());
            }
        }
        queue.done(&key);
    }
}

async fn reconcile<C: Controller>(controller: &C, key: &ObjectKey, runtime: &Runtime) -> Result<Next, kube::Error> {
    let Some(input) = controller.gather(key) else { return Ok(Next::Done) };
    let plan = controller.decide(&input, runtime.clock.now());
    controller.apply(key, input, plan).await
}

fn settle(name: &'static str, queue: &Queue<ObjectKey>, key: &ObjectKey, outcome: Result<Next, kube::Error>) {
    match outcome {
        Ok(next) => {
            queue.forget(key);
            if let Next::After(delay) = next {
                queue.add_after(key.clone(), delay);
            }
        }
        Err(error) => {
            let failures = queue.failures(key) + 1;
            if is_stale(&error) {
                tracing::debug!(controller = name, %key, error = message(&error), "the snapshot was old");
            } else if failures < WARN_AFTER {
                // A server that starts or stops answers like this for a moment.
                tracing::info!(controller = name, %key, failures, error = message(&error), "reconcile failed, trying again");
            } else {
                tracing::warn!(controller = name, %key, failures, error = message(&error), "reconcile keeps failing");
            }
            queue.retry(key.clone());
        }
    }
}

/// From this many failures in a row on (about 10 s), somebody should look.
const WARN_AFTER: u32 = 11;

/// Whether the write failed only because the snapshot was behind: a conflict, or an object that
/// has come or gone meanwhile.
pub fn is_stale(error: &kube::Error) -> bool {
    match error {
        kube::Error::Api(status) => status.code == 409 || status.code == 404 || status.reason == "Conflict",
        _ => false,
    }
}

/// Whether the namespace of what was to be made is being deleted: no reason to try again.
pub fn is_terminating(error: &kube::Error) -> bool {
    let kube::Error::Api(status) = error else { return false };
    let causes = status.details.iter().flat_map(|details| &details.causes);
    status.code == 403 && causes.into_iter().any(|cause| cause.reason == "NamespaceTerminating")
}

/// Passes over an object that is not there (any more).
pub fn ignore_not_found<T>(result: Result<T, kube::Error>) -> Result<Option<T>, kube::Error> {
    match result {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        other => other.map(Some),
    }
}

/// Passes over an object that is there already.
pub fn ignore_exists<T>(result: Result<T, kube::Error>) -> Result<Option<T>, kube::Error> {
    match result {
        Err(kube::Error::Api(status)) if status.reason == "AlreadyExists" => Ok(None),
        other => other.map(Some),
    }
}

/// What went wrong: the API server's own words, or the error with its causes.
pub fn message(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) => status.message.clone(),
        other => describe(other),
    }
}

/// An error with its causes.
pub fn describe(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let next = inner.to_string();
        if !text.contains(&next) {
            text.push_str(": ");
            text.push_str(&next);
        }
        cause = inner.source();
    }
    text
}

/// What a controller wrote and its snapshot may not show yet.
///
/// A controller that makes and deletes in numbers must not count again before it sees what it did
/// last time. It notes its writes here, and `gather` leaves a key alone until they are visible.
///
/// Guarantees: what was made counts as visible once the informer has seen its revision or a later
/// one, even if it is gone again by then. What was deleted is visible once it is gone or marked.
/// A note is forgotten after five minutes, should the informer never show it.
#[derive(Debug, Default)]
pub struct Expectations {
    notes: Mutex<HashMap<ObjectKey, Note>>,
}

#[derive(Debug)]
struct Note {
    revision: u64,
    /// Key and uid.
    deleted: Vec<(ObjectKey, String)>,
    until: Instant,
}

const EXPECTATION_TIMEOUT: Duration = Duration::from_secs(300);

impl Expectations {
    /// `owner` has made or changed an object, with this `metadata.resourceVersion` as answer.
    pub fn wrote<K: Resource>(&self, owner: &ObjectKey, object: &K) {
        let revision = object.meta().resource_version.as_deref().and_then(|rv| rv.parse().ok()).unwrap_or(0);
        self.note(owner, |note| note.revision = note.revision.max(revision));
    }

    /// `owner` deletes an object. To be noted before the request, lest the event be there first.
    pub fn deletes<K: Resource>(&self, owner: &ObjectKey, object: &K) {
        let entry = (ObjectKey::of(object), object.meta().uid.clone().unwrap_or_default());
        self.note(owner, |note| note.deleted.push(entry));
    }

    /// The deletion of `object` failed after all.
    pub fn undelete<K: Resource>(&self, owner: &ObjectKey, object: &K) {
        let key = ObjectKey::of(object);
        if let Some(note) = self.notes.lock().get_mut(owner) {
            note.deleted.retain(|(deleted, _)| *deleted != key);
        }
    }

    fn note(&self, owner: &ObjectKey, change: impl FnOnce(&mut Note)) {
        let mut notes = self.notes.lock();
        let until = Instant::now() + EXPECTATION_TIMEOUT;
        let note = notes.entry(owner.clone()).or_insert_with(|| Note { revision: 0, deleted: Vec::new(), until });
        note.until = until;
        change(note);
    }

    /// Whether the snapshot shows everything that was noted for `owner`.
    pub fn met<K: Watched>(&self, owner: &ObjectKey, informer: &Informer<K>) -> bool {
        let mut notes = self.notes.lock();
        let Some(note) = notes.get_mut(owner) else { return true };
        note.deleted.retain(|(key, uid)| {
            let object = informer.get(key);
            object.is_some_and(|o| o.meta().uid.as_ref() == Some(uid) && o.meta().deletion_timestamp.is_none())
        });
        let met = note.deleted.is_empty() && informer.revision() >= note.revision;
        let over = met || note.until <= Instant::now();
        if over {
            notes.remove(owner);
        }
        over
    }

    /// Forgets what was noted for an owner that is gone.
    pub fn forget(&self, owner: &ObjectKey) {
        self.notes.lock().remove(owner);
    }
}

#[cfg(test)]
mod tests;
