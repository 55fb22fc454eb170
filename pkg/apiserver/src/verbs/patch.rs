//! patch in its four forms. Apply makes the object where it is missing.

use api::{Status, Value, apply, meta, patch, schema::Shared};
use bytes::Bytes;

use super::{
    create,
    update::{Edit, Scope, modify},
};
use crate::{
    body,
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
    /// Reads the body of a request; `duplicates` are repeated fields in it.
    pub fn read(call: &Call, duplicates: &mut Vec<String>) -> Result<Self, Status> {
        let custom = matches!(call.kind.schema.types, Shared::Counted(_));
        let media = negotiate::media_type(&call.headers);
        let mut tree = |yaml: bool| -> Result<Value, Status> {
            let decoded = if yaml { api::decode::yaml(&call.body)? } else { api::decode::json(&call.body)? };
            *duplicates = decoded.duplicates;
            if decoded.value.is_object() { Ok(decoded.value) } else { Err(Status::bad_request("the patch is not an object")) }
        };
        match media.as_str() {
            "application/json-patch+json" => Ok(Patch::Json(call.body.clone())),
            "application/merge-patch+json" => tree(false).map(Patch::Merge),
            "application/strategic-merge-patch+json" if !custom => tree(false).map(Patch::Strategic),
            "application/apply-patch+yaml" => tree(true).map(Patch::Apply),
            _ => {
                let mut accepted = vec!["application/json-patch+json", "application/merge-patch+json"];
                if !custom {
                    accepted.push("application/strategic-merge-patch+json");
                }
                accepted.push("application/apply-patch+yaml");
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
}

/// Answers a patch of the main resource, or of a subresource that shows the whole object.
pub async fn patch(call: &Call, scope: Scope) -> Result<Reply, Status> {
    let mut duplicates = Vec::new();
    let patch = Patch::read(call, &mut duplicates)?;
    let mut options = call.write_options()?;
    if let Patch::Apply(applied) = patch {
        return server_side(call, applied, duplicates, &options, scope).await;
    }
    if options.force {
        return Err(Status::unprocessable("PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for non-apply patch"));
    }
    // Warnings and strictness are about what the patch brings, so they are given once.
    let validation = std::mem::replace(&mut options.validation, body::FieldValidation::Ignore);
    let outcome = modify(call, &options, Edit { scope, track: true }, &mut |old| {
        let new = patch.patched(call, old)?;
        call.checked(new, duplicates.clone(), validation)
    })
    .await?;
    Ok(Reply::Object(200, outcome.into_stored()))
}

async fn server_side(
    call: &Call,
    applied: Value,
    duplicates: Vec<String>,
    options: &WriteOptions,
    scope: Scope,
) -> Result<Reply, Status> {
    if call.query.text("fieldManager").is_none() {
        return Err(Status::unprocessable(
            "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch",
        ));
    }
    let mut applied = call.checked(applied, duplicates, options.validation)?;
    if applied["metadata"]["managedFields"].as_array().is_some_and(|list| !list.is_empty()) {
        return Err(Status::bad_request("metadata.managedFields must be nil"));
    }
    create::place(call, &mut applied)?;
    match meta::name(&applied) {
        "" => applied["metadata"]["name"] = call.info.name.as_str().into(),
        name if name == call.info.name => {}
        name => {
            return Err(Status::bad_request(format!(
                "the name of the object ({name}) does not match the name on the URL ({})",
                call.info.name
            )));
        }
    }
    loop {
        let mut merge = |live: &Value| merged(call, Some(live), &applied, options);
        let outcome = modify(call, options, Edit { scope, track: false }, &mut merge).await;
        match outcome {
            Ok(outcome) => return Ok(Reply::Object(200, outcome.into_stored())),
            Err(status) if status.code == 404 && scope == Scope::Main && status == call.not_found() => {}
            Err(status) => return Err(status),
        }
        let new = merged(call, None, &applied, options)?;
        match create::insert(call, new, options, false).await {
            Ok(stored) => return Ok(Reply::Object(201, stored)),
            Err(status) if status.reason == "AlreadyExists" && !options.dry_run => {}
            Err(status) => return Err(status),
        }
    }
}

fn merged(call: &Call, live: Option<&Value>, applied: &Value, options: &WriteOptions) -> Result<Value, Status> {
    let api_version = call.kind.api_version();
    apply::apply(apply::Apply {
        schema: &call.kind.schema,
        root: call.kind.root,
        live,
        applied,
        manager: &options.manager,
        api_version: &api_version,
        subresource: &call.info.subresource,
        force: options.force,
        now: call.now,
    })
}
