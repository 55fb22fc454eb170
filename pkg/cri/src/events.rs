//! What happens to containers and sandboxes, as a stream. Nothing is polled.
//!
//! containerd is asked for its own events, other runtimes for those of CRI. A consumer looks at the pod again when an
//! event names it, and at all pods on [`Event::Resync`].
//!
//! Guarantees: the first event is a `Resync`, and so is the first after every gap: what changed during it is not
//! lost. An exit or an OOM kill is told when CRI reports it too; containerd's own event comes milliseconds
//! before that, and who looked at once would see the old state. Where CRI takes longer, it is told after two seconds
//! and an exit once more when CRI has caught up. Exits of `exec` commands are not told.
//! Caveat: one change may be told more than once.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use containerd_client::events as payload;
use containerd_client::services::v1::events_client::EventsClient;
use containerd_client::services::v1::version_client::VersionClient;
use containerd_client::services::v1::{PublishRequest, SubscribeRequest};
use containerd_client::types::Envelope;
use prost::Message;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tonic::transport::Channel;
use tonic::{Code, Status, Streaming};

use crate::connection::{Cri, channel};
use crate::images::store::request;
use crate::v1;

/// Events that may wait for the consumer.
const QUEUE: usize = 256;
/// What is published to learn that a subscription is in effect.
const GREETING: &str = "/kinglet/subscribed";
/// The containerd events that are of interest.
const TOPICS: [&str; 6] =
    [GREETING, "/tasks/start", "/tasks/exit", "/tasks/oom", "/containers/create", "/containers/delete"];
/// Pauses between attempts to reconnect.
const BACKOFF: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(5)];
/// An event that CRI does not report after this time is told all the same.
const TOLD: Duration = Duration::from_secs(2);
/// CRI is asked about an exit for so long, with pauses that double from a millisecond.
const ASKED: Duration = Duration::from_secs(240);
/// The longest that CRI may take for one answer.
const ANSWER: Duration = Duration::from_secs(2);

/// Something happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A container or a sandbox changed.
    Change(Change),
    /// The stream begins, or begins again after a gap: everything may have changed.
    Resync,
}

/// A change of one container or sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// ID of the container, or of the sandbox itself.
    pub id: String,
    /// ID of the sandbox, where the runtime told it.
    pub sandbox: Option<String>,
    /// What happened.
    pub kind: Kind,
    /// When, by the runtime's clock.
    pub time: SystemTime,
}

/// What happened to a container or sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// It was made.
    Created,
    /// Its process runs.
    Started,
    /// Its process ended.
    Stopped,
    /// The kernel killed a process of it for want of memory.
    OutOfMemory,
    /// It was removed.
    Deleted,
}

/// Subscribes to the runtime at `socket`. The stream reconnects by itself and ends with `stop`.
pub fn subscribe(socket: PathBuf, stop: CancellationToken, tasks: &TaskTracker) -> mpsc::Receiver<Event> {
    let (events, receiver) = mpsc::channel(QUEUE);
    tasks.spawn(async move {
        let work = follow(&socket, events);
        tokio::select! {
            () = stop.cancelled() => {}
            () = work => {}
        }
    });
    receiver
}

/// Returns when the containerd at `socket` is gone, or the connection to it.
pub async fn until_gone(socket: &Path) {
    let watch = async {
        // A stream without events: only its end is of interest.
        let filters = vec!["topic==\"/kinglet/never\"".to_owned()];
        let mut client = EventsClient::new(channel(socket).await.ok()?);
        let mut stream = client.subscribe(request(SubscribeRequest { filters })).await.ok()?.into_inner();
        while stream.message().await.ok()?.is_some() {}
        Some(())
    };
    watch.await;
}

/// Follows the runtime until the receiver is gone.
async fn follow(socket: &Path, events: mpsc::Sender<Event>) {
    let mut pause = BACKOFF[0];
    while !events.is_closed() {
        let result = async {
            let channel = channel(socket).await.map_err(|error| Status::unavailable(error.to_string()))?;
            match VersionClient::new(channel.clone()).version(request(())).await {
                Ok(_) => from_containerd(channel, &events, &mut pause).await,
                Err(status) if status.code() == Code::Unimplemented => from_cri(channel, &events, &mut pause).await,
                Err(status) => Err(status),
            }
        };
        if let Err(status) = result.await {
            tracing::info!(%status, socket = %socket.display(), "the runtime's events ended; reconnecting");
        }
        tokio::select! {
            () = events.closed() => return,
            () = tokio::time::sleep(pause) => {}
        }
        pause = (pause * 2).min(BACKOFF[1]);
    }
}

