//! The garbage collector: deletes what has lost its owners, and lets go what waited for its
//! dependents.
//!
//! # Flow
//! Each kind that discovery finds is followed by its metadata alone → [`graph::Graph`] → uids in
//! the work queue → a plan → writes, each bound to the uid that was seen.
//!
//! # Guarantees
//! - Nothing is deleted because an owner is merely unknown, or was one a moment ago: the API is
//!   asked, and the deletion is bound to what it answered.
//! - Kinds that come and go (custom resources) are followed and forgotten.
//!
//! # Assumptions
//! The API server puts the finalizers `foregroundDeletion` and `orphan` on what is deleted with
//! those policies.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, OnceLock},
    time::Duration,
};

use client::{Controller, Next, ObjectKey, Sources, queue::Queue, runtime};
use futures::StreamExt as _;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::{
    Api, ResourceExt as _,
    api::{DeleteParams, DynamicObject, PartialObjectMeta, Patch, PatchParams, Preconditions},
    runtime::{
        WatchStreamExt as _, watcher,
        watcher::{Config, Event},
    },
};
use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use crate::{
    Context,
    resources::{Served, discover},
};

mod graph;

use graph::{Graph, ORPHAN, Owner, Place, Plan, Policy};

/// Kinds whose objects neither own nor are owned.
const IGNORED: &[&str] = &["Event"];
/// So long the collector waits for kinds that cannot be listed before it begins without them.
const SYNC_PATIENCE: Duration = Duration::from_secs(30);
/// Changes of the set of kinds come in groups.
const DISCOVERY_DELAY: Duration = Duration::from_millis(100);

pub struct GarbageCollector {
    shared: Arc<Shared>,
    tasks: tokio_util::task::TaskTracker,
}

struct Shared {
    client: kube::Client,
    graph: Mutex<Graph>,
    kinds: Mutex<Vec<Followed>>,
    queue: OnceLock<Arc<Queue<ObjectKey>>>,
    /// Kinds may have come or gone.
    changed: Notify,
    stop: CancellationToken,
}

/// A kind that was found; its index is [`Place::kind`].
struct Followed {
    served: Served,
    stop: CancellationToken,
    synced: watch::Receiver<bool>,
}

impl GarbageCollector {
    pub fn new(context: &Context) -> Self {
        let shared = Shared {
            client: context.config.informers.client().clone(),
            graph: Mutex::default(),
            kinds: Mutex::default(),
            queue: OnceLock::new(),
            changed: Notify::new(),
            stop: context.runtime.stop.clone(),
        };
        GarbageCollector { shared: Arc::new(shared), tasks: context.runtime.tasks.clone() }
    }
}

fn key(uid: &str) -> ObjectKey {
    ObjectKey::new("", uid)
}

impl Controller for GarbageCollector {
    type Input = Plan;
    type Plan = Plan;
    const NAME: &'static str = "garbage-collector";

    fn sources(&self, sources: &mut Sources) {
        // The queue is set once, here.
        let _ = self.shared.queue.set(sources.queue());
        let (shared, tasks) = (self.shared.clone(), self.tasks.clone());
        let (ready, mut synced) = watch::channel(false);
        self.tasks.spawn(async move {
            let stop = shared.stop.clone();
            stop.run_until_cancelled(shared.follow_discovery(tasks, ready)).await;
        });
        sources.wait_for(async move {
            // The sender goes only when all stops.
            let _ = synced.wait_for(|done| *done).await;
        });
    }

    fn gather(&self, key: &ObjectKey) -> Option<Plan> {
        Some(self.shared.graph.lock().plan(&key.name)).filter(|plan| *plan != Plan::Nothing)
    }

    fn decide(&self, plan: &Plan, _: Timestamp) -> Plan {
        plan.clone()
    }

    async fn apply(&self, key: &ObjectKey, _: Plan, plan: Plan) -> Result<Next, kube::Error> {
        match plan {
            Plan::Nothing => Ok(()),
            Plan::Verify { place, owners } => return self.shared.verify(&place, &owners).await,
            Plan::Unlink { place, uid, gone } => self.shared.unlink(&place, &uid, &gone).await,
            Plan::Unblock { place, uid } => self.shared.unblock(&place, &uid).await,
            Plan::Delete { place, uid, owners, policy } => self.shared.delete(&place, &uid, &owners, policy).await,
            Plan::Release { place, uid, finalizer } => self.shared.release(&place, &uid, finalizer).await,
            Plan::Orphan { place, uid, dependents } => {
                for (dependent, dependent_uid) in &dependents {
                    self.shared.unlink(dependent, dependent_uid, std::slice::from_ref(&uid)).await?;
                }
                self.shared.release(&place, &uid, ORPHAN).await
            }
            Plan::Push { dependents } => {
                self.shared.look(dependents);
                Ok(())
            }
        }
        .map(|()| Next::Done)
        .inspect_err(|error| tracing::trace!(%key, %error, "not collected"))
    }
}

impl Shared {
    fn look(&self, uids: impl IntoIterator<Item = String>) {
        if let Some(queue) = self.queue.get() {
            uids.into_iter().for_each(|uid| queue.add(key(&uid)));
        }
    }

