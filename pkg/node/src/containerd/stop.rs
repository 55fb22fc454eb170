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
    let processes = processes();
    let shims: Vec<&Process> = processes.iter().filter(|process| process.is_shim_of(&config.socket)).collect();
    for shim in &shims {
        for child in processes.iter().filter(|process| process.parent == shim.pid) {
            signal(child.pid, Signal::SIGKILL);
        }
    }
    for shim in &shims {
        signal(shim.pid, Signal::SIGKILL);
    }
    for shim in &shims {
        ended(shim.pid, PATIENCE).await;
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
    let daemons = processes().into_iter().filter(|process| process.is_daemon_of(&config.config_path));
    for daemon in daemons {
        signal(daemon.pid, Signal::SIGTERM);
        if !ended(daemon.pid, PATIENCE).await {
            signal(daemon.pid, Signal::SIGKILL);
            ended(daemon.pid, PATIENCE).await;
        }
    }
    let _ = std::fs::remove_file(config.pid_file());
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
