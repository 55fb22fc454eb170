//! Joining a cluster: an agent that knows an address and a token becomes a node with certificates.
//!
//! Flow: one TLS connection, in which the token's CA is found in the server's chain and the leaf
//! checked against it → `POST /kinglet/v1/join` with the token's secret and two public keys →
//! certificates for the kubelet's two roles, and the settings of the cluster.
//!
//! Guarantees: private keys stay here; nothing is sent before the server has proved to be the
//! token's; the answer is kept on disk, so that a node which has joined starts while the server is
//! away.

use std::{net::IpAddr, path::Path, time::Duration};

use client::HttpsConnector;
use http::{Request, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use pki::{KeyAndCertificate, Token, TokenError};
use serde::{Deserialize, Serialize};

/// Where the server takes requests to join.
pub const PATH: &str = "/kinglet/v1/join";

/// What an agent sends.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JoinRequest {
    /// The name the node wants.
    pub node_name: String,
    /// Addresses for the certificate of its kubelet.
    pub addresses: Vec<IpAddr>,
    /// Public key (PEM) for the kubelet as a client.
    pub client_key: String,
    /// Public key (PEM) for the kubelet as a server.
    pub serving_key: String,
}

/// What it gets.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JoinResponse {
    /// Certificate (PEM) of `system:node:NAME`.
    pub client_certificate: String,
    /// Certificate (PEM) of the kubelet's server.
    pub serving_certificate: String,
    /// Common to all nodes.
    pub cluster: ClusterSettings,
}

/// Settings that all nodes of a cluster share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterSettings {
    /// Range of pod addresses.
    pub cluster_cidr: String,
    /// Range of service addresses.
    pub service_cidr: String,
    /// Address of the cluster's DNS.
    pub cluster_dns: IpAddr,
    /// DNS domain.
    pub cluster_domain: String,
}

/// A node's identity.
#[derive(Clone)]
pub struct Identity {
    /// The cluster's CA (PEM).
    pub ca: String,
    /// `system:node:NAME`.
    pub client: KeyAndCertificate,
    /// The kubelet's server.
    pub serving: KeyAndCertificate,
}

/// Why a node cannot join.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The token is not for this server.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// The secret is not the server's.
    #[error("the server refuses the token: its secret is wrong; copy the whole line of /etc/kinglet/token on the server")]
    Secret,
    /// The server said no.
    #[error("the server refuses this node: {0}")]
    Refused(String),
    /// The server cannot be reached now; worth another try.
    #[error("cannot reach {server}: {message}")]
    Unreachable {
        /// As given.
        server: String,
        /// Why.
        message: String,
    },
    /// The answer makes no sense.
    #[error("{server} does not answer as a Kinglet server: {message}")]
    Answer {
        /// As given.
        server: String,
        /// Why.
        message: String,
    },
    /// `--server` is no address.
    #[error("{0:?} is not the address of a server; it should look like https://HOST:6443")]
    Address(String),
    /// Keys on disk.
    #[error(transparent)]
    Pki(#[from] pki::Error),
}

/// Joins, or takes what an earlier join has left in `dir` if the server cannot be reached.
pub async fn join(
    server: &Uri,
    token: &Token,
    node_name: &str,
    addresses: Vec<IpAddr>,
    dir: &Path,
) -> Result<(Identity, ClusterSettings), JoinError> {
    let (client_key, client_public) = pki::public_key_pem(&dir.join("kubelet-client.key"))?;
    let (serving_key, serving_public) = pki::public_key_pem(&dir.join("kubelet.key"))?;
    let request = JoinRequest {
        node_name: node_name.to_owned(),
        addresses,
        client_key: client_public,
        serving_key: serving_public,
    };
    let answer_file = dir.join("join.json");
    let mut pause = Duration::from_millis(250);
    let (ca, answer) = loop {
        match ask(server, token, &request).await {
            Ok((ca, answer)) => {
                let kept = Kept { request: request.clone(), ca: ca.clone(), answer: answer.clone() };
                pki::write_secret(&answer_file, &serde_json::to_string(&kept).unwrap_or_default())?;
                break (ca, answer);
            }
            Err(error @ JoinError::Unreachable { .. }) => {
                if let Some(kept) = Kept::read(&answer_file).filter(|kept| kept.fits(&request)) {
                    tracing::info!(%error, "starting as the node that joined before");
                    break (kept.ca, kept.answer);
                }
                tracing::info!(%error, "the server is not there yet, trying again");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(10));
            }
            Err(error) => return Err(error),
        }
    };
    let client = KeyAndCertificate { key_pem: client_key, certificate_pem: answer.client_certificate };
    let serving = KeyAndCertificate { key_pem: serving_key, certificate_pem: answer.serving_certificate };
    Ok((Identity { ca, client, serving }, answer.cluster))
}

