//! Rows of networking and discovery.

use super::row::{Group, Row, STATUS};

pub(super) static NETWORKING: Group =
    Group { group: "networking.k8s.io", version: "v1", package: "io.k8s.api.networking" };
pub(super) static DISCOVERY: Group =
    Group { group: "discovery.k8s.io", version: "v1", package: "io.k8s.api.discovery" };

pub(super) const NETWORKING_ROWS: &[Row] = &[
    Row::cluster("IngressClass", "ingressclasses"),
    Row::namespaced("Ingress", "ingresses").short(&["ing"]).subs(STATUS),
    Row::cluster("IPAddress", "ipaddresses").short(&["ip"]),
    Row::namespaced("NetworkPolicy", "networkpolicies").short(&["netpol"]),
    Row::cluster("ServiceCIDR", "servicecidrs").subs(STATUS),
];

pub(super) const DISCOVERY_ROWS: &[Row] = &[Row::namespaced("EndpointSlice", "endpointslices")];
