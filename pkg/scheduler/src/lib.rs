//! The scheduler: finds a node for every pod.
//!
//! # Flow
//! Informers' changes keep the [`cluster::Cluster`] and the [`queue::Queue`] up to date; one task
//! takes pod by pod, decides ([`decide::decide`], pure) and counts the pod as placed; the binding
//! is written beside the next decision.
//!
//! # Guarantees
//! - No node gets more than fits it by this scheduler's doing: decisions are one at a time, and
//!   each sees the ones before it.
//! - A pod is decided as soon as its event is there: no polling, no batching delay.
//! - A binding that fails gives the place back, and the pod is tried again.
//! - A decision that panics is logged as an error and keeps back its own pod alone; after any other panic everything
//!   is built anew from the snapshots.
//!
//! # Caveats
//! No preemption yet. Volumes do not bear on the choice.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use client::{Change, EventType, Informer, Informers, ObjectKey, Recorder, SharedClock, reference, runtime, slim::Pod};
use futures::{FutureExt as _, StreamExt as _};
use jiff::Timestamp;
use k8s_openapi::{
    api::core::v1::{Binding, Namespace, Node, ObjectReference, Service},
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, Status},
};
use kube::{
    Api, ResourceExt as _,
    api::{Patch, PatchParams, PostParams},
};
use serde_json::json;
use tokio::{
    sync::{Semaphore, mpsc},
    time::Instant,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

mod affinity;
mod cluster;
mod decide;
mod filter;
mod queue;
mod resources;
mod score;
mod spread;
#[cfg(test)]
mod tests;

use cluster::{Cluster, uid};
use decide::{Plan, Unfit, decide};
use queue::{Event, Queue};

/// Pods with this `spec.schedulerName` are ours.
const NAME: &str = "default-scheduler";
/// Writes at the same time.
const WRITES: usize = 64;
/// Before everything is built anew after a panic.
const RESTART: Duration = Duration::from_secs(1);

/// What the scheduler needs.
#[derive(Clone)]
pub struct Config {
    /// Of a client that acts as `system:kube-scheduler`.
    pub informers: Informers,
    /// The time; [`client::clock::system`] outside of tests.
    pub clock: SharedClock,
}

/// Starts the scheduler. It begins when its informers are complete, and ends with `stop`.
pub fn start(config: Config, stop: CancellationToken, tasks: &TaskTracker) {
    let informers = config.informers;
    let client = informers.client().clone();
    let recorder = Recorder::start(client.clone(), NAME, None, stop.clone(), tasks);
    let (outcomes, outcome_receiver) = mpsc::unbounded_channel();
    let scheduler = Scheduler {
        pods: informers.get(),
        nodes: informers.get(),
        services: informers.get(),
        namespaces: informers.get(),
        cluster: Cluster::default(),
        queue: Queue::default(),
        decisions: 0,
        writer: Writer {
            client,
            recorder,
            clock: config.clock,
            outcomes,
            slots: Arc::new(Semaphore::new(WRITES)),
            tasks: tasks.clone(),
        },
    };
    tasks.spawn(async move { stop.run_until_cancelled(scheduler.run(outcome_receiver)).await });
}

/// How a binding ended, if not well.
struct Failed {
    key: ObjectKey,
    uid: String,
    /// The pod is gone: no use in trying again.
    gone: bool,
}

struct Scheduler {
    pods: Informer<Pod>,
    nodes: Informer<Node>,
    services: Informer<Service>,
    namespaces: Informer<Namespace>,
    cluster: Cluster,
    queue: Queue,
    /// Chooses among equals in turn.
    decisions: usize,
    writer: Writer,
}

impl Scheduler {
    async fn run(mut self, mut outcomes: mpsc::UnboundedReceiver<Failed>) {
        while AssertUnwindSafe(self.follow(&mut outcomes)).catch_unwind().await.is_err() {
            tracing::error!("the scheduler panicked, building everything anew");
            tokio::time::sleep(RESTART).await;
        }
    }

    async fn follow(&mut self, outcomes: &mut mpsc::UnboundedReceiver<Failed>) {
        let (mut pods, mut nodes) = (self.pods.changes(), self.nodes.changes());
        let (mut services, mut namespaces) = (self.services.changes(), self.namespaces.changes());
        tokio::join!(self.pods.synced(), self.nodes.synced(), self.services.synced(), self.namespaces.synced());
        self.resync();
        loop {
            let deadline = self.queue.deadline();
            // What is known already comes before the next decision.
            tokio::select! {
                biased;
                Some(change) = nodes.next() => self.node_changed(change),
                Some(change) = pods.next() => self.pod_changed(change),
                Some(change) = services.next() => self.service_changed(change),
                Some(change) = namespaces.next() => self.namespace_changed(change),
                Some(failed) = outcomes.recv() => self.binding_failed(&failed),
                () = std::future::ready(()), if self.queue.has_active() => self.schedule_next(),
                // A timer only while a pod waits.
                () = wait_until(deadline) => self.queue.collect_due(Instant::now()),
            }
        }
    }

    /// Builds everything anew from the snapshots.
    fn resync(&mut self) {
        self.cluster.clear();
        self.queue.clear();
        self.nodes.list().iter().for_each(|node| self.cluster.set_node(node));
        for namespace in self.namespaces.list() {
            let labels = namespace.metadata.labels.clone().unwrap_or_default();
            self.cluster.namespaces.insert(namespace.name_any(), labels);
        }
        for service in self.services.list() {
            self.cluster.services.insert(ObjectKey::of(&*service), service);
        }
        for pod in self.pods.list() {
            self.cluster.set_pod(&pod);
            self.enqueue(&pod);
        }
    }

    /// Whether the pod waits for this scheduler.
    fn waits(&self, pod: &Pod) -> bool {
        let Some(spec) = &pod.spec else { return false };
        let finished = matches!(pod.status.as_ref().and_then(|s| s.phase.as_deref()), Some("Succeeded" | "Failed"));
        spec.node_name.as_deref().unwrap_or_default().is_empty()
            && spec.scheduler_name.as_deref().unwrap_or(NAME) == NAME
            && spec.scheduling_gates.as_ref().is_none_or(|gates| gates.is_empty())
            && pod.metadata.deletion_timestamp.is_none()
            && !finished
            && !self.cluster.is_placed(&uid(pod))
    }

    fn enqueue(&mut self, pod: &Pod) {
        if self.waits(pod) {
            let priority = pod.spec.as_ref().and_then(|s| s.priority).unwrap_or(0);
            self.queue.add(ObjectKey::of(pod), priority);
        }
    }

    fn pod_changed(&mut self, change: Change<Pod>) {
        match change {
            Change::Resync => self.resync(),
            Change::Deleted(pod) => {
                let was_placed = self.cluster.is_placed(&uid(&pod));
                self.cluster.remove_pod(&uid(&pod));
                self.queue.remove(&ObjectKey::of(&*pod));
                if was_placed {
                    self.queue.wake(Event::PodGone, Instant::now());
                }
            }
            Change::Applied { old, new } => self.pod_applied(old.as_deref(), &new),
        }
    }

    fn pod_applied(&mut self, old: Option<&Pod>, pod: &Arc<Pod>) {
        let key = ObjectKey::of(&**pod);
        if let Some(old) = old.filter(|old| old.metadata.uid != pod.metadata.uid) {
            self.cluster.remove_pod(&uid(old));
            self.queue.remove(&key);
        }
        let was_placed = self.cluster.is_placed(&uid(pod));
        self.cluster.set_pod(pod);
        let is_placed = self.cluster.is_placed(&uid(pod));
        let relabelled = old.is_some_and(|old| old.metadata.labels != pod.metadata.labels);
        if was_placed && !is_placed {
            self.queue.wake(Event::PodGone, Instant::now());
        } else if is_placed && (!was_placed || relabelled) {
            self.queue.wake(Event::PodPlaced, Instant::now());
        }
        if !self.waits(pod) {
            if !is_placed || pod.spec.as_ref().is_some_and(|s| s.node_name.is_some()) {
                self.queue.remove(&key);
            }
            return;
        }
        // A condition that was written must not lead to another attempt.
        let changed = old.is_none_or(|old| old.spec != pod.spec) || relabelled;
        if changed || !self.queue.contains(&key) {
            self.enqueue(pod);
        }
    }

    fn node_changed(&mut self, change: Change<Node>) {
        match change {
            Change::Resync => self.resync(),
            Change::Deleted(node) => self.cluster.remove_node(&node.name_any()),
            Change::Applied { old, new } => {
                self.cluster.set_node(&new);
                let now = Instant::now();
                let Some(old) = old else { return self.queue.wake(Event::NodeAdded, now) };
                let allocatable = |n: &Node| n.status.as_ref().and_then(|s| s.allocatable.clone());
                let taints = |n: &Node| n.spec.as_ref().map(|s| (s.taints.clone(), s.unschedulable));
                for (changed, event) in [
                    (allocatable(&old) != allocatable(&new), Event::NodeAllocatable),
                    (old.metadata.labels != new.metadata.labels, Event::NodeLabels),
                    (taints(&old) != taints(&new), Event::NodeTaints),
                ] {
                    if changed {
                        self.queue.wake(event, now);
                    }
                }
            }
        }
    }

    fn service_changed(&mut self, change: Change<Service>) {
        match change {
            Change::Resync => self.resync(),
            Change::Deleted(service) => drop(self.cluster.services.remove(&ObjectKey::of(&*service))),
            Change::Applied { new, .. } => drop(self.cluster.services.insert(ObjectKey::of(&*new), new)),
        }
    }

    fn namespace_changed(&mut self, change: Change<Namespace>) {
        match change {
            Change::Resync => self.resync(),
            Change::Deleted(namespace) => drop(self.cluster.namespaces.remove(&namespace.name_any())),
            Change::Applied { new, .. } => {
                let labels = new.metadata.labels.clone().unwrap_or_default();
                if self.cluster.namespaces.insert(new.name_any(), labels.clone()) != Some(labels) {
                    self.queue.wake(Event::Namespace, Instant::now());
                }
            }
        }
    }

    fn binding_failed(&mut self, failed: &Failed) {
        self.cluster.unassume(&failed.uid);
        // The name may stand for another pod by now, and the entry is that one's.
        let replaced = self.pods.get(&failed.key).is_some_and(|pod| uid(&pod) != failed.uid);
        if failed.gone && !replaced {
            self.queue.remove(&failed.key);
        } else if !replaced {
            self.queue.failed(&failed.key, Instant::now());
        }
        self.queue.wake(Event::PodGone, Instant::now());
    }

    fn schedule_next(&mut self) {
        let Some(key) = self.queue.pop() else { return };
        let Some(pod) = self.pods.get(&key).filter(|pod| self.waits(pod)) else {
            return self.queue.remove(&key);
        };
        self.decisions = self.decisions.wrapping_add(1);
        let decided = catch_unwind(AssertUnwindSafe(|| decide(&pod, &self.cluster, self.decisions)));
        let Ok(plan) = decided else {
            tracing::error!(pod = %key, "the decision on a pod panicked, trying again later");
            return self.queue.failed(&key, Instant::now());
        };
        match plan {
            Plan::Bind(node) => {
                tracing::debug!(pod = %key, node, "binding");
                self.cluster.assume(&pod, &node);
                self.writer.bind(pod, node);
            }
            Plan::Unschedulable(unfit) => {
                tracing::debug!(pod = %key, reason = unfit.message, "unschedulable");
                self.queue.unschedulable(&key, unfit.plugins.clone(), Instant::now());
                self.writer.tell_unschedulable(pod, unfit);
            }
        }
    }
}

async fn wait_until(deadline: Option<Instant>) {
    match deadline {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// Writes what was decided, beside the next decisions.
#[derive(Clone)]
struct Writer {
    client: kube::Client,
    recorder: Recorder,
    clock: SharedClock,
    outcomes: mpsc::UnboundedSender<Failed>,
    slots: Arc<Semaphore>,
    tasks: TaskTracker,
}

/// A server that does not answer must not keep a pod from being tried again.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

impl Writer {
    fn bind(&self, pod: Arc<Pod>, node: String) {
        let writer = self.clone();
        self.tasks.spawn(async move {
            let Ok(_slot) = writer.slots.acquire().await else { return };
            let key = ObjectKey::of(&*pod);
            let written = tokio::time::timeout(WRITE_TIMEOUT, writer.write_binding(&pod, &node)).await;
            let (gone, reason) = match written {
                Ok(Ok(())) => {
                    let message = format!("Successfully assigned {key} to {node}");
                    return writer.recorder.event(reference(&*pod), EventType::Normal, "Scheduled", message);
                }
                Ok(Err(error)) => (matches!(&error, kube::Error::Api(s) if s.code == 404), runtime::message(&error)),
                Err(_) => (false, "no answer in time".to_owned()),
            };
            tracing::debug!(pod = %key, node, reason, "not bound");
            // The receiver lives as long as the scheduler.
            let _ = writer.outcomes.send(Failed { key, uid: uid(&pod), gone });
            if !gone {
                let message = format!("binding rejected: {reason}");
                writer.recorder.event(reference(&*pod), EventType::Warning, "FailedScheduling", message);
            }
        });
    }

    async fn write_binding(&self, pod: &Pod, node: &str) -> Result<(), kube::Error> {
        let api: Api<Pod> = Api::namespaced(self.client.clone(), &pod.namespace().unwrap_or_default());
        let name = pod.name_any();
        let binding = Binding {
            metadata: ObjectMeta {
                name: Some(name.clone()),
                namespace: pod.namespace(),
                uid: pod.uid(),
                ..ObjectMeta::default()
            },
            target: ObjectReference {
                api_version: Some("v1".to_owned()),
                kind: Some("Node".to_owned()),
                name: Some(node.to_owned()),
                ..ObjectReference::default()
            },
        };
        let _: Status = api.create_subresource("binding", &name, &PostParams::default(), &binding).await?;
        Ok(())
    }

    fn tell_unschedulable(&self, pod: Arc<Pod>, unfit: Unfit) {
        self.recorder.event(reference(&*pod), EventType::Warning, "FailedScheduling", unfit.message.clone());
        if !says_otherwise(&pod, &unfit.message) {
            return;
        }
        let writer = self.clone();
        self.tasks.spawn(async move {
            let Ok(_slot) = writer.slots.acquire().await else { return };
            let api: Api<Pod> = Api::namespaced(writer.client.clone(), &pod.namespace().unwrap_or_default());
            let patch = json!({
                "metadata": { "uid": pod.uid() },
                "status": { "conditions": [{
                    "type": "PodScheduled",
                    "status": "False",
                    "reason": "Unschedulable",
                    "message": unfit.message,
                    "lastTransitionTime": since(&pod).unwrap_or_else(|| writer.clock.now()),
                    "observedGeneration": pod.metadata.generation,
                }]},
            });
            let written = api.patch_status(&pod.name_any(), &PatchParams::default(), &Patch::Strategic(patch)).await;
            if let Err(error) = written {
                // The next attempt writes it again.
                tracing::debug!(pod = pod.name_any(), error = runtime::message(&error), "condition not written");
            }
        });
    }
}

fn scheduled(pod: &Pod) -> Option<&k8s_openapi::api::core::v1::PodCondition> {
    let conditions = pod.status.as_ref()?.conditions.as_ref()?;
    conditions.iter().find(|c| c.type_ == "PodScheduled")
}

/// Since when the pod is known not to be scheduled; in whole seconds, as the API has it.
fn since(pod: &Pod) -> Option<Timestamp> {
    scheduled(pod).filter(|c| c.status == "False")?.last_transition_time.as_ref().map(|t| t.0)
}

/// Whether the PodScheduled condition is not yet what it should be.
fn says_otherwise(pod: &Pod, message: &str) -> bool {
    scheduled(pod).is_none_or(|c| {
        c.status != "False" || c.reason.as_deref() != Some("Unschedulable") || c.message.as_deref() != Some(message)
    })
}
