//! The rules by name, on every backend. Each begins at any revision and has its own keys, so that all can be asked
//! of one store.

use std::{cmp::Ordering, pin::Pin, time::Duration};

use store::{
    Compare, Error, Event, KeyRange, Op, OpResponse, Range, SqliteStore, Store, Target, Txn, TxnResponse, Watch,
};
use tokio::time::timeout;

use crate::support::{LONG, backend, backend::Backend, temp};

type Rule = for<'a> fn(&'a dyn Store, &'a str) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

macro_rules! rules {
    ($($rule:ident),+ $(,)?) => { &[$((stringify!($rule), (|store, at| Box::pin($rule(store, at))) as Rule)),+] };
}

const RULES: &[(&str, Rule)] = rules![
    a_transaction_has_one_revision,
    a_key_is_counted_anew_after_its_deletion,
    deleting_nothing_makes_no_revision,
    a_key_is_written_once_in_a_transaction,
    the_empty_key_is_refused,
    what_is_kept_must_be_there,
    a_step_that_fails_undoes_all,
    steps_see_earlier_steps,
    compares_of_ranges_and_absent_keys,
    the_past_can_be_read_and_the_future_not,
    limits_and_counts,
    a_watch_from_the_past_has_no_gap,
    a_watch_from_the_future_waits_for_it,
    progress_comes_after_all_events,
    compaction_refuses_the_past,
    a_watch_from_the_compacted_revision_sees_it,
    leases_are_granted_once_and_listed,
    a_revoked_lease_takes_its_keys_in_one_revision,
    a_key_belongs_to_its_last_lease,
];

/// Asks all rules of a new backend.
async fn hold(backend: Backend) {
    for (name, rule) in RULES {
        println!("{name}");
        rule(&*backend.store, &format!("{name}/")).await;
    }
}

