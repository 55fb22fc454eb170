//! What the kubelet is told, and what its parts share.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use client::{Informer, Informers, Recorder};
use cri::registries::Registries;
use k8s_openapi::api::core::v1::{Service, Taint};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::node::machine::Machine;
use crate::runtime::Runtime;
use crate::sources::Sources;
use crate::spec::dns::ClusterDns;
use crate::volumes::PodDirs;

/// Everything the kubelet is told.
#[derive(Clone)]
pub struct Config {
    /// Name of the Node object.
    pub node_name: String,
    /// The node's primary address.
    pub node_ip: IpAddr,
    /// The host's name, for the node's addresses and label.
    pub hostname: String,
    /// Labels that the node gets at registration, besides its own.
    pub labels: BTreeMap<String, String>,
    /// Taints that the node gets at registration.
    pub taints: Vec<Taint>,
    /// The node carries the control plane.
    pub control_plane: bool,
    /// Informers over a client with the node's identity. Nobody else must have asked them for Pods.
    pub informers: Informers,
    /// The runtime's socket.
    pub cri_socket: PathBuf,
    /// Whose credentials are for pulls of all pods.
    pub registries: Arc<Registries>,
    /// Directory of the kubelet's own, such as `/var/lib/kinglet/kubelet`.
    pub root_dir: PathBuf,
    /// Directory of container logs.
    pub pod_log_dir: PathBuf,
    /// Addresses of the cluster's DNS service.
    pub cluster_dns: Vec<IpAddr>,
    /// The cluster's domain.
    pub cluster_domain: String,
    /// Where logs, exec and the like are served.
    pub listen: SocketAddr,
    /// TLS of that server: client certificates verified by the cluster's CA. Cloned for each connection from the
    /// cell, so a renewed certificate is used at once.
    pub serving: Arc<arc_swap::ArcSwap<rustls::ServerConfig>>,
    /// Cgroup of all pods: a path such as `/kubepods`. Two nodes on a machine need two.
    pub cgroup_parent: String,
    /// Pods that the node takes.
    pub max_pods: u32,
    /// Version of the kubelet as the node shows it, such as `v1.37.2+kinglet1`.
    pub version: String,
    /// The id of this machine, instead of the one in `/etc/machine-id`, which copies of one disk share.
    pub machine_id: Option<String>,
}

impl Config {
    /// A configuration with the defaults of a node.
    pub fn new(
        node_name: &str,
        node_ip: IpAddr,
        informers: Informers,
        cri_socket: PathBuf,
        serving: Arc<arc_swap::ArcSwap<rustls::ServerConfig>>,
    ) -> Self {
        Config {
            node_name: node_name.into(),
            node_ip,
            hostname: node_name.into(),
            labels: BTreeMap::new(),
            taints: Vec::new(),
            control_plane: false,
            informers,
            cri_socket,
            registries: Arc::default(),
            root_dir: "/var/lib/kinglet/kubelet".into(),
            pod_log_dir: "/var/log/pods".into(),
            cluster_dns: vec![IpAddr::from([10, 43, 0, 10])],
            cluster_domain: "cluster.local".into(),
            listen: SocketAddr::from(([0, 0, 0, 0], 10250)),
            serving,
            cgroup_parent: "/kubepods".into(),
            max_pods: 110,
            version: "v1.37.2+kinglet1".into(),
            machine_id: None,
        }
    }
}

/// What the parts of a running kubelet share.
pub struct Context {
    /// As told.
    pub config: Config,
    /// Writes to the API.
    pub client: kube::Client,
    /// The runtime.
    pub runtime: Runtime,
    /// ConfigMaps and Secrets.
    pub sources: Sources,
    /// For service variables.
    pub services: Informer<Service>,
    /// Events.
    pub recorder: Recorder,
    /// The machine.
    pub machine: Machine,
    /// What pods may have of it.
    pub allocatable: BTreeMap<String, Quantity>,
    /// Uids of pods whose containers changed.
    pub changes: broadcast::Sender<String>,
    /// Ends everything.
    pub stop: CancellationToken,
    /// Everything that runs.
    pub tasks: TaskTracker,
}

impl Context {
    /// The node's addresses.
    pub fn host_ips(&self) -> Vec<IpAddr> {
        vec![self.config.node_ip]
    }

    /// Names for resolvers.
    pub fn cluster(&self) -> ClusterDns {
        ClusterDns { servers: self.config.cluster_dns.clone(), domain: self.config.cluster_domain.clone() }
    }

    /// The directories of a pod.
    pub fn dirs(&self, uid: &str) -> PodDirs {
        PodDirs::new(&self.config.root_dir, uid)
    }
}
