//! A document as messages of a WebSocket: how browsers follow a log.
//!
//! Messages are bytes, with `binary.k8s.io` or where the client names no protocol; with `base64.binary.k8s.io` they are
//! text. What the client sends is not read for its meaning.

use api::Status;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use futures::{SinkExt as _, StreamExt as _};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use http_body_util::BodyStream;
use hyper::{body::Incoming, upgrade::OnUpgrade};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{Message, handshake::derive_accept_key, protocol::Role},
};

use crate::{
    body::{Body, full},
    call::Call,
    connect::{GOODBYE, finish, upgrade_required},
};

const BASE64: &str = "base64.binary.k8s.io";
const PROTOCOLS: [&str; 2] = ["binary.k8s.io", BASE64];

/// Whether a request is to become a WebSocket.
pub fn is_asked(headers: &HeaderMap) -> bool {
    let has = |name, wanted| words(headers, name).any(|word| word.eq_ignore_ascii_case(wanted));
    has(header::CONNECTION, "upgrade") && has(header::UPGRADE, "websocket")
}

/// Answers such a request with the body's bytes as messages, until its end, the client's or the server's.
pub fn answer(call: &Call, upgrade: Option<OnUpgrade>, body: Incoming) -> Result<Response<Body>, Status> {
    let upgrade = upgrade.ok_or_else(upgrade_required)?;
    let key = call.headers.get(header::SEC_WEBSOCKET_KEY).ok_or_else(upgrade_required)?;
    let protocol = choose(&call.headers)?;
    let stop = call.server.stop.clone();
    call.server.tasks.spawn(async move {
        let Ok(stream) = upgrade.await else { return };
        let socket = WebSocketStream::from_raw_socket(TokioIo::new(stream), Role::Server, None).await;
        stop.run_until_cancelled(send(socket, body, protocol == Some(BASE64))).await;
    });
    let mut answer = Response::new(full(Bytes::new()));
    *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = answer.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    let accept = HeaderValue::try_from(derive_accept_key(key.as_bytes())).map_err(Status::internal)?;
    headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    if let Some(protocol) = protocol {
        headers.insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(protocol));
    }
    Ok(answer)
}

fn words(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    let values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim)
}

/// The first protocol of the client's that is spoken; `None` if it offers none.
fn choose(headers: &HeaderMap) -> Result<Option<&'static str>, Status> {
    let mut offered = words(headers, header::SEC_WEBSOCKET_PROTOCOL).peekable();
    if offered.peek().is_none() {
        return Ok(None);
    }
    let chosen = offered.find_map(|offer| PROTOCOLS.into_iter().find(|protocol| *protocol == offer));
    let refused = || Status::bad_request(format!("none of the protocols is spoken here: {}", PROTOCOLS.join(", ")));
    chosen.ok_or_else(refused).map(Some)
}

async fn send<S: AsyncRead + AsyncWrite + Unpin>(mut socket: WebSocketStream<S>, body: Incoming, text: bool) {
    let mut frames = BodyStream::new(body);
    loop {
        tokio::select! {
            frame = frames.next() => {
                let Some(Ok(frame)) = frame else { break };
                let Ok(data) = frame.into_data() else { continue };
                let message = if text { Message::text(STANDARD.encode(data)) } else { Message::Binary(data) };
                if socket.send(message).await.is_err() {
                    return;
                }
            }
            message = socket.next() => {
                let Some(Ok(_)) = message else { break };
            }
        }
    }
    let goodbye = async {
        let _ = socket.close(None).await;
        while let Some(Ok(_)) = socket.next().await {}
    };
    // One that says nothing more is left.
    let _ = tokio::time::timeout(GOODBYE, goodbye).await;
    finish(socket.get_mut(), GOODBYE).await;
}
