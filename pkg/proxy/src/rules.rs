//! The chains. Their rules depend only on the node and on which [`Group`]s occur.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::Ipv4Addr,
};

use netlink::{
    Net,
    nft::{Chain, Cmp, CtKey, DynOp, Expr, HookPoint, HookType, MetaKey, Reg, Reject, Verdict, fib_flag},
};

use crate::{
    Node,
    decide::{Group, REJECT, set},
};

/// The bit of a packet's mark that asks for masquerading; the field's custom.
const MASQUERADE: u32 = 0x4000;

/// Scratch register.
const R: Reg = Reg(0);
/// Client's address, before the key of the service.
const CLIENT: Reg = Reg(0);
/// Address, protocol, port, number.
const SERVICE: Reg = Reg(1);
/// Address and port of an endpoint.
const ENDPOINT: Reg = Reg(8);

const LOOPBACK: (Ipv4Addr, u8) = (Ipv4Addr::new(127, 0, 0, 0), 8);
const MULTICAST: (Ipv4Addr, u8) = (Ipv4Addr::new(224, 0, 0, 0), 4);

/// Which address stands in the key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    /// The packet's.
    Address,
    /// 0.0.0.0, for ports of the node.
    NodePort,
}

pub(crate) fn chains(groups: &BTreeSet<Group>, node: &Node) -> BTreeMap<String, Chain> {
    let mut chains = BTreeMap::new();
    let mut add = |name: &str, chain| {
        chains.insert(name.to_owned(), chain);
    };

    let mut prerouting = Chain::base(HookType::Nat, HookPoint::Prerouting, -100);
    let outside = || Expr::in_network(Expr::saddr(R), Cmp::Ne, node.cluster_cidr);
    prerouting.rule("clients outside the cluster", [outside(), jump("external")]);
    prerouting.rule("services", [jump("services")]);
    add("prerouting", prerouting);
    let mut output = Chain::base(HookType::Nat, HookPoint::Output, -100);
    output.rule("services", [jump("services")]);
    add("output", output);

    let mut services = Chain::default();
    let mark = || Expr::mark_change(MASQUERADE, 0, R);
    services.rule("cluster addresses, client is no pod", [outside(), member(set::CLUSTER, Target::Address), mark()]);
    services.rule("external addresses", [member(set::EXTERNAL, Target::Address), mark()]);
    endpoints(&mut services, groups, false, Target::Address);
    services.rule("ports of the node", [to_this_node(), jump("node-ports")]);
    add("services", services);
    let mut node_ports = Chain::default();
    node_ports.rule("node ports", [member(set::EXTERNAL, Target::NodePort), mark()]);
    endpoints(&mut node_ports, groups, false, Target::NodePort);
    add("node-ports", node_ports);

    let accept = || vec![Expr::Verdict(Verdict::Accept)];
    let mut external = Chain::default();
    endpoints(&mut external, groups, true, Target::Address);
    external.rule("nobody here", [member(set::LOCAL, Target::Address), accept()]);
    external.rule("ports of the node", [to_this_node(), jump("external-node-ports")]);
    add("external", external);
    let mut external_ports = Chain::default();
    endpoints(&mut external_ports, groups, true, Target::NodePort);
    external_ports.rule("nobody here", [member(set::LOCAL, Target::NodePort), accept()]);
    add("external-node-ports", external_ports);

    add("unserved", unserved(node));
    add(REJECT, reject());
    for (name, point) in
        [("input", HookPoint::Input), ("forward", HookPoint::Forward), ("filter-output", HookPoint::Output)]
    {
        let mut chain = Chain::base(HookType::Filter, point, 0);
        chain.rule("first packets nobody serves", [is_new(), jump("unserved")]);
        add(name, chain);
    }
    add("postrouting", postrouting(node));
    chains
}

fn jump(chain: &str) -> Vec<Expr> {
    vec![Expr::Verdict(Verdict::Jump(chain.to_owned()))]
}

fn is_new() -> Vec<Expr> {
    const NEW: u32 = 8;
    vec![
        Expr::Ct(CtKey::State, R),
        Expr::Bitwise { source: R, dest: R, mask: NEW.to_ne_bytes().to_vec(), xor: vec![0; 4] },
        Expr::Cmp(R, Cmp::Ne, vec![0; 4]),
    ]
}

fn to_this_node() -> Vec<Expr> {
    let (addr, prefix) = LOOPBACK;
    [Expr::in_network(Expr::daddr(R), Cmp::Ne, Net::new(addr, prefix)), Expr::is_local(fib_flag::DADDR, R)].concat()
}

