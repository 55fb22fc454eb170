//! The node's Lease in `kube-node-lease`: a small sign of life, so that the Node itself need not be written often.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::api::core::v1::Node;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta, OwnerReference};
use kube::api::{Api, Patch, PatchParams, PostParams};
use serde_json::json;

use crate::config::Context;

const NAMESPACE: &str = "kube-node-lease";
/// Others take the node for lost after this time, in seconds.
const DURATION: i32 = 40;
/// A renewal at each quarter of it: this timer is the node's heartbeat.
const PERIOD: Duration = Duration::from_secs(10);

/// Renews the Lease until the end.
pub async fn keep(ctx: Arc<Context>) {
    let nodes: Api<Node> = Api::all(ctx.client.clone());
    let api: Api<Lease> = Api::namespaced(ctx.client.clone(), NAMESPACE);
    let name = ctx.config.node_name.clone();
    let mut ticks = tokio::time::interval(PERIOD);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = ctx.stop.cancelled() => return,
            _ = ticks.tick() => {}
        }
        let now = MicroTime(Timestamp::now());
        let patch = json!({"spec": {"renewTime": now, "holderIdentity": name, "leaseDurationSeconds": DURATION}});
        let renewed = api.patch(&name, &PatchParams::default(), &Patch::Merge(patch)).await;
        let done = match renewed {
            Err(kube::Error::Api(status)) if status.code == 404 => {
                // The Node may be another one than at the start: a Lease with an owner that is gone would be collected.
                let made = async {
                    let node = nodes.get(&name).await?;
                    api.create(&PostParams::default(), &lease(&name, &node, now)).await
                };
                made.await.map(|_| ())
            }
            other => other.map(|_| ()),
        };
        if let Err(error) = done {
            tracing::info!(error = client::runtime::describe(&error), "node lease not renewed");
        }
    }
}

fn lease(name: &str, node: &Node, now: MicroTime) -> Lease {
    let owner = OwnerReference {
        api_version: "v1".into(),
        kind: "Node".into(),
        name: name.into(),
        uid: node.metadata.uid.clone().unwrap_or_default(),
        ..OwnerReference::default()
    };
    Lease {
        metadata: ObjectMeta {
            name: Some(name.into()),
            namespace: Some(NAMESPACE.into()),
            owner_references: Some(vec![owner]),
            ..ObjectMeta::default()
        },
        spec: Some(LeaseSpec {
            holder_identity: Some(name.into()),
            lease_duration_seconds: Some(DURATION),
            renew_time: Some(now),
            ..LeaseSpec::default()
        }),
    }
}
