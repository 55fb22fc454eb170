//! etcd's KV service.

use tonic::{Request, Response, Status};

use super::{
    State,
    request::{self, TxnView, View, check_size},
};
use crate::{
    Error, Op, OpResponse, Store as _, Txn,
    wire::proto::{
        CompactionRequest, CompactionResponse, DeleteRangeRequest, DeleteRangeResponse, PutRequest, PutResponse,
        RangeRequest, RangeResponse, TxnRequest, TxnResponse, kv_server::Kv,
    },
};

impl State {
    /// Runs a transaction of one step; answers with its revision.
    async fn step(&self, op: Op) -> Result<(i64, Option<OpResponse>), Error> {
        let mut done = self.store().txn(Txn { then: vec![op], ..Txn::default() }).await?;
        Ok((done.revision, done.responses.pop()))
    }
}

#[tonic::async_trait]
impl Kv for State {
    async fn range(&self, request: Request<RangeRequest>) -> Result<Response<RangeResponse>, Status> {
        let (range, view) = View::of(request.into_inner())?;
        let found = self.store().range(range).await?;
        Ok(Response::new(view.show(found)))
    }

    async fn put(&self, request: Request<PutRequest>) -> Result<Response<PutResponse>, Status> {
        let request = request.into_inner();
        check_size(&request)?;
        let prev_kv = request.prev_kv;
        let (revision, done) = self.step(request::put(request)?).await?;
        let prev = if let Some(OpResponse::Put(prev)) = done { prev } else { None };
        Ok(Response::new(request::put_answer(revision, prev, prev_kv)))
    }

    async fn delete_range(
        &self,
        request: Request<DeleteRangeRequest>,
    ) -> Result<Response<DeleteRangeResponse>, Status> {
        let request = request.into_inner();
        check_size(&request)?;
        let prev_kv = request.prev_kv;
        let (revision, done) = self.step(request::delete(request)?).await?;
        let deleted = if let Some(OpResponse::Deleted(deleted)) = done { deleted } else { Vec::new() };
        Ok(Response::new(request::delete_answer(revision, deleted, prev_kv)))
    }

    async fn txn(&self, request: Request<TxnRequest>) -> Result<Response<TxnResponse>, Status> {
        let request = request.into_inner();
        check_size(&request)?;
        let (txn, view) = TxnView::of(request)?;
        let done = self.store().txn(txn).await?;
        Ok(Response::new(view.show(done)))
    }

    async fn compact(&self, request: Request<CompactionRequest>) -> Result<Response<CompactionResponse>, Status> {
        let CompactionRequest { revision, physical } = request.into_inner();
        self.store().compact(revision).await?;
        if physical {
            self.store().reclaim().await?;
        }
        Ok(Response::new(CompactionResponse { header: self.header_now().await? }))
    }
}
