//! Tables for the status: a state of the runtime, what the API shows.

use serde_json::{Value, json};

use super::super::state::{Failure, Memory, Probed, RuntimePod, Sandbox};
use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_000_000 + seconds).unwrap()
}

#[derive(Clone)]
struct World {
    pod: Value,
    runtime: RuntimePod,
    memory: Memory,
}

impl World {
    fn running() -> Self {
        let container = Container {
            id: "c1".into(),
            name: "web".into(),
            sandbox_id: "s".into(),
            state: ContainerState::Running,
            started_at: Some(at(0)),
            ..Container::default()
        };
        let sandbox = Sandbox { id: "s".into(), ready: true, ips: vec!["10.42.0.5".into()], ..Sandbox::default() };
        World {
            pod: json!({
                "metadata": {"name": "p", "namespace": "n", "uid": "u", "generation": 3},
                "spec": {"containers": [{"name": "web", "image": "web:1"}]},
            }),
            runtime: RuntimePod { sandboxes: vec![sandbox], containers: vec![container] },
            memory: Memory { volumes: Volumes::Mounted, ..Memory::default() },
        }
    }

    fn status(&self) -> PodStatus {
        let pod: Pod = serde_json::from_value(self.pod.clone()).unwrap();
        let (runtime, memory) = (&self.runtime, &self.memory);
        let observed = Observed { pod: &pod, gone: false, runtime, memory, now: at(5) };
        generate(&observed, &["192.0.2.1".parse().unwrap()])
    }

    fn exit(&mut self, code: i32) {
        self.runtime.containers[0].state = ContainerState::Exited;
        self.runtime.containers[0].exit_code = code;
        self.runtime.containers[0].finished_at = Some(at(4));
    }
}

/// `phase ready=…/… state last` of a status with one container.
fn short(status: &PodStatus) -> String {
    let state = |s: &ApiState| match (&s.waiting, &s.running, &s.terminated) {
        (Some(w), ..) => w.reason.clone().unwrap_or_default(),
        (_, Some(_), _) => "running".into(),
        (.., Some(t)) => format!("{}({})", t.reason.clone().unwrap_or_default(), t.exit_code),
        _ => "-".into(),
    };
    let condition = |kind: &str| {
        let found = status.conditions.iter().flatten().find(|c| c.type_ == kind).unwrap();
        found.reason.clone().unwrap_or_else(|| found.status.clone())
    };
    let web = &status.container_statuses.as_ref().unwrap()[0];
    let last = web.last_state.as_ref().map_or("-".into(), state);
    let phase = status.phase.as_deref().unwrap();
    format!("{phase} {} {} {last}", condition("Ready"), state(web.state.as_ref().unwrap()))
}

type Change = Box<dyn Fn(&mut World)>;

