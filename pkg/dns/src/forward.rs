//! Foreign names: the question is passed on as it came, and so is the answer.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use hickory_proto::op::Message;
use parking_lot::Mutex;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpStream, UdpSocket},
    time::timeout,
};

/// How a question came, and is passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    /// One datagram.
    Udp,
    /// A connection.
    Tcp,
}

/// Time that one server has for its answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// As many servers as the file may name.
const MAX_SERVERS: usize = 3;

/// Where the real servers are named if the usual file only names a stub on this machine.
const BEHIND_STUB: &str = "/run/systemd/resolve/resolv.conf";

pub(crate) struct Forwarder {
    resolv_conf: PathBuf,
    own: Vec<IpAddr>,
    /// Time of the file that was read, and what it said.
    servers: Mutex<(Option<SystemTime>, Vec<SocketAddr>)>,
}

impl Forwarder {
    /// `own` are addresses that this server answers on: they are no upstream.
    pub fn new(resolv_conf: PathBuf, own: Vec<IpAddr>) -> Self {
        Forwarder { resolv_conf, own, servers: Mutex::default() }
    }

    /// The upstream servers, from the file as it is now.
    fn servers(&self) -> Vec<SocketAddr> {
        let changed = std::fs::metadata(&self.resolv_conf).and_then(|m| m.modified()).ok();
        let mut servers = self.servers.lock();
        if changed.is_none() || servers.0 != changed {
            let text = std::fs::read_to_string(&self.resolv_conf).unwrap_or_default();
            let behind = || std::fs::read_to_string(Path::new(BEHIND_STUB)).ok();
            *servers = (changed, upstream(&text, behind, &self.own));
        }
        servers.1.clone()
    }

    /// The answer of the first server that gives one.
    pub async fn forward(&self, request: &[u8], transport: Transport) -> io::Result<Vec<u8>> {
        let mut error = io::Error::new(io::ErrorKind::NotFound, "no upstream DNS server is configured");
        for server in self.servers() {
            let asked = async {
                match transport {
                    Transport::Udp => ask_udp(server, request).await,
                    Transport::Tcp => ask_tcp(server, request).await,
                }
            };
            match timeout(PATIENCE, asked).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(failed)) => error = failed,
                Err(late) => error = late.into(),
            }
        }
        Err(error)
    }
}

/// The servers of a `resolv.conf`. A stub on this machine is passed by where it says to whom it
/// would pass the question.
pub(crate) fn upstream(text: &str, behind: impl Fn() -> Option<String>, own: &[IpAddr]) -> Vec<SocketAddr> {
    let read = |text: &str| -> Vec<IpAddr> {
        let servers = text.lines().filter_map(|line| {
            let mut words = line.split_whitespace();
            // A zone (`%eth0`) cannot be kept in an address alone.
            (words.next()? == "nameserver").then(|| words.next()?.split('%').next()?.parse().ok())?
        });
        servers.filter(|server| !own.contains(server)).take(MAX_SERVERS).collect()
    };
    let mut servers = read(text);
    if servers.iter().all(IpAddr::is_loopback) {
        let real = behind().map(|text| read(&text)).unwrap_or_default();
        if real.iter().any(|server| !server.is_loopback()) {
            servers = real;
        }
    }
    servers.into_iter().map(|ip| SocketAddr::new(ip, 53)).collect()
}

async fn ask_udp(server: SocketAddr, request: &[u8]) -> io::Result<Vec<u8>> {
    let any: IpAddr = if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0)).await?;
    socket.connect(server).await?;
    // A number and a port that nobody can guess, so that nobody else can answer.
    let (question, id) = renumbered(request)?;
    socket.send(&question).await?;
    let mut buffer = vec![0; 4096];
    loop {
        let length = socket.recv(&mut buffer).await?;
        if answers(&buffer[..length], &question) {
            buffer.truncate(length);
            buffer[..2].copy_from_slice(&id);
            return Ok(buffer);
        }
    }
}

async fn ask_tcp(server: SocketAddr, request: &[u8]) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(server).await?;
    let (question, id) = renumbered(request)?;
    let length = u16::try_from(question.len()).map_err(|_| io::Error::other("question too long"))?;
    stream.write_all(&[&length.to_be_bytes()[..], &question].concat()).await?;
    let mut answer = vec![0; usize::from(stream.read_u16().await?)];
    stream.read_exact(&mut answer).await?;
    if !answers(&answer, &question) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the answer is not to the question"));
    }
    answer[..2].copy_from_slice(&id);
    Ok(answer)
}

/// The request under a random number, and the number it had.
fn renumbered(request: &[u8]) -> io::Result<(Vec<u8>, [u8; 2])> {
    let id = *request.first_chunk::<2>().ok_or(io::ErrorKind::InvalidInput)?;
    let mut question = request.to_vec();
    question[..2].copy_from_slice(&Message::query().metadata.id.to_be_bytes());
    Ok((question, id))
}

/// Whether bytes are an answer to that question.
fn answers(answer: &[u8], question: &[u8]) -> bool {
    let (Ok(answer), Ok(question)) = (Message::from_vec(answer), Message::from_vec(question)) else { return false };
    answer.metadata.id == question.metadata.id
        && answer.metadata.message_type == hickory_proto::op::MessageType::Response
        && (answer.queries.is_empty() || answer.queries == question.queries)
}
