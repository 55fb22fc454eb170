//! Node ports of Services: one key to each port that a Service holds, as `/registry/services/nodeports/30080/TCP` with
//! `NAMESPACE/NAME` in it. They are written as IPAddress objects are ([`crate::service_ips`]), and for the same reason.

use std::collections::{BTreeMap, BTreeSet};

use api::{Status, Value, meta};
use bytes::Bytes;
use store::{Compare, KeyRange, KeyValue, Op, Range, Txn};

use crate::{
    keys,
    server::Server,
    service_ips::{self, Companions},
};

/// Beside the Services and their Endpoints.
const PREFIX: &str = "services/nodeports/";

/// Port and protocol.
pub type NodePort = (u16, String);

/// The protocol of a Service's port.
pub fn protocol(port: &Value) -> &str {
    port["protocol"].as_str().unwrap_or("TCP")
}

/// The ports that a Service holds on nodes, also for health checks.
pub fn held(service: &Value) -> BTreeSet<NodePort> {
    let spec = &service["spec"];
    let number = |port: &Value| u16::try_from(port.as_u64().unwrap_or(0)).ok().filter(|port| *port != 0);
    let listed = spec["ports"].as_array().into_iter().flatten();
    let mut ports: BTreeSet<NodePort> =
        listed.filter_map(|port| Some((number(&port["nodePort"])?, protocol(port).to_owned()))).collect();
    ports.extend(number(&spec["healthCheckNodePort"]).map(|port| (port, "TCP".to_owned())));
    ports
}

fn key((port, protocol): &NodePort) -> Bytes {
    format!("{}{PREFIX}{port}/{protocol}", keys::ROOT).into()
}

fn holder(namespace: &str, name: &str) -> Bytes {
    format!("{namespace}/{name}").into()
}

/// Adds what becomes of the ports of a Service between two of its states.
pub async fn accompany(
    server: &Server,
    companions: &mut Companions,
    (namespace, name): (&str, &str),
    (old, new): (Option<&Value>, Option<&Value>),
) -> Result<(), Status> {
    let (old, new) = (old.map(held).unwrap_or_default(), new.map(held).unwrap_or_default());
    let holder = holder(namespace, name);
    for port in old.symmetric_difference(&new) {
        let key = key(port);
        let found = read(server, KeyRange::key(key.clone())).await?;
        let own = found.first().is_some_and(|kv| kv.value == holder);
        if old.contains(port) && own {
            companions.then.push(Op::Delete(KeyRange::key(key)));
        } else if new.contains(port) && !own {
            companions.when.push(Compare::mod_revision(key.clone(), 0));
            companions.then.push(Op::put(key, holder.clone()));
        }
    }
    Ok(())
}

async fn read(server: &Server, keys: KeyRange) -> Result<Vec<KeyValue>, Status> {
    Ok(server.store.range(Range::head(keys)).await.map_err(keys::store_error)?.kvs)
}

/// A key that is to be gone, or to name another Service; and the state that it must still be in.
type Repair = (Bytes, i64, Option<Bytes>);

/// What is missing and what is too much. Pure.
fn decide(services: &[Value], found: &[KeyValue]) -> Vec<Repair> {
    let mut wanted: BTreeMap<Bytes, Bytes> = BTreeMap::new();
    for service in services {
        for port in held(service) {
            wanted.entry(key(&port)).or_insert_with(|| holder(meta::namespace(service), meta::name(service)));
        }
    }
    let mut steps = Vec::new();
    for kv in found {
        let right = wanted.remove(&kv.key);
        if right.as_ref() != Some(&kv.value) {
            steps.push((kv.key.clone(), kv.mod_revision, right));
        }
    }
    steps.extend(wanted.into_iter().map(|(key, holder)| (key, 0, Some(holder))));
    steps
}

/// Brings the keys in line with the Services, once.
pub async fn repair(server: &Server) -> Result<(), Status> {
    let kinds = server.kinds();
    let Some(kind) = kinds.by_resource("", "v1", "services") else { return Ok(()) };
    // As with addresses: the Services are looked at last, and a key is touched only if it is as it was.
    let found = read(server, KeyRange::prefix(format!("{}{PREFIX}", keys::ROOT))).await?;
    let objects = service_ips::listed(server, kind).await?;
    let services: Vec<Value> = objects.iter().filter_map(|object| object.stored.tree().ok()).collect();
    let steps = decide(&services, &found);
    if !steps.is_empty() {
        tracing::info!(steps = steps.len(), "node ports of Services and their keys differ and are brought in line");
    }
    for (key, seen, holder) in steps {
        let mut when = vec![Compare::mod_revision(key.clone(), seen)];
        let then = match holder {
            None => Op::Delete(KeyRange::key(key)),
            Some(holder) => {
                // A Service that has gone since has no ports.
                let service = [keys::prefix(kind).as_bytes(), &holder].concat();
                let revision = objects.iter().find(|object| object.key == service).map_or(0, |o| o.stored.revision);
                when.push(Compare::mod_revision(service, revision));
                Op::put(key, holder)
            }
        };
        let txn = Txn { when, then: vec![then], ..Txn::default() };
        server.store.txn(txn).await.map_err(keys::store_error)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn repair_makes_what_is_missing_and_removes_what_is_nobodys() {
        let service = |name: &str, ports: Value| json!({"metadata": {"namespace": "ns", "name": name}, "spec": {"healthCheckNodePort": ports[1], "ports": [{"nodePort": ports[0]}, {"nodePort": ports[0], "protocol": "UDP"}]}});
        let kv = |port: u16, protocol: &str, name: &str| {
            let (key, value) = (key(&(port, protocol.to_owned())), holder("ns", name));
            KeyValue { key, value, create_revision: 1, mod_revision: 7, version: 1, lease: 0 }
        };
        let services =
            [service("a", json!([30001, 30002])), service("b", json!([30003])), service("c", json!([30003]))];
        let found = [kv(30001, "TCP", "a"), kv(30001, "UDP", "gone"), kv(30009, "TCP", "gone"), kv(30003, "TCP", "b")];
        let step = |port, protocol: &str, seen, name: Option<&str>| {
            (key(&(port, protocol.to_owned())), seen, name.map(|name| holder("ns", name)))
        };
        let want = [
            step(30001, "UDP", 7, Some("a")),
            step(30009, "TCP", 7, None),
            step(30002, "TCP", 0, Some("a")),
            step(30003, "UDP", 0, Some("b")),
        ];
        assert_eq!(decide(&services, &found), want);
        // Done, there is nothing left to do.
        let all =
            [(30001, "TCP", "a"), (30001, "UDP", "a"), (30002, "TCP", "a"), (30003, "TCP", "b"), (30003, "UDP", "b")];
        assert_eq!(decide(&services, &all.map(|(port, protocol, name)| kv(port, protocol, name))), []);
    }
}
