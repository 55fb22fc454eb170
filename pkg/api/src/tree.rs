//! Reading an object tree by dotted path, with the zero value where something is absent.
//!
//! Paths are of field names only: keys of free maps (labels, data) may hold dots and are read
//! with [`entries`].

use serde_json::Value;

static NULL: Value = Value::Null;

/// The value at `path`; null where absent.
pub fn at<'a>(value: &'a Value, path: &str) -> &'a Value {
    path.split('.').try_fold(value, |at, step| at.get(step)).unwrap_or(&NULL)
}

/// Text at `path`, or the empty text.
pub fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    at(value, path).as_str().unwrap_or_default()
}

/// Integer at `path`, or 0.
pub fn int(value: &Value, path: &str) -> i64 {
    at(value, path).as_i64().unwrap_or_default()
}

/// Truth at `path`, or false.
pub fn flag(value: &Value, path: &str) -> bool {
    at(value, path).as_bool().unwrap_or_default()
}

/// Items of the list at `path`; none where absent.
pub fn items<'a>(value: &'a Value, path: &str) -> &'a [Value] {
    at(value, path).as_array().map_or(&[], Vec::as_slice)
}

/// Texts of the list at `path`.
pub fn texts<'a>(value: &'a Value, path: &str) -> impl Iterator<Item = &'a str> {
    items(value, path).iter().filter_map(Value::as_str)
}

/// Entries of the object at `path`, in key order.
pub fn entries<'a>(value: &'a Value, path: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    at(value, path).as_object().into_iter().flatten().map(|(key, value)| (key.as_str(), value))
}

/// Whether there is anything but null at `path`.
pub fn has(value: &Value, path: &str) -> bool {
    !at(value, path).is_null()
}

/// The object at `path`, made where absent; `None` if something else stands in the way.
pub fn object_mut<'a>(value: &'a mut Value, path: &str) -> Option<&'a mut serde_json::Map<String, Value>> {
    let mut at = value;
    for step in path.split('.') {
        let object = at.as_object_mut()?;
        at = object.entry(step).or_insert(Value::Null);
        if at.is_null() {
            *at = Value::Object(serde_json::Map::new());
        }
    }
    at.as_object_mut()
}

/// Writes `new` at `path`, making objects on the way.
pub fn set(value: &mut Value, path: &str, new: impl Into<Value>) {
    match path.rsplit_once('.') {
        Some((parent, field)) => {
            if let Some(object) = object_mut(value, parent) {
                object.insert(field.to_owned(), new.into());
            }
        }
        None => {
            if let Some(object) = value.as_object_mut() {
                object.insert(path.to_owned(), new.into());
            }
        }
    }
}

/// Removes what is at `path`.
pub fn remove(value: &mut Value, path: &str) -> Option<Value> {
    let (parents, field) = path.rsplit_once('.').map_or(("", path), |(p, f)| (p, f));
    let parent = match parents {
        "" => value,
        parents => parents.split('.').try_fold(value, |at, step| at.get_mut(step))?,
    };
    parent.as_object_mut()?.remove(field)
}

/// Whether two values mean the same: absent, null, empty lists and empty objects do not differ.
pub fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(x), Value::Object(y)) => {
            let differs = |key: &String, value: &Value, other: &serde_json::Map<String, Value>| {
                !equal(value, other.get(key).unwrap_or(&NULL))
            };
            !x.iter().any(|(key, value)| differs(key, value, y))
                && !y.iter().any(|(key, value)| !x.contains_key(key) && differs(key, value, x))
        }
        (Value::Array(x), Value::Array(y)) => x.len() == y.len() && x.iter().zip(y).all(|(x, y)| equal(x, y)),
        (a, b) => a == b || is_empty(a) && is_empty(b),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.values().all(is_empty),
        _ => false,
    }
}

/// The first path, below `path`, at which two values differ; `None` if they are the same.
pub fn difference(a: &Value, b: &Value, path: &str) -> Option<String> {
    if equal(a, b) {
        return None;
    }
    match (a, b) {
        (Value::Object(x), Value::Object(y)) => {
            let keys: std::collections::BTreeSet<_> = x.keys().chain(y.keys()).collect();
            keys.into_iter().find_map(|key| {
                let at = |map: &serde_json::Map<String, Value>| map.get(key).unwrap_or(&NULL).clone();
                difference(&at(x), &at(y), &format!("{path}.{key}"))
            })
        }
        (Value::Array(x), Value::Array(y)) if x.len() == y.len() => {
            x.iter().zip(y).enumerate().find_map(|(index, (x, y))| difference(x, y, &format!("{path}[{index}]")))
        }
        _ => Some(path.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sameness() {
        assert!(equal(&json!({"a": 1, "b": []}), &json!({"a": 1, "c": {"d": null}})));
        assert!(!equal(&json!({"a": 1}), &json!({"a": 2})));
        assert!(!equal(&json!([1]), &json!([])));
        let (a, b) = (json!({"a": [{"b": 1}]}), json!({"a": [{"b": 2}]}));
        assert_eq!(difference(&a, &b, "spec").as_deref(), Some("spec.a[0].b"));
    }

    #[test]
    fn writing() {
        let mut object = json!({"a": null});
        set(&mut object, "a.b.c", 1);
        assert_eq!(object, json!({"a": {"b": {"c": 1}}}));
        assert_eq!(remove(&mut object, "a.b.c"), Some(json!(1)));
        assert_eq!(remove(&mut object, "x.y"), None);
    }
}
