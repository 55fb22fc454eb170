//! Carrying out one action of a plan.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use client::EventType;
use cri::v1 as rt;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt as _;
use kube::api::{Api, DeleteParams, Preconditions};

use super::backoff::{Backoff, CRASH};
use super::inbox::Done;
use super::plan::{KillReason, PodAction};
use super::state::{Failure, Image, Killing, Volumes};
use super::worker::{Flow, Worker};
use crate::image;
use crate::probe::{Target, check};
use crate::spec::{self, dns, env, env::Source, hosts, resources, sandbox};
use crate::volumes::{self, mounts, payload};

/// What a container keeps of its grace after its preStop hook, in seconds.
const MIN_GRACE: u64 = 2;

impl Worker {
    pub(super) async fn apply(&mut self, action: &PodAction) -> Flow {
        match action {
            PodAction::MountVolumes => self.mount().await,
            PodAction::CreateSandbox { stop, attempt } => self.create_sandbox(stop, *attempt).await,
            PodAction::EnsureImage { name } => self.ensure_image(name).await,
            PodAction::StartContainer { name, sandbox, image, restart_count, after_crash } => {
                if *after_crash {
                    let before = self.memory.backoff.get(name).copied();
                    self.memory.backoff.insert(name.clone(), Backoff::next(before, CRASH, Timestamp::now()));
                }
                self.start(name, sandbox, image, *restart_count).await
            }
            PodAction::KillContainer { name, id, grace, reason } => self.kill(name, id, *grace, *reason),
            PodAction::RemoveContainer { id } => self.remove_container(id).await,
            PodAction::StopSandbox { id } => {
                let done = self.ctx.runtime.stop_sandbox(id).await;
                self.or_later("stop sandbox", done.map_err(|e| e.message)).await
            }
            PodAction::RemoveSandbox { id } => {
                let done = self.ctx.runtime.remove_sandbox(id).await;
                self.or_later("remove sandbox", done.map_err(|e| e.message)).await
            }
            PodAction::TearDown => self.tear_down().await,
            PodAction::Finalize => self.finalize().await,
            PodAction::Forget => self.forget().await,
        }
    }

    /// After a failure of the runtime, a pause: the plan will ask for the same again.
    async fn or_later(&mut self, what: &str, result: Result<(), String>) -> Flow {
        match result {
            Ok(()) => {
                self.setup_backoff.remove(what);
                Flow::Again
            }
            Err(error) => {
                let at = self.next_try(what);
                tracing::info!(error, pod = %self.pod.name_any(), "cannot {what}, trying again");
                let wait = Duration::try_from(at.duration_since(Timestamp::now())).unwrap_or_default();
                tokio::time::sleep(wait).await;
                Flow::Retry
            }
        }
    }

    /// What the pod refers to.
    fn wanted_sources(&self) -> BTreeSet<Source> {
        let mut wanted = env::sources(&self.pod);
        wanted.extend(payload::sources(&self.pod));
        let secrets = self.pod.spec.iter().flat_map(|s| s.image_pull_secrets.iter().flatten());
        wanted.extend(secrets.map(|s| Source::Secret(s.name.clone())));
        wanted
    }

    async fn fetch(&mut self) -> Result<(), String> {
        let (namespace, wanted) = (self.pod.namespace().unwrap_or_default(), self.wanted_sources());
        self.ctx.sources.follow(&self.uid, &namespace, &wanted);
        self.fetched = self.ctx.sources.fetch(&namespace, &wanted).await?;
        Ok(())
    }

