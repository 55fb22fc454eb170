//! The server: everything assembled, started in order and stopped in reverse.
//!
//! Order: keys and certificates → containerd (beside the rest, since it is the slowest) → store →
//! API server → what a fresh cluster contains → controllers and scheduler → the node. Each part
//! reaches the API with a client of its own identity, in process.

mod bootstrap;
mod datastore;
mod etcd;
mod join;
mod keys;
pub mod snapshots;

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    time::Instant,
};

use api::{Kinds, UserInfo};
use apiserver::{ApiServer, ServiceCidr};
use client::Informers;
use node::{NodeConfig, Paths, Settings, join::ClusterSettings, stages::Stages};
use store::{SqliteStore, Store};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use self::datastore::Datastore;
use self::{join::Joins, keys::Keys};

/// How a server is set up.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where files live.
    pub paths: Paths,
    /// Of the server's own node.
    pub node: Settings,
    /// Where the API listens.
    pub bind: SocketAddr,
    /// Further names and addresses of the API.
    pub tls_san: Vec<String>,
    /// Common to all nodes.
    pub cluster: ClusterSettings,
    /// Where etcd's API listens, besides its socket.
    pub etcd_address: Option<SocketAddr>,
    /// Where the cluster's data is.
    pub datastore: Datastore,
    /// Scheduled snapshots.
    pub snapshots: snapshots::Config,
}

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Keys and certificates.
    #[error(transparent)]
    Pki(#[from] pki::Error),
    /// The database.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The etcd that shall be used.
    #[error(
        "the datastore cannot be used as --datastore-endpoint, --datastore-cafile, --datastore-certfile and \
         --datastore-keyfile have it"
    )]
    Datastore(#[source] store::Error),
    /// `--datastore-cafile`, `--datastore-certfile`, `--datastore-keyfile`.
    #[error("{0}")]
    DatastoreTls(String),
    /// The API server.
    #[error(transparent)]
    ApiServer(#[from] apiserver::Error),
    /// The controllers.
    #[error(transparent)]
    Controllers(#[from] controllers::Error),
    /// The node.
    #[error(transparent)]
    Node(#[from] node::Error),
    /// `--service-cidr`.
    #[error("--service-cidr {0:?} is not an IPv4 range such as 10.43.0.0/16")]
    ServiceCidr(String),
    /// `--cluster-dns`.
    #[error("--cluster-dns {dns} is not within --service-cidr {range}")]
    ClusterDns {
        /// As given.
        dns: IpAddr,
        /// As given.
        range: String,
    },
    /// The port is taken.
    #[error("cannot listen on {address}")]
    Listen {
        /// As given.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// `--etcd-address` without a database to serve.
    #[error(
        "--etcd-address serves the built-in database, and --datastore-endpoint says to use an etcd instead: leave one out"
    )]
    EtcdAddress,
    /// The place of a socket is taken.
    #[error("cannot listen on {}", path.display())]
    Socket {
        /// Where.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file of `manifests/`.
    #[error("manifests/{file}: {message}")]
    Manifest {
        /// Which.
        file: String,
        /// What is wrong.
        message: String,
    },
    /// An object that every cluster has was refused.
    #[error("making {object}: {message}")]
    Bootstrap {
        /// Kind and name.
        object: String,
        /// Why.
        message: String,
    },
}

/// Runs a server until `stop`.
pub async fn run(config: Config, stop: CancellationToken) -> Result<(), Error> {
    let _lock = node::lock(&config.paths)?;
    let mut stages = Stages::default();
    if config.datastore.is_etcd() && config.etcd_address.is_some() {
        return Err(Error::EtcdAddress);
    }
    let embedded = if config.datastore.is_etcd() {
        None
    } else {
        config.datastore.check()?;
        config.paths.server()?;
        snapshots::warn_if_new(&config.snapshots, &config.paths.database());
        Some(Arc::new(SqliteStore::open(&config.paths.database())?))
    };
    let store: Arc<dyn Store> = match &embedded {
        Some(embedded) => embedded.clone(),
        None => tokio::select! {
            connected = config.datastore.connect() => Arc::new(connected?),
            () = stop.cancelled() => return Ok(()),
        },
    };
    let start = async {
        if let Some(embedded) = &embedded {
            etcd::serve(&config, embedded.clone(), &mut stages).await?;
            snapshots::start(&config.snapshots, &config.node.resolve()?.name, embedded.clone(), &mut stages);
        }
        start(&config, store.clone(), &mut stages).await
    };
    let result = tokio::select! {
        started = start => started,
        () = stop.cancelled() => Ok(()),
    };
    if result.is_ok() {
        node::notify::ready();
        stop.cancelled().await;
    }
    stages.stop().await;
    store.close().await?;
    result
}

/// Starts everything above the store.
async fn start(config: &Config, store: Arc<dyn Store>, stages: &mut Stages) -> Result<(), Error> {
    let begun = Instant::now();
    let service_cidr: ServiceCidr =
        config.cluster.service_cidr.parse().map_err(|_| Error::ServiceCidr(config.cluster.service_cidr.clone()))?;
    check_dns(config, service_cidr)?;
    let node = config.node.resolve()?;
    let keys = Keys::load(config, &node, service_cidr.first().into())?;
    let runtime = node::runtime::start(&config.paths, &config.node, stages)?;

    let api = SocketAddr::new(node.ip, config.bind.port());
    let joins = Arc::new(Joins {
        ca: keys.ca.clone(),
        token: keys.token.clone(),
        cluster: config.cluster.clone(),
        api: keys.api_usage.clone(),
        service_cidr,
        own_node: node.name.clone(),
        client: Default::default(),
    });
    let kinds = api::kinds::builtin();
    let server = serve_api(config, &keys, store, kinds.clone(), service_cidr, api, joins.clone(), stages).await?;
    tracing::info!(address = %config.bind, elapsed = ?begun.elapsed(), "API server is listening");

    let masters = client::in_process(server.clone(), UserInfo::authenticated("system:apiserver", &["system:masters"]));
    let settings = bootstrap::Settings {
        cluster_dns: config.cluster.cluster_dns,
        api,
        service_cidr,
        kubernetes_ip: service_cidr.first().into(),
    };
    bootstrap::apply(&masters, &kinds, &settings).await?;
    // The cell is new: nobody else sets it.
    let _ = joins.client.set(masters);
    tracing::info!(elapsed = ?begun.elapsed(), "the cluster's own objects are there");

    start_control_loops(config, &keys, &server, stages)?;
    let client = client::in_process(server.clone(), UserInfo::node(&node.name));
    let node = NodeConfig {
        paths: config.paths.clone(),
        settings: config.node.clone(),
        node,
        identity: keys.node.clone(),
        cluster: config.cluster.clone(),
        control_plane: true,
    };
    node::start(node, client, runtime, stages).await?;
    tracing::info!(elapsed = ?begun.elapsed(), "the node is up");
    Ok(())
}

fn check_dns(config: &Config, range: ServiceCidr) -> Result<(), Error> {
    match config.cluster.cluster_dns {
        IpAddr::V4(dns) if range.contains(dns) => Ok(()),
        dns => Err(Error::ClusterDns { dns, range: range.to_string() }),
    }
}

#[allow(clippy::too_many_arguments)]
async fn serve_api(
    config: &Config,
    keys: &Keys,
    store: Arc<dyn Store>,
    kinds: Kinds,
    service_cidr: ServiceCidr,
    advertise: SocketAddr,
    joins: Arc<Joins>,
    stages: &mut Stages,
) -> Result<ApiServer, Error> {
    let listener =
        TcpListener::bind(config.bind).await.map_err(|source| Error::Listen { address: config.bind, source })?;
    let stage = stages.next("API server");
    let config = apiserver::Config {
        store,
        kinds,
        service_cidr,
        advertise,
        service_account_key: keys.service_account.clone(),
        service_account_issuer: format!("https://kubernetes.default.svc.{}", config.cluster.cluster_domain),
        own_node: joins.own_node.clone(),
        kubelet_client: keys.kubelet_client()?,
        proxy_client: pki::tls::unverified()?,
        extra: vec![apiserver::Extra { prefix: node::join::PATH, router: join::router(joins) }],
    };
    let server = ApiServer::start(config, stage.stop.clone(), &stage.tasks).await?;
    server.serve(listener, keys.api_tls()?, stage.stop.clone(), &stage.tasks);
    Ok(server)
}

fn start_control_loops(config: &Config, keys: &Keys, server: &ApiServer, stages: &mut Stages) -> Result<(), Error> {
    let stage = stages.next("controllers");
    let acting_as = |user: &str| client::in_process(server.clone(), UserInfo::authenticated(user, &[]));
    let informers = Informers::new(acting_as("system:kube-controller-manager"), stage.stop.clone());
    let controllers = controllers::Config {
        informers: informers.clone(),
        cluster_cidr: config.cluster.cluster_cidr.clone(),
        root_ca: keys.ca.certificate_pem().to_owned(),
        clock: client::clock::system(),
    };
    controllers::start(controllers, stage.stop.clone(), &stage.tasks)?;
    let scheduler = scheduler::Config {
        informers: informers.for_client(acting_as("system:kube-scheduler")),
        clock: client::clock::system(),
    };
    scheduler::start(scheduler, stage.stop.clone(), &stage.tasks);
    Ok(())
}
