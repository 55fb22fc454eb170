//! What is made of all objects of some built-in resources: an index that is made anew once one of their
//! caches has moved.
//!
//! # Guarantees
//! - It is never older than the caches were when it was asked for.
//! - Of those who ask at once, one makes it and the others wait.

use std::sync::Arc;

use api::{Kinds, Status, Value};
use arc_swap::ArcSwapOption;
use tokio::sync::{Mutex, OnceCell};

use super::{Cache, Caches};

/// See the module.
pub struct Derived<T, const N: usize> {
    caches: Arc<Caches>,
    group: &'static str,
    resources: [&'static str; N],
    /// Built-in resources do not go: theirs are looked up once.
    sources: OnceCell<[Arc<Cache>; N]>,
    current: ArcSwapOption<([i64; N], T)>,
    making: Mutex<()>,
}

impl<T, const N: usize> Derived<T, N> {
    /// Of these resources, in version v1.
    pub fn new(caches: Arc<Caches>, group: &'static str, resources: [&'static str; N]) -> Self {
        let (sources, current) = (OnceCell::new(), ArcSwapOption::empty());
        Derived { caches, group, resources, sources, current, making: Mutex::new(()) }
    }

    /// As it is now: `make` gets the objects of each resource. Without a revision if the table lacks the
    /// resources (tests).
    pub async fn get(
        &self,
        kinds: &Kinds,
        make: impl FnOnce([Vec<Value>; N]) -> T,
    ) -> Result<Arc<([i64; N], T)>, Status> {
        let sources = match self.sources.get() {
            Some(sources) => sources,
            None => match self.look_up(kinds).await? {
                Some(found) => self.sources.get_or_init(|| async { found }).await,
                None => return Ok(Arc::new(([0; N], make(std::array::from_fn(|_| Vec::new()))))),
            },
        };
        if let Some(current) = self.at(revisions(sources)) {
            return Ok(current);
        }
        let _making = self.making.lock().await;
        // Another may have made it meanwhile.
        let revisions = revisions(sources);
        if let Some(current) = self.at(revisions) {
            return Ok(current);
        }
        let objects = |cache: &Arc<Cache>| -> Vec<Value> {
            cache.all().iter().filter_map(|object| object.stored.tree().ok()).collect()
        };
        let made = Arc::new((revisions, make(sources.each_ref().map(objects))));
        self.current.store(Some(made.clone()));
        Ok(made)
    }

    async fn look_up(&self, kinds: &Kinds) -> Result<Option<[Arc<Cache>; N]>, Status> {
        let mut found = Vec::with_capacity(N);
        for resource in self.resources {
            let Some(kind) = kinds.by_resource(self.group, "v1", resource) else { return Ok(None) };
            found.push(self.caches.of(kind).await?);
        }
        Ok(found.try_into().ok())
    }

    fn at(&self, revisions: [i64; N]) -> Option<Arc<([i64; N], T)>> {
        self.current.load_full().filter(|current| current.0 == revisions)
    }
}

fn revisions<const N: usize>(sources: &[Arc<Cache>; N]) -> [i64; N] {
    sources.each_ref().map(|cache| cache.last())
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        time::Duration,
    };

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn an_index_is_made_once_however_many_ask_for_it_at_once() {
        let caches = Caches::new(Arc::new(store::MemoryStore::default()));
        let derived = Arc::new(Derived::<(), 2>::new(caches, "rbac.authorization.k8s.io", ["roles", "rolebindings"]));
        let (made, all) = (Arc::new(AtomicUsize::new(0)), Arc::new(tokio::sync::Barrier::new(4)));
        let ask = || {
            let (derived, made, all) = (derived.clone(), made.clone(), all.clone());
            tokio::spawn(async move {
                let kinds = api::kinds::builtin();
                all.wait().await;
                let make = |_: [Vec<Value>; 2]| {
                    std::thread::sleep(Duration::from_millis(50));
                    made.fetch_add(1, Ordering::Relaxed);
                };
                derived.get(&kinds, make).await.unwrap();
            })
        };
        for task in [ask(), ask(), ask(), ask()] {
            task.await.unwrap();
        }
        assert_eq!(made.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn a_table_without_the_resources_is_not_remembered() {
        let caches = Caches::new(Arc::new(store::MemoryStore::default()));
        let derived = Derived::<usize, 1>::new(caches, "rbac.authorization.k8s.io", ["roles"]);
        assert_eq!(derived.get(&Kinds::new(Vec::new()), |_| 7).await.unwrap().1, 7);
        assert_eq!(derived.get(&api::kinds::builtin(), |_| 8).await.unwrap().1, 8);
        assert_eq!(derived.get(&api::kinds::builtin(), |_| 9).await.unwrap().1, 8);
    }
}
