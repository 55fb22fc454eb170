//! One machine of a cluster: a namespace, a directory and a process.

use std::{
    fs::{self, File},
    net::IpAddr,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, Command},
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::{Output, binary, eventually, run, run::words};

/// A machine on which `kinglet` runs.
pub struct Machine {
    /// Its node name.
    pub name: String,
    /// Its address.
    pub ip: IpAddr,
    namespace: String,
    dir: PathBuf,
    args: Vec<String>,
    /// What runs here is in process groups of its own.
    pub(crate) apart: bool,
    child: Option<Child>,
}

/// Whether a line of a log tells of a panic.
pub(crate) fn is_panic(line: &str) -> bool {
    line.contains("panicked at")
}

impl Machine {
    /// A machine that is switched off; `args` begin with `server` or `agent`.
    pub(crate) fn new(name: String, namespace: String, ip: IpAddr, dir: PathBuf, args: Vec<String>) -> Self {
        fs::create_dir_all(&dir).expect("the test directory can be written");
        // For the run that finds it, should this one crash.
        fs::write(dir.join("namespace"), &namespace).expect("the test directory can be written");
        Machine { name, ip, namespace, dir, args, apart: false, child: None }
    }

    /// Its directory: `data`, `etc`, `run` and `log`.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The directory of its configuration.
    pub fn etc(&self) -> PathBuf {
        self.dir.join("etc")
    }

    /// Where nodes look for image archives when they start.
    pub fn images(&self) -> PathBuf {
        self.dir.join("data/agent/images")
    }

    /// What `kinglet` has logged.
    pub fn log(&self) -> String {
        fs::read_to_string(self.dir.join("log")).unwrap_or_default()
    }

    /// The lines of the log at WARN or ERROR, and panics. Lines are `TIME LEVEL …`.
    pub fn complaints(&self) -> Vec<String> {
        let is_complaint =
            |line: &&str| matches!(line.split_whitespace().nth(1), Some("WARN" | "ERROR")) || is_panic(line);
        self.log().lines().filter(is_complaint).map(str::to_owned).collect()
    }

    /// The lines of the log that tell of a panic.
    pub fn panics(&self) -> Vec<String> {
        self.log().lines().filter(|line| is_panic(line)).map(str::to_owned).collect()
    }

    /// A command inside the machine's network namespace.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/run/netns/{}", self.namespace)).arg("--").arg(program);
        if self.apart {
            command.process_group(0);
        }
        command
    }

    /// Runs a command line inside, e.g. `curl -s http://10.43.0.1`.
    #[track_caller]
    pub fn run(&self, line: &str) -> Output {
        let words = words(line);
        run(self.command(&words[0]).args(&words[1..]), "")
    }

    /// `kinglet` with the options that say where this machine's files are.
    pub fn kinglet(&self, line: &str) -> Command {
        let mut command = self.command(binary());
        command.args(words(line)).env("KINGLET_CONFIG_DIR", self.etc());
        command.env("KINGLET_DATA_DIR", self.dir.join("data")).env("KINGLET_RUN_DIR", self.dir.join("run"));
        command.env("KINGLET_CGROUP_ROOT", format!("/{}", self.namespace));
        command
    }

    /// Starts `kinglet`; does not wait until it is ready.
    #[track_caller]
    pub fn start(&mut self) {
        assert!(self.child.is_none(), "{} is running", self.name);
        let log = File::options().create(true).append(true).open(self.dir.join("log")).expect("log can be written");
        let mut command = self.kinglet("");
        command.args(&self.args).stdin(std::process::Stdio::null());
        command.stdout(log.try_clone().expect("log can be shared")).stderr(log);
        self.child = Some(command.spawn().expect("kinglet can be started"));
    }

    /// Process id of the running `kinglet` (nsenter has become it).
    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("running").id()
    }

    /// `kill -9`: pods go on.
    pub fn kill(&mut self) {
        self.end(Signal::SIGKILL);
    }

    /// An orderly end: pods go on.
    pub fn stop(&mut self) {
        self.end(Signal::SIGTERM);
    }

    fn end(&mut self, signal: Signal) {
        let Some(mut child) = self.child.take() else { return };
        let pid = Pid::from_raw(i32::try_from(child.id()).expect("pids are small"));
        // It may have ended by itself, which is for the test to notice.
        let _ = kill(pid, signal);
        let mut status = None;
        let start = std::time::Instant::now();
        while status.is_none() && start.elapsed() < Duration::from_secs(30) {
            status = child.try_wait().ok().flatten();
            std::thread::sleep(Duration::from_millis(10));
        }
        if let Some(status) = status {
            let orderly = signal == Signal::SIGKILL || status.success() || std::thread::panicking();
            assert!(orderly, "{} ended with {status}:\n{}", self.name, self.log());
        } else {
            let _ = child.kill();
            let _ = child.wait();
            assert!(std::thread::panicking(), "{} did not stop within 30 s", self.name);
        }
    }

    /// Whether `kinglet` still runs.
    pub fn is_running(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| child.try_wait().is_ok_and(|status| status.is_none()))
    }

    /// Waits for a line in the log.
    #[track_caller]
    pub fn wait_for_log(&self, text: &str) {
        eventually(&format!("{text:?} in the log of {}", self.name), Duration::from_secs(30), || {
            self.log().contains(text)
        });
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.stop();
        // Pods, containerd, mounts, interfaces: what the uninstaller calls.
        let cleanup = run(&mut self.kinglet("cleanup"), "");
        let removed = fs::remove_dir_all(&self.dir);
        if !std::thread::panicking() {
            assert!(cleanup.code == 0, "{cleanup}");
            assert!(removed.is_ok(), "{}: {removed:?}", self.dir.display());
        }
    }
}
