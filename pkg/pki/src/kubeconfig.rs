//! kubeconfig files, with everything inside them.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::json;

use crate::KeyAndCertificate;

/// A kubeconfig (JSON, which is YAML) for one cluster and user, called `kinglet`.
pub fn kubeconfig(server: &str, ca_pem: &str, user: &KeyAndCertificate) -> String {
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "kinglet", "cluster": {
            "server": server, "certificate-authority-data": BASE64_STANDARD.encode(ca_pem),
        }}],
        "users": [{"name": "kinglet", "user": {
            "client-certificate-data": BASE64_STANDARD.encode(&user.certificate_pem),
            "client-key-data": BASE64_STANDARD.encode(&user.key_pem),
        }}],
        "contexts": [{"name": "kinglet", "context": {"cluster": "kinglet", "user": "kinglet"}}],
        "current-context": "kinglet",
    });
    format!("{config:#}\n")
}
