//! Questions over real sockets, in a namespace with a fake upstream server on port 53.

use std::net::Ipv4Addr;

use hickory_proto::{
    op::{Edns, Message, Query, ResponseCode},
    rr::{Name, RData, Record, RecordType, rdata::A},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpStream, UdpSocket},
};

use super::*;

/// An API behind the informers that never answers: tests feed the informers themselves.
#[derive(Clone)]
struct Nothing;

impl tower::Service<http::Request<kube::client::Body>> for Nothing {
    type Response = http::Response<kube::client::Body>;
    type Error = std::convert::Infallible;
    type Future = std::future::Pending<Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Self::Error>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Request<kube::client::Body>) -> Self::Future {
        std::future::pending()
    }
}

fn service(name: &str, spec: Value) -> Service {
    serde_json::from_value(json!({ "metadata": { "namespace": "default", "name": name }, "spec": spec })).unwrap()
}

fn slice(service: &str, endpoints: Value) -> EndpointSlice {
    serde_json::from_value(json!({
        "metadata": {
            "namespace": "default",
            "name": format!("{service}-x"),
            "labels": { "kubernetes.io/service-name": service },
        },
        "addressType": "IPv4",
        "ports": [{ "name": "http", "port": 8080, "protocol": "TCP" }],
        "endpoints": endpoints,
    }))
    .unwrap()
}

/// Of a fresh cluster, with a few services.
fn informers() -> Informers {
    let informers = Informers::new(kube::Client::new(Nothing, "default"), CancellationToken::new());
    let (services, slices) = (informers.get::<Service>(), informers.get::<EndpointSlice>());
    for name in ["default", "empty"] {
        informers.get::<Namespace>().insert(serde_json::from_value(json!({ "metadata": { "name": name } })).unwrap());
    }
    let https = json!([{ "name": "https", "port": 443, "protocol": "TCP" }]);
    services.insert(service(
        "kubernetes",
        json!({ "clusterIP": "10.43.0.1", "clusterIPs": ["10.43.0.1"], "ports": https }),
    ));
    services.insert(service("db", json!({ "clusterIP": "None", "ports": [{ "name": "http", "port": 80 }] })));
    services.insert(service("nobody", json!({ "clusterIP": "None" })));
    services.insert(service("big", json!({ "clusterIP": "None" })));
    services.insert(service("out", json!({ "type": "ExternalName", "externalName": "www.example.com" })));
    services.insert(service("in", json!({ "type": "ExternalName", "externalName": "db.default.svc.cluster.local" })));
    services
        .insert(service("round", json!({ "type": "ExternalName", "externalName": "round.default.svc.cluster.local" })));
    slices.insert(slice(
        "db",
        json!([
            { "addresses": ["10.42.0.5"], "hostname": "db-0" },
            { "addresses": ["10.42.0.6"], "conditions": { "ready": true } },
            { "addresses": ["10.42.0.7"], "conditions": { "ready": false } },
        ]),
    ));
    let many: Vec<Value> = (0..100).map(|n| json!({ "addresses": [format!("10.42.1.{n}")] })).collect();
    slices.insert(slice("big", json!(many)));
    services.set_synced();
    slices.set_synced();
    informers.get::<Namespace>().set_synced();
    informers
}

struct World {
    server: SocketAddr,
    informers: Informers,
}

/// Runs a test in a namespace of its own, with the server and, if asked for, an upstream.
fn with_server<F: Future<Output = ()>>(upstream: bool, test: impl FnOnce(World) -> F + Send) {
    let namespace = netlink::Namespace::fresh().unwrap();
    namespace
        .run(|| {
            let mut rtnetlink = netlink::Rtnetlink::open().unwrap();
            let lo = rtnetlink.require_link("lo").unwrap();
            rtnetlink.set_up(lo.index).unwrap();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let dir = tempfile::tempdir().unwrap();
                let resolv_conf = dir.path().join("resolv.conf");
                if upstream {
                    fake_upstream().await;
                    std::fs::write(&resolv_conf, "# comment\nsearch x\nnameserver 127.0.0.1\nnameserver 127.0.0.2\n")
                        .unwrap();
                }
                let stop = CancellationToken::new();
                let tasks = TaskTracker::new();
                let config = Config {
                    informers: informers(),
                    listen: vec!["127.0.0.1:0".parse().unwrap()],
                    cluster_domain: "cluster.local".into(),
                    networks: vec![(Ipv4Addr::new(10, 43, 0, 0).into(), 16)],
                    resolv_conf,
                };
                let informers = config.informers.clone();
                let server = start(config, stop.clone(), &tasks).await.unwrap()[0];
                test(World { server, informers }).await;
                stop.cancel();
                tasks.close();
                tasks.wait().await;
            });
        })
        .unwrap();
}

