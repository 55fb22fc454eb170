//! Transports of a `kube::Client`: in process onto the API server's service, or HTTPS.

use std::time::Duration;

use api::UserInfo;
use http::{
    HeaderValue, Request, Uri,
    header::{AUTHORIZATION, USER_AGENT},
    uri::Scheme,
};
use hyper_util::{
    client::legacy::Client as HyperClient,
    rt::{TokioExecutor, TokioTimer},
};
use kube::client::Body;
use tower::{BoxError, Service, ServiceExt as _};

use crate::connect::{ClientIdentity, Error, HttpsConnector, tls_config};

/// A client that calls the API server's service directly, as `user`. The identity travels as a
/// request extension: it passes authorization, admission and audit like any other.
pub fn in_process<S, B>(service: S, user: UserInfo) -> kube::Client
where
    S: Service<Request<Body>, Response = http::Response<B>> + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = bytes::Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let service = service.map_request(move |mut request: Request<Body>| {
        request.extensions_mut().insert(user.clone());
        request
    });
    kube::Client::new(service, "default")
}

/// How a client proves who it is.
#[derive(Clone, Debug, Default)]
pub enum Credentials {
    /// Not at all.
    #[default]
    None,
    /// With a client certificate, which may be replaced while the client lives.
    Certificate(ClientIdentity),
    /// With a bearer token.
    Token(String),
}

/// Where the API server is, whom to trust, and who is asking.
#[derive(Clone, Debug)]
pub struct RemoteConfig {
    /// `https://HOST[:PORT]`; 443 if no port is given.
    pub server: Uri,
    /// Certificate authorities, PEM.
    pub ca: Vec<u8>,
    /// Of the client.
    pub credentials: Credentials,
    /// Name of the component, for the `User-Agent`.
    pub component: String,
}

/// A dead peer is noticed within these two together: watches are silent for long.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(30);
const KEEP_ALIVE_TIMEOUT: Duration = Duration::from_secs(15);

/// A client over HTTPS, with HTTP/2 where the server speaks it. Connects when first used; retries
/// are up to the caller (informers and controllers do).
pub fn remote(config: RemoteConfig) -> Result<kube::Client, Error> {
    let wrong = |reason| Error::Address { address: config.server.to_string(), reason };
    if config.server.scheme() != Some(&Scheme::HTTPS) {
        return Err(wrong("the address must begin with https://"));
    }
    let authority = config.server.authority().cloned().ok_or_else(|| wrong("the host is missing"))?;
    let (identity, token) = match &config.credentials {
        Credentials::None => (None, None),
        Credentials::Certificate(identity) => (Some(identity.clone()), None),
        Credentials::Token(token) => {
            let mut value = HeaderValue::try_from(format!("Bearer {token}"))
                .map_err(|_| wrong("the token has characters that no header may carry"))?;
            value.set_sensitive(true);
            (None, Some(value))
        }
    };
    let agent = format!("kinglet/{} ({})", env!("CARGO_PKG_VERSION"), config.component);
    let agent = HeaderValue::try_from(agent).map_err(|_| wrong("the component's name does not fit a header"))?;
    let connector = HttpsConnector::new(tls_config(&config.ca, identity)?);
    let https: HyperClient<_, Body> = HyperClient::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .http2_keep_alive_interval(KEEP_ALIVE_INTERVAL)
        .http2_keep_alive_timeout(KEEP_ALIVE_TIMEOUT)
        .build(connector);
    let service = https.map_request(move |mut request: Request<Body>| {
        let mut parts = std::mem::take(request.uri_mut()).into_parts();
        parts.scheme = Some(Scheme::HTTPS);
        parts.authority = Some(authority.clone());
        parts.path_and_query.get_or_insert_with(|| http::uri::PathAndQuery::from_static("/"));
        *request.uri_mut() = Uri::from_parts(parts).expect("scheme, authority and path are all there");
        let headers = request.headers_mut();
        headers.insert(USER_AGENT, agent.clone());
        if let Some(token) = &token {
            headers.insert(AUTHORIZATION, token.clone());
        }
        request
    });
    Ok(kube::Client::new(service, "default"))
}
