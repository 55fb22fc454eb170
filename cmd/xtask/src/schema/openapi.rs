//! Reads the definitions of upstream's OpenAPI v3 documents.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result};
use serde_json::Value;

/// Schemas by definition name.
pub type Definitions = BTreeMap<String, Value>;

/// All definitions of all documents in a folder.
pub fn read(folder: &Path) -> Result<Definitions> {
    let mut definitions = Definitions::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_none_or(|e| e != "json") {
            continue;
        }
        let mut document: Value =
            serde_json::from_slice(&fs::read(&path)?).with_context(|| path.display().to_string())?;
        if let Value::Object(schemas) = document["components"]["schemas"].take() {
            definitions.extend(schemas);
        }
    }
    Ok(definitions)
}

/// The definition that a schema refers to, directly or through `allOf`.
pub fn reference(schema: &Value) -> Option<&str> {
    let target = schema["$ref"].as_str().or_else(|| schema["allOf"][0]["$ref"].as_str())?;
    target.rsplit('/').next()
}
