//! The suite's program, and the list of its tests.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, bail, ensure};
use serde::Deserialize;

use super::{options::Choice, results::Results, target};
use crate::{check::output, clients, images::archive::hex, repository};

/// A test, as the program names it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Test {
    pub name: String,
    pub sig: String,
    /// Does not bear others beside it.
    pub serial: bool,
}

/// The version of the suite, which is ours: some tests ask themselves for it.
const VERSION: [(&str, &str); 3] = [
    ("k8s.io/component-base/version.gitMajor", env!("CARGO_PKG_VERSION_MAJOR")),
    ("k8s.io/component-base/version.gitMinor", env!("CARGO_PKG_VERSION_MINOR")),
    ("k8s.io/component-base/version.gitVersion", concat!("v", env!("CARGO_PKG_VERSION"))),
];

/// Builds the program.
pub fn build() -> anyhow::Result<PathBuf> {
    let program = target().join("e2e");
    clients::go(&repository().join("tests/conformance/suite"), ".", &program, &VERSION)?;
    Ok(program)
}

/// All tests, by name.
pub fn list(program: &Path) -> anyhow::Result<Vec<Test>> {
    parse(&output(Command::new(program).arg("--list"))?)
}

fn parse(text: &str) -> anyhow::Result<Vec<Test>> {
    let read = |line| serde_json::from_str(line).with_context(|| format!("the list of tests: {line}"));
    let mut tests = text.lines().map(read).collect::<anyhow::Result<Vec<Test>>>()?;
    tests.sort_by(|a, b| a.name.cmp(&b.name));
    ensure!(!tests.is_empty(), "the list of tests is empty");
    if let Some(pair) = tests.windows(2).find(|pair| pair[0].name == pair[1].name) {
        bail!("two tests are called {}", pair[0].name);
    }
    Ok(tests)
}

/// What tests are chosen by, beside their names.
pub struct Known<'a> {
    /// The last result of each.
    pub saved: &'a Results,
    /// Names of those that the last run has not come to.
    pub left: &'a [String],
    /// The text of `quick.txt`.
    pub quick: &'a str,
}

/// Those that are asked for.
pub fn choose(tests: &[Test], choice: &Choice, known: &Known) -> anyhow::Result<Vec<Test>> {
    let sigs: BTreeSet<&str> = tests.iter().map(|test| &*test.sig).collect();
    for sig in &choice.sigs {
        ensure!(sigs.contains(&**sig), "no test is of SIG {sig}; there are {sigs:?}");
    }
    let quick: BTreeSet<&str> = known.quick.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let names: BTreeSet<&str> = tests.iter().map(|test| &*test.name).collect();
    let unknown: Vec<&&str> = quick.difference(&names).collect();
    ensure!(!choice.quick || unknown.is_empty(), "quick.txt names tests that the suite does not have: {unknown:#?}");
    let has_failed = |test: &Test| {
        known.saved.get(&test.name).is_some_and(|saved| !saved.passed()) || known.left.contains(&test.name)
    };
    let is_chosen = |test: &&Test| {
        choice.focus.as_ref().is_none_or(|focus| focus.is_match(&test.name))
            && (choice.sigs.is_empty() || choice.sigs.contains(&test.sig))
            && (!choice.failed || has_failed(test))
            && (!choice.quick || quick.contains(&*test.name))
    };
    let chosen: Vec<Test> = tests.iter().filter(is_chosen).cloned().collect();
    ensure!(!chosen.is_empty(), "no test is chosen");
    Ok(chosen)
}

/// The tests of these names; a name without a test is an error.
pub fn named(tests: &[Test], names: &[String]) -> anyhow::Result<Vec<Test>> {
    let by_name: BTreeMap<&str, &Test> = tests.iter().map(|test| (&*test.name, test)).collect();
    let find = |name: &String| {
        let test = by_name.get(&**name).with_context(|| format!("the suite has no test {name} any more"))?;
        Ok((*test).clone())
    };
    names.iter().map(find).collect()
}

