//! Interfaces and their addresses.

use std::{net::IpAddr, os::fd::AsFd};

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE};
use netlink_packet_route::{
    AddressFamily, RouteNetlinkMessage as Message,
    address::{AddressAttribute, AddressMessage, AddressScope},
    link::{
        InfoBridgePort, InfoData, InfoKind, InfoPortData, InfoPortKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo,
        LinkMessage,
    },
};
use netlink_sys::protocols::NETLINK_ROUTE;
use std::os::fd::AsRawFd as _;

use crate::{Error, Namespace, Net, Result, socket::Socket};

/// An interface, as far as it matters here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// Its number in the namespace.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// `bridge`, `veth` and so on; empty for hardware and loopback.
    pub kind: String,
    /// Whether it is switched on.
    pub up: bool,
    /// Largest packet, in bytes.
    pub mtu: u32,
    /// Hardware address.
    pub mac: Vec<u8>,
    /// The bridge that it is a port of.
    pub controller: Option<u32>,
}

/// An address of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// Number of the interface.
    pub index: u32,
    /// The address with its prefix.
    pub net: Net,
}

/// How a port of a bridge behaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortOptions {
    /// Frames may leave by the port they came in by.
    pub hairpin: bool,
    /// Frames pass only between this port and the bridge's own interface, never to other
    /// isolated ports.
    pub isolated: bool,
}

/// A routing netlink socket: links, addresses and (in another module) routes.
pub struct Rtnetlink {
    pub(crate) socket: Socket,
}

impl Rtnetlink {
    /// Opens one in the namespace of the calling thread, where it stays.
    pub fn open() -> Result<Self> {
        Ok(Rtnetlink { socket: Socket::open(NETLINK_ROUTE)? })
    }

    /// The interface of that name.
    pub fn link(&mut self, name: &str) -> Result<Option<Link>> {
        let message = named(name);
        let answers = match self.socket.request(|| format!("look up link {name}"), Message::GetLink(message), 0) {
            Err(error) if error.is_not_found() => return Ok(None),
            answers => answers?,
        };
        Ok(answers.into_iter().find_map(read_link))
    }

    /// The interface of that name; an error if there is none.
    pub fn require_link(&mut self, name: &str) -> Result<Link> {
        self.link(name)?.ok_or_else(|| Error::Kernel {
            what: format!("look up link {name}"),
            source: std::io::Error::from_raw_os_error(nix::libc::ENODEV),
        })
    }

    /// All interfaces.
    pub fn links(&mut self) -> Result<Vec<Link>> {
        let answers = self.socket.dump(|| "list links".into(), Message::GetLink(LinkMessage::default()))?;
        Ok(answers.into_iter().filter_map(read_link).collect())
    }

    /// Makes a bridge. A given hardware address stays, whatever ports come and go.
    pub fn add_bridge(&mut self, name: &str, mac: [u8; 6], mtu: u32) -> Result<()> {
        let mut message = named(name);
        message.attributes.push(LinkAttribute::Address(mac.to_vec()));
        message.attributes.push(LinkAttribute::Mtu(mtu));
        message.attributes.push(LinkAttribute::LinkInfo(vec![LinkInfo::Kind(InfoKind::Bridge)]));
        self.new_link(format!("make bridge {name}"), message)
    }

