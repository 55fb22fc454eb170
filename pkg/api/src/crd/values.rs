//! Rules for values: types, ranges, lengths, patterns, formats, enums, junctors.
//!
//! Guarantees: paths, reasons and messages are upstream's, and so is the choice of the messages of
//! an alternative that failed (`anyOf`, `oneOf`): those of the one where most was in order. On a
//! change, what is wrong in a part that was so before is let through, where the parts of both can be
//! told to be the same one: fields always, items of lists by their keys.
//!
//! Rules in CEL belong behind all this, where no fault of type, length or presence was found.
//!
//! Source: kube-openapi `pkg/validation/{validate,errors}`, apiextensions-apiserver
//! `pkg/apiserver/validation`.

use std::{collections::HashMap, sync::Arc};

use serde_json::{Number, Value};

use super::structure::{Additional, Kind, ListType, Node, NodeId, Rules, Structure};
use crate::{
    decode::Path,
    validation::{FieldError, FieldErrors, Reason},
};

/// Checks a value. `base` is the path of the value, of which messages do not speak.
pub(super) fn validate(
    structure: &Structure,
    root: NodeId,
    value: &Value,
    old: Option<&Value>,
    base: &str,
) -> FieldErrors {
    let walk = Walk { structure, base };
    walk.value(root, value, old, &Path::Root).errors
}

struct Walk<'s> {
    structure: &'s Structure,
    base: &'s str,
}

/// What a check found.
#[derive(Default)]
struct Found {
    errors: FieldErrors,
    /// How much was in order.
    matches: usize,
}

impl Found {
    fn merge(&mut self, other: Found) {
        self.errors.extend(other.errors);
        self.matches += other.matches;
    }

    /// Takes in one of the checks of a schema.
    fn step(&mut self, other: Found) {
        self.merge(other);
        self.matches += 1;
    }

    fn valid(&self) -> bool {
        self.errors.is_empty()
    }
}

/// JSON type and Go's word for the width of a number.
fn type_of(value: &Value) -> (&'static str, &'static str) {
    match value {
        Value::Null => ("null", ""),
        Value::Bool(_) => ("boolean", ""),
        Value::Number(number) if number.is_i64() => ("integer", "int64"),
        Value::Number(_) => ("number", "float64"),
        Value::String(_) => ("string", ""),
        Value::Array(_) => ("array", ""),
        Value::Object(_) => ("object", ""),
    }
}

/// Types that a node allows; none at all: any.
fn types(node: &Node) -> &'static [&'static str] {
    match node.kind {
        _ if node.int_or_string => &["integer", "string"],
        Kind::Any => &[],
        Kind::Array => &["array"],
        Kind::Boolean => &["boolean"],
        Kind::Integer => &["integer"],
        Kind::Number => &["number"],
        Kind::Object => &["object"],
        Kind::String => &["string"],
    }
}

fn is_whole(number: &Number) -> bool {
    number.is_i64() || number.as_f64().is_some_and(|f| f.fract() == 0.0 && f.abs() < 9_007_199_254_740_992.0)
}

static NO_RULES: std::sync::LazyLock<Rules> = std::sync::LazyLock::new(Rules::default);

