//! The container runtime of a node, made ready beside everything else: containerd with its
//! registries, the pause image, and the archives in the images folder.
//!
//! Guarantees: [`Starting::socket`] answers when sandboxes can be started. Archives are imported
//! behind that, so that many of them do not keep the node from being Ready.

use std::{
    io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use cri::{images::Outcome, registries::Registries, v1::ListPodSandboxRequest};
use tokio::task::JoinHandle;

use crate::{Error, Paths, Settings, containerd, stages::Stages};

/// A runtime that is being started.
pub struct Starting {
    /// What the node knows of registries.
    pub registries: Registries,
    task: JoinHandle<Result<PathBuf, Error>>,
}

impl Starting {
    /// Waits until it can start sandboxes; answers with its CRI socket.
    pub async fn socket(self) -> Result<PathBuf, Error> {
        // The task is neither aborted nor allowed to panic silently: its panic goes on here.
        self.task.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
    }
}

/// Starts containerd, unless the user has a runtime already. Fails at once if `registries.yaml` is wrong.
pub fn start(paths: &Paths, settings: &Settings, stages: &mut Stages) -> Result<Starting, Error> {
    let file = paths.config.join("registries.yaml");
    let registries = Registries::load(&file)?;
    let stage = stages.next("container runtime");
    let paths = paths.clone();
    if let Some(socket) = settings.runtime_endpoint.clone() {
        if !registries.folders().is_empty() {
            tracing::warn!(file = %file.display(), %socket, "mirrors and TLS settings are not for a runtime of your own");
        }
        // Another runtime brings its own pause image, and its images come from elsewhere.
        let task = tokio::spawn(async move {
            link_plugins(&paths.cni_bin())?;
            Ok(cri::connection::socket_path(&socket)?)
        });
        return Ok(Starting { registries, task });
    }
    write_registries(&registries, &paths.registries())?;
    let task = tokio::spawn(async move {
        link_plugins(&paths.cni_bin())?;
        let running = containerd::start(config(&paths), stage.stop.clone(), &stage.tasks).await?;
        cri::pause::import(&running.socket).await?;
        free_addresses(&paths, &running.socket).await?;
        let (socket, stop) = (running.socket.clone(), stage.stop.clone());
        stage.tasks.spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = import_archives(&paths, &socket) => {}
            }
        });
        Ok(running.socket)
    });
    Ok(Starting { registries, task })
}

/// How containerd is set up in our directories.
pub fn config(paths: &Paths) -> containerd::Config {
    containerd::Config {
        root: paths.containerd(),
        state: paths.containerd_state(),
        socket: paths.containerd_socket(),
        config_path: paths.data.join("agent/containerd.toml"),
        log: paths.data.join("agent/containerd.log"),
        bin_dirs: vec![paths.data.join("bin")],
        sandbox_image: cri::pause::IMAGE.to_owned(),
        cni_bin: paths.cni_bin(),
        cni_conf: paths.cni_conf(),
        registry_configs: vec![paths.config.join("registries"), paths.registries()],
        systemd_cgroup: false,
        cgroup: None,
    }
}

/// Makes `dir` hold what containerd is to know of registries, and nothing else. It reads a file at each pull.
fn write_registries(registries: &Registries, dir: &Path) -> Result<(), Error> {
    let failed = |path: PathBuf| move |source| Error::File { path: path.display().to_string(), source };
    let folders = registries.folders();
    for (folder, text) in &folders {
        let file = dir.join(folder).join("hosts.toml");
        cri::write_whole(&file, text).map_err(failed(file))?;
    }
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if !folders.keys().any(|folder| entry.file_name() == **folder) {
            std::fs::remove_dir_all(entry.path()).map_err(failed(entry.path()))?;
        }
    }
    Ok(())
}

/// The CNI plugins are this binary under other names.
fn link_plugins(dir: &Path) -> Result<(), Error> {
    let failed = |source: io::Error| Error::File { path: dir.display().to_string(), source };
    std::fs::create_dir_all(dir).map_err(failed)?;
    let own = std::env::current_exe().map_err(failed)?;
    for name in [cni::PLUGIN_TYPE, "loopback"] {
        let link = dir.join(name);
        if std::fs::read_link(&link).is_ok_and(|target| target == own) {
            continue;
        }
        let _ = std::fs::remove_file(&link);
        symlink(&own, &link).map_err(failed)?;
    }
    Ok(())
}

/// Frees addresses of sandboxes that are gone: after a power cut nobody has told the plugin. Nothing
/// makes sandboxes yet.
async fn free_addresses(paths: &Paths, socket: &Path) -> Result<(), Error> {
    let mut cri = cri::connect(socket).await?;
    let Ok(listed) = cri.runtime.list_pod_sandbox(ListPodSandboxRequest::default()).await else { return Ok(()) };
    let live = listed.into_inner().items.into_iter().map(|sandbox| sandbox.id).collect();
    let dir = crate::network::names(paths.cni_data()).reservations();
    match cni::ipam::reconcile(&dir, &live) {
        Ok(freed) if freed.is_empty() => {}
        Ok(freed) => tracing::info!(addresses = freed.len(), "freed addresses of pods that are gone"),
        Err(error) => tracing::error!(%error, dir = %dir.display(), "addresses of pods that are gone stay taken"),
    }
    Ok(())
}

async fn import_archives(paths: &Paths, socket: &Path) {
    let record = paths.data.join("agent/imported.json");
    match cri::images::import_dir(socket, &paths.images(), &record).await {
        Ok(reports) => {
            for report in reports {
                let archive = report.archive.display();
                match report.outcome {
                    Outcome::Imported(names) => tracing::info!(%archive, images = names.join(", "), "imported"),
                    Outcome::Unchanged(_) => {}
                    Outcome::Failed(error) => tracing::error!(%error, %archive, "not imported"),
                }
            }
        }
        Err(error) => tracing::error!(%error, dir = %paths.images().display(), "importing images"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_containerd_reads_of_registries_is_written_anew_at_each_start() {
        let dir = tempfile::tempdir().unwrap();
        let (file, out) = (dir.path().join("registries.yaml"), dir.path().join("registries"));
        let written = |yaml: &str| {
            std::fs::write(&file, yaml).unwrap();
            write_registries(&Registries::load(&file).unwrap(), &out).unwrap();
            let mut names: Vec<_> =
                std::fs::read_dir(&out).into_iter().flatten().map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        assert!(written("").is_empty());
        let mirrors = "mirrors: {'a.example:5000': {endpoint: ['http://m']}, '*': {endpoint: ['http://m']}}";
        assert_eq!(written(mirrors), ["_default", "a.example:5000"]);
        let text = std::fs::read_to_string(out.join("a.example:5000/hosts.toml")).unwrap();
        assert!(text.contains("[host.\"http://m\"]"), "{text}");
        assert_eq!(written("mirrors: {'*': {endpoint: ['http://other']}}"), ["_default"]);
        let text = std::fs::read_to_string(out.join("_default/hosts.toml")).unwrap();
        assert!(text.contains("http://other") && !text.contains("http://m"), "{text}");
        assert!(written("").is_empty());
    }
}
