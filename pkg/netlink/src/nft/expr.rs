//! The expressions that rules are made of.

use netlink_packet_core::{DefaultNla, Emitable as _};
use netlink_packet_netfilter::nftables as wire;
use wire::{DataAttribute, ExpressionAttribute, Expressions, ListAttribute, VerdictAttribute};

/// One of the sixteen 32-bit registers. Wider values take the following ones too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reg(pub u8);

impl Reg {
    /// The register so many places further on.
    pub const fn plus(self, n: u8) -> Reg {
        Reg(self.0 + n)
    }

    fn number(self) -> u32 {
        // NFT_REG32_00
        8 + u32::from(self.0)
    }

    fn wire(self) -> wire::Register {
        wire::Register::Other(self.number())
    }
}

/// Where in the packet an offset counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// The IP header.
    Network,
    /// The TCP, UDP or SCTP header.
    Transport,
}

/// Facts about a packet that are not in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MetaKey {
    /// The packet's mark, host byte order.
    Mark,
    /// Name of the interface it came in by, 16 bytes.
    IifName,
    /// Name of the interface it leaves by, 16 bytes.
    OifName,
    /// Protocol number of the transport header, one byte.
    L4Proto,
}

/// Facts about a packet's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CtKey {
    /// A bit of invalid 1, established 2, related 4, new 8.
    State,
    /// Status bits: source translated 16, destination translated 32.
    Status,
    /// The connection's mark.
    Mark,
}

/// How to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cmp {
    /// The rule goes on if equal.
    Eq,
    /// The rule goes on if not equal.
    Ne,
}

/// What the forwarding table says about an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FibResult {
    /// Its type: unicast 1, local 2, broadcast 3, multicast 5, unreachable 7.
    AddrType,
}

/// What a forwarding table lookup looks at.
pub mod fib_flag {
    /// The source address.
    pub const SADDR: u32 = 1;
    /// The destination address.
    pub const DADDR: u32 = 2;
}

/// Where evaluation goes on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// The packet is done with this hook.
    Accept,
    /// The packet is gone.
    Drop,
    /// Back to the calling chain.
    Return,
    /// Into a chain, and back at its end.
    Jump(String),
    /// Into a chain, for good.
    Goto(String),
}

/// What the sender is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reject {
    /// A TCP reset; only for TCP packets.
    TcpReset,
    /// ICMP "port unreachable".
    PortUnreachable,
}

/// What a packet does to a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DynOp {
    /// Adds an element, if it is not there.
    Add,
    /// Adds an element, or starts its timeout again.
    Update,
}

/// One step of a rule. A step that does not match ends the rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// Loads bytes of the packet.
    Payload {
        /// Counted from here.
        base: Base,
        /// First byte.
        offset: u32,
        /// Number of bytes.
        len: u32,
        /// Into this register.
        dest: Reg,
    },
    /// Loads a fact about the packet.
    Meta(MetaKey, Reg),
    /// Sets a fact about the packet.
    MetaSet(MetaKey, Reg),
    /// Loads a fact about the connection.
    Ct(CtKey, Reg),
    /// Sets a fact about the connection.
    CtSet(CtKey, Reg),
    /// Compares a register.
    Cmp(Reg, Cmp, Vec<u8>),
    /// `dest = (source & mask) ^ xor`.
    Bitwise {
        /// From.
        source: Reg,
        /// To.
        dest: Reg,
        /// Bits kept.
        mask: Vec<u8>,
        /// Bits flipped.
        xor: Vec<u8>,
    },
    /// Loads a constant.
    Immediate(Reg, Vec<u8>),
    /// Ends the rule.
    Verdict(Verdict),
    /// Looks up a key in a set or map; with `dest`, loads what the map holds.
    Lookup {
        /// Name of the set or map.
        set: String,
        /// First register of the key.
        key: Reg,
        /// Where a map's value goes.
        dest: Option<Reg>,
        /// Goes on if the key is absent.
        invert: bool,
    },
    /// Looks up a verdict.
    VerdictMap {
        /// Name of the map.
        map: String,
        /// First register of the key.
        key: Reg,
    },
    /// A random number below `modulus`, host byte order.
    Random {
        /// Exclusive limit.
        modulus: u32,
        /// Into this register.
        dest: Reg,
    },
    /// Asks the forwarding table.
    Fib {
        /// What is asked.
        result: FibResult,
        /// Bits of [`fib_flag`].
        flags: u32,
        /// Into this register.
        dest: Reg,
    },
    /// Translates the destination to an address and perhaps a port in registers.
    Dnat {
        /// The address.
        addr: Reg,
        /// The port.
        port: Option<Reg>,
    },
    /// Translates the source to the address of the interface the packet leaves by.
    Masquerade,
    /// Refuses the packet.
    Reject(Reject),
    /// Changes a set.
    DynSet {
        /// Name of the set or map.
        set: String,
        /// How.
        op: DynOp,
        /// First register of the key.
        key: Reg,
        /// First register of a map's value.
        data: Option<Reg>,
    },
}

