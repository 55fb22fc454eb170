//! Transactions: steps to netlink messages, sent as one batch.

use netlink_packet_core::{NLM_F_ACK, NLM_F_APPEND, NLM_F_CREATE, NLM_F_REQUEST};
use netlink_packet_netfilter::{
    NetfilterHeader, NetfilterMessage, NetfilterMessageInner, NetfilterProtoFamily,
    nftables::{
        ChainAttribute, ChainMessage, DataAttribute, Hook as HookAttribute, HookNumber, InetHookNumber, ListAttribute,
        NfTablesMessage, RuleAttribute, RuleMessage, SetAttribute, SetElementAttribute, SetElementList,
        SetElementMessage, SetFlags, SetMessage, TableAttribute, TableMessage,
    },
    none::ControlMessage,
};
use netlink_sys::protocols::NETLINK_NETFILTER;

use super::{
    diff::Op,
    model::{Chain, Data, Family, Hook, HookPoint, HookType, Key, Rule, Set, SetData, Table, type_len, type_number},
};
use crate::{
    Error, Result,
    socket::{Socket, encode},
};

/// Elements to a message: an attribute's length is 16 bits.
const ELEMENTS_PER_MESSAGE: usize = 400;

/// nfnetlink subsystem of nftables.
const NFNL_SUBSYS_NFTABLES: u16 = 10;

/// `NFT_DATA_VERDICT`: the type of a verdict map's values.
const VERDICT_TYPE: u32 = 0xffff_ff00;

/// Applies steps to the table of that family and name, all or nothing, in the namespace of the
/// calling thread. Nothing is sent for no steps.
pub fn commit(family: Family, table: &str, ops: &[Op]) -> Result<()> {
    if ops.is_empty() {
        return Ok(());
    }
    // Of each message: the step it belongs to, its flags, its body.
    let mut messages: Vec<(usize, u16, NfTablesMessage)> = Vec::new();
    for (index, op) in ops.iter().enumerate() {
        encode_op(table, op, index, &mut |flags, message| messages.push((index, flags, message)));
    }
    const FIRST: u32 = 1;
    let control = |message| {
        NetfilterMessage::new(
            NetfilterHeader::new(NetfilterProtoFamily::Unspec, 0, NFNL_SUBSYS_NFTABLES),
            NetfilterMessageInner::None(message),
        )
    };
    let mut bytes = encode(control(ControlMessage::BatchBegin), NLM_F_REQUEST, FIRST);
    let steps: Vec<usize> = messages.iter().map(|(step, ..)| *step).collect();
    let last = FIRST + messages.len() as u32;
    for (n, (_, flags, message)) in messages.into_iter().enumerate() {
        let sequence = FIRST + 1 + n as u32;
        let ack = if sequence == last { NLM_F_ACK } else { 0 };
        bytes.extend(encode(framed(family, message), NLM_F_REQUEST | flags | ack, sequence));
    }
    bytes.extend(encode(control(ControlMessage::BatchEnd), NLM_F_REQUEST, last + 1));

    let mut socket = Socket::open(NETLINK_NETFILTER)?;
    socket.batch(&bytes, FIRST, last)?.map_err(|(sequence, source)| {
        let step = sequence.checked_sub(FIRST + 1).and_then(|n| steps.get(n as usize)).and_then(|i| ops.get(*i));
        let what = step.map_or("commit".to_owned(), describe);
        Error::Kernel { what: format!("nftables table {table}: {what}"), source }
    })
}

/// Deletes a table with all that is in it; no error if it is not there.
pub fn delete_table(family: Family, table: &str) -> Result<()> {
    // Adding first makes deleting succeed either way.
    commit(family, table, &[Op::AddTable, Op::DeleteTable])
}

