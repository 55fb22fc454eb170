//! Ownership: which objects a controller may count as its own, which it adopts and releases.

use std::sync::Arc;

use client::runtime::controller_of;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::{
    Api, Resource, ResourceExt as _,
    api::{Patch, PatchParams},
};
use serde::de::DeserializeOwned;
use serde_json::json;

/// A reference that makes `owner` the controller of what carries it.
pub fn controller_reference<K: Resource<DynamicType = ()>>(owner: &K) -> OwnerReference {
    OwnerReference {
        api_version: K::api_version(&()).into_owned(),
        kind: K::kind(&()).into_owned(),
        name: owner.name_any(),
        uid: owner.uid().unwrap_or_default(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    }
}

/// Whether `owner` controls `object`.
pub fn is_controlled_by<K: Resource, O: Resource>(object: &K, owner: &O) -> bool {
    controller_of(object).is_some_and(|reference| Some(&reference.uid) == owner.meta().uid.as_ref())
}

/// Whether the object is on its way out.
pub fn is_deleting<K: Resource>(object: &K) -> bool {
    object.meta().deletion_timestamp.is_some()
}

/// What became of the objects that might be an owner's.
#[derive(Debug)]
pub struct Claim<K> {
    /// Controlled by the owner, and selected.
    pub owned: Vec<Arc<K>>,
    /// Selected orphans: to be adopted.
    pub adopt: Vec<Arc<K>>,
    /// Controlled by the owner but selected no more: to be released.
    pub release: Vec<Arc<K>>,
}

/// Sorts the candidates of one namespace. An owner that is being deleted adopts and releases
/// nothing; an object that is being deleted is not adopted.
pub fn claim<K: Resource, O: Resource>(owner: &O, candidates: &[Arc<K>], selected: impl Fn(&K) -> bool) -> Claim<K> {
    let mut claim = Claim { owned: Vec::new(), adopt: Vec::new(), release: Vec::new() };
    for object in candidates {
        match controller_of(&**object) {
            Some(reference) if Some(&reference.uid) == owner.meta().uid.as_ref() => {
                if selected(object) {
                    claim.owned.push(object.clone());
                } else if !is_deleting(owner) && !is_deleting(&**object) {
                    claim.release.push(object.clone());
                }
            }
            Some(_) => {}
            None if selected(object) && !is_deleting(owner) && !is_deleting(&**object) => {
                claim.adopt.push(object.clone());
            }
            None => {}
        }
    }
    claim
}

/// Makes the adoptions and releases of a claim real. Each is bound to the state that was seen.
pub async fn carry_out<K, O>(api: &Api<K>, owner: &O, claim: &Claim<K>) -> Result<(), kube::Error>
where
    K: Resource + Clone + DeserializeOwned + std::fmt::Debug,
    O: Resource<DynamicType = ()>,
{
    for object in &claim.adopt {
        let mut references = object.owner_references().to_vec();
        references.push(controller_reference(owner));
        set_owners(api, &**object, &references).await?;
    }
    for object in &claim.release {
        let references: Vec<_> =
            object.owner_references().iter().filter(|r| Some(&r.uid) != owner.meta().uid.as_ref()).cloned().collect();
        set_owners(api, &**object, &references).await?;
    }
    Ok(())
}

async fn set_owners<K>(api: &Api<K>, object: &K, references: &[OwnerReference]) -> Result<(), kube::Error>
where
    K: Resource + Clone + DeserializeOwned + std::fmt::Debug,
{
    let patch = json!({ "metadata": {
        "uid": object.uid(),
        "resourceVersion": object.resource_version(),
        "ownerReferences": references,
    }});
    api.patch(&object.name_any(), &PatchParams::default(), &Patch::Merge(patch)).await.map(|_| ())
}
