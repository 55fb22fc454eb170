//! ConfigMaps and Secrets that pods of this node refer to: one watch to each object, for as long as a pod refers to it.
//! A node is not allowed to see others.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use client::{Informer, ObjectKey};
use futures::StreamExt as _;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::Api;
use kube::runtime::watcher;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::spec::env::{Fetched, Source};

/// How long a pod waits for the first answer to a watch.
const FIRST_ANSWER: Duration = Duration::from_secs(10);

type Key = (String, Source);

#[derive(Clone)]
enum Followed {
    ConfigMap(Informer<ConfigMap>),
    Secret(Informer<Secret>),
}

struct Entry {
    followed: Followed,
    users: HashSet<String>,
    stop: CancellationToken,
}

/// Called with the uid of a pod whose sources changed.
pub type Wake = Arc<dyn Fn(&str) + Send + Sync>;

/// The objects in use.
pub struct Sources {
    client: kube::Client,
    stop: CancellationToken,
    wake: Wake,
    entries: Arc<Mutex<HashMap<Key, Entry>>>,
}

impl Sources {
    /// None in use yet.
    pub fn new(client: kube::Client, stop: CancellationToken, wake: Wake) -> Self {
        Sources { client, stop, wake, entries: Arc::default() }
    }

    /// Declares what the pod with `uid` refers to from now on. With an empty set, the pod is gone.
    pub fn follow(&self, uid: &str, namespace: &str, wanted: &BTreeSet<Source>) {
        let mut entries = self.entries.lock();
        for source in wanted {
            let key = (namespace.to_owned(), source.clone());
            let entry = entries.entry(key.clone()).or_insert_with(|| self.start(key));
            entry.users.insert(uid.to_owned());
        }
        entries.retain(|(of, source), entry| {
            if of == namespace && !wanted.contains(source) {
                entry.users.remove(uid);
            }
            if entry.users.is_empty() {
                entry.stop.cancel();
            }
            !entry.users.is_empty()
        });
    }

    /// The objects that the pod refers to. What is missing in the answer does not exist.
    pub async fn fetch(&self, namespace: &str, wanted: &BTreeSet<Source>) -> Result<Fetched, String> {
        let mut fetched = Fetched::default();
        for source in wanted {
            let key = (namespace.to_owned(), source.clone());
            let followed = self.entries.lock().get(&key).map(|e| e.followed.clone());
            match (followed, source) {
                (Some(Followed::ConfigMap(informer)), Source::ConfigMap(name)) => {
                    synced(&informer, "configmap", name).await?;
                    let object = informer.get(&ObjectKey::new(namespace, name));
                    fetched.config_maps.extend(object.map(|o| (name.clone(), o)));
                }
                (Some(Followed::Secret(informer)), Source::Secret(name)) => {
                    synced(&informer, "secret", name).await?;
                    let object = informer.get(&ObjectKey::new(namespace, name));
                    fetched.secrets.extend(object.map(|o| (name.clone(), o)));
                }
                _ => {}
            }
        }
        Ok(fetched)
    }

    fn start(&self, key: Key) -> Entry {
        let stop = self.stop.child_token();
        let (namespace, name) = match &key {
            (namespace, Source::ConfigMap(name) | Source::Secret(name)) => (namespace.as_str(), name.as_str()),
        };
        let config = watcher::Config::default().fields(&format!("metadata.name={name}"));
        let followed = match key.1 {
            Source::ConfigMap(_) => {
                let api = Api::namespaced(self.client.clone(), namespace);
                let informer = Informer::start(api, config, stop.clone());
                self.forward(&informer, key, stop.clone());
                Followed::ConfigMap(informer)
            }
            Source::Secret(_) => {
                let api = Api::namespaced(self.client.clone(), namespace);
                let informer = Informer::start(api, config, stop.clone());
                self.forward(&informer, key, stop.clone());
                Followed::Secret(informer)
            }
        };
        Entry { followed, users: HashSet::new(), stop }
    }

    fn forward<K>(&self, informer: &Informer<K>, key: Key, stop: CancellationToken)
    where
        K: kube::Resource + Clone + std::fmt::Debug + serde::de::DeserializeOwned + Send + Sync + 'static,
    {
        let mut changes = informer.changes();
        let (entries, wake) = (self.entries.clone(), self.wake.clone());
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = stop.cancelled() => return,
                    change = changes.next() => if change.is_none() { return },
                }
                let users: Vec<String> =
                    entries.lock().get(&key).map(|e| e.users.iter().cloned().collect()).unwrap_or_default();
                users.iter().for_each(|uid| wake(uid));
            }
        });
    }
}

async fn synced<K>(informer: &Informer<K>, kind: &str, name: &str) -> Result<(), String>
where
    K: kube::Resource + Clone + std::fmt::Debug + serde::de::DeserializeOwned + Send + Sync + 'static,
{
    let waited = tokio::time::timeout(FIRST_ANSWER, informer.synced()).await;
    waited.map_err(|_| format!("failed to sync {kind} \"{name}\": timed out waiting for the condition"))
}
