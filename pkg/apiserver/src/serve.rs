//! HTTPS: TLS with optional client certificates, HTTP/1.1 and HTTP/2 on one port.

use std::{sync::Arc, time::Duration};

use api::UserInfo;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::server::TlsStream;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use x509_parser::prelude::{FromDer as _, X509Certificate};

use crate::{pipeline, server::Server};

/// A client that does not finish its handshake in this time is dropped.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// An HTTP/1.1 connection on which the head of the next request is not complete after this time is closed, be it idle
/// or slow.
const NEXT_HEAD: Duration = Duration::from_secs(90);
/// At the end, requests under way may take this long.
const GRACE: Duration = Duration::from_secs(10);
/// HTTP/2 streams of one connection: informers have many watches.
const STREAMS: u32 = 1000;

/// Takes TLS connections until `stop`, and has `serve` serve them.
pub async fn accept<F: Future<Output = ()> + Send + 'static>(
    listener: TcpListener,
    tls: Arc<rustls::ServerConfig>,
    stop: CancellationToken,
    tasks: TaskTracker,
    serve: impl Fn(TlsStream<TcpStream>) -> F + Clone + Send + 'static,
) {
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let (serve, shaken) = (serve.clone(), handshake(stream, tls.clone(), stop.clone()));
                tasks.spawn(async move {
                    if let Some(stream) = shaken.await {
                        serve(stream).await;
                    }
                });
            }
            Err(error) => {
                // Out of file descriptors, or the client was faster: go on after a breath.
                tracing::info!(%error, "a connection could not be taken");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

async fn handshake(
    stream: TcpStream,
    tls: Arc<rustls::ServerConfig>,
    stop: CancellationToken,
) -> Option<TlsStream<TcpStream>> {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "the connection is gone already");
        return None;
    }
    let acceptor = tokio_rustls::TlsAcceptor::from(tls);
    let done = tokio::select! {
        () = stop.cancelled() => return None,
        done = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)) => done.ok()?,
    };
    done.inspect_err(|error| tracing::debug!(%error, "TLS handshake failed")).ok()
}

/// Serves one connection until its end, or until `stop`.
pub async fn connection(server: Arc<Server>, stream: TlsStream<TcpStream>, stop: CancellationToken) {
    let user = stream.get_ref().1.peer_certificates().and_then(|chain| peer(chain.first()?.as_ref()));
    let service = hyper::service::service_fn(move |mut request: http::Request<hyper::body::Incoming>| {
        if let Some(user) = &user {
            request.extensions_mut().insert(user.clone());
        }
        let server = server.clone();
        async move { Ok::<_, std::convert::Infallible>(pipeline::handle(server, request).await) }
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(NEXT_HEAD);
    builder.http2().timer(TokioTimer::new()).max_concurrent_streams(STREAMS);
    let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            match tokio::time::timeout(GRACE, connection).await {
                Ok(ended) => ended,
                Err(_) => return,
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "connection ended");
    }
}

/// The user that a client certificate names: common name and organizations.
pub fn peer(der: &[u8]) -> Option<UserInfo> {
    let (_, certificate) = X509Certificate::from_der(der).ok()?;
    let subject = certificate.subject();
    let name = subject.iter_common_name().next()?.as_str().ok()?.to_owned();
    let groups: Vec<&str> = subject.iter_organization().filter_map(|o| o.as_str().ok()).collect();
    Some(UserInfo::authenticated(name, &groups))
}
