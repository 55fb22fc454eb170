//! The pure half of the Kubernetes API: schemas, kinds, patches, selectors and errors.
//!
//! In flight an object is one [`serde_json::Value`] tree, walked with its [`schema`]. Nothing in
//! this crate performs I/O, reads a clock or knows HTTP: what it needs of the outside is passed in.

pub mod apply;
pub mod crd;
pub mod decode;
pub mod defaults;
pub mod discovery;
pub mod kinds;
pub mod meta;
pub mod openapi;
pub mod patch;
pub mod protobuf;
pub mod quantity;
pub mod schema;
#[cfg(test)]
mod schema_fixture;
pub mod selector;
pub mod status;
pub mod strategy;
pub mod table;
pub mod tree;
pub mod user;
pub mod validation;

pub use kinds::{Kind, Kinds};
pub use schema::Schema;
pub use serde_json::Value;
pub use status::Status;
pub use strategy::Strategy;
pub use user::UserInfo;

/// What `/version` and nodes report.
pub const VERSION: &str = concat!("v", env!("CARGO_PKG_VERSION"), "+kinglet1");
