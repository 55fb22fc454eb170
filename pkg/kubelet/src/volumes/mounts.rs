//! What a container sees of the pod's volumes and of the files that the node manages for it.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use cri::v1 as rt;
use k8s_openapi::api::core::v1::{Container, Pod, VolumeMount};

use super::PodDirs;
use crate::spec::env::{Env, expand};

fn propagation(mount: &VolumeMount) -> i32 {
    let mode = match mount.mount_propagation.as_deref() {
        Some("HostToContainer") => rt::MountPropagation::PropagationHostToContainer,
        Some("Bidirectional") => rt::MountPropagation::PropagationBidirectional,
        _ => rt::MountPropagation::PropagationPrivate,
    };
    mode as i32
}

/// The mounts of a container, or why they cannot be made. Directories for sub-paths are made on the way.
pub fn mounts(pod: &Pod, container: &Container, dirs: &PodDirs, env: &Env) -> Result<Vec<rt::Mount>, String> {
    let mut mounts = Vec::new();
    for mount in container.volume_mounts.iter().flatten() {
        let volume = pod.spec.iter().flat_map(|s| s.volumes.iter().flatten()).find(|v| v.name == mount.name);
        let volume = volume.ok_or_else(|| format!("mount {:?} names no volume of the pod", mount.name))?;
        let root = dirs.volume(volume).ok_or_else(|| format!("volume {:?} is of an unknown kind", mount.name))?;
        let sub = match (&mount.sub_path, &mount.sub_path_expr) {
            (Some(path), _) if !path.is_empty() => path.clone(),
            (_, Some(text)) if !text.is_empty() => {
                let path = expand(text, |name| env.get(name));
                if path.contains("$(") {
                    return Err(format!("missing value for {text:?}"));
                }
                path
            }
            _ => String::new(),
        };
        let host = if sub.is_empty() { root } else { sub_path(&root, &sub)? };
        let target = &mount.mount_path;
        let target = if target.starts_with('/') { target.clone() } else { format!("/{target}") };
        mounts.push(rt::Mount {
            container_path: target,
            host_path: host.to_string_lossy().into_owned(),
            readonly: mount.read_only == Some(true),
            propagation: propagation(mount),
            ..rt::Mount::default()
        });
    }
    Ok(mounts)
}

/// A path below `root`, made as directories where nothing is there.
///
/// Caveat: a link that a container puts in place between this check and the mount is followed by the runtime.
pub fn sub_path(root: &Path, sub: &str) -> Result<PathBuf, String> {
    let relative = Path::new(sub);
    if !relative.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir)) {
        return Err(format!("subPath {sub:?} must be a relative path without \"..\""));
    }
    let failed = |error: io::Error| format!("failed to prepare subPath {sub:?}: {error}");
    let root = fs::canonicalize(root).map_err(failed)?;
    let mut path = root.clone();
    for part in relative.components() {
        path.push(part);
        match fs::canonicalize(&path) {
            Ok(real) if real.starts_with(&root) => path = real,
            Ok(_) => return Err(format!("subPath {sub:?} leaves the volume by a symbolic link")),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => {
                fs::create_dir(&path).map_err(failed)?;
                let mode = fs::metadata(&root).map_err(failed)?.permissions().mode() & 0o7777;
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).map_err(failed)?;
            }
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(path)
}

/// Writes the pod's hosts file and gives its mount, unless the container mounts something there itself.
pub fn hosts(container: &Container, dirs: &PodDirs, text: &str) -> io::Result<Option<rt::Mount>> {
    if container.volume_mounts.iter().flatten().any(|m| m.mount_path == "/etc/hosts") {
        return Ok(None);
    }
    let path = dirs.root().join("etc-hosts");
    if fs::read_to_string(&path).ok().as_deref() != Some(text) {
        fs::write(&path, text)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644))?;
    }
    Ok(Some(rt::Mount {
        container_path: "/etc/hosts".into(),
        host_path: path.to_string_lossy().into_owned(),
        ..rt::Mount::default()
    }))
}

/// The file in which a container leaves its termination message, one for each run of it.
pub fn termination_log(container: &Container, dirs: &PodDirs, restart_count: i32) -> io::Result<rt::Mount> {
    let dir = dirs.container(&container.name);
    fs::create_dir_all(&dir)?;
    let path = dir.join(format!("{restart_count}.message"));
    fs::write(&path, "")?;
    // Whoever the container runs as may write it.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666))?;
    let target = container.termination_message_path.clone().unwrap_or_else(|| "/dev/termination-log".into());
    Ok(rt::Mount { container_path: target, host_path: path.to_string_lossy().into_owned(), ..rt::Mount::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sub_paths_stay_inside() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        assert_eq!(sub_path(&root, "a/b").unwrap(), root.join("a/b"));
        assert!(root.join("a/b").is_dir());
        std::os::unix::fs::symlink("/etc", root.join("out")).unwrap();
        std::os::unix::fs::symlink("a", root.join("in")).unwrap();
        std::os::unix::fs::symlink("/nowhere-at-all", root.join("dangling")).unwrap();
        assert_eq!(sub_path(&root, "in/b").unwrap(), root.join("a/b"));
        for bad in ["out", "out/x", "../x", "/etc", "dangling", "dangling/x"] {
            assert!(sub_path(&root, bad).is_err(), "{bad}");
        }
    }
}
