//! The store on a real etcd, of one member or several.
//!
//! [`cluster`] makes connections and decides what is asked again, [`watch`] follows, [`compactor`]
//! compacts, [`convert`] speaks etcd's language. etcd keeps every write as durable as it can:
//! [`Durability`](crate::Durability) makes no difference here.

mod cluster;
mod compactor;
mod convert;
mod endpoint;
#[cfg(test)]
mod tests;
mod watch;

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use tokio_util::sync::{CancellationToken, DropGuard};
use tonic::{Response, Status};

use self::cluster::{Channel, Class, Cluster};
pub use self::endpoint::{Address, Connect, Endpoint, Plain, Stream};
use crate::{
    Error, KeyRange, LeaseStatus, Range, RangeResponse, Store, Txn, TxnResponse, Watch,
    wire::{
        Asked,
        proto::{self, kv_client::KvClient, lease_client::LeaseClient},
    },
};

/// As often as upstream's API servers do it.
pub const COMPACT_EVERY: Duration = Duration::from_secs(300);

/// How a cluster is reached.
#[derive(Clone)]
pub struct Settings {
    /// URLs of its members; see [`Endpoint::parse`].
    pub endpoints: Vec<String>,
    /// Makes the connections.
    pub connector: Arc<dyn Connect>,
    /// How old history is when it is compacted, and how often: see [`COMPACT_EVERY`].
    pub compact_every: Duration,
}

impl Settings {
    /// Members by `unix://` or `http://` with addresses, as tests have them.
    pub fn plain<T: Into<String>>(endpoints: impl IntoIterator<Item = T>) -> Self {
        Settings {
            endpoints: endpoints.into_iter().map(Into::into).collect(),
            connector: Arc::new(Plain),
            compact_every: COMPACT_EVERY,
        }
    }
}

/// etcd refuses what is larger than it was told, and answers as large as need be.
const LARGEST_MESSAGE: usize = i32::MAX as usize;
/// Keys of a read that has no limit of its own: it comes in pieces, so that each has its own time.
const PIECE: usize = 1_000;
/// Between tries at the start.
const START_PAUSE: Duration = Duration::from_secs(1);

/// A store on a real etcd. Dropping it closes it.
pub struct EtcdStore {
    inner: Arc<Inner>,
    /// Announces to watches up to which head they shall report progress.
    asked: tokio::sync::watch::Sender<i64>,
    stop: CancellationToken,
    _stop: DropGuard,
}

/// What the store's tasks share.
struct Inner {
    cluster: Cluster,
    compacted: AtomicI64,
    /// The highest head that was ever read.
    head: AtomicI64,
}

impl EtcdStore {
    /// Connects, and waits for etcd if it is not there yet. Fails if waiting is in vain: an endpoint
    /// that makes no sense, certificates that are not trusted, or a refusal.
    pub async fn connect(settings: Settings) -> Result<Self, Error> {
        let endpoints = settings.endpoints.iter().map(|url| Endpoint::parse(url)).collect::<Result<Vec<_>, _>>()?;
        if endpoints.is_empty() {
            return Err(Error::Endpoint { endpoint: String::new(), message: "there is none".to_owned() });
        }
        let cluster = Cluster::new(endpoints, settings.connector);
        let inner = Arc::new(Inner { cluster, compacted: AtomicI64::new(0), head: AtomicI64::new(0) });
        inner.reach().await?;
        let stop = CancellationToken::new();
        tokio::spawn(compactor::run(inner.clone(), settings.compact_every, stop.clone()));
        Ok(EtcdStore { inner, asked: tokio::sync::watch::channel(0).0, _stop: stop.clone().drop_guard(), stop })
    }

    fn open(&self) -> Result<&Inner, Error> {
        if self.stop.is_cancelled() { Err(Error::Closed) } else { Ok(&self.inner) }
    }
}

fn kv(channel: Channel) -> KvClient<Channel> {
    KvClient::new(channel).max_decoding_message_size(LARGEST_MESSAGE)
}

fn lease(channel: Channel) -> LeaseClient<Channel> {
    LeaseClient::new(channel).max_decoding_message_size(LARGEST_MESSAGE)
}

