//! IPAddress objects of Services: one to each address that a Service holds.
//!
//! # Guarantees
//! - They are written and removed in the transaction that writes or removes the Service, on the
//!   condition that the address is free. So they cannot leak, and servers that share a store
//!   cannot give out an address twice.
//! - [`repair`] mends at the start what older versions or hands have left ([`crate::service_repair`]).

use std::{collections::BTreeMap, net::Ipv4Addr, sync::Arc};

use api::{Kind, Status, Value, meta, tree};
use bytes::Bytes;
use serde_json::json;
use store::{Compare, KeyRange, Op};

use crate::{
    cache::Object,
    keys,
    server::Server,
    service_ports,
    service_repair::{self, Repair, Services},
    stored::{self, Stored},
};

const GROUP: &str = "networking.k8s.io";
const MANAGED_BY: &str = "ipaddress.kubernetes.io/managed-by";
const ALLOCATOR: &str = "ipallocator.k8s.io";

/// What is written along with an object.
#[derive(Debug, Default)]
pub struct Companions {
    /// Conditions.
    pub when: Vec<Compare>,
    /// Writes.
    pub then: Vec<Op>,
    /// Keys that are removed afterwards, if they still are at these revisions.
    pub rest: Vec<(Bytes, i64)>,
}

/// Whether objects of a kind have companions.
pub fn concerns(kind: &Kind) -> bool {
    kind.group.is_empty() && &*kind.plural == "services"
}

/// The cluster addresses of a Service.
pub fn addresses(service: &Value) -> Vec<Ipv4Addr> {
    let spec = &service["spec"];
    let listed = tree::texts(spec, "clusterIPs").chain([tree::text(spec, "clusterIP")]);
    let mut found: Vec<Ipv4Addr> = listed.filter_map(|text| text.parse().ok()).collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn parent(namespace: &str, name: &str) -> Value {
    json!({"resource": "services", "namespace": namespace, "name": name})
}

/// Whether an IPAddress belongs to a Service.
fn belongs(address: &Value, namespace: &str, name: &str) -> bool {
    let parent = &address["spec"]["parentRef"];
    tree::text(parent, "group").is_empty()
        && parent["resource"] == "services"
        && parent["namespace"] == namespace
        && parent["name"] == name
}

fn object(ip: Ipv4Addr, namespace: &str, name: &str, now: &str) -> Value {
    json!({
        "kind": "IPAddress", "apiVersion": "networking.k8s.io/v1",
        "metadata": {
            "name": ip.to_string(), "uid": uuid::Uuid::new_v4().to_string(), "creationTimestamp": now,
            "labels": {"ipaddress.kubernetes.io/ip-family": "IPv4", MANAGED_BY: ALLOCATOR},
        },
        "spec": {"parentRef": parent(namespace, name)},
    })
}

impl Server {
    /// What is to be written along with a new state of an object; `None` for its removal.
    pub(crate) async fn companions(
        &self,
        kind: &Kind,
        namespace: &str,
        name: &str,
        new: Option<&Value>,
    ) -> Result<Companions, Status> {
        let mut companions = Companions::default();
        let kinds = self.kinds();
        let Some(addresses_kind) = kinds.by_resource(GROUP, "v1", "ipaddresses").filter(|_| concerns(kind)) else {
            return Ok(companions);
        };
        self.caches.of(addresses_kind).await?;
        let old = self.read(kind, namespace, name).await?.map(|stored| stored.tree()).transpose()?;
        let held = old.as_ref().map(addresses).unwrap_or_default();
        let wanted = new.map(addresses).unwrap_or_default();
        for ip in wanted.iter().filter(|ip| !held.contains(ip)) {
            if self.owned(addresses_kind, *ip, namespace, name).await? == Some(true) {
                continue;
            }
            let key = Bytes::from(keys::object(addresses_kind, "", &ip.to_string()));
            companions.when.push(Compare::mod_revision(key.clone(), 0));
            let object = object(*ip, namespace, name, &crate::call::rfc3339(self.now()));
            companions.then.push(Op::put(key, stored::encode(&object)));
        }
        for ip in held.iter().filter(|ip| !wanted.contains(ip)) {
            if self.owned(addresses_kind, *ip, namespace, name).await? == Some(true) {
                let key = keys::object(addresses_kind, "", &ip.to_string());
                companions.then.push(Op::Delete(KeyRange::key(key)));
            }
        }
        service_ports::accompany(self, kind, &mut companions, (namespace, name), (old.as_ref(), new)).await?;
        Ok(companions)
    }

    /// Whether the IPAddress belongs to the Service; `None` if there is none.
    async fn owned(&self, kind: &Kind, ip: Ipv4Addr, namespace: &str, name: &str) -> Result<Option<bool>, Status> {
        let found = self.read(kind, "", &ip.to_string()).await?;
        Ok(found.map(|stored| stored.tree()).transpose()?.map(|tree| belongs(&tree, namespace, name)))
    }
}

/// A step of the repair.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// A Service's address has no object.
    Make(Ipv4Addr, String, String),
    /// An object of the allocator's is of no Service.
    Remove(String),
}

