//! Operations: for each kind what its verbs and subresources allow.

use serde_json::{Map, Value, json};

use super::{
    Dialect,
    definitions::{Definitions, gvk},
};
use crate::kinds::{Action, Kind, Subresource};

const STATUS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";
const DELETE_OPTIONS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";
const PATCH: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";
const ANSWER_TYPES: &[&str] = &["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
const PATCH_TYPES: &[&str] = &[
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
];

/// Query parameters: name and type.
type Query = &'static [(&'static str, &'static str)];
const WRITE: Query = &[("dryRun", "string"), ("fieldManager", "string"), ("fieldValidation", "string")];
const APPLY: Query =
    &[("dryRun", "string"), ("fieldManager", "string"), ("fieldValidation", "string"), ("force", "boolean")];
const LIST: Query = &[
    ("allowWatchBookmarks", "boolean"),
    ("continue", "string"),
    ("fieldSelector", "string"),
    ("labelSelector", "string"),
    ("limit", "integer"),
    ("resourceVersion", "string"),
    ("resourceVersionMatch", "string"),
    ("sendInitialEvents", "boolean"),
    ("timeoutSeconds", "integer"),
    ("watch", "boolean"),
];
const DELETE: Query = &[
    ("dryRun", "string"),
    ("gracePeriodSeconds", "integer"),
    ("orphanDependents", "boolean"),
    ("propagationPolicy", "string"),
];
const DELETE_ALL: Query = &[
    ("continue", "string"),
    ("dryRun", "string"),
    ("fieldSelector", "string"),
    ("gracePeriodSeconds", "integer"),
    ("labelSelector", "string"),
    ("limit", "integer"),
    ("orphanDependents", "boolean"),
    ("propagationPolicy", "string"),
    ("resourceVersion", "string"),
    ("resourceVersionMatch", "string"),
    ("timeoutSeconds", "integer"),
];

/// One operation.
struct Operation<'a> {
    method: &'static str,
    id: String,
    /// `x-kubernetes-action`.
    action: &'a str,
    query: Query,
    body: Option<Value>,
    answer: Option<Value>,
    /// Success codes.
    codes: &'static [&'static str],
}

/// `/api/v1` or `/apis/GROUP/VERSION`.
pub(super) fn prefix(group: &str, version: &str) -> String {
    if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") }
}

/// Adds the paths of a kind.
pub(super) fn add(paths: &mut Map<String, Value>, definitions: &mut Definitions, kind: &Kind) {
    let prefix = prefix(&kind.group, &kind.version);
    let collection = match kind.namespaced {
        true => format!("{prefix}/namespaces/{{namespace}}/{}", &*kind.plural),
        false => format!("{prefix}/{}", &*kind.plural),
    };
    let scope = if kind.namespaced { "Namespaced" } else { "" };
    let of = Operations { kind, own: gvk(&kind.group, &kind.version, &kind.kind), dialect: definitions.dialect };
    let name = format!("{}{scope}{}", of.prefix(), &*kind.kind);
    let object = definitions.kind(kind);

    let mut item = of.path(&["name"]);
    let mut all = of.path(&[]);
    for operation in main_operations(kind, definitions, &object, &name) {
        let verb = match operation.action {
            "post" => "create",
            "put" => "update",
            action => action,
        };
        if !kind.verbs.allows(verb) {
            continue;
        }
        let on_item = matches!(operation.action, "get" | "put" | "patch" | "delete");
        let path = if on_item { &mut item } else { &mut all };
        path[operation.method] = of.value(&operation, &of.own);
    }
    paths.insert(collection.clone(), all);
    if kind.verbs.allows("get") {
        paths.insert(format!("{collection}/{{name}}"), item);
    }
    if kind.namespaced && kind.verbs.allows("list") {
        let operation = Operation {
            method: "get",
            id: format!("list{}{}ForAllNamespaces", of.prefix(), &*kind.kind),
            action: "list",
            query: LIST,
            body: None,
            answer: Some(definitions.list(kind)),
            codes: &["200"],
        };
        let mut path = json!({"parameters": [of.parameter("query", "pretty", "string")]});
        path[operation.method] = of.value(&operation, &of.own);
        paths.insert(format!("{prefix}/{}", &*kind.plural), path);
    }
    for sub in kind.subresources.iter() {
        let (path, value) = subresource(&of, definitions, sub, &object, &name);
        paths.insert(format!("{collection}/{{name}}/{path}"), value);
    }
}