    fn api(&self, place: &Place) -> Option<Api<DynamicObject>> {
        let kinds = self.kinds.lock();
        let namespace = Some(place.namespace.as_str()).filter(|n| !n.is_empty());
        kinds.get(place.kind).map(|kind| kind.served.api(&self.client, namespace))
    }

    async fn follow_discovery(self: Arc<Self>, tasks: tokio_util::task::TaskTracker, ready: watch::Sender<bool>) {
        let mut wait = Duration::from_millis(50);
        loop {
            match discover(&self.client).await {
                Ok(served) => {
                    self.follow(served, &tasks);
                    if !*ready.borrow() {
                        self.synced().await;
                        ready.send_replace(true);
                    }
                    self.changed.notified().await;
                    tokio::time::sleep(DISCOVERY_DELAY).await;
                }
                Err(error) => {
                    tracing::debug!(error = runtime::message(&error), "discovery failed, trying again");
                    tokio::time::sleep(wait).await;
                    wait = (wait * 2).min(Duration::from_secs(30));
                }
            }
        }
    }

    async fn synced(&self) {
        let waiting: Vec<_> = self.kinds.lock().iter().map(|kind| kind.synced.clone()).collect();
        let all = async {
            for mut synced in waiting {
                let _ = synced.wait_for(|done| *done).await;
            }
        };
        if tokio::time::timeout(SYNC_PATIENCE, all).await.is_err() {
            tracing::info!("some kinds cannot be listed; collecting garbage without them");
        }
    }

    /// Begins to follow new kinds and forgets those that are gone.
    fn follow(self: &Arc<Self>, served: Vec<Served>, tasks: &tokio_util::task::TaskTracker) {
        let wanted: Vec<_> = served
            .into_iter()
            .filter(|s| s.watch && s.delete && !IGNORED.contains(&s.resource.kind.as_str()))
            .collect();
        let same = |a: &Served, b: &Served| {
            let of = |s: &Served| (s.resource.group.clone(), s.resource.plural.clone(), s.resource.version.clone());
            of(a) == of(b) && a.namespaced == b.namespaced
        };
        let mut look = Vec::new();
        let mut kinds = self.kinds.lock();
        for (at, kind) in kinds.iter().enumerate() {
            if !kind.stop.is_cancelled() && !wanted.iter().any(|s| same(s, &kind.served)) {
                kind.stop.cancel();
                look.extend(self.graph.lock().unfollow(at));
            }
        }
        for served in wanted {
            let known = |k: &Followed| !k.stop.is_cancelled() && same(&k.served, &served);
            if kinds.iter().any(known) {
                continue;
            }
            let (sender, synced) = watch::channel(false);
            let stop = self.stop.child_token();
            let (shared, at, kind_stop, kind) = (self.clone(), kinds.len(), stop.clone(), served.clone());
            kinds.push(Followed { served, stop, synced });
            tasks.spawn(async move { kind_stop.run_until_cancelled(shared.follow_kind(at, kind, sender)).await });
        }
        tracing::debug!(kinds = kinds.iter().filter(|k| !k.stop.is_cancelled()).count(), "following owners");
        drop(kinds);
        self.look(look);
    }

    async fn follow_kind(&self, at: usize, kind: Served, synced: watch::Sender<bool>) {
        let describes_kinds = matches!(kind.resource.kind.as_str(), "CustomResourceDefinition" | "APIService");
        let config = Config::default().disable_bookmarks();
        let metadata: Api<PartialObjectMeta<DynamicObject>> = Api::all_with(self.client.clone(), &kind.resource);
        let events = watcher(metadata, config).default_backoff();
        let mut events = std::pin::pin!(events);
        let mut listed = HashSet::new();
        while let Some(event) = events.next().await {
            // What a list tells may be newer than the last discovery, too.
            if describes_kinds && matches!(event, Ok(Event::InitDone | Event::Apply(_) | Event::Delete(_))) {
                self.changed.notify_one();
            }
            match event {
                Ok(Event::Init) => listed.clear(),
                Ok(Event::InitApply(object)) => {
                    listed.extend(object.uid());
                    self.look(self.observe(at, &object.metadata));
                }
                Ok(Event::InitDone) => {
                    let mut look = self.graph.lock().retain(at, &listed);
                    // Owners of this kind could not be asked for before.
                    look.extend(self.graph.lock().dangling());
                    self.look(look);
                    listed = HashSet::new();
                    synced.send_replace(true);
                }
                Ok(Event::Apply(object)) => self.look(self.observe(at, &object.metadata)),
                Ok(Event::Delete(object)) => {
                    let look = self.graph.lock().forget(&object.uid().unwrap_or_default());
                    self.look(look);
                }
                // The watcher backs off and tries again.
                Err(error) => {
                    tracing::debug!(kind = kind.name(), error = runtime::describe(&error), "watch interrupted")
                }
            }
        }
    }

    fn observe(&self, at: usize, meta: &ObjectMeta) -> Vec<String> {
        self.graph.lock().observe(at, meta)
    }

