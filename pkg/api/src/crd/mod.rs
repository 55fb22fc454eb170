//! CustomResourceDefinitions: how one becomes rows of the kinds table, and what a schema does with
//! the objects of its kind.
//!
//! [`rows`] makes one row to each served version. A row's [`Schema`] has types, which server-side
//! apply and the like walk as those of any kind, and a [`Custom`], which knows what only schemas of
//! custom resources say: pruning, nulls, defaults, embedded resources, rules for values.
//!
//! Rules in CEL (`x-kubernetes-validations`) are accepted and published, but not evaluated yet: their
//! place is [`values`], after everything else.

mod coerce;
mod conditions;
mod defaults;
pub(crate) mod definition;
mod embedded;
mod formats;
mod lists;
mod pattern;
mod structure;
#[cfg(test)]
pub(crate) mod tests;
mod types;
mod values;

use std::sync::Arc;

use serde_json::{Value, json};

pub(crate) use self::conditions::begin_to_end;
pub use self::conditions::{CLEANUP, PENDING, set_condition};
use self::{
    coerce::Malformed,
    structure::{Builder, NodeId, Structure},
    types::Types,
};
use crate::{
    Status,
    kinds::{Action, Cell, Column, Conversion, Kind, Names, Resource, ScalePaths, Subresource, Traits, Verbs},
    schema::{Schema, Shared, TypeId},
    strategy::CustomResources,
    table::jsonpath::JsonPath,
    tree,
    validation::FieldErrors,
};

/// What a version of a CustomResourceDefinition says beyond its types.
#[derive(Debug)]
pub struct Custom {
    structure: Arc<Structure>,
    root: NodeId,
    /// The schema as JSON, for OpenAPI.
    text: Arc<str>,
    /// `FooList`.
    list_kind: Arc<str>,
    /// What clients of the version are warned of.
    deprecation: Option<Arc<str>>,
    /// Whether the status is a subresource.
    status: bool,
}

impl Custom {
    /// The schema as JSON text; `null` if there is none.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The kind of lists.
    pub fn list_kind(&self) -> &str {
        &self.list_kind
    }

    /// Whether the status is a subresource.
    pub(crate) fn has_status(&self) -> bool {
        self.status
    }

    /// What clients of the version are to be warned of, where it is deprecated.
    pub fn deprecation(&self) -> Option<&str> {
        self.deprecation.as_deref()
    }

    /// Prunes and coerces what a client sent; the paths of unknown fields, or the text of the fault.
    pub(crate) fn decode(&self, object: &mut Value) -> Result<Vec<String>, String> {
        coerce::coerce(&self.structure, self.root, object, Malformed::Refuse).map(|done| done.unknown.into())
    }

    /// Fills in defaults; whether there were any.
    pub(crate) fn default(&self, object: &mut Value) -> bool {
        defaults::apply(&self.structure, self.root, object)
    }

    /// Brings what may have been stored under another schema into the form of this one; whether it
    /// was not.
    pub(crate) fn read(&self, object: &mut Value) -> bool {
        let coerced = coerce::coerce(&self.structure, self.root, object, Malformed::Drop);
        // What is malformed is dropped, not refused.
        let changed = coerced.is_ok_and(|done| done.changed || done.unknown.len() > 0);
        self.default(object) || changed
    }

    /// Checks a new object against the rules for values.
    pub(crate) fn validate(&self, object: &Value) -> FieldErrors {
        let mut errors = values::validate(&self.structure, self.root, object, None, "");
        errors.extend(embedded::validate(&self.structure, self.root, object));
        errors.extend(lists::validate(&self.structure, self.root, object));
        errors
    }

    /// Checks a change. What is wrong already and stays as it is, is let through.
    pub(crate) fn validate_update(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = values::validate(&self.structure, self.root, new, Some(old), "");
        errors.extend(embedded::validate(&self.structure, self.root, new));
        self.lists_update(&mut errors, new, old);
        errors
    }

    /// Checks a change of the status.
    pub(crate) fn validate_status(&self, new: &Value, old: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        if let Some(status) = new.get("status")
            && let Some(node) = self.structure.node(self.root).field("status")
        {
            errors.extend(values::validate(&self.structure, node, status, old.get("status"), "status"));
        }
        self.lists_update(&mut errors, new, old);
        errors
    }

    fn lists_update(&self, errors: &mut FieldErrors, new: &Value, old: &Value) {
        let found = lists::validate(&self.structure, self.root, new);
        if !found.is_empty() && lists::validate(&self.structure, self.root, old).is_empty() {
            errors.extend(found);
        }
    }
}

/// The rows of a CustomResourceDefinition, one to each version that is served, or why there are none.
/// Names are the accepted ones, or those of the specification where none are accepted yet.
pub fn rows(crd: &Value) -> Result<Vec<Kind>, String> {
    let spec = tree::at(crd, "spec");
    let versions = tree::items(spec, "versions");
    let mut builder = Builder::default();
    let roots: Vec<_> = versions.iter().map(|version| builder.add(schema_of(version))).collect();
    let structure = Arc::new(builder.finish());
    let names = Named::of(crd);
    if [tree::text(spec, "group"), names.plural, names.kind].contains(&"") {
        return Err("the definition has no group, plural or kind".to_owned());
    }
    let storage = versions.iter().find(|version| tree::flag(version, "storage"));
    let storage = storage.map_or("", |version| tree::text(version, "name"));
    let mut rows = Vec::new();
    for (version, root) in versions.iter().zip(roots) {
        if !tree::flag(version, "served") {
            continue;
        }
        // Types of a version of their own: few differ by version in what types say, but a type's
        // number must fit in 16 bits.
        let mut types = Types::new(&structure);
        let name = tree::text(version, "name");
        let root_type = types.root(root, format!("{name}.{}", names.kind)).ok_or("the schema has too many types")?;
        let custom = Arc::new(Custom {
            structure: structure.clone(),
            root,
            text: schema_of(version).to_string().into(),
            list_kind: names.list_kind.clone(),
            deprecation: deprecation(spec, version, names.kind),
            status: tree::has(version, "subresources.status"),
        });
        let schema = Schema { types: types.finish(), custom: Some(custom) };
        rows.push(row(spec, version, &names, storage, schema, root_type));
    }
    Ok(rows)
}

