//! Saving under load, and restoring.

use std::{
    collections::BTreeMap,
    os::unix::fs::PermissionsExt as _,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use nix::mount::{MsFlags, mount, umount};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::*;
use crate::{KeyRange, KeyValue, Op, Range, Retention, Store, Txn, check, sqlite::open::wal_path};

fn temp() -> (TempDir, PathBuf, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let (database, snapshots) = (dir.path().join("state.db"), dir.path().join("snapshots"));
    (dir, database, snapshots)
}

async fn put(store: &SqliteStore, key: &str, value: &str) -> i64 {
    let txn = Txn { then: vec![Op::put(key.to_owned(), value.to_owned())], ..Txn::default() };
    store.txn(txn).await.unwrap().revision
}

async fn all(store: &SqliteStore, revision: i64) -> Result<Vec<KeyValue>, crate::Error> {
    Ok(store.range(Range { revision, ..Range::head(KeyRange::prefix("")) }).await?.kvs)
}

/// Closes a store. Its threads end a little later, and then its log is in the database.
pub(crate) async fn ended(store: SqliteStore, path: &Path) {
    store.close().await.unwrap();
    drop(store);
    while wal_path(path).exists() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

/// A database with some keys, closed; answers with what is in it.
async fn filled(database: &Path, value: &str) -> Vec<KeyValue> {
    let store = SqliteStore::open(database).unwrap();
    for n in 0..20 {
        put(&store, &format!("key-{n}"), value).await;
    }
    let kvs = all(&store, 0).await.unwrap();
    ended(store, database).await;
    kvs
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_under_load_is_one_moment() {
    let (_dir, database, snapshots) = temp();
    let store =
        Arc::new(SqliteStore::open_with(&database, Retention { bytes: 1 << 30, ..Retention::default() }).unwrap());
    let stop = Arc::new(AtomicBool::new(false));
    // Each writer writes two keys in one transaction: a copy of one moment has both or neither.
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let (store, stop) = (store.clone(), stop.clone());
            tokio::spawn(async move {
                let mut n = 0;
                while !stop.load(Ordering::Relaxed) {
                    let value = format!("{n} {}", "x".repeat(1000));
                    let then = ["a", "b"].map(|half| Op::put(format!("{writer}/{}/{half}", n % 50), value.clone()));
                    store.txn(Txn { then: then.to_vec(), ..Txn::default() }).await.unwrap();
                    n += 1;
                }
            })
        })
        .collect();
    let mut saved = Vec::new();
    for n in 0..5 {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        let acknowledged = put(&store, "mark", &n.to_string()).await;
        let (database, snapshots) = (database.clone(), snapshots.clone());
        let info = tokio::task::spawn_blocking(move || save(&database, &snapshots, &format!("s{n}")).unwrap());
        let contents = info.await.unwrap().contents.unwrap();
        assert!(contents.revision >= acknowledged);
        saved.push((n, contents));
    }
    stop.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.await.unwrap();
    }
    for (n, contents) in saved {
        let path = snapshots.join(format!("s{n}"));
        assert!(check::check(&path, None).unwrap().is_good());
        let copy = SqliteStore::open(&path).unwrap();
        let kvs = all(&copy, 0).await.unwrap();
        assert_eq!(kvs, all(&store, contents.revision).await.unwrap(), "snapshot {n}");
        assert_eq!(kvs.len() as i64, contents.keys);
        let halves: BTreeMap<_, _> = kvs.iter().map(|kv| (&kv.key[..], &kv.value)).collect();
        for (key, value) in halves.iter().filter(|(key, _)| key.ends_with(b"a")) {
            let other = [&key[..key.len() - 1], b"b"].concat();
            assert_eq!(halves.get(&other[..]), Some(value));
        }
    }
}

