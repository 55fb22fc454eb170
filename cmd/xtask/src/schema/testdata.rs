//! Decodes upstream's golden objects, in which every field of every kind is set, with the table that
//! is compiled in: nothing may be unknown, and nothing may change. Their YAML and protobuf forms must be
//! read as the same tree, and the tree be written as the same bytes. All kinds that are served and have
//! golden objects must be among them.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::{Context, Result, ensure};
use api::{Value, decode, defaults, kinds, protobuf, schema};

/// What defaulting changes where all fields are set, as upstream does: an old name follows the new
/// one, requests follow limits, and the first of the addresses is the one address.
const OVERWRITTEN: &[&str] = &[".serviceAccount: ", ".requests.limitsKey: ", ".podIPs[0].ip: "];

/// Groups whose types live in other modules, without golden objects.
const ELSEWHERE: &[&str] = &["apiextensions.k8s.io", "apiregistration.k8s.io", "metrics.k8s.io"];

/// Checks `testdata/HEAD/*` of module `k8s.io/api`.
pub fn check(module: &Path) -> Result<()> {
    let schema = schema::builtin();
    let mut unserved = 0;
    let mut seen = BTreeSet::new();
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
        let bytes = fs::read(path.with_extension("pb"))?;
        faults.extend(wire_faults(&schema, root, &decoded.value, &bytes).iter().map(|fault| format!("{gvk}: {fault}")));
        let mut changed = Vec::new();
        differences(&decoded.value, &decode::yaml(&fs::read(path.with_extension("yaml"))?)?.value, "", &mut changed);
        faults.extend(changed.iter().map(|fault| format!("{gvk}: YAML: {fault}")));
        seen.insert(root);
    }
    for kind in kinds::builtin().rows().iter().filter(|kind| !ELSEWHERE.contains(&&*kind.group)) {
        ensure!(seen.contains(&kind.root), "{} {}: no golden object", kind.api_version(), &*kind.kind);
    }
    println!("{} golden objects decoded; {unserved} are of versions that are not served", seen.len());
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    Ok(())
}

/// What is wrong with the protobuf form of an object.
fn wire_faults(schema: &schema::Schema, root: schema::TypeId, value: &Value, bytes: &[u8]) -> Vec<String> {
    let envelope = match protobuf::open(bytes) {
        Ok(envelope) => envelope,
        Err(error) => return vec![error.to_string()],
    };
    let mut faults = Vec::new();
    match protobuf::decode(schema, root, envelope.raw) {
        Ok(mut read) => {
            for (field, text) in [("apiVersion", envelope.api_version), ("kind", envelope.kind)] {
                if !text.is_empty() {
                    read[field] = text.into();
                }
            }
            differences(value, &read, "", &mut faults);
            // An empty struct says as much as none.
            faults.retain(|fault| !fault.ends_with(": {} became null"));
        }
        Err(error) => faults.push(error.to_string()),
    }
    let raw = protobuf::encode(schema, root, value);
    if raw != envelope.raw {
        let equal = raw.iter().zip(envelope.raw).take_while(|(a, b)| a == b).count();
        faults.push(format!("{} bytes instead of {}, from byte {equal} on", raw.len(), envelope.raw.len()));
    }
    if protobuf::seal(envelope.api_version, envelope.kind, envelope.raw) != bytes {
        faults.push("another envelope".to_owned());
    }
    faults
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
