//! Tables: a base case, a change, the plan. And a runtime of two pages that takes every action, to see that a plan
//! carried out leaves nothing to do.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::backoff::Backoff;
use super::super::state::{Killing, Probed, Sandbox};
use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_000_000 + seconds).unwrap()
}

/// A pod, its runtime state and memory, which a test changes.
#[derive(Clone, Debug)]
struct World {
    pod: Value,
    gone: bool,
    runtime: RuntimePod,
    memory: Memory,
    now: i64,
    made: i64,
}

impl World {
    /// One container, nothing made yet.
    fn fresh() -> Self {
        let container = json!({"name": "web", "image": "web:1"});
        World {
            pod: json!({"metadata": {"name": "p", "uid": "u"}, "spec": {"containers": [container]}}),
            gone: false,
            runtime: RuntimePod::default(),
            memory: Memory::default(),
            now: 0,
            made: 0,
        }
    }

    fn with_containers(init: Value, main: Value) -> Self {
        let mut world = World::fresh();
        world.pod["spec"]["initContainers"] = init;
        world.pod["spec"]["containers"] = main;
        world
    }

    fn settled(mut self) -> Self {
        self.settle();
        self
    }

    fn decide(&self) -> PodPlan {
        let pod: Pod = serde_json::from_value(self.pod.clone()).unwrap();
        let (runtime, memory) = (&self.runtime, &self.memory);
        decide(&Observed { pod: &pod, gone: self.gone, runtime, memory, now: at(self.now) })
    }

    /// Decides and applies until nothing is left to do. Returns all that was done.
    fn settle(&mut self) -> Vec<PodAction> {
        let mut done = Vec::new();
        for _ in 0..50 {
            let plan = self.decide();
            if plan.actions.is_empty() {
                return done;
            }
            for action in &plan.actions {
                self.apply(action);
            }
            let last =
                plan.actions.last() == Some(&PodAction::Forget) || plan.actions.last() == Some(&PodAction::Finalize);
            done.extend(plan.actions);
            if last {
                return done;
            }
        }
        panic!("does not settle: {:?}", &done[done.len() - 5..]);
    }

    fn apply(&mut self, action: &PodAction) {
        self.made += 1;
        let pod: Pod = serde_json::from_value(self.pod.clone()).unwrap();
        match action {
            PodAction::MountVolumes => self.memory.volumes = Volumes::Mounted,
            PodAction::CreateSandbox { attempt, .. } => {
                let sandbox =
                    Sandbox { id: format!("s{attempt}"), ready: true, attempt: *attempt, ..Sandbox::default() };
                self.runtime.sandboxes.insert(0, sandbox);
            }
            PodAction::EnsureImage { name } => {
                self.memory.images.insert(name.clone(), Image::Present(format!("sha256:{name}")));
            }
            PodAction::StartContainer { name, sandbox, restart_count, after_crash, .. } => {
                self.memory.images.remove(name);
                let (_, spec) = spec::container(&pod, name).unwrap();
                if *after_crash {
                    let backoff = Backoff::next(self.memory.backoff.get(name).copied(), CRASH, at(self.now));
                    self.memory.backoff.insert(name.clone(), backoff);
                }
                self.runtime.containers.insert(
                    0,
                    Container {
                        id: format!("{name}-{restart_count}"),
                        name: name.clone(),
                        sandbox_id: sandbox.clone(),
                        state: ContainerState::Running,
                        hash: hash(spec),
                        restart_count: *restart_count,
                        ..Container::default()
                    },
                );
            }
            PodAction::KillContainer { id, .. } => {
                self.memory.killing.remove(id);
                self.exit(id, 137);
            }
            PodAction::RemoveContainer { id } => self.runtime.containers.retain(|c| c.id != *id),
            PodAction::StopSandbox { id } => {
                self.runtime.sandboxes.iter_mut().filter(|s| s.id == *id).for_each(|s| s.ready = false);
            }
            PodAction::RemoveSandbox { id } => {
                self.runtime.sandboxes.retain(|s| s.id != *id);
                self.runtime.containers.retain(|c| c.sandbox_id != *id);
            }
            PodAction::TearDown => self.memory.volumes = Volumes::TornDown,
            PodAction::Finalize | PodAction::Forget => {}
        }
    }

    fn exit(&mut self, id: &str, code: i32) {
        let now = at(self.now);
        let container = self.runtime.containers.iter_mut().find(|c| c.id == id).unwrap();
        container.state = ContainerState::Exited;
        container.exit_code = code;
        container.finished_at = Some(now);
    }
}

