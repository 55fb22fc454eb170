//! The network's configuration: as the node writes it, and as the plugin reads it.

use std::{net::Ipv4Addr, path::PathBuf};

use netlink::Net;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::protocol::{CniError, VERSIONS};

/// The plugin's type: the name under which runtimes look for the program.
pub const PLUGIN_TYPE: &str = "kinglet-cni";

/// What a node decides about its pods' network.
#[derive(Clone, Debug)]
pub struct Options {
    /// Name of the network, and of the folder of its reservations.
    pub network: String,
    /// The bridge that pods hang on.
    pub bridge: String,
    /// Largest packet, in bytes.
    pub mtu: u32,
    /// The node's addresses for pods; the first one is the bridge's.
    pub pod_cidr: Net,
    /// Where reservations are kept.
    pub data_dir: PathBuf,
    /// The nftables table of host ports.
    pub host_ports_table: String,
}

impl Options {
    /// The usual names for a node with these pod addresses.
    pub fn new(pod_cidr: Net, data_dir: impl Into<PathBuf>) -> Self {
        Options {
            network: "kinglet".into(),
            bridge: "kinglet0".into(),
            mtu: 1500,
            pod_cidr,
            data_dir: data_dir.into(),
            host_ports_table: "kinglet-hostports".into(),
        }
    }

    /// The folder with one file to each reserved address, for [`crate::ipam`].
    pub fn reservations(&self) -> PathBuf {
        self.data_dir.join(&self.network)
    }
}

/// The configuration list (`*.conflist`) for the container runtime.
pub fn conf(options: &Options) -> String {
    let list = json!({
        "cniVersion": "1.0.0",
        "name": options.network,
        "plugins": [{
            "type": PLUGIN_TYPE,
            "bridge": options.bridge,
            "mtu": options.mtu,
            "podCIDR": options.pod_cidr.network().to_string(),
            "dataDir": options.data_dir,
            "hostPortsTable": options.host_ports_table,
            "capabilities": { "portMappings": true },
        }],
    });
    format!("{list:#}\n")
}

/// What one call is given on standard input.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NetworkConf {
    #[serde(default)]
    pub cni_version: String,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    bridge: String,
    #[serde(default)]
    mtu: u32,
    #[serde(default, rename = "podCIDR")]
    pod_cidr: String,
    #[serde(default)]
    data_dir: PathBuf,
    #[serde(default)]
    host_ports_table: String,
    #[serde(default)]
    runtime_config: RuntimeConfig,
    #[serde(default)]
    pub prev_result: Option<Value>,
    #[serde(default, rename = "cni.dev/valid-attachments")]
    pub valid_attachments: Option<Vec<Attachment>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RuntimeConfig {
    port_mappings: Vec<PortMapping>,
}

/// A port of the node that leads to a pod. containerd spells the fields as Go does without tags,
/// other runtimes as the convention has them.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct PortMapping {
    #[serde(alias = "HostPort")]
    pub host_port: u16,
    #[serde(alias = "ContainerPort")]
    pub container_port: u16,
    #[serde(alias = "Protocol")]
    pub protocol: String,
    #[serde(rename = "hostIP", alias = "HostIP")]
    pub host_ip: String,
}

/// One of the attachments that GC keeps.
#[derive(Debug, Deserialize, PartialEq, Eq, Hash)]
pub(crate) struct Attachment {
    #[serde(rename = "containerID")]
    pub container_id: String,
    pub ifname: String,
}

impl NetworkConf {
    pub fn parse(input: &[u8]) -> Result<Self, CniError> {
        let conf: NetworkConf = serde_json::from_slice(input)
            .map_err(|e| CniError::new(6, "the network configuration cannot be decoded", &e))?;
        if !VERSIONS.contains(&conf.cni_version.as_str()) {
            return Err(CniError {
                code: 1,
                message: "incompatible CNI version".into(),
                details: format!("the configuration has {:?}, supported are {VERSIONS:?}", conf.cni_version),
            });
        }
        Ok(conf)
    }

    /// The parts that the `kinglet` plugin cannot do without.
    pub fn options(&self) -> Result<Options, CniError> {
        let pod_cidr: Net = self.pod_cidr.parse().map_err(|e| CniError::conf(format!("podCIDR: {e}")))?;
        if pod_cidr.v4().is_none() || pod_cidr.prefix > 30 {
            return Err(CniError::conf(format!("podCIDR {pod_cidr} has no room for pods with IPv4 addresses")));
        }
        if self.name.is_empty() || self.name.contains('/') {
            return Err(CniError::conf(format!("name {:?} cannot be the name of a folder", self.name)));
        }
        if self.data_dir.as_os_str().is_empty() {
            return Err(CniError::conf("dataDir is missing"));
        }
        let mut options = Options::new(pod_cidr.network(), &self.data_dir);
        options.network.clone_from(&self.name);
        let or = |given: &str, usual: String| if given.is_empty() { usual } else { given.to_owned() };
        options.bridge = or(&self.bridge, options.bridge);
        options.host_ports_table = or(&self.host_ports_table, options.host_ports_table);
        if self.mtu != 0 {
            options.mtu = self.mtu;
        }
        if options.bridge.len() > 15 {
            return Err(CniError::conf(format!("bridge {:?} is longer than 15 bytes", options.bridge)));
        }
        Ok(options)
    }

    /// Host ports with their protocol numbers and addresses (unspecified: any of the node).
    pub fn port_mappings(&self) -> Result<Vec<HostPort>, CniError> {
        let wanted = self.runtime_config.port_mappings.iter().filter(|m| m.host_port != 0);
        wanted.filter_map(|mapping| HostPort::from_mapping(mapping).transpose()).collect()
    }
}

/// A checked port mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostPort {
    pub ip: Ipv4Addr,
    pub protocol: u8,
    pub port: u16,
    pub pod_port: u16,
}

impl HostPort {
    /// None for an IPv6 address of the host: the pod network has none.
    fn from_mapping(mapping: &PortMapping) -> Result<Option<Self>, CniError> {
        let protocol = match mapping.protocol.to_ascii_lowercase().as_str() {
            "" | "tcp" => 6,
            "udp" => 17,
            "sctp" => 132,
            other => return Err(CniError::conf(format!("portMappings: protocol {other:?}"))),
        };
        let ip = match mapping.host_ip.as_str() {
            "" | "::" => Ipv4Addr::UNSPECIFIED,
            text => match text.parse::<std::net::IpAddr>() {
                Ok(std::net::IpAddr::V4(ip)) => ip,
                Ok(std::net::IpAddr::V6(_)) => return Ok(None),
                Err(_) => return Err(CniError::conf(format!("portMappings: hostIP {text:?}"))),
            },
        };
        Ok(Some(HostPort { ip, protocol, port: mapping.host_port, pod_port: mapping.container_port }))
    }
}
