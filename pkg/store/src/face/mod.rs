//! The face: the API of etcd v3, served from the embedded store, so that `etcdctl` and other tools
//! of its field work.
//!
//! [`kv`], [`watch`], [`lease`] and [`maintenance`] are etcd's services; here is what they share, and
//! how connections are served. Whoever gets a connection may do everything: the Unix socket is root's
//! alone, and other transports must have made sure of their clients before they hand one over.

mod authority;
mod kv;
mod lease;
mod maintenance;
mod request;
#[cfg(test)]
mod tests;
mod watch;

use std::{
    convert::Infallible,
    fs, io,
    os::{fd::AsFd as _, unix::fs::PermissionsExt as _},
    path::{Path, PathBuf},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use hyper::{body::Incoming, server::conn::http2, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{UnixListener, UnixSocket},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tonic::{Status, body::Body};
use tower::Service as _;

use crate::{
    Error, SqliteStore, Store as _,
    wire::proto::{
        ResponseHeader, cluster_server::ClusterServer, kv_server::KvServer, lease_server::LeaseServer,
        maintenance_server::MaintenanceServer, watch_server::WatchServer,
    },
};

/// There is one cluster of one member, whose names are the same everywhere: "kinglet" and a number.
const CLUSTER: u64 = u64::from_be_bytes(*b"kinglet\x01");
const MEMBER: u64 = u64::from_be_bytes(*b"kinglet\x02");
/// Nothing is ever elected.
const TERM: u64 = 1;
/// Of etcd's API: what clients make their choice of features by.
const VERSION: &str = "3.6.0";

/// Bytes of a request, as in etcd by default.
const REQUEST: usize = 3 << 19;
/// Bytes of a message that is decoded at all, so that what is too large gets etcd's answer.
const MESSAGE: usize = 4 << 20;
/// Requests under way on one connection.
const STREAMS: u32 = 10_000;
/// Connections that wait to be taken.
const BACKLOG: u32 = 1024;
/// A peer that is gone without a word is found out after this time, as with etcd.
const PING: Duration = Duration::from_secs(2 * 3600);
/// At the end, requests under way may take this long.
const GRACE: Duration = Duration::from_secs(5);
/// How often a watch that asked for it is told of progress, as with etcd.
const PROGRESS: Duration = Duration::from_secs(600);

/// What is served, and as whom.
pub struct Config {
    /// What is served.
    pub store: Arc<SqliteStore>,
    /// Name of the one member.
    pub name: String,
    /// Where clients find it: `unix:///PATH`, `https://HOST:PORT`.
    pub urls: Vec<String>,
    /// An existing folder for snapshots on their way, with as much room as the database takes.
    pub scratch: PathBuf,
    /// Ends it.
    pub stop: CancellationToken,
}

/// A served store. Cheap to clone.
#[derive(Clone)]
pub struct Face {
    state: Arc<State>,
    kv: KvServer<State>,
    watch: WatchServer<State>,
    lease: LeaseServer<State>,
    cluster: ClusterServer<State>,
    maintenance: MaintenanceServer<State>,
}

/// What the services share; each is implemented on it.
struct State {
    config: Config,
    /// See [`PROGRESS`].
    progress_every: Duration,
}

impl State {
    fn store(&self) -> &SqliteStore {
        &self.config.store
    }

    /// The header of an answer that is as of now.
    async fn header_now(&self) -> Result<Option<ResponseHeader>, Error> {
        Ok(header(self.store().revision().await?))
    }
}

/// The header of an answer that is as of `revision`.
fn header(revision: i64) -> Option<ResponseHeader> {
    Some(ResponseHeader { cluster_id: CLUSTER, member_id: MEMBER, revision, raft_term: TERM })
}

impl Face {
    /// Prepares to serve; removes what an earlier process left in the folder for snapshots.
    pub fn new(config: Config) -> Self {
        maintenance::clear(&config.scratch);
        Self::with(State { config, progress_every: PROGRESS })
    }

    fn with(state: State) -> Self {
        let state = Arc::new(state);
        let limit = usize::MAX;
        Face {
            kv: KvServer::from_arc(state.clone()).max_decoding_message_size(MESSAGE).max_encoding_message_size(limit),
            watch: WatchServer::from_arc(state.clone()).max_encoding_message_size(limit),
            lease: LeaseServer::from_arc(state.clone()).max_encoding_message_size(limit),
            cluster: ClusterServer::from_arc(state.clone()),
            maintenance: MaintenanceServer::from_arc(state.clone()),
            state,
        }
    }

    /// Makes the socket at `path`, in place of one that an earlier process left, and serves it.
    pub fn serve_unix(&self, path: &Path, tasks: &TaskTracker) -> io::Result<()> {
        let listener = listen(path)?;
        let (face, spawned) = (self.clone(), tasks.clone());
        tasks.spawn(async move {
            let stop = face.state.config.stop.clone();
            loop {
                let accepted = tokio::select! {
                    () = stop.cancelled() => return,
                    accepted = listener.accept() => accepted,
                };
                match accepted {
                    Ok((stream, _)) => drop(spawned.spawn(face.clone().run(authority::Lenient::new(stream), None))),
                    Err(error) => {
                        // Out of file descriptors, or the client was faster: go on after a breath.
                        tracing::info!(%error, "a connection could not be taken");
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                }
            }
        });
        Ok(())
    }

    /// Serves one connection, of whoever may do everything, to its end.
    pub async fn serve(self, io: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        self.run(io, Some(PING)).await;
    }

    /// `ping`: how often a silent peer is asked whether it is there; one on this machine cannot vanish.
    async fn run(self, io: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, ping: Option<Duration>) {
        let stop = self.state.config.stop.clone();
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.timer(TokioTimer::new()).keep_alive_interval(ping).max_concurrent_streams(STREAMS);
        let connection = builder.serve_connection(TokioIo::new(io), service_fn(move |request| self.answer(request)));
        let mut connection = pin!(connection);
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                match tokio::time::timeout(GRACE, connection).await {
                    Ok(ended) => ended,
                    Err(_) => return,
                }
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "connection ended");
        }
    }

    /// Leads a request to its service.
    fn answer(
        &self,
        request: http::Request<Incoming>,
    ) -> impl Future<Output = Result<http::Response<Body>, Infallible>> + use<> {
        let path = request.uri().path();
        let (service, method) = path.strip_prefix("/etcdserverpb.").and_then(|p| p.split_once('/')).unwrap_or_default();
        match (service, method) {
            ("KV", "Range" | "Put" | "DeleteRange" | "Txn" | "Compact") => self.kv.clone().call(request),
            ("Watch", "Watch") => self.watch.clone().call(request),
            ("Lease", "LeaseGrant" | "LeaseRevoke" | "LeaseKeepAlive" | "LeaseTimeToLive" | "LeaseLeases") => {
                self.lease.clone().call(request)
            }
            ("Cluster", "MemberList") => self.cluster.clone().call(request),
            ("Maintenance", "Alarm" | "Status" | "Defragment" | "Snapshot") => self.maintenance.clone().call(request),
            _ => {
                let text = format!(
                    "{path} is not served: this is Kinglet's embedded store, which has etcd's KV, Watch and Lease, \
                     Cluster.MemberList, and Maintenance.Status, Snapshot, Defragment and Alarm"
                );
                Box::pin(std::future::ready(Ok(Status::unimplemented(text).into_http())))
            }
        }
    }
}

/// A socket that nobody but root can use, from its first moment on: a socket takes over the mode that
/// it had before it got its name.
fn listen(path: &Path) -> io::Result<UnixListener> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let socket = UnixSocket::new_stream()?;
    fs::File::from(socket.as_fd().try_clone_to_owned()?).set_permissions(fs::Permissions::from_mode(0o600))?;
    socket.bind(path)?;
    socket.listen(BACKLOG)
}
