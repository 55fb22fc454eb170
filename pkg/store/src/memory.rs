//! The model: a store without a disk, as simple as can be. It defines what the others must do,
//! and serves tests.

use std::collections::BTreeMap;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::mpsc;

use crate::{
    Compare, Error, Event, KeyRange, KeyValue, Op, OpResponse, Range, RangeResponse, Store, Target, Txn, TxnResponse,
    Watch, WatchBatch,
};

/// A store in memory; history is kept until it is compacted. Leases never expire by themselves.
#[derive(Default)]
pub struct MemoryStore {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    revision: i64,
    compacted: i64,
    keys: BTreeMap<Bytes, KeyValue>,
    history: Vec<Event>,
    watches: Vec<(KeyRange, mpsc::Sender<WatchBatch>)>,
    leases: BTreeMap<i64, i64>,
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
        let kv = self.keys.get(&compare.key);
        let number = |f: fn(&KeyValue) -> i64| kv.map_or(0, f);
        let ordering = match &compare.target {
            Target::ModRevision(want) => number(|kv| kv.mod_revision).cmp(want),
            Target::CreateRevision(want) => number(|kv| kv.create_revision).cmp(want),
            Target::Version(want) => number(|kv| kv.version).cmp(want),
            Target::Lease(want) => number(|kv| kv.lease).cmp(want),
            Target::Value(want) => match kv {
                Some(kv) => kv.value.cmp(want),
                None => return false,
            },
        };
        match compare.ordering {
            Some(wanted) => ordering == wanted,
            None => ordering.is_ne(),
        }
    }

    fn put(&mut self, revision: i64, key: Bytes, value: Bytes, lease: i64) -> Result<(Option<KeyValue>, Event), Error> {
        if lease != 0 && !self.leases.contains_key(&lease) {
            return Err(Error::LeaseNotFound(lease));
        }
        let prev = self.keys.get(&key).cloned();
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
        let succeeded = txn.when.iter().all(|c| self.holds(c));
        let ops = if succeeded { txn.then } else { txn.otherwise };
        let puts: Vec<&Bytes> =
            ops.iter().filter_map(|op| if let Op::Put { key, .. } = op { Some(key) } else { None }).collect();
        if (1..puts.len()).any(|i| puts[..i].contains(&puts[i])) {
            return Err(Error::DuplicateKey);
        }
        let before = self.keys.clone();
        let revision = self.revision + 1;
        let mut events = Vec::new();
        let mut responses = Vec::new();
        for op in ops {
            let response = match op {
                Op::Put { key, value, lease } => match self.put(revision, key, value, lease) {
                    Ok((prev, event)) => {
                        events.push(event);
                        OpResponse::Put(prev)
                    }
                    Err(error) => {
                        self.keys = before;
                        return Err(error);
                    }
                },
                Op::Delete(range) => {
                    let deleted = self.delete(revision, &range);
                    let prevs = deleted.iter().filter_map(|e| e.prev.clone()).collect();
                    events.extend(deleted);
                    OpResponse::Deleted(prevs)
                }
                Op::Range(range) => match self.range(&range) {
                    Ok(response) => OpResponse::Range(response),
                    Err(error) => {
                        self.keys = before;
                        return Err(error);
                    }
                },
            };
            responses.push(response);
        }
        if !events.is_empty() {
            self.revision = revision;
            self.publish(events);
        }
        Ok(TxnResponse { revision: self.revision, succeeded, responses })
    }

    fn publish(&mut self, events: Vec<Event>) {
        let revision = self.revision;
        self.watches.retain(|(range, sender)| {
            let matching: Vec<Event> = events.iter().filter(|e| range.contains(&e.kv.key)).cloned().collect();
            let sent = matching.is_empty() || sender.try_send(WatchBatch { revision, events: matching.into() }).is_ok();
            sent && !sender.is_closed()
        });
        self.history.extend(events);
    }
}

#[async_trait::async_trait]
impl Store for MemoryStore {
    async fn txn(&self, txn: Txn) -> Result<TxnResponse, Error> {
        self.state.lock().txn(txn)
    }

    async fn range(&self, range: Range) -> Result<RangeResponse, Error> {
        self.state.lock().range(&range)
    }

    async fn watch(&self, keys: KeyRange, from: i64) -> Result<Watch, Error> {
        let mut state = self.state.lock();
        let (sender, receiver) = mpsc::channel(1024);
        if from > 0 {
            if from <= state.compacted {
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
        state.watches.push((keys, sender));
        Ok(receiver)
    }

    async fn revision(&self) -> Result<i64, Error> {
        Ok(self.state.lock().revision)
    }

    async fn compact(&self, revision: i64) -> Result<(), Error> {
        let mut state = self.state.lock();
        if revision > state.revision {
            return Err(Error::Future { head: state.revision });
        }
        if revision <= state.compacted {
            return Err(Error::Compacted { compacted: state.compacted });
        }
        state.compacted = revision;
        state.history.retain(|e| e.kv.mod_revision > revision);
        Ok(())
    }

    async fn lease_grant(&self, id: i64, ttl: i64) -> Result<i64, Error> {
        let mut state = self.state.lock();
        let id = if id == 0 { state.leases.keys().next_back().map_or(1, |last| last + 1) } else { id };
        state.leases.insert(id, ttl);
        Ok(id)
    }

    async fn lease_keep_alive(&self, id: i64) -> Result<i64, Error> {
        self.state.lock().leases.get(&id).copied().ok_or(Error::LeaseNotFound(id))
    }

    async fn lease_revoke(&self, id: i64) -> Result<(), Error> {
        let mut state = self.state.lock();
        state.leases.remove(&id).ok_or(Error::LeaseNotFound(id))?;
        let bound: Vec<Bytes> = state.keys.values().filter(|kv| kv.lease == id).map(|kv| kv.key.clone()).collect();
        let then = bound.into_iter().map(|key| Op::Delete(KeyRange::key(key))).collect();
        state.txn(Txn { then, ..Txn::default() }).map(drop)
    }
}
