//! A stand-in for the API server: a map of objects by path, with watches. It knows as much as the kubelet needs: patches
//! merge (conditions by type), a delete with grace marks the object, one without removes it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::broadcast;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::BroadcastStream;
use tower::ServiceExt as _;

/// A change: collection path, type, object.
type Event = (String, &'static str, Value);

struct Inner {
    objects: BTreeMap<String, Value>,
    revision: u64,
    events: broadcast::Sender<Event>,
}

#[derive(Clone)]
pub struct Api(Arc<Mutex<Inner>>);

fn collection(path: &str) -> String {
    path.rsplit_once('/').map_or(path, |(collection, _)| collection).to_owned()
}

impl Api {
    pub fn new() -> Self {
        let inner = Inner { objects: BTreeMap::new(), revision: 1, events: broadcast::channel(4096).0 };
        Api(Arc::new(Mutex::new(inner)))
    }

    pub fn client(&self) -> kube::Client {
        let router = Router::new().fallback(handle).with_state(self.clone());
        let service = router.map_request(|r: http::Request<kube::client::Body>| r.map(Body::new));
        client::in_process(service, api::UserInfo::default())
    }

    pub fn get(&self, path: &str) -> Option<Value> {
        self.0.lock().objects.get(path).cloned()
    }

    pub fn list(&self, prefix: &str) -> Vec<Value> {
        self.0.lock().objects.iter().filter(|(p, _)| p.starts_with(prefix)).map(|(_, o)| o.clone()).collect()
    }

    pub fn put(&self, path: &str, mut object: Value) -> Value {
        let mut inner = self.0.lock();
        inner.revision += 1;
        object["metadata"]["resourceVersion"] = json!(inner.revision.to_string());
        let kind = if inner.objects.insert(path.into(), object.clone()).is_some() { "MODIFIED" } else { "ADDED" };
        // Nobody may be watching.
        let _ = inner.events.send((collection(path), kind, object.clone()));
        object
    }

    pub fn remove(&self, path: &str) -> Option<Value> {
        let mut inner = self.0.lock();
        let gone = inner.objects.remove(path)?;
        let _ = inner.events.send((collection(path), "DELETED", gone.clone()));
        Some(gone)
    }
}

fn merge(target: &mut Value, patch: &Value) {
    let (Some(target), Some(patch)) = (target.as_object_mut(), patch.as_object()) else { return };
    for (key, value) in patch {
        match value {
            Value::Null => {
                target.remove(key);
            }
            Value::Object(_) => {
                let slot = target.entry(key.clone()).or_insert_with(|| json!({}));
                if !slot.is_object() {
                    *slot = json!({});
                }
                merge(slot, value);
            }
            Value::Array(list) if key == "conditions" => {
                let slot = target.entry(key.clone()).or_insert_with(|| json!([]));
                let Some(have) = slot.as_array_mut() else { continue };
                for item in list {
                    match have.iter_mut().find(|h| h["type"] == item["type"]) {
                        Some(old) => merge(old, item),
                        None => have.push(item.clone()),
                    }
                }
            }
            Value::Array(list) => {
                let plain = list.iter().filter(|i| i.get("$patch").is_none()).cloned().collect();
                target.insert(key.clone(), Value::Array(plain));
            }
            other => {
                target.insert(key.clone(), other.clone());
            }
        }
    }
}

fn failure(code: StatusCode) -> Response {
    let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code.as_u16(),
                        "reason": code.canonical_reason(), "message": code.to_string(), "metadata": {}});
    (code, axum::Json(status)).into_response()
}

fn selected(object: &Value, selector: Option<&String>) -> bool {
    let fields = selector.into_iter().flat_map(|s| s.split(','));
    fields.filter_map(|f| f.split_once('=')).all(|(path, want)| {
        let pointer = format!("/{}", path.replace('.', "/"));
        object.pointer(&pointer).and_then(Value::as_str) == Some(want)
    })
}

async fn handle(
    State(api): State<Api>,
    method: Method,
    uri: Uri,
    Query(query): Query<HashMap<String, String>>,
    body: Bytes,
) -> Response {
    let path = uri.path().to_owned();
    let sent: Value = serde_json::from_slice(&body).unwrap_or_default();
    let item = path.strip_suffix("/status").unwrap_or(&path).to_owned();
    match method {
        Method::POST if path.ends_with("/token") => {
            let status = json!({"token": "a-token", "expirationTimestamp": "2099-01-01T00:00:00Z"});
            axum::Json(json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "status": status}))
                .into_response()
        }
        Method::POST => {
            let path = format!("{path}/{}", sent["metadata"]["name"].as_str().unwrap_or_default());
            if api.get(&path).is_some() {
                return failure(StatusCode::CONFLICT);
            }
            axum::Json(api.put(&path, sent)).into_response()
        }
        Method::PATCH => match api.get(&item) {
            None => failure(StatusCode::NOT_FOUND),
            Some(mut object) => {
                merge(&mut object, &sent);
                axum::Json(api.put(&item, object)).into_response()
            }
        },
        Method::DELETE => match api.remove(&item) {
            None => failure(StatusCode::NOT_FOUND),
            Some(gone) => axum::Json(gone).into_response(),
        },
        _ => read(&api, &path, &query),
    }
}

fn read(api: &Api, path: &str, query: &HashMap<String, String>) -> Response {
    if let Some(object) = api.get(path) {
        return axum::Json(object).into_response();
    }
    let last = path.rsplit('/').next().unwrap_or_default();
    if !matches!(last, "pods" | "services" | "configmaps" | "secrets" | "nodes" | "leases" | "events") {
        return failure(StatusCode::NOT_FOUND);
    }
    let selector = query.get("fieldSelector").cloned();
    let inside = {
        let (path, last) = (path.to_owned(), format!("/{last}"));
        // A list of all namespaces sees those of each.
        let all = !path.contains("/namespaces/");
        move |collection: &str| collection == path || (all && collection.ends_with(&last))
    };
    let (now, revision, events) = {
        let inner = api.0.lock();
        let now: Vec<Value> = inner
            .objects
            .iter()
            .filter(|(p, o)| inside(&collection(p)) && selected(o, selector.as_ref()))
            .map(|(_, o)| o.clone())
            .collect();
        (now, inner.revision, inner.events.subscribe())
    };
    if !query.get("watch").is_some_and(|w| w == "true" || w == "1") {
        let list = json!({"kind": "List", "apiVersion": "v1", "items": now,
                          "metadata": {"resourceVersion": revision.to_string()}});
        return axum::Json(list).into_response();
    }
    let mut first: Vec<Value> = Vec::new();
    if query.get("sendInitialEvents").is_some_and(|s| s == "true") {
        let kind = now.first().map_or("Pod", |_| "Pod");
        first.extend(now.into_iter().map(|o| json!({"type": "ADDED", "object": o})));
        let annotations = json!({"k8s.io/initial-events-end": "true"});
        let mark = json!({"kind": kind, "apiVersion": "v1", "spec": {"containers": []},
            "metadata": {"resourceVersion": revision.to_string(), "annotations": annotations}});
        first.push(json!({"type": "BOOKMARK", "object": mark}));
    }
    let later = BroadcastStream::new(events).filter_map(Result::ok).filter_map(move |(collection, kind, object)| {
        let ours = inside(&collection) && selected(&object, selector.as_ref());
        ours.then(|| json!({"type": kind, "object": object}))
    });
    let lines = tokio_stream::iter(first).chain(later).map(|event| Ok::<_, std::io::Error>(format!("{event}\n")));
    Body::from_stream(lines).into_response()
}
