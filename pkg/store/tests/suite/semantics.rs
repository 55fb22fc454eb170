//! Random operations: every backend answers as the model does, and its watches see the same.

use std::{fmt::Debug, mem::discriminant, time::Duration};

use bytes::Bytes;
use proptest::{
    prelude::*,
    test_runner::{RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner},
};
use store::{
    Compare, Durability, Error, Event, KeyRange, LeaseStatus, MemoryStore, Op, Range, Store, Target, Txn, Watch,
};
use tokio::time::timeout;

use crate::support::{
    LONG, all,
    backend::{self, Backend},
    next, seed, soak,
};

/// A revision, as seen from the head; -1000 stands for none given.
type At = i64;
const NONE: At = -1000;

/// One step of a case.
#[derive(Clone, Debug)]
enum Step {
    Txn(Txn),
    /// A put that does nothing but make history.
    Put(String, String),
    Range(Range, At),
    Compact(At),
    Grant(i64),
    Revoke(i64),
    KeepAlive(i64),
    TimeToLive(i64),
    Leases,
    Watch(KeyRange, At),
    Progress,
}

fn key() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "ab", "b", "b/1", "b/2", "c", "\u{7f}"]).prop_map(str::to_owned)
}

fn keys() -> impl Strategy<Value = KeyRange> {
    prop_oneof![
        3 => key().prop_map(KeyRange::key),
        3 => key().prop_map(KeyRange::prefix),
        1 => Just(all()),
        1 => key().prop_map(|key| KeyRange { start: key.into(), end: Some(Bytes::new()) }),
        1 => (key(), key()).prop_filter("in order", |(start, end)| start < end)
            .prop_map(|(start, end)| KeyRange { start: start.into(), end: Some(end.into()) }),
    ]
}

fn value() -> impl Strategy<Value = String> {
    "[xyz]{0,2}"
}

fn lease() -> impl Strategy<Value = i64> {
    1i64..4
}

fn at() -> impl Strategy<Value = At> {
    prop_oneof![2 => Just(NONE), 4 => -12i64..=0, 1 => 1i64..3]
}

fn range() -> impl Strategy<Value = Range> {
    (keys(), 0usize..4, prop::bool::weighted(0.2)).prop_map(|(keys, limit, count_only)| Range {
        keys,
        revision: 0,
        limit,
        count_only,
    })
}

fn op() -> impl Strategy<Value = Op> {
    let kept = prop_oneof![3 => value().prop_map(Some), 1 => Just(None)];
    let bound = prop_oneof![4 => Just(Some(0)), 3 => lease().prop_map(Some), 1 => Just(None)];
    prop_oneof![
        5 => (key(), kept, bound).prop_map(|(key, value, lease)| {
            Op::Put { key: key.into(), value: value.map(Into::into), lease }
        }),
        2 => keys().prop_map(Op::Delete),
        2 => range().prop_map(Op::Range),
    ]
}

fn compare() -> impl Strategy<Value = Compare> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let target = prop_oneof![
        (-12i64..2).prop_map(Target::ModRevision),
        (-12i64..2).prop_map(Target::CreateRevision),
        (0i64..4).prop_map(Target::Version),
        (0i64..4).prop_map(Target::Lease),
        value().prop_map(|value| Target::Value(value.into())),
    ];
    let ordering = prop::sample::select(vec![Some(Less), Some(Equal), Some(Greater), None]);
    (keys(), target, ordering).prop_map(|(keys, target, ordering)| Compare { keys, target, ordering })
}

fn txn() -> impl Strategy<Value = Txn> {
    let durability = prop_oneof![3 => Just(Durability::Durable), 1 => Just(Durability::Relaxed)];
    let ops = |most| prop::collection::vec(op(), 0..most);
    (prop::collection::vec(compare(), 0..3), ops(5), ops(3), durability)
        .prop_map(|(when, then, otherwise, durability)| Txn { when, then, otherwise, durability, ..Txn::default() })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => txn().prop_map(Step::Txn),
        6 => (key(), value()).prop_map(|(key, value)| Step::Put(key, value)),
        4 => (range(), at()).prop_map(|(range, at)| Step::Range(range, at)),
        1 => at().prop_map(Step::Compact),
        2 => lease().prop_map(Step::Grant),
        1 => lease().prop_map(Step::Revoke),
        1 => lease().prop_map(Step::KeepAlive),
        1 => lease().prop_map(Step::TimeToLive),
        1 => Just(Step::Leases),
        2 => (keys(), at()).prop_map(|(keys, at)| Step::Watch(keys, at)),
        1 => Just(Step::Progress),
    ]
}

