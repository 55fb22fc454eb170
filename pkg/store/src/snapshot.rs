//! Snapshots: consistent copies of the database, each one file that is a database itself.
//!
//! Guarantees: a copy shows one moment, whatever is written meanwhile, and the writer does not wait
//! for it; a snapshot has its name only once it is whole and synced, and what a crash leaves of one
//! is a `.kinglet-draft` that the next [`save`] removes. Copying takes no lock that a starting server
//! needs. While a copy is being made the write-ahead log cannot begin anew, and grows.

mod restore;
#[cfg(test)]
pub(crate) mod tests;

use std::{
    fs::{self, File, TryLockError},
    io,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

pub use self::restore::{Restored, restore};
use crate::{
    FIRST_REVISION, SqliteStore, check,
    sqlite::{
        db::{self, Db, RowId},
        open,
    },
};

/// End of the names of files that are being written.
const DRAFT: &str = ".kinglet-draft";
/// What a snapshot says of itself in its `meta` table, so that listing need not count.
pub(crate) const REVISION: &str = "snapshot_revision";
const KEYS: &str = "snapshot_keys";

/// A file in the folder of snapshots.
#[derive(Clone, Debug)]
pub struct Info {
    /// File name.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// Bytes.
    pub size: u64,
    /// When it was written, by the file system.
    pub time: SystemTime,
    /// What is in it, or why it is no snapshot.
    pub contents: Result<Contents, String>,
}

/// What a snapshot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contents {
    /// Head revision.
    pub revision: i64,
    /// Number of keys.
    pub keys: i64,
}

/// Why something cannot be done with a snapshot.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database, or a copy of it.
    #[error(transparent)]
    Store(#[from] crate::Error),
    /// Names are file names within the folder.
    #[error(
        "{name:?} is no name of a snapshot: a name has no slash, does not begin with a dot and does not end with .kinglet-draft"
    )]
    Name {
        /// As given.
        name: String,
    },
    /// A snapshot is never written over.
    #[error("{path} exists already; choose another name, or delete it first")]
    Exists {
        /// The file.
        path: String,
    },
    /// Two at once under one name.
    #[error("{path} is being written by another process")]
    Busy {
        /// The draft.
        path: String,
    },
    /// No such snapshot.
    #[error("there is no snapshot {name} in {dir}; `kinglet snapshot list` shows what there is")]
    Missing {
        /// As given.
        name: String,
        /// Where it was looked for.
        dir: String,
    },
    /// A snapshot that cannot be restored.
    #[error("snapshot {path} is not usable: {message}; nothing was changed, choose another one")]
    Damaged {
        /// The file.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// A database that is not worth a snapshot.
    #[error("database {path} is damaged: {damage}; no snapshot was saved; `kinglet store check` says what is lost")]
    Source {
        /// The database.
        path: String,
        /// What is wrong with it.
        damage: String,
    },
    /// Restoring beside a running server.
    #[error("database {path} is in use; stop kinglet (and what else reads the database) first")]
    Running {
        /// The database.
        path: String,
    },
    /// A file or folder.
    #[error("{path}")]
    File {
        /// Which.
        path: String,
        /// Why.
        source: io::Error,
    },
}

impl From<Error> for crate::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Store(error) => error,
            Error::File { path, source } => crate::Error::Backend { path, message: source.to_string() },
            other => crate::Error::Backend { path: "snapshot".to_owned(), message: other.to_string() },
        }
    }
}

fn failed(path: &Path) -> impl Fn(io::Error) -> Error {
    move |source| match source.kind() {
        io::ErrorKind::StorageFull => crate::Error::NoSpace { path: path.display().to_string() }.into(),
        _ => Error::File { path: path.display().to_string(), source },
    }
}

impl SqliteStore {
    /// A consistent copy of the database at `to`, which must not exist, with everything that was
    /// acknowledged before. Synced. Answers with its head revision.
    pub async fn snapshot(&self, to: &Path) -> Result<i64, crate::Error> {
        let to = to.to_owned();
        Ok(self.copying(move |database| copy(database, &to)).await?.revision)
    }

