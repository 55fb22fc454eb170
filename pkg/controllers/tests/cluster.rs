//! All controllers against the real API server, in one process, over the in-memory store. Nobody
//! runs pods here: the tests say what a kubelet would say.

use std::{fmt::Debug, sync::Arc, time::Duration};

use api::UserInfo;
use apiserver::{ApiServer, Config};
use client::{EventType, Informer, Informers, ObjectKey, Recorder, leader::Election, reference};
use k8s_openapi::api::{
    apps::v1::{Deployment, ReplicaSet},
    core::v1::{ConfigMap, Endpoints, Event, Namespace, Node, ObjectReference, Pod, Service, ServiceAccount},
    discovery::v1::EndpointSlice,
    policy::v1::PodDisruptionBudget,
};
use kube::{
    Api, Resource, ResourceExt as _,
    api::{ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
};
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

struct Cluster {
    client: kube::Client,
    informers: Informers,
    stop: CancellationToken,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Cluster {
    async fn start() -> Self {
        // Another test of this process may have set it up already.
        let _ = tracing_subscriber::fmt()
            .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
            .with_test_writer()
            .try_init();
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth();
        let config = Config {
            store: Arc::new(store::MemoryStore::default()),
            kinds: api::kinds::builtin(),
            service_cidr: "10.43.0.0/16".parse().expect("a range"),
            advertise: "127.0.0.1:6443".parse().expect("an address"),
            service_account_key: rcgen::KeyPair::generate().expect("a key").serialize_pem(),
            service_account_issuer: "https://kubernetes.default.svc.cluster.local".to_owned(),
            own_node: String::new(),
            kubelet_client: Arc::new(tls.clone()),
            proxy_client: Arc::new(tls),
            extra: Vec::new(),
        };
        let server = ApiServer::start(config, stop.clone(), &tasks).await.expect("starts");
        let admin = client::in_process(server.clone(), UserInfo::authenticated("admin", &["system:masters"]));
        let informers = Informers::new(admin.clone(), stop.clone());
        let cluster = Cluster { client: admin, informers, stop: stop.clone() };
        cluster.apply_roles().await;
        // With the permissions they have in a real cluster, and no more.
        let user = UserInfo::authenticated("system:kube-controller-manager", &[]);
        let config = controllers::Config {
            informers: Informers::new(client::in_process(server, user), stop.clone()),
            cluster_cidr: "10.42.0.0/16".to_owned(),
            root_ca: "a certificate".to_owned(),
            clock: client::clock::system(),
        };
        controllers::start(config, stop.clone(), &tasks).expect("starts");
        cluster.create(None, json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "test" } })).await;
        // What is read below without waiting.
        cluster.informers.get::<Namespace>().synced().await;
        cluster.informers.get::<ReplicaSet>().synced().await;
        cluster.informers.get::<Pod>().synced().await;
        cluster.until::<ServiceAccount>("default account", |all| all.iter().any(|a| in_test(&**a))).await;
        cluster
    }

    async fn apply_roles(&self) {
        let manifests = [
            include_str!("../../../manifests/30-rbac-roles.yaml"),
            include_str!("../../../manifests/31-rbac-bindings.yaml"),
        ];
        for document in manifests.iter().flat_map(|manifest| manifest.split("\n---\n")) {
            let Ok(object) = serde_saphyr::from_str::<serde_json::Value>(document) else { continue };
            let plural = match object["kind"].as_str() {
                Some("ClusterRole") => "clusterroles",
                Some("ClusterRoleBinding") => "clusterrolebindings",
                _ => continue,
            };
            let request = http::Request::post(format!("/apis/rbac.authorization.k8s.io/v1/{plural}"))
                .header("content-type", "application/json")
                .body(object.to_string().into_bytes())
                .expect("a request");
            let _: serde_json::Value = self.client.request(request).await.expect("created");
        }
    }

    fn api<K>(&self) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), "test")
    }

    /// Creates anything, in namespace `test` if it is given a plural.
    async fn create(&self, plural: Option<(&str, &str)>, object: serde_json::Value) {
        let path = match plural {
            None => format!("/api/v1/{}s", object["kind"].as_str().expect("a kind").to_lowercase()),
            Some((prefix, plural)) => format!("/{prefix}/namespaces/test/{plural}"),
        };
        let request = http::Request::post(path)
            .header("content-type", "application/json")
            .body(object.to_string().into_bytes())
            .expect("a request");
        let _: serde_json::Value = self.client.request(request).await.expect("created");
    }

    /// Waits for what the informer shows.
    async fn until<K>(&self, what: &str, done: impl Fn(&[Arc<K>]) -> bool) -> Vec<Arc<K>>
    where
        K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
    {
        let informer: Informer<K> = self.informers.get();
        let waiting = async {
            let mut changes = informer.changes();
            informer.synced().await;
            loop {
                let all = informer.list();
                if done(&all) {
                    return all;
                }
                futures::StreamExt::next(&mut changes).await.expect("the informer lives");
            }
        };
        match tokio::time::timeout(Duration::from_secs(20), waiting).await {
            Ok(all) => all,
            Err(_) => panic!("never came: {what}; there is {:#?}", informer.list()),
        }
    }

    /// Says of every pod that lacks it that it runs and is ready.
    async fn run_pods(&self) {
        let api = self.api::<Pod>();
        for (n, pod) in self.informers.get::<Pod>().list().iter().enumerate() {
            if pod.metadata.deletion_timestamp.is_some() {
                let now = DeleteParams::default().grace_period(0);
                let _ = api.delete(&pod.name_any(), &now).await;
            } else if pod.status.as_ref().and_then(|s| s.pod_ip.as_ref()).is_none() {
                let ip = format!("10.42.0.{}", n + 1);
                let status = json!({ "status": {
                    "phase": "Running",
                    "podIP": ip,
                    "podIPs": [{ "ip": ip }],
                    "conditions": [{ "type": "Ready", "status": "True", "lastTransitionTime": jiff::Timestamp::now() }],
                }});
                let _ = api.patch_status(&pod.name_any(), &PatchParams::default(), &Patch::Strategic(status)).await;
            }
        }
    }

    /// Runs pods until the Deployment is what is asked for.
    async fn rolled_out(&self, image: &str, replicas: i32) {
        let rolling = async {
            loop {
                self.run_pods().await;
                let deployment = self.api::<Deployment>().get("web").await.expect("there");
                let status = deployment.status.clone().unwrap_or_default();
                let pods = self.informers.get::<Pod>().list();
                let right =
                    |pod: &Arc<Pod>| pod.spec.as_ref().is_some_and(|s| s.containers[0].image.as_deref() == Some(image));
                if status.observed_generation == deployment.metadata.generation
                    && status.updated_replicas == Some(replicas)
                    && status.available_replicas == Some(replicas)
                    && status.replicas == Some(replicas)
                    && pods.len() == usize::try_from(replicas).expect("positive")
                    && pods.iter().all(right)
                {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        if tokio::time::timeout(Duration::from_secs(30), rolling).await.is_err() {
            panic!(
                "not rolled out: {:#?}\n{:#?}",
                self.informers.get::<Deployment>().list(),
                self.informers
                    .get::<ReplicaSet>()
                    .list()
                    .iter()
                    .map(|s| (s.name_any(), s.spec.replicas, s.status.clone()))
                    .collect::<Vec<_>>()
            );
        }
    }
}

fn in_test<K: Resource>(object: &K) -> bool {
    object.meta().namespace.as_deref() == Some("test")
}

fn deployment(image: &str, replicas: i32) -> serde_json::Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": "web", "namespace": "test" },
        "spec": {
            "replicas": replicas,
            "selector": { "matchLabels": { "app": "web" } },
            "template": {
                "metadata": { "labels": { "app": "web" } },
                // On a node, so that they end in their own time.
                "spec": { "nodeName": "n", "containers": [{ "name": "web", "image": image }] },
            },
        },
    })
}

