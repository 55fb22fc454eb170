//! Budgets decided from pods and scales, without a server.

use std::sync::Arc;

use client::EventType;
use k8s_openapi::api::policy::v1::PodDisruptionBudgetStatus;
use serde_json::{Value, json};

use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).expect("in range")
}

const NOW: i64 = 1_000_000;

fn typed<K: serde::de::DeserializeOwned>(object: Value) -> K {
    serde_json::from_value(object).expect("an object")
}

fn budget(spec: Value) -> PodDisruptionBudget {
    typed(json!({ "metadata": { "name": "b", "namespace": "ns", "generation": 3 }, "spec": spec }))
}

/// Ready or not, controlled by the owner of this uid or by nobody.
fn pod(name: &str, ready: bool, owner: &str) -> Value {
    let owners = match owner {
        "" => json!([]),
        uid => {
            json!([{ "apiVersion": "apps/v1", "kind": "StatefulSet", "name": uid, "uid": uid, "controller": true }])
        }
    };
    let ready = if ready { "True" } else { "False" };
    json!({
        "metadata": { "name": name, "namespace": "ns", "ownerReferences": owners, "creationTimestamp": at(NOW - 900) },
        "status": { "phase": "Running", "conditions": [{ "type": "Ready", "status": ready }] },
    })
}

fn of(uid: &str, replicas: i32) -> (String, Scale) {
    (uid.to_owned(), Scale::Of { uid: uid.to_owned(), replicas })
}

fn input(spec: Value, pods: Vec<Value>, scales: Vec<(String, Scale)>) -> Input {
    Input {
        budget: Arc::new(budget(spec)),
        pods: pods.into_iter().map(|pod| Arc::new(typed(pod))).collect(),
        scales: scales.into_iter().collect(),
    }
}

/// Decides, and checks that deciding again, with the decision applied, changes nothing.
fn settled(input: &mut Input, now: i64) -> Settled {
    let Plan::Settled(first) = decide(input, at(now)) else { panic!("all scales are known") };
    if let Some(status) = &first.status {
        let mut budget = (*input.budget).clone();
        budget.status = Some(status.clone());
        input.budget = Arc::new(budget);
    }
    let Plan::Settled(again) = decide(input, at(now)) else { panic!("all scales are known") };
    assert_eq!((again.status, again.notes), (None, Vec::new()), "deciding again");
    assert_eq!(again.next, first.next);
    // An hour later, too, if nothing waits.
    if first.next == Next::Done {
        assert_eq!(settle(input, at(now + 3600)).status, None);
    }
    first
}

/// Healthy, desired, expected, allowed.
fn numbers(status: &PodDisruptionBudgetStatus) -> [i32; 4] {
    [status.current_healthy, status.desired_healthy, status.expected_pods, status.disruptions_allowed]
        .map(|number| number.expect("always written"))
}

fn condition(status: &PodDisruptionBudgetStatus) -> (&str, &str, &str) {
    let [condition] = status.conditions.as_deref().unwrap_or_default() else { panic!("one condition") };
    assert_eq!(condition.type_, "DisruptionAllowed");
    (&condition.status, &condition.reason, &condition.message)
}

