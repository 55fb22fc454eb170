//! Subresources, by their [`Action`].

use api::{
    Kind, Status, Value,
    kinds::{Action, ScalePaths},
    meta,
    selector::Labels,
    tree,
    validation::{FieldErrors, names},
};
use http::Method;
use serde_json::json;

use super::{
    create,
    delete::{self, DeleteOptions},
    eviction,
    patch::{self, Patch, patch},
    read,
    update::{self, Edit, Part, Scope, modify, update},
};
use crate::{
    admission,
    body::{FieldValidation, Form},
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
        return Ok(Reply::Scale(shown(&current)));
    }
    let options = call.write_options(Patch::is_apply(call))?;
    let mut faults = Vec::new();
    let patch = match call.info.verb {
        "update" => None,
        "patch" => Some(Patch::read(call, &mut faults)?),
        _ => return Err(Status::method_not_allowed()),
    };
    let sent = match &patch {
        None => Some(call.object_of("autoscaling", &["v1"], "Scale", options.validation)?),
        Some(_) => None,
    };
    if let Some(Patch::Apply(applied)) = &patch {
        patch::tell(call, faults, options.validation)?;
        return apply_scale(call, paths, applied, &options).await;
    }
    let outcome = modify(call, &options, Edit { scope: Scope::Main, track: true }, &mut |old| {
        let wanted = match (&sent, &patch) {
            (Some(sent), _) => sent.clone(),
            (None, Some(patch)) => patched_scale(call, &shown(old), patch, &faults, options.validation)?,
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
            let mut errors = FieldErrors::default();
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
    Ok(Reply::Scale(shown(&served(&call.kind, &outcome.into_stored())?)))
}

/// A patched Scale, checked: a count that is none is not to be taken for zero.
fn patched_scale(
    call: &Call,
    old: &Value,
    patch: &Patch,
    faults: &[String],
    validation: FieldValidation,
) -> Result<Value, Status> {
    let scale = match patch {
        Patch::Json(operations) => api::patch::json_patch(old, operations)?,
        // A Scale has no lists: all other forms merge alike.
        Patch::Merge(tree) | Patch::Strategic(tree) | Patch::Apply(tree) => api::patch::merge_patch(old, tree)?,
    };
    let schema = api::schema::builtin();
    patch.checked(call, &Form::builtin(&schema, "autoscaling", "v1", "Scale")?, scale, faults, validation)
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
    Ok(Reply::Scale(scale_of(&served(&call.kind, &outcome.into_stored())?, paths)))
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
///
/// Source: `pkg/registry/core/pod/storage` (`BindingREST`). A wrong target is a 422 with upstream's causes;
/// upstream forgets to wrap them and answers 500 with their text.
pub async fn bind(call: &Call, name: &str) -> Result<Reply, Status> {
    if call.info.verb != "create" {
        return Err(Status::method_not_allowed());
    }
    let options = call.write_options(false)?;
    let mut binding = call.object_of("", &["v1"], "Binding", options.validation)?;
    create::place(call, &mut binding)?;
    if meta::name(&binding) != name {
        return Err(Status::bad_request("name in URL does not match name in Binding object"));
    }
    admission::created(call, "binding", &mut binding).await?;
    target_faults(&binding).refuse("", "Binding", name)?;
    let edit = Edit { scope: Scope::Own, track: false };
    modify(call, &options, edit, &mut |pod| bound(&call.kind, pod, &binding, &call.timestamp())).await?;
    Ok(Reply::Tree(
        201,
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}),
    ))
}

/// What is wrong with the target of a binding: only nodes are bound to.
fn target_faults(binding: &Value) -> FieldErrors {
    let mut errors = FieldErrors::default();
    let (kind, node) = (tree::text(binding, "target.kind"), tree::text(binding, "target.name"));
    let to_node = matches!(kind, "" | "Node");
    if !to_node {
        errors.not_supported("target.kind", kind, &["Node", "<empty>"]);
    }
    match node {
        "" => errors.required("target.name", ""),
        _ if to_node => errors.each("target.name", node, names::subdomain(node)),
        _ => {}
    }
    errors
}

/// Annotations of long ago that no pod may carry.
const INIT_CONTAINER_ANNOTATIONS: [&str; 4] = [
    "pod.alpha.kubernetes.io/init-container-statuses",
    "pod.alpha.kubernetes.io/init-containers",
    "pod.beta.kubernetes.io/init-container-statuses",
    "pod.beta.kubernetes.io/init-containers",
];

/// The pod on its node, with the labels and annotations of the binding. Uid and version of the binding, where it
/// has them, are those the pod must have.
fn bound(kind: &Kind, pod: &Value, binding: &Value, now: &str) -> Result<Value, Status> {
    let name = meta::name(pod);
    let wanted = |field| Some(meta::text(binding, field)).filter(|text| !text.is_empty()).map(str::to_owned);
    let meant = DeleteOptions { uid: wanted("uid"), resource_version: wanted("resourceVersion"), ..Default::default() };
    delete::check_preconditions(kind, pod, &meant)?;
    let refused = |why: String| Err(Status::conflict("", "pods/binding", name, &why));
    if update::is_going(pod) {
        return refused(format!("pod {name} is being deleted, cannot be assigned to a host"));
    }
    let assigned = tree::text(pod, "spec.nodeName");
    if !assigned.is_empty() {
        return refused(format!("pod {name} is already assigned to node {assigned:?}"));
    }
    if !tree::items(pod, "spec.schedulingGates").is_empty() {
        return refused(format!("pod {name} has non-empty .spec.schedulingGates"));
    }
    let mut pod = pod.clone();
    pod["spec"]["nodeName"] = tree::text(binding, "target.name").into();
    for field in ["annotations", "labels"] {
        for (key, value) in binding["metadata"][field].as_object().into_iter().flatten() {
            pod["metadata"][field][key] = value.clone();
        }
    }
    if let Some(annotations) = pod["metadata"].get_mut("annotations").and_then(Value::as_object_mut) {
        annotations.retain(|key, _| !INIT_CONTAINER_ANNOTATIONS.contains(&key.as_str()));
    }
    // The scheduler's hint is past its use.
    if let Some(status) = pod["status"].as_object_mut() {
        status.remove("nominatedNodeName");
    }
    let mut condition =
        json!({"type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": now});
    if !pod["status"]["conditions"].is_array() {
        pod["status"]["conditions"] = json!([]);
    }
    if let Some(conditions) = pod["status"]["conditions"].as_array_mut() {
        match conditions.iter_mut().find(|c| c["type"] == "PodScheduled") {
            Some(existing) => {
                if existing["status"] == "True" {
                    condition["lastTransitionTime"] = existing["lastTransitionTime"].clone();
                }
                *existing = condition;
            }
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

    fn pod_kind() -> Kind {
        Kind::clone(api::kinds::builtin().by_resource("", "v1", "pods").expect("pods"))
    }

    fn binding(metadata: Value, target: Value) -> Value {
        json!({"metadata": metadata, "target": target})
    }

    #[test]
    fn only_nodes_are_bound_to() {
        let kind =
            |value: &str| format!("target.kind: Unsupported value: {value:?}: supported values: \"Node\", \"<empty>\"");
        let name = || "target.name: Required value".to_owned();
        let table = [
            (json!({"name": "n"}), vec![]),
            (json!({"kind": "Node", "name": "n.example.com"}), vec![]),
            (json!({"kind": "Pod", "name": "n"}), vec![kind("Pod")]),
            (json!({"kind": "Pod", "name": "N"}), vec![kind("Pod")]),
            (json!({"kind": "Pod"}), vec![kind("Pod"), name()]),
            (json!({}), vec![name()]),
        ];
        for (target, expected) in table {
            let faults = target_faults(&binding(json!({}), target.clone()));
            assert_eq!(faults.0.iter().map(ToString::to_string).collect::<Vec<_>>(), expected, "{target}");
        }
        let faults = target_faults(&binding(json!({}), json!({"kind": "Node", "name": "N1"})));
        assert!(
            faults.0[0].to_string().starts_with("target.name: Invalid value: \"N1\": a lowercase RFC 1123 subdomain")
        );
    }

    #[test]
    fn a_bound_pod_forgets_its_nomination() {
        let pod = json!({
            "metadata": {"name": "p", "annotations": {"a": "1", "pod.beta.kubernetes.io/init-containers": "x"}},
            "spec": {},
            "status": {"nominatedNodeName": "m", "conditions": [
                {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": "then"}]},
        });
        let metadata = json!({"name": "p", "annotations": {"b": "2"}, "labels": {"zone": "z"}});
        let bound = bound(&pod_kind(), &pod, &binding(metadata, json!({"name": "n"})), "now").expect("bound");
        let expected = json!({
            "metadata": {"name": "p", "annotations": {"a": "1", "b": "2"}, "labels": {"zone": "z"}},
            "spec": {"nodeName": "n"},
            "status": {"conditions": [
                {"type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": "now"}]},
        });
        assert_eq!(bound, expected);
    }

    #[test]
    fn pods_that_cannot_be_bound() {
        let conflict = |of: &str, why: &str| format!("Operation cannot be fulfilled on {of} \"p\": {why}");
        let table = [
            (
                json!({"metadata": {"deletionTimestamp": "t"}}),
                json!({}),
                conflict("pods/binding", "pod p is being deleted, cannot be assigned to a host"),
            ),
            (
                json!({"spec": {"nodeName": "m"}}),
                json!({}),
                conflict("pods/binding", "pod p is already assigned to node \"m\""),
            ),
            (
                json!({"spec": {"schedulingGates": [{"name": "g"}]}}),
                json!({}),
                conflict("pods/binding", "pod p has non-empty .spec.schedulingGates"),
            ),
            (
                json!({}),
                json!({"uid": "2"}),
                conflict("pods", "Precondition failed: UID in precondition: 2, UID in object meta: 1"),
            ),
            (
                json!({"spec": {"nodeName": "m"}}),
                json!({"resourceVersion": "6"}),
                conflict(
                    "pods",
                    "Precondition failed: ResourceVersion in precondition: 6, ResourceVersion in object meta: 5",
                ),
            ),
        ];
        for (more, metadata, expected) in table {
            let mut pod = json!({"metadata": {"name": "p", "uid": "1", "resourceVersion": "5"}, "spec": {}});
            pod = api::patch::merge_patch(&pod, &more).expect("a pod");
            let binding = binding(metadata, json!({"name": "n"}));
            let status = bound(&pod_kind(), &pod, &binding, "now").expect_err(&expected);
            assert_eq!((status.code, status.message), (409, expected));
        }
    }
}