    /// Makes a pair of virtual Ethernet interfaces: `name` here, `peer` in `namespace`.
    pub fn add_veth(
        &mut self,
        name: &str,
        peer: &str,
        namespace: &Namespace,
        mtu: u32,
        peer_mac: Option<[u8; 6]>,
    ) -> Result<()> {
        let mut other = named(peer);
        other.attributes.push(LinkAttribute::Mtu(mtu));
        other.attributes.push(LinkAttribute::NetNsFd(namespace.as_fd().as_raw_fd()));
        other.attributes.extend(peer_mac.map(|mac| LinkAttribute::Address(mac.to_vec())));
        let mut message = named(name);
        message.attributes.push(LinkAttribute::Mtu(mtu));
        message.attributes.push(LinkAttribute::LinkInfo(vec![
            LinkInfo::Kind(InfoKind::Veth),
            LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(other))),
        ]));
        self.new_link(format!("make veth pair {name} and {peer}"), message)
    }

    fn new_link(&mut self, what: String, message: LinkMessage) -> Result<()> {
        self.socket.request(|| what.clone(), Message::NewLink(message), NLM_F_CREATE | NLM_F_EXCL)?;
        Ok(())
    }

    /// Removes an interface.
    pub fn delete_link(&mut self, index: u32) -> Result<()> {
        self.socket.request(|| format!("delete link {index}"), Message::DelLink(numbered(index)), 0)?;
        Ok(())
    }

    /// Switches an interface on.
    pub fn set_up(&mut self, index: u32) -> Result<()> {
        let mut message = numbered(index);
        message.header.flags = LinkFlags::Up;
        message.header.change_mask = LinkFlags::Up;
        self.set_link(format!("switch on link {index}"), message)
    }

    /// Sets the size of the largest packet.
    pub fn set_mtu(&mut self, index: u32, mtu: u32) -> Result<()> {
        let mut message = numbered(index);
        message.attributes.push(LinkAttribute::Mtu(mtu));
        self.set_link(format!("set mtu of link {index}"), message)
    }

    /// Makes an interface a port of a bridge.
    pub fn attach(&mut self, index: u32, bridge: u32, options: PortOptions) -> Result<()> {
        let mut message = numbered(index);
        message.attributes.push(LinkAttribute::Controller(bridge));
        self.set_link(format!("attach link {index} to bridge {bridge}"), message)?;
        let mut message = numbered(index);
        message.attributes.push(LinkAttribute::LinkInfo(vec![
            LinkInfo::PortKind(InfoPortKind::Bridge),
            LinkInfo::PortData(InfoPortData::BridgePort(vec![
                InfoBridgePort::HairpinMode(options.hairpin),
                InfoBridgePort::Isolated(options.isolated),
            ])),
        ]));
        self.socket.request(|| format!("set port options of link {index}"), Message::NewLink(message), 0)?;
        Ok(())
    }

    fn set_link(&mut self, what: String, message: LinkMessage) -> Result<()> {
        self.socket.request(|| what.clone(), Message::SetLink(message), 0)?;
        Ok(())
    }

    /// All addresses.
    pub fn addresses(&mut self) -> Result<Vec<Address>> {
        let answers = self.socket.dump(|| "list addresses".into(), Message::GetAddress(AddressMessage::default()))?;
        Ok(answers.into_iter().filter_map(read_address).collect())
    }

    /// Gives an interface an address; no error if it has it already.
    pub fn add_address(&mut self, index: u32, net: Net) -> Result<()> {
        let message = address_message(index, net);
        let what = || format!("add address {net} to link {index}");
        self.socket.request(what, Message::NewAddress(message), NLM_F_CREATE | NLM_F_REPLACE)?;
        Ok(())
    }

    /// Takes an address away; no error if it is not there.
    pub fn delete_address(&mut self, index: u32, net: Net) -> Result<()> {
        let message = address_message(index, net);
        match self.socket.request(|| format!("delete address {net}"), Message::DelAddress(message), 0) {
            Err(error) if error.is_not_found() => Ok(()),
            done => done.map(|_| ()),
        }
    }
}

fn named(name: &str) -> LinkMessage {
    let mut message = LinkMessage::default();
    message.attributes.push(LinkAttribute::IfName(name.to_owned()));
    message
}

fn numbered(index: u32) -> LinkMessage {
    let mut message = LinkMessage::default();
    message.header.index = index;
    message
}

fn address_message(index: u32, net: Net) -> AddressMessage {
    let mut message = AddressMessage::default();
    message.header.index = index;
    message.header.prefix_len = net.prefix;
    message.header.family = if net.addr.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    message.header.scope = AddressScope::Universe;
    message.attributes.push(AddressAttribute::Local(net.addr));
    message.attributes.push(AddressAttribute::Address(net.addr));
    message
}

fn read_link(message: Message) -> Option<Link> {
    let (Message::NewLink(message) | Message::SetLink(message)) = message else { return None };
    let mut link =
        Link { index: message.header.index, up: message.header.flags.contains(LinkFlags::Up), ..Link::default() };
    for attribute in message.attributes {
        match attribute {
            LinkAttribute::IfName(name) => link.name = name,
            LinkAttribute::Mtu(mtu) => link.mtu = mtu,
            LinkAttribute::Address(mac) => link.mac = mac,
            LinkAttribute::Controller(bridge) => link.controller = Some(bridge),
            LinkAttribute::LinkInfo(infos) => {
                for info in infos {
                    if let LinkInfo::Kind(kind) = info {
                        link.kind = kind.to_string();
                    }
                }
            }
            _ => {}
        }
    }
    Some(link)
}

fn read_address(message: Message) -> Option<Address> {
    let Message::NewAddress(message) = message else { return None };
    let mut found: Option<IpAddr> = None;
    for attribute in message.attributes {
        match attribute {
            // For IPv4 the local address is the interface's own, and the other one the peer's.
            AddressAttribute::Local(local) => found = Some(local),
            AddressAttribute::Address(addr) => found = found.or(Some(addr)),
            _ => {}
        }
    }
    Some(Address { index: message.header.index, net: Net::new(found?, message.header.prefix_len) })
}
