//! Spreading pods over topology domains, as `topologySpreadConstraints` ask.

use std::collections::BTreeMap;

use client::{labels, slim::Pod};
use k8s_openapi::{
    api::core::v1::TopologySpreadConstraint,
    apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement},
};

use crate::{
    cluster::{Cluster, NodeState},
    filter::{has_untolerated, selects_node},
};

/// The constraints of one pod, with the pods counted that are there.
#[derive(Debug, Default)]
pub struct Spread {
    hard: Vec<Counted>,
    soft: Vec<Counted>,
}

#[derive(Debug)]
struct Counted {
    key: String,
    max_skew: i64,
    /// Pods in each domain that takes part.
    domains: BTreeMap<String, i64>,
    min_domains: usize,
    /// 1 if the pod itself will count.
    own: i64,
}

impl Spread {
    /// Counts once.
    pub fn new(pod: &Pod, cluster: &Cluster) -> Self {
        let mut spread = Spread::default();
        let constraints = pod.spec.iter().flat_map(|s| s.topology_spread_constraints.iter().flatten());
        for constraint in constraints {
            let counted = count(constraint, pod, cluster);
            if constraint.when_unsatisfiable == "ScheduleAnyway" { &mut spread.soft } else { &mut spread.hard }
                .push(counted);
        }
        spread
    }

    /// Why the node is refused; empty if it is not.
    pub fn refuses(&self, node: &NodeState) -> Vec<String> {
        for counted in &self.hard {
            let Some(value) = node.topology(&counted.key) else {
                return vec![
                    "node(s) didn't match pod topology spread constraints (missing required label)".to_owned(),
                ];
            };
            let fewest = match counted.domains.len() < counted.min_domains {
                true => 0,
                false => counted.domains.values().copied().min().unwrap_or(0),
            };
            let here = counted.domains.get(value).copied().unwrap_or(0);
            if here + counted.own - fewest > counted.max_skew {
                return vec!["node(s) didn't match pod topology spread constraints".to_owned()];
            }
        }
        Vec::new()
    }

    /// Pods in the node's domains: the fewer, the better.
    pub fn crowd(&self, node: &NodeState) -> i64 {
        let here = |counted: &Counted| {
            node.topology(&counted.key).map_or(0, |value| counted.domains.get(value).copied().unwrap_or(0))
        };
        self.soft.iter().map(here).sum()
    }
}

fn selector(constraint: &TopologySpreadConstraint, pod: &Pod) -> LabelSelector {
    let mut selector = constraint.label_selector.clone().unwrap_or_default();
    for key in constraint.match_label_keys.iter().flatten() {
        if let Some(value) = pod.metadata.labels.as_ref().and_then(|l| l.get(key)) {
            selector.match_expressions.get_or_insert_default().push(LabelSelectorRequirement {
                key: key.clone(),
                operator: "In".to_owned(),
                values: Some(vec![value.clone()]),
            });
        }
    }
    selector
}

fn count(constraint: &TopologySpreadConstraint, pod: &Pod, cluster: &Cluster) -> Counted {
    let selector = selector(constraint, pod);
    // Without a selector nobody counts.
    let counts = |other: &Pod| {
        constraint.label_selector.is_some()
            && other.metadata.namespace == pod.metadata.namespace
            && other.metadata.deletion_timestamp.is_none()
            && labels::matches(&selector, other.metadata.labels.as_ref())
    };
    let honors = |policy: &Option<String>, default: &str| policy.as_deref().unwrap_or(default) == "Honor";
    let takes_part = |node: &NodeState| {
        (!honors(&constraint.node_affinity_policy, "Honor") || selects_node(pod, node))
            && (!honors(&constraint.node_taints_policy, "Ignore") || !has_untolerated(pod, node))
    };
    let mut domains = BTreeMap::new();
    for (_, node) in cluster.nodes().filter(|(_, node)| takes_part(node)) {
        if let Some(value) = node.topology(&constraint.topology_key) {
            let there = node.pods.values().filter(|placed| counts(&placed.pod)).count();
            *domains.entry(value.to_owned()).or_default() += i64::try_from(there).unwrap_or(i64::MAX);
        }
    }
    Counted {
        key: constraint.topology_key.clone(),
        max_skew: i64::from(constraint.max_skew),
        domains,
        min_domains: constraint.min_domains.and_then(|n| usize::try_from(n).ok()).unwrap_or(1),
        own: i64::from(counts(pod)),
    }
}
