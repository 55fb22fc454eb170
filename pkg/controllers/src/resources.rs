//! The kinds that the API serves, found by discovery: what the garbage collector follows and what
//! is in a namespace.

use kube::{
    Client,
    api::{ApiResource, DynamicObject},
    discovery::{ApiCapabilities, Discovery, Scope, verbs},
};

/// A kind that can be listed.
#[derive(Clone, Debug)]
pub struct Served {
    /// Group, version, kind, plural.
    pub resource: ApiResource,
    /// Whether its objects are in namespaces.
    pub namespaced: bool,
    /// Whether it can be watched.
    pub watch: bool,
    /// Whether single objects can be deleted.
    pub delete: bool,
    /// Whether all objects of a namespace can be deleted at once.
    pub delete_collection: bool,
}

impl Served {
    fn new(resource: ApiResource, can: &ApiCapabilities) -> Option<Self> {
        can.supports_operation(verbs::LIST).then(|| Served {
            namespaced: can.scope == Scope::Namespaced,
            watch: can.supports_operation(verbs::WATCH),
            delete: can.supports_operation(verbs::DELETE),
            delete_collection: can.supports_operation(verbs::DELETE_COLLECTION),
            resource,
        })
    }

    /// As upstream writes it in messages: `pods.`, `deployments.apps`.
    pub fn name(&self) -> String {
        format!("{}.{}", self.resource.plural, self.resource.group)
    }

    /// All its objects, or those of one namespace.
    pub fn api(&self, client: &Client, namespace: Option<&str>) -> kube::Api<DynamicObject> {
        match namespace {
            Some(namespace) if self.namespaced => kube::Api::namespaced_with(client.clone(), namespace, &self.resource),
            _ => kube::Api::all_with(client.clone(), &self.resource),
        }
    }
}

/// All kinds that can be listed, each once, in its most stable version.
pub async fn discover(client: &Client) -> Result<Vec<Served>, kube::Error> {
    let discovery = match Discovery::new(client.clone()).run_aggregated().await {
        Ok(found) => found,
        Err(_) => Discovery::new(client.clone()).run().await?,
    };
    let all = discovery.groups_alphabetical().into_iter().flat_map(|group| group.resources_by_stability());
    let served = all.filter_map(|(resource, can)| Served::new(resource, &can));
    // The same objects as the core group's.
    Ok(served.filter(|s| !(s.resource.group == "events.k8s.io" && s.resource.kind == "Event")).collect())
}
