//! Answers in protobuf: objects, and lists put together from their messages.
//!
//! The message of a committed object is made when a client first asks for it, and kept beside the
//! committed bytes for all others. Objects come here in the form that the row serves.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use api::{Kind, Status, Value, protobuf};
use bytes::Bytes;
use http_body::Frame;

use crate::{
    negotiate::Shape,
    reply::{List, PIECE},
    stored::Stored,
};

/// Media type of watches.
pub const STREAM: &str = "application/vnd.kubernetes.protobuf;stream=watch";

/// An object in its envelope, as of a revision (that of its deletion may differ from the object's).
pub fn object(kind: &Kind, stored: &Stored, shape: Shape, revision: i64) -> Result<Vec<u8>, Status> {
    let message = message(kind, stored, shape, revision)?;
    Ok(match shape {
        Shape::Metadata(meta) => protobuf::seal(meta.api_version(), "PartialObjectMetadata", &message),
        _ => protobuf::seal(&kind.api_version(), &kind.kind, &message),
    })
}

fn message(kind: &Kind, stored: &Stored, shape: Shape, revision: i64) -> Result<Bytes, Status> {
    let tree = || -> Result<Value, Status> {
        let mut tree = stored.tree()?;
        if revision != 0 {
            tree["metadata"]["resourceVersion"] = revision.to_string().into();
        }
        Ok(tree)
    };
    if matches!(shape, Shape::Metadata(_)) {
        return Ok(protobuf::partial(&tree()?).into());
    }
    if revision != stored.revision {
        return Ok(protobuf::encode(&kind.schema, kind.root, &tree()?).into());
    }
    // Only the form at its own revision is shared.
    if let Some(message) = stored.message().get() {
        return Ok(message.clone());
    }
    let message = protobuf::encode(&kind.schema, kind.root, &tree()?).into();
    Ok(stored.message().get_or_init(|| message).clone())
}

/// A list, as a body.
pub fn list(kind: &Kind, list: &List, shape: Shape) -> Result<ListBody, Status> {
    let items = list.objects.iter().map(|stored| message(kind, stored, shape, stored.revision));
    let items: Vec<Bytes> = items.collect::<Result<_, _>>()?;
    let head = protobuf::List::new(&list.metadata());
    let lengths = items.iter().map(Bytes::len);
    let head = match shape {
        Shape::Metadata(meta) => head.head(meta.api_version(), "PartialObjectMetadataList", lengths),
        _ => head.head(&kind.api_version(), &kind.list_kind(), lengths),
    };
    Ok(ListBody { head, items: items.into_iter(), done: false })
}

/// A list that is spliced while it is sent.
pub struct ListBody {
    head: Vec<u8>,
    items: std::vec::IntoIter<Bytes>,
    done: bool,
}

impl ListBody {
    fn piece(&mut self) -> Option<Bytes> {
        if self.done {
            return None;
        }
        let mut out = std::mem::take(&mut self.head);
        while out.len() < PIECE {
            let Some(item) = self.items.next() else {
                out.extend_from_slice(protobuf::List::tail());
                self.done = true;
                break;
            };
            protobuf::List::item(item.len(), &mut out);
            out.extend_from_slice(&item);
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
}
