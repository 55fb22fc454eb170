//! Pods that wait for a node.
//!
//! # States
//! *active*: to be decided now, by priority, then by arrival. *backing off*: an attempt failed
//! lately. *unschedulable*: no node fits; something must change first, in the eyes of a plugin that
//! refused a node. After an attempt a pod is *in flight* until it is reported or removed.
//!
//! # Guarantees
//! The n-th failure of a pod keeps it away for 1, 2, 4, 8, at most 10 seconds. A pod that nothing
//! wakes is tried again after five minutes.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashMap},
    time::Duration,
};

use client::ObjectKey;
use tokio::time::Instant;

use crate::filter::Plugin;

const BACKOFF_FIRST: Duration = Duration::from_secs(1);
const BACKOFF_MAX: Duration = Duration::from_secs(10);
const UNSCHEDULABLE_MAX: Duration = Duration::from_secs(300);

/// What happened in the cluster that may make room for a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    NodeAdded,
    NodeAllocatable,
    NodeLabels,
    NodeTaints,
    /// A pod took its place on a node, or changed its labels there.
    PodPlaced,
    /// A pod left its node.
    PodGone,
    /// Labels of a namespace changed.
    Namespace,
}

/// Whether an event may change a plugin's mind.
fn concerns(plugin: Plugin, event: Event) -> bool {
    match event {
        Event::NodeAdded => true,
        Event::NodeAllocatable => plugin == Plugin::NodeResourcesFit,
        Event::NodeLabels => {
            matches!(plugin, Plugin::NodeAffinity | Plugin::PodTopologySpread | Plugin::InterPodAffinity)
        }
        Event::NodeTaints => {
            matches!(plugin, Plugin::TaintToleration | Plugin::NodeUnschedulable | Plugin::PodTopologySpread)
        }
        Event::PodPlaced => matches!(plugin, Plugin::PodTopologySpread | Plugin::InterPodAffinity),
        Event::PodGone => matches!(
            plugin,
            Plugin::NodeResourcesFit | Plugin::NodePorts | Plugin::PodTopologySpread | Plugin::InterPodAffinity
        ),
        Event::Namespace => plugin == Plugin::InterPodAffinity,
    }
}

#[derive(Debug)]
struct Entry {
    priority: i32,
    attempts: u32,
    state: State,
}

#[derive(Debug, PartialEq)]
enum State {
    Active { arrival: u64 },
    BackingOff { until: Instant },
    Unschedulable { plugins: BTreeSet<Plugin>, backoff_until: Instant, at_latest: Instant },
    InFlight,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Queue {
    entries: HashMap<ObjectKey, Entry>,
    active: BTreeSet<(Reverse<i32>, u64, ObjectKey)>,
    arrivals: u64,
}

impl Queue {
    /// A pod that is new, or that changed so that another attempt may end otherwise.
    pub fn add(&mut self, key: ObjectKey, priority: i32) {
        let attempts = match self.entries.get(&key) {
            Some(Entry { state: State::Active { .. } | State::InFlight, .. }) => return,
            Some(entry) => entry.attempts,
            None => 0,
        };
        self.entries.insert(key.clone(), Entry { priority, attempts, state: State::InFlight });
        self.activate(&key);
    }

    fn activate(&mut self, key: &ObjectKey) {
        let Some(entry) = self.entries.get_mut(key) else { return };
        self.arrivals += 1;
        entry.state = State::Active { arrival: self.arrivals };
        self.active.insert((Reverse(entry.priority), self.arrivals, key.clone()));
    }

    /// Whether the pod is known here, in whatever state.
    pub fn contains(&self, key: &ObjectKey) -> bool {
        self.entries.contains_key(key)
    }

    /// The pod waits no more: bound, gone, or not ours.
    pub fn remove(&mut self, key: &ObjectKey) {
        if let Some(Entry { priority, state: State::Active { arrival }, .. }) = self.entries.remove(key) {
            self.active.remove(&(Reverse(priority), arrival, key.clone()));
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.active.clear();
    }

    /// Whether a pod is to be decided now.
    pub fn has_active(&self) -> bool {
        !self.active.is_empty()
    }

    /// The next pod to decide.
    pub fn pop(&mut self) -> Option<ObjectKey> {
        let (_, _, key) = self.active.pop_first()?;
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.attempts = entry.attempts.saturating_add(1);
            entry.state = State::InFlight;
        }
        Some(key)
    }

