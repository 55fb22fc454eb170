//! Addresses of pods: one small file to each reserved address.
//!
//! A file is named by its address and holds one line, `CONTAINER INTERFACE`. A file whose line is
//! not whole (a power cut leaves such) counts as absent, and its address as free. All changes are
//! made under a lock on the folder. Nothing is synced to disk: after a power cut the pods are gone
//! too, and [`reconcile`] at start removes what no living sandbox owns.

use std::{
    collections::{BTreeMap, HashSet},
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    net::Ipv4Addr,
    path::{Path, PathBuf},
};

use netlink::Net;
use nix::fcntl::{Flock, FlockArg};

/// What can go wrong with reservations.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder.
    #[error("reservations: {what} {path}")]
    Io {
        /// What was attempted.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// All addresses are taken.
    #[error("all addresses of {cidr} are reserved ({reserved}); pods must go before others can come")]
    Exhausted {
        /// The range.
        cidr: Net,
        /// How many are taken.
        reserved: usize,
    },
}

type Result<T> = std::result::Result<T, Error>;

/// Who holds an address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Owner {
    /// The sandbox.
    pub container_id: String,
    /// Its interface.
    pub ifname: String,
}

/// A locked folder of reservations.
pub struct Store {
    dir: PathBuf,
    _lock: Flock<File>,
}

fn error(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { what, path, source }
}

impl Store {
    /// Opens a folder, making it if need be, and waits for its lock.
    pub fn open(dir: &Path) -> Result<Self> {
        fs::create_dir_all(dir).map_err(error("make", dir))?;
        let path = dir.join("lock");
        let file =
            OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(error("open", &path))?;
        let lock =
            Flock::lock(file, FlockArg::LockExclusive).map_err(|(_, errno)| error("lock", &path)(errno.into()))?;
        Ok(Store { dir: dir.to_owned(), _lock: lock })
    }

    /// All reservations that are whole.
    pub fn reservations(&self) -> Result<BTreeMap<Ipv4Addr, Owner>> {
        let mut found = BTreeMap::new();
        for entry in fs::read_dir(&self.dir).map_err(error("list", &self.dir))? {
            let entry = entry.map_err(error("list", &self.dir))?;
            let Some(ip) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            if let Some(owner) = fs::read_to_string(entry.path()).ok().as_deref().and_then(parse_owner) {
                found.insert(ip, owner);
            }
        }
        Ok(found)
    }

    /// The address of an owner: the one it has, or the next free one after the last given.
    pub fn reserve(&self, cidr: Net, owner: &Owner) -> Result<Ipv4Addr> {
        let taken = self.reservations()?;
        if let Some((ip, _)) = taken.iter().find(|(ip, o)| *o == owner && cidr.contains((**ip).into())) {
            return Ok(*ip);
        }
        let last_path = self.dir.join("last");
        let last = fs::read_to_string(&last_path).ok().and_then(|text| text.trim().parse().ok());
        let taken_ips: HashSet<Ipv4Addr> = taken.keys().copied().collect();
        let ip = choose(cidr, last, &taken_ips).ok_or(Error::Exhausted { cidr, reserved: taken.len() })?;
        self.write(&ip.to_string(), &format!("{} {}\n", owner.container_id, owner.ifname))?;
        self.write("last", &format!("{ip}\n"))?;
        Ok(ip)
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        let temporary = self.dir.join(format!("{name}.new"));
        let path = self.dir.join(name);
        File::create(&temporary)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .and_then(|()| fs::rename(&temporary, &path))
            .map_err(error("write", &path))
    }

    /// Frees what an owner holds, and returns it.
    pub fn release(&self, owner: &Owner) -> Result<Vec<Ipv4Addr>> {
        self.release_where(|o| o == owner)
    }

    /// Frees what owners that `gone` accepts hold, and returns it.
    pub fn release_where(&self, gone: impl Fn(&Owner) -> bool) -> Result<Vec<Ipv4Addr>> {
        let ips: Vec<_> = self.reservations()?.into_iter().filter(|(_, o)| gone(o)).map(|(ip, _)| ip).collect();
        for ip in &ips {
            let path = self.dir.join(ip.to_string());
            match fs::remove_file(&path) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(error("remove", &path)(e)),
                _ => {}
            }
        }
        Ok(ips)
    }
}