    /// Makes the volumes, or brings them up to date.
    async fn write_volumes(&mut self) -> Result<(), String> {
        self.fetch().await?;
        let wanted = payload::tokens(&self.pod);
        let now = Timestamp::now();
        let tokens = self.tokens.get(&self.ctx.client, &self.pod, &wanted, now).await?;
        let (pod, dirs, facts, fetched) = (self.pod.clone(), self.dirs.clone(), self.facts(), self.fetched.clone());
        let write = move || {
            std::fs::create_dir_all(dirs.root()).map_err(|e| format!("{}: {e}", dirs.root().display()))?;
            for volume in pod.spec.iter().flat_map(|s| s.volumes.iter().flatten()) {
                let given = payload::Given { facts: &facts, fetched: &fetched, tokens: &tokens };
                volumes::set_up(&pod, volume, &dirs, given)
                    .map_err(|e| format!("MountVolume.SetUp failed for volume \"{}\" : {e}", volume.name))?;
            }
            Ok(())
        };
        tokio::task::spawn_blocking(write).await.unwrap_or_else(|e| Err(e.to_string()))
    }

    async fn mount(&mut self) -> Flow {
        match self.write_volumes().await {
            Ok(()) => {
                self.stale_volumes = false;
                self.setup_backoff.remove("volumes");
                self.memory.volumes = Volumes::Mounted;
            }
            Err(message) => {
                self.event(EventType::Warning, "FailedMount", message.clone());
                let retry_at = self.next_try("volumes");
                self.memory.volumes = Volumes::Failed(Failure { reason: "FailedMount".into(), message, retry_at });
            }
        }
        Flow::Again
    }

    /// Follows changes of what the volumes are made from.
    pub(super) async fn refresh_volumes(&mut self) {
        let changed = std::mem::take(&mut self.stale_volumes);
        let renew = self.tokens.renew_at().is_some_and(|at| at <= Timestamp::now());
        match &mut self.memory.volumes {
            // What was missing may be there now.
            Volumes::Failed(failure) if changed => failure.retry_at = Timestamp::now(),
            Volumes::Mounted if changed || renew => {
                if let Err(error) = self.write_volumes().await {
                    tracing::info!(error, pod = %self.pod.name_any(), "volumes not brought up to date");
                }
            }
            _ => {}
        }
        if changed {
            // So may what an environment refers to.
            let now = Timestamp::now();
            for failure in self.memory.failures.values_mut().filter(|f| f.reason == "CreateContainerConfigError") {
                failure.retry_at = now;
            }
        }
    }

    fn sandbox_config(&self, attempt: u32) -> rt::PodSandboxConfig {
        let config = &self.ctx.config;
        let setting = sandbox::Setting {
            pod_log_dir: &config.pod_log_dir.to_string_lossy(),
            cgroup_root: &config.cgroup_parent,
            seccomp_root: &self.seccomp_root(),
            cluster_domain: &config.cluster_domain,
            dns: dns::pod(&self.pod, &self.ctx.cluster(), &dns::host()),
        };
        sandbox::config(&self.pod, &setting, attempt)
    }

    fn seccomp_root(&self) -> String {
        self.ctx.config.root_dir.join("seccomp").to_string_lossy().into_owned()
    }

    async fn create_sandbox(&mut self, stop: &[String], attempt: u32) -> Flow {
        let config = self.sandbox_config(attempt);
        let made = async {
            for id in stop {
                self.ctx.runtime.stop_sandbox(id).await.map_err(|e| e.message)?;
            }
            std::fs::create_dir_all(&config.log_directory).map_err(|e| format!("{}: {e}", config.log_directory))?;
            if attempt > 0 {
                let text = "Pod sandbox changed, it will be killed and re-created.".into();
                self.event(EventType::Normal, "SandboxChanged", text);
            }
            self.ctx.runtime.run_sandbox(config).await.map_err(|e| e.message)
        };
        match made.await {
            Ok(_) => {
                self.memory.sandbox = None;
                self.setup_backoff.remove("sandbox");
            }
            Err(error) => {
                let message = format!("Failed to create pod sandbox: {error}");
                self.event(EventType::Warning, "FailedCreatePodSandBox", message.clone());
                let retry_at = self.next_try("sandbox");
                self.memory.sandbox = Some(Failure { reason: "FailedCreatePodSandBox".into(), message, retry_at });
            }
        }
        Flow::Again
    }

