//! The node crate.

pub mod containerd;
