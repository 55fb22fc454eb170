//! Sets, controllers, templates, slices and runtime classes.

use super::*;

fn labelled() -> Value {
    workload(json!({"matchLabels": {"app": "web"}}))
}

#[test]
fn stateful_sets() {
    let mut object = labelled();
    object["spec"]["serviceName"] = json!("a.b");
    object["spec"]["ordinals"] = json!({"start": -1});
    object["spec"]["persistentVolumeClaimRetentionPolicy"] = json!({"whenDeleted": "Keep"});
    object["spec"]["volumeClaimTemplates"] =
        json!([{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}]);
    object["spec"]["template"]["spec"]["containers"][0]["volumeMounts"] = json!([{"name": "data", "mountPath": "/d"}]);
    object["spec"]["template"]["spec"]["hostname"] = json!("not.checked");
    let (_, errors) = create("StatefulSet", object.clone());
    assert_eq!(
        texts(&errors),
        [
            "spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: \"Keep\": supported values: \"Retain\", \
         \"Delete\"",
            "spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0",
            "spec.volumeClaimTemplates[0].spec.resources[storage]: Required value",
            "spec.serviceName: Invalid value: \"a.b\": must not contain dots",
        ]
    );
    let old = good("StatefulSet", labelled());
    let (_, errors) = update("StatefulSet", &old, |set| set["spec"]["serviceName"] = json!("b"));
    assert_eq!(texts(&errors), ["spec.serviceName: Invalid value: \"b\": field is immutable"]);
}

#[test]
fn daemon_sets() {
    let rolling = |rolling: Value| {
        let mut object = labelled();
        object["spec"]["updateStrategy"] = json!({"rollingUpdate": rolling});
        texts(&create("DaemonSet", object).1)
    };
    assert!(rolling(json!({"maxUnavailable": 0, "maxSurge": "50%"})).is_empty());
    assert_eq!(
        rolling(json!({"maxUnavailable": 1, "maxSurge": 1})),
        [
            "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero",
        ]
    );
    assert_eq!(
        rolling(json!({"maxUnavailable": 0})),
        ["spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0",]
    );
}

#[test]
fn statuses() {
    let kinds = builtin();
    let of = |name: &str, status: Value| {
        texts(&kind(&kinds, name).strategy.validate_subresource("status", &json!({"status": status}), &json!({})))
    };
    assert!(of("Deployment", json!({"replicas": 2, "readyReplicas": 1, "availableReplicas": 1})).is_empty());
    assert_eq!(
        of("ReplicaSet", json!({"replicas": 1, "readyReplicas": 0, "availableReplicas": 1})),
        ["status.availableReplicas: Invalid value: 1: cannot be greater than readyReplicas",]
    );
    assert_eq!(
        of("StatefulSet", json!({"replicas": 1, "updatedReplicas": 2, "collisionCount": -1})),
        [
            "status.collisionCount: Invalid value: -1: must be greater than or equal to 0",
            "status.updatedReplicas: Invalid value: 2: cannot be greater than status.replicas",
            "status.collisionCount: Invalid value: -1: cannot be decremented",
        ]
    );
}

#[test]
fn templates() {
    let template = |labels: Value| json!({"template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}});
    let old = good("PodTemplate", template(json!({"a": "b"})));
    let kinds = builtin();
    let mut new = old.clone();
    new["metadata"]["labels"] = json!({"x": "y"});
    assert!(!kind(&kinds, "PodTemplate").strategy.generation_moves(&new, &old));
    let (_, errors) = create("PodTemplate", template(json!({"a/b/c": "d"})));
    assert!(errors.0[0].path == "template.labels", "{errors}");
    let (_, errors) = create(
        "ReplicationController",
        json!({"spec": {"selector": {"a": "b"}, "template": {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"restartPolicy": "Never", "activeDeadlineSeconds": 5, "containers": [{"name": "c", "image": "i"}]}}}}),
    );
    assert_eq!(
        texts(&errors),
        [
            "spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: \"Always\"",
            "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicationController is not Supported",
        ]
    );
}

#[test]
fn endpoint_slices() {
    let slice = |family: &str, endpoint: Value| json!({"addressType": family, "endpoints": [endpoint]});
    let cases: &[(Value, &[&str])] = &[
        (
            slice("FQDN", json!({"addresses": ["single"]})),
            &[
                "endpoints[0].addresses[0]: Invalid value: \"single\": should be a domain with at least two segments separated by dots",
            ],
        ),
        (slice("IPv4", json!({"addresses": []})), &["endpoints[0].addresses: Required value"]),
        (
            slice(
                "IPv4",
                json!({"addresses": ["10.0.0.1"], "hints": {"forZones": [{"name": "a"}, {"name": "a"}],
            "forNodes": [{"name": "A"}]}}),
            ),
            &[
                "endpoints[0].hints.forZones[1].name: Duplicate value: \"a\"",
                "endpoints[0].hints.forNodes[0].name: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower \
             case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. \
             'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
            ],
        ),
    ];
    for (object, expected) in cases {
        assert_eq!(texts(&create("EndpointSlice", object.clone()).1), *expected, "{object}");
    }
    let old = good("EndpointSlice", slice("IPv4", json!({"addresses": ["10.0.0.1"]})));
    let (_, errors) = update("EndpointSlice", &old, |slice| slice["addressType"] = json!("FQDN"));
    assert_eq!(texts(&errors), ["addressType: Invalid value: null: field is immutable"]);
}

#[test]
fn runtime_classes() {
    let (_, errors) = create(
        "RuntimeClass",
        json!({"overhead": {"podFixed": {"apples": "1"}}, "scheduling": {"tolerations": [
        {"key": "a", "operator": "Exists"}, {"key": "a", "operator": "Exists"}]}}),
    );
    assert_eq!(
        texts(&errors),
        [
            "overhead.limits[apples]: Invalid value: \"apples\": must be a standard resource type or fully qualified",
            "overhead.limits[apples]: Invalid value: \"apples\": must be a standard resource for containers",
            "scheduling.tolerations[1]: Duplicate value: {\"key\":\"a\",\"operator\":\"Exists\"}",
            "handler: Required value",
        ]
    );
    let old = good("RuntimeClass", json!({"handler": "runc"}));
    let (_, errors) = update("RuntimeClass", &old, |class| class["handler"] = json!("kata"));
    assert_eq!(texts(&errors), ["handler: Invalid value: null: field is immutable"]);
}
