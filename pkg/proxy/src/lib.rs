//! The service proxy: what Services and EndpointSlices say becomes nftables rules of this node.
//!
//! ```text
//! gather   snapshots of Services and EndpointSlices → plain data
//! decide   plain data → the wanted content of one table (pure)
//! apply    wanted and present content → the difference, in one transaction
//! ```
//!
//! Layout: an endpoint is an element of a map `eps-K` whose key is address, protocol, port and a
//! random number below K, the number of endpoints. There is one rule for each K that occurs, so the
//! rules stay few, and a changed service is a few changed elements. Node ports have address
//! 0.0.0.0 in the keys. See [`decide`] for the chains.
//!
//! Guarantees: only our table is touched; while the process is down the rules stay; at start they
//! are compared with what is wanted and only the difference is changed. A packet for the service
//! range that no rule serves is refused on this node. A table that others delete (flushing all
//! rules of a machine does) is made again. Assumes: IPv4; pods reach the node before their
//! neighbours. Caveat: single rules that others remove from our table are not missed.

mod apply;
pub mod decide;
pub mod gather;
mod rules;

use std::{net::Ipv4Addr, time::Duration};

use client::{Change, Informers};
use futures::StreamExt as _;
use k8s_openapi::api::{core::v1::Service, discovery::v1::EndpointSlice};
use netlink::{Monitor, Net, nft};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// The usual name of the table.
pub const TABLE: &str = "kinglet-proxy";

/// Changes that arrive within this time are applied together: a rolling update is many.
const GATHERING: Duration = Duration::from_millis(20);

/// Time until what failed is tried again.
const RETRY: Duration = Duration::from_secs(2);

/// What the proxy needs to know.
#[derive(Clone)]
pub struct Config {
    /// Where Services and EndpointSlices are seen.
    pub informers: Informers,
    /// Addresses and names of this node and cluster.
    pub node: Node,
}

/// What the rules depend on beside Services and EndpointSlices.
#[derive(Clone, Debug)]
pub struct Node {
    /// This node's name: endpoints with it are local.
    pub name: String,
    /// Addresses of all pods of the cluster.
    pub cluster_cidr: Net,
    /// Addresses of this node's pods, if known; traffic from them that leaves the cluster is
    /// masqueraded. Otherwise that of all pods is.
    pub pod_cidr: Option<Net>,
    /// Addresses of services.
    pub service_cidr: Net,
    /// Service addresses that something on this node answers itself, such as the cluster DNS.
    pub skip: Vec<Ipv4Addr>,
    /// Name of the table: [`TABLE`], unless several share a network namespace.
    pub table: String,
}

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The rules could not be read or changed.
    #[error("service rules")]
    Rules(#[from] netlink::Error),
}

/// Starts the proxy: returns when the rules of what the API holds now are in force, and follows
/// changes until `stop`. The rules stay when it ends.
pub async fn start(config: Config, stop: CancellationToken, tasks: &TaskTracker) -> Result<(), Error> {
    let services = config.informers.get::<Service>();
    let slices = config.informers.get::<EndpointSlice>();
    let changes = futures::stream::select(
        services.changes().map(|change| matters(&change, service_matters)),
        slices.changes().map(|change| matters(&change, slice_matters)),
    );
    services.synced().await;
    slices.synced().await;

    let monitor = Monitor::table(&config.node.table)?;
    let mut applier = apply::Applier::new(config.node.table.clone());
    let node = config.node;
    let wanted = move |node: &Node| {
        let gathered = gather::gather(&services.list(), &slices.list(), &node.name);
        decide::decide(&gathered, node)
    };
    applier = match applier.apply(wanted(&node)).await {
        (applier, Ok(())) => applier,
        (_, Err(error)) => return Err(error.into()),
    };
    tasks.spawn(async move {
        tokio::select! {
            () = stop.cancelled() => {}
            () = follow(changes, monitor, applier, node, wanted) => {}
        }
    });
    Ok(())
}

async fn follow(
    changes: impl futures::Stream<Item = bool> + Unpin,
    monitor: Monitor,
    mut applier: apply::Applier,
    node: Node,
    wanted: impl Fn(&Node) -> decide::Wanted,
) {
    let mut changes = changes.filter(|matters| std::future::ready(*matters));
    loop {
        tokio::select! {
            change = changes.next() => match change {
                Some(_) => {
                    let more = async { while changes.next().await.is_some() {} };
                    let _ = tokio::time::timeout(GATHERING, more).await;
                }
                None => return,
            },
            // Ourselves included, which costs one look.
            () = monitor.changed() => applier.forget(),
        }
        loop {
            let outcome;
            (applier, outcome) = applier.apply(wanted(&node)).await;
            match outcome {
                Ok(()) => break,
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "service rules not changed, trying again");
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
    }
}

/// Whether a change can change a rule: heartbeats of annotations and status do not.
fn matters<K>(change: &Change<K>, differ: impl Fn(&K, &K) -> bool) -> bool {
    match change {
        Change::Applied { old: Some(old), new } => differ(old, new),
        _ => true,
    }
}

fn service_matters(old: &Service, new: &Service) -> bool {
    old.spec != new.spec || old.status != new.status || old.metadata.labels != new.metadata.labels
}

fn slice_matters(old: &EndpointSlice, new: &EndpointSlice) -> bool {
    old.endpoints != new.endpoints || old.ports != new.ports || old.metadata.labels != new.metadata.labels
}

/// Removes all rules of the proxy, and nothing else: for uninstall.
pub fn cleanup(table: &str) -> Result<(), Error> {
    Ok(nft::delete_table(nft::Family::Ip, table)?)
}

#[cfg(test)]
mod tests;
