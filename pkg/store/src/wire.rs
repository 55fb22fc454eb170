//! etcd's API on the wire, and how its messages stand for the store's types. Both ends use it: the
//! face that we serve, and the backend that asks a real etcd.

use bytes::Bytes;
use tonic::{Code, Status};

use crate::{Error, Event, KeyRange, KeyValue};

/// Generated from `proto/etcd.proto`.
#[allow(missing_docs, clippy::all, unused_qualifications)]
pub(crate) mod proto {
    tonic::include_proto!("etcdserverpb");
}

/// A bound of one zero byte means "to the end", or, as the start, "from the first key".
#[cfg_attr(not(test), allow(dead_code))]
const ZERO: Bytes = Bytes::from_static(&[0]);

impl KeyRange {
    /// From `key` and `range_end` of a request.
    pub(crate) fn from_wire(key: Bytes, range_end: Bytes) -> Self {
        let end = match &range_end[..] {
            [] => None,
            [0] => Some(Bytes::new()),
            _ => Some(range_end),
        };
        KeyRange { start: key, end }
    }

    /// As `(key, range_end)` of a request.
    #[cfg_attr(not(test), allow(dead_code))]
    pub(crate) fn to_wire(&self) -> (Bytes, Bytes) {
        match &self.end {
            None => (self.start.clone(), Bytes::new()),
            Some(end) => {
                let or_zero = |bound: &Bytes| if bound.is_empty() { ZERO } else { bound.clone() };
                (or_zero(&self.start), or_zero(end))
            }
        }
    }
}

impl From<KeyValue> for proto::KeyValue {
    fn from(kv: KeyValue) -> Self {
        let KeyValue { key, value, create_revision, mod_revision, version, lease } = kv;
        proto::KeyValue { key, value, create_revision, mod_revision, version, lease }
    }
}

impl From<proto::KeyValue> for KeyValue {
    fn from(kv: proto::KeyValue) -> Self {
        let proto::KeyValue { key, value, create_revision, mod_revision, version, lease } = kv;
        KeyValue { key, value, create_revision, mod_revision, version, lease }
    }
}

impl From<Event> for proto::Event {
    fn from(event: Event) -> Self {
        use proto::event::EventType::{Delete, Put};
        let kind = if event.is_delete() { Delete } else { Put };
        proto::Event { r#type: kind.into(), kv: Some(event.kv.into()), prev_kv: event.prev.map(Into::into) }
    }
}

impl From<proto::Event> for Event {
    fn from(event: proto::Event) -> Self {
        Event { kv: event.kv.unwrap_or_default().into(), prev: event.prev_kv.map(Into::into) }
    }
}

/// The texts by which etcd's clients know errors.
const COMPACTED: &str = "etcdserver: mvcc: required revision has been compacted";
const FUTURE: &str = "etcdserver: mvcc: required revision is a future revision";
const LEASE_NOT_FOUND: &str = "etcdserver: requested lease not found";
const LEASE_EXISTS: &str = "etcdserver: lease already exists";
const EMPTY_KEY: &str = "etcdserver: key is not provided";
const KEY_NOT_FOUND: &str = "etcdserver: key not found";
const DUPLICATE_KEY: &str = "etcdserver: duplicate key given in txn request";
const NO_SPACE: &str = "etcdserver: mvcc: database space exceeded";

impl From<Error> for Status {
    fn from(error: Error) -> Self {
        let (code, text) = match &error {
            Error::Compacted { .. } => (Code::OutOfRange, COMPACTED),
            Error::Future { .. } => (Code::OutOfRange, FUTURE),
            Error::LeaseNotFound(_) => (Code::NotFound, LEASE_NOT_FOUND),
            Error::LeaseExists(_) => (Code::FailedPrecondition, LEASE_EXISTS),
            Error::EmptyKey => (Code::InvalidArgument, EMPTY_KEY),
            Error::KeyNotFound => (Code::InvalidArgument, KEY_NOT_FOUND),
            Error::DuplicateKey => (Code::InvalidArgument, DUPLICATE_KEY),
            Error::NoSpace { .. } => (Code::ResourceExhausted, NO_SPACE),
            Error::Unsupported(_) => return Status::unimplemented(error.to_string()),
            Error::Closed => return Status::unavailable(error.to_string()),
            Error::Backend { .. } => return Status::unavailable(error.to_string()),
            Error::Corrupt { .. } | Error::InUse { .. } => return Status::internal(error.to_string()),
        };
        Status::new(code, text)
    }
}
