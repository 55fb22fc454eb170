//! A [`Structure`] as types, for what walks those: server-side apply, managed fields, selectors.
//!
//! The types of metadata come first and are the same for all definitions.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock},
};

use super::structure::{Additional, Kind, ListType, Node, NodeId, Structure};
use crate::schema::{Field, Form, Key, ListKind, Patch, Shape, Shared, Type, TypeId, builtin, ids};

/// What is never left out or read as a zero value: values of custom resources are as they were sent.
const FORM: Form = Form { inline: &[], pointer: true, omit_empty: true, omit_zero: true };

/// `ObjectMeta` and the types that it holds; it is the first.
static METADATA: LazyLock<Vec<Type>> = LazyLock::new(|| {
    let mut import = Import { ids: HashMap::new(), types: Vec::new() };
    import.add(ids::META_V1_OBJECT_META);
    import.types
});

const METADATA_ID: TypeId = TypeId(0);

struct Import {
    ids: HashMap<TypeId, TypeId>,
    types: Vec<Type>,
}

impl Import {
    fn add(&mut self, id: TypeId) -> TypeId {
        if let Some(known) = self.ids.get(&id) {
            return *known;
        }
        let schema = builtin();
        let of = schema.get(id);
        let new = TypeId(u16::try_from(self.types.len()).unwrap_or_default());
        self.ids.insert(id, new);
        self.types.push(of.clone());
        let fields: Vec<_> =
            of.fields.iter().map(|field| Field { shape: self.shape(&field.shape), ..field.clone() }).collect();
        self.types[usize::from(new.0)].fields = Shared::Counted(fields.into());
        new
    }

    fn shape(&mut self, shape: &Shape) -> Shape {
        match shape {
            Shape::Object(id) => Shape::Object(self.add(*id)),
            Shape::List { item, kind } => {
                Shape::List { item: Shared::Counted(self.shape(item).into()), kind: kind.clone() }
            }
            Shape::Map { value, atomic } => {
                Shape::Map { value: Shared::Counted(self.shape(value).into()), atomic: *atomic }
            }
            other => other.clone(),
        }
    }
}

/// Makes types from nodes.
pub(super) struct Types<'a> {
    structure: &'a Structure,
    types: Vec<Type>,
    shapes: HashMap<NodeId, Shape>,
}

impl<'a> Types<'a> {
    pub fn new(structure: &'a Structure) -> Self {
        Types { structure, types: METADATA.clone(), shapes: HashMap::new() }
    }

    pub fn finish(self) -> Shared<[Type]> {
        Shared::Counted(self.types.into())
    }

    /// The type of whole objects; `None` where there are more types than can be numbered.
    pub fn root(&mut self, id: NodeId, name: String) -> Option<TypeId> {
        let node = self.structure.node(id);
        let fields = self.fields(node, true)?;
        self.push(Type {
            name: Shared::Counted(name.into()),
            fields: Shared::Counted(fields.into()),
            atomic: false,
            preserve_unknown: node.preserve,
        })
    }

    fn push(&mut self, new: Type) -> Option<TypeId> {
        let id = u16::try_from(self.types.len()).ok().map(TypeId)?;
        self.types.push(new);
        Some(id)
    }

    /// Fields of an object; of a resource also those that the schema need not mention.
    fn fields(&mut self, node: &'a Node, resource: bool) -> Option<Vec<Field>> {
        let mut fields = Vec::with_capacity(node.properties.len() + if resource { 3 } else { 0 });
        for (name, id) in &node.properties {
            if resource && ["apiVersion", "kind", "metadata"].contains(&&**name) {
                continue;
            }
            let required = node.rules.as_ref().is_some_and(|rules| rules.required.contains(name));
            fields.push(field(name.clone(), self.shape(*id)?, required));
        }
        if resource {
            fields.push(field("apiVersion".into(), Shape::String, false));
            fields.push(field("kind".into(), Shape::String, false));
            fields.push(field("metadata".into(), Shape::Object(METADATA_ID), false));
            fields.sort_by(|a, b| (*a.name).cmp(&b.name));
        }
        Some(fields)
    }

    fn shape(&mut self, id: NodeId) -> Option<Shape> {
        if let Some(known) = self.shapes.get(&id) {
            return Some(known.clone());
        }
        let shape = self.make(self.structure.node(id))?;
        self.shapes.insert(id, shape.clone());
        Some(shape)
    }

    fn make(&mut self, node: &'a Node) -> Option<Shape> {
        Some(match node.kind {
            _ if node.int_or_string => Shape::IntOrString,
            Kind::Any => Shape::Any,
            Kind::Boolean => Shape::Bool,
            Kind::Integer => Shape::Int64,
            Kind::Number => Shape::Float,
            Kind::String => Shape::String,
            Kind::Array => {
                let item = match node.items {
                    Some(id) => self.shape(id)?,
                    None => Shape::Any,
                };
                Shape::List { item: Shared::Counted(item.into()), kind: self.list_kind(node) }
            }
            Kind::Object if !node.properties.is_empty() || node.embedded => {
                let fields = self.fields(node, node.embedded)?;
                Shape::Object(self.push(Type {
                    name: Shared::Static(""),
                    fields: Shared::Counted(fields.into()),
                    atomic: node.atomic,
                    preserve_unknown: node.preserve || node.additional != Additional::Absent,
                })?)
            }
            Kind::Object => match node.additional {
                Additional::Node(id) => {
                    Shape::Map { value: Shared::Counted(self.shape(id)?.into()), atomic: node.atomic }
                }
                _ if node.atomic => Shape::Map { value: Shared::Static(&Shape::Any), atomic: true },
                _ => Shape::Any,
            },
        })
    }

    fn list_kind(&self, node: &Node) -> ListKind {
        match node.list {
            ListType::Atomic => ListKind::Atomic,
            ListType::Set => ListKind::Set,
            ListType::Map => {
                let item = node.items.map(|id| self.structure.node(id));
                let default = |name: &str| {
                    let default = self.structure.node(item?.property(name)?).default.as_ref()?;
                    Some(Shared::Counted(Arc::from(default.to_string())))
                };
                let keys = node.rules.iter().flat_map(|rules| rules.keys.iter());
                let key = |name: &Arc<str>| Key { name: Shared::Counted(name.clone()), default: default(name) };
                ListKind::Map(Shared::Counted(keys.map(key).collect()))
            }
        }
    }
}

fn field(name: Arc<str>, shape: Shape, required: bool) -> Field {
    Field {
        name: Shared::Counted(name),
        number: 0,
        shape,
        required,
        default: None,
        values: Shared::Static(&[]),
        patch: Patch::default(),
        granular: false,
        form: FORM,
    }
}
