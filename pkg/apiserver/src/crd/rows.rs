//! Rows without schemas, until those of `api::crd` are here.

use std::sync::Arc;

use api::{
    Kind, Schema, Strategy, Value,
    kinds::{Action, Conversion, Names, Resource, ScalePaths, Subresource, Verbs},
    schema::{Field, Form, Patch, Shape, Shared, Type, TypeId},
    tree,
};

struct Custom {
    status: bool,
}

impl Strategy for Custom {
    fn has_generation(&self) -> bool {
        true
    }

    fn generation_moves(&self, new: &Value, old: &Value) -> bool {
        let rest = |object: &Value| {
            let mut object = object.clone();
            if let Some(fields) = object.as_object_mut() {
                fields.remove("metadata");
                if self.status {
                    fields.remove("status");
                }
            }
            object
        };
        rest(new) != rest(old)
    }
}

fn shared(text: &str) -> Shared<str> {
    Shared::Counted(text.into())
}

fn names(value: &Value, field: &str) -> Names {
    tree::texts(value, field).map(shared).collect()
}

pub fn rows(crd: &Value) -> Result<Vec<Kind>, String> {
    let names_of = &crd["status"]["acceptedNames"];
    let storage = tree::items(crd, "spec.versions").iter().find(|v| tree::flag(v, "storage"));
    let storage = storage.map_or("", |v| tree::text(v, "name"));
    let field = |name: &'static str, shape: Shape| Field {
        name: Shared::Static(name),
        number: 0,
        shape,
        required: false,
        default: None,
        values: Shared::Static(&[]),
        patch: Patch::default(),
        granular: false,
        form: Form::default(),
    };
    let served = tree::items(crd, "spec.versions").iter().filter(|v| tree::flag(v, "served"));
    let row = |version: &Value| {
        let name = tree::text(version, "name");
        let fields =
            vec![field("apiVersion", Shape::String), field("kind", Shape::String), field("metadata", Shape::Any)];
        let root = Type {
            name: shared("x"),
            fields: Shared::Counted(fields.into()),
            atomic: false,
            preserve_unknown: true,
        };
        let mut subs = Vec::new();
        let scale = tree::at(version, "subresources.scale");
        let path = |field: &str| shared(tree::text(scale, field).trim_start_matches('.'));
        if !scale.is_null() {
            let paths =
                ScalePaths { spec: path("specReplicasPath"), status: path("statusReplicasPath"), selector: path("labelSelectorPath") };
            subs.push(Subresource { name: "scale", action: Action::Scale(Shared::Counted(Arc::new(paths))) });
        }
        let status = tree::has(version, "subresources.status");
        if status {
            subs.push(Subresource { name: "status", action: Action::Status });
        }
        Kind {
            group: shared(tree::text(crd, "spec.group")),
            version: shared(name),
            kind: shared(tree::text(names_of, "kind")),
            plural: shared(tree::text(names_of, "plural")),
            singular: shared(tree::text(names_of, "singular")),
            short_names: names(names_of, "shortNames"),
            categories: names(names_of, "categories"),
            namespaced: tree::text(crd, "spec.scope") == "Namespaced",
            verbs: Verbs::All,
            subresources: Shared::Counted(subs.into()),
            schema: Schema { types: Shared::Counted(vec![root].into()) },
            root: TypeId(0),
            columns: Shared::Static(&[]),
            selectable: tree::items(version, "selectableFields")
                .iter()
                .map(|f| shared(tree::text(f, "jsonPath").trim_start_matches('.')))
                .collect(),
            strategy: Shared::Counted(Arc::new(Custom { status })),
            relaxed_durability: false,
            storage: (name != storage).then(|| Resource {
                group: shared(tree::text(crd, "spec.group")),
                version: shared(storage),
                plural: shared(tree::text(names_of, "plural")),
            }),
            conversion: Some(Conversion::Schema),
        }
    };
    Ok(served.map(row).collect())
}
