//! From services to the wanted content of the table. Pure: no clock, no randomness, no I/O.
//!
//! ```text
//! prerouting ─┬─ from outside the pod network: external ── local-K maps, eTP Local only
//! output ─────┴─ services ── mark for masquerading ── eps-K maps ── node ports: the same with 0.0.0.0
//! input, forward, output ── unserved: reject or drop what has no endpoint, and the service range
//! postrouting ── marked; pods to themselves; pods to beyond the cluster: masquerade
//! ```

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    net::Ipv4Addr,
    time::Duration,
};

use netlink::nft::{Data, DataType, Family, Key, Set, Table, Verdict, key};

use crate::{
    Node,
    gather::{Endpoint, Port, Service},
    rules,
};

/// What should be, in two views.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// For the kernel.
    pub table: Table,
    /// For tidying up: of each address, protocol and port, the endpoints that a connection or a
    /// remembered client may be with.
    pub allowed: HashMap<Key, Allowed>,
}

/// What connections to a target may be with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Address and port of endpoints.
    pub endpoints: BTreeSet<Key>,
    /// Seconds of client affinity.
    pub affinity: Option<u32>,
}

/// Services that share rules: those with the same number of endpoints, affinity and scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Group {
    /// For clients from outside, of services that only serve those on the endpoints' nodes.
    pub local: bool,
    /// Seconds of client affinity.
    pub affinity: Option<u32>,
    /// Number of endpoints.
    pub count: u32,
}

impl Group {
    /// The map of endpoints.
    pub fn map(&self) -> String {
        let scope = if self.local { "local" } else { "eps" };
        match self.affinity {
            None => format!("{scope}-{}", self.count),
            Some(seconds) => format!("{scope}-{}-{seconds}s", self.count),
        }
    }

    /// The map of clients that packets fill.
    pub fn clients(&self) -> Option<String> {
        let scope = if self.local { "clients-local" } else { "clients" };
        self.affinity.map(|seconds| format!("{scope}-{seconds}s"))
    }
}

/// Names of sets.
pub(crate) mod set {
    /// Cluster addresses: masqueraded if the client is no pod.
    pub const CLUSTER: &str = "cluster-ips";
    /// External addresses and node ports of policy Cluster: always masqueraded.
    pub const EXTERNAL: &str = "external-ips";
    /// External addresses and node ports of policy Local.
    pub const LOCAL: &str = "local-only";
    /// What becomes of packets that there is nobody for.
    pub const UNSERVED: &str = "no-endpoints";
    /// Endpoints here, each with itself.
    pub const HAIRPIN: &str = "hairpin";
    /// Service addresses that are answered here.
    pub const SKIP: &str = "skip";
}

/// Names of chains that verdict maps lead to.
pub(crate) const REJECT: &str = "reject";

const SERVICE_KEY: [DataType; 3] = [DataType::Ipv4, DataType::Protocol, DataType::Port];

/// The wanted content of the table.
pub fn decide(services: &[Service], node: &Node) -> Wanted {
    let mut plan = Plan::new(node);
    for service in services {
        for port in &service.ports {
            plan.add(service, port);
        }
    }
    plan.finish(node)
}

struct Plan<'a> {
    node: &'a Node,
    sets: BTreeMap<String, Set>,
    groups: BTreeSet<Group>,
    allowed: HashMap<Key, Allowed>,
}

impl<'a> Plan<'a> {
    fn new(node: &'a Node) -> Self {
        let mut sets = BTreeMap::new();
        for name in [set::CLUSTER, set::EXTERNAL, set::LOCAL] {
            sets.insert(name.to_owned(), Set::of(&SERVICE_KEY));
        }
        sets.insert(set::UNSERVED.to_owned(), Set::verdicts(&SERVICE_KEY));
        sets.insert(set::HAIRPIN.to_owned(), Set::of(&[DataType::Ipv4, DataType::Ipv4]));
        let mut skip = Set::of(&[DataType::Ipv4]);
        skip.elements = node.skip.iter().map(|ip| (key::join([key::addr(*ip)]), Data::None)).collect();
        sets.insert(set::SKIP.to_owned(), skip);
        Plan { node, sets, groups: BTreeSet::new(), allowed: HashMap::new() }
    }

