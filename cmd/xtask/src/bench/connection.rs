//! The load generator's HTTP client: one HTTP/2 connection over TLS, nothing retried, nothing
//! decoded, so that what is measured is the server.

use std::{fs, net::SocketAddr, path::Path, sync::Arc};

use anyhow::{Context as _, bail};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http::{Method, Request, Response, header};
use http_body_util::{BodyExt as _, Full};
use hyper::{body::Incoming, client::conn::http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject as _};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Large enough that flow control never stops a list.
const WINDOW: u32 = 16 << 20;

/// Where a cluster is, and how to get in.
pub struct Cluster {
    url: String,
    address: SocketAddr,
    tls: TlsConnector,
}

impl Cluster {
    /// From the kubeconfig of a server (kinglet writes it as JSON), whose address must be numeric.
    pub fn from_kubeconfig(path: &Path) -> anyhow::Result<Self> {
        let config: Value = serde_json::from_slice(&fs::read(path)?)?;
        let text = |pointer: &str| {
            let found = config.pointer(pointer).and_then(Value::as_str);
            found.with_context(|| format!("{}: no {pointer}", path.display()))
        };
        let pem = |pointer: &str| anyhow::Ok(BASE64_STANDARD.decode(text(pointer)?)?);
        let url = text("/clusters/0/cluster/server")?.to_owned();
        let address = url.strip_prefix("https://").context("not an https address")?.parse()?;
        let mut roots = RootCertStore::empty();
        for authority in CertificateDer::pem_slice_iter(&pem("/clusters/0/cluster/certificate-authority-data")?) {
            roots.add(authority?)?;
        }
        let chain = pem("/users/0/user/client-certificate-data")?;
        let chain = CertificateDer::pem_slice_iter(&chain).collect::<Result<Vec<_>, _>>()?;
        let key = PrivateKeyDer::from_pem_slice(&pem("/users/0/user/client-key-data")?)?;
        let mut tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_client_auth_cert(chain, key)?;
        tls.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Cluster { url, address, tls: TlsConnector::from(Arc::new(tls)) })
    }

    /// A new connection.
    pub async fn connect(&self) -> anyhow::Result<Connection> {
        let stream = TcpStream::connect(self.address).await?;
        stream.set_nodelay(true)?;
        let stream = self.tls.connect(ServerName::from(self.address.ip()), stream).await?;
        let (sender, driver) = http2::Builder::new(TokioExecutor::new())
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW)
            .handshake(TokioIo::new(stream))
            .await?;
        // It ends with the last sender; errors reach whoever waits for an answer.
        tokio::spawn(driver);
        Ok(Connection { sender, url: self.url.clone() })
    }

    /// Several connections.
    pub async fn connections(&self, count: usize) -> anyhow::Result<Vec<Connection>> {
        let mut connections = Vec::with_capacity(count);
        for _ in 0..count {
            connections.push(self.connect().await?);
        }
        Ok(connections)
    }
}

/// A connection; clones share it.
#[derive(Clone)]
pub struct Connection {
    sender: http2::SendRequest<Full<Bytes>>,
    url: String,
}

impl Connection {
    /// Sends a request; answers once the head of a successful response is there.
    pub async fn send(&self, method: Method, path: &str, body: Bytes) -> anyhow::Result<Response<Incoming>> {
        let content_type = if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header(header::CONTENT_TYPE, content_type)
            .header(header::ACCEPT, "application/json")
            .body(Full::new(body))?;
        let response = self.sender.clone().send_request(request).await?;
        if !response.status().is_success() {
            let status = response.status();
            let text = response.into_body().collect().await?.to_bytes();
            bail!("{path}: {status}: {}", String::from_utf8_lossy(&text));
        }
        Ok(response)
    }

    /// Sends a request; answers with the whole body of a successful response.
    pub async fn call(&self, method: Method, path: &str, body: impl Into<Bytes>) -> anyhow::Result<Bytes> {
        Ok(self.send(method, path, body.into()).await?.into_body().collect().await?.to_bytes())
    }

    /// An object or a list.
    pub async fn get(&self, path: &str) -> anyhow::Result<Value> {
        Ok(serde_json::from_slice(&self.call(Method::GET, path, Bytes::new()).await?)?)
    }

    /// Makes an object.
    pub async fn create(&self, path: &str, object: &Value) -> anyhow::Result<Value> {
        Ok(serde_json::from_slice(&self.call(Method::POST, path, object.to_string()).await?)?)
    }

    /// Makes an object that may be there already.
    pub async fn ensure(&self, path: &str, object: &Value) -> anyhow::Result<()> {
        match self.create(path, object).await {
            Err(error) if !error.to_string().contains("AlreadyExists") => Err(error),
            _ => Ok(()),
        }
    }

    /// Follows `path` (a list) from now on, or from its present state with `from_start`.
    pub async fn watch(&self, path: &str, from_start: bool) -> anyhow::Result<Events> {
        let list = self.get(&format!("{path}{}limit=1", joint(path))).await?;
        let version =
            list.pointer("/metadata/resourceVersion").and_then(Value::as_str).context("no resourceVersion")?;
        let version = if from_start { "0" } else { version };
        let query = format!("{path}{}watch=true&resourceVersion={version}", joint(path));
        let response = self.send(Method::GET, &query, Bytes::new()).await?;
        Ok(Events { body: response.into_body(), buffer: Vec::new() })
    }
}

fn joint(path: &str) -> char {
    if path.contains('?') { '&' } else { '?' }
}

/// A watch.
pub struct Events {
    body: Incoming,
    buffer: Vec<u8>,
}

impl Events {
    /// The next event's line, as it came.
    pub async fn line(&mut self) -> anyhow::Result<Vec<u8>> {
        let mut searched = 0;
        loop {
            if let Some(end) = self.buffer[searched..].iter().position(|&b| b == b'\n') {
                let rest = self.buffer.split_off(searched + end + 1);
                return Ok(std::mem::replace(&mut self.buffer, rest));
            }
            searched = self.buffer.len();
            let frame = self.body.frame().await.context("the watch has ended")??;
            if let Ok(data) = frame.into_data() {
                self.buffer.extend_from_slice(&data);
            }
        }
    }

    /// Waits for an event whose object is as wanted.
    pub async fn until(&mut self, mut wanted: impl FnMut(&str, &Value) -> bool) -> anyhow::Result<()> {
        loop {
            let event: Value = serde_json::from_slice(&self.line().await?)?;
            let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
            if kind == "ERROR" {
                bail!("watch: {event}");
            }
            if wanted(kind, &event["object"]) {
                return Ok(());
            }
        }
    }
}
