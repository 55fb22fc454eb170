//! Objects from protobuf: the wire form that typed Go clients send, turned into the same tree as
//! their JSON. What a message's fields are called and hold comes from the schema.
//!
//! Go's encoder writes zero values of fields that are no pointers; JSON leaves them out, and so
//! does the tree. Fields that the schema does not know are dropped.
//!
//! Source: apimachinery `pkg/runtime/serializer/protobuf` (the envelope), the published
//! `generated.proto` files.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::{
    Status, decode,
    schema::{Field, Schema, Shape, TypeId},
};

/// What every encoded object begins with.
const MAGIC: &[u8] = b"k8s\0";
/// Messages within messages, at most.
const DEPTH: usize = 100;

/// An object in its envelope, `runtime.Unknown`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// `apps/v1`; empty if the client left it out.
    pub api_version: &'a str,
    /// `Deployment`; empty if the client left it out.
    pub kind: &'a str,
    /// The object.
    pub raw: &'a [u8],
    /// Media type of `raw`; empty for protobuf.
    pub content_type: &'a str,
}

#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error("it ends in the middle of a field")]
    Cut,
    #[error("text is not UTF-8")]
    Text,
    #[error("field {0} has another wire type")]
    Wire(u32),
    #[error("messages are nested too deeply")]
    Deep,
    #[error("JSON within it is malformed: {0}")]
    Json(serde_json::Error),
}

impl From<Fault> for Status {
    fn from(fault: Fault) -> Self {
        Status::bad_request(format!("the protobuf body is malformed: {fault}"))
    }
}

/// Opens the envelope.
pub fn envelope(bytes: &[u8]) -> Result<Envelope<'_>, Status> {
    let Some(bytes) = bytes.strip_prefix(MAGIC) else {
        return Err(Status::bad_request(
            "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]",
        ));
    };
    let mut envelope = Envelope::default();
    for record in Records(bytes) {
        match record? {
            (1, Wire::Bytes(meta)) => {
                for record in Records(meta) {
                    match record? {
                        (1, Wire::Bytes(text)) => envelope.api_version = utf8(text)?,
                        (2, Wire::Bytes(text)) => envelope.kind = utf8(text)?,
                        _ => {}
                    }
                }
            }
            (2, Wire::Bytes(raw)) => envelope.raw = raw,
            (4, Wire::Bytes(text)) => envelope.content_type = utf8(text)?,
            _ => {}
        }
    }
    Ok(envelope)
}

/// The tree of an object of type `root`, without `apiVersion` and `kind`.
pub fn decode(schema: &Schema, root: TypeId, raw: &[u8]) -> Result<Value, Status> {
    Ok(Decoder { schema }.object(root, raw, 0)?)
}

enum Wire<'a> {
    Number(u64),
    Fixed64([u8; 8]),
    Bytes(&'a [u8]),
    Fixed32,
}

/// The fields of a message, in order.
struct Records<'a>(&'a [u8]);

impl<'a> Records<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Fault> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Fault::Cut)?;
        self.0 = rest;
        Ok(taken)
    }

    fn varint(&mut self) -> Result<u64, Fault> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Fault::Cut)
    }

    fn record(&mut self) -> Result<(u32, Wire<'a>), Fault> {
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).map_err(|_| Fault::Cut)?;
        let wire = match tag & 7 {
            0 => Wire::Number(self.varint()?),
            1 => Wire::Fixed64(self.take(8)?.try_into().map_err(|_| Fault::Cut)?),
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| Fault::Cut)?;
                Wire::Bytes(self.take(length)?)
            }
            5 => self.take(4).map(|_| Wire::Fixed32)?,
            _ => return Err(Fault::Wire(number)),
        };
        Ok((number, wire))
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<(u32, Wire<'a>), Fault>;
    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let record = self.record();
        if record.is_err() {
            self.0 = &[];
        }
        Some(record)
    }
}

