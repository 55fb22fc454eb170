//! Who may use the server: a fixed list, checked on the certificate that TLS has verified.

use axum::http::StatusCode;
use x509_parser::prelude::{FromDer as _, X509Certificate};

use super::Answer;

/// The identity of the API server towards kubelets.
const API_SERVER: &str = "kube-apiserver-kubelet-client";
/// The group that may do everything.
const MASTERS: &str = "system:masters";

/// Who calls: common name and organisations of the certificate.
#[derive(Clone, Debug, PartialEq)]
pub struct Caller {
    /// Common name.
    pub name: String,
    /// Organisations.
    pub groups: Vec<String>,
}

/// Reads a certificate.
pub fn caller(certificate: &[u8]) -> Option<Caller> {
    let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
    let subject = certificate.subject();
    let name = subject.iter_common_name().next()?.as_str().ok()?.to_owned();
    let groups = subject.iter_organization().filter_map(|o| o.as_str().ok()).map(String::from).collect();
    Some(Caller { name, groups })
}

/// Whether a caller gets an answer. The health of the server is no secret.
pub fn authorize(caller: Option<&Caller>, path: &str) -> Result<(), Answer> {
    match caller {
        _ if path == "/healthz" => Ok(()),
        None => Err(Answer(StatusCode::UNAUTHORIZED, "Unauthorized".into())),
        Some(c) if c.name == API_SERVER || c.groups.iter().any(|g| g == MASTERS) => Ok(()),
        Some(c) => Err(Answer(StatusCode::FORBIDDEN, format!("Forbidden (user={}, resource=nodes)", c.name))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_may_ask() {
        let caller = |name: &str, group: &str| Some(Caller { name: name.into(), groups: vec![group.into()] });
        let table = [
            (None, "/pods", Some(401)),
            (None, "/healthz", None),
            (caller("kube-apiserver-kubelet-client", ""), "/pods", None),
            (caller("admin", "system:masters"), "/exec/a/b/c", None),
            (caller("system:node:a", "system:nodes"), "/pods", Some(403)),
        ];
        for (who, path, want) in table {
            let got = authorize(who.as_ref(), path).err().map(|a| a.0.as_u16());
            assert_eq!(got, want, "{who:?} {path}");
        }
    }
}
