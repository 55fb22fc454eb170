//! The plugin's commands in namespaces: a node, and sandboxes on it.

use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    time::Duration,
};

use netlink::{Namespace, Net, Rtnetlink, nft};
use serde_json::{Value, json};

use super::*;

struct Node {
    namespace: Namespace,
    dir: tempfile::TempDir,
}

impl Node {
    fn new() -> Self {
        let namespace = Namespace::fresh().unwrap();
        namespace
            .run(|| {
                let mut rtnetlink = Rtnetlink::open().unwrap();
                let lo = rtnetlink.require_link("lo").unwrap();
                rtnetlink.set_up(lo.index).unwrap();
                rtnetlink.add_address(lo.index, "192.0.2.1/32".parse().unwrap()).unwrap();
            })
            .unwrap();
        Node { namespace, dir: tempfile::tempdir().unwrap() }
    }

    fn conf(&self, version: &str, extra: Value) -> Value {
        let options = Options::new("10.42.7.0/24".parse().unwrap(), self.dir.path());
        let list: Value = serde_json::from_str(&conf(&options)).unwrap();
        let mut conf = list["plugins"][0].clone();
        conf["name"] = list["name"].clone();
        conf["cniVersion"] = json!(version);
        for (key, value) in extra.as_object().unwrap() {
            conf[key] = value.clone();
        }
        conf
    }

    fn call(
        &self,
        command: &str,
        id: &str,
        sandbox: Option<&Namespace>,
        extra: Value,
    ) -> Result<Option<Value>, CniError> {
        self.call_version("1.0.0", command, id, sandbox, extra)
    }

    fn call_version(
        &self,
        version: &str,
        command: &str,
        id: &str,
        sandbox: Option<&Namespace>,
        extra: Value,
    ) -> Result<Option<Value>, CniError> {
        let environment = Environment {
            command: command.into(),
            container_id: id.into(),
            netns: sandbox.map(|s| s.path_in_process().display().to_string()).unwrap_or_default(),
            ifname: "eth0".into(),
        };
        let input = self.conf(version, extra).to_string();
        self.namespace.run(|| run(Plugin::Kinglet, &environment, input.as_bytes())).unwrap()
    }

    fn sandbox(&self, id: &str, extra: Value) -> (Namespace, Ipv4Addr) {
        let sandbox = Namespace::fresh().unwrap();
        let result = self.call("ADD", id, Some(&sandbox), extra).unwrap().unwrap();
        let address: Net = result["ips"][0]["address"].as_str().unwrap().parse().unwrap();
        let std::net::IpAddr::V4(ip) = address.addr else { panic!("{address}") };
        (sandbox, ip)
    }
}

/// What a client in `from` hears from a server in `to` at `target`, and the address the server saw.
fn talk(from: &Namespace, to: &Namespace, listen: u16, target: (Ipv4Addr, u16)) -> (String, SocketAddr) {
    let listener = to.run(|| TcpListener::bind((Ipv4Addr::UNSPECIFIED, listen)).unwrap()).unwrap();
    let target = SocketAddr::from(target);
    let stream = from.run(|| TcpStream::connect_timeout(&target, Duration::from_secs(5))).unwrap();
    let mut stream = stream.unwrap_or_else(|e| panic!("connect to {target}: {e}"));
    let (mut server, peer) = listener.accept().unwrap();
    server.write_all(b"hello").unwrap();
    drop(server);
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    (text, peer)
}

