//! `cargo xtask bench store`: the store alone, beside the disk's own speed.
//!
//! This program runs itself again, built for release, as `xtask bench-store`.

mod load;

use std::{
    fs::File,
    io::Write as _,
    os::unix::fs::FileExt as _,
    path::Path,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use store::{SqliteStore, Store};

use super::{Figure, statistics::memory};

const OPEN_KEYS: usize = 100_000;

/// Runs every measurement in the release build of this program.
pub fn run() -> anyhow::Result<()> {
    crate::check::load_generator()?;
    let status = Command::new(super::rows::load_generator()?).arg("bench-store").status()?;
    if status.success() { Ok(()) } else { bail!("bench-store: {status}") }
}

/// `bench-store`, and `bench-store open DIR` in a process of its own.
pub fn main(args: &[&str]) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match args {
        [] => runtime.block_on(measure()),
        ["open", path] => runtime.block_on(open(Path::new(path))),
        _ => bail!("usage: xtask bench-store [open FILE]"),
    }
}

async fn measure() -> anyhow::Result<()> {
    let dir = tempfile::tempdir_in("/var/tmp")?;
    print("syncs of the disk, 1.2 KB each", "/s", &syncs(dir.path())?);
    let path = dir.path().join("state.db");
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&path)?);
    print("durable puts of 1 KB, 1 client", "/s", &load::puts(&store, 1, 5_000).await?);
    print("durable puts of 1 KB, 64 clients", "/s", &load::puts(&store, 64, 100_000).await?);
    print("range of 10,000 keys", "MB/s", &load::range(&store).await?);
    print("write → event, 100 watchers, p99", "ms", &load::watch(&store).await?);
    store.close().await?;
    drop(store);
    let path = dir.path().join("open.db");
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&path)?);
    load::fill(&store, "/bench/open/", OPEN_KEYS).await?;
    store.close().await?;
    drop(store);
    let status = Command::new(std::env::current_exe()?).args(["bench-store", "open"]).arg(&path).status()?;
    if status.success() { Ok(()) } else { bail!("bench-store open: {status}") }
}

/// How often the disk can be told to keep 1.2 KB, one after the other, in a file that is as long as
/// it will be.
fn syncs(dir: &Path) -> anyhow::Result<Figure> {
    let mut file = File::create(dir.join("syncs"))?;
    file.write_all(&vec![0; 4 << 20])?;
    file.sync_all()?;
    let (start, mut count) = (Instant::now(), 0u64);
    while start.elapsed() < Duration::from_secs(2) {
        file.write_all_at(&[1; 1200], count % 3000 * 1200)?;
        file.sync_data()?;
        count += 1;
    }
    Ok(Figure::new(count as f64 / start.elapsed().as_secs_f64(), ""))
}

/// Time to open a database of 100,000 keys of 1 KB, and what that takes of memory.
async fn open(path: &Path) -> anyhow::Result<()> {
    let before = memory(std::process::id())?.anonymous;
    let start = Instant::now();
    let store = SqliteStore::open(path)?;
    let elapsed = start.elapsed();
    let taken = memory(std::process::id())?.anonymous - before;
    let read = store.range(store::Range::head(store::KeyRange::prefix("/"))).await?;
    let data = read.kvs.iter().map(|kv| kv.key.len() + kv.value.len()).sum::<usize>() as f64 / f64::from(1 << 20);
    print("open with 100,000 keys of 1 KB", "s", &Figure::new(elapsed.as_secs_f64(), ""));
    print("memory for it, of the data", "times", &Figure::new(taken / data, format!("{taken:.0} MB for {data:.0} MB")));
    store.close().await.context("closing")
}

fn print(what: &str, unit: &str, Figure { value, note }: &Figure) {
    println!("{what:<36} {value:>10.2} {unit:<6} {note}");
}
