//! The cache of one stored resource.

use std::{
    collections::{BTreeMap, VecDeque},
    ops::Bound,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use api::{Kind, kinds::Names, schema::Shared};
use bytes::Bytes;
use parking_lot::{Mutex, RwLock};
use store::{Event, KeyRange, KeyValue};
use tokio::sync::watch;

use super::facts::Facts;
use crate::stored::Stored;

/// Changes kept for watchers that are behind, whatever their size.
const WINDOW: usize = 1024;
/// Changes kept if they are small.
const WINDOW_MAX: usize = 16 * 1024;
/// What counts as small: bytes of all objects in the window.
const WINDOW_BYTES: usize = 4 * 1024 * 1024;
/// Newest changes whose encoded form is kept for other watchers.
const ENCODED: usize = 32;

/// An object in the cache.
#[derive(Debug)]
pub struct Object {
    /// Storage key.
    pub key: Bytes,
    /// Its committed bytes.
    pub stored: Stored,
    /// What selectors look at.
    pub facts: Facts,
}

impl Object {
    fn new(kv: &KeyValue, selectable: &[Shared<str>]) -> Option<Arc<Self>> {
        match Stored::new(kv.value.clone(), kv.mod_revision) {
            Ok(stored) => {
                let facts = Facts::read(stored.raw(), selectable);
                Some(Arc::new(Object { key: kv.key.clone(), stored, facts }))
            }
            Err(error) => {
                tracing::error!(key = %String::from_utf8_lossy(&kv.key), %error, "unreadable object is left out");
                None
            }
        }
    }

    /// `metadata.name`: the last segment of the key.
    pub fn name(&self) -> &str {
        self.segments().next().unwrap_or_default()
    }

    /// `metadata.namespace` of a namespaced object: the last but one segment of the key.
    pub fn namespace(&self) -> &str {
        self.segments().nth(1).unwrap_or_default()
    }

    fn segments(&self) -> impl Iterator<Item = &str> {
        std::str::from_utf8(&self.key).unwrap_or_default().rsplit('/')
    }
}

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// Written; new if there is no previous state.
    Applied,
    /// Gone; the object is its last state.
    Deleted,
}

/// A change of one object.
#[derive(Debug)]
pub struct Change {
    /// Revision of the write.
    pub revision: i64,
    /// What happened.
    pub kind: ChangeKind,
    /// The new state, or the last one of a deleted object.
    pub object: Arc<Object>,
    /// The state before.
    pub previous: Option<Arc<Object>>,
    /// `None` once the change has aged: a watcher that is behind keeps nothing for others.
    encoded: Mutex<Option<Vec<Encoded>>>,
}

/// A plain watch event, as watchers without selectors get it.
#[derive(Debug)]
struct Encoded {
    row: Weak<Kind>,
    protobuf: bool,
    bytes: Bytes,
}

impl Change {
    fn new(revision: i64, kind: ChangeKind, object: Arc<Object>, previous: Option<Arc<Object>>) -> Self {
        Change { revision, kind, object, previous, encoded: Mutex::new(Some(Vec::new())) }
    }

    /// The plain event as another watcher of the same row had it; dropped as the change ages.
    pub fn encoded(&self, row: &Arc<Kind>, protobuf: bool) -> Option<Bytes> {
        let known = self.encoded.lock();
        let known = known.as_ref()?;
        known.iter().find(|e| e.protobuf == protobuf && e.row.as_ptr() == Arc::as_ptr(row)).map(|e| e.bytes.clone())
    }

    /// Keeps the plain event for other watchers.
    pub fn keep_encoded(&self, row: &Arc<Kind>, protobuf: bool, bytes: Bytes) {
        if let Some(known) = &mut *self.encoded.lock() {
            known.push(Encoded { row: Arc::downgrade(row), protobuf, bytes });
        }
    }
}

/// A page of a list, of one revision.
#[derive(Debug, Default)]
pub struct Page {
    /// In key order.
    pub objects: Vec<Arc<Object>>,
    /// Revision at which this is all there is.
    pub revision: i64,
}

#[derive(Debug, Default)]
struct State {
    /// Events that came while the first read was under way; `None` once it is in.
    loading: Option<Vec<Event>>,
    objects: BTreeMap<Bytes, Arc<Object>>,
    window: VecDeque<Arc<Change>>,
    /// Bytes of the objects in the window.
    window_bytes: usize,
    /// Sequence number of the window's first change.
    first: u64,
    /// Changes after this revision are all in the window.
    floor: i64,
    /// Revision of the newest read.
    loaded: i64,
    /// Revision of the newest change, or of the first read.
    last: i64,
}

