//! Which nodes a pod can run on, and why not on the others: upstream's filter plugins, each a row.

use client::{
    labels,
    slim::Pod,
    tolerations::{self, tolerates},
};
use k8s_openapi::api::core::v1::{NodeSelectorTerm, Taint};

use crate::{
    affinity::Affinity,
    cluster::{Cluster, NodeState},
    resources::Resources,
    spread::Spread,
};

/// What filters know of the pod, computed once.
pub struct Facts<'a> {
    pub pod: &'a Pod,
    pub requests: Resources,
    pub affinity: Affinity,
    pub spread: Spread,
}

impl<'a> Facts<'a> {
    pub fn new(pod: &'a Pod, cluster: &Cluster) -> Self {
        Facts {
            pod,
            requests: Resources::requested(pod),
            affinity: Affinity::new(pod, cluster),
            spread: Spread::new(pod, cluster),
        }
    }
}

/// Names of upstream's plugins; what woke a pod depends on which of them refused it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Plugin {
    NodeUnschedulable,
    NodeName,
    TaintToleration,
    NodeAffinity,
    NodePorts,
    NodeResourcesFit,
    PodTopologySpread,
    InterPodAffinity,
}

type Filter = fn(&Facts<'_>, &NodeState) -> Vec<String>;

/// In upstream's order: the first that refuses a node gives the reasons.
pub const FILTERS: &[(Plugin, Filter)] = &[
    (Plugin::NodeUnschedulable, unschedulable),
    (Plugin::NodeName, node_name),
    (Plugin::TaintToleration, taints),
    (Plugin::NodeAffinity, node_affinity),
    (Plugin::NodePorts, ports),
    (Plugin::NodeResourcesFit, fit),
    (Plugin::PodTopologySpread, |facts, node| facts.spread.refuses(node)),
    (Plugin::InterPodAffinity, |facts, node| facts.affinity.refuses(node)),
];

/// Why a node is refused, and by which plugin; `None` if it is fine.
pub fn refuse(facts: &Facts<'_>, node: &NodeState) -> Option<(Plugin, Vec<String>)> {
    FILTERS.iter().find_map(|(plugin, filter)| {
        let reasons = filter(facts, node);
        (!reasons.is_empty()).then_some((*plugin, reasons))
    })
}

fn refused(when: bool, reason: &str) -> Vec<String> {
    if when { vec![reason.to_owned()] } else { Vec::new() }
}

/// Taints of a node.
pub fn taints_of(node: &NodeState) -> &[Taint] {
    node.node.as_ref().and_then(|n| n.spec.as_ref()).and_then(|s| s.taints.as_deref()).unwrap_or_default()
}

fn unschedulable(facts: &Facts<'_>, node: &NodeState) -> Vec<String> {
    let marked = node.node.as_ref().and_then(|n| n.spec.as_ref()).and_then(|s| s.unschedulable).unwrap_or(false);
    let taint = Taint {
        key: "node.kubernetes.io/unschedulable".to_owned(),
        effect: "NoSchedule".to_owned(),
        ..Taint::default()
    };
    let tolerated = tolerations::of(facts.pod).iter().any(|t| tolerates(t, &taint));
    refused(marked && !tolerated, "node(s) were unschedulable")
}

fn node_name(facts: &Facts<'_>, node: &NodeState) -> Vec<String> {
    let wanted = facts.pod.spec.as_ref().and_then(|s| s.node_name.as_deref()).filter(|n| !n.is_empty());
    let name = node.node.as_ref().and_then(|n| n.metadata.name.as_deref());
    refused(wanted.is_some() && wanted != name, "node(s) didn't match the requested node name")
}

/// Whether the pod may not run beside a taint of the node.
pub fn has_untolerated(pod: &Pod, node: &NodeState) -> bool {
    let forbids = |t: &&Taint| t.effect == "NoSchedule" || t.effect == "NoExecute";
    taints_of(node).iter().filter(forbids).any(|taint| !tolerations::of(pod).iter().any(|t| tolerates(t, taint)))
}

fn taints(facts: &Facts<'_>, node: &NodeState) -> Vec<String> {
    refused(has_untolerated(facts.pod, node), "node(s) had untolerated taint(s)")
}

/// Whether a term of a node selector accepts the node. An empty term accepts none.
pub fn term_matches(term: &NodeSelectorTerm, node: &NodeState) -> bool {
    let (expressions, fields) = (term.match_expressions.as_deref(), term.match_fields.as_deref());
    let (expressions, fields) = (expressions.unwrap_or_default(), fields.unwrap_or_default());
    let name = node.node.as_ref().and_then(|n| n.metadata.name.clone()).unwrap_or_default();
    let field_values = [("metadata.name".to_owned(), name)].into();
    (!expressions.is_empty() || !fields.is_empty())
        && expressions.iter().all(|r| labels::node_meets(r, node.labels()))
        && fields.iter().all(|r| labels::node_meets(r, Some(&field_values)))
}

/// Whether the pod's `nodeSelector` and required node affinity accept the node.
pub fn selects_node(pod: &Pod, node: &NodeState) -> bool {
    let Some(spec) = &pod.spec else { return true };
    let selector = spec.node_selector.as_ref().is_none_or(|wanted| labels::contains(node.labels(), wanted));
    let affinity = spec.affinity.as_ref().and_then(|a| a.node_affinity.as_ref());
    let required = affinity.and_then(|a| a.required_during_scheduling_ignored_during_execution.as_ref());
    selector && required.is_none_or(|r| r.node_selector_terms.iter().any(|term| term_matches(term, node)))
}

fn node_affinity(facts: &Facts<'_>, node: &NodeState) -> Vec<String> {
    refused(!selects_node(facts.pod, node), "node(s) didn't match Pod's node affinity/selector")
}

/// Ports of the host that a pod takes: address, protocol, port.
fn host_ports(pod: &Pod) -> impl Iterator<Item = (&str, &str, i32)> {
    let spec = pod.spec.as_ref();
    let containers = spec.into_iter().flat_map(|s| &s.containers);
    let sidecars = spec
        .into_iter()
        .flat_map(|s| s.init_containers.iter().flatten())
        .filter(|c| c.restart_policy.as_deref() == Some("Always"));
    let ports = containers.chain(sidecars).flat_map(|c| c.ports.iter().flatten());
    ports.filter_map(|p| {
        let port = p.host_port.filter(|port| *port > 0)?;
        let address = p.host_ip.as_deref().filter(|a| !a.is_empty()).unwrap_or("0.0.0.0");
        Some((address, p.protocol.as_deref().unwrap_or("TCP"), port))
    })
}

fn ports(facts: &Facts<'_>, node: &NodeState) -> Vec<String> {
    const ALL: &str = "0.0.0.0";
    let clash = |a: &(&str, &str, i32), b: &(&str, &str, i32)| {
        (a.1, a.2) == (b.1, b.2) && (a.0 == b.0 || a.0 == ALL || b.0 == ALL)
    };
    let wanted: Vec<_> = host_ports(facts.pod).collect();
    let taken = !wanted.is_empty()
        && node.pods.values().any(|p| host_ports(&p.pod).any(|taken| wanted.iter().any(|w| clash(w, &taken))));
    refused(taken, "node(s) didn't have free ports for the requested pod ports")
}

fn fit(facts: &Facts<'_>, node: &NodeState) -> Vec<String> {
    let mut reasons = Vec::new();
    if i64::try_from(node.pods.len()).unwrap_or(i64::MAX) >= node.allocatable.get("pods") {
        reasons.push("Too many pods".to_owned());
    }
    for (name, amount) in facts.requests.iter() {
        let free = node.allocatable.get(name) - node.requested.get(name);
        if amount > 0 && amount > free {
            reasons.push(format!("Insufficient {name}"));
        }
    }
    reasons
}
