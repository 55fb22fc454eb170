//! What the server serves, from its discovery documents.

use anyhow::Context as _;
use http::{Request, header::ACCEPT};
use kube::client::Body;
use serde_json::Value;

/// One resource in its preferred version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    pub group: String,
    pub version: String,
    pub kind: String,
    pub plural: String,
    singular: String,
    short_names: Vec<String>,
    pub namespaced: bool,
    /// Whether [`Resource::version`] is the group's preferred one.
    preferred: bool,
}

/// All of them.
pub struct Resources(Vec<Resource>);

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

impl Resources {
    /// Asks the server.
    pub async fn discover(client: &kube::Client) -> anyhow::Result<Self> {
        let mut all = Vec::new();
        for path in ["/api", "/apis"] {
            let request = Request::get(path).header(ACCEPT, AGGREGATED).body(Body::empty())?;
            let document: Value = client.request(request).await.map_err(super::plain)?;
            for group in list(&document["items"]) {
                for (at, version) in list(&group["versions"]).iter().enumerate() {
                    let of = |resource: &Value| Resource::parse(group, version, resource, at == 0);
                    all.extend(list(&version["resources"]).iter().map(of));
                }
            }
        }
        Ok(Resources(all))
    }

    /// The resource that a user calls `word`: plural, singular, short name, kind, or one of these
    /// with `.GROUP`.
    pub fn find(&self, word: &str) -> anyhow::Result<&Resource> {
        let lower = word.to_lowercase();
        let (name, group) = match lower.split_once('.') {
            Some((name, group)) => (name, Some(group)),
            None => (lower.as_str(), None),
        };
        let called = |r: &&Resource| {
            let names = [&r.plural, &r.singular].into_iter().chain(&r.short_names);
            names.into_iter().any(|n| n == name) || r.kind.to_lowercase() == name
        };
        let found = self.0.iter().filter(|r| r.preferred).filter(called).find(|r| group.is_none_or(|g| g == r.group));
        found.with_context(|| format!("the server doesn't have a resource type {word:?}"))
    }

    /// The resource of a kind that a manifest names.
    pub fn of_object(&self, object: &Value) -> anyhow::Result<&Resource> {
        let (api_version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let found = self.0.iter().find(|r| r.group == group && r.version == version && r.kind == kind);
        found.with_context(|| format!("the server has no kind {kind:?} in version {api_version:?}"))
    }
}

impl Resource {
    fn parse(group: &Value, version: &Value, resource: &Value, preferred: bool) -> Self {
        Resource {
            group: text(&group["metadata"]["name"]).to_owned(),
            version: text(&version["version"]).to_owned(),
            kind: text(&resource["responseKind"]["kind"]).to_owned(),
            plural: text(&resource["resource"]).to_owned(),
            singular: text(&resource["singularResource"]).to_owned(),
            short_names: list(&resource["shortNames"]).iter().map(|n| text(n).to_owned()).collect(),
            namespaced: resource["scope"] == "Namespaced",
            preferred,
        }
    }

    /// URL path; no namespace stands for all.
    pub fn path(&self, namespace: Option<&str>, name: Option<&str>) -> String {
        let mut path = match self.group.as_str() {
            "" => format!("/api/{}", self.version),
            group => format!("/apis/{group}/{}", self.version),
        };
        if let (true, Some(namespace)) = (self.namespaced, namespace) {
            path += &format!("/namespaces/{namespace}");
        }
        path += &format!("/{}", self.plural);
        name.map_or(path.clone(), |name| format!("{path}/{name}"))
    }

    /// `deployment.apps/web`, as kubectl calls an object.
    pub fn called(&self, name: &str) -> String {
        match self.group.as_str() {
            "" => format!("{}/{name}", self.singular),
            group => format!("{}.{group}/{name}", self.singular),
        }
    }
}

/// A list, or nothing.
pub fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A text, or nothing.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
