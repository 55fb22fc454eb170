//! The runtime as the pod worker uses it: calls with time limits and errors for people, and the relist of one pod.

use std::collections::HashMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cri::Cri;
use cri::v1 as rt;
use jiff::Timestamp;

use crate::logs::read;
use crate::pod::state::{Container, ContainerState, RuntimePod, Sandbox};
use crate::spec::labels;
use crate::volumes::PodDirs;

/// The longest a runtime may take for an ordinary call.
const CALL: Duration = Duration::from_secs(120);
/// A termination message is cut to so many bytes.
const MESSAGE_BYTES: usize = 4096;
/// Where it is taken from the log: so many lines and bytes of it.
const LOG_LINES: usize = 80;
const LOG_BYTES: usize = 2048;

/// What went wrong, as the runtime says it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// For people, in the form that clients of gRPC know.
    pub message: String,
    /// The thing is not there.
    pub not_found: bool,
    /// The call did not end in time.
    pub timed_out: bool,
}

impl From<tonic::Status> for Error {
    fn from(status: tonic::Status) -> Self {
        Error {
            message: format!("rpc error: code = {:?} desc = {}", status.code(), status.message()),
            not_found: status.code() == tonic::Code::NotFound,
            timed_out: status.code() == tonic::Code::DeadlineExceeded,
        }
    }
}

/// A handle on the runtime. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Runtime {
    /// The generated clients, for calls that are passed through.
    pub cri: Cri,
}

async fn limited<T>(
    limit: Duration,
    call: impl Future<Output = Result<tonic::Response<T>, tonic::Status>>,
) -> Result<T, Error> {
    match tokio::time::timeout(limit, call).await {
        Ok(answer) => Ok(answer?.into_inner()),
        Err(_) => Err(Error {
            message: format!("the container runtime did not answer within {} s", limit.as_secs()),
            not_found: false,
            timed_out: true,
        }),
    }
}

/// What is not there need not be stopped or removed.
fn absent_is_done<T>(result: Result<T, Error>) -> Result<(), Error> {
    match result {
        Err(error) if !error.not_found => Err(error),
        _ => Ok(()),
    }
}

impl Runtime {
    /// Over these clients.
    pub fn new(cri: Cri) -> Self {
        Runtime { cri }
    }

    /// Makes a sandbox; its id.
    pub async fn run_sandbox(&self, config: rt::PodSandboxConfig) -> Result<String, Error> {
        let request = rt::RunPodSandboxRequest { config: Some(config), runtime_handler: String::new() };
        // Twice the usual time: the network plugin runs within.
        let answer = limited(CALL * 2, self.cri.runtime.clone().run_pod_sandbox(request)).await?;
        Ok(answer.pod_sandbox_id)
    }

    /// Stops a sandbox and all in it, and gives back its network.
    pub async fn stop_sandbox(&self, id: &str) -> Result<(), Error> {
        let request = rt::StopPodSandboxRequest { pod_sandbox_id: id.into() };
        absent_is_done(limited(CALL, self.cri.runtime.clone().stop_pod_sandbox(request)).await)
    }

    /// Removes a sandbox and all in it.
    pub async fn remove_sandbox(&self, id: &str) -> Result<(), Error> {
        let request = rt::RemovePodSandboxRequest { pod_sandbox_id: id.into() };
        absent_is_done(limited(CALL, self.cri.runtime.clone().remove_pod_sandbox(request)).await)
    }

    /// Makes a container; its id.
    pub async fn create_container(
        &self,
        sandbox: &str,
        config: rt::ContainerConfig,
        sandbox_config: rt::PodSandboxConfig,
    ) -> Result<String, Error> {
        let request = rt::CreateContainerRequest {
            pod_sandbox_id: sandbox.into(),
            config: Some(config),
            sandbox_config: Some(sandbox_config),
        };
        Ok(limited(CALL, self.cri.runtime.clone().create_container(request)).await?.container_id)
    }

    /// Starts a container.
    pub async fn start_container(&self, id: &str) -> Result<(), Error> {
        let request = rt::StartContainerRequest { container_id: id.into() };
        limited(CALL, self.cri.runtime.clone().start_container(request)).await.map(|_| ())
    }

    /// Stops a container: the signal at once, the end after `grace` seconds. Returns when it is gone.
    pub async fn stop_container(&self, id: &str, grace: i64) -> Result<(), Error> {
        let request = rt::StopContainerRequest { container_id: id.into(), timeout: grace };
        let limit = CALL + Duration::from_secs(u64::try_from(grace).unwrap_or(0));
        absent_is_done(limited(limit, self.cri.runtime.clone().stop_container(request)).await)
    }

