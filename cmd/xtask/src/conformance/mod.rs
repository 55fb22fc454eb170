//! `cargo xtask conformance`: upstream's conformance tests against the release binary.
//!
//! The list of tests comes from the suite's program (`tests/conformance/suite`), which several
//! workers start for piece after piece of it. What it writes is kept in `target/conformance`:
//! `results` (so that a run can be resumed), `logs`, `report.md` and `junit.xml`. A test that has
//! no result counts as failed. One command at a time works there (`lock`).

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
    ffi::OsString,
    fs::{self, File},
    io::{Write as _, stdout},
    path::{Path, PathBuf},
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
    results::{Results, Run, Runs},
    run::Runner,
    suite::{Known, Test},
};
use crate::{
    check::{self, output},
    repository,
};

/// The time that a program has beyond the cap of a test. It cleans up for two minutes (`cleanupTime`
/// of the suite), then it leaves that aside and writes the result, which takes some seconds.
const GRACE: Duration = Duration::from_secs(180);

/// Runs what is asked for; an error if not all of it has passed.
pub fn run(args: &[&str]) -> anyhow::Result<()> {
    check::packages()?;
    let _lock = lock(&target())?;
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
    let unfinished = if options.resume { Some(runs.unfinished()?.context("no run is unfinished")?) } else { None };
    let tests = choose(&options, &suite::list(&program)?, &runs, unfinished.as_ref(), &saved)?;
    let images = images::build()?;
    if other_binary().is_none() {
        check::release()?;
    }
    let stage = Stage::start(images)?;
    let runner = Runner {
        command: &|| stage.command(&program),
        workers: options.workers,
        cap: options.cap,
        grace: GRACE,
        run: &unfinished.map_or_else(|| runs.begin(&tests), Ok)?,
        commit: &commit()?,
        logs: &logs(options.resume)?,
        stop: &stop,
    };
    conduct(&runner, &tests, &stage, &saved)
}

/// The tests themselves, and the report.
fn conduct(runner: &Runner, tests: &[Test], stage: &Stage, saved: &Results) -> anyhow::Result<()> {
    let mut done = runner.run.results()?;
    let mut progress = Progress::new(tests, &done, saved, runner.workers, Box::new(stdout()));
    let start = Instant::now();
    let ended = runner.run(tests, &mut done, &mut progress);
    let mut outside = progress.outside;
    outside.extend(stage.panics());
    let report = Report {
        tests,
        results: &done,
        commit: runner.commit,
        log: &|test| Some(run::log_of(runner.logs, &test.name)).filter(|log| log.exists()),
        wall: start.elapsed(),
        peak: stage.peak(),
        complaints: &stage.complaints(),
        outside: &outside,
    };
    publish(&report)?;
    stage.keep_logs(runner.logs)?;
    ended?;
    ensure!(!runner.stop.load(Ordering::Relaxed), "stopped: cargo xtask conformance --resume goes on");
    let failures = report.failures().len();
    ensure!(failures == 0, "{failures} of {} tests have not passed", tests.len());
    ensure!(outside.is_empty(), "all tests have passed; outside of them: {}", outside.join("; "));
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

/// Holds off others for as long as the file is open.
fn lock(dir: &Path) -> anyhow::Result<File> {
    fs::create_dir_all(dir)?;
    let path = dir.join("lock");
    let file = File::create(&path).with_context(|| path.display().to_string())?;
    file.try_lock().with_context(|| format!("another cargo xtask conformance is at work (lock {})", path.display()))?;
    Ok(file)
}

/// All of the run that goes on, or what the options say.
fn choose(
    options: &Options,
    tests: &[Test],
    runs: &Runs,
    unfinished: Option<&Run>,
    saved: &Results,
) -> anyhow::Result<Vec<Test>> {
    if let Some(run) = unfinished {
        return suite::named(tests, &run.chosen()?);
    }
    let left = runs.last().map_or(Ok(Vec::new()), |run| run.left())?;
    suite::choose(tests, &options.choice, &Known { saved, left: &left, quick: &kept("quick.txt")? })
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
    // A terminal that is gone is no reason to end.
    let _ = writeln!(stdout(), "\n{text}\nThis is {}.", file.display());
    Ok(())
}

/// The binary that is tested in place of this checkout's.
fn other_binary() -> Option<OsString> {
    std::env::var_os("KINGLET_BIN")
}

/// What is being tested.
fn commit() -> anyhow::Result<String> {
    let git = |args: &[&str]| output(Command::new("git").args(args).current_dir(repository()));
    let changes = git(&["status", "--porcelain", "--", ".", ":!tests/conformance/STATUS.md", ":!target"])?;
    Ok(marked(git(&["rev-parse", "--short", "HEAD"])?.trim(), !changes.is_empty(), other_binary().is_some()))
}

/// A commit: `other` if the binary is not made from it, `dirty` if not all that it is made from is committed.
fn marked(commit: &str, dirty: bool, other: bool) -> String {
    let mark = match (other, dirty) {
        (true, _) => "-other",
        (false, true) => "-dirty",
        (false, false) => "",
    };
    commit.to_owned() + mark
}

fn write_status() -> anyhow::Result<()> {
    let tests = suite::list(&suite::build()?)?;
    let results = Runs::new(target().join("results")).results()?;
    let causes = status::causes(&kept("causes.yaml")?)?;
    let date = output(Command::new("date").args(["--utc", "+%F"]))?;
    let text = status::status(&tests, &results, &causes, date.trim(), &commit()?)?;
    Ok(fs::write(repository().join("tests/conformance/STATUS.md"), text)?)
}

/// Becomes true when the user, or who else has started this, wants an end of it.
fn stop_on_signals() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let (mut interrupt, mut terminate, mut hangup) = {
        let _within = runtime.enter();
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?, signal(SignalKind::hangup())?)
    };
    let flag = stop.clone();
    std::thread::spawn(move || {
        runtime.block_on(async {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                _ = hangup.recv() => {}
            }
        });
        flag.store(true, Ordering::Relaxed);
    });
    Ok(stop)
}
