//! The store's types as requests of etcd, and etcd's answers as the store's types.

use std::cmp::Ordering;

use crate::{
    Compare, Op, OpResponse, Range, RangeResponse, Target, Txn, TxnResponse,
    wire::proto::{self, compare, request_op::Request, response_op::Response},
};

pub(super) fn range_request(range: &Range) -> proto::RangeRequest {
    let (key, range_end) = range.keys.to_wire();
    proto::RangeRequest {
        key,
        range_end,
        revision: range.revision,
        limit: i64::try_from(range.limit).unwrap_or(i64::MAX),
        count_only: range.count_only,
        ..Default::default()
    }
}

pub(super) fn range_response(response: proto::RangeResponse) -> RangeResponse {
    RangeResponse {
        revision: revision(response.header.as_ref()),
        kvs: response.kvs.into_iter().map(Into::into).collect(),
        count: usize::try_from(response.count).unwrap_or_default(),
    }
}

pub(super) fn txn_request(txn: &Txn) -> proto::TxnRequest {
    let ops = |ops: &[Op]| ops.iter().map(|step| op(step, txn.previous)).collect();
    proto::TxnRequest {
        compare: txn.when.iter().map(comparison).collect(),
        success: ops(&txn.then),
        failure: ops(&txn.otherwise),
    }
}

fn comparison(compare: &Compare) -> proto::Compare {
    use compare::{CompareResult, CompareTarget, TargetUnion};
    let result = match compare.ordering {
        Some(Ordering::Equal) => CompareResult::Equal,
        Some(Ordering::Greater) => CompareResult::Greater,
        Some(Ordering::Less) => CompareResult::Less,
        None => CompareResult::NotEqual,
    };
    let (target, wanted) = match &compare.target {
        Target::ModRevision(wanted) => (CompareTarget::Mod, TargetUnion::ModRevision(*wanted)),
        Target::CreateRevision(wanted) => (CompareTarget::Create, TargetUnion::CreateRevision(*wanted)),
        Target::Version(wanted) => (CompareTarget::Version, TargetUnion::Version(*wanted)),
        Target::Lease(wanted) => (CompareTarget::Lease, TargetUnion::Lease(*wanted)),
        Target::Value(wanted) => (CompareTarget::Value, TargetUnion::Value(wanted.clone())),
    };
    let (key, range_end) = compare.keys.to_wire();
    proto::Compare { result: result.into(), target: target.into(), key, range_end, target_union: Some(wanted) }
}

fn op(op: &Op, prev_kv: bool) -> proto::RequestOp {
    let request = match op {
        Op::Put { key, value, lease } => Request::RequestPut(proto::PutRequest {
            key: key.clone(),
            value: value.clone().unwrap_or_default(),
            lease: lease.unwrap_or_default(),
            prev_kv,
            ignore_value: value.is_none(),
            ignore_lease: lease.is_none(),
        }),
        Op::Delete(keys) => {
            let (key, range_end) = keys.to_wire();
            Request::RequestDeleteRange(proto::DeleteRangeRequest { key, range_end, prev_kv })
        }
        Op::Range(range) => Request::RequestRange(range_request(range)),
    };
    proto::RequestOp { request: Some(request) }
}

/// `None` if the answer has other steps than we asked for.
pub(super) fn txn_response(response: proto::TxnResponse) -> Option<TxnResponse> {
    let step = |op: proto::ResponseOp| match op.response? {
        Response::ResponsePut(put) => Some(OpResponse::Put(put.prev_kv.map(Into::into))),
        Response::ResponseDeleteRange(deleted) => {
            Some(OpResponse::Deleted(deleted.prev_kvs.into_iter().map(Into::into).collect()))
        }
        Response::ResponseRange(range) => Some(OpResponse::Range(range_response(range))),
        Response::ResponseTxn(_) => None,
    };
    Some(TxnResponse {
        revision: revision(response.header.as_ref()),
        succeeded: response.succeeded,
        responses: response.responses.into_iter().map(step).collect::<Option<_>>()?,
    })
}

/// The head, as an answer tells it.
pub(super) fn revision(header: Option<&proto::ResponseHeader>) -> i64 {
    header.map_or(0, |header| header.revision)
}
