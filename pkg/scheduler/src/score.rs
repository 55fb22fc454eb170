//! Which of the nodes that fit is best: upstream's score plugins and weights, each a row.

use client::{
    labels::{self, Labels},
    runtime::controller_of,
    slim::Pod,
    tolerations::{self, tolerates},
};

use crate::{
    cluster::{Cluster, NodeState},
    filter::{Facts, taints_of, term_matches},
    resources::Resources,
};

const MAX: i64 = 100;

/// How raw scores become 0 to 100.
enum Scale {
    /// They are so already.
    AsIs,
    /// The highest becomes 100.
    Highest,
    /// The lowest becomes 100, none at all stays 100.
    Lowest,
    /// Lowest to highest becomes 0 to 100.
    Range,
}

type Score = fn(&Scored<'_>, &NodeState) -> i64;

struct Scored<'a> {
    facts: &'a Facts<'a>,
    cluster: &'a Cluster,
    requests: Resources,
    selectors: Vec<&'a Labels>,
}

const SCORES: &[(&str, i64, Scale, Score)] = &[
    ("TaintToleration", 3, Scale::Lowest, intolerable),
    ("NodeAffinity", 2, Scale::Highest, node_affinity),
    ("PodTopologySpread", 2, Scale::Lowest, |s, node| s.facts.spread.crowd(node) + siblings(s, node)),
    ("InterPodAffinity", 2, Scale::Range, |s, node| s.facts.affinity.score(node)),
    ("NodeResourcesFit", 1, Scale::AsIs, least_allocated),
    ("NodeResourcesBalancedAllocation", 1, Scale::AsIs, balanced),
    ("ImageLocality", 1, Scale::AsIs, image_locality),
];

/// The total score of each node, in the given order.
pub fn score(facts: &Facts<'_>, cluster: &Cluster, nodes: &[(&str, &NodeState)]) -> Vec<i64> {
    let scored = Scored {
        facts,
        cluster,
        requests: Resources::requested_for_score(facts.pod),
        selectors: selectors(facts.pod, cluster),
    };
    let mut totals = vec![0; nodes.len()];
    for (_, weight, scale, plugin) in SCORES {
        let raw: Vec<i64> = nodes.iter().map(|(_, node)| plugin(&scored, node)).collect();
        for (total, value) in totals.iter_mut().zip(normalize(scale, raw)) {
            *total += weight * value;
        }
    }
    totals
}

fn normalize(scale: &Scale, raw: Vec<i64>) -> Vec<i64> {
    let (lowest, highest) = (raw.iter().copied().min().unwrap_or(0), raw.iter().copied().max().unwrap_or(0));
    let each = |map: &dyn Fn(i64) -> i64| raw.iter().map(|value| map(*value)).collect();
    match scale {
        Scale::AsIs => raw,
        Scale::Highest if highest == 0 => raw,
        Scale::Highest => each(&|value| value * MAX / highest),
        Scale::Lowest if highest == 0 => each(&|_| MAX),
        Scale::Lowest => each(&|value| MAX - value * MAX / highest),
        Scale::Range if highest == lowest => each(&|_| 0),
        Scale::Range => each(&|value| (value - lowest) * MAX / (highest - lowest)),
    }
}

