//! containerd: found, configured, started, adopted, restarted; and stopped for good by an uninstall.
//!
//! Guarantees: when [`start`] returns, CRI answers on the socket. A containerd that still answers there (after
//! `kill -9` of kinglet, or an upgrade) is adopted and not disturbed, unless its configuration has changed; then it is
//! restarted, which containers do not notice. When it dies it is started again. It runs in a process group of its own
//! and is left running when kinglet stops: workloads outlive it.
//! Assumptions: the socket, root and state directories are nobody else's.
//! Caveats: where kinglet is a service of an init system, its unit must say that only the main process is killed.

mod config;
mod stop;

use std::fs::{File, OpenOptions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use config::Version;
pub use stop::stop_all;
pub(crate) use stop::unmount_below;

/// How long a new containerd may take until CRI answers. A slow card after a power cut takes many seconds.
const READY: Duration = Duration::from_secs(60);
/// Pauses before restarts, while containerd keeps dying.
const BACKOFF: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(30)];
/// The log is begun anew at a start when it has grown past this.
const LOG_LIMIT: u64 = 10 << 20;

/// Where containerd lives and what it serves.
#[derive(Clone, Debug)]
pub struct Config {
    /// Images and snapshots.
    pub root: PathBuf,
    /// What is lost at a reboot.
    pub state: PathBuf,
    /// The gRPC socket.
    pub socket: PathBuf,
    /// The configuration file that is written for it.
    pub config_path: PathBuf,
    /// Its output.
    pub log: PathBuf,
    /// Where binaries are looked for before PATH: the bundle first.
    pub bin_dirs: Vec<PathBuf>,
    /// Image of pod sandboxes.
    pub sandbox_image: String,
    /// CNI plugins.
    pub cni_bin: PathBuf,
    /// CNI configuration.
    pub cni_conf: PathBuf,
    /// Folders with `hosts.toml` by registry; the first that has the registry counts.
    pub registry_configs: Vec<PathBuf>,
    /// Containers' cgroups are made by systemd rather than directly.
    pub systemd_cgroup: bool,
    /// A cgroup that containerd puts itself into, as a path below the cgroup mount.
    pub cgroup: Option<String>,
}

impl Config {
    /// Everything below one directory.
    pub fn under(directory: &Path) -> Self {
        Self {
            root: directory.join("containerd"),
            state: directory.join("run/containerd"),
            socket: directory.join("run/containerd.sock"),
            config_path: directory.join("containerd.toml"),
            log: directory.join("containerd.log"),
            bin_dirs: vec![directory.join("bin")],
            sandbox_image: cri::pause::IMAGE.to_owned(),
            cni_bin: directory.join("cni/bin"),
            cni_conf: directory.join("cni/net.d"),
            registry_configs: vec![directory.join("registries")],
            systemd_cgroup: false,
            cgroup: None,
        }
    }

    /// Holds the process ID of the containerd that was started.
    fn pid_file(&self) -> PathBuf {
        self.state.with_extension("pid")
    }
}

/// A containerd that answers.
#[derive(Clone, Debug)]
pub struct Running {
    /// Its socket.
    pub socket: PathBuf,
    /// Its version.
    pub version: Version,
    /// It was running before.
    pub adopted: bool,
}

