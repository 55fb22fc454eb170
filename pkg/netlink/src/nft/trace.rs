//! Where would a packet go? An interpreter of a [`Table`] on paper, for tests that ask what a set
//! of rules means instead of how it is spelled.
//!
//! It knows the expressions of this crate, the hooks, and connection tracking as far as address
//! translation needs it. It does not know other tables.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::Ipv4Addr,
};

use super::{Base, Cmp, CtKey, Data, DynOp, Expr, HookPoint, HookType, Key, MetaKey, Reg, Reject, Table, Verdict};

/// The first packet of a connection, on its way through one machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Source address.
    pub source: Ipv4Addr,
    /// Destination address.
    pub destination: Ipv4Addr,
    /// Protocol number.
    pub protocol: u8,
    /// Destination port.
    pub port: u16,
    /// The interface it came in by; empty if it was made here.
    pub input: String,
    /// The packet's mark.
    pub mark: u32,
}

impl Packet {
    /// A TCP packet that came in by `eth0`.
    pub fn tcp(source: Ipv4Addr, destination: Ipv4Addr, port: u16) -> Self {
        Packet { source, destination, protocol: 6, port, input: "eth0".into(), mark: 0 }
    }

    /// The same as UDP.
    pub fn udp(self) -> Self {
        Packet { protocol: 17, ..self }
    }

    /// The same, made by this machine.
    pub fn local(self) -> Self {
        Packet { input: String::new(), ..self }
    }
}

/// What became of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It went on.
    Delivered {
        /// To this address,
        to: Ipv4Addr,
        /// and port,
        port: u16,
        /// with the sender hidden behind this machine's address.
        masqueraded: bool,
    },
    /// It is gone without a word.
    Dropped,
    /// The sender was told.
    Rejected(Reject),
}

/// A machine with one table of rules.
pub struct Machine<'a> {
    table: &'a Table,
    /// Addresses of the machine itself.
    pub addresses: BTreeSet<Ipv4Addr>,
    /// Elements that packets added to sets.
    pub learnt: BTreeMap<String, BTreeMap<Key, Data>>,
    /// The next random numbers, each taken modulo what the rule asks for.
    pub random: u32,
}

enum End {
    Accept,
    Drop,
    Reject(Reject),
    Return,
    Translated,
}

struct State {
    /// Sixteen registers of four bytes.
    registers: [u8; 64],
    translated: bool,
    masqueraded: bool,
}

impl<'a> Machine<'a> {
    /// A machine with these rules and addresses.
    pub fn new(table: &'a Table, addresses: impl IntoIterator<Item = Ipv4Addr>) -> Self {
        Machine { table, addresses: addresses.into_iter().collect(), learnt: BTreeMap::new(), random: 0 }
    }

    /// Sends a packet through.
    pub fn send(&mut self, mut packet: Packet) -> Outcome {
        let mut state = State { registers: [0; 64], translated: false, masqueraded: false };
        let local = |machine: &Self, ip| machine.addresses.contains(&ip);
        let mut path = vec![if packet.input.is_empty() { HookPoint::Output } else { HookPoint::Prerouting }];
        let mut step = 0;
        while let Some(point) = path.get(step).copied() {
            step += 1;
            for kind in [HookType::Nat, HookType::Filter] {
                match self.hook(point, kind, &mut packet, &mut state) {
                    Some(End::Drop) => return Outcome::Dropped,
                    Some(End::Reject(how)) => return Outcome::Rejected(how),
                    _ => {}
                }
            }
            match point {
                HookPoint::Prerouting if local(self, packet.destination) => path.push(HookPoint::Input),
                HookPoint::Prerouting => path.push(HookPoint::Forward),
                HookPoint::Forward | HookPoint::Output => path.push(HookPoint::Postrouting),
                HookPoint::Input | HookPoint::Postrouting => {}
            }
        }
        Outcome::Delivered { to: packet.destination, port: packet.port, masqueraded: state.masqueraded }
    }

    fn hook(&mut self, point: HookPoint, kind: HookType, packet: &mut Packet, state: &mut State) -> Option<End> {
        let table = self.table;
        let mut chains: Vec<_> = table
            .chains
            .values()
            .filter_map(|chain| chain.hook.filter(|h| h.point == point && h.kind == kind).map(|h| (h.priority, chain)))
            .collect();
        chains.sort_by_key(|(priority, _)| *priority);
        for (_, chain) in chains {
            match self.chain(&chain.rules, packet, state) {
                end @ Some(End::Drop | End::Reject(_)) => return end,
                _ => {}
            }
        }
        None
    }

    fn chain(&mut self, rules: &[super::Rule], packet: &mut Packet, state: &mut State) -> Option<End> {
        for rule in rules {
            match self.rule(&rule.steps, packet, state) {
                None => {}
                Some(Ok(end)) => return Some(end),
                Some(Err(verdict)) => match verdict {
                    Verdict::Accept => return Some(End::Accept),
                    Verdict::Drop => return Some(End::Drop),
                    Verdict::Return => return Some(End::Return),
                    Verdict::Jump(name) => match self.called(&name, packet, state) {
                        None | Some(End::Return) => {}
                        end => return end,
                    },
                    Verdict::Goto(name) => return self.called(&name, packet, state).or(Some(End::Return)),
                },
            }
        }
        None
    }

    fn called(&mut self, name: &str, packet: &mut Packet, state: &mut State) -> Option<End> {
        let table = self.table;
        let chain = table.chains.get(name).unwrap_or_else(|| panic!("no chain {name}"));
        self.chain(&chain.rules, packet, state)
    }

