//! The single writer: takes queued requests, commits them in groups, then publishes and answers.
//!
//! Flow: wait for a request (or the next deadline) → take what else is queued → evaluate against
//! the head → one SQLite transaction, one sync → apply to the head, which publishes → answer.
//!
//! Guarantees: answers and events come after the sync, for durable writes. Relaxed writes are
//! visible at once and reach the disk with the next durable commit, after [`RELAXED_DELAY`], or
//! when [`RELAXED_REVISIONS`] wait; of several to one key only the newest is written, so that a read
//! in the past, once it has left memory, may show an older one. A failed commit changes nothing, and
//! the next is tried afresh.

use std::{
    collections::VecDeque,
    mem,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender},
    },
    time::{Duration, Instant},
};

use parking_lot::RwLock;
use tokio::sync::oneshot;

use super::{
    batch::Batch,
    db::{Db, Row, RowId},
    head::{Head, Lease},
};
use crate::{Durability, Error, KeyRange, Op, Txn, TxnResponse};

/// How long relaxed writes may wait for a durable one.
const RELAXED_DELAY: Duration = Duration::from_secs(60);
/// Relaxed revisions that may wait; less than [`super::REVISION_GAP`], so that none is given out twice.
const RELAXED_REVISIONS: i64 = 512;
/// Transactions in one commit.
const GROUP: usize = 512;
/// Rows deleted in one housekeeping commit.
const DOOMED_CHUNK: usize = 2000;
/// Pause after a failed housekeeping commit.
const RETRY: Duration = Duration::from_secs(10);
/// Rows written before the WAL is moved into the database.
const CHECKPOINT_ROWS: usize = 1000;

type Reply<T> = oneshot::Sender<Result<T, Error>>;

/// What the writer is asked.
pub(super) enum Request {
    Txn(Txn, Reply<TxnResponse>),
    Compact(i64, Reply<()>),
    Grant { id: i64, ttl: i64, reply: Reply<i64> },
    KeepAlive(i64, Reply<i64>),
    Revoke(i64, Reply<()>),
    Close(Reply<()>),
}

pub(super) struct Writer {
    pub db: Db,
    pub head: Arc<RwLock<Head>>,
    pub requests: Receiver<Request>,
    /// Wakes the thread that checkpoints.
    pub checkpoint: Sender<()>,
    /// Rows that a later row replaced, with that row's revision; and tombstones with their own.
    pub garbage: VecDeque<(i64, RowId)>,
    /// Compacted rows still in the database.
    pub doomed: VecDeque<RowId>,
    /// Relaxed rows not yet on disk.
    pub unsynced: Vec<Row>,
    pub flush_at: Option<Instant>,
    /// Revisions given out since the last commit.
    pub relaxed_revisions: i64,
    pub housekeeping_at: Instant,
    pub since_checkpoint: usize,
}

