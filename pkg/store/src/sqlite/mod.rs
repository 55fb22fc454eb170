//! The embedded store: SQLite for durability, memory for reads.
//!
//! [`db`] is the file and [`open`] its beginning, [`head`] what is in memory, [`history`] reads of
//! the past, [`batch`] the evaluation of transactions, and [`writer`] the one thread that commits:
//! the commit path is told there. [`checkpoint`] and [`retention`] keep the files small.

mod batch;
mod checkpoint;
pub(crate) mod db;
mod head;
mod history;
pub(crate) mod open;
mod retention;
#[cfg(test)]
mod tests;
mod writer;

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering, mpsc},
    thread::JoinHandle,
    time::Instant,
};

use parking_lot::{Mutex, RwLockReadGuard};
use tokio::sync::oneshot;

pub use self::retention::Retention;
use self::{
    checkpoint::Checkpoints,
    db::Db,
    head::Head,
    history::Past,
    open::{Loaded, Log},
    writer::{Reply, Request, Shared, Write, Writer},
};
use crate::{Error, KeyRange, LeaseStatus, Range, RangeResponse, Store, Txn, TxnResponse, Watch};

/// A store in one SQLite file. Dropping it closes it.
pub struct SqliteStore {
    pub(crate) path: PathBuf,
    requests: mpsc::Sender<Request>,
    shared: Arc<Shared>,
    reader: Arc<Mutex<Db>>,
    writer: Option<JoinHandle<()>>,
    /// Held as long as the store is open.
    _lock: File,
}

impl Drop for SqliteStore {
    /// Waits for the writer, who writes what waits: until then the database is in use.
    fn drop(&mut self) {
        self.requests = mpsc::channel().0;
        if let Some(writer) = self.writer.take() {
            // If it has panicked, that was told.
            let _ = writer.join();
        }
    }
}

/// Sizes and health of a [`SqliteStore`].
#[derive(Clone, Debug)]
pub struct Status {
    /// Head revision.
    pub revision: i64,
    /// The last compaction.
    pub compacted: i64,
    /// Current keys.
    pub keys: usize,
    /// Bytes of the database file.
    pub file_bytes: u64,
    /// Bytes of the write-ahead log.
    pub wal_bytes: u64,
    /// Bytes of the database file that are in use.
    pub used_bytes: u64,
    /// Commits since it was opened; each is a sync of the disk.
    pub commits: u64,
    /// Why the last commit failed, if it did.
    pub failing: Option<Error>,
}

impl SqliteStore {
    /// Opens the database at `path`, or makes it. The directory must exist.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::open_with(path, Retention::default())
    }

    /// Opens a database that keeps more or less history than others.
    pub fn open_with(path: &Path, retention: Retention) -> Result<Self, Error> {
        let lock = open::lock(path)?;
        let log = Log::look(path)?;
        let mut db = Db::open(path)?;
        let Loaded { head, history, doomed } = Loaded::read(&db, log)?;
        open::prepare_wal(path)?;
        let reader = Arc::new(Mutex::new(Db::reopen(path)?));
        let shared = Arc::new(Shared { head: head.into(), ..Shared::default() });
        let (requests, queue) = mpsc::channel();
        let checkpoints = Checkpoints::start(path, &mut db)?;
        let writer = Writer::new(db, checkpoints, shared.clone(), history, doomed, retention, queue);
        let writer = open::spawn(path, "store-writer", move || writer.run())?;
        Ok(SqliteStore { path: path.to_owned(), requests, shared, reader, writer: Some(writer), _lock: lock })
    }

    /// Sizes and health.
    pub fn status(&self) -> Result<Status, Error> {
        let pages = self.reader.lock().pages()?;
        let head = self.shared.head.read();
        Ok(Status {
            revision: head.revision,
            compacted: head.compacted,
            keys: head.keys.len(),
            file_bytes: pages.all * pages.size,
            wal_bytes: open::wal_path(&self.path).metadata().map_or(0, |file| file.len()),
            used_bytes: (pages.all - pages.free) * pages.size,
            commits: self.shared.commits.load(Ordering::Relaxed),
            failing: self.shared.failing.lock().clone(),
        })
    }

    /// Removes compacted rows now, and gives all free pages back to the file system.
    pub async fn reclaim(&self) -> Result<(), Error> {
        self.ask(Request::Reclaim).await
    }

    /// Writes what was acknowledged and waits in memory.
    pub async fn flush(&self) -> Result<(), Error> {
        self.ask(Request::Flush).await
    }

    async fn ask<T>(&self, request: impl FnOnce(Reply<T>) -> Request) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        self.requests.send(request(reply)).map_err(|_| Error::Closed)?;
        answer.await.map_err(|_| Error::Closed)?
    }

    fn head(&self) -> Result<RwLockReadGuard<'_, Head>, Error> {
        let head = self.shared.head.read();
        head.check_open()?;
        Ok(head)
    }

    fn past(&self) -> Past {
        Past { shared: self.shared.clone(), reader: self.reader.clone() }
    }
}

#[async_trait::async_trait]
impl Store for SqliteStore {
    async fn txn(&self, txn: Txn) -> Result<TxnResponse, Error> {
        self.ask(|reply| Request::Write(Write::Txn(txn, reply))).await
    }

    async fn range(&self, range: Range) -> Result<RangeResponse, Error> {
        if range.keys.is_empty_key() {
            return Err(Error::EmptyKey);
        }
        {
            let head = self.head()?;
            if range.revision == 0 || range.revision == head.revision {
                return Ok(head.range(&range));
            }
        }
        let past = self.past();
        tokio::task::spawn_blocking(move || past.range(&range)).await.map_err(|_| Error::Closed)?
    }

    async fn watch(&self, keys: KeyRange, from: i64) -> Result<Watch, Error> {
        self.past().watch(keys, from)
    }

    async fn progress(&self) -> Result<(), Error> {
        let mut head = self.shared.head.write();
        head.check_open()?;
        head.progress();
        Ok(())
    }

    async fn revision(&self) -> Result<i64, Error> {
        Ok(self.head()?.revision)
    }

    fn compacted(&self) -> i64 {
        self.shared.head.read().compacted
    }

    async fn compact(&self, revision: i64) -> Result<(), Error> {
        self.ask(|reply| Request::Compact(revision, reply)).await
    }

    async fn lease_grant(&self, id: i64, ttl: i64) -> Result<i64, Error> {
        self.ask(|reply| Request::Write(Write::Grant { id, ttl, reply })).await
    }

    async fn lease_keep_alive(&self, id: i64) -> Result<i64, Error> {
        // Not by the writer: leases live on while the disk is slow.
        let mut head = self.shared.head.write();
        head.check_open()?;
        let lease = head.leases.get_mut(&id).filter(|lease| !lease.ending).ok_or(Error::LeaseNotFound(id))?;
        lease.renew(Instant::now());
        Ok(lease.ttl)
    }

    async fn lease_revoke(&self, id: i64) -> Result<(), Error> {
        self.ask(|reply| Request::Write(Write::Revoke(id, Some(reply)))).await
    }

    async fn lease_time_to_live(&self, id: i64) -> Result<LeaseStatus, Error> {
        let head = self.head()?;
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
        let mut ids: Vec<i64> = self.head()?.leases.keys().copied().collect();
        ids.sort_unstable();
        Ok(ids)
    }

    async fn close(&self) -> Result<(), Error> {
        self.ask(Request::Close).await
    }
}
