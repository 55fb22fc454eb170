//! Recorded histories, and what must hold of them.
//!
//! Clients record what they call and what is answered; the log is what a watch from the beginning
//! shows afterwards. [`check`] replays the log and asks the model about each revision.
//!
//! Guarantees, if it finds nothing: each acknowledged write is in the log at its revision, with
//! exactly what the model writes, and was answered as the model answers; a write that was not
//! acknowledged is there whole or not at all; nothing else is in the log; no revision was given
//! twice; reads saw the state at their revision; what begins after another ended sees no lower
//! revision; watches saw their part of the log, in order, without gaps and doubles.
//!
//! Assumptions: values are unique; relaxed writes, which may be lost, put keys that no other call
//! touches; leases take no part.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt::Debug,
    sync::Arc,
};

use bytes::Bytes;
use parking_lot::Mutex;
use store::{
    Durability, Error, Event, KeyRange, KeyValue, MemoryStore, Op, OpResponse, Range, RangeResponse, Store, Txn,
    TxnResponse,
};

use super::all;

/// What a client asks.
#[derive(Clone, Debug)]
pub enum Call {
    Txn(Txn),
    Range(Range),
}

impl Call {
    fn is_relaxed(&self) -> bool {
        matches!(self, Call::Txn(txn) if txn.durability == Durability::Relaxed)
    }

    /// Asks `store`.
    pub async fn ask(&self, store: &dyn Store) -> Result<Answer, Error> {
        match self {
            Call::Txn(txn) => {
                store.txn(Txn { previous: true, ..txn.clone() }).await.map(|response| Answer::of_txn(&response))
            }
            Call::Range(range) => store.range(range.clone()).await.map(|response| Answer::of_range(&response)),
        }
    }
}

/// What is told, in a form that also crosses a pipe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The revision answered with.
    pub revision: i64,
    /// Whether it says that something was written.
    pub wrote: bool,
    /// All of it.
    pub text: String,
}

impl Answer {
    fn of_txn(response: &TxnResponse) -> Self {
        let wrote = response.responses.iter().any(|step| match step {
            OpResponse::Put(_) => true,
            OpResponse::Deleted(kvs) => !kvs.is_empty(),
            OpResponse::Range(_) => false,
        });
        Answer { revision: response.revision, wrote, text: format!("{response:?}") }
    }

    fn of_range(response: &RangeResponse) -> Self {
        Answer { revision: response.revision, wrote: false, text: format!("{response:?}") }
    }
}

/// A call with its place in time.
#[derive(Clone, Debug)]
pub struct Operation {
    pub call: Call,
    /// `None`: nobody knows whether it happened.
    pub answer: Option<Answer>,
    /// Before the call.
    pub start: u64,
    /// After the answer.
    pub end: u64,
}

/// What a watch saw.
#[derive(Clone, Debug)]
pub struct Watched {
    pub keys: KeyRange,
    pub from: i64,
    /// `{:?}` of each event with its revision.
    pub events: Vec<(i64, String)>,
}

/// What was recorded.
#[derive(Clone, Debug, Default)]
pub struct History {
    pub operations: Vec<Operation>,
    pub watches: Vec<Watched>,
}

impl History {
    /// What was known when `now` was: later calls have not begun, running ones have no answer.
    pub fn until(&self, now: u64) -> History {
        let begun = self.operations.iter().filter(|operation| operation.start < now).cloned();
        let cut = |operation: Operation| {
            if operation.end < now { operation } else { Operation { answer: None, ..operation } }
        };
        History { operations: begun.map(cut).collect(), watches: Vec::new() }
    }
}

/// Records calls in memory.
#[derive(Clone)]
pub struct Recorder {
    clock: Arc<dyn Fn() -> u64 + Send + Sync>,
    history: Arc<Mutex<History>>,
}

impl Recorder {
    /// Takes times from `clock`, which gives each only once, in order.
    pub fn new(clock: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Recorder { clock: Arc::new(clock), history: Arc::default() }
    }

    /// Asks `store`, and records it.
    pub async fn ask(&self, store: &dyn Store, call: Call) -> Result<Answer, Error> {
        let start = (self.clock)();
        let answer = call.ask(store).await;
        let end = (self.clock)();
        let operation = Operation { call, answer: answer.clone().ok(), start, end };
        self.history.lock().operations.push(operation);
        answer
    }

    /// What is recorded so far.
    pub fn history(&self) -> History {
        self.history.lock().clone()
    }
}

/// Where a log ends; not part of it.
const MARK: &str = "~end";

/// What a store holds: its state at a revision, and all events after it.
#[derive(Clone, Debug, Default)]
pub struct Log {
    pub after: i64,
    pub base: BTreeMap<Bytes, KeyValue>,
    pub events: Vec<Event>,
}

