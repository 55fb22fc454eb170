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

use std::path::Path;

/// Writes a file that another program may read at any moment: whole, and only if it differs. True if it did.
pub fn write_whole(path: &Path, text: &str) -> std::io::Result<bool> {
    if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(false);
    }
    std::fs::create_dir_all(path.parent().unwrap_or(path))?;
    let draft = path.with_extension("new");
    std::fs::write(&draft, text)?;
    std::fs::rename(&draft, path)?;
    Ok(true)
}

/// Messages and clients of the container runtime interface, generated from `proto/cri.proto`.
#[allow(missing_docs, unused_qualifications, clippy::all)]
pub mod v1 {
    tonic::include_proto!("runtime.v1");
}

#[cfg(test)]
mod tests {
    #[test]
    fn files_are_written_whole_and_only_if_they_differ() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b.toml");
        for (text, written) in [("one", true), ("one", false), ("two", true)] {
            assert_eq!(super::write_whole(&path, text).unwrap(), written, "{text}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(std::fs::read_dir(dir.path().join("a")).unwrap().count(), 1, "no draft is left");
    }
}