/// The key that no store holds.
fn nothing() -> proto::RangeRequest {
    proto::RangeRequest { key: Bytes::from_static(&[0]), count_only: true, ..Default::default() }
}

impl Inner {
    /// Waits for the first answer.
    async fn reach(&self) -> Result<(), Error> {
        let mut distrusted = 0;
        loop {
            let ask = |channel| async move { kv(channel).range(nothing()).await };
            let failure = match self.cluster.once(cluster::READ, ask).await {
                Ok(_) => return Ok(()),
                Err(failure) => failure,
            };
            distrusted = if failure.distrust { distrusted + 1 } else { 0 };
            if failure.class == Class::Refused || distrusted >= self.cluster.len() {
                return Err(Error::Endpoint { endpoint: self.cluster.urls(), message: failure.message });
            }
            tokio::time::sleep(START_PAUSE).await;
        }
    }

    async fn txn(&self, txn: &Txn) -> Result<TxnResponse, Error> {
        txn.check()?;
        let (request, asked) = (convert::txn_request(txn), Asked::of(txn));
        let ask = |channel| {
            let request = request.clone();
            async move { kv(channel).txn(request).await }
        };
        let response = self.cluster.write(asked, ask).await?;
        convert::txn_response(response).ok_or_else(|| self.nonsense())
    }

    /// One request.
    async fn piece(&self, range: &Range) -> Result<proto::RangeResponse, Error> {
        let ask = |channel| async move { kv(channel).range(convert::range_request(range)).await };
        let asked = Asked { revision: range.revision, ..Asked::default() };
        let answer = self.cluster.read(asked, ask).await;
        if let Err(Error::Compacted { compacted }) = answer {
            self.learn_compacted(compacted);
            return Err(Error::Compacted { compacted: self.compacted() });
        }
        answer
    }

    async fn range(&self, range: &Range) -> Result<RangeResponse, Error> {
        if range.limit > 0 || range.count_only || range.keys.end.is_none() {
            return Ok(convert::range_response(self.piece(range).await?));
        }
        let mut piece = Range { limit: PIECE, ..range.clone() };
        let mut answer = self.piece(&piece).await?;
        let mut more = answer.more;
        let mut whole = convert::range_response(std::mem::take(&mut answer));
        if piece.revision == 0 {
            piece.revision = whole.revision;
        }
        while let (true, Some(last)) = (more, whole.kvs.last()) {
            piece.keys.start = [&last.key[..], b"\0"].concat().into();
            let next = self.piece(&piece).await?;
            more = next.more;
            whole.kvs.extend(next.kvs.into_iter().map(Into::into));
        }
        Ok(whole)
    }

    /// The head. It never goes back, unless the etcd is not the one that it was: then what is cached
    /// of it must not be served.
    async fn revision(&self) -> Result<i64, Error> {
        let before = self.head.load(Ordering::Acquire);
        let ask = |channel| async move { kv(channel).range(nothing()).await };
        let answer = self.cluster.read(Asked::default(), ask).await?;
        let head = convert::revision(answer.header.as_ref());
        if head < before {
            let message = format!(
                "its revision went from {before} back to {head}: it was emptied or restored from a copy; start anew \
                 to use it"
            );
            return Err(Error::Backend { path: self.cluster.name(), message });
        }
        self.head.fetch_max(head, Ordering::AcqRel);
        Ok(head)
    }

    async fn compact(&self, revision: i64) -> Result<(), Error> {
        let ask =
            |channel| async move { kv(channel).compact(proto::CompactionRequest { revision, physical: false }).await };
        let asked = Asked { revision: revision - 1, ..Asked::default() };
        let answer = self.cluster.write(asked, ask).await.map(drop);
        match answer {
            Ok(()) => self.learn_compacted(revision),
            Err(Error::Compacted { compacted }) => {
                self.learn_compacted(compacted);
                return Err(Error::Compacted { compacted: self.compacted() });
            }
            Err(_) => {}
        }
        answer
    }

    fn compacted(&self) -> i64 {
        self.compacted.load(Ordering::Relaxed)
    }

    fn learn_compacted(&self, revision: i64) {
        self.compacted.fetch_max(revision, Ordering::Relaxed);
    }

    /// etcd answers something else than was asked.
    fn nonsense(&self) -> Error {
        Error::Backend { path: self.cluster.name(), message: "an answer that fits no question".to_owned() }
    }
}

