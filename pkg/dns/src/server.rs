//! Sockets: datagrams and connections in, answers out.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream, UdpSocket},
    sync::Semaphore,
    time::timeout,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    Error,
    answer::{Answerer, Outcome},
    forward::Transport,
};

/// Questions that may wait for other servers at the same time, and connections that may be open.
const MAX_WAITING: usize = 512;

/// Time that a connection may be silent.
const IDLE: Duration = Duration::from_secs(10);

/// Attempts to find a port that is free for both protocols, where the system chooses.
const PORT_ATTEMPTS: usize = 16;

/// Answers on addresses until `stop`.
pub(crate) async fn listen(
    addresses: &[SocketAddr],
    answerer: Arc<Answerer>,
    stop: &CancellationToken,
    tasks: &TaskTracker,
) -> Result<Vec<SocketAddr>, Error> {
    let waiting = Arc::new(Semaphore::new(MAX_WAITING));
    let mut sockets = Vec::new();
    for address in addresses {
        sockets.push(bind(*address).await?);
    }
    let mut bound = Vec::new();
    for (udp, tcp, address) in sockets {
        bound.push(address);
        let (udp_answerer, udp_waiting, udp_stop) = (answerer.clone(), waiting.clone(), stop.clone());
        tasks.spawn(async move { udp_stop.run_until_cancelled(datagrams(udp, udp_answerer, udp_waiting)).await });
        let (answerer, waiting, stop) = (answerer.clone(), waiting.clone(), stop.clone());
        tasks.spawn(async move { stop.run_until_cancelled(connections(tcp, answerer, waiting)).await });
    }
    Ok(bound)
}

async fn bind(address: SocketAddr) -> Result<(Arc<UdpSocket>, TcpListener, SocketAddr), Error> {
    let error = |protocol| move |source| Error::Listen { address, protocol, source };
    let mut attempt = 0;
    loop {
        let udp = UdpSocket::bind(address).await.map_err(error("UDP"))?;
        let bound = udp.local_addr().map_err(error("UDP"))?;
        match TcpListener::bind(bound).await {
            Ok(tcp) => return Ok((Arc::new(udp), tcp, bound)),
            // The port that the system chose for UDP is taken for TCP.
            Err(_) if address.port() == 0 && attempt < PORT_ATTEMPTS => attempt += 1,
            Err(source) => return Err(error("TCP")(source)),
        }
    }
}

async fn datagrams(socket: Arc<UdpSocket>, answerer: Arc<Answerer>, waiting: Arc<Semaphore>) {
    let mut buffer = vec![0; 4096];
    loop {
        let (length, client) = match socket.recv_from(&mut buffer).await {
            Ok(received) => received,
            // An earlier answer that a client did not take comes back as an error here.
            Err(error) => {
                tracing::debug!(%error, "DNS receive");
                continue;
            }
        };
        let request = &buffer[..length];
        match answerer.answer(request, Transport::Udp) {
            Outcome::Ready(answer) => {
                let _ = socket.send_to(&answer, client).await;
            }
            Outcome::Ignored => {}
            Outcome::Slow(message) => {
                // When too many wait already, this client asks again later.
                let Ok(permit) = waiting.clone().try_acquire_owned() else { continue };
                let (socket, answerer, request) = (socket.clone(), answerer.clone(), request.to_vec());
                tokio::spawn(async move {
                    let answer = answerer.answer_slowly(&request, &message, Transport::Udp).await;
                    let _ = socket.send_to(&answer, client).await;
                    drop(permit);
                });
            }
        }
    }
}

async fn connections(listener: TcpListener, answerer: Arc<Answerer>, open: Arc<Semaphore>) {
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::debug!(%error, "DNS accept");
                // Out of file descriptors, as a rule: let some close.
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let Ok(permit) = open.clone().try_acquire_owned() else { continue };
        let answerer = answerer.clone();
        tokio::spawn(async move {
            // A client that goes away in the middle is no news.
            let _ = connection(stream, &answerer).await;
            drop(permit);
        });
    }
}

async fn connection(mut stream: TcpStream, answerer: &Answerer) -> std::io::Result<()> {
    loop {
        let length = timeout(IDLE, stream.read_u16()).await??;
        let mut request = vec![0; usize::from(length)];
        timeout(IDLE, stream.read_exact(&mut request)).await??;
        let answer = match answerer.answer(&request, Transport::Tcp) {
            Outcome::Ready(answer) => answer,
            Outcome::Ignored => return Ok(()),
            Outcome::Slow(message) => answerer.answer_slowly(&request, &message, Transport::Tcp).await,
        };
        let Ok(length) = u16::try_from(answer.len()) else { return Ok(()) };
        let framed = [&length.to_be_bytes()[..], &answer].concat();
        timeout(IDLE, stream.write_all(&framed)).await??;
    }
}
