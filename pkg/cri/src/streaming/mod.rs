//! The streaming protocol of exec, attach and port-forward: SPDY/3.1 after an HTTP upgrade.
//!
//! [`exec`], [`attach`] and [`port_forward`] are the client's end, towards the URLs that a runtime's CRI gives.
//! [`server`] is the other end, for clients of the kubelet and the API server that speak SPDY. Both sit on
//! [`Session`].

mod frame;
mod headers;
mod remote;
pub mod server;
mod session;
mod upgrade;

#[cfg(test)]
mod tests;

pub use headers::Headers;
pub use remote::{
    ExecStream, ExitStatus, PortConnection, PortForward, Streams, attach, exec, exit_status, port_forward,
};
pub use session::{Role, Session, Stream, StreamReader, StreamWriter};

/// The protocol of exec and attach: separate streams, resizing, an exit status.
pub const REMOTE_COMMAND: &str = "v4.channel.k8s.io";
/// The protocol of port-forward.
pub const PORT_FORWARD: &str = "portforward.k8s.io";

/// Why a stream failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The connection failed.
    #[error("the streaming connection failed: {0}")]
    Io(#[from] std::io::Error),
    /// It ended, or the peer refused the stream.
    #[error("the streaming connection was closed")]
    Closed,
    /// The peer does not keep to the protocol.
    #[error("the peer breaks the streaming protocol: {0}")]
    Protocol(String),
    /// The URL is not one of a runtime's streaming server.
    #[error("{0:?} is not a URL of a streaming server: an address and a port are needed")]
    Url(String),
    /// The upgrade was refused.
    #[error("the streaming server answered {status}: {body}")]
    Refused {
        /// The HTTP status.
        status: http::StatusCode,
        /// The beginning of the body.
        body: String,
    },
    /// The runtime could not do it; the text is its own.
    #[error("{0}")]
    Failed(String),
    /// The client did not open its streams in time.
    #[error("the client did not open its streams in time")]
    Late,
}
