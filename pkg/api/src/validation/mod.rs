//! Field errors with upstream's reasons and messages, and the rules for names.
//!
//! Source: apimachinery `util/validation/field` and `util/validation` (message texts that clients
//! match).

pub mod admission;
pub mod autoscaling;
pub mod batch;
pub mod certificates;
pub mod claims;
pub mod conditions;
pub mod devices;
pub mod flowcontrol;
pub mod ip;
pub mod labels;
mod metadata;
pub mod migration;
pub mod names;
pub mod networking;
pub mod pod;
pub mod pod_certificates;
pub mod policy;
pub mod quota;
pub mod resources;
pub mod reviews;
pub mod schedule;
pub mod service;
pub mod storage;
#[cfg(test)]
mod tests;
pub mod volume;
pub mod workload;
pub mod x509;

use std::{collections::HashSet, hash::Hash};

pub use metadata::{annotations, metadata, metadata_update};
use serde_json::Value;

use crate::Status;

/// The detail of every refused change of an immutable field.
pub const IMMUTABLE: &str = "field is immutable";
/// Faults of one object that are told, and bytes of them.
const MOST: usize = 500;
const MOST_BYTES: usize = 1 << 20;
/// Instead of a number of bytes: no more is kept.
const FULL: usize = usize::MAX;

/// Why a field was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// `Required value`.
    Required,
    /// `Invalid value`.
    Invalid,
    /// `Invalid value`, where the value says nothing.
    Unfit,
    /// `Unsupported value`.
    NotSupported,
    /// `Duplicate value`.
    Duplicate,
    /// `Forbidden`.
    Forbidden,
    /// `Too long`.
    TooLong,
    /// `Too many`.
    TooMany,
    /// `Too few`.
    TooFew,
    /// `Not found`.
    NotFound,
    /// `Invalid value` of the wrong type.
    TypeInvalid,
}

/// One refused field.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldError {
    /// `spec.containers[0].image`.
    pub path: String,
    /// Kind of fault.
    pub reason: Reason,
    /// The offending value; printed in the message where the reason calls for it.
    pub value: Value,
    /// What is wrong with it.
    pub detail: String,
}

/// The refused fields of an object, with the bytes that they take.
///
/// Of very many only the first are kept, and a last one says so: a client sends what it likes, and
/// an answer is not to be many times as long.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FieldErrors(pub Vec<FieldError>, usize);

/// Tells of each item whether an equal one stands before it.
pub(crate) fn repeated<T: Eq + Hash>(items: impl IntoIterator<Item = T>) -> Vec<bool> {
    let mut seen = HashSet::new();
    items.into_iter().map(|item| !seen.insert(item)).collect()
}

/// Which names a kind allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRule {
    /// RFC 1123 subdomain: most kinds.
    Subdomain,
    /// RFC 1123 label: namespaces, services from 1.34 on.
    Label,
    /// RFC 1035 label: starts with a letter.
    Label1035,
    /// One path segment: RBAC kinds.
    PathSegment,
}

impl FieldError {
    /// The text of `causes[].message`, without the path.
    pub fn body(&self) -> String {
        let what = match self.reason {
            Reason::Required => return suffixed("Required value".to_owned(), &self.detail),
            Reason::Forbidden => return suffixed("Forbidden".to_owned(), &self.detail),
            Reason::TooLong => return suffixed("Too long".to_owned(), &self.detail),
            Reason::Unfit => return suffixed("Invalid value".to_owned(), &self.detail),
            Reason::Invalid | Reason::TypeInvalid => "Invalid value",
            Reason::NotSupported => "Unsupported value",
            Reason::Duplicate => "Duplicate value",
            Reason::TooMany => "Too many",
            Reason::TooFew => "Too few",
            Reason::NotFound => "Not found",
        };
        suffixed(format!("{what}: {}", self.value), &self.detail)
    }
}

fn suffixed(head: String, detail: &str) -> String {
    if detail.is_empty() { head } else { format!("{head}: {detail}") }
}

impl std::fmt::Display for FieldError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path, self.body())
    }
}

impl std::fmt::Display for FieldErrors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0.as_slice() {
            [one] => write!(f, "{one}"),
            many => {
                let mut texts: Vec<_> = many.iter().map(ToString::to_string).collect();
                let mut again = repeated(&texts).into_iter();
                texts.retain(|_| !again.next().unwrap_or_default());
                match texts.as_slice() {
                    [one] => f.write_str(one),
                    texts => write!(f, "[{}]", texts.join(", ")),
                }
            }
        }
    }
}

impl FieldErrors {
    /// `details.causes`.
    pub fn causes(&self) -> Value {
        let cause = |e: &FieldError| {
            let reason = match e.reason {
                Reason::Required => "FieldValueRequired",
                Reason::Invalid | Reason::Unfit => "FieldValueInvalid",
                Reason::NotSupported => "FieldValueNotSupported",
                Reason::Duplicate => "FieldValueDuplicate",
                Reason::Forbidden => "FieldValueForbidden",
                Reason::TooLong => "FieldValueTooLong",
                Reason::TooMany => "FieldValueTooMany",
                Reason::TooFew => "FieldValueTooFew",
                Reason::NotFound => "FieldValueNotFound",
                Reason::TypeInvalid => "FieldValueTypeInvalid",
            };
            serde_json::json!({"reason": reason, "message": e.body(), "field": e.path})
        };
        self.0.iter().map(cause).collect()
    }

