//! Validation: paths, reasons and texts.

use serde_json::json;

use super::*;
use crate::kinds::builtin;

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', \
                         and must start and end with an alphanumeric character (e.g. 'example.com', regex used for \
                         validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must \
                     start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for \
                     validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

#[test]
fn names() {
    type Case = (fn(&str) -> Vec<String>, &'static str, &'static [&'static str]);
    let cases: &[Case] = &[
        (names::subdomain, "a.b-c.d1", &[]),
        (names::subdomain, "A", &[SUBDOMAIN]),
        (names::subdomain, "a..b", &[SUBDOMAIN]),
        (names::label, "a.b", &["must not contain dots"]),
        (names::label, "-a", &[LABEL]),
        (names::qualified, "example.com/a_b.C", &[]),
        (names::qualified, "/a", &["prefix part must be non-empty"]),
        (names::label_value, "", &[]),
        (|n| names::path_segment(n, false), "system:node", &[]),
        (|n| names::path_segment(n, false), "a/b%", &["may not contain '/'", "may not contain '%'"]),
        (|n| names::path_segment(n, false), "..", &["may not be '..'"]),
        (names::config_key, "..a", &["must not start with '..'"]),
        (names::port_name, "http-2", &[]),
        (names::port_name, "1", &["must contain at least one letter (a-z)"]),
        (|n| NameRule::Subdomain.prefix_faults(n), "web-", &[]),
        (|n| NameRule::Subdomain.prefix_faults(n), "-", &[SUBDOMAIN]),
    ];
    for (rule, name, faults) in cases {
        assert_eq!(rule(name), *faults, "{name}");
    }
}

#[test]
fn metadata_of_new_objects() {
    let kinds = builtin();
    let (pod, node) = (kinds.by_kind("", "v1", "Pod").expect("pods"), kinds.by_kind("", "v1", "Node").expect("nodes"));
    let texts = |kind, meta: Value| -> Vec<String> {
        metadata(kind, &json!({"metadata": meta})).0.iter().map(ToString::to_string).collect()
    };
    assert!(texts(pod, json!({"name": "a", "namespace": "b", "labels": {"a/b": "c"}})).is_empty());
    assert_eq!(
        texts(pod, json!({"namespace": "b"})),
        ["metadata.name: Required value: name or generateName is required"]
    );
    assert_eq!(
        texts(node, json!({"name": "a", "namespace": "b"})),
        ["metadata.namespace: Forbidden: not allowed on this type"]
    );
    assert_eq!(
        texts(pod, json!({"name": "a", "namespace": "b", "annotations": {"k": "x".repeat(256 * 1024)}})),
        ["metadata.annotations: Too long: may not be more than 262144 bytes"]
    );
    assert_eq!(
        texts(pod, json!({"name": "a", "namespace": "b", "ownerReferences": [{"apiVersion": "v1", "kind": "Pod"}]})),
        [
            "metadata.ownerReferences[0].name: Required value: must not be empty",
            "metadata.ownerReferences[0].uid: Required value: must not be empty",
        ]
    );
}

#[test]
fn finalizers_of_dying_objects() {
    let kinds = builtin();
    let pod = kinds.by_kind("", "v1", "Pod").expect("pods");
    let old = json!({"metadata": {"name": "a", "deletionTimestamp": "2026-01-01T00:00:00Z"}});
    let new = json!({"metadata": {"name": "a", "finalizers": ["x/y"]}});
    assert_eq!(
        metadata_update(pod, &new, &old).to_string(),
        "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new \
         finalizers []string{\"x/y\"}"
    );
}

#[test]
fn very_many_faults_made_gigabytes() {
    let mut many = FieldErrors::default();
    (0..10_000).for_each(|index| many.invalid(format!("a[{index}]"), index, "is wrong"));
    assert_eq!(many.0.len(), MOST + 1);
    let last = "a[500]: Invalid value: there are too many errors, and the rest is not told";
    assert_eq!(many.0.last().map(ToString::to_string).as_deref(), Some(last));

    let mut large = FieldErrors::default();
    (0..100).for_each(|_| large.invalid("a", "x".repeat(MOST_BYTES / 2), "is wrong"));
    assert_eq!(large.0.len(), 3);

    let mut both = FieldErrors::default();
    both.extend(large);
    both.extend(many);
    assert!(both.is_full() && both.0.len() == 3);
    assert_eq!(repeated(["a", "b", "a", "a"]), [false, false, true, true]);
}

/// Each of these looked at all items for each item, or showed all of them for each.
#[test]
fn long_lists_took_the_square_of_their_length() {
    const LONG: usize = 20_000;
    let list = |item: &dyn Fn(usize) -> Value| Value::from((0..LONG).map(item).collect::<Vec<_>>());
    let names = || list(&|index| format!("n{index}").into());
    let objects = |field: &'static str| list(&move |index| json!({field: format!("n{index}")}));
    type Check = Box<dyn Fn(&mut FieldErrors)>;
    let mut checks: Vec<(&str, Check)> = Vec::new();

    let claims = json!({"claims": objects("name")});
    let known = names();
    checks.push((
        "claims",
        Box::new(move |errors| {
            let known =
                crate::tree::texts(&json!({"of": known}), "of").map(|name| format!("x{name}")).collect::<Vec<_>>();
            resources::requirements(errors, "r", &claims, &known.iter().map(String::as_str).collect());
        }),
    ));
    let quota = json!({"spec": {"scopes": names()}});
    checks.push(("scopes", Box::new(move |errors| quota::quota(errors, &quota))));
    let conditions = objects("type");
    let rows = conditions.as_array().expect("a list").clone();
    checks.push(("conditions", Box::new(move |errors| conditions::conditions(errors, "c", &rows))));
    let hooks = json!({"webhooks": objects("name")});
    checks.push(("webhooks", Box::new(move |errors| admission::webhooks(errors, &hooks, &hooks))));
    let topologies = json!({"provisioner": "a", "allowedTopologies": list(&|index| json!({
        "matchLabelExpressions": [{"key": format!("k{index}"), "values": ["v"]}],
    }))});
    checks.push(("topologies", Box::new(move |errors| storage::class(errors, &topologies))));
    let drivers = json!({"spec": {"drivers": objects("name")}});
    checks.push(("drivers", Box::new(move |errors| storage::csi_node_update(errors, &drivers, &drivers))));
    let blocks = json!({"spec": {"ingress": [{"from": list(&|index| json!({
        "ipBlock": {"cidr": format!("10.{}.{}.0/24", index / 256 % 256, index % 256)},
    }))}]}});
    checks.push(("networks", Box::new(move |errors| networking::network_policy(errors, &blocks, &blocks))));
    let ports = json!({"spec": {"type": "NodePort", "ports": list(&|index| json!({"name": format!("n{index}"), "port": index}))}});
    checks.push(("ports", Box::new(move |errors| service::service(errors, &ports))));
    let job = json!({"status": {"uncountedTerminatedPods": {"failed": names()}}});
    checks.push(("pods of a job", Box::new(move |errors| batch::job_status(errors, &job, &job))));
    let pod = json!({
        "volumes": objects("name"), "resourceClaims": objects("name"), "schedulingGates": objects("name"),
        "containers": [{
            "name": "a",
            "volumeMounts": list(&|index| json!({"name": format!("n{index}"), "mountPath": format!("/{index}")})),
            "volumeDevices": list(&|index| json!({"name": format!("n{index}"), "devicePath": format!("/{index}")})),
            "ports": list(&|index| json!({"name": format!("n{index}"), "hostPort": index})),
        }],
    });
    checks.push(("a pod", Box::new(move |errors| pod::pod_spec(errors, "spec", &pod, pod::Part::Pod("a")))));
    let begin = "-----BEGIN A-----\n".repeat(LONG);
    checks.push(("blocks", Box::new(move |_| assert!(x509::blocks(&begin).is_empty()))));

    for (name, check) in checks {
        let start = std::time::Instant::now();
        let mut errors = FieldErrors::default();
        check(&mut errors);
        assert!(errors.to_string().len() < 8 << 20, "{name}");
        assert!(start.elapsed() < std::time::Duration::from_secs(20), "{name}: {:?}", start.elapsed());
    }
}

/// `: Too long: …` named nothing at all.
#[test]
fn the_whole_object_has_a_path() {
    let mut errors = FieldErrors::default();
    errors.too_long("", 5);
    assert_eq!(errors.to_string(), "[]: Too long: may not be more than 5 bytes");
    assert_eq!(errors.causes()[0]["field"], "[]");
}
