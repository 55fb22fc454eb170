//! Range, put, delete, transactions, compaction, leases.

use tonic::Code;

use super::*;
use crate::wire::proto::{
    CompactionRequest, Compare, DeleteRangeRequest, LeaseGrantRequest, LeaseKeepAliveRequest, LeaseLeasesRequest,
    LeaseRevokeRequest, LeaseTimeToLiveRequest, PutRequest, RangeRequest, RequestOp, TxnRequest,
    compare::{CompareResult, CompareTarget, TargetUnion},
    range_request::{SortOrder, SortTarget},
    request_op::Request as Step,
    response_op::Response as Done,
};

fn all() -> RangeRequest {
    RangeRequest { key: vec![0].into(), range_end: vec![0].into(), ..RangeRequest::default() }
}

fn put(key: &str, value: &str) -> PutRequest {
    PutRequest { key: key.to_owned().into(), value: value.to_owned().into(), ..PutRequest::default() }
}

/// a, b, c of the revisions 2, 3, 4, then b again with 5.
async fn three_keys() -> (Served, KvClient<Channel>) {
    let served = Served::start();
    for (key, value) in [("a", "z"), ("b", "y"), ("c", "x"), ("b", "w")] {
        served.put(key, value).await;
    }
    let kv = served.kv().await;
    (served, kv)
}

#[tokio::test]
async fn ranges_are_sorted_filtered_and_cut_as_asked() {
    let (_served, mut kv) = three_keys().await;
    let sorted = |order: SortOrder, target: SortTarget| RangeRequest {
        sort_order: order.into(),
        sort_target: target.into(),
        ..all()
    };
    use SortOrder::{Ascend, Descend, None};
    use SortTarget::{Create, Key, Mod, Value, Version};
    // What is asked, the keys that are answered, more, count.
    let cases: Vec<(RangeRequest, &str, bool, i64)> = vec![
        (all(), "abc", false, 3),
        (RangeRequest { key: "b".into(), ..RangeRequest::default() }, "b", false, 1),
        (RangeRequest { key: "b".into(), range_end: vec![0].into(), ..RangeRequest::default() }, "bc", false, 2),
        (RangeRequest { key: "a".into(), range_end: "c".into(), ..RangeRequest::default() }, "ab", false, 2),
        (RangeRequest { limit: 2, ..all() }, "ab", true, 3),
        (RangeRequest { limit: 3, ..all() }, "abc", false, 3),
        (RangeRequest { limit: -1, ..all() }, "abc", false, 3),
        (RangeRequest { count_only: true, ..all() }, "", false, 3),
        (RangeRequest { count_only: true, limit: 1, ..all() }, "", false, 3),
        (RangeRequest { revision: 3, ..all() }, "ab", false, 2),
        (RangeRequest { serializable: true, ..all() }, "abc", false, 3),
        (sorted(None, Key), "abc", false, 3),
        (sorted(Ascend, Key), "abc", false, 3),
        (sorted(Descend, Key), "cba", false, 3),
        (sorted(Ascend, Value), "bca", false, 3),
        (sorted(Descend, Mod), "bca", false, 3),
        (sorted(Ascend, Create), "abc", false, 3),
        (sorted(Descend, Version), "bac", false, 3),
        (sorted(None, Mod), "acb", false, 3),
        (RangeRequest { limit: 1, ..sorted(Descend, Key) }, "c", true, 3),
        (RangeRequest { min_mod_revision: 3, ..all() }, "bc", false, 3),
        (RangeRequest { max_mod_revision: 4, ..all() }, "ac", false, 3),
        (RangeRequest { min_create_revision: 4, ..all() }, "c", false, 3),
        (RangeRequest { max_create_revision: 3, limit: 1, ..all() }, "a", true, 3),
    ];
    for (request, keys, more, count) in cases {
        let answer = kv.range(request.clone()).await.unwrap().into_inner();
        let found: Vec<u8> = answer.kvs.iter().flat_map(|kv| kv.key.to_vec()).collect();
        assert_eq!((&found[..], answer.more, answer.count), (keys.as_bytes(), more, count), "{request:?}");
        let header = answer.header.unwrap();
        assert_eq!((header.revision, header.member_id), (5, super::super::MEMBER));
    }
    let names = kv.range(RangeRequest { keys_only: true, ..all() }).await.unwrap().into_inner();
    assert!(names.kvs.iter().all(|kv| kv.value.is_empty() && kv.create_revision > 0));
    for (wrong, text) in [
        (RangeRequest { key: bytes::Bytes::new(), ..all() }, "etcdserver: key is not provided"),
        (RangeRequest { sort_order: 7, ..all() }, "etcdserver: invalid sort option"),
    ] {
        assert_eq!(refused(kv.range(wrong).await), (Code::InvalidArgument, text.to_owned()));
    }
    let future = refused(kv.range(RangeRequest { revision: 6, ..all() }).await);
    assert_eq!(future, (Code::OutOfRange, "etcdserver: mvcc: required revision is a future revision".to_owned()));
}

