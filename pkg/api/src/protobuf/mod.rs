//! JSON trees ↔ protobuf, by the field numbers of the schema table.
//!
//! On the wire an object is an envelope ([`open`], [`seal`]): the magic number `k8s\0` and a
//! `runtime.Unknown`, which holds kind and version beside the object's own message. [`decode`] and
//! [`encode`] translate that message. Lists and watch events are put together from encoded objects
//! ([`List`], [`event`]), without a tree.
//!
//! # Guarantees
//! - What is encoded equals, byte for byte, what upstream's generated code writes: fields in the order
//!   of their numbers, values that are not pointers even where they are zero, maps sorted by key.
//! - A decoded tree is what upstream would write as JSON, less empty objects that stand for absence.
//! - Decoding never panics, whatever the bytes are; depth and number of values are bounded.
//!
//! Only built-in types have a protobuf form: custom resources have none, as upstream.

mod decode;
mod duration;
mod encode;
mod plan;
pub(crate) mod wire;

#[cfg(test)]
mod tests;

use serde_json::Value;

pub use decode::decode;
pub use encode::encode;

use crate::{
    Status,
    schema::{self, Schema, Shared, TypeId, ids},
};

/// Opens every encoded object.
pub const MAGIC: &[u8] = b"k8s\0";

/// Bytes that cannot be read as the message that they should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The magic number is missing.
    #[error("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")]
    Magic,
    /// A field or number ends beyond its message.
    #[error("unexpected EOF")]
    Truncated,
    /// A number has more than 64 bits.
    #[error("integer overflow")]
    Overflow,
    /// A field is not of the wire type of its type.
    #[error("wrong wireType = {0} for field {1}")]
    WireType(u8, String),
    /// Text that is not UTF-8.
    #[error("field {0} contains invalid UTF-8")]
    Text(String),
    /// JSON within the message that cannot be parsed.
    #[error("field {0}: {1}")]
    Json(String, String),
    /// A time or number that JSON cannot express.
    #[error("field {0} is out of range")]
    Range(String),
    /// Nested too deep.
    #[error("exceeded max depth")]
    Depth,
    /// So many values that the tree would be out of all proportion to the message.
    #[error("the message holds too many values")]
    Size,
    /// The content is compressed or the like.
    #[error("content encoding {0:?} is not supported")]
    ContentEncoding(String),
    /// The type has no protobuf form.
    #[error("object {kind} in version {version:?} does not have a protobuf form")]
    NoForm {
        /// Its kind.
        kind: String,
        /// Its `apiVersion`.
        version: String,
    },
}

impl From<Error> for Status {
    fn from(error: Error) -> Self {
        Status::bad_request(format!("couldn't get version/kind; protobuf parse error: {error}"))
    }
}

/// An opened envelope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// `apiVersion`; may be empty.
    pub api_version: &'a str,
    /// `kind`; may be empty.
    pub kind: &'a str,
    /// The object's message.
    pub raw: &'a [u8],
    /// Media type of `raw`; empty for protobuf.
    pub content_type: &'a str,
}

/// Reads an envelope.
pub fn open(bytes: &[u8]) -> Result<Envelope<'_>, Error> {
    let mut rest = bytes.strip_prefix(MAGIC).ok_or(Error::Magic)?;
    let mut envelope = Envelope::default();
    while let Some(field) = wire::next(&mut rest)? {
        match field.number {
            1 => {
                let mut meta = field.bytes("typeMeta")?;
                while let Some(field) = wire::next(&mut meta)? {
                    match field.number {
                        1 => envelope.api_version = field.text("apiVersion")?,
                        2 => envelope.kind = field.text("kind")?,
                        _ => {}
                    }
                }
            }
            2 => envelope.raw = field.bytes("raw")?,
            3 => match field.text("contentEncoding")? {
                "" => {}
                other => return Err(Error::ContentEncoding(other.to_owned())),
            },
            4 => envelope.content_type = field.text("contentType")?,
            _ => {}
        }
    }
    Ok(envelope)
}

/// Puts an object's message into an envelope.
pub fn seal(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len() + kind.len() + api_version.len() + 32);
    head(api_version, kind, raw.len(), &mut out);
    out.extend_from_slice(raw);
    out.extend_from_slice(TAIL);
    out
}

/// Content encoding and type, both empty: upstream writes them nevertheless.
const TAIL: &[u8] = &[0x1a, 0, 0x22, 0];

/// An envelope up to its content, which is `length` bytes long.
fn head(api_version: &str, kind: &str, length: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(MAGIC);
    wire::message(1, out, |out| {
        wire::bytes(1, api_version.as_bytes(), out);
        wire::bytes(2, kind.as_bytes(), out);
    });
    wire::header(2, length, out);
}