/// See the module.
#[derive(Debug)]
pub struct Cache {
    prefix: String,
    selectable: Names,
    state: RwLock<State>,
    newest: watch::Sender<u64>,
    epoch: AtomicU64,
}

/// A watcher's position fell out of the window.
#[derive(Debug, PartialEq, Eq)]
pub struct TooOld {
    /// Oldest revision that can be watched from.
    pub floor: i64,
}

impl Cache {
    pub(super) fn new(prefix: String, selectable: Names) -> Self {
        let state = State { loading: Some(Vec::new()), ..State::default() };
        Cache { prefix, selectable, state: RwLock::new(state), newest: watch::channel(0).0, epoch: AtomicU64::new(0) }
    }

    /// `/registry/pods/`.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Selectable paths, in the order of [`Facts::fields`].
    pub fn selectable(&self) -> &[Shared<str>] {
        &self.selectable
    }

    /// Takes in the first read (or, after a gap in the feed, another one), at `revision`; not if a later
    /// one is in.
    pub(super) fn load(&self, kvs: &[KeyValue], revision: i64) {
        let objects: BTreeMap<_, _> =
            kvs.iter().filter_map(|kv| Some((kv.key.clone(), Object::new(kv, &self.selectable)?))).collect();
        let mut state = self.state.write();
        if state.loading.is_none() && revision < state.last {
            return;
        }
        // One more than there were: who was up to date has missed something, too.
        state.first += state.window.len() as u64 + 1;
        state.window.clear();
        state.window_bytes = 0;
        (state.objects, state.floor) = (objects, revision);
        (state.loaded, state.last) = (revision, revision);
        let late = state.loading.take().unwrap_or_default();
        for event in late.iter().filter(|event| event.kv.mod_revision > revision) {
            state.apply(event, &self.selectable);
        }
        let next = state.next();
        drop(state);
        self.newest.send_replace(next);
    }

    /// Takes in a committed event.
    pub(super) fn apply(&self, event: &Event) {
        let mut state = self.state.write();
        if let Some(late) = &mut state.loading {
            late.push(event.clone());
            return;
        }
        // One write may change several objects.
        if event.kv.mod_revision > state.loaded && event.kv.mod_revision >= state.last {
            state.apply(event, &self.selectable);
        }
        let next = state.next();
        drop(state);
        self.newest.send_replace(next);
    }

    /// One object.
    pub fn get(&self, key: &[u8]) -> Option<Arc<Object>> {
        self.state.read().objects.get(key).cloned()
    }

    /// Whether nothing changed after `revision`.
    pub fn unchanged_since(&self, revision: i64) -> bool {
        self.state.read().last <= revision
    }

    /// Number of objects.
    pub fn count(&self) -> usize {
        self.state.read().objects.len()
    }

    /// Revision of the newest change.
    pub fn last(&self) -> i64 {
        self.state.read().last
    }

    /// Objects of `keys`, in order, for as long as `wanted` (which may count) says so.
    pub fn list(&self, keys: &KeyRange, mut wanted: impl FnMut(&Object) -> Wanted) -> Page {
        let state = self.state.read();
        Page { objects: state.select(keys, &mut wanted), revision: state.last }
    }

    /// All objects, in order.
    pub fn all(&self) -> Vec<Arc<Object>> {
        self.state.read().objects.values().cloned().collect()
    }

    /// The current objects and the position right behind them.
    pub fn list_and_follow(&self, keys: &KeyRange) -> (Page, u64) {
        let state = self.state.read();
        let page = Page { objects: state.select(keys, &mut |_| Wanted::Yes), revision: state.last };
        (page, state.next())
    }

    /// The position of the first change after `revision`; before any window, if that is not known.
    pub fn position_after(&self, revision: i64) -> u64 {
        let state = self.state.read();
        if revision < state.floor {
            return 0;
        }
        state.first + state.window.partition_point(|c| c.revision <= revision) as u64
    }

    /// At most `limit` changes from `position` on.
    pub fn changes(&self, position: u64, limit: usize) -> Result<Vec<Arc<Change>>, TooOld> {
        let state = self.state.read();
        let Some(skip) = position.checked_sub(state.first) else {
            return Err(TooOld { floor: state.floor });
        };
        Ok(state.window.iter().skip(usize::try_from(skip).unwrap_or(usize::MAX)).take(limit).cloned().collect())
    }

