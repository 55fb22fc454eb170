//! What a run says at its end: a table by SIG, the failures, and how the server has borne it. Pure.

use std::{collections::BTreeMap, fmt::Write as _, path::PathBuf, time::Duration};

use super::{
    results::{Results, Saved, State},
    suite::Test,
};

/// What a run has shown. Where it has gone on, the results are of all its starts, the rest is of the last.
pub struct Report<'a> {
    pub tests: &'a [Test],
    pub results: &'a Results,
    pub commit: &'a str,
    /// The file with what a test has printed, if there is one.
    pub log: &'a dyn Fn(&Test) -> Option<PathBuf>,
    pub wall: Duration,
    /// Largest resident memory of the server's process, in MB of 2^20 bytes; none if it has ended.
    pub peak: Option<f64>,
    /// Lines at WARN or ERROR, by machine.
    pub complaints: &'a [(String, usize)],
    /// What has gone wrong outside of tests.
    pub outside: &'a [String],
}

impl Report<'_> {
    /// Tests that have not passed, with their result if there is one.
    pub fn failures(&self) -> Vec<(&Test, Option<&Saved>)> {
        let all = self.tests.iter().map(|test| (test, self.results.get(&test.name)));
        all.filter(|(_, saved)| !saved.is_some_and(Saved::passed)).collect()
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        let of = commits(self.tests.iter().filter_map(|test| self.results.get(&test.name)));
        let mut text = format!("# Conformance run at {}\n\nResults: {of}.\n\n", self.commit);
        text.push_str(&table(self.tests, self.results));
        let complaints = self.complaints.iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>();
        let memory = |peak| format!("peak resident memory of the server {peak:.0} MB");
        // Writing to a string does not fail, here and below.
        let _ = write!(
            text,
            "\nSince this start: wall time {}, {}, log lines at WARN or ERROR: {}.\n",
            shown(self.wall),
            self.peak.map_or_else(|| "the server has ended".to_owned(), memory),
            complaints.join(", "),
        );
        if !self.outside.is_empty() {
            let _ = write!(text, "\n## Outside of tests, since this start\n\n- {}\n", self.outside.join("\n- "));
        }
        let failures = self.failures();
        if !failures.is_empty() {
            text.push_str("\n## Not passed\n\n");
        }
        for (test, saved) in failures {
            let _ = write!(text, "- {}\n  {}", test.name, reason(saved));
            if let Some(saved) = saved {
                let mut facts = vec![format!("{:.1} s", saved.line.seconds), saved.line.at.clone()];
                facts.extend((self.log)(test).map(|log| log.display().to_string()));
                facts.retain(|fact| !fact.is_empty());
                let _ = write!(text, " ({})", facts.join(", "));
            }
            text.push('\n');
        }
        text
    }
}

#[derive(Default)]
struct Row {
    passed: usize,
    failed: usize,
    not_run: usize,
    seconds: f64,
}

impl Row {
    fn add(&mut self, saved: Option<&Saved>) {
        match saved {
            None => self.not_run += 1,
            Some(saved) if saved.passed() => self.passed += 1,
            Some(_) => self.failed += 1,
        }
        self.seconds += saved.map_or(0.0, |saved| saved.line.seconds);
    }

    fn line(&self, name: &str) -> String {
        let total = self.passed + self.failed + self.not_run;
        let time = shown(Duration::from_secs_f64(self.seconds));
        format!("| {name} | {} of {total} | {} | {} | {time} |\n", self.passed, self.failed, self.not_run)
    }
}

/// Passed of total by SIG, as Markdown.
pub fn table(tests: &[Test], results: &Results) -> String {
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    let mut all = Row::default();
    for test in tests {
        let saved = results.get(&test.name);
        rows.entry(&test.sig).or_default().add(saved);
        all.add(saved);
    }
    let mut text = "| SIG | passed | failed | not run | time of tests |\n|---|---|---|---|---|\n".to_owned();
    text.extend(rows.iter().map(|(sig, row)| row.line(sig)));
    text + &all.line("all")
}

/// How many results are of which commit.
pub fn commits<'a>(results: impl Iterator<Item = &'a Saved>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for saved in results {
        *counts.entry(&*saved.commit).or_default() += 1;
    }
    let of: Vec<String> = counts.iter().map(|(commit, count)| format!("{count} at {commit}")).collect();
    if of.is_empty() { "none".to_owned() } else { of.join(", ") }
}

