//! Whole runs of a program that does as it is told, without a cluster.

use std::{
    fs,
    path::PathBuf,
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use super::{
    progress::Progress,
    results::{Line, Results, Run, Runs, Saved},
    run::Runner,
    suite::Test,
};

/// A test whose SIG is the first word of its name.
pub fn test(name: &str, serial: bool) -> Test {
    let sig = name.split(' ').next().unwrap_or_default().to_owned();
    Test { name: name.to_owned(), sig, serial }
}

/// Results of commit c0.
pub fn saved(lines: &[Line]) -> Results {
    let save = |line: &Line| (line.name.clone(), Saved { line: line.clone(), commit: "c0".to_owned() });
    lines.iter().map(save).collect()
}

/// Stands for the suite's program: what a test does is the first word of its name.
const PROGRAM: &str = r#"
for option; do case $option in --results|--tests) name=${option#--};; --*) ;; *) eval "$name=\$option";; esac; done
say() { printf '{"name": "%s", "state": "%s", "seconds": 0.1%s}\n' "$test" "$1" "$2" >>"$results"; }
echo "start of $(wc -l <"$tests")"
while read -r test; do
    case $test in silent*) exit 2;; esac
    say started
    case $test in
        pass*) say passed;;
        fail*) say failed ', "message": "it broke", "log": "all of it"';;
        cap*) say failed ', "message": "no end within 1s"'; exit 3;;
        crash*) printf '{"name": "cra' >>"$results"; echo goroutine 1; exit 2;;
        hang*) sleep 60 & echo $! >"$(dirname "$results")/$test"; wait;;
        alone*) [ "$(ls "$(dirname "$results")/busy" 2>/dev/null)" ] && say failed || say passed;;
        busy*) mkdir -p "$(dirname "$results")/busy/$test"; sleep 0.5
            rmdir "$(dirname "$results")/busy/$test"; say passed;;
        late*) say passed; at_end=1;;
    esac
done <"$tests"
exit ${at_end:-0}
"#;

struct Fake {
    dir: tempfile::TempDir,
    run: Run,
    /// What a test has in all to write a line; long where none is to be killed for it.
    limit: Duration,
    stop: AtomicBool,
}

impl Fake {
    fn new(tests: &[Test]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("program"), PROGRAM).unwrap();
        fs::create_dir(dir.path().join("logs")).unwrap();
        let run = Runs::new(dir.path().join("results")).begin(tests).unwrap();
        Fake { dir, run, limit: Duration::from_secs(60), stop: AtomicBool::new(false) }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// What has gone wrong outside of tests.
    fn run(&self, tests: &[Test], done: &mut Results) -> anyhow::Result<Vec<String>> {
        let program = self.path("program");
        let runner = Runner {
            command: &|| {
                let mut command = Command::new("sh");
                command.arg(&program);
                command
            },
            workers: 2,
            cap: Duration::from_secs(1),
            grace: self.limit - Duration::from_secs(1),
            run: &self.run,
            commit: "c1",
            logs: &self.path("logs"),
            stop: &self.stop,
        };
        let mut progress = Progress::new(tests, done, &Results::new(), 2, Box::new(std::io::sink()));
        runner.run(tests, done, &mut progress)?;
        Ok(progress.outside)
    }
}

fn outcomes(results: &Results) -> Vec<String> {
    let shown = |saved: &Saved| {
        let mut text = format!("{} {:?}", saved.line.name, saved.line.state);
        if !saved.line.message.is_empty() {
            text = format!("{text}: {}", saved.line.message);
        }
        text
    };
    results.values().map(shown).collect()
}

fn is_alive(pid: &str) -> bool {
    // A zombie has nothing left but its name.
    fs::read_to_string(format!("/proc/{}/cmdline", pid.trim())).is_ok_and(|text| !text.is_empty())
}

