//! watch: a position in the cache's window, turned into a stream of events.
//!
//! # Guarantees
//! - Events come in revision order, each once; what a selector lets in or out becomes ADDED or
//!   DELETED.
//! - With `sendInitialEvents`, or from no or any revision, the current objects come first; with the
//!   former a bookmark marks their end, if bookmarks are allowed.
//! - A watcher that begins before the window, or is too slow for it, gets an ERROR event with
//!   `Expired`, and the end.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use api::{Kind, Status, Value};
use bytes::Bytes;
use futures::Stream;
use http::{HeaderValue, header};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use serde_json::json;
use tokio::{sync::watch, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{read::reach, select::Selection};
use crate::{
    body::Body,
    cache::{Cache, Change, ChangeKind, Object},
    call::Call,
    keys,
    negotiate::{Encoding, Shape},
    protobuf,
    query::{At, ListOptions},
    reply::{self, Reply},
    stored::Stored,
    table,
};

/// Events taken from the window at once.
const BATCH: usize = 64;
/// How often a watcher that asked for bookmarks is told where it is, if anything moved.
const BOOKMARK_EVERY: Duration = Duration::from_secs(60);
/// Watches without a timeout end after this long, and up to twice that, as upstream's.
const LIFETIME: Duration = Duration::from_secs(1800);

/// Watches that may be under way at once.
const WATCHES: i64 = 10_000;

/// Seconds; what is asked for beyond is as good as this, and the clock can count that far.
const FOREVER: u64 = 1 << 32;

/// Answers a watch.
pub async fn watch(call: &Call) -> Result<Reply, Status> {
    let mut options = ListOptions::parse(&call.query, true)?;
    if call.accepted.encoding == Encoding::Yaml {
        return Err(Status::not_acceptable(
            "only the following media types are accepted: application/json;stream=watch, \
             application/vnd.kubernetes.protobuf;stream=watch",
        ));
    }
    let guard = call.server.metrics.watch_began(WATCHES).ok_or_else(too_many)?;
    let cache = call.server.caches.of(call.kinds.stored(&call.kind)).await?;
    let selection = Selection::new(&call.kind, &mut options, &call.info.name, cache.selectable())?;
    // Taken before the row is looked at: it ends with the row.
    let epoch = cache.epoch();
    let current = call.server.serves(&call.kind);
    let reached = match options.at {
        // A revision that is yet to come is waited for as an event, not here.
        At::NotOlder(_) if options.initial_events != Some(true) => *call.server.caches.seen().borrow(),
        at => reach(&call.server.caches, at).await?,
    };
    let scope = store::KeyRange::prefix(keys::scope(&call.kind, call.namespace()));
    let from_now = options.initial_events == Some(false) && matches!(options.at, At::Head | At::Any);
    let initial = options.initial_events == Some(true);
    let subscription = cache.subscribe();
    let initial_state = initial || from_now;
    let (objects, position, revision) = match options.at {
        _ if initial_state => {
            let (page, position) = cache.list_and_follow(&scope);
            let objects = if initial { page.objects } else { Vec::new() };
            (objects, position, page.revision.max(reached))
        }
        At::NotOlder(revision) | At::Exact(revision) => (Vec::new(), cache.position_after(revision), revision),
        At::Head | At::Any => unreachable!("covered by the first arm"),
    };
    let seconds = options.timeout_seconds.filter(|s| *s > 0).map(|s| Duration::from_secs(s.min(FOREVER)));
    let lifetime = seconds.unwrap_or_else(|| LIFETIME.mul_f64(1.0 + rand::random::<f64>()));
    let waiting: VecDeque<Arc<Object>> = objects.into_iter().filter(|object| selection.matches(object)).collect();
    let watcher = Watcher {
        encoder: Encoder {
            kind: call.kind.clone(),
            encoding: call.accepted.encoding,
            shape: call.accepted.shape,
            table: call.table,
            headed: false,
        },
        end_of_initial: initial && options.bookmarks,
        scope,
        selection,
        initial: waiting,
        position,
        after: if initial_state { 0 } else { revision },
        revision,
        bookmarks: options.bookmarks,
        bookmark_at: None,
        seen: call.server.caches.seen(),
        epoch: if current { epoch } else { epoch.wrapping_sub(1) },
        cache,
        subscription,
        deadline: Instant::now() + lifetime,
        stop: call.server.stop.clone(),
        over: false,
    };
    let stream = futures::stream::unfold((watcher, guard), |(mut watcher, guard)| async move {
        let bytes = watcher.next().await?;
        Some((Ok::<_, tower::BoxError>(Frame::data(bytes)), (watcher, guard)))
    });
    let mut response = reply::respond(200, call.accepted.encoding, body(stream));
    if call.accepted.encoding == Encoding::Protobuf {
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(protobuf::STREAM));
    }
    Ok(Reply::Raw(response))
}

