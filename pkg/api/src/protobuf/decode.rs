//! Messages to trees.

use base64::Engine as _;
use jiff::Timestamp;
use serde_json::{Map, Number, Value};

use super::{
    Error, duration, open,
    plan::{self, Message, Step},
    wire::{self, Payload, Record},
};
use crate::{
    decode::instant,
    schema::{Field, Schema, Shape, Type, TypeId},
};

/// How deep a tree may be: what the JSON parser reads again.
const MAX_DEPTH: usize = crate::decode::MAX_DEPTH - 1;
/// Values in one tree: more than a JSON body of the allowed size can have in practice.
const MAX_VALUES: usize = 1_000_000;

/// Reads an object's message, without an envelope. The tree lacks `apiVersion` and `kind`, which are
/// the envelope's.
pub fn decode(schema: &Schema, root: TypeId, bytes: &[u8]) -> Result<Value, Error> {
    let mut map = Map::new();
    Reader { schema, left: MAX_VALUES }.object(root, bytes, &mut map, 1)?;
    Ok(Value::Object(map))
}

struct Reader<'s> {
    schema: &'s Schema,
    left: usize,
}

impl Reader<'_> {
    fn object(&mut self, id: TypeId, bytes: &[u8], map: &mut Map<String, Value>, depth: usize) -> Result<(), Error> {
        if depth > MAX_DEPTH {
            return Err(Error::Depth);
        }
        let ty = self.schema.get(id);
        let message = plan::message(self.schema, id)
            .ok_or_else(|| Error::NoForm { kind: ty.name.to_string(), version: String::new() })?;
        self.message(ty, message, bytes, map, depth)?;
        self.complete(ty, message, map)
    }

    fn message(
        &mut self,
        ty: &Type,
        message: &Message,
        mut bytes: &[u8],
        map: &mut Map<String, Value>,
        depth: usize,
    ) -> Result<(), Error> {
        while let Some(record) = wire::next(&mut bytes)? {
            match message.step(record.number) {
                Some(Step::Inline(inner)) => {
                    self.message(ty, inner, record.bytes("of an inlined message")?, map, depth)?;
                }
                Some(Step::Field(index)) => self.field(&ty.fields[*index], record, map, depth)?,
                // Of a newer version: upstream ignores it, too.
                None => {}
            }
        }
        Ok(())
    }

    /// Takes a record into its field; repeated records of one message are merged.
    fn field(
        &mut self,
        field: &Field,
        record: Record,
        map: &mut Map<String, Value>,
        depth: usize,
    ) -> Result<(), Error> {
        let name = &*field.name;
        match &field.shape {
            Shape::List { item, .. } => {
                let Value::Array(items) = map.entry(name).or_insert_with(|| Value::Array(Vec::new())) else {
                    return Ok(());
                };
                self.items(item, record, name, items, depth + 1)
            }
            Shape::Map { value, .. } => {
                let Value::Object(entries) = map.entry(name).or_insert_with(|| Value::Object(Map::new())) else {
                    return Ok(());
                };
                self.entry(value, record.bytes(name)?, name, entries, depth + 1)
            }
            Shape::Object(id) => {
                let slot = map.entry(name).or_insert_with(|| Value::Object(Map::new()));
                let Value::Object(inner) = slot else { return Ok(()) };
                self.object(*id, record.bytes(name)?, inner, depth + 1)
            }
            shape => {
                let value = self.value(shape, record, name, depth + 1)?;
                map.insert(name.to_owned(), value);
                Ok(())
            }
        }
    }

    /// Brings a message into the form of upstream's JSON: what is never omitted is there, what is
    /// empty and omitted is not.
    fn complete(&mut self, ty: &Type, message: &Message, map: &mut Map<String, Value>) -> Result<(), Error> {
        for (_, step) in message.steps() {
            let index = match step {
                Step::Inline(inner) => {
                    self.complete(ty, inner, map)?;
                    continue;
                }
                Step::Field(index) => *index,
            };
            let field = &ty.fields[index];
            match map.get(&*field.name) {
                Some(value) if self.absent(field, value) => {
                    map.remove(&*field.name);
                }
                Some(_) => {}
                None if field.form.pointer || field.form.omit_empty => {}
                None => {
                    let zero = match field.shape {
                        Shape::Bool => false.into(),
                        Shape::Int32 | Shape::Int64 | Shape::Float | Shape::IntOrString => 0.into(),
                        Shape::String => "".into(),
                        Shape::Quantity => "0".into(),
                        Shape::Duration => "0s".into(),
                        _ => continue,
                    };
                    self.count()?;
                    map.insert(field.name.to_string(), zero);
                }
            }
        }
        Ok(())
    }

    fn items(
        &mut self,
        item: &Shape,
        record: Record,
        name: &str,
        items: &mut Vec<Value>,
        depth: usize,
    ) -> Result<(), Error> {
        // Numbers may be packed, by other writers than upstream's.
        let packed = match (item, record.payload) {
            (Shape::Bool | Shape::Int32 | Shape::Int64, Payload::Bytes(packed)) => Some(packed),
            _ => None,
        };
        let Some(mut packed) = packed else {
            items.push(self.value(item, record, name, depth)?);
            return Ok(());
        };
        while !packed.is_empty() {
            let payload = Payload::Varint(wire::varint(&mut packed)?);
            items.push(self.value(item, Record { payload, ..record }, name, depth)?);
        }
        Ok(())
    }

    fn entry(
        &mut self,
        shape: &Shape,
        mut bytes: &[u8],
        name: &str,
        entries: &mut Map<String, Value>,
        depth: usize,
    ) -> Result<(), Error> {
        let (mut key, mut value) = ("", None);
        while let Some(record) = wire::next(&mut bytes)? {
            match record.number {
                1 => key = record.text(name)?,
                2 => value = Some(record),
                _ => {}
            }
        }
        // An entry without a value has the zero value.
        let payload = match shape {
            Shape::Bool | Shape::Int32 | Shape::Int64 => Payload::Varint(0),
            Shape::Float => Payload::Fixed64([0; 8]),
            _ => Payload::Bytes(&[]),
        };
        let value = self.value(shape, value.unwrap_or(Record { number: 2, payload }), name, depth)?;
        entries.insert(key.to_owned(), value);
        Ok(())
    }

    fn value(&mut self, shape: &Shape, record: Record, name: &str, depth: usize) -> Result<Value, Error> {
        self.count()?;
        Ok(match shape {
            Shape::Bool => (record.varint(name)? != 0).into(),
            #[allow(clippy::cast_possible_truncation, reason = "as upstream: the low half counts")]
            Shape::Int32 => (record.varint(name)?.cast_signed() as i32).into(),
            Shape::Int64 => record.varint(name)?.cast_signed().into(),
            Shape::Float => match record.payload {
                Payload::Fixed64(bytes) => float(f64::from_le_bytes(bytes), name)?,
                _ => return Err(record.mismatch(name)),
            },
            Shape::String => record.text(name)?.into(),
            Shape::Bytes => base64::engine::general_purpose::STANDARD.encode(record.bytes(name)?).into(),
            Shape::Time | Shape::MicroTime => time(record.bytes(name)?, matches!(shape, Shape::MicroTime), name)?,
            Shape::Duration => duration::format(integer(record.bytes(name)?, name)?).into(),
            Shape::Quantity => quantity(record.bytes(name)?, name)?,
            Shape::IntOrString => int_or_string(record.bytes(name)?, name)?,
            Shape::Any => self.any(record.bytes(name)?, name, depth)?,
            Shape::Object(id) => {
                let mut map = Map::new();
                self.object(*id, record.bytes(name)?, &mut map, depth)?;
                Value::Object(map)
            }
            Shape::OrBool(_) | Shape::OrList(_) | Shape::OrStrings(_) => {
                self.choice(shape, record.bytes(name)?, name, depth)?
            }
            Shape::List { item, .. } => {
                let mut bytes = record.bytes(name)?;
                let mut items = Vec::new();
                while let Some(record) = wire::next(&mut bytes)? {
                    if record.number == 1 {
                        self.items(item, record, name, &mut items, depth + 1)?;
                    }
                }
                Value::Array(items)
            }
            Shape::Map { .. } => return Err(record.mismatch(name)),
        })
    }

    /// A schema, or what stands in its place.
    fn choice(&mut self, shape: &Shape, mut bytes: &[u8], name: &str, depth: usize) -> Result<Value, Error> {
        let (id, of_schema) = match shape {
            Shape::OrBool(id) => (*id, 2),
            Shape::OrList(id) | Shape::OrStrings(id) | Shape::Object(id) => (*id, 1),
            _ => return Ok(Value::Null),
        };
        let (mut flag, mut object, mut items) = (false, None, Vec::new());
        while let Some(record) = wire::next(&mut bytes)? {
            match record.number {
                number if number == of_schema => {
                    let mut map = object.take().unwrap_or_default();
                    self.object(id, record.bytes(name)?, &mut map, depth)?;
                    object = Some(map);
                }
                1 => flag = record.varint(name)? != 0,
                2 => {
                    let item = if matches!(shape, Shape::OrStrings(_)) { Shape::String } else { Shape::Object(id) };
                    items.push(self.value(&item, record, name, depth + 1)?);
                }
                _ => {}
            }
        }
        Ok(match (object, shape) {
            (Some(map), _) => Value::Object(map),
            (None, Shape::OrBool(_)) => flag.into(),
            (None, _) if items.is_empty() => Value::Null,
            (None, _) => Value::Array(items),
        })
    }

    /// JSON in field 1, or another object in its envelope.
    fn any(&mut self, mut bytes: &[u8], name: &str, depth: usize) -> Result<Value, Error> {
        let mut raw: &[u8] = &[];
        while let Some(record) = wire::next(&mut bytes)? {
            if record.number == 1 {
                raw = record.bytes(name)?;
            }
        }
        if raw.is_empty() {
            return Ok(Value::Null);
        }
        if raw.starts_with(super::MAGIC) {
            return self.nested(raw, depth);
        }
        let value: Value = serde_json::from_slice(raw).map_err(|e| Error::Json(name.to_owned(), e.to_string()))?;
        self.measure(&value, depth)?;
        Ok(value)
    }

    fn nested(&mut self, raw: &[u8], depth: usize) -> Result<Value, Error> {
        let envelope = open(raw)?;
        let (kind, version) = (envelope.kind, envelope.api_version);
        let id = super::builtin_type(self.schema, version, kind)
            .ok_or_else(|| Error::NoForm { kind: kind.to_owned(), version: version.to_owned() })?;
        let mut map = Map::new();
        self.object(id, envelope.raw, &mut map, depth)?;
        map.insert("apiVersion".to_owned(), version.into());
        map.insert("kind".to_owned(), kind.into());
        Ok(Value::Object(map))
    }

    /// Whether upstream leaves out the decoded value of a field, or it stands for absence.
    fn absent(&self, field: &Field, value: &Value) -> bool {
        match (value, &field.shape) {
            (Value::Null, _) => true,
            (_, Shape::Any) => false,
            _ if field.form.pointer => false,
            // A struct is always on the wire; if it says nothing, only clients may expect to see it.
            (Value::Object(map), Shape::Object(id)) => !field.required && self.hollow(*id, map),
            _ => field.form.omit_empty && zero(value),
        }
    }

    /// Whether all values of a struct are zero.
    fn hollow(&self, id: TypeId, map: &Map<String, Value>) -> bool {
        let ty = self.schema.get(id);
        map.iter().all(|(name, value)| match (ty.field(name), value) {
            (Some(field), _) if field.form.pointer || matches!(field.shape, Shape::Any) => false,
            (Some(Field { shape: Shape::Object(id), .. }), Value::Object(map)) => self.hollow(*id, map),
            (Some(Field { shape: Shape::Quantity, .. }), value) => value == "0",
            (Some(Field { shape: Shape::Duration, .. }), value) => value == "0s",
            (_, value) => zero(value),
        })
    }

    /// Counts the values of a parsed tree, and bounds its depth.
    fn measure(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        self.count()?;
        match value {
            Value::Array(_) | Value::Object(_) if depth > MAX_DEPTH => Err(Error::Depth),
            Value::Array(items) => items.iter().try_for_each(|v| self.measure(v, depth + 1)),
            Value::Object(map) => map.values().try_for_each(|v| self.measure(v, depth + 1)),
            _ => Ok(()),
        }
    }

    fn count(&mut self) -> Result<(), Error> {
        self.left = self.left.checked_sub(1).ok_or(Error::Size)?;
        Ok(())
    }
}

