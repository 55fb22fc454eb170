//! Regular expressions of schemas, which are in Go's syntax.
//!
//! Where the two differ the expression is rewritten: `\d`, `\w`, `\s` and `\b` mean ASCII; within
//! brackets `[`, `&` and `~` mean nothing special; a brace that is no repetition is itself.

use std::fmt::Write as _;

/// Memory that a compiled expression may take.
const LIMIT: usize = 10 << 20;

/// Compiles an expression as Go reads it.
pub(crate) fn compile(text: &str) -> Result<regex::Regex, regex::Error> {
    regex::RegexBuilder::new(&rewrite(text)).size_limit(LIMIT).build()
}

fn rewrite(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut letters = text.char_indices().peekable();
    // Within brackets: how many characters were seen there.
    let mut class: Option<usize> = None;
    while let Some((at, c)) = letters.next() {
        let rest = &text[at + c.len_utf8()..];
        match (c, class) {
            ('\\', _) => {
                let next = letters.next().map(|(_, c)| c);
                escape(&mut out, next, class.is_some());
                // The name of a class, or a number.
                if next.is_some_and(|c| "pPx".contains(c)) && letters.peek().is_some_and(|(_, c)| *c == '{') {
                    for (_, c) in letters.by_ref() {
                        out.push(c);
                        if c == '}' {
                            break;
                        }
                    }
                }
            }
            ('[', None) => {
                class = Some(0);
                out.push('[');
                if rest.starts_with('^') {
                    letters.next();
                    out.push('^');
                }
                // A bracket that comes first does not close.
                if letters.peek().is_some_and(|(_, c)| *c == ']') {
                    letters.next();
                    out.push_str("\\]");
                }
                continue;
            }
            (']', Some(_)) => {
                class = None;
                out.push(']');
                continue;
            }
            ('[', Some(_)) if rest.starts_with(':') && rest.contains(":]") => {
                // A named class, to its end.
                out.push('[');
                for (_, c) in letters.by_ref() {
                    out.push(c);
                    if c == ']' {
                        break;
                    }
                }
            }
            ('[' | '&' | '~', Some(_)) => {
                out.push('\\');
                out.push(c);
            }
            ('{', None) if !is_repetition(rest) => out.push_str("\\{"),
            (c, _) => out.push(c),
        }
        class = class.map(|count| count + 1);
    }
    out
}

fn escape(out: &mut String, letter: Option<char>, in_class: bool) {
    let ascii = match letter {
        Some('d') => "0-9",
        Some('w') => "0-9A-Za-z_",
        Some('s') => r"\t\n\f\r ",
        _ => "",
    };
    // Writing to a text cannot fail.
    let _ = match (letter, in_class) {
        (Some('d' | 'w' | 's'), true) => write!(out, "{ascii}"),
        (Some('d' | 'w' | 's'), false) => write!(out, "[{ascii}]"),
        (Some('D'), false) => write!(out, "[^0-9]"),
        (Some('W'), false) => write!(out, "[^0-9A-Za-z_]"),
        (Some('S'), false) => write!(out, r"[^\t\n\f\r ]"),
        (Some(c @ ('b' | 'B')), false) => write!(out, r"(?-u:\{c})"),
        (Some(c), _) => write!(out, "\\{c}"),
        (None, _) => write!(out, "\\"),
    };
}

/// Whether what follows a brace is `3}`, `3,}` or `3,5}`.
fn is_repetition(rest: &str) -> bool {
    let Some((inner, _)) = rest.split_once('}') else { return false };
    let (from, to) = inner.split_once(',').unwrap_or((inner, ""));
    let digits = |text: &str| text.bytes().all(|c| c.is_ascii_digit());
    !from.is_empty() && digits(from) && digits(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_go_reads_it() {
        let cases: &[(&str, &[&str], &[&str])] = &[
            (r"^\d+$", &["12"], &["١", "a"]),
            (r"^[\w.-]+$", &["a.b-c_1"], &["ä", " "]),
            (r"^[a&&b[]+$", &["a&b["], &["c"]),
            (r"^{.*}$", &["{a}"], &["a"]),
            (r"^a{2}$", &["aa"], &["a{2}"]),
            (r"^[]a]$", &["]", "a"], &["b"]),
            (r"^[[:alpha:]]+$", &["ab"], &["1"]),
            (r"^(?i)abc$", &["ABC"], &["x"]),
            (r"^\p{L}+$", &["äb"], &["1"]),
            (r"^https?:\/\/.+$", &["http://a"], &["x"]),
            ("^a$", &["a"], &["a\n"]),
        ];
        for (pattern, good, bad) in cases {
            let compiled = compile(pattern).unwrap_or_else(|e| panic!("{pattern}: {e}"));
            good.iter().for_each(|text| assert!(compiled.is_match(text), "{pattern}: {text}"));
            bad.iter().for_each(|text| assert!(!compiled.is_match(text), "{pattern}: {text}"));
        }
        for pattern in ["[a", "(", r"(?=a)"] {
            assert!(compile(pattern).is_err(), "{pattern}");
        }
    }
}
