//! Churn: many updates of few keys. Files stay within four times the live data, and memory stays where it is.

use std::{env, fs, path::Path, process::Command, sync::Arc};

use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use store::{Op, SqliteStore, Store, Txn};

use crate::support::{seed, soak, temp};

const UPDATES: usize = 100_000;
const KEYS: usize = 5_000;
const VALUE: usize = 1024;
const SAMPLES: usize = 50;
/// The child's database and seed.
const CHILD: &str = "KINGLET_CHURN_CHILD";

#[test]
fn files_and_memory_stay_bounded_under_churn() {
    let (_directory, path) = temp();
    // On its own, so that the memory is the store's.
    let status = Command::new(env::current_exe().unwrap())
        .args(["--ignored", "--exact", "churn::child", "--nocapture"])
        .env(CHILD, format!("{} {}", seed(), path.display()))
        .status()
        .unwrap();
    assert!(status.success());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "started by the test of churn"]
async fn child() {
    let order = env::var(CHILD).expect("it is started by a test");
    let (seed, path) = order.split_once(' ').unwrap();
    let mut random = StdRng::seed_from_u64(seed.parse().unwrap());
    let store = Arc::new(SqliteStore::open(Path::new(path)).unwrap());
    // Squared: ten million with the usual factor of ten.
    let updates = UPDATES * soak().pow(2) as usize;
    let (mut memory, mut files) = (Vec::new(), Vec::new());
    // Each key once, in groups as many clients would make them.
    for at in (0..KEYS).step_by(500) {
        update(&store, at..at + 500, &mut random).await;
    }
    let live = (KEYS * (VALUE + "key/00000".len())) as u64;
    for _ in 0..SAMPLES {
        for _ in 0..updates / SAMPLES / 64 {
            let keys: Vec<usize> = (0..64).map(|_| random.random_range(0..KEYS)).collect();
            update(&store, keys, &mut random).await;
        }
        let status = store.status().unwrap();
        files.push((status.file_bytes, status.wal_bytes));
        memory.push(resident());
    }
    let half = |memory: &[u64]| memory.iter().copied().max().unwrap_or(0);
    let (first, second) = (half(&memory[..SAMPLES / 2]), half(&memory[SAMPLES / 2..]));
    let most = files.iter().map(|(file, wal)| file + wal).max().unwrap_or(0);
    println!("files {:.2} times the live data at most, memory {first} then {second} KB", most as f64 / live as f64);
    assert!(most <= 4 * live, "(database, log) had {files:?} bytes of {live} that live");
    assert!(second <= first + first / 10, "memory grows: {memory:?}");
    store.close().await.unwrap();
}

/// Writes keys at once, each in a transaction.
async fn update(store: &Arc<SqliteStore>, keys: impl IntoIterator<Item = usize>, random: &mut StdRng) {
    let writes = keys.into_iter().map(|key| {
        let value: Vec<u8> = (0..VALUE / 8).flat_map(|_| random.random::<u64>().to_le_bytes()).collect();
        let (store, then) = (store.clone(), vec![Op::put(format!("key/{key:05}"), value)]);
        tokio::spawn(async move { store.txn(Txn { then, ..Txn::default() }).await })
    });
    for write in writes.collect::<Vec<_>>() {
        write.await.unwrap().unwrap();
    }
}

/// Resident memory of this process, in KB.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
