//! The node crate.