const DEPLOYMENTS: Option<(&str, &str)> = Some(("apis/apps/v1", "deployments"));

#[tokio::test(flavor = "multi_thread")]
async fn a_deployment_lives_rolls_and_goes() {
    let cluster = Cluster::start().await;
    cluster.create(DEPLOYMENTS, deployment("web:1", 3)).await;
    cluster.rolled_out("web:1", 3).await;

    let deployments = cluster.api::<Deployment>();
    let image =
        |image| json!({ "spec": { "template": { "spec": { "containers": [{ "name": "web", "image": image }] } } } });
    for (at, tag) in ["web:2", "web:1"].into_iter().enumerate() {
        deployments.patch("web", &PatchParams::default(), &Patch::Strategic(image(tag))).await.expect("patched");
        cluster.rolled_out(tag, 3).await;
        let now = deployments.get("web").await.expect("there");
        assert_eq!(now.annotations()["deployment.kubernetes.io/revision"], (at + 2).to_string());
        assert_eq!(now.metadata.generation, Some(at as i64 + 2), "only the client's changes count");
    }
    deployments
        .patch("web", &PatchParams::default(), &Patch::Merge(json!({ "spec": { "replicas": 1 } })))
        .await
        .expect("scaled");
    cluster.rolled_out("web:1", 1).await;
    assert_eq!(cluster.api::<ReplicaSet>().list(&ListParams::default()).await.expect("lists").items.len(), 2);

    deployments.delete("web", &DeleteParams::background()).await.expect("deleted");
    cluster.until::<ReplicaSet>("sets are collected", |all| all.is_empty()).await;
    let gone = async {
        while !cluster.informers.get::<Pod>().list().is_empty() {
            cluster.run_pods().await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), gone).await.expect("pods are collected");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_that_is_deleted_comes_back() {
    let cluster = Cluster::start().await;
    cluster.create(DEPLOYMENTS, deployment("web:1", 2)).await;
    cluster.rolled_out("web:1", 2).await;
    let before = cluster.informers.get::<Pod>().list();
    let now = DeleteParams::default().grace_period(0);
    cluster.api::<Pod>().delete(&before[0].name_any(), &now).await.expect("deleted");
    let gone = before[0].uid();
    cluster.until::<Pod>("another one", |all| all.len() == 2 && all.iter().all(|p| p.uid() != gone)).await;
}

fn budget(name: &str, spec: serde_json::Value) -> serde_json::Value {
    json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": { "name": name, "namespace": "test" },
        "spec": spec,
    })
}

