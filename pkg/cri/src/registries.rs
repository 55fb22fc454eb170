//! `registries.yaml`: where images of a registry are pulled from, and with which credentials. The format is that of
//! k3s. Here it becomes what containerd reads at each pull (`hosts.toml` by registry) and the credentials that a pull
//! carries.
//!
//! Guarantees: what is not understood is refused, with its place in the file. Credentials name the host that they are
//! for, and containerd shows them to no other.
//! Caveats: mirrors under other names (`rewrite`) are refused: containerd has no such thing. Credentials of a pod's
//! secrets name no host, as upstream: a mirror that asks for some gets them, over `http` in clear.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Uri;
use http::uri::Authority;
use serde::Deserialize;

use crate::images::names::{self, HUB, HUB_HOST};
use crate::v1::AuthConfig;

/// The entry for registries that have none of their own.
const ANY: &str = "*";
/// containerd's folder for these.
const DEFAULT_FOLDER: &str = "_default";

/// Why `registries.yaml` cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}", path.display())]
pub struct Error {
    path: PathBuf,
    source: Box<Fault>,
}

/// What is wrong with it.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// It, or a file that it names, cannot be read.
    #[error("{} cannot be read", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is not YAML, or has other fields.
    #[error(transparent)]
    Syntax(#[from] serde_saphyr::Error),
    /// A value makes no sense.
    #[error("{place}: {message}")]
    Value {
        /// As `mirrors."docker.io".endpoint`.
        place: String,
        /// What is wrong, and the way out.
        message: String,
    },
}

