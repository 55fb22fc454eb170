//! The embedded store: SQLite for durability, memory for reads.
//!
//! [`db`] is the file, [`head`] what is in memory, [`batch`] the evaluation of transactions, and
//! [`writer`] the one thread that commits. See [`writer`] for the commit path.

mod batch;
mod db;
mod head;
mod pending;
#[cfg(test)]
mod tests;
mod writer;

use std::{
    collections::{BTreeMap, VecDeque},
    fs::{File, TryLockError},
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    thread,
    time::Instant,
};

use bytes::Bytes;
use parking_lot::{Mutex, RwLock};
use tokio::sync::oneshot;

pub use self::pending::Status;
use self::{
    db::{Db, Row, RowId},
    head::{Entry, Head, Lease},
    writer::{Request, Writer},
};
use crate::{
    Error, Event, FIRST_REVISION, KeyRange, KeyValue, LeaseStatus, Range, RangeResponse, Store, Txn, TxnResponse, Watch,
};

/// Revisions skipped after an end without [`SqliteStore::close`]: relaxed writes that were seen
/// and lost had some of these numbers, and no number is given out twice.
const REVISION_GAP: i64 = 1024;

/// A store in one SQLite file. Dropping it closes it.
pub struct SqliteStore {
    requests: mpsc::Sender<Request>,
    head: Arc<RwLock<Head>>,
    reader: Arc<Mutex<Db>>,
    /// Held as long as the store is open.
    _lock: File,
}

impl SqliteStore {
    /// Opens the database at `path`, or makes it. The directory must exist.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let lock = lock(path)?;
        let db = Db::open(path)?;
        let loaded = Loaded::read(&db)?;
        prepare_wal(path)?;
        let reader = Arc::new(Mutex::new(Db::reopen(path)?));
        let head = Arc::new(RwLock::new(loaded.head));
        let (requests, queue) = mpsc::channel();
        let checkpoint = spawn_checkpointer(path.to_owned())?;
        let writer = Writer {
            db,
            head: head.clone(),
            requests: queue,
            checkpoint,
            garbage: loaded.garbage,
            doomed: loaded.doomed,
            unsynced: Vec::new(),
            flush_at: None,
            relaxed_revisions: 0,
            housekeeping_at: Instant::now(),
            since_checkpoint: 0,
        };
        spawn(path, "store-writer", move || writer.run())?;
        Ok(SqliteStore { requests, head, reader, _lock: lock })
    }

    async fn ask<T>(&self, request: impl FnOnce(oneshot::Sender<Result<T, Error>>) -> Request) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        self.requests.send(request(reply)).map_err(|_| Error::Closed)?;
        answer.await.map_err(|_| Error::Closed)?
    }

    /// Reads the past, by undoing what came after from the current state.
    fn range_at(head: &RwLock<Head>, reader: &Mutex<Db>, range: &Range) -> Result<RangeResponse, Error> {
        let (mut keys, revision, ring_start) = {
            let head = head.read();
            head.check_revision(range.revision)?;
            let mut keys: BTreeMap<Bytes, KeyValue> =
                head.select(&range.keys).map(|e| (e.kv.key.clone(), e.kv.clone())).collect();
            let later = head.recent(range.revision + 1).rev().flat_map(|r| r.events.iter().rev());
            for event in later.filter(|e| range.keys.contains(&e.kv.key)) {
                undo(&mut keys, &event.kv.key, event.prev.clone());
            }
            (keys, head.revision, head.ring_start())
        };
        if range.revision + 1 < ring_start {
            let db = reader.lock();
            let mut rows = Vec::new();
            db.each_row(RowId::start_of(range.revision + 1), RowId::start_of(ring_start), |row| {
                if range.keys.contains(&row.kv.key) {
                    rows.push((row.kv.key, row.prev));
                }
            })?;
            for (key, prev) in rows.into_iter().rev() {
                undo(&mut keys, &key, live(db.row(prev)?));
            }
        }
        Ok(head::answer(revision, range, keys.values()))
    }

    /// Registers a watch, with the past it asks for.
    fn watch_from(head: &RwLock<Head>, reader: &Mutex<Db>, keys: KeyRange, from: i64) -> Result<Watch, Error> {
        let mut past = Vec::new();
        let mut next = from;
        loop {
            let ring_start = head.read().ring_start();
            if from > 0 && next < ring_start {
                read_events(&reader.lock(), &keys, next, ring_start, &mut past)?;
                next = ring_start;
            }
            let mut head = head.write();
            if from > 0 && from < head.compacted {
                return Err(Error::Compacted { compacted: head.compacted });
            }
            if from > 0 && next < head.ring_start() {
                continue;
            }
            if from > 0 {
                let recent = head.recent(next).flat_map(|r| r.events.iter());
                past.extend(recent.filter(|e| keys.contains(&e.kv.key)).cloned());
            }
            return Ok(head.watch(keys, from, past));
        }
    }
}

