//! Paths that are no resources: health, version, discovery, OpenAPI, metrics and token keys.

use std::{collections::HashMap, sync::Arc};

use api::{Kinds, Status, Value, discovery, openapi};
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use parking_lot::Mutex;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::{
    body::{Body, full},
    metrics::Figures,
    negotiate::{self, Encoding, Offer, Shape},
    query::Query,
    reply::respond,
    server::Server,
};

/// What is remembered of discovery documents.
#[derive(Default)]
pub struct Documents {
    tags: Mutex<Tags>,
}

/// Entity tags for one table of kinds, by path and form.
#[derive(Default)]
struct Tags {
    of: Option<Arc<Kinds>>,
    by_document: HashMap<String, String>,
}

impl Tags {
    fn are_of(&self, kinds: &Arc<Kinds>) -> bool {
        self.of.as_ref().is_some_and(|of| Arc::ptr_eq(of, kinds))
    }
}

/// `v1.37.2+kinglet1`.
pub const GIT_VERSION: &str = concat!("v", env!("CARGO_PKG_VERSION"), "+kinglet1");

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Answers a request whose path is no resource.
pub async fn handle(server: &Server, path: &str, query: &Query, headers: &HeaderMap) -> Result<Response<Body>, Status> {
    let trimmed = path.trim_end_matches('/');
    let segments: Vec<&str> = trimmed.split('/').skip(1).collect();
    match segments.as_slice() {
        ["healthz" | "livez" | "readyz", check @ ..] => health(server, segments[0], &check.join("/"), query).await,
        ["version"] => Ok(json_response(&version())),
        ["metrics"] => Ok(metrics(server)),
        [".well-known", "openid-configuration"] => {
            Ok(json_response(&server.signer.discovery(&server.advertise.to_string())))
        }
        ["openid", "v1", "jwks"] => Ok(json_response(&server.signer.key_set())),
        [] | [""] => Ok(json_response(&root(&server.kinds()))),
        ["openapi", "v2"] => swagger(server, headers),
        ["openapi", "v3", rest @ ..] => openapi_v3(server, rest, query, headers),
        _ => document(server, trimmed, &segments, headers),
    }
}

fn json_response(tree: &Value) -> Response<Body> {
    crate::reply::tree_response(200, Encoding::Json, tree)
}

/// `/version`.
pub fn version() -> Value {
    let mut numbers = env!("CARGO_PKG_VERSION").split('.');
    let (major, minor) = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
    let platform = match std::env::consts::ARCH {
        "x86_64" => "linux/amd64",
        "aarch64" => "linux/arm64",
        other => other,
    };
    json!({
        "major": major, "minor": minor, "gitVersion": GIT_VERSION, "gitCommit": "", "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z", "goVersion": "none", "compiler": "rustc", "platform": platform,
        "emulationMajor": major, "emulationMinor": minor,
        "minCompatibilityMajor": major, "minCompatibilityMinor": minor,
    })
}

