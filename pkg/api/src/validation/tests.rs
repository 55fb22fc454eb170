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
