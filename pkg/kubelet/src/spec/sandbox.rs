//! The sandbox of a pod, as the runtime is asked for it.

use std::collections::HashMap;

use cri::v1 as rt;
use k8s_openapi::api::core::v1::Pod;

use super::{containers, hosts, labels, resources, security};

/// What a sandbox is made from besides the pod.
#[derive(Clone, Debug)]
pub struct Setting<'a> {
    /// Directory of all pods' logs.
    pub pod_log_dir: &'a str,
    /// Cgroup of all pods, such as `/kubepods`.
    pub cgroup_root: &'a str,
    /// Directory of seccomp profiles.
    pub seccomp_root: &'a str,
    /// The cluster's domain.
    pub cluster_domain: &'a str,
    /// The pod's resolver configuration.
    pub dns: rt::DnsConfig,
}

/// The log directory of a pod.
pub fn log_directory(pod_log_dir: &str, namespace: &str, name: &str, uid: &str) -> String {
    format!("{pod_log_dir}/{namespace}_{name}_{uid}")
}

/// The labels by which a pod's sandboxes and containers are found.
pub fn labels(pod: &Pod) -> HashMap<String, String> {
    let meta = &pod.metadata;
    let own = [(labels::POD_NAME, &meta.name), (labels::POD_NAMESPACE, &meta.namespace), (labels::POD_UID, &meta.uid)];
    let mut all: HashMap<String, String> = meta.labels.iter().flatten().map(|(k, v)| (k.clone(), v.clone())).collect();
    all.extend(own.map(|(k, v)| (k.to_owned(), v.clone().unwrap_or_default())));
    all
}

/// The configuration of a pod's sandbox number `attempt`.
pub fn config(pod: &Pod, setting: &Setting<'_>, attempt: u32) -> rt::PodSandboxConfig {
    let (meta, spec) = (&pod.metadata, pod.spec.as_ref());
    let of = |v: &Option<String>| v.clone().unwrap_or_default();
    let (name, namespace, uid) = (of(&meta.name), of(&meta.namespace), of(&meta.uid));
    let host_network = spec.and_then(|s| s.host_network) == Some(true);
    let (hostname, domain) = hosts::names(pod, setting.cluster_domain);
    let fqdn = spec.and_then(|s| s.set_hostname_as_fqdn) == Some(true) && !domain.is_empty();
    let mut ports = Vec::new();
    for (_, container) in containers(pod) {
        for port in container.ports.iter().flatten() {
            let protocol = match port.protocol.as_deref() {
                Some("UDP") => rt::Protocol::Udp,
                Some("SCTP") => rt::Protocol::Sctp,
                _ => rt::Protocol::Tcp,
            };
            ports.push(rt::PortMapping {
                protocol: protocol as i32,
                container_port: port.container_port,
                host_port: port.host_port.unwrap_or(0),
                host_ip: of(&port.host_ip),
            });
        }
    }
    let sysctls = spec.and_then(|s| s.security_context.as_ref()).and_then(|c| c.sysctls.clone()).unwrap_or_default();
    rt::PodSandboxConfig {
        log_directory: log_directory(setting.pod_log_dir, &namespace, &name, &uid),
        metadata: Some(rt::PodSandboxMetadata { name, uid, namespace, attempt }),
        // On the host's network the host's name holds.
        hostname: match (host_network, fqdn) {
            (true, _) => String::new(),
            (false, true) => format!("{hostname}.{domain}"),
            (false, false) => hostname,
        },
        dns_config: Some(setting.dns.clone()),
        port_mappings: if host_network { Vec::new() } else { ports },
        labels: labels(pod),
        annotations: meta.annotations.iter().flatten().map(|(k, v)| (k.clone(), v.clone())).collect(),
        linux: Some(rt::LinuxPodSandboxConfig {
            cgroup_parent: resources::cgroup_parent(setting.cgroup_root, pod),
            security_context: Some(security::sandbox(pod, setting.seccomp_root)),
            sysctls: sysctls.into_iter().map(|s| (s.name, s.value)).collect(),
            ..rt::LinuxPodSandboxConfig::default()
        }),
        windows: None,
    }
}
