//! The command line. One binary under several names: `kinglet`, `kubectl`, and the CNI plugins
//! that containerd calls.

mod kubectl;
mod options;
mod snapshot;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context as _;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use serde::de::DeserializeOwned;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

use crate::options::{
    Cgroups, ClusterOptions, DatastoreOptions, Files, Log, NodeOptions, SnapshotOptions, StoreOptions, Unknown,
};

/// Kubernetes in one binary.
#[derive(Parser, Debug)]
#[command(name = "kinglet", version = api::VERSION, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Run a cluster: API server, store, scheduler, controllers, and a node
    Server(Box<ServerArgs>),
    /// Run a node of a cluster that is there already
    Agent(AgentArgs),
    /// A small kubectl; `kinglet kubectl --help` says what it knows
    Kubectl(kubectl::Cli),
    /// Copies of the database of this server: save, list, restore, delete
    #[command(subcommand)]
    Snapshot(snapshot::Command),
    /// The database of this server
    #[command(subcommand)]
    Store(snapshot::StoreCommand),
    /// Container images of this node
    #[command(subcommand)]
    Images(ImagesCommand),
    /// Stop all pods of this node and remove their mounts, interfaces, rules and cgroups
    ///
    /// The cluster's data stays. kinglet itself must not be running.
    Cleanup(CleanupArgs),
}

/// Every option is also a variable and a line in config.yaml: `--node-name pi1` is
/// `KINGLET_NODE_NAME=pi1` is `node-name: pi1`.
#[derive(Args, Debug)]
struct ServerArgs {
    #[command(flatten)]
    cluster: ClusterOptions,
    #[command(flatten)]
    store: StoreOptions,
    #[command(flatten)]
    datastore: DatastoreOptions,
    #[command(flatten)]
    snapshots: SnapshotOptions,
    #[command(flatten)]
    node: NodeOptions,
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    log: Log,
}

/// Every option is also a variable and a line in config.yaml: `--node-name pi1` is
/// `KINGLET_NODE_NAME=pi1` is `node-name: pi1`.
#[derive(Args, Debug)]
struct AgentArgs {
    /// The server, as https://HOST:6443
    #[arg(long, env = "KINGLET_SERVER", value_name = "URL")]
    server: String,
    /// The token of the cluster: the line in /etc/kinglet/token on the server
    #[arg(long, env = "KINGLET_TOKEN", value_name = "TOKEN", hide_env_values = true)]
    token: String,
    #[command(flatten)]
    node: NodeOptions,
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    log: Log,
}

#[derive(Subcommand, Debug)]
enum ImagesCommand {
    /// Import archives (docker save or OCI layout; plain, gzip or zstd)
    Import {
        /// Archives
        #[arg(required = true, value_name = "FILE")]
        archives: Vec<PathBuf>,
        #[command(flatten)]
        files: Files,
    },
}

#[derive(Args, Debug)]
struct CleanupArgs {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    cgroups: Cgroups,
}

