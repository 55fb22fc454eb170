//! Reads the definitions of upstream's OpenAPI v3 documents.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result};
use serde_json::Value;

/// Schemas by definition name.
pub type Definitions = BTreeMap<String, Value>;

/// All definitions of the documents in a folder that describe what is served: alpha and beta versions
/// are off unless somebody asks for them, and their types would be a third of the table.
pub fn read(folder: &Path) -> Result<Definitions> {
    let mut definitions = Definitions::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if !served(name) {
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

/// Whether a document is of a stable version: `apis__batch__v1_openapi.json`.
fn served(document: &str) -> bool {
    let Some(path) = document.strip_suffix("_openapi.json") else { return false };
    let version = path.rsplit("__").next().unwrap_or(path);
    !(version.contains("alpha") || version.contains("beta"))
}

/// The definition that a schema refers to, directly or through `allOf`.
pub fn reference(schema: &Value) -> Option<&str> {
    let target = schema["$ref"].as_str().or_else(|| schema["allOf"][0]["$ref"].as_str())?;
    target.rsplit('/').next()
}

#[cfg(test)]
mod tests {
    use super::served;

    #[test]
    fn stable_versions_are_served() {
        for (document, want) in [
            ("api__v1_openapi.json", true),
            ("apis__autoscaling__v2_openapi.json", true),
            ("version_openapi.json", true),
            ("apis__resource.k8s.io__v1beta2_openapi.json", false),
            ("apis__internal.apiserver.k8s.io__v1alpha1_openapi.json", false),
            ("README.md", false),
        ] {
            assert_eq!(served(document), want, "{document}");
        }
    }
}
