//! Container logs: the format that the runtime writes, reading the last lines, following, rotation.
//!
//! A line is `TIME STREAM TAG TEXT`: an RFC 3339 time with nanoseconds, `stdout` or `stderr`, and a tag list that begins
//! with `F` for a full line or `P` for a part of one. See the design document "CRI logging" of Kubernetes.

pub mod follow;
pub mod read;
pub mod rotate;

use jiff::Timestamp;

/// One line of the file, without its line feed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line<'a> {
    /// When it was written, as it stands in the file.
    pub stamp: &'a str,
    /// `stdout` or `stderr`.
    pub stream: &'a str,
    /// The text goes on in the next line.
    pub partial: bool,
    /// What the container wrote.
    pub text: &'a [u8],
}

impl<'a> Line<'a> {
    /// Reads a line; `None` if it is not one, as after a power cut.
    pub fn parse(line: &'a [u8]) -> Option<Self> {
        let mut parts = line.splitn(4, |b| *b == b' ');
        let stamp = std::str::from_utf8(parts.next()?).ok()?;
        let stream = std::str::from_utf8(parts.next()?).ok().filter(|s| matches!(*s, "stdout" | "stderr"))?;
        let tags = parts.next()?;
        let partial = tags.split(|b| *b == b':').next()? == b"P";
        Some(Line { stamp, stream, partial, text: parts.next().unwrap_or_default() })
    }

    /// When it was written.
    pub fn time(&self) -> Option<Timestamp> {
        self.stamp.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let stamp = "2016-10-06T00:17:09.669794202Z";
        let table: [(&str, Option<(&str, bool, &str)>); 7] = [
            ("stdout F hello world", Some(("stdout", false, "hello world"))),
            ("stderr P part", Some(("stderr", true, "part"))),
            ("stdout F:x ", Some(("stdout", false, ""))),
            ("stdout F", Some(("stdout", false, ""))),
            ("stdin F x", None),
            ("stdout", None),
            ("", None),
        ];
        for (rest, want) in table {
            let line = format!("{stamp} {rest}");
            let got = Line::parse(line.as_bytes());
            let got = got.as_ref().map(|l| (l.stream, l.partial, std::str::from_utf8(l.text).unwrap()));
            assert_eq!(got, want, "{rest}");
        }
        assert_eq!(Line::parse(b"\0\0\0"), None, "a hole after a power cut");
    }
}
