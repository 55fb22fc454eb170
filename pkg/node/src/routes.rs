//! Routes between nodes: the pods of each other node are reached by way of that node's address.
//!
//! ```text
//! 10.42.3.0/24  via 192.0.2.13      pods of another node
//! 10.42.0.0/24  dev kinglet0        pods of this node (the bridge's own)
//! 10.42.0.0/16  unreachable         pods of nobody: never sent out of the cluster
//! 10.43.0.0/16  dev kinglet0        services: a way for this node's processes as far as the
//!                                   service proxy's rules, which translate or refuse
//! ```
//!
//! The service range cannot be an unreachable route: a process of this node would be refused
//! before any rule sees its packet.
//!
//! Guarantees: routes that others made stay (ours bear a protocol number of their own); a route
//! that is right is not touched; one that cannot be made does not keep others from being made.
//! Routes that go with an interface or an address come back with it. Assumes: nodes are neighbours
//! on one network.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
    time::Duration,
};

use client::{Informer, Informers};
use futures::StreamExt as _;
use k8s_openapi::api::core::v1::Node;
use netlink::{Monitor, Net, Route, RouteKind, Rtnetlink};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Marks our routes, as `ip route` shows them: `proto 75`.
pub const PROTOCOL: u8 = 75;

/// Until routes that could not be made are tried again. Nothing says when a neighbour's network
/// appears; on a cluster without such routes no timer runs.
const RETRY: Duration = Duration::from_secs(30);

/// News of interfaces come in swarms; this long after the first, all is looked at once.
const SETTLING: Duration = Duration::from_millis(500);

/// What routes depend on beside the Nodes.
#[derive(Clone, Debug)]
pub struct Config {
    /// This node's name.
    pub node_name: String,
    /// Addresses of all pods.
    pub cluster_cidr: Net,
    /// Addresses of this node's pods; the first is the bridge's.
    pub pod_cidr: Net,
    /// Addresses of services.
    pub service_cidr: Net,
    /// Service addresses that this node answers on itself, such as the cluster DNS.
    pub service_ips: Vec<Ipv4Addr>,
    /// Name of the bridge that pods hang on.
    pub bridge: String,
    /// Largest packet on it, in bytes.
    pub mtu: u32,
}

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The kernel did not do as asked.
    #[error("routes of the pod network")]
    Netlink(#[from] netlink::Error),
    /// A range of addresses that cannot be used.
    #[error("{0} is no range of IPv4 addresses for pods")]
    Range(Net),
}

/// Makes the bridge, its addresses and all routes, then follows the Nodes until `stop`. Routes
/// stay when it ends.
pub async fn start(
    informers: &Informers,
    config: Config,
    stop: CancellationToken,
    tasks: &TaskTracker,
) -> Result<(), Error> {
    start_with(informers.get::<Node>(), config, stop, tasks).await
}

async fn start_with(
    nodes: Informer<Node>,
    config: Config,
    stop: CancellationToken,
    tasks: &TaskTracker,
) -> Result<(), Error> {
    let changes = nodes.changes();
    nodes.synced().await;
    let bridge = blocking({
        let config = config.clone();
        move || prepare(&config)
    })
    .await?;
    let gather = move || decide(&nodes.list(), &config, bridge);
    let mut wanted = gather();
    let monitor = Monitor::network()?;
    let mut failed = apply(wanted.clone()).await?;
    tasks.spawn(stop.run_until_cancelled_owned(async move {
        let mut changes = changes;
        loop {
            let look = tokio::select! {
                change = changes.next() => match change {
                    Some(_) => failed,
                    None => return,
                },
                () = monitor.changed() => {
                    tokio::time::sleep(SETTLING).await;
                    // What cannot be read counts as news, and these are looked at now.
                    let _ = monitor.drain();
                    true
                }
                () = tokio::time::sleep(RETRY), if failed => true,
            };
            let now = gather();
            // Nodes change all the time; their addresses hardly ever.
            if now == wanted && !look {
                continue;
            }
            wanted = now;
            failed = match apply(wanted.clone()).await {
                Ok(failed) => failed,
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "routes not changed, trying again");
                    true
                }
            };
        }
    }));
    Ok(())
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Error> + Send + 'static) -> Result<T, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

/// The bridge with its addresses; its number.
fn prepare(config: &Config) -> Result<u32, Error> {
    let gateway = config.pod_cidr.nth(1).ok_or(Error::Range(config.pod_cidr))?;
    let mut rtnetlink = Rtnetlink::open()?;
    let address = Net::new(gateway, config.pod_cidr.prefix);
    let bridge = cni::bridge::ensure(&mut rtnetlink, &config.bridge, address, config.mtu)?;
    let present = rtnetlink.addresses()?;
    for ip in config.service_ips.iter().map(|ip| Net::host(*ip)) {
        if !present.iter().any(|address| address.net == ip) {
            rtnetlink.add_address(bridge.index, ip)?;
        }
    }
    Ok(bridge.index)
}

