//! The stores that must all behave as the model does.

use std::{any::Any, sync::Arc};

use store::{EtcdStore, MemoryStore, SqliteStore, Store, etcd, face};
use testkit::Etcds;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::temp;

/// A store under test, with what it needs to live.
pub struct Backend {
    pub store: Box<dyn Store>,
    /// Dropped after the store.
    _needs: Box<dyn Any + Send>,
}

/// The model, against itself: the tests must at least hold for it.
pub async fn model() -> Backend {
    Backend { store: Box::new(MemoryStore::default()), _needs: Box::new(()) }
}

/// The embedded store.
pub async fn sqlite() -> Backend {
    let (directory, path) = temp();
    Backend { store: Box::new(SqliteStore::open(&path).unwrap()), _needs: Box::new(directory) }
}

/// A real etcd of one member.
pub async fn etcd() -> Backend {
    let directory = tempfile::tempdir().unwrap();
    let etcds = Etcds::new(1, directory.path()).start();
    let store = EtcdStore::connect(etcd::Settings::plain(etcds.urls())).await.unwrap();
    Backend { store: Box::new(store), _needs: Box::new((etcds, directory)) }
}

/// The etcd backend, asking our own face of an embedded store.
pub async fn face() -> Backend {
    let (directory, path) = temp();
    let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
    let socket = directory.path().join("etcd.sock");
    let config = face::Config {
        store: Arc::new(SqliteStore::open(&path).unwrap()),
        name: "suite".to_owned(),
        urls: Vec::new(),
        scratch: directory.path().to_owned(),
        stop: stop.clone(),
    };
    face::Face::new(config).serve_unix(&socket, &tasks).unwrap();
    let settings = etcd::Settings::plain([format!("unix://{}", socket.display())]);
    let store = EtcdStore::connect(settings).await.unwrap();
    Backend { store: Box::new(store), _needs: Box::new((stop.drop_guard(), directory)) }
}
