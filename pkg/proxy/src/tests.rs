//! Where packets go: on paper for the rules' meaning, and with sockets for the kernel's opinion.

mod paper;
mod real;

use k8s_openapi::api::{core::v1::Service, discovery::v1::EndpointSlice};
use serde_json::{Value, json};

use super::*;

pub(super) fn node() -> Node {
    Node {
        name: "here".into(),
        cluster_cidr: "10.42.0.0/16".parse().unwrap(),
        pod_cidr: Some("10.42.0.0/24".parse().unwrap()),
        service_cidr: "10.43.0.0/16".parse().unwrap(),
        skip: vec!["10.43.0.10".parse().unwrap()],
        table: TABLE.into(),
    }
}

/// A service `default/web` on 10.43.0.1:80, with whatever else its spec has.
pub(super) fn service(name: &str, ip: &str, spec: Value) -> Service {
    let mut object = json!({
        "metadata": { "namespace": "default", "name": name },
        "spec": { "clusterIP": ip, "clusterIPs": [ip], "ports": [{ "port": 80, "protocol": "TCP" }] },
    });
    for (key, value) in spec.as_object().unwrap() {
        object["spec"][key] = value.clone();
    }
    serde_json::from_value(object).unwrap()
}

/// Endpoints: address, node, and the letters r(eady), s(erving), t(erminating).
pub(super) fn slice(service: &str, port: Value, endpoints: &[(&str, &str, &str)]) -> EndpointSlice {
    let endpoints: Vec<Value> = endpoints
        .iter()
        .map(|(ip, node, conditions)| {
            json!({
                "addresses": [ip],
                "nodeName": node,
                "conditions": {
                    "ready": conditions.contains('r'),
                    "serving": conditions.contains('r') || conditions.contains('s'),
                    "terminating": conditions.contains('t'),
                },
            })
        })
        .collect();
    serde_json::from_value(json!({
        "metadata": {
            "namespace": "default",
            "name": format!("{service}-x"),
            "labels": { "kubernetes.io/service-name": service },
        },
        "addressType": "IPv4",
        "ports": [port],
        "endpoints": endpoints,
    }))
    .unwrap()
}
