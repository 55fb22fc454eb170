//! Connections: names through hickory (never the C library's resolver, which a static binary must
//! not call), TCP, and TLS with HTTP/2 where the other side speaks it.
//!
//! Guarantees: the peer's certificate is always checked against the given authorities; a client
//! certificate that is replaced is used from the next connection on.

use std::{
    fmt,
    future::Future,
    io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use hickory_resolver::Resolver;
use http::Uri;
use hyper::rt::ReadBufCursor;
use hyper_util::{
    client::legacy::connect::{Connected, Connection},
    rt::TokioIo,
};
use parking_lot::RwLock;
use rustls::{ClientConfig, SignatureScheme, client::ResolvesClientCert, crypto::ring, sign::CertifiedKey};
use rustls_pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};
use tower::Service;

/// What keeps a connection from being made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A key or certificate that cannot be used.
    #[error(transparent)]
    Pki(#[from] pki::Error),
    /// TLS cannot be set up with what was given.
    #[error("TLS settings")]
    Tls(#[from] rustls::Error),
    /// The address of the server makes no sense.
    #[error("{address}: {reason}")]
    Address {
        /// As given.
        address: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// The name of the host is not known.
    #[error("cannot resolve {host}: {reason}")]
    Resolve {
        /// As given.
        host: String,
        /// Of the resolver.
        reason: String,
    },
    /// No address of the host could be reached.
    #[error("cannot reach {host}:{port}")]
    Connect {
        /// As given.
        host: String,
        /// As given.
        port: u16,
        /// Of the last address tried.
        #[source]
        source: io::Error,
    },
    /// The TLS handshake failed.
    #[error("TLS handshake with {host}:{port}")]
    Handshake {
        /// As given.
        host: String,
        /// As given.
        port: u16,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// For one address, TCP and TLS each.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The addresses of `host`: itself if it is one, else by DNS and `/etc/hosts`.
///
/// The system's resolver settings are read at each call: connections are rare, and a changed
/// `resolv.conf` is followed at once.
pub async fn resolve(host: &str) -> Result<Vec<IpAddr>, Error> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    if let Ok(address) = bare.parse() {
        return Ok(vec![address]);
    }
    if bare == "localhost" {
        return Ok(vec![IpAddr::from([127, 0, 0, 1])]);
    }
    let failed = |reason: String| Error::Resolve { host: bare.to_owned(), reason };
    let resolver = Resolver::builder_tokio().and_then(|b| b.build()).map_err(|e| failed(e.to_string()))?;
    let found = resolver.lookup_ip(bare).await.map_err(|e| failed(e.to_string()))?;
    Ok(found.iter().collect())
}

/// A TCP connection to the first address of `host` that answers.
pub async fn tcp(host: &str, port: u16) -> Result<TcpStream, Error> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in resolve(host).await? {
        match tokio::time::timeout(CONNECT_TIMEOUT, TcpStream::connect(SocketAddr::new(address, port))).await {
            Ok(Ok(stream)) => {
                // Small requests must not wait for acknowledgements; the connection works without.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Ok(Err(error)) => last = error,
            Err(_) => last = io::ErrorKind::TimedOut.into(),
        }
    }
    Err(Error::Connect { host: host.to_owned(), port, source: last })
}

/// A client certificate with its key that may be replaced while connections use it.
#[derive(Clone)]
pub struct ClientIdentity {
    current: Arc<RwLock<Arc<CertifiedKey>>>,
}

impl fmt::Debug for ClientIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientIdentity")
    }
}

impl ClientIdentity {
    /// From a certificate chain and a private key, both PEM.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, Error> {
        Ok(ClientIdentity { current: Arc::new(RwLock::new(Self::parse(chain, key)?)) })
    }

    /// Uses another certificate from the next connection on.
    pub fn replace(&self, chain: &[u8], key: &[u8]) -> Result<(), Error> {
        *self.current.write() = Self::parse(chain, key)?;
        Ok(())
    }

    fn parse(chain: &[u8], key: &[u8]) -> Result<Arc<CertifiedKey>, Error> {
        let (chain, key) = pki::tls::chain_and_key(chain, key)?;
        Ok(Arc::new(CertifiedKey::from_der(chain, key, &ring::default_provider())?))
    }
}

impl ResolvesClientCert for ClientIdentity {
    fn resolve(&self, _authorities: &[&[u8]], _schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        Some(self.current.read().clone())
    }

    fn has_certs(&self) -> bool {
        true
    }
}

/// TLS settings of a client that trusts `ca` (PEM) alone.
pub fn tls_config(ca: &[u8], identity: Option<ClientIdentity>) -> Result<ClientConfig, Error> {
    let config = ClientConfig::builder_with_provider(pki::tls::provider())
        .with_safe_default_protocol_versions()?
        .with_root_certificates(pki::tls::roots(ca)?);
    let mut config = match identity {
        None => config.with_no_client_auth(),
        Some(identity) => config.with_client_cert_resolver(Arc::new(identity)),
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Makes TLS connections: to be used as it is, or as the connector of a hyper client.
#[derive(Clone)]
pub struct HttpsConnector {
    tls: Arc<ClientConfig>,
    server_name: Option<ServerName<'static>>,
}

impl HttpsConnector {
    /// With settings such as [`tls_config`] makes.
    pub fn new(tls: ClientConfig) -> Self {
        HttpsConnector { tls: Arc::new(tls), server_name: None }
    }

    /// The peer must prove to be `name`, whatever it is called in the address.
    pub fn with_server_name(mut self, name: ServerName<'static>) -> Self {
        self.server_name = Some(name);
        self
    }

    /// Without HTTP/2: for protocols that upgrade the connection.
    pub fn http1_only(mut self) -> Self {
        let mut tls = (*self.tls).clone();
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        self.tls = Arc::new(tls);
        self
    }

    /// Connects.
    pub async fn connect(&self, host: &str, port: u16) -> Result<TlsStream<TcpStream>, Error> {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let name = match &self.server_name {
            Some(name) => name.clone(),
            None => ServerName::try_from(bare.to_owned())
                .map_err(|_| Error::Address { address: host.to_owned(), reason: "not a host name" })?,
        };
        let stream = tcp(host, port).await?;
        let handshake = TlsConnector::from(self.tls.clone()).connect(name, stream);
        let done = tokio::time::timeout(CONNECT_TIMEOUT, handshake).await;
        done.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())).map_err(|source| Error::Handshake {
            host: host.to_owned(),
            port,
            source,
        })
    }
}

impl Service<Uri> for HttpsConnector {
    type Response = HttpsStream;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<HttpsStream, Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connector = self.clone();
        Box::pin(async move {
            let host =
                uri.host().ok_or_else(|| Error::Address { address: uri.to_string(), reason: "the host is missing" })?;
            let stream = connector.connect(host, uri.port_u16().unwrap_or(443)).await?;
            Ok(HttpsStream(TokioIo::new(stream)))
        })
    }
}

/// A TLS connection as hyper wants it.
pub struct HttpsStream(TokioIo<TlsStream<TcpStream>>);

impl Connection for HttpsStream {
    fn connected(&self) -> Connected {
        let (_, session) = self.0.inner().get_ref();
        match session.alpn_protocol() {
            Some(b"h2") => Connected::new().negotiated_h2(),
            _ => Connected::new(),
        }
    }
}

impl hyper::rt::Read for HttpsStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl hyper::rt::Write for HttpsStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, bufs)
    }
}
