//! From the text of a request to a checked tree: [`json`] and [`yaml`] parse and note repeated
//! fields, [`check`] compares the tree with its type.
//!
//! Both report faults as upstream's decoder words them, since clients match the texts.

mod check;
mod faults;
pub(crate) mod instant;
mod tree;

#[cfg(test)]
mod tests;

use serde::de::DeserializeSeed;
use serde_json::{Value, error::Category};
use serde_saphyr::DuplicateKeyPolicy;

pub(crate) use check::metadata;
pub use check::{check, clear};
pub(crate) use check::{plain, zero};
pub use faults::faults;
pub use instant::{micro_time, time};
pub(crate) use tree::{Path, Paths};

use crate::Status;

/// How deep objects and lists may be nested.
pub const MAX_DEPTH: usize = 128;

/// A parsed text.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// The tree; of repeated fields it has the last.
    pub value: Value,
    /// Paths of repeated fields, such as `spec.containers[0].image`, in the order of the text.
    pub duplicates: Vec<String>,
}

/// Parses JSON text; 400 where it is malformed.
pub fn json(text: &[u8]) -> Result<Decoded, Status> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let malformed = |e: serde_json::Error| {
        Status::bad_request(format!("couldn't get version/kind; json parse error: {}", json_fault(text, &e)))
    };
    let mut repeated = Paths::default();
    let value = tree::Seed::root(&mut noting(&mut repeated)).deserialize(&mut reader).map_err(malformed)?;
    reader.end().map_err(malformed)?;
    Ok(Decoded { value, duplicates: repeated.into() })
}

/// Parses the first YAML document, as upstream does; 400 where it is malformed. Clients send JSON as YAML too: that is read
/// as JSON, which is faster and knows escapes that YAML lacks.
pub fn yaml(text: &[u8]) -> Result<Decoded, Status> {
    if text.trim_ascii_start().starts_with(b"{")
        && let Ok(decoded) = json(text)
    {
        return Ok(decoded);
    }
    let malformed =
        |e: &dyn std::fmt::Display| Status::bad_request(format!("error converting YAML to JSON: yaml: {e}"));
    let text = std::str::from_utf8(text).map_err(|e| malformed(&e))?;
    let text = first_document(text);
    if text.trim().is_empty() {
        return Err(malformed(&"the document is empty"));
    }
    let options = yaml_options(DuplicateKeyPolicy::PassThrough);
    let mut repeated = Paths::default();
    let value = serde_saphyr::with_deserializer_from_str_with_options(text, options, |reader| {
        tree::Seed::root(&mut noting(&mut repeated)).deserialize(reader)
    })
    .map_err(|e| malformed(&e))?;
    Ok(Decoded { value, duplicates: repeated.into() })
}

/// Notes fields that are there again.
fn noting(repeated: &mut Paths) -> impl FnMut(&Path, bool) {
    |path, again| {
        if again {
            repeated.note(path);
        }
    }
}

fn yaml_options(duplicate_keys: DuplicateKeyPolicy) -> serde_saphyr::Options {
    serde_saphyr::options! {
        duplicate_keys: duplicate_keys,
        legacy_octal_numbers: true,
        with_snippet: false,
        budget: serde_saphyr::budget! { max_depth: MAX_DEPTH },
    }
}

/// What upstream's YAML parser says of the first repeated field, with its line.
pub fn yaml_duplicate(text: &[u8]) -> Option<String> {
    let text = first_document(std::str::from_utf8(text).ok()?);
    let options = yaml_options(DuplicateKeyPolicy::Error);
    match serde_saphyr::from_str_with_options::<Value>(text, options) {
        Err(serde_saphyr::Error::DuplicateMappingKey { key, location }) => Some(format!(
            "error converting YAML to JSON: yaml: unmarshal errors:\n  line {}: key {:?} already set in map",
            location.line(),
            key.unwrap_or_default(),
        )),
        _ => None,
    }
}

/// The text up to the marker behind the first document that has content. No content of YAML has a
/// marker at the start of a line.
fn first_document(text: &str) -> &str {
    let (mut at, mut content) = (0, false);
    for line in text.split_inclusive('\n') {
        let marker = line.trim_end();
        if content && (marker == "---" || marker == "..." || marker.starts_with("--- ")) {
            return &text[..at];
        }
        let starts = marker.strip_prefix("---").unwrap_or(marker).trim_start();
        content |= !(starts.is_empty() || starts.starts_with('#') || starts.starts_with('%'));
        at += line.len();
    }
    text
}

/// What Go's parser says where `serde_json` says otherwise.
const JSON_FAULTS: &[(&str, &str)] = &[
    ("expected value", "looking for beginning of value"),
    ("key must be a string", "looking for beginning of object key string"),
    ("expected `:`", "after object key"),
    ("expected `,` or `}`", "after object key:value pair"),
    ("expected `,` or `]`", "after array element"),
    ("trailing comma", "looking for beginning of value"),
    ("trailing characters", "after top-level value"),
    ("control character", "in string literal"),
    ("invalid escape", "in string escape code"),
    ("invalid number", "in numeric literal"),
    ("expected ident", "in literal"),
];

fn json_fault(text: &[u8], error: &serde_json::Error) -> String {
    let message = error.to_string();
    if error.classify() == Category::Eof {
        return "unexpected end of JSON input".to_owned();
    }
    if message.starts_with("recursion limit") {
        return "exceeded max depth".to_owned();
    }
    let line = text.split(|b| *b == b'\n').nth(error.line().saturating_sub(1)).unwrap_or_default();
    let character = line.get(error.column().saturating_sub(1)).map(|b| char::from(*b));
    let place = JSON_FAULTS.iter().find(|(ours, _)| message.starts_with(ours)).map(|(_, theirs)| *theirs);
    match (character, place) {
        (Some('"'), Some(place)) => format!("invalid character '\"' {place}"),
        (Some(c), Some(place)) => format!("invalid character '{}' {place}", c.escape_default()),
        _ => message,
    }
}