/// Knows `www.example.com` and nothing else.
async fn fake_upstream() {
    let socket = UdpSocket::bind("127.0.0.2:53").await.unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.2:53").await.unwrap();
    let answer = |bytes: &[u8]| {
        let mut message = Message::from_vec(bytes).unwrap().into_response();
        let name = message.queries[0].name().clone();
        if name.to_ascii() == "www.example.com." {
            message.add_answer(Record::from_rdata(name, 60, RData::A(A(Ipv4Addr::new(203, 0, 113, 1)))));
        } else {
            message.metadata.response_code = ResponseCode::NXDomain;
        }
        message.to_vec().unwrap()
    };
    tokio::spawn(async move {
        let mut buffer = [0; 512];
        while let Ok((length, client)) = socket.recv_from(&mut buffer).await {
            socket.send_to(&answer(&buffer[..length]), client).await.unwrap();
        }
    });
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut bytes = vec![0; usize::from(stream.read_u16().await.unwrap())];
            stream.read_exact(&mut bytes).await.unwrap();
            let bytes = answer(&bytes);
            stream.write_u16(bytes.len() as u16).await.unwrap();
            stream.write_all(&bytes).await.unwrap();
        }
    });
}

fn question(name: &str, kind: RecordType) -> Message {
    let mut message = Message::query();
    message.metadata.recursion_desired = true;
    let mut name = Name::from_ascii(name).unwrap();
    name.set_fqdn(true);
    message.add_query(Query::query(name, kind));
    message
}

async fn ask_udp(server: SocketAddr, message: &Message) -> Message {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    socket.send_to(&message.to_vec().unwrap(), server).await.unwrap();
    let mut buffer = [0; 4096];
    let received = tokio::time::timeout(std::time::Duration::from_secs(3), socket.recv(&mut buffer)).await;
    Message::from_vec(&buffer[..received.expect("no answer").unwrap()]).unwrap()
}

async fn ask_tcp(server: SocketAddr, message: &Message) -> Message {
    let mut stream = TcpStream::connect(server).await.unwrap();
    let bytes = message.to_vec().unwrap();
    stream.write_u16(bytes.len() as u16).await.unwrap();
    stream.write_all(&bytes).await.unwrap();
    let mut answer = vec![0; usize::from(stream.read_u16().await.unwrap())];
    stream.read_exact(&mut answer).await.unwrap();
    Message::from_vec(&answer).unwrap()
}

/// The answer in one line: its code if there is none.
fn show(message: &Message) -> String {
    let mut records: Vec<String> = message.answers.iter().map(|record| record.data.to_string()).collect();
    records.sort();
    match (message.metadata.response_code, records.is_empty()) {
        (ResponseCode::NoError, true) => "nodata".into(),
        (ResponseCode::NoError, false) => records.join(", "),
        (ResponseCode::NXDomain, _) => "nxdomain".into(),
        (code, _) => format!("{code:?}"),
    }
}

