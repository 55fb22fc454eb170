//! The one way of a request: who asks → is there room → may they → which kind → the verb → how it is written.

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, OnceLock},
    time::Duration,
};

use api::{
    Kind, Kinds, Status, UserInfo,
    kinds::{Action, Verbs},
};
use bytes::Bytes;
use futures::FutureExt as _;
use http::{HeaderMap, HeaderValue, Method, Request, Response, request::Parts};
use hyper::upgrade::OnUpgrade;
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tower::{BoxError, ServiceExt as _};
use tracing::Instrument as _;

use crate::{
    auth::{Question, authn},
    body::{self, Body},
    call::Call,
    components, compress, connect,
    flow::{Class, Seat},
    metrics::Labels,
    negotiate::{self, Offer},
    nonresource, proxy,
    query::Query,
    reply::{self, Reply},
    request_info::RequestInfo,
    reviews,
    server::Server,
    table,
    verbs::{create, delete, patch, read, subresource, update, watch},
};

const AUDIT_ID: &str = "audit-id";
/// Requests other than watches and streams are given up after this long.
const TIMEOUT: Duration = Duration::from_secs(60);
/// How long a request waits for its turn when too many are under way.
const QUEUE: Duration = Duration::from_secs(10);

/// Paths that others answer: the assembly adds joining and the like. They see a request before it
/// is authenticated, with the peer's [`UserInfo`] as an extension if the connection has one.
#[derive(Clone)]
pub struct Extra {
    /// Requests whose path begins so.
    pub prefix: &'static str,
    /// Answers them.
    pub router: axum::Router,
}

/// Answers a request. Never fails, and contains panics.
pub async fn handle<B>(server: Arc<Server>, request: Request<B>) -> Response<Body>
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let (mut parts, body) = request.into_parts();
    let query = Query::parse(parts.uri.query());
    let info = RequestInfo::parse(&parts.method, parts.uri.path(), &query);
    let span = tracing::debug_span!("request", verb = info.verb, path = parts.uri.path());
    let verb = info.verb;
    let encoding = negotiate::accept(&parts.headers, Offer::ALL).unwrap_or_default().encoding;
    // What comes from kubelets and proxied servers is passed on as it is.
    let gzip = negotiate::takes_gzip(&parts.headers) && info.subresource.is_empty() && verb != "watch";
    let audit_id = audit_id(&parts.headers);
    let upgrade = parts.extensions.remove::<OnUpgrade>();
    let held = Held::default();
    let labels = counted_as(&server, &parts, &query, &info);
    let long = verb == "watch" || connects(&server.kinds(), &info);
    let under_way = (!long).then(|| server.metrics.began(&labels));
    let answer = async {
        match stages(&server, parts, body, query, info, upgrade, &held).await {
            Ok(response) if gzip => Ok(compress::gzip(response, verb == "list").await),
            answer => answer,
        }
    };
    let mut response = match AssertUnwindSafe(answer.instrument(span)).catch_unwind().await {
        Ok(Ok(response)) => response,
        Ok(Err(status)) => {
            if status.code >= 500 {
                tracing::info!(verb, code = status.code, message = status.message, "request failed");
            }
            reply::error_response(&status, encoding)
        }
        Err(_) => {
            server.metrics.panics.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            tracing::error!(verb, "the handling of a request panicked");
            reply::error_response(&Status::internal("the handling of the request panicked"), encoding)
        }
    };
    if let Some(class) = held.class.get() {
        class.tell(response.headers_mut());
    }
    response.headers_mut().entry(AUDIT_ID).or_insert(audit_id);
    drop(under_way);
    server.metrics.answered(labels, response.status().as_u16());
    response
}

/// What a request goes by in logs of audits: as the client says, or a name of its own. Sent back with the answer.
fn audit_id(headers: &HeaderMap) -> HeaderValue {
    let sent = headers.get(AUDIT_ID).filter(|id| !id.is_empty()).cloned();
    let own = || HeaderValue::from_str(&uuid::Uuid::new_v4().to_string());
    sent.or_else(|| own().ok()).unwrap_or(HeaderValue::from_static("unknown"))
}

/// What a request holds until its answer is made, compressed if it is.
#[derive(Default)]
struct Held {
    class: OnceLock<Class>,
    seat: OnceLock<Seat>,
}

/// What a request is counted as.
fn counted_as(server: &Server, parts: &Parts, query: &Query, info: &RequestInfo) -> Labels {
    let kinds = server.kinds();
    let kind = kinds.by_resource(&info.group, &info.version, &info.resource).filter(|_| info.resource_request);
    let connects = connects(&kinds, info) && info.subresource != "log";
    let media = parts.headers.get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let applies = info.verb == "patch" && media.is_some_and(|media| media.starts_with("application/apply-patch"));
    Labels::new(info, kind, connects, applies, query.text("dryRun").is_some())
}

