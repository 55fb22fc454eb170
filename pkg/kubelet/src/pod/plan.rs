//! What to do next about a pod: a pure function of the pod, the runtime's state of it, what the worker remembers, and
//! the time.
//!
//! Guarantees: a plan holds only actions that can be taken at once, in this order. Deciding again after they were taken
//! gives an empty plan, until something else changes or `wake_at` comes. A container is never started while one of its
//! name is alive. Containers that run are left alone unless their definition changed, a probe failed or the pod ends.
//!
//! Caveats: init containers run again in a new sandbox. A restart of the process forgets restart delays.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{Container as Spec, Pod};

use super::backoff::CRASH;
use super::state::{Container, ContainerState, Failure, Image, Memory, RuntimePod, Volumes};
use crate::spec::{self, Role};

/// Grace of a pod that names none, in seconds.
const DEFAULT_GRACE: i64 = 30;
/// The shortest grace: a container always gets a chance to see the signal. Seconds.
const MIN_GRACE: i64 = 2;
/// Containers kept for their logs and last state, to each name, the newest included.
const KEEP: usize = 2;

/// What a decision is made from.
#[derive(Clone, Copy, Debug)]
pub struct Observed<'a> {
    /// The pod, as the API had it last.
    pub pod: &'a Pod,
    /// The object is gone from the API: only cleaning up is left.
    pub gone: bool,
    /// The runtime's state.
    pub runtime: &'a RuntimePod,
    /// The worker's memory.
    pub memory: &'a Memory,
    /// The time.
    pub now: Timestamp,
}

/// Why a container is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillReason {
    /// The pod ends.
    PodEnds,
    /// The pod has no sandbox any more.
    SandboxGone,
    /// Image or name changed.
    DefinitionChanged,
    /// The liveness probe failed.
    Liveness,
    /// The startup probe failed.
    Startup,
    /// The runtime does not know its state.
    Unknown,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq)]
pub enum PodAction {
    /// Make the volumes.
    MountVolumes,
    /// Stop what is left of earlier sandboxes and make a new one.
    CreateSandbox {
        /// Earlier sandboxes.
        stop: Vec<String>,
        /// The number of the new one.
        attempt: u32,
    },
    /// Find the image of a container or have it pulled.
    EnsureImage {
        /// Container name.
        name: String,
    },
    /// Make and start a container.
    StartContainer {
        /// Container name.
        name: String,
        /// In this sandbox.
        sandbox: String,
        /// Reference of the image.
        image: String,
        /// How often it was restarted, this time included.
        restart_count: i32,
        /// It crashed before: the next time waits longer.
        after_crash: bool,
    },
    /// Stop a container.
    KillContainer {
        /// Container name.
        name: String,
        /// The runtime's id.
        id: String,
        /// Seconds it has.
        grace: i64,
        /// Why.
        reason: KillReason,
    },
    /// Remove a dead container.
    RemoveContainer {
        /// The runtime's id.
        id: String,
    },
    /// Stop the sandbox and give back its network.
    StopSandbox {
        /// The runtime's id.
        id: String,
    },
    /// Remove a sandbox and what it contains.
    RemoveSandbox {
        /// The runtime's id.
        id: String,
    },
    /// Take away volumes, tokens and cgroups.
    TearDown,
    /// Tell the API that the pod has ended on this node: it removes the object.
    Finalize,
    /// Nothing is left: end the worker.
    Forget,
}

/// A container that waits before it starts again.
#[derive(Clone, Debug, PartialEq)]
pub struct BackingOff {
    /// Container name.
    pub name: String,
    /// The delay in force.
    pub delay: SignedDuration,
    /// When it is over.
    pub until: Timestamp,
}

/// What to do now, and when to look again if nothing happens before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodPlan {
    /// In this order.
    pub actions: Vec<PodAction>,
    /// Look again.
    pub wake_at: Option<Timestamp>,
    /// Containers in crash backoff.
    pub backing_off: Vec<BackingOff>,
}

