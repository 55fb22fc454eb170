//! Stands in for what the store is about to get: sizes, reclaiming, snapshots.

use std::path::Path;

use super::SqliteStore;
use crate::{Error, Store as _};

/// Sizes and health of a store.
#[derive(Clone, Debug)]
pub struct Status {
    /// Head revision.
    pub revision: i64,
    /// The last compaction.
    pub compacted: i64,
    /// Current keys.
    pub keys: usize,
    /// Of the database file.
    pub file_bytes: u64,
    /// Of the write-ahead log.
    pub wal_bytes: u64,
    /// Of the database file, in use.
    pub used_bytes: u64,
    /// Why writes fail at present.
    pub failing: Option<Error>,
}

impl SqliteStore {
    /// Sizes and health. Cheap.
    pub fn status(&self) -> Status {
        let head = self.head.read();
        Status {
            revision: head.revision,
            compacted: head.compacted,
            keys: head.keys.len(),
            file_bytes: self.reader.lock().path().metadata().map_or(0, |m| m.len()),
            wal_bytes: 0,
            used_bytes: 0,
            failing: None,
        }
    }

    /// Removes compacted rows now, and gives free pages back to the file system.
    pub async fn reclaim(&self) -> Result<(), Error> {
        Ok(())
    }

    /// A consistent copy of the database at `to`, which must not exist.
    pub async fn snapshot(&self, to: &Path) -> Result<i64, Error> {
        let (reader, to) = (self.reader.clone(), to.display().to_string());
        super::blocking(move || reader.lock().run(|c| c.execute("VACUUM INTO ?", [to]).map(drop))).await?;
        self.revision().await
    }
}
