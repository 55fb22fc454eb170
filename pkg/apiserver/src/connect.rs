//! Subresources that are answered by the kubelet of a pod's node: logs as a streamed document,
//! exec, attach and port-forward as an upgraded connection whose bytes are copied both ways.
//!
//! The kubelet speaks the stream protocols; nothing of them is understood here.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use api::{Status, Value, meta, tree, validation::FieldErrors};
use bytes::Bytes;
use futures::{StreamExt as _, TryStreamExt};
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, BodyStream, Full, Limited, StreamBody};
use hyper::{client::conn::http1::SendRequest, upgrade::OnUpgrade};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _},
    net::TcpStream,
};
use tower::BoxError;

use crate::{
    admission,
    auth::Question,
    body::{Body, full},
    call::Call,
    query::Query,
    reply::served,
    verbs::read,
    websocket,
};

const KUBELET_PORT: u16 = 10250;
/// How long a kubelet may take to take a connection.
const DIAL: Duration = Duration::from_secs(10);
/// A client that does not take the end of its stream is not waited for any longer.
pub const GOODBYE: Duration = Duration::from_secs(5);

/// Whether streams are asked for by this method.
pub fn allows(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::POST)
}

/// Answers a request for `log`, `exec`, `attach` or `portforward` of a pod.
pub async fn handle(call: &Call, method: &Method, upgrade: Option<OnUpgrade>) -> Result<Response<Body>, Status> {
    if !allows(method) {
        return Err(Status::method_not_allowed());
    }
    match &*call.info.subresource {
        "log" => check_log_options(&call.query, &call.info.name)?,
        _ => may_create(call).await?,
    }
    let pod = served(&call.kind, &read::current(call).await?)?;
    if call.info.subresource != "log" {
        admission::connected(call, &pod).await?;
    }
    let target = target(&call.info.subresource, &pod, &call.query)?;
    let node = tree::text(&pod, "spec.nodeName");
    if node.is_empty() {
        return match &*call.info.subresource {
            // Nothing was logged yet.
            "log" => Ok(plain(full(Bytes::new()))),
            _ => Err(Status::bad_request(format!("pod {} does not have a host assigned", meta::name(&pod)))),
        };
    }
    let address = kubelet(call, node).await?;
    let log = call.info.subresource == "log";
    if !log && upgrade.is_none() {
        return Err(upgrade_required());
    }
    let method = if log { &Method::GET } else { method };
    let response = ask(call, address, method, &target, !log).await?;
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        return switch(call, response, upgrade);
    }
    if response.status().is_client_error() || response.status().is_server_error() {
        return Err(failure(response).await);
    }
    if websocket::is_asked(&call.headers) {
        return websocket::answer(call, upgrade, response.into_body());
    }
    let (parts, body) = response.into_parts();
    let mut answer = plain(until_stop(call, body));
    *answer.status_mut() = parts.status;
    if let Some(media) = parts.headers.get(header::CONTENT_TYPE) {
        answer.headers_mut().insert(header::CONTENT_TYPE, media.clone());
    }
    Ok(answer)
}

/// Streams into a pod take the verb `create` whatever the method: WebSockets begin with GET, and reading is not
/// running commands. Source: KEP-4006, `AuthorizePodWebsocketUpgradeCreatePermission`.
async fn may_create(call: &Call) -> Result<(), Status> {
    if call.info.verb == "create" {
        return Ok(());
    }
    let question = Question { verb: "create".to_owned(), ..Question::of(&call.info, &call.query) };
    call.server.authorizer.check(&call.kinds, &call.user, &question).await
}

/// A body that ends with the server: followed logs have no end of their own.
pub fn until_stop(call: &Call, body: hyper::body::Incoming) -> Body {
    let stop = call.server.stop.clone();
    let frames = TryStreamExt::map_err(BodyStream::new(body), BoxError::from).take_until(stop.cancelled_owned());
    StreamBody::new(Box::pin(frames)).boxed_unsync()
}

fn plain(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    response
}

/// Options of logs that the kubelet takes by the same names.
const LOG_OPTIONS: [&str; 8] =
    ["follow", "previous", "timestamps", "sinceSeconds", "sinceTime", "tailLines", "limitBytes", "stream"];
/// The streams that logs can be had of.
const LOG_STREAMS: [&str; 3] = ["All", "Stderr", "Stdout"];
/// Options of exec and attach.
const EXEC_OPTIONS: [&str; 4] = ["stdin", "stdout", "stderr", "tty"];