/// How a pod that has run to its end has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// All containers with code 0.
    Succeeded,
    /// Some without.
    Failed,
}

/// The plan for a pod.
pub fn decide(observed: &Observed<'_>) -> PodPlan {
    let mut planner = Planner { o: *observed, plan: PodPlan::default() };
    if ending(observed) {
        planner.end();
    } else {
        planner.run();
        planner.prune();
    }
    planner.plan
}

/// `spec.restartPolicy`.
pub fn restart_policy(pod: &Pod) -> &str {
    pod.spec.as_ref().and_then(|s| s.restart_policy.as_deref()).unwrap_or("Always")
}

/// When `spec.activeDeadlineSeconds` ends the pod.
pub fn active_deadline(pod: &Pod) -> Option<Timestamp> {
    let seconds = pod.spec.as_ref()?.active_deadline_seconds?;
    let start = pod.status.as_ref()?.start_time.as_ref()?.0;
    start.checked_add(SignedDuration::from_secs(seconds)).ok()
}

/// Whether the pod is on its way out, or has ended by itself.
pub fn ending(o: &Observed<'_>) -> bool {
    o.gone
        || o.pod.metadata.deletion_timestamp.is_some()
        || o.memory.ended.is_some()
        || recorded_finish(o.pod).is_some()
        || active_deadline(o.pod).is_some_and(|d| d <= o.now)
        || finish(o.pod, o.runtime).is_some()
}

/// The end that the API already knows of.
pub fn recorded_finish(pod: &Pod) -> Option<Finish> {
    match pod.status.as_ref()?.phase.as_deref()? {
        "Succeeded" => Some(Finish::Succeeded),
        "Failed" => Some(Finish::Failed),
        _ => None,
    }
}

/// Whether a pod has ended by itself: nothing in it will start again.
pub fn finish(pod: &Pod, runtime: &RuntimePod) -> Option<Finish> {
    let policy = restart_policy(pod);
    if policy == "Always" {
        return None;
    }
    let sandbox = runtime.sandbox().map(|s| s.id.as_str());
    let (mut missing, mut failed) = (false, false);
    for (role, container) in spec::containers(pod) {
        let latest = runtime.latest(&container.name);
        match (role, latest) {
            (Role::Sidecar, _) => {}
            (Role::Init, Some(c)) => {
                if policy == "Never" && c.state == ContainerState::Exited && c.exit_code != 0 {
                    return Some(Finish::Failed);
                }
            }
            (Role::Init, None) => {}
            (Role::Main, Some(c)) if c.state == ContainerState::Exited => failed |= c.exit_code != 0,
            (Role::Main, _) => missing = true,
        }
    }
    // A pod that never restarts gets no second sandbox: what has not run by now will not.
    let abandoned = policy == "Never"
        && sandbox.is_none()
        && !runtime.containers.is_empty()
        && !runtime.containers.iter().any(Container::alive);
    match (missing, failed) {
        (false, false) => Some(Finish::Succeeded),
        (false, true) if policy == "Never" => Some(Finish::Failed),
        (true, _) if abandoned => Some(Finish::Failed),
        _ => None,
    }
}

/// The seconds that containers get to end.
fn grace(pod: &Pod) -> i64 {
    let spec = pod.spec.as_ref().and_then(|s| s.termination_grace_period_seconds);
    pod.metadata.deletion_grace_period_seconds.or(spec).unwrap_or(DEFAULT_GRACE).max(MIN_GRACE)
}

struct Planner<'a> {
    o: Observed<'a>,
    plan: PodPlan,
}

impl<'a> Planner<'a> {
    fn wake(&mut self, at: Timestamp) {
        self.plan.wake_at = Some(self.plan.wake_at.map_or(at, |w| w.min(at)));
    }