fn root(kinds: &Kinds) -> Value {
    let mut paths = vec![
        "/.well-known/openid-configuration".to_owned(),
        "/api".to_owned(),
        "/api/v1".to_owned(),
        "/apis".to_owned(),
    ];
    for kind in kinds.rows().iter().filter(|kind| !kind.group.is_empty()) {
        for path in [format!("/apis/{}", &*kind.group), format!("/apis/{}/{}", &*kind.group, &*kind.version)] {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    let rest =
        ["/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/openid/v1/jwks", "/readyz", "/version"];
    paths.extend(rest.map(str::to_owned));
    json!({"paths": paths})
}

fn text_response(code: u16, text: impl Into<bytes::Bytes>) -> Response<Body> {
    let mut response = respond(code, Encoding::Json, full(text));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    response
}

/// A check of `/healthz` and its siblings, by upstream's name, and where it counts.
type Check = (&'static str, &'static [&'static str]);

const EVERYWHERE: &[&str] = &["healthz", "livez", "readyz"];
/// Checks in upstream's order. Hooks that upstream runs after its start are part of ours.
const CHECKS: [Check; 6] = [
    ("ping", EVERYWHERE),
    ("log", EVERYWHERE),
    ("etcd", EVERYWHERE),
    ("etcd-readiness", &["readyz"]),
    ("informer-sync", &["readyz"]),
    ("shutdown", &["readyz"]),
];

/// Whether each check is well.
async fn checks(server: &Server) -> [(Check, bool); CHECKS.len()] {
    let store = server.store.revision().await.is_ok();
    let seen = store && server.caches.at_head().await.is_ok();
    CHECKS.map(|check| {
        let well = match check.0 {
            "etcd" | "etcd-readiness" => store,
            "informer-sync" => seen,
            "shutdown" => !server.stop.is_cancelled(),
            _ => true,
        };
        (check, well)
    })
}

async fn health(server: &Server, endpoint: &str, check: &str, query: &Query) -> Result<Response<Body>, Status> {
    let checks = checks(server).await;
    let mut checks = checks.into_iter().filter(|((_, places), _)| places.contains(&endpoint));
    if !check.is_empty() {
        let (_, well) = checks.find(|((name, _), _)| *name == check).ok_or_else(Status::no_such_path)?;
        return Ok(match well {
            true => text_response(200, "ok"),
            false => text_response(500, "internal server error: failed\n"),
        });
    }
    let mut excluded: Vec<&str> = query.all("exclude").collect();
    let (mut text, mut well) = (String::new(), true);
    for ((name, _), fine) in checks {
        if let Some(at) = excluded.iter().position(|wanted| *wanted == name) {
            excluded.remove(at);
            text.push_str(&format!("[+]{name} excluded: ok\n"));
            continue;
        }
        well &= fine;
        text.push_str(&if fine { format!("[+]{name} ok\n") } else { format!("[-]{name} failed: reason withheld\n") });
    }
    if !excluded.is_empty() {
        let names: Vec<String> = excluded.iter().map(|name| format!("{name:?}")).collect();
        text.push_str(&format!("warn: some health checks cannot be excluded: no matches for {}\n", names.join(", ")));
    }
    match (well, query.get("verbose").is_some()) {
        (true, false) => Ok(text_response(200, "ok")),
        (true, true) => Ok(text_response(200, format!("{text}{endpoint} check passed\n"))),
        (false, _) => Ok(text_response(500, format!("{text}{endpoint} check failed\n"))),
    }
}

fn metrics(server: &Server) -> Response<Body> {
    let kinds = server.kinds();
    let counts = server.caches.counts();
    let count = |kind: &api::Kind| {
        let count = *counts.get(&crate::keys::prefix(kind))?;
        Some((kind.group.to_string(), kind.plural.to_string(), count))
    };
    let mut objects: Vec<_> = kinds.rows().iter().filter_map(|kind| count(kind)).collect();
    objects.sort();
    objects.dedup();
    let figures = Figures { revision: *server.caches.seen().borrow(), objects, levels: server.flow.figures() };
    let mut response = text_response(200, server.metrics.text(&figures));
    let media = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, media);
    response
}

const JSON: &str = "application/json";
/// How the message of OpenAPI v2 is called, and how it was called before.
const SWAGGER: [&str; 2] = [
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
];

/// `/openapi/v2`, in JSON or protobuf.
fn swagger(server: &Server, headers: &HeaderMap) -> Result<Response<Body>, Status> {
    let offered = [JSON, SWAGGER[0], SWAGGER[1]];
    let media = negotiate::choose(headers, &offered).ok_or_else(|| not_offered(&offered))?;
    let kinds = server.kinds();
    if media == JSON {
        return tagged(server, &kinds, "/openapi/v2", JSON, || Some(openapi::v2(&kinds).to_string().into()), headers);
    }
    tagged(server, &kinds, "/openapi/v2", SWAGGER[0], || Some(openapi::v2_message(&openapi::v2(&kinds))), headers)
}

fn not_offered(offered: &[&str]) -> Status {
    Status::not_acceptable(format!("only the following media types are accepted: {}", offered.join(", ")))
}

/// The index of v3, and its documents: with the right hash in the address they never change, and a
/// wrong one leads to the right one.
fn openapi_v3(server: &Server, rest: &[&str], query: &Query, headers: &HeaderMap) -> Result<Response<Body>, Status> {
    negotiate::choose(headers, &[JSON]).ok_or_else(|| not_offered(&[JSON]))?;
    let kinds = server.kinds();
    let (group, version) = match rest {
        [] => {
            let make = || Some(openapi::v3_index(&kinds).to_string().into());
            return tagged(server, &kinds, "/openapi/v3", JSON, make, headers);
        }
        ["api", version] => ("", *version),
        ["apis", group, version] => (*group, *version),
        _ => return Err(Status::no_such_path()),
    };
    let hash = openapi::v3_hash(&kinds, group, version).ok_or_else(Status::no_such_path)?;
    let asked = query.text("hash");
    if asked.is_some_and(|asked| asked != hash) {
        let mut response = Response::new(full(bytes::Bytes::new()));
        *response.status_mut() = StatusCode::MOVED_PERMANENTLY;
        let address = format!("/openapi/v3/{}?hash={hash}", rest.join("/"));
        response.headers_mut().insert(header::LOCATION, header_value(&address));
        return Ok(response);
    }
    let tag = format!("\"{hash}\"");
    let mut response = if knows(headers, &tag) {
        not_modified(&tag)
    } else {
        let document = openapi::v3(&kinds, group, version).ok_or_else(Status::no_such_path)?;
        with_tag(&tag, JSON, document.to_string())
    };
    let answered = response.headers_mut();
    answered.insert(header::VARY, HeaderValue::from_static("Accept"));
    if asked.is_some() {
        answered.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, immutable"));
        let year = jiff::SignedDuration::from_hours(365 * 24);
        if let Ok(then) = server.now().checked_add(year) {
            answered.insert(header::EXPIRES, header_value(&then.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()));
        }
    }
    Ok(response)
}

/// Discovery, with entity tags.
fn document(server: &Server, path: &str, segments: &[&str], headers: &HeaderMap) -> Result<Response<Body>, Status> {
    let kinds = server.kinds();
    let ["api" | "apis", rest @ ..] = segments else { return Err(Status::no_such_path()) };
    let core = segments[0] == "api";
    let aggregated = rest.is_empty()
        && negotiate::accept(headers, Offer { protobuf: false, shapes: true })?.shape == Shape::AggregatedDiscovery;
    let make = || match (core, rest) {
        (core, []) if aggregated => Some(discovery::aggregated(&kinds, core)),
        (true, []) => Some(discovery::api_versions(&server.advertise.to_string())),
        (true, [version]) => discovery::resources(&kinds, "", version),
        (false, []) => Some(discovery::groups(&kinds)),
        (false, [group]) => discovery::group(&kinds, group),
        (false, [group, version]) => discovery::resources(&kinds, group, version),
        _ => None,
    };
    let media = if aggregated { AGGREGATED } else { JSON };
    tagged(server, &kinds, path, media, || make().map(|tree| tree.to_string().into()), headers)
}

/// A document with its entity tag, which is remembered for as long as the table of kinds stands.
fn tagged(
    server: &Server,
    kinds: &Arc<Kinds>,
    path: &str,
    media: &'static str,
    make: impl FnOnce() -> Option<Vec<u8>>,
    headers: &HeaderMap,
) -> Result<Response<Body>, Status> {
    let id = format!("{path} {media}");
    let known = {
        let mut tags = server.documents.tags.lock();
        if !tags.are_of(kinds) {
            *tags = Tags { of: Some(kinds.clone()), ..Tags::default() };
        }
        tags.by_document.get(&id).cloned()
    };
    let mut response = match known.filter(|tag| knows(headers, tag)) {
        Some(tag) => not_modified(&tag),
        None => {
            let bytes = make().ok_or_else(Status::no_such_path)?;
            let digest: String = Sha256::digest(&bytes).iter().map(|b| format!("{b:02X}")).collect();
            let tag = format!("\"{digest}\"");
            let mut tags = server.documents.tags.lock();
            if tags.are_of(kinds) {
                tags.by_document.insert(id, tag.clone());
            }
            drop(tags);
            if knows(headers, &tag) { not_modified(&tag) } else { with_tag(&tag, media, bytes) }
        }
    };
    let headers = response.headers_mut();
    headers.insert(header::VARY, HeaderValue::from_static("Accept"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public"));
    Ok(response)
}

/// Whether the client has the document already.
fn knows(headers: &HeaderMap, tag: &str) -> bool {
    let asked = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    asked
        .flat_map(|value| value.split(','))
        .any(|a| matches!(a.trim().trim_start_matches("W/"), a if a == tag || a == "*"))
}

fn with_tag(tag: &str, media: &'static str, bytes: impl Into<bytes::Bytes>) -> Response<Body> {
    let mut response = respond(200, Encoding::Json, full(bytes));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
    response.headers_mut().insert(header::ETAG, header_value(tag));
    response
}

fn header_value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or_else(|_| HeaderValue::from_static(""))
}

fn not_modified(tag: &str) -> Response<Body> {
    let mut response = Response::new(full(bytes::Bytes::new()));
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    response.headers_mut().insert(header::ETAG, header_value(tag));
    response
}
