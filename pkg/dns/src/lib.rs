//! The cluster's DNS server: answers for Services and pods as the Kubernetes DNS specification
//! (version 1.1.0) has it, and forwards all other names to the node's upstream servers.
//!
//! Each node answers for its own pods, from an index that follows the informers: an answer is one
//! lookup, an update touches one service. Nothing is cached of what others answered.
//!
//! Guarantees: a name of the cluster domain is never asked upstream, and a name that exists
//! without a record of the type asked for is NODATA, not NXDOMAIN. Without an upstream server,
//! foreign names fail at once.

mod answer;
mod forward;
mod index;
mod server;

use std::{
    io,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    sync::Arc,
};

use client::{Change, Informers, ObjectKey};
use futures::StreamExt as _;
use k8s_openapi::api::{
    core::v1::{Namespace, Service},
    discovery::v1::EndpointSlice,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{answer::Answerer, forward::Forwarder, index::Index};

/// What the server needs to know.
#[derive(Clone)]
pub struct Config {
    /// Where Services, EndpointSlices and Namespaces are seen.
    pub informers: Informers,
    /// Addresses to answer on, over UDP and TCP. They must be addresses of this machine by now.
    pub listen: Vec<SocketAddr>,
    /// The cluster's domain, as `cluster.local`.
    pub cluster_domain: String,
    /// Networks (address and prefix) of services and pods: who has one of their addresses is never
    /// asked upstream.
    pub networks: Vec<(IpAddr, u8)>,
    /// Names the upstream servers; `/etc/resolv.conf` as a rule. Read again when it changes.
    pub resolv_conf: PathBuf,
}

/// What can go wrong at start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An address cannot be listened on.
    #[error("DNS cannot listen on {address} ({protocol}); is it an address of this machine, and free?")]
    Listen {
        /// Which.
        address: SocketAddr,
        /// UDP or TCP.
        protocol: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// The cluster's domain is no domain name.
    #[error("{0:?} is not a domain name")]
    Domain(String),
}

/// Starts the server: returns when it answers from what the API holds now, and goes on until
/// `stop`. The addresses that it listens on are returned, with the ports that were chosen for
/// port 0.
pub async fn start(config: Config, stop: CancellationToken, tasks: &TaskTracker) -> Result<Vec<SocketAddr>, Error> {
    let services = config.informers.get::<Service>();
    let slices = config.informers.get::<EndpointSlice>();
    let namespaces = config.informers.get::<Namespace>();
    let changes = futures::stream::select(
        services.changes().map(|change| affected(&change, ObjectKey::of)),
        slices.changes().map(|change| affected(&change, index::service_of)),
    );
    services.synced().await;
    slices.synced().await;
    namespaces.synced().await;

    let index = Arc::new(Index::new(services, slices, namespaces));
    index.rebuild();
    let own = config.listen.iter().map(SocketAddr::ip).collect();
    let forwarder = Forwarder::new(config.resolv_conf, own);
    let answerer = Answerer::new(index.clone(), &config.cluster_domain, config.networks, forwarder)
        .ok_or(Error::Domain(config.cluster_domain))?;
    let addresses = server::listen(&config.listen, Arc::new(answerer), &stop, tasks).await?;

    tasks.spawn(async move {
        let follow = changes.for_each(|affected| {
            match affected {
                Affected::Services(keys) => keys.iter().for_each(|key| index.update(key)),
                Affected::Everything => index.rebuild(),
            }
            std::future::ready(())
        });
        tokio::select! {
            () = stop.cancelled() => {}
            () = follow => {}
        }
    });
    Ok(addresses)
}

enum Affected {
    Services(Vec<ObjectKey>),
    Everything,
}

/// The services that a change concerns, before and after it.
fn affected<K>(change: &Change<K>, service: impl Fn(&K) -> ObjectKey) -> Affected {
    match change {
        Change::Applied { old, new } => {
            let (new, old) = (service(new), old.as_deref().map(&service));
            let moved = old.filter(|old| *old != new);
            Affected::Services([Some(new), moved].into_iter().flatten().collect())
        }
        Change::Deleted(gone) => Affected::Services(vec![service(gone)]),
        Change::Resync => Affected::Everything,
    }
}

#[cfg(test)]
mod tests;
