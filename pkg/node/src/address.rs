//! Which name and address this machine has, where the user does not say.

use std::{fs, net::IpAddr};

use nix::{ifaddrs::getifaddrs, net::if_::InterfaceFlags, unistd::gethostname};

/// The host name, as a node name: lower case.
pub fn host_name() -> Option<String> {
    let name = gethostname().ok()?.into_string().ok()?.to_lowercase();
    (!name.is_empty()).then_some(name)
}

/// The address of the interface with the default route; without such a route (which is fine), the
/// first address of an interface that is up; on a machine with none, the loopback address.
pub fn node_ip() -> IpAddr {
    let interfaces = addresses();
    let default = fs::read_to_string("/proc/net/route").ok().and_then(|table| default_interface(&table));
    let of_default = interfaces.iter().find(|(name, _)| Some(name) == default.as_ref());
    of_default.or(interfaces.first()).map_or(IpAddr::from([127, 0, 0, 1]), |(_, address)| *address)
}

/// Whether an interface of this machine has the address.
pub fn is_own(address: IpAddr) -> bool {
    let of = |interface: nix::ifaddrs::InterfaceAddress| {
        let storage = interface.address?;
        let v4 = storage.as_sockaddr_in().map(|a| IpAddr::V4(a.ip()));
        v4.or_else(|| storage.as_sockaddr_in6().map(|a| IpAddr::V6(a.ip())))
    };
    getifaddrs().is_ok_and(|mut interfaces| interfaces.any(|interface| of(interface) == Some(address)))
}

/// IPv4 addresses of interfaces that are up and neither loopback nor ours.
fn addresses() -> Vec<(String, IpAddr)> {
    let Ok(interfaces) = getifaddrs() else { return Vec::new() };
    interfaces
        .filter(|i| i.flags.contains(InterfaceFlags::IFF_UP) && !i.flags.contains(InterfaceFlags::IFF_LOOPBACK))
        .filter(|i| !i.interface_name.starts_with("kinglet"))
        .filter_map(|i| Some((i.interface_name.clone(), IpAddr::V4(i.address?.as_sockaddr_in()?.ip()))))
        .collect()
}

/// The interface of the default route in `/proc/net/route`.
fn default_interface(table: &str) -> Option<String> {
    let routes = table.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    routes.filter(|r| r.get(1) == Some(&"00000000") && r.get(7) == Some(&"00000000")).map(|r| r[0].to_owned()).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_route_is_found_among_others() {
        let table = "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n\
                     eth1 0000A8C0 00000000 0001 0 0 0 00FFFFFF 0 0 0\n\
                     eth0 00000000 0101A8C0 0003 0 0 100 00000000 0 0 0\n";
        assert_eq!(default_interface(table).as_deref(), Some("eth0"));
        assert_eq!(default_interface("Iface Destination\n"), None);
    }
}
