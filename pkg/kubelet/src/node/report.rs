//! The status of the Node: a function of the machine, the runtime's health and the status before.

use cri::v1 as rt;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{
    ContainerImage, DaemonEndpoint, Node, NodeAddress, NodeCondition, NodeDaemonEndpoints, NodeStatus,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::RuntimeHealth;
use crate::config::Context;
use crate::pod::status::seconds;

/// Images that are told, the largest first.
const IMAGES: usize = 50;

/// What does not change while the process runs.
pub fn fixed(ctx: &Context, runtime: &str) -> NodeStatus {
    let config = &ctx.config;
    let address = |type_: &str, address: String| NodeAddress { type_: type_.into(), address };
    NodeStatus {
        addresses: Some(vec![
            address("InternalIP", config.node_ip.to_string()),
            address("Hostname", config.hostname.clone()),
        ]),
        capacity: Some(ctx.machine.capacity(config.max_pods)),
        allocatable: Some(ctx.allocatable.clone()),
        daemon_endpoints: Some(NodeDaemonEndpoints {
            kubelet_endpoint: Some(DaemonEndpoint { port: i32::from(config.listen.port()) }),
        }),
        node_info: Some(ctx.machine.info(&config.version, runtime)),
        ..NodeStatus::default()
    }
}

/// The whole status.
pub fn status(
    ctx: &Context,
    node: &Node,
    health: &RuntimeHealth,
    images: Vec<ContainerImage>,
    now: Timestamp,
) -> NodeStatus {
    let old = node.status.as_ref().and_then(|s| s.conditions.clone()).unwrap_or_default();
    NodeStatus {
        conditions: Some(conditions(&old, health, now)),
        images: Some(images).filter(|i| !i.is_empty()),
        ..fixed(ctx, &health.version)
    }
}

/// The node's conditions; one that says the same as before keeps its time.
pub fn conditions(old: &[NodeCondition], health: &RuntimeHealth, now: Timestamp) -> Vec<NodeCondition> {
    let ready = if health.problems.is_empty() {
        ("Ready", "True", "KubeletReady", "kubelet is posting ready status".to_owned())
    } else {
        ("Ready", "False", "KubeletNotReady", health.problems.join(", "))
    };
    let fine = |kind, reason, message: &str| (kind, "False", reason, message.to_owned());
    let all = [
        fine("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        fine("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        fine("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        ready,
    ];
    let now = Some(Time(seconds(now)));
    let make = |(kind, status, reason, message): (&str, &str, &str, String)| {
        let same = old.iter().find(|c| c.type_ == kind && c.status == status);
        NodeCondition {
            type_: kind.into(),
            status: status.into(),
            reason: Some(reason.into()),
            message: Some(message),
            last_heartbeat_time: now.clone(),
            last_transition_time: same.and_then(|c| c.last_transition_time.clone()).or_else(|| now.clone()),
        }
    };
    all.into_iter().map(make).collect()
}

/// Name and version of the runtime.
pub async fn runtime_version(ctx: &Context) -> String {
    let answer = ctx.runtime.cri.runtime.clone().version(rt::VersionRequest::default()).await;
    answer.map(tonic::Response::into_inner).map_or_else(
        |_| String::new(),
        |v| format!("{}://{}", v.runtime_name, v.runtime_version.trim_start_matches('v')),
    )
}

/// The images that the runtime has.
pub async fn images(ctx: &Context) -> Vec<ContainerImage> {
    let request = rt::ListImagesRequest::default();
    let Ok(answer) = ctx.runtime.cri.images.clone().list_images(request).await else { return Vec::new() };
    let mut images = answer.into_inner().images;
    images.sort_by(|a, b| b.size.cmp(&a.size).then_with(|| a.id.cmp(&b.id)));
    let show = |image: rt::Image| ContainerImage {
        names: Some(image.repo_digests.into_iter().chain(image.repo_tags).collect()),
        size_bytes: i64::try_from(image.size).ok(),
    };
    images.into_iter().take(IMAGES).map(show).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_keeps_its_time_while_it_says_the_same() {
        let at = |s| Timestamp::from_second(s).unwrap();
        let good = RuntimeHealth::default();
        let bad = RuntimeHealth { problems: vec!["a".into(), "b".into()], version: String::new() };
        let first = conditions(&[], &good, at(1));
        let second = conditions(&first, &good, at(2));
        let third = conditions(&second, &bad, at(3));
        let ready = |c: &[NodeCondition]| {
            let ready = c.iter().find(|c| c.type_ == "Ready").unwrap().clone();
            (ready.status, ready.message.unwrap(), ready.last_transition_time.unwrap().0.as_second())
        };
        assert_eq!(ready(&first), ("True".into(), "kubelet is posting ready status".into(), 1));
        assert_eq!(ready(&second).2, 1);
        assert_eq!(ready(&third), ("False".into(), "a, b".into(), 3));
    }
}
