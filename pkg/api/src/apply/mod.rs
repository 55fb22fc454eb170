//! Server-side apply, and who owns which field.
//!
//! Each object keeps in `metadata.managedFields` which manager set which fields, by apply or by
//! any other write. [`apply`] merges a configuration into the live object: its fields become the
//! manager's, fields that the manager applied before and does not apply now go (unless somebody
//! else owns them), and a field that another manager owns with another value is a conflict, or
//! changes hands with `force`. [`track_update`] keeps the record at every other write.
//!
//! Worked example. `a` applies `{spec: {replicas: 1, paused: true}}` and owns both fields. `b`
//! applies `{spec: {replicas: 2}}`: 409, `Apply failed with 1 conflict: conflict with "a":
//! .spec.replicas`. `b` forces it: now `b` owns `.spec.replicas` and `a` owns `.spec.paused`. `a`
//! applies `{spec: {}}`: `paused` goes, `replicas` stays at 2, and the entry of `a` goes.
//!
//! | | |
//! |---|---|
//! | Guarantees | Applying the same configuration again changes nothing, not even the time of the entry. An entry always owns something. |
//! | Assumptions | Entries of all versions of a group name fields alike: there is no conversion. What the endpoint resets is restored by the caller after an apply (and before [`track_update`]). |
//! | Caveats | Fields that are null in the result (an applied `null`) are for the caller's decoding to drop. |
//!
//! Where this differs from upstream, so that the guarantees hold: an applied empty list is owned
//! (upstream only owns empty objects), an object that pruning empties is kept if somebody applied
//! it as empty, and quantities are compared by value.
//!
//! Source: KEP-555; structured-merge-diff `merge`, `typed`, `fieldpath`; apimachinery
//! `util/managedfields`.

mod managed;
mod merge;
mod set;
mod walk;

use jiff::Timestamp;
use serde_json::{Value, json};

pub use self::set::{Element, Literal, Set};
use self::{
    managed::{Entry, Managed, Manager, Operation, is_reset, rfc3339},
    set::path_text,
    walk::{Place, compare, field_set, reconcile, remove, with_named_fields},
};
use crate::{
    Status,
    schema::{Schema, Shape, TypeId},
};

/// Where `kubectl apply` without `--server-side` keeps what it applied.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Fields that nobody owns.
const NEVER_OWNED: [&[&str]; 12] = [
    &["apiVersion"],
    &["kind"],
    &["metadata"],
    &["metadata", "name"],
    &["metadata", "namespace"],
    &["metadata", "creationTimestamp"],
    &["metadata", "selfLink"],
    &["metadata", "uid"],
    &["metadata", "clusterName"],
    &["metadata", "generation"],
    &["metadata", "managedFields"],
    &["metadata", "resourceVersion"],
];

/// A server-side apply.
pub struct Apply<'a> {
    /// Where `root` is looked up.
    pub schema: &'a Schema,
    /// The type of the object.
    pub root: TypeId,
    /// The object as it is; `None` for a new one.
    pub live: Option<&'a Value>,
    /// The configuration.
    pub applied: &'a Value,
    /// `fieldManager`.
    pub manager: &'a str,
    /// Version of the request.
    pub api_version: &'a str,
    /// `status`, …; empty for the main resource.
    pub subresource: &'a str,
    /// Take fields from other managers.
    pub force: bool,
    /// When.
    pub now: Timestamp,
}

/// A write other than apply.
pub struct Track<'a> {
    /// Where `root` is looked up.
    pub schema: &'a Schema,
    /// The type of the object.
    pub root: TypeId,
    /// The object as it was; `None` at creation.
    pub old: Option<&'a Value>,
    /// `fieldManager`, or the user agent up to the first `/`.
    pub manager: &'a str,
    /// Version of the request.
    pub api_version: &'a str,
    /// `status`, …; empty for the main resource.
    pub subresource: &'a str,
    /// When.
    pub now: Timestamp,
}

/// What happened to an apply that did not succeed.
enum Failure {
    Conflicts(Vec<(Manager, Vec<Element>)>),
    Other(Status),
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        Failure::Other(status)
    }
}

