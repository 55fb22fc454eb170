//! The database file: one append-only table, and what it takes to trust it.
//!
//! Each write of a key is one row, written once. `id` is `revision << 20 | step`, so that rows are
//! in commit order without an index; `prev` is the row that it replaces. Example, after
//! put a=1, put b=2, put a=3, delete b:
//!
//! | id (rev, step) | prev | key | value | version |
//! |---|---|---|---|---|
//! | 2,0 | 0 | a | 1 | 1 |
//! | 3,0 | 0 | b | 2 | 1 |
//! | 4,0 | 2,0 | a | 3 | 2 |
//! | 5,0 | 3,0 | b | – | 0 (tombstone) |
//!
//! Compacting to 4 removes row 2,0; compacting to 5 also removes 3,0; to 6, the tombstone 5,0.
//!
//! Each row carries a checksum, so that a flipped bit is found when it is read.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use bytes::Bytes;
use rusqlite::{
    Connection, OpenFlags, OptionalExtension as _, Transaction, config::DbConfig, hooks::Wal, params, types::Type,
};

use super::open;
use crate::{Error, KeyValue};

/// Identifies our files: "KNGL".
pub(crate) const APPLICATION_ID: i32 = 0x4b4e_474c;
/// Version of the table layout.
const LAYOUT: i32 = 2;
/// Steps that one transaction may have.
pub(super) const MAX_STEPS: usize = 1 << STEP_BITS;
const STEP_BITS: u32 = 20;

/// Bytes that the write-ahead log is cut to when it is begun anew, should it have grown beside a snapshot.
const LOG_LIMIT: i64 = 16 << 20;

/// How long another process (a snapshot, somebody's `sqlite3`) may hold the file before a write fails.
const BUSY: Duration = Duration::from_secs(60);

/// Row number: revision and step within it. 0 is no row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RowId(pub i64);

impl RowId {
    /// Beyond it there are no rows: at ten thousand writes a second, after 27 years.
    pub const LAST_REVISION: i64 = i64::MAX >> STEP_BITS;

    pub fn new(revision: i64, step: usize) -> Self {
        debug_assert!(step < MAX_STEPS);
        RowId(revision << STEP_BITS | step as i64)
    }

    pub fn revision(self) -> i64 {
        self.0 >> STEP_BITS
    }

    /// Before the first row of `revision`.
    pub fn start_of(revision: i64) -> Self {
        RowId::new(revision, 0)
    }
}

/// One row.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub id: RowId,
    pub prev: RowId,
    pub kv: KeyValue,
}

impl Row {
    /// CRC-32 of everything in it.
    pub fn sum(&self) -> u32 {
        let KeyValue { key, create_revision, version, lease, value, .. } = &self.kv;
        let mut sum = crc32fast::Hasher::new();
        for number in [self.id.0, self.prev.0, *create_revision, *version, *lease] {
            sum.update(&number.to_le_bytes());
        }
        sum.update(&(key.len() as u64).to_le_bytes());
        sum.update(key);
        sum.update(value);
        sum.finalize()
    }
}

/// What a row takes on disk, about.
pub(super) fn row_bytes(kv: &KeyValue) -> u64 {
    (kv.key.len() + kv.value.len()) as u64 + ROW_OVERHEAD
}

/// Bytes of a row beside key and value, in the table and its pages.
const ROW_OVERHEAD: u64 = 64;

/// A row that is not what was written.
#[derive(Debug, thiserror::Error)]
#[error("the row of revision {revision} for key {key:?} fails its checksum")]
struct Damaged {
    revision: i64,
    key: String,
}

/// What one SQLite transaction writes.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// To be added.
    pub rows: Vec<Row>,
    /// To be removed.
    pub doomed: Vec<RowId>,
    /// Leases with their TTL, or their end.
    pub leases: Vec<(i64, Option<i64>)>,
    /// Of the table `meta`.
    pub numbers: Vec<(&'static str, i64)>,
}

/// Pages of the database file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pages {
    pub size: u64,
    pub all: u64,
    pub free: u64,
}

/// A connection, and the file's name for messages.
pub(crate) struct Db {
    conn: Connection,
    path: PathBuf,
}

impl Db {
    /// Opens or makes the database. It is made under another name, so that what has its name is whole.
    pub fn open(path: &Path) -> Result<Self, Error> {
        match path.metadata() {
            Ok(file) if file.len() == 0 => return Err(corrupt(path, "it is empty, as power cuts can leave a file")),
            Ok(_) => {}
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(open::failed(path, &error)),
            Err(_) if open::wal_path(path).exists() => {
                let log = open::wal_path(path);
                return Err(corrupt(path, &format!("it is gone, and its log {} is still there", log.display())));
            }
            Err(_) => {
                let draft = path.with_extension("draft");
                let made = open::remove(&draft)
                    .and_then(|()| open::remove(&open::wal_path(&draft)))
                    .and_then(|()| open::create_private(&draft))
                    // Closing it puts all of it into the one file.
                    .and_then(|()| Self::connect(&draft).map(drop))
                    .and_then(|()| open::rename(&draft, path));
                made?;
            }
        }
        Self::connect(path)
    }

