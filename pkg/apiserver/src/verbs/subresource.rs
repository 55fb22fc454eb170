//! Subresources, by their [`Action`].

use api::{
    Kind, Status, Value,
    kinds::{Action, ScalePaths},
    meta,
    selector::Labels,
    tree,
};
use http::Method;
use serde_json::json;

use super::{
    eviction,
    patch::{self, Patch, patch},
    read,
    update::{self, Edit, Part, Scope, modify, update},
};
use crate::{
    body,
    call::{Call, WriteOptions},
    connect,
    reply::{Reply, served},
    token,
};

/// Whether the status of a kind is written through `/status` alone.
pub fn has_status(kind: &Kind) -> bool {
    kind.subresources.iter().any(|sub| sub.action == Action::Status)
}

/// Answers a request for a subresource.
pub async fn handle(call: &Call, action: &Action) -> Result<Reply, Status> {
    match action {
        Action::Status => whole(call, Scope::Status).await,
        Action::EphemeralContainers => whole(call, Scope::Part(Part::EphemeralContainers)).await,
        Action::Resize => whole(call, Scope::Part(Part::Resize)).await,
        Action::Approval => whole(call, Scope::Part(Part::Approval)).await,
        Action::Finalize => match call.info.verb {
            "update" => update(call, Scope::Finalize).await,
            _ => Err(Status::method_not_allowed()),
        },
        Action::Scale(paths) => scale(call, paths).await,
        Action::Binding => bind(call, &call.info.name).await,
        Action::Eviction => eviction::evict(call).await,
        Action::Token => token::request(call).await,
        Action::Connect => Err(Status::method_not_allowed()),
    }
}

/// get, update and patch of a subresource that shows the whole object.
async fn whole(call: &Call, scope: Scope) -> Result<Reply, Status> {
    match call.info.verb {
        "get" => read::get(call).await,
        "update" => update(call, scope).await,
        "patch" => patch(call, scope).await,
        _ => Err(Status::method_not_allowed()),
    }
}

async fn scale(call: &Call, paths: &ScalePaths) -> Result<Reply, Status> {
    let shown = |object: &Value| scale_of(object, paths);
    let current = served(&call.kind, &read::current(call).await?)?;
    if call.info.verb == "get" {
        return Ok(Reply::Tree(200, shown(&current)));
    }
    let options = call.write_options(Patch::is_apply(call))?;
    let patch = match call.info.verb {
        "update" => None,
        "patch" => Some(Patch::read(call, &mut Vec::new())?),
        _ => return Err(Status::method_not_allowed()),
    };
    let sent = match &patch {
        None => Some(call.object_of("autoscaling", "v1", "Scale")?),
        Some(_) => None,
    };
    if let Some(Patch::Apply(applied)) = &patch {
        return apply_scale(call, paths, applied, &options).await;
    }
    let outcome = modify(call, &options, Edit { scope: Scope::Main, track: true }, &mut |old| {
        let wanted = match (&sent, &patch) {
            (Some(sent), _) => sent.clone(),
            (None, Some(patch)) => patched_scale(&shown(old), patch)?,
            (None, None) => shown(old),
        };
        let name = meta::name(&wanted);
        if !name.is_empty() && name != call.info.name {
            return Err(Status::bad_request(format!(
                "the name of the object ({name}) does not match the name on the URL ({})",
                call.info.name
            )));
        }
        let replicas = wanted["spec"]["replicas"].as_i64().unwrap_or(0);
        if replicas < 0 {
            let mut errors = api::validation::FieldErrors::default();
            errors.push(
                "spec.replicas",
                api::validation::Reason::Invalid,
                replicas,
                "must be greater than or equal to 0",
            );
            return Err(Status::invalid("autoscaling", "Scale", &call.info.name, &errors));
        }
        let mut new = old.clone();
        tree::set(&mut new, &paths.spec, replicas);
        // The Scale's preconditions are the object's.
        for field in ["uid", "resourceVersion"] {
            if !meta::text(&wanted, field).is_empty() {
                new["metadata"][field] = wanted["metadata"][field].clone();
            }
        }
        Ok(new)
    })
    .await?;
    Ok(Reply::Tree(200, shown(&served(&call.kind, &outcome.into_stored())?)))
}