/// Checks that a configuration names the kind that the endpoint serves.
pub fn expect_kind(applied: &Value, api_version: &str, kind: &str) -> Result<(), Status> {
    let text = |field: &str| applied[field].as_str().unwrap_or_default();
    if text("apiVersion") == api_version && text("kind") == kind {
        return Ok(());
    }
    let (group, version) = text("apiVersion").split_once('/').unwrap_or(("", text("apiVersion")));
    Err(Status::bad_request(format!("invalid object type: {group}/{version}, Kind={}", text("kind"))))
}

/// Merges a configuration into an object. Gives the merged object with its new `managedFields`.
///
/// # Errors
/// 409 for conflicts, 400 for a configuration that is malformed, of another version, or has
/// `managedFields`.
pub fn apply(request: Apply<'_>) -> Result<Value, Status> {
    let applied = request.applied;
    let version = applied["apiVersion"].as_str().unwrap_or_default();
    if version != request.api_version {
        return Err(Status::bad_request(format!(
            "Incorrect version specified in apply patch. Specified patch version: {version}, expected: {}",
            request.api_version
        )));
    }
    if !applied["metadata"]["managedFields"].is_null() {
        return Err(Status::bad_request("metadata.managedFields must be nil"));
    }
    let root = Shape::Object(request.root);
    let place = Place::root(request.schema, &root);
    merge::check(place, applied, &mut String::new()).map_err(|fault| {
        Status::bad_request(format!("failed to create typed patch object ({}): {fault}", described(applied)))
    })?;
    let applied = &without_reset_fields(&request);

    let mut live = request.live.cloned().unwrap_or_else(|| json!({}));
    let recorded = take_managed_fields(&mut live);
    let mut managed =
        Managed::decode(&recorded).map_err(|e| Status::internal(format!("failed to decode managed fields: {e}")))?;
    if managed.0.is_empty() && request.live.is_some() {
        let manager = Manager::new("before-first-apply", Operation::Update, request.api_version, request.subresource);
        record_update(place, &json!({}), &live, &mut managed, manager, request.now);
    }
    for entry in managed.0.values_mut() {
        entry.set = reconcile(place, &entry.set);
    }

    let mut result = merge_and_prune(place, &live, applied, managed.clone(), &request, request.force);
    if let (Err(Failure::Conflicts(conflicts)), "kubectl") = (&mut result, request.manager) {
        // What the client-side apply set and nobody changed since may be taken without force.
        let allowed = last_applied(place, &live, request.api_version).unwrap_or_default();
        let rest: Vec<_> = conflicts.drain(..).filter(|(_, path)| !allowed.contains(path)).collect();
        result = if rest.is_empty() {
            merge_and_prune(place, &live, applied, managed, &request, true)
        } else {
            Err(Failure::Conflicts(rest))
        };
    }
    let (mut object, managed) = result.map_err(|failure| match failure {
        Failure::Conflicts(conflicts) => conflict(&conflicts),
        Failure::Other(status) => status,
    })?;
    if request.manager == "kubectl" {
        renew_last_applied(&mut object, request.applied);
    }
    set_managed_fields(&mut object, managed.encode());
    Ok(object)
}

/// Brings `managedFields` of a changed or new object up to date.
///
/// Managed fields that the client sent count, except for subresources: `[]` or `[{}]` forgets
/// all of them, anything that cannot be read is ignored.
pub fn track_update(request: Track<'_>, new: &mut Value) {
    let root = Shape::Object(request.root);
    let place = Place::root(request.schema, &root);
    let nothing = json!({});
    let old = request.old.unwrap_or(&nothing);
    let recorded = &old["metadata"]["managedFields"];
    let sent = take_managed_fields(new);
    let from_old = || Managed::decode(recorded).unwrap_or_default();
    let mut managed = if !request.subresource.is_empty() {
        from_old()
    } else if is_reset(&sent) {
        Managed::default()
    } else {
        Managed::decode(&sent).ok().filter(|managed| !managed.0.is_empty()).unwrap_or_else(from_old)
    };
    // An object whose record was taken away stays without one, until it is applied to.
    if managed.0.is_empty() && request.old.is_some() {
        return;
    }
    for entry in managed.0.values_mut() {
        entry.set = reconcile(place, &entry.set);
    }
    let manager = Manager::new(request.manager, Operation::Update, request.api_version, request.subresource);
    record_update(place, old, new, &mut managed, manager, request.now);
    managed.cap();
    set_managed_fields(new, managed.encode());
}

