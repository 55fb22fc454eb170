//! Tables, chains, rules, sets and maps as plain data.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hasher as _},
    time::Duration,
};

use super::expr::{Expr, Verdict};

/// Which packets a table sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// IPv4.
    Ip,
    /// IPv6.
    Ip6,
    /// Both.
    Inet,
}

/// What a component of a key or value is. The kernel only knows lengths; the type is for people
/// who list the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataType {
    /// IPv4 address.
    Ipv4,
    /// Protocol number.
    Protocol,
    /// Port.
    Port,
    /// A 32-bit number in host byte order.
    Mark,
}

impl DataType {
    pub(super) fn number(self) -> u32 {
        match self {
            DataType::Ipv4 => 7,
            DataType::Protocol => 12,
            DataType::Port => 13,
            DataType::Mark => 19,
        }
    }
}

/// The number by which a concatenation is known to those who list the rules.
pub(super) fn type_number(types: &[DataType]) -> u32 {
    types.iter().fold(0, |number, t| (number << 6) | t.number())
}

/// Bytes of a concatenation: each component takes whole registers.
pub(super) fn type_len(types: &[DataType]) -> u32 {
    match types {
        // A lone component keeps its own length.
        [DataType::Protocol] => 1,
        [DataType::Port] => 2,
        types => types.len() as u32 * 4,
    }
}

/// A key of a set or map, as the kernel has it.
pub type Key = Box<[u8]>;

/// Builds keys and values of several components.
pub mod key {
    use std::net::Ipv4Addr;

    /// An address.
    pub fn addr(addr: Ipv4Addr) -> [u8; 4] {
        addr.octets()
    }

    /// A protocol number.
    pub fn protocol(number: u8) -> [u8; 4] {
        [number, 0, 0, 0]
    }

    /// A port.
    pub fn port(port: u16) -> [u8; 4] {
        let [high, low] = port.to_be_bytes();
        [high, low, 0, 0]
    }

    /// A number.
    pub fn mark(number: u32) -> [u8; 4] {
        number.to_ne_bytes()
    }

    /// Joins components.
    pub fn join<const N: usize>(components: [[u8; 4]; N]) -> super::Key {
        components.concat().into()
    }
}

/// What an element holds beside its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
    /// Nothing: the element of a set.
    None,
    /// A value of a map.
    Value(Key),
    /// A verdict of a verdict map.
    Verdict(Verdict),
}

/// What the elements of a set hold beside their keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SetData {
    /// Nothing.
    #[default]
    None,
    /// A concatenation.
    Value(Vec<DataType>),
    /// A verdict.
    Verdict,
}

/// A set, map or verdict map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set {
    /// Components of the key.
    pub key: Vec<DataType>,
    /// What elements hold.
    pub data: SetData,
    /// Elements are added by packets and go after this time. Elements of such a set are state,
    /// not configuration: they are neither compared nor removed.
    pub timeout: Option<Duration>,
    /// The elements of a set without timeout.
    pub elements: BTreeMap<Key, Data>,
}

impl Set {
    /// An empty set.
    pub fn set(key: &[DataType]) -> Self {
        Set { key: key.to_vec(), ..Set::default() }
    }

    /// An empty map.
    pub fn map(key: &[DataType], value: &[DataType]) -> Self {
        Set { key: key.to_vec(), data: SetData::Value(value.to_vec()), ..Set::default() }
    }

    /// An empty verdict map.
    pub fn verdicts(key: &[DataType]) -> Self {
        Set { key: key.to_vec(), data: SetData::Verdict, ..Set::default() }
    }

    /// Filled by packets, with elements that go after a time.
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Whether two sets differ in more than their elements.
    pub(super) fn same_shape(&self, other: &Set) -> bool {
        (&self.key, &self.data, self.timeout) == (&other.key, &other.data, other.timeout)
    }
}

/// What a base chain does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookType {
    /// Accepts and refuses.
    Filter,
    /// Translates addresses: sees only the first packet of a connection.
    Nat,
}

/// Where a base chain sees packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookPoint {
    /// Before routing, of packets that come in.
    Prerouting,
    /// For this machine.
    Input,
    /// Through this machine.
    Forward,
    /// Made by this machine.
    Output,
    /// After routing, of packets that leave.
    Postrouting,
}

/// How a chain is called by the network stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hook {
    /// What it does.
    pub kind: HookType,
    /// Where.
    pub point: HookPoint,
    /// In which order: destination NAT is -100, filter 0, source NAT 100.
    pub priority: i32,
}

/// A chain of rules. A base chain accepts what falls off its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// Called by the network stack there, or only by other chains.
    pub hook: Option<Hook>,
    /// In order.
    pub rules: Vec<Rule>,
}

impl Chain {
    /// A base chain.
    pub fn base(kind: HookType, point: HookPoint, priority: i32) -> Self {
        Chain { hook: Some(Hook { kind, point, priority }), rules: vec![] }
    }

    /// Adds a rule.
    pub fn rule(&mut self, what: &str, steps: impl IntoIterator<Item = Vec<Expr>>) -> &mut Self {
        self.rules.push(Rule::new(what, steps.into_iter().flatten().collect()));
        self
    }
}

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What it is for, and a digest of its expressions.
    pub(super) comment: String,
    /// Its steps. Empty in what was read from the kernel.
    pub steps: Vec<Expr>,
}

impl Rule {
    /// A rule with a word on what it is for.
    pub fn new(what: &str, steps: Vec<Expr>) -> Self {
        let mut bytes = Vec::new();
        steps.iter().for_each(|step| step.digest_into(&mut bytes));
        // SipHash with fixed keys. Another digest in another build only means that the rules
        // are replaced once.
        let mut digest = DefaultHasher::new();
        digest.write(&bytes);
        let what: String = what.chars().take(80).collect();
        Rule { comment: format!("{what} #{:016x}", digest.finish()), steps }
    }
}

/// A table with all that is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Which packets it sees.
    pub family: Family,
    /// Its name; ours begin with `kinglet`.
    pub name: String,
    /// By name.
    pub sets: BTreeMap<String, Set>,
    /// By name.
    pub chains: BTreeMap<String, Chain>,
}

impl Table {
    /// An empty table.
    pub fn new(family: Family, name: impl Into<String>) -> Self {
        Table { family, name: name.into(), sets: BTreeMap::new(), chains: BTreeMap::new() }
    }
}
