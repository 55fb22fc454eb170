//! The head: current keys, recent history, leases and watches, all in memory.
//!
//! Reads at the head never touch SQLite. The writer thread is the only one that changes keys;
//! what it applies here is already as durable as was asked.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use tokio::sync::mpsc;

use super::{
    db::{self, RowId},
    history,
};
use crate::{Error, Event, KeyRange, KeyValue, Range, RangeResponse, WatchBatch};

/// A current key and the row that holds it.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub kv: KeyValue,
    pub row: RowId,
}

impl Entry {
    /// What it takes on disk, about.
    pub fn bytes(&self) -> u64 {
        db::row_bytes(&self.kv)
    }
}

/// All events of one revision.
#[derive(Clone, Debug)]
pub(super) struct Revision {
    pub revision: i64,
    pub events: Arc<[Event]>,
}

/// A lease and what is bound to it.
#[derive(Debug)]
pub(super) struct Lease {
    pub ttl: i64,
    pub deadline: Instant,
    /// Its time was over, and its end is being written.
    pub ending: bool,
    pub keys: BTreeSet<Bytes>,
}

impl Lease {
    /// One granted at `now` for `ttl` seconds.
    pub fn new(ttl: i64, now: Instant) -> Self {
        Lease { ttl, deadline: now + lifetime(ttl), ending: false, keys: BTreeSet::new() }
    }

    /// Starts its time again.
    pub fn renew(&mut self, now: Instant) {
        self.deadline = now + lifetime(self.ttl);
    }
}

fn lifetime(ttl: i64) -> Duration {
    Duration::from_secs(ttl.clamp(1, 1 << 31).unsigned_abs())
}

/// Recent revisions kept in memory for watches that resume and reads in the past; older ones are
/// read from the database.
const RING_REVISIONS: usize = 4096;
/// Bytes of values that the ring may hold.
const RING_BYTES: usize = 8 << 20;
/// Batches that a watcher may be behind before it is dropped.
pub(super) const WATCH_BUFFER: usize = 4096;

#[derive(Default)]
pub(super) struct Head {
    pub revision: i64,
    pub compacted: i64,
    pub keys: BTreeMap<Bytes, Entry>,
    /// Bytes that the current keys take on disk, about.
    pub live_bytes: u64,
    pub leases: HashMap<i64, Lease>,
    ring: VecDeque<Revision>,
    ring_bytes: usize,
    watches: Vec<Watcher>,
    closed: bool,
}

struct Watcher {
    keys: KeyRange,
    /// Nothing below it is delivered.
    from: i64,
    sender: mpsc::Sender<WatchBatch>,
}

