//! The real API server, in this process, over the in-memory store.

use std::sync::Arc;

use api::UserInfo;
use apiserver::{ApiServer, Config};
use serde_json::{Value, json};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

/// The server, and an administrator's client of it.
pub struct Api {
    server: ApiServer,
    admin: kube::Client,
    _stop: DropGuard,
}

impl Api {
    /// With a namespace as controllers would leave it.
    pub async fn start() -> Self {
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth();
        let config = Config {
            store: Arc::new(store::MemoryStore::default()),
            kinds: api::kinds::builtin(),
            service_cidr: "10.43.0.0/16".parse().unwrap(),
            advertise: "127.0.0.1:6443".parse().unwrap(),
            service_account_key: rcgen::KeyPair::generate().unwrap().serialize_pem(),
            service_account_issuer: "https://kubernetes.default.svc.cluster.local".to_owned(),
            own_node: String::new(),
            kubelet_client: Arc::new(tls.clone()),
            proxy_client: Arc::new(tls),
            extra: Vec::new(),
        };
        let server = ApiServer::start(config, stop.clone(), &tasks).await.unwrap();
        let admin = client::in_process(server.clone(), UserInfo::authenticated("admin", &["system:masters"]));
        let api = Api { server, admin, _stop: stop.drop_guard() };
        for name in ["default", "kube-node-lease"] {
            // Some servers make these by themselves.
            let namespace = json!({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}});
            let _ = api.request("POST", "/api/v1/namespaces", Some(namespace)).await;
        }
        let root = json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "kube-root-ca.crt"}, "data": {"ca.crt": "x"}});
        api.create("/api/v1/namespaces/default/configmaps", root).await;
        let account = json!({"kind": "ServiceAccount", "apiVersion": "v1", "metadata": {"name": "default"}});
        api.create("/api/v1/namespaces/default/serviceaccounts", account).await;
        api
    }

    /// A client that acts as the node. The roles of a fresh cluster are not here: it may do everything.
    pub fn node_client(&self, name: &str) -> kube::Client {
        let user = format!("system:node:{name}");
        client::in_process(self.server.clone(), UserInfo::authenticated(&user, &["system:nodes", "system:masters"]))
    }

    async fn request(&self, method: &str, path: &str, body: Option<Value>) -> Result<Value, kube::Error> {
        let body = body.map(|b| b.to_string().into_bytes()).unwrap_or_default();
        let request = http::Request::builder().method(method).uri(path).header("content-type", "application/json");
        self.admin.request(request.body(body).unwrap()).await
    }

    /// Makes an object.
    pub async fn create(&self, collection: &str, object: Value) -> Value {
        self.request("POST", collection, Some(object)).await.unwrap()
    }

    /// Replaces an object.
    pub async fn put(&self, path: &str, object: Value) {
        self.request("PUT", path, Some(object)).await.unwrap();
    }

    /// One object.
    pub async fn get(&self, path: &str) -> Option<Value> {
        self.request("GET", path, None).await.ok()
    }

    /// The items of a list.
    pub async fn list(&self, collection: &str) -> Vec<Value> {
        let list = self.request("GET", collection, None).await.unwrap();
        list["items"].as_array().cloned().unwrap_or_default()
    }

    /// Deletes an object, with a grace in seconds.
    pub async fn delete(&self, path: &str, grace: i64) {
        self.request("DELETE", &format!("{path}?gracePeriodSeconds={grace}"), None).await.unwrap();
    }
}
