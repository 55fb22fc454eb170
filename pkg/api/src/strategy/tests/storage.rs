//! Volumes, claims, classes, limits and quotas.

use super::*;

fn volume(spec: Value) -> Value {
    let mut base = json!({"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]});
    for (key, value) in spec.as_object().into_iter().flatten() {
        base[key] = value.clone();
    }
    json!({"spec": base})
}

fn claim(spec: Value) -> Value {
    let mut base = json!({"resources": {"requests": {"storage": "1Gi"}}, "accessModes": ["ReadWriteOnce"]});
    for (key, value) in spec.as_object().into_iter().flatten() {
        base[key] = value.clone();
    }
    json!({"spec": base})
}

fn check(name: &str, cases: &[(Value, &[&str])]) {
    for (object, expected) in cases {
        assert_eq!(texts(&create(name, object.clone()).1), *expected, "{object}");
    }
}

#[test]
fn volumes() {
    let object = good("PersistentVolume", volume(json!({"hostPath": {"path": "/a"}})));
    assert_eq!(object["status"], json!({"phase": "Pending"}));
    check(
        "PersistentVolume",
        &[
            (
                json!({"spec": {}}),
                &[
                    "spec.accessModes: Required value",
                    "spec.capacity: Required value",
                    "spec.capacity: Unsupported value: null: supported values: \"storage\"",
                    "spec: Required value: must specify a volume type",
                ],
            ),
            (
                volume(json!({"hostPath": {"path": "/"}, "nfs": {"server": "s", "path": "/"}, "accessModes": ["All"],
            "capacity": {"storage": "0"}, "persistentVolumeReclaimPolicy": "Recycle"})),
                &[
                    "spec.accessModes: Unsupported value: \"All\": supported values: \"ReadOnlyMany\", \"ReadWriteMany\", \
             \"ReadWriteOnce\", \"ReadWriteOncePod\"",
                    "spec.capacity[storage]: Invalid value: \"0\": must be greater than zero",
                    "spec.nfs: Forbidden: may not specify more than 1 volume type",
                    "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'",
                ],
            ),
            (
                volume(json!({"local": {"path": "/a/../b"}})),
                &[
                    "spec.local.path: Invalid value: \"/a/../b\": must not contain '..'",
                    "spec.nodeAffinity: Required value: Local volume requires node affinity",
                ],
            ),
            (
                volume(json!({"csi": {"driver": "a_b", "volumeHandle": ""}, "volumeAttributesClassName": ""})),
                &[
                    "spec.csi.driver: Invalid value: \"a_b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric \
             characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used \
             for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
                    "spec.csi.volumeHandle: Required value",
                    "spec.volumeAttributesClassName: Required value: an empty string is disallowed",
                ],
            ),
            (
                volume(
                    json!({"iscsi": {"targetPortal": "p", "iqn": "iqn.2001-04.com.example:storage.disk1", "lun": 300}}),
                ),
                &["spec.iscsi.lun: Invalid value: 300: must be between 0 and 255, inclusive"],
            ),
            (
                volume(json!({"iscsi": {"targetPortal": "p", "iqn": "iqn.01-04.com", "lun": 0}})),
                &["spec.iscsi.iqn: Invalid value: \"iqn.01-04.com\": must be valid format"],
            ),
        ],
    );
    let (_, errors) = update("PersistentVolume", &object, |volume| volume["spec"]["hostPath"]["path"] = json!("/b"));
    assert_eq!(
        texts(&errors),
        ["spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n\
         spec.hostPath.path differs",]
    );
    let (_, errors) = update("PersistentVolume", &object, |volume| {
        volume["spec"]["claimRef"] = json!({"name": "c", "namespace": "n"});
        volume["spec"]["capacity"]["storage"] = json!("2Gi");
    });
    assert!(errors.is_empty(), "{errors}");
}

#[test]
fn claims() {
    let object =
        good("PersistentVolumeClaim", claim(json!({"dataSource": {"kind": "PersistentVolumeClaim", "name": "a"}})));
    assert_eq!(object["status"], json!({"phase": "Pending"}));
    assert_eq!(object["spec"]["dataSourceRef"], json!({"kind": "PersistentVolumeClaim", "name": "a"}));
    let object = good("PersistentVolumeClaim", claim(json!({"dataSource": {"kind": "Pod", "name": "a"}})));
    assert!(!tree::has(&object, "spec.dataSource"));
    check(
        "PersistentVolumeClaim",
        &[
            (
                json!({"spec": {}}),
                &[
                    "spec.accessModes: Required value: at least 1 access mode is required",
                    "spec.resources[storage]: Required value",
                ],
            ),
            (
                claim(json!({"accessModes": ["ReadWriteOncePod", "ReadOnlyMany"], "storageClassName": "A"})),
                &[
                    "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes",
                    "spec.storageClassName: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric \
             characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used \
             for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
                ],
            ),
        ],
    );
    let mut bound = good("PersistentVolumeClaim", claim(json!({"storageClassName": "a"})));
    let size = |size: &'static str| {
        move |claim: &mut Value| {
            claim["spec"]["resources"]["requests"]["storage"] = json!(size);
        }
    };
    let (_, errors) = update("PersistentVolumeClaim", &bound, size("2Gi"));
    assert_eq!(
        texts(&errors),
        [
            "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound \
         claims\nspec.resources.requests.storage differs",
        ]
    );
    let (_, errors) = update("PersistentVolumeClaim", &bound, |claim| claim["spec"]["volumeName"] = json!("v"));
    assert!(errors.is_empty(), "{errors}");
    bound["status"] = json!({"phase": "Bound", "capacity": {"storage": "1Gi"}});
    let (_, errors) = update("PersistentVolumeClaim", &bound, size("2Gi"));
    assert!(errors.is_empty(), "{errors}");
    let (_, errors) = update("PersistentVolumeClaim", &bound, size("500Mi"));
    assert_eq!(
        texts(&errors),
        ["spec.resources.requests.storage: Forbidden: field can not be less than status.capacity",]
    );
}

#[test]
fn classes() {
    check(
        "StorageClass",
        &[
            (
                json!({"reclaimPolicy": "Recycle"}),
                &[
                    "provisioner: Required value",
                    "reclaimPolicy: Unsupported value: \"Recycle\": supported values: \"Delete\", \"Retain\"",
                ],
            ),
            (
                json!({"provisioner": "a", "allowedTopologies": [{"matchLabelExpressions": [{"key": "z", "values": ["a", "a"]}]}]}),
                &["allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: \"a\""],
            ),
        ],
    );
    let class = good("StorageClass", json!({"provisioner": "a/b"}));
    assert_eq!(class["volumeBindingMode"], "Immediate");
    let (_, errors) = update("StorageClass", &class, |class| {
        class["parameters"] = json!({"a": "b"});
        class["allowVolumeExpansion"] = json!(true);
    });
    assert_eq!(texts(&errors), ["parameters: Invalid value: null: field is immutable"]);
    check(
        "VolumeAttributesClass",
        &[(json!({"driverName": "d"}), &["parameters: Required value: must contain at least one key/value pair"])],
    );
    let class = good("VolumeAttributesClass", json!({"driverName": "d", "parameters": {"a": "b"}}));
    let (_, errors) = update("VolumeAttributesClass", &class, |class| class["parameters"] = json!({"a": "c"}));
    assert_eq!(texts(&errors), ["parameters: Forbidden: updates to parameters are forbidden."]);
}

#[test]
fn drivers_and_attachments() {
    check(
        "CSIDriver",
        &[(
            json!({"spec": {"tokenRequests": [{"audience": "a", "expirationSeconds": 5}, {"audience": "a"}],
        "volumeLifecycleModes": ["Once"]}}),
            &[
                "spec.tokenRequests[0].expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes",
                "spec.tokenRequests[1].audience: Duplicate value: \"a\"",
                "spec.volumeLifecycleModes: Unsupported value: \"Once\": supported values: \"Persistent\", \"Ephemeral\"",
            ],
        )],
    );
    let driver = good("CSIDriver", json!({"spec": {}}));
    let (_, errors) = update("CSIDriver", &driver, |driver| driver["spec"]["attachRequired"] = json!(false));
    assert_eq!(texts(&errors), ["spec.attachedRequired: Invalid value: false: field is immutable"]);
    check(
        "CSINode",
        &[(
            json!({"spec": {"drivers": [{"name": "a", "nodeID": ""}, {"name": "a", "nodeID": "b"}]}}),
            &["spec.drivers[0].nodeID: Required value", "spec.drivers[1].name: Duplicate value: \"a\""],
        )],
    );
    check(
        "VolumeAttachment",
        &[(
            json!({"spec": {"attacher": "", "nodeName": "n", "source": {}}}),
            &[
                "spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName",
                "spec.attacher: Required value",
            ],
        )],
    );
    let attachment = good(
        "VolumeAttachment",
        json!({"spec": {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "v"}}}),
    );
    let (_, errors) = update("VolumeAttachment", &attachment, |attachment| attachment["spec"]["nodeName"] = json!("m"));
    assert_eq!(texts(&errors), ["spec: Invalid value: null: field is immutable"]);
    let capacity = good("CSIStorageCapacity", json!({"storageClassName": "a", "capacity": "1Gi"}));
    let (_, errors) = update("CSIStorageCapacity", &capacity, |capacity| capacity["storageClassName"] = json!("b"));
    assert_eq!(texts(&errors), ["storageClassName: Invalid value: \"b\": field is immutable"]);
}

