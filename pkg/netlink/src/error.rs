//! What can go wrong between us and the kernel.

use std::{io, path::PathBuf};

/// An operation that did not succeed. The operation is named; the cause is the source.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A netlink socket could not be opened, written or read.
    #[error("netlink socket: {what}")]
    Socket {
        /// What was attempted.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// The kernel refused a request.
    #[error("{what}")]
    Kernel {
        /// What was asked.
        what: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// An answer that is not understood.
    #[error("{what}: undecodable answer of the kernel: {reason}")]
    Decode {
        /// What was asked.
        what: String,
        /// What is wrong with the answer.
        reason: String,
    },
    /// A dump was disturbed by changes again and again.
    #[error("{what}: changed during each of several readings")]
    Unsteady {
        /// What was read.
        what: String,
    },
    /// A network namespace could not be made, opened or entered.
    #[error("network namespace {path}: {what}")]
    Namespace {
        /// Its path, or what stands for it.
        path: PathBuf,
        /// What was attempted.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// A kernel parameter could not be read or written.
    #[error("kernel parameter {name}")]
    Sysctl {
        /// Its name, with slashes.
        name: String,
        /// Why not.
        source: io::Error,
    },
}

impl Error {
    fn kernel_errno(&self) -> Option<i32> {
        match self {
            Error::Kernel { source, .. } => source.raw_os_error(),
            _ => None,
        }
    }

    /// Whether the kernel said that the thing is there already.
    pub fn is_exists(&self) -> bool {
        self.kernel_errno() == Some(nix::libc::EEXIST)
    }

    /// Whether the kernel said that there is no such thing.
    pub fn is_not_found(&self) -> bool {
        matches!(
            self.kernel_errno(),
            Some(
                nix::libc::ENOENT | nix::libc::ENODEV | nix::libc::ESRCH | nix::libc::EADDRNOTAVAIL | nix::libc::ENXIO
            )
        )
    }
}
