//! The kinds table: what the API serves. A kind is a row, for built-in kinds and custom resources
//! alike; discovery, OpenAPI, tables and the request pipeline derive from it.
//!
//! The rows of the built-in kinds stand in one file to each family of groups; [`builtin`] puts
//! them together in discovery order.

mod access;
mod apps;
pub(crate) mod autoscaling;
mod core;
mod events;
mod extensions;
mod fields;
mod networking;
mod registration;
mod row;
mod storage;
mod system;
#[cfg(test)]
mod tests;

pub use fields::{field_path, field_text};

use std::{collections::HashMap, sync::Arc};

use serde_json::Value;

use crate::{
    schema::{Schema, Shared, TypeId},
    strategy::Strategy,
    table::jsonpath::JsonPath,
};

/// One served group, version and resource.
#[derive(Clone)]
pub struct Kind {
    /// API group; empty for core.
    pub group: Shared<str>,
    /// API version, e.g. `v1`.
    pub version: Shared<str>,
    /// `Deployment`.
    pub kind: Shared<str>,
    /// Resource name in URLs, e.g. `deployments`.
    pub plural: Shared<str>,
    /// `deployment`.
    pub singular: Shared<str>,
    /// `deploy`.
    pub short_names: Names,
    /// `all`.
    pub categories: Names,
    /// Whether objects live in a namespace.
    pub namespaced: bool,
    /// What clients may do with the main resource.
    pub verbs: Verbs,
    /// `status`, `scale`, …
    pub subresources: Shared<[Subresource]>,
    /// Where [`Kind::root`] is looked up.
    pub schema: Schema,
    /// The type of a whole object.
    pub root: TypeId,
    /// Columns of `kubectl get`, without the leading Name unless listed here. None at all: Name
    /// and Created At.
    pub columns: Shared<[Column]>,
    /// Field selectors besides `metadata.name` and `metadata.namespace`, as dotted paths.
    pub selectable: Names,
    /// What is unusual about the kind.
    pub strategy: Shared<dyn Strategy>,
    /// Writes may ride along with the next durable commit (Leases, Events).
    pub relaxed_durability: bool,
    /// The row in whose form objects are stored, where it is another one: both kinds of Event,
    /// versions of one kind.
    pub storage: Option<Resource>,
    /// How the served form and the stored form differ; `None`: not at all.
    pub conversion: Option<Conversion>,
    /// What one word says.
    pub traits: Traits,
}

/// What one word says of a kind; mostly nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traits {
    /// An update must say which version it is based on.
    pub based: bool,
    /// An update makes the object where it is missing.
    pub made_by_update: bool,
    /// A deletion that is done answers with the object as it was, not with a `Status`.
    pub returns_deleted: bool,
    /// A deletion that does not speak of dependents leaves them: the kind is older than garbage collection.
    pub orphaning: bool,
    /// Names of finalizers need no domain.
    pub bare_finalizers: bool,
    /// What clients are warned of.
    pub deprecated: Option<&'static str>,
}

/// Names of a row.
pub type Names = Arc<[Shared<str>]>;

/// Names a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// API group; empty for core.
    pub group: Shared<str>,
    /// API version.
    pub version: Shared<str>,
    /// Resource name in URLs.
    pub plural: Shared<str>,
}

/// Turns an object of one version into that of another, in place, `apiVersion` included.
#[derive(Clone, Copy, Debug)]
pub enum Conversion {
    /// By code.
    Code {
        /// From the served form to the stored one.
        to_storage: fn(&mut Value),
        /// From the stored form to the served one.
        from_storage: fn(&mut Value),
    },
    /// Custom resources: versions differ in `apiVersion` alone, but what is stored may have been
    /// written under another version or an earlier schema. It is pruned and defaulted when it is read.
    Schema,
}

/// Verbs of a main resource, as discovery lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verbs {
    /// create, delete, deletecollection, get, list, patch, update, watch.
    All,
    /// All but deletecollection: namespaces.
    NoCollectionDelete,
    /// Of a custom resource whose definition is being deleted: what is there may be looked at, changed
    /// and deleted, nothing comes.
    Ending,
    /// create only: access reviews and the like; nothing is stored.
    CreateOnly,
    /// get and list: what is made when it is asked for; nothing is stored.
    ReadOnly,
}

impl Verbs {
    /// As discovery lists them.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Verbs::All => &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
            Verbs::NoCollectionDelete => &["create", "delete", "get", "list", "patch", "update", "watch"],
            // As upstream lists them; patches, which remove finalizers, are served all the same.
            Verbs::Ending => &["delete", "deletecollection", "get", "list", "watch"],
            Verbs::CreateOnly => &["create"],
            Verbs::ReadOnly => &["get", "list"],
        }
    }

    /// Whether the verb is served.
    pub fn allows(self, verb: &str) -> bool {
        match self {
            Verbs::Ending => Verbs::All.allows(verb),
            _ => self.names().contains(&verb),
        }
    }
}

