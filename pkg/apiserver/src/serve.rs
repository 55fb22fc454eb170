//! HTTPS: TLS with optional client certificates, HTTP/1.1 and HTTP/2 on one port.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use api::UserInfo;
use bytes::Bytes;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
};
use tokio_rustls::server::TlsStream;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::BoxError;
use x509_parser::prelude::{FromDer as _, X509Certificate};

use crate::{body::Body, pipeline, server::Server};

/// A client that does not finish its handshake in this time is dropped.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// An HTTP/1.1 connection on which the head of the next request is not complete after this time is closed, be it idle
/// or slow.
const NEXT_HEAD: Duration = Duration::from_secs(90);
/// At the end, requests under way may take this long.
const GRACE: Duration = Duration::from_secs(10);
/// A connection on which no request is under way for so long is closed: HTTP/2 has no limit of its own.
const IDLE: Duration = Duration::from_secs(180);
/// A peer that does not answer this often is taken for gone.
const ALIVE: Duration = Duration::from_secs(30);
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
    let count = Arc::new(watch::Sender::new(0));
    let mut under_way = count.subscribe();
    let service = hyper::service::service_fn(move |mut request: http::Request<hyper::body::Incoming>| {
        if let Some(user) = &user {
            request.extensions_mut().insert(user.clone());
        }
        let (server, busy) = (server.clone(), Busy::new(&count));
        async move {
            let response = pipeline::handle(server, request).await;
            Ok::<_, std::convert::Infallible>(response.map(|body| Held { body, _busy: busy }))
        }
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(NEXT_HEAD);
    builder.http2().timer(TokioTimer::new()).max_concurrent_streams(STREAMS).keep_alive_interval(ALIVE);
    let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = async { tokio::select! { () = stop.cancelled() => {}, () = idle(&mut under_way) => {} } } => {
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

/// Returns once nothing was under way for [`IDLE`].
async fn idle(under_way: &mut watch::Receiver<usize>) {
    loop {
        let free = *under_way.borrow_and_update() == 0;
        let limit = if free { IDLE } else { Duration::MAX };
        match tokio::time::timeout(limit, under_way.changed()).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => return,
        }
    }
}

/// A request that is under way; over when dropped.
struct Busy(Arc<watch::Sender<usize>>);

impl Busy {
    fn new(count: &Arc<watch::Sender<usize>>) -> Self {
        count.send_modify(|count| *count += 1);
        Busy(count.clone())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

/// A body whose request is under way until its end.
struct Held {
    body: Body,
    _busy: Busy,
}

impl http_body::Body for Held {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, BoxError>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
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
