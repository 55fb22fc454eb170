//! The network of a node, put together: routes to other nodes, the CNI configuration, service
//! rules, and the cluster's DNS on its own address.

use std::net::{IpAddr, SocketAddr};

use client::Informers;
use netlink::{Net, Rtnetlink};

use crate::{Error, NodeConfig, Paths, join::ClusterSettings, routes, stages::Stages};

/// Starts all of it.
pub async fn start(config: &NodeConfig, informers: Informers, stages: &mut Stages) -> Result<(), Error> {
    let stage = stages.next("network");
    let NodeConfig { paths, node, cluster, .. } = config;
    let (cluster_cidr, service_cidr) = ranges(cluster)?;
    add_dns_address(paths, cluster.cluster_dns)?;
    let routes = routes::Config {
        informers: informers.clone(),
        node_name: node.name.clone(),
        cluster_cidr,
        service_cidr,
        cni_conf: paths.cni_conf().join("10-kinglet.conflist"),
        cni_data: paths.data.join("agent/cni/reservations"),
    };
    routes::start(routes, stage.stop.clone(), &stage.tasks).await?;
    let proxy = proxy::Config {
        informers: informers.clone(),
        node: proxy::Node {
            name: node.name.clone(),
            cluster_cidr,
            pod_cidr: None,
            service_cidr,
            skip: v4(cluster.cluster_dns).into_iter().collect(),
            table: proxy::TABLE.to_owned(),
        },
    };
    proxy::start(proxy, stage.stop.clone(), &stage.tasks).await?;
    let dns = dns::Config {
        informers,
        listen: vec![SocketAddr::new(cluster.cluster_dns, 53)],
        cluster_domain: cluster.cluster_domain.clone(),
        networks: [cluster_cidr, service_cidr].map(|net| (net.addr, net.prefix)).to_vec(),
        resolv_conf: "/etc/resolv.conf".into(),
    };
    dns::start(dns, stage.stop.clone(), &stage.tasks).await?;
    Ok(())
}

fn v4(address: IpAddr) -> Option<std::net::Ipv4Addr> {
    match address {
        IpAddr::V4(v4) => Some(v4),
        IpAddr::V6(_) => None,
    }
}

/// The ranges of pods and services.
pub fn ranges(cluster: &ClusterSettings) -> Result<(Net, Net), Error> {
    let parse = |option: &'static str, text: &String| {
        let wrong =
            |_| Error::Option { option, value: text.clone(), message: "it should look like 10.42.0.0/16".into() };
        text.parse::<Net>().map_err(wrong)
    };
    Ok((parse("cluster-cidr", &cluster.cluster_cidr)?, parse("service-cidr", &cluster.service_cidr)?))
}

/// Each node answers DNS itself: the address is on its loopback interface, so that neither rules
/// nor the network stand between a pod and its DNS.
fn add_dns_address(paths: &Paths, address: IpAddr) -> Result<(), Error> {
    let file = paths.dns_address();
    std::fs::write(&file, address.to_string())
        .map_err(|source| Error::File { path: file.display().to_string(), source })?;
    let mut netlink = Rtnetlink::open()?;
    let loopback = netlink.require_link("lo")?;
    let net = Net::host(address);
    let there = netlink.addresses()?.iter().any(|a| a.index == loopback.index && a.net == net);
    if !there {
        netlink.add_address(loopback.index, net)?;
    }
    Ok(())
}

/// Takes away interfaces, addresses, routes and rules: what [`start`] and the CNI plugin have made.
pub fn cleanup(paths: &Paths) -> Result<(), Error> {
    proxy::cleanup(proxy::TABLE)?;
    cni::cleanup(HOST_PORTS)?;
    let mut netlink = Rtnetlink::open()?;
    let links = netlink.links()?;
    if let Some(bridge) = links.iter().find(|l| l.name == BRIDGE) {
        for port in links.iter().filter(|l| l.controller == Some(bridge.index)) {
            netlink.delete_link(port.index)?;
        }
        netlink.delete_link(bridge.index)?;
    }
    routes::cleanup(&mut netlink)?;
    let dns = std::fs::read_to_string(paths.dns_address()).ok().and_then(|text| text.parse::<IpAddr>().ok());
    if let Some(dns) = dns {
        for address in netlink.addresses()?.iter().filter(|a| a.net == Net::host(dns)) {
            netlink.delete_address(address.index, address.net)?;
        }
    }
    Ok(())
}

const BRIDGE: &str = "kinglet0";
const HOST_PORTS: &str = "kinglet-hostports";
