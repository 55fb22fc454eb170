//! A small schema by hand for tests of patches and merges: a workload with a pod-like spec.

use crate::schema::{Field, Form, Key, ListKind, Patch, Schema, Shape, Shared, Type, TypeId};

/// The whole object.
pub const ROOT: TypeId = TypeId(0);
const META: TypeId = TypeId(1);
const SPEC: TypeId = TypeId(2);
const CONTAINER: TypeId = TypeId(3);
const PORT: TypeId = TypeId(4);
const SELECTOR: TypeId = TypeId(5);
const STRATEGY: TypeId = TypeId(6);
const ROLLING: TypeId = TypeId(7);
const STATUS: TypeId = TypeId(8);
const CONDITION: TypeId = TypeId(9);
const OWNER: TypeId = TypeId(10);

fn field(name: &'static str, shape: Shape) -> Field {
    Field {
        name: Shared::Static(name),
        number: 0,
        shape,
        required: false,
        default: None,
        values: Shared::Static(&[]),
        patch: Patch::default(),
        granular: false,
        form: Form::default(),
    }
}

fn merged(field: Field, merge_key: Option<&'static str>) -> Field {
    Field { patch: Patch { merge: true, merge_key, ..Patch::default() }, ..field }
}

fn list(item: Shape, kind: ListKind) -> Shape {
    Shape::List { item: Shared::Counted(item.into()), kind }
}

fn by(keys: &[(&'static str, Option<&'static str>)]) -> ListKind {
    let key = |(name, default): &(&'static str, Option<&'static str>)| Key {
        name: Shared::Static(name),
        default: default.map(Shared::Static),
    };
    ListKind::Map(Shared::Counted(keys.iter().map(key).collect()))
}

fn map(value: Shape) -> Shape {
    Shape::Map { value: Shared::Counted(value.into()), atomic: false }
}

fn object(name: &'static str, mut fields: Vec<Field>) -> Type {
    fields.sort_by(|a, b| (*a.name).cmp(&b.name));
    Type { name: Shared::Static(name), fields: Shared::Counted(fields.into()), atomic: false, preserve_unknown: false }
}

/// The schema.
pub fn schema() -> Schema {
    use Shape::{Any, Int32, Int64, IntOrString, Object, Quantity, String, Time};
    let types = vec![
        object(
            "Workload",
            vec![
                field("apiVersion", String),
                field("kind", String),
                field("metadata", Object(META)),
                field("spec", Object(SPEC)),
                field("status", Object(STATUS)),
                field("data", map(String)),
            ],
        ),
        object(
            "Meta",
            vec![
                field("name", String),
                field("namespace", String),
                field("uid", String),
                field("resourceVersion", String),
                field("generation", Int64),
                field("creationTimestamp", Time),
                field("labels", map(String)),
                field("annotations", map(String)),
                merged(field("finalizers", list(String, ListKind::Set)), None),
                merged(field("ownerReferences", list(Object(OWNER), by(&[("uid", None)]))), Some("uid")),
                field("managedFields", list(Any, ListKind::Atomic)),
            ],
        ),
        object(
            "Spec",
            vec![
                field("replicas", Int32),
                merged(field("containers", list(Object(CONTAINER), by(&[("name", None)]))), Some("name")),
                field("selector", Object(SELECTOR)),
                Field { patch: Patch { retain_keys: true, ..Patch::default() }, ..field("strategy", Object(STRATEGY)) },
                field("limits", map(Quantity)),
                field("raw", Any),
                field("hosts", list(String, ListKind::Atomic)),
                field("groups", list(String, ListKind::Set)),
            ],
        ),
        object(
            "Container",
            vec![
                field("name", String),
                field("image", String),
                field("args", list(String, ListKind::Atomic)),
                merged(
                    field("ports", list(Object(PORT), by(&[("containerPort", None), ("protocol", Some("\"TCP\""))]))),
                    Some("containerPort"),
                ),
                field("limits", map(Quantity)),
            ],
        ),
        object("Port", vec![field("name", String), field("containerPort", Int32), field("protocol", String)]),
        Type { atomic: true, ..object("Selector", vec![field("matchLabels", map(String)), field("x", String)]) },
        object("Strategy", vec![field("type", String), field("rollingUpdate", Object(ROLLING))]),
        object("Rolling", vec![field("maxSurge", IntOrString)]),
        object(
            "Status",
            vec![
                field("replicas", Int32),
                merged(field("conditions", list(Object(CONDITION), by(&[("type", None)]))), Some("type")),
            ],
        ),
        object("Condition", vec![field("type", String), field("status", String)]),
        Type { atomic: true, ..object("Owner", vec![field("uid", String), field("name", String)]) },
    ];
    Schema { types: Shared::Counted(types.into()), custom: None }
}