    /// Removes a dead container.
    pub async fn remove_container(&self, id: &str) -> Result<(), Error> {
        let request = rt::RemoveContainerRequest { container_id: id.into() };
        absent_is_done(limited(CALL, self.cri.runtime.clone().remove_container(request)).await)
    }

    /// Runs a command in a container; its output and code.
    pub async fn exec(&self, id: &str, cmd: &[String], limit: Duration) -> Result<rt::ExecSyncResponse, Error> {
        let timeout = i64::try_from(limit.as_secs().max(1)).unwrap_or(i64::MAX);
        let request = rt::ExecSyncRequest { container_id: id.into(), cmd: cmd.to_vec(), timeout };
        limited(limit + Duration::from_secs(5), self.cri.runtime.clone().exec_sync(request)).await
    }

    /// Tells the runtime to open the log of a container again.
    pub async fn reopen_log(&self, id: &str) -> Result<(), Error> {
        let request = rt::ReopenContainerLogRequest { container_id: id.into() };
        limited(CALL, self.cri.runtime.clone().reopen_container_log(request)).await.map(|_| ())
    }

    /// The sandboxes that belong to pods: all, or those of one uid.
    pub async fn sandboxes(&self, uid: Option<&str>) -> Result<Vec<rt::PodSandbox>, Error> {
        let filter = rt::PodSandboxFilter { label_selector: selector(uid), ..rt::PodSandboxFilter::default() };
        let request = rt::ListPodSandboxRequest { filter: Some(filter) };
        let mut items = limited(CALL, self.cri.runtime.clone().list_pod_sandbox(request)).await?.items;
        items.retain(|s| s.labels.contains_key(labels::POD_UID));
        items.sort_by_key(|s| std::cmp::Reverse(s.created_at));
        Ok(items)
    }

    /// The containers of one pod.
    async fn containers(&self, uid: &str) -> Result<Vec<rt::Container>, Error> {
        let filter = rt::ContainerFilter { label_selector: selector(Some(uid)), ..rt::ContainerFilter::default() };
        let request = rt::ListContainersRequest { filter: Some(filter) };
        let mut items = limited(CALL, self.cri.runtime.clone().list_containers(request)).await?.containers;
        items.sort_by_key(|c| std::cmp::Reverse(c.created_at));
        Ok(items)
    }

    /// Id and log of each running container.
    pub async fn running_logs(&self) -> Result<Vec<(String, String)>, Error> {
        let state = rt::ContainerStateValue { state: rt::ContainerState::ContainerRunning as i32 };
        let filter = rt::ContainerFilter { state: Some(state), ..rt::ContainerFilter::default() };
        let request = rt::ListContainersRequest { filter: Some(filter) };
        let mut logs = Vec::new();
        for container in limited(CALL, self.cri.runtime.clone().list_containers(request)).await?.containers {
            let request = rt::ContainerStatusRequest { container_id: container.id.clone(), verbose: false };
            let status = limited(CALL, self.cri.runtime.clone().container_status(request)).await;
            logs.extend(status.ok().and_then(|s| s.status).map(|s| (container.id, s.log_path)));
        }
        Ok(logs)
    }

    /// The uid of the pod that a sandbox or container belongs to.
    pub async fn pod_of(&self, id: &str) -> Option<String> {
        let filter = rt::ContainerFilter { id: id.into(), ..rt::ContainerFilter::default() };
        let request = rt::ListContainersRequest { filter: Some(filter) };
        let found = limited(CALL, self.cri.runtime.clone().list_containers(request)).await.ok()?;
        if let Some(container) = found.containers.into_iter().next() {
            return container.labels.get(labels::POD_UID).cloned();
        }
        let filter = rt::PodSandboxFilter { id: id.into(), ..rt::PodSandboxFilter::default() };
        let request = rt::ListPodSandboxRequest { filter: Some(filter) };
        let found = limited(CALL, self.cri.runtime.clone().list_pod_sandbox(request)).await.ok()?;
        found.items.into_iter().next()?.labels.get(labels::POD_UID).cloned()
    }

