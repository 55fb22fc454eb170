//! The controllers of a cluster: what upstream runs as `kube-controller-manager`.
//!
//! Each is one file (or folder) with the three steps of [`client::Controller`], and one row of
//! [`CONTROLLERS`]. Controllers know the API alone: not the store, not the API server's insides.

use std::sync::Arc;

use client::{Informers, Recorder, Runtime, SharedClock};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

mod deployment;
mod disruption;
mod endpoints;
mod endpointslice;
mod endpointslice_mirroring;
mod gc;
mod namespace;
mod node_ipam;
mod node_lifecycle;
mod owners;
mod pod_gc;
mod pods;
mod replicaset;
mod resources;
mod role_aggregation;
mod root_ca;
mod service_cidrs;
mod serviceaccount;
mod services;

/// What the controllers need to know of the cluster.
#[derive(Clone)]
pub struct Config {
    /// Of a client that acts as `system:kube-controller-manager`.
    pub informers: Informers,
    /// Addresses of pods; each node gets a /24 of it, e.g. `10.42.0.0/16`.
    pub cluster_cidr: String,
    /// Certificate authority that pods check the API server with, PEM.
    pub root_ca: String,
    /// The time; [`client::clock::system`] outside of tests.
    pub clock: SharedClock,
}

/// What every controller is made from.
struct Context {
    config: Config,
    recorder: Recorder,
    runtime: Runtime,
}

type Start = fn(&Context);

/// All controllers, by their upstream names.
const CONTROLLERS: &[(&str, Start)] = &[
    ("deployment", |c| drop(c.runtime.run(deployment::DeploymentController::new(c)))),
    ("replicaset", |c| drop(c.runtime.run(replicaset::ReplicaSetController::new(c)))),
    ("endpointslice", |c| drop(c.runtime.run(endpointslice::EndpointSliceController::new(c)))),
    ("endpoints", |c| drop(c.runtime.run(endpoints::EndpointsController::new(c)))),
    ("endpointslicemirroring", |c| drop(c.runtime.run(endpointslice_mirroring::MirroringController::new(c)))),
    ("serviceaccount", |c| drop(c.runtime.run(serviceaccount::ServiceAccountController::new(c)))),
    ("root-ca-certificate-publisher", |c| drop(c.runtime.run(root_ca::RootCaController::new(c)))),
    ("namespace", |c| drop(c.runtime.run(namespace::NamespaceController::new(c)))),
    ("garbage-collector", |c| drop(c.runtime.run(gc::GarbageCollector::new(c)))),
    ("pod-garbage-collector", |c| drop(c.runtime.run(pod_gc::PodGcController::new(c)))),
    ("node-lifecycle", |c| drop(c.runtime.run(node_lifecycle::NodeLifecycleController::new(c)))),
    ("clusterrole-aggregation", |c| drop(c.runtime.run(role_aggregation::RoleAggregationController::new(c)))),
    ("service-cidr-controller", |c| drop(c.runtime.run(service_cidrs::ServiceCidrController::new(c)))),
    ("disruption", |c| drop(c.runtime.run(disruption::DisruptionController::new(c)))),
    ("node-ipam", |c| drop(c.runtime.run(node_ipam::NodeIpamController::new(c)))),
];

/// What keeps the controllers from being started.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Pods could get no addresses.
    #[error("cluster CIDR {cidr:?}: must be an IPv4 range of at most 24 bits, such as 10.42.0.0/16")]
    ClusterCidr {
        /// As given.
        cidr: String,
    },
}

/// Starts all controllers. They begin to work when their informers are complete, and end with
/// `stop`.
pub fn start(config: Config, stop: CancellationToken, tasks: &TaskTracker) -> Result<(), Error> {
    if !node_ipam::is_usable(&config.cluster_cidr) {
        return Err(Error::ClusterCidr { cidr: config.cluster_cidr });
    }
    let client = config.informers.client().clone();
    let recorder = Recorder::start(client, "kube-controller-manager", None, stop.clone(), tasks);
    let runtime = Runtime { clock: Arc::clone(&config.clock), stop, tasks: tasks.clone() };
    let context = Context { config, recorder, runtime };
    for (name, start) in CONTROLLERS {
        tracing::debug!(controller = name, "starting");
        start(&context);
    }
    Ok(())
}
