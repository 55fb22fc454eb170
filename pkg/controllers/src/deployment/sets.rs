//! What Deployments keep in their ReplicaSets: the hash of the template, revisions, and the sizes
//! that proportional scaling begins from.

use jiff::Timestamp;
use k8s_openapi::{
    api::{
        apps::v1::{Deployment, ReplicaSet, ReplicaSetSpec},
        core::v1::PodTemplateSpec,
    },
    apimachinery::pkg::{apis::meta::v1::ObjectMeta, util::intstr::IntOrString},
};
use kube::ResourceExt as _;

use crate::owners::controller_reference;

pub const HASH_LABEL: &str = "pod-template-hash";
pub const REVISION: &str = "deployment.kubernetes.io/revision";
const REVISION_HISTORY: &str = "deployment.kubernetes.io/revision-history";
const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
const MAX: &str = "deployment.kubernetes.io/max-replicas";
/// Of a Deployment, but not of its ReplicaSets.
const NOT_COPIED: &[&str] = &[
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    REVISION_HISTORY,
    DESIRED,
    MAX,
    "deprecated.deployment.rollback.to",
];
const HISTORY_LIMIT: usize = 2000;

/// `spec.replicas` of a Deployment.
pub fn wanted(deployment: &Deployment) -> i32 {
    deployment.spec.replicas.unwrap_or(1)
}

/// `spec.replicas` of a ReplicaSet.
pub fn size(set: &ReplicaSet) -> i32 {
    set.spec.replicas.unwrap_or(1)
}

pub fn set_size(set: &mut ReplicaSet, size: i32) {
    set.spec.replicas = Some(size);
}

pub fn available(set: &ReplicaSet) -> i32 {
    set.status.as_ref().and_then(|s| s.available_replicas).unwrap_or(0)
}

pub fn created(set: &ReplicaSet) -> Timestamp {
    set.metadata.creation_timestamp.as_ref().map_or(Timestamp::MAX, |t| t.0)
}

/// Oldest first.
pub fn by_age(sets: &mut [ReplicaSet]) {
    sets.sort_by(|a, b| created(a).cmp(&created(b)).then_with(|| a.name_any().cmp(&b.name_any())));
}

pub fn total_size<'a>(sets: impl IntoIterator<Item = &'a ReplicaSet>) -> i32 {
    sets.into_iter().map(size).sum()
}

fn annotation<'a>(meta: &'a ObjectMeta, key: &str) -> Option<&'a str> {
    meta.annotations.as_ref()?.get(key).map(String::as_str)
}

/// The revision of a ReplicaSet; 0 if it has none.
pub fn revision(set: &ReplicaSet) -> i64 {
    annotation(&set.metadata, REVISION).and_then(|r| r.parse().ok()).unwrap_or(0)
}

/// The Deployment's size when the ReplicaSet was scaled last.
pub fn desired(set: &ReplicaSet) -> Option<i32> {
    annotation(&set.metadata, DESIRED)?.parse().ok()
}

/// The most pods the Deployment might have had when the ReplicaSet was scaled last.
pub fn max(set: &ReplicaSet) -> Option<i32> {
    annotation(&set.metadata, MAX)?.parse().ok()
}

/// Notes the Deployment's sizes in the ReplicaSet. Whether that changed anything.
pub fn note_sizes(set: &mut ReplicaSet, deployment: &Deployment) -> bool {
    let sizes = [(DESIRED, wanted(deployment)), (MAX, wanted(deployment) + max_surge(deployment))];
    let annotations = set.metadata.annotations.get_or_insert_default();
    let mut changed = false;
    for (key, value) in sizes {
        let value = value.to_string();
        changed |= annotations.insert(key.to_owned(), value.clone()).as_ref() != Some(&value);
    }
    changed
}

/// Brings the annotations of the newest ReplicaSet up to date. Whether that changed anything.
pub fn annotate_newest(set: &mut ReplicaSet, deployment: &Deployment, revision: i64, exists: bool) -> bool {
    let before = set.metadata.annotations.clone();
    let annotations = set.metadata.annotations.get_or_insert_default();
    for (key, value) in deployment.metadata.annotations.iter().flatten() {
        if !NOT_COPIED.contains(&key.as_str()) {
            annotations.insert(key.clone(), value.clone());
        }
    }
    let old = annotations.get(REVISION).cloned();
    if old.as_deref().and_then(|r| r.parse().ok()).unwrap_or(0) < revision {
        annotations.insert(REVISION.to_owned(), revision.to_string());
        if let Some(old) = old {
            let history = annotations.entry(REVISION_HISTORY.to_owned()).or_default();
            *history = if history.is_empty() { old } else { format!("{history},{old}") };
            while history.len() > HISTORY_LIMIT {
                let cut = history.find(',').map_or(history.len(), |i| i + 1);
                history.drain(..cut);
            }
        }
    }
    if !exists {
        note_sizes(set, deployment);
    }
    before.unwrap_or_default() != set.metadata.annotations.clone().unwrap_or_default()
}

