//! The server as a whole, through its tower service, over the model store.

mod access;
mod certificates;
mod clients;
mod contract;
mod custom;
mod datastore;
mod documents;
mod lists;
mod network;
mod nodes;
mod objects;
mod pods;
mod protobuf;
mod registration;
mod services;
mod watches;
mod writes;

use std::sync::Arc;

use api::{UserInfo, Value};
use http::{Request, header};
use http_body_util::{BodyExt as _, Full};
use serde_json::json;
use store::MemoryStore;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::ServiceExt as _;

use crate::{ApiServer, Body, Config};

/// A running server and the handles that end it.
pub struct Fixture {
    pub server: ApiServer,
    pub stop: CancellationToken,
    pub tasks: TaskTracker,
    pub user: UserInfo,
}

/// An answer, read.
#[derive(Debug)]
pub struct Answer {
    pub code: u16,
    pub headers: http::HeaderMap,
    pub body: Value,
}

pub fn config(store: Arc<dyn store::Store>) -> Config {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let kubelet_client = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    Config {
        store,
        kinds: api::kinds::builtin(),
        service_cidr: "10.43.0.0/16".parse().unwrap(),
        advertise: "192.0.2.1:6443".parse().unwrap(),
        service_account_key: crate::auth::jwt::test_key(),
        service_account_issuer: "https://kubernetes.default.svc.cluster.local".to_owned(),
        own_node: "own".to_owned(),
        kubelet_client: Arc::new(kubelet_client),
        proxy_client: pki::tls::unverified().unwrap(),
        extra: Vec::new(),
    }
}

impl Fixture {
    pub async fn new() -> Self {
        Self::over(Arc::new(MemoryStore::default())).await
    }

    pub async fn over(store: Arc<dyn store::Store>) -> Self {
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let server = ApiServer::start(config(store), stop.clone(), &tasks).await.unwrap();
        let fixture = Fixture { server, stop, tasks, user: UserInfo::authenticated("admin", &["system:masters"]) };
        for name in ["default", "kube-system"] {
            let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
            fixture.post("/api/v1/namespaces", &namespace).await.expect(201);
        }
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}});
        fixture.post("/api/v1/namespaces/default/serviceaccounts", &account).await.expect(201);
        fixture
    }

    /// Another server on the same store.
    pub async fn beside(&self, store: Arc<dyn store::Store>) -> Self {
        let (stop, tasks) = (self.stop.clone(), self.tasks.clone());
        let server = ApiServer::start(config(store), stop.clone(), &tasks).await.unwrap();
        Fixture { server, stop, tasks, user: self.user.clone() }
    }

    pub async fn raw(&self, request: Request<Full<bytes::Bytes>>) -> http::Response<Body> {
        let mut request = request;
        request.extensions_mut().insert(self.user.clone());
        self.server.clone().oneshot(request).await.unwrap()
    }

    pub async fn send(&self, method: &str, uri: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = Request::builder().method(method).uri(uri).header(header::USER_AGENT, "tester/1.0");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = self.raw(request.body(Full::from(body.to_owned())).unwrap()).await;
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let text = || Value::String(String::from_utf8_lossy(&bytes).into_owned());
        let body = serde_json::from_slice(&bytes).unwrap_or_else(|_| text());
        Answer { code: parts.status.as_u16(), headers: parts.headers, body }
    }

    pub async fn get(&self, uri: &str) -> Answer {
        self.send("GET", uri, &[], "").await
    }

    pub async fn post(&self, uri: &str, body: &Value) -> Answer {
        self.send("POST", uri, &[("content-type", "application/json")], &body.to_string()).await
    }

    pub async fn put(&self, uri: &str, body: &Value) -> Answer {
        self.send("PUT", uri, &[("content-type", "application/json")], &body.to_string()).await
    }

    pub async fn delete(&self, uri: &str, body: Value) -> Answer {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.send("DELETE", uri, &[("content-type", "application/json")], &body).await
    }

    pub async fn patch(&self, kind: &str, uri: &str, body: &Value) -> Answer {
        let media = match kind {
            "apply" => "application/apply-patch+yaml".to_owned(),
            "strategic" => "application/strategic-merge-patch+json".to_owned(),
            "merge" => "application/merge-patch+json".to_owned(),
            _ => "application/json-patch+json".to_owned(),
        };
        self.send("PATCH", uri, &[("content-type", &media)], &body.to_string()).await
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Answer {
    /// The body, if the code is as expected.
    #[track_caller]
    pub fn expect(self, code: u16) -> Value {
        assert_eq!(self.code, code, "{}", self.body);
        self.body
    }

    /// The message of a failure with this code and reason.
    #[track_caller]
    pub fn refused(self, code: u16, reason: &str) -> String {
        assert_eq!((self.code, self.body["reason"].as_str().unwrap_or_default()), (code, reason), "{}", self.body);
        self.body["message"].as_str().unwrap_or_default().to_owned()
    }
}

/// An object of a built-in kind as lists show it.
pub fn as_item(mut object: Value) -> Value {
    object.as_object_mut().unwrap().retain(|name, _| name != "kind" && name != "apiVersion");
    object
}

pub fn config_map(name: &str, data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})
}

pub const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
