//! The work queue of a controller: keys that need a look, each at most once.
//!
//! # Guarantees
//! - A key is never handed out twice at a time; if it is added while somebody works on it, it is
//!   handed out again afterwards, once, however often it was added.
//! - A key added with a delay comes no earlier than that, and earlier delays win over later ones.
//! - Failures of one key are retried after 5 ms, 10 ms, 20 ms … up to 1000 s; all failures
//!   together at no more than ten a second after a burst of a hundred.
//!
//! # Caveats
//! The queue has as many entries as there are distinct keys; it has no other bound.

use std::{
    collections::{BTreeSet, HashMap, HashSet, VecDeque},
    fmt,
    hash::Hash,
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{sync::Notify, time::Instant};

const BACKOFF_BASE: Duration = Duration::from_millis(5);
const BACKOFF_MAX: Duration = Duration::from_secs(1000);
const RETRY_INTERVAL: Duration = Duration::from_millis(100);
const RETRY_BURST: u32 = 100;

/// See the module.
pub struct Queue<T> {
    state: Mutex<State<T>>,
    /// One permit to each change that a waiting worker should see.
    changed: Notify,
}

struct State<T> {
    ready: VecDeque<T>,
    /// What is in `ready`.
    queued: HashSet<T>,
    running: HashSet<T>,
    /// Running, and added again meanwhile.
    again: HashSet<T>,
    delayed: BTreeSet<(Instant, T)>,
    due: HashMap<T, Instant>,
    failures: HashMap<T, u32>,
    /// When the retry budget is full again.
    budget: Option<Instant>,
    closed: bool,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        let state = State {
            ready: VecDeque::new(),
            queued: HashSet::new(),
            running: HashSet::new(),
            again: HashSet::new(),
            delayed: BTreeSet::new(),
            due: HashMap::new(),
            failures: HashMap::new(),
            budget: None,
            closed: false,
        };
        Queue { state: Mutex::new(state), changed: Notify::new() }
    }
}

impl<T> fmt::Debug for Queue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.lock();
        f.debug_struct("Queue")
            .field("ready", &state.ready.len())
            .field("running", &state.running.len())
            .field("delayed", &state.delayed.len())
            .finish()
    }
}

impl<T: Clone + Eq + Hash + Ord> Queue<T> {
    /// Empty.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for a look at `key` as soon as possible.
    pub fn add(&self, key: T) {
        if self.state.lock().add(key) {
            self.changed.notify_one();
        }
    }

    /// Asks for a look at `key` after `delay`; an earlier request stands.
    pub fn add_after(&self, key: T, delay: Duration) {
        if delay.is_zero() {
            return self.add(key);
        }
        let at = Instant::now() + delay;
        if self.state.lock().add_at(key, at) {
            self.changed.notify_one();
        }
    }

    /// Asks for another look at a key that failed, later the more often it failed.
    pub fn retry(&self, key: T) {
        let delay = {
            let mut state = self.state.lock();
            let failures = state.failures.entry(key.clone()).or_default();
            let delay = backoff(*failures);
            *failures = failures.saturating_add(1);
            delay.max(state.spend_budget(Instant::now()))
        };
        self.add_after(key, delay);
    }

    /// Forgets earlier failures of `key`.
    pub fn forget(&self, key: &T) {
        self.state.lock().failures.remove(key);
    }

    /// How often `key` failed in a row.
    pub fn failures(&self, key: &T) -> u32 {
        self.state.lock().failures.get(key).copied().unwrap_or(0)
    }

    /// The next key; `None` once the queue is closed. Must be answered with [`Queue::done`].
    pub async fn next(&self) -> Option<T> {
        loop {
            let wake = {
                let mut state = self.state.lock();
                if state.closed {
                    return None;
                }
                state.collect_due(Instant::now());
                if let Some(key) = state.take() {
                    if !state.ready.is_empty() {
                        self.changed.notify_one();
                    }
                    return Some(key);
                }
                state.delayed.first().map(|(at, _)| *at)
            };
            match wake {
                None => self.changed.notified().await,
                Some(at) => {
                    // The timer is there only while a delayed key waits.
                    let _ = tokio::time::timeout_at(at, self.changed.notified()).await;
                }
            }
        }
    }

    /// The work on `key` is over.
    pub fn done(&self, key: &T) {
        let mut state = self.state.lock();
        state.running.remove(key);
        if state.again.remove(key) && state.add(key.clone()) {
            self.changed.notify_one();
        }
    }

    /// Ends all waiting and future [`Queue::next`].
    pub fn close(&self) {
        self.state.lock().closed = true;
        self.changed.notify_waiters();
        self.changed.notify_one();
    }

    /// Keys that are ready, waiting or being worked on.
    pub fn len(&self) -> usize {
        let state = self.state.lock();
        state.ready.len() + state.delayed.len() + state.running.len()
    }

