//! The server's side of joining: who knows the token's secret gets certificates for the node name
//! it asks for, unless another machine has that name. See `node::join` for the flow.

use std::{net::IpAddr, sync::Arc};

use apiserver::ServiceCidr;
use axum::{Json, Router, extract::State, routing::post};
use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use k8s_openapi::api::core::v1::Node;
use kube::Api;
use node::join::{ClusterSettings, JoinRequest, JoinResponse, PATH};
use pki::{Ca, Token, Usage};
use sha2::{Digest as _, Sha256};

/// What the endpoint needs.
pub struct Joins {
    /// Signs.
    pub ca: Arc<Ca>,
    /// Asked for.
    pub token: Token,
    /// Given to every node.
    pub cluster: ClusterSettings,
    /// Names and addresses that are the API server's.
    pub api: Usage,
    /// Addresses that are Services'.
    pub service_cidr: ServiceCidr,
    /// Name of the server's own node.
    pub own_node: String,
    /// Looks at Nodes.
    pub client: tokio::sync::OnceCell<kube::Client>,
}

/// The route of [`PATH`].
pub fn router(joins: Arc<Joins>) -> Router {
    Router::new().route(PATH, post(join)).with_state(joins)
}

type Refusal = (StatusCode, String);

async fn join(State(joins): State<Arc<Joins>>, headers: HeaderMap, body: Bytes) -> Result<Json<JoinResponse>, Refusal> {
    let given =
        headers.get(header::AUTHORIZATION).and_then(|h| h.to_str().ok()).and_then(|h| h.strip_prefix("Bearer "));
    // Hashes are compared, so that the time it takes tells nothing of the secret.
    let same = |a: &str, b: &str| Sha256::digest(a) == Sha256::digest(b);
    if !given.is_some_and(|secret| same(secret, joins.token.secret())) {
        tracing::info!("a node tried to join with a wrong secret");
        return Err((StatusCode::UNAUTHORIZED, "wrong secret".to_owned()));
    }
    let client = joins.client.get().ok_or((StatusCode::SERVICE_UNAVAILABLE, "starting".to_owned()))?;
    let request: JoinRequest = serde_json::from_slice(&body).map_err(|e| (StatusCode::FORBIDDEN, e.to_string()))?;
    check_request(&joins, &request)?;
    check_name(client, &request).await?;
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

/// Makes sure that the name is free or this machine's own: a Node bears the id of the machine that
/// registered it. Deleting the Node frees the name.
async fn check_name(client: &kube::Client, request: &JoinRequest) -> Result<(), Refusal> {
    let name = &request.node_name;
    let machine = pki::machine_id(&request.client_key).map_err(|e| (StatusCode::FORBIDDEN, e.to_string()))?;
    let nodes: Api<Node> = Api::all(client.clone());
    let node = nodes.get_opt(name).await.map_err(|e| (StatusCode::SERVICE_UNAVAILABLE, e.to_string()))?;
    let owner = node.and_then(|n| Some(n.status?.node_info?.machine_id)).unwrap_or_default();
    if owner.is_empty() || owner == machine {
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

/// Refuses names and addresses that are the API's own, for which an agent could get a certificate
/// otherwise, and names that no Node can have.
fn check_request(joins: &Joins, request: &JoinRequest) -> Result<(), Refusal> {
    let refused = |text: String| Err((StatusCode::FORBIDDEN, text));
    let name = &request.node_name;
    if let Some(fault) = api::validation::names::subdomain(name).first() {
        return refused(format!("the node name does not do: {fault}"));
    }
    // The server's own node has a name of the certificate too; that name is taken, as check_name says.
    if joins.api.names.contains(name) && *name != joins.own_node {
        return refused(format!("node name {name:?} is one of the API server's own names"));
    }
    for address in &request.addresses {
        let service = matches!(address, IpAddr::V4(v4) if joins.service_cidr.contains(*v4));
        if service || (*name != joins.own_node && joins.api.addresses.contains(address)) {
            return refused(format!("address {address} is not the node's own; see --node-ip"));
        }
    }
    Ok(())
}