impl Expr {
    /// The source address of an IPv4 packet.
    pub fn saddr(dest: Reg) -> Expr {
        Expr::Payload { base: Base::Network, offset: 12, len: 4, dest }
    }

    /// The destination address of an IPv4 packet.
    pub fn daddr(dest: Reg) -> Expr {
        Expr::Payload { base: Base::Network, offset: 16, len: 4, dest }
    }

    /// The destination port.
    pub fn dport(dest: Reg) -> Expr {
        Expr::Payload { base: Base::Transport, offset: 2, len: 2, dest }
    }

    /// Goes on only if the loaded IPv4 address is, or is not, in a network.
    pub fn in_network(load: Expr, cmp: Cmp, net: crate::Net) -> Vec<Expr> {
        let reg = match &load {
            Expr::Payload { dest, .. } => *dest,
            _ => Reg(0),
        };
        let Some((addr, mask)) = net.v4() else { return vec![] };
        let mut steps = vec![load];
        if net.prefix < 32 {
            steps.push(Expr::Bitwise { source: reg, dest: reg, mask: mask.octets().to_vec(), xor: vec![0; 4] });
        }
        steps.push(Expr::Cmp(reg, cmp, addr.octets().to_vec()));
        steps
    }

    /// Goes on only if the destination, or with `SADDR` the source, is an address of this machine.
    pub fn is_local(flags: u32, reg: Reg) -> Vec<Expr> {
        const RTN_LOCAL: u32 = 2;
        vec![
            Expr::Fib { result: FibResult::AddrType, flags, dest: reg },
            Expr::Cmp(reg, Cmp::Eq, RTN_LOCAL.to_ne_bytes().to_vec()),
        ]
    }

    /// Goes on only if some of `bits` of the packet's mark are set.
    pub fn mark_has(bits: u32, reg: Reg) -> Vec<Expr> {
        vec![
            Expr::Meta(MetaKey::Mark, reg),
            Expr::Bitwise { source: reg, dest: reg, mask: bits.to_ne_bytes().to_vec(), xor: vec![0; 4] },
            Expr::Cmp(reg, Cmp::Ne, vec![0; 4]),
        ]
    }

    /// Sets and clears bits of the packet's mark.
    pub fn mark_change(set: u32, clear: u32, reg: Reg) -> Vec<Expr> {
        let (mask, xor) = (!(set | clear), set);
        vec![
            Expr::Meta(MetaKey::Mark, reg),
            Expr::Bitwise {
                source: reg,
                dest: reg,
                mask: mask.to_ne_bytes().to_vec(),
                xor: xor.to_ne_bytes().to_vec(),
            },
            Expr::MetaSet(MetaKey::Mark, reg),
        ]
    }

