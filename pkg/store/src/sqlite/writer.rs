//! The single writer: takes queued requests, commits them in groups, then publishes and answers.
//!
//! Flow: wait for a request (or the next deadline) → take what else is queued → evaluate against
//! the head → one SQLite transaction, one sync → apply to the head, which publishes → answer.
//!
//! Guarantees: answers and events come after the sync, for durable writes. Relaxed writes are
//! visible at once and reach the disk with the next durable commit, after [`RELAXED_DELAY`], or
//! when [`RELAXED_REVISIONS`] wait; of several to one key only the newest is written, so that a read
//! in the past, once it has left memory, may show an older one. A failed commit changes nothing, and
//! the next is tried afresh. Compacted rows leave the disk with later commits, or by and by on an
//! idle store; a failure there is tried again.

use std::{
    collections::VecDeque,
    mem,
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

use parking_lot::{Mutex, RwLock};
use tokio::sync::oneshot;

use super::{
    batch::Batch,
    checkpoint::Checkpoints,
    db::{Changes, Db, Row, RowId, row_bytes},
    head::{Head, Lease},
    retention::{History, Retention},
};
use crate::{Durability, Error, Txn, TxnResponse};

/// How long relaxed writes may wait for a durable one.
const RELAXED_DELAY: Duration = Duration::from_secs(90);
/// Relaxed revisions that may wait; less than [`super::open::REVISION_GAP`], so that none is given out twice.
const RELAXED_REVISIONS: usize = 512;
/// Bytes of relaxed rows that may wait; far less than the head keeps in memory of the past.
const RELAXED_BYTES: u64 = 1 << 20;
/// Requests in one commit.
const GROUP: usize = 512;
/// Rows deleted in one housekeeping commit, and what makes one worth its sync.
const DOOMED_CHUNK: usize = 256;
/// Compacted rows that a commit deletes for each that it adds.
const DOOMED_PER_ROW: usize = 2;
/// Pause of requests after which housekeeping goes on.
const QUIET: Duration = Duration::from_millis(20);
/// Pause after a failed commit of our own.
const RETRY: Duration = Duration::from_secs(10);
/// Free pages that are given back in one step.
const VACUUM_PAGES: u64 = 256;

/// What the writer and the callers of the store share.
#[derive(Default)]
pub(super) struct Shared {
    pub head: RwLock<Head>,
    /// Why the last commit failed.
    pub failing: Mutex<Option<Error>>,
    /// Commits since the start; each is a sync of the disk.
    pub commits: AtomicU64,
}

pub(super) type Reply<T> = oneshot::Sender<Result<T, Error>>;

/// What is committed in groups.
pub(super) enum Write {
    Txn(Txn, Reply<TxnResponse>),
    Grant {
        id: i64,
        ttl: i64,
        reply: Reply<i64>,
    },
    /// Nobody waits for the end of a lease whose time is over.
    Revoke(i64, Option<Reply<()>>),
}

impl Write {
    fn is_abandoned(&self) -> bool {
        match self {
            Write::Txn(_, reply) => reply.is_closed(),
            Write::Grant { reply, .. } => reply.is_closed(),
            Write::Revoke(_, reply) => reply.as_ref().is_some_and(oneshot::Sender::is_closed),
        }
    }
}

/// What the writer is asked.
pub(super) enum Request {
    Write(Write),
    Compact(i64, Reply<()>),
    Flush(Reply<()>),
    Reclaim(Reply<()>),
    Close(Reply<()>),
}

/// Answers a request, once it is known whether its commit succeeded.
type Finish = Box<dyn FnOnce(Result<(), Error>)>;

pub(super) struct Writer {
    db: Db,
    checkpoints: Checkpoints,
    shared: Arc<Shared>,
    requests: Receiver<Request>,
    retention: Retention,
    history: History,
    /// Compacted rows still in the database.
    doomed: VecDeque<RowId>,
    /// Acknowledged, and not yet on disk.
    waiting: Changes,
    waiting_bytes: u64,
    /// Revisions given out since the last commit.
    waiting_revisions: usize,
    flush_at: Option<Instant>,
    housekeeping_at: Option<Instant>,
    /// No lease ends before.
    leases_at: Option<Instant>,
    reclaims: Vec<Reply<()>>,
}

impl Writer {
    pub fn new(
        db: Db,
        checkpoints: Checkpoints,
        shared: Arc<Shared>,
        history: History,
        doomed: VecDeque<RowId>,
        retention: Retention,
        requests: Receiver<Request>,
    ) -> Self {
        let housekeeping_at = (!doomed.is_empty()).then(Instant::now);
        let leases_at = shared.head.read().first_deadline();
        Writer {
            db,
            checkpoints,
            shared,
            requests,
            retention,
            history,
            doomed,
            waiting: Changes::default(),
            waiting_bytes: 0,
            waiting_revisions: 0,
            flush_at: None,
            housekeeping_at,
            leases_at,
            reclaims: Vec::new(),
        }
    }

    /// Serves requests until the store is closed.
    pub fn run(mut self) {
        loop {
            let deadline =
                [self.leases_at, self.flush_at, self.housekeeping_at, self.history.deadline()].into_iter().flatten();
            let first = match deadline.min() {
                None => self.requests.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(at) => self.requests.recv_timeout(at.saturating_duration_since(Instant::now())),
            };
            match first {
                Ok(request) => {
                    if self.serve(request).is_break() {
                        return;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    if let Err(error) = self.close() {
                        tracing::error!(%error, "closing the store");
                    }
                    return;
                }
            }
            self.due(Instant::now());
        }
    }

    /// Takes what else is queued, and commits it together. Breaks after the end of the store.
    fn serve(&mut self, first: Request) -> ControlFlow<()> {
        let mut writes = Vec::new();
        let mut next = Some(first);
        while let Some(request) = next {
            match request {
                Request::Write(write) => writes.push(write),
                other => {
                    self.group(writes);
                    return self.other(other);
                }
            }
            next = if writes.len() < GROUP { self.requests.try_recv().ok() } else { None };
        }
        self.group(writes);
        ControlFlow::Continue(())
    }

    fn other(&mut self, request: Request) -> ControlFlow<()> {
        // A caller that went away does not mind that the answer is lost.
        match request {
            Request::Write(write) => self.group(vec![write]),
            Request::Compact(revision, reply) => drop(reply.send(self.compact_durably(revision))),
            Request::Flush(reply) => drop(reply.send(self.commit(&Changes::default()))),
            Request::Close(reply) => {
                let _ = reply.send(self.close());
                return ControlFlow::Break(());
            }
            Request::Reclaim(reply) => {
                self.reclaims.push(reply);
                self.housekeeping_at = Some(Instant::now());
            }
        }
        ControlFlow::Continue(())
    }

    /// Commits queued writes together.
    fn group(&mut self, writes: Vec<Write>) {
        if writes.is_empty() {
            return;
        }
        let shared = self.shared.clone();
        let head = shared.head.read();
        let mut batch = Batch::new(&head);
        let mut durable = false;
        let mut answers: Vec<Finish> = Vec::with_capacity(writes.len());
        // What nobody waits for any more, after a stall perhaps, is not done.
        for write in writes.into_iter().filter(|write| !write.is_abandoned()) {
            answers.push(evaluate(&mut batch, write, &mut durable));
        }
        let Batch { changes, revisions, replaced, leases, .. } = batch;
        drop(head);
        let waits = !durable && self.may_wait(&changes, revisions.len());
        let committed = if waits { Ok(()) } else { self.commit(&changes) };
        if committed.is_ok() {
            let now = Instant::now();
            for replaced in replaced {
                self.history.push(replaced);
            }
            if waits {
                self.wait(changes, revisions.len());
            }
            let mut head = shared.head.write();
            for (id, ttl) in &leases {
                if let Some(ttl) = *ttl {
                    let lease = Lease::new(ttl, now);
                    self.leases_at = Some(self.leases_at.map_or(lease.deadline, |at| at.min(lease.deadline)));
                    head.leases.insert(*id, lease);
                }
            }
            for (revision, entries) in revisions {
                self.history.wrote(&self.retention, now, revision.revision);
                head.apply(revision, entries);
            }
            for (id, _) in leases.iter().filter(|(_, ttl)| ttl.is_none()) {
                head.leases.remove(id);
            }
        }
        for finish in answers {
            finish(committed.clone());
        }
    }

    /// Whether relaxed changes may stay in memory for now.
    fn may_wait(&self, changes: &Changes, revisions: usize) -> bool {
        let bytes: u64 = changes.rows.iter().map(|row| row_bytes(&row.kv)).sum();
        self.waiting_revisions + revisions <= RELAXED_REVISIONS && self.waiting_bytes + bytes <= RELAXED_BYTES
    }

    /// Keeps relaxed rows until the next commit. Of several to one key only the newest is ever
    /// written: a Lease that is renewed six times a minute costs one row.
    fn wait(&mut self, changes: Changes, revisions: usize) {
        if changes.rows.is_empty() {
            return;
        }
        let compacted = self.shared.head.read().compacted;
        for mut row in changes.rows {
            // Of one life of the key; and what a compaction has left is what it must show.
            let same = |waiting: &Row| {
                waiting.kv.key == row.kv.key
                    && (1..row.kv.version).contains(&waiting.kv.version)
                    && waiting.kv.mod_revision > compacted
            };
            if let Some(at) = self.waiting.rows.iter().rposition(same) {
                let dropped = self.waiting.rows.remove(at);
                self.waiting_bytes -= row_bytes(&dropped.kv);
                self.history.inherit(dropped.id, dropped.prev, row.kv.mod_revision);
                row.prev = dropped.prev;
            }
            self.waiting_bytes += row_bytes(&row.kv);
            self.waiting.rows.push(row);
        }
        self.waiting_revisions += revisions;
        self.flush_at.get_or_insert_with(|| Instant::now() + RELAXED_DELAY);
    }

    /// Writes what waits, then `changes`, and deletes some compacted rows, with one sync.
    fn commit(&mut self, changes: &Changes) -> Result<(), Error> {
        let riding = self.doomed(changes.rows.len() * DOOMED_PER_ROW);
        self.write(&[&self.waiting, changes, &riding])?;
        self.deleted(riding.doomed.len());
        if !self.doomed.is_empty() && self.reclaims.is_empty() {
            self.housekeeping_at = Some(Instant::now() + QUIET);
        }
        Ok(())
    }

    /// Up to `count` compacted rows, to be deleted.
    fn doomed(&self, count: usize) -> Changes {
        Changes { doomed: self.doomed.iter().take(count).copied().collect(), ..Changes::default() }
    }

    fn write(&self, changes: &[&Changes]) -> Result<(), Error> {
        let written = self.checkpoints.writing(|| self.db.commit(changes));
        self.shared.commits.fetch_add(1, Ordering::Relaxed);
        let before = mem::replace(&mut *self.shared.failing.lock(), written.clone().err());
        match (&before, &written) {
            (None, Err(error)) => tracing::warn!(%error, "the store cannot write; it goes on trying"),
            (Some(_), Ok(())) => tracing::info!("the store can write again"),
            _ => {}
        }
        written
    }

    /// After a commit: nothing waits, and the first `count` compacted rows are gone.
    fn deleted(&mut self, count: usize) {
        self.doomed.drain(..count);
        self.waiting = Changes::default();
        self.waiting_bytes = 0;
        self.waiting_revisions = 0;
        self.flush_at = None;
    }

    /// Does what is due: expired leases, automatic compaction, waiting rows, one step of housekeeping.
    fn due(&mut self, now: Instant) {
        if self.leases_at.is_some_and(|at| at <= now) {
            self.expire(now);
        }
        let (live, head) = {
            let head = self.shared.head.read();
            (head.live_bytes, head.revision)
        };
        if let Some(revision) = self.history.decide(&self.retention, now, live) {
            self.compact(revision.min(head), now);
        }
        if [self.flush_at, self.housekeeping_at].iter().flatten().any(|at| *at <= now) {
            self.housekeep(now);
        }
    }

    /// Ends the leases whose time is over.
    fn expire(&mut self, now: Instant) {
        let expired = self.shared.head.write().expire(now);
        self.group(expired.iter().map(|id| Write::Revoke(*id, None)).collect());
        let mut head = self.shared.head.write();
        for id in expired {
            // Still there: the commit has failed, which was logged.
            if let Some(lease) = head.leases.get_mut(&id) {
                (lease.ending, lease.deadline) = (false, now + RETRY);
            }
        }
        self.leases_at = head.first_deadline();
    }

    fn housekeep(&mut self, now: Instant) {
        match self.housekeeping_step() {
            // After the requests that wait.
            Ok(true) => self.housekeeping_at = Some(now),
            Ok(false) => {
                self.housekeeping_at = None;
                for reply in self.reclaims.drain(..) {
                    let _ = reply.send(Ok(()));
                }
            }
            Err(error) => {
                self.housekeeping_at = Some(now + RETRY);
                self.flush_at = self.flush_at.map(|_| now + RETRY);
                for reply in self.reclaims.drain(..) {
                    let _ = reply.send(Err(error.clone()));
                }
            }
        }
    }

    /// Writes what waits and deletes some compacted rows; then gives free pages back, where they are
    /// more than will be used again soon. Answers whether there may be more to do.
    fn housekeeping_step(&mut self) -> Result<bool, Error> {
        if !self.doomed.is_empty() || self.flush_at.is_some() {
            let doomed = self.doomed(DOOMED_CHUNK);
            self.write(&[&self.waiting, &doomed])?;
            self.deleted(doomed.doomed.len());
            return Ok(true);
        }
        let pages = self.db.pages()?;
        let spare = if self.reclaims.is_empty() { VACUUM_PAGES.max(pages.all / 4) } else { 0 };
        if pages.free > spare {
            self.checkpoints.writing(|| self.db.vacuum(VACUUM_PAGES.min(pages.free - spare)))?;
            return Ok(true);
        }
        if !self.reclaims.is_empty() {
            self.checkpoints.writing(|| self.db.checkpoint())?;
        }
        Ok(false)
    }

    /// Compacts on request. In memory it is done even if the disk fails, and is written later.
    fn compact_durably(&mut self, revision: i64) -> Result<(), Error> {
        let (head, compacted) = {
            let head = self.shared.head.read();
            (head.revision, head.compacted)
        };
        if revision > head {
            return Err(Error::Future { head });
        }
        if revision <= compacted {
            return Err(Error::Compacted { compacted });
        }
        self.compact(revision, Instant::now());
        self.commit(&Changes::default())
    }

    /// Compacts; the mark and the deletions reach the disk with later commits.
    fn compact(&mut self, revision: i64, now: Instant) {
        self.doomed.extend(self.history.take(revision));
        let mut head = self.shared.head.write();
        if revision <= head.compacted {
            return;
        }
        head.compacted = revision;
        self.waiting.numbers = vec![("compacted", revision)];
        if self.doomed.len() > DOOMED_CHUNK {
            self.housekeeping_at.get_or_insert(now);
        } else {
            self.flush_at.get_or_insert(now + RELAXED_DELAY);
        }
    }

    /// Writes what waits and marks the end as orderly.
    fn close(&mut self) -> Result<(), Error> {
        let revision = {
            let mut head = self.shared.head.write();
            head.close();
            head.revision
        };
        let numbers = vec![("floor", revision), ("clean", 1)];
        self.write(&[&self.waiting, &Changes { numbers, ..Changes::default() }])?;
        self.checkpoints.writing(|| self.db.checkpoint())
    }
}

/// Evaluates a write; notes in `durable` if it must be on disk before its answer.
fn evaluate(batch: &mut Batch<'_>, write: Write, durable: &mut bool) -> Finish {
    match write {
        Write::Txn(txn, reply) => {
            let asked = txn.durability == Durability::Durable;
            let before = batch.revisions.len();
            let answer = batch.evaluate(txn);
            *durable |= asked && batch.revisions.len() > before;
            finish(reply, answer)
        }
        Write::Grant { id, ttl, reply } => {
            *durable = true;
            finish(reply, batch.grant(id, ttl))
        }
        Write::Revoke(id, reply) => {
            *durable = true;
            let ended = batch.revoke(id);
            reply.map_or_else(|| Box::new(drop) as Finish, |reply| finish(reply, ended))
        }
    }
}

fn finish<T: 'static>(reply: Reply<T>, answer: Result<T, Error>) -> Finish {
    // A caller that went away does not mind that the answer is lost.
    Box::new(move |committed| drop(reply.send(committed.and(answer))))
}