/// The same, told what was replaced, as the model tells it unasked.
fn telling(txn: &Txn) -> Txn {
    Txn { previous: true, ..txn.clone() }
}

/// A backend beside the model.
struct Pair<'a> {
    store: &'a dyn Store,
    model: &'a MemoryStore,
    watches: Vec<Following>,
}

/// One watch of both.
struct Following {
    got: Watch,
    want: Watch,
    /// The revision that it is to see next.
    due: i64,
    asked: String,
}

type Verdict = Result<(), TestCaseError>;

impl Pair<'_> {
    /// Runs a case, from an empty store on.
    async fn run(mut self, steps: Vec<Step>) -> Verdict {
        for step in steps {
            let shown = format!("{step:?}");
            self.step(step).await.map_err(|e| TestCaseError::fail(format!("{shown}: {e}")))?;
            self.watches_agree(false).await.map_err(|e| TestCaseError::fail(format!("after {shown}: {e}")))?;
        }
        same(&self.store.range(Range::head(all())).await, &self.model.range(Range::head(all())).await)?;
        self.watches_agree(true).await?;
        // The next case may have the same store.
        self.step(Step::Txn(Txn { then: vec![Op::Delete(all())], ..Txn::default() })).await?;
        for id in self.model.leases().await.unwrap_or_default() {
            self.step(Step::Revoke(id)).await?;
        }
        Ok(())
    }

    async fn step(&mut self, step: Step) -> Verdict {
        let (store, model) = (self.store, self.model);
        let head = model.revision().await.map_err(|e| TestCaseError::fail(e.to_string()))?;
        let revision = |at: At| if at == NONE { 0 } else { (head + at).max(1) };
        match step {
            Step::Txn(mut txn) => {
                txn.when.iter_mut().for_each(|compare| seen_from(head, compare));
                same(&store.txn(telling(&txn)).await, &model.txn(txn).await)
            }
            Step::Put(key, value) => {
                let txn = Txn { then: vec![Op::put(key, value)], ..Txn::default() };
                same(&store.txn(telling(&txn)).await, &model.txn(txn).await)
            }
            Step::Range(range, at) => {
                let range = Range { revision: revision(at), ..range };
                same(&store.range(range.clone()).await, &model.range(range).await)
            }
            Step::Compact(at) => {
                let revision = revision(at.max(-12));
                same(&store.compact(revision).await, &model.compact(revision).await)?;
                prop_assert_eq!(store.compacted(), model.compacted());
                Ok(())
            }
            Step::Grant(id) => same(&store.lease_grant(id, 500).await, &model.lease_grant(id, 500).await),
            Step::Revoke(id) => same(&store.lease_revoke(id).await, &model.lease_revoke(id).await),
            Step::KeepAlive(id) => same(&store.lease_keep_alive(id).await, &model.lease_keep_alive(id).await),
            Step::TimeToLive(id) => {
                let timeless = |status: LeaseStatus| LeaseStatus { remaining: 0, ..status };
                let (got, want) = (store.lease_time_to_live(id).await, model.lease_time_to_live(id).await);
                same(&got.map(timeless), &want.map(timeless))
            }
            Step::Leases => same(&store.leases().await, &model.leases().await),
            Step::Watch(keys, at) => {
                // What is left at the compacted revision itself is a rule of its own, and so is "from now".
                let from = if at == NONE { head + 1 } else { revision(at) };
                let from = if from == model.compacted() { from + 1 } else { from };
                let asked = format!("{keys:?} from {from}, asked at {head}");
                match (store.watch(keys.clone(), from).await, model.watch(keys, from).await) {
                    (Ok(got), Ok(want)) => self.watches.push(Following { got, want, due: from, asked }),
                    (got, want) => same(&got.map(drop), &want.map(drop))?,
                }
                Ok(())
            }
            Step::Progress => self.watches_agree(true).await,
        }
    }

    /// What the model's watches have seen, the backend's see too. If asked, there is also nothing more. A watch that
    /// was still catching up when what it was to see next was compacted may have ended.
    async fn watches_agree(&mut self, to_the_end: bool) -> Verdict {
        if to_the_end {
            same(&self.store.progress().await, &self.model.progress().await)?;
        }
        let head = self.model.revision().await.map_err(|e| TestCaseError::fail(e.to_string()))?;
        let mut overtaken = Vec::new();
        for (at, Following { got, want, due: next_due, asked }) in self.watches.iter_mut().enumerate() {
            let (mut due, mut progress): (Vec<Event>, bool) = (Vec::new(), false);
            while let Ok(batch) = want.try_recv() {
                progress |= batch.events.is_empty();
                due.extend(batch.events.iter().cloned());
            }
            let mut seen: Vec<Event> = Vec::new();
            while seen.len() < due.len() || progress {
                let next =
                    if progress { next(self.store, got).await } else { timeout(LONG, got.recv()).await.ok().flatten() };
                let Some(batch) = next else {
                    let ended = timeout(Duration::ZERO, got.recv()).await.is_ok_and(|batch| batch.is_none());
                    if ended && self.model.compacted() >= *next_due {
                        overtaken.push(at);
                        break;
                    }
                    return Err(TestCaseError::fail(format!(
                        "at {head} the watch of {asked} saw {seen:?}, and not all of {due:?}, progress {progress}"
                    )));
                };
                if batch.events.is_empty() && batch.revision >= head {
                    break;
                }
                seen.extend(batch.events.iter().cloned());
            }
            if overtaken.last() != Some(&at) {
                *next_due = (*next_due).max(due.last().map_or(0, |event| event.kv.mod_revision + 1));
                if progress {
                    *next_due = (*next_due).max(head + 1);
                }
                prop_assert_eq!(seen, due);
            }
        }
        for at in overtaken.into_iter().rev() {
            self.watches.remove(at);
        }
        Ok(())
    }
}

