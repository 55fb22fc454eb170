//! Every row of the log against those before it.
//!
//! What cannot be read is stepped over: a damaged page hides the rows between two ids, and reading
//! goes on behind it.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use rusqlite::OptionalExtension as _;

use super::{Findings, Loss, show};
use crate::{
    Error,
    sqlite::db::{self, Db, Row, RowId},
};

/// What walking over all rows has found.
#[derive(Default)]
pub(super) struct Rows {
    /// Rows that could be read.
    pub count: u64,
    /// Id up to which is read.
    last: i64,
    /// Of the last row that could be read.
    pub revision: i64,
    /// The newest row of each key, and what is in it; `None` for a tombstone.
    pub keys: BTreeMap<Bytes, (i64, Option<Current>)>,
    /// Ids between which rows may be hidden, both included.
    pub gaps: Vec<(i64, i64)>,
    pub findings: Findings,
}

/// What a later row of the same key must fit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Current {
    created: i64,
    version: i64,
    lease: i64,
}

impl Rows {
    /// Walks over the rows of a database that was compacted to `compacted`.
    pub fn walk(db: &Db, compacted: i64) -> Self {
        let mut rows = Rows::default();
        while let Err(error) = db.each_row(RowId(rows.last + 1), RowId(i64::MAX), |row| rows.see(row, compacted)) {
            rows.step_over(db, db::message(error));
            if rows.last == i64::MAX {
                break;
            }
        }
        rows
    }

    /// Goes on behind the row that cannot be read, or behind the page.
    fn step_over(&mut self, db: &Db, why: String) {
        let after = self.last;
        if let Ok(next) = next_key(db, after) {
            let Some((id, key)) = next else { return self.last = i64::MAX };
            let revision = RowId(id).revision();
            self.findings.damage(format!("{} at revision {revision}: {why}", show(&key)));
            self.findings.lost.insert(key, Loss::Unreadable);
            self.gaps.push((id, id));
            self.last = id;
        } else {
            let end = end_of_gap(db, after);
            self.gaps.push((after + 1, end));
            let (from, to) = (RowId(after + 1).revision(), RowId(end).revision());
            let to = if end == i64::MAX { "the end".to_owned() } else { to.to_string() };
            self.findings.damage(format!("revisions {from} to {to}: {why}"));
            self.last = end;
        }
    }

    /// Takes a row in.
    fn see(&mut self, row: Row, compacted: i64) {
        let revision = row.id.revision();
        if self.findings.lost.get(&row.kv.key) == Some(&Loss::Unreadable) {
            self.findings.lost.remove(&row.kv.key);
        }
        if let Err(fault) = self.fits(&row, compacted) {
            self.findings.damage(format!("{} at revision {revision}: {fault}", show(&row.kv.key)));
            self.findings.lost.entry(row.kv.key.clone()).or_insert(Loss::Inconsistent);
        }
        let (id, version) = (row.id.0, row.kv.version);
        let current = Current { created: row.kv.create_revision, version, lease: row.kv.lease };
        self.keys.insert(row.kv.key, (id, (version > 0).then_some(current)));
        (self.count, self.last, self.revision) = (self.count + 1, id, revision);
    }

    /// Whether a row is one that the store writes, after those that were seen.
    fn fits(&self, Row { id, prev, kv }: &Row, compacted: i64) -> Result<(), String> {
        let revision = id.revision();
        if kv.key.is_empty() {
            return Err("it has no key".to_owned());
        }
        if prev >= id {
            return Err("it replaces a later row".to_owned());
        }
        let tombstone = kv.version == 0;
        if tombstone && (kv.create_revision != 0 || kv.lease != 0 || !kv.value.is_empty()) {
            return Err("it is a deletion that has a value".to_owned());
        }
        if !tombstone && (kv.version < 0 || kv.create_revision < 1 || kv.create_revision > revision) {
            return Err(format!("version {} created at {} is impossible", kv.version, kv.create_revision));
        }
        let before = self.keys.get(&kv.key).and_then(|(id, current)| Some((*id, (*current)?)));
        match before {
            Some((before, _)) if prev.0 != before && !self.gaps.iter().any(|(_, to)| *to > before) => {
                let (names, is) = (prev.revision(), RowId(before).revision());
                Err(format!("it replaces revision {names}, but revision {is} came before it"))
            }
            Some((_, before)) if kv.create_revision == before.created && kv.version <= before.version => {
                Err(format!("version {} comes after version {}", kv.version, before.version))
            }
            Some((_, before)) if !tombstone && kv.create_revision < before.created => {
                Err("it was created before the row that it replaces".to_owned())
            }
            None if prev.0 != 0 && revision > compacted && !self.hides(prev.0) => {
                Err(format!("revision {}, which it replaces, is missing", prev.revision()))
            }
            _ => Ok(()),
        }
    }

    /// Whether a row may be there and cannot be read.
    fn hides(&self, id: i64) -> bool {
        self.gaps.iter().any(|(from, to)| (*from..=*to).contains(&id))
    }

    /// Number of keys that are there.
    pub fn live(&self) -> usize {
        self.keys.values().filter(|(_, current)| current.is_some()).count()
    }

    /// Finds keys bound to a lease that is not in `leases`.
    pub fn check_leases(&mut self, leases: &BTreeSet<i64>) {
        for (key, (_, current)) in &self.keys {
            let Some(lease) = current.map(|c| c.lease).filter(|lease| *lease != 0 && !leases.contains(lease)) else {
                continue;
            };
            self.findings.damage(format!("{}: lease {lease}, which it is bound to, is missing", show(key)));
            self.findings.lost.entry(key.clone()).or_insert(Loss::Inconsistent);
        }
    }

    /// Keys that `snapshot` had in rows that are hidden now.
    pub fn compare(&mut self, snapshot: &Rows) {
        let rows = snapshot.keys.iter().filter_map(|(key, (id, current))| current.map(|_| (*id, key.clone())));
        self.salvage(rows);
    }

    /// Of rows that were found elsewhere, those that are hidden name keys that are lost, unless the
    /// key was written again.
    pub fn salvage(&mut self, rows: impl IntoIterator<Item = (i64, Bytes)>) {
        for (id, key) in rows {
            if self.hides(id) && self.keys.get(&key).is_none_or(|(newest, _)| *newest < id) {
                self.findings.lost.entry(key).or_insert(Loss::Gone);
            }
        }
    }

    /// Number of keys that were written after `revision`, or deleted.
    pub fn changed_since(&self, revision: i64) -> usize {
        self.keys.values().filter(|(newest, _)| RowId(*newest).revision() > revision).count()
    }
}

/// The next row's id and key, without its value.
fn next_key(db: &Db, after: i64) -> Result<Option<(i64, Bytes)>, Error> {
    db.run(|c| {
        c.prepare_cached("SELECT id, key FROM log WHERE id > ? ORDER BY id LIMIT 1")?
            .query_row([after], |r| Ok((r.get(0)?, Bytes::copy_from_slice(r.get_ref(1)?.as_bytes()?))))
            .optional()
    })
}

/// Last id that is hidden, where the row after `after` is.
fn end_of_gap(db: &Db, after: i64) -> i64 {
    let readable = |id: i64| next_key(db, id).is_ok();
    let (mut hidden, mut end, mut step) = (after, after, 1_i64);
    while !readable(end) {
        if end == i64::MAX {
            return end;
        }
        (hidden, end) = (end, end.saturating_add(step));
        step = step.saturating_mul(2);
    }
    while end - hidden > 1 {
        let middle = hidden + (end - hidden) / 2;
        if readable(middle) { end = middle } else { hidden = middle }
    }
    end
}
