//! From a question to an answer.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::Arc,
};

use hickory_proto::{
    op::{Edns, Message, MessageType, OpCode, Query, ResponseCode},
    rr::{
        DNSClass, Name, RData, Record, RecordType,
        rdata::{A, AAAA, CNAME, NS, PTR, SOA, SRV, TXT},
    },
};

use crate::{
    forward::{Forwarder, Transport},
    index::{Endpoint, Entry, Index, NamedPort, Target},
};

/// Seconds that answers may be kept.
const TTL: u32 = 5;

/// The version of the DNS specification.
const SPECIFICATION: &str = "1.1.0";

/// Largest answer over UDP, also for clients that would take more: what passes unfragmented.
pub(crate) const MAX_UDP: u16 = 1232;

/// CNAMEs from service to service that are followed.
const MAX_CHAIN: usize = 8;

/// What a name of the cluster has.
#[derive(Debug, PartialEq)]
enum Found {
    /// These records of the type asked for; none: NODATA.
    Records(Vec<Record>),
    /// Another name.
    Alias(Name),
    /// There is no such name.
    NoName,
}

pub(crate) struct Answerer {
    index: Arc<Index>,
    domain: Name,
    networks: Vec<(IpAddr, u8)>,
    forwarder: Forwarder,
}

/// Whether an answer is ready or must be fetched.
pub(crate) enum Outcome {
    /// Bytes to send.
    Ready(Vec<u8>),
    /// Not a question; nothing is sent.
    Ignored,
    /// To be answered by [`Answerer::answer_slowly`].
    Slow(Box<Message>),
}

impl Answerer {
    /// None if the domain is no name.
    pub fn new(index: Arc<Index>, domain: &str, networks: Vec<(IpAddr, u8)>, forwarder: Forwarder) -> Option<Self> {
        let mut domain = Name::from_ascii(domain).ok().filter(|name| !name.is_root())?.to_lowercase();
        domain.set_fqdn(true);
        Some(Answerer { index, domain, networks, forwarder })
    }

    /// Answers what needs no other server.
    pub fn answer(&self, request: &[u8], transport: Transport) -> Outcome {
        let message = match Message::from_vec(request) {
            Ok(message) if message.metadata.message_type == MessageType::Query => message,
            Ok(_) => return Outcome::Ignored,
            Err(_) => return malformed(request),
        };
        let response = if message.metadata.op_code != OpCode::Query {
            self.failure(&message, ResponseCode::NotImp)
        } else if message.edns.as_ref().is_some_and(|edns| edns.version() != 0) {
            self.failure(&message, ResponseCode::BADVERS)
        } else if let [query] = message.queries.as_slice() {
            match self.local(query) {
                None => return Outcome::Slow(Box::new(message)),
                Some(Found::Alias(target)) => match self.chase(&message, query, target) {
                    Ok(response) => response,
                    Err(_) => return Outcome::Slow(Box::new(message)),
                },
                Some(found) => self.respond(&message, found, vec![]),
            }
        } else {
            self.failure(&message, ResponseCode::FormErr)
        };
        Outcome::Ready(encode(&response, transport, &message))
    }

    /// Answers what must be asked elsewhere.
    pub async fn answer_slowly(&self, request: &[u8], message: &Message, transport: Transport) -> Vec<u8> {
        let failure = || encode(&self.failure(message, ResponseCode::ServFail), transport, message);
        let [query] = message.queries.as_slice() else { return failure() };
        if self.local(query).is_none() {
            return self.forwarder.forward(request, transport).await.unwrap_or_else(|_| failure());
        }
        // An alias that leads out of the cluster: ask for the rest, and join.
        let Some(Found::Alias(target)) = self.local(query) else { return failure() };
        let (mut answers, target) = match self.chase(message, query, target) {
            Ok(response) => return encode(&response, transport, message),
            Err(outside) => outside,
        };
        let mut question = Message::query();
        question.metadata.recursion_desired = true;
        question.add_query(Query::query(target, query.query_type()));
        let Ok(bytes) = question.to_vec() else { return failure() };
        // Without its addresses the alias itself is still an answer.
        let rest = self.forwarder.forward(&bytes, Transport::Tcp).await;
        answers.extend(rest.ok().and_then(|bytes| Message::from_vec(&bytes).ok()).into_iter().flat_map(|m| m.answers));
        let mut response = self.header(message, ResponseCode::NoError);
        response.insert_answers(answers);
        encode(&response, transport, message)
    }

