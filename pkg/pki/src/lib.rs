//! The pki crate.
