//! Sockets in namespaces: a node with two pods, and a machine outside.

use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use netlink::{Namespace, Net, Route, RouteKind, Rtnetlink};
use serde_json::json;

use super::*;

const NODE_IP: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const VIP: Ipv4Addr = Ipv4Addr::new(10, 43, 0, 1);

/// Every namespace hangs on the node by a cable of its own, with the node as its gateway.
struct World {
    node: Namespace,
}

impl World {
    fn new() -> Self {
        let node = Namespace::fresh().unwrap();
        node.run(|| {
            let mut rtnetlink = Rtnetlink::open().unwrap();
            let lo = rtnetlink.require_link("lo").unwrap();
            rtnetlink.set_up(lo.index).unwrap();
            rtnetlink.add_address(lo.index, Net::host(NODE_IP)).unwrap();
            netlink::sysctl::set("net/ipv4/ip_forward", "1").unwrap();
        })
        .unwrap();
        World { node }
    }

    /// Nodes have a route for the service range, so that packets come as far as the rules.
    fn route_services(&self) {
        self.node
            .run(|| {
                let mut rtnetlink = Rtnetlink::open().unwrap();
                let link = rtnetlink.require_link("knet1").unwrap();
                let kind = RouteKind::Interface(link.index);
                let destination = node().service_cidr;
                let route = Route { destination, kind, source: Some(NODE_IP.into()), protocol: 4 };
                rtnetlink.replace_route(&route).unwrap();
            })
            .unwrap();
    }

    fn machine(&self, n: u8, ip: &str) -> Namespace {
        let machine = Namespace::fresh().unwrap();
        let (ip, gateway): (Ipv4Addr, Ipv4Addr) = (ip.parse().unwrap(), Ipv4Addr::new(169, 254, 0, n));
        let route = |destination, kind, source| Route { destination, kind, source, protocol: 4 };
        self.node
            .run(|| {
                let mut rtnetlink = Rtnetlink::open().unwrap();
                rtnetlink.add_veth(&format!("knet{n}"), "eth0", &machine, 1500, None).unwrap();
                let link = rtnetlink.require_link(&format!("knet{n}")).unwrap();
                rtnetlink.add_address(link.index, Net::host(gateway)).unwrap();
                rtnetlink.set_up(link.index).unwrap();
                rtnetlink
                    .replace_route(&route(Net::host(ip), RouteKind::Interface(link.index), Some(NODE_IP.into())))
                    .unwrap();
            })
            .unwrap();
        machine
            .run(|| {
                let mut rtnetlink = Rtnetlink::open().unwrap();
                let lo = rtnetlink.require_link("lo").unwrap();
                rtnetlink.set_up(lo.index).unwrap();
                let link = rtnetlink.require_link("eth0").unwrap();
                rtnetlink.add_address(link.index, Net::host(ip)).unwrap();
                rtnetlink.set_up(link.index).unwrap();
                let via = RouteKind::Gateway { via: gateway.into(), interface: Some(link.index) };
                rtnetlink.replace_route(&route(Net::new(Ipv4Addr::UNSPECIFIED, 0), via, None)).unwrap();
            })
            .unwrap();
        machine
    }
}

/// Serves its own name over TCP and UDP, with the address that it saw.
fn serve(namespace: &Namespace, name: &'static str, port: u16) {
    let (tcp, udp) = namespace
        .run(|| {
            (
                TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).unwrap(),
                UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port)).unwrap(),
            )
        })
        .unwrap();
    std::thread::spawn(move || {
        while let Ok((mut stream, peer)) = tcp.accept() {
            let _ = stream.write_all(format!("{name} {}", peer.ip()).as_bytes());
        }
    });
    std::thread::spawn(move || {
        while let Ok((_, peer)) = udp.recv_from(&mut [0; 64]) {
            let _ = udp.send_to(format!("{name} {}", peer.ip()).as_bytes(), peer);
        }
    });
}