fn parse_owner(text: &str) -> Option<Owner> {
    let (container_id, ifname) = text.strip_suffix('\n')?.split_once(' ')?;
    (!container_id.is_empty() && !ifname.is_empty())
        .then(|| Owner { container_id: container_id.to_owned(), ifname: ifname.to_owned() })
}

/// The next free address after `last`, around the end. Never the network's own, the bridge's (the
/// first) or the broadcast address.
fn choose(cidr: Net, last: Option<Ipv4Addr>, taken: &HashSet<Ipv4Addr>) -> Option<Ipv4Addr> {
    let (network, mask) = cidr.v4()?;
    let first = network.to_bits().checked_add(2)?;
    let end = network.to_bits() | !mask.to_bits();
    let start = last.map_or(first, |ip| ip.to_bits().saturating_add(1));
    let start = if (first..end).contains(&start) { start } else { first };
    (start..end).chain(first..start).map(Ipv4Addr::from_bits).find(|ip| !taken.contains(ip))
}

/// Frees the addresses of all sandboxes that are not in `live`, and returns them. To be called
/// when no sandbox is being made: at start of the node, with the runtime's list of sandboxes.
pub fn reconcile(dir: &Path, live: &HashSet<String>) -> Result<Vec<Ipv4Addr>> {
    if !dir.exists() {
        return Ok(vec![]);
    }
    Store::open(dir)?.release_where(|owner| !live.contains(&owner.container_id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(id: &str) -> Owner {
        Owner { container_id: id.into(), ifname: "eth0".into() }
    }

    fn net(text: &str) -> Net {
        text.parse().unwrap()
    }

    #[test]
    fn addresses_are_given_in_turn_and_kept_by_their_owner() {
        let dir = tempfile::tempdir().unwrap();
        let cidr = net("10.42.0.0/29");
        let store = Store::open(dir.path()).unwrap();
        let ip = |last| Ipv4Addr::new(10, 42, 0, last);
        assert_eq!(store.reserve(cidr, &owner("a")).unwrap(), ip(2));
        assert_eq!(store.reserve(cidr, &owner("b")).unwrap(), ip(3));
        assert_eq!(store.reserve(cidr, &owner("a")).unwrap(), ip(2));
        assert_eq!(store.release(&owner("a")).unwrap(), [ip(2)]);
        assert_eq!(store.release(&owner("a")).unwrap(), [] as [Ipv4Addr; 0]);
        // Not the one just freed, so that late packets meet nobody.
        for (id, last) in [("c", 4), ("d", 5), ("e", 6), ("f", 2)] {
            assert_eq!(store.reserve(cidr, &owner(id)).unwrap(), ip(last), "{id}");
        }
        let full = store.reserve(cidr, &owner("g")).unwrap_err();
        assert!(full.to_string().contains("10.42.0.0/29"), "{full}");
    }

    #[test]
    fn zero_length_and_half_written_files_count_as_absent() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [("10.42.0.2", ""), ("10.42.0.3", "abc"), ("10.42.0.4", "abc eth"), ("last", "")] {
            fs::write(dir.path().join(name), text).unwrap();
        }
        let store = Store::open(dir.path()).unwrap();
        assert_eq!(store.reservations().unwrap(), BTreeMap::new());
        assert_eq!(store.reserve(net("10.42.0.0/24"), &owner("a")).unwrap(), Ipv4Addr::new(10, 42, 0, 2));
    }

    #[test]
    fn leaked_reservations_are_freed_at_start() {
        let dir = tempfile::tempdir().unwrap();
        let live = HashSet::from(["a".to_owned()]);
        assert_eq!(reconcile(&dir.path().join("none"), &live).unwrap(), [] as [Ipv4Addr; 0]);
        let store = Store::open(dir.path()).unwrap();
        for id in ["a", "b", "c"] {
            store.reserve(net("10.42.0.0/24"), &owner(id)).unwrap();
        }
        drop(store);
        assert_eq!(reconcile(dir.path(), &live).unwrap().len(), 2);
        assert_eq!(Store::open(dir.path()).unwrap().reservations().unwrap().len(), 1);
    }
}
