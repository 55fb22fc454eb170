//! The bridge that a node's pods hang on.

use std::net::Ipv4Addr;

use netlink::{Error, Link, Net, Result, Rtnetlink, sysctl};

/// The hardware address that belongs to an IPv4 address in the pod network. Because it follows
/// from the address, nobody's neighbour table is wrong when an address is used again.
pub fn hardware_address(ip: Ipv4Addr) -> [u8; 6] {
    let [a, b, c, d] = ip.octets();
    [0x0a, 0x58, a, b, c, d]
}

/// Makes sure that the bridge is there, switched on, with this address, and that the node forwards
/// packets. Safe to call by several at once.
pub fn ensure(rtnetlink: &mut Rtnetlink, name: &str, address: Net, mtu: u32) -> Result<Link> {
    let (Net { addr: std::net::IpAddr::V4(gateway), .. }, false) = (address, name.is_empty()) else {
        let source = std::io::Error::other(format!("{address} is no IPv4 address"));
        return Err(Error::Kernel { what: format!("make bridge {name:?}"), source });
    };
    let mut made = false;
    let link = match rtnetlink.link(name)? {
        Some(link) => link,
        None => {
            match rtnetlink.add_bridge(name, hardware_address(gateway), mtu) {
                Err(error) if !error.is_exists() => return Err(error),
                done => made = done.is_ok(),
            }
            rtnetlink.require_link(name)?
        }
    };
    if link.kind != "bridge" {
        let source = std::io::Error::from_raw_os_error(nix::libc::EEXIST);
        return Err(Error::Kernel { what: format!("link {name} exists and is no bridge"), source });
    }
    if link.mtu != mtu {
        rtnetlink.set_mtu(link.index, mtu)?;
    }
    let addresses = rtnetlink.addresses()?;
    for other in addresses.iter().filter(|a| a.index == link.index && a.net.addr.is_ipv4() && a.net != address) {
        // The node was given other addresses for its pods. Single addresses are others' business.
        if other.net.prefix < 32 {
            rtnetlink.delete_address(link.index, other.net)?;
        }
    }
    if !addresses.iter().any(|a| a.index == link.index && a.net == address) {
        rtnetlink.add_address(link.index, address)?;
    }
    if !link.up {
        rtnetlink.set_up(link.index)?;
    }
    sysctl::set("net/ipv4/ip_forward", "1")?;
    if made {
        // Host ports on 127.0.0.1 lead to pods; the table of host ports guards the other way.
        sysctl::set(&format!("net/ipv4/conf/{name}/route_localnet"), "1")?;
        // Pods must go through the node even to their neighbours.
        sysctl::set(&format!("net/ipv4/conf/{name}/send_redirects"), "0")?;
    }
    rtnetlink.require_link(name)
}
