//! Webhooks, admission policies and their bindings; flow control.

use super::*;

fn hook(change: Value) -> Value {
    let mut base = json!({
        "name": "a.b.c", "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": {"name": "s", "namespace": "n"}},
        "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}],
    });
    for (key, value) in change.as_object().into_iter().flatten() {
        base[key] = value.clone();
    }
    json!({"webhooks": [base]})
}

#[test]
fn webhooks() {
    let cases: &[(Value, &[&str])] = &[
        (hook(json!({})), &[]),
        (
            hook(json!({"name": "a.b"})),
            &[
                "webhooks[0].name: Invalid value: \"a.b\": should be a domain with at least three segments separated by dots",
            ],
        ),
        (
            hook(json!({"sideEffects": null})),
            &["webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun"],
        ),
        (
            hook(json!({"admissionReviewVersions": ["v9"]})),
            &["webhooks[0].admissionReviewVersions: Invalid value: [\"v9\"]: must include at least one of v1, v1beta1"],
        ),
        (
            hook(json!({"clientConfig": {"url": "http://u@/x?y#z"}})),
            &[
                "webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired \
                 format: https://host[/path]",
                "webhooks[0].clientConfig.url: Invalid value: \"\": host must be specified; desired format: \
                 https://host[/path]",
                "webhooks[0].clientConfig.url: Invalid value: \"u\": user information is not permitted in the URL",
                "webhooks[0].clientConfig.url: Invalid value: \"z\": fragments are not permitted in the URL",
                "webhooks[0].clientConfig.url: Invalid value: \"y\": query parameters are not permitted in the URL",
            ],
        ),
        (
            hook(
                json!({"rules": [{"operations": ["*", "CREATE"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["pods/*", "pods/log"]}]}),
            ),
            &[
                "webhooks[0].rules[0].operations: Invalid value: [\"*\",\"CREATE\"]: if '*' is present, must not specify \
                 other operations",
                "webhooks[0].rules[0].resources[1]: Invalid value: \"pods/log\": if 'pods/*' is present, must not specify \
                 pods/log",
            ],
        ),
        (
            hook(json!({"timeoutSeconds": 31})),
            &["webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds"],
        ),
    ];
    for (object, want) in cases {
        for kind in ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"] {
            let (_, errors) = create(kind, object.clone());
            assert_eq!(texts(&errors), *want, "{object}");
        }
    }
    let mut old = good("ValidatingWebhookConfiguration", hook(json!({})));
    old["webhooks"][0]["sideEffects"] = json!("Some");
    let (_, errors) = update("ValidatingWebhookConfiguration", &old, |c| c["webhooks"][0]["timeoutSeconds"] = json!(1));
    assert!(errors.is_empty(), "what was so before may stay: {errors}");
}

#[test]
fn policies() {
    let rules = json!([{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}]);
    let policy =
        json!({"spec": {"matchConstraints": {"resourceRules": rules}, "validations": [{"expression": "true"}]}});
    good("ValidatingAdmissionPolicy", policy.clone());
    let mut bad = policy.clone();
    bad["spec"]["validations"] = json!([{"expression": " ", "message": "a\nb"}]);
    bad["spec"]["variables"] = json!([{"name": "for", "expression": "1"}]);
    bad["spec"]["paramKind"] = json!({"apiVersion": "v1", "kind": ""});
    let (_, errors) = create("ValidatingAdmissionPolicy", bad);
    assert_eq!(
        texts(&errors),
        [
            "spec.paramKind.kind: Required value",
            "spec.variables[0].name: Invalid value: \"for\": must be a valid CEL identifier",
            "spec.validations[0].expression: Required value: expression is not specified",
            "spec.validations[0].message: Invalid value: \"a\\nb\": must not contain line breaks",
        ]
    );
    let mutating = json!({"spec": {
        "matchConstraints": {"resourceRules": [{"operations": ["DELETE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}]},
        "reinvocationPolicy": "Never", "mutations": [{"patchType": "JSONPatch", "applyConfiguration": {"expression": "x"}}],
    }});
    let (_, errors) = create("MutatingAdmissionPolicy", mutating);
    assert_eq!(
        texts(&errors),
        [
            "spec.matchConstraints.resourceRules.operations: Unsupported value: \"DELETE\": supported values: \"*\", \
             \"CONNECT\", \"CREATE\", \"UPDATE\"",
            "spec.mutations[0].applyConfiguration: Invalid value: \"{applyConfiguration}\": must not be specified when \
             patchType is JSONPatch",
            "spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch",
        ]
    );
    let (_, errors) = create("ValidatingAdmissionPolicyBinding", json!({"spec": {"policyName": "p", "paramRef": {}}}));
    assert_eq!(
        texts(&errors),
        [
            "spec.paramRef: Required value: one of name or selector must be specified",
            "spec.paramRef.parameterNotFoundAction: Required value",
            "spec.validationActions: Required value: at least one validation action is required",
        ]
    );
}

#[test]
fn flow_control() {
    let rule = json!({"subjects": [{"kind": "User", "user": {"name": "u"}}],
        "resourceRules": [{"verbs": ["get"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"]}]});
    let schema = json!({"spec": {"priorityLevelConfiguration": {"name": "global-default"}, "rules": [rule]}});
    assert_eq!(good("FlowSchema", schema.clone())["spec"]["matchingPrecedence"], 1000);
    let mut bad = schema;
    bad["spec"]["matchingPrecedence"] = json!(1);
    bad["spec"]["rules"][0]["subjects"][0]["group"] = json!({"name": "g"});
    bad["spec"]["rules"][0]["resourceRules"][0]["namespaces"] = json!([]);
    let (_, errors) = create("FlowSchema", bad);
    assert_eq!(
        texts(&errors),
        [
            "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1",
            "spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'",
            "spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must \
             supply at least one namespace",
        ]
    );
    let level = |response: Value| json!({"spec": {"type": "Limited", "limited": {"limitResponse": response}}});
    good("PriorityLevelConfiguration", level(json!({"type": "Queue", "queuing": {}})));
    let (_, errors) = create("PriorityLevelConfiguration", level(json!({"type": "Queue", "queuing": {"queues": 4}})));
    assert_eq!(
        texts(&errors),
        ["spec.limited.limitResponse.queuing.handSize: Invalid value: 8: should not be greater than queues (4)"]
    );
}
