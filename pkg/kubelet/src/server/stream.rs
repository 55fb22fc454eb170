//! Exec, attach and port-forward: the runtime is asked for an address of its streaming server, and the two connections
//! are joined.
//!
//! A client that speaks SPDY is joined byte by byte: the runtime speaks it too. A WebSocket that tunnels SPDY
//! (port-forward) is unpacked, see `forward`. A WebSocket with channels is translated, see `channels`.

use axum::body::Body;
use axum::extract::{FromRequestParts as _, Path, RawQuery, Request, State, WebSocketUpgrade};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use cri::v1 as rt;
use http_body_util::{BodyExt as _, Empty};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::channels::Handshake;
use super::{Answer, Shared, channels, forward};
use crate::pod::state::ContainerState;
use crate::runtime::Error as RuntimeError;

/// The options of a stream as they stand in the query. Values may repeat, so the query is read by hand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Asked {
    /// The command of exec.
    pub command: Vec<String>,
    /// Which streams are wanted.
    pub stdin: bool,
    /// See `stdin`.
    pub stdout: bool,
    /// See `stdin`. With a terminal there is none.
    pub stderr: bool,
    /// With a terminal.
    pub tty: bool,
}

impl Asked {
    /// Reads a query. `input`, `output` and `error` are the names that the kubelet's own API has.
    pub fn parse(query: &str) -> Self {
        let mut asked = Asked::default();
        for (key, value) in pairs(query) {
            let on = !matches!(value.as_str(), "" | "0" | "false");
            match key {
                "command" => asked.command.push(value),
                "stdin" | "input" => asked.stdin |= on,
                "stdout" | "output" => asked.stdout |= on,
                "stderr" | "error" => asked.stderr |= on,
                "tty" => asked.tty |= on,
                _ => {}
            }
        }
        asked.stderr &= !asked.tty;
        asked
    }
}

/// The names and values of a query, in its order.
pub(super) fn pairs(query: &str) -> impl Iterator<Item = (&str, String)> {
    let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.map(|(key, value)| (key, decode(value)))
}