async fn from_containerd(channel: Channel, events: &mpsc::Sender<Event>, pause: &mut Duration) -> Result<(), Status> {
    let mut stream = subscribed(&channel).await?;
    *pause = BACKOFF[0];
    if events.send(Event::Resync).await.is_err() {
        return Ok(());
    }
    let cri = Cri::new(channel);
    while let Some(envelope) = stream.message().await? {
        let Some(change) = change_of(&envelope) else { continue };
        match change.kind {
            Kind::Stopped | Kind::OutOfMemory => {
                let (cri, asked) = (cri.clone(), change.clone());
                tokio::spawn(tell(events.clone(), change, move || reported(cri.clone(), asked.clone())));
            }
            _ if events.send(Event::Change(change)).await.is_err() => return Ok(()),
            _ => {}
        }
    }
    Err(Status::unavailable("the stream ended"))
}

/// A subscription that is known to be in effect. containerd does not answer to a subscription before there is an
/// event, so a greeting is published until it comes back.
async fn subscribed(channel: &Channel) -> Result<Streaming<Envelope>, Status> {
    let filters = TOPICS.map(|topic| format!("namespace==k8s.io,topic==\"{topic}\"")).to_vec();
    let mut client = EventsClient::new(channel.clone());
    let mut publisher = client.clone();
    let subscription = client.subscribe(request(SubscribeRequest { filters }));
    tokio::pin!(subscription);
    let mut pause = Duration::from_millis(2);
    loop {
        tokio::select! {
            response = &mut subscription => return Ok(response?.into_inner()),
            () = tokio::time::sleep(pause) => {}
        }
        let greeting = prost_types::Any { type_url: "containerd.events.TaskOOM".to_owned(), value: Vec::new() };
        let message = PublishRequest { topic: GREETING.to_owned(), event: Some(greeting) };
        publisher.publish(request(message)).await?;
        pause = (pause * 2).min(Duration::from_secs(1));
    }
}

/// Reads a containerd event; none if it is of no interest.
fn change_of(envelope: &Envelope) -> Option<Change> {
    let event = envelope.event.as_ref()?;
    let bytes = event.value.as_slice();
    let (id, kind) = match envelope.topic.as_str() {
        "/tasks/start" => (payload::TaskStart::decode(bytes).ok()?.container_id, Kind::Started),
        "/tasks/oom" => (payload::TaskOom::decode(bytes).ok()?.container_id, Kind::OutOfMemory),
        "/containers/create" => (payload::ContainerCreate::decode(bytes).ok()?.id, Kind::Created),
        "/containers/delete" => (payload::ContainerDelete::decode(bytes).ok()?.id, Kind::Deleted),
        "/tasks/exit" => {
            let exit = payload::TaskExit::decode(bytes).ok()?;
            if exit.id != exit.container_id {
                return None;
            }
            (exit.container_id, Kind::Stopped)
        }
        _ => return None,
    };
    let time = envelope.timestamp.and_then(|time| SystemTime::try_from(time).ok());
    Some(Change { id, sandbox: None, kind, time: time.unwrap_or_else(SystemTime::now) })
}

/// Tells an exit or OOM kill once CRI reports it. If that takes long it is told before, and an exit then again.
async fn tell<F: Future<Output = bool>>(events: mpsc::Sender<Event>, change: Change, mut reported: impl FnMut() -> F) {
    let (start, mut pause, mut told) = (tokio::time::Instant::now(), Duration::from_millis(1), false);
    // The consumer may be gone.
    while !events.is_closed() && start.elapsed() < ASKED {
        if tokio::time::timeout(ANSWER, reported()).await == Ok(true) {
            break;
        }
        if !told && start.elapsed() >= TOLD {
            told = events.send(Event::Change(change.clone())).await.is_ok();
            // Without an exit an OOM kill may stay unreported: the killed process was not the container's own.
            if change.kind == Kind::OutOfMemory {
                return;
            }
        }
        tokio::time::sleep(pause).await;
        pause *= 2;
    }
    let _ = events.send(Event::Change(change)).await;
}

async fn reported(mut cri: Cri, change: Change) -> bool {
    let container = v1::ContainerStatusRequest { container_id: change.id.clone(), verbose: false };
    match cri.runtime.container_status(container).await {
        Ok(response) => {
            let Some(status) = response.into_inner().status else { return true };
            let exited = status.state() == v1::ContainerState::ContainerExited;
            exited && (change.kind == Kind::Stopped || status.reason == "OOMKilled")
        }
        Err(status) if status.code() == Code::NotFound => {
            let sandbox = v1::PodSandboxStatusRequest { pod_sandbox_id: change.id.clone(), verbose: false };
            match cri.runtime.pod_sandbox_status(sandbox).await {
                Ok(response) => {
                    let status = response.into_inner().status;
                    status.is_none_or(|status| status.state() == v1::PodSandboxState::SandboxNotready)
                }
                // Removed meanwhile: there is nothing to wait for.
                Err(status) => status.code() == Code::NotFound,
            }
        }
        Err(_) => false,
    }
}