fn template(spec: Option<&PodTemplateSpec>) -> PodTemplateSpec {
    let mut template = spec.cloned().unwrap_or_default();
    if let Some(labels) = template.metadata.as_mut().and_then(|m| m.labels.as_mut()) {
        labels.remove(HASH_LABEL);
    }
    template
}

/// Whether the ReplicaSet makes the pods that the Deployment describes.
pub fn is_current(set: &ReplicaSet, deployment: &Deployment) -> bool {
    let of_set = template(set.spec.template.as_ref());
    of_set == template(Some(&deployment.spec.template))
}

/// Letters of generated names: none that might form words.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// A short hash of the template, other for another collision count.
pub fn template_hash(template: &PodTemplateSpec, collisions: Option<i32>) -> String {
    let json = serde_json::to_vec(template).expect("typed objects are JSON");
    let salt = collisions.map(i32::to_le_bytes);
    let bytes = json.iter().chain(salt.iter().flatten());
    let hash = bytes.fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    hash.to_string().bytes().map(|digit| char::from(ALPHABET[usize::from(digit) % ALPHABET.len()])).collect()
}

/// A ReplicaSet for the Deployment's present template, of size 0.
pub fn new_set(deployment: &Deployment) -> ReplicaSet {
    let spec = deployment.spec.clone();
    let collisions = deployment.status.as_ref().and_then(|s| s.collision_count);
    let mut template = spec.template;
    let hash = template_hash(&template, collisions);
    let labels = template.metadata.get_or_insert_default().labels.get_or_insert_default();
    labels.insert(HASH_LABEL.to_owned(), hash.clone());
    let labels = labels.clone();
    let mut selector = spec.selector;
    selector.match_labels.get_or_insert_default().insert(HASH_LABEL.to_owned(), hash.clone());
    ReplicaSet {
        metadata: ObjectMeta {
            name: Some(format!("{}-{hash}", deployment.name_any())),
            namespace: deployment.metadata.namespace.clone(),
            labels: Some(labels),
            owner_references: Some(vec![controller_reference(deployment)]),
            ..ObjectMeta::default()
        },
        spec: ReplicaSetSpec {
            replicas: Some(0),
            min_ready_seconds: spec.min_ready_seconds,
            selector,
            template: Some(template),
        },
        status: None,
    }
}

/// Whether pods are replaced step by step.
pub fn is_rolling(deployment: &Deployment) -> bool {
    let strategy = deployment.spec.strategy.as_ref();
    strategy.and_then(|s| s.type_.as_deref()).is_none_or(|t| t == "RollingUpdate")
}

/// A number, or a percentage of `total`, rounded up or down.
pub fn resolve(value: Option<&IntOrString>, total: i32, up: bool) -> i32 {
    match value {
        Some(IntOrString::Int(n)) => *n,
        Some(IntOrString::String(text)) => {
            let percent = text.trim_end_matches('%').parse().unwrap_or(0i64);
            let scaled = percent * i64::from(total);
            let rounded = if up { (scaled + 99).div_euclid(100) } else { scaled.div_euclid(100) };
            i32::try_from(rounded).unwrap_or(i32::MAX)
        }
        None => 0,
    }
}

/// Surge and unavailability in pods. Both zero would get stuck: then one may be unavailable.
fn fenceposts(deployment: &Deployment) -> (i32, i32) {
    let rolling = deployment.spec.strategy.as_ref().and_then(|s| s.rolling_update.as_ref());
    let default = IntOrString::String("25%".to_owned());
    let surge = rolling.map_or(Some(&default), |r| r.max_surge.as_ref());
    let unavailable = rolling.map_or(Some(&default), |r| r.max_unavailable.as_ref());
    let surge = resolve(surge, wanted(deployment), true);
    let unavailable = resolve(unavailable, wanted(deployment), false);
    if surge == 0 && unavailable == 0 { (0, 1) } else { (surge, unavailable) }
}

/// Pods above the wanted number during a rollout.
pub fn max_surge(deployment: &Deployment) -> i32 {
    if is_rolling(deployment) { fenceposts(deployment).0 } else { 0 }
}

/// Pods that may be missing during a rollout.
pub fn max_unavailable(deployment: &Deployment) -> i32 {
    if is_rolling(deployment) && wanted(deployment) > 0 { fenceposts(deployment).1.min(wanted(deployment)) } else { 0 }
}
