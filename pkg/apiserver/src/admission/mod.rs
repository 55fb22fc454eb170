//! Admission: what the cluster adds to objects and checks of them beyond their own rules. One
//! table of plugins, run in order: first all `mutate`, later all `validate`.

mod certificates;
mod devices;
mod escalation;
mod namespace;
mod node_restriction;
mod pod_defaults;
mod priority;
mod service;
mod service_account;
mod topology;

use std::any::Any;

use api::{Status, Value, meta, tree};
use parking_lot::Mutex;

use crate::call::Call;

pub use service::ServiceCidr;

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A new object.
    Create,
    /// A change, also by patch.
    Update,
    /// A deletion.
    Delete,
    /// A stream.
    Connect,
}

/// A request, as plugins see it.
pub struct Attributes<'a> {
    /// The request; its kind is the object's.
    pub call: &'a Call,
    /// What is being done.
    pub operation: Operation,
    /// Subresource; empty for the object itself.
    pub subresource: &'a str,
    /// The object before; `None` at creation.
    pub old: Option<&'a Value>,
    /// Whether the server has made the name of a new object.
    pub generated: bool,
    /// Kept until the request is over: locks that cover the commit.
    pub held: &'a Mutex<Vec<Box<dyn Any + Send>>>,
}

impl Attributes<'_> {
    /// Whether it is about an object of a kind of the core group itself.
    fn is_core(&self, plural: &str) -> bool {
        self.call.kind.group.is_empty() && &*self.call.kind.plural == plural && self.subresource.is_empty()
    }

    /// 403 about the object. A name that the server has made says nothing to the client, who gets the prefix back.
    fn forbidden(&self, object: &Value, why: &str) -> Status {
        let own = meta::text(object, if self.generated { "generateName" } else { "name" });
        let names = [self.call.info.name.as_str(), own, "Unknown"];
        let name = names.into_iter().find(|name| !name.is_empty()).unwrap_or_default();
        Status::forbidden(&self.call.kind.group, &self.call.kind.plural, name, why)
    }
}

/// A step of admission. Both halves do nothing by default.
#[async_trait::async_trait]
pub trait Plugin: Send + Sync {
    /// Upstream's name, where there is one.
    fn name(&self) -> &'static str;

    /// Changes an object before it is checked.
    async fn mutate(&self, _attributes: &Attributes<'_>, _object: &mut Value) -> Result<(), Status> {
        Ok(())
    }

    /// Refuses an object in its final form; for deletions it is the one to go.
    async fn validate(&self, _attributes: &Attributes<'_>, _object: &Value) -> Result<(), Status> {
        Ok(())
    }
}

/// All plugins, in order.
pub fn plugins(own_node: &str) -> Vec<Box<dyn Plugin>> {
    vec![
        Box::new(namespace::Lifecycle),
        Box::new(service_account::ServiceAccount),
        Box::new(node_restriction::NodeRestriction { own_node: own_node.to_owned() }),
        Box::new(priority::Priority),
        Box::new(pod_defaults::DefaultTolerations),
        Box::new(namespace::NameLabel),
        Box::new(service::Allocation::default()),
        Box::new(escalation::Escalation),
        Box::new(certificates::Certificates),
        Box::new(devices::TaintTimes),
        Box::new(topology::PodTopologyLabels),
    ]
}

/// Whether metadata differ at most in what garbage collection and bookkeeping touch.
fn same_metadata(old: &Value, new: &Value) -> bool {
    let rest = |object: &Value| {
        let mut metadata = object["metadata"].clone();
        for field in ["ownerReferences", "finalizers", "managedFields", "resourceVersion"] {
            tree::remove(&mut metadata, field);
        }
        metadata
    };
    tree::equal(&rest(old), &rest(new))
}

/// Runs the first half.
pub async fn mutate(attributes: &Attributes<'_>, object: &mut Value) -> Result<(), Status> {
    for plugin in &attributes.call.server.admission {
        plugin.mutate(attributes, object).await?;
    }
    Ok(())
}

/// Runs the second half.
pub async fn validate(attributes: &Attributes<'_>, object: &Value) -> Result<(), Status> {
    for plugin in &attributes.call.server.admission {
        plugin.validate(attributes, object).await?;
    }
    Ok(())
}

/// Both halves for something that is created below an object and not stored: a token, an eviction, a binding.
pub async fn created(call: &Call, subresource: &str, object: &mut Value) -> Result<(), Status> {
    let held = Mutex::default();
    let attributes =
        Attributes { call, operation: Operation::Create, subresource, old: None, generated: false, held: &held };
    mutate(&attributes, object).await?;
    validate(&attributes, object).await
}

/// Asks about a stream to an object.
pub async fn connected(call: &Call, object: &Value) -> Result<(), Status> {
    let held = Mutex::default();
    let (operation, subresource) = (Operation::Connect, call.info.subresource.as_str());
    let attributes = Attributes { call, operation, subresource, old: Some(object), generated: false, held: &held };
    validate(&attributes, object).await
}
