//! The store: etcd v3's semantics behind one trait.
//!
//! Guarantees: one revision to each writing transaction; events are published in revision order,
//! without gaps, after the transaction is as durable as asked, and before its answer is given.
//! The crate knows keys and values, and nothing of Kubernetes.

use std::{collections::HashSet, sync::Arc};

use bytes::Bytes;

pub mod check;
pub mod etcd;
pub mod face;
pub mod memory;
pub mod snapshot;
pub mod sqlite;
mod wire;

pub use etcd::EtcdStore;
pub use memory::MemoryStore;
pub use sqlite::{Retention, SqliteStore};

/// Head revision of a store that was never written to, as etcd has it.
pub const FIRST_REVISION: i64 = 1;

/// A key with its current value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyValue {
    /// Any bytes.
    pub key: Bytes,
    /// Any bytes; empty in tombstones.
    pub value: Bytes,
    /// Revision of the write that made the key.
    pub create_revision: i64,
    /// Revision of the last write.
    pub mod_revision: i64,
    /// Writes since it was made; 0 in tombstones.
    pub version: i64,
    /// The lease it is bound to; 0 for none.
    pub lease: i64,
}

/// Keys from `start` up to, not including, `end`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// First key.
    pub start: Bytes,
    /// `None`: `start` alone. Empty: to the end of the key space.
    pub end: Option<Bytes>,
}

impl KeyRange {
    /// One key.
    pub fn key(key: impl Into<Bytes>) -> Self {
        KeyRange { start: key.into(), end: None }
    }

    /// All keys that begin with `prefix`.
    pub fn prefix(prefix: impl Into<Bytes>) -> Self {
        let start: Bytes = prefix.into();
        let mut end = start.to_vec();
        while let Some(last) = end.pop() {
            if last < 0xff {
                end.push(last + 1);
                break;
            }
        }
        KeyRange { start, end: Some(end.into()) }
    }

    /// Whether it names the empty key, which no store holds.
    pub(crate) fn is_empty_key(&self) -> bool {
        self.end.is_none() && self.start.is_empty()
    }

    /// Whether `key` lies within.
    pub fn contains(&self, key: &[u8]) -> bool {
        match &self.end {
            None => key == &self.start[..],
            Some(end) => key >= &self.start[..] && (end.is_empty() || key < &end[..]),
        }
    }
}

/// A read of several keys, in key order.
#[derive(Clone, Debug)]
pub struct Range {
    /// Which keys.
    pub keys: KeyRange,
    /// At this revision; 0 for the head.
    pub revision: i64,
    /// At most so many; 0 for all.
    pub limit: usize,
    /// Only counts.
    pub count_only: bool,
}

impl Range {
    /// Everything in `keys`, at the head.
    pub fn head(keys: KeyRange) -> Self {
        Range { keys, revision: 0, limit: 0, count_only: false }
    }
}

/// Answer to a [`Range`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeResponse {
    /// Head revision when the read was served.
    pub revision: i64,
    /// At most `limit`.
    pub kvs: Vec<KeyValue>,
    /// Keys in the range, whatever the limit.
    pub count: usize,
}

/// A condition of a transaction.
#[derive(Clone, Debug)]
pub struct Compare {
    /// Of these keys, all of them. Where there are none, one absent key is compared.
    pub keys: KeyRange,
    /// What is compared; absent keys have revisions, version and lease 0.
    pub target: Target,
    /// How: `current ORDERING wanted`, or not equal for `None`.
    pub ordering: Option<std::cmp::Ordering>,
}

impl Compare {
    /// The key was last written at `revision`; 0 for "does not exist".
    pub fn mod_revision(key: impl Into<Bytes>, revision: i64) -> Self {
        let (keys, target) = (KeyRange::key(key), Target::ModRevision(revision));
        Compare { keys, target, ordering: Some(std::cmp::Ordering::Equal) }
    }

    /// Whether it holds, given what its keys hold.
    pub(crate) fn holds<'a>(&self, kvs: impl IntoIterator<Item = &'a KeyValue>) -> bool {
        let mut kvs = kvs.into_iter().peekable();
        match kvs.peek() {
            None => self.holds_for(None),
            Some(_) => kvs.all(|kv| self.holds_for(Some(kv))),
        }
    }

    fn holds_for(&self, kv: Option<&KeyValue>) -> bool {
        let number = |f: fn(&KeyValue) -> i64| kv.map_or(0, f);
        let ordering = match &self.target {
            Target::ModRevision(want) => number(|kv| kv.mod_revision).cmp(want),
            Target::CreateRevision(want) => number(|kv| kv.create_revision).cmp(want),
            Target::Version(want) => number(|kv| kv.version).cmp(want),
            Target::Lease(want) => number(|kv| kv.lease).cmp(want),
            Target::Value(want) => match kv {
                Some(kv) => kv.value.cmp(want),
                None => return false,
            },
        };
        self.ordering.map_or(ordering.is_ne(), |wanted| ordering == wanted)
    }
}

