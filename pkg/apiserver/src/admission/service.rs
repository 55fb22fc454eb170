//! Cluster IPs, IP families and node ports of Services.
//!
//! # Guarantees
//! - What is in use is read from the Services themselves and from IPAddress objects. A memo keeps one
//!   parsed entry to each Service, by revision.
//! - Addresses come from the ServiceCIDRs that are ready, or while there are none from the range that
//!   the server was started with.
//! - Allocation and commit happen under one lock, so that no two Services get the same; what is written
//!   with them says so to other servers ([`crate::service_ips`], [`crate::service_ports`]).

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    net::Ipv4Addr,
    str::FromStr,
    sync::Arc,
};

use api::{
    Status, Value, meta,
    validation::{FieldErrors, Reason},
};
use bytes::Bytes;
use rand::Rng as _;
use serde_json::json;
use tokio::sync::Mutex;

mod families;

use super::{Attributes, Operation, Plugin};
use crate::{
    cache::{Cache, Object},
    call::Call,
    service_ips,
    service_ports::{self, NodePort, protocol},
};

/// The addresses of Services.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceCidr {
    network: u32,
    prefix: u8,
}

/// Not an IPv4 network.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is not an IPv4 network between /8 and /30, such as 10.43.0.0/16")]
pub struct BadCidr(String);

impl FromStr for ServiceCidr {
    type Err = BadCidr;
    fn from_str(text: &str) -> Result<Self, BadCidr> {
        let bad = || BadCidr(text.to_owned());
        let (address, prefix) = text.split_once('/').ok_or_else(bad)?;
        let address: Ipv4Addr = address.parse().map_err(|_| bad())?;
        let prefix: u8 = prefix.parse().ok().filter(|p| (8..=30).contains(p)).ok_or_else(bad)?;
        let mask = u32::MAX << (32 - prefix);
        Ok(ServiceCidr { network: u32::from(address) & mask, prefix })
    }
}

impl std::fmt::Display for ServiceCidr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", Ipv4Addr::from(self.network), self.prefix)
    }
}

impl ServiceCidr {
    /// The first address: that of the API's own Service.
    pub fn first(&self) -> Ipv4Addr {
        Ipv4Addr::from(self.network + 1)
    }

    /// Addresses that can be given: all but the network's and the broadcast address.
    fn size(&self) -> u32 {
        (1u32 << (32 - self.prefix)) - 2
    }

    /// Whether a Service may have this address.
    pub fn contains(&self, address: Ipv4Addr) -> bool {
        (1..=self.size()).contains(&u32::from(address).wrapping_sub(self.network))
    }

    /// A free address: from the upper band first, since people choose theirs from the lower one.
    fn pick(&self, used: &HashSet<Ipv4Addr>, random: u32) -> Option<Ipv4Addr> {
        let size = self.size();
        let band = (size / 16).clamp(16, 256).min(size / 2);
        let upper = size - band;
        let at = |offset: u32| Ipv4Addr::from(self.network + 1 + offset);
        let in_upper = (0..upper).map(|step| at(band + (random % upper + step) % upper));
        let in_lower = (0..band).map(at);
        in_upper.chain(in_lower).find(|address| !used.contains(address))
    }
}

const NODE_PORTS: std::ops::RangeInclusive<u16> = 30000..=32767;

/// What Services hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Held {
    ips: BTreeSet<Ipv4Addr>,
    /// Port and protocol.
    ports: BTreeSet<NodePort>,
}

impl Held {
    fn read(service: &Value) -> Self {
        Held { ips: service_ips::addresses(service).into_iter().collect(), ports: service_ports::held(service) }
    }
}

/// What others hold, for one decision.
#[derive(Debug, Default)]
struct Taken {
    ips: HashSet<Ipv4Addr>,
    ports: HashSet<NodePort>,
}

type Memo = HashMap<Bytes, (i64, Held)>;

/// Allocates for Services as they are made and changed.
#[derive(Default)]
pub struct Allocation {
    memo: Arc<Mutex<Memo>>,
}