/// The last answer, with the question that it answers.
#[derive(Serialize, Deserialize)]
struct Kept {
    request: JoinRequest,
    ca: String,
    answer: JoinResponse,
}

impl Kept {
    fn read(path: &Path) -> Option<Self> {
        serde_json::from_str(&pki::read(path).ok()?).ok()
    }

    fn fits(&self, request: &JoinRequest) -> bool {
        self.request.node_name == request.node_name && self.request.client_key == request.client_key
    }
}

async fn ask(server: &Uri, token: &Token, request: &JoinRequest) -> Result<(String, JoinResponse), JoinError> {
    let unreachable = |e: &dyn std::error::Error| JoinError::Unreachable { server: server.to_string(), message: chain(e) };
    let wrong = |message: String| JoinError::Answer { server: server.to_string(), message };
    let host = match (server.scheme_str(), server.host()) {
        (Some("https"), Some(host)) => host,
        _ => return Err(JoinError::Address(server.to_string())),
    };
    let (tls, learned) = pki::tls::joining(token)?;
    let connected = HttpsConnector::new(tls).http1_only().connect(host, server.port_u16().unwrap_or(443)).await;
    let ca = match (learned.get(), &connected) {
        (Some(Err(error)), _) => return Err(error.clone().into()),
        (_, Err(error)) => return Err(unreachable(error)),
        (Some(Ok(ca)), _) => ca.clone(),
        (None, Ok(_)) => return Err(wrong("it shows no certificate".to_owned())),
    };
    let stream = connected.map_err(|e| unreachable(&e))?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|e| unreachable(&e))?;
    let connection = tokio::spawn(connection);
    let body = serde_json::to_vec(request).map_err(|e| wrong(e.to_string()))?;
    let request = Request::post(PATH)
        .header(header::HOST, server.authority().map_or("", |a| a.as_str()))
        .header(header::AUTHORIZATION, format!("Bearer {}", token.secret()))
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::new(bytes::Bytes::from(body)))
        .map_err(|e| wrong(e.to_string()))?;
    let response = sender.send_request(request).await.map_err(|e| unreachable(&e))?;
    let status = response.status();
    let body = response.into_body().collect().await.map_err(|e| unreachable(&e))?.to_bytes();
    connection.abort();
    match status {
        StatusCode::OK => Ok((ca, serde_json::from_slice(&body).map_err(|e| wrong(e.to_string()))?)),
        StatusCode::UNAUTHORIZED => Err(JoinError::Secret),
        StatusCode::FORBIDDEN => Err(JoinError::Refused(String::from_utf8_lossy(&body).into_owned())),
        StatusCode::SERVICE_UNAVAILABLE => {
            Err(JoinError::Unreachable { server: server.to_string(), message: "it is still starting".to_owned() })
        }
        other => Err(wrong(format!("{other}: {}", String::from_utf8_lossy(&body)))),
    }
}

/// An error with its sources, on one line.
fn chain(error: &dyn std::error::Error) -> String {
    let sources = std::iter::successors(Some(error), |e| e.source());
    sources.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