/// What a [`Compare`] looks at.
#[derive(Clone, Debug)]
pub enum Target {
    /// See [`KeyValue::mod_revision`].
    ModRevision(i64),
    /// See [`KeyValue::create_revision`].
    CreateRevision(i64),
    /// See [`KeyValue::version`].
    Version(i64),
    /// See [`KeyValue::lease`].
    Lease(i64),
    /// The value; never true of an absent key.
    Value(Bytes),
}

/// A step of a transaction.
#[derive(Clone, Debug)]
pub enum Op {
    /// Write a key. What is `None` stays as it is, and then the key must exist.
    Put {
        /// Key; not empty.
        key: Bytes,
        /// Value.
        value: Option<Bytes>,
        /// Lease; 0 for none.
        lease: Option<i64>,
    },
    /// Delete keys; answers with what they held.
    Delete(KeyRange),
    /// Read, seeing the writes of earlier steps.
    Range(Range),
}

impl Op {
    /// Writes a key that is bound to no lease.
    pub fn put(key: impl Into<Bytes>, value: impl Into<Bytes>) -> Self {
        Op::Put { key: key.into(), value: Some(value.into()), lease: Some(0) }
    }
}

/// Result of an [`Op`], in the same order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpResponse {
    /// What the key held before.
    Put(Option<KeyValue>),
    /// What was deleted.
    Deleted(Vec<KeyValue>),
    /// What was read.
    Range(RangeResponse),
}

/// When a write may be acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Synced to disk.
    #[default]
    Durable,
    /// In memory, and on disk with the next durable write or after a bounded delay.
    Relaxed,
}

/// Compare and swap: all of `then` if every condition holds, else all of `otherwise`.
#[derive(Clone, Debug, Default)]
pub struct Txn {
    /// Conditions.
    pub when: Vec<Compare>,
    /// Steps if all hold.
    pub then: Vec<Op>,
    /// Steps if not.
    pub otherwise: Vec<Op>,
    /// When it may be acknowledged.
    pub durability: Durability,
    /// Whether the answer is wanted to tell what was replaced and deleted. A store that has it at hand
    /// tells it unasked; over a network it costs.
    pub previous: bool,
}

impl Txn {
    /// Refuses what no store can do, as etcd does: a key written twice, or written and deleted, by
    /// one branch; an empty key.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.when.iter().any(|c| c.keys.is_empty_key()) {
            return Err(Error::EmptyKey);
        }
        for branch in [&self.then, &self.otherwise] {
            let mut put = HashSet::new();
            for op in branch {
                match op {
                    Op::Put { key, .. } if key.is_empty() => return Err(Error::EmptyKey),
                    Op::Put { key, .. } if !put.insert(key) => return Err(Error::DuplicateKey),
                    Op::Delete(keys) | Op::Range(Range { keys, .. }) if keys.is_empty_key() => {
                        return Err(Error::EmptyKey);
                    }
                    _ => {}
                }
            }
            let deleted = branch.iter().filter_map(|op| if let Op::Delete(keys) = op { Some(keys) } else { None });
            for keys in deleted {
                if put.iter().any(|key| keys.contains(key)) {
                    return Err(Error::DuplicateKey);
                }
            }
        }
        Ok(())
    }
}

/// Answer to a [`Txn`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TxnResponse {
    /// Revision of the transaction if it wrote, else the head.
    pub revision: i64,
    /// Whether `then` was taken.
    pub succeeded: bool,
    /// One to each step taken.
    pub responses: Vec<OpResponse>,
}

/// A change of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The new state; a tombstone (version 0, empty value, `mod_revision` of the delete) if deleted.
    pub kv: KeyValue,
    /// The state before; `None` if the key was made, or if it is compacted away.
    pub prev: Option<KeyValue>,
}

impl Event {
    /// Whether the key was deleted.
    pub fn is_delete(&self) -> bool {
        self.kv.version == 0
    }
}

/// What a watch delivers: all events of one or more whole revisions, in order.
#[derive(Clone, Debug)]
pub struct WatchBatch {
    /// The watcher has seen everything up to here.
    pub revision: i64,
    /// Empty in a progress notification.
    pub events: Arc<[Event]>,
}

/// A lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseStatus {
    /// Its id.
    pub id: i64,
    /// Seconds that it lasts from its grant or its last renewal on.
    pub granted: i64,
    /// Seconds that are left, rounded down.
    pub remaining: i64,
    /// Keys bound to it, in order.
    pub keys: Vec<Bytes>,
}

