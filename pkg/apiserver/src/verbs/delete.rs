//! delete and deletecollection.

use api::{
    Kind, Status, Value, decode,
    kinds::Action,
    meta,
    validation::{FieldErrors, Reason},
};
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use serde_json::json;

use super::{
    create::stored_form,
    read,
    update::{is_going, pending},
};
use crate::{
    admission::{self, Attributes, Operation},
    body,
    call::{Call, rfc3339},
    query::{ListOptions, refuse_options},
    reply::{List, Reply, served, success},
    stored::{self, Stored},
};

/// `DeleteOptions`, from the body or the query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeleteOptions {
    /// `gracePeriodSeconds`.
    pub grace: Option<i64>,
    /// `propagationPolicy`, or what `orphanDependents` means.
    pub propagation: Option<Propagation>,
    /// `preconditions.uid`.
    pub uid: Option<String>,
    /// `preconditions.resourceVersion`.
    pub resource_version: Option<String>,
    /// `dryRun=All`.
    pub dry_run: bool,
    /// `orphanDependents=false`: an object that goes later is answered with 202.
    pub cascades: bool,
}

/// What happens to dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagation {
    /// They stay.
    Orphan,
    /// They go after the object.
    Background,
    /// They go before the object.
    Foreground,
}

impl Propagation {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "Orphan" => Some(Propagation::Orphan),
            "Background" => Some(Propagation::Background),
            "Foreground" => Some(Propagation::Foreground),
            _ => None,
        }
    }
}

impl DeleteOptions {
    /// The options of a request: the body's if there is one, else the query's.
    pub fn read(call: &Call) -> Result<Self, Status> {
        if !call.body.iter().all(u8::is_ascii_whitespace) {
            let schema = api::schema::builtin();
            let root = body::type_of(&schema, "meta", "v1", "DeleteOptions");
            let mut sent = body::parse(&call.headers, &call.body, &schema, root)?.value;
            if !matches!(sent["kind"].as_str(), None | Some("" | "DeleteOptions")) {
                return Err(Status::bad_request("decoded object cannot be converted to DeleteOptions"));
            }
            // A precondition or a dry run that cannot be read is not to be passed over.
            if let (Some(root), true) = (root, sent.is_object()) {
                decode::check(&schema, root, &mut sent)?;
            }
            let mut options = Self::from_tree(&sent)?;
            options.dry_run |= Self::dry_run_of(call)?;
            return Ok(options);
        }
        let mut tree = json!({});
        if let Some(grace) = call.query.number("gracePeriodSeconds")? {
            tree["gracePeriodSeconds"] = grace.into();
        }
        if let Some(policy) = call.query.text("propagationPolicy") {
            tree["propagationPolicy"] = policy.into();
        }
        if call.query.text("orphanDependents").is_some() {
            tree["orphanDependents"] = call.query.flag("orphanDependents").into();
        }
        let mut options = Self::from_tree(&tree)?;
        options.dry_run = Self::dry_run_of(call)?;
        Ok(options)
    }

    /// `dryRun` of the query.
    pub fn dry_run_of(call: &Call) -> Result<bool, Status> {
        let mut errors = FieldErrors::default();
        let dry = call.query.dry_run(&mut errors);
        refuse_options("DeleteOptions", &errors)?;
        Ok(dry)
    }

    /// From a `DeleteOptions` tree.
    pub fn from_tree(tree: &Value) -> Result<Self, Status> {
        if !tree.is_object() && !tree.is_null() {
            return Err(Status::bad_request("the body of the request is not a DeleteOptions object"));
        }
        let mut errors = FieldErrors::default();
        let sent = tree["propagationPolicy"].as_str();
        let policy = sent.and_then(Propagation::parse);
        let orphan = tree["orphanDependents"].as_bool();
        if let Some(sent) = sent {
            if orphan.is_some() {
                let detail = "orphanDependents and deletionPropagation cannot be both set";
                errors.invalid("propagationPolicy", sent, detail);
            }
            if policy.is_none() {
                let known = "supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"";
                errors.push("propagationPolicy", Reason::NotSupported, sent, known);
            }
        }
        let dry = tree["dryRun"].as_array().map_or(&[][..], Vec::as_slice);
        if dry.iter().any(|value| value != "All") {
            errors.push("dryRun", Reason::NotSupported, tree["dryRun"].clone(), "supported values: \"All\"");
        }
        refuse_options("DeleteOptions", &errors)?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        Ok(DeleteOptions {
            grace: tree["gracePeriodSeconds"].as_i64(),
            propagation: policy.or(match orphan {
                Some(true) => Some(Propagation::Orphan),
                Some(false) => Some(Propagation::Background),
                None => None,
            }),
            uid: text(&tree["preconditions"]["uid"]),
            resource_version: text(&tree["preconditions"]["resourceVersion"]),
            dry_run: !dry.is_empty(),
            cascades: orphan == Some(false),
        })
    }
}

