//! Rotation: a log that has grown past its limit is renamed, the runtime opens a new one, old ones are removed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Size at which a log is rotated, in bytes.
pub const MAX_SIZE: u64 = 10 << 20;
/// Files kept to each container, the one being written included.
pub const MAX_FILES: usize = 5;

/// The rotated files of a log, oldest first: `PATH.TIME`.
pub fn rotated(path: &Path) -> Vec<PathBuf> {
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else { return Vec::new() };
    let prefix = format!("{}.", name.to_string_lossy());
    let entries = fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.path());
    let ours = |p: &PathBuf| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with(&prefix));
    let mut files: Vec<PathBuf> = entries.filter(ours).collect();
    files.sort();
    files
}

/// Whether a log is due.
pub fn due(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|m| m.len() >= MAX_SIZE)
}

/// Renames the log. The runtime must be told to reopen it; if it cannot, [`undo`] gives the name back.
pub fn rename(path: &Path, now: jiff::Timestamp) -> io::Result<PathBuf> {
    let stamp = now.strftime("%Y%m%d-%H%M%S").to_string();
    let to = PathBuf::from(format!("{}.{stamp}", path.display()));
    fs::rename(path, &to)?;
    let mut old = rotated(path);
    while old.len() >= MAX_FILES {
        fs::remove_file(old.remove(0))?;
    }
    Ok(to)
}

/// Gives a renamed log its name back.
pub fn undo(path: &Path, renamed: &Path) -> io::Result<()> {
    if path.exists() { Ok(()) } else { fs::rename(renamed, path) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_files_are_kept_as_are_wanted() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("0.log");
        for second in 0..8 {
            fs::write(&path, second.to_string()).unwrap();
            rename(&path, jiff::Timestamp::from_second(second).unwrap()).unwrap();
        }
        let kept: Vec<String> = rotated(&path).iter().map(|p| fs::read_to_string(p).unwrap()).collect();
        assert_eq!(kept, ["4", "5", "6", "7"]);
        let last = rotated(&path).pop().unwrap();
        undo(&path, &last).unwrap();
        assert!(path.exists() && !last.exists());
    }
}