#[test]
fn limit_ranges() {
    check(
        "LimitRange",
        &[
            (
                json!({"spec": {"limits": [{"type": "Pod", "default": {"cpu": "1"}}, {"type": "Pod"}, {"type": "Tree"}]}}),
                &[
                    "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
                    "spec.limits[1].type: Duplicate value: \"Pod\"",
                    "spec.limits[2].type: Invalid value: \"Tree\": must be a standard limit type or fully qualified",
                ],
            ),
            (
                json!({"spec": {"limits": [{"type": "PersistentVolumeClaim", "max": {"cpu": "1"}}]}}),
                &[
                    "spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided",
                ],
            ),
            (
                json!({"spec": {"limits": [{"type": "Container", "min": {"cpu": "2"}, "max": {"cpu": "1"}, "default": {"cpu": "1"},
            "defaultRequest": {"cpu": "1"}, "maxLimitRequestRatio": {"cpu": "0.5"}}]}}),
                &[
                    "spec.limits[0].min[cpu]: Invalid value: \"2\": min value 2 is greater than max value 1",
                    "spec.limits[0].defaultRequest[cpu]: Invalid value: \"1\": min value 2 is greater than default request value 1",
                    "spec.limits[0].default[cpu]: Invalid value: \"2\": min value 2 is greater than default value 1",
                    "spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: \"500m\": ratio 500m is less than 1",
                ],
            ),
        ],
    );
}

