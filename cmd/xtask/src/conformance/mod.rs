//! `cargo xtask conformance`: upstream's conformance tests against the release binary.
//!
//! The list of tests comes from the suite's program (`tests/conformance/suite`), which several
//! workers start for piece after piece of it. What it writes is kept in `target/conformance`:
//! `results` (so that a run can be resumed), `logs`, `report.md` and `junit.xml`. A test that has
//! no result counts as failed.

mod cluster;
mod images;
mod junit;
mod options;
mod plan;
mod progress;
mod report;
mod results;
mod run;
mod status;
mod suite;
#[cfg(test)]
mod tests;

use std::{
    fs,
    path::PathBuf,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use tokio::signal::unix::{SignalKind, signal};

use self::{
    cluster::Stage,
    options::Options,
    progress::Progress,
    report::Report,
    results::{Results, Runs},
    run::Runner,
    suite::Test,
};
use crate::{
    check::{self, output},
    repository,
};

/// Beyond its cap a test is cleaned up for so long.
const GRACE: Duration = Duration::from_secs(120);

/// Runs what is asked for; an error if not all of it has passed.
pub fn run(args: &[&str]) -> anyhow::Result<()> {
    check::packages()?;
    match args {
        ["status"] => return write_status(),
        ["images"] => return images::build().map(drop),
        _ => {}
    }
    let options = Options::parse(args)?;
    let stop = stop_on_signals()?;
    let program = suite::build()?;
    let runs = Runs::new(target().join("results"));
    let saved = runs.results()?;
    let tests = choose(&options, &suite::list(&program)?, &runs, &saved)?;
    let images = images::build()?;
    if std::env::var_os("KINGLET_BIN").is_none() {
        check::release()?;
    }
    let stage = Stage::start(images)?;
    let run = match runs.last() {
        Some(last) if options.resume => last,
        _ => runs.begin(&tests)?,
    };
    let runner = Runner {
        command: &|| stage.command(&program),
        workers: options.workers,
        cap: options.cap,
        grace: GRACE,
        run: &run,
        commit: &commit()?,
        logs: &logs(options.resume)?,
        stop: &stop,
    };
    conduct(&runner, &tests, &stage, &saved)
}

/// The tests themselves, and the report.
fn conduct(runner: &Runner, tests: &[Test], stage: &Stage, saved: &Results) -> anyhow::Result<()> {
    let mut done = runner.run.results()?;
    let mut progress = Progress::new(tests, &done, saved, runner.workers);
    let start = Instant::now();
    let ended = runner.run(tests, &mut done, &mut progress);
    let report = Report {
        tests,
        results: &done,
        commit: runner.commit,
        logs: runner.logs,
        wall: start.elapsed(),
        peak: stage.peak(),
        complaints: &stage.complaints(),
    };
    stage.keep_logs(runner.logs)?;
    publish(&report)?;
    ended?;
    ensure!(!runner.stop.load(Ordering::Relaxed), "stopped: cargo xtask conformance --resume goes on");
    let failures = report.failures().len();
    ensure!(failures == 0, "{failures} of {} tests have not passed", tests.len());
    Ok(())
}

/// `target/conformance`.
fn target() -> PathBuf {
    repository().join("target/conformance")
}

/// What is kept by hand for the suite.
fn kept(name: &str) -> anyhow::Result<String> {
    let path = repository().join("tests/conformance").join(name);
    fs::read_to_string(&path).with_context(|| path.display().to_string())
}

fn choose(options: &Options, tests: &[Test], runs: &Runs, saved: &Results) -> anyhow::Result<Vec<Test>> {
    if options.resume {
        return suite::named(tests, &runs.last().context("there is no run to resume")?.chosen()?);
    }
    suite::choose(tests, &options.choice, saved, &kept("quick.txt")?)
}

/// The folder of logs: an empty one for a new run.
fn logs(resume: bool) -> anyhow::Result<PathBuf> {
    let logs = target().join("logs");
    if !resume && logs.exists() {
        fs::remove_dir_all(&logs)?;
    }
    fs::create_dir_all(&logs)?;
    Ok(logs)
}

fn publish(report: &Report) -> anyhow::Result<()> {
    let (text, file) = (report.markdown(), target().join("report.md"));
    fs::write(&file, &text)?;
    fs::write(target().join("junit.xml"), junit::junit(report))?;
    println!("\n{text}\nThis is {}.", file.display());
    Ok(())
}

/// What is being tested; `dirty` if it is not all committed.
fn commit() -> anyhow::Result<String> {
    let git = |args: &[&str]| output(Command::new("git").args(args).current_dir(repository()));
    let changes = git(&["status", "--porcelain", "--untracked-files=no", "--", ".", ":!tests/conformance/STATUS.md"])?;
    let dirty = if changes.is_empty() { "" } else { "-dirty" };
    Ok(git(&["rev-parse", "--short", "HEAD"])?.trim().to_owned() + dirty)
}

fn write_status() -> anyhow::Result<()> {
    let tests = suite::list(&suite::build()?)?;
    let results = Runs::new(target().join("results")).results()?;
    let causes = status::causes(&kept("causes.yaml")?)?;
    let date = output(Command::new("date").args(["--utc", "+%F"]))?;
    let text = status::status(&tests, &results, &causes, date.trim(), &commit()?);
    Ok(fs::write(repository().join("tests/conformance/STATUS.md"), text)?)
}

/// Becomes true when the user, or who else has started this, wants an end of it.
fn stop_on_signals() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let (mut interrupt, mut terminate) = {
        let _within = runtime.enter();
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?)
    };
    let flag = stop.clone();
    std::thread::spawn(move || {
        runtime.block_on(async {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        });
        flag.store(true, Ordering::Relaxed);
    });
    Ok(stop)
}