    /// Runs long work beside the worker. It ends with the kubelet, and the next one finds in the runtime how far it got.
    fn beside(&self, work: impl Future<Output = ()> + Send + 'static) {
        let stop = self.ctx.stop.clone();
        self.ctx.tasks.spawn(async move { stop.run_until_cancelled(work).await });
    }

    async fn ensure_image(&mut self, name: &str) -> Flow {
        let Some((_, spec)) = spec::container(&self.pod, name) else { return Flow::Wait };
        let spec = spec.clone();
        match image::present(&self.ctx.runtime, &spec).await {
            Ok(Some(ready)) => self.take_image(name.into(), Ok(ready)),
            Err(missing) => self.take_image(name.into(), Err(missing)),
            Ok(None) => {
                let image = spec.image.clone().unwrap_or_default();
                self.container_event(name, EventType::Normal, "Pulling", format!("Pulling image \"{image}\""));
                // Secrets may have changed since the volumes were made.
                if let Err(error) = self.fetch().await {
                    tracing::info!(error, "pulling without what could not be fetched");
                }
                let secrets = self.pod.spec.iter().flat_map(|s| s.image_pull_secrets.iter().flatten());
                let secrets = secrets.filter_map(|s| self.fetched.secrets.get(&s.name)).map(|s| &**s);
                let mut credentials = image::credentials(secrets, &image);
                credentials.extend(self.ctx.config.registries.credentials(cri::images::names::split(&image).0));
                let (runtime, inbox, name) = (self.ctx.runtime.clone(), self.inbox.clone(), name.to_owned());
                self.memory.images.insert(name.clone(), Image::Pulling);
                self.beside(async move {
                    let result = image::pull(&runtime, &spec, credentials).await;
                    inbox.tell(|news| news.done.push(Done::Image { name, result }));
                });
            }
        }
        Flow::Again
    }

    /// Makes and starts a container. Whatever fails is shown in its status and tried again.
    async fn start(&mut self, name: &str, sandbox: &str, image: &str, restart_count: i32) -> Flow {
        self.memory.images.remove(name);
        match self.try_start(name, sandbox, image, restart_count).await {
            Ok(id) => {
                self.memory.failures.remove(name);
                self.setup_backoff.remove(&format!("start {name}"));
                self.container_event(name, EventType::Normal, "Started", format!("Started container {name}"));
                self.post_start(name, &id);
            }
            Err((reason, message)) => {
                self.container_event(name, EventType::Warning, "Failed", format!("Error: {message}"));
                let retry_at = self.next_try(&format!("start {name}"));
                let failure = Failure { reason: reason.into(), message, retry_at };
                self.memory.failures.insert(name.into(), failure);
            }
        }
        Flow::Again
    }