    /// Whether there is nothing at all to do.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: Clone + Eq + Hash + Ord> State<T> {
    /// Whether a worker should be woken.
    fn add(&mut self, key: T) -> bool {
        if let Some(at) = self.due.remove(&key) {
            self.delayed.remove(&(at, key.clone()));
        }
        if self.running.contains(&key) {
            self.again.insert(key);
            return false;
        }
        if !self.queued.insert(key.clone()) {
            return false;
        }
        self.ready.push_back(key);
        true
    }

    /// Whether a waiting worker must set its timer anew.
    fn add_at(&mut self, key: T, at: Instant) -> bool {
        if self.queued.contains(&key) || self.again.contains(&key) {
            return false;
        }
        if let Some(before) = self.due.get(&key).copied() {
            if before <= at {
                return false;
            }
            self.delayed.remove(&(before, key.clone()));
        }
        self.due.insert(key.clone(), at);
        self.delayed.insert((at, key));
        true
    }

    fn collect_due(&mut self, now: Instant) {
        while self.delayed.first().is_some_and(|(at, _)| *at <= now) {
            if let Some((_, key)) = self.delayed.pop_first() {
                self.due.remove(&key);
                self.add(key);
            }
        }
    }

    fn take(&mut self) -> Option<T> {
        let key = self.ready.pop_front()?;
        self.queued.remove(&key);
        self.running.insert(key.clone());
        Some(key)
    }

    /// How long to wait so that all failures together keep to their rate.
    fn spend_budget(&mut self, now: Instant) -> Duration {
        let full = self.budget.map_or(now, |at| at.max(now)) + RETRY_INTERVAL;
        self.budget = Some(full);
        (full - now).saturating_sub(RETRY_INTERVAL * RETRY_BURST)
    }
}

fn backoff(failures: u32) -> Duration {
    1u32.checked_shl(failures)
        .and_then(|factor| BACKOFF_BASE.checked_mul(factor))
        .unwrap_or(BACKOFF_MAX)
        .min(BACKOFF_MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn backoff_doubles_up_to_its_limit() {
        for (failures, milliseconds) in [(0, 5), (1, 10), (7, 640), (17, 655_360), (18, 1_000_000), (40, 1_000_000)] {
            assert_eq!(backoff(failures), Duration::from_millis(milliseconds), "{failures} failures");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_added_many_times_comes_once() {
        let queue = Queue::new();
        for _ in 0..5 {
            queue.add("a");
        }
        queue.add("b");
        assert_eq!(queue.next().await, Some("a"));
        assert_eq!(queue.next().await, Some("b"));
        queue.done(&"a");
        queue.done(&"b");
        assert!(queue.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_added_while_it_runs_comes_again_afterwards() {
        let queue = Queue::new();
        queue.add("a");
        assert_eq!(queue.next().await, Some("a"));
        queue.add("a");
        queue.add("a");
        let early = tokio::time::timeout(Duration::from_secs(1), queue.next()).await;
        assert!(early.is_err(), "handed out twice at a time");
        queue.done(&"a");
        assert_eq!(queue.next().await, Some("a"));
        queue.done(&"a");
        assert!(queue.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn the_earliest_delay_wins() {
        let queue = Queue::new();
        let start = Instant::now();
        queue.add_after("a", Duration::from_secs(10));
        queue.add_after("a", Duration::from_secs(3));
        queue.add_after("a", Duration::from_secs(30));
        assert_eq!(queue.next().await, Some("a"));
        assert_eq!(start.elapsed().as_secs(), 3);
        queue.done(&"a");
        assert!(queue.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_shorter_delay_wakes_a_worker_that_waits_for_a_longer_one() {
        let queue = Arc::new(Queue::new());
        queue.add_after("late", Duration::from_secs(60));
        let worker = tokio::spawn({
            let queue = queue.clone();
            async move { queue.next().await }
        });
        tokio::task::yield_now().await;
        queue.add_after("early", Duration::from_secs(1));
        assert_eq!(worker.await.expect("joins"), Some("early"));
    }

    #[tokio::test(start_paused = true)]
    async fn failures_are_retried_ever_later_until_forgotten() {
        let queue = Queue::new();
        for expected in [5, 10, 20, 40] {
            let start = Instant::now();
            queue.retry("a");
            assert_eq!(queue.next().await, Some("a"));
            assert_eq!(start.elapsed().as_millis(), expected);
            queue.done(&"a");
        }
        queue.forget(&"a");
        assert_eq!(queue.failures(&"a"), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn all_failures_together_are_limited() {
        let queue = Queue::new();
        let start = Instant::now();
        for key in 0..150 {
            queue.retry(key);
        }
        for _ in 0..150 {
            assert!(queue.next().await.is_some());
        }
        assert_eq!(start.elapsed().as_secs(), 5);
    }

    #[tokio::test]
    async fn closing_ends_every_worker() {
        let queue = Arc::new(Queue::<u8>::new());
        let workers: Vec<_> = (0..3)
            .map(|_| {
                let queue = queue.clone();
                tokio::spawn(async move { queue.next().await })
            })
            .collect();
        tokio::task::yield_now().await;
        queue.close();
        for worker in workers {
            assert_eq!(worker.await.expect("joins"), None);
        }
    }
}
