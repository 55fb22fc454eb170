//! The server as a whole, over the model store: requests of every shape. Nothing may answer 500, which is also what a
//! contained panic answers.

use std::{sync::Arc, time::Duration};

use api::{UserInfo, Value};
use apiserver::{ApiServer, Config};
use base64::Engine as _;
use http::{HeaderValue, Method, Request, header};
use http_body_util::{BodyExt as _, Full};
use rand::{Rng as _, rngs::StdRng};
use ring::{rand::SystemRandom, signature};
use serde_json::json;
use store::MemoryStore;
use tokio::runtime::Runtime;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::ServiceExt as _;

use crate::{corpus, mutate};

/// Requests to one server: its store grows.
const LIFE: usize = 1500;
/// What never ends is not waited for.
const GLANCE: Duration = Duration::from_millis(5);

/// Where upstream answers 500 too.
const KNOWN: &[&str] =
    &["resourceVersion should not be set on objects to be created", "no InternalIP is known for node"];

const JSON: &str = "application/json";

/// `[method, uri, content type, accept, body]`; a body that is no text is sent as JSON.
pub fn corpus() -> Vec<Vec<u8>> {
    let kinds = api::kinds::builtin();
    let mut out = Vec::new();
    for object in corpus::objects() {
        let row =
            kinds.rows().iter().find(|kind| object["kind"] == *kind.kind && object["apiVersion"] == kind.api_version());
        let Some(kind) = row else { continue };
        let root = if kind.group.is_empty() { "api" } else { "apis" };
        let place = if kind.namespaced { "/namespaces/default" } else { "" };
        let uri = format!("/{root}/{}{place}/{}", kind.api_version(), &*kind.plural);
        let one = format!("{uri}/{}", object["metadata"]["name"].as_str().unwrap_or_default());
        let apply = format!("{one}?fieldManager=m&force=true");
        out.push(json!(["POST", uri, JSON, JSON, object]));
        out.push(json!(["PUT", one, JSON, "application/vnd.kubernetes.protobuf,*/*", object]));
        out.push(json!(["PATCH", one, "application/merge-patch+json", JSON, {"metadata": {"labels": {"a": "b"}}}]));
        out.push(json!(["PATCH", one, "application/strategic-merge-patch+json", JSON, object]));
        out.push(json!(["PATCH", apply, "application/apply-patch+yaml", JSON, object]));
        out.push(json!(["PATCH", one, "application/json-patch+json", JSON, [{"op": "add", "path": "/metadata/labels", "value": {}}]]));
        for sub in kind.subresources.iter() {
            out.push(json!(["PUT", format!("{one}/{}", sub.name), JSON, JSON, object]));
            out.push(json!(["POST", format!("{one}/{}", sub.name), JSON, JSON, {"metadata": {"name": "thing"}}]));
            out.push(json!(["GET", format!("{one}/{}", sub.name), "", JSON, ""]));
        }
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
        out.push(json!([
            "GET",
            format!("{uri}?limit=1&labelSelector=a%3Db&fieldSelector=metadata.name%3Dthing"),
            "",
            table,
            ""
        ]));
        out.push(json!([
            "GET",
            format!("{uri}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1"),
            "",
            JSON,
            ""
        ]));
        out.push(json!(["DELETE", one, JSON, JSON, {"gracePeriodSeconds": 0, "preconditions": {"uid": "x"}}]));
        out.push(json!(["DELETE", format!("{one}?gracePeriodSeconds=0"), JSON, JSON, ""]));
    }
    for path in
        ["/apis", "/api", "/openapi/v3", "/openapi/v2", "/version", "/readyz?verbose&exclude=ping", "/metrics", "/"]
    {
        out.push(json!([
            "GET",
            path,
            "",
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,*/*",
            ""
        ]));
    }
    out.iter().map(|request| request.to_string().into_bytes()).collect()
}

/// Mostly the body, often the rest.
pub fn mutate(random: &mut StdRng, input: &mut Vec<u8>) {
    let Ok(mut request) = serde_json::from_slice::<Value>(input) else { return };
    let at = [4, 4, 4, 1, 1, 3, 2, 0][random.random_range(0..8)];
    let part = &mut request[at];
    match part {
        Value::String(text) => {
            let mut bytes = text.clone().into_bytes();
            mutate::text(random, &mut bytes);
            *part = String::from_utf8_lossy(&bytes).into_owned().into();
        }
        tree => {
            let mut bytes = tree.to_string().into_bytes();
            if random.random_bool(0.1) {
                mutate::text(random, &mut bytes);
                *tree = String::from_utf8_lossy(&bytes).into_owned().into();
            } else {
                mutate::tree(random, &mut bytes);
                *tree = serde_json::from_slice(&bytes).unwrap_or_default();
            }
        }
    }
    *input = request.to_string().into_bytes();
}

struct Running {
    server: ApiServer,
    stop: CancellationToken,
    served: usize,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// A server that lives for some requests, then the next.
pub fn start() -> crate::Run {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut running = None;
    Box::new(move |input| {
        let Ok(request) = serde_json::from_slice::<Value>(input) else { return };
        let server = running.get_or_insert_with(|| runtime.block_on(launch()));
        server.served += 1;
        send(&runtime, &server.server, &request);
        if server.served >= LIFE {
            running = None;
        }
    })
}

async fn launch() -> Running {
    let der =
        signature::EcdsaKeyPair::generate_pkcs8(&signature::ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new())
            .expect("a key can be made");
    let key = base64::engine::general_purpose::STANDARD.encode(der.as_ref());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let kubelet_client = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring has them")
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    let config = Config {
        store: Arc::new(MemoryStore::default()),
        kinds: api::kinds::builtin(),
        service_cidr: "10.43.0.0/16".parse().expect("a range"),
        advertise: "192.0.2.1:6443".parse().expect("an address"),
        service_account_key: format!("-----BEGIN PRIVATE KEY-----\n{key}\n-----END PRIVATE KEY-----\n"),
        service_account_issuer: "https://kubernetes.default.svc.cluster.local".to_owned(),
        own_node: String::new(),
        kubelet_client: Arc::new(kubelet_client.clone()),
        proxy_client: Arc::new(kubelet_client),
        extra: Vec::new(),
    };
    let stop = CancellationToken::new();
    let server = ApiServer::start(config, stop.clone(), &TaskTracker::new()).await.expect("a server starts");
    let running = Running { server, stop, served: 0 };
    for object in [
        json!(["POST", "/api/v1/namespaces", JSON, JSON, {"metadata": {"name": "default"}}]),
        json!(["POST", "/api/v1/namespaces/default/serviceaccounts", JSON, JSON, {"metadata": {"name": "default"}}]),
    ] {
        answer(&running.server, &object).await;
    }
    running
}

fn send(runtime: &Runtime, server: &ApiServer, request: &Value) {
    let Some((code, text)) = runtime.block_on(answer(server, request)) else { return };
    assert!(code != 500 || KNOWN.iter().any(|known| text.contains(known)), "500: {text}");
}

/// `None` if it is no request.
async fn answer(server: &ApiServer, request: &Value) -> Option<(u16, String)> {
    let text = |at: usize| request[at].as_str();
    let body = match &request[4] {
        Value::String(text) => text.clone(),
        tree => tree.to_string(),
    };
    let mut sent = Request::builder()
        .method(Method::from_bytes(text(0)?.as_bytes()).ok()?)
        .uri(text(1)?)
        .header(header::CONTENT_TYPE, HeaderValue::from_bytes(text(2)?.as_bytes()).ok()?)
        .header(header::ACCEPT, HeaderValue::from_bytes(text(3)?.as_bytes()).ok()?)
        .body(Full::from(body))
        .ok()?;
    sent.extensions_mut().insert(UserInfo::authenticated("admin", &["system:masters"]));
    // What goes to kubelets and never comes back.
    let answered = tokio::time::timeout(Duration::from_secs(2), server.clone().oneshot(sent)).await;
    let response = match answered {
        Ok(Ok(response)) => response,
        Ok(Err(never)) => match never {},
        Err(_) => return None,
    };
    let code = response.status().as_u16();
    let mut body = response.into_body();
    let mut bytes = Vec::new();
    while let Ok(Some(Ok(frame))) = tokio::time::timeout(GLANCE, body.frame()).await {
        bytes.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data));
    }
    Some((code, String::from_utf8_lossy(&bytes).into_owned()))
}