const BUDGETS: Option<(&str, &str)> = Some(("apis/policy/v1", "poddisruptionbudgets"));

/// Waits until the status counts so: healthy, desired, expected, allowed, reason.
async fn counted(cluster: &Cluster, name: &str, want: ([i32; 4], &str)) {
    let is = |budget: &PodDisruptionBudget| {
        let Some(status) = budget.status.clone() else { return false };
        let numbers =
            [status.current_healthy, status.desired_healthy, status.expected_pods, status.disruptions_allowed];
        budget.name_any() == name
            && status.observed_generation == budget.metadata.generation
            && numbers == want.0.map(Some)
            && status.disrupted_pods.is_none_or(|pods| pods.is_empty())
            && status.conditions.iter().flatten().any(|c| c.type_ == "DisruptionAllowed" && c.reason == want.1)
    };
    cluster.until::<PodDisruptionBudget>(&format!("{name}: {want:?}"), |all| all.iter().any(|b| is(b))).await;
}

async fn evict(cluster: &Cluster, pod: &str) -> Result<(), Box<kube::core::Status>> {
    match cluster.api::<Pod>().evict(pod, &Default::default()).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) => Err(status),
        Err(error) => panic!("no answer: {error}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_eviction_waits_for_its_budget() {
    let cluster = Cluster::start().await;
    let selector = json!({ "matchLabels": { "app": "web" } });
    cluster.create(BUDGETS, budget("b", json!({ "maxUnavailable": 1, "selector": selector }))).await;
    counted(&cluster, "b", ([0, 0, 0, 0], "InsufficientPods")).await;
    cluster.create(DEPLOYMENTS, deployment("web:1", 2)).await;
    cluster.rolled_out("web:1", 2).await;
    counted(&cluster, "b", ([2, 1, 2, 1], "SufficientPods")).await;

    let pods = cluster.informers.get::<Pod>().list();
    evict(&cluster, &pods[0].name_any()).await.expect("one may go");
    // The pod is on its way, and its successor does not run yet.
    counted(&cluster, "b", ([1, 1, 2, 0], "InsufficientPods")).await;
    let refused = evict(&cluster, &pods[1].name_any()).await.expect_err("no other one may go");
    assert_eq!(refused.code, 429, "{refused:?}");
    let causes: Vec<_> = refused.details.iter().flat_map(|d| d.causes.iter().map(|c| c.message.as_str())).collect();
    assert_eq!(causes, ["The disruption budget b needs 1 healthy pods and has 1 currently"]);

    // Before there is a successor, the Deployment may still look as it did before the eviction.
    cluster.until::<Pod>("a successor", |all| all.len() == 3).await;
    cluster.rolled_out("web:1", 2).await;
    counted(&cluster, "b", ([2, 1, 2, 1], "SufficientPods")).await;
    evict(&cluster, &pods[1].name_any()).await.expect("now it may go");
    // What changes in the scale alone is seen, too.
    let more = Patch::Merge(json!({ "spec": { "replicas": 5 } }));
    cluster.api::<Deployment>().patch("web", &PatchParams::default(), &more).await.expect("scaled");
    cluster.rolled_out("web:1", 5).await;
    counted(&cluster, "b", ([5, 4, 5, 1], "SufficientPods")).await;
}

