//! Reads struct fields, tags and enum constants from Go source: as much of the language as API
//! type files use.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::Path,
};

use anyhow::{Context, Result};

use super::modules;

/// Packages read so far, by import path.
#[derive(Default)]
pub struct Sources {
    packages: HashMap<String, Package>,
    modules: HashMap<String, std::path::PathBuf>,
}

/// What is known of one package.
#[derive(Default, Clone)]
struct Package {
    structs: HashMap<String, Vec<GoField>>,
    enums: HashMap<String, Vec<String>>,
    /// Types that are declared as another type.
    aliases: HashMap<String, String>,
    imports: HashMap<String, String>,
}

/// A struct field.
#[derive(Clone, Debug, Default)]
pub struct GoField {
    /// JSON name; empty for an inlined struct.
    pub json: String,
    /// Go type as written.
    pub ty: String,
    /// Protobuf number; 0 for none.
    pub number: u32,
    /// Numbers of the inlined messages it stands in, outermost first.
    pub inline: Vec<u32>,
    pub omit_empty: bool,
    pub omit_zero: bool,
    /// Has a `+default=` marker.
    pub default: bool,
    /// Enum values of its type, or of its items.
    pub values: Vec<String>,
}

impl GoField {
    pub fn pointer(&self) -> bool {
        self.ty.starts_with('*')
    }
}

impl Sources {
    /// Fields by JSON name, inlined structs resolved; `None` where the package has no such struct.
    pub fn fields(&mut self, package: &str, name: &str) -> Result<Option<BTreeMap<String, GoField>>> {
        if let Some(target) = self.package(package)?.aliases.get(name).cloned() {
            let (home, ty) = self.locate(package, &target)?;
            return self.fields(&home, &ty);
        }
        let Some(fields) = self.package(package)?.structs.get(name).cloned() else { return Ok(None) };
        let mut out = BTreeMap::new();
        for mut field in fields {
            if !field.json.is_empty() {
                field.values = self.enum_values(package, &field.ty)?;
                out.insert(field.json.clone(), field);
                continue;
            }
            let (home, ty) = self.locate(package, &field.ty)?;
            let inner = self.fields(&home, &ty)?.with_context(|| format!("{package}.{name}: no struct {ty}"))?;
            for (json, mut inlined) in inner {
                match field.number {
                    // TypeMeta: not part of the protobuf message.
                    0 => inlined.number = 0,
                    outer => inlined.inline.insert(0, outer),
                }
                out.insert(json, inlined);
            }
        }
        Ok(Some(out))
    }

    /// Package and bare name of a Go type that is written in `package`.
    fn locate(&mut self, package: &str, ty: &str) -> Result<(String, String)> {
        let bare = ty.rsplit([']', '*']).next().unwrap_or(ty);
        Ok(match bare.split_once('.') {
            None => (package.to_owned(), bare.to_owned()),
            Some((alias, name)) => {
                let path = self.package(package)?.imports.get(alias).cloned();
                (path.with_context(|| format!("{package}: unknown import {alias}"))?, name.to_owned())
            }
        })
    }

    fn enum_values(&mut self, package: &str, ty: &str) -> Result<Vec<String>> {
        let (home, name) = self.locate(package, ty)?;
        if !home.starts_with("k8s.io/") {
            return Ok(Vec::new());
        }
        Ok(self.package(&home)?.enums.get(&name).cloned().unwrap_or_default())
    }

    fn package(&mut self, path: &str) -> Result<&Package> {
        if !self.packages.contains_key(path) {
            let mut parts = path.splitn(3, '/');
            let module = format!("{}/{}", parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            if !self.modules.contains_key(&module) {
                self.modules.insert(module.clone(), modules::download(&module)?);
            }
            let folder = self.modules[&module].join(parts.next().unwrap_or_default());
            self.packages.insert(path.to_owned(), read_package(&folder)?);
        }
        Ok(&self.packages[path])
    }
}

fn read_package(folder: &Path) -> Result<Package> {
    let mut package = Package::default();
    let mut constants: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        let skip = name.ends_with("_test.go") || name.starts_with("zz_generated") || name.contains("generated");
        if name.ends_with(".go") && !skip {
            read_file(&fs::read_to_string(&path)?, &mut package, &mut constants);
        }
    }
    for (name, values) in &mut package.enums {
        values.clone_from(constants.get(name).unwrap_or(&Vec::new()));
        values.sort();
        values.dedup();
    }
    Ok(package)
}

