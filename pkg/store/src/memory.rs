//! The model: a store without a disk, as simple as can be. It defines what the others must do,
//! and serves tests.

use std::collections::BTreeMap;

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::mpsc;

use crate::{
    Compare, Error, Event, FIRST_REVISION, KeyRange, KeyValue, LeaseStatus, Op, OpResponse, Range, RangeResponse,
    Store, Txn, TxnResponse, Watch, WatchBatch,
};

/// A store in memory; history is kept until [`Store::compact`]. Leases never expire by themselves.
#[derive(Default)]
pub struct MemoryStore {
    state: Mutex<State>,
}

struct State {
    revision: i64,
    compacted: i64,
    keys: BTreeMap<Bytes, KeyValue>,
    history: Vec<Event>,
    watches: Vec<Watcher>,
    leases: BTreeMap<i64, i64>,
    closed: bool,
}

struct Watcher {
    keys: KeyRange,
    from: i64,
    sender: mpsc::Sender<WatchBatch>,
}

impl Default for State {
    fn default() -> Self {
        State {
            revision: FIRST_REVISION,
            compacted: 0,
            keys: BTreeMap::new(),
            history: Vec::new(),
            watches: Vec::new(),
            leases: BTreeMap::new(),
            closed: false,
        }
    }
}

impl State {
    fn range(&self, range: &Range) -> Result<RangeResponse, Error> {
        let keys = self.at(range.revision)?;
        let mut kvs: Vec<KeyValue> = keys.into_values().filter(|kv| range.keys.contains(&kv.key)).collect();
        let count = kvs.len();
        if range.limit > 0 {
            kvs.truncate(range.limit);
        }
        if range.count_only {
            kvs.clear();
        }
        Ok(RangeResponse { revision: self.revision, kvs, count })
    }

    /// All keys at `revision`, by undoing later events.
    fn at(&self, revision: i64) -> Result<BTreeMap<Bytes, KeyValue>, Error> {
        let mut keys = self.keys.clone();
        if revision > self.revision {
            return Err(Error::Future { head: self.revision });
        }
        if revision > 0 {
            if revision < self.compacted {
                return Err(Error::Compacted { compacted: self.compacted });
            }
            for event in self.history.iter().rev().take_while(|e| e.kv.mod_revision > revision) {
                match &event.prev {
                    Some(prev) => keys.insert(prev.key.clone(), prev.clone()),
                    None => keys.remove(&event.kv.key),
                };
            }
        }
        Ok(keys)
    }

    fn holds(&self, compare: &Compare) -> bool {
        compare.holds(self.keys.values().filter(|kv| compare.keys.contains(&kv.key)))
    }

    /// Keys bound to a lease.
    fn bound(&self, lease: i64) -> Vec<Bytes> {
        self.keys.values().filter(|kv| kv.lease == lease).map(|kv| kv.key.clone()).collect()
    }

    fn put(
        &mut self,
        revision: i64,
        key: Bytes,
        value: Option<Bytes>,
        lease: Option<i64>,
    ) -> Result<(Option<KeyValue>, Event), Error> {
        let prev = self.keys.get(&key).cloned();
        let kept = |of: Option<&KeyValue>| of.cloned().ok_or(Error::KeyNotFound);
        let value = value.map_or_else(|| kept(prev.as_ref()).map(|kv| kv.value), Ok)?;
        let lease = lease.map_or_else(|| kept(prev.as_ref()).map(|kv| kv.lease), Ok)?;
        if lease != 0 && !self.leases.contains_key(&lease) {
            return Err(Error::LeaseNotFound(lease));
        }
        let kv = KeyValue {
            key: key.clone(),
            value,
            create_revision: prev.as_ref().map_or(revision, |p| p.create_revision),
            mod_revision: revision,
            version: prev.as_ref().map_or(0, |p| p.version) + 1,
            lease,
        };
        self.keys.insert(key, kv.clone());
        Ok((prev.clone(), Event { kv, prev }))
    }

    fn delete(&mut self, revision: i64, range: &KeyRange) -> Vec<Event> {
        let doomed: Vec<Bytes> = self.keys.keys().filter(|k| range.contains(k)).cloned().collect();
        doomed
            .into_iter()
            .map(|key| {
                let prev = self.keys.remove(&key);
                let kv = KeyValue {
                    key,
                    value: Bytes::new(),
                    create_revision: 0,
                    mod_revision: revision,
                    version: 0,
                    lease: 0,
                };
                Event { kv, prev }
            })
            .collect()
    }

    fn txn(&mut self, txn: Txn) -> Result<TxnResponse, Error> {
        txn.check()?;
        let succeeded = txn.when.iter().all(|c| self.holds(c));
        let ops = if succeeded { txn.then } else { txn.otherwise };
        let (keys, revision) = (self.keys.clone(), self.revision);
        let mut events = Vec::new();
        let responses = ops.into_iter().map(|op| self.step(revision, op, &mut events)).collect();
        match responses {
            Ok(responses) => {
                self.publish(events);
                Ok(TxnResponse { revision: self.revision, succeeded, responses })
            }
            Err(error) => {
                (self.keys, self.revision) = (keys, revision);
                Err(error)
            }
        }
    }

