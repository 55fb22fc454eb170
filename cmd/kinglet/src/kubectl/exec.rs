//! `logs` and `exec`.

use anyhow::{Context as _, bail};
use clap::Args;
use futures::{SinkExt as _, StreamExt as _, io::AsyncReadExt as _};
use http::{Request, Uri, header};
use kube::client::Body;
use rustix::termios::{self, OptionalActions, Termios};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    signal::unix::{SignalKind, signal},
};
use tokio_tungstenite::tungstenite::{Message, client::IntoClientRequest as _};

use super::{
    Session,
    get::escape,
    plain,
    resources::{list, text},
};

/// Flags of `logs`.
#[derive(Args, Debug)]
pub struct Logs {
    /// POD, or pod/POD
    pod: String,
    /// Container [default: the first]
    #[arg(short, long)]
    container: Option<String>,
    /// Stay, and show what comes
    #[arg(short, long)]
    follow: bool,
    /// Of the container before the last restart
    #[arg(short, long)]
    previous: bool,
    /// Only so many lines from the end
    #[arg(long, value_name = "LINES")]
    tail: Option<i64>,
}

/// Flags of `exec`.
#[derive(Args, Debug)]
pub struct Exec {
    /// POD, or pod/POD
    pod: String,
    /// Container [default: the first]
    #[arg(short, long)]
    container: Option<String>,
    /// Pass standard input
    #[arg(short = 'i', long)]
    stdin: bool,
    /// With a terminal
    #[arg(short, long)]
    tty: bool,
    /// The command, after --
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

fn pod_path(session: &Session, pod: &str) -> String {
    let pod = pod.split_once('/').map_or(pod, |(_, name)| name);
    format!("/api/v1/namespaces/{}/pods/{pod}", session.namespace)
}

/// The container that is meant where none is named.
async fn first_container(session: &Session, path: &str) -> anyhow::Result<String> {
    let pod = session.get_json(path).await?;
    let marked = text(&pod["metadata"]["annotations"]["kubectl.kubernetes.io/default-container"]);
    let first = list(&pod["spec"]["containers"]).first().map_or("", |c| text(&c["name"]));
    Ok(if marked.is_empty() { first } else { marked }.to_owned())
}

impl Logs {
    /// Prints the log.
    pub async fn run(self, session: &Session) -> anyhow::Result<()> {
        let path = pod_path(session, &self.pod);
        let container = match self.container {
            Some(container) => container,
            None => first_container(session, &path).await?,
        };
        let mut path = format!("{path}/log?container={container}&follow={}&previous={}", self.follow, self.previous);
        if let Some(lines) = self.tail {
            path += &format!("&tailLines={lines}");
        }
        let request = Request::get(path).body(Body::empty())?;
        let mut log = std::pin::pin!(session.client.request_stream(request).await.map_err(plain)?);
        let (mut out, mut buffer) = (tokio::io::stdout(), vec![0; 16 << 10]);
        loop {
            let count = AsyncReadExt::read(&mut log, &mut buffer).await?;
            if count == 0 {
                return Ok(out.flush().await?);
            }
            out.write_all(&buffer[..count]).await?;
            out.flush().await?;
        }
    }
}

/// Channels of `v5.channel.k8s.io`.
mod channel {
    pub const STDIN: u8 = 0;
    pub const STDOUT: u8 = 1;
    pub const STDERR: u8 = 2;
    pub const ERROR: u8 = 3;
    pub const RESIZE: u8 = 4;
    pub const CLOSE: u8 = 255;
}

impl Exec {
    /// Runs the command; answers with its exit code.
    pub async fn run(self, session: &Session) -> anyhow::Result<u8> {
        let path = pod_path(session, &self.pod);
        let container = match &self.container {
            Some(container) => container.clone(),
            None => first_container(session, &path).await?,
        };
        let command: String = self.command.iter().map(|word| format!("&command={}", escape(word))).collect();
        let query = format!(
            "container={container}&stdin={}&stdout=true&stderr={}&tty={}{command}",
            self.stdin, !self.tty, self.tty
        );
        let mut socket = connect(session, &format!("{path}/exec?{query}")).await?;
        let _raw = if self.tty { RawTerminal::enter()? } else { None };
        let mut resized = signal(SignalKind::window_change())?;
        if self.tty {
            socket.send(resize()).await?;
        }
        let mut input = tokio::io::stdin();
        let (mut reading, mut buffer) = (self.stdin, vec![0; 16 << 10]);
        loop {
            tokio::select! {
                count = input.read(&mut buffer), if reading => {
                    let count = count?;
                    reading = count > 0;
                    let message = match count {
                        0 => vec![channel::CLOSE, channel::STDIN],
                        _ => [&[channel::STDIN], &buffer[..count]].concat(),
                    };
                    socket.send(Message::Binary(message.into())).await?;
                }
                _ = resized.recv(), if self.tty => socket.send(resize()).await?,
                message = socket.next() => match message.context("the server closed the connection")?? {
                    Message::Binary(data) => if let Some(code) = receive(&data).await? {
                        return Ok(code);
                    },
                    Message::Close(_) => bail!("the connection was closed before the command ended"),
                    _ => {}
                },
            }
        }
    }
}

/// Prints what a message brings; answers with the exit code if the command has ended.
async fn receive(data: &[u8]) -> anyhow::Result<Option<u8>> {
    let Some((channel, data)) = data.split_first() else { return Ok(None) };
    match *channel {
        channel::STDOUT => {
            let mut out = tokio::io::stdout();
            out.write_all(data).await?;
            out.flush().await?;
        }
        channel::STDERR => tokio::io::stderr().write_all(data).await?,
        channel::ERROR => return exit_code(data).map(Some),
        _ => {}
    }
    Ok(None)
}

fn exit_code(status: &[u8]) -> anyhow::Result<u8> {
    let status: Value = serde_json::from_slice(status).context("the server's last word")?;
    if status["status"] == "Success" {
        return Ok(0);
    }
    let causes = list(&status["details"]["causes"]);
    let code = causes.iter().find(|c| c["reason"] == "ExitCode").and_then(|c| text(&c["message"]).parse().ok());
    code.with_context(|| text(&status["message"]).to_owned())
}

type Socket = tokio_tungstenite::WebSocketStream<tokio_rustls::client::TlsStream<tokio::net::TcpStream>>;

async fn connect(session: &Session, path: &str) -> anyhow::Result<Socket> {
    let server: Uri = session.config.server.parse()?;
    let host = server.host().context("the server has no host")?;
    let tls = client::connect::tls_config(&session.config.ca, session.config.identity())?;
    let connector = client::HttpsConnector::new(tls).http1_only();
    let stream = connector.connect(host, server.port_u16().unwrap_or(443)).await?;
    let authority = server.authority().context("the server has no host")?;
    let mut request = format!("wss://{authority}{path}").into_client_request()?;
    request.headers_mut().insert("Sec-WebSocket-Protocol", "v5.channel.k8s.io".parse()?);
    if let Some(token) = session.config.token() {
        request.headers_mut().insert(header::AUTHORIZATION, format!("Bearer {token}").parse()?);
    }
    match tokio_tungstenite::client_async(request, stream).await {
        Ok((socket, _)) => Ok(socket),
        Err(tokio_tungstenite::tungstenite::Error::Http(response)) => {
            let body = response.body().as_deref().unwrap_or_default();
            let status: Value = serde_json::from_slice(body).unwrap_or_default();
            bail!("from server ({}): {}", text(&status["reason"]), text(&status["message"]))
        }
        Err(error) => Err(error.into()),
    }
}

/// The size of our terminal, for the one in the container.
fn resize() -> Message {
    let (width, height) = terminal_size().unwrap_or((80, 24));
    let size = json!({"Width": width, "Height": height}).to_string();
    Message::Binary([&[channel::RESIZE], size.as_bytes()].concat().into())
}

fn terminal_size() -> Option<(u16, u16)> {
    let size = termios::tcgetwinsize(std::io::stdin()).ok()?;
    Some((size.ws_col, size.ws_row))
}

/// The terminal without line editing and echo, until dropped.
struct RawTerminal(Termios);

impl RawTerminal {
    /// None if standard input is no terminal.
    fn enter() -> anyhow::Result<Option<Self>> {
        let stdin = std::io::stdin();
        let Ok(before) = termios::tcgetattr(&stdin) else { return Ok(None) };
        let mut raw = before.clone();
        raw.make_raw();
        termios::tcsetattr(&stdin, OptionalActions::Now, &raw)?;
        Ok(Some(RawTerminal(before)))
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        // Nothing better to do if the terminal is gone.
        let _ = termios::tcsetattr(std::io::stdin(), OptionalActions::Now, &self.0);
    }
}