    fn connect(path: &Path) -> Result<Self, Error> {
        let conn = Connection::open(path).map_err(|e| error(path, &e))?;
        let db = Db { conn, path: path.to_owned() };
        db.prepare()?;
        Ok(db)
    }

    /// A second connection, for reads and checkpoints beside the writer.
    pub fn reopen(path: &Path) -> Result<Self, Error> {
        let conn =
            Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
                .map_err(|e| error(path, &e))?;
        let db = Db { conn, path: path.to_owned() };
        db.run(|c| c.pragma_update(None, "wal_autocheckpoint", 0))?;
        Ok(db)
    }

    /// A connection that changes nothing, not even by its end, beside a running store or without one.
    pub fn open_to_read(path: &Path) -> Result<Self, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(path, flags).map_err(|e| error(path, &e))?;
        let db = Db { conn, path: path.to_owned() };
        db.run(|c| c.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true))?;
        Ok(db)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// An error that says what is wrong with the file.
    pub fn corrupt(&self, why: &str) -> Error {
        corrupt(&self.path, why)
    }

    /// Runs SQLite calls, naming the file in errors.
    pub fn run<T>(&self, f: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
        f(&self.conn).map_err(|e| error(&self.path, &e))
    }

    /// Refuses what is not ours, or of another version.
    pub fn identify(&self) -> Result<(), Error> {
        let number = |pragma: &str| self.run(|c| c.query_row(pragma, [], |r| r.get::<_, i32>(0)));
        if number("PRAGMA application_id")? != APPLICATION_ID {
            return Err(corrupt(&self.path, "it is an SQLite database of another program"));
        }
        let layout = number("PRAGMA user_version")?;
        if layout != LAYOUT {
            let message = format!("its layout is {layout}, and this version of kinglet reads {LAYOUT}");
            return Err(corrupt(&self.path, &message));
        }
        Ok(())
    }

    fn prepare(&self) -> Result<(), Error> {
        let tables: i64 = self.run(|c| c.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0)))?;
        if tables > 0 {
            self.identify()?;
        }
        self.run(|c| {
            c.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
            c.pragma_update(None, "journal_mode", "WAL")?;
            c.pragma_update(None, "synchronous", "FULL")?;
            c.pragma_update(None, "wal_autocheckpoint", 0)?;
            c.pragma_update(None, "journal_size_limit", LOG_LIMIT)?;
            c.pragma_update(None, "cache_size", -1024)?;
            c.busy_timeout(BUSY)?;
            c.set_prepared_statement_cache_capacity(16);
            Ok(())
        })?;
        self.run(|c| {
            c.execute_batch(&format!(
                "BEGIN;
                 CREATE TABLE IF NOT EXISTS log (
                     id INTEGER PRIMARY KEY, prev INTEGER NOT NULL, key BLOB NOT NULL, created INTEGER NOT NULL,
                     version INTEGER NOT NULL, lease INTEGER NOT NULL, sum INTEGER NOT NULL, value BLOB NOT NULL);
                 CREATE TABLE IF NOT EXISTS lease (id INTEGER PRIMARY KEY, ttl INTEGER NOT NULL);
                 CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
                 PRAGMA application_id = {APPLICATION_ID};
                 PRAGMA user_version = {LAYOUT};
                 COMMIT;"
            ))
        })
    }

    /// Every row in commit order, from `from` on.
    pub fn each_row(&self, from: RowId, until: RowId, mut f: impl FnMut(Row)) -> Result<(), Error> {
        self.run(|c| {
            let mut rows = c.prepare_cached(
                "SELECT id, prev, key, created, version, lease, sum, value FROM log WHERE id >= ? AND id < ? ORDER BY id",
            )?;
            let mut rows = rows.query(params![from.0, until.0])?;
            while let Some(row) = rows.next()? {
                f(read_row(row)?);
            }
            Ok(())
        })
    }

    /// One row.
    pub fn row(&self, id: RowId) -> Result<Option<Row>, Error> {
        if id == RowId(0) {
            return Ok(None);
        }
        self.run(|c| {
            c.prepare_cached("SELECT id, prev, key, created, version, lease, sum, value FROM log WHERE id = ?")?
                .query_row([id.0], read_row)
                .optional()
        })
    }

    /// Calls `f` with the number of pages in the write-ahead log, after each commit.
    pub fn on_commit(&mut self, mut f: impl FnMut(u64) + Send + 'static) -> Result<(), Error> {
        let hook = move |_: &mut Wal, pages: i32| {
            f(pages.unsigned_abs().into());
            Ok(())
        };
        self.conn.wal_hook(Some(hook)).map_err(|e| error(&self.path, &e))
    }

    /// Writes all changes in one transaction, and syncs.
    pub fn commit(&self, changes: &[&Changes]) -> Result<(), Error> {
        self.run(|c| {
            let txn = c.unchecked_transaction()?;
            for changes in changes {
                write(&txn, changes)?;
            }
            txn.commit()
        })
    }

    /// A number of the `meta` table; 0 where absent.
    pub fn number(&self, name: &str) -> Result<i64, Error> {
        let found =
            self.run(|c| c.query_row("SELECT number FROM meta WHERE name = ?", [name], |r| r.get(0)).optional())?;
        Ok(found.unwrap_or(0))
    }

    /// Leases as `(id, ttl)`.
    pub fn leases(&self) -> Result<Vec<(i64, i64)>, Error> {
        self.run(|c| {
            let mut rows = c.prepare("SELECT id, ttl FROM lease")?;
            let leases = rows.query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?;
            leases.collect()
        })
    }

    /// Moves what is in the WAL into the database file, as far as readers allow.
    pub fn checkpoint(&self) -> Result<(), Error> {
        self.run(|c| c.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())))
    }

    /// Sizes.
    pub fn pages(&self) -> Result<Pages, Error> {
        self.run(|c| {
            let number = |pragma: &str| c.query_row(pragma, [], |r| r.get::<_, i64>(0)).map(i64::unsigned_abs);
            Ok(Pages {
                size: number("PRAGMA page_size")?,
                all: number("PRAGMA page_count")?,
                free: number("PRAGMA freelist_count")?,
            })
        })
    }

    /// Gives up to `pages` free pages back to the file system.
    pub fn vacuum(&self, pages: u64) -> Result<(), Error> {
        self.run(|c| {
            // It frees a page with each step.
            let mut vacuum = c.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
            let mut steps = vacuum.query([])?;
            while steps.next()?.is_some() {}
            Ok(())
        })
    }
}