/// Checks the options of the log of the pod `name`.
fn check_log_options(query: &Query, name: &str) -> Result<(), Status> {
    let mut errors = FieldErrors::default();
    let (tail, since) = (query.number("tailLines")?, query.number("sinceSeconds")?);
    let numbers = [
        ("tailLines", tail, 0, "must be greater than or equal to 0"),
        ("limitBytes", query.number("limitBytes")?, 1, "must be greater than 0"),
        ("sinceSeconds", since.filter(|_| query.text("sinceTime").is_none()), 1, "must be greater than 0"),
    ];
    for (option, number, least, detail) in numbers {
        if let Some(number) = number.filter(|number| *number < least) {
            errors.invalid(option, number, detail);
        }
    }
    if since.is_some() && query.text("sinceTime").is_some() {
        errors.forbidden("", "at most one of `sinceTime` or `sinceSeconds` may be specified");
    }
    let stream = query.text("stream").unwrap_or("All");
    if !LOG_STREAMS.contains(&stream) {
        errors.not_supported("stream", stream, &LOG_STREAMS);
    }
    if stream != "All" && tail.is_some() {
        errors.forbidden("", "`tailLines` and specific `stream` are mutually exclusive for now");
    }
    errors.refuse("", "PodLogOptions", name)
}

/// The kubelet's path and query for a request.
fn target(subresource: &str, pod: &Value, query: &Query) -> Result<String, Status> {
    let place = format!("{}/{}", meta::namespace(pod), meta::name(pod));
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    let path = match subresource {
        "log" => {
            pairs.extend(LOG_OPTIONS.iter().filter_map(|name| Some((*name, query.text(name)?))));
            format!("/containerLogs/{place}/{}", container(pod, query)?)
        }
        "exec" | "attach" => {
            pairs.extend(query.all("command").map(|command| ("command", command)));
            pairs.extend(EXEC_OPTIONS.iter().filter(|name| query.flag(name)).map(|name| (*name, "true")));
            format!("/{subresource}/{place}/{}", container(pod, query)?)
        }
        "portforward" => {
            pairs.extend(query.all("ports").map(|port| ("port", port)));
            format!("/portForward/{place}")
        }
        _ => return Err(Status::no_such_path()),
    };
    let pairs: Vec<String> = pairs.iter().map(|(key, value)| format!("{key}={}", percent_encode(value))).collect();
    Ok(if pairs.is_empty() { path } else { format!("{path}?{}", pairs.join("&")) })
}

fn percent_encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// The container that is meant: the one named, or the only one.
fn container(pod: &Value, query: &Query) -> Result<String, Status> {
    let name = meta::name(pod);
    let names = |list: &str| -> Vec<String> {
        let list = pod["spec"][list].as_array().into_iter().flatten();
        list.filter_map(|c| c["name"].as_str().map(str::to_owned)).collect()
    };
    let (containers, init, ephemeral) = (names("containers"), names("initContainers"), names("ephemeralContainers"));
    match query.text("container") {
        Some(wanted) if [&containers, &init, &ephemeral].iter().any(|list| list.iter().any(|c| c == wanted)) => {
            Ok(wanted.to_owned())
        }
        Some(wanted) => Err(Status::bad_request(format!("container {wanted} is not valid for pod {name}"))),
        None if containers.len() == 1 => Ok(containers[0].clone()),
        None if containers.is_empty() => {
            Err(Status::bad_request(format!("a container name must be specified for pod {name}")))
        }
        None => {
            let mut text =
                format!("a container name must be specified for pod {name}, choose one of: [{}]", containers.join(" "));
            if !init.is_empty() {
                text.push_str(&format!(" or one of the init containers: [{}]", init.join(" ")));
            }
            if !ephemeral.is_empty() {
                text.push_str(&format!(" or one of the ephemeral containers: [{}]", ephemeral.join(" ")));
            }
            Err(Status::bad_request(text))
        }
    }
}

/// Where a node's kubelet listens.
async fn kubelet(call: &Call, node: &str) -> Result<SocketAddr, Status> {
    let kind = call.kinds.by_resource("", "v1", "nodes").ok_or_else(Status::no_such_path)?;
    let stored = call.server.read(kind, "", node).await?.ok_or_else(|| Status::not_found("", "nodes", node))?;
    kubelet_address(&stored.tree()?)
}

/// The internal address of a node with its kubelet's port.
pub fn kubelet_address(node: &Value) -> Result<SocketAddr, Status> {
    let addresses = tree::items(node, "status.addresses").iter();
    let mut internal = addresses.filter(|a| a["type"] == "InternalIP").filter_map(|a| a["address"].as_str());
    let ip: IpAddr = internal
        .find_map(|text| text.parse().ok())
        .ok_or_else(|| Status::internal(format!("no InternalIP is known for node {}", meta::name(node))))?;
    let port = tree::int(node, "status.daemonEndpoints.kubeletEndpoint.Port");
    Ok(SocketAddr::new(ip, u16::try_from(port).ok().filter(|port| *port != 0).unwrap_or(KUBELET_PORT)))
}