#[tokio::test]
async fn the_rules_hold_for_the_model() {
    hold(backend::model().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rules_hold_for_sqlite() {
    hold(backend::sqlite().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rules_hold_for_etcd() {
    hold(backend::etcd().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rules_hold_for_the_face() {
    hold(backend::face().await).await;
}

/// Not of the model, whose leases last.
#[tokio::test(flavor = "multi_thread")]
async fn an_expired_lease_takes_its_keys_in_one_revision() {
    for backend in [backend::sqlite().await, backend::etcd().await, backend::face().await] {
        let store = &*backend.store;
        let lease = store.lease_grant(0, 1).await.unwrap();
        let bound = |key: &'static str| Op::Put { key: key.into(), value: Some("".into()), lease: Some(lease) };
        let head = run(store, vec![bound("b"), bound("a")]).await.revision;
        let mut watch = store.watch(KeyRange::prefix(""), head + 1).await.unwrap();
        assert_eq!(shown(&events(&mut watch, 2).await), [("a".into(), None, head + 1), ("b".into(), None, head + 1)]);
        assert!(matches!(store.lease_keep_alive(lease).await, Err(Error::LeaseNotFound(_))));
    }
}

/// What was asked for while a watch reads old events from the disk is due when it has them.
#[tokio::test(flavor = "multi_thread")]
async fn progress_reaches_a_watch_that_begins_on_the_disk() {
    let (_directory, path) = temp();
    let store = SqliteStore::open(&path).unwrap();
    run(&store, vec![put("", "a", "1")]).await;
    drop(store);
    tokio::time::sleep(Duration::from_millis(200)).await;
    let store = SqliteStore::open(&path).unwrap();
    let mut watch = store.watch(KeyRange::prefix(""), 2).await.unwrap();
    for _ in 0..2 {
        store.progress().await.unwrap();
        let batch = timeout(LONG, watch.recv()).await.expect("progress comes in time").expect("the watch goes on");
        let batch = if batch.events.is_empty() { Some(batch) } else { timeout(LONG, watch.recv()).await.unwrap() };
        assert!(batch.unwrap().events.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_reaches_a_watch_from_now_on() {
    for backend in [backend::model().await, backend::sqlite().await, backend::etcd().await] {
        let mut watch = backend.store.watch(KeyRange::prefix(""), 0).await.unwrap();
        backend.store.progress().await.unwrap();
        assert!(timeout(LONG, watch.recv()).await.expect("progress comes in time").unwrap().events.is_empty());
    }
}

async fn run(store: &dyn Store, then: Vec<Op>) -> TxnResponse {
    store.txn(Txn { then, previous: true, ..Txn::default() }).await.unwrap()
}

async fn refused(store: &dyn Store, then: Vec<Op>) -> Error {
    store.txn(Txn { then, ..Txn::default() }).await.unwrap_err()
}

fn put(at: &str, key: &str, value: &str) -> Op {
    Op::put(format!("{at}{key}"), value.to_owned())
}

async fn values(store: &dyn Store, at: &str, revision: i64) -> Result<Vec<String>, Error> {
    let found = store.range(Range { revision, ..Range::head(KeyRange::prefix(at.to_owned())) }).await?;
    Ok(found.kvs.iter().map(|kv| String::from_utf8_lossy(&kv.value).into_owned()).collect())
}

/// At least `count` events.
async fn events(watch: &mut Watch, count: usize) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    while events.len() < count {
        let batch = timeout(LONG, watch.recv()).await.expect("events come in time").expect("the watch goes on");
        events.extend(batch.events.iter().cloned());
    }
    events
}

/// Last part of the key, value, revision.
fn shown(events: &[Event]) -> Vec<(String, Option<String>, i64)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let name = |event: &Event| text(event.kv.key.rsplit(|byte| *byte == b'/').next().unwrap_or_default());
    let value = |event: &Event| (!event.is_delete()).then(|| text(&event.kv.value));
    events.iter().map(|event| (name(event), value(event), event.kv.mod_revision)).collect()
}

async fn a_transaction_has_one_revision(store: &dyn Store, at: &str) {
    let head = store.revision().await.unwrap();
    let done = run(store, vec![put(at, "a", "1"), put(at, "b", "2")]).await;
    assert_eq!((done.revision, done.succeeded), (head + 1, true));
    let found = store.range(Range::head(KeyRange::prefix(at.to_owned()))).await.unwrap();
    assert!(found.kvs.iter().all(|kv| (kv.create_revision, kv.mod_revision, kv.version) == (head + 1, head + 1, 1)));
    assert_eq!(store.revision().await.unwrap(), head + 1);
}

async fn a_key_is_counted_anew_after_its_deletion(store: &dyn Store, at: &str) {
    let first = run(store, vec![put(at, "a", "1")]).await.revision;
    let mut watch = store.watch(KeyRange::prefix(at.to_owned()), first + 1).await.unwrap();
    let done = run(store, vec![put(at, "a", "2")]).await;
    let [OpResponse::Put(Some(before))] = &done.responses[..] else { panic!("{done:?}") };
    assert_eq!((before.mod_revision, before.version), (first, 1));
    let done = run(store, vec![Op::Delete(KeyRange::prefix(at.to_owned()))]).await;
    let [OpResponse::Deleted(gone)] = &done.responses[..] else { panic!("{done:?}") };
    assert_eq!((gone[0].create_revision, gone[0].mod_revision, gone[0].version), (first, first + 1, 2));
    run(store, vec![put(at, "a", "3")]).await;
    let seen = events(&mut watch, 3).await;
    let facts = |e: &Event| (e.kv.create_revision - first, e.kv.mod_revision - first, e.kv.version, e.kv.value.len());
    assert_eq!(seen.iter().map(facts).collect::<Vec<_>>(), [(0, 1, 2, 1), (-first, 2, 0, 0), (3, 3, 1, 1)]);
    assert_eq!(seen[1].prev.as_ref(), Some(&seen[0].kv));
    assert_eq!(seen[2].prev, None);
}

async fn deleting_nothing_makes_no_revision(store: &dyn Store, at: &str) {
    let head = store.revision().await.unwrap();
    let done = run(store, vec![Op::Delete(KeyRange::prefix(at.to_owned())), Op::Delete(KeyRange::key("none"))]).await;
    assert_eq!((done.revision, &done.responses[0]), (head, &OpResponse::Deleted(Vec::new())));
    assert_eq!(run(store, Vec::new()).await.revision, head);
    assert_eq!(store.revision().await.unwrap(), head);
}

async fn a_key_is_written_once_in_a_transaction(store: &dyn Store, at: &str) {
    let delete = |key: &str| Op::Delete(KeyRange::prefix(format!("{at}{key}")));
    let refused_ones = [
        vec![put(at, "a", "1"), put(at, "a", "2")],
        vec![put(at, "a/1", "1"), delete("a")],
        vec![delete("a"), put(at, "a/1", "1")],
    ];
    for then in refused_ones {
        assert!(matches!(refused(store, then.clone()).await, Error::DuplicateKey), "{then:?}");
        let otherwise = Txn { otherwise: then.clone(), ..Txn::default() };
        assert!(matches!(store.txn(otherwise).await, Err(Error::DuplicateKey)), "{then:?}");
    }
    run(store, vec![delete("a"), delete("a/1"), put(at, "b", "1")]).await;
    let either = Txn { then: vec![put(at, "a", "1")], otherwise: vec![put(at, "a", "2")], ..Txn::default() };
    assert!(store.txn(either).await.unwrap().succeeded);
    assert_eq!(values(store, at, 0).await.unwrap(), ["1", "1"]);
}

async fn the_empty_key_is_refused(store: &dyn Store, _: &str) {
    for op in [Op::put("", "1"), Op::Delete(KeyRange::key("")), Op::Range(Range::head(KeyRange::key("")))] {
        assert!(matches!(refused(store, vec![op.clone()]).await, Error::EmptyKey), "{op:?}");
    }
    assert!(matches!(store.range(Range::head(KeyRange::key(""))).await, Err(Error::EmptyKey)));
}

async fn what_is_kept_must_be_there(store: &dyn Store, at: &str) {
    let lease = store.lease_grant(0, 1000).await.unwrap();
    let key = |value: Option<&'static str>, lease| Op::Put {
        key: format!("{at}a").into(),
        value: value.map(Into::into),
        lease,
    };
    assert!(matches!(refused(store, vec![key(None, Some(0))]).await, Error::KeyNotFound));
    assert!(matches!(refused(store, vec![key(Some("1"), None)]).await, Error::KeyNotFound));
    for (op, value, bound) in [
        (key(Some("1"), Some(lease)), "1", lease),
        (key(Some("2"), None), "2", lease),
        (key(None, Some(0)), "2", 0),
        (key(None, None), "2", 0),
    ] {
        run(store, vec![op]).await;
        let found = store.range(Range::head(KeyRange::prefix(at.to_owned()))).await.unwrap();
        assert_eq!((&found.kvs[0].value[..], found.kvs[0].lease), (value.as_bytes(), bound));
    }
    store.lease_revoke(lease).await.unwrap();
    assert_eq!(values(store, at, 0).await.unwrap(), ["2"]);
}

async fn a_step_that_fails_undoes_all(store: &dyn Store, at: &str) {
    let head = store.revision().await.unwrap();
    let unbound = Op::Put { key: format!("{at}b").into(), value: Some("1".into()), lease: Some(999) };
    assert!(matches!(refused(store, vec![put(at, "a", "1"), unbound]).await, Error::LeaseNotFound(_)));
    assert_eq!((values(store, at, 0).await.unwrap(), store.revision().await.unwrap()), (Vec::new(), head));
}

async fn steps_see_earlier_steps(store: &dyn Store, at: &str) {
    let all = || Op::Range(Range::head(KeyRange::prefix(at.to_owned())));
    let delete = Op::Delete(KeyRange::key(format!("{at}b")));
    let done = run(store, vec![all(), put(at, "a", "1"), all(), delete, put(at, "c", "3"), all()]).await;
    let seen = |step: &OpResponse| if let OpResponse::Range(found) = step { Some(found.count) } else { None };
    assert_eq!(done.responses.iter().filter_map(seen).collect::<Vec<_>>(), [0, 1, 2]);
}

async fn compares_of_ranges_and_absent_keys(store: &dyn Store, at: &str) {
    let first = run(store, vec![put(at, "a", "1"), put(at, "b", "1")]).await.revision;
    let second = run(store, vec![put(at, "b", "2")]).await.revision;
    let (range, absent) = (KeyRange::prefix(at.to_owned()), KeyRange::key(format!("{at}x")));
    let (equal, less, greater) = (Some(Ordering::Equal), Some(Ordering::Less), Some(Ordering::Greater));
    let value = |text: &'static str| Target::Value(text.into());
    let cases = [
        (&range, Target::CreateRevision(first), equal, true),
        (&range, Target::ModRevision(first), equal, false),
        (&range, Target::ModRevision(second + 1), less, true),
        (&range, Target::Version(0), greater, true),
        (&range, Target::Version(2), less, false),
        (&range, Target::Lease(0), equal, true),
        (&range, value("3"), None, true),
        (&range, value("2"), None, false),
        (&absent, Target::ModRevision(0), equal, true),
        (&absent, Target::Version(1), None, true),
        (&absent, value(""), equal, false),
        (&absent, value("1"), None, false),
    ];
    for (keys, target, ordering, holds) in cases {
        let shown = format!("{keys:?} {target:?} {ordering:?}");
        let when = vec![Compare { keys: keys.clone(), target, ordering }];
        assert_eq!(store.txn(Txn { when, ..Txn::default() }).await.unwrap().succeeded, holds, "{shown}");
    }
}

async fn the_past_can_be_read_and_the_future_not(store: &dyn Store, at: &str) {
    let first = run(store, vec![put(at, "a", "1")]).await.revision;
    run(store, vec![put(at, "a", "2"), put(at, "b", "2")]).await;
    run(store, vec![Op::Delete(KeyRange::key(format!("{at}a")))]).await;
    for (revision, wanted) in
        [(first - 1, vec![]), (first, vec!["1"]), (first + 1, vec!["2", "2"]), (first + 2, vec!["2"])]
    {
        assert_eq!(values(store, at, revision).await.unwrap(), wanted);
    }
    let head = store.revision().await.unwrap();
    assert!(matches!(values(store, at, head + 1).await, Err(Error::Future { .. })));
    assert!(matches!(store.compact(head + 1).await, Err(Error::Future { .. })));
}

async fn limits_and_counts(store: &dyn Store, at: &str) {
    run(store, (0..5).map(|n| put(at, &n.to_string(), "")).collect()).await;
    for (limit, count_only, kvs) in [(0, false, 5), (2, false, 2), (5, false, 5), (9, false, 5), (2, true, 0)] {
        let keys = KeyRange::prefix(at.to_owned());
        let found = store.range(Range { keys, revision: 0, limit, count_only }).await.unwrap();
        assert_eq!((found.kvs.len(), found.count), (kvs, 5), "limit {limit}");
    }
}

async fn a_watch_from_the_past_has_no_gap(store: &dyn Store, at: &str) {
    let first = run(store, vec![put(at, "a", "1")]).await.revision;
    run(store, vec![put(at, "b", "1"), put("else/", "x", "")]).await;
    run(store, vec![put(at, "a", "2"), put(at, "b", "2")]).await;
    let mut watch = store.watch(KeyRange::prefix(at.to_owned()), first + 1).await.unwrap();
    run(store, vec![Op::Delete(KeyRange::prefix(at.to_owned()))]).await;
    let seen = events(&mut watch, 5).await;
    let some = |text: &str| Some(text.to_owned());
    let wanted = [
        ("b".into(), some("1"), first + 1),
        ("a".into(), some("2"), first + 2),
        ("b".into(), some("2"), first + 2),
        ("a".into(), None, first + 3),
        ("b".into(), None, first + 3),
    ];
    assert_eq!(shown(&seen), wanted);
    let before: Vec<i64> = seen.iter().map(|e| e.prev.as_ref().map_or(0, |prev| prev.mod_revision - first)).collect();
    assert_eq!(before, [0, 0, 1, 2, 2]);
    assert_eq!(seen[1].prev.as_ref().map(|prev| prev.mod_revision), Some(first));
}

async fn a_watch_from_the_future_waits_for_it(store: &dyn Store, at: &str) {
    let head = store.revision().await.unwrap();
    let mut watch = store.watch(KeyRange::prefix(at.to_owned()), head + 3).await.unwrap();
    for value in ["1", "2", "3", "4"] {
        run(store, vec![put(at, "a", value)]).await;
    }
    let seen = shown(&events(&mut watch, 2).await);
    assert_eq!(seen.iter().map(|(.., revision)| revision - head).collect::<Vec<_>>(), [3, 4]);
}

async fn progress_comes_after_all_events(store: &dyn Store, at: &str) {
    let head = store.revision().await.unwrap();
    let mut watch = store.watch(KeyRange::prefix(at.to_owned()), head + 1).await.unwrap();
    for value in 0..50 {
        run(store, vec![put(at, "a", &value.to_string())]).await;
        run(store, vec![put("else/", "x", "")]).await;
    }
    store.progress().await.unwrap();
    let mut seen = 0;
    loop {
        let batch = timeout(LONG, watch.recv()).await.expect("progress comes in time").expect("the watch goes on");
        if batch.events.is_empty() {
            assert_eq!((batch.revision, seen), (head + 100, 50));
            return;
        }
        seen += batch.events.len();
    }
}

async fn compaction_refuses_the_past(store: &dyn Store, at: &str) {
    let first = run(store, vec![put(at, "a", "1")]).await.revision;
    run(store, vec![put(at, "a", "2")]).await;
    store.compact(first + 1).await.unwrap();
    assert_eq!(store.compacted(), first + 1);
    for revision in [first, first + 1] {
        assert!(matches!(store.compact(revision).await, Err(Error::Compacted { .. })));
    }
    assert!(matches!(values(store, at, first).await, Err(Error::Compacted { .. })));
    assert_eq!(values(store, at, first + 1).await.unwrap(), ["2"]);
    let watch = store.watch(KeyRange::prefix(at.to_owned()), first).await;
    assert!(matches!(watch, Err(Error::Compacted { .. })), "{watch:?}");
}

async fn a_watch_from_the_compacted_revision_sees_it(store: &dyn Store, at: &str) {
    run(store, vec![put(at, "a", "1")]).await;
    let second = run(store, vec![put(at, "a", "2"), put(at, "b", "2")]).await.revision;
    run(store, vec![put(at, "a", "3")]).await;
    store.compact(second).await.unwrap();
    // etcd removes rows a little later.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let mut watch = store.watch(KeyRange::prefix(at.to_owned()), second).await.unwrap();
    let seen = events(&mut watch, 3).await;
    let some = |text: &str| Some(text.to_owned());
    let wanted =
        [("a".into(), some("2"), second), ("b".into(), some("2"), second), ("a".into(), some("3"), second + 1)];
    assert_eq!(shown(&seen), wanted);
    let before: Vec<bool> = seen.iter().map(|event| event.prev.is_some()).collect();
    assert_eq!(before, [false, false, true]);
}

async fn leases_are_granted_once_and_listed(store: &dyn Store, _: &str) {
    assert_eq!(store.lease_grant(71, 500).await.unwrap(), 71);
    assert!(matches!(store.lease_grant(71, 500).await, Err(Error::LeaseExists(_))));
    let chosen = store.lease_grant(0, 500).await.unwrap();
    let mut both = [71, chosen];
    both.sort_unstable();
    assert_eq!(store.leases().await.unwrap(), both);
    assert_eq!(store.lease_keep_alive(71).await.unwrap(), 500);
    for id in both {
        store.lease_revoke(id).await.unwrap();
        assert!(matches!(store.lease_revoke(id).await, Err(Error::LeaseNotFound(_))));
        assert!(matches!(store.lease_keep_alive(id).await, Err(Error::LeaseNotFound(_))));
        assert!(matches!(store.lease_time_to_live(id).await, Err(Error::LeaseNotFound(_))));
    }
}

async fn a_revoked_lease_takes_its_keys_in_one_revision(store: &dyn Store, at: &str) {
    let lease = store.lease_grant(0, 500).await.unwrap();
    let bound = |key: &str| Op::Put { key: format!("{at}{key}").into(), value: Some("1".into()), lease: Some(lease) };
    let head = run(store, vec![bound("b"), bound("a"), put(at, "c", "1")]).await.revision;
    let status = store.lease_time_to_live(lease).await.unwrap();
    assert_eq!((status.keys, status.granted), (vec![format!("{at}a").into(), format!("{at}b").into()], 500));
    assert!((490..=500).contains(&status.remaining));
    let mut watch = store.watch(KeyRange::prefix(at.to_owned()), head + 1).await.unwrap();
    store.lease_revoke(lease).await.unwrap();
    assert_eq!(shown(&events(&mut watch, 2).await), [("a".into(), None, head + 1), ("b".into(), None, head + 1)]);
    assert_eq!(store.revision().await.unwrap(), head + 1);
    let empty = store.lease_grant(0, 500).await.unwrap();
    store.lease_revoke(empty).await.unwrap();
    assert_eq!(store.revision().await.unwrap(), head + 1);
}

async fn a_key_belongs_to_its_last_lease(store: &dyn Store, at: &str) {
    let (one, other) = (store.lease_grant(0, 500).await.unwrap(), store.lease_grant(0, 500).await.unwrap());
    let bound = |key: &str, lease| Op::Put {
        key: format!("{at}{key}").into(),
        value: Some(key.to_owned().into()),
        lease: Some(lease),
    };
    run(store, vec![bound("a", one), bound("b", one), bound("c", one)]).await;
    run(store, vec![bound("a", other), put(at, "b", "b"), Op::Delete(KeyRange::key(format!("{at}c")))]).await;
    run(store, vec![put(at, "c", "c")]).await;
    assert!(store.lease_time_to_live(one).await.unwrap().keys.is_empty());
    store.lease_revoke(one).await.unwrap();
    assert_eq!(values(store, at, 0).await.unwrap(), ["a", "b", "c"]);
    store.lease_revoke(other).await.unwrap();
    assert_eq!(values(store, at, 0).await.unwrap(), ["b", "c"]);
}
