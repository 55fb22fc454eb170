//! The files of volumes that come from the API: a pure function of the pod and of what was fetched.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    ConfigMap, DownwardAPIVolumeFile, KeyToPath, Pod, Secret, ServiceAccountTokenProjection, Volume,
};

use super::atomic::{Entry, Payload};
use crate::spec::env::{Fetched, Source};
use crate::spec::fields::{self, Facts};

/// Mode of files that name none.
const MODE: i32 = 0o644;

/// A token that a volume wants.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TokenWanted {
    /// Whom it is for; empty for the API server.
    pub audience: String,
    /// Seconds of life asked for.
    pub seconds: i64,
}

impl TokenWanted {
    fn of(projection: &ServiceAccountTokenProjection) -> Self {
        TokenWanted {
            audience: projection.audience.clone().unwrap_or_default(),
            seconds: projection.expiration_seconds.unwrap_or(3600),
        }
    }
}

/// What the files are made from besides the pod.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// For the downward API.
    pub facts: &'a Facts,
    /// ConfigMaps and Secrets.
    pub fetched: &'a Fetched,
    /// Tokens.
    pub tokens: &'a BTreeMap<TokenWanted, String>,
}

/// ConfigMaps and Secrets that the volumes of a pod name.
pub fn sources(pod: &Pod) -> Vec<Source> {
    let mut sources = Vec::new();
    for volume in pod.spec.iter().flat_map(|s| s.volumes.iter().flatten()) {
        sources.extend(volume.config_map.iter().map(|v| Source::ConfigMap(v.name.clone())));
        sources.extend(volume.secret.iter().filter_map(|v| v.secret_name.clone()).map(Source::Secret));
        for part in volume.projected.iter().flat_map(|p| p.sources.iter().flatten()) {
            sources.extend(part.config_map.iter().map(|v| Source::ConfigMap(v.name.clone())));
            sources.extend(part.secret.iter().map(|v| Source::Secret(v.name.clone())));
        }
    }
    sources
}

/// Tokens that the volumes of a pod want.
pub fn tokens(pod: &Pod) -> Vec<TokenWanted> {
    let volumes = pod.spec.iter().flat_map(|s| s.volumes.iter().flatten());
    let parts = volumes.flat_map(|v| v.projected.iter()).flat_map(|p| p.sources.iter().flatten());
    parts.filter_map(|p| p.service_account_token.as_ref()).map(TokenWanted::of).collect()
}

/// The files of a volume; `None` if the volume is of another kind.
pub fn payload(pod: &Pod, volume: &Volume, given: Given<'_>) -> Result<Option<Payload>, String> {
    let mut files = Payload::new();
    if let Some(source) = &volume.config_map {
        let mode = source.default_mode.unwrap_or(MODE);
        config_map(&mut files, given, &source.name, source.items.as_deref(), source.optional, mode)?;
    } else if let Some(source) = &volume.secret {
        let (name, mode) = (source.secret_name.as_deref().unwrap_or_default(), source.default_mode.unwrap_or(MODE));
        secret(&mut files, given, name, source.items.as_deref(), source.optional, mode)?;
    } else if let Some(source) = &volume.downward_api {
        let mode = source.default_mode.unwrap_or(MODE);
        downward(&mut files, pod, given.facts, source.items.as_deref().unwrap_or_default(), mode)?;
    } else if let Some(source) = &volume.projected {
        let mode = source.default_mode.unwrap_or(MODE);
        for part in source.sources.iter().flatten() {
            if let Some(s) = &part.config_map {
                config_map(&mut files, given, &s.name, s.items.as_deref(), s.optional, mode)?;
            } else if let Some(s) = &part.secret {
                secret(&mut files, given, &s.name, s.items.as_deref(), s.optional, mode)?;
            } else if let Some(s) = &part.downward_api {
                downward(&mut files, pod, given.facts, s.items.as_deref().unwrap_or_default(), mode)?;
            } else if let Some(s) = &part.service_account_token {
                token(&mut files, pod, given, s, mode)?;
            } else {
                return Err(format!("volume {:?} has a projection that this node does not know", volume.name));
            }
        }
    } else {
        return Ok(None);
    }
    Ok(Some(files))
}

