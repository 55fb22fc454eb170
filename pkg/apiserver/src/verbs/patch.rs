//! patch in its four forms. Apply makes the object where it is missing.

use api::{Status, Value, apply, decode, meta, patch, validation::FieldErrors};
use bytes::Bytes;

use super::{
    create,
    update::{self, Edit, Scope, modify},
};
use crate::{
    body::{FieldValidation, Form},
    call::{Call, WriteOptions},
    negotiate,
    reply::Reply,
};

/// A patch, by its media type.
pub enum Patch {
    /// RFC 6902.
    Json(Bytes),
    /// RFC 7386.
    Merge(Value),
    /// By patch strategies and merge keys.
    Strategic(Value),
    /// Server-side apply.
    Apply(Value),
}

impl Patch {
    /// Whether a request is a server-side apply.
    pub fn is_apply(call: &Call) -> bool {
        call.info.verb == "patch" && negotiate::media_type(&call.headers) == APPLY
    }

    /// Reads the body of a request. `faults` is for what is doubled or unknown in the patch itself.
    pub fn read(call: &Call, faults: &mut Vec<String>) -> Result<Self, Status> {
        let custom = call.kind.is_custom();
        let media = negotiate::media_type(&call.headers);
        let decoded = |yaml: bool| -> Result<decode::Decoded, Status> {
            let failed = |status: Status| {
                let why = status.message.trim_start_matches("couldn't get version/kind; json parse error: ").to_owned();
                Status::bad_request(format!("error decoding patch: {why}"))
            };
            if yaml { decode::yaml(&call.body) } else { decode::json(&call.body) }.map_err(failed)
        };
        let mut tree = |yaml: bool| -> Result<Value, Status> {
            let decoded = decoded(yaml)?;
            let in_yaml = yaml && !decoded.duplicates.is_empty();
            match in_yaml.then(|| decode::yaml_duplicate(&call.body)).flatten() {
                Some(fault) => faults.push(fault),
                None => faults.extend(decode::faults(&decoded.duplicates, &[], None)),
            }
            Ok(decoded.value)
        };
        match media.as_str() {
            "application/json-patch+json" => {
                faults.extend(json_patch_faults(decoded(false)?, &call.body));
                Ok(Patch::Json(call.body.clone()))
            }
            "application/merge-patch+json" => object(tree(false)?).map(Patch::Merge),
            "application/strategic-merge-patch+json" if !custom => object(tree(false)?).map(Patch::Strategic),
            APPLY => object(tree(true)?).map(Patch::Apply),
            _ => {
                let mut accepted = vec!["application/json-patch+json", "application/merge-patch+json"];
                if !custom {
                    accepted.push("application/strategic-merge-patch+json");
                }
                accepted.push(APPLY);
                Err(Status::unsupported_media_type(format!(
                    "the body of the request was in an unknown format - accepted media types include: {}",
                    accepted.join(", ")
                )))
            }
        }
    }

    /// The patched tree; for all but apply.
    pub fn patched(&self, call: &Call, old: &Value) -> Result<Value, Status> {
        match self {
            Patch::Json(operations) => patch::json_patch(old, operations),
            Patch::Merge(tree) => patch::merge_patch(old, tree),
            Patch::Strategic(tree) => patch::strategic(&call.kind.schema, call.kind.root, old, tree),
            Patch::Apply(tree) => Ok(tree.clone()),
        }
    }

    /// Checks what has come out of it: what is wrong there is the patch's fault.
    pub fn checked(
        &self,
        call: &Call,
        form: &Form,
        new: Value,
        faults: &[String],
        validation: FieldValidation,
    ) -> Result<Value, Status> {
        let shown = match self {
            Patch::Strategic(tree) => patch::go_text(tree),
            _ => new.to_string(),
        };
        let all = |unknown: &[String]| [faults, &decode::faults(&[], unknown, None)].concat();
        call.checked(form, new, all, validation).map_err(|status| blamed(&shown, status))
    }
}

const APPLY: &str = "application/apply-patch+yaml";

fn object(tree: Value) -> Result<Value, Status> {
    if tree.is_object() { Ok(tree) } else { Err(Status::bad_request("the patch is not an object")) }
}

/// What is doubled or unknown in the operations of a JSON patch, in upstream's words.
fn json_patch_faults(mut patch: decode::Decoded, text: &[u8]) -> Vec<String> {
    let mut unknown = Vec::new();
    for (at, operation) in patch.value.as_array().into_iter().flatten().enumerate() {
        let known = ["op", "path", "from", "value"];
        let names = operation.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
        unknown.extend(names.filter(|name| !known.contains(name)).map(|name| format!("[{at}].{name}")));
    }
    // What a value holds is not looked into.
    patch.duplicates.retain(|path| !path.contains("].value."));
    let faults = decode::faults(&patch.duplicates, &unknown, Some(text));
    faults.into_iter().map(|fault| format!("json patch {fault}")).collect()
}

