//! etcd's Watch service: many watches on one stream.
//!
//! Flow: a [`Session`] reads the client's requests and starts a task to each watch; a [`Watcher`]
//! sends `created`, then events, then, if it is ended, `canceled`. All of them share one bounded
//! channel to the client.
//!
//! Guarantees: each event of a watch is sent once, in order, and none is left out. A client that does
//! not read holds its watchers up, then the store drops their watches, and they ask anew from the last
//! revision that was sent: nothing piles up here. An answer to a progress request comes after every
//! event up to its revision, of all watches that the stream had.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use prost::Message as _;
use tokio::{sync::mpsc, time::Interval};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, Streaming};

use super::{REQUEST, State, header};
use crate::{
    Error, Event, KeyRange, SqliteStore, Store as _, WatchBatch,
    wire::proto::{
        self, WatchCreateRequest, WatchRequest, WatchResponse, watch_create_request::FilterType,
        watch_request::RequestUnion, watch_server,
    },
};

/// Answers that wait for the client; each is small, or of about [`PIECE`].
const ANSWERS: usize = 16;
/// Commands that wait for a watcher.
const COMMANDS: usize = 4;
/// Bytes of events in one answer, as etcd has it; one event may be larger.
const PIECE: usize = REQUEST + (512 << 10);
/// Stands for no watch, or for all.
const NO_WATCH: i64 = -1;

type Out = mpsc::Sender<Result<WatchResponse, Status>>;

/// The client went away.
struct Gone;

#[tonic::async_trait]
impl watch_server::Watch for State {
    type WatchStream = ReceiverStream<Result<WatchResponse, Status>>;

    async fn watch(&self, request: Request<Streaming<WatchRequest>>) -> Result<Response<Self::WatchStream>, Status> {
        let (out, answers) = mpsc::channel(ANSWERS);
        let session = Session {
            store: self.config.store.clone(),
            progress_every: self.progress_every,
            out,
            watches: HashMap::new(),
            next_id: 0,
        };
        tokio::spawn(session.run(request.into_inner(), self.config.stop.clone()));
        Ok(Response::new(ReceiverStream::new(answers)))
    }
}

/// What a watcher is told.
enum Command {
    Cancel,
    Progress(Arc<Progress>),
}

/// A progress request. All watchers hold it until they are as far as it says; the last answers.
struct Progress {
    revision: i64,
}

/// Lets go of a progress request.
async fn release(progress: Arc<Progress>, out: &Out) -> Result<(), Gone> {
    match Arc::into_inner(progress) {
        Some(Progress { revision }) => {
            let answer = WatchResponse { header: header(revision), watch_id: NO_WATCH, ..WatchResponse::default() };
            send(out, answer).await
        }
        None => Ok(()),
    }
}

async fn send(out: &Out, answer: WatchResponse) -> Result<(), Gone> {
    out.send(Ok(answer)).await.map_err(|_| Gone)
}

/// One stream of requests.
struct Session {
    store: Arc<SqliteStore>,
    progress_every: Duration,
    out: Out,
    /// Those whose channel is closed have ended by themselves.
    watches: HashMap<i64, mpsc::Sender<Command>>,
    next_id: i64,
}

impl Session {
    async fn run(mut self, mut requests: Streaming<WatchRequest>, stop: CancellationToken) {
        let mut more = true;
        loop {
            let request = tokio::select! {
                () = self.out.closed() => return,
                () = stop.cancelled() => {
                    let _ = self.out.send(Err(Error::Closed.into())).await;
                    return;
                }
                // A client that has no more requests still gets its events.
                request = requests.message(), if more => request,
            };
            let done = match request {
                Ok(None) => {
                    more = false;
                    Ok(())
                }
                Ok(Some(request)) => self.serve(request).await,
                Err(_) => Err(Gone),
            };
            if done.is_err() {
                return;
            }
        }
    }

    async fn serve(&mut self, request: WatchRequest) -> Result<(), Gone> {
        match request.request_union {
            Some(RequestUnion::CreateRequest(create)) => self.create(create).await,
            Some(RequestUnion::CancelRequest(cancel)) => {
                if let Some(watcher) = self.watches.remove(&cancel.watch_id) {
                    // If it has ended just now, it has said so.
                    let _ = watcher.send(Command::Cancel).await;
                }
                Ok(())
            }
            Some(RequestUnion::ProgressRequest(_)) => self.progress().await,
            None => Ok(()),
        }
    }

