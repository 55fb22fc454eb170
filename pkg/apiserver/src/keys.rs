//! Where objects live in the store, as upstream lays it out.

use api::{Kind, Status};

/// All objects are below it.
pub const ROOT: &str = "/registry/";

/// Resources whose place differs from their name, for the sake of tools that read snapshots.
const PLACES: &[(&str, &str, &str)] = &[
    ("", "services", "services/specs"),
    ("", "endpoints", "services/endpoints"),
    ("", "nodes", "minions"),
    ("", "replicationcontrollers", "controllers"),
    ("networking.k8s.io", "ingresses", "ingress"),
    ("apiextensions.k8s.io", "customresourcedefinitions", "apiextensions.k8s.io/customresourcedefinitions"),
    ("apiregistration.k8s.io", "apiservices", "apiregistration.k8s.io/apiservices"),
];

/// `/registry/pods/`: what all keys of a kind begin with.
pub fn prefix(kind: &Kind) -> String {
    let (group, plural) = kind.stored_as();
    match PLACES.iter().find(|(g, p, _)| (*g, *p) == (group, plural)) {
        Some((_, _, place)) => format!("{ROOT}{place}/"),
        // Custom resources carry their group, built-in ones are unique by name.
        None if kind.is_custom() && !group.is_empty() => custom(group, plural),
        None => format!("{ROOT}{plural}/"),
    }
}

/// What the keys of a custom resource begin with.
pub fn custom(group: &str, plural: &str) -> String {
    format!("{ROOT}{group}/{plural}/")
}

/// The prefix of all objects in a namespace; of all objects for an empty one.
pub fn scope(kind: &Kind, namespace: &str) -> String {
    let prefix = prefix(kind);
    if namespace.is_empty() { prefix } else { format!("{prefix}{namespace}/") }
}

/// The key of an object.
pub fn object(kind: &Kind, namespace: &str, name: &str) -> String {
    let mut key = scope(kind, if kind.namespaced { namespace } else { "" });
    key.push_str(name);
    key
}

/// What a client is told of a failure of the store.
pub fn store_error(error: store::Error) -> Status {
    match error {
        store::Error::NoSpace { .. } => Status::unavailable(format!("{error}; nothing was written")),
        store::Error::Unavailable { .. } => Status::unavailable(error.to_string()),
        store::Error::OutcomeUnknown { .. } => Status::timeout(error.to_string()),
        store::Error::TooLarge => Status::too_large("the object is larger than the datastore takes"),
        store::Error::Closed => Status::unavailable("the server is shutting down"),
        store::Error::Compacted { .. } => Status::expired("The resourceVersion for the provided list is too old."),
        other => Status::internal(other),
    }
}
