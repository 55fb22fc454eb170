//! The cri crate.
