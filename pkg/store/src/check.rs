//! Verifies a database and says what is damaged, and what going on with it would lose.
//!
//! Guarantees: nothing is changed; a running server goes on (all is read in one transaction). What
//! is damaged does not end the check: the rest is read, to name the keys that are lost.
//!
//! Assumption: no store of the same process has this database open. (The file is read directly,
//! too, and closing it would take away the locks of SQLite.)

mod pages;
mod rows;
#[cfg(test)]
mod tests;
pub mod wal;

use std::{
    collections::BTreeMap,
    fmt,
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
};

use bytes::Bytes;

use self::{rows::Rows, wal::Wal};
use crate::{
    Error, snapshot,
    sqlite::{
        db::{self, Db, RowId},
        open::wal_path,
    },
};

/// Faults that are listed; of more there is only the number.
const LISTED: usize = 100;
/// Keys that are named in the text of a report.
const NAMED: usize = 1000;

/// What a check has found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The database.
    pub path: PathBuf,
    /// Whether a server has it open.
    pub running: bool,
    /// Whether its last server ended in order.
    pub closed: bool,
    /// Whether it is no snapshot and was not closed, and yet there is no log: unless somebody merged
    /// it in order, the last writes are lost.
    pub logless: bool,
    /// Head revision.
    pub revision: i64,
    /// Last compaction.
    pub compacted: i64,
    /// Keys that are there.
    pub keys: usize,
    /// Rows that can be read.
    pub rows: u64,
    /// Bytes of the database without its log.
    pub bytes: u64,
    /// The write-ahead log, if there is one.
    pub wal: Option<Wal>,
    /// What is wrong; empty if nothing is.
    pub damage: Vec<String>,
    /// Keys that damage touches.
    pub lost: BTreeMap<Bytes, Loss>,
    /// The newest snapshot.
    pub snapshot: Option<Behind>,
}

/// What has become of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Its value cannot be read.
    Unreadable,
    /// It can be read, and is not what was written.
    Inconsistent,
    /// It is on a damaged page, or was in the newest snapshot and is not found any more.
    Gone,
}

/// How far a snapshot is behind.
#[derive(Clone, Debug)]
pub struct Behind {
    /// Its name.
    pub name: String,
    /// Its head.
    pub revision: i64,
    /// Keys that have changed since, as far as can be read; `None` if nothing can.
    pub keys: Option<usize>,
}

impl Report {
    /// Whether nothing is damaged or missing.
    pub fn is_good(&self) -> bool {
        self.damage.is_empty() && !self.logless
    }
}

/// Faults and the keys that they touch.
#[derive(Default)]
struct Findings {
    damage: Vec<String>,
    unlisted: usize,
    lost: BTreeMap<Bytes, Loss>,
}

impl Findings {
    fn damage(&mut self, fault: String) {
        if self.damage.len() < LISTED {
            self.damage.push(fault);
        } else {
            self.unlisted += 1;
        }
    }
}

/// Checks the database at `path`; `snapshots` is the folder with its snapshots. An error says that
/// it could not be checked.
pub fn check(path: &Path, snapshots: Option<&Path>) -> Result<Report, Error> {
    let backend = |message: String| Error::Backend { path: path.display().to_string(), message };
    let meta = fs::metadata(path).map_err(|e| backend(e.to_string()))?;
    if !meta.is_file() {
        return Err(backend("it is not a file".to_owned()));
    }
    let wal = Wal::read(&wal_path(path)).map_err(|e| backend(e.to_string()))?;
    let mut report =
        Report { path: path.to_owned(), running: is_running(path), bytes: meta.len(), ..Report::default() };
    let mut findings = Findings::default();
    if wal.as_ref().is_some_and(|wal| wal.damaged) && !report.running {
        findings.damage("the write-ahead log is damaged: later commits are in it, and cannot be used".to_owned());
    }
    report.wal = wal;
    // One that is damaged is no way back.
    let usable = |info: &snapshot::Info| {
        info.contents.is_ok()
            && info.path != path
            && check(&info.path, None).is_ok_and(|report| report.damage.is_empty())
    };
    let newest =
        snapshots.and_then(|dir| snapshot::list(dir).ok()).and_then(|list| list.into_iter().rev().find(usable));
    if meta.len() == 0 {
        findings.damage("it is empty, as power cuts can leave a file".to_owned());
    } else if let Err(error) = read(path, newest.as_ref(), &mut report, &mut findings) {
        findings.damage(db::message(error));
    }
    if let (None, Some(info)) = (&report.snapshot, &newest) {
        let revision = info.contents.as_ref().map_or(0, |contents| contents.revision);
        report.snapshot = Some(Behind { name: info.name.clone(), revision, keys: None });
    }
    report.damage = findings.damage;
    if findings.unlisted > 0 {
        report.damage.push(format!("and {} more", findings.unlisted));
    }
    report.lost = findings.lost;
    Ok(report)
}

