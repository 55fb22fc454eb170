//! Images of containers: looked up, pulled by policy, with credentials of the pod and the node.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cri::images::names;
use cri::v1 as rt;
use k8s_openapi::api::core::v1::{Container, Secret};
use serde_json::Value;

use crate::runtime::Runtime;
use crate::spec::security::ImageUser;

/// The longest a pull may take. A runtime gives up by itself where nothing moves.
const PULL: Duration = Duration::from_secs(3600);

/// An image that is there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ready {
    /// What a container is made from.
    pub reference: String,
    /// The user that it names.
    pub user: ImageUser,
    /// What the event says.
    pub message: String,
}

/// Why an image is not there: a reason that clients match, and a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Missing {
    /// `ErrImagePull`, `ErrImageNeverPull`, …
    pub reason: &'static str,
    /// For people.
    pub message: String,
}

/// The policy of a container: its own, or by its tag.
pub fn policy(container: &Container) -> &str {
    if let Some(policy) = container.image_pull_policy.as_deref().filter(|p| !p.is_empty()) {
        return policy;
    }
    let image = container.image.as_deref().unwrap_or_default();
    let last = image.rsplit('/').next().unwrap_or_default();
    let latest = !last.contains('@') && last.split_once(':').is_none_or(|(_, tag)| tag == "latest");
    if latest { "Always" } else { "IfNotPresent" }
}

/// The image if the node has it and the policy lets it be used as it is.
pub async fn present(runtime: &Runtime, container: &Container) -> Result<Option<Ready>, Missing> {
    let image = container.image.clone().unwrap_or_default();
    let policy = policy(container);
    if policy == "Always" {
        return Ok(None);
    }
    let inspect =
        |error| Missing { reason: "ImageInspectError", message: format!("Failed to inspect image {image:?}: {error}") };
    match status(runtime, &image).await.map_err(inspect)? {
        Some(mut ready) => {
            ready.message = format!("Container image \"{image}\" already present on machine");
            Ok(Some(ready))
        }
        None if policy == "Never" => Err(Missing {
            reason: "ErrImageNeverPull",
            message: format!("Container image \"{image}\" is not present with pull policy of Never"),
        }),
        None => Ok(None),
    }
}

/// Pulls an image with one after the other of `credentials`, last without any.
pub async fn pull(
    runtime: &Runtime,
    container: &Container,
    credentials: Vec<rt::AuthConfig>,
) -> Result<Ready, Missing> {
    let image = container.image.clone().unwrap_or_default();
    let started = std::time::Instant::now();
    let mut said: Vec<String> = Vec::new();
    for auth in credentials.into_iter().map(Some).chain([None]) {
        let request = rt::PullImageRequest { image: Some(spec(&image)), auth, sandbox_config: None };
        match tokio::time::timeout(PULL, runtime.cri.images.clone().pull_image(request)).await {
            Ok(Ok(_)) => {
                let found = status(runtime, &image).await;
                let mut ready = found.ok().flatten().ok_or_else(|| Missing {
                    reason: "ErrImagePull",
                    message: format!("image {image:?} was pulled, but the runtime does not have it"),
                })?;
                let took = started.elapsed();
                ready.message = format!("Successfully pulled image \"{image}\" in {}ms", took.as_millis());
                return Ok(ready);
            }
            Ok(Err(status)) => said.push(crate::runtime::Error::from(status).message),
            Err(_) => said.push(format!("pull of {image:?} did not end within {} s", PULL.as_secs())),
        }
    }
    // Those with credentials may all fail alike.
    said.dedup();
    Err(Missing { reason: "ErrImagePull", message: said.join("; ") })
}

fn spec(image: &str) -> rt::ImageSpec {
    rt::ImageSpec { image: image.into(), user_specified_image: image.into(), ..rt::ImageSpec::default() }
}

async fn status(runtime: &Runtime, image: &str) -> Result<Option<Ready>, String> {
    let request = rt::ImageStatusRequest { image: Some(spec(image)), verbose: false };
    let answer = runtime.cri.images.clone().image_status(request).await;
    let found = answer.map_err(|s| crate::runtime::Error::from(s).message)?.into_inner().image;
    Ok(found.map(|image| Ready {
        user: ImageUser { uid: image.uid.map(|u| u.value), name: image.username },
        reference: image.id,
        message: String::new(),
    }))
}

