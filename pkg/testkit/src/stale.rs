//! What dead runs have left: processes, mounts, folders, namespaces.
//!
//! A folder `target/testkit/NAME-PID` is of the clusters of a process, `/run/netns/kt-PID-…` are its
//! namespaces. They are stale when the process is gone.

use std::{
    fs,
    net::Ipv4Addr,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    process::Command,
    thread::sleep,
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::{Machine, lan, repository};

/// Removes it, as far as that goes: what stays is told, and left to the next run.
pub(crate) fn remove() {
    for cluster in entries(&repository().join("target/testkit")) {
        if !is_dead(name(&cluster).rsplit('-').next()) {
            continue;
        }
        for dir in entries(&cluster) {
            let namespace = fs::read_to_string(dir.join("namespace")).unwrap_or_default();
            kill_all_but_runtime(&namespace);
            // What a machine does at its end is what is to be done; it panics if that fails.
            let machine = || Machine::new(name(&dir), namespace, Ipv4Addr::UNSPECIFIED.into(), dir.clone(), Vec::new());
            let _ = catch_unwind(AssertUnwindSafe(|| drop(machine())));
        }
        let _ = fs::remove_dir(&cluster);
    }
    for namespace in entries(Path::new("/run/netns")).iter().map(|path| name(path)) {
        if is_dead(namespace.strip_prefix(lan::PREFIX).and_then(|rest| rest.split('-').next())) {
            lan::remove(&namespace);
        }
    }
}

/// Whether that is the number of a process which is gone.
fn is_dead(pid: Option<&str>) -> bool {
    let pid = pid.and_then(|pid| pid.parse::<u32>().ok());
    pid.is_some_and(|pid| !fs::exists(format!("/proc/{pid}")).unwrap_or(true))
}

/// The runtime is asked for its pods, and ended then.
fn kill_all_but_runtime(namespace: &str) {
    let others = || -> Vec<i32> {
        let listed = Command::new("ip").args(["netns", "pids", namespace]).output();
        let listed = listed.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).into_owned());
        let pids = listed.split_whitespace().filter_map(|pid| pid.parse().ok());
        let is_runtime = |pid: &i32| {
            fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm.starts_with("containerd"))
        };
        pids.filter(|pid| !is_runtime(pid)).collect()
    };
    for _ in 0..100 {
        let others = others();
        if others.is_empty() {
            return;
        }
        for pid in others {
            // It may have ended by itself.
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
        sleep(Duration::from_millis(50));
    }
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::is_dead;

    #[test]
    fn only_numbers_of_processes_that_are_gone_are_dead() {
        let own = std::process::id().to_string();
        for (pid, dead) in
            [(Some("4194305"), true), (Some(&*own), false), (Some("x"), false), (Some(""), false), (None, false)]
        {
            assert_eq!(is_dead(pid), dead, "{pid:?}");
        }
    }
}
