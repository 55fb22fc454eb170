//! OpenAPI documents, made from the kinds table and the schemas of its rows when somebody asks.
//!
//! v3 has an index and one document to each group and version, v2 one document for all. They carry
//! what clients work with: types, merge and list semantics, defaults, enums, and the operations
//! with their query parameters (`fieldValidation` on writes tells kubectl that the server validates).
//! There are no descriptions, and no paths below `/watch/`. Documents are large: callers keep the
//! encoded text, if anything.

mod custom;
mod definitions;
mod paths;
mod swagger;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::kinds::{Kind, Kinds};
use definitions::Definitions;
pub use swagger::encode as v2_message;

/// Which of the two forms a document has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    V2,
    V3,
}

impl Dialect {
    /// A reference to a definition.
    fn reference(self, name: &str) -> Value {
        let home = match self {
            Dialect::V2 => "#/definitions/",
            Dialect::V3 => "#/components/schemas/",
        };
        json!({"$ref": format!("{home}{name}")})
    }
}

/// `/openapi/v3`: where the document of each group and version is. The address changes with the
/// document, so that clients can keep it.
pub fn v3_index(kinds: &Kinds) -> Value {
    let mut paths: BTreeMap<String, Fingerprint> = BTreeMap::new();
    for kind in kinds.rows() {
        let path = paths::prefix(&kind.group, &kind.version);
        paths.entry(path[1..].to_owned()).or_insert_with(Fingerprint::new).add(kind);
    }
    let entry = |(path, print): (String, Fingerprint)| {
        let address = format!("/openapi/v3/{path}?hash={print}");
        (path, json!({"serverRelativeURL": address}))
    };
    json!({"paths": paths.into_iter().map(entry).collect::<Map<_, _>>()})
}

/// What stands for a document of v3 in its address; `None` if nothing is served there.
pub fn v3_hash(kinds: &Kinds, group: &str, version: &str) -> Option<String> {
    let mut rows = kinds.rows().iter().filter(|k| &*k.group == group && &*k.version == version).peekable();
    rows.peek()?;
    let mut print = Fingerprint::new();
    rows.for_each(|row| print.add(row));
    Some(print.to_string())
}

/// `/openapi/v3/apis/GROUP/VERSION`; `None` if nothing is served there.
pub fn v3(kinds: &Kinds, group: &str, version: &str) -> Option<Value> {
    let rows: Vec<_> =
        kinds.rows().iter().map(|row| &**row).filter(|k| &*k.group == group && &*k.version == version).collect();
    if rows.is_empty() {
        return None;
    }
    let (paths, definitions) = document(Dialect::V3, kinds, &rows);
    Some(json!({
        "openapi": "3.0.0",
        "info": info(),
        "paths": paths,
        "components": {"schemas": definitions, "securitySchemes": security()},
    }))
}

/// `/openapi/v2`, as JSON.
pub fn v2(kinds: &Kinds) -> Value {
    let rows: Vec<_> = kinds.rows().iter().map(|row| &**row).collect();
    let (paths, definitions) = document(Dialect::V2, kinds, &rows);
    json!({
        "swagger": "2.0",
        "info": info(),
        "paths": paths,
        "definitions": definitions,
        "securityDefinitions": security(),
        "security": [{"BearerToken": []}],
    })
}

fn info() -> Value {
    json!({"title": "Kubernetes", "version": concat!("v", env!("CARGO_PKG_VERSION"))})
}

fn security() -> Value {
    json!({"BearerToken": {"type": "apiKey", "name": "authorization", "in": "header",
                           "description": "Bearer Token authentication"}})
}

/// Paths and definitions of some rows.
fn document(dialect: Dialect, kinds: &Kinds, rows: &[&Kind]) -> (Map<String, Value>, Map<String, Value>) {
    let mut definitions = Definitions::new(dialect, kinds);
    let mut paths = Map::new();
    for kind in rows {
        paths::add(&mut paths, &mut definitions, kind);
    }
    (paths, definitions.finish())
}

/// 64-bit FNV-1a over what a document is made of.
struct Fingerprint(u64);

impl Fingerprint {
    fn new() -> Self {
        let mut print = Fingerprint(0xcbf2_9ce4_8422_2325);
        print.bytes(env!("CARGO_PKG_VERSION").as_bytes());
        print
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn add(&mut self, kind: &Kind) {
        use std::fmt::Write as _;
        // Writing into a fingerprint cannot fail.
        let _ = write!(self, "{}/{:?}{:?}", &*kind.kind, kind.verbs, &*kind.subresources);
        // Built-in types change with the version only.
        if let Some(custom) = &kind.schema.custom {
            let _ = write!(self, "{}{:?}{}", custom.list_kind(), kind.selectable, custom.text());
        }
    }
}

impl std::fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016X}", self.0)
    }
}

impl std::fmt::Write for Fingerprint {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.bytes(text.as_bytes());
        Ok(())
    }
}
