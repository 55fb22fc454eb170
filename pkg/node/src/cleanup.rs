//! Taking a node's traces off the machine: pods, containerd, mounts, interfaces, rules, cgroups.
//! The cluster's data stays; whoever uninstalls removes the directories afterwards.
//!
//! Every step is done, whatever becomes of the others; what failed is reported at the end.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use cri::v1::{ListPodSandboxRequest, RemovePodSandboxRequest, StopPodSandboxRequest};

use crate::{Error, Paths, containerd, network, runtime};

/// Time that the runtime has to end one pod.
const PATIENCE: Duration = Duration::from_secs(20);

/// Cleans up. Fails if kinglet is running, and with what could not be removed.
pub async fn run(paths: &Paths, cgroup_root: &str) -> Result<(), Error> {
    let _lock = crate::lock(paths)?;
    let socket = paths.containerd_socket();
    if socket.exists() {
        remove_pods(&socket).await;
    }
    containerd::stop_all(&runtime::config(paths)).await;
    containerd::unmount_below(&[&paths.data, &paths.run]);
    let results =
        [network::cleanup(), remove_cgroups(&format!("{}/kubepods", cgroup_root.trim_end_matches('/')), cgroup_root)];
    results.into_iter().collect()
}

/// Asks the runtime, so that each pod's network is taken down by the plugin.
async fn remove_pods(socket: &Path) {
    let removed = async {
        let mut cri = cri::connect(socket).await.map_err(|e| e.to_string())?;
        let pods = cri.runtime.list_pod_sandbox(ListPodSandboxRequest::default()).await.map_err(|e| e.to_string())?;
        for pod in pods.into_inner().items {
            let id = pod.id;
            let stop = cri.runtime.stop_pod_sandbox(StopPodSandboxRequest { pod_sandbox_id: id.clone() });
            tokio::time::timeout(PATIENCE, stop).await.map_err(|e| e.to_string())?.map_err(|e| e.to_string())?;
            let remove = cri.runtime.remove_pod_sandbox(RemovePodSandboxRequest { pod_sandbox_id: id });
            tokio::time::timeout(PATIENCE, remove).await.map_err(|e| e.to_string())?.map_err(|e| e.to_string())?;
        }
        Ok::<(), String>(())
    };
    if let Err(error) = removed.await {
        // What is left is ended with its shim, and taken apart below.
        tracing::info!(error, "the runtime did not remove all pods");
    }
}

/// Removes a cgroup with all below it, in every hierarchy, and its parent if that was made for it.
fn remove_cgroups(path: &str, root: &str) -> Result<(), Error> {
    let mount = Path::new("/sys/fs/cgroup");
    let hierarchies = fs::read_dir(mount).into_iter().flatten().flatten().map(|entry| entry.path());
    for hierarchy in hierarchies.chain([mount.to_owned()]) {
        let top = hierarchy.join(path.trim_start_matches('/'));
        if top.is_dir() {
            remove_tree(&top).map_err(|source| Error::File { path: top.display().to_string(), source })?;
        }
        let own = hierarchy.join(root.trim_start_matches('/'));
        if !root.trim_matches('/').is_empty() && own.is_dir() {
            // Somebody else may use it.
            let _ = fs::remove_dir(own);
        }
    }
    Ok(())
}

fn remove_tree(top: &Path) -> io::Result<()> {
    let below: Vec<PathBuf> = fs::read_dir(top)?.flatten().map(|e| e.path()).filter(|p| p.is_dir()).collect();
    for child in below {
        remove_tree(&child)?;
    }
    // The kernel may need a moment until the last process is gone.
    for _ in 0..50 {
        match fs::remove_dir(top) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => std::thread::sleep(Duration::from_millis(20)),
            other => return other,
        }
    }
    fs::remove_dir(top)
}
