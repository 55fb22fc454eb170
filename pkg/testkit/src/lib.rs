//! The testkit crate.
