//! What is measured within the process of the store, and of the disk below it.

use std::{
    fs::File,
    io::Write as _,
    os::unix::fs::FileExt as _,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use store::{Durability, KeyRange, Op, Range, SqliteStore, Store, Txn};

use super::{Figures, common, load};
use crate::bench::{
    Figure,
    statistics::{memory, written},
};

const OPEN_KEYS: usize = 100_000;
/// How long the idle store is looked at, and how often its node renews its Lease.
const IDLE: Duration = Duration::from_secs(605);
const LEASE_EVERY: Duration = Duration::from_secs(10);

/// The disk, then a store at `path`, which holds 100,000 keys of 1 KB afterwards.
pub async fn measure(path: &Path) -> anyhow::Result<Figures> {
    let mut figures = vec![("syncs of the disk, 1.2 KB each (/s)".to_owned(), syncs(&path.with_extension("syncs"))?)];
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(path)?);
    figures.extend(common(&store).await?);
    let read = store.range(Range { count_only: true, ..Range::head(KeyRange::prefix("")) }).await?;
    load::fill(&store, "/bench/open/", OPEN_KEYS.saturating_sub(read.count)).await?;
    store.close().await?;
    Ok(figures)
}

/// How often the disk can be told to keep 1.2 KB, one after the other, in a file that is as long as
/// it will be.
fn syncs(path: &Path) -> anyhow::Result<Figure> {
    let mut file = File::create(path)?;
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

/// Time to open a database, and what it takes of memory.
pub async fn open(path: &Path) -> anyhow::Result<Figures> {
    let before = memory(std::process::id())?.anonymous;
    let start = Instant::now();
    let store = SqliteStore::open(path)?;
    let elapsed = start.elapsed();
    let taken = memory(std::process::id())?.anonymous - before;
    let read = store.range(Range::head(KeyRange::prefix(""))).await?;
    let data = read.kvs.iter().map(|kv| kv.key.len() + kv.value.len()).sum::<usize>() as f64 / f64::from(1 << 20);
    store.close().await?;
    Ok(vec![
        ("open with 100,000 keys of 1 KB (s)".to_owned(), Figure::new(elapsed.as_secs_f64(), "")),
        ("memory, times the data".to_owned(), Figure::new(taken / data, format!("{taken:.0} MB for {data:.0} MB"))),
    ])
}

/// What an idle node costs the disk: its Lease, and the store's own housekeeping.
pub async fn idle(path: &Path) -> anyhow::Result<Figures> {
    let store = SqliteStore::open(path)?;
    let (written_before, commits) = (written(std::process::id())?, store.status()?.commits);
    let start = Instant::now();
    while start.elapsed() < IDLE {
        let then = vec![Op::put("/registry/leases/kube-node-lease/node", vec![b'x'; 400])];
        store.txn(Txn { then, durability: Durability::Relaxed, ..Txn::default() }).await?;
        tokio::time::sleep(LEASE_EVERY).await;
    }
    let seconds = start.elapsed().as_secs_f64();
    let kilobytes = (written(std::process::id())? - written_before) as f64 / 1024.0;
    let commits = (store.status()?.commits - commits) as f64;
    store.close().await?;
    Ok(vec![
        ("idle, one Lease every 10 s (KB/s written)".to_owned(), Figure::new(kilobytes / seconds, "")),
        ("the same (syncs a minute)".to_owned(), Figure::new(commits * 60.0 / seconds, "")),
    ])
}
