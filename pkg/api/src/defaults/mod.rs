//! Defaulting: what upstream fills in when it decodes an object of a built-in kind.
//!
//! [`apply`] walks an object by type, so a pod template is treated alike wherever it stands. At each
//! object, outermost first, it applies
//!
//! 1. empty structs that upstream's encoding always shows (`status: {}`, `resources: {}`),
//! 2. the `+default=` facts of the type table,
//! 3. the rows of [`table`],
//! 4. the functions of [`derived`], for what depends on other fields.
//!
//! Guarantees: applying again changes nothing; a value that is there is never changed, but for the
//! few that [`derived`] names. Assumptions: the tree went through [`crate::decode::check`]. Caveats:
//! allocation (cluster IPs, node ports), admission (service account, tolerations, priority) and
//! what needs a clock (`DeviceTaint.timeAdded`) are not here. Types that are made at run time get
//! the defaults of their schema only.

mod derived;
mod table;

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::quantity::Quantity;
use crate::schema::{Field, Schema, Shape, Shared, Type, TypeId, builtin};

type Object = Map<String, Value>;

/// Fills in the defaults of `value`, an object of type `root`.
pub fn apply(schema: &Schema, root: TypeId, value: &mut Value) {
    if let Some(custom) = &schema.custom {
        custom.default(value);
    } else if let Value::Object(object) = value {
        let rules = matches!(schema.types, Shared::Static(_)).then(|| &**RULES);
        Walk { schema, rules }.object(root, object);
    }
}

/// What applies to a type, besides the facts of its fields.
#[derive(Clone, Default)]
struct Rule {
    fields: Vec<(&'static str, table::Literal)>,
    derive: Option<fn(&mut Object)>,
    /// Something below may have defaults: where not, the walk stops.
    descend: bool,
}

/// Indexed by [`TypeId`] of the built-in schema.
static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let schema = builtin();
    let mut rules = vec![Rule::default(); schema.types.len()];
    for (id, fields) in table::FIELDS {
        rules[usize::from(id.0)].fields = fields.to_vec();
    }
    for (id, derive) in derived::FUNCTIONS {
        rules[usize::from(id.0)].derive = Some(*derive);
    }
    mark_descent(&schema, &mut rules);
    rules
});

/// Marks the types that have defaults, or that hold such types.
fn mark_descent(schema: &Schema, rules: &mut [Rule]) {
    loop {
        let mut changed = false;
        for (at, ty) in schema.types.iter().enumerate() {
            let below = |f: &Field| {
                f.default.is_some()
                    || always_there(f)
                    || is_amounts(&f.shape)
                    || held(&f.shape).is_some_and(|id| rules[usize::from(id.0)].descend)
            };
            let has = !rules[at].fields.is_empty() || rules[at].derive.is_some() || ty.fields.iter().any(below);
            changed |= has && !rules[at].descend;
            rules[at].descend = has;
        }
        if !changed {
            return;
        }
    }
}

/// The type of the objects that a field holds, in lists and maps too.
fn held(shape: &Shape) -> Option<TypeId> {
    match shape {
        Shape::Object(id) => Some(*id),
        Shape::List { item, .. } => held(item),
        Shape::Map { value, .. } => held(value),
        _ => None,
    }
}

/// Amounts of resources are kept in thousandths, rounded up.
fn round_up(amount: &mut Value) {
    if let Some(quantity) = amount.as_str().and_then(|text| text.parse::<Quantity>().ok())
        && quantity.is_finer_than_milli()
    {
        *amount = Quantity::from_milli(quantity.milli()).to_string().into();
    }
}

/// Whether a field is a list of amounts of resources.
fn is_amounts(shape: &Shape) -> bool {
    matches!(shape, Shape::Map { value, .. } if matches!(**value, Shape::Quantity))
}

/// Whether upstream's encoding shows the field even where nobody set it: a struct that is no pointer.
fn always_there(field: &Field) -> bool {
    matches!(field.shape, Shape::Object(_)) && !field.form.pointer && !field.form.omit_zero
}

/// Whether upstream's encoding leaves a default out: the zero value of what is no pointer.
fn left_out(field: &Field, default: &str) -> bool {
    field.form.omit_empty && !field.form.pointer && matches!(default, "0" | "\"\"" | "false")
}

/// Whether upstream's decoding sees no value: absent, or the zero value of what is no pointer.
fn unset(ty: &Type, object: &Object, name: &str) -> bool {
    let pointer = ty.field(name).is_some_and(|f| f.form.pointer);
    match object.get(name) {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.is_empty() && !pointer,
        Some(Value::Number(number)) => number.as_i64() == Some(0) && !pointer,
        Some(Value::Array(items)) => items.is_empty() && !pointer,
        Some(_) => false,
    }
}

struct Walk<'a> {
    schema: &'a Schema,
    /// `None` for types that are made at run time.
    rules: Option<&'a [Rule]>,
}

impl Walk<'_> {
    fn object(&self, id: TypeId, object: &mut Object) {
        let ty = self.schema.get(id);
        let rule = self.rules.map(|rules| &rules[usize::from(id.0)]);
        if rule.is_some_and(|rule| !rule.descend) {
            return;
        }
        for field in ty.fields.iter() {
            if let Some(default) = &field.default
                && !(rule.is_some() && left_out(field, default))
                && unset(ty, object, &field.name)
                && let Ok(default) = serde_json::from_str(default)
            {
                object.insert(field.name.to_string(), default);
            } else if rule.is_some() && always_there(field) && unset(ty, object, &field.name) {
                object.insert(field.name.to_string(), Value::Object(Map::new()));
            }
        }
        if let Some(rule) = rule {
            for (name, default) in &rule.fields {
                if unset(ty, object, name) {
                    object.insert((*name).to_owned(), default.value());
                }
            }
            if let Some(derive) = rule.derive {
                derive(object);
            }
        }
        for field in ty.fields.iter() {
            if let Some(value) = object.get_mut(&*field.name) {
                self.value(&field.shape, value);
            }
        }
    }

    fn value(&self, shape: &Shape, value: &mut Value) {
        match (shape, value) {
            (Shape::Object(id), Value::Object(object)) => self.object(*id, object),
            (Shape::List { item, .. }, Value::Array(items)) if held(item).is_some() => {
                items.iter_mut().for_each(|value| self.value(item, value));
            }
            (Shape::Map { value: inner, .. }, Value::Object(map)) if matches!(**inner, Shape::Quantity) => {
                map.values_mut().for_each(round_up);
            }
            (Shape::Map { value: inner, .. }, Value::Object(map)) if held(inner).is_some() => {
                map.values_mut().for_each(|value| self.value(inner, value));
            }
            _ => {}
        }
    }
}
