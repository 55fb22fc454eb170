//! Putting a snapshot in the place of the database.
//!
//! Guarantees: the snapshot is copied and verified wholly before the database is touched; then one
//! rename makes it the database, so that a crash leaves the old one or the new one. The old one
//! stays, under a dated name.
//!
//! The head moves on by [`UNKNOWN_GAP`] from the older and the newer head, and all below is compacted:
//! what a client remembers of the time before (a watch, the next page of a list) is refused as
//! compacted, and it lists again. Without the step a revision could name two states.
//!
//! Caveat: of an old database that cannot be read the head is not known; then the step is a hundred
//! times as long.

use std::{
    fs::{self, File},
    io::{self, Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use sha2::{Digest as _, Sha256};

use super::{Contents, Draft, Error, KEYS, REVISION, failed, head, sync_dir};
use crate::{
    check::{self, wal::Wal},
    sqlite::{
        db::Db,
        open::{UNKNOWN_GAP, lock, wal_path},
    },
};

/// Bytes of the digest that etcd's snapshots, and those through our etcd face, end with.
const DIGEST: u64 = 32;

/// What a restore has done.
#[derive(Clone, Debug)]
pub struct Restored {
    /// Head revision from now on.
    pub revision: i64,
    /// Of the snapshot.
    pub contents: Contents,
    /// Where the old database is now; none if there was none.
    pub aside: Option<PathBuf>,
}

/// Makes the snapshot at `from` the database. The server must not be running.
pub fn restore(database: &Path, from: &Path) -> Result<Restored, Error> {
    let _lock = lock(database).map_err(|error| match error {
        crate::Error::InUse { path } => Error::Running { path },
        other => other.into(),
    })?;
    let draft = Draft::new(database)?;
    fetch(from, &draft)?;
    let contents = verify(from, &draft)?;
    let revision = match old_head(database) {
        Some(old) => old.max(contents.revision) + UNKNOWN_GAP,
        // It may have gone on from other restores.
        None => contents.revision + 100 * UNKNOWN_GAP,
    };
    let (moved, clean) = (Some(revision), Some(1));
    draft.set_numbers(&[("floor", moved), ("compacted", moved), ("clean", clean), (REVISION, None), (KEYS, None)])?;
    let aside = replace(database, draft)?;
    Ok(Restored { revision, contents, aside })
}

/// Copies the snapshot, without the digest if it ends with one.
fn fetch(from: &Path, draft: &Draft) -> Result<(), Error> {
    let mut source = File::open(from).map_err(failed(from))?;
    let size = source.metadata().map_err(failed(from))?.len();
    // Pages of a database are multiples of 512 bytes.
    let digest = match size % 512 {
        0 => 0,
        DIGEST => DIGEST,
        _ => return Err(damaged(from, "its length is not that of a database, so it was cut off")),
    };
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    let mut left = size - digest;
    while left > 0 {
        let part = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        source.read_exact(&mut buffer[..part]).map_err(failed(from))?;
        hash.update(&buffer[..part]);
        (&draft.file).write_all(&buffer[..part]).map_err(failed(&draft.path))?;
        left -= part as u64;
    }
    let mut expected = Vec::new();
    source.read_to_end(&mut expected).map_err(failed(from))?;
    if digest > 0 && expected != hash.finalize()[..] {
        return Err(damaged(from, "its digest does not match, so it was cut off or changed"));
    }
    (&draft.file).rewind().map_err(failed(&draft.path))
}

fn verify(from: &Path, draft: &Draft) -> Result<Contents, Error> {
    let report = check::check(&draft.path, None)?;
    match report.damage.first() {
        Some(damage) => Err(damaged(from, damage)),
        None => Ok(Contents { revision: report.revision, keys: i64::try_from(report.keys).unwrap_or(i64::MAX) }),
    }
}

fn damaged(path: &Path, why: &str) -> Error {
    Error::Damaged { path: path.display().to_string(), message: why.to_owned() }
}

/// Head of the database that is replaced, 0 if there is none; `None` if it cannot be read.
fn old_head(database: &Path) -> Option<i64> {
    if !database.exists() {
        return Some(0);
    }
    let db = Db::open_to_read(database).ok()?;
    let last = db.run(|c| c.query_row("SELECT ifnull(max(id), 0) FROM log", [], |r| r.get(0))).ok()?;
    head(&db, last).ok()
}

fn replace(database: &Path, draft: Draft) -> Result<Option<PathBuf>, Error> {
    let beside = |suffix: &str| PathBuf::from(format!("{}{suffix}", database.display()));
    let wal = wal_path(database);
    let there = database.exists();
    if !there && !wal.exists() {
        draft.publish(database)?;
        return Ok(None);
    }
    let aside = beside(&format!(".before-restore-{}", Timestamp::now().strftime("%Y%m%dT%H%M%S%.3fZ")));
    let aside_wal = wal_path(&aside);
    if Wal::read(&wal).is_ok_and(|wal| wal.is_some_and(|wal| wal.damaged)) {
        fs::copy(&wal, &aside_wal).map_err(failed(&aside_wal))?;
    }
    // From here to the rename nobody else opens the database.
    let folded = fold(database)?;
    let ignore_missing = |result: io::Result<()>| match result {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(&aside)(error)),
        _ => Ok(()),
    };
    match folded {
        // All of it is in the database now.
        Some(_) => ignore_missing(fs::remove_file(&wal))?,
        // No server can start with such a database, so that it may lose its log for a moment.
        None => ignore_missing(fs::rename(&wal, &aside_wal))?,
    }
    ignore_missing(fs::remove_file(beside("-shm")))?;
    ignore_missing(fs::hard_link(database, &aside))?;
    sync_dir(database)?;
    draft.publish(database)?;
    Ok(there.then_some(aside))
}

/// Moves the write-ahead log into the database: a log that stays would be taken for one of the
/// new database. Answers with what keeps others out, or with `None` if the database cannot be opened.
fn fold(database: &Path) -> Result<Option<Connection>, Error> {
    let fold = || -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(database, flags)?;
        conn.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        // It is whole from then on: nobody shall miss its log.
        conn.execute("REPLACE INTO meta (name, number) VALUES ('clean', 1)", [])?;
        conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(conn)
    };
    match fold() {
        Ok(conn) => Ok(Some(conn)),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
            Err(Error::Running { path: database.display().to_string() })
        }
        Err(_) => Ok(None),
    }
}