impl Head {
    /// Keys of `range` as they are now.
    pub fn select<'a>(&'a self, range: &'a KeyRange) -> Box<dyn Iterator<Item = &'a Entry> + 'a> {
        match &range.end {
            None => Box::new(self.keys.get(&range.start).into_iter()),
            Some(end) if end.is_empty() => Box::new(self.keys.range(range.start.clone()..).map(|(_, e)| e)),
            Some(end) if *end <= range.start => Box::new(std::iter::empty()),
            Some(end) => Box::new(self.keys.range(range.start.clone()..end.clone()).map(|(_, e)| e)),
        }
    }

    /// Serves a read at the head.
    pub fn range(&self, range: &Range) -> RangeResponse {
        answer(self.revision, range, self.select(&range.keys).map(|e| &e.kv))
    }

    /// Refuses revisions that are not there to be read.
    pub fn check_revision(&self, revision: i64) -> Result<(), Error> {
        if revision > self.revision {
            Err(Error::Future { head: self.revision })
        } else if revision > 0 && revision < self.compacted {
            Err(Error::Compacted { compacted: self.compacted })
        } else {
            Ok(())
        }
    }

    /// The first revision whose events are all in memory.
    pub fn ring_start(&self) -> i64 {
        self.ring.front().map_or(self.revision + 1, |r| r.revision)
    }

    /// Revisions in memory from `from` on.
    pub fn recent(&self, from: i64) -> impl DoubleEndedIterator<Item = &Revision> {
        let first = self.ring.partition_point(|r| r.revision < from);
        self.ring.range(first..)
    }

    /// Applies a committed revision and tells the watches.
    pub fn apply(&mut self, revision: Revision, entries: super::batch::Entries) {
        for (key, entry) in entries {
            self.set(key, entry);
        }
        self.revision = revision.revision;
        self.publish(&revision);
        self.ring_bytes += size(&revision);
        self.ring.push_back(revision);
        while self.ring.len() > RING_REVISIONS || self.ring_bytes > RING_BYTES && self.ring.len() > 1 {
            if let Some(old) = self.ring.pop_front() {
                self.ring_bytes -= size(&old);
            }
        }
    }

    /// Sets what a key holds; answers with what it held.
    pub fn set(&mut self, key: Bytes, entry: Option<Entry>) -> Option<Entry> {
        let now = entry.as_ref().map_or(0, |e| e.kv.lease);
        self.live_bytes += entry.as_ref().map_or(0, Entry::bytes);
        let before = match entry {
            Some(entry) => self.keys.insert(key.clone(), entry),
            None => self.keys.remove(&key),
        };
        self.live_bytes -= before.as_ref().map_or(0, Entry::bytes);
        let lease_before = before.as_ref().map_or(0, |e| e.kv.lease);
        if lease_before != now {
            if let Some(lease) = self.leases.get_mut(&lease_before) {
                lease.keys.remove(&key);
            }
            if let Some(lease) = self.leases.get_mut(&now) {
                lease.keys.insert(key);
            }
        }
        before
    }

    /// When the first lease ends.
    pub fn first_deadline(&self) -> Option<Instant> {
        self.leases.values().map(|lease| lease.deadline).min()
    }

    /// Leases whose time is over. They are not renewed any more.
    pub fn expire(&mut self, now: Instant) -> Vec<i64> {
        let over = self.leases.iter_mut().filter(|(_, lease)| lease.deadline <= now);
        over.map(|(id, lease)| {
            lease.ending = true;
            *id
        })
        .collect()
    }

    fn publish(&mut self, revision: &Revision) {
        self.watches.retain(|Watcher { keys, from, sender }| {
            let events = if revision.revision < *from { None } else { matching(keys, &revision.events) };
            let Some(events) = events else { return !sender.is_closed() };
            sender.try_send(WatchBatch { revision: revision.revision, events }).is_ok()
        });
    }

    /// Tells every watch that it has seen everything.
    pub fn progress(&mut self) {
        let revision = self.revision;
        self.watches.retain(|Watcher { from, sender, .. }| {
            revision + 1 < *from || sender.try_send(WatchBatch { revision, events: [].into() }).is_ok()
        });
    }

    /// Registers a watch that begins at `from`, which must be in memory, or now (0).
    pub fn watch(&mut self, keys: KeyRange, from: i64, sender: mpsc::Sender<WatchBatch>) {
        if from > 0 {
            let recent = self.recent(from).flat_map(|r| r.events.iter());
            let mut past: Vec<Event> = recent.filter(|e| keys.contains(&e.kv.key)).cloned().collect();
            history::forget_previous(&mut past, self.compacted);
            let batch = WatchBatch { revision: self.revision, events: past.into() };
            if !batch.events.is_empty() && sender.try_send(batch).is_err() {
                // Too slow already, or gone.
                return;
            }
        }
        self.watches.push(Watcher { keys, from, sender });
    }

    /// Ends all watches, and is of no more use.
    pub fn close(&mut self) {
        self.closed = true;
        self.watches.clear();
    }

    /// Whether it is of use.
    pub fn check_open(&self) -> Result<(), Error> {
        if self.closed { Err(Error::Closed) } else { Ok(()) }
    }
}

/// Cuts a read to its limit.
pub(super) fn answer<'a>(revision: i64, range: &Range, kvs: impl Iterator<Item = &'a KeyValue>) -> RangeResponse {
    let limit = if range.limit == 0 { usize::MAX } else { range.limit };
    let mut response = RangeResponse { revision, ..RangeResponse::default() };
    for kv in kvs {
        if !range.count_only && response.count < limit {
            response.kvs.push(kv.clone());
        }
        response.count += 1;
    }
    response
}

/// The events that concern `range`, shared where all do.
pub(super) fn matching(range: &KeyRange, events: &Arc<[Event]>) -> Option<Arc<[Event]>> {
    let count = events.iter().filter(|e| range.contains(&e.kv.key)).count();
    match count {
        0 => None,
        n if n == events.len() => Some(events.clone()),
        _ => Some(events.iter().filter(|e| range.contains(&e.kv.key)).cloned().collect()),
    }
}

fn size(revision: &Revision) -> usize {
    revision.events.iter().map(|e| e.kv.value.len() + e.kv.key.len()).sum()
}
