//! Volumes of pods: made before the first container, kept up to date while the pod runs, taken away after the last.
//!
//! Layout below the root directory: `pods/UID/volumes/kubernetes.io~KIND/NAME`, `pods/UID/containers/NAME`,
//! `pods/UID/etc-hosts`. What holds secrets is on tmpfs and never reaches a disk.

pub mod atomic;
pub mod mounts;
pub mod payload;
pub mod tokens;

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use k8s_openapi::api::core::v1::{EmptyDirVolumeSource, HostPathVolumeSource, Pod, Volume};
use nix::mount::{MntFlags, MsFlags, mount, umount2};

use crate::spec::resources;
use payload::Given;

/// The directories of one pod.
#[derive(Clone, Debug)]
pub struct PodDirs {
    root: PathBuf,
}

impl PodDirs {
    /// Those of the pod with `uid` below the kubelet's root directory.
    pub fn new(root_dir: &Path, uid: &str) -> Self {
        PodDirs { root: root_dir.join("pods").join(uid) }
    }

    /// The pod's own directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What the node keeps of a container.
    pub fn container(&self, name: &str) -> PathBuf {
        self.root.join("containers").join(name)
    }

    /// Where a volume is on the host; `None` for kinds that this node does not know.
    pub fn volume(&self, volume: &Volume) -> Option<PathBuf> {
        if let Some(source) = &volume.host_path {
            return Some(PathBuf::from(&source.path));
        }
        Some(self.root.join("volumes").join(format!("kubernetes.io~{}", kind(volume)?)).join(&volume.name))
    }
}

fn kind(volume: &Volume) -> Option<&'static str> {
    Some(match volume {
        Volume { empty_dir: Some(_), .. } => "empty-dir",
        Volume { config_map: Some(_), .. } => "configmap",
        Volume { secret: Some(_), .. } => "secret",
        Volume { projected: Some(_), .. } => "projected",
        Volume { downward_api: Some(_), .. } => "downward-api",
        _ => return None,
    })
}

/// Makes one volume, or brings its content up to date. The error is for people.
pub fn set_up(pod: &Pod, volume: &Volume, dirs: &PodDirs, given: Given<'_>) -> Result<(), String> {
    if let Some(source) = &volume.host_path {
        return host_path(source);
    }
    let dir = dirs.volume(volume).ok_or("this node does not know this kind of volume")?;
    let group = payload::fs_group(pod);
    let failed = |error: io::Error| format!("{}: {error}", dir.display());
    if let Some(source) = &volume.empty_dir {
        return empty_dir(&dir, source, group).map_err(failed);
    }
    let files = payload::payload(pod, volume, given)?.ok_or("this node does not know this kind of volume")?;
    fs::create_dir_all(&dir).map_err(failed)?;
    if volume.config_map.is_none() {
        tmpfs(&dir, None).map_err(failed)?;
    }
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).map_err(failed)?;
    atomic::write(&dir, &files, group).map_err(failed)?;
    Ok(())
}

fn empty_dir(dir: &Path, source: &EmptyDirVolumeSource, group: Option<u32>) -> io::Result<()> {
    let known = dir.exists();
    fs::create_dir_all(dir)?;
    let memory = source.medium.as_deref() == Some("Memory");
    if memory && tmpfs(dir, source.size_limit.as_ref().and_then(resources::value))? || !known {
        let setgid = if group.is_some() { 0o2000 } else { 0 };
        chown(dir, None, group)?;
        fs::set_permissions(dir, fs::Permissions::from_mode(0o777 | setgid))?;
    }
    Ok(())
}

/// Mounts a tmpfs at `dir` unless one is there. Returns whether it did.
fn tmpfs(dir: &Path, bytes: Option<i64>) -> io::Result<bool> {
    if is_mount_point(dir)? {
        return Ok(false);
    }
    let options = bytes.filter(|b| *b > 0).map(|b| format!("size={b}"));
    mount(Some("tmpfs"), dir, Some("tmpfs"), MsFlags::empty(), options.as_deref())?;
    Ok(true)
}

fn is_mount_point(dir: &Path) -> io::Result<bool> {
    let parent = dir.parent().map(fs::metadata).transpose()?;
    let own = fs::metadata(dir)?;
    Ok(parent.is_some_and(|p| p.dev() != own.dev()))
}