    /// Follows an alias inside the cluster. The error is where it leads out, with the records so far.
    fn chase(&self, message: &Message, query: &Query, target: Name) -> Result<Message, (Vec<Record>, Name)> {
        let mut records = vec![alias(query.name(), &target)];
        let mut target = target;
        if query.query_type() == RecordType::CNAME {
            return Ok(self.respond(message, Found::Records(vec![]), records));
        }
        for _ in 0..MAX_CHAIN {
            match self.local(&Query::query(target.clone(), query.query_type())) {
                None => return Err((records, target)),
                Some(Found::Alias(next)) => {
                    records.push(alias(&target, &next));
                    target = next;
                }
                Some(found) => return Ok(self.respond(message, found, records)),
            }
        }
        Ok(self.failure(message, ResponseCode::ServFail))
    }

    fn header(&self, request: &Message, code: ResponseCode) -> Message {
        let mut response = Message::response(request.metadata.id, request.metadata.op_code);
        response.metadata.recursion_desired = request.metadata.recursion_desired;
        response.metadata.recursion_available = true;
        response.metadata.response_code = code;
        response.add_queries(request.queries.iter().cloned());
        if request.edns.is_some() {
            let mut edns = Edns::new();
            edns.set_max_payload(MAX_UDP);
            response.set_edns(edns);
        }
        response
    }

    fn failure(&self, request: &Message, code: ResponseCode) -> Message {
        self.header(request, code)
    }

    fn respond(&self, request: &Message, found: Found, before: Vec<Record>) -> Message {
        let (code, records) = match found {
            Found::Records(records) => (ResponseCode::NoError, records),
            _ => (ResponseCode::NXDomain, vec![]),
        };
        let mut response = self.header(request, code);
        response.metadata.authoritative = true;
        let nothing = records.is_empty() && before.is_empty();
        response.add_answers(before);
        response.add_answers(records);
        if nothing {
            // Says how long "no" may be kept.
            response.add_authority(self.soa());
        }
        response
    }

    fn soa(&self) -> Record {
        let server = self.below("ns.dns").unwrap_or_else(|| self.domain.clone());
        let person = self.below("hostmaster").unwrap_or_else(|| self.domain.clone());
        // The serial number is for secondary servers, and there are none.
        let soa = SOA::new(server, person, 1, 7200, 1800, 86_400, TTL);
        Record::from_rdata(self.domain.clone(), TTL, RData::SOA(soa))
    }

    /// A name below the cluster's domain.
    fn below(&self, relative: &str) -> Option<Name> {
        Name::from_ascii(relative).ok()?.append_domain(&self.domain).ok()
    }

    /// None: not a name of ours.
    fn local(&self, query: &Query) -> Option<Found> {
        if query.query_class() != DNSClass::IN {
            return None;
        }
        let name = query.name().to_lowercase();
        if self.domain.zone_of(&name) {
            let count = usize::from(name.num_labels() - self.domain.num_labels());
            let labels: Option<Vec<&str>> =
                name.iter().take(count).map(|label| std::str::from_utf8(label).ok()).collect();
            return Some(labels.map_or(Found::NoName, |labels| self.cluster(query, &labels)));
        }
        if let Some(ip) = reverse(&name) {
            let names = self.index.names_of(ip);
            if names.is_empty() && !self.networks.iter().any(|network| contains(*network, ip)) {
                return None;
            }
            if names.is_empty() {
                return Some(Found::NoName);
            }
            let wanted = query.query_type() == RecordType::PTR;
            let names = names.iter().filter(|_| wanted).filter_map(|name| self.below(&format!("{name}.svc")));
            return Some(Found::Records(names.map(|name| record(query, RData::PTR(PTR(name)))).collect()));
        }
        None
    }

