//! The packet tracer over what is decided.

use std::{collections::BTreeSet, net::Ipv4Addr, sync::Arc};

use netlink::nft::{
    Reject,
    trace::{Machine, Outcome, Packet},
};
use serde_json::json;

use super::*;

const NODE_IP: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const POD: Ipv4Addr = Ipv4Addr::new(10, 42, 0, 9);
const OUTSIDE: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 7);
const REFUSED: Outcome = Outcome::Rejected(Reject::TcpReset);

fn ip(text: &str) -> Ipv4Addr {
    text.parse().unwrap()
}

fn wanted(services: Vec<Service>, slices: Vec<EndpointSlice>) -> decide::Wanted {
    let services: Vec<_> = services.into_iter().map(Arc::new).collect();
    let slices: Vec<_> = slices.into_iter().map(Arc::new).collect();
    decide::decide(&gather::gather(&services, &slices, "here"), &node())
}

/// All places that a packet may go to, over many random numbers.
fn places(wanted: &decide::Wanted, packet: &Packet) -> BTreeSet<String> {
    (0..12)
        .map(|random| {
            let mut machine = Machine::new(&wanted.table, [NODE_IP, ip("10.42.0.1"), ip("10.43.0.10")]);
            machine.random = random;
            show(machine.send(packet.clone()))
        })
        .collect()
}

fn show(outcome: Outcome) -> String {
    match outcome {
        Outcome::Delivered { to, port, masqueraded } => {
            format!("{to}:{port}{}", if masqueraded { " masqueraded" } else { "" })
        }
        Outcome::Dropped => "dropped".into(),
        Outcome::Rejected(Reject::TcpReset) => "reset".into(),
        Outcome::Rejected(Reject::PortUnreachable) => "unreachable".into(),
    }
}

fn set<const N: usize>(texts: [&str; N]) -> BTreeSet<String> {
    texts.map(str::to_owned).into()
}

fn port() -> Value {
    json!({ "port": 8080, "protocol": "TCP" })
}

#[test]
fn packets_go_where_services_say() {
    let everything = json!({
        "type": "LoadBalancer",
        "externalIPs": ["203.0.113.5"],
        "ports": [
            { "port": 80, "protocol": "TCP", "nodePort": 30080 },
            { "name": "dns", "port": 53, "protocol": "UDP", "nodePort": 30053 },
        ],
    });
    let local = |kind: &str| {
        let mut spec = everything.clone();
        spec[kind] = json!("Local");
        spec
    };
    let wanted = wanted(
        vec![
            service("web", "10.43.0.1", everything.clone()),
            service("inner", "10.43.0.2", json!({ "internalTrafficPolicy": "Local" })),
            service("faraway", "10.43.0.3", json!({ "internalTrafficPolicy": "Local" })),
            service("outer", "10.43.0.4", {
                let mut spec = local("externalTrafficPolicy");
                spec["externalIPs"] = json!(["203.0.113.6"]);
                spec["ports"] = json!([{ "port": 80, "nodePort": 30081 }]);
                spec
            }),
            service("outer-faraway", "10.43.0.5", {
                let mut spec = local("externalTrafficPolicy");
                spec["externalIPs"] = json!(["203.0.113.7"]);
                spec["ports"] = json!([{ "port": 80, "nodePort": 30082 }]);
                spec
            }),
            service("empty", "10.43.0.6", json!({ "ports": [{ "port": 80, "nodePort": 30083 }] })),
            service("ending", "10.43.0.7", json!({})),
            service("dns", "10.43.0.10", json!({})),
            service("headless", "None", json!({ "clusterIPs": ["None"] })),
        ],
        vec![
            slice(
                "web",
                port(),
                &[("10.42.0.2", "here", "r"), ("10.42.1.2", "there", "r"), ("10.42.1.3", "there", "")],
            ),
            slice("inner", port(), &[("10.42.0.3", "here", "r"), ("10.42.1.3", "there", "r")]),
            slice("faraway", port(), &[("10.42.1.3", "there", "r")]),
            slice("outer", port(), &[("10.42.0.4", "here", "r"), ("10.42.1.4", "there", "r")]),
            slice("outer-faraway", port(), &[("10.42.1.5", "there", "r")]),
            slice("ending", port(), &[("10.42.0.7", "here", "st"), ("10.42.0.8", "here", "t")]),
            slice("dns", port(), &[("10.42.1.9", "there", "r")]),
        ],
    );
    let both = ["10.42.0.2:8080", "10.42.1.2:8080"];
    let both_masqueraded = ["10.42.0.2:8080 masqueraded", "10.42.1.2:8080 masqueraded"];
    let to = |source, destination: &str, port| Packet::tcp(source, ip(destination), port);
    let node_port = |source, port| Packet::tcp(source, NODE_IP, port);
    let cases = [
        ("a pod by cluster address", to(POD, "10.43.0.1", 80), set(both)),
        ("the node itself by cluster address", to(ip("10.42.0.1"), "10.43.0.1", 80).local(), set(both)),
        ("from outside by cluster address", to(OUTSIDE, "10.43.0.1", 80), set(both_masqueraded)),
        ("a pod to itself", to(ip("10.42.0.2"), "10.43.0.1", 80), set(["10.42.0.2:8080 masqueraded", both[1]])),
        ("another port", to(POD, "10.43.0.1", 81), set(["reset"])),
        ("another protocol", to(POD, "10.43.0.1", 80).udp(), set(["unreachable"])),
        ("a port without endpoints", to(POD, "10.43.0.1", 53).udp(), set(["unreachable"])),
        ("from outside by external address", to(OUTSIDE, "203.0.113.5", 80), set(both_masqueraded)),
        ("from outside by node port", node_port(OUTSIDE, 30080), set(both_masqueraded)),
        ("a pod by node port", node_port(POD, 30080), set(both_masqueraded)),
        ("the node by its node port", node_port(NODE_IP, 30080).local(), set(both_masqueraded)),
        ("node port of UDP", node_port(OUTSIDE, 30053).udp(), set(["unreachable"])),
        ("internal policy Local", to(POD, "10.43.0.2", 80), set(["10.42.0.3:8080"])),
        ("internal policy Local, nobody here", to(POD, "10.43.0.3", 80), set(["dropped"])),
        ("external policy Local from outside", node_port(OUTSIDE, 30081), set(["10.42.0.4:8080"])),
        ("external policy Local by address", to(OUTSIDE, "203.0.113.6", 80), set(["10.42.0.4:8080"])),
        ("external policy Local from a pod", node_port(POD, 30081), set(["10.42.0.4:8080", "10.42.1.4:8080"])),
        ("external policy Local, cluster address", to(POD, "10.43.0.4", 80), set(["10.42.0.4:8080", "10.42.1.4:8080"])),
        ("external policy Local, nobody here", node_port(OUTSIDE, 30082), set(["dropped"])),
        ("external policy Local by address, nobody here", to(OUTSIDE, "203.0.113.7", 80), set(["dropped"])),
        ("external policy Local, nobody here, a pod", node_port(POD, 30082), set(["10.42.1.5:8080"])),
        ("no endpoints", to(POD, "10.43.0.6", 80), set(["reset"])),
        ("no endpoints, node port", node_port(OUTSIDE, 30083), set(["reset"])),
        ("only ending endpoints", to(POD, "10.43.0.7", 80), set(["10.42.0.7:8080"])),
        ("an address answered here", to(POD, "10.43.0.10", 80), set(["10.43.0.10:80"])),
        ("a service address nobody has", to(POD, "10.43.99.99", 80), set(["reset"])),
        ("a pod to a pod", to(POD, "10.42.1.2", 80), set(["10.42.1.2:80"])),
        ("a pod to the world", to(POD, "203.0.113.99", 443), set(["203.0.113.99:443 masqueraded"])),
        ("a pod to multicast", to(POD, "224.0.0.251", 5353), set(["224.0.0.251:5353"])),
        ("a pod to its node", to(POD, "192.0.2.1", 22), set(["192.0.2.1:22"])),
        ("passing by", to(OUTSIDE, "203.0.113.99", 443), set(["203.0.113.99:443"])),
        ("a node port on loopback", to(ip("127.0.0.1"), "127.0.0.1", 30080).local(), set(["127.0.0.1:30080"])),
    ];
    for (what, packet, places_wanted) in cases {
        assert_eq!(places(&wanted, &packet), places_wanted, "{what}");
    }
}

