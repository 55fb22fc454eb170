//! The cluster that the suite runs against: a server and an agent in namespaces, the registry on
//! the server's machine, and no way out.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use testkit::{Cluster, Registry};

use super::images::Images;
use crate::{bench::statistics::memory, clients};

/// Where nodes find the names that images have in the suite.
const REGISTRIES: &str = "mirrors:\n  \"registry.test:5000\":\n    endpoint: [\"http://10.77.0.1:5000\"]\n";

/// All that must be there while tests run.
pub struct Stage {
    // Ended before the machine that it is on.
    _registry: Registry,
    cluster: Cluster,
    kubectl: PathBuf,
    repo_list: PathBuf,
}

impl Stage {
    /// Starts everything; both nodes are Ready then, and take pods.
    pub fn start(images: Images) -> anyhow::Result<Self> {
        let kubectl = clients::kubectl()?;
        let cluster = Cluster::start_configured("conformance", 1, &[], &[], &[("registries.yaml", REGISTRIES)]);
        // Tests do what a healthy cluster complains of.
        cluster.allow_complaints();
        let registry = Registry::start(cluster.server(), &images.registry, None);
        Ok(Stage { _registry: registry, cluster, kubectl, repo_list: images.repo_list })
    }

    /// The suite's program, with all it has to know of the cluster.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = self.cluster.client(program);
        command.arg("--provider=skeleton").arg(format!("--kubectl-path={}", self.kubectl.display()));
        command.env("KUBE_TEST_REPO_LIST", &self.repo_list);
        command
    }

    /// Largest resident memory of the server's process, in MB of 2^20 bytes; zero if it has ended.
    pub fn peak(&self) -> f64 {
        memory(self.cluster.server().pid()).map_or(0.0, |memory| memory.peak)
    }

    /// Lines at WARN or ERROR in the log of each machine.
    pub fn complaints(&self) -> Vec<(String, usize)> {
        let machines = self.cluster.machines().iter();
        machines.map(|machine| (machine.name.clone(), machine.complaints().len())).collect()
    }

    /// Copies the machines' logs, which go with the cluster.
    pub fn keep_logs(&self, dir: &Path) -> anyhow::Result<()> {
        for machine in self.cluster.machines() {
            fs::write(dir.join(format!("{}.log", machine.name)), machine.log())?;
        }
        Ok(())
    }
}
