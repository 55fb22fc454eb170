//! Status, snapshots, alarms, members; the socket, and its end.

use std::os::unix::fs::PermissionsExt as _;

use sha2::{Digest as _, Sha256};
use tonic::Code;

use super::super::maintenance::alarm;
use super::*;
use crate::{
    Error,
    wire::proto::{
        AlarmRequest, AlarmType, DefragmentRequest, LeaseKeepAliveRequest, MemberListRequest, SnapshotRequest,
        StatusRequest, alarm_request::AlarmAction, cluster_client::ClusterClient,
    },
};

#[tokio::test]
async fn status_members_and_alarms_are_those_of_a_cluster_of_one() {
    let served = Served::start();
    served.put("a", "1").await;
    let mut maintenance = served.maintenance().await;
    let status = maintenance.status(StatusRequest {}).await.unwrap().into_inner();
    let header = status.header.unwrap();
    assert_eq!((header.revision, header.member_id, status.raft_applied_index), (2, status.leader, 2));
    assert!(status.version.starts_with("3.") && status.db_size > 0 && status.errors.is_empty(), "{status:?}");
    maintenance.defragment(DefragmentRequest {}).await.unwrap();
    assert!(maintenance.alarm(AlarmRequest::default()).await.unwrap().into_inner().alarms.is_empty());
    let disarm = AlarmRequest { action: AlarmAction::Deactivate.into(), ..AlarmRequest::default() };
    assert_eq!(refused(maintenance.alarm(disarm).await).0, Code::Unimplemented);
    let members = ClusterClient::new(served.channel().await).member_list(MemberListRequest::default()).await;
    let members = members.unwrap().into_inner().members;
    assert_eq!(members.len(), 1);
    assert_eq!((members[0].id, members[0].name.as_str()), (status.leader, "test"));
    assert_eq!(members[0].client_ur_ls, ["unix:///nowhere"]);
}

#[test]
fn a_full_disk_and_a_broken_database_are_alarms() {
    let path = || "db".to_owned();
    assert_eq!(alarm(&Error::NoSpace { path: path() }), Some(AlarmType::Nospace));
    assert_eq!(alarm(&Error::Corrupt { path: path(), message: String::new() }), Some(AlarmType::Corrupt));
    assert_eq!(alarm(&Error::Backend { path: path(), message: String::new() }), None);
}

#[tokio::test]
async fn a_snapshot_is_the_database_with_its_digest() {
    let served = Served::start();
    for n in 0..50 {
        served.put(&format!("key-{n}"), vec![b'v'; 10_000]).await;
    }
    let mut maintenance = served.maintenance().await;
    let mut stream = maintenance.snapshot(SnapshotRequest {}).await.unwrap().into_inner();
    let (mut bytes, mut left) = (Vec::new(), Vec::new());
    while let Some(message) = stream.message().await.unwrap() {
        bytes.extend_from_slice(&message.blob);
        left.push(message.remaining_bytes);
    }
    let (content, digest) = bytes.split_at(bytes.len() - 32);
    assert_eq!(Sha256::digest(content).as_slice(), digest);
    assert!(left.len() > 8 && left.is_sorted_by(|a, b| a >= b) && left.ends_with(&[0, 0]), "{left:?}");
    // Nothing is left of it, and it is a store with everything in it.
    let names: Vec<_> = served.dir.path().read_dir().unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().contains("snapshot")), "{names:?}");
    let copy = served.dir.path().join("copy.db");
    std::fs::write(&copy, content).unwrap();
    let copy = SqliteStore::open(&copy).unwrap();
    assert_eq!(copy.range(crate::Range::head(crate::KeyRange::prefix("key-"))).await.unwrap().count, 50);
}

#[tokio::test]
async fn what_is_not_served_says_so() {
    let served = Served::start();
    let mut client = tonic::client::Grpc::new(served.channel().await);
    for path in ["/etcdserverpb.Auth/UserList", "/etcdserverpb.KV/Shout", "/v3lockpb.Lock/Lock", "/"] {
        client.ready().await.unwrap();
        let codec = tonic_prost::ProstCodec::<StatusRequest, StatusRequest>::default();
        let answer = client.unary(tonic::Request::new(StatusRequest {}), path.parse().unwrap(), codec).await;
        let (code, text) = refused(answer);
        assert!(code == Code::Unimplemented && text.contains(path) && text.contains("Watch"), "{text}");
    }
}

#[tokio::test]
async fn the_socket_is_roots_alone_and_takes_the_place_of_an_old_one() {
    let served = Served::start();
    let mode = || std::fs::metadata(served.socket()).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o600);
    // Another one, as if the process had been killed and started again.
    drop(super::super::listen(&served.socket()).unwrap());
    assert_eq!(mode(), 0o600);
}

#[tokio::test]
async fn streams_end_when_the_server_stops() {
    let served = Served::start();
    let mut watch = watch::Stream::open(&served).await;
    watch.create(watch::everything()).await;
    let (requests, receiver) = tokio::sync::mpsc::channel::<LeaseKeepAliveRequest>(1);
    let requested = tokio_stream::wrappers::ReceiverStream::new(receiver);
    let mut renewals = served.lease().await.lease_keep_alive(requested).await.unwrap().into_inner();
    served.stop.cancel();
    served.tasks.close();
    tokio::time::timeout(Duration::from_secs(3), served.tasks.wait()).await.expect("all connections are closed");
    assert_eq!(watch.end().await.code(), Code::Unavailable);
    assert!(!matches!(renewals.message().await, Ok(Some(_))));
    drop(requests);
}