/// Answers a patch of the main resource, or of a subresource that shows the whole object.
pub async fn patch(call: &Call, scope: Scope) -> Result<Reply, Status> {
    let options = call.write_options(Patch::is_apply(call))?;
    let mut faults = Vec::new();
    let patch = Patch::read(call, &mut faults)?;
    if let Patch::Apply(applied) = patch {
        return server_side(call, applied, faults, &options, scope).await;
    }
    let outcome = modify(call, &options, Edit { scope, track: true }, &mut |old| {
        let new = patch.patched(call, old)?;
        checked(call, &patch, new, &faults, options.validation)
    })
    .await?;
    Ok(Reply::Object(200, outcome.into_stored()))
}

/// A patched object, checked.
fn checked(
    call: &Call,
    patch: &Patch,
    new: Value,
    faults: &[String],
    validation: FieldValidation,
) -> Result<Value, Status> {
    let new = patch.checked(call, &Form::of(&call.kind), new, faults, validation)?;
    match (meta::name(&new), meta::namespace(&new)) {
        ("", _) => Err(Status::bad_request(format!(
            "the name of the object ({} based on URL) was undeterminable: name must be provided",
            call.info.name
        ))),
        (name, _) if name != call.info.name => Err(call.other_name(name)),
        (_, other) if call.kind.namespaced && !other.is_empty() && other != call.namespace() => {
            Err(Status::bad_request(format!(
                "the namespace of the object ({other}) does not match the namespace on the request ({})",
                call.namespace()
            )))
        }
        _ => Ok(new),
    }
}

/// 422 for a patch in place of the 400 that what came out of it would get as a body.
fn blamed(shown: &str, status: Status) -> Status {
    if status.code != 400 {
        return status;
    }
    // Without the words about the body, which this is not.
    let why = status.message.split_once(" cannot be handled as a ").and_then(|(_, rest)| rest.split_once(": "));
    let mut errors = FieldErrors::default();
    errors.invalid("patch", shown, why.map_or(status.message.as_str(), |(_, why)| why));
    Status::invalid("", "", "", &errors)
}

/// Tells what is doubled in an applied configuration, or refuses it.
pub fn tell(call: &Call, faults: Vec<String>, validation: FieldValidation) -> Result<(), Status> {
    match validation {
        FieldValidation::Strict if !faults.is_empty() => {
            return Err(Status::bad_request(format!("error strict decoding patch: {}", faults.join(", "))));
        }
        FieldValidation::Warn => faults.into_iter().for_each(|fault| call.warn(fault)),
        _ => {}
    }
    Ok(())
}

async fn server_side(
    call: &Call,
    mut applied: Value,
    faults: Vec<String>,
    options: &WriteOptions,
    scope: Scope,
) -> Result<Reply, Status> {
    apply::expect_kind(&applied, &call.kind.api_version(), &call.kind.kind)?;
    if !applied["metadata"].is_object() {
        applied["metadata"] = serde_json::json!({});
    }
    create::place(call, &mut applied)?;
    match meta::name(&applied) {
        "" => applied["metadata"]["name"] = call.info.name.as_str().into(),
        name if name == call.info.name => {}
        name => return Err(call.other_name(name)),
    }
    tell(call, faults, options.validation)?;
    for _ in 0..update::TRIES {
        let mut merge = |live: &Value| merged(call, Some(live), &applied, options);
        let outcome = modify(call, options, Edit { scope, track: false }, &mut merge).await;
        match outcome {
            Ok(outcome) => return Ok(Reply::Object(200, outcome.into_stored())),
            Err(status) if status.code == 404 && scope == Scope::Main && status == call.not_found() => {}
            Err(status) => return Err(status),
        }
        let new = merged(call, None, &applied, options)?;
        if let Some(stored) = create::missing(call, new, options, false).await? {
            return Ok(Reply::Object(201, stored));
        }
    }
    // Made and removed by others again and again.
    Err(call.conflict(update::MODIFIED))
}

/// The configuration merged into the object. It is merged as it was sent, since its manager owns what
/// it names; what comes out is brought into form.
pub fn merged(call: &Call, live: Option<&Value>, applied: &Value, options: &WriteOptions) -> Result<Value, Status> {
    let api_version = call.kind.api_version();
    let mut object = apply::apply(apply::Apply {
        schema: &call.kind.schema,
        root: call.kind.root,
        live,
        applied,
        manager: &options.manager,
        api_version: &api_version,
        subresource: &call.info.subresource,
        force: options.force,
        now: call.now,
    })?;
    decode::check(&call.kind.schema, call.kind.root, &mut object)?;
    Ok(object)
}
