//! Classification and seats, in tables.

use std::sync::Arc;

use api::UserInfo;
use serde_json::{Value, json};

use super::{
    levels::{Answer, Levels, Limits},
    schemas::Table,
};
use crate::auth::Question;

fn level(name: &str, shares: u64) -> Value {
    json!({"metadata": {"name": name, "uid": format!("{name}-uid")}, "spec": {"type": "Limited", "limited": {"nominalConcurrencyShares": shares,
        "limitResponse": {"type": "Queue", "queuing": {"queues": 4, "handSize": 2, "queueLengthLimit": 1}}}}})
}

fn schema(name: &str, level: &str, precedence: u64, subject: Value, rule: Value) -> Value {
    json!({"metadata": {"name": name, "uid": format!("{name}-uid")}, "spec": {"matchingPrecedence": precedence,
        "priorityLevelConfiguration": {"name": level}, "distinguisherMethod": {"type": "ByNamespace"},
        "rules": [{"subjects": [subject], "resourceRules": [rule]}]}})
}

#[test]
fn the_first_schema_that_matches_decides() {
    let leases = json!({"verbs": ["get", "update"], "apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "namespaces": ["kube-system"]});
    let nodes =
        json!({"verbs": ["*"], "apiGroups": [""], "resources": ["nodes", "nodes/status"], "clusterScope": true});
    let all =
        json!({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": true});
    let schemas = [
        schema("leader", "high", 100, json!({"kind": "User", "user": {"name": "scheduler"}}), leases),
        schema("nodes", "high", 200, json!({"kind": "Group", "group": {"name": "system:nodes"}}), nodes),
        schema(
            "accounts",
            "low",
            900,
            json!({"kind": "ServiceAccount", "serviceAccount": {"namespace": "a", "name": "*"}}),
            all.clone(),
        ),
        schema("dangling", "missing", 2, json!({"kind": "User", "user": {"name": "*"}}), all),
    ];
    let table = Table::build(&schemas, &[level("high", 40), level("low", 20)]);
    let account = "system:serviceaccount:a:sa";
    for (user, groups, verb, group, resource, sub, namespace, want) in [
        ("scheduler", [].as_slice(), "update", "coordination.k8s.io", "leases", "", "kube-system", "leader"),
        ("scheduler", &[], "update", "coordination.k8s.io", "leases", "", "default", "catch-all"),
        ("scheduler", &[], "list", "coordination.k8s.io", "leases", "", "kube-system", "catch-all"),
        ("n", &["system:nodes"], "patch", "", "nodes", "status", "", "nodes"),
        ("n", &["system:nodes"], "patch", "", "nodes", "proxy", "", "catch-all"),
        ("n", &["system:nodes"], "get", "", "pods", "", "x", "catch-all"),
        (account, &[], "delete", "apps", "deployments", "scale", "x", "accounts"),
        ("root", &["system:masters"], "delete", "apps", "deployments", "", "x", "exempt"),
    ] {
        let user = UserInfo::authenticated(user, groups);
        let question = Question {
            verb: verb.into(),
            group: group.into(),
            resource: resource.into(),
            subresource: sub.into(),
            namespace: namespace.into(),
            ..Question::default()
        };
        assert_eq!(table.classify(&user, &question).name, want, "{user:?} {question:?}");
    }
    let path = Question { verb: "get".into(), path: Some("/metrics".into()), ..Question::default() };
    assert_eq!(table.classify(&UserInfo::anonymous(), &path).name, "catch-all");
    let found = table.classify(
        &UserInfo::authenticated(account, &[]),
        &Question { namespace: "ns".into(), verb: "get".into(), resource: "pods".into(), ..Question::default() },
    );
    assert_eq!((found.uid.as_str(), found.level_uid.as_str()), ("accounts-uid", "low-uid"));
}

fn limits(shares: usize, lendable: usize, borrowing: Option<usize>) -> Limits {
    Limits { shares, lendable, borrowing, exempt: false, queue: (2, 3) }
}

fn levels(list: &[(&str, Limits)], total: usize) -> Levels<(u32, bool)> {
    let mut levels = Levels::new(total, |(_, gone)| *gone);
    let list: Vec<(Arc<str>, Limits)> = list.iter().map(|(name, limits)| ((*name).into(), limits.clone())).collect();
    levels.configure(&list);
    levels
}

fn ask(levels: &mut Levels<(u32, bool)>, level: &str, flow: &str, number: u32) -> Answer {
    levels.ask(level, || flow.to_owned(), || (number, false))
}

#[test]
fn no_level_starves_another() {
    // Ten seats: seven and three; the greedy one may use two of the other's.
    let mut levels = levels(&[("election", limits(3, 67, None)), ("tenant", limits(7, 0, None))], 10);
    let granted = (0..20).filter(|n| ask(&mut levels, "tenant", &format!("t{n}"), *n) == Answer::Granted).count();
    assert_eq!(granted, 9);
    // The election's own seats are there nevertheless.
    for n in 0..3 {
        assert_eq!(ask(&mut levels, "election", "e", n), Answer::Granted);
    }
    assert_eq!(ask(&mut levels, "election", "e", 3), Answer::Waits);
    assert_eq!(levels.figures().iter().map(|(_, figures)| figures[1]).sum::<usize>(), 12);
    // What the tenant gives back goes to nobody while more are under way than there are seats.
    levels.release("tenant");
    levels.release("tenant");
    assert!(levels.grant_next().is_none());
    levels.release("election");
    assert_eq!(levels.grant_next().map(|(name, _)| name.to_string()).as_deref(), Some("election"));
}

#[test]
fn borrowing_has_a_limit() {
    let mut levels = levels(&[("a", limits(5, 100, None)), ("b", limits(5, 100, Some(40)))], 10);
    let granted = (0..20).filter(|n| ask(&mut levels, "b", "f", *n) == Answer::Granted).count();
    assert_eq!(granted, 7);
}

#[test]
fn flows_take_turns_and_queues_are_bounded() {
    let mut levels = levels(&[("a", limits(1, 0, Some(0)))], 1);
    assert_eq!(ask(&mut levels, "a", "x", 0), Answer::Granted);
    for (flow, number, want) in [
        ("x", 1, Answer::Waits),
        ("x", 2, Answer::Waits),
        // Two of one flow may wait, and three in all.
        ("x", 3, Answer::Refused),
        ("y", 4, Answer::Waits),
        ("z", 5, Answer::Refused),
    ] {
        assert_eq!(ask(&mut levels, "a", flow, number), want, "{flow} {number}");
    }
    let mut order = Vec::new();
    for _ in 0..4 {
        levels.release("a");
        order.extend(levels.grant_next().map(|(_, (number, _))| number));
    }
    assert_eq!(order, [1, 4, 2]);
    assert_eq!(levels.figures(), [("a".into(), [1, 0, 0, 2])]);
}

#[test]
fn a_flow_has_no_name_until_someone_waits() {
    let mut levels = levels(&[("a", limits(1, 0, None))], 1);
    assert_eq!(levels.ask("a", || panic!("a name for nothing"), || panic!("a waiter for nothing")), Answer::Granted);
}

#[test]
fn who_has_given_up_makes_room() {
    let mut levels = levels(&[("a", limits(1, 0, None))], 1);
    assert_eq!(ask(&mut levels, "a", "x", 0), Answer::Granted);
    for flow in ["x", "y", "z"] {
        assert_eq!(levels.ask("a", || flow.to_owned(), || (1, true)), Answer::Waits);
    }
    assert_eq!(ask(&mut levels, "a", "w", 2), Answer::Waits);
    assert_eq!(levels.figures()[0].1, [1, 1, 1, 0]);
}

#[test]
fn exempt_levels_have_no_limit() {
    let mut levels = levels(&[("exempt", Limits::exempt()), ("a", limits(0, 0, Some(0)))], 5);
    assert_eq!(ask(&mut levels, "exempt", "x", 0), Answer::Exempt);
    assert_eq!(ask(&mut levels, "a", "x", 0), Answer::Waits);
}

#[test]
fn a_level_that_was_gone_let_everything_in() {
    let levels = levels(&[("catch-all", limits(1, 0, None)), ("a", limits(1, 0, None))], 2);
    for (name, want) in [("a", "a"), ("gone", "catch-all")] {
        assert_eq!(&*levels.known(&name.into()), want);
    }
}

#[test]
fn who_waited_in_a_level_that_became_exempt_waited_on() {
    let mut levels = levels(&[("a", limits(1, 0, Some(0))), ("b", limits(9, 0, None))], 10);
    assert_eq!(ask(&mut levels, "a", "x", 0), Answer::Granted);
    assert_eq!(ask(&mut levels, "a", "x", 1), Answer::Waits);
    levels.configure(&[("a".into(), Limits::exempt()), ("b".into(), limits(9, 0, None))]);
    assert_eq!(levels.grant_next().map(|(_, waiter)| waiter), Some((1, false)));
}