fn ask(from: &Namespace, ip: Ipv4Addr, port: u16) -> std::io::Result<String> {
    from.run(|| {
        let mut stream = TcpStream::connect_timeout(&SocketAddr::from((ip, port)), Duration::from_secs(3))?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        Ok(text)
    })
    .unwrap()
}

/// Runs the proxy on detached informers inside the node while `work` goes on.
fn with_proxy(world: &World, informers: &Informers, work: impl FnOnce() + Send) {
    let (ready, done) = (std::sync::Barrier::new(2), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            world
                .node
                .run(|| {
                    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                    runtime.block_on(async {
                        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
                        let config = Config { informers: informers.clone(), node: node() };
                        start(config, stop.clone(), &tasks).await.unwrap();
                        ready.wait();
                        while !done.load(Ordering::Relaxed) {
                            tokio::time::sleep(Duration::from_millis(5)).await;
                        }
                        stop.cancel();
                        tasks.close();
                        tasks.wait().await;
                    });
                })
                .unwrap();
        });
        ready.wait();
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        done.store(true, Ordering::Relaxed);
        outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

/// Informers that only tests feed: the API behind them never answers a watch.
fn informers(runtime: &tokio::runtime::Runtime) -> Informers {
    let _guard = runtime.enter();
    let service = tower_nothing();
    let informers = Informers::new(service, CancellationToken::new());
    informers.get::<Service>().set_synced();
    informers.get::<EndpointSlice>().set_synced();
    informers
}

fn tower_nothing() -> kube::Client {
    kube::Client::new(Nothing, "default")
}

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

