//! The node agent: pod workers, probes, volumes, node status and the 10250 server.

pub mod image;
pub mod logs;
pub mod pod;
pub mod probe;
pub mod runtime;
pub mod sources;
pub mod spec;
pub mod volumes;
