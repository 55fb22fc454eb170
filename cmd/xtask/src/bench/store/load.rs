//! The load that every store gets, through the same trait: in process, or over etcd's API.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::Context as _;
use bytes::Bytes;
use store::{Compare, KeyRange, Op, Range, Store, Txn};
use tokio::task::JoinSet;

use crate::bench::{Figure, statistics::quantile};

const VALUE: usize = 1024;
const RANGE_KEYS: usize = 10_000;
const RANGES: usize = 20;
const WATCHERS: usize = 100;
const WATCHED_WRITES: usize = 300;
/// Between two writes that watchers wait for.
const WRITE_INTERVAL: Duration = Duration::from_millis(10);

fn value() -> Bytes {
    // Not compressible, should anything try.
    (0..VALUE).map(|n| (n as u32).wrapping_mul(2_654_435_761).to_le_bytes()[2]).collect::<Vec<u8>>().into()
}

/// Makes a key, as an API server does: kine does not take anything else.
fn create(key: String) -> Txn {
    let when = vec![Compare::mod_revision(key.clone(), 0)];
    Txn { when, then: vec![Op::put(key, value())], ..Txn::default() }
}

/// Writes keys that are new, `total` in all, from `clients` at a time: puts per second.
pub async fn puts(store: &Arc<dyn Store>, clients: usize, total: usize) -> anyhow::Result<Figure> {
    let next = Arc::new(AtomicUsize::new(0));
    let start = Instant::now();
    let mut tasks = JoinSet::new();
    for _ in 0..clients {
        let (store, next) = (store.clone(), next.clone());
        tasks.spawn(async move {
            let mut times = Vec::new();
            loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                if n >= total {
                    return anyhow::Ok(times);
                }
                let begun = Instant::now();
                store.txn(create(format!("/bench/puts/{clients}/{n:08}"))).await?;
                times.push(begun.elapsed().as_secs_f64() * 1000.0);
            }
        });
    }
    let mut times = Vec::new();
    while let Some(done) = tasks.join_next().await {
        times.extend(done??);
    }
    let rate = total as f64 / start.elapsed().as_secs_f64();
    let (p50, p99) = (quantile(&mut times, 0.5), quantile(&mut times, 0.99));
    Ok(Figure::new(rate, format!("p50 {p50:.2} ms, p99 {p99:.2} ms")))
}

/// Writes `keys` of 1 KB below `prefix`, many at a time.
pub async fn fill(store: &Arc<dyn Store>, prefix: &str, keys: usize) -> anyhow::Result<()> {
    for chunk in (0..keys).collect::<Vec<_>>().chunks(256) {
        let writes = chunk.iter().map(|n| store.txn(create(format!("{prefix}{n:08}"))));
        futures::future::try_join_all(writes).await?;
    }
    Ok(())
}

/// Reads 10,000 keys of 1 KB at once: MB of keys and values per second.
pub async fn range(store: &Arc<dyn Store>) -> anyhow::Result<Figure> {
    fill(store, "/bench/range/", RANGE_KEYS).await?;
    let mut bytes = 0;
    let start = Instant::now();
    for _ in 0..RANGES {
        let read = store.range(Range::head(KeyRange::prefix("/bench/range/"))).await?;
        anyhow::ensure!(read.kvs.len() == RANGE_KEYS, "{} keys", read.kvs.len());
        bytes += read.kvs.iter().map(|kv| kv.key.len() + kv.value.len()).sum::<usize>();
    }
    Ok(Figure::new(bytes as f64 / 1e6 / start.elapsed().as_secs_f64(), ""))
}

/// From the start of a durable write to its event at each of 100 watchers: p99 in ms. The time until
/// the write itself is answered is within, and is noted apart.
pub async fn watch(store: &Arc<dyn Store>) -> anyhow::Result<Figure> {
    let mut watchers = JoinSet::new();
    for _ in 0..WATCHERS {
        let mut watch = store.watch(KeyRange::prefix("/bench/watch/"), 0).await?;
        watchers.spawn(async move {
            let mut seen = Vec::new();
            while seen.len() < WATCHED_WRITES {
                let batch = watch.recv().await.context("the watch ended")?;
                seen.extend(std::iter::repeat_n(Instant::now(), batch.events.len()));
            }
            anyhow::Ok(seen)
        });
    }
    let (mut begun, mut answers) = (Vec::new(), Vec::new());
    for n in 0..WATCHED_WRITES {
        tokio::time::sleep(WRITE_INTERVAL).await;
        let start = Instant::now();
        store.txn(create(format!("/bench/watch/{n}"))).await?;
        begun.push(start);
        answers.push(start.elapsed().as_secs_f64() * 1000.0);
    }
    let mut times = Vec::new();
    while let Some(seen) = watchers.join_next().await {
        let pairs = seen??.into_iter().zip(begun.iter().copied());
        times.extend(pairs.map(|(seen, begun)| seen.duration_since(begun).as_secs_f64() * 1000.0));
    }
    let (p50, p99) = (quantile(&mut times, 0.5), quantile(&mut times, 0.99));
    Ok(Figure::new(p99, format!("p50 {p50:.2} ms; the write itself p50 {:.2} ms", quantile(&mut answers, 0.5))))
}