/// Revisions that are compared are meant from the head on.
fn seen_from(head: i64, compare: &mut Compare) {
    if let Target::ModRevision(revision) | Target::CreateRevision(revision) = &mut compare.target {
        *revision = (*revision + head).max(0);
    }
}

/// Equal answers, or errors of one kind.
fn same<T: Debug + PartialEq>(got: &Result<T, Error>, want: &Result<T, Error>) -> Verdict {
    let equal = match (got, want) {
        (Ok(got), Ok(want)) => got == want,
        (Err(got), Err(want)) => discriminant(got) == discriminant(want),
        _ => false,
    };
    prop_assert!(equal, "it answered {:?}, the model {:?}", got, want);
    Ok(())
}

/// Runs `cases` of up to `steps` steps, each on a new backend, or all on one: that is how a slow one is tested, and
/// then what failed cannot be made shorter.
fn cases<F: Future<Output = Backend>>(make: impl Fn() -> F, cases: u32, steps: usize, one_for_all: bool) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let config = ProptestConfig {
        cases: cases * soak(),
        max_shrink_iters: if one_for_all { 0 } else { 200 },
        max_shrink_time: 30_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed().to_le_bytes());
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let (model, shared) = (MemoryStore::default(), runtime.block_on(make()));
    let ran = runner.run(&prop::collection::vec(step(), 1..steps), |steps| {
        runtime.block_on(async {
            if one_for_all {
                return Pair { store: &*shared.store, model: &model, watches: Vec::new() }.run(steps).await;
            }
            let (store, model) = (make().await, MemoryStore::default());
            Pair { store: &*store.store, model: &model, watches: Vec::new() }.run(steps).await
        })
    });
    match ran {
        Ok(()) => {}
        Err(TestError::Fail(why, steps)) => {
            let lines: Vec<String> = steps.iter().map(|step| format!("{step:?}")).collect();
            panic!("{why}\n{}", lines.join("\n"))
        }
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
}

#[test]
fn sqlite_answers_as_the_model_does() {
    cases(backend::sqlite, 48, 60, false);
}

#[test]
fn etcd_answers_as_the_model_does() {
    cases(backend::etcd, 16, 60, true);
}

#[test]
fn the_face_answers_as_the_model_does() {
    cases(backend::face, 24, 60, true);
}