    fn cluster(&self, query: &Query, labels: &[&str]) -> Found {
        let exists = |exists: bool| if exists { Found::Records(vec![]) } else { Found::NoName };
        match labels {
            [] => match query.query_type() {
                RecordType::SOA => Found::Records(vec![self.soa()]),
                RecordType::NS => {
                    let server = self.below("ns.dns").into_iter();
                    Found::Records(server.map(|name| record(query, RData::NS(NS(name)))).collect())
                }
                _ => Found::Records(vec![]),
            },
            ["dns-version"] if query.query_type() == RecordType::TXT => {
                Found::Records(vec![record(query, RData::TXT(TXT::new(vec![SPECIFICATION.to_owned()])))])
            }
            ["dns-version" | "svc" | "pod"] => Found::Records(vec![]),
            [namespace, "svc" | "pod"] => exists(self.index.namespace_exists(namespace)),
            [address, namespace, "pod"] => match dashed(address) {
                Some(ip) if self.index.namespace_exists(namespace) => addresses(query, [ip]),
                _ => Found::NoName,
            },
            [service, namespace, "svc"] => match self.index.service(namespace, service) {
                Some(entry) => self.service(query, service, namespace, &entry),
                None => Found::NoName,
            },
            [first, service, namespace, "svc"] => match self.index.service(namespace, service).as_deref() {
                Some(Entry { target: Target::Headless(endpoints), .. }) => {
                    let named: Vec<&Endpoint> = endpoints.iter().filter(|endpoint| endpoint.label == *first).collect();
                    if named.is_empty() {
                        // `_tcp` exists where a port below it does.
                        return exists(is_protocol(endpoints.iter().flat_map(|e| &e.ports), first));
                    }
                    addresses(query, named.iter().map(|endpoint| endpoint.ip))
                }
                Some(entry) => exists(is_protocol(entry.ports.iter(), first)),
                None => Found::NoName,
            },
            [port, protocol, service, namespace, "svc"] => {
                let (Some(port), Some(protocol)) = (port.strip_prefix('_'), protocol.strip_prefix('_')) else {
                    return Found::NoName;
                };
                let Some(entry) = self.index.service(namespace, service) else { return Found::NoName };
                let wanted = |p: &NamedPort| !p.name.is_empty() && p.name == port && p.protocol == protocol;
                let records = self.srv(query, service, namespace, &entry, wanted);
                match records.is_empty() {
                    true => Found::NoName,
                    false if query.query_type() == RecordType::SRV => Found::Records(records),
                    false => Found::Records(vec![]),
                }
            }
            _ => Found::NoName,
        }
    }

    fn service(&self, query: &Query, service: &str, namespace: &str, entry: &Entry) -> Found {
        if query.query_type() == RecordType::SRV && !matches!(entry.target, Target::External(_)) {
            return Found::Records(self.srv(query, service, namespace, entry, |_| true));
        }
        match &entry.target {
            Target::Cluster(ips) => addresses(query, ips.iter().copied()),
            Target::Headless(endpoints) => {
                let mut ips: Vec<IpAddr> = endpoints.iter().map(|endpoint| endpoint.ip).collect();
                ips.sort_unstable();
                ips.dedup();
                addresses(query, ips)
            }
            Target::External(name) => match name.parse::<IpAddr>() {
                // Not a name, but people write it.
                Ok(ip) => addresses(query, [ip]),
                Err(_) => Name::from_utf8(name).map_or(Found::Records(vec![]), |mut target| {
                    target.set_fqdn(true);
                    Found::Alias(target)
                }),
            },
        }
    }

