//! The netlink crate.