#[test]
fn phases_and_states() {
    let failure = |reason: &str| Failure { reason: reason.into(), message: "m".into(), retry_at: at(60) };
    let table: Vec<(&str, Change, &str)> = vec![
        ("running", Box::new(|_| {}), "Running True running -"),
        (
            "nothing yet",
            Box::new(|w| w.runtime = RuntimePod::default()),
            "Pending ContainersNotReady ContainerCreating -",
        ),
        (
            "no image",
            Box::new(move |w| {
                w.runtime.containers.clear();
                w.memory.images.insert("web".into(), Image::Failed(failure("ErrImagePull")));
            }),
            "Pending ContainersNotReady ErrImagePull -",
        ),
        (
            "readiness probe undecided",
            Box::new(|w| w.pod["spec"]["containers"][0]["readinessProbe"] = json!({})),
            "Running ContainersNotReady running -",
        ),
        (
            "readiness probe passed",
            Box::new(|w| {
                w.pod["spec"]["containers"][0]["readinessProbe"] = json!({});
                w.memory.probes.insert("c1".into(), Probed { readiness: Some(true), ..Probed::default() });
            }),
            "Running True running -",
        ),
        (
            "startup undecided",
            Box::new(|w| w.pod["spec"]["containers"][0]["startupProbe"] = json!({})),
            "Running ContainersNotReady running -",
        ),
        (
            "hook runs",
            Box::new(|w| w.memory.starting.push("c1".into())),
            "Pending ContainersNotReady ContainerCreating -",
        ),
        ("crashed", Box::new(|w| w.exit(1)), "Running ContainersNotReady Error(1) -"),
        (
            "backing off",
            Box::new(|w| {
                w.exit(1);
                let backoff =
                    super::super::backoff::Backoff { delay: jiff::SignedDuration::from_secs(10), since: at(0) };
                w.memory.backoff.insert("web".into(), backoff);
            }),
            "Running ContainersNotReady CrashLoopBackOff Error(1)",
        ),
        (
            "completed",
            Box::new(|w| {
                w.pod["spec"]["restartPolicy"] = json!("Never");
                w.exit(0);
            }),
            "Succeeded PodCompleted Completed(0) -",
        ),
        (
            "failed",
            Box::new(|w| {
                w.pod["spec"]["restartPolicy"] = json!("Never");
                w.exit(2);
            }),
            "Failed PodFailed Error(2) -",
        ),
        (
            "deleted, still running",
            Box::new(|w| w.pod["metadata"]["deletionTimestamp"] = json!("2001-01-01T00:00:00Z")),
            "Running True running -",
        ),
        (
            "deleted, ended",
            Box::new(|w| {
                w.pod["metadata"]["deletionTimestamp"] = json!("2001-01-01T00:00:00Z");
                w.exit(0);
            }),
            "Succeeded PodCompleted Completed(0) -",
        ),
        (
            "gate",
            Box::new(|w| w.pod["spec"]["readinessGates"] = json!([{"conditionType": "x"}])),
            "Running ReadinessGatesNotReady running -",
        ),
        (
            "record lost",
            Box::new(|w| {
                w.pod["status"] = json!(w.status());
                w.runtime.containers.clear();
            }),
            "Running ContainersNotReady ContainerCreating ContainerStatusUnknown(137)",
        ),
    ];
    for (name, change, want) in table {
        let mut world = World::running();
        change(&mut world);
        assert_eq!(short(&world.status()), want, "{name}");
    }
}

#[test]
fn init_containers_hold_up_the_rest() {
    let mut world = World::running();
    world.pod["spec"]["initContainers"] = json!([{"name": "a", "image": "i"}]);
    world.runtime.containers[0].name = "a".into();
    let status = world.status();
    assert_eq!(short(&status), "Pending ContainersNotReady PodInitializing -");
    let initialized = status.conditions.unwrap().into_iter().find(|c| c.type_ == "Initialized").unwrap();
    assert_eq!(initialized.message.unwrap(), "containers with incomplete status: [a]");
    world.pod["spec"]["restartPolicy"] = json!("Never");
    world.exit(1);
    assert_eq!(world.status().phase.unwrap(), "Failed");
}

#[test]
fn what_was_reported_is_not_reported_again() {
    let mut world = World::running();
    let none = PodStatus::default();
    let first = world.status();
    let patch1 = patch("u", &none, &first).unwrap();
    assert_eq!(patch1["metadata"]["uid"], "u");
    assert_eq!(patch1["status"]["podIPs"], json!([{"ip": "10.42.0.5"}]));
    world.pod["status"] = json!(first);
    assert_eq!(patch("u", &first, &world.status()), None);
    // Only what changed is sent: here a readiness probe that failed.
    world.pod["spec"]["containers"][0]["readinessProbe"] = json!({});
    let second = patch("u", &first, &world.status()).unwrap();
    let fields: Vec<_> = second["status"].as_object().unwrap().keys().collect();
    assert_eq!(fields, ["conditions", "containerStatuses"]);
    let kinds: Vec<_> = second["status"]["conditions"].as_array().unwrap().iter().map(|c| &c["type"]).collect();
    assert_eq!(kinds, ["Ready", "ContainersReady"]);
}

#[test]
fn a_new_address_replaces_the_old_one() {
    let mut world = World::running();
    let first = world.status();
    world.pod["status"] = json!(first);
    world.runtime.sandboxes[0].ips = vec!["10.42.0.6".into()];
    let change = patch("u", &first, &world.status()).unwrap();
    assert_eq!(change["status"]["podIPs"], json!([{"$patch": "replace"}, {"ip": "10.42.0.6"}]));
}

#[test]
fn conditions_of_others_stay() {
    let mut world = World::running();
    world.pod["status"] = json!({"conditions": [{"type": "DisruptionTarget", "status": "True"}]});
    assert!(world.status().conditions.unwrap().iter().any(|c| c.type_ == "DisruptionTarget"));
}
