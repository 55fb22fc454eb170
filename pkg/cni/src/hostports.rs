//! Host ports: ports of the node that lead to a pod, as elements of one map in a table of our own.
//!
//! The map's key is address, protocol and port; address 0.0.0.0 stands for any of the node's.
//! Changes are made under the lock of the reservations, since a transaction is a difference
//! against what was read.

use std::net::Ipv4Addr;

use netlink::{
    Net, Result,
    conntrack::{Conntrack, UDP},
    nft::{
        self, Chain, Cmp, Data, DataType, Expr, Family, HookPoint, HookType, MetaKey, Reg, Set, Table, Verdict,
        fib_flag, key,
    },
};

use crate::conf::HostPort;

const PORTS: &str = "ports";
const HAIRPIN: &str = "hairpin";

/// The table without any port.
fn skeleton(table: &str, bridge: &str) -> Table {
    use DataType::{Ipv4, Port, Protocol};
    let mut table = Table::new(Family::Ip, table);
    table.sets.insert(PORTS.into(), Set::map(&[Ipv4, Protocol, Port], &[Ipv4, Port]));
    table.sets.insert(HAIRPIN.into(), Set::set(&[Ipv4, Ipv4]));

    let r = Reg(0);
    let translate = || {
        vec![
            Expr::Meta(MetaKey::L4Proto, r.plus(1)),
            Expr::dport(r.plus(2)),
            Expr::Lookup { set: PORTS.into(), key: r, dest: Some(Reg(8)), invert: false },
            Expr::Dnat { addr: Reg(8), port: Some(Reg(9)) },
        ]
    };
    let mut chain = Chain::default();
    chain.rule("of one address", [vec![Expr::daddr(r)], translate()]);
    chain.rule("of any address", [vec![Expr::Immediate(r, vec![0; 4])], translate()]);
    table.chains.insert("host-ports".into(), chain);

    let mut jump = |name: &str, point| {
        let mut chain = Chain::base(HookType::Nat, point, -101);
        let jump = vec![Expr::Verdict(Verdict::Jump("host-ports".into()))];
        chain.rule("to this node", [Expr::is_local(fib_flag::DADDR, r), jump]);
        table.chains.insert(name.into(), chain);
    };
    jump("prerouting", HookPoint::Prerouting);
    jump("output", HookPoint::Output);

    let loopback = Net::new(Ipv4Addr::new(127, 0, 0, 0), 8);
    let mut name = bridge.as_bytes().to_vec();
    name.resize(16, 0);
    let mut post = Chain::base(HookType::Nat, HookPoint::Postrouting, 99);
    post.rule(
        "from the node's loopback address",
        [
            Expr::in_network(Expr::saddr(r), Cmp::Eq, loopback),
            vec![Expr::Meta(MetaKey::OifName, r), Expr::Cmp(r, Cmp::Eq, name.clone()), Expr::Masquerade],
        ],
    );
    post.rule(
        "a pod to itself",
        [vec![
            Expr::saddr(r),
            Expr::daddr(r.plus(1)),
            Expr::Lookup { set: HAIRPIN.into(), key: r, dest: None, invert: false },
            Expr::Masquerade,
        ]],
    );
    table.chains.insert("postrouting".into(), post);

    let mut guard = Chain::base(HookType::Filter, HookPoint::Prerouting, -300);
    guard.rule(
        "pods do not reach what listens on loopback only",
        [
            vec![Expr::Meta(MetaKey::IifName, r), Expr::Cmp(r, Cmp::Eq, name)],
            Expr::in_network(Expr::daddr(r), Cmp::Eq, loopback),
            vec![Expr::Verdict(Verdict::Drop)],
        ],
    );
    table.chains.insert("guard".into(), guard);
    table
}

fn element(pod: Ipv4Addr, port: &HostPort) -> (nft::Key, Data) {
    let key = key::join([key::addr(port.ip), key::protocol(port.protocol), key::port(port.port)]);
    (key, Data::Value(key::join([key::addr(pod), key::port(port.pod_port)])))
}

/// Makes ports of the node lead to a pod, instead of whatever the pod's address had before.
pub(crate) fn add(table: &str, bridge: &str, pod: Ipv4Addr, ports: &[HostPort]) -> Result<()> {
    if ports.is_empty() {
        return remove(table, &[pod]);
    }
    let current = nft::read(Family::Ip, table)?;
    let mut wanted = skeleton(table, bridge);
    keep_others(current.as_ref(), &mut wanted, &[pod]);
    if let Some(set) = wanted.sets.get_mut(PORTS) {
        set.elements.extend(ports.iter().map(|port| element(pod, port)));
    }
    if let Some(set) = wanted.sets.get_mut(HAIRPIN) {
        set.elements.insert(key::join([key::addr(pod), key::addr(pod)]), Data::None);
    }
    nft::commit(Family::Ip, table, &nft::difference(current.as_ref(), &wanted))?;
    forget_udp(ports)
}

/// Takes the ports of pods away.
pub(crate) fn remove(table: &str, pods: &[Ipv4Addr]) -> Result<()> {
    if pods.is_empty() {
        return Ok(());
    }
    let Some(current) = nft::read(Family::Ip, table)? else { return Ok(()) };
    let mut wanted = current.clone();
    wanted.sets.values_mut().for_each(|set| set.elements.clear());
    keep_others(Some(&current), &mut wanted, pods);
    nft::commit(Family::Ip, table, &nft::difference(Some(&current), &wanted))
}

/// Copies the elements of all pods but those.
fn keep_others(current: Option<&Table>, wanted: &mut Table, pods: &[Ipv4Addr]) {
    let of = |bytes: &[u8]| pods.iter().any(|pod| bytes.starts_with(&pod.octets()));
    for (name, set) in current.iter().flat_map(|table| &table.sets) {
        let kept = set.elements.iter().filter(|(key, data)| match data {
            Data::Value(value) => !of(value),
            _ => !of(key),
        });
        if let Some(wanted) = wanted.sets.get_mut(name) {
            wanted.elements.extend(kept.map(|(k, d)| (k.clone(), d.clone())));
        }
    }
}

/// A UDP sender that goes on sending would stay with the place it found at first.
fn forget_udp(ports: &[HostPort]) -> Result<()> {
    if !ports.iter().any(|port| port.protocol == UDP) {
        return Ok(());
    }
    let mut conntrack = Conntrack::open()?;
    let stale = conntrack.select(|connection| {
        let to = &connection.original;
        ports.iter().any(|port| port.protocol == UDP && to.protocol == UDP && to.destination_port == port.port)
    })?;
    stale.iter().try_for_each(|connection| conntrack.delete(connection))
}

/// Removes the table of host ports: for uninstall.
pub fn cleanup(table: &str) -> Result<()> {
    nft::delete_table(Family::Ip, table)
}
