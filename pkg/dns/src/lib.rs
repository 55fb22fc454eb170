//! The dns crate.
