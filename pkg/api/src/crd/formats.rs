//! Formats of texts and numbers in schemas. Others are accepted in schemas and mean nothing.
//!
//! Source: apiextensions-apiserver `pkg/apiserver/validation/formats.go`, kube-openapi
//! `pkg/validation/strfmt`.

use std::{net::Ipv6Addr, sync::LazyLock};

use regex::Regex;

use crate::validation::names;

/// A format that is checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    /// As the schema writes it.
    pub name: &'static str,
    check: Check,
}

/// Whether a text has a format.
type Test = fn(&str) -> bool;

#[derive(Clone, Copy, Debug)]
enum Check {
    /// Only the type and range of a number.
    Number,
    Text(Test),
}

/// Formats by name without dashes, with the name to show.
const TEXTS: [(&str, &str, Test); 27] = [
    ("bsonobjectid", "bsonobjectid", |t| t.len() == 24 && t.bytes().all(|c| c.is_ascii_hexdigit())),
    ("uri", "uri", is_uri),
    ("email", "email", is_email),
    ("hostname", "hostname", is_hostname),
    ("ipv4", "ipv4", is_ipv4),
    ("ipv6", "ipv6", |t| t.contains(':') && t.parse::<Ipv6Addr>().is_ok()),
    ("cidr", "cidr", is_cidr),
    ("mac", "mac", is_mac),
    ("uuid", "uuid", |t| is_uuid(t, None)),
    ("uuid3", "uuid3", |t| is_uuid(t, Some(b'3'))),
    ("uuid4", "uuid4", |t| is_uuid(t, Some(b'4'))),
    ("uuid5", "uuid5", |t| is_uuid(t, Some(b'5'))),
    ("isbn", "isbn", |t| is_isbn10(t) || is_isbn13(t)),
    ("isbn10", "isbn10", is_isbn10),
    ("isbn13", "isbn13", is_isbn13),
    ("creditcard", "creditcard", is_credit_card),
    ("ssn", "ssn", |t| SSN.is_match(t)),
    ("hexcolor", "hexcolor", |t| HEX_COLOR.is_match(t)),
    ("rgbcolor", "rgbcolor", |t| RGB_COLOR.is_match(t)),
    ("byte", "byte", is_base64),
    ("password", "password", |_| true),
    ("date", "date", |t| t.len() == 10 && t.parse::<jiff::civil::Date>().is_ok()),
    ("duration", "duration", is_duration),
    ("datetime", "date-time", is_date_time),
    ("k8sshortname", "k8s-short-name", |t| names::label(t).is_empty()),
    ("k8slongname", "k8s-long-name", |t| names::subdomain(t).is_empty()),
    ("datetime", "datetime", is_date_time),
];

const NUMBERS: [(&str, &str); 4] =
    [("integer", "int32"), ("integer", "int64"), ("number", "float"), ("number", "double")];

impl Format {
    /// The format of this name for values of type `kind`, the empty text for any.
    pub fn find(name: &str, kind: &str) -> Option<Self> {
        match kind {
            _ if name.is_empty() => None,
            "" | "string" => {
                let plain = name.replace('-', "");
                let found = || TEXTS.iter().filter(|(known, _, _)| *known == plain);
                let (_, name, check) = found().find(|(_, shown, _)| *shown == name).or_else(|| found().next())?;
                Some(Format { name, check: Check::Text(*check) })
            }
            kind => {
                let (_, name) = NUMBERS.iter().find(|(of, known)| *of == kind && *known == name)?;
                Some(Format { name, check: Check::Number })
            }
        }
    }

    /// Whether a text has the format.
    pub fn fits(self, text: &str) -> bool {
        match self.check {
            Check::Number => true,
            Check::Text(check) => check(text),
        }
    }

    /// Whether it is one of texts.
    pub fn of_text(self) -> bool {
        !matches!(self.check, Check::Number)
    }
}

fn regex(text: &str) -> Regex {
    Regex::new(text).expect("a constant that tests compile")
}

