//! Compares the OpenAPI documents that crate `api` makes with those that the release publishes.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result, ensure};
use api::{Value, kinds, openapi};

/// Compares definitions and operations of all groups that both have; `folder` holds the release's
/// documents.
pub fn compare(folder: &Path) -> Result<()> {
    let kinds = kinds::builtin();
    let (mut compared, mut differences) = (0, Vec::new());
    let index = openapi::v3_index(&kinds);
    for path in index["paths"].as_object().context("an index without paths")?.keys() {
        let (group, version) = match path.split('/').collect::<Vec<_>>()[..] {
            ["apis", group, version] => (group, version),
            [_, version] => ("", version),
            _ => continue,
        };
        let file = folder.join(format!("{}_openapi.json", path.replace('/', "__")));
        let Ok(text) = fs::read(&file) else {
            println!("{path}: not among the release's documents");
            continue;
        };
        let theirs: Value = serde_json::from_slice(&text)?;
        let ours = openapi::v3(&kinds, group, version).context("no document")?;
        let pairs = [(schemas(&ours), schemas(&theirs)), (operations(&ours), operations(&theirs))];
        for (ours, theirs) in pairs {
            for (name, value) in &ours {
                compared += 1;
                match theirs.get(name) {
                    None => differences.push(format!("{path}: {name} is not upstream")),
                    Some(other) if other != value => {
                        differences.push(format!("{path}: {name}\n  ours {value}\n  not  {other}"))
                    }
                    _ => {}
                }
            }
        }
    }
    println!("{compared} definitions and operations compared");
    ensure!(differences.is_empty(), "{} differ\n{}", differences.len(), differences.join("\n"));
    Ok(())
}

/// Definitions, without what the table leaves out.
fn schemas(document: &Value) -> BTreeMap<String, Value> {
    let all = document["components"]["schemas"].as_object().into_iter().flatten();
    all.map(|(name, schema)| {
        let mut schema = simplified(schema);
        // Types of package meta belong to every group there.
        if let (true, Some(schema)) = (name.contains(".meta.v1."), schema.as_object_mut()) {
            schema.remove("x-kubernetes-group-version-kind");
        }
        (name.clone(), schema)
    })
    .collect()
}

/// Without descriptions, enums, unions, and the mark of atomic lists, which is the same as none.
fn simplified(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let left = |key: &str, value: &Value| match key {
                "description" => !value.is_string(),
                "enum" => !value.is_array(),
                "x-kubernetes-unions" => false,
                "x-kubernetes-list-type" => value != "atomic",
                _ => true,
            };
            let mut map: serde_json::Map<_, _> =
                map.iter().filter(|(key, value)| left(key, value)).map(|(k, v)| (k.clone(), simplified(v))).collect();
            if let Some(Value::Array(required)) = map.get_mut("required") {
                required.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
            }
            // A reference stands in `allOf` where a description stands beside it.
            match map.remove("allOf") {
                Some(all) if map.is_empty() => all[0].clone(),
                Some(all) => {
                    map.insert("allOf".to_owned(), all);
                    map.into()
                }
                None => map.into(),
            }
        }
        Value::Array(items) => items.iter().map(simplified).collect(),
        other => other.clone(),
    }
}

/// Operation ids, actions and kinds by path and method.
fn operations(document: &Value) -> BTreeMap<String, Value> {
    let mut out = BTreeMap::new();
    for (path, item) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in item.as_object().into_iter().flatten() {
            if method != "parameters" {
                let facts = ["operationId", "tags", "x-kubernetes-action", "x-kubernetes-group-version-kind"];
                let facts: Vec<_> = facts.iter().map(|fact| operation[*fact].clone()).collect();
                out.insert(format!("{method} {path}"), facts.into());
            }
        }
    }
    out
}