fn describe(op: &Op) -> String {
    match op {
        Op::AddTable => "add it".into(),
        Op::DeleteTable => "delete it".into(),
        Op::AddChain(name, _) => format!("add chain {name}"),
        Op::AddSet(name, _) => format!("add set {name}"),
        Op::DeleteElements(name, _) => format!("delete elements of {name}"),
        Op::AddElements(name, _) => format!("add elements to {name}"),
        Op::FlushChain(name) => format!("flush chain {name}"),
        Op::AddRule(name, rule) => format!("add rule \"{}\" to chain {name}", rule.comment),
        Op::DeleteChain(name) => format!("delete chain {name}"),
        Op::DeleteSet(name) => format!("delete set {name}"),
    }
}

pub(super) fn framed(family: Family, message: NfTablesMessage) -> NetfilterMessage {
    let family = match family {
        Family::Ip => NetfilterProtoFamily::IPv4,
        Family::Ip6 => NetfilterProtoFamily::IPv6,
        Family::Inet => NetfilterProtoFamily::Inet,
    };
    NetfilterMessage::new(NetfilterHeader::new(family, 0, 0), message)
}

pub(super) fn table_message(table: &str) -> TableMessage {
    TableMessage { attributes: vec![TableAttribute::Name(table.to_owned())] }
}

fn encode_op(table: &str, op: &Op, index: usize, out: &mut dyn FnMut(u16, NfTablesMessage)) {
    let chain_ref = |name: &String| ChainMessage {
        attributes: vec![ChainAttribute::Table(table.to_owned()), ChainAttribute::Name(name.clone())],
    };
    match op {
        Op::AddTable => out(NLM_F_CREATE, NfTablesMessage::NewTable(table_message(table))),
        Op::DeleteTable => out(0, NfTablesMessage::DeleteTable(table_message(table))),
        Op::AddChain(name, chain) => {
            let mut message = chain_ref(name);
            message.attributes.extend(hook_attributes(chain));
            out(NLM_F_CREATE, NfTablesMessage::NewChain(message));
        }
        Op::AddSet(name, set) => out(NLM_F_CREATE, NfTablesMessage::NewSet(set_message(table, name, set, index))),
        Op::DeleteElements(name, elements) => {
            for message in element_messages(table, name, elements) {
                out(0, NfTablesMessage::DeleteSetElement(message));
            }
        }
        Op::AddElements(name, elements) => {
            for message in element_messages(table, name, elements) {
                out(NLM_F_CREATE, NfTablesMessage::NewSetElement(message));
            }
        }
        Op::FlushChain(name) => {
            let attributes = vec![RuleAttribute::Table(table.to_owned()), RuleAttribute::Chain(name.clone())];
            out(0, NfTablesMessage::DeleteRule(RuleMessage { attributes }));
        }
        Op::AddRule(chain, rule) => {
            let message = rule_message(table, chain, rule);
            out(NLM_F_CREATE | NLM_F_APPEND, NfTablesMessage::NewRule(message));
        }
        Op::DeleteChain(name) => out(0, NfTablesMessage::DeleteChain(chain_ref(name))),
        Op::DeleteSet(name) => {
            let attributes = vec![SetAttribute::Table(table.to_owned()), SetAttribute::Name(name.clone())];
            out(0, NfTablesMessage::DeleteSet(SetMessage { attributes }));
        }
    }
}

fn hook_attributes(chain: &Chain) -> Vec<ChainAttribute> {
    let Some(Hook { kind, point, priority }) = chain.hook else { return vec![] };
    const NF_ACCEPT: u32 = 1;
    let point = match point {
        HookPoint::Prerouting => InetHookNumber::PreRouting,
        HookPoint::Input => InetHookNumber::LocalIn,
        HookPoint::Forward => InetHookNumber::Forward,
        HookPoint::Output => InetHookNumber::LocalOut,
        HookPoint::Postrouting => InetHookNumber::PostRouting,
    };
    let kind = match kind {
        HookType::Filter => "filter",
        HookType::Nat => "nat",
    };
    vec![
        ChainAttribute::Hook(vec![
            HookAttribute::Number(HookNumber::Inet(point)),
            HookAttribute::Priority(priority as u32),
        ]),
        ChainAttribute::Policy(NF_ACCEPT),
        ChainAttribute::Type(kind.to_owned()),
    ]
}

