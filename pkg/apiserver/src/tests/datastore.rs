//! The watch cache over a real etcd that goes away and comes back.

use std::{io, sync::Arc, time::Duration};

use api::Value;
use serde_json::json;
use store::{
    EtcdStore, KeyRange, Op, Range, Store as _, Txn,
    etcd::{Address, Connect, Plain, Settings, Stream},
};
use testkit::Etcds;
use tokio::{io::copy_bidirectional, sync::watch, time::Instant};

use super::{CONFIG_MAPS, Fixture, config_map, watches::Events};

/// A network that can be cut.
struct Cable {
    whole: watch::Receiver<bool>,
}

#[async_trait::async_trait]
impl Connect for Cable {
    async fn connect(&self, address: &Address) -> io::Result<Box<dyn Stream>> {
        if !*self.whole.borrow() {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        let mut far = Plain.connect(address).await?;
        let (near, mut middle) = tokio::io::duplex(64 * 1024);
        let mut whole = self.whole.clone();
        tokio::spawn(async move {
            tokio::select! {
                _ = copy_bidirectional(&mut middle, &mut far) => {}
                _ = whole.wait_for(|whole| !whole) => {}
            }
        });
        Ok(Box::new(near))
    }
}

/// A server on an etcd, the switch of its network (true: whole), and another way to the same etcd.
async fn servers(etcds: &Etcds) -> (Fixture, watch::Sender<bool>, EtcdStore) {
    let (switch, whole) = watch::channel(true);
    let settings = Settings { connector: Arc::new(Cable { whole }), ..Settings::plain(etcds.urls()) };
    let fixture = Fixture::over(Arc::new(EtcdStore::connect(settings).await.unwrap())).await;
    (fixture, switch, EtcdStore::connect(Settings::plain(etcds.urls())).await.unwrap())
}

fn names(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().unwrap();
    items.iter().map(|item| item["metadata"]["name"].as_str().unwrap()).collect()
}

/// Does what another server would: `b` instead of `a`.
async fn replace(other: &EtcdStore) -> i64 {
    let key = |name: &str| format!("/registry/configmaps/default/{name}");
    let read = other.range(Range::head(KeyRange::key(key("a")))).await.unwrap();
    let value = String::from_utf8(read.kvs[0].value.to_vec()).unwrap();
    let value = value.replace(r#""name":"a""#, r#""name":"b""#);
    let then = vec![Op::Delete(KeyRange::key(key("a"))), Op::put(key("b"), value)];
    other.txn(Txn { then, ..Txn::default() }).await.unwrap().revision
}

/// The list as soon as it is served again. Until then the answers are 503 or 504, and say why.
async fn first_list(fixture: &Fixture) -> Value {
    let begun = Instant::now();
    loop {
        let answer = fixture.get(CONFIG_MAPS).await;
        if answer.code == 200 {
            return answer.body;
        }
        assert!([503, 504].contains(&answer.code), "{answer:?}");
        assert!(begun.elapsed() < Duration::from_secs(30), "{answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outage_of_etcd_is_told_and_nothing_stale_is_served() {
    let dir = tempfile::tempdir().unwrap();
    let etcds = Etcds::new(1, dir.path()).start();
    let (fixture, switch, other) = servers(&etcds).await;
    fixture.post(CONFIG_MAPS, &config_map("a", json!({}))).await.expect(201);
    let uri = format!("{CONFIG_MAPS}?watch=true&resourceVersion=0");
    let mut events = Events::open(&fixture, &uri, "application/json").await;
    assert_eq!(events.short().await, "ADDED a");

    switch.send(false).unwrap();
    let (read, written) = (fixture.get(CONFIG_MAPS), config_map("c", json!({})));
    let (read, written) = tokio::join!(read, fixture.post(CONFIG_MAPS, &written));
    assert_eq!((read.code, &read.body["reason"]), (503, &json!("ServiceUnavailable")), "{read:?}");
    // The connection may break before the write is sent, or while it is.
    let unknown = written.body["message"].as_str().unwrap().contains("whether it has written is unknown");
    let (code, reason) = if unknown { (504, "Timeout") } else { (503, "ServiceUnavailable") };
    assert_eq!((written.code, &written.body["reason"]), (code, &json!(reason)), "{written:?}");
    for answer in [read, written] {
        assert!(answer.body["message"].as_str().unwrap().contains(&etcds.urls()[0]), "{answer:?}");
    }
    // Who does not mind old data is served.
    assert_eq!(names(&fixture.get(&format!("{CONFIG_MAPS}?resourceVersion=0")).await.expect(200)), ["a"]);

    replace(&other).await;
    switch.send(true).unwrap();
    assert_eq!(names(&first_list(&fixture).await), ["b"]);
    // The watch has outlived it.
    assert_eq!((events.short().await, events.short().await), ("DELETED a".to_owned(), "ADDED b".to_owned()));
    fixture.post(CONFIG_MAPS, &config_map("c", json!({}))).await.expect(201);
    assert_eq!(events.short().await, "ADDED c");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_compaction_during_an_outage_makes_the_caches_read_anew() {
    let dir = tempfile::tempdir().unwrap();
    let etcds = Etcds::new(1, dir.path()).start();
    let (fixture, switch, other) = servers(&etcds).await;
    fixture.post(CONFIG_MAPS, &config_map("a", json!({}))).await.expect(201);
    let uri = format!("{CONFIG_MAPS}?watch=true&resourceVersion=0");
    let mut events = Events::open(&fixture, &uri, "application/json").await;
    assert_eq!(events.short().await, "ADDED a");

    switch.send(false).unwrap();
    let head = replace(&other).await;
    other.compact(head).await.unwrap();
    // So that what is missed cannot be had any more.
    other.txn(Txn { then: vec![Op::put("k", "v")], ..Txn::default() }).await.unwrap();
    other.compact(head + 1).await.unwrap();
    switch.send(true).unwrap();
    assert_eq!(names(&first_list(&fixture).await), ["b"]);
    let event = events.next().await.unwrap();
    assert_eq!((&event["type"], &event["object"]["code"]), (&json!("ERROR"), &json!(410)), "{event}");
    fixture.post(CONFIG_MAPS, &config_map("c", json!({}))).await.expect(201);
    assert_eq!(names(&fixture.get(CONFIG_MAPS).await.expect(200)), ["b", "c"]);
}
