//! Stands in for the store's snapshots, which are on their way.

use std::path::Path;

use super::SqliteStore;
use crate::{Error, Store as _};

impl SqliteStore {
    /// A consistent copy of the database at `to`, which must not exist.
    pub async fn snapshot(&self, to: &Path) -> Result<i64, Error> {
        self.flush().await?;
        let (reader, to) = (self.reader.clone(), to.display().to_string());
        let copy = move || reader.lock().run(|c| c.execute("VACUUM INTO ?", [to]).map(drop));
        tokio::task::spawn_blocking(copy).await.map_err(|_| Error::Closed)??;
        self.revision().await
    }
}