/// What a deletion does to an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// It goes at once.
    Remove,
    /// It is written so, and goes later.
    Mark(Value),
    /// It is on its way already.
    Keep,
}

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// Decides over a deletion. Pure.
pub fn decide(kind: &Kind, object: &Value, options: &DeleteOptions, now: Timestamp) -> Decision {
    let mut new = object.clone();
    propagate(&mut new, options.propagation.or_else(|| default_propagation(kind, object)));
    // Less than nothing is a second, as upstream has it; no more than a timestamp can say.
    let longest = Timestamp::MAX.as_second() - now.as_second();
    let grace = kind.strategy.grace_seconds(object, options.grace).map(|s| if s < 0 { 1 } else { s.min(longest) });
    let finalized = kind.subresources.iter().any(|sub| sub.action == Action::Finalize);
    if is_going(object) {
        // The grace period may only become shorter.
        let had = object["metadata"]["deletionGracePeriodSeconds"].as_i64().unwrap_or(0);
        if let Some(wanted) = grace.filter(|wanted| options.grace.is_some() && *wanted < had) {
            let before = object["metadata"]["deletionTimestamp"].as_str().and_then(|t| t.parse::<Timestamp>().ok());
            let at = before.unwrap_or(now).checked_sub(SignedDuration::from_secs(had - wanted)).unwrap_or(now);
            new["metadata"]["deletionTimestamp"] = rfc3339(at).into();
            new["metadata"]["deletionGracePeriodSeconds"] = wanted.into();
        }
        let left = new["metadata"]["deletionGracePeriodSeconds"].as_i64().unwrap_or(0);
        return match () {
            () if left == 0 && !pending(kind, &new) => Decision::Remove,
            () if new == *object => Decision::Keep,
            () => Decision::Mark(new),
        };
    }
    kind.strategy.prepare_for_deletion(&mut new, &rfc3339(now));
    let seconds = grace.unwrap_or(0);
    if seconds == 0 && !pending(kind, &new) {
        return Decision::Remove;
    }
    let at = now.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX);
    new["metadata"]["deletionTimestamp"] = rfc3339(at).into();
    if !finalized {
        new["metadata"]["deletionGracePeriodSeconds"] = seconds.into();
    }
    if kind.strategy.has_generation() {
        let generation = object["metadata"]["generation"].as_i64().unwrap_or(0) + 1;
        new["metadata"]["generation"] = generation.into();
    }
    if finalized {
        new["status"]["phase"] = "Terminating".into();
    }
    Decision::Mark(new)
}

fn default_propagation(kind: &Kind, object: &Value) -> Option<Propagation> {
    let decided = object["metadata"]["finalizers"].as_array().into_iter().flatten();
    if decided.into_iter().any(|f| f == ORPHAN || f == FOREGROUND) {
        return None;
    }
    kind.traits.orphaning.then_some(Propagation::Orphan)
}

fn propagate(object: &mut Value, propagation: Option<Propagation>) {
    let Some(propagation) = propagation else { return };
    let had = object["metadata"]["finalizers"].as_array().cloned().unwrap_or_default();
    let mut finalizers: Vec<Value> = had.into_iter().filter(|f| f != ORPHAN && f != FOREGROUND).collect();
    match propagation {
        Propagation::Orphan => finalizers.push(ORPHAN.into()),
        Propagation::Foreground => finalizers.push(FOREGROUND.into()),
        Propagation::Background => {}
    }
    if !finalizers.is_empty() {
        object["metadata"]["finalizers"] = finalizers.into();
    } else if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("finalizers");
    }
}

/// Answers a delete.
pub async fn delete(call: &Call) -> Result<Reply, Status> {
    let options = DeleteOptions::read(call)?;
    match one(call, &call.info.name, &options).await? {
        Deleted::Gone(last) if call.kind.traits.returns_deleted => Ok(Reply::Object(200, last)),
        Deleted::Gone(last) => {
            let uid = meta::text(&last.tree()?, "uid").to_owned();
            Ok(Reply::Tree(200, success(&call.kind, &call.info.name, &uid)))
        }
        Deleted::Going(stored) => Ok(Reply::Object(if options.cascades { 202 } else { 200 }, stored)),
    }
}