impl Writer {
    /// Serves requests until the store is closed.
    pub fn run(mut self) {
        loop {
            let first = match self.next_deadline() {
                None => self.requests.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(at) => self.requests.recv_timeout(at.saturating_duration_since(Instant::now())),
            };
            match first {
                Ok(Request::Close(reply)) => {
                    let _ = reply.send(self.close());
                    return;
                }
                Ok(request) => self.serve(request),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    if let Err(error) = self.close() {
                        tracing::error!(%error, "closing the store");
                    }
                    return;
                }
            }
            self.due();
        }
    }

    /// When something must happen though nobody asks; none on an idle store without leases.
    fn next_deadline(&self) -> Option<Instant> {
        let lease = self.head.read().leases.values().map(|l| l.deadline).min();
        let housekeeping = (!self.doomed.is_empty()).then_some(self.housekeeping_at);
        [lease, self.flush_at, housekeeping].into_iter().flatten().min()
    }

    /// Does what is due: expired leases, waiting relaxed rows, one chunk of housekeeping.
    fn due(&mut self) {
        let now = Instant::now();
        let expired: Vec<i64> =
            self.head.read().leases.iter().filter(|(_, l)| l.deadline <= now).map(|(id, _)| *id).collect();
        for id in expired {
            if let Err(error) = self.revoke(id) {
                tracing::warn!(%error, lease = id, "ending an expired lease, to be tried again");
                if let Some(lease) = self.head.write().leases.get_mut(&id) {
                    lease.deadline = now + RETRY;
                }
            }
        }
        let flush = self.flush_at.is_some_and(|at| at <= now);
        let housekeeping = !self.doomed.is_empty() && self.housekeeping_at <= now;
        if flush || housekeeping {
            self.housekeep(now);
        }
    }

    fn housekeep(&mut self, now: Instant) {
        let chunk: Vec<RowId> = self.doomed.iter().take(DOOMED_CHUNK).copied().collect();
        match self.commit(&[], &chunk) {
            Ok(()) => {
                self.doomed.drain(..chunk.len());
                if !chunk.is_empty() && self.doomed.is_empty() {
                    // Freed pages are reused first; only what compaction leaves over is given back.
                    if let Err(error) = self.db.vacuum(256) {
                        tracing::warn!(%error, "giving free pages back");
                    }
                }
            }
            Err(error) => {
                tracing::warn!(%error, "store housekeeping failed, to be tried again");
                self.housekeeping_at = now + RETRY;
                self.flush_at = self.flush_at.map(|_| now + RETRY);
            }
        }
    }

    fn serve(&mut self, first: Request) {
        let mut txns = Vec::new();
        let mut next = Some(first);
        while let Some(request) = next {
            if let Request::Txn(txn, reply) = request {
                txns.push((txn, reply));
                next = if txns.len() < GROUP { self.requests.try_recv().ok() } else { None };
            } else {
                self.group(mem::take(&mut txns));
                self.other(request);
                next = None;
            }
        }
        self.group(txns);
    }

    fn other(&mut self, request: Request) {
        // A caller that went away does not mind that the answer is lost.
        match request {
            Request::Txn(txn, reply) => self.group(vec![(txn, reply)]),
            Request::Compact(revision, reply) => drop(reply.send(self.compact(revision))),
            Request::Grant { id, ttl, reply } => drop(reply.send(self.grant(id, ttl))),
            Request::KeepAlive(id, reply) => drop(reply.send(self.keep_alive(id))),
            Request::Revoke(id, reply) => drop(reply.send(self.revoke(id))),
            Request::Close(reply) => drop(reply.send(self.close())),
        }
    }

    /// Commits queued transactions together.
    fn group(&mut self, txns: Vec<(Txn, Reply<TxnResponse>)>) {
        if txns.is_empty() {
            return;
        }
        let head = self.head.clone();
        let head_read = head.read();
        let mut batch = Batch::new(&head_read);
        let mut durable = false;
        let mut answers = Vec::with_capacity(txns.len());
        for (txn, reply) in txns {
            let asked = txn.durability;
            let before = batch.rows.len();
            let answer = batch.evaluate(txn);
            durable |= asked == Durability::Durable && batch.rows.len() > before;
            answers.push((reply, answer));
        }
        let Batch { rows, revisions, .. } = batch;
        drop(head_read);
        let committed = if durable { self.commit(&rows, &[]) } else { Ok(()) };
        if let Err(error) = committed {
            for (reply, _) in answers {
                let _ = reply.send(Err(error.clone()));
            }
            return;
        }
        for row in &rows {
            self.note_garbage(row);
        }
        if !durable && !rows.is_empty() {
            for row in rows {
                self.wait_for_durable(row);
            }
            let at = self.flush_at.get_or_insert_with(|| Instant::now() + RELAXED_DELAY);
            let before = self.relaxed_revisions;
            self.relaxed_revisions += i64::try_from(revisions.len()).unwrap_or(i64::MAX);
            if before < RELAXED_REVISIONS && self.relaxed_revisions >= RELAXED_REVISIONS {
                *at = Instant::now();
            }
        }
        let mut head = self.head.write();
        for (revision, entries) in revisions {
            head.apply(revision, entries);
        }
        drop(head);
        for (reply, answer) in answers {
            let _ = reply.send(answer);
        }
    }

    /// Writes the waiting relaxed rows, then `rows`, and deletes `doomed`, with one sync.
    fn commit(&mut self, rows: &[Row], doomed: &[RowId]) -> Result<(), Error> {
        let waiting = mem::take(&mut self.unsynced);
        let all: &[Row] = if waiting.is_empty() { rows } else { &[&waiting[..], rows].concat() };
        if let Err(error) = self.db.commit(all, doomed, &[]) {
            self.unsynced = waiting;
            return Err(error);
        }
        self.flush_at = None;
        self.relaxed_revisions = 0;
        self.since_checkpoint += all.len() + doomed.len();
        if self.since_checkpoint >= CHECKPOINT_ROWS {
            self.since_checkpoint = 0;
            // The thread ends after the writer; a lost wake-up only delays the checkpoint.
            let _ = self.checkpoint.send(());
        }
        Ok(())
    }

    /// Keeps a relaxed row until the next durable commit. Of several to one key only the newest is
    /// ever written: a Lease that is renewed six times a minute costs one row.
    fn wait_for_durable(&mut self, mut row: Row) {
        if let Some(at) = self.unsynced.iter().position(|waiting| waiting.kv.key == row.kv.key) {
            row.prev = self.unsynced.remove(at).prev;
        }
        self.unsynced.push(row);
    }

    fn note_garbage(&mut self, row: &Row) {
        if row.prev != RowId(0) {
            self.garbage.push_back((row.kv.mod_revision, row.prev));
        }
        if row.kv.version == 0 {
            self.garbage.push_back((row.kv.mod_revision, row.id));
        }
    }

    fn compact(&mut self, revision: i64) -> Result<(), Error> {
        let head = self.head.read();
        if revision > head.revision {
            return Err(Error::Future { head: head.revision });
        }
        if revision <= head.compacted {
            return Err(Error::Compacted { compacted: head.compacted });
        }
        drop(head);
        let waiting = mem::take(&mut self.unsynced);
        if let Err(error) = self.db.commit(&waiting, &[], &[("compacted", revision)]) {
            self.unsynced = waiting;
            return Err(error);
        }
        self.flush_at = None;
        self.relaxed_revisions = 0;
        self.head.write().compacted = revision;
        while let Some((_, row)) = self.garbage.pop_front_if(|(at, _)| *at <= revision) {
            self.doomed.push_back(row);
        }
        self.housekeeping_at = Instant::now();
        Ok(())
    }

    fn grant(&mut self, id: i64, ttl: i64) -> Result<i64, Error> {
        let mut head = self.head.write();
        if head.leases.contains_key(&id) {
            return Err(Error::LeaseExists(id));
        }
        let id = if id == 0 { head.leases.keys().max().map_or(1, |last| last + 1) } else { id };
        self.db.set_lease(id, Some(ttl))?;
        head.leases.insert(id, Lease { ttl, deadline: deadline(ttl), keys: Default::default() });
        Ok(id)
    }

    fn keep_alive(&mut self, id: i64) -> Result<i64, Error> {
        let mut head = self.head.write();
        let lease = head.leases.get_mut(&id).ok_or(Error::LeaseNotFound(id))?;
        lease.deadline = deadline(lease.ttl);
        Ok(lease.ttl)
    }

    fn revoke(&mut self, id: i64) -> Result<(), Error> {
        let keys = match self.head.read().leases.get(&id) {
            None => return Err(Error::LeaseNotFound(id)),
            Some(lease) => lease.keys.clone(),
        };
        if !keys.is_empty() {
            let then = keys.into_iter().map(|key| Op::Delete(KeyRange::key(key))).collect();
            let (reply, mut answer) = oneshot::channel();
            self.group(vec![(Txn { then, ..Txn::default() }, reply)]);
            answer.try_recv().map_err(|_| Error::Closed)??;
        }
        self.db.set_lease(id, None)?;
        self.head.write().leases.remove(&id);
        Ok(())
    }

    /// Writes what waits and marks the end as orderly.
    fn close(&mut self) -> Result<(), Error> {
        let waiting = mem::take(&mut self.unsynced);
        let revision = self.head.read().revision;
        self.head.write().close();
        self.db.commit(&waiting, &[], &[("floor", revision), ("clean", 1)])?;
        self.db.checkpoint()
    }
}

/// When a lease granted now ends.
pub(super) fn deadline(ttl: i64) -> Instant {
    Instant::now() + Duration::from_secs(ttl.clamp(1, 1 << 31).unsigned_abs())
}
