//! Tests against real etcd processes: what is special to a cluster. Semantics are the suite's.

use std::{sync::Arc, time::Duration};

use tempfile::TempDir;
use testkit::Etcds;
use tokio::time::{Instant, sleep, timeout};

use super::*;
use crate::{Event, Op, WatchBatch};

const LONG: Duration = Duration::from_secs(30);

/// A cluster, which ends before its directory.
fn start(members: usize) -> (TempDir, Etcds) {
    let dir = tempfile::tempdir().unwrap();
    let etcds = Etcds::new(members, dir.path()).start();
    (dir, etcds)
}

fn settings(etcds: &Etcds) -> Settings {
    Settings::plain(etcds.urls())
}

fn put(key: impl Into<Bytes>, value: impl Into<Bytes>) -> Txn {
    Txn { then: vec![Op::put(key, value)], ..Txn::default() }
}

async fn next(watch: &mut Watch) -> WatchBatch {
    timeout(LONG, watch.recv()).await.expect("in time").expect("the watch goes on")
}

/// Events up to `revision`, in order.
async fn up_to(watch: &mut Watch, revision: i64) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    loop {
        let batch = next(watch).await;
        events.extend(batch.events.iter().cloned());
        if batch.revision >= revision {
            return events;
        }
    }
}

#[tokio::test]
async fn a_transaction_a_watch_and_a_lease_on_the_real_thing() {
    let (_dir, etcds) = start(1);
    let store = EtcdStore::connect(settings(&etcds)).await.unwrap();
    assert_eq!(store.revision().await.unwrap(), crate::FIRST_REVISION);
    let mut watch = store.watch(KeyRange::prefix("a/"), 0).await.unwrap();
    store.txn(put("a/1", "v1")).await.unwrap();
    store.txn(put("b/1", "v1")).await.unwrap();
    let answer = store.txn(Txn { previous: true, ..put("a/1", "v2") }).await.unwrap();
    let [crate::OpResponse::Put(Some(before))] = &answer.responses[..] else { panic!("{answer:?}") };
    assert_eq!((&before.value[..], before.mod_revision, answer.revision), (&b"v1"[..], 2, 4));
    let events = up_to(&mut watch, 4).await;
    assert_eq!(events.iter().map(|e| e.kv.mod_revision).collect::<Vec<_>>(), [2, 4]);
    assert_eq!(events[1].prev.as_ref(), Some(before));
    store.txn(put("b/2", "")).await.unwrap();
    store.progress().await.unwrap();
    let progress = next(&mut watch).await;
    assert_eq!((progress.revision, progress.events.len()), (5, 0));

    let id = store.lease_grant(0, 100).await.unwrap();
    let bound = Op::Put { key: "l".into(), value: Some("v".into()), lease: Some(id) };
    store.txn(Txn { then: vec![bound], ..Txn::default() }).await.unwrap();
    assert_eq!(store.lease_keep_alive(id).await.unwrap(), 100);
    assert_eq!(store.leases().await.unwrap(), [id]);
    let status = store.lease_time_to_live(id).await.unwrap();
    assert_eq!((status.granted, &status.keys[..]), (100, &[Bytes::from("l")][..]));
    store.lease_revoke(id).await.unwrap();
    assert!(matches!(store.lease_keep_alive(id).await, Err(Error::LeaseNotFound(at)) if at == id));
    assert!(matches!(store.lease_revoke(id).await, Err(Error::LeaseNotFound(at)) if at == id));
    assert_eq!(store.range(Range::head(KeyRange::key("l"))).await.unwrap().kvs, []);

    store.close().await.unwrap();
    assert!(matches!(store.revision().await, Err(Error::Closed)));
    assert!(timeout(LONG, watch.recv()).await.unwrap().is_none());
}