/// The routes that should be, by destination.
fn decide(nodes: &[Arc<Node>], config: &Config, bridge: u32) -> BTreeMap<Net, Route> {
    let own = config.pod_cidr.network();
    let route = |destination: Net, kind, source| Route { destination, kind, source, protocol: PROTOCOL };
    let mut routes = vec![
        route(config.cluster_cidr.network(), RouteKind::Unreachable, None),
        route(config.service_cidr.network(), RouteKind::Interface(bridge), config.pod_cidr.nth(1).map(IpAddr::from)),
    ];
    let mut others: Vec<_> = nodes.iter().filter(|n| n.metadata.name.as_ref() != Some(&config.node_name)).collect();
    others.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
    for node in others {
        let Some(via) = internal_ip(node) else { continue };
        routes.extend(
            pod_cidrs(node)
                .filter(|cidr| *cidr != own)
                .map(|destination| route(destination, RouteKind::Gateway { via: via.into(), interface: None }, None)),
        );
    }
    // Should two nodes claim one range, the first by name has it, and keeps it.
    let mut by_destination = BTreeMap::new();
    for route in routes.into_iter().filter(|route| route.destination != own) {
        by_destination.entry(route.destination).or_insert(route);
    }
    by_destination
}

fn internal_ip(node: &Node) -> Option<Ipv4Addr> {
    let addresses = node.status.as_ref()?.addresses.as_ref()?;
    addresses.iter().filter(|address| address.type_ == "InternalIP").find_map(|address| address.address.parse().ok())
}

fn pod_cidrs(node: &Node) -> impl Iterator<Item = Net> {
    let spec = node.spec.iter();
    let texts = spec.flat_map(|spec| spec.pod_cidrs.iter().flatten().chain(&spec.pod_cidr));
    let cidrs: BTreeSet<Net> = texts.filter_map(|text| text.parse::<Net>().ok()).map(|net| net.network()).collect();
    cidrs.into_iter().filter(|net| net.v4().is_some())
}

/// Brings the kernel's routes to what is wanted. True: some could not be made.
async fn apply(wanted: BTreeMap<Net, Route>) -> Result<bool, Error> {
    blocking(move || {
        let mut rtnetlink = Rtnetlink::open()?;
        let (obsolete, missing) = difference(&ours(&mut rtnetlink)?, &wanted);
        for route in &obsolete {
            rtnetlink.delete_route(route)?;
        }
        let mut failed = false;
        for route in &missing {
            if let Err(error) = rtnetlink.replace_route(route) {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(destination = %route.destination, error, "no route; is its node on the same network?");
                failed = true;
            }
        }
        Ok(failed)
    })
    .await
}

/// Our routes. The kernel adds the interface that a gateway is on; here it says nothing.
fn ours(rtnetlink: &mut Rtnetlink) -> Result<Vec<Route>, Error> {
    let mut routes = rtnetlink.routes(false)?;
    routes.retain(|route| route.protocol == PROTOCOL);
    for route in &mut routes {
        if let RouteKind::Gateway { interface, .. } = &mut route.kind {
            *interface = None;
        }
    }
    Ok(routes)
}

/// What must go, and what must come.
fn difference(present: &[Route], wanted: &BTreeMap<Net, Route>) -> (Vec<Route>, Vec<Route>) {
    let obsolete = present.iter().filter(|route| !wanted.contains_key(&route.destination)).copied().collect();
    let missing = wanted.values().filter(|route| !present.contains(route)).copied().collect();
    (obsolete, missing)
}

