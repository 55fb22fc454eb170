//! A Deployment in a simulated cluster: each step's plan is carried out on plain objects, and pods
//! become available one by one, so that a rollout shows all its states.

use std::sync::Arc;

use k8s_openapi::{
    api::{
        apps::v1::{DeploymentSpec, DeploymentStrategy, ReplicaSetStatus, RollingUpdateDeployment},
        core::v1::{Container, PodSpec, PodTemplateSpec},
    },
    apimachinery::pkg::{
        apis::meta::v1::{LabelSelector, ObjectMeta, Time},
        util::intstr::IntOrString,
    },
};

use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).expect("in range")
}

fn deployment(replicas: i32, image: &str) -> Deployment {
    let app: std::collections::BTreeMap<_, _> = [("app".to_owned(), "web".to_owned())].into();
    Deployment {
        metadata: ObjectMeta {
            namespace: Some("ns".to_owned()),
            name: Some("web".to_owned()),
            uid: Some("deployment-uid".to_owned()),
            generation: Some(1),
            ..ObjectMeta::default()
        },
        spec: DeploymentSpec {
            replicas: Some(replicas),
            progress_deadline_seconds: Some(600),
            revision_history_limit: Some(10),
            selector: LabelSelector { match_labels: Some(app.clone()), ..LabelSelector::default() },
            template: PodTemplateSpec {
                metadata: Some(ObjectMeta { labels: Some(app), ..ObjectMeta::default() }),
                spec: Some(PodSpec {
                    containers: vec![Container {
                        name: "web".to_owned(),
                        image: Some(image.to_owned()),
                        ..Container::default()
                    }],
                    ..PodSpec::default()
                }),
            },
            strategy: strategy("25%", "25%"),
            ..DeploymentSpec::default()
        },
        status: None,
    }
}

fn strategy(surge: &str, unavailable: &str) -> Option<DeploymentStrategy> {
    let value = |text: &str| Some(text.parse().map_or_else(|_| IntOrString::String(text.to_owned()), IntOrString::Int));
    Some(DeploymentStrategy {
        type_: Some("RollingUpdate".to_owned()),
        rolling_update: Some(RollingUpdateDeployment { max_surge: value(surge), max_unavailable: value(unavailable) }),
    })
}

fn recreate() -> Option<DeploymentStrategy> {
    Some(DeploymentStrategy { type_: Some("Recreate".to_owned()), rolling_update: None })
}

struct World {
    deployment: Deployment,
    sets: Vec<ReplicaSet>,
    now: i64,
}

impl World {
    fn new(deployment: Deployment) -> Self {
        World { deployment, sets: Vec::new(), now: 1000 }
    }

    fn change(&mut self, change: impl FnOnce(&mut DeploymentSpec)) {
        change(&mut self.deployment.spec);
        *self.deployment.metadata.generation.get_or_insert(0) += 1;
    }

    fn set_image(&mut self, image: &str) {
        self.change(|spec| {
            spec.template.spec.as_mut().expect("set").containers[0].image = Some(image.to_owned());
        });
    }

    fn plan(&self) -> Plan {
        let input = Input {
            deployment: Arc::new(self.deployment.clone()),
            sets: self.sets.iter().cloned().map(Arc::new).collect(),
            pods: Vec::new(),
        };
        decide(&input, at(self.now))
    }

    /// Carries one plan out. Whether it changed anything.
    fn step(&mut self) -> bool {
        self.now += 1;
        let plan = self.plan();
        for action in &plan.actions {
            match action {
                Action::Create(set) => {
                    let mut set = (**set).clone();
                    let meta = &mut set.metadata;
                    meta.uid = meta.name.clone();
                    meta.creation_timestamp = Some(Time(at(self.now)));
                    meta.generation = Some(1);
                    set.status = Some(ReplicaSetStatus::default());
                    self.sets.push(set);
                }
                Action::Update { set, .. } => {
                    let there = self.sets.iter_mut().find(|s| s.metadata.name == set.metadata.name).expect("there");
                    there.spec = set.spec.clone();
                    there.metadata.annotations = set.metadata.annotations.clone();
                }
                Action::Delete(set) => self.sets.retain(|s| s.metadata.name != set.metadata.name),
            }
        }
        if let Some(revision) = plan.revision.clone() {
            self.deployment.metadata.annotations.get_or_insert_default().insert(sets::REVISION.to_owned(), revision);
        }
        let changed = !plan.actions.is_empty()
            || plan.revision.is_some()
            || self.deployment.status.as_ref() != Some(&plan.status);
        self.deployment.status = Some(plan.status);
        changed
    }