async fn stages<B>(
    server: &Arc<Server>,
    parts: Parts,
    body: B,
    query: Query,
    info: RequestInfo,
    upgrade: Option<OnUpgrade>,
    held: &Held,
) -> Result<Response<Body>, Status>
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    if let Some(extra) = server.extra.iter().find(|extra| info.path.starts_with(extra.prefix)) {
        return bounded(&server.extra_in_flight, elsewhere(extra, parts, body)).await;
    }
    let peer = parts.extensions.get::<UserInfo>().cloned();
    let user = authn::authenticate(server, peer, &parts.headers, &info.path).await?;
    let kinds = server.kinds();
    let question = Question::of(&info, &query);
    let found = server.flow.classify(&kinds, &user, &question).await?;
    let found = held.class.get_or_init(|| found);
    // Streams are not counted; watches are until they have begun.
    if !connects(&kinds, &info) {
        let seat = server.flow.seat(found, &user, &question).await?;
        held.seat.get_or_init(|| seat);
    }
    if !authn::is_always_allowed(&info.path) || info.resource_request {
        server.authorizer.check(&kinds, &user, &question).await?;
    }
    if !info.resource_request {
        if !matches!(parts.method, Method::GET | Method::HEAD) {
            return Err(Status::method_not_allowed());
        }
        return timed(TIMEOUT, nonresource::handle(server, &info.path, &query, &parts.headers)).await;
    }
    let (kinds, kind) = match row(&kinds, &info) {
        Some(kind) => (kinds, kind),
        None => {
            // A definition may have been established a moment ago, perhaps by another server.
            let kinds = server.definitions.newest(server).await?;
            let kind = row(&kinds, &info).ok_or_else(Status::no_such_path)?;
            (kinds, kind)
        }
    };
    let below = kind.subresource(&info.subresource);
    let proxies = below.is_some_and(|s| s.action == Action::Connect && s.name == "proxy");
    let streams = !proxies && below.is_some_and(|s| subresource::streams(&s.action, &parts.method));
    // The verb that was authorized must be one of the subresource. A proxy passes OPTIONS on, which is none.
    if below.is_some_and(|s| !s.verbs().contains(&info.verb)) && !(proxies && info.verb.is_empty()) {
        return Err(Status::method_not_allowed());
    }
    let deadline = time_limit(&query)?;
    let long = streams || proxies || info.verb == "watch";
    let method = parts.method.clone();
    let answer = async {
        let body = if streams { Bytes::new() } else { body::read(body).await? };
        let call = call(server, kinds, kind, info, query, user, parts, body)?;
        if let Some(deprecation) = call.kind.deprecation() {
            call.warn(deprecation);
        }
        let reply = match streams {
            true => Reply::Raw(connect::handle(&call, &method, upgrade).await?),
            false if proxies => Reply::Raw(proxy::handle(&call, &method, upgrade).await?),
            false => route(&call).await?,
        };
        let mut response = reply::write(reply, &call.kind, call.accepted, call.table)?;
        reply::warn(&mut response, call.warnings.lock().all());
        Ok(response)
    };
    if long { answer.await } else { timed(deadline, answer).await }
}

/// Whether a request is for a subresource whose connections last as long as the client likes.
fn connects(kinds: &Kinds, info: &RequestInfo) -> bool {
    let kind = kinds.by_resource(&info.group, &info.version, &info.resource).filter(|_| info.resource_request);
    kind.and_then(|kind| kind.subresource(&info.subresource)).is_some_and(|s| s.action == Action::Connect)
}

/// How long a request may take: what the client says, but no longer than the server lets it.
fn time_limit(query: &Query) -> Result<Duration, Status> {
    let Some(text) = query.text("timeout") else { return Ok(TIMEOUT) };
    match duration(text) {
        Some(Duration::ZERO) => Ok(TIMEOUT),
        Some(wanted) => Ok(wanted.min(TIMEOUT)),
        None => Err(Status::bad_request(format!(
            "invalid timeout specified in the request URL - time: invalid duration {text:?}"
        ))),
    }
}

