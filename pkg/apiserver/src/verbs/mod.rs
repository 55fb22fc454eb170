//! The verbs, each once for all kinds.

pub mod create;
pub mod delete;
pub mod eviction;
pub mod patch;
pub mod read;
pub mod select;
pub mod subresource;
pub mod update;
pub mod watch;
