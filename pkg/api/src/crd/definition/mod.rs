//! A CustomResourceDefinition itself: its defaults, and whether it is valid.
//!
//! Paths are those of upstream's internal form, which clients see: what is the same in all versions
//! (with one version: everything) stands at `spec.validation`, `spec.subresources` and
//! `spec.additionalPrinterColumns`.
//!
//! Source: apiextensions-apiserver `pkg/apis/apiextensions/{v1/defaults.go,v1/conversion.go,
//! validation/validation.go}`.

mod conversion;
mod defaults;
mod names;
mod paths;
mod schema;
mod structural;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::{
    decode::Path,
    tree,
    validation::{FieldErrors, Reason, names as rules},
};

/// Fills in what a client may leave out.
pub(crate) fn default(crd: &mut Value) {
    let kind = tree::text(crd, "spec.names.kind").to_owned();
    if tree::text(crd, "spec.names.singular").is_empty() && tree::has(crd, "spec.names") {
        tree::set(crd, "spec.names.singular", kind.to_lowercase());
    }
    if tree::text(crd, "spec.names.listKind").is_empty() && !kind.is_empty() {
        tree::set(crd, "spec.names.listKind", format!("{kind}List"));
    }
    if !tree::has(crd, "spec.conversion") {
        tree::set(crd, "spec.conversion", json!({"strategy": "None"}));
    }
    let service = "spec.conversion.webhook.clientConfig.service";
    if tree::has(crd, service) && !tree::has(crd, &format!("{service}.port")) {
        tree::set(crd, &format!("{service}.port"), 443);
    }
}

/// The name of the version that is stored.
pub(crate) fn storage_version(crd: &Value) -> Option<&str> {
    let versions = tree::items(crd, "spec.versions");
    versions.iter().find(|version| tree::flag(version, "storage")).map(|version| tree::text(version, "name"))
}

/// Checks a new definition.
pub(crate) fn validate(crd: &Value) -> FieldErrors {
    let mut errors = FieldErrors::default();
    let spec = tree::at(crd, "spec");
    let name = tree::text(crd, "metadata.name");
    if name != format!("{}.{}", tree::text(spec, "names.plural"), tree::text(spec, "group")) {
        errors.invalid("metadata.name", name, "must be spec.names.plural+\".\"+spec.group");
    }
    self::spec(&mut errors, crd, false);
    errors.extend(validate_status(crd));
    stored_versions(&mut errors, crd);
    approval(&mut errors, crd, None);
    preserving(&mut errors, crd, None);
    errors
}

/// Checks a change.
pub(crate) fn validate_update(new: &Value, old: &Value) -> FieldErrors {
    let mut errors = FieldErrors::default();
    let established = tree::items(old, "status.conditions")
        .iter()
        .any(|condition| tree::text(condition, "type") == "Established" && tree::text(condition, "status") == "True");
    // An empty object is not nothing here: `status: {}` is a subresource.
    if new.get("spec") != old.get("spec") {
        let bundle = established && !conversion::has_bad_bundle(tree::at(old, "spec.conversion"));
        spec(&mut errors, new, bundle);
        if established {
            errors.immutable("spec.scope", new, old);
            errors.immutable("spec.names.kind", new, old);
        }
        errors.immutable("spec.group", new, old);
        errors.immutable("spec.names.plural", new, old);
    }
    errors.extend(validate_status(new));
    stored_versions(&mut errors, new);
    approval(&mut errors, new, Some(old));
    preserving(&mut errors, new, Some(old));
    errors
}

/// Checks a change of the status.
pub(crate) fn validate_status(crd: &Value) -> FieldErrors {
    let mut errors = FieldErrors::default();
    names::names(&mut errors, tree::at(crd, "status.acceptedNames"), "status.acceptedNames");
    errors
}

/// `bundle`: whether certificates of a webhook must be in order.
fn spec(errors: &mut FieldErrors, crd: &Value, bundle: bool) {
    let spec = tree::at(crd, "spec");
    let group = tree::text(spec, "group");
    let faults = rules::subdomain(group);
    if group.is_empty() {
        errors.required("spec.group", "");
    } else if !faults.is_empty() {
        errors.invalid("spec.group", group, faults.join(","));
    } else if !group.contains('.') {
        errors.invalid("spec.group", group, "should be a domain with at least one dot");
    }
    match tree::text(spec, "scope") {
        "" => errors.required("spec.scope", ""),
        "Cluster" | "Namespaced" => {}
        other => errors.not_supported("spec.scope", other, &["Cluster", "Namespaced"]),
    }
    versions(errors, spec);
    for field in ["plural", "singular", "kind", "listKind"] {
        if tree::text(tree::at(spec, "names"), field).is_empty() {
            errors.required(format!("spec.names.{field}"), "");
        }
    }
    names::names(errors, tree::at(spec, "names"), "spec.names");
    conversion::conversion(errors, tree::at(spec, "conversion"), tree::flag(spec, "preserveUnknownFields"), bundle);
}

