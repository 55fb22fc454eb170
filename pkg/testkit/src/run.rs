//! Running programs.

use std::{
    fmt,
    io::Write as _,
    process::{Command, Stdio},
};

/// What a program has printed, and how it ended.
#[derive(Clone, Debug)]
pub struct Output {
    /// The command line, for messages.
    pub command: String,
    /// Exit code; -1 after a signal.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Output {
    /// Standard output of a run that must have succeeded.
    #[track_caller]
    pub fn success(self) -> String {
        assert!(self.code == 0, "{self}");
        self.stdout
    }

    /// Standard error of a run that must have failed.
    #[track_caller]
    pub fn failure(self) -> String {
        assert!(self.code != 0, "should have failed: {self}");
        self.stderr
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ended with {}\n{}{}", self.command, self.code, self.stdout, self.stderr)
    }
}

/// Runs a program with `input`, to its end.
#[track_caller]
pub fn run(command: &mut Command, input: &str) -> Output {
    let shown = format!("{command:?}").replace('"', "");
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.unwrap_or_else(|error| panic!("{shown}: {error}"));
    let mut stdin = child.stdin.take().expect("piped");
    let input = input.to_owned();
    // A program that does not read its input is fine.
    let writer = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().unwrap_or_else(|error| panic!("{shown}: {error}"));
    writer.join().expect("the writer does not panic");
    Output {
        command: shown,
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// The last `count` lines of a text.
pub fn tail(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

/// Splits a command line as simple shells do: words, with single quotes around those with blanks.
pub fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in line.split('\'').enumerate() {
        if at % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}