    fn add(&mut self, service: &Service, port: &Port) {
        let all = usable(port.endpoints.iter().copied());
        let here = usable(port.endpoints.iter().copied().filter(|endpoint| endpoint.local));
        for endpoint in here.iter().chain(&all).filter(|endpoint| endpoint.local) {
            self.element(set::HAIRPIN, key::join([key::addr(endpoint.ip), key::addr(endpoint.ip)]), Data::None);
        }

        let internal = if service.internal_local { &here } else { &all };
        for ip in service.cluster_ips.iter().filter(|ip| !self.node.skip.contains(ip)) {
            let target = (*ip, port.protocol, port.port);
            self.serve(target, service.affinity, false, internal);
            self.element(set::CLUSTER, service_key(target), Data::None);
            if internal.is_empty() {
                self.unserved(target, all.is_empty());
            }
        }

        let node_port = port.node_port.map(|node_port| (Ipv4Addr::UNSPECIFIED, port.protocol, node_port));
        let external = service.external_ips.iter().filter(|ip| !self.node.skip.contains(ip));
        let external: Vec<_> = external.map(|ip| (*ip, port.protocol, port.port)).chain(node_port).collect();
        for target in external {
            // Pods and the node itself are not bound to endpoints of this node.
            self.serve(target, service.affinity, false, &all);
            if service.external_local {
                self.serve(target, service.affinity, true, &here);
                self.element(set::LOCAL, service_key(target), Data::None);
            } else {
                self.element(set::EXTERNAL, service_key(target), Data::None);
            }
            if all.is_empty() {
                self.unserved(target, true);
            } else if service.external_local && here.is_empty() {
                self.unserved(target, false);
            }
        }
    }

    /// Leads packets for `target` to endpoints.
    fn serve(&mut self, target: (Ipv4Addr, u8, u16), affinity: Option<u32>, local: bool, endpoints: &[Endpoint]) {
        let (ip, protocol, port) = target;
        let group = Group { local, affinity, count: endpoints.len() as u32 };
        for (n, endpoint) in endpoints.iter().enumerate() {
            let from = key::join([key::addr(ip), key::protocol(protocol), key::port(port), key::mark(n as u32)]);
            let to = key::join([key::addr(endpoint.ip), key::port(endpoint.port)]);
            self.allowed.entry(service_key(target)).or_default().endpoints.insert(to.clone());
            let map = self.sets.entry(group.map()).or_insert_with(|| {
                let [a, b, c] = SERVICE_KEY;
                Set::map(&[a, b, c, DataType::Mark], &[DataType::Ipv4, DataType::Port])
            });
            // Two services that claim one external address: the first one has it.
            map.elements.entry(from).or_insert(Data::Value(to));
            self.groups.insert(group);
        }
        self.allowed.entry(service_key(target)).or_default().affinity = affinity;
    }

    fn unserved(&mut self, target: (Ipv4Addr, u8, u16), reject: bool) {
        let verdict = if reject { Verdict::Goto(REJECT.to_owned()) } else { Verdict::Drop };
        self.element(set::UNSERVED, service_key(target), Data::Verdict(verdict));
    }

    fn element(&mut self, set: &str, key: Key, data: Data) {
        if let Some(set) = self.sets.get_mut(set) {
            set.elements.insert(key, data);
        }
    }

    fn finish(mut self, node: &Node) -> Wanted {
        for group in &self.groups {
            if let (Some(name), Some(seconds)) = (group.clients(), group.affinity) {
                let [a, b, c] = SERVICE_KEY;
                let clients = Set::map(&[DataType::Ipv4, a, b, c], &[DataType::Ipv4, DataType::Port]);
                self.sets.entry(name).or_insert(clients.with_timeout(Duration::from_secs(u64::from(seconds))));
            }
        }
        let mut table = Table::new(Family::Ip, node.table.clone());
        table.sets = self.sets;
        table.chains = rules::chains(&self.groups, node);
        Wanted { table, allowed: self.allowed }
    }
}

/// The key of an address, protocol and port.
fn service_key((ip, protocol, port): (Ipv4Addr, u8, u16)) -> Key {
    key::join([key::addr(ip), key::protocol(protocol), key::port(port)])
}

/// Those that are ready; if none is, those that are ending but still answer.
fn usable(endpoints: impl Iterator<Item = Endpoint> + Clone) -> Vec<Endpoint> {
    let ready: Vec<_> = endpoints.clone().filter(|endpoint| endpoint.ready).collect();
    if ready.is_empty() { endpoints.filter(|e| e.serving && e.terminating).collect() } else { ready }
}