/// Actions in short: `mount sandbox:0 image:web start:web:0 …`.
fn short(actions: &[PodAction]) -> String {
    let one = |a: &PodAction| match a {
        PodAction::MountVolumes => "mount".into(),
        PodAction::CreateSandbox { attempt, .. } => format!("sandbox:{attempt}"),
        PodAction::EnsureImage { name } => format!("image:{name}"),
        PodAction::StartContainer { name, restart_count, .. } => format!("start:{name}:{restart_count}"),
        PodAction::KillContainer { id, grace, reason, .. } => format!("kill:{id}:{grace}:{reason:?}"),
        PodAction::RemoveContainer { id } => format!("remove:{id}"),
        PodAction::StopSandbox { id } => format!("stop:{id}"),
        PodAction::RemoveSandbox { id } => format!("discard:{id}"),
        PodAction::TearDown => "teardown".into(),
        PodAction::Finalize => "finalize".into(),
        PodAction::Forget => "forget".into(),
    };
    actions.iter().map(one).collect::<Vec<String>>().join(" ")
}

#[test]
fn a_new_pod_is_started_step_by_step_and_then_left_alone() {
    let mut world = World::fresh();
    assert_eq!(short(&world.settle()), "mount sandbox:0 image:web start:web:0");
    assert_eq!(world.decide(), PodPlan::default());
}

#[test]
fn init_containers_run_in_order_and_sidecars_stay() {
    let init = json!([
        {"name": "a", "image": "i"},
        {"name": "side", "image": "i", "restartPolicy": "Always", "startupProbe": {}},
        {"name": "b", "image": "i"},
    ]);
    let mut world = World::with_containers(init, json!([{"name": "web", "image": "i"}]));
    assert_eq!(short(&world.settle()), "mount sandbox:0 image:a start:a:0");
    world.exit("a-0", 0);
    assert_eq!(short(&world.settle()), "image:side start:side:0");
    world.memory.probes.insert("side-0".into(), Probed { startup: Some(true), ..Probed::default() });
    assert_eq!(short(&world.settle()), "image:b start:b:0");
    world.exit("b-0", 1);
    assert_eq!(short(&world.settle()), "image:b start:b:1");
    world.exit("b-1", 0);
    assert_eq!(short(&world.settle()), "image:web start:web:0");
    world.exit("side-0", 1);
    assert_eq!(short(&world.settle()), "image:side start:side:1");
    // Ended in reverse: the main container, then the sidecar.
    world.pod["metadata"]["deletionTimestamp"] = json!("2001-01-01T00:00:00Z");
    assert_eq!(short(&world.settle()), "kill:web-0:30:PodEnds kill:side-1:30:PodEnds stop:s0 teardown finalize");
}

#[test]
fn a_running_pod_changes_only_for_a_reason() {
    type Change = fn(&mut World);
    let table: &[(&str, Change, &str)] = &[
        ("nothing", |_| {}, ""),
        (
            "image changed",
            |w| w.pod["spec"]["containers"][0]["image"] = json!("web:2"),
            "kill:web-0:30:DefinitionChanged image:web start:web:1",
        ),
        (
            "liveness failed",
            |w| {
                w.memory.probes.insert("web-0".into(), Probed { liveness: Some(false), ..Probed::default() });
            },
            "kill:web-0:30:Liveness image:web start:web:1",
        ),
        (
            "not ready is no reason",
            |w| {
                w.memory.probes.insert("web-0".into(), Probed { readiness: Some(false), ..Probed::default() });
            },
            "",
        ),
        (
            "startup failed, with its own grace",
            |w| {
                w.pod["spec"]["containers"][0]["startupProbe"] = json!({"terminationGracePeriodSeconds": 5});
                w.memory.probes.insert("web-0".into(), Probed { startup: Some(false), ..Probed::default() });
            },
            "kill:web-0:5:Startup image:web start:web:1",
        ),
        (
            "a kill under way",
            |w| {
                w.memory.probes.insert("web-0".into(), Probed { liveness: Some(false), ..Probed::default() });
                w.memory.killing.insert("web-0".into(), Killing { deadline: at(30) });
            },
            "",
        ),
        ("exit", |w| w.exit("web-0", 0), "image:web start:web:1"),
        (
            "exit, restart on failure",
            |w| {
                w.pod["spec"]["restartPolicy"] = json!("OnFailure");
                w.exit("web-0", 3);
            },
            "image:web start:web:1",
        ),
        (
            "success, restart on failure",
            |w| {
                w.pod["spec"]["restartPolicy"] = json!("OnFailure");
                w.exit("web-0", 0);
            },
            "stop:s0 teardown",
        ),
        (
            "failure, restart never",
            |w| {
                w.pod["spec"]["restartPolicy"] = json!("Never");
                w.exit("web-0", 1);
            },
            "stop:s0 teardown",
        ),
        (
            "sandbox lost",
            |w| w.runtime.sandboxes[0].ready = false,
            "kill:web-0:2:SandboxGone sandbox:1 image:web start:web:1",
        ),
        (
            "sandbox lost, restart never",
            |w| {
                w.pod["spec"]["restartPolicy"] = json!("Never");
                w.runtime.sandboxes[0].ready = false;
            },
            "kill:web-0:2:SandboxGone teardown",
        ),
        (
            "deleted",
            |w| w.pod["metadata"]["deletionTimestamp"] = json!("2001-01-01T00:00:00Z"),
            "kill:web-0:30:PodEnds stop:s0 teardown finalize",
        ),
        (
            "deleted at once",
            |w| {
                w.pod["metadata"]["deletionTimestamp"] = json!("2001-01-01T00:00:00Z");
                w.pod["metadata"]["deletionGracePeriodSeconds"] = json!(0);
            },
            "kill:web-0:2:PodEnds stop:s0 teardown finalize",
        ),
        ("gone from the API", |w| w.gone = true, "kill:web-0:30:PodEnds stop:s0 teardown discard:s0 forget"),
        (
            "ended by the node",
            |w| w.memory.ended = Some(("Evicted".into(), "memory".into())),
            "kill:web-0:30:PodEnds stop:s0 teardown",
        ),
        (
            "deadline passed",
            |w| {
                w.pod["spec"]["activeDeadlineSeconds"] = json!(5);
                w.pod["status"] = json!({"startTime": at(-5)});
            },
            "kill:web-0:30:PodEnds stop:s0 teardown",
        ),
        (
            "made, never started",
            |w| w.runtime.containers[0].state = ContainerState::Created,
            "remove:web-0 image:web start:web:0",
        ),
        (
            "lost track of",
            |w| w.runtime.containers[0].state = ContainerState::Unknown,
            "kill:web-0:2:Unknown image:web start:web:1",
        ),
        (
            "volumes failing leave it alone",
            |w| {
                let failure = Failure { reason: "FailedMount".into(), message: String::new(), retry_at: at(9) };
                w.memory.volumes = Volumes::Failed(failure);
            },
            "",
        ),
    ];
    for (name, change, want) in table {
        let mut world = World::fresh().settled();
        change(&mut world);
        assert_eq!(short(&world.settle()), *want, "{name}");
    }
}

