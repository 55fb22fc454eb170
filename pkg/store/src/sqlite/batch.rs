//! Evaluating transactions against the head and the uncommitted writes of the same batch.
//!
//! Nothing here changes the head: a [`Batch`] collects rows, leases and entries, which are applied
//! once they are committed, or dropped.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

use super::{
    db::{Changes, MAX_STEPS, Row, RowId, row_bytes},
    head::{Entry, Head, Revision, answer},
    retention::Replaced,
};
use crate::{Error, Event, KeyRange, KeyValue, Op, OpResponse, Range, RangeResponse, Txn, TxnResponse};

type Staged = BTreeMap<Bytes, Option<Entry>>;

/// Transactions that will be committed together.
pub(super) struct Batch<'a> {
    head: &'a Head,
    revision: i64,
    overlay: Staged,
    /// Leases granted, with their TTL, and ended.
    pub leases: BTreeMap<i64, Option<i64>>,
    /// What goes to disk, in commit order.
    pub changes: Changes,
    /// One to each writing transaction.
    pub revisions: Vec<(Revision, Entries)>,
    /// What is of no use once these revisions are compacted.
    pub replaced: Vec<Replaced>,
}

/// Keys of a revision with what they hold from then on.
pub(super) type Entries = Vec<(Bytes, Option<Entry>)>;

impl<'a> Batch<'a> {
    pub fn new(head: &'a Head) -> Self {
        Batch {
            head,
            revision: head.revision,
            overlay: Staged::new(),
            leases: BTreeMap::new(),
            changes: Changes::default(),
            revisions: Vec::new(),
            replaced: Vec::new(),
        }
    }

    /// Evaluates one transaction; an error leaves the batch as it was.
    pub fn evaluate(&mut self, txn: Txn) -> Result<TxnResponse, Error> {
        txn.check()?;
        let mut step = Step::new(self);
        let succeeded = txn.when.iter().all(|c| c.holds(step.select(&c.keys).iter().map(|e| &e.kv)));
        let ops = if succeeded { txn.then } else { txn.otherwise };
        let responses = ops.into_iter().map(|op| step.run(op)).collect::<Result<Vec<_>, _>>()?;
        let Step { staged, rows, events, mut replaced, tombstones, .. } = step;
        if !events.is_empty() {
            self.revision += 1;
            self.overlay.extend(staged.clone());
            self.changes.rows.extend(rows);
            // A tombstone is seen at its own revision still. In order of `since`.
            replaced.extend(tombstones);
            self.replaced.append(&mut replaced);
            let revision = Revision { revision: self.revision, events: events.into() };
            self.revisions.push((revision, staged.into_iter().collect()));
        }
        Ok(TxnResponse { revision: self.revision, succeeded, responses })
    }

    /// Grants a lease; `id` 0 chooses one.
    pub fn grant(&mut self, id: i64, ttl: i64) -> Result<i64, Error> {
        let id = if id == 0 { self.free_lease() } else { id };
        if self.has_lease(id) {
            return Err(Error::LeaseExists(id));
        }
        self.leases.insert(id, Some(ttl));
        self.changes.leases.push((id, Some(ttl)));
        Ok(id)
    }

    /// Ends a lease and deletes its keys.
    pub fn revoke(&mut self, id: i64) -> Result<(), Error> {
        if !self.has_lease(id) {
            return Err(Error::LeaseNotFound(id));
        }
        let before = self.head.leases.get(&id).into_iter().flat_map(|lease| &lease.keys);
        let bound: BTreeSet<&Bytes> =
            before.chain(self.overlay.keys()).filter(|key| self.get(key).is_some_and(|e| e.kv.lease == id)).collect();
        let then = bound.into_iter().map(|key| Op::Delete(KeyRange::key(key.clone()))).collect();
        self.evaluate(Txn { then, ..Txn::default() })?;
        self.leases.insert(id, None);
        self.changes.leases.push((id, None));
        Ok(())
    }

    fn has_lease(&self, id: i64) -> bool {
        match self.leases.get(&id) {
            Some(lease) => lease.is_some(),
            None => self.head.leases.contains_key(&id),
        }
    }

    fn free_lease(&self) -> i64 {
        let taken = self.leases.keys().chain(self.head.leases.keys());
        taken.max().map_or(1, |last| last.saturating_add(1).max(1))
    }

    fn get(&self, key: &Bytes) -> Option<&Entry> {
        match self.overlay.get(key) {
            Some(entry) => entry.as_ref(),
            None => self.head.keys.get(key),
        }
    }
}

/// One transaction at work.
struct Step<'b, 'a> {
    batch: &'b Batch<'a>,
    staged: Staged,
    rows: Vec<Row>,
    events: Vec<Event>,
    replaced: Vec<Replaced>,
    tombstones: Vec<Replaced>,
}

