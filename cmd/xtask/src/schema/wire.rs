//! Which fields a protobuf message has, by the numbers of the table: a check of the numbers, not a
//! decoder.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail, ensure};
use api::{
    Value,
    schema::{Schema, Shape, TypeId},
};

/// Paths of fields, without list indices and map keys.
pub type Paths = BTreeSet<String>;

/// Fields of an encoded object, behind the magic number and the envelope.
pub fn fields(schema: &Schema, root: TypeId, bytes: &[u8]) -> Result<Paths> {
    let envelope = bytes.strip_prefix(b"k8s\0").context("no magic number")?;
    let mut paths = Paths::new();
    // The envelope: type in field 1, object in field 2.
    for (number, payload) in records(envelope)? {
        if number == 2 {
            message(schema, root, &[], payload, "", &mut paths)?;
        }
    }
    Ok(paths)
}

/// Fields of the same object in JSON.
pub fn json_fields(schema: &Schema, root: TypeId, value: &Value) -> Paths {
    let mut paths = Paths::new();
    tree(schema, &Shape::Object(root), value, "", &mut paths);
    // Not part of the message.
    paths.retain(|path| path != ".kind" && path != ".apiVersion");
    paths
}

fn tree(schema: &Schema, shape: &Shape, value: &Value, path: &str, out: &mut Paths) {
    match (shape, value) {
        (Shape::Object(id), Value::Object(map)) => {
            for (name, value) in map {
                let path = format!("{path}.{name}");
                if let Some(field) = schema.get(*id).field(name) {
                    tree(schema, &field.shape, value, &path, out);
                }
                out.insert(path);
            }
        }
        (Shape::List { item, .. }, Value::Array(items)) => items.iter().for_each(|v| tree(schema, item, v, path, out)),
        (Shape::Map { value: shape, .. }, Value::Object(map)) => {
            map.values().for_each(|v| tree(schema, shape, v, path, out));
        }
        _ => {}
    }
}

/// `inline` are the numbers of the inlined messages around the payload.
fn message(schema: &Schema, id: TypeId, inline: &[u32], bytes: &[u8], path: &str, out: &mut Paths) -> Result<()> {
    let ty = schema.get(id);
    for (number, payload) in records(bytes)? {
        let inner = [inline, &[number]].concat();
        if let Some(field) = ty.fields.iter().find(|f| f.number == number && f.form.inline == inline) {
            let path = format!("{path}.{}", &*field.name);
            shape(schema, &field.shape, payload, &path, out)?;
            out.insert(path);
        } else if ty.fields.iter().any(|f| f.form.inline.starts_with(&inner)) {
            message(schema, id, &inner, payload, path, out)?;
        } else {
            bail!("{}: no field for number {number} at {path}", &*ty.name);
        }
    }
    Ok(())
}

fn shape(schema: &Schema, of: &Shape, payload: &[u8], path: &str, out: &mut Paths) -> Result<()> {
    match of {
        Shape::Object(id) => message(schema, *id, &[], payload, path, out),
        Shape::List { item, .. } => shape(schema, item, payload, path, out),
        Shape::Map { value, .. } => {
            let entry = records(payload)?;
            entry.into_iter().filter(|(n, _)| *n == 2).try_for_each(|(_, v)| shape(schema, value, v, path, out))
        }
        _ => Ok(()),
    }
}

/// Numbers and payloads of the fields of a message; numbers have an empty payload.
fn records(mut bytes: &[u8]) -> Result<Vec<(u32, &[u8])>> {
    let mut out = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes)?;
        let length = match tag & 7 {
            0 => varint(&mut bytes).map(|_| 0)?,
            1 => 8,
            2 => usize::try_from(varint(&mut bytes)?)?,
            5 => 4,
            other => bail!("unknown wire type {other}"),
        };
        ensure!(length <= bytes.len(), "a field that ends beyond its message");
        let (payload, rest) = bytes.split_at(length);
        out.push((u32::try_from(tag >> 3)?, payload));
        bytes = rest;
    }
    Ok(out)
}

fn varint(bytes: &mut &[u8]) -> Result<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first().context("a number that does not end")?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Ok(value);
        }
    }
    bail!("a number of more than 64 bits")
}
