//! What history is kept: rows that a later one replaced, until a compaction takes them.
//!
//! The store compacts by itself, to where the head was [`Retention::age`] ago, and earlier when the
//! replaced rows grow beyond a share of the live data: history is a courtesy, and a bounded file is a promise.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use super::db::RowId;

/// How much history is kept.
#[derive(Clone, Copy, Debug)]
pub struct Retention {
    /// At least so long, and at most twice as long, if it fits.
    pub age: Duration,
    /// Bytes of replaced rows, or half as many as the live data has if that is more.
    pub bytes: u64,
}

impl Default for Retention {
    /// Five minutes, as upstream; 4 MB.
    fn default() -> Self {
        Retention { age: Duration::from_secs(300), bytes: 4 << 20 }
    }
}

/// A row that is of no use to a store compacted to `since` or later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Replaced {
    pub since: i64,
    pub row: RowId,
    pub bytes: u64,
}

/// Rows that compaction may take, oldest first, and when it will.
#[derive(Debug, Default)]
pub(super) struct History {
    replaced: VecDeque<Replaced>,
    bytes: u64,
    /// When to compact, and to which revision. `None` while nothing was written since the last time.
    due: Option<(Instant, i64)>,
}

impl History {
    pub fn push(&mut self, replaced: Replaced) {
        self.bytes += replaced.bytes;
        self.replaced.push_back(replaced);
    }

    /// The row `dropped` will never be written: what it replaced, `prev`, is replaced at `since` instead.
    pub fn inherit(&mut self, dropped: RowId, prev: RowId, since: i64) {
        self.forget(dropped);
        if let Some(Replaced { row, bytes, .. }) = self.forget(prev) {
            self.push(Replaced { since, row, bytes });
        }
    }

    /// Looks from the end on, since it is of late.
    fn forget(&mut self, row: RowId) -> Option<Replaced> {
        let at = self.replaced.iter().rposition(|replaced| replaced.row == row)?;
        let replaced = self.replaced.remove(at)?;
        self.bytes -= replaced.bytes;
        Some(replaced)
    }

    /// Notes that `head` was reached at `now`.
    pub fn wrote(&mut self, retention: &Retention, now: Instant, head: i64) {
        self.due.get_or_insert_with(|| (now + retention.age, head));
    }

    /// When [`History::decide`] has something to say; `None` on a store at rest.
    pub fn deadline(&self) -> Option<Instant> {
        self.due.map(|(at, _)| at)
    }

    /// The revision to compact to now, if any.
    pub fn decide(&self, retention: &Retention, now: Instant, live_bytes: u64) -> Option<i64> {
        let limit = retention.bytes.max(live_bytes / 2);
        if self.bytes > limit {
            return Some(self.leaving(limit / 2));
        }
        self.due.filter(|(at, _)| *at <= now).map(|(_, revision)| revision)
    }

    /// The first revision to which compaction leaves at most `bytes`.
    fn leaving(&self, bytes: u64) -> i64 {
        let mut left = self.bytes;
        let first = self.replaced.iter().find(|replaced| {
            left -= replaced.bytes;
            left <= bytes
        });
        first.map_or(0, |replaced| replaced.since)
    }

    /// Takes what a store compacted to `revision` does not need.
    pub fn take(&mut self, revision: i64) -> impl Iterator<Item = RowId> {
        self.due = self.due.filter(|(_, to)| *to > revision);
        std::iter::from_fn(move || {
            let taken = self.replaced.pop_front_if(|replaced| replaced.since <= revision)?;
            self.bytes -= taken.bytes;
            Some(taken.row)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGE: Duration = Duration::from_secs(300);

    /// One replaced row of 100 bytes at each of the revisions 2 to 11.
    fn history(retention: &Retention, start: Instant) -> History {
        let mut history = History::default();
        for revision in 2..=11 {
            history.push(Replaced { since: revision, row: RowId::new(revision - 1, 0), bytes: 100 });
            history.wrote(retention, start, revision);
        }
        history
    }

    #[test]
    fn compaction_is_due_by_age_and_by_size() {
        let start = Instant::now();
        let by_age = Retention { age: AGE, bytes: 1000 };
        let by_size = Retention { age: AGE, bytes: 999 };
        // (retention, seconds later, live bytes, compaction)
        let cases = [
            (by_age, 0, 0, None),
            (by_age, 299, 0, None),
            (by_age, 300, 0, Some(2)),
            (by_size, 0, 0, Some(7)),
            (by_size, 0, 2000, None),
        ];
        for (retention, later, live, wanted) in cases {
            let history = history(&retention, start);
            let decided = history.decide(&retention, start + Duration::from_secs(later), live);
            assert_eq!(decided, wanted, "{retention:?} {later} s later, {live} live");
        }
    }

    #[test]
    fn what_compaction_takes_is_gone_and_nothing_is_due_again() {
        let (start, retention) = (Instant::now(), Retention { age: AGE, bytes: 999 });
        let mut history = history(&retention, start);
        let to = history.decide(&retention, start, 0).unwrap();
        assert_eq!(history.take(to).count(), 6);
        assert_eq!(history.bytes, 400);
        assert_eq!(history.decide(&retention, start + AGE, 0), None);
        assert_eq!(history.deadline(), None);
        history.wrote(&retention, start + AGE, 12);
        assert_eq!(history.deadline(), Some(start + AGE * 2));
    }
}
