//! What a run shows while it goes: a line that changes, or on no terminal a line to each test.

use std::{
    collections::BTreeMap,
    io::{IsTerminal as _, Write as _, stdout},
    time::{Duration, Instant},
};

use rustix::termios::tcgetwinsize;

use super::{
    report::{headline, shown},
    results::{Line, Results, State},
    suite::{self, Test},
};

/// Counts, and what is running.
pub struct Progress {
    total: usize,
    passed: usize,
    failed: usize,
    /// The tests that are left, with the time that each will take, as far as is known.
    left: BTreeMap<String, (Option<f64>, bool)>,
    /// Seconds of all that have ended.
    seconds: f64,
    workers: usize,
    running: BTreeMap<usize, (String, Instant)>,
    terminal: bool,
}

impl Progress {
    /// Of a run of `tests`, of which `done` have ended; `saved` knows how long they took before.
    pub fn new(tests: &[Test], done: &Results, saved: &Results, workers: usize) -> Self {
        let known = |test: &Test| saved.get(&test.name).map(|saved| saved.line.seconds);
        let open = tests.iter().filter(|test| !done.contains_key(&test.name));
        let passed = done.values().filter(|saved| saved.passed()).count();
        Progress {
            total: tests.len(),
            passed,
            failed: done.len() - passed,
            left: open.map(|test| (test.name.clone(), (known(test), test.serial))).collect(),
            seconds: done.values().map(|saved| saved.line.seconds).sum(),
            workers,
            running: BTreeMap::new(),
            terminal: stdout().is_terminal(),
        }
    }

    /// A worker has begun or ended a test.
    pub fn note(&mut self, worker: usize, line: &Line) {
        if line.state == State::Started {
            self.running.insert(worker, (line.name.clone(), Instant::now()));
            return;
        }
        self.running.remove(&worker);
        self.left.remove(&line.name);
        self.seconds += line.seconds;
        if line.state == State::Passed {
            self.passed += 1;
        } else {
            self.failed += 1;
        }
        let state = if line.state == State::Passed { "passed" } else { "FAILED" };
        let erase = if self.terminal { "\r\x1b[2K" } else { "" };
        let counts =
            format!("[{}/{}, {} failed, {} left]", self.done(), self.total, self.failed, shown(self.estimate()));
        println!("{erase}{counts} {state} {:.1} s {}", line.seconds, line.name);
        if line.state != State::Passed {
            println!("    {}", headline(&line.message));
        }
    }

    fn done(&self) -> usize {
        self.passed + self.failed
    }

    /// Time until the end, from earlier times, and the average where there is none.
    fn estimate(&self) -> Duration {
        let known: Vec<f64> = self.left.values().filter_map(|(seconds, _)| *seconds).collect();
        let count = (self.done() + known.len()).max(1);
        let average = (self.seconds + known.iter().sum::<f64>()) / count as f64;
        let sum = |of_serial: bool| -> f64 {
            let left = self.left.values().filter(|(_, serial)| *serial == of_serial);
            left.map(|(seconds, _)| seconds.unwrap_or(average)).sum()
        };
        Duration::from_secs_f64(sum(false) / self.workers as f64 + sum(true))
    }

    /// Draws the line that changes.
    pub fn draw(&self) {
        if !self.terminal {
            return;
        }
        let counts =
            format!("{}/{} done, {} failed, {} left", self.done(), self.total, self.failed, shown(self.estimate()));
        let columns = tcgetwinsize(stdout()).map_or(80, |size| usize::from(size.ws_col));
        // To each test its share, less one, so that the line does not wrap.
        let room = columns.saturating_sub(counts.len()) / self.running.len().max(1);
        print!("\r\x1b[2K{counts}");
        for (name, since) in self.running.values() {
            let running = format!(" | {} s {}", since.elapsed().as_secs(), suite::short(name));
            print!("{}", running.chars().take(room.saturating_sub(1)).collect::<String>());
        }
        // A terminal that is gone is no reason to end.
        let _ = stdout().flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::tests::{saved, test};

    #[test]
    fn the_time_left_is_of_earlier_times_or_the_average() {
        let tests = [test("a", false), test("b", false), test("c", true), test("d", true)];
        let took = |name: &str, seconds| Line { seconds, ..Line::new(name, State::Passed) };
        let before = saved(&[took("a", 10.0), took("c", 30.0)]);
        let mut progress = Progress::new(&tests, &Results::new(), &before, 2);
        // b and d are not known: 20 s each.
        assert_eq!(progress.estimate().as_secs(), (10 + 20) / 2 + 30 + 20);
        progress.note(0, &took("b", 50.0));
        // The average is of a, b and c now.
        assert_eq!(progress.estimate().as_secs(), 5 + 30 + 30);
        assert_eq!((progress.done(), progress.failed), (1, 0));
    }
}