    /// The kind an owner reference means.
    fn kind_of(&self, owner: &Owner) -> Option<Served> {
        let group = owner.api_version.rsplit_once('/').map_or("", |(group, _)| group);
        let kinds = self.kinds.lock();
        let found = kinds.iter().find(|k| {
            !k.stop.is_cancelled() && k.served.resource.group == group && k.served.resource.kind == owner.kind
        });
        found.map(|k| k.served.clone())
    }

    /// Asks the API for owners that the graph does not know.
    async fn verify(&self, place: &Place, owners: &[Owner]) -> Result<Next, kube::Error> {
        let mut answers: HashMap<&str, bool> = HashMap::new();
        for owner in owners {
            // Of a kind that is not served nothing can be said; its objects are looked at when it is.
            let Some(kind) = self.kind_of(owner) else { return Ok(Next::Done) };
            if kind.namespaced && place.namespace.is_empty() {
                return Ok(Next::Done);
            }
            let api = kind.api(&self.client, Some(&place.namespace));
            let found = api.get_metadata_opt(&owner.name).await?;
            answers.insert(&owner.uid, found.is_some_and(|o| o.metadata.uid.as_ref() == Some(&owner.uid)));
        }
        let exists = answers.values().any(|exists| *exists);
        for (uid, _) in answers.iter().filter(|(_, exists)| !**exists) {
            self.graph.lock().note_absent(&(*uid).to_owned());
        }
        // Those that exist come through their watch; should they go before that, look again.
        Ok(Next::After(if exists { Duration::from_secs(60) } else { Duration::from_millis(1) }))
    }

    async fn unlink(&self, place: &Place, uid: &str, gone: &[String]) -> Result<(), kube::Error> {
        self.change_owners(place, uid, |owners| owners.retain(|owner| !gone.contains(&owner.uid))).await
    }

    async fn unblock(&self, place: &Place, uid: &str) -> Result<(), kube::Error> {
        let unblock = |owner: &mut OwnerReference| owner.block_owner_deletion = Some(false);
        self.change_owners(place, uid, |owners| owners.iter_mut().for_each(unblock)).await
    }

    async fn change_owners(
        &self,
        place: &Place,
        uid: &str,
        change: impl FnOnce(&mut Vec<OwnerReference>),
    ) -> Result<(), kube::Error> {
        let Some(api) = self.api(place) else { return Ok(()) };
        let Some(object) = api.get_metadata_opt(&place.name).await? else { return Ok(()) };
        if object.metadata.uid.as_deref() != Some(uid) {
            return Ok(());
        }
        let mut owners = object.owner_references().to_vec();
        change(&mut owners);
        if owners == object.owner_references() {
            return Ok(());
        }
        let patch = json!({ "metadata": {
            "uid": uid,
            "resourceVersion": object.resource_version(),
            "ownerReferences": owners,
        }});
        self.patch(&api, &place.name, patch).await
    }

    async fn release(&self, place: &Place, uid: &str, finalizer: &str) -> Result<(), kube::Error> {
        let Some(api) = self.api(place) else { return Ok(()) };
        let Some(object) = api.get_metadata_opt(&place.name).await? else { return Ok(()) };
        let finalizers = object.finalizers();
        if object.metadata.uid.as_deref() != Some(uid) || !finalizers.iter().any(|f| f == finalizer) {
            return Ok(());
        }
        let left: Vec<_> = finalizers.iter().filter(|f| *f != finalizer).collect();
        let patch = json!({ "metadata": {
            "uid": uid,
            "resourceVersion": object.resource_version(),
            "finalizers": left,
        }});
        self.patch(&api, &place.name, patch).await
    }

    async fn patch(&self, api: &Api<DynamicObject>, name: &str, patch: serde_json::Value) -> Result<(), kube::Error> {
        let patched = api.patch_metadata(name, &PatchParams::default(), &Patch::Merge(patch)).await;
        runtime::ignore_not_found(patched).map(|_| ())
    }

    /// Deletes an object that still has the owners for whose loss it is to go: one that was set
    /// free, or found another owner, must stay, though the graph does not show it yet.
    async fn delete(&self, place: &Place, uid: &str, owners: &[String], policy: Policy) -> Result<(), kube::Error> {
        let Some(api) = self.api(place) else { return Ok(()) };
        let Some(object) = api.get_metadata_opt(&place.name).await? else { return Ok(()) };
        let unchanged = object.owner_references().iter().map(|owner| &owner.uid).eq(owners);
        if object.metadata.uid.as_deref() != Some(uid) || !unchanged {
            // What changed comes through the watch, and with it the next look.
            return Ok(());
        }
        let params = match policy {
            Policy::Background => DeleteParams::background(),
            Policy::Foreground => DeleteParams::foreground(),
            Policy::Orphan => DeleteParams::orphan(),
        };
        let same = Preconditions { uid: Some(uid.to_owned()), resource_version: object.resource_version() };
        tracing::debug!(name = place.name, namespace = place.namespace, ?policy, "collecting");
        runtime::ignore_not_found(api.delete(&place.name, &params.preconditions(same)).await).map(|_| ())
    }
}
