//! `STATUS.md`: the last result of every test of the suite, and what the failures have in common. Pure.

use std::{cmp::Reverse, collections::BTreeMap, fmt::Write as _};

use anyhow::{Context as _, ensure};
use regex::Regex;
use serde::Deserialize;

use super::{
    report::{commits, reason, table},
    results::{Results, Saved},
    suite::Test,
};

/// Why tests fail that all the patterns match: the name's and the message's.
pub struct Cause {
    name: Option<Regex>,
    message: Option<Regex>,
    text: String,
}

/// Reads `causes.yaml`.
pub fn causes(yaml: &str) -> anyhow::Result<Vec<Cause>> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Entry {
        name: Option<String>,
        message: Option<String>,
        cause: String,
    }
    let read = |Entry { name, message, cause: text }: Entry| {
        ensure!(name.is_some() || message.is_some(), "causes.yaml: {text}: neither name nor message");
        let compile = |pattern: Option<String>| {
            let compiled = pattern.map(|pattern| Regex::new(&pattern)).transpose();
            compiled.with_context(|| format!("causes.yaml: {text}"))
        };
        Ok(Cause { name: compile(name)?, message: compile(message)?, text })
    };
    let entries: Vec<Entry> = serde_saphyr::from_str(yaml).context("causes.yaml")?;
    entries.into_iter().map(read).collect()
}

/// The whole file. A cause that no failing test has is an error: it holds no more.
pub fn status(tests: &[Test], results: &Results, causes: &[Cause], date: &str, commit: &str) -> anyhow::Result<String> {
    let known: Vec<&Saved> = tests.iter().filter_map(|test| results.get(&test.name)).collect();
    let mut text = format!(
        "# Conformance: status\n\nWritten by `cargo xtask conformance status`, never by hand: the last results of \
         upstream's tests\ntagged Conformance, {} in all.\n\n{date}, commit {commit}. Results: {}.\n\n{}",
        tests.len(),
        commits(known.iter().copied()),
        table(tests, results),
    );
    let failing: Vec<&Saved> = known.into_iter().filter(|saved| !saved.passed()).collect();
    let unused =
        causes.iter().filter(|cause| !failing.iter().any(|saved| cause_of(saved, causes) == Some(&cause.text)));
    let unused: Vec<&str> = unused.map(|cause| &*cause.text).collect();
    ensure!(unused.is_empty(), "causes.yaml: of no failing test: {}", unused.join("; "));
    if failing.is_empty() {
        return Ok(text);
    }
    text.push_str("\n## Causes of failures\n\n| tests | cause |\n|---|---|\n");
    for (cause, count) in groups(&failing, causes) {
        // Writing to a string does not fail, here and below.
        let _ = writeln!(text, "| {count} | {} |", plain(&cause));
    }
    text.push_str("\n## Failing tests\n\n");
    for saved in failing {
        let cause = cause_of(saved, causes).map_or_else(String::new, |cause| format!("{cause}: "));
        let _ = writeln!(text, "- {}: {}{}", plain(&saved.line.name), plain(&cause), plain(&reason(Some(saved))));
    }
    Ok(text)
}

/// The first cause that matches.
fn cause_of<'a>(saved: &Saved, causes: &'a [Cause]) -> Option<&'a str> {
    let matches = |pattern: &Option<Regex>, text: &str| pattern.as_ref().is_none_or(|pattern| pattern.is_match(text));
    let line = &saved.line;
    let cause = causes.iter().find(|cause| matches(&cause.name, &line.name) && matches(&cause.message, &line.message));
    cause.map(|cause| &*cause.text)
}

/// Causes with the number of tests, largest first. Where none is known, it is what failures say,
/// without what differs from one to the next.
fn groups(failing: &[&Saved], causes: &[Cause]) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for saved in failing {
        let cause = cause_of(saved, causes).map_or_else(|| normalised(&reason(Some(saved))), str::to_owned);
        *counts.entry(cause).or_default() += 1;
    }
    let mut groups: Vec<_> = counts.into_iter().collect();
    groups.sort_by_key(|(_, count)| Reverse(*count));
    groups
}