/// Why a test counts as failed, in a line.
pub fn reason(saved: Option<&Saved>) -> String {
    match saved {
        None => "not run".to_owned(),
        Some(saved) if saved.line.state == State::Skipped => {
            format!("skipped: {}", headline(&saved.line.message))
        }
        Some(saved) => headline(&saved.line.message),
    }
}

/// The first line of a message that says something: "Expected" and the like get those that follow.
pub fn headline(message: &str) -> String {
    const LONGEST: usize = 200;
    let is_type = |line: &str| line.starts_with('<') && (line.ends_with(':') || line.ends_with(": {"));
    let mut lines = message.lines().map(str::trim).filter(|line| !line.is_empty() && !is_type(line));
    let mut text = lines.next().unwrap_or("no message").to_owned();
    let is_vague = text.ends_with([':', '.']) && text.len() < 40 || text == "Expected";
    if is_vague {
        for line in lines.take(3) {
            text.push(' ');
            text.push_str(line);
        }
    }
    if text.chars().count() > LONGEST {
        text = text.chars().take(LONGEST).collect::<String>() + "…";
    }
    text
}

/// A duration for people.
pub fn shown(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", (seconds + 30) / 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{
        results::Line,
        tests::{saved, test},
    };

    #[test]
    fn a_report_counts_what_is_missing_as_not_passed() {
        let tests = ["auth a", "auth b", "node a", "node b"].map(|name| test(name, false));
        let mut results = saved(&[
            Line { seconds: 3.0, ..Line::new("auth a", State::Passed) },
            Line { at: "a.go:7".to_owned(), ..Line::failed("auth b", 130.0, "\nTimed out.\n\nmore".to_owned()) },
            Line { message: "no GPU".to_owned(), ..Line::new("node a", State::Skipped) },
        ]);
        results.get_mut("node a").unwrap().commit = "c1-dirty".to_owned();
        let mut report = Report {
            tests: &tests,
            results: &results,
            commit: "abc",
            log: &|test| (test.name == "auth b").then(|| PathBuf::from("logs/b.log")),
            wall: Duration::from_secs(150),
            peak: Some(81.6),
            complaints: &[("server-0".to_owned(), 2), ("agent-1".to_owned(), 0)],
            outside: &["killed: logs/suite-0001-abc.log".to_owned()],
        };
        let expected = "# Conformance run at abc

Results: 2 at c0, 1 at c1-dirty.

| SIG | passed | failed | not run | time of tests |
|---|---|---|---|---|
| auth | 1 of 2 | 1 | 0 | 2 min |
| node | 0 of 2 | 1 | 1 | 0 s |
| all | 1 of 4 | 2 | 1 | 2 min |

Since this start: wall time 3 min, peak resident memory of the server 82 MB, log lines at WARN or ERROR: server-0 2, agent-1 0.

## Outside of tests, since this start

- killed: logs/suite-0001-abc.log

## Not passed

- auth b
  Timed out. more (130.0 s, a.go:7, logs/b.log)
- node a
  skipped: no GPU (0.0 s)
- node b
  not run
";
        assert_eq!(report.markdown(), expected);
        (report.peak, report.outside) = (None, &[]);
        let text = report.markdown();
        assert!(
            text.contains("wall time 3 min, the server has ended, log lines") && !text.contains("Outside"),
            "{text}"
        );
    }

    #[test]
    fn a_headline_says_something() {
        let cases = [
            ("", "no message"),
            ("creating pod: pods \"a\" is forbidden\nIn [It] at x.go:3", "creating pod: pods \"a\" is forbidden"),
            ("Expected\n    <int>: 3\nto equal\n    <int>: 4", "Expected <int>: 3 to equal <int>: 4"),
            (
                "Unexpected error:\n    <*errors.StatusError | 0xc00>: \n    no such host\n    {\n",
                "Unexpected error: no such host {",
            ),
            ("Timed out after 60.001s.\nExpected no pods", "Timed out after 60.001s. Expected no pods"),
        ];
        for (message, expected) in cases {
            assert_eq!(headline(message), expected);
        }
        assert_eq!(headline(&"é".repeat(500)).chars().count(), 201);
    }
}