    /// Whether a failed attempt may be made again; if not, when to look again.
    fn due(&mut self, failure: &Failure) -> bool {
        let due = failure.retry_at <= self.o.now;
        if !due {
            self.wake(failure.retry_at);
        }
        due
    }

    fn kill(&mut self, container: &Container, grace: i64, reason: KillReason) {
        let by = self.o.now + SignedDuration::from_secs(grace);
        // A kill under way is overtaken only by one that ends clearly sooner: a second delete with less grace.
        let overtakes = |k: &super::state::Killing| by + SignedDuration::from_secs(1) < k.deadline;
        if self.o.memory.killing.get(&container.id).is_none_or(overtakes) {
            let (name, id) = (container.name.clone(), container.id.clone());
            self.plan.actions.push(PodAction::KillContainer { name, id, grace, reason });
        }
    }

    /// The way out: containers (sidecars last, in reverse), sandboxes, volumes, the object.
    fn end(&mut self) {
        let (o, grace) = (self.o, grace(self.o.pod));
        let alive: Vec<&Container> = o.runtime.containers.iter().filter(|c| c.alive()).collect();
        let sidecars: Vec<&str> =
            spec::containers(o.pod).filter(|(role, _)| *role == Role::Sidecar).map(|(_, c)| c.name.as_str()).collect();
        let rank = |c: &Container| sidecars.iter().position(|s| *s == c.name);
        let (aside, main): (Vec<_>, Vec<_>) = alive.iter().copied().partition(|c| rank(c).is_some());
        let deadline = o.pod.metadata.deletion_timestamp.as_ref().map(|t| t.0);
        for container in &main {
            self.kill(container, grace, KillReason::PodEnds);
        }
        if main.is_empty() || deadline.is_some_and(|d| d <= o.now) {
            let left = deadline.map_or(grace, |d| d.duration_since(o.now).as_secs().clamp(MIN_GRACE, grace));
            let last = aside.iter().filter_map(|c| rank(c)).max();
            for container in aside.iter().filter(|c| deadline.is_some_and(|d| d <= o.now) || rank(c) == last) {
                self.kill(container, left, KillReason::PodEnds);
            }
        } else if let Some(deadline) = deadline.filter(|_| !aside.is_empty()) {
            self.wake(deadline);
        }
        if !alive.is_empty() || !o.memory.killing.is_empty() {
            return;
        }
        for sandbox in o.runtime.sandboxes.iter().filter(|s| s.ready) {
            self.plan.actions.push(PodAction::StopSandbox { id: sandbox.id.clone() });
        }
        if o.memory.volumes != Volumes::TornDown {
            self.plan.actions.push(PodAction::TearDown);
        }
        if o.gone {
            let ids = o.runtime.sandboxes.iter().map(|s| s.id.clone());
            self.plan.actions.extend(ids.map(|id| PodAction::RemoveSandbox { id }));
            self.plan.actions.push(PodAction::Forget);
        } else if o.pod.metadata.deletion_timestamp.is_some() {
            self.plan.actions.push(PodAction::Finalize);
        }
    }

    fn run(&mut self) {
        let o = self.o;
        if let Some(deadline) = active_deadline(o.pod) {
            self.wake(deadline);
        }
        match &o.memory.volumes {
            Volumes::Mounted => {}
            Volumes::Failed(failure) if !self.due(failure) => {}
            _ => {
                self.plan.actions.push(PodAction::MountVolumes);
                return;
            }
        }
        let Some(sandbox) = o.runtime.sandbox() else { return self.sandbox() };
        let initialized = spec::containers(o.pod).any(|(role, c)| {
            role == Role::Main && o.runtime.latest(&c.name).is_some_and(|l| l.sandbox_id == sandbox.id)
        });
        let mut ready = true;
        for (role, container) in spec::containers(o.pod) {
            let latest = o.runtime.latest(&container.name);
            let here = latest.filter(|l| l.sandbox_id == sandbox.id);
            ready &= match role {
                Role::Main => {
                    self.keep(container, latest, &sandbox.id);
                    true
                }
                Role::Init if initialized => true,
                Role::Init => self.init(container, here, &sandbox.id),
                Role::Sidecar => {
                    self.keep(container, here.or(latest.filter(|l| l.alive())), &sandbox.id);
                    initialized || here.is_some_and(|c| self.started(container, c))
                }
            };
            if !ready {
                return;
            }
        }
    }

