//! The worker of one pod: gather, decide, apply, and wait for something to happen.
//!
//! Guarantees: there is one worker to a uid, so no two runs of one pod overlap. Long work (pulls, stops, hooks, status
//! writes) runs beside the worker and comes back through its inbox. The worker never polls; it looks again by itself
//! only when a delay ends.
//!
//! Assumptions: the runtime's events and the informer reach the inbox. Should an event be lost, the slow look in
//! [`RESYNC`] finds out.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use client::EventType;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{Pod, PodStatus};
use kube::ResourceExt as _;
use kube::api::{Api, Patch, PatchParams};

use super::backoff::{Backoff, SETUP};
use super::inbox::{Done, Inbox, News};
use super::plan::{self, Observed, PodPlan};
use super::state::{Container, Failure, Image, Memory, Probed, RuntimePod, Volumes};
use super::status;
use crate::config::Context;
use crate::image::{Missing, Ready};
use crate::probe::{self, Kind, Probes, Target};
use crate::spec::env::Fetched;
use crate::spec::{self, Role, fields::Facts};
use crate::volumes::PodDirs;
use crate::volumes::tokens::Tokens;

/// A pod is looked at again after this time even if nothing seems to happen: an event of the runtime may be lost, as
/// when it is restarted.
const RESYNC: Duration = Duration::from_secs(300);
/// How long `ErrImagePull` stands before it becomes `ImagePullBackOff`.
const SHOW_ERROR: SignedDuration = SignedDuration::from_secs(2);

/// Whether the worker goes on after an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// Done: go on, then look again.
    Again,
    /// Not done: leave the rest of the plan and look again.
    Retry,
    /// Wait for news.
    Wait,
    /// The pod is gone.
    End,
}

/// One pod.
pub struct Worker {
    pub(super) ctx: Arc<Context>,
    pub(super) uid: String,
    pub(super) inbox: Arc<Inbox>,
    pub(super) pod: Arc<Pod>,
    pub(super) gone: bool,
    pub(super) memory: Memory,
    pub(super) runtime: RuntimePod,
    pub(super) dirs: PodDirs,
    pub(super) fetched: Fetched,
    pub(super) tokens: Tokens,
    pub(super) users: BTreeMap<String, spec::security::ImageUser>,
    pub(super) setup_backoff: HashMap<String, Backoff>,
    ended: HashMap<String, Container>,
    probes: Probes,
    /// Failed images that still show the first error, and until when.
    fresh_errors: BTreeMap<String, Timestamp>,
    announced: HashMap<String, Timestamp>,
    reporting: bool,
    report_at: Option<Timestamp>,
    stale: bool,
    /// When the runtime was last asked.
    looked: Instant,
    pub(super) stale_volumes: bool,
}

/// How long to wait: until something is due, or until the pod was looked at [`RESYNC`] ago.
fn limit(due: Option<Duration>, since_look: Duration) -> Duration {
    let resync = RESYNC.saturating_sub(since_look);
    // A little more keeps clocks of whole milliseconds from spinning.
    due.map_or(resync, |due| due.min(resync)) + Duration::from_millis(1)
}

impl Worker {
    /// A worker for `pod`. With `gone`, all that is left to do is to clean up.
    pub fn new(ctx: Arc<Context>, pod: Arc<Pod>, gone: bool, inbox: Arc<Inbox>) -> Self {
        let uid = pod.metadata.uid.clone().unwrap_or_default();
        Worker {
            dirs: ctx.dirs(&uid),
            ctx,
            uid,
            inbox,
            pod,
            gone,
            memory: Memory::default(),
            runtime: RuntimePod::default(),
            fetched: Fetched::default(),
            tokens: Tokens::default(),
            users: BTreeMap::new(),
            setup_backoff: HashMap::new(),
            ended: HashMap::new(),
            probes: Probes::default(),
            fresh_errors: BTreeMap::new(),
            announced: HashMap::new(),
            reporting: false,
            report_at: None,
            stale: true,
            looked: Instant::now(),
            stale_volumes: false,
        }
    }

    /// Works until nothing of the pod is left.
    pub async fn run(mut self) {
        loop {
            let news = self.inbox.take();
            self.absorb(news);
            if self.stale && !self.gather().await {
                continue;
            }
            self.refresh_volumes().await;
            self.probe();
            let plan = self.decide();
            self.announce(&plan);
            let reported = self.report();
            match self.apply_all(&plan, reported).await {
                Flow::End => return,
                Flow::Again | Flow::Retry => {}
                Flow::Wait => self.wait(plan.wake_at).await,
            }
        }
    }

