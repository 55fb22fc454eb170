//! What all requests share.

use std::{
    net::SocketAddr,
    sync::{Arc, atomic::Ordering},
};

use api::{Kind, Kinds, Status, Value};
use arc_swap::ArcSwap;
use bytes::Bytes;
use jiff::Timestamp;
use store::{Compare, Durability, KeyRange, Op, Range, Store, Txn};

use crate::{
    ServiceCidr,
    admission::Plugin,
    auth::{Authorizer, jwt::Signer},
    cache::Caches,
    crd::Definitions,
    flow::Flow,
    keys,
    metrics::Metrics,
    nonresource::Documents,
    pipeline::Extra,
    service_ips, service_ports,
    stored::Stored,
};

/// The shared state of an API server.
pub struct Server {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) caches: Arc<Caches>,
    /// What is served whatever the definitions are.
    pub(crate) builtin: Kinds,
    kinds: ArcSwap<Kinds>,
    pub(crate) definitions: Definitions,
    pub(crate) authorizer: Authorizer,
    pub(crate) signer: Signer,
    pub(crate) admission: Vec<Box<dyn Plugin>>,
    pub(crate) service_cidr: ServiceCidr,
    pub(crate) advertise: SocketAddr,
    pub(crate) kubelet_client: Arc<rustls::ClientConfig>,
    pub(crate) proxy_client: Arc<rustls::ClientConfig>,
    pub(crate) extra: Vec<Extra>,
    pub(crate) metrics: Metrics,
    pub(crate) documents: Documents,
    pub(crate) flow: Flow,
    pub(crate) extra_in_flight: tokio::sync::Semaphore,
    pub(crate) stop: tokio_util::sync::CancellationToken,
    pub(crate) tasks: tokio_util::task::TaskTracker,
}

/// Requests that may be under way at once, watches and streams not counted: upstream's, for reads and writes together.
const IN_FLIGHT: usize = 600;
/// The same for paths that others answer. They come from anybody, so they must not take the places of those who are
/// known.
const EXTRA_IN_FLIGHT: usize = 64;

impl Server {
    pub(crate) fn new(
        config: crate::Config,
        signer: Signer,
        stop: tokio_util::sync::CancellationToken,
        tasks: tokio_util::task::TaskTracker,
    ) -> Arc<Self> {
        let caches = Caches::new(config.store.clone());
        Arc::new(Server {
            store: config.store,
            authorizer: Authorizer::new(caches.clone()),
            caches: caches.clone(),
            builtin: config.kinds.clone(),
            kinds: ArcSwap::from_pointee(config.kinds),
            definitions: Definitions::default(),
            signer,
            admission: crate::admission::plugins(&config.own_node),
            service_cidr: config.service_cidr,
            advertise: config.advertise,
            kubelet_client: config.kubelet_client,
            proxy_client: config.proxy_client,
            extra: config.extra,
            metrics: Metrics::default(),
            documents: Documents::default(),
            flow: Flow::new(caches.clone(), IN_FLIGHT),
            extra_in_flight: tokio::sync::Semaphore::new(EXTRA_IN_FLIGHT),
            stop,
            tasks,
        })
    }

    /// The table as it is now.
    pub fn kinds(&self) -> Arc<Kinds> {
        self.kinds.load_full()
    }

    /// Whether the table still has this row.
    pub fn serves(&self, kind: &Arc<Kind>) -> bool {
        let kinds = self.kinds.load();
        let row = kinds.by_resource(&kind.group, &kind.version, &kind.plural);
        row.is_some_and(|row| Arc::ptr_eq(row, kind))
    }

    /// From now on this is served.
    pub(crate) fn serve_kinds(&self, kinds: Kinds) {
        self.metrics.keep(&kinds);
        self.kinds.store(Arc::new(kinds));
    }

    /// Whether the store still has what was there at a revision.
    pub fn keeps(&self, revision: i64) -> bool {
        revision >= self.store.compacted()
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    /// Audiences of tokens for this server.
    pub fn audiences(&self) -> Vec<String> {
        vec![self.signer.issuer.clone()]
    }

    /// An object in its stored form, as committed last.
    pub async fn read(&self, kind: &Kind, namespace: &str, name: &str) -> Result<Option<Stored>, Status> {
        let key = keys::object(kind, namespace, name);
        let read = self.store.range(Range::head(KeyRange::key(key))).await.map_err(keys::store_error)?;
        match read.kvs.into_iter().next() {
            Some(kv) => Ok(Some(Stored::new(kv.value, kv.mod_revision)?)),
            None => Ok(None),
        }
    }

    /// Writes an object if its key still is at `expected` (0: absent); `None` if it is not.
    pub async fn write(&self, kind: &Kind, object: &Value, expected: i64) -> Result<Option<Stored>, Status> {
        let place = (api::meta::namespace(object), api::meta::name(object));
        let value = crate::stored::encode_bounded(object)?;
        let revision = self.commit(kind, place, expected, Some((object, value.clone()))).await?;
        Ok(revision.map(|revision| Stored::new(value, revision)).transpose()?)
    }

    /// Removes an object if its key still is at `expected`; answers with the revision of its end if it was.
    pub async fn remove(&self, kind: &Kind, namespace: &str, name: &str, expected: i64) -> Result<Option<i64>, Status> {
        self.commit(kind, (namespace, name), expected, None).await
    }

    /// Writes the new state of an object, or removes it, along with its companions.
    async fn commit(
        &self,
        kind: &Kind,
        (namespace, name): (&str, &str),
        expected: i64,
        new: Option<(&Value, Bytes)>,
    ) -> Result<Option<i64>, Status> {
        let key = Bytes::from(keys::object(kind, namespace, name));
        // The cache exists from the first write on, so that a watch may begin at it.
        self.caches.of(self.kinds().stored(kind)).await?;
        let mut txn = Txn {
            when: vec![Compare::mod_revision(key.clone(), expected)],
            then: vec![match &new {
                Some((_, value)) => Op::put(key, value.clone()),
                None => Op::Delete(KeyRange::key(key)),
            }],
            durability: if kind.relaxed_durability { Durability::Relaxed } else { Durability::Durable },
            ..Txn::default()
        };
        let mut rest = Vec::new();
        if service_ips::concerns(kind) {
            let companions = self.companions(kind, namespace, name, new.map(|(object, _)| object)).await?;
            txn.when.extend(companions.when);
            txn.then.extend(companions.then);
            rest = companions.rest;
        }
        let done = self.store.txn(txn).await.map_err(keys::store_error)?;
        if !done.succeeded {
            return Ok(None);
        }
        self.metrics.writes.fetch_add(1, Ordering::Relaxed);
        self.definitions.wrote(self, kind, done.revision).await;
        service_ports::release(self, rest).await;
        Ok(Some(done.revision))
    }
}