/// Events of old revisions, from the database.
fn read_events(db: &Db, keys: &KeyRange, from: i64, until: i64, events: &mut Vec<Event>) -> Result<(), Error> {
    let mut rows = Vec::new();
    db.each_row(RowId::start_of(from), RowId::start_of(until), |row| {
        if keys.contains(&row.kv.key) {
            rows.push(row);
        }
    })?;
    for Row { kv, prev, .. } in rows {
        events.push(Event { kv, prev: live(db.row(prev)?) });
    }
    Ok(())
}

fn live(row: Option<Row>) -> Option<KeyValue> {
    row.map(|r| r.kv).filter(|kv| kv.version > 0)
}

fn undo(keys: &mut BTreeMap<Bytes, KeyValue>, key: &Bytes, prev: Option<KeyValue>) {
    match prev {
        Some(prev) => keys.insert(key.clone(), prev),
        None => keys.remove(key),
    };
}

/// What is read at the start.
struct Loaded {
    head: Head,
    garbage: VecDeque<(i64, RowId)>,
    doomed: VecDeque<RowId>,
}

impl Loaded {
    fn read(db: &Db) -> Result<Self, Error> {
        let mut head = Head::default();
        head.compacted = db.number("compacted")?;
        for (id, ttl) in db.leases()? {
            head.leases.insert(id, Lease { ttl, deadline: writer::deadline(ttl), keys: Default::default() });
        }
        let (mut garbage, mut doomed) = (VecDeque::new(), VecDeque::new());
        let mut last = 0;
        db.each_row(RowId(0), RowId(i64::MAX), |Row { id, prev, kv }| {
            last = id.revision();
            let mut old =
                |row| if last <= head.compacted { doomed.push_back(row) } else { garbage.push_back((last, row)) };
            if let Some(replaced) = head.keys.get(&kv.key) {
                debug_assert_eq!(replaced.row, prev);
                old(replaced.row);
            }
            let entry = (kv.version > 0).then(|| Entry { kv: kv.clone(), row: id });
            if entry.is_none() {
                old(id);
            }
            head.rebind(&kv.key, entry.as_ref());
            match entry {
                Some(entry) => head.keys.insert(kv.key, entry),
                None => head.keys.remove(&kv.key),
            };
        })?;
        head.revision = last.max(db.number("floor")?).max(head.compacted).max(FIRST_REVISION);
        if db.number("clean")? == 0 && last > 0 {
            head.revision += REVISION_GAP;
        }
        db.commit(&[], &[], &[("floor", head.revision), ("clean", 0)])?;
        Ok(Loaded { head, garbage, doomed })
    }
}

/// One process at a time: a lock file beside the database.
fn lock(path: &Path) -> Result<File, Error> {
    let name = path.with_extension("lock");
    let backend =
        |e: &dyn std::fmt::Display| Error::Backend { path: name.display().to_string(), message: e.to_string() };
    let file = File::create(&name).map_err(|e| backend(&e))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::InUse { path: path.display().to_string() }),
        Err(TryLockError::Error(e)) => Err(backend(&e)),
    }
}

/// Bytes that the write-ahead log has from the start.
const WAL_SIZE: u64 = 4 << 20;

/// Fills the write-ahead log up with zeros. A sync that must also record a new length takes several
/// times as long as one that overwrites, and SQLite overwrites what it does not recognise: frames
/// count only with the right salt and checksum (<https://www.sqlite.org/fileformat2.html#walformat>).
fn prepare_wal(path: &Path) -> Result<(), Error> {
    let name = PathBuf::from(format!("{}-wal", path.display()));
    let filled = || -> io::Result<()> {
        let mut file = File::options().append(true).open(&name)?;
        let missing = WAL_SIZE.saturating_sub(file.metadata()?.len());
        if missing > 0 {
            io::copy(&mut io::repeat(0).take(missing), &mut file)?;
            file.sync_all()?;
        }
        Ok(())
    };
    match filled() {
        Err(error) if error.kind() == io::ErrorKind::StorageFull => Ok(()),
        other => {
            other.map_err(|e: io::Error| Error::Backend { path: name.display().to_string(), message: e.to_string() })
        }
    }
}