    async fn try_start(
        &mut self,
        name: &str,
        sandbox: &str,
        image: &str,
        restart_count: i32,
    ) -> Result<String, (&'static str, String)> {
        let config_error = |e: String| ("CreateContainerConfigError", e);
        self.fetch().await.map_err(config_error)?;
        let pod = self.pod.clone();
        let (_, spec) = spec::container(&pod, name).ok_or_else(|| config_error("no such container".into()))?;
        let facts = self.facts();
        let services = self.ctx.services.list();
        let env = env::build(&pod, spec, &facts, &self.fetched, &services).map_err(config_error)?;
        let mut all = mounts::mounts(&pod, spec, &self.dirs, &env).map_err(config_error)?;
        let managed = || -> std::io::Result<Vec<rt::Mount>> {
            let host = std::fs::read_to_string("/etc/hosts").unwrap_or_default();
            let text = hosts::file(&pod, &self.ctx.config.cluster_domain, &facts.pod_ips, &host);
            let hosts = mounts::hosts(spec, &self.dirs, &text)?;
            Ok(hosts.into_iter().chain([mounts::termination_log(spec, &self.dirs, restart_count)?]).collect())
        };
        all.extend(managed().map_err(|e| ("CreateContainerError", e.to_string()))?);
        let user = self.users.get(name).cloned().unwrap_or_default();
        let parts = spec::container::Parts {
            image,
            user: &user,
            env: &env,
            mounts: all,
            restart_count,
            node_memory: self.ctx.machine.memory,
            seccomp_root: &self.seccomp_root(),
        };
        let config = spec::container::config(&pod, spec, parts).map_err(config_error)?;
        let attempt = self.runtime.sandbox().map_or(0, |s| s.attempt);
        let sandbox_config = self.sandbox_config(attempt);
        let logs = std::path::Path::new(&sandbox_config.log_directory).join(name);
        std::fs::create_dir_all(&logs).map_err(|e| ("CreateContainerError", format!("{}: {e}", logs.display())))?;
        let runtime = self.ctx.runtime.clone();
        let id = runtime
            .create_container(sandbox, config, sandbox_config)
            .await
            .map_err(|e| ("CreateContainerError", e.message))?;
        self.container_event(name, EventType::Normal, "Created", format!("Created container: {name}"));
        runtime.start_container(&id).await.map_err(|e| ("RunContainerError", e.message))?;
        Ok(id)
    }

    fn target(&self, name: &str, id: &str) -> Option<Target> {
        let (_, spec) = spec::container(&self.pod, name)?;
        Some(Target {
            runtime: self.ctx.runtime.clone(),
            pod: self.pod.clone(),
            spec: spec.clone(),
            id: id.into(),
            ip: self.facts().pod_ips.first().cloned().unwrap_or_default(),
            started_at: Timestamp::now(),
        })
    }

    /// Runs the hook of a container that has just started.
    fn post_start(&mut self, name: &str, id: &str) {
        let Some(target) = self.target(name, id) else { return };
        let Some(hook) = target.spec.lifecycle.as_ref().and_then(|l| l.post_start.clone()) else { return };
        self.memory.starting.push(id.into());
        let (inbox, name, id) = (self.inbox.clone(), name.to_owned(), id.to_owned());
        self.beside(async move {
            // As long as it takes: the container counts as not started meanwhile, and killing it ends the hook.
            let result = check::hook(&hook, &target, Duration::from_secs(24 * 3600)).await;
            inbox.tell(|news| news.done.push(Done::Hook { name, id, result }));
        });
    }

    fn kill(&mut self, name: &str, id: &str, grace: i64, reason: KillReason) -> Flow {
        let message = match reason {
            KillReason::Liveness => format!("Container {name} failed liveness probe, will be restarted"),
            KillReason::Startup => format!("Container {name} failed startup probe, will be restarted"),
            KillReason::DefinitionChanged => format!("Container {name} definition changed, will be restarted"),
            KillReason::PodEnds | KillReason::SandboxGone | KillReason::Unknown => format!("Stopping container {name}"),
        };
        self.container_event(name, EventType::Normal, "Killing", message);
        let deadline = Timestamp::now() + SignedDuration::from_secs(grace);
        self.memory.killing.insert(id.into(), Killing { deadline });
        let target = self.target(name, id);
        let polite = !matches!(reason, KillReason::SandboxGone | KillReason::Unknown);
        let hook = target.filter(|_| polite).and_then(|target| {
            let hook = target.spec.lifecycle.as_ref().and_then(|l| l.pre_stop.clone())?;
            Some((hook, target))
        });
        let mut about = client::reference(&*self.pod);
        about.field_path = spec::container(&self.pod, name).map(|(role, _)| spec::field_path(role, name));
        let (runtime, recorder, inbox, id) =
            (self.ctx.runtime.clone(), self.ctx.recorder.clone(), self.inbox.clone(), id.to_owned());
        self.beside(async move {
            let (started, all) = (Instant::now(), Duration::from_secs(u64::try_from(grace).unwrap_or(0)));
            if let Some((hook, target)) = hook
                && let Err(error) = check::hook(&hook, &target, all).await
            {
                recorder.event(about, EventType::Warning, "FailedPreStopHook", format!("PreStopHook failed: {error}"));
            }
            let left = all.saturating_sub(started.elapsed()).as_secs().max(MIN_GRACE);
            let result = runtime.stop_container(&id, i64::try_from(left).unwrap_or(grace)).await;
            if result.is_err() || reason == KillReason::Unknown {
                // The plan may ask for it again: not at once.
                tokio::time::sleep(Duration::from_secs(MIN_GRACE)).await;
            }
            inbox.tell(|news| news.done.push(Done::Killed { id, result: result.map_err(|e| e.message) }));
        });
        Flow::Wait
    }

