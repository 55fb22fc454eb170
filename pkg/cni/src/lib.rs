//! The cni crate.
