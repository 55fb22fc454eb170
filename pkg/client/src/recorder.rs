//! Events: what a component did or could not do, for `kubectl describe`.
//!
//! # Guarantees
//! - Recording never waits and never fails: what does not fit into the queue is dropped.
//! - The same event again raises the count of the first one. More than ten different messages of
//!   one reason about one object within ten minutes become one event.
//! - One object gets at most 25 events at once and one every five minutes after that.
//! - What is remembered for this is bounded.

use std::{collections::HashMap, time::Duration};

use jiff::Timestamp;
use k8s_openapi::{
    api::core::v1::{Event, EventSource, ObjectReference},
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time},
};
use kube::{
    Api, Resource,
    api::{Patch, PatchParams, PostParams},
};
use serde_json::json;
use tokio::{sync::mpsc, time::Instant};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::runtime::{describe, is_terminating};

/// Waiting to be written.
const QUEUE: usize = 256;
/// Distinct events and objects remembered.
const REMEMBERED: usize = 1024;
const SIMILAR_MESSAGES: usize = 10;
const SIMILAR_WINDOW: Duration = Duration::from_secs(600);
const BURST: u32 = 25;
const REFILL: Duration = Duration::from_secs(300);
/// The API's limit on the length of a message.
const MESSAGE_LIMIT: usize = 1024;

/// The two types of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventType {
    /// As it should be.
    Normal,
    /// Somebody might want to look.
    Warning,
}

impl EventType {
    fn as_str(self) -> &'static str {
        match self {
            EventType::Normal => "Normal",
            EventType::Warning => "Warning",
        }
    }
}

/// A reference to an object, as events carry it.
pub fn reference<K: Resource<DynamicType = ()>>(object: &K) -> ObjectReference {
    let meta = object.meta();
    ObjectReference {
        api_version: Some(K::api_version(&()).into_owned()),
        kind: Some(K::kind(&()).into_owned()),
        namespace: meta.namespace.clone(),
        name: meta.name.clone(),
        uid: meta.uid.clone(),
        resource_version: meta.resource_version.clone(),
        field_path: None,
    }
}

/// Records events in the name of one component. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Recorder {
    queue: mpsc::Sender<Record>,
}

#[derive(Clone, Debug)]
struct Record {
    about: ObjectReference,
    type_: EventType,
    reason: String,
    message: String,
    at: Timestamp,
}

impl Recorder {
    /// A recorder for `component` (on `host`, for components of a node), writing until `stop`.
    pub fn start(
        client: kube::Client,
        component: &str,
        host: Option<&str>,
        stop: CancellationToken,
        tasks: &TaskTracker,
    ) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let writer = Writer {
            client,
            component: component.to_owned(),
            host: host.map(str::to_owned),
            correlator: Correlator::default(),
        };
        tasks.spawn(async move { stop.run_until_cancelled(writer.run(waiting)).await });
        Recorder { queue }
    }

    /// A recorder that writes nothing: for tests.
    pub fn disabled() -> Self {
        Recorder { queue: mpsc::channel(1).0 }
    }

    /// Records that something happened to the object referred to.
    pub fn event(&self, about: ObjectReference, type_: EventType, reason: &str, message: impl Into<String>) {
        let mut message: String = message.into();
        if message.len() > MESSAGE_LIMIT {
            let end = (0..=MESSAGE_LIMIT).rev().find(|i| message.is_char_boundary(*i)).unwrap_or(0);
            message.truncate(end);
        }
        let record = Record { about, type_, reason: reason.to_owned(), message, at: Timestamp::now() };
        if self.queue.try_send(record).is_err() {
            tracing::debug!(reason, "event dropped: too many are waiting");
        }
    }
}

struct Writer {
    client: kube::Client,
    component: String,
    host: Option<String>,
    correlator: Correlator,
}

impl Writer {
    async fn run(mut self, mut waiting: mpsc::Receiver<Record>) {
        while let Some(record) = waiting.recv().await {
            if let Err(error) = self.write(record).await
                && !is_terminating(&error)
            {
                tracing::debug!(error = describe(&error), "event not written");
            }
        }
    }

    async fn write(&mut self, record: Record) -> Result<(), kube::Error> {
        let Some((record, seen)) = self.correlator.correlate(record, Instant::now()) else { return Ok(()) };
        let namespace = record.about.namespace.as_deref().filter(|n| !n.is_empty()).unwrap_or("default");
        let api: Api<Event> = Api::namespaced(self.client.clone(), namespace);
        if let Some(name) = &seen.name {
            let patch = json!({ "count": seen.count, "lastTimestamp": record.at, "message": record.message });
            match api.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await {
                // Expired or deleted: begin anew.
                Err(kube::Error::Api(status)) if status.code == 404 => {}
                other => return other.map(|_| ()),
            }
        }
        let event = self.make(&record, namespace);
        let name = event.metadata.name.clone();
        api.create(&PostParams::default(), &event).await?;
        self.correlator.written(&record, name);
        Ok(())
    }

    fn make(&self, record: &Record, namespace: &str) -> Event {
        let about = record.about.name.as_deref().unwrap_or_default();
        let unique = record.at.as_nanosecond() as u64 ^ u64::from(rand::random::<u16>());
        Event {
            metadata: ObjectMeta {
                name: Some(format!("{about}.{unique:016x}")),
                namespace: Some(namespace.to_owned()),
                ..ObjectMeta::default()
            },
            involved_object: record.about.clone(),
            reason: Some(record.reason.clone()),
            message: Some(record.message.clone()),
            source: Some(EventSource { component: Some(self.component.clone()), host: self.host.clone() }),
            first_timestamp: Some(Time(record.at)),
            last_timestamp: Some(Time(record.at)),
            count: Some(1),
            type_: Some(record.type_.as_str().to_owned()),
            reporting_component: Some(self.component.clone()),
            reporting_instance: Some(self.host.clone().unwrap_or_default()),
            ..Event::default()
        }
    }
}

