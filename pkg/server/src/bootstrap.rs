//! What a fresh cluster contains: the objects of `manifests/`, and the `kubernetes` Service.
//!
//! Everything is applied at each start (server-side apply, so that what users added stays), which
//! writes nothing where nothing differs.

use std::net::{IpAddr, SocketAddr};

use api::{Kinds, Value, meta};
use futures::future::try_join_all;
use serde_json::json;

use crate::Error;

macro_rules! manifest {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../manifests/", $name)))
    };
}

/// In the order in which they are applied; the objects of one file go in at once.
const MANIFESTS: &[(&str, &str)] = &[
    manifest!("10-namespaces.yaml"),
    manifest!("20-priority-classes.yaml"),
    manifest!("21-priority-levels.yaml"),
    manifest!("22-flow-schemas.yaml"),
    manifest!("30-rbac-roles.yaml"),
    manifest!("31-rbac-bindings.yaml"),
    manifest!("32-rbac-controllers.yaml"),
    manifest!("33-rbac-namespaces.yaml"),
    manifest!("40-kube-dns.yaml"),
];

/// Values for placeholders in manifests.
pub struct Settings {
    /// `${CLUSTER_DNS}`.
    pub cluster_dns: IpAddr,
    /// Where this server's API is reached.
    pub api: SocketAddr,
    /// Addresses of Services.
    pub service_cidr: apiserver::ServiceCidr,
    /// Address of the `kubernetes` Service.
    pub kubernetes_ip: IpAddr,
}

/// Applies everything.
pub async fn apply(client: &kube::Client, kinds: &Kinds, settings: &Settings) -> Result<(), Error> {
    for (file, text) in MANIFESTS {
        let text = text.replace("${CLUSTER_DNS}", &settings.cluster_dns.to_string());
        let mut objects: Vec<Value> = serde_saphyr::from_multiple(&text)
            .map_err(|e| Error::Manifest { file: (*file).to_owned(), message: e.to_string() })?;
        let bindings: Vec<Value> = objects.iter().filter_map(controller_binding).collect();
        objects.extend(bindings);
        try_join_all(objects.iter().map(|object| apply_one(client, kinds, object))).await?;
    }
    default_service_cidr(client, settings).await?;
    let own = kubernetes_service(settings);
    try_join_all(own.iter().map(|object| apply_one(client, kinds, object))).await?;
    Ok(())
}

/// The binding of a controller's role to the service account of the same name.
fn controller_binding(role: &Value) -> Option<Value> {
    let name = meta::name(role);
    let account = name.strip_prefix("system:controller:").filter(|_| role["kind"] == "ClusterRole")?;
    Some(json!({
        "apiVersion": role["apiVersion"], "kind": "ClusterRoleBinding",
        "metadata": role["metadata"],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": "kube-system"}],
    }))
}

async fn apply_one(client: &kube::Client, kinds: &Kinds, object: &Value) -> Result<(), Error> {
    let api_version = object["apiVersion"].as_str().unwrap_or_default();
    let kind = object["kind"].as_str().unwrap_or_default();
    let name = meta::name(object);
    let failed = |message: String| Error::Bootstrap { object: format!("{kind} {name}"), message };
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let row =
        kinds.by_kind(group, version, kind).ok_or_else(|| failed(format!("{api_version} {kind} is not served")))?;
    let prefix = if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") };
    let namespace = match (row.namespaced, meta::namespace(object)) {
        (false, _) => String::new(),
        (true, "") => "/namespaces/default".to_owned(),
        (true, namespace) => format!("/namespaces/{namespace}"),
    };
    let path = format!("{prefix}{namespace}/{}/{name}", &*row.plural);
    if kept(client, object, &path).await.map_err(|e| failed(e.to_string()))? {
        return Ok(());
    }
    let request = http::Request::patch(format!("{path}?fieldManager=kinglet&force=true"))
        .header(http::header::CONTENT_TYPE, "application/apply-patch+yaml")
        .body(object.to_string().into_bytes())
        .map_err(|e| failed(e.to_string()))?;
    client.request::<Value>(request).await.map(drop).map_err(|e| failed(e.to_string()))
}

/// Set to `false` by those who want to keep an object as they have made it.
const AUTO_UPDATE: &str = "apf.kubernetes.io/autoupdate-spec";
/// Objects without which requests could not be told apart: nobody keeps them.
const MANDATORY: [&str; 2] = ["exempt", "catch-all"];

/// Whether an object is there, and somebody wants it as it is.
async fn kept(client: &kube::Client, object: &Value, path: &str) -> Result<bool, kube::Error> {
    let annotated = !object["metadata"]["annotations"][AUTO_UPDATE].is_null();
    if !annotated || MANDATORY.contains(&meta::name(object)) {
        return Ok(false);
    }
    let request = http::Request::get(path).body(Vec::new()).map_err(kube::Error::HttpError)?;
    match client.request::<Value>(request).await {
        Ok(live) => Ok(live["metadata"]["annotations"][AUTO_UPDATE] == "false"),
        Err(kube::Error::Api(answer)) if answer.code == 404 => Ok(false),
        Err(error) => Err(error),
    }
}

/// The range that the server was started with, as an object; made once, since it cannot be changed.
async fn default_service_cidr(client: &kube::Client, settings: &Settings) -> Result<(), Error> {
    let failed =
        |error: kube::Error| Error::Bootstrap { object: "ServiceCIDR kubernetes".into(), message: error.to_string() };
    let object = json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "ServiceCIDR", "metadata": {"name": "kubernetes"},
        "spec": {"cidrs": [settings.service_cidr.to_string()]},
    });
    let request = http::Request::post("/apis/networking.k8s.io/v1/servicecidrs")
        .header(http::header::CONTENT_TYPE, "application/json")
        .body(object.to_string().into_bytes())
        .map_err(|error| failed(kube::Error::HttpError(error)))?;
    match client.request::<Value>(request).await {
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
        other => other.map(drop).map_err(failed),
    }
}

/// The Service through which pods reach the API, and its endpoints: no controller makes them.
fn kubernetes_service(settings: &Settings) -> Vec<Value> {
    let labels = json!({"component": "apiserver", "provider": "kubernetes"});
    let port = settings.api.port();
    let service = json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "kubernetes", "namespace": "default", "labels": labels},
        "spec": {
            "clusterIP": settings.kubernetes_ip, "type": "ClusterIP", "sessionAffinity": "None",
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": port}],
        },
    });
    let endpoints = json!({
        "apiVersion": "v1", "kind": "Endpoints",
        "metadata": {
            "name": "kubernetes", "namespace": "default",
            "labels": {"endpointslice.kubernetes.io/skip-mirror": "true"},
        },
        "subsets": [{
            "addresses": [{"ip": settings.api.ip()}],
            "ports": [{"name": "https", "port": port, "protocol": "TCP"}],
        }],
    });
    let slice = json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
        "metadata": {
            "name": "kubernetes", "namespace": "default", "labels": {"kubernetes.io/service-name": "kubernetes"},
        },
        "addressType": if settings.api.is_ipv4() { "IPv4" } else { "IPv6" },
        "endpoints": [{"addresses": [settings.api.ip()], "conditions": {"ready": true}}],
        "ports": [{"name": "https", "port": port, "protocol": "TCP"}],
    });
    vec![service, endpoints, slice]
}
