//! The database file: one append-only table, and what it takes to trust it.
//!
//! Each write of a key is one row, written once. `id` is `revision << 16 | step`, so that rows are
//! in commit order without an index; `prev` is the row that it replaces. Example, after
//! put a=1, put b=2, put a=3, delete b:
//!
//! | id (rev, step) | prev | key | value | version |
//! |---|---|---|---|---|
//! | 1,0 | 0 | a | 1 | 1 |
//! | 2,0 | 0 | b | 2 | 1 |
//! | 3,0 | 1,0 | a | 3 | 2 |
//! | 4,0 | 2,0 | b | – | 0 (tombstone) |
//!
//! Compacting to 3 removes row 1,0; compacting to 4 also removes 2,0 and the tombstone 4,0.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};

use crate::{Error, KeyValue};

/// Identifies our files: "KNGL".
pub(crate) const APPLICATION_ID: i32 = 0x4b4e_474c;
/// Version of the table layout.
pub(crate) const LAYOUT: i32 = 1;
/// Steps that one transaction may have.
pub(super) const MAX_STEPS: usize = 1 << STEP_BITS;
const STEP_BITS: u32 = 16;

/// Row number: revision and step within it. 0 is no row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RowId(pub i64);

impl RowId {
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
pub(super) struct Row {
    pub id: RowId,
    pub prev: RowId,
    pub kv: KeyValue,
}

/// A connection, and the file's name for messages.
pub(super) struct Db {
    conn: Connection,
    path: PathBuf,
}

impl Db {
    /// Opens or makes the database.
    pub fn open(path: &Path) -> Result<Self, Error> {
        if path.metadata().is_ok_and(|file| file.len() == 0) {
            return Err(corrupt(path, "it is empty, as power cuts can leave a file"));
        }
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

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs SQLite calls, naming the file in errors.
    pub fn run<T>(&self, f: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
        f(&self.conn).map_err(|e| error(&self.path, &e))
    }

    fn prepare(&self) -> Result<(), Error> {
        let id: i32 = self.run(|c| c.query_row("PRAGMA application_id", [], |r| r.get(0)))?;
        let tables: i64 = self.run(|c| c.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0)))?;
        if tables > 0 && id != APPLICATION_ID {
            return Err(corrupt(&self.path, "it is an SQLite database of another program"));
        }
        self.run(|c| {
            c.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
            c.pragma_update(None, "journal_mode", "WAL")?;
            c.pragma_update(None, "synchronous", "FULL")?;
            c.pragma_update(None, "wal_autocheckpoint", 0)?;
            c.pragma_update(None, "cache_size", -1024)?;
            c.set_prepared_statement_cache_capacity(16);
            Ok(())
        })?;
        let layout: i32 = self.run(|c| c.query_row("PRAGMA user_version", [], |r| r.get(0)))?;
        if layout > LAYOUT {
            return Err(corrupt(&self.path, "it was written by a newer version of kinglet"));
        }
        self.run(|c| {
            c.execute_batch(&format!(
                "BEGIN;
                 CREATE TABLE IF NOT EXISTS log (
                     id INTEGER PRIMARY KEY, prev INTEGER NOT NULL, key BLOB NOT NULL, created INTEGER NOT NULL,
                     version INTEGER NOT NULL, lease INTEGER NOT NULL, value BLOB NOT NULL);
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
                "SELECT id, prev, key, created, version, lease, value FROM log WHERE id >= ? AND id < ? ORDER BY id",
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
            c.prepare_cached("SELECT id, prev, key, created, version, lease, value FROM log WHERE id = ?")?
                .query_row([id.0], read_row)
                .optional()
        })
    }

    /// Appends rows and forgets others, durably, in one transaction.
    pub fn commit(&self, rows: &[Row], doomed: &[RowId], numbers: &[(&str, i64)]) -> Result<(), Error> {
        self.run(|c| {
            let txn = c.unchecked_transaction()?;
            {
                let mut insert = txn.prepare_cached(
                    "INSERT INTO log (id, prev, key, created, version, lease, value) VALUES (?, ?, ?, ?, ?, ?, ?)",
                )?;
                for Row { id, prev, kv } in rows {
                    let KeyValue { key, create_revision, version, lease, value, .. } = kv;
                    insert.execute(params![id.0, prev.0, &key[..], create_revision, version, lease, &value[..]])?;
                }
                let mut delete = txn.prepare_cached("DELETE FROM log WHERE id = ?")?;
                for id in doomed {
                    delete.execute([id.0])?;
                }
                let mut number = txn.prepare_cached("REPLACE INTO meta (name, number) VALUES (?, ?)")?;
                for (name, value) in numbers {
                    number.execute(params![name, value])?;
                }
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

    /// Records a lease, or its end (`ttl` none).
    pub fn set_lease(&self, id: i64, ttl: Option<i64>) -> Result<(), Error> {
        self.run(|c| match ttl {
            Some(ttl) => c.execute("REPLACE INTO lease (id, ttl) VALUES (?, ?)", params![id, ttl]),
            None => c.execute("DELETE FROM lease WHERE id = ?", [id]),
        })
        .map(drop)
    }

    /// Moves what is in the WAL into the database file, as far as readers allow.
    pub fn checkpoint(&self) -> Result<(), Error> {
        self.run(|c| c.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())))
    }

    /// Gives up to `pages` free pages back to the file system.
    pub fn vacuum(&self, pages: u32) -> Result<(), Error> {
        self.run(|c| c.execute_batch(&format!("PRAGMA incremental_vacuum({pages})")))
    }
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
        value: blob(6)?,
    };
    Ok(Row { id, prev: RowId(row.get(1)?), kv })
}

/// Names the file in an error of SQLite.
pub(crate) fn error(path: &Path, error: &rusqlite::Error) -> Error {
    use rusqlite::ErrorCode::{DatabaseCorrupt, DiskFull, NotADatabase};
    match error.sqlite_error_code() {
        Some(DiskFull) => Error::NoSpace { path: path.display().to_string() },
        Some(DatabaseCorrupt | NotADatabase) => corrupt(path, &error.to_string()),
        _ => Error::Backend { path: path.display().to_string(), message: error.to_string() },
    }
}

pub(crate) fn corrupt(path: &Path, why: &str) -> Error {
    Error::Corrupt { path: path.display().to_string(), message: why.to_owned() }
}
