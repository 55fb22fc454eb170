//! Checkpoints: what is in the write-ahead log goes into the database file, on a thread of its own,
//! since flash is slow.
//!
//! SQLite begins the log anew when all of it has been moved and nobody reads it. Beside a busy
//! writer that moment never comes by itself, and the log would grow without bound. So a first pass
//! runs beside the writer, and a second one holds it: there is little left to do by then, and the
//! next commit begins the log anew. A writer that is faster than the first pass waits for it.
//!
//! Caveat: while somebody else reads the database, as a snapshot does, the log cannot begin anew.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
};

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::{db::Db, open};
use crate::Error;

/// Pages in the log, since the last checkpoint, that make one due.
const DUE: u64 = 512;
/// Pages for which the writer waits until the one that runs has ended.
const LONG: u64 = 1024;

/// The writer's end.
pub(super) struct Checkpoints {
    log: Arc<Log>,
    /// The thread ends with it.
    wake: mpsc::Sender<()>,
}

/// What the writer and the thread share.
#[derive(Default)]
struct Log {
    /// In the log, as of the last commit.
    pages: AtomicU64,
    /// Held by the writer during a commit.
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    running: bool,
    /// The last one failed, which was told.
    failing: bool,
    /// Pages of the log when the last checkpoint ended; 0 once it has begun anew.
    moved: u64,
}

impl Log {
    /// Pages since the last checkpoint.
    fn new_pages(&self, state: &mut State) -> u64 {
        let pages = self.pages.load(Ordering::Relaxed);
        if pages < state.moved {
            state.moved = 0;
        }
        pages - state.moved
    }
}

impl Checkpoints {
    /// Starts the thread, for the writer's connection `db`.
    pub fn start(path: &Path, db: &mut Db) -> Result<Self, Error> {
        let log = Arc::new(Log::default());
        let (wake, woken) = mpsc::channel();
        let (own, shared) = (Db::reopen(path)?, log.clone());
        open::spawn(path, "store-checkpoint", move || {
            while woken.recv().is_ok() {
                run(&own, &shared);
            }
        })?;
        let shared = log.clone();
        db.on_commit(move |pages| shared.pages.store(pages, Ordering::Relaxed))?;
        Ok(Checkpoints { log, wake })
    }

    /// Runs a commit.
    pub fn writing<T>(&self, commit: impl FnOnce() -> T) -> T {
        let mut state = self.log.state.lock();
        while state.running && self.log.new_pages(&mut state) >= LONG {
            self.log.ended.wait(&mut state);
        }
        let done = commit();
        if !state.running && self.log.new_pages(&mut state) >= DUE {
            // The thread lives as long as we.
            state.running = self.wake.send(()).is_ok();
        }
        // A waiting checkpoint is next, or it would wait for ever beside a busy writer.
        MutexGuard::unlock_fair(state);
        done
    }
}

fn run(db: &Db, log: &Log) {
    let beside = db.checkpoint();
    let mut state = log.state.lock();
    match beside.and_then(|()| db.checkpoint()) {
        Ok(()) => {
            state.moved = log.pages.load(Ordering::Relaxed);
            state.failing = false;
        }
        Err(error) if state.failing => tracing::debug!(%error, "checkpoint failed again"),
        Err(error) => {
            // The log only grows, until one succeeds: the next commit asks for it.
            tracing::warn!(%error, "checkpoint failed, to be tried again");
            state.failing = true;
        }
    }
    state.running = false;
    log.ended.notify_all();
}