    /// The kubelet's and the ReplicaSets' part: surplus pods go, one more pod becomes available.
    fn pods_move(&mut self) -> bool {
        let mut changed = false;
        for set in &mut self.sets {
            let wanted = sets::size(set);
            let generation = set.metadata.generation;
            let status = set.status.get_or_insert_default();
            status.observed_generation = generation;
            let available = status.available_replicas.unwrap_or(0).min(wanted);
            let available = if available < wanted { available + 1 } else { available };
            changed |= status.replicas != wanted || status.available_replicas != Some(available);
            status.replicas = wanted;
            status.ready_replicas = Some(available);
            status.available_replicas = Some(available);
        }
        changed
    }

    /// Runs until nothing changes; the most pods and the fewest available ones on the way.
    fn settle(&mut self) -> (i32, i32) {
        let (mut most, mut fewest) = (0, i32::MAX);
        for _ in 0..200 {
            let decided = self.step();
            most = most.max(sets::total_size(&self.sets));
            let moved = self.pods_move();
            fewest = fewest.min(self.sets.iter().map(sets::available).sum());
            if !decided && !moved {
                return (most, fewest);
            }
        }
        panic!("does not settle: {:?}", self.deployment.status);
    }

    fn sizes(&self) -> Vec<(i64, i32)> {
        let mut sizes: Vec<_> = self.sets.iter().map(|s| (sets::revision(s), sets::size(s))).collect();
        sizes.sort_unstable();
        sizes
    }

    fn reason(&self, type_: &str) -> Option<String> {
        status::condition(self.deployment.status.as_ref()?, type_)?.reason.clone()
    }
}

#[test]
fn a_new_deployment_comes_up_and_deciding_again_changes_nothing() {
    let mut world = World::new(deployment(3, "web:1"));
    world.settle();
    assert_eq!(world.sizes(), [(1, 3)]);
    assert_eq!(world.reason("Progressing").as_deref(), Some("NewReplicaSetAvailable"));
    assert_eq!(world.reason("Available").as_deref(), Some("MinimumReplicasAvailable"));
    let again = world.plan();
    assert_eq!(again.actions, []);
    assert_eq!(again.revision, None);
    assert_eq!(Some(again.status), world.deployment.status);
}

#[test]
fn rollouts_keep_their_bounds() {
    for (replicas, surge, unavailable, most, fewest) in [
        (4, "25%", "25%", 5, 3),
        (4, "1", "0", 5, 4),
        (4, "0", "1", 4, 3),
        (10, "30%", "0%", 13, 10),
        (3, "25%", "25%", 4, 3),
        // Both zero: one may be missing.
        (4, "0", "0%", 4, 3),
        (5, "100%", "100%", 10, 0),
    ] {
        let mut web = deployment(replicas, "web:1");
        web.spec.strategy = strategy(surge, unavailable);
        let mut world = World::new(web);
        world.settle();
        world.set_image("web:2");
        let (seen_most, seen_fewest) = world.settle();
        assert!(
            seen_most <= most && seen_fewest >= fewest,
            "{replicas} {surge} {unavailable}: {seen_most} {seen_fewest}"
        );
        assert_eq!(world.sizes(), [(1, 0), (2, replicas)], "{replicas} {surge} {unavailable}");
    }
}

#[test]
fn a_rollback_uses_the_old_set_under_a_new_revision() {
    let mut world = World::new(deployment(2, "web:1"));
    world.settle();
    world.set_image("web:2");
    world.settle();
    world.set_image("web:1");
    world.settle();
    assert_eq!(world.sizes(), [(2, 0), (3, 2)]);
    let annotations = world.deployment.metadata.annotations.as_ref().expect("annotated");
    assert_eq!(annotations.get(sets::REVISION).map(String::as_str), Some("3"));
    let back = world.sets.iter().find(|s| sets::revision(s) == 3).expect("there");
    let history = back.metadata.annotations.as_ref().and_then(|a| a.get("deployment.kubernetes.io/revision-history"));
    assert_eq!(history.map(String::as_str), Some("1"));
}

#[test]
fn recreate_has_no_pods_of_both_at_once() {
    let mut web = deployment(3, "web:1");
    web.spec.strategy = recreate();
    let mut world = World::new(web);
    world.settle();
    world.set_image("web:2");
    let (most, fewest) = world.settle();
    assert_eq!((most, fewest), (3, 0));
    assert_eq!(world.sizes(), [(1, 0), (2, 3)]);
}

