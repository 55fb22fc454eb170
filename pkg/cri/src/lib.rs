//! The container runtime from the node's side: CRI v1 over a Unix socket, containerd's own services where CRI has no
//! call for it (events, image import), and the streaming protocol of exec, attach and port-forward.
//!
//! Nothing here knows of pods. The generated client stands in [`v1`]; [`connect`] gives both of its services.

pub mod connection;
pub mod events;
pub mod images;
pub mod pause;
pub mod registries;
pub mod streaming;

pub use connection::{Cri, Error, connect};

/// Messages and clients of the container runtime interface, generated from `proto/cri.proto`.
#[allow(missing_docs, unused_qualifications, clippy::all)]
pub mod v1 {
    tonic::include_proto!("runtime.v1");
}
