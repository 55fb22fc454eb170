//! The agent: a node of a cluster whose server is elsewhere.

use client::{ClientIdentity, Credentials, RemoteConfig};
use http::Uri;
use pki::Token;
use tokio_util::sync::CancellationToken;

use crate::{
    Error, NodeConfig, Paths, Settings,
    join::{self, JoinError},
    runtime,
    stages::Stages,
};

/// How an agent is set up.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where files live.
    pub paths: Paths,
    /// Of the node.
    pub node: Settings,
    /// `https://HOST:6443`.
    pub server: String,
    /// Lets it join.
    pub token: String,
}

/// Runs an agent until `stop`.
pub async fn run(config: Config, stop: CancellationToken) -> Result<(), Error> {
    let _lock = crate::lock(&config.paths)?;
    let mut stages = Stages::default();
    let started = tokio::select! {
        started = start(&config, &mut stages) => started,
        () = stop.cancelled() => Ok(()),
    };
    if started.is_ok() {
        crate::notify::ready();
        stop.cancelled().await;
    }
    stages.stop().await;
    started
}

async fn start(config: &Config, stages: &mut Stages) -> Result<(), Error> {
    let token: Token = config.token.parse().map_err(JoinError::Token)?;
    let server: Uri = config.server.parse().map_err(|_| JoinError::Address(config.server.clone()))?;
    let node = config.node.resolve()?;
    let (identity, cluster) = join::join(&server, &token, &node.name, vec![node.ip], &config.paths.pki()).await?;
    tracing::info!(server = %server, node = node.name, "joined");
    let runtime = runtime::start(&config.paths, &config.node, stages)?;
    let leaf = &identity.client;
    let certificate = ClientIdentity::from_pem(leaf.certificate_pem.as_bytes(), leaf.key_pem.as_bytes())?;
    let client = client::remote(RemoteConfig {
        server,
        ca: identity.ca.clone().into_bytes(),
        credentials: Credentials::Certificate(certificate),
        component: "kubelet".to_owned(),
    })?;
    let node = NodeConfig {
        paths: config.paths.clone(),
        settings: config.node.clone(),
        node,
        identity,
        cluster,
        control_plane: false,
    };
    crate::start(node, client, runtime, stages).await
}
