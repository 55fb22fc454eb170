//! The network of a node, put together: routes and the bridge, the CNI configuration, service
//! rules, and the cluster's DNS on its own address.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use client::{Informers, ObjectKey};
use futures::StreamExt as _;
use k8s_openapi::api::core::v1::Node;
use netlink::Net;

use crate::{Error, NodeConfig, join::ClusterSettings, routes, stages::Stages};

/// Starts all of it, once the Node has its range of pod addresses.
pub async fn start(config: &NodeConfig, informers: Informers, stages: &mut Stages) -> Result<(), Error> {
    let stage = stages.next("network");
    let NodeConfig { paths, node, cluster, .. } = config;
    let (cluster_cidr, service_cidr) = ranges(cluster)?;
    let pod_cidr = pod_cidr(&informers, &node.name).await?;
    let options = cni::Options::new(pod_cidr, paths.cni_data());
    // Each node answers DNS itself, on an address of its own: neither rules nor the network stand
    // between a pod and its DNS.
    let own_addresses: Vec<Ipv4Addr> = v4(cluster.cluster_dns).into_iter().collect();
    let routes = routes::Config {
        node_name: node.name.clone(),
        cluster_cidr,
        pod_cidr,
        service_cidr,
        service_ips: own_addresses.clone(),
        bridge: options.bridge.clone(),
        mtu: options.mtu,
    };
    routes::start(&informers, routes, stage.stop.clone(), &stage.tasks).await?;
    let proxy = proxy::Config {
        informers: informers.clone(),
        node: proxy::Node {
            name: node.name.clone(),
            cluster_cidr,
            pod_cidr: Some(pod_cidr),
            service_cidr,
            skip: own_addresses,
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
    // From here on the runtime starts pods, and the node is Ready.
    let conf = paths.cni_conf().join("10-kinglet.conflist");
    let failed = |source| Error::File { path: conf.display().to_string(), source };
    cri::write_whole(&conf, &cni::conf(&options)).map(drop).map_err(failed)
}

/// Waits for the range that the node-ipam controller gives to this node.
async fn pod_cidr(informers: &Informers, node_name: &str) -> Result<Net, Error> {
    let nodes = informers.get::<Node>();
    let mut changes = nodes.changes();
    let key = ObjectKey::new("", node_name);
    loop {
        let cidr = nodes.get(&key).and_then(|node| node.spec.as_ref()?.pod_cidr.clone());
        if let Some(cidr) = cidr {
            return parse("cluster-cidr", &cidr);
        }
        changes.next().await;
    }
}

fn v4(address: IpAddr) -> Option<Ipv4Addr> {
    match address {
        IpAddr::V4(v4) => Some(v4),
        IpAddr::V6(_) => None,
    }
}

/// The ranges of pods and services.
fn ranges(cluster: &ClusterSettings) -> Result<(Net, Net), Error> {
    Ok((parse("cluster-cidr", &cluster.cluster_cidr)?, parse("service-cidr", &cluster.service_cidr)?))
}

fn parse(option: &'static str, text: &str) -> Result<Net, Error> {
    let message = "it should look like 10.42.0.0/16";
    text.parse().map_err(|_| Error::Option { option, value: text.to_owned(), message: message.to_owned() })
}

/// The names that a node's network has, whatever its range; reservations are below `data`.
pub fn names(data: impl Into<PathBuf>) -> cni::Options {
    cni::Options::new(Net::host(Ipv4Addr::UNSPECIFIED), data)
}

/// Takes away interfaces, addresses, routes and rules: what [`start`] and the CNI plugin have made.
pub fn cleanup() -> Result<(), Error> {
    let names = names("");
    proxy::cleanup(proxy::TABLE)?;
    cni::cleanup(&names.host_ports_table)?;
    Ok(routes::cleanup(&names.bridge)?)
}
