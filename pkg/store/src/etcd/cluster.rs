//! The members of an etcd cluster behind one call: connections, and what to do when one fails.
//!
//! # Guarantees
//! - All requests go to one member. When that fails, the next one takes its place.
//! - A read is asked again elsewhere, for [`PATIENCE`] at most. A write is asked again only if it
//!   certainly was not sent; else its caller hears that the outcome is unknown.
//! - A dead peer is noticed within ten seconds, by HTTP/2 pings; a member without a leader refuses.
//! - While no member answers, connections are tried one after the other, with pauses, by one caller
//!   for all.

use std::{
    error::Error as StdError,
    fmt, io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::time::{Instant, timeout};
use tonic::{
    Code, Request, Response, Status,
    service::{Interceptor, interceptor::InterceptedService},
    transport,
};

use super::endpoint::{Connect, Endpoint, Stream};
use crate::{
    Error,
    wire::{self, Asked},
};

/// How long a call is tried again.
pub(super) const PATIENCE: Duration = Duration::from_secs(12);
/// For a connection with its handshakes.
const CONNECT: Duration = Duration::from_secs(4);
/// For the answer to a read. etcd itself gives up after some seconds without a majority.
pub(super) const READ: Duration = Duration::from_secs(5);
/// For the answer to a write, which waits for disks.
const WRITE: Duration = Duration::from_secs(20);
/// Between tries: from the first to the last.
pub(super) const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];
/// After all members were tried in vain, that is the answer for so long.
const IN_VAIN: Duration = Duration::from_millis(200);
/// Pings while something is asked. etcd refuses peers that ping more often than every 5 s, or
/// without a request under way.
const PING: Duration = Duration::from_secs(6);
const PONG: Duration = Duration::from_secs(4);

/// etcd answers at once if it has no leader, and ends watches when it loses it: a member that is cut
/// off from the others would else be silent.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequireLeader;

impl Interceptor for RequireLeader {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        request.metadata_mut().insert("hasleader", tonic::metadata::MetadataValue::from_static("true"));
        Ok(request)
    }
}

/// Where clients send.
pub(super) type Channel = InterceptedService<transport::Channel, RequireLeader>;

/// A connection to a member.
#[derive(Clone)]
pub(super) struct Connection {
    pub(super) channel: Channel,
    pub(super) endpoint: Arc<Endpoint>,
    number: u64,
}

/// What is known of a call that was not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// etcd does not want it: asking again is in vain.
    Refused,
    /// It did not reach etcd, or etcd has not begun with it.
    Unsent,
    /// It may have been done.
    Lost,
}

/// A call that was not answered.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) class: Class,
    pub(super) message: String,
    /// One end does not trust the other's certificate.
    pub(super) distrust: bool,
    status: Status,
}

/// A connection that could not be made, in the chain of an error's sources.
#[derive(Debug)]
struct NotConnected;

impl fmt::Display for NotConnected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the connection is lost")
    }
}

impl StdError for NotConnected {}

/// Texts of etcd that come before it begins with a request.
const NOT_BEGUN: &[&str] = &[
    "etcdserver: no leader",
    "etcdserver: too many requests",
    "etcdserver: not leader",
    "etcdserver: rpc not supported for learner",
];

impl Failure {
    /// Of an answer that is an error.
    pub(super) fn of(status: Status) -> Self {
        let class = match status.code() {
            _ if NOT_BEGUN.contains(&status.message()) => Class::Unsent,
            _ if sources(&status).any(|e| e.is::<NotConnected>() || is_canceled(e)) => Class::Unsent,
            Code::Unavailable | Code::Cancelled | Code::DeadlineExceeded | Code::Unknown | Code::Internal => {
                Class::Lost
            }
            _ => Class::Refused,
        };
        let distrust = sources(&status).any(is_distrust);
        let mut message = status.message().to_owned();
        for source in sources(&status).map(ToString::to_string) {
            if !message.contains(&source) {
                message = format!("{message}: {source}");
            }
        }
        Failure { class, message, distrust, status }
    }

    fn unconnected(message: String, distrust: bool) -> Self {
        Failure { class: Class::Unsent, message, distrust, status: Status::unavailable("") }
    }

    pub(super) fn silent(after: Duration) -> Self {
        let message = format!("no answer within {} s", after.as_secs());
        Failure { class: Class::Lost, message, distrust: false, status: Status::deadline_exceeded("") }
    }
}

fn sources<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(error.source(), |e: &&(dyn StdError + 'static)| (**e).source())
}

/// hyper calls a request so that it has not begun to send.
fn is_canceled(error: &(dyn StdError + 'static)) -> bool {
    error.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_canceled)
}

fn is_distrust(error: &(dyn StdError + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::InvalidData)
}

/// What follows from a failure.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    Again,
    Refused,
    Unavailable,
    Unknown,
}