/// Where a part of the versions stands, and what it is: once if it is the same in all.
fn parts<'v>(versions: &'v [Value], field: &str, shared: &str, own: &str) -> Vec<(String, &'v Value, usize)> {
    let part = |version: &'v Value| tree::at(version, field);
    match versions {
        [] => Vec::new(),
        [first, rest @ ..] if rest.iter().all(|version| part(version) == part(first)) => {
            vec![(shared.to_owned(), part(first), 0)]
        }
        all => all.iter().enumerate().map(|(at, v)| (format!("spec.versions[{at}].{own}"), part(v), at)).collect(),
    }
}

fn versions(errors: &mut FieldErrors, spec: &Value) {
    let versions = tree::items(spec, "versions");
    for (at, version) in versions.iter().enumerate() {
        let path = format!("spec.versions[{at}]");
        if !tree::has(version, "schema.openAPIV3Schema") {
            errors.required(format!("{path}.schema.openAPIV3Schema"), "");
        }
        let name = tree::text(version, "name");
        let faults = rules::label_1035(name);
        if !faults.is_empty() {
            errors.invalid(format!("{path}.name"), name, faults.join(","));
            if at == 0 {
                errors.invalid("spec.version", name, faults.join(","));
            }
        }
        deprecation(errors, version, &path);
    }
    let any_status = versions.iter().any(|version| tree::has(version, "subresources.status"));
    let schemas = parts(versions, "schema", "spec.validation", "schema");
    let one = schemas.len() == 1;
    let mut patterns = structural::Patterns::default();
    for (path, part, at) in schemas {
        let status = if one { any_status } else { tree::has(&versions[at], "subresources.status") };
        let schema = tree::at(part, "openAPIV3Schema");
        if schema.is_object() {
            self::schema(errors, schema, &format!("{path}.openAPIV3Schema"), status, &mut patterns);
        }
    }
    for (path, part, _) in parts(versions, "subresources", "spec.subresources", "subresources") {
        paths::scale(errors, tree::at(part, "scale"), &path);
    }
    let field = "additionalPrinterColumns";
    for (path, part, _) in parts(versions, field, "spec.additionalPrinterColumns", field) {
        for (at, column) in part.as_array().into_iter().flatten().enumerate() {
            paths::column(errors, column, &format!("{path}[{at}]"));
        }
    }
    for (path, part, at) in parts(versions, "selectableFields", "spec.selectableFields", "selectableFields") {
        let fields = part.as_array().map_or(&[][..], Vec::as_slice);
        paths::selectable(errors, fields, tree::at(&versions[at], "schema.openAPIV3Schema"), &path);
    }
    let mut named: Vec<_> = versions.iter().map(|version| tree::text(version, "name")).collect();
    named.sort_unstable();
    if named.windows(2).any(|pair| pair[0] == pair[1]) {
        errors.invalid("spec.versions", versions.to_vec(), "must contain unique version names");
    }
    if versions.iter().filter(|version| tree::flag(version, "storage")).count() != 1 {
        let detail = "must have exactly one version marked as storage version";
        errors.invalid("spec.versions", versions.to_vec(), detail);
    }
}

fn deprecation(errors: &mut FieldErrors, version: &Value, path: &str) {
    let Some(text) = version.get("deprecationWarning").and_then(Value::as_str) else { return };
    let mut faults = Vec::new();
    if !tree::flag(version, "deprecated") {
        faults.push("can only be set for deprecated versions".to_owned());
    } else {
        if text.len() > 256 {
            faults.push("must be <= 256 characters long".to_owned());
        }
        if text.is_empty() {
            faults.push("must not be an empty string".to_owned());
        }
        if let Some((at, _)) = text.char_indices().find(|(_, c)| c.is_control() || (c.is_whitespace() && *c != ' ')) {
            faults.push(format!(
                "must only contain printable UTF-8 characters; non-printable character found at index {at}"
            ));
        }
    }
    errors.each(format!("{path}.deprecationWarning"), text, faults);
}

/// Fields that the root of a schema may have where the status is a subresource: upstream's names of
/// them, and ours.
const AT_ROOT: [(&str, &str); 22] = [
    ("Description", "description"),
    ("Type", "type"),
    ("Format", "format"),
    ("Title", "title"),
    ("Maximum", "maximum"),
    ("ExclusiveMaximum", "exclusiveMaximum"),
    ("Minimum", "minimum"),
    ("ExclusiveMinimum", "exclusiveMinimum"),
    ("MaxLength", "maxLength"),
    ("MinLength", "minLength"),
    ("Pattern", "pattern"),
    ("MaxItems", "maxItems"),
    ("MinItems", "minItems"),
    ("UniqueItems", "uniqueItems"),
    ("MultipleOf", "multipleOf"),
    ("Required", "required"),
    ("Items", "items"),
    ("Properties", "properties"),
    ("ExternalDocs", "externalDocs"),
    ("Example", "example"),
    ("XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields"),
    ("XValidations", "x-kubernetes-validations"),
];