    async fn remove_container(&mut self, id: &str) -> Flow {
        let done = self.ctx.runtime.remove_container(id).await.map_err(|e| e.message);
        if done.is_ok()
            && let Some(container) = self.runtime.containers.iter().find(|c| c.id == id)
        {
            let log = std::path::Path::new(&container.log_path);
            for file in crate::logs::read::files(log) {
                // A log that is not there is as good as removed.
                let _ = std::fs::remove_file(file);
            }
            let message = self.dirs.container(&container.name).join(format!("{}.message", container.restart_count));
            let _ = std::fs::remove_file(message);
        }
        self.or_later("remove container", done).await
    }

    async fn tear_down(&mut self) -> Flow {
        self.ctx.sources.follow(&self.uid, &self.pod.namespace().unwrap_or_default(), &BTreeSet::new());
        let dirs = self.dirs.clone();
        let cgroups = resources::cgroups(&self.ctx.config.cgroup_parent, &self.uid);
        let work = move || {
            volumes::tear_down(&dirs)?;
            cgroups.iter().try_for_each(|c| crate::cgroup::remove(c))
        };
        let done = tokio::task::spawn_blocking(work).await.map_err(|e| e.to_string());
        let done = done.and_then(|r| r.map_err(|e| e.to_string()));
        if done.is_ok() {
            self.memory.volumes = Volumes::TornDown;
        }
        self.or_later("take away volumes", done).await
    }

    /// Removes the object: the pod has ended here.
    async fn finalize(&mut self) -> Flow {
        let api: Api<Pod> = Api::namespaced(self.ctx.client.clone(), &self.pod.namespace().unwrap_or_default());
        let preconditions = Preconditions { uid: Some(self.uid.clone()), resource_version: None };
        let params = DeleteParams { preconditions: Some(preconditions), ..DeleteParams::default().grace_period(0) };
        match api.delete(&self.pod.name_any(), &params).await {
            Ok(_) => self.gone = true,
            // Not there, or another of the same name.
            Err(kube::Error::Api(status)) if status.code == 404 || status.code == 409 => self.gone = true,
            Err(error) => {
                let error = client::runtime::describe(&error);
                return self.or_later("delete the pod's object", Err(error)).await;
            }
        }
        Flow::Again
    }

    async fn forget(&mut self) -> Flow {
        let (meta, logs) = (&self.pod.metadata, self.ctx.config.pod_log_dir.to_string_lossy());
        let of = |v: &Option<String>| v.clone().unwrap_or_default();
        let logs = sandbox::log_directory(&logs, &of(&meta.namespace), &of(&meta.name), &self.uid);
        let dirs = self.dirs.clone();
        let work = move || {
            volumes::remove(&dirs)?;
            match std::fs::remove_dir_all(logs) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            }
        };
        let done = tokio::task::spawn_blocking(work).await.map_err(|e| e.to_string());
        match done.and_then(|r| r.map_err(|e| e.to_string())) {
            Ok(()) => Flow::End,
            error => self.or_later("remove the pod's directories", error).await,
        }
    }
}
