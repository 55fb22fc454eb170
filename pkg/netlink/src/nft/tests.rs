//! Transactions against the kernel, in namespaces of their own.

use std::{
    collections::BTreeMap,
    io::{Read as _, Write as _},
    net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream},
    time::Duration,
};

use super::*;
use crate::{Namespace, Rtnetlink};

const VIP: Ipv4Addr = Ipv4Addr::new(10, 43, 0, 1);
const HERE: Ipv4Addr = Ipv4Addr::new(10, 9, 9, 9);

/// A table with everything that the proxy uses.
fn sample(endpoints: &[u16]) -> Table {
    let mut table = Table::new(Family::Ip, "knet-sample");
    let k = endpoints.len() as u32;
    let mut map = Set::map(
        &[DataType::Ipv4, DataType::Protocol, DataType::Port, DataType::Mark],
        &[DataType::Ipv4, DataType::Port],
    );
    for (n, port) in endpoints.iter().enumerate() {
        map.elements.insert(
            key::join([key::addr(VIP), key::protocol(6), key::port(80), key::mark(n as u32)]),
            Data::Value(key::join([key::addr(HERE), key::port(*port)])),
        );
    }
    table.sets.insert("eps".into(), map);
    let mut verdicts = Set::verdicts(&[DataType::Ipv4, DataType::Protocol, DataType::Port]);
    verdicts.elements.insert(
        key::join([key::addr(VIP), key::protocol(6), key::port(81)]),
        Data::Verdict(Verdict::Goto("refuse".into())),
    );
    table.sets.insert("verdicts".into(), verdicts);
    table.sets.insert(
        "clients".into(),
        Set::map(&[DataType::Ipv4], &[DataType::Ipv4, DataType::Port]).with_timeout(Duration::from_secs(10)),
    );
    let r = Reg(0);
    let service = |r: Reg| vec![Expr::daddr(r), Expr::Meta(MetaKey::L4Proto, r.plus(1)), Expr::dport(r.plus(2))];
    let mut output = Chain::base(HookType::Nat, HookPoint::Output, -100);
    if k > 0 {
        output.rule(
            "choose",
            [
                service(r),
                vec![
                    Expr::Random { modulus: k, dest: r.plus(3) },
                    Expr::Lookup { set: "eps".into(), key: r, dest: Some(Reg(8)), invert: false },
                    Expr::saddr(Reg(4)),
                    Expr::DynSet { set: "clients".into(), op: DynOp::Update, key: Reg(4), data: Some(Reg(8)) },
                    Expr::Dnat { addr: Reg(8), port: Some(Reg(9)) },
                ],
            ],
        );
    }
    table.chains.insert("output".into(), output);
    let mut filter = Chain::base(HookType::Filter, HookPoint::Output, 0);
    filter.rule("refused services", [service(r), vec![Expr::VerdictMap { map: "verdicts".into(), key: r }]]);
    table.chains.insert("filter".into(), filter);
    let mut refuse = Chain::default();
    refuse.rule(
        "tcp",
        [vec![Expr::Meta(MetaKey::L4Proto, r), Expr::Cmp(r, Cmp::Eq, vec![6]), Expr::Reject(Reject::TcpReset)]],
    );
    refuse.rule("rest", [vec![Expr::Reject(Reject::PortUnreachable)]]);
    table.chains.insert("refuse".into(), refuse);
    let mut post = Chain::base(HookType::Nat, HookPoint::Postrouting, 100);
    post.rule("marked", [Expr::mark_has(0x4000, r), Expr::mark_change(0, 0x4000, r), vec![Expr::Masquerade]]);
    post.rule(
        "local",
        [Expr::is_local(fib_flag::SADDR, r), vec![Expr::Ct(CtKey::State, r), Expr::Verdict(Verdict::Return)]],
    );
    table.chains.insert("post".into(), post);
    table
}

fn apply(wanted: &Table) -> Vec<Op> {
    let current = read(wanted.family, &wanted.name).unwrap();
    let ops = difference(current.as_ref(), wanted);
    commit(wanted.family, &wanted.name, &ops).unwrap();
    ops
}

#[test]
fn what_is_written_is_read_back_and_written_again_changes_nothing() {
    Namespace::fresh()
        .unwrap()
        .run(|| {
            assert_eq!(read(Family::Ip, "knet-sample").unwrap(), None);
            for endpoints in [&[8080][..], &[8080, 8081], &[9000, 8081, 9001], &[], &[1]] {
                let wanted = sample(endpoints);
                assert!(!apply(&wanted).is_empty(), "{endpoints:?}");
                assert_eq!(apply(&wanted), [], "{endpoints:?}");
                let current = read(Family::Ip, "knet-sample").unwrap().unwrap();
                assert_eq!(current.sets, wanted.sets);
            }
            delete_table(Family::Ip, "knet-sample").unwrap();
            assert_eq!(read(Family::Ip, "knet-sample").unwrap(), None);
            delete_table(Family::Ip, "knet-sample").unwrap();
        })
        .unwrap();
}