impl Walk<'_> {
    fn full(&self, path: &Path) -> String {
        let name = path.to_string();
        match (self.base, name.as_str()) {
            ("", "") => "<nil>".to_owned(),
            ("", _) => name,
            (base, "") => base.to_owned(),
            (base, name) => format!("{base}.{name}"),
        }
    }

    fn error(&self, path: &Path, reason: Reason, value: impl Into<Value>, detail: String) -> FieldError {
        FieldError { path: self.full(path), reason, value: value.into(), detail }
    }

    /// `PATH in body WHAT`, as `Invalid value`.
    fn invalid(&self, path: &Path, value: impl Into<Value>, what: &str) -> FieldError {
        self.error(path, Reason::Invalid, value, format!("{path} in body {what}"))
    }

    /// A fault that upstream gives no place.
    fn plain(&self, detail: String) -> FieldError {
        self.error(&Path::Root, Reason::Invalid, "", detail)
    }

    fn wrong_type(&self, path: &Path, wanted: &str, found: &str) -> FieldError {
        self.error(path, Reason::TypeInvalid, found, format!("{path} in body must be of type {wanted}: {found:?}"))
    }

    /// Checks a value that has a place of its own.
    fn value(&self, id: NodeId, value: &Value, old: Option<&Value>, path: &Path) -> Found {
        let mut found = self.schema(id, value, old, path);
        if !found.valid() && old == Some(value) {
            found.errors = FieldErrors::default();
        }
        found
    }

    fn schema(&self, id: NodeId, value: &Value, old: Option<&Value>, path: &Path) -> Found {
        let node = self.structure.node(id);
        let rules = node.rules.as_deref().unwrap_or(&NO_RULES);
        let mut found = Found::default();
        if value.is_null() {
            found.merge(self.types(node, rules, value, path));
            found.merge(self.enumeration(rules, value, path));
            return found;
        }
        if !types(node).is_empty() || rules.format.is_some() {
            found.step(self.types(node, rules, value, path));
        }
        found.step(self.junctors(rules, value, old, path));
        match value {
            Value::String(text) => {
                found.step(self.text(rules, text, path));
                if let Some(format) = rules.format.filter(|f| f.of_text()) {
                    let mut part = Found::default();
                    if !format.fits(text) {
                        part.errors.add(self.wrong_type(path, format.name, text));
                    }
                    found.step(part);
                }
            }
            Value::Number(number) => found.step(self.number(node, rules, number, path)),
            Value::Array(items) => found.step(self.items(node, rules, items, old, path)),
            _ => {}
        }
        found.step(self.enumeration(rules, value, path));
        if let Value::Object(map) = value {
            found.step(self.fields(node, rules, map, old, path));
        }
        found.matches += 1;
        found
    }

    fn types(&self, node: &Node, rules: &Rules, value: &Value, path: &Path) -> Found {
        let types = types(node);
        let (kind, width) = type_of(value);
        let wrong = |wanted: &str, found: &str| {
            let mut errors = FieldErrors::default();
            errors.add(self.wrong_type(path, wanted, found));
            Found { errors, matches: 0 }
        };
        let right = Found { errors: FieldErrors::default(), matches: 1 };
        if value.is_null() {
            return if types.is_empty() || node.nullable { right } else { wrong(&types.join(","), "null") };
        }
        let whole = matches!(value, Value::Number(n) if is_whole(n)) && types.contains(&"integer");
        let fits = types.contains(&kind) || whole || (kind == "integer" && types.contains(&"number"));
        let textual = matches!(value, Value::String(_) | Value::Array(_));
        match rules.format {
            Some(format) if !textual && !fits => wrong(format.name, width),
            // The format decides; of lists it says nothing.
            Some(_) if textual && !types.iter().any(|t| ["number", "integer"].contains(t)) => right,
            None if types.is_empty() => right,
            _ if fits => right,
            _ => wrong(&types.join(","), kind),
        }
    }

    fn enumeration(&self, rules: &Rules, value: &Value, path: &Path) -> Found {
        let mut found = Found::default();
        let same = |allowed: &Value| match (allowed, value) {
            (Value::Null, _) => false,
            // As upstream: a fraction is cut off before it is compared with a whole number.
            (Value::Number(a), Value::Number(b)) if a.is_i64() => a.as_f64() == b.as_f64().map(f64::trunc),
            (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
            (a, b) => a == b,
        };
        if !rules.values.is_empty() && !rules.values.iter().any(same) {
            let allowed: Vec<_> =
                rules.values.iter().map(|v| v.as_str().map_or(v.to_string(), str::to_owned)).collect();
            let allowed: Vec<_> = allowed.iter().map(String::as_str).collect();
            found.errors.not_supported(self.full(path), value.clone(), &allowed);
        }
        found
    }

    fn text(&self, rules: &Rules, text: &str, path: &Path) -> Found {
        let mut found = Found::default();
        let length = || i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
        if let Some(max) = rules.max_length.filter(|max| length() > *max) {
            let detail = format!("may not be more than {max} {}", if max == 1 { "byte" } else { "bytes" });
            found.errors.add(self.error(path, Reason::TooLong, "", detail));
        } else if let Some(min) = rules.min_length.filter(|min| length() < *min) {
            found.errors.add(self.invalid(path, text, &format!("should be at least {min} chars long")));
        } else if let Some(pattern) = rules.pattern.as_ref().filter(|pattern| !pattern.matches(text)) {
            found.errors.add(self.invalid(path, text, &format!("should match '{}'", pattern.text)));
        }
        found
    }

    fn number(&self, node: &Node, rules: &Rules, number: &Number, path: &Path) -> Found {
        let mut found = Found { errors: FieldErrors::default(), matches: 2 };
        let integer = node.kind == Kind::Integer && !node.int_or_string;
        let format = rules.format.map_or("", |f| f.name);
        let float = number.as_f64().unwrap_or_default();
        // Whether a number can be one of the type, and what to say if not.
        let range = |number: f64, whole: bool, what: &str| {
            let fits = match (integer, format) {
                (true, "int32") => whole && (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&number),
                (true, _) => whole,
                (false, "float") => number.is_nan() || number.abs() <= f64::from(f32::MAX),
                _ => true,
            };
            (!fits).then(|| {
                let kind = if integer { "integer" } else { "number" };
                let which = match format {
                    "" => "(default format)".to_owned(),
                    format => format!("with format {format}"),
                };
                self.plain(format!("{what} value must be of type {kind} {which} in {path}"))
            })
        };
        range(float, is_whole(number), "Checked").into_iter().for_each(|fault| found.errors.add(fault));
        let shown: Value = match number.as_f64() {
            Some(float) if is_whole(number) && !number.is_i64() => (float as i64).into(),
            _ => number.clone().into(),
        };
        let as_int = |bound: f64| number.as_i64().map(|n| (n, bound as i64));
        if let Some(factor) = rules.multiple_of {
            let misfit = range(factor, factor.fract() == 0.0, "MultipleOf");
            let native = as_int(factor).filter(|_| misfit.is_none());
            let (positive, multiple) = match native {
                Some((n, factor)) => (factor > 0, factor > 0 && n % factor == 0),
                None if factor < 1.0 => (factor > 0.0, (float / factor - (float / factor).round()).abs() < 1e-9),
                None => (true, (float / factor).fract() == 0.0),
            };
            misfit.into_iter().for_each(|fault| found.errors.add(fault));
            if !positive {
                let detail = format!("factor MultipleOf declared for {path} must be positive: {factor}");
                found.errors.add(self.error(path, Reason::Invalid, factor, detail));
            } else if !multiple {
                found.errors.add(self.invalid(path, shown.clone(), &format!("should be a multiple of {factor}")));
            }
        }
        let bounds = [
            (rules.minimum, rules.exclusive_minimum, "Minimum boundary", "greater"),
            (rules.maximum, rules.exclusive_maximum, "Maximum boundary", "less"),
        ];
        for (bound, exclusive, name, word) in bounds {
            let Some(bound) = bound else { continue };
            let misfit = range(bound, bound.fract() == 0.0, name);
            let order = match as_int(bound).filter(|_| misfit.is_none()) {
                Some((n, bound)) => Some(n.cmp(&bound)),
                None => float.partial_cmp(&bound),
            };
            misfit.into_iter().for_each(|fault| found.errors.add(fault));
            let good = match (order, word) {
                (Some(std::cmp::Ordering::Equal), _) => !exclusive,
                (Some(order), "less") => order.is_lt(),
                (Some(order), _) => order.is_gt(),
                (None, _) => true,
            };
            if !good {
                let or = if exclusive { "" } else { " or equal to" };
                let what = format!("should be {word} than{or} {bound}");
                found.errors.add(self.invalid(path, shown.clone(), &what));
            }
        }
        found
    }

    fn items(&self, node: &Node, rules: &Rules, items: &[Value], old: Option<&Value>, path: &Path) -> Found {
        let mut found = Found::default();
        if let Some(id) = node.items {
            let old = Correlated::new(node, rules, old);
            for (at, value) in items.iter().enumerate() {
                if found.errors.is_full() {
                    break;
                }
                let old = old.as_ref().and_then(|old| old.find(value));
                found.merge(self.value(id, value, old, &Path::Item(path, at)));
            }
        }
        let size = i64::try_from(items.len()).unwrap_or(i64::MAX);
        if let Some(min) = rules.min_items.filter(|min| size < *min) {
            found.errors.add(self.invalid(path, size, &format!("should have at least {min} items")));
        }
        if let Some(max) = rules.max_items.filter(|max| size > *max) {
            found.errors.add(self.error(path, Reason::TooMany, size, most(max)));
        }
        found.matches += 1;
        found
    }

    fn fields(
        &self,
        node: &Node,
        rules: &Rules,
        map: &serde_json::Map<String, Value>,
        old: Option<&Value>,
        path: &Path,
    ) -> Found {
        let mut found = Found::default();
        let size = i64::try_from(map.len()).unwrap_or(i64::MAX);
        if let Some(min) = rules.min_properties.filter(|min| size < *min) {
            found.errors.add(self.invalid(path, size, &format!("should have at least {min} properties")));
        }
        if let Some(max) = rules.max_properties.filter(|max| size > *max) {
            found.errors.add(self.error(path, Reason::TooMany, size, most(max)));
        }
        for (key, value) in map {
            if found.errors.is_full() {
                break;
            }
            let here = Path::Field(path, key);
            match node.field(key) {
                None if node.additional == Additional::Closed => {
                    let detail = format!("{here} in body is a forbidden property");
                    found.errors.add(self.error(path, Reason::Invalid, key.as_str(), detail));
                }
                Some(id) => {
                    // The version of what was stored is that of the request, and not a change.
                    let type_meta = matches!(path, Path::Root) && ["apiVersion", "kind"].contains(&key.as_str());
                    let old = old.and_then(|old| old.get(key)).filter(|_| !type_meta || !self.base.is_empty());
                    found.merge(self.value(id, value, old, &here));
                }
                None => {}
            }
        }
        for name in rules.required.iter().filter(|name| !map.contains_key(&***name)) {
            found.errors.add(self.error(&Path::Field(path, name), Reason::Required, "", String::new()));
        }
        found
    }

    fn junctors(&self, rules: &Rules, value: &Value, old: Option<&Value>, path: &Path) -> Found {
        let mut found = Found { errors: FieldErrors::default(), matches: 1 };
        let check = |id: &NodeId| self.schema(*id, value, old, path);
        if !rules.any_of.is_empty() {
            let (valid, best) = best_of(rules.any_of.iter().map(check), true);
            if valid == 0 {
                found
                    .errors
                    .add(self.plain(format!("{:?} must validate at least one schema (anyOf)", path.to_string())));
            }
            found.merge(best);
        }
        if !rules.one_of.is_empty() {
            let (valid, best) = best_of(rules.one_of.iter().map(check), false);
            if valid != 1 {
                let why = match valid {
                    0 => "Found none valid".to_owned(),
                    many => format!("Found {many} valid alternatives"),
                };
                let text = path.to_string();
                found.errors.add(self.plain(format!("{text:?} must validate one and only one schema (oneOf). {why}")));
            }
            if valid < 2 {
                found.merge(best);
            }
        }
        if !rules.all_of.is_empty() {
            let mut valid = 0;
            for part in rules.all_of.iter().map(check) {
                valid += usize::from(part.valid());
                found.merge(part);
            }
            if valid != rules.all_of.len() {
                let why = if valid == 0 { ". None validated" } else { "" };
                found
                    .errors
                    .add(self.plain(format!("{:?} must validate all the schemas (allOf){why}", path.to_string())));
            }
        }
        if let Some(id) = &rules.not
            && check(id).valid()
        {
            found.errors.add(self.plain(format!("{:?} must not validate the schema (not)", path.to_string())));
        }
        found
    }
}