fn main_operations(kind: &Kind, definitions: &mut Definitions, object: &Value, name: &str) -> Vec<Operation<'static>> {
    let mut out = vec![write("post", "create", name, WRITE, object, object)];
    if kind.verbs.allows("list") {
        out.push(Operation {
            method: "get",
            id: format!("list{name}"),
            action: "list",
            query: LIST,
            body: None,
            answer: Some(definitions.list(kind)),
            codes: &["200"],
        });
    }
    if kind.verbs.allows("get") {
        out.extend(object_operations(definitions, object, name));
    }
    if !kind.verbs.allows("delete") {
        return out;
    }
    let (delete, status) = (definitions.named(DELETE_OPTIONS), definitions.named(STATUS));
    out.push(Operation {
        method: "delete",
        id: format!("delete{name}"),
        action: "delete",
        query: DELETE,
        body: Some(delete.clone()),
        answer: Some(if kind.traits.returns_deleted { object.clone() } else { status.clone() }),
        codes: &["200", "202"],
    });
    if kind.verbs.allows("deletecollection") {
        // The kind comes behind the word `Collection`: deleteCoreV1CollectionNamespacedPod.
        let tail = name.rfind("Namespaced").unwrap_or(name.len() - kind.kind.len());
        out.push(Operation {
            method: "delete",
            id: format!("delete{}Collection{}", &name[..tail], &name[tail..]),
            action: "deletecollection",
            query: DELETE_ALL,
            body: Some(delete),
            answer: Some(status),
            codes: &["200"],
        });
    }
    out
}

/// get, put and patch.
fn object_operations(definitions: &mut Definitions, object: &Value, name: &str) -> [Operation<'static>; 3] {
    let patch = definitions.named(PATCH);
    let read = Operation {
        method: "get",
        id: format!("read{name}"),
        action: "get",
        query: &[],
        body: None,
        answer: Some(object.clone()),
        codes: &["200"],
    };
    [read, write("put", "replace", name, WRITE, object, object), write("patch", "patch", name, APPLY, &patch, object)]
}

fn write(
    method: &'static str,
    verb: &str,
    name: &str,
    query: Query,
    body: &Value,
    answer: &Value,
) -> Operation<'static> {
    let codes: &[&str] = if method == "post" { &["200", "201", "202"] } else { &["200", "201"] };
    let (body, answer) = (Some(body.clone()), Some(answer.clone()));
    Operation { method, id: format!("{verb}{name}"), action: method, query, body, answer, codes }
}

/// Path below the object, and its operations.
fn subresource(
    of: &Operations,
    definitions: &mut Definitions,
    sub: &Subresource,
    object: &Value,
    name: &str,
) -> (String, Value) {
    let mut title = sub.name.to_owned();
    title[..1].make_ascii_uppercase();
    let name = format!("{name}{title}");
    let mut path = of.path(&["name"]);
    let (kind, operations) = match sub.action {
        Action::Scale(_) => {
            let scale = definitions.named("io.k8s.api.autoscaling.v1.Scale");
            (gvk("autoscaling", "v1", "Scale"), Vec::from(object_operations(definitions, &scale, &name)))
        }
        Action::Status | Action::EphemeralContainers | Action::Resize | Action::Approval => {
            (of.own.clone(), Vec::from(object_operations(definitions, object, &name)))
        }
        Action::Binding => created(definitions, "io.k8s.api.core.v1.Binding", gvk("", "v1", "Binding"), &name),
        Action::Eviction => {
            created(definitions, "io.k8s.api.policy.v1.Eviction", gvk("policy", "v1", "Eviction"), &name)
        }
        Action::Token => {
            let kind = gvk("authentication.k8s.io", "v1", "TokenRequest");
            created(definitions, "io.k8s.api.authentication.v1.TokenRequest", kind, &name)
        }
        Action::Finalize => (of.own.clone(), vec![write("put", "replace", &name, WRITE, object, object)]),
        Action::Connect => connected(of, sub, &name),
    };
    for operation in &operations {
        path[operation.method] = of.value(operation, &kind);
    }
    (sub.name.to_owned(), path)
}

fn created(
    definitions: &mut Definitions,
    definition: &str,
    kind: Value,
    name: &str,
) -> (Value, Vec<Operation<'static>>) {
    let body = definitions.named(definition);
    (kind, vec![write("post", "create", name, WRITE, &body, &body)])
}