    fn decide(&self) -> PodPlan {
        plan::decide(&self.observed(Timestamp::now()))
    }

    fn observed(&self, now: Timestamp) -> Observed<'_> {
        Observed { pod: &self.pod, gone: self.gone, runtime: &self.runtime, memory: &self.memory, now }
    }

    /// Carries out a plan.
    async fn apply_all(&mut self, plan: &PodPlan, reported: bool) -> Flow {
        let mut flow = Flow::Wait;
        for action in &plan.actions {
            // The last status must be known before the object goes.
            if *action == plan::PodAction::Finalize && (!reported || plan.actions.len() > 1) {
                continue;
            }
            match self.apply(action).await {
                Flow::End => return Flow::End,
                Flow::Again => flow = Flow::Again,
                Flow::Retry => {
                    flow = Flow::Again;
                    break;
                }
                Flow::Wait => {}
            }
        }
        self.stale |= flow == Flow::Again;
        flow
    }

    /// Waits for news, or for the time when there is something to do.
    async fn wait(&self, wake_at: Option<Timestamp>) {
        let times = [
            wake_at,
            self.report_at.filter(|_| !self.gone),
            self.fresh_errors.values().min().copied(),
            self.tokens.renew_at().filter(|_| self.memory.volumes == Volumes::Mounted),
        ];
        let now = Timestamp::now();
        // A time that has passed is a wait of none.
        let due = times.into_iter().flatten().min().map(|t| t.duration_since(now).try_into().unwrap_or_default());
        // Both ends of the wait lead to another round, which sees by itself whether a look is due.
        let _ = tokio::time::timeout(limit(due, self.looked.elapsed()), self.inbox.wait()).await;
    }

    /// Takes in the news.
    fn absorb(&mut self, news: News) {
        if let Some(pod) = news.pod {
            self.take_pod(pod);
        }
        self.gone |= news.gone;
        self.stale |= news.runtime || self.looked.elapsed() >= RESYNC;
        self.stale_volumes |= news.sources;
        if let Some(failure) = self.memory.sandbox.as_mut().filter(|_| news.network) {
            failure.retry_at = Timestamp::now();
        }
        for (id, kind, healthy) in news.verdicts {
            let probed = self.memory.probes.entry(id).or_default();
            let verdict = Some(healthy);
            match kind {
                Kind::Startup => probed.startup = verdict,
                Kind::Liveness => probed.liveness = verdict,
                Kind::Readiness => probed.readiness = verdict,
            }
        }
        for (container, kind, message) in news.unhealthy {
            let text = format!("{} probe failed: {message}", kind.as_str());
            self.container_event(&container, EventType::Warning, "Unhealthy", text);
        }
        for done in news.done {
            self.take_result(done);
        }
        let now = Timestamp::now();
        let due: Vec<String> = self.fresh_errors.iter().filter(|(_, t)| **t <= now).map(|(n, _)| n.clone()).collect();
        for name in due {
            self.fresh_errors.remove(&name);
            self.back_off_pull(&name);
        }
    }

    /// Takes the newer of two states of the object: an answer to a write may overtake the watch.
    fn take_pod(&mut self, pod: Arc<Pod>) {
        let version = |p: &Pod| p.resource_version().and_then(|v| v.parse::<u64>().ok());
        if version(&pod) >= version(&self.pod) {
            let changed = pod.metadata.labels != self.pod.metadata.labels
                || pod.metadata.annotations != self.pod.metadata.annotations;
            self.stale_volumes |= changed;
            self.pod = pod;
        }
    }

    fn take_result(&mut self, done: Done) {
        match done {
            Done::Image { name, result } => self.take_image(name, result),
            Done::Killed { id, result } => {
                self.stale = true;
                if let Err(error) = result {
                    tracing::info!(%error, container = id, "container not stopped, trying again");
                }
                self.memory.killing.remove(&id);
            }
            Done::Hook { name, id, result } => {
                self.memory.starting.retain(|s| *s != id);
                if let Err(error) = result {
                    let text = format!("PostStartHook failed: {error}");
                    self.container_event(&name, EventType::Warning, "FailedPostStartHook", text);
                    // As good as a failed startup probe: the container is stopped and its policy decides.
                    self.memory.probes.entry(id).or_default().startup = Some(false);
                }
            }
            Done::Reported(result) => {
                self.reporting = false;
                match *result {
                    Ok(pod) => {
                        self.setup_backoff.remove("status");
                        self.take_pod(Arc::new(pod));
                    }
                    // The watch will tell.
                    Err(kube::Error::Api(status)) if status.code == 404 || status.code == 409 => {
                        self.report_at = Some(self.next_try("status"));
                    }
                    Err(error) => {
                        tracing::info!(error = client::runtime::describe(&error), pod = %self.pod.name_any(), "status not written, trying again");
                        self.report_at = Some(self.next_try("status"));
                    }
                }
            }
        }
    }

    /// When something that failed may be tried again.
    pub(super) fn next_try(&mut self, what: &str) -> Timestamp {
        let now = Timestamp::now();
        let backoff = Backoff::next(self.setup_backoff.get(what).copied(), SETUP, now);
        self.setup_backoff.insert(what.into(), backoff);
        now + backoff.delay
    }

    /// Takes in what came of looking for an image.
    pub(super) fn take_image(&mut self, name: String, result: Result<Ready, Missing>) {
        let image = spec::container(&self.pod, &name).and_then(|(_, c)| c.image.clone()).unwrap_or_default();
        match result {
            Ok(ready) => {
                self.container_event(&name, EventType::Normal, "Pulled", ready.message);
                self.users.insert(name.clone(), ready.user);
                self.setup_backoff.remove(&format!("image {name}"));
                self.memory.images.insert(name, Image::Present(ready.reference));
            }
            Err(missing) => {
                let now = Timestamp::now();
                let key = format!("image {name}");
                let backoff = Backoff::next(self.setup_backoff.get(&key).copied(), super::backoff::PULL, now);
                self.setup_backoff.insert(key, backoff);
                let text = match missing.reason {
                    "ErrImagePull" => format!("Failed to pull image \"{image}\": {}", missing.message),
                    _ => missing.message.clone(),
                };
                self.container_event(&name, EventType::Warning, "Failed", text);
                self.container_event(&name, EventType::Warning, "Failed", format!("Error: {}", missing.reason));
                if missing.reason == "ErrImagePull" {
                    self.fresh_errors.insert(name.clone(), now + SHOW_ERROR);
                }
                let failure =
                    Failure { reason: missing.reason.into(), message: missing.message, retry_at: now + backoff.delay };
                self.memory.images.insert(name, Image::Failed(failure));
            }
        }
    }

    /// After its first error, a pull is said to back off.
    fn back_off_pull(&mut self, name: &str) {
        let image = spec::container(&self.pod, name).and_then(|(_, c)| c.image.clone()).unwrap_or_default();
        let Some(Image::Failed(failure)) = self.memory.images.get_mut(name) else { return };
        let text = format!("Back-off pulling image \"{image}\"");
        failure.message = format!("{text}: {}: {}", failure.reason, failure.message);
        failure.reason = "ImagePullBackOff".into();
        self.container_event(name, EventType::Normal, "BackOff", text);
        self.container_event(name, EventType::Warning, "Failed", "Error: ImagePullBackOff".into());
    }

    /// Asks the runtime for the pod's state. Returns whether it answered.
    async fn gather(&mut self) -> bool {
        match self.ctx.runtime.pod(&self.uid, &self.dirs, &mut self.ended).await {
            Ok(runtime) => {
                self.stale = false;
                self.looked = Instant::now();
                self.runtime = runtime;
                self.setup_backoff.remove("relist");
                let ids: Vec<&str> = self.runtime.containers.iter().map(|c| c.id.as_str()).collect();
                self.memory.probes.retain(|id, _| ids.contains(&id.as_str()));
                let alive: Vec<&str> =
                    self.runtime.containers.iter().filter(|c| c.alive()).map(|c| c.id.as_str()).collect();
                self.memory.starting.retain(|id| alive.contains(&id.as_str()));
                true
            }
            Err(error) => {
                let at = self.next_try("relist");
                tracing::info!(%error, pod = %self.pod.name_any(), "the runtime does not tell the state of a pod");
                let wait = Duration::try_from(at.duration_since(Timestamp::now())).unwrap_or_default();
                // News can wait as long: without the runtime's state there is nothing to decide.
                tokio::time::sleep(wait).await;
                false
            }
        }
    }

    /// Starts and ends probes as containers come and go.
    fn probe(&mut self) {
        let ending = plan::ending(&self.observed(Timestamp::now()));
        let mut wanted: Vec<(String, Kind)> = Vec::new();
        let ip = self.facts().pod_ips.first().cloned().unwrap_or_default();
        for container in self.runtime.running() {
            let Some((role, of)) = spec::container(&self.pod, &container.name) else { continue };
            if role == Role::Init || self.memory.starting.contains(&container.id) {
                continue;
            }
            // After a restart of this process, what the API says of this very container holds until a probe speaks.
            let probed = *self.memory.probes.entry(container.id.clone()).or_insert_with(|| {
                let (ready, started) = status::was_ready(&self.pod, role, container);
                let yes = |was: bool| was.then_some(true);
                Probed { startup: yes(started), readiness: yes(ready), liveness: None }
            });
            for kind in probe::due(of, container, probed.startup) {
                if ending && kind != Kind::Readiness {
                    continue;
                }
                let known = if kind == Kind::Readiness { probed.readiness } else { None };
                let target = Target {
                    runtime: self.ctx.runtime.clone(),
                    pod: self.pod.clone(),
                    spec: of.clone(),
                    id: container.id.clone(),
                    ip: ip.clone(),
                    started_at: container.started_at.unwrap_or_default(),
                };
                self.probes.start(kind, &target, known, &self.inbox);
                wanted.push((container.id.clone(), kind));
            }
        }
        self.probes.retain(|id, kind| wanted.iter().any(|(i, k)| i == id && *k == kind));
    }

    /// What the downward API is made from.
    pub(super) fn facts(&self) -> Facts {
        let host_ips = self.ctx.host_ips();
        let host_network = self.pod.spec.as_ref().and_then(|s| s.host_network) == Some(true);
        let pod_ips = match self.runtime.sandbox() {
            Some(_) if host_network => host_ips.iter().map(ToString::to_string).collect(),
            Some(sandbox) => sandbox.ips.clone(),
            None => Vec::new(),
        };
        let node_name = self.ctx.config.node_name.clone();
        Facts { node_name, host_ips, pod_ips, allocatable: self.ctx.allocatable.clone() }
    }

    /// Tells once of each container that backs off.
    fn announce(&mut self, plan: &PodPlan) {
        for off in &plan.backing_off {
            if self.announced.insert(off.name.clone(), off.until) == Some(off.until) {
                continue;
            }
            let (pod, namespace) = (self.pod.name_any(), self.pod.namespace().unwrap_or_default());
            let text =
                format!("Back-off restarting failed container {} in pod {pod}_{namespace}({})", off.name, self.uid);
            self.container_event(&off.name, EventType::Warning, "BackOff", text);
        }
    }

    /// Writes the status if it differs from what the API has. Returns whether the API has it.
    fn report(&mut self) -> bool {
        if self.gone || self.reporting {
            return self.gone;
        }
        let now = Timestamp::now();
        let wanted = status::generate(&self.observed(now), &self.ctx.host_ips());
        let none = PodStatus::default();
        let Some(patch) = status::patch(&self.uid, self.pod.status.as_ref().unwrap_or(&none), &wanted) else {
            self.report_at = None;
            return true;
        };
        if self.report_at.is_some_and(|at| at > now) {
            return false;
        }
        self.report_at = None;
        self.reporting = true;
        let (client, inbox, pod) = (self.ctx.client.clone(), self.inbox.clone(), self.pod.clone());
        self.ctx.tasks.spawn(async move {
            let api: Api<Pod> = Api::namespaced(client, &pod.namespace().unwrap_or_default());
            let params = PatchParams::default();
            let result = api.patch_status(&pod.name_any(), &params, &Patch::Strategic(patch)).await;
            inbox.tell(|news| news.done.push(Done::Reported(Box::new(result))));
        });
        false
    }

    /// Records an event about the pod.
    pub(super) fn event(&self, kind: EventType, reason: &str, message: String) {
        self.ctx.recorder.event(client::reference(&*self.pod), kind, reason, message);
    }

    /// Records an event about a container.
    pub(super) fn container_event(&self, name: &str, kind: EventType, reason: &str, message: String) {
        let role = spec::container(&self.pod, name).map_or(Role::Main, |(role, _)| role);
        let mut about = client::reference(&*self.pod);
        about.field_path = Some(spec::field_path(role, name));
        self.ctx.recorder.event(about, kind, reason, message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A container's exit was never seen when its event was lost and the pod had a token to renew.
    #[test]
    fn what_is_due_earlier_or_later_does_not_put_off_the_look() {
        let table = [
            (None, 0, 300),
            (None, 100, 200),
            (None, 400, 0),
            (Some(2880), 0, 300),
            (Some(2880), 299, 1),
            (Some(200), 50, 200),
            (Some(200), 150, 150),
            (Some(0), 10, 0),
        ];
        for (due, since, want) in table {
            let got = limit(due.map(Duration::from_secs), Duration::from_secs(since));
            assert_eq!(got, Duration::from_secs(want) + Duration::from_millis(1), "{due:?} {since}");
        }
    }
}