fn entry(data: Vec<u8>, mode: i32) -> Entry {
    Entry { data, mode: u32::try_from(mode).unwrap_or(0o644) & 0o7777, user: None }
}

/// All keys, or those that `items` names under the paths that it gives.
fn pick(
    files: &mut Payload,
    data: &BTreeMap<&String, &[u8]>,
    items: Option<&[KeyToPath]>,
    optional: bool,
    mode: i32,
    missing: impl Fn(&str) -> String,
) -> Result<(), String> {
    let Some(items) = items.filter(|i| !i.is_empty()) else {
        files.extend(data.iter().map(|(k, v)| ((*k).clone(), entry(v.to_vec(), mode))));
        return Ok(());
    };
    for item in items {
        match data.get(&item.key) {
            Some(value) => {
                files.insert(item.path.clone(), entry(value.to_vec(), item.mode.unwrap_or(mode)));
            }
            None if optional => {}
            None => return Err(missing(&item.key)),
        }
    }
    Ok(())
}

fn config_map(
    files: &mut Payload,
    given: Given<'_>,
    name: &str,
    items: Option<&[KeyToPath]>,
    optional: Option<bool>,
    mode: i32,
) -> Result<(), String> {
    let optional = optional == Some(true);
    let empty = ConfigMap::default();
    let map = match given.fetched.config_maps.get(name) {
        Some(map) => map,
        None if optional => &empty,
        None => return Err(format!("configmap \"{name}\" not found")),
    };
    let text = map.data.iter().flatten().map(|(k, v)| (k, v.as_bytes()));
    let binary = map.binary_data.iter().flatten().map(|(k, v)| (k, v.0.as_slice()));
    let data = text.chain(binary).collect();
    pick(files, &data, items, optional, mode, |key| format!("configmap references non-existent config key: {key}"))
}

fn secret(
    files: &mut Payload,
    given: Given<'_>,
    name: &str,
    items: Option<&[KeyToPath]>,
    optional: Option<bool>,
    mode: i32,
) -> Result<(), String> {
    let optional = optional == Some(true);
    let empty = Secret::default();
    let secret = match given.fetched.secrets.get(name) {
        Some(secret) => secret,
        None if optional => &empty,
        None => return Err(format!("secret \"{name}\" not found")),
    };
    let data = secret.data.iter().flatten().map(|(k, v)| (k, v.0.as_slice())).collect();
    pick(files, &data, items, optional, mode, |key| format!("references non-existent secret key: {key}"))
}

fn downward(
    files: &mut Payload,
    pod: &Pod,
    facts: &Facts,
    items: &[DownwardAPIVolumeFile],
    mode: i32,
) -> Result<(), String> {
    for item in items {
        let value = if let Some(field) = &item.field_ref {
            fields::field(pod, facts, &field.field_path)?
        } else if let Some(resource) = &item.resource_field_ref {
            fields::resource(pod, facts, None, resource)?
        } else {
            continue;
        };
        files.insert(item.path.clone(), entry(value.into_bytes(), item.mode.unwrap_or(mode)));
    }
    Ok(())
}

fn token(
    files: &mut Payload,
    pod: &Pod,
    given: Given<'_>,
    projection: &ServiceAccountTokenProjection,
    mode: i32,
) -> Result<(), String> {
    let wanted = TokenWanted::of(projection);
    let token = given.tokens.get(&wanted).ok_or("service account token is not there yet")?;
    let user = common_user(pod);
    let group = fs_group(pod);
    // A token is for the pod's own user where there is just one, for its group where that is set, else for all in it.
    let mode = if user.is_some() || group.is_some() { 0o600 } else { mode };
    files.insert(projection.path.clone(), Entry { user, ..entry(token.clone().into_bytes(), mode) });
    Ok(())
}

/// The group that owns the pod's volumes.
pub fn fs_group(pod: &Pod) -> Option<u32> {
    pod.spec.as_ref()?.security_context.as_ref()?.fs_group.and_then(|g| u32::try_from(g).ok())
}

