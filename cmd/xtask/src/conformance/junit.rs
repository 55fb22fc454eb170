//! A run as JUnit's XML, which CI systems read.

use std::fmt::Write as _;

use super::{
    report::{Report, reason},
    results::State,
};

/// The whole file.
pub fn junit(report: &Report) -> String {
    let (total, failures) = (report.tests.len(), report.failures().len());
    let seconds = report.wall.as_secs_f64();
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    // Writing to a string does not fail, here and below.
    let _ = writeln!(
        text,
        "<testsuite name=\"conformance\" tests=\"{total}\" failures=\"{failures}\" time=\"{seconds:.3}\">"
    );
    for test in report.tests {
        let saved = report.results.get(&test.name);
        let (class, name) = (escape(&test.sig), escape(&test.name));
        let seconds = saved.map_or(0.0, |saved| saved.line.seconds);
        let _ = write!(text, "  <testcase classname=\"{class}\" name=\"{name}\" time=\"{seconds:.3}\"");
        match saved {
            Some(saved) if saved.line.state == State::Passed => text.push_str("/>\n"),
            _ => {
                let whole = saved.map_or(String::new(), |saved| format!("{}\n{}", saved.line.message, saved.line.at));
                let (reason, whole) = (escape(&reason(saved)), escape(&whole));
                let _ = writeln!(text, ">\n    <failure message=\"{reason}\">{whole}</failure>\n  </testcase>");
            }
        }
    }
    text + "</testsuite>\n"
}

/// For text and for attributes. What XML cannot hold is replaced.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for char in text.chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(char),
            '\u{0}'..'\u{20}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(char),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::conformance::{
        results::Line,
        tests::{saved, test},
    };

    #[test]
    fn what_is_not_plain_is_escaped_and_what_is_missing_has_failed() {
        let tests = ["auth <a>", "auth \"b\"", "auth c"].map(|name| test(name, false));
        let results = saved(&[
            Line { seconds: 1.5, ..Line::new("auth <a>", State::Passed) },
            Line { at: "x.go:3".to_owned(), ..Line::failed("auth \"b\"", 2.0, "a && b\u{1b}[0m\nmore".to_owned()) },
        ]);
        let report = Report {
            tests: &tests,
            results: &results,
            commit: "abc",
            log: &|_| None,
            wall: Duration::from_secs(4),
            peak: None,
            complaints: &[],
            outside: &[],
        };
        let expected = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="conformance" tests="3" failures="2" time="4.000">
  <testcase classname="auth" name="auth &lt;a&gt;" time="1.500"/>
  <testcase classname="auth" name="auth &quot;b&quot;" time="2.000">
    <failure message="a &amp;&amp; b�[0m">a &amp;&amp; b�[0m
more
x.go:3</failure>
  </testcase>
  <testcase classname="auth" name="auth c" time="0.000">
    <failure message="not run"></failure>
  </testcase>
</testsuite>
"#;
        assert_eq!(junit(&report), expected);
    }
}
