//! `cargo xtask bench store`: the store in process and through its face, beside the disk's own speed,
//! etcd and kine, on the same machine with the same load.
//!
//! This program runs itself again, built for release, as `xtask bench-store …`: each measurement is a
//! process that prints its figures as JSON.

mod load;
mod local;
mod peers;

use std::{path::Path, process::Command, sync::Arc};

use anyhow::{Context as _, bail};
use store::{
    Store,
    etcd::{EtcdStore, Settings},
};

use super::Figure;

/// Figures by row, in the order of the table.
type Figures = Vec<(String, Figure)>;

/// Rows that every store can be asked for, with their unit.
const PUTS_1: &str = "durable puts of 1 KB, 1 client (/s)";
const PUTS_64: &str = "durable puts of 1 KB, 64 clients (/s)";
const RANGE: &str = "range of 10,000 keys of 1 KB (MB/s)";
const WATCH: &str = "write → event at 100 watchers, p99 (ms)";

/// Measures everything, or what is named: `process`, `idle`, `face`, `etcd`, `kine`.
pub fn run(names: &[&str]) -> anyhow::Result<()> {
    crate::check::load_generator()?;
    let dir = tempfile::tempdir_in("/var/tmp")?;
    let wanted = |name: &str| names.is_empty() || names.contains(&name);
    if wanted("process") {
        let path = dir.path().join("local.db");
        print("in process", &measured(&["local", &path.to_string_lossy()]));
        print("in process, opened", &measured(&["open", &path.to_string_lossy()]));
    }
    if wanted("idle") {
        println!("in process           idle: ten minutes");
        print("in process", &measured(&["idle", &dir.path().join("idle.db").to_string_lossy()]));
    }
    for (name, start) in peers::ALL.iter().filter(|(name, _)| wanted(name)) {
        let folder = dir.path().join(name);
        std::fs::create_dir(&folder)?;
        match start(&folder) {
            Ok(peer) => {
                print(name, &measured(&["remote", peer.endpoint()]));
                for load in ["l", "xl"] {
                    println!("{name:<20} etcdctl check perf --load={load:<11} {}", peer.check_perf(load));
                }
            }
            Err(error) => println!("{name:<20} – {error:#}"),
        }
    }
    Ok(())
}

/// What `bench-store` does in a process of its own.
pub fn main(args: &[&str]) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let figures = match args {
        ["local", file] => runtime.block_on(local::measure(Path::new(file)))?,
        ["idle", file] => runtime.block_on(local::idle(Path::new(file)))?,
        ["open", file] => runtime.block_on(local::open(Path::new(file)))?,
        ["remote", endpoint] => runtime.block_on(remote(endpoint))?,
        ["serve", folder] => return runtime.block_on(peers::serve(Path::new(folder))),
        _ => bail!("usage: xtask bench-store local FILE | open FILE | idle FILE | remote ENDPOINT | serve FOLDER"),
    };
    println!("{}", serde_json::to_string(&figures)?);
    Ok(())
}

async fn remote(endpoint: &str) -> anyhow::Result<Figures> {
    let store: Arc<dyn Store> = Arc::new(EtcdStore::connect(Settings::plain([endpoint])).await?);
    common(&store).await
}

async fn common(store: &Arc<dyn Store>) -> anyhow::Result<Figures> {
    Ok(vec![
        (PUTS_1.to_owned(), load::puts(store, 1, 2_000).await?),
        (PUTS_64.to_owned(), load::puts(store, 64, 40_000).await?),
        (RANGE.to_owned(), load::range(store).await?),
        (WATCH.to_owned(), load::watch(store).await?),
    ])
}

/// Runs a measurement in a process of its own.
fn measured(args: &[&str]) -> anyhow::Result<Figures> {
    let output = Command::new(super::rows::load_generator()?).arg("bench-store").args(args).output()?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).context("the figures")
}

fn print(column: &str, figures: &anyhow::Result<Figures>) {
    match figures {
        Ok(figures) => {
            for (row, Figure { value, note }) in figures {
                println!("{column:<20} {row:<44} {:>8}  {note}", super::digits(*value));
            }
        }
        Err(error) => println!("{column:<20} – {error:#}"),
    }
}