/// Scales of kinds that no informer follows come from `/scale`; what has none is told.
#[tokio::test(flavor = "multi_thread")]
async fn budgets_ask_for_the_scale_of_what_they_do_not_know() {
    let cluster = Cluster::start().await;
    define_widgets(&cluster).await;
    let owners = [
        ("example.com/v1", "Widget", "widgets", json!({ "replicas": 6 })),
        ("apps/v1", "StatefulSet", "statefulsets", json!({ "serviceName": "s", "replicas": 4 })),
        ("v1", "ReplicationController", "replicationcontrollers", json!({ "replicas": 3 })),
        ("batch/v1", "Job", "jobs", json!({})),
    ];
    for (version, kind, plural, mut spec) in owners {
        let labels = json!({ "of": plural });
        spec["template"] = json!({
            "metadata": { "labels": labels },
            "spec": { "restartPolicy": if kind == "Job" { "Never" } else { "Always" }, "containers": [{ "name": "c", "image": "i" }] },
        });
        match kind {
            "StatefulSet" => spec["selector"] = json!({ "matchLabels": labels }),
            "ReplicationController" => spec["selector"] = labels.clone(),
            _ => {}
        }
        let prefix = if version == "v1" { "api/v1".to_owned() } else { format!("apis/{version}") };
        let object = json!({ "apiVersion": version, "kind": kind, "metadata": { "name": "o", "namespace": "test" }, "spec": spec });
        cluster.create(Some((&prefix, plural)), object).await;
        let path = format!("/{prefix}/namespaces/test/{plural}/o");
        let request = http::Request::get(path).body(Vec::new()).expect("a request");
        let owner: serde_json::Value = cluster.client.request(request).await.expect("there");
        let reference = json!([{ "apiVersion": version, "kind": kind, "name": "o", "uid": owner["metadata"]["uid"], "controller": true }]);
        let pod = json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": { "name": plural, "namespace": "test", "labels": labels, "ownerReferences": reference },
            "spec": { "nodeName": "n", "containers": [{ "name": "c", "image": "i" }] },
        });
        cluster.create(Some(("api/v1", "pods")), pod).await;
        let selector = json!({ "matchLabels": labels });
        cluster.create(BUDGETS, budget(plural, json!({ "minAvailable": "50%", "selector": selector }))).await;
    }
    counted(&cluster, "widgets", ([0, 3, 6, 0], "InsufficientPods")).await;
    counted(&cluster, "statefulsets", ([0, 2, 4, 0], "InsufficientPods")).await;
    counted(&cluster, "replicationcontrollers", ([0, 2, 3, 0], "InsufficientPods")).await;
    let told = "jobs.batch does not implement the scale subresource";
    cluster
        .until::<PodDisruptionBudget>("why not", |all| {
            let conditions = all.iter().filter_map(|b| b.status.as_ref()?.conditions.as_ref()).flatten();
            conditions.into_iter().any(|c| c.reason == "SyncFailed" && c.message == told)
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn services_have_endpoints() {
    let cluster = Cluster::start().await;
    let service = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": { "name": "web", "namespace": "test" },
        "spec": { "selector": { "app": "web" }, "ports": [{ "port": 80, "targetPort": 8080 }] },
    });
    cluster.create(Some(("api/v1", "services")), service).await;
    cluster.create(DEPLOYMENTS, deployment("web:1", 2)).await;
    cluster.rolled_out("web:1", 2).await;
    let ready = |slice: &EndpointSlice| {
        let endpoints = slice.endpoints.iter().flatten();
        endpoints.filter(|e| e.conditions.as_ref().is_some_and(|c| c.ready == Some(true))).count()
    };
    let slices = cluster
        .until::<EndpointSlice>("two endpoints", |all| {
            all.iter().filter(|s| in_test(&***s)).map(|s| ready(s)).sum::<usize>() == 2
        })
        .await;
    assert_eq!(slices.iter().filter(|s| in_test(&***s)).count(), 1);
    cluster
        .until::<Endpoints>("the older form", |all| {
            all.iter().any(|e| {
                in_test(&**e) && e.subsets.iter().flatten().flat_map(|s| s.addresses.iter().flatten()).count() == 2
            })
        })
        .await;
    cluster.api::<Service>().delete("web", &DeleteParams::background()).await.expect("deleted");
    cluster.until::<EndpointSlice>("slices are collected", |all| !all.iter().any(|s| in_test(&**s))).await;
    cluster.until::<Endpoints>("endpoints go", |all| !all.iter().any(|e| in_test(&**e))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_goes_with_all_that_is_in_it() {
    let cluster = Cluster::start().await;
    cluster.until::<ConfigMap>("root certificate", |all| all.iter().any(|m| in_test(&**m))).await;
    cluster.create(DEPLOYMENTS, deployment("web:1", 2)).await;
    cluster.rolled_out("web:1", 2).await;
    Api::<Namespace>::all(cluster.client.clone()).delete("test", &DeleteParams::default()).await.expect("deleted");
    let gone = async {
        while cluster.informers.get::<Namespace>().get(&ObjectKey::new("", "test")).is_some() {
            cluster.run_pods().await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let gone = tokio::time::timeout(Duration::from_secs(30), gone).await;
    assert!(gone.is_ok(), "still there: {:#?}", cluster.informers.get::<Namespace>().list());
    assert!(cluster.api::<ConfigMap>().list(&ListParams::default()).await.expect("lists").items.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn foreground_deletion_and_orphans() {
    let cluster = Cluster::start().await;
    cluster.create(DEPLOYMENTS, deployment("web:1", 1)).await;
    cluster.rolled_out("web:1", 1).await;
    cluster.api::<Deployment>().delete("web", &DeleteParams::orphan()).await.expect("deleted");
    cluster.until::<Deployment>("it goes", |all| all.is_empty()).await;
    let sets =
        cluster.until::<ReplicaSet>("its set is free", |all| all.iter().all(|s| s.owner_references().is_empty())).await;
    assert_eq!(sets.len(), 1);
    let name = sets[0].name_any();
    cluster.api::<ReplicaSet>().delete(&name, &DeleteParams::foreground()).await.expect("deleted");
    let gone = async {
        while !cluster.informers.get::<ReplicaSet>().list().is_empty() {
            assert!(
                !cluster.informers.get::<Pod>().list().is_empty()
                    || cluster.api::<Pod>().list(&ListParams::default()).await.expect("lists").items.is_empty()
            );
            cluster.run_pods().await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), gone).await.expect("the set goes after its pod");
    cluster.until::<Pod>("its pod went first", |all| all.is_empty()).await;
}

/// Defines `Widget` in `example.com/v1`, of namespaces, and waits until it is served.
async fn define_widgets(cluster: &Cluster) -> Api<DynamicObject> {
    let schema = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "widgets.example.com" },
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": { "plural": "widgets", "kind": "Widget" },
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "schema": { "openAPIV3Schema": schema },
                "subresources": { "scale": { "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas" } },
            }],
        },
    });
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let request = http::Request::post(definitions)
        .header("content-type", "application/json")
        .body(definition.to_string().into_bytes())
        .expect("a request");
    let _: serde_json::Value = cluster.client.request(request).await.expect("created");
    let resource = ApiResource {
        group: "example.com".to_owned(),
        version: "v1".to_owned(),
        api_version: "example.com/v1".to_owned(),
        kind: "Widget".to_owned(),
        plural: "widgets".to_owned(),
    };
    let api = Api::namespaced_with(cluster.client.clone(), "test", &resource);
    eventually("widgets are served", async || api.list(&ListParams::default()).await.is_ok()).await;
    api
}