/// The one answer to the one question of a stream.
async fn keep_alive(channel: Channel, id: i64) -> Result<Response<Option<proto::LeaseKeepAliveResponse>>, Status> {
    let question = tokio_stream::once(proto::LeaseKeepAliveRequest { id });
    let mut answers = lease(channel).lease_keep_alive(question).await?.into_inner();
    Ok(Response::new(answers.message().await?))
}

#[async_trait::async_trait]
impl Store for EtcdStore {
    async fn txn(&self, txn: Txn) -> Result<TxnResponse, Error> {
        self.open()?.txn(&txn).await
    }

    async fn range(&self, range: Range) -> Result<RangeResponse, Error> {
        if range.keys.is_empty_key() {
            return Err(Error::EmptyKey);
        }
        self.open()?.range(&range).await
    }

    async fn watch(&self, keys: KeyRange, from: i64) -> Result<Watch, Error> {
        let inner = self.open()?;
        let from = if from == 0 {
            inner.revision().await? + 1
        } else {
            // A watch hears of compaction only later; a read has the same rule.
            let read =
                Range { revision: from, count_only: true, ..Range::head(KeyRange::key(Bytes::from_static(&[0]))) };
            match inner.piece(&read).await {
                Ok(_) | Err(Error::Future { .. }) => from,
                Err(error) => return Err(error),
            }
        };
        Ok(watch::start(self.inner.clone(), keys, from, self.asked.subscribe(), self.stop.clone()))
    }

    async fn progress(&self) -> Result<(), Error> {
        let head = self.open()?.revision().await?;
        self.asked.send_replace(head);
        Ok(())
    }

    async fn revision(&self) -> Result<i64, Error> {
        self.open()?.revision().await
    }

    fn compacted(&self) -> i64 {
        self.inner.compacted()
    }

    async fn compact(&self, revision: i64) -> Result<(), Error> {
        self.open()?.compact(revision).await
    }

    async fn lease_grant(&self, id: i64, ttl: i64) -> Result<i64, Error> {
        let ask = |channel| async move { lease(channel).lease_grant(proto::LeaseGrantRequest { id, ttl }).await };
        let inner = self.open()?;
        Ok(inner.cluster.write(Asked { lease: id, ..Asked::default() }, ask).await?.id)
    }

    async fn lease_keep_alive(&self, id: i64) -> Result<i64, Error> {
        let inner = self.open()?;
        let asked = Asked { lease: id, ..Asked::default() };
        let answer = inner.cluster.read(asked, |channel| keep_alive(channel, id)).await?;
        match answer.ok_or_else(|| inner.nonsense())?.ttl {
            ttl if ttl > 0 => Ok(ttl),
            _ => Err(Error::LeaseNotFound(id)),
        }
    }

    async fn lease_revoke(&self, id: i64) -> Result<(), Error> {
        let ask = |channel| async move { lease(channel).lease_revoke(proto::LeaseRevokeRequest { id }).await };
        self.open()?.cluster.write(Asked { lease: id, ..Asked::default() }, ask).await.map(drop)
    }

    async fn lease_time_to_live(&self, id: i64) -> Result<LeaseStatus, Error> {
        let request = proto::LeaseTimeToLiveRequest { id, keys: true };
        let ask = |channel| async move { lease(channel).lease_time_to_live(request).await };
        let answer = self.open()?.cluster.read(Asked { lease: id, ..Asked::default() }, ask).await?;
        if answer.ttl < 0 {
            return Err(Error::LeaseNotFound(id));
        }
        let mut keys = answer.keys;
        keys.sort_unstable();
        Ok(LeaseStatus { id, granted: answer.granted_ttl, remaining: answer.ttl, keys })
    }

    async fn leases(&self) -> Result<Vec<i64>, Error> {
        let ask = |channel| async move { lease(channel).lease_leases(proto::LeaseLeasesRequest {}).await };
        let answer = self.open()?.cluster.read(Asked::default(), ask).await?;
        let mut ids: Vec<i64> = answer.leases.into_iter().map(|lease| lease.id).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    async fn close(&self) -> Result<(), Error> {
        self.open()?;
        self.stop.cancel();
        Ok(())
    }
}