/// Quoted names, hashes, generated endings and numbers are replaced.
fn normalised(text: &str) -> String {
    const PATTERNS: [(&str, &str); 5] = [
        (r#""[^"]*""#, "\"…\""),
        (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "#"),
        (r"\b(0x[0-9a-f]+|[0-9a-f]{10,})\b", "#"),
        (r"-[bcdfghjklmnpqrstvwxz2456789]{5}\b", "-#"),
        (r"\b\d+(\.\d+)*", "#"),
    ];
    PATTERNS.iter().fold(text.to_owned(), |text, (pattern, replacement)| {
        let pattern = Regex::new(pattern).expect("the patterns above are valid");
        pattern.replace_all(&text, *replacement).into_owned()
    })
}

/// As Markdown that shows the text, also in a table.
fn plain(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "\\<").replace('*', "\\*")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{
        results::{Line, State},
        tests::{saved, test},
    };

    #[test]
    fn failures_are_grouped_by_cause_largest_first() {
        let tests = ["auth a", "auth b", "node a", "node b", "node c", "node d"].map(|name| test(name, false));
        let failed = |name: &str, message: &str| Line::failed(name, 1.0, message.to_owned());
        let results = saved(&[
            Line::new("auth a", State::Passed),
            failed("node a", "pod \"a-1\" is gone after 3 s\nmore"),
            failed("node b", "pod \"b\" is gone after 14 s"),
            failed("node c", "no | such\nregistry is down"),
            failed("gone from the list", "x"),
        ]);
        let causes = causes(
            "- {name: auth, message: down, cause: x}\n- {name: node, message: registry is down, cause: no <images>}\n",
        );
        let causes = &causes.unwrap()[1..];
        let expected = "# Conformance: status

Written by `cargo xtask conformance status`, never by hand: the last results of upstream's tests
tagged Conformance, 6 in all.

2026-11-30, commit abc. Results: 4 at c0.

| SIG | passed | failed | not run | time of tests |
|---|---|---|---|---|
| auth | 1 of 2 | 0 | 1 | 0 s |
| node | 0 of 4 | 3 | 1 | 3 s |
| all | 1 of 6 | 3 | 2 | 3 s |

## Causes of failures

| tests | cause |
|---|---|
| 2 | pod \"…\" is gone after # s |
| 1 | no \\<images> |

## Failing tests

- node a: pod \"a-1\" is gone after 3 s
- node b: pod \"b\" is gone after 14 s
- node c: no \\<images>: no \\| such
";
        assert_eq!(status(&tests, &results, causes, "2026-11-30", "abc").unwrap(), expected);
    }

    #[test]
    fn a_cause_is_of_the_tests_that_all_of_it_matches() {
        let saved = |name: &str, message: &str| Saved {
            line: Line::failed(name, 1.0, message.to_owned()),
            commit: "c0".to_owned(),
        };
        let causes = causes(
            "- {name: quota, message: 'timed out', cause: both}\n- {name: quota, cause: name}\n- {message: gone, cause: message}\n",
        )
        .unwrap();
        for (name, message, cause) in [
            ("quota a", "it timed out", Some("both")),
            ("quota a", "it is gone", Some("name")),
            ("pods", "it is gone", Some("message")),
            ("gone", "quota timed out", None),
        ] {
            assert_eq!(cause_of(&saved(name, message), &causes), cause, "{name}: {message}");
        }
    }

    #[test]
    fn a_cause_of_no_failing_test_is_an_error() {
        let tests = [test("auth a", false), test("auth b", false)];
        let results = saved(&[Line::new("auth a", State::Passed), Line::failed("auth b", 1.0, "x".to_owned())]);
        let causes =
            causes("- {name: auth, cause: kept}\n- {name: auth a, cause: mended}\n- {name: auth b, cause: hidden}\n");
        let error = status(&tests, &results, &causes.unwrap(), "2026-11-30", "abc").unwrap_err().to_string();
        assert_eq!(error, "causes.yaml: of no failing test: mended; hidden");
    }

    #[test]
    fn what_differs_between_failures_of_one_cause_is_replaced() {
        let cases = [
            ("Timed out after 60.001s.", "Timed out after #s."),
            ("uid 8d9c1f2e-0d5b-4c4e-9d5c-9d5c8d9c1f2e of 0xc000a1", "uid # of #"),
            ("pod webhook-markers-4bw2x in e2e-tests-123", "pod webhook-markers-# in e2e-tests-#"),
            ("sha256:5e2f6f1b2c3d4e5f: \"a\" and \"b\"", "sha256:#: \"…\" and \"…\""),
            ("the server could not find the requested resource", "the server could not find the requested resource"),
        ];
        for (text, expected) in cases {
            assert_eq!(normalised(text), expected);
        }
    }

    #[test]
    fn causes_that_cannot_be_read_are_refused() {
        for yaml in ["- name: a\n", "- cause: b\n", "- {name: (, cause: b}\n", "- {name: a, cause: b, more: c}\n"] {
            assert!(causes(yaml).is_err(), "{yaml}");
        }
    }
}