async fn from_cri(channel: Channel, events: &mpsc::Sender<Event>, pause: &mut Duration) -> Result<(), Status> {
    let mut cri = Cri::new(channel);
    let subscription = cri.runtime.get_container_events(v1::GetEventsRequest {});
    tokio::pin!(subscription);
    // Runtimes in Go answer with the first event only; no answer within a moment means that there is none yet.
    let early = tokio::time::timeout(Duration::from_millis(200), &mut subscription).await;
    if let Ok(Err(status)) = early {
        return Err(status);
    }
    *pause = BACKOFF[0];
    if events.send(Event::Resync).await.is_err() {
        return Ok(());
    }
    let response = match early {
        Ok(response) => response?,
        Err(_) => subscription.await?,
    };
    let mut stream: Streaming<v1::ContainerEventResponse> = response.into_inner();
    while let Some(event) = stream.message().await? {
        if events.send(Event::Change(change_of_cri(event))).await.is_err() {
            return Ok(());
        }
    }
    Err(Status::unavailable("the stream ended"))
}

fn change_of_cri(event: v1::ContainerEventResponse) -> Change {
    let kind = match event.container_event_type() {
        v1::ContainerEventType::ContainerCreatedEvent => Kind::Created,
        v1::ContainerEventType::ContainerStartedEvent => Kind::Started,
        v1::ContainerEventType::ContainerStoppedEvent => Kind::Stopped,
        v1::ContainerEventType::ContainerDeletedEvent => Kind::Deleted,
    };
    let time = SystemTime::UNIX_EPOCH + Duration::from_nanos(event.created_at.max(0) as u64);
    Change { id: event.container_id, sandbox: event.pod_sandbox_status.map(|sandbox| sandbox.id), kind, time }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn envelope(topic: &str, event: impl Message) -> Envelope {
        let event = prost_types::Any { type_url: String::new(), value: event.encode_to_vec() };
        Envelope { timestamp: None, namespace: "k8s.io".into(), topic: topic.into(), event: Some(event) }
    }

    #[test]
    fn events_name_their_container() {
        let id = || "c1".to_owned();
        let exit = |id: &str| payload::TaskExit { container_id: "c1".into(), id: id.into(), ..Default::default() };
        let table = [
            (envelope("/tasks/exit", exit("c1")), Some(Kind::Stopped)),
            (envelope("/tasks/exit", exit("exec-7")), None),
            (envelope("/tasks/oom", payload::TaskOom { container_id: id() }), Some(Kind::OutOfMemory)),
            (envelope("/tasks/start", payload::TaskStart { container_id: id(), pid: 1 }), Some(Kind::Started)),
            (envelope("/containers/delete", payload::ContainerDelete { id: id() }), Some(Kind::Deleted)),
            (envelope("/images/create", payload::ContainerDelete { id: id() }), None),
        ];
        for (envelope, want) in table {
            let change = change_of(&envelope);
            assert_eq!(change.as_ref().map(|change| change.kind), want, "{envelope:?}");
            assert!(change.is_none_or(|change| change.id == "c1"));
        }
    }

    /// A worker that looked before CRI had caught up with an exit never looked again.
    #[tokio::test(start_paused = true)]
    async fn what_cri_does_not_report_yet_is_told_again() {
        let table = [
            (Kind::Stopped, 0, vec![0]),
            (Kind::Stopped, 3, vec![7]),
            (Kind::Stopped, 14, vec![2047, 16383]),
            (Kind::Stopped, u32::MAX, vec![2047, 262_143]),
            (Kind::OutOfMemory, u32::MAX, vec![2047]),
        ];
        for (kind, denials, want) in table {
            let (events, mut told) = mpsc::channel(QUEUE);
            let change = Change { id: "c1".into(), sandbox: None, kind, time: SystemTime::UNIX_EPOCH };
            let (start, mut left) = (tokio::time::Instant::now(), denials);
            let asked = move || {
                let reported = left == 0;
                left = left.saturating_sub(1);
                async move { reported }
            };
            let teller = tokio::spawn(tell(events, change, asked));
            let mut times = Vec::new();
            while told.recv().await.is_some() {
                times.push(start.elapsed().as_millis());
            }
            teller.await.unwrap();
            assert_eq!(times, want, "{kind:?} {denials}");
        }
    }
}
