//! `kill -9` at random moments: a child process writes under load and tells what it was answered; after
//! several lives the database is opened here, and the history of all lives is checked.
//!
//! Orders of time hold across the pipe: a line is written before a call and after its answer.

use std::{
    collections::HashMap,
    env,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
    thread,
    time::Duration,
};

use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use store::{KeyRange, SqliteStore, Store};

use crate::support::{
    FOR_EVER,
    history::{Answer, Call, History, Log, Operation, Watched, check, shown},
    load::{Calls, DURABLE},
    seed, soak, temp,
};

/// Clients in a child.
const CLIENTS: u64 = 4;
/// Lives of one database.
const LIVES: u64 = 10;
/// The child's database and seed.
pub const CHILD: &str = "KINGLET_CRASH_CHILD";

/// What client `client` of the life with this seed calls.
fn calls(seed: u64, client: u64) -> Calls {
    let mut calls = Calls::new(seed.wrapping_add(client), format!("{seed}.{client}"));
    calls.relaxed = true;
    calls
}

/// The child: it writes until it is killed.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "started, and killed, by the test of crashes"]
async fn child() {
    let order = env::var(CHILD).expect("it is started by a test");
    let (seed, path) = order.split_once(' ').unwrap();
    let seed: u64 = seed.parse().unwrap();
    let store = Arc::new(SqliteStore::open_with(Path::new(path), FOR_EVER).unwrap());
    let from = store.revision().await.unwrap() + 1;
    let mut watch = store.watch(KeyRange::prefix(DURABLE), from).await.unwrap();
    tell(&format!("watch {from}"));
    for client in 0..CLIENTS {
        let store = store.clone();
        tokio::spawn(async move {
            for (number, call) in calls(seed, client).enumerate() {
                tell(&format!("call {client} {number}"));
                let Answer { revision, wrote, text } = call.ask(&*store).await.unwrap();
                tell(&format!("answer {client} {number} {revision} {wrote} {text}"));
            }
        });
    }
    while let Some(batch) = watch.recv().await {
        for event in batch.events.iter() {
            tell(&format!("event {} {}", event.kv.mod_revision, shown(event)));
        }
    }
}

/// Tells the parent; one at a time.
fn tell(line: &str) {
    // Not with `print!`, which the test harness would keep.
    let mut out = std::io::stdout().lock();
    writeln!(out, "\u{1}{line}").unwrap();
    out.flush().unwrap();
}

/// What a life has told, added to the history. Times go on from `time`.
fn listen(seed: u64, told: &str, time: &mut u64, history: &mut History) {
    let mut open: HashMap<(u64, u64), usize> = HashMap::new();
    let mut calls: Vec<Calls> = (0..CLIENTS).map(|client| calls(seed, client)).collect();
    // The last line may be cut off; libtest's own have no mark.
    let whole = &told[..told.rfind('\n').map_or(0, |at| at + 1)];
    for line in whole.lines().filter_map(|line| line.split_once('\u{1}').map(|(_, line)| line)) {
        *time += 1;
        let (what, rest) = line.split_once(' ').unwrap();
        let mut words = rest.splitn(5, ' ');
        let mut number = || words.next().unwrap().parse::<u64>().unwrap();
        match what {
            "watch" => {
                let (keys, from) = (KeyRange::prefix(DURABLE), number() as i64);
                history.watches.push(Watched { keys, from, events: Vec::new() });
            }
            "call" => {
                let (client, nth) = (number(), number());
                let call: Call = calls[client as usize].next().unwrap();
                open.insert((client, nth), history.operations.len());
                history.operations.push(Operation { call, answer: None, start: *time, end: u64::MAX });
            }
            "answer" => {
                let operation = &mut history.operations[open[&(number(), number())]];
                operation.end = *time;
                let revision = number() as i64;
                let (wrote, text) = (words.next().unwrap() == "true", words.next().unwrap().to_owned());
                operation.answer = Some(Answer { revision, wrote, text });
            }
            "event" => {
                let (revision, event) = rest.split_once(' ').unwrap();
                let events = &mut history.watches.last_mut().unwrap().events;
                events.push((revision.parse().unwrap(), event.to_owned()));
            }
            other => panic!("not a line of ours: {other}"),
        }
    }
    // A revision of several events may not have been told whole.
    if let Some(watch) = history.watches.last_mut() {
        let last = watch.events.last().map_or(0, |(revision, _)| *revision);
        watch.events.retain(|(revision, _)| *revision < last);
    }
}

/// One life; answers with what it told before it was killed.
fn live(path: &Path, seed: u64, age: Duration) -> String {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--ignored", "--exact", "crash::child", "--nocapture"])
        .env(CHILD, format!("{seed} {}", path.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let reader = thread::spawn(move || {
        let mut told = Vec::new();
        while out.read_until(b'\n', &mut told).unwrap() > 0 {}
        told
    });
    thread::sleep(age);
    // Had it ended by itself, it would have failed.
    assert!(child.try_wait().unwrap().is_none(), "the child has ended by itself");
    child.kill().unwrap();
    child.wait().unwrap();
    String::from_utf8(reader.join().unwrap()).unwrap()
}

/// A database over several lives.
async fn lives(random: &mut StdRng) -> usize {
    let (_directory, path) = temp();
    let (mut history, mut time) = (History::default(), 0);
    for _ in 0..LIVES {
        let (seed, age) = (random.random::<u32>(), Duration::from_millis(random.random_range(5..500)));
        let told = tokio::task::block_in_place(|| live(&path, u64::from(seed), age));
        listen(u64::from(seed), &told, &mut time, &mut history);
    }
    let answered = history.operations.iter().filter(|operation| operation.answer.is_some()).count();
    let store = SqliteStore::open_with(&path, FOR_EVER).unwrap();
    let log = Log::read(&store).await.unwrap();
    check(&history, &log).await.unwrap();
    let seen =
        history.operations.iter().filter_map(|operation| operation.answer.as_ref()).map(|answer| answer.revision);
    assert!(store.revision().await.unwrap() >= seen.max().unwrap_or(0), "revisions went back");
    answered
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_was_acknowledged_is_lost_by_kills() {
    let mut random = StdRng::seed_from_u64(seed());
    let mut answered = 0;
    for _ in 0..5 * soak() {
        answered += lives(&mut random).await;
    }
    println!("{answered} answers before {} kills", 5 * u64::from(soak()) * LIVES);
    assert!(answered > 500, "too little was done: {answered}");
}
