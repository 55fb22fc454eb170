//! Identity on disk: the cluster's CA, leaf certificates and their renewal, join tokens,
//! kubeconfig files and TLS configurations.
//!
//! Keys never leave the machine that made them: an agent sends public keys, and gets certificates.

mod ca;
mod error;
mod kubeconfig;
pub mod tls;
mod token;

pub use ca::{Ca, KeyAndCertificate, Usage, machine_id, machine_id_of_certificate, public_key_pem};
pub use error::Error;
pub use kubeconfig::kubeconfig;
pub use token::{Token, TokenError};

use std::{
    fs,
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

/// Reads a file, naming it in errors.
pub fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|source| Error::File { path: path.to_owned(), source })
}

/// Writes a file that only root may read, whole or not at all.
pub fn write_secret(path: &Path, text: &str) -> Result<(), Error> {
    write(path, text, 0o600)
}

/// Writes a file that all may read, whole or not at all.
pub fn write_public(path: &Path, text: &str) -> Result<(), Error> {
    write(path, text, 0o644)
}

fn write(path: &Path, text: &str, mode: u32) -> Result<(), Error> {
    let failed = |source| Error::File { path: path.to_owned(), source };
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    let new = PathBuf::from(format!("{}.new", path.display()));
    // What a crash has left may have another mode.
    let _ = fs::remove_file(&new);
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&new).map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
    fs::rename(&new, path).map_err(failed)
}

#[cfg(test)]
mod tests;