#[async_trait::async_trait]
impl Plugin for Allocation {
    fn name(&self) -> &'static str {
        "ServiceAllocation"
    }

    async fn mutate(&self, attributes: &Attributes<'_>, object: &mut Value) -> Result<(), Status> {
        if !attributes.is_core("services") || !matches!(attributes.operation, Operation::Create | Operation::Update) {
            return Ok(());
        }
        let call = attributes.call;
        if let Some(old) = attributes.old {
            carry_over(object, old);
        }
        families::complete(object, attributes.old).refuse("", "Service", meta::name(object))?;
        let own = attributes.old.map(Held::read).unwrap_or_default();
        if complete(object) && Held::read(object) == own {
            return Ok(());
        }
        let mut memo = self.memo.clone().lock_owned().await;
        call.server.caches.at_head().await?;
        let cache = call.server.caches.of(&call.kind).await?;
        let own_key = crate::keys::object(&call.kind, call.namespace(), meta::name(object));
        let mut taken = taken(&mut memo, &cache, own_key.as_bytes());
        let objects = listed(call, "ipaddresses").await?;
        taken.ips.extend(service_ips::taken(&objects, call.namespace(), meta::name(object)));
        let mut ranges = ranges(listed(call, "servicecidrs").await?.iter().filter_map(|o| o.stored.tree().ok()));
        if ranges.is_empty() {
            ranges.push(call.server.service_cidr);
        }
        let errors = allocate(object, &own, taken, &ranges, &mut || rand::rng().random());
        errors.refuse("", "Service", meta::name(object))?;
        // The lock is held until the commit.
        attributes.held.lock().push(Box::new(memo));
        Ok(())
    }
}

/// All objects of a kind of the networking group.
async fn listed(call: &Call, resource: &str) -> Result<Vec<Arc<Object>>, Status> {
    let Some(kind) = call.kinds.by_resource("networking.k8s.io", "v1", resource) else { return Ok(Vec::new()) };
    Ok(call.server.caches.of(kind).await?.all())
}

/// The IPv4 ranges of the ServiceCIDRs that addresses may come from.
fn ranges(objects: impl Iterator<Item = Value>) -> Vec<ServiceCidr> {
    let mut ranges = Vec::new();
    for object in objects {
        let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
        let unready = conditions.into_iter().any(|c| c["type"] == "Ready" && c["status"] == "False");
        if unready || !object["metadata"]["deletionTimestamp"].is_null() {
            continue;
        }
        let cidrs = object["spec"]["cidrs"].as_array().into_iter().flatten().filter_map(Value::as_str);
        ranges.extend(cidrs.filter_map(|cidr| cidr.parse::<ServiceCidr>().ok()));
    }
    ranges
}

fn taken(memo: &mut Memo, cache: &Cache, own: &[u8]) -> Taken {
    let objects = cache.all();
    if memo.len() > objects.len() {
        let live: HashSet<&Bytes> = objects.iter().map(|o| &o.key).collect();
        memo.retain(|key, _| live.contains(key));
    }
    let mut taken = Taken::default();
    for object in &objects {
        let revision = object.stored.revision;
        let entry = memo.entry(object.key.clone()).or_insert_with(|| (0, Held::default()));
        if entry.0 != revision {
            *entry = (revision, object.stored.tree().map(|tree| Held::read(&tree)).unwrap_or_default());
        }
        if object.key != own {
            taken.ips.extend(entry.1.ips.iter().copied());
            taken.ports.extend(entry.1.ports.iter().cloned());
        }
    }
    taken
}

fn kind_of(service: &Value) -> &str {
    service["spec"]["type"].as_str().filter(|t| !t.is_empty()).unwrap_or("ClusterIP")
}

fn wants_ip(service: &Value) -> bool {
    kind_of(service) != "ExternalName" && service["spec"]["clusterIP"] != "None"
}

fn wants_ports(service: &Value) -> bool {
    match kind_of(service) {
        "NodePort" => true,
        "LoadBalancer" => service["spec"]["allocateLoadBalancerNodePorts"] != false,
        _ => false,
    }
}

fn wants_health_port(service: &Value) -> bool {
    kind_of(service) == "LoadBalancer" && service["spec"]["externalTrafficPolicy"] == "Local"
}

fn text<'a>(spec: &'a Value, field: &str) -> &'a str {
    spec[field].as_str().unwrap_or_default()
}

