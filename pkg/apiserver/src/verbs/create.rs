//! create.

use std::collections::HashSet;

use api::{Status, Value, apply, decode, defaults, kinds::Verbs, meta, validation};
use parking_lot::Mutex;
use rand::Rng as _;

use super::{subresource, update::pending};
use crate::{
    admission::{self, Attributes, Operation},
    auth::Question,
    call::{Call, WriteOptions},
    reply::Reply,
    stored::{self, Stored},
};

/// Tries to find a free generated name.
const TRIES: usize = 8;
/// A generated name's prefix is cut to this length.
const PREFIX: usize = 58;
const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// Answers a create of the main resource.
pub async fn create(call: &Call) -> Result<Reply, Status> {
    let options = call.write_options(false)?;
    let object = call.object(options.validation)?;
    let stored = insert(call, object, &options, true).await?;
    Ok(Reply::Object(201, stored))
}

/// Runs a new object through the stages and commits it. `track`: its managed fields are to be made;
/// apply has made them already.
pub async fn insert(call: &Call, mut object: Value, options: &WriteOptions, track: bool) -> Result<Stored, Status> {
    let kind = &call.kind;
    if kind.verbs == Verbs::Ending {
        return Err(Status::ending(&kind.group, &kind.plural, call.info.verb));
    }
    place(call, &mut object)?;
    if !meta::text(&object, "resourceVersion").is_empty() {
        return Err(Status {
            code: 500,
            reason: "",
            message: "resourceVersion should not be set on objects to be created".to_owned(),
            details: Value::Null,
        });
    }
    let generated = meta::name(&object).is_empty() && !meta::text(&object, "generateName").is_empty();
    for _ in 0..TRIES {
        let mut object = object.clone();
        if generated {
            let prefix: String = meta::text(&object, "generateName").chars().take(PREFIX).collect();
            object["metadata"]["name"] = format!("{prefix}{}", suffix()).into();
        }
        let held = Mutex::default();
        let operation = Operation::Create;
        let attributes = Attributes { call, operation, subresource: "", old: None, generated, held: &held };
        let object = stages(&attributes, object, options, track).await?;
        if options.dry_run {
            let exists = call.server.read(kind, call.namespace(), meta::name(&object)).await?.is_some();
            if exists {
                return Err(Status::already_exists(&kind.group, &kind.plural, meta::name(&object)));
            }
            return Ok(Stored::new(stored::encode(&stored_form(call, object)), 0)?);
        }
        let name = meta::name(&object).to_owned();
        still_taken(call)?;
        match write(call, object, 0, track).await? {
            Some(stored) => return Ok(stored),
            None if generated => {}
            // What is written along with it was there already: decide afresh.
            None if call.server.read(kind, call.namespace(), &name).await?.is_none() => {}
            None => return Err(Status::already_exists(&kind.group, &kind.plural, &name)),
        }
    }
    if !generated {
        let why = "what is written along with the object changed with every try; please try again";
        return Err(Status::conflict(&kind.group, &kind.plural, meta::name(&object), why));
    }
    let mut status = Status::already_exists(&kind.group, &kind.plural, meta::text(&object, "generateName"));
    status.message = format!("{}, the server was not able to generate a unique name for the object", status.message);
    Err(status)
}

/// Refuses what would be written after the definition of its kind has gone: the request may have taken its row long
/// ago, and waited for its turn and its body since.
fn still_taken(call: &Call) -> Result<(), Status> {
    let kind = &call.kind;
    match call.server.kinds().by_resource(&kind.group, &kind.version, &kind.plural) {
        Some(row) if row.verbs == Verbs::Ending => Err(Status::ending(&kind.group, &kind.plural, call.info.verb)),
        Some(row) if row.namespaced == kind.namespaced => Ok(()),
        _ => Err(Status::no_such_path()),
    }
}

