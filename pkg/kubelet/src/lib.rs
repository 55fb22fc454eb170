//! The kubelet crate.
