//! A store that is served as etcd is, and nothing else: for trying, and for measurements with
//! `etcdctl --endpoints unix:///FOLDER/etcd.sock check perf`.
//!
//! `cargo run --release --package store --example face -- FOLDER`

use std::{path::PathBuf, sync::Arc};

use store::{SqliteStore, Store as _, face};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scratch = PathBuf::from(std::env::args_os().nth(1).ok_or("which folder?")?);
    let store = Arc::new(SqliteStore::open(&scratch.join("state.db"))?);
    let socket = scratch.join("etcd.sock");
    let urls = vec![format!("unix://{}", socket.display())];
    let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
    let config = face::Config { store: store.clone(), name: "face".to_owned(), urls, scratch, stop: stop.clone() };
    face::Face::new(config).serve_unix(&socket, &tasks)?;
    tokio::signal::ctrl_c().await?;
    stop.cancel();
    tasks.close();
    tasks.wait().await;
    Ok(store.close().await?)
}
