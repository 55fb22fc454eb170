//! Probes: one task to each probe of a running container. A task says something only when the verdict changes.
//!
//! Guarantees: liveness and readiness wait for the startup probe. A verdict changes after as many results in a row as
//! the probe's thresholds say. These timers are what an idle node with probes does: they are what the user asked for.

pub mod check;
pub mod grpc;
pub mod http;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Container as Spec, Pod, Probe};
use tokio::task::AbortHandle;

use crate::pod::state::Container;

/// Which of a container's probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Holds back the others until it succeeds.
    Startup,
    /// Failure restarts the container.
    Liveness,
    /// Failure takes the pod out of its services.
    Readiness,
}

impl Kind {
    /// As events spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Startup => "Startup",
            Kind::Liveness => "Liveness",
            Kind::Readiness => "Readiness",
        }
    }

    /// The container's probe of this kind.
    pub fn of(self, spec: &Spec) -> Option<&Probe> {
        match self {
            Kind::Startup => spec.startup_probe.as_ref(),
            Kind::Liveness => spec.liveness_probe.as_ref(),
            Kind::Readiness => spec.readiness_probe.as_ref(),
        }
    }
}

/// What a probe found at once.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Well.
    Success,
    /// Not well, and why.
    Failure(String),
    /// The runtime could not look: this says nothing of the container, and does not count.
    Unknown(String),
}

/// Counts results in a row against the thresholds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Streak {
    last: Option<bool>,
    length: i32,
    verdict: Option<bool>,
}

impl Streak {
    /// A streak whose verdict is known, as after a restart of the process.
    pub fn known(verdict: Option<bool>) -> Self {
        Streak { verdict, ..Streak::default() }
    }

    /// Takes a result; the verdict if it changed.
    pub fn push(&mut self, success: bool, successes: i32, failures: i32) -> Option<bool> {
        self.length = if self.last == Some(success) { self.length.saturating_add(1) } else { 1 };
        self.last = Some(success);
        let needed = if success { successes } else { failures };
        (self.length >= needed && self.verdict.replace(success) != Some(success)).then_some(success)
    }
}

/// What a probe tells its pod's worker.
pub trait Listener: Send + Sync + 'static {
    /// The verdict changed.
    fn verdict(&self, container_id: &str, kind: Kind, healthy: bool);
    /// A probe failed, whatever the verdict: for an event.
    fn unhealthy(&self, container: &str, kind: Kind, message: &str);
}

/// What a probe is run with.
#[derive(Clone)]
pub struct Target {
    /// Runs commands.
    pub runtime: crate::runtime::Runtime,
    /// The pod.
    pub pod: Arc<Pod>,
    /// The container's spec.
    pub spec: Spec,
    /// The container's id.
    pub id: String,
    /// The pod's address.
    pub ip: String,
    /// When the container started.
    pub started_at: Timestamp,
}

/// The probes of one pod.
#[derive(Default)]
pub struct Probes {
    running: HashMap<(String, Kind), AbortHandle>,
}

impl Probes {
    /// Ends the probes of containers that `alive` does not accept.
    pub fn retain(&mut self, alive: impl Fn(&str, Kind) -> bool) {
        self.running.retain(|(id, kind), task| {
            let keep = alive(id, *kind);
            if !keep {
                task.abort();
            }
            keep
        });
    }

    /// Starts a probe unless it runs. `known` is the verdict to begin with.
    pub fn start(&mut self, kind: Kind, target: &Target, known: Option<bool>, listener: &Arc<impl Listener>) {
        let key = (target.id.clone(), kind);
        if self.running.contains_key(&key) {
            return;
        }
        let Some(probe) = kind.of(&target.spec).cloned() else { return };
        let task = tokio::spawn(run(kind, probe, target.clone(), Streak::known(known), listener.clone()));
        self.running.insert(key, task.abort_handle());
    }
}

impl Drop for Probes {
    fn drop(&mut self) {
        self.retain(|_, _| false);
    }
}

/// Which probes of a running container should run now.
pub fn due(spec: &Spec, container: &Container, startup: Option<bool>) -> Vec<Kind> {
    if container.started_at.is_none() {
        return Vec::new();
    }
    let started = spec.startup_probe.is_none() || startup == Some(true);
    let kinds: &[Kind] = if started { &[Kind::Liveness, Kind::Readiness] } else { &[Kind::Startup] };
    kinds.iter().copied().filter(|k| k.of(spec).is_some()).collect()
}

async fn run(kind: Kind, probe: Probe, target: Target, mut streak: Streak, listener: Arc<impl Listener>) {
    let seconds = |v: Option<i32>, default: u64| v.and_then(|v| u64::try_from(v).ok()).unwrap_or(default);
    let period = Duration::from_secs(seconds(probe.period_seconds, 10).max(1));
    let limit = Duration::from_secs(seconds(probe.timeout_seconds, 1).max(1));
    let delay = Duration::from_secs(seconds(probe.initial_delay_seconds, 0));
    let age = Timestamp::now().duration_since(target.started_at);
    let age = Duration::try_from(age).unwrap_or_default();
    tokio::time::sleep(delay.saturating_sub(age)).await;
    let mut ticks = tokio::time::interval(period);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let outcome = check::check(&probe, &target, limit).await;
        match &outcome {
            Outcome::Success => {}
            Outcome::Failure(message) => listener.unhealthy(&target.spec.name, kind, message),
            Outcome::Unknown(error) => {
                tracing::info!(error, container = target.spec.name, "probe could not be run");
                continue;
            }
        }
        let (successes, failures) = (probe.success_threshold.unwrap_or(1), probe.failure_threshold.unwrap_or(3));
        let verdict = streak.push(outcome == Outcome::Success, successes, failures);
        if let Some(healthy) = verdict {
            listener.verdict(&target.id, kind, healthy);
            // The container has started, or is restarted: either way this probe has done its work.
            if kind == Kind::Startup || (kind == Kind::Liveness && !healthy) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_need_as_many_results_as_the_thresholds_say() {
        let table: [(&str, i32, i32, &str); 6] = [
            ("+", 1, 3, "+"),
            ("---", 1, 3, "  -"),
            ("--+--", 1, 3, "  +  "),
            ("+++", 2, 3, " + "),
            ("+---+", 1, 3, "+  -+"),
            ("+-+-+-", 2, 2, "      "),
        ];
        for (results, successes, failures, want) in table {
            let mut streak = Streak::default();
            let verdicts: String = results
                .chars()
                .map(|r| match streak.push(r == '+', successes, failures) {
                    Some(true) => '+',
                    Some(false) => '-',
                    None => ' ',
                })
                .collect();
            assert_eq!(verdicts, want, "{results}");
        }
        assert_eq!(Streak::known(Some(true)).push(true, 1, 3), None, "nothing new after a restart");
    }

    #[test]
    fn startup_comes_first() {
        let probe = || Some(Probe::default());
        let spec = Spec { startup_probe: probe(), liveness_probe: probe(), ..Spec::default() };
        let running = Container { started_at: Some(Timestamp::UNIX_EPOCH), ..Container::default() };
        assert_eq!(due(&spec, &running, None), [Kind::Startup]);
        assert_eq!(due(&spec, &running, Some(true)), [Kind::Liveness]);
        assert_eq!(due(&spec, &Container::default(), None), []);
    }
}
