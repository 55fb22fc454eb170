//! `ComponentStatus`: a view that is made when it is asked for. Nothing is stored.
//!
//! Controllers and scheduler are parts of this process, which ends as a whole: where this answers,
//! they run. The store is asked.

use api::{Status, Value, meta};
use serde_json::json;

use crate::{
    cache::{Facts, Object},
    call::Call,
    keys,
    query::ListOptions,
    reply::{List, Reply},
    stored::{Stored, encode},
    verbs::select::Selection,
};

/// Parts of this process, as upstream names them.
const OWN: [&str; 2] = ["controller-manager", "scheduler"];
const STORE: &str = "etcd-0";

/// Answers a get or a list.
pub async fn handle(call: &Call) -> Result<Reply, Status> {
    let mut all: Vec<Value> = OWN.iter().map(|name| component(name, Ok(()))).collect();
    let store = call.server.store.revision().await.map(drop).map_err(|error| error.to_string());
    all.push(component(STORE, store));
    all.sort_by(|a, b| meta::name(a).cmp(meta::name(b)));
    match call.info.verb {
        "get" => {
            let found = all.into_iter().find(|component| meta::name(component) == call.info.name);
            let found = found.ok_or_else(|| Status::not_found("", "componentstatus", &call.info.name))?;
            Ok(Reply::Object(200, Stored::new(encode(&found), 0)?))
        }
        "list" => {
            let mut options = ListOptions::parse(&call.query, false)?;
            let selection = Selection::new(&call.kind, &mut options, &call.info.name, &[])?;
            let mut list = List::default();
            for component in &all {
                let key = keys::object(&call.kind, "", meta::name(component)).into();
                let object = Object { key, stored: Stored::new(encode(component), 0)?, facts: Facts::default() };
                if selection.matches(&object) {
                    list.objects.push(object.stored);
                }
            }
            Ok(Reply::List(list))
        }
        _ => Err(Status::method_not_allowed()),
    }
}

fn component(name: &str, state: Result<(), String>) -> Value {
    let condition = match state {
        Ok(()) => json!({"type": "Healthy", "status": "True", "message": "ok"}),
        Err(error) => json!({"type": "Healthy", "status": "False", "error": error}),
    };
    json!({
        "kind": "ComponentStatus", "apiVersion": "v1", "metadata": {"name": name, "creationTimestamp": null},
        "conditions": [condition],
    })
}
