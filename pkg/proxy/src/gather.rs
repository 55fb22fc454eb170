//! Services and their endpoints as plain data, without what does not concern a proxy.

use std::{collections::HashMap, net::Ipv4Addr, sync::Arc};

use client::ObjectKey;
use k8s_openapi::api::{
    core::v1::{Service as ApiService, ServicePort},
    discovery::v1::EndpointSlice,
};

/// Label of a slice that names its service.
const SERVICE_NAME: &str = "kubernetes.io/service-name";
/// Label of a service that some other proxy serves.
const OTHER_PROXY: &str = "service.kubernetes.io/service-proxy-name";
/// Default of `sessionAffinityConfig.clientIP.timeoutSeconds`.
const AFFINITY_SECONDS: u32 = 10_800;

/// A service, as far as rules depend on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Service {
    /// Whose it is.
    pub key: ObjectKey,
    /// IPv4 cluster addresses.
    pub cluster_ips: Vec<Ipv4Addr>,
    /// `externalIPs` and addresses of load balancers.
    pub external_ips: Vec<Ipv4Addr>,
    /// Its ports.
    pub ports: Vec<Port>,
    /// Seconds that a client stays with its endpoint.
    pub affinity: Option<u32>,
    /// `internalTrafficPolicy: Local`
    pub internal_local: bool,
    /// `externalTrafficPolicy: Local`
    pub external_local: bool,
}

/// A port of a service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Port {
    /// Protocol number.
    pub protocol: u8,
    /// On the service's addresses.
    pub port: u16,
    /// On the node's addresses.
    pub node_port: Option<u16>,
    /// Who answers.
    pub endpoints: Vec<Endpoint>,
}

/// An endpoint of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Endpoint {
    /// Address.
    pub ip: Ipv4Addr,
    /// Port.
    pub port: u16,
    /// On this node.
    pub local: bool,
    /// Takes new connections.
    pub ready: bool,
    /// Still answers, ready or ending.
    pub serving: bool,
    /// Is ending.
    pub terminating: bool,
}

/// Protocol number of a Kubernetes protocol name.
pub fn protocol_number(name: Option<&str>) -> Option<u8> {
    match name.unwrap_or("TCP") {
        "TCP" => Some(6),
        "UDP" => Some(17),
        "SCTP" => Some(132),
        _ => None,
    }
}

/// All services that this proxy serves, in order of their keys.
pub fn gather(services: &[Arc<ApiService>], slices: &[Arc<EndpointSlice>], node: &str) -> Vec<Service> {
    let mut by_service: HashMap<(&str, &str), Vec<&EndpointSlice>> = HashMap::new();
    for slice in slices.iter().filter(|slice| slice.address_type == "IPv4") {
        let labels = slice.metadata.labels.as_ref();
        let (Some(namespace), Some(name)) =
            (slice.metadata.namespace.as_deref(), labels.and_then(|labels| labels.get(SERVICE_NAME)))
        else {
            continue;
        };
        by_service.entry((namespace, name)).or_default().push(slice);
    }
    let mut gathered: Vec<Service> = services
        .iter()
        .filter_map(|service| {
            let key = ObjectKey::of(&**service);
            let slices = by_service.get(&(key.namespace.as_str(), key.name.as_str()));
            gather_one(key.clone(), service, slices.map_or(&[], Vec::as_slice), node)
        })
        .collect();
    gathered.sort_by(|a, b| a.key.cmp(&b.key));
    gathered
}

fn gather_one(key: ObjectKey, service: &ApiService, slices: &[&EndpointSlice], node: &str) -> Option<Service> {
    let spec = service.spec.as_ref()?;
    let foreign = service.metadata.labels.as_ref().is_some_and(|labels| labels.contains_key(OTHER_PROXY));
    if foreign || spec.type_.as_deref() == Some("ExternalName") {
        return None;
    }
    let many = spec.cluster_ips.iter().flatten();
    let cluster_ips =
        addresses(if spec.cluster_ips.is_some() { many.collect() } else { spec.cluster_ip.iter().collect() });
    if cluster_ips.is_empty() {
        // Headless, without an address yet, or IPv6 only.
        return None;
    }
    let ingress = service.status.as_ref().and_then(|status| status.load_balancer.as_ref()).into_iter();
    let ingress = ingress.flat_map(|balancer| balancer.ingress.iter().flatten());
    // With mode Proxy the balancer delivers to a node port itself.
    let ingress = ingress.filter(|i| i.ip_mode.as_deref() != Some("Proxy")).filter_map(|i| i.ip.as_ref());
    let external_ips = addresses(spec.external_ips.iter().flatten().chain(ingress).collect());
    let ports = spec.ports.iter().flatten().filter_map(|port| gather_port(port, slices, node)).collect();
    let affinity = (spec.session_affinity.as_deref() == Some("ClientIP")).then(|| {
        let config = spec.session_affinity_config.as_ref().and_then(|config| config.client_ip.as_ref());
        config.and_then(|c| c.timeout_seconds).and_then(|s| u32::try_from(s).ok()).unwrap_or(AFFINITY_SECONDS)
    });
    Some(Service {
        key,
        cluster_ips,
        external_ips,
        ports,
        affinity,
        internal_local: spec.internal_traffic_policy.as_deref() == Some("Local"),
        external_local: spec.external_traffic_policy.as_deref() == Some("Local"),
    })
}

fn addresses(texts: Vec<&String>) -> Vec<Ipv4Addr> {
    let mut ips: Vec<Ipv4Addr> = texts.into_iter().filter_map(|text| text.parse().ok()).collect();
    ips.sort_unstable();
    ips.dedup();
    ips
}

fn gather_port(port: &ServicePort, slices: &[&EndpointSlice], node: &str) -> Option<Port> {
    let protocol = protocol_number(port.protocol.as_deref())?;
    let mut endpoints: Vec<Endpoint> = slices.iter().flat_map(|slice| gather_endpoints(port, slice, node)).collect();
    // Two slices may name an endpoint while it moves between them.
    endpoints.sort_unstable();
    endpoints.dedup_by_key(|endpoint| (endpoint.ip, endpoint.port));
    Some(Port {
        protocol,
        port: u16::try_from(port.port).ok()?,
        node_port: port.node_port.and_then(|port| u16::try_from(port).ok()).filter(|port| *port != 0),
        endpoints,
    })
}

fn gather_endpoints<'a>(
    port: &'a ServicePort,
    slice: &'a EndpointSlice,
    node: &'a str,
) -> impl Iterator<Item = Endpoint> + 'a {
    let name = port.name.as_deref().unwrap_or("");
    let protocol = port.protocol.as_deref().unwrap_or("TCP");
    let number = slice
        .ports
        .iter()
        .flatten()
        .find(|p| p.name.as_deref().unwrap_or("") == name && p.protocol.as_deref().unwrap_or("TCP") == protocol);
    let number = number.and_then(|p| p.port).and_then(|port| u16::try_from(port).ok());
    number.into_iter().flat_map(move |number| {
        slice.endpoints.iter().flatten().filter_map(move |endpoint| {
            let conditions = endpoint.conditions.as_ref();
            let ready = conditions.and_then(|c| c.ready).unwrap_or(true);
            Some(Endpoint {
                ip: endpoint.addresses.first()?.parse().ok()?,
                port: number,
                local: endpoint.node_name.as_deref() == Some(node),
                ready,
                serving: conditions.and_then(|c| c.serving).unwrap_or(ready),
                terminating: conditions.and_then(|c| c.terminating).unwrap_or(false),
            })
        })
    })
}
