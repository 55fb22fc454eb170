//! Tables of decisions: a small cluster, a pod, and where it goes or why not.

use std::collections::BTreeMap;

use client::slim::{Container, PodSpec, ResourceRequirements};
use k8s_openapi::{
    api::core::v1::{
        Affinity, ContainerPort, NodeAffinity, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, NodeSpec,
        NodeStatus, PodAffinity, PodAffinityTerm, PodAntiAffinity, PreferredSchedulingTerm, Taint, Toleration,
        TopologySpreadConstraint,
    },
    apimachinery::pkg::{api::resource::Quantity, apis::meta::v1::LabelSelector},
};

use super::*;

type Labels = BTreeMap<String, String>;

fn labels(pairs: &[(&str, &str)]) -> Labels {
    pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
}

fn quantities(pairs: &[(&str, &str)]) -> BTreeMap<String, Quantity> {
    pairs.iter().map(|(k, v)| ((*k).to_owned(), Quantity((*v).to_owned()))).collect()
}

fn node(name: &str) -> Node {
    Node {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            labels: Some(labels(&[("kubernetes.io/hostname", name)])),
            ..ObjectMeta::default()
        },
        spec: Some(NodeSpec::default()),
        status: Some(NodeStatus {
            allocatable: Some(quantities(&[("cpu", "2"), ("memory", "2Gi"), ("pods", "10")])),
            ..NodeStatus::default()
        }),
    }
}

fn pod(name: &str, cpu: &str) -> Pod {
    Pod {
        metadata: ObjectMeta {
            namespace: Some("ns".to_owned()),
            name: Some(name.to_owned()),
            uid: Some(format!("uid-{name}")),
            labels: Some(labels(&[("app", "web")])),
            ..ObjectMeta::default()
        },
        spec: Some(PodSpec {
            containers: Box::new([Container {
                resources: Some(ResourceRequirements { requests: Some(quantities(&[("cpu", cpu)])) }),
                ..Container::default()
            }]),
            ..PodSpec::default()
        }),
        status: None,
    }
}

fn with<T>(mut object: T, change: impl FnOnce(&mut T)) -> T {
    change(&mut object);
    object
}

fn spec(pod: &mut Pod) -> &mut PodSpec {
    pod.spec.as_mut().expect("set")
}

fn on(pod: Pod, node: &str) -> Pod {
    with(pod, |p| spec(p).node_name = Some(node.to_owned()))
}

fn cluster(nodes: Vec<Node>, pods: Vec<Pod>) -> Cluster {
    let mut cluster = Cluster::default();
    nodes.into_iter().for_each(|node| cluster.set_node(&Arc::new(node)));
    pods.into_iter().for_each(|pod| cluster.set_pod(&Arc::new(pod)));
    cluster
}

fn reason(pod: &Pod, cluster: &Cluster) -> String {
    match decide(pod, cluster, 0) {
        Plan::Bind(node) => format!("→ {node}"),
        Plan::Unschedulable(unfit) => unfit.message,
    }
}

fn taint(key: &str, effect: &str) -> Taint {
    Taint { key: key.to_owned(), effect: effect.to_owned(), ..Taint::default() }
}

fn requirement(key: &str, value: &str) -> NodeSelectorRequirement {
    NodeSelectorRequirement { key: key.to_owned(), operator: "In".to_owned(), values: Some(vec![value.to_owned()]) }
}

fn web() -> Option<LabelSelector> {
    Some(LabelSelector { match_labels: Some(labels(&[("app", "web")])), ..LabelSelector::default() })
}

fn term() -> PodAffinityTerm {
    PodAffinityTerm {
        label_selector: web(),
        topology_key: "kubernetes.io/hostname".to_owned(),
        ..PodAffinityTerm::default()
    }
}

fn anti(pod: &mut Pod) {
    let anti = PodAntiAffinity {
        required_during_scheduling_ignored_during_execution: Some(vec![term()]),
        ..PodAntiAffinity::default()
    };
    spec(pod).affinity = Some(Box::new(Affinity { pod_anti_affinity: Some(anti), ..Affinity::default() }));
}

fn together(pod: &mut Pod) {
    let with = PodAffinity {
        required_during_scheduling_ignored_during_execution: Some(vec![term()]),
        ..PodAffinity::default()
    };
    spec(pod).affinity = Some(Box::new(Affinity { pod_affinity: Some(with), ..Affinity::default() }));
}

fn host_port(pod: &mut Pod) {
    let port = ContainerPort { container_port: 80, host_port: Some(80), ..ContainerPort::default() };
    spec(pod).containers[0].ports = Some(Box::new([port]));
}

#[test]
fn no_nodes() {
    assert_eq!(reason(&pod("p", "1"), &cluster(vec![], vec![])), "no nodes available to schedule pods");
}

