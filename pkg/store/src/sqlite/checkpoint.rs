//! Checkpoints: what is in the write-ahead log goes into the database file, on a thread of its own,
//! since flash is slow.
//!
//! SQLite begins the log anew when all of it has been moved and nobody reads it. Beside a busy
//! writer that moment never comes by itself, and the log would grow without bound. So a first pass
//! runs beside the writer, and a second one holds it: there is little left to do by then, and the
//! next commit begins the log anew.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
};

use parking_lot::Mutex;

use super::db::Db;
use crate::Error;

/// Pages in the log at which it is moved.
const START: u64 = 512;

/// What the writer and the checkpoint thread share.
#[derive(Default)]
pub(super) struct Wal {
    running: AtomicBool,
    /// Held by the writer during a commit.
    gate: Mutex<()>,
}

impl Wal {
    /// Runs a commit.
    pub fn writing<T>(&self, commit: impl FnOnce() -> T) -> T {
        let gate = self.gate.lock();
        let done = commit();
        // A waiting checkpoint is next, or it would wait for ever beside a busy writer.
        parking_lot::MutexGuard::unlock_fair(gate);
        done
    }
}

/// Starts the thread, which ends with the writer's connection `db`.
pub(super) fn start(path: &Path, db: &mut Db) -> Result<Arc<Wal>, Error> {
    let shared = Arc::new(Wal::default());
    let (wake, woken) = mpsc::channel();
    let own = Db::reopen(path)?;
    let thread = shared.clone();
    super::open::spawn(path, "store-checkpoint", move || {
        while woken.recv().is_ok() {
            thread.running.store(false, Ordering::Relaxed);
            if let Err(error) = run(&own, &thread) {
                // The log only grows until the next commit asks again.
                tracing::warn!(%error, "checkpoint failed, to be tried again");
            }
        }
    })?;
    let writer = shared.clone();
    db.on_commit(move |pages| {
        if pages >= START && !writer.running.swap(true, Ordering::Relaxed) {
            // The thread lives as long as this sender.
            let _ = wake.send(());
        }
    })?;
    Ok(shared)
}

fn run(db: &Db, wal: &Wal) -> Result<(), Error> {
    db.checkpoint()?;
    let _held = wal.gate.lock();
    db.checkpoint()
}
