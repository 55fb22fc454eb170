//! A client of Kinglet that is made of kube-rs, as operators are.
//!
//! Each check prints a line, `ok NAME` or `FAILED NAME: why`; the exit code says whether all are well.
//! The cluster is that of `$KUBECONFIG`. The argument `tour` chooses the tour of the client matrix.

mod custom;
mod tour;

use std::{collections::BTreeMap, future::Future, process::ExitCode, time::Duration};

use anyhow::{Context as _, bail, ensure};
use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::{
    apps::v1::Deployment,
    authorization::v1::SelfSubjectAccessReview,
    core::v1::{ConfigMap, Namespace, Node, ServiceAccount},
};
use kube::{
    Api, Client, Discovery, Error, ResourceExt as _,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
    core::DynamicObject,
    discovery::Scope,
    runtime::{WatchStreamExt as _, reflector, watcher},
};
use serde_json::json;

const NAMESPACE: &str = "rust";
/// Time for anything that a healthy server does.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<ExitCode> {
    let client = Client::try_default().await?;
    let space: Namespace = serde_json::from_value(json!({"metadata": {"name": NAMESPACE}}))?;
    Api::all(client.clone()).create(&PostParams::default(), &space).await?;
    if std::env::args().nth(1).is_some_and(|argument| argument == "tour") {
        return Ok(if tour::run(client).await { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let mut well = true;
    well &= report("discovery", discovery(client.clone())).await;
    well &= report("typed", typed(client.clone())).await;
    well &= report("apply", apply(client.clone())).await;
    well &= report("watch", watch(client.clone())).await;
    well &= report("watcher", by_watcher(client.clone(), false)).await;
    well &= report("streaming-list", by_watcher(client.clone(), true)).await;
    well &= report("subresources", subresources(client.clone())).await;
    well &= report("custom", custom::check(client)).await;
    Ok(if well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn report(name: &str, check: impl Future<Output = anyhow::Result<()>>) -> bool {
    let done = tokio::time::timeout(2 * PATIENCE, check).await.context("it takes too long").flatten();
    match &done {
        Ok(()) => println!("ok {name}"),
        Err(error) => println!("FAILED {name}: {error:#}"),
    }
    done.is_ok()
}

fn config_map(name: &str, data: &[(&str, &str)]) -> ConfigMap {
    let data: BTreeMap<String, String> = data.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    ConfigMap { data: Some(data), ..serde_json::from_value(json!({"metadata": {"name": name}})).expect("a config map") }
}

/// Every kind that is served can be listed without knowing its type.
async fn discovery(client: Client) -> anyhow::Result<()> {
    let version = client.apiserver_version().await?;
    ensure!(version.major == "1" && version.minor.starts_with("37"), "{version:?}");
    let found = Discovery::new(client.clone()).run_aggregated().await?;
    let plain = Discovery::new(client.clone()).run().await?;
    let count = |d: &Discovery| d.groups().map(|g| g.recommended_resources().len()).sum::<usize>();
    ensure!(count(&found) > 40 && count(&found) == count(&plain), "{} and {}", count(&found), count(&plain));
    for group in found.groups() {
        for (resource, capabilities) in group.recommended_resources() {
            if !capabilities.supports_operation("list") {
                continue;
            }
            ensure!(matches!(capabilities.scope, Scope::Cluster | Scope::Namespaced));
            let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
            api.list(&ListParams::default().limit(5)).await.with_context(|| resource.plural.clone())?;
        }
    }
    Ok(())
}

async fn typed(client: Client) -> anyhow::Result<()> {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
    let mut made = maps.create(&PostParams::default(), &config_map("typed", &[("a", "1")])).await?;
    ensure!(made.uid().is_some());
    made.data.get_or_insert_default().insert("b".to_owned(), "2".to_owned());
    maps.replace("typed", &PostParams::default(), &made).await?;
    let stale = maps.replace("typed", &PostParams::default(), &made).await;
    ensure!(matches!(&stale, Err(Error::Api(status)) if status.is_conflict()), "{stale:?}");
    let missing = maps.get("nothing").await;
    ensure!(matches!(&missing, Err(Error::Api(status)) if status.is_not_found()), "{missing:?}");
    ensure!(maps.get_opt("nothing").await?.is_none());
    let meta = maps.get_metadata("typed").await?;
    ensure!(meta.types.as_ref().is_some_and(|t| t.kind == "PartialObjectMetadata"), "{meta:?}");
    let merge = Patch::Merge(json!({"data": {"a": null}}));
    let patched = maps.patch("typed", &PatchParams::default(), &merge).await?;
    ensure!(patched.data.as_ref().is_some_and(|data| data.len() == 1), "{patched:?}");
    let nodes = Api::<Node>::all(client.clone()).list(&ListParams::default()).await?;
    ensure!(nodes.items.len() == 1, "{} nodes", nodes.items.len());
    let deleted = maps.delete("typed", &DeleteParams::default()).await?;
    ensure!(deleted.right().is_some_and(|status| status.is_success()), "deletion answers with its status");
    // What every operator asks when it starts.
    let review = json!({"spec": {"resourceAttributes": {"verb": "list", "resource": "pods"}}});
    let review: SelfSubjectAccessReview = serde_json::from_value(json!({"metadata": {}, "spec": review["spec"]}))?;
    let answer = Api::all(client).create(&PostParams::default(), &review).await?;
    ensure!(answer.status.is_some_and(|status| status.allowed));
    Ok(())
}

async fn apply(client: Client) -> anyhow::Result<()> {
    let maps: Api<ConfigMap> = Api::namespaced(client, NAMESPACE);
    let body = |value: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": value}});
    let by = |manager: &str, value: &str| {
        let (maps, params, body) = (maps.clone(), PatchParams::apply(manager), body(value));
        async move { maps.patch("apply", &params, &Patch::Apply(body)).await }
    };
    let first = by("one", "1").await?;
    ensure!(first.managed_fields().len() == 1 && first.managed_fields()[0].manager.as_deref() == Some("one"));
    let conflict = by("two", "2").await;
    let wanted = "conflict with \"one\": .data.a";
    ensure!(matches!(&conflict, Err(Error::Api(s)) if s.is_conflict() && s.message.contains(wanted)), "{conflict:?}");
    let forced = maps.patch("apply", &PatchParams::apply("two").force(), &Patch::Apply(body("2"))).await?;
    ensure!(forced.data.as_ref().is_some_and(|data| data["a"] == "2"));
    maps.delete("apply", &DeleteParams::default()).await?;
    Ok(())
}

async fn watch(client: Client) -> anyhow::Result<()> {
    let maps: Api<ConfigMap> = Api::namespaced(client, NAMESPACE);
    let start = maps.list(&ListParams::default()).await?.metadata.resource_version.unwrap_or_default();
    maps.create(&PostParams::default(), &config_map("watched", &[])).await?;
    maps.delete("watched", &DeleteParams::default()).await?;
    let mut events = maps.watch(&WatchParams::default().timeout(20), &start).await?.boxed();
    let mut seen = Vec::new();
    while let Some(event) = events.try_next().await? {
        match event {
            WatchEvent::Added(_) => seen.push("added"),
            WatchEvent::Deleted(_) => break,
            WatchEvent::Bookmark(_) => {}
            other => bail!("{other:?}"),
        }
    }
    ensure!(seen == ["added"], "{seen:?}");
    Ok(())
}

/// A reflector's store follows what happens, begun by a list or by a watch that brings all.
async fn by_watcher(client: Client, streaming: bool) -> anyhow::Result<()> {
    let accounts: Api<ServiceAccount> = Api::namespaced(client, NAMESPACE);
    let config =
        if streaming { watcher::Config::default().streaming_lists() } else { watcher::Config::default().page_size(1) };
    let (store, writer) = reflector::store();
    let stream = watcher(accounts.clone(), config).default_backoff().reflect(writer).applied_objects();
    let task = tokio::spawn(stream.for_each(async |_| {}));
    store.wait_until_ready().await?;
    let account: ServiceAccount = serde_json::from_value(json!({"metadata": {"name": "seen"}}))?;
    accounts.create(&PostParams::default(), &account).await?;
    let has = || store.state().iter().any(|account| account.name_any() == "seen");
    while !has() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    accounts.delete("seen", &DeleteParams::default()).await?;
    while has() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    task.abort();
    Ok(())
}

async fn subresources(client: Client) -> anyhow::Result<()> {
    let deployments: Api<Deployment> = Api::namespaced(client, NAMESPACE);
    let pod = json!({"metadata": {"labels": {"app": "sub"}}, "spec": {"containers": [{"name": "c", "image": "kinglet.dev/shell:1"}]}});
    let deployment: Deployment = serde_json::from_value(json!({
        "metadata": {"name": "sub"},
        "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "sub"}}, "template": pod},
    }))?;
    deployments.create(&PostParams::default(), &deployment).await?;
    let patch = Patch::Merge(json!({"spec": {"replicas": 0}}));
    let scale = deployments.patch_scale("sub", &PatchParams::default(), &patch).await?;
    ensure!(scale.spec.is_some_and(|spec| spec.replicas == Some(0)));
    let patch = Patch::Merge(json!({"status": {"observedGeneration": 1}}));
    deployments.patch_status("sub", &PatchParams::default(), &patch).await?;
    deployments.restart("sub").await?;
    deployments.delete("sub", &DeleteParams::foreground()).await?;
    Ok(())
}
