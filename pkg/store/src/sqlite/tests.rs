//! The store against the model, and against restarts.

use std::{path::PathBuf, sync::Arc, time::Duration};

use bytes::Bytes;
use proptest::prelude::*;
use tempfile::TempDir;

use super::{open::REVISION_GAP, *};
use crate::{Compare, Durability, MemoryStore, Op, OpResponse};

fn temp() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    (dir, path)
}

fn put(key: &str, value: &str) -> Txn {
    Txn { then: vec![put_op(key, value)], ..Txn::default() }
}

fn put_op(key: &str, value: &str) -> Op {
    Op::put(key.to_owned(), value.to_owned())
}

fn all() -> KeyRange {
    KeyRange::prefix("")
}

async fn read(store: &impl Store, revision: i64) -> Result<Vec<(String, String)>, Error> {
    let response = store.range(Range { revision, ..Range::head(all()) }).await?;
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    Ok(response.kvs.iter().map(|kv| (text(&kv.key), text(&kv.value))).collect())
}

#[tokio::test]
async fn what_was_acknowledged_is_there_after_a_restart() {
    let (_dir, path) = temp();
    let store = SqliteStore::open(&path).unwrap();
    store.txn(put("a", "1")).await.unwrap();
    store.txn(put("a", "2")).await.unwrap();
    store.txn(Txn { then: vec![put_op("b", "1"), Op::Delete(KeyRange::key("a"))], ..Txn::default() }).await.unwrap();
    let head = store.range(Range::head(all())).await.unwrap();
    store.close().await.unwrap();
    drop(store);
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(store.range(Range::head(all())).await.unwrap(), head);
    assert_eq!(read(&store, 3).await.unwrap(), [("a".into(), "2".into())]);
}

#[tokio::test]
async fn revisions_never_go_back_when_relaxed_writes_are_lost() {
    let (_dir, path) = temp();
    let copy = path.with_file_name("copy.db");
    let store = SqliteStore::open(&path).unwrap();
    store.txn(put("a", "1")).await.unwrap();
    // What is on the disk now is what a power cut would leave.
    for (from, to) in [("state.db", "copy.db"), ("state.db-wal", "copy.db-wal")] {
        std::fs::copy(path.with_file_name(from), copy.with_file_name(to)).unwrap();
    }
    let relaxed = Txn { durability: Durability::Relaxed, ..put("b", "1") };
    let seen = store.txn(relaxed).await.unwrap().revision;
    let after = SqliteStore::open(&copy).unwrap();
    assert!(after.revision().await.unwrap() >= seen);
    assert_eq!(read(&after, 0).await.unwrap(), [("a".into(), "1".into())]);
}

#[tokio::test]
async fn many_relaxed_writes_to_one_key_reach_the_disk_before_their_revisions_run_out() {
    let (_dir, path) = temp();
    let store = SqliteStore::open(&path).unwrap();
    for n in 0..REVISION_GAP {
        store.txn(Txn { durability: Durability::Relaxed, ..put("lease", &n.to_string()) }).await.unwrap();
    }
    let last: i64 =
        store.reader.lock().run(|c| c.query_row("SELECT max(id) >> 20 FROM log", [], |r| r.get(0))).unwrap();
    assert!(store.revision().await.unwrap() - last < REVISION_GAP, "{last}");
}

#[tokio::test]
async fn relaxed_writes_ride_along_with_a_durable_one() {
    let (_dir, path) = temp();
    let store = SqliteStore::open(&path).unwrap();
    store.txn(Txn { durability: Durability::Relaxed, ..put("lease", "1") }).await.unwrap();
    let rows =
        || store.reader.lock().run(|c| c.query_row("SELECT count(*) FROM log", [], |r| r.get::<_, i64>(0))).unwrap();
    assert_eq!(rows(), 0);
    store.txn(put("a", "1")).await.unwrap();
    assert_eq!(rows(), 2);
}