/// A whole object with its envelope, as a tree with `apiVersion` and `kind`.
pub fn decode_object(bytes: &[u8]) -> Result<Value, Error> {
    let envelope = open(bytes)?;
    let schema = schema::builtin();
    let id = builtin_type(&schema, envelope.api_version, envelope.kind)
        .ok_or_else(|| Error::NoForm { kind: envelope.kind.to_owned(), version: envelope.api_version.to_owned() })?;
    let mut value = decode(&schema, id, envelope.raw)?;
    if let Value::Object(fields) = &mut value {
        fields.insert("apiVersion".to_owned(), envelope.api_version.into());
        fields.insert("kind".to_owned(), envelope.kind.into());
    }
    Ok(value)
}

/// An object of a built-in type in its envelope; `None` if its kind has no protobuf form.
pub fn encode_object(value: &Value) -> Option<Vec<u8>> {
    let schema = schema::builtin();
    let (api_version, kind) = (value["apiVersion"].as_str()?, value["kind"].as_str()?);
    if let ("meta.k8s.io/v1", "PartialObjectMetadata") = (api_version, kind) {
        return Some(seal(api_version, kind, &partial(value)));
    }
    let id = builtin_type(&schema, api_version, kind)?;
    Some(seal(api_version, kind, &encode(&schema, id, value)))
}

/// The message of a `PartialObjectMetadata` of an object: its metadata alone.
pub fn partial(object: &Value) -> Vec<u8> {
    let schema = schema::builtin();
    let mut out = Vec::new();
    wire::bytes(1, &encode(&schema, ids::META_V1_OBJECT_META, &object["metadata"]), &mut out);
    out
}

/// Kinds that stand in all groups and versions, whatever `apiVersion` says.
const EVERYWHERE: &[(&str, TypeId)] = &[
    ("DeleteOptions", ids::META_V1_DELETE_OPTIONS),
    ("Status", ids::META_V1_STATUS),
    ("APIGroup", ids::META_V1_API_GROUP),
    ("APIGroupList", ids::META_V1_API_GROUP_LIST),
    ("APIResourceList", ids::META_V1_API_RESOURCE_LIST),
    ("APIVersions", ids::META_V1_API_VERSIONS),
];

/// Where the types of a group are, if not in the package named as the group's first part.
const PACKAGES: &[(&str, &str)] = &[
    ("", "io.k8s.api.core"),
    ("internal.apiserver.k8s.io", "io.k8s.api.apiserverinternal"),
    ("apiextensions.k8s.io", "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions"),
    ("apiregistration.k8s.io", "io.k8s.kube-aggregator.pkg.apis.apiregistration"),
    ("metrics.k8s.io", "io.k8s.metrics.pkg.apis.metrics"),
];

/// The type of a kind in the built-in table.
pub fn builtin_type(schema: &Schema, api_version: &str, kind: &str) -> Option<TypeId> {
    if let Some((_, id)) = EVERYWHERE.iter().find(|(name, _)| *name == kind) {
        return Some(*id);
    }
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
    let name = match PACKAGES.iter().find(|(of, _)| *of == group) {
        Some((_, package)) => format!("{package}.{version}.{kind}"),
        None => format!("io.k8s.api.{}.{version}.{kind}", group.split('.').next().unwrap_or_default()),
    };
    schema.find(&name)
}

/// Whether types of this schema have a protobuf form.
pub fn covers(schema: &Schema) -> bool {
    matches!(schema.types, Shared::Static(_))
}

/// A list that is put together from encoded items: [`List::head`], then [`List::item`] before each
/// item's message, then [`List::tail`].
#[derive(Debug)]
pub struct List {
    metadata: Vec<u8>,
}

impl List {
    /// A list with this `metadata`.
    pub fn new(metadata: &Value) -> Self {
        let mut out = Vec::new();
        wire::bytes(1, &encode(&schema::builtin(), ids::META_V1_LIST_META, metadata), &mut out);
        List { metadata: out }
    }

    /// The list up to its first item, given the lengths of the items' messages.
    pub fn head(&self, api_version: &str, kind: &str, items: impl Iterator<Item = usize>) -> Vec<u8> {
        let items: usize = items.map(|length| 1 + wire::varint_length(length as u64) + length).sum();
        let mut out = Vec::with_capacity(128);
        head(api_version, kind, self.metadata.len() + items, &mut out);
        out.extend_from_slice(&self.metadata);
        out
    }

    /// What stands before an item's message of this length.
    pub fn item(length: usize, out: &mut Vec<u8>) {
        wire::header(2, length, out);
    }

    /// What stands behind the last item.
    pub fn tail() -> &'static [u8] {
        TAIL
    }
}

/// A frame of a watch: length, then the event with the enveloped object.
pub fn event(name: &str, object: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    wire::bytes(1, name.as_bytes(), out);
    wire::message(2, out, |out| wire::bytes(1, object, out));
    let length = u32::try_from(out.len() - start - 4).expect("objects are far smaller than 4 GiB");
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}