/// The credentials that `secrets` hold for the registry of `image`, the longest match first.
pub fn credentials<'a>(secrets: impl Iterator<Item = &'a Secret>, image: &str) -> Vec<rt::AuthConfig> {
    let mut found: Vec<(usize, rt::AuthConfig)> = Vec::new();
    for secret in secrets {
        let data = secret.data.as_ref();
        let modern = data.and_then(|d| d.get(".dockerconfigjson"));
        let old = data.and_then(|d| d.get(".dockercfg"));
        let Some(json) = modern.or(old).and_then(|b| serde_json::from_slice::<Value>(&b.0).ok()) else { continue };
        let auths = if modern.is_some() { &json["auths"] } else { &json };
        for (registry, entry) in auths.as_object().into_iter().flatten() {
            if let Some(length) = matches(registry, image) {
                found.push((length, auth(entry)));
            }
        }
    }
    found.sort_by_key(|(length, _)| std::cmp::Reverse(*length));
    found.into_iter().map(|(_, auth)| auth).collect()
}

fn auth(entry: &Value) -> rt::AuthConfig {
    let text = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    let decoded = STANDARD.decode(text("auth")).ok().and_then(|b| String::from_utf8(b).ok()).unwrap_or_default();
    let (user, password) = decoded.split_once(':').unwrap_or_default();
    let or = |own: String, other: &str| if own.is_empty() { other.to_owned() } else { own };
    // No address: the runtime would take it for a URL, and compare its host with that of a mirror.
    rt::AuthConfig {
        username: or(text("username"), user),
        password: or(text("password"), password),
        identity_token: text("identitytoken"),
        registry_token: text("registrytoken"),
        ..rt::AuthConfig::default()
    }
}

/// The length of the match of a registry entry (`host`, `*.host`, `host/path`, with or without scheme) on an image.
fn matches(registry: &str, image: &str) -> Option<usize> {
    let entry = registry.trim_start_matches("https://").trim_start_matches("http://");
    let entry = entry.trim_end_matches('/').trim_end_matches("/v1").trim_end_matches("/v2");
    let (host, path) = entry.split_once('/').unwrap_or((entry, ""));
    let (image_host, image_path) = names::split(image);
    let [host, image_host] = [host, image_host].map(names::registry);
    let parts: (Vec<_>, Vec<_>) = (host.split('.').collect(), image_host.split('.').collect());
    let same = parts.0.len() == parts.1.len() && parts.0.iter().zip(&parts.1).all(|(a, b)| *a == "*" || a == b);
    let below = path.is_empty()
        || image_path.strip_prefix(path).is_some_and(|r| r.is_empty() || r.starts_with(['/', ':', '@']));
    (same && below).then_some(entry.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn policies_follow_tags() {
        let table = [
            ("a", None, "Always"),
            ("a:latest", None, "Always"),
            ("host:5000/a", None, "Always"),
            ("a:1", None, "IfNotPresent"),
            ("host:5000/a:1", None, "IfNotPresent"),
            ("a@sha256:00", None, "IfNotPresent"),
            ("a", Some("Never"), "Never"),
        ];
        for (image, own, want) in table {
            let container = Container {
                image: Some(image.into()),
                image_pull_policy: own.map(String::from),
                ..Container::default()
            };
            assert_eq!(policy(&container), want, "{image}");
        }
    }

    #[test]
    fn credentials_are_found_by_registry() {
        let config = json!({"auths": {
            "https://index.docker.io/v1/": {"auth": STANDARD.encode("hub:pw")},
            "registry.example": {"username": "all", "password": "x"},
            "registry.example/team": {"username": "team", "password": "x"},
            "*.wild.example": {"username": "wild", "password": "x"},
        }});
        let data = STANDARD.encode(config.to_string());
        let secret: Secret = serde_json::from_value(json!({"data": {".dockerconfigjson": data}})).unwrap();
        let table: [(&str, &[&str]); 8] = [
            ("nginx", &["hub"]),
            ("index.docker.io/library/nginx", &["hub"]),
            ("registry-1.docker.io/library/nginx", &["hub"]),
            ("library/nginx:1", &["hub"]),
            ("registry.example/a", &["all"]),
            ("registry.example/team/a:1", &["team", "all"]),
            ("a.wild.example/x", &["wild"]),
            ("other.example/x", &[]),
        ];
        for (image, want) in table {
            let got = credentials(std::iter::once(&secret), image);
            assert!(got.iter().all(|a| a.server_address.is_empty()), "{image}");
            assert_eq!(got.into_iter().map(|a| a.username).collect::<Vec<_>>(), want, "{image}");
        }
    }
}
