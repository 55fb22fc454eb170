//! The proof of the store: its rules on each backend, histories under load, kills, power cuts, bad disks.
//!
//! `KINGLET_SOAK` multiplies the length of the long ones; `KINGLET_SEED` repeats a run.

#![allow(clippy::unwrap_used)]

mod bad_disk;
mod churn;
mod corruption;
mod crash;
mod disk;
mod histories;
mod rules;
mod semantics;
mod support;
