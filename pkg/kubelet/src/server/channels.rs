//! WebSockets with channels, and exec and attach over them.
//!
//! A message is one byte of channel number and its payload. With a `base64` protocol both are text, the channel a
//! character that is counted from `0`.
//! Of commands, channel 0 is input, 1 output, 2 errors, 3 the end, 4 the size of the terminal. Since `v5`, channel 255
//! closes the channel whose number is its payload: that is how input ends. Before `v4` channel 3 carries words, since
//! then a Status.

use axum::extract::WebSocketUpgrade;
use axum::extract::ws::{CloseFrame, Message, WebSocket};
use axum::http::StatusCode;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::{BufMut as _, Bytes, BytesMut};
use cri::streaming::{Error as StreamError, ExecStream, ExitStatus, Streams};
use futures::stream::SplitSink;
use futures::{FutureExt as _, SinkExt as _, StreamExt as _};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::Answer;
use super::stream::Asked;

const STDIN: u8 = 0;
const STDOUT: u8 = 1;
const STDERR: u8 = 2;
const END: u8 = 3;
const RESIZE: u8 = 4;
const CLOSE: u8 = 255;

/// Channel 0 in text.
const ZERO: u32 = '0' as u32;

/// Bytes of output in a message, at most.
pub const CHUNK: usize = 32 << 10;
/// Messages that may wait for a slow client.
pub const QUEUE: usize = 16;

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
pub struct Dialect {
    text: bool,
    status: bool,
    closes: bool,
}

impl Dialect {
    /// What the chosen protocol asks for.
    pub fn of(chosen: Option<&str>) -> Self {
        let protocol = chosen.unwrap_or(DEFAULT);
        Dialect {
            text: protocol.contains("base64"),
            status: protocol.starts_with("v4") || protocol.starts_with("v5"),
            closes: protocol.starts_with("v5"),
        }
    }

    /// A message.
    pub fn encode(self, channel: u8, payload: &[u8]) -> Message {
        if self.text {
            let number = char::from_u32(ZERO + u32::from(channel)).expect("far below the surrogates");
            return Message::Text(format!("{number}{}", STANDARD.encode(payload)).into());
        }
        let mut message = BytesMut::with_capacity(payload.len() + 1);
        message.put_u8(channel);
        message.put_slice(payload);
        Message::Binary(message.freeze())
    }

    /// Channel and payload of a message, of whichever type it is; `None` if it is none of ours.
    pub fn decode(self, message: Message) -> Option<(u8, Bytes)> {
        let mut bytes: Bytes = match message {
            Message::Binary(bytes) => bytes,
            Message::Text(text) => text.into(),
            _ => return None,
        };
        if self.text {
            let mut text = std::str::from_utf8(&bytes).ok()?.chars();
            let channel = u32::from(text.next()?).checked_sub(ZERO)?.try_into().ok()?;
            return Some((channel, STANDARD.decode(text.as_str()).ok()?.into()));
        }
        let channel = *bytes.first()?;
        Some((channel, bytes.split_off(1)))
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

/// A client that asks for a WebSocket.
pub struct Handshake {
    /// What it asks for.
    pub upgrade: WebSocketUpgrade,
    /// The protocols that it offers.
    pub protocols: Vec<String>,
    /// Ends what comes of the socket: a client may hold it for ever.
    pub stop: CancellationToken,
    /// Waits until that is done.
    pub tasks: TaskTracker,
}

impl Handshake {
    /// The best protocol with channels that the client offers; `None` if it offers none at all.
    pub fn choose(&self) -> Result<Option<&'static str>, Answer> {
        let offered = &self.protocols;
        let chosen = PROTOCOLS.into_iter().find(|p| offered.iter().any(|o| o == p));
        if chosen.is_none() && !offered.is_empty() {
            let text = format!("none of the protocols {offered:?} is spoken here: {PROTOCOLS:?}");
            return Err(Answer(StatusCode::BAD_REQUEST, text));
        }
        Ok(chosen)
    }

    /// Answers the upgrade, and talks until the end of `talk` or the kubelet's stop.
    pub fn respond<F>(
        self,
        chosen: Option<&'static str>,
        talk: impl FnOnce(WebSocket) -> F + Send + 'static,
    ) -> Response
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let Handshake { upgrade, stop, tasks, .. } = self;
        let upgrade = if let Some(protocol) = chosen { upgrade.protocols([protocol]) } else { upgrade };
        upgrade.on_upgrade(move |socket| tasks.track_future(stop.run_until_cancelled_owned(talk(socket)).map(drop)))
    }
}

/// Joins a client with channels and a command or container at `url`.
pub async fn serve(handshake: Handshake, url: &str, asked: Asked) -> Result<Response, Answer> {
    let chosen = handshake.choose()?;
    let streams = Streams { stdin: asked.stdin, stdout: asked.stdout, stderr: asked.stderr, tty: asked.tty };
    let stream = cri::streaming::exec(url, streams).await;
    let stream = stream.map_err(|e| Answer(StatusCode::INTERNAL_SERVER_ERROR, e.to_string()))?;
    let dialect = Dialect::of(chosen);
    Ok(handshake.respond(chosen, move |socket| join(socket, stream, dialect, streams)))
}

/// Sends what is queued, and that there is no more.
pub async fn send(
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
pub async fn copy(
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_look_as_their_protocol_says() {
        let binary = Dialect::of(Some("v5.channel.k8s.io"));
        let text = Dialect::of(Some("base64.channel.k8s.io"));
        assert_eq!(binary.encode(1, b"ab"), Message::Binary(Bytes::from_static(b"\x01ab")));
        assert_eq!(text.encode(1, b"ab"), Message::Text("1YWI=".into()));
        for (dialect, channel) in [binary, text].into_iter().flat_map(|d| (0..=u8::MAX).map(move |c| (d, c))) {
            let round = dialect.decode(dialect.encode(channel, b"xyz"));
            assert_eq!(round, Some((channel, Bytes::from_static(b"xyz"))), "{dialect:?}");
        }
        assert_eq!(text.encode(10, b"ab"), Message::Text(":YWI=".into()), "one character, as clients read it");
        assert_eq!(binary.decode(Message::Binary(Bytes::new())), None);
        assert_eq!(text.decode(Message::Text("1!".into())), None);
        // The type of a message says nothing.
        assert_eq!(binary.decode(Message::Text("\0ab".into())), Some((0, Bytes::from_static(b"ab"))));
        assert_eq!(text.decode(Message::Binary(Bytes::from_static(b"0YWI="))), Some((0, Bytes::from_static(b"ab"))));
    }

    #[test]
    fn the_end_is_told_as_a_status_or_in_words() {
        let ends = |protocol: &str, code| {
            let end = Dialect::of(Some(protocol)).end(&Ok(ExitStatus { code }));
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