/// Undoes percent-encoding and `+`.
fn decode(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'+' => out.push(b' '),
            b'%' => {
                let digits = [bytes.next(), bytes.next()].map(|d| d.and_then(|d| char::from(d).to_digit(16)));
                if let [Some(high), Some(low)] = digits {
                    out.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
                }
            }
            byte => out.push(byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn failed(error: RuntimeError) -> Answer {
    Answer(StatusCode::INTERNAL_SERVER_ERROR, error.message)
}

/// The id of a running container.
async fn running(shared: &Shared, namespace: &str, pod: &str, container: &str) -> Result<String, Answer> {
    let pod = shared.pod(namespace, pod)?;
    let uid = pod.metadata.uid.clone().unwrap_or_default();
    let dirs = shared.ctx.dirs(&uid);
    let runtime = shared.runtime().pod(&uid, &dirs, &mut std::collections::HashMap::new()).await.map_err(failed)?;
    let found = runtime.latest(container).filter(|c| c.state == ContainerState::Running);
    found
        .map(|c| c.id.clone())
        .ok_or_else(|| Answer(StatusCode::INTERNAL_SERVER_ERROR, format!("container not found (\"{container}\")")))
}

/// `/exec/NAMESPACE/POD/CONTAINER`.
pub async fn exec(
    State(shared): State<Shared>,
    Path((namespace, pod, container)): Path<(String, String, String)>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, Answer> {
    let asked = Asked::parse(query.as_deref().unwrap_or_default());
    let id = running(&shared, &namespace, &pod, &container).await?;
    let call = rt::ExecRequest {
        container_id: id,
        cmd: asked.command.clone(),
        tty: asked.tty,
        stdin: asked.stdin,
        stdout: asked.stdout,
        stderr: asked.stderr,
    };
    let url = shared.runtime().cri.runtime.clone().exec(call).await.map_err(|s| failed(s.into()))?.into_inner().url;
    join(&shared, &url, asked, Client::of(&shared, request).await?).await
}

/// `/attach/NAMESPACE/POD/CONTAINER`.
pub async fn attach(
    State(shared): State<Shared>,
    Path((namespace, pod, container)): Path<(String, String, String)>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, Answer> {
    let mut asked = Asked::parse(query.as_deref().unwrap_or_default());
    let id = running(&shared, &namespace, &pod, &container).await?;
    // Whether there is a terminal was decided when the container was made.
    let spec = shared.pod(&namespace, &pod)?;
    asked.tty = crate::spec::container(&spec, &container).is_some_and(|(_, c)| c.tty == Some(true));
    asked.stderr &= !asked.tty;
    let call = rt::AttachRequest {
        container_id: id,
        stdin: asked.stdin,
        tty: asked.tty,
        stdout: asked.stdout,
        stderr: asked.stderr,
    };
    let url = shared.runtime().cri.runtime.clone().attach(call).await.map_err(|s| failed(s.into()))?.into_inner().url;
    join(&shared, &url, asked, Client::of(&shared, request).await?).await
}

/// `/portForward/NAMESPACE/POD`.
pub async fn port_forward(
    State(shared): State<Shared>,
    Path((namespace, name)): Path<(String, String)>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, Answer> {
    let client = Client::of(&shared, request).await?;
    // Whoever speaks SPDY names the port with each stream.
    let ports = match &client {
        Client::WebSocket(handshake) if !tunnels(handshake) => forward::ports(query.as_deref().unwrap_or_default())?,
        _ => Vec::new(),
    };
    let pod = shared.pod(&namespace, &name)?;
    let sandboxes = shared.runtime().sandboxes(pod.metadata.uid.as_deref()).await.map_err(failed)?;
    let ready = sandboxes.into_iter().find(|s| s.state == rt::PodSandboxState::SandboxReady as i32);
    let no_sandbox = || Answer(StatusCode::INTERNAL_SERVER_ERROR, format!("pod {name} is not running"));
    let port = ports.iter().copied().map(i32::from).collect();
    let call = rt::PortForwardRequest { pod_sandbox_id: ready.ok_or_else(no_sandbox)?.id, port };
    let answer = shared.runtime().cri.runtime.clone().port_forward(call).await.map_err(|s| failed(s.into()))?;
    let url = answer.into_inner().url;
    match client {
        Client::Spdy(request) => relay(&shared, &url, request).await,
        Client::WebSocket(handshake) if tunnels(&handshake) => Ok(forward::tunnel(handshake, url)),
        Client::WebSocket(handshake) => forward::channels(handshake, &url, ports).await,
    }
}

fn tunnels(handshake: &Handshake) -> bool {
    handshake.protocols.iter().any(|protocol| protocol == forward::TUNNEL)
}

fn offers<'a>(headers: &'a HeaderMap, name: &'static str) -> impl Iterator<Item = &'a str> {
    let values = headers.get_all(name).into_iter().filter_map(|v| v.to_str().ok());
    values.flat_map(|v| v.split(',')).map(str::trim)
}

/// Who asks for a stream, by what is spoken.
enum Client {
    Spdy(Request),
    WebSocket(Handshake),
}

impl Client {
    async fn of(shared: &Shared, request: Request) -> Result<Self, Answer> {
        if !offers(request.headers(), "upgrade").any(|u| u.eq_ignore_ascii_case("websocket")) {
            return Ok(Client::Spdy(request));
        }
        let protocols = offers(request.headers(), "sec-websocket-protocol").map(String::from).collect();
        let (mut parts, _) = request.into_parts();
        let upgrade = WebSocketUpgrade::from_request_parts(&mut parts, &()).await;
        let upgrade = upgrade.map_err(|e| Answer(e.status(), e.body_text()))?;
        let (stop, tasks) = (shared.ctx.stop.clone(), shared.ctx.tasks.clone());
        Ok(Client::WebSocket(Handshake { upgrade, protocols, stop, tasks }))
    }
}

/// Joins a client with the command or container at `url`.
async fn join(shared: &Shared, url: &str, asked: Asked, client: Client) -> Result<Response, Answer> {
    match client {
        Client::Spdy(request) => relay(shared, url, request).await,
        Client::WebSocket(handshake) => channels::serve(handshake, url, asked).await,
    }
}

/// Sends an upgrade on to the runtime and copies bytes both ways.
async fn relay(shared: &Shared, url: &str, mut request: Request) -> Result<Response, Answer> {
    let bad = |error: &dyn std::fmt::Display| Answer(StatusCode::BAD_GATEWAY, format!("streaming server: {error}"));
    let ours = hyper::upgrade::on(&mut request);
    let (response, theirs) = ask(url, request.method().clone(), request.headers()).await.map_err(|e| bad(&e))?;
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        let (parts, body) = response.into_parts();
        let body = body.collect().await.map_err(|e| bad(&e))?.to_bytes();
        return Ok((parts.status, body).into_response());
    }
    let (parts, _) = response.into_parts();
    let stop = shared.ctx.stop.clone();
    shared.ctx.tasks.spawn(async move {
        let (Ok(ours), Ok(theirs)) = (ours.await, theirs.await) else { return };
        let (mut ours, mut theirs) = (TokioIo::new(ours), TokioIo::new(theirs));
        // A client may hold its stream for ever; the runtime goes on, and so would we.
        let copied = stop.run_until_cancelled(tokio::io::copy_bidirectional(&mut ours, &mut theirs)).await;
        if let Some(Err(error)) = copied {
            tracing::debug!(%error, "stream ended");
        }
    });
    Ok(Response::from_parts(parts, Body::empty()))
}

/// Asks the runtime's streaming server for an upgrade, with the client's headers.
pub(super) async fn ask(
    url: &str,
    method: http::Method,
    headers: &HeaderMap,
) -> Result<(http::Response<hyper::body::Incoming>, OnUpgrade), Box<dyn std::error::Error + Send + Sync>> {
    let uri: Uri = url.parse()?;
    // An address, never a name: the streaming server listens on loopback.
    let address: std::net::SocketAddr = uri.authority().ok_or("no authority in the URL")?.as_str().parse()?;
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection.with_upgrades());
    let mut request = http::Request::builder().method(method).uri(uri.path_and_query().map_or("/", |p| p.as_str()));
    for (name, value) in headers.iter().filter(|(name, _)| *name != header::HOST && *name != header::CONTENT_LENGTH) {
        request = request.header(name, value);
    }
    let request = request.header(header::HOST, address.to_string()).body(Empty::<Bytes>::new())?;
    let mut response = sender.send_request(request).await?;
    let upgrade = hyper::upgrade::on(&mut response);
    Ok((response, upgrade))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_read() {
        let asked = Asked::parse("command=sh&command=-c&command=echo+a%20b%2Bc&stdout=true&input=1&error=0&tty=false");
        assert_eq!(asked.command, ["sh", "-c", "echo a b+c"]);
        assert_eq!((asked.stdin, asked.stdout, asked.stderr, asked.tty), (true, true, false, false));
        assert!(!Asked::parse("stderr=1&tty=1").stderr, "a terminal has one output");
    }
}
