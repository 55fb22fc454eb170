//! Nodes, namespaces and events, beyond the usual.

use super::*;

#[test]
fn nodes() {
    let node = good("Node", json!({"spec": {"podCIDR": "10.0.0.0/24"}}));
    assert_eq!(node["spec"]["podCIDRs"], json!(["10.0.0.0/24"]));
    let (_, errors) = create(
        "Node",
        json!({"spec": {"podCIDRs": ["10.0.0.0/24", "10.0.1.0/24"]},
        "status": {"declaredFeatures": ["B", "A", "c"]}}),
    );
    assert_eq!(
        texts(&errors),
        [
            "status.declaredFeatures[1]: Invalid value: \"A\": list must be sorted alphabetically",
            "status.declaredFeatures[2]: Invalid value: \"c\": invalid feature name \"c\": must start with an UpperCamelCase \
         segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only \
         alphanumeric characters and slashes",
            "spec.podCIDRs: Invalid value: [\"10.0.0.0/24\",\"10.0.1.0/24\"]: may specify no more than one CIDR for each IP family",
        ]
    );
    let kinds = builtin();
    let mut new = node.clone();
    new["status"] = json!({"capacity": {"cpu": "-1"}, "addresses": [{"type": "Hostname", "address": "a"}, {"type": "Hostname", "address": "a"}]});
    assert_eq!(
        texts(&kind(&kinds, "Node").strategy.validate_subresource("status", &new, &node)),
        [
            "status.capacity.cpu: Invalid value: \"-1\": must be greater than or equal to 0",
            "status.addresses[1]: Duplicate value: {\"address\":\"a\",\"type\":\"Hostname\"}",
        ]
    );
}

#[test]
fn phases_of_namespaces() {
    let kinds = builtin();
    let strategy = &kind(&kinds, "Namespace").strategy;
    let namespace = good("Namespace", json!({}));
    assert!(strategy.validate_subresource("status", &namespace, &namespace).is_empty());
    let mut new = namespace.clone();
    new["status"]["phase"] = json!("Terminating");
    assert_eq!(
        texts(&strategy.validate_subresource("status", &new, &namespace)),
        ["status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty",]
    );
    new["spec"]["finalizers"] = json!(["mine"]);
    assert_eq!(
        texts(&strategy.validate_subresource("finalize", &new, &namespace)),
        [
            "spec.finalizers[0]: Invalid value: \"mine\": name is neither a standard finalizer name nor is it fully qualified",
        ]
    );
}

#[test]
fn new_events() {
    let kinds = builtin();
    let row = kinds.by_kind("events.k8s.io", "v1", "Event").expect("served");
    let event = json!({
        "metadata": {"name": "e", "namespace": "default"}, "eventTime": "2026-01-01T00:00:00.000000Z", "type": "Normal",
        "reportingController": "c", "reportingInstance": "i", "action": "a", "reason": "r", "regarding": {"namespace": "default"},
        "series": {"count": 1},
    });
    assert!(row.strategy.validate(&event).is_empty());
    assert_eq!(
        texts(&row.strategy.validate_create(&event)),
        ["series.count: Invalid value: \"\": should be at least 2", "series.lastObservedTime: Required value",]
    );
    let mut new = event.clone();
    new["note"] = json!("other");
    assert_eq!(
        texts(&row.strategy.validate_update(&new, &event)),
        ["message: Invalid value: \"other\": field is immutable"]
    );
}
