//! Namespaces: nothing is made in one that is missing or going, and each carries its name as a label.

use api::{Status, Value, meta};
use serde_json::json;

use super::{Attributes, Operation, Plugin};
use crate::keys;

/// Namespaces that cannot be deleted.
const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

/// Upstream's NamespaceLifecycle.
pub struct Lifecycle;

#[async_trait::async_trait]
impl Plugin for Lifecycle {
    fn name(&self) -> &'static str {
        "NamespaceLifecycle"
    }

    async fn mutate(&self, attributes: &Attributes<'_>, object: &mut Value) -> Result<(), Status> {
        let call = attributes.call;
        let namespace = call.namespace();
        if attributes.operation != Operation::Create || namespace.is_empty() {
            return Ok(());
        }
        let kinds = &call.kinds;
        let Some(kind) = kinds.by_resource("", "v1", "namespaces") else { return Ok(()) };
        let cache = call.server.caches.of(kind).await?;
        let key = keys::object(kind, "", namespace);
        let mut found = cache.get(key.as_bytes());
        if found.is_none() {
            call.server.caches.at_head().await?;
            found = cache.get(key.as_bytes());
        }
        let Some(found) = found else {
            return Err(Status::not_found("", "namespaces", namespace));
        };
        let phase =
            kind.selectable.iter().position(|f| **f == *"status.phase").and_then(|at| found.facts.fields.get(at));
        if phase.is_some_and(|phase| &**phase == "Terminating") {
            let why = format!("unable to create new content in namespace {namespace} because it is being terminated");
            let mut status = attributes.forbidden(object, &why);
            status.details["causes"] = json!([{
                "reason": "NamespaceTerminating",
                "message": format!("namespace {namespace} is being terminated"),
                "field": "metadata.namespace",
            }]);
            return Err(status);
        }
        Ok(())
    }

    async fn validate(&self, attributes: &Attributes<'_>, object: &Value) -> Result<(), Status> {
        if attributes.operation == Operation::Delete && attributes.is_core("namespaces") {
            let name = meta::name(object);
            if IMMORTAL.contains(&name) {
                return Err(attributes.forbidden(object, "this namespace may not be deleted"));
            }
        }
        Ok(())
    }
}

/// Sets `kubernetes.io/metadata.name` on namespaces.
pub struct NameLabel;

#[async_trait::async_trait]
impl Plugin for NameLabel {
    fn name(&self) -> &'static str {
        "NamespaceNameLabel"
    }

    async fn mutate(&self, attributes: &Attributes<'_>, object: &mut Value) -> Result<(), Status> {
        if attributes.is_core("namespaces") && matches!(attributes.operation, Operation::Create | Operation::Update) {
            let name = meta::name(object).to_owned();
            if !name.is_empty() {
                object["metadata"]["labels"]["kubernetes.io/metadata.name"] = name.into();
            }
        }
        Ok(())
    }
}