#[test]
fn budgets_are_counted() {
    let ready = |n: usize, owner: &str| (0..n).map(|i| pod(&format!("{owner}{i}"), true, owner)).collect::<Vec<_>>();
    let with = |mut pods: Vec<Value>, more: Vec<Value>| {
        pods.extend(more);
        pods
    };
    let mut going = pod("going", true, "s");
    going["metadata"]["deletionTimestamp"] = json!(at(NOW));
    let sick = pod("sick", false, "s");
    let two = vec![of("s", 3), of("t", 4)];
    for (what, spec, pods, scales, want) in [
        ("number", json!({ "minAvailable": 2 }), ready(3, "s"), vec![], [3, 2, 3, 1]),
        ("number, nobody's pods", json!({ "minAvailable": 1 }), ready(2, ""), vec![], [2, 1, 2, 1]),
        ("too few", json!({ "minAvailable": 5 }), ready(3, "s"), vec![], [3, 5, 3, 0]),
        ("not ready", json!({ "minAvailable": 2 }), with(ready(2, "s"), vec![sick.clone()]), vec![], [2, 2, 3, 0]),
        ("going", json!({ "minAvailable": 1 }), with(ready(2, "s"), vec![going]), vec![], [2, 1, 3, 1]),
        ("no pods", json!({ "minAvailable": 0 }), vec![], vec![], [0, 0, 0, 0]),
        ("share, rounded up", json!({ "minAvailable": "50%" }), ready(7, "s"), vec![of("s", 7)], [7, 4, 7, 3]),
        ("share of the scale", json!({ "minAvailable": "50%" }), ready(3, "s"), vec![of("s", 10)], [3, 5, 10, 0]),
        ("all", json!({ "minAvailable": "100%" }), ready(3, "s"), vec![of("s", 3)], [3, 3, 3, 0]),
        ("at most", json!({ "maxUnavailable": 1 }), ready(3, "s"), vec![of("s", 3)], [3, 2, 3, 1]),
        ("one missing", json!({ "maxUnavailable": 1 }), ready(2, "s"), vec![of("s", 3)], [2, 2, 3, 0]),
        ("more than all", json!({ "maxUnavailable": 9 }), ready(3, "s"), vec![of("s", 3)], [3, 0, 3, 3]),
        ("share, at most", json!({ "maxUnavailable": "30%" }), ready(7, "s"), vec![of("s", 7)], [7, 4, 7, 3]),
        ("to go", json!({ "maxUnavailable": 1 }), ready(1, "s"), vec![of("s", 0)], [1, 0, 0, 0]),
        ("two", json!({ "maxUnavailable": 2 }), with(ready(3, "s"), ready(4, "t")), two, [7, 5, 7, 2]),
        ("unmanaged", json!({ "maxUnavailable": 1 }), ready(2, ""), vec![], [2, 0, 0, 0]),
        ("neither", json!({}), ready(2, ""), vec![], [2, 0, 0, 0]),
    ] {
        let mut input = input(spec, pods, scales);
        let status = settled(&mut input, NOW).status.expect("it has none yet");
        assert_eq!(numbers(&status), want, "{what}");
        assert_eq!(status.observed_generation, Some(3), "{what}");
        let sufficient = if want[3] > 0 { ("True", "SufficientPods", "") } else { ("False", "InsufficientPods", "") };
        assert_eq!(condition(&status), sufficient, "{what}");
    }
}

/// A Deployment's new ReplicaSet and its old one are one controller.
#[test]
fn a_rollout_is_counted_once() {
    let above = Scale::Of { uid: "deployment".to_owned(), replicas: 3 };
    let scales = vec![("old".to_owned(), above.clone()), ("new".to_owned(), above)];
    let pods = vec![pod("a", true, "old"), pod("b", true, "old"), pod("c", true, "new")];
    let mut input = input(json!({ "maxUnavailable": 1 }), pods, scales);
    assert_eq!(numbers(&settled(&mut input, NOW).status.expect("a status")), [3, 2, 3, 1]);
}

#[test]
fn scales_are_asked_for_only_where_they_count() {
    let pods = vec![pod("a", true, "s"), pod("b", true, "s"), pod("c", true, "t"), pod("d", true, "")];
    let share = input(json!({ "minAvailable": "50%" }), pods.clone(), vec![of("t", 1)]);
    let Plan::Ask { owners, now } = decide(&share, at(NOW)) else { panic!("one is not known") };
    assert_eq!((owners.len(), owners[0].uid.as_str(), now), (1, "s", at(NOW)));
    let number = input(json!({ "minAvailable": 1 }), pods, vec![]);
    assert!(matches!(decide(&number, at(NOW)), Plan::Settled(_)));
}

