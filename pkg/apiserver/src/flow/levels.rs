//! Seats of priority levels, and who waits for them. Pure: waiters are whatever the caller gives.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use api::{Value, tree};

use super::schemas::CATCH_ALL;

/// What a PriorityLevelConfiguration says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Its part of all seats, beside the others' shares.
    pub shares: usize,
    /// Percent of its seats that others may use.
    pub lendable: usize,
    /// Percent of its seats that it may use of others' beyond its own; `None` for all.
    pub borrowing: Option<usize>,
    /// No limits.
    pub exempt: bool,
    /// Requests of one flow that may wait, and of all; zero refuses at once.
    pub queue: (usize, usize),
}

impl Limits {
    /// Of the level that has none.
    pub fn exempt() -> Self {
        Limits { exempt: true, ..Limits::default() }
    }

    /// From the object.
    pub fn read(level: &Value) -> Self {
        let number = |path: &str, otherwise: i64| {
            let value = tree::at(level, path).as_i64().unwrap_or(otherwise);
            usize::try_from(value).unwrap_or(0)
        };
        if tree::text(level, "spec.type") == "Exempt" {
            return Limits {
                shares: number("spec.exempt.nominalConcurrencyShares", 0),
                lendable: number("spec.exempt.lendablePercent", 0),
                ..Limits::exempt()
            };
        }
        let queues = tree::text(level, "spec.limited.limitResponse.type") == "Queue";
        let queuing =
            |field: &str, otherwise| number(&format!("spec.limited.limitResponse.queuing.{field}"), otherwise);
        let length = queuing("queueLengthLimit", 50);
        let (one, all) = (length * queuing("handSize", 8), length * queuing("queues", 64));
        Limits {
            shares: number("spec.limited.nominalConcurrencyShares", 30),
            lendable: number("spec.limited.lendablePercent", 0).min(100),
            borrowing: tree::at(level, "spec.limited.borrowingLimitPercent")
                .as_i64()
                .map(|percent| usize::try_from(percent).unwrap_or(0)),
            exempt: false,
            queue: if queues { (one, all) } else { (0, 0) },
        }
    }
}

#[derive(Debug)]
struct Level<W> {
    limits: Limits,
    seats: usize,
    used: usize,
    refused: usize,
    waiting: usize,
    /// Flows that wait, in the order of their turns.
    flows: VecDeque<(String, VecDeque<W>)>,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It has a seat.
    Granted,
    /// It needs none.
    Exempt,
    /// It waits for its turn.
    Waits,
    /// There is no place to wait.
    Refused,
}

/// All levels.
#[derive(Debug)]
pub struct Levels<W> {
    levels: BTreeMap<Arc<str>, Level<W>>,
    total: usize,
    gone: fn(&W) -> bool,
}

impl<W> Levels<W> {
    /// With so many seats; `gone` says whether a waiter has given up.
    pub fn new(total: usize, gone: fn(&W) -> bool) -> Self {
        Levels { levels: BTreeMap::new(), total, gone }
    }

    /// Takes over limits. A level that is left out stays as long as someone has a seat or waits there.
    pub fn configure(&mut self, limits: &[(Arc<str>, Limits)]) {
        let shares: usize = limits.iter().map(|(_, limits)| limits.shares).sum::<usize>().max(1);
        self.levels.retain(|name, level| {
            level.used > 0 || level.waiting > 0 || limits.iter().any(|(wanted, _)| wanted == name)
        });
        for (name, limits) in limits {
            let seats = (self.total * limits.shares).div_ceil(shares);
            let level = self.levels.entry(name.clone()).or_insert_with(|| Level {
                limits: limits.clone(),
                seats,
                used: 0,
                refused: 0,
                waiting: 0,
                flows: VecDeque::new(),
            });
            (level.limits, level.seats) = (limits.clone(), seats);
        }
    }

    /// Level, seats, seats in use, waiting, refused.
    pub fn figures(&self) -> Vec<(Arc<str>, [usize; 4])> {
        let figures = |level: &Level<W>| [level.seats, level.used, level.waiting, level.refused];
        self.levels.iter().map(|(name, level)| (name.clone(), figures(level))).collect()
    }

