//! Compares a tree with its type, and brings it into the form that upstream's decoding leaves:
//! unknown fields are gone, null means absent, zero values that upstream omits are absent, structs that
//! it holds by value are there, and quantities and times are canonical.

use base64::Engine as _;
use serde_json::Value;

use super::{Path, Paths, instant};
use crate::{
    Status,
    quantity::Quantity,
    schema::{Field, Schema, Shape, Type, TypeId, builtin, ids},
};

/// Checks and canonicalises `value` in place. Returns the paths of unknown fields, which are dropped
/// from the value; a value of the wrong type is a 400.
pub fn check(schema: &Schema, root: TypeId, value: &mut Value) -> Result<Vec<String>, Status> {
    let ty = schema.get(root);
    if let Some(custom) = &schema.custom {
        return crate::crd::check(custom, &ty.name, value);
    }
    let mut walk = Walk { schema, unknown: Paths::default() };
    match walk.object(ty, value, &Path::Root, &Names { owner: ty, parent: None }) {
        Ok(()) => Ok(walk.unknown.into()),
        Err(fault) => {
            let (package, kind) = ty.name.rsplit_once('.').unwrap_or(("", &ty.name));
            let version = package.rsplit('.').next().unwrap_or_default();
            Err(Status::bad_request(format!("{kind} in version {version:?} cannot be handled as a {kind}: {fault}")))
        }
    }
}

/// Checks `metadata` at `path` in the same way; the text of the fault where it is of the wrong type.
pub(crate) fn metadata(value: &mut Value, path: &Path) -> Result<Paths, String> {
    let schema = builtin();
    let ty = schema.get(ids::META_V1_OBJECT_META);
    let mut walk = Walk { schema: &schema, unknown: Paths::default() };
    walk.object(ty, value, path, &Names { owner: ty, parent: None })?;
    Ok(walk.unknown)
}

struct Walk<'s> {
    schema: &'s Schema,
    unknown: Paths,
}

/// Field names from the root down, as Go's decoder reports them: without list indices.
struct Names<'a> {
    /// Struct that holds the innermost field.
    owner: &'a Type,
    /// The enclosing names and the field.
    parent: Option<(&'a Names<'a>, &'a str)>,
}

impl Names<'_> {
    fn write(&self, out: &mut String) {
        if let Some((parent, field)) = &self.parent {
            parent.write(out);
            out.push('.');
            out.push_str(field);
        }
    }

    /// `Go struct field DeploymentSpec.spec.replicas of type int32`.
    fn mismatch(&self, found: &Value, exact: bool, wanted: &str) -> String {
        let found = match found {
            Value::Null => "null".to_owned(),
            Value::Bool(_) => "bool".to_owned(),
            Value::Number(number) if exact => format!("number {number}"),
            Value::Number(_) => "number".to_owned(),
            Value::String(_) => "string".to_owned(),
            Value::Array(_) => "array".to_owned(),
            Value::Object(_) => "object".to_owned(),
        };
        let place = match &self.parent {
            None => "Go value".to_owned(),
            Some((parent, _)) => {
                let owner = parent.owner.name.rsplit('.').next().unwrap_or_default();
                let mut place = format!("Go struct field {owner}");
                self.write(&mut place);
                place
            }
        };
        format!("json: cannot unmarshal {found} into {place} of type {wanted}")
    }
}