fn utf8(bytes: &[u8]) -> Result<&str, Fault> {
    std::str::from_utf8(bytes).map_err(|_| Fault::Text)
}

struct Decoder<'s> {
    schema: &'s Schema,
}

impl Decoder<'_> {
    fn object(&self, id: TypeId, bytes: &[u8], depth: usize) -> Result<Value, Fault> {
        let mut out = Map::new();
        self.message(id, &[], bytes, &mut out, depth)?;
        let ty = self.schema.get(id);
        out.retain(|name, value| ty.field(name).is_none_or(|field| shown(field, value)));
        Ok(Value::Object(out))
    }

    /// `inline` are the numbers of the inlined messages around the bytes.
    fn message(
        &self,
        id: TypeId,
        inline: &[u32],
        bytes: &[u8],
        out: &mut Map<String, Value>,
        depth: usize,
    ) -> Result<(), Fault> {
        if depth > DEPTH {
            return Err(Fault::Deep);
        }
        let ty = self.schema.get(id);
        for record in Records(bytes) {
            let (number, wire) = record?;
            let field = ty.fields.iter().find(|f| f.number == number && f.form.inline == inline);
            if let Some(field) = field {
                self.field(field, number, wire, out, depth)?;
                continue;
            }
            let inner = [inline, &[number]].concat();
            if let Wire::Bytes(bytes) = wire
                && ty.fields.iter().any(|f| f.form.inline.starts_with(&inner))
            {
                self.message(id, &inner, bytes, out, depth + 1)?;
            }
        }
        Ok(())
    }

    fn field(
        &self,
        field: &Field,
        number: u32,
        wire: Wire<'_>,
        out: &mut Map<String, Value>,
        depth: usize,
    ) -> Result<(), Fault> {
        match &field.shape {
            Shape::List { item, .. } => {
                let list = out.entry(&*field.name).or_insert_with(|| json!([]));
                let Some(list) = list.as_array_mut() else { return Ok(()) };
                match (&**item, wire) {
                    // Packed numbers.
                    (Shape::Int32 | Shape::Int64 | Shape::Bool, Wire::Bytes(bytes)) => {
                        let mut numbers = Records(bytes);
                        while !numbers.0.is_empty() {
                            let number_wire = Wire::Number(numbers.varint()?);
                            list.push(self.value(item, number, number_wire, depth)?);
                        }
                    }
                    (item, wire) => list.push(self.value(item, number, wire, depth)?),
                }
            }
            Shape::Map { value: shape, .. } => {
                let Wire::Bytes(entry) = wire else { return Err(Fault::Wire(number)) };
                let map = out.entry(&*field.name).or_insert_with(|| json!({}));
                let (mut key, mut value) = (String::new(), None);
                for record in Records(entry) {
                    match record? {
                        (1, Wire::Bytes(text)) => key = utf8(text)?.to_owned(),
                        (2, wire) => value = Some(self.value(shape, 2, wire, depth)?),
                        _ => {}
                    }
                }
                let value = match value {
                    Some(value) => value,
                    None => self.value(shape, 2, Wire::Bytes(&[]), depth).unwrap_or(Value::Null),
                };
                if let Some(map) = map.as_object_mut() {
                    map.insert(key, value);
                }
            }
            shape => {
                let value = self.value(shape, number, wire, depth)?;
                if !value.is_null() {
                    out.insert(field.name.to_string(), value);
                }
            }
        }
        Ok(())
    }

    fn value(&self, shape: &Shape, number: u32, wire: Wire<'_>, depth: usize) -> Result<Value, Fault> {
        match (shape, wire) {
            (Shape::Bool, Wire::Number(n)) => Ok((n != 0).into()),
            // Negative numbers stand as 64 bits on the wire.
            (Shape::Int32 | Shape::Int64, Wire::Number(n)) => Ok((n as i64).into()),
            (Shape::Float, Wire::Fixed64(bytes)) => Ok(f64::from_le_bytes(bytes).into()),
            (Shape::String, Wire::Bytes(text)) => Ok(utf8(text)?.into()),
            (Shape::Bytes, Wire::Bytes(bytes)) => Ok(BASE64_STANDARD.encode(bytes).into()),
            (shape, Wire::Bytes(bytes)) => self.nested(shape, number, bytes, depth + 1),
            _ => Err(Fault::Wire(number)),
        }
    }

    /// Shapes that are messages on the wire.
    fn nested(&self, shape: &Shape, number: u32, bytes: &[u8], depth: usize) -> Result<Value, Fault> {
        match shape {
            Shape::Object(id) => self.object(*id, bytes, depth),
            Shape::Time | Shape::MicroTime => Ok(time(bytes, matches!(shape, Shape::MicroTime))?),
            Shape::Duration => Ok(duration(number_at(bytes, 1)?).into()),
            Shape::Quantity => Ok(utf8(bytes_at(bytes, 1)?.unwrap_or(b"0"))?.into()),
            Shape::IntOrString => match number_at(bytes, 1)? {
                0 => Ok(number_at(bytes, 2)?.into()),
                _ => Ok(utf8(bytes_at(bytes, 3)?.unwrap_or_default())?.into()),
            },
            Shape::Any => match bytes_at(bytes, 1)? {
                None | Some([]) => Ok(Value::Null),
                Some(text) => serde_json::from_slice(text).map_err(Fault::Json),
            },
            Shape::OrBool(id) => match bytes_at(bytes, 2)? {
                Some(schema) => self.object(*id, schema, depth),
                None => Ok((number_at(bytes, 1)? != 0).into()),
            },
            Shape::OrList(id) => match bytes_at(bytes, 1)? {
                Some(schema) => self.object(*id, schema, depth),
                None => repeated(bytes, 2, |item| self.object(*id, item, depth)),
            },
            Shape::OrStrings(id) => match bytes_at(bytes, 1)? {
                Some(schema) => self.object(*id, schema, depth),
                None => repeated(bytes, 2, |item| Ok(utf8(item)?.into())),
            },
            // A list as the value of a map is a message of its own (`ExtraValue`).
            Shape::List { item, .. } => {
                repeated(bytes, 1, |item_bytes| self.value(item, 1, Wire::Bytes(item_bytes), depth))
            }
            Shape::Map { .. }
            | Shape::Bool
            | Shape::Int32
            | Shape::Int64
            | Shape::Float
            | Shape::String
            | Shape::Bytes => Err(Fault::Wire(number)),
        }
    }
}

