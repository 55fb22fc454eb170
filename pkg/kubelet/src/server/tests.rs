//! WebSockets of clients, joined with a runtime that is a streaming server and nothing else.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::WebSocketUpgrade;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cri::streaming::server::{Forwarding, RemoteCommand, remote_command, respond};
use cri::streaming::{PORT_FORWARD, REMOTE_COMMAND, Role, Session, Streams};
use futures::{SinkExt as _, StreamExt as _};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::net::TcpListener;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use super::channels::Handshake;
use super::stream::Asked;
use super::{Answer, channels, forward};

/// The port of the pod where nobody listens.
const REFUSED: u16 = 1;

/// The URL of a streaming server that takes one connection and speaks on it.
async fn streaming<F>(speak: fn(Session) -> F) -> String
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/x", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let service = service_fn(move |mut request| async move {
            let (response, _) = respond(request.headers(), &[REMOTE_COMMAND, PORT_FORWARD]).unwrap();
            let upgrade = hyper::upgrade::on(&mut request);
            tokio::spawn(async move {
                let session = Session::new(TokioIo::new(upgrade.await.unwrap()), Role::Server).unwrap();
                speak(session).await;
            });
            Ok::<_, Infallible>(response.map(|()| Body::empty()))
        });
        let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).with_upgrades().await;
    });
    url
}

/// A command that never ends.
async fn endless(session: Session) {
    let streams = Streams { stdout: true, ..Streams::default() };
    let RemoteCommand { stdout, error, .. } = remote_command(&session, streams).await.unwrap();
    std::future::pending::<()>().await;
    drop((stdout, error));
}

/// Ports that answer what they hear first, with their number.
async fn pod(session: Session) {
    let mut forwarding = Forwarding::default();
    while let Some(Ok(mut forwarded)) = forwarding.next(&session).await {
        tokio::spawn(async move {
            if forwarded.port == REFUSED {
                forwarded.error.write_all(b"connection refused").await.unwrap();
            } else {
                let mut heard = [0; 64];
                let length = forwarded.data.reader.read(&mut heard).await.unwrap();
                let answer = [format!("{}:", forwarded.port).as_bytes(), &heard[..length]].concat();
                forwarded.data.writer.write_all(&answer).await.unwrap();
            }
            forwarded.data.writer.shutdown().await.unwrap();
            forwarded.error.shutdown().await.unwrap();
        });
    }
}

/// A kubelet's end of one WebSocket, and the client's.
struct Fixture {
    socket: WebSocketStream<DuplexStream>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Fixture {
    async fn open<F>(
        protocol: &'static str,
        answer: impl FnOnce(Handshake) -> F + Clone + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Response, Answer>> + Send + 'static,
    {
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let parts = (stop.clone(), tasks.clone());
        let handler = move |upgrade: WebSocketUpgrade| async move {
            let (stop, tasks) = parts;
            answer(Handshake { upgrade, protocols: vec![protocol.to_owned()], stop, tasks }).await.into_response()
        };
        let router = Router::new().route("/", get(handler));
        let (near, far) = tokio::io::duplex(64 << 10);
        let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
            router.clone().oneshot(request.map(Body::new))
        });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(far), service).with_upgrades());
        let mut request = "ws://node/".into_client_request().unwrap();
        request.headers_mut().insert("sec-websocket-protocol", protocol.parse().unwrap());
        let (socket, _) = tokio_tungstenite::client_async(request, near).await.unwrap();
        Fixture { socket, stop, tasks }
    }

    /// Stops the kubelet while the client holds its end.
    async fn stop(self) {
        self.stop.cancel();
        self.tasks.close();
        tokio::time::timeout(Duration::from_secs(5), self.tasks.wait()).await.expect("the stop waits for the client");
        drop(self.socket);
    }
}

#[tokio::test]
async fn an_open_exec_does_not_hold_up_the_stop() {
    let url = streaming(endless).await;
    let asked = Asked { stdout: true, ..Asked::default() };
    let answer = |handshake| async move { channels::serve(handshake, &url, asked).await };
    let mut fixture = Fixture::open("v5.channel.k8s.io", answer).await;
    assert_eq!(fixture.socket.next().await.unwrap().unwrap(), Message::Binary(b"\x01"[..].into()), "set up");
    fixture.stop().await;
}

