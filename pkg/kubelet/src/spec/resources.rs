//! Requests and limits: quality of service, cgroup parents, and the numbers the runtime is given.
//!
//! Rules: <https://kubernetes.io/docs/concepts/workloads/pods/pod-qos/>,
//! <https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/#node-out-of-memory-behavior>.

use std::collections::BTreeMap;

use cri::v1 as rt;
use k8s_openapi::api::core::v1::{Container, Pod};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

use super::containers;

/// The period of the CPU quota, in microseconds.
const QUOTA_PERIOD: i64 = 100_000;
/// The smallest quota the kernel takes, in microseconds.
const MIN_QUOTA: i64 = 1_000;
/// The smallest share the kernel takes.
const MIN_SHARES: i64 = 2;
/// From this priority on, a pod is critical to its node or cluster.
const CRITICAL_PRIORITY: i32 = 2_000_000_000;

/// A quantity in thousandths, rounded up; `None` if it is not a quantity.
pub fn milli(quantity: &Quantity) -> Option<i128> {
    parse(quantity).map(|q| q.milli().into())
}

/// A quantity in whole units, rounded up; `None` if it is not a quantity.
pub fn value(quantity: &Quantity) -> Option<i64> {
    parse(quantity).map(|q| q.value())
}

fn parse(quantity: &Quantity) -> Option<api::quantity::Quantity> {
    quantity.0.parse().ok()
}

/// Quality of service class of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Qos {
    /// Limits of cpu and memory everywhere, equal to the requests.
    Guaranteed,
    /// Something between.
    Burstable,
    /// No request, no limit.
    BestEffort,
}

impl Qos {
    /// As the API spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Qos::Guaranteed => "Guaranteed",
            Qos::Burstable => "Burstable",
            Qos::BestEffort => "BestEffort",
        }
    }
}

fn nonzero(list: Option<&BTreeMap<String, Quantity>>, name: &str) -> Option<i128> {
    list?.get(name).and_then(milli).filter(|v| *v > 0)
}

/// The class that follows from a pod's containers.
pub fn qos(pod: &Pod) -> Qos {
    let (mut any, mut guaranteed) = (false, true);
    for (_, container) in containers(pod) {
        let resources = container.resources.as_ref();
        for name in ["cpu", "memory"] {
            let limit = nonzero(resources.and_then(|r| r.limits.as_ref()), name);
            let request = nonzero(resources.and_then(|r| r.requests.as_ref()), name);
            any |= limit.is_some() || request.is_some();
            guaranteed &= limit.is_some() && (request.is_none() || request == limit);
        }
    }
    match (any, guaranteed) {
        (false, _) => Qos::BestEffort,
        (true, true) => Qos::Guaranteed,
        (true, false) => Qos::Burstable,
    }
}

/// The cgroup under which a pod's sandbox and containers live, below `root` (such as `/kubepods`).
pub fn cgroup_parent(root: &str, pod: &Pod) -> String {
    let uid = pod.metadata.uid.as_deref().unwrap_or_default();
    match qos(pod) {
        Qos::Guaranteed => format!("{root}/pod{uid}"),
        Qos::Burstable => format!("{root}/burstable/pod{uid}"),
        Qos::BestEffort => format!("{root}/besteffort/pod{uid}"),
    }
}

/// All cgroups that a pod may have had, for when its class is not known any more.
pub fn cgroups(root: &str, uid: &str) -> [String; 3] {
    [format!("{root}/pod{uid}"), format!("{root}/burstable/pod{uid}"), format!("{root}/besteffort/pod{uid}")]
}

/// What a container asks for of `name`: its request, or its limit where it has no request.
fn request(container: &Container, name: &str) -> Option<i128> {
    let resources = container.resources.as_ref()?;
    let of = |list: &Option<BTreeMap<String, Quantity>>| list.as_ref().and_then(|l| l.get(name)).and_then(milli);
    of(&resources.requests).or_else(|| of(&resources.limits))
}

/// Cgroup numbers of a container, for a node with `memory` bytes.
pub fn linux(pod: &Pod, container: &Container, memory: u64) -> rt::LinuxContainerResources {
    let limits = container.resources.as_ref().and_then(|r| r.limits.as_ref());
    let cpu = request(container, "cpu").unwrap_or(0);
    let mut linux = rt::LinuxContainerResources {
        cpu_shares: i64::try_from(cpu * 1024 / 1000).unwrap_or(262_144).clamp(MIN_SHARES, 262_144),
        oom_score_adj: oom_score_adj(pod, container, memory),
        ..Default::default()
    };
    if let Some(limit) = nonzero(limits, "cpu") {
        linux.cpu_period = QUOTA_PERIOD;
        linux.cpu_quota = i64::try_from(limit * i128::from(QUOTA_PERIOD) / 1000).unwrap_or(i64::MAX).max(MIN_QUOTA);
    }
    if let Some(limit) = limits.and_then(|l| l.get("memory")).and_then(value).filter(|l| *l > 0) {
        linux.memory_limit_in_bytes = limit;
    }
    linux
}

