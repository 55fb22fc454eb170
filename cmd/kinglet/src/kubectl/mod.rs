//! `kinglet kubectl`: a small kubectl for machines that have none.
//!
//! It knows what its help says and refuses the rest. Tables, merging and validation are the
//! server's; this only asks and prints.

/// Prints to standard output; if nobody reads on (`| head`), that is the end.
macro_rules! out {
    ($($arg:tt)*) => { $crate::kubectl::print(format_args!($($arg)*)) };
}

/// As [`out`], with the end of the line.
macro_rules! outln {
    () => { out!("\n") };
    ($($arg:tt)*) => { out!("{}\n", format_args!($($arg)*)) };
}

mod config;
mod describe;
mod exec;
mod get;
mod resources;
mod write;

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};
use http::Request;
use serde_json::Value;

use self::{config::Config, resources::Resources};

/// The usual commands of kubectl, for machines without it. For everything else, use kubectl itself
/// with the same kubeconfig.
#[derive(Parser, Debug)]
#[command(name = "kubectl", bin_name = "kubectl", disable_version_flag = true)]
pub struct Cli {
    /// Credentials [default: $KUBECONFIG, or /etc/kinglet/kubeconfig.yaml, or ~/.kube/config]
    #[arg(long, global = true, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Namespace [default: that of the kubeconfig, or "default"]
    #[arg(short, long, global = true, value_name = "NAME")]
    namespace: Option<String>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Show objects: get pods, get deploy web, get pod/web-1 svc/web, get nodes -o wide
    Get(get::Get),
    /// Make objects as a file says (server-side apply)
    Apply(write::Apply),
    /// Delete objects, by name or as a file says
    Delete(write::Delete),
    /// Show one object with its events
    Describe(describe::Describe),
    /// Show what a container has printed
    Logs(exec::Logs),
    /// Run a command in a container
    Exec(exec::Exec),
}

/// Which objects: `TYPE`, `TYPE NAME…`, `TYPE/NAME…`.
#[derive(Args, Clone, Debug)]
struct Targets {
    /// TYPE, TYPE NAME…, or TYPE/NAME…
    #[arg(required = true, value_name = "TYPE[/NAME]")]
    words: Vec<String>,
}

impl Targets {
    /// As pairs of type and name; no name stands for all objects.
    fn pairs(&self) -> anyhow::Result<Vec<(&str, Option<&str>)>> {
        if self.words[0].contains('/') {
            let pair = |word: &'_ String| {
                word.contains('/').then_some(()).with_context(|| format!("{word:?} should be TYPE/NAME"))
            };
            self.words.iter().try_for_each(pair)?;
            return Ok(self.words.iter().filter_map(|w| w.split_once('/')).map(|(t, n)| (t, Some(n))).collect());
        }
        let (kinds, names) = (self.words[0].split(','), &self.words[1..]);
        if names.is_empty() {
            return Ok(kinds.map(|kind| (kind, None)).collect());
        }
        Ok(kinds.flat_map(|kind| names.iter().map(move |name| (kind, Some(name.as_str())))).collect())
    }
}

/// What every command needs.
struct Session {
    config: Config,
    client: kube::Client,
    resources: Resources,
    namespace: String,
}

/// Runs a command line; answers with the exit code.
pub async fn run(cli: Cli) -> anyhow::Result<u8> {
    let config = Config::load(cli.kubeconfig.as_deref())?;
    let client = client::remote(config.remote()?)?;
    let resources = Resources::discover(&client).await.with_context(|| format!("asking {}", config.server))?;
    let namespace = cli.namespace.unwrap_or_else(|| config.namespace.clone());
    let session = Session { config, client, resources, namespace };
    match cli.command {
        Command::Get(get) => get.run(&session).await.map(|()| 0),
        Command::Apply(apply) => apply.run(&session).await.map(|()| 0),
        Command::Delete(delete) => delete.run(&session).await.map(|()| 0),
        Command::Describe(describe) => describe.run(&session).await.map(|()| 0),
        Command::Logs(logs) => logs.run(&session).await.map(|()| 0),
        Command::Exec(exec) => exec.run(&session).await,
    }
}

impl Session {
    /// A request with a JSON answer; a refusal is an error with the server's words.
    async fn json(&self, request: http::request::Builder, body: Vec<u8>) -> anyhow::Result<Value> {
        self.client.request::<Value>(request.body(body)?).await.map_err(plain)
    }

    async fn get_json(&self, path: &str) -> anyhow::Result<Value> {
        self.json(Request::get(path), Vec::new()).await
    }
}

/// Errors as kubectl prints them: `Error from server (NotFound): …`.
fn plain(error: kube::Error) -> anyhow::Error {
    match error {
        kube::Error::Api(status) => anyhow::anyhow!("from server ({}): {}", status.reason, status.message),
        other => other.into(),
    }
}

/// Behind [`out`].
fn print(text: std::fmt::Arguments<'_>) {
    use std::io::Write as _;
    if let Err(error) = std::io::stdout().lock().write_fmt(text) {
        if error.kind() != std::io::ErrorKind::BrokenPipe {
            eprintln!("error: standard output: {error}");
        }
        std::process::exit(1);
    }
}