    /// 422 for an object of a kind, if anything was refused.
    pub fn refuse(&self, group: &str, kind: &str, name: &str) -> Result<(), Status> {
        if self.is_empty() { Ok(()) } else { Err(Status::invalid(group, kind, name, self)) }
    }

    /// Whether nothing was refused.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether no more errors are kept.
    pub fn is_full(&self) -> bool {
        self.1 == FULL
    }

    /// Adds an error, or a note that it is one too many.
    pub(crate) fn add(&mut self, mut error: FieldError) {
        if self.is_full() {
            return;
        }
        if self.0.len() == MOST || self.1 >= MOST_BYTES {
            let detail = "there are too many errors, and the rest is not told".to_owned();
            error = FieldError { reason: Reason::Unfit, value: "".into(), detail, ..error };
            self.1 = FULL;
        } else {
            self.1 += error.path.len() + error.detail.len() + size(&error.value);
        }
        self.0.push(error);
    }

    /// Adds an error.
    pub fn push(
        &mut self,
        path: impl Into<String>,
        reason: Reason,
        value: impl Into<Value>,
        detail: impl Into<String>,
    ) {
        // The object as a whole is a path of one empty index.
        let path = Some(path.into()).filter(|path| !path.is_empty()).unwrap_or_else(|| "[]".to_owned());
        self.add(FieldError { path, reason, value: value.into(), detail: detail.into() });
    }

    /// Adds `Required value`.
    pub fn required(&mut self, path: impl Into<String>, detail: impl Into<String>) {
        self.push(path, Reason::Required, "", detail);
    }

    /// Adds `Invalid value`.
    pub fn invalid(&mut self, path: impl Into<String>, value: impl Into<Value>, detail: impl Into<String>) {
        self.push(path, Reason::Invalid, value, detail);
    }

    /// Adds `Invalid value` without the value.
    pub fn unfit(&mut self, path: impl Into<String>, detail: impl Into<String>) {
        self.push(path, Reason::Unfit, "", detail);
    }

    /// Adds one `Invalid value` for each fault.
    pub fn each(&mut self, path: impl Into<String>, value: impl Into<Value>, faults: Vec<String>) {
        if faults.is_empty() {
            return;
        }
        let (path, value) = (path.into(), value.into());
        for fault in faults {
            if self.is_full() {
                return;
            }
            self.push(path.clone(), Reason::Invalid, value.clone(), fault);
        }
    }

    /// Adds `Unsupported value`, with what is supported.
    pub fn not_supported(&mut self, path: impl Into<String>, value: impl Into<Value>, supported: &[&str]) {
        let supported: Vec<_> = supported.iter().map(|s| format!("{s:?}")).collect();
        self.push(path, Reason::NotSupported, value, format!("supported values: {}", supported.join(", ")));
    }

    /// Adds `Duplicate value`.
    pub fn duplicate(&mut self, path: impl Into<String>, value: impl Into<Value>) {
        self.push(path, Reason::Duplicate, value, "");
    }

    /// Adds `Forbidden`.
    pub fn forbidden(&mut self, path: impl Into<String>, detail: impl Into<String>) {
        self.push(path, Reason::Forbidden, "", detail);
    }

    /// Adds `Not found`.
    pub fn not_found(&mut self, path: impl Into<String>, value: impl Into<Value>) {
        self.push(path, Reason::NotFound, value, "");
    }

    /// Adds `Too long`, with the limit in bytes.
    pub fn too_long(&mut self, path: impl Into<String>, limit: usize) {
        self.push(
            path,
            Reason::TooLong,
            "",
            format!("may not be more than {limit} {}", if limit == 1 { "byte" } else { "bytes" }),
        );
    }

    /// Adds `Too many`, with how many there are and may be.
    pub fn too_many(&mut self, path: impl Into<String>, actual: usize, limit: usize) {
        let items = if limit == 1 { "item" } else { "items" };
        self.push(path, Reason::TooMany, actual, format!("must have at most {limit} {items}"));
    }

    /// Refuses `new` where it differs from `old`.
    pub fn immutable(&mut self, path: &str, new: &Value, old: &Value) {
        let (now, before) = (crate::tree::at(new, path), crate::tree::at(old, path));
        if now != before {
            self.push(path, Reason::Invalid, now.clone(), IMMUTABLE);
        }
    }

    /// Refuses `new` where it means something else than `old`: absent and empty do not differ.
    pub fn fixed(&mut self, path: &str, new: &Value, old: &Value) {
        let (now, before) = (crate::tree::at(new, path), crate::tree::at(old, path));
        if !crate::tree::equal(now, before) {
            self.push(path, Reason::Invalid, now.clone(), IMMUTABLE);
        }
    }

    /// Takes in other errors.
    pub fn extend(&mut self, other: FieldErrors) {
        other.0.into_iter().for_each(|error| self.add(error));
        if other.1 == FULL {
            self.1 = FULL;
        }
    }
}

/// About how many bytes a value takes as text.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| size(item) + 1).sum(),
        Value::Object(map) => map.iter().map(|(key, item)| key.len() + size(item) + 4).sum(),
        _ => 8,
    }
}
