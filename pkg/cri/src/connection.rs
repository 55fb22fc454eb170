//! Channels to a runtime's Unix socket.
//!
//! The connector opens the socket by path: no name is resolved, and a channel reconnects by itself when the runtime
//! was restarted. Connecting is lazy after the first time, so a channel survives any number of restarts.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tonic::transport::{Channel, Endpoint, Uri};

use crate::v1::image_service_client::ImageServiceClient;
use crate::v1::runtime_service_client::RuntimeServiceClient;

/// The largest message accepted from and sent to a runtime, in bytes. A node with several hundred pods passes the
/// 4 MiB that gRPC has by default when it lists with annotations; containerd itself accepts 16 MiB.
pub const MESSAGE_LIMIT: usize = 16 << 20;

/// Why a runtime could not be reached.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing listens on the socket, or it does not speak HTTP/2.
    #[error("cannot connect to the container runtime at {}", path.display())]
    Connect {
        /// The socket.
        path: PathBuf,
        /// What the transport said.
        source: tonic::transport::Error,
    },
    /// The endpoint is neither a path nor a `unix://` address.
    #[error("container runtime endpoint {0:?} is not a Unix socket; use unix:///path/to/socket")]
    Endpoint(String),
}

/// Both services of one runtime. Clones share the connection.
#[derive(Clone, Debug)]
pub struct Cri {
    /// Pod sandboxes and containers.
    pub runtime: RuntimeServiceClient<Channel>,
    /// Images.
    pub images: ImageServiceClient<Channel>,
}

impl Cri {
    /// The services over an existing channel.
    pub fn new(channel: Channel) -> Self {
        Self {
            runtime: RuntimeServiceClient::new(channel.clone())
                .max_decoding_message_size(MESSAGE_LIMIT)
                .max_encoding_message_size(MESSAGE_LIMIT),
            images: ImageServiceClient::new(channel)
                .max_decoding_message_size(MESSAGE_LIMIT)
                .max_encoding_message_size(MESSAGE_LIMIT),
        }
    }
}

/// Connects to the runtime at `socket` and fails if nothing answers there.
pub async fn connect(socket: &Path) -> Result<Cri, Error> {
    Ok(Cri::new(channel(socket).await?))
}

/// The path of a `--container-runtime-endpoint`: `unix:///run/…`, `unix:/run/…` or an absolute path.
pub fn socket_path(endpoint: &str) -> Result<PathBuf, Error> {
    let path = endpoint.strip_prefix("unix://").or_else(|| endpoint.strip_prefix("unix:")).unwrap_or(endpoint);
    if path.starts_with('/') { Ok(PathBuf::from(path)) } else { Err(Error::Endpoint(endpoint.to_owned())) }
}

/// A channel to `socket` that has been connected once.
pub(crate) async fn channel(socket: &Path) -> Result<Channel, Error> {
    let path = socket.to_owned();
    let connector = tower::service_fn(move |_: Uri| {
        let path = path.clone();
        async move { Ok::<_, std::io::Error>(TokioIo::new(UnixStream::connect(path).await?)) }
    });
    // The authority is only what HTTP/2 wants to see in a request; nothing connects to it.
    Endpoint::from_static("http://runtime")
        .connect_timeout(Duration::from_secs(5))
        .connect_with_connector(connector)
        .await
        .map_err(|source| Error::Connect { path: socket.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_paths_or_unix_addresses() {
        let table = [
            ("unix:///run/containerd/containerd.sock", Some("/run/containerd/containerd.sock")),
            ("unix:/run/crio.sock", Some("/run/crio.sock")),
            ("/run/crio.sock", Some("/run/crio.sock")),
            ("tcp://10.0.0.1:1", None),
            ("run/x.sock", None),
            ("", None),
        ];
        for (endpoint, want) in table {
            assert_eq!(socket_path(endpoint).ok(), want.map(PathBuf::from), "{endpoint}");
        }
    }
}
