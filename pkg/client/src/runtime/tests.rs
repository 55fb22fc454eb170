//! The controller runtime: one run to a key, backoff, requeues.

use std::sync::atomic::{AtomicBool, Ordering};

use k8s_openapi::{
    api::core::v1::{ConfigMap, Pod},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use tokio::sync::mpsc;

use super::*;
use crate::clock;

fn config_map(name: &str, revision: u64) -> ConfigMap {
    let metadata = ObjectMeta {
        namespace: Some("ns".to_owned()),
        name: Some(name.to_owned()),
        uid: Some(format!("uid-{name}")),
        resource_version: Some(revision.to_string()),
        ..ObjectMeta::default()
    };
    ConfigMap { metadata, ..ConfigMap::default() }
}

/// Reports every key; fails as often as asked, and panics for `panicking` the first time.
struct Probe {
    informer: Informer<ConfigMap>,
    pods: Informer<Pod>,
    seen: mpsc::UnboundedSender<String>,
    failures: Mutex<u32>,
    panicked: AtomicBool,
}

impl Controller for Probe {
    type Input = ();
    type Plan = ();
    const NAME: &'static str = "probe";

    fn sources(&self, sources: &mut Sources) {
        sources.own(&self.informer).owned(&self.pods, "ConfigMap");
    }

    fn gather(&self, _: &ObjectKey) -> Option<()> {
        Some(())
    }

    fn decide(&self, (): &(), _: Timestamp) {}

    async fn apply(&self, key: &ObjectKey, (): (), (): ()) -> Result<Next, kube::Error> {
        let _ = self.seen.send(key.to_string());
        let again = self.panicked.swap(key.name == "panicking", Ordering::Relaxed);
        assert!(again || key.name != "panicking", "asked to panic");
        let mut failures = self.failures.lock();
        if *failures > 0 {
            *failures -= 1;
            return Err(kube::Error::TlsRequired);
        }
        Ok(Next::Done)
    }
}

struct Started {
    informer: Informer<ConfigMap>,
    pods: Informer<Pod>,
    seen: mpsc::UnboundedReceiver<String>,
    runtime: Runtime,
}

fn start(failures: u32) -> Started {
    let (sender, seen) = mpsc::unbounded_channel();
    let runtime = Runtime { clock: clock::system(), stop: CancellationToken::new(), tasks: TaskTracker::new() };
    let (informer, pods) = (Informer::detached(), Informer::detached());
    runtime.run(Probe {
        informer: informer.clone(),
        pods: pods.clone(),
        seen: sender,
        failures: Mutex::new(failures),
        panicked: AtomicBool::new(false),
    });
    Started { informer, pods, seen, runtime }
}

#[tokio::test(start_paused = true)]
async fn begins_when_all_snapshots_are_complete() {
    let mut started = start(0);
    started.informer.insert(config_map("a", 1));
    started.informer.set_synced();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(started.seen.try_recv().is_err(), "the pods are not listed yet");
    started.pods.set_synced();
    assert_eq!(started.seen.recv().await.as_deref(), Some("ns/a"));
    started.runtime.stop.cancel();
    started.runtime.tasks.close();
    started.runtime.tasks.wait().await;
}

#[tokio::test(start_paused = true)]
async fn an_owned_object_asks_for_its_owner() {
    let mut started = start(0);
    started.informer.set_synced();
    started.pods.set_synced();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let owner = OwnerReference {
        kind: "ConfigMap".to_owned(),
        name: "x".to_owned(),
        controller: Some(true),
        ..Default::default()
    };
    let metadata = ObjectMeta {
        namespace: Some("ns".to_owned()),
        name: Some("p".to_owned()),
        owner_references: Some(vec![owner]),
        ..ObjectMeta::default()
    };
    started.pods.insert(Pod { metadata, ..Pod::default() });
    assert_eq!(started.seen.recv().await.as_deref(), Some("ns/x"));
}

#[tokio::test(start_paused = true)]
async fn failures_are_tried_again() {
    let mut started = start(2);
    started.informer.insert(config_map("a", 1));
    started.informer.set_synced();
    started.pods.set_synced();
    for _ in 0..3 {
        assert_eq!(started.seen.recv().await.as_deref(), Some("ns/a"));
    }
    tokio::time::sleep(Duration::from_secs(2000)).await;
    assert!(started.seen.try_recv().is_err(), "once it succeeded, that was it");
}

#[tokio::test(start_paused = true)]
async fn a_key_whose_reconcile_panics_is_tried_again() {
    let mut started = start(0);
    started.informer.insert(config_map("panicking", 1));
    started.informer.set_synced();
    started.pods.set_synced();
    for _ in 0..2 {
        assert_eq!(started.seen.recv().await.as_deref(), Some("ns/panicking"));
    }
    tokio::time::sleep(Duration::from_secs(2000)).await;
    assert!(started.seen.try_recv().is_err(), "once it succeeded, that was it");
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_missed_changes_looks_at_everything() {
    let mut started = start(0);
    started.informer.set_synced();
    started.pods.set_synced();
    tokio::time::sleep(Duration::from_secs(1)).await;
    // No task runs in between, so the first of these are lost to the receiver.
    for n in 0..2000 {
        started.informer.insert(config_map(&format!("m{n}"), n));
    }
    let mut keys = HashSet::new();
    while keys.len() < 2000 {
        keys.insert(started.seen.recv().await.expect("all keys come"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_whose_deletion_was_missed_is_looked_at() {
    let mut started = start(0);
    started.informer.insert(config_map("gone", 1));
    started.informer.set_synced();
    started.pods.set_synced();
    assert_eq!(started.seen.recv().await.as_deref(), Some("ns/gone"));
    tokio::time::sleep(Duration::from_secs(1)).await;
    // No task runs in between, so the deletion is lost to the receiver.
    started.informer.remove(&ObjectKey::new("ns", "gone"));
    for n in 0..2000 {
        started.informer.insert(config_map("other", n));
    }
    let mut keys = HashSet::new();
    while keys.len() < 2 {
        keys.insert(started.seen.recv().await.expect("both keys come"));
    }
    assert!(keys.contains("ns/gone"));
}

#[tokio::test(start_paused = true)]
async fn writes_are_expected_until_the_snapshot_shows_them() {
    let informer: Informer<ConfigMap> = Informer::detached();
    let expectations = Expectations::default();
    let owner = ObjectKey::new("ns", "owner");
    assert!(expectations.met(&owner, &informer));

    expectations.wrote(&owner, &config_map("a", 7));
    assert!(!expectations.met(&owner, &informer));
    // Another object's later revision proves that the snapshot is past ours.
    informer.insert(config_map("b", 8));
    assert!(expectations.met(&owner, &informer));

    expectations.deletes(&owner, &config_map("b", 8));
    assert!(!expectations.met(&owner, &informer));
    informer.remove(&ObjectKey::new("ns", "b"));
    assert!(expectations.met(&owner, &informer));

    expectations.wrote(&owner, &config_map("c", 100));
    tokio::time::advance(EXPECTATION_TIMEOUT).await;
    assert!(expectations.met(&owner, &informer), "not for ever");
}
