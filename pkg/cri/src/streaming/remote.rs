//! The client's end of exec, attach and port-forward.

use std::sync::atomic::{AtomicU64, Ordering};

use futures::FutureExt;
use futures::future::BoxFuture;
use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;

use super::headers::Headers;
use super::session::{Role, Session, Stream, StreamReader, StreamWriter};
use super::{Error, PORT_FORWARD, REMOTE_COMMAND, upgrade};

/// The largest message on an error stream.
const MESSAGE_LIMIT: u64 = 64 << 10;

/// Which streams an exec or attach has: as they were in the request to the runtime.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streams {
    /// Something to read for the process.
    pub stdin: bool,
    /// Its output.
    pub stdout: bool,
    /// Its errors; never with a terminal.
    pub stderr: bool,
    /// It has a terminal, which can be resized.
    pub tty: bool,
}

/// How a process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExitStatus {
    /// Its exit code.
    pub code: i32,
}

/// A running exec or attach. Dropping all of it ends the connection.
pub struct ExecStream {
    /// Shut it down to tell the process that its input has ended.
    pub stdin: Option<StreamWriter>,
    /// The output.
    pub stdout: Option<StreamReader>,
    /// The errors.
    pub stderr: Option<StreamReader>,
    /// Takes the terminal's new width and height, in characters.
    pub resize: Option<mpsc::Sender<(u16, u16)>>,
    /// How it ended. An error if it could not be started, or the connection was lost.
    pub status: BoxFuture<'static, Result<ExitStatus, Error>>,
}

/// Runs a command: `url` is from CRI's `Exec`.
pub async fn exec(url: &str, streams: Streams) -> Result<ExecStream, Error> {
    let session = Session::new(upgrade::upgrade(url, REMOTE_COMMAND).await?, Role::Client)?;
    let open = |name: &str| session.open(vec![("streamtype".to_owned(), name.to_owned())]);
    let error = open("error").await?;
    let stdin = if streams.stdin { Some(open("stdin").await?) } else { None };
    let stdout = if streams.stdout { Some(open("stdout").await?) } else { None };
    let stderr = if streams.stderr && !streams.tty { Some(open("stderr").await?) } else { None };
    let resize = if streams.tty { Some(sizes(open("resize").await?)) } else { None };
    Ok(ExecStream {
        stdin: stdin.map(|stream| stream.writer),
        stdout: stdout.map(|stream| stream.reader),
        stderr: stderr.map(|stream| stream.reader),
        resize,
        status: status(error).boxed(),
    })
}

/// Attaches to a running container: `url` is from CRI's `Attach`. The status is that of the attachment, which ends
/// well when the container does.
pub async fn attach(url: &str, streams: Streams) -> Result<ExecStream, Error> {
    exec(url, streams).await
}

async fn status(error: Stream) -> Result<ExitStatus, Error> {
    // The error stream's other direction is not used, but has to stay open until the end.
    let Stream { reader, writer: _open, .. } = error;
    let mut text = Vec::new();
    reader.take(MESSAGE_LIMIT).read_to_end(&mut text).await?;
    exit_status(&text)
}

/// Reads what an error stream of [`REMOTE_COMMAND`] said: a `Status` as JSON. Nothing at all means success, as
/// attachments end so.
pub fn exit_status(text: &[u8]) -> Result<ExitStatus, Error> {
    #[derive(Deserialize)]
    struct Status {
        #[serde(default)]
        status: String,
        #[serde(default)]
        message: String,
        #[serde(default)]
        reason: String,
        details: Option<Details>,
    }
    #[derive(Deserialize)]
    struct Details {
        #[serde(default)]
        causes: Vec<Cause>,
    }
    #[derive(Deserialize)]
    struct Cause {
        #[serde(default)]
        reason: String,
        #[serde(default)]
        message: String,
    }
    if text.is_empty() {
        return Ok(ExitStatus { code: 0 });
    }
    let status: Status = match serde_json::from_slice(text) {
        Ok(status) => status,
        Err(_) => return Err(Error::Failed(String::from_utf8_lossy(text).into_owned())),
    };
    let causes = status.details.map(|details| details.causes).unwrap_or_default();
    let code = causes.iter().find(|cause| cause.reason == "ExitCode").and_then(|cause| cause.message.parse().ok());
    match (status.status.as_str(), status.reason.as_str(), code) {
        ("Success", ..) => Ok(ExitStatus { code: 0 }),
        (_, "NonZeroExitCode", Some(code)) => Ok(ExitStatus { code }),
        _ => Err(Error::Failed(status.message)),
    }
}

/// Sends sizes as the server reads them: one JSON object after the other.
fn sizes(stream: Stream) -> mpsc::Sender<(u16, u16)> {
    let (sender, mut receiver) = mpsc::channel::<(u16, u16)>(4);
    tokio::spawn(async move {
        let mut writer = stream.writer;
        while let Some((width, height)) = receiver.recv().await {
            let text = format!("{{\"Width\":{width},\"Height\":{height}}}\n");
            if writer.write_all(text.as_bytes()).await.is_err() {
                return;
            }
        }
    });
    sender
}

/// A port-forward session: any number of connections to ports of one pod.
pub struct PortForward {
    session: Session,
    next: AtomicU64,
}

/// One forwarded connection.
pub struct PortConnection {
    /// From the port.
    pub reader: StreamReader,
    /// To the port.
    pub writer: StreamWriter,
    /// Ends when the connection does: an error if the port could not be reached.
    pub status: BoxFuture<'static, Result<(), Error>>,
}

/// Begins to forward ports: `url` is from CRI's `PortForward`.
pub async fn port_forward(url: &str) -> Result<PortForward, Error> {
    let session = Session::new(upgrade::upgrade(url, PORT_FORWARD).await?, Role::Client)?;
    Ok(PortForward { session, next: AtomicU64::new(0) })
}

impl PortForward {
    /// Connects to a port.
    pub async fn connect(&self, port: u16) -> Result<PortConnection, Error> {
        let request = self.next.fetch_add(1, Ordering::Relaxed).to_string();
        let headers = |kind: &str| -> Headers {
            let pairs = [("streamtype", kind), ("port", &port.to_string()), ("requestid", &request)];
            pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
        };
        let mut error = self.session.open(headers("error")).await?;
        // The client says nothing on it; the server waits for its end.
        error.writer.shutdown().await?;
        let data = self.session.open(headers("data")).await?;
        let status = async move {
            let mut text = String::new();
            error.reader.take(MESSAGE_LIMIT).read_to_string(&mut text).await?;
            if text.is_empty() { Ok(()) } else { Err(Error::Failed(text)) }
        };
        Ok(PortConnection { reader: data.reader, writer: data.writer, status: status.boxed() })
    }
}
