//! The apiserver crate.
