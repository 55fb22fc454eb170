//! The keys and certificates of a server, in `/etc/kinglet/pki`, its token and its kubeconfig.
//!
//! What is missing is made; certificates follow the server's names and addresses at each start.

use std::{net::IpAddr, sync::Arc};

use node::{Node, join::Identity};
use pki::{
    Ca, KeyAndCertificate, Token, Usage,
    tls::{self, ClientCertificates},
};

use crate::{Config, Error, join::node_usage};

/// All of them.
pub struct Keys {
    /// Signs everything.
    pub ca: Arc<Ca>,
    /// Lets nodes join.
    pub token: Token,
    /// Signs service account tokens.
    pub service_account: String,
    /// The server's own node.
    pub node: Identity,
    /// What the API's certificate is for.
    pub api_usage: Usage,
    api: KeyAndCertificate,
    kubelet_client: KeyAndCertificate,
}

impl Keys {
    /// Loads or makes them, and writes the kubeconfig.
    pub fn load(config: &Config, node: &Node, kubernetes_ip: IpAddr) -> Result<Self, Error> {
        let dir = config.paths.pki();
        let ca = Ca::load_or_create(&dir, "ca")?;
        let leaf = |name: &str, usage: &Usage| ca.leaf(&dir, name, usage);
        let admin = leaf("admin", &Usage::client("kinglet-admin", &["system:masters"]))?;
        let api_usage = api_usage(config, node, kubernetes_ip);
        let api = leaf("apiserver", &api_usage)?;
        let kubelet_client =
            leaf("kubelet-client", &Usage::client("kube-apiserver-kubelet-client", &["system:masters"]))?;
        let kubelet = Usage::server(format!("system:node:{}", node.name), vec![node.name.clone()], vec![node.ip]);
        let identity = Identity {
            ca: ca.certificate_pem().to_owned(),
            client: leaf("node", &node_usage(&node.name))?,
            serving: leaf("kubelet", &kubelet)?,
        };
        let (service_account, _) = pki::public_key_pem(&dir.join("service-account.key"))?;
        let token = token(config, ca.certificate_pem())?;
        let server = format!("https://127.0.0.1:{}", config.bind.port());
        pki::write_secret(&config.paths.kubeconfig(), &pki::kubeconfig(&server, ca.certificate_pem(), &admin))?;
        Ok(Keys { ca: Arc::new(ca), token, service_account, node: identity, api_usage, api, kubelet_client })
    }

    /// TLS of the API.
    pub fn api_tls(&self) -> Result<Arc<rustls::ServerConfig>, Error> {
        let ca = self.ca.certificate_pem();
        Ok(tls::server(&self.api, ca, ClientCertificates::Optional, &["h2", "http/1.1"])?)
    }

    /// TLS towards kubelets.
    pub fn kubelet_client(&self) -> Result<Arc<rustls::ClientConfig>, Error> {
        Ok(tls::client(Some(&self.kubelet_client), self.ca.certificate_pem(), &["http/1.1"])?)
    }
}

/// The token on disk, if it is this CA's; else a new one.
fn token(config: &Config, ca_pem: &str) -> Result<Token, Error> {
    let path = config.paths.token();
    if path.exists() {
        let text = pki::read(&path)?;
        if let Ok(token) = text.parse::<Token>()
            && token.is_for(ca_pem)?
        {
            return Ok(token);
        }
        tracing::info!(path = %path.display(), "the token is not of this cluster's CA, making another");
    }
    let token = Token::generate(ca_pem)?;
    pki::write_secret(&path, &format!("{token}\n"))?;
    Ok(token)
}

/// Every name and address that clients may use for the API.
fn api_usage(config: &Config, node: &Node, kubernetes_ip: IpAddr) -> Usage {
    let service = "kubernetes.default.svc";
    let mut names: Vec<String> = ["localhost", "kubernetes", "kubernetes.default", service].map(str::to_owned).to_vec();
    names.push(format!("{service}.{}", config.cluster.cluster_domain));
    names.push(node.name.clone());
    let mut addresses = vec![IpAddr::from([127, 0, 0, 1]), node.ip, kubernetes_ip];
    if !config.bind.ip().is_unspecified() {
        addresses.push(config.bind.ip());
    }
    for san in &config.tls_san {
        match san.parse() {
            Ok(address) => addresses.push(address),
            Err(_) => names.push(san.clone()),
        }
    }
    names.sort();
    names.dedup();
    addresses.sort();
    addresses.dedup();
    Usage::server("kube-apiserver", names, addresses)
}