    /// No sandbox is ready: end what is left and make one.
    fn sandbox(&mut self) {
        let o = self.o;
        let mut left = false;
        for container in o.runtime.containers.iter().filter(|c| c.alive()) {
            left = true;
            self.kill(container, MIN_GRACE, KillReason::SandboxGone);
        }
        if left || !o.memory.killing.is_empty() || o.memory.volumes != Volumes::Mounted {
            return;
        }
        if let Some(failure) = &o.memory.sandbox
            && !self.due(failure)
        {
            return;
        }
        let stop = o.runtime.sandboxes.iter().map(|s| s.id.clone()).collect();
        let attempt = o.runtime.sandboxes.first().map_or(0, |s| s.attempt + 1);
        self.plan.actions.push(PodAction::CreateSandbox { stop, attempt });
    }

    /// Whether a sidecar lets the next containers start.
    fn started(&self, spec: &Spec, container: &Container) -> bool {
        let probe = self.o.memory.probes.get(&container.id).and_then(|p| p.startup);
        container.state == ContainerState::Running
            && !self.o.memory.starting.contains(&container.id)
            && (spec.startup_probe.is_none() || probe == Some(true))
    }

    /// An ordinary init container: whether it is done.
    fn init(&mut self, spec: &Spec, here: Option<&Container>, sandbox: &str) -> bool {
        match here {
            Some(c) if c.state == ContainerState::Exited && c.exit_code == 0 => return true,
            Some(c) if c.state == ContainerState::Running => {}
            other => self.keep(spec, other, sandbox),
        }
        false
    }

    /// Keeps a container running as its restart policy wants.
    fn keep(&mut self, spec: &Spec, latest: Option<&Container>, sandbox: &str) {
        let Some(latest) = latest else { return self.start(spec, None, sandbox) };
        if self.o.memory.killing.contains_key(&latest.id) {
            return;
        }
        let probes = self.o.memory.probes.get(&latest.id).copied().unwrap_or_default();
        let probe_grace = |p: &Option<k8s_openapi::api::core::v1::Probe>| {
            p.as_ref().and_then(|p| p.termination_grace_period_seconds).unwrap_or(grace(self.o.pod))
        };
        match latest.state {
            ContainerState::Running if latest.sandbox_id != sandbox => {
                self.kill(latest, MIN_GRACE, KillReason::SandboxGone);
            }
            ContainerState::Running if !latest.hash.is_empty() && latest.hash != hash(spec) => {
                self.kill(latest, grace(self.o.pod), KillReason::DefinitionChanged);
            }
            ContainerState::Running if probes.startup == Some(false) => {
                self.kill(latest, probe_grace(&spec.startup_probe), KillReason::Startup);
            }
            ContainerState::Running if probes.liveness == Some(false) => {
                self.kill(latest, probe_grace(&spec.liveness_probe), KillReason::Liveness);
            }
            ContainerState::Running => {}
            ContainerState::Unknown => self.kill(latest, MIN_GRACE, KillReason::Unknown),
            ContainerState::Created => self.plan.actions.push(PodAction::RemoveContainer { id: latest.id.clone() }),
            ContainerState::Exited if self.restarts(spec, latest) => self.start(spec, Some(latest), sandbox),
            ContainerState::Exited => {}
        }
    }