fn host_path(source: &HostPathVolumeSource) -> Result<(), String> {
    let path = Path::new(&source.path);
    let kind = source.type_.as_deref().unwrap_or_default();
    let failed = |error: io::Error| format!("hostPath {}: {error}", path.display());
    match (kind, path.exists()) {
        ("DirectoryOrCreate", false) => {
            fs::create_dir_all(path).map_err(failed)?;
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).map_err(failed)?;
        }
        ("FileOrCreate", false) => {
            fs::File::create(path).map_err(failed)?;
            fs::set_permissions(path, fs::Permissions::from_mode(0o644)).map_err(failed)?;
        }
        _ => {}
    }
    let is = |test: fn(&fs::FileType) -> bool| fs::metadata(path).is_ok_and(|m| test(&m.file_type()));
    let (good, what) = match kind {
        "Directory" | "DirectoryOrCreate" => (is(fs::FileType::is_dir), "a directory"),
        "File" | "FileOrCreate" => (is(fs::FileType::is_file), "a file"),
        "Socket" => (is(fs::FileType::is_socket), "a socket file"),
        "CharDevice" => (is(fs::FileType::is_char_device), "a character device"),
        "BlockDevice" => (is(fs::FileType::is_block_device), "a block device"),
        _ => (true, ""),
    };
    if good { Ok(()) } else { Err(format!("hostPath type check failed: {} is not {what}", path.display())) }
}

/// Takes away a pod's volumes and leaves what tells how its containers ended.
pub fn tear_down(dirs: &PodDirs) -> io::Result<()> {
    clear(&dirs.root().join("volumes"))
}

/// Takes away all that a pod has on this node.
pub fn remove(dirs: &PodDirs) -> io::Result<()> {
    clear(dirs.root())
}

/// Removes a directory, mounts first. What others mounted below it is only unmounted, never emptied.
fn clear(dir: &Path) -> io::Result<()> {
    if !dir.exists() {
        return Ok(());
    }
    let root = fs::canonicalize(dir)?;
    let mut points: Vec<PathBuf> = mount_points()?.into_iter().filter(|p| p.starts_with(&root)).collect();
    points.sort_by_key(|p| std::cmp::Reverse(p.components().count()));
    for point in points {
        umount2(&point, MntFlags::MNT_DETACH)?;
    }
    fs::remove_dir_all(&root)
}

fn mount_points() -> io::Result<Vec<PathBuf>> {
    let table = fs::read_to_string("/proc/self/mountinfo")?;
    Ok(table.lines().filter_map(|line| line.split(' ').nth(4)).map(unescape).collect())
}

/// Spaces and such stand as `\040` in the kernel's table.
fn unescape(text: &str) -> PathBuf {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let code = rest.get(at + 1..at + 4).and_then(|d| u8::from_str_radix(d, 8).ok());
        match code {
            Some(code) => {
                out.push(char::from(code));
                rest = &rest[at + 4..];
            }
            None => {
                out.push('\\');
                rest = &rest[at + 1..];
            }
        }
    }
    out.push_str(rest);
    PathBuf::from(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn volume(source: serde_json::Value) -> Volume {
        let mut source = source;
        source["name"] = json!("v");
        serde_json::from_value(source).unwrap()
    }

    #[test]
    fn memory_volumes_are_mounted_once_and_taken_away() {
        let root = tempfile::tempdir().unwrap();
        let dirs = PodDirs::new(root.path(), "uid");
        let pod: Pod = serde_json::from_value(json!({
            "metadata": {"name": "p"}, "spec": {"securityContext": {"fsGroup": 77}, "containers": []}}))
        .unwrap();
        let given = (Default::default(), Default::default(), Default::default());
        let given = Given { facts: &given.0, fetched: &given.1, tokens: &given.2 };
        let memory = volume(json!({"emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}}));
        let down =
            volume(json!({"downwardAPI": {"items": [{"path": "n", "fieldRef": {"fieldPath": "metadata.name"}}]}}));
        for _ in 0..2 {
            set_up(&pod, &memory, &dirs, given).unwrap();
            set_up(&pod, &down, &dirs, given).unwrap();
        }
        let path = dirs.volume(&memory).unwrap();
        let metadata = fs::metadata(&path).unwrap();
        assert_eq!((metadata.mode() & 0o7777, metadata.gid()), (0o2777, 77));
        assert!(fs::write(path.join("big"), vec![0; 2 << 20]).is_err(), "the size limit holds");
        assert_eq!(fs::read_to_string(dirs.volume(&down).unwrap().join("n")).unwrap(), "p");
        let here = |root: &Path| mount_points().unwrap().iter().filter(|p| p.starts_with(root)).count();
        assert_eq!(here(root.path()), 2);
        tear_down(&dirs).unwrap();
        assert_eq!(here(root.path()), 0);
        assert!(dirs.root().exists());
        remove(&dirs).unwrap();
        assert!(!dirs.root().exists());
        remove(&dirs).unwrap();
    }

    #[test]
    fn host_paths_are_checked() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name).to_string_lossy().into_owned();
        let table = [
            ("a", "", true),
            ("a", "Directory", false),
            ("a", "DirectoryOrCreate", true),
            ("a", "Directory", true),
            ("a", "File", false),
            ("f", "FileOrCreate", true),
            ("f", "Socket", false),
        ];
        for (name, kind, want) in table {
            let source = HostPathVolumeSource { path: path(name), type_: Some(kind.into()) };
            assert_eq!(host_path(&source).is_ok(), want, "{name} {kind}");
        }
    }
}
