//! Columns of pods.

use serde_json::{Value, json};

use super::{age, age::parse, code, human_duration, name, wide, wide_column};
use crate::{
    kinds::{Cell, Column},
    tree,
};

pub(crate) static COLUMNS: [Column; 9] = [
    name("Name"),
    code("Ready", |pod, _| {
        let summary = Summary::of(pod);
        format!("{}/{}", summary.ready, summary.total).into()
    }),
    code("Status", |pod, _| Summary::of(pod).status.into()),
    code("Restarts", |pod, now| Summary::of(pod).restarts_text(now).into()),
    age(),
    wide("IP", |pod, _| match tree::items(pod, "status.podIPs").first().map_or("", |ip| tree::text(ip, "ip")) {
        "" => "<none>".into(),
        ip => ip.into(),
    }),
    wide_column("Node", Cell::Text("spec.nodeName", "<none>")),
    wide_column("Nominated Node", Cell::Text("status.nominatedNodeName", "<none>")),
    wide("Readiness Gates", |pod, _| readiness_gates(pod).into()),
];

/// Conditions of the row of a pod that has ended; null for others.
pub(super) fn row_conditions(pod: &Value) -> Value {
    let phase = tree::text(pod, "status.phase");
    let message = match phase {
        "Succeeded" => "The pod has completed successfully.",
        "Failed" => "The pod failed.",
        _ => return Value::Null,
    };
    json!([{"type": "Completed", "status": "True", "reason": phase, "message": message}])
}

/// What is said of a pod as a whole.
struct Summary {
    ready: usize,
    total: usize,
    status: String,
    restarts: i64,
    /// Seconds since the epoch.
    last_restart: Option<i64>,
}

/// Restarts of some containers, and when the last one was.
#[derive(Clone, Copy, Default)]
struct Restarts {
    count: i64,
    last: Option<i64>,
}

impl Restarts {
    fn add(&mut self, status: &Value) {
        self.count += tree::int(status, "restartCount");
        self.last = self.last.max(parse(tree::text(status, "lastState.terminated.finishedAt")));
    }
}

/// How the initial containers stand.
struct Init {
    /// The status to show while one of them is not done.
    pending: Option<String>,
    ready: usize,
    all: Restarts,
    /// Of sidecars alone.
    sidecars: Restarts,
}

impl Summary {
    fn of(pod: &Value) -> Self {
        let sidecars = tree::items(pod, "spec.initContainers").iter().filter(|c| is_sidecar(c)).count();
        let total = tree::items(pod, "spec.containers").len() + sidecars;
        let mut status = match tree::text(pod, "status.reason") {
            "" => tree::text(pod, "status.phase"),
            reason => reason,
        }
        .to_owned();
        let gated = |c: &Value| c["type"] == "PodScheduled" && c["reason"] == "SchedulingGated";
        if tree::items(pod, "status.conditions").iter().any(gated) {
            "SchedulingGated".clone_into(&mut status);
        }
        let init = Init::of(pod);
        let mut ready = init.ready;
        let mut restarts = init.all;
        let initializing = init.pending.is_some();
        if let Some(pending) = init.pending {
            status = pending;
        }
        if !initializing || condition(pod, "Initialized") {
            restarts = init.sidecars;
            ready += main_containers(pod, &mut status, &mut restarts);
        }
        if tree::has(pod, "metadata.deletionTimestamp") {
            if tree::text(pod, "status.reason") == "NodeLost" {
                "Unknown".clone_into(&mut status);
            } else if !matches!(tree::text(pod, "status.phase"), "Succeeded" | "Failed") {
                "Terminating".clone_into(&mut status);
            }
        }
        Summary { ready, total, status, restarts: restarts.count, last_restart: restarts.last }
    }

    fn restarts_text(&self, now: i64) -> String {
        match self.last_restart {
            Some(last) if self.restarts != 0 => {
                format!("{} ({} ago)", self.restarts, human_duration(now - last))
            }
            _ => self.restarts.to_string(),
        }
    }
}

impl Init {
    fn of(pod: &Value) -> Self {
        let mut init = Init { pending: None, ready: 0, all: Restarts::default(), sidecars: Restarts::default() };
        let specs = tree::items(pod, "spec.initContainers");
        for (index, status) in tree::items(pod, "status.initContainerStatuses").iter().enumerate() {
            let sidecar = specs.iter().any(|c| c["name"] == status["name"] && is_sidecar(c));
            init.all.add(status);
            if sidecar {
                init.sidecars.add(status);
            }
            let terminated = tree::at(status, "state.terminated");
            if !terminated.is_null() && tree::int(terminated, "exitCode") == 0 {
                continue;
            }
            if sidecar && tree::flag(status, "started") {
                init.ready += usize::from(tree::flag(status, "ready"));
                continue;
            }
            let waiting = tree::text(status, "state.waiting.reason");
            init.pending = Some(if !terminated.is_null() {
                format!("Init:{}", ended(terminated))
            } else if !matches!(waiting, "" | "PodInitializing") {
                format!("Init:{waiting}")
            } else {
                format!("Init:{index}/{}", specs.len())
            });
            break;
        }
        init
    }
}

/// Looks at the main containers, the first one last; answers with how many are ready.
fn main_containers(pod: &Value, status: &mut String, restarts: &mut Restarts) -> usize {
    let mut ready = 0;
    let mut failure = None;
    for container in tree::items(pod, "status.containerStatuses").iter().rev() {
        restarts.add(container);
        let waiting = tree::text(container, "state.waiting.reason");
        let terminated = tree::at(container, "state.terminated");
        if !waiting.is_empty() {
            waiting.clone_into(status);
        } else if !terminated.is_null() {
            *status = ended(terminated);
            if tree::int(terminated, "exitCode") != 0 {
                failure = Some(status.clone());
            }
        } else if tree::flag(container, "ready") && tree::has(container, "state.running") {
            ready += 1;
        }
    }
    if status == "Completed" {
        if ready > 0 && condition(pod, "Ready") {
            "Running".clone_into(status);
        } else if let Some(failure) = failure {
            *status = failure;
        } else if ready > 0 {
            "NotReady".clone_into(status);
        }
    }
    ready
}

/// Why a container ended.
fn ended(terminated: &Value) -> String {
    match (tree::text(terminated, "reason"), tree::int(terminated, "signal")) {
        ("", 0) => format!("ExitCode:{}", tree::int(terminated, "exitCode")),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

fn is_sidecar(container: &Value) -> bool {
    container["restartPolicy"] == "Always"
}

fn condition(pod: &Value, kind: &str) -> bool {
    tree::items(pod, "status.conditions").iter().any(|c| c["type"] == kind && c["status"] == "True")
}

fn readiness_gates(pod: &Value) -> String {
    let gates = tree::items(pod, "spec.readinessGates");
    if gates.is_empty() {
        return "<none>".to_owned();
    }
    let open = gates.iter().filter(|gate| condition(pod, tree::text(gate, "conditionType"))).count();
    format!("{open}/{}", gates.len())
}