/// The user that all containers run as, if the spec says so and it is one.
fn common_user(pod: &Pod) -> Option<u32> {
    let outer = pod.spec.as_ref()?.security_context.as_ref().and_then(|c| c.run_as_user);
    let mut users =
        crate::spec::containers(pod).map(|(_, c)| c.security_context.as_ref().and_then(|s| s.run_as_user).or(outer));
    let first = users.next()??;
    users.all(|u| u == Some(first)).then_some(())?;
    u32::try_from(first).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::sync::Arc;

    fn made(volume: Value, context: Value) -> Result<Vec<String>, String> {
        let pod: Pod = serde_json::from_value(json!({
            "metadata": {"name": "p", "namespace": "n", "labels": {"a": "b"}},
            "spec": {"securityContext": context, "containers": [{"name": "c"}]},
        }))
        .unwrap();
        let mut fetched = Fetched::default();
        let map = json!({"metadata": {"name": "m"}, "data": {"k": "v"}, "binaryData": {"b": "AAE="}});
        fetched.config_maps.insert("m".into(), Arc::new(serde_json::from_value(map).unwrap()));
        let secret = json!({"metadata": {"name": "s"}, "data": {"k": "aGlkZGVu"}});
        fetched.secrets.insert("s".into(), Arc::new(serde_json::from_value(secret).unwrap()));
        let tokens = BTreeMap::from([(TokenWanted { audience: String::new(), seconds: 3607 }, "tok".to_owned())]);
        let mut volume = volume;
        volume["name"] = json!("v");
        let volume: Volume = serde_json::from_value(volume).unwrap();
        let facts = Facts::default();
        let files = payload(&pod, &volume, Given { facts: &facts, fetched: &fetched, tokens: &tokens })?.unwrap();
        let line = |(p, e): (String, Entry)| format!("{p} {:o} {}", e.mode, String::from_utf8_lossy(&e.data));
        Ok(files.into_iter().map(line).collect())
    }

    #[test]
    fn volumes_become_files() {
        let err = |e: &str| Err(e.to_owned());
        let ok = |files: &[&str]| Ok(files.iter().map(|f| (*f).to_owned()).collect::<Vec<_>>());
        let projected = json!({"projected": {"defaultMode": 0o440, "sources": [
            {"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}},
            {"configMap": {"name": "m", "items": [{"key": "k", "path": "ca/k"}]}},
            {"secret": {"name": "none", "optional": true}},
            {"downwardAPI": {"items": [{"path": "ns", "fieldRef": {"fieldPath": "metadata.namespace"}}]}},
        ]}});
        let table = [
            (json!({"configMap": {"name": "m"}}), ok(&["b 644 \0\u{1}", "k 644 v"])),
            (
                json!({"configMap": {"name": "m", "defaultMode": 256, "items": [{"key": "k", "path": "x/y", "mode": 511}]}}),
                ok(&["x/y 777 v"]),
            ),
            (json!({"configMap": {"name": "x"}}), err("configmap \"x\" not found")),
            (json!({"configMap": {"name": "x", "optional": true}}), ok(&[])),
            (
                json!({"configMap": {"name": "m", "items": [{"key": "z", "path": "z"}]}}),
                err("configmap references non-existent config key: z"),
            ),
            (json!({"secret": {"secretName": "s"}}), ok(&["k 644 hidden"])),
            (
                json!({"secret": {"secretName": "s", "items": [{"key": "z", "path": "z"}]}}),
                err("references non-existent secret key: z"),
            ),
            (
                json!({"downwardAPI": {"items": [{"path": "l", "fieldRef": {"fieldPath": "metadata.labels"}}]}}),
                ok(&["l 644 a=\"b\""]),
            ),
            (projected, ok(&["ca/k 440 v", "ns 440 n", "token 440 tok"])),
        ];
        for (volume, want) in table {
            assert_eq!(made(volume.clone(), json!({})), want, "{volume}");
        }
    }

    #[test]
    fn tokens_are_for_the_one_user() {
        let volume =
            json!({"projected": {"sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 3607}}]}});
        assert_eq!(made(volume.clone(), json!({"runAsUser": 5})).unwrap(), ["t 600 tok"]);
        assert_eq!(made(volume, json!({})).unwrap(), ["t 644 tok"]);
    }
}