impl Walk<'_> {
    fn object(&mut self, ty: &Type, value: &mut Value, path: &Path, names: &Names) -> Result<(), String> {
        let Value::Object(map) = value else {
            return Err(names.mismatch(value, false, &go_struct(&ty.name)));
        };
        let mut fault = None;
        map.retain(|key, value| {
            if fault.is_some() {
                return true;
            }
            let here = Path::Field(path, key);
            let Some(field) = ty.field(key) else {
                if !ty.preserve_unknown {
                    self.unknown.note(&here);
                }
                return ty.preserve_unknown;
            };
            if value.is_null() {
                return false;
            }
            let names = Names { owner: ty, parent: Some((names, key)) };
            match self.value(&field.shape, value, &here, &names) {
                Ok(()) => !omitted(field, value),
                Err(why) => {
                    fault = Some(why);
                    true
                }
            }
        });
        if let Some(why) = fault {
            return Err(why);
        }
        for field in ty.fields.iter() {
            if let Some(id) = plain(field)
                && !map.contains_key(&*field.name)
            {
                map.insert(field.name.to_string(), zero(self.schema, id));
            }
        }
        Ok(())
    }

    fn value(&mut self, shape: &Shape, value: &mut Value, path: &Path, names: &Names) -> Result<(), String> {
        match shape {
            Shape::Any => Ok(()),
            Shape::Object(id) => {
                let schema = self.schema;
                let inner = Names { owner: schema.get(*id), parent: names.parent };
                self.object(schema.get(*id), value, path, &inner)
            }
            Shape::OrBool(_) | Shape::OrList(_) | Shape::OrStrings(_) => self.choice(shape, value, path, names),
            Shape::List { item, .. } => match value {
                Value::Array(items) => items
                    .iter_mut()
                    .enumerate()
                    .try_for_each(|(at, value)| self.element(item, value, &Path::Item(path, at), names)),
                _ => Err(names.mismatch(value, false, &self.go_type(shape))),
            },
            Shape::Map { value: inner, .. } => match value {
                Value::Object(map) => map
                    .iter_mut()
                    .try_for_each(|(key, value)| self.element(inner, value, &Path::Field(path, key), names)),
                _ => Err(names.mismatch(value, false, &self.go_type(shape))),
            },
            scalar => self.scalar(scalar, value, names),
        }
    }

    /// An item of a list or map: null is the zero value there.
    fn element(&mut self, shape: &Shape, value: &mut Value, path: &Path, names: &Names) -> Result<(), String> {
        if value.is_null() {
            *value = match shape {
                Shape::String | Shape::Bytes => "".into(),
                Shape::Bool => false.into(),
                Shape::Int32 | Shape::Int64 | Shape::Float | Shape::IntOrString => 0.into(),
                Shape::Quantity => "0".into(),
                Shape::Object(_) => Value::Object(serde_json::Map::new()),
                _ => return Ok(()),
            };
        }
        self.value(shape, value, path, names)
    }

    /// A flag, list of objects or list of strings in place of a schema. Upstream decodes these
    /// apart, so unknown fields within are not reported; they are dropped.
    fn choice(&mut self, shape: &Shape, value: &mut Value, path: &Path, names: &Names) -> Result<(), String> {
        let (id, other) = match (shape, &*value) {
            (Shape::OrBool(_), Value::Bool(_)) => return Ok(()),
            (Shape::OrStrings(_), Value::Array(_)) => return Ok(()),
            (Shape::OrBool(id), _) => (id, "JSONSchemaPropsOrBool"),
            (Shape::OrStrings(id), _) => (id, "JSONSchemaPropsOrStringArray"),
            (Shape::OrList(id) | Shape::Object(id), _) => (id, "JSONSchemaPropsOrArray"),
            _ => return Ok(()),
        };
        let known = self.unknown.len();
        let out = match value {
            Value::Object(_) => self.value(&Shape::Object(*id), value, path, names),
            Value::Array(items) if matches!(shape, Shape::OrList(_)) => items
                .iter_mut()
                .enumerate()
                .try_for_each(|(at, value)| self.value(&Shape::Object(*id), value, &Path::Item(path, at), names)),
            _ => Err(names.mismatch(value, false, &format!("v1.{other}"))),
        };
        self.unknown.truncate(known);
        out
    }

    fn scalar(&self, shape: &Shape, value: &mut Value, names: &Names) -> Result<(), String> {
        let fits = match shape {
            Shape::Bool => value.is_boolean(),
            Shape::Int32 => match value.as_i64() {
                Some(number) if i32::try_from(number).is_ok() => true,
                _ => return Err(names.mismatch(value, true, "int32")),
            },
            Shape::Int64 if value.is_i64() => true,
            Shape::Int64 => return Err(names.mismatch(value, true, "int64")),
            Shape::Float => value.is_number(),
            Shape::String | Shape::Duration => value.is_string(),
            Shape::Bytes => match &*value {
                Value::String(text) => return base64_fault(text),
                _ => false,
            },
            Shape::IntOrString => match &*value {
                Value::String(_) => true,
                Value::Number(number) => number.as_i64().is_some_and(|n| i32::try_from(n).is_ok()),
                _ => false,
            },
            Shape::Time | Shape::MicroTime => match value {
                Value::String(text) => {
                    let at = instant::parse(text)?;
                    *text = if matches!(shape, Shape::Time) { instant::time(at) } else { instant::micro_time(at) };
                    true
                }
                _ => false,
            },
            Shape::Quantity => {
                *value = Quantity::from_value(value).map_err(|e| e.to_string())?.to_string().into();
                true
            }
            _ => true,
        };
        if fits { Ok(()) } else { Err(names.mismatch(value, false, &self.go_type(shape))) }
    }

    fn go_type(&self, shape: &Shape) -> String {
        match shape {
            Shape::Bool => "bool".to_owned(),
            Shape::Int32 | Shape::IntOrString => "int32".to_owned(),
            Shape::Int64 => "int64".to_owned(),
            Shape::Float => "float64".to_owned(),
            Shape::Bytes => "[]uint8".to_owned(),
            Shape::Quantity => "resource.Quantity".to_owned(),
            Shape::Object(id) => go_struct(&self.schema.get(*id).name),
            Shape::List { item, .. } => format!("[]{}", self.go_type(item)),
            Shape::Map { value, .. } => format!("map[string]{}", self.go_type(value)),
            _ => "string".to_owned(),
        }
    }
}