    /// As [`SqliteStore::snapshot`], by the name of `name` in the folder `dir`, which is made if need be.
    pub async fn save(&self, dir: &Path, name: &str) -> Result<Info, Error> {
        let (dir, name) = (dir.to_owned(), name.to_owned());
        self.copying(move |database| save(database, &dir, &name)).await
    }

    async fn copying<T: Send + 'static>(
        &self,
        copy: impl FnOnce(&Path) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.flush().await?;
        let database = self.path.clone();
        tokio::task::spawn_blocking(move || copy(&database)).await.map_err(|_| crate::Error::Closed)?
    }
}

/// Copies `database`, which may be open elsewhere, into `dir`, which is made if need be.
pub fn save(database: &Path, dir: &Path, name: &str) -> Result<Info, Error> {
    check_name(name)?;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(failed(dir))?;
    sweep(dir);
    let path = dir.join(name);
    copy(database, &path)?;
    Info::read(path)
}

/// Files in `dir`, oldest revision first, those that are no snapshots before the others; none if
/// the folder is not there.
pub fn list(dir: &Path) -> Result<Vec<Info>, Error> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(dir)(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed(dir))?.path();
        let named = path.file_name().and_then(|n| n.to_str()).is_some_and(|n| check_name(n).is_ok());
        if named && path.is_file() {
            found.push(Info::read(path)?);
        }
    }
    // Not by time: clocks jump, revisions only grow.
    found.sort_by_key(|info| (info.contents.as_ref().map_or(0, |c| c.revision), info.time, info.name.clone()));
    Ok(found)
}

/// Deletes the snapshot `name` of `dir`.
pub fn delete(dir: &Path, name: &str) -> Result<(), Error> {
    check_name(name)?;
    let path = dir.join(name);
    match fs::remove_file(&path) {
        Ok(()) => sync_dir(&path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(missing(dir, name)),
        Err(error) => Err(failed(&path)(error)),
    }
}

/// The file that is meant by a name within `dir`, or by a path.
pub fn find(dir: &Path, name: &str) -> Result<PathBuf, Error> {
    let places = [dir.join(name), PathBuf::from(name)];
    let tried = if name.contains('/') { &places[1..] } else { &places[..] };
    tried.iter().find(|path| path.is_file()).cloned().ok_or_else(|| missing(dir, name))
}

/// `KIND-NODE-SECONDS`, the name of a snapshot that was given none.
pub fn name(kind: &str, node: &str, now: SystemTime) -> String {
    let seconds = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    format!("{kind}-{node}-{seconds}")
}

fn missing(dir: &Path, name: &str) -> Error {
    Error::Missing { name: name.to_owned(), dir: dir.display().to_string() }
}

fn check_name(name: &str) -> Result<(), Error> {
    let bad = name.is_empty() || name.starts_with('.') || name.contains(['/', '\0']) || name.ends_with(DRAFT);
    if bad { Err(Error::Name { name: name.to_owned() }) } else { Ok(()) }
}

impl Info {
    fn read(path: PathBuf) -> Result<Self, Error> {
        let meta = path.metadata().map_err(failed(&path))?;
        let contents = read_contents(&path).map_err(db::message);
        Ok(Info {
            name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            size: meta.len(),
            time: meta.modified().map_err(failed(&path))?,
            contents,
            path,
        })
    }
}

/// Copies a database that may be in use to `to`, which must not exist.
pub(crate) fn copy(database: &Path, to: &Path) -> Result<Contents, Error> {
    if to.try_exists().map_err(failed(to))? {
        return Err(Error::Exists { path: to.display().to_string() });
    }
    let draft = Draft::new(to)?;
    let source = Db::open_to_read(database)?;
    source.identify()?;
    source.run(|c| c.execute("VACUUM INTO ?", [draft.path.to_string_lossy()])).map_err(|error| match error {
        crate::Error::NoSpace { .. } => crate::Error::NoSpace { path: to.display().to_string() },
        other => other,
    })?;
    let contents = summarize(&Db::open_to_read(&draft.path)?)?;
    draft.set_numbers(&[(REVISION, Some(contents.revision)), (KEYS, Some(contents.keys))])?;
    // A copy of what is damaged would push good ones out.
    if let Some(damage) = check::check(&draft.path, None)?.damage.into_iter().next() {
        return Err(Error::Source { path: database.display().to_string(), damage });
    }
    draft.publish(to)?;
    Ok(contents)
}

fn read_contents(path: &Path) -> Result<Contents, crate::Error> {
    let db = Db::open_to_read(path)?;
    db.identify()?;
    let (revision, keys) = (db.number(REVISION)?, db.number(KEYS)?);
    // A copy of the database that somebody else has made says nothing of itself.
    if revision > 0 { Ok(Contents { revision, keys }) } else { summarize(&db) }
}

/// Counts what a database holds.
fn summarize(db: &Db) -> Result<Contents, crate::Error> {
    // A row that is replaced is live, and one row replaces it.
    let (last, live, replaced): (i64, i64, i64) = db.run(|c| {
        c.query_row(
            "SELECT ifnull(max(id), 0), ifnull(sum(version > 0), 0),
                    ifnull(sum(EXISTS (SELECT 1 FROM log AS old WHERE old.id = log.prev)), 0) FROM log",
            [],
            |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)),
        )
    })?;
    Ok(Contents { revision: head(db, last)?, keys: live - replaced })
}

