//! Slices decided from Services, pods and nodes.

use client::slim::{Container, PodSpec, PodStatus};
use k8s_openapi::{
    api::core::v1::{ContainerPort, PodCondition, PodIP, ServicePort, ServiceSpec},
    apimachinery::pkg::{apis::meta::v1::Time, util::intstr::IntOrString},
};

use kube::ResourceExt;

use super::*;

fn service(target: IntOrString) -> Service {
    Service {
        metadata: ObjectMeta {
            namespace: Some("ns".to_owned()),
            name: Some("web".to_owned()),
            uid: Some("service-uid".to_owned()),
            ..ObjectMeta::default()
        },
        spec: Some(ServiceSpec {
            cluster_ip: Some("10.43.0.7".to_owned()),
            selector: Some([("app".to_owned(), "web".to_owned())].into()),
            ports: Some(vec![ServicePort { port: 80, target_port: Some(target), ..ServicePort::default() }]),
            ..ServiceSpec::default()
        }),
        status: None,
    }
}

fn number() -> IntOrString {
    IntOrString::Int(8080)
}

/// A ready pod, the `n`-th, with port `web` of the given number.
fn pod_with_port(n: usize, port: i32) -> Pod {
    Pod {
        metadata: ObjectMeta {
            namespace: Some("ns".to_owned()),
            name: Some(format!("p{n:04}")),
            uid: Some(format!("uid-{n:04}")),
            labels: Some([("app".to_owned(), "web".to_owned())].into()),
            ..ObjectMeta::default()
        },
        spec: Some(PodSpec {
            node_name: Some("node".to_owned()),
            containers: Box::new([Container {
                ports: Some(Box::new([ContainerPort {
                    name: Some("web".to_owned()),
                    container_port: port,
                    ..ContainerPort::default()
                }])),
                ..Container::default()
            }]),
            ..PodSpec::default()
        }),
        status: Some(PodStatus {
            phase: Some("Running".to_owned()),
            pod_ips: Some(Box::new([PodIP { ip: format!("10.42.{}.{}", n / 250, n % 250 + 1) }])),
            conditions: Some(Box::new([PodCondition {
                type_: "Ready".to_owned(),
                status: "True".to_owned(),
                ..PodCondition::default()
            }])),
            ..PodStatus::default()
        }),
    }
}

fn pod(n: usize) -> Pod {
    pod_with_port(n, 8080)
}

fn with(mut pod: Pod, change: impl FnOnce(&mut Pod)) -> Pod {
    change(&mut pod);
    pod
}

fn input(service: Service, pods: Vec<Pod>, slices: Vec<EndpointSlice>) -> Input {
    Input {
        service: Arc::new(service),
        pods: pods.into_iter().map(Arc::new).collect(),
        slices: slices.into_iter().map(Arc::new).collect(),
        zones: [("node".to_owned(), "zone-1".to_owned())].into(),
    }
}

/// The slices after a plan.
fn carry_out(slices: Vec<EndpointSlice>, plan: &Plan) -> Vec<EndpointSlice> {
    let mut slices: Vec<_> = slices
        .into_iter()
        .filter(|slice| !plan.delete.iter().any(|d| d.name_any() == slice.name_any()))
        .map(|slice| plan.update.iter().find(|u| u.name_any() == slice.name_any()).cloned().unwrap_or(slice))
        .collect();
    for made in &plan.create {
        let mut made = made.clone();
        made.metadata.name = Some(format!("web-{}", slices.len()));
        slices.push(made);
    }
    slices
}

fn sizes(slices: &[EndpointSlice]) -> Vec<usize> {
    slices.iter().map(|slice| slice.endpoints.as_ref().map_or(0, Vec::len)).collect()
}

