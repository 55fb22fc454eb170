//! The node authorizer: what a node may do follows from the pods that are bound to it.
//!
//! # Guarantees
//! - [`decide`] is pure: it says yes, no, "as the role has it", or names the relation that must hold.
//! - Relations are read from the watch cache when they are asked for. Nothing is kept beside the
//!   objects but what was read from each, by revision.
//!
//! Source of the rules: "Using Node Authorization" in the Kubernetes reference.

use std::{collections::HashMap, sync::Arc};

use api::{Kinds, Status, UserInfo, tree};
use bytes::Bytes;
use parking_lot::Mutex;
use store::KeyRange;

use super::{
    node_links::{Links, of_pod, of_volume},
    rbac::Question,
};
use crate::{
    cache::{Cache, Caches, Object, Wanted},
    keys,
};

/// The role whose rules hold for what is not about single objects.
pub const ROLE: &str = "system:node";
/// The namespace of the leases of nodes.
pub const LEASES: &str = "kube-node-lease";

/// The node that a user is; `None` for others, an empty name for a node that does not say which.
pub fn name(user: &UserInfo) -> Option<&str> {
    user.name.strip_prefix("system:node:").filter(|_| user.in_group("system:nodes"))
}

/// What must lead to the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thing {
    /// A Secret of its pods, or of the volumes that they use.
    Secret,
    /// A ConfigMap of its pods.
    ConfigMap,
    /// A PersistentVolumeClaim of its pods.
    Claim,
    /// A PersistentVolume that such a claim is bound to.
    Volume,
    /// A ResourceClaim of its pods.
    ResourceClaim,
    /// A service account of its pods.
    Account,
    /// A pod of its own.
    Pod,
    /// An object that names the node itself: at this path, of this group and resource.
    Naming(&'static str, &'static str, &'static str),
}

/// What [`decide`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Yes.
    Allow,
    /// No, as far as this authorizer knows.
    Deny,
    /// Yes, if the object that is asked for leads to the node.
    Related(Thing),
    /// As the rules of [`ROLE`] say.
    Rules,
}

const ATTACHMENT: Thing = Thing::Naming("spec.nodeName", "storage.k8s.io", "volumeattachments");
const SLICE: Thing = Thing::Naming("spec.nodeName", "resource.k8s.io", "resourceslices");
const POD_CERTIFICATE: Thing = Thing::Naming("spec.nodeName", "certificates.k8s.io", "podcertificaterequests");