/// Gives what changed to the manager, and takes it from all others.
fn record_update(place: Place<'_>, old: &Value, new: &Value, managed: &mut Managed, manager: Manager, now: Timestamp) {
    let change = compare(place, old, new);
    let set = change.modified.union(&change.added);
    managed.take(&set.union(&change.removed), None);
    let set = set.difference(&never_owned());
    if set.is_empty() {
        return;
    }
    let before = managed.0.get(&manager).map(|entry| entry.set.clone()).unwrap_or_default();
    let entry = Entry { api_version: manager.api_version.clone(), time: Some(rfc3339(now)), set: set.union(&before) };
    managed.put(manager, entry);
}

/// One attempt to apply: the object and the managers, or the conflicts.
fn merge_and_prune(
    place: Place<'_>,
    live: &Value,
    applied: &Value,
    mut managed: Managed,
    request: &Apply<'_>,
    force: bool,
) -> Result<(Value, Managed), Failure> {
    let manager = Manager::new(request.manager, Operation::Apply, request.api_version, request.subresource);
    let merged = merge::merge(place, Some(live), applied);
    let last = managed.0.remove(&manager);
    let set = field_set(place, applied);
    let entry = Entry { api_version: request.api_version.to_owned(), time: None, set: set.difference(&never_owned()) };
    managed.0.insert(manager.clone(), Entry { set, ..entry.clone() });
    let object = match &last {
        Some(last) => prune(place, &merged, &last.set, &managed),
        None => merged,
    };

    let change = compare(place, live, &object);
    let changed = change.modified.union(&change.added);
    let others = managed.0.iter().filter(|(other, _)| **other != manager);
    let conflicts: Vec<_> = others
        .flat_map(|(other, entry)| entry.set.intersection(&changed).paths().into_iter().map(|p| (other.clone(), p)))
        .collect();
    if !force && !conflicts.is_empty() {
        return Err(Failure::Conflicts(conflicts));
    }
    managed.take(&changed.union(&change.removed), Some(&manager));
    let unchanged = object == *live && last.as_ref().is_some_and(|last| last.set == entry.set);
    let time = last.and_then(|last| last.time).filter(|_| unchanged).unwrap_or_else(|| rfc3339(request.now));
    managed.put(manager, Entry { time: Some(time), ..entry });
    Ok((object, managed))
}

/// Removes what was applied last time and is in nobody's set now. An object or list that is emptied
/// by that goes too, unless somebody applied it as empty.
fn prune(place: Place<'_>, merged: &Value, last: &Set, managed: &Managed) -> Value {
    let (owned, applied) = managed.unions();
    let last = with_named_fields(place, last);
    let all = with_named_fields(place, &field_set(place, merged));
    let without = |gone: &Set| remove(place, merged, gone, Some(&applied));
    let left = |pruned: &Value| with_named_fields(place, &field_set(place, pruned));
    // Without the fields of last time, then with those again that somebody owns.
    let pruned = without(&last);
    let kept = left(&pruned).union(&with_named_fields(place, &owned));
    let pruned = without(&all.difference(&kept));
    // What lay below a removed item but was not applied last time comes back as well.
    without(&all.difference(&left(&pruned)).intersection(&last))
}