/// A patched Scale, checked: a count that is none is not to be taken for zero.
fn patched_scale(old: &Value, patch: &Patch) -> Result<Value, Status> {
    let mut scale = match patch {
        Patch::Json(operations) => api::patch::json_patch(old, operations)?,
        // A Scale has no lists: all other forms merge alike.
        Patch::Merge(tree) | Patch::Strategic(tree) | Patch::Apply(tree) => api::patch::merge_patch(old, tree)?,
    };
    let schema = api::schema::builtin();
    if let Some(root) = body::type_of(&schema, "autoscaling", "v1", "Scale") {
        let shown = scale.clone();
        api::decode::check(&schema, root, &mut scale).map_err(|status| patch::blamed(&shown, status))?;
    }
    Ok(scale)
}

/// Applies a Scale: its manager owns the count in the object.
async fn apply_scale(
    call: &Call,
    paths: &ScalePaths,
    applied: &Value,
    options: &WriteOptions,
) -> Result<Reply, Status> {
    api::apply::expect_kind(applied, "autoscaling/v1", "Scale")?;
    let mut config = json!({"apiVersion": call.kind.api_version(), "kind": &*call.kind.kind, "metadata": {}});
    let replicas = &applied["spec"]["replicas"];
    if !replicas.is_null() {
        tree::set(&mut config, &paths.spec, replicas.clone());
    }
    let mut merge = |live: &Value| patch::merged(call, Some(live), &config, options);
    let outcome = modify(call, options, Edit { scope: Scope::Main, track: false }, &mut merge).await?;
    Ok(Reply::Tree(200, scale_of(&served(&call.kind, &outcome.into_stored())?, paths)))
}

/// The `autoscaling/v1 Scale` of an object.
fn scale_of(object: &Value, paths: &ScalePaths) -> Value {
    let mut metadata = json!({});
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        if !object["metadata"][field].is_null() {
            metadata[field] = object["metadata"][field].clone();
        }
    }
    let mut scale = json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata,
        "spec": {"replicas": tree::int(object, &paths.spec)},
        "status": {"replicas": tree::int(object, &paths.status)},
    });
    let text = match tree::at(object, &paths.selector) {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        selector => selector_text(selector),
    };
    if !text.is_empty() {
        scale["status"]["selector"] = text.into();
    }
    scale
}

/// A selector as the text of a query. A map without `matchLabels` is one of ReplicationControllers.
fn selector_text(selector: &Value) -> String {
    let plain = selector["matchLabels"].is_null() && selector["matchExpressions"].is_null();
    let labels = if plain { selector } else { &selector["matchLabels"] };
    let mut terms: Vec<String> = labels
        .as_object()
        .into_iter()
        .flatten()
        .map(|(k, v)| format!("{k}={}", v.as_str().unwrap_or_default()))
        .collect();
    for expression in selector["matchExpressions"].as_array().into_iter().flatten() {
        let key = expression["key"].as_str().unwrap_or_default();
        let values: Vec<&str> =
            expression["values"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        terms.push(match expression["operator"].as_str().unwrap_or_default() {
            "In" => format!("{key} in ({})", values.join(",")),
            "NotIn" => format!("{key} notin ({})", values.join(",")),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_owned(),
        });
    }
    terms.sort();
    let text = terms.join(",");
    debug_assert!(Labels::parse(&text).is_ok(), "what is written can be read");
    text
}

/// Binds a pod to a node: the scheduler's word. `name` is the pod's.
pub async fn bind(call: &Call, name: &str) -> Result<Reply, Status> {
    if call.info.verb != "create" {
        return Err(Status::method_not_allowed());
    }
    let binding = call.object_of("", "v1", "Binding")?;
    let given = meta::name(&binding);
    if !given.is_empty() && given != name {
        return Err(Status::bad_request(format!(
            "the name of the object ({given}) does not match the name on the URL ({name})"
        )));
    }
    let node = tree::text(&binding, "target.name");
    let kind = tree::text(&binding, "target.kind");
    if node.is_empty() || !(kind.is_empty() || kind == "Node") {
        let mut errors = api::validation::FieldErrors::default();
        match node {
            "" => errors.push("target.name", api::validation::Reason::Required, Value::Null, ""),
            _ => errors.push("target.kind", api::validation::Reason::NotSupported, kind, "supported values: \"Node\""),
        }
        return Err(Status::invalid("", "Binding", name, &errors));
    }
    let options = call.write_options(false)?;
    let edit = Edit { scope: Scope::Own, track: true };
    modify(call, &options, edit, &mut |pod| bound(call, pod, node, &binding)).await?;
    Ok(Reply::Tree(
        201,
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}),
    ))
}