/// What is missing and what is too much. Pure.
fn decide(services: &[Value], objects: &[Value]) -> Vec<Step> {
    let mut held: BTreeMap<Ipv4Addr, (&str, &str)> = BTreeMap::new();
    for service in services {
        for ip in addresses(service) {
            held.entry(ip).or_insert((meta::namespace(service), meta::name(service)));
        }
    }
    let mut steps = Vec::new();
    for object in objects {
        let ip: Option<Ipv4Addr> = meta::name(object).parse().ok();
        let Some(ip) = ip else { continue };
        let right = held.get(&ip).is_some_and(|(namespace, name)| belongs(object, namespace, name));
        if right {
            held.remove(&ip);
        } else if object["metadata"]["labels"][MANAGED_BY] == ALLOCATOR {
            steps.push(Step::Remove(meta::name(object).to_owned()));
        } else {
            // Somebody's own: what it says is theirs to mend.
            held.remove(&ip);
        }
    }
    steps.extend(held.into_iter().map(|(ip, (namespace, name))| Step::Make(ip, namespace.into(), name.into())));
    steps
}

/// Brings the objects in line with the Services, once.
pub async fn repair(server: &Server) -> Result<(), Status> {
    let kinds = server.kinds();
    let Some(kind) = kinds.by_resource(GROUP, "v1", "ipaddresses") else { return Ok(()) };
    // The Services are looked at after their objects: one that comes in between is missed by neither.
    let objects = service_repair::listed(server, kind).await?;
    let Some(services) = Services::read(server).await? else { return Ok(()) };
    let steps = decide(&services.trees(), &service_repair::trees(&objects));
    if !steps.is_empty() {
        let steps = steps.len();
        tracing::info!(steps, "addresses of Services and their IPAddress objects differ and are brought in line");
    }
    let now = crate::call::rfc3339(server.now());
    let key = |name: &str| Bytes::from(keys::object(kind, "", name));
    let seen = |name: &str| objects.iter().find(|o| o.name() == name).map_or(0, |o| o.stored.revision);
    let repairs = steps.into_iter().map(|step| match step {
        Step::Make(ip, namespace, name) => {
            let object = stored::encode(&object(ip, &namespace, &name, &now));
            Repair { key: key(&ip.to_string()), seen: 0, put: Some((object, format!("{namespace}/{name}"))) }
        }
        Step::Remove(name) => Repair { key: key(&name), seen: seen(&name), put: None },
    });
    services.repair(server, repairs.collect()).await
}

/// The addresses that are taken by objects, but for those of one Service.
pub fn taken(objects: &[Arc<Object>], namespace: &str, name: &str) -> Vec<Ipv4Addr> {
    let others = |stored: &Stored| stored.tree().map_or(true, |tree| !belongs(&tree, namespace, name));
    let found = objects.iter().filter_map(|object| Some((object.name().parse().ok()?, object)));
    found.filter(|(_, object)| others(&object.stored)).map(|(ip, _)| ip).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repair_makes_what_is_missing_and_removes_what_is_nobodys() {
        let service = |name: &str, ip: &str| json!({"metadata": {"namespace": "ns", "name": name}, "spec": {"clusterIP": ip, "clusterIPs": [ip]}});
        let ip = |text: &str| -> Ipv4Addr { text.parse().unwrap() };
        let made = |address: &str, name: &str| object(ip(address), "ns", name, "t");
        let mut own = made("10.0.0.4", "other");
        own["metadata"]["labels"] = json!({});
        let services = [
            service("a", "10.0.0.1"),
            service("b", "10.0.0.2"),
            service("c", "None"),
            service("d", "10.0.0.3"),
            service("e", "10.0.0.4"),
        ];
        let objects = [made("10.0.0.1", "a"), made("10.0.0.3", "gone"), made("10.0.0.9", "x"), own];
        let steps = decide(&services, &objects);
        assert_eq!(
            steps,
            [
                Step::Remove("10.0.0.3".into()),
                Step::Remove("10.0.0.9".into()),
                Step::Make(ip("10.0.0.2"), "ns".into(), "b".into()),
                Step::Make(ip("10.0.0.3"), "ns".into(), "d".into()),
            ]
        );
        // Done, there is nothing left to do.
        let services = &services[..4];
        let after = [made("10.0.0.1", "a"), made("10.0.0.2", "b"), made("10.0.0.3", "d")];
        assert_eq!(decide(services, &after), []);
    }
}