#[test]
fn names_of_the_cluster_are_answered_by_the_specification() {
    use RecordType::{A, AAAA, CNAME, PTR, SOA, SRV, TXT};
    let cases = [
        ("kubernetes.default.svc.cluster.local", A, "10.43.0.1"),
        ("KuberNetes.default.SVC.cluster.local", A, "10.43.0.1"),
        ("kubernetes.default.svc.cluster.local", AAAA, "nodata"),
        ("kubernetes.default.svc.cluster.local", TXT, "nodata"),
        ("_https._tcp.kubernetes.default.svc.cluster.local", SRV, "0 100 443 kubernetes.default.svc.cluster.local."),
        ("_https._tcp.kubernetes.default.svc.cluster.local", A, "nodata"),
        ("_tcp.kubernetes.default.svc.cluster.local", A, "nodata"),
        ("_http._tcp.kubernetes.default.svc.cluster.local", SRV, "nxdomain"),
        ("_https._udp.kubernetes.default.svc.cluster.local", SRV, "nxdomain"),
        ("1.0.43.10.in-addr.arpa", PTR, "kubernetes.default.svc.cluster.local."),
        ("1.0.43.10.in-addr.arpa", A, "nodata"),
        ("99.0.43.10.in-addr.arpa", PTR, "nxdomain"),
        ("db.default.svc.cluster.local", A, "10.42.0.5, 10.42.0.6"),
        ("db-0.db.default.svc.cluster.local", A, "10.42.0.5"),
        ("10-42-0-6.db.default.svc.cluster.local", A, "10.42.0.6"),
        ("10-42-0-7.db.default.svc.cluster.local", A, "nxdomain"),
        ("db-1.db.default.svc.cluster.local", A, "nxdomain"),
        (
            "_http._tcp.db.default.svc.cluster.local",
            SRV,
            "0 100 8080 10-42-0-6.db.default.svc.cluster.local., 0 100 8080 db-0.db.default.svc.cluster.local.",
        ),
        ("5.0.42.10.in-addr.arpa", PTR, "db-0.db.default.svc.cluster.local."),
        ("nobody.default.svc.cluster.local", A, "nodata"),
        ("absent.default.svc.cluster.local", A, "nxdomain"),
        ("kubernetes.absent.svc.cluster.local", A, "nxdomain"),
        ("default.svc.cluster.local", A, "nodata"),
        ("empty.svc.cluster.local", A, "nodata"),
        ("absent.svc.cluster.local", A, "nxdomain"),
        ("svc.cluster.local", A, "nodata"),
        ("10-42-0-9.default.pod.cluster.local", A, "10.42.0.9"),
        ("10-42-0-9.absent.pod.cluster.local", A, "nxdomain"),
        ("ten.default.pod.cluster.local", A, "nxdomain"),
        ("cluster.local", SOA, "ns.dns.cluster.local. hostmaster.cluster.local. 1 7200 1800 86400 5"),
        ("cluster.local", A, "nodata"),
        ("dns-version.cluster.local", TXT, "1.1.0"),
        ("www.example.com.default.svc.cluster.local", A, "nxdomain"),
        ("out.default.svc.cluster.local", CNAME, "www.example.com."),
        ("out.default.svc.cluster.local", A, "203.0.113.1, www.example.com."),
        ("in.default.svc.cluster.local", A, "10.42.0.5, 10.42.0.6, db.default.svc.cluster.local."),
        ("round.default.svc.cluster.local", A, "ServFail"),
        ("www.example.com", A, "203.0.113.1"),
        ("other.example.com", A, "nxdomain"),
    ];
    with_server(true, |world| async move {
        for (name, kind, wanted) in cases {
            let message = question(name, kind);
            for answer in [ask_udp(world.server, &message).await, ask_tcp(world.server, &message).await] {
                assert_eq!(show(&answer), wanted, "{name} {kind}");
                assert_eq!(answer.metadata.id, message.metadata.id);
                assert_eq!(answer.queries, message.queries, "{name}");
                if name.ends_with("cluster.local") && (wanted == "nodata" || wanted == "nxdomain") {
                    assert_eq!(answer.authorities.len(), 1, "{name}: says how long no may be kept");
                }
            }
        }
    });
}

