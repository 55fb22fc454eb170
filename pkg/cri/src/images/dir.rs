//! A directory of image archives: all of it imported, what is unchanged left out.
//!
//! A record beside the node's other state remembers size, time of change and names of every archive that was
//! imported. An archive is unchanged if size and time are, and containerd still has its names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::{Error, import, store::Store};

/// Names that archives end with. Other files in the directory are left alone.
const ENDINGS: [&str; 7] = [".tar", ".tar.gz", ".tgz", ".tar.zst", ".tzst", ".tar.zstd", ".oci"];

/// What became of one archive.
#[derive(Debug)]
pub struct Report {
    /// The archive.
    pub archive: PathBuf,
    /// What became of it.
    pub outcome: Outcome,
}

/// What became of an archive in a directory.
#[derive(Debug)]
pub enum Outcome {
    /// It was imported and gave these names.
    Imported(Vec<String>),
    /// It had been imported before.
    Unchanged(Vec<String>),
    /// It could not be imported; the others were tried all the same.
    Failed(Error),
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    archives: BTreeMap<String, Known>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    size: u64,
    /// Nanoseconds since 1970.
    changed: u64,
    names: Vec<String>,
}

/// Imports all archives in `directory` in the order of their names. `state` is the file of the record. A directory
/// that does not exist holds no archives.
pub async fn import_dir(socket: &Path, directory: &Path, state: &Path) -> Result<Vec<Report>, Error> {
    let archives = list(directory)?;
    let mut record = load(state);
    if archives.is_empty() {
        return Ok(Vec::new());
    }
    let present = Store::new(crate::connection::channel(socket).await?).names().await?;
    let mut reports = Vec::new();
    for (archive, size, changed) in archives {
        let key = archive.display().to_string();
        let known = record.archives.get(&key).filter(|known| {
            known.size == size && known.changed == changed && known.names.iter().all(|name| present.contains_key(name))
        });
        let outcome = match known {
            Some(known) => Outcome::Unchanged(known.names.clone()),
            None => match import(socket, &archive).await {
                Ok(names) => {
                    record.archives.insert(key, Known { size, changed, names: names.clone() });
                    save(state, &record)?;
                    Outcome::Imported(names)
                }
                Err(error) => Outcome::Failed(error),
            },
        };
        reports.push(Report { archive, outcome });
    }
    Ok(reports)
}

fn list(directory: &Path) -> Result<Vec<(PathBuf, u64, u64)>, Error> {
    let failed = |source| Error::Directory { action: "list", path: directory.to_owned(), source };
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut archives = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') || !ENDINGS.iter().any(|ending| name.ends_with(ending)) {
            continue;
        }
        // Follows links: a bundle may be mounted elsewhere.
        let metadata = match std::fs::metadata(entry.path()) {
            Ok(metadata) if metadata.is_file() => metadata,
            Ok(_) => continue,
            Err(error) => return Err(Error::Directory { action: "read", path: entry.path(), source: error }),
        };
        let changed = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        archives.push((entry.path(), metadata.len(), changed.map_or(0, |time| time.as_nanos() as u64)));
    }
    archives.sort();
    Ok(archives)
}

/// The record; a missing or damaged one only costs another import.
fn load(state: &Path) -> Record {
    std::fs::read(state).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

fn save(state: &Path, record: &Record) -> Result<(), Error> {
    let failed = |source| Error::Directory { action: "write", path: state.to_owned(), source };
    let text = serde_json::to_string_pretty(record).map_err(|error| failed(error.into()))?;
    crate::write_whole(state, &text).map(drop).map_err(failed)
}