/// Loads the key of a service from `SERVICE` on.
fn load(target: Target) -> Vec<Expr> {
    let address = match target {
        Target::Address => Expr::daddr(SERVICE),
        Target::NodePort => Expr::Immediate(SERVICE, vec![0; 4]),
    };
    vec![address, Expr::Meta(MetaKey::L4Proto, SERVICE.plus(1)), Expr::dport(SERVICE.plus(2))]
}

fn member(set: &str, target: Target) -> Vec<Expr> {
    [load(target), vec![Expr::Lookup { set: set.to_owned(), key: SERVICE, dest: None, invert: false }]].concat()
}

/// One rule for each number of endpoints; with affinity, one before it for clients that are known.
fn endpoints(chain: &mut Chain, groups: &BTreeSet<Group>, local: bool, target: Target) {
    let dnat = || vec![Expr::Dnat { addr: ENDPOINT, port: Some(ENDPOINT.plus(1)) }];
    let find = |set: String, key| vec![Expr::Lookup { set, key, dest: Some(ENDPOINT), invert: false }];
    let remember = |clients: &str| {
        let set = clients.to_owned();
        vec![Expr::DynSet { set, op: DynOp::Update, key: CLIENT, data: Some(ENDPOINT) }]
    };
    let groups = || groups.iter().filter(move |group| group.local == local);
    let clients: BTreeSet<String> = groups().filter_map(Group::clients).collect();
    for clients in &clients {
        chain.rule(
            "known clients",
            [vec![Expr::saddr(CLIENT)], load(target), find(clients.clone(), CLIENT), remember(clients), dnat()],
        );
    }
    for group in groups() {
        let choose = vec![Expr::Random { modulus: group.count, dest: SERVICE.plus(3) }];
        let mut steps = vec![load(target), choose, find(group.map(), SERVICE)];
        if let Some(clients) = group.clients() {
            steps.extend([vec![Expr::saddr(CLIENT)], remember(&clients)]);
        }
        steps.push(dnat());
        chain.rule(&format!("one of {}", group.count), steps);
    }
}

fn unserved(node: &Node) -> Chain {
    let verdict = || vec![Expr::VerdictMap { map: set::UNSERVED.to_owned(), key: SERVICE }];
    let mut chain = Chain::default();
    chain.rule("services without endpoints", [load(Target::Address), verdict()]);
    chain.rule("node ports without endpoints", [to_this_node(), load(Target::NodePort), verdict()]);
    chain.rule(
        "answered on this node",
        [vec![
            Expr::daddr(R),
            Expr::Lookup { set: set::SKIP.to_owned(), key: R, dest: None, invert: false },
            Expr::Verdict(Verdict::Return),
        ]],
    );
    chain.rule(
        "the rest of the service range",
        [
            Expr::in_network(Expr::daddr(R), Cmp::Eq, node.service_cidr),
            vec![Expr::Verdict(Verdict::Goto(REJECT.to_owned()))],
        ],
    );
    chain
}

fn reject() -> Chain {
    const TCP: u8 = 6;
    let mut chain = Chain::default();
    chain.rule(
        "tcp",
        [vec![Expr::Meta(MetaKey::L4Proto, R), Expr::Cmp(R, Cmp::Eq, vec![TCP]), Expr::Reject(Reject::TcpReset)]],
    );
    chain.rule("others", [vec![Expr::Reject(Reject::PortUnreachable)]]);
    chain
}

fn postrouting(node: &Node) -> Chain {
    let mut chain = Chain::base(HookType::Nat, HookPoint::Postrouting, 100);
    let masquerade = || vec![Expr::Masquerade];
    chain.rule("marked", [Expr::mark_has(MASQUERADE, R), Expr::mark_change(0, MASQUERADE, R), masquerade()]);
    const DESTINATION_TRANSLATED: u32 = 32;
    chain.rule(
        "a pod to itself",
        [
            vec![
                Expr::Ct(CtKey::Status, R),
                Expr::Bitwise {
                    source: R,
                    dest: R,
                    mask: DESTINATION_TRANSLATED.to_ne_bytes().to_vec(),
                    xor: vec![0; 4],
                },
                Expr::Cmp(R, Cmp::Ne, vec![0; 4]),
                Expr::saddr(R),
                Expr::daddr(R.plus(1)),
                Expr::Lookup { set: set::HAIRPIN.to_owned(), key: R, dest: None, invert: false },
            ],
            masquerade(),
        ],
    );
    let (addr, prefix) = MULTICAST;
    chain.rule(
        "pods to beyond the cluster",
        [
            Expr::in_network(Expr::saddr(R), Cmp::Eq, node.pod_cidr.unwrap_or(node.cluster_cidr)),
            Expr::in_network(Expr::daddr(R), Cmp::Ne, node.cluster_cidr),
            Expr::in_network(Expr::daddr(R), Cmp::Ne, Net::new(addr, prefix)),
            masquerade(),
        ],
    );
    chain
}