fn zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
    }
}

fn float(number: f64, name: &str) -> Result<Value, Error> {
    /// Whole numbers below this are exact.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[allow(clippy::cast_possible_truncation, reason = "whole and in range")]
    if number.fract() == 0.0 && number.abs() < EXACT {
        return Ok((number as i64).into());
    }
    Number::from_f64(number).map(Value::Number).ok_or_else(|| Error::Range(name.to_owned()))
}

/// Field 1 of a message that wraps a number.
fn integer(mut bytes: &[u8], name: &str) -> Result<i64, Error> {
    let mut value = 0;
    while let Some(record) = wire::next(&mut bytes)? {
        if record.number == 1 {
            value = record.varint(name)?.cast_signed();
        }
    }
    Ok(value)
}

/// No time at all is the zero time, which JSON has as null.
fn time(mut bytes: &[u8], fraction: bool, name: &str) -> Result<Value, Error> {
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    let (mut seconds, mut nanos) = (0, 0);
    while let Some(record) = wire::next(&mut bytes)? {
        match record.number {
            1 => seconds = record.varint(name)?.cast_signed(),
            #[allow(clippy::cast_possible_truncation, reason = "as upstream: the low half counts")]
            2 => nanos = record.varint(name)?.cast_signed() as i32,
            _ => {}
        }
    }
    let range = || Error::Range(name.to_owned());
    if !(0..1_000_000_000).contains(&nanos) {
        return Err(range());
    }
    let at = Timestamp::from_second(seconds).map_err(|_| range())?;
    Ok(if fraction {
        let at = at.checked_add(jiff::Span::new().nanoseconds(nanos)).map_err(|_| range())?;
        instant::micro_time(at).into()
    } else {
        instant::time(at).into()
    })
}

fn quantity(mut bytes: &[u8], name: &str) -> Result<Value, Error> {
    let mut text = "";
    while let Some(record) = wire::next(&mut bytes)? {
        if record.number == 1 {
            text = record.text(name)?;
        }
    }
    Ok(if text.is_empty() { "0" } else { text }.into())
}

fn int_or_string(mut bytes: &[u8], name: &str) -> Result<Value, Error> {
    let (mut is_text, mut number, mut text) = (false, 0, "");
    while let Some(record) = wire::next(&mut bytes)? {
        match record.number {
            1 => is_text = record.varint(name)? != 0,
            #[allow(clippy::cast_possible_truncation, reason = "as upstream: the low half counts")]
            2 => number = record.varint(name)?.cast_signed() as i32,
            3 => text = record.text(name)?,
            _ => {}
        }
    }
    Ok(if is_text { text.into() } else { number.into() })
}
