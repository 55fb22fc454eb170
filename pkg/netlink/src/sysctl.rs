//! Kernel parameters of the calling thread's network namespace.

use std::{fs, path::PathBuf};

use crate::{Error, Result};

fn path(name: &str) -> PathBuf {
    PathBuf::from("/proc/sys").join(name)
}

/// Reads a parameter, as `net/ipv4/ip_forward`.
pub fn get(name: &str) -> Result<String> {
    fs::read_to_string(path(name))
        .map(|text| text.trim().to_owned())
        .map_err(|source| Error::Sysctl { name: name.to_owned(), source })
}

/// Sets a parameter unless it has that value already, so that a read-only `/proc/sys` that is
/// already right does no harm.
pub fn set(name: &str, value: &str) -> Result<()> {
    if get(name).is_ok_and(|now| now == value) {
        return Ok(());
    }
    fs::write(path(name), value).map_err(|source| Error::Sysctl { name: name.to_owned(), source })
}
