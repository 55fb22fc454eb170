//! WebSockets of exec, attach and port-forward.
//!
//! A message is one byte of channel number and its payload. With a `base64` protocol both are text, the channel a digit.
//! Of commands, channel 0 is input, 1 output, 2 errors, 3 the end, 4 the size of the terminal. Since `v5`, channel 255
//! closes the channel whose number is its payload: that is how input ends. Before `v4` channel 3 carries words, since
//! then a Status. Of port-forward, channels 2n and 2n+1 are the bytes and the errors of port n.

use axum::extract::WebSocketUpgrade;
use axum::extract::ws::{CloseFrame, Message, WebSocket};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::{BufMut as _, Bytes, BytesMut};
use cri::streaming::{
    Error as StreamError, ExecStream, ExitStatus, PORT_FORWARD, PortConnection, PortForward, Streams, port_forward,
};
use futures::future::join_all;
use futures::stream::SplitSink;
use futures::{SinkExt as _, StreamExt as _};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;

use super::stream::{Asked, ask};
use super::{Answer, Shared};

const STDIN: u8 = 0;
const STDOUT: u8 = 1;
const STDERR: u8 = 2;
const END: u8 = 3;
const RESIZE: u8 = 4;
const CLOSE: u8 = 255;

/// Bytes of output in a message, at most.
const CHUNK: usize = 32 << 10;
/// Messages that may wait for a slow client.
const QUEUE: usize = 16;

/// Protocols that are spoken, the best first.
const PROTOCOLS: [&str; 6] = [
    "v5.channel.k8s.io",
    "v4.channel.k8s.io",
    "v4.base64.channel.k8s.io",
    "channel.k8s.io",
    "base64.channel.k8s.io",
    "binary.k8s.io",
];

/// For clients that offer none.
const DEFAULT: &str = "channel.k8s.io";

/// How messages look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Dialect {
    text: bool,
    status: bool,
    closes: bool,
}

impl Dialect {
    fn of(protocol: &str) -> Self {
        Dialect {
            text: protocol.contains("base64"),
            status: protocol.starts_with("v4") || protocol.starts_with("v5"),
            closes: protocol.starts_with("v5"),
        }
    }

    fn encode(self, channel: u8, payload: &[u8]) -> Message {
        if self.text {
            return Message::Text(format!("{channel}{}", STANDARD.encode(payload)).into());
        }
        let mut message = BytesMut::with_capacity(payload.len() + 1);
        message.put_u8(channel);
        message.put_slice(payload);
        Message::Binary(message.freeze())
    }

    /// Channel and payload of a message, of whichever type it is; `None` if it is none of ours.
    fn decode(self, message: Message) -> Option<(u8, Bytes)> {
        let mut bytes: Bytes = match message {
            Message::Binary(bytes) => bytes,
            Message::Text(text) => text.into(),
            _ => return None,
        };
        let channel = *bytes.first()?;
        let payload = bytes.split_off(1);
        match self.text {
            true => Some((channel.checked_sub(b'0')?, STANDARD.decode(payload).ok()?.into())),
            false => Some((channel, payload)),
        }
    }

    /// What channel 3 says at the end.
    fn end(self, result: &Result<ExitStatus, StreamError>) -> Option<Vec<u8>> {
        if self.status {
            return Some(status(result).to_string().into_bytes());
        }
        match result {
            Ok(ExitStatus { code: 0 }) => None,
            Ok(ExitStatus { code }) => Some(exit_text(*code).into_bytes()),
            Err(error) => Some(error.to_string().into_bytes()),
        }
    }
}

fn exit_text(code: i32) -> String {
    format!("command terminated with non-zero exit code: command terminated with exit code {code}")
}

fn status(result: &Result<ExitStatus, StreamError>) -> Value {
    match result {
        Ok(ExitStatus { code: 0 }) => json!({"metadata": {}, "status": "Success"}),
        Ok(ExitStatus { code }) => json!({
            "metadata": {}, "status": "Failure", "reason": "NonZeroExitCode", "message": exit_text(*code),
            "details": {"causes": [{"reason": "ExitCode", "message": code.to_string()}]},
        }),
        Err(error) => json!({
            "metadata": {}, "status": "Failure", "reason": "InternalError", "message": error.to_string(), "code": 500,
        }),
    }
}

