//! The rows of the table, and how each is measured.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use testkit::{Cluster, Machine};

use super::{
    Budget::{AtLeast, AtMost},
    Figure, Phase, Row,
    statistics::{age, median, memory, processor_time, written},
};

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "start",
        what: "start of the process, empty disk → node Ready",
        budget: AtMost(2.0),
        unit: "s",
        k3s: "18.5 to 18.9 s",
        phase: Phase::Before,
        measure: start,
    },
    Row {
        name: "memory",
        what: "resident memory, fresh single node",
        budget: AtMost(64.0),
        unit: "MB",
        k3s: "512 to 524 MB",
        phase: Phase::Fresh,
        measure: fresh_memory,
    },
    Row {
        name: "memory-after",
        what: "the same after the load test below",
        budget: AtMost(128.0),
        unit: "MB",
        k3s: "720 to 850 MB",
        phase: Phase::After,
        measure: memory_after,
    },
    Row {
        name: "idle-cpu",
        what: "idle CPU",
        budget: AtMost(0.5),
        unit: "%",
        k3s: "6.2 %",
        phase: Phase::Fresh,
        measure: |bench| Ok(bench.idle()?.0),
    },
    Row {
        name: "idle-writes",
        what: "idle writes to disk",
        budget: AtMost(0.5),
        unit: "KB/s",
        k3s: "8.6 KB/s",
        phase: Phase::Fresh,
        measure: |bench| Ok(bench.idle()?.1),
    },
    Row {
        name: "create",
        what: "create ConfigMap, 32 in flight, durable",
        budget: AtLeast(3000.0),
        unit: "/s",
        k3s: "170 to 320/s",
        phase: Phase::Load,
        measure: |bench| bench.operation("create"),
    },
    Row {
        name: "get",
        what: "get, 32 in flight",
        budget: AtLeast(12_000.0),
        unit: "/s",
        k3s: "250 to 526/s",
        phase: Phase::Load,
        measure: |bench| bench.operation("get"),
    },
    Row {
        name: "list",
        what: "list of 2,000 pods",
        budget: AtLeast(120.0),
        unit: "MB/s",
        k3s: "16 to 23 MB/s",
        phase: Phase::Load,
        measure: |bench| bench.operation("list"),
    },
    Row {
        name: "watch",
        what: "write → event at each of 50 watchers, p50",
        budget: AtMost(2.0),
        unit: "ms",
        k3s: "10 to 20 ms",
        phase: Phase::Load,
        measure: |bench| bench.operation("watch"),
    },
    Row {
        name: "watchers",
        what: "1,000 watchers, 100 writes/s, each event at each, p99",
        budget: AtMost(50.0),
        unit: "ms",
        k3s: "–",
        phase: Phase::Load,
        measure: |bench| bench.operation("watchers"),
    },
    Row {
        name: "pods-memory",
        what: "memory of 10,000 pods against none",
        budget: AtMost(100.0),
        unit: "MB",
        k3s: "–",
        phase: Phase::Before,
        measure: pods_memory,
    },
    Row {
        name: "pod",
        what: "one pod, POST → Ready, image present",
        budget: AtMost(0.5),
        unit: "s",
        k3s: "1.65 s",
        phase: Phase::Pods,
        measure: |bench| bench.operation("pod"),
    },
    Row {
        name: "deployment",
        what: "Deployment of 20 pods → all Ready",
        budget: AtMost(6.0),
        unit: "s",
        k3s: "18.7 s",
        phase: Phase::Pods,
        measure: |bench| bench.operation("deployment"),
    },
    Row {
        name: "binary",
        what: "release binary, stripped",
        budget: AtMost(40.0),
        unit: "MB",
        k3s: "138 MB",
        phase: Phase::Before,
        measure: |_| Ok(Figure::new(std::fs::metadata(testkit::binary())?.len() as f64 / 1e6, "")),
    },
];

/// Rows that are about the API server.
pub(super) const API: &[&str] = &["create", "get", "list", "watch", "watchers", "memory-after", "pods-memory"];

/// The load test, after which memory is measured.
const LOAD: &[&str] = &["create", "get", "list", "watch"];
const STARTS: usize = 5;
/// A node that is Ready still has caches to fill.
const SETTLE: Duration = Duration::from_secs(10);
const IDLE: Duration = Duration::from_secs(200);

/// A cluster that the rows share, and what is known already.
#[derive(Default)]
pub(super) struct Bench {
    cluster: Option<Cluster>,
    idle: Option<(Figure, Figure)>,
    done: BTreeMap<&'static str, Figure>,
}