/// `writes`: doing it twice is not the same as once. `late`: the patience is over.
fn decide(class: Class, writes: bool, late: bool) -> Next {
    match class {
        Class::Refused => Next::Refused,
        Class::Lost if writes => Next::Unknown,
        _ if late => Next::Unavailable,
        _ => Next::Again,
    }
}

#[derive(Default)]
struct State {
    current: Option<Connection>,
    /// Where connecting begins.
    next: usize,
    made: u64,
    /// All members were tried, without success.
    in_vain: Option<(Instant, Failure)>,
}

/// See the module.
pub(super) struct Cluster {
    endpoints: Vec<Arc<Endpoint>>,
    connector: Arc<dyn Connect>,
    state: Mutex<State>,
    /// Held by the one who connects.
    connecting: tokio::sync::Mutex<()>,
    /// Something failed since the last answer.
    troubled: AtomicBool,
}

impl Cluster {
    pub(super) fn new(endpoints: Vec<Endpoint>, connector: Arc<dyn Connect>) -> Self {
        let endpoints = endpoints.into_iter().map(Arc::new).collect();
        Cluster {
            endpoints,
            connector,
            state: Mutex::default(),
            connecting: tokio::sync::Mutex::default(),
            troubled: AtomicBool::new(false),
        }
    }

    /// All endpoints.
    pub(super) fn urls(&self) -> String {
        let urls: Vec<&str> = self.endpoints.iter().map(|e| &*e.url).collect();
        urls.join(",")
    }

    /// For messages.
    pub(super) fn name(&self) -> String {
        format!("etcd at {}", self.urls())
    }

    pub(super) fn len(&self) -> usize {
        self.endpoints.len()
    }

