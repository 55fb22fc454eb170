//! The server on port 10250: logs, exec and the like, for the API server and administrators only.
//!
//! Guarantees: TLS verifies a client's certificate against the cluster's CA, and only the API server's identity or a
//! member of `system:masters` gets an answer.

pub mod auth;
pub mod channels;
pub mod forward;
pub mod logs;
pub mod stats;
pub mod stream;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{any, get};
use client::{Informer, ObjectKey};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use k8s_openapi::api::core::v1::Pod;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt as _;

use crate::Error;
use crate::config::Context;
use crate::runtime::Runtime;

/// A client that does not finish its handshake in this time is cut off.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// What the handlers share.
#[derive(Clone)]
pub struct Shared {
    /// The kubelet.
    pub ctx: Arc<Context>,
    /// The pods of this node.
    pub pods: Informer<Pod>,
}

impl Shared {
    /// A pod of this node, or the answer that there is none.
    pub fn pod(&self, namespace: &str, name: &str) -> Result<Arc<Pod>, Answer> {
        let found = self.pods.get(&ObjectKey::new(namespace, name));
        found.ok_or_else(|| Answer(StatusCode::NOT_FOUND, format!("pod \"{name}\" not found")))
    }

    /// The runtime.
    pub fn runtime(&self) -> &Runtime {
        &self.ctx.runtime
    }
}

/// An answer in words.
#[derive(Debug)]
pub struct Answer(pub StatusCode, pub String);

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        (self.0, self.1).into_response()
    }
}

/// Takes the port.
pub async fn listen(address: SocketAddr) -> Result<TcpListener, Error> {
    TcpListener::bind(address).await.map_err(|source| Error::Listen { address, source })
}

fn router(shared: Shared) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok" }))
        .route("/pods", get(pods))
        .route("/pods/", get(pods))
        .route("/containerLogs/{namespace}/{pod}/{container}", get(logs::serve))
        .route("/exec/{namespace}/{pod}/{container}", get(stream::exec).post(stream::exec))
        .route("/attach/{namespace}/{pod}/{container}", get(stream::attach).post(stream::attach))
        .route("/portForward/{namespace}/{pod}", get(stream::port_forward).post(stream::port_forward))
        .route("/stats/summary", get(stats::summary))
        .route("/metrics", get(stats::metrics))
        .route("/metrics/resource", get(stats::resource))
        .route("/{*rest}", any(unknown))
        .with_state(shared)
}

async fn unknown(Path(rest): Path<String>) -> Answer {
    Answer(StatusCode::NOT_FOUND, format!("404 page not found: /{rest}"))
}

async fn pods(State(shared): State<Shared>) -> Json<serde_json::Value> {
    let items: Vec<_> = shared.pods.list().iter().filter_map(|p| serde_json::to_value(&**p).ok()).collect();
    Json(json!({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": items}))
}

/// Serves until the end.
pub async fn serve(ctx: Arc<Context>, listener: TcpListener, pods: Informer<Pod>) {
    let router = router(Shared { ctx: ctx.clone(), pods });
    loop {
        let accepted = tokio::select! {
            () = ctx.stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                let (ctx, router) = (ctx.clone(), router.clone());
                let tasks = ctx.tasks.clone();
                tasks.spawn(async move {
                    let stop = ctx.stop.clone();
                    stop.run_until_cancelled(connection(&ctx, stream, peer, router)).await;
                });
            }
            Err(error) => {
                tracing::info!(%error, "connection not accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn connection(ctx: &Context, stream: TcpStream, peer: SocketAddr, router: Router) {
    let acceptor = TlsAcceptor::from(ctx.config.serving.load_full());
    let stream = match tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return tracing::debug!(%error, %peer, "handshake failed"),
        Err(_) => return tracing::debug!(%peer, "handshake not finished"),
    };
    let caller = stream.get_ref().1.peer_certificates().and_then(|c| c.first()).and_then(|c| auth::caller(c));
    let service = hyper::service::service_fn(move |request: Request<hyper::body::Incoming>| {
        let (router, caller) = (router.clone(), caller.clone());
        async move {
            match auth::authorize(caller.as_ref(), request.uri().path()) {
                Ok(()) => router.oneshot(request.map(Body::new)).await,
                Err(answer) => Ok(answer.into_response()),
            }
        }
    });
    let served =
        auto::Builder::new(TokioExecutor::new()).serve_connection_with_upgrades(TokioIo::new(stream), service).await;
    if let Err(error) = served {
        tracing::debug!(error = %error, %peer, "connection ended");
    }
}

#[cfg(test)]
mod tests;
