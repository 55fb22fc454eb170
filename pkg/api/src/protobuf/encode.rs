//! Trees to messages.

use base64::Engine as _;
use serde_json::Value;

use super::{
    duration,
    plan::{self, Message, Step},
    wire,
};
use crate::{
    decode::instant,
    schema::{Field, Schema, Shape, Type, TypeId},
};

/// What the zero time is, as Go counts: the beginning of year one.
const ZERO_TIME: i64 = -62_135_596_800;

/// The message of an object, without an envelope. A value that is not of its field's type counts as
/// absent; types without a protobuf form have an empty message.
pub fn encode(schema: &Schema, root: TypeId, value: &Value) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    Writer { schema }.object(root, value, &mut out);
    out
}

struct Writer<'s> {
    schema: &'s Schema,
}

impl Writer<'_> {
    fn object(&self, id: TypeId, value: &Value, out: &mut Vec<u8>) {
        if let Some(message) = plan::message(self.schema, id) {
            self.message(self.schema.get(id), message, value, out);
        }
    }

    fn message(&self, ty: &Type, message: &Message, value: &Value, out: &mut Vec<u8>) {
        for (number, step) in message.steps() {
            match step {
                Step::Inline(inner) => wire::message(*number, out, |out| self.message(ty, inner, value, out)),
                Step::Field(index) => {
                    let field = &ty.fields[*index];
                    self.field(field, value.get(&*field.name).unwrap_or(&Value::Null), out);
                }
            }
        }
    }

    fn field(&self, field: &Field, value: &Value, out: &mut Vec<u8>) {
        match (&field.shape, value) {
            (Shape::List { item, .. }, Value::Array(items)) => {
                items.iter().for_each(|value| self.value(field.number, item, value, out));
            }
            (Shape::Map { value: inner, .. }, Value::Object(entries)) => {
                let mut entries: Vec<_> = entries.iter().collect();
                entries.sort_unstable_by_key(|(key, _)| *key);
                for (key, value) in entries {
                    wire::message(field.number, out, |out| {
                        wire::bytes(1, key.as_bytes(), out);
                        self.value(2, inner, value, out);
                    });
                }
            }
            (Shape::List { .. } | Shape::Map { .. }, _) => {}
            (Shape::Bytes, Value::Null) => {}
            (_, Value::Null) if field.form.pointer => {}
            (shape, value) => self.value(field.number, shape, value, out),
        }
    }

    /// A value that is there, if only as the zero value.
    fn value(&self, number: u32, shape: &Shape, value: &Value, out: &mut Vec<u8>) {
        match shape {
            Shape::Bool => wire::number(number, u64::from(value.as_bool().unwrap_or_default()), out),
            Shape::Int32 | Shape::Int64 => {
                wire::number(number, value.as_i64().unwrap_or_default().cast_unsigned(), out);
            }
            Shape::Float => wire::double(number, value.as_f64().unwrap_or_default(), out),
            Shape::String => wire::bytes(number, value.as_str().unwrap_or_default().as_bytes(), out),
            Shape::Bytes => wire::bytes(number, &base64(value.as_str().unwrap_or_default()), out),
            Shape::Time | Shape::MicroTime => {
                wire::message(number, out, |out| time(value, matches!(shape, Shape::MicroTime), out));
            }
            Shape::Duration => {
                let nanos = duration::parse(value.as_str().unwrap_or_default());
                wire::message(number, out, |out| wire::number(1, nanos.cast_unsigned(), out));
            }
            Shape::Quantity => wire::message(number, out, |out| quantity(value, out)),
            Shape::IntOrString => wire::message(number, out, |out| {
                let text = value.as_str();
                wire::number(1, u64::from(text.is_some()), out);
                wire::number(2, value.as_i64().unwrap_or_default().cast_unsigned(), out);
                wire::bytes(3, text.unwrap_or_default().as_bytes(), out);
            }),
            Shape::Any => wire::message(number, out, |out| {
                if !value.is_null() {
                    wire::bytes(1, value.to_string().as_bytes(), out);
                }
            }),
            Shape::Object(id) => wire::message(number, out, |out| self.object(*id, value, out)),
            Shape::OrBool(id) => wire::message(number, out, |out| {
                wire::number(1, u64::from(value.as_bool().unwrap_or(value.is_object())), out);
                self.schema_of(2, *id, value, out);
            }),
            Shape::OrList(id) => wire::message(number, out, |out| {
                self.schema_of(1, *id, value, out);
                self.items(2, &Shape::Object(*id), value, out);
            }),
            Shape::OrStrings(id) => wire::message(number, out, |out| {
                self.schema_of(1, *id, value, out);
                self.items(2, &Shape::String, value, out);
            }),
            // Lists that are values of maps (`ExtraValue`) are messages of their own.
            Shape::List { item, .. } => wire::message(number, out, |out| self.items(1, item, value, out)),
            Shape::Map { .. } => {}
        }
    }

    fn schema_of(&self, number: u32, id: TypeId, value: &Value, out: &mut Vec<u8>) {
        if value.is_object() {
            wire::message(number, out, |out| self.object(id, value, out));
        }
    }

    fn items(&self, number: u32, item: &Shape, value: &Value, out: &mut Vec<u8>) {
        value.as_array().into_iter().flatten().for_each(|value| self.value(number, item, value, out));
    }
}

fn time(value: &Value, fraction: bool, out: &mut Vec<u8>) {
    let Some(Ok(at)) = value.as_str().map(instant::parse) else { return };
    let nanos = if fraction { at.subsec_nanosecond() / 1000 * 1000 } else { at.subsec_nanosecond() };
    // Before 1970 jiff counts both parts downwards, Go the nanoseconds upwards.
    let (seconds, nanos) =
        if nanos < 0 { (at.as_second() - 1, nanos + 1_000_000_000) } else { (at.as_second(), nanos) };
    if (seconds, nanos) == (ZERO_TIME, 0) {
        return;
    }
    wire::number(1, seconds.cast_unsigned(), out);
    wire::number(2, i64::from(nanos).cast_unsigned(), out);
}

fn quantity(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::String(text) => wire::bytes(1, text.as_bytes(), out),
        Value::Number(number) => wire::bytes(1, number.to_string().as_bytes(), out),
        _ => wire::bytes(1, b"0", out),
    }
}

fn base64(text: &str) -> Vec<u8> {
    let engine = &base64::engine::general_purpose::STANDARD;
    engine.decode(text).unwrap_or_else(|_| {
        // Go skips line breaks in the text.
        let compact: Vec<u8> = text.bytes().filter(|b| !matches!(b, b'\r' | b'\n')).collect();
        engine.decode(compact).unwrap_or_default()
    })
}