#[test]
fn a_changed_hook_or_set_type_rebuilds_the_table_and_extras_go() {
    Namespace::fresh()
        .unwrap()
        .run(|| {
            let mut table = sample(&[1, 2]);
            apply(&table);
            table.chains.get_mut("filter").unwrap().hook.as_mut().unwrap().priority = 5;
            assert!(apply(&table).contains(&Op::DeleteTable));
            table.sets.insert("eps-extra".into(), Set::of(&[DataType::Ipv4, DataType::Ipv4]));
            table.chains.insert("extra".into(), Chain::default());
            assert_eq!(apply(&table).len(), 2);
            table.sets.remove("eps-extra");
            table.chains.remove("extra");
            assert_eq!(apply(&table), [Op::DeleteChain("extra".into()), Op::DeleteSet("eps-extra".into())]);
            assert_eq!(apply(&table), []);
        })
        .unwrap();
}

#[test]
fn thousands_of_elements_go_in_one_transaction() {
    Namespace::fresh()
        .unwrap()
        .run(|| {
            let mut table = Table::new(Family::Ip, "knet-many");
            let mut set = Set::map(&[DataType::Ipv4, DataType::Mark], &[DataType::Ipv4, DataType::Port]);
            for n in 0..20_000u32 {
                let value = key::join([key::addr(Ipv4Addr::from_bits(n)), key::port(n as u16)]);
                set.elements.insert(key::join([key::addr(Ipv4Addr::from_bits(n)), key::mark(n)]), Data::Value(value));
            }
            table.sets.insert("many".into(), set);
            apply(&table);
            // A dump misses elements while the kernel is still growing the set; adding them again changes nothing.
            let settled = (0..100).any(|_| {
                let done = apply(&table).is_empty();
                std::thread::sleep(Duration::from_millis(if done { 0 } else { 20 }));
                done
            });
            assert!(settled);
            assert_eq!(read_elements(Family::Ip, "knet-many", "many").unwrap(), table.sets["many"].elements);
        })
        .unwrap();
}

#[test]
fn a_refused_step_is_named_and_undoes_all() {
    Namespace::fresh()
        .unwrap()
        .run(|| {
            let bad =
                Rule::new("bad", vec![Expr::Lookup { set: "absent".into(), key: Reg(0), dest: None, invert: false }]);
            let ops = [Op::AddTable, Op::AddChain("c".into(), Chain::default()), Op::AddRule("c".into(), bad)];
            let error = commit(Family::Ip, "knet-bad", &ops).unwrap_err();
            assert!(error.to_string().contains("add rule \"bad"), "{error}");
            assert_eq!(read(Family::Ip, "knet-bad").unwrap(), None);
        })
        .unwrap();
}

#[test]
fn packets_go_where_the_rules_say_in_the_kernel_and_on_paper() {
    Namespace::fresh()
        .unwrap()
        .run(|| {
            let mut rtnetlink = Rtnetlink::open().unwrap();
            let lo = rtnetlink.require_link("lo").unwrap();
            rtnetlink.set_up(lo.index).unwrap();
            rtnetlink.add_address(lo.index, crate::Net::host(HERE)).unwrap();
            rtnetlink
                .replace_route(&crate::Route {
                    destination: "0.0.0.0/0".parse().unwrap(),
                    kind: crate::RouteKind::Interface(lo.index),
                    source: Some(HERE.into()),
                    protocol: 77,
                })
                .unwrap();
            let listener = TcpListener::bind((HERE, 0)).unwrap();
            let port = listener.local_addr().unwrap().port();
            let table = sample(&[port]);
            apply(&table);

            let mut stream =
                TcpStream::connect_timeout(&SocketAddrV4::new(VIP, 80).into(), Duration::from_secs(5)).unwrap();
            let (mut server, peer) = listener.accept().unwrap();
            server.write_all(b"hello").unwrap();
            drop(server);
            let mut text = String::new();
            stream.read_to_string(&mut text).unwrap();
            assert_eq!(text, "hello");
            let learnt = read_elements(Family::Ip, "knet-sample", "clients").unwrap();
            let std::net::SocketAddr::V4(_) = peer else { panic!("{peer}") };
            assert_eq!(learnt.len(), 1, "{learnt:?}");
            let refused = TcpStream::connect(SocketAddrV4::new(VIP, 81)).unwrap_err();
            assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);

            let mut machine = trace::Machine::new(&table, [HERE]);
            let packet = trace::Packet::tcp(HERE, VIP, 80).local();
            let delivered = trace::Outcome::Delivered { to: HERE, port, masqueraded: false };
            assert_eq!(machine.send(packet.clone()), delivered);
            let refused = trace::Outcome::Rejected(Reject::TcpReset);
            assert_eq!(machine.send(trace::Packet { port: 81, ..packet }), refused);
            assert_eq!(machine.learnt.values().map(BTreeMap::len).sum::<usize>(), 1);
        })
        .unwrap();
}