    pub(super) fn wire(&self) -> ListAttribute<ExpressionAttribute> {
        use wire::{Bitwise, Cmp as CmpAttr, Immediate, Lookup, Meta, Payload};
        let value = |bytes: &[u8]| DataAttribute::Value(bytes.to_vec());
        let expressions = match self {
            Expr::Payload { base, offset, len, dest } => Expressions::Payload(vec![
                Payload::DestinationRegister(dest.wire()),
                Payload::Base(match base {
                    Base::Network => 1,
                    Base::Transport => 2,
                }),
                Payload::Offset(*offset),
                Payload::Len(*len),
            ]),
            Expr::Meta(key, dest) => {
                Expressions::Meta(vec![Meta::DestinationRegister(dest.wire()), Meta::Key(key.wire())])
            }
            Expr::MetaSet(key, source) => {
                Expressions::Meta(vec![Meta::Key(key.wire()), Meta::SourceRegister(source.wire())])
            }
            Expr::Cmp(reg, op, bytes) => Expressions::Cmp(vec![
                CmpAttr::SourceRegister(reg.wire()),
                CmpAttr::Op(match op {
                    Cmp::Eq => wire::Operator::Equal,
                    Cmp::Ne => wire::Operator::NotEqual,
                }),
                CmpAttr::Data(value(bytes)),
            ]),
            Expr::Bitwise { source, dest, mask, xor } => Expressions::Bitwise(vec![
                Bitwise::SourceRegister(source.wire()),
                Bitwise::DestinationRegister(dest.wire()),
                Bitwise::Length(mask.len() as u32),
                Bitwise::Mask(value(mask)),
                Bitwise::Xor(value(xor)),
            ]),
            Expr::Immediate(dest, bytes) => {
                Expressions::Immediate(vec![Immediate::DestinationRegister(dest.wire()), Immediate::Data(value(bytes))])
            }
            Expr::Verdict(verdict) => Expressions::Immediate(vec![
                Immediate::DestinationRegister(wire::Register::Verdict),
                Immediate::Data(DataAttribute::Verdict(verdict.wire())),
            ]),
            Expr::Lookup { set, key, dest, invert } => {
                let mut attributes = vec![Lookup::Set(set.clone()), Lookup::SourceRegister(key.wire())];
                attributes.extend(dest.map(|dest| Lookup::DestinationRegister(dest.wire())));
                attributes.extend(invert.then_some(Lookup::Flags(1)));
                Expressions::Lookup(attributes)
            }
            Expr::VerdictMap { map, key } => Expressions::Lookup(vec![
                Lookup::Set(map.clone()),
                Lookup::SourceRegister(key.wire()),
                Lookup::DestinationRegister(wire::Register::Verdict),
            ]),
            other => other.untyped(),
        };
        expressions.into()
    }