#[test]
fn sandboxes_are_connected_checked_and_disconnected() {
    let node = Node::new();
    let (a, ip_a) = node.sandbox("a", json!({}));
    let (b, ip_b) = node.sandbox("b", json!({}));
    assert_eq!([ip_a, ip_b], [Ipv4Addr::new(10, 42, 7, 2), Ipv4Addr::new(10, 42, 7, 3)]);
    for (from, to, ip, peer) in [(&a, &b, ip_b, ip_a), (&b, &a, ip_a, ip_b)] {
        let (text, seen) = talk(from, to, 80, (ip, 80));
        assert_eq!((text.as_str(), seen.ip()), ("hello", peer.into()));
    }
    assert_eq!(talk(&node.namespace, &a, 80, (ip_a, 80)).1.ip(), Ipv4Addr::new(10, 42, 7, 1));
    assert_eq!(talk(&a, &node.namespace, 81, (Ipv4Addr::new(192, 0, 2, 1), 81)).1.ip(), ip_a);

    node.call("CHECK", "a", Some(&a), json!({})).unwrap();
    node.call("STATUS", "", None, json!({})).unwrap();
    node.call("DEL", "a", Some(&a), json!({})).unwrap();
    assert_eq!(node.call("CHECK", "a", Some(&a), json!({})).unwrap_err().code, 102);
    a.run(|| assert_eq!(Rtnetlink::open().unwrap().link("eth0").unwrap(), None)).unwrap();
    node.call("DEL", "a", None, json!({})).unwrap();
    node.call("DEL", "never", None, json!({})).unwrap();
    node.call("GC", "", None, json!({ "cni.dev/valid-attachments": [] })).unwrap();
    assert_eq!(node.call("CHECK", "b", Some(&b), json!({})).unwrap_err().code, 102);
    let links = node.namespace.run(|| Rtnetlink::open().unwrap().links().unwrap()).unwrap();
    assert_eq!(links.iter().map(|l| l.name.as_str()).collect::<Vec<_>>(), ["lo", "kinglet0"]);
}

#[test]
fn a_second_add_gives_the_same_address() {
    let node = Node::new();
    let (sandbox, ip) = node.sandbox("a", json!({}));
    let again = node.call("ADD", "a", Some(&sandbox), json!({})).unwrap().unwrap();
    assert_eq!(again["ips"][0]["address"], format!("{ip}/24"));
    node.call("CHECK", "a", Some(&sandbox), json!({})).unwrap();
}

#[test]
fn host_ports_lead_to_the_pod_and_go_with_it() {
    host_ports("0");
}

#[test]
fn host_ports_work_where_bridged_frames_are_filtered() {
    host_ports("1");
}

fn host_ports(bridge_nf_call: &str) {
    let node = Node::new();
    node.namespace.run(|| netlink::sysctl::set("net/bridge/bridge-nf-call-iptables", bridge_nf_call)).unwrap().unwrap();
    let ports = json!({ "runtimeConfig": { "portMappings": [
        { "hostPort": 8080, "containerPort": 80, "protocol": "tcp", "hostIP": "" },
        { "hostPort": 8081, "containerPort": 80, "protocol": "TCP", "hostIP": "127.0.0.1" },
        { "hostPort": 8082, "containerPort": 53, "protocol": "udp" },
    ] } });
    let (a, _) = node.sandbox("a", ports.clone());
    let (b, ip_b) = node.sandbox("b", json!({}));
    let node_ip = Ipv4Addr::new(192, 0, 2, 1);
    assert_eq!(talk(&b, &a, 80, (node_ip, 8080)).1.ip(), ip_b);
    // A pod to its own host port comes back from the node's address.
    assert_eq!(talk(&a, &a, 80, (node_ip, 8080)).1.ip(), Ipv4Addr::new(10, 42, 7, 1));
    assert_eq!(talk(&node.namespace, &a, 80, (Ipv4Addr::LOCALHOST, 8081)).0, "hello");
    assert_eq!(talk(&node.namespace, &a, 80, (Ipv4Addr::LOCALHOST, 8080)).0, "hello");
    let refused = b.run(|| TcpStream::connect((node_ip, 8081)).unwrap_err().kind()).unwrap();
    assert_eq!(refused, std::io::ErrorKind::ConnectionRefused);

    let elements = |name: &str| {
        node.namespace.run(|| nft::read_elements(nft::Family::Ip, "kinglet-hostports", name).unwrap().len()).unwrap()
    };
    assert_eq!((elements("ports"), elements("hairpin")), (3, 1));
    node.call("DEL", "b", None, json!({})).unwrap();
    assert_eq!((elements("ports"), elements("hairpin")), (3, 1));
    node.call("DEL", "a", None, ports).unwrap();
    assert_eq!((elements("ports"), elements("hairpin")), (0, 0));
}

