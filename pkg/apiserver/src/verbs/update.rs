//! update, and the way that every change of an existing object takes: read, change, check, compare
//! and swap; again if someone else was faster.

use api::{
    Kind, Status, Value, apply, defaults,
    kinds::{Action, Conversion},
    meta, tree, validation,
};
use parking_lot::Mutex;

use super::{
    create::{stored_form, write},
    read,
};
use crate::{
    admission::{self, Attributes, Operation},
    call::{Call, WriteOptions},
    reply::{Reply, served},
    stored::{self, Stored},
};

/// Writers that may come between before a change is given up.
pub const TRIES: usize = 50;

/// Which part of an object a change may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All but the status.
    Main,
    /// The status, and metadata as upstream allows.
    Status,
    /// `spec.finalizers`.
    Finalize,
    /// One list or some fields of the spec, as the subresource names them.
    Part(Part),
    /// Taken as it is: the server's own changes (bindings).
    Own,
}

/// Parts of an object that have a subresource of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// `spec.ephemeralContainers`.
    EphemeralContainers,
    /// Resources of containers.
    Resize,
    /// `status.conditions` of a signing request.
    Approval,
}

/// How a change is made.
#[derive(Clone, Copy, Debug)]
pub struct Edit {
    /// What it may touch.
    pub scope: Scope,
    /// Managed fields are to be recorded; apply has done so already.
    pub track: bool,
}

/// What became of a change.
pub enum Outcome {
    /// Written (or unchanged).
    Written(Stored),
    /// The last finalizer went, and with it the object: its last state.
    Removed(Stored),
}

impl Outcome {
    /// The object.
    pub fn into_stored(self) -> Stored {
        match self {
            Outcome::Written(stored) | Outcome::Removed(stored) => stored,
        }
    }
}

/// Answers an update of the main resource, or of a subresource that shows the whole object.
pub async fn update(call: &Call, scope: Scope) -> Result<Reply, Status> {
    let options = call.write_options(false)?;
    let mut object = call.object(options.validation)?;
    super::create::place(call, &mut object)?;
    let name = meta::name(&object);
    if name.is_empty() {
        object["metadata"]["name"] = call.info.name.as_str().into();
    } else if name != call.info.name {
        return Err(call.other_name(name));
    }
    super::create::dedupe_owners(call, &mut object, false);
    for _ in 0..TRIES {
        let outcome = modify(call, &options, Edit { scope, track: true }, &mut |_| {
            check_base(call, &object)?;
            Ok(object.clone())
        })
        .await;
        match outcome {
            Ok(outcome) => return Ok(Reply::Object(200, outcome.into_stored())),
            Err(status) if scope == Scope::Main && status == call.not_found() && call.kind.traits.made_by_update => {}
            Err(status) => return Err(status),
        }
        if let Some(stored) = super::create::missing(call, object.clone(), &options, true).await? {
            return Ok(Reply::Object(201, stored));
        }
    }
    // Made and removed by others again and again.
    Err(call.conflict(MODIFIED))
}

/// Refuses an update that does not say what it is based on, where that must be said.
fn check_base(call: &Call, object: &Value) -> Result<(), Status> {
    let kind = &call.kind;
    if !kind.traits.based || !matches!(meta::text(object, "resourceVersion"), "" | "0") {
        return Ok(());
    }
    let mut errors = validation::FieldErrors::default();
    errors.invalid("metadata.resourceVersion", 0, "must be specified for an update");
    Err(Status::invalid(&kind.group, &kind.plural, &call.info.name, &errors))
}

/// Changes the object that the request names. `change` makes the new state from the old one; it may
/// be called several times.
pub async fn modify(
    call: &Call,
    options: &WriteOptions,
    edit: Edit,
    change: &mut (dyn FnMut(&Value) -> Result<Value, Status> + Send),
) -> Result<Outcome, Status> {
    let kind = &call.kind;
    for _ in 0..TRIES {
        let before = read::current(call).await?;
        let old = served(kind, &before)?;
        let new = change(&old)?;
        check_identity(call, &new, &old)?;
        let held = Mutex::default();
        let attributes = Attributes {
            call,
            operation: Operation::Update,
            subresource: &call.info.subresource,
            old: Some(&old),
            generated: false,
            held: &held,
        };
        let new = stages(&attributes, new, &old, options, edit).await?;
        if (new == old || only_times_differ(&new, &old)) && !is_outdated(call, &before, &old)? {
            return Ok(Outcome::Written(before));
        }
        let gone = is_going(&new) && !pending(kind, &new) && grace(&new) == 0;
        if options.dry_run {
            let stored = Stored::new(stored::encode(&stored_form(call, new)), before.revision)?;
            return Ok(if gone { Outcome::Removed(stored) } else { Outcome::Written(stored) });
        }
        if gone {
            let removed = call.server.remove(kind, call.namespace(), &call.info.name, before.revision).await?;
            if removed.is_some() {
                let value = stored::encode(&stored_form(call, new));
                return Ok(Outcome::Removed(Stored::new(value, before.revision)?));
            }
        } else if let Some(stored) = write(call, new, before.revision, edit.track).await? {
            return Ok(Outcome::Written(stored));
        }
    }
    Err(call.conflict(MODIFIED))
}