static SSN: LazyLock<Regex> = LazyLock::new(|| regex(r"^\d{3}[- ]?\d{2}[- ]?\d{4}$"));
static HEX_COLOR: LazyLock<Regex> = LazyLock::new(|| regex("^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$"));
static RGB_COLOR: LazyLock<Regex> = LazyLock::new(|| {
    let part = r"\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*";
    regex(&format!(r"^rgb\({part},{part},{part}\)$"))
});
static CREDIT_CARD: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$",
    )
});
static DURATION: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^\s*((\d+)\s*(nanos?econds?|nanos?|ns|micros?econds?|micros?|µs|us|millis?econds?|millis?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|hr|h|days?|d|weeks?|wks?|wk|w)\s*)+$",
    )
});
static GO_DURATION: LazyLock<Regex> = LazyLock::new(|| regex(r"^[-+]?(0|((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$"));

fn is_duration(text: &str) -> bool {
    GO_DURATION.is_match(text) || DURATION.is_match(&text.to_lowercase())
}

/// An absolute URI, or an absolute path, as Go's `url.ParseRequestURI` takes it.
fn is_uri(text: &str) -> bool {
    if text.is_empty() || text.bytes().any(|c| c < 0x20 || c == 0x7f) {
        return false;
    }
    if text == "*" {
        return true;
    }
    let (scheme, rest) = match text.split_once(':') {
        Some(("", _)) => return false,
        Some((scheme, rest)) if is_scheme(scheme) => (scheme, rest),
        _ => ("", text),
    };
    let rest = rest.split('?').next().unwrap_or_default();
    if !rest.starts_with('/') {
        return !scheme.is_empty();
    }
    let Some(rest) = rest.strip_prefix("//").filter(|_| !scheme.is_empty()) else { return is_escaped(rest) };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let in_user = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
    user.chars().all(in_user) && is_escaped(user) && is_host(host) && is_escaped(path)
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|c| c.is_ascii_alphanumeric() || b"+-.".contains(&c))
}

/// Whether two digits follow each `%`.
fn is_escaped(text: &str) -> bool {
    text.split('%').skip(1).all(|part| part.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2)
}

/// A host of a URI, with its port.
fn is_host(text: &str) -> bool {
    let port = |text: &str| {
        text.is_empty() || text.strip_prefix(':').is_some_and(|text| text.bytes().all(|c| c.is_ascii_digit()))
    };
    if let Some(inner) = text.strip_prefix('[') {
        let Some((address, rest)) = inner.rsplit_once(']') else { return false };
        let address = address.split("%25").next().unwrap_or_default();
        return address.parse::<Ipv6Addr>().is_ok() && port(rest);
    }
    let allowed = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "!$&'()*+,;=:[]<>\"-_.~%".contains(c);
    // What could stand as it is may not be escaped, but for the sign itself.
    let escapes = text.split('%').skip(1).all(|part| part.starts_with("25") || !part.starts_with(|c| c < '8'));
    let (_, tail) = text.split_at(text.find(':').unwrap_or(text.len()));
    text.chars().all(allowed) && is_escaped(text) && escapes && port(tail)
}

/// `local@domain`, or `Name <local@domain>`.
fn is_email(text: &str) -> bool {
    let text = text.trim();
    let address = match text.strip_suffix('>').and_then(|t| t.rsplit_once('<')) {
        Some((_, address)) => address,
        None => text,
    };
    let Some((local, domain)) = address.rsplit_once('@') else { return false };
    let atom = |t: &str| {
        !t.is_empty() && t.chars().all(|c| !c.is_whitespace() && !c.is_control() && !r#"()<>[]:;@\,""#.contains(c))
    };
    let quoted = local.len() > 2 && local.starts_with('"') && local.ends_with('"');
    (quoted || local.split('.').all(atom)) && domain.split('.').all(atom)
}

fn is_hostname(text: &str) -> bool {
    static HOSTNAME: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$",
        )
    });
    text.len() <= 255 && text.split('.').all(|part| part.len() <= 63) && HOSTNAME.is_match(text)
}

/// Leading zeros are tolerated, as they were once.
fn is_ipv4(text: &str) -> bool {
    let part = |p: &str| {
        let digits = p.trim_start_matches('0');
        !p.is_empty() && p.bytes().all(|c| c.is_ascii_digit()) && (digits.is_empty() || digits.parse::<u8>().is_ok())
    };
    let mapped = text.contains(':') && text.contains('.') && text.parse::<Ipv6Addr>().is_ok();
    mapped || (text.split('.').count() == 4 && text.split('.').all(part))
}

fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else { return false };
    let limit = match address.contains(':') {
        true if address.parse::<Ipv6Addr>().is_ok() => 128,
        false if is_ipv4(address) => 32,
        _ => return false,
    };
    bits.bytes().all(|c| c.is_ascii_digit()) && bits.parse::<u32>().is_ok_and(|bits| bits <= limit)
}

/// 6, 8 or 20 octets, in pairs with `:` or `-`, or in fours with `.`.
fn is_mac(text: &str) -> bool {
    let hex = |p: &str, len: usize| p.len() == len && p.bytes().all(|c| c.is_ascii_hexdigit());
    let shape = |by: char, len: usize, counts: [usize; 3]| {
        let parts: Vec<_> = text.split(by).collect();
        counts.contains(&parts.len()) && parts.iter().all(|p| hex(p, len))
    };
    shape(':', 2, [6, 8, 20]) || shape('-', 2, [6, 8, 20]) || shape('.', 4, [3, 4, 10])
}

/// Dashes may be left out.
fn is_uuid(text: &str, version: Option<u8>) -> bool {
    let text = text.as_bytes();
    let mut at = 0;
    let mut digits = Vec::with_capacity(32);
    for (group, len) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if group > 0 && text.get(at) == Some(&b'-') {
            at += 1;
        }
        let Some(part) = text.get(at..at + len) else { return false };
        digits.extend_from_slice(part);
        at += len;
    }
    let variant = |c: u8| b"89abAB".contains(&c);
    at == text.len()
        && digits.iter().all(u8::is_ascii_hexdigit)
        && version.is_none_or(|v| digits[12] == v && (v == b'3' || variant(digits[16])))
}

fn isbn_digits(text: &str) -> Vec<u8> {
    text.bytes().filter(|c| !matches!(c, b'-' | b' ')).collect()
}

fn is_isbn10(text: &str) -> bool {
    let digits = isbn_digits(text);
    let Some((last, first)) = digits.split_last().filter(|(_, first)| first.len() == 9) else { return false };
    let check = match last {
        b'X' => 10,
        c if c.is_ascii_digit() => u32::from(c - b'0'),
        _ => return false,
    };
    let sum: u32 = first.iter().zip(1..).map(|(c, n)| n * u32::from(c.wrapping_sub(b'0'))).sum();
    first.iter().all(u8::is_ascii_digit) && (sum + 10 * check).is_multiple_of(11)
}

fn is_isbn13(text: &str) -> bool {
    let digits = isbn_digits(text);
    let sum: u32 =
        digits.iter().zip([1, 3].into_iter().cycle()).map(|(c, n)| n * u32::from(c.wrapping_sub(b'0'))).sum();
    digits.len() == 13 && digits.iter().all(u8::is_ascii_digit) && sum.is_multiple_of(10)
}

fn is_credit_card(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let double = |d: u32| if d > 4 { 2 * d - 9 } else { 2 * d };
    let sum: u32 = digits
        .bytes()
        .rev()
        .map(|c| u32::from(c - b'0'))
        .enumerate()
        .map(|(at, digit)| if at % 2 == 1 { double(digit) } else { digit })
        .sum();
    CREDIT_CARD.is_match(&digits) && sum.is_multiple_of(10)
}

fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    !text.is_empty()
        && text.len().is_multiple_of(4)
        && text.len() - body.len() <= 2
        && body.bytes().all(|c| c.is_ascii_alphanumeric() || b"+/".contains(&c))
}

