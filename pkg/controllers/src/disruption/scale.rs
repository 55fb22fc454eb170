//! How many pods a controller is to have.

use client::runtime::ignore_not_found;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::{
    Api,
    api::{DynamicObject, GroupVersionKind},
    discovery::{Scope, pinned_kind},
};

/// What is known of the scale of a pod's controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Of this object: the controller, or what is above it.
    Of { uid: String, replicas: i32 },
    /// The controller is not there.
    Missing,
    /// It has none, or it could not be read, and why.
    Failed(String),
}

/// Asks the API for the scale of any kind that has one. Errors are those that may pass.
pub async fn ask(client: &kube::Client, namespace: &str, owner: &OwnerReference) -> Result<Scale, kube::Error> {
    let (group, version) = owner.api_version.rsplit_once('/').unwrap_or(("", &owner.api_version));
    let found = match pinned_kind(client, &GroupVersionKind::gvk(group, version, &owner.kind)).await {
        Err(kube::Error::Discovery(_)) => None,
        found => ignore_not_found(found)?,
    };
    let Some((resource, can)) = found else {
        let why = format!("no matches for kind {:?} in version {:?}", owner.kind, owner.api_version);
        return Ok(Scale::Failed(why));
    };
    if !can.subresources.iter().any(|(subresource, _)| subresource.plural == "scale") {
        let dot = if group.is_empty() { "" } else { "." };
        return Ok(Scale::Failed(format!("{}{dot}{group} does not implement the scale subresource", resource.plural)));
    }
    let api: Api<DynamicObject> = match can.scope {
        Scope::Namespaced => Api::namespaced_with(client.clone(), namespace, &resource),
        Scope::Cluster => Api::all_with(client.clone(), &resource),
    };
    let scale = ignore_not_found(api.get_subresource("scale", &owner.name).await)?;
    let Some(scale) = scale.filter(|scale| scale.metadata.uid.as_ref() == Some(&owner.uid)) else {
        return Ok(Scale::Missing);
    };
    let replicas = scale.data["spec"]["replicas"].as_i64().unwrap_or(0);
    Ok(Scale::Of { uid: owner.uid.clone(), replicas: i32::try_from(replicas).unwrap_or(i32::MAX) })
}