/// Writers count up, one key each; a watcher follows; meanwhile the member that is asked dies.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_doubled_when_one_of_three_members_dies() {
    let (_dir, mut etcds) = start(3);
    let store = Arc::new(EtcdStore::connect(settings(&etcds)).await.unwrap());
    let from = store.revision().await.unwrap() + 1;
    let mut watch = store.watch(KeyRange::prefix("w/"), from).await.unwrap();
    let until = Instant::now() + Duration::from_secs(6);
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                let (mut acknowledged, mut unknown) = (Vec::new(), Vec::new());
                for count in 0.. {
                    if Instant::now() > until {
                        break;
                    }
                    let value = format!("{writer}-{count}");
                    match store.txn(put(format!("w/{writer}"), value.clone())).await {
                        Ok(answer) => acknowledged.push((answer.revision, value)),
                        Err(Error::OutcomeUnknown { .. }) => unknown.push(value),
                        Err(error) => panic!("{error}"),
                    }
                    sleep(Duration::from_millis(5)).await;
                }
                (acknowledged, unknown)
            })
        })
        .collect();
    sleep(Duration::from_secs(2)).await;
    etcds.kill(0);
    let (mut acknowledged, mut unknown) = (Vec::new(), Vec::new());
    for writer in writers {
        let (more_acknowledged, more_unknown) = writer.await.unwrap();
        assert!(more_unknown.len() <= 2, "a dead member is noticed: {more_unknown:?}");
        acknowledged.extend(more_acknowledged);
        unknown.extend(more_unknown);
    }
    let events = up_to(&mut watch, store.revision().await.unwrap()).await;
    let seen: Vec<(i64, String)> =
        events.iter().map(|e| (e.kv.mod_revision, String::from_utf8(e.kv.value.to_vec()).unwrap())).collect();
    assert!(seen.is_sorted_by(|a, b| a.0 < b.0), "in order, and none twice");
    acknowledged.sort();
    let unacknowledged: Vec<_> = seen.iter().filter(|event| acknowledged.binary_search(event).is_err()).collect();
    assert_eq!(seen.len(), acknowledged.len() + unacknowledged.len(), "every acknowledged write is seen");
    assert!(unacknowledged.iter().all(|(_, value)| unknown.contains(value)), "{unacknowledged:?} not in {unknown:?}");
    // The history agrees, and writes went on after the death.
    let late =
        acknowledged.iter().filter(|(_, value)| value.split('-').next_back().unwrap().parse::<u32>().unwrap() > 50);
    assert!(late.count() > 0);
    for pair in events.windows(2) {
        let before =
            events.iter().rev().find(|e| e.kv.key == pair[1].kv.key && e.kv.mod_revision < pair[1].kv.mod_revision);
        assert_eq!(pair[1].prev.as_ref(), before.map(|e| &e.kv));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_goes_on_when_the_only_member_comes_back() {
    let (_dir, mut etcds) = start(1);
    let store = EtcdStore::connect(settings(&etcds)).await.unwrap();
    let mut watch = store.watch(KeyRange::prefix("k"), 0).await.unwrap();
    store.txn(put("k", "1")).await.unwrap();
    up_to(&mut watch, 2).await;
    etcds.kill(0);
    // It is said after a while, not never.
    let begun = Instant::now();
    let refused = store.range(Range::head(KeyRange::key("k"))).await;
    assert!(matches!(refused, Err(Error::Unavailable { .. })), "{refused:?}");
    // The connection is known to be gone: nothing is sent, so that is certain.
    let refused = store.txn(put("k", "lost")).await;
    assert!(matches!(refused, Err(Error::Unavailable { .. })), "{refused:?}");
    assert!(begun.elapsed() < cluster::PATIENCE * 2 + Duration::from_secs(10));
    etcds.spawn(0);
    // A write that comes while etcd is starting waits for it.
    let answer = store.txn(put("k", "2")).await.unwrap();
    let events = up_to(&mut watch, answer.revision).await;
    assert_eq!(events.iter().map(|e| (e.kv.mod_revision, &e.kv.value[..])).collect::<Vec<_>>(), [(3, &b"2"[..])]);
    assert_eq!(events[0].prev.as_ref().unwrap().value, "1");
}

/// Who caches what an etcd held before it was emptied would else take the cache for current.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_etcd_that_was_emptied_is_not_taken_for_the_same() {
    let (dir, mut etcds) = start(1);
    let store = EtcdStore::connect(settings(&etcds)).await.unwrap();
    store.txn(put("k", "1")).await.unwrap();
    assert_eq!(store.revision().await.unwrap(), 2);
    etcds.kill(0);
    std::fs::remove_dir_all(dir.path().join("m0")).unwrap();
    etcds.spawn(0);
    let told = store.revision().await.unwrap_err().to_string();
    assert!(told.contains("from 2 back to 1"), "{told}");
    // A new start takes it as it is.
    let anew = EtcdStore::connect(settings(&etcds)).await.unwrap();
    assert_eq!(anew.revision().await.unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn compaction_while_a_watch_is_away_ends_it() {
    let (_dir, mut etcds) = start(1);
    let (store, other) = (EtcdStore::connect(settings(&etcds)).await.unwrap(), settings(&etcds));
    let mut watch = store.watch(KeyRange::prefix("k"), 0).await.unwrap();
    store.txn(put("k", "1")).await.unwrap();
    up_to(&mut watch, 2).await;
    // The watcher sleeps longer and longer while its member is away; the other one is quicker.
    etcds.kill(0);
    sleep(Duration::from_secs(3)).await;
    etcds.spawn(0);
    let other = EtcdStore::connect(other).await.unwrap();
    for n in 0..10 {
        other.txn(put("k", format!("{n}"))).await.unwrap();
    }
    let head = other.revision().await.unwrap();
    other.compact(head).await.unwrap();
    // It ends if it was away for too long, and else has seen all.
    let mut seen = Vec::new();
    while seen.last() != Some(&head) {
        match timeout(LONG, watch.recv()).await.unwrap() {
            Some(batch) => seen.extend(batch.events.iter().map(|e| e.kv.mod_revision)),
            None => break,
        }
    }
    assert!(seen.iter().copied().eq((3..).take(seen.len())), "{seen:?}");
    let again = store.watch(KeyRange::prefix("k"), 3).await;
    assert!(matches!(again, Err(Error::Compacted { compacted }) if compacted > 3 && compacted <= head), "{again:?}");
    assert!(store.watch(KeyRange::prefix("k"), head).await.is_ok());
    let old = store.range(Range { revision: 3, ..Range::head(KeyRange::key("k")) }).await;
    assert!(matches!(old, Err(Error::Compacted { .. })), "{old:?}");
    let again = other.compact(head).await;
    assert!(matches!(again, Err(Error::Compacted { compacted }) if compacted == head), "{again:?}");
    assert_eq!(other.compacted(), head);
}

/// One revision of 4 MB before and after, while etcd sends at most some 2 MB in a message.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revision_larger_than_a_message_comes_whole() {
    let (_dir, etcds) = start(1);
    let store = EtcdStore::connect(settings(&etcds)).await.unwrap();
    let value = Bytes::from(vec![b'x'; 1 << 20]);
    for n in 0..8 {
        store.txn(put(format!("large/{n}"), value.clone())).await.unwrap();
    }
    let delete = Txn { then: vec![Op::Delete(KeyRange::prefix("large/"))], ..Txn::default() };
    let mut live = store.watch(KeyRange::prefix("large/"), 0).await.unwrap();
    let deleted = store.txn(delete).await.unwrap();
    let mut past = store.watch(KeyRange::prefix("large/"), 2).await.unwrap();
    for watch in [&mut live, &mut past] {
        loop {
            let batch = next(watch).await;
            if batch.revision == deleted.revision {
                let of_it = batch.events.iter().filter(|e| e.kv.mod_revision == deleted.revision);
                assert_eq!(of_it.filter(|e| e.is_delete() && e.prev.as_ref().unwrap().value == value).count(), 8);
                break;
            }
        }
    }
    let refused = store.txn(put("large", vec![b'x'; 3 << 20])).await;
    assert!(matches!(refused, Err(Error::TooLarge)), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_of_many_keys_comes_in_pieces_and_is_of_one_moment() {
    let (_dir, etcds) = start(1);
    let store = EtcdStore::connect(settings(&etcds)).await.unwrap();
    let many = PIECE + 100;
    let keys: Vec<String> = (0..many).map(|n| format!("k/{n:06}")).collect();
    for some in keys.chunks(100) {
        let then = some.iter().map(|key| Op::put(key.clone(), "v")).collect();
        store.txn(Txn { then, ..Txn::default() }).await.unwrap();
    }
    let read = store.range(Range::head(KeyRange::prefix("k/"))).await.unwrap();
    assert_eq!((read.count, read.kvs.len()), (many, many));
    assert!(read.kvs.iter().map(|kv| &kv.key[..]).eq(keys.iter().map(|key| key.as_bytes())));
    let some = store.range(Range { limit: 7, ..Range::head(KeyRange::prefix("k/")) }).await.unwrap();
    assert_eq!((some.count, some.kvs.len()), (many, 7));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_servers_one_compacts_and_both_know() {
    let (_dir, etcds) = start(1);
    let frequent = || Settings { compact_every: Duration::from_millis(500), ..settings(&etcds) };
    let (a, b) = (EtcdStore::connect(frequent()).await.unwrap(), EtcdStore::connect(frequent()).await.unwrap());
    let begun = Instant::now();
    let mut head = 0;
    while a.compacted() < 10 || b.compacted() < 10 {
        head = a.txn(put("k", "v")).await.unwrap().revision;
        assert!(begun.elapsed() < LONG, "{} {}", a.compacted(), b.compacted());
        sleep(Duration::from_millis(20)).await;
    }
    let key = a.range(Range::head(KeyRange::key("compact_rev_key"))).await.unwrap();
    let intervals = begun.elapsed().as_millis() / 500 + 1;
    assert!(key.kvs[0].version as u128 <= intervals, "{} writes in {intervals} intervals", key.kvs[0].version);
    // What is younger than an interval is kept.
    assert!(a.compacted() < head && b.compacted() < head);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_that_hangs_is_left() {
    let (_dir, etcds) = start(3);
    let store = EtcdStore::connect(settings(&etcds)).await.unwrap();
    let mut watch = store.watch(KeyRange::prefix("k"), 0).await.unwrap();
    let stopped = etcds.stop(0);
    let begun = Instant::now();
    let answer = loop {
        match store.txn(put("k", "v")).await {
            Ok(answer) => break answer,
            Err(Error::OutcomeUnknown { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    };
    up_to(&mut watch, answer.revision).await;
    assert!(begun.elapsed() < LONG, "{:?}", begun.elapsed());
    drop(stopped);
}

#[tokio::test]
async fn the_start_waits_for_etcd_and_says_what_makes_no_sense() {
    let error =
        EtcdStore::connect(Settings::plain(["https://etcd:2379", "postgres://etcd"])).await.err().unwrap().to_string();
    assert_eq!(error, "endpoint postgres://etcd: unknown scheme; known are https, http and unix");

    let (_dir, mut etcds) = start(1);
    etcds.kill(0);
    let connecting = tokio::spawn(EtcdStore::connect(settings(&etcds)));
    sleep(Duration::from_secs(2)).await;
    assert!(!connecting.is_finished());
    etcds.spawn(0);
    timeout(LONG, connecting).await.unwrap().unwrap().unwrap();
}