    /// None: no verdict.
    fn rule(&mut self, steps: &[Expr], packet: &mut Packet, state: &mut State) -> Option<Result<End, Verdict>> {
        for step in steps {
            match step {
                Expr::Payload { base, offset, len, dest } => {
                    let bytes = payload(packet, *base, *offset, *len);
                    set(state, *dest, &bytes);
                }
                Expr::Meta(key, dest) => {
                    let bytes = match key {
                        MetaKey::Mark => packet.mark.to_ne_bytes().to_vec(),
                        MetaKey::L4Proto => vec![packet.protocol, 0, 0, 0],
                        MetaKey::IifName => ifname(&packet.input),
                        MetaKey::OifName => ifname("eth0"),
                    };
                    set(state, *dest, &bytes);
                }
                Expr::MetaSet(MetaKey::Mark, source) => packet.mark = u32::from_ne_bytes(word(state, *source)),
                Expr::MetaSet(..) | Expr::CtSet(..) => {}
                Expr::Ct(key, dest) => {
                    let value: u32 = match key {
                        CtKey::State => 8,
                        CtKey::Status => u32::from(state.translated) << 5,
                        CtKey::Mark => 0,
                    };
                    set(state, *dest, &value.to_ne_bytes());
                }
                Expr::Cmp(reg, cmp, wanted) => {
                    let equal = get(state, *reg, wanted.len()) == *wanted;
                    if equal != (*cmp == Cmp::Eq) {
                        return None;
                    }
                }
                Expr::Bitwise { source, dest, mask, xor } => {
                    let mut bytes = get(state, *source, mask.len());
                    bytes.iter_mut().zip(mask.iter().zip(xor)).for_each(|(b, (m, x))| *b = (*b & m) ^ x);
                    set(state, *dest, &bytes);
                }
                Expr::Immediate(dest, bytes) => set(state, *dest, bytes),
                Expr::Verdict(verdict) => return Some(Err(verdict.clone())),
                Expr::Lookup { set: name, key, dest, invert } => {
                    let found = self.look_up(name, *key, state);
                    if found.is_some() == *invert {
                        return None;
                    }
                    if let (Some(dest), Some(Data::Value(value))) = (dest, found) {
                        set(state, *dest, &value);
                    }
                }
                Expr::VerdictMap { map, key } => match self.look_up(map, *key, state) {
                    Some(Data::Verdict(verdict)) => return Some(Err(verdict)),
                    _ => return None,
                },
                Expr::Random { modulus, dest } => set(state, *dest, &(self.random % modulus).to_ne_bytes()),
                Expr::Fib { flags, dest, .. } => {
                    let ip = if *flags == super::fib_flag::SADDR { packet.source } else { packet.destination };
                    let local = self.addresses.contains(&ip) || ip.is_loopback();
                    set(state, *dest, &(if local { 2u32 } else { 1 }).to_ne_bytes());
                }
                Expr::Dnat { addr, port } => {
                    packet.destination = word(state, *addr).into();
                    if let Some(port) = port {
                        let [high, low, ..] = word(state, *port);
                        packet.port = u16::from_be_bytes([high, low]);
                    }
                    state.translated = true;
                    return Some(Ok(End::Translated));
                }
                Expr::Masquerade => {
                    state.masqueraded = true;
                    return Some(Ok(End::Translated));
                }
                Expr::Reject(how) => return Some(Ok(End::Reject(*how))),
                Expr::DynSet { set: name, op: DynOp::Add | DynOp::Update, key, data } => {
                    let definition = &self.table.sets[name];
                    let bytes = get(state, *key, definition.key.len() * 4).into();
                    let data = data.map_or(Data::None, |reg| Data::Value(get(state, reg, 8).into()));
                    self.learnt.entry(name.clone()).or_default().entry(bytes).or_insert(data);
                }
            }
        }
        None
    }

    fn look_up(&self, name: &str, key: Reg, state: &State) -> Option<Data> {
        let set = self.table.sets.get(name).unwrap_or_else(|| panic!("no set {name}"));
        let len = super::model::type_len(&set.key) as usize;
        let key: Key = get(state, key, len).into();
        set.elements.get(&key).or_else(|| self.learnt.get(name)?.get(&key)).cloned()
    }
}

fn payload(packet: &Packet, base: Base, offset: u32, len: u32) -> Vec<u8> {
    match (base, offset, len) {
        (Base::Network, 12, 4) => packet.source.octets().to_vec(),
        (Base::Network, 16, 4) => packet.destination.octets().to_vec(),
        (Base::Transport, 2, 2) => [packet.port.to_be_bytes(), [0, 0]].concat(),
        other => panic!("the tracer does not know the payload {other:?}"),
    }
}

fn ifname(name: &str) -> Vec<u8> {
    let mut bytes = name.as_bytes().to_vec();
    bytes.resize(16, 0);
    bytes
}

fn set(state: &mut State, reg: Reg, bytes: &[u8]) {
    let start = usize::from(reg.0) * 4;
    let end = (start + bytes.len()).next_multiple_of(4);
    state.registers[start..end].fill(0);
    state.registers[start..start + bytes.len()].copy_from_slice(bytes);
}

fn get(state: &State, reg: Reg, len: usize) -> Vec<u8> {
    let start = usize::from(reg.0) * 4;
    state.registers[start..start + len].to_vec()
}

fn word(state: &State, reg: Reg) -> [u8; 4] {
    let start = usize::from(reg.0) * 4;
    state.registers[start..start + 4].try_into().expect("four bytes")
}
