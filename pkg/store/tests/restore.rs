//! Restores that are killed. Alone in its binary: a program that is being started holds the locks of
//! other threads' stores for a moment.
#![allow(clippy::unwrap_used)]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Instant,
};

use store::{KeyRange, KeyValue, Op, Range, SqliteStore, Store as _, Txn, snapshot};

/// Names the folder in which [`restoring`] works.
const RESTORE_IN: &str = "KINGLET_TEST_RESTORE_IN";

#[test]
#[ignore = "the process that the other test kills"]
fn restoring() {
    let dir = PathBuf::from(std::env::var_os(RESTORE_IN).unwrap());
    snapshot::restore(&dir.join("state.db"), &dir.join("one")).unwrap();
}

#[tokio::test]
async fn a_restore_that_is_killed_leaves_the_old_database_or_the_new_one() {
    let dir = tempfile::tempdir().unwrap();
    let database = dir.path().join("state.db");
    let store = SqliteStore::open(&database).unwrap();
    for n in 0..20 {
        put(&store, &format!("key-{n}"), "new").await;
    }
    let new = all(&store).await;
    store.save(dir.path(), "one").await.unwrap();
    for n in 0..20 {
        put(&store, &format!("key-{n}"), "old").await;
    }
    let old = all(&store).await;
    // As after a power cut, so that there is a log to take care of.
    let fresh = |to: &Path| {
        fs::create_dir(to).unwrap();
        for name in ["state.db", "state.db-wal", "one"] {
            fs::copy(dir.path().join(name), to.join(name)).unwrap();
        }
    };
    let first = dir.path().join("whole");
    fresh(&first);
    let begun = Instant::now();
    assert!(child(&first).wait().unwrap().success());
    let whole = begun.elapsed();

    let (mut olds, mut news) = (0, 0);
    for n in 0..40 {
        let place = dir.path().join(format!("killed-{n}"));
        fresh(&place);
        let mut child = child(&place);
        // However slow the machine has become since: the last ones are let finish.
        if n < 36 {
            std::thread::sleep(whole * n / 30);
            child.kill().unwrap();
        }
        child.wait().unwrap();
        let store = SqliteStore::open(&place.join("state.db")).unwrap();
        let kvs = all(&store).await;
        assert!(kvs == old || kvs == new, "killed after {:?} of {whole:?}", whole * n / 30);
        if kvs == old {
            olds += 1;
            continue;
        }
        news += 1;
        let names = fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path());
        let aside = names.into_iter().find(|path| path.to_str().unwrap().contains(".before-restore-")).unwrap();
        assert!(all(&SqliteStore::open(&aside).unwrap()).await == old);
    }
    assert!(olds > 0 && news > 0, "{olds} old, {news} new");
}

fn child(dir: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "restoring", "--ignored"]).env(RESTORE_IN, dir);
    command.stdout(Stdio::null()).spawn().unwrap()
}

async fn put(store: &SqliteStore, key: &str, value: &str) {
    let txn = Txn { then: vec![Op::put(key.to_owned(), value.to_owned())], ..Txn::default() };
    store.txn(txn).await.unwrap();
}

async fn all(store: &SqliteStore) -> Vec<KeyValue> {
    store.range(Range::head(KeyRange::prefix(""))).await.unwrap().kvs
}