fn wrong(place: String, message: impl Into<String>) -> Fault {
    Fault::Value { place, message: message.into() }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    mirrors: Option<BTreeMap<String, Option<Mirror>>>,
    configs: Option<BTreeMap<String, Option<Access>>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mirror {
    endpoint: Option<Vec<String>>,
    rewrite: Option<BTreeMap<String, String>>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Access {
    auth: Option<Auth>,
    tls: Option<Tls>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Auth {
    username: String,
    password: String,
    auth: String,
    identity_token: String,
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Tls {
    cert_file: Option<PathBuf>,
    key_file: Option<PathBuf>,
    ca_file: Option<PathBuf>,
    insecure_skip_verify: bool,
}

/// What a node knows of registries.
#[derive(Clone, Default)]
pub struct Registries {
    /// By registry; none is empty.
    mirrors: BTreeMap<String, Vec<Endpoint>>,
    access: BTreeMap<String, Access>,
}

/// Where a registry's images are pulled from.
#[derive(Clone, PartialEq)]
struct Endpoint {
    scheme: &'static str,
    host: String,
    /// Empty for what every registry has (`/v2`).
    path: String,
}

impl Registries {
    /// Reads a file; one that is not there says nothing.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let failed = |fault| Error { path: path.to_owned(), source: Box::new(fault) };
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(source) => return Err(failed(Fault::File { path: path.to_owned(), source })),
        };
        let registries = Self::parse(&text).map_err(failed)?;
        for file in registries.access.values().filter_map(|access| access.tls.as_ref()).flat_map(Tls::files) {
            std::fs::read(file).map_err(|source| failed(Fault::File { path: file.to_owned(), source }))?;
        }
        Ok(registries)
    }

    fn parse(text: &str) -> Result<Self, Fault> {
        // A line of the file may hold a password, and errors are logged.
        let options = serde_saphyr::options! { with_snippet: false };
        let file: Option<File> = serde_saphyr::from_str_with_options(text, options)?;
        let File { mirrors, configs } = file.unwrap_or_default();
        let mut registries = Self::default();
        for (name, mirror) in mirrors.unwrap_or_default() {
            let place = format!("mirrors.{name:?}");
            let endpoints = endpoints(&place, mirror.unwrap_or_default())?;
            insert(&mut registries.mirrors, &place, &name, endpoints)?;
        }
        for (name, access) in configs.unwrap_or_default() {
            let place = format!("configs.{name:?}");
            let access = access.unwrap_or_default();
            access.check(&place, &name)?;
            insert(&mut registries.access, &place, &name, access)?;
        }
        registries.mirrors.retain(|_, endpoints| !endpoints.is_empty());
        registries.access.retain(|_, access| access.auth.is_some() || access.tls.is_some());
        Ok(registries)
    }

    /// The folders that containerd looks into, and the `hosts.toml` in each.
    pub fn folders(&self) -> BTreeMap<&str, String> {
        let names: BTreeSet<&str> = self.mirrors.keys().chain(self.access.keys()).map(String::as_str).collect();
        names.into_iter().map(|name| (if name == ANY { DEFAULT_FOLDER } else { name }, self.hosts(name))).collect()
    }

    fn hosts(&self, name: &str) -> String {
        let mut text = String::from("# Written by kinglet at every start. Changes are lost.\n");
        // What stands before the tables is for the registry itself, which is tried last.
        if name != ANY {
            text += &format!("server = {}\n", quote(&Endpoint::own(name).url()));
        }
        text += &self.tls(name);
        let Some(endpoints) = self.mirrors.get(name) else {
            // containerd 1.6 and 1.7 overlook a file without this table.
            return text + "\n[host]\n";
        };
        for endpoint in endpoints {
            text += &format!("\n[host.{}]\ncapabilities = [\"pull\", \"resolve\"]\n", quote(&endpoint.url()));
            if !endpoint.path.is_empty() {
                text += "override_path = true\n";
            }
            if endpoint.scheme == "https" {
                text += &self.tls(names::registry(&endpoint.host));
            }
        }
        text
    }

    /// The TLS settings of a registry, as lines.
    fn tls(&self, name: &str) -> String {
        let mut text = String::new();
        let Some(tls) = self.access.get(name).and_then(|access| access.tls.as_ref()) else { return text };
        let quoted = |path: &Path| quote(&path.to_string_lossy());
        if let Some(ca) = &tls.ca_file {
            text += &format!("ca = [{}]\n", quoted(ca));
        }
        if let (Some(certificate), Some(key)) = (&tls.cert_file, &tls.key_file) {
            text += &format!("client = [[{}, {}]]\n", quoted(certificate), quoted(key));
        }
        if tls.insecure_skip_verify {
            text += "skip_verify = true\n";
        }
        text
    }

    /// The credentials for pulls of a registry's images: those of its mirrors and its own, each for one host.
    pub fn credentials(&self, registry: &str) -> Vec<AuthConfig> {
        let registry = names::registry(registry);
        let own = if self.access.contains_key(registry) { None } else { self.mirrors.get(ANY) };
        let endpoints = self.mirrors.get(registry).or(own);
        let mut found: Vec<AuthConfig> = Vec::new();
        for endpoint in endpoints.into_iter().flatten().chain([&Endpoint::own(registry)]) {
            let auth = self.access.get(names::registry(&endpoint.host)).and_then(|access| access.auth.as_ref());
            // containerd compares the host alone.
            let server_address = format!("https://{}", endpoint.host);
            if let Some(auth) = auth.filter(|_| found.iter().all(|known| known.server_address != server_address)) {
                found.push(AuthConfig {
                    username: auth.username.clone(),
                    password: auth.password.clone(),
                    auth: auth.auth.clone(),
                    identity_token: auth.identity_token.clone(),
                    server_address,
                    ..AuthConfig::default()
                });
            }
        }
        found
    }
}

impl Endpoint {
    /// The registry itself.
    fn own(registry: &str) -> Self {
        let host = if registry == HUB { HUB_HOST } else { registry };
        // As containerd does with those of this machine.
        let local = host.strip_prefix("localhost:").or_else(|| host.strip_prefix("127.0.0.1:"));
        let scheme = if local.is_some_and(|port| port != "443") { "http" } else { "https" };
        Self { scheme, host: host.to_owned(), path: String::new() }
    }

    fn parse(text: &str) -> Option<Self> {
        let url: Uri = text.parse().ok()?;
        let scheme = ["https", "http"].into_iter().find(|scheme| url.scheme_str() == Some(scheme))?;
        let host = url.authority().map(Authority::as_str).filter(|host| is_host(host))?;
        let path = url.path().trim_end_matches('/');
        let whole = url.query().is_none() && !text.contains('#');
        whole.then(|| Self {
            scheme,
            host: Self::own(names::registry(host)).host,
            path: if path == "/v2" { String::new() } else { path.to_owned() },
        })
    }

    fn url(&self) -> String {
        format!("{}://{}{}", self.scheme, self.host, self.path)
    }
}

impl Access {
    fn check(&self, place: &str, name: &str) -> Result<(), Fault> {
        if let Some(auth) = &self.auth {
            let place = format!("{place}.auth");
            if name == ANY {
                return Err(wrong(place, "credentials are for one registry: give its name in place of \"*\""));
            }
            let decoded = STANDARD.decode(&auth.auth).ok().and_then(|bytes| String::from_utf8(bytes).ok());
            if !auth.auth.is_empty() && !decoded.is_some_and(|pair| pair.contains(':')) {
                return Err(wrong(format!("{place}.auth"), "should be USERNAME:PASSWORD in base64"));
            }
            if auth.auth.is_empty() && auth.identity_token.is_empty() && auth.username.is_empty() {
                return Err(wrong(place, "should have username and password, auth, or identity_token"));
            }
        }
        let Some(tls) = &self.tls else { return Ok(()) };
        if tls.cert_file.is_some() != tls.key_file.is_some() {
            return Err(wrong(format!("{place}.tls"), "cert_file and key_file belong together"));
        }
        match tls.files().find(|file| !file.is_absolute()) {
            Some(file) => Err(wrong(format!("{place}.tls"), format!("{file:?} should be an absolute path"))),
            None => Ok(()),
        }
    }
}

impl Tls {
    fn files(&self) -> impl Iterator<Item = &Path> {
        [&self.ca_file, &self.cert_file, &self.key_file].into_iter().flatten().map(PathBuf::as_path)
    }
}

fn endpoints(place: &str, mirror: Mirror) -> Result<Vec<Endpoint>, Fault> {
    if mirror.rewrite.is_some_and(|rules| !rules.is_empty()) {
        let message =
            "containerd cannot rewrite names of images; give an endpoint with a path, as https://HOST/v2/PATH";
        return Err(wrong(format!("{place}.rewrite"), message));
    }
    let mut endpoints = Vec::new();
    for (at, text) in mirror.endpoint.unwrap_or_default().iter().enumerate() {
        // It may hold a password, so it is not shown.
        let endpoint = Endpoint::parse(text).ok_or_else(|| {
            wrong(format!("{place}.endpoint[{at}]"), "should look like https://HOST:PORT or http://HOST:PORT")
        })?;
        if !endpoints.contains(&endpoint) {
            endpoints.push(endpoint);
        }
    }
    Ok(endpoints)
}

fn insert<T>(entries: &mut BTreeMap<String, T>, place: &str, name: &str, entry: T) -> Result<(), Fault> {
    if name != ANY && !is_host(name) {
        return Err(wrong(place.to_owned(), "the name of a registry should look like HOST or HOST:PORT"));
    }
    match entries.insert(names::registry(name).to_owned(), entry) {
        Some(_) => Err(wrong(place.to_owned(), format!("there is another entry for {}", names::registry(name)))),
        None => Ok(()),
    }
}

/// Whether it is `HOST` or `HOST:PORT`: nothing else may become the name of a folder.
fn is_host(text: &str) -> bool {
    let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[');
    begins && !text.contains('@') && text.parse::<Authority>().is_ok()
}

/// A TOML basic string; JSON's escapes are a subset of TOML's.
pub fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests;