#[tokio::test]
async fn an_open_tunnel_does_not_hold_up_the_stop() {
    let url = streaming(pod).await;
    let mut fixture = Fixture::open(forward::TUNNEL, |handshake| async { Ok(forward::tunnel(handshake, url)) }).await;
    assert!(matches!(fixture.socket.next().await, Some(Ok(Message::Binary(_)))), "the runtime's settings");
    fixture.stop().await;
}

/// Forwards `ports`, says `hello` to each, and gathers what comes on each channel until the end.
async fn forwarded(protocol: &'static str, ports: Vec<u16>) -> BTreeMap<u32, Vec<u8>> {
    let url = streaming(pod).await;
    let (text, count) = (protocol.contains("base64"), ports.len());
    let answer = move |handshake| async move { forward::channels(handshake, &url, ports).await };
    let mut socket = Fixture::open(protocol, answer).await.socket;
    for channel in (0..=u8::MAX).step_by(2).take(count) {
        let message = match text {
            true => Message::Text(format!("{}{}", char::from(b'0' + channel), STANDARD.encode("hello")).into()),
            false => Message::Binary([&[channel][..], b"hello"].concat().into()),
        };
        // The session may have ended if no port listens.
        let _ = socket.send(message).await;
    }
    let mut heard: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
    loop {
        let (channel, payload) = match socket.next().await.unwrap().unwrap() {
            Message::Text(message) if text => {
                let mut rest = message.chars();
                (u32::from(rest.next().unwrap()) - u32::from('0'), STANDARD.decode(rest.as_str()).unwrap())
            }
            Message::Binary(message) if !text => (message[0].into(), message[1..].to_vec()),
            Message::Close(_) => return heard,
            other => panic!("{other:?}"),
        };
        heard.entry(channel).or_default().extend(payload);
    }
}

#[tokio::test]
async fn ports_are_forwarded_both_ways_each_in_its_channels() {
    let (binary, base64) = ("v4.channel.k8s.io", "v4.base64.channel.k8s.io");
    let table = [
        (binary, vec![7000]),
        (binary, vec![7000, 7001]),
        (binary, vec![REFUSED]),
        (binary, vec![REFUSED, 7001, REFUSED]),
        (base64, vec![7000, REFUSED]),
        // Channels from 10 on have two digits.
        (base64, (7000..7007).collect()),
        // The most that there are channels for.
        (binary, (7000..7128).collect()),
    ];
    for (protocol, ports) in table {
        let want: BTreeMap<u32, Vec<u8>> = (0..)
            .zip(&ports)
            .flat_map(|(at, port)| {
                let (answer, failure) = if *port == REFUSED {
                    (String::new(), "connection refused")
                } else {
                    (format!("{port}:hello"), "")
                };
                let begin = port.to_le_bytes();
                [(2 * at, [&begin, answer.as_bytes()].concat()), (2 * at + 1, [&begin, failure.as_bytes()].concat())]
            })
            .collect();
        let got = tokio::time::timeout(Duration::from_secs(20), forwarded(protocol, ports.clone())).await;
        assert_eq!(got.expect("an end"), want, "{protocol} {ports:?}");
    }
}

#[test]
fn queries_without_usable_ports_are_refused_with_the_port() {
    let full = ["port=1"; 128].join("&");
    assert_eq!(forward::ports(&full).unwrap().len(), 128);
    assert_eq!(forward::ports("port=80,81&ports=65535&x=y").unwrap(), [80, 81, 65535]);
    let more = format!("{full}&port=1");
    let table = [
        ("", "\"port\" is required"),
        ("command=sh", "\"port\" is required"),
        (more.as_str(), "once to 128 times"),
        ("port=", "unable to parse \"\" as a port"),
        ("port=80&port=http", "unable to parse \"http\""),
        ("port=80,0", "unable to parse \"0\""),
        ("port=70000", "unable to parse \"70000\""),
        ("port=-1", "unable to parse \"-1\""),
    ];
    for (query, want) in table {
        let Err(Answer(status, text)) = forward::ports(query) else { panic!("{query} is taken") };
        assert!(status == 400 && text.contains(want), "{query}: {status} {text}");
    }
}
