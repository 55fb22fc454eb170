//! Results as they are saved, so that a run can go on after anything has ended it.
//!
//! `target/conformance/results` has a folder to each run, by number. In it `chosen` names the
//! run's tests, and each start of the suite's program has a file `NUMBER-COMMIT.jsonl`, to which
//! the program appends. Of several lines about a test the last one counts; one that tells of a
//! start alone is no result.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use super::suite::Test;

/// Where a test is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Started,
    Passed,
    Failed,
    Skipped,
}

/// What the program writes of a test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    pub name: String,
    pub state: State,
    #[serde(default)]
    pub seconds: f64,
    /// Why it failed or was skipped.
    #[serde(default)]
    pub message: String,
    /// File and line of the failure.
    #[serde(default)]
    pub at: String,
    /// What the test has printed.
    #[serde(default)]
    pub log: String,
}

impl Line {
    pub fn new(name: &str, state: State) -> Self {
        let (message, at, log) = Default::default();
        Line { name: name.to_owned(), state, seconds: 0.0, message, at, log }
    }

    /// A failure that the runner has seen.
    pub fn failed(name: &str, seconds: f64, message: String) -> Self {
        Line { seconds, message, ..Line::new(name, State::Failed) }
    }
}

/// A result, and the commit that it is of.
#[derive(Clone, Debug, PartialEq)]
pub struct Saved {
    pub line: Line,
    pub commit: String,
}

impl Saved {
    pub fn passed(&self) -> bool {
        self.line.state == State::Passed
    }
}

/// The last result of each test, by name.
pub type Results = BTreeMap<String, Saved>;

/// Adds lines that are later than what is there.
pub fn merge(results: &mut Results, lines: Vec<Line>, commit: &str) {
    for line in lines.into_iter().filter(|line| line.state != State::Started) {
        results.insert(line.name.clone(), Saved { line, commit: commit.to_owned() });
    }
}

/// All runs.
pub struct Runs(PathBuf);

impl Runs {
    pub fn new(dir: PathBuf) -> Self {
        Runs(dir)
    }

    /// Folders, oldest first.
    fn dirs(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let mut dirs: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        dirs.sort();
        dirs
    }

    /// A new run of these tests.
    pub fn begin(&self, tests: &[Test]) -> anyhow::Result<Run> {
        let last = self.dirs().last().and_then(|dir| number(dir)).unwrap_or(0);
        let dir = self.0.join(format!("{:04}", last + 1));
        fs::create_dir_all(&dir).with_context(|| dir.display().to_string())?;
        let names: Vec<&str> = tests.iter().map(|test| &*test.name).collect();
        fs::write(dir.join("chosen"), names.join("\n"))?;
        Ok(Run { dir })
    }

    /// The last run.
    pub fn last(&self) -> Option<Run> {
        self.dirs().pop().map(|dir| Run { dir })
    }

