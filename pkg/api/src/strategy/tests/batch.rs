//! Jobs and CronJobs.

use super::*;

fn job(spec: Value) -> Value {
    let mut base =
        json!({"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}});
    for (key, value) in spec.as_object().into_iter().flatten() {
        base[key] = value.clone();
    }
    json!({"metadata": {"uid": "u"}, "spec": base})
}

fn cron_job(spec: Value, template: Value) -> Value {
    let mut base = json!({"schedule": "* * * * *", "jobTemplate": {"spec": job(template)["spec"]}});
    for (key, value) in spec.as_object().into_iter().flatten() {
        base[key] = value.clone();
    }
    json!({"spec": base})
}

#[test]
fn jobs() {
    let object = good("Job", job(json!({})));
    assert_eq!(object["spec"]["selector"], json!({"matchLabels": {"batch.kubernetes.io/controller-uid": "u"}}));
    assert_eq!(
        object["spec"]["template"]["metadata"]["labels"],
        json!({
            "controller-uid": "u", "job-name": "x", "batch.kubernetes.io/controller-uid": "u", "batch.kubernetes.io/job-name": "x",
        })
    );
    let own = json!({"manualSelector": true, "selector": {"matchLabels": {"a": "b"}}});
    let cases: &[(Value, &[&str])] = &[
        (
            job(own),
            &["spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`"],
        ),
        (
            job(json!({"selector": {"matchLabels": {"a": "b"}}})),
            &[
                "spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"b\",\"batch.kubernetes.io/controller-uid\":\"u\"}}: `selector` \
             not auto-generated",
                "spec.template.metadata.labels: Invalid value: {\"batch.kubernetes.io/controller-uid\":\"u\",\
             \"batch.kubernetes.io/job-name\":\"x\",\"controller-uid\":\"u\",\"job-name\":\"x\"}: `selector` does not match \
             template `labels`",
            ],
        ),
        (
            job(json!({"completions": -1, "parallelism": -2, "backoffLimitPerIndex": 1, "managedBy": "me"})),
            &[
                "spec.parallelism: Invalid value: -2: must be greater than or equal to 0",
                "spec.completions: Invalid value: -1: must be greater than or equal to 0",
                "spec.managedBy: Invalid value: \"me\": must be a domain-prefixed path (such as \"acme.io/foo\")",
                "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode",
            ],
        ),
        (
            job(json!({"completionMode": "Indexed", "parallelism": 200_000})),
            &[
                "spec.completions: Required value: when completion mode is Indexed",
                "spec.parallelism: Invalid value: 200000: must be less than or equal to 100000 when completion mode is Indexed",
            ],
        ),
        (
            job(json!({"podFailurePolicy": {"rules": [{"action": "FailIndex"}, {"action": "Ignore",
            "onExitCodes": {"operator": "In", "values": [3, 0, 3], "containerName": "d"}}]}})),
            &[
                "spec.podFailurePolicy.rules[0].action: Invalid value: \"FailIndex\": requires the backoffLimitPerIndex to be set",
                "spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required",
                "spec.podFailurePolicy.rules[1].onExitCodes.containerName: Invalid value: \"d\": must be one of the container or \
             initContainer names in the pod template",
                "spec.podFailurePolicy.rules[1].onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator",
                "spec.podFailurePolicy.rules[1].onExitCodes.values[2]: Duplicate value: 3",
                "spec.podFailurePolicy.rules[1].onExitCodes.values: Invalid value: [3,0,3]: must be ordered",
            ],
        ),
        (
            job(json!({"completionMode": "Indexed", "completions": 3, "successPolicy": {"rules": [{},
            {"succeededIndexes": "0-2", "succeededCount": 4}, {"succeededIndexes": "5"}]}})),
            &[
                "spec.successPolicy.rules[0]: Required value: at least one of succeededCount or succeededIndexes must be specified",
                "spec.successPolicy.rules[1].succeededCount: Invalid value: 4: must be less than or equal to 3 (the number of \
             specified completions)",
                "spec.successPolicy.rules[1].succeededCount: Invalid value: 4: must be less than or equal to 3 (the number of \
             indexes in the specified succeededIndexes field)",
                "spec.successPolicy.rules[2].succeededIndexes: Invalid value: \"5\": error parsing succeededIndexes: too large \
             index: \"5\"",
            ],
        ),
        (
            job(json!({"template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}})),
            &["spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", \"Never\""],
        ),
    ];
    for (object, expected) in cases {
        assert_eq!(texts(&create("Job", object.clone()).1), *expected, "{object}");
    }
}

#[test]
fn changes_of_jobs() {
    let old = good("Job", job(json!({"completions": 3})));
    let change = |old: &Value, change: fn(&mut Value)| texts(&update("Job", old, change).1);
    assert!(change(&old, |job| job["spec"]["parallelism"] = json!(5)).is_empty());
    assert!(change(&old, |job| job["spec"]["suspend"] = json!(true)).is_empty());
    assert_eq!(
        change(&old, |job| job["spec"]["completions"] = json!(4)),
        ["spec.completions: Invalid value: 4: field is immutable",]
    );
    let image: fn(&mut Value) = |job| job["spec"]["template"]["spec"]["containers"][0]["image"] = json!("j");
    let errors = change(&old, image);
    assert!(errors[0].starts_with("spec.template: Invalid value: {") && errors[0].ends_with(": field is immutable"));
    let suspended = good("Job", job(json!({"suspend": true})));
    assert!(
        change(&suspended, |job| {
            job["spec"]["template"]["spec"]["nodeSelector"] = json!({"a": "b"});
            job["spec"]["template"]["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "1"}});
            job["spec"]["template"]["metadata"]["labels"]["a"] = json!("b");
        })
        .is_empty()
    );
    assert_eq!(change(&suspended, image).len(), 1);
    let indexed = good("Job", job(json!({"completionMode": "Indexed", "completions": 2, "parallelism": 2})));
    assert!(
        change(&indexed, |job| {
            job["spec"]["completions"] = json!(3);
            job["spec"]["parallelism"] = json!(3);
        })
        .is_empty()
    );
    assert_eq!(
        change(&indexed, |job| job["spec"]["completions"] = json!(3)),
        ["spec.completions: Invalid value: 3: can only be modified in tandem with spec.parallelism",]
    );
}

#[test]
fn status_of_jobs() {
    let kinds = builtin();
    let strategy = &kind(&kinds, "Job").strategy;
    let with = |status: Value| json!({"spec": {"completions": 1}, "status": status});
    let done = json!({"type": "Complete", "status": "True"});
    let met = json!({"type": "SuccessCriteriaMet", "status": "True"});
    let (time, later) = ("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z");
    let good = with(json!({"succeeded": 1, "startTime": time, "completionTime": later, "conditions": [met, done]}));
    let running = with(json!({"active": 1, "startTime": time}));
    assert!(strategy.validate_subresource("status", &good, &running).is_empty());
    let bad = with(json!({"active": 1, "conditions": [done, {"type": "Failed", "status": "True"}], "failed": -1}));
    assert_eq!(
        texts(&strategy.validate_subresource("status", &bad, &running)),
        [
            "status.failed: Invalid value: -1: must be greater than or equal to 0",
            "status.conditions: Invalid value: cannot set Complete=True and Failed=true conditions",
            "status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition",
            "status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
            "status.completionTime: Required value: completionTime is required for Complete jobs",
            "status.startTime: Required value: startTime is required for finished job",
            "status.active: Invalid value: 1: active>0 is invalid for finished job",
            "status.failed: Invalid value: -1: cannot decrease the failed counter",
            "status.startTime: Invalid value: null: field is immutable for unsuspended job once set",
        ]
    );
    assert_eq!(
        texts(&strategy.validate_subresource("status", &running, &good))[..2],
        [
            "status.conditions: Invalid value: cannot disable the terminal Complete=True condition",
            "status.succeeded: Invalid value: 0: cannot decrease the succeeded counter",
        ]
    );
}

#[test]
fn cron_jobs() {
    let cases: &[(Value, &[&str])] = &[
        (cron_job(json!({}), json!({})), &[]),
        (cron_job(json!({"schedule": ""}), json!({})), &["spec.schedule: Required value"]),
        (
            cron_job(
                json!({"schedule": "TZ=UTC 0 0 * * 9", "timeZone": "Nowhere", "concurrencyPolicy": "Maybe"}),
                json!({}),
            ),
            &[
                "spec.schedule: Invalid value: \"TZ=UTC 0 0 * * 9\": end of range (9) above maximum (6): 9",
                "spec.schedule: Invalid value: \"TZ=UTC 0 0 * * 9\": cannot use TZ or CRON_TZ in schedule, use timeZone field instead",
                "spec.timeZone: Invalid value: \"Nowhere\": unknown time zone Nowhere",
                "spec.concurrencyPolicy: Unsupported value: \"Maybe\": supported values: \"Allow\", \"Forbid\", \"Replace\"",
            ],
        ),
        (
            cron_job(json!({}), json!({"selector": {}, "manualSelector": true})),
            &[
                "spec.jobTemplate.spec.selector: Invalid value: {}: `selector` will be auto-generated",
                "spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: \"nil\", \"false\"",
            ],
        ),
    ];
    for (object, expected) in cases {
        assert_eq!(texts(&create("CronJob", object.clone()).1), *expected, "{object}");
    }
}