#[tokio::test]
async fn puts_keep_and_show_what_was_there_if_asked() {
    let (_served, mut kv) = three_keys().await;
    let plain = kv.put(put("a", "1")).await.unwrap().into_inner();
    assert_eq!((plain.header.unwrap().revision, plain.prev_kv), (6, None));
    let shown = kv.put(PutRequest { prev_kv: true, ..put("a", "2") }).await.unwrap().into_inner();
    assert_eq!(shown.prev_kv.unwrap().value, "1");
    let kept = PutRequest { ignore_value: true, prev_kv: true, ..put("a", "") };
    kv.put(kept.clone()).await.unwrap();
    assert_eq!(kv.put(kept).await.unwrap().into_inner().prev_kv.unwrap().value, "2");
    for (wrong, text) in [
        (put("", "1"), "etcdserver: key is not provided"),
        (PutRequest { ignore_value: true, ..put("a", "1") }, "etcdserver: value is provided"),
        (PutRequest { ignore_lease: true, lease: 1, ..put("a", "1") }, "etcdserver: lease is provided"),
        (PutRequest { ignore_value: true, ..put("none", "") }, "etcdserver: key not found"),
        (put("a", &"1".repeat(2 << 20)), "etcdserver: request is too large"),
    ] {
        assert_eq!(refused(kv.put(wrong).await), (Code::InvalidArgument, text.to_owned()));
    }
    let unbound = refused(kv.put(PutRequest { lease: 5, ..put("a", "1") }).await);
    assert_eq!(unbound, (Code::NotFound, "etcdserver: requested lease not found".to_owned()));
}

#[tokio::test]
async fn deletes_say_how_many_and_show_what_was_there_if_asked() {
    let (_served, mut kv) = three_keys().await;
    let range = DeleteRangeRequest { key: "b".into(), range_end: vec![0].into(), prev_kv: true };
    let deleted = kv.delete_range(range).await.unwrap().into_inner();
    assert_eq!((deleted.deleted, deleted.prev_kvs[0].value.as_ref()), (2, b"w".as_slice()));
    let one = DeleteRangeRequest { key: "a".into(), ..DeleteRangeRequest::default() };
    let deleted = kv.delete_range(one.clone()).await.unwrap().into_inner();
    assert_eq!((deleted.deleted, deleted.prev_kvs.len(), deleted.header.unwrap().revision), (1, 0, 7));
    let nothing = kv.delete_range(one).await.unwrap().into_inner();
    assert_eq!((nothing.deleted, nothing.header.unwrap().revision), (0, 7));
}

fn compare(target: CompareTarget, result: CompareResult, union: TargetUnion) -> Compare {
    Compare {
        key: "b".into(),
        target: target.into(),
        result: result.into(),
        target_union: Some(union),
        ..Compare::default()
    }
}

