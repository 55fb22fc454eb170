//! Cgroups of pods, in all three layouts. The runtime makes them with the sandbox; nobody else takes them away.

use std::fs;
use std::io;
use std::path::Path;

const ROOT: &str = "/sys/fs/cgroup";

/// Removes a cgroup that holds no processes any more, in every hierarchy.
pub fn remove(path: &str) -> io::Result<()> {
    let path = path.trim_start_matches('/');
    let root = Path::new(ROOT);
    let mut found = vec![root.join(path)];
    if !root.join("cgroup.controllers").exists() {
        found.extend(fs::read_dir(root)?.flatten().map(|e| e.path().join(path)));
    }
    for dir in found.iter().filter(|d| d.is_dir()) {
        remove_tree(dir)?;
    }
    Ok(())
}

/// Cgroups are removed from the leaves up; their files go with them.
fn remove_tree(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)?.flatten() {
        if entry.file_type().is_ok_and(|t| t.is_dir()) {
            remove_tree(&entry.path())?;
        }
    }
    match fs::remove_dir(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
