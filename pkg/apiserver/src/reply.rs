//! Answers, and how they are written: whole objects, lists spliced from committed bytes, tables.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use api::{Kind, Status, Value};
use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt as _;
use serde_json::json;

use crate::{
    body::{Body, full},
    negotiate::{Accepted, Encoding, MetaVersion, Shape},
    protobuf,
    stored::Stored,
    table,
};

/// What a verb answers with.
pub enum Reply {
    /// One object, as committed.
    Object(u16, Stored),
    /// The `Scale` of an object.
    Scale(Value),
    /// A tree: a subresource's object, a review, a `Status`.
    Tree(u16, Value),
    /// A list.
    List(List),
    /// An answer that is finished: streams and watches.
    Raw(Response<Body>),
}

/// A list of one revision.
#[derive(Debug, Default)]
pub struct List {
    /// In key order.
    pub objects: Vec<Stored>,
    /// Its resource version; 0 for none.
    pub revision: i64,
    /// Token of the next page.
    pub continuation: Option<String>,
    /// How many are left, where that is known.
    pub remaining: Option<usize>,
}

impl List {
    /// `metadata` of the list.
    pub fn metadata(&self) -> Value {
        let mut metadata = json!({});
        if self.revision != 0 {
            metadata["resourceVersion"] = self.revision.to_string().into();
        }
        if let Some(token) = &self.continuation {
            metadata["continue"] = token.as_str().into();
        }
        if let Some(remaining) = self.remaining {
            metadata["remainingItemCount"] = remaining.into();
        }
        metadata
    }
}

/// `Status` of something that worked.
pub fn success(kind: &Kind, name: &str, uid: &str) -> Value {
    let mut details = json!({"name": name, "kind": &*kind.plural});
    if !kind.group.is_empty() {
        details["group"] = (*kind.group).into();
    }
    if !uid.is_empty() {
        details["uid"] = uid.into();
    }
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details})
}

/// The tree of an object in its served form. For objects of the cache, [`Stored::served`] does the work once.
pub fn served(kind: &Kind, stored: &Stored) -> Result<Value, Status> {
    let mut tree = stored.tree()?;
    kind.from_storage(&mut tree);
    Ok(tree)
}

/// `PartialObjectMetadata` of an object.
pub fn partial(mut tree: Value, meta: MetaVersion) -> Value {
    json!({"kind": "PartialObjectMetadata", "apiVersion": meta.api_version(), "metadata": tree["metadata"].take()})
}

/// An item of a list of its kind. The list says what its items are, except for custom resources.
fn item(kind: &Kind, mut tree: Value) -> Value {
    if let Some(fields) = tree.as_object_mut().filter(|_| !kind.is_custom()) {
        fields.retain(|name, _| name != "kind" && name != "apiVersion");
    }
    tree
}

/// Writes an answer as the client accepts it. `kind` is what the URL names.
pub fn write(
    reply: Reply,
    kind: &Arc<Kind>,
    accepted: Accepted,
    table: table::Options,
) -> Result<Response<Body>, Status> {
    let plain = accepted.shape == Shape::Plain;
    match reply {
        Reply::Raw(response) => Ok(response),
        Reply::Scale(scale) => {
            let tree = match accepted.shape {
                Shape::Table(meta) => table::of_scale(&scale, table.of(meta)),
                Shape::Metadata(meta) => partial(scale, meta),
                Shape::Plain | Shape::AggregatedDiscovery => scale,
            };
            Ok(tree_response(200, accepted.encoding, &tree))
        }
        Reply::Tree(code, tree) => Ok(tree_response(code, accepted.encoding, &tree)),
        Reply::Object(code, stored) => {
            let stored = stored.served(kind)?;
            match accepted.encoding {
                Encoding::Json if plain => Ok(respond(code, Encoding::Json, full(stored.to_json()))),
                Encoding::Protobuf => {
                    let object = protobuf::object(kind, &stored, accepted.shape, stored.revision)?;
                    Ok(respond(code, Encoding::Protobuf, full(object)))
                }
                encoding => {
                    let tree = stored.tree()?;
                    let tree = match accepted.shape {
                        Shape::Table(meta) => {
                            let metadata = json!({"resourceVersion": stored.revision.to_string()});
                            table::make(kind, std::slice::from_ref(&tree), &metadata, table.of(meta), true)
                        }
                        Shape::Metadata(meta) => partial(tree, meta),
                        Shape::Plain | Shape::AggregatedDiscovery => tree,
                    };
                    Ok(tree_response(code, encoding, &tree))
                }
            }
        }
        Reply::List(mut list) => {
            if kind.conversion.is_some() {
                for object in &mut list.objects {
                    *object = object.served(kind)?;
                }
            }
            write_list(list, kind, accepted, table)
        }
    }
}

/// Writes a list of objects in their served form.
fn write_list(list: List, kind: &Kind, accepted: Accepted, table: table::Options) -> Result<Response<Body>, Status> {
    match accepted.encoding {
        Encoding::Json if accepted.shape == Shape::Plain => {
            Ok(respond(200, Encoding::Json, ListBody::new(kind, list).boxed_unsync()))
        }
        Encoding::Protobuf => {
            let list = protobuf::list(kind, &list, accepted.shape)?;
            Ok(respond(200, Encoding::Protobuf, list.boxed_unsync()))
        }
        encoding => {
            let trees: Vec<Value> = list.objects.iter().map(Stored::tree).collect::<Result<_, _>>()?;
            let metadata = list.metadata();
            let tree = match accepted.shape {
                Shape::Table(meta) => table::make(kind, &trees, &metadata, table.of(meta), true),
                Shape::Metadata(meta) => json!({
                    "kind": "PartialObjectMetadataList", "apiVersion": meta.api_version(), "metadata": metadata,
                    "items": trees.into_iter().map(|tree| partial(tree, meta)).collect::<Vec<_>>(),
                }),
                Shape::Plain | Shape::AggregatedDiscovery => json!({
                    "kind": kind.list_kind(), "apiVersion": kind.api_version(), "metadata": metadata,
                    "items": trees.into_iter().map(|tree| item(kind, tree)).collect::<Vec<_>>(),
                }),
            };
            Ok(tree_response(200, encoding, &tree))
        }
    }
}

