//! What names there are, kept from the informers, service by service.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    net::IpAddr,
    sync::Arc,
};

use client::{Informer, ObjectKey};
use k8s_openapi::api::{
    core::v1::{Namespace, Service},
    discovery::v1::EndpointSlice,
};
use parking_lot::RwLock;

/// Label of a slice that names its service.
const SERVICE_NAME: &str = "kubernetes.io/service-name";

/// The service that a slice belongs to; one without a name if none.
pub(crate) fn service_of(slice: &EndpointSlice) -> ObjectKey {
    let name = slice.metadata.labels.as_ref().and_then(|labels| labels.get(SERVICE_NAME));
    ObjectKey::new(slice.metadata.namespace.as_deref().unwrap_or_default(), name.map_or("", String::as_str))
}

/// A port with a name, for SRV records.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NamedPort {
    /// In lower case; may be empty.
    pub name: String,
    /// `tcp`, `udp` or `sctp`.
    pub protocol: String,
    pub port: u16,
}

/// An address of a headless service.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Endpoint {
    /// The pod's host name, or its address with dashes.
    pub label: String,
    pub ip: IpAddr,
    pub ports: Vec<NamedPort>,
}

/// What a service's name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Its cluster addresses.
    Cluster(Vec<IpAddr>),
    /// Its endpoints.
    Headless(Vec<Endpoint>),
    /// Another name.
    External(String),
}

/// A service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub target: Target,
    /// Of the service itself.
    pub ports: Vec<NamedPort>,
}

#[derive(Default)]
struct Names {
    services: HashMap<ObjectKey, Arc<Entry>>,
    /// Of each address, the names below the service zone, as `web.default`.
    reverse: HashMap<IpAddr, BTreeSet<String>>,
    /// Of each service, the names of its slices.
    slices: HashMap<ObjectKey, BTreeSet<String>>,
}

pub(crate) struct Index {
    services: Informer<Service>,
    slices: Informer<EndpointSlice>,
    namespaces: Informer<Namespace>,
    names: RwLock<Names>,
}

impl Index {
    pub fn new(services: Informer<Service>, slices: Informer<EndpointSlice>, namespaces: Informer<Namespace>) -> Self {
        Index { services, slices, namespaces, names: RwLock::default() }
    }

    pub fn service(&self, namespace: &str, name: &str) -> Option<Arc<Entry>> {
        self.names.read().services.get(&ObjectKey::new(namespace, name)).cloned()
    }

    pub fn namespace_exists(&self, name: &str) -> bool {
        self.namespaces.get(&ObjectKey::new("", name)).is_some()
    }

    pub fn names_of(&self, ip: IpAddr) -> Vec<String> {
        self.names.read().reverse.get(&ip).into_iter().flatten().cloned().collect()
    }

    /// Makes the index anew from the snapshots.
    pub fn rebuild(&self) {
        let services = self.services.list();
        let mut names = Names::default();
        for slice in self.slices.list() {
            names.remember_slice(&slice);
        }
        for service in services {
            let key = ObjectKey::of(&*service);
            let entry = self.entry(&service, names.slices.get(&key));
            names.replace(key, entry);
        }
        *self.names.write() = names;
    }

    /// Brings one service up to date.
    pub fn update(&self, key: &ObjectKey) {
        let service = self.services.get(key);
        let mut names = self.names.write();
        let mut slices: BTreeSet<String> = names.slices.remove(key).unwrap_or_default();
        // Slices are many and their names not known beforehand: look for new ones only where the
        // service is headless, which are few.
        let headless = service.as_deref().is_some_and(is_headless);
        if headless {
            let of_service = self.slices.select(|slice| service_of(slice) == *key);
            slices = of_service.iter().filter_map(|slice| slice.metadata.name.clone()).collect();
        }
        let entry = service.and_then(|service| self.entry(&service, Some(&slices)));
        if !slices.is_empty() {
            names.slices.insert(key.clone(), slices);
        }
        names.replace(key.clone(), entry);
    }