/// The best protocol that the client offers; `None` if it offers none.
fn choose(protocols: &[String]) -> Result<Option<&'static str>, Answer> {
    let chosen = PROTOCOLS.into_iter().find(|p| protocols.iter().any(|o| o == p));
    if chosen.is_none() && !protocols.is_empty() {
        let text = format!("none of the protocols {protocols:?} is spoken here: {PROTOCOLS:?}");
        return Err(Answer(StatusCode::BAD_REQUEST, text));
    }
    Ok(chosen)
}

/// Answers the upgrade; what comes of the socket is tracked, so that a stop waits for the last words.
fn respond<F>(
    shared: &Shared,
    upgrade: WebSocketUpgrade,
    chosen: Option<&'static str>,
    talk: impl FnOnce(WebSocket, Dialect) -> F + Send + 'static,
) -> Response
where
    F: Future<Output = ()> + Send + 'static,
{
    let upgrade = if let Some(protocol) = chosen { upgrade.protocols([protocol]) } else { upgrade };
    let (tasks, dialect) = (shared.ctx.tasks.clone(), Dialect::of(chosen.unwrap_or(DEFAULT)));
    upgrade.on_upgrade(move |socket| async move { tasks.track_future(talk(socket, dialect)).await })
}

/// Joins a client with channels and a command or container at `url`.
pub async fn serve(
    shared: &Shared,
    upgrade: WebSocketUpgrade,
    protocols: &[String],
    url: &str,
    asked: Asked,
) -> Result<Response, Answer> {
    let chosen = choose(protocols)?;
    let streams = Streams { stdin: asked.stdin, stdout: asked.stdout, stderr: asked.stderr, tty: asked.tty };
    let stream = cri::streaming::exec(url, streams).await;
    let stream = stream.map_err(|e| Answer(StatusCode::INTERNAL_SERVER_ERROR, e.to_string()))?;
    Ok(respond(shared, upgrade, chosen, move |socket, dialect| join(socket, stream, dialect, streams)))
}

/// Joins a client with channels and ports of a pod at `url`: to each port a channel for bytes and one for the reason
/// why there are none, which begin with the number of the port.
pub async fn forward(
    shared: &Shared,
    upgrade: WebSocketUpgrade,
    protocols: &[String],
    url: &str,
    ports: &[i32],
) -> Result<Response, Answer> {
    let chosen = choose(protocols)?;
    // Every port has two of 256 channels.
    let numbers: Option<Vec<u16>> = ports.iter().map(|port| u16::try_from(*port).ok()).collect();
    let Some(ports) = numbers.filter(|ports| (1..=128).contains(&ports.len())) else {
        return Err(Answer(StatusCode::BAD_REQUEST, "query parameter \"port\" is required, once to 128 times".into()));
    };
    let session = port_forward(url).await;
    let session = session.map_err(|e| Answer(StatusCode::INTERNAL_SERVER_ERROR, e.to_string()))?;
    Ok(respond(shared, upgrade, chosen, move |socket, dialect| join_ports(socket, session, dialect, ports)))
}

