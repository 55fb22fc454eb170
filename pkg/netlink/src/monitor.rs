//! News from the kernel: that others changed something.
//!
//! A monitor only says that something happened; what it was is to be looked up. Guarantees: no
//! change is missed, also where news were lost for want of memory.

use std::io::ErrorKind;

use netlink_packet_core::NetlinkMessage;
use netlink_packet_netfilter::{
    NetfilterMessage, NetfilterMessageInner,
    nftables::{NfTablesMessage, TableAttribute},
};
use netlink_sys::protocols::{NETLINK_NETFILTER, NETLINK_ROUTE};
use tokio::io::{Interest as Readiness, unix::AsyncFd};

use crate::{Error, Result, socket::split};

/// What is of interest.
enum Interest {
    /// Links, IPv4 addresses and routes.
    Network,
    /// The end of a table.
    Table(String),
}

/// A socket that hears news, in the namespace of the thread that opened it. It is made and used in
/// a tokio runtime with I/O.
pub struct Monitor {
    socket: AsyncFd<netlink_sys::Socket>,
    interest: Interest,
}

impl Monitor {
    /// News of links, IPv4 addresses and IPv4 routes.
    pub fn network() -> Result<Self> {
        const RTNLGRP_LINK: u32 = 1;
        const RTNLGRP_IPV4_IFADDR: u32 = 5;
        const RTNLGRP_IPV4_ROUTE: u32 = 7;
        Self::open(NETLINK_ROUTE, &[RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV4_ROUTE], Interest::Network)
    }

    /// News that a table of nftables was deleted, as flushing all rules of a machine does.
    pub fn table(name: &str) -> Result<Self> {
        const NFNLGRP_NFTABLES: u32 = 7;
        Self::open(NETLINK_NETFILTER, &[NFNLGRP_NFTABLES], Interest::Table(name.to_owned()))
    }

    fn open(protocol: isize, groups: &[u32], interest: Interest) -> Result<Self> {
        let error = |what| move |source| Error::Socket { what, source };
        let mut socket = netlink_sys::Socket::new(protocol).map_err(error("open"))?;
        socket.bind_auto().map_err(error("bind"))?;
        for group in groups {
            socket.add_membership(*group).map_err(error("subscribe"))?;
        }
        socket.set_non_blocking(true).map_err(error("configure"))?;
        // SAFETY: the socket owns its descriptor, and nothing here replaces or closes it while it
        // is registered.
        #[allow(unsafe_code)]
        let socket = unsafe { AsyncFd::register_with_interest(socket, Readiness::READABLE) };
        let socket = socket.map_err(|e| error("register")(e.into()))?;
        Ok(Monitor { socket, interest })
    }

    /// Waits until something of interest has happened since the last call. An error of the socket
    /// counts as news.
    pub async fn changed(&self) {
        loop {
            let interesting = match self.socket.readable().await {
                Ok(mut ready) => {
                    let interesting = self.drain().unwrap_or(true);
                    ready.clear_ready();
                    interesting
                }
                // The runtime is shutting down.
                Err(_) => std::future::pending().await,
            };
            if interesting {
                return;
            }
        }
    }

    /// Takes all news that are there; whether any is of interest.
    pub fn drain(&self) -> Result<bool> {
        let mut interesting = false;
        loop {
            match self.socket.get_ref().recv_from_full() {
                Ok((buffer, _)) => interesting |= split(&buffer).any(|message| self.is_interesting(message)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(interesting),
                // News were lost: anything may have happened.
                Err(error) if error.raw_os_error() == Some(nix::libc::ENOBUFS) => interesting = true,
                Err(source) => return Err(Error::Socket { what: "receive", source }),
            }
        }
    }

    fn is_interesting(&self, message: &[u8]) -> bool {
        let Interest::Table(table) = &self.interest else { return true };
        // Most news are about elements, and many: look at the type first.
        const NFT_MSG_DELTABLE: u16 = 10 << 8 | 2;
        let kind = message.get(4..6).and_then(|bytes| bytes.try_into().ok()).map(u16::from_ne_bytes);
        if kind != Some(NFT_MSG_DELTABLE) {
            return false;
        }
        let Ok(message) = NetlinkMessage::<NetfilterMessage>::deserialize(message) else { return true };
        match message.payload {
            netlink_packet_core::NetlinkPayload::InnerMessage(NetfilterMessage {
                inner: NetfilterMessageInner::NfTables(NfTablesMessage::DeleteTable(deleted)),
                ..
            }) => deleted.attributes.contains(&TableAttribute::Name(table.clone())),
            _ => false,
        }
    }
}
