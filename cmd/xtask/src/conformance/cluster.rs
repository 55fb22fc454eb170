//! The cluster that the suite runs against: a server and an agent in namespaces, the registry on
//! the server's machine, and no way out.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use testkit::{Cluster, Machine, Registry};

use super::images::{HOST, Images};
use crate::{bench::statistics::memory, clients};

/// All that must be there while tests run. Ctrl-C does not reach it: it ends after the tests.
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
        // Where nodes find the names that images have in the suite.
        let registries = format!("mirrors:\n  \"{HOST}\":\n    endpoint: [\"http://10.77.0.1:5000\"]\n");
        let cluster = Cluster::start_apart("conformance", 1, &[("registries.yaml", &registries)]);
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

    /// Largest resident memory of the server's process, in MB of 2^20 bytes; none if it has ended.
    pub fn peak(&self) -> Option<f64> {
        memory(self.cluster.server().pid()).ok().map(|memory| memory.peak)
    }

    /// Lines at WARN or ERROR in the log of each machine.
    pub fn complaints(&self) -> Vec<(String, usize)> {
        let machines = self.cluster.machines().iter();
        machines.map(|machine| (machine.name.clone(), machine.complaints().len())).collect()
    }

    /// Panics of the server and the agent.
    pub fn panics(&self) -> Vec<String> {
        let of = |machine: &Machine| -> Vec<String> {
            machine.panics().iter().map(|line| format!("{}: {line}", machine.name)).collect()
        };
        self.cluster.machines().iter().flat_map(of).collect()
    }

    /// Copies the machines' logs, which go with the cluster.
    pub fn keep_logs(&self, dir: &Path) -> anyhow::Result<()> {
        for machine in self.cluster.machines() {
            fs::write(dir.join(format!("{}.log", machine.name)), machine.log())?;
        }
        Ok(())
    }
}
