//! Files that were changed by others: torn, truncated, flipped, gone. The store opens with a state that once was,
//! or says clearly that the database cannot be trusted; it never shows something else.

use std::{
    env, fs,
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
};

use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use store::{Error, SqliteStore};

use crate::{
    crash,
    support::{
        history::{Call, Log},
        in_memory,
        load::{Calls, put},
        seed, soak, temp,
    },
};

const DATABASE: &str = "state.db";
const WAL: &str = "state.db-wal";

type Damage = fn(&Path, &mut StdRng);

const DAMAGES: &[(&str, Damage)] = &[
    ("a truncated log", |directory, random| truncate(&directory.join(WAL), random)),
    ("a log with flipped bytes", |directory, random| flip(&directory.join(WAL), random)),
    ("a log that is gone", |directory, _| fs::remove_file(directory.join(WAL)).unwrap()),
    ("a truncated database", |directory, random| truncate(&directory.join(DATABASE), random)),
    ("a database with flipped bytes", |directory, random| flip(&directory.join(DATABASE), random)),
];

fn truncate(path: &Path, random: &mut StdRng) {
    let file = fs::File::options().write(true).open(path).unwrap();
    let length = written(&fs::read(path).unwrap());
    file.set_len(random.random_range(0..length) as u64).unwrap();
}

fn flip(path: &Path, random: &mut StdRng) {
    let mut content = fs::read(path).unwrap();
    let length = written(&content);
    for _ in 0..random.random_range(1..4) {
        content[random.random_range(0..length)] ^= random.random_range(1..=255);
    }
    fs::write(path, content).unwrap();
}

/// Without the zeros at the end.
fn written(content: &[u8]) -> usize {
    content.iter().rposition(|byte| *byte != 0).map_or(1, |last| last + 1)
}

/// Whether this is what the store held at some time.
fn once_was(log: &Log, live: &Log) -> bool {
    if log.after == 0 {
        return live.events.starts_with(&log.events);
    }
    let state = log.at(i64::MAX);
    live.events.iter().any(|event| state == live.at(event.kv.mod_revision))
}

/// A database as `kill -9` leaves it, in a directory, after so many calls.
async fn killed(calls: usize, random: &mut StdRng) -> (tempfile::TempDir, Log) {
    let (directory, path) = in_memory();
    let store = SqliteStore::open(&path).unwrap();
    let mut load = Calls::new(random.random(), "c".to_owned());
    load.value = 200;
    for call in load.filter(|call| matches!(call, Call::Txn(_))).take(calls) {
        call.ask(&store).await.unwrap();
    }
    let log = Log::read(&store).await.unwrap();
    let (left, _) = in_memory();
    for name in [DATABASE, WAL] {
        fs::copy(directory.path().join(name), left.path().join(name)).unwrap();
    }
    (left, log)
}

/// What a damaged store shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Everything,
    Earlier,
    /// That nothing was ever written, which loss of the log alone may look like.
    Nothing,
    Error,
}

async fn damaged(left: &Path, live: &Log, damage: Damage, random: &mut StdRng) -> Result<Found, String> {
    let (directory, path) = in_memory();
    for name in [DATABASE, WAL] {
        fs::copy(left.join(name), directory.path().join(name)).unwrap();
    }
    damage(directory.path(), random);
    let log = match SqliteStore::open(&path) {
        Ok(store) => Log::read(&store).await,
        Err(error) => Err(error),
    };
    match log {
        Ok(log) if log.events == live.events => Ok(Found::Everything),
        Ok(log) if log.at(i64::MAX).is_empty() => Ok(Found::Nothing),
        Ok(log) if once_was(&log, live) => Ok(Found::Earlier),
        Ok(log) => {
            let at = live.events.iter().zip(&log.events).position(|(live, read)| live != read);
            let (read, live) = (log.events.len(), live.events.len());
            Err(format!("it shows what never was, after {}: {read} of {live} events, other from {at:?} on", log.after))
        }
        Err(Error::Corrupt { path, .. }) if path.contains(DATABASE) => Ok(Found::Error),
        Err(error) => Err(format!("not a clear error: {error:?}")),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_files_show_a_state_that_once_was_or_a_clear_error() {
    let mut random = StdRng::seed_from_u64(seed());
    let (mut wrong, mut found) = (Vec::new(), Vec::new());
    for calls in [20, 400] {
        let (left, live) = killed(calls, &mut random).await;
        for (name, damage) in DAMAGES {
            for _ in 0..20 * soak() {
                match damaged(left.path(), &live, *damage, &mut random).await {
                    Ok(Found::Nothing) if name.contains("database") => wrong.push(format!("{name}: a silent reset")),
                    Ok(what) => found.push(what),
                    Err(why) => wrong.push(format!("{name}, after {calls} calls: {why}")),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for what in [Found::Everything, Found::Earlier, Found::Error] {
        let count = found.iter().filter(|found| **found == what).count();
        println!("{what:?}: {count} of {}", found.len());
        assert!(count > 0, "the damages are no damages, or too many: {what:?} never came");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_process_is_refused() {
    let (_directory, path) = temp();
    let store = Arc::new(SqliteStore::open(&path).unwrap());
    let second = Command::new(env::current_exe().unwrap())
        .args(["--ignored", "--exact", "crash::child", "--nocapture"])
        .env(crash::CHILD, format!("1 {}", path.display()))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(!second.status.success());
    assert!(String::from_utf8_lossy(&second.stderr).contains("InUse"), "{second:?}");
    put(&*store, "a", "1").await.unwrap();
}
