//! Certificates against real etcds, and settings that make no sense.

use std::{net::IpAddr, path::Path, time::Duration};

use pki::{Ca, Usage};
use store::{KeyRange, Op, Range, Store as _, Txn};
use tempfile::TempDir;
use testkit::{EtcdTls, Etcds};

use super::*;

/// A CA in `dir`, with a leaf for members of etcd and one for clients.
fn certificates(dir: &Path) -> (EtcdTls, Datastore) {
    let ca = Ca::load_or_create(dir, "ca").unwrap();
    let loopback = IpAddr::from([127, 0, 0, 1]);
    ca.leaf(dir, "member", &Usage::server("etcd", vec!["localhost".to_owned()], vec![loopback])).unwrap();
    ca.leaf(dir, "client", &Usage::client("kinglet", &[])).unwrap();
    let file = |name: &str| dir.join(name);
    let tls = EtcdTls { ca: file("ca.crt"), certificate: file("member.crt"), key: file("member.key") };
    let datastore = Datastore {
        endpoints: Vec::new(),
        ca_file: Some(file("ca.crt")),
        cert_file: Some(file("client.crt")),
        key_file: Some(file("client.key")),
    };
    (tls, datastore)
}

fn secure_etcd() -> (TempDir, Etcds, Datastore) {
    let dir = tempfile::tempdir().unwrap();
    let (tls, datastore) = certificates(dir.path());
    let etcds = Etcds::new(1, dir.path()).with_tls(tls).start();
    let endpoints = etcds.urls();
    (dir, etcds, Datastore { endpoints, ..datastore })
}

async fn refusal(datastore: &Datastore) -> String {
    let connecting = tokio::time::timeout(Duration::from_secs(20), datastore.connect());
    let error = connecting.await.expect("waiting is in vain").err().expect("it is refused");
    chain_of(&error)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn certificates_on_both_sides_also_with_a_name() {
    let (_dir, etcds, datastore) = secure_etcd();
    let store = datastore.connect().await.unwrap();
    store.txn(Txn { then: vec![Op::put("k", "v")], ..Txn::default() }).await.unwrap();
    let endpoints = etcds.urls().iter().map(|url| url.replace("127.0.0.1", "localhost")).collect();
    let named = Datastore { endpoints, ..datastore }.connect().await.unwrap();
    assert_eq!(named.range(Range::head(KeyRange::key("k"))).await.unwrap().count, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_not_trusted_is_told_at_once_which_endpoint_it_is() {
    let (_dir, etcds, datastore) = secure_etcd();
    let url = etcds.urls().swap_remove(0);
    let foreign_dir = tempfile::tempdir().unwrap();
    let (_, foreign) = certificates(foreign_dir.path());

    let wrong_ca = Datastore { ca_file: foreign.ca_file.clone(), ..datastore.clone() };
    let told = refusal(&wrong_ca).await;
    assert!(
        told.contains("--datastore-cafile") && told.contains(&url) && told.contains("invalid peer certificate"),
        "{told}"
    );

    let wrong_client = Datastore { cert_file: foreign.cert_file, key_file: foreign.key_file, ..datastore.clone() };
    let told = refusal(&wrong_client).await;
    assert!(told.contains("--datastore-certfile") && told.contains(&url) && told.contains("alert"), "{told}");

    let no_client = Datastore { cert_file: None, key_file: None, ..datastore };
    let told = refusal(&no_client).await;
    assert!(told.contains("--datastore-certfile") && told.contains(&url) && told.contains("alert"), "{told}");
}

#[tokio::test]
async fn settings_that_make_no_sense_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let (_, files) = certificates(dir.path());
    let endpoints = vec!["https://127.0.0.1:1".to_owned()];
    let whole = Datastore { endpoints, ..files.clone() };
    for (datastore, wanted) in [
        (Datastore { endpoints: vec!["mysql://root@10.0.0.1".to_owned()], ..whole.clone() }, "mysql://root@10.0.0.1"),
        (Datastore { ca_file: None, ..whole.clone() }, "--datastore-cafile is missing"),
        (Datastore { ca_file: Some(dir.path().join("no.crt")), ..whole.clone() }, "no.crt: No such file"),
        (Datastore { ca_file: files.key_file.clone(), ..whole.clone() }, "client.key"),
        (Datastore { key_file: None, ..whole.clone() }, "given together"),
        (Datastore { key_file: Some(dir.path().join("no.key")), ..whole.clone() }, "--datastore-keyfile"),
        (Datastore { key_file: Some(dir.path().join("member.key")), ..whole.clone() }, "member.key"),
    ] {
        let told = refusal(&datastore).await;
        assert!(told.contains(wanted), "{told:?} has no {wanted:?}");
    }
}
