//! etcd's Maintenance service, and its list of members.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
};

use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};

use super::{MEMBER, State, TERM, VERSION};
use crate::{
    Error, sqlite,
    wire::proto::{
        AlarmMember, AlarmRequest, AlarmResponse, AlarmType, DefragmentRequest, DefragmentResponse, Member,
        MemberListRequest, MemberListResponse, SnapshotRequest, SnapshotResponse, StatusRequest, StatusResponse,
        alarm_request::AlarmAction, cluster_server::Cluster, maintenance_server::Maintenance,
    },
};

/// Bytes of a snapshot in one message.
const CHUNK: usize = 64 << 10;
/// Messages of a snapshot that wait for the client.
const CHUNKS: usize = 4;
/// Names of snapshots on their way begin with it.
const SNAPSHOT: &str = "etcd-snapshot-";

/// What etcd's clients are told of while writes fail for this reason.
pub(super) fn alarm(error: &Error) -> Option<AlarmType> {
    match error {
        Error::NoSpace { .. } => Some(AlarmType::Nospace),
        Error::Corrupt { .. } => Some(AlarmType::Corrupt),
        _ => None,
    }
}

/// Removes snapshots that a process left when it was killed.
pub(super) fn clear(scratch: &Path) {
    for entry in fs::read_dir(scratch).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(|name| name.starts_with(SNAPSHOT))
            && let Err(error) = fs::remove_file(entry.path())
        {
            tracing::info!(%error, path = %entry.path().display(), "an old snapshot cannot be removed");
        }
    }
}

impl State {
    /// Sizes and health; they are read from the file.
    async fn sizes(&self) -> Result<sqlite::Status, Error> {
        let store = self.config.store.clone();
        tokio::task::spawn_blocking(move || store.status()).await.map_err(|_| Error::Closed)?
    }

    /// A snapshot in a file without a name, which is gone when it is closed.
    async fn snapshot_file(&self) -> Result<File, Status> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = self.config.scratch.join(format!("{SNAPSHOT}{number}.db"));
        let store = self.config.store.clone();
        // A task of its own, so that a client that goes away leaves no file behind.
        let made = tokio::spawn(async move {
            let made = store.snapshot(&path).await;
            let file = File::open(&path);
            let removed = fs::remove_file(&path);
            made?;
            let failed = |e: io::Error| Status::internal(format!("{}: {e}", path.display()));
            removed.map_err(failed)?;
            file.map_err(failed)
        });
        made.await.map_err(|e| Status::internal(e.to_string()))?
    }
}

/// Sends a file, and then, as etcd does, the SHA-256 of it.
fn send(mut file: File, out: &mpsc::Sender<Result<SnapshotResponse, Status>>) -> io::Result<()> {
    let mut left = file.metadata()?.len();
    let mut digest = Sha256::new();
    let send = |remaining_bytes, blob| {
        let message = SnapshotResponse { header: None, remaining_bytes, blob, version: VERSION.to_owned() };
        out.blocking_send(Ok(message)).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))
    };
    while left > 0 {
        let mut chunk = vec![0; CHUNK.min(usize::try_from(left).unwrap_or(CHUNK))];
        file.read_exact(&mut chunk)?;
        digest.update(&chunk);
        left -= chunk.len() as u64;
        send(left, chunk.into())?;
    }
    send(0, Bytes::copy_from_slice(&digest.finalize()))
}

#[tonic::async_trait]
impl Maintenance for State {
    type SnapshotStream = ReceiverStream<Result<SnapshotResponse, Status>>;

    async fn alarm(&self, request: Request<AlarmRequest>) -> Result<Response<AlarmResponse>, Status> {
        let request = request.into_inner();
        if request.action() != AlarmAction::Get {
            return Err(Status::unimplemented(
                "alarms of Kinglet's embedded store begin and end by themselves: NOSPACE lasts while the disk is full",
            ));
        }
        let alarm = self.sizes().await?.failing.and_then(|error| alarm(&error));
        let asked = alarm.filter(|alarm| matches!(request.alarm(), AlarmType::None) || *alarm == request.alarm());
        let alarms = asked.map(|alarm| AlarmMember { member_id: MEMBER, alarm: alarm.into() }).into_iter().collect();
        Ok(Response::new(AlarmResponse { header: self.header_now().await?, alarms }))
    }

    async fn status(&self, _: Request<StatusRequest>) -> Result<Response<StatusResponse>, Status> {
        let status = self.sizes().await?;
        let bytes = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        // Every revision is applied when it is there; there is no other log to count in.
        let index = status.revision.unsigned_abs();
        Ok(Response::new(StatusResponse {
            header: super::header(status.revision),
            version: VERSION.to_owned(),
            db_size: bytes(status.file_bytes),
            leader: MEMBER,
            raft_index: index,
            raft_term: TERM,
            raft_applied_index: index,
            errors: status.failing.iter().map(ToString::to_string).collect(),
            db_size_in_use: bytes(status.used_bytes),
            is_learner: false,
            storage_version: VERSION.to_owned(),
            db_size_quota: 0,
        }))
    }

    async fn defragment(&self, _: Request<DefragmentRequest>) -> Result<Response<DefragmentResponse>, Status> {
        self.store().reclaim().await?;
        Ok(Response::new(DefragmentResponse { header: self.header_now().await? }))
    }

    async fn snapshot(&self, _: Request<SnapshotRequest>) -> Result<Response<Self::SnapshotStream>, Status> {
        let file = self.snapshot_file().await?;
        let (out, answers) = mpsc::channel(CHUNKS);
        tokio::task::spawn_blocking(move || match send(file, &out) {
            // The client went away.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            Err(error) => drop(out.blocking_send(Err(Status::internal(format!("reading the snapshot: {error}"))))),
            Ok(()) => {}
        });
        Ok(Response::new(ReceiverStream::new(answers)))
    }
}

#[tonic::async_trait]
impl Cluster for State {
    async fn member_list(&self, _: Request<MemberListRequest>) -> Result<Response<MemberListResponse>, Status> {
        let member = Member {
            id: MEMBER,
            name: self.config.name.clone(),
            client_ur_ls: self.config.urls.clone(),
            ..Member::default()
        };
        Ok(Response::new(MemberListResponse { header: self.header_now().await?, members: vec![member] }))
    }
}
