//! A node, assembled: container runtime, kubelet, service proxy, DNS and routes, and how an agent
//! gets its identity. The same on servers and agents; only the client differs.

pub mod address;
pub mod agent;
pub mod cleanup;
pub mod containerd;
pub mod join;
mod lock;
mod network;
pub mod notify;
mod paths;
mod routes;
pub mod runtime;
mod settings;
pub mod stages;

use std::{net::SocketAddr, sync::Arc};

use arc_swap::ArcSwap;
use client::Informers;
use pki::tls::{self, ClientCertificates};

use self::{
    join::{ClusterSettings, Identity, JoinError},
    runtime::Starting,
    stages::Stages,
};
pub use self::{
    lock::{Lock, lock},
    paths::Paths,
    settings::{Node, Settings, node_name},
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
    #[error("cannot read or write {path}")]
    File {
        /// Which.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// Another process uses the directories.
    #[error("kinglet is running already in {run}")]
    Running {
        /// The run directory.
        run: String,
    },
    /// The container runtime.
    #[error(transparent)]
    Containerd(#[from] containerd::Error),
    /// The runtime that the user has named.
    #[error(transparent)]
    Runtime(#[from] cri::Error),
    /// Images.
    #[error(transparent)]
    Images(#[from] cri::images::Error),
    /// `registries.yaml`.
    #[error(transparent)]
    Registries(#[from] cri::registries::Error),
    /// The kubelet.
    #[error(transparent)]
    Kubelet(#[from] kubelet::Error),
    /// Service rules.
    #[error(transparent)]
    Proxy(#[from] proxy::Error),
    /// The cluster's DNS.
    #[error(transparent)]
    Dns(#[from] dns::Error),
    /// Routes between nodes.
    #[error(transparent)]
    Routes(#[from] routes::Error),
    /// Host ports.
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
    let registries = Arc::new(runtime.registries.clone());
    let cri_socket = runtime.socket().await?;
    let kubelet = kubelet::Config { registries, ..kubelet_config(&config, informers.clone(), cri_socket)? };
    kubelet::start(kubelet, stage.stop.clone(), &stage.tasks).await?;

    network::start(&config, informers, stages).await
}

fn kubelet_config(
    config: &NodeConfig,
    informers: Informers,
    cri_socket: std::path::PathBuf,
) -> Result<kubelet::Config, Error> {
    let NodeConfig { paths, settings, node, identity, cluster, control_plane } = config;
    paths::private_dir(&paths.kubelet())?;
    let tls = tls::server(&identity.serving, &identity.ca, ClientCertificates::Required, &["http/1.1"])?;
    let base = kubelet::Config::new(&node.name, node.ip, informers, cri_socket, Arc::new(ArcSwap::new(tls)));
    Ok(kubelet::Config {
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
        machine_id: Some(pki::machine_id_of_certificate(&identity.client.certificate_pem)?),
        ..base
    })
}
