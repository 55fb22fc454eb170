//! Links, addresses, routes and connections in namespaces made for each test.

use std::net::{IpAddr, Ipv4Addr, SocketAddrV4, UdpSocket};

use super::*;

fn net(text: &str) -> Net {
    text.parse().unwrap()
}

/// Two namespaces with a veth pair between them: 10.9.0.1 and 10.9.0.2.
fn pair() -> (Namespace, Namespace) {
    let (here, there) = (Namespace::fresh().unwrap(), Namespace::fresh().unwrap());
    here.run(|| {
        let mut rtnetlink = Rtnetlink::open().unwrap();
        rtnetlink.add_veth("knet0", "knet1", &there, 1400, None).unwrap();
        let link = rtnetlink.require_link("knet0").unwrap();
        rtnetlink.add_address(link.index, net("10.9.0.1/24")).unwrap();
        rtnetlink.set_up(link.index).unwrap();
    })
    .unwrap();
    there
        .run(|| {
            let mut rtnetlink = Rtnetlink::open().unwrap();
            let link = rtnetlink.require_link("knet1").unwrap();
            rtnetlink.add_address(link.index, net("10.9.0.2/24")).unwrap();
            rtnetlink.set_up(link.index).unwrap();
            assert_eq!(link.mtu, 1400);
        })
        .unwrap();
    (here, there)
}

#[test]
fn a_bridge_has_ports_addresses_and_a_fixed_hardware_address() {
    let peer = Namespace::fresh().unwrap();
    Namespace::fresh()
        .unwrap()
        .run(|| {
            let mut rtnetlink = Rtnetlink::open().unwrap();
            assert_eq!(rtnetlink.link("knetbr").unwrap(), None);
            let mac = [0x0a, 0x58, 10, 42, 0, 1];
            rtnetlink.add_bridge("knetbr", mac, 1450).unwrap();
            assert!(rtnetlink.add_bridge("knetbr", mac, 1450).unwrap_err().is_exists());
            let bridge = rtnetlink.require_link("knetbr").unwrap();
            assert_eq!((bridge.kind.as_str(), bridge.mtu, bridge.up), ("bridge", 1450, false));
            rtnetlink.add_veth("knetv", "eth0", &peer, 1450, Some([2, 0, 0, 0, 0, 9])).unwrap();
            let port = rtnetlink.require_link("knetv").unwrap();
            let options = PortOptions { hairpin: true, isolated: true };
            rtnetlink.attach(port.index, bridge.index, options).unwrap();
            rtnetlink.set_up(bridge.index).unwrap();
            let bridge = rtnetlink.require_link("knetbr").unwrap();
            assert!(bridge.up);
            assert_eq!(bridge.mac, mac);
            assert_eq!(rtnetlink.require_link("knetv").unwrap().controller, Some(bridge.index));
            rtnetlink.add_address(bridge.index, net("10.42.0.1/24")).unwrap();
            rtnetlink.add_address(bridge.index, net("10.42.0.1/24")).unwrap();
            let addresses = rtnetlink.addresses().unwrap();
            assert!(addresses.contains(&Address { index: bridge.index, net: net("10.42.0.1/24") }), "{addresses:?}");
            rtnetlink.delete_address(bridge.index, net("10.42.0.1/24")).unwrap();
            rtnetlink.delete_address(bridge.index, net("10.42.0.1/24")).unwrap();
            rtnetlink.delete_link(port.index).unwrap();
            assert!(rtnetlink.delete_link(port.index).unwrap_err().is_not_found());
            assert_eq!(rtnetlink.links().unwrap().len(), 2);
        })
        .unwrap();
    peer.run(|| assert_eq!(Rtnetlink::open().unwrap().link("eth0").unwrap(), None)).unwrap();
}

#[test]
fn routes_are_made_read_replaced_and_deleted() {
    let (here, _there) = pair();
    here.run(|| {
        let mut rtnetlink = Rtnetlink::open().unwrap();
        let link = rtnetlink.require_link("knet0").unwrap();
        let via = |last| RouteKind::Gateway { via: Ipv4Addr::new(10, 9, 0, last).into(), interface: Some(link.index) };
        let route = |destination: &str, kind| Route { destination: net(destination), kind, source: None, protocol: 75 };
        let routes = [
            route("10.42.1.0/24", via(2)),
            route("10.42.2.0/24", via(3)),
            route("10.42.0.0/16", RouteKind::Unreachable),
            Route {
                source: Some(Ipv4Addr::new(10, 9, 0, 1).into()),
                ..route("10.43.0.0/16", RouteKind::Interface(link.index))
            },
        ];
        for route in &routes {
            rtnetlink.replace_route(route).unwrap();
        }
        let moved = route("10.42.2.0/24", via(2));
        rtnetlink.replace_route(&moved).unwrap();
        let mut ours = rtnetlink.routes(false).unwrap();
        ours.retain(|route| route.protocol == 75);
        ours.sort();
        let mut wanted = routes;
        wanted[1] = moved;
        wanted.sort();
        assert_eq!(ours, wanted);
        for route in &wanted {
            rtnetlink.delete_route(route).unwrap();
            rtnetlink.delete_route(route).unwrap();
        }
        assert!(rtnetlink.routes(false).unwrap().iter().all(|route| route.protocol != 75));
    })
    .unwrap();
}

#[test]
fn a_namespace_is_opened_by_path_and_its_parameters_are_its_own() {
    let namespace = Namespace::fresh().unwrap();
    let again = Namespace::open(namespace.path_in_process()).unwrap();
    let value = again
        .run(|| {
            sysctl::set("net/ipv4/conf/all/accept_redirects", "0").unwrap();
            sysctl::get("net/ipv4/conf/all/accept_redirects").unwrap()
        })
        .unwrap();
    assert_eq!(value, "0");
    assert!(Namespace::open("/proc/none").is_err());
    let panicked = std::panic::catch_unwind(|| namespace.run(|| panic!("through")));
    assert!(panicked.is_err());
}

#[test]
fn a_connection_is_found_and_forgotten() {
    let (here, there) = pair();
    let port = 4711;
    let server = there.run(|| UdpSocket::bind((Ipv4Addr::new(10, 9, 0, 2), port)).unwrap()).unwrap();
    here.run(|| {
        // Connections are tracked once a rule wants it.
        let mut table = nft::Table::new(nft::Family::Ip, "knet-track");
        let mut chain = nft::Chain::base(nft::HookType::Nat, nft::HookPoint::Postrouting, 100);
        chain.rule("masquerade", [vec![nft::Expr::Masquerade]]);
        table.chains.insert("post".into(), chain);
        nft::commit(table.family, &table.name, &nft::difference(None, &table)).unwrap();
        let client = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
        client.send_to(b"x", SocketAddrV4::new(Ipv4Addr::new(10, 9, 0, 2), port)).unwrap();
        let (_, from) = server.recv_from(&mut [0; 8]).unwrap();
        assert_eq!(from.ip(), IpAddr::from(Ipv4Addr::new(10, 9, 0, 1)));
        let mut conntrack = conntrack::Conntrack::open().unwrap();
        let ours = |c: &conntrack::Connection| c.original.destination_port == port;
        let found = conntrack.select(ours).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].reply.source, Ipv4Addr::new(10, 9, 0, 2));
        conntrack.delete(&found[0]).unwrap();
        conntrack.delete(&found[0]).unwrap();
        assert_eq!(conntrack.select(ours).unwrap(), []);
    })
    .unwrap();
}
