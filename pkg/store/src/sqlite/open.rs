//! Opening a database: one process at a time, nothing trusted that was not checked, and no revision
//! given out twice.

use std::{
    collections::VecDeque,
    fs::{self, File, TryLockError},
    io::{self, Read as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use super::{
    db::{Changes, Db, Row, RowId, row_bytes},
    head::{Entry, Head, Lease},
    retention::{History, Replaced},
};
use crate::{Error, FIRST_REVISION, check::wal::Wal};

/// Revisions skipped after an end without `close`: relaxed writes that were seen and lost had some
/// of these numbers.
pub(super) const REVISION_GAP: i64 = 1024;

/// Revisions skipped when nobody knows how many are lost: more than were ever given out since.
pub(crate) const UNKNOWN_GAP: i64 = 1_000_000_000;

/// The write-ahead log, before SQLite has touched it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Log {
    Whole,
    Missing,
    /// Commits lie behind a frame that does not hold; SQLite leaves them out without a word.
    Damaged,
}

impl Log {
    /// Looks at the log of the database at `path`.
    pub fn look(path: &Path) -> Result<Self, Error> {
        let log = wal_path(path);
        match Wal::read(&log).map_err(|e| failed(&log, &e))? {
            Some(wal) if wal.damaged => Ok(Log::Damaged),
            Some(_) => Ok(Log::Whole),
            // Ours is never empty: see `prepare_wal`.
            None => Ok(Log::Missing),
        }
    }
}

/// What is read at the start.
pub(super) struct Loaded {
    pub head: Head,
    pub history: History,
    /// Compacted rows still in the database.
    pub doomed: VecDeque<RowId>,
}

impl Loaded {
    /// Reads everything, and marks the database as open.
    pub fn read(db: &Db, log: Log) -> Result<Self, Error> {
        let mut loaded = Loaded { head: Head::default(), history: History::default(), doomed: VecDeque::new() };
        let head = &mut loaded.head;
        head.compacted = db.number("compacted")?;
        for (id, ttl) in db.leases()? {
            head.leases.insert(id, Lease::new(ttl, Instant::now()));
        }
        let mut last = 0;
        db.each_row(RowId(0), RowId(i64::MAX), |row| {
            last = row.id.revision();
            loaded.row(row);
        })?;
        let head = &mut loaded.head;
        head.revision = last.max(db.number("floor")?).max(head.compacted).max(FIRST_REVISION);
        // A new one has no floor.
        if db.number("floor")? > 0 && db.number("clean")? == 0 {
            let lost = match log {
                Log::Whole => None,
                Log::Missing => Some("is missing; unless it was merged in order, the last writes are lost"),
                Log::Damaged => Some("is damaged in the middle; what was written last is lost"),
            };
            match lost {
                None => head.revision += REVISION_GAP,
                Some(lost) => {
                    tracing::warn!(
                        path = %db.path().display(),
                        "the write-ahead log beside the database {lost}, and a snapshot may have more"
                    );
                    head.revision += UNKNOWN_GAP;
                    head.compacted = head.revision;
                }
            }
        }
        if head.revision > RowId::LAST_REVISION {
            return Err(db.corrupt(&format!("its revision {} is beyond all", head.revision)));
        }
        let numbers = vec![("floor", head.revision), ("compacted", head.compacted), ("clean", 0)];
        db.commit(&[&Changes { numbers, ..Changes::default() }])?;
        // In the database file itself, or a lost log would look like an orderly end.
        db.checkpoint()?;
        Ok(loaded)
    }

    fn row(&mut self, row: Row) {
        let Row { id, kv, .. } = row;
        let tombstone = kv.version == 0;
        let tombstone_bytes = row_bytes(&kv);
        let entry = (!tombstone).then(|| Entry { kv: kv.clone(), row: id });
        if let Some(before) = self.head.set(kv.key, entry) {
            self.old(Replaced { since: id.revision(), row: before.row, bytes: before.bytes() });
        }
        if tombstone {
            self.old(Replaced { since: id.revision() + 1, row: id, bytes: tombstone_bytes });
        }
    }

    fn old(&mut self, replaced: Replaced) {
        if replaced.since <= self.head.compacted {
            self.doomed.push_back(replaced.row);
        } else {
            self.history.push(replaced);
        }
    }
}

/// The log beside a database.
pub(crate) fn wal_path(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}-wal", path.display()))
}

/// One process at a time: a lock file beside the database.
pub(crate) fn lock(path: &Path) -> Result<File, Error> {
    let name = path.with_extension("lock");
    let file = File::create(&name).map_err(|e| failed(&name, &e))?;
    let mut locked = file.try_lock();
    for _ in 0..10 {
        if !matches!(locked, Err(TryLockError::WouldBlock)) {
            break;
        }
        // A check looks at the lock for a moment, and a child has it from its fork to its exec.
        thread::sleep(Duration::from_millis(20));
        locked = file.try_lock();
    }
    match locked {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::InUse { path: path.display().to_string() }),
        Err(TryLockError::Error(e)) => Err(failed(&name, &e)),
    }
}

/// Bytes that the write-ahead log has from the start.
const WAL_SIZE: u64 = 4 << 20;

/// Fills the write-ahead log up with zeros. A sync that must also record a new length takes several
/// times as long as one that overwrites, and SQLite overwrites what it does not recognise: frames
/// count only with the right salt and checksum (<https://www.sqlite.org/fileformat2.html#walformat>).
pub(super) fn prepare_wal(path: &Path) -> Result<(), Error> {
    let name = wal_path(path);
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
        other => other.map_err(|e| failed(&name, &e)),
    }
}

/// Starts a thread of the store.
pub(super) fn spawn(path: &Path, name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, Error> {
    let spawned = thread::Builder::new().name(name.to_owned()).spawn(run);
    spawned.map_err(|e| failed(path, &e))
}

/// Removes a file, if it is there.
pub(super) fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(path, &error)),
        _ => Ok(()),
    }
}

/// Makes an empty file for root alone; there will be Secrets in it. SQLite gives its log the same mode.
pub(super) fn create_private(path: &Path) -> Result<(), Error> {
    let made = File::options().write(true).create_new(true).mode(0o600).open(path);
    made.map(drop).map_err(|e| failed(path, &e))
}

/// Gives a file its name, durably.
pub(super) fn rename(from: &Path, to: &Path) -> Result<(), Error> {
    fs::rename(from, to).and_then(|()| sync_dir(to)).map_err(|e| failed(to, &e))
}

/// Makes the names in the folder of `path` durable.
pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(dir)?.sync_all()
}

pub(super) fn failed(path: &Path, error: &io::Error) -> Error {
    Error::Backend { path: path.display().to_string(), message: error.to_string() }
}
