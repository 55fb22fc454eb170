//! Who asks, and whether they may: authentication and authorization.

pub mod authn;
pub mod jwt;
pub mod rbac;
mod rbac_rules;

pub use rbac::{Question, Rbac};