/// A duration as Go writes it: `1m30s`, `500ms`, `1.5h`.
fn duration(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let (mut rest, mut seconds) = (text, 0.0);
    while !rest.is_empty() {
        let number = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let value: f64 = rest[..number].parse().ok()?;
        rest = &rest[number..];
        let unit = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        let scale = match &rest[..unit] {
            "ns" => 1e-9,
            "us" | "µs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        seconds += value * scale;
        rest = &rest[unit..];
    }
    (!text.is_empty()).then(|| Duration::try_from_secs_f64(seconds).ok())?
}

/// The row that a request is for.
fn row(kinds: &Kinds, info: &RequestInfo) -> Option<Arc<Kind>> {
    let row = kinds.by_resource(&info.group, &info.version, &info.resource)?;
    let there = row.namespaced || info.namespace.is_empty() || &*row.plural == "namespaces";
    there.then(|| row.clone())
}

/// Runs a request within the limits of time and number: `places` has one for each that may be under way.
async fn bounded(
    places: &Semaphore,
    answer: impl Future<Output = Result<Response<Body>, Status>>,
) -> Result<Response<Body>, Status> {
    let permit = match places.try_acquire() {
        Ok(permit) => permit,
        Err(_) => match tokio::time::timeout(QUEUE, places.acquire()).await {
            Ok(Ok(permit)) => permit,
            _ => {
                let mut status = Status::too_many_requests("too many requests, please try again later");
                status.details = serde_json::json!({"retryAfterSeconds": 1});
                return Err(status);
            }
        },
    };
    let answer = timed(TIMEOUT, answer).await;
    drop(permit);
    answer
}

/// Runs a request within a time.
async fn timed(
    limit: Duration,
    answer: impl Future<Output = Result<Response<Body>, Status>>,
) -> Result<Response<Body>, Status> {
    tokio::time::timeout(limit, answer).await.unwrap_or_else(|_| {
        Err(Status::timeout(
            "the server was unable to return a response in the time allotted, but may still be processing the request",
        ))
    })
}

#[allow(clippy::too_many_arguments)]
fn call(
    server: &Arc<Server>,
    kinds: Arc<Kinds>,
    kind: Arc<Kind>,
    info: RequestInfo,
    query: Query,
    user: UserInfo,
    parts: Parts,
    body: Bytes,
) -> Result<Call, Status> {
    let now = server.now();
    // What is only answered has no metadata to show.
    let offer = Offer { protobuf: api::protobuf::covers(&kind.schema), shapes: kind.verbs != Verbs::CreateOnly };
    let accepted = negotiate::accept(&parts.headers, offer);
    let accepted = match info.verb {
        "get" | "create" if !info.subresource.is_empty() => accepted.unwrap_or_default(),
        _ => accepted?,
    };
    Ok(Call {
        table: table::Options::parse(&query, now.as_second())?,
        server: server.clone(),
        kinds,
        kind,
        info,
        query,
        uri: parts.uri,
        user,
        headers: parts.headers,
        body,
        accepted,
        now,
        warnings: Mutex::default(),
    })
}

async fn elsewhere<B>(extra: &Extra, parts: Parts, body: B) -> Result<Response<Body>, Status>
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    use http_body_util::BodyExt as _;
    let body = body::read(body).await?;
    let request = Request::from_parts(parts, axum::body::Body::from(body));
    let response = match extra.router.clone().oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    };
    Ok(response.map(|body| body.map_err(BoxError::from).boxed_unsync()))
}

/// Sends a request to its verb.
async fn route(call: &Call) -> Result<Reply, Status> {
    let (kind, info) = (&call.kind, &call.info);
    if !info.subresource.is_empty() {
        let subresource = kind.subresource(&info.subresource).ok_or_else(Status::no_such_path)?;
        return subresource::handle(call, &subresource.action).await;
    }
    // Objects are made in a collection, and changed by name.
    let named = !info.name.is_empty();
    if (info.verb == "create" && named) || (matches!(info.verb, "update" | "patch") && !named) {
        return Err(Status::method_not_allowed());
    }
    if kind.verbs == Verbs::CreateOnly {
        return match info.verb {
            "create" => reviews::create(call).await,
            _ => Err(Status::method_not_allowed()),
        };
    }
    if kind.verbs == Verbs::ReadOnly {
        return components::handle(call).await;
    }
    // Writes to a collection name the namespace.
    let everywhere = kind.namespaced && info.namespace.is_empty();
    if !kind.verbs.allows(info.verb) || (everywhere && !matches!(info.verb, "list" | "watch")) {
        return Err(Status::method_not_allowed());
    }
    match info.verb {
        "get" => read::get(call).await,
        "list" => read::list(call).await,
        "watch" => watch::watch(call).await,
        "create" => create::create(call).await,
        "update" => update::update(call, update::Scope::Main).await,
        "patch" => patch::patch(call, update::Scope::Main).await,
        "delete" => delete::delete(call).await,
        "deletecollection" => delete::collection(call).await,
        _ => Err(Status::method_not_allowed()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subresource_named_like_a_stream_took_no_seat() {
        let kinds = api::kinds::builtin();
        for (path, want) in [
            ("/api/v1/namespaces/a/pods/x/log", true),
            ("/api/v1/namespaces/a/pods/x/exec", true),
            ("/api/v1/namespaces/a/services/x/proxy/y", true),
            ("/api/v1/nodes/x/proxy/y", true),
            ("/api/v1/namespaces/a/services/x/exec", false),
            ("/api/v1/namespaces/a/configmaps/x/log", false),
            ("/api/v1/namespaces/a/pods/x/status", false),
            ("/apis/no.such/v1/namespaces/a/things/x/proxy", false),
        ] {
            let info = RequestInfo::parse(&Method::GET, path, &Query::default());
            assert_eq!(connects(&kinds, &info), want, "{path}");
        }
    }

    #[test]
    fn durations_are_read_as_go_writes_them() {
        for (text, want) in [
            ("10s", Some(10_000)),
            ("1m30s", Some(90_000)),
            ("500ms", Some(500)),
            ("1.5h", Some(5_400_000)),
            ("0", Some(0)),
            ("", None),
            ("10", None),
            ("s", None),
            ("-1s", None),
            ("1x", None),
        ] {
            assert_eq!(duration(text).map(|d| d.as_millis()), want, "{text}");
        }
    }
}