#[tokio::test]
async fn transactions_compare_everything_and_answer_each_step() {
    let (_served, mut kv) = three_keys().await;
    use CompareResult::{Equal, Greater, Less, NotEqual};
    use CompareTarget::{Create, Lease, Mod, Value, Version};
    // b was made with 3 and has the revision 5, version 2 and the value w.
    let range = |compare| Compare { key: "a".into(), range_end: "d".into(), ..compare };
    let cases = vec![
        (compare(Mod, Equal, TargetUnion::ModRevision(5)), true),
        (compare(Mod, Less, TargetUnion::ModRevision(5)), false),
        (compare(Create, Greater, TargetUnion::CreateRevision(2)), true),
        (compare(Version, NotEqual, TargetUnion::Version(2)), false),
        (compare(Value, Equal, TargetUnion::Value("w".into())), true),
        (compare(Value, Less, TargetUnion::Value("w".into())), false),
        (compare(Lease, Equal, TargetUnion::Lease(0)), true),
        (Compare { target_union: None, ..compare(Lease, Equal, TargetUnion::Lease(1)) }, true),
        (range(compare(Mod, Greater, TargetUnion::ModRevision(1))), true),
        (range(compare(Mod, Greater, TargetUnion::ModRevision(2))), false),
    ];
    for (compare, holds) in cases {
        let txn = TxnRequest { compare: vec![compare.clone()], ..TxnRequest::default() };
        assert_eq!(kv.txn(txn).await.unwrap().into_inner().succeeded, holds, "{compare:?}");
    }
    let step = |request| RequestOp { request: Some(request) };
    let delete = DeleteRangeRequest { key: "b".into(), range_end: vec![0].into(), prev_kv: false };
    let txn = TxnRequest {
        success: vec![
            step(Step::RequestPut(PutRequest { prev_kv: true, ..put("a", "1") })),
            step(Step::RequestRange(RangeRequest { limit: 1, ..all() })),
            step(Step::RequestDeleteRange(delete)),
        ],
        ..TxnRequest::default()
    };
    let done = kv.txn(txn).await.unwrap().into_inner();
    assert_eq!((done.succeeded, done.header.unwrap().revision), (true, 6));
    let [put_done, range_done, delete_done] = done.responses.try_into().unwrap();
    let Some(Done::ResponsePut(written)) = put_done.response else { panic!("{put_done:?}") };
    assert_eq!((written.prev_kv.unwrap().value.as_ref(), written.header.unwrap().revision), (b"z".as_slice(), 6));
    let Some(Done::ResponseRange(read)) = range_done.response else { panic!("{range_done:?}") };
    assert_eq!((read.kvs[0].value.as_ref(), read.more, read.count), (b"1".as_slice(), true, 3));
    let Some(Done::ResponseDeleteRange(gone)) = delete_done.response else { panic!("{delete_done:?}") };
    assert_eq!((gone.deleted, gone.prev_kvs.len()), (2, 0));
}

#[tokio::test]
async fn transactions_that_cannot_be_run_say_why() {
    let (_served, mut kv) = three_keys().await;
    let of = |steps: Vec<Step>| TxnRequest {
        success: steps.into_iter().map(|request| RequestOp { request: Some(request) }).collect(),
        ..TxnRequest::default()
    };
    let (code, text) = refused(kv.txn(of(vec![Step::RequestTxn(TxnRequest::default())])).await);
    assert!(code == Code::Unimplemented && text.contains("within a transaction"), "{text}");
    for (txn, text) in [
        (of(vec![Step::RequestPut(put("a", "1")); 2]), "etcdserver: duplicate key given in txn request"),
        (of(vec![Step::RequestRange(all()); 129]), "etcdserver: too many operations in txn request"),
        (of(vec![Step::RequestPut(put("", "1"))]), "etcdserver: key is not provided"),
    ] {
        assert_eq!(refused(kv.txn(txn).await), (Code::InvalidArgument, text.to_owned()));
    }
    let compared = Compare { result: 9, ..Compare::default() };
    let unknown = TxnRequest { compare: vec![compared], ..TxnRequest::default() };
    assert_eq!(refused(kv.txn(unknown).await).0, Code::InvalidArgument);
}

