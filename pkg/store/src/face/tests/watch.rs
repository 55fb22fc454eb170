//! Watches: what is delivered, in which order, and what ends them.

use bytes::Bytes;
use tokio::{sync::mpsc, time::timeout};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

use super::*;
use crate::wire::proto::{
    WatchCancelRequest, WatchCreateRequest, WatchProgressRequest, WatchRequest, WatchResponse, event::EventType,
    watch_client::WatchClient, watch_create_request::FilterType, watch_request::RequestUnion,
};

/// A stream of watches, as a client has it.
pub(super) struct Stream {
    requests: mpsc::Sender<WatchRequest>,
    answers: Streaming<WatchResponse>,
}

pub(super) fn everything() -> WatchCreateRequest {
    WatchCreateRequest { range_end: vec![0].into(), ..WatchCreateRequest::default() }
}

fn prefix(text: &'static str) -> WatchCreateRequest {
    let (key, range_end) = crate::KeyRange::prefix(text).to_wire();
    WatchCreateRequest { key, range_end, ..WatchCreateRequest::default() }
}

impl Stream {
    pub async fn open(served: &Served) -> Self {
        let (requests, receiver) = mpsc::channel(100);
        let mut client = WatchClient::new(served.channel().await).max_decoding_message_size(usize::MAX);
        let answers = client.watch(ReceiverStream::new(receiver)).await.unwrap().into_inner();
        Stream { requests, answers }
    }

    async fn ask(&self, request: RequestUnion) {
        self.requests.send(WatchRequest { request_union: Some(request) }).await.unwrap();
    }

    /// Makes a watch; answers with what the server says first.
    pub async fn create(&mut self, request: WatchCreateRequest) -> WatchResponse {
        self.ask(RequestUnion::CreateRequest(request)).await;
        let answer = self.next().await;
        assert!(answer.created, "{answer:?}");
        answer
    }

    async fn cancel(&self, watch_id: i64) {
        self.ask(RequestUnion::CancelRequest(WatchCancelRequest { watch_id })).await;
    }

    async fn progress(&self) {
        self.ask(RequestUnion::ProgressRequest(WatchProgressRequest {})).await;
    }

    async fn next(&mut self) -> WatchResponse {
        timeout(Duration::from_secs(20), self.answers.message()).await.expect("an answer").unwrap().expect("no end")
    }

    /// The answers' next events, as `(watch, revision, key)`, until there are `count`.
    async fn events(&mut self, count: usize) -> Vec<(i64, i64, String)> {
        let mut events = Vec::new();
        while events.len() < count {
            let answer = self.next().await;
            assert!(!answer.events.is_empty(), "{answer:?}");
            for kv in answer.events.into_iter().filter_map(|e| e.kv) {
                events.push((answer.watch_id, kv.mod_revision, String::from_utf8(kv.key.to_vec()).unwrap()));
            }
        }
        events
    }

    /// That nothing comes.
    async fn silence(&mut self) {
        let heard = timeout(Duration::from_millis(200), self.answers.message()).await;
        assert!(heard.is_err(), "{heard:?}");
    }

    pub async fn end(&mut self) -> Status {
        self.answers.message().await.unwrap_err()
    }
}

async fn delete(served: &Served, key: &'static str) {
    let then = vec![Op::Delete(crate::KeyRange::key(key))];
    served.store.txn(Txn { then, ..Txn::default() }).await.unwrap();
}

