//! What upstream yields for kinds that a client left half empty.

use serde_json::json;

use super::*;
use crate::schema::ids;

/// Defaults once, and checks that a second time changes nothing.
fn defaulted(root: TypeId, mut value: Value) -> Value {
    let schema = builtin();
    apply(&schema, root, &mut value);
    let once = value.clone();
    apply(&schema, root, &mut value);
    assert_eq!(value, once, "applying again changes nothing");
    value
}

#[test]
fn pod() {
    let got = defaulted(
        ids::CORE_V1_POD,
        json!({"metadata": {"name": "p"}, "spec": {
            "hostNetwork": true, "serviceAccount": "s",
            "containers": [{
                "name": "c", "image": "nginx", "ports": [{"containerPort": 80}],
                "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}},
                "livenessProbe": {"httpGet": {"port": 80}},
                "env": [{"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
            }],
            "volumes": [
                {"name": "a"}, {"name": "b", "configMap": {"name": "m"}}, {"name": "h", "hostPath": {"path": "/"}},
                {"name": "t", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}},
            ],
        }}),
    );
    let want = json!({
        "metadata": {"name": "p"}, "status": {},
        "spec": {
            "hostNetwork": true, "serviceAccount": "s", "serviceAccountName": "s", "dnsPolicy": "ClusterFirst",
            "restartPolicy": "Always", "securityContext": {}, "terminationGracePeriodSeconds": 30,
            "schedulerName": "default-scheduler", "enableServiceLinks": true,
            "containers": [{
                "name": "c", "image": "nginx", "imagePullPolicy": "Always",
                "ports": [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}],
                "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m", "memory": "1Gi"}},
                "livenessProbe": {
                    "httpGet": {"port": 80, "path": "/", "scheme": "HTTP"}, "timeoutSeconds": 1,
                    "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3,
                },
                "env": [{"name": "N", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}}],
                "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
            }],
            "volumes": [
                {"name": "a", "emptyDir": {}}, {"name": "b", "configMap": {"name": "m", "defaultMode": 420}},
                {"name": "h", "hostPath": {"path": "/", "type": ""}},
                {"name": "t", "projected": {
                    "sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 3600}}],
                    "defaultMode": 420,
                }},
            ],
        },
    });
    assert_eq!(got, want);
}

#[test]
fn deployment_and_its_template() {
    let got = defaulted(
        ids::APPS_V1_DEPLOYMENT,
        json!({"metadata": {"name": "d"}, "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [
                {"name": "c", "image": "x:1", "resources": {"limits": {"cpu": "1"}}}]}},
        }}),
    );
    let want = json!({
        "metadata": {"name": "d"}, "status": {},
        "spec": {
            "replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600,
            "selector": {"matchLabels": {"a": "b"}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {
                "containers": [{
                    "name": "c", "image": "x:1", "imagePullPolicy": "IfNotPresent",
                    "resources": {"limits": {"cpu": "1"}},
                    "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
                }],
                "dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "securityContext": {},
                "terminationGracePeriodSeconds": 30, "schedulerName": "default-scheduler",
            }},
        },
    });
    assert_eq!(got, want);
    let recreate = defaulted(ids::APPS_V1_DEPLOYMENT, json!({"spec": {"strategy": {"type": "Recreate"}}}));
    assert_eq!(recreate["spec"]["strategy"], json!({"type": "Recreate"}));
    let zero = defaulted(ids::APPS_V1_DEPLOYMENT, json!({"spec": {"replicas": 0}}));
    assert_eq!(zero["spec"]["replicas"], 0);
}

#[test]
fn services() {
    let spec = |spec: Value| defaulted(ids::CORE_V1_SERVICE, json!({"spec": spec}))["spec"].clone();
    assert_eq!(
        spec(json!({"ports": [{"port": 80}, {"port": 53, "protocol": "UDP", "targetPort": "dns"}]})),
        json!({
            "type": "ClusterIP", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster",
            "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80},
                      {"port": 53, "protocol": "UDP", "targetPort": "dns"}],
        })
    );
    let balanced = spec(json!({"type": "LoadBalancer", "sessionAffinity": "ClientIP"}));
    assert_eq!(balanced["externalTrafficPolicy"], "Cluster");
    assert_eq!(balanced["allocateLoadBalancerNodePorts"], true);
    assert_eq!(balanced["sessionAffinityConfig"], json!({"clientIP": {"timeoutSeconds": 10800}}));
    let named = spec(json!({"type": "ExternalName", "externalName": "x"}));
    assert_eq!(named, json!({"type": "ExternalName", "externalName": "x", "sessionAffinity": "None"}));
    let status = defaulted(ids::CORE_V1_SERVICE, json!({}))["status"].clone();
    assert_eq!(status, json!({"loadBalancer": {}}));
}