/// RFC 3339; minutes and seconds may be left out of the offset.
fn is_date_time(text: &str) -> bool {
    static DATE_TIME: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"^([0-9]{4})-([0-9]{2})-([0-9]{2})t([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$",
        )
    });
    if text.len() < 4 {
        return false;
    }
    let lower = text.to_lowercase();
    let Some(parts) = DATE_TIME.captures(&lower) else { return false };
    let number = |at: usize| parts.get(at).and_then(|m| m.as_str().parse::<u32>().ok()).unwrap_or(u32::MAX);
    lower[..10].parse::<jiff::civil::Date>().is_ok() && number(4) <= 23 && number(5) <= 59 && number(6) <= 59
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        let cases: &[(&str, &[&str], &[&str])] = &[
            ("uri", &["http://a.b/c?d#e", "urn:x", "/path"], &["", "a.b", "http://a b/", "://x"]),
            ("email", &["a@b.c", "A B <a@b.c>"], &["a", "@b", "a@", "a b@c"]),
            ("hostname", &["a", "a.example", "1a-b.example"], &["", "-a", "a..b", "a_b.example"]),
            ("ipv4", &["10.0.0.1", "010.0.0.1"], &["10.0.0", "10.0.0.256", "::1"]),
            ("ipv6", &["::1", "fe80::1"], &["10.0.0.1", "x::"]),
            ("cidr", &["10.0.0.0/8", "fd00::/64"], &["10.0.0.0", "10.0.0.0/33", "x/8"]),
            ("mac", &["01:02:03:04:05:ab", "0102.0304.05ab"], &["01:02", "01:02:03:04:05:xx"]),
            ("uuid", &["123E4567-e89b-12d3-a456-426614174000", "123e4567e89b12d3a456426614174000"], &["1", "x"]),
            ("uuid4", &["123e4567-e89b-42d3-a456-426614174000"], &["123e4567-e89b-12d3-a456-426614174000"]),
            ("isbn", &["0321751043", "978-0321751041"], &["0321751044", "978-0321751042", "1"]),
            ("creditcard", &["4111 1111 1111 1111"], &["4111 1111 1111 1112", "1"]),
            ("ssn", &["111-11-1111"], &["11-1"]),
            ("hexcolor", &["#FFF", "a0b1c2"], &["#FFFF"]),
            ("rgbcolor", &["rgb(255,0,10)"], &["rgb(256,0,0)", "rgb(1,2)"]),
            ("byte", &["aGVsbG8="], &["a", "", "a==="]),
            ("date", &["2026-11-30"], &["2026-11-31", "2026-1-1", "x"]),
            ("duration", &["22 ns", "1h5m", "3 days", "1.5h"], &["x", "1 y", "1"]),
            ("date-time", &["2014-12-15T19:30:20.000Z", "2014-12-15t19:30:20+01:00"], &["2014-12-15", "x"]),
            ("k8s-short-name", &["a-b"], &["A", "a.b"]),
            ("k8s-long-name", &["a.b"], &["A"]),
            ("password", &[""], &[]),
        ];
        for (name, good, bad) in cases {
            let format = Format::find(name, "string").unwrap_or_else(|| panic!("{name} is known"));
            assert_eq!(format.name, *name);
            good.iter().for_each(|text| assert!(format.fits(text), "{name}: {text}"));
            bad.iter().for_each(|text| assert!(!format.fits(text), "{name}: {text}"));
        }
    }

    /// Go's answers.
    #[test]
    fn uris_that_go_reads_otherwise() {
        let good = [
            "/a b",
            "*",
            "http://a:80/",
            "http://a.b/c?d#e",
            "urn:x",
            "/path",
            "http://[::1]:80/",
            "http:",
            "http:a",
            "http:?x",
            "//a b/",
            "//a:b/",
            "/%20",
            "http://u:p@h/",
            "http://u@:x@h/",
            "a+b://x",
            "x:*",
            "/a#b",
            "mailto:a@b",
            "http://[fe80::1%25en0]/",
            "http://a<b/",
            "http://a\"b/",
            "a:b c",
            "http://a/b c",
            "http://",
            "/:",
            "http://a:/",
            "http://a]/",
            "http://\u{00e4}/",
            "x:%zz",
        ];
        let bad = [
            "http://a:b/",
            "",
            "a.b",
            "http://a b/",
            "://x",
            "http://[::1",
            "/%zz",
            "http://a/%zz",
            "http://u p@h/",
            "1http://a",
            "http://a%20b/",
            "http://a%zz/",
            "http://h#a b",
            "http://a\\b/",
            "\x7f/",
            "a/b:c",
            "-a:b",
            "?a",
            "http://a:80:90/",
            "http://[::1]x/",
            "http://[x]/",
            "http://[]/",
        ];
        good.iter().for_each(|text| assert!(is_uri(text), "{text}"));
        bad.iter().for_each(|text| assert!(!is_uri(text), "{text}"));
    }

    #[test]
    fn by_type() {
        assert_eq!(Format::find("int32", "integer").map(|f| f.name), Some("int32"));
        for (name, kind) in [("int32", "string"), ("int32", ""), ("uri", "integer"), ("sha256", "string"), ("", "")] {
            assert!(Format::find(name, kind).is_none(), "{name} of {kind}");
        }
    }
}
