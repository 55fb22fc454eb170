//! Pods as control loops keep them: of each the fields that controllers and the scheduler read, named as in
//! `k8s_openapi`, and nothing else. What containers run and see, and most of what kubelets tell, is left out.
//!
//! Guarantees: other fields are passed over; a pod's own lists have no spare room.
//!
//! Caveats: such a pod cannot be written. Whoever needs another field of pods adds it here; an informer of
//! `k8s_openapi`'s pods beside this one would hold them all twice.

use std::collections::BTreeMap;

use k8s_openapi::{
    Metadata, Resource,
    api::core::v1::{
        self as full, Affinity, ContainerPort, PodCondition, PodIP, PodSchedulingGate, Toleration,
        TopologySpreadConstraint,
    },
    apimachinery::pkg::{api::resource::Quantity, apis::meta::v1::ObjectMeta},
};
use serde::{Deserialize, Deserializer};

/// A pod.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Pod {
    /// Without `generateName`.
    #[serde(default, deserialize_with = "tight")]
    pub metadata: ObjectMeta,
    /// What is asked for.
    pub spec: Option<PodSpec>,
    /// What is told of it.
    pub status: Option<PodStatus>,
}

/// What decides on a pod's node, and what Services need.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodSpec {
    /// Rare and large.
    pub affinity: Option<Box<Affinity>>,
    /// At least one, of a pod that the API has accepted.
    #[serde(default)]
    pub containers: Box<[Container]>,
    /// Its name beneath a headless Service.
    pub hostname: Option<String>,
    /// Those with the restart policy `Always` keep running.
    pub init_containers: Option<Box<[Container]>>,
    /// Where it runs.
    pub node_name: Option<String>,
    /// Labels that its node must have.
    pub node_selector: Option<BTreeMap<String, String>>,
    /// What it takes beside its containers.
    pub overhead: Option<BTreeMap<String, Quantity>>,
    /// The higher, the sooner it is scheduled.
    pub priority: Option<i32>,
    /// Those of the pod as a whole.
    pub resources: Option<ResourceRequirements>,
    /// Whose part it is to schedule it.
    pub scheduler_name: Option<String>,
    /// While there are any it is not scheduled.
    pub scheduling_gates: Option<Box<[PodSchedulingGate]>>,
    /// The headless Service.
    pub subdomain: Option<String>,
    /// Taints that it puts up with.
    pub tolerations: Option<Box<[Toleration]>>,
    /// How it is spread.
    pub topology_spread_constraints: Option<Box<[TopologySpreadConstraint]>>,
}

/// A container.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Container {
    /// Some nodes may have it already.
    pub image: Option<String>,
    /// Those of the host are taken from the node; Services refer to names.
    pub ports: Option<Box<[ContainerPort]>>,
    /// What it asks for.
    pub resources: Option<ResourceRequirements>,
    /// Tells init containers that keep running.
    pub restart_policy: Option<String>,
}

/// Without limits.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct ResourceRequirements {
    /// By resource.
    pub requests: Option<BTreeMap<String, Quantity>>,
}

/// How a pod is.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodStatus {
    /// Since when it is ready; why it is not scheduled.
    pub conditions: Option<Box<[PodCondition]>>,
    /// Of all but the init containers.
    pub container_statuses: Option<Box<[ContainerStatus]>>,
    /// Whether it is finished.
    pub phase: Option<String>,
    /// The first of its addresses.
    #[serde(rename = "podIP")]
    pub pod_ip: Option<String>,
    /// One to each family.
    #[serde(rename = "podIPs")]
    pub pod_ips: Option<Box<[PodIP]>>,
}

/// How a container is.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContainerStatus {
    /// Pods that were restarted often go first.
    #[serde(default)]
    pub restart_count: i32,
}

impl Resource for Pod {
    const API_VERSION: &'static str = full::Pod::API_VERSION;
    const GROUP: &'static str = full::Pod::GROUP;
    const KIND: &'static str = full::Pod::KIND;
    const VERSION: &'static str = full::Pod::VERSION;
    const URL_PATH_SEGMENT: &'static str = full::Pod::URL_PATH_SEGMENT;
    type Scope = <full::Pod as Resource>::Scope;
}