#[tokio::test]
async fn one_stream_has_many_watches_each_with_its_id() {
    let served = Served::start();
    let mut stream = Stream::open(&served).await;
    assert_eq!(stream.create(prefix("a")).await.watch_id, 0);
    assert_eq!(stream.create(WatchCreateRequest { watch_id: 2, ..prefix("b") }).await.watch_id, 2);
    assert_eq!(stream.create(prefix("c")).await.watch_id, 1);
    assert_eq!(stream.create(prefix("d")).await.watch_id, 3);
    let doubled = stream.create(WatchCreateRequest { watch_id: 2, ..prefix("e") }).await;
    assert!(doubled.canceled && doubled.watch_id == -1 && doubled.cancel_reason.contains("duplicate watch ID"));
    let empty = WatchCreateRequest { key: "b".into(), range_end: "a".into(), ..WatchCreateRequest::default() };
    let refused = stream.create(empty).await;
    assert!(refused.canceled && refused.cancel_reason == "mvcc: watcher range is empty", "{refused:?}");
    for key in ["a1", "b1", "z", "c1", "d1"] {
        served.put(key, "").await;
    }
    let mut events = stream.events(4).await;
    events.sort();
    let wanted =
        [(0, 2, "a1"), (1, 5, "c1"), (2, 3, "b1"), (3, 6, "d1")].map(|(id, rev, key)| (id, rev, key.to_owned()));
    assert_eq!(events, wanted);
    // An id that was canceled is free again.
    stream.cancel(2).await;
    let canceled = stream.next().await;
    assert_eq!((canceled.watch_id, canceled.canceled, canceled.header.unwrap().revision), (2, true, 6));
    stream.cancel(2).await;
    assert_eq!(stream.create(WatchCreateRequest { watch_id: 2, ..prefix("b") }).await.watch_id, 2);
    served.put("b2", "").await;
    assert_eq!(stream.events(1).await, [(2, 7, "b2".to_owned())]);
}