/// A tree as an answer; in JSON where it has no protobuf form.
pub fn tree_response(code: u16, encoding: Encoding, tree: &Value) -> Response<Body> {
    if encoding == Encoding::Protobuf
        && let Some(bytes) = api::protobuf::encode_object(tree)
    {
        return respond(code, encoding, full(bytes));
    }
    let encoding = if encoding == Encoding::Yaml { encoding } else { Encoding::Json };
    let bytes = match encoding {
        Encoding::Json | Encoding::Protobuf => serde_json::to_vec(tree).expect("writing a tree to memory cannot fail"),
        Encoding::Yaml => serde_saphyr::to_string(tree).unwrap_or_default().into_bytes(),
    };
    respond(code, encoding, full(bytes))
}

/// An error as an answer.
pub fn error_response(status: &Status, encoding: Encoding) -> Response<Body> {
    let mut tree = status.to_value();
    // An expired list comes with the token to go on with.
    if let Some(token) = status.details.get("continue") {
        tree["metadata"]["continue"] = token.clone();
        if let Some(fields) = tree.as_object_mut() {
            fields.remove("details");
        }
    }
    let mut response = tree_response(status.code, encoding, &tree);
    if let Some(seconds) = status.details["retryAfterSeconds"].as_u64().filter(|seconds| *seconds > 0) {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    if status.code == 401 {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"kinglet\""));
    }
    response
}

/// An answer with this body.
pub fn respond(code: u16, encoding: Encoding, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(encoding.media_type()));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}

/// Characters of all warnings together, as upstream: clients have a limit for all headers.
const WARNINGS: usize = 4096;
/// To how many characters each is cut when they are more than that together.
const WARNING_CUT: usize = 256;

/// Adds warnings as headers: `299 - "text"`. What goes beyond the limit is cut, then left out.
pub fn warn(response: &mut Response<Body>, warnings: &[String]) {
    let total: usize = warnings.iter().map(|warning| warning.chars().count()).sum();
    let longest = if total > WARNINGS { WARNING_CUT } else { total };
    let mut left = WARNINGS;
    for warning in warnings {
        let text: String = warning.chars().filter(|c| !c.is_control()).take(longest).collect();
        let Some(rest) = left.checked_sub(text.chars().count()) else { return };
        left = rest;
        let quoted = text.replace('\\', "\\\\").replace('"', "\\\"");
        if let Ok(value) = HeaderValue::from_str(&format!("299 - \"{quoted}\"")) {
            response.headers_mut().append(header::WARNING, value);
        }
    }
}

/// Size of the pieces that a list is sent in.
pub const PIECE: usize = 64 * 1024;

/// A list that is spliced while it is sent.
struct ListBody {
    head: Option<Vec<u8>>,
    objects: std::vec::IntoIter<Stored>,
    /// Items say what they are: custom resources do, built-in kinds do not.
    typed: bool,
    left: usize,
    first: bool,
    done: bool,
}

impl ListBody {
    fn new(kind: &Kind, list: List) -> Self {
        let head = format!(
            "{{\"kind\":\"{}\",\"apiVersion\":\"{}\",\"metadata\":{},\"items\":[",
            kind.list_kind(),
            kind.api_version(),
            list.metadata()
        );
        let left = list.objects.iter().map(Stored::size).sum();
        let (objects, typed) = (list.objects.into_iter(), kind.is_custom());
        ListBody { head: Some(head.into()), objects, typed, left, first: true, done: false }
    }

    fn piece(&mut self) -> Option<Bytes> {
        if self.done {
            return None;
        }
        let mut out = self.head.take().unwrap_or_default();
        out.reserve(self.left.min(PIECE) + 1024);
        while out.len() < PIECE {
            let Some(object) = self.objects.next() else {
                out.extend_from_slice(b"]}\n");
                self.done = true;
                break;
            };
            if !std::mem::replace(&mut self.first, false) {
                out.push(b',');
            }
            if self.typed {
                object.write(&mut out)
            } else {
                object.write_item(&mut out)
            }
            self.left = self.left.saturating_sub(object.size());
        }
        Some(out.into())
    }
}

impl http_body::Body for ListBody {
    type Data = Bytes;
    type Error = tower::BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Poll::Ready(self.piece().map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.done
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_beyond_the_limit_are_cut_then_left_out() {
        // number and length of the warnings; number and length of the headers
        for (number, length, headers, cut) in
            [(3, 1000, 3, 1000), (1, 5000, 1, 256), (17, 300, 16, 256), (100, 10, 100, 10)]
        {
            let warnings: Vec<String> = (0..number).map(|n| format!("{n:03}{}", "x".repeat(length - 3))).collect();
            let mut response = Response::new(full(Bytes::new()));
            warn(&mut response, &warnings);
            let got: Vec<_> = response.headers().get_all(header::WARNING).iter().map(|h| h.len() - 8).collect();
            assert_eq!(got, vec![cut; headers], "{number} of {length}");
        }
    }
}