/// How readily the kernel kills a container when memory runs out: -997 the least, 1000 the most.
fn oom_score_adj(pod: &Pod, container: &Container, memory: u64) -> i64 {
    let critical = pod.spec.as_ref().and_then(|s| s.priority).is_some_and(|p| p >= CRITICAL_PRIORITY);
    match qos(pod) {
        _ if critical => -997,
        Qos::Guaranteed => -997,
        Qos::BestEffort => 1000,
        Qos::Burstable => {
            let bytes = request(container, "memory").unwrap_or(0) / 1000;
            let score = 1000 - 1000 * bytes / i128::from(memory.max(1));
            // 1000 + the score of a guaranteed pod is the lower end, so that a guaranteed pod always goes later.
            i64::try_from(score).unwrap_or(3).clamp(3, 999)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(resources: &[serde_json::Value]) -> Pod {
        let containers: Vec<_> =
            resources.iter().enumerate().map(|(i, r)| json!({"name": format!("c{i}"), "resources": r})).collect();
        serde_json::from_value(json!({"metadata": {"uid": "u"}, "spec": {"containers": containers}})).unwrap()
    }

    #[test]
    fn quantities_are_read() {
        let table = [
            ("1", Some(1000)),
            ("100m", Some(100)),
            ("1.5", Some(1500)),
            ("0.0001", Some(1)),
            ("1Ki", Some(1_024_000)),
            ("2e3", Some(2_000_000)),
            ("5e-1", Some(500)),
            ("100n", Some(1)),
            ("-1", Some(-1000)),
            ("", None),
            ("x", None),
            ("1Q", None),
        ];
        for (text, want) in table {
            assert_eq!(milli(&Quantity(text.into())), want, "{text}");
        }
    }

    #[test]
    fn classes_follow_requests_and_limits() {
        let both = json!({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1000m", "memory": "1Gi"}});
        let table = [
            (vec![json!({})], Qos::BestEffort, "/k/besteffort/podu"),
            (vec![json!({"requests": {"cpu": "0"}})], Qos::BestEffort, "/k/besteffort/podu"),
            (vec![both.clone()], Qos::Guaranteed, "/k/podu"),
            (vec![json!({"limits": {"cpu": "1", "memory": "1Gi"}})], Qos::Guaranteed, "/k/podu"),
            (vec![both, json!({})], Qos::Burstable, "/k/burstable/podu"),
            (vec![json!({"requests": {"memory": "1Mi"}})], Qos::Burstable, "/k/burstable/podu"),
        ];
        for (resources, want, parent) in table {
            let pod = pod(&resources);
            assert_eq!(qos(&pod), want, "{resources:?}");
            assert_eq!(cgroup_parent("/k", &pod), parent);
        }
    }

    #[test]
    fn cgroup_numbers_follow_requests_and_limits() {
        let gi: u64 = 1 << 30;
        let table = [
            (json!({}), (2, 0, 0, 0, 1000)),
            (json!({"requests": {"cpu": "500m"}}), (512, 0, 0, 0, 999)),
            (json!({"limits": {"cpu": "250m"}}), (256, 100_000, 25_000, 0, 999)),
            (json!({"limits": {"cpu": "1m"}}), (2, 100_000, 1_000, 0, 999)),
            (json!({"limits": {"memory": "512Mi"}}), (2, 0, 0, 512 << 20, 500)),
            (json!({"requests": {"memory": "2Gi"}}), (2, 0, 0, 0, 3)),
            (json!({"limits": {"cpu": "1", "memory": "1Mi"}}), (1024, 100_000, 100_000, 1 << 20, -997)),
        ];
        for (resources, want) in table {
            let pod = pod(std::slice::from_ref(&resources));
            let got = linux(&pod, &pod.spec.as_ref().unwrap().containers[0], gi);
            let got = (got.cpu_shares, got.cpu_period, got.cpu_quota, got.memory_limit_in_bytes, got.oom_score_adj);
            assert_eq!(got, want, "{resources}");
        }
    }
}
