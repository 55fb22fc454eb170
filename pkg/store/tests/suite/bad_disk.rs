//! Disks that misbehave: full, slow, read-only, failing, stalled. The store says so, goes on reading, and goes on
//! writing once it can; what it acknowledged is there afterwards.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use store::{Durability, Error, Op, Range, SqliteStore, Store, Txn};
use tokio::time::{sleep, timeout};

use crate::support::{
    LONG, all,
    disk::{Disk, Faults},
    history::{History, Log, Recorder, Watched, check, follow},
    load::{Calls, put},
    reopen, seed, soak,
};

/// A store on a disk, with a recorder.
struct Bench {
    /// Dropped before the disk.
    store: Arc<SqliteStore>,
    recorder: Recorder,
    calls: Calls,
    path: PathBuf,
    disk: Disk,
}

impl Bench {
    async fn new() -> Bench {
        let disk = Disk::mount();
        let path = disk.path().join("state.db");
        let time = AtomicU64::new(0);
        let recorder = Recorder::new(move || time.fetch_add(1, Ordering::SeqCst));
        let mut calls = Calls::new(seed(), "c".to_owned());
        calls.value = 2000;
        Bench { store: Arc::new(SqliteStore::open(&path).unwrap()), recorder, calls, path, disk }
    }

    /// Asks `count` calls; answers with how many succeeded, and the last error.
    async fn ask(&mut self, count: usize) -> (usize, Option<Error>) {
        let (mut succeeded, mut last) = (0, None);
        for call in self.calls.by_ref().take(count) {
            match timeout(LONG, self.recorder.ask(&*self.store, call)).await.expect("answers come in time") {
                Ok(_) => succeeded += 1,
                Err(error) => last = Some(error),
            }
        }
        (succeeded, last)
    }

    /// Everything works again, and everything acknowledged is there: now, and after a restart.
    async fn all_is_well(mut self, watches: Vec<Watched>) {
        assert_eq!(self.ask(20).await.0, 20);
        assert!(self.store.status().unwrap().failing.is_none());
        let history = History { watches, ..self.recorder.history() };
        check(&history, &Log::read(&*self.store).await.unwrap()).await.unwrap();
        self.store.close().await.unwrap();
        drop(self.store);
        let store = reopen(&self.path).await;
        check(&history, &Log::read(&store).await.unwrap()).await.unwrap();
    }
}

async fn reads_go_on(store: &dyn Store) {
    let began = Instant::now();
    store.range(Range::head(all())).await.unwrap();
    assert!(began.elapsed() < Duration::from_millis(300), "a read took {:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_full_disk_reads_go_on_and_writes_do_once_there_is_room() {
    let mut bench = Bench::new().await;
    let watch = bench.store.watch(all(), 1).await.unwrap();
    assert_eq!(bench.ask(50).await.0, 50);
    bench.disk.set(&Faults { capacity: Some(bench.disk.used() + (1 << 20)), ..Faults::default() });
    let mut full = None;
    for _ in 0..5000 {
        full = bench.ask(1).await.1;
        if full.is_some() {
            break;
        }
    }
    assert!(matches!(full, Some(Error::NoSpace { .. })), "{full:?}");
    assert!(matches!(bench.store.status().unwrap().failing, Some(Error::NoSpace { .. })));
    reads_go_on(&*bench.store).await;
    bench.disk.set(&Faults::default());
    assert_eq!(bench.ask(20).await.0, 20);
    let last = bench.store.range(Range::head(all())).await.unwrap().kvs;
    let last = last.iter().map(|kv| kv.mod_revision).max().unwrap();
    let watched = follow(watch, all(), 1, last).await;
    bench.all_is_well(vec![watched]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_slow_syncs_reads_relaxed_writes_and_renewals_are_fast() {
    let bench = Bench::new().await;
    let lease = bench.store.lease_grant(0, 100).await.unwrap();
    put(&*bench.store, "d/a", "1").await.unwrap();
    bench.disk.set(&Faults { sync_delay: Duration::from_secs(u64::from(soak().clamp(1, 10))), ..Faults::default() });
    let store = bench.store.clone();
    let slow = tokio::spawn(async move {
        let began = Instant::now();
        put(&*store, "d/a", "2").await.unwrap();
        began.elapsed()
    });
    sleep(Duration::from_millis(100)).await;
    reads_go_on(&*bench.store).await;
    let began = Instant::now();
    bench.store.lease_keep_alive(lease).await.unwrap();
    assert!(began.elapsed() < Duration::from_millis(300), "a renewal took {:?}", began.elapsed());
    let took = slow.await.unwrap();
    assert!(took >= Duration::from_millis(900), "the write was not synced: {took:?}");
    let relaxed = Txn { then: vec![Op::put("r/a", "1")], durability: Durability::Relaxed, ..Txn::default() };
    let began = Instant::now();
    bench.store.txn(relaxed).await.unwrap();
    assert!(began.elapsed() < Duration::from_millis(300), "a relaxed write took {:?}", began.elapsed());
    assert!(bench.store.status().unwrap().failing.is_none());
    bench.disk.set(&Faults::default());
    bench.store.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_read_only_disk_writes_are_refused_until_it_is_over() {
    let mut bench = Bench::new().await;
    assert_eq!(bench.ask(20).await.0, 20);
    bench.disk.set(&Faults { read_only: true, ..Faults::default() });
    let error = put(&*bench.store, "d/x", "read-only").await.unwrap_err();
    assert!(error.to_string().contains("state.db"), "{error}");
    assert!(bench.store.status().unwrap().failing.is_some());
    reads_go_on(&*bench.store).await;
    bench.disk.set(&Faults::default());
    bench.all_is_well(Vec::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_not_synced_is_not_acknowledged() {
    let mut bench = Bench::new().await;
    for _ in 0..5 {
        assert_eq!(bench.ask(10).await.0, 10);
        bench.disk.set(&Faults { sync_fails: true, ..Faults::default() });
        let error = put(&*bench.store, "d/x", "not synced").await;
        assert!(error.is_err(), "{error:?}");
        reads_go_on(&*bench.store).await;
        bench.disk.set(&Faults::default());
    }
    bench.all_is_well(Vec::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn compaction_survives_a_stalled_disk() {
    let mut bench = Bench::new().await;
    bench.ask(100).await;
    let store = bench.store.clone();
    let before = store.revision().await.unwrap();
    bench.disk.set(&Faults { stalled: true, ..Faults::default() });
    let compaction = tokio::spawn(async move { store.compact(before - 5).await });
    sleep(Duration::from_millis(500)).await;
    reads_go_on(&*bench.store).await;
    bench.disk.set(&Faults::default());
    timeout(LONG, compaction).await.expect("compaction goes on").unwrap().unwrap();
    assert_eq!(bench.store.compacted(), before - 5);
    bench.all_is_well(Vec::new()).await;
}
