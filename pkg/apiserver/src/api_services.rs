//! APIServices of what this server serves itself: one to each group and version, also to those of
//! custom resources. They follow the table of kinds.
//!
//! # Guarantees
//! - Those of built-in kinds are looked at once, at the start, as upstream has it: what is changed or
//!   deleted later stays so until then. Those of custom resources are kept all the time.
//! - An APIService without the label [`MANAGED`] belongs to somebody else and is left alone; so it is
//!   how a group and version is taken over.
//!
//! # Caveats
//! Requests are not led to the Services that APIServices name: aggregation is yet to come.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use api::{Kinds, Status, Value, meta, tree};
use futures::future::join_all;
use serde_json::json;

use crate::{cache::Cache, crd::ask, server::Server};

const GROUP: &str = "apiregistration.k8s.io";
const PATH: &str = "/apis/apiregistration.k8s.io/v1/apiservices";
/// Marks what a server keeps by itself.
const MANAGED: &str = "kube-aggregator.kubernetes.io/automanaged";
/// Looked at once.
const AT_START: &str = "onstart";
/// Looked at all the time.
const ALWAYS: &str = "true";

/// Priorities of a custom resource's group and version.
const CUSTOM: (i64, i64) = (1000, 100);
/// Priorities of groups, and of versions within them: clients are told of them in this order.
const PRIORITIES: &[(&str, &str, i64, i64)] = &[
    ("", "v1", 18000, 1),
    ("apps", "v1", 17800, 15),
    ("events.k8s.io", "v1", 17750, 15),
    ("authentication.k8s.io", "v1", 17700, 15),
    ("authorization.k8s.io", "v1", 17600, 15),
    ("autoscaling", "v2", 17500, 30),
    ("autoscaling", "v1", 17500, 15),
    ("batch", "v1", 17400, 15),
    ("certificates.k8s.io", "v1", 17300, 15),
    ("networking.k8s.io", "v1", 17200, 15),
    ("policy", "v1", 17100, 15),
    ("rbac.authorization.k8s.io", "v1", 17000, 15),
    ("storage.k8s.io", "v1", 16800, 15),
    ("admissionregistration.k8s.io", "v1", 16700, 15),
    ("apiextensions.k8s.io", "v1", 16700, 15),
    ("scheduling.k8s.io", "v1", 16600, 15),
    ("coordination.k8s.io", "v1", 16500, 15),
    ("node.k8s.io", "v1", 16300, 15),
    ("discovery.k8s.io", "v1", 16200, 15),
    ("resource.k8s.io", "v1", 16200, 21),
    ("flowcontrol.apiserver.k8s.io", "v1", 16100, 21),
    ("storagemigration.k8s.io", "v1", 15800, 15),
];

/// Between tries when a write fails: the store may be away.
const RETRY_MIN: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(30);

/// What is to be written.
#[derive(Clone, Debug, PartialEq)]
enum Action {
    Create(Value),
    /// A merge patch to the one of this name.
    Patch(String, Value),
    Delete(String),
}

/// Brings APIServices in step, and has them kept so.
pub async fn start(server: &Arc<Server>) -> Result<(), Status> {
    let Some(kind) = server.kinds().by_resource(GROUP, "v1", "apiservices").cloned() else { return Ok(()) };
    let cache = server.caches.of(&kind).await?;
    let settled = settle(server, &cache, true).await;
    server.tasks.spawn(follow(server.clone(), cache, settled));
    Ok(())
}

/// Looks again whenever kinds or APIServices change, until the server stops.
async fn follow(server: Arc<Server>, cache: Arc<Cache>, mut settled: bool) {
    let stop = server.stop.clone();
    stop.run_until_cancelled(async move {
        let (mut kinds, mut services) = (server.definitions.subscribe(), cache.subscribe());
        let (mut pause, mut first) = (RETRY_MIN, !settled);
        loop {
            if settled {
                (pause, first) = (RETRY_MIN, false);
                tokio::select! {
                    changed = kinds.changed() => if changed.is_err() { return },
                    changed = services.changed() => if changed.is_err() { return },
                }
            } else {
                tokio::time::sleep(pause).await;
                pause = RETRY_MAX.min(pause * 2);
            }
            settled = settle(&server, &cache, first).await;
        }
    })
    .await;
}

/// Writes what is missing or differs; answers whether all of it could be written.
async fn settle(server: &Arc<Server>, cache: &Cache, first: bool) -> bool {
    if server.caches.at_head().await.is_err() {
        return false;
    }
    let existing: Vec<Value> = cache.all().iter().filter_map(|object| object.stored.tree().ok()).collect();
    let actions = decide(&server.kinds(), &existing, first);
    let outcomes = join_all(actions.iter().map(|action| apply(server, action))).await;
    outcomes.into_iter().all(|outcome| match outcome {
        Ok(()) => true,
        // Another server was faster.
        Err(status) if matches!(status.code, 404 | 409) => true,
        Err(status) => {
            tracing::info!(message = status.message, "an APIService could not be written");
            false
        }
    })
}