#[test]
fn results_have_the_form_of_the_version_asked_for() {
    let node = Node::new();
    let sandbox = Namespace::fresh().unwrap();
    for (version, family) in [("0.4.0", json!("4")), ("1.0.0", Value::Null), ("1.1.0", Value::Null)] {
        let result = node.call_version(version, "ADD", "a", Some(&sandbox), json!({})).unwrap().unwrap();
        assert_eq!((&result["cniVersion"], &result["ips"][0]["version"]), (&json!(version), &family));
        assert_eq!(result["interfaces"][2]["name"], "eth0");
    }
    let versions = node.call("VERSION", "", None, json!({})).unwrap().unwrap();
    assert!(versions["supportedVersions"].as_array().unwrap().contains(&json!("1.1.0")));
}

#[test]
fn what_is_wrong_with_a_call_has_its_number() {
    let node = Node::new();
    let sandbox = Namespace::fresh().unwrap();
    let code = |version: &str, command: &str, id: &str, sandbox: Option<&Namespace>, extra: Value| {
        node.call_version(version, command, id, sandbox, extra).unwrap_err().code
    };
    let cases = [
        (1, code("9.0.0", "ADD", "a", Some(&sandbox), json!({}))),
        (4, code("1.0.0", "DANCE", "a", Some(&sandbox), json!({}))),
        (4, code("1.0.0", "ADD", "", Some(&sandbox), json!({}))),
        (4, code("1.0.0", "ADD", "a/b", Some(&sandbox), json!({}))),
        (4, code("1.0.0", "ADD", "a", None, json!({}))),
        (7, code("1.0.0", "ADD", "a", Some(&sandbox), json!({ "podCIDR": "10.0.0.0/31" }))),
        (7, code("1.0.0", "ADD", "a", Some(&sandbox), json!({ "podCIDR": "x" }))),
        (7, code("1.0.0", "ADD", "a", Some(&sandbox), json!({ "dataDir": "" }))),
    ];
    for (wanted, found) in cases {
        assert_eq!(wanted, found);
    }
    let error = run(Plugin::Kinglet, &Environment { command: "ADD".into(), ..Default::default() }, b"{").unwrap_err();
    assert_eq!(error.code, 6);
    assert_eq!(error.to_json("1.0.0")["msg"], "the network configuration cannot be decoded");
}

#[test]
fn the_loopback_plugin_switches_loopback_on() {
    let sandbox = Namespace::fresh().unwrap();
    let environment = |command: &str| Environment {
        command: command.into(),
        container_id: "a".into(),
        netns: sandbox.path_in_process().display().to_string(),
        ifname: "lo".into(),
    };
    let conf = br#"{"cniVersion":"0.3.1","name":"cni-loopback","type":"loopback"}"#;
    let result = run(Plugin::Loopback, &environment("ADD"), conf).unwrap().unwrap();
    assert_eq!(result["ips"][0]["address"], "127.0.0.1/8");
    assert!(sandbox.run(|| Rtnetlink::open().unwrap().require_link("lo").unwrap().up).unwrap());
    assert_eq!(run(Plugin::Loopback, &environment("DEL"), conf).unwrap(), None);
}

#[test]
fn the_name_decides_which_plugin_is_called() {
    for (name, wanted) in [
        ("/opt/cni/bin/kinglet-cni", Some(Plugin::Kinglet)),
        ("loopback", Some(Plugin::Loopback)),
        ("/usr/bin/kinglet", None),
        ("", None),
    ] {
        assert_eq!(Plugin::from_argv0(name), wanted, "{name}");
        assert_eq!(plugin_from_argv0(name), wanted.is_some());
    }
}