fn read_file(text: &str, package: &mut Package, constants: &mut BTreeMap<String, Vec<String>>) {
    let mut within: Option<String> = None;
    let mut markers: Vec<&str> = Vec::new();
    for line in text.lines() {
        let code = line.trim();
        if let Some(comment) = code.strip_prefix("//") {
            markers.push(comment.trim());
            continue;
        }
        if let Some(name) = &within {
            if line == "}" {
                within = None;
            } else if let Some(field) = read_field(code, &markers) {
                package.structs.entry(name.clone()).or_default().push(field);
            }
        } else if let Some(rest) = line.strip_prefix("type ") {
            let name = rest.split_whitespace().next().unwrap_or_default().to_owned();
            if rest.contains(" struct {") || rest.contains(" struct{") {
                package.structs.entry(name.clone()).or_default();
                within = (!rest.contains('}')).then_some(name);
            } else if markers.contains(&"+enum") {
                package.enums.insert(name, Vec::new());
            } else if let Some(target) = rest.split_whitespace().last().filter(|t| !t.contains(['[', ')', '}', '{'])) {
                package.aliases.insert(name, target.to_owned());
            }
        } else if let Some((name, value)) = read_constant(code) {
            constants.entry(name).or_default().push(value);
        } else if let Some((alias, path)) = read_import(code) {
            package.imports.insert(alias, path);
        }
        // A blank line does not end a comment that holds markers: API files put one in between.
        if !code.is_empty() {
            markers.clear();
        }
    }
}

fn read_field(code: &str, markers: &[&str]) -> Option<GoField> {
    let (declared, rest) = code.split_once('`')?;
    let (tags, _) = rest.split_once('`')?;
    let mut words = declared.split_whitespace();
    let first = words.next()?;
    // An embedded struct has a type only.
    let ty = words.next().unwrap_or(first).to_owned();
    let json = tag(tags, "json")?;
    let mut options = json.split(',');
    let name = options.next()?.to_owned();
    let options: Vec<_> = options.collect();
    if name == "-" {
        return None;
    }
    let number = tag(tags, "protobuf").and_then(|t| t.split(',').nth(1)?.parse().ok()).unwrap_or(0);
    Some(GoField {
        json: name,
        ty,
        number,
        omit_empty: options.contains(&"omitempty"),
        omit_zero: options.contains(&"omitzero"),
        default: markers.iter().any(|m| m.starts_with("+default=")),
        ..GoField::default()
    })
}

fn tag<'a>(tags: &'a str, key: &str) -> Option<&'a str> {
    let start = tags.find(&format!("{key}:\""))? + key.len() + 2;
    tags[start..].split('"').next()
}

/// `Name Type = "value"` within or behind `const`.
fn read_constant(code: &str) -> Option<(String, String)> {
    let (declared, value) = code.strip_prefix("const ").unwrap_or(code).split_once('=')?;
    let mut words = declared.split_whitespace();
    let (_, ty, None) = (words.next()?, words.next()?, words.next()) else { return None };
    let value = value.trim().strip_prefix('"')?.split('"').next()?;
    Some((ty.to_owned(), value.to_owned()))
}

/// `alias "path"` or `"path"` in an import block.
fn read_import(code: &str) -> Option<(String, String)> {
    let code = code.strip_prefix("import ").unwrap_or(code);
    let (alias, rest) = code.split_once('"')?;
    let path = rest.strip_suffix('"')?;
    let alias = alias.trim();
    if alias.contains(' ') || path.contains(' ') {
        return None;
    }
    let alias = if alias.is_empty() { path.rsplit('/').next()? } else { alias };
    Some((alias.to_owned(), path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_tags_and_enums() {
        let text = r#"
package v1
import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)
// Mode of it.
// +enum
type Mode string
const (
	// On it is.
	ModeOn Mode = "On"
	ModeOff Mode = "Off"
)
type Thing struct {
	metav1.TypeMeta `json:",inline"`
	Source `json:",inline" protobuf:"bytes,2,opt,name=source"`
	// +optional
	// +default="On"
	Mode *Mode `json:"mode,omitempty" protobuf:"bytes,7,opt,name=mode"` // trailing
}
type Source struct {
	Path string `json:"path" protobuf:"bytes,1,opt,name=path"`
}
"#;
        let (mut package, mut constants) = (Package::default(), BTreeMap::new());
        read_file(text, &mut package, &mut constants);
        assert_eq!(constants["Mode"], ["On", "Off"]);
        assert_eq!(package.imports["metav1"], "k8s.io/apimachinery/pkg/apis/meta/v1");
        let thing = &package.structs["Thing"];
        assert_eq!((thing[1].json.as_str(), thing[1].number), ("", 2));
        let mode = &thing[2];
        assert!(mode.pointer() && mode.default && mode.omit_empty);
        assert_eq!((mode.json.as_str(), mode.number), ("mode", 7));
    }
}