async fn apply(server: &Arc<Server>, action: &Action) -> Result<(), Status> {
    match action {
        Action::Create(service) => ask(server, "POST", PATH, service).await,
        Action::Patch(name, change) => ask(server, "PATCH", &format!("{PATH}/{name}"), change).await,
        Action::Delete(name) => ask(server, "DELETE", &format!("{PATH}/{name}"), &Value::Null).await,
    }
    .map(drop)
}

/// The APIServices that should be, by name.
fn wanted(kinds: &Kinds) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    for row in kinds.rows() {
        let (group, version) = (&*row.group, &*row.version);
        let known = PRIORITIES.iter().find(|(g, v, ..)| (*g, *v) == (group, version));
        let (priorities, mark) = match known {
            Some((.., of_group, of_version)) => ((*of_group, *of_version), AT_START),
            None if row.is_custom() => (CUSTOM, ALWAYS),
            None => continue,
        };
        let name = format!("{version}.{group}");
        let mut spec =
            json!({"version": version, "groupPriorityMinimum": priorities.0, "versionPriority": priorities.1});
        if !group.is_empty() {
            spec["group"] = group.into();
        }
        let metadata = json!({"name": name, "labels": {MANAGED: mark}});
        let service = json!({"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": metadata, "spec": spec});
        all.insert(name, service);
    }
    all
}

/// What is to be done. `first`: the server has just started.
fn decide(kinds: &Kinds, existing: &[Value], first: bool) -> Vec<Action> {
    let mut wanted = wanted(kinds);
    let mut actions = Vec::new();
    for service in existing {
        let name = meta::name(service).to_owned();
        let want = wanted.remove(&name);
        let mark = service["metadata"]["labels"][MANAGED].as_str().unwrap_or_default();
        let looked_at = mark == ALWAYS || mark == AT_START && first;
        // One that goes already does not go again.
        if !looked_at || tree::has(service, "metadata.deletionTimestamp") {
            continue;
        }
        match want {
            None => actions.push(Action::Delete(name)),
            Some(want) if tree::equal(&want["spec"], &service["spec"]) => {}
            Some(want) => {
                let mut spec = want["spec"].clone();
                for (field, _) in tree::entries(service, "spec").filter(|(field, _)| want["spec"].get(field).is_none())
                {
                    spec[field] = Value::Null;
                }
                actions.push(Action::Patch(name, json!({"spec": spec})));
            }
        }
    }
    let missing = wanted.into_values().filter(|service| first || service["metadata"]["labels"][MANAGED] == ALWAYS);
    actions.extend(missing.map(Action::Create));
    actions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(existing: &[Value], actions: &[Action]) -> Vec<Value> {
        let mut all: BTreeMap<String, Value> =
            existing.iter().map(|service| (meta::name(service).to_owned(), service.clone())).collect();
        for action in actions {
            match action {
                Action::Create(service) => drop(all.insert(meta::name(service).to_owned(), service.clone())),
                Action::Patch(name, change) => {
                    let service = all.get_mut(name).unwrap();
                    *service = api::patch::merge_patch(service, change).unwrap();
                }
                Action::Delete(name) => drop(all.remove(name)),
            }
        }
        all.into_values().collect()
    }

    #[test]
    fn every_group_and_version_has_one() {
        let kinds = api::kinds::builtin();
        let made = applied(&[], &decide(&kinds, &[], true));
        // The group of APIServices themselves has none, as upstream's.
        let others = kinds.rows().iter().filter(|row| &*row.group != GROUP);
        let mut versions: Vec<String> = others.map(|row| format!("{}.{}", &*row.version, &*row.group)).collect();
        versions.sort();
        versions.dedup();
        assert_eq!(made.iter().map(meta::name).collect::<Vec<_>>(), versions);
        assert_eq!(decide(&kinds, &made, true), [], "deciding again changes nothing");
        assert_eq!(decide(&kinds, &[], false), [], "built-in ones are looked at once");
    }

    #[test]
    fn what_others_made_is_left_alone() {
        let kinds = api::kinds::builtin();
        let mut all = applied(&[], &decide(&kinds, &[], true));
        let service = |name: &str, mark: &str| json!({"metadata": {"name": name, "labels": {MANAGED: mark}}, "spec": {"service": {"name": "x"}}});
        all.retain(|service| meta::name(service) != "v1.apps");
        all.extend([
            service("v1.apps", ""),
            service("v1.x.y", ""),
            service("v1.gone", ALWAYS),
            service("v1.old", AT_START),
        ]);
        assert_eq!(decide(&kinds, &all, false), [Action::Delete("v1.gone".to_owned())]);
        let names = ["v1.gone", "v1.old"].map(|name| Action::Delete(name.to_owned()));
        assert_eq!(decide(&kinds, &all, true), names);
        let changed: Vec<Value> = all
            .iter()
            .map(|s| if meta::name(s) == "v1.batch" { service("v1.batch", AT_START) } else { s.clone() })
            .collect();
        let actions = decide(&kinds, &changed, true);
        assert!(
            matches!(&actions[0], Action::Patch(name, change) if name == "v1.batch" && change["spec"]["service"].is_null()),
            "{actions:?}"
        );
    }
}