/// Whether nothing is left to allocate.
fn complete(service: &Value) -> bool {
    let spec = &service["spec"];
    let ip =
        kind_of(service) == "ExternalName" || (!text(spec, "clusterIP").is_empty() && spec["clusterIPs"].is_array());
    let ports = spec["ports"].as_array().into_iter().flatten();
    ip && (!wants_ports(service) || ports.into_iter().all(|p| p["nodePort"].as_u64().unwrap_or(0) != 0))
        && (!wants_health_port(service) || spec["healthCheckNodePort"].as_u64().unwrap_or(0) != 0)
}

/// Gives an update what the Service had and the client left out, and takes away what a change of
/// type makes void.
fn carry_over(new: &mut Value, old: &Value) {
    let (new_type, old_type) = (kind_of(new).to_owned(), kind_of(old).to_owned());
    if new_type == "ExternalName" {
        if old_type != "ExternalName"
            && let Some(spec) = new["spec"].as_object_mut()
        {
            for field in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
                spec.remove(field);
            }
        }
    } else if old_type != "ExternalName" && text(&new["spec"], "clusterIP").is_empty() {
        for field in ["clusterIP", "clusterIPs"] {
            if !old["spec"][field].is_null() {
                new["spec"][field] = old["spec"][field].clone();
            }
        }
    }
    for field in ["ipFamilies", "ipFamilyPolicy"] {
        if new_type != "ExternalName" && new["spec"][field].is_null() && !old["spec"][field].is_null() {
            new["spec"][field] = old["spec"][field].clone();
        }
    }
    let (keep, had) = (wants_ports(new), wants_ports(old));
    let old_ports: Vec<Value> = old["spec"]["ports"].as_array().cloned().unwrap_or_default();
    for port in new["spec"].get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
        let same = old_ports.iter().find(|o| o["port"] == port["port"] && protocol(o) == protocol(port));
        let Some(old_node_port) = same.map(|o| o["nodePort"].clone()).filter(|p| p.as_u64().unwrap_or(0) != 0) else {
            continue;
        };
        if keep && had && port["nodePort"].as_u64().unwrap_or(0) == 0 {
            port["nodePort"] = old_node_port;
        } else if !keep
            && had
            && port["nodePort"] == old_node_port
            && let Some(port) = port.as_object_mut()
        {
            port.remove("nodePort");
        }
    }
    let health = old["spec"]["healthCheckNodePort"].clone();
    if !health.is_null() {
        if wants_health_port(new) && new["spec"]["healthCheckNodePort"].is_null() {
            new["spec"]["healthCheckNodePort"] = health;
        } else if !wants_health_port(new)
            && new["spec"]["healthCheckNodePort"] == health
            && let Some(spec) = new["spec"].as_object_mut()
        {
            spec.remove("healthCheckNodePort");
        }
    }
}

/// Fills in addresses and ports. `own` is what the Service holds already.
fn allocate(
    service: &mut Value,
    own: &Held,
    mut taken: Taken,
    ranges: &[ServiceCidr],
    random: &mut dyn FnMut() -> u32,
) -> FieldErrors {
    let mut errors = FieldErrors::default();
    if kind_of(service) != "ExternalName" {
        let headless = !wants_ip(service);
        let spec = &mut service["spec"];
        if headless {
            spec["clusterIPs"] = json!(["None"]);
        } else {
            allocate_ip(spec, own, &taken, ranges, random(), &mut errors);
        }
    }
    allocate_ports(service, own, &mut taken, random, &mut errors);
    errors
}

fn allocate_ip(
    spec: &mut Value,
    own: &Held,
    taken: &Taken,
    ranges: &[ServiceCidr],
    random: u32,
    errors: &mut FieldErrors,
) {
    let first = spec["clusterIPs"][0].as_str().map(str::to_owned);
    let given = Some(text(spec, "clusterIP").to_owned()).filter(|ip| !ip.is_empty()).or(first);
    let refuse = |errors: &mut FieldErrors, value: &str, why: String| {
        errors.push(
            "spec.clusterIPs",
            Reason::Invalid,
            json!([value]),
            format!("failed to allocate IP {value}: {why}"),
        );
    };
    let address = match given {
        None => match ranges.iter().find_map(|range| range.pick(&taken.ips, random)) {
            Some(address) => address.to_string(),
            None => {
                errors.push(
                    "spec.clusterIPs",
                    Reason::Invalid,
                    json!([]),
                    "failed to allocate a serviceIP: range is full",
                );
                return;
            }
        },
        Some(given) => {
            match given.parse::<Ipv4Addr>() {
                Err(_) => {
                    let why = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
                    errors.push("spec.clusterIPs[0]", Reason::Invalid, given.as_str(), why);
                }
                Ok(address) if !own.ips.contains(&address) && !ranges.iter().any(|range| range.contains(address)) => {
                    refuse(errors, &given, "the provided network does not match the current range".to_owned());
                }
                Ok(address) if taken.ips.contains(&address) => {
                    refuse(errors, &given, "provided IP is already allocated".to_owned());
                }
                Ok(_) => {}
            }
            given
        }
    };
    spec["clusterIP"] = address.as_str().into();
    spec["clusterIPs"] = json!([address]);
}

