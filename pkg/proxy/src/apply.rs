//! Brings the kernel from what it holds to what is wanted, and tidies up what outlives rules:
//! connections and remembered clients of endpoints that are gone.

use std::collections::{BTreeMap, BTreeSet};

use netlink::{
    Result,
    conntrack::{Connection, Conntrack, UDP},
    nft::{self, Family, Key, Op, Table, key},
};

use crate::decide::Wanted;

/// Remembers what the kernel holds, so that it is read only at first and after an error.
pub(crate) struct Applier {
    name: String,
    present: Option<Table>,
}

impl Applier {
    pub fn new(name: String) -> Self {
        Applier { name, present: None }
    }

    /// What was known of the kernel holds no more.
    pub fn forget(&mut self) {
        self.present = None;
    }

    /// Applies in a thread that may block. After an error, what is present is read anew.
    pub async fn apply(self, wanted: Wanted) -> (Self, Result<()>) {
        let name = self.name.clone();
        let done = tokio::task::spawn_blocking(move || {
            let name = self.name.clone();
            match self.apply_now(wanted) {
                Ok(present) => (Applier { name, present: Some(present) }, Ok(())),
                Err(error) => (Applier { name, present: None }, Err(error)),
            }
        });
        done.await.unwrap_or_else(|panicked| {
            let what = format!("apply service rules: {panicked}");
            let error = netlink::Error::Kernel { what, source: std::io::Error::other("panic") };
            (Applier::new(name), Err(error))
        })
    }

    fn apply_now(self, wanted: Wanted) -> Result<Table> {
        let present = match self.present {
            Some(present) => Some(present),
            None => nft::read(Family::Ip, &self.name)?,
        };
        let ops = nft::difference(present.as_ref(), &wanted.table);
        if ops.is_empty() {
            return Ok(wanted.table);
        }
        nft::commit(Family::Ip, &self.name, &ops)?;
        tracing::debug!(steps = ops.len(), "service rules changed");
        let changed = changed_targets(&ops);
        forget_clients(&wanted, &changed)?;
        forget_connections(&wanted, &changed)?;
        Ok(wanted.table)
    }
}

/// Bytes of address, protocol and port in a key.
const TARGET: usize = 12;

/// The targets (address, protocol, port) whose endpoints changed.
fn changed_targets(ops: &[Op]) -> BTreeSet<Key> {
    let mut changed = BTreeSet::new();
    for op in ops {
        if let Op::AddElements(_, elements) | Op::DeleteElements(_, elements) = op {
            changed.extend(elements.keys().filter_map(|key| key.get(..TARGET)).map(Key::from));
        }
    }
    changed
}

/// Clients that are remembered with an endpoint that is gone choose anew.
fn forget_clients(wanted: &Wanted, changed: &BTreeSet<Key>) -> Result<()> {
    let table = &wanted.table;
    for (name, set) in &table.sets {
        let Some(timeout) = set.timeout else { continue };
        for (client, endpoint) in nft::read_elements(table.family, &table.name, name)? {
            // The client's address stands before the target.
            let Some(target) = client.get(4..4 + TARGET) else { continue };
            let nft::Data::Value(to) = &endpoint else { continue };
            let keeps = wanted.allowed.get(target).is_some_and(|allowed| {
                allowed.affinity.map(u64::from) == Some(timeout.as_secs()) && allowed.endpoints.contains(to)
            });
            if keeps || !changed.contains(target) {
                continue;
            }
            let gone = Op::DeleteElements(name.clone(), BTreeMap::from([(client, endpoint)]));
            match nft::commit(table.family, &table.name, &[gone]) {
                // Its time was over meanwhile.
                Err(error) if error.is_not_found() => {}
                done => done?,
            }
        }
    }
    Ok(())
}

/// A UDP sender that goes on sending would stay with an endpoint that is gone, or with the refusal
/// it got when there was none. TCP notices by itself.
fn forget_connections(wanted: &Wanted, changed: &BTreeSet<Key>) -> Result<()> {
    if !changed.iter().any(|target| target.get(4) == Some(&UDP)) {
        return Ok(());
    }
    let stale = |connection: &Connection| {
        let (to, from) = (&connection.original, &connection.reply);
        let target = |ip| key::join([key::addr(ip), key::protocol(to.protocol), key::port(to.destination_port)]);
        let by = key::join([key::addr(from.source), key::port(from.source_port)]);
        to.protocol == UDP
            && [target(to.destination), target(std::net::Ipv4Addr::UNSPECIFIED)].iter().any(|target| {
                changed.contains(target) && wanted.allowed.get(target).is_none_or(|a| !a.endpoints.contains(&by))
            })
    };
    let mut conntrack = Conntrack::open()?;
    conntrack.select(stale)?.iter().try_for_each(|connection| conntrack.delete(connection))
}
