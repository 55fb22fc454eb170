//! The node crate.

pub mod routes;
