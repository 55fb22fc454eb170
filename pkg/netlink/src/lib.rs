//! Links, addresses, routes, nftables, conntrack and network namespaces over netlink: typed,
//! synchronous, and without any command of the host.
//!
//! Everything here acts on the network namespace of the calling thread at the time a socket is
//! opened. Calls block for as long as the kernel takes, which is microseconds; asynchronous callers
//! wrap bulk work in `spawn_blocking`.

pub mod conntrack;
mod error;
mod link;
mod namespace;
mod net;
pub mod nft;
mod route;
mod socket;
pub mod sysctl;

pub use error::Error;
pub use link::{Address, Link, PortOptions, Rtnetlink};
pub use namespace::Namespace;
pub use net::{Net, ParseNetError};
pub use route::{Route, RouteKind};

/// Shorthand of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[cfg(test)]
mod tests;
