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
    /// Tests of its piece without a result, the running one included.
    pub left: Vec<&'a str>,
    /// Whether it has ended any test.
    pub progress: bool,
}

/// Results that the program itself has not written; what has none afterwards is run by another one.
/// An error says that nothing would come of another start.
pub fn verdicts(ended: &Ended) -> Result<Vec<Line>, String> {
    let message = match ended.end {
        End::Stopped => return Ok(Vec::new()),
        End::Exit(status) if status.success() => {
            let left_out = |name: &&str| Line::failed(name, 0.0, "not run: the suite has left it out".to_owned());
            return Ok(ended.left.iter().map(left_out).collect());
        }
        End::Exit(status) => format!("the suite's program ended with {status}"),
        End::Silent(limit) => format!("killed: no end within {} s", limit.as_secs()),
    };
    match ended.running {
        Some((name, time)) => Ok(vec![Line::failed(name, time.as_secs_f64(), message)]),
        None if ended.progress => Ok(Vec::new()),
        None => Err(message),
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
    fn the_end_of_a_program_is_blamed_on_the_running_test_or_ends_the_run() {
        let exit = |code: i32| End::Exit(ExitStatus::from_raw(code << 8));
        let silent = End::Silent(Duration::from_secs(420));
        // What it shows, the end, whether b was running, whether a has ended, the verdicts.
        type Case = (&'static str, End, bool, bool, Result<&'static str, &'static str>);
        let cases: [Case; 10] = [
            ("complete", exit(0), false, true, Ok("b, c: not run: the suite has left it out")),
            ("capped", exit(3), false, true, Ok("")),
            ("capped, no result written", exit(3), true, true, Ok("b: the suite's program ended with exit status: 3")),
            ("crashed in a test", exit(2), true, true, Ok("b: the suite's program ended with exit status: 2")),
            ("crashed between tests", exit(2), false, true, Ok("")),
            ("crashed at once", exit(2), false, false, Err("the suite's program ended with exit status: 2")),
            ("silent in a test", silent, true, true, Ok("b: killed: no end within 420 s")),
            ("silent after the tests", silent, false, true, Ok("")),
            ("silent before", silent, false, false, Err("killed: no end within 420 s")),
            ("stopped", End::Stopped, true, false, Ok("")),
        ];
        for (what, end, running, progress, expected) in cases {
            let running = running.then_some(("b", Duration::from_secs(9)));
            let verdicts = verdicts(&Ended { end, running, left: vec!["b", "c"], progress });
            let shown = verdicts.map(|lines| {
                let names: Vec<&str> = lines.iter().map(|line| &*line.name).collect();
                lines.first().map_or(String::new(), |line| format!("{}: {}", names.join(", "), line.message))
            });
            assert_eq!(shown.as_deref(), expected.map_err(str::to_owned).as_ref().copied(), "{what}");
        }
    }
}
