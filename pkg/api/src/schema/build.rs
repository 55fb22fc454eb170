//! The vocabulary of the generated table: short names, so that a field is a line.

pub(super) use super::{Field, Key, Shape, Type};
use super::{Form, ListKind, Patch, Shared, TypeId};

pub(super) const REQUIRED: u8 = 1;
pub(super) const POINTER: u8 = 2;
pub(super) const OMIT_EMPTY: u8 = 4;
pub(super) const OMIT_ZERO: u8 = 8;
pub(super) const GRANULAR: u8 = 16;
pub(super) const ATOMIC: u8 = 32;

pub(super) const BOOL: Shape = Shape::Bool;
pub(super) const INT32: Shape = Shape::Int32;
pub(super) const INT64: Shape = Shape::Int64;
pub(super) const FLOAT: Shape = Shape::Float;
pub(super) const STRING: Shape = Shape::String;
pub(super) const BYTES: Shape = Shape::Bytes;
pub(super) const TIME: Shape = Shape::Time;
pub(super) const MICRO_TIME: Shape = Shape::MicroTime;
pub(super) const DURATION: Shape = Shape::Duration;
pub(super) const QUANTITY: Shape = Shape::Quantity;
pub(super) const INT_OR_STRING: Shape = Shape::IntOrString;
pub(super) const ANY: Shape = Shape::Any;

pub(super) const NO_PATCH: Patch = Patch { merge: false, retain_keys: false, replace: false, merge_key: None };
pub(super) const MERGE: Patch = Patch { merge: true, ..NO_PATCH };
pub(super) const REPLACE: Patch = Patch { replace: true, ..NO_PATCH };
pub(super) const RETAIN_KEYS: Patch = Patch { retain_keys: true, ..NO_PATCH };

pub(super) const fn merge_by(key: &'static str) -> Patch {
    Patch { merge_key: Some(key), ..MERGE }
}

pub(super) const fn merge_retain_by(key: &'static str) -> Patch {
    Patch { merge_key: Some(key), retain_keys: true, ..MERGE }
}

pub(super) const fn obj(id: TypeId) -> Shape {
    Shape::Object(id)
}

pub(super) const fn or_bool(id: TypeId) -> Shape {
    Shape::OrBool(id)
}

pub(super) const fn or_list(id: TypeId) -> Shape {
    Shape::OrList(id)
}

pub(super) const fn or_strings(id: TypeId) -> Shape {
    Shape::OrStrings(id)
}

pub(super) const fn list(item: &'static Shape) -> Shape {
    Shape::List { item: Shared::Static(item), kind: ListKind::Atomic }
}

pub(super) const fn set(item: &'static Shape) -> Shape {
    Shape::List { item: Shared::Static(item), kind: ListKind::Set }
}

pub(super) const fn assoc(item: &'static Shape, keys: &'static [Key]) -> Shape {
    Shape::List { item: Shared::Static(item), kind: ListKind::Map(Shared::Static(keys)) }
}

pub(super) const fn map(value: &'static Shape) -> Shape {
    Shape::Map { value: Shared::Static(value), atomic: false }
}

pub(super) const fn atomic_map(value: &'static Shape) -> Shape {
    Shape::Map { value: Shared::Static(value), atomic: true }
}

pub(super) const fn key(name: &'static str, default: Option<&'static str>) -> Key {
    Key { name: Shared::Static(name), default: shared(default) }
}

const fn shared(text: Option<&'static str>) -> Option<Shared<str>> {
    match text {
        Some(text) => Some(Shared::Static(text)),
        None => None,
    }
}

pub(super) const fn ty(name: &'static str, fields: &'static [Field], flags: u8) -> Type {
    Type {
        name: Shared::Static(name),
        fields: Shared::Static(fields),
        atomic: flags & ATOMIC != 0,
        preserve_unknown: false,
    }
}

pub(super) const fn f(name: &'static str, number: u32, shape: Shape, flags: u8) -> Field {
    full(&[], name, number, shape, flags, None, &[], NO_PATCH)
}

/// A field of a message that is inlined under the numbers `inline`.
pub(super) const fn inlined(inline: &'static [u32], name: &'static str, number: u32, shape: Shape, flags: u8) -> Field {
    full(inline, name, number, shape, flags, None, &[], NO_PATCH)
}

#[allow(clippy::too_many_arguments, reason = "a row of the generated table")]
pub(super) const fn full(
    inline: &'static [u32],
    name: &'static str,
    number: u32,
    shape: Shape,
    flags: u8,
    default: Option<&'static str>,
    values: &'static [&'static str],
    patch: Patch,
) -> Field {
    Field {
        name: Shared::Static(name),
        number,
        shape,
        required: flags & REQUIRED != 0,
        default: shared(default),
        values: Shared::Static(values),
        patch,
        granular: flags & GRANULAR != 0,
        form: Form {
            inline,
            pointer: flags & POINTER != 0,
            omit_empty: flags & OMIT_EMPTY != 0,
            omit_zero: flags & OMIT_ZERO != 0,
        },
    }
}