fn set_message(table: &str, name: &str, set: &Set, index: usize) -> SetMessage {
    let mut flags = SetFlags::empty();
    let mut data = vec![];
    match &set.data {
        SetData::None => {}
        SetData::Value(types) => {
            flags |= SetFlags::Map;
            data = vec![SetAttribute::DataType(type_number(types)), SetAttribute::DataLen(type_len(types))];
        }
        SetData::Verdict => {
            flags |= SetFlags::Map;
            // The length of a verdict is the kernel's own affair; it wants the attribute absent.
            data = vec![SetAttribute::DataType(VERDICT_TYPE)];
        }
    }
    if set.timeout.is_some() {
        flags |= SetFlags::Timeout | SetFlags::Eval;
    }
    let mut attributes = vec![
        SetAttribute::Table(table.to_owned()),
        SetAttribute::Name(name.to_owned()),
        SetAttribute::Flags(flags),
        SetAttribute::KeyType(type_number(&set.key)),
        SetAttribute::KeyLen(type_len(&set.key)),
    ];
    attributes.extend(data);
    attributes.push(SetAttribute::Id(index as u32 + 1));
    if let Some(timeout) = set.timeout {
        attributes.push(SetAttribute::Timeout(timeout.as_millis() as u64));
        // Bounded: clients that come and go must not fill the kernel's memory.
        attributes.push(SetAttribute::Description(vec![netlink_packet_netfilter::nftables::SetDescription::Size(
            DYNAMIC_ELEMENTS,
        )]));
    }
    SetMessage { attributes }
}

/// Most elements that packets may add to a set.
const DYNAMIC_ELEMENTS: u32 = 65_536;

fn element_messages<'a>(
    table: &'a str,
    set: &'a str,
    elements: &'a std::collections::BTreeMap<Key, Data>,
) -> impl Iterator<Item = SetElementMessage> + 'a {
    let mut elements = elements.iter();
    std::iter::from_fn(move || {
        let chunk: Vec<_> = elements.by_ref().take(ELEMENTS_PER_MESSAGE).map(element).collect();
        (!chunk.is_empty()).then(|| SetElementMessage {
            attributes: vec![
                SetElementList::Table(table.to_owned()),
                SetElementList::Set(set.to_owned()),
                SetElementList::Elements(chunk),
            ],
        })
    })
}

fn element((key, data): (&Key, &Data)) -> ListAttribute<SetElementAttribute> {
    let mut attributes = vec![SetElementAttribute::Key(DataAttribute::Value(key.to_vec()))];
    match data {
        Data::None => {}
        Data::Value(value) => attributes.push(SetElementAttribute::Data(DataAttribute::Value(value.to_vec()))),
        Data::Verdict(verdict) => attributes.push(SetElementAttribute::Data(DataAttribute::Verdict(verdict.wire()))),
    }
    ListAttribute::Element(attributes)
}

fn rule_message(table: &str, chain: &str, rule: &Rule) -> RuleMessage {
    RuleMessage {
        attributes: vec![
            RuleAttribute::Table(table.to_owned()),
            RuleAttribute::Chain(chain.to_owned()),
            RuleAttribute::Expressions(rule.steps.iter().map(|step| step.wire()).collect()),
            RuleAttribute::UserData(comment_to_userdata(&rule.comment)),
        ],
    }
}

/// A comment in the form in which the `nft` command keeps and shows it: type, length, text, NUL.
fn comment_to_userdata(comment: &str) -> Vec<u8> {
    let mut userdata = vec![0, comment.len() as u8 + 1];
    userdata.extend(comment.bytes());
    userdata.push(0);
    userdata
}

/// The comment in a rule's user data, if there is one.
pub(super) fn comment_of_userdata(userdata: &[u8]) -> Option<String> {
    match userdata {
        [0, length, text @ ..] => {
            let text = text.get(..usize::from(*length).checked_sub(1)?)?;
            String::from_utf8(text.to_vec()).ok()
        }
        _ => None,
    }
}

/// A table that is empty but for its name: for reading.
pub(super) fn empty(family: Family, name: &str) -> Table {
    Table::new(family, name)
}
