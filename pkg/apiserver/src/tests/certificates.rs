//! Signing requests: who asks, who approves, who signs.

use api::UserInfo;
use base64::Engine as _;
use serde_json::{Value, json};

use super::Fixture;

const REQUESTS: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

/// `/O=devs/CN=joe`, P-256.
const JOE: &str = "-----BEGIN CERTIFICATE REQUEST-----
MIHXMH8CAQAwHTENMAsGA1UECgwEZGV2czEMMAoGA1UEAwwDam9lMFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAELUWEwy2W2ZfW37etaX/I5JjiAqr5zjGYLFHEcRDX
0XD6Bg5aEnJl4BtajI6ozUnENVg0xB1RujxWI+oKxRbkEKAAMAoGCCqGSM49BAMC
A0gAMEUCIBFRR3rfT15a4Got8QhSqbhdduJP14LGU04g0r4Zin/yAiEAxGYhbigS
/O8zo5N/ycnU+ccf8/jt5e3oA2Gr5ole5xg=
-----END CERTIFICATE REQUEST-----
";

/// `/O=system:masters/CN=joe`, P-256.
const MASTER: &str = "-----BEGIN CERTIFICATE REQUEST-----
MIHjMIGJAgEAMCcxFzAVBgNVBAoMDnN5c3RlbTptYXN0ZXJzMQwwCgYDVQQDDANq
b2UwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQtRYTDLZbZl9bft61pf8jkmOIC
qvnOMZgsUcRxENfRcPoGDloScmXgG1qMjqjNScQ1WDTEHVG6PFYj6grFFuQQoAAw
CgYIKoZIzj0EAwIDSQAwRgIhAK8BzegK1sBLrOmbjp6++NavRZ0+bGUyhQ2BA46e
d+DBAiEAl/walvNG6sZ8m8Hj8xbbzQq9wMX8DgEhYy93JIqMOyA=
-----END CERTIFICATE REQUEST-----
";

/// Of a CA, P-256, until 2126.
pub const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----
MIIBcjCCARegAwIBAgIUMR8K9B9wrm2oP1bu/ANIpFCPDegwCgYIKoZIzj0EAwIw
DTELMAkGA1UEAwwCY2EwIBcNMjYxMTMwMTkxMjUyWhgPMjEyNjExMDYxOTEyNTJa
MA0xCzAJBgNVBAMMAmNhMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAELUWEwy2W
2ZfW37etaX/I5JjiAqr5zjGYLFHEcRDX0XD6Bg5aEnJl4BtajI6ozUnENVg0xB1R
ujxWI+oKxRbkEKNTMFEwHQYDVR0OBBYEFMXcmtms2nh1oTNm5HBgtcWL2bOVMB8G
A1UdIwQYMBaAFMXcmtms2nh1oTNm5HBgtcWL2bOVMA8GA1UdEwEB/wQFMAMBAf8w
CgYIKoZIzj0EAwIDSQAwRgIhAL6vOHUiiYGfnKZpkerlSFUkevmJj2cq2cONzMmy
pOaYAiEAx4zI5rE+YonZygOL/X5+s4YF+IdkFJ1BeA1HG14XsL4=
-----END CERTIFICATE-----
";

fn base64(text: &str) -> String {
    base64::engine::general_purpose::STANDARD.encode(text)
}

fn request(pem: &str) -> Value {
    json!({
        "apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": "joe"},
        "spec": {
            "request": base64(pem), "signerName": "kubernetes.io/kube-apiserver-client", "usages": ["client auth"],
            "username": "somebody-else",
        },
        "status": {"conditions": [{"type": "Approved", "status": "True"}]},
    })
}

