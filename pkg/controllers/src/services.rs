//! What the controllers of EndpointSlices and Endpoints have in common: which pods are behind a
//! Service, on which ports, and what of a pod matters for that.

use client::{Informer, ObjectKey, labels, slim::Pod};
use k8s_openapi::{
    api::core::v1::{ObjectReference, Service, ServicePort},
    apimachinery::pkg::util::intstr::IntOrString,
};
use kube::ResourceExt as _;

use crate::pods;

/// The label by which a slice names its Service.
pub const SERVICE_NAME: &str = "kubernetes.io/service-name";
/// The label of endpoints of Services without a cluster address.
pub const HEADLESS: &str = "service.kubernetes.io/headless";

/// Whether endpoints of the Service are made here: it selects pods.
pub fn has_endpoints(service: &Service) -> bool {
    let Some(spec) = &service.spec else { return false };
    spec.type_.as_deref() != Some("ExternalName") && spec.selector.as_ref().is_some_and(|s| !s.is_empty())
}

/// Whether the Service has no cluster address.
pub fn is_headless(service: &Service) -> bool {
    service.spec.as_ref().and_then(|s| s.cluster_ip.as_deref()) == Some("None")
}

/// Whether the Service selects the pod.
pub fn selects(service: &Service, pod: &Pod) -> bool {
    let selector = service.spec.as_ref().and_then(|s| s.selector.as_ref());
    service.metadata.namespace == pod.metadata.namespace
        && has_endpoints(service)
        && selector.is_some_and(|s| labels::contains(pod.metadata.labels.as_ref(), s))
}

/// The Services that select a pod.
pub fn of_pod(services: &Informer<Service>, pod: &Pod) -> Vec<ObjectKey> {
    services.select(|service| selects(service, pod)).iter().map(|service| ObjectKey::of(&**service)).collect()
}

/// Whether a change of a pod can change endpoints.
pub fn matters(old: &Pod, new: &Pod) -> bool {
    let view = |pod: &Pod| {
        let (spec, status) = (pod.spec.clone().unwrap_or_default(), pod.status.clone().unwrap_or_default());
        (
            pod.metadata.labels.clone(),
            pod.metadata.deletion_timestamp.is_some(),
            (spec.node_name, spec.hostname, spec.subdomain),
            (status.pod_ips, status.pod_ip, pods::is_ready(pod), pods::is_finished(pod)),
        )
    };
    view(old) != view(new)
}

/// A pod's addresses.
pub fn addresses(pod: &Pod) -> Vec<String> {
    let Some(status) = &pod.status else { return Vec::new() };
    let several: Vec<_> = status.pod_ips.iter().flatten().map(|ip| ip.ip.clone()).filter(|ip| !ip.is_empty()).collect();
    if several.is_empty() { status.pod_ip.iter().filter(|ip| !ip.is_empty()).cloned().collect() } else { several }
}

/// The number that a Service's port has on a pod; `None` if the pod has no port of that name.
pub fn target_port(port: &ServicePort, pod: &Pod) -> Option<i32> {
    match &port.target_port {
        None => Some(port.port),
        Some(IntOrString::Int(0)) => Some(port.port),
        Some(IntOrString::Int(number)) => Some(*number),
        Some(IntOrString::String(name)) if name.is_empty() => Some(port.port),
        Some(IntOrString::String(name)) => {
            let protocol = port.protocol.as_deref().unwrap_or("TCP");
            let spec = pod.spec.as_ref()?;
            let sidecars =
                spec.init_containers.iter().flatten().filter(|c| c.restart_policy.as_deref() == Some("Always"));
            let mut ports = spec.containers.iter().chain(sidecars).flat_map(|c| c.ports.iter().flatten());
            let found =
                ports.find(|p| p.name.as_ref() == Some(name) && p.protocol.as_deref().unwrap_or("TCP") == protocol);
            found.map(|p| p.container_port)
        }
    }
}

/// The name by which a pod is found beneath a headless Service.
pub fn hostname(service: &Service, pod: &Pod) -> Option<String> {
    let spec = pod.spec.as_ref()?;
    let hostname = spec.hostname.clone().filter(|h| !h.is_empty())?;
    (spec.subdomain.as_deref() == Some(&service.name_any())).then_some(hostname)
}

/// A reference to a pod, as endpoints carry it.
pub fn pod_reference(pod: &Pod) -> ObjectReference {
    ObjectReference {
        kind: Some("Pod".to_owned()),
        namespace: pod.metadata.namespace.clone(),
        name: pod.metadata.name.clone(),
        uid: pod.metadata.uid.clone(),
        ..ObjectReference::default()
    }
}
