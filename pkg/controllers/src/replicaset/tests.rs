//! Replicas decided from a ReplicaSet and its pods.

use client::slim::{PodSpec, PodStatus};
use k8s_openapi::{
    api::{
        apps::v1::ReplicaSetSpec,
        core::v1::{PodCondition, PodTemplateSpec},
    },
    apimachinery::pkg::apis::meta::v1::{LabelSelector, OwnerReference},
};

use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).expect("in range")
}

const NOW: i64 = 100_000;

fn app() -> std::collections::BTreeMap<String, String> {
    [("app".to_owned(), "web".to_owned())].into()
}

fn set(replicas: i32) -> ReplicaSet {
    ReplicaSet {
        metadata: ObjectMeta {
            namespace: Some("ns".to_owned()),
            name: Some("web".to_owned()),
            uid: Some("set-uid".to_owned()),
            generation: Some(1),
            ..ObjectMeta::default()
        },
        spec: ReplicaSetSpec {
            replicas: Some(replicas),
            selector: LabelSelector { match_labels: Some(app()), ..LabelSelector::default() },
            template: Some(PodTemplateSpec {
                metadata: Some(ObjectMeta { labels: Some(app()), ..ObjectMeta::default() }),
                spec: Some(full::PodSpec::default()),
            }),
            ..ReplicaSetSpec::default()
        },
        status: None,
    }
}

/// A running, ready pod of the set on node `n`.
fn pod(name: &str) -> Pod {
    Pod {
        metadata: ObjectMeta {
            namespace: Some("ns".to_owned()),
            name: Some(name.to_owned()),
            uid: Some(format!("uid-{name}")),
            labels: Some(app()),
            owner_references: Some(vec![controller_reference(&set(0))]),
            creation_timestamp: Some(Time(at(NOW - 1000))),
            ..ObjectMeta::default()
        },
        spec: Some(PodSpec { node_name: Some("n".to_owned()), ..PodSpec::default() }),
        status: Some(PodStatus {
            phase: Some("Running".to_owned()),
            conditions: Some(Box::new([PodCondition {
                type_: "Ready".to_owned(),
                status: "True".to_owned(),
                last_transition_time: Some(Time(at(NOW - 900))),
                ..PodCondition::default()
            }])),
            ..PodStatus::default()
        }),
    }
}

fn change(mut pod: Pod, change: impl FnOnce(&mut Pod)) -> Pod {
    change(&mut pod);
    pod
}

fn input(set: ReplicaSet, pods: Vec<Pod>) -> Input {
    let pods = pods.into_iter().map(Arc::new).collect();
    Input { set: Arc::new(set), pods, related: HashMap::new(), settled: true }
}

fn names(pods: &[Arc<Pod>]) -> Vec<String> {
    pods.iter().map(|pod| pod.name_any()).collect()
}

#[test]
fn makes_and_deletes_what_is_missing_or_too_much() {
    let failed = |name| change(pod(name), |p| p.status.as_mut().expect("set").phase = Some("Failed".to_owned()));
    let leaving = |name| change(pod(name), |p| p.metadata.deletion_timestamp = Some(Time(at(NOW))));
    let foreign = |name| {
        change(pod(name), |p| {
            let other = OwnerReference { uid: "other".to_owned(), controller: Some(true), ..OwnerReference::default() };
            p.metadata.owner_references = Some(vec![other]);
        })
    };
    for (what, replicas, pods, create, delete) in [
        ("none there", 3, vec![], 3, 0),
        ("all there", 2, vec![pod("a"), pod("b")], 0, 0),
        ("too many", 1, vec![pod("a"), pod("b"), pod("c")], 0, 2),
        ("a failed pod does not count", 1, vec![failed("a")], 1, 0),
        ("a pod that leaves does not count", 1, vec![leaving("a")], 1, 0),
        ("another's pod does not count", 1, vec![foreign("a")], 1, 0),
        ("scaled to nothing", 0, vec![pod("a")], 0, 1),
        ("more than one burst", 1200, vec![], 500, 0),
    ] {
        let plan = decide(&input(set(replicas), pods), at(NOW));
        assert_eq!((plan.create, plan.delete.len()), (create, delete), "{what}");
    }
}

