//! What the commands do.

use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    net::Ipv4Addr,
};

use netlink::{Namespace, Net, PortOptions, Route, RouteKind, Rtnetlink, sysctl};
use serde_json::{Value, json};

use crate::{
    bridge,
    conf::{NetworkConf, Options},
    hostports,
    ipam::{self, Owner, Store},
    protocol::{CniError, Command, Environment},
};

type Outcome = Result<Option<Value>, CniError>;

impl From<ipam::Error> for CniError {
    fn from(error: ipam::Error) -> Self {
        CniError::new(101, "no address for the pod", &error)
    }
}

/// The `loopback` plugin.
pub(crate) fn loopback(command: Command, environment: &Environment, conf: &NetworkConf) -> Outcome {
    if !matches!(command, Command::Add | Command::Check) {
        return Ok(None);
    }
    environment.namespace()?.run(loopback_up)??;
    if command == Command::Check {
        return Ok(None);
    }
    Ok(Some(conf.prev_result.clone().unwrap_or_else(|| {
        let interfaces = json!([{ "name": "lo", "mac": "00:00:00:00:00:00", "sandbox": environment.netns }]);
        json!({
            "cniVersion": conf.cni_version,
            "interfaces": interfaces,
            "ips": [ip_entry(conf, "127.0.0.1/8", None)],
            "dns": {},
        })
    })))
}

fn loopback_up() -> netlink::Result<()> {
    let mut rtnetlink = Rtnetlink::open()?;
    let lo = rtnetlink.require_link("lo")?;
    if lo.up { Ok(()) } else { rtnetlink.set_up(lo.index) }
}

/// The `kinglet` plugin.
pub(crate) fn kinglet(command: Command, environment: &Environment, conf: &NetworkConf) -> Outcome {
    let options = conf.options()?;
    match command {
        Command::Add => add(environment, conf, &options).map(Some),
        Command::Del => del(environment, &options).map(|()| None),
        Command::Check => check(environment, &options).map(|()| None),
        Command::Gc => collect_garbage(conf, &options).map(|()| None),
        Command::Status => status(&options).map(|()| None),
        Command::Version => Ok(None),
    }
}

/// Name of the node's end of a pod's cable: the same for the same attachment, so that nothing
/// needs to be remembered.
fn host_interface(owner: &Owner) -> String {
    let mut digest = DefaultHasher::new();
    owner.hash(&mut digest);
    format!("kn{:012x}", digest.finish() & 0xffff_ffff_ffff)
}

fn add(environment: &Environment, conf: &NetworkConf, options: &Options) -> Result<Value, CniError> {
    let (container_id, ifname) = environment.attachment()?;
    let owner = Owner { container_id: container_id.to_owned(), ifname: ifname.to_owned() };
    let namespace = environment.namespace()?;
    let ports = conf.port_mappings()?;
    let gateway = options.pod_cidr.nth(1).ok_or_else(|| CniError::conf("podCIDR is too small"))?;

    let store = Store::open(&options.reservations())?;
    let ip = store.reserve(options.pod_cidr, &owner)?;
    let connected = connect(options, &owner, &namespace, ip, gateway)
        .and_then(|()| hostports::add(&options.host_ports_table, &options.bridge, ip, &ports));
    if let Err(error) = connected {
        // The runtime will call DEL too; but not every one does.
        let _ = disconnect(&owner);
        let _ = store.release(&owner);
        return Err(error.into());
    }
    let mac = |bytes: [u8; 6]| bytes.map(|b| format!("{b:02x}")).join(":");
    let interfaces = json!([
        { "name": options.bridge, "mac": mac(bridge::hardware_address(gateway)) },
        { "name": host_interface(&owner) },
        { "name": ifname, "mac": mac(bridge::hardware_address(ip)), "sandbox": environment.netns },
    ]);
    Ok(json!({
        "cniVersion": conf.cni_version,
        "interfaces": interfaces,
        "ips": [ip_entry(conf, &format!("{ip}/{}", options.pod_cidr.prefix), Some((gateway, 2)))],
        "routes": [{ "dst": "0.0.0.0/0", "gw": gateway }],
        "dns": {},
    }))
}

/// Before version 1.0 each address says of which family it is.
fn ip_entry(conf: &NetworkConf, address: &str, gateway: Option<(Ipv4Addr, u32)>) -> Value {
    let mut entry = json!({ "address": address, "interface": gateway.map_or(0, |(_, index)| index) });
    if let Some((gateway, _)) = gateway {
        entry["gateway"] = json!(gateway);
    }
    if conf.cni_version.starts_with("0.") {
        entry["version"] = json!("4");
    }
    entry
}

fn connect(
    options: &Options,
    owner: &Owner,
    namespace: &Namespace,
    ip: Ipv4Addr,
    gateway: Ipv4Addr,
) -> netlink::Result<()> {
    let mut rtnetlink = Rtnetlink::open()?;
    let address = Net::new(gateway, options.pod_cidr.prefix);
    let bridge = bridge::ensure(&mut rtnetlink, &options.bridge, address, options.mtu)?;
    let name = host_interface(owner);
    if let Some(left) = rtnetlink.link(&name)? {
        rtnetlink.delete_link(left.index)?;
    }
    rtnetlink.add_veth(&name, &owner.ifname, namespace, options.mtu, Some(bridge::hardware_address(ip)))?;
    let port = rtnetlink.require_link(&name)?;
    // Where the host passes bridged frames to its packet filter, a translated packet goes from port
    // to port without leaving the bridge, perhaps back to where it came from: hairpin, not isolated.
    rtnetlink.attach(port.index, bridge.index, PortOptions { hairpin: true, isolated: false })?;
    rtnetlink.set_up(port.index)?;
    namespace.run(|| configure_pod(&owner.ifname, ip, gateway))?
}

