//! Images from archives, without a registry.
//!
//! An archive is a docker-archive or an OCI layout in a tar, plain or compressed with gzip or zstd. It is streamed
//! into containerd's content store under a lease, so its size costs neither memory nor a second copy on disk; then
//! its images get their names, and CRI is waited for to know them. Layers are unpacked by CRI when the first
//! container is made from them.
//!
//! Guarantees: after success every name works in `CreateContainer` at once. After any failure nothing is left that
//! garbage collection does not remove. Digests are checked by containerd while it writes.
//! Assumption: containerd's default snapshotter is the one CRI uses.

mod archive;
mod dir;
mod import;
mod layout;
pub mod names;
pub(crate) mod store;

use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};

pub use dir::{Outcome, Report, import_dir};

/// Images that the garbage collection of images leaves alone carry this label.
pub const PINNED: (&str, &str) = ("io.cri-containerd.pinned", "pinned");
/// Marks an image as one that CRI has taken in.
const MANAGED: (&str, &str) = ("io.cri-containerd.image", "managed");

/// Why an import failed. Each message names the archive, and the member where it got that far.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The archive cannot be opened.
    #[error("cannot open {archive}")]
    Open {
        /// Path of the archive.
        archive: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The archive cannot be read as one.
    #[error("{archive} cannot be read as an image archive: {reason}")]
    Archive {
        /// Path of the archive.
        archive: String,
        /// What is wrong.
        reason: String,
    },
    /// One member is damaged or missing.
    #[error("{archive}: member {member}: {reason}")]
    Member {
        /// Path of the archive.
        archive: String,
        /// Path within the archive.
        member: String,
        /// What is wrong.
        reason: String,
    },
    /// The archive holds nothing for this machine.
    #[error("{archive}: {image} is built for {have}, this node is {want}")]
    Platform {
        /// Path of the archive.
        archive: String,
        /// Name of the image.
        image: String,
        /// What the archive holds.
        have: String,
        /// What the node is.
        want: String,
    },
    /// containerd refused something.
    #[error("containerd could not {action}")]
    Containerd {
        /// What was asked of it.
        action: String,
        /// Its answer.
        source: Box<tonic::Status>,
    },
    /// containerd has the image but CRI does not list it.
    #[error("{name} was imported, but the container runtime does not list it; restart containerd")]
    Unseen {
        /// The name.
        name: String,
    },
    /// No connection.
    #[error(transparent)]
    Connect(#[from] crate::connection::Error),
    /// The record of what was imported cannot be read or written.
    #[error("cannot {action} {}", path.display())]
    Directory {
        /// `list`, `write` …
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Imports the archive at `archive` into the containerd at `socket` and returns the full names it gave.
/// Imported images are pinned: they could not be pulled again.
pub async fn import(socket: &Path, archive: &Path) -> Result<Vec<String>, Error> {
    let label = archive.display().to_string();
    let file = std::fs::File::open(archive).map_err(|source| Error::Open { archive: label.clone(), source })?;
    import_from(socket, &label, file).await
}

/// Imports an archive from any reader; `label` stands for it in messages.
pub async fn import_from(socket: &Path, label: &str, source: impl Read + Send + 'static) -> Result<Vec<String>, Error> {
    let cri = crate::connection::channel(socket).await?;
    import::run(cri, label, source).await
}

/// The full names of pinned images, for runtimes whose CRI does not tell (containerd before 1.7).
pub async fn pinned(socket: &Path) -> Result<HashSet<String>, Error> {
    let store = store::Store::new(crate::connection::channel(socket).await?);
    let (key, value) = PINNED;
    let names = store.names().await?;
    Ok(names
        .into_iter()
        .filter(|(_, labels)| labels.get(key).is_some_and(|v| v == value))
        .map(|(name, _)| name)
        .collect())
}
