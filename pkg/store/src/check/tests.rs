//! Damage made on purpose, and what the check says of it.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempDir;

use super::wal::Rest;
use super::*;
use crate::{KeyRange, KeyValue, Op, SqliteStore, Store, Txn, snapshot, sqlite::db::Row};

const PAGE: usize = 4096;

/// A closed database of several pages: 60 keys of 1 KB, the even ones written twice, one deleted.
async fn database() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    let store = SqliteStore::open(&path).unwrap();
    for n in (0..60).chain((0..60).step_by(2)) {
        put(&store, &key(n)).await;
    }
    store.txn(Txn { then: vec![Op::Delete(KeyRange::key(key(7)))], ..Txn::default() }).await.unwrap();
    snapshot::tests::ended(store, &path).await;
    (dir, path)
}

fn key(n: usize) -> String {
    format!("key-{n:02}")
}

async fn put(store: &SqliteStore, key: &str) {
    let op = Op::put(key.to_owned(), format!("{key} {}", "x".repeat(1000)));
    store.txn(Txn { then: vec![op], ..Txn::default() }).await.unwrap();
}

fn checked(path: &Path) -> Report {
    check(path, None).unwrap()
}

fn sql(path: &Path, statement: &str) {
    Connection::open(path).unwrap().execute_batch(statement).unwrap();
}

/// As [`sql`], with checksums that fit what the statement made of the rows.
fn sealed(path: &Path, statement: &str) {
    sql(path, statement);
    let conn = Connection::open(path).unwrap();
    let mut rows = conn.prepare("SELECT id, prev, key, created, version, lease, value FROM log").unwrap();
    let rows = rows.query_map([], |r| {
        let (id, blob) = (RowId(r.get(0)?), |at| r.get::<_, Vec<u8>>(at).map(Bytes::from));
        let kv = KeyValue {
            key: blob(2)?,
            value: blob(6)?,
            create_revision: r.get(3)?,
            mod_revision: id.revision(),
            version: r.get(4)?,
            lease: r.get(5)?,
        };
        Ok(Row { id, prev: RowId(r.get(1)?), kv })
    });
    for row in rows.unwrap().collect::<Result<Vec<_>, _>>().unwrap() {
        conn.execute("UPDATE log SET sum = ? WHERE id = ?", (row.sum(), row.id.0)).unwrap();
    }
}

fn lost(report: &Report) -> Vec<(&str, Loss)> {
    report.lost.iter().map(|(key, loss)| (std::str::from_utf8(key).unwrap(), *loss)).collect()
}

/// Pages that hold rows of the log.
fn leaves(bytes: &[u8]) -> Vec<usize> {
    let holds_keys = |page: &[u8]| page[0] == 13 && page.windows(4).any(|w| w == b"key-");
    (1..bytes.len() / PAGE).map(|n| n * PAGE).filter(|at| holds_keys(&bytes[*at..at + PAGE])).collect()
}

#[tokio::test]
async fn a_good_database_is_good_running_or_not() {
    let (_dir, path) = database().await;
    let before = fs::read(&path).unwrap();
    let report = checked(&path);
    assert!(report.is_good() && report.closed && !report.running, "{report}");
    assert_eq!((report.revision, report.keys, report.rows), (92, 59, 91));
    assert!(report.to_string().contains("ended in order"), "{report}");
    assert!(fs::read(&path).unwrap() == before);

    let store = SqliteStore::open(&path).unwrap();
    store.compact(80).await.unwrap();
    put(&store, "later").await;
    let report = checked(&path);
    assert!(report.is_good() && report.running && !report.closed, "{report}");
    assert_eq!((report.revision, report.keys, report.compacted), (93, 60, 80));
    assert_eq!(report.wal.unwrap().rest, Rest::Zeros);
}

#[tokio::test]
async fn it_says_what_restoring_the_newest_snapshot_would_lose() {
    let (dir, path) = database().await;
    let snapshots = dir.path().join("snapshots");
    snapshot::save(&path, &snapshots, "old").unwrap();
    let store = SqliteStore::open(&path).unwrap();
    put(&store, "a").await;
    snapshot::save(&path, &snapshots, "new").unwrap();
    for key in ["b", "a", "b"] {
        put(&store, key).await;
    }
    store.close().await.unwrap();
    let report = check(&path, Some(&snapshots)).unwrap();
    assert!(report.to_string().contains("new at revision 93; restoring it loses 3 revisions, in which 2 keys changed"));
}

