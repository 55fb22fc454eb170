//! Addresses of pods: each node gets a /24 of the cluster's range in `spec.podCIDR`.
//!
//! One worker alone decides, and it waits until the snapshot shows the last choice, so no range is
//! given out twice. A node that is gone gives its range back.

use std::{collections::BTreeSet, net::Ipv4Addr, sync::Arc};

use client::{Controller, EventType, Expectations, Informer, Next, ObjectKey, Recorder, Sources, reference};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Node;
use kube::{
    Api, ResourceExt as _,
    api::{Patch, PatchParams},
};
use serde_json::json;

use crate::{Context, owners::is_deleting};

/// Bits of a node's range.
const NODE_PREFIX: u32 = 24;

pub struct NodeIpamController {
    client: kube::Client,
    recorder: Recorder,
    cluster_cidr: String,
    nodes: Informer<Node>,
    expectations: Expectations,
}

pub struct Input {
    pub node: Arc<Node>,
    pub taken: BTreeSet<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Plan {
    Nothing,
    Assign(String),
    /// No range is left (or the cluster's is not usable).
    Exhausted,
}

impl NodeIpamController {
    pub fn new(context: &Context) -> Self {
        let informers = &context.config.informers;
        NodeIpamController {
            client: informers.client().clone(),
            recorder: context.recorder.clone(),
            cluster_cidr: context.config.cluster_cidr.clone(),
            nodes: informers.get(),
            expectations: Expectations::default(),
        }
    }

    /// All choices are one matter.
    fn choices() -> ObjectKey {
        ObjectKey::new("", "")
    }
}

fn cidrs(node: &Node) -> impl Iterator<Item = String> {
    let spec = node.spec.clone().unwrap_or_default();
    spec.pod_cidr.into_iter().chain(spec.pod_cidrs.into_iter().flatten())
}

impl Controller for NodeIpamController {
    type Input = Input;
    type Plan = Plan;
    const NAME: &'static str = "node-ipam";
    const WORKERS: usize = 1;

    fn sources(&self, sources: &mut Sources) {
        let nodes = self.nodes.clone();
        sources.own(&self.nodes).map_if(
            &self.nodes,
            |old, new| cidrs(old).ne(cidrs(new)),
            // A choice has become visible, or a range is free: others may wait for that.
            move |_| {
                let waiting = nodes.select(|node| cidrs(node).next().is_none());
                waiting.iter().map(|node| ObjectKey::of(&**node)).collect()
            },
        );
    }

    fn gather(&self, key: &ObjectKey) -> Option<Input> {
        let node = self.nodes.get(key)?;
        if !self.expectations.met(&Self::choices(), &self.nodes) {
            return None;
        }
        let taken = self.nodes.list().iter().flat_map(|node| cidrs(node)).collect();
        Some(Input { node, taken })
    }

    fn decide(&self, input: &Input, _: Timestamp) -> Plan {
        decide(input, &self.cluster_cidr)
    }

    async fn apply(&self, key: &ObjectKey, input: Input, plan: Plan) -> Result<Next, kube::Error> {
        match plan {
            Plan::Nothing => {}
            Plan::Assign(cidr) => {
                let patch = json!({
                    "metadata": { "uid": input.node.uid(), "resourceVersion": input.node.resource_version() },
                    "spec": { "podCIDR": cidr, "podCIDRs": [cidr] },
                });
                let api: Api<Node> = Api::all(self.client.clone());
                let node = api.patch(&key.name, &PatchParams::default(), &Patch::Merge(patch)).await?;
                self.expectations.wrote(&Self::choices(), &node);
                tracing::info!(node = key.name, cidr, "node has its range of pod addresses");
            }
            Plan::Exhausted => {
                let message = format!("Node {} status is now: CIDRNotAvailable", key.name);
                self.recorder.event(reference(&*input.node), EventType::Normal, "CIDRNotAvailable", message);
            }
        }
        Ok(Next::Done)
    }
}

fn decide(input: &Input, cluster_cidr: &str) -> Plan {
    if is_deleting(&*input.node) || cidrs(&input.node).next().is_some() {
        return Plan::Nothing;
    }
    let free = ranges(cluster_cidr).find(|range| !input.taken.contains(range));
    free.map_or(Plan::Exhausted, Plan::Assign)
}

/// The ranges for nodes within the cluster's range, in order.
fn ranges(cluster_cidr: &str) -> impl Iterator<Item = String> {
    let parsed = cluster_cidr.split_once('/').and_then(|(address, prefix)| {
        let (address, prefix): (Ipv4Addr, u32) = (address.parse().ok()?, prefix.parse().ok()?);
        (prefix <= NODE_PREFIX).then_some((u32::from(address), prefix))
    });
    parsed.into_iter().flat_map(|(base, prefix)| {
        let base = base & u32::MAX.checked_shl(32 - prefix).unwrap_or(0);
        let count = 1u64 << (NODE_PREFIX - prefix);
        (0..count).filter_map(move |n| {
            let offset = u32::try_from(n << (32 - NODE_PREFIX)).ok()?;
            Some(format!("{}/{NODE_PREFIX}", Ipv4Addr::from(base + offset)))
        })
    })
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::NodeSpec;

    use super::*;

    fn node(cidr: Option<&str>) -> Arc<Node> {
        let spec = NodeSpec { pod_cidr: cidr.map(str::to_owned), ..NodeSpec::default() };
        Arc::new(Node { spec: Some(spec), ..Node::default() })
    }

    #[test]
    fn the_first_free_range_is_assigned() {
        for (cluster, has, taken, expected) in [
            ("10.42.0.0/16", None, &[][..], Plan::Assign("10.42.0.0/24".to_owned())),
            ("10.42.0.0/16", None, &["10.42.0.0/24", "10.42.2.0/24"], Plan::Assign("10.42.1.0/24".to_owned())),
            ("10.42.0.0/16", Some("10.42.9.0/24"), &[], Plan::Nothing),
            ("10.42.0.0/23", None, &["10.42.0.0/24", "10.42.1.0/24"], Plan::Exhausted),
            ("10.42.7.0/24", None, &[], Plan::Assign("10.42.7.0/24".to_owned())),
            ("0.0.0.0/0", None, &[], Plan::Assign("0.0.0.0/24".to_owned())),
            ("10.42.0.0/25", None, &[], Plan::Exhausted),
            ("nonsense", None, &[], Plan::Exhausted),
        ] {
            let taken: BTreeSet<_> = taken.iter().map(|c| (*c).to_owned()).collect();
            assert_eq!(decide(&Input { node: node(has), taken }, cluster), expected, "{cluster}");
        }
    }

    #[test]
    fn a_cluster_of_16_bits_has_256_ranges() {
        assert_eq!(ranges("10.42.0.0/16").count(), 256);
    }
}
