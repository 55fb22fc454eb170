//! Access reviews and certificate requests of pods.

use super::*;

#[test]
fn access_reviews() {
    let kinds = builtin();
    let check = |name: &str, review: Value, want: &[&str]| {
        assert_eq!(texts(&kind(&kinds, name).strategy.validate(&review)), want, "{review}");
    };
    const ONE: &str = "spec: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be \
                       specified";
    check("SelfSubjectAccessReview", json!({"spec": {}}), &[ONE]);
    check(
        "SubjectAccessReview",
        json!({"metadata": {"name": "x"}, "spec": {"resourceAttributes": {"fieldSelector": {}}}}),
        &[
            "spec.user: Invalid value: \"\": at least one of user or group must be specified",
            "spec.resourceAttributes.fieldSelector.requirements: Required value: when \
             spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is required",
            "metadata: Invalid value: {\"name\":\"x\"}: must be empty",
        ],
    );
    check(
        "LocalSubjectAccessReview",
        json!({"metadata": {"namespace": "a"}, "spec": {"user": "u", "resourceAttributes": {"namespace": "b"}}}),
        &["spec.resourceAttributes.namespace: Invalid value: \"b\": must match metadata.namespace"],
    );
}

/// A request without subject, P-256.
const STUB: &str = "MIG6MGICAQAwADBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABC1FhMMtltmX1t+3rWl/yOSY4gKq+c4xmCxRxHEQ19Fw+gYOWhJyZeAbWoyOqM1JxDVYNMQdUbo8ViPqCsUW5BCgADAKBggqhkjOPQQDAgNIADBFAiACsXUeDF5uvOdH37NS2TIejPqwlqfEV6zYdlUpZIy9BQIhANUuFaZxwZzLlQNAeFG0nsDgESiXFjIqmddO7d11fNv5";

fn request(change: Value) -> Value {
    let mut spec = json!({
        "signerName": "example.com/s", "podName": "p", "podUID": "1", "serviceAccountName": "a", "serviceAccountUID": "2",
        "nodeName": "n", "nodeUID": "3", "stubPKCS10Request": STUB,
    });
    for (key, value) in change.as_object().into_iter().flatten() {
        spec[key] = value.clone();
    }
    json!({"spec": spec})
}

#[test]
fn certificate_requests_of_pods() {
    let old = good("PodCertificateRequest", request(json!({})));
    let cases: &[(Value, &str)] = &[
        (
            request(json!({"maxExpirationSeconds": 60})),
            "spec.maxExpirationSeconds: Invalid value: 60: must be in the range [3600, 7862400]",
        ),
        (
            request(json!({"signerName": "kubernetes.io/s", "maxExpirationSeconds": 86401})),
            "spec.maxExpirationSeconds: Invalid value: 86401: must be in the range [3600, 86400]",
        ),
        (
            request(json!({"stubPKCS10Request": "YQ=="})),
            "spec.stubPKCS10Request: Invalid value: must be a valid PKCS#10 CSR",
        ),
        (
            request(json!({"stubPKCS10Request": STUB.replace("BggqhkjOPQQDAgNIADBFAiAC", "BggqhkjOPQQDAgNIADBFAiAD")})),
            "spec.stubPKCS10Request: Invalid value: invalid signature",
        ),
        (request(json!({"podUID": ""})), "spec.podUID: Invalid value: \"\": must not be empty"),
    ];
    for (object, want) in cases {
        let (_, errors) = create("PodCertificateRequest", object.clone());
        assert_eq!(texts(&errors), [*want], "{object}");
    }
    let kinds = builtin();
    let answer = |status: Value| {
        let mut new = old.clone();
        new["status"] = status;
        texts(&kind(&kinds, "PodCertificateRequest").strategy.validate_subresource("status", &new, &old))
    };
    let condition = |kind: &str| json!({"type": kind, "status": "True", "reason": "R", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"});
    assert_eq!(answer(json!({"conditions": [condition("Denied")]})), [""; 0]);
    assert_eq!(
        answer(json!({"conditions": [condition("Issued")]})),
        [
            "status.certificateChain: Invalid value: \"\": issued certificate chain must contain at least one certificate",
        ]
    );
    assert_eq!(
        answer(json!({"certificateChain": "x"})),
        ["status: Invalid value: status is immutable unless transitioning to \"Issued\", \"Denied\", or \"Failed\""]
    );
}