/// Whether what is stored of a custom resource is of an earlier schema or another version: then an update that
/// changes nothing brings it up to date. `old` is what is served of it.
fn is_outdated(call: &Call, before: &Stored, old: &Value) -> Result<bool, Status> {
    match call.kind.conversion {
        Some(Conversion::Schema) => Ok(stored_form(call, old.clone()) != before.tree()?),
        _ => Ok(false),
    }
}

/// Whether two states differ in the times of managed fields alone, as when admission has undone a
/// change.
fn only_times_differ(new: &Value, old: &Value) -> bool {
    let fields = |object: &Value| object["metadata"]["managedFields"].as_array().map_or(0, Vec::len);
    if fields(new) != fields(old) || new["metadata"]["managedFields"] == old["metadata"]["managedFields"] {
        return false;
    }
    let timeless = |object: &Value| {
        let mut object = object.clone();
        for entry in object["metadata"]["managedFields"].as_array_mut().into_iter().flatten() {
            entry["time"] = Value::Null;
        }
        object
    };
    timeless(new) == timeless(old)
}

/// Said where others were faster.
pub const MODIFIED: &str =
    "the object has been modified; please apply your changes to the latest version and try again";

fn check_identity(call: &Call, new: &Value, old: &Value) -> Result<(), Status> {
    let (uid, had) = (meta::text(new, "uid"), meta::text(old, "uid"));
    if !uid.is_empty() && uid != had {
        return Err(
            call.conflict(&format!("Precondition failed: UID in precondition: {uid}, UID in object meta: {had}"))
        );
    }
    let version = meta::text(new, "resourceVersion");
    if !version.is_empty() && version != "0" && version != meta::text(old, "resourceVersion") {
        return Err(call.conflict(MODIFIED));
    }
    Ok(())
}

/// Whether deletion was asked for.
pub fn is_going(object: &Value) -> bool {
    !object["metadata"]["deletionTimestamp"].is_null()
}

fn grace(object: &Value) -> i64 {
    object["metadata"]["deletionGracePeriodSeconds"].as_i64().unwrap_or(0)
}

/// Whether finalizers hold the object.
pub fn pending(kind: &Kind, object: &Value) -> bool {
    let holds = |list: &Value| list.as_array().is_some_and(|list| !list.is_empty());
    let finalized = kind.subresources.iter().any(|sub| sub.action == Action::Finalize);
    holds(&object["metadata"]["finalizers"]) || (finalized && holds(&object["spec"]["finalizers"]))
}

/// Metadata that no client changes.
const KEPT: [&str; 9] = [
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "generateName",
    "resourceVersion",
];

fn keep_metadata(new: &mut Value, old: &Value) {
    let Some(metadata) = new["metadata"].as_object_mut() else { return };
    metadata.remove("selfLink");
    for field in KEPT {
        match &old["metadata"][field] {
            Value::Null => metadata.remove(field),
            value => metadata.insert(field.to_owned(), value.clone()),
        };
    }
}

/// Cuts a new state down to what the scope may touch.
fn scoped(scope: Scope, kind: &Kind, mut new: Value, old: &Value) -> Value {
    let put = |object: &mut Value, field: &str, value: &Value| {
        if !value.is_null() {
            object[field] = value.clone();
        } else if let Some(fields) = object.as_object_mut() {
            fields.remove(field);
        }
    };
    match scope {
        Scope::Own => new,
        Scope::Main => {
            if super::subresource::has_status(kind) {
                put(&mut new, "status", &old["status"]);
            }
            new
        }
        Scope::Status if kind.is_custom() => {
            let mut object = old.clone();
            put(&mut object, "status", &new["status"]);
            put(&mut object["metadata"], "managedFields", &new["metadata"]["managedFields"]);
            object
        }
        Scope::Status => {
            let mut object = old.clone();
            put(&mut object, "status", &new["status"]);
            put(&mut object, "metadata", &new["metadata"]);
            let owners = old["metadata"]["ownerReferences"].clone();
            put(&mut object["metadata"], "ownerReferences", &owners);
            object
        }
        Scope::Finalize => {
            let mut object = old.clone();
            put(&mut object["spec"], "finalizers", &new["spec"]["finalizers"]);
            object
        }
        Scope::Part(part) => {
            let mut object = old.clone();
            put(&mut object["metadata"], "managedFields", &new["metadata"]["managedFields"]);
            match part {
                Part::EphemeralContainers => {
                    put(&mut object["spec"], "ephemeralContainers", &new["spec"]["ephemeralContainers"]);
                }
                Part::Resize => resize(&mut object, &new),
                Part::Approval => {
                    put(&mut object, "metadata", &new["metadata"]);
                    tree::set(&mut object, "status.conditions", new["status"]["conditions"].clone());
                }
            }
            object
        }
    }
}