/// The type of a struct that upstream holds by value, so that it is there even where nothing was sent.
pub(crate) fn plain(field: &Field) -> Option<TypeId> {
    match field.shape {
        Shape::Object(id) if !field.form.pointer && !field.form.omit_zero => Some(id),
        _ => None,
    }
}

/// What upstream shows of such a struct where nothing was sent: its own structs, and its counts.
pub(crate) fn zero(schema: &Schema, id: TypeId) -> Value {
    let shown = |field: &Field| {
        let value = match (plain(field), &field.shape) {
            (Some(id), _) => zero(schema, id),
            (_, Shape::Int32 | Shape::Int64) if !field.form.pointer && !field.form.omit_empty => 0.into(),
            _ => return None,
        };
        Some((field.name.to_string(), value))
    };
    Value::Object(schema.get(id).fields.iter().filter_map(shown).collect())
}

/// Takes a field of an object away: it is as if nothing had been sent.
pub fn clear(schema: &Schema, root: TypeId, object: &mut Value, field: &str) {
    let Some(fields) = object.as_object_mut() else { return };
    match schema.get(root).field(field).filter(|_| schema.custom.is_none()).and_then(plain) {
        Some(id) => fields.insert(field.to_owned(), zero(schema, id)),
        None => fields.remove(field),
    };
}

/// `v1.PodSpec` for `io.k8s.api.core.v1.PodSpec`.
fn go_struct(name: &str) -> String {
    let mut parts = name.rsplitn(3, '.');
    let (ty, package) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    format!("{package}.{ty}")
}

/// Whether upstream leaves the value out when it encodes the object again.
fn omitted(field: &Field, value: &Value) -> bool {
    if field.form.pointer || !field.form.omit_empty {
        return false;
    }
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0) && !matches!(field.shape, Shape::IntOrString),
        Value::String(text) => text.is_empty() && !matches!(field.shape, Shape::IntOrString),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty() && matches!(field.shape, Shape::Map { .. }),
    }
}

fn base64_fault(text: &str) -> Result<(), String> {
    use base64::DecodeError;
    // Go skips line breaks in the text.
    let compact: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    base64::engine::general_purpose::STANDARD.decode(compact.as_bytes()).map(drop).map_err(|e| {
        let at = match e {
            DecodeError::InvalidByte(at, _) | DecodeError::InvalidLastSymbol(at, _) => at,
            DecodeError::InvalidLength(at) => at / 4 * 4,
            DecodeError::InvalidPadding => compact.len(),
        };
        format!("illegal base64 data at input byte {at}")
    })
}