/// What a node may do.
pub fn decide(node: &str, question: &Question) -> Verdict {
    use Verdict::{Allow, Deny, Related, Rules};
    if question.path.is_some() {
        return Rules;
    }
    let (verb, sub, named) = (question.verb.as_str(), question.subresource.as_str(), question.name.as_str());
    let own = named == node;
    let selects = |path: &str| question.fields.exact(path) == Some(node);
    let related = |thing| if named.is_empty() { Deny } else { Related(thing) };
    let reads = matches!(verb, "get" | "list" | "watch");
    let writes = matches!(verb, "create" | "update" | "patch");
    match (question.group.as_str(), question.resource.as_str()) {
        ("", resource @ ("secrets" | "configmaps")) => match (reads, sub, question.namespace.as_str()) {
            (false, ..) | (_, _, "") => Deny,
            (_, "", _) => related(if resource == "secrets" { Thing::Secret } else { Thing::ConfigMap }),
            _ => Deny,
        },
        ("", "persistentvolumeclaims") => match (verb, sub) {
            ("get", "") | ("update" | "patch", "status") => related(Thing::Claim),
            _ => Deny,
        },
        ("", "persistentvolumes") if verb == "get" && sub.is_empty() => related(Thing::Volume),
        ("resource.k8s.io", "resourceclaims") if verb == "get" && sub.is_empty() => related(Thing::ResourceClaim),
        ("storage.k8s.io", "volumeattachments") if verb == "get" && sub.is_empty() => related(ATTACHMENT),
        ("", "persistentvolumes") | ("resource.k8s.io", "resourceclaims") | ("storage.k8s.io", "volumeattachments") => {
            Deny
        }
        ("", "serviceaccounts") => match (verb, sub) {
            ("get", "") | ("create", "token") => related(Thing::Account),
            _ => Deny,
        },
        ("coordination.k8s.io", "leases") => {
            match question.namespace == LEASES && (writes || verb == "get" || verb == "delete") {
                true if verb == "create" || own => Allow,
                _ => Deny,
            }
        }
        ("storage.k8s.io", "csinodes") => match sub.is_empty() && (writes || verb == "get" || verb == "delete") {
            true if verb == "create" || own => Allow,
            _ => Deny,
        },
        ("resource.k8s.io", "resourceslices") => match (verb, sub) {
            ("create", "") => Allow,
            ("get" | "update" | "patch" | "delete", "") => related(SLICE),
            ("list" | "watch" | "deletecollection", "") if selects("spec.nodeName") => Allow,
            _ => Deny,
        },
        ("certificates.k8s.io", "podcertificaterequests") => match (verb, sub) {
            ("create", "") => Allow,
            ("get", "") => related(POD_CERTIFICATE),
            ("list" | "watch", "") if selects("spec.nodeName") => Allow,
            _ => Deny,
        },
        ("", "nodes") => match sub {
            "" if writes || (reads && own) => Allow,
            "status" if verb == "update" || verb == "patch" => Allow,
            _ => Deny,
        },
        ("", "pods") => match (verb, sub) {
            ("get", "") => related(Thing::Pod),
            ("list" | "watch", "") if selects("spec.nodeName") => Allow,
            ("list" | "watch", "") => related(Thing::Pod),
            ("create" | "delete", "") | ("update" | "patch", "status") | ("create", "eviction") => Allow,
            _ => Deny,
        },
        _ => Rules,
    }
}

/// What was read from objects, by key, with their revision.
type Memo = Mutex<HashMap<Bytes, (i64, Arc<Links>)>>;

/// The relations between objects and nodes.
pub struct Relations {
    caches: Arc<Caches>,
    memo: Memo,
}

/// More than this many remembered objects are forgotten together: most are gone.
const MEMO: usize = 8192;

impl Relations {
    /// Over these caches.
    pub fn new(caches: Arc<Caches>) -> Self {
        Relations { caches, memo: Memo::default() }
    }

