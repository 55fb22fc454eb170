//! etcd's Lease service.

use std::pin::Pin;

use futures::{Stream, StreamExt as _};
use tonic::{Request, Response, Status, Streaming};

use super::State;
use crate::{
    Error, Store as _,
    wire::proto::{
        LeaseGrantRequest, LeaseGrantResponse, LeaseKeepAliveRequest, LeaseKeepAliveResponse, LeaseLeasesRequest,
        LeaseLeasesResponse, LeaseRevokeRequest, LeaseRevokeResponse, LeaseStatus, LeaseTimeToLiveRequest,
        LeaseTimeToLiveResponse, lease_server::Lease,
    },
};

/// Seconds that a lease may last, as in etcd.
const MAX_TTL: i64 = 9_000_000_000;

#[tonic::async_trait]
impl Lease for State {
    type LeaseKeepAliveStream = Pin<Box<dyn Stream<Item = Result<LeaseKeepAliveResponse, Status>> + Send>>;

    async fn lease_grant(&self, request: Request<LeaseGrantRequest>) -> Result<Response<LeaseGrantResponse>, Status> {
        let LeaseGrantRequest { ttl, id } = request.into_inner();
        if ttl > MAX_TTL {
            return Err(Status::out_of_range("etcdserver: too large lease TTL"));
        }
        // Not the store's choice, which is a number that an ended lease may have had: whoever has not
        // heard of the end would renew another's.
        let id = if id == 0 { rand::random_range(1..=i64::MAX) } else { id };
        let id = self.store().lease_grant(id, ttl).await?;
        let ttl = self.store().lease_time_to_live(id).await?.granted;
        Ok(Response::new(LeaseGrantResponse { header: self.header_now().await?, id, ttl, error: String::new() }))
    }

    async fn lease_revoke(
        &self,
        request: Request<LeaseRevokeRequest>,
    ) -> Result<Response<LeaseRevokeResponse>, Status> {
        self.store().lease_revoke(request.into_inner().id).await?;
        Ok(Response::new(LeaseRevokeResponse { header: self.header_now().await? }))
    }

    async fn lease_keep_alive(
        &self,
        request: Request<Streaming<LeaseKeepAliveRequest>>,
    ) -> Result<Response<Self::LeaseKeepAliveStream>, Status> {
        let store = self.config.store.clone();
        let answers = request.into_inner().then(move |request| {
            let store = store.clone();
            async move {
                let id = request?.id;
                let ttl = match store.lease_keep_alive(id).await {
                    Err(Error::LeaseNotFound(_)) => 0,
                    renewed => renewed?,
                };
                let header = super::header(store.revision().await?);
                Ok(LeaseKeepAliveResponse { header, id, ttl })
            }
        });
        Ok(Response::new(Box::pin(answers.take_until(self.config.stop.clone().cancelled_owned()))))
    }

    async fn lease_time_to_live(
        &self,
        request: Request<LeaseTimeToLiveRequest>,
    ) -> Result<Response<LeaseTimeToLiveResponse>, Status> {
        let LeaseTimeToLiveRequest { id, keys } = request.into_inner();
        let header = self.header_now().await?;
        let unknown = LeaseTimeToLiveResponse { header, id, ttl: -1, granted_ttl: 0, keys: Vec::new() };
        let answer = match self.store().lease_time_to_live(id).await {
            Err(Error::LeaseNotFound(_)) => unknown,
            found => {
                let lease = found?;
                let keys = if keys { lease.keys } else { Vec::new() };
                LeaseTimeToLiveResponse { ttl: lease.remaining, granted_ttl: lease.granted, keys, ..unknown }
            }
        };
        Ok(Response::new(answer))
    }

    async fn lease_leases(&self, _: Request<LeaseLeasesRequest>) -> Result<Response<LeaseLeasesResponse>, Status> {
        let ids = self.store().leases().await?;
        let leases = ids.into_iter().map(|id| LeaseStatus { id }).collect();
        Ok(Response::new(LeaseLeasesResponse { header: self.header_now().await?, leases }))
    }
}