    /// No node fits.
    pub fn unschedulable(&mut self, key: &ObjectKey, plugins: BTreeSet<Plugin>, now: Instant) {
        if let Some(entry) = self.entries.get_mut(key) {
            let backoff_until = now + backoff(entry.attempts);
            entry.state = State::Unschedulable { plugins, backoff_until, at_latest: now + UNSCHEDULABLE_MAX };
        }
    }

    /// The attempt failed for a reason that may be gone next time.
    pub fn failed(&mut self, key: &ObjectKey, now: Instant) {
        if let Some(entry) = self.entries.get_mut(key) {
            entry.state = State::BackingOff { until: now + backoff(entry.attempts) };
        }
    }

    /// Wakes the pods that an event may help.
    pub fn wake(&mut self, event: Event, now: Instant) {
        for entry in self.entries.values_mut() {
            let State::Unschedulable { plugins, backoff_until, .. } = &entry.state else { continue };
            // Without any node nobody refused it.
            let helps = plugins.iter().any(|p| concerns(*p, event)) || plugins.is_empty() && event == Event::NodeAdded;
            if helps {
                entry.state = State::BackingOff { until: *backoff_until };
            }
        }
        self.collect_due(now);
    }

    /// Activates what has waited long enough.
    pub fn collect_due(&mut self, now: Instant) {
        let due: Vec<_> = self
            .entries
            .iter()
            .filter(|(_, entry)| entry.deadline().is_some_and(|at| at <= now))
            .map(|(key, _)| key.clone())
            .collect();
        due.iter().for_each(|key| self.activate(key));
    }

    /// When [`Queue::collect_due`] has something to do.
    pub fn deadline(&self) -> Option<Instant> {
        self.entries.values().filter_map(Entry::deadline).min()
    }
}

impl Entry {
    fn deadline(&self) -> Option<Instant> {
        match self.state {
            State::BackingOff { until } => Some(until),
            State::Unschedulable { at_latest, .. } => Some(at_latest),
            State::Active { .. } | State::InFlight => None,
        }
    }
}

fn backoff(attempts: u32) -> Duration {
    BACKOFF_FIRST.saturating_mul(1 << attempts.saturating_sub(1).min(8)).min(BACKOFF_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> ObjectKey {
        ObjectKey::new("ns", name)
    }

    fn refused(plugin: Plugin) -> BTreeSet<Plugin> {
        [plugin].into()
    }

    #[test]
    fn higher_priority_first_then_by_arrival() {
        let mut queue = Queue::default();
        for (name, priority) in [("a", 0), ("b", 10), ("c", 0), ("a", 0)] {
            queue.add(key(name), priority);
        }
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|k| k.name).collect();
        assert_eq!(order, ["b", "a", "c"]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_event_wakes_whom_it_concerns_after_the_backoff() {
        let mut queue = Queue::default();
        let start = Instant::now();
        for (name, plugin) in [("cpu", Plugin::NodeResourcesFit), ("taint", Plugin::TaintToleration)] {
            queue.add(key(name), 0);
            queue.pop();
            queue.unschedulable(&key(name), refused(plugin), start);
        }
        queue.wake(Event::PodGone, start);
        assert!(!queue.has_active(), "the backoff is not over");
        queue.collect_due(start + Duration::from_secs(1));
        assert_eq!(queue.pop(), Some(key("cpu")));
        assert_eq!(queue.pop(), None);
        queue.wake(Event::NodeAdded, start + Duration::from_secs(2));
        assert_eq!(queue.pop(), Some(key("taint")));
    }

    #[tokio::test(start_paused = true)]
    async fn what_nothing_wakes_is_tried_again_in_the_end() {
        let mut queue = Queue::default();
        let start = Instant::now();
        queue.add(key("a"), 0);
        queue.pop();
        queue.unschedulable(&key("a"), refused(Plugin::NodeName), start);
        assert_eq!(queue.deadline(), Some(start + UNSCHEDULABLE_MAX));
        queue.collect_due(start + UNSCHEDULABLE_MAX);
        assert!(queue.has_active());
    }

    #[test]
    fn backoff_is_bounded() {
        let seconds: Vec<_> = (1..7).map(|n| backoff(n).as_secs()).collect();
        assert_eq!(seconds, [1, 2, 4, 8, 10, 10]);
    }
}