/// A path below an object.
#[derive(Clone, Debug)]
pub struct Subresource {
    /// Last path segment.
    pub name: &'static str,
    /// How it behaves.
    pub action: Action,
}

impl Subresource {
    /// What clients may do with it, as discovery lists it.
    pub fn verbs(&self) -> &'static [&'static str] {
        match self.action {
            Action::Status | Action::Scale(_) | Action::EphemeralContainers | Action::Resize | Action::Approval => {
                &["get", "patch", "update"]
            }
            Action::Binding | Action::Eviction | Action::Token => &["create"],
            Action::Finalize => &["update"],
            Action::Connect => match self.name {
                "log" => &["get"],
                "proxy" => &["create", "delete", "get", "patch", "update"],
                _ => &["create", "get"],
            },
        }
    }
}

/// Behaviour of a subresource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// get, patch, update of `.status` (and the object's metadata as upstream allows).
    Status,
    /// get, patch, update through `autoscaling/v1 Scale`.
    Scale(Shared<ScalePaths>),
    /// create of a `Binding`: the scheduler's word.
    Binding,
    /// create of an `Eviction`.
    Eviction,
    /// update of a Namespace's `spec.finalizers`.
    Finalize,
    /// create of a `TokenRequest`.
    Token,
    /// get, patch, update that only touches what the subresource names.
    EphemeralContainers,
    /// In-place resize of a pod.
    Resize,
    /// Conditions of a signing request: the approver's word.
    Approval,
    /// A stream or a document from the kubelet: `log`, `exec`, `attach`, `portforward`, `proxy`.
    Connect,
}

/// Where an object keeps what a Scale shows, as dotted paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScalePaths {
    /// The wanted count.
    pub spec: Shared<str>,
    /// The observed count.
    pub status: Shared<str>,
    /// The label selector, as an object or as text; empty for none.
    pub selector: Shared<str>,
}

/// A column of a server-side table.
#[derive(Clone, Debug)]
pub struct Column {
    /// Heading.
    pub name: Shared<str>,
    /// OpenAPI type: `string`, `integer`, `date`, …
    pub kind: Shared<str>,
    /// OpenAPI format: `name` marks the column of names; mostly empty.
    pub format: Shared<str>,
    /// For people; empty for built-in kinds.
    pub description: Shared<str>,
    /// Shown with `-o wide` where above 0.
    pub priority: u8,
    /// What it shows.
    pub cell: Cell,
}

