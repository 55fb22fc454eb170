//! Reading a log file: options of `kubectl logs`, the last lines, and the text for a termination message.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::Line;

/// Block in which a file is read from its end.
const BLOCK: u64 = 16 << 10;
/// Time, stream and tags of a line are within its first bytes.
const HEAD: usize = 128;

/// What is wanted of a log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Stay and send what comes.
    pub follow: bool,
    /// The last lines only.
    pub tail: Option<usize>,
    /// Lines from then on only.
    pub since: Option<Timestamp>,
    /// With the time before each line.
    pub timestamps: bool,
    /// End after so many bytes.
    pub limit_bytes: Option<usize>,
    /// Of one stream only: `stdout` or `stderr`.
    pub stream: Option<String>,
}

/// Turns lines of a file into what a client gets.
#[derive(Clone, Debug)]
pub struct Printer {
    options: Options,
    left: usize,
    /// The line before was a part: this one goes on with it.
    inside: bool,
}

impl Printer {
    /// For one request.
    pub fn new(options: Options) -> Self {
        let left = options.limit_bytes.unwrap_or(usize::MAX);
        Printer { options, left, inside: false }
    }

    /// Whether the limit has been reached.
    pub fn full(&self) -> bool {
        self.left == 0
    }

    /// Appends what a client gets of `line` to `out`.
    pub fn print(&mut self, line: &[u8], out: &mut Vec<u8>) {
        let Some(line) = Line::parse(line) else { return };
        let wanted = self.options.stream.as_deref().is_none_or(|s| s == line.stream);
        if !wanted || self.options.since.is_some_and(|since| line.time().is_some_and(|t| t < since)) {
            return;
        }
        let mut text = Vec::with_capacity(line.text.len() + 40);
        if self.options.timestamps && !self.inside {
            text.extend_from_slice(line.stamp.as_bytes());
            text.push(b' ');
        }
        text.extend_from_slice(line.text);
        if !line.partial {
            text.push(b'\n');
        }
        self.inside = line.partial;
        text.truncate(self.left);
        self.left -= text.len();
        out.extend_from_slice(&text);
    }
}

/// The offset at which the last `lines` whole lines of a file begin. Parts of one line count as one. The file is read
/// once, from its end.
pub fn tail_offset(file: &mut File, lines: usize) -> io::Result<u64> {
    let end = file.seek(SeekFrom::End(0))?;
    if lines == 0 {
        return Ok(end);
    }
    let (mut start, mut found) = (end, 0);
    // Where the line after begins: whether a whole one, the line before it tells.
    let mut after = None;
    let mut text: Vec<u8> = Vec::new();
    while start > 0 {
        let next = start.saturating_sub(BLOCK);
        let size = usize::try_from(start - next).unwrap_or(0);
        let mut block = vec![0; size];
        file.seek(SeekFrom::Start(next))?;
        file.read_exact(&mut block)?;
        // Of what follows the block, no more is needed than the head of a line.
        text.truncate(HEAD);
        block.append(&mut text);
        text = block;
        let begins = (0..size).rev().filter(|i| text[*i] == b'\n').map(|i| i + 1).chain((next == 0).then_some(0));
        for at in begins {
            let offset = next + u64::try_from(at).unwrap_or(0);
            if offset == end {
                continue;
            }
            let head = &text[at..text.len().min(at + HEAD)];
            let line = Line::parse(head.split(|b| *b == b'\n').next().unwrap_or_default());
            if let Some(later) = after.replace(offset)
                && line.is_none_or(|l| !l.partial)
            {
                found += 1;
                if found == lines {
                    return Ok(later);
                }
            }
        }
        start = next;
    }
    Ok(0)
}

/// The last lines of a log as text, at most `lines` and `bytes`: for termination messages.
pub fn last_text(path: &Path, lines: usize, bytes: usize) -> io::Result<String> {
    let mut file = File::open(path)?;
    let offset = tail_offset(&mut file, lines)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut raw = Vec::new();
    file.read_to_end(&mut raw)?;
    let mut printer = Printer::new(Options::default());
    let mut out = Vec::new();
    raw.split(|b| *b == b'\n').for_each(|line| printer.print(line, &mut out));
    let cut = out.len().saturating_sub(bytes);
    Ok(String::from_utf8_lossy(&out[cut..]).into_owned())
}

/// The rotated files of a log that are not packed, oldest first, then the log itself.
pub fn files(path: &Path) -> Vec<PathBuf> {
    let mut files = super::rotate::rotated(path);
    files.push(path.to_owned());
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(lines: &[&str]) -> String {
        lines.iter().map(|l| format!("2016-10-06T00:17:09.669794202Z {l}\n")).collect()
    }

    fn all(text: &str, options: Options) -> String {
        let mut printer = Printer::new(options);
        let mut out = Vec::new();
        text.as_bytes().split(|b| *b == b'\n').for_each(|l| printer.print(l, &mut out));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn options_choose_what_is_printed() {
        let text = log(&["stdout F a", "stderr P b", "stderr F c", "stdout F d"]);
        let options = Options::default;
        assert_eq!(all(&text, options()), "a\nbc\nd\n");
        assert_eq!(all(&text, Options { stream: Some("stderr".into()), ..options() }), "bc\n");
        assert_eq!(all(&text, Options { limit_bytes: Some(3), ..options() }), "a\nb");
        let stamped = all(&text, Options { timestamps: true, ..options() });
        assert!(stamped.contains("Z bc\n"), "one time for the parts of a line: {stamped}");
        let later = "2020-01-01T00:00:00Z".parse().ok();
        assert_eq!(all(&text, Options { since: later, ..options() }), "");
    }

    #[test]
    fn the_last_lines_are_found_from_the_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("0.log");
        let long = format!("stdout F {}", "x".repeat(40_000));
        std::fs::write(&path, log(&["stdout F a", &long, "stdout P b", "stdout F c", "stdout F d"])).unwrap();
        let mut lengths = Vec::new();
        for lines in 0..6 {
            lengths.push(last_text(&path, lines, usize::MAX).unwrap().len());
        }
        assert_eq!(lengths, [0, 2, 5, 40_006, 40_008, 40_008]);
        assert_eq!(last_text(&path, 80, 4).unwrap(), "c\nd\n");
    }

    #[test]
    fn lines_that_lie_across_blocks_are_counted_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("0.log");
        // Of many lengths, so that the ends of blocks fall anywhere in a line; each third is the first part of the next.
        let tag = |n: usize| if n.is_multiple_of(3) { 'P' } else { 'F' };
        let lines: Vec<String> = (0..3000).map(|n| format!("stdout {} {}", tag(n), "x".repeat(n % 90))).collect();
        let text = log(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        std::fs::write(&path, &text).unwrap();
        let whole = all(&text, Options::default());
        for wanted in [1, 2, 3, 100, 1001, 1999, 2000, 2001] {
            let skipped = 2000_usize.saturating_sub(wanted);
            let want: String = whole.split_inclusive('\n').skip(skipped).collect();
            assert_eq!(last_text(&path, wanted, usize::MAX).unwrap(), want, "{wanted} lines");
        }
    }
}