/// The pod's end: one address without neighbours, everything by way of the node.
fn configure_pod(ifname: &str, ip: Ipv4Addr, gateway: Ipv4Addr) -> netlink::Result<()> {
    loopback_up()?;
    // A redirect to a neighbour would lead past the node's translation of service addresses.
    for scope in ["all", "default", ifname] {
        sysctl::set(&format!("net/ipv4/conf/{scope}/accept_redirects"), "0")?;
    }
    let mut rtnetlink = Rtnetlink::open()?;
    let link = rtnetlink.require_link(ifname)?;
    rtnetlink.add_address(link.index, Net::host(ip))?;
    rtnetlink.set_up(link.index)?;
    const RTPROT_BOOT: u8 = 3;
    let route = |destination, kind| Route { destination, kind, source: None, protocol: RTPROT_BOOT };
    rtnetlink.replace_route(&route(Net::host(gateway), RouteKind::Interface(link.index)))?;
    let via = RouteKind::Gateway { via: gateway.into(), interface: Some(link.index) };
    rtnetlink.replace_route(&route(Net::new(Ipv4Addr::UNSPECIFIED, 0), via))
}

/// Removing one end of the cable removes the other.
fn disconnect(owner: &Owner) -> netlink::Result<()> {
    let mut rtnetlink = Rtnetlink::open()?;
    match rtnetlink.link(&host_interface(owner))? {
        Some(link) => rtnetlink.delete_link(link.index).or_else(|e| if e.is_not_found() { Ok(()) } else { Err(e) }),
        None => Ok(()),
    }
}

fn del(environment: &Environment, options: &Options) -> Result<(), CniError> {
    let (container_id, ifname) = environment.attachment()?;
    let owner = Owner { container_id: container_id.to_owned(), ifname: ifname.to_owned() };
    forget(options, |o| *o == owner, &[owner.clone()])
}

/// Goes through all steps for owners that `gone` accepts, whichever fail.
fn forget(options: &Options, gone: impl Fn(&Owner) -> bool, owners: &[Owner]) -> Result<(), CniError> {
    let mut errors: Vec<CniError> = Vec::new();
    errors.extend(owners.iter().filter_map(|owner| disconnect(owner).err()).map(CniError::from));
    match Store::open(&options.reservations()) {
        Err(error) => errors.push(error.into()),
        Ok(store) => {
            let held: Vec<Ipv4Addr> = match store.reservations() {
                Ok(all) => all.into_iter().filter(|(_, owner)| gone(owner)).map(|(ip, _)| ip).collect(),
                Err(error) => {
                    errors.push(error.into());
                    vec![]
                }
            };
            // Ports first: once the address is free, another pod may have it.
            match hostports::remove(&options.host_ports_table, &held) {
                Err(error) => errors.push(error.into()),
                Ok(()) => errors.extend(store.release_where(gone).err().map(CniError::from)),
            }
        }
    }
    CniError::all(errors)
}

fn check(environment: &Environment, options: &Options) -> Result<(), CniError> {
    let (container_id, ifname) = environment.attachment()?;
    let owner = Owner { container_id: container_id.to_owned(), ifname: ifname.to_owned() };
    let broken = |details: String| CniError { code: 102, message: "the pod's network is broken".into(), details };
    let reservations = Store::open(&options.reservations())?.reservations()?;
    let ip = reservations.iter().find(|(_, o)| **o == owner).map(|(ip, _)| *ip);
    let ip = ip.ok_or_else(|| broken("its address is not reserved".into()))?;
    let port = Rtnetlink::open()?.link(&host_interface(&owner))?;
    if port.is_none_or(|port| !port.up || port.controller.is_none()) {
        return Err(broken("the node's end of the cable is not on the bridge".into()));
    }
    let (link, addresses) = environment.namespace()?.run(|| -> netlink::Result<_> {
        let mut rtnetlink = Rtnetlink::open()?;
        Ok((rtnetlink.link(ifname)?, rtnetlink.addresses()?))
    })??;
    let link = link.filter(|link| link.up).ok_or_else(|| broken(format!("interface {ifname} is not there or off")))?;
    match addresses.iter().any(|a| a.index == link.index && a.net.addr == ip) {
        true => Ok(()),
        false => Err(broken(format!("interface {ifname} does not have address {ip}"))),
    }
}

fn collect_garbage(conf: &NetworkConf, options: &Options) -> Result<(), CniError> {
    let Some(valid) = &conf.valid_attachments else { return Ok(()) };
    let valid: HashSet<Owner> =
        valid.iter().map(|a| Owner { container_id: a.container_id.clone(), ifname: a.ifname.clone() }).collect();
    let all = Store::open(&options.reservations())?.reservations()?;
    let gone: Vec<Owner> = all.into_values().filter(|owner| !valid.contains(owner)).collect();
    forget(options, |owner| gone.contains(owner), &gone)
}

/// Not available (50) if no sandbox could be connected now.
fn status(options: &Options) -> Result<(), CniError> {
    let unavailable = |e: &dyn std::error::Error| CniError::new(50, "the plugin is not available", e);
    Store::open(&options.reservations()).map_err(|e| unavailable(&e))?;
    Rtnetlink::open().map_err(|e| unavailable(&e))?;
    Ok(())
}
