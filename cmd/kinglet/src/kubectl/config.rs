//! kubeconfig files.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use client::{ClientIdentity, Credentials, RemoteConfig};
use serde_json::Value;

/// The current context of a kubeconfig.
pub struct Config {
    /// `https://HOST:PORT`.
    pub server: String,
    /// Of the context.
    pub namespace: String,
    /// PEM.
    pub ca: Vec<u8>,
    credentials: Credentials,
}

impl Config {
    /// Reads the file that is named, or the first of the usual ones that exists.
    pub fn load(named: Option<&Path>) -> anyhow::Result<Self> {
        let path = match named {
            Some(path) => path.to_owned(),
            None => usual().context("no kubeconfig: set KUBECONFIG, or run this on a Kinglet server")?,
        };
        let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        let config: Value = crate::yaml(&text).with_context(|| format!("{} is not YAML", path.display()))?;
        Self::parse(&config, path.parent().unwrap_or(Path::new("."))).with_context(|| path.display().to_string())
    }

    fn parse(config: &Value, dir: &Path) -> anyhow::Result<Self> {
        let named = |list: &str, name: &Value, part: &str| {
            let found = config[list].as_array().into_iter().flatten().find(|entry| entry["name"] == *name);
            found.map(|entry| entry[part].clone()).with_context(|| format!("{list} has no {name}"))
        };
        let context = named("contexts", &config["current-context"], "context")?;
        let cluster = named("clusters", &context["cluster"], "cluster")?;
        let user = named("users", &context["user"], "user")?;
        let credentials = match (data(&user, "client-certificate", dir)?, data(&user, "client-key", dir)?) {
            (Some(chain), Some(key)) => Credentials::Certificate(ClientIdentity::from_pem(&chain, &key)?),
            _ => match user["token"].as_str() {
                Some(token) => Credentials::Token(token.to_owned()),
                None => bail!("the user has neither a client certificate nor a token"),
            },
        };
        Ok(Config {
            server: cluster["server"].as_str().context("the cluster has no server")?.to_owned(),
            namespace: context["namespace"].as_str().unwrap_or("default").to_owned(),
            ca: data(&cluster, "certificate-authority", dir)?.context("the cluster has no certificate authority")?,
            credentials,
        })
    }

    /// For a client.
    pub fn remote(&self) -> anyhow::Result<RemoteConfig> {
        Ok(RemoteConfig {
            server: self.server.parse().with_context(|| self.server.clone())?,
            ca: self.ca.clone(),
            credentials: self.credentials.clone(),
            component: "kubectl".to_owned(),
        })
    }

    /// A client certificate, where that is how the user is known.
    pub fn identity(&self) -> Option<ClientIdentity> {
        match &self.credentials {
            Credentials::Certificate(identity) => Some(identity.clone()),
            _ => None,
        }
    }

    /// A bearer token, where that is how the user is known.
    pub fn token(&self) -> Option<&str> {
        match &self.credentials {
            Credentials::Token(token) => Some(token),
            _ => None,
        }
    }
}

fn usual() -> Option<PathBuf> {
    let from_environment = env::var_os("KUBECONFIG").filter(|v| !v.is_empty()).map(PathBuf::from);
    let own = env::var_os("KINGLET_CONFIG_DIR").map_or_else(|| PathBuf::from("/etc/kinglet"), PathBuf::from);
    let home = env::var_os("HOME").map(|home| Path::new(&home).join(".kube/config"));
    from_environment.or_else(|| [Some(own.join("kubeconfig.yaml")), home].into_iter().flatten().find(|p| p.exists()))
}

/// `NAME-data` in base64, or the file that `NAME` names.
fn data(entry: &Value, name: &str, dir: &Path) -> anyhow::Result<Option<Vec<u8>>> {
    if let Some(text) = entry[format!("{name}-data")].as_str() {
        return Ok(Some(BASE64_STANDARD.decode(text).with_context(|| format!("{name}-data"))?));
    }
    let Some(file) = entry[name].as_str() else { return Ok(None) };
    let path = dir.join(file);
    Ok(Some(fs::read(&path).with_context(|| format!("reading {}", path.display()))?))
}
