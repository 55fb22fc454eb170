//! The node agent: pod workers, probes, volumes, node status and the 10250 server.

pub mod pod;
pub mod sources;
pub mod spec;
pub mod volumes;
