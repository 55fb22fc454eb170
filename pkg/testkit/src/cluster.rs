//! A server and its agents.

use std::{
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use crate::{Lan, Machine, Output, image, machine::is_panic, repository, run, run::words, tail};

/// Time for anything that a healthy cluster does.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running cluster; gone when dropped.
pub struct Cluster {
    machines: Vec<Machine>,
    expected: Mutex<Vec<String>>,
    files: Vec<(String, String)>,
    /// Its processes are in process groups of their own.
    apart: bool,
    // Dropped after the machines that are on it.
    lan: Lan,
    dir: PathBuf,
}

impl Cluster {
    /// Starts a server and `agents` agents with the test images, and waits until all are Ready.
    #[track_caller]
    pub fn start(name: &str, agents: usize) -> Self {
        Self::start_with(name, agents, &["shell", "nginx"], &[])
    }

    /// As [`Cluster::start`], with the images and server options of the caller's choice.
    #[track_caller]
    pub fn start_with(name: &str, agents: usize, images: &[&str], options: &[&str]) -> Self {
        let mut cluster = Cluster::new(name, &[], false);
        cluster.add_server(images, options);
        cluster.complete(agents, images)
    }

    /// Without images, with files (name, content) in the `etc` of every machine. Ctrl-C in a terminal
    /// reaches none of its processes: the caller ends them.
    #[track_caller]
    pub fn start_apart(name: &str, agents: usize, files: &[(&str, &str)]) -> Self {
        let mut cluster = Cluster::new(name, files, true);
        cluster.add_server(&[], &[]);
        cluster.complete(agents, &[])
    }

    /// A server alone whose process has just been started: for measurements of the start.
    #[track_caller]
    pub fn launch(name: &str, images: &[&str], options: &[&str]) -> Self {
        let mut cluster = Cluster::new(name, &[], false);
        cluster.add_server(images, options);
        cluster
    }

    fn new(name: &str, files: &[(&str, &str)], apart: bool) -> Self {
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        let dir = repository().join("target/testkit").join(format!("{name}-{}", std::process::id()));
        Cluster { machines: Vec::new(), expected: Mutex::default(), files, apart, lan: Lan::new(), dir }
    }

    fn add_server(&mut self, images: &[&str], options: &[&str]) {
        let options = options.iter().map(|o| (*o).to_owned());
        self.add("server", ["server".to_owned()].into_iter().chain(options).collect(), images);
    }

    /// Adds agents; all are Ready then.
    #[track_caller]
    fn complete(mut self, agents: usize, images: &[&str]) -> Self {
        self.wait_ready();
        for _ in 0..agents {
            self.add_agent(images);
        }
        self.wait_ready();
        self
    }

    fn add(&mut self, role: &str, mut args: Vec<String>, images: &[&str]) {
        let (namespace, ip) = self.lan.host();
        let name = format!("{role}-{}", self.machines.len());
        args.extend([format!("--node-name={name}"), format!("--node-ip={ip}")]);
        let mut machine = Machine::new(name.clone(), namespace, ip, self.dir.join(name), args);
        machine.apart = self.apart;
        std::fs::create_dir_all(machine.images()).expect("the test directory can be written");
        for path in images.iter().map(|i| image(i)) {
            std::fs::hard_link(&path, machine.images().join(path.file_name().expect("a file")))
                .expect("same file system");
        }
        for (name, text) in &self.files {
            std::fs::create_dir_all(machine.etc()).expect("the test directory can be written");
            std::fs::write(machine.etc().join(name), text).expect("the test directory can be written");
        }
        machine.start();
        self.machines.push(machine);
    }

    /// Starts another agent; does not wait.
    pub fn add_agent(&mut self, images: &[&str]) {
        let token = std::fs::read_to_string(self.server().dir().join("etc/token")).expect("the server has a token");
        let args = ["agent", "--server", &format!("https://{}:6443", self.server().ip), "--token", token.trim()];
        self.add("agent", args.map(str::to_owned).to_vec(), images);
    }

    /// Waits until every machine is a Ready node.
    #[track_caller]
    pub fn wait_ready(&mut self) {
        let wanted = self.machines.len();
        let start = std::time::Instant::now();
        loop {
            for machine in &mut self.machines {
                assert!(machine.is_running(), "{} has ended:\n{}", machine.name, machine.log());
            }
            let ready = self.try_kubectl("get nodes --no-headers");
            if ready.stdout.lines().filter(|l| l.split_whitespace().nth(1) == Some("Ready")).count() == wanted {
                return;
            }
            if start.elapsed() > PATIENCE {
                panic!("{wanted} nodes are not Ready: {ready}\n{}", self.logs());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The server, then the agents.
    pub fn machines(&self) -> &[Machine] {
        &self.machines
    }

    /// The server.
    pub fn server(&self) -> &Machine {
        &self.machines[0]
    }

    /// The server, to stop and start it.
    pub fn server_mut(&mut self) -> &mut Machine {
        &mut self.machines[0]
    }

    /// Agent number `at`, from 0.
    pub fn agent(&self, at: usize) -> &Machine {
        &self.machines[at + 1]
    }

    /// Agent number `at`, to stop and start it.
    pub fn agent_mut(&mut self, at: usize) -> &mut Machine {
        &mut self.machines[at + 1]
    }

    /// The kubectl on PATH, with this cluster's kubeconfig, in the server's namespace.
    pub fn kubectl_command(&self) -> Command {
        let mut command = self.server().command("kubectl");
        command.arg("--kubeconfig").arg(self.server().dir().join("etc/kubeconfig.yaml"));
        command.env("HOME", self.server().dir());
        command
    }

    /// The same to its end; one that hangs is a failure, not a test that hangs.
    fn limited_kubectl(&self) -> Command {
        let mut command = self.client("timeout");
        command.arg("150").arg("kubectl");
        command
    }

    /// A client program, with this cluster's kubeconfig in its environment, in the server's namespace.
    pub fn client(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = self.server().command(program);
        command.env("KUBECONFIG", self.server().dir().join("etc/kubeconfig.yaml")).env("HOME", self.server().dir());
        command
    }

    /// Runs kubectl; answers with its output, whatever it is.
    #[track_caller]
    pub fn try_kubectl(&self, line: &str) -> Output {
        run(self.limited_kubectl().args(words(line)), "")
    }

    /// Runs kubectl, which must succeed; answers with its standard output.
    #[track_caller]
    pub fn kubectl(&self, line: &str) -> String {
        self.try_kubectl(line).success()
    }

    /// Starts kubectl in the background, with its output piped.
    pub fn spawn_kubectl(&self, line: &str) -> Child {
        let mut command = self.kubectl_command();
        command.args(words(line)).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("kubectl can be started")
    }

    /// `kubectl apply -f -`.
    #[track_caller]
    pub fn apply(&self, yaml: &str) -> String {
        run(self.limited_kubectl().args(["apply", "-f", "-"]), yaml).success()
    }

    /// `kubectl get WHAT -o jsonpath=PATH`; empty if there is none yet.
    pub fn get(&self, what: &str, path: &str) -> String {
        let mut command = self.limited_kubectl();
        command.arg("get").args(words(what)).arg("-o").arg(format!("jsonpath={path}"));
        run(&mut command, "").stdout
    }

    /// Waits for `done`, for as long as a healthy cluster may take.
    #[track_caller]
    pub fn wait(&self, what: &str, mut done: impl FnMut() -> bool) {
        let start = std::time::Instant::now();
        while !done() {
            if start.elapsed() > PATIENCE {
                let state = self.try_kubectl("get pods,events -A -o wide").stdout;
                panic!("{what}: not within {PATIENCE:?}\n{state}\n{}", self.logs());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Lines at WARN or ERROR that contain `text` are part of the test; panics only if it says `panicked at`.
    pub fn expect_log(&self, text: &str) {
        self.expected.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
    }

    /// Any line at WARN or ERROR is fine, but a panic: they are counted, or are not what the test is about.
    pub fn allow_complaints(&self) {
        self.expect_log("");
    }

    /// The ends of all logs.
    pub fn logs(&self) -> String {
        let tail = |machine: &Machine| format!("--- log of {}\n{}\n", machine.name, tail(&machine.log(), 40));
        self.machines.iter().map(tail).collect()
    }
}

/// Whether an expected text is about a line of a log: about a panic only if it says so.
fn announces(text: &str, line: &str) -> bool {
    line.contains(text) && (!is_panic(line) || is_panic(text))
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.logs());
        }
        // Agents first: their servers shall not miss them.
        while let Some(mut machine) = self.machines.pop() {
            machine.stop();
            let mut complaints = machine.complaints();
            let expected = self.expected.lock().unwrap_or_else(PoisonError::into_inner);
            complaints.retain(|line| !expected.iter().any(|text| announces(text, line)));
            let name = machine.name.clone();
            drop(machine);
            if !std::thread::panicking() {
                assert!(complaints.is_empty(), "{name} complains:\n{}", complaints.join("\n"));
            }
        }
        let _ = std::fs::remove_dir(&self.dir);
    }
}

#[cfg(test)]
mod tests {
    use super::announces;

    #[test]
    fn a_panic_is_expected_only_by_name() {
        let (warning, panic) = ("2026 WARN store: slow disk", "thread 'main' panicked at pkg/store/src/sqlite.rs:7:");
        for (text, line, announced) in [
            ("slow disk", warning, true),
            ("", warning, true),
            ("quick disk", warning, false),
            ("", panic, false),
            ("store", panic, false),
            ("panicked at pkg/store", panic, true),
            ("panicked at pkg/api", panic, false),
        ] {
            assert_eq!(announces(text, line), announced, "{text:?}: {line}");
        }
    }
}