    async fn revision(&self) -> Result<i64, Gone> {
        match self.store.revision().await {
            Ok(revision) => Ok(revision),
            Err(error) => {
                let _ = self.out.send(Err(error.into())).await;
                Err(Gone)
            }
        }
    }

    async fn create(&mut self, request: WatchCreateRequest) -> Result<(), Gone> {
        let head = self.revision().await?;
        if self.watches.len().is_power_of_two() {
            self.watches.retain(|_, watcher| !watcher.is_closed());
        }
        let (keys, id) = match (range(&request), self.choose_id(request.watch_id)) {
            (Err(reason), _) | (_, Err(reason)) => return self.refuse(head, reason).await,
            (Ok(keys), Ok(id)) => (keys, id),
        };
        let from = if request.start_revision > 0 { request.start_revision } else { head + 1 };
        let (commands, receiver) = mpsc::channel(COMMANDS);
        let watcher = Watcher {
            store: self.store.clone(),
            out: self.out.clone(),
            commands: receiver,
            id,
            keys,
            next: from,
            // One that begins in the future is not up to date before that.
            seen: if from > head + 1 { 0 } else { from - 1 },
            prev_kv: request.prev_kv,
            puts: request.filters().all(|f| f != FilterType::Noput),
            deletes: request.filters().all(|f| f != FilterType::Nodelete),
            fragment: request.fragment,
            tell_progress: false,
            asked: None,
        };
        self.watches.insert(id, commands);
        let ticks = request
            .progress_notify
            .then(|| tokio::time::interval_at(tokio::time::Instant::now() + self.progress_every, self.progress_every));
        // It is the first that the client hears of this watch.
        send(
            &self.out,
            WatchResponse { header: header(head), watch_id: id, created: true, ..WatchResponse::default() },
        )
        .await?;
        tokio::spawn(async move { drop(watcher.run(ticks).await) });
        Ok(())
    }

    /// The id that the client wants, or, for 0, a free one.
    fn choose_id(&mut self, wanted: i64) -> Result<i64, &'static str> {
        if wanted == 0 {
            while self.watches.contains_key(&self.next_id) {
                self.next_id += 1;
            }
            self.next_id += 1;
            return Ok(self.next_id - 1);
        }
        match self.watches.entry(wanted) {
            Entry::Occupied(taken) if !taken.get().is_closed() => {
                Err("mvcc: duplicate watch ID provided on the WatchStream")
            }
            _ => Ok(wanted),
        }
    }

    async fn refuse(&self, head: i64, reason: &str) -> Result<(), Gone> {
        let answer = WatchResponse {
            header: header(head),
            watch_id: NO_WATCH,
            created: true,
            canceled: true,
            cancel_reason: reason.to_owned(),
            ..WatchResponse::default()
        };
        send(&self.out, answer).await
    }

    /// Asks all watchers to be as far as the head. Without any there is no answer, as with etcd.
    async fn progress(&mut self) -> Result<(), Gone> {
        self.watches.retain(|_, watcher| !watcher.is_closed());
        if self.watches.is_empty() {
            return Ok(());
        }
        let progress = Arc::new(Progress { revision: self.revision().await? });
        for watcher in self.watches.values() {
            let _ = watcher.send(Command::Progress(progress.clone())).await;
        }
        // If the store was closed, the watchers say so.
        let _ = self.store.progress().await;
        release(progress, &self.out).await
    }
}

/// The keys of a watch; here an empty key is the first of all.
fn range(request: &WatchCreateRequest) -> Result<KeyRange, &'static str> {
    let key = if request.key.is_empty() { Bytes::from_static(&[0]) } else { request.key.clone() };
    let keys = KeyRange::from_wire(key, request.range_end.clone());
    match &keys.end {
        Some(end) if !end.is_empty() && *end <= keys.start => Err("mvcc: watcher range is empty"),
        _ => Ok(keys),
    }
}

/// One watch.
struct Watcher {
    store: Arc<SqliteStore>,
    out: Out,
    commands: mpsc::Receiver<Command>,
    id: i64,
    keys: KeyRange,
    /// First revision that is still to come.
    next: i64,
    /// Everything up to here was sent.
    seen: i64,
    prev_kv: bool,
    puts: bool,
    deletes: bool,
    fragment: bool,
    /// The client is to be told of progress when there are no events.
    tell_progress: bool,
    /// The newest progress request that is not answered.
    asked: Option<Arc<Progress>>,
}

