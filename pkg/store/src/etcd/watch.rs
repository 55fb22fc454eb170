//! A watch that outlives connections and members.
//!
//! # Guarantees
//! - Every event from the given revision on, once, in order, by whole revisions, whatever happens to
//!   connections in between.
//! - It ends if etcd has compacted what would come next, and not before.
//! - A reader that is slow holds up etcd's stream, which etcd bounds; nothing is piled up here.
//!
//! # Assumptions
//! - Every revision of etcd but the first has an event. So a watch of all keys shows how far it is, and that is
//!   what is asked for, whatever the caller wants of it: etcd before 3.4.25 and 3.5.8 answers a
//!   request for progress before the events that belong to it, and before 3.4.31 and 3.5.13 it may
//!   not answer one at all (<https://github.com/etcd-io/etcd/issues/15220>,
//!   <https://github.com/etcd-io/etcd/issues/17507>).
//!
//! # Caveats
//! - A watch of few keys costs as much as one of all. The API server has one watch, of all keys.

use std::sync::Arc;

use tokio::{
    sync::{mpsc, watch},
    time::timeout,
};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;

use super::{
    Inner,
    cluster::{Connection, Failure, PAUSES, READ},
};
use crate::{
    Event, KeyRange, Watch, WatchBatch,
    wire::proto::{self, watch_client::WatchClient, watch_request::RequestUnion},
};

/// The first revision with an event: an etcd that holds nothing is at 1.
const FIRST: i64 = 2;
/// Batches that wait for the reader.
const WAITING: usize = 64;

/// Starts a watch of `keys` from revision `from` on. `asked` announces heads up to which progress
/// shall be reported.
pub(super) fn start(
    store: Arc<Inner>,
    keys: KeyRange,
    from: i64,
    mut asked: watch::Receiver<i64>,
    stop: CancellationToken,
) -> Watch {
    let (sender, receiver) = mpsc::channel(WAITING);
    // Only what is asked from now on.
    asked.mark_unchanged();
    let watcher = Watcher { store, position: Position::new(keys, from), asked };
    tokio::spawn(async move {
        tokio::select! {
            () = stop.cancelled() => {}
            () = sender.closed() => {}
            () = watcher.run(&sender) => {}
        }
    });
    receiver
}

struct Watcher {
    store: Arc<Inner>,
    position: Position,
    asked: watch::Receiver<i64>,
}

/// Why a stream came to its end.
enum End {
    /// There will be no other one.
    Over,
    Lost,
}

impl Watcher {
    async fn run(mut self, sender: &mpsc::Sender<WatchBatch>) {
        let mut pause = PAUSES[0];
        loop {
            let began_at = self.position.next;
            if let End::Over = self.follow(sender).await {
                return;
            }
            pause = if self.position.next > began_at { PAUSES[0] } else { (pause * 2).min(PAUSES[1]) };
            tokio::time::sleep(pause).await;
        }
    }

    /// One stream, from its beginning to its end.
    async fn follow(&mut self, sender: &mpsc::Sender<WatchBatch>) -> End {
        let Ok(connection) = self.store.cluster.connection().await else { return End::Lost };
        match self.read(&connection, sender).await {
            Ok(end) => end,
            Err(failure) => {
                self.store.cluster.failed(&connection, &failure);
                End::Lost
            }
        }
    }

    async fn read(&mut self, connection: &Connection, sender: &mpsc::Sender<WatchBatch>) -> Result<End, Failure> {
        self.position.rest.clear();
        let (requests, outgoing) = mpsc::channel(1);
        // There is room for one.
        let _ = requests.try_send(self.position.request());
        let mut client = WatchClient::new(connection.channel.clone()).max_decoding_message_size(super::LARGEST_MESSAGE);
        // etcd answers with the first message, that the watch is made.
        let opened = timeout(READ, client.watch(ReceiverStream::new(outgoing))).await;
        let mut messages = opened.map_err(|_| Failure::silent(READ))?.map_err(Failure::of)?.into_inner();
        loop {
            let batch = tokio::select! {
                message = messages.message() => match message.map_err(Failure::of)? {
                    Some(message) if message.compact_revision > 0 => {
                        self.store.learn_compacted(message.compact_revision);
                        return Ok(End::Over);
                    }
                    Some(message) if message.canceled => return Err(Failure::of(tonic::Status::unavailable(message.cancel_reason))),
                    Some(message) => {
                        // A member without a leader also makes watches; it has no events for them.
                        if !message.events.is_empty() {
                            self.store.cluster.answered(connection);
                        }
                        self.position.take(message)
                    }
                    None => return Err(Failure::of(tonic::Status::unavailable("the watch was ended"))),
                },
                changed = self.asked.changed() => match changed {
                    Ok(()) => {
                        self.position.owed = Some(*self.asked.borrow_and_update());
                        None
                    }
                    Err(_) => return Ok(End::Over),
                },
            };
            for batch in batch.into_iter().chain(self.position.progress()) {
                if sender.send(batch).await.is_err() {
                    return Ok(End::Over);
                }
            }
        }
    }
}

