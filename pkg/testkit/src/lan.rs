//! Network namespaces joined by a bridge, with no way out.

use std::{
    net::{IpAddr, Ipv4Addr},
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
};

use crate::{run, stale};

/// Of the names of all namespaces; the process id follows.
pub(crate) const PREFIX: &str = "kt-";

/// A bridge in a namespace of its own; removed when dropped, with all machines on it.
pub struct Lan {
    id: String,
    hosts: AtomicU32,
}

impl Lan {
    /// A new one; what dead test runs have left is removed first.
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        if count == 0 {
            stale::remove();
        }
        let lan = Lan { id: format!("{PREFIX}{}-{count}", std::process::id()), hosts: AtomicU32::new(0) };
        let bridge = lan.bridge();
        ip(&["netns", "add", &bridge]);
        ip(&["-n", &bridge, "link", "add", "br0", "type", "bridge"]);
        ip(&["-n", &bridge, "link", "set", "br0", "up"]);
        lan
    }

    fn bridge(&self) -> String {
        format!("{}-lan", self.id)
    }

    /// A new namespace on the bridge: its name, and its address on `eth0`.
    pub fn host(&self) -> (String, IpAddr) {
        let number = self.hosts.fetch_add(1, Ordering::Relaxed) + 1;
        let (host, bridge, port) = (format!("{}-{number}", self.id), self.bridge(), format!("p{number}"));
        let address = Ipv4Addr::new(10, 77, 0, u8::try_from(number).expect("a few hosts"));
        ip(&["netns", "add", &host]);
        ip(&["-n", &host, "link", "set", "lo", "up"]);
        ip(&["-n", &host, "link", "add", "eth0", "type", "veth", "peer", "name", &port, "netns", &bridge]);
        ip(&["-n", &bridge, "link", "set", &port, "master", "br0", "up"]);
        ip(&["-n", &host, "addr", "add", &format!("{address}/24"), "dev", "eth0"]);
        ip(&["-n", &host, "link", "set", "eth0", "up"]);
        (host, address.into())
    }
}

impl Default for Lan {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Lan {
    fn drop(&mut self) {
        for number in 1..=self.hosts.load(Ordering::Relaxed) {
            remove(&format!("{}-{number}", self.id));
        }
        remove(&self.bridge());
    }
}

#[track_caller]
fn ip(args: &[&str]) {
    run(Command::new("ip").args(args), "").success();
}

pub(crate) fn remove(namespace: &str) {
    // Best effort: the next run removes what is left.
    let _ = Command::new("ip").args(["netns", "del", namespace]).output();
}
