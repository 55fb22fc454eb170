//! Writes the table as Rust: one file to an API package, one line to a field, so that a new release
//! shows as a small difference.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use super::facts::{Def, FieldFacts, ListKind, Shape, Table};

/// Writes what differs and removes what is gone; the count of files touched.
pub fn write(table: &Table) -> Result<usize> {
    let mut packages: BTreeMap<String, BTreeMap<&str, &Def>> = BTreeMap::new();
    for (name, def) in table {
        packages.entry(module_name(name)?).or_default().insert(name, def);
    }
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for (module, types) in &packages {
        files.insert(format!("{module}.rs"), package_file(module, types)?);
    }
    files.insert("ids.rs".to_owned(), ids_file(table)?);
    files.insert("mod.rs".to_owned(), index_file(table, packages.keys())?);

    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../pkg/api/src/schema/generated");
    fs::create_dir_all(&folder)?;
    let mut changed = 0;
    for entry in fs::read_dir(&folder)? {
        let entry = entry?;
        if !files.contains_key(&*entry.file_name().to_string_lossy()) {
            fs::remove_file(entry.path())?;
            changed += 1;
        }
    }
    for (name, text) in files {
        let path = folder.join(name);
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        fs::write(&path, text).with_context(|| path.display().to_string())?;
        changed += 1;
    }
    Ok(changed)
}

fn header(what: &str) -> String {
    format!("//! {what}\n//!\n//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.\n\n")
}

/// `core_v1` for `io.k8s.api.core.v1.Pod`.
fn module_name(definition: &str) -> Result<String> {
    let (package, _) = definition.rsplit_once('.').context("definition without a package")?;
    let parts: Vec<_> = package.split('.').collect();
    let last = parts[parts.len() - 1];
    let versioned = last.strip_prefix('v').is_some_and(|v| v.starts_with(|c: char| c.is_ascii_digit()));
    Ok(if versioned { format!("{}_{last}", parts[parts.len() - 2]) } else { last.to_owned() })
}

/// `CORE_V1_POD` for `io.k8s.api.core.v1.Pod`.
fn id(definition: &str) -> Result<String> {
    Ok(format!("{}_{}", module_name(definition)?.to_uppercase(), constant(definition)))
}

/// `POD_SPEC` for `io.k8s.api.core.v1.PodSpec`.
fn constant(definition: &str) -> String {
    let name: Vec<char> = definition.rsplit('.').next().unwrap_or(definition).chars().collect();
    let mut out = String::new();
    for (at, c) in name.iter().enumerate() {
        let after_lower = at > 0 && !name[at - 1].is_uppercase();
        let before_lower = at > 0 && name.get(at + 1).is_some_and(|n| n.is_lowercase());
        if c.is_uppercase() && (after_lower || before_lower) {
            out.push('_');
        }
        out.extend(c.to_uppercase());
    }
    out
}

fn ids_file(table: &Table) -> Result<String> {
    let mut out = header("Ids of the built-in types: their place in the table.");
    out.push_str("use crate::schema::TypeId;\n\n");
    let mut seen = BTreeSet::new();
    for (at, name) in table.keys().enumerate() {
        let id = id(name)?;
        writeln!(out, "pub const {id}: TypeId = TypeId({at});")?;
        anyhow::ensure!(seen.insert(id), "{name}: two types of this name");
    }
    Ok(out)
}

fn index_file<'a>(table: &Table, modules: impl Iterator<Item = &'a String>) -> Result<String> {
    let mut out = header("All built-in types, sorted by name.");
    out.push_str("use crate::schema::Type;\n\npub mod ids;\n");
    for module in modules {
        writeln!(out, "mod {module};")?;
    }
    writeln!(out, "\npub(super) static TYPES: [Type; {}] = [", table.len())?;
    for name in table.keys() {
        writeln!(out, "    {}::{},", module_name(name)?, constant(name))?;
    }
    out.push_str("];\n");
    Ok(out)
}

fn package_file(module: &str, types: &BTreeMap<&str, &Def>) -> Result<String> {
    let mut statics = BTreeMap::new();
    let mut body = String::new();
    for (name, def) in types {
        let constant = constant(name);
        let atomic = if def.atomic { "ATOMIC" } else { "0" };
        writeln!(body, "\npub(super) const {constant}: Type = ty(\"{name}\", &{constant}_FIELDS, {atomic});")?;
        writeln!(body, "static {constant}_FIELDS: [Field; {}] = [", def.fields.len())?;
        for (field, facts) in &def.fields {
            writeln!(body, "    {},", field_line(field, facts, &mut statics)?)?;
        }
        body.push_str("];\n");
    }
    let mut out = header(&format!("Types of package `{module}`."));
    out.push_str("#[allow(unused_imports)]\nuse super::{super::build::*, ids::*};\n\n");
    for (name, (ty, value)) in statics {
        writeln!(out, "static {name}: {ty} = {value};")?;
    }
    out.push_str(&body);
    Ok(out)
}