    /// Expressions that the wire library has no types for, attribute by attribute.
    fn untyped(&self) -> Expressions {
        let (name, attributes): (&str, Vec<DefaultNla>) = match self {
            Expr::Ct(key, dest) => ("ct", vec![be32(1, dest.number()), be32(2, key.number())]),
            Expr::CtSet(key, source) => ("ct", vec![be32(2, key.number()), be32(4, source.number())]),
            Expr::Random { modulus, dest } => {
                const NFT_NG_RANDOM: u32 = 1;
                ("numgen", vec![be32(1, dest.number()), be32(2, *modulus), be32(3, NFT_NG_RANDOM), be32(4, 0)])
            }
            Expr::Fib { result: FibResult::AddrType, flags, dest } => {
                const NFT_FIB_RESULT_ADDRTYPE: u32 = 3;
                ("fib", vec![be32(1, dest.number()), be32(2, NFT_FIB_RESULT_ADDRTYPE), be32(3, *flags)])
            }
            Expr::Dnat { addr, port } => {
                const NFT_NAT_DNAT: u32 = 1;
                const NFPROTO_IPV4: u32 = 2;
                let mut attributes = vec![be32(1, NFT_NAT_DNAT), be32(2, NFPROTO_IPV4), be32(3, addr.number())];
                attributes.extend(port.map(|port| be32(5, port.number())));
                ("nat", attributes)
            }
            Expr::Masquerade => ("masq", vec![]),
            Expr::Reject(Reject::TcpReset) => ("reject", vec![be32(1, 1), DefaultNla::new(2, vec![0])]),
            Expr::Reject(Reject::PortUnreachable) => ("reject", vec![be32(1, 0), DefaultNla::new(2, vec![3])]),
            Expr::DynSet { set, op, key, data } => {
                let mut name = set.clone().into_bytes();
                name.push(0);
                let op = match op {
                    DynOp::Add => 0,
                    DynOp::Update => 1,
                };
                let mut attributes = vec![DefaultNla::new(1, name), be32(3, op), be32(4, key.number())];
                attributes.extend(data.map(|data| be32(5, data.number())));
                ("dynset", attributes)
            }
            _ => unreachable!("typed expressions are handled by the caller"),
        };
        Expressions::Other { expression_type: name.to_owned(), attributes }
    }

    /// Adds the bytes of the expression to a digest's input.
    pub(super) fn digest_into(&self, bytes: &mut Vec<u8>) {
        let attributes = [self.wire()];
        let start = bytes.len();
        bytes.resize(start + attributes.as_slice().buffer_len(), 0);
        attributes.as_slice().emit(&mut bytes[start..]);
    }
}

fn be32(kind: u16, value: u32) -> DefaultNla {
    DefaultNla::new(kind, value.to_be_bytes().to_vec())
}

impl MetaKey {
    fn wire(self) -> wire::MetaKey {
        match self {
            MetaKey::Mark => wire::MetaKey::Mark,
            MetaKey::IifName => wire::MetaKey::Iifname,
            MetaKey::OifName => wire::MetaKey::Oifname,
            MetaKey::L4Proto => wire::MetaKey::from(16),
        }
    }
}

impl CtKey {
    fn number(self) -> u32 {
        match self {
            CtKey::State => 0,
            CtKey::Status => 2,
            CtKey::Mark => 3,
        }
    }
}

impl Verdict {
    const NF_DROP: u32 = 0;
    const NF_ACCEPT: u32 = 1;

    pub(super) fn wire(&self) -> Vec<VerdictAttribute> {
        let code = match self {
            Verdict::Drop => wire::Verdict::Other(Self::NF_DROP),
            Verdict::Accept => wire::Verdict::Other(Self::NF_ACCEPT),
            Verdict::Return => wire::Verdict::Return,
            Verdict::Jump(_) => wire::Verdict::Jump,
            Verdict::Goto(_) => wire::Verdict::Goto,
        };
        let mut attributes = vec![VerdictAttribute::Code(code)];
        if let Verdict::Jump(chain) | Verdict::Goto(chain) = self {
            attributes.push(VerdictAttribute::Chain(chain.clone()));
        }
        attributes
    }

    pub(super) fn from_wire(attributes: Vec<VerdictAttribute>) -> Option<Verdict> {
        let (mut code, mut chain) = (None, None);
        for attribute in attributes {
            match attribute {
                VerdictAttribute::Code(found) => code = Some(found),
                VerdictAttribute::Chain(name) => chain = Some(name),
                _ => {}
            }
        }
        Some(match code? {
            wire::Verdict::Other(Self::NF_DROP) => Verdict::Drop,
            wire::Verdict::Other(Self::NF_ACCEPT) => Verdict::Accept,
            wire::Verdict::Return => Verdict::Return,
            wire::Verdict::Jump => Verdict::Jump(chain?),
            wire::Verdict::Goto => Verdict::Goto(chain?),
            _ => return None,
        })
    }
}
