//! Every row of the log against those before it.
//!
//! What cannot be read is stepped over: a damaged page hides the rows between two ids, and reading
//! goes on behind it.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension as _};

use super::{Findings, Loss, show};
use crate::sqlite::db::RowId;

/// What walking over all rows has found.
#[derive(Default)]
pub(super) struct Rows {
    /// Rows that could be read.
    pub count: u64,
    /// Last of them.
    pub last: Option<i64>,
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

struct Row<'a> {
    id: i64,
    prev: i64,
    key: &'a [u8],
    created: i64,
    version: i64,
    lease: i64,
    value: &'a [u8],
}

impl Rows {
    /// Walks over the rows of a database that was compacted to `compacted`.
    pub fn walk(conn: &Connection, compacted: i64) -> Self {
        let mut rows = Rows::default();
        let mut after = 0;
        while let Err(error) = rows.scan(conn, compacted, &mut after) {
            match next_key(conn, after) {
                Ok(Some((id, key))) => {
                    let revision = RowId(id).revision();
                    rows.findings.damage(format!("{} at revision {revision}: {error}", show(&key)));
                    rows.lose(&key);
                    after = id;
                }
                Ok(None) => break,
                Err(_) => {
                    let end = end_of_gap(conn, after);
                    rows.gaps.push((after + 1, end));
                    rows.findings.damage(match end {
                        i64::MAX => format!("revisions from {} on: {error}", RowId(after + 1).revision()),
                        end => {
                            let (from, to) = (RowId(after + 1).revision(), RowId(end).revision());
                            format!("revisions {from} to {to}: {error}")
                        }
                    });
                    after = end;
                }
            }
            if after == i64::MAX {
                break;
            }
        }
        rows
    }

    /// Reads on behind `after` until the end or the first error.
    fn scan(&mut self, conn: &Connection, compacted: i64, after: &mut i64) -> rusqlite::Result<()> {
        let mut rows = conn
            .prepare_cached("SELECT id, prev, key, created, version, lease, value FROM log WHERE id > ? ORDER BY id")?;
        let mut rows = rows.query([*after])?;
        while let Some(row) = rows.next()? {
            let id = row.get(0)?;
            let row = Row {
                id,
                prev: row.get(1)?,
                key: row.get_ref(2)?.as_blob()?,
                created: row.get(3)?,
                version: row.get(4)?,
                lease: row.get(5)?,
                value: row.get_ref(6)?.as_blob()?,
            };
            if let Err(fault) = self.fits(&row, compacted) {
                let revision = RowId(id).revision();
                self.findings.damage(format!("{} at revision {revision}: {fault}", show(row.key)));
                self.findings.lost.entry(Bytes::copy_from_slice(row.key)).or_insert(Loss::Inconsistent);
            }
            let current = Current { created: row.created, version: row.version, lease: row.lease };
            self.keys.insert(Bytes::copy_from_slice(row.key), (id, (row.version > 0).then_some(current)));
            self.count += 1;
            self.last = Some(id);
            *after = id;
        }
        Ok(())
    }

    /// Whether a row is one that the store writes, after those that were seen.
    fn fits(&self, row: &Row<'_>, compacted: i64) -> Result<(), String> {
        let revision = RowId(row.id).revision();
        if row.key.is_empty() {
            return Err("it has no key".to_owned());
        }
        if row.prev >= row.id {
            return Err("it replaces a later row".to_owned());
        }
        let tombstone = row.version == 0;
        if tombstone && (row.created != 0 || row.lease != 0 || !row.value.is_empty()) {
            return Err("it is a deletion that has a value".to_owned());
        }
        if !tombstone && (row.version < 0 || row.created < 1 || row.created > revision) {
            return Err(format!("version {} created at {} is impossible", row.version, row.created));
        }
        let before = self.keys.get(row.key).and_then(|(id, current)| Some((*id, (*current)?)));
        match before {
            Some((before, _)) if row.prev != before => {
                let (names, is) = (RowId(row.prev).revision(), RowId(before).revision());
                Err(format!("it replaces revision {names}, but revision {is} came before it"))
            }
            Some((_, before)) if row.created == before.created && row.version <= before.version => {
                Err(format!("version {} comes after version {}", row.version, before.version))
            }
            Some((_, before)) if !tombstone && row.created < before.created => {
                Err("it was created before the row that it replaces".to_owned())
            }
            None if row.prev != 0 && revision > compacted && !self.hides(row.prev) => {
                Err(format!("revision {}, which it replaces, is missing", RowId(row.prev).revision()))
            }
            _ => Ok(()),
        }
    }

    fn lose(&mut self, key: &[u8]) {
        self.findings.lost.insert(Bytes::copy_from_slice(key), Loss::Unreadable);
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
fn next_key(conn: &Connection, after: i64) -> rusqlite::Result<Option<(i64, Vec<u8>)>> {
    conn.prepare_cached("SELECT id, key FROM log WHERE id > ? ORDER BY id LIMIT 1")?
        .query_row([after], |r| Ok((r.get(0)?, r.get_ref(1)?.as_bytes()?.to_vec())))
        .optional()
}

/// Last id that is hidden, where the row after `after` is.
fn end_of_gap(conn: &Connection, after: i64) -> i64 {
    let readable = |id: i64| next_key(conn, id).is_ok();
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
