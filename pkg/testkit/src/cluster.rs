//! A server and its agents.

use std::{
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use crate::{Lan, Machine, Output, image, repository, run, run::words};

/// Time for anything that a healthy cluster does.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running cluster; gone when dropped.
pub struct Cluster {
    machines: Vec<Machine>,
    expected: Mutex<Vec<String>>,
    files: Vec<(String, String)>,
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
        Self::start_configured(name, agents, images, options, &[])
    }

    /// As [`Cluster::start_with`], with files (name, content) in the `etc` of every machine.
    #[track_caller]
    pub fn start_configured(
        name: &str,
        agents: usize,
        images: &[&str],
        options: &[&str],
        files: &[(&str, &str)],
    ) -> Self {
        let mut cluster = Cluster::launch_configured(name, images, options, files);
        cluster.wait_ready();
        for _ in 0..agents {
            cluster.add_agent(images);
        }
        cluster.wait_ready();
        cluster
    }

    /// A server alone whose process has just been started: for measurements of the start.
    #[track_caller]
    pub fn launch(name: &str, images: &[&str], options: &[&str]) -> Self {
        Self::launch_configured(name, images, options, &[])
    }

    fn launch_configured(name: &str, images: &[&str], options: &[&str], files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        let dir = repository().join("target/testkit").join(format!("{name}-{}", std::process::id()));
        let mut cluster = Cluster { machines: Vec::new(), expected: Mutex::default(), files, lan: Lan::new(), dir };
        let options = options.iter().map(|o| (*o).to_owned());
        cluster.add("server", ["server".to_owned()].into_iter().chain(options).collect(), images);
        cluster
    }

    fn add(&mut self, role: &str, mut args: Vec<String>, images: &[&str]) {
        let (namespace, ip) = self.lan.host();
        let name = format!("{role}-{}", self.machines.len());
        args.extend([format!("--node-name={name}"), format!("--node-ip={ip}")]);
        let mut machine = Machine::new(name.clone(), namespace, ip, self.dir.join(name), args);
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

    /// A client program, with this cluster's kubeconfig in its environment, in the server's namespace.
    pub fn client(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = self.server().command(program);
        command.env("KUBECONFIG", self.server().dir().join("etc/kubeconfig.yaml")).env("HOME", self.server().dir());
        command
    }

    /// Runs kubectl; answers with its output, whatever it is.
    #[track_caller]
    pub fn try_kubectl(&self, line: &str) -> Output {
        run(self.kubectl_command().args(words(line)), "")
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
        run(self.kubectl_command().args(["apply", "-f", "-"]), yaml).success()
    }

    /// `kubectl get WHAT -o jsonpath=PATH`; empty if there is none yet.
    pub fn get(&self, what: &str, path: &str) -> String {
        let mut command = self.kubectl_command();
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

    /// Lines at WARN or ERROR that contain `text` are part of the test.
    pub fn expect_log(&self, text: &str) {
        self.expected.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
    }

    /// Any line at WARN or ERROR is fine: they are counted, or are not what the test is about.
    pub fn allow_complaints(&self) {
        self.expect_log("");
    }

    /// The ends of all logs.
    pub fn logs(&self) -> String {
        let tail = |machine: &Machine| {
            let log = machine.log();
            let lines: Vec<&str> = log.lines().collect();
            format!("--- log of {}\n{}\n", machine.name, lines[lines.len().saturating_sub(40)..].join("\n"))
        };
        self.machines.iter().map(tail).collect()
    }
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
            complaints.retain(|line| !expected.iter().any(|text| line.contains(text)));
            let name = machine.name.clone();
            drop(machine);
            if !std::thread::panicking() {
                assert!(complaints.is_empty(), "{name} complains:\n{}", complaints.join("\n"));
            }
        }
        let _ = std::fs::remove_dir(&self.dir);
    }
}