#[tokio::test]
async fn what_is_compacted_is_refused_in_etcds_words() {
    let (_served, mut kv) = three_keys().await;
    let compact = |revision| CompactionRequest { revision, physical: true };
    let gone = (Code::OutOfRange, "etcdserver: mvcc: required revision has been compacted".to_owned());
    let done = kv.compact(compact(4)).await.unwrap().into_inner();
    assert_eq!(done.header.unwrap().revision, 5);
    assert_eq!(refused(kv.compact(compact(4)).await), gone);
    assert_eq!(refused(kv.range(RangeRequest { revision: 3, ..all() }).await), gone);
    assert_eq!(kv.range(RangeRequest { revision: 4, ..all() }).await.unwrap().into_inner().count, 3);
    let (code, text) = refused(kv.compact(compact(9)).await);
    assert_eq!((code, text.as_str()), (Code::OutOfRange, "etcdserver: mvcc: required revision is a future revision"));
}

#[tokio::test]
async fn leases_are_granted_renewed_shown_and_revoked() {
    let (served, mut kv) = three_keys().await;
    let mut lease = served.lease().await;
    let granted = lease.lease_grant(LeaseGrantRequest { ttl: 500, id: 7 }).await.unwrap().into_inner();
    assert_eq!((granted.id, granted.ttl, granted.header.unwrap().revision), (7, 500, 5));
    let (code, text) = refused(lease.lease_grant(LeaseGrantRequest { ttl: 5, id: 7 }).await);
    assert_eq!((code, text.as_str()), (Code::FailedPrecondition, "etcdserver: lease already exists"));
    let (code, text) = refused(lease.lease_grant(LeaseGrantRequest { ttl: i64::MAX, id: 0 }).await);
    assert_eq!((code, text.as_str()), (Code::OutOfRange, "etcdserver: too large lease TTL"));
    kv.put(PutRequest { lease: 7, ..put("a", "1") }).await.unwrap();
    kv.put(PutRequest { ignore_lease: true, ..put("a", "2") }).await.unwrap();

    let renewals = tokio_stream::iter([7, 8].map(|id| LeaseKeepAliveRequest { id }));
    let mut answers = lease.lease_keep_alive(renewals).await.unwrap().into_inner();
    let mut renewed = Vec::new();
    while let Some(answer) = answers.message().await.unwrap() {
        renewed.push((answer.id, answer.ttl));
    }
    assert_eq!(renewed, [(7, 500), (8, 0)]);

    let ask = |id, keys| LeaseTimeToLiveRequest { id, keys };
    let known = lease.lease_time_to_live(ask(7, true)).await.unwrap().into_inner();
    assert!((495..=500).contains(&known.ttl) && known.granted_ttl == 500, "{known:?}");
    assert_eq!(known.keys, ["a"]);
    assert!(lease.lease_time_to_live(ask(7, false)).await.unwrap().into_inner().keys.is_empty());
    let unknown = lease.lease_time_to_live(ask(8, true)).await.unwrap().into_inner();
    assert_eq!((unknown.id, unknown.ttl), (8, -1));

    // A number is not given out again.
    let any = LeaseGrantRequest { ttl: 9, id: 0 };
    let ended = lease.lease_grant(any).await.unwrap().into_inner().id;
    lease.lease_revoke(LeaseRevokeRequest { id: ended }).await.unwrap();
    let chosen = lease.lease_grant(any).await.unwrap().into_inner().id;
    assert!(chosen > 0 && chosen != ended);
    let leases = lease.lease_leases(LeaseLeasesRequest {}).await.unwrap().into_inner().leases;
    assert_eq!(leases.len(), 2);
    lease.lease_revoke(LeaseRevokeRequest { id: 7 }).await.unwrap();
    assert_eq!(kv.range(all()).await.unwrap().into_inner().count, 2);
    let (code, text) = refused(lease.lease_revoke(LeaseRevokeRequest { id: 7 }).await);
    assert_eq!((code, text.as_str()), (Code::NotFound, "etcdserver: requested lease not found"));
}
