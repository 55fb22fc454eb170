//! Who asks, and whether they may: authentication and authorization.

pub mod authn;
pub mod authorizer;
pub mod jwt;
pub mod node;
pub mod node_links;
pub mod rbac;
pub mod rbac_rules;

pub use authorizer::Authorizer;
pub use rbac::{Question, Rbac};
