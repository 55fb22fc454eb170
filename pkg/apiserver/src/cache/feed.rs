//! One store watch feeds all caches.

use std::{collections::HashMap, sync::Arc, time::Duration};

use api::{Kind, Status, kinds::Names};
use bytes::Bytes;
use parking_lot::RwLock;
use store::{KeyRange, Range, Store};
use tokio::sync::{OnceCell, watch};
use tokio_util::sync::CancellationToken;

use super::resource::Cache;
use crate::keys;

/// How long a read waits for a revision that the caches have not seen.
const PATIENCE: Duration = Duration::from_secs(3);

/// Between tries to follow the store: from the first to the last.
const RETRY_MIN: Duration = Duration::from_millis(10);
const RETRY_MAX: Duration = Duration::from_secs(5);

struct Slot {
    cache: Arc<Cache>,
    loaded: OnceCell<()>,
}

/// All caches of a server. See the module above.
pub struct Caches {
    store: Arc<dyn Store>,
    slots: RwLock<HashMap<String, Arc<Slot>>>,
    /// What is known of the resources that come and go, by the prefix of their keys.
    passing: RwLock<HashMap<String, Passing>>,
    seen: watch::Sender<i64>,
}

/// A resource that comes and goes with its definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passing {
    /// Of the definition.
    pub uid: String,
    /// Selectable paths of all its versions.
    pub selectable: Names,
    /// Tells one state of its rows from the next.
    pub state: i64,
}

