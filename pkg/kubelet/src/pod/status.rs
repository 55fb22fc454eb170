//! The status of a pod as the API shows it: a pure function of what the plan is made from, and the patch that brings
//! the API up to date.

use std::net::IpAddr;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{
    Container as Spec, ContainerState as ApiState, ContainerStateRunning, ContainerStateTerminated,
    ContainerStateWaiting, ContainerStatus, HostIP, Pod, PodIP, PodStatus,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde_json::{Map, Value, json};

use super::conditions;
use super::plan::{Finish, Observed, active_deadline, backing_off, ending, finish, recorded_finish, restart_policy};
use super::state::{Container, ContainerState, Image, Volumes};
use crate::spec::{self, Role, resources};

/// The scheme of container ids.
const SCHEME: &str = "containerd://";

/// Whether a pod is over: it ends, and nothing of it is alive any more.
pub fn over(o: &Observed<'_>) -> bool {
    ending(o) && o.memory.killing.is_empty() && !o.runtime.containers.iter().any(Container::alive)
}

/// The whole status. `host` are the node's addresses, the primary one first.
pub fn generate(o: &Observed<'_>, host: &[IpAddr]) -> PodStatus {
    let old = o.pod.status.clone().unwrap_or_default();
    let over = over(o);
    let mut init = Vec::new();
    let mut main = Vec::new();
    for (role, container) in spec::containers(o.pod) {
        let list = if role == Role::Main { &mut main } else { &mut init };
        list.push(container_status(o, role, container, over));
    }
    let phase = recorded_finish(o.pod).map_or_else(|| phase(o, &init, &main, over), finish_phase);
    let (reason, message) = match &o.memory.ended {
        Some((reason, message)) => (Some(reason.clone()), Some(message.clone())),
        None if active_deadline(o.pod).is_some_and(|d| d <= o.now) && finish(o.pod, o.runtime).is_none() => (
            Some("DeadlineExceeded".into()),
            Some("Pod was active on the node longer than the specified deadline".into()),
        ),
        None => (old.reason.clone(), old.message.clone()),
    };
    let ips = pod_ips(o, &old, host);
    let mut status = PodStatus {
        observed_generation: o.pod.metadata.generation,
        phase: Some(phase.into()),
        reason,
        message,
        host_ip: host.first().map(ToString::to_string),
        host_ips: Some(host.iter().map(|ip| HostIP { ip: ip.to_string() }).collect()),
        pod_ip: ips.first().cloned(),
        pod_ips: Some(ips.into_iter().map(|ip| PodIP { ip }).collect()).filter(|l: &Vec<_>| !l.is_empty()),
        start_time: old.start_time.clone().or(Some(Time(seconds(o.now)))),
        qos_class: Some(resources::qos(o.pod).as_str().into()),
        container_statuses: Some(main),
        init_container_statuses: Some(init).filter(|l| !l.is_empty()),
        ..old
    };
    conditions::fill(o, &mut status);
    status
}

/// Times of the API have whole seconds.
pub fn seconds(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second()).unwrap_or(at)
}

fn time(at: Option<Timestamp>) -> Option<Time> {
    at.map(|t| Time(seconds(t)))
}

fn finish_phase(finish: Finish) -> &'static str {
    match finish {
        Finish::Succeeded => "Succeeded",
        Finish::Failed => "Failed",
    }
}

/// Addresses of the pod. They stay while it ends, for those who still drain connections.
fn pod_ips(o: &Observed<'_>, old: &PodStatus, host: &[IpAddr]) -> Vec<String> {
    let host_network = o.pod.spec.as_ref().and_then(|s| s.host_network) == Some(true);
    match o.runtime.sandbox() {
        Some(_) if host_network => host.iter().map(ToString::to_string).collect(),
        Some(sandbox) if !sandbox.ips.is_empty() => sandbox.ips.clone(),
        _ if ending(o) => old.pod_ips.iter().flatten().map(|ip| ip.ip.clone()).collect(),
        _ => Vec::new(),
    }
}

/// Whether containers of the pod proper have been made in the present sandbox.
pub fn initialized(o: &Observed<'_>) -> bool {
    spec::containers(o.pod).any(|(role, c)| role == Role::Main && o.runtime.latest(&c.name).is_some())
}

fn waiting(reason: &str, message: &str) -> ApiState {
    let message = Some(message.to_owned()).filter(|m| !m.is_empty());
    ApiState { waiting: Some(ContainerStateWaiting { reason: Some(reason.into()), message }), ..ApiState::default() }
}

fn terminated(container: &Container) -> ApiState {
    let message = Some(container.message.clone()).filter(|m| !m.is_empty());
    let by_code = if container.exit_code == 0 { "Completed" } else { "Error" };
    let reason = if container.reason.is_empty() { by_code } else { &container.reason };
    ApiState {
        terminated: Some(ContainerStateTerminated {
            container_id: Some(format!("{SCHEME}{}", container.id)),
            exit_code: container.exit_code,
            started_at: time(container.started_at),
            finished_at: time(container.finished_at),
            reason: Some(reason.into()),
            message,
            ..ContainerStateTerminated::default()
        }),
        ..ApiState::default()
    }
}

