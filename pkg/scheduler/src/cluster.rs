//! The cluster as the scheduler sees it: nodes with the pods on them, kept up to date change by
//! change, pods included whose binding is only under way ("assumed").

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use client::{labels::Labels, slim::Pod};
use k8s_openapi::api::core::v1::{Node, Service};
use kube::ResourceExt as _;

use crate::resources::Resources;

/// A pod on a node, with what is often asked of it.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The pod.
    pub pod: Arc<Pod>,
    requests: Resources,
    score_requests: Resources,
}

/// A node with its pods.
#[derive(Clone, Debug, Default)]
pub struct NodeState {
    /// `None` while pods are known of it but the node itself is not.
    pub node: Option<Arc<Node>>,
    /// What it can give.
    pub allocatable: Resources,
    /// Its pods, by uid.
    pub pods: HashMap<String, Placed>,
    /// What they ask for.
    pub requested: Resources,
    /// What they count for in scoring.
    pub requested_for_score: Resources,
}

impl NodeState {
    fn add(&mut self, placed: Placed) {
        self.requested.add(&placed.requests);
        self.requested_for_score.add(&placed.score_requests);
        self.pods.insert(uid(&placed.pod), placed);
    }

    fn remove(&mut self, uid: &str) -> Option<Placed> {
        let placed = self.pods.remove(uid)?;
        self.requested.remove(&placed.requests);
        self.requested_for_score.remove(&placed.score_requests);
        Some(placed)
    }

    /// Labels of the node.
    pub fn labels(&self) -> Option<&Labels> {
        self.node.as_ref()?.metadata.labels.as_ref()
    }

    /// The node's value of a topology key.
    pub fn topology(&self, key: &str) -> Option<&str> {
        self.labels()?.get(key).map(String::as_str)
    }
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Cluster {
    nodes: BTreeMap<String, NodeState>,
    /// Uid of a pod → its node.
    placed: HashMap<String, String>,
    /// Uids of pods whose binding is under way.
    assumed: std::collections::HashSet<String>,
    /// Labels by namespace.
    pub namespaces: HashMap<String, Labels>,
    /// All Services, for spreading their pods.
    pub services: HashMap<client::ObjectKey, Arc<Service>>,
}

/// The uid of a pod.
pub fn uid(pod: &Pod) -> String {
    pod.uid().unwrap_or_default()
}

/// The node a pod is bound to; `None` for those that are not, or that need it no more.
fn bound_to(pod: &Pod) -> Option<&str> {
    let finished = matches!(pod.status.as_ref().and_then(|s| s.phase.as_deref()), Some("Succeeded" | "Failed"));
    pod.spec.as_ref()?.node_name.as_deref().filter(|name| !name.is_empty() && !finished)
}

impl Cluster {
    /// Takes over the state of a pod that the API told of.
    pub fn set_pod(&mut self, pod: &Arc<Pod>) {
        let uid = uid(pod);
        match bound_to(pod) {
            Some(node) => {
                self.assumed.remove(&uid);
                self.place(pod.clone(), node.to_owned());
            }
            // A pod whose binding is under way is still without a node in the API.
            None if self.assumed.contains(&uid) && pod.metadata.deletion_timestamp.is_none() => {}
            None => self.remove_pod(&uid),
        }
    }

    /// The pod is gone.
    pub fn remove_pod(&mut self, uid: &str) {
        self.assumed.remove(uid);
        let Some(name) = self.placed.remove(uid) else { return };
        if let Some(node) = self.nodes.get_mut(&name) {
            node.remove(uid);
        }
        self.forget_if_empty(&name);
    }

    /// Counts a pod as being on a node, before the API says so.
    pub fn assume(&mut self, pod: &Arc<Pod>, node: &str) {
        self.assumed.insert(uid(pod));
        self.place(pod.clone(), node.to_owned());
    }

    /// The binding failed.
    pub fn unassume(&mut self, uid: &str) {
        if self.assumed.contains(uid) {
            self.remove_pod(uid);
        }
    }

    /// Whether the pod is on a node, or about to be.
    pub fn is_placed(&self, uid: &str) -> bool {
        self.placed.contains_key(uid)
    }

    fn place(&mut self, pod: Arc<Pod>, node: String) {
        let uid = uid(&pod);
        if let Some(before) = self.placed.insert(uid.clone(), node.clone())
            && let Some(state) = self.nodes.get_mut(&before)
        {
            state.remove(&uid);
        }
        let (requests, score_requests) = (Resources::requested(&pod), Resources::requested_for_score(&pod));
        self.nodes.entry(node).or_default().add(Placed { pod, requests, score_requests });
    }

    /// Takes over the state of a node.
    pub fn set_node(&mut self, node: &Arc<Node>) {
        let state = self.nodes.entry(node.name_any()).or_default();
        state.allocatable = Resources::allocatable(node);
        state.node = Some(node.clone());
    }

    /// The node is gone; its pods may linger.
    pub fn remove_node(&mut self, name: &str) {
        if let Some(state) = self.nodes.get_mut(name) {
            state.node = None;
        }
        self.forget_if_empty(name);
    }

    fn forget_if_empty(&mut self, name: &str) {
        if self.nodes.get(name).is_some_and(|state| state.node.is_none() && state.pods.is_empty()) {
            self.nodes.remove(name);
        }
    }

    /// All nodes that exist, by name.
    pub fn nodes(&self) -> impl Iterator<Item = (&str, &NodeState)> {
        self.nodes.iter().filter(|(_, state)| state.node.is_some()).map(|(name, state)| (name.as_str(), state))
    }

    /// Drops everything but what is assumed: before a fresh look at all snapshots.
    pub fn clear(&mut self) {
        let assumed = std::mem::take(&mut self.assumed);
        let kept: Vec<_> = self
            .nodes
            .iter()
            .flat_map(|(name, state)| state.pods.values().map(move |placed| (name.clone(), placed.pod.clone())))
            .filter(|(_, pod)| assumed.contains(&uid(pod)))
            .collect();
        *self = Cluster::default();
        kept.iter().for_each(|(node, pod)| self.assume(pod, node));
    }
}