    /// The last run of which tests have no result.
    pub fn unfinished(&self) -> anyhow::Result<Option<Run>> {
        for dir in self.dirs().into_iter().rev() {
            let run = Run { dir };
            if !run.left()?.is_empty() {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }

    /// The last result of each test that was ever run.
    pub fn results(&self) -> anyhow::Result<Results> {
        let mut results = Results::new();
        for dir in self.dirs() {
            results.extend(Run { dir }.results()?);
        }
        Ok(results)
    }
}

/// One run.
pub struct Run {
    dir: PathBuf,
}

impl Run {
    /// Names of the tests that it is of.
    pub fn chosen(&self) -> anyhow::Result<Vec<String>> {
        let path = self.dir.join("chosen");
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// Those of them that have no result.
    pub fn left(&self) -> anyhow::Result<Vec<String>> {
        let (mut names, results) = (self.chosen()?, self.results()?);
        names.retain(|name| !results.contains_key(name));
        Ok(names)
    }

    /// Files of results, oldest first.
    fn files(&self) -> anyhow::Result<Vec<PathBuf>> {
        let entries = fs::read_dir(&self.dir).with_context(|| self.dir.display().to_string())?;
        let paths = entries.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<Vec<_>>>()?;
        let mut files: Vec<PathBuf> =
            paths.into_iter().filter(|path| path.extension().is_some_and(|e| e == "jsonl")).collect();
        files.sort();
        Ok(files)
    }

    /// The last result of each of its tests that has one.
    pub fn results(&self) -> anyhow::Result<Results> {
        let mut results = Results::new();
        for path in self.files()? {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let (_, commit) = stem.split_once('-').with_context(|| format!("{}: no commit", path.display()))?;
            merge(&mut results, Follower::open(&path)?.read()?, commit);
        }
        Ok(results)
    }

    /// A new, empty file for results at a commit.
    pub fn file(&self, commit: &str) -> anyhow::Result<PathBuf> {
        let last = self.files()?.last().and_then(|file| number(file)).unwrap_or(0);
        let path = self.dir.join(format!("{:04}-{commit}.jsonl", last + 1));
        File::create_new(&path).with_context(|| path.display().to_string())?;
        Ok(path)
    }
}

/// The number that a name begins with.
fn number(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?;
    name.get(..4)?.parse().ok()
}

/// Reads a file of results as it grows.
pub struct Follower {
    path: PathBuf,
    file: File,
    /// Where the first line begins that was not complete when last looked at.
    at: u64,
}

impl Follower {
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let file = File::options().read(true).append(true).open(path).with_context(|| path.display().to_string())?;
        Ok(Follower { path: path.to_owned(), file, at: 0 })
    }

    /// What is new. The beginning of a line is left for the next time.
    pub fn read(&mut self) -> anyhow::Result<Vec<Line>> {
        self.file.seek(SeekFrom::Start(self.at))?;
        let mut bytes = Vec::new();
        self.file.read_to_end(&mut bytes)?;
        let complete = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let text = String::from_utf8_lossy(&bytes[..complete]);
        let parse = |line| serde_json::from_str(line).with_context(|| format!("{}: {line}", self.path.display()));
        let lines = text.lines().map(parse).collect::<anyhow::Result<_>>()?;
        self.at += complete as u64;
        Ok(lines)
    }

    /// Adds a line of the runner's own, once the program has ended: in place of one it has only begun.
    pub fn append(&mut self, line: &Line) -> anyhow::Result<()> {
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        self.file.set_len(self.at)?;
        self.file.write_all(&bytes)?;
        self.at += bytes.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::tests::test;

    fn write(path: &Path, text: &str) {
        File::options().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn the_last_result_of_each_test_counts_across_runs() {
        let dir = tempfile::tempdir().unwrap();
        let runs = Runs::new(dir.path().join("results"));
        assert!(runs.last().is_none());
        let first = runs.begin(&[test("a", false), test("b", false)]).unwrap();
        let file = first.file("c1").unwrap();
        write(&file, "{\"name\":\"a\",\"state\":\"started\"}\n{\"name\":\"a\",\"state\":\"failed\",\"seconds\":1}\n");
        write(&file, "{\"name\":\"b\",\"state\":\"started\"}\n");
        write(&first.file("c2-dirty").unwrap(), "{\"name\":\"a\",\"state\":\"passed\"}\n{\"name\":\"a\",\"sta");
        let second = runs.begin(&[test("b", false)]).unwrap();
        write(&second.file("c3").unwrap(), "{\"name\":\"b\",\"state\":\"skipped\"}\n");

        let shown = |results: Results| -> Vec<(String, State, String)> {
            results.into_values().map(|saved| (saved.line.name, saved.line.state, saved.commit)).collect()
        };
        let a = ("a".to_owned(), State::Passed, "c2-dirty".to_owned());
        let b = ("b".to_owned(), State::Skipped, "c3".to_owned());
        assert_eq!(shown(first.results().unwrap()), std::slice::from_ref(&a));
        assert_eq!(shown(runs.results().unwrap()), [a, b]);
        assert_eq!(first.chosen().unwrap(), ["a", "b"]);
        let last = runs.last().unwrap();
        assert_eq!((last.chosen().unwrap(), last.left().unwrap()), (vec!["b".to_owned()], vec![]));
        // The last run is whole, and the one before lacks b.
        let unfinished = runs.unfinished().unwrap().unwrap();
        assert_eq!(
            (unfinished.chosen().unwrap(), unfinished.left().unwrap()),
            (first.chosen().unwrap(), vec!["b".to_owned()])
        );
        write(&first.file("c4").unwrap(), "{\"name\":\"b\",\"state\":\"failed\"}\n");
        assert!(runs.unfinished().unwrap().is_none());
    }

    #[test]
    fn a_file_is_followed_by_whole_lines_and_mended() {
        let dir = tempfile::tempdir().unwrap();
        let run = Runs::new(dir.path().to_owned()).begin(&[]).unwrap();
        let file = run.file("c").unwrap();
        let mut follower = Follower::open(&file).unwrap();
        assert_eq!(follower.read().unwrap(), []);
        write(&file, "{\"name\":\"a\",\"state\":\"started\"}\n{\"name\":");
        assert_eq!(follower.read().unwrap(), [Line::new("a", State::Started)]);
        write(&file, "\"a\",\"state\":\"passed\"}\n{\"name\":\"b\"");
        assert_eq!(follower.read().unwrap(), [Line::new("a", State::Passed)]);
        follower.append(&Line::failed("b", 2.0, "killed".to_owned())).unwrap();
        assert_eq!(follower.read().unwrap(), []);
        let results = run.results().unwrap();
        assert_eq!((&*results["b"].line.message, results["b"].line.seconds), ("killed", 2.0));
    }
}