#[test]
fn every_test_gets_one_result_whatever_ends_the_program() {
    let names = ["pass 1", "fail 1", "cap 1", "pass 2", "crash 1", "pass 3", "hang 1", "pass 4", "pass 5"];
    let tests = names.map(|name| test(name, name == "pass 5"));
    let fake = Fake { limit: Duration::from_secs(4), ..Fake::new(&tests) };
    let mut done = Results::new();
    assert_eq!(fake.run(&tests, &mut done).unwrap(), [] as [String; 0]);
    let expected = [
        "cap 1 Failed: no end within 1s",
        "crash 1 Failed: the suite's program ended with exit status: 2",
        "fail 1 Failed: it broke",
        "hang 1 Failed: killed: no end within 4 s",
        "pass 1 Passed",
        "pass 2 Passed",
        "pass 3 Passed",
        "pass 4 Passed",
        "pass 5 Passed",
    ];
    assert_eq!(outcomes(&done), expected);
    assert_eq!(fake.run.results().unwrap(), done, "what was saved is what was told");
    let sleeper = fs::read_to_string(fake.path("results/0001/hang 1")).unwrap();
    assert!(!is_alive(&sleeper), "what a killed program has started is killed with it");
    let log = |name: &str| fs::read_to_string(super::run::log_of(&fake.path("logs"), name)).unwrap();
    assert_eq!(log("fail 1"), "all of it");
    assert!(log("crash 1").ends_with("goroutine 1"));
}

#[test]
fn serial_tests_run_when_all_others_have_ended() {
    let names = ["busy 1", "alone 1", "busy 2", "alone 2"];
    let tests = names.map(|name| test(name, name.starts_with("alone")));
    let mut done = Results::new();
    Fake::new(&tests).run(&tests, &mut done).unwrap();
    assert!(done.len() == 4 && done.values().all(Saved::passed), "{:?}", outcomes(&done));
}

#[test]
fn a_crash_outside_of_tests_is_told_with_its_log() {
    let tests = ["late 1", "pass 1"].map(|name| test(name, true));
    let (fake, mut done) = (Fake::new(&tests), Results::new());
    let log = fake.path("logs/suite-0001-c1.log").display().to_string();
    let outside = fake.run(&tests, &mut done).unwrap();
    assert_eq!(outside, [format!("the suite's program ended with exit status: 1: {log}")]);
    assert_eq!(outcomes(&done), ["late 1 Passed", "pass 1 Passed"]);
}

#[test]
fn a_program_that_runs_nothing_ends_the_run_and_says_why() {
    let tests = ["silent 1", "silent 2"].map(|name| test(name, false));
    let mut done = Results::new();
    let error = Fake::new(&tests).run(&tests, &mut done).unwrap_err().to_string();
    assert_eq!(error, "the suite's program ended with exit status: 2 before any test did:\nstart of 1");
    assert!(done.is_empty());
}

#[test]
fn a_run_that_was_stopped_goes_on_with_what_is_left() {
    let tests = ["pass 1", "hang 1", "hang 2"].map(|name| test(name, false));
    let fake = Fake::new(&tests);
    thread::scope(|scope| {
        let running = scope.spawn(|| {
            let mut done = Results::new();
            fake.run(&tests, &mut done).map(|_| done)
        });
        testkit::eventually("both hang", Duration::from_secs(30), || {
            ["hang 1", "hang 2"].iter().all(|name| fake.path("results/0001").join(name).exists())
        });
        fake.stop.store(true, Ordering::Relaxed);
        assert_eq!(outcomes(&running.join().unwrap().unwrap()), ["pass 1 Passed"]);
    });
    fs::write(fake.path("program"), PROGRAM.replace("hang*) sleep 60 & ", "hang*) say passed; ")).unwrap();
    fake.stop.store(false, Ordering::Relaxed);
    let mut done = fake.run.results().unwrap();
    fake.run(&tests, &mut done).unwrap();
    assert_eq!(outcomes(&done), ["hang 1 Passed", "hang 2 Passed", "pass 1 Passed"]);
}

#[test]
fn a_commit_shows_what_it_does_not_hold() {
    for (dirty, other, expected) in [(false, false, "c1"), (true, false, "c1-dirty"), (true, true, "c1-other")] {
        assert_eq!(super::marked("c1", dirty, other), expected);
    }
}

#[test]
fn two_commands_at_once_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let first = super::lock(dir.path()).unwrap();
    let error = super::lock(dir.path()).unwrap_err().to_string();
    assert!(error.contains("another cargo xtask conformance is at work"), "{error}");
    drop(first);
    super::lock(dir.path()).unwrap();
}
