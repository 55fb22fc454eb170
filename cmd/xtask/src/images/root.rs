//! The file tree of an image, chosen from unpacked packages.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, bail, ensure};

use crate::check::output;

/// Downloads packages with all they depend on, and unpacks them below `dir`, which is empty.
pub fn unpack(packages: &[&str], dir: &Path) -> anyhow::Result<PathBuf> {
    let (root, debs) = (dir.join("root"), dir.join("debs"));
    fs::create_dir_all(&root)?;
    fs::create_dir_all(&debs)?;
    if packages.is_empty() {
        return Ok(root);
    }
    let kinds = ["recommends", "suggests", "conflicts", "breaks", "replaces", "enhances"].map(|k| format!("--no-{k}"));
    let listing = output(Command::new("apt-cache").args(["depends", "--recurse"]).args(kinds).args(packages))?;
    let wanted: Vec<&str> = listing.lines().filter(|l| !l.starts_with([' ', '<', '|'])).collect();
    ensure!(!wanted.is_empty(), "the package lists are empty: run apt-get update");
    output(Command::new("apt-get").arg("download").args(wanted).current_dir(&debs))?;
    for deb in fs::read_dir(&debs)? {
        output(Command::new("dpkg-deb").arg("-x").arg(deb?.path()).arg(&root))?;
    }
    Ok(root)
}

enum Entry {
    Folder,
    File { mode: u32, data: Vec<u8> },
    Link(String),
}

/// Chosen files, by absolute path.
pub struct Root {
    packages: PathBuf,
    entries: BTreeMap<String, Entry>,
}

impl Root {
    pub fn new(packages: PathBuf) -> Self {
        Root { packages, entries: BTreeMap::new() }
    }

    pub fn folder(&mut self, path: &str) {
        self.entries.insert(path.to_owned(), Entry::Folder);
    }

    pub fn write(&mut self, path: &str, mode: u32, data: Vec<u8>) {
        self.entries.insert(path.to_owned(), Entry::File { mode, data });
    }

    pub fn link(&mut self, path: &str, target: &str) {
        self.entries.entry(path.to_owned()).or_insert_with(|| Entry::Link(target.to_owned()));
    }

    /// Takes a file from the packages, and the libraries that it loads if it is a program.
    pub fn take(&mut self, path: &str) -> anyhow::Result<()> {
        let file = self.packages.join(path.trim_start_matches('/'));
        let mode =
            fs::metadata(&file).with_context(|| format!("{path} is in none of the packages"))?.permissions().mode();
        let data = fs::read(&file)?;
        let program = data.starts_with(b"\x7fELF");
        self.write(path, mode & 0o777, data);
        if program {
            for library in self.libraries(path)? {
                let data = fs::read(self.packages.join(library.trim_start_matches('/')))
                    .with_context(|| format!("library {library} of {path}"))?;
                self.write(&library, 0o755, data);
            }
        }
        Ok(())
    }

    /// Paths of the libraries that a program loads, as the packages' own loader finds them.
    fn libraries(&self, path: &str) -> anyhow::Result<Vec<String>> {
        let loader = fs::read_dir(self.packages.join("lib64"))?.next().context("no dynamic loader in /lib64")??;
        let loader = format!("/lib64/{}", loader.file_name().to_string_lossy());
        let listing = output(Command::new("chroot").arg(&self.packages).args([&loader, "--list", path]))?;
        if let Some(missing) = listing.lines().find(|l| l.contains("not found")) {
            bail!("{path} wants a library that is in none of the packages: {}", missing.trim());
        }
        let found =
            listing.lines().filter_map(|l| l.split_whitespace().find(|w| w.starts_with('/')).map(str::to_owned));
        Ok(found.chain([loader]).collect())
    }

    /// Names of busybox's applets that no other program of the image has.
    pub fn applets(&self) -> anyhow::Result<Vec<String>> {
        let listing = output(Command::new("chroot").arg(&self.packages).args(["/bin/busybox", "--list"]))?;
        let taken = |name: &str| self.entries.keys().any(|p| p.rsplit('/').next() == Some(name));
        Ok(listing.lines().filter(|name| !taken(name)).map(str::to_owned).collect())
    }

    /// The tree as an uncompressed layer; always the same bytes for the same files.
    pub fn layer(&self) -> anyhow::Result<Vec<u8>> {
        let mut tar = tar::Builder::new(Vec::new());
        let mut made = std::collections::BTreeSet::new();
        for (path, entry) in &self.entries {
            let relative = Path::new(path.trim_start_matches('/'));
            for parent in relative.ancestors().skip(1).collect::<Vec<_>>().into_iter().rev() {
                if parent.as_os_str().is_empty() || !made.insert(parent.to_owned()) {
                    continue;
                }
                append(&mut tar, parent, tar::EntryType::Directory, folder_mode(parent), &[], None)?;
            }
            match entry {
                Entry::Folder if made.insert(relative.to_owned()) => {
                    append(&mut tar, relative, tar::EntryType::Directory, folder_mode(relative), &[], None)?;
                }
                Entry::Folder => {}
                Entry::File { mode, data } => append(&mut tar, relative, tar::EntryType::Regular, *mode, data, None)?,
                Entry::Link(target) => append(&mut tar, relative, tar::EntryType::Symlink, 0o777, &[], Some(target))?,
            }
        }
        Ok(tar.into_inner()?)
    }
}

fn folder_mode(path: &Path) -> u32 {
    if path == Path::new("tmp") { 0o1777 } else { 0o755 }
}

fn append(
    tar: &mut tar::Builder<Vec<u8>>,
    path: &Path,
    kind: tar::EntryType,
    mode: u32,
    data: &[u8],
    link: Option<&str>,
) -> anyhow::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(data.len() as u64);
    match link {
        Some(target) => tar.append_link(&mut header, path, target)?,
        None => tar.append_data(&mut header, path, data)?,
    }
    Ok(())
}
