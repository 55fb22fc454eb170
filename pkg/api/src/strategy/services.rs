//! Services: linked fields, and values that were given by the server and stay.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Strategy;
use crate::{
    tree,
    validation::{FieldErrors, NameRule, service},
};

pub(crate) struct Services;

impl Strategy for Services {
    fn prepare_for_create(&self, service: &mut Value) {
        let one = tree::text(service, "spec.clusterIP").to_owned();
        if !one.is_empty() && tree::items(service, "spec.clusterIPs").is_empty() {
            tree::set(service, "spec.clusterIPs", vec![one]);
        }
        tree::set(service, "status", serde_json::json!({"loadBalancer": {}}));
    }

    fn prepare_for_update(&self, new: &mut Value, old: &Value) {
        link_addresses(new, old);
        keep_given(new, old);
        drop_inapplicable(new, old);
    }

    fn validate(&self, service: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        service::service(&mut errors, service);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        service::service_update(&mut errors, new, old);
        errors
    }

    fn validate_subresource(&self, subresource: &str, new: &Value, _old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        if subresource == "status" {
            service::service_status(&mut errors, new);
        }
        errors
    }

    fn name_rule(&self) -> NameRule {
        NameRule::Label
    }
}

fn needs_cluster_ip(service: &Value) -> bool {
    tree::text(service, "spec.type") != "ExternalName"
}

fn needs_node_ports(service: &Value) -> bool {
    match tree::text(service, "spec.type") {
        "NodePort" => true,
        "LoadBalancer" => tree::at(service, "spec.allocateLoadBalancerNodePorts").as_bool() != Some(false),
        _ => false,
    }
}

fn needs_health_port(service: &Value) -> bool {
    tree::text(service, "spec.type") == "LoadBalancer" && tree::text(service, "spec.externalTrafficPolicy") == "Local"
}

fn is_reachable(service: &Value) -> bool {
    match tree::text(service, "spec.type") {
        "LoadBalancer" | "NodePort" => true,
        "ClusterIP" => !tree::items(service, "spec.externalIPs").is_empty(),
        _ => false,
    }
}

fn same(new: &Value, old: &Value, path: &str) -> bool {
    tree::equal(tree::at(new, path), tree::at(old, path))
}

/// `clusterIP` and `clusterIPs` say the same; a client may write either.
fn link_addresses(new: &mut Value, old: &Value) {
    const ONE: &str = "spec.clusterIP";
    const ALL: &str = "spec.clusterIPs";
    let one = tree::text(new, ONE).to_owned();
    let unchanged = one == tree::text(old, ONE);
    if tree::items(new, ALL).is_empty() && !tree::items(old, ALL).is_empty() && unchanged {
        tree::set(new, ALL, tree::at(old, ALL).clone());
    }
    if unchanged || !same(new, old, ALL) {
        return;
    }
    if one.is_empty() {
        tree::remove(new, ALL);
    } else {
        tree::set(new, ALL, vec![one]);
    }
}

/// A client that leaves out what the server has given keeps it.
fn keep_given(new: &mut Value, old: &Value) {
    if needs_cluster_ip(new) && needs_cluster_ip(old) {
        for path in ["spec.clusterIP", "spec.clusterIPs"] {
            if tree::equal(tree::at(new, path), &Value::Null) || tree::at(new, path) == "" {
                tree::set(new, path, tree::at(old, path).clone());
            }
        }
        for path in ["spec.ipFamilies", "spec.ipFamilyPolicy"] {
            if tree::equal(tree::at(new, path), &Value::Null) && tree::has(old, path) {
                tree::set(new, path, tree::at(old, path).clone());
            }
        }
    }
    if needs_node_ports(new) && needs_node_ports(old) {
        keep_node_ports(new, old);
    }
    let health = "spec.healthCheckNodePort";
    if needs_health_port(new) && needs_health_port(old) && tree::int(new, health) == 0 && tree::int(old, health) != 0 {
        tree::set(new, health, tree::int(old, health));
    }
    remove_nulls(new);
}

fn keep_node_ports(new: &mut Value, old: &Value) {
    let numbers = |service: &Value| -> Vec<i64> {
        tree::items(service, "spec.ports").iter().map(|port| tree::int(port, "nodePort")).filter(|n| *n != 0).collect()
    };
    let wanted = numbers(new);
    let known: BTreeMap<String, i64> = tree::items(old, "spec.ports")
        .iter()
        .map(|port| (tree::text(port, "name").to_owned(), tree::int(port, "nodePort")))
        .filter(|(_, number)| *number != 0 && !wanted.contains(number))
        .collect();
    let ports = new.pointer_mut("/spec/ports").and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten() {
        if tree::int(port, "nodePort") == 0
            && let Some(number) = known.get(tree::text(port, "name"))
        {
            tree::set(port, "nodePort", *number);
        }
    }
}

/// Drops what belongs to the former type and was not written by the client.
fn drop_inapplicable(new: &mut Value, old: &Value) {
    let kind = |service: &Value| tree::text(service, "spec.type").to_owned();
    let (new_kind, old_kind) = (kind(new), kind(old));
    let lost_address = needs_cluster_ip(old) && !needs_cluster_ip(new);
    let lost_node_ports = needs_node_ports(old) && !needs_node_ports(new);
    let lost_health = needs_health_port(old) && !needs_health_port(new);
    let lost_balancer = old_kind == "LoadBalancer" && new_kind != "LoadBalancer";
    let lost_reach = is_reachable(old) && !is_reachable(new);
    let cases: [(bool, &[&str]); 5] = [
        (lost_address && same(new, old, "spec.clusterIP"), &["spec.clusterIPs", "spec.clusterIP"]),
        (lost_address, &["spec.ipFamilies", "spec.ipFamilyPolicy"]),
        (lost_health, &["spec.healthCheckNodePort"]),
        (lost_balancer, &["spec.allocateLoadBalancerNodePorts", "spec.loadBalancerClass"]),
        (lost_reach, &["spec.externalTrafficPolicy"]),
    ];
    for (holds, paths) in cases {
        for path in paths {
            if holds && same(new, old, path) {
                tree::remove(new, path);
            }
        }
    }
    let node_ports = |service: &Value| -> Vec<i64> {
        tree::items(service, "spec.ports").iter().map(|port| tree::int(port, "nodePort")).collect()
    };
    if lost_node_ports && node_ports(new) == node_ports(old) {
        for port in new.pointer_mut("/spec/ports").and_then(Value::as_array_mut).into_iter().flatten() {
            tree::remove(port, "nodePort");
        }
    }
    if new_kind != "LoadBalancer" && tree::has(new, "status.loadBalancer") {
        tree::set(new, "status.loadBalancer", serde_json::json!({}));
    }
}

fn remove_nulls(service: &mut Value) {
    if let Some(spec) = service.get_mut("spec").and_then(Value::as_object_mut) {
        spec.retain(|_, value| !value.is_null());
    }
}