fn write(txn: &Transaction<'_>, changes: &Changes) -> rusqlite::Result<()> {
    let mut insert = txn.prepare_cached(
        "INSERT INTO log (id, prev, key, created, version, lease, sum, value) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    for row in &changes.rows {
        let KeyValue { key, create_revision, version, lease, value, .. } = &row.kv;
        let (id, prev) = (row.id.0, row.prev.0);
        insert.execute(params![id, prev, &key[..], create_revision, version, lease, row.sum(), &value[..]])?;
    }
    let mut delete = txn.prepare_cached("DELETE FROM log WHERE id = ?")?;
    for id in &changes.doomed {
        delete.execute([id.0])?;
    }
    for (id, ttl) in &changes.leases {
        match ttl {
            Some(ttl) => txn.execute("REPLACE INTO lease (id, ttl) VALUES (?, ?)", params![id, ttl])?,
            None => txn.execute("DELETE FROM lease WHERE id = ?", [id])?,
        };
    }
    for (name, value) in &changes.numbers {
        txn.execute("REPLACE INTO meta (name, number) VALUES (?, ?)", params![name, value])?;
    }
    Ok(())
}

fn read_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    let id = RowId(row.get(0)?);
    let blob = |at: usize| row.get_ref(at)?.as_blob().map(Bytes::copy_from_slice).map_err(rusqlite::Error::from);
    let kv = KeyValue {
        key: blob(2)?,
        create_revision: row.get(3)?,
        mod_revision: id.revision(),
        version: row.get(4)?,
        lease: row.get(5)?,
        value: blob(7)?,
    };
    let (sum, row) = (row.get::<_, u32>(6)?, Row { id, prev: RowId(row.get(1)?), kv });
    if row.sum() == sum {
        return Ok(row);
    }
    let damaged = Damaged { revision: id.revision(), key: String::from_utf8_lossy(&row.kv.key).into_owned() };
    Err(rusqlite::Error::FromSqlConversionFailure(6, Type::Integer, Box::new(damaged)))
}

/// Names the file in an error of SQLite.
pub(crate) fn error(path: &Path, error: &rusqlite::Error) -> Error {
    use rusqlite::{
        Error::{IntegralValueOutOfRange, InvalidColumnType},
        ErrorCode::{DatabaseCorrupt, DiskFull, NotADatabase},
    };
    match error.sqlite_error_code() {
        Some(DiskFull) => Error::NoSpace { path: path.display().to_string() },
        Some(DatabaseCorrupt | NotADatabase) => corrupt(path, &error.to_string()),
        None if let rusqlite::Error::FromSqlConversionFailure(_, _, why) = error => corrupt(path, &why.to_string()),
        None if matches!(error, IntegralValueOutOfRange(..) | InvalidColumnType(..)) => {
            corrupt(path, &error.to_string())
        }
        _ => Error::Backend { path: path.display().to_string(), message: error.to_string() },
    }
}

/// What an error says, for texts that name the file already.
pub(crate) fn message(error: Error) -> String {
    match error {
        Error::Corrupt { message, .. } | Error::Backend { message, .. } => message,
        other => other.to_string(),
    }
}

pub(crate) fn corrupt(path: &Path, why: &str) -> Error {
    Error::Corrupt { path: path.display().to_string(), message: why.to_owned() }
}
