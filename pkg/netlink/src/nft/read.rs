//! What the kernel holds, in the same form as what is wanted.

use std::{collections::BTreeMap, time::Duration};

use netlink_packet_netfilter::{
    NetfilterMessage, NetfilterMessageInner,
    nftables::{
        ChainAttribute, ChainMessage, DataAttribute, Hook as HookAttribute, ListAttribute, NfTablesMessage,
        RuleAttribute, RuleMessage, SetAttribute, SetElementAttribute, SetElementFlags, SetElementList,
        SetElementMessage, SetFlags, SetMessage,
    },
};
use netlink_sys::protocols::NETLINK_NETFILTER;

use super::{
    expr::Verdict,
    model::{Chain, Data, DataType, Family, Hook, HookPoint, HookType, Key, Rule, Set, SetData, Table},
    wire::{comment_of_userdata, empty, framed, table_message},
};
use crate::{Result, socket::Socket};

/// A socket for reading one family of tables.
pub struct Nft {
    socket: Socket,
    family: Family,
}

/// Reads a table; none if there is no such table. Elements of sets with timeout are left out, and
/// rules have no steps, only the digest they are compared by.
pub fn read(family: Family, table: &str) -> Result<Option<Table>> {
    Nft::open(family)?.read(table)
}

/// Reads the elements of one set, also of one with timeout.
pub fn read_elements(family: Family, table: &str, set: &str) -> Result<BTreeMap<Key, Data>> {
    Nft::open(family)?.elements(table, set)
}

impl Nft {
    /// Opens one in the namespace of the calling thread.
    pub fn open(family: Family) -> Result<Self> {
        Ok(Nft { socket: Socket::open(NETLINK_NETFILTER)?, family })
    }

    fn dump(&mut self, what: &str, message: NfTablesMessage) -> Result<Vec<NfTablesMessage>> {
        let answers = self.socket.dump(|| format!("read nftables {what}"), framed(self.family, message))?;
        Ok(answers.into_iter().filter_map(inner).collect())
    }

    fn read(&mut self, name: &str) -> Result<Option<Table>> {
        let request = framed(self.family, NfTablesMessage::GetTable(table_message(name)));
        match self.socket.request(|| format!("look up nftables table {name}"), request, 0) {
            Err(error) if error.is_not_found() => return Ok(None),
            answer => answer?,
        };
        let mut table = empty(self.family, name);
        for message in self.dump("chains", NfTablesMessage::GetChain(ChainMessage { attributes: vec![] }))? {
            if let NfTablesMessage::NewChain(message) = message
                && let Some((chain, content)) = read_chain(name, message)
            {
                table.chains.insert(chain, content);
            }
        }
        let of_table = RuleMessage { attributes: vec![RuleAttribute::Table(name.to_owned())] };
        for message in self.dump("rules", NfTablesMessage::GetRule(of_table))? {
            if let NfTablesMessage::NewRule(message) = message
                && let Some((chain, rule)) = read_rule(name, message)
                && let Some(chain) = table.chains.get_mut(&chain)
            {
                chain.rules.push(rule);
            }
        }
        let of_table = SetMessage { attributes: vec![SetAttribute::Table(name.to_owned())] };
        for message in self.dump("sets", NfTablesMessage::GetSet(of_table))? {
            if let NfTablesMessage::NewSet(message) = message
                && let Some((set, content)) = read_set(message)
            {
                table.sets.insert(set, content);
            }
        }
        for (set, content) in table.sets.iter_mut().filter(|(_, set)| set.timeout.is_none()) {
            content.elements = self.elements(name, set)?;
        }
        Ok(Some(table))
    }

    fn elements(&mut self, table: &str, set: &str) -> Result<BTreeMap<Key, Data>> {
        let attributes = vec![SetElementList::Table(table.to_owned()), SetElementList::Set(set.to_owned())];
        let mut elements = BTreeMap::new();
        for message in self.dump("elements", NfTablesMessage::GetSetElement(SetElementMessage { attributes }))? {
            let NfTablesMessage::NewSetElement(message) = message else { continue };
            for attribute in message.attributes {
                let SetElementList::Elements(list) = attribute else { continue };
                elements.extend(list.into_iter().filter_map(read_element));
            }
        }
        Ok(elements)
    }
}

