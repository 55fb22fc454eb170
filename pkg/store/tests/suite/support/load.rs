//! Random calls for recorded histories: a few keys, much contention, each value once.

use rand::{Rng as _, SeedableRng as _, rngs::StdRng, seq::IndexedRandom as _};
use store::{Compare, Durability, Error, KeyRange, Op, Range, Store, Target, Txn, TxnResponse};

use super::history::{Call, Recorder};

/// Keys of durable writes begin with it.
pub const DURABLE: &str = "d/";
/// Keys of relaxed writes begin with it.
pub const RELAXED: &str = "r/";

/// The calls of one client: the same from the same seed.
pub struct Calls {
    random: StdRng,
    /// Distinguishes this client's values.
    name: String,
    count: u64,
    /// Bytes to a value, at least.
    pub value: usize,
    /// Whether there are relaxed writes among them.
    pub relaxed: bool,
}

impl Calls {
    pub fn new(seed: u64, name: String) -> Self {
        Calls { random: StdRng::seed_from_u64(seed), name, count: 0, value: 0, relaxed: false }
    }

    fn key(&mut self) -> String {
        format!("{DURABLE}{}", ["a", "a/1", "a/2", "b", "b/1", "c"].choose(&mut self.random).expect("there are some"))
    }

    fn value(&mut self) -> String {
        self.count += 1;
        format!("{}.{:0width$}", self.name, self.count, width = self.value.saturating_sub(self.name.len() + 1))
    }

    fn compare(&mut self) -> Compare {
        let ordering =
            *[Some(std::cmp::Ordering::Less), Some(std::cmp::Ordering::Equal), Some(std::cmp::Ordering::Greater), None]
                .choose(&mut self.random)
                .expect("there are some");
        let keys = if self.random.random_bool(0.3) { KeyRange::prefix(self.key()) } else { KeyRange::key(self.key()) };
        Compare { keys, target: Target::Version(self.random.random_range(0..4)), ordering }
    }

    /// Steps of one branch; keys of puts differ.
    fn steps(&mut self) -> Vec<Op> {
        let mut steps: Vec<Op> = Vec::new();
        let deletes = self.random.random_bool(0.2);
        for at in 0..self.random.random_range(1..4) {
            let key =
                if deletes && at == 0 { KeyRange::prefix(format!("{DURABLE}a/")) } else { KeyRange::prefix(DURABLE) };
            steps.push(match self.random.random_range(0..3) {
                _ if deletes && at == 0 => Op::Delete(key),
                0 => Op::Range(Range::head(key)),
                _ => Op::put(format!("{DURABLE}{at}"), self.value()),
            });
        }
        steps.push(Op::put(format!("{DURABLE}b/{}", self.random.random_range(0..3)), self.value()));
        steps
    }

    fn txn(&mut self) -> Txn {
        match self.random.random_range(0..10) {
            0 if self.relaxed => {
                let then = vec![Op::put(format!("{RELAXED}{}", self.random.random_range(0..3)), self.value())];
                Txn { then, durability: Durability::Relaxed, ..Txn::default() }
            }
            0 => Txn {
                then: vec![Op::Delete(KeyRange::key(self.key())), Op::put(format!("{DURABLE}z"), self.value())],
                ..Txn::default()
            },
            1..4 => Txn { then: vec![Op::put(self.key(), self.value())], ..Txn::default() },
            _ => {
                let when = vec![self.compare()];
                Txn { when, then: self.steps(), otherwise: self.steps(), ..Txn::default() }
            }
        }
    }

    fn range(&mut self) -> Range {
        let keys = if self.random.random() { KeyRange::prefix(self.key()) } else { KeyRange::prefix(DURABLE) };
        Range { keys, revision: 0, limit: self.random.random_range(0..4), count_only: self.random.random_bool(0.2) }
    }
}

impl Iterator for Calls {
    type Item = Call;

    fn next(&mut self) -> Option<Call> {
        Some(if self.random.random_bool(0.15) { Call::Range(self.range()) } else { Call::Txn(self.txn()) })
    }
}

/// Has `calls` asked one after another, until the store fails.
pub async fn run(store: &dyn Store, recorder: &Recorder, calls: impl Iterator<Item = Call>) -> Result<(), Error> {
    for call in calls {
        recorder.ask(store, call).await?;
    }
    Ok(())
}

/// Writes one key, durably.
pub async fn put(store: &dyn Store, key: &str, value: &str) -> Result<TxnResponse, Error> {
    store.txn(Txn { then: vec![Op::put(key.to_owned(), value.to_owned())], ..Txn::default() }).await
}
