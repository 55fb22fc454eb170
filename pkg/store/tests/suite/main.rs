//! The proof of the store: its rules on each backend, histories under load, kills, power cuts, bad disks.
//!
//! `KINGLET_SOAK` multiplies the length of the long ones; `KINGLET_SEED` repeats a run.

mod disk;
mod histories;
mod semantics;
mod support;
