//! A node, assembled: container runtime, kubelet, service proxy, DNS and routes, and how an agent
//! gets its identity. The same on servers and agents; only the client differs.

pub mod address;
pub mod agent;
pub mod cleanup;
pub mod containerd;
pub mod join;
mod paths;
mod routes;
pub mod runtime;
mod settings;
pub mod stages;

use std::{net::SocketAddr, sync::Arc};

use arc_swap::ArcSwap;
use client::Informers;
use pki::tls::{self, ClientCertificates};

pub use self::{
    paths::Paths,
    settings::{Node, Settings},
};
use self::{
    join::{ClusterSettings, Identity, JoinError},
    runtime::Starting,
    stages::Stages,
};

/// What a node is made of.
pub struct NodeConfig {
    /// Where files live.
    pub paths: Paths,
    /// As the user set them.
    pub settings: Settings,
    /// Name and address.
    pub node: Node,
    /// Certificates.
    pub identity: Identity,
    /// Common to all nodes.
    pub cluster: ClusterSettings,
    /// The node carries the control plane.
    pub control_plane: bool,
}

/// Why a node does not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It cannot join.
    #[error(transparent)]
    Join(#[from] JoinError),
    /// Keys and certificates.
    #[error(transparent)]
    Pki(#[from] pki::Error),
    /// An option makes no sense.
    #[error("--{option} {value:?}: {message}")]
    Option {
        /// Without dashes.
        option: &'static str,
        /// As given.
        value: String,
        /// What is wrong.
        message: String,
    },
    /// A file or folder.
    #[error("{path}: {source}")]
    File {
        /// Which.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The container runtime.
    #[error(transparent)]
    Containerd(#[from] containerd::Error),
    /// Images.
    #[error(transparent)]
    Images(#[from] cri::images::Error),
    /// The kubelet.
    #[error(transparent)]
    Kubelet(#[from] kubelet::Error),
    /// Service rules.
    #[error(transparent)]
    Proxy(#[from] proxy::Error),
    /// The cluster's DNS.
    #[error(transparent)]
    Dns(#[from] dns::Error),
    /// Links, addresses and routes.
    #[error(transparent)]
    Netlink(#[from] netlink::Error),
    /// The client.
    #[error(transparent)]
    Client(#[from] client::connect::Error),
}

/// Starts a node; `client` acts as `system:node:NAME`. Ready is another matter: the Node says so.
pub async fn start(
    config: NodeConfig,
    client: kube::Client,
    runtime: Starting,
    stages: &mut Stages,
) -> Result<(), Error> {
    let stage = stages.next("node");
    let informers = Informers::new(client, stage.stop.clone());
    let cri_socket = runtime.socket().await?;
    let kubelet = kubelet_config(&config, informers.clone(), cri_socket)?;
    kubelet::start(kubelet, stage.stop.clone(), &stage.tasks).await?;

    let stage = stages.next("network");
    let NodeConfig { paths, node, cluster, .. } = &config;
    let routes = routes::Config {
        informers: informers.clone(),
        node_name: node.name.clone(),
        cluster_cidr: cluster.cluster_cidr.clone(),
        service_cidr: cluster.service_cidr.clone(),
        cluster_dns: cluster.cluster_dns,
        cni_conf_dir: paths.cni_conf(),
    };
    routes::start(routes, stage.stop.clone(), &stage.tasks).await?;
    let proxy = proxy::Config {
        informers: informers.clone(),
        node_name: node.name.clone(),
        node_ip: node.ip,
        cluster_cidr: cluster.cluster_cidr.clone(),
        service_cidr: cluster.service_cidr.clone(),
        skip: vec![cluster.cluster_dns],
    };
    proxy::start(proxy, stage.stop.clone(), &stage.tasks).await?;
    let dns = dns::Config {
        informers,
        listen: vec![SocketAddr::new(cluster.cluster_dns, 53)],
        cluster_domain: cluster.cluster_domain.clone(),
    };
    dns::start(dns, stage.stop.clone(), &stage.tasks).await?;
    Ok(())
}

fn kubelet_config(
    config: &NodeConfig,
    informers: Informers,
    cri_socket: std::path::PathBuf,
) -> Result<kubelet::Config, Error> {
    let NodeConfig { paths, settings, node, identity, cluster, control_plane } = config;
    let tls = tls::server(&identity.serving, &identity.ca, ClientCertificates::Required, &["http/1.1"])?;
    let base = kubelet::Config::new(&node.name, node.ip, informers, cri_socket, Arc::new(ArcSwap::new(tls)));
    Ok(kubelet::Config {
        hostname: node.host_name.clone(),
        labels: settings.labels()?,
        taints: settings.taints()?,
        control_plane: *control_plane,
        root_dir: paths.kubelet(),
        pod_log_dir: paths.pod_logs(),
        cluster_dns: vec![cluster.cluster_dns],
        cluster_domain: cluster.cluster_domain.clone(),
        listen: SocketAddr::from(([0, 0, 0, 0], settings.kubelet_port)),
        cgroup_parent: format!("{}/kubepods", settings.cgroup_root.trim_end_matches('/')),
        version: api::VERSION.to_owned(),
        ..base
    })
}