#[test]
fn resource_quotas() {
    check(
        "ResourceQuota",
        &[
            (
                json!({"spec": {"hard": {"pods": "1.5", "apples": "1", "count/deployments.apps": "3", "requests.hugepages-2Mi": "4Mi"}}}),
                &[
                    "spec.hard[apples]: Invalid value: \"apples\": must be a standard resource type or fully qualified",
                    "spec.hard[apples]: Invalid value: \"apples\": must be a standard resource for quota",
                    "spec.hard[pods]: Invalid value: \"1500m\": must be an integer",
                ],
            ),
            (
                json!({"spec": {"hard": {"secrets": "1"}, "scopes": ["BestEffort", "NotBestEffort"]}}),
                &[
                    "spec.scopes: Invalid value: [\"BestEffort\",\"NotBestEffort\"]: unsupported scope applied to resource",
                    "spec.scopes: Invalid value: [\"BestEffort\",\"NotBestEffort\"]: unsupported scope applied to resource",
                    "spec.scopes: Invalid value: [\"BestEffort\",\"NotBestEffort\"]: conflicting scopes",
                ],
            ),
            (
                json!({"spec": {"scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In"}]}}}),
                &[
                    "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or \
             'NotIn' for scope selector",
                ],
            ),
        ],
    );
    let quota = good("ResourceQuota", json!({"spec": {"hard": {"pods": "1"}, "scopes": ["Terminating"]}}));
    let (_, errors) = update("ResourceQuota", &quota, |quota| quota["spec"]["scopes"] = json!(["BestEffort"]));
    assert_eq!(texts(&errors), ["spec.scopes: Invalid value: [\"BestEffort\"]: field is immutable"]);
}
