//! What is made once, and kept until what it is made from changes.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Makes the file or folder `path`, unless it has been made from the same. A folder is made anew; a
/// file is left to `make`, which may put another one in its place.
pub fn unless_made(path: &Path, from: &str, make: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    let mark = mark(path);
    if path.exists() && fs::read_to_string(&mark).is_ok_and(|made| made == from) {
        return Ok(());
    }
    if path.is_dir() {
        fs::remove_dir_all(path)?;
    }
    if mark.exists() {
        fs::remove_file(&mark)?;
    }
    make()?;
    Ok(fs::write(mark, from)?)
}

/// Beside it.
fn mark(path: &Path) -> PathBuf {
    let mut mark = path.as_os_str().to_owned();
    mark.push(".made-from");
    PathBuf::from(mark)
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    #[test]
    fn what_has_been_made_from_the_same_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("kubectl-1.37");
        let make = |from: &str, text: &str| unless_made(&file, from, || Ok(fs::write(&file, text)?)).unwrap();
        // What it is made from, what is made of it then, what is there afterwards.
        for (from, text, there) in [("1", "a", "a"), ("1", "b", "a"), ("2", "c", "c")] {
            make(from, text);
            assert_eq!(fs::read_to_string(&file).unwrap(), there, "{from} {text}");
        }
        fs::remove_file(&file).unwrap();
        make("2", "d");
        assert_eq!(fs::read_to_string(&file).unwrap(), "d");
        unless_made(&file, "3", || bail!("broken off")).unwrap_err();
        make("2", "e");
        assert_eq!(fs::read_to_string(&file).unwrap(), "e", "what was broken off is not taken for whole");
    }

    #[test]
    fn a_folder_is_made_anew() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("python");
        for (from, name) in [("1", "old"), ("2", "new")] {
            let make = || Ok(fs::create_dir(&folder).and_then(|()| fs::write(folder.join(name), ""))?);
            unless_made(&folder, from, make).unwrap();
        }
        assert!(folder.join("new").exists() && !folder.join("old").exists());
    }
}
