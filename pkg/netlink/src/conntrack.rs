//! The connections that the kernel tracks: which there are, and how to make it forget one.

use std::net::{IpAddr, Ipv4Addr};

use netlink_packet_netfilter::{
    NetfilterHeader, NetfilterMessage, NetfilterMessageInner, NetfilterProtoFamily,
    conntrack::{ConntrackAttribute, ConntrackMessage, IPTuple, ProtoTuple, Protocol, Tuple},
};
use netlink_sys::protocols::NETLINK_NETFILTER;

use crate::{Result, socket::Socket};

/// Protocol number of UDP.
pub const UDP: u8 = 17;

/// One direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Direction {
    /// Sender.
    pub source: Ipv4Addr,
    /// Receiver.
    pub destination: Ipv4Addr,
    /// Protocol number.
    pub protocol: u8,
    /// Sender's port.
    pub source_port: u16,
    /// Receiver's port.
    pub destination_port: u16,
}

/// A tracked connection. Where addresses are translated, the directions do not mirror each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// As the first packet was sent.
    pub original: Direction,
    /// As answers are sent.
    pub reply: Direction,
}

/// Connections of IPv4 with ports.
pub struct Conntrack {
    socket: Socket,
}

impl Conntrack {
    /// Opens a socket in the namespace of the calling thread.
    pub fn open() -> Result<Self> {
        Ok(Conntrack { socket: Socket::open(NETLINK_NETFILTER)? })
    }

    /// All connections that `wanted` accepts.
    pub fn select(&mut self, wanted: impl Fn(&Connection) -> bool) -> Result<Vec<Connection>> {
        let answers = self.socket.dump(|| "list connections".into(), framed(ConntrackMessage::Get(vec![])))?;
        Ok(answers.into_iter().filter_map(read).filter(wanted).collect())
    }

    /// Makes the kernel forget a connection; no error if it has already.
    pub fn delete(&mut self, connection: &Connection) -> Result<()> {
        let message =
            framed(ConntrackMessage::Delete(vec![ConntrackAttribute::CtaTupleOrig(tuple(&connection.original))]));
        match self.socket.request(|| "forget connection".into(), message, 0) {
            Err(error) if error.is_not_found() => Ok(()),
            done => done.map(|_| ()),
        }
    }
}

fn framed(message: ConntrackMessage) -> NetfilterMessage {
    NetfilterMessage::new(NetfilterHeader::new(NetfilterProtoFamily::IPv4, 0, 0), message)
}

fn tuple(direction: &Direction) -> Vec<Tuple> {
    vec![
        Tuple::Ip(vec![
            IPTuple::SourceAddress(direction.source.into()),
            IPTuple::DestinationAddress(direction.destination.into()),
        ]),
        Tuple::Proto(vec![
            ProtoTuple::Protocol(Protocol::from(direction.protocol)),
            ProtoTuple::SourcePort(direction.source_port),
            ProtoTuple::DestinationPort(direction.destination_port),
        ]),
    ]
}

fn read(message: NetfilterMessage) -> Option<Connection> {
    let NetfilterMessageInner::Conntrack(ConntrackMessage::New(attributes)) = message.inner else { return None };
    let (mut original, mut reply) = (None, None);
    for attribute in attributes {
        match attribute {
            ConntrackAttribute::CtaTupleOrig(tuple) => original = read_direction(tuple),
            ConntrackAttribute::CtaTupleReply(tuple) => reply = read_direction(tuple),
            _ => {}
        }
    }
    Some(Connection { original: original?, reply: reply? })
}

fn read_direction(tuples: Vec<Tuple>) -> Option<Direction> {
    let (mut source, mut destination, mut protocol, mut ports) = (None, None, None, (None, None));
    for tuple in tuples {
        match tuple {
            Tuple::Ip(ips) => {
                for ip in ips {
                    match ip {
                        IPTuple::SourceAddress(IpAddr::V4(ip)) => source = Some(ip),
                        IPTuple::DestinationAddress(IpAddr::V4(ip)) => destination = Some(ip),
                        _ => {}
                    }
                }
            }
            Tuple::Proto(parts) => {
                for part in parts {
                    match part {
                        ProtoTuple::Protocol(number) => protocol = Some(u8::from(number)),
                        ProtoTuple::SourcePort(port) => ports.0 = Some(port),
                        ProtoTuple::DestinationPort(port) => ports.1 = Some(port),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    Some(Direction {
        source: source?,
        destination: destination?,
        protocol: protocol?,
        source_port: ports.0?,
        destination_port: ports.1?,
    })
}