/// The end of a container that the runtime has no record of.
fn lost(message: &str) -> ApiState {
    ApiState {
        terminated: Some(ContainerStateTerminated {
            exit_code: 137,
            reason: Some("ContainerStatusUnknown".into()),
            message: Some(message.into()),
            ..ContainerStateTerminated::default()
        }),
        ..ApiState::default()
    }
}

/// Why a container that is not there waits, if something failed.
fn trouble(o: &Observed<'_>, name: &str) -> Option<ApiState> {
    if let Some(Image::Failed(failure)) = o.memory.images.get(name) {
        return Some(waiting(&failure.reason, &failure.message));
    }
    let failure = o.memory.failures.get(name)?;
    Some(waiting(&failure.reason, &failure.message))
}

/// The back-off message that clients match.
pub fn backoff_message(pod: &Pod, name: &str, delay: jiff::SignedDuration) -> String {
    let meta = &pod.metadata;
    let (namespace, pod) = (meta.namespace.as_deref().unwrap_or_default(), meta.name.as_deref().unwrap_or_default());
    let uid = meta.uid.as_deref().unwrap_or_default();
    let (minutes, seconds) = (delay.as_secs() / 60, delay.as_secs() % 60);
    let delay = if minutes > 0 { format!("{minutes}m{seconds}s") } else { format!("{seconds}s") };
    format!("back-off {delay} restarting failed container={name} pod={pod}_{namespace}({uid})")
}

fn container_status(o: &Observed<'_>, role: Role, spec: &Spec, over: bool) -> ContainerStatus {
    let old = old_status(o.pod, role, &spec.name);
    let latest = o.runtime.latest(&spec.name).filter(|c| c.state != ContainerState::Created);
    let previous = latest.and_then(|_| o.runtime.previous(&spec.name)).filter(|c| !c.alive());
    let known = |field: fn(&Container) -> &str| latest.map(field).filter(|v| !v.is_empty());
    let mut status = ContainerStatus {
        name: spec.name.clone(),
        container_id: latest.map(|c| format!("{SCHEME}{}", c.id)),
        image: known(|c| &c.image).or(spec.image.as_deref()).unwrap_or_default().into(),
        image_id: known(|c| &c.image_id).unwrap_or_default().into(),
        restart_count: latest.map(|c| c.restart_count).or(old.map(|s| s.restart_count)).unwrap_or(0),
        last_state: previous.map(terminated).or_else(|| old.and_then(|s| s.last_state.clone())),
        started: Some(false),
        ..ContainerStatus::default()
    };
    let default = match role {
        Role::Main if o.pod.spec.as_ref().is_some_and(|s| s.init_containers.iter().flatten().next().is_none()) => {
            "ContainerCreating"
        }
        Role::Main if initialized(o) => "ContainerCreating",
        _ => "PodInitializing",
    };
    // The runtime's record is gone, but the API knows how it ended.
    let settled = ending(o) || (role == Role::Init && initialized(o));
    let ended = old.filter(|s| s.state.as_ref().is_some_and(|s| s.terminated.is_some()));
    if let Some(ended) = ended.filter(|_| latest.is_none() && settled) {
        return ended.clone();
    }
    let state = match latest {
        None if over && o.memory.volumes == Volumes::TornDown => {
            lost("The container could not be located when the pod was terminated")
        }
        None => {
            // There was one, and the runtime knows no more of it.
            if old.is_some_and(|s| s.state.as_ref().is_some_and(|s| s.running.is_some())) {
                status.last_state = Some(lost(
                    "The container could not be located when the pod was deleted. The container used to be Running",
                ));
            }
            trouble(o, &spec.name).unwrap_or_else(|| waiting(default, ""))
        }
        Some(c) if c.alive() && o.memory.starting.contains(&c.id) => waiting(default, ""),
        Some(c) if c.alive() => {
            ApiState { running: Some(ContainerStateRunning { started_at: time(c.started_at) }), ..ApiState::default() }
        }
        Some(c) => ended_state(o, spec, c, &mut status),
    };
    if let Some(c) = latest.filter(|_| state.running.is_some()) {
        let probes = o.memory.probes.get(&c.id).copied().unwrap_or_default();
        let started = spec.startup_probe.is_none() || probes.startup == Some(true);
        status.started = Some(started);
        status.ready =
            role != Role::Init && started && (spec.readiness_probe.is_none() || probes.readiness == Some(true));
    }
    if role == Role::Init {
        status.started = Some(false);
        status.ready = state.terminated.as_ref().is_some_and(|t| t.exit_code == 0);
    }
    status.state = Some(state);
    status
}