fn intolerable(s: &Scored<'_>, node: &NodeState) -> i64 {
    let soft = taints_of(node).iter().filter(|t| t.effect == "PreferNoSchedule");
    let count = soft.filter(|taint| !tolerations::of(s.facts.pod).iter().any(|t| tolerates(t, taint))).count();
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn node_affinity(s: &Scored<'_>, node: &NodeState) -> i64 {
    let affinity = s.facts.pod.spec.as_ref().and_then(|s| s.affinity.as_ref()).and_then(|a| a.node_affinity.as_ref());
    let preferred = affinity.and_then(|a| a.preferred_during_scheduling_ignored_during_execution.as_ref());
    let met = preferred.into_iter().flatten().filter(|term| term_matches(&term.preference, node));
    met.map(|term| i64::from(term.weight)).sum()
}

/// Pods on the node of the same owner, or behind the same Services.
fn siblings(s: &Scored<'_>, node: &NodeState) -> i64 {
    let pod = s.facts.pod;
    let owner = controller_of(pod).map(|o| &o.uid);
    let is_sibling = |other: &Pod| {
        other.metadata.namespace == pod.metadata.namespace
            && other.metadata.deletion_timestamp.is_none()
            && (owner.is_some() && controller_of(other).map(|o| &o.uid) == owner
                || s.selectors.iter().any(|selector| labels::contains(other.metadata.labels.as_ref(), selector)))
    };
    i64::try_from(node.pods.values().filter(|placed| is_sibling(&placed.pod)).count()).unwrap_or(i64::MAX)
}

/// Selectors of the Services that the pod is behind.
fn selectors<'a>(pod: &Pod, cluster: &'a Cluster) -> Vec<&'a Labels> {
    let services = cluster.services.values().filter(|s| s.metadata.namespace == pod.metadata.namespace);
    services
        .filter_map(|service| service.spec.as_ref()?.selector.as_ref().filter(|selector| !selector.is_empty()))
        .filter(|selector| labels::contains(pod.metadata.labels.as_ref(), selector))
        .collect()
}

/// For cpu and memory: what would be taken, and what there is.
fn usage<'a>(s: &'a Scored<'_>, node: &'a NodeState) -> impl Iterator<Item = (i64, i64)> + 'a {
    ["cpu", "memory"].into_iter().filter_map(|name| {
        let total = node.allocatable.get(name);
        (total > 0).then(|| (node.requested_for_score.get(name) + s.requests.get(name), total))
    })
}

fn least_allocated(s: &Scored<'_>, node: &NodeState) -> i64 {
    let free: Vec<i64> = usage(s, node)
        .map(|(used, total)| if used > total { 0 } else { (i128::from(total - used) * 100 / i128::from(total)) as i64 })
        .collect();
    if free.is_empty() { 0 } else { free.iter().sum::<i64>() / i64::try_from(free.len()).unwrap_or(1) }
}

fn balanced(s: &Scored<'_>, node: &NodeState) -> i64 {
    let shares: Vec<f64> = usage(s, node).map(|(used, total)| (used as f64 / total as f64).min(1.0)).collect();
    let spread = match shares[..] {
        [a, b] => (a - b).abs() / 2.0,
        _ => 0.0,
    };
    ((1.0 - spread) * MAX as f64) as i64
}

const MB: i64 = 1024 * 1024;

/// Images that the node has already, weighted by size and by how many nodes have them.
fn image_locality(s: &Scored<'_>, node: &NodeState) -> i64 {
    let Some(spec) = &s.facts.pod.spec else { return 0 };
    let containers = i64::try_from(spec.containers.len()).unwrap_or(1).max(1);
    let nodes = i64::try_from(s.cluster.nodes().count()).unwrap_or(1).max(1);
    let size_on = |node: &NodeState, image: &str| {
        let status = node.node.as_ref().and_then(|n| n.status.as_ref());
        let images = status.into_iter().flat_map(|s| s.images.iter().flatten());
        images.filter(|i| i.names.iter().flatten().any(|name| name == image)).find_map(|i| i.size_bytes)
    };
    let mut sum = 0;
    for image in spec.containers.iter().filter_map(|c| c.image.as_deref()) {
        let image = if image.rsplit('/').next().is_some_and(|last| last.contains(':') || last.contains('@')) {
            image.to_owned()
        } else {
            format!("{image}:latest")
        };
        if let Some(size) = size_on(node, &image) {
            let with = s.cluster.nodes().filter(|(_, n)| size_on(n, &image).is_some()).count();
            sum += size / nodes * i64::try_from(with).unwrap_or(0);
        }
    }
    let (least, most) = (23 * MB, 1000 * MB * containers);
    MAX * (sum.clamp(least, most) - least) / (most - least)
}
