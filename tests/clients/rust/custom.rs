//! A custom resource without derives: the definition, the type, and a controller of it.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc, time::Duration};

use anyhow::{Context as _, ensure};
use futures::StreamExt as _;
use k8s_openapi::{
    api::core::v1::ConfigMap,
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference},
};
use kube::{
    Api, Client, Resource, ResourceExt as _,
    api::{DeleteParams, Patch, PatchParams, PostParams},
    core::NamespaceResourceScope,
    runtime::{
        controller::{Action, Controller},
        finalizer::{Event, finalizer},
        wait::{await_condition, conditions},
        watcher,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A kind whose objects want a ConfigMap each.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Feeder {
    api_version: String,
    kind: String,
    metadata: ObjectMeta,
    spec: Spec,
    status: Option<Status>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct Spec {
    seeds: i64,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct Status {
    filled: i64,
}

impl Resource for Feeder {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        "Feeder".into()
    }

    fn group((): &()) -> Cow<'_, str> {
        "rust.kinglet.dev".into()
    }

    fn version((): &()) -> Cow<'_, str> {
        "v1".into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        "feeders".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

const FINALIZER: &str = "rust.kinglet.dev/feeder";

/// The definition is applied, a controller makes each feeder's ConfigMap, and all goes again.
pub async fn check(client: Client) -> anyhow::Result<()> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let name = "feeders.rust.kinglet.dev";
    let seeds = json!({"type": "object", "required": ["seeds"], "properties": {"seeds": {"type": "integer"}}});
    let status = json!({"type": "object", "properties": {"filled": {"type": "integer"}}});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "spec": {
            "group": "rust.kinglet.dev", "scope": "Namespaced",
            "names": {"plural": "feeders", "singular": "feeder", "kind": "Feeder"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": seeds, "status": status}}},
            }],
        },
    });
    definitions.patch(name, &PatchParams::apply("rust").force(), &Patch::Apply(definition)).await?;
    await_condition(definitions.clone(), name, conditions::is_crd_established()).await?;

    let feeders: Api<Feeder> = Api::namespaced(client.clone(), super::NAMESPACE);
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), super::NAMESPACE);
    let controller =
        Controller::new(feeders.clone(), watcher::Config::default()).owns(maps.clone(), watcher::Config::default());
    let runs = controller.run(reconcile, |_, _, _| Action::requeue(Duration::from_secs(1)), Arc::new(client));
    let task = tokio::spawn(runs.for_each(async |_| {}));

    let feeder: Feeder = serde_json::from_value(json!({
        "apiVersion": "rust.kinglet.dev/v1", "kind": "Feeder", "metadata": {"name": "garden"}, "spec": {"seeds": 3},
    }))?;
    feeders.create(&PostParams::default(), &feeder).await?;
    let filled = |feeder: Option<&Feeder>| feeder.and_then(|f| f.status.as_ref()).is_some_and(|s| s.filled == 3);
    await_condition(feeders.clone(), "garden", filled).await.context("the status")?;
    // What the controller owns comes again.
    let uid = maps.get("garden").await?.uid();
    maps.delete("garden", &DeleteParams::default()).await?;
    await_condition(maps.clone(), "garden", |map: Option<&ConfigMap>| map.is_some_and(|map| map.uid() != uid)).await?;
    let invalid: Feeder =
        Feeder { metadata: ObjectMeta { name: Some("bad name".to_owned()), ..ObjectMeta::default() }, ..feeder };
    ensure!(feeders.create(&PostParams::default(), &invalid).await.is_err());

    let garden = feeders.get("garden").await?;
    ensure!(garden.finalizers() == [FINALIZER], "{garden:?}");
    feeders.delete("garden", &DeleteParams::default()).await?;
    await_condition(feeders, "garden", conditions::is_deleted(&garden.uid().unwrap_or_default())).await?;
    task.abort();
    let definition = definitions.get(name).await?;
    definitions.delete(name, &DeleteParams::default()).await?;
    await_condition(definitions, name, conditions::is_deleted(&definition.uid().unwrap_or_default())).await?;
    Ok(())
}

async fn reconcile(
    feeder: Arc<Feeder>,
    client: Arc<Client>,
) -> Result<Action, kube::runtime::finalizer::Error<kube::Error>> {
    let feeders: Api<Feeder> = Api::namespaced((*client).clone(), super::NAMESPACE);
    let maps: Api<ConfigMap> = Api::namespaced((*client).clone(), super::NAMESPACE);
    let status = feeders.clone();
    finalizer(&feeders, FINALIZER, feeder, async |event| match event {
        Event::Apply(feeder) => {
            let owner: Option<OwnerReference> = feeder.controller_owner_ref(&());
            let map = ConfigMap {
                metadata: ObjectMeta {
                    name: Some(feeder.name_any()),
                    owner_references: owner.map(|o| vec![o]),
                    ..ObjectMeta::default()
                },
                data: Some(BTreeMap::from([("seeds".to_owned(), feeder.spec.seeds.to_string())])),
                ..ConfigMap::default()
            };
            let params = PatchParams::apply("feeders").force();
            maps.patch(&feeder.name_any(), &params, &Patch::Apply(map)).await?;
            let filled = Patch::Merge(json!({"status": {"filled": feeder.spec.seeds}}));
            status.patch_status(&feeder.name_any(), &PatchParams::default(), &filled).await?;
            Ok(Action::await_change())
        }
        Event::Cleanup(_) => Ok(Action::await_change()),
    })
    .await
}
