//! Requests of KV as operations of the store, and its answers as etcd shows them.

use std::{cmp::Ordering, ops::RangeInclusive};

use bytes::Bytes;
use prost::Message;
use tonic::Status;

use super::{REQUEST, header};
use crate::{
    Compare, Error, KeyRange, KeyValue, Op, OpResponse, Range, RangeResponse, Target, Txn, TxnResponse,
    wire::proto::{
        self, DeleteRangeRequest, DeleteRangeResponse, PutRequest, PutResponse, RangeRequest, ResponseOp,
        compare::{CompareResult, CompareTarget, TargetUnion},
        range_request::{SortOrder, SortTarget},
        request_op::Request,
        response_op::Response,
    },
};

/// Steps of a branch and conditions of a transaction, as in etcd by default.
const TXN_OPS: usize = 128;

/// Refuses what etcd would find too large.
pub(super) fn check_size(request: &impl Message) -> Result<(), Status> {
    if request.encoded_len() > REQUEST {
        return Err(Error::TooLarge.into());
    }
    Ok(())
}

/// Keys of a request, which names at least the first one: from the very first on is one zero byte.
fn keys(key: Bytes, range_end: Bytes) -> Result<KeyRange, Status> {
    if key.is_empty() { Err(Error::EmptyKey.into()) } else { Ok(KeyRange::from_wire(key, range_end)) }
}

/// How an answer to a range is shown: what the store does not do by itself.
pub(super) struct View {
    /// At most so many; 0 for all.
    limit: usize,
    keys_only: bool,
    /// By key and ascending for `None`.
    sort: Option<(SortTarget, SortOrder)>,
    mod_revisions: RangeInclusive<i64>,
    create_revisions: RangeInclusive<i64>,
}

/// As in a request, where 0 is no bound.
fn bounds(min: i64, max: i64) -> RangeInclusive<i64> {
    min..=if max == 0 { i64::MAX } else { max }
}

impl View {
    /// What to ask of the store, and how to show its answer.
    pub fn of(request: RangeRequest) -> Result<(Range, Self), Status> {
        let invalid = |_| Status::invalid_argument("etcdserver: invalid sort option");
        let order = SortOrder::try_from(request.sort_order).map_err(invalid)?;
        let target = SortTarget::try_from(request.sort_target).map_err(invalid)?;
        let in_order = target == SortTarget::Key && order != SortOrder::Descend;
        let view = View {
            limit: usize::try_from(request.limit).unwrap_or(0),
            keys_only: request.keys_only,
            sort: if in_order { None } else { Some((target, order)) },
            mod_revisions: bounds(request.min_mod_revision, request.max_mod_revision),
            create_revisions: bounds(request.min_create_revision, request.max_create_revision),
        };
        let all =
            view.sort.is_some() || [&view.mod_revisions, &view.create_revisions].iter().any(|r| **r != bounds(0, 0));
        let range = Range {
            keys: keys(request.key, request.range_end)?,
            revision: request.revision.max(0),
            limit: if all { 0 } else { view.limit },
            count_only: request.count_only,
        };
        Ok((range, view))
    }

    /// The store's answer as asked for. The count is of all keys in the range, whatever the filters.
    pub fn show(&self, found: RangeResponse) -> proto::RangeResponse {
        let RangeResponse { revision, mut kvs, count } = found;
        let cut = !kvs.is_empty() && kvs.len() < count;
        kvs.retain(|kv| {
            self.mod_revisions.contains(&kv.mod_revision) && self.create_revisions.contains(&kv.create_revision)
        });
        if let Some((target, order)) = self.sort {
            kvs.sort_by(|a, b| {
                let ascending = compare(target, a, b);
                if order == SortOrder::Descend { ascending.reverse() } else { ascending }
            });
        }
        let more = cut || (self.limit > 0 && kvs.len() > self.limit);
        if self.limit > 0 {
            kvs.truncate(self.limit);
        }
        let shown = |kv: KeyValue| {
            let mut kv = proto::KeyValue::from(kv);
            if self.keys_only {
                kv.value = Bytes::new();
            }
            kv
        };
        proto::RangeResponse {
            header: header(revision),
            kvs: kvs.into_iter().map(shown).collect(),
            more,
            count: i64::try_from(count).unwrap_or(i64::MAX),
        }
    }
}

fn compare(target: SortTarget, a: &KeyValue, b: &KeyValue) -> Ordering {
    match target {
        SortTarget::Key => a.key.cmp(&b.key),
        SortTarget::Version => a.version.cmp(&b.version),
        SortTarget::Create => a.create_revision.cmp(&b.create_revision),
        SortTarget::Mod => a.mod_revision.cmp(&b.mod_revision),
        SortTarget::Value => a.value.cmp(&b.value),
    }
}

/// A put as the store has it. Key and value are copied, each into memory of its own size: those of the request
/// lie in a buffer of 8 KB or more, which would live as long as they.
pub(super) fn put(request: PutRequest) -> Result<Op, Status> {
    let PutRequest { key, value, lease, ignore_value, ignore_lease, .. } = request;
    if ignore_value && !value.is_empty() {
        return Err(Status::invalid_argument("etcdserver: value is provided"));
    }
    if ignore_lease && lease != 0 {
        return Err(Status::invalid_argument("etcdserver: lease is provided"));
    }
    let (key, value) = (Bytes::copy_from_slice(&key), Bytes::copy_from_slice(&value));
    Ok(Op::Put { key, value: (!ignore_value).then_some(value), lease: (!ignore_lease).then_some(lease) })
}