    /// The connection, made if there is none.
    pub(super) async fn connection(&self) -> Result<Connection, Failure> {
        let asked = Instant::now();
        if let Some(current) = self.state.lock().current.clone() {
            return Ok(current);
        }
        let _connecting = self.connecting.lock().await;
        let next = {
            let state = self.state.lock();
            match (&state.current, &state.in_vain) {
                (Some(current), _) => return Ok(current.clone()),
                (None, Some((at, failure))) if *at + IN_VAIN > asked => return Err(failure.clone()),
                _ => state.next,
            }
        };
        let (mut messages, mut distrust) = (Vec::new(), false);
        for at in (next..next + self.endpoints.len()).map(|at| at % self.endpoints.len()) {
            let endpoint = &self.endpoints[at];
            let dialled = timeout(CONNECT, dial(&*self.connector, endpoint)).await;
            match dialled.unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut).into())) {
                Ok(channel) => {
                    let mut state = self.state.lock();
                    let channel = InterceptedService::new(channel, RequireLeader);
                    let connection = Connection { channel, endpoint: endpoint.clone(), number: state.made + 1 };
                    *state = State { current: Some(connection.clone()), next: at, made: state.made + 1, in_vain: None };
                    return Ok(connection);
                }
                Err(error) => {
                    distrust |= is_distrust(&*error) || sources(&*error).any(is_distrust);
                    let mut chain = vec![error.to_string()];
                    chain.extend(sources(&*error).map(ToString::to_string));
                    chain.dedup();
                    messages.push(format!("{endpoint}: {}", chain.join(": ")));
                }
            }
        }
        let failure = Failure::unconnected(messages.join("; "), distrust);
        self.state.lock().in_vain = Some((Instant::now(), failure.clone()));
        self.trouble(&failure, None);
        Err(failure)
    }

    /// A connection has failed: another one shall be made, to the next member first.
    pub(super) fn failed(&self, connection: &Connection, failure: &Failure) {
        let mut state = self.state.lock();
        if state.current.as_ref().is_some_and(|current| current.number == connection.number) {
            state.current = None;
            state.next = (state.next + 1) % self.endpoints.len();
        }
        drop(state);
        self.trouble(failure, Some(&connection.endpoint));
    }

    /// Logged once until there is an answer again.
    fn trouble(&self, failure: &Failure, endpoint: Option<&Endpoint>) {
        let error = match endpoint {
            Some(endpoint) => format!("{endpoint}: {}", failure.message),
            None => failure.message.clone(),
        };
        if self.troubled.swap(true, Ordering::Relaxed) {
            tracing::debug!(%error, "etcd does not answer");
        } else {
            tracing::warn!(%error, "etcd does not answer; trying on");
        }
    }

    /// A member has answered.
    pub(super) fn answered(&self, connection: &Connection) {
        if self.troubled.load(Ordering::Relaxed) && self.troubled.swap(false, Ordering::Relaxed) {
            tracing::info!(endpoint = %connection.endpoint, "etcd answers again");
        }
    }

    /// Asks once, and no longer than `limit`.
    pub(super) async fn once<T, F>(&self, limit: Duration, ask: impl Fn(Channel) -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<Response<T>, Status>>,
    {
        let connection = self.connection().await?;
        let failure = match timeout(limit, ask(connection.channel.clone())).await {
            Ok(Ok(response)) => {
                self.answered(&connection);
                return Ok(response.into_inner());
            }
            Ok(Err(status)) => Failure::of(status),
            Err(_) => Failure::silent(limit),
        };
        if failure.class != Class::Refused {
            self.failed(&connection, &failure);
        }
        Err(failure)
    }

    async fn call<T, F>(&self, writes: bool, asked: Asked, ask: impl Fn(Channel) -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<Response<T>, Status>>,
    {
        let begun = Instant::now();
        let mut pause = PAUSES[0];
        loop {
            let failure = match self.once(if writes { WRITE } else { READ }, &ask).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            let (path, message) = (self.name(), failure.message);
            match decide(failure.class, writes, begun.elapsed() > PATIENCE) {
                Next::Again => tokio::time::sleep(pause).await,
                Next::Refused => return Err(wire::error(&failure.status, asked, &path)),
                Next::Unavailable => return Err(Error::Unavailable { path, message }),
                Next::Unknown => return Err(Error::OutcomeUnknown { path, message }),
            }
            pause = (pause * 2).min(PAUSES[1]);
        }
    }

    /// Asks for what may be asked twice.
    pub(super) async fn read<T, F>(&self, asked: Asked, ask: impl Fn(Channel) -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<Response<T>, Status>>,
    {
        self.call(false, asked, ask).await
    }

    /// Asks for what shall happen once.
    pub(super) async fn write<T, F>(&self, asked: Asked, ask: impl Fn(Channel) -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<Response<T>, Status>>,
    {
        self.call(true, asked, ask).await
    }
}

type BoxError = Box<dyn StdError + Send + Sync>;

/// One connection. It is never made anew behind our back: what could be a second attempt is ours.
async fn dial(connector: &dyn Connect, endpoint: &Endpoint) -> Result<transport::Channel, BoxError> {
    let stream = connector.connect(&endpoint.address).await?;
    let stream: Mutex<Option<Box<dyn Stream>>> = Mutex::new(Some(stream));
    let once = tower::service_fn(move |_| {
        let stream = stream.lock().take();
        async move { stream.map(TokioIo::new).ok_or(NotConnected) }
    });
    // TLS, if any, is within the stream already.
    let settings = transport::Endpoint::from_shared(format!("http://{}", endpoint.authority()))?
        .http2_keep_alive_interval(PING)
        .keep_alive_timeout(PONG)
        .keep_alive_while_idle(false);
    Ok(settings.connect_with_connector(once).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_from_a_failure() {
        for (class, writes, late, wanted) in [
            (Class::Refused, false, false, Next::Refused),
            (Class::Refused, true, true, Next::Refused),
            (Class::Unsent, false, false, Next::Again),
            (Class::Unsent, true, false, Next::Again),
            (Class::Unsent, true, true, Next::Unavailable),
            (Class::Lost, false, false, Next::Again),
            (Class::Lost, false, true, Next::Unavailable),
            (Class::Lost, true, false, Next::Unknown),
            (Class::Lost, true, true, Next::Unknown),
        ] {
            assert_eq!(decide(class, writes, late), wanted, "{class:?} writes={writes} late={late}");
        }
    }

    #[test]
    fn only_what_etcd_has_not_begun_with_counts_as_unsent() {
        for (status, wanted) in [
            (Status::unavailable("etcdserver: no leader"), Class::Unsent),
            (Status::resource_exhausted("etcdserver: too many requests"), Class::Unsent),
            (Status::unavailable("etcdserver: request timed out"), Class::Lost),
            (Status::unavailable("etcdserver: server stopped"), Class::Lost),
            (Status::unavailable("etcdserver: leader changed"), Class::Lost),
            (Status::unknown("transport error"), Class::Lost),
            (Status::out_of_range("etcdserver: mvcc: required revision has been compacted"), Class::Refused),
            (Status::permission_denied("etcdserver: permission denied"), Class::Refused),
        ] {
            assert_eq!(Failure::of(status.clone()).class, wanted, "{status}");
        }
    }
}
