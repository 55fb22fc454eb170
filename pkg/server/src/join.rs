//! The server's side of joining: who knows the token's secret gets certificates for the node name
//! it asks for, unless another machine has that name. See `node::join` for the flow.

use std::sync::Arc;

use axum::{Json, Router, extract::State, routing::post};
use http::{HeaderMap, StatusCode, header};
use k8s_openapi::api::core::v1::Node;
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use node::join::{ClusterSettings, JoinRequest, JoinResponse, PATH};
use pki::{Ca, Token, Usage};
use serde_json::json;
use sha2::{Digest as _, Sha256};

/// Annotation of a Node with the hash of the public key of the machine that joined under its name.
const MACHINE: &str = "kinglet.dev/machine";

/// What the endpoint needs.
pub struct Joins {
    /// Signs.
    pub ca: Arc<Ca>,
    /// Asked for.
    pub token: Token,
    /// Given to every node.
    pub cluster: ClusterSettings,
    /// Looks at Nodes.
    pub client: tokio::sync::OnceCell<kube::Client>,
}

/// The route of [`PATH`].
pub fn router(joins: Arc<Joins>) -> Router {
    Router::new().route(PATH, post(join)).with_state(joins)
}

type Refusal = (StatusCode, String);

async fn join(
    State(joins): State<Arc<Joins>>,
    headers: HeaderMap,
    Json(request): Json<JoinRequest>,
) -> Result<Json<JoinResponse>, Refusal> {
    let given =
        headers.get(header::AUTHORIZATION).and_then(|h| h.to_str().ok()).and_then(|h| h.strip_prefix("Bearer "));
    // Hashes are compared, so that the time it takes tells nothing of the secret.
    let same = |a: &str, b: &str| Sha256::digest(a) == Sha256::digest(b);
    if !given.is_some_and(|secret| same(secret, joins.token.secret())) {
        tracing::info!(node = request.node_name, "a node tried to join with a wrong secret");
        return Err((StatusCode::UNAUTHORIZED, "wrong secret".to_owned()));
    }
    let client = joins.client.get().ok_or((StatusCode::SERVICE_UNAVAILABLE, "starting".to_owned()))?;
    claim(client, &request).await?;
    let sign = |key: &str, usage: &Usage| joins.ca.sign(key, usage).map_err(|e| (StatusCode::FORBIDDEN, e.to_string()));
    let response = JoinResponse {
        client_certificate: sign(&request.client_key, &node_usage(&request.node_name))?,
        serving_certificate: sign(&request.serving_key, &kubelet_usage(&request))?,
        cluster: joins.cluster.clone(),
    };
    tracing::info!(node = request.node_name, "node joined");
    Ok(Json(response))
}

/// The kubelet as a client of the API.
pub fn node_usage(node_name: &str) -> Usage {
    Usage::client(format!("system:node:{node_name}"), &["system:nodes"])
}

fn kubelet_usage(request: &JoinRequest) -> Usage {
    Usage::server(
        format!("system:node:{}", request.node_name),
        vec![request.node_name.clone()],
        request.addresses.clone(),
    )
}

/// Makes sure that the name belongs to this machine: makes the Node with the machine's mark, or
/// finds the same mark on it. Deleting the Node frees the name.
async fn claim(client: &kube::Client, request: &JoinRequest) -> Result<(), Refusal> {
    let unavailable = |e: kube::Error| (StatusCode::SERVICE_UNAVAILABLE, e.to_string());
    let machine: String = Sha256::digest(&request.client_key).iter().map(|b| format!("{b:02x}")).collect();
    let nodes: Api<Node> = Api::all(client.clone());
    let name = &request.node_name;
    let Some(node) = nodes.get_opt(name).await.map_err(unavailable)? else {
        let node =
            json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "annotations": {MACHINE: machine}}});
        let made = nodes.patch(name, &PatchParams::apply("kinglet-join"), &Patch::Apply(node)).await;
        return match made {
            Ok(_) => Ok(()),
            Err(kube::Error::Api(status)) if status.code == 422 => Err((StatusCode::FORBIDDEN, status.message.clone())),
            Err(error) => Err(unavailable(error)),
        };
    };
    let owner = node.metadata.annotations.as_ref().and_then(|a| a.get(MACHINE));
    if owner == Some(&machine) {
        return Ok(());
    }
    Err((
        StatusCode::FORBIDDEN,
        format!(
            "node name {name:?} belongs to another machine; choose another with --node-name, \
             or free it with: kubectl delete node {name}"
        ),
    ))
}
