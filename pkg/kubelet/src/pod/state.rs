//! What is known of a pod besides its spec: the runtime's sandboxes and containers, and what the worker remembers
//! between two decisions. Plain data.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::backoff::Backoff;

/// The runtime's view of one pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuntimePod {
    /// Newest first.
    pub sandboxes: Vec<Sandbox>,
    /// Newest first.
    pub containers: Vec<Container>,
}

impl RuntimePod {
    /// The newest container of a name.
    pub fn latest(&self, name: &str) -> Option<&Container> {
        self.containers.iter().find(|c| c.name == name)
    }

    /// The one before the newest.
    pub fn previous(&self, name: &str) -> Option<&Container> {
        self.containers.iter().filter(|c| c.name == name).nth(1)
    }

    /// The sandbox in use: the newest, while it is ready.
    pub fn sandbox(&self) -> Option<&Sandbox> {
        self.sandboxes.first().filter(|s| s.ready)
    }

    /// Containers that run.
    pub fn running(&self) -> impl Iterator<Item = &Container> {
        self.containers.iter().filter(|c| c.state == ContainerState::Running)
    }
}

/// A pod sandbox.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sandbox {
    /// The runtime's id.
    pub id: String,
    /// Its network and pause process are there.
    pub ready: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// Counts the sandboxes of a pod from 0.
    pub attempt: u32,
    /// Addresses, the primary one first; empty on the host's network.
    pub ips: Vec<String>,
}

/// State of a container.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContainerState {
    /// Made, not started.
    #[default]
    Created,
    /// Runs.
    Running,
    /// Ended.
    Exited,
    /// The runtime lost track of it.
    Unknown,
}

/// A container of the runtime.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Container {
    /// The runtime's id, without scheme.
    pub id: String,
    /// The name in the pod's spec.
    pub name: String,
    /// The sandbox it belongs to.
    pub sandbox_id: String,
    /// State.
    pub state: ContainerState,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was started, if it was.
    pub started_at: Option<Timestamp>,
    /// When it ended, if it has.
    pub finished_at: Option<Timestamp>,
    /// Exit code, 0 until it ended.
    pub exit_code: i32,
    /// The runtime's word for how it ended: `Completed`, `Error`, `OOMKilled`.
    pub reason: String,
    /// The termination message.
    pub message: String,
    /// The image's name as the runtime has it.
    pub image: String,
    /// The image's digest reference.
    pub image_id: String,
    /// Hash of the parts of the spec that cannot change without a restart.
    pub hash: String,
    /// How often containers of this name were restarted before this one.
    pub restart_count: i32,
    /// The log file.
    pub log_path: String,
}

impl Container {
    /// Whether it may still do something.
    pub fn alive(&self) -> bool {
        matches!(self.state, ContainerState::Running | ContainerState::Unknown)
    }
}

/// An attempt that failed, when it may be made again, and what to tell meanwhile.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The reason that clients match, such as `ErrImagePull`.
    pub reason: String,
    /// For people.
    pub message: String,
    /// Not again before.
    pub retry_at: Timestamp,
}

/// Where the image of a container stands.
#[derive(Clone, Debug, PartialEq)]
pub enum Image {
    /// Being pulled, or looked up.
    Pulling,
    /// There, under this reference.
    Present(String),
    /// Not there.
    Failed(Failure),
}

/// A container that is being stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct Killing {
    /// It is gone by then.
    pub deadline: Timestamp,
}

/// The volumes of a pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Volumes {
    /// Not looked at since the worker started.
    #[default]
    Unmounted,
    /// Ready for containers.
    Mounted,
    /// Not all could be made.
    Failed(Failure),
    /// Taken away again.
    TornDown,
}

/// What a probe last said of a container.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Probed {
    /// The startup probe: `None` until it has decided.
    pub startup: Option<bool>,
    /// The liveness probe: `None` until it has decided.
    pub liveness: Option<bool>,
    /// The readiness probe: `None` until it has decided.
    pub readiness: Option<bool>,
}

/// What a worker remembers between two decisions. Nothing in it is needed after a restart of the process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    /// By container name.
    pub images: BTreeMap<String, Image>,
    /// Restart delays, by container name.
    pub backoff: BTreeMap<String, Backoff>,
    /// Containers being stopped, by id.
    pub killing: BTreeMap<String, Killing>,
    /// Containers whose postStart hook runs, by id.
    pub starting: Vec<String>,
    /// Containers that could not be made or started, by container name.
    pub failures: BTreeMap<String, Failure>,
    /// The sandbox could not be made.
    pub sandbox: Option<Failure>,
    /// Volumes.
    pub volumes: Volumes,
    /// Probe results, by container id.
    pub probes: BTreeMap<String, Probed>,
    /// The pod was ended by the node: the reason and message of its status.
    pub ended: Option<(String, String)>,
}
