//! A client's command line, as a test asks it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use testkit::{Cluster, Output, repository, run, words};

/// What `cargo xtask clients` has got.
pub fn gotten(path: &str) -> PathBuf {
    let path = repository().join("target/clients").join(path);
    assert!(path.exists(), "{} is missing: cargo xtask clients", path.display());
    path
}

/// A program that talks to a cluster; command lines are split as [`words`] does it.
pub struct Client<'a> {
    pub cluster: &'a Cluster,
    program: PathBuf,
    namespace: Option<String>,
}

impl<'a> Client<'a> {
    /// One of `target/clients/bin`.
    pub fn new(cluster: &'a Cluster, name: &str) -> Self {
        Client { cluster, program: gotten("bin").join(name), namespace: None }
    }

    /// The same, at home in this namespace.
    pub fn within(self, namespace: &str) -> Self {
        Client { namespace: Some(namespace.to_owned()), ..self }
    }

    /// Its home.
    pub fn namespace(&self) -> &str {
        self.namespace.as_deref().unwrap_or("default")
    }

    /// What goes before every command line.
    fn place(&self) -> impl Iterator<Item = String> {
        self.namespace.iter().map(|namespace| format!("--namespace={namespace}"))
    }

    /// A run that ends by itself.
    pub fn command(&self, line: &str) -> Command {
        // A client that hangs is a failure, not a test that hangs.
        let mut command = self.cluster.client("timeout");
        command.arg("150").arg(&self.program).args(self.place()).args(words(line));
        command
    }

    /// The output, whatever it is.
    #[track_caller]
    pub fn ask(&self, line: &str) -> Output {
        run(&mut self.command(line), "")
    }

    /// The output, with something on standard input.
    #[track_caller]
    pub fn answer(&self, line: &str, input: &str) -> Output {
        // Old clients take for JSON what begins with a brace.
        let input = if input.starts_with('{') { format!("---\n{input}") } else { input.to_owned() };
        run(&mut self.command(line), &input)
    }

    /// What a run that must succeed prints.
    #[track_caller]
    pub fn ok(&self, line: &str) -> String {
        self.ask(line).success()
    }

    /// The same, with something on standard input.
    #[track_caller]
    pub fn give(&self, line: &str, input: &str) -> String {
        self.answer(line, input).success()
    }

    /// It must succeed, and print this among others.
    #[track_caller]
    pub fn says(&self, line: &str, part: &str) {
        let output = self.ask(line);
        assert!(output.code == 0 && output.stdout.contains(part), "{part:?} is not what came of {output}");
    }

    /// It must fail, and say this among others.
    #[track_caller]
    pub fn refuses(&self, line: &str, part: &str) {
        self.refuses_input(line, "", part);
    }

    /// The same, with something on standard input.
    #[track_caller]
    pub fn refuses_input(&self, line: &str, input: &str, part: &str) {
        let output = self.answer(line, input);
        assert!(output.code != 0 && output.stderr.contains(part), "{part:?} is not what came of {output}");
    }

    /// In the background, with its output piped.
    pub fn spawn(&self, line: &str) -> Child {
        let mut command = self.cluster.client(&self.program);
        command.args(self.place()).args(words(line)).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the client can be started")
    }

    /// A file of the test, in the machine's folder.
    pub fn file(&self, name: &str, text: &str) -> String {
        let path = self.cluster.server().dir().join(name);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).expect("the test directory can be written");
        fs::write(&path, text).expect("the test directory can be written");
        path.to_string_lossy().into_owned()
    }
}
