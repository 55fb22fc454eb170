//! Starts the suite's program for piece after piece, and follows what it writes.
//!
//! Guarantees: each test gets one result, from the program or from its end; an end outside of tests
//! is told; a program that writes nothing for too long is killed with all that it has started; what
//! was written survives the end of the runner.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread::sleep,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use testkit::tail;

use super::{
    plan::{self, End, Ended, Verdict},
    progress::Progress,
    results::{self, Follower, Line, Results, Run, State},
    suite::{self, Test},
};

/// How often the runner looks at programs and their files.
const TICK: Duration = Duration::from_millis(200);

/// What a run is made with.
pub struct Runner<'a> {
    /// The program, without the options that say what it runs.
    pub command: &'a dyn Fn() -> Command,
    pub workers: usize,
    /// The time that a test has.
    pub cap: Duration,
    /// Time beyond that for cleaning up, after which the program is killed.
    pub grace: Duration,
    pub run: &'a Run,
    pub commit: &'a str,
    /// What programs and failed tests have printed goes here.
    pub logs: &'a Path,
    /// Set from outside to end the run.
    pub stop: &'a AtomicBool,
}

impl Runner<'_> {
    /// Runs what has no result yet, adding to `done`.
    pub fn run(&self, tests: &[Test], done: &mut Results, progress: &mut Progress) -> anyhow::Result<()> {
        let mut slots: Vec<Option<Process>> = (0..self.workers).map(|_| None).collect();
        loop {
            for (at, slot) in slots.iter_mut().enumerate() {
                let Some(process) = slot else { continue };
                let step = process.step(self.stop.load(Ordering::Relaxed))?;
                self.note(at, step.lines, done, progress)?;
                match step.end {
                    None => continue,
                    Some(Verdict::Fine | Verdict::Blamed(_)) => {}
                    Some(Verdict::Outside(message)) => progress.outside(message),
                    Some(Verdict::Hopeless(message)) => bail!(message),
                }
                *slot = None;
            }
            self.fill(&mut slots, tests, done)?;
            progress.draw();
            if slots.iter().all(Option::is_none) {
                return Ok(());
            }
            sleep(TICK);
        }
    }

    fn note(&self, slot: usize, lines: Vec<Line>, done: &mut Results, progress: &mut Progress) -> anyhow::Result<()> {
        for line in &lines {
            progress.note(slot, line);
            if line.state == State::Failed {
                fs::write(log_of(self.logs, &line.name), &line.log)?;
            }
        }
        results::merge(done, lines, self.commit);
        Ok(())
    }

    fn fill(&self, slots: &mut [Option<Process>], tests: &[Test], done: &Results) -> anyhow::Result<()> {
        let done: BTreeSet<&str> = done.keys().map(|name| &**name).collect();
        for at in 0..slots.len() {
            if slots[at].is_some() || self.stop.load(Ordering::Relaxed) {
                continue;
            }
            let taken = slots.iter().flatten().flat_map(|process| process.names.iter().map(|name| &**name)).collect();
            let piece = plan::next(tests, &done, &taken, self.workers);
            if !piece.is_empty() {
                slots[at] = Some(self.start(piece)?);
            }
        }
        Ok(())
    }

    fn start(&self, names: Vec<String>) -> anyhow::Result<Process> {
        let file = self.run.file(self.commit)?;
        let list = file.with_extension("tests");
        fs::write(&list, names.join("\n") + "\n")?;
        let name = file.file_stem().expect("it has a name").to_string_lossy();
        let output = self.logs.join(format!("suite-{name}.log"));
        let printed = File::create(&output).with_context(|| output.display().to_string())?;
        let mut command = (self.command)();
        command.arg("--tests").arg(list).arg("--results").arg(&file);
        command.arg(format!("--cap={}s", self.cap.as_secs()));
        command.stdin(Stdio::null()).stdout(printed.try_clone()?).stderr(printed).process_group(0);
        let follower = Follower::open(&file)?;
        let child = command.spawn().with_context(|| format!("{command:?}"))?;
        Ok(Process {
            group: Some(Pid::from_raw(i32::try_from(child.id()).expect("pids are small"))),
            child,
            follower,
            output,
            names,
            running: None,
            ended: BTreeSet::new(),
            limit: self.cap + self.grace,
            heard: Instant::now(),
        })
    }
}

/// Where the output of a failed test is.
pub fn log_of(logs: &Path, name: &str) -> PathBuf {
    logs.join(format!("{}.log", suite::short(name)))
}

/// A start of the program.
struct Process {
    child: Child,
    /// Its process group, until that is killed.
    group: Option<Pid>,
    follower: Follower,
    /// The file that has what it prints.
    output: PathBuf,
    names: Vec<String>,
    running: Option<(String, Instant)>,
    /// Tests that have a result.
    ended: BTreeSet<String>,
    limit: Duration,
    /// When it has last written.
    heard: Instant,
}

/// What is new of a process.
struct Step {
    /// Results and starts.
    lines: Vec<Line>,
    /// What has come of its end, if it has ended.
    end: Option<Verdict>,
}

impl Process {
    fn step(&mut self, stop: bool) -> anyhow::Result<Step> {
        // In this order, so that nothing is written after the last look.
        let end = match self.child.try_wait()? {
            Some(status) => Some(End::Exit(status)),
            None if stop => Some(End::Stopped),
            None if self.heard.elapsed() > self.limit => Some(End::Silent(self.limit)),
            None => None,
        };
        if end.is_some() {
            self.kill();
        }
        let mut lines = self.follower.read()?;
        self.hear(&lines);
        let end = end.map(|end| self.verdict(end));
        if let Some(Verdict::Blamed(line)) = &end {
            self.follower.append(line)?;
            lines.push(line.clone());
        }
        Ok(Step { lines, end })
    }

    fn hear(&mut self, lines: &[Line]) {
        for line in lines {
            self.heard = Instant::now();
            if line.state == State::Started {
                self.running = Some((line.name.clone(), self.heard));
            } else {
                self.running = None;
                self.ended.insert(line.name.clone());
            }
        }
    }

    /// With what the program has printed, or where that is.
    fn verdict(&self, end: End) -> Verdict {
        let left = self.names.iter().any(|name| !self.ended.contains(name));
        let running = self.running.as_ref().map(|(name, since)| (&**name, since.elapsed()));
        let printed = || tail(&fs::read_to_string(&self.output).unwrap_or_default(), 20);
        match plan::verdict(&Ended { end, running, left, progress: !self.ended.is_empty() }) {
            Verdict::Fine => Verdict::Fine,
            Verdict::Blamed(line) => Verdict::Blamed(Line { log: printed(), ..line }),
            Verdict::Outside(message) => Verdict::Outside(format!("{message}: {}", self.output.display())),
            Verdict::Hopeless(message) => Verdict::Hopeless(format!("{message} before any test did:\n{}", printed())),
        }
    }

    /// Ends the program, if it has not, and all that it has started.
    fn kill(&mut self) {
        let Some(group) = self.group.take() else { return };
        // Nobody may be left in it.
        let _ = killpg(group, Signal::SIGKILL);
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
