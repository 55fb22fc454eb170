//! What is run next, and what the end of a program says of its tests. Pure.

use std::{collections::BTreeSet, process::ExitStatus, time::Duration};

use super::{results::Line, suite::Test};

/// Tests that one start of the program gets at most, of those that run beside others.
const PIECE: usize = 8;

/// The next piece for a worker that is free; nothing if it has to wait, or all is done.
///
/// Serial tests come last, when all else has ended, in one piece. The others are shared out so that
/// no worker is left with the last ones.
pub fn next(tests: &[Test], done: &BTreeSet<&str>, taken: &BTreeSet<&str>, workers: usize) -> Vec<String> {
    let open = |test: &&Test| !done.contains(&*test.name) && !taken.contains(&*test.name);
    let beside: Vec<&Test> = tests.iter().filter(open).filter(|test| !test.serial).collect();
    let size = beside.len().div_ceil(workers).min(PIECE);
    let piece: Vec<&Test> = if !beside.is_empty() {
        beside.into_iter().take(size).collect()
    } else if taken.is_empty() {
        tests.iter().filter(open).collect()
    } else {
        Vec::new()
    };
    piece.into_iter().map(|test| test.name.clone()).collect()
}

/// How a start of the program has ended.
#[derive(Clone, Copy, Debug)]
pub enum End {
    Exit(ExitStatus),
    /// Killed: it had written nothing for so long.
    Silent(Duration),
    /// Killed, as the whole run is to end.
    Stopped,
}

/// What is known of a program that has ended.
pub struct Ended<'a> {
    pub end: End,
    /// The test that was running, and for how long.
    pub running: Option<(&'a str, Duration)>,
    /// Whether tests of its piece have no result.
    pub left: bool,
    /// Whether it has ended any test.
    pub progress: bool,
}

/// What comes of an end. What has no result afterwards is run by another start of the program.
#[derive(Debug, PartialEq)]
pub enum Verdict {
    /// Nothing: it is as it should be.
    Fine,
    /// The running test has failed of it.
    Blamed(Line),
    /// Something has gone wrong outside of tests, so the run has failed.
    Outside(String),
    /// The same, and nothing would come of another start.
    Hopeless(String),
}

/// The program's exit code when it has cut off a test.
const CUT: i32 = 3;

pub fn verdict(ended: &Ended) -> Verdict {
    let message = match ended.end {
        End::Stopped => return Verdict::Fine,
        End::Exit(status) if status.success() && !ended.left => return Verdict::Fine,
        End::Exit(status) if status.code() == Some(CUT) && ended.progress && ended.running.is_none() => {
            return Verdict::Fine;
        }
        End::Exit(status) => format!("the suite's program ended with {status}"),
        End::Silent(limit) => format!("killed: no end within {} s", limit.as_secs()),
    };
    match ended.running {
        Some((name, time)) => Verdict::Blamed(Line::failed(name, time.as_secs_f64(), message)),
        None if ended.progress => Verdict::Outside(message),
        None => Verdict::Hopeless(message),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;
    use crate::conformance::tests::test;

    #[test]
    fn pieces_are_shared_out_and_serial_tests_come_last_alone() {
        let many: Vec<Test> = (10..30).map(|n| test(&format!("p {n}"), false)).collect();
        let few = ["p 1", "s 1", "p 2", "p 3", "s 2"].map(|name| test(name, name.starts_with('s')));
        let names: Vec<&str> = many.iter().map(|test| &*test.name).collect();
        // What it shows, tests, done, taken, the next piece.
        type Case<'a> = (&'a str, &'a [Test], &'a [&'a str], &'a [&'a str], &'a [&'a str]);
        let cases: [Case; 8] = [
            ("at most eight", &many, &[], &[], &names[..8]),
            ("what others have is left alone", &many, &[], &names[..8], &names[8..14]),
            ("nothing twice", &many, &names[..14], &[], &names[14..17]),
            ("half to each worker", &few, &[], &[], &["p 1", "p 2"]),
            ("serial tests wait", &few, &["p 1", "p 2"], &["p 3"], &[]),
            ("serial tests, all", &few, &["p 1", "p 2", "p 3"], &[], &["s 1", "s 2"]),
            ("serial tests, the rest", &few, &["p 1", "p 2", "p 3", "s 1"], &[], &["s 2"]),
            ("all done", &few, &["p 1", "p 2", "p 3", "s 1", "s 2"], &[], &[]),
        ];
        for (what, tests, done, taken, expected) in cases {
            let piece = next(tests, &done.iter().copied().collect(), &taken.iter().copied().collect(), 2);
            assert_eq!(piece, expected, "{what}");
        }
    }

    #[test]
    fn the_end_of_a_program_is_blamed_on_the_running_test_or_on_the_run() {
        let exit = |code: i32| End::Exit(ExitStatus::from_raw(code << 8));
        let silent = End::Silent(Duration::from_secs(480));
        let blamed = |message: &str| Verdict::Blamed(Line::failed("b", 9.0, message.to_owned()));
        let outside = |message: &str| Verdict::Outside(message.to_owned());
        let hopeless = |message: &str| Verdict::Hopeless(message.to_owned());
        let (ended_2, killed) = ("the suite's program ended with exit status: 2", "killed: no end within 480 s");
        // What it shows, the end, whether b was running, whether tests are left, whether a has ended.
        let cases = [
            ("complete", exit(0), false, false, true, Verdict::Fine),
            ("not complete", exit(0), false, true, true, outside("the suite's program ended with exit status: 0")),
            ("nothing run", exit(0), false, true, false, hopeless("the suite's program ended with exit status: 0")),
            ("capped", exit(3), false, true, true, Verdict::Fine),
            ("capped the last", exit(3), false, false, true, Verdict::Fine),
            ("no result", exit(3), true, true, true, blamed("the suite's program ended with exit status: 3")),
            ("crashed in a test", exit(2), true, true, true, blamed(ended_2)),
            ("crashed between tests", exit(2), false, true, true, outside(ended_2)),
            ("crashed after the tests", exit(2), false, false, true, outside(ended_2)),
            ("crashed at once", exit(2), false, true, false, hopeless(ended_2)),
            ("silent in a test", silent, true, true, true, blamed(killed)),
            ("silent after the tests", silent, false, false, true, outside(killed)),
            ("silent before", silent, false, true, false, hopeless(killed)),
            ("stopped", End::Stopped, true, true, false, Verdict::Fine),
        ];
        for (what, end, running, left, progress, expected) in cases {
            let running = running.then_some(("b", Duration::from_secs(9)));
            assert_eq!(verdict(&Ended { end, running, left, progress }), expected, "{what}");
        }
    }
}