impl Metadata for Pod {
    type Ty = ObjectMeta;

    fn metadata(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn metadata_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

/// A decoded list has room for four; `generateName` is the beginning of the name.
fn tight<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ObjectMeta, D::Error> {
    let mut meta = ObjectMeta::deserialize(deserializer)?;
    meta.generate_name = None;
    meta.owner_references.iter_mut().for_each(Vec::shrink_to_fit);
    meta.finalizers.iter_mut().for_each(Vec::shrink_to_fit);
    Ok(meta)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::{
        api::core::v1::{NodeAffinity, NodeSelector},
        apimachinery::pkg::apis::meta::v1::{OwnerReference, Time},
    };
    use serde_json::{Value, json};

    use super::*;

    fn text(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    fn quantities(cpu: &str) -> Option<BTreeMap<String, Quantity>> {
        Some([("cpu".to_owned(), Quantity(cpu.to_owned()))].into())
    }

    const AT: &str = "2026-01-02T03:04:05Z";

    fn time() -> Option<Time> {
        Some(Time(AT.parse().expect("a time")))
    }

    /// With all that control loops read, and more.
    fn object() -> Value {
        json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": "web-x", "generateName": "web-", "namespace": "ns", "uid": "u", "resourceVersion": "7",
                "generation": 1, "creationTimestamp": AT, "deletionTimestamp": AT,
                "labels": { "app": "web" },
                "annotations": { "controller.kubernetes.io/pod-deletion-cost": "3" },
                "finalizers": ["example.com/held"],
                "ownerReferences": [{
                    "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "set",
                    "controller": true, "blockOwnerDeletion": true,
                }],
            },
            "spec": {
                "affinity": { "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [],
                }}},
                "containers": [{
                    "name": "c", "image": "web:1", "command": ["run"], "env": [{ "name": "A", "value": "b" }],
                    "ports": [{ "name": "http", "containerPort": 80, "hostPort": 8080, "protocol": "TCP" }],
                    "resources": { "requests": { "cpu": "1" }, "limits": { "cpu": "2" } },
                    "livenessProbe": { "httpGet": { "port": "http" } },
                    "volumeMounts": [{ "name": "v", "mountPath": "/v" }],
                    "terminationMessagePath": "/dev/termination-log",
                }],
                "initContainers": [{ "name": "i", "image": "side:1", "restartPolicy": "Always" }],
                "dnsPolicy": "ClusterFirst",
                "hostname": "h",
                "nodeName": "n",
                "nodeSelector": { "disk": "fast" },
                "overhead": { "cpu": "3" },
                "priority": 5,
                "resources": { "requests": { "cpu": "4" } },
                "restartPolicy": "Always",
                "schedulerName": "default-scheduler",
                "schedulingGates": [{ "name": "g" }],
                "securityContext": {},
                "serviceAccountName": "default",
                "subdomain": "web",
                "tolerations": [{
                    "key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute",
                    "tolerationSeconds": 300,
                }],
                "topologySpreadConstraints": [{
                    "maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
                }],
                "volumes": [{ "name": "v", "emptyDir": {} }],
            },
            "status": {
                "conditions": [{
                    "type": "Ready", "status": "True", "lastProbeTime": null, "lastTransitionTime": AT,
                    "reason": "R", "message": "m",
                }],
                "containerStatuses": [{
                    "name": "c", "ready": true, "restartCount": 2, "image": "web:1", "imageID": "i",
                    "state": { "running": { "startedAt": AT } },
                }],
                "hostIP": "10.0.0.1",
                "phase": "Running",
                "podIP": "10.42.0.2",
                "podIPs": [{ "ip": "10.42.0.2" }],
                "qosClass": "Burstable",
                "startTime": AT,
            },
        })
    }

    fn metadata() -> ObjectMeta {
        ObjectMeta {
            name: text("web-x"),
            namespace: text("ns"),
            uid: text("u"),
            resource_version: text("7"),
            generation: Some(1),
            creation_timestamp: time(),
            deletion_timestamp: time(),
            labels: Some([("app".to_owned(), "web".to_owned())].into()),
            annotations: Some([("controller.kubernetes.io/pod-deletion-cost".to_owned(), "3".to_owned())].into()),
            finalizers: Some(vec!["example.com/held".to_owned()]),
            owner_references: Some(vec![OwnerReference {
                api_version: "apps/v1".to_owned(),
                kind: "ReplicaSet".to_owned(),
                name: "web".to_owned(),
                uid: "set".to_owned(),
                controller: Some(true),
                block_owner_deletion: Some(true),
            }]),
            ..ObjectMeta::default()
        }
    }

    fn spec() -> PodSpec {
        let node_affinity = NodeAffinity {
            required_during_scheduling_ignored_during_execution: Some(NodeSelector::default()),
            ..NodeAffinity::default()
        };
        let container = Container {
            image: text("web:1"),
            ports: Some(Box::new([ContainerPort {
                name: text("http"),
                container_port: 80,
                host_port: Some(8080),
                protocol: text("TCP"),
                ..ContainerPort::default()
            }])),
            resources: Some(ResourceRequirements { requests: quantities("1") }),
            restart_policy: None,
        };
        let sidecar = Container { image: text("side:1"), restart_policy: text("Always"), ..Container::default() };
        PodSpec {
            affinity: Some(Box::new(Affinity { node_affinity: Some(node_affinity), ..Affinity::default() })),
            containers: Box::new([container]),
            hostname: text("h"),
            init_containers: Some(Box::new([sidecar])),
            node_name: text("n"),
            node_selector: Some([("disk".to_owned(), "fast".to_owned())].into()),
            overhead: quantities("3"),
            priority: Some(5),
            resources: Some(ResourceRequirements { requests: quantities("4") }),
            scheduler_name: text("default-scheduler"),
            scheduling_gates: Some(Box::new([PodSchedulingGate { name: "g".to_owned() }])),
            subdomain: text("web"),
            tolerations: Some(Box::new([Toleration {
                key: text("node.kubernetes.io/not-ready"),
                operator: text("Exists"),
                effect: text("NoExecute"),
                toleration_seconds: Some(300),
                value: None,
            }])),
            topology_spread_constraints: Some(Box::new([TopologySpreadConstraint {
                max_skew: 1,
                topology_key: "zone".to_owned(),
                when_unsatisfiable: "DoNotSchedule".to_owned(),
                ..TopologySpreadConstraint::default()
            }])),
        }
    }

    #[test]
    fn what_control_loops_read_is_kept_and_the_rest_is_not() {
        let status = PodStatus {
            conditions: Some(Box::new([PodCondition {
                type_: "Ready".to_owned(),
                status: "True".to_owned(),
                last_transition_time: time(),
                reason: text("R"),
                message: text("m"),
                ..PodCondition::default()
            }])),
            container_statuses: Some(Box::new([ContainerStatus { restart_count: 2 }])),
            phase: text("Running"),
            pod_ip: text("10.42.0.2"),
            pod_ips: Some(Box::new([PodIP { ip: "10.42.0.2".to_owned() }])),
        };
        let decoded: Pod = serde_json::from_value(object()).expect("a pod");
        assert_eq!(decoded, Pod { metadata: metadata(), spec: Some(spec()), status: Some(status) });
    }

    /// 10,000 pods may take 100 MB of the server, 10 kB each, with their bytes in the watch cache and all that is noted
    /// of them. `k8s_openapi`'s take 2,464 bytes, and 2,336 for each container, before anything that is set.
    #[test]
    fn a_plain_pod_is_small() {
        assert!(size_of::<Pod>() <= 800, "{}", size_of::<Pod>());
        assert!(size_of::<Container>() <= 128, "{}", size_of::<Container>());
    }
}