/// Reads what SQLite can read. An error: it cannot read anything.
fn read(
    path: &Path,
    newest: Option<&snapshot::Info>,
    report: &mut Report,
    findings: &mut Findings,
) -> Result<(), Error> {
    let db = Db::open_to_read(path)?;
    if let Err(error) = db.run(|c| c.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))) {
        findings.damage(db::message(error));
        // Makes SQLite read a file that is shorter than it should be.
        db.run(|c| c.pragma_update(None, "writable_schema", true))?;
    }
    db.identify()?;
    db.run(|c| c.execute_batch("BEGIN"))?;
    integrity(&db, findings);
    let numbers = numbers(&db, findings);
    let number = |name: &str| numbers.get(name).copied().unwrap_or(0);
    report.closed = number("clean") == 1;
    report.compacted = number("compacted");

    let mut rows = Rows::walk(&db, report.compacted);
    match db.leases() {
        Ok(leases) => rows.check_leases(&leases.into_iter().map(|(id, _)| id).collect()),
        Err(error) => findings.damage(format!("leases: {}", db::message(error))),
    }
    report.revision = rows.revision.max(number("floor")).max(report.compacted).max(crate::FIRST_REVISION);
    (report.keys, report.rows) = (rows.live(), rows.count);
    let in_order = report.closed || report.running || numbers.contains_key(snapshot::REVISION);
    report.logless = !in_order && report.wal.is_none() && rows.count > 0;
    if let Some((info, contents)) = newest.and_then(|info| Some((info, info.contents.as_ref().ok()?))) {
        if !rows.gaps.is_empty() {
            let snapshot = Db::open_to_read(&info.path)?;
            rows.compare(&Rows::walk(&snapshot, contents.revision));
        }
        let changed = rows.changed_since(contents.revision);
        report.snapshot = Some(Behind { name: info.name.clone(), revision: contents.revision, keys: Some(changed) });
    }
    if !rows.gaps.is_empty() {
        // A guess at best, so that nothing is lost without it.
        rows.salvage(pages::leaf_rows(path).unwrap_or_default());
    }
    rows.findings.damage.drain(..).for_each(|fault| findings.damage(fault));
    findings.unlisted += rows.findings.unlisted;
    findings.lost = rows.findings.lost;
    Ok(())
}

fn integrity(db: &Db, findings: &mut Findings) {
    let faults = db.run(|c| {
        let mut lines = c.prepare(&format!("PRAGMA integrity_check({LISTED})"))?;
        let mut lines = lines.query([])?;
        while let Some(line) = lines.next()? {
            let line: String = line.get(0)?;
            line.lines().filter(|l| *l != "ok").for_each(|l| findings.damage(l.to_owned()));
        }
        Ok(())
    });
    if let Err(error) = faults {
        findings.damage(db::message(error));
    }
}

fn numbers(db: &Db, findings: &mut Findings) -> BTreeMap<String, i64> {
    let read = db.run(|c| {
        let mut rows = c.prepare("SELECT name, number FROM meta")?;
        rows.query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?.collect::<Result<BTreeMap<String, i64>, _>>()
    });
    let numbers = read.unwrap_or_else(|error| {
        findings.damage(format!("counters: {}", db::message(error)));
        BTreeMap::new()
    });
    for (name, number) in &numbers {
        // A revision and the step within it are one number of 64 bits.
        if *number < 0 || *number > RowId::LAST_REVISION || name == "clean" && *number > 1 {
            findings.damage(format!("counter {name:?} is {number}, which is impossible"));
        }
    }
    numbers
}

/// Whether a store holds the lock of this database. Shared, so that checks do not see each other.
fn is_running(path: &Path) -> bool {
    let lock = File::open(path.with_extension("lock"));
    lock.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// A key for people.
fn show(key: &[u8]) -> String {
    String::from_utf8_lossy(key).escape_debug().to_string()
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = match (self.running, self.closed) {
            (true, _) => "a server has it open",
            (_, true) => "its server ended in order",
            _ if self.logless => {
                "its server did not end in order, and its log is missing: unless it was merged in order, \
                 what was written last is lost"
            }
            _ => "its server did not end in order, or it was copied while open",
        };
        writeln!(f, "database    {}", self.path.display())?;
        writeln!(f, "state       {end}")?;
        writeln!(f, "revision    {}, compacted to {}", self.revision, self.compacted)?;
        writeln!(f, "contents    {} keys in {} rows, {} bytes", self.keys, self.rows, self.bytes)?;
        if let Some(wal) = &self.wal {
            writeln!(f, "log         {wal}; {} bytes", wal.bytes)?;
        }
        match &self.snapshot {
            Some(Behind { name, revision, keys: Some(keys) }) => {
                let lost = (self.revision - revision).max(0);
                writeln!(
                    f,
                    "snapshot    {name} at revision {revision}; restoring it loses {lost} revisions, in which {keys} keys changed"
                )?;
            }
            Some(Behind { name, revision, keys: None }) => writeln!(f, "snapshot    {name} at revision {revision}")?,
            None => writeln!(f, "snapshot    none found")?,
        }
        let result = match (self.damage.is_empty(), self.logless) {
            (true, false) => "good",
            (true, true) => "log missing",
            (false, _) => "damaged",
        };
        writeln!(f, "result      {result}")?;
        self.damage.iter().try_for_each(|fault| writeln!(f, "  {fault}"))?;
        if !self.lost.is_empty() {
            writeln!(f, "keys that damage touches: {}", self.lost.len())?;
        }
        for (key, loss) in self.lost.iter().take(NAMED) {
            let loss = match loss {
                Loss::Unreadable => "cannot be read",
                Loss::Inconsistent => "does not fit what was written",
                Loss::Gone => "is on a damaged page",
            };
            writeln!(f, "  {}: {loss}", show(key))?;
        }
        if self.lost.len() > NAMED {
            writeln!(f, "  and {} more", self.lost.len() - NAMED)?;
        }
        Ok(())
    }
}