/// A running watch. Dropping it ends it. `None` from the channel: the store was closed, or the
/// watcher was too slow and was dropped.
pub type Watch = tokio::sync::mpsc::Receiver<WatchBatch>;

/// Errors of a store.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The revision is older than the last compaction.
    #[error("required revision has been compacted (compacted up to {compacted})")]
    Compacted {
        /// Revisions below it are gone.
        compacted: i64,
    },
    /// The revision does not exist yet.
    #[error("required revision is a future revision (head is {head})")]
    Future {
        /// Current revision.
        head: i64,
    },
    /// No such lease.
    #[error("requested lease {0} not found")]
    LeaseNotFound(i64),
    /// A lease with that id is there already.
    #[error("lease {0} already exists")]
    LeaseExists(i64),
    /// Keys have at least one byte.
    #[error("key is not provided")]
    EmptyKey,
    /// A put that keeps value or lease, of a key that does not exist.
    #[error("key not found")]
    KeyNotFound,
    /// A key stands twice in one transaction.
    #[error("duplicate key given in transaction")]
    DuplicateKey,
    /// The disk is full; reads go on, and writes will once there is room.
    #[error("no space left for {path}")]
    NoSpace {
        /// The database file.
        path: String,
    },
    /// The backend failed; the write is not acknowledged.
    #[error("store {path}: {message}")]
    Backend {
        /// Database file or endpoint.
        path: String,
        /// What happened.
        message: String,
    },
    /// The cluster behind the store does not answer.
    #[error("{path} does not answer, and nothing was written: {message}")]
    Unavailable {
        /// Its endpoints.
        path: String,
        /// Of the last try.
        message: String,
    },
    /// The cluster behind the store did not answer a write that it may have got.
    #[error("{path} has not answered, and whether it has written is unknown: {message}")]
    OutcomeUnknown {
        /// Its endpoints.
        path: String,
        /// What happened.
        message: String,
    },
    /// An endpoint that cannot be used, however long one waits.
    #[error("endpoint {endpoint}: {message}")]
    Endpoint {
        /// As given.
        endpoint: String,
        /// What is wrong with it.
        message: String,
    },
    /// The transaction is larger than the store takes.
    #[error("request is too large")]
    TooLarge,
    /// The database file cannot be trusted.
    #[error("database {path} cannot be used: {message}; restore a snapshot, or move the file away to begin anew")]
    Corrupt {
        /// The database file.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// Another process has the database open.
    #[error("database {path} is in use by another process")]
    InUse {
        /// The database file.
        path: String,
    },
    /// The request is beyond what the store does.
    #[error("not supported: {0}")]
    Unsupported(&'static str),
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
}

/// A store with etcd's semantics; see the crate.
#[async_trait::async_trait]
pub trait Store: Send + Sync + 'static {
    /// Runs a transaction.
    async fn txn(&self, txn: Txn) -> Result<TxnResponse, Error>;

    /// Reads keys.
    async fn range(&self, range: Range) -> Result<RangeResponse, Error>;

    /// Follows `keys`, beginning with the events of `from` (0: from now on).
    async fn watch(&self, keys: KeyRange, from: i64) -> Result<Watch, Error>;

    /// Asks every watch for a [`WatchBatch`] without events, sent once it has delivered everything up
    /// to the head; those that begin after the next revision stay silent.
    async fn progress(&self) -> Result<(), Error>;

    /// Head revision.
    async fn revision(&self) -> Result<i64, Error>;

    /// The last compaction that this process knows of.
    fn compacted(&self) -> i64;

    /// Forgets what only revisions below `revision` need. Stores also do it by themselves, to what
    /// was the head five minutes ago.
    async fn compact(&self, revision: i64) -> Result<(), Error>;

    /// Makes a lease of at least `ttl` seconds; `id` 0 lets the store choose. Answers with the id.
    async fn lease_grant(&self, id: i64, ttl: i64) -> Result<i64, Error>;

    /// Renews a lease; answers with its TTL.
    async fn lease_keep_alive(&self, id: i64) -> Result<i64, Error>;

    /// Ends a lease and deletes its keys.
    async fn lease_revoke(&self, id: i64) -> Result<(), Error>;

    /// How a lease stands.
    async fn lease_time_to_live(&self, id: i64) -> Result<LeaseStatus, Error>;

    /// Ids of all leases, in order.
    async fn leases(&self) -> Result<Vec<i64>, Error>;

    /// Ends the store in good order; later calls fail with [`Error::Closed`].
    async fn close(&self) -> Result<(), Error>;
}