#[test]
fn a_default_that_upstream_does_not_write_is_not_written() {
    let got = defaulted(ids::CORE_V1_REPLICATION_CONTROLLER, json!({"spec": {"selector": {"a": "b"}}}));
    assert_eq!(got["spec"], json!({"selector": {"a": "b"}, "replicas": 1}));
    let reference = json!({"optional": true});
    assert_eq!(defaulted(ids::CORE_V1_CONFIG_MAP_ENV_SOURCE, reference.clone()), reference);
}

#[test]
fn other_kinds() {
    let cases = [
        (ids::CORE_V1_SECRET, json!({}), "/type", json!("Opaque")),
        (ids::CORE_V1_NAMESPACE, json!({}), "/status/phase", json!("Active")),
        (
            ids::RBAC_V1_ROLE_BINDING,
            json!({"roleRef": {"kind": "Role", "name": "r"}}),
            "/roleRef",
            json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}),
        ),
        (
            ids::RBAC_V1_CLUSTER_ROLE_BINDING,
            json!({"subjects": [{"kind": "User"}, {"kind": "ServiceAccount"}]}),
            "/subjects",
            json!([{"kind": "User", "apiGroup": "rbac.authorization.k8s.io"}, {"kind": "ServiceAccount"}]),
        ),
        (
            ids::DISCOVERY_V1_ENDPOINT_SLICE,
            json!({"ports": [{"port": 1}]}),
            "/ports",
            json!([{"name": "", "port": 1, "protocol": "TCP"}]),
        ),
        (ids::APPS_V1_REPLICA_SET, json!({}), "/spec/replicas", json!(1)),
        (ids::CORE_V1_REPLICATION_CONTROLLER, json!({"spec": {}}), "/spec/replicas", json!(1)),
        (ids::CORE_V1_NODE, json!({"status": {"capacity": {"cpu": "1500u"}}}), "/status/allocatable/cpu", json!("2m")),
        (ids::CORE_V1_RESOURCE_QUOTA, json!({"spec": {"hard": {"cpu": "1n"}}}), "/spec/hard/cpu", json!("1m")),
        (ids::STORAGE_V1_CSI_DRIVER, json!({"spec": {}}), "/spec/preventPodSchedulingIfMissing", json!(false)),
        (ids::BATCH_V1_CRON_JOB, json!({"spec": {}}), "/spec/failedJobsHistoryLimit", json!(1)),
        (
            ids::CORE_V1_PERSISTENT_VOLUME,
            json!({"spec": {}}),
            "/spec",
            json!({"persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem"}),
        ),
        (
            ids::APPS_V1_STATEFUL_SET,
            json!({}),
            "/spec/updateStrategy",
            json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0, "maxUnavailable": 1}}),
        ),
        (
            ids::APPS_V1_DAEMON_SET,
            json!({}),
            "/spec/updateStrategy/rollingUpdate",
            json!({"maxUnavailable": 1, "maxSurge": 0}),
        ),
        (ids::BATCH_V1_JOB, json!({}), "/spec/backoffLimit", json!(6)),
        (ids::BATCH_V1_JOB, json!({"spec": {"parallelism": 2}}), "/spec/completions", Value::Null),
        (ids::NETWORKING_V1_NETWORK_POLICY, json!({}), "/spec/policyTypes", json!(["Ingress"])),
        (ids::STORAGE_V1_STORAGE_CLASS, json!({}), "/volumeBindingMode", json!("Immediate")),
        (
            ids::CORE_V1_LIMIT_RANGE,
            json!({"spec": {"limits": [{"type": "Container", "max": {"cpu": "2"}, "min": {"memory": "1"}}]}}),
            "/spec/limits/0/defaultRequest",
            json!({"cpu": "2", "memory": "1"}),
        ),
        (
            ids::APIEXTENSIONS_V1_CUSTOM_RESOURCE_DEFINITION,
            json!({"spec": {"names": {"kind": "Foo"}, "versions": [{"name": "v1", "storage": true}]}}),
            "/status/storedVersions",
            json!(["v1"]),
        ),
    ];
    for (root, given, at, want) in cases {
        let got = defaulted(root, given);
        assert_eq!(got.pointer(at).cloned().unwrap_or_default(), want, "{at} in {got}");
    }
}

#[test]
fn every_row_names_a_field_of_its_type() {
    let schema = builtin();
    for (id, fields) in table::FIELDS {
        let ty = schema.get(*id);
        for (name, _) in *fields {
            assert!(ty.field(name).is_some(), "{} has no field {name}", &*ty.name);
        }
    }
}