async fn join_ports(socket: WebSocket, session: PortForward, dialect: Dialect, ports: Vec<u16>) {
    let (to_client, mut from_client) = socket.split();
    let (out, queue) = mpsc::channel::<Message>(QUEUE);
    let sending = send(to_client, queue);
    let forwarding = async move {
        let (mut writers, mut pumps) = (Vec::new(), Vec::new());
        for (data, port) in (0_u8..).step_by(2).zip(ports) {
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

/// Sends what is queued, and that there is no more.
async fn send(
    mut to_client: SplitSink<WebSocket, Message>,
    mut queue: mpsc::Receiver<Message>,
) -> Result<(), axum::Error> {
    while let Some(message) = queue.recv().await {
        to_client.send(message).await?;
    }
    to_client.send(Message::Close(Some(CloseFrame { code: 1000, reason: "".into() }))).await
}

async fn join(socket: WebSocket, stream: ExecStream, dialect: Dialect, streams: Streams) {
    let (to_client, mut from_client) = socket.split();
    let (out, queue) = mpsc::channel::<Message>(QUEUE);
    let ExecStream { mut stdin, stdout, stderr, resize, status } = stream;
    // An empty message tells the client that all is set up.
    let first = if streams.stdout {
        STDOUT
    } else if streams.stderr {
        STDERR
    } else {
        END
    };
    let output = async move {
        let _ = out.send(dialect.encode(first, &[])).await;
        let (one, two, result) = tokio::join!(
            copy(stdout, STDOUT, dialect, out.clone()),
            copy(stderr, STDERR, dialect, out.clone()),
            status,
        );
        // A client that is gone hears nothing.
        let _ = (one, two);
        if let Some(text) = dialect.end(&result) {
            let _ = out.send(dialect.encode(END, &text)).await;
        }
    };
    let input = async move {
        while let Some(Ok(message)) = from_client.next().await {
            if matches!(message, Message::Close(_)) {
                return;
            }
            match dialect.decode(message) {
                Some((STDIN, bytes)) => {
                    // A process that reads no more is no reason to end.
                    if let Some(writer) = &mut stdin
                        && writer.write_all(&bytes).await.is_err()
                    {
                        stdin = None;
                    }
                }
                Some((RESIZE, bytes)) => {
                    if let (Some(resize), Some(size)) = (&resize, size(&bytes)) {
                        let _ = resize.send(size).await;
                    }
                }
                Some((CLOSE, bytes)) if dialect.closes && bytes.first() == Some(&STDIN) => {
                    if let Some(mut writer) = stdin.take() {
                        let _ = writer.shutdown().await;
                    }
                }
                _ => {}
            }
        }
    };
    let both = async { tokio::join!(send(to_client, queue), output).0 };
    tokio::select! {
        sent = both => if let Err(error) = sent { tracing::debug!(%error, "stream ended") },
        // The client has gone: so does the connection to the runtime.
        () = input => {}
    }
}

/// The new size of a terminal.
fn size(text: &[u8]) -> Option<(u16, u16)> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Size {
        width: u16,
        height: u16,
    }
    let size: Size = serde_json::from_slice(text).ok()?;
    Some((size.width, size.height))
}

/// Sends what `from` has as messages of a channel, until its end or the client's.
async fn copy(
    from: Option<impl AsyncRead + Unpin>,
    channel: u8,
    dialect: Dialect,
    out: mpsc::Sender<Message>,
) -> std::io::Result<()> {
    let Some(mut from) = from else { return Ok(()) };
    let mut buffer = vec![0; CHUNK];
    loop {
        let read = from.read(&mut buffer).await?;
        if read == 0 || out.send(dialect.encode(channel, &buffer[..read])).await.is_err() {
            return Ok(());
        }
    }
}

/// Unpacks SPDY from the messages of a client and carries it to the runtime, and back.
pub async fn tunnel(socket: WebSocket, url: &str) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_look_as_their_protocol_says() {
        let binary = Dialect::of("v5.channel.k8s.io");
        let text = Dialect::of("base64.channel.k8s.io");
        assert_eq!(binary.encode(1, b"ab"), Message::Binary(Bytes::from_static(b"\x01ab")));
        assert_eq!(text.encode(1, b"ab"), Message::Text("1YWI=".into()));
        for dialect in [binary, text] {
            let round = dialect.decode(dialect.encode(0, b"xyz")).unwrap();
            assert_eq!((round.0, &round.1[..]), (0, &b"xyz"[..]));
        }
        assert_eq!(binary.decode(Message::Binary(Bytes::new())), None);
        assert_eq!(text.decode(Message::Text("1!".into())), None);
        // The type of a message says nothing.
        assert_eq!(binary.decode(Message::Text("\0ab".into())), Some((0, Bytes::from_static(b"ab"))));
        assert_eq!(text.decode(Message::Binary(Bytes::from_static(b"0YWI="))), Some((0, Bytes::from_static(b"ab"))));
    }

    #[test]
    fn the_end_is_told_as_a_status_or_in_words() {
        let ends = |protocol: &str, code| {
            let end = Dialect::of(protocol).end(&Ok(ExitStatus { code }));
            end.map(|e| String::from_utf8(e).unwrap())
        };
        assert_eq!(ends("channel.k8s.io", 0), None);
        assert!(ends("channel.k8s.io", 3).unwrap().starts_with("command terminated"));
        let status: Value = serde_json::from_str(&ends("v4.channel.k8s.io", 3).unwrap()).unwrap();
        assert_eq!(status["details"]["causes"][0], json!({"reason": "ExitCode", "message": "3"}));
        let status: Value = serde_json::from_str(&ends("v5.channel.k8s.io", 0).unwrap()).unwrap();
        assert_eq!(status["status"], "Success");
    }

    #[test]
    fn sizes_are_read() {
        assert_eq!(size(br#"{"Width":80,"Height":24}"#), Some((80, 24)));
        assert_eq!(size(b"x"), None);
    }
}
