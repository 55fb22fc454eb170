//! The proxy crate.
