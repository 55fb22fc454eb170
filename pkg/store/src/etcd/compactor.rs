//! Compaction, by one of several servers.
//!
//! Servers agree by a key, that of upstream's API servers, so that both may share an etcd: who has
//! seen no write of it for an interval writes it, compacts to its revision before that write, which
//! was the head at least one interval ago, and the others begin to wait anew. Of N servers one
//! compacts in an interval; if it dies, another does an interval later.
//!
//! The history so begins with a put, of that key. etcd forgets a delete if it is compacted to just
//! its revision (<https://github.com/etcd-io/etcd/issues/18089>), and watches from there miss it.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use tokio_util::sync::CancellationToken;

use super::Inner;
use crate::{Compare, Error, KeyRange, Op, OpResponse, Range, Txn, TxnResponse};

/// The key by which servers agree.
const KEY: &str = "compact_rev_key";

/// What a server has seen of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    /// Revision of its last write; 0 if there is none.
    at: i64,
    /// What somebody has compacted to with that write.
    compacted: i64,
}

/// What a server does after an interval.
#[derive(Debug, PartialEq, Eq)]
struct Decision {
    seen: Seen,
    compact_to: Option<i64>,
}

/// If the key is as it was an interval ago, it is this server's turn.
fn turn(seen: Seen) -> Txn {
    Txn {
        when: vec![Compare::mod_revision(KEY, seen.at)],
        then: vec![Op::put(KEY, seen.at.to_string())],
        otherwise: vec![Op::Range(Range::head(KeyRange::key(KEY)))],
        ..Txn::default()
    }
}

fn decide(seen: Seen, answer: &TxnResponse) -> Decision {
    if answer.succeeded {
        let compact_to = (seen.at > 0).then_some(seen.at);
        return Decision { seen: Seen { at: answer.revision, compacted: seen.at }, compact_to };
    }
    let other = match answer.responses.first() {
        Some(OpResponse::Range(read)) => read.kvs.first(),
        _ => None,
    };
    let seen =
        other.map_or(Seen { at: 0, compacted: 0 }, |kv| Seen { at: kv.mod_revision, compacted: number(&kv.value) });
    Decision { seen, compact_to: None }
}

fn number(value: &Bytes) -> i64 {
    std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// Compacts until `stop`. The timer has its reason: without it an etcd grows without end.
pub(super) async fn run(store: Arc<Inner>, every: Duration, stop: CancellationToken) {
    let mut seen = Seen { at: 0, compacted: 0 };
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(every) => {}
        }
        match step(&store, seen).await {
            Ok(now) => seen = now,
            Err(error) => tracing::warn!(%error, "etcd was not compacted; trying again after the interval"),
        }
    }
}

async fn step(store: &Inner, seen: Seen) -> Result<Seen, Error> {
    let Decision { seen, compact_to } = decide(seen, &store.txn(&turn(seen)).await?);
    match compact_to {
        Some(revision) => match store.compact(revision).await {
            Ok(()) => tracing::debug!(revision, "compacted etcd"),
            Err(Error::Compacted { .. }) => {}
            Err(error) => return Err(error),
        },
        None => store.learn_compacted(seen.compacted),
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemoryStore, Store as _};

    const NEVER: Seen = Seen { at: 0, compacted: 0 };

    /// One interval of one server on the model; answers with what it compacted to.
    async fn interval(store: &MemoryStore, seen: &mut Seen) -> Option<i64> {
        let decision = decide(*seen, &store.txn(turn(*seen)).await.unwrap());
        *seen = decision.seen;
        decision.compact_to
    }

    #[tokio::test]
    async fn one_of_two_servers_compacts_to_the_head_of_an_interval_ago() {
        let store = MemoryStore::default();
        let (mut a, mut b) = (NEVER, NEVER);
        let put = || store.txn(Txn { then: vec![Op::put("k", "v")], ..Txn::default() });
        // The first write of the key; the other server takes note.
        assert_eq!((interval(&store, &mut a).await, interval(&store, &mut b).await), (None, None));
        let first = a.at;
        assert_eq!(b, Seen { at: first, compacted: 0 });
        put().await.unwrap();
        // The first one's turn again, and the other one hears of it.
        assert_eq!((interval(&store, &mut a).await, interval(&store, &mut b).await), (Some(first), None));
        let second = a.at;
        assert_eq!((second, b), (first + 2, Seen { at: second, compacted: first }));
        // It dies; the other one takes over.
        put().await.unwrap();
        assert_eq!(interval(&store, &mut b).await, Some(second));
        // One that comes late takes note before it does anything.
        let mut c = NEVER;
        assert_eq!(interval(&store, &mut c).await, None);
        assert_eq!(c, b);
    }

    #[tokio::test]
    async fn a_key_that_somebody_has_spoilt_or_deleted_stops_nobody() {
        let store = MemoryStore::default();
        let mut seen = NEVER;
        store.txn(Txn { then: vec![Op::put(KEY, "spoilt")], ..Txn::default() }).await.unwrap();
        assert_eq!(interval(&store, &mut seen).await, None);
        assert_eq!(seen, Seen { at: 2, compacted: 0 });
        store.txn(Txn { then: vec![Op::Delete(KeyRange::key(KEY))], ..Txn::default() }).await.unwrap();
        assert_eq!(interval(&store, &mut seen).await, None);
        assert_eq!(seen, NEVER);
        assert_eq!(interval(&store, &mut seen).await, None);
        assert_eq!(interval(&store, &mut seen).await, Some(4));
    }
}