fn allocate_ports(
    service: &mut Value,
    own: &Held,
    taken: &mut Taken,
    random: &mut dyn FnMut() -> u32,
    errors: &mut FieldErrors,
) {
    let (allocate, health) = (wants_ports(service), wants_health_port(service));
    let spec = &mut service["spec"];
    // One number serves the TCP and the UDP side of the same port.
    let mut numbers: HashMap<u64, u16> = HashMap::new();
    for (index, port) in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten().enumerate() {
        let number = u16::try_from(port["nodePort"].as_u64().unwrap_or(0)).unwrap_or(0);
        let wanted = (number, protocol(port).to_owned());
        if number != 0 {
            let path = format!("spec.ports[{index}].nodePort");
            if !NODE_PORTS.contains(&number) && !own.ports.contains(&wanted) {
                let why = format!(
                    "provided port is not in the valid range. The range of valid ports is {}-{}",
                    NODE_PORTS.start(),
                    NODE_PORTS.end()
                );
                errors.push(path, Reason::Invalid, i64::from(number), why);
            } else if taken.ports.contains(&wanted) {
                errors.push(path, Reason::Invalid, i64::from(number), "provided port is already allocated");
            }
            numbers.entry(port["port"].as_u64().unwrap_or(0)).or_insert(number);
            taken.ports.insert(wanted);
        }
    }
    for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
        if !allocate || port["nodePort"].as_u64().unwrap_or(0) != 0 {
            continue;
        }
        let protocol = protocol(port).to_owned();
        let key = port["port"].as_u64().unwrap_or(0);
        let shared = numbers.get(&key).copied().filter(|n| !taken.ports.contains(&(*n, protocol.clone())));
        let Some(number) = shared.or_else(|| free_port(taken, random())) else {
            errors.push("spec.ports", Reason::Invalid, Value::Null, "failed to allocate a nodePort: range is full");
            return;
        };
        port["nodePort"] = number.into();
        numbers.insert(key, number);
        taken.ports.insert((number, protocol));
    }
    if health
        && spec["healthCheckNodePort"].as_u64().unwrap_or(0) == 0
        && let Some(number) = free_port(taken, random())
    {
        spec["healthCheckNodePort"] = number.into();
    }
}

