//! The client library of the project's own components, over the in-process transport.

use std::time::Duration;

use api::UserInfo;
use futures::StreamExt as _;
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Pod},
};
use kube::{
    Api,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
    runtime::watcher,
};
use serde_json::json;

use super::Fixture;

fn client(fixture: &Fixture) -> kube::Client {
    client::in_process(fixture.server.clone(), UserInfo::authenticated("component", &["system:masters"]))
}

#[tokio::test]
async fn typed_objects_go_both_ways() {
    let fixture = Fixture::new().await;
    let maps: Api<ConfigMap> = Api::namespaced(client(&fixture), "default");
    let map: ConfigMap = serde_json::from_value(json!({"metadata": {"name": "a"}, "data": {"k": "v"}})).unwrap();
    let made = maps.create(&PostParams::default(), &map).await.unwrap();
    assert_eq!(made.data.unwrap()["k"], "v");
    let patch = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "w"}});
    maps.patch("a", &PatchParams::apply("m").force(), &Patch::Apply(&patch)).await.unwrap();
    assert_eq!(maps.get("a").await.unwrap().data.unwrap()["k"], "w");
    assert!(maps.get_opt("b").await.unwrap().is_none());
    assert_eq!(maps.list(&ListParams::default().limit(1)).await.unwrap().items.len(), 1);
    assert!(maps.delete("a", &DeleteParams::default()).await.unwrap().is_right());
    let deployments: Api<Deployment> = Api::all(client(&fixture));
    assert!(deployments.list(&ListParams::default()).await.unwrap().items.is_empty());
}

#[tokio::test]
async fn watchers_follow_by_list_and_by_stream() {
    let fixture = Fixture::new().await;
    let pods: Api<Pod> = Api::namespaced(client(&fixture), "default");
    let pod = |name: &str| -> Pod {
        serde_json::from_value(
            json!({"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "x"}]}}),
        )
        .unwrap()
    };
    pods.create(&PostParams::default(), &pod("first")).await.unwrap();
    for config in [watcher::Config::default(), watcher::Config::default().streaming_lists()] {
        let mut events = std::pin::pin!(watcher(pods.clone(), config));
        let mut next = async || {
            let event =
                tokio::time::timeout(Duration::from_secs(5), events.next()).await.expect("in time").unwrap().unwrap();
            let name = |pod: Pod| pod.metadata.name.unwrap();
            match event {
                watcher::Event::Init => "init".to_owned(),
                watcher::Event::InitApply(pod) => format!("has {}", name(pod)),
                watcher::Event::InitDone => "done".to_owned(),
                watcher::Event::Apply(pod) => format!("apply {}", name(pod)),
                watcher::Event::Delete(pod) => format!("delete {}", name(pod)),
            }
        };
        assert_eq!([next().await, next().await, next().await], ["init", "has first", "done"]);
        pods.create(&PostParams::default(), &pod("second")).await.unwrap();
        assert_eq!(next().await, "apply second");
        pods.delete("second", &DeleteParams::default()).await.unwrap();
        assert_eq!(next().await, "delete second");
    }
}