#[test]
fn what_cannot_be_counted_allows_nothing() {
    let pods = vec![pod("a", true, "s")];
    let mut input = input(json!({ "maxUnavailable": 1 }), pods, vec![of("s", 1)]);
    assert_eq!(numbers(&settled(&mut input, NOW).status.expect("a status")), [1, 0, 1, 1]);
    let failed = Scale::Failed("jobs.batch does not implement the scale subresource".to_owned());
    for (scale, why) in [
        (Scale::Missing, "found no controllers for pod \"a\""),
        (failed, "jobs.batch does not implement the scale subresource"),
    ] {
        input.scales = [("s".to_owned(), scale)].into();
        let settled = settled(&mut input, NOW + 10);
        let status = settled.status.expect("it changes");
        assert_eq!(numbers(&status), [1, 0, 1, 0]);
        assert_eq!(condition(&status), ("False", "SyncFailed", why));
        assert_eq!(settled.notes.len(), 1);
        assert_eq!(
            (settled.notes[0].type_, settled.notes[0].reason),
            (EventType::Warning, "CalculateExpectedPodCountFailed")
        );
    }
    // The first count may fail, too; what the spec wants was not looked at then.
    input.budget = Arc::new(budget(json!({ "maxUnavailable": 1 })));
    let status = settled(&mut input, NOW).status.expect("it has none yet");
    assert_eq!((numbers(&status), status.observed_generation), ([0, 0, 0, 0], None));
    // And it comes back.
    input.scales = [of("s", 1)].into();
    let status = settled(&mut input, NOW + 20).status.expect("it changes");
    assert_eq!(condition(&status), ("True", "SufficientPods", ""));
    assert_eq!(status.observed_generation, Some(3));
}

#[test]
fn granted_evictions_count_as_gone_until_they_are_or_are_given_up() {
    let mut going = pod("going", true, "s");
    going["metadata"]["deletionTimestamp"] = json!(at(NOW));
    let mut again = pod("again", true, "s");
    again["metadata"]["creationTimestamp"] = json!(at(NOW - 50));
    let pods = vec![pod("a", true, "s"), pod("b", true, "s"), pod("late", true, "s"), going, again];
    let mut input = input(json!({ "minAvailable": 1 }), pods, vec![]);
    let mut budget = (*input.budget).clone();
    let noted = json!({
        "a": at(NOW - 60), "b": at(NOW - 30), "late": at(NOW - 120), "gone": at(NOW - 1), "going": at(NOW - 1),
        "again": at(NOW - 60),
    });
    budget.status = Some(typed(json!({ "disruptedPods": noted, "disruptionsAllowed": 0 })));
    input.budget = Arc::new(budget);

    let first = settled(&mut input, NOW);
    let status = first.status.expect("it changes");
    assert_eq!(numbers(&status), [2, 1, 5, 1]);
    let left: Vec<_> = status.disrupted_pods.iter().flatten().map(|(name, _)| name.as_str()).collect();
    assert_eq!(left, ["a", "b"]);
    assert_eq!(first.next, Next::After(std::time::Duration::from_secs(60)));
    let told: Vec<_> = first.notes.iter().map(|note| (note.reason, note.message.as_str())).collect();
    assert_eq!(told, [("NotDeleted", "Pod was expected by PDB ns/b to be deleted but it wasn't")]);
    assert_eq!(first.notes[0].about, About::Pod(input.pods[2].clone()));

    let second = settled(&mut input, NOW + 60);
    assert_eq!(numbers(&second.status.expect("it changes")), [3, 1, 5, 2]);
    assert_eq!(second.next, Next::After(std::time::Duration::from_secs(30)));
    let third = settled(&mut input, NOW + 90);
    let status = third.status.expect("it changes");
    assert_eq!((numbers(&status), status.disrupted_pods, third.next), ([4, 1, 5, 3], None, Next::Done));
}

/// The condition tells since when it is so.
#[test]
fn a_condition_keeps_its_time_until_it_changes() {
    let pods = vec![pod("a", true, "s"), pod("b", true, "s"), pod("c", true, "s")];
    let mut input = input(json!({ "minAvailable": 1 }), pods, vec![]);
    let since = |status: &PodDisruptionBudgetStatus| status.conditions.as_ref().map(|c| c[0].last_transition_time.0);
    assert_eq!(since(&settled(&mut input, NOW).status.expect("a status")), Some(at(NOW)));
    input.pods.pop();
    assert_eq!(since(&settled(&mut input, NOW + 5).status.expect("a status")), Some(at(NOW)));
    input.pods.pop();
    assert_eq!(since(&settled(&mut input, NOW + 9).status.expect("a status")), Some(at(NOW + 9)));
}

#[test]
fn selectors_select_as_they_should() {
    let labels: labels::Labels = [("app".to_owned(), "web".to_owned())].into();
    for (spec, want) in [
        (json!({}), false),
        (json!({ "selector": {} }), true),
        (json!({ "selector": { "matchLabels": { "app": "web" } } }), true),
        (json!({ "selector": { "matchLabels": { "app": "db" } } }), false),
    ] {
        assert_eq!(selects(&budget(spec.clone()), Some(&labels)), want, "{spec}");
    }
}