#[test]
fn why_a_node_is_refused() {
    let one = |change: &dyn Fn(&mut Node)| cluster(vec![with(node("a"), change)], vec![]);
    let plain = || pod("p", "100m");
    let unschedulable = one(&|n| n.spec.as_mut().expect("set").unschedulable = Some(true));
    let tainted = one(&|n| n.spec.as_mut().expect("set").taints = Some(vec![taint("k", "NoSchedule")]));
    let tolerant = with(plain(), |p| {
        let any = Toleration { operator: Some("Exists".to_owned()), ..Toleration::default() };
        spec(p).tolerations = Some(Box::new([any]));
    });
    let selective = with(plain(), |p| spec(p).node_selector = Some(labels(&[("disk", "fast")])));
    let full = cluster(vec![node("a")], (0..10).map(|n| on(pod(&format!("f{n}"), "1m"), "a")).collect());
    let busy = cluster(vec![node("a")], vec![on(pod("busy", "1950m"), "a")]);
    let empty = || one(&|_| ());
    let ports = cluster(vec![node("a")], vec![on(with(pod("other", "1m"), host_port), "a")]);
    let gpu = with(plain(), |p| {
        let requests = quantities(&[("example.com/gpu", "1"), ("memory", "3Gi")]);
        spec(p).containers[0].resources = Some(ResourceRequirements { requests: Some(requests) });
    });
    for (pod, cluster, expected) in [
        (plain(), empty(), "→ a"),
        (plain(), unschedulable, "0/1 nodes are available: 1 node(s) were unschedulable."),
        (plain(), tainted.clone(), "0/1 nodes are available: 1 node(s) had untolerated taint(s)."),
        (tolerant, tainted, "→ a"),
        (selective, empty(), "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."),
        (plain(), full, "0/1 nodes are available: 1 Too many pods."),
        (plain(), busy, "0/1 nodes are available: 1 Insufficient cpu."),
        (gpu, empty(), "0/1 nodes are available: 1 Insufficient example.com/gpu, 1 Insufficient memory."),
        (
            with(plain(), host_port),
            ports,
            "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.",
        ),
    ] {
        assert_eq!(reason(&pod, &cluster), expected);
    }
}

#[test]
fn reasons_are_counted_over_nodes() {
    let tainted = with(node("b"), |n| n.spec.as_mut().expect("set").taints = Some(vec![taint("k", "NoExecute")]));
    let cluster = cluster(vec![node("a"), tainted, node("c")], vec![]);
    assert_eq!(
        reason(&pod("p", "4"), &cluster),
        "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu."
    );
}

#[test]
fn the_better_node_is_chosen() {
    let soft = with(node("a"), |n| n.spec.as_mut().expect("set").taints = Some(vec![taint("k", "PreferNoSchedule")]));
    let preferring = with(pod("p", "100m"), |p| {
        let preference = NodeSelectorTerm {
            match_expressions: Some(vec![requirement("kubernetes.io/hostname", "b")]),
            ..NodeSelectorTerm::default()
        };
        let preferred = vec![PreferredSchedulingTerm { weight: 10, preference }];
        let affinity = NodeAffinity {
            preferred_during_scheduling_ignored_during_execution: Some(preferred),
            ..NodeAffinity::default()
        };
        spec(p).affinity = Some(Box::new(Affinity { node_affinity: Some(affinity), ..Affinity::default() }));
    });
    let requiring = with(pod("p", "100m"), |p| {
        let by_name = NodeSelectorTerm {
            match_fields: Some(vec![requirement("metadata.name", "b")]),
            ..NodeSelectorTerm::default()
        };
        let affinity = NodeAffinity {
            required_during_scheduling_ignored_during_execution: Some(NodeSelector {
                node_selector_terms: vec![by_name],
            }),
            ..NodeAffinity::default()
        };
        spec(p).affinity = Some(Box::new(Affinity { node_affinity: Some(affinity), ..Affinity::default() }));
    });
    let both = || vec![node("a"), node("b")];
    let stranger = with(pod("s", "1"), |p| p.metadata.labels = None);
    let service = Service {
        metadata: ObjectMeta { namespace: Some("ns".to_owned()), ..ObjectMeta::default() },
        spec: Some(k8s_openapi::api::core::v1::ServiceSpec {
            selector: Some(labels(&[("app", "web")])),
            ..Default::default()
        }),
        status: None,
    };
    let mut served = cluster(both(), vec![on(pod("there", "10m"), "a")]);
    served.services.insert(ObjectKey::new("ns", "web"), Arc::new(service));
    for (what, pod, cluster) in [
        ("taint", pod("p", "100m"), cluster(vec![soft, node("b")], vec![])),
        ("least allocated", pod("p", "100m"), cluster(both(), vec![on(stranger, "a")])),
        ("preferred affinity", preferring, cluster(both(), vec![])),
        ("required affinity by name", requiring, cluster(both(), vec![])),
        ("spread over the Service", pod("p", "100m"), served),
    ] {
        assert_eq!(decide(&pod, &cluster, 0), Plan::Bind("b".to_owned()), "{what}");
        assert_eq!(decide(&pod, &cluster, 1), Plan::Bind("b".to_owned()), "{what}");
    }
}

