//! Reads of the past: at an older revision, and watches that begin there.
//!
//! Recent revisions are in memory (the head's ring), older ones in the database. Compaction may run
//! at the same time: what was read counts only if it is not compacted afterwards.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::{
    runtime::Handle,
    sync::mpsc::{self, Sender},
};

use super::{
    db::{Db, Row, RowId},
    head::{self, WATCH_BUFFER},
    writer::Shared,
};
use crate::{Error, Event, FIRST_REVISION, KeyRange, KeyValue, Range, RangeResponse, Watch, WatchBatch};

/// Revisions read from the database at a time for a watch that catches up.
const CHUNK: i64 = 1000;
/// Chunks that such a watch has ready for its reader.
const UNREAD: usize = 4;
/// After a failure.
const PAUSE: Duration = Duration::from_secs(5);

/// Where the past is.
#[derive(Clone)]
pub(super) struct Past {
    pub shared: Arc<Shared>,
    pub reader: Arc<Mutex<Db>>,
}

impl Past {
    /// Reads at a revision, by undoing what came after from the current state.
    pub fn range(&self, range: &Range) -> Result<RangeResponse, Error> {
        let (mut keys, revision, ring_start) = {
            let head = self.shared.head.read();
            head.check_revision(range.revision)?;
            let mut keys: BTreeMap<Bytes, KeyValue> =
                head.select(&range.keys).map(|e| (e.kv.key.clone(), e.kv.clone())).collect();
            let later = head.recent(range.revision + 1).rev().flat_map(|r| r.events.iter().rev());
            for event in later.filter(|e| range.keys.contains(&e.kv.key)) {
                undo(&mut keys, &event.kv.key, event.prev.clone());
            }
            (keys, head.revision, head.ring_start())
        };
        if range.revision + 1 < ring_start {
            let db = self.reader.lock();
            let mut rows = Vec::new();
            db.each_row(RowId::start_of(range.revision + 1), RowId::start_of(ring_start), |row| {
                if range.keys.contains(&row.kv.key) {
                    rows.push((row.kv.key, row.prev));
                }
            })?;
            for (key, prev) in rows.into_iter().rev() {
                undo(&mut keys, &key, live(db.row(prev)?));
            }
            drop(db);
            self.shared.head.read().check_revision(range.revision)?;
        }
        Ok(head::answer(revision, range, keys.values()))
    }

    /// Registers a watch that begins at `from`, or now (0). One that begins before the ring is fed
    /// from the database first, by a thread that waits where the watcher is slow.
    pub fn watch(self, keys: KeyRange, from: i64) -> Result<Watch, Error> {
        let (sender, receiver) = mpsc::channel(WATCH_BUFFER);
        {
            let mut head = self.shared.head.write();
            head.check_open()?;
            if from > 0 && from < head.compacted {
                return Err(Error::Compacted { compacted: head.compacted });
            }
            // The first revision has no events.
            if from == 0 || from.max(FIRST_REVISION + 1) >= head.ring_start() {
                head.watch(keys, from, sender);
                return Ok(receiver);
            }
        }
        tokio::task::spawn_blocking(move || {
            if let Err(error) = self.catch_up(&keys, from, &sender) {
                tracing::warn!(%error, "reading old events for a watch");
                // Then the watcher sees its watch end, and asks again.
                std::thread::sleep(PAUSE);
            }
        });
        Ok(receiver)
    }

    /// Sends what lies between `next` and the head, then hands the watch over to the head.
    fn catch_up(&self, keys: &KeyRange, mut next: i64, sender: &Sender<WatchBatch>) -> Result<(), Error> {
        let runtime = Handle::current();
        loop {
            let ring_start = self.shared.head.read().ring_start();
            let until = ring_start.min(next + CHUNK);
            let mut events = Vec::new();
            if next < ring_start {
                read_events(&self.reader.lock(), keys, next, until, &mut events)?;
            }
            let mut head = self.shared.head.write();
            if next < head.compacted || head.check_open().is_err() {
                return Ok(());
            }
            if next >= head.ring_start() {
                head.watch(keys.clone(), next, sender.clone());
                // Whoever asked for progress meanwhile has not been heard.
                let _ = sender.try_send(WatchBatch { revision: head.revision, events: [].into() });
                return Ok(());
            }
            forget_previous(&mut events, head.compacted);
            drop(head);
            let batch = WatchBatch { revision: until - 1, events: events.into() };
            if !batch.events.is_empty() {
                // A few chunks may lie there unread, not as many as live batches may.
                let room = sender.reserve_many(WATCH_BUFFER - UNREAD);
                if runtime.block_on(room).is_err() || sender.blocking_send(batch).is_err() {
                    return Ok(());
                }
            }
            next = until;
        }
    }
}

/// Events of old revisions, from the database.
fn read_events(db: &Db, keys: &KeyRange, from: i64, until: i64, events: &mut Vec<Event>) -> Result<(), Error> {
    let mut rows = Vec::new();
    db.each_row(RowId::start_of(from), RowId::start_of(until), |row| {
        if keys.contains(&row.kv.key) {
            rows.push(row);
        }
    })?;
    for Row { kv, prev, .. } in rows {
        events.push(Event { kv, prev: live(db.row(prev)?) });
    }
    Ok(())
}

/// What was before a compacted revision is gone, on disk or not.
pub(super) fn forget_previous(events: &mut [Event], compacted: i64) {
    for event in events.iter_mut().take_while(|e| e.kv.mod_revision <= compacted) {
        event.prev = None;
    }
}

fn live(row: Option<Row>) -> Option<KeyValue> {
    row.map(|r| r.kv).filter(|kv| kv.version > 0)
}

fn undo(keys: &mut BTreeMap<Bytes, KeyValue>, key: &Bytes, prev: Option<KeyValue>) {
    match prev {
        Some(prev) => keys.insert(key.clone(), prev),
        None => keys.remove(key),
    };
}
