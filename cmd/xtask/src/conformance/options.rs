//! The command line.

use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use regex::Regex;

/// What is asked for.
#[derive(Debug)]
pub struct Options {
    pub choice: Choice,
    /// Programs that run tests at the same time.
    pub workers: usize,
    /// The time that a test has.
    pub cap: Duration,
    /// The last run that is unfinished goes on, with what it has not run yet.
    pub resume: bool,
}

/// Which tests: those that all of it holds for.
#[derive(Debug, Default)]
pub struct Choice {
    /// Matches the name.
    pub focus: Option<Regex>,
    /// One of these; any if empty.
    pub sigs: Vec<String>,
    /// The last saved result is not a pass, or the last run has none.
    pub failed: bool,
    /// Named in `quick.txt`.
    pub quick: bool,
}

impl Options {
    pub fn parse(args: &[&str]) -> anyhow::Result<Self> {
        let mut options =
            Options { choice: Choice::default(), workers: 2, cap: Duration::from_secs(300), resume: false };
        let choice = &mut options.choice;
        let mut chosen = false;
        let mut args = args.iter();
        while let Some(option) = args.next() {
            let mut value = || args.next().copied().with_context(|| format!("{option} wants a value"));
            match *option {
                "--focus" => choice.focus = Some(Regex::new(value()?).context("--focus")?),
                "--sig" => choice.sigs.push(value()?.trim_start_matches("sig-").to_owned()),
                "--failed" => choice.failed = true,
                "--quick" => choice.quick = true,
                "--parallel" => options.workers = value()?.parse().context("--parallel")?,
                "--cap" => options.cap = Duration::from_secs(value()?.parse().context("--cap")?),
                "--resume" => options.resume = true,
                other => bail!("{other} is no option of conformance"),
            }
            chosen |= matches!(*option, "--focus" | "--sig" | "--failed" | "--quick");
        }
        ensure!(options.workers > 0, "--parallel: at least one");
        ensure!(
            !(options.resume && chosen),
            "--resume goes on with what an earlier run has chosen: choose nothing else"
        );
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::Options;

    #[test]
    fn options_are_read() {
        let options = Options::parse(&[
            "--sig",
            "sig-auth",
            "--sig",
            "apps",
            "--focus",
            "a.c",
            "--failed",
            "--parallel",
            "4",
            "--cap",
            "60",
        ])
        .unwrap();
        assert_eq!(options.choice.sigs, ["auth", "apps"]);
        assert!(options.choice.failed && !options.choice.quick && !options.resume);
        assert!(options.choice.focus.unwrap().is_match("abc"));
        assert_eq!((options.workers, options.cap.as_secs()), (4, 60));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let cases: [(&[&str], &str); 6] = [
            (&["--fast"], "--fast is no option of conformance"),
            (&["--focus"], "--focus wants a value"),
            (&["--focus", "("], "--focus"),
            (&["--cap", "1m"], "--cap"),
            (&["--parallel", "0"], "at least one"),
            (&["--resume", "--quick"], "choose nothing else"),
        ];
        for (args, message) in cases {
            let error = format!("{:#}", Options::parse(args).unwrap_err());
            assert!(error.contains(message), "{args:?}: {error}");
        }
    }
}
