//! Ending containerd, and everything it started. Only an uninstall and tests want all of it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::mount::{MntFlags, umount2};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::Config;

/// How long a process may take to end after SIGTERM.
const PATIENCE: Duration = Duration::from_secs(10);

/// Ends containerd, its shims and all their containers, and takes away the mounts below its directories. What is
/// gone already is fine; files stay.
pub async fn stop_all(config: &Config) {
    stop_daemon(config).await;
    let mut cgroups = Vec::new();
    // A shim adopts what its containers leave behind, so its children are looked for until there are none.
    for _ in 0..10 {
        let processes = processes();
        let shims: Vec<&Process> = processes.iter().filter(|process| process.is_shim_of(&config.socket)).collect();
        let children = processes.iter().filter(|process| shims.iter().any(|shim| shim.pid == process.parent));
        let children: Vec<&Process> = children.filter(|child| alive(child.pid)).collect();
        let targets = if children.is_empty() { &shims } else { &children };
        if targets.is_empty() {
            break;
        }
        cgroups.extend(children.iter().flat_map(|child| cgroups_of(child.pid)));
        for process in targets {
            signal(process.pid, Signal::SIGKILL);
        }
        for process in targets {
            ended(process.pid, PATIENCE).await;
        }
    }
    for cgroup in cgroups {
        // Only empty ones can be removed, and several processes shared each.
        let _ = std::fs::remove_dir(cgroup);
    }
    unmount_below(&[&config.root, &config.state]);
}

/// Takes away the mounts below `directories`, the innermost first.
pub(crate) fn unmount_below(directories: &[&Path]) {
    for target in mounts_below(directories) {
        if let Err(error) = umount2(&target, MntFlags::MNT_DETACH) {
            tracing::warn!(%error, mount = %target.display(), "cannot unmount");
        }
    }
}

/// Ends containerd itself. Shims and containers go on.
pub(super) async fn stop_daemon(config: &Config) {
    for pid in daemons(config) {
        signal(pid, Signal::SIGTERM);
        if !ended(pid, PATIENCE).await {
            signal(pid, Signal::SIGKILL);
            ended(pid, PATIENCE).await;
        }
    }
    // There is none if it was never started.
    let _ = std::fs::remove_file(config.pid_file());
}

/// The containerd that runs with this configuration file, normally one at most.
pub(super) fn daemons(config: &Config) -> Vec<i32> {
    let daemons = processes().into_iter().filter(|process| process.is_daemon_of(&config.config_path));
    daemons.map(|daemon| daemon.pid).filter(|pid| alive(*pid)).collect()
}

/// The binary that a process runs, with a suffix if it was replaced since.
pub(super) fn binary(pid: i32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/exe")).ok()
}

fn signal(pid: i32, signal: Signal) {
    // It may have ended meanwhile.
    let _ = kill(Pid::from_raw(pid), signal);
}

/// Waits until a process is gone or a zombie; false if it outlasts `patience`.
async fn ended(pid: i32, patience: Duration) -> bool {
    let begin = Instant::now();
    while alive(pid) {
        if begin.elapsed() > patience {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    true
}

fn alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// The directories of a process's cgroups, in each hierarchy that has one of its own for it.
fn cgroups_of(pid: i32) -> Vec<PathBuf> {
    let table = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    let mut directories = Vec::new();
    for line in table.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let path = path.trim_start_matches('/');
        if path.is_empty() {
            continue;
        }
        let hierarchies = match controllers.trim_start_matches("name=") {
            "" => vec!["", "unified"],
            controllers => vec![controllers],
        };
        directories.extend(hierarchies.into_iter().map(|name| Path::new("/sys/fs/cgroup").join(name).join(path)));
    }
    directories
}

struct Process {
    pid: i32,
    parent: i32,
    arguments: Vec<String>,
}

impl Process {
    fn runs(&self, name: &str) -> bool {
        self.arguments.first().is_some_and(|program| program.rsplit('/').next() == Some(name))
    }

    fn has(&self, flag: &str, value: &Path) -> bool {
        self.arguments.windows(2).any(|pair| pair[0] == flag && Path::new(&pair[1]) == value)
    }

    fn is_daemon_of(&self, config: &Path) -> bool {
        self.runs("containerd") && self.has("--config", config)
    }

    fn is_shim_of(&self, socket: &Path) -> bool {
        self.runs("containerd-shim-runc-v2") && self.has("-address", socket)
    }
}

fn processes() -> Vec<Process> {
    let read = |pid: i32| {
        let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let arguments =
            arguments.split(|byte| *byte == 0).map(|text| String::from_utf8_lossy(text).into_owned()).collect();
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?;
        Some(Process { pid, parent, arguments })
    };
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter_map(read).collect()
}

/// Mount points below any of the directories, the latest first.
fn mounts_below(directories: &[&Path]) -> Vec<PathBuf> {
    let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let points = table.lines().filter_map(|line| line.split(' ').nth(4)).map(|point| PathBuf::from(unescape(point)));
    let mut below: Vec<PathBuf> =
        points.filter(|point| directories.iter().any(|directory| point.starts_with(directory))).collect();
    below.reverse();
    below
}

/// The kernel writes space, tab, newline and backslash in mountinfo as three octal digits.
fn unescape(text: &str) -> String {
    let escapes = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    escapes.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}