/// How far a watch is.
struct Position {
    keys: KeyRange,
    from: i64,
    /// The revision that comes next.
    next: i64,
    /// Events of a revision that has not come in whole.
    rest: Vec<Event>,
    /// A head that the reader wants to know to be passed.
    owed: Option<i64>,
}

impl Position {
    fn new(keys: KeyRange, from: i64) -> Self {
        Position { keys, from, next: from.max(FIRST), rest: Vec::new(), owed: None }
    }

    fn request(&self) -> proto::WatchRequest {
        let all = KeyRange { start: Default::default(), end: Some(Default::default()) };
        let (key, range_end) = all.to_wire();
        let create = proto::WatchCreateRequest {
            key,
            range_end,
            start_revision: self.next,
            prev_kv: true,
            fragment: true,
            ..Default::default()
        };
        proto::WatchRequest { request_union: Some(RequestUnion::CreateRequest(create)) }
    }

    /// Takes in a message. Only fragments may end within a revision.
    fn take(&mut self, message: proto::WatchResponse) -> Option<WatchBatch> {
        let mut events = std::mem::take(&mut self.rest);
        events.extend(message.events.into_iter().map(Event::from).filter(|event| event.kv.mod_revision >= self.next));
        if message.fragment {
            let last = events.last()?.kv.mod_revision;
            self.rest = events.split_off(events.partition_point(|event| event.kv.mod_revision < last));
        }
        let revision = events.last()?.kv.mod_revision;
        self.next = revision + 1;
        events.retain(|event| self.keys.contains(&event.kv.key));
        (!events.is_empty()).then(|| WatchBatch { revision, events: events.into() })
    }

    /// What the reader is owed by now.
    fn progress(&mut self) -> Option<WatchBatch> {
        let head = self.owed?;
        if head >= self.next {
            return None;
        }
        self.owed = None;
        (head + 1 >= self.from).then(|| WatchBatch { revision: self.next - 1, events: [].into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Events as `(key, revision)`.
    fn message(fragment: bool, events: &[(&'static str, i64)]) -> proto::WatchResponse {
        let event = |(key, mod_revision): &(&'static str, i64)| proto::Event {
            kv: Some(proto::KeyValue {
                key: (*key).into(),
                mod_revision: *mod_revision,
                version: 1,
                ..Default::default()
            }),
            ..Default::default()
        };
        proto::WatchResponse { fragment, events: events.iter().map(event).collect(), ..Default::default() }
    }

    fn revisions(batch: Option<WatchBatch>) -> Option<(i64, Vec<i64>)> {
        batch.map(|b| (b.revision, b.events.iter().map(|e| e.kv.mod_revision).collect()))
    }

    #[test]
    fn a_revision_in_fragments_is_given_out_whole() {
        let mut at = Position::new(KeyRange::prefix("a"), 5);
        assert_eq!(revisions(at.take(message(true, &[("a1", 5), ("a2", 6)]))), Some((5, vec![5])));
        assert_eq!(revisions(at.take(message(true, &[("a3", 6)]))), None);
        assert_eq!(at.next, 6);
        assert_eq!(revisions(at.take(message(false, &[("a4", 6), ("a1", 7)]))), Some((7, vec![6, 6, 6, 7])));
        assert_eq!(at.next, 8);
    }

    #[test]
    fn what_was_given_out_is_not_given_out_again() {
        let mut at = Position::new(KeyRange::prefix("a"), 5);
        assert_eq!(revisions(at.take(message(false, &[("a1", 4), ("a1", 5)]))), Some((5, vec![5])));
        assert_eq!(revisions(at.take(message(false, &[("a1", 5)]))), None);
        assert_eq!(revisions(at.take(message(false, &[]))), None);
    }

    #[test]
    fn progress_is_reported_once_the_head_is_passed_also_by_other_keys() {
        let mut at = Position::new(KeyRange::prefix("a"), 5);
        at.owed = Some(6);
        assert_eq!(revisions(at.progress()), None);
        assert_eq!(revisions(at.take(message(false, &[("b", 5)]))), None);
        assert_eq!(revisions(at.progress()), None);
        assert_eq!(revisions(at.take(message(false, &[("b", 6)]))), None);
        assert_eq!(revisions(at.progress()), Some((6, vec![])));
        assert_eq!(revisions(at.progress()), None);
        // The first revision has no event that could pass it.
        let mut at = Position::new(KeyRange::prefix("a"), 1);
        at.owed = Some(1);
        assert_eq!(revisions(at.progress()), Some((1, vec![])));
        // From a revision that is yet to come there is no progress to report.
        let mut at = Position::new(KeyRange::prefix("a"), 9);
        at.owed = Some(6);
        assert_eq!((revisions(at.progress()), at.owed), (None, None));
    }
}
