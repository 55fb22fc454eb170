//! Strategies, as the pipeline calls them.

use serde_json::{Value, json};

use crate::{
    decode, defaults,
    kinds::{Kind, Kinds, builtin},
    tree,
    validation::{self, FieldErrors},
};

mod autoscaling;
mod batch;
mod core;
mod pods;
mod storage;
mod workloads;

fn kind<'a>(kinds: &'a Kinds, name: &str) -> &'a Kind {
    kinds.rows().iter().find(|k| &*k.kind == name).unwrap_or_else(|| panic!("{name} is served"))
}

/// The stages of the pipeline that a new object passes.
fn create(name: &str, mut object: Value) -> (Value, FieldErrors) {
    let kinds = builtin();
    let kind = kind(&kinds, name);
    tree::set(&mut object, "metadata.name", "x");
    if kind.namespaced {
        tree::set(&mut object, "metadata.namespace", "default");
    }
    let unknown = decode::check(&kind.schema, kind.root, &mut object).expect("decodes");
    assert!(unknown.is_empty(), "{unknown:?}");
    defaults::apply(&kind.schema, kind.root, &mut object);
    kind.strategy.default(&mut object);
    kind.strategy.prepare_for_create(&mut object);
    let mut errors = validation::metadata(kind, &object);
    errors.extend(kind.strategy.validate(&object));
    errors.extend(kind.strategy.validate_create(&object));
    (object, errors)
}

/// The stages that a change passes.
fn update(name: &str, old: &Value, change: impl FnOnce(&mut Value)) -> (Value, FieldErrors) {
    let kinds = builtin();
    let kind = kind(&kinds, name);
    let mut new = old.clone();
    change(&mut new);
    defaults::apply(&kind.schema, kind.root, &mut new);
    kind.strategy.default(&mut new);
    kind.strategy.prepare_for_update(&mut new, old);
    let mut errors = validation::metadata_update(kind, &new, old);
    errors.extend(kind.strategy.validate(&new));
    errors.extend(kind.strategy.validate_update(&new, old));
    (new, errors)
}

fn good(name: &str, object: Value) -> Value {
    let (object, errors) = create(name, object);
    assert!(errors.is_empty(), "{errors}");
    object
}

fn texts(errors: &FieldErrors) -> Vec<String> {
    errors.0.iter().map(ToString::to_string).collect()
}

fn pod(container: Value) -> Value {
    let mut base = json!({"name": "c", "image": "i"});
    for (key, value) in container.as_object().into_iter().flatten() {
        base[key] = value.clone();
    }
    json!({"spec": {"containers": [base]}})
}

#[test]
fn new_pods() {
    let object = good("Pod", pod(json!({})));
    assert_eq!(object["status"], json!({"phase": "Pending", "qosClass": "BestEffort"}));
    let gated =
        good("Pod", json!({"spec": {"schedulingGates": [{"name": "g"}], "containers": [{"name": "c", "image": "i"}]}}));
    assert_eq!(gated["status"]["conditions"][0]["reason"], "SchedulingGated");
}

