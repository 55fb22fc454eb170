//! Shared informers: one list and watch to each kind in a process, a snapshot that anyone may
//! read, and a stream of changes for whoever reacts to them.
//!
//! Guarantees: a change is visible in the snapshot before it is announced. A receiver that falls
//! behind gets [`Change::Resync`] instead of what it missed, and must look at the whole snapshot.
//! Snapshots hold no `managedFields`.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use futures::{Stream, StreamExt as _, TryStreamExt as _};
use kube::{
    Api, Resource, ResourceExt as _,
    runtime::{WatchStreamExt as _, watcher},
};
use parking_lot::{Mutex, RwLock};
use serde::de::DeserializeOwned;
use tokio::sync::{broadcast, watch};
use tokio_stream::wrappers::{BroadcastStream, errors::BroadcastStreamRecvError};
use tokio_util::sync::CancellationToken;

/// Namespace and name; the namespace is empty for cluster-scoped objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectKey {
    /// Empty for cluster-scoped objects.
    pub namespace: String,
    /// `metadata.name`.
    pub name: String,
}

impl ObjectKey {
    /// A key from its parts.
    pub fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        ObjectKey { namespace: namespace.into(), name: name.into() }
    }

    /// The key of an object.
    pub fn of<K: Resource>(object: &K) -> Self {
        let meta = object.meta();
        ObjectKey { namespace: meta.namespace.clone().unwrap_or_default(), name: meta.name.clone().unwrap_or_default() }
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.namespace.as_str() {
            "" => f.write_str(&self.name),
            namespace => write!(f, "{namespace}/{}", self.name),
        }
    }
}

/// What happened to an object.
#[derive(Clone, Debug)]
pub enum Change<K> {
    /// Made or changed; `old` is what the snapshot held before.
    Applied {
        /// Before.
        old: Option<Arc<K>>,
        /// Now.
        new: Arc<K>,
    },
    /// Gone; the last state seen.
    Deleted(Arc<K>),
    /// Changes were missed: look at the whole snapshot.
    Resync,
}

/// A handle on the informer of one kind. Cheap to clone.
pub struct Informer<K> {
    shared: Arc<Inner<K>>,
}

impl<K> Clone for Informer<K> {
    fn clone(&self) -> Self {
        Informer { shared: self.shared.clone() }
    }
}

struct Inner<K> {
    objects: RwLock<HashMap<ObjectKey, Arc<K>>>,
    changes: broadcast::Sender<Change<K>>,
    synced: watch::Sender<bool>,
    /// The highest revision in any event, deletions included.
    revision: AtomicU64,
}

/// Changes that a slow receiver may be behind before it must resync.
const CHANGE_BUFFER: usize = 1024;

impl<K> Informer<K>
where
    K: Resource + Clone + fmt::Debug + DeserializeOwned + Send + Sync + 'static,
{
    /// Starts following what `api` lists, until `stop`.
    pub fn start(api: Api<K>, config: watcher::Config, stop: CancellationToken) -> Self {
        let informer = Self::detached();
        let inner = informer.shared.clone();
        tokio::spawn(async move {
            let events = watcher(api, config.streaming_lists()).default_backoff();
            tokio::select! {
                () = stop.cancelled() => {}
                () = inner.follow(events) => {}
            }
        });
        informer
    }

    /// An informer that nothing feeds but [`Informer::insert`] and [`Informer::remove`]: for tests.
    pub fn detached() -> Self {
        let shared = Inner {
            objects: RwLock::default(),
            changes: broadcast::channel(CHANGE_BUFFER).0,
            synced: watch::channel(false).0,
            revision: AtomicU64::new(0),
        };
        Informer { shared: Arc::new(shared) }
    }

    /// Waits until the first list is in the snapshot.
    pub async fn synced(&self) {
        let mut synced = self.shared.synced.subscribe();
        // The sender lives in `self`, so waiting cannot fail.
        let _ = synced.wait_for(|done| *done).await;
    }

    /// One object of the snapshot.
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.shared.objects.read().get(key).cloned()
    }

    /// The whole snapshot, in no order.
    pub fn list(&self) -> Vec<Arc<K>> {
        self.shared.objects.read().values().cloned().collect()
    }

    /// The objects of the snapshot that `wanted` accepts.
    pub fn select(&self, wanted: impl Fn(&K) -> bool) -> Vec<Arc<K>> {
        self.shared.objects.read().values().filter(|o| wanted(o)).cloned().collect()
    }

    /// The highest revision that any event had: all writes of this kind up to it are in the
    /// snapshot. 0 if nothing was seen yet.
    pub fn revision(&self) -> u64 {
        self.shared.revision.load(Ordering::Acquire)
    }

    /// Changes from now on. Subscribe before reading the snapshot, and nothing is missed.
    pub fn changes(&self) -> impl Stream<Item = Change<K>> + Send + Unpin + 'static {
        BroadcastStream::new(self.shared.changes.subscribe())
            .map(|change| change.unwrap_or_else(|BroadcastStreamRecvError::Lagged(_)| Change::Resync))
    }

    /// Puts an object into the snapshot, as if the API had sent it: for tests.
    pub fn insert(&self, object: K) {
        self.shared.apply(object);
    }

    /// Takes an object out of the snapshot: for tests.
    pub fn remove(&self, key: &ObjectKey) {
        self.shared.delete(key, None);
    }

    /// Declares the snapshot complete: for tests.
    pub fn set_synced(&self) {
        self.shared.synced.send_replace(true);
    }
}

