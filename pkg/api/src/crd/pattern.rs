//! Regular expressions of schemas, which are in Go's syntax.
//!
//! An expression is read as Go reads it (RE2 with Perl's additions) and written anew for the engine
//! used here, which has much of the same syntax with other meanings: `\d`, `\w`, `\s` and `\b` for
//! all of Unicode, `\<`, operations on sets within brackets, `{,3}`, free spacing. What Go refuses is
//! refused. Groups lose their names: only whether a text matches counts.
//!
//! Source: Go's `regexp/syntax`.

use std::fmt::Write as _;

/// Memory that a compiled expression may take.
pub(crate) const LIMIT: usize = 10 << 20;
/// Repetitions that Go allows.
const REPETITIONS: u32 = 1000;

/// Compiles an expression as Go reads it.
pub(crate) fn compile(text: &str) -> Result<regex::Regex, regex::Error> {
    build(&rewrite(text).map_err(regex::Error::Syntax)?, LIMIT)
}

/// Memory that an expression takes, to a power of four.
pub(crate) fn cost(text: &str) -> Result<usize, regex::Error> {
    let text = rewrite(text).map_err(regex::Error::Syntax)?;
    for limit in [1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22] {
        match build(&text, limit) {
            Err(regex::Error::CompiledTooBig(_)) => {}
            built => return built.map(|_| limit),
        }
    }
    build(&text, LIMIT).map(|_| LIMIT)
}

fn build(text: &str, limit: usize) -> Result<regex::Regex, regex::Error> {
    regex::RegexBuilder::new(text).size_limit(limit).build()
}

fn rewrite(text: &str) -> Result<String, String> {
    let mut reader = Reader { rest: text, out: String::with_capacity(text.len() + 8) };
    reader.all()?;
    Ok(reader.out)
}

/// A class of characters, as `\d` names one.
fn class(letter: char) -> Option<&'static str> {
    Some(match letter {
        'd' => "[0-9]",
        'D' => "[^0-9]",
        'w' => "[0-9A-Za-z_]",
        'W' => "[^0-9A-Za-z_]",
        's' => r"[\t\n\f\r ]",
        'S' => r"[^\t\n\f\r ]",
        _ => return None,
    })
}

const NAMED: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "word",
    "xdigit",
];
/// No character at all, and not a character: Go knows them, texts never have them.
const NONE: &str = r"[^\x{0}-\x{10FFFF}]";

