//! Concurrent clients against real stores, and the checker against histories that are wrong.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use bytes::Bytes;
use store::{KeyRange, KeyValue, MemoryStore, Op, Range, SqliteStore, Store, Txn};

use crate::support::{
    FOR_EVER, all, backend,
    history::{Call, History, Log, Recorder, check, follow},
    load::{self, Calls, DURABLE},
    seed, soak, temp,
};

/// Eight clients and three watches at once.
async fn concurrently(store: Arc<dyn Store>, seed: u64, calls: usize) {
    let time = AtomicU64::new(0);
    let recorder = Recorder::new(move || time.fetch_add(1, Ordering::SeqCst));
    let watched = [(all(), 0), (KeyRange::prefix(DURABLE), 1), (KeyRange::prefix(format!("{DURABLE}b")), 20)];
    let mut watches = Vec::new();
    for (keys, from) in watched {
        let from_now = store.revision().await.unwrap() + 1;
        let watch = store.watch(keys.clone(), from).await.unwrap();
        watches.push((watch, keys, if from == 0 { from_now } else { from }));
    }
    let clients = (0..8u64).map(|client| {
        let (store, recorder) = (store.clone(), recorder.clone());
        let calls = Calls::new(seed.wrapping_add(client), format!("{client}")).take(calls);
        tokio::spawn(async move { load::run(&*store, &recorder, calls).await.unwrap() })
    });
    for client in clients.collect::<Vec<_>>() {
        client.await.unwrap();
    }
    let mut history = recorder.history();
    let log = Log::read(&*store).await.unwrap();
    store.progress().await.unwrap();
    for (watch, keys, from) in watches {
        let watched = follow(watch, keys, from, log.last()).await;
        assert!(!watched.events.is_empty());
        history.watches.push(watched);
    }
    assert!(log.events.len() > calls, "{}", log.events.len());
    check(&history, &log).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_clients_of_the_model() {
    concurrently(Arc::new(MemoryStore::default()), seed(), 50).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_clients_of_sqlite() {
    let (_directory, path) = temp();
    concurrently(Arc::new(SqliteStore::open_with(&path, FOR_EVER).unwrap()), seed(), 100 * soak() as usize).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_clients_of_etcd() {
    let backend = backend::etcd().await;
    concurrently(backend.store.into(), seed(), 50).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_clients_of_the_face() {
    let backend = backend::face().await;
    concurrently(backend.store.into(), seed(), 50).await;
}

/// A history that is right: three writes one after another, a read, a watch; the last write is not acknowledged.
async fn right() -> (History, Log) {
    let store = MemoryStore::default();
    let time = AtomicU64::new(0);
    let recorder = Recorder::new(move || time.fetch_add(1, Ordering::SeqCst));
    let put = |values: &[(&'static str, &'static str)]| {
        let then = values.iter().map(|(key, value)| Op::put(*key, *value)).collect();
        Call::Txn(Txn { then, ..Txn::default() })
    };
    let calls = [
        put(&[("a", "1")]),
        put(&[("a", "2"), ("b", "3")]),
        Call::Range(Range::head(all())),
        put(&[("b", "4"), ("c", "5")]),
    ];
    let watch = store.watch(all(), 2).await.unwrap();
    for call in calls {
        recorder.ask(&store, call).await.unwrap();
    }
    let log = Log::read(&store).await.unwrap();
    let mut history = recorder.history();
    history.watches.push(follow(watch, all(), 2, log.last()).await);
    history.operations.last_mut().unwrap().answer = None;
    (history, log)
}

type Spoil = fn(&mut History, &mut Log);

/// Each spoils a right history in one way, is named after it, and is found with these words.
const WRONG: &[(&str, &str, Spoil)] = &[
    ("an acknowledged write is lost", "is lost", |_, log| drop(log.events.drain(1..))),
    ("half of an acknowledged transaction", "should have written", |_, log| drop(log.events.remove(2))),
    ("half of an unacknowledged transaction", "should have written", |history, log| {
        history.watches.clear();
        log.events.pop();
    }),
    ("a value that nobody wrote", "should have written", |history, log| {
        history.watches.clear();
        log.events[0].kv.value = Bytes::from_static(b"x");
    }),
    ("a write without a client", "nobody wrote", |history, _| drop(history.operations.pop())),
    ("a write happened twice", "happened twice", |history, log| {
        history.watches.clear();
        let again: Vec<_> = log.events[3..].to_vec();
        log.events.extend(again.into_iter().map(|mut event| {
            event.prev = Some(event.kv.clone());
            event.kv = KeyValue { mod_revision: 5, version: event.kv.version + 1, ..event.kv };
            event
        }));
    }),
    ("the wrong previous value in the log", "should have written", |history, log| {
        history.watches.clear();
        log.events[1].prev = None;
    }),
    ("a revision given twice", "one revision for two", |history, _| {
        history.operations[1].start = history.operations[0].start;
        answer(history, 1).revision = 2;
    }),
    ("revisions go back", "was seen before", |history, _| {
        let (end, start) = (history.operations[1].end, history.operations[1].start);
        (history.operations[0].start, history.operations[0].end) = (end + 100, end + 101);
        assert!(start < end);
    }),
    ("an answer that is not the model's", "should have been answered", |history, _| answer(history, 1).text.push('!')),
    ("a stale read", "was seen before", |history, _| {
        let earlier = history.operations[0].answer.clone().unwrap();
        answer(history, 2).revision = earlier.revision;
    }),
    ("a read of what was never there", "should have been answered", |history, _| answer(history, 2).text.push('!')),
    ("a watch with a gap", "differs", |history, _| drop(history.watches[0].events.remove(1))),
    ("a watch that sees an event twice", "differs", |history, _| {
        let event = history.watches[0].events[1].clone();
        history.watches[0].events.insert(1, event);
    }),
    ("a watch out of order", "differs", |history, _| history.watches[0].events.swap(0, 1)),
    ("a watch of what was never written", "differs", |history, _| history.watches[0].events[1].1.push('!')),
];

fn answer(history: &mut History, at: usize) -> &mut crate::support::history::Answer {
    history.operations[at].answer.as_mut().unwrap()
}

#[tokio::test]
async fn the_checker_finds_what_is_wrong_in_a_history() {
    let (history, log) = right().await;
    check(&history, &log).await.unwrap();
    for (name, words, spoil) in WRONG {
        let (mut history, mut log) = (history.clone(), log.clone());
        spoil(&mut history, &mut log);
        let found = check(&history, &log).await;
        assert!(found.as_ref().is_err_and(|why| why.contains(words)), "{name} gives {found:?}");
    }
    // What was never acknowledged may be missing whole.
    let mut log = log;
    log.events.truncate(3);
    let history = History { watches: Vec::new(), ..history };
    check(&history, &log).await.unwrap();
}