fn body(stream: impl Stream<Item = Result<Frame<Bytes>, tower::BoxError>> + Send + 'static) -> Body {
    StreamBody::new(Box::pin(stream)).boxed_unsync()
}

fn too_many() -> Status {
    let mut status = Status::too_many_requests("too many watches are under way, please try again later");
    status.details = json!({"retryAfterSeconds": 1});
    status
}

struct Watcher {
    cache: Arc<Cache>,
    /// The cache's when the watch began.
    epoch: u64,
    scope: store::KeyRange,
    selection: Selection,
    initial: VecDeque<Arc<Object>>,
    end_of_initial: bool,
    position: u64,
    /// Changes up to here are known to the client from the start.
    after: i64,
    /// The newest revision that the client knows to be complete.
    revision: i64,
    bookmarks: bool,
    bookmark_at: Option<Instant>,
    subscription: watch::Receiver<u64>,
    seen: watch::Receiver<i64>,
    deadline: Instant,
    stop: CancellationToken,
    encoder: Encoder,
    over: bool,
}

impl Watcher {
    /// The next piece of the stream; `None` at its end.
    async fn next(&mut self) -> Option<Bytes> {
        if self.over {
            return None;
        }
        let mut out = Vec::new();
        while let Some(object) = self.initial.pop_front() {
            self.encoder.event("ADDED", &object.stored, object.stored.revision, &mut out);
            if out.len() > 64 * 1024 {
                return Some(out.into());
            }
        }
        if std::mem::take(&mut self.end_of_initial) {
            self.encoder.bookmark(self.revision, true, &mut out);
        }
        if !out.is_empty() {
            return Some(out.into());
        }
        loop {
            // Taken before the changes are looked at: all up to here are in them.
            let seen = *self.seen.borrow_and_update();
            let newest = *self.subscription.borrow_and_update();
            let bytes = self.take_changes();
            if bytes.is_some() || self.over {
                return bytes;
            }
            if self.position >= newest {
                self.revision = self.revision.max(seen);
                if self.cache.epoch() != self.epoch {
                    self.over = true;
                    return None;
                }
            }
            match self.wait().await {
                Woken::Changed => {}
                Woken::Bookmark => {
                    let mut out = Vec::new();
                    self.encoder.bookmark(self.revision, false, &mut out);
                    return Some(out.into());
                }
                Woken::Over => {
                    self.over = true;
                    return None;
                }
            }
        }
    }