fn spawn(path: &Path, name: &str, run: impl FnOnce() + Send + 'static) -> Result<(), Error> {
    let spawned = thread::Builder::new().name(name.to_owned()).spawn(run);
    spawned.map(drop).map_err(|e| Error::Backend { path: path.display().to_string(), message: e.to_string() })
}

/// Checkpoints are slow on flash, and run beside the writer.
fn spawn_checkpointer(path: PathBuf) -> Result<mpsc::Sender<()>, Error> {
    let (wake, woken) = mpsc::channel();
    let db = Db::reopen(&path)?;
    spawn(&path, "store-checkpoint", move || {
        while woken.recv().is_ok() {
            while woken.try_recv().is_ok() {}
            if let Err(error) = db.checkpoint() {
                tracing::warn!(%error, path = %db.path().display(), "checkpoint failed, to be tried again");
            }
        }
    })?;
    Ok(wake)
}

#[async_trait::async_trait]
impl Store for SqliteStore {
    async fn txn(&self, txn: Txn) -> Result<TxnResponse, Error> {
        self.ask(|reply| Request::Txn(txn, reply)).await
    }

    async fn range(&self, range: Range) -> Result<RangeResponse, Error> {
        if range.keys.is_empty_key() {
            return Err(Error::EmptyKey);
        }
        {
            let head = self.head.read();
            if range.revision == 0 || range.revision == head.revision {
                return Ok(head.range(&range));
            }
        }
        let (head, reader) = (self.head.clone(), self.reader.clone());
        blocking(move || Self::range_at(&head, &reader, &range)).await
    }

    async fn watch(&self, keys: KeyRange, from: i64) -> Result<Watch, Error> {
        let (head, reader) = (self.head.clone(), self.reader.clone());
        if from == 0 {
            return Self::watch_from(&head, &reader, keys, from);
        }
        blocking(move || Self::watch_from(&head, &reader, keys, from)).await
    }

    async fn progress(&self) -> Result<(), Error> {
        self.head.write().progress();
        Ok(())
    }

    async fn revision(&self) -> Result<i64, Error> {
        Ok(self.head.read().revision)
    }

    fn compacted(&self) -> i64 {
        self.head.read().compacted
    }

    async fn compact(&self, revision: i64) -> Result<(), Error> {
        self.ask(|reply| Request::Compact(revision, reply)).await
    }

    async fn lease_grant(&self, id: i64, ttl: i64) -> Result<i64, Error> {
        self.ask(|reply| Request::Grant { id, ttl, reply }).await
    }

    async fn lease_keep_alive(&self, id: i64) -> Result<i64, Error> {
        self.ask(|reply| Request::KeepAlive(id, reply)).await
    }

    async fn lease_revoke(&self, id: i64) -> Result<(), Error> {
        self.ask(|reply| Request::Revoke(id, reply)).await
    }

    async fn lease_time_to_live(&self, id: i64) -> Result<LeaseStatus, Error> {
        let head = self.head.read();
        let lease = head.leases.get(&id).ok_or(Error::LeaseNotFound(id))?;
        let left = lease.deadline.saturating_duration_since(Instant::now()).as_secs();
        Ok(LeaseStatus {
            id,
            granted: lease.ttl,
            remaining: i64::try_from(left).unwrap_or(i64::MAX),
            keys: lease.keys.iter().cloned().collect(),
        })
    }

    async fn leases(&self) -> Result<Vec<i64>, Error> {
        let mut ids: Vec<i64> = self.head.read().leases.keys().copied().collect();
        ids.sort_unstable();
        Ok(ids)
    }

    async fn close(&self) -> Result<(), Error> {
        self.ask(Request::Close).await
    }
}

async fn blocking<T: Send + 'static>(f: impl FnOnce() -> Result<T, Error> + Send + 'static) -> Result<T, Error> {
    tokio::task::spawn_blocking(f).await.map_err(|_| Error::Closed)?
}