/// What of an event makes it the same as another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Identity {
    uid: Option<String>,
    kind: Option<String>,
    namespace: Option<String>,
    name: Option<String>,
    field_path: Option<String>,
    type_: EventType,
    reason: String,
}

impl Identity {
    fn of(record: &Record) -> Self {
        let about = &record.about;
        Identity {
            uid: about.uid.clone(),
            kind: about.kind.clone(),
            namespace: about.namespace.clone(),
            name: about.name.clone(),
            field_path: about.field_path.clone(),
            type_: record.type_,
            reason: record.reason.clone(),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Seen {
    /// Of the event in the API, once it is there.
    name: Option<String>,
    count: i32,
}

#[derive(Default)]
struct Correlator {
    seen: HashMap<(Identity, String), Seen>,
    /// Distinct messages, and when the first of them came.
    similar: HashMap<Identity, (Vec<String>, Instant)>,
    /// To each object: events it may still get, and since when that count holds.
    allowance: HashMap<(Option<String>, Option<String>), (u32, Instant)>,
}

impl Correlator {
    /// The record to write, its message perhaps replaced, and what was written of it before.
    fn correlate(&mut self, mut record: Record, now: Instant) -> Option<(Record, Seen)> {
        let object = (record.about.uid.clone(), record.about.name.clone());
        if self.allowance.len() >= REMEMBERED && !self.allowance.contains_key(&object) {
            self.allowance.clear();
        }
        let (left, since) = self.allowance.entry(object).or_insert((BURST, now));
        let refilled = (now.duration_since(*since).as_secs() / REFILL.as_secs()) as u32;
        if refilled > 0 {
            *left = left.saturating_add(refilled).min(BURST);
            *since += REFILL * refilled;
        }
        *left = left.checked_sub(1)?;

        let identity = Identity::of(&record);
        if self.similar.len() >= REMEMBERED && !self.similar.contains_key(&identity) {
            self.similar.clear();
        }
        let (messages, first) = self.similar.entry(identity.clone()).or_insert_with(|| (Vec::new(), now));
        if now.duration_since(*first) > SIMILAR_WINDOW {
            messages.clear();
            *first = now;
        }
        let mut message = record.message.clone();
        if !messages.contains(&record.message) {
            if messages.len() < SIMILAR_MESSAGES {
                messages.push(record.message.clone());
            } else {
                record.message = format!("(combined from similar events): {}", record.message);
                // All of them count as one.
                message = String::new();
            }
        }
        if self.seen.len() >= REMEMBERED {
            self.seen.clear();
        }
        let seen = self.seen.entry((identity, message)).or_default();
        seen.count += 1;
        Some((record, seen.clone()))
    }

    fn written(&mut self, record: &Record, name: Option<String>) {
        let identity = Identity::of(record);
        let combined = record.message.starts_with("(combined from similar events)");
        let message = if combined { String::new() } else { record.message.clone() };
        self.seen.insert((identity, message), Seen { name, count: 1 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(name: &str, message: &str) -> Record {
        Record {
            about: ObjectReference { name: Some(name.to_owned()), ..ObjectReference::default() },
            type_: EventType::Normal,
            reason: "Tested".to_owned(),
            message: message.to_owned(),
            at: Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn the_same_again_raises_the_count_of_what_is_there() {
        let mut correlator = Correlator::default();
        let now = Instant::now();
        let (written, seen) = correlator.correlate(record("a", "m"), now).expect("passes");
        assert_eq!(seen, Seen { name: None, count: 1 });
        correlator.written(&written, Some("a.1".to_owned()));
        let (_, seen) = correlator.correlate(record("a", "m"), now).expect("passes");
        assert_eq!(seen, Seen { name: Some("a.1".to_owned()), count: 2 });
        let (_, other) = correlator.correlate(record("b", "m"), now).expect("passes");
        assert_eq!(other.name, None);
    }

    #[test]
    fn many_messages_become_one_event() {
        let mut correlator = Correlator::default();
        let now = Instant::now();
        for n in 0..10 {
            let (written, _) = correlator.correlate(record("a", &format!("m{n}")), now).expect("passes");
            assert_eq!(written.message, format!("m{n}"));
        }
        let (written, _) = correlator.correlate(record("a", "m10"), now).expect("passes");
        assert_eq!(written.message, "(combined from similar events): m10");
        correlator.written(&written, Some("a.1".to_owned()));
        let (_, seen) = correlator.correlate(record("a", "m11"), now).expect("passes");
        assert_eq!(seen, Seen { name: Some("a.1".to_owned()), count: 2 });
    }

    #[test]
    fn one_object_cannot_flood() {
        let mut correlator = Correlator::default();
        let start = Instant::now();
        let passed = (0..100).filter(|_| correlator.correlate(record("a", "m"), start).is_some()).count();
        assert_eq!(passed, 25);
        assert!(correlator.correlate(record("b", "m"), start).is_some());
        assert!(correlator.correlate(record("a", "m"), start + REFILL).is_some());
        assert!(correlator.correlate(record("a", "m"), start + REFILL).is_none());
    }
}