    fn srv(
        &self,
        query: &Query,
        service: &str,
        namespace: &str,
        entry: &Entry,
        wanted: impl Fn(&NamedPort) -> bool,
    ) -> Vec<Record> {
        let srv = |port: u16, name: Name| record(query, RData::SRV(SRV::new(0, 100, port, name)));
        match &entry.target {
            Target::Cluster(_) => {
                let Some(name) = self.below(&format!("{service}.{namespace}.svc")) else { return vec![] };
                entry.ports.iter().filter(|port| wanted(port)).map(|port| srv(port.port, name.clone())).collect()
            }
            Target::Headless(endpoints) => endpoints
                .iter()
                .flat_map(|endpoint| {
                    let name = self.below(&format!("{}.{service}.{namespace}.svc", endpoint.label));
                    endpoint.ports.iter().filter(|port| wanted(port)).filter_map(move |p| Some((p.port, name.clone()?)))
                })
                .map(|(port, name)| srv(port, name))
                .collect(),
            Target::External(_) => vec![],
        }
    }
}

fn is_protocol<'a>(mut ports: impl Iterator<Item = &'a NamedPort>, label: &str) -> bool {
    label.strip_prefix('_').is_some_and(|name| ports.any(|port| !port.name.is_empty() && port.protocol == name))
}

fn record(query: &Query, data: RData) -> Record {
    Record::from_rdata(query.name().clone(), TTL, data)
}

fn alias(name: &Name, target: &Name) -> Record {
    Record::from_rdata(name.clone(), TTL, RData::CNAME(CNAME(target.clone())))
}

fn addresses(query: &Query, ips: impl IntoIterator<Item = IpAddr>) -> Found {
    let records = ips.into_iter().filter_map(|ip| match (query.query_type(), ip) {
        (RecordType::A | RecordType::ANY, IpAddr::V4(ip)) => Some(record(query, RData::A(A(ip)))),
        (RecordType::AAAA | RecordType::ANY, IpAddr::V6(ip)) => Some(record(query, RData::AAAA(AAAA(ip)))),
        _ => None,
    });
    Found::Records(records.collect())
}

/// `10-42-0-5`, or an IPv6 address with dashes for colons.
fn dashed(label: &str) -> Option<IpAddr> {
    let v4 = label.replace('-', ".").parse::<Ipv4Addr>().map(IpAddr::from);
    v4.or_else(|_| label.replace('-', ":").parse::<Ipv6Addr>().map(IpAddr::from)).ok()
}

/// The address that a name below `in-addr.arpa` or `ip6.arpa` asks for.
fn reverse(name: &Name) -> Option<IpAddr> {
    let network = name.parse_arpa_name().ok()?;
    (network.prefix_len() == network.max_prefix_len()).then(|| network.addr())
}

fn contains((network, prefix): (IpAddr, u8), ip: IpAddr) -> bool {
    let prefix = u32::from(prefix);
    match (network, ip) {
        (IpAddr::V4(a), IpAddr::V4(b)) => {
            (a.to_bits() ^ b.to_bits()) & u32::MAX.checked_shl(32_u32.saturating_sub(prefix)).unwrap_or(0) == 0
        }
        (IpAddr::V6(a), IpAddr::V6(b)) => {
            (a.to_bits() ^ b.to_bits()) & u128::MAX.checked_shl(128_u32.saturating_sub(prefix)).unwrap_or(0) == 0
        }
        _ => false,
    }
}

/// An answer to what cannot be read, if at least its number can.
fn malformed(request: &[u8]) -> Outcome {
    match request {
        [high, low, flags, ..] if flags & 0x80 == 0 => {
            let id = u16::from_be_bytes([*high, *low]);
            let response = Message::error_msg(id, OpCode::Query, ResponseCode::FormErr);
            response.to_vec().map_or(Outcome::Ignored, Outcome::Ready)
        }
        _ => Outcome::Ignored,
    }
}

/// As bytes; over UDP cut to what the client takes, with the mark that tells it to ask over TCP.
fn encode(response: &Message, transport: Transport, request: &Message) -> Vec<u8> {
    let limit = match transport {
        Transport::Udp => request.max_payload().min(MAX_UDP),
        Transport::Tcp => u16::MAX,
    };
    let whole = response.to_vec().ok().filter(|bytes| bytes.len() <= usize::from(limit));
    whole.or_else(|| response.truncate().to_vec().ok()).unwrap_or_default()
}