#[test]
fn affinity_between_pods() {
    let both = || vec![node("a"), node("b")];
    let on_a = || vec![on(pod("there", "10m"), "a")];
    let hostile_on_a = || vec![on(with(pod("there", "10m"), anti), "a")];
    assert_eq!(reason(&with(pod("p", "1m"), anti), &cluster(both(), on_a())), "→ b");
    assert_eq!(reason(&pod("p", "1m"), &cluster(both(), hostile_on_a())), "→ b");
    assert_eq!(reason(&with(pod("p", "1m"), together), &cluster(both(), on_a())), "→ a");
    assert_eq!(
        reason(&pod("p", "1m"), &cluster(vec![node("a")], hostile_on_a())),
        "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules."
    );
    assert_eq!(
        reason(&with(pod("p", "1m"), anti), &cluster(vec![node("a")], on_a())),
        "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules."
    );
    // The first of those that want to be together may go anywhere; a stranger may not.
    assert_eq!(reason(&with(pod("p", "1m"), together), &cluster(vec![node("a")], vec![])), "→ a");
    let stranger = with(with(pod("p", "1m"), together), |p| p.metadata.labels = None);
    assert_eq!(
        reason(&stranger, &cluster(vec![node("a")], vec![])),
        "0/1 nodes are available: 1 node(s) didn't match pod affinity rules."
    );
}

#[test]
fn topology_spread_keeps_the_skew() {
    let spread = |p: &mut Pod| {
        spec(p).topology_spread_constraints = Some(Box::new([TopologySpreadConstraint {
            label_selector: web(),
            max_skew: 1,
            topology_key: "kubernetes.io/hostname".to_owned(),
            when_unsatisfiable: "DoNotSchedule".to_owned(),
            ..TopologySpreadConstraint::default()
        }]));
    };
    let there = vec![on(pod("x", "1m"), "a")];
    let on_both = cluster(vec![node("a"), node("b")], there.clone());
    assert_eq!(reason(&with(pod("p", "1m"), spread), &on_both), "→ b");
    let bare = with(node("b"), |n| n.metadata.labels = None);
    let busy_b = with(node("b"), |n| n.spec.as_mut().expect("set").unschedulable = Some(true));
    assert_eq!(
        reason(&with(pod("p", "1m"), spread), &cluster(vec![node("a"), busy_b], there.clone())),
        "0/2 nodes are available: 1 node(s) didn't match pod topology spread constraints, \
         1 node(s) were unschedulable."
    );
    assert_eq!(reason(&with(pod("p", "1m"), spread), &cluster(vec![node("a"), bare], there)), "→ a");
}

#[test]
fn assumed_pods_count_and_deciding_again_changes_nothing() {
    let mut cluster = cluster(vec![node("a")], vec![]);
    let first = Arc::new(pod("first", "1500m"));
    assert_eq!(decide(&first, &cluster, 0), Plan::Bind("a".to_owned()));
    cluster.assume(&first, "a");
    assert_eq!(reason(&pod("second", "1"), &cluster), "0/1 nodes are available: 1 Insufficient cpu.");
    // The pod's own event, still without a node, does not give the place away.
    cluster.set_pod(&first);
    assert!(cluster.is_placed("uid-first"));
    // Nor does it count twice once the API says so.
    cluster.set_pod(&Arc::new(on((*first).clone(), "a")));
    assert_eq!(reason(&pod("second", "500m"), &cluster), "→ a");
    cluster.remove_pod("uid-first");
    assert_eq!(reason(&pod("second", "1"), &cluster), "→ a");
}

#[test]
fn a_failed_binding_gives_the_place_back() {
    let mut cluster = cluster(vec![node("a")], vec![]);
    cluster.assume(&Arc::new(pod("first", "2")), "a");
    cluster.unassume("uid-first");
    assert_eq!(reason(&pod("second", "2"), &cluster), "→ a");
}

#[test]
fn finished_pods_take_no_room() {
    let done = with(on(pod("done", "2"), "a"), |p| {
        p.status.get_or_insert_default().phase = Some("Succeeded".to_owned());
    });
    assert_eq!(reason(&pod("p", "2"), &cluster(vec![node("a")], vec![done])), "→ a");
}