/// How a cell is made from an object. `now` is in seconds since the epoch.
#[derive(Clone, Debug)]
pub enum Cell {
    /// The value at a JSONPath, in the form of the column's type; dates become ages.
    Path(Arc<JsonPath>),
    /// Text at a dotted path, or else the second text.
    Text(&'static str, &'static str),
    /// A whole number at a dotted path, 0 where absent.
    Int(&'static str),
    /// Truth at a dotted path, or else the second.
    Flag(&'static str, bool),
    /// How many entries the list or map at a dotted path has.
    Count(&'static str),
    /// The time at a dotted path, as an age.
    Age(&'static str),
    /// Code, for what upstream computes.
    Code(fn(object: &Value, now: i64) -> Value),
}

impl Kind {
    /// `v1` or `apps/v1`.
    pub fn api_version(&self) -> String {
        match &*self.group {
            "" => self.version.to_string(),
            group => format!("{group}/{}", &*self.version),
        }
    }

    /// `deployments.apps`, or `pods`: the name used in messages.
    pub fn qualified(&self) -> String {
        match &*self.group {
            "" => self.plural.to_string(),
            group => format!("{}.{group}", &*self.plural),
        }
    }

    /// Group and plural under which objects are stored.
    pub fn stored_as(&self) -> (&str, &str) {
        self.storage.as_ref().map_or((&*self.group, &*self.plural), |row| (&*row.group, &*row.plural))
    }

    /// Whether it comes from a CustomResourceDefinition.
    pub fn is_custom(&self) -> bool {
        matches!(self.schema.types, Shared::Counted(_))
    }

    /// Brings an object from the form that this row serves into the one that is stored, which is
    /// that of the row `stored`.
    pub fn to_storage(&self, stored: &Kind, object: &mut Value) {
        match self.conversion {
            None => {}
            Some(Conversion::Code { to_storage, .. }) => to_storage(object),
            Some(Conversion::Schema) => object["apiVersion"] = stored.api_version().into(),
        }
    }

    /// Brings an object from its stored form into the one that this row serves. Whether the two
    /// differ, as far as is known: what code converts is taken to differ.
    pub fn from_storage(&self, object: &mut Value) -> bool {
        match self.conversion {
            None => false,
            Some(Conversion::Code { from_storage, .. }) => {
                from_storage(object);
                true
            }
            Some(Conversion::Schema) => {
                let version = self.api_version();
                let other = object["apiVersion"] != version;
                object["apiVersion"] = version.into();
                let changed = self.schema.custom.as_ref().is_some_and(|custom| custom.read(object));
                changed || other
            }
        }
    }

    /// The kind of lists: mostly the kind with `List` behind it.
    pub fn list_kind(&self) -> String {
        match &self.schema.custom {
            Some(custom) => custom.list_kind().to_owned(),
            None => format!("{}List", &*self.kind),
        }
    }

    /// What clients are to be warned of, where a version is deprecated.
    pub fn deprecation(&self) -> Option<&str> {
        if let Some(custom) = &self.schema.custom {
            return custom.deprecation();
        }
        self.traits.deprecated
    }

    /// The subresource of this name.
    pub fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources.iter().find(|s| s.name == name)
    }
}

/// All kinds that are served now. Cheap to clone; custom resources make a new one.
#[derive(Clone)]
pub struct Kinds {
    rows: Arc<[Arc<Kind>]>,
    /// Rows by plural: few share one.
    by_plural: Arc<HashMap<Shared<str>, Vec<usize>>>,
}

impl Kinds {
    /// A table of these rows.
    pub fn new(rows: Vec<Arc<Kind>>) -> Self {
        let mut by_plural: HashMap<Shared<str>, Vec<usize>> = HashMap::new();
        for (at, row) in rows.iter().enumerate() {
            by_plural.entry(row.plural.clone()).or_default().push(at);
        }
        Kinds { rows: rows.into(), by_plural: by_plural.into() }
    }

    /// Rows, in discovery order.
    pub fn rows(&self) -> &[Arc<Kind>] {
        &self.rows
    }

    /// The row that serves `/apis/GROUP/VERSION/…/PLURAL`.
    pub fn by_resource(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Kind>> {
        let rows = self.by_plural.get(plural)?.iter().map(|at| &self.rows[*at]);
        rows.into_iter().find(|k| &*k.group == group && &*k.version == version)
    }

    /// The row whose form is stored for `kind`: itself, unless it names another.
    pub fn stored<'a>(&'a self, kind: &'a Kind) -> &'a Kind {
        let Some(row) = &kind.storage else { return kind };
        self.by_resource(&row.group, &row.version, &row.plural).map_or(kind, |kind| kind)
    }

    /// The row of this kind.
    pub fn by_kind(&self, group: &str, version: &str, kind: &str) -> Option<&Arc<Kind>> {
        self.rows.iter().find(|k| &*k.group == group && &*k.version == version && &*k.kind == kind)
    }
}

/// The kinds that are served from the start, in discovery order.
pub fn builtin() -> Kinds {
    row::build(&[
        (&core::GROUP, core::ROWS),
        (&registration::GROUP, registration::ROWS),
        (&apps::APPS, apps::APPS_ROWS),
        (&events::GROUP, events::ROWS),
        (&access::AUTHENTICATION, access::AUTHENTICATION_ROWS),
        (&access::AUTHORIZATION, access::AUTHORIZATION_ROWS),
        (&apps::AUTOSCALING, apps::AUTOSCALING_ROWS),
        (&autoscaling::GROUP, autoscaling::ROWS),
        (&apps::BATCH, apps::BATCH_ROWS),
        (&access::CERTIFICATES, access::CERTIFICATES_ROWS),
        (&networking::NETWORKING, networking::NETWORKING_ROWS),
        (&apps::POLICY, apps::POLICY_ROWS),
        (&access::RBAC, access::RBAC_ROWS),
        (&storage::STORAGE, storage::STORAGE_ROWS),
        (&system::ADMISSION, system::ADMISSION_ROWS),
        (&extensions::EXTENSIONS, extensions::EXTENSIONS_ROWS),
        (&system::SCHEDULING, system::SCHEDULING_ROWS),
        (&system::COORDINATION, system::COORDINATION_ROWS),
        (&system::NODE, system::NODE_ROWS),
        (&networking::DISCOVERY, networking::DISCOVERY_ROWS),
        (&system::RESOURCE, system::RESOURCE_ROWS),
        (&system::FLOWCONTROL, system::FLOWCONTROL_ROWS),
        (&storage::MIGRATION, storage::MIGRATION_ROWS),
    ])
}