    /// Whether a container that ended starts again.
    fn restarts(&self, spec: &Spec, ended: &Container) -> bool {
        if spec::is_sidecar(spec) {
            return true;
        }
        match restart_policy(self.o.pod) {
            "Never" => false,
            "OnFailure" => ended.exit_code != 0,
            _ => true,
        }
    }

    fn start(&mut self, spec: &Spec, ended: Option<&Container>, sandbox: &str) {
        let (o, name) = (self.o, spec.name.as_str());
        if o.memory.volumes != Volumes::Mounted {
            return;
        }
        if let Some(off) = ended.and_then(|c| backing_off(o.memory, c, o.now)) {
            self.wake(off.until);
            self.plan.backing_off.push(off);
            return;
        }
        if let Some(failure) = o.memory.failures.get(name)
            && !self.due(failure)
        {
            return;
        }
        match o.memory.images.get(name) {
            Some(Image::Pulling) => {}
            Some(Image::Failed(failure)) if !self.due(failure) => {}
            Some(Image::Present(image)) => self.plan.actions.push(PodAction::StartContainer {
                name: name.into(),
                sandbox: sandbox.into(),
                image: image.clone(),
                restart_count: restart_count(o.pod, o.runtime, name),
                after_crash: ended.is_some(),
            }),
            Some(Image::Failed(_)) | None => self.plan.actions.push(PodAction::EnsureImage { name: name.into() }),
        }
    }

    /// Takes away containers and sandboxes that nothing refers to any more.
    fn prune(&mut self) {
        let o = self.o;
        let names: BTreeSet<&str> = o.runtime.containers.iter().map(|c| c.name.as_str()).collect();
        let mut kept: BTreeSet<&str> = BTreeSet::new();
        for name in names {
            for (i, container) in o.runtime.containers.iter().filter(|c| c.name == name).enumerate() {
                if i < KEEP || container.alive() {
                    kept.insert(&container.sandbox_id);
                } else {
                    self.plan.actions.push(PodAction::RemoveContainer { id: container.id.clone() });
                }
            }
        }
        for sandbox in o.runtime.sandboxes.iter().skip(1).filter(|s| !s.ready && !kept.contains(s.id.as_str())) {
            self.plan.actions.push(PodAction::RemoveSandbox { id: sandbox.id.clone() });
        }
    }
}

/// Whether a container that ended must wait before it starts again.
pub fn backing_off(memory: &Memory, ended: &Container, now: Timestamp) -> Option<BackingOff> {
    let (backoff, finished) = (memory.backoff.get(&ended.name)?, ended.finished_at?);
    if finished.duration_since(backoff.since) > CRASH.1 * 2 {
        return None;
    }
    let until = finished.checked_add(backoff.delay).ok()?;
    (until > now).then(|| BackingOff { name: ended.name.clone(), delay: backoff.delay, until })
}

/// The restart count of the next container of a name: from the runtime, or from the API where the runtime's record is
/// gone.
fn restart_count(pod: &Pod, runtime: &RuntimePod, name: &str) -> i32 {
    if let Some(latest) = runtime.latest(name) {
        return latest.restart_count.saturating_add(1);
    }
    let status = pod.status.as_ref();
    let lists =
        [status.and_then(|s| s.container_statuses.as_ref()), status.and_then(|s| s.init_container_statuses.as_ref())];
    let known = lists.into_iter().flatten().flatten().find(|s| s.name == name);
    // A status without an id is of a container that never was.
    known.filter(|s| s.container_id.is_some()).map_or(0, |s| s.restart_count.saturating_add(1))
}

/// Hash of what cannot change in a running container: its name and image.
pub fn hash(container: &Spec) -> String {
    let image = container.image.as_deref().unwrap_or_default();
    let bytes = container.name.bytes().chain([0]).chain(image.bytes());
    let fnv = bytes.fold(0x811c_9dc5_u32, |h, b| (h ^ u32::from(b)).wrapping_mul(0x0100_0193));
    format!("{fnv:x}")
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
