//! WebSockets of port-forward: with channels, of which 2n and 2n+1 are the bytes and the errors of port n, or as a
//! tunnel of SPDY.

use axum::extract::ws::{Message, WebSocket};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use cri::streaming::{PORT_FORWARD, PortConnection, PortForward};
use futures::future::join_all;
use futures::{SinkExt as _, StreamExt as _};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;

use super::Answer;
use super::channels::{CHUNK, Dialect, Handshake, QUEUE, copy, send};
use super::stream::{ask, pairs};

/// The protocol that is a tunnel.
pub const TUNNEL: &str = "SPDY/3.1+portforward.k8s.io";

/// Every port has two of 256 channels.
const PORTS: usize = 128;

/// The ports that a query asks for.
pub fn ports(query: &str) -> Result<Vec<u16>, Answer> {
    let bad = |text: String| Answer(StatusCode::BAD_REQUEST, text);
    let mut ports = Vec::new();
    for (_, value) in pairs(query).filter(|(key, _)| matches!(*key, "port" | "ports")) {
        for text in value.split(',') {
            let port = text.parse::<u16>().ok().filter(|port| *port > 0);
            let port = port.ok_or_else(|| bad(format!("unable to parse {text:?} as a port: it should be 1 to 65535")));
            ports.push(port?);
        }
    }
    if ports.is_empty() || ports.len() > PORTS {
        return Err(bad(format!("query parameter \"port\" is required, once to {PORTS} times")));
    }
    Ok(ports)
}

/// Joins a client with channels and ports of a pod at `url`: to each port a channel for bytes and one for the reason
/// why there are none, which begin with the number of the port.
pub async fn channels(handshake: Handshake, url: &str, ports: Vec<u16>) -> Result<Response, Answer> {
    let chosen = handshake.choose()?;
    let session = cri::streaming::port_forward(url).await;
    let session = session.map_err(|e| Answer(StatusCode::INTERNAL_SERVER_ERROR, e.to_string()))?;
    let dialect = Dialect::of(chosen);
    Ok(handshake.respond(chosen, move |socket| join_ports(socket, session, dialect, ports)))
}

async fn join_ports(socket: WebSocket, session: PortForward, dialect: Dialect, ports: Vec<u16>) {
    let (to_client, mut from_client) = socket.split();
    let (out, queue) = mpsc::channel::<Message>(QUEUE);
    let sending = send(to_client, queue);
    let forwarding = async move {
        let (mut writers, mut pumps) = (Vec::new(), Vec::new());
        for (port, data) in ports.into_iter().zip((0_u8..=254).step_by(2)) {
            let error = data + 1;
            for channel in [data, error] {
                let _ = out.send(dialect.encode(channel, &port.to_le_bytes())).await;
            }
            match session.connect(port).await {
                Ok(PortConnection { reader, writer, status }) => {
                    writers.push(Some(writer));
                    let out = out.clone();
                    pumps.push(async move {
                        let (_, status) = tokio::join!(copy(Some(reader), data, dialect, out.clone()), status);
                        if let Err(failure) = status {
                            let _ = out.send(dialect.encode(error, failure.to_string().as_bytes())).await;
                        }
                    });
                }
                Err(failure) => {
                    writers.push(None);
                    let _ = out.send(dialect.encode(error, failure.to_string().as_bytes())).await;
                }
            }
        }
        drop(out);
        let input = async {
            while let Some(Ok(message)) = from_client.next().await {
                if matches!(message, Message::Close(_)) {
                    return;
                }
                let Some((channel, bytes)) = dialect.decode(message).filter(|(channel, _)| channel % 2 == 0) else {
                    continue;
                };
                let Some(slot) = writers.get_mut(usize::from(channel / 2)) else { continue };
                // A port that reads no more is no reason to end.
                if let Some(writer) = slot
                    && writer.write_all(&bytes).await.is_err()
                {
                    *slot = None;
                }
            }
        };
        tokio::select! {
            _ = join_all(pumps) => {}
            () = input => {}
        }
    };
    if let (Err(error), ()) = tokio::join!(sending, forwarding) {
        tracing::debug!(%error, "port-forward ended");
    }
}

/// Joins a client that tunnels SPDY with the ports of a pod at `url`.
pub fn tunnel(handshake: Handshake, url: String) -> Response {
    handshake.respond(Some(TUNNEL), move |socket| async move {
        if let Err(error) = unpack(socket, &url).await {
            tracing::debug!(%error, "port-forward ended");
        }
    })
}

/// Unpacks SPDY from the messages of a client and carries it to the runtime, and back.
async fn unpack(socket: WebSocket, url: &str) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("SPDY/3.1"));
    headers.insert("x-stream-protocol-version", HeaderValue::from_static(PORT_FORWARD));
    let (response, upgrade) = ask(url, Method::POST, &headers).await?;
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        return Err(format!("the runtime's streaming server answered {}", response.status()).into());
    }
    let (mut reader, mut writer) = tokio::io::split(TokioIo::new(upgrade.await?));
    let (mut to_client, mut from_client) = socket.split();
    let there = async {
        while let Some(message) = from_client.next().await {
            match message? {
                Message::Binary(bytes) => writer.write_all(&bytes).await?,
                Message::Close(_) => break,
                _ => {}
            }
        }
        writer.shutdown().await?;
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
    };
    let back = async {
        let mut buffer = vec![0; CHUNK];
        loop {
            let read = reader.read(&mut buffer).await?;
            if read == 0 {
                break;
            }
            to_client.send(Message::Binary(Bytes::copy_from_slice(&buffer[..read]))).await?;
        }
        Ok(())
    };
    // The end of one direction is the end of both: the streams within have ends of their own.
    tokio::select! {
        done = there => done,
        done = back => done,
    }
}
