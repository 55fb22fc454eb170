//! The server's end: for clients that ask the kubelet or the API server for SPDY.

use std::collections::HashMap;
use std::time::Duration;

use http::header::{CONNECTION, UPGRADE};
use http::{HeaderMap, Response, StatusCode};

use super::session::{Session, Stream, StreamReader, StreamWriter};
use super::{Error, Streams, upgrade};

/// How long a client may take to open its streams.
const PATIENCE: Duration = Duration::from_secs(30);

/// Answers a request for SPDY: the 101 response, and the one of `supported` protocols (best first) that the client
/// offers too. None if the request does not ask for SPDY or offers none of them.
pub fn respond(request: &HeaderMap, supported: &[&'static str]) -> Option<(Response<()>, &'static str)> {
    let asks = |name, word: &str| {
        let values = request.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
        values.flat_map(|value| value.split(',')).any(|value| value.trim().eq_ignore_ascii_case(word))
    };
    if !asks(&CONNECTION, "upgrade") || !asks(&UPGRADE, upgrade::SPDY) {
        return None;
    }
    let offered: Vec<&str> = request
        .get_all(upgrade::PROTOCOL)
        .into_iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(',').map(str::trim))
        .collect();
    let protocol = supported.iter().copied().find(|protocol| offered.contains(protocol))?;
    let response = Response::builder()
        .status(StatusCode::SWITCHING_PROTOCOLS)
        .header(CONNECTION, "Upgrade")
        .header(UPGRADE, upgrade::SPDY)
        .header(upgrade::PROTOCOL, protocol)
        .body(())
        .ok()?;
    Some((response, protocol))
}

/// The streams of an exec or attach as the client opened them.
pub struct RemoteCommand {
    /// Takes the status at the end; shut it down after that.
    pub error: StreamWriter,
    /// The client's input.
    pub stdin: Option<StreamReader>,
    /// Output for it.
    pub stdout: Option<StreamWriter>,
    /// Errors for it.
    pub stderr: Option<StreamWriter>,
    /// Sizes of its terminal: JSON objects with `Width` and `Height`.
    pub resize: Option<StreamReader>,
}

/// Waits for the streams of an exec or attach.
pub async fn remote_command(session: &Session, streams: Streams) -> Result<RemoteCommand, Error> {
    let wanted = [
        ("error", true),
        ("stdin", streams.stdin),
        ("stdout", streams.stdout),
        ("stderr", streams.stderr && !streams.tty),
        ("resize", streams.tty),
    ];
    let mut missing: Vec<&str> = wanted.into_iter().filter(|(_, wanted)| *wanted).map(|(name, _)| name).collect();
    let mut opened: HashMap<String, Stream> = HashMap::new();
    let collect = async {
        while !missing.is_empty() {
            let stream = session.accept().await.ok_or(Error::Closed)?;
            let name = stream.header("streamtype").unwrap_or_default().to_owned();
            if !missing.contains(&name.as_str()) {
                return Err(Error::Protocol(format!("a stream {name:?} that was not asked for")));
            }
            missing.retain(|missing| *missing != name);
            opened.insert(name, stream);
        }
        Ok(())
    };
    tokio::time::timeout(PATIENCE, collect).await.map_err(|_| Error::Late)??;
    let error = opened.remove("error").ok_or(Error::Late)?.writer;
    Ok(RemoteCommand {
        error,
        stdin: opened.remove("stdin").map(|stream| stream.reader),
        stdout: opened.remove("stdout").map(|stream| stream.writer),
        stderr: opened.remove("stderr").map(|stream| stream.writer),
        resize: opened.remove("resize").map(|stream| stream.reader),
    })
}

/// One connection that a client forwards.
pub struct Forwarded {
    /// The port it wants.
    pub port: u16,
    /// Bytes in both directions.
    pub data: Stream,
    /// Takes the reason if it fails; shut it down at the end.
    pub error: StreamWriter,
}

/// Pairs the streams of port-forward: an error stream and a data stream make a connection.
#[derive(Default)]
pub struct Forwarding {
    waiting: HashMap<String, Stream>,
}

impl Forwarding {
    /// The next connection; none when the client has ended the session.
    pub async fn next(&mut self, session: &Session) -> Option<Result<Forwarded, Error>> {
        loop {
            let stream = session.accept().await?;
            let kind = stream.header("streamtype").unwrap_or_default().to_owned();
            let Some(port) = stream.header("port").and_then(|port| port.parse().ok()).filter(|port| *port > 0) else {
                return Some(Err(Error::Protocol("a stream without a port".to_owned())));
            };
            if kind != "error" && kind != "data" {
                return Some(Err(Error::Protocol(format!("a stream {kind:?}"))));
            }
            // Clients of long ago number nothing and open the two streams one after the other.
            let request = stream.header("requestid").unwrap_or_default().to_owned();
            match self.waiting.remove(&request) {
                None => {
                    self.waiting.insert(request, stream);
                }
                Some(first) if first.header("streamtype") == Some(&kind) => {
                    return Some(Err(Error::Protocol(format!("two {kind} streams for request {request:?}"))));
                }
                Some(first) => {
                    let (data, error) = if kind == "data" { (stream, first) } else { (first, stream) };
                    return Some(Ok(Forwarded { port, data, error: error.writer }));
                }
            }
        }
    }
}