impl Caches {
    /// No caches yet, and nothing feeds them before [`Caches::follow`].
    pub fn new(store: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Caches { store, slots: RwLock::default(), passing: RwLock::default(), seen: watch::channel(0).0 })
    }

    /// The cache of a kind's resource, loaded.
    pub async fn of(&self, kind: &Kind) -> Result<Arc<Cache>, Status> {
        let prefix = keys::prefix(kind);
        let existing = self.slots.read().get(&prefix).cloned();
        let slot = existing.unwrap_or_else(|| {
            let make = || {
                let passing = self.passing.read().get(&prefix).map(|passing| passing.selectable.clone());
                let selectable = passing.unwrap_or_else(|| kind.selectable.clone());
                let cache = Arc::new(Cache::new(prefix.clone(), selectable));
                Arc::new(Slot { cache, loaded: OnceCell::new() })
            };
            self.slots.write().entry(prefix.clone()).or_insert_with(make).clone()
        });
        slot.loaded.get_or_try_init(|| self.load(&slot.cache)).await?;
        Ok(slot.cache.clone())
    }

    /// Says which resources come and go, as they are now. Watches of those that are gone or otherwise than
    /// before come to their end; caches are dropped where they are of no more use.
    pub fn passing(&self, now: HashMap<String, Passing>) {
        let before = std::mem::replace(&mut *self.passing.write(), now.clone());
        for (prefix, was) in before {
            let is = now.get(&prefix);
            if is == Some(&was) {
                continue;
            }
            let of_use = is.is_some_and(|is| (&is.uid, &is.selectable) == (&was.uid, &was.selectable));
            let slot = match of_use {
                true => self.slots.read().get(&prefix).cloned(),
                false => self.slots.write().remove(&prefix),
            };
            if let Some(slot) = slot {
                slot.cache.end_watches();
            }
        }
        // Whoever came between the rows and this has made a cache by what one row knows.
        let mut slots = self.slots.write();
        for (prefix, is) in &now {
            if slots.get(prefix).is_some_and(|slot| slot.cache.selectable() != &*is.selectable)
                && let Some(slot) = slots.remove(prefix)
            {
                slot.cache.end_watches();
            }
        }
    }

    /// Objects in each cache, by the prefix of its keys.
    pub fn counts(&self) -> HashMap<String, usize> {
        self.slots.read().iter().map(|(prefix, slot)| (prefix.clone(), slot.cache.count())).collect()
    }

    async fn load(&self, cache: &Cache) -> Result<(), Status> {
        let keys = KeyRange::prefix(cache.prefix().to_owned());
        let read = self.store.range(Range::head(keys)).await.map_err(keys::store_error)?;
        cache.load(&read.kvs, read.revision);
        Ok(())
    }

    /// Revision up to which every cache is complete.
    pub fn seen(&self) -> watch::Receiver<i64> {
        self.seen.subscribe()
    }

    /// Waits until the caches have seen all that is committed by now; answers with that revision.
    pub async fn at_head(&self) -> Result<i64, Status> {
        let head = self.store.revision().await.map_err(keys::store_error)?;
        self.reach(head).await?;
        Ok(head)
    }

    /// Waits until the caches have seen `revision`.
    pub async fn reach(&self, revision: i64) -> Result<(), Status> {
        if *self.seen.borrow() >= revision {
            return Ok(());
        }
        let mut seen = self.seen.subscribe();
        match tokio::time::timeout(PATIENCE, seen.wait_for(|at| *at >= revision)).await {
            Ok(_) => Ok(()),
            Err(_) => {
                let current = *self.seen.borrow();
                let mut status = Status::timeout(format!("Too large resource version: {revision}, current: {current}"));
                status.details = serde_json::json!({
                    "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
                    "retryAfterSeconds": 1,
                });
                Err(status)
            }
        }
    }

    /// Feeds the caches until `stop`.
    pub async fn follow(self: Arc<Self>, stop: CancellationToken) {
        let mut failures = 0_u32;
        loop {
            let ended = tokio::select! {
                () = stop.cancelled() => return,
                ended = self.follow_once() => ended,
            };
            failures = match ended {
                Ok(()) => 0,
                Err(store::Error::Closed) => return,
                Err(error) => {
                    // Told once; it may take hours until the store is back.
                    if failures == 0 {
                        tracing::warn!(%error, "the store cannot be followed; trying on");
                    }
                    failures + 1
                }
            };
            let pause = RETRY_MAX.min(RETRY_MIN * 2_u32.pow(failures.min(16)));
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    async fn follow_once(&self) -> Result<(), store::Error> {
        let from = *self.seen.borrow();
        // All keys, so that no revision of others is waited for in vain.
        let keys = KeyRange { start: Bytes::new(), end: Some(Bytes::new()) };
        let mut events = match self.store.watch(keys.clone(), from + 1).await {
            Ok(events) => events,
            // Too far behind (or at start): read everything again.
            Err(store::Error::Compacted { .. }) => {
                let head = self.store.revision().await?;
                let events = self.store.watch(keys, head + 1).await?;
                self.reload(head).await?;
                events
            }
            Err(error) => return Err(error),
        };
        while let Some(batch) = events.recv().await {
            for event in batch.events.iter() {
                if let Some(cache) = self.owner(&event.kv.key) {
                    cache.apply(event);
                }
            }
            self.seen.send_replace(batch.revision);
        }
        Ok(())
    }

    async fn reload(&self, head: i64) -> Result<(), store::Error> {
        // Also those that are being loaded: their read may be older than the gap.
        let slots: Vec<Arc<Slot>> = self.slots.read().values().cloned().collect();
        for slot in &slots {
            let read = self.store.range(Range::head(KeyRange::prefix(slot.cache.prefix().to_owned()))).await?;
            slot.cache.load(&read.kvs, read.revision);
        }
        self.seen.send_replace(head);
        Ok(())
    }

    /// The cache that a key belongs to: its prefix is one or two segments below the root.
    fn owner(&self, key: &[u8]) -> Option<Arc<Cache>> {
        let key = std::str::from_utf8(key).ok()?;
        let slots = self.slots.read();
        let ends = key.match_indices('/').map(|(at, _)| at + 1).skip(2).take(2);
        ends.filter_map(|end| slots.get(&key[..end])).next().map(|slot| slot.cache.clone())
    }

    /// Sets the revision the feed starts from: everything before it is read, not followed.
    pub async fn start_at_head(&self) -> Result<(), Status> {
        let head = self.store.revision().await.map_err(keys::store_error)?;
        self.seen.send_replace(head);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_cache_made_before_its_definition_is_known_selects_by_all_versions() {
        let kinds = api::kinds::builtin();
        let kind = |plural| kinds.by_resource("", "v1", plural).unwrap();
        let (row, all) = (kind("configmaps"), kind("pods").selectable.clone());
        let caches = Caches::new(Arc::new(store::MemoryStore::default()));
        let early = caches.of(row).await.unwrap();
        let entry = Passing { uid: "u".to_owned(), selectable: all.clone(), state: 1 };
        let passing = HashMap::from([(keys::prefix(row), entry)]);
        caches.passing(passing.clone());
        let known = caches.of(row).await.unwrap();
        assert_eq!(known.selectable(), &*all);
        assert_eq!(early.epoch(), 1, "who watches it comes again");
        caches.passing(passing);
        assert!(Arc::ptr_eq(&known, &caches.of(row).await.unwrap()), "and then it stays");
    }
}