fn schema_of(version: &Value) -> &Value {
    tree::at(version, "schema.openAPIV3Schema")
}

/// The names that a definition is served under.
struct Named<'a> {
    plural: &'a str,
    kind: &'a str,
    singular: Arc<str>,
    list_kind: Arc<str>,
    short: Names,
    categories: Names,
}

impl<'a> Named<'a> {
    fn of(crd: &'a Value) -> Self {
        let (accepted, wanted) = (tree::at(crd, "status.acceptedNames"), tree::at(crd, "spec.names"));
        let names = if tree::text(accepted, "plural").is_empty() { wanted } else { accepted };
        let kind = tree::text(names, "kind");
        let or = |field: &str, otherwise: String| -> Arc<str> {
            match tree::text(names, field) {
                "" => otherwise.into(),
                text => text.into(),
            }
        };
        let all = |field: &str| tree::texts(names, field).map(shared).collect();
        Named {
            plural: tree::text(names, "plural"),
            kind,
            singular: or("singular", kind.to_lowercase()),
            list_kind: or("listKind", format!("{kind}List")),
            short: all("shortNames"),
            categories: all("categories"),
        }
    }
}

fn shared(text: &str) -> Shared<str> {
    Shared::Counted(text.into())
}

fn row(spec: &Value, version: &Value, names: &Named, storage: &str, schema: Schema, root: TypeId) -> Kind {
    let (group, name) = (tree::text(spec, "group"), tree::text(version, "name"));
    let scale = scale_paths(version);
    let mut subresources = Vec::new();
    if let Some(paths) = &scale {
        let action = Action::Scale(Shared::Counted(paths.clone().into()));
        subresources.push(Subresource { name: "scale", action });
    }
    if tree::has(version, "subresources.status") {
        subresources.push(Subresource { name: "status", action: Action::Status });
    }
    let selectable = tree::items(version, "selectableFields").iter();
    let selectable = selectable.map(|field| shared(tree::text(field, "jsonPath").trim_start_matches('.'))).collect();
    let other = storage != name && !storage.is_empty();
    let custom = schema.custom.clone();
    Kind {
        group: shared(group),
        version: shared(name),
        kind: shared(names.kind),
        plural: shared(names.plural),
        singular: Shared::Counted(names.singular.clone()),
        short_names: names.short.clone(),
        categories: names.categories.clone(),
        namespaced: tree::text(spec, "scope") == "Namespaced",
        verbs: Verbs::All,
        strategy: Shared::Counted(Arc::new(CustomResources { custom, scale })),
        subresources: Shared::Counted(subresources.into()),
        schema,
        root,
        columns: Shared::Counted(columns(version).into()),
        selectable,
        relaxed_durability: false,
        storage: other.then(|| Resource {
            group: shared(group),
            version: shared(storage),
            plural: shared(names.plural),
        }),
        conversion: Some(Conversion::Schema),
        traits: Traits { based: true, bare_finalizers: true, ..Traits::default() },
    }
}

fn scale_paths(version: &Value) -> Option<ScalePaths> {
    let scale = tree::at(version, "subresources.scale");
    let path = |field: &str| shared(tree::text(scale, field).trim_start_matches('.'));
    (!scale.is_null()).then(|| ScalePaths {
        spec: path("specReplicasPath"),
        status: path("statusReplicasPath"),
        selector: path("labelSelectorPath"),
    })
}

fn columns(version: &Value) -> Vec<Column> {
    let listed: Vec<_> = tree::items(version, "additionalPrinterColumns").iter().map(column).collect();
    if listed.is_empty() {
        return vec![column(&json!({"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}))];
    }
    listed
}

fn column(column: &Value) -> Column {
    let text = |field: &str| tree::text(column, field);
    let path = text("jsonPath");
    let description = match text("description") {
        "" => format!("Custom resource definition column (in JSONPath format): {path}").into(),
        text => text.into(),
    };
    Column {
        name: shared(text("name")),
        kind: shared(text("type")),
        format: shared(text("format")),
        description: Shared::Counted(description),
        priority: u8::try_from(tree::int(column, "priority").max(0)).unwrap_or(u8::MAX),
        cell: Cell::Path(Arc::new(JsonPath::parse(path).unwrap_or_default())),
    }
}

fn deprecation(spec: &Value, version: &Value, kind: &str) -> Option<Arc<str>> {
    if !tree::flag(version, "deprecated") {
        return None;
    }
    Some(match tree::text(version, "deprecationWarning") {
        "" => format!("{}/{} {kind} is deprecated", tree::text(spec, "group"), tree::text(version, "name")).into(),
        text => text.into(),
    })
}

/// Checks what a client sent as [`crate::decode::check`] does, for an object of a custom resource.
/// What is of the wrong type is found by validation, but for metadata.
pub(crate) fn check(custom: &Custom, name: &str, object: &mut Value) -> Result<Vec<String>, Status> {
    custom.decode(object).map_err(|fault| {
        let (version, kind) = name.split_once('.').unwrap_or_default();
        Status::bad_request(format!("{kind} in version {version:?} cannot be handled as a {kind}: {fault}"))
    })
}
