//! Power cuts on a disk that records: the store runs on it, and is opened from what a cut could leave.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use bytes::Bytes;
use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use store::{KeyValue, SqliteStore, Store};

use crate::support::{
    all,
    disk::{Disk, Faults},
    history::{History, Log, Recorder, check},
    in_memory,
    load::{self, Calls, DURABLE},
    reopen, seed, soak,
};

/// A run on a recording disk.
struct Run {
    disk: Arc<Disk>,
    /// Length of the disk's record.
    end: u64,
    history: History,
    /// Everything that was ever published.
    log: Log,
    /// `(place in the record, revision)`: compactions that were acknowledged.
    compactions: Vec<(u64, i64)>,
}

impl Run {
    /// Two lives of a store, each with several clients, also relaxed ones, and perhaps compactions, and
    /// with an end in good order.
    async fn record(disk: Disk, seed: u64, calls: usize, compact: bool) -> Run {
        let disk = Arc::new(disk);
        let clock = disk.clone();
        let recorder = Recorder::new(move || clock.mark());
        let (mut log, mut compactions) = (Log::default(), Vec::new());
        for life in 0..2 {
            let store = Arc::new(reopen(&disk.path().join("state.db")).await);
            let mut watch = store.watch(all(), store.revision().await.unwrap() + 1).await.unwrap();
            let clients = (0..4u64).map(|client| {
                let (store, recorder) = (store.clone(), recorder.clone());
                let mut load = Calls::new(seed.wrapping_add(life * 4 + client), format!("{life}.{client}"));
                (load.relaxed, load.value) = (true, 200);
                tokio::spawn(async move { load::run(&*store, &recorder, load.take(calls)).await.unwrap() })
            });
            let clients = clients.collect::<Vec<_>>();
            while compact && !clients.iter().all(|client| client.is_finished()) {
                tokio::time::sleep(Duration::from_millis(10)).await;
                let revision = store.revision().await.unwrap() - 10;
                if revision > store.compacted() {
                    store.compact(revision).await.unwrap();
                    compactions.push((disk.mark(), revision));
                }
            }
            for client in clients {
                client.await.unwrap();
            }
            let until = store.revision().await.unwrap();
            while log.last() < until {
                log.events.extend(watch.recv().await.unwrap().events.iter().cloned());
            }
            store.close().await.unwrap();
        }
        Run { end: disk.mark(), disk, history: recorder.history(), log, compactions }
    }

    /// Cuts the power at a place in the record, and checks what is left.
    async fn cut(&self, at: u64, loss: u64) -> Result<(), String> {
        let (directory, path) = in_memory();
        self.disk.cut(at, loss, directory.path());
        let history = self.history.until(at);
        let store = SqliteStore::open(&path).map_err(|error| format!("it cannot be opened: {error}"))?;
        let text = |error: store::Error| error.to_string();
        let log = Log::read(&store).await.map_err(text)?;
        check(&history, &log).await?;
        // Of relaxed writes to one key only the newest are kept: the past of those is not what it was.
        let durable = |mut state: BTreeMap<Bytes, KeyValue>| {
            state.retain(|key, _| key.starts_with(DURABLE.as_bytes()));
            state
        };
        if durable(log.base.clone()) != durable(self.log.at(log.after)) {
            return Err(format!("the state at {} is not what it was: {:?}", log.after, log.base));
        }
        let compacted = self.compactions.iter().filter(|(place, _)| *place < at).map(|(_, revision)| *revision).max();
        if log.after < compacted.unwrap_or(0) {
            return Err(format!("compacted to {compacted:?}, which {} does not know", log.after));
        }
        let seen = history
            .operations
            .iter()
            .filter_map(|operation| operation.answer.as_ref())
            .map(|answer| answer.revision)
            .max();
        let next = load::put(&store, "d/after", "the cut").await.map_err(text)?.revision;
        if next <= seen.unwrap_or(0) {
            return Err(format!("revision {next} is given out again: {seen:?} was seen"));
        }
        let now = Log::read(&store).await.map_err(text)?;
        if now.events.len() != log.events.len() + 1 {
            return Err("another write changed what was there".to_owned());
        }
        Ok(())
    }
}

/// Cuts one run in many places.
async fn cuts(calls: usize, cuts: usize, compact: bool) {
    let seed = seed();
    for round in 0..soak() {
        let mut random = StdRng::seed_from_u64(seed.wrapping_add(u64::from(round)));
        let run = Run::record(Disk::mount(), random.random(), calls, compact).await;
        for _ in 0..cuts {
            let (at, loss) = (random.random_range(0..=run.end), random.random());
            if let Err(why) = run.cut(at, loss).await {
                panic!("power cut at {at} of {}, loss {loss}: {why}", run.end);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_power_cut_loses_nothing_that_was_acknowledged() {
    cuts(40, 150, false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_power_cut_during_compaction_loses_nothing_either() {
    cuts(40, 150, true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_does_not_sync_would_be_caught() {
    let disk = Disk::mount();
    disk.set(&Faults { sync_lies: true, ..Faults::default() });
    let run = Run::record(disk, 1, 40, false).await;
    let mut caught = 0;
    for loss in 0..20 {
        caught += usize::from(run.cut(run.end, loss).await.is_err());
    }
    assert!(caught > 5, "{caught}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_whose_making_was_cut_short_is_made_anew() {
    let disk = Disk::mount();
    SqliteStore::open(&disk.path().join("state.db")).unwrap().close().await.unwrap();
    let (end, mut random) = (disk.mark(), StdRng::seed_from_u64(seed()));
    for _ in 0..80 * soak() {
        let (at, loss) = (random.random_range(0..=end), random.random());
        let (directory, path) = in_memory();
        disk.cut(at, loss, directory.path());
        let opened = SqliteStore::open(&path);
        assert!(opened.is_ok(), "cut at {at}, loss {loss}: {}", opened.err().unwrap());
    }
}
