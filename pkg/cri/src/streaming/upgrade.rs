//! The client's side of the HTTP upgrade.

use std::net::SocketAddr;

use http::header::{CONNECTION, HOST, UPGRADE};
use http::{Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::Error;

pub(super) const SPDY: &str = "SPDY/3.1";
pub(super) const PROTOCOL: &str = "x-stream-protocol-version";
/// How much of an error's body is read.
const BODY_LIMIT: usize = 16 << 10;

/// Connects to `url` and upgrades to SPDY with the given protocol on top. The host must be an address: a runtime's
/// streaming server is on this machine, and no name is resolved.
pub(super) async fn upgrade(url: &str, protocol: &str) -> Result<TokioIo<Upgraded>, Error> {
    let uri: Uri = url.parse().map_err(|_| Error::Url(url.to_owned()))?;
    let address: SocketAddr =
        uri.authority().and_then(|host| host.as_str().parse().ok()).ok_or_else(|| Error::Url(url.to_owned()))?;
    let target = uri.path_and_query().map_or("/", |path| path.as_str());
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
    tokio::spawn(connection.with_upgrades());
    let request = Request::builder()
        .method(Method::POST)
        .uri(target)
        .header(HOST, address.to_string())
        .header(CONNECTION, "Upgrade")
        .header(UPGRADE, SPDY)
        .header(PROTOCOL, protocol)
        .body(Empty::<bytes::Bytes>::new())
        .map_err(|_| Error::Url(url.to_owned()))?;
    let response = sender.send_request(request).await.map_err(broken)?;
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        let status = response.status();
        let body = Limited::new(response.into_body(), BODY_LIMIT).collect().await;
        let body = body.map(|body| String::from_utf8_lossy(&body.to_bytes()).trim().to_owned()).unwrap_or_default();
        return Err(Error::Refused { status, body });
    }
    let chosen = response.headers().get(PROTOCOL).and_then(|value| value.to_str().ok()).map(str::to_owned);
    if chosen.as_deref() != Some(protocol) {
        return Err(Error::Protocol(format!("it wants {chosen:?} where {protocol} was asked for")));
    }
    Ok(TokioIo::new(hyper::upgrade::on(response).await.map_err(broken)?))
}

fn broken(error: hyper::Error) -> Error {
    Error::Io(std::io::Error::other(error))
}