fn resize(object: &mut Value, new: &Value) {
    for list in ["containers", "initContainers"] {
        for container in object["spec"].get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            let wanted = new["spec"][list].as_array().into_iter().flatten().find(|c| c["name"] == container["name"]);
            for field in ["resources", "resizePolicy"] {
                if let Some(value) = wanted.map(|c| &c[field]).filter(|value| !value.is_null()) {
                    container[field] = value.clone();
                }
            }
        }
    }
    if !new["spec"]["resources"].is_null() {
        object["spec"]["resources"] = new["spec"]["resources"].clone();
    }
}

async fn stages(
    attributes: &Attributes<'_>,
    mut new: Value,
    old: &Value,
    options: &WriteOptions,
    edit: Edit,
) -> Result<Value, Status> {
    let call = attributes.call;
    let kind = &call.kind;
    if edit.scope != Scope::Own {
        defaults::apply(&kind.schema, kind.root, &mut new);
        kind.strategy.default(&mut new);
    }
    let mut new = scoped(edit.scope, kind, new, old);
    keep_metadata(&mut new, old);
    // What admission changes is nobody's.
    if edit.track {
        let api_version = kind.api_version();
        let track = apply::Track {
            schema: &kind.schema,
            root: kind.root,
            old: Some(old),
            manager: &options.manager,
            api_version: &api_version,
            subresource: &call.info.subresource,
            now: call.now,
        };
        apply::track_update(track, &mut new);
    }
    admission::mutate(attributes, &mut new).await?;
    super::create::dedupe_owners(call, &mut new, true);
    keep_metadata(&mut new, old);
    match edit.scope {
        Scope::Main => kind.strategy.prepare_for_update(&mut new, old),
        Scope::Own => {}
        _ => kind.strategy.prepare_for_subresource(&call.info.subresource, &mut new, old),
    }
    let moves = matches!(edit.scope, Scope::Main | Scope::Part(_) | Scope::Finalize);
    if moves && kind.strategy.has_generation() && kind.strategy.generation_moves(&new, old) {
        let generation = old["metadata"]["generation"].as_i64().unwrap_or(0) + 1;
        new["metadata"]["generation"] = generation.into();
    }
    let mut errors = validation::metadata_update(kind, &new, old);
    if matches!(edit.scope, Scope::Main | Scope::Part(_)) {
        errors.0.extend(kind.strategy.validate(&new).0);
    }
    match edit.scope {
        Scope::Main => errors.extend(kind.strategy.validate_update(&new, old)),
        Scope::Own => {}
        _ => errors.extend(kind.strategy.validate_subresource(&call.info.subresource, &new, old)),
    }
    errors.refuse(&kind.group, &kind.kind, meta::name(old))?;
    admission::validate(attributes, &new).await?;
    Ok(new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_resize_touches_resources_only() {
        let mut pod =
            json!({"spec": {"containers": [{"name": "a", "image": "x", "resources": {"limits": {"cpu": "1"}}}]}});
        let new = json!({"spec": {"nodeName": "n", "containers": [{"name": "a", "image": "y", "resources": {"limits": {"cpu": "2"}}}]}});
        resize(&mut pod, &new);
        assert_eq!(
            pod,
            json!({"spec": {"containers": [{"name": "a", "image": "x", "resources": {"limits": {"cpu": "2"}}}]}})
        );
    }

    #[test]
    fn identity_is_kept() {
        let old = json!({"metadata": {"name": "a", "uid": "1", "resourceVersion": "5", "creationTimestamp": "t"}});
        let mut new = json!({"metadata": {"name": "b", "uid": "2", "deletionTimestamp": "now", "generation": 9, "labels": {"x": "y"}}});
        keep_metadata(&mut new, &old);
        let mut want = old.clone();
        want["metadata"]["labels"] = json!({"x": "y"});
        assert_eq!(new, want);
    }
}