#[test]
fn refused_pods() {
    let cases: &[(Value, &[&str])] = &[
        (json!({"spec": {}}), &["spec.containers: Required value"]),
        (pod(json!({"image": ""})), &["spec.containers[0].image: Required value"]),
        (
            json!({"spec": {"containers": [{"name": "c", "image": "i"}, {"name": "c", "image": "i"}]}}),
            &["spec.containers[1].name: Duplicate value: \"c\""],
        ),
        (
            pod(json!({"ports": [{"containerPort": 70000}, {"containerPort": 80, "name": "a_b"}]})),
            &[
                "spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
                "spec.containers[0].ports[1].name: Invalid value: \"a_b\": must contain only alpha-numeric characters \
                 (a-z, 0-9), and hyphens (-)",
            ],
        ),
        (
            pod(json!({"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}})),
            &[
                "spec.containers[0].resources.requests: Invalid value: \"2\": must be less than or equal to cpu limit of 1",
            ],
        ),
        (
            pod(json!({"resources": {"requests": {"apples": "1"}}})),
            &[
                "spec.containers[0].resources.requests[apples]: Invalid value: \"apples\": must be a standard resource \
                 type or fully qualified",
                "spec.containers[0].resources.requests[apples]: Invalid value: \"apples\": must be a standard resource \
                 for containers",
            ],
        ),
        (
            pod(json!({"volumeMounts": [{"name": "v", "mountPath": "/a"}]})),
            &["spec.containers[0].volumeMounts[0].name: Not found: \"v\""],
        ),
        (
            pod(
                json!({"env": [{"name": "A", "value": "b", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]}),
            ),
            &[
                "spec.containers[0].env[0].valueFrom: Invalid value: \"\": may not be specified when `value` is not empty",
            ],
        ),
        (
            pod(json!({"env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels"}}}]})),
            &[
                "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Unsupported value: \"metadata.labels\": supported \
               values: \"metadata.name\", \"metadata.namespace\", \"metadata.uid\", \"spec.nodeName\", \
               \"spec.serviceAccountName\", \"status.hostIP\", \"status.hostIPs\", \"status.podIP\", \"status.podIPs\"",
            ],
        ),
        (
            pod(json!({"livenessProbe": {"successThreshold": 2, "exec": {"command": ["a"]}}})),
            &["spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1"],
        ),
        (
            pod(json!({"readinessProbe": {}})),
            &["spec.containers[0].readinessProbe: Required value: must specify a handler type"],
        ),
        (
            json!({"spec": {"restartPolicy": "Sometimes", "containers": [{"name": "c", "image": "i"}]}}),
            &[
                "spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", \"OnFailure\", \"Never\"",
            ],
        ),
        (
            json!({"spec": {"ephemeralContainers": [{"name": "e", "image": "i"}], "containers": [{"name": "c", "image": "i"}]}}),
            &["spec.ephemeralContainers: Forbidden: cannot be set on create"],
        ),
        (
            json!({"spec": {"tolerations": [{"value": "a"}], "containers": [{"name": "c", "image": "i"}]}}),
            &[
                "spec.tolerations[0].operator: Invalid value: \"\": operator must be Exists when `key` is empty, which means \
               \"match all values and all keys\"",
            ],
        ),
    ];
    for (object, expected) in cases {
        assert_eq!(texts(&create("Pod", object.clone()).1), *expected, "{object}");
    }
}

#[test]
fn quality_of_service() {
    let class = |resources: Value| {
        let object = good("Pod", pod(json!({"resources": resources})));
        object["status"]["qosClass"].as_str().expect("text").to_owned()
    };
    assert_eq!(class(json!({})), "BestEffort");
    assert_eq!(class(json!({"limits": {"cpu": "1", "memory": "1Gi"}})), "Guaranteed");
    assert_eq!(class(json!({"limits": {"cpu": "1"}})), "Burstable");
    assert_eq!(class(json!({"requests": {"memory": "1Mi"}})), "Burstable");
    assert_eq!(class(json!({"requests": {"ephemeral-storage": "1Mi"}})), "BestEffort");
}

#[test]
fn updates_of_pods() {
    let old = good("Pod", pod(json!({})));
    let change = |change: fn(&mut Value)| texts(&update("Pod", &old, change).1);
    assert!(change(|pod| pod["spec"]["containers"][0]["image"] = json!("j")).is_empty());
    assert!(change(|pod| pod["metadata"]["labels"] = json!({"a": "b"})).is_empty());
    assert!(change(|pod| pod["spec"]["tolerations"] = json!([{"operator": "Exists"}])).is_empty());
    let refused = change(|pod| pod["spec"]["containers"][0]["command"] = json!(["a"]));
    assert!(
        refused[0]
            .starts_with("spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`"),
        "{refused:?}"
    );
    assert!(refused[0].ends_with("\nspec.containers[0].command differs"), "{refused:?}");
    assert_eq!(
        change(|pod| pod["spec"]["containers"] = json!([{"name": "c", "image": "i"}, {"name": "d", "image": "i"}])),
        ["spec.containers: Forbidden: pod updates may not add or remove containers"]
    );
    assert_eq!(
        change(|pod| pod["metadata"]["name"] = json!("y")),
        ["metadata.name: Invalid value: \"y\": field is immutable"]
    );
}

