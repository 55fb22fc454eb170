//! What the server keeps in mind of a CustomResourceDefinition: names, versions and status, without the schemas.

use api::{Value, crd::CLEANUP, meta, tree};
use sha2::{Digest as _, Sha256};

/// See the module.
#[derive(Clone, Debug)]
pub struct Definition {
    /// `metadata.name`.
    pub name: String,
    /// `metadata.uid`.
    pub uid: String,
    /// Of the last write.
    pub revision: i64,
    /// Whether deletion was asked for.
    pub deleting: bool,
    /// `metadata.finalizers`.
    pub finalizers: Vec<String>,
    /// The annotation `api-approved.kubernetes.io`.
    pub approval: String,
    /// `spec.group`.
    pub group: String,
    /// `spec.scope` is `Namespaced`.
    pub namespaced: bool,
    /// `spec.names`.
    pub names: Value,
    /// The version that objects are stored in.
    pub storage: String,
    /// Versions that are served.
    pub served: Vec<String>,
    /// `status`.
    pub status: Value,
    /// Tells apart what is served: differs where rows do, but for those that are ending.
    pub fingerprint: [u8; 32],
}

impl Definition {
    /// From the object, written at `revision`.
    pub fn new(object: &Value, revision: i64) -> Self {
        let text = |path| tree::text(object, path).to_owned();
        let versions = tree::items(object, "spec.versions");
        let name = |version: &Value| tree::text(version, "name").to_owned();
        let mut definition = Definition {
            name: meta::name(object).to_owned(),
            uid: meta::text(object, "uid").to_owned(),
            revision,
            deleting: tree::has(object, "metadata.deletionTimestamp"),
            finalizers: tree::texts(object, "metadata.finalizers").map(str::to_owned).collect(),
            approval: object["metadata"]["annotations"]["api-approved.kubernetes.io"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            group: text("spec.group"),
            namespaced: tree::text(object, "spec.scope") == "Namespaced",
            names: object["spec"]["names"].clone(),
            storage: versions.iter().find(|v| tree::flag(v, "storage")).map(name).unwrap_or_default(),
            served: versions.iter().filter(|v| tree::flag(v, "served")).map(name).collect(),
            status: object["status"].clone(),
            fingerprint: [0; 32],
        };
        let shows = (&object["spec"], &definition.status["acceptedNames"]);
        let shows = serde_json::to_vec(&(shows, &definition.uid, definition.is_served()));
        definition.fingerprint = Sha256::digest(shows.unwrap_or_default()).into();
        definition
    }

    /// A condition of the status, by type.
    pub fn condition(&self, type_: &str) -> Option<&Value> {
        tree::items(&self.status, "conditions").iter().find(|c| c["type"] == type_)
    }

    /// Whether a condition is true.
    pub fn is(&self, type_: &str) -> bool {
        self.condition(type_).is_some_and(|condition| condition["status"] == "True")
    }

    /// Whether its objects are served.
    pub fn is_served(&self) -> bool {
        self.is("Established")
    }

    /// The plural that objects are stored and served under.
    pub fn plural(&self) -> &str {
        match tree::text(&self.status, "acceptedNames.plural") {
            "" => tree::text(&self.names, "plural"),
            plural => plural,
        }
    }

    /// Whether it waits for its objects to go.
    pub fn is_ending(&self) -> bool {
        self.deleting && self.finalizers.iter().any(|finalizer| finalizer == CLEANUP)
    }
}