    /// One step of a transaction that found the store at `revision`.
    fn step(&mut self, revision: i64, op: Op, events: &mut Vec<Event>) -> Result<OpResponse, Error> {
        let response = match op {
            Op::Put { key, value, lease } => {
                let (prev, event) = self.put(revision + 1, key, value, lease)?;
                events.push(event);
                OpResponse::Put(prev)
            }
            Op::Delete(range) => {
                let deleted = self.delete(revision + 1, &range);
                let prevs = deleted.iter().filter_map(|e| e.prev.clone()).collect();
                events.extend(deleted);
                OpResponse::Deleted(prevs)
            }
            Op::Range(range) => OpResponse::Range(self.range(&range)?),
        };
        if !events.is_empty() {
            self.revision = revision + 1;
        }
        Ok(response)
    }

    fn publish(&mut self, events: Vec<Event>) {
        let revision = self.revision;
        self.watches.retain(|Watcher { keys, from, sender }| {
            let matching: Vec<Event> =
                events.iter().filter(|e| e.kv.mod_revision >= *from && keys.contains(&e.kv.key)).cloned().collect();
            let sent = matching.is_empty() || sender.try_send(WatchBatch { revision, events: matching.into() }).is_ok();
            sent && !sender.is_closed()
        });
        self.history.extend(events);
    }
}

impl MemoryStore {
    /// A store that holds `kvs` at `revision`, and knows nothing of what was before.
    pub fn at(revision: i64, kvs: impl IntoIterator<Item = KeyValue>) -> Self {
        let keys = kvs.into_iter().map(|kv| (kv.key.clone(), kv)).collect();
        MemoryStore { state: Mutex::new(State { revision, compacted: revision, keys, ..State::default() }) }
    }

    fn open(&self) -> Result<MutexGuard<'_, State>, Error> {
        let state = self.state.lock();
        if state.closed { Err(Error::Closed) } else { Ok(state) }
    }
}

#[async_trait::async_trait]
impl Store for MemoryStore {
    async fn txn(&self, txn: Txn) -> Result<TxnResponse, Error> {
        self.open()?.txn(txn)
    }

    async fn range(&self, range: Range) -> Result<RangeResponse, Error> {
        if range.keys.is_empty_key() {
            return Err(Error::EmptyKey);
        }
        self.open()?.range(&range)
    }

    async fn watch(&self, keys: KeyRange, from: i64) -> Result<Watch, Error> {
        let mut state = self.open()?;
        let (sender, receiver) = mpsc::channel(1024);
        if from > 0 {
            if from < state.compacted {
                return Err(Error::Compacted { compacted: state.compacted });
            }
            let past: Vec<Event> = state
                .history
                .iter()
                .filter(|e| e.kv.mod_revision >= from && keys.contains(&e.kv.key))
                .cloned()
                .collect();
            if !past.is_empty() {
                let batch = WatchBatch { revision: state.revision, events: past.into() };
                sender.try_send(batch).map_err(|_| Error::Closed)?;
            }
        }
        state.watches.push(Watcher { keys, from, sender });
        Ok(receiver)
    }

    async fn progress(&self) -> Result<(), Error> {
        let mut state = self.open()?;
        let revision = state.revision;
        state.watches.retain(|watcher| {
            revision + 1 < watcher.from || watcher.sender.try_send(WatchBatch { revision, events: [].into() }).is_ok()
        });
        Ok(())
    }

    async fn revision(&self) -> Result<i64, Error> {
        Ok(self.open()?.revision)
    }

    fn compacted(&self) -> i64 {
        self.state.lock().compacted
    }

    async fn compact(&self, revision: i64) -> Result<(), Error> {
        let mut state = self.open()?;
        if revision > state.revision {
            return Err(Error::Future { head: state.revision });
        }
        if revision <= state.compacted {
            return Err(Error::Compacted { compacted: state.compacted });
        }
        state.compacted = revision;
        state.history.retain(|e| e.kv.mod_revision >= revision);
        for event in state.history.iter_mut().filter(|e| e.kv.mod_revision == revision) {
            event.prev = None;
        }
        Ok(())
    }

    async fn lease_grant(&self, id: i64, ttl: i64) -> Result<i64, Error> {
        let mut state = self.open()?;
        if state.leases.contains_key(&id) {
            return Err(Error::LeaseExists(id));
        }
        let id = if id == 0 { state.leases.keys().next_back().map_or(1, |last| last + 1) } else { id };
        state.leases.insert(id, ttl);
        Ok(id)
    }

    async fn lease_keep_alive(&self, id: i64) -> Result<i64, Error> {
        self.open()?.leases.get(&id).copied().ok_or(Error::LeaseNotFound(id))
    }

    async fn lease_revoke(&self, id: i64) -> Result<(), Error> {
        let mut state = self.open()?;
        state.leases.remove(&id).ok_or(Error::LeaseNotFound(id))?;
        let then = state.bound(id).into_iter().map(|key| Op::Delete(KeyRange::key(key))).collect();
        state.txn(Txn { then, ..Txn::default() }).map(drop)
    }

    async fn lease_time_to_live(&self, id: i64) -> Result<LeaseStatus, Error> {
        let state = self.open()?;
        let ttl = state.leases.get(&id).copied().ok_or(Error::LeaseNotFound(id))?;
        Ok(LeaseStatus { id, granted: ttl, remaining: ttl, keys: state.bound(id) })
    }

    async fn leases(&self) -> Result<Vec<i64>, Error> {
        Ok(self.open()?.leases.keys().copied().collect())
    }

    async fn close(&self) -> Result<(), Error> {
        let mut state = self.open()?;
        state.closed = true;
        state.watches.clear();
        Ok(())
    }
}