fn inner(message: NetfilterMessage) -> Option<NfTablesMessage> {
    match message.inner {
        NetfilterMessageInner::NfTables(message) => Some(message),
        _ => None,
    }
}

fn read_chain(of: &str, message: ChainMessage) -> Option<(String, Chain)> {
    let (mut name, mut table, mut point, mut priority, mut kind) = (None, None, None, 0, None);
    for attribute in message.attributes {
        match attribute {
            ChainAttribute::Table(text) => table = Some(text),
            ChainAttribute::Name(text) => name = Some(text),
            ChainAttribute::Type(text) => kind = Some(text),
            ChainAttribute::Hook(attributes) => {
                for attribute in attributes {
                    match attribute {
                        HookAttribute::Number(number) => point = Some(u32::from(number)),
                        HookAttribute::Priority(number) => priority = number as i32,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    if table.as_deref() != Some(of) {
        return None;
    }
    let point = point.and_then(|number| match number {
        0 => Some(HookPoint::Prerouting),
        1 => Some(HookPoint::Input),
        2 => Some(HookPoint::Forward),
        3 => Some(HookPoint::Output),
        4 => Some(HookPoint::Postrouting),
        _ => None,
    });
    let kind = if kind.as_deref() == Some("nat") { HookType::Nat } else { HookType::Filter };
    let hook = point.map(|point| Hook { kind, point, priority });
    Some((name?, Chain { hook, rules: vec![] }))
}

fn read_rule(of: &str, message: RuleMessage) -> Option<(String, Rule)> {
    let (mut table, mut chain, mut comment) = (None, None, None);
    for attribute in message.attributes {
        match attribute {
            RuleAttribute::Table(text) => table = Some(text),
            RuleAttribute::Chain(text) => chain = Some(text),
            RuleAttribute::UserData(bytes) => comment = comment_of_userdata(&bytes),
            _ => {}
        }
    }
    if table.as_deref() != Some(of) {
        return None;
    }
    // A rule without a comment is not ours; it equals none of ours and so goes.
    Some((chain?, Rule { comment: comment.unwrap_or_default(), steps: vec![] }))
}

fn read_set(message: SetMessage) -> Option<(String, Set)> {
    let (mut name, mut flags, mut key, mut data, mut timeout) = (None, SetFlags::empty(), 0, None, None);
    for attribute in message.attributes {
        match attribute {
            SetAttribute::Name(text) => name = Some(text),
            SetAttribute::Flags(found) => flags = found,
            SetAttribute::KeyType(number) => key = number,
            SetAttribute::DataType(number) => data = Some(number),
            SetAttribute::Timeout(millis) => timeout = Some(Duration::from_millis(millis)),
            _ => {}
        }
    }
    let data = match data {
        _ if !flags.contains(SetFlags::Map) => SetData::None,
        Some(number) if number & 0xff00_0000 == 0 => SetData::Value(read_types(number)),
        _ => SetData::Verdict,
    };
    Some((name?, Set { key: read_types(key), data, timeout, elements: BTreeMap::new() }))
}

/// The components of a concatenation's number; an unknown one makes the list differ from any.
fn read_types(mut number: u32) -> Vec<DataType> {
    let mut types = Vec::new();
    while number != 0 {
        match number & 63 {
            7 => types.push(DataType::Ipv4),
            12 => types.push(DataType::Protocol),
            13 => types.push(DataType::Port),
            19 => types.push(DataType::Mark),
            _ => {}
        }
        number >>= 6;
    }
    types.reverse();
    types
}

fn read_element(element: ListAttribute<SetElementAttribute>) -> Option<(Key, Data)> {
    let ListAttribute::Element(attributes) = element else { return None };
    let (mut key, mut data) = (None, Data::None);
    for attribute in attributes {
        match attribute {
            SetElementAttribute::Key(DataAttribute::Value(bytes)) => key = Some(bytes.into()),
            SetElementAttribute::Data(DataAttribute::Value(bytes)) => data = Data::Value(bytes.into()),
            SetElementAttribute::Data(DataAttribute::Verdict(verdict)) => {
                data = Data::Verdict(Verdict::from_wire(verdict)?);
            }
            SetElementAttribute::Flags(flags) if flags != SetElementFlags::empty() => return None,
            _ => {}
        }
    }
    Some((key?, data))
}
