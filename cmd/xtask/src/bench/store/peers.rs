//! Servers of etcd's API that get the same load: our face, etcd as the distribution has it, and kine on
//! SQLite, built from its published module.

use std::{
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use store::{SqliteStore, Store as _, face};
use testkit::Etcds;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

const KINE: &str = "github.com/k3s-io/kine@v0.17.5";
const KINE_ADDRESS: &str = "127.0.0.1:22379";
const PATIENCE: Duration = Duration::from_secs(30);

type Start = fn(&Path) -> anyhow::Result<Peer>;

/// Name, and how it is started in a folder of its own.
pub const ALL: &[(&str, Start)] = &[("face", start_face), ("etcd", start_etcd), ("kine", start_kine)];

/// A running server; gone when dropped.
pub struct Peer {
    endpoint: String,
    _process: Process,
}

enum Process {
    Child(Child),
    Etcd(#[expect(dead_code, reason = "held until the end")] Etcds),
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Process::Child(child) = self {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Peer {
    /// Where it listens.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// What `etcdctl check perf` says of it, in one line.
    pub fn check_perf(&self, load: &str) -> String {
        let endpoint = format!("--endpoints={}", self.endpoint);
        let mut command = Command::new("etcdctl");
        command.env("ETCDCTL_API", "3").args([&endpoint, "check", "perf", &format!("--load={load}")]);
        let Ok(output) = command.output() else { return "– etcdctl cannot be run".to_owned() };
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        let said = text.split(['\n', '\r']).map(str::trim).filter(|l| l.starts_with("PASS") || l.starts_with("FAIL"));
        let said: Vec<&str> = said.collect();
        if said.is_empty() { format!("– {}", text.lines().last().unwrap_or_default()) } else { said.join("; ") }
    }
}

fn start_face(folder: &Path) -> anyhow::Result<Peer> {
    let child =
        Command::new(crate::bench::rows::load_generator()?).arg("bench-store").arg("serve").arg(folder).spawn()?;
    let process = Process::Child(child);
    let socket = folder.join("etcd.sock");
    wait("the face", || socket.exists())?;
    Ok(Peer { endpoint: format!("unix://{}", socket.display()), _process: process })
}

fn start_etcd(folder: &Path) -> anyhow::Result<Peer> {
    let etcd = Etcds::new(1, folder).start();
    Ok(Peer { endpoint: etcd.urls().swap_remove(0), _process: Process::Etcd(etcd) })
}

fn start_kine(folder: &Path) -> anyhow::Result<Peer> {
    let mut command = Command::new(kine()?);
    command.args(["--listen-address", KINE_ADDRESS, "--metrics-bind-address", "0"]).current_dir(folder);
    let process = Process::Child(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
    wait("kine", || TcpStream::connect(KINE_ADDRESS).is_ok())?;
    Ok(Peer { endpoint: format!("http://{KINE_ADDRESS}"), _process: process })
}

/// kine, built once.
fn kine() -> anyhow::Result<PathBuf> {
    let folder = crate::repository().join("target/tools/bin");
    let program = folder.join("kine");
    if !program.exists() {
        let status = Command::new("go").args(["install", KINE]).env("GOBIN", &folder).status();
        if !status.context("kine is built with `go`, which must be on PATH")?.success() {
            bail!("go install {KINE} failed");
        }
    }
    Ok(program)
}

fn wait(what: &str, mut done: impl FnMut() -> bool) -> anyhow::Result<()> {
    let start = Instant::now();
    while !done() {
        if start.elapsed() > PATIENCE {
            bail!("{what} does not listen");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Serves a store in `folder` as etcd is, until this process is killed.
pub async fn serve(folder: &Path) -> anyhow::Result<()> {
    let store = Arc::new(SqliteStore::open(&folder.join("state.db"))?);
    let socket = folder.join("etcd.sock");
    let urls = vec![format!("unix://{}", socket.display())];
    let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
    let scratch = folder.to_owned();
    let config = face::Config { store: store.clone(), name: "bench".to_owned(), urls, scratch, stop: stop.clone() };
    face::Face::new(config).serve_unix(&socket, &tasks)?;
    stop.cancelled().await;
    Ok(store.close().await?)
}
