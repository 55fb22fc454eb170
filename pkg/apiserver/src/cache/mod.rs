//! The watch cache: what the store holds, kept beside the few parsed facts that selectors need.
//!
//! # Guarantees
//! - One [`Cache`] to each stored resource, made at its first use. Objects are the committed bytes,
//!   shared with the store.
//! - All caches are fed by one store watch, in revision order; [`Caches::at_head`] waits until they
//!   have seen everything that was committed before the call.
//! - A cache keeps a bounded window of past changes. Watchers hold a position in it and no buffer of
//!   their own: one that falls out of the window is dropped with `Expired`.
//!
//! - Resources that come and go with their definition ([`Passing`]) take their watchers with them, who
//!   get all changes until then.
//!
//! # Caveats
//! - A cache knows no changes before its first use: watching from an older revision is `Expired`.

mod derived;
mod facts;
mod feed;
mod resource;

pub use derived::Derived;
pub use facts::Facts;
pub use feed::{Caches, Passing};
pub use resource::{Cache, Change, ChangeKind, Object, Page, TooOld, Wanted};