    /// Whether the object that is asked for leads to the node, as the caches know it.
    pub async fn hold(&self, kinds: &Kinds, node: &str, thing: Thing, question: &Question) -> Result<bool, Status> {
        let (namespace, name) = (question.namespace.as_str(), question.name.as_str());
        match thing {
            Thing::Naming(path, group, resource) => {
                let Some(object) = self.object(kinds, group, resource, namespace, name).await? else {
                    return Ok(false);
                };
                Ok(tree::text(&object.stored.tree()?, path) == node)
            }
            Thing::Pod => {
                let pods = self.pods(kinds, node, namespace).await?;
                Ok(pods.iter().any(|pod| pod.name() == name))
            }
            Thing::Volume => {
                let Some(volume) = self.object(kinds, "", "persistentvolumes", "", name).await? else {
                    return Ok(false);
                };
                self.claims(kinds, node, &self.links(&volume, of_volume).claims).await
            }
            Thing::Secret => {
                let own = |links: &Links| links.secrets.iter().any(|(_, secret)| secret == name);
                if self.any_pod(kinds, node, namespace, own).await? {
                    return Ok(true);
                }
                for volume in self.all(kinds, "persistentvolumes").await? {
                    let links = self.links(&volume, of_volume);
                    let refers = links.secrets.iter().any(|(place, secret)| place == namespace && secret == name);
                    if refers && self.claims(kinds, node, &links.claims).await? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Thing::ConfigMap => self.any_pod(kinds, node, namespace, |l| l.config_maps.iter().any(|n| n == name)).await,
            Thing::Claim => self.any_pod(kinds, node, namespace, |l| l.claims.iter().any(|(_, n)| n == name)).await,
            Thing::ResourceClaim => {
                self.any_pod(kinds, node, namespace, |l| l.resource_claims.iter().any(|n| n == name)).await
            }
            Thing::Account => self.any_pod(kinds, node, namespace, |l| l.account == name).await,
        }
    }

    async fn claims(&self, kinds: &Kinds, node: &str, claims: &[(String, String)]) -> Result<bool, Status> {
        for (namespace, name) in claims {
            if self.any_pod(kinds, node, namespace, |l| l.claims.iter().any(|(_, n)| n == name)).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn any_pod(
        &self,
        kinds: &Kinds,
        node: &str,
        namespace: &str,
        wanted: impl Fn(&Links) -> bool,
    ) -> Result<bool, Status> {
        let pods = self.pods(kinds, node, namespace).await?;
        Ok(pods.iter().any(|pod| wanted(&self.links(pod, of_pod))))
    }

    /// The node's pods in a namespace.
    async fn pods(&self, kinds: &Kinds, node: &str, namespace: &str) -> Result<Vec<Arc<Object>>, Status> {
        let Some(kind) = kinds.by_resource("", "v1", "pods").filter(|_| !namespace.is_empty()) else {
            return Ok(Vec::new());
        };
        let cache = self.caches.of(kind).await?;
        let Some(at) = kind.selectable.iter().position(|path| **path == *"spec.nodeName") else {
            return Ok(Vec::new());
        };
        let bound = |object: &Object| object.facts.fields.get(at).is_some_and(|name| **name == *node);
        let range = KeyRange::prefix(keys::scope(kind, namespace));
        Ok(cache.list(&range, |object| if bound(object) { Wanted::Yes } else { Wanted::No }).objects)
    }

    async fn cache(&self, kinds: &Kinds, group: &str, resource: &str) -> Result<Option<Arc<Cache>>, Status> {
        match kinds.by_resource(group, "v1", resource) {
            Some(kind) => Ok(Some(self.caches.of(kinds.stored(kind)).await?)),
            None => Ok(None),
        }
    }

    async fn all(&self, kinds: &Kinds, resource: &str) -> Result<Vec<Arc<Object>>, Status> {
        let Some(cache) = self.cache(kinds, "", resource).await? else { return Ok(Vec::new()) };
        Ok(cache.all())
    }

    async fn object(
        &self,
        kinds: &Kinds,
        group: &str,
        resource: &str,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Arc<Object>>, Status> {
        let Some(kind) = kinds.by_resource(group, "v1", resource) else { return Ok(None) };
        let Some(cache) = self.cache(kinds, group, resource).await? else { return Ok(None) };
        Ok(cache.get(keys::object(kind, namespace, name).as_bytes()))
    }

    fn links(&self, object: &Object, read: fn(&api::Value) -> Links) -> Arc<Links> {
        let revision = object.stored.revision;
        if let Some((_, links)) = self.memo.lock().get(&object.key).filter(|(at, _)| *at == revision) {
            return links.clone();
        }
        let links = Arc::new(object.stored.tree().map(|tree| read(&tree)).unwrap_or_default());
        let mut memo = self.memo.lock();
        if memo.len() >= MEMO {
            memo.clear();
        }
        memo.insert(object.key.clone(), (revision, links.clone()));
        links
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use api::selector::Fields;

    #[test]
    fn nodes_get_what_they_need() {
        use Verdict::{Allow, Deny, Related, Rules};
        let leases = LEASES;
        // verb, group, resource/subresource, namespace, name, field selector, verdict
        for (verb, group, resource, namespace, name, fields, want) in [
            ("get", "", "secrets", "ns", "s", "", Related(Thing::Secret)),
            ("list", "", "secrets", "ns", "s", "metadata.name=s", Related(Thing::Secret)),
            ("list", "", "secrets", "ns", "", "", Deny),
            ("list", "", "secrets", "", "", "", Deny),
            ("update", "", "secrets", "ns", "s", "", Deny),
            ("watch", "", "configmaps", "ns", "c", "", Related(Thing::ConfigMap)),
            ("get", "", "persistentvolumeclaims", "ns", "c", "", Related(Thing::Claim)),
            ("list", "", "persistentvolumeclaims", "ns", "c", "", Deny),
            ("patch", "", "persistentvolumeclaims/status", "ns", "c", "", Related(Thing::Claim)),
            ("patch", "", "persistentvolumeclaims", "ns", "c", "", Deny),
            ("get", "", "persistentvolumes", "", "v", "", Related(Thing::Volume)),
            ("list", "", "persistentvolumes", "", "", "", Deny),
            ("get", "resource.k8s.io", "resourceclaims", "ns", "c", "", Related(Thing::ResourceClaim)),
            ("get", "storage.k8s.io", "volumeattachments", "", "a", "", Related(ATTACHMENT)),
            ("create", "", "serviceaccounts/token", "ns", "sa", "", Related(Thing::Account)),
            ("get", "", "serviceaccounts", "ns", "sa", "", Related(Thing::Account)),
            ("list", "", "serviceaccounts", "ns", "", "", Deny),
            ("create", "", "serviceaccounts", "ns", "", "", Deny),
            ("create", "coordination.k8s.io", "leases", leases, "", "", Allow),
            ("update", "coordination.k8s.io", "leases", leases, "me", "", Allow),
            ("update", "coordination.k8s.io", "leases", leases, "other", "", Deny),
            ("list", "coordination.k8s.io", "leases", leases, "", "", Deny),
            ("get", "coordination.k8s.io", "leases", "kube-system", "me", "", Deny),
            ("create", "storage.k8s.io", "csinodes", "", "", "", Allow),
            ("delete", "storage.k8s.io", "csinodes", "", "me", "", Allow),
            ("get", "storage.k8s.io", "csinodes", "", "other", "", Deny),
            ("list", "resource.k8s.io", "resourceslices", "", "", "spec.nodeName=me", Allow),
            ("deletecollection", "resource.k8s.io", "resourceslices", "", "", "", Deny),
            ("delete", "resource.k8s.io", "resourceslices", "", "x", "", Related(SLICE)),
            ("create", "certificates.k8s.io", "podcertificaterequests", "ns", "", "", Allow),
            ("watch", "certificates.k8s.io", "podcertificaterequests", "", "", "spec.nodeName=me", Allow),
            ("watch", "certificates.k8s.io", "podcertificaterequests", "", "", "spec.nodeName=other", Deny),
            ("get", "", "nodes", "", "me", "", Allow),
            ("get", "", "nodes", "", "other", "", Deny),
            ("list", "", "nodes", "", "", "", Deny),
            ("create", "", "nodes", "", "", "", Allow),
            ("patch", "", "nodes/status", "", "me", "", Allow),
            ("delete", "", "nodes", "", "me", "", Deny),
            ("list", "", "pods", "", "", "spec.nodeName=me", Allow),
            ("list", "", "pods", "", "", "spec.nodeName!=me", Deny),
            ("watch", "", "pods", "ns", "", "", Deny),
            ("get", "", "pods", "ns", "p", "", Related(Thing::Pod)),
            ("delete", "", "pods", "ns", "p", "", Allow),
            ("patch", "", "pods/status", "ns", "p", "", Allow),
            ("create", "", "pods/exec", "ns", "p", "", Deny),
            ("create", "", "pods/eviction", "ns", "p", "", Allow),
            ("list", "", "services", "", "", "", Rules),
        ] {
            let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
            let question = Question {
                verb: verb.into(),
                group: group.into(),
                resource: resource.into(),
                subresource: subresource.into(),
                namespace: namespace.into(),
                name: name.into(),
                fields: Fields::parse(fields).unwrap(),
                path: None,
            };
            assert_eq!(decide("me", &question), want, "{question:?}");
        }
    }

    #[test]
    fn nodes_are_known_by_name_and_group() {
        let user = |name: &str, groups: &[&str]| UserInfo::authenticated(name, groups);
        assert_eq!(name(&user("system:node:a", &["system:nodes"])), Some("a"));
        assert_eq!(name(&user("system:node:", &["system:nodes"])), Some(""));
        assert_eq!(name(&user("system:node:a", &[])), None);
        assert_eq!(name(&user("a", &["system:nodes"])), None);
    }
}
