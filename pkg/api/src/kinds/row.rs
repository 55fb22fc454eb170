//! The compact form of a row, and how it becomes a [`Kind`].

use std::sync::Arc;

use super::{Action, Column, Conversion, Kind, Kinds, Names, Resource, ScalePaths, Subresource, Traits, Verbs};
use crate::{
    schema::{Schema, Shared, TypeId},
    strategy::{Strategy, Usual},
};

/// A group and version with the package of its types.
pub(super) struct Group {
    /// Empty for core.
    pub group: &'static str,
    /// Version.
    pub version: &'static str,
    /// Prefix of the OpenAPI names of its types.
    pub package: &'static str,
}

/// What a kind of a group differs in.
#[derive(Clone, Copy)]
pub(super) struct Row {
    kind: &'static str,
    plural: &'static str,
    namespaced: bool,
    short: &'static [&'static str],
    categories: &'static [&'static str],
    verbs: Verbs,
    subresources: &'static [Subresource],
    columns: &'static [Column],
    selectable: &'static [&'static str],
    strategy: &'static dyn Strategy,
    relaxed: bool,
    storage: Option<&'static Resource>,
    conversion: Option<Conversion>,
    traits: Traits,
}

const NO_TRAITS: Traits = Traits {
    based: false,
    made_by_update: false,
    returns_deleted: false,
    orphaning: false,
    bare_finalizers: false,
    deprecated: None,
};

/// Only `/status`.
pub(super) const STATUS: &[Subresource] = &[sub("status", Action::Status)];

static USUAL_PATHS: ScalePaths = ScalePaths {
    spec: Shared::Static("spec.replicas"),
    status: Shared::Static("status.replicas"),
    selector: Shared::Static("spec.selector"),
};

/// `/scale` of kinds with a label selector in its usual place.
pub(super) const SCALE: Action = Action::Scale(Shared::Static(&USUAL_PATHS));

/// `/scale` and `/status` of kinds with a label selector in their status' usual place.
pub(super) const SCALE_AND_STATUS: &[Subresource] = &[sub("scale", SCALE), sub("status", Action::Status)];

/// A subresource.
pub(super) const fn sub(name: &'static str, action: Action) -> Subresource {
    Subresource { name, action }
}

impl Row {
    /// A kind whose objects live in namespaces.
    pub(super) const fn namespaced(kind: &'static str, plural: &'static str) -> Self {
        Row {
            kind,
            plural,
            namespaced: true,
            short: &[],
            categories: &[],
            verbs: Verbs::All,
            subresources: &[],
            columns: &[],
            selectable: &[],
            strategy: &Usual,
            relaxed: false,
            storage: None,
            conversion: None,
            traits: NO_TRAITS,
        }
    }

    /// A kind whose objects belong to the cluster.
    pub(super) const fn cluster(kind: &'static str, plural: &'static str) -> Self {
        Row { namespaced: false, ..Self::namespaced(kind, plural) }
    }

    pub(super) const fn short(self, short: &'static [&'static str]) -> Self {
        Row { short, ..self }
    }

    pub(super) const fn categories(self, categories: &'static [&'static str]) -> Self {
        Row { categories, ..self }
    }

    pub(super) const fn verbs(self, verbs: Verbs) -> Self {
        Row { verbs, ..self }
    }

    pub(super) const fn subs(self, subresources: &'static [Subresource]) -> Self {
        Row { subresources, ..self }
    }

    pub(super) const fn columns(self, columns: &'static [Column]) -> Self {
        Row { columns, ..self }
    }

    pub(super) const fn selectable(self, selectable: &'static [&'static str]) -> Self {
        Row { selectable, ..self }
    }

    pub(super) const fn strategy(self, strategy: &'static dyn Strategy) -> Self {
        Row { strategy, ..self }
    }

    pub(super) const fn relaxed(self) -> Self {
        Row { relaxed: true, ..self }
    }

    pub(super) const fn stored_as(self, row: &'static Resource, conversion: Conversion) -> Self {
        Row { storage: Some(row), conversion: Some(conversion), ..self }
    }

    pub(super) const fn based(self) -> Self {
        Row { traits: Traits { based: true, ..self.traits }, ..self }
    }

    pub(super) const fn made_by_update(self) -> Self {
        Row { traits: Traits { made_by_update: true, ..self.traits }, ..self }
    }

    pub(super) const fn returns_deleted(self) -> Self {
        Row { traits: Traits { returns_deleted: true, ..self.traits }, ..self }
    }

    pub(super) const fn orphaning(self) -> Self {
        Row { traits: Traits { orphaning: true, ..self.traits }, ..self }
    }

    pub(super) const fn bare_finalizers(self) -> Self {
        Row { traits: Traits { bare_finalizers: true, ..self.traits }, ..self }
    }

    pub(super) const fn deprecated(self, warning: &'static str) -> Self {
        Row { traits: Traits { deprecated: Some(warning), ..self.traits }, ..self }
    }

    fn kind(&self, group: &Group, schema: &Schema) -> Kind {
        Kind {
            group: Shared::Static(group.group),
            version: Shared::Static(group.version),
            kind: Shared::Static(self.kind),
            plural: Shared::Static(self.plural),
            singular: Shared::Counted(self.kind.to_ascii_lowercase().into()),
            short_names: names(self.short),
            categories: names(self.categories),
            namespaced: self.namespaced,
            verbs: self.verbs,
            subresources: Shared::Static(self.subresources),
            schema: schema.clone(),
            root: root(schema, group, self.kind),
            columns: Shared::Static(self.columns),
            selectable: names(self.selectable),
            strategy: Shared::Static(self.strategy),
            relaxed_durability: self.relaxed,
            storage: self.storage.cloned(),
            conversion: self.conversion,
            traits: self.traits,
        }
    }
}

fn names(names: &'static [&'static str]) -> Names {
    names.iter().copied().map(Shared::Static).collect()
}

/// The type of a kind, by its OpenAPI name.
fn root(schema: &Schema, group: &Group, kind: &str) -> TypeId {
    let name = format!("{}.{}.{kind}", group.package, group.version);
    // Rows and types are both part of the program, and a test builds all of them.
    schema.find(&name).unwrap_or_else(|| panic!("no type {name} in the schema table"))
}

/// Puts groups of rows together.
pub(super) fn build(groups: &[(&Group, &[Row])]) -> Kinds {
    let schema = crate::schema::builtin();
    let rows = groups.iter().flat_map(|(group, rows)| rows.iter().map(|row| Arc::new(row.kind(group, &schema))));
    Kinds::new(rows.collect())
}
