//! Routes to the pods of other nodes, and the CNI configuration of this one.
//!
//! Each other Node with a pod range and an address gets a host route; the cluster's ranges are
//! unreachable otherwise, so that a packet which nothing catches leaves no machine. Ours are
//! marked with a protocol number and reconciled by difference.

use std::{collections::BTreeSet, net::IpAddr, path::PathBuf};

use client::{Informer, Informers};
use futures::StreamExt as _;
use k8s_openapi::api::core::v1::Node;
use netlink::{Net, Route, RouteKind, Rtnetlink, sysctl};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::Error;

/// Marks our routes.
const PROTOCOL: u8 = 75;

/// What routes are made from.
pub struct Config {
    /// Where Nodes are seen.
    pub informers: Informers,
    /// This node.
    pub node_name: String,
    /// Addresses of pods.
    pub cluster_cidr: Net,
    /// Addresses of services.
    pub service_cidr: Net,
    /// The file that tells the runtime how pods get their network.
    pub cni_conf: PathBuf,
    /// Reservations of the plugin.
    pub cni_data: PathBuf,
}

/// What shall be.
#[derive(Debug, Default, PartialEq, Eq)]
struct Plan {
    routes: BTreeSet<Route>,
    cni_conf: Option<String>,
}

/// Starts following Nodes.
pub async fn start(config: Config, stop: CancellationToken, tasks: &TaskTracker) -> Result<(), Error> {
    sysctl::set("net.ipv4.ip_forward", "1")?;
    let nodes = config.informers.get::<Node>();
    let mut changes = nodes.changes();
    apply(&config, &decide(&config, &[]))?;
    tasks.spawn(async move {
        tokio::select! {
            () = stop.cancelled() => return,
            () = nodes.synced() => {}
        }
        loop {
            if let Err(error) = apply(&config, &decide(&config, &gather(&nodes))) {
                tracing::error!(%error, "routes to other nodes");
            }
            tokio::select! {
                () = stop.cancelled() => return,
                _ = changes.next() => {}
            }
        }
    });
    Ok(())
}

/// What matters of a Node.
struct Peer {
    name: String,
    pods: Net,
    address: IpAddr,
}

fn gather(nodes: &Informer<Node>) -> Vec<Peer> {
    nodes.list().iter().filter_map(|node| peer(node)).collect()
}

fn peer(node: &Node) -> Option<Peer> {
    let pods = node.spec.as_ref()?.pod_cidr.as_ref()?.parse().ok()?;
    let addresses = node.status.as_ref()?.addresses.as_ref()?;
    let address = addresses.iter().find(|a| a.type_ == "InternalIP")?.address.parse().ok()?;
    Some(Peer { name: node.metadata.name.clone()?, pods, address })
}

fn decide(config: &Config, peers: &[Peer]) -> Plan {
    let route = |destination, kind| Route { destination, kind, source: None, protocol: PROTOCOL };
    let mut plan = Plan::default();
    plan.routes.insert(route(config.cluster_cidr, RouteKind::Unreachable));
    plan.routes.insert(route(config.service_cidr, RouteKind::Unreachable));
    for peer in peers {
        if peer.name == config.node_name {
            plan.cni_conf = Some(cni::conf(&cni::Options::new(peer.pods, &config.cni_data)));
        } else {
            plan.routes.insert(route(peer.pods, RouteKind::Gateway { via: peer.address, interface: None }));
        }
    }
    plan
}

fn apply(config: &Config, plan: &Plan) -> Result<(), Error> {
    let mut netlink = Rtnetlink::open()?;
    let there: BTreeSet<Route> = netlink.routes(false)?.into_iter().filter(|r| r.protocol == PROTOCOL).collect();
    for gone in there.difference(&plan.routes).filter(|r| !plan.routes.iter().any(|p| p.destination == r.destination)) {
        netlink.delete_route(gone)?;
    }
    for new in plan.routes.difference(&there) {
        netlink.replace_route(new)?;
    }
    let Some(conf) = &plan.cni_conf else { return Ok(()) };
    if std::fs::read_to_string(&config.cni_conf).is_ok_and(|old| old == *conf) {
        return Ok(());
    }
    let failed = |source| Error::File { path: config.cni_conf.display().to_string(), source };
    // The runtime takes any file that it finds, so it must appear whole.
    let draft = config.cni_conf.with_extension("new");
    std::fs::write(&draft, conf).and_then(|()| std::fs::rename(&draft, &config.cni_conf)).map_err(failed)
}

/// Takes our routes away.
pub fn cleanup(netlink: &mut Rtnetlink) -> Result<(), Error> {
    for route in netlink.routes(false)?.iter().filter(|r| r.protocol == PROTOCOL) {
        netlink.delete_route(route)?;
    }
    Ok(())
}