fn widget(name: &str, owner: Option<(&str, &str, &str, String)>) -> DynamicObject {
    let owners = owner
        .map(|(version, kind, name, uid)| json!([{ "apiVersion": version, "kind": kind, "name": name, "uid": uid }]));
    serde_json::from_value(json!({
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": { "name": name, "ownerReferences": owners },
    }))
    .expect("an object")
}

async fn eventually(what: &str, done: impl AsyncFn() -> bool) {
    for _ in 0..1000 {
        if done().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("never came: {what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn custom_resources_own_and_are_owned() {
    let cluster = Cluster::start().await;
    let widgets = define_widgets(&cluster).await;
    let create = PostParams::default();
    // A custom owner of a custom resource and of a built-in one, and a built-in owner.
    let owner = widgets.create(&create, &widget("owner", None)).await.expect("created");
    let owned_by = ("example.com/v1", "Widget", "owner", owner.uid().expect("a uid"));
    widgets.create(&create, &widget("dependent", Some(owned_by.clone()))).await.expect("created");
    let map = |name: &str, owners: serde_json::Value| json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name, "ownerReferences": owners } });
    let (version, kind, name, uid) = owned_by;
    let reference = json!([{ "apiVersion": version, "kind": kind, "name": name, "uid": uid }]);
    cluster.create(Some(("api/v1", "configmaps")), map("dependent", reference)).await;
    cluster.create(Some(("api/v1", "configmaps")), map("owner", json!(null))).await;
    let maps = cluster.api::<ConfigMap>();
    let uid = maps.get("owner").await.expect("there").uid().expect("a uid");
    widgets.create(&create, &widget("of-a-map", Some(("v1", "ConfigMap", "owner", uid)))).await.expect("created");

    widgets.delete("owner", &DeleteParams::background()).await.expect("deleted");
    maps.delete("owner", &DeleteParams::background()).await.expect("deleted");
    let none = async |name: &str| widgets.get_opt(name).await.expect("answered").is_none();
    eventually("the custom dependent goes", async || none("dependent").await).await;
    eventually("the dependent of a map goes", async || none("of-a-map").await).await;
    eventually("the map goes", async || maps.get_opt("dependent").await.expect("answered").is_none()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_circle_of_owners_goes_in_the_foreground() {
    let cluster = Cluster::start().await;
    let maps = cluster.api::<ConfigMap>();
    let mut uids = Vec::new();
    for name in ["a", "b", "c"] {
        let map = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name } });
        cluster.create(Some(("api/v1", "configmaps")), map).await;
        uids.push(maps.get(name).await.expect("there").uid().expect("a uid"));
    }
    for (name, owner, at) in [("a", "c", 2), ("b", "a", 0), ("c", "b", 1)] {
        let reference = json!([{ "apiVersion": "v1", "kind": "ConfigMap", "name": owner, "uid": uids[at],
            "controller": true, "blockOwnerDeletion": true }]);
        let patch = json!({ "metadata": { "ownerReferences": reference } });
        maps.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.expect("patched");
    }
    maps.delete("a", &DeleteParams::foreground()).await.expect("deleted");
    for name in ["a", "b", "c"] {
        eventually("all of the circle go", async || maps.get_opt(name).await.expect("answered").is_none()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_takes_its_custom_resources_along() {
    let cluster = Cluster::start().await;
    let widgets = define_widgets(&cluster).await;
    let mut held = widget("held", None);
    held.metadata.finalizers = Some(vec!["example.com/hold".to_owned()]);
    widgets.create(&PostParams::default(), &held).await.expect("created");
    widgets.create(&PostParams::default(), &widget("free", None)).await.expect("created");
    Api::<Namespace>::all(cluster.client.clone()).delete("test", &DeleteParams::default()).await.expect("deleted");
    let none = async |name: &str| widgets.get_opt(name).await.expect("answered").is_none();
    eventually("what is free goes", async || none("free").await).await;
    let namespaces = cluster.informers.get::<Namespace>();
    let told = "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances";
    eventually("what is held is told", async || {
        let namespace = namespaces.get(&ObjectKey::new("", "test"));
        let conditions = namespace.and_then(|n| n.status.clone()?.conditions).unwrap_or_default();
        conditions.iter().any(|c| c.message.as_deref() == Some(told))
    })
    .await;
    let free = json!({ "metadata": { "finalizers": null } });
    widgets.patch("held", &PatchParams::default(), &Patch::Merge(free)).await.expect("patched");
    eventually("the namespace goes", async || namespaces.get(&ObjectKey::new("", "test")).is_none()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_get_addresses_and_taints() {
    let cluster = Cluster::start().await;
    for name in ["a", "b"] {
        cluster.create(None, json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name } })).await;
    }
    let nodes = cluster
        .until::<Node>("ranges and taints", |all| {
            all.len() == 2
                && all.iter().all(|n| {
                    let spec = n.spec.clone().unwrap_or_default();
                    spec.pod_cidr.is_some()
                        && spec.taints.iter().flatten().any(|t| t.key == "node.kubernetes.io/not-ready")
                })
        })
        .await;
    let mut ranges: Vec<_> = nodes.iter().filter_map(|n| n.spec.as_ref()?.pod_cidr.clone()).collect();
    ranges.sort();
    assert_eq!(ranges, ["10.42.0.0/24", "10.42.1.0/24"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_candidate_leads_and_another_takes_over() {
    let cluster = Cluster::start().await;
    let tasks = TaskTracker::new();
    let candidate = |name: &str| {
        let mut election = Election::new("test", "lock", name);
        election.retry_period = Duration::from_millis(100);
        let stop = cluster.stop.child_token();
        (election.start(cluster.client.clone(), stop.clone(), &tasks), stop)
    };
    let wait = Duration::from_secs(20);
    let (mut first, stop) = candidate("first");
    tokio::time::timeout(wait, first.wait_for(|leads| *leads)).await.expect("leads").expect("lives");
    let (mut second, _) = candidate("second");
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(*first.borrow() && !*second.borrow());
    // It gives the lease back, so the other one need not wait for it to expire.
    stop.cancel();
    let took = tokio::time::timeout(Duration::from_secs(5), second.wait_for(|leads| *leads)).await;
    took.expect("takes over").expect("lives");
    assert!(!*first.borrow());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_event_again_is_counted() {
    let cluster = Cluster::start().await;
    let tasks = TaskTracker::new();
    let recorder = Recorder::start(cluster.client.clone(), "tester", Some("host"), cluster.stop.clone(), &tasks);
    let about =
        reference(&*cluster.until::<ServiceAccount>("account", |all| all.iter().any(|a| in_test(&**a))).await[0]);
    let about = ObjectReference { namespace: Some("test".to_owned()), ..about };
    for _ in 0..3 {
        recorder.event(about.clone(), EventType::Normal, "Tested", "it happened");
    }
    recorder.event(about, EventType::Warning, "Failed", "something else");
    let counted = cluster
        .until::<Event>("two events", |all| {
            let mut counts: Vec<_> =
                all.iter().filter(|e| in_test(&***e)).map(|e| (e.reason.clone(), e.count)).collect();
            counts.sort();
            counts == [(Some("Failed".to_owned()), Some(1)), (Some("Tested".to_owned()), Some(3))]
        })
        .await;
    let tested = counted.iter().find(|e| e.reason.as_deref() == Some("Tested")).expect("there");
    let source = tested.source.clone().unwrap_or_default();
    assert_eq!((source.component.as_deref(), source.host.as_deref()), (Some("tester"), Some("host")));
}