/// Whether a field says something, as Go sees it.
fn is_set(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false)) && *value != ""
}

fn schema<'s>(
    errors: &mut FieldErrors,
    schema: &'s Value,
    path: &str,
    status: bool,
    patterns: &mut structural::Patterns<'s>,
) {
    if status {
        let kind = tree::text(schema, "type");
        if !kind.is_empty() && kind != "object" {
            let detail =
                "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled";
            errors.invalid(format!("{path}.type"), kind, detail);
        }
        let fields = schema.as_object().into_iter().flatten();
        if fields.filter(|(_, v)| is_set(v)).any(|(key, _)| !AT_ROOT.iter().any(|(_, known)| known == key)) {
            let allowed: Vec<_> = AT_ROOT.iter().map(|(name, _)| *name).collect();
            let detail = format!(
                "only [{}] fields are allowed at the root of the schema if the status subresource is enabled",
                allowed.join(" ")
            );
            errors.invalid(path, schema.clone(), detail);
        }
    }
    if tree::flag(schema, "nullable") {
        errors.forbidden(format!("{path}.nullable"), "nullable cannot be true at the root");
    }
    let root = Path::Field(&Path::Root, path);
    let unsupported = structural::unsupported(schema);
    if unsupported.is_none() {
        let found = structural::validate(schema, &root, patterns);
        let found = if found.is_empty() { defaults::validate(schema, path) } else { found };
        errors.extend(found);
    }
    let found = schema::validate(schema, &root);
    if found.is_empty()
        && errors.is_empty()
        && let Some(why) = unsupported
    {
        errors.invalid(path, "", why);
    }
    errors.extend(found);
}

fn stored_versions(errors: &mut FieldErrors, crd: &Value) {
    const PATH: &str = "status.storedVersions";
    let stored = tree::items(crd, PATH);
    if stored.is_empty() {
        errors.invalid(PATH, Value::Null, "must have at least one stored version");
        return;
    }
    let versions = tree::items(crd, "spec.versions");
    let names: HashSet<_> = versions.iter().map(|version| tree::text(version, "name")).collect();
    let known: HashSet<_> = stored.iter().filter_map(Value::as_str).collect();
    let storage = versions.iter().filter(|version| tree::flag(version, "storage"));
    for name in storage.map(|version| tree::text(version, "name")).filter(|name| !known.contains(name)) {
        if errors.is_full() {
            break;
        }
        errors.invalid(PATH, stored.to_vec(), format!("must have the storage version {name}"));
    }
    for (at, version) in stored.iter().enumerate() {
        let name = version.as_str().unwrap_or_default();
        if !names.contains(name) {
            let detail = format!(
                "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions \
                 until a storage migration ensures no data remains persisted in {name} and removes {name} from \
                 status.storedVersions"
            );
            errors.invalid(format!("{PATH}[{at}]"), name, detail);
        }
    }
}

/// Groups of the community need its approval, or the word that there is none.
fn approval(errors: &mut FieldErrors, new: &Value, old: Option<&Value>) {
    const KEY: &str = "api-approved.kubernetes.io";
    const WHY: &str = "see https://github.com/kubernetes/enhancements/pull/1111";
    let group = tree::text(new, "spec.group");
    let protected = ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|of| group.strip_suffix(of).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')));
    let annotation = |crd: &Value| crd["metadata"]["annotations"][KEY].as_str().unwrap_or_default().to_owned();
    let given = annotation(new);
    let state = |text: &str| match text {
        "" => "missing",
        text if text.starts_with("unapproved") => "bypassed",
        text => match text.split_once("://") {
            Some((scheme, rest)) if !scheme.is_empty() && !rest.is_empty() && !rest.starts_with('/') => "approved",
            _ => "invalid",
        },
    };
    if !protected || old.is_some_and(|old| state(&annotation(old)) == state(&given)) {
        return;
    }
    let path = format!("metadata.annotations[{KEY}]");
    match state(&given) {
        "missing" => {
            errors.required(path, format!("protected groups must have approval annotation {KEY:?}, {WHY}"));
        }
        "invalid" => errors.invalid(
            path,
            given,
            format!(
                "protected groups must have approval annotation {KEY:?} with either a URL or a reason starting with \
                 \"unapproved\", {WHY}"
            ),
        ),
        _ => {}
    }
}

fn preserving(errors: &mut FieldErrors, new: &Value, old: Option<&Value>) {
    const FIELD: &str = "spec.preserveUnknownFields";
    if tree::flag(new, FIELD) && !old.is_some_and(|old| tree::flag(old, FIELD)) {
        let detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in \
                      spec.versions[*].schema instead";
        errors.push(FIELD, Reason::Invalid, true, detail);
    }
}