/// A name for files: the words of the test without its tags, and what tells it from others.
pub fn short(name: &str) -> String {
    let mut words = String::new();
    let mut depth = 0;
    for char in name.chars() {
        match char {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ if depth > 0 => {}
            _ if char.is_ascii_alphanumeric() => words.push(char.to_ascii_lowercase()),
            _ if words.is_empty() || words.ends_with('-') => {}
            _ => words.push('-'),
        }
    }
    words.truncate(80);
    format!("{}-{}", words.trim_end_matches('-'), &hex(name.as_bytes())[..6])
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;
    use crate::conformance::{
        results::{Line, State},
        tests::{saved, test},
    };

    fn tests() -> Vec<Test> {
        vec![test("auth a", false), test("auth b", true), test("node a", false), test("node b", false)]
    }

    #[test]
    fn the_list_is_sorted_and_names_are_unique() {
        let text = |names: &[&str]| -> String {
            names
                .iter()
                .map(|name| format!("{{\"name\": \"{name}\", \"sig\": \"auth\", \"serial\": false}}\n"))
                .collect()
        };
        let names: Vec<String> = parse(&text(&["b", "a"])).unwrap().into_iter().map(|test| test.name).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(parse(&text(&["a", "b", "a"])).unwrap_err().to_string(), "two tests are called a");
        assert_eq!(parse("").unwrap_err().to_string(), "the list of tests is empty");
    }

    #[test]
    fn all_conditions_hold_for_what_is_chosen() {
        let left = ["node b".to_owned()];
        let saved = saved(&[
            Line::new("auth a", State::Passed),
            Line::new("auth b", State::Failed),
            Line::new("node a", State::Skipped),
        ]);
        let cases: [(Choice, &[&str]); 6] = [
            (Choice::default(), &["auth a", "auth b", "node a", "node b"]),
            (Choice { focus: Some(Regex::new("a$").unwrap()), ..Choice::default() }, &["auth a", "node a"]),
            (Choice { sigs: vec!["auth".into()], ..Choice::default() }, &["auth a", "auth b"]),
            (Choice { failed: true, ..Choice::default() }, &["auth b", "node a", "node b"]),
            (Choice { quick: true, ..Choice::default() }, &["auth a", "node b"]),
            (Choice { quick: true, sigs: vec!["node".into()], ..Choice::default() }, &["node b"]),
        ];
        for (choice, names) in cases {
            let known = Known { saved: &saved, left: &left, quick: "# names\n\nnode b\nauth a\n" };
            let chosen = choose(&tests(), &choice, &known).unwrap();
            assert_eq!(chosen.iter().map(|test| &*test.name).collect::<Vec<_>>(), names, "{choice:?}");
        }
    }

    #[test]
    fn names_of_files_are_short_and_differ() {
        let long =
            "[sig-node] Pods [NodeConformance] should run through the lifecycle of Pods and PodStatus [Conformance]";
        let (a, b) = (short(long), short(&long.replace("sig-node", "sig-apps")));
        assert_eq!(&a[..a.len() - 7], "pods-should-run-through-the-lifecycle-of-pods-and-podstatus");
        assert!(a != b && a[..a.len() - 6] == b[..b.len() - 6], "{a} {b}");
        assert!(short(&"word ".repeat(100)).len() < 90);
    }

    #[test]
    fn what_is_not_in_the_list_cannot_be_chosen() {
        let refuse = |choice, quick| {
            let known = Known { saved: &Results::new(), left: &[], quick };
            choose(&tests(), &choice, &known).unwrap_err().to_string()
        };
        let gone = refuse(Choice { quick: true, ..Choice::default() }, "auth a\nauth z\n");
        assert!(gone.contains("auth z") && !gone.contains("auth a"), "{gone}");
        let sig = refuse(Choice { sigs: vec!["nodes".into()], ..Choice::default() }, "");
        assert_eq!(sig, r#"no test is of SIG nodes; there are {"auth", "node"}"#);
        assert_eq!(refuse(Choice { failed: true, ..Choice::default() }, ""), "no test is chosen");
        assert!(named(&tests(), &["auth z".to_owned()]).is_err());
    }
}