impl Log {
    /// Reads it: from the beginning, or from the last compaction, up to a mark that it writes.
    pub async fn read(store: &dyn Store) -> Result<Log, Error> {
        let mark = store.txn(Txn { then: vec![Op::put(MARK, "")], ..Txn::default() }).await?.revision;
        let after = store.compacted();
        let base = match after {
            0 => Vec::new(),
            revision => store.range(Range { revision, ..Range::head(all()) }).await?.kvs,
        };
        let mut watch = store.watch(all(), after + 1).await?;
        let mut events: Vec<Event> = Vec::new();
        while events.last().is_none_or(|event| event.kv.mod_revision < mark) {
            let batch = watch.recv().await.ok_or(Error::Closed)?;
            events.extend(batch.events.iter().cloned());
        }
        events.retain(|event| event.kv.key != MARK);
        let base = base.into_iter().filter(|kv| kv.key != MARK).map(|kv| (kv.key.clone(), kv)).collect();
        Ok(Log { after, base, events })
    }

    /// The last revision that wrote something, as far as the log tells.
    pub fn last(&self) -> i64 {
        self.events.last().map_or(self.after, |event| event.kv.mod_revision)
    }

    /// Keys at a revision.
    pub fn at(&self, revision: i64) -> BTreeMap<Bytes, KeyValue> {
        let mut state = self.base.clone();
        self.events
            .iter()
            .take_while(|event| event.kv.mod_revision <= revision)
            .for_each(|event| step(&mut state, event));
        state
    }
}

fn step(state: &mut BTreeMap<Bytes, KeyValue>, event: &Event) {
    if event.is_delete() {
        state.remove(&event.kv.key);
    } else {
        state.insert(event.kv.key.clone(), event.kv.clone());
    }
}

macro_rules! demand {
    ($holds:expr, $($why:tt)+) => {
        if !$holds {
            return Err(format!($($why)+));
        }
    };
}

/// Checks a history against the log; an error says what does not hold.
pub async fn check(history: &History, log: &Log) -> Result<(), String> {
    real_time(&history.operations)?;
    Replay::new(history, log)?.run(log).await?;
    history.watches.iter().try_for_each(|watch| watch_saw(watch, log))
}

/// What starts after another ended has no lower revision, and a higher one if it writes.
fn real_time(operations: &[Operation]) -> Result<(), String> {
    let answered = |operation: &'_ Operation| operation.answer.as_ref().map_or(0, |answer| answer.revision);
    let mut by_end: Vec<&Operation> = operations.iter().collect();
    by_end.sort_by_key(|operation| operation.end);
    let mut by_start: Vec<&Operation> = by_end.iter().copied().filter(|operation| operation.answer.is_some()).collect();
    by_start.sort_by_key(|operation| operation.start);
    let (mut ended, mut seen) = (by_end.into_iter().peekable(), 0);
    for operation in by_start {
        while let Some(before) = ended.next_if(|before| before.end < operation.start) {
            seen = seen.max(answered(before));
        }
        let least = seen + i64::from(operation.answer.as_ref().is_some_and(|answer| answer.wrote));
        demand!(answered(operation) >= least, "revision {seen} was seen before this began: {operation:?}");
    }
    Ok(())
}

fn watch_saw(watch: &Watched, log: &Log) -> Result<(), String> {
    let Some((last, _)) = watch.events.last() else { return Ok(()) };
    let due = log.events.iter().filter(|event| watch.keys.contains(&event.kv.key));
    let due = due.filter(|event| (watch.from..=*last).contains(&event.kv.mod_revision));
    let due: Vec<(i64, String)> = due.map(|event| (event.kv.mod_revision, format!("{event:?}"))).collect();
    let differs = (0..due.len().max(watch.events.len())).find(|at| due.get(*at) != watch.events.get(*at));
    differs.map_or(Ok(()), |at| {
        let (due, saw) = (due.get(at), watch.events.get(at));
        Err(format!("the watch of {:?} from {} differs: the log has {due:?}, it saw {saw:?}", watch.keys, watch.from))
    })
}

/// The log, revision by revision, beside those who may have written it.
struct Replay<'a> {
    /// Writes that were acknowledged, by revision.
    writes: BTreeMap<i64, &'a Operation>,
    /// Reads and transactions that wrote nothing, by the revision they saw.
    reads: BTreeMap<i64, Vec<&'a Operation>>,
    /// Writes that may have happened, by the values they may have written.
    unknown: HashMap<Bytes, &'a Operation>,
    taken: HashSet<u64>,
}

