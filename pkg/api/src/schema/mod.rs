//! Schemas as data: one structure for built-in kinds (a generated static table) and for custom
//! resources (made at run time from `openAPIV3Schema`).
//!
//! A [`Schema`] is an arena of [`Type`]s; recursion goes through [`TypeId`]. The same table drives
//! strict decoding, defaulting, structured merge, strategic merge, protobuf and OpenAPI.

use std::{
    borrow::Borrow,
    hash::{Hash, Hasher},
    ops::Deref,
    sync::Arc,
};

use crate::crd::Custom;

mod build;
#[allow(missing_docs, reason = "the names say it")]
#[rustfmt::skip]
mod generated;

pub use generated::ids;

/// The types of all built-in groups and versions.
pub fn builtin() -> Schema {
    Schema { types: Shared::Static(&generated::TYPES), custom: None }
}

/// Data that is either in the generated table or shared at run time.
#[derive(Debug)]
pub enum Shared<T: ?Sized + 'static> {
    /// Part of the generated table.
    Static(&'static T),
    /// Made at run time, from a CustomResourceDefinition.
    Counted(Arc<T>),
}

impl<T: ?Sized> Deref for Shared<T> {
    type Target = T;
    fn deref(&self) -> &T {
        match self {
            Shared::Static(t) => t,
            Shared::Counted(t) => t,
        }
    }
}

impl<T: ?Sized> Clone for Shared<T> {
    fn clone(&self) -> Self {
        match self {
            Shared::Static(t) => Shared::Static(t),
            Shared::Counted(t) => Shared::Counted(t.clone()),
        }
    }
}

/// An arena of types.
#[derive(Clone, Debug)]
pub struct Schema {
    /// Indexed by [`TypeId`]; sorted by name where static.
    pub types: Shared<[Type]>,
    /// What only schemas of custom resources say: pruning, nulls, defaults, rules for values.
    pub custom: Option<Arc<Custom>>,
}

/// Index of a type within its [`Schema`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub u16);

/// An object type with known fields.
#[derive(Clone, Debug)]
pub struct Type {
    /// OpenAPI definition name, e.g. `io.k8s.api.core.v1.PodSpec`.
    pub name: Shared<str>,
    /// Sorted by name.
    pub fields: Shared<[Field]>,
    /// Structured merge treats the whole object as one value (`+structType=atomic`).
    pub atomic: bool,
    /// Fields that are not listed are kept (custom resources only).
    pub preserve_unknown: bool,
}

/// A field of a [`Type`].
#[derive(Clone, Debug)]
pub struct Field {
    /// JSON name.
    pub name: Shared<str>,
    /// Protobuf field number; 0 where the type has no protobuf form.
    pub number: u32,
    /// What the field holds.
    pub shape: Shape,
    /// Marked required in OpenAPI.
    pub required: bool,
    /// `+default=`, as JSON text.
    pub default: Option<Shared<str>>,
    /// Allowed values, where the API declares an enum.
    pub values: Shared<[&'static str]>,
    /// Strategic merge patch behaviour, from `patchStrategy` and `patchMergeKey`.
    pub patch: Patch,
    /// Marked granular: structured merge looks into the object even where its type is atomic.
    pub granular: bool,
    /// How the field stands in upstream's struct.
    pub form: Form,
}

/// How a field stands in upstream's struct, which shows in JSON and protobuf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// Protobuf numbers of the inlined messages in which the field stands, outermost first. JSON has
    /// the field at the level of the enclosing object.
    pub inline: &'static [u32],
    /// The zero value differs from absence.
    pub pointer: bool,
    /// Left out of JSON where empty (nil, zero, `""`, empty list or map; never a struct).
    pub omit_empty: bool,
    /// A struct that is left out of JSON where all its fields are zero.
    pub omit_zero: bool,
}

/// Strategic merge patch behaviour of a field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// `merge` is among the strategies.
    pub merge: bool,
    /// `retainKeys` is among the strategies.
    pub retain_keys: bool,
    /// `replace`: an object is replaced as a whole.
    pub replace: bool,
    /// `patchMergeKey`; `None` for lists of scalars.
    pub merge_key: Option<&'static str>,
}

/// What a value looks like in JSON.
#[derive(Clone, Debug)]
pub enum Shape {
    /// `true` or `false`.
    Bool,
    /// 32-bit signed.
    Int32,
    /// 64-bit signed.
    Int64,
    /// Double precision.
    Float,
    /// Text.
    String,
    /// Base64 text; `bytes` in protobuf.
    Bytes,
    /// RFC 3339, seconds.
    Time,
    /// RFC 3339, microseconds.
    MicroTime,
    /// Go duration text, e.g. `1h5m`.
    Duration,
    /// `resource.Quantity`.
    Quantity,
    /// Integer or text.
    IntOrString,
    /// Anything: `RawExtension`, `apiextensions JSON`, `FieldsV1`. In protobuf a message whose
    /// field 1 holds the JSON text.
    Any,
    /// `JSONSchemaPropsOrBool`: a flag, or an object of the type.
    OrBool(TypeId),
    /// `JSONSchemaPropsOrArray`: an object of the type, or a list of them.
    OrList(TypeId),
    /// `JSONSchemaPropsOrStringArray`: an object of the type, or a list of strings.
    OrStrings(TypeId),
    /// An object of a known type.
    Object(TypeId),
    /// A list.
    List {
        /// Of what.
        item: Shared<Shape>,
        /// Structured merge semantics.
        kind: ListKind,
    },
    /// An object with free keys.
    Map {
        /// Of what.
        value: Shared<Shape>,
        /// Structured merge treats the whole map as one value.
        atomic: bool,
    },
}

/// `+listType`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListKind {
    /// One value.
    Atomic,
    /// Scalars, each once.
    Set,
    /// Objects, identified by these fields.
    Map(Shared<[Key]>),
}

/// A key field of an associative list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// JSON name.
    pub name: Shared<str>,
    /// Taken where the item lacks the field, as JSON text (e.g. `"TCP"` with its quotes).
    pub default: Option<Shared<str>>,
}

impl<T: ?Sized + PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}
impl<T: ?Sized + Eq> Eq for Shared<T> {}

impl<T: ?Sized + Hash> Hash for Shared<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: ?Sized> Borrow<T> for Shared<T> {
    fn borrow(&self) -> &T {
        self
    }
}

impl Schema {
    /// The type with this id.
    pub fn get(&self, id: TypeId) -> &Type {
        &self.types[usize::from(id.0)]
    }

    /// The type with this OpenAPI definition name. Linear for run-time schemas.
    pub fn find(&self, name: &str) -> Option<TypeId> {
        let at = match &self.types {
            Shared::Static(types) => types.binary_search_by(|t| (*t.name).cmp(name)).ok()?,
            Shared::Counted(types) => types.iter().position(|t| &*t.name == name)?,
        };
        u16::try_from(at).ok().map(TypeId)
    }
}

impl Type {
    /// The field with this JSON name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.binary_search_by(|f| (*f.name).cmp(name)).ok().map(|at| &self.fields[at])
    }
}

#[cfg(test)]
mod tests;
