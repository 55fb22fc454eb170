//! The API server: one pipeline for all kinds, over a watch cache, over a store.
//!
//! The map: [`serve`] takes connections, [`pipeline`] leads a request through its stages,
//! [`verbs`] are the verbs, [`cache`] holds what is served, [`admission`] and [`auth`] say what may
//! be, [`crd`] makes rows of definitions, [`reply`] writes answers. What differs from kind to kind is in `api`'s table of kinds.

pub mod admission;
mod api_services;
pub mod auth;
pub mod body;
pub mod cache;
pub mod call;
mod components;
mod compress;
mod connect;
pub mod crd;
mod flow;
pub mod keys;
mod metrics;
pub mod negotiate;
mod nonresource;
pub mod pipeline;
pub mod protobuf;
mod proxy;
pub mod query;
pub mod reply;
pub mod request_info;
mod reviews;
mod serve;
pub mod server;
mod service_ips;
mod service_ports;
mod service_repair;
pub mod stored;
mod table;
#[cfg(test)]
mod tests;
mod token;
pub mod verbs;
mod websocket;

use std::{
    convert::Infallible,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use api::Kinds;
use bytes::Bytes;
use http::{Request, Response};
use store::Store;
use tokio::net::TcpListener;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::BoxError;

pub use admission::ServiceCidr;
pub use body::Body;
pub use nonresource::{GIT_VERSION, version};
pub use pipeline::Extra;
pub use serve::accept as accept_tls;
use server::Server;

/// How a server is set up.
pub struct Config {
    /// Where objects live.
    pub store: Arc<dyn Store>,
    /// What is served.
    pub kinds: Kinds,
    /// Addresses of Services.
    pub service_cidr: ServiceCidr,
    /// Where clients reach the server.
    pub advertise: SocketAddr,
    /// Key that signs service account tokens: PKCS#8 in PEM, P-256 or RSA.
    pub service_account_key: String,
    /// `iss` and default audience of the tokens, e.g. `https://kubernetes.default.svc.cluster.local`.
    pub service_account_issuer: String,
    /// Name of the node that runs in this process; empty for none.
    pub own_node: String,
    /// TLS towards kubelets: with a client certificate that they let in.
    pub kubelet_client: Arc<rustls::ClientConfig>,
    /// For HTTPS to pods, whose certificates nobody vouches for: as upstream, they are not verified.
    pub proxy_client: Arc<rustls::ClientConfig>,
    /// Further paths.
    pub extra: Vec<Extra>,
}

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The service account key is unusable.
    #[error("service account key")]
    Key(#[from] auth::jwt::KeyError),
    /// The store does not answer.
    #[error("the store cannot be read: {0}")]
    Store(String),
}

/// A running API server. Cheap to clone; a tower service for clients within the process, whose
/// identity is the request extension `api::UserInfo`.
#[derive(Clone)]
pub struct ApiServer {
    server: Arc<Server>,
}

impl ApiServer {
    /// Starts the server's own tasks; they end with `stop`. It answers from then on, though not on
    /// the network: see [`ApiServer::serve`].
    pub async fn start(config: Config, stop: CancellationToken, tasks: &TaskTracker) -> Result<Self, Error> {
        let signer = auth::jwt::Signer::new(&config.service_account_key, &*config.service_account_issuer)?;
        let server = Server::new(config, signer, stop.clone(), tasks.clone());
        server.caches.start_at_head().await.map_err(|status| Error::Store(status.message))?;
        tasks.spawn(server.caches.clone().follow(stop));
        crd::start(&server).await.map_err(|status| Error::Store(status.message))?;
        api_services::start(&server).await.map_err(|status| Error::Store(status.message))?;
        let (repaired, ended) = (server.clone(), server.stop.clone());
        tasks.spawn(async move { ended.run_until_cancelled(service_repair::run(repaired)).await });
        Ok(ApiServer { server })
    }

    /// Serves HTTPS on a listener until `stop`; requests under way are finished. `tls` asks for
    /// client certificates without demanding them, and verifies those that come.
    pub fn serve(
        &self,
        listener: TcpListener,
        tls: Arc<rustls::ServerConfig>,
        stop: CancellationToken,
        tasks: &TaskTracker,
    ) {
        let (server, ended) = (self.server.clone(), stop.clone());
        let serve = move |stream| serve::connection(server.clone(), stream, ended.clone());
        tasks.spawn(accept_tls(listener, tls, stop, tasks.clone(), serve));
    }
}

impl<B> tower::Service<Request<B>> for ApiServer
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let server = self.server.clone();
        Box::pin(async move { Ok(pipeline::handle(server, request).await) })
    }
}