impl Bench {
    /// The cluster, settled.
    fn server(&mut self) -> &Machine {
        let cluster = self.cluster.get_or_insert_with(|| {
            let cluster = Cluster::start_with("bench", 0, &["shell"], &[]);
            // They are shown at the end, and do not spoil the table.
            cluster.allow_complaints();
            sleep(SETTLE);
            cluster
        });
        cluster.server()
    }

    /// Processor time and writes of the server at rest.
    fn idle(&mut self) -> anyhow::Result<(Figure, Figure)> {
        if let Some(idle) = &self.idle {
            return Ok(idle.clone());
        }
        let pid = self.server().pid();
        let (time, bytes, start) = (processor_time(pid)?, written(pid)?, Instant::now());
        sleep(IDLE);
        let seconds = start.elapsed().as_secs_f64();
        let used = (processor_time(pid)? - time).as_secs_f64();
        let bytes = written(pid)? - bytes;
        let over = format!("over {seconds:.0} s");
        let idle = (
            Figure::new(used / seconds * 100.0, format!("{used:.2} s {over}")),
            Figure::new(bytes as f64 / seconds / 1e3, format!("{} KB {over}", bytes / 1000)),
        );
        self.idle = Some(idle.clone());
        Ok(idle)
    }

    /// Runs an operation of the load generator, once.
    fn operation(&mut self, name: &'static str) -> anyhow::Result<Figure> {
        if let Some(figure) = self.done.get(name) {
            return Ok(figure.clone());
        }
        let figure = generate(self.server(), name)?;
        self.done.insert(name, figure.clone());
        Ok(figure)
    }

    /// Stops the cluster, and shows what it has complained about.
    pub(super) fn finish(self) {
        let Some(mut cluster) = self.cluster else { return };
        cluster.server_mut().stop();
        for line in cluster.server().complaints() {
            eprintln!("log: {line}");
        }
    }
}

fn start(_: &mut Bench) -> anyhow::Result<Figure> {
    let mut times = Vec::new();
    for _ in 0..STARTS {
        let cluster = Cluster::launch("bench-start", &[], &[]);
        cluster.allow_complaints();
        generate(cluster.server(), "ready")?;
        times.push(age(cluster.server().pid())?.as_secs_f64());
    }
    let middle = median(&mut times);
    Ok(Figure::new(middle, format!("{:.2} to {:.2}, of {STARTS}", times[0], times[STARTS - 1])))
}

fn fresh_memory(bench: &mut Bench) -> anyhow::Result<Figure> {
    resident(bench.server())
}

fn memory_after(bench: &mut Bench) -> anyhow::Result<Figure> {
    for name in LOAD {
        bench.operation(name)?;
    }
    resident(bench.server())
}

/// On a cluster of its own: memory that was used once is not given back.
fn pods_memory(_: &mut Bench) -> anyhow::Result<Figure> {
    let cluster = Cluster::start_with("bench-memory", 0, &[], &[]);
    cluster.allow_complaints();
    sleep(SETTLE);
    let before = memory(cluster.server().pid())?;
    let pods = generate(cluster.server(), "pods")?;
    sleep(SETTLE);
    let after = memory(cluster.server().pid())?;
    let note = format!("{:.0} MB before, {:.0} MB after; {}", before.resident, after.resident, pods.note);
    Ok(Figure::new(after.resident - before.resident, note))
}

fn resident(server: &Machine) -> anyhow::Result<Figure> {
    let memory = memory(server.pid())?;
    let mapped = memory.resident - memory.anonymous;
    Ok(Figure::new(memory.resident, format!("{:.0} heap, {mapped:.0} mapped from files", memory.anonymous)))
}

/// Runs the load generator in the server's network namespace.
fn generate(server: &Machine, operation: &str) -> anyhow::Result<Figure> {
    let kubeconfig = server.dir().join("etc/kubeconfig.yaml");
    let mut command: Command = server.command(load_generator()?);
    command.args(["bench-client".as_ref(), kubeconfig.as_os_str(), operation.as_ref()]).stderr(Stdio::inherit());
    let output = command.output().context("starting the load generator")?;
    if !output.status.success() {
        bail!("the load generator failed at {operation}");
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// This program, built for release beside the running one.
pub(super) fn load_generator() -> anyhow::Result<PathBuf> {
    let current = std::env::current_exe()?;
    let folder = current.parent().and_then(Path::parent).context("cargo puts programs two levels down")?;
    Ok(folder.join("release/xtask"))
}
