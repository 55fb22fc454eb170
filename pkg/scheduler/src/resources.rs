//! What pods ask for and nodes have, in whole numbers.

use std::collections::BTreeMap;

use client::slim::{Container, Pod};
use k8s_openapi::{api::core::v1::Node, apimachinery::pkg::api::resource::Quantity};

type List = BTreeMap<String, Quantity>;

/// Amounts by resource: `cpu` in thousandths, everything else in units (bytes, pieces).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resources(BTreeMap<String, i64>);

/// What counts for scoring where a container asks for nothing.
const DEFAULT_MILLI_CPU: i64 = 100;
const DEFAULT_MEMORY: i64 = 200 * 1024 * 1024;

impl Resources {
    fn parse(list: Option<&List>) -> Self {
        let amount = |name: &str, quantity: &Quantity| {
            let quantity: api::quantity::Quantity = quantity.0.parse().ok()?;
            Some(if name == "cpu" { quantity.milli() } else { quantity.value() })
        };
        let parsed = list.into_iter().flatten();
        Resources(parsed.filter_map(|(name, q)| Some((name.clone(), amount(name, q)?))).collect())
    }

    /// What a node can give to pods.
    pub fn allocatable(node: &Node) -> Self {
        Self::parse(node.status.as_ref().and_then(|s| s.allocatable.as_ref()))
    }

    /// What a pod asks for: its containers together, or the largest step of its start if that is
    /// more, and its overhead. Init containers that keep running count from their step on.
    pub fn requested(pod: &Pod) -> Self {
        Self::of_pod(pod, |container| Self::parse(container.resources.as_ref().and_then(|r| r.requests.as_ref())))
    }

    /// As [`Resources::requested`], for scoring: containers that ask for nothing count a little.
    pub fn requested_for_score(pod: &Pod) -> Self {
        Self::of_pod(pod, |container| {
            let mut requests = Self::parse(container.resources.as_ref().and_then(|r| r.requests.as_ref()));
            requests.0.entry("cpu".to_owned()).or_insert(DEFAULT_MILLI_CPU);
            requests.0.entry("memory".to_owned()).or_insert(DEFAULT_MEMORY);
            requests
        })
    }

    fn of_pod(pod: &Pod, of_container: impl Fn(&Container) -> Resources) -> Self {
        let Some(spec) = &pod.spec else { return Self::default() };
        let mut running = Self::default();
        let mut peak = Self::default();
        for container in spec.init_containers.iter().flatten() {
            let requests = of_container(container);
            if container.restart_policy.as_deref() == Some("Always") {
                running.add(&requests);
                peak.raise_to(&running);
            } else {
                let mut step = running.clone();
                step.add(&requests);
                peak.raise_to(&step);
            }
        }
        spec.containers.iter().for_each(|container| running.add(&of_container(container)));
        running.raise_to(&peak);
        // Requests of the pod as a whole replace the sum, where they are given.
        for (name, amount) in Self::parse(spec.resources.as_ref().and_then(|r| r.requests.as_ref())).0 {
            running.0.insert(name, amount);
        }
        running.add(&Self::parse(spec.overhead.as_ref()));
        running
    }

    /// The amount of one resource; 0 if there is none.
    pub fn get(&self, name: &str) -> i64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    /// All amounts.
    pub fn iter(&self) -> impl Iterator<Item = (&str, i64)> {
        self.0.iter().map(|(name, amount)| (name.as_str(), *amount))
    }

    /// Adds.
    pub fn add(&mut self, other: &Resources) {
        for (name, amount) in &other.0 {
            let sum = self.0.entry(name.clone()).or_default();
            *sum = sum.saturating_add(*amount);
        }
    }

    /// Subtracts.
    pub fn remove(&mut self, other: &Resources) {
        for (name, amount) in &other.0 {
            let rest = self.0.entry(name.clone()).or_default();
            *rest = rest.saturating_sub(*amount);
        }
    }

    fn raise_to(&mut self, other: &Resources) {
        for (name, amount) in &other.0 {
            let most = self.0.entry(name.clone()).or_default();
            *most = (*most).max(*amount);
        }
    }
}

#[cfg(test)]
mod tests {
    use client::slim::{PodSpec, ResourceRequirements};

    use super::*;

    fn container(cpu: &str, always: bool) -> Container {
        let requests = [("cpu".to_owned(), Quantity(cpu.to_owned()))].into();
        Container {
            resources: Some(ResourceRequirements { requests: Some(requests) }),
            restart_policy: always.then(|| "Always".to_owned()),
            ..Container::default()
        }
    }

    #[test]
    fn a_pod_needs_its_sum_or_its_largest_start() {
        for (what, init, main, expected) in [
            ("sum", vec![], vec![("100m", false), ("0.2", false)], 300),
            ("large init", vec![("1", false)], vec![("100m", false)], 1000),
            ("sidecar adds up", vec![("50m", true)], vec![("100m", false)], 150),
            ("init beside a sidecar", vec![("50m", true), ("1", false)], vec![("100m", false)], 1050),
        ] {
            let make = |list: Vec<(&str, bool)>| list.into_iter().map(|(cpu, always)| container(cpu, always)).collect();
            let spec = PodSpec { init_containers: Some(make(init)), containers: make(main), ..PodSpec::default() };
            let pod = Pod { spec: Some(spec), ..Pod::default() };
            assert_eq!(Resources::requested(&pod).get("cpu"), expected, "{what}");
        }
    }
}
