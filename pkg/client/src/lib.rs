//! How components reach the API: the same `kube::Client` inside the server process and on agents,
//! informers over it, and the runtime that all controllers share.

pub mod informer;
pub mod transport;

pub use informer::{Change, Informer, Informers, ObjectKey};
pub use transport::in_process;