fn bound(call: &Call, pod: &Value, node: &str, binding: &Value) -> Result<Value, Status> {
    let name = meta::name(pod);
    let wanted = meta::text(binding, "uid");
    if !wanted.is_empty() && wanted != meta::text(pod, "uid") {
        return Err(call.conflict(&format!(
            "Precondition failed: UID in precondition: {wanted}, UID in object meta: {}",
            meta::text(pod, "uid")
        )));
    }
    if update::is_going(pod) {
        return Err(call.conflict(&format!("pod {name} is being deleted, cannot be assigned to a host")));
    }
    let assigned = tree::text(pod, "spec.nodeName");
    if !assigned.is_empty() {
        return Err(call.conflict(&format!("pod {name} is already assigned to node \"{assigned}\"")));
    }
    if !tree::items(pod, "spec.schedulingGates").is_empty() {
        return Err(call.conflict(&format!("pod {name} has non-empty .spec.schedulingGates")));
    }
    let mut pod = pod.clone();
    pod["spec"]["nodeName"] = node.into();
    for field in ["annotations", "labels"] {
        for (key, value) in binding["metadata"][field].as_object().into_iter().flatten() {
            pod["metadata"][field][key] = value.clone();
        }
    }
    let condition = json!({
        "type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": call.timestamp(),
    });
    if !pod["status"]["conditions"].is_array() {
        pod["status"]["conditions"] = json!([]);
    }
    if let Some(conditions) = pod["status"]["conditions"].as_array_mut() {
        match conditions.iter_mut().find(|c| c["type"] == "PodScheduled") {
            Some(existing) => *existing = condition,
            None => conditions.push(condition),
        }
    }
    Ok(pod)
}

/// Whether a request for this subresource is a stream from a kubelet, and by which methods.
pub fn streams(action: &Action, method: &Method) -> bool {
    *action == Action::Connect && connect::allows(method)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_written_as_text() {
        let selector = json!({"matchLabels": {"a": "b"}, "matchExpressions": [
            {"key": "t", "operator": "In", "values": ["x", "y"]}, {"key": "e", "operator": "Exists"},
            {"key": "n", "operator": "DoesNotExist"}]});
        assert_eq!(selector_text(&selector), "!n,a=b,e,t in (x,y)");
        assert_eq!(selector_text(&json!({"app": "web"})), "app=web");
    }

    #[test]
    fn a_scale_shows_counts_and_selector() {
        let object = json!({"metadata": {"name": "d", "labels": {"x": "y"}}, "spec": {"replicas": 3, "selector": {"matchLabels": {"a": "b"}}}, "status": {"replicas": 2}});
        let kinds = api::kinds::builtin();
        let deployments = kinds.by_resource("apps", "v1", "deployments").unwrap();
        let Action::Scale(paths) = &deployments.subresource("scale").unwrap().action else { panic!("a scale") };
        let scale = scale_of(&object, paths);
        assert_eq!(scale["spec"]["replicas"], 3);
        assert_eq!(scale["status"], json!({"replicas": 2, "selector": "a=b"}));
        assert!(scale["metadata"]["labels"].is_null());
    }
}