    fn entry(&self, service: &Service, slices: Option<&BTreeSet<String>>) -> Option<Entry> {
        let spec = service.spec.as_ref()?;
        let ports = spec.ports.iter().flatten();
        let ports = ports.filter_map(|p| named_port(p.name.as_deref(), p.protocol.as_deref(), p.port)).collect();
        let target = if spec.type_.as_deref() == Some("ExternalName") {
            Target::External(spec.external_name.clone()?)
        } else if is_headless(service) {
            let key = ObjectKey::of(service);
            let slices = slices.into_iter().flatten();
            let slices = slices.filter_map(|name| self.slices.get(&ObjectKey::new(&*key.namespace, &**name)));
            let mut endpoints: BTreeMap<(String, IpAddr), BTreeSet<NamedPort>> = BTreeMap::new();
            for slice in slices.filter(|slice| service_of(slice) == key) {
                add_endpoints(&slice, &mut endpoints);
            }
            let endpoints = endpoints.into_iter().map(|((label, ip), ports)| Endpoint {
                label,
                ip,
                ports: ports.into_iter().collect(),
            });
            Target::Headless(endpoints.collect())
        } else {
            let many = spec.cluster_ips.as_deref().unwrap_or_default().iter();
            let ips: BTreeSet<IpAddr> = many.chain(&spec.cluster_ip).filter_map(|ip| ip.parse().ok()).collect();
            if ips.is_empty() {
                // Without an address yet.
                return None;
            }
            Target::Cluster(ips.into_iter().collect())
        };
        Some(Entry { target, ports })
    }
}

impl Names {
    fn remember_slice(&mut self, slice: &EndpointSlice) {
        if let Some(name) = &slice.metadata.name {
            self.slices.entry(service_of(slice)).or_default().insert(name.clone());
        }
    }

    fn replace(&mut self, key: ObjectKey, entry: Option<Entry>) {
        let entry = entry.map(Arc::new);
        let old = match &entry {
            Some(entry) => self.services.insert(key.clone(), entry.clone()),
            None => self.services.remove(&key),
        };
        for (ip, name) in old.iter().flat_map(|old| reverse_names(&key, old)) {
            if let Some(names) = self.reverse.get_mut(&ip) {
                names.remove(&name);
                if names.is_empty() {
                    self.reverse.remove(&ip);
                }
            }
        }
        for (ip, name) in entry.iter().flat_map(|entry| reverse_names(&key, entry)) {
            self.reverse.entry(ip).or_default().insert(name);
        }
    }
}

fn reverse_names(key: &ObjectKey, entry: &Entry) -> Vec<(IpAddr, String)> {
    let service = format!("{}.{}", key.name, key.namespace);
    match &entry.target {
        Target::Cluster(ips) => ips.iter().map(|ip| (*ip, service.clone())).collect(),
        Target::Headless(endpoints) => endpoints.iter().map(|e| (e.ip, format!("{}.{service}", e.label))).collect(),
        Target::External(_) => vec![],
    }
}

fn is_headless(service: &Service) -> bool {
    service
        .spec
        .as_ref()
        .is_some_and(|spec| spec.cluster_ip.as_deref() == Some("None") && spec.type_.as_deref() != Some("ExternalName"))
}

fn named_port(name: Option<&str>, protocol: Option<&str>, port: i32) -> Option<NamedPort> {
    Some(NamedPort {
        name: name.unwrap_or_default().to_ascii_lowercase(),
        protocol: protocol.unwrap_or("TCP").to_ascii_lowercase(),
        port: u16::try_from(port).ok()?,
    })
}

/// Those that are ready, which where the service asks for it is all of them.
fn add_endpoints(slice: &EndpointSlice, endpoints: &mut BTreeMap<(String, IpAddr), BTreeSet<NamedPort>>) {
    let ports = slice.ports.iter().flatten();
    let ports: Vec<NamedPort> =
        ports.filter_map(|p| named_port(p.name.as_deref(), p.protocol.as_deref(), p.port?)).collect();
    for endpoint in slice.endpoints.iter().flatten() {
        if endpoint.conditions.as_ref().and_then(|c| c.ready) == Some(false) {
            continue;
        }
        for ip in endpoint.addresses.iter().filter_map(|text| text.parse::<IpAddr>().ok()) {
            let label = match endpoint.hostname.as_deref().filter(|name| !name.is_empty()) {
                Some(name) => name.to_ascii_lowercase(),
                None => ip.to_string().replace(['.', ':'], "-"),
            };
            endpoints.entry((label, ip)).or_default().extend(ports.iter().cloned());
        }
    }
}