fn main() -> ExitCode {
    let name = std::env::args_os().next().unwrap_or_default();
    let name = Path::new(&name).file_name().and_then(|n| n.to_str()).unwrap_or_default().to_owned();
    if cni::plugin_from_argv0(&name) {
        return cni::main();
    }
    match run(&name) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(name: &str) -> anyhow::Result<u8> {
    if name == "kubectl" {
        return block_on(kubectl::run(kubectl::Cli::parse()))?;
    }
    let mut command = Cli::command();
    for (subcommand, unknown) in [
        ("server", Unknown::Refused),
        ("agent", Unknown::Refused),
        ("snapshot", Unknown::Ignored),
        ("store", Unknown::Ignored),
    ] {
        let with_file = with_file(command.find_subcommand(subcommand).context("declared above")?.clone(), unknown);
        // A broken file shall not keep other commands from working.
        let wanted = std::env::args().nth(1).is_some_and(|arg| arg == subcommand);
        match with_file {
            Ok(with_file) => command = command.mut_subcommand(subcommand, |_| with_file),
            Err(error) if wanted => return Err(error),
            Err(_) => {}
        }
    }
    match Cli::from_arg_matches(&command.get_matches())?.command {
        Command::Server(args) => serve(&args.log, |stop| server::run(args.config(), stop)),
        Command::Agent(args) => serve(&args.log, |stop| node::agent::run(args.config(), stop)),
        Command::Kubectl(cli) => block_on(kubectl::run(cli))?,
        Command::Snapshot(command) => snapshot::run(command),
        Command::Store(command) => snapshot::run_store(command),
        Command::Images(ImagesCommand::Import { archives, files }) => block_on(import(archives, files))?,
        Command::Cleanup(CleanupArgs { files, cgroups }) => {
            start_log("warn")?;
            block_on(node::cleanup::run(&files.paths(), &cgroups.cgroup_root))?.context("cleaning up")?;
            Ok(0)
        }
    }
}

/// Gives a subcommand, and those below it, what `config.yaml` says.
fn with_file(command: clap::Command, unknown: Unknown) -> anyhow::Result<clap::Command> {
    let mut command = options::with_file(command, unknown)?;
    let below: Vec<String> = command.get_subcommands().map(|c| c.get_name().to_owned()).collect();
    for name in below {
        let with_file = with_file(command.find_subcommand(&name).context("listed above")?.clone(), unknown)?;
        command = command.mut_subcommand(&name, |_| with_file);
    }
    Ok(command)
}

impl Files {
    fn paths(&self) -> node::Paths {
        node::Paths { config: self.config_dir.clone(), data: self.data_dir.clone(), run: self.run_dir.clone() }
    }
}

impl NodeOptions {
    fn settings(&self) -> node::Settings {
        node::Settings {
            name: self.node_name.clone(),
            ip: self.node_ip,
            labels: self.node_label.clone(),
            taints: self.node_taint.clone(),
            runtime_endpoint: self.container_runtime_endpoint.clone(),
            kubelet_port: self.kubelet_port,
            cgroup_root: self.cgroups.cgroup_root.clone(),
        }
    }
}

impl DatastoreOptions {
    fn settings(&self) -> server::Datastore {
        server::Datastore {
            endpoints: self.datastore_endpoint.clone(),
            ca_file: self.datastore_cafile.clone(),
            cert_file: self.datastore_certfile.clone(),
            key_file: self.datastore_keyfile.clone(),
        }
    }
}

impl ServerArgs {
    fn config(&self) -> server::Config {
        server::Config {
            paths: self.files.paths(),
            node: self.node.settings(),
            bind: (self.cluster.bind_address, self.cluster.https_port).into(),
            tls_san: self.cluster.tls_san.clone(),
            cluster: node::join::ClusterSettings {
                cluster_cidr: self.cluster.cluster_cidr.clone(),
                service_cidr: self.cluster.service_cidr.clone(),
                cluster_dns: self.cluster.cluster_dns,
                cluster_domain: self.cluster.cluster_domain.clone(),
            },
            etcd_address: self.store.etcd_address,
            datastore: self.datastore.settings(),
            snapshots: server::snapshots::Config {
                schedule: self.snapshots.snapshot_schedule_cron.clone(),
                retention: self.snapshots.snapshot_retention,
                dir: self.snapshots.dir.within(&self.files.paths()),
            },
        }
    }
}

impl AgentArgs {
    fn config(&self) -> node::agent::Config {
        node::agent::Config {
            paths: self.files.paths(),
            node: self.node.settings(),
            server: self.server.clone(),
            token: self.token.clone(),
        }
    }
}

async fn import(archives: Vec<PathBuf>, files: Files) -> anyhow::Result<u8> {
    let socket = files.paths().containerd_socket();
    for archive in archives {
        for image in cri::images::import(&socket, &archive).await? {
            println!("imported {image}");
        }
    }
    Ok(0)
}

fn start_log(level: &str) -> anyhow::Result<()> {
    let known = ["error", "warn", "info", "debug", "trace", "off"];
    if let Some(word) = level.split(',').find(|part| !part.contains('=') && !known.contains(part)) {
        anyhow::bail!("--log {word:?} is no level; levels are {}", known.join(", "));
    }
    let filter = EnvFilter::try_new(level).with_context(|| format!("--log {level:?}"))?;
    let terminal = std::io::IsTerminal::is_terminal(&std::io::stderr());
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(terminal).init();
    Ok(())
}

/// Runs until the work ends by itself (an error), or a signal asks for an orderly end.
fn serve<F, E>(log: &Log, start: impl FnOnce(CancellationToken) -> F) -> anyhow::Result<u8>
where
    F: Future<Output = Result<(), E>>,
    E: std::error::Error + Send + Sync + 'static,
{
    start_log(&log.log)?;
    block_on(async {
        let stop = CancellationToken::new();
        let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        let work = start(stop.clone());
        let mut work = std::pin::pin!(work);
        tokio::select! {
            done = &mut work => return Ok(done.map(|()| 0)?),
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping; pods go on running");
        stop.cancel();
        Ok(work.await.map(|()| 0)?)
    })?
}

/// Reads a file of settings. Errors do not show its lines: they may hold secrets, and errors are logged.
fn yaml<T: DeserializeOwned>(text: &str) -> Result<T, serde_saphyr::Error> {
    serde_saphyr::from_str_with_options(text, serde_saphyr::options! { with_snippet: false })
}

fn block_on<T>(work: impl Future<Output = T>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("starting threads")?;
    let result = runtime.block_on(work);
    // Reads of standard input cannot be interrupted, and nothing else is left to wait for.
    runtime.shutdown_background();
    Ok(result)
}