#[tokio::test]
async fn a_request_is_approved_and_signed() {
    let mut fixture = Fixture::new().await;
    let made = fixture.post(REQUESTS, &request(JOE)).await.expect(201);
    assert_eq!(made["spec"]["username"], "admin");
    assert_eq!(made["status"], json!({}));
    // The main resource changes nothing but metadata.
    let mut changed = made.clone();
    changed["spec"]["usages"] = json!(["server auth"]);
    changed["metadata"]["labels"] = json!({"a": "b"});
    let changed = fixture.put(&format!("{REQUESTS}/joe"), &changed).await.expect(200);
    assert_eq!((&changed["spec"], &changed["metadata"]["labels"]["a"]), (&made["spec"], &json!("b")));
    // Approval is not for /status, and the certificate not for /approval.
    let approved = json!({"status": {"conditions": [{"type": "Approved", "status": "True", "reason": "Fine"}]}});
    let message = fixture.patch("merge", &format!("{REQUESTS}/joe/status"), &approved).await.refused(422, "Invalid");
    assert!(message.ends_with("updates may not add a condition of type \"Approved\""), "{message}");
    let approval = format!("{REQUESTS}/joe/approval");
    let signed = json!({"status": {"certificate": base64(CERTIFICATE)}});
    let unchanged = fixture.patch("merge", &approval, &signed).await.expect(200);
    assert_eq!(unchanged["status"].get("certificate"), None);
    let done = fixture.patch("merge", &approval, &approved).await.expect(200);
    let condition = &done["status"]["conditions"][0];
    assert!(condition["lastUpdateTime"].is_string() && condition["lastTransitionTime"].is_string(), "{condition}");
    let denied = json!({"status": {"conditions": [{"type": "Denied", "status": "True"}]}});
    let message = fixture.patch("merge", &approval, &denied).await.refused(422, "Invalid");
    assert!(message.contains("updates may not remove a condition of type \"Approved\""), "{message}");
    let done = fixture.patch("merge", &format!("{REQUESTS}/joe/status"), &signed).await.expect(200);
    assert_eq!(done["status"]["certificate"], base64(CERTIFICATE));
    let bad = json!({"status": {"certificate": base64("x")}});
    let message = fixture.patch("merge", &format!("{REQUESTS}/joe/status"), &bad).await.refused(422, "Invalid");
    assert!(message.contains("must contain at least one CERTIFICATE PEM block"), "{message}");
    // Neither approves nor signs who may not speak for the signer, though they may write the subresource.
    fixture.delete(&format!("{REQUESTS}/joe"), Value::Null).await.expect(200);
    fixture.post(REQUESTS, &request(JOE)).await.expect(201);
    let masters = fixture.user.clone();
    let rules = json!([{"verbs": ["*"], "apiGroups": ["certificates.k8s.io"], "resources": ["certificatesigningrequests/approval", "certificatesigningrequests/status"]}]);
    grant(&fixture, "writer", rules).await;
    fixture.user = UserInfo::authenticated("writer", &[]);
    let message = fixture.patch("merge", &approval, &approved).await.refused(403, "Forbidden");
    assert_eq!(
        message,
        "certificatesigningrequests.certificates.k8s.io \"joe\" is forbidden: user not permitted to approve requests \
         with signerName \"kubernetes.io/kube-apiserver-client\""
    );
    let message = fixture.patch("merge", &format!("{REQUESTS}/joe/status"), &signed).await.refused(403, "Forbidden");
    assert!(message.ends_with("sign requests with signerName \"kubernetes.io/kube-apiserver-client\""), "{message}");
    fixture.user = masters;
    let rules = json!([{"verbs": ["approve"], "apiGroups": ["certificates.k8s.io"], "resources": ["signers"], "resourceNames": ["kubernetes.io/*"]}]);
    grant(&fixture, "writer2", rules).await;
    let binding = json!({"roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "writer2"}, "metadata": {"name": "more"},
        "subjects": [{"kind": "User", "name": "writer"}]});
    fixture.post(&format!("/apis/{RBAC}/v1/clusterrolebindings"), &binding).await.expect(201);
    fixture.user = UserInfo::authenticated("writer", &[]);
    fixture.patch("merge", &approval, &approved).await.expect(200);
}

const RBAC: &str = "rbac.authorization.k8s.io";

async fn grant(fixture: &Fixture, name: &str, rules: Value) {
    let roles = format!("/apis/{RBAC}/v1");
    let role = json!({"metadata": {"name": name}, "rules": rules});
    fixture.post(&format!("{roles}/clusterroles"), &role).await.expect(201);
    let binding = json!({"metadata": {"name": name}, "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "User", "name": name}]});
    fixture.post(&format!("{roles}/clusterrolebindings"), &binding).await.expect(201);
}

#[tokio::test]
async fn nobody_asks_for_the_group_that_may_do_all() {
    let fixture = Fixture::new().await;
    let message = fixture.post(REQUESTS, &request(MASTER)).await.refused(403, "Forbidden");
    assert!(message.ends_with("signer with system:masters group is not allowed"), "{message}");
    let message = fixture.post(REQUESTS, &request("nonsense")).await.refused(422, "Invalid");
    assert!(message.contains("spec.request: Invalid value"), "{message}");
    let forged = JOE.replace("RR3rf", "RR3rg");
    let message = fixture.post(REQUESTS, &request(&forged)).await.refused(422, "Invalid");
    assert!(message.contains("signature"), "{message}");
}

#[tokio::test]
async fn trust_bundles_are_attested() {
    let mut fixture = Fixture::new().await;
    let bundles = "/apis/certificates.k8s.io/v1/clustertrustbundles";
    let bundle = |name: &str, signer: &str| json!({"metadata": {"name": name}, "spec": {"signerName": signer, "trustBundle": CERTIFICATE}});
    fixture.post(bundles, &bundle("plain", "")).await.expect(201);
    let message = fixture.post(bundles, &bundle("plain", "example.com/x")).await.refused(422, "Invalid");
    assert!(message.contains("must be named with prefix example.com:x:"), "{message}");
    fixture.post(bundles, &bundle("example.com:x:a", "example.com/x")).await.expect(201);
    let rules = json!([{"verbs": ["*"], "apiGroups": ["certificates.k8s.io"], "resources": ["clustertrustbundles"]}]);
    grant(&fixture, "writer", rules).await;
    fixture.user = UserInfo::authenticated("writer", &[]);
    let message = fixture.post(bundles, &bundle("example.com:x:b", "example.com/x")).await.refused(403, "Forbidden");
    assert!(message.ends_with("user not permitted to attest for signerName \"example.com/x\""), "{message}");
}
