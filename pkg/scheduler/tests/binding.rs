//! The scheduler against the real API server, in one process, over the in-memory store.

use std::{sync::Arc, time::Duration};

use api::UserInfo;
use apiserver::{ApiServer, Config};
use client::{Informer, Informers, ObjectKey};
use futures::StreamExt as _;
use k8s_openapi::api::core::v1::{Event, Node, Pod};
use kube::{
    Api, ResourceExt as _,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

struct Cluster {
    pods: Api<Pod>,
    nodes: Api<Node>,
    events: Api<Event>,
    informer: Informer<Pod>,
    _stop: DropGuard,
}

fn object<K: serde::de::DeserializeOwned>(value: Value) -> K {
    serde_json::from_value(value).expect("an object")
}

impl Cluster {
    async fn start() -> Self {
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth();
        let config = Config {
            store: Arc::new(store::MemoryStore::default()),
            kinds: api::kinds::builtin(),
            service_cidr: "10.43.0.0/16".parse().expect("a range"),
            advertise: "127.0.0.1:6443".parse().expect("an address"),
            service_account_key: rcgen::KeyPair::generate().expect("a key").serialize_pem(),
            service_account_issuer: "https://kubernetes.default.svc.cluster.local".to_owned(),
            own_node: String::new(),
            kubelet_client: Arc::new(tls.clone()),
            proxy_client: Arc::new(tls),
            extra: Vec::new(),
        };
        let server = ApiServer::start(config, stop.clone(), &tasks).await.expect("starts");
        let client = client::in_process(server, UserInfo::authenticated("admin", &["system:masters"]));
        for (path, name) in [("namespaces", "test"), ("namespaces/test/serviceaccounts", "default")] {
            let kind = if path == "namespaces" { "Namespace" } else { "ServiceAccount" };
            let body = json!({ "apiVersion": "v1", "kind": kind, "metadata": { "name": name } });
            let request = http::Request::post(format!("/api/v1/{path}"))
                .header("content-type", "application/json")
                .body(body.to_string().into_bytes())
                .expect("a request");
            let _: Value = client.request(request).await.expect("created");
        }
        let informers = Informers::new(client.clone(), stop.clone());
        let config = scheduler::Config { informers: informers.clone(), clock: client::clock::system() };
        scheduler::start(config, stop.clone(), &tasks);
        Cluster {
            pods: Api::namespaced(client.clone(), "test"),
            nodes: Api::all(client.clone()),
            events: Api::namespaced(client, "test"),
            informer: informers.get(),
            _stop: stop.drop_guard(),
        }
    }

    async fn add_node(&self, name: &str) {
        let node = object(json!({ "metadata": { "name": name, "labels": { "kubernetes.io/hostname": name } } }));
        self.nodes.create(&PostParams::default(), &node).await.expect("created");
        let status = json!({ "status": { "allocatable": { "cpu": "2", "memory": "2Gi", "pods": "110" } } });
        self.nodes.patch_status(name, &PatchParams::default(), &Patch::Merge(status)).await.expect("patched");
    }

    async fn add_pod(&self, name: &str, cpu: &str) {
        let container = json!({ "name": "c", "image": "i", "resources": { "requests": { "cpu": cpu } } });
        let pod = object(json!({ "metadata": { "name": name }, "spec": { "containers": [container] } }));
        self.pods.create(&PostParams::default(), &pod).await.expect("created");
    }

    /// Waits until the pod is as it should be.
    async fn until(&self, name: &str, done: impl Fn(&Pod) -> bool) -> Arc<Pod> {
        let waiting = async {
            let mut changes = self.informer.changes();
            loop {
                if let Some(pod) = self.informer.get(&ObjectKey::new("test", name)).filter(|pod| done(pod)) {
                    return pod;
                }
                changes.next().await.expect("the informer lives");
            }
        };
        match tokio::time::timeout(Duration::from_secs(20), waiting).await {
            Ok(pod) => pod,
            Err(_) => panic!("never came: {:#?}", self.informer.list()),
        }
    }
}

fn node_of(pod: &Pod) -> &str {
    pod.spec.as_ref().and_then(|s| s.node_name.as_deref()).unwrap_or_default()
}

fn is_bound(pod: &Pod) -> bool {
    !node_of(pod).is_empty()
}

fn scheduled_message(pod: &Pod) -> &str {
    let conditions = pod.status.iter().flat_map(|s| s.conditions.iter().flatten());
    let scheduled = conditions.into_iter().find(|c| c.type_ == "PodScheduled" && c.status == "False");
    scheduled.and_then(|c| c.message.as_deref()).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn pods_are_bound_to_where_there_is_room() {
    let cluster = Cluster::start().await;
    for node in ["a", "b"] {
        cluster.add_node(node).await;
    }
    for n in 0..4 {
        cluster.add_pod(&format!("p{n}"), "900m").await;
    }
    let mut on = Vec::new();
    for n in 0..4 {
        on.push(node_of(&*cluster.until(&format!("p{n}"), is_bound).await).to_owned());
    }
    on.sort();
    assert_eq!(on, ["a", "a", "b", "b"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_waits_and_says_why_until_there_is_room() {
    let cluster = Cluster::start().await;
    cluster.add_pod("first", "1500m").await;
    cluster.until("first", |pod| scheduled_message(pod) == "no nodes available to schedule pods").await;
    cluster.add_node("a").await;
    cluster.until("first", is_bound).await;
    cluster.add_pod("second", "1500m").await;
    cluster.until("second", |pod| scheduled_message(pod) == "0/1 nodes are available: 1 Insufficient cpu.").await;
    cluster.pods.delete("first", &DeleteParams::default().grace_period(0)).await.expect("deleted");
    cluster.until("second", is_bound).await;
    let told = async {
        loop {
            let events = cluster.events.list(&Default::default()).await.expect("lists");
            let has = |reason: &str, message: &str| {
                events.iter().any(|e| e.reason.as_deref() == Some(reason) && e.message.as_deref() == Some(message))
            };
            if has("Scheduled", "Successfully assigned test/second to a")
                && has("FailedScheduling", "0/1 nodes are available: 1 Insufficient cpu.")
            {
                return events;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let events = tokio::time::timeout(Duration::from_secs(10), told).await.expect("events come");
    assert!(events.iter().all(|e| !e.name_any().is_empty()));
}
