//! The node agent: pod workers, probes, volumes, node status and the 10250 server.
//!
//! A pod is looked after by one worker (`pod`), in three steps: gather what the API, the runtime and the probes say,
//! decide by a pure function what to do, do it. What runs is found again after a restart by its labels in the runtime.

mod cgroup;
pub mod config;
pub mod image;
pub mod logs;
pub mod node;
pub mod pod;
pub mod pods;
pub mod probe;
pub mod runtime;
pub mod server;
pub mod sources;
pub mod spec;
pub mod volumes;
pub mod watch;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use client::Recorder;
use k8s_openapi::api::core::v1::{Pod, Service};
use kube::runtime::watcher;
use tokio::sync::{Notify, broadcast};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use config::Config;
use config::Context;
use node::machine::Machine;
use pods::Pods;
use runtime::Runtime;
use sources::Sources;

/// Between two tries to register the node while the API cannot be reached.
const REGISTER_AGAIN: Duration = Duration::from_secs(1);

/// Why the kubelet cannot start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The runtime cannot be reached.
    #[error(transparent)]
    Runtime(#[from] cri::Error),
    /// The node's name belongs to another machine.
    #[error(transparent)]
    Node(#[from] node::Error),
    /// A directory cannot be made.
    #[error("cannot make {}", path.display())]
    Directory {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The port of the server is taken, or may not be used.
    #[error("cannot listen on {address}")]
    Listen {
        /// Where.
        address: std::net::SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// Told to stop before it had started.
    #[error("stopped before the node was registered")]
    Stopped,
}

/// Starts the kubelet: returns when the node is registered, the server listens, and every pod that was bound to the node
/// has its worker. Pods keep running when `stop` ends the kubelet.
pub async fn start(config: Config, stop: CancellationToken, tasks: &TaskTracker) -> Result<(), Error> {
    for path in [&config.root_dir, &config.pod_log_dir] {
        std::fs::create_dir_all(path).map_err(|source| Error::Directory { path: path.clone(), source })?;
    }
    let listener = server::listen(config.listen).await?;
    let runtime = Runtime::new(cri::connect(&config.cri_socket).await?);
    let client = config.informers.client().clone();
    let node_pods = watcher::Config::default().fields(&format!("spec.nodeName={}", config.node_name));
    let informer = config.informers.get_with::<Pod>(node_pods);
    let services = config.informers.get::<Service>();
    let mut machine = Machine::read(&config.root_dir);
    if let Some(id) = &config.machine_id {
        machine.machine_id.clone_from(id);
    }
    let pods = Pods::default();
    let waker = pods.clone();
    let wake = Arc::new(move |uid: &str| waker.tell(uid, |news| news.sources = true));
    let ctx = Arc::new(Context {
        sources: Sources::new(client.clone(), stop.clone(), wake),
        recorder: Recorder::start(client.clone(), "kubelet", Some(&config.node_name), stop.clone(), tasks),
        allocatable: machine.capacity(config.max_pods),
        client,
        runtime,
        services,
        machine,
        changes: broadcast::channel(64).0,
        stop: stop.clone(),
        tasks: tasks.clone(),
        config,
    });
    register(&ctx).await?;
    let poke = Arc::new(Notify::new());
    tasks.spawn(node::lease::keep(ctx.clone()));
    tasks.spawn(node::keep(ctx.clone(), pods.clone(), poke.clone()));
    tasks.spawn(node::notice_deletion(ctx.clone(), poke.clone()));
    tasks.spawn(watch::follow(ctx.clone(), pods.clone(), poke));
    tasks.spawn(watch::rotate_logs(ctx.clone()));
    tasks.spawn(server::serve(ctx.clone(), listener, informer.clone()));
    let ready = async {
        // Service variables are part of what a container is made from.
        ctx.services.synced().await;
        pods.start(&ctx, informer).await;
    };
    stop.run_until_cancelled(ready).await.ok_or(Error::Stopped)
}

/// Registers the node, however long the API cannot be reached: what runs here is not touched meanwhile.
async fn register(ctx: &Context) -> Result<k8s_openapi::api::core::v1::Node, Error> {
    loop {
        match node::register(ctx).await {
            Ok(node) => return Ok(node),
            Err(error) if error.is_final() => return Err(error.into()),
            Err(error) => {
                tracing::info!(error = client::runtime::describe(&error), "node not registered, trying again");
            }
        }
        tokio::select! {
            () = ctx.stop.cancelled() => return Err(Error::Stopped),
            () = tokio::time::sleep(REGISTER_AGAIN) => {}
        }
    }
}