#[test]
fn a_client_stays_with_its_endpoint() {
    let spec = json!({ "sessionAffinity": "ClientIP", "ports": [{ "port": 80, "nodePort": 30080 }] });
    let endpoints = [("10.42.0.2", "here", "r"), ("10.42.1.2", "there", "r"), ("10.42.1.3", "there", "r")];
    let wanted = wanted(vec![service("web", "10.43.0.1", spec)], vec![slice("web", port(), &endpoints)]);
    for (target, target_port) in [(ip("10.43.0.1"), 80), (NODE_IP, 30080)] {
        let mut machine = Machine::new(&wanted.table, [NODE_IP]);
        machine.random = 1;
        let packet = Packet::tcp(POD, target, target_port);
        let first = machine.send(packet.clone());
        for random in 0..6 {
            machine.random = random;
            assert_eq!(machine.send(packet.clone()), first);
        }
        machine.random = 2;
        assert_ne!(machine.send(Packet::tcp(ip("10.42.0.77"), target, target_port)), first);
    }
}

#[test]
fn deciding_again_after_applying_changes_nothing_and_one_service_is_few_steps() {
    let many = |count: u8| {
        let services = (0..count).map(|n| service(&format!("s{n}"), &format!("10.43.1.{n}"), json!({}))).collect();
        let slices = (0..count)
            .map(|n| {
                slice(&format!("s{n}"), port(), &[(&format!("10.42.0.{n}"), "here", "r"), ("10.42.1.1", "there", "r")])
            })
            .collect();
        wanted(services, slices).table
    };
    assert_eq!(nft::difference(Some(&many(20)), &many(20)), []);
    assert!(nft::difference(Some(&many(20)), &many(21)).len() <= 3);
}

#[test]
fn services_of_others_and_of_no_address_have_no_rules() {
    let mut foreign = service("foreign", "10.43.0.1", json!({}));
    foreign.metadata.labels = Some([("service.kubernetes.io/service-proxy-name".to_owned(), "x".to_owned())].into());
    let services = vec![
        foreign,
        service("headless", "None", json!({ "clusterIPs": ["None"] })),
        service("name", "", json!({ "type": "ExternalName", "clusterIPs": [] })),
        service("six", "fd00::1", json!({})),
    ];
    assert_eq!(gather::gather(&services.into_iter().map(Arc::new).collect::<Vec<_>>(), &[], "here"), []);
    assert_eq!(Machine::new(&wanted(vec![], vec![]).table, []).send(Packet::tcp(POD, ip("10.43.0.1"), 80)), REFUSED);
}