/// Whether upstream's JSON shows the value.
fn shown(field: &Field, value: &Value) -> bool {
    let empty = match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty() && (field.form.omit_zero || matches!(field.shape, Shape::Map { .. })),
    };
    !empty || field.form.pointer || !(field.form.omit_empty || field.form.omit_zero)
}

fn number_at(bytes: &[u8], wanted: u32) -> Result<i64, Fault> {
    let mut found = 0;
    for record in Records(bytes) {
        if let (number, Wire::Number(value)) = record?
            && number == wanted
        {
            found = value as i64;
        }
    }
    Ok(found)
}

fn bytes_at(bytes: &[u8], wanted: u32) -> Result<Option<&[u8]>, Fault> {
    let mut found = None;
    for record in Records(bytes) {
        if let (number, Wire::Bytes(value)) = record?
            && number == wanted
        {
            found = Some(value);
        }
    }
    Ok(found)
}

fn repeated(bytes: &[u8], wanted: u32, mut item: impl FnMut(&[u8]) -> Result<Value, Fault>) -> Result<Value, Fault> {
    let mut items = Vec::new();
    for record in Records(bytes) {
        if let (number, Wire::Bytes(value)) = record?
            && number == wanted
        {
            items.push(item(value)?);
        }
    }
    Ok(items.into())
}

