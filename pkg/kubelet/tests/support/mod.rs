//! What the tests against a real containerd share.

pub mod api;
pub mod containerd;

use std::sync::Arc;
use std::time::Duration;

use client::Informers;
use kubelet::Config;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use api::Api;
use containerd::Containerd;

pub const NODE: &str = "kkub-node";

/// A running kubelet.
pub struct Running {
    pub stop: CancellationToken,
    pub tasks: TaskTracker,
}

impl Running {
    /// Ends it, as a kill would: pods stay.
    pub async fn end(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

/// Starts a kubelet on a containerd, with directories beside it.
pub async fn kubelet(api: &Api, containerd: &Containerd) -> Running {
    let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
    let informers = Informers::new(api.client(), stop.clone());
    let key = rcgen::generate_simple_self_signed(vec!["node".to_owned()]).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let certificate = key.cert.der().clone();
    let private = rustls::pki_types::PrivatePkcs8KeyDer::from(key.signing_key.serialize_der());
    let tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], private.into())
        .unwrap();
    let tls = Arc::new(arc_swap::ArcSwap::from_pointee(tls));
    let ip = "127.0.0.1".parse().unwrap();
    let config = Config {
        root_dir: containerd.dir.path().join("kubelet"),
        pod_log_dir: containerd.dir.path().join("pods"),
        listen: "127.0.0.1:0".parse().unwrap(),
        cgroup_parent: format!("/kkub-{}", std::process::id()),
        ..Config::new(NODE, ip, informers, containerd.socket.clone(), tls)
    };
    kubelet::start(config, stop.clone(), &tasks).await.expect("the kubelet starts");
    Running { stop, tasks }
}

/// A pod on the host's network with one container that runs `script`.
pub fn pod(name: &str, script: &str) -> Value {
    json!({
        "kind": "Pod", "apiVersion": "v1",
        "metadata": {"name": name, "namespace": "default", "uid": format!("uid-{name}"), "generation": 1},
        "spec": {
            "nodeName": NODE, "hostNetwork": true, "restartPolicy": "Always", "terminationGracePeriodSeconds": 2,
            "containers": [{
                "name": "main", "image": containerd::IMAGE, "imagePullPolicy": "Never",
                "command": ["/bin/sh", "-c", script],
            }],
        },
    })
}

pub fn path(name: &str) -> String {
    format!("/api/v1/namespaces/default/pods/{name}")
}

/// Waits until the pod satisfies `wanted`.
pub async fn until(api: &Api, name: &str, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let mut last = None;
    for _ in 0..600 {
        last = api.get(&path(name));
        if let Some(pod) = last.as_ref().filter(|p| wanted(p)) {
            return pod.clone();
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let status = last.map(|p| p["status"].clone());
    let events: Vec<Value> =
        api.list("/api/v1/namespaces/default/events").iter().map(|e| e["message"].clone()).collect();
    panic!("{name} never {what}: {status:#?}\n{events:#?}");
}

/// Whether the pod's Ready condition is true.
pub fn ready(pod: &Value) -> bool {
    pod["status"]["conditions"]
        .as_array()
        .is_some_and(|c| c.iter().any(|c| c["type"] == "Ready" && c["status"] == "True"))
}

/// Marks a pod as deleted, as the API server does.
pub fn delete(api: &Api, name: &str, grace: i64) {
    let mut pod = api.get(&path(name)).unwrap();
    let at = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(grace);
    pod["metadata"]["deletionTimestamp"] = json!(jiff::Timestamp::from_second(at.as_second()).unwrap());
    pod["metadata"]["deletionGracePeriodSeconds"] = json!(grace);
    api.put(&path(name), pod);
}