#[test]
fn grace_of_pods() {
    let kinds = builtin();
    let strategy = &kind(&kinds, "Pod").strategy;
    let mut pod = json!({"spec": {"terminationGracePeriodSeconds": 30}, "status": {"phase": "Running"}});
    assert_eq!(strategy.grace_seconds(&pod, None), Some(0));
    pod["spec"]["nodeName"] = json!("n");
    assert_eq!(strategy.grace_seconds(&pod, None), Some(30));
    assert_eq!(strategy.grace_seconds(&pod, Some(5)), Some(5));
    assert_eq!(strategy.grace_seconds(&pod, Some(-1)), Some(1));
    pod["status"]["phase"] = json!("Succeeded");
    assert_eq!(strategy.grace_seconds(&pod, None), Some(0));
}

#[test]
fn services() {
    let old =
        good("Service", json!({"spec": {"clusterIP": "10.43.0.9", "selector": {"a": "b"}, "ports": [{"port": 80}]}}));
    assert_eq!(old["spec"]["clusterIPs"], json!(["10.43.0.9"]));
    let (kept, errors) = update("Service", &old, |service| {
        service["spec"] = json!({"selector": {"a": "c"}, "ports": [{"port": 80, "targetPort": 8080}]});
    });
    assert!(errors.is_empty(), "{errors}");
    assert_eq!(kept["spec"]["clusterIP"], "10.43.0.9");
    let (_, errors) = update("Service", &old, |service| service["spec"]["clusterIP"] = json!("10.43.0.10"));
    assert_eq!(texts(&errors), ["spec.clusterIPs[0]: Invalid value: [\"10.43.0.10\"]: may not change once set"]);
    let (external, errors) = update("Service", &old, |service| {
        service["spec"]["type"] = json!("ExternalName");
        service["spec"]["externalName"] = json!("example.com");
    });
    assert!(errors.is_empty(), "{errors}");
    assert!(!tree::has(&external, "spec.clusterIP"));

    let cases: &[(Value, &[&str])] = &[
        (json!({"spec": {}}), &["spec.ports: Required value"]),
        (json!({"spec": {"clusterIP": "None"}}), &[]),
        (json!({"spec": {"ports": [{"port": 1}, {"port": 2, "name": "b"}]}}), &["spec.ports[0].name: Required value"]),
        (
            json!({"spec": {"ports": [{"port": 1, "nodePort": 30000}]}}),
            &["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
        ),
        (
            json!({"spec": {"clusterIP": "ten", "ports": [{"port": 1}]}}),
            &[
                "spec.clusterIPs[0]: Invalid value: \"ten\": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
            ],
        ),
        (
            json!({"spec": {"type": "Open", "ports": [{"port": 1}]}}),
            &["spec.type: Unsupported value: \"Open\": supported values: \"ClusterIP\", \"ExternalName\", \
               \"LoadBalancer\", \"NodePort\""],
        ),
        (json!({"spec": {"type": "NodePort", "ports": [{"port": 1, "protocol": "UDP"}]}}), &[]),
        (
            json!({"spec": {"ports": [{"name": "a", "port": 1}, {"name": "b", "port": 1}]}}),
            &["spec.ports[1]: Duplicate value: {\"port\":1,\"protocol\":\"TCP\"}"],
        ),
    ];
    for (object, expected) in cases {
        assert_eq!(texts(&create("Service", object.clone()).1), *expected, "{object}");
    }
}

#[test]
fn node_ports_stay() {
    let old = good("Service", json!({"spec": {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30080}]}}));
    let (kept, errors) = update("Service", &old, |service| service["spec"]["ports"] = json!([{"port": 81}]));
    assert!(errors.is_empty(), "{errors}");
    assert_eq!(kept["spec"]["ports"][0]["nodePort"], 30080);
    let (dropped, errors) = update("Service", &old, |service| service["spec"]["type"] = json!("ClusterIP"));
    assert!(errors.is_empty(), "{errors}");
    assert_eq!(dropped["spec"]["ports"][0].get("nodePort"), None);
}

