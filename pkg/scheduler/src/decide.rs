//! Where a pod goes: the decision, without I/O, clock or randomness.

use std::collections::{BTreeMap, BTreeSet};

use client::slim::Pod;

use crate::{
    cluster::Cluster,
    filter::{Facts, Plugin, refuse},
    score::score,
};

/// What is to become of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// To be bound to this node.
    Bind(String),
    /// No node fits.
    Unschedulable(Unfit),
}

/// Why no node fits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unfit {
    /// For the condition and the event.
    pub message: String,
    /// Who refused nodes.
    pub plugins: BTreeSet<Plugin>,
}

/// Decides. `tie` chooses among nodes of the same score.
pub fn decide(pod: &Pod, cluster: &Cluster, tie: usize) -> Plan {
    let facts = Facts::new(pod, cluster);
    let (mut fitting, mut reasons, mut plugins, mut total) = (Vec::new(), BTreeMap::new(), BTreeSet::new(), 0);
    for (name, node) in cluster.nodes() {
        total += 1;
        match refuse(&facts, node) {
            None => fitting.push((name, node)),
            Some((plugin, why)) => {
                plugins.insert(plugin);
                why.into_iter().for_each(|reason| *reasons.entry(reason).or_insert(0) += 1);
            }
        }
    }
    if fitting.is_empty() {
        return Plan::Unschedulable(Unfit { message: message(total, &reasons), plugins });
    }
    if let [(only, _)] = fitting[..] {
        return Plan::Bind(only.to_owned());
    }
    let scores = score(&facts, cluster, &fitting);
    let best = scores.iter().copied().max().unwrap_or(0);
    let best: Vec<_> = fitting.iter().zip(scores).filter(|(_, score)| *score == best).map(|((n, _), _)| *n).collect();
    Plan::Bind(best[tie % best.len()].to_owned())
}

fn message(total: usize, reasons: &BTreeMap<String, usize>) -> String {
    if total == 0 {
        return "no nodes available to schedule pods".to_owned();
    }
    // Sorted as text with the counts, as upstream does.
    let mut parts: Vec<_> = reasons.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    parts.sort();
    format!("0/{total} nodes are available: {}.", parts.join(", "))
}
