//! Conditions of a pod, with the reasons and messages that clients match.

use k8s_openapi::api::core::v1::{ContainerStatus, Pod, PodCondition, PodStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::plan::Observed;
use super::status::{initialized, seconds};
use crate::spec;

/// What a condition says before it has a time.
struct Say {
    kind: &'static str,
    yes: bool,
    reason: Option<&'static str>,
    message: Option<String>,
}

impl Say {
    fn yes(kind: &'static str) -> Self {
        Say { kind, yes: true, reason: None, message: None }
    }

    fn no(kind: &'static str, reason: &'static str, message: Option<String>) -> Self {
        Say { kind, yes: false, reason: Some(reason), message }
    }
}

/// Writes the node's conditions into `status`, whose other fields are filled in. Conditions of others stay; a
/// condition that says the same as before keeps its time.
pub fn fill(o: &Observed<'_>, status: &mut PodStatus) {
    let phase = status.phase.clone().unwrap_or_default();
    let initialized = initialized_condition(o, status, &phase);
    let ready = containers_ready(status, &phase, "ContainersReady");
    let pod_ready = if ready.yes {
        gates(o.pod, status)
    } else {
        Say { kind: "Ready", yes: false, reason: ready.reason, message: ready.message.clone() }
    };
    let sandbox = if o.runtime.sandbox().is_some() {
        Say::yes("PodReadyToStartContainers")
    } else {
        Say { kind: "PodReadyToStartContainers", yes: false, reason: None, message: None }
    };
    let said = [sandbox, initialized, pod_ready, ready, Say::yes("PodScheduled")];
    let mut conditions = status.conditions.take().unwrap_or_default();
    for say in said {
        let value = if say.yes { "True" } else { "False" };
        let old = conditions.iter().position(|c| c.type_ == say.kind);
        let same = old.and_then(|i| conditions.get(i)).filter(|c| c.status == value);
        let condition = PodCondition {
            type_: say.kind.into(),
            status: value.into(),
            reason: say.reason.map(Into::into),
            message: say.message,
            last_transition_time: same
                .and_then(|c| c.last_transition_time.clone())
                .or_else(|| Some(Time(seconds(o.now)))),
            observed_generation: o.pod.metadata.generation,
            ..PodCondition::default()
        };
        match old {
            Some(i) => conditions[i] = condition,
            None => conditions.push(condition),
        }
    }
    status.conditions = Some(conditions);
}

/// Whether an init container no longer holds up the others.
pub fn init_done(pod: &Pod, status: &ContainerStatus) -> bool {
    let sidecar = spec::container(pod, &status.name).is_some_and(|(role, _)| role == spec::Role::Sidecar);
    if sidecar { status.started == Some(true) } else { status.ready }
}

fn initialized_condition(o: &Observed<'_>, status: &PodStatus, phase: &str) -> Say {
    const KIND: &str = "Initialized";
    if phase == "Succeeded" {
        return Say { reason: Some("PodCompleted"), ..Say::yes(KIND) };
    }
    let open: Vec<&str> = status
        .init_container_statuses
        .iter()
        .flatten()
        .filter(|s| !init_done(o.pod, s))
        .map(|s| s.name.as_str())
        .collect();
    if open.is_empty() || initialized(o) {
        return Say::yes(KIND);
    }
    let message = format!("containers with incomplete status: [{}]", open.join(" "));
    Say::no(KIND, "ContainersNotInitialized", Some(message))
}

fn containers_ready(status: &PodStatus, phase: &str, kind: &'static str) -> Say {
    match phase {
        "Succeeded" => return Say::no(kind, "PodCompleted", None),
        "Failed" => return Say::no(kind, "PodFailed", None),
        _ => {}
    }
    let sidecar =
        |s: &&ContainerStatus| s.started == Some(true) && s.state.as_ref().is_some_and(|s| s.running.is_some());
    let side = status.init_container_statuses.iter().flatten().filter(sidecar);
    let main = status.container_statuses.iter().flatten();
    let unready: Vec<&str> = side.chain(main).filter(|s| !s.ready).map(|s| s.name.as_str()).collect();
    if unready.is_empty() {
        return Say::yes(kind);
    }
    Say::no(kind, "ContainersNotReady", Some(format!("containers with unready status: [{}]", unready.join(" "))))
}

/// Readiness gates: conditions that others write.
fn gates(pod: &Pod, status: &PodStatus) -> Say {
    let mut open = Vec::new();
    for gate in pod.spec.iter().flat_map(|s| s.readiness_gates.iter().flatten()) {
        let kind = &gate.condition_type;
        match status.conditions.iter().flatten().find(|c| c.type_ == *kind) {
            None => open.push(format!("corresponding condition of pod readiness gate \"{kind}\" does not exist.")),
            Some(c) if c.status != "True" => {
                open.push(format!("the status of pod readiness gate \"{kind}\" is not \"True\", but {}", c.status));
            }
            Some(_) => {}
        }
    }
    if open.is_empty() { Say::yes("Ready") } else { Say::no("Ready", "ReadinessGatesNotReady", Some(open.join(", "))) }
}
