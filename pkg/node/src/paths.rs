//! Where files live.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use crate::Error;

/// The three directories, and what is in them.
#[derive(Clone, Debug)]
pub struct Paths {
    /// `/etc/kinglet`: what an administrator may want to read or save.
    pub config: PathBuf,
    /// `/var/lib/kinglet`: what must survive a reboot.
    pub data: PathBuf,
    /// `/run/kinglet`: what need not.
    pub run: PathBuf,
}

impl Paths {
    /// Certificates and keys.
    pub fn pki(&self) -> PathBuf {
        self.config.join("pki")
    }
    /// The join token.
    pub fn token(&self) -> PathBuf {
        self.config.join("token")
    }
    /// The administrator's kubeconfig.
    pub fn kubeconfig(&self) -> PathBuf {
        self.config.join("kubeconfig.yaml")
    }
    /// What only a server has; the folder is made.
    pub fn server(&self) -> Result<PathBuf, Error> {
        let dir = self.data.join("server");
        private_dir(&dir)?;
        Ok(dir)
    }
    /// The store's file; see [`Paths::server`] for its folder.
    pub fn database(&self) -> PathBuf {
        self.data.join("server/state.db")
    }
    /// The store under etcd's API.
    pub fn etcd_socket(&self) -> PathBuf {
        self.run.join("etcd.sock")
    }
    /// Certificates and keys of etcd's API.
    pub fn etcd(&self) -> PathBuf {
        self.config.join("etcd")
    }
    /// Snapshots of the database.
    pub fn snapshots(&self) -> PathBuf {
        self.data.join("server/snapshots")
    }
    /// Image archives that are imported at start.
    pub fn images(&self) -> PathBuf {
        self.data.join("agent/images")
    }
    /// containerd's root.
    pub fn containerd(&self) -> PathBuf {
        self.data.join("agent/containerd")
    }
    /// What `registries.yaml` becomes for containerd.
    pub fn registries(&self) -> PathBuf {
        self.run.join("registries")
    }
    /// containerd's state.
    pub fn containerd_state(&self) -> PathBuf {
        self.run.join("containerd")
    }
    /// containerd's socket.
    pub fn containerd_socket(&self) -> PathBuf {
        self.run.join("containerd.sock")
    }
    /// Volumes of pods.
    pub fn kubelet(&self) -> PathBuf {
        self.data.join("agent/kubelet")
    }
    /// Logs of containers.
    pub fn pod_logs(&self) -> PathBuf {
        self.data.join("agent/pod-logs")
    }
    /// CNI plugins: links to the binary.
    pub fn cni_bin(&self) -> PathBuf {
        self.data.join("agent/cni/bin")
    }
    /// Where the CNI plugin keeps what it has given out.
    pub fn cni_data(&self) -> PathBuf {
        self.data.join("agent/cni")
    }
    /// CNI configuration, written when the node knows its range.
    pub fn cni_conf(&self) -> PathBuf {
        self.data.join("agent/cni/net.d")
    }
}

/// Makes a folder that only root may look into: what is in it may be secret, whatever its own mode.
pub fn private_dir(dir: &Path) -> Result<(), Error> {
    let failed = |source| Error::File { path: dir.display().to_string(), source };
    fs::create_dir_all(dir).map_err(failed)?;
    fs::set_permissions(dir, fs::Permissions::from_mode(0o700)).map_err(failed)
}