/// Why there is no containerd.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A binary is nowhere.
    #[error("{name} not found in {searched}; install it, or put it into the bundle's directory")]
    Missing {
        /// Its name.
        name: &'static str,
        /// Where it was looked for.
        searched: String,
    },
    /// It does not tell its version, or one too old.
    #[error("{} is not a containerd of version 1.6 or later (it says {output:?})", binary.display())]
    Version {
        /// The binary.
        binary: PathBuf,
        /// What it said.
        output: String,
    },
    /// A file or directory cannot be used.
    #[error("cannot {action} {}", path.display())]
    File {
        /// `create`, `write` …
        action: &'static str,
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The process cannot be run.
    #[error("cannot run {}", binary.display())]
    Spawn {
        /// The binary.
        binary: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It ended at once.
    #[error("containerd ended while starting ({status}); the end of {}:\n{tail}", log.display())]
    Ended {
        /// How it ended.
        status: String,
        /// Its log.
        log: PathBuf,
        /// The end of the log.
        tail: String,
    },
    /// It runs but does not answer.
    #[error("containerd does not answer on {} after {READY:?}: {reason}; see {}", socket.display(), log.display())]
    Silent {
        /// Its socket.
        socket: PathBuf,
        /// What was answered last.
        reason: String,
        /// Its log.
        log: PathBuf,
    },
}

fn file(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::File { action, path, source }
}

/// Starts or adopts containerd and supervises it until `stop`.
pub async fn start(config: Config, stop: CancellationToken, tasks: &TaskTracker) -> Result<Running, Error> {
    let program = Program::find(&config).await?;
    let changed = program.prepare(&config)? || program.was_replaced(&config);
    let alive = alive(&config).await;
    if alive && changed {
        tracing::info!("containerd is restarted: its configuration or its binary has changed");
    }
    let adopted = alive && !changed;
    let child = if adopted { None } else { Some(program.run(&config).await?) };
    let running = Running { socket: config.socket.clone(), version: program.version, adopted };
    tracing::info!(version = %program.version, adopted, "containerd answers");
    tasks.spawn(supervise(config, program, child, stop));
    Ok(running)
}

/// Whether a containerd answers; one that runs but is still starting, or busy, is waited for.
async fn alive(config: &Config) -> bool {
    let deadline = Instant::now() + READY;
    loop {
        if answers(&config.socket).await.is_ok() {
            return true;
        }
        if stop::daemons(config).is_empty() || Instant::now() > deadline {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Waits for containerd's end and starts it again, until `stop`.
async fn supervise(config: Config, program: Program, mut child: Option<Child>, stop: CancellationToken) {
    let mut pause = BACKOFF[0];
    loop {
        let begun = Instant::now();
        let gone = async {
            match child.as_mut() {
                Some(child) => child.wait().await.map_or_else(|error| error.to_string(), |status| status.to_string()),
                None => {
                    cri::events::until_gone(&config.socket).await;
                    "connection lost".to_owned()
                }
            }
        };
        let status = tokio::select! {
            () = stop.cancelled() => return,
            status = gone => status,
        };
        if begun.elapsed() > BACKOFF[1] * 2 {
            pause = BACKOFF[0];
        }
        tracing::warn!(status, ?pause, "containerd ended; it is started again");
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
        pause = (pause * 2).min(BACKOFF[1]);
        // An adopted one may only have dropped the connection, or an administrator was quicker.
        child = if alive(&config).await {
            None
        } else {
            match program.run(&config).await {
                Ok(child) => Some(child),
                Err(error) => {
                    tracing::error!(%error, "containerd does not start");
                    None
                }
            }
        };
    }
}

/// The binaries and facts of this machine.
struct Program {
    containerd: PathBuf,
    runtime: PathBuf,
    path: std::ffi::OsString,
    version: Version,
}

impl Program {
    async fn find(config: &Config) -> Result<Self, Error> {
        let system = std::env::var_os("PATH").unwrap_or_default();
        let mut directories = config.bin_dirs.clone();
        directories.extend(std::env::split_paths(&system));
        // A service's PATH often lacks these, and distributions keep runc there.
        directories.extend(["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin"].map(PathBuf::from));
        let find = |name: &'static str| {
            let found = directories.iter().map(|directory| directory.join(name)).find(|path| is_executable(path));
            let searched = || directories.iter().map(|d| d.display().to_string()).collect::<Vec<_>>().join(":");
            found.ok_or_else(|| Error::Missing { name, searched: searched() })
        };
        let containerd = find("containerd")?;
        let runtime = find("runc").or_else(|missing| find("crun").map_err(|_| missing))?;
        find("containerd-shim-runc-v2")?;
        let output = says(&containerd, &config.config_path.with_extension("version")).await?;
        let version = Version::parse(&output).filter(|version| *version >= Version::OLDEST);
        let version = version.ok_or_else(|| Error::Version { binary: containerd.clone(), output })?;
        let path = std::env::join_paths(directories).unwrap_or(system);
        Ok(Self { containerd, runtime, path, version })
    }

    /// A containerd runs whose binary is not, or no longer, the one that would be started.
    fn was_replaced(&self, config: &Config) -> bool {
        let binary = std::fs::canonicalize(&self.containerd).ok();
        stop::daemons(config).into_iter().any(|pid| stop::binary(pid) != binary)
    }

    /// Makes the directories and writes the configuration; true if it differs from the one before.
    fn prepare(&self, config: &Config) -> Result<bool, Error> {
        let parents = [&config.socket, &config.config_path, &config.log].into_iter().filter_map(|path| path.parent());
        let registries = config.registry_configs.iter().map(PathBuf::as_path);
        for directory in parents.chain([config.root.as_path(), &config.state, &config.cni_conf]).chain(registries) {
            std::fs::create_dir_all(directory).map_err(file("create", directory))?;
        }
        let text = config::render(&config::Facts {
            version: self.version,
            config,
            runtime: self.runtime.clone(),
            snapshotter: if overlay_works(&config.root) { "overlayfs" } else { "native" },
            restrict_oom_score: !may_lower_oom_score(),
        });
        cri::write_whole(&config.config_path, &text).map_err(file("write", &config.config_path))
    }

    /// Runs containerd and waits until CRI answers. One that runs is ended: two would fight over the socket.
    async fn run(&self, config: &Config) -> Result<Child, Error> {
        stop::stop_daemon(config).await;
        let log = open_log(&config.log).map_err(file("write", &config.log))?;
        let begin = log.metadata().map_or(0, |metadata| metadata.len());
        let errors = log.try_clone().map_err(file("write", &config.log))?;
        let mut child = Command::new(&self.containerd)
            .arg("--config")
            .arg(&config.config_path)
            .env("PATH", &self.path)
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors)
            .process_group(0)
            .spawn()
            .map_err(|source| Error::Spawn { binary: self.containerd.clone(), source })?;
        if let Some(pid) = child.id() {
            let path = config.pid_file();
            std::fs::write(&path, pid.to_string()).map_err(file("write", &path))?;
        }
        let deadline = Instant::now() + READY;
        let mut pause = Duration::from_millis(5);
        loop {
            let reason = match answers(&config.socket).await {
                Ok(()) => return Ok(child),
                Err(reason) => reason,
            };
            if let Ok(Some(status)) = child.try_wait() {
                let (log, tail) = (config.log.clone(), tail(&config.log, begin));
                return Err(Error::Ended { status: status.to_string(), log, tail });
            }
            if Instant::now() > deadline {
                return Err(Error::Silent { socket: config.socket.clone(), reason, log: config.log.clone() });
            }
            // Bounded by the deadline: short steps at first, since a start takes a fraction of a second.
            tokio::time::sleep(pause).await;
            pause = (pause * 11 / 10).min(Duration::from_millis(250));
        }
    }
}

/// What `containerd --version` says. It takes as long as half a start, so it is remembered for as long as the binary
/// stays the same.
async fn says(binary: &Path, memory: &Path) -> Result<String, Error> {
    let identity = std::fs::metadata(binary).map(|file| {
        use std::os::unix::fs::MetadataExt;
        format!("{} {} {} {}.{}\n", binary.display(), file.ino(), file.len(), file.mtime(), file.mtime_nsec())
    });
    let identity = identity.map_err(file("read", binary))?;
    let known = std::fs::read_to_string(memory).unwrap_or_default();
    if let Some(output) = known.strip_prefix(&identity) {
        return Ok(output.to_owned());
    }
    let output = Command::new(binary).arg("--version").stdin(Stdio::null()).output().await;
    let output = output.map_err(|source| Error::Spawn { binary: binary.to_owned(), source })?;
    let output = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    // Only time is lost if it cannot be kept: the directory may not exist yet.
    let _ = std::fs::write(memory, identity + &output);
    Ok(output)
}

/// Whether CRI answers on the socket; if not, why.
async fn answers(socket: &Path) -> Result<(), String> {
    if !socket.exists() {
        return Err("no socket".to_owned());
    }
    let ask = async {
        let mut cri = cri::connect(socket).await.map_err(|error| error.to_string())?;
        let version = cri.runtime.version(cri::v1::VersionRequest::default()).await;
        version.map(drop).map_err(|status| status.message().to_owned())
    };
    tokio::time::timeout(Duration::from_secs(5), ask).await.unwrap_or_else(|_| Err("no answer".to_owned()))
}

fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

fn open_log(path: &Path) -> std::io::Result<File> {
    if std::fs::metadata(path).is_ok_and(|metadata| metadata.len() > LOG_LIMIT) {
        std::fs::rename(path, path.with_extension("log.old"))?;
    }
    OpenOptions::new().create(true).append(true).open(path)
}

/// The last lines of the log since `begin`.
fn tail(log: &Path, begin: u64) -> String {
    let bytes = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(bytes.get(begin as usize..).unwrap_or_default()).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(5)..].join("\n")
}

/// Whether an overlay can be mounted on `root`'s file system; asking loads the kernel module too.
fn overlay_works(root: &Path) -> bool {
    use nix::mount::{MntFlags, MsFlags, mount, umount2};
    let trial = root.join(".overlay-trial");
    let _ = std::fs::remove_dir_all(&trial);
    let made =
        ["lower", "upper", "work", "merged"].iter().all(|name| std::fs::create_dir_all(trial.join(name)).is_ok());
    let target = trial.join("merged");
    let option = |name: &str| trial.join(name).display().to_string();
    let options = format!("lowerdir={},upperdir={},workdir={}", option("lower"), option("upper"), option("work"));
    let mounted =
        made && mount(Some("overlay"), &target, Some("overlay"), MsFlags::empty(), Some(options.as_str())).is_ok();
    if mounted {
        let _ = umount2(&target, MntFlags::MNT_DETACH);
    }
    let _ = std::fs::remove_dir_all(&trial);
    mounted
}

/// CAP_SYS_RESOURCE is among the effective capabilities.
fn may_lower_oom_score() -> bool {
    const SYS_RESOURCE: u32 = 24;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    effective.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).is_none_or(|set| set >> SYS_RESOURCE & 1 == 1)
}
