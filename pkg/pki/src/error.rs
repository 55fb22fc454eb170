//! What can go wrong with keys and certificates.

use std::path::PathBuf;

/// Errors of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be read or written.
    #[error("cannot read or write {}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A key or certificate is not what it should be.
    #[error("{what}: {message}")]
    Malformed {
        /// A file name or a description.
        what: String,
        /// What is wrong.
        message: String,
    },
    /// A certificate could not be made.
    #[error("making a certificate")]
    Issue(#[from] rcgen::Error),
    /// TLS refused the keys.
    #[error("TLS configuration: {0}")]
    Tls(#[from] rustls::Error),
}

impl Error {
    pub(crate) fn malformed(what: impl std::fmt::Display, message: impl std::fmt::Display) -> Self {
        Error::Malformed { what: what.to_string(), message: message.to_string() }
    }
}
