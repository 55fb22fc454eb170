//! Node ports of Services: one key to each port that a Service holds, as `/registry/services/nodeports/30080/TCP` with
//! `NAMESPACE/NAME` in it. They are written as IPAddress objects are ([`crate::service_ips`]), and for the same reason.
//!
//! # Guarantees
//! - A Service that holds a port has its key, and nobody else gets it.
//! - A key whose Service does not hold its port is free: who wants it writes it anew.
//!
//! # Caveats
//! - A transaction takes up or gives back [`MOST`] ports, since an etcd takes 128 operations. So many can be taken at
//!   once; what is given back beyond them goes afterwards.

use std::collections::{BTreeMap, BTreeSet};

use api::{Kind, Status, Value, meta, validation::FieldErrors};
use bytes::Bytes;
use store::{Compare, KeyRange, KeyValue, Op, Range, Txn};

use crate::{
    keys,
    server::Server,
    service_ips::Companions,
    service_repair::{Repair, Services},
};

/// Ports in one transaction, beside the Service and its address.
const MOST: usize = 120;

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
    kind: &Kind,
    companions: &mut Companions,
    (namespace, name): (&str, &str),
    (old, new): (Option<&Value>, Option<&Value>),
) -> Result<(), Status> {
    let (old, new) = (old.map(held).unwrap_or_default(), new.map(held).unwrap_or_default());
    if old == new {
        return Ok(());
    }
    let taken: Vec<&NodePort> = new.difference(&old).collect();
    if taken.len() > MOST {
        let mut errors = FieldErrors::default();
        errors.too_many("spec.ports", taken.len(), MOST);
        return Err(Status::invalid("", "Service", name, &errors));
    }
    let found = read(server).await?;
    let holder = holder(namespace, name);
    for port in &taken {
        let key = key(port);
        let seen = match found.get(&key) {
            Some(kv) if kv.value == holder || !holds(server, kind, &kv.value, port).await? => kv.mod_revision,
            _ => 0,
        };
        companions.when.push(Compare::mod_revision(key.clone(), seen));
        companions.then.push(Op::put(key, holder.clone()));
    }
    let given = old.difference(&new).filter_map(|port| found.get(&key(port))).filter(|kv| kv.value == holder);
    for (at, kv) in given.enumerate() {
        if taken.len() + at < MOST {
            companions.then.push(Op::Delete(KeyRange::key(kv.key.clone())));
        } else {
            companions.rest.push((kv.key.clone(), kv.mod_revision));
        }
    }
    Ok(())
}

/// All keys of node ports.
async fn read(server: &Server) -> Result<BTreeMap<Bytes, KeyValue>, Status> {
    let all = KeyRange::prefix(format!("{}{PREFIX}", keys::ROOT));
    let found = server.store.range(Range::head(all)).await.map_err(keys::store_error)?;
    Ok(found.kvs.into_iter().map(|kv| (kv.key.clone(), kv)).collect())
}

/// Whether a Service, by the value of a key, holds a port.
async fn holds(server: &Server, kind: &Kind, holder: &[u8], port: &NodePort) -> Result<bool, Status> {
    let holder = String::from_utf8_lossy(holder);
    let Some((namespace, name)) = holder.split_once('/') else { return Ok(false) };
    let service = server.read(kind, namespace, name).await?.map(|stored| stored.tree()).transpose()?;
    Ok(service.is_some_and(|service| held(&service).contains(port)))
}

/// Removes keys that nobody has written since.
pub async fn release(server: &Server, keys: Vec<(Bytes, i64)>) {
    for (key, seen) in keys {
        let when = vec![Compare::mod_revision(key.clone(), seen)];
        let txn = Txn { when, then: vec![Op::Delete(KeyRange::key(key))], ..Txn::default() };
        if let Err(error) = server.store.txn(txn).await {
            tracing::info!(%error, "keys of node ports that nobody holds are left to the next start");
            return;
        }
    }
}

/// What is missing and what is too much. Pure.
fn decide(services: &[Value], found: impl IntoIterator<Item = KeyValue>) -> Vec<Repair> {
    let mut wanted: BTreeMap<Bytes, Bytes> = BTreeMap::new();
    for service in services {
        for port in held(service) {
            wanted.entry(key(&port)).or_insert_with(|| holder(meta::namespace(service), meta::name(service)));
        }
    }
    let put = |holder: Bytes| (holder.clone(), String::from_utf8_lossy(&holder).into_owned());
    let mut steps = Vec::new();
    for kv in found {
        let right = wanted.remove(&kv.key);
        if right.as_ref() != Some(&kv.value) {
            steps.push(Repair { key: kv.key, seen: kv.mod_revision, put: right.map(put) });
        }
    }
    steps.extend(wanted.into_iter().map(|(key, holder)| Repair { key, seen: 0, put: Some(put(holder)) }));
    steps
}

/// Brings the keys in line with the Services, once.
pub async fn repair(server: &Server) -> Result<(), Status> {
    // As with addresses, the Services are looked at last.
    let found = read(server).await?;
    let Some(services) = Services::read(server).await? else { return Ok(()) };
    let steps = decide(&services.trees(), found.into_values());
    if !steps.is_empty() {
        tracing::info!(steps = steps.len(), "node ports of Services and their keys differ and are brought in line");
    }
    services.repair(server, steps).await
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
            let put = name.map(|name| (holder("ns", name), format!("ns/{name}")));
            Repair { key: key(&(port, protocol.to_owned())), seen, put }
        };
        let want = [
            step(30001, "UDP", 7, Some("a")),
            step(30009, "TCP", 7, None),
            step(30002, "TCP", 0, Some("a")),
            step(30003, "UDP", 0, Some("b")),
        ];
        assert_eq!(decide(&services, found), want);
        // Done, there is nothing left to do.
        let all =
            [(30001, "TCP", "a"), (30001, "UDP", "a"), (30002, "TCP", "a"), (30003, "TCP", "b"), (30003, "UDP", "b")];
        assert_eq!(decide(&services, all.map(|(port, protocol, name)| kv(port, protocol, name))), []);
    }
}