#[tokio::test]
async fn of_relaxed_writes_to_one_key_only_the_newest_is_written() {
    let (_dir, path) = temp();
    let store = SqliteStore::open(&path).unwrap();
    store.txn(put("lease", "0")).await.unwrap();
    for n in 1..=5 {
        store.txn(Txn { durability: Durability::Relaxed, ..put("lease", &n.to_string()) }).await.unwrap();
    }
    store.txn(put("a", "1")).await.unwrap();
    let rows = store.reader.lock().run(|c| c.query_row("SELECT count(*) FROM log", [], |r| r.get::<_, i64>(0)));
    assert_eq!(rows.unwrap(), 3);
    let head = store.range(Range::head(all())).await.unwrap();
    assert_eq!(head.kvs[1].version, 6);
    store.close().await.unwrap();
    drop(store);
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(store.range(Range::head(all())).await.unwrap(), head);
    assert_eq!(read(&store, 2).await.unwrap(), [("lease".into(), "0".into())]);
}

#[tokio::test]
async fn a_second_process_is_refused() {
    let (_dir, path) = temp();
    let _store = SqliteStore::open(&path).unwrap();
    assert!(matches!(SqliteStore::open(&path), Err(Error::InUse { .. })));
}

#[tokio::test]
async fn a_foreign_file_is_refused_and_left_alone() {
    let (_dir, path) = temp();
    std::fs::write(&path, b"this is not a database, but somebody's diary of some length......").unwrap();
    let error = SqliteStore::open(&path).err().unwrap();
    assert!(error.to_string().contains("state.db"), "{error}");
    assert!(std::fs::read(&path).unwrap().starts_with(b"this is not"));
}

#[tokio::test]
async fn an_emptied_file_is_no_new_cluster() {
    let (_dir, path) = temp();
    std::fs::write(&path, b"").unwrap();
    assert!(matches!(SqliteStore::open(&path), Err(Error::Corrupt { .. })));
}

#[tokio::test]
async fn a_watch_resumes_without_gaps_and_goes_on_live() {
    let (_dir, path) = temp();
    let store = SqliteStore::open(&path).unwrap();
    for n in 0..10 {
        store.txn(put(&format!("k{}", n % 3), &n.to_string())).await.unwrap();
    }
    store.close().await.unwrap();
    drop(store);
    let store = SqliteStore::open(&path).unwrap();
    let mut watch = store.watch(KeyRange::prefix("k"), 5).await.unwrap();
    let past = watch.recv().await.unwrap();
    assert_eq!(past.events.iter().map(|e| e.kv.mod_revision).collect::<Vec<_>>(), (5..=11).collect::<Vec<_>>());
    assert!(past.events.iter().all(|e| e.prev.is_some()));
    store.txn(put("k0", "live")).await.unwrap();
    // Having caught up, it says so once.
    assert_eq!((11, 0), watch.recv().await.map(|batch| (batch.revision, batch.events.len())).unwrap());
    assert_eq!(watch.recv().await.unwrap().revision, 12);
}

#[tokio::test]
async fn an_expired_lease_takes_its_keys() {
    let (_dir, path) = temp();
    let store = SqliteStore::open(&path).unwrap();
    let lease = store.lease_grant(0, 1).await.unwrap();
    let op = Op::Put { key: "a".into(), value: Some("1".into()), lease: Some(lease) };
    store.txn(Txn { then: vec![op], ..Txn::default() }).await.unwrap();
    let mut watch = store.watch(all(), 0).await.unwrap();
    let gone = tokio::time::timeout(Duration::from_secs(20), watch.recv()).await.unwrap().unwrap();
    assert!(gone.events[0].is_delete());
    assert!(matches!(store.lease_keep_alive(lease).await, Err(Error::LeaseNotFound(_))));
}