/// Name → type and value of the statics that shapes refer to.
type Statics = BTreeMap<String, (String, String)>;

fn field_line(name: &str, facts: &FieldFacts, statics: &mut Statics) -> Result<String> {
    let go = &facts.go;
    let flags: Vec<_> = [
        (facts.required, "REQUIRED"),
        (go.pointer(), "POINTER"),
        (go.omit_empty, "OMIT_EMPTY"),
        (go.omit_zero, "OMIT_ZERO"),
        (facts.granular, "GRANULAR"),
    ]
    .into_iter()
    .filter_map(|(set, flag)| set.then_some(flag))
    .collect();
    let flags = if flags.is_empty() { "0".to_owned() } else { flags.join(" | ") };
    let shape = shape(&facts.shape, statics)?;
    let number = go.number;
    let patch = patch(facts)?;
    if facts.default.is_none() && go.values.is_empty() && patch == "NO_PATCH" {
        return Ok(match go.inline.as_slice() {
            [] => format!("f(\"{name}\", {number}, {shape}, {flags})"),
            inline => format!("inlined(&{inline:?}, \"{name}\", {number}, {shape}, {flags})"),
        });
    }
    let default = facts.default.as_ref().map_or("None".to_owned(), |d| format!("Some({d:?})"));
    Ok(format!("full(&{:?}, \"{name}\", {number}, {shape}, {flags}, {default}, &{:?}, {patch})", go.inline, go.values))
}

fn patch(facts: &FieldFacts) -> Result<String> {
    let (strategy, key) = &facts.patch;
    Ok(match (strategy.as_str(), key) {
        ("", None) => "NO_PATCH".to_owned(),
        ("replace", None) => "REPLACE".to_owned(),
        ("retainKeys", None) => "RETAIN_KEYS".to_owned(),
        ("merge", None) => "MERGE".to_owned(),
        ("merge", Some(key)) => format!("merge_by(\"{key}\")"),
        ("merge,retainKeys", Some(key)) => format!("merge_retain_by(\"{key}\")"),
        other => anyhow::bail!("unknown patch strategy {other:?}"),
    })
}

/// The expression for a shape.
fn shape(shape: &Shape, statics: &mut Statics) -> Result<String> {
    Ok(match shape {
        Shape::Scalar(name) => (*name).to_owned(),
        Shape::Typed(function, ty) => format!("{function}({})", id(ty)?),
        Shape::List(item, ListKind::Atomic) => format!("list(&{})", inner(item, statics)?),
        Shape::List(item, ListKind::Set) => format!("set(&{})", inner(item, statics)?),
        Shape::List(item, ListKind::Map(keys)) => {
            let item_name = inner(item, statics)?;
            let name = keys.iter().fold(format!("KEYS_{}", item_name.trim_start_matches("OF_")), |name, (key, _)| {
                format!("{name}_{}", constant(key))
            });
            let list: Vec<_> = keys
                .iter()
                .map(|(key, default)| match default {
                    None => format!("key(\"{key}\", None)"),
                    Some(default) => format!("key(\"{key}\", Some({default:?}))"),
                })
                .collect();
            statics.insert(name.clone(), (format!("[Key; {}]", keys.len()), format!("[{}]", list.join(", "))));
            format!("assoc(&{item_name}, &{name})")
        }
        Shape::Map(value, false) => format!("map(&{})", inner(value, statics)?),
        Shape::Map(value, true) => format!("atomic_map(&{})", inner(value, statics)?),
    })
}

/// The static that holds the shape of an item.
fn inner(item: &Shape, statics: &mut Statics) -> Result<String> {
    let name = match item {
        Shape::Scalar(name) => format!("OF_{name}"),
        Shape::Typed("obj", ty) => format!("OF_{}", id(ty)?),
        Shape::Typed(function, ty) => format!("OF_{}_{}", function.to_uppercase(), id(ty)?),
        Shape::List(item, _) => format!("OF_LIST_{}", inner(item, statics)?.trim_start_matches("OF_")),
        Shape::Map(value, _) => format!("OF_MAP_{}", inner(value, statics)?.trim_start_matches("OF_")),
    };
    let value = shape(item, statics)?;
    if let Some((_, old)) = statics.insert(name.clone(), ("Shape".to_owned(), value.clone())) {
        anyhow::ensure!(old == value, "{name} would mean two things");
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_constants() {
        let cases = [
            ("io.k8s.api.core.v1.PodIP", "CORE_V1_POD_IP"),
            ("io.k8s.api.core.v1.ISCSIVolumeSource", "CORE_V1_ISCSI_VOLUME_SOURCE"),
            ("io.k8s.apimachinery.pkg.version.Info", "VERSION_INFO"),
        ];
        for (definition, want) in cases {
            assert_eq!(id(definition).expect("a name"), want);
        }
    }
}
