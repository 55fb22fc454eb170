//! Autoscalers of both versions, disruption budgets, revisions.

use super::*;

fn hpa(spec: Value) -> Value {
    let mut base =
        json!({"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}});
    for (key, value) in spec.as_object().into_iter().flatten() {
        base[key] = value.clone();
    }
    json!({"spec": base})
}

fn versioned<'a>(kinds: &'a Kinds, version: &str) -> &'a Kind {
    kinds.by_kind("autoscaling", version, "HorizontalPodAutoscaler").expect("served")
}

#[test]
fn autoscalers() {
    let metric = |metric: Value| hpa(json!({"metrics": [metric]}));
    let cases: &[(Value, &[&str])] = &[
        (hpa(json!({})), &[]),
        (
            hpa(json!({"maxReplicas": null})),
            &[
                "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`",
                "spec.maxReplicas: Required value",
            ],
        ),
        (
            hpa(json!({"minReplicas": 0})),
            &[
                "spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas",
            ],
        ),
        (hpa(json!({"minReplicas": -1})), &["spec.minReplicas: Invalid value: -1: must be greater than or equal to 0"]),
        (
            hpa(json!({"scaleTargetRef": {"kind": "Deployment", "name": "a/b"}})),
            &[
                "spec.scaleTargetRef.name: Invalid value: \"a/b\": may not contain '/'",
                "spec.scaleTargetRef.apiVersion: Invalid value: \"\": apiVersion must specify API group",
            ],
        ),
        (hpa(json!({"scaleTargetRef": {"apiVersion": "v1", "kind": "ReplicationController", "name": "a"}})), &[]),
        (
            metric(json!({"type": "Pods"})),
            &["spec.metrics[0].pods: Required value: must populate information for the given metric source"],
        ),
        (
            metric(json!({"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Value"}}})),
            &[
                "spec.metrics[0].resource.target.averageUtilization: Required value: must set either a target raw value or a \
             target utilization",
            ],
        ),
        (
            metric(
                json!({"type": "External", "external": {"metric": {"name": ""}, "target": {"type": "X", "value": "0"}}}),
            ),
            &[
                "spec.metrics[0].external.metric.name: Required value: must specify a metric name",
                "spec.metrics[0].external.target.type: Invalid value: \"X\": must be either Utilization, Value, or AverageValue",
                "spec.metrics[0].external.target.value: Invalid value: \"0\": must be positive",
            ],
        ),
        (
            hpa(json!({"behavior": {"scaleUp": {"stabilizationWindowSeconds": 4000, "selectPolicy": "Best",
            "policies": [{"type": "Pods", "value": 0, "periodSeconds": 1801}]}}})),
            &[
                "spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 4000: must be less than or equal to 3600",
                "spec.behavior.scaleUp.selectPolicy: Unsupported value: \"Best\": supported values: \"Disabled\", \"Max\", \"Min\"",
                "spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero",
                "spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800",
            ],
        ),
    ];
    for (object, expected) in cases {
        assert_eq!(texts(&create("HorizontalPodAutoscaler", object.clone()).1), *expected, "{object}");
    }
}

#[test]
fn autoscalers_of_v1() {
    const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
    const CURRENT: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
    let kinds = builtin();
    let (old, stored) = (versioned(&kinds, "v1"), versioned(&kinds, "v2"));
    assert_eq!(&*kinds.stored(old).version, "v2");
    let mut object = hpa(json!({"targetCPUUtilizationPercentage": 50}));
    object["metadata"] = json!({"annotations": {METRICS: "[{\"type\":\"Pods\"}]"}});
    assert_eq!(
        texts(&old.strategy.validate_create(&object)),
        ["spec.metrics[0].pods: Required value: must populate information for the given metric source",]
    );
    // The status that annotations hold is not for clients of the main resource.
    let before = json!({"metadata": {"annotations": {CURRENT: "[]", "a": "b"}}, "spec": {"maxReplicas": 1}});
    let mut new = json!({"metadata": {}, "spec": {"maxReplicas": 2}});
    old.strategy.prepare_for_update(&mut new, &before);
    assert_eq!(new["metadata"]["annotations"], json!({CURRENT: "[]"}));
    old.strategy.prepare_for_create(&mut new);
    assert_eq!(new["metadata"]["annotations"], json!({}));
    let mut changed = hpa(json!({}));
    changed["metadata"] = json!({"annotations": {METRICS: "[{\"type\":\"Pods\"}]"}});
    assert!(old.strategy.generation_moves(&changed, &hpa(json!({}))));
    let mut shown = hpa(json!({"metrics": [
        {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}}},
    ]}));
    old.from_storage(&mut shown);
    assert_eq!(shown["spec"]["targetCPUUtilizationPercentage"], 70);
    old.to_storage(stored, &mut shown);
    assert_eq!(shown["apiVersion"], "autoscaling/v2");
}

#[test]
fn disruption_budgets() {
    let (_, errors) = create(
        "PodDisruptionBudget",
        json!({"spec": {"minAvailable": 1, "maxUnavailable": "120%",
        "selector": {"matchLabels": {"a": "b c"}}, "unhealthyPodEvictionPolicy": "Never"}}),
    );
    let errors = texts(&errors);
    assert!(errors[0].ends_with("minAvailable and maxUnavailable cannot be both set"), "{errors:?}");
    assert_eq!(errors[1], "spec.maxUnavailable: Invalid value: \"120%\": must not be greater than 100%");
    assert!(errors[2].starts_with("spec.selector.matchLabels: Invalid value: \"b c\": a valid label must be"));
    assert_eq!(
        errors[3],
        "spec.unhealthyPodEvictionPolicy: Unsupported value: \"Never\": supported values: \"AlwaysAllow\", \"IfHealthyBudget\""
    );
    let budget = good("PodDisruptionBudget", json!({"spec": {"minAvailable": 1}}));
    let kinds = builtin();
    let mut new = budget.clone();
    new["status"] = json!({"disruptionsAllowed": -1, "conditions": [{"type": "Ok", "status": "Maybe"}]});
    let errors = kind(&kinds, "PodDisruptionBudget").strategy.validate_subresource("status", &new, &budget);
    assert_eq!(
        texts(&errors),
        [
            "status.conditions[0].status: Unsupported value: \"Maybe\": supported values: \"False\", \"True\", \"Unknown\"",
            "status.conditions[0].lastTransitionTime: Required value",
            "status.conditions[0].reason: Required value",
            "status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0",
        ]
    );
}

#[test]
fn revisions() {
    let (_, errors) = create("ControllerRevision", json!({"revision": -1}));
    assert_eq!(
        texts(&errors),
        ["revision: Invalid value: -1: must be greater than or equal to 0", "data: Required value: data is mandatory",]
    );
    let old = good("ControllerRevision", json!({"revision": 1, "data": {"a": 1}}));
    let (_, errors) = update("ControllerRevision", &old, |revision| revision["data"] = json!({"a": 2}));
    assert_eq!(texts(&errors), ["data: Invalid value: {\"a\":2}: field is immutable"]);
    let (_, errors) = update("ControllerRevision", &old, |revision| revision["revision"] = json!(2));
    assert!(errors.is_empty());
}