impl<'a> Replay<'a> {
    fn new(history: &'a History, log: &Log) -> Result<Self, String> {
        let (mut writes, mut reads, mut unknown) = (BTreeMap::new(), BTreeMap::<i64, Vec<_>>::new(), HashMap::new());
        for operation in &history.operations {
            match (&operation.call, &operation.answer) {
                (_, Some(answer)) if answer.wrote => {
                    let other = writes.insert(answer.revision, operation);
                    demand!(other.is_none(), "one revision for two: {operation:?} and {other:?}");
                }
                (Call::Range(range), Some(_)) if range.revision > 0 => {
                    reads.entry(range.revision).or_default().push(operation)
                }
                (_, Some(answer)) => reads.entry(answer.revision).or_default().push(operation),
                (Call::Txn(txn), None) => {
                    let values = txn.then.iter().chain(&txn.otherwise);
                    let values =
                        values.filter_map(|op| if let Op::Put { value, .. } = op { value.clone() } else { None });
                    unknown.extend(values.map(|value| (value, operation)));
                }
                (Call::Range(_), None) => {}
            }
        }
        // What is below the log's begin cannot be replayed.
        let (writes, reads) = (writes.split_off(&(log.after + 1)), reads.split_off(&log.after));
        Ok(Replay { writes, reads, unknown, taken: HashSet::new() })
    }

    async fn run(mut self, log: &Log) -> Result<(), String> {
        let mut state = log.base.clone();
        let mut at = log.after;
        for events in log.events.chunk_by(|a, b| a.kv.mod_revision == b.kv.mod_revision) {
            let revision = events[0].kv.mod_revision;
            demand!(revision > at, "the log goes back from {at} to {revision}");
            self.reads_until(revision, &state).await?;
            let write = self.writer(revision, events)?;
            if write.call.is_relaxed() {
                relaxed_matches(write, events)?;
            } else {
                let (answer, due) = evaluate(&write.call, revision - 1, &state).await?;
                demand!(due == events, "{write:?} should have written {due:?}, the log has {events:?}");
                demand!(
                    write.answer.as_ref().is_none_or(|told| *told == answer),
                    "{write:?} should have been answered {answer:?}"
                );
            }
            events.iter().for_each(|event| step(&mut state, event));
            at = revision;
        }
        let lost = self.writes.values().find(|write| !write.call.is_relaxed());
        demand!(lost.is_none(), "an acknowledged write is lost: {lost:?}");
        self.reads_until(i64::MAX, &state).await
    }

    /// Who wrote these events.
    fn writer(&mut self, revision: i64, events: &[Event]) -> Result<&'a Operation, String> {
        if let Some(write) = self.writes.remove(&revision) {
            return Ok(write);
        }
        let write = events.iter().find_map(|event| self.unknown.get(&event.kv.value).copied());
        let Some(write) = write else { return Err(format!("nobody wrote {events:?}")) };
        demand!(self.taken.insert(write.start), "{write:?} happened twice, again with {events:?}");
        Ok(write)
    }

    /// Reads of the state that lasted until `revision` was written.
    async fn reads_until(&mut self, revision: i64, state: &BTreeMap<Bytes, KeyValue>) -> Result<(), String> {
        let later = self.reads.split_off(&revision);
        for read in std::mem::replace(&mut self.reads, later).into_values().flatten() {
            let Some(told) = &read.answer else { continue };
            let (answer, events) = evaluate(&read.call, told.revision, state).await?;
            demand!(events.is_empty() && answer == *told, "{read:?} should have been answered {answer:?}");
        }
        Ok(())
    }
}

/// Relaxed writes of one key are merged: only what was put counts.
fn relaxed_matches(write: &Operation, events: &[Event]) -> Result<(), String> {
    let Call::Txn(txn) = &write.call else { return Err(format!("a read wrote: {write:?}")) };
    let put = |event: &Event| {
        txn.then.iter().any(|op| matches!(op, Op::Put { key, value, .. } if *key == event.kv.key && value.as_ref() == Some(&event.kv.value)))
    };
    demand!(events.iter().all(put), "{write:?} did not write {events:?}");
    Ok(())
}

/// What the model makes of a call.
async fn evaluate(
    call: &Call,
    revision: i64,
    state: &BTreeMap<Bytes, KeyValue>,
) -> Result<(Answer, Vec<Event>), String> {
    let text = |error: Error| format!("{call:?} should have failed: {error}");
    let model = MemoryStore::at(revision, state.values().cloned());
    let mut watch = model.watch(all(), 0).await.map_err(text)?;
    let call = match call {
        // The model has no past: its state is the one asked for.
        Call::Range(range) => Call::Range(Range { revision: 0, ..range.clone() }),
        other => other.clone(),
    };
    let answer = call.ask(&model).await.map_err(text)?;
    Ok((answer, watch.try_recv().map_or_else(|_| Vec::new(), |batch| batch.events.to_vec())))
}

/// Follows a watch until `store` has nothing more for it.
pub async fn follow(mut watch: store::Watch, keys: KeyRange, from: i64, until: i64) -> Watched {
    let mut events = Vec::new();
    while let Some(batch) = watch.recv().await {
        events.extend(batch.events.iter().map(|event| (event.kv.mod_revision, shown(event))));
        if batch.revision >= until {
            break;
        }
    }
    Watched { keys, from, events }
}

/// An event as [`Watched`] has it.
pub fn shown(event: &impl Debug) -> String {
    format!("{event:?}")
}