#[test]
fn an_old_snapshot_makes_nothing() {
    let plan = decide(&Input { settled: false, ..input(set(3), vec![]) }, at(NOW));
    assert_eq!((plan.create, plan.delete.len()), (0, 0));
}

#[test]
fn a_set_that_is_deleted_makes_nothing() {
    let mut leaving = set(3);
    leaving.metadata.deletion_timestamp = Some(Time(at(NOW)));
    assert_eq!(decide(&input(leaving, vec![]), at(NOW)).create, 0);
}

#[test]
fn orphans_are_adopted_and_strangers_released() {
    let orphan = change(pod("orphan"), |p| p.metadata.owner_references = None);
    let stranger = change(pod("stranger"), |p| p.metadata.labels = None);
    let plan = decide(&input(set(2), vec![orphan, stranger]), at(NOW));
    assert_eq!(names(&plan.claim.adopt), ["orphan"]);
    assert_eq!(names(&plan.claim.release), ["stranger"]);
    assert_eq!(plan.create, 1);
}

#[test]
fn what_matters_least_is_deleted_first() {
    let ready_at = |p: &mut Pod, seconds| {
        let conditions = p.status.as_mut().and_then(|s| s.conditions.as_mut()).expect("set");
        conditions[0].last_transition_time = Some(Time(at(seconds)));
    };
    let pods = vec![
        pod("old"),
        change(pod("young"), |p| ready_at(p, NOW - 2)),
        change(pod("cheap"), |p| {
            let cost = ("controller.kubernetes.io/pod-deletion-cost".to_owned(), "-1".to_owned());
            p.metadata.annotations = Some([cost].into());
        }),
        change(pod("crowded"), |p| p.spec.as_mut().expect("set").node_name = Some("full".to_owned())),
        change(pod("unready"), |p| p.status.as_mut().expect("set").conditions = None),
        change(pod("pending"), |p| p.status.as_mut().expect("set").phase = Some("Pending".to_owned())),
        change(pod("unassigned"), |p| p.spec.as_mut().expect("set").node_name = None),
    ];
    let related = [("full".to_owned(), 5), ("n".to_owned(), 3)].into();
    let plan = decide(&Input { related, ..input(set(0), pods) }, at(NOW));
    assert_eq!(names(&plan.delete), ["unassigned", "pending", "unready", "cheap", "crowded", "young", "old"]);
}

#[test]
fn status_counts_and_waits_for_availability() {
    let mut slow = set(2);
    slow.spec.min_ready_seconds = Some(1000);
    let plan = decide(&input(slow, vec![pod("a"), pod("b")]), at(NOW));
    let status = plan.status;
    assert_eq!((status.replicas, status.ready_replicas, status.available_replicas), (2, Some(2), None));
    assert_eq!(plan.next, Next::After(std::time::Duration::from_secs(100)));

    let plan = decide(&input(set(2), vec![pod("a"), pod("b")]), at(NOW));
    assert_eq!((plan.status.available_replicas, plan.next), (Some(2), Next::Done));
}

#[test]
fn deciding_again_after_applying_changes_nothing() {
    let first = decide(&input(set(3), vec![]), at(NOW));
    let made = |n| {
        let pod = serde_json::to_value(new_pod(&set(3))).and_then(serde_json::from_value).expect("a pod");
        change(pod, |p| p.metadata.name = Some(format!("web-{n}")))
    };
    let made: Vec<_> = (0..first.create).map(made).collect();
    let second = decide(&input(set(3), made.clone()), at(NOW));
    assert_eq!((second.create, second.delete.len()), (0, 0));
    let written = ReplicaSet { status: Some(second.status.clone()), ..set(3) };
    let third = decide(&input(written, made), at(NOW));
    assert_eq!(third.status, second.status);
    assert_eq!((third.create, third.delete.len()), (0, 0));
}