/// A port that is free for every protocol.
fn free_port(taken: &Taken, random: u32) -> Option<u16> {
    let size = u32::from(NODE_PORTS.end() - NODE_PORTS.start()) + 1;
    let used: HashSet<u16> = taken.ports.iter().map(|(port, _)| *port).collect();
    (0..size)
        .map(|step| NODE_PORTS.start() + u16::try_from((random % size + step) % size).unwrap_or(0))
        .find(|p| !used.contains(p))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cidr() -> ServiceCidr {
        "10.43.0.0/24".parse().unwrap()
    }

    fn run(mut service: Value, own: &Held, taken: Taken) -> Result<Value, String> {
        let errors = allocate(&mut service, own, taken, &[cidr()], &mut || 5);
        if errors.is_empty() { Ok(service["spec"].clone()) } else { Err(errors.to_string()) }
    }

    #[test]
    fn networks_are_parsed() {
        assert_eq!(cidr().first().to_string(), "10.43.0.1");
        assert_eq!(cidr().to_string(), "10.43.0.0/24");
        for bad in ["10.0.0.0", "x/8", "10.0.0.0/33", "fd00::/64"] {
            assert!(bad.parse::<ServiceCidr>().is_err(), "{bad}");
        }
    }

    #[test]
    fn addresses_and_ports_are_given() {
        let own = Held::default();
        let spec = run(json!({"spec": {"ports": [{"port": 80}]}}), &own, Taken::default()).unwrap();
        assert_eq!(spec["clusterIPs"], json!([spec["clusterIP"]]));
        assert!(spec["ports"][0]["nodePort"].is_null());
        let spec = run(json!({"spec": {"clusterIP": "None"}}), &own, Taken::default()).unwrap();
        assert_eq!(spec["clusterIPs"], json!(["None"]));
        let spec = run(json!({"spec": {"type": "NodePort", "ports": [{"port": 53, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}]}}), &own, Taken::default()).unwrap();
        assert_eq!(spec["ports"][0]["nodePort"], spec["ports"][1]["nodePort"]);
        assert_eq!(spec["ports"][0]["nodePort"], 30005);
        let spec = run(json!({"spec": {"type": "ExternalName"}}), &own, Taken::default()).unwrap();
        assert!(spec["clusterIP"].is_null());
        let ip: Ipv4Addr = "10.43.0.10".parse().unwrap();
        let taken = || Taken { ips: [ip].into(), ports: [(30080, "TCP".to_owned())].into() };
        let error = run(json!({"spec": {"clusterIP": "10.43.0.10"}}), &own, taken()).unwrap_err();
        assert!(error.ends_with("failed to allocate IP 10.43.0.10: provided IP is already allocated"), "{error}");
        assert!(
            run(json!({"spec": {"clusterIP": "10.44.0.10"}}), &own, taken())
                .unwrap_err()
                .contains("the provided network does not match the current range")
        );
        let error =
            run(json!({"spec": {"type": "NodePort", "ports": [{"port": 1, "nodePort": 30080}]}}), &own, taken())
                .unwrap_err();
        assert_eq!(error, "spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated");
    }

    #[test]
    fn ready_ranges_are_used_in_order() {
        let objects = [
            json!({"metadata": {"name": "kubernetes"}, "spec": {"cidrs": ["10.0.0.0/30"]}}),
            json!({"metadata": {"name": "going", "deletionTimestamp": "t"}, "spec": {"cidrs": ["10.1.0.0/24"]}}),
            json!({"metadata": {"name": "unready"}, "spec": {"cidrs": ["10.2.0.0/24"]},
                "status": {"conditions": [{"type": "Ready", "status": "False"}]}}),
            json!({"metadata": {"name": "more"}, "spec": {"cidrs": ["fd00::/112", "10.3.0.0/24"]}}),
        ];
        let found = ranges(objects.into_iter());
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), ["10.0.0.0/30", "10.3.0.0/24"]);
        let full = Taken { ips: ["10.0.0.1", "10.0.0.2"].map(|ip| ip.parse().unwrap()).into(), ..Taken::default() };
        let mut service = json!({"spec": {"ports": [{"port": 80}]}});
        assert!(allocate(&mut service, &Held::default(), full, &found, &mut || 0).is_empty());
        assert!(service["spec"]["clusterIP"].as_str().unwrap().starts_with("10.3.0."), "{service}");
    }

    #[test]
    fn the_upper_band_is_used_first_and_everything_before_it_is_full() {
        let cidr: ServiceCidr = "10.0.0.0/28".parse().unwrap();
        let mut used = HashSet::new();
        for _ in 0..14 {
            let address = cidr.pick(&used, 3).unwrap();
            assert!(cidr.contains(address) && used.insert(address));
        }
        assert_eq!(cidr.pick(&used, 3), None);
    }

    #[test]
    fn updates_keep_what_they_leave_out() {
        let old = json!({"spec": {"type": "NodePort", "clusterIP": "10.43.0.9", "clusterIPs": ["10.43.0.9"], "ipFamilies": ["IPv4"], "ports": [{"port": 80, "nodePort": 30001}]}});
        let mut new = json!({"spec": {"type": "NodePort", "ports": [{"port": 80}]}});
        carry_over(&mut new, &old);
        assert!(complete(&new));
        assert_eq!(Held::read(&new), Held::read(&old));
        let mut cluster = json!({"spec": {"type": "ClusterIP", "ports": [{"port": 80, "nodePort": 30001}]}});
        carry_over(&mut cluster, &old);
        assert!(cluster["spec"]["ports"][0]["nodePort"].is_null());
        let mut external = old.clone();
        external["spec"]["type"] = "ExternalName".into();
        carry_over(&mut external, &old);
        assert!(external["spec"]["clusterIP"].is_null());
    }
}