/// Who is connected to.
pub enum Backend {
    /// HTTP.
    Plain(SocketAddr),
    /// HTTPS.
    Tls(SocketAddr, Arc<rustls::ClientConfig>),
}

impl Backend {
    /// Where.
    pub fn address(&self) -> SocketAddr {
        match self {
            Backend::Plain(address) | Backend::Tls(address, _) => *address,
        }
    }
}

/// Headers that belong to a connection and to the stream protocols on it.
fn passes(name: &header::HeaderName, upgrade: bool) -> bool {
    let text = name.as_str();
    upgrade
        && (name == header::CONNECTION
            || name == header::UPGRADE
            || text.starts_with("sec-websocket-")
            || text.starts_with("x-stream-protocol"))
}

async fn ask(
    call: &Call,
    address: SocketAddr,
    method: &Method,
    target: &str,
    upgrade: bool,
) -> Result<Response<hyper::body::Incoming>, Status> {
    let mut request = Request::builder().method(method).uri(target).header(header::HOST, address.to_string());
    if let Some(headers) = request.headers_mut() {
        for (name, value) in call.headers.iter().filter(|(name, _)| passes(name, upgrade)) {
            headers.append(name, value.clone());
        }
    }
    let request = request.body(Full::default()).map_err(Status::internal)?;
    send(call, &Backend::Tls(address, call.server.kubelet_client.clone()), request).await
}

/// Sends a request over a connection of its own.
pub async fn send(
    call: &Call,
    backend: &Backend,
    request: Request<Full<Bytes>>,
) -> Result<Response<hyper::body::Incoming>, Status> {
    let address = backend.address();
    let dialing = |error: &dyn std::fmt::Display| {
        let mut status = Status::internal("");
        status.message = format!("error dialing backend: {address}: {error}");
        status
    };
    let connect = async {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        match backend {
            Backend::Plain(_) => Ok::<_, std::io::Error>(Stream::Plain(stream)),
            Backend::Tls(_, tls) => {
                let connector = tokio_rustls::TlsConnector::from(tls.clone());
                let name = rustls_pki_types::ServerName::from(address.ip());
                Ok(Stream::Tls(Box::new(connector.connect(name, stream).await?)))
            }
        }
    };
    let stream = match tokio::time::timeout(DIAL, connect).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return Err(dialing(&error)),
        Err(_) => return Err(dialing(&"timed out")),
    };
    let mut sender = match stream {
        Stream::Plain(stream) => handshake(call, stream).await,
        Stream::Tls(stream) => handshake(call, *stream).await,
    }
    .map_err(|error| dialing(&error))?;
    sender.send_request(request).await.map_err(|error| dialing(&error))
}

enum Stream {
    Plain(TcpStream),
    Tls(Box<tokio_rustls::client::TlsStream<TcpStream>>),
}