fn connected(of: &Operations, sub: &Subresource, name: &str) -> (Value, Vec<Operation<'static>>) {
    let operation = |verb: &&str| {
        let (method, word) = match *verb {
            "create" => ("post", "Post"),
            "update" => ("put", "Put"),
            "delete" => ("delete", "Delete"),
            "patch" => ("patch", "Patch"),
            _ => ("get", "Get"),
        };
        let tail = &name[of.prefix().len()..];
        let (id, action) = match sub.name {
            "log" => (format!("read{name}"), "get"),
            _ => (format!("connect{}{word}{tail}", of.prefix()), "connect"),
        };
        Operation { method, id, action, query: &[], body: None, answer: None, codes: &["200"] }
    };
    let options = match sub.name {
        "log" => return (of.own.clone(), sub.verbs().iter().map(operation).collect()),
        "portforward" => "PodPortForwardOptions".to_owned(),
        name => format!("{}{}{}Options", &*of.kind.kind, name[..1].to_uppercase(), &name[1..]),
    };
    (gvk("", "v1", &options), sub.verbs().iter().map(operation).collect())
}

/// What the operations of a kind have in common.
struct Operations<'a> {
    kind: &'a Kind,
    /// Group, version and kind.
    own: Value,
    dialect: Dialect,
}

impl Operations<'_> {
    /// `RbacAuthorizationV1`.
    fn prefix(&self) -> String {
        let group = self.group_words();
        let version = capital(&self.kind.version);
        group.iter().map(|word| capital(word)).chain([version]).collect()
    }

    fn group_words(&self) -> Vec<&str> {
        match &*self.kind.group {
            "" => vec!["core"],
            group => group.trim_end_matches(".k8s.io").split('.').collect(),
        }
    }

    /// `rbacAuthorization_v1`.
    fn tag(&self) -> String {
        let words = self.group_words();
        let tail: String = words[1..].iter().map(|word| capital(word)).collect();
        format!("{}{tail}_{}", words[0], &*self.kind.version)
    }

    /// A path item with its path parameters.
    fn path(&self, names: &[&str]) -> Value {
        let mut parameters: Vec<_> = names.iter().map(|name| self.parameter("path", name, "string")).collect();
        if self.kind.namespaced {
            parameters.push(self.parameter("path", "namespace", "string"));
        }
        parameters.push(self.parameter("query", "pretty", "string"));
        json!({"parameters": parameters})
    }

    fn parameter(&self, place: &str, name: &str, ty: &str) -> Value {
        let mut out = match self.dialect {
            Dialect::V2 => json!({"in": place, "name": name, "type": ty, "uniqueItems": true}),
            Dialect::V3 => json!({"in": place, "name": name, "schema": {"type": ty, "uniqueItems": true}}),
        };
        if place == "path" {
            out["required"] = true.into();
        }
        out
    }

    fn value(&self, operation: &Operation, kind: &Value) -> Value {
        let mut parameters: Vec<_> =
            operation.query.iter().map(|(name, ty)| self.parameter("query", name, ty)).collect();
        let answer_text = |code: &str| match code {
            "201" => "Created",
            "202" => "Accepted",
            _ => "OK",
        };
        let answer = |code: &&str| {
            let mut out = json!({"description": answer_text(code)});
            match (&operation.answer, self.dialect) {
                (None, _) => {}
                (Some(schema), Dialect::V2) => out["schema"] = schema.clone(),
                (Some(schema), Dialect::V3) => out["content"] = content(ANSWER_TYPES, schema),
            }
            ((*code).to_owned(), out)
        };
        let mut answers: Map<_, _> = operation.codes.iter().map(answer).collect();
        answers.insert("401".to_owned(), json!({"description": "Unauthorized"}));
        let mut out = json!({
            "operationId": operation.id,
            "tags": [self.tag()],
            "responses": answers,
            "x-kubernetes-action": operation.action,
            "x-kubernetes-group-version-kind": kind,
        });
        let patch = operation.method == "patch" && operation.action == "patch";
        let body_types: &[&str] = match patch {
            // The last is strategic, which custom resources do not know.
            true if self.kind.is_custom() => &PATCH_TYPES[..PATCH_TYPES.len() - 1],
            true => PATCH_TYPES,
            false => &["*/*"],
        };
        let required = operation.method != "delete";
        match (&operation.body, self.dialect) {
            (Some(body), Dialect::V2) => {
                parameters.push(json!({"in": "body", "name": "body", "schema": body, "required": required}));
                out["consumes"] = body_types.into();
            }
            (Some(body), Dialect::V3) => {
                out["requestBody"] = json!({"content": content(body_types, body), "required": required});
            }
            (None, _) => {}
        }
        if self.dialect == Dialect::V2 {
            out["produces"] = ANSWER_TYPES.into();
            out["schemes"] = json!(["https"]);
        }
        if !parameters.is_empty() {
            out["parameters"] = parameters.into();
        }
        out
    }
}

fn content(types: &[&str], schema: &Value) -> Value {
    types.iter().map(|ty| ((*ty).to_owned(), json!({"schema": schema}))).collect::<Map<_, _>>().into()
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
