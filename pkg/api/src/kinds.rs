//! The kinds table: what the API serves. A kind is a row, for built-in kinds and custom resources
//! alike; discovery, OpenAPI, tables and the request pipeline derive from it.

use crate::{
    schema::{Schema, Shared, TypeId},
    strategy::Strategy,
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
    pub short_names: Shared<[&'static str]>,
    /// `all`.
    pub categories: Shared<[&'static str]>,
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
    /// Columns of `kubectl get`, without the leading Name and the trailing Age unless listed here.
    pub columns: Shared<[Column]>,
    /// Field selectors besides `metadata.name` and `metadata.namespace`, as dotted paths.
    pub selectable: Shared<[&'static str]>,
    /// What is unusual about the kind.
    pub strategy: &'static dyn Strategy,
    /// Writes may ride along with the next durable commit (Leases, Events).
    pub relaxed_durability: bool,
}

/// Verbs of a main resource, as discovery lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verbs {
    /// create, delete, deletecollection, get, list, patch, update, watch.
    All,
    /// create only: access reviews and the like; nothing is stored.
    CreateOnly,
}

/// A path below an object.
#[derive(Clone, Debug)]
pub struct Subresource {
    /// Last path segment.
    pub name: &'static str,
    /// How it behaves.
    pub action: Action,
}

/// Behaviour of a subresource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// get, patch, update of `.status` (and the object's metadata as upstream allows).
    Status,
    /// get, patch, update through `autoscaling/v1 Scale`.
    Scale {
        /// Dotted path of the wanted count.
        spec: &'static str,
        /// Dotted path of the observed count.
        status: &'static str,
        /// Dotted path of the label selector.
        selector: &'static str,
    },
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
    /// A stream or a document from the kubelet: `log`, `exec`, `attach`, `portforward`, `proxy`.
    Connect,
}

/// A column of a server-side table.
#[derive(Clone, Debug)]
pub struct Column {
    /// Heading.
    pub name: Shared<str>,
    /// OpenAPI type: `string`, `integer`, `date`, …
    pub kind: Shared<str>,
    /// Shown with `-o wide` where above 0.
    pub priority: u8,
    /// What it shows.
    pub cell: Cell,
}

/// How a cell is made from an object. `now` is in seconds since the epoch.
#[derive(Clone)]
pub enum Cell {
    /// The value at a JSONPath (dotted path); dates become ages.
    Path(Shared<str>),
    /// Code, for what upstream computes.
    Code(fn(object: &serde_json::Value, now: i64) -> serde_json::Value),
}

impl std::fmt::Debug for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Cell::Path(path) => write!(f, "Path({:?})", &**path),
            Cell::Code(_) => write!(f, "Code"),
        }
    }
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

    /// The subresource of this name.
    pub fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources.iter().find(|s| s.name == name)
    }
}

/// All kinds that are served now. Cheap to clone; custom resources make a new one.
#[derive(Clone)]
pub struct Kinds {
    rows: std::sync::Arc<[Kind]>,
}

impl Kinds {
    /// A table of these rows.
    pub fn new(rows: Vec<Kind>) -> Self {
        Kinds { rows: rows.into() }
    }

    /// Rows, in discovery order.
    pub fn rows(&self) -> &[Kind] {
        &self.rows
    }

    /// The row that serves `/apis/GROUP/VERSION/…/PLURAL`.
    pub fn by_resource(&self, group: &str, version: &str, plural: &str) -> Option<&Kind> {
        self.rows.iter().find(|k| &*k.group == group && &*k.version == version && &*k.plural == plural)
    }

    /// The row of this kind.
    pub fn by_kind(&self, group: &str, version: &str, kind: &str) -> Option<&Kind> {
        self.rows.iter().find(|k| &*k.group == group && &*k.version == version && &*k.kind == kind)
    }
}
