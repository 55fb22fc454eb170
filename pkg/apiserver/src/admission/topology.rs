//! Where a pod runs, as labels: its node's zone and region, which its containers can read through the downward API.

use api::{Status, Value, tree};

use super::{Attributes, Operation, Plugin};

/// Upstream's PodTopologyLabels.
pub struct PodTopologyLabels;

/// Labels of a node that its pods carry, too.
const PLACES: [&str; 2] = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

#[async_trait::async_trait]
impl Plugin for PodTopologyLabels {
    fn name(&self) -> &'static str {
        "PodTopologyLabels"
    }

    /// Pods that are made with their node, and bindings, whose labels come to the pod.
    async fn mutate(&self, attributes: &Attributes<'_>, object: &mut Value) -> Result<(), Status> {
        let call = attributes.call;
        if attributes.operation != Operation::Create || !call.kind.group.is_empty() || &*call.kind.plural != "pods" {
            return Ok(());
        }
        let node = match attributes.subresource {
            "" => tree::text(object, "spec.nodeName"),
            "binding" if tree::text(object, "target.kind") == "Node" => tree::text(object, "target.name"),
            _ => "",
        };
        let Some(kind) = call.kinds.by_resource("", "v1", "nodes").filter(|_| !node.is_empty()) else { return Ok(()) };
        let Some(found) = call.server.read(kind, "", node).await? else { return Ok(()) };
        let node = found.tree()?;
        for label in PLACES {
            if let Some(place) = node["metadata"]["labels"].get(label) {
                object["metadata"]["labels"][label] = place.clone();
            }
        }
        Ok(())
    }
}
