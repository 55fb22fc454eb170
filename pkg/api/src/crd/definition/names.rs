//! Names of a kind.

use serde_json::Value;

use crate::{
    tree,
    validation::{FieldErrors, names::label_1035},
};

/// Checks those names that are given.
pub(super) fn names(errors: &mut FieldErrors, names: &Value, path: &str) {
    for field in ["plural", "singular"] {
        label(errors, tree::text(names, field), format!("{path}.{field}"));
    }
    for field in ["kind", "listKind"] {
        let text = tree::text(names, field);
        let faults = label_1035(&text.to_lowercase());
        if !text.is_empty() && !faults.is_empty() {
            let detail = format!("may have mixed case, but should otherwise match: {}", faults.join(","));
            errors.invalid(format!("{path}.{field}"), text, detail);
        }
    }
    let list = |errors: &mut FieldErrors, field: &str| {
        for (at, name) in tree::texts(names, field).enumerate() {
            let faults = label_1035(name);
            if !faults.is_empty() {
                errors.invalid(format!("{path}.{field}[{at}]"), name, faults.join(","));
            }
        }
    };
    list(errors, "shortNames");
    let kind = tree::text(names, "kind");
    if !kind.is_empty() && kind == tree::text(names, "listKind") {
        errors.invalid(format!("{path}.listKind"), kind, "kind and listKind may not be the same");
    }
    list(errors, "categories");
}

fn label(errors: &mut FieldErrors, text: &str, path: String) {
    let faults = label_1035(text);
    if !text.is_empty() && !faults.is_empty() {
        errors.invalid(path, text, faults.join(","));
    }
}
