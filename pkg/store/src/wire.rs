//! etcd's API on the wire, and how its messages stand for the store's types. Both ends use it: the
//! face that we serve, and the backend that asks a real etcd.

use std::mem::discriminant;

use bytes::Bytes;
use tonic::{Code, Status};

use crate::{Error, Event, KeyRange, KeyValue, Op, Txn};

/// Generated from `proto/etcd.proto`.
#[allow(missing_docs, clippy::all, unused_qualifications)]
pub(crate) mod proto {
    tonic::include_proto!("etcdserverpb");
}

/// A bound of one zero byte means "to the end", or, as the start, "from the first key".
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

/// Copies key and value: they lie in the buffer of a whole answer, which would live as long as the
/// last of them in somebody's cache.
impl From<proto::KeyValue> for KeyValue {
    fn from(kv: proto::KeyValue) -> Self {
        let proto::KeyValue { key, value, create_revision, mod_revision, version, lease } = kv;
        let (key, value) = (Bytes::copy_from_slice(&key), Bytes::copy_from_slice(&value));
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

/// What was asked, for those parts of an error that its text leaves out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked {
    /// The lease.
    pub(crate) lease: i64,
    /// The revision.
    pub(crate) revision: i64,
}

impl Asked {
    /// By a transaction.
    pub(crate) fn of(txn: &Txn) -> Self {
        let ops = || txn.then.iter().chain(&txn.otherwise);
        let lease = |op: &Op| if let Op::Put { lease, .. } = op { lease.filter(|id| *id != 0) } else { None };
        let revision = |op: &Op| if let Op::Range(range) = op { Some(range.revision) } else { None };
        Asked {
            lease: ops().find_map(lease).unwrap_or_default(),
            revision: ops().filter_map(revision).max().unwrap_or_default(),
        }
    }
}

/// How an error is told on the wire, and what it says to whom has asked.
type Text = (Code, &'static str, fn(Asked) -> Error);

/// The texts by which etcd and its clients know errors.
const TEXTS: &[Text] = &[
    (Code::OutOfRange, "etcdserver: mvcc: required revision has been compacted", |asked| Error::Compacted {
        compacted: asked.revision + 1,
    }),
    (Code::OutOfRange, "etcdserver: mvcc: required revision is a future revision", |asked| Error::Future {
        head: asked.revision - 1,
    }),
    (Code::NotFound, "etcdserver: requested lease not found", |asked| Error::LeaseNotFound(asked.lease)),
    (Code::FailedPrecondition, "etcdserver: lease already exists", |asked| Error::LeaseExists(asked.lease)),
    (Code::InvalidArgument, "etcdserver: key is not provided", |_| Error::EmptyKey),
    (Code::InvalidArgument, "etcdserver: key not found", |_| Error::KeyNotFound),
    (Code::InvalidArgument, "etcdserver: duplicate key given in txn request", |_| Error::DuplicateKey),
    (Code::InvalidArgument, "etcdserver: request is too large", |_| Error::TooLarge),
    (Code::ResourceExhausted, "etcdserver: mvcc: database space exceeded", |_| Error::NoSpace { path: String::new() }),
];

/// What etcd's answer means, where `store` is who gave it. Revisions are bounds: of what is
/// compacted at least, and of what there is at most.
pub(crate) fn error(status: &Status, asked: Asked, store: &str) -> Error {
    let path = store.to_owned();
    // The limit that etcd's transport sets, a little above that of etcd.
    if status.code() == Code::ResourceExhausted && status.message().contains("larger than max") {
        return Error::TooLarge;
    }
    match TEXTS.iter().find(|(_, text, _)| *text == status.message()).map(|(_, _, of)| of(asked)) {
        Some(Error::NoSpace { .. }) => Error::NoSpace { path },
        Some(error) => error,
        None => Error::Backend { path, message: format!("{} ({:?})", status.message(), status.code()) },
    }
}

impl From<Error> for Status {
    fn from(error: Error) -> Self {
        let same = |of: &fn(Asked) -> Error| discriminant(&of(Asked::default())) == discriminant(&error);
        if let Some((code, text, _)) = TEXTS.iter().find(|(_, _, of)| same(of)) {
            return Status::new(*code, *text);
        }
        let code = match &error {
            Error::Unsupported(_) => Code::Unimplemented,
            Error::Closed | Error::Backend { .. } | Error::Unavailable { .. } | Error::OutcomeUnknown { .. } => {
                Code::Unavailable
            }
            _ => Code::Internal,
        };
        Status::new(code, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_that_etcd_has_a_text_for_come_back_as_they_were() {
        let asked = Asked { lease: 7, revision: 5 };
        for (_, text, of) in TEXTS {
            let there = Status::from(of(asked));
            assert_eq!(there.message(), *text);
            let back = error(&there, asked, "db");
            assert_eq!(discriminant(&back), discriminant(&of(asked)), "{back}");
        }
        assert!(matches!(error(&Status::from(Error::LeaseExists(7)), asked, "db"), Error::LeaseExists(7)));
        let other = error(&Status::permission_denied("etcdserver: permission denied"), asked, "db").to_string();
        assert_eq!(other, "store db: etcdserver: permission denied (PermissionDenied)");
    }
}