async fn handshake(
    call: &Call,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> hyper::Result<SendRequest<Full<Bytes>>> {
    let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    call.server.tasks.spawn(async move {
        // Ends with the stream; an error shows at the reader.
        let _ = connection.with_upgrades().await;
    });
    Ok(sender)
}

pub fn upgrade_required() -> Status {
    Status::bad_request("Upgrade request required")
}

/// Joins the two upgraded connections.
pub fn switch(
    call: &Call,
    mut response: Response<hyper::body::Incoming>,
    upgrade: Option<OnUpgrade>,
) -> Result<Response<Body>, Status> {
    let client = upgrade.ok_or_else(upgrade_required)?;
    let backend = hyper::upgrade::on(&mut response);
    let stop = call.server.stop.clone();
    call.server.tasks.spawn(async move {
        let copy = async {
            let (Ok(client), Ok(backend)) = tokio::join!(client, backend) else { return };
            let (mut client, mut backend) = (TokioIo::new(client), TokioIo::new(backend));
            // Either side may break off at any time: that is how these streams end.
            let _ = tokio::io::copy_bidirectional(&mut client, &mut backend).await;
            finish(&mut client, GOODBYE).await;
        };
        tokio::select! {
            () = copy => {}
            () = stop.cancelled() => {}
        }
    });
    let mut answer = Response::new(full(Bytes::new()));
    *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    for (name, value) in response.headers().iter().filter(|(name, _)| passes(name, true)) {
        answer.headers_mut().append(name, value.clone());
    }
    Ok(answer)
}

/// Ends a client's stream: without the end of TLS the client would take it for an attack. One that reads nothing any
/// more is left after `limit`.
pub async fn finish(client: &mut (impl AsyncWrite + Unpin), limit: Duration) {
    let _ = tokio::time::timeout(limit, client.shutdown()).await;
}

/// What a kubelet's refusal is to the client.
async fn failure(response: Response<hyper::body::Incoming>) -> Status {
    let code = response.status().as_u16();
    let body = Limited::new(response.into_body(), 64 * 1024).collect().await;
    let text = body.map(|body| String::from_utf8_lossy(&body.to_bytes()).trim().to_owned()).unwrap_or_default();
    let sent: Option<Value> = serde_json::from_str(&text).ok().filter(|tree: &Value| tree["kind"] == "Status");
    let message = match &sent {
        Some(status) => tree::text(status, "message").to_owned(),
        None => text,
    };
    let mut status = match code {
        400 => Status::bad_request(message),
        404 => Status { reason: "NotFound", ..Status::bad_request(message) },
        403 => Status { reason: "Forbidden", ..Status::bad_request(message) },
        _ => Status { reason: "InternalError", ..Status::bad_request(message) },
    };
    status.code = code;
    status
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[tokio::test]
    async fn a_client_that_stopped_reading_held_its_stream_for_ever() {
        // What is written into it is never read, and the end is written as well.
        let (near, _far) = tokio::io::duplex(1);
        let mut client = tokio::io::BufWriter::new(near);
        client.write_all(b"more than fits").await.unwrap();
        finish(&mut client, Duration::from_millis(1)).await;
    }

    #[test]
    fn kubelet_paths() {
        let pod = json!({"metadata": {"name": "p", "namespace": "n"}, "spec": {"containers": [{"name": "a"}]}});
        let two = json!({"metadata": {"name": "p", "namespace": "n"}, "spec": {"containers": [{"name": "a"}, {"name": "b"}], "initContainers": [{"name": "i"}]}});
        let run =
            |sub: &str, pod: &Value, query: &str| target(sub, pod, &Query::parse(Some(query))).map_err(|s| s.message);
        assert_eq!(
            run("log", &pod, "follow=true&tailLines=5&x=y").unwrap(),
            "/containerLogs/n/p/a?follow=true&tailLines=5"
        );
        assert_eq!(
            run("exec", &two, "container=b&command=sh&command=-c&command=a%20b&stdin=true&tty=false").unwrap(),
            "/exec/n/p/b?command=sh&command=-c&command=a%20b&stdin=true"
        );
        assert_eq!(run("portforward", &pod, "ports=80").unwrap(), "/portForward/n/p?port=80");
        assert_eq!(
            run("log", &two, "").unwrap_err(),
            "a container name must be specified for pod p, choose one of: [a b] or one of the init containers: [i]"
        );
        assert_eq!(run("log", &two, "container=z").unwrap_err(), "container z is not valid for pod p");
    }

    #[test]
    fn options_of_logs_are_checked_before_the_kubelet_sees_them() {
        let table = [
            ("tailLines=0&limitBytes=1&sinceSeconds=1&stream=All", Ok(())),
            ("sinceTime=2026-01-01T00:00:00Z&stream=Stderr", Ok(())),
            ("tailLines=-1", Err("tailLines: Invalid value: -1: must be greater than or equal to 0")),
            ("limitBytes=0", Err("limitBytes: Invalid value: 0: must be greater than 0")),
            ("sinceSeconds=0", Err("sinceSeconds: Invalid value: 0: must be greater than 0")),
            (
                "sinceSeconds=0&sinceTime=2026-01-01T00:00:00Z",
                Err("[]: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified"),
            ),
            (
                "stream=Foo",
                Err("stream: Unsupported value: \"Foo\": supported values: \"All\", \"Stderr\", \"Stdout\""),
            ),
            (
                "stream=Stdout&tailLines=1",
                Err("[]: Forbidden: `tailLines` and specific `stream` are mutually exclusive for now"),
            ),
        ];
        for (query, want) in table {
            let got = check_log_options(&Query::parse(Some(query)), "p").map_err(|s| (s.code, s.message));
            let want = want.map_err(|text: &str| (422, format!("PodLogOptions \"p\" is invalid: {text}")));
            assert_eq!(got, want, "{query}");
        }
        let status = check_log_options(&Query::parse(Some("tailLines=x")), "p").unwrap_err();
        assert_eq!((status.code, &*status.message), (400, "strconv.ParseInt: parsing \"x\": invalid syntax"));
    }
}
