//! Over TLS: certificates as identities, both versions of HTTP, streams through to a kubelet.

use std::{net::SocketAddr, sync::Arc};

use bytes::Bytes;
use futures::StreamExt as _;
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Empty, Full};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use pki::{Ca, KeyAndCertificate, Usage, tls};
use serde_json::{Value, json};
use store::MemoryStore;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use tokio_tungstenite::tungstenite::{Message, client::IntoClientRequest as _};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{ApiServer, Extra, body::full};

/// The address of all servers here: the API server connects to none that only its own machine has.
const MACHINE: &str = "192.0.2.10";

/// Moves the test's thread into a network of its own, in which everybody has one address.
fn own_machine() {
    netlink::Namespace::fresh().unwrap().enter().unwrap();
    let mut links = netlink::Rtnetlink::open().unwrap();
    let loopback = links.require_link("lo").unwrap().index;
    links.set_up(loopback).unwrap();
    links.add_address(loopback, netlink::Net::host(MACHINE.parse::<std::net::IpAddr>().unwrap())).unwrap();
}

struct Network {
    dir: tempfile::TempDir,
    ca: Ca,
    address: SocketAddr,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Network {
    async fn new() -> Self {
        own_machine();
        let dir = tempfile::tempdir().unwrap();
        let ca = Ca::load_or_create(dir.path(), "ca").unwrap();
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let mut config = super::config(Arc::new(MemoryStore::default()));
        let own = ca.leaf(dir.path(), "kubelet-client", &Usage::client("apiserver", &["system:masters"])).unwrap();
        config.kubelet_client = tls::client(Some(&own), ca.certificate_pem(), &[]).unwrap();
        let router = axum::Router::new().route("/v1-join/ca", axum::routing::get(|| async { "the CA" }));
        config.extra = vec![Extra { prefix: "/v1-join/", router }];
        let server = ApiServer::start(config, stop.clone(), &tasks).await.unwrap();
        let leaf = server_leaf(&ca, dir.path(), "server");
        let alpn = ["h2", "http/1.1"];
        let tls = tls::server(&leaf, ca.certificate_pem(), tls::ClientCertificates::Optional, &alpn).unwrap();
        let listener = TcpListener::bind((MACHINE, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        server.serve(listener, tls, stop.clone(), &tasks);
        Network { dir, ca, address, stop, tasks }
    }

    fn admin(&self) -> KeyAndCertificate {
        self.ca.leaf(self.dir.path(), "admin", &Usage::client("admin", &["system:masters"])).unwrap()
    }

    async fn connect(
        &self,
        leaf: Option<&KeyAndCertificate>,
        alpn: &str,
    ) -> tokio_rustls::client::TlsStream<TcpStream> {
        let config = tls::client(leaf, self.ca.certificate_pem(), &[alpn]).unwrap();
        let stream = TcpStream::connect(self.address).await.unwrap();
        let name = rustls_pki_types::ServerName::from(self.address.ip());
        tokio_rustls::TlsConnector::from(config).connect(name, stream).await.unwrap()
    }

    /// Sends a request over HTTP/1.1.
    async fn send(&self, leaf: Option<&KeyAndCertificate>, request: Request<Full<Bytes>>) -> Response<Incoming> {
        let stream = self.connect(leaf, "http/1.1").await;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection.with_upgrades());
        sender.send_request(request).await.unwrap()
    }

    async fn json(&self, method: &str, uri: &str, body: &Value) -> Value {
        let request = Request::builder().method(method).uri(uri).header("host", "x");
        let request = request.body(Full::from(body.to_string())).unwrap();
        let response = self.send(Some(&self.admin()), request).await;
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        serde_json::from_slice(&bytes).unwrap()
    }
}

fn server_leaf(ca: &Ca, dir: &std::path::Path, name: &str) -> KeyAndCertificate {
    ca.leaf(dir, name, &Usage::server(name, vec![], vec![MACHINE.parse().unwrap()])).unwrap()
}

fn get(uri: &str) -> Request<Full<Bytes>> {
    Request::get(uri).header("host", "x").body(Full::default()).unwrap()
}

async fn text(response: Response<Incoming>) -> String {
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
}

#[tokio::test]
async fn certificates_are_identities_in_both_versions_of_http() {
    let network = Network::new().await;
    let admin = network.admin();
    let refused = network.send(None, get("/api/v1/nodes")).await;
    assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(network.send(None, get("/healthz")).await.status(), StatusCode::OK);
    assert_eq!(network.send(Some(&admin), get("/api/v1/nodes")).await.status(), StatusCode::OK);
    let joe = network.ca.leaf(network.dir.path(), "joe", &Usage::client("joe", &["devs"])).unwrap();
    let denied = network.send(Some(&joe), get("/api/v1/nodes")).await;
    assert_eq!(denied.status(), StatusCode::FORBIDDEN);
    assert!(text(denied).await.contains(r#"User \"joe\" cannot list resource \"nodes\""#));
    let stream = network.connect(Some(&admin), "h2").await;
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let request = Request::get("https://x/api/v1/nodes").body(Empty::<Bytes>::new()).unwrap();
    let response = sender.send_request(request).await.unwrap();
    assert_eq!((response.status(), response.version()), (StatusCode::OK, http::Version::HTTP_2));
    // Paths of others are asked before anyone is.
    assert_eq!(text(network.send(None, get("/v1-join/ca")).await).await, "the CA");
    // Stopping ends all, also this open connection.
    network.stop.cancel();
    network.tasks.close();
    tokio::time::timeout(std::time::Duration::from_secs(15), network.tasks.wait()).await.expect("all tasks end");
}

/// Answers as a kubelet does: logs, a refusal, and an upgraded stream that echoes.
async fn kubelet(mut request: Request<Incoming>) -> Result<Response<crate::Body>, std::convert::Infallible> {
    let target = request.uri().to_string();
    if request.headers().contains_key(header::UPGRADE) {
        let upgrade = hyper::upgrade::on(&mut request);
        tokio::spawn(async move {
            let mut stream = TokioIo::new(upgrade.await.unwrap());
            stream.write_all(target.as_bytes()).await.unwrap();
            let mut buffer = [0; 64];
            while let Ok(read @ 1..) = stream.read(&mut buffer).await {
                stream.write_all(&buffer[..read]).await.unwrap();
            }
        });
        let answer = Response::builder()
            .status(101)
            .header(header::CONNECTION, "Upgrade")
            .header(header::UPGRADE, "websocket")
            .header("sec-websocket-protocol", request.headers()["sec-websocket-protocol"].clone());
        return Ok(answer.body(full(Bytes::new())).unwrap());
    }
    if target.contains("follow") {
        let line = futures::stream::iter([Ok::<_, tower::BoxError>(http_body::Frame::data(Bytes::from("a line\n")))]);
        let endless = line.chain(futures::stream::pending());
        return Ok(Response::new(http_body_util::StreamBody::new(endless).boxed_unsync()));
    }
    let (code, body) = match target.contains("previous") {
        true => (400, "previous terminated container \"c\" in pod \"p\" not found"),
        false => (200, "a line\n"),
    };
    Ok(Response::builder().status(code).body(full(body)).unwrap())
}

#[tokio::test]
async fn streams_reach_the_kubelet() {
    let network = Network::new().await;
    let listener = TcpListener::bind((MACHINE, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let leaf = server_leaf(&network.ca, network.dir.path(), "kubelet");
    let tls =
        tls::server(&leaf, network.ca.certificate_pem(), tls::ClientCertificates::Required, &["http/1.1"]).unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let stream = tokio_rustls::TlsAcceptor::from(tls.clone()).accept(stream).await.unwrap();
            let connection =
                hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(kubelet));
            tokio::spawn(connection.with_upgrades());
        }
    });
    network.json("POST", "/api/v1/namespaces", &json!({"metadata": {"name": "n"}})).await;
    network.json("POST", "/api/v1/namespaces/n/serviceaccounts", &json!({"metadata": {"name": "default"}})).await;
    let node = json!({"metadata": {"name": "n1"}, "status": {"addresses": [{"type": "InternalIP", "address": MACHINE}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": port}}}});
    network.json("POST", "/api/v1/nodes", &node).await;
    network.json("PUT", "/api/v1/nodes/n1/status", &node).await;
    let pod =
        json!({"metadata": {"name": "p"}, "spec": {"nodeName": "n1", "containers": [{"name": "c", "image": "x"}]}});
    network.json("POST", "/api/v1/namespaces/n/pods", &pod).await;

    let admin = network.admin();
    let log = network.send(Some(&admin), get("/api/v1/namespaces/n/pods/p/log")).await;
    assert_eq!((log.status(), log.headers()["content-type"].to_str().unwrap()), (StatusCode::OK, "text/plain"));
    assert_eq!(text(log).await, "a line\n");
    let refused = network.send(Some(&admin), get("/api/v1/namespaces/n/pods/p/log?previous=true")).await;
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
    assert!(text(refused).await.contains(r#"previous terminated container \"c\" in pod \"p\" not found"#));

    let request = Request::get("/api/v1/namespaces/n/pods/p/exec?command=sh&stdin=true&stdout=true&container=c")
        .header("host", "x")
        .header(header::CONNECTION, "Upgrade")
        .header(header::UPGRADE, "websocket")
        .header("sec-websocket-protocol", "v5.channel.k8s.io");
    let mut response = network.send(Some(&admin), request.body(Full::default()).unwrap()).await;
    assert_eq!(response.status(), StatusCode::SWITCHING_PROTOCOLS);
    assert_eq!(response.headers()["sec-websocket-protocol"], "v5.channel.k8s.io");
    let mut stream = TokioIo::new(hyper::upgrade::on(&mut response).await.unwrap());
    let mut greeting = vec![0; "/exec/n/p/c?command=sh&stdin=true&stdout=true".len()];
    stream.read_exact(&mut greeting).await.unwrap();
    assert_eq!(String::from_utf8(greeting).unwrap(), "/exec/n/p/c?command=sh&stdin=true&stdout=true");
    stream.write_all(b"ping").await.unwrap();
    let mut echo = [0; 4];
    stream.read_exact(&mut echo).await.unwrap();
    assert_eq!(&echo, b"ping");
    for (offered, chosen, want) in [
        ("binary.k8s.io", Some("binary.k8s.io"), Message::binary("a line\n")),
        ("x, base64.binary.k8s.io", Some("base64.binary.k8s.io"), Message::text("YSBsaW5lCg==")),
        ("", None, Message::binary("a line\n")),
    ] {
        let mut request = "wss://x/api/v1/namespaces/n/pods/p/log".into_client_request().unwrap();
        if !offered.is_empty() {
            request.headers_mut().insert(header::SEC_WEBSOCKET_PROTOCOL, offered.parse().unwrap());
        }
        let stream = network.connect(Some(&admin), "http/1.1").await;
        let (mut socket, answer) = tokio_tungstenite::client_async(request, stream).await.unwrap();
        let protocol = answer.headers().get(header::SEC_WEBSOCKET_PROTOCOL).map(|p| p.to_str().unwrap());
        assert_eq!(protocol, chosen);
        assert_eq!(socket.next().await.unwrap().unwrap(), want);
        assert!(matches!(socket.next().await, Some(Ok(Message::Close(_)))), "the log has ended");
    }
    // The kubelet through the node, with what stands behind it in the URL.
    let proxied = network.send(Some(&admin), get("/api/v1/nodes/n1/proxy/stats/summary/?x=y")).await;
    assert_eq!(text(proxied).await, "a line\n");
    // A followed log ends with the server.
    let mut followed = network.send(Some(&admin), get("/api/v1/namespaces/n/pods/p/log?follow=true")).await;
    assert_eq!(followed.frame().await.unwrap().unwrap().into_data().unwrap(), "a line\n");
    network.stop.cancel();
    let end = tokio::time::timeout(std::time::Duration::from_secs(5), followed.frame()).await.expect("in time");
    assert!(end.is_none());
}

#[tokio::test]
async fn pods_are_reached_by_proxy() {
    let network = Network::new().await;
    let listener = TcpListener::bind((MACHINE, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let web = axum::Router::new().fallback(|request: axum::extract::Request| async move {
        let credentials = request.headers().contains_key("authorization");
        format!("{} {} {credentials}", request.method(), request.uri())
    });
    let service = hyper_util::service::TowerToHyperService::new(web);
    let secure = TcpListener::bind((MACHINE, 0)).await.unwrap();
    let secure_port = secure.local_addr().unwrap().port();
    // Of a CA that nobody knows.
    let dir = tempfile::tempdir().unwrap();
    let stranger = Ca::load_or_create(dir.path(), "ca").unwrap();
    let leaf = server_leaf(&stranger, dir.path(), "web");
    let alpn = ["http/1.1"];
    let tls = tls::server(&leaf, stranger.certificate_pem(), tls::ClientCertificates::Optional, &alpn).unwrap();
    let serving = hyper::server::conn::http1::Builder::new();
    tokio::spawn(async move {
        loop {
            tokio::select! {
                accepted = listener.accept() => {
                    tokio::spawn(serving.serve_connection(TokioIo::new(accepted.unwrap().0), service.clone()));
                }
                accepted = secure.accept() => {
                    let stream = tokio_rustls::TlsAcceptor::from(tls.clone()).accept(accepted.unwrap().0).await.unwrap();
                    tokio::spawn(serving.serve_connection(TokioIo::new(stream), service.clone()));
                }
            }
        }
    });
    network.json("POST", "/api/v1/namespaces", &json!({"metadata": {"name": "n"}})).await;
    network.json("POST", "/api/v1/namespaces/n/serviceaccounts", &json!({"metadata": {"name": "default"}})).await;
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "x", "ports": [{"name": "web", "containerPort": port}]}]}});
    network.json("POST", "/api/v1/namespaces/n/pods", &pod).await;
    let status = json!({"metadata": {"name": "p"}, "spec": pod["spec"], "status": {"podIP": MACHINE, "podIPs": [{"ip": MACHINE}]}});
    network.json("PUT", "/api/v1/namespaces/n/pods/p/status", &status).await;
    let service = json!({"metadata": {"name": "s"}, "spec": {"ports": [{"name": "http", "port": 80}]}});
    network.json("POST", "/api/v1/namespaces/n/services", &service).await;
    let admin = network.admin();
    let none = network.send(Some(&admin), get("/api/v1/namespaces/n/services/s/proxy/")).await;
    assert_eq!(none.status(), StatusCode::SERVICE_UNAVAILABLE);
    for (method, uri, want) in [
        ("GET", "pods/p/proxy/".to_owned(), "GET / false"),
        ("GET", "pods/p:web/proxy/a/b/?c=d%20e".to_owned(), "GET /a/b/?c=d%20e false"),
        ("POST", "pods/p/proxy?a=b".to_owned(), "POST /?a=b false"),
        ("GET", format!("pods/https:p:{secure_port}/proxy/x"), "GET /x false"),
    ] {
        let mut request = get(&format!("/api/v1/namespaces/n/{uri}"));
        *request.method_mut() = method.parse().unwrap();
        request.headers_mut().insert(header::AUTHORIZATION, http::HeaderValue::from_static("Basic x"));
        let answer = network.send(Some(&admin), request).await;
        assert_eq!(text(answer).await, want, "{uri}");
    }
    // Relative links would lead past what has no slash at its end.
    let moved = network.send(Some(&admin), get("/api/v1/namespaces/n/pods/p/proxy?a=b")).await;
    assert_eq!(moved.status(), StatusCode::MOVED_PERMANENTLY);
    assert_eq!(moved.headers()[header::LOCATION], "/api/v1/namespaces/n/pods/p/proxy/?a=b");
}
