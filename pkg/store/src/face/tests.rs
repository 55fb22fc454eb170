//! The face as clients see it: etcd's own `etcdctl`, and raw clients, on a Unix socket.

mod ctl;
mod kv;
mod maintenance;
mod watch;

use std::{path::PathBuf, sync::Arc, time::Duration};

use tempfile::TempDir;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tonic::transport::{Channel, Endpoint};

use super::{Config, Face, State};
use crate::{
    Op, SqliteStore, Store as _, Txn,
    wire::proto::{kv_client::KvClient, lease_client::LeaseClient, maintenance_client::MaintenanceClient},
};

/// A served store in a folder of its own.
struct Served {
    dir: TempDir,
    store: Arc<SqliteStore>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Served {
    fn start() -> Self {
        Self::with(Duration::from_secs(600))
    }

    /// With this time between notifications of progress.
    fn with(progress_every: Duration) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Arc::new(SqliteStore::open(&dir.path().join("state.db")).unwrap());
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let config = Config {
            store: store.clone(),
            name: "test".to_owned(),
            urls: vec!["unix:///nowhere".to_owned()],
            scratch: dir.path().to_owned(),
            stop: stop.clone(),
        };
        let served = Served { dir, store, stop, tasks };
        Face::with(State { config, progress_every }).serve_unix(&served.socket(), &served.tasks).unwrap();
        served
    }

    fn socket(&self) -> PathBuf {
        self.dir.path().join("etcd.sock")
    }

    async fn channel(&self) -> Channel {
        let endpoint = Endpoint::from_shared(format!("unix://{}", self.socket().display())).unwrap();
        endpoint.connect().await.unwrap()
    }

    async fn kv(&self) -> KvClient<Channel> {
        KvClient::new(self.channel().await).max_decoding_message_size(usize::MAX)
    }

    async fn lease(&self) -> LeaseClient<Channel> {
        LeaseClient::new(self.channel().await)
    }

    async fn maintenance(&self) -> MaintenanceClient<Channel> {
        MaintenanceClient::new(self.channel().await)
    }

    /// Puts `key` behind the face's back; answers with the revision.
    async fn put(&self, key: &str, value: impl Into<bytes::Bytes>) -> i64 {
        self.store.txn(Txn { then: vec![Op::put(key.to_owned(), value)], ..Txn::default() }).await.unwrap().revision
    }
}

/// Code and text of a refusal.
fn refused<T: std::fmt::Debug>(answer: Result<tonic::Response<T>, tonic::Status>) -> (tonic::Code, String) {
    let status = answer.unwrap_err();
    (status.code(), status.message().to_owned())
}