#[tokio::test]
async fn compaction_removes_rows_and_refuses_the_past() {
    let (_dir, path) = temp();
    let store = SqliteStore::open(&path).unwrap();
    for n in 0..100 {
        store.txn(put("a", &n.to_string())).await.unwrap();
    }
    store.compact(90).await.unwrap();
    assert!(matches!(store.compact(90).await, Err(Error::Compacted { .. })));
    assert!(matches!(read(&store, 89).await, Err(Error::Compacted { .. })));
    assert!(matches!(store.watch(all(), 89).await, Err(Error::Compacted { .. })));
    assert_eq!(read(&store, 90).await.unwrap(), [("a".into(), "88".into())]);
    store.close().await.unwrap();
    drop(store);
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(read(&store, 95).await.unwrap(), [("a".into(), "93".into())]);
    assert!(matches!(read(&store, 89).await, Err(Error::Compacted { .. })));
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_swaps_of_one_key_win_once() {
    let (_dir, path) = temp();
    let store = Arc::new(SqliteStore::open(&path).unwrap());
    let tasks: Vec<_> = (0..50)
        .map(|n| {
            let store = store.clone();
            tokio::spawn(async move {
                let when = vec![Compare::mod_revision("a", 0)];
                store.txn(Txn { when, ..put("a", &n.to_string()) }).await.unwrap().succeeded
            })
        })
        .collect();
    let mut won = 0;
    for task in tasks {
        won += usize::from(task.await.unwrap());
    }
    assert_eq!(won, 1);
}

fn key() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "ab", "b", "b/1", "b/2", "c"]).prop_map(str::to_owned)
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        3 => (key(), "[a-z]{0,3}").prop_map(|(k, v)| put_op(&k, &v)),
        1 => key().prop_map(|k| Op::Delete(KeyRange::key(k))),
        1 => key().prop_map(|k| Op::Delete(KeyRange::prefix(k))),
        1 => key().prop_map(|k| Op::Range(Range::head(KeyRange::prefix(k)))),
    ]
}

fn txn() -> impl Strategy<Value = Txn> {
    let when = prop::collection::vec((key(), 0i64..12).prop_map(|(k, r)| Compare::mod_revision(k, r)), 0..2);
    (when, prop::collection::vec(op(), 0..4), prop::collection::vec(op(), 0..2))
        .prop_map(|(when, then, otherwise)| Txn { when, then, otherwise, ..Txn::default() })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn it_answers_as_the_model_does(txns in prop::collection::vec(txn(), 1..25), compact in 0usize..20) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (_dir, path) = temp();
            let (store, model) = (SqliteStore::open(&path).unwrap(), MemoryStore::default());
            for (at, txn) in txns.into_iter().enumerate() {
                let (got, want) = (store.txn(txn.clone()).await, model.txn(txn).await);
                prop_assert_eq!(format!("{got:?}"), format!("{want:?}"));
                if at == compact {
                    let revision = model.revision().await.unwrap();
                    prop_assert_eq!(format!("{:?}", store.compact(revision).await), format!("{:?}", model.compact(revision).await));
                }
            }
            for revision in 0..=model.revision().await.unwrap() + 1 {
                prop_assert_eq!(format!("{:?}", read(&store, revision).await), format!("{:?}", read(&model, revision).await));
            }
            Ok(())
        })?;
    }
}

#[test]
fn responses_carry_what_was_replaced() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (_dir, path) = temp();
        let store = SqliteStore::open(&path).unwrap();
        store.txn(put("a", "1")).await.unwrap();
        let response = store.txn(put("a", "2")).await.unwrap();
        let OpResponse::Put(Some(prev)) = &response.responses[0] else { panic!("{response:?}") };
        assert_eq!((&prev.value[..], prev.version), (&b"1"[..], 1));
    });
}

fn value(bytes: usize) -> Bytes {
    vec![7; bytes].into()
}