    /// Whether a level has a seat to give: its own, or one that others lend.
    fn has_seat(&self, name: &str) -> bool {
        let Some(level) = self.levels.get(name) else { return false };
        // A level may become exempt while requests wait there.
        if level.limits.exempt || level.used < level.seats {
            return true;
        }
        let borrows = level.limits.borrowing.map_or(usize::MAX, |percent| level.seats * percent / 100);
        if level.used - level.seats >= borrows {
            return false;
        }
        // Others keep what they use, and what they do not lend.
        let others = self.levels.iter().filter(|(other, _)| &***other != name).map(|(_, other)| {
            let kept = other.seats - other.seats * other.limits.lendable.min(100) / 100;
            other.used.max(kept)
        });
        others.sum::<usize>() + level.used < self.total
    }

    /// The level that counts for requests of `name`: it may be gone since they were classified.
    pub fn known(&self, name: &Arc<str>) -> Arc<str> {
        if self.levels.contains_key(name) { name.clone() } else { CATCH_ALL.into() }
    }

    /// A request asks for a seat. The name of its flow and a waiter are made only if it cannot have one at once.
    pub fn ask(&mut self, name: &str, flow: impl FnOnce() -> String, waiter: impl FnOnce() -> W) -> Answer {
        let gone = self.gone;
        let has_seat = self.has_seat(name);
        let Some(level) = self.levels.get_mut(name) else { return Answer::Refused };
        if level.limits.exempt {
            return Answer::Exempt;
        }
        if level.waiting == 0 && has_seat {
            level.used += 1;
            return Answer::Granted;
        }
        let (of_flow, of_all) = level.limits.queue;
        if level.waiting >= of_all {
            level.forget(gone);
        }
        let flow = flow();
        let at = level.flows.iter().position(|(had, _)| *had == flow);
        let length = at.map_or(0, |at| level.flows[at].1.len());
        if level.waiting >= of_all || length >= of_flow {
            level.refused += 1;
            return Answer::Refused;
        }
        match at {
            Some(at) => level.flows[at].1.push_back(waiter()),
            None => level.flows.push_back((flow, VecDeque::from([waiter()]))),
        }
        level.waiting += 1;
        Answer::Waits
    }

    /// A seat is given back.
    pub fn release(&mut self, name: &str) {
        if let Some(level) = self.levels.get_mut(name) {
            level.used = level.used.saturating_sub(1);
        }
    }

    /// A waiter has given up.
    pub fn gave_up(&mut self, name: &str) {
        let gone = self.gone;
        if let Some(level) = self.levels.get_mut(name) {
            level.refused += 1;
            level.forget(gone);
        }
    }

    /// Gives a seat to the next who waits, if there is one for them.
    pub fn grant_next(&mut self) -> Option<(Arc<str>, W)> {
        let waits = |(name, level): (&Arc<str>, &Level<W>)| (level.waiting > 0).then(|| name.clone());
        let waiting: Vec<Arc<str>> = self.levels.iter().filter_map(waits).collect();
        for name in waiting {
            if !self.has_seat(&name) {
                continue;
            }
            let Some(level) = self.levels.get_mut(&name) else { continue };
            let Some((flow, mut waiters)) = level.flows.pop_front() else { continue };
            let Some(waiter) = waiters.pop_front() else { continue };
            level.waiting -= 1;
            if !waiters.is_empty() {
                // Its next turn comes after all others'.
                level.flows.push_back((flow, waiters));
            }
            level.used += 1;
            return Some((name, waiter));
        }
        None
    }
}

impl<W> Level<W> {
    fn forget(&mut self, gone: fn(&W) -> bool) {
        for (_, waiters) in &mut self.flows {
            waiters.retain(|waiter| !gone(waiter));
        }
        self.flows.retain(|(_, waiters)| !waiters.is_empty());
        self.waiting = self.flows.iter().map(|(_, waiters)| waiters.len()).sum();
    }
}
