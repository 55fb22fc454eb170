//! nftables: the wanted content of a table as plain data, what the kernel holds in the same form,
//! the difference between the two, and transactions that apply it.
//!
//! ```text
//! Table (wanted) ──┐
//!                  ├─ difference → Vec<Op> ── commit: one transaction, all or nothing
//! read → Table ────┘
//! ```
//!
//! Guarantees: a transaction is atomic for packets; only the named table is touched; rules and
//! elements that are already right stay, with their state. Rules are told apart by the digest of
//! their expressions, which is kept with them in the kernel as a comment.

mod diff;
mod expr;
mod model;
mod read;
pub mod trace;
mod wire;

pub use diff::{Op, difference};
pub use expr::{Base, Cmp, CtKey, DynOp, Expr, FibResult, MetaKey, Reg, Reject, Verdict, fib_flag};
pub use model::{Chain, Data, DataType, Family, Hook, HookPoint, HookType, Key, Rule, Set, SetData, Table, key};
pub use read::{Nft, read, read_elements};
pub use wire::{commit, delete_table};

#[cfg(test)]
mod tests;
