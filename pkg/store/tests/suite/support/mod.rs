//! What the tests share.

pub mod backend;
pub mod disk;
pub mod history;
pub mod load;

use std::{
    env,
    path::{Path, PathBuf},
    time::Duration,
};

use store::{Error, KeyRange, Retention, SqliteStore, Store, Watch, WatchBatch};
use tempfile::TempDir;
use tokio::time::timeout;

/// How many times longer than in CI a test runs; `KINGLET_SOAK`.
pub fn soak() -> u32 {
    env::var("KINGLET_SOAK").map_or(1, |factor| factor.parse().expect("KINGLET_SOAK is a number"))
}

/// Where randomness begins: `KINGLET_SEED`, to see a failure again, or anywhere. It is printed, which
/// shows with a test that fails.
pub fn seed() -> u64 {
    let seed = env::var("KINGLET_SEED").map_or_else(|_| rand::random(), |seed| seed.parse().expect("a number"));
    println!("to see this run again: KINGLET_SEED={seed}");
    seed
}

/// A path for a new database.
pub fn temp() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.db");
    (directory, path)
}

/// The same in memory, where syncs cost nothing.
pub fn in_memory() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = directory.path().join("state.db");
    (directory, path)
}

/// Long, also where two cores do everything.
pub const LONG: Duration = Duration::from_secs(20);

/// The next batch of a watch, be it one of progress that was asked for; it is asked for again where
/// the watch had not begun by then.
pub async fn next(store: &dyn Store, watch: &mut Watch) -> Option<WatchBatch> {
    for _ in 0..20 {
        if let Ok(batch) = timeout(LONG / 20, watch.recv()).await {
            return batch;
        }
        store.progress().await.ok()?;
    }
    None
}

/// History that is compared must not be forgotten meanwhile, as a store does when it grows too much.
pub const FOR_EVER: Retention = Retention { age: Duration::from_secs(3600), bytes: 1 << 40 };

/// Opens a store; the threads of an earlier one may take a moment to end.
pub async fn reopen(path: &Path) -> SqliteStore {
    for _ in 0..200 {
        match SqliteStore::open(path) {
            Err(Error::InUse { .. }) => tokio::time::sleep(Duration::from_millis(10)).await,
            other => return other.unwrap(),
        }
    }
    panic!("the store is in use for ever");
}

/// Every key.
pub fn all() -> KeyRange {
    KeyRange::prefix("")
}
