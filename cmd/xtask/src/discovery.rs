//! `cargo xtask discovery`: what upstream's release serves by default against what is served here, resource by
//! resource: names, kinds, scopes, verbs, short names, categories, subresources.
//!
//! Upstream's side is a committed list, `discovery/upstream.txt`, one line to a resource. `--update` makes it from the
//! discovery documents that the release publishes. These are of a server with everything on; what is off by default
//! is left out: versions that are not stable.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context as _, Result, bail, ensure};
use api::{Value, discovery, kinds};

use crate::{repository, schema::modules};

/// The committed list.
const UPSTREAM: &str = include_str!("discovery/upstream.txt");
const LIST: &str = "cmd/xtask/src/discovery/upstream.txt";

/// Verbs of an ordinary resource.
const ALL: &str = "create,delete,deletecollection,get,list,patch,update,watch";

/// By group, version and resource: the rest of its line.
type Resources = BTreeMap<String, String>;

/// Compares, or makes the list anew.
pub fn run(args: &[&str]) -> Result<()> {
    match args {
        [] => {
            let (upstream, ours) = (parse(UPSTREAM)?, ours());
            let same = upstream.iter().filter(|(name, facts)| ours.get(*name) == Some(*facts)).count();
            println!("{} resources and subresources upstream, {same} of them here and alike", upstream.len());
            let faults = compare(&upstream, &ours);
            ensure!(faults.is_empty(), "{}", faults.join("\n"));
            Ok(())
        }
        ["--update"] => {
            let folder = modules::download("k8s.io/kubernetes")?.join("api/discovery");
            let list = published(&folder)?;
            let lines: Vec<String> = list.iter().map(|(name, facts)| format!("{name} {facts}\n")).collect();
            fs::write(repository().join(LIST), lines.concat())?;
            println!("{} resources and subresources", list.len());
            Ok(())
        }
        _ => bail!("usage: cargo xtask discovery [--update]"),
    }
}

/// What is missing here, differs, or is here alone.
fn compare(upstream: &Resources, ours: &Resources) -> Vec<String> {
    let mut faults = Vec::new();
    for (name, facts) in upstream {
        match ours.get(name) {
            None => faults.push(format!("missing: {name} {facts}")),
            Some(own) if own != facts => faults.push(format!("differs: {name} {own}\n      not: {name} {facts}")),
            Some(_) => {}
        }
    }
    faults
        .extend(ours.iter().filter(|(name, _)| !upstream.contains_key(*name)).map(|(n, f)| format!("extra: {n} {f}")));
    faults
}

fn parse(text: &str) -> Result<Resources> {
    let line = |line: &str| {
        let mut fields = line.splitn(3, ' ');
        let (Some(version), Some(resource), Some(facts)) = (fields.next(), fields.next(), fields.next()) else {
            bail!("{LIST}: {line}");
        };
        Ok((format!("{version} {resource}"), facts.to_owned()))
    };
    text.lines().map(line).collect()
}

fn ours() -> Resources {
    let kinds = kinds::builtin();
    let mut out = Resources::new();
    for core in [true, false] {
        add(&mut out, &discovery::aggregated(&kinds, core));
    }
    out
}

/// From the release's documents.
fn published(folder: &Path) -> Result<Resources> {
    let read = |name: &str| -> Result<Value> {
        let path = folder.join(name);
        Ok(serde_json::from_slice(&fs::read(&path).with_context(|| path.display().to_string())?)?)
    };
    let mut out = Resources::new();
    add(&mut out, &read("aggregated_v2.json")?);
    plain(&mut out, &read("api__v1.json")?);
    out.retain(|name, _| {
        let version = name.split(' ').next().and_then(|v| v.rsplit('/').next()).unwrap_or_default();
        !(version.contains("alpha") || version.contains("beta"))
    });
    ensure!(out.len() > 100, "only {} resources", out.len());
    Ok(out)
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

fn items<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    value[field].as_array().into_iter().flatten()
}

fn joined(value: &Value, field: &str) -> String {
    items(value, field).filter_map(Value::as_str).collect::<Vec<_>>().join(",")
}

fn group_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

/// What is said of a main resource.
fn facts(resource: &Value, kind: &str, namespaced: bool, singular: &str) -> String {
    let verbs = joined(resource, "verbs");
    let mut out = vec![
        kind.to_owned(),
        if namespaced { "namespaced" } else { "cluster" }.to_owned(),
        if verbs == ALL { "all".to_owned() } else { verbs },
        singular.to_owned(),
    ];
    for (field, name) in [("shortNames", "short"), ("categories", "categories")] {
        let names = joined(resource, field);
        if !names.is_empty() {
            out.push(format!("{name}={names}"));
        }
    }
    out.join(" ")
}

/// Reads an aggregated document.
fn add(out: &mut Resources, document: &Value) {
    for group in items(document, "items") {
        let name = text(&group["metadata"], "name");
        for version in items(group, "versions") {
            let place = group_version(name, text(version, "version"));
            for resource in items(version, "resources") {
                let plural = text(resource, "resource");
                let namespaced = text(resource, "scope") == "Namespaced";
                let kind = text(&resource["responseKind"], "kind");
                out.insert(
                    format!("{place} {plural}"),
                    facts(resource, kind, namespaced, text(resource, "singularResource")),
                );
                for sub in items(resource, "subresources") {
                    let answers = &sub["responseKind"];
                    let own = group_version(text(answers, "group"), text(answers, "version"));
                    let kind = if own == place || own.is_empty() { String::new() } else { format!("{own}/") };
                    let facts = format!("{kind}{} {}", text(answers, "kind"), joined(sub, "verbs"));
                    out.insert(format!("{place} {plural}/{}", text(sub, "subresource")), facts);
                }
            }
        }
    }
}

/// Reads the document of one group and version.
fn plain(out: &mut Resources, document: &Value) {
    let place = text(document, "groupVersion");
    for resource in items(document, "resources") {
        let (name, kind) = (text(resource, "name"), text(resource, "kind"));
        let facts = if name.contains('/') {
            let own = group_version(text(resource, "group"), text(resource, "version"));
            let own = if own.is_empty() || own == place { String::new() } else { format!("{own}/") };
            format!("{own}{kind} {}", joined(resource, "verbs"))
        } else {
            facts(resource, kind, resource["namespaced"] == true, text(resource, "singularName"))
        };
        out.insert(format!("{place} {name}"), facts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_upstream_serves_is_served() {
        let faults = compare(&parse(UPSTREAM).expect("the list can be read"), &ours());
        assert!(faults.is_empty(), "{} differ\n{}", faults.len(), faults.join("\n"));
    }

    #[test]
    fn both_forms_of_documents_give_the_same_lines() {
        let kinds = kinds::builtin();
        let mut short = Resources::new();
        for (group, version) in [("", "v1"), ("apps", "v1")] {
            plain(&mut short, &discovery::resources(&kinds, group, version).expect("served"));
        }
        let long = ours();
        for (name, facts) in &short {
            assert_eq!(long.get(name), Some(facts), "{name}");
        }
    }
}
