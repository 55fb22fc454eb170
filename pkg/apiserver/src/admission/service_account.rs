//! Pods get a service account, and its token, CA and namespace as files.

use api::{Status, Value, tree};
use rand::Rng as _;
use serde_json::json;

use super::{Attributes, Operation, Plugin};
use crate::auth::node_links::{self, MIRROR};

/// Upstream's ServiceAccount.
pub struct ServiceAccount;

const MOUNT_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
const VOLUME_PREFIX: &str = "kube-api-access-";
/// Just over an hour, as upstream: kubelets renew at 80 %.
const TOKEN_SECONDS: i64 = 3607;

#[async_trait::async_trait]
impl Plugin for ServiceAccount {
    fn name(&self) -> &'static str {
        "ServiceAccount"
    }

    async fn mutate(&self, attributes: &Attributes<'_>, object: &mut Value) -> Result<(), Status> {
        if !attributes.is_core("pods") || attributes.operation != Operation::Create {
            return Ok(());
        }
        if is_mirror(object) {
            return mirror(attributes, object);
        }
        if object["spec"]["serviceAccountName"].as_str().unwrap_or_default().is_empty() {
            object["spec"]["serviceAccountName"] = "default".into();
        }
        let name = object["spec"]["serviceAccountName"].as_str().unwrap_or_default().to_owned();
        object["spec"]["serviceAccount"] = name.as_str().into();
        let call = attributes.call;
        let Some(kind) = call.kinds.by_resource("", "v1", "serviceaccounts") else { return Ok(()) };
        let namespace = call.namespace();
        let Some(account) = call.server.read(kind, namespace, &name).await? else {
            let why =
                format!("error looking up service account {namespace}/{name}: serviceaccount \"{name}\" not found");
            return Err(attributes.forbidden(object, &why));
        };
        let account = account.tree()?;
        if object["spec"]["imagePullSecrets"].as_array().is_none_or(Vec::is_empty)
            && account["imagePullSecrets"].is_array()
        {
            object["spec"]["imagePullSecrets"] = account["imagePullSecrets"].clone();
        }
        let mount = [&object["spec"], &account].into_iter().find_map(|o| o["automountServiceAccountToken"].as_bool());
        if mount.unwrap_or(true) {
            mount_token(&mut object["spec"]);
        }
        Ok(())
    }

    async fn validate(&self, attributes: &Attributes<'_>, object: &Value) -> Result<(), Status> {
        if !attributes.is_core("pods") || attributes.operation != Operation::Create || !is_mirror(object) {
            return Ok(());
        }
        mirror(attributes, object)
    }
}

/// Whether a pod says that it mirrors a file of its node. Anybody may say so.
fn is_mirror(pod: &Value) -> bool {
    !pod["metadata"]["annotations"][MIRROR].is_null()
}

/// Mirror pods are let through as they are, so they must not use what others have to ask for.
fn mirror(attributes: &Attributes<'_>, pod: &Value) -> Result<(), Status> {
    let mut sources = tree::items(pod, "spec.volumes").iter().flat_map(|v| tree::items(v, "projected.sources"));
    let why = if !tree::text(pod, "spec.serviceAccountName").is_empty() {
        "a mirror pod may not reference service accounts"
    } else if node_links::has_secrets(pod) {
        "a mirror pod may not reference secrets"
    } else if sources.any(|source| !source["serviceAccountToken"].is_null()) {
        "a mirror pod may not use ServiceAccountToken volume projections"
    } else {
        return Ok(());
    };
    Err(attributes.forbidden(pod, why))
}

fn random_suffix() -> String {
    const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut random = rand::rng();
    (0..5).map(|_| char::from(LETTERS[random.random_range(0..LETTERS.len())])).collect()
}

/// Mounts the token volume into every container that has nothing there yet.
fn mount_token(spec: &mut Value) {
    let existing = spec["volumes"].as_array().into_iter().flatten().find_map(|volume| {
        volume["name"].as_str().filter(|name| name.starts_with(VOLUME_PREFIX) && volume["projected"].is_object())
    });
    let had = existing.is_some();
    let name = existing.map_or_else(|| format!("{VOLUME_PREFIX}{}", random_suffix()), str::to_owned);
    let mut needed = false;
    for list in ["initContainers", "containers"] {
        for container in spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            let mounts = &mut container["volumeMounts"];
            if mounts.is_null() {
                *mounts = json!([]);
            }
            let Some(mounts) = mounts.as_array_mut() else { continue };
            if mounts.iter().all(|mount| mount["mountPath"] != MOUNT_PATH) {
                mounts.push(json!({"name": name, "readOnly": true, "mountPath": MOUNT_PATH}));
                needed = true;
            }
        }
    }
    if needed && !had {
        if spec["volumes"].is_null() {
            spec["volumes"] = json!([]);
        }
        if let Some(volumes) = spec["volumes"].as_array_mut() {
            volumes.push(token_volume(&name));
        }
    }
}

fn token_volume(name: &str) -> Value {
    json!({"name": name, "projected": {"defaultMode": 420, "sources": [
        {"serviceAccountToken": {"expirationSeconds": TOKEN_SECONDS, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [
            {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}},
        ]}},
    ]}})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_container_gets_the_token_once() {
        let mut spec = json!({"containers": [{"name": "a"}, {"name": "b", "volumeMounts": [{"name": "own", "mountPath": MOUNT_PATH}]}],
            "initContainers": [{"name": "i"}]});
        mount_token(&mut spec);
        assert_eq!(spec["volumes"].as_array().unwrap().len(), 1);
        assert_eq!(spec["containers"][0]["volumeMounts"][0]["name"], spec["volumes"][0]["name"]);
        assert_eq!(spec["containers"][1]["volumeMounts"].as_array().unwrap().len(), 1);
        assert_eq!(spec["initContainers"][0]["volumeMounts"][0]["readOnly"], true);
        let again = spec.clone();
        mount_token(&mut spec);
        assert_eq!(spec, again);
    }
}
