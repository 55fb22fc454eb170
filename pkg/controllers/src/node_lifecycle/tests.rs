//! Nodes whose lease has ended, and what becomes of their pods.

use client::slim::{PodSpec, PodStatus};
use k8s_openapi::api::core::v1::{NodeSpec, NodeStatus, PodCondition, Toleration};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::*;

const NOW: i64 = 10_000;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).expect("in range")
}

fn node(ready: &str) -> Node {
    let condition = NodeCondition { type_: "Ready".to_owned(), status: ready.to_owned(), ..NodeCondition::default() };
    Node {
        metadata: ObjectMeta { name: Some("n".to_owned()), ..ObjectMeta::default() },
        spec: Some(NodeSpec::default()),
        status: Some(NodeStatus { conditions: Some(vec![condition]), ..NodeStatus::default() }),
    }
}

fn pod(tolerated: Option<i64>) -> Arc<Pod> {
    let toleration = |key: &str, seconds| Toleration {
        key: Some(key.to_owned()),
        operator: Some("Exists".to_owned()),
        effect: Some("NoExecute".to_owned()),
        toleration_seconds: Some(seconds),
        ..Toleration::default()
    };
    let tolerations = tolerated.map(|seconds| {
        let keys = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
        keys.map(|key| toleration(key, seconds)).into()
    });
    let ready = PodCondition { type_: "Ready".to_owned(), status: "True".to_owned(), ..PodCondition::default() };
    Arc::new(Pod {
        spec: Some(PodSpec { tolerations, ..PodSpec::default() }),
        status: Some(PodStatus { conditions: Some(Box::new([ready])), ..PodStatus::default() }),
        ..Pod::default()
    })
}

fn input(node: Node, silent: i64, pods: Vec<Arc<Pod>>) -> Input {
    Input { node: Arc::new(node), alive: at(NOW - silent), pods, others_ready: true }
}

fn keys(taints: &[Taint]) -> Vec<(&str, &str)> {
    taints.iter().map(|t| (t.key.trim_start_matches("node.kubernetes.io/"), t.effect.as_str())).collect()
}

/// The node after a plan.
fn carry_out(mut node: Node, plan: &Plan) -> Node {
    if let Some(conditions) = &plan.conditions {
        node.status.as_mut().expect("set").conditions = Some(conditions.clone());
    }
    if let Some(taints) = &plan.taints {
        node.spec.as_mut().expect("set").taints = Some(taints.clone());
    }
    node
}

#[test]
fn a_healthy_node_is_left_alone_until_it_might_be_silent() {
    let plan = decide(&input(node("True"), 10, vec![]), at(NOW));
    assert_eq!(plan, Plan { next: Next::After(Duration::from_secs(30)), ..Plan::default() });
}

#[test]
fn a_silent_node_is_unknown_and_tainted_and_deciding_again_changes_nothing() {
    let silent = input(node("True"), 41, vec![pod(Some(300))]);
    let plan = decide(&silent, at(NOW));
    let ready = plan.conditions.as_ref().expect("changed").iter().find(|c| c.type_ == "Ready").expect("there");
    assert_eq!((ready.status.as_str(), ready.reason.as_deref()), ("Unknown", Some("NodeStatusUnknown")));
    assert_eq!(
        keys(plan.taints.as_ref().expect("changed")),
        [("unreachable", "NoSchedule"), ("unreachable", "NoExecute")]
    );
    assert_eq!((plan.not_ready.len(), plan.evict.len()), (1, 0));
    assert_eq!(plan.next, Next::After(Duration::from_secs(300)));

    let again = decide(&input(carry_out(node("True"), &plan), 41, vec![]), at(NOW));
    assert_eq!(again, Plan::default());
}

#[test]
fn pods_leave_when_their_toleration_is_over() {
    let tainted = carry_out(node("False"), &decide(&input(node("False"), 0, vec![]), at(NOW)));
    for (tolerated, after, evicted) in [(None, 0, 1), (Some(300), 299, 0), (Some(300), 300, 1), (Some(0), 0, 1)] {
        let now = NOW + after;
        let plan = decide(&Input { alive: at(now), ..input(tainted.clone(), 0, vec![pod(tolerated)]) }, at(now));
        assert_eq!(plan.evict.len(), evicted, "tolerates {tolerated:?} s, after {after} s");
    }
}

#[test]
fn a_node_that_recovers_loses_its_taints() {
    let tainted = carry_out(node("False"), &decide(&input(node("False"), 0, vec![]), at(NOW)));
    let mut recovered = node("True");
    recovered.spec = tainted.spec;
    let plan = decide(&input(recovered, 0, vec![pod(None)]), at(NOW));
    assert_eq!(plan.taints, Some(vec![]));
    assert!(plan.evict.is_empty());
}

#[test]
fn nothing_is_evicted_while_no_node_is_ready() {
    let plan = decide(&Input { others_ready: false, ..input(node("True"), 41, vec![pod(None)]) }, at(NOW));
    assert_eq!(keys(plan.taints.as_ref().expect("changed")), [("unreachable", "NoSchedule")]);
    assert!(plan.evict.is_empty());
}

#[test]
fn taints_follow_conditions_and_those_of_others_stay() {
    let mut busy = node("True");
    let status = busy.status.as_mut().expect("set");
    status.conditions.as_mut().expect("set").push(NodeCondition {
        type_: "DiskPressure".to_owned(),
        status: "True".to_owned(),
        ..NodeCondition::default()
    });
    let spec = busy.spec.as_mut().expect("set");
    spec.unschedulable = Some(true);
    spec.taints = Some(vec![Taint { key: "mine".to_owned(), effect: "NoSchedule".to_owned(), ..Taint::default() }]);
    let plan = decide(&input(busy, 0, vec![]), at(NOW));
    assert_eq!(
        keys(plan.taints.as_ref().expect("changed")),
        [("mine", "NoSchedule"), ("disk-pressure", "NoSchedule"), ("unschedulable", "NoSchedule")]
    );
}

#[test]
fn a_node_that_only_just_came_is_not_ready_but_not_lost() {
    let mut new = node("True");
    new.status = None;
    let plan = decide(&input(new, 0, vec![pod(None)]), at(NOW));
    assert_eq!(keys(plan.taints.as_ref().expect("changed")), [("not-ready", "NoSchedule")]);
    assert!(plan.evict.is_empty());
}