    async fn wait(&mut self) -> Woken {
        // Bookmarks are timed only where they were asked for, and only once something has moved
        // elsewhere: a watcher on an idle cluster sleeps.
        let due = self.bookmark_at;
        let bookmark = async move {
            match due {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        let idle = self.bookmarks && due.is_none();
        tokio::select! {
            changed = self.subscription.changed() => if changed.is_ok() { Woken::Changed } else { Woken::Over },
            _ = self.seen.changed(), if idle => {
                self.bookmark_at = Some(Instant::now() + BOOKMARK_EVERY);
                Woken::Changed
            }
            () = bookmark => {
                self.bookmark_at = None;
                Woken::Bookmark
            }
            () = tokio::time::sleep_until(self.deadline) => Woken::Over,
            () = self.stop.cancelled() => Woken::Over,
        }
    }

    /// Encodes what is new in the window.
    fn take_changes(&mut self) -> Option<Bytes> {
        let mut single: Option<Bytes> = None;
        let mut out = Vec::new();
        loop {
            let changes = match self.cache.changes(self.position, BATCH) {
                Ok(changes) => changes,
                Err(old) => {
                    self.over = true;
                    let message = format!("too old resource version: {} ({})", self.revision, old.floor);
                    self.encoder.write("ERROR", &Status::expired(message).to_value(), &mut out);
                    return Some(out.into());
                }
            };
            if changes.is_empty() {
                break;
            }
            self.position += changes.len() as u64;
            for change in changes {
                // The cache may take in only now what the client has seen already.
                if change.revision <= self.after || !self.scope.contains(&change.object.key) {
                    continue;
                }
                self.revision = self.revision.max(change.revision);
                let Some(bytes) = self.encode(&change) else { continue };
                if let Some(first) = single.take() {
                    out.extend_from_slice(&first);
                }
                if out.is_empty() {
                    single = Some(bytes);
                } else {
                    out.extend_from_slice(&bytes);
                }
            }
            if out.len() > 64 * 1024 {
                break;
            }
        }
        single.or_else(|| (!out.is_empty()).then(|| out.into()))
    }

    /// The event that a change is to this watcher; `None` if it is none.
    fn encode(&mut self, change: &Change) -> Option<Bytes> {
        let now = change.kind == ChangeKind::Applied && self.selection.matches(&change.object);
        let before = match change.kind {
            ChangeKind::Applied => change.previous.as_ref().is_some_and(|old| self.selection.matches(old)),
            ChangeKind::Deleted => self.selection.matches(&change.object),
        };
        let (name, stored) = match (before, now) {
            (false, false) => return None,
            (false, true) => ("ADDED", &change.object.stored),
            (true, true) => ("MODIFIED", &change.object.stored),
            (true, false) => ("DELETED", &change.previous.as_ref().unwrap_or(&change.object).stored),
        };
        let shared = self.selection.is_all() && self.encoder.shape == Shape::Plain;
        let protobuf = self.encoder.encoding == Encoding::Protobuf;
        if shared && let Some(bytes) = change.encoded(&self.encoder.kind, protobuf) {
            return Some(bytes);
        }
        let mut out = Vec::with_capacity(stored.size() + 64);
        self.encoder.event(name, stored, change.revision, &mut out);
        let bytes = Bytes::from(out);
        if shared {
            change.keep_encoded(&self.encoder.kind, protobuf, bytes.clone());
        }
        Some(bytes)
    }
}

enum Woken {
    Changed,
    Bookmark,
    Over,
}

/// Writes events in the shape that the client asked for.
struct Encoder {
    kind: Arc<Kind>,
    encoding: Encoding,
    shape: Shape,
    table: table::Options,
    /// The columns of a table were sent.
    headed: bool,
}

impl Encoder {
    fn event(&mut self, name: &str, stored: &Stored, revision: i64, out: &mut Vec<u8>) {
        let stored = match stored.served(&self.kind) {
            Ok(stored) => stored,
            Err(error) => return self.write("ERROR", &Status::from(error).to_value(), out),
        };
        if self.encoding == Encoding::Protobuf {
            match protobuf::object(&self.kind, &stored, self.shape, revision) {
                Ok(object) => api::protobuf::event(name, &object, out),
                Err(status) => self.write("ERROR", &status.to_value(), out),
            }
            return;
        }
        out.extend_from_slice(b"{\"type\":\"");
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\",\"object\":");
        if self.shape == Shape::Plain {
            stored.write_at(revision, out);
        } else {
            let object = stored.tree().map(|tree| self.shaped(tree, revision));
            let object = object.unwrap_or_else(|error| Status::from(error).to_value());
            out.extend_from_slice(object.to_string().as_bytes());
        }
        out.extend_from_slice(b"}\n");
    }

    fn shaped(&mut self, mut tree: Value, revision: i64) -> Value {
        tree["metadata"]["resourceVersion"] = revision.to_string().into();
        match self.shape {
            Shape::Plain | Shape::AggregatedDiscovery => tree,
            Shape::Metadata(meta) => reply::partial(tree, meta),
            Shape::Table(meta) => {
                let metadata = json!({"resourceVersion": revision.to_string()});
                let columns = !std::mem::replace(&mut self.headed, true);
                let options = self.table.at(jiff::Timestamp::now().as_second());
                table::make(&self.kind, std::slice::from_ref(&tree), &metadata, options.of(meta), columns)
            }
        }
    }

    fn bookmark(&mut self, revision: i64, end_of_initial: bool, out: &mut Vec<u8>) {
        let mut metadata = json!({"resourceVersion": revision.to_string(), "creationTimestamp": null});
        if end_of_initial {
            metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        let object = json!({"kind": &*self.kind.kind, "apiVersion": self.kind.api_version(), "metadata": metadata});
        let object = match self.shape {
            Shape::Plain | Shape::AggregatedDiscovery => object,
            Shape::Metadata(meta) => reply::partial(object, meta),
            Shape::Table(meta) => {
                // The row carries the bookmark's metadata; it has no cells.
                let row = json!({"cells": [], "object": reply::partial(object, meta)});
                let metadata = json!({"resourceVersion": revision.to_string()});
                let columns = !std::mem::replace(&mut self.headed, true);
                let mut made = table::make(&self.kind, &[], &metadata, self.table.of(meta), columns);
                made["rows"] = json!([row]);
                made
            }
        };
        self.write("BOOKMARK", &object, out);
    }

    /// An event of a tree.
    fn write(&self, name: &str, object: &Value, out: &mut Vec<u8>) {
        if self.encoding == Encoding::Protobuf {
            let object = api::protobuf::encode_object(object);
            return api::protobuf::event(name, &object.unwrap_or_default(), out);
        }
        out.extend_from_slice(json!({"type": name, "object": object}).to_string().as_bytes());
        out.push(b'\n');
    }
}
