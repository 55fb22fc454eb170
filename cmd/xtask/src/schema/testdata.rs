//! Decodes upstream's golden objects, in which every field of every kind is set, with the table that
//! is compiled in: nothing may be unknown, and nothing may change.

use std::{fs, path::Path};

use anyhow::{Context, Result, ensure};
use api::{Value, decode, schema};

/// Checks `testdata/HEAD/*.json` of module `k8s.io/api`.
pub fn check(module: &Path) -> Result<()> {
    let schema = schema::builtin();
    let (mut decoded_count, mut unserved) = (0, 0);
    let mut faults = Vec::new();
    let folder = module.join("testdata/HEAD");
    for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        let Some(gvk) = name.strip_suffix(".json") else { continue };
        let Some(root) = definitions(gvk).iter().find_map(|name| schema.find(name)) else {
            unserved += 1;
            continue;
        };
        let decoded = decode::json(&fs::read(&path)?)?;
        let mut value = decoded.value.clone();
        let unknown = decode::check(&schema, root, &mut value).with_context(|| gvk.to_owned())?;
        faults.extend(unknown.iter().chain(&decoded.duplicates).map(|field| format!("{gvk}: {field}")));
        if unknown.is_empty() && value != decoded.value {
            faults.push(format!("{gvk}: changed at {}", difference(&decoded.value, &value)));
        }
        decoded_count += 1;
    }
    println!("{decoded_count} golden objects decoded; {unserved} are of versions that the release does not serve");
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    Ok(())
}

/// `io.k8s.api.apps.v1.Deployment` for `apps.v1.Deployment`; types of package meta count as core.
fn definitions(gvk: &str) -> Vec<String> {
    let mut parts = gvk.rsplitn(3, '.');
    let (Some(kind), Some(version), Some(group)) = (parts.next(), parts.next(), parts.next()) else {
        return Vec::new();
    };
    let package = match group.split('.').next() {
        Some("internal") => "apiserverinternal",
        first => first.unwrap_or_default(),
    };
    let mut names = vec![format!("io.k8s.api.{package}.{version}.{kind}")];
    if package == "core" {
        names.push(format!("io.k8s.apimachinery.pkg.apis.meta.{version}.{kind}"));
    }
    names
}

/// Path of the first difference.
fn difference(a: &Value, b: &Value) -> String {
    match (a, b) {
        (Value::Object(x), Value::Object(y)) => {
            let keys = x.keys().chain(y.keys());
            let differing = keys.into_iter().find(|k| x.get(*k) != y.get(*k)).map_or("", String::as_str);
            match (x.get(differing), y.get(differing)) {
                (Some(a), Some(b)) => format!(".{differing}{}", difference(a, b)),
                _ => format!(".{differing}"),
            }
        }
        (Value::Array(x), Value::Array(y)) if x.len() == y.len() => {
            let at = x.iter().zip(y).position(|(a, b)| a != b).unwrap_or_default();
            format!("[{at}]{}", difference(&x[at], &y[at]))
        }
        _ => format!(": {a} became {b}"),
    }
}