fn workload(selector: Value) -> Value {
    json!({"spec": {"selector": selector, "template": {
        "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}})
}

#[test]
fn workloads() {
    for name in ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"] {
        let old = good(name, workload(json!({"matchLabels": {"app": "web"}})));
        let (_, errors) = create(name, workload(json!({"matchLabels": {"app": "db"}})));
        let expected = "spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` does not match \
                        template `labels`";
        assert_eq!(texts(&errors), [expected], "{name}");
        let (_, errors) = update(name, &old, |object| {
            object["spec"]["selector"] = json!({"matchExpressions": [{"key": "app", "operator": "Exists"}]});
        });
        assert!(errors.to_string().ends_with("field is immutable"), "{name}: {errors}");
    }
    let (_, errors) = create("Deployment", workload(Value::Null));
    assert_eq!(texts(&errors), ["spec.selector: Required value"]);
    let (_, errors) = create("Deployment", {
        let mut object = workload(json!({"matchLabels": {"app": "web"}}));
        object["spec"]["template"]["spec"]["restartPolicy"] = json!("Never");
        object["spec"]["replicas"] = json!(-1);
        object["spec"]["strategy"] = json!({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}});
        object
    });
    assert_eq!(
        texts(&errors),
        [
            "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
            "spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: \"Always\"",
            "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0",
        ]
    );
}

#[test]
fn generations() {
    let kinds = builtin();
    let old = good("Deployment", workload(json!({"matchLabels": {"app": "web"}})));
    let strategy = &kind(&kinds, "Deployment").strategy;
    let moved = |change: fn(&mut Value)| {
        let mut new = old.clone();
        change(&mut new);
        strategy.generation_moves(&new, &old)
    };
    assert!(moved(|d| d["spec"]["replicas"] = json!(2)));
    assert!(moved(|d| d["metadata"]["annotations"] = json!({"a": "b"})));
    assert!(!moved(|d| d["metadata"]["labels"] = json!({"a": "b"})));
    assert!(!moved(|d| d["status"] = json!({"replicas": 1})));
    for (name, has) in
        [("Pod", true), ("ConfigMap", false), ("Service", false), ("Node", false), ("EndpointSlice", true)]
    {
        assert_eq!(kind(&kinds, name).strategy.has_generation(), has, "{name}");
    }
}

#[test]
fn configuration() {
    let secret = good("Secret", json!({"data": {"a": "b2xk", "b": "Yg=="}, "stringData": {"a": "new"}}));
    assert_eq!((&secret["data"], secret.get("stringData")), (&json!({"a": "bmV3", "b": "Yg=="}), None));
    assert_eq!(secret["type"], "Opaque");
    let (_, errors) = update("Secret", &secret, |secret| secret["type"] = json!("x"));
    assert_eq!(texts(&errors), ["type: Invalid value: \"x\": field is immutable"]);
    let (_, errors) = create("Secret", json!({"type": "kubernetes.io/tls", "data": {"tls.crt": "Yg=="}}));
    assert_eq!(texts(&errors), ["data[tls.key]: Required value"]);

    let (_, errors) = create("ConfigMap", json!({"data": {"a/b": "c", "d": "e"}, "binaryData": {"d": "Yg=="}}));
    assert_eq!(
        texts(&errors),
        [
            "data[a/b]: Invalid value: \"a/b\": a valid config key must consist of alphanumeric characters, '-', '_' or \
             '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
            "data[d]: Invalid value: \"d\": duplicate of key present in binaryData",
        ]
    );
    let frozen = good("ConfigMap", json!({"immutable": true, "data": {"a": "b"}}));
    let (_, errors) = update("ConfigMap", &frozen, |map| map["data"]["a"] = json!("c"));
    assert_eq!(texts(&errors), ["data: Forbidden: field is immutable when `immutable` is set"]);
    let (_, errors) = create("ConfigMap", json!({"data": {"a": "x".repeat(1024 * 1024 + 1)}}));
    assert_eq!(errors.0[0].body(), "Too long: may not be more than 1048576 bytes");
}

#[test]
fn namespaces_and_nodes() {
    let namespace = good("Namespace", json!({}));
    assert_eq!(namespace["spec"]["finalizers"], json!(["kubernetes"]));
    assert_eq!(namespace["status"], json!({"phase": "Active"}));
    let (kept, _) = update("Namespace", &namespace, |namespace| namespace["spec"] = json!({}));
    assert_eq!(kept["spec"]["finalizers"], json!(["kubernetes"]));

    let node = good("Node", json!({"spec": {"podCIDR": "10.42.0.0/24", "podCIDRs": ["10.42.0.0/24"]}}));
    let (_, errors) = update("Node", &node, |node| node["spec"] = json!({"podCIDRs": ["10.42.1.0/24"]}));
    assert_eq!(
        texts(&errors),
        ["spec.podCIDRs: Forbidden: node updates may not change podCIDR except from \"\" to valid"]
    );
}

#[test]
fn access_control() {
    let binding = good(
        "RoleBinding",
        json!({"roleRef": {"kind": "Role", "name": "r"}, "subjects": [{"kind": "User", "name": "u"}]}),
    );
    assert_eq!(binding["subjects"][0]["apiGroup"], "rbac.authorization.k8s.io");
    let (_, errors) = update("RoleBinding", &binding, |binding| binding["roleRef"]["name"] = json!("s"));
    assert_eq!(
        texts(&errors),
        [
            "roleRef: Invalid value: {\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"Role\",\"name\":\"s\"}: field \
          is immutable"
        ]
    );
    let (_, errors) = create("Role", json!({"rules": [{"nonResourceURLs": ["/x"], "verbs": ["get"]}, {"verbs": []}]}));
    assert_eq!(
        texts(&errors),
        [
            "rules[0].nonResourceURLs: Invalid value: [\"/x\"]: namespaced rules cannot apply to non-resource URLs",
            "rules[1].verbs: Required value: verbs must contain at least one value",
            "rules[1].apiGroups: Required value: resource rules must supply at least one api group",
            "rules[1].resources: Required value: resource rules must supply at least one resource",
        ]
    );
}

#[test]
fn priority_classes() {
    let (_, errors) = create("PriorityClass", json!({"value": 2_000_000_000}));
    assert_eq!(texts(&errors), ["value: Forbidden: maximum allowed value of a user defined priority is 1000000000"]);
    let old = good("PriorityClass", json!({"value": 5}));
    let (_, errors) = update("PriorityClass", &old, |class| class["value"] = json!(6));
    assert_eq!(texts(&errors), ["value: Forbidden: may not be changed in an update."]);
}

#[test]
fn events_of_both_groups() {
    let core = json!({"involvedObject": {"kind": "Pod", "namespace": "default", "name": "p"}, "reason": "Pulled"});
    good("Event", core);
    let (_, errors) = create("Event", json!({"involvedObject": {"namespace": "other"}}));
    assert_eq!(texts(&errors), ["involvedObject.namespace: Invalid value: \"other\": does not match event.namespace"]);
}

/// What is applied to a fresh cluster is valid, and names no unknown field.
#[test]
fn manifests_of_a_fresh_cluster() {
    let kinds = builtin();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../manifests");
    let files = std::fs::read_dir(folder).expect("manifests").map(|file| file.expect("a file").path());
    let texts: Vec<_> = files.map(|file| std::fs::read_to_string(file).expect("text")).collect();
    let documents: Vec<_> = texts.iter().flat_map(|text| text.split("\n---\n").skip(1)).collect();
    assert!(documents.len() > texts.len(), "{} documents", documents.len());
    for document in documents {
        let document = document.replace("${CLUSTER_DNS}", "10.43.0.10");
        let decoded = decode::yaml(document.as_bytes()).expect("YAML");
        assert!(decoded.duplicates.is_empty());
        let mut object = decoded.value;
        let (group, version) = tree::text(&object, "apiVersion").split_once('/').unwrap_or(("", "v1"));
        let kind = kinds.by_kind(group, version, tree::text(&object, "kind")).expect("served");
        let unknown = decode::check(&kind.schema, kind.root, &mut object).expect("decodes");
        assert!(unknown.is_empty(), "{unknown:?}");
        defaults::apply(&kind.schema, kind.root, &mut object);
        kind.strategy.default(&mut object);
        kind.strategy.prepare_for_create(&mut object);
        let mut errors = validation::metadata(kind, &object);
        errors.extend(kind.strategy.validate(&object));
        assert!(errors.is_empty(), "{}: {errors}", object["metadata"]["name"]);
    }
}