#[tokio::test]
async fn files_that_are_no_database_of_ours_are_damaged_and_a_missing_one_is_an_error() {
    let (dir, _) = database().await;
    let other = dir.path().join("other.db");
    assert!(check(&other, None).is_err());
    assert!(check(dir.path(), None).is_err());
    for (bytes, says) in [(&b""[..], "empty"), (b"a diary", "not a database"), (&[0x42; 9000], "not a database")] {
        fs::write(&other, bytes).unwrap();
        let report = checked(&other);
        assert!(report.damage[0].contains(says), "{report}");
    }
    fs::remove_file(&other).unwrap();
    sql(&other, "CREATE TABLE log (id INTEGER PRIMARY KEY)");
    assert_eq!(checked(&other).damage, ["it is an SQLite database of another program"]);
    sql(&other, &format!("PRAGMA application_id = {}; PRAGMA user_version = 1000", db::APPLICATION_ID));
    assert!(checked(&other).damage[0].contains("its layout is 1000"));
}

#[tokio::test]
async fn a_truncated_file_is_damaged_and_the_rest_is_read() {
    let (_dir, path) = database().await;
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2 / PAGE * PAGE]).unwrap();
    let report = checked(&path);
    assert!(!report.is_good());
    assert!(report.rows > 20 && report.rows < 91, "{report}");
}

#[tokio::test]
async fn a_page_of_garbage_hides_its_rows_and_no_others() {
    let (dir, path) = database().await;
    let snapshots = dir.path().join("snapshots");
    snapshot::save(&path, &snapshots, "one").unwrap();
    let good = fs::read(&path).unwrap();
    let leaves = leaves(&good);
    assert!(leaves.len() > 20);
    for at in [leaves[0], leaves[10], leaves[leaves.len() - 1]] {
        let mut bytes = good.clone();
        bytes[at..at + PAGE].fill(0x5a);
        fs::write(&path, bytes).unwrap();
        let report = check(&path, Some(&snapshots)).unwrap();
        assert!(!report.is_good() && (85..91).contains(&report.rows), "{report}");
        // Those that were written again later are not lost.
        let named = report.lost.keys().cloned().collect::<Vec<_>>();
        assert!(!named.is_empty() && named.len() <= 4, "{report}");
        let text = report.to_string();
        assert!(named.iter().all(|key| text.contains(&format!("{}:", show(key)))), "{text}");
    }
}

#[tokio::test]
async fn a_page_whose_head_is_broken_still_names_its_keys() {
    let (_dir, path) = database().await;
    let good = fs::read(&path).unwrap();
    let mut bytes = good.clone();
    let at = leaves(&good)[3];
    bytes[at] = 0;
    fs::write(&path, bytes).unwrap();
    let report = checked(&path);
    // No snapshot says so; the page itself does. The other keys of that page were written again.
    assert_eq!(lost(&report), [("key-09", Loss::Gone), ("key-11", Loss::Gone)], "{report}");
}

#[tokio::test]
async fn a_flipped_bit_is_found_by_the_checksum_of_its_row() {
    let (_dir, path) = database().await;
    let good = fs::read(&path).unwrap();
    let place = |text: &str| good.windows(text.len()).rposition(|w| w == text.as_bytes()).unwrap();
    for (text, key) in [("key-09 x", "key-09"), ("key-11 x", "key-11")] {
        let mut bytes = good.clone();
        bytes[place(text) + text.len() + 5] ^= 0x10;
        fs::write(&path, bytes).unwrap();
        let report = checked(&path);
        assert!(report.damage[0].contains(key) && report.damage[0].contains("checksum"), "{report}");
        assert_eq!(lost(&report), [(key, Loss::Unreadable)]);
        assert_eq!(report.damage.len(), 1, "{report}");
    }
    // Of a row that was replaced: the key is whole.
    let mut bytes = good.clone();
    let old = good.windows(8).position(|w| w == b"key-08 x").unwrap();
    bytes[old + 100] ^= 1;
    fs::write(&path, bytes).unwrap();
    let report = checked(&path);
    assert!(!report.is_good() && report.lost.is_empty() && report.damage.len() == 1, "{report}");
}

#[tokio::test]
async fn a_log_that_was_taken_away_is_missed() {
    let (dir, path, _) = with_log().await;
    fs::remove_file(dir.path().join("cut.db-wal")).unwrap();
    let report = checked(&path);
    assert!(report.logless && !report.is_good() && report.damage.is_empty(), "{report}");
    assert!(report.to_string().contains("log is missing"));
}

