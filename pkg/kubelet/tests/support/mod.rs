//! What the tests against a real containerd share.

pub mod api;
pub mod containerd;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use client::Informers;
use kubelet::Config;
use rustls::pki_types::{PrivatePkcs8KeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use api::Api;
use containerd::Containerd;

pub const NODE: &str = "kkub-node";

/// A running kubelet.
pub struct Running {
    pub stop: CancellationToken,
    pub tasks: TaskTracker,
    /// Where it serves.
    pub address: SocketAddr,
    /// A client of it, as the API server is one.
    pub client: Arc<ClientConfig>,
}

impl Running {
    /// Ends it, as a kill would: pods stay.
    pub async fn end(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// A connection to its server.
    pub async fn connect(&self) -> TlsStream<TcpStream> {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let name = ServerName::try_from("node").unwrap();
        TlsConnector::from(self.client.clone()).connect(name, stream).await.unwrap()
    }

    /// The body of a GET.
    pub async fn get(&self, path: &str) -> String {
        let mut stream = self.connect().await;
        let request = format!("GET {path} HTTP/1.1\r\nhost: node\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        // An end without a close of TLS is one, too.
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8_lossy(&answer).into_owned()
    }
}

/// Server and client sides of TLS under one throw-away CA.
fn tls() -> (ServerConfig, ClientConfig) {
    let key = || rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let ca_key = key();
    let ca = params.self_signed(&ca_key).unwrap();
    let issuer = rcgen::Issuer::from_params(&params, &ca_key);
    let leaf = |name: &str| {
        let mut params = rcgen::CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        let key = key();
        let certificate = params.signed_by(&key, &issuer).unwrap();
        (vec![certificate.der().clone()], PrivatePkcs8KeyDer::from(key.serialize_der()))
    };
    let mut roots = RootCertStore::empty();
    roots.add(ca.der().clone()).unwrap();
    let roots = Arc::new(roots);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(roots.clone(), provider.clone()).build().unwrap();
    let (chain, private) = leaf("node");
    let server = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier)
        .with_single_cert(chain, private.into())
        .unwrap();
    let (chain, private) = leaf("kube-apiserver-kubelet-client");
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_client_auth_cert(chain, private.into())
        .unwrap();
    (server, client)
}

/// Starts a kubelet on a containerd, with directories beside it.
pub async fn kubelet(api: &Api, containerd: &Containerd) -> Running {
    // A second kubelet in a test finds the subscriber of the first.
    let _ = tracing_subscriber::fmt().with_env_filter("kubelet=info,client=info").with_test_writer().try_init();
    let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
    let informers = Informers::new(api.node_client(NODE), stop.clone());
    let (server, client) = tls();
    let serving = Arc::new(arc_swap::ArcSwap::from_pointee(server));
    let ip = "127.0.0.1".parse().unwrap();
    // A port that was free a moment ago.
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let config = Config {
        root_dir: containerd.dir.path().join("kubelet"),
        pod_log_dir: containerd.dir.path().join("pods"),
        listen: address,
        cgroup_parent: format!("/kkub-{}", std::process::id()),
        ..Config::new(NODE, ip, informers, containerd.socket.clone(), serving)
    };
    let start = kubelet::start(config, stop.clone(), &tasks);
    tokio::time::timeout(Duration::from_secs(20), start).await.expect("in time").expect("the kubelet starts");
    Running { stop, tasks, address, client: Arc::new(client) }
}

/// A pod on the host's network with one container that runs `script`.
pub fn pod(name: &str, script: &str) -> Value {
    json!({
        "kind": "Pod", "apiVersion": "v1",
        "metadata": {"name": name, "namespace": "default"},
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

pub const PODS: &str = "/api/v1/namespaces/default/pods";
pub const EVENTS: &str = "/api/v1/namespaces/default/events";

/// Waits until the pod satisfies `wanted`.
pub async fn until(api: &Api, name: &str, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let mut last = None;
    for _ in 0..600 {
        last = api.get(&path(name)).await;
        if let Some(pod) = last.as_ref().filter(|p| wanted(p)) {
            return pod.clone();
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let status = last.map(|p| p["status"].clone());
    let events: Vec<Value> = api.list(EVENTS).await.iter().map(|e| e["message"].clone()).collect();
    panic!("{name} never {what}: {status:#?}\n{events:#?}");
}

/// Whether the pod's Ready condition is true.
pub fn ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array();
    conditions.is_some_and(|c| c.iter().any(|c| c["type"] == "Ready" && c["status"] == "True"))
}
