//! Files that change all at once: the layout in which containers see ConfigMaps, Secrets, tokens and downward data.
//!
//! A volume holds a directory named after the time of writing, a symbolic link `..data` to it, and for each first path
//! component a link `NAME → ..data/NAME`. An update writes a new directory and replaces `..data` by rename, so a reader
//! sees the old content or the new, never a mixture.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::{Component, Path, PathBuf};

/// The link that is replaced.
const DATA: &str = "..data";
/// Its successor, for a moment.
const NEW_DATA: &str = "..data_tmp";

/// One file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Content.
    pub data: Vec<u8>,
    /// Permission bits.
    pub mode: u32,
    /// Owner, root unless given.
    pub user: Option<u32>,
}

/// Files by relative path.
pub type Payload = BTreeMap<String, Entry>;

/// Makes `dir` hold exactly `payload`. Files belong to group `group` and are readable by it where one is given.
/// Returns whether anything was written.
pub fn write(dir: &Path, payload: &Payload, group: Option<u32>) -> io::Result<bool> {
    if let Some(bad) = payload.keys().find(|p| !is_relative(p)) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("path {bad:?} must stay inside the volume")));
    }
    let current = fs::read_link(dir.join(DATA)).ok().map(|target| dir.join(target));
    if let Some(current) = &current
        && holds(current, payload, group)?
    {
        link(dir, payload)?;
        return Ok(false);
    }
    let fresh = make_directory(dir)?;
    fill(&fresh, payload, group)?;
    let name = fresh.file_name().map(PathBuf::from).unwrap_or_default();
    let pending = dir.join(NEW_DATA);
    remove_if_there(&pending)?;
    symlink(name, &pending)?;
    fs::rename(&pending, dir.join(DATA))?;
    link(dir, payload)?;
    if let Some(current) = current.filter(|c| *c != fresh) {
        match fs::remove_dir_all(current) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(true)
}

/// A path that cannot leave the volume nor touch the names that the layout uses itself.
fn is_relative(path: &str) -> bool {
    let inside = Path::new(path).components().all(|c| matches!(c, Component::Normal(_)));
    inside && !path.is_empty() && !path.starts_with("..")
}

fn mode_with(entry: &Entry, group: Option<u32>) -> u32 {
    if group.is_some() { entry.mode | 0o440 } else { entry.mode }
}

/// Whether a data directory has exactly this content.
fn holds(dir: &Path, payload: &Payload, group: Option<u32>) -> io::Result<bool> {
    let mut found = BTreeSet::new();
    let mut open = vec![dir.to_owned()];
    while let Some(next) = open.pop() {
        let entries = match fs::read_dir(&next) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if let Ok(relative) = path.strip_prefix(dir) {
                found.insert(relative.to_string_lossy().into_owned());
            }
        }
    }
    if found.len() != payload.len() || !payload.keys().all(|p| found.contains(p)) {
        return Ok(false);
    }
    for (path, entry) in payload {
        let mut file = File::open(dir.join(path))?;
        let metadata = file.metadata()?;
        if metadata.permissions().mode() & 0o7777 != mode_with(entry, group)
            || metadata.len() != entry.data.len() as u64
        {
            return Ok(false);
        }
        let mut data = Vec::with_capacity(entry.data.len());
        file.read_to_end(&mut data)?;
        if data != entry.data {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A new directory whose name is the time and a number.
fn make_directory(dir: &Path) -> io::Result<PathBuf> {
    let now = jiff::Timestamp::now();
    let stamp = now.strftime("%Y_%m_%d_%H_%M_%S").to_string();
    loop {
        let path = dir.join(format!("..{stamp}.{}", rand::random::<u32>()));
        match fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(()) => {
                fs::set_permissions(&path, Permissions::from_mode(0o755))?;
                return Ok(path);
            }
        }
    }
}

fn fill(dir: &Path, payload: &Payload, group: Option<u32>) -> io::Result<()> {
    for (path, entry) in payload {
        let target = dir.join(path);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        let mut file = File::create(&target)?;
        file.write_all(&entry.data)?;
        file.set_permissions(Permissions::from_mode(mode_with(entry, group)))?;
        if entry.user.is_some() || group.is_some() {
            chown(&target, entry.user, group)?;
            // A change of owner clears some bits.
            file.set_permissions(Permissions::from_mode(mode_with(entry, group)))?;
        }
    }
    Ok(())
}

/// Makes the links that a user sees, and takes away those of files that are gone.
fn link(dir: &Path, payload: &Payload) -> io::Result<()> {
    let first = |p: &String| p.split('/').next().unwrap_or_default().to_owned();
    let wanted: BTreeSet<String> = payload.keys().map(first).collect();
    for name in &wanted {
        let (path, target) = (dir.join(name), Path::new(DATA).join(name));
        if fs::read_link(&path).ok().as_ref() != Some(&target) {
            remove_if_there(&path)?;
            symlink(target, path)?;
        }
    }
    for entry in fs::read_dir(dir)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !name.starts_with("..") && !wanted.contains(&name) {
            remove_if_there(&dir.join(name))?;
        }
    }
    Ok(())
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(files: &[(&str, &str)]) -> Payload {
        let entry = |data: &str| Entry { data: data.into(), mode: 0o644, user: None };
        files.iter().map(|(p, d)| ((*p).to_owned(), entry(d))).collect()
    }

    fn read(dir: &Path, path: &str) -> String {
        fs::read_to_string(dir.join(path)).unwrap_or_else(|e| format!("{:?}", e.kind()))
    }

    #[test]
    fn content_is_replaced_as_a_whole() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        assert!(write(dir, &payload(&[("a", "1"), ("d/b", "2")]), None).unwrap());
        assert_eq!((read(dir, "a"), read(dir, "d/b")), ("1".into(), "2".into()));
        let first = fs::read_link(dir.join(DATA)).unwrap();
        assert!(!write(dir, &payload(&[("a", "1"), ("d/b", "2")]), None).unwrap(), "nothing changed");
        assert_eq!(fs::read_link(dir.join(DATA)).unwrap(), first);
        assert!(write(dir, &payload(&[("a", "3"), ("c", "4")]), None).unwrap());
        assert_eq!((read(dir, "a"), read(dir, "c"), read(dir, "d/b")), ("3".into(), "4".into(), "NotFound".into()));
        assert!(!dir.join(first).exists(), "the old directory is gone");
        assert_eq!(fs::read_dir(dir).unwrap().count(), 4, "..data, its directory, two links");
    }

    #[test]
    fn modes_and_groups_are_set() {
        let dir = tempfile::tempdir().unwrap();
        let mut files = payload(&[("a", "1")]);
        files.get_mut("a").unwrap().mode = 0o400;
        write(dir.path(), &files, Some(1234)).unwrap();
        let metadata = fs::metadata(dir.path().join("a")).unwrap();
        use std::os::unix::fs::MetadataExt as _;
        assert_eq!((metadata.mode() & 0o777, metadata.gid()), (0o440, 1234));
        assert!(!write(dir.path(), &files, Some(1234)).unwrap());
    }

    #[test]
    fn paths_out_of_the_volume_are_refused() {
        for path in ["../x", "/etc/passwd", "a/../../b", "..data", ""] {
            let dir = tempfile::tempdir().unwrap();
            assert!(write(dir.path(), &payload(&[(path, "")]), None).is_err(), "{path}");
        }
    }
}
