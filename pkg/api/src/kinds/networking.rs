//! Rows of networking and discovery.

use super::row::{Group, Row, STATUS};
use crate::{strategy, table};

pub(super) static NETWORKING: Group =
    Group { group: "networking.k8s.io", version: "v1", package: "io.k8s.api.networking" };
pub(super) static DISCOVERY: Group =
    Group { group: "discovery.k8s.io", version: "v1", package: "io.k8s.api.discovery" };

pub(super) const NETWORKING_ROWS: &[Row] = &[
    Row::cluster("IngressClass", "ingressclasses")
        .strategy(&strategy::IngressClasses)
        .columns(&table::networking::INGRESS_CLASS),
    Row::namespaced("Ingress", "ingresses")
        .strategy(&strategy::Ingresses)
        .columns(&table::networking::INGRESS)
        .short(&["ing"])
        .subs(STATUS),
    Row::cluster("IPAddress", "ipaddresses")
        .strategy(&strategy::IpAddresses)
        .columns(&table::networking::IP_ADDRESS)
        .short(&["ip"]),
    Row::namespaced("NetworkPolicy", "networkpolicies")
        .strategy(&strategy::NetworkPolicies)
        .columns(&table::networking::NETWORK_POLICY)
        .short(&["netpol"]),
    Row::cluster("ServiceCIDR", "servicecidrs")
        .strategy(&strategy::ServiceCidrs)
        .columns(&table::networking::SERVICE_CIDR)
        .subs(STATUS),
];

pub(super) const DISCOVERY_ROWS: &[Row] = &[Row::namespaced("EndpointSlice", "endpointslices")
    .strategy(&strategy::EndpointSlices)
    .columns(&table::networking::ENDPOINT_SLICE)];