/// Makes the object that an update or an apply has not found, if the user may create it; `None` if it
/// is there by now.
pub async fn missing(
    call: &Call,
    mut object: Value,
    options: &WriteOptions,
    track: bool,
) -> Result<Option<Stored>, Status> {
    let question = Question { verb: "create".to_owned(), ..Question::of(&call.info, &call.query) };
    call.server.authorizer.check(&call.kinds, &call.user, &question).await?;
    let uid = meta::text(&object, "uid");
    if !uid.is_empty() {
        return Err(call.conflict(&format!(
            "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        )));
    }
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("resourceVersion");
    }
    match insert(call, object, options, track).await {
        Ok(stored) => Ok(Some(stored)),
        Err(status) if status.reason == "AlreadyExists" && !options.dry_run => Ok(None),
        Err(status) => Err(status),
    }
}

/// Writes an object; where it is too large for that, without its managed fields, if it may: an apply
/// needs them.
pub async fn write(call: &Call, object: Value, expected: i64, track: bool) -> Result<Option<Stored>, Status> {
    let mut form = stored_form(call, object);
    match call.server.write(&call.kind, &form, expected).await {
        Err(status) if status.code == 413 && track => {
            if let Some(metadata) = form["metadata"].as_object_mut() {
                metadata.remove("managedFields");
            }
            call.server.write(&call.kind, &form, expected).await
        }
        written => written,
    }
}

/// An object in the form in which it is stored.
pub fn stored_form(call: &Call, mut object: Value) -> Value {
    call.kind.to_storage(call.kinds.stored(&call.kind), &mut object);
    object
}

/// Leaves out owners that are there twice, and says so.
pub fn dedupe_owners(call: &Call, object: &mut Value, admitted: bool) {
    let Some(Value::Array(owners)) = object["metadata"].get_mut("ownerReferences") else { return };
    // By their text: there may be as many as a body holds.
    let (mut seen, mut twice) = (HashSet::new(), Vec::new());
    owners.retain(|owner| {
        let first = seen.insert(owner.to_string());
        if !first {
            twice.push(owner["uid"].as_str().unwrap_or_default().to_owned());
        }
        first
    });
    if !twice.is_empty() {
        let after = if admitted { " after mutating admission happens" } else { "" };
        call.warn(format!(
            ".metadata.ownerReferences contains duplicate entries{after}; API server dedups owner references in 1.20+, \
             and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
            twice.join(", ")
        ));
    }
}

fn suffix() -> String {
    let mut random = rand::rng();
    (0..5).map(|_| char::from(LETTERS[random.random_range(0..LETTERS.len())])).collect()
}

/// Puts the object where the URL says, or refuses.
pub fn place(call: &Call, object: &mut Value) -> Result<(), Status> {
    if !call.kind.namespaced {
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.remove("namespace");
        }
        return Ok(());
    }
    let wanted = call.namespace();
    match meta::namespace(object) {
        "" => object["metadata"]["namespace"] = wanted.into(),
        given if given == wanted => {}
        _ => {
            return Err(Status::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            ));
        }
    }
    Ok(())
}

/// What no client gives an object.
fn wipe_metadata(object: &mut Value) {
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "generation", "resourceVersion"] {
        object["metadata"].as_object_mut().map(|metadata| metadata.remove(field));
    }
}

/// What the server decides about a new object's metadata.
fn own_metadata(call: &Call, object: &mut Value) {
    let Some(metadata) = object["metadata"].as_object_mut() else { return };
    metadata.insert("uid".to_owned(), uuid::Uuid::new_v4().to_string().into());
    metadata.insert("creationTimestamp".to_owned(), call.timestamp().into());
    if call.kind.strategy.has_generation() {
        metadata.insert("generation".to_owned(), 1.into());
    }
    let initial = call.kind.strategy.initial_finalizers();
    if !initial.is_empty() {
        let finalizers = metadata.entry("finalizers").or_insert_with(|| Value::Array(Vec::new()));
        for finalizer in initial {
            if let Some(list) = finalizers.as_array_mut()
                && !list.iter().any(|f| f == finalizer)
            {
                list.push((*finalizer).into());
            }
        }
    }
}

async fn stages(
    attributes: &Attributes<'_>,
    mut object: Value,
    options: &WriteOptions,
    track: bool,
) -> Result<Value, Status> {
    let call = attributes.call;
    let kind = &call.kind;
    defaults::apply(&kind.schema, kind.root, &mut object);
    kind.strategy.default(&mut object);
    if subresource::has_status(kind) && !kind.strategy.keeps_status_on_create() {
        decode::clear(&kind.schema, kind.root, &mut object, "status");
    }
    dedupe_owners(call, &mut object, false);
    wipe_metadata(&mut object);
    // What admission adds is nobody's.
    if track {
        let api_version = kind.api_version();
        let track = apply::Track {
            schema: &kind.schema,
            root: kind.root,
            old: None,
            manager: &options.manager,
            api_version: &api_version,
            subresource: "",
            now: call.now,
        };
        apply::track_update(track, &mut object);
    }
    admission::mutate(attributes, &mut object).await?;
    dedupe_owners(call, &mut object, true);
    own_metadata(call, &mut object);
    kind.strategy.prepare_for_create(&mut object);
    if object["status"].is_null() {
        decode::clear(&kind.schema, kind.root, &mut object, "status");
    }
    let mut errors = validation::metadata(kind, &object);
    errors.extend(kind.strategy.validate(&object));
    errors.extend(kind.strategy.validate_create(&object));
    if !errors.is_empty() {
        let name = meta::name(&object);
        let name = if name.is_empty() { meta::text(&object, "generateName") } else { name };
        return Err(Status::invalid(&kind.group, &kind.kind, name, &errors));
    }
    admission::validate(attributes, &object).await?;
    debug_assert!(
        !pending(kind, &object) || object["metadata"]["deletionTimestamp"].is_null(),
        "new objects are not going"
    );
    Ok(object)
}
