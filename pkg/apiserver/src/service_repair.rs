//! Brings what is written along with Services in line with them, once after each start: older versions, hands and a
//! crash leave something behind.

use std::{future::Future, sync::Arc, time::Duration};

use api::{Kind, Status, Value};
use bytes::Bytes;
use store::{Compare, KeyRange, Op, Txn};

use crate::{cache::Object, keys, server::Server, service_ips, service_ports};

/// Between two tries of a repair, doubled each time up to the last.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(300));

/// A key that is to be gone, or to be of a Service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The key.
    pub key: Bytes,
    /// The revision at which it was seen.
    pub seen: i64,
    /// What it is to hold, and the namespace and name of the Service.
    pub put: Option<(Bytes, String)>,
}

/// The Services as they are, looked at by a repair after what is written along with them.
pub struct Services {
    prefix: String,
    objects: Vec<Arc<Object>>,
}

impl Services {
    /// All of them; `None` where they are not served.
    pub async fn read(server: &Server) -> Result<Option<Self>, Status> {
        let kinds = server.kinds();
        let Some(kind) = kinds.by_resource("", "v1", "services") else { return Ok(None) };
        Ok(Some(Services { prefix: keys::prefix(kind), objects: listed(server, kind).await? }))
    }

    /// As trees.
    pub fn trees(&self) -> Vec<Value> {
        trees(&self.objects)
    }

    /// Takes the steps. A key is touched only if it is as it was, and given only to a Service that is: one that has
    /// come or gone since sees to its own.
    pub async fn repair(&self, server: &Server, steps: Vec<Repair>) -> Result<(), Status> {
        for Repair { key, seen, put } in steps {
            let mut when = vec![Compare::mod_revision(key.clone(), seen)];
            let then = match put {
                None => Op::Delete(KeyRange::key(key)),
                Some((value, holder)) => {
                    let service = [self.prefix.as_str(), &holder].concat();
                    let found = self.objects.iter().find(|object| object.key == service.as_bytes());
                    when.push(Compare::mod_revision(service, found.map_or(0, |object| object.stored.revision)));
                    Op::put(key, value)
                }
            };
            server.store.txn(Txn { when, then: vec![then], ..Txn::default() }).await.map_err(keys::store_error)?;
        }
        Ok(())
    }
}

/// All objects of a kind, with everything that was committed before this was called.
pub async fn listed(server: &Server, kind: &Kind) -> Result<Vec<Arc<Object>>, Status> {
    server.caches.at_head().await?;
    Ok(server.caches.of(kind).await?.all())
}

/// The objects as trees.
pub fn trees(objects: &[Arc<Object>]) -> Vec<Value> {
    objects.iter().filter_map(|object| object.stored.tree().ok()).collect()
}

/// Repairs addresses and node ports, each until it has been done.
pub async fn run(server: Arc<Server>) {
    tokio::join!(
        until_done("addresses", PAUSES, || service_ips::repair(&server)),
        until_done("node ports", PAUSES, || service_ports::repair(&server))
    );
}

async fn until_done<F>(what: &str, (mut pause, longest): (Duration, Duration), repair: impl Fn() -> F)
where
    F: Future<Output = Result<(), Status>>,
{
    while let Err(status) = repair().await {
        tracing::info!(message = status.message, "{what} of Services could not be looked through; that is tried again");
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(longest);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn a_repair_that_failed_at_the_start_was_not_tried_again() {
        let tries = AtomicUsize::new(0);
        let repair = || async {
            match tries.fetch_add(1, Ordering::Relaxed) {
                12 => Ok(()),
                _ => Err(Status::unavailable("the store is away")),
            }
        };
        until_done("addresses", (Duration::from_millis(1), Duration::from_millis(2)), repair).await;
        assert_eq!(tries.into_inner(), 13);
    }
}