#[test]
fn a_crashing_container_waits_longer_each_time() {
    let mut world = World::fresh().settled();
    let mut waits = Vec::new();
    for restart in 0..7 {
        world.exit(&format!("web-{restart}"), 1);
        let plan = world.decide();
        let wait = plan.wake_at.map_or(0, |w| w.duration_since(at(world.now)).as_secs());
        assert_eq!(plan.backing_off.len(), usize::from(wait > 0));
        waits.push(wait);
        world.now += wait;
        let done = short(&world.settle());
        assert!(done.contains(&format!("start:web:{}", restart + 1)), "{done}");
        assert!(world.runtime.containers.len() <= 2, "old containers are removed");
    }
    assert_eq!(waits, [0, 10, 20, 40, 80, 160, 300]);
    world.now += 601;
    world.exit("web-7", 1);
    assert_eq!(short(&world.settle()), "image:web start:web:8 remove:web-6", "a long run is forgiven");
}

#[test]
fn attempts_that_failed_are_made_again_when_they_are_due() {
    let failure = |seconds| Failure { reason: "R".into(), message: "m".into(), retry_at: at(seconds) };
    type Change = Box<dyn Fn(&mut World)>;
    let table: [(&str, Change, &str); 4] = [
        ("volumes", Box::new(move |w| w.memory.volumes = Volumes::Failed(failure(5))), "mount sandbox:0"),
        ("sandbox", Box::new(move |w| w.memory.sandbox = Some(failure(5))), "sandbox:0"),
        (
            "image",
            Box::new(move |w| {
                w.settle();
                w.memory.images = BTreeMap::from([("web".into(), Image::Failed(failure(5)))]);
                w.runtime.containers.clear();
            }),
            "image:web start:web:0",
        ),
        (
            "start",
            Box::new(move |w| {
                w.settle();
                w.runtime.containers.clear();
                w.memory.failures = BTreeMap::from([("web".into(), failure(5))]);
            }),
            "image:web start:web:0",
        ),
    ];
    for (name, change, want) in table {
        let mut world = World::fresh();
        world.memory.volumes = Volumes::Mounted;
        change(&mut world);
        let plan = world.decide();
        assert_eq!((plan.actions.len(), plan.wake_at), (0, Some(at(5))), "{name}");
        world.now = 5;
        let done = short(&world.settle());
        assert!(done.starts_with(want), "{name}: {done}");
    }
}

#[test]
fn restart_counts_survive_the_loss_of_runtime_records() {
    let mut world = World::fresh();
    world.pod["status"] = json!({"containerStatuses": [
        {"name": "web", "image": "", "imageID": "", "ready": true, "restartCount": 4, "containerID": "containerd://x"}]});
    assert_eq!(short(&world.settle()), "mount sandbox:0 image:web start:web:5");
}

#[test]
fn a_second_delete_with_less_grace_overtakes_the_first() {
    let mut world = World::fresh().settled();
    world.pod["metadata"]["deletionTimestamp"] = json!("2001-01-01T00:00:00Z");
    world.memory.killing.insert("web-0".into(), Killing { deadline: at(30) });
    assert_eq!(world.decide().actions, []);
    world.pod["metadata"]["deletionGracePeriodSeconds"] = json!(1);
    assert_eq!(short(&world.decide().actions), "kill:web-0:2:PodEnds");
}
