//! Paths that a definition names: of the scale, of columns, of selectable fields, of rules.

use serde_json::Value;

use crate::{
    table::jsonpath::JsonPath,
    tree,
    validation::{FieldErrors, Reason},
};

/// Fields that clients may select by, at most.
const SELECTABLE: usize = 8;

pub(super) fn scale(errors: &mut FieldErrors, scale: &Value, path: &str) {
    if scale.is_null() {
        return;
    }
    for (field, home) in [("specReplicasPath", "spec"), ("statusReplicasPath", "status")] {
        let (text, path) = (tree::text(scale, field), format!("{path}.scale.{field}"));
        if text.is_empty() {
            errors.required(path, "");
        } else if simple(errors, text, &path) && !text.starts_with(&format!(".{home}.")) {
            errors.invalid(path, text, format!("should be a json path under .{home}"));
        }
    }
    let (text, path) = (tree::text(scale, "labelSelectorPath"), format!("{path}.scale.labelSelectorPath"));
    if !text.is_empty() && simple(errors, text, &path) && !text.starts_with(".spec.") && !text.starts_with(".status.") {
        errors.invalid(path, text, "should be a json path under either .spec or .status");
    }
}

fn simple(errors: &mut FieldErrors, text: &str, path: &str) -> bool {
    let good = text.starts_with('.');
    if !good {
        errors.invalid(path, text, "must be a simple json path starting with .");
    }
    good
}

pub(super) fn column(errors: &mut FieldErrors, column: &Value, path: &str) {
    const TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
    const FORMATS: [&str; 8] = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
    if tree::text(column, "name").is_empty() {
        errors.required(format!("{path}.name"), "");
    }
    let kind = tree::text(column, "type");
    let allowed = || format!("must be one of {}", TYPES.join(","));
    if kind.is_empty() {
        errors.required(format!("{path}.type"), allowed());
    } else if !TYPES.contains(&kind) {
        errors.invalid(format!("{path}.type"), kind, allowed());
    }
    let format = tree::text(column, "format");
    if !format.is_empty() && !FORMATS.contains(&format) {
        errors.invalid(format!("{path}.format"), format, format!("must be one of {}", FORMATS.join(",")));
    }
    let text = tree::text(column, "jsonPath");
    if text.is_empty() {
        errors.required(format!("{path}.JSONPath"), "");
    } else {
        let path = format!("{path}.JSONPath");
        if simple(errors, text, &path)
            && let Err(why) = JsonPath::parse(text)
        {
            errors.invalid(path, text, format!("is an invalid path: {why}"));
        }
    }
}

pub(super) fn selectable(errors: &mut FieldErrors, fields: &[Value], schema: &Value, path: &str) {
    let mut seen = std::collections::HashSet::new();
    for (at, field) in fields.iter().enumerate() {
        let (text, here) = (tree::text(field, "jsonPath"), format!("{path}[{at}].jsonPath"));
        if text.is_empty() {
            errors.required(here, "");
            continue;
        }
        let (steps, found) = match follow(text, schema, false) {
            Ok(found) => found,
            Err(why) => {
                errors.invalid(here, text, format!("is an invalid path: {why}"));
                continue;
            }
        };
        if steps.first().is_some_and(|step| step == "metadata") {
            errors.invalid(&*here, text, "must not point to fields in metadata");
        }
        if !["string", "boolean", "integer"].contains(&tree::text(found, "type")) {
            let detail = "must point to a field of type string, boolean or integer. Enum string fields and strings \
                          with formats are allowed.";
            errors.invalid(&*here, text, detail);
        }
        if !seen.insert(steps) {
            errors.duplicate(here, text);
        }
    }
    if seen.len() > SELECTABLE {
        errors.push(path, Reason::TooMany, seen.len(), format!("must have at most {SELECTABLE} items"));
    }
}

/// Follows a path of fields and keys through a schema.
pub(super) fn follow<'s>(text: &str, schema: &'s Value, brackets: bool) -> Result<(Vec<String>, &'s Value), String> {
    const LOST: &str = "does not refer to a valid field";
    let (mut steps, mut at, mut rest) = (Vec::new(), schema, text);
    while !rest.is_empty() {
        let name;
        if let Some(tail) = rest.strip_prefix('.') {
            let end = tail.find(['.', '[', ']']).unwrap_or(tail.len());
            if tail.is_empty() {
                return Err("unexpected end of JSON path".to_owned());
            }
            (name, rest) = (tail[..end].to_owned(), &tail[end..]);
        } else if let Some(tail) = rest.strip_prefix('[') {
            if !brackets {
                return Err("array notation is not allowed".to_owned());
            }
            let quoted = tail.strip_prefix('\'').and_then(|tail| tail.split_once("']"));
            let Some((inner, tail)) = quoted else {
                return Err(format!("expected single quoted string but got {tail}"));
            };
            (name, rest) = (inner.replace("\\'", "'").replace("\\\\", "\\"), tail);
        } else {
            let end = rest.find(['.', '[', ']']).unwrap_or(rest.len()).max(1);
            return Err(format!("expected [ or . but got: {}", rest.get(..end).unwrap_or(rest)));
        }
        let properties = tree::at(at, "properties");
        at = match at.get("additionalProperties") {
            _ if properties.as_object().is_some_and(|p| !p.is_empty()) => properties.get(&name).ok_or(LOST)?,
            Some(values @ Value::Object(_)) => values,
            _ => return Err(LOST.to_owned()),
        };
        steps.push(name);
    }
    Ok((steps, at))
}
