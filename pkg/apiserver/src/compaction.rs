//! Forgets the store's history every five minutes, up to where it was five minutes ago, as upstream.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use crate::server::Server;

const EVERY: Duration = Duration::from_secs(300);

/// Runs until the server stops. A store whose revision stands still is not touched.
pub async fn run(server: Arc<Server>) {
    let mut before = server.store.revision().await.unwrap_or(0);
    loop {
        // Sleeps on an idle cluster too: history is a promise in minutes.
        tokio::select! {
            () = tokio::time::sleep(EVERY) => {}
            () = server.stop.cancelled() => return,
        }
        match step(&server, before).await {
            Ok(revision) => before = revision,
            // Tried again in five minutes, with whatever is old by then.
            Err(error) => tracing::info!(%error, "the store's history was not compacted"),
        }
    }
}

/// Compacts to `to`; answers with the head.
pub async fn step(server: &Server, to: i64) -> Result<i64, store::Error> {
    let head = server.store.revision().await?;
    if to > server.compacted.load(Ordering::Relaxed) {
        match server.store.compact(to).await {
            Ok(()) => {}
            // Another server was faster.
            Err(store::Error::Compacted { .. }) => {}
            Err(error) => return Err(error),
        }
        server.compacted.fetch_max(to, Ordering::Relaxed);
    }
    Ok(head)
}
