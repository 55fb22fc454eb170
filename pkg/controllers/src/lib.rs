//! The controllers crate.