/// What became of an object.
pub enum Deleted {
    /// It is gone; its last state.
    Gone(Stored),
    /// It is marked.
    Going(Stored),
}

/// Refuses a deletion of something else than was meant.
pub fn check_preconditions(kind: &Kind, object: &Value, options: &DeleteOptions) -> Result<(), Status> {
    for (wanted, field, what) in
        [(&options.uid, "uid", "UID"), (&options.resource_version, "resourceVersion", "ResourceVersion")]
    {
        let had = meta::text(object, field);
        if let Some(wanted) = wanted.as_deref().filter(|wanted| *wanted != had) {
            let why = format!("Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {had}");
            return Err(Status::conflict(&kind.group, &kind.plural, meta::name(object), &why));
        }
    }
    Ok(())
}

/// Deletes one object by name, within the request's kind and namespace.
pub async fn one(call: &Call, name: &str, options: &DeleteOptions) -> Result<Deleted, Status> {
    let kind = &call.kind;
    let conflict = |why: String| Status::conflict(&kind.group, &kind.plural, name, &why);
    for _ in 0..50 {
        let found = call.server.read(kind, call.namespace(), name).await?;
        let before = found.ok_or_else(|| Status::not_found(&kind.group, &kind.plural, name))?;
        let object = served(kind, &before)?;
        check_preconditions(kind, &object, options)?;
        let held = Mutex::default();
        let (operation, old) = (Operation::Delete, Some(&object));
        let attributes = Attributes { call, operation, subresource: "", old, generated: false, held: &held };
        admission::validate(&attributes, &object).await?;
        let done = match decide(kind, &object, options, call.now) {
            Decision::Keep => Some(Deleted::Going(before)),
            Decision::Remove if options.dry_run => Some(Deleted::Gone(before)),
            Decision::Mark(new) if options.dry_run => {
                Some(Deleted::Going(Stored::new(stored::encode(&stored_form(call, new)), before.revision)?))
            }
            Decision::Remove => {
                let removed = call.server.remove(kind, call.namespace(), name, before.revision).await?;
                removed.map(|revision| Deleted::Gone(before.at(revision)))
            }
            Decision::Mark(new) => {
                let written = call.server.write(kind, &stored_form(call, new), before.revision).await?;
                written.map(Deleted::Going)
            }
        };
        if let Some(done) = done {
            return Ok(done);
        }
    }
    Err(conflict(
        "the object has been modified; please apply your changes to the latest version and try again".to_owned(),
    ))
}

/// Answers a deletecollection: what was selected, as it was.
pub async fn collection(call: &Call) -> Result<Reply, Status> {
    let options = DeleteOptions::read(call)?;
    let selected = read::select(call, ListOptions::parse(&call.query, false)?).await?;
    let mut list = List { revision: selected.revision, continuation: selected.continuation, ..List::default() };
    for stored in selected.objects {
        let tree = stored.tree()?;
        match one(call, meta::name(&tree), &options).await {
            Ok(Deleted::Gone(_)) => list.objects.push(stored),
            Ok(Deleted::Going(marked)) => list.objects.push(marked),
            Err(status) if status.code == 404 => {}
            Err(status) => return Err(status),
        }
    }
    Ok(Reply::List(list))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grace_period_beyond_all_calendars_was_a_panic() {
        let kinds = api::kinds::builtin();
        let pods = kinds.by_resource("", "v1", "pods").unwrap();
        let pod = json!({"metadata": {"name": "p"}, "spec": {"nodeName": "n", "terminationGracePeriodSeconds": 30}});
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let options = |grace| DeleteOptions { grace: Some(grace), ..DeleteOptions::default() };
        let Decision::Mark(marked) = decide(pods, &pod, &options(i64::MAX), now) else { panic!("it is marked") };
        assert!(marked["metadata"]["deletionTimestamp"].as_str().unwrap().starts_with("9999-"), "{marked}");
        let Decision::Mark(shorter) = decide(pods, &marked, &options(10), now) else { panic!("it is marked") };
        assert_eq!(shorter["metadata"]["deletionTimestamp"], "2026-01-01T00:00:10Z");
    }
}