/// Head revision of a database whose last row is `last`; 0 for none.
pub(crate) fn head(db: &Db, last: i64) -> Result<i64, crate::Error> {
    Ok(RowId(last).revision().max(db.number("floor")?).max(db.number("compacted")?).max(FIRST_REVISION))
}

/// A file on its way to its name; removed if it does not get there.
struct Draft {
    path: PathBuf,
    /// Locked, so that [`sweep`] can tell it from what a crash has left.
    file: File,
}

impl Draft {
    fn new(target: &Path) -> Result<Self, Error> {
        let mut path = target.as_os_str().to_owned();
        path.push(DRAFT);
        let path = PathBuf::from(path);
        // Whatever the folder's mode: there are Secrets in it.
        let options = File::options().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
        let file = options.map_err(failed(&path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Busy { path: path.display().to_string() }),
            Err(TryLockError::Error(error)) => return Err(failed(&path)(error)),
        }
        let draft = Draft { path, file };
        draft.file.set_len(0).map_err(failed(&draft.path))?;
        Ok(draft)
    }

    /// Writes numbers into, or removes them from, the `meta` table of a draft that is a database.
    fn set_numbers(&self, numbers: &[(&str, Option<i64>)]) -> Result<(), Error> {
        let db = Db::reopen(&self.path)?;
        Ok(db.run(|c| {
            // What is not whole is thrown away, so it needs neither a journal nor an order of writes.
            c.pragma_update(None, "journal_mode", "OFF")?;
            c.pragma_update(None, "synchronous", "OFF")?;
            for (name, number) in numbers {
                match number {
                    Some(number) => c.execute("REPLACE INTO meta (name, number) VALUES (?, ?)", (name, number))?,
                    None => c.execute("DELETE FROM meta WHERE name = ?", [name])?,
                };
            }
            Ok(())
        })?)
    }

    /// Gives it its name, once it is on the disk.
    fn publish(self, target: &Path) -> Result<(), Error> {
        self.file.sync_all().map_err(failed(&self.path))?;
        fs::rename(&self.path, target).map_err(failed(target))?;
        sync_dir(target)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // Gone already if it was published.
        let _ = fs::remove_file(&self.path);
    }
}

/// What SQLite notes beside a file that it fills.
fn journal(draft: &Path) -> PathBuf {
    PathBuf::from(format!("{}-journal", draft.display()))
}

/// Removes drafts that nobody is writing.
fn sweep(dir: &Path) {
    for path in fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let draft = path.to_str().is_some_and(|p| p.ends_with(DRAFT));
        if draft && File::open(&path).is_ok_and(|file| file.try_lock().is_ok()) {
            // It is in nobody's way; the next one tries again.
            let _ = fs::remove_file(journal(&path));
            let _ = fs::remove_file(&path);
        }
    }
}

fn sync_dir(path: &Path) -> Result<(), Error> {
    open::sync_dir(path).map_err(failed(path))
}