#[tokio::test]
async fn rows_that_do_not_fit_are_named() {
    let odd = key(1);
    for (change, says) in [
        ("UPDATE log SET prev = 5 << 20 WHERE id = 62 << 20", "it replaces revision 5, but revision 2 came before it"),
        ("UPDATE log SET prev = 0 WHERE id = 62 << 20", "it replaces revision 0, but revision 2 came before it"),
        ("UPDATE log SET prev = 99 << 20 WHERE id = 62 << 20", "it replaces a later row"),
        ("DELETE FROM log WHERE id = 2 << 20", "revision 2, which it replaces, is missing"),
        ("UPDATE log SET version = 1 WHERE id = 62 << 20", "version 1 comes after version 1"),
        ("UPDATE log SET created = 77 WHERE id = 62 << 20", "version 2 created at 77 is impossible"),
        ("UPDATE log SET version = 0 WHERE id = 62 << 20", "it is a deletion that has a value"),
        ("UPDATE log SET lease = 5 WHERE id = 62 << 20", "lease 5, which it is bound to, is missing"),
        ("UPDATE log SET key = x'6b65792d3031' WHERE id = 62 << 20", "it replaces revision 2, but revision 3 came"),
    ] {
        let (_dir, path) = database().await;
        sealed(&path, change);
        let report = checked(&path);
        assert!(report.damage.iter().any(|d| d.contains(says)), "{change}: {report}");
        let touched = if change.contains("key =") { odd.clone() } else { key(0) };
        assert_eq!(lost(&report), [(&touched[..], Loss::Inconsistent)], "{change}");
    }
}

#[tokio::test]
async fn what_compaction_took_is_not_missing() {
    let (_dir, path) = database().await;
    sql(&path, "DELETE FROM log WHERE id = 2 << 20; REPLACE INTO meta VALUES ('compacted', 62)");
    assert!(checked(&path).is_good());
    sql(&path, "REPLACE INTO meta VALUES ('compacted', 61)");
    assert!(!checked(&path).is_good());
}

#[tokio::test]
async fn impossible_counters_are_damage() {
    for (name, number) in [("floor", -1), ("compacted", i64::MAX), ("clean", 2)] {
        let (_dir, path) = database().await;
        sql(&path, &format!("REPLACE INTO meta VALUES ('{name}', {number})"));
        assert!(checked(&path).damage.iter().any(|d| d.contains(name)), "{name}");
    }
}

/// A database as a power cut leaves it, with five commits in its log; and the log.
async fn with_log() -> (TempDir, PathBuf, Vec<u8>) {
    let (dir, path) = database().await;
    let store = SqliteStore::open(&path).unwrap();
    for n in 0..5 {
        put(&store, &format!("in-log-{n}")).await;
    }
    let cut = dir.path().join("cut.db");
    fs::copy(&path, &cut).unwrap();
    let log = fs::read(dir.path().join("state.db-wal")).unwrap();
    fs::write(dir.path().join("cut.db-wal"), &log).unwrap();
    store.close().await.unwrap();
    (dir, cut, log)
}

/// Where frames of the log begin that end a commit.
fn commits(log: &[u8]) -> Vec<usize> {
    let frames = (32..log.len() - PAGE).step_by(24 + PAGE);
    frames.filter(|at| log[at + 4..at + 8] != [0; 4]).collect()
}

#[tokio::test]
async fn a_torn_log_is_good_and_a_hole_in_it_is_damage() {
    let (dir, path, log) = with_log().await;
    let commits = commits(&log);
    let last = commits[commits.len() - 1];
    let report = checked(&path);
    assert!(report.is_good() && report.keys == 64, "{report}");
    assert_eq!(report.wal.unwrap().rest, Rest::Zeros);

    let wal = dir.path().join("cut.db-wal");
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = log.clone();
        change(&mut bytes);
        fs::write(&wal, bytes).unwrap();
        // What reading has made of the log before.
        let _ = fs::remove_file(dir.path().join("cut.db-shm"));
        checked(&path)
    };
    let torn = with(&|bytes| bytes[last + 100] ^= 1);
    assert!(torn.is_good() && torn.keys == 63, "{torn}");
    assert!(torn.to_string().contains("not finished"), "{torn}");
    let cut = with(&|bytes| bytes.truncate(last + 100));
    assert!(cut.is_good() && cut.keys == 63, "{cut}");
    let hole = with(&|bytes| bytes[commits[commits.len() - 3] + 100] ^= 1);
    assert!(!hole.is_good() && hole.keys == 61, "{hole}");
    assert!(hole.damage[0].contains("log"), "{hole}");
    let headless = with(&|bytes| bytes[3] ^= 1);
    assert!(!headless.is_good() && headless.keys == 59, "{headless}");
}