fn most(max: i64) -> String {
    format!("must have at most {max} {}", if max == 1 { "item" } else { "items" })
}

/// How many alternatives hold, and what the first of these found, or the one where most was in order.
fn best_of(alternatives: impl Iterator<Item = Found>, one_is_enough: bool) -> (usize, Found) {
    let mut valid = 0;
    let mut best: Option<Found> = None;
    for found in alternatives {
        if found.valid() {
            valid += 1;
            if valid == 1 {
                best = Some(found);
            }
            if one_is_enough {
                break;
            }
        } else if valid == 0 && best.as_ref().is_none_or(|best| found.matches > best.matches) {
            best = Some(found);
        }
    }
    (valid, best.unwrap_or_default())
}

/// The items of an older list by their keys.
struct Correlated<'a> {
    keys: &'a [Arc<str>],
    items: HashMap<Vec<Option<&'a Value>>, &'a Value>,
}

impl<'a> Correlated<'a> {
    /// `None` where items are not told apart by keys.
    fn new(node: &Node, rules: &'a Rules, old: Option<&'a Value>) -> Option<Self> {
        if node.list != ListType::Map || rules.keys.is_empty() {
            return None;
        }
        let old = old?.as_array()?;
        let mut found = Correlated { keys: &rules.keys, items: HashMap::with_capacity(old.len()) };
        for item in old {
            found.items.entry(found.key(item)).or_insert(item);
        }
        Some(found)
    }

    fn key<'v>(&self, item: &'v Value) -> Vec<Option<&'v Value>> {
        self.keys.iter().map(|key| item.get(&**key)).collect()
    }

    fn find(&self, item: &Value) -> Option<&'a Value> {
        self.items.get(&self.key(item)).copied()
    }
}