/// What was written, with what it replaced if `prev_kv`.
pub(super) fn put_answer(revision: i64, prev: Option<KeyValue>, prev_kv: bool) -> PutResponse {
    PutResponse { header: header(revision), prev_kv: prev.filter(|_| prev_kv).map(Into::into) }
}

/// A delete as the store has it.
pub(super) fn delete(request: DeleteRangeRequest) -> Result<Op, Status> {
    Ok(Op::Delete(keys(request.key, request.range_end)?))
}

/// What was deleted, with what it was if `prev_kv`.
pub(super) fn delete_answer(revision: i64, deleted: Vec<KeyValue>, prev_kv: bool) -> DeleteRangeResponse {
    DeleteRangeResponse {
        header: header(revision),
        deleted: i64::try_from(deleted.len()).unwrap_or(i64::MAX),
        prev_kvs: if prev_kv { deleted.into_iter().map(Into::into).collect() } else { Vec::new() },
    }
}

/// How the answer to a step is shown.
enum Shape {
    Range(View),
    Put { prev_kv: bool },
    Delete { prev_kv: bool },
}

/// How the answer to a transaction is shown.
pub(super) struct TxnView {
    then: Vec<Shape>,
    otherwise: Vec<Shape>,
}

impl TxnView {
    /// What to ask of the store, and how to show its answer.
    pub fn of(request: proto::TxnRequest) -> Result<(Txn, Self), Status> {
        let proto::TxnRequest { compare, success, failure } = request;
        if [compare.len(), success.len(), failure.len()].into_iter().any(|n| n > TXN_OPS) {
            return Err(Status::invalid_argument("etcdserver: too many operations in txn request"));
        }
        let when = compare.into_iter().map(condition).collect::<Result<_, _>>()?;
        let (then, then_shapes) = steps(success)?;
        let (otherwise, otherwise_shapes) = steps(failure)?;
        let txn = Txn { when, then, otherwise, ..Txn::default() };
        Ok((txn, TxnView { then: then_shapes, otherwise: otherwise_shapes }))
    }

    /// The store's answer as asked for.
    pub fn show(self, done: TxnResponse) -> proto::TxnResponse {
        let TxnResponse { revision, succeeded, responses } = done;
        let shapes = if succeeded { self.then } else { self.otherwise };
        let shown = shapes.into_iter().zip(responses).filter_map(|(shape, response)| {
            let response = match (shape, response) {
                (Shape::Range(view), OpResponse::Range(found)) => Response::ResponseRange(view.show(found)),
                (Shape::Put { prev_kv }, OpResponse::Put(prev)) => {
                    Response::ResponsePut(put_answer(revision, prev, prev_kv))
                }
                (Shape::Delete { prev_kv }, OpResponse::Deleted(kvs)) => {
                    Response::ResponseDeleteRange(delete_answer(revision, kvs, prev_kv))
                }
                // The store answers each step in its kind.
                _ => return None,
            };
            Some(ResponseOp { response: Some(response) })
        });
        proto::TxnResponse { header: header(revision), succeeded, responses: shown.collect() }
    }
}

fn steps(requests: Vec<proto::RequestOp>) -> Result<(Vec<Op>, Vec<Shape>), Status> {
    let step = |op: proto::RequestOp| match op.request {
        Some(Request::RequestRange(range)) => {
            let (range, view) = View::of(range)?;
            Ok((Op::Range(range), Shape::Range(view)))
        }
        Some(Request::RequestPut(request)) => {
            let shape = Shape::Put { prev_kv: request.prev_kv };
            Ok((put(request)?, shape))
        }
        Some(Request::RequestDeleteRange(request)) => {
            let shape = Shape::Delete { prev_kv: request.prev_kv };
            Ok((delete(request)?, shape))
        }
        Some(Request::RequestTxn(_)) => {
            Err(Status::unimplemented("transactions within a transaction are not served by Kinglet's embedded store"))
        }
        None => Err(Status::invalid_argument("etcdserver: an operation of the transaction is empty")),
    };
    let both: Vec<(Op, Shape)> = requests.into_iter().map(step).collect::<Result<_, _>>()?;
    Ok(both.into_iter().unzip())
}

fn condition(request: proto::Compare) -> Result<Compare, Status> {
    let unknown = |_| Status::invalid_argument("etcdserver: a compare of the transaction is of an unknown kind");
    let ordering = match CompareResult::try_from(request.result).map_err(unknown)? {
        CompareResult::Equal => Some(Ordering::Equal),
        CompareResult::Greater => Some(Ordering::Greater),
        CompareResult::Less => Some(Ordering::Less),
        CompareResult::NotEqual => None,
    };
    // A number that is not there, or is of another target, is 0.
    let wanted = request.target_union;
    let target = match (CompareTarget::try_from(request.target).map_err(unknown)?, wanted) {
        (CompareTarget::Version, Some(TargetUnion::Version(n))) => Target::Version(n),
        (CompareTarget::Version, _) => Target::Version(0),
        (CompareTarget::Create, Some(TargetUnion::CreateRevision(n))) => Target::CreateRevision(n),
        (CompareTarget::Create, _) => Target::CreateRevision(0),
        (CompareTarget::Mod, Some(TargetUnion::ModRevision(n))) => Target::ModRevision(n),
        (CompareTarget::Mod, _) => Target::ModRevision(0),
        (CompareTarget::Value, Some(TargetUnion::Value(value))) => Target::Value(value),
        (CompareTarget::Value, _) => Target::Value(Bytes::new()),
        (CompareTarget::Lease, Some(TargetUnion::Lease(n))) => Target::Lease(n),
        (CompareTarget::Lease, _) => Target::Lease(0),
    };
    Ok(Compare { keys: keys(request.key, request.range_end)?, target, ordering })
}