    /// Announces the position behind the newest change.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.newest.subscribe()
    }

    /// The position behind the newest change.
    pub fn newest(&self) -> u64 {
        *self.newest.borrow()
    }

    /// Goes up when the watches that are under way are to end: what they serve is served no more, or
    /// otherwise.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Ends the watches that are under way, behind all changes up to now.
    pub(super) fn end_watches(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
        self.newest.send_modify(|_| {});
    }
}

/// What [`Cache::list`] does with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Takes it.
    Yes,
    /// Leaves it.
    No,
}

impl State {
    fn next(&self) -> u64 {
        self.first + self.window.len() as u64
    }

    fn select(&self, keys: &KeyRange, wanted: &mut dyn FnMut(&Object) -> Wanted) -> Vec<Arc<Object>> {
        let start = Bound::Included(keys.start.clone());
        let mut found = Vec::new();
        for (_, object) in self.objects.range((start, Bound::Unbounded)).take_while(|(key, _)| keys.contains(key)) {
            if wanted(object) == Wanted::Yes {
                found.push(object.clone());
            }
        }
        found
    }

    fn apply(&mut self, event: &Event, selectable: &[Shared<str>]) {
        let revision = event.kv.mod_revision;
        self.last = revision;
        let change = if event.is_delete() {
            let Some(gone) = self.objects.remove(&event.kv.key) else { return };
            Change::new(revision, ChangeKind::Deleted, gone, None)
        } else {
            match Object::new(&event.kv, selectable) {
                Some(object) => {
                    let previous = self.objects.insert(event.kv.key.clone(), object.clone());
                    Change::new(revision, ChangeKind::Applied, object, previous)
                }
                // What cannot be read any longer is not served as it was.
                None => {
                    let Some(gone) = self.objects.remove(&event.kv.key) else { return };
                    Change::new(revision, ChangeKind::Deleted, gone, None)
                }
            }
        };
        self.window_bytes += change.object.stored.size();
        self.window.push_back(Arc::new(change));
        if self.window.len() > ENCODED {
            *self.window[self.window.len() - 1 - ENCODED].encoded.lock() = None;
        }
        while (self.window.len() > WINDOW && self.window_bytes > WINDOW_BYTES) || self.window.len() > WINDOW_MAX {
            let Some(dropped) = self.window.pop_front() else { break };
            self.window_bytes -= dropped.object.stored.size();
            self.first += 1;
            self.floor = dropped.revision;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(name: &str, value: &str, revision: i64) -> Event {
        let key = format!("/registry/configmaps/default/{name}");
        let value = Bytes::from(value.to_owned());
        let (create_revision, version, lease) = (1, i64::from(!value.is_empty()), 0);
        Event {
            kv: KeyValue { key: key.into(), value, create_revision, mod_revision: revision, version, lease },
            prev: None,
        }
    }

    fn map(name: &str) -> String {
        format!("{{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{{\"name\":\"{name}\"}}}}")
    }

    fn cache() -> Cache {
        let cache = Cache::new("/registry/configmaps/".to_owned(), Names::default());
        cache.load(&[], 1);
        cache
    }

    #[test]
    fn a_watcher_that_was_behind_kept_its_events_for_nobody() {
        let kinds = api::kinds::builtin();
        let row = kinds.by_resource("", "v1", "configmaps").unwrap();
        let cache = cache();
        for revision in 2..60 {
            cache.apply(&event("a", &map("a"), revision));
        }
        let changes = cache.changes(cache.newest() - 58, 100).unwrap();
        let (old, new) = (changes.first().unwrap(), changes.last().unwrap());
        for (change, kept) in [(old, false), (new, true)] {
            change.keep_encoded(row, false, Bytes::from_static(b"event"));
            assert_eq!(change.encoded(row, false).is_some(), kept);
        }
    }

    #[test]
    fn what_could_not_be_read_any_longer_was_served_as_it_was() {
        let cache = cache();
        cache.apply(&event("a", &map("a"), 2));
        let position = cache.newest();
        cache.apply(&event("a", "k8s", 3));
        assert_eq!(cache.count(), 0);
        assert_eq!(cache.changes(position, 10).unwrap()[0].kind, ChangeKind::Deleted);
    }

    #[test]
    fn the_second_object_of_a_write_was_lost_behind_one_that_cannot_be_read() {
        let cache = cache();
        cache.apply(&event("a", "k8s", 2));
        cache.apply(&event("b", &map("b"), 2));
        assert_eq!(cache.count(), 1);
    }
}