#[tokio::test]
async fn previous_values_come_only_if_asked_for_and_filters_leave_out() {
    let served = Served::start();
    let mut stream = Stream::open(&served).await;
    let filtered = |filter: FilterType| WatchCreateRequest { filters: vec![filter.into()], ..everything() };
    stream.create(WatchCreateRequest { prev_kv: true, ..everything() }).await;
    let mut plain = Stream::open(&served).await;
    plain.create(everything()).await;
    let (mut puts, mut deletes) = (Stream::open(&served).await, Stream::open(&served).await);
    puts.create(filtered(FilterType::Nodelete)).await;
    deletes.create(filtered(FilterType::Noput)).await;
    served.put("a", "1").await;
    delete(&served, "a").await;
    served.put("a", "2").await;

    let mut prevs = Vec::new();
    for _ in 0..3 {
        let event = stream.next().await.events.remove(0);
        prevs.push((event.r#type(), event.prev_kv.map(|kv| kv.value)));
        assert_eq!(plain.next().await.events[0].prev_kv, None);
    }
    let one = Bytes::from("1");
    assert_eq!(prevs, [(EventType::Put, None), (EventType::Delete, Some(one)), (EventType::Put, None)]);
    assert_eq!(puts.events(2).await.iter().map(|e| e.1).collect::<Vec<_>>(), [2, 4]);
    assert_eq!(deletes.events(1).await[0].1, 3);
    deletes.silence().await;
}

#[tokio::test]
async fn watches_begin_in_the_past_now_and_in_the_future() {
    let served = Served::start();
    for key in ["a", "b", "c"] {
        served.put(key, "").await;
    }
    let from = |start_revision| WatchCreateRequest { start_revision, ..everything() };
    let revisions = |events: Vec<(i64, i64, String)>| events.into_iter().map(|e| e.1).collect::<Vec<_>>();
    let (mut past, mut now, mut future) =
        (Stream::open(&served).await, Stream::open(&served).await, Stream::open(&served).await);
    past.create(from(3)).await;
    assert_eq!(now.create(from(0)).await.header.unwrap().revision, 4);
    future.create(from(6)).await;
    let mut negative = Stream::open(&served).await;
    negative.create(from(i64::MIN)).await;
    for key in ["d", "e", "f"] {
        served.put(key, "").await;
    }
    assert_eq!(revisions(past.events(5).await), [3, 4, 5, 6, 7]);
    assert_eq!(revisions(now.events(3).await), [5, 6, 7]);
    assert_eq!(revisions(future.events(2).await), [6, 7]);
    assert_eq!(revisions(negative.events(3).await), [5, 6, 7]);

    served.store.compact(5).await.unwrap();
    let mut compacted = Stream::open(&served).await;
    compacted.create(from(4)).await;
    let answer = compacted.next().await;
    assert!(answer.canceled && answer.compact_revision == 5, "{answer:?}");
    // The stream goes on, and the id is free.
    compacted.create(WatchCreateRequest { watch_id: 0, ..from(6) }).await;
    assert_eq!(revisions(compacted.events(2).await), [6, 7]);
}

#[tokio::test]
async fn a_progress_request_is_answered_when_all_watches_are_that_far() {
    let served = Served::start();
    let mut stream = Stream::open(&served).await;
    // Without watches there is no answer.
    stream.progress().await;
    stream.silence().await;
    stream.create(prefix("a")).await;
    stream.create(prefix("b")).await;
    for n in 0..200 {
        served.put(if n % 2 == 0 { "a" } else { "b" }, "1").await;
    }
    stream.progress().await;
    let mut events = 0;
    let answer = loop {
        let answer = stream.next().await;
        events += answer.events.len();
        if answer.events.is_empty() {
            break answer;
        }
    };
    assert_eq!((answer.watch_id, answer.header.unwrap().revision, events), (-1, 201, 200));
    stream.silence().await;
    // A watch that has yet to begin holds it back.
    stream.create(WatchCreateRequest { start_revision: 203, ..prefix("c") }).await;
    stream.progress().await;
    stream.silence().await;
}

#[tokio::test]
async fn progress_is_told_to_those_who_asked_for_it() {
    let served = Served::with(Duration::from_millis(300));
    let mut stream = Stream::open(&served).await;
    stream.create(WatchCreateRequest { progress_notify: true, ..prefix("a") }).await;
    stream.create(prefix("b")).await;
    let revision = served.put("elsewhere", "").await;
    let told = stream.next().await;
    assert_eq!((told.watch_id, told.header.unwrap().revision, told.events.len()), (0, revision, 0));
}

#[tokio::test]
async fn large_answers_are_cut_between_revisions_and_within_them_if_wished() {
    let served = Served::start();
    let value = vec![b'v'; 400_000];
    // One revision of 4 MB, then ten of 400 kB.
    let then = (0..10).map(|n| Op::put(format!("a{n}"), value.clone())).collect();
    served.store.txn(Txn { then, ..Txn::default() }).await.unwrap();
    for n in 0..10 {
        served.put(&format!("b{n}"), value.clone()).await;
    }
    for fragment in [false, true] {
        let mut stream = Stream::open(&served).await;
        stream.create(WatchCreateRequest { start_revision: 2, fragment, ..everything() }).await;
        let (mut keys, mut largest, mut parts) = (Vec::new(), 0, 0);
        while keys.len() < 20 {
            let answer = stream.next().await;
            largest = largest.max(prost::Message::encoded_len(&answer));
            parts += usize::from(answer.fragment);
            let revisions: Vec<i64> = answer.events.iter().map(|e| e.kv.as_ref().unwrap().mod_revision).collect();
            assert!(answer.header.unwrap().revision >= *revisions.last().unwrap());
            assert!(!answer.fragment || revisions.ends_with(&[2]), "cut within revision 2 alone: {revisions:?}");
            keys.extend(answer.events.into_iter().map(|e| e.kv.unwrap().key));
        }
        let wanted: Vec<Bytes> =
            ["a", "b"].iter().flat_map(|p| (0..10).map(move |n| format!("{p}{n}").into())).collect();
        assert_eq!(keys, wanted);
        if fragment {
            assert!(largest <= 2_100_000 && parts >= 1, "{largest} {parts}");
        } else {
            assert!((4_000_000..5_000_000).contains(&largest) && parts == 0, "{largest} {parts}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_read_loses_nothing_and_gets_nothing_twice() {
    const WRITES: i64 = 20_000;
    let served = Served::start();
    let mut stream = Stream::open(&served).await;
    stream.create(everything()).await;
    // More than the connection, the channels and the store's watch hold.
    let value = Bytes::from(vec![b'v'; 500]);
    let mut last = 0;
    for n in 0..WRITES / 100 {
        let writes = (0..100).map(|m| {
            let txn = Txn { then: vec![Op::put(format!("{n}-{m}"), value.clone())], ..Txn::default() };
            served.store.txn(txn)
        });
        for done in futures::future::join_all(writes).await {
            last = last.max(done.unwrap().revision);
        }
    }
    assert_eq!(last, WRITES + 1);
    let revisions: Vec<i64> = stream.events(WRITES as usize).await.into_iter().map(|e| e.1).collect();
    assert!(revisions.iter().copied().eq(2..=WRITES + 1), "gaps or doubles");
    stream.silence().await;
}
