//! Decodes upstream's golden objects, in which every field of every kind is set, with the table that
//! is compiled in: nothing may be unknown, and nothing may change. Their protobuf form must have the
//! same fields, by the numbers of the table.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::{Context, Result, ensure};
use api::{Value, decode, defaults, schema};

use super::wire;

/// What defaulting changes where all fields are set, as upstream does: an old name follows the new
/// one, requests follow limits, and the first of the addresses is the one address.
const OVERWRITTEN: &[&str] = &[".serviceAccount: ", ".requests.limitsKey: ", ".podIPs[0].ip: "];

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
        let mut changed = Vec::new();
        differences(&decoded.value, &value, "", &mut changed);
        let mut defaulted = value.clone();
        defaults::apply(&schema, root, &mut defaulted);
        differences(&value, &defaulted, "", &mut changed);
        changed.retain(|path| !OVERWRITTEN.iter().any(|known| path.contains(known)));
        faults.extend(changed.iter().map(|path| format!("{gvk}: {path}")));
        let wire = wire::fields(&schema, root, &fs::read(path.with_extension("pb"))?)?;
        let json = wire::json_fields(&schema, root, &decoded.value);
        faults.extend(json.symmetric_difference(&wire).map(|path| format!("{gvk}: {path} is not in both encodings")));
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

/// Paths of all differences.
fn differences(a: &Value, b: &Value, path: &str, out: &mut Vec<String>) {
    match (a, b) {
        (Value::Object(x), Value::Object(y)) => {
            let keys: BTreeSet<_> = x.keys().chain(y.keys()).collect();
            for key in keys {
                let (a, b) = (x.get(key).unwrap_or(&Value::Null), y.get(key).unwrap_or(&Value::Null));
                differences(a, b, &format!("{path}.{key}"), out);
            }
        }
        (Value::Array(x), Value::Array(y)) if x.len() == y.len() => {
            for (at, (a, b)) in x.iter().zip(y).enumerate() {
                differences(a, b, &format!("{path}[{at}]"), out);
            }
        }
        _ if a != b => out.push(format!("{path}: {a} became {b}")),
        _ => {}
    }
}
