//! IPv4 and IPv6 routes of the main table.

use std::net::IpAddr;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_REPLACE};
use netlink_packet_route::{
    AddressFamily, RouteNetlinkMessage as Message,
    route::{
        RouteAddress, RouteAttribute, RouteFlags, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
    },
};

use crate::{Net, Result, Rtnetlink};

/// Where a route leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RouteKind {
    /// To a neighbour.
    Gateway {
        /// Its address.
        via: IpAddr,
        /// The interface, if it does not follow from the address.
        interface: Option<u32>,
    },
    /// Directly to whoever answers on an interface.
    Interface(u32),
    /// Nowhere: senders get an error.
    Unreachable,
}

/// A route of the main table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Route {
    /// What it is for.
    pub destination: Net,
    /// Where it leads.
    pub kind: RouteKind,
    /// The source address of packets that have none yet.
    pub source: Option<IpAddr>,
    /// Who made it: a number that marks the routes of one owner.
    pub protocol: u8,
}

impl Rtnetlink {
    /// All routes of the main table, of one family of addresses.
    pub fn routes(&mut self, v6: bool) -> Result<Vec<Route>> {
        let mut message = RouteMessage::default();
        message.header.address_family = family(v6);
        let answers = self.socket.dump(|| "list routes".into(), Message::GetRoute(message))?;
        Ok(answers.into_iter().filter_map(read_route).collect())
    }

    /// Adds a route, in place of any to the same destination.
    pub fn replace_route(&mut self, route: &Route) -> Result<()> {
        let what = || format!("add route to {}", route.destination);
        self.socket.request(what, Message::NewRoute(route_message(route)), NLM_F_CREATE | NLM_F_REPLACE)?;
        Ok(())
    }

    /// Deletes a route; no error if it is not there.
    pub fn delete_route(&mut self, route: &Route) -> Result<()> {
        let what = || format!("delete route to {}", route.destination);
        match self.socket.request(what, Message::DelRoute(route_message(route)), 0) {
            Err(error) if error.is_not_found() => Ok(()),
            done => done.map(|_| ()),
        }
    }
}

fn family(v6: bool) -> AddressFamily {
    if v6 { AddressFamily::Inet6 } else { AddressFamily::Inet }
}

fn route_message(route: &Route) -> RouteMessage {
    let destination = route.destination.network();
    let mut message = RouteMessage::default();
    message.header = RouteHeader {
        address_family: family(destination.addr.is_ipv6()),
        destination_prefix_length: destination.prefix,
        table: RouteHeader::RT_TABLE_MAIN,
        protocol: RouteProtocol::from(route.protocol),
        scope: RouteScope::Universe,
        kind: RouteType::Unicast,
        ..RouteHeader::default()
    };
    message.attributes.push(RouteAttribute::Destination(destination.addr.into()));
    match route.kind {
        RouteKind::Gateway { via, interface } => {
            message.attributes.push(RouteAttribute::Gateway(via.into()));
            if let Some(interface) = interface {
                message.attributes.push(RouteAttribute::Oif(interface));
                // The interface is given, so the gateway need not follow from another route.
                message.header.flags |= RouteFlags::Onlink;
            }
        }
        RouteKind::Interface(interface) => {
            message.header.scope = RouteScope::Link;
            message.attributes.push(RouteAttribute::Oif(interface));
        }
        RouteKind::Unreachable => message.header.kind = RouteType::Unreachable,
    }
    message.attributes.extend(route.source.map(|source| RouteAttribute::PrefSource(source.into())));
    message
}

fn read_route(message: Message) -> Option<Route> {
    let Message::NewRoute(message) = message else { return None };
    if message.header.table != RouteHeader::RT_TABLE_MAIN {
        return None;
    }
    let v6 = message.header.address_family == AddressFamily::Inet6;
    let any: IpAddr = if v6 { std::net::Ipv6Addr::UNSPECIFIED.into() } else { std::net::Ipv4Addr::UNSPECIFIED.into() };
    let (mut destination, mut via, mut interface, mut source) = (any, None, None, None);
    for attribute in message.attributes {
        match attribute {
            RouteAttribute::Destination(address) => destination = ip(address)?,
            RouteAttribute::Gateway(address) => via = ip(address),
            RouteAttribute::Oif(index) => interface = Some(index),
            RouteAttribute::PrefSource(address) => source = ip(address),
            _ => {}
        }
    }
    let kind = match (message.header.kind, via, interface) {
        (RouteType::Unreachable, ..) => RouteKind::Unreachable,
        (RouteType::Unicast, Some(via), interface) => RouteKind::Gateway { via, interface },
        (RouteType::Unicast, None, Some(interface)) => RouteKind::Interface(interface),
        _ => return None,
    };
    let destination = Net::new(destination, message.header.destination_prefix_length);
    Some(Route { destination, kind, source, protocol: message.header.protocol.into() })
}

fn ip(address: RouteAddress) -> Option<IpAddr> {
    match address {
        RouteAddress::Inet(v4) => Some(v4.into()),
        RouteAddress::Inet6(v6) => Some(v6.into()),
        _ => None,
    }
}