/// Tries until `wanted` comes, for as long as a change may take.
fn eventually(what: &str, mut found: impl FnMut() -> String, wanted: impl Fn(&str) -> bool) {
    let mut last = String::new();
    for _ in 0..200 {
        last = found();
        if wanted(&last) {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("{what}: {last}");
}

#[test]
fn services_answer_and_follow_their_endpoints() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let informers = informers(&runtime);
    let (services, slices) = (informers.get::<Service>(), informers.get::<EndpointSlice>());
    let world = World::new();
    let (a, b) = (world.machine(1, "10.42.0.2"), world.machine(2, "10.42.0.3"));
    let outside = world.machine(3, "198.51.100.7");
    world.route_services();
    serve(&a, "a", 8080);
    serve(&b, "b", 8080);
    serve(&outside, "outside", 8080);
    services.insert(service(
        "web",
        "10.43.0.1",
        json!({ "ports": [
        { "name": "t", "port": 80, "protocol": "TCP", "nodePort": 30080 },
        { "name": "u", "port": 80, "protocol": "UDP", "nodePort": 30081 },
    ] }),
    ));
    let endpoints = |list: &[(&str, &str, &str)]| {
        let mut slice = slice("web", json!({ "name": "t", "port": 8080, "protocol": "TCP" }), list);
        let mut udp = slice.ports.clone().unwrap().remove(0);
        (udp.name, udp.protocol) = (Some("u".into()), Some("UDP".into()));
        slice.ports.as_mut().unwrap().push(udp);
        slice
    };
    let (at_a, at_b) = (("10.42.0.2", "here", "r"), ("10.42.0.3", "here", "r"));
    slices.insert(endpoints(&[at_a]));

    with_proxy(&world, &informers, || {
        assert_eq!(ask(&b, VIP, 80).unwrap(), "a 10.42.0.3");
        assert_eq!(ask(&a, VIP, 80).unwrap(), format!("a {}", Ipv4Addr::new(169, 254, 0, 1)), "to itself");
        assert_eq!(ask(&world.node, VIP, 80).unwrap(), "a 169.254.0.1", "from the node itself");
        assert_eq!(ask(&outside, NODE_IP, 30080).unwrap(), format!("a {}", Ipv4Addr::new(169, 254, 0, 1)));
        assert_eq!(ask(&b, VIP, 81).unwrap_err().kind(), std::io::ErrorKind::ConnectionRefused);
        let masqueraded = ask(&b, Ipv4Addr::new(198, 51, 100, 7), 8080).unwrap();
        assert_eq!(masqueraded, "outside 169.254.0.3");

        // One UDP socket that goes on sending follows the endpoints, through a time without any.
        let socket = b.run(|| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap()).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        let hear = || {
            let _ = socket.send_to(b"x", (VIP, 80));
            let mut buffer = [0; 64];
            match socket.recv(&mut buffer) {
                Ok(length) => String::from_utf8_lossy(&buffer[..length]).into_owned(),
                Err(error) => error.to_string(),
            }
        };
        assert_eq!(hear(), "a 10.42.0.3");
        slices.insert(endpoints(&[]));
        eventually("refused", || ask(&b, VIP, 80).unwrap_or_else(|e| e.to_string()), |s| s.contains("refused"));
        slices.insert(endpoints(&[at_b]));
        eventually("moved", hear, |text| text.starts_with("b "));
        eventually("moved", || ask(&a, VIP, 80).unwrap_or_default(), |text| text == "b 10.42.0.2");
        slices.insert(endpoints(&[at_a, at_b]));
        let mut seen = std::collections::BTreeSet::new();
        eventually(
            "both",
            || {
                seen.insert(ask(&outside, VIP, 80).unwrap_or_default().chars().next());
                format!("{seen:?}")
            },
            |text| text.contains("'a'") && text.contains("'b'"),
        );

        // Somebody flushes all rules of the machine.
        world.node.run(|| cleanup(TABLE).unwrap()).unwrap();
        eventually("made again", || ask(&b, VIP, 80).unwrap_or_default(), |text| !text.is_empty());
    });

    // While nobody is there, the rules stay; a start finds them as they should be.
    assert!(ask(&b, VIP, 80).is_ok());
    let handles = || world.node.run(|| nft::read(nft::Family::Ip, TABLE).unwrap().unwrap()).unwrap();
    let before = handles();
    with_proxy(&world, &informers, || assert_eq!(before, handles()));
    world.node.run(|| cleanup(TABLE).unwrap()).unwrap();
    assert!(world.node.run(|| nft::read(nft::Family::Ip, TABLE).unwrap()).unwrap().is_none());
}

#[test]
fn a_client_stays_until_its_endpoint_goes() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let informers = informers(&runtime);
    let (services, slices) = (informers.get::<Service>(), informers.get::<EndpointSlice>());
    let world = World::new();
    let (a, b) = (world.machine(1, "10.42.0.2"), world.machine(2, "10.42.0.3"));
    let client = world.machine(3, "10.42.0.4");
    serve(&a, "a", 8080);
    serve(&b, "b", 8080);
    services.insert(service("web", "10.43.0.1", json!({ "sessionAffinity": "ClientIP" })));
    let port = || json!({ "port": 8080 });
    let (at_a, at_b) = (("10.42.0.2", "here", "r"), ("10.42.0.3", "here", "r"));
    slices.insert(slice("web", port(), &[at_a, at_b]));
    with_proxy(&world, &informers, || {
        let first = ask(&client, VIP, 80).unwrap();
        for _ in 0..10 {
            assert_eq!(ask(&client, VIP, 80).unwrap(), first);
        }
        let (left, name) = if first.starts_with('a') { (at_b, "b") } else { (at_a, "a") };
        slices.insert(slice("web", port(), &[left]));
        eventually("moved", || ask(&client, VIP, 80).unwrap_or_default(), |text| text.starts_with(name));
        slices.insert(slice("web", port(), &[at_a, at_b]));
        std::thread::sleep(Duration::from_millis(100));
        for _ in 0..5 {
            assert!(ask(&client, VIP, 80).unwrap().starts_with(name));
        }
    });
}