    /// The state of one pod. `ended` holds containers that have ended, by id: they do not change any more.
    pub async fn pod(
        &self,
        uid: &str,
        dirs: &PodDirs,
        ended: &mut HashMap<String, Container>,
    ) -> Result<RuntimePod, Error> {
        let sandboxes = self.sandboxes(Some(uid)).await?;
        let listed = self.containers(uid).await?;
        let mut pod = RuntimePod::default();
        for (i, sandbox) in sandboxes.into_iter().enumerate() {
            let ready = sandbox.state == rt::PodSandboxState::SandboxReady as i32;
            let ips = if ready && i == 0 { self.ips(&sandbox.id).await? } else { Vec::new() };
            pod.sandboxes.push(Sandbox {
                ready,
                ips,
                created_at: nanoseconds(sandbox.created_at).unwrap_or_default(),
                attempt: sandbox.metadata.map_or(0, |m| m.attempt),
                id: sandbox.id,
            });
        }
        ended.retain(|id, _| listed.iter().any(|c| c.id == *id));
        for container in listed {
            if let Some(known) = ended.get(&container.id) {
                pod.containers.push(known.clone());
                continue;
            }
            let request = rt::ContainerStatusRequest { container_id: container.id.clone(), verbose: false };
            let status = match limited(CALL, self.cri.runtime.clone().container_status(request)).await {
                Ok(answer) => answer.status.unwrap_or_default(),
                // Removed between the two calls.
                Err(error) if error.not_found => continue,
                Err(error) => return Err(error),
            };
            let container = read_container(container, status, dirs);
            if container.state == ContainerState::Exited {
                ended.insert(container.id.clone(), container.clone());
            }
            pod.containers.push(container);
        }
        Ok(pod)
    }

    async fn ips(&self, sandbox: &str) -> Result<Vec<String>, Error> {
        let request = rt::PodSandboxStatusRequest { pod_sandbox_id: sandbox.into(), verbose: false };
        let status = limited(CALL, self.cri.runtime.clone().pod_sandbox_status(request)).await?.status;
        let network = status.and_then(|s| s.network).unwrap_or_default();
        let more = network.additional_ips.into_iter().map(|ip| ip.ip);
        Ok(std::iter::once(network.ip).chain(more).filter(|ip| !ip.is_empty()).collect())
    }
}

fn selector(uid: Option<&str>) -> HashMap<String, String> {
    uid.map(|uid| (labels::POD_UID.to_owned(), uid.to_owned())).into_iter().collect()
}

fn nanoseconds(at: i64) -> Option<Timestamp> {
    Timestamp::from_nanosecond(i128::from(at)).ok().filter(|_| at > 0)
}

fn read_container(listed: rt::Container, status: rt::ContainerStatus, dirs: &PodDirs) -> Container {
    let state = match status.state() {
        rt::ContainerState::ContainerCreated => ContainerState::Created,
        rt::ContainerState::ContainerRunning => ContainerState::Running,
        rt::ContainerState::ContainerExited => ContainerState::Exited,
        rt::ContainerState::ContainerUnknown => ContainerState::Unknown,
    };
    let text = |map: &HashMap<String, String>, key: &str| map.get(key).cloned().unwrap_or_default();
    let name = text(&listed.labels, labels::CONTAINER_NAME);
    let restart_count = text(&listed.annotations, labels::RESTART_COUNT).parse().unwrap_or(0);
    let mut message = status.message;
    if state == ContainerState::Exited {
        let policy = text(&listed.annotations, labels::MESSAGE_POLICY);
        let file = dirs.container(&name).join(format!("{restart_count}.message"));
        let fallback = policy == "FallbackToLogsOnError" && (status.exit_code != 0 || status.reason == "OOMKilled");
        let told = termination_message(&file, fallback.then_some(Path::new(&status.log_path)));
        message = match (message.is_empty(), told.is_empty()) {
            (_, true) => message,
            (true, false) => told,
            (false, false) => format!("{message}: {told}"),
        };
    }
    Container {
        name,
        sandbox_id: listed.pod_sandbox_id,
        state,
        created_at: nanoseconds(status.created_at).unwrap_or_default(),
        started_at: nanoseconds(status.started_at),
        finished_at: nanoseconds(status.finished_at),
        exit_code: status.exit_code,
        reason: status.reason,
        message,
        // What was asked for reads better than what it was resolved to.
        image: status.image.map(|i| i.image).unwrap_or_default(),
        image_id: status.image_ref,
        hash: text(&listed.annotations, labels::HASH),
        restart_count,
        grace: text(&listed.annotations, labels::POD_GRACE).parse().ok(),
        log_path: status.log_path,
        id: listed.id,
    }
}

/// What a container left in its message file; from its log if the file is empty and `log` is given.
fn termination_message(file: &PathBuf, log: Option<&Path>) -> String {
    let mut bytes = Vec::new();
    if let Ok(file) = std::fs::File::open(file) {
        use std::io::Read as _;
        // A file that cannot be read is like one that is empty.
        let _ = file.take(MESSAGE_BYTES as u64).read_to_end(&mut bytes);
    }
    match log {
        Some(log) if bytes.is_empty() => read::last_text(log, LOG_LINES, LOG_BYTES).unwrap_or_default(),
        _ => String::from_utf8_lossy(&bytes).into_owned(),
    }
}