impl<K> Inner<K>
where
    K: Resource + Clone + fmt::Debug + DeserializeOwned + Send + Sync + 'static,
{
    async fn follow(&self, events: impl Stream<Item = watcher::Result<watcher::Event<K>>>) {
        let mut events = std::pin::pin!(events.into_stream());
        let mut listing: Option<HashMap<ObjectKey, Arc<K>>> = None;
        while let Some(event) = events.next().await {
            match event {
                Ok(watcher::Event::Apply(object)) => self.apply(object),
                Ok(watcher::Event::Delete(object)) => self.delete(&ObjectKey::of(&object), Some(&object)),
                Ok(watcher::Event::Init) => listing = Some(HashMap::new()),
                Ok(watcher::Event::InitApply(object)) => {
                    listing
                        .get_or_insert_default()
                        .insert(ObjectKey::of(&object), Arc::new(without_managed_fields(object)));
                }
                Ok(watcher::Event::InitDone) => self.replace(listing.take().unwrap_or_default()),
                // The watcher backs off and retries by itself.
                Err(error) => tracing::info!(%error, kind = std::any::type_name::<K>(), "watch interrupted"),
            }
        }
    }

    fn apply(&self, object: K) {
        let new = Arc::new(without_managed_fields(object));
        let old = self.objects.write().insert(ObjectKey::of(&*new), new.clone());
        self.saw(&*new);
        self.announce(Change::Applied { old, new });
    }

    fn delete(&self, key: &ObjectKey, tombstone: Option<&K>) {
        let gone = self.objects.write().remove(key);
        tombstone.into_iter().for_each(|object| self.saw(object));
        if let Some(gone) = gone {
            self.announce(Change::Deleted(gone));
        }
    }

    /// Takes over a fresh list, announcing only what differs.
    fn replace(&self, listing: HashMap<ObjectKey, Arc<K>>) {
        let before = std::mem::replace(&mut *self.objects.write(), listing.clone());
        listing.values().for_each(|object| self.saw(&**object));
        for (key, new) in &listing {
            let old = before.get(key).cloned();
            if old.as_ref().is_none_or(|o| o.resource_version() != new.resource_version()) {
                self.announce(Change::Applied { old, new: new.clone() });
            }
        }
        for (_, gone) in before.into_iter().filter(|(key, _)| !listing.contains_key(key)) {
            self.announce(Change::Deleted(gone));
        }
        self.synced.send_replace(true);
    }

    fn saw(&self, object: &K) {
        // Revisions of one kind are numbers that grow (KEP-5504).
        if let Some(revision) = object.meta().resource_version.as_deref().and_then(|rv| rv.parse().ok()) {
            self.revision.fetch_max(revision, Ordering::AcqRel);
        }
    }

    fn announce(&self, change: Change<K>) {
        // No receiver is fine: the snapshot is there to be read.
        let _ = self.changes.send(change);
    }
}

/// Nobody reads them from a snapshot, and much memory goes to them. An update that leaves them out keeps those of the
/// server.
fn without_managed_fields<K: Resource>(mut object: K) -> K {
    object.meta_mut().managed_fields = None;
    object
}

/// The informers of a process: one to each kind, made when first asked for.
#[derive(Clone)]
pub struct Informers {
    client: kube::Client,
    stop: CancellationToken,
    running: Arc<Mutex<HashMap<TypeId, Box<dyn Any + Send + Sync>>>>,
}

impl Informers {
    /// None yet; those that will be made stop with `stop`.
    pub fn new(client: kube::Client, stop: CancellationToken) -> Self {
        Informers { client, stop, running: Arc::default() }
    }

    /// The same informers for somebody who writes with `client`: what both look at is held once.
    pub fn for_client(&self, client: kube::Client) -> Self {
        Informers { client, ..self.clone() }
    }

    /// The client to write with.
    pub fn client(&self) -> &kube::Client {
        &self.client
    }

    /// The informer of all objects of kind `K`, in all namespaces.
    pub fn get<K>(&self) -> Informer<K>
    where
        K: Resource<DynamicType = ()> + Clone + fmt::Debug + DeserializeOwned + Send + Sync + 'static,
    {
        self.get_with(watcher::Config::default())
    }

    /// As [`Informers::get`], with selectors; the first caller's selectors hold for the process.
    pub fn get_with<K>(&self, config: watcher::Config) -> Informer<K>
    where
        K: Resource<DynamicType = ()> + Clone + fmt::Debug + DeserializeOwned + Send + Sync + 'static,
    {
        let mut running = self.running.lock();
        let informer = running.entry(TypeId::of::<K>()).or_insert_with(|| {
            Box::new(Informer::start(Api::<K>::all(self.client.clone()), config, self.stop.clone()))
        });
        let informer: &Informer<K> = informer.downcast_ref().expect("keyed by type");
        informer.clone()
    }
}