/// Null for Go's zero time, which has no bytes.
fn time(bytes: &[u8], micro: bool) -> Result<Value, Fault> {
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    let nanos = i32::try_from(number_at(bytes, 2)?).unwrap_or(0);
    let Ok(at) = Timestamp::new(number_at(bytes, 1)?, nanos) else { return Ok(Value::Null) };
    Ok(if micro { decode::micro_time(at) } else { decode::time(at) }.into())
}

/// Go's text of a duration in nanoseconds.
fn duration(nanos: i64) -> String {
    let total = nanos.unsigned_abs();
    let sign = if nanos < 0 { "-" } else { "" };
    let fraction = |value: u64, unit: u64| -> String {
        let rest = format!("{:0width$}", value % unit, width = unit.ilog10() as usize);
        match rest.trim_end_matches('0') {
            "" => String::new(),
            digits => format!(".{digits}"),
        }
    };
    let text = match total {
        0 => return "0s".to_owned(),
        small if small < 1_000 => format!("{small}ns"),
        small if small < 1_000_000 => format!("{}{}µs", small / 1_000, fraction(small, 1_000)),
        small if small < 1_000_000_000 => format!("{}{}ms", small / 1_000_000, fraction(small, 1_000_000)),
        _ => {
            let seconds = total / 1_000_000_000;
            let tail = format!("{}{}s", seconds % 60, fraction(total, 1_000_000_000));
            match (seconds / 3600, seconds / 60 % 60) {
                (0, 0) => tail,
                (0, minutes) => format!("{minutes}m{tail}"),
                (hours, minutes) => format!("{hours}h{minutes}m{tail}"),
            }
        }
    };
    format!("{sign}{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(number: u32, payload: &[u8]) -> Vec<u8> {
        let mut out = vec![u8::try_from(number << 3 | 2).unwrap(), u8::try_from(payload.len()).unwrap()];
        out.extend_from_slice(payload);
        out
    }

    #[test]
    fn an_object_of_a_typed_client_is_read() {
        let schema = crate::schema::builtin();
        let root = schema.find("io.k8s.api.core.v1.ConfigMap").unwrap();
        let metadata =
            [field(1, b"name"), field(2, b""), field(8, b""), field(11, &[field(1, b"k"), field(2, b"v")].concat())];
        let data = [field(1, b"a"), field(2, b"1")].concat();
        let raw = [field(1, &metadata.concat()), field(2, &data)].concat();
        let meta = [field(1, b"v1"), field(2, b"ConfigMap")].concat();
        let bytes = [MAGIC, &field(1, &meta), &field(2, &raw), &field(3, b""), &field(4, b"")].concat();
        let envelope = envelope(&bytes).unwrap();
        assert_eq!((envelope.api_version, envelope.kind, envelope.content_type), ("v1", "ConfigMap", ""));
        let tree = decode(&schema, root, envelope.raw).unwrap();
        assert_eq!(tree, json!({"metadata": {"name": "name", "labels": {"k": "v"}}, "data": {"a": "1"}}));
    }

    #[test]
    fn broken_bytes_are_refused() {
        let schema = crate::schema::builtin();
        let root = schema.find("io.k8s.api.core.v1.ConfigMap").unwrap();
        assert!(envelope(b"{}").is_err());
        for bad in [&[0x0a][..], &[0x0a, 5, 1], &[0x0b], &[0xff; 12], &[0x08, 1]] {
            assert!(decode(&schema, root, bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn durations_are_written_as_go_does() {
        for (nanos, text) in [
            (0, "0s"),
            (1, "1ns"),
            (1_500, "1.5µs"),
            (2_000_000, "2ms"),
            (1_500_000_000, "1.5s"),
            (3_900_000_000_000, "1h5m0s"),
            (-60_000_000_000, "-1m0s"),
        ] {
            assert_eq!(duration(nanos), text);
        }
    }
}
