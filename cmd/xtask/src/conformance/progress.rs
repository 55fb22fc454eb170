//! What a run shows while it goes: a line that changes, or on no terminal a line to each test.

use std::{
    collections::BTreeMap,
    io::{IsTerminal as _, Write, stdout},
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
    /// What has gone wrong outside of tests.
    pub outside: Vec<String>,
    out: Box<dyn Write>,
    terminal: bool,
}

impl Progress {
    /// Of a run of `tests`, of which `done` have ended; `saved` knows how long they took before.
    /// What is shown goes to `out`, which may be gone: that is no reason to end.
    pub fn new(tests: &[Test], done: &Results, saved: &Results, workers: usize, out: Box<dyn Write>) -> Self {
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
            outside: Vec::new(),
            out,
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
        self.say(&format!("[{}] {state} {:.1} s {}", self.counts(), line.seconds, line.name));
        if line.state != State::Passed {
            self.say(&format!("    {}", headline(&line.message)));
        }
    }

    /// Something has gone wrong outside of tests.
    pub fn outside(&mut self, message: String) {
        self.say(&format!("FAILED outside of tests: {message}"));
        self.outside.push(message);
    }

    /// Prints a line in place of the one that changes.
    fn say(&mut self, line: &str) {
        let erase = if self.terminal { "\r\x1b[2K" } else { "" };
        let _ = writeln!(self.out, "{erase}{line}");
    }

    fn counts(&self) -> String {
        let left = shown(self.estimate());
        format!("{}/{}, {} passed, {} failed, {left} left", self.done(), self.total, self.passed, self.failed)
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
    pub fn draw(&mut self) {
        if !self.terminal {
            return;
        }
        let counts = self.counts();
        let columns = tcgetwinsize(stdout()).map_or(80, |size| usize::from(size.ws_col));
        // To each test its share, less one, so that the line does not wrap.
        let room = columns.saturating_sub(counts.len()) / self.running.len().max(1);
        let mut line = format!("\r\x1b[2K{counts}");
        for (name, since) in self.running.values() {
            let running = format!(" | {} s {}", since.elapsed().as_secs(), suite::short(name));
            line.extend(running.chars().take(room.saturating_sub(1)));
        }
        let _ = self.out.write_all(line.as_bytes()).and_then(|()| self.out.flush());
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
        let mut progress = Progress::new(&tests, &Results::new(), &before, 2, Box::new(std::io::sink()));
        // b and d are not known: 20 s each.
        assert_eq!(progress.estimate().as_secs(), (10 + 20) / 2 + 30 + 20);
        progress.note(0, &took("b", 50.0));
        // The average is of a, b and c now.
        assert_eq!(progress.estimate().as_secs(), 5 + 30 + 30);
        assert_eq!(progress.counts(), "1/4, 1 passed, 0 failed, 65 s left");
    }
}