#[test]
fn recreate_waits_for_the_last_old_pod() {
    let mut web = deployment(1, "web:1");
    web.spec.strategy = recreate();
    let mut world = World::new(web);
    world.settle();
    world.set_image("web:2");
    world.step();
    world.pods_move();
    let pod = Pod {
        metadata: ObjectMeta {
            owner_references: Some(vec![crate::owners::controller_reference(&world.sets[0])]),
            ..ObjectMeta::default()
        },
        ..Pod::default()
    };
    let input = Input {
        deployment: Arc::new(world.deployment.clone()),
        sets: world.sets.iter().cloned().map(Arc::new).collect(),
        pods: vec![Arc::new(pod)],
    };
    assert_eq!(decide(&input, at(world.now)).actions, []);
    assert!(matches!(world.plan().actions[..], [Action::Create(_)]));
}

#[test]
fn scaling_during_a_rollout_is_in_proportion() {
    let mut web = deployment(10, "web:1");
    web.spec.strategy = strategy("3", "2");
    let mut world = World::new(web);
    world.settle();
    world.set_image("web:2");
    world.step();
    world.step();
    let before = world.sizes();
    assert_eq!(before.iter().map(|(_, size)| size).sum::<i32>(), 13, "{before:?}");
    world.change(|spec| spec.replicas = Some(20));
    world.step();
    let after = world.sizes();
    assert_eq!(after.iter().map(|(_, size)| size).sum::<i32>(), 23, "{after:?}");
    assert!(after.iter().zip(&before).all(|(a, b)| a.1 > b.1), "{before:?} → {after:?}");
    world.settle();
    assert_eq!(world.sizes(), [(1, 0), (2, 20)]);
}

#[test]
fn a_paused_deployment_scales_but_does_not_roll() {
    let mut world = World::new(deployment(2, "web:1"));
    world.settle();
    world.change(|spec| spec.paused = Some(true));
    world.set_image("web:2");
    world.settle();
    assert_eq!(world.sizes(), [(1, 2)]);
    assert_eq!(world.reason("Progressing").as_deref(), Some("DeploymentPaused"));
    world.change(|spec| spec.replicas = Some(4));
    world.settle();
    assert_eq!(world.sizes(), [(1, 4)]);
    world.change(|spec| spec.paused = Some(false));
    world.settle();
    assert_eq!(world.sizes(), [(1, 0), (2, 4)]);
}

#[test]
fn a_rollout_without_progress_times_out_when_told() {
    let mut world = World::new(deployment(2, "web:1"));
    world.settle();
    world.set_image("web:broken");
    // The new pods never become available.
    for _ in 0..5 {
        world.step();
        for set in &mut world.sets {
            set.status.get_or_insert_default().replicas = sets::size(set);
        }
    }
    assert!(!world.step());
    let Next::After(wait) = world.plan().next else { panic!("must look again") };
    assert!((590..=601).contains(&wait.as_secs()), "{wait:?}");
    world.now += 601;
    world.step();
    assert_eq!(world.reason("Progressing").as_deref(), Some("ProgressDeadlineExceeded"));
    assert_eq!(world.plan().next, Next::Done);
}

#[test]
fn old_sets_are_cleaned_up() {
    let mut web = deployment(1, "web:0");
    web.spec.revision_history_limit = Some(2);
    let mut world = World::new(web);
    world.settle();
    for n in 1..6 {
        world.set_image(&format!("web:{n}"));
        world.settle();
    }
    assert_eq!(world.sizes(), [(4, 0), (5, 0), (6, 1)]);
}

#[test]
fn scaling_to_nothing_and_back() {
    let mut world = World::new(deployment(3, "web:1"));
    world.settle();
    for replicas in [0, 5, 1] {
        world.change(|spec| spec.replicas = Some(replicas));
        world.settle();
        assert_eq!(world.sizes(), [(1, replicas)]);
    }
}

#[test]
fn hashes_are_stable_short_and_differ_by_collision_count() {
    let template = &deployment(1, "web:1").spec.template;
    let hash = sets::template_hash(template, None);
    assert_eq!(hash, sets::template_hash(template, None));
    assert_ne!(hash, sets::template_hash(template, Some(1)));
    assert!(hash.len() <= 10 && hash.bytes().all(|b| b"bcdfghjklmnpqrstvwxz2456789".contains(&b)), "{hash}");
}