#[test]
fn conditions_tell_what_may_be_used() {
    let unready = |p: &mut Pod| p.status.as_mut().expect("set").conditions = None;
    let leaving = |p: &mut Pod| p.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
    for (what, pod, publishes, expected) in [
        ("ready", pod(1), false, (true, true, false)),
        ("not ready", with(pod(1), unready), false, (false, false, false)),
        ("not ready, published", with(pod(1), unready), true, (true, false, false)),
        ("leaving, still serving", with(pod(1), leaving), false, (false, true, true)),
    ] {
        let mut service = service(number());
        service.spec.as_mut().expect("set").publish_not_ready_addresses = Some(publishes);
        let plan = decide(&input(service, vec![pod], vec![]));
        let endpoint = &plan.create[0].endpoints.as_ref().expect("has one")[0];
        let conditions = endpoint.conditions.as_ref().expect("set");
        let seen = (conditions.ready, conditions.serving, conditions.terminating);
        assert_eq!(seen, (Some(expected.0), Some(expected.1), Some(expected.2)), "{what}");
        assert_eq!(endpoint.zone.as_deref(), Some("zone-1"));
    }
}

#[test]
fn pods_without_address_or_finished_are_left_out() {
    let bare = with(pod(1), |p| p.status.as_mut().expect("set").pod_ips = None);
    let done = with(pod(2), |p| p.status.as_mut().expect("set").phase = Some("Succeeded".to_owned()));
    let plan = decide(&input(service(number()), vec![bare, done], vec![]));
    assert_eq!(sizes(&plan.create), [0]);
    assert_eq!(plan.create[0].ports, None);
}

#[test]
fn named_ports_that_differ_make_slices_of_their_own() {
    let named = service(IntOrString::String("web".to_owned()));
    let plan = decide(&input(named, vec![pod_with_port(1, 8080), pod_with_port(2, 9090), pod(3)], vec![]));
    let seen: Vec<_> = plan
        .create
        .iter()
        .map(|slice| (slice.ports.as_ref().expect("has one")[0].port, slice.endpoints.as_ref().map_or(0, Vec::len)))
        .collect();
    assert_eq!(seen, [(Some(8080), 2), (Some(9090), 1)]);
}

#[test]
fn slices_hold_a_hundred_and_endpoints_stay_where_they_are() {
    let pods: Vec<_> = (0..250).map(pod).collect();
    let plan = decide(&input(service(number()), pods.clone(), vec![]));
    assert_eq!(sizes(&plan.create), [100, 100, 50]);
    let slices = carry_out(vec![], &plan);
    assert_eq!(decide(&input(service(number()), pods.clone(), slices.clone())), Plan::default());

    // One goes from the first slice: only that one is written. One comes: the fullest with room.
    let fewer: Vec<_> = pods.iter().skip(1).cloned().collect();
    let plan = decide(&input(service(number()), fewer.clone(), slices.clone()));
    assert_eq!((plan.create.len(), plan.update.len(), plan.delete.len()), (0, 1, 0));
    let slices = carry_out(slices, &plan);
    let more: Vec<_> = fewer.into_iter().chain([pod(300)]).collect();
    let plan = decide(&input(service(number()), more, slices.clone()));
    assert_eq!(plan.update.iter().map(ResourceExt::name_any).collect::<Vec<_>>(), ["web-0"]);
}

#[test]
fn the_last_slice_stays_when_all_endpoints_go() {
    let slices = carry_out(vec![], &decide(&input(service(number()), vec![pod(1)], vec![])));
    let plan = decide(&input(service(number()), vec![], slices.clone()));
    let slices = carry_out(slices, &plan);
    assert_eq!(sizes(&slices), [0]);
    assert_eq!(decide(&input(service(number()), vec![], slices)), Plan::default());
}

#[test]
fn headless_services_and_hostnames_are_marked() {
    let mut headless = service(number());
    headless.spec.as_mut().expect("set").cluster_ip = Some("None".to_owned());
    let named = with(pod(1), |p| {
        let spec = p.spec.as_mut().expect("set");
        (spec.hostname, spec.subdomain) = (Some("db-0".to_owned()), Some("web".to_owned()));
    });
    let plan = decide(&input(headless, vec![named], vec![]));
    assert_eq!(label(&plan.create[0], services::HEADLESS), Some(""));
    assert_eq!(plan.create[0].endpoints.as_ref().expect("has one")[0].hostname.as_deref(), Some("db-0"));
}