impl Watcher {
    async fn run(mut self, mut ticks: Option<Interval>) -> Result<(), Gone> {
        loop {
            let mut watch = match self.store.watch(self.keys.clone(), self.next).await {
                Ok(watch) => watch,
                Err(Error::Compacted { compacted }) => {
                    return self.end(compacted).await;
                }
                Err(error) => {
                    let _ = self.out.send(Err(error.into())).await;
                    return Err(Gone);
                }
            };
            if self.asked.is_some() {
                // What its last watch was told of progress may be lost.
                let _ = self.store.progress().await;
            }
            loop {
                tokio::select! {
                    batch = watch.recv() => match batch {
                        Some(batch) => self.deliver(batch, &mut ticks).await?,
                        // It was too slow, and begins anew where it was.
                        None => break
                    },
                    command = self.commands.recv() => match command {
                        Some(Command::Progress(progress)) => {
                            self.asked = Some(progress);
                            self.check_progress().await?;
                        }
                        Some(Command::Cancel) => return self.end(0).await,
                        None => return Ok(()),
                    },
                    () = tick(&mut ticks) => {
                        self.tell_progress = true;
                        // If the store was closed, the watch ends.
                        let _ = self.store.progress().await;
                    }
                }
            }
        }
    }

    /// An answer that is as of `revision`, without anything in it.
    fn answer(&self, revision: i64) -> WatchResponse {
        WatchResponse { header: header(revision), watch_id: self.id, ..WatchResponse::default() }
    }

    /// Says that the watch is canceled, and lets go of what it was asked.
    async fn end(mut self, compact_revision: i64) -> Result<(), Gone> {
        let head = self.store.revision().await.unwrap_or(self.seen);
        send(&self.out, WatchResponse { canceled: true, compact_revision, ..self.answer(head) }).await?;
        self.commands.close();
        while let Some(command) = self.commands.recv().await {
            if let Command::Progress(progress) = command {
                self.asked = Some(progress);
            }
        }
        match self.asked {
            Some(asked) => release(asked, &self.out).await,
            None => Ok(()),
        }
    }

    async fn deliver(&mut self, batch: WatchBatch, ticks: &mut Option<Interval>) -> Result<(), Gone> {
        let WatchBatch { revision, events } = batch;
        let wanted = events.iter().filter(|e| if e.is_delete() { self.deletes } else { self.puts });
        let shown: Vec<proto::Event> = wanted.map(|event| self.show(event)).collect();
        if !shown.is_empty() {
            for piece in pieces(shown, revision, self.fragment) {
                send(&self.out, WatchResponse { watch_id: self.id, ..piece }).await?;
            }
            self.tell_progress = false;
            if let Some(ticks) = ticks {
                ticks.reset();
            }
        } else if self.tell_progress {
            self.tell_progress = false;
            send(&self.out, self.answer(revision)).await?;
        }
        (self.seen, self.next) = (revision, revision + 1);
        self.check_progress().await
    }

    fn show(&self, event: &Event) -> proto::Event {
        let prev = if self.prev_kv { event.prev.clone() } else { None };
        Event { kv: event.kv.clone(), prev }.into()
    }

    async fn check_progress(&mut self) -> Result<(), Gone> {
        match self.asked.take_if(|asked| asked.revision <= self.seen) {
            Some(asked) => release(asked, &self.out).await,
            None => Ok(()),
        }
    }
}

async fn tick(ticks: &mut Option<Interval>) {
    match ticks {
        Some(ticks) => drop(ticks.tick().await),
        None => std::future::pending().await,
    }
}

/// Events, of whole revisions up to `revision`, in answers of about [`PIECE`]. They are cut between
/// revisions, and, for clients that can put them together again (`fragment`), within.
fn pieces(events: Vec<proto::Event>, revision: i64, fragment: bool) -> Vec<WatchResponse> {
    let revision_of = |event: &proto::Event| event.kv.as_ref().map_or(0, |kv| kv.mod_revision);
    let mut pieces: Vec<WatchResponse> = Vec::new();
    let (mut size, mut last) = (0, 0);
    for event in events {
        let (now, len) = (revision_of(&event), event.encoded_len());
        let same = now == last;
        match pieces.last_mut() {
            Some(piece) if size + len <= PIECE || same && !fragment => piece.events.push(event),
            previous => {
                if let Some(piece) = previous {
                    piece.fragment = same;
                    piece.header = header(last);
                }
                pieces.push(WatchResponse {
                    header: header(revision),
                    events: vec![event],
                    ..WatchResponse::default()
                });
                size = 0;
            }
        }
        (size, last) = (size + len, now);
    }
    pieces
}