#[tokio::test]
async fn an_open_store_copies_itself() {
    let (dir, database, _) = temp();
    let store = SqliteStore::open(&database).unwrap();
    let revision = put(&store, "a", "1").await;
    let to = dir.path().join("copy");
    assert_eq!(store.snapshot(&to).await.unwrap(), revision);
    assert_eq!(to.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(store.snapshot(&to).await.unwrap_err().to_string().contains("exists already"));
}

#[tokio::test]
async fn what_is_saved_is_listed_by_revision_and_can_be_deleted() {
    let (_dir, database, snapshots) = temp();
    assert!(list(&snapshots).unwrap().is_empty());
    filled(&database, "1").await;
    save(&database, &snapshots, "z-first").unwrap();
    filled(&database, "2").await;
    save(&database, &snapshots, "a-second").unwrap();
    fs::write(snapshots.join("diary"), "not a database, of some length, so that nobody takes it for one").unwrap();
    fs::write(snapshots.join("empty"), "").unwrap();
    let listed = list(&snapshots).unwrap();
    let keys: Vec<_> = listed.iter().map(|i| (&i.name[..], i.contents.as_ref().ok().map(|c| c.keys))).collect();
    assert_eq!(keys, [("diary", None), ("empty", None), ("z-first", Some(20)), ("a-second", Some(20))]);
    assert_eq!(snapshots.metadata().unwrap().permissions().mode() & 0o777, 0o700);

    for bad in ["../state.db", "", ".", "..", "a/b", "x.kinglet-draft"] {
        assert!(matches!(delete(&snapshots, bad), Err(Error::Name { .. })), "{bad}");
    }
    assert!(matches!(delete(&snapshots, "third"), Err(Error::Missing { .. })));
    delete(&snapshots, "z-first").unwrap();
    assert_eq!(names(&snapshots), ["a-second", "diary", "empty"]);
}

#[tokio::test]
async fn a_name_is_not_taken_twice() {
    let (_dir, database, snapshots) = temp();
    filled(&database, "1").await;
    save(&database, &snapshots, "one").unwrap();
    let before = fs::read(snapshots.join("one")).unwrap();
    assert!(matches!(save(&database, &snapshots, "one"), Err(Error::Exists { .. })));
    assert!(fs::read(snapshots.join("one")).unwrap() == before);
}

#[tokio::test]
async fn a_failed_save_leaves_nothing_and_a_crash_what_the_next_one_removes() {
    let (_dir, database, snapshots) = temp();
    assert!(save(&database, &snapshots, "of-nothing").is_err());
    assert!(names(&snapshots).is_empty());
    assert!(!database.exists());
    filled(&database, "1").await;
    fs::write(snapshots.join("crashed.kinglet-draft"), "half").unwrap();
    let running = File::create(snapshots.join("running.kinglet-draft")).unwrap();
    running.try_lock().unwrap();
    save(&database, &snapshots, "one").unwrap();
    assert_eq!(names(&snapshots), ["one", "running.kinglet-draft"]);
}

/// A file system of 64 KB at a folder; gone when dropped.
struct Small(PathBuf);

impl Small {
    fn mount(at: PathBuf) -> Self {
        fs::create_dir(&at).unwrap();
        // By a system call: a program that is being started holds the locks of other tests for a moment.
        mount(Some("small"), &at, Some("tmpfs"), MsFlags::empty(), Some("size=64k")).unwrap();
        Small(at)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = umount(&self.0);
    }
}

#[tokio::test]
async fn a_full_disk_gives_an_error_that_names_it_and_leaves_no_draft() {
    let (_dir, database, snapshots) = temp();
    let store = SqliteStore::open(&database).unwrap();
    put(&store, "big", &"x".repeat(100_000)).await;
    let small = Small::mount(snapshots);
    let error = store.save(&small.0, "one").await.unwrap_err();
    let Error::Store(crate::Error::NoSpace { path }) = &error else { panic!("{error:?}") };
    assert!(path.contains("snapshots/one"), "{error}");
    assert!(names(&small.0).is_empty(), "{:?}", names(&small.0));
    // The store itself goes on.
    put(&store, "still", "writable").await;
}

#[tokio::test]
async fn saving_changes_nothing_of_a_stopped_database() {
    let (dir, database, snapshots) = temp();
    filled(&database, "1").await;
    let store = SqliteStore::open(&database).unwrap();
    put(&store, "a", "1").await;
    // As after a power cut: rows are in the write-ahead log alone.
    let crashed = dir.path().join("crashed.db");
    fs::copy(&database, &crashed).unwrap();
    let wal = dir.path().join("crashed.db-wal");
    fs::copy(dir.path().join("state.db-wal"), &wal).unwrap();
    let before = (fs::read(&crashed).unwrap(), fs::read(&wal).unwrap());
    let info = save(&crashed, &snapshots, "one").unwrap();
    assert_eq!(info.contents.unwrap().keys, 21);
    assert!((fs::read(&crashed).unwrap(), fs::read(&wal).unwrap()) == before);
}

#[tokio::test]
async fn a_restore_brings_keys_back_and_moves_revisions_on() {
    let (dir, database, snapshots) = temp();
    let kvs = filled(&database, "1").await;
    let store = SqliteStore::open(&database).unwrap();
    let lease = store.lease_grant(0, 3600).await.unwrap();
    ended(store, &database).await;
    save(&database, &snapshots, "one").unwrap();
    let later = filled(&database, "2").await;

    let store = SqliteStore::open(&database).unwrap();
    let head = store.revision().await.unwrap();
    assert!(matches!(restore(&database, &snapshots.join("one")), Err(Error::Running { .. })));
    ended(store, &database).await;

    let restored = restore(&database, &snapshots.join("one")).unwrap();
    assert_eq!(restored.revision, head + 1_000_000_000);
    let store = SqliteStore::open(&database).unwrap();
    assert_eq!(store.revision().await.unwrap(), restored.revision);
    assert_eq!(all(&store, 0).await.unwrap(), kvs);
    assert_eq!(store.leases().await.unwrap(), [lease]);
    // Watches and lists of before are refused, whichever state they have seen.
    for revision in [1, kvs[0].mod_revision, head, head + 1, restored.revision - 1] {
        let compacted = |error| matches!(error, Some(crate::Error::Compacted { .. }));
        assert!(compacted(all(&store, revision).await.err()), "{revision}");
        assert!(compacted(store.watch(KeyRange::prefix(""), revision).await.err()), "{revision}");
    }
    let mut watch = store.watch(KeyRange::prefix(""), restored.revision + 1).await.unwrap();
    assert_eq!(put(&store, "key-3", "3").await, restored.revision + 1);
    let event = watch.recv().await.unwrap().events[0].clone();
    assert_eq!((event.kv.version, event.prev.unwrap().value), (2, "1".into()));
    assert!(check::check(&database, None).unwrap().is_good());
    ended(store, &database).await;

    // The old one is whole, and opens.
    let aside = restored.aside.unwrap();
    let old = SqliteStore::open(&aside).unwrap();
    assert_eq!(all(&old, 0).await.unwrap(), later);
    assert!(names(dir.path()).iter().all(|name| !name.ends_with("-draft")), "{:?}", names(dir.path()));
}

#[tokio::test]
async fn what_the_old_database_had_in_its_log_is_kept_and_not_mixed_in() {
    let (dir, database, snapshots) = temp();
    let kvs = filled(&database, "1").await;
    save(&database, &snapshots, "one").unwrap();
    let store = SqliteStore::open(&database).unwrap();
    put(&store, "late", "in the log").await;
    // As after a power cut.
    let crashed = dir.path().join("crashed.db");
    fs::copy(&database, &crashed).unwrap();
    fs::copy(dir.path().join("state.db-wal"), dir.path().join("crashed.db-wal")).unwrap();
    let restored = restore(&crashed, &snapshots.join("one")).unwrap();
    assert!(!dir.path().join("crashed.db-wal").exists());
    let new = SqliteStore::open(&crashed).unwrap();
    assert_eq!(all(&new, 0).await.unwrap(), kvs);
    let old = SqliteStore::open(&restored.aside.unwrap()).unwrap();
    assert_eq!(all(&old, 0).await.unwrap().len(), 21);
}

#[tokio::test]
async fn a_restore_replaces_what_is_missing_or_damaged() {
    let (_dir, database, snapshots) = temp();
    let kvs = filled(&database, "1").await;
    save(&database, &snapshots, "one").unwrap();
    let snapshot = snapshots.join("one");
    for damage in [None, Some(&b""[..]), Some(&b"somebody's diary, which is long enough to be read as a header"[..])] {
        fs::remove_file(&database).unwrap();
        if let Some(damage) = damage {
            fs::write(&database, damage).unwrap();
        }
        let restored = restore(&database, &snapshot).unwrap();
        assert!(restored.aside.map(|aside| fs::read(aside).unwrap()) == damage.map(<[u8]>::to_vec));
        let store = SqliteStore::open(&database).unwrap();
        assert_eq!(all(&store, 0).await.unwrap(), kvs);
        ended(store, &database).await;
    }
}

#[tokio::test]
async fn a_damaged_snapshot_changes_nothing() {
    let (dir, database, snapshots) = temp();
    let kvs = filled(&database, "1").await;
    save(&database, &snapshots, "one").unwrap();
    let good = fs::read(snapshots.join("one")).unwrap();
    let with_digest = [&good[..], &Sha256::digest(&good)[..]].concat();
    let flipped = |bytes: &[u8], at: usize| {
        let mut bytes = bytes.to_vec();
        bytes[at] ^= 0xff;
        bytes
    };
    let before = names(dir.path());
    let bad = [
        Vec::new(),
        b"a diary".to_vec(),
        good[..good.len() - 4096].to_vec(),
        flipped(&with_digest, good.len() - 1),
        flipped(&with_digest, with_digest.len() - 1),
        // The first byte of a page says what it is.
        flipped(&good, good.len() - 4096),
    ];
    for (n, bytes) in bad.into_iter().enumerate() {
        let path = snapshots.join("bad");
        fs::write(&path, bytes).unwrap();
        let error = restore(&database, &path).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{n}: {error:?}");
        assert!(error.to_string().contains("bad"), "{error}");
    }
    assert_eq!(names(dir.path()), before);
    let store = SqliteStore::open(&database).unwrap();
    assert_eq!(all(&store, 0).await.unwrap(), kvs);
}

#[tokio::test]
async fn a_snapshot_that_ends_with_its_digest_is_restored() {
    let (dir, database, snapshots) = temp();
    let kvs = filled(&database, "1").await;
    save(&database, &snapshots, "one").unwrap();
    let good = fs::read(snapshots.join("one")).unwrap();
    let path = dir.path().join("from-etcdctl");
    fs::write(&path, [&good[..], &Sha256::digest(&good)[..]].concat()).unwrap();
    restore(&database, &path).unwrap();
    assert_eq!(database.metadata().unwrap().len(), good.len() as u64);
    let store = SqliteStore::open(&database).unwrap();
    assert_eq!(all(&store, 0).await.unwrap(), kvs);
}

#[test]
fn a_name_says_how_where_and_when() {
    let at = UNIX_EPOCH + std::time::Duration::from_secs(1_800_000_000);
    assert_eq!(name("on-demand", "pi1", at), "on-demand-pi1-1800000000");
}

/// Flips a bit of a value in a database that nobody has open.
fn flip(database: &Path, value: &[u8]) {
    let mut file = fs::read(database).unwrap();
    let at = file.windows(value.len()).position(|w| w == value).unwrap();
    file[at] ^= 1;
    fs::write(database, file).unwrap();
}

#[tokio::test]
async fn a_damaged_database_gets_no_snapshot_and_no_damaged_one_is_recommended() {
    let (_dir, database, snapshots) = temp();
    let store = SqliteStore::open(&database).unwrap();
    for value in ["an early value", "a later value"] {
        let then = vec![Op::put("key", value)];
        store.txn(Txn { then, ..Txn::default() }).await.unwrap();
        store.save(&snapshots, &value.replace(' ', "-")).await.unwrap();
    }
    store.close().await.unwrap();
    drop(store);
    flip(&database, b"a later value");
    flip(&snapshots.join("a-later-value"), b"a later value");
    let error = save(&database, &snapshots, "third").unwrap_err();
    assert!(matches!(error, Error::Source { .. }), "{error}");
    assert_eq!(names(&snapshots), ["a-later-value", "an-early-value"]);
    let report = check::check(&database, Some(&snapshots)).unwrap();
    assert_eq!(report.snapshot.unwrap().name, "an-early-value");
    // Also when nothing of the database can be read.
    fs::write(&database, b"").unwrap();
    let report = check::check(&database, Some(&snapshots)).unwrap();
    assert_eq!(report.snapshot.unwrap().name, "an-early-value");
}

#[tokio::test]
async fn revisions_go_on_though_the_old_database_cannot_be_read() {
    let (_dir, database, snapshots) = temp();
    let store = SqliteStore::open(&database).unwrap();
    store.save(&snapshots, "one").await.unwrap();
    store.close().await.unwrap();
    drop(store);
    let seen = (0..3).map(|_| restore(&database, &snapshots.join("one")).unwrap().revision).max().unwrap();
    fs::write(&database, b"junk").unwrap();
    assert!(restore(&database, &snapshots.join("one")).unwrap().revision > seen);
}