#[test]
fn an_answer_too_long_for_a_datagram_is_cut_and_whole_over_tcp() {
    with_server(false, |world| async move {
        let mut message = question("big.default.svc.cluster.local", RecordType::A);
        let cut = ask_udp(world.server, &message).await;
        assert!(cut.metadata.truncation && cut.answers.is_empty());
        message.set_edns({
            let mut edns = Edns::new();
            edns.set_max_payload(4096);
            edns
        });
        let cut = ask_udp(world.server, &message).await;
        assert!(cut.metadata.truncation && cut.edns.is_some());
        let whole = ask_tcp(world.server, &message).await;
        assert_eq!((whole.answers.len(), whole.metadata.truncation), (100, false));
        assert_eq!(whole.answers[0].ttl, 5);
    });
}

#[test]
fn without_upstream_foreign_names_fail_at_once_and_rubbish_is_refused() {
    with_server(false, |world| async move {
        let answer = ask_udp(world.server, &question("www.example.com", RecordType::A)).await;
        assert_eq!(answer.metadata.response_code, ResponseCode::ServFail);
        let out = ask_udp(world.server, &question("out.default.svc.cluster.local", RecordType::A)).await;
        assert_eq!(show(&out), "www.example.com.");
        let empty = Message::query();
        assert_eq!(ask_udp(world.server, &empty).await.metadata.response_code, ResponseCode::FormErr);
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        for rubbish in [&b""[..], b"x", b"\x00\x01\x80", &[0xff; 40]] {
            socket.send_to(rubbish, world.server).await.unwrap();
        }
        let answer = ask_udp(world.server, &question("kubernetes.default.svc.cluster.local", RecordType::A)).await;
        assert_eq!(show(&answer), "10.43.0.1");
    });
}

#[test]
fn answers_follow_services_and_their_endpoints() {
    with_server(false, |world| async move {
        let (services, slices) = (world.informers.get::<Service>(), world.informers.get::<EndpointSlice>());
        let show_now = async |name: &str| show(&ask_udp(world.server, &question(name, RecordType::A)).await);
        let eventually = async |name: &str, wanted: &str| {
            let mut last = String::new();
            for _ in 0..100 {
                last = show_now(name).await;
                if last == wanted {
                    return;
                }
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
            panic!("{name}: {last}");
        };
        services.insert(service("web", json!({ "clusterIP": "10.43.0.7", "clusterIPs": ["10.43.0.7"] })));
        eventually("web.default.svc.cluster.local", "10.43.0.7").await;
        slices.insert(slice("nobody", json!([{ "addresses": ["10.42.0.8"] }])));
        eventually("nobody.default.svc.cluster.local", "10.42.0.8").await;
        slices.remove(&ObjectKey::new("default", "nobody-x"));
        eventually("nobody.default.svc.cluster.local", "nodata").await;
        services.remove(&ObjectKey::new("default", "web"));
        eventually("web.default.svc.cluster.local", "nxdomain").await;
        let pointer = ask_udp(world.server, &question("7.0.43.10.in-addr.arpa", RecordType::PTR)).await;
        assert_eq!(show(&pointer), "nxdomain");
    });
}

#[test]
fn upstream_servers_are_the_real_ones() {
    let own = ["10.43.0.10".parse().unwrap()];
    let behind = || Some("nameserver 192.0.2.53\n".to_owned());
    let none = || None;
    let servers = |text: &str, behind: &dyn Fn() -> Option<String>| {
        let found = forward::upstream(text, behind, &own);
        found.iter().map(|server| server.ip().to_string()).collect::<Vec<_>>().join(" ")
    };
    for (text, wanted) in [
        ("nameserver 192.0.2.1\nnameserver 192.0.2.2\n", "192.0.2.1 192.0.2.2"),
        ("nameserver 10.43.0.10\nnameserver 192.0.2.2\n", "192.0.2.2"),
        ("nameserver 127.0.0.53\noptions edns0\n", "192.0.2.53"),
        ("nameserver fe80::1%eth0\n#nameserver 1.1.1.1\nnameserver\n", "fe80::1"),
        ("", "192.0.2.53"),
    ] {
        assert_eq!(servers(text, &behind), wanted, "{text}");
    }
    assert_eq!(servers("nameserver 127.0.0.53\n", &none), "127.0.0.53");
    assert_eq!(servers("", &none), "");
}