/// Removes our routes and the bridge: for uninstall. No error if there are none.
pub fn cleanup(bridge: &str) -> Result<(), Error> {
    let mut rtnetlink = Rtnetlink::open()?;
    for route in ours(&mut rtnetlink)? {
        rtnetlink.delete_route(&route)?;
    }
    if let Some(link) = rtnetlink.link(bridge)? {
        rtnetlink.delete_link(link.index)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use client::ObjectKey;
    use netlink::Namespace;

    use super::*;

    fn config() -> Config {
        Config {
            node_name: "a".into(),
            cluster_cidr: net("10.42.0.0/16"),
            pod_cidr: net("10.42.0.0/24"),
            service_cidr: net("10.43.0.0/16"),
            service_ips: vec![Ipv4Addr::new(10, 43, 0, 10)],
            bridge: "kinglet0".into(),
            mtu: 1500,
        }
    }

    fn net(text: &str) -> Net {
        text.parse().unwrap()
    }

    fn node(name: &str, cidr: &str, ip: &str) -> Node {
        use k8s_openapi::api::core::v1::{NodeAddress, NodeSpec, NodeStatus};
        let address = |kind: &str, ip: &str| NodeAddress { type_: kind.into(), address: ip.into() };
        let mut node = Node::default();
        node.metadata.name = Some(name.into());
        node.spec =
            Some(NodeSpec { pod_cidr: Some(cidr.into()), pod_cidrs: Some(vec![cidr.into()]), ..NodeSpec::default() });
        node.status = Some(NodeStatus {
            addresses: Some(vec![address("Hostname", name), address("InternalIP", ip)]),
            ..NodeStatus::default()
        });
        node
    }

    fn show(routes: &BTreeMap<Net, Route>) -> Vec<String> {
        let kind = |kind: &RouteKind| match kind {
            RouteKind::Gateway { via, .. } => format!("via {via}"),
            RouteKind::Interface(index) => format!("dev {index}"),
            RouteKind::Unreachable => "unreachable".into(),
        };
        routes.values().map(|route| format!("{} {}", route.destination, kind(&route.kind))).collect()
    }

    #[test]
    fn every_other_node_with_a_range_and_an_address_gets_a_route() {
        let nodes = [
            node("a", "10.42.0.0/24", "192.0.2.1"),
            node("b", "10.42.1.0/24", "192.0.2.2"),
            node("c", "10.42.1.0/24", "192.0.2.3"),
            node("d", "", "192.0.2.4"),
            node("e", "10.42.5.0/24", "fd00::5"),
            node("f", "10.42.0.0/24", "192.0.2.6"),
        ];
        let nodes = nodes.map(Arc::new);
        let routes = decide(&nodes, &config(), 7);
        assert_eq!(show(&routes), ["10.42.0.0/16 unreachable", "10.42.1.0/24 via 192.0.2.2", "10.43.0.0/16 dev 7"]);
        let present: Vec<Route> = routes.values().copied().collect();
        assert_eq!(difference(&present, &routes), (vec![], vec![]));
    }

    #[test]
    fn routes_follow_nodes_in_the_kernel_and_leave_others_alone() {
        Namespace::fresh()
            .unwrap()
            .run(|| {
                let uplink = Namespace::fresh().unwrap();
                let mut rtnetlink = Rtnetlink::open().unwrap();
                rtnetlink.add_veth("knet0", "knet1", &uplink, 1500, None).unwrap();
                let link = rtnetlink.require_link("knet0").unwrap();
                rtnetlink.add_address(link.index, net("192.0.2.1/24")).unwrap();
                rtnetlink.set_up(link.index).unwrap();
                let via = RouteKind::Gateway { via: Ipv4Addr::new(192, 0, 2, 9).into(), interface: Some(link.index) };
                let foreign = Route { destination: net("198.51.100.0/24"), kind: via, source: None, protocol: 4 };
                rtnetlink.replace_route(&foreign).unwrap();
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(async {
                    let nodes = Informer::<Node>::detached();
                    nodes.insert(node("a", "10.42.0.0/24", "192.0.2.1"));
                    nodes.insert(node("b", "10.42.1.0/24", "192.0.2.2"));
                    nodes.insert(node("far", "10.42.9.0/24", "203.0.113.9"));
                    nodes.set_synced();
                    let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
                    start_with(nodes.clone(), config(), stop.clone(), &tasks).await.unwrap();
                    let mut rtnetlink = Rtnetlink::open().unwrap();
                    let bridge = rtnetlink.require_link("kinglet0").unwrap().index;
                    let mut shown = || {
                        let routes = ours(&mut rtnetlink).unwrap().into_iter().map(|r| (r.destination, r)).collect();
                        show(&routes)
                    };
                    let base = ["10.42.0.0/16 unreachable".to_owned(), format!("10.43.0.0/16 dev {bridge}")];
                    let with = |route: &str| vec![base[0].clone(), route.to_owned(), base[1].clone()];
                    assert_eq!(shown(), with("10.42.1.0/24 via 192.0.2.2"));
                    let mut eventually = async |wanted: Vec<String>| {
                        for _ in 0..200 {
                            if shown() == wanted {
                                return;
                            }
                            tokio::time::sleep(Duration::from_millis(5)).await;
                        }
                        assert_eq!(shown(), wanted);
                    };
                    nodes.insert(node("b", "10.42.1.0/24", "192.0.2.3"));
                    eventually(with("10.42.1.0/24 via 192.0.2.3")).await;
                    nodes.remove(&ObjectKey::new("", "b"));
                    eventually(base.to_vec()).await;
                    stop.cancel();
                    tasks.close();
                    tasks.wait().await;
                });
                let addresses = rtnetlink.addresses().unwrap();
                assert!(addresses.iter().any(|address| address.net == net("10.43.0.10/32")));
                assert_eq!(netlink::sysctl::get("net/ipv4/ip_forward").unwrap(), "1");
                cleanup("kinglet0").unwrap();
                cleanup("kinglet0").unwrap();
                assert!(rtnetlink.routes(false).unwrap().contains(&foreign));
                assert_eq!(rtnetlink.link("kinglet0").unwrap(), None);
            })
            .unwrap();
    }
}