fn put_bytes(key: String, bytes: usize) -> Txn {
    Txn { then: vec![Op::put(key, value(bytes))], ..Txn::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_stay_small_under_writes_that_never_pause() {
    let (_dir, path) = temp();
    let store = Arc::new(SqliteStore::open(&path).unwrap());
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                for n in 0..5000 {
                    store.txn(put_bytes(format!("{writer}/{}", n % 100), 1000)).await.unwrap();
                }
            })
        })
        .collect();
    let (mut file, mut wal) = (0, 0);
    while writers.iter().any(|writer| !writer.is_finished()) {
        let status = store.status().unwrap();
        (file, wal) = (file.max(status.file_bytes), wal.max(status.wal_bytes));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    for writer in writers {
        writer.await.unwrap();
    }
    // 40 MB were written, of which 0.8 MB are live.
    assert!(file < 12 << 20, "database of {file} bytes");
    assert!(wal < 16 << 20, "log of {wal} bytes");
    assert!(store.compacted() > 1000);
}

#[tokio::test]
async fn history_is_compacted_by_age_without_being_asked() {
    let (_dir, path) = temp();
    let retention = Retention { age: Duration::from_millis(200), ..Retention::default() };
    let store = SqliteStore::open_with(&path, retention).unwrap();
    store.txn(put("a", "1")).await.unwrap();
    let first = store.txn(put("a", "2")).await.unwrap().revision;
    tokio::time::timeout(Duration::from_secs(20), async {
        while store.compacted() == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await
    .unwrap();
    assert!(store.compacted() <= first, "no younger than was there when the age began");
}

#[tokio::test]
async fn reclaimed_space_goes_back_to_the_file_system() {
    let (_dir, path) = temp();
    let store = SqliteStore::open(&path).unwrap();
    for n in 0..2000 {
        store.txn(put_bytes(format!("k{n}"), 2000)).await.unwrap();
    }
    store.txn(Txn { then: vec![Op::Delete(all())], ..Txn::default() }).await.unwrap();
    let last = store.txn(put("a", "1")).await.unwrap().revision;
    let before = store.status().unwrap().file_bytes;
    let _ = store.compact(last).await;
    store.reclaim().await.unwrap();
    let after = store.status().unwrap();
    assert!(before > 2 << 20 && after.file_bytes < 1 << 20, "{before} to {after:?}");
    assert_eq!(read(&store, 0).await.unwrap(), [("a".into(), "1".into())]);
}

#[tokio::test]
async fn a_flipped_bit_in_a_value_is_found() {
    let (_dir, path) = temp();
    let store = SqliteStore::open(&path).unwrap();
    store.txn(put("name", "a value that is long enough to be found in the file")).await.unwrap();
    store.close().await.unwrap();
    drop(store);
    let mut file = std::fs::read(&path).unwrap();
    let at = file.windows(11).position(|w| w == b"long enough").unwrap();
    file[at] ^= 1;
    std::fs::write(&path, file).unwrap();
    let error = SqliteStore::open(&path).err().unwrap();
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
    assert!(error.to_string().contains("\"name\""), "{error}");
}

#[tokio::test]
async fn a_lost_log_moves_revisions_on_and_ends_the_past() {
    let (_dir, path) = temp();
    let store = SqliteStore::open(&path).unwrap();
    store.txn(put("a", "1")).await.unwrap();
    store.close().await.unwrap();
    drop(store);
    let store = SqliteStore::open(&path).unwrap();
    let lost = store.txn(put("a", "2")).await.unwrap().revision;
    let copy = path.with_file_name("copy.db");
    std::fs::copy(&path, &copy).unwrap();
    let store = SqliteStore::open(&copy).unwrap();
    assert_eq!(read(&store, 0).await.unwrap(), [("a".into(), "1".into())]);
    assert!(store.revision().await.unwrap() > lost);
    assert!(matches!(store.watch(all(), lost + 1).await, Err(Error::Compacted { .. })));
}

#[tokio::test]
async fn a_lease_ends_once_though_its_end_is_asked_twice_at_once() {
    let (_dir, path) = temp();
    let store = SqliteStore::open(&path).unwrap();
    let lease = store.lease_grant(7, 100).await.unwrap();
    assert!(matches!(store.lease_grant(7, 100).await, Err(Error::LeaseExists(7))));
    let op = Op::Put { key: "a".into(), value: Some("1".into()), lease: Some(lease) };
    store.txn(Txn { then: vec![op], ..Txn::default() }).await.unwrap();
    let (one, other) = tokio::join!(store.lease_revoke(lease), store.lease_revoke(lease));
    assert!(one.is_ok() != other.is_ok());
    assert_eq!(read(&store, 0).await.unwrap(), []);
    store.close().await.unwrap();
    drop(store);
    let store = SqliteStore::open(&path).unwrap();
    assert!(store.leases().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_from_long_ago_sees_everything_once_while_writes_go_on() {
    let (_dir, path) = temp();
    let store = Arc::new(SqliteStore::open(&path).unwrap());
    for n in 0..5000 {
        let txn = Txn { durability: Durability::Relaxed, ..put(&format!("k{n}"), "v") };
        store.txn(txn).await.unwrap();
    }
    let writer = tokio::spawn({
        let store = store.clone();
        async move {
            for n in 5000..6000 {
                store.txn(put(&format!("k{n}"), "v")).await.unwrap();
            }
        }
    });
    let mut watch = store.watch(KeyRange::prefix("k"), 2).await.unwrap();
    let mut next = 2;
    while next < 6002 {
        for event in watch.recv().await.unwrap().events.iter() {
            assert_eq!(event.kv.mod_revision, next);
            next += 1;
        }
    }
    writer.await.unwrap();
}

#[tokio::test]
async fn a_closed_store_says_so_to_everybody() {
    let (_dir, path) = temp();
    let store = SqliteStore::open(&path).unwrap();
    store.lease_grant(7, 100).await.unwrap();
    store.close().await.unwrap();
    let answers = [
        store.txn(put("a", "1")).await.err(),
        store.range(Range::head(all())).await.err(),
        store.watch(all(), 0).await.err(),
        store.watch(all(), 1).await.err(),
        store.progress().await.err(),
        store.revision().await.err(),
        store.compact(1).await.err(),
        store.lease_keep_alive(7).await.err(),
        store.leases().await.err(),
        store.close().await.err(),
    ];
    for answer in answers {
        assert!(matches!(answer, Some(Error::Closed)), "{answer:?}");
    }
}

#[tokio::test]
async fn a_log_that_grew_beside_a_long_read_is_cut_afterwards() {
    let (_dir, path) = temp();
    let store = SqliteStore::open(&path).unwrap();
    let reader = rusqlite::Connection::open(&path).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM log").unwrap();
    let write = async |from: i32, to: i32| {
        for n in from..to {
            store.txn(put_bytes(format!("k{}", n % 50), 100_000)).await.unwrap();
        }
        store.status().unwrap().wal_bytes
    };
    let grown = write(0, 300).await;
    assert!(grown > 24 << 20, "{grown}");
    reader.execute_batch("COMMIT").unwrap();
    let cut = write(300, 600).await;
    assert!(cut < 24 << 20, "{cut}");
}

/// Writes a Lease that is renewed in memory, as an idle node does, with a compaction in between.
async fn renewed(store: &SqliteStore, compact_at: usize) {
    store.txn(put("lease", "0")).await.unwrap();
    for n in 1..6 {
        let relaxed = Txn { durability: Durability::Relaxed, ..put("lease", &n.to_string()) };
        let revision = store.txn(relaxed).await.unwrap().revision;
        if n == compact_at {
            store.compact(revision).await.unwrap();
        }
    }
    store.reclaim().await.unwrap();
}

#[tokio::test]
async fn compaction_takes_no_row_that_a_renewed_lease_still_stands_on() {
    for compact_at in 1..6 {
        let (_dir, path) = temp();
        let store = SqliteStore::open(&path).unwrap();
        renewed(&store, compact_at).await;
        let compacted = store.compacted();
        store.close().await.unwrap();
        drop(store);
        let report = crate::check::check(&path, None).unwrap();
        assert!(report.damage.is_empty(), "compacted at {compact_at}: {report}");
        let store = SqliteStore::open(&path).unwrap();
        let past = read(&store, compacted).await.unwrap();
        assert_eq!(past, [("lease".into(), compact_at.to_string())], "compacted at {compact_at}");
    }
}

#[tokio::test]
async fn compaction_between_two_renewals_keeps_what_was_before_them() {
    let (_dir, path) = temp();
    let store = SqliteStore::open(&path).unwrap();
    store.txn(put("lease", "0")).await.unwrap();
    for n in 1..6 {
        store.txn(Txn { durability: Durability::Relaxed, ..put("lease", &n.to_string()) }).await.unwrap();
    }
    // Revision 2 is on disk, 3 to 6 were never written.
    store.compact(4).await.unwrap();
    store.reclaim().await.unwrap();
    store.close().await.unwrap();
    drop(store);
    assert!(crate::check::check(&path, None).unwrap().damage.is_empty());
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(read(&store, 5).await.unwrap(), [("lease".into(), "0".into())]);
}

#[tokio::test]
async fn a_log_without_its_database_is_no_new_cluster() {
    let (_dir, path) = temp();
    let store = SqliteStore::open(&path).unwrap();
    store.txn(put("a", "1")).await.unwrap();
    let copy = path.with_file_name("copy.db");
    std::fs::copy(path.with_file_name("state.db-wal"), path.with_file_name("copy.db-wal")).unwrap();
    let error = SqliteStore::open(&copy).err().unwrap();
    assert!(matches!(error, Error::Corrupt { .. }) && error.to_string().contains("copy.db-wal"), "{error}");
    assert!(!copy.exists());
}

#[tokio::test]
async fn a_hole_in_the_log_moves_revisions_on_and_ends_the_past() {
    let (_dir, path) = temp();
    let store = SqliteStore::open(&path).unwrap();
    let first = store.txn(put("first", "1")).await.unwrap().revision;
    for n in 0..2000 {
        store.txn(Txn { durability: Durability::Relaxed, ..put(&format!("k{n}"), "v") }).await.unwrap();
    }
    let last = store.txn(put("last", "1")).await.unwrap().revision;
    let copy = path.with_file_name("copy.db");
    for suffix in ["", "-wal"] {
        let name = |database: &str| path.with_file_name(format!("{database}{suffix}"));
        std::fs::copy(name("state.db"), name("copy.db")).unwrap();
    }
    let log = path.with_file_name("copy.db-wal");
    let mut bytes = std::fs::read(&log).unwrap();
    let at = bytes.windows(5).position(|w| w == b"first").unwrap();
    bytes[at] ^= 1;
    std::fs::write(&log, bytes).unwrap();
    let store = SqliteStore::open(&copy).unwrap();
    assert!(store.revision().await.unwrap() > last);
    assert!(matches!(store.watch(all(), first).await, Err(Error::Compacted { .. })));
}

#[tokio::test]
async fn many_leases_that_end_at_once_cost_one_sync() {
    let (_dir, path) = temp();
    let store = SqliteStore::open(&path).unwrap();
    for id in 1..=100 {
        store.lease_grant(id, 1).await.unwrap();
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    for id in 1..=100 {
        store.lease_keep_alive(id).await.unwrap();
    }
    let before = store.status().unwrap().commits;
    while !store.leases().await.unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let commits = store.status().unwrap().commits - before;
    assert!(commits < 20, "{commits}");
}

#[tokio::test]
async fn a_write_that_nobody_waits_for_is_not_done() {
    let (_dir, path) = temp();
    let store = SqliteStore::open(&path).unwrap();
    // The writer is busy with many, so that the next one is still queued when it is given up.
    let many = Txn { then: (0..20_000).map(|n| put_op(&format!("k{n}"), "v")).collect(), ..Txn::default() };
    let (done, gone) = tokio::join!(store.txn(many), async {
        tokio::task::yield_now().await;
        tokio::time::timeout(Duration::ZERO, store.txn(put("gone", "1"))).await
    });
    assert!(done.unwrap().succeeded && gone.is_err());
    store.flush().await.unwrap();
    let read = store.range(Range::head(KeyRange::key("gone"))).await.unwrap();
    assert_eq!(read.count, 0);
}