impl<'b, 'a> Step<'b, 'a> {
    fn new(batch: &'b Batch<'a>) -> Self {
        Step {
            batch,
            staged: Staged::new(),
            rows: Vec::new(),
            events: Vec::new(),
            replaced: Vec::new(),
            tombstones: Vec::new(),
        }
    }

    fn run(&mut self, op: Op) -> Result<OpResponse, Error> {
        match op {
            Op::Put { key, value, lease } => self.put(key, value, lease),
            Op::Delete(range) => self.delete(&range),
            Op::Range(range) => self.range(&range).map(OpResponse::Range),
        }
    }

    fn get(&self, key: &Bytes) -> Option<&Entry> {
        match self.staged.get(key) {
            Some(entry) => entry.as_ref(),
            None => self.batch.get(key),
        }
    }

    /// Current entries of a range, with the writes of this batch and transaction.
    fn select(&self, range: &KeyRange) -> Vec<Entry> {
        if range.end.is_none() {
            return self.get(&range.start).cloned().into_iter().collect();
        }
        let mut found: BTreeMap<Bytes, Entry> =
            self.batch.head.select(range).map(|e| (e.kv.key.clone(), e.clone())).collect();
        for (key, entry) in self.batch.overlay.iter().chain(&self.staged).filter(|(key, _)| range.contains(key)) {
            match entry {
                Some(entry) => found.insert(key.clone(), entry.clone()),
                None => found.remove(key),
            };
        }
        found.into_values().collect()
    }

    fn range(&self, range: &Range) -> Result<RangeResponse, Error> {
        let revision = self.batch.revision + i64::from(!self.events.is_empty());
        if range.revision > 0 && range.revision != revision {
            self.batch.head.check_revision(range.revision)?;
            return Err(Error::Unsupported("a read in the past within a transaction"));
        }
        let entries = self.select(&range.keys);
        Ok(answer(revision, range, entries.iter().map(|e| &e.kv)))
    }

    fn put(&mut self, key: Bytes, value: Option<Bytes>, lease: Option<i64>) -> Result<OpResponse, Error> {
        let prev = self.get(&key).cloned();
        let kept = |of: &Option<Entry>| of.clone().ok_or(Error::KeyNotFound);
        let value = value.map_or_else(|| kept(&prev).map(|e| e.kv.value), Ok)?;
        let lease = lease.map_or_else(|| kept(&prev).map(|e| e.kv.lease), Ok)?;
        if lease != 0 && !self.batch.has_lease(lease) {
            return Err(Error::LeaseNotFound(lease));
        }
        let revision = self.batch.revision + 1;
        let kv = KeyValue {
            key,
            value,
            create_revision: prev.as_ref().map_or(revision, |p| p.kv.create_revision),
            mod_revision: revision,
            version: prev.as_ref().map_or(0, |p| p.kv.version) + 1,
            lease,
        };
        let prev_kv = prev.as_ref().map(|p| p.kv.clone());
        self.stage(kv, prev)?;
        Ok(OpResponse::Put(prev_kv))
    }

    fn delete(&mut self, range: &KeyRange) -> Result<OpResponse, Error> {
        let mut deleted = Vec::new();
        for entry in self.select(range) {
            let kv = KeyValue {
                key: entry.kv.key.clone(),
                value: Bytes::new(),
                create_revision: 0,
                mod_revision: self.batch.revision + 1,
                version: 0,
                lease: 0,
            };
            deleted.push(entry.kv.clone());
            self.stage(kv, Some(entry))?;
        }
        Ok(OpResponse::Deleted(deleted))
    }

    fn stage(&mut self, kv: KeyValue, prev: Option<Entry>) -> Result<(), Error> {
        if self.rows.len() >= MAX_STEPS {
            return Err(Error::Unsupported("a transaction of more than a million writes"));
        }
        let id = RowId::new(kv.mod_revision, self.rows.len());
        let entry = (kv.version > 0).then(|| Entry { kv: kv.clone(), row: id });
        if let Some(prev) = &prev {
            self.replaced.push(Replaced { since: kv.mod_revision, row: prev.row, bytes: prev.bytes() });
        }
        if entry.is_none() {
            self.tombstones.push(Replaced { since: kv.mod_revision + 1, row: id, bytes: row_bytes(&kv) });
        }
        self.staged.insert(kv.key.clone(), entry);
        self.rows.push(Row { id, prev: prev.as_ref().map_or(RowId(0), |p| p.row), kv: kv.clone() });
        self.events.push(Event { kv, prev: prev.map(|p| p.kv) });
        Ok(())
    }
}