/// The state of a container that has ended: over, or waiting for its next start.
fn ended_state(o: &Observed<'_>, spec: &Spec, ended: &Container, status: &mut ContainerStatus) -> ApiState {
    let now = terminated(ended);
    if ending(o) {
        return now;
    }
    let next = match backing_off(o.memory, ended, o.now) {
        Some(off) if will_restart(o.pod, spec, ended) => {
            Some(waiting("CrashLoopBackOff", &backoff_message(o.pod, &spec.name, off.delay)))
        }
        _ => trouble(o, &spec.name),
    };
    match next {
        Some(next) => {
            status.last_state = Some(now);
            next
        }
        None => now,
    }
}

fn will_restart(pod: &Pod, spec: &Spec, ended: &Container) -> bool {
    spec::is_sidecar(spec)
        || match restart_policy(pod) {
            "Never" => false,
            "OnFailure" => ended.exit_code != 0,
            _ => true,
        }
}

fn old_status<'a>(pod: &'a Pod, role: Role, name: &str) -> Option<&'a ContainerStatus> {
    let status = pod.status.as_ref()?;
    let list = if role == Role::Main { &status.container_statuses } else { &status.init_container_statuses };
    list.iter().flatten().find(|s| s.name == name)
}

/// Whether the API says that this very container was ready, and whether it had started: where a new process begins.
pub fn was_ready(pod: &Pod, role: Role, container: &Container) -> (bool, bool) {
    let id = format!("{SCHEME}{}", container.id);
    let old = old_status(pod, role, &container.name).filter(|s| s.container_id.as_deref() == Some(&*id));
    old.map_or((false, false), |s| (s.ready, s.started == Some(true)))
}

/// The phase, from the states of the containers.
fn phase(o: &Observed<'_>, init: &[ContainerStatus], main: &[ContainerStatus], over: bool) -> &'static str {
    let state = |s: &ContainerStatus| s.state.clone().unwrap_or_default();
    if let Some(finish) = finish(o.pod, o.runtime).filter(|_| !o.runtime.containers.iter().any(Container::alive)) {
        return finish_phase(finish);
    }
    let ran = |s: &&ContainerStatus| s.last_state.as_ref().is_some_and(|l| l.terminated.is_some());
    let (mut waiting, mut running, mut stopped, mut succeeded) = (0, 0, 0, 0);
    for status in main {
        let state = state(status);
        match (&state.running, &state.terminated) {
            (Some(_), _) => running += 1,
            (_, Some(t)) => {
                stopped += 1;
                succeeded += usize::from(t.exit_code == 0);
            }
            _ if ran(&status) => stopped += 1,
            _ => waiting += 1,
        }
    }
    if over || o.memory.ended.is_some() && running == 0 {
        return if stopped > 0 && stopped == succeeded && waiting == 0 && o.memory.ended.is_none() {
            "Succeeded"
        } else {
            "Failed"
        };
    }
    let initializing = init.iter().any(|s| !conditions::init_done(o.pod, s)) && !initialized(o);
    if initializing || waiting > 0 { "Pending" } else { "Running" }
}

/// The fields of a status that are the node's to write. `conditions` and the address lists need more care.
const OWNED: [&str; 11] = [
    "observedGeneration",
    "phase",
    "reason",
    "message",
    "hostIP",
    "podIP",
    "startTime",
    "qosClass",
    "containerStatuses",
    "initContainerStatuses",
    "ephemeralContainerStatuses",
];

/// The strategic merge patch that turns `old` into `new`, or `None` if nothing differs.
pub fn patch(uid: &str, old: &PodStatus, new: &PodStatus) -> Option<Value> {
    let (old, new) = (serde_json::to_value(old).ok()?, serde_json::to_value(new).ok()?);
    let mut status = Map::new();
    for field in OWNED.iter().filter(|f| old.get(**f) != new.get(**f)) {
        status.insert((*field).into(), new.get(*field).cloned().unwrap_or(Value::Null));
    }
    for field in ["hostIPs", "podIPs"] {
        let list = |v: &Value| v.get(field).and_then(Value::as_array).cloned().unwrap_or_default();
        let (old, mut new) = (list(&old), list(&new));
        if old != new {
            if !old.is_empty() {
                new.insert(0, json!({"$patch": "replace"}));
            }
            status.insert(field.into(), Value::Array(new));
        }
    }
    let list = |v: &Value| v.get("conditions").and_then(Value::as_array).cloned().unwrap_or_default();
    let before = list(&old);
    let mut changed: Vec<Value> = list(&new).into_iter().filter(|c| !before.contains(c)).collect();
    for condition in &mut changed {
        let old = before.iter().find(|b| b["type"] == condition["type"]);
        for field in ["reason", "message"] {
            if old.is_some_and(|o| o.get(field).is_some()) && condition.get(field).is_none() {
                condition[field] = Value::Null;
            }
        }
    }
    if !changed.is_empty() {
        status.insert("conditions".into(), Value::Array(changed));
    }
    (!status.is_empty()).then(|| json!({"metadata": {"uid": uid}, "status": status}))
}

#[cfg(test)]
mod tests;
