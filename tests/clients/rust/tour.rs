//! The tour of the client matrix; its objects are those of `$TOUR`.

use std::{env, fs};

use anyhow::{Context as _, ensure};
use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::{
    apps::v1::{Deployment, ReplicaSet},
    core::v1::{ConfigMap, Pod, Service},
};
use kube::{
    Api, Client, Error, ResourceExt as _,
    api::{AttachParams, DeleteParams, ListParams, LogParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
    runtime::wait::{await_condition, conditions},
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{NAMESPACE, by_watcher, config_map, report};

struct Tour {
    maps: Api<ConfigMap>,
    services: Api<Service>,
    deployments: Api<Deployment>,
    sets: Api<ReplicaSet>,
    pods: Api<Pod>,
}

/// All steps; whether they are well.
pub async fn run(client: Client) -> bool {
    let tour = Tour {
        maps: Api::namespaced(client.clone(), NAMESPACE),
        services: Api::namespaced(client.clone(), NAMESPACE),
        deployments: Api::namespaced(client.clone(), NAMESPACE),
        sets: Api::namespaced(client.clone(), NAMESPACE),
        pods: Api::namespaced(client.clone(), NAMESPACE),
    };
    let mut well = report("tour/create", tour.create()).await;
    well &= report("tour/watch", tour.watch()).await;
    well &= report("tour/json", tour.json()).await;
    well &= report("tour/merge", tour.merge()).await;
    well &= report("tour/strategic", tour.strategic()).await;
    well &= report("tour/apply", tour.apply()).await;
    well &= report("tour/exec", tour.exec()).await;
    well &= report("tour/logs", tour.logs()).await;
    well &= report("tour/forward", tour.forward()).await;
    well &= report("tour/scale", tour.scale()).await;
    well &= report("tour/rollout", tour.rollout()).await;
    well &= report("tour/delete", tour.delete()).await;
    well &= report("tour/informer", by_watcher(client, true)).await;
    well
}

/// All of a deployment is as its template wants it, in this number.
fn rolled_out(deployment: Option<&Deployment>, replicas: i32) -> bool {
    let Some((deployment, status)) = deployment.and_then(|d| Some((d, d.status.as_ref()?))) else { return false };
    status.observed_generation >= deployment.metadata.generation
        && [status.replicas, status.updated_replicas, status.available_replicas] == [Some(replicas); 3]
}

impl Tour {
    async fn create(&self) -> anyhow::Result<()> {
        let path = env::var("TOUR").context("TOUR")?;
        let list: Value = serde_json::from_slice(&fs::read(path)?)?;
        let object = |at: usize| list["items"][at].clone();
        let by = PostParams::default();
        self.maps.create(&by, &serde_json::from_value(object(0))?).await?;
        self.services.create(&by, &serde_json::from_value(object(1))?).await?;
        self.deployments.create(&by, &serde_json::from_value(object(2))?).await?;
        Ok(())
    }

    async fn watch(&self) -> anyhow::Result<()> {
        let start = self.maps.list(&ListParams::default()).await?.metadata.resource_version.unwrap_or_default();
        let mine = WatchParams::default().fields("metadata.name=watched").timeout(50);
        let mut events = self.maps.watch(&mine, &start).await?.boxed();
        let mut made = self.maps.create(&PostParams::default(), &config_map("watched", &[])).await?;
        made.data.get_or_insert_default().insert("a".to_owned(), "1".to_owned());
        self.maps.replace("watched", &PostParams::default(), &made).await?;
        self.maps.delete("watched", &DeleteParams::default()).await?;
        let mut seen = Vec::new();
        while seen.len() < 3
            && let Some(event) = events.try_next().await?
        {
            match event {
                WatchEvent::Added(_) => seen.push("added"),
                WatchEvent::Modified(_) => seen.push("modified"),
                WatchEvent::Deleted(_) => seen.push("deleted"),
                WatchEvent::Bookmark(_) => {}
                WatchEvent::Error(error) => return Err(Error::Api(error).into()),
            }
        }
        ensure!(seen == ["added", "modified", "deleted"], "{seen:?}");
        Ok(())
    }

    async fn json(&self) -> anyhow::Result<()> {
        let patch = serde_json::from_value(json!([
            {"op": "test", "path": "/data/a", "value": "1"}, {"op": "replace", "path": "/data/a", "value": "2"},
        ]))?;
        let patched = self.maps.patch("tour", &PatchParams::default(), &Patch::<()>::Json(patch)).await?;
        ensure!(json!(patched.data) == json!({"a": "2"}), "{:?}", patched.data);
        Ok(())
    }

    async fn merge(&self) -> anyhow::Result<()> {
        let patch = Patch::Merge(json!({"data": {"a": null, "b": "3"}}));
        let patched = self.maps.patch("tour", &PatchParams::default(), &patch).await?;
        ensure!(json!(patched.data) == json!({"b": "3"}), "{:?}", patched.data);
        Ok(())
    }

    async fn strategic(&self) -> anyhow::Result<()> {
        let patch = Patch::Strategic(json!({"spec": {"ports": [{"name": "more", "port": 81}]}}));
        let patched = self.services.patch("tour", &PatchParams::default(), &patch).await?;
        let ports = patched.spec.and_then(|spec| spec.ports).unwrap_or_default();
        ensure!(ports.len() == 2, "{ports:?}");
        Ok(())
    }

    async fn apply(&self) -> anyhow::Result<()> {
        let by = async |manager: &str, value: &str| {
            let wanted = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"c": value}});
            self.maps.patch("tour", &PatchParams::apply(manager), &Patch::Apply(wanted)).await
        };
        let applied = by("tour", "4").await?;
        ensure!(applied.data.as_ref().is_some_and(|data| data["c"] == "4"), "{:?}", applied.data);
        let refused = by("other", "5").await;
        ensure!(matches!(&refused, Err(Error::Api(status)) if status.is_conflict()), "by another manager: {refused:?}");
        Ok(())
    }

    /// Waits until so many replicas are as they should be.
    async fn rolled_out(&self, replicas: i32) -> anyhow::Result<()> {
        let done = move |deployment: Option<&Deployment>| rolled_out(deployment, replicas);
        await_condition(self.deployments.clone(), "tour", done).await?;
        Ok(())
    }

    async fn pod(&self) -> anyhow::Result<String> {
        self.rolled_out(1).await?;
        let pods = self.pods.list(&ListParams::default().labels("app=tour")).await?;
        ensure!(pods.items.len() == 1, "{} pods", pods.items.len());
        Ok(pods.items[0].name_any())
    }

    async fn exec(&self) -> anyhow::Result<()> {
        let command = ["sh", "-c", "read line; echo $line; exit 3"];
        let streams = AttachParams::default().stdin(true);
        let mut process = self.pods.exec(&self.pod().await?, command, &streams).await?;
        let status = process.take_status().context("no status")?;
        process.stdin().context("no input")?.write_all(b"hello\n").await?;
        let mut printed = String::new();
        process.stdout().context("no output")?.read_to_string(&mut printed).await?;
        let status = status.await.context("no status")?;
        let causes = status.details.and_then(|details| details.causes).unwrap_or_default();
        ensure!(
            printed == "hello\n" && causes.iter().any(|cause| cause.message.as_deref() == Some("3")),
            "{printed:?}, {causes:?}"
        );
        Ok(())
    }

    async fn logs(&self) -> anyhow::Result<()> {
        let log = self.pods.logs(&self.pod().await?, &LogParams::default()).await?;
        ensure!(log.lines().any(|line| line == "started"), "{log:?}");
        Ok(())
    }

    async fn forward(&self) -> anyhow::Result<()> {
        let mut forwarder = self.pods.portforward(&self.pod().await?, &[80]).await?;
        let mut stream = forwarder.take_stream(80).context("no stream")?;
        stream.write_all(b"GET / HTTP/1.1\r\nHost: tour\r\n\r\n").await?;
        let mut page = Vec::new();
        while !page.ends_with(b"</h1>\n") {
            ensure!(stream.read_buf(&mut page).await? > 0, "{:?}", String::from_utf8_lossy(&page));
        }
        ensure!(String::from_utf8_lossy(&page).contains("Welcome to nginx!"));
        // Who waits for an orderly end is told of a fault where both sides close at once.
        forwarder.abort();
        Ok(())
    }

    async fn scale(&self) -> anyhow::Result<()> {
        let patch = Patch::Merge(json!({"spec": {"replicas": 2}}));
        let scale = self.deployments.patch_scale("tour", &PatchParams::default(), &patch).await?;
        ensure!(scale.spec.as_ref().is_some_and(|spec| spec.replicas == Some(2)), "{scale:?}");
        self.rolled_out(2).await
    }

    async fn rollout(&self) -> anyhow::Result<()> {
        self.deployments.restart("tour").await?;
        self.rolled_out(2).await?;
        let sets = self.sets.list(&ListParams::default().labels("app=tour")).await?;
        ensure!(sets.items.len() == 2, "{} replica sets", sets.items.len());
        Ok(())
    }

    async fn delete(&self) -> anyhow::Result<()> {
        let uid = self.deployments.get("tour").await?.uid().unwrap_or_default();
        self.deployments.delete("tour", &DeleteParams::foreground()).await?;
        self.services.delete("tour", &DeleteParams::default()).await?;
        self.maps.delete("tour", &DeleteParams::default()).await?;
        await_condition(self.deployments.clone(), "tour", conditions::is_deleted(&uid)).await?;
        let pods = self.pods.list(&ListParams::default().labels("app=tour")).await?;
        ensure!(pods.items.is_empty(), "{} pods", pods.items.len());
        Ok(())
    }
}
