//! Joins OpenAPI definitions with Go structs into the rows of the table.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{
    gosource::{GoField, Sources},
    openapi::{Definitions, reference},
};

/// Types by definition name.
pub type Table = BTreeMap<String, Def>;

/// An object type.
pub struct Def {
    pub atomic: bool,
    pub fields: BTreeMap<String, FieldFacts>,
}

/// A field, as the table has it.
pub struct FieldFacts {
    pub shape: Shape,
    pub go: GoField,
    pub required: bool,
    pub default: Option<String>,
    pub granular: bool,
    /// Comma-separated strategies and the merge key.
    pub patch: (String, Option<String>),
}

/// Mirror of `api::schema::Shape`.
#[derive(Clone, PartialEq)]
pub enum Shape {
    /// Named as the constant in `api::schema::build`.
    Scalar(&'static str),
    /// A type, by the function that makes the shape.
    Typed(&'static str, String),
    List(Box<Shape>, ListKind),
    Map(Box<Shape>, bool),
}

#[derive(Clone, PartialEq)]
pub enum ListKind {
    Atomic,
    Set,
    /// Key names with defaults as JSON text.
    Map(Vec<(String, Option<String>)>),
}

/// Definitions that are not objects of the table, and the shape they have.
const SPECIAL: &[(&str, &str)] = &[
    ("io.k8s.apimachinery.pkg.api.resource.Quantity", "QUANTITY"),
    ("io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1", "ANY"),
    ("io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime", "MICRO_TIME"),
    ("io.k8s.apimachinery.pkg.apis.meta.v1.Patch", "ANY"),
    ("io.k8s.apimachinery.pkg.apis.meta.v1.Time", "TIME"),
    ("io.k8s.apimachinery.pkg.runtime.RawExtension", "ANY"),
    ("io.k8s.apimachinery.pkg.util.intstr.IntOrString", "INT_OR_STRING"),
    ("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON", "ANY"),
];

const JSON_SCHEMA: &str = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";

/// Flag, list of objects or list of strings besides [`JSON_SCHEMA`], by the suffix of the name.
const CHOICES: &[(&str, &str)] = &[("OrArray", "or_list"), ("OrBool", "or_bool"), ("OrStringArray", "or_strings")];

fn choice(name: &str) -> Option<&'static str> {
    let suffix = name.strip_prefix(JSON_SCHEMA)?;
    CHOICES.iter().find(|(s, _)| *s == suffix).map(|(_, shape)| *shape)
}

fn special(name: &str) -> Option<&'static str> {
    SPECIAL.iter().find(|(n, _)| *n == name).map(|(_, shape)| *shape)
}

/// All rows.
pub fn join(definitions: &Definitions, sources: &mut Sources) -> Result<Table> {
    let mut table = Table::new();
    for (name, schema) in definitions {
        if special(name).is_none() && choice(name).is_none() {
            let def = define(definitions, sources, name, schema).with_context(|| name.clone())?;
            table.insert(name.clone(), def);
        }
    }
    Ok(table)
}

fn define(definitions: &Definitions, sources: &mut Sources, name: &str, schema: &Value) -> Result<Def> {
    let (package, ty) = go_name(name)?;
    let mut go = sources.fields(&package, ty)?.with_context(|| format!("no struct {ty} in {package}"))?;
    let required = |field: &str| schema["required"].as_array().is_some_and(|r| r.iter().any(|f| f == field));
    let mut fields = BTreeMap::new();
    for (field, property) in schema["properties"].as_object().into_iter().flatten() {
        let go = go.remove(field).with_context(|| format!("no struct field for {field}"))?;
        let duration = go.ty.ends_with("metav1.Duration");
        let shape = if duration { Shape::Scalar("DURATION") } else { shape(definitions, property)? };
        let text = |key: &str| property[key].as_str().map(str::to_owned);
        let facts = FieldFacts {
            shape,
            required: required(field),
            default: go.default.then(|| property["default"].to_string()),
            granular: property["x-kubernetes-map-type"] == "granular",
            patch: (text("x-kubernetes-patch-strategy").unwrap_or_default(), text("x-kubernetes-patch-merge-key")),
            go,
        };
        fields.insert(field.clone(), facts);
    }
    Ok(Def { atomic: schema["x-kubernetes-map-type"] == "atomic", fields })
}

/// Import path and name of the Go type behind a definition.
fn go_name(definition: &str) -> Result<(String, &str)> {
    let (package, ty) = definition.rsplit_once('.').context("definition without a package")?;
    let path = package.strip_prefix("io.k8s.").context("definition outside of io.k8s")?;
    Ok((format!("k8s.io/{}", path.replace('.', "/")), ty))
}

fn shape(definitions: &Definitions, schema: &Value) -> Result<Shape> {
    if let Some(target) = reference(schema) {
        return Ok(match (special(target), choice(target)) {
            (Some(scalar), _) => Shape::Scalar(scalar),
            (_, Some(function)) => Shape::Typed(function, JSON_SCHEMA.to_owned()),
            _ => Shape::Typed("obj", target.to_owned()),
        });
    }
    let kind = (schema["type"].as_str().unwrap_or_default(), schema["format"].as_str().unwrap_or_default());
    Ok(match kind {
        ("boolean", "") => Shape::Scalar("BOOL"),
        ("integer", "int32") => Shape::Scalar("INT32"),
        ("integer", "int64") => Shape::Scalar("INT64"),
        ("number", "double") => Shape::Scalar("FLOAT"),
        ("string", "") => Shape::Scalar("STRING"),
        ("string", "byte") => Shape::Scalar("BYTES"),
        ("string", "date-time") => Shape::Scalar("TIME"),
        ("array", "") => Shape::List(Box::new(shape(definitions, &schema["items"])?), list_kind(definitions, schema)?),
        ("object", "") if schema["additionalProperties"].is_object() => Shape::Map(
            Box::new(shape(definitions, &schema["additionalProperties"])?),
            schema["x-kubernetes-map-type"] == "atomic",
        ),
        other => bail!("unknown type {other:?}"),
    })
}

fn list_kind(definitions: &Definitions, schema: &Value) -> Result<ListKind> {
    Ok(match schema["x-kubernetes-list-type"].as_str() {
        None | Some("atomic") => ListKind::Atomic,
        Some("set") => ListKind::Set,
        Some("map") => {
            let item = reference(&schema["items"]).context("an associative list of scalars")?;
            let keys = schema["x-kubernetes-list-map-keys"].as_array().context("an associative list without keys")?;
            let key = |name: &Value| {
                let name = name.as_str().unwrap_or_default();
                let default = &definitions[item]["properties"][name]["default"];
                (name.to_owned(), (!default.is_null()).then(|| default.to_string()))
            };
            ListKind::Map(keys.iter().map(key).collect())
        }
        Some(other) => bail!("unknown list type {other}"),
    })
}