struct Reader<'a> {
    rest: &'a str,
    out: String,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let mut letters = self.rest.chars();
        let letter = letters.next()?;
        self.rest = letters.as_str();
        Some(letter)
    }

    fn take(&mut self, prefix: &str) -> bool {
        let rest = self.rest.strip_prefix(prefix);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Writes a character that stands for itself.
    fn literal(&mut self, code: u32) {
        // Writing to a text cannot fail.
        let _ = match char::from_u32(code) {
            Some(c) if c.is_ascii_alphanumeric() || !c.is_ascii() => write!(self.out, "{c}"),
            Some(_) => write!(self.out, r"\x{{{code:X}}}"),
            None => write!(self.out, "{NONE}"),
        };
    }

    fn all(&mut self) -> Result<(), String> {
        let mut repeated = false;
        while let Some(letter) = self.next() {
            let again = std::mem::take(&mut repeated);
            match letter {
                '\\' => self.escape()?,
                '[' => self.brackets()?,
                '(' => self.group()?,
                '*' | '+' | '?' => {
                    self.out.push(letter);
                    repeated = true;
                }
                '{' => match self.repetition()? {
                    true => repeated = true,
                    false => self.literal('{'.into()),
                },
                ')' | '|' | '^' | '$' | '.' => self.out.push(letter),
                letter => self.literal(letter.into()),
            }
            if repeated {
                if again {
                    return Err("invalid nested repetition operator".to_owned());
                }
                if self.take("?") {
                    self.out.push('?');
                }
            }
        }
        Ok(())
    }

    /// What follows a backslash outside of brackets.
    fn escape(&mut self) -> Result<(), String> {
        let mut letters = self.rest.chars();
        match letters.next() {
            Some(letter @ ('A' | 'z')) => {
                self.rest = letters.as_str();
                self.out.extend(['\\', letter]);
            }
            Some(letter @ ('b' | 'B')) => {
                self.rest = letters.as_str();
                let _ = write!(self.out, r"(?-u:\{letter})");
            }
            Some('Q') => {
                let (text, rest) = letters.as_str().split_once(r"\E").unwrap_or((letters.as_str(), ""));
                text.chars().for_each(|letter| self.literal(letter.into()));
                self.rest = rest;
            }
            _ if self.class()? => {}
            _ => {
                let code = self.character()?;
                self.literal(code);
            }
        }
        Ok(())
    }

    /// `\d`, `\pL` and the like, after the backslash.
    fn class(&mut self) -> Result<bool, String> {
        let mut letters = self.rest.chars();
        let Some(letter) = letters.next() else { return Ok(false) };
        if let Some(class) = class(letter) {
            self.rest = letters.as_str();
            self.out.push_str(class);
            return Ok(true);
        }
        if !matches!(letter, 'p' | 'P') {
            return Ok(false);
        }
        const RANGE: &str = "invalid character class range";
        self.rest = letters.as_str();
        let name = match self.next().ok_or(RANGE)? {
            '{' => {
                let (name, rest) = self.rest.split_once('}').ok_or(RANGE)?;
                self.rest = rest;
                name.to_owned()
            }
            letter => letter.to_string(),
        };
        let (not, name) = name.strip_prefix('^').map_or((false, name.as_str()), |name| (true, name));
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(format!("{RANGE}: {name:?}"));
        }
        let _ = write!(self.out, r"\{}{{{name}}}", if not == (letter == 'p') { 'P' } else { 'p' });
        Ok(true)
    }

    /// The character that an escape stands for, after the backslash.
    fn character(&mut self) -> Result<u32, String> {
        const FAULT: &str = "invalid escape sequence";
        let letter = self.next().ok_or("trailing backslash at end of expression")?;
        let octal = |c: char| ('0'..='7').contains(&c);
        Ok(match letter {
            '1'..='7' if !self.rest.starts_with(octal) => return Err(FAULT.to_owned()),
            '0'..='7' => {
                let mut code = u32::from(letter) - u32::from('0');
                for _ in 0..2 {
                    let Some(digit) = self.rest.chars().next().filter(|c| octal(*c)) else { break };
                    code = code * 8 + u32::from(digit) - u32::from('0');
                    self.next();
                }
                code
            }
            'x' => {
                let digits = match self.take("{") {
                    true => {
                        let (digits, rest) = self.rest.split_once('}').ok_or(FAULT)?;
                        self.rest = rest;
                        digits
                    }
                    false => {
                        let digits = self.rest.get(..2).ok_or(FAULT)?;
                        self.rest = &self.rest[2..];
                        digits
                    }
                };
                let hex = !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_hexdigit());
                let code = u32::from_str_radix(digits, 16).ok().filter(|code| hex && *code <= 0x10_FFFF);
                code.ok_or(FAULT)?
            }
            'a' => 7,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            'v' => 11,
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => c.into(),
            c => return Err(format!("{FAULT}: `\\{c}`")),
        })
    }

    /// What follows an opening bracket.
    fn brackets(&mut self) -> Result<(), String> {
        const OPEN: &str = "missing closing ]";
        self.out.push('[');
        if self.take("^") {
            self.out.push('^');
        }
        let mut first = true;
        while first || !self.rest.starts_with(']') {
            first = false;
            if self.rest.starts_with("[:")
                && let Some((name, rest)) = self.rest[2..].split_once(":]")
            {
                if !NAMED.contains(&name.strip_prefix('^').unwrap_or(name)) {
                    return Err(format!("invalid character class range: `[:{name}:]`"));
                }
                let _ = write!(self.out, "[:{name}:]");
                self.rest = rest;
                continue;
            }
            let start = self.rest;
            if self.take("\\") {
                if self.class()? {
                    continue;
                }
                self.rest = start;
            }
            let low = self.one().and_then(|code| code.ok_or(OPEN.to_owned()))?;
            let ranges = self.rest.starts_with('-') && !self.rest.starts_with("-]") && self.rest.len() > 1;
            let high = match ranges && self.take("-") {
                true => self.one()?.ok_or(OPEN)?,
                false => low,
            };
            if low > high {
                return Err("invalid character class range".to_owned());
            }
            self.range(low, high);
        }
        self.next();
        self.out.push(']');
        Ok(())
    }

    /// A character within brackets.
    fn one(&mut self) -> Result<Option<u32>, String> {
        match self.next() {
            Some('\\') => self.character().map(Some),
            letter => Ok(letter.map(u32::from)),
        }
    }

    /// Writes a range, but for surrogates, which are in no text.
    fn range(&mut self, low: u32, high: u32) {
        let low = if (0xD800..0xE000).contains(&low) { 0xE000 } else { low };
        let high = if (0xD800..0xE000).contains(&high) { 0xD7FF } else { high };
        match low.cmp(&high) {
            std::cmp::Ordering::Less => {
                self.literal(low);
                self.out.push('-');
                self.literal(high);
            }
            std::cmp::Ordering::Equal => self.literal(low),
            std::cmp::Ordering::Greater => self.out.push_str(NONE),
        }
    }

    /// What follows an opening parenthesis.
    fn group(&mut self) -> Result<(), String> {
        self.out.push('(');
        if !self.take("?") {
            return Ok(());
        }
        if self.take("P<") || self.take("<") {
            let (name, rest) = self.rest.split_once('>').ok_or("invalid named capture")?;
            if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                return Err(format!("invalid named capture: {name:?}"));
            }
            self.rest = rest;
            return Ok(());
        }
        // Of each flag what is said last, and whether one was since the sign.
        let (mut on, mut off, mut sign, mut any) = (String::new(), String::new(), false, false);
        loop {
            match self.next() {
                Some(flag @ ('i' | 'm' | 's' | 'U')) => {
                    on.retain(|known| known != flag);
                    off.retain(|known| known != flag);
                    if sign { &mut off } else { &mut on }.push(flag);
                    any = true;
                }
                Some('-') if !sign => (sign, any) = (true, false),
                Some(end @ (':' | ')')) if any || !sign => {
                    let (minus, end) = (
                        if off.is_empty() { "" } else { "-" },
                        if any || end == ':' { end.to_string() } else { ":)".to_owned() },
                    );
                    let _ = write!(self.out, "?{on}{minus}{off}{end}");
                    return Ok(());
                }
                _ => return Err("invalid or unsupported Perl syntax".to_owned()),
            }
        }
    }

    /// `3}`, `3,}` or `3,5}` after a brace; anything else is no repetition.
    fn repetition(&mut self) -> Result<bool, String> {
        let Some((inner, rest)) = self.rest.split_once('}') else { return Ok(false) };
        let (from, to) = inner.split_once(',').map_or((inner, None), |(from, to)| (from, Some(to)));
        let number = |text: &str| {
            let good = text.bytes().all(|c| c.is_ascii_digit()) && (text.len() == 1 || !text.starts_with('0'));
            (good && !text.is_empty()).then(|| text.parse().unwrap_or(u32::MAX))
        };
        let Some(least) = number(from) else { return Ok(false) };
        let most = match to {
            None => least,
            Some("") => least,
            Some(to) => match number(to) {
                Some(most) => most,
                None => return Ok(false),
            },
        };
        if least > most || most > REPETITIONS {
            return Err(format!("invalid repeat count: `{{{inner}}}`"));
        }
        let _ = write!(self.out, "{{{inner}}}");
        self.rest = rest;
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
