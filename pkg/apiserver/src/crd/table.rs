//! Rows of the definitions that are established, kept in step with the watch cache.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use api::{Kind, Kinds, Status, kinds::Verbs, schema::Shared};
use bytes::Bytes;
use parking_lot::Mutex;
use store::KeyRange;
use tokio::sync::watch;

use super::definition::Definition;
use crate::{
    cache::{Cache, Object, Passing},
    keys,
    server::Server,
};

/// How long a writer waits until the table has what it wrote.
const PATIENCE: Duration = Duration::from_secs(3);
const GROUP: &str = "apiextensions.k8s.io";
const PLURAL: &str = "customresourcedefinitions";

/// The definitions, and how far the table follows them.
pub struct Definitions {
    known: Mutex<BTreeMap<Bytes, Known>>,
    /// Position in the cache of definitions up to which the table has everything.
    position: watch::Sender<u64>,
}

impl Default for Definitions {
    fn default() -> Self {
        Definitions { known: Mutex::default(), position: watch::channel(0).0 }
    }
}

struct Known {
    definition: Arc<Definition>,
    rows: Vec<Arc<Kind>>,
    /// Revision of the write that the rows are of.
    state: i64,
}

fn row(server: &Server) -> Option<Arc<Kind>> {
    server.builtin.by_resource(GROUP, "v1", PLURAL).cloned()
}

/// The cache of definitions; `None` if the server serves none.
pub async fn source(server: &Server) -> Result<Option<Arc<Cache>>, Status> {
    match row(server) {
        Some(kind) => server.caches.of(&kind).await.map(Some),
        None => Ok(None),
    }
}

/// Keeps the table in step until the server stops.
pub async fn follow(server: Arc<Server>, cache: Arc<Cache>) {
    let mut changes = cache.subscribe();
    loop {
        server.definitions.refresh(&server, &cache);
        tokio::select! {
            () = server.stop.cancelled() => return,
            changed = changes.changed() => if changed.is_err() { return },
        }
    }
}

impl Definitions {
    /// All definitions, in the order of their last writes.
    pub fn all(&self) -> Vec<Arc<Definition>> {
        let mut all: Vec<_> = self.known.lock().values().map(|known| known.definition.clone()).collect();
        all.sort_by_key(|definition| definition.revision);
        all
    }

    /// A definition by name.
    pub fn get(&self, name: &str) -> Option<Arc<Definition>> {
        self.known.lock().values().map(|known| &known.definition).find(|d| d.name == name).cloned()
    }

    /// Announces that the table has looked at further changes.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.position.subscribe()
    }

    /// Waits until the table has every definition that is committed by now.
    pub async fn newest(&self, server: &Server) -> Result<Arc<Kinds>, Status> {
        if let Some(cache) = source(server).await? {
            server.caches.at_head().await?;
            self.reach(cache.newest()).await;
        }
        Ok(server.kinds())
    }

    /// To be told of each write: waits until the table has it, if it was of a definition.
    pub async fn wrote(&self, server: &Server, kind: &Kind, revision: i64) {
        if &*kind.plural != PLURAL || &*kind.group != GROUP {
            return;
        }
        // The write is done, whatever becomes of the waiting.
        if let (Ok(()), Ok(Some(cache))) = (server.caches.reach(revision).await, source(server).await) {
            self.reach(cache.newest()).await;
        }
    }

    async fn reach(&self, position: u64) {
        let mut reached = self.position.subscribe();
        if tokio::time::timeout(PATIENCE, reached.wait_for(|at| *at >= position)).await.is_err() {
            tracing::info!("the table of kinds is slow to follow the definitions");
        }
    }

    /// Brings the table in step with the cache.
    pub(super) fn refresh(&self, server: &Server, cache: &Cache) {
        let keys = KeyRange::prefix(cache.prefix().to_owned());
        let (page, position) = cache.list_and_follow(&keys);
        let mut known = self.known.lock();
        let shown = |known: &BTreeMap<Bytes, Known>| -> Vec<_> {
            known.iter().map(|(key, known)| (key.clone(), known.state, known.definition.deleting)).collect()
        };
        let before = shown(&known);
        let there: HashSet<&Bytes> = page.objects.iter().map(|object| &object.key).collect();
        known.retain(|key, _| there.contains(key));
        for object in &page.objects {
            if known.get(&object.key).is_none_or(|known| known.definition.revision != object.stored.revision) {
                let was = known.remove(&object.key);
                if let Some(is) = compile(object, was) {
                    known.insert(object.key.clone(), is);
                }
            }
        }
        if shown(&known) != before {
            let (kinds, passing) = assemble(&server.builtin, &known);
            server.serve_kinds(kinds);
            server.caches.passing(passing);
        }
        drop(known);
        self.position.send_replace(position);
    }
}

/// What is known of a definition as it is now; rows are made anew only where they differ.
fn compile(object: &Object, was: Option<Known>) -> Option<Known> {
    let tree = match object.stored.tree() {
        Ok(tree) => tree,
        Err(error) => {
            tracing::error!(definition = object.name(), %error, "unreadable");
            return None;
        }
    };
    let definition = Arc::new(Definition::new(&tree, object.stored.revision));
    if let Some(was) = was.filter(|was| was.definition.fingerprint == definition.fingerprint) {
        let same = was.definition.deleting == definition.deleting;
        let rows = if same { was.rows } else { ending(was.rows.iter().map(|row| Kind::clone(row))) };
        return Some(Known { definition, rows, state: was.state });
    }
    let made = if definition.is_served() { api::crd::rows(&tree) } else { Ok(Vec::new()) };
    let rows = made.unwrap_or_else(|error| {
        tracing::warn!(definition = definition.name, error, "cannot be served");
        Vec::new()
    });
    let rows = if definition.deleting { ending(rows) } else { rows.into_iter().map(Arc::new).collect() };
    Some(Known { definition, rows, state: object.stored.revision })
}

/// Rows of a definition that is going: nothing comes any more.
fn ending(rows: impl IntoIterator<Item = Kind>) -> Vec<Arc<Kind>> {
    rows.into_iter().map(|row| Arc::new(Kind { verbs: Verbs::Ending, ..row })).collect()
}

/// The whole table, and what is to be known of the resources in it that come and go.
fn assemble(builtin: &Kinds, known: &BTreeMap<Bytes, Known>) -> (Kinds, HashMap<String, Passing>) {
    let mut passing = HashMap::new();
    let mut custom: Vec<Arc<Kind>> = Vec::new();
    for known in known.values() {
        // What is built in is not to be hidden.
        let fresh = |row: &&Arc<Kind>| !builtin.rows().iter().any(|b| b.group == row.group && b.plural == row.plural);
        for row in known.rows.iter().filter(fresh) {
            let entry = passing.entry(keys::prefix(row)).or_insert_with(|| Passing {
                uid: known.definition.uid.clone(),
                selectable: Arc::new([]),
                state: known.state,
            });
            entry.selectable = union(&entry.selectable, &row.selectable);
            custom.push(row.clone());
        }
    }
    custom.sort_by(|a, b| (&*a.group, &*a.plural).cmp(&(&*b.group, &*b.plural)));
    let rows = builtin.rows().iter().cloned().chain(custom).collect();
    (Kinds::new(rows), passing)
}

fn union(a: &[Shared<str>], b: &[Shared<str>]) -> Arc<[Shared<str>]> {
    let further = b.iter().filter(|path| !a.contains(path));
    a.iter().chain(further).cloned().collect()
}