/// The configuration without what the endpoint ignores: the status on the main resource where it is
/// a subresource, everything else on `/status`.
fn without_reset_fields(request: &Apply<'_>) -> Value {
    let mut applied = request.applied.clone();
    let root = request.schema.get(request.root);
    let Some(fields) = applied.as_object_mut() else { return applied };
    if request.subresource == "status" {
        fields.retain(|name, _| ["apiVersion", "kind", "metadata", "status"].contains(&name.as_str()));
        if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
            metadata.retain(|name, _| ["name", "namespace", "uid", "resourceVersion"].contains(&name.as_str()));
        }
    } else if request.subresource.is_empty() {
        let status = || matches!(root.field("status").map(|f| &f.shape), Some(Shape::Object(_)));
        let built_in = || root.name.starts_with("io.k8s.") && status();
        if request.schema.custom.as_ref().map_or_else(built_in, |custom| custom.has_status()) {
            fields.remove("status");
        }
    }
    applied
}

/// The fields that the last client-side apply set and that still have its values.
fn last_applied(place: Place<'_>, live: &Value, api_version: &str) -> Option<Set> {
    let text = live["metadata"]["annotations"].get(LAST_APPLIED)?.as_str()?;
    let last: Value = serde_json::from_str(text).ok()?;
    if last["apiVersion"].as_str() != Some(api_version) {
        return None;
    }
    merge::check(place, &last, &mut String::new()).ok()?;
    let change = compare(place, &last, live);
    let changed = change.modified.union(&change.added).union(&change.removed);
    Some(field_set(place, &last).difference(&changed))
}

/// Keeps the annotation of client-side apply in step, so that users can go back to it.
fn renew_last_applied(object: &mut Value, applied: &Value) {
    let Some(annotation) = object.pointer_mut("/metadata/annotations").and_then(|a| a.get_mut(LAST_APPLIED)) else {
        return;
    };
    if annotation.as_str().is_none_or(str::is_empty) {
        return;
    }
    let mut applied = applied.clone();
    if let Some(Value::Object(annotations)) = applied.pointer_mut("/metadata/annotations") {
        annotations.remove(LAST_APPLIED);
    }
    *annotation = format!("{applied}\n").into();
}

fn never_owned() -> Set {
    let mut set = Set::default();
    for path in NEVER_OWNED {
        set.insert(&path.iter().map(|name| Element::field(name)).collect::<Vec<_>>());
    }
    set
}

fn take_managed_fields(object: &mut Value) -> Value {
    let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
    metadata.and_then(|metadata| metadata.remove("managedFields")).unwrap_or_default()
}

fn set_managed_fields(object: &mut Value, managed_fields: Value) {
    if managed_fields.is_null() {
        take_managed_fields(object);
    } else if object.is_object() {
        if !object["metadata"].is_object() {
            object["metadata"] = json!({});
        }
        object["metadata"]["managedFields"] = managed_fields;
    }
}

/// `namespace/name; group/version, Kind=Kind`
fn described(object: &Value) -> String {
    let version = object["apiVersion"].as_str().unwrap_or_default();
    let version = if version.contains('/') { version.to_owned() } else { format!("/{version}") };
    let kind = object["kind"].as_str().unwrap_or_default();
    format!("{}/{}; {version}, Kind={kind}", crate::meta::namespace(object), crate::meta::name(object))
}

/// 409 with one cause to each conflict.
fn conflict(conflicts: &[(Manager, Vec<Element>)]) -> Status {
    let message = match conflicts {
        [(manager, path)] => {
            format!("Apply failed with 1 conflict: conflict with {}: {}", manager.shown(), path_text(path))
        }
        many => {
            let mut lines = Vec::with_capacity(many.len());
            let mut last = None;
            for (manager, path) in many {
                if last.replace(manager) != Some(manager) {
                    lines.push(format!("conflicts with {}:", manager.shown()));
                }
                lines.push(format!("- {}", path_text(path)));
            }
            format!("Apply failed with {} conflicts: {}", many.len(), lines.join("\n"))
        }
    };
    let cause = |(manager, path): &(Manager, Vec<Element>)| {
        let message = format!("conflict with {}", manager.shown());
        json!({"reason": "FieldManagerConflict", "message": message, "field": path_text(path)})
    };
    let causes: Value = conflicts.iter().map(cause).collect();
    Status { code: 409, reason: "Conflict", message, details: json!({ "causes": causes }) }
}

#[cfg(test)]
#[cfg(test)]
mod tests;
